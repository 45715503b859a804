"""Clean scenes: written by hand, every character played well, with hooks that say where a fault can be made true."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from dramaturg.files import load_yaml
from dramaturg.judge.audit.clean import Hook, refuse_idle_edits
from dramaturg.judge.audit.world.faults import FaultKind
from dramaturg.stage.transcript import Player, Role, Scenario, Transcript, Turn

PROTOCOL = "hand-written"

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class _Role(_Strict):
    id: Text
    name: Text
    profile: Text


class _Turn(_Strict):
    role: Text
    text: Text
    kind: Literal["action", "speech", "narration"]


class SceneFile(_Strict):
    """The content of a file with a clean scene.

    Attributes:
        id: Its name; the cluster of all intervals.
        title: For people.
        language: Of all its text.
        scene: What is true at its beginning.
        characters: Who acts; the role ``narrator`` needs no entry.
        turns: What happens; their ids are T1, T2 … in order.
        hooks: Fault → where it can be made true.
        renamed: Name → another that would do as well: a harmless edit.
    """

    id: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    title: Text
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2}$")]
    scene: Text
    characters: Annotated[list[_Role], Field(min_length=2)]
    turns: Annotated[list[_Turn], Field(min_length=4)]
    hooks: dict[FaultKind, list[Hook]]
    renamed: dict[Text, Text]

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        known = {"narrator", *(one.id for one in self.characters)}
        for number, turn in enumerate(self.turns, start=1):
            if turn.role not in known:
                raise ValueError(f"turn T{number}: no role {turn.role!r}; allowed: {', '.join(sorted(known))}")
        for kind, hooks in self.hooks.items():
            for hook in hooks:
                number = int(hook.turn[1:])
                if number > len(self.turns) or self.turns[number - 1].role == "narrator":
                    raise ValueError(f"hook {kind}: {hook.turn} is no act of a character")
                refuse_idle_edits(kind, hook.turn, self.turns[number - 1].text, hook.faulty)
        text = self.model_dump_json(include={"scene", "characters", "turns"})
        if unknown := [name for name in self.renamed if name not in text]:
            raise ValueError(f"renamed: {unknown[0]!r} stands nowhere")
        return self


@dataclass(frozen=True, slots=True)
class RaterBase:
    """A clean scene that specimens are made of.

    Attributes:
        transcript: The scene as it was played.
        hooks: Fault → where it can be made true.
        renamed: Name → another that would do as well.
    """

    transcript: Transcript
    hooks: Mapping[FaultKind, tuple[Hook, ...]]
    renamed: Mapping[str, str]

    @property
    def id(self) -> str:
        """The cluster."""
        return self.transcript.id

    def role_of(self, turn: str) -> str:
        """Returns the id of the role whose turn it is."""
        return next(one.role for one in self.transcript.turns if one.id == turn)


def load_rater_base(path: Path) -> RaterBase:
    """Returns the clean scene of a file.

    Raises:
        ContentError: The file is no YAML or holds something else; every problem is named with its line.
    """
    content = load_yaml(path, SceneFile)
    names = {one.id: one.name for one in content.characters}
    narrated = any(turn.role == "narrator" for turn in content.turns)
    roles = [Role(id=one.id, kind="character", name=one.name, description=one.profile) for one in content.characters]
    roles += [Role(id="narrator", kind="narrator", name="")] if narrated else []
    transcript = Transcript(
        id=content.id,
        suite="world",
        protocol=PROTOCOL,
        scenario=Scenario(
            id=content.id, title=content.title, language=content.language, reference=content.scene.strip()
        ),
        roles=tuple(roles),
        cast={role.id: Player(kind="model", subject=role.kind == "character") for role in roles},
        seed=0,
        turns=tuple(
            Turn(id=f"T{number}", role=turn.role, speaker=names.get(turn.role, ""), kind=turn.kind, text=turn.text)
            for number, turn in enumerate(content.turns, start=1)
        ),
        end_reason="completed",
    )
    return RaterBase(transcript, {kind: tuple(hooks) for kind, hooks in content.hooks.items()}, content.renamed)


def shipped_rater_bases(language: str = "") -> tuple[RaterBase, ...]:
    """Returns the clean scenes that ship, by id.

    Args:
        language: Of those wanted, ISO 639-1; empty for all.

    Raises:
        ContentError: A file of them is wrong.
    """
    folder = Path(str(resources.files("dramaturg"))) / "content" / "rater-audit"
    bases = [load_rater_base(path) for path in sorted(folder.glob("*.yaml"))]
    return tuple(base for base in bases if language in {"", base.transcript.scenario.language})
