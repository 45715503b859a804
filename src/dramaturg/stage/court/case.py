"""The case: what a performance is about, frozen before the first word is spoken.

Source: RPA-Check, section 4.2: a case is the tuple of title, summary, evidence, witnesses and goal.
The roles' names, the timeline and the facts are added here, so that a judge can tell a true
statement from an invented one.

There are two forms. `Case` is a court's, with its offices and witnesses. `OpenCase` is anybody's: a list of people,
each with the kind of role that it has in the procedure for which the case is made.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, model_validator

from dramaturg.files import parse_yaml, read_text

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""Text that is not blank."""

Kind = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*([-_][a-z0-9]+)*$")]
"""Kind of a role, as a procedure names it."""


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


class Person(_Frozen):
    """Somebody on the stage.

    Attributes:
        role: Kind of role in the procedure.
        name: The character's name.
        occupation: What the others may know of it; empty where the role says it all.
        called_by: Which side called a witness; empty for everybody else.
        manner: How it speaks.
        goal: What it wants, told to it alone.
        knowledge: What it knows beside the public record, told to it alone.
        secrets: What it knows and keeps to itself.
    """

    role: Kind
    name: Text
    occupation: str = ""
    called_by: str = ""
    manner: str = ""
    goal: str = ""
    knowledge: tuple[Text, ...] = ()
    secrets: tuple[Text, ...] = ()


class CaseFile(_Frozen, ABC):
    """What both forms of a case share.

    Attributes:
        id: Unique among the cases of a study.
        title: For people.
        language: ISO 639-1; what is said is said in it.
        setting: Where and when.
        summary: What everybody knows.
        goal: What the player of the procedure wants to reach.
        evidence: Exhibits that may be named by their ids.
        timeline: What happened when.
        facts: What is true, and what is open to argument.
        origin: The file that the case was imported from, in its own form; no part of what is played.
    """

    id: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    title: Text
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2}$")] = "en"
    setting: Text
    summary: Text
    goal: Text
    evidence: tuple[Evidence, ...] = ()
    timeline: tuple[Event, ...] = ()
    facts: tuple[Fact, ...] = ()
    origin: dict[str, JsonValue] | None = None

    record_prompt: ClassVar[str]
    """Prompt with the public record's first paragraph."""

    @property
    @abstractmethod
    def everybody(self) -> tuple[Person, ...]:
        """Everybody on the stage, in the order in which they are listed."""

    @property
    @abstractmethod
    def at_issue(self) -> str:
        """What is to be decided."""

    @property
    @abstractmethod
    def made_for(self) -> str:
        """The procedure that the case was made for."""

    @model_validator(mode="after")
    def _names_are_distinct(self) -> Self:
        people = [person.name for person in self.everybody]
        twice = sorted({name for name in people if [n.casefold() for n in people].count(name.casefold()) > 1})
        if twice:
            raise ValueError(f"two people in the case share the name {twice[0]!r}; every speaker needs its own")
        ids = [exhibit.id for exhibit in self.evidence]
        if len(set(ids)) != len(ids):
            raise ValueError("two pieces of evidence share an id; every id is used once")
        return self


class Case(CaseFile):
    """A court case: public record, private knowledge of the witnesses, and the defence's goal."""

    record_prompt: ClassVar[str] = "court-record"

    kind: Literal["criminal", "civil"]
    charge: Text
    accused: Text
    judge: Officer
    prosecutor: Officer
    defence: Officer
    evidence: Annotated[tuple[Evidence, ...], Field(min_length=1)] = Field(default=...)
    witnesses: Annotated[tuple[Witness, ...], Field(min_length=1)]

    @property
    def everybody(self) -> tuple[Person, ...]:
        """Judge, prosecutor, defence, then the witnesses."""
        officers = {"judge": self.judge, "prosecutor": self.prosecutor, "defence": self.defence}
        return (
            *(
                Person(role=kind, name=officer.name, manner=officer.manner, goal=self.goal if kind == "defence" else "")
                for kind, officer in officers.items()
            ),
            *(Person(role="witness", **witness.model_dump()) for witness in self.witnesses),
        )

    @property
    def at_issue(self) -> str:
        """The charge."""
        return self.charge

    @property
    def made_for(self) -> str:
        """The trial."""
        return "trial"


class OpenCase(CaseFile):
    """A case for any procedure.

    Attributes:
        procedure: Name of a shipped procedure, or a path.
        matter: What is to be decided.
        people: Everybody on the stage.
    """

    record_prompt: ClassVar[str] = "open-record"

    procedure: Text
    matter: Text
    people: Annotated[tuple[Person, ...], Field(min_length=2)]

    @property
    def everybody(self) -> tuple[Person, ...]:
        """The people, as listed."""
        return self.people

    @property
    def at_issue(self) -> str:
        """The matter."""
        return self.matter

    @property
    def made_for(self) -> str:
        """Its procedure."""
        return self.procedure


AnyCase: TypeAlias = Case | OpenCase
"""A case of either form."""

_PEOPLE = re.compile(r"^people\s*:", re.MULTILINE)


def read_case(path: Path) -> AnyCase:
    """Returns the case of a file; the form with `people` is open.

    Raises:
        ContentError: It cannot be read, or is no case; every problem is named with its line.
    """
    text = read_text(path)
    if _PEOPLE.search(text):
        return parse_yaml(text, OpenCase, where=str(path))
    return parse_yaml(text, Case, where=str(path))
