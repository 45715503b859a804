"""Random walks through a procedure: half of the events are lawful, by rules that are written here once more.

The rules do not ask the engine, so that engine and rules check each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from random import Random

from dramaturg.stage.court import Procedure
from dramaturg.stage.court.engine import Engine, Event, IllegalEvent, Position
from dramaturg.stage.court.procedure import END, EVENT_KINDS, EventKind, State, Transition

Taken = tuple[str, int]
"""A transition: its state, and which of the state's it is."""

MOST_TURNS = 500


@dataclass(slots=True)
class Tally:
    """What walks have seen."""

    walks: int = 0
    lawful: int = 0
    unlawful: int = 0
    longest: int = 0
    taken: set[Taken] = field(default_factory=set[Taken])
    faults: list[str] = field(default_factory=list[str])


def engine_of(procedure: Procedure, *, questions: int = 3, several: int = 3) -> Engine:
    """Returns a procedure with made-up people in it, and no turn limit but its budgets."""
    roster = {
        kind: tuple(f"{kind}:{number}" for number in range(several)) if rule.many else (kind,)
        for kind, rule in procedure.roles.items()
    }
    unlimited = procedure.model_copy(update={"turn_limit": MOST_TURNS})
    return Engine(unlimited, roster, questions=questions, turn_limit=MOST_TURNS)


def chosen(engine: Engine, position: Position, kind: EventKind) -> tuple[int, Transition] | None:
    """Returns the transition that an event of this kind takes: the first whose conditions hold."""
    state = engine.procedure.state(position.state)
    left = dict(position.left)
    for index, transition in enumerate(state.then):
        after = dict(left)
        if transition.spends:
            after[transition.spends] -= 1
        if transition.clears:
            after[transition.clears] = 0
        if kind == "granted":
            after |= dict.fromkeys(state.grants, 1)
        if transition.event != kind or (transition.takes and left[transition.takes] < 1):
            continue
        if not transition.left or after[transition.left] > 0:
            return index, transition
    return None


def is_lawful(engine: Engine, position: Position, event: Event) -> bool:
    """Returns whether the procedure's file allows the event."""
    found = chosen(engine, position, event.kind)
    if position.end or found is None:
        return False
    addresses = found[1].addresses
    if addresses and event.addressee not in engine.roster[addresses]:
        return False
    grants = engine.procedure.state(position.state).grants if event.kind == "granted" else ()
    return set(event.counts) == set(grants) and all(
        low <= event.counts[name] <= high for name, (low, high) in _ranges(engine, grants).items()
    )


def _ranges(engine: Engine, budgets: tuple[str, ...]) -> Mapping[str, tuple[int, int]]:
    ranges: dict[str, tuple[int, int]] = {}
    for name in budgets:
        rule = engine.procedure.budgets[name]
        most = engine.questions if rule.most is None else min(engine.questions, rule.most)
        ranges[name] = min(rule.least, most), most
    return ranges


def lawful_event(engine: Engine, position: Position, random: Random) -> Event:
    """Returns an event that the file allows, of a position that allows any."""
    kinds = [kind for kind in EVENT_KINDS if chosen(engine, position, kind) is not None]
    kind = random.choice(kinds)
    found = chosen(engine, position, kind)
    assert found is not None
    addressee = random.choice(engine.roster[found[1].addresses]) if found[1].addresses else ""
    grants = engine.procedure.state(position.state).grants if kind == "granted" else ()
    counts = {name: random.randint(*ends) for name, ends in _ranges(engine, grants).items()}
    return Event(kind, addressee, counts)


def any_event(engine: Engine, state: State, random: Random) -> Event:
    """Returns an event as a confused model, or a clever player, might make it."""
    people = [role for ids in engine.roster.values() for role in ids]
    budgets = random.choice([(), state.grants, (*engine.procedure.budgets,)])
    counts = {name: random.randint(-1, 9) for name in budgets}
    return Event(random.choice(EVENT_KINDS), random.choice([*people, "", "nobody"]), counts)


def walk(engine: Engine, random: Random, tally: Tally) -> None:
    """Walks once from the start to the end, and adds to the tally what it saw; a fault ends the walk."""
    position = engine.begin()
    tally.walks += 1
    turns = 0
    while not position.end:
        turns += 1
        fault = _fault_of(engine, position) if turns < MOST_TURNS else "does not end"
        if fault:
            tally.faults.append(f"{engine.procedure.id}, {position.state}: {fault}")
            return
        event = any_event(engine, engine.procedure.state(position.state), random)
        while is_lawful(engine, position, event):
            event = any_event(engine, engine.procedure.state(position.state), random)
        tally.unlawful += 1
        if _accepts(engine, position, event) is not None:
            tally.faults.append(f"{engine.procedure.id}, {position.state}: accepts {event}")
            return
        position = _lawful_step(engine, position, random, tally)
    tally.longest = max(tally.longest, turns)
    if position.end != "completed":
        tally.faults.append(f"{engine.procedure.id}: ended by {position.end}")
    tally.unlawful += 1
    if any(_accepts(engine, position, Event(kind)) is not None for kind in EVENT_KINDS):
        tally.faults.append(f"{engine.procedure.id}: goes on after its end")


def _lawful_step(engine: Engine, position: Position, random: Random, tally: Tally) -> Position:
    event = lawful_event(engine, position, random)
    found = chosen(engine, position, event.kind)
    assert found is not None
    index, transition = found
    moved = _accepts(engine, position, event)
    tally.lawful += 1
    tally.taken.add((position.state, index))
    fault = ""
    if moved is None:
        fault = f"refuses {event}"
    elif moved.state != transition.to or bool(moved.end) != (transition.to == END):
        fault = f"{event} leads to {moved.state}, not to {transition.to}"
    elif min((left for _, left in moved.left), default=0) < 0:
        fault = f"{event} takes more than there is"
    elif moved.turns != position.turns + 1:
        fault = f"{event} does not count as a turn"
    if fault or moved is None:
        tally.faults.append(f"{engine.procedure.id}, {position.state}: {fault}")
        return Position(END, (), end="completed")
    return moved


def _accepts(engine: Engine, position: Position, event: Event) -> Position | None:
    try:
        return engine.step(position, event)
    except IllegalEvent:
        return None


def _fault_of(engine: Engine, position: Position) -> str:
    state = engine.procedure.state(position.state)
    if engine.speaker(position) not in engine.roster.get(state.speaker, ()):
        return f"{engine.speaker(position)!r} would speak"
    if all(chosen(engine, position, kind) is None for kind in EVENT_KINDS):
        return "nobody can go on"
    lawful = {kind for kind in EVENT_KINDS if chosen(engine, position, kind) is not None}
    return "" if lawful == {*engine.events(position)} else "names other events than the file"


@dataclass(frozen=True, slots=True)
class Explored:
    """All positions that a procedure can come to.

    Attributes:
        takeable: The transitions that some position can take.
        faults: Where somebody is stuck, nobody or the wrong one speaks, or it never ends.
        never: States that no position has.
    """

    takeable: frozenset[Taken]
    faults: tuple[str, ...]
    never: tuple[str, ...]


def explore(procedure: Procedure, *, questions: int = 3) -> Explored:
    """Returns what all positions together show; a file that cannot be walked is a fault."""
    exploring = _Exploring(engine_of(procedure, questions=questions, several=1))
    try:
        exploring.visit()
    except (KeyError, IndexError, IllegalEvent) as problem:
        exploring.faults.add(f"cannot be walked: {problem!r}")
    reached = {state for state, _ in exploring.takeable}
    never = tuple(state.id for state in procedure.states if state.id not in reached)
    return Explored(frozenset(exploring.takeable), tuple(sorted(exploring.faults)), never)


class _Exploring:
    """Goes depth first through all positions; one that leads back to itself makes the procedure endless."""

    def __init__(self, engine: Engine) -> None:
        self.takeable: set[Taken] = set()
        self.faults: set[str] = set()
        self._engine = engine

    def visit(self) -> None:
        start = self._engine.begin()
        open_, done = {start}, set[Position]()
        stack = [(start, self._onward(start))]
        while stack:
            here, onward = stack[-1]
            if not onward:
                stack.pop()
                open_.discard(here)
                done.add(here)
                continue
            there = onward.pop()
            if there in open_:
                self.faults.add(f"{there.state} can come back without end")
            elif there not in done:
                open_.add(there)
                stack.append((there, self._onward(there)))

    def _onward(self, position: Position) -> list[Position]:
        if position.end:
            return []
        if fault := _fault_of(self._engine, position):
            self.faults.add(f"{position.state}: {fault}")
            return []
        return [replace(self._engine.step(position, event), turns=0) for event in self._events(position)]

    def _events(self, position: Position) -> Iterator[Event]:
        for kind in EVENT_KINDS:
            found = chosen(self._engine, position, kind)
            if found is None:
                continue
            self.takeable.add((position.state, found[0]))
            grants = self._engine.procedure.state(position.state).grants if kind == "granted" else ()
            ranges = _ranges(self._engine, grants)
            for end in (0, 1) if grants else (0,):
                counts = {name: ends[end] for name, ends in ranges.items()}
                addresses = found[1].addresses
                yield Event(kind, self._engine.roster[addresses][0] if addresses else "", counts)
