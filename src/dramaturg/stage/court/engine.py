"""Walks a procedure: a pure state machine, tested without a model.

``step(position, event) -> position``. An event that the position does not allow is refused, so no text of a model or a
person can lead anywhere that the procedure does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from dramaturg.stage.court.procedure import END, EventKind, Procedure, State, Transition

NO_COUNTS: Mapping[str, int] = {}


class IllegalEvent(ValueError):
    """The position does not allow the event; whoever builds events asks the engine first."""


@dataclass(frozen=True, slots=True)
class Event:
    """What a turn did.

    Attributes:
        kind: What happened.
        addressee: Id of the role that was addressed, for ``addressed`` and ``objected``.
        counts: Granted count by budget, for ``granted``.
    """

    kind: EventKind
    addressee: str = ""
    counts: Mapping[str, int] = field(default_factory=lambda: NO_COUNTS)


@dataclass(frozen=True, slots=True)
class Position:
    """Where a performance stands.

    Attributes:
        state: Id of the state, or ``end``.
        left: What is left of each budget, by name.
        addressee: Id of the role that was addressed last.
        turns: Turns taken so far.
        end: Why it ended; empty while it goes on.
    """

    state: str
    left: tuple[tuple[str, int], ...]
    addressee: str = ""
    turns: int = 0
    end: Literal["", "completed", "turn_limit"] = ""

    def left_of(self, budget: str) -> int:
        """Returns what is left of a budget."""
        return dict(self.left)[budget]


@dataclass(frozen=True, slots=True)
class Engine:
    """A procedure with the people in it.

    Attributes:
        procedure: A procedure that the proof accepts.
        roster: Ids of the roles by kind, in the order in which they are named to a speaker.
        questions: Most that may be granted of any budget; the procedure's own limit where that is lower.
        turn_limit: Most turns; the procedure's own limit where that is lower.
    """

    procedure: Procedure
    roster: Mapping[str, tuple[str, ...]]
    questions: int = 3
    turn_limit: int = 60

    def begin(self) -> Position:
        """Returns the first position."""
        budgets = self.procedure.budgets
        return Position(self.procedure.start, tuple((name, budget.start or 0) for name, budget in budgets.items()))

    def state(self, position: Position) -> State:
        """Returns the state of a position that has not ended."""
        return self.procedure.state(position.state)

    def speaker(self, position: Position) -> str:
        """Returns the id of the only role that may speak."""
        state = self.state(position)
        if self.procedure.roles[state.speaker].many:
            return position.addressee
        return self.roster[state.speaker][0]

    def range_of(self, budget: str) -> tuple[int, int]:
        """Returns the fewest and the most that may be granted of a budget."""
        rule = self.procedure.budgets[budget]
        most = min(self.questions, rule.most or self.questions)
        return min(rule.least, most), most

    def events(self, position: Position) -> tuple[EventKind, ...]:
        """Returns the events that may happen, in the order of the file."""
        if position.end:
            return ()
        kinds: dict[EventKind, None] = dict.fromkeys(transition.event for transition in self.state(position).then)
        return tuple(kind for kind in kinds if self._transition(position, kind) is not None)

    def addressees(self, position: Position, kind: EventKind = "addressed") -> tuple[str, ...]:
        """Returns the ids of the roles that may be addressed by an event of this kind."""
        transition = self._transition(position, kind) if not position.end else None
        return self.roster[transition.addresses] if transition is not None and transition.addresses else ()

    def step(self, position: Position, event: Event) -> Position:
        """Returns the next position.

        Raises:
            IllegalEvent: The position has ended, or does not allow the event, its addressee or its counts.
        """
        transition = None if position.end else self._transition(position, event.kind)
        if transition is None:
            raise IllegalEvent(f"{event.kind} is not allowed in state {position.state!r}")
        if transition.addresses and event.addressee not in self.roster[transition.addresses]:
            raise IllegalEvent(f"{event.addressee!r} cannot be addressed in state {position.state!r}")
        left = _after(position, transition)
        left.update(self._granted(position, event))
        turns = position.turns + 1
        moved = replace(position, state=transition.to, left=tuple(left.items()), turns=turns)
        if transition.addresses:
            moved = replace(moved, addressee=event.addressee)
        if transition.to == END:
            return replace(moved, end="completed")
        if turns >= min(self.turn_limit, self.procedure.turn_limit):
            return replace(moved, end="turn_limit")
        return moved

    def _granted(self, position: Position, event: Event) -> Mapping[str, int]:
        grants = self.state(position).grants if event.kind == "granted" else ()
        if set(event.counts) != set(grants):
            raise IllegalEvent(f"counts are needed for exactly {sorted(grants)}")
        for budget, count in event.counts.items():
            least, most = self.range_of(budget)
            if not least <= count <= most:
                raise IllegalEvent(f"{count} of {budget!r} cannot be granted; allowed: {least} to {most}")
        return event.counts

    def _transition(self, position: Position, kind: EventKind) -> Transition | None:
        """Returns the first transition for the event that holds.

        A budget that is granted by the event itself is full afterwards, so it counts as left.
        """
        state = self.state(position)
        for transition in state.then:
            if transition.event != kind:
                continue
            if transition.takes and not position.left_of(transition.takes):
                continue
            granted = kind == "granted" and transition.left in state.grants
            if not transition.left or granted or _after(position, transition)[transition.left]:
                return transition
        return None


def _after(position: Position, transition: Transition) -> dict[str, int]:
    """Returns what is left of each budget once the transition has taken its part."""
    left = dict(position.left)
    if transition.spends:
        left[transition.spends] -= 1
    if transition.clears:
        left[transition.clears] = 0
    return left


def unpeopled(procedure: Procedure, *, questions: int, turn_limit: int) -> Engine:
    """Returns the procedure with one nameless person of each kind: for what does not depend on who is there."""
    roster = {kind: (kind,) for kind in procedure.roles}
    return Engine(procedure, roster, questions=questions, turn_limit=turn_limit)


def bounds(engine: Engine, cost: Callable[[State], tuple[int, int]]) -> tuple[int, int]:
    """Returns the least and the most that a performance may cost, whatever happens in it.

    The turn limit is left out: it only makes a performance shorter.

    Args:
        engine: A proved procedure; that it terminates is what makes this finite.
        cost: Least and most of one turn in a state.
    """
    known: dict[Position, tuple[int, int]] = {}
    waiting = [begin := engine.begin()]
    while waiting:  # a long procedure is deeper than Python may recurse
        position = waiting.pop()
        if position.end:
            known[position] = 0, 0
        if position in known:
            continue
        after = [replace(engine.step(position, event), turns=0) for event in _choices(engine, position)]
        if unknown := [one for one in after if one not in known]:
            waiting += [position, *unknown]
            continue
        least, most = cost(engine.state(position))
        known[position] = least + min(known[one][0] for one in after), most + max(known[one][1] for one in after)
    return known[begin]


def visited(engine: Engine, *, most: int) -> frozenset[str] | None:
    """Returns the states that some performance comes to, budgets included; None where that takes too long to tell.

    Args:
        engine: A procedure that ends, with people in it.
        most: Most positions that are looked at.
    """
    seen = {engine.begin()}
    waiting = list(seen)
    while waiting:
        position = waiting.pop()
        for event in _choices(engine, position):
            after = replace(engine.step(position, event), turns=0)
            if after not in seen:
                seen.add(after)
                if not after.end:
                    waiting.append(after)
        if len(seen) > most:
            return None
    return frozenset(position.state for position in seen)


def _choices(engine: Engine, position: Position) -> list[Event]:
    """Returns one event for each way on: addressees are alike, counts are the fewest or the most."""
    choices: list[Event] = []
    for kind in engine.events(position):
        people = engine.addressees(position, kind)[:1] or ("",)
        grants = engine.state(position).grants if kind == "granted" else ()
        ranges = [engine.range_of(budget) for budget in grants]
        for bound in (0, 1) if grants else (0,):
            counts = {budget: pair[bound] for budget, pair in zip(grants, ranges, strict=True)}
            choices.append(Event(kind, people[0], counts))
    return choices
