"""The procedure as data: who speaks when, what for, and where each event leads.

Source: RPA-Check, section 4.4 and figure 4: a transition graph that no speaker can leave. A procedure is a
YAML file; `dramaturg.stage.court.proof` proves it, `dramaturg.stage.court.engine` walks it.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from dramaturg.errors import ContentError
from dramaturg.files import find, load_yaml
from dramaturg.text import sha256

END = "end"
"""The state in which nobody speaks any more."""

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*([-_][a-z0-9]+)*$")]

EventKind = Literal["spoken", "addressed", "objected", "rested", "granted", "ruled", "accepted", "declined", "decided"]
"""What a turn did.

spoken: it was said. addressed: somebody was asked. objected: who leads was asked to rule. rested: the side gives up
what it has left. granted: counts were given. ruled: an objection was decided. accepted, declined: a proposal was
answered. decided: the verdict.
"""

EVENT_KINDS: tuple[EventKind, ...] = get_args(EventKind)

VERDICT = "verdict"
"""The purpose of the state in which the outcome is decided, in two steps: summary and decision."""

UNDECIDED = "undecided"
"""The outcome that every procedure has."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RoleRule(_Frozen):
    """A kind of role; of some kinds there are many.

    Attributes:
        many: Whether several people may have it.
        exhibits: Whether it knows the list of exhibits and witnesses from the start.
        titles: Language → what it is called behind a name; the kind itself where a language has none.
        duties: Language → what somebody who judges the performance may know of it; English where a language has none.
    """

    many: bool = False
    exhibits: bool = True
    titles: dict[str, str] = {}
    duties: dict[str, str] = {}


class Budget(_Frozen):
    """A number of turns of one kind that a role may take.

    Attributes:
        owner: Role kind that spends it.
        least: Fewest that may be granted.
        most: Most that may be granted or started with; a budget without it is endless, which the proof refuses.
        start: What there is from the beginning, where nobody has to grant it.
    """

    owner: str
    least: Annotated[int, Field(ge=1)] = 1
    most: Annotated[int, Field(ge=1, le=50)] | None = None
    start: Annotated[int, Field(ge=0)] | None = None


class Transition(_Frozen):
    """Where an event leads.

    Attributes:
        event: What happened.
        to: The next state, or ``end``.
        addresses: Kind of role that is addressed and speaks next.
        spends: Budget from which one is taken; it must have one.
        clears: Budget that is given up; it must have something left.
        left: Budget that must have something left afterwards.
    """

    event: EventKind
    to: str
    addresses: str = ""
    spends: str = ""
    clears: str = ""
    left: str = ""

    @property
    def takes(self) -> str:
        """The budget that gets smaller, or empty."""
        return self.spends or self.clears


class State(_Frozen):
    """A state: one turn of one role.

    Attributes:
        id: Unique in the procedure.
        phase: The phase it belongs to.
        speaker: Kind of role that owns the turn; whoever was addressed, where there are many.
        purpose: What the turn is for, in one word; the player's request carries it as a label. ``verdict`` decides.
        note: Prompt with the note that the speaker gets before the turn.
        requests: Budgets for which the speaker asks for a count.
        grants: Budgets for which the speaker grants a count.
        then: Transitions; for each event the first that holds is taken.
    """

    id: Name
    phase: str
    speaker: str = ""
    purpose: Name
    note: str = ""
    requests: tuple[str, ...] = ()
    grants: tuple[str, ...] = ()
    then: Annotated[tuple[Transition, ...], Field(min_length=1)]


class Procedure(_Frozen):
    """A procedure.

    Attributes:
        id: Name of the procedure.
        version: Raised with every change.
        title: For people.
        family: Prompts are looked for under ``FAMILY-…`` first, then under ``court-…``.
        phases: Their names, in order.
        roles: Role kinds that take part.
        player: Kind of role that a person or a script usually plays; the others are what a study measures.
        outcomes: Label → the word by which the decision names it. A label is seen from the player's side.
        budgets: By name.
        turn_limit: Most turns, whatever happens.
        start: The first state.
        states: All states but the end.
        texts: Language → name → prompt, for a procedure that brings its own prompts; they go before shipped ones.
    """

    id: Name
    version: Annotated[int, Field(ge=1)]
    title: str
    family: Name = "court"
    phases: Annotated[tuple[str, ...], Field(min_length=1)]
    roles: dict[Name, RoleRule]
    player: str
    outcomes: Annotated[dict[Name, Name], Field(min_length=2)]
    budgets: dict[Name, Budget] = {}
    turn_limit: Annotated[int, Field(ge=1, le=500)]
    start: str
    states: Annotated[tuple[State, ...], Field(min_length=1)]
    texts: dict[str, dict[Name, str]] = {}

    def title_of(self, kind: str, language: str) -> str:
        """Returns what a kind of role is called behind a name."""
        return self.roles[kind].titles.get(language, kind)

    def outcome_named(self, word: str) -> str:
        """Returns the label of an outcome by its word, or by the label itself, in lower case; empty where none is."""
        return next((label for label, name in self.outcomes.items() if word and word in {label, name.casefold()}), "")

    @functools.cached_property
    def digest(self) -> str:
        """Hash of the whole content."""
        return sha256(self.model_dump_json())

    def __hash__(self) -> int:
        return hash(self.digest)

    def state(self, name: str) -> State:
        """Returns a state by its id.

        Raises:
            KeyError: There is none.
        """
        for state in self.states:
            if state.id == name:
                return state
        raise KeyError(name)


def load_procedure(name: str = "trial", *, beside: Path | None = None) -> Procedure:
    """Returns a procedure by name or path, proved.

    Args:
        name: Of a shipped procedure, or a path.
        beside: Folder that a relative path starts from; the working folder by default.

    Raises:
        ContentError: There is no such file, it is wrong, or the proof finds a fault in it or in its prompts.
    """
    from dramaturg.stage.court.prompt_proof import prompt_problems
    from dramaturg.stage.court.proof import problems

    path = find("procedures", name, beside=beside)
    procedure = load_yaml(path, Procedure)
    if found := problems(procedure) or prompt_problems(procedure):
        raise ContentError("; ".join(found), where=str(path))
    return procedure
