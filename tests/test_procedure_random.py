"""Procedures under random events: none is endless or stuck, nobody speaks out of turn; broken ones are caught."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from dramaturg.files import load_yaml, shipped
from dramaturg.stage.court import Procedure
from dramaturg.stage.court.proof import problems
from procedure_making import BREAKS, Data, made, without_one_edge
from procedure_walks import Tally, engine_of, explore, walk

SHIPPED = {name: load_yaml(path, Procedure) for name, path in shipped("procedures").items()}
SEEDS = st.integers(0, 2**32)
WALKS = 8


def caught(data: Data) -> tuple[str, ...]:
    """Returns what is said against a procedure's data, by its form or by the proof."""
    try:
        return problems(Procedure.model_validate(data))
    except ValidationError as error:
        return (str(error),)


@pytest.mark.parametrize("name", SHIPPED)
@settings(max_examples=100, deadline=None)
@given(seed=SEEDS, questions=st.integers(1, 6))
def test_a_shipped_procedure_ends_whatever_is_tried(name: str, seed: int, questions: int):
    engine, tally = engine_of(SHIPPED[name], questions=questions), Tally()
    for number in range(WALKS):
        walk(engine, Random(f"{seed}/{number}"), tally)
    assert tally.faults == []


@pytest.mark.parametrize("name", SHIPPED)
def test_walks_take_every_transition_that_can_be_taken_and_half_of_their_events_are_lawful(name: str):
    tally = Tally()
    for number in range(600):
        walk(engine_of(SHIPPED[name], questions=1 + number % 4), Random(number), tally)
    takeable = frozenset[Any]().union(*(explore(SHIPPED[name], questions=most).takeable for most in (1, 2, 3, 4)))
    assert tally.taken == takeable
    assert tally.faults == []
    assert 0.4 < tally.lawful / (tally.lawful + tally.unlawful) < 0.6


@settings(max_examples=150, deadline=None)
@given(seed=SEEDS)
def test_a_made_procedure_is_proved_and_ends_whatever_is_tried(seed: int):
    random = Random(seed)
    procedure = made(random)
    assert problems(procedure) == ()
    explored = explore(procedure)
    assert (explored.faults, explored.never) == ((), ())
    tally = Tally()
    for _ in range(WALKS):
        walk(engine_of(procedure, questions=random.randint(1, 4)), random, tally)
    assert tally.faults == []


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("kind", BREAKS)
def test_a_shipped_procedure_that_is_broken_is_caught(name: str, kind: str):
    for seed in range(10):
        data = SHIPPED[name].model_dump(mode="json")
        if BREAKS[kind](data, Random(seed)):
            assert caught(data), f"{kind}, seed {seed}"


@settings(max_examples=300, deadline=None)
@given(seed=SEEDS, kind=st.sampled_from(sorted(BREAKS)))
def test_a_made_procedure_that_is_broken_is_caught(seed: int, kind: str):
    random = Random(seed)
    data = made(random).model_dump(mode="json")
    if BREAKS[kind](data, random):
        assert caught(data)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_removed_edge_is_caught_wherever_it_matters(name: str):
    found = 0
    for edge, data in without_one_edge(SHIPPED[name]):
        said = caught(data)
        found += bool(said)
        if not said:
            assert explore(Procedure.model_validate(data)).faults == (), edge
    assert found > len(SHIPPED[name].states) / 2


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS)
def test_what_the_proof_accepts_has_no_fault_in_any_position(seed: int):
    """Several random changes at once: what is still accepted is walked through all its positions."""
    random = Random(seed)
    procedure = made(random) if random.random() < 0.5 else SHIPPED[random.choice(sorted(SHIPPED))]
    data = procedure.model_dump(mode="json")
    transitions = [transition for state in data["states"] for transition in state["then"]]
    for _ in range(random.randint(1, 3)):
        one = random.choice(transitions)
        match random.randrange(4):
            case 0:
                one["to"] = random.choice(data["states"])["id"]
            case 1:
                one["spends"], one["left"] = "", random.choice(["", *sorted(data["budgets"])])
            case 2:
                one["clears"] = ""
            case _:
                one["left"] = ""
    if not caught(data):
        assert explore(Procedure.model_validate(data)).faults == ()
