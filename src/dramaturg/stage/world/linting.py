"""What is wrong with scenes: the dirt that published scenes hold, and what makes a scene of one's own hard to play.

Every check is a rule about what is written; whether a scene is any good is for people to say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from dramaturg.errors import ContentError
from dramaturg.ledger.budget import estimated_tokens
from dramaturg.stage.world.importing import HAN, SceneRow, row_of
from dramaturg.stage.world.naming import Names
from dramaturg.stage.world.reading import read_scenes
from dramaturg.stage.world.scene import Scene

Issue = Literal[
    "fewer than 2 characters",
    "number of actions differs from number of characters",
    "event title repeated in file",
    "chunk used more than once",
    "placeholder dialogue",
    "empty dialogue",
    "unusual gender value",
    "missing gender",
    "Chinese inside English text",
    "blanks around a name",
    "unknown keys",
    "actor is not in the cast",
    "empty profile",
    "very long profile",
    "name of two characters",
    "name that names nobody",
    "id of two scenes",
    "unreadable",
]
"""What can be wrong. Dialogues, genders, actors, keys, blanks and chunks are looked at in imported scenes alone."""

_FEWEST_CHARACTERS = 2

USUAL_GENDERS = frozenset({"male", "female", "男", "女"})

LONG_PROFILE_TOKENS = 2_000
"""A longer profile, estimated, leaves little of a small model's context for the story."""


@dataclass(frozen=True, slots=True)
class SceneFinding:
    """One thing that is wrong with a scene.

    Attributes:
        file: Where the scene stands.
        scene: Its id in that file: a number in CharacterBox's own files; empty where the file cannot be read.
        issue: What kind of thing.
        where: The field, for example ``actions[1].dialogue``.
        detail: What stands there.
    """

    file: str
    scene: int | str
    issue: Issue
    where: str
    detail: str

    def as_json(self) -> dict[str, int | str]:
        """Returns the finding as JSON."""
        return {
            "file": self.file,
            "scene": self.scene,
            "issue": self.issue,
            "where": self.where,
            "detail": self.detail,
        }

    def __str__(self) -> str:
        of_scene = f"{self.scene}: " if self.scene != "" else ""
        return f"{of_scene}{self.issue} at {self.where}: {self.detail}"


@dataclass(frozen=True, slots=True)
class Checked:
    """The scenes of a file, and what is wrong with them.

    Attributes:
        file: The file.
        scenes: Its scenes; none where it cannot be read.
        findings: In the order of the scenes.
    """

    file: str
    scenes: tuple[Scene, ...]
    findings: tuple[SceneFinding, ...]


_Found = tuple[Issue, str, str]
"""Issue, field and what stands there."""


def check_file(path: Path) -> Checked:
    """Returns the scenes of a file and what is wrong with them; what makes it unreadable is a finding too."""
    try:
        scenes = read_scenes(str(path))
    except ContentError as error:
        lines = [line.removeprefix(str(path)) for line in str(error).splitlines()]
        parts = [(place.strip(":"), what or place) for place, _, what in (line.partition(": ") for line in lines)]
        unreadable = (SceneFinding(str(path), "", "unreadable", where or "file", what) for where, what in parts)
        return Checked(str(path), (), tuple(unreadable))
    return Checked(str(path), scenes, lint(scenes, str(path), by_number=path.suffix == ".json"))


def check_files(paths: Sequence[Path]) -> tuple[Checked, ...]:
    """Returns what `check_file` says of each file; an id that stands in two of them is a finding too."""
    first: dict[str, str] = {}
    found: list[Checked] = []
    for checked in map(check_file, paths):
        twice = [scene.id for scene in checked.scenes if first.setdefault(scene.id, checked.file) != checked.file]
        more = (SceneFinding(checked.file, name, "id of two scenes", "id", f"also in {first[name]}") for name in twice)
        found.append(replace(checked, findings=(*checked.findings, *more)))
    return tuple(found)


def lint(scenes: Sequence[Scene], file: str, *, by_number: bool = False) -> tuple[SceneFinding, ...]:
    """Returns what is wrong with the scenes of one file, in their order.

    Args:
        scenes: All of the file.
        file: Its name, for the findings.
        by_number: Whether an imported scene is called by the number that it has in its own file.
    """
    rows = [row_of(scene) for scene in scenes]
    titles = Counter(_title(scene) for scene in scenes)
    chunks = Counter(_chunk(scene, row) for scene, row in zip(scenes, rows, strict=True))
    found: list[SceneFinding] = []
    for scene, row in zip(scenes, rows, strict=True):
        issues = [*_scene_issues(scene), *(_row_issues(row) if row is not None else ())]
        if titles[_title(scene)] > 1:
            issues.append(("event title repeated in file", "event", scene.title))
        chunk = _chunk(scene, row)
        if chunk[-1] and chunks[chunk] > 1:
            issues.append(("chunk used more than once", "chunk", f"{chunk[-1]}, by {chunks[chunk]} scenes"))
        name = row.id if row is not None and by_number else scene.id
        found += (SceneFinding(file, name, *issue) for issue in issues)
    return tuple(found)


def _scene_issues(scene: Scene) -> Iterator[_Found]:
    """Yields what is wrong with any scene."""
    if len(scene.characters) < _FEWEST_CHARACTERS:
        yield "fewer than 2 characters", "characters", str(len(scene.characters))
    if scene.language != "zh":
        for where, text in _prose(scene):
            if HAN.search(text):
                yield "Chinese inside English text", where, text
    names = Names(scene.characters)
    for at, character in enumerate(scene.characters):
        where = f"characters[{at}]"
        size = estimated_tokens(character.profile)
        if not character.profile:
            yield "empty profile", f"{where}.profile", character.name
        elif size > LONG_PROFILE_TOKENS:
            yield "very long profile", f"{where}.profile", f"{character.name}, about {size} tokens"
        for name in (character.name, *character.aliases):
            named = names.resolve(name)
            if named.meaning == "ambiguous":
                yield "name of two characters", where, name
            elif named.id != character.id:
                yield "name that names nobody", where, name


def _prose(scene: Scene) -> Iterator[tuple[str, str]]:
    """Yields field and text of all that is told in the scene's language; names may be in any."""
    around = scene.environment
    yield from (("title", scene.title), ("event", scene.event), ("plot", scene.plot))
    yield from ((f"environment.{key}", getattr(around, key)) for key in ("time", "place", "description"))
    for at, character in enumerate(scene.characters):
        where = f"characters[{at}]"
        yield from ((f"{where}.{key}", getattr(character, key)) for key in ("profile", "position", "state"))
        if character.opening is not None:
            yield f"{where}.opening.action", character.opening.action
            yield f"{where}.opening.speech", character.opening.speech


def _row_issues(row: SceneRow) -> Iterator[_Found]:
    """Yields what is wrong with the row that a scene was imported from."""
    if len(row.actions) != len(row.characters):
        counts = f"{len(row.actions)} actions, {len(row.characters)} characters"
        yield "number of actions differs from number of characters", "actions", counts
    if row.unknown_keys:
        yield "unknown keys", "scene", ", ".join(row.unknown_keys)
    for at, character in enumerate(row.characters):
        where = f"characters[{at}]"
        yield from _name_issues(f"{where}.name", character.name)
        if character.gender is None or not character.gender.strip():
            yield "missing gender", f"{where}.gender", character.name
        elif character.gender.strip().casefold() not in USUAL_GENDERS:
            yield "unusual gender value", f"{where}.gender", f"{character.name}: {character.gender}"
        if character.unknown_keys:
            yield "unknown keys", where, ", ".join(character.unknown_keys)
    for at, action in enumerate(row.actions):
        where = f"actions[{at}]"
        yield from _name_issues(f"{where}.character", action.character)
        if row.actor_of(action) is None:
            yield "actor is not in the cast", f"{where}.character", action.character
        if not action.dialogue.strip():
            yield "empty dialogue", f"{where}.dialogue", action.character
        elif action.is_silence:
            yield "placeholder dialogue", f"{where}.dialogue", f"{action.character}: {action.dialogue}"
        if action.unknown_keys:
            yield "unknown keys", where, ", ".join(action.unknown_keys)


def _name_issues(where: str, name: str) -> Iterator[_Found]:
    if name != name.strip():
        yield "blanks around a name", where, repr(name)


def _title(scene: Scene) -> tuple[str, str, str]:
    """Returns what tells a scene's title apart from those of other works in the file."""
    return scene.work, scene.source, scene.title


def _chunk(scene: Scene, row: SceneRow | None) -> tuple[str, str, str]:
    """Returns what tells the piece of the work that a scene comes from; the last part is empty where it is unknown."""
    chunk = row.chunk_ref if row is not None else None
    return scene.work, scene.source, "" if chunk is None or chunk.id is None else str(chunk.id)
