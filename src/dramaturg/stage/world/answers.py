"""What the narrator and the characters answer in a form: typed, so that nothing that cannot be read counts as nothing.

A target is a closed list for the server, and free text here: `dramaturg.stage.world.naming` says whom it means.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, create_model

NONE = "none"
"""The target of an act that affects nobody else."""

InfluenceT = TypeVar("InfluenceT", bound="Influence")

_PARTED = re.compile(r"\s*[;；]\s*[;；:：]\s*")
_SLOT = re.compile(r"\A[\s*_`\"'“”‘’\[【<(-]*(?P<text>.*?)[\s*_`\"'“”‘’\]】>)]*\Z", re.DOTALL)


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Influence(_Frozen):
    """Whom an act affects most, and how.

    Attributes:
        target: Who: an id, or `NONE`.
        influence: What the act does to the target.
    """

    target: str
    influence: str = ""


class InfluenceOrUpdate(Influence):
    """The same, with how it leaves whoever acted where it affects nobody else.

    Attributes:
        position: Where the actor is then.
        state: How the actor is then.
    """

    position: str = ""
    state: str = ""


class Update(_Frozen):
    """How something left somebody; an empty text leaves what was before.

    Attributes:
        position: Where somebody is.
        state: How somebody is, in body and mind.
    """

    position: str = ""
    state: str = ""


class UpdateOf(Update):
    """The same, of one of several.

    Attributes:
        who: Id of whom it is about.
    """

    who: str


class Result(_Frozen):
    """What came of an act and its answer.

    Attributes:
        result: What happened.
        updates: How it left both.
    """

    result: str
    updates: tuple[UpdateOf, ...] = ()


class EnvironmentUpdate(_Frozen):
    """What surrounds everybody after a round; an empty text leaves what was before.

    Attributes:
        time: When.
        place: Where.
        description: What can be seen, heard and felt.
        concluded: Whether what was at stake is settled, so that the story is over.
    """

    time: str = ""
    place: str = ""
    description: str = ""
    concluded: bool


class Beliefs(_Frozen):
    """What a character makes of itself and of what is around it.

    Attributes:
        self_belief: How it is, what it wants, what it will do.
        environment_belief: What it makes of the others and of the place.
    """

    self_belief: Annotated[str, Field(min_length=1)]
    environment_belief: Annotated[str, Field(min_length=1)]


class Act(_Frozen):
    """What a character does and says.

    Attributes:
        action: What can be seen of it.
        speech: What it says; empty where it is silent.
    """

    action: Annotated[str, Field(min_length=1)]
    speech: str = ""


@functools.lru_cache(maxsize=1024)
def closed(answer: type[InfluenceT], ids: tuple[str, ...]) -> type[InfluenceT]:
    """Returns the type of an influence whose target is one of these ids, or `NONE`, for a server that holds to it."""
    target = Annotated[str, Field(json_schema_extra={"enum": [*ids, NONE]})]
    return create_model(answer.__name__, __base__=answer, target=(target, ...))


@dataclass(frozen=True, slots=True)
class Written:
    """An influence in the published form ``[actor];;[target];;[influence]``.

    Attributes:
        actor: Who acts, as it is written.
        target: Whom it affects, as it is written.
        influence: How; whatever signs it has stay.
    """

    actor: str
    target: str
    influence: str


def read_influence(text: str) -> Written | None:
    """Returns the influence that a narrator wrote in the published form, or None where no line has it.

    The two parting signs may be ``;;`` or ``;:``, of either width and with blanks; brackets may be missing, a label or
    another sentence may stand on other lines. Two parts are a target and its influence.
    Source: CharacterBox, appendix D.1, writes ``;:`` where its code wants ``;;``.
    """
    for line in text.splitlines():
        parts = [_bare(part) for part in _PARTED.split(line, maxsplit=2)]
        match parts:
            case [actor, target, influence] if target:
                return Written(actor, target, influence)
            case [target, influence] if target and influence:
                return Written("", target, influence)
            case _:
                continue
    return None


def read_plan(text: str, names: Sequence[str]) -> dict[str, str]:
    """Returns the line of a plan that each name has; a name without one is not in it.

    Args:
        text: Lines ``Name: what this one does next``.
        names: Whose lines are looked for.
    """
    found: dict[str, str] = {}
    for line in text.splitlines():
        head, parted, rest = re.sub(r"[：]", ":", line, count=1).partition(":")
        name = _bare(re.sub(r"\A\s*(?:[-*•]|\d{1,2}[.)])\s*", "", head)).casefold()
        whose = next((known for known in names if known.casefold() == name), None)
        if parted and whose is not None and rest.strip(" *_"):
            found.setdefault(whose, rest.strip(" *_"))
    return found


def _bare(text: str) -> str:
    found = _SLOT.match(text)
    return found["text"].strip() if found is not None else text.strip()
