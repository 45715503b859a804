"""The case: what a trial is about, frozen before the first word is spoken.

Source: RPA-Check, section 4.2: a case is the tuple of title, summary, evidence, witnesses and goal.
The roles' names, the timeline and the facts are added here, so that a judge can tell a true
statement from an invented one.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""Text that is not blank."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Officer(_Frozen):
    """Who fills an office of the court, and how this person speaks."""

    name: Text
    manner: str = ""


class Evidence(_Frozen):
    """One exhibit, quotable by its id."""

    id: Annotated[str, StringConstraints(pattern=r"^E\d{1,2}$")]
    name: Text
    description: Text


class Witness(_Frozen):
    """A witness: knows only its own part, hides some of it, speaks in its own manner."""

    name: Text
    occupation: Text
    called_by: Literal["prosecution", "defence", "court"]
    manner: Text
    knowledge: Annotated[tuple[Text, ...], Field(min_length=1)]
    secrets: tuple[Text, ...] = ()


class Event(_Frozen):
    """An entry of the timeline."""

    time: Text
    event: Text
    status: Literal["established", "contested"]


class Fact(_Frozen):
    """A statement about what happened: true, or contested and open to argument."""

    text: Text
    status: Literal["true", "contested"]


class Case(_Frozen):
    """A court case: public record, private knowledge of the witnesses, and the defence's goal."""

    id: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    title: Text
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2}$")] = "en"
    kind: Literal["criminal", "civil"]
    setting: Text
    charge: Text
    accused: Text
    summary: Text
    goal: Text
    judge: Officer
    prosecutor: Officer
    defence: Officer
    evidence: Annotated[tuple[Evidence, ...], Field(min_length=1)]
    witnesses: Annotated[tuple[Witness, ...], Field(min_length=1)]
    timeline: tuple[Event, ...] = ()
    facts: tuple[Fact, ...] = ()

    @model_validator(mode="after")
    def _names_are_distinct(self) -> Self:
        people = [self.judge.name, self.prosecutor.name, self.defence.name]
        people += [witness.name for witness in self.witnesses]
        twice = sorted({name for name in people if [n.casefold() for n in people].count(name.casefold()) > 1})
        if twice:
            raise ValueError(f"two people in the case share the name {twice[0]!r}; every speaker needs its own")
        ids = [exhibit.id for exhibit in self.evidence]
        if len(set(ids)) != len(ids):
            raise ValueError("two pieces of evidence share an id; every id is used once")
        return self
