"""A game: one performance in which somebody plays along, kept so that it can be left and gone on with at any time.

A game is a folder. ``study.yaml`` is a study of one performance, ``case.yaml`` the case, or ``scene.yaml`` the scene,
as it was when the game began, ``ledger.db`` every answer and every turn of the player, ``transcripts.jsonl`` the
transcript once it has ended. To go on is to play again: what was said is replayed from the ledger. ``standing.json`` is
for lists alone. ``control.json`` holds whether a story is paused, and whom a person wants to play in it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from dramaturg.errors import ContentError, UserError
from dramaturg.files import read_text
from dramaturg.run.material import Material, read_material
from dramaturg.run.spool import writing
from dramaturg.run.transcripts import read_transcripts
from dramaturg.run.world.material import WorldMaterial, read_world
from dramaturg.stage.court import Protocol
from dramaturg.stage.transcript import Transcript
from dramaturg.stage.world.limits import DEFAULT_LIMITS
from dramaturg.stage.world.setting import WorldProtocol
from dramaturg.text import write_atomically

LEDGER = "ledger.db"
TRANSCRIPT = "transcripts.jsonl"
STUDY = "study.yaml"
CASE = "case.yaml"
PROCEDURE = "procedure.yaml"
SCENE = "scene.yaml"
KEPT = "game.json"
_STANDING = "standing.json"
_CONTROL = "control.json"

Suite = Literal["court", "world"]
"""What is staged: a case in court, or a scene in a world."""

KeptT = TypeVar("KeptT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class GameSettings:
    """What a game is played with.

    Attributes:
        case: Name of a shipped case, id of a saved one, or a path.
        model: Spec string of the model that plays every role but the player's.
        procedure: Name or path; empty for the one that the case is made for.
        protocol: ``guarded`` is what a game wants: a model's faults are cured.
        player: ``human``, ``script`` (the case's own), ``script:FILE``, or the spec string of a model.
        player_name: Name of the player's character; empty for the one in the case.
        avatar: What a page shows beside the player.
        seed: Another one makes another game of the same case.
        questions: Most questions that may be granted to a side.
        tokens_per_turn: Most tokens of a model's turn.
    """

    case: str
    model: str
    procedure: str = ""
    protocol: Protocol = "guarded"
    player: str = "human"
    player_name: str = ""
    avatar: str = ""
    seed: int = 1
    questions: int = 3
    tokens_per_turn: int = 110


@dataclass(frozen=True, slots=True)
class StorySettings:
    """What a story is played with.

    Attributes:
        scene: Name of a shipped scene, or a path; ``PATH#ID`` is one scene of several.
        model: Spec string of the model that plays the characters.
        narrator: Spec string of the model that narrates; empty for the same.
        protocol: How a round goes.
        rounds: Most rounds.
        seed: Another one makes another story of the same scene.
        by_person: Ids of the characters that a person plays at first.
    """

    scene: str
    model: str
    narrator: str = ""
    protocol: WorldProtocol = "paper"
    rounds: int = DEFAULT_LIMITS.rounds
    seed: int = 1
    by_person: tuple[str, ...] = ()


class Standing(BaseModel):
    """How far a game has come, for lists.

    Attributes:
        turns: Turns that were spoken.
        phase: Phase of the last one.
        outcome: Label of the outcome, once it has ended.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    turns: int = 0
    phase: str = ""
    outcome: str = ""


class Control(BaseModel):
    """What somebody wants of a story that goes on.

    Attributes:
        paused: Whether nobody is to act.
        by_person: Ids of the characters that a person is to play from their next act on.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    paused: bool = False
    by_person: frozenset[str] = frozenset()


class GameFile(BaseModel):
    """The file that makes a folder a game."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["dramaturg-game/1"] = "dramaturg-game/1"
    title: str
    language: str
    created: str
    settings: GameSettings | StorySettings
    made_with: dict[str, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptGame:
    """A game that is kept, whatever is staged in it.

    Attributes:
        suite: What is staged.
        files: Names of the files without which it can neither go on nor be read.
        folder: Where.
        id: Unique among the games of one folder; the folder's name.
        title: Of the case or the scene.
        language: Of the case or the scene, ISO 639-1.
        created: When, ISO 8601, UTC.
        made_with: Version, prompts and files that can change an answer, by name.
    """

    suite: ClassVar[Suite]
    files: ClassVar[tuple[str, ...]]

    folder: Path
    id: str
    title: str
    language: str
    created: str
    made_with: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def has_ended(self) -> bool:
        """Whether its transcript is written."""
        return (self.folder / TRANSCRIPT).is_file()

    def check(self) -> None:
        """Checks that the files are there without which the game can neither go on nor be read.

        Raises:
            ContentError: One of them is missing.
        """
        for name in self.files:
            if not (self.folder / name).is_file():
                raise ContentError("is missing: the game cannot go on", where=str(self.folder / name))

    def transcript(self) -> Transcript:
        """Returns the transcript of an ended game.

        Raises:
            UserError: It has not ended, or its file is broken.
        """
        path = self.folder / TRANSCRIPT
        if not self.has_ended:
            raise UserError(f"the game {self.id!r} has not ended", allowed="play it to its end first")
        return next(transcript for _, transcript in read_transcripts(path))

    def standing(self) -> Standing:
        """Returns how far the game has come.

        Raises:
            ContentError: The file that says it is torn.
        """
        return self._read(_STANDING, Standing())

    def keep_standing(self, standing: Standing) -> None:
        """Writes how far the game has come.

        Raises:
            UserError: The disk is full or the folder cannot be written.
        """
        self._keep(_STANDING, standing)

    @contextmanager
    def held(self) -> Generator[None]:
        """Keeps everybody else, in this process and in others, from playing, judging or deleting the game meanwhile.

        Raises:
            UserError: Somebody else holds it, or its folder is gone.
        """
        if not self.folder.is_dir():
            raise UserError(f"the game {self.id!r} is not there any more", where=str(self.folder))
        lock = FileLock(self.folder / "game.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise UserError(
                f"the game {self.id!r} is open elsewhere", allowed="close it there, or begin another game"
            ) from None
        try:
            yield
        finally:
            lock.release()

    def _read(self, name: str, at_first: KeptT) -> KeptT:
        path = self.folder / name
        if not path.is_file():
            return at_first
        try:
            return type(at_first).model_validate_json(read_text(path))
        except ValidationError:
            raise ContentError("is torn", where=str(path)) from None

    def _keep(self, name: str, kept: BaseModel) -> None:
        path = self.folder / name
        with writing(path):
            write_atomically(path, kept.model_dump_json() + "\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Game(KeptGame):
    """A case in court, in which a person plays one side.

    Attributes:
        settings: What it is played with.
    """

    suite = "court"
    files = (STUDY, CASE, PROCEDURE)

    settings: GameSettings

    def material(self) -> Material:
        """Returns the game's study with all that it refers to.

        Raises:
            UserError: A file of the game is missing, or was changed so that it cannot be read.
        """
        return read_material(self.folder / STUDY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Story(KeptGame):
    """A scene in a world, which people watch, and whose characters they may take over.

    Attributes:
        settings: What it is played with.
    """

    suite = "world"
    files = (STUDY, SCENE)

    settings: StorySettings

    def material(self) -> WorldMaterial:
        """Returns the story's study with all that it refers to.

        Raises:
            UserError: A file of the story is missing, or was changed so that it cannot be read.
        """
        return read_world(self.folder / STUDY)

    def control(self) -> Control:
        """Returns what somebody wants of the story.

        Raises:
            ContentError: The file that says it is torn.
        """
        return self._read(_CONTROL, Control(by_person=frozenset(self.settings.by_person)))

    def keep_control(self, control: Control) -> None:
        """Writes what somebody wants of the story.

        Raises:
            UserError: The disk is full or the folder cannot be written.
        """
        self._keep(_CONTROL, control)


AnyGame = Game | Story


def read_game(folder: Path) -> AnyGame:
    """Returns the game of a folder.

    Raises:
        ContentError: It is no game, or its file is torn.
    """
    path = folder / KEPT
    try:
        kept = GameFile.model_validate_json(read_text(path))
    except ValidationError:
        raise ContentError("is no game's file, or a torn one", where=str(path)) from None
    return game_of(folder, kept)


def game_of(folder: Path, kept: GameFile) -> AnyGame:
    """Returns the game of a folder whose file was read."""
    facts = facts_of(folder, kept)
    if isinstance(kept.settings, StorySettings):
        return Story(settings=kept.settings, **facts)
    return Game(settings=kept.settings, **facts)


def facts_of(folder: Path, kept: GameFile) -> dict[str, Any]:
    """Returns what is kept of a game beside its settings, by the names of `KeptGame`."""
    shared = {name: getattr(kept, name) for name in ("title", "language", "created", "made_with")}
    return {"folder": folder, "id": folder.name, **shared}
