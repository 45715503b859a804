"""What the narrator and the characters answer in a form: typed, so that nothing that cannot be read counts as nothing.

A target is a closed list for the server, and free text here: `dramaturg.stage.world.naming` says whom it means.
"""

from __future__ import annotations

import functools
import re
from typing import Annotated, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from dramaturg.stage.world.written import bounded

NONE = "none"
"""The target of an act that affects nobody else."""

InfluenceT = TypeVar("InfluenceT", bound="Influence")

_KEPT = re.compile(
    r"[\s(（\[\"'“”*_-]*(?:none|nil|null|n/?a|not applicable|(?:the )?same(?: as before)?|unchanged|not changed"
    r"|no changes?|nothing changed|not (?:specified|told|given)|unknown|\?+|无|没有|不变|未变|无变化|没有(?:变化|改变)"
    r"|同上|未知|不明)[\s.。…)）\]\"'“”*_-]*",
    re.IGNORECASE,
)
_NEXT_KEY = re.compile(
    r"(?:\A|\n|(?<=[.!?。！？]))\s*[-*]?\s*(?:time|place|description|undecided|position|state)\s*[:：].*\Z",
    re.DOTALL | re.IGNORECASE,
)
_NOTHING_LEFT = re.compile(
    r"[\s.\"'“”*_(（]*(?:none|nothing(?: (?:is |at all )?(?:left|undecided|more|else))?|n/a|无|没有(?:了)?|没什么)"
    r"[\s.。\"'“”*_)）]*\Z",
    re.IGNORECASE,
)


def _text(value: object) -> object:
    return "" if value is None else bounded(value) if isinstance(value, str) else value


def _kept(value: object) -> object:
    if isinstance(value, str):
        value = _NEXT_KEY.sub("", value)
        return "" if _KEPT.fullmatch(value) else _text(value)
    return _text(value)


def _target(value: object) -> object:
    match value:
        case None:
            return NONE
        case list():
            names = cast("list[object]", value)
            return ", ".join(map(str, names)) if all(isinstance(name, str) for name in names) else names
        case _:
            return value


def _updates(value: object) -> object:
    match value:
        case None:
            return ()
        case dict() if "who" not in value:
            by_id = cast("dict[str, object]", value)
            return [
                {**cast("dict[str, object]", one), "who": who} for who, one in by_id.items() if isinstance(one, dict)
            ]
        case _:
            return value


Words = Annotated[str, BeforeValidator(_text)]
"""Text of a bounded length; null is empty."""

Now = Annotated[str, BeforeValidator(_kept)]
"""How something is now; null, and words such as "unchanged" or "None", are empty: it stays as it was.

It ends where another key of the form begins in it: small models go on with the form inside one of its texts.
"""

Target = Annotated[str, BeforeValidator(_target)]
"""Who is affected: null is nobody, and a list is written out."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Influence(_Frozen):
    """Whom an act affects most, and how.

    Attributes:
        target: Who: an id, or `NONE`.
        influence: What the act does to the target.
    """

    target: Target
    influence: Words = ""


class InfluenceOrUpdate(Influence):
    """The same, with how it leaves whoever acted where it affects nobody else.

    Attributes:
        position: Where the actor is then.
        state: How the actor is then.
    """

    position: Now = ""
    state: Now = ""


class Update(_Frozen):
    """How something left somebody; an empty text leaves what was before.

    Attributes:
        position: Where somebody is.
        state: How somebody is, in body and mind.
    """

    position: Now = ""
    state: Now = ""


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

    result: Words
    updates: Annotated[tuple[UpdateOf, ...], BeforeValidator(_updates)] = ()


class EnvironmentUpdate(_Frozen):
    """What surrounds everybody after a round; an empty text leaves what was before.

    Attributes:
        time: When.
        place: Where.
        description: What can be seen, heard and felt.
        undecided: What of what is at stake is still to be settled; a word for nothing where the story is over.
    """

    time: Now = ""
    place: Now = ""
    description: Now = ""
    undecided: Words = ""

    @property
    def concluded(self) -> bool:
        """Whether the narrator says that nothing is left to be settled; a blank says nothing of it.

        It is asked for what is left, and not whether the story is over: small models say yes to that at once.
        """
        return _NOTHING_LEFT.match(self.undecided) is not None


class Beliefs(_Frozen):
    """What a character makes of itself and of what is around it.

    Attributes:
        self_belief: How it is, what it wants, what it will do.
        environment_belief: What it makes of the others and of the place.
    """

    self_belief: Annotated[Words, Field(min_length=1)]
    environment_belief: Annotated[Words, Field(min_length=1)]


class Act(_Frozen):
    """What a character does and says.

    Attributes:
        action: What can be seen of it.
        speech: What it says; empty where it is silent.
    """

    action: Annotated[str, Field(min_length=1)]
    speech: Words = ""


@functools.lru_cache(maxsize=1024)
def closed(answer: type[InfluenceT], ids: tuple[str, ...]) -> type[InfluenceT]:
    """Returns the type of an influence whose target is one of these ids, or `NONE`, for a server that holds to it."""
    target = Annotated[Target, Field(json_schema_extra={"enum": [*ids, NONE]})]
    return create_model(answer.__name__, __base__=answer, target=(target, ...))


def is_blank(text: str) -> bool:
    """Returns whether a text tells nothing: it is empty, or a word that stands for that, such as "None"."""
    return not text.strip() or _KEPT.fullmatch(text) is not None
