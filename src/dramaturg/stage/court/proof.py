"""The proof that a procedure is sound: nobody waits for ever, nobody speaks out of turn, it always ends.

Three facts make it terminate without being played. Every cycle takes from a budget. Nothing refills a budget on
a cycle. Every budget is finite. Three more keep it from getting stuck: every state has an owner, the last transition of
every event has no condition, and a state that can only take from a budget is entered only while it has something left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dramaturg.stage.court.engine import unpeopled, visited
from dramaturg.stage.court.procedure import END, UNDECIDED, VERDICT, Procedure, State, Transition

TAKEN_KINDS = frozenset({"procedure", "analyst"})
"""What records call the notes of the procedure and whoever reads the turns; no role may be called so."""


def problems(procedure: Procedure) -> tuple[str, ...]:
    """Returns what is wrong, one line each; empty for a sound procedure.

    Faults of naming are reported alone, since the graph means nothing before they are mended.
    """
    named = tuple(_naming(procedure))
    if named:
        return named
    of_the_graph = (
        *_budgets(procedure),
        *_reachability(procedure),
        *_stuck(procedure),
        *_owners(procedure),
        *_endless(procedure),
        *_too_short(procedure),
    )
    return of_the_graph or tuple(_never_played(procedure))


def _naming(procedure: Procedure) -> Iterator[str]:
    ids = [state.id for state in procedure.states]
    if END in ids:
        yield f"state {END!r} is the end and cannot be defined"
    for twice in sorted({name for name in ids if ids.count(name) > 1}):
        yield f"state {twice!r} is defined twice"
    if procedure.start not in ids:
        yield f"start {procedure.start!r} is no state"
    for kind in sorted(TAKEN_KINDS & procedure.roles.keys()):
        yield f"role {kind!r} cannot be: records name something else so"
    if procedure.player not in procedure.roles:
        yield f"player {procedure.player!r} is no role"
    yield from _outcomes(procedure)
    for name, budget in procedure.budgets.items():
        if budget.owner not in procedure.roles:
            yield f"budget {name!r} has no owner: {budget.owner!r} is no role"
    for state in procedure.states:
        yield from _state_naming(procedure, state, {*ids, END})


def _outcomes(procedure: Procedure) -> Iterator[str]:
    if UNDECIDED not in procedure.outcomes:
        yield f"the outcome {UNDECIDED!r} is missing: a verdict must be able to leave the matter open"
    words = [word.casefold() for word in procedure.outcomes.values()]
    for word in sorted({word for word in words if words.count(word) > 1}):
        yield f"two outcomes are called {word!r}"
    for label, word in procedure.outcomes.items():
        if word in procedure.outcomes and word != label:
            yield f"the outcome {label!r} is called {word!r}, which is another outcome"
    for state in procedure.states:
        decides = any(transition.event == "decided" for transition in state.then)
        if decides != (state.purpose == VERDICT):
            yield f"state {state.id!r} must have both, the purpose {VERDICT!r} and the event 'decided', or neither"
        elif decides and any(transition.event != "decided" for transition in state.then):
            yield f"state {state.id!r} decides, and can do nothing else"
        elif decides and state.note:
            yield f"state {state.id!r} decides by the prompt verdict, and its note would be told to nobody"
        elif decides and state.speaker == procedure.player:
            yield f"state {state.id!r} is decided by the player {state.speaker!r}"


def _state_naming(procedure: Procedure, state: State, targets: set[str]) -> Iterator[str]:
    if state.speaker not in procedure.roles:
        yield f"state {state.id!r} has no owner: {state.speaker!r} is no role"
    if state.phase not in procedure.phases:
        yield f"state {state.id!r} is in no phase: {state.phase!r}"
    for transition in state.then:
        if transition.to not in targets:
            yield f"state {state.id!r} leads to {transition.to!r}, which is no state"
        if transition.addresses and transition.addresses not in procedure.roles:
            yield f"state {state.id!r} addresses {transition.addresses!r}, which is no role"
        if transition.event in {"addressed", "objected"} and not transition.addresses:
            yield f"event {transition.event!r} of state {state.id!r} addresses nobody"
        if transition.spends and transition.clears:
            yield f"event {transition.event!r} of state {state.id!r} both spends and clears"
    taken = [name for transition in state.then for name in (transition.takes, transition.left) if name]
    for name in sorted({*taken, *state.requests, *state.grants} - procedure.budgets.keys()):
        yield f"state {state.id!r} uses {name!r}, which is no budget"
    if bool(state.grants) != any(transition.event == "granted" for transition in state.then):
        yield f"state {state.id!r} must have both, grants and the event 'granted', or neither"


def _budgets(procedure: Procedure) -> Iterator[str]:
    granted = {name for state in procedure.states for name in state.grants}
    for name, budget in procedure.budgets.items():
        if budget.most is None:
            yield f"budget {name!r} is endless: it has no 'most'"
        elif max(budget.least, budget.start or 0) > budget.most:
            yield f"budget {name!r} has less room ({budget.most}) than it needs"
        if budget.start is None and name not in granted:
            yield f"budget {name!r} is never filled: no start and no state grants it"


def _reachability(procedure: Procedure) -> Iterator[str]:
    forward = {state.id: {transition.to for transition in state.then} for state in procedure.states}
    backward: dict[str, set[str]] = {}
    for source, targets in forward.items():
        for target in targets:
            backward.setdefault(target, set()).add(source)
    reached = _closure(procedure.start, lambda name: forward.get(name, set()))
    ending = _closure(END, lambda name: backward.get(name, set()))
    for state in procedure.states:
        if state.id not in reached:
            yield f"state {state.id!r} cannot be reached"
        if state.id not in ending:
            yield f"state {state.id!r} never reaches the end"


def _closure(start: str, neighbours: Callable[[str], set[str]]) -> set[str]:
    seen = {start}
    waiting = [start]
    while waiting:
        for name in neighbours(waiting.pop()) - seen:
            seen.add(name)
            waiting.append(name)
    return seen


def _stuck(procedure: Procedure) -> Iterator[str]:
    for state in procedure.states:
        last = {transition.event: transition for transition in state.then}
        for event, transition in last.items():
            if transition.left:
                yield f"event {event!r} of state {state.id!r} leads nowhere when {transition.left!r} is used up"
        for index, transition in enumerate(state.then):
            unconditional = not transition.left and not transition.takes
            if unconditional and any(later.event == transition.event for later in state.then[index + 1 :]):
                yield f"event {transition.event!r} of state {state.id!r} has a transition that is never taken"
        if not all(transition.takes for transition in last.values()):
            continue
        if not any(_always_left(procedure, state.id, transition.takes) for transition in last.values()):
            yield f"state {state.id!r} is stuck when its budgets are used up"


def _entries(procedure: Procedure, name: str) -> list[Transition]:
    return [transition for state in procedure.states for transition in state.then if transition.to == name]


def _always_left(procedure: Procedure, name: str, budget: str) -> bool:
    """Returns whether the state is entered only while the budget has something left."""
    if name == procedure.start:
        return False
    return all(transition.left == budget for transition in _entries(procedure, name))


def _owners(procedure: Procedure) -> Iterator[str]:
    for state in procedure.states:
        if not procedure.roles[state.speaker].many:
            continue
        if state.id == procedure.start:
            yield f"state {state.id!r} has no owner: nobody was addressed before the start"
        if any(transition.addresses != state.speaker for transition in _entries(procedure, state.id)):
            yield f"state {state.id!r} has no owner: it can be entered without addressing a {state.speaker}"


def _endless(procedure: Procedure) -> Iterator[str]:
    free = {state.id: {t.to for t in state.then if not t.takes} for state in procedure.states}
    every = {state.id: {t.to for t in state.then} for state in procedure.states}
    for state in procedure.states:
        if _on_cycle(state.id, free):
            yield f"state {state.id!r} can come back without end: no budget is taken on the way"
        if state.grants and _on_cycle(state.id, every):
            yield f"state {state.id!r} can grant again and again"


def _too_short(procedure: Procedure) -> Iterator[str]:
    """Yields that the turn limit ends every performance before the shortest way does."""
    following = {state.id: {transition.to for transition in state.then} for state in procedure.states}
    reached, turns = {procedure.start}, 0
    while END not in reached:
        wider = reached.union(*(following.get(name, set()) for name in reached))
        if wider == reached:
            return
        reached, turns = wider, turns + 1
    if turns > procedure.turn_limit:
        yield f"turn_limit {procedure.turn_limit} is too low: the shortest way to the end takes {turns} turns"


def _on_cycle(name: str, edges: dict[str, set[str]]) -> bool:
    return any(name in _closure(target, lambda at: edges.get(at, set())) for target in edges[name])


MOST_POSITIONS = 50_000
"""Positions that are looked at; a procedure with more is proved by its graph alone."""

MOST_COUNT = 50
"""No budget may be larger."""


def _never_played(procedure: Procedure) -> Iterator[str]:
    """Yields the states that no performance comes to because a budget is always used up, or never is."""
    engine = unpeopled(procedure, questions=MOST_COUNT, turn_limit=procedure.turn_limit)
    seen = visited(engine, most=MOST_POSITIONS)
    for state in procedure.states:
        if seen is not None and state.id not in seen:
            yield f"state {state.id!r} is never reached: on every way to it a budget forbids the last step"
