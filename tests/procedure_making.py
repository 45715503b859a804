"""Makes sound procedures of all shapes, and breaks sound ones in every way that the proof must see."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from dramaturg.stage.court import Procedure

Data = dict[str, Any]
Break = Callable[[Data, Random], bool]
"""Breaks a procedure's data for sure; returns False where this one has nothing of the kind."""


def made(random: Random) -> Procedure:
    """Returns a sound procedure: lines, questions with budgets, objections, grants and votes in a row."""
    return Procedure.model_validate(_Making(random).data())


class _Making:
    def __init__(self, random: Random) -> None:
        self._random = random
        self._states: list[Data] = []
        self._budgets: dict[str, Data] = {}
        self._phases = [f"phase-{number}" for number in range(random.randint(1, 3))]

    def data(self) -> Data:
        blocks = [self._line, self._grant, self._questions, self._vote]
        for _ in range(self._random.randint(1, 5)):
            self._random.choice(blocks)()
        self._add("verdict", "leader", [{"event": "decided", "to": "end"}], purpose="verdict")
        for number, state in enumerate(self._states):
            following = self._states[number + 1]["id"] if number + 1 < len(self._states) else "end"
            for transition in state["then"]:
                transition["to"] = following if transition["to"] == "NEXT" else transition["to"]
        several = self._random.choice([True, False])
        return {
            "id": "made",
            "version": 1,
            "title": "Made",
            "phases": [*self._phases],
            "roles": {"leader": {}, "player": {}, "other": {}, "crowd": {"many": several}},
            "player": "player",
            "outcomes": {"win": "won", "undecided": "open"},
            "budgets": self._budgets,
            "turn_limit": 100,
            "start": self._states[0]["id"],
            "states": self._states,
        }

    def _add(self, name: str, speaker: str, then: list[Data], **more: Any) -> str:
        done = min(len(self._states) // 4, len(self._phases) - 1)
        state = {"id": name, "phase": self._phases[done], "speaker": speaker, "purpose": "speech", "then": then}
        self._states.append({**state, **more})
        return name

    def _name(self, kind: str) -> str:
        return f"{kind}-{len(self._states)}"

    def _budget(self, kind: str, owner: str) -> str:
        name = f"{kind}-{len(self._budgets)}"
        most = self._random.randint(1, 4)
        self._budgets[name] = {"owner": owner, "most": most, "start": self._random.randint(1, most)}
        return name

    def _line(self) -> None:
        self._add(self._name("line"), self._random.choice(["leader", "player", "other"]), [_to("spoken", "NEXT")])

    def _grant(self) -> None:
        """A leader's grant of what the questions right after it may use up."""
        asker = self._random.choice(["player", "other"])
        name = self._budget("granted", asker)
        self._budgets[name]["start"] = None
        self._add(self._name("ask"), asker, [_to("spoken", "NEXT")], requests=[name])
        question = f"question-{len(self._states) + 1}"
        after = f"after-{len(self._states) + 3}"
        then = [_to("granted", question, left=name), _to("granted", after)]
        self._add(self._name("grant"), "leader", then, grants=[name])
        self._asking(name, asker)

    def _questions(self) -> None:
        asker = self._random.choice(["player", "other"])
        name = self._budget("questions", asker)
        question, after = f"question-{len(self._states) + 1}", f"after-{len(self._states) + 3}"
        self._add(self._name("door"), "leader", [_to("spoken", question, left=name), _to("spoken", after)])
        self._asking(name, asker)

    def _asking(self, name: str, asker: str) -> None:
        question, answer = self._name("question"), f"answer-{len(self._states) + 1}"
        after = f"after-{len(self._states) + 2}"
        then = [
            _to("addressed", answer, addresses="crowd", spends=name),
            _to("rested", after, clears=name),
        ]
        objects = self._random.random() < 0.5
        if objects:
            objection = self._budget("objections", asker)
            then.append(_to("objected", f"ruling-{len(self._states) + 3}", addresses="leader", spends=objection))
        self._add(question, asker, then)
        self._add(answer, "crowd", [_to("spoken", question, left=name), _to("spoken", after)])
        if not objects:
            self._add(after, "leader", [_to("spoken", "NEXT")])
            return
        over = f"over-{len(self._states) + 2}"
        self._add(after, "leader", [_to("spoken", over)])
        ruling = self._name("ruling")
        self._add(ruling, "leader", [_to("ruled", question, left=name), _to("ruled", after)])
        self._add(over, "leader", [_to("spoken", "NEXT")])

    def _vote(self) -> None:
        self._add(
            self._name("vote"), "other", [_to("accepted", "NEXT"), _to("declined", f"no-{len(self._states) + 1}")]
        )
        self._add(self._name("no"), "other", [_to("spoken", "NEXT")])


def _to(event: str, to: str, **more: str) -> Data:
    return {"event": event, "to": to, **more}


def data_of(procedure: Procedure) -> Data:
    """Returns a procedure's data, to be changed freely."""
    return copy.deepcopy(procedure.model_dump(mode="json"))


def without_one_edge(procedure: Procedure) -> Iterator[tuple[str, Data]]:
    """Yields a procedure's data without one of its transitions, for each of them, named."""
    for number, state in enumerate(procedure.states):
        for index, transition in enumerate(state.then):
            data = data_of(procedure)
            del data["states"][number]["then"][index]
            yield f"{state.id}: {transition.event} to {transition.to}", data


def _state(data: Data, random: Random) -> Data:
    return random.choice(data["states"])


def _transitions(data: Data, wanted: Callable[[Data], bool]) -> list[Data]:
    return [transition for state in data["states"] for transition in state["then"] if wanted(transition)]


def _ownerless_state(data: Data, random: Random) -> bool:
    _state(data, random)["speaker"] = random.choice(["", "jury"])
    return True


def _renamed_state(data: Data, random: Random) -> bool:
    _state(data, random)["id"] = "renamed"
    return True


def _renamed_target(data: Data, random: Random) -> bool:
    random.choice(_transitions(data, lambda _: True))["to"] = "nowhere"
    return True


def _ownerless_transition(data: Data, random: Random) -> bool:
    found = _transitions(data, lambda one: one["event"] in {"addressed", "objected"})
    if found:
        random.choice(found)["addresses"] = random.choice(["", "jury"])
    return bool(found)


def _endless_budget(data: Data, random: Random) -> bool:
    names = sorted(data["budgets"])
    if names:
        data["budgets"][random.choice(names)]["most"] = None
    return bool(names)


def _ownerless_budget(data: Data, random: Random) -> bool:
    names = sorted(data["budgets"])
    if names:
        data["budgets"][random.choice(names)]["owner"] = "jury"
    return bool(names)


def _unfilled_budget(data: Data, random: Random) -> bool:
    names = sorted(data["budgets"])
    if not names:
        return False
    name = random.choice(names)
    data["budgets"][name]["start"] = None
    for state in data["states"]:
        state["grants"] = [grant for grant in state["grants"] if grant != name]
    return True


def _overfull_budget(data: Data, random: Random) -> bool:
    names = sorted(data["budgets"])
    if names:
        budget = data["budgets"][random.choice(names)]
        budget["start"] = budget["most"] + 1
    return bool(names)


def _unreachable_state(data: Data, random: Random) -> bool:
    state = copy.deepcopy(_state(data, random))
    data["states"].append({**state, "id": "island"})
    return True


def _state_twice(data: Data, random: Random) -> bool:
    data["states"].append(copy.deepcopy(_state(data, random)))
    return True


def _state_for_ever(data: Data, random: Random) -> bool:
    state = random.choice([one for one in data["states"] if one["purpose"] != "verdict"])
    for transition in state["then"]:
        transition |= {"to": state["id"], "spends": "", "clears": "", "left": ""}
    return True


def _free_question(data: Data, random: Random) -> bool:
    found = _transitions(data, lambda one: one["event"] == "addressed")
    for transition in found:
        transition["spends"] = ""
    return bool(found)


def _free_objection(data: Data, random: Random) -> bool:
    found = _transitions(data, lambda one: one["event"] == "objected")
    if found:
        random.choice(found)["spends"] = ""
    return bool(found)


def _grant_again(data: Data, random: Random) -> bool:
    granting = [state for state in data["states"] if state["grants"]]
    if not granting:
        return False
    state = random.choice(granting)
    names = {name for name in state["grants"]}
    askers = [t for t in _transitions(data, lambda one: one["event"] == "addressed") if t["spends"] in names]
    for asker in askers:
        answer = next(one for one in data["states"] if one["id"] == asker["to"])
        answer["then"][-1]["to"] = state["id"]
    return bool(askers)


def _takes_twice(data: Data, random: Random) -> bool:
    found = _transitions(data, lambda one: bool(one["spends"]))
    if found:
        transition = random.choice(found)
        transition["clears"] = transition["spends"]
    return bool(found)


def _hidden_transition(data: Data, random: Random) -> bool:
    found = [one for one in data["states"] if any(t["event"] == "spoken" and not t["left"] for t in one["then"])]
    state = random.choice(found)
    first = next(t for t in state["then"] if t["event"] == "spoken" and not t["left"])
    state["then"] = [copy.deepcopy(first), *state["then"]]
    return True


def _open_end(data: Data, random: Random) -> bool:
    """The last transition of an event gets a condition, so that nobody can go on once it does not hold."""
    names = sorted(data["budgets"])
    found = _transitions(data, lambda one: one["event"] == "spoken" and not one["left"])
    if names:
        random.choice(found)["left"] = random.choice(names)
    return bool(names)


def _grants_nothing(data: Data, random: Random) -> bool:
    granting = [state for state in data["states"] if state["grants"]]
    if granting:
        random.choice(granting)["grants"] = []
    return bool(granting)


def _unknown_phase(data: Data, random: Random) -> bool:
    _state(data, random)["phase"] = "intermission"
    return True


def _unknown_budget(data: Data, random: Random) -> bool:
    random.choice(_transitions(data, lambda _: True))["left"] = "patience"
    return True


def _unknown_start(data: Data, random: Random) -> bool:
    data["start"] = "nowhere"
    return True


def _defined_end(data: Data, random: Random) -> bool:
    _state(data, random)["id"] = "end"
    return True


def _no_player(data: Data, random: Random) -> bool:
    data["player"] = "jury"
    return True


def _no_open_outcome(data: Data, random: Random) -> bool:
    data["outcomes"] = {"win": "won", "loss": "lost"}
    return True


def _undecided_verdict(data: Data, random: Random) -> bool:
    for transition in _transitions(data, lambda one: one["event"] == "decided"):
        transition["event"] = "spoken"
    return True


def _player_decides(data: Data, random: Random) -> bool:
    for state in data["states"]:
        if state["purpose"] == "verdict":
            state["speaker"] = data["player"]
    return True


def _crowd_unasked(data: Data, random: Random) -> bool:
    """A role of several people gets a turn for which nobody was addressed."""
    crowds = [kind for kind, rule in data["roles"].items() if rule["many"]]
    spoken = [t for t in _transitions(data, lambda one: one["event"] == "spoken" and not one["left"])]
    answers = [state["id"] for state in data["states"] if state["speaker"] in crowds]
    if answers:
        random.choice(spoken)["to"] = random.choice(answers)
    return bool(answers)


BREAKS: dict[str, Break] = {
    function.__name__.strip("_"): function
    for function in (
        _ownerless_state,
        _renamed_state,
        _renamed_target,
        _ownerless_transition,
        _endless_budget,
        _ownerless_budget,
        _unfilled_budget,
        _overfull_budget,
        _unreachable_state,
        _state_twice,
        _state_for_ever,
        _free_question,
        _free_objection,
        _grant_again,
        _takes_twice,
        _hidden_transition,
        _open_end,
        _grants_nothing,
        _unknown_phase,
        _unknown_budget,
        _unknown_start,
        _defined_end,
        _no_player,
        _no_open_outcome,
        _undecided_verdict,
        _player_decides,
        _crowd_unasked,
    )
}
