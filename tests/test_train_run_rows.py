"""Rows of tokens: what is shared is computed once, and every example sees itself alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dramaturg.errors import MissingExtraError
from dramaturg.train.batching import Order, Row, Tokens, alone, bunches, pack, spread
from dramaturg.train.config import TrainingConfig
from dramaturg.train.estimate import activation_bytes, fit_pace
from dramaturg.train.loading import needed
from dramaturg.train.training import rate_at

few_tokens = st.lists(st.integers(0, 3), min_size=1, max_size=6).map(tuple)
some_examples = st.lists(st.builds(Tokens, few_tokens, few_tokens, st.sampled_from([0.5, 1.0, 4.0])), min_size=1)


def _seen_by(row: Row, place: int) -> list[tuple[int, int]]:
    """Returns position and token of what a place sees, in the order of positions."""
    mask = row.mask()
    seen = range(place + 1) if mask is None else [other for other in range(len(row)) if mask[place, other]]
    return sorted((row.positions[other], row.tokens[other]) for other in seen)


def _lessons(rows: list[Row]) -> list[tuple[list[tuple[int, int]], int, float]]:
    return sorted(
        (_seen_by(row, source), target, weight)
        for row in rows
        for source, target, weight in zip(row.sources, row.targets, row.weights, strict=True)
    )


@settings(deadline=None)
@given(some_examples, st.integers(1, 40))
def test_every_token_of_an_answer_sees_its_own_example_and_nothing_else(examples: list[Tokens], most: int) -> None:
    wanted = sorted(
        (list(enumerate((*one.prompt, *one.answer)[: len(one.prompt) + place])), target, one.weight)
        for one in examples
        for place, target in enumerate(one.answer)
    )
    assert _lessons(pack(examples, most)) == wanted
    assert _lessons(alone(examples)) == wanted


@settings(deadline=None)
@given(some_examples, st.integers(1, 9))
def test_filler_sees_itself_alone_and_is_seen_by_nobody(examples: list[Tokens], filler: int) -> None:
    for row in pack(examples, 40):
        mask, filled = row.mask(), row.mask(filler)
        if mask is None or filled is None:
            assert mask is filled is None
            continue
        size = len(row)
        assert (filled[:size, :size] == mask).all()
        assert not filled[:size, size:].any() and not filled[size:, :size].any()
        assert (filled[size:, size:] == np.eye(filler, dtype=bool)).all()


@settings(deadline=None)
@given(some_examples, st.integers(1, 40))
def test_a_row_is_no_longer_than_allowed_unless_one_example_is(examples: list[Tokens], most: int) -> None:
    longest = max(map(len, examples))
    assert all(len(row) <= max(most, longest) for row in pack(examples, most))


def test_a_prompt_that_several_share_is_computed_once() -> None:
    scene = tuple(range(100))
    questions = [Tokens((*scene, 200 + number), (7, 8)) for number in range(10)]
    (row,) = pack(questions, 1000)
    assert len(row) == 100 + 10 * 3
    assert len(row.targets) == 20


def test_the_loss_is_on_answers_alone() -> None:
    (row,) = pack([Tokens((1, 2, 3), (4, 5), 4.0)], 100)
    assert (row.sources, row.targets, row.weights) == ([2, 3], [4, 5], [4.0, 4.0])
    assert row.weight == 8.0


@settings(deadline=None)
@given(some_examples, st.integers(1, 4))
def test_bunches_hold_every_example_once(examples: list[Tokens], together: int) -> None:
    found = bunches(examples, together)
    assert sorted(number for bunch in found for number in bunch) == list(range(len(examples)))
    assert max(map(len, found)) <= together


def test_what_shares_most_of_its_prompt_is_drawn_together() -> None:
    examples = [Tokens((*range(scene, scene + 20), question), (1,)) for scene in (100, 200) for question in range(4)]
    assert sorted(map(sorted, bunches(examples, 4))) == [[0, 1, 2, 3], [4, 5, 6, 7]]


@settings(deadline=None)
@given(st.integers(1, 30), st.integers(1, 8), st.integers(0, 3))
def test_every_epoch_has_every_example_once_in_an_order_of_its_own(count: int, per_step: int, seed: int) -> None:
    order = Order([[number] for number in range(count)], per_step, seed)
    epochs = [
        [number for step in range(order.steps_per_epoch) for number in order.step(epoch * order.steps_per_epoch + step)]
        for epoch in range(2)
    ]
    assert all(sorted(epoch) == list(range(count)) for epoch in epochs)
    again = Order([[number] for number in range(count)], per_step, seed)
    assert again.step(order.steps_per_epoch) == epochs[1][:per_step]
    if count > 20:
        assert epochs[0] != epochs[1]


def test_two_timed_rows_give_the_time_of_all() -> None:
    def seconds(length: int) -> float:
        return 0.01 * length + 0.0001 * length * length

    pace = fit_pace((100, seconds(100)), (400, seconds(400)))
    assert pace.seconds([50, 1000]) == pytest.approx(seconds(50) + seconds(1000))


def test_noise_gives_no_negative_time() -> None:
    pace = fit_pace((100, 3.0), (400, 2.0))
    assert pace.seconds([1, 10_000]) == pytest.approx(10_001 * 2.0 / 400)
    steep = fit_pace((100, 0.001), (400, 2.0))
    assert steep.per_token == 0.0
    assert fit_pace((100, 1.0), (100, 1.0)).seconds([200]) == pytest.approx(2.0)


def test_recomputing_needs_less_memory() -> None:
    shape = {"targets": 10, "layers": 30, "width": 576, "inner": 1536, "vocabulary": 49152}
    assert activation_bytes(2048, recompute=True, **shape) < activation_bytes(2048, recompute=False, **shape) / 4


def test_the_timed_rows_are_a_usual_one_and_the_longest() -> None:
    rows = alone([Tokens((0,) * length, (1,)) for length in (1, 1, 1, 9, 9, 19)])
    assert [len(row) for row in spread(rows, 0.5)] == [10, 20] or [len(row) for row in spread(rows, 0.5)] == [20, 20]


def test_the_rate_rises_then_falls_along_half_a_cosine() -> None:
    config = TrainingConfig.model_validate({"base": "x", "data": "d", "out": "o", "learning_rate": 1e-3})
    rates = [rate_at(step, 400, config) for step in range(400)]
    assert rates[0] == pytest.approx(1e-3 / 20) and rates[19] == pytest.approx(1e-3)
    assert rates[20:] == sorted(rates[20:], reverse=True)
    assert rates[210] == pytest.approx(0.5e-3, rel=1e-2) and rates[-1] < 1e-7
    short = [rate_at(step, 10, config) for step in range(10)]
    assert short[0] == pytest.approx(1e-3), "no more than a tenth of the steps is warm-up"
    constant = config.model_copy(update={"scheduler": "constant"})
    assert rate_at(399, 400, constant) == pytest.approx(1e-3)


def test_without_the_extra_it_is_named() -> None:
    with pytest.raises(MissingExtraError, match=r"the extra 'train' is not installed \(pip install"):
        needed("no_such_library")
