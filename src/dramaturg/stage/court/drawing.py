"""Draws a procedure: as a Mermaid state diagram, and as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from dramaturg.stage.court.procedure import END, Budget, Procedure, State, Transition


def mermaid(procedure: Procedure) -> str:
    """Returns the procedure as a Mermaid state diagram, one box for each phase."""
    lines = ["stateDiagram-v2", f"  [*] --> {_node(procedure.start)}"]
    for number, phase in enumerate(procedure.phases):
        states = [state for state in procedure.states if state.phase == phase]
        if not states:
            continue
        lines.append(f'  state "{_quoted(phase)}" as phase{number} {{')
        lines += [f'    state "{state.id}: {state.speaker}" as {_node(state.id)}' for state in states]
        lines.append("  }")
    for state in procedure.states:
        lines += [f"  {_node(state.id)} --> {_node(each.to)}: {_told(each)}" for each in state.then]
    return "\n".join(lines)


def outline(procedure: Procedure) -> str:
    """Returns the procedure as lines for a terminal: who takes part, what may be used up, and where each turn leads."""
    return "\n".join(_outline(procedure))


def _outline(procedure: Procedure) -> Iterator[str]:
    yield f"{procedure.id}, version {procedure.version}: {procedure.title}"
    yield f"  starts with {procedure.start}; ends after {procedure.turn_limit} turns at the latest"
    yield "  roles: " + ", ".join(_role(procedure, kind) for kind in procedure.roles)
    yield "  outcomes: " + ", ".join(f"{label} ({word})" for label, word in procedure.outcomes.items())
    for name, budget in procedure.budgets.items():
        yield f"  budget {name}: {_budget(budget)}"
    for phase in procedure.phases:
        yield ""
        yield f"{phase}"
        for state in procedure.states:
            if state.phase == phase:
                yield f"  {state.id}: {_turn(state)}"
                yield from (f"    {_told(each)} -> {each.to}" for each in state.then)


def _role(procedure: Procedure, kind: str) -> str:
    notes = ["the player"] if kind == procedure.player else []
    notes += ["several"] if procedure.roles[kind].many else []
    return f"{kind} ({', '.join(notes)})" if notes else kind


def _budget(budget: Budget) -> str:
    most = "without end" if budget.most is None else f"at most {budget.most}"
    start = "granted" if budget.start is None else f"{budget.start} from the start"
    return f"of the {budget.owner}, {start}, {most}"


def _turn(state: State) -> str:
    parts = [f"{state.speaker or 'nobody'} speaks ({state.purpose})"]
    parts += [f"asks for {', '.join(state.requests)}"] if state.requests else []
    parts += [f"grants {', '.join(state.grants)}"] if state.grants else []
    return "; ".join(parts)


def _told(transition: Transition) -> str:
    parts: list[str] = [transition.event]
    if transition.addresses:
        parts.append(f"to a {transition.addresses}")
    if transition.spends:
        parts.append(f"takes one of {transition.spends}")
    if transition.clears:
        parts.append(f"gives up {transition.clears}")
    if transition.left:
        parts.append(f"while {transition.left} is left")
    return ", ".join(parts)


def _node(state: str) -> str:
    return "[*]" if state == END else f"s_{state.replace('-', '_')}"


def _quoted(text: str) -> str:
    return " ".join(text.replace('"', "'").split())
