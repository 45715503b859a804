"""Transcripts beyond the judge's context: refused, or cut in the middle and said so."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dramaturg.judge.checklist import Mode
from dramaturg.judge.checklist.cutting import CUT_LINE_TOKENS, middle_cut
from dramaturg.judge.checklist.rendering import render_turns
from dramaturg.ledger.budget import estimated_tokens
from dramaturg.model import ModelFacts, Request
from judge_fixtures import REFERENCE, TRIAL, checklist, trial
from judging_fixtures import answer, in_form, judged

LONG = [(role, phase, text + " The hedge bank, once more." * 25) for role, phase, text in TRIAL]
SMALL_CONTEXT = ModelFacts(context_tokens=2800)
BY = checklist(
    {"id": "R-1", "text": "Is it formal?", "dimension": "R"},
    {"id": "R-2", "text": "Do witnesses answer?", "dimension": "R", "roles": ["witness"]},
    {"id": "R-3", "text": "Does it end?", "dimension": "R", "proof": "end_reached"},
)


@pytest.mark.parametrize("mode", ["paper", "joint", "grouped", "single", "probability"])
async def test_a_cut_is_stated_to_the_judge_and_flagged_on_every_answer(tmp_path: Path, mode: Mode):
    """C23: reference, roles, first and last turns stay; never a silent loss."""
    requests: list[Request] = []

    def reply(request: Request) -> object:
        requests.append(request)
        return in_form(mode, request, "yes")

    found, _ = await judged(
        tmp_path,
        reply,  # pyright: ignore[reportArgumentType]
        by=BY,
        mode=mode,
        transcript=trial(LONG),
        facts=SMALL_CONTEXT,
        long="cut",
    )
    assert found["R-1"].answer == "yes"
    (flag,) = found["R-1"].flags
    first, last = flag.removeprefix("cut:").split("-")
    material = requests[0].messages[1].text
    assert f"{first} to {last}" in material
    assert "[T1]" in material and "[T14]" in material and f"[{first}]" not in material and f"[{last}]" not in material
    assert REFERENCE in material and "Ida Quill" in material
    room = max(request.sampling.max_tokens for request in requests)
    read = max(sum(estimated_tokens(message.text) for message in request.messages) for request in requests)
    assert read + room <= 2800
    assert (found["R-3"].flags, found["R-3"].source) == ((), "transcript")


async def test_by_default_nothing_is_cut(tmp_path: Path):
    found, requests = await judged(tmp_path, lambda _: answer(), by=BY, transcript=trial(LONG), facts=SMALL_CONTEXT)
    assert requests == [] and found["R-1"].reason == "context_overflow"


async def test_what_fits_is_not_cut(tmp_path: Path):
    found, _ = await judged(tmp_path, lambda _: answer(), by=BY, long="cut", facts=ModelFacts(context_tokens=9000))
    assert found["R-1"].flags == ()


async def test_a_role_of_which_no_turn_is_left_is_not_judged(tmp_path: Path):
    silent = [turn if turn[0] != "witness:ida-quill" else ("defence", *turn[1:]) for turn in LONG]
    silent[6] = LONG[6]
    found, requests = await judged(
        tmp_path, lambda _: answer(), by=BY, transcript=trial(silent), facts=SMALL_CONTEXT, long="cut"
    )
    assert (found["R-2"].answer, found["R-2"].reason) == ("missing", "context_overflow")
    assert "cut:" in found["R-2"].detail and found["R-2"].flags[-1].startswith("cut:")
    assert len(requests) == 1


async def test_a_turn_that_was_left_out_is_no_evidence(tmp_path: Path):
    found, _ = await judged(
        tmp_path, lambda _: answer("no", ["T8"]), by=BY, transcript=trial(LONG), facts=SMALL_CONTEXT, long="cut"
    )
    assert found["R-1"].flags[:2] == ("evidence:unknown:T8", "evidence:none")


async def test_where_not_even_the_ends_fit_it_is_refused(tmp_path: Path):
    found, requests = await judged(
        tmp_path, lambda _: answer(), by=BY, transcript=trial(LONG), facts=ModelFacts(context_tokens=900), long="cut"
    )
    assert requests == [] and found["R-1"].reason == "context_overflow"
    assert "not even the first and the last turn" in found["R-1"].detail


@given(st.lists(st.text(min_size=0, max_size=400), max_size=20), st.integers(0, 2000))
def test_a_cut_takes_away_what_must_go_and_keeps_both_ends(texts: list[str], excess: int):
    transcript = trial([("judge", "verdict", text) for text in texts])
    cut = middle_cut(transcript, excess, "en")
    if cut is None:
        return
    ids = [turn.id for turn in transcript.turns]
    first, last = ids.index(cut.first), ids.index(cut.last)
    assert 0 < first <= last < len(ids) - 1
    assert (last - first + 1, ids[last + 1]) == (cut.count, cut.resumes)
    kept = transcript.model_copy(update={"turns": (*transcript.turns[:first], *transcript.turns[last + 1 :])})
    before = estimated_tokens(render_turns(transcript, "en"))
    after = estimated_tokens(render_turns(kept, "en", cut))
    assert after <= max(before - excess, 0) + CUT_LINE_TOKENS
    assert after <= before - excess + 1
