"""Mode `windowed`: each turn with its neighbours, and the worst answer over them."""

import re
from pathlib import Path

import pytest

from dramaturg.judge.checklist.checklist import Indicator
from dramaturg.judge.checklist.votes import Vote
from dramaturg.judge.checklist.windowed import REFERENCE_TOKENS, near_facts, worst
from dramaturg.ledger.budget import estimated_tokens
from dramaturg.model import ModelFacts, Reply, Request
from dramaturg.stage.transcript import Scenario, Turn
from judge_fixtures import REFERENCE, TRIAL, checklist, trial
from judging_fixtures import answer, judged

LOCAL = {"id": "R-1", "text": "Is it formal?", "dimension": "R", "scope": "turn", "uses_reference": False}
FACTS = {"id": "R-2", "text": "Is it true?", "dimension": "R", "scope": "turn", "roles": ["witness"]}
WHOLE = {"id": "R-3", "text": "Does the judge lead?", "dimension": "R"}
JUDGED = ["T2", "T3", "T4", "T6", "T7", "T9", "T10", "T11", "T12", "T14"]
"""Turns of the trial that a model plays."""


def turn(request: Request) -> str:
    """Returns which turn a request asks about; nothing where it asks about the whole."""
    asked = re.search(r"Judge only the turn (T\d+)", "\n".join(message.text for message in request.messages))
    return asked[1] if asked else ""


def turns_shown(request: Request) -> list[str]:
    return re.findall(r"^\[(T\d+)\]", request.messages[1].text, re.MULTILINE)


async def test_every_judged_turn_of_its_roles_is_asked_once_with_its_neighbours(tmp_path: Path):
    by = checklist(LOCAL, FACTS)
    _, requests = await judged(tmp_path, lambda _: answer(), mode="windowed", by=by)
    formal = [turn(request) for request in requests if "Is it formal?" in request.messages[-1].text]
    true = [turn(request) for request in requests if "Is it true?" in request.messages[-1].text]
    assert (formal, true) == (JUDGED, ["T7", "T9", "T11"])
    shown = {turn(request): turns_shown(request) for request in requests}
    assert shown["T2"] == ["T1", "T2", "T3"]
    assert shown["T7"] == ["T5", "T6", "T7", "T8"]
    assert shown["T14"] == ["T12", "T13", "T14"]


async def test_questions_about_one_window_share_it_as_their_first_messages(tmp_path: Path):
    _, requests = await judged(tmp_path, lambda _: answer(), mode="windowed", by=checklist(LOCAL, FACTS))
    about = [request for request in requests if turn(request) == "T7"]
    assert len(about) == 2
    assert about[0].messages[:3] == about[1].messages[:3]
    assert "74 km/h" not in about[0].messages[-1].text and "74 km/h" in about[1].messages[-1].text
    order = [turn(request) for request in requests]
    assert order == sorted(order, key=order.index), "the questions about one window follow each other"


async def test_only_who_speaks_in_the_window_is_told(tmp_path: Path):
    _, requests = await judged(tmp_path, lambda _: answer(), mode="windowed", by=checklist(LOCAL))
    first = requests[0].messages[1].text
    assert "Margaret Ellwood" in first and "Ida Quill" not in first


async def test_one_bad_turn_makes_it_bad_with_that_turn_as_evidence(tmp_path: Path):
    def reply(request: Request) -> str:
        bad = turn(request) in {"T6", "T11"}
        return answer("no" if bad else "yes", reasoning=f"{turn(request)} is {'bad' if bad else 'good'}")

    found, _ = await judged(tmp_path, reply, mode="windowed", by=checklist(LOCAL))
    assert (found["R-1"].answer, found["R-1"].evidence) == ("no", ("T6", "T11"))
    assert found["R-1"].reasoning == "T6 is bad" and found["R-1"].flags == ()
    assert len(found["R-1"].calls) == len(JUDGED)


async def test_presence_of_a_fault_is_turned_back_turn_by_turn(tmp_path: Path):
    by = checklist({**LOCAL, "ask": "Is there slang?"})
    found, _ = await judged(
        tmp_path, lambda request: answer("yes" if turn(request) == "T9" else "no"), mode="windowed", by=by
    )
    assert (found["R-1"].answer, found["R-1"].evidence, found["R-1"].asked) == ("no", ("T9",), "Is there slang?")


async def test_of_a_negative_indicator_a_yes_is_the_worst(tmp_path: Path):
    by = checklist({**LOCAL, "sign": "negative"})
    found, _ = await judged(
        tmp_path, lambda request: answer("yes" if turn(request) == "T9" else "no"), mode="windowed", by=by
    )
    assert (found["R-1"].answer, found["R-1"].evidence) == ("yes", ("T9",))


async def test_a_missing_window_leaves_it_open_unless_another_is_bad(tmp_path: Path):
    """I04: a turn that was not judged is no good turn."""

    def reply(request: Request) -> Reply | str:
        return Reply("refused", detail="declined") if turn(request) == "T4" else answer()

    found, _ = await judged(tmp_path, reply, mode="windowed", by=checklist(LOCAL))
    assert (found["R-1"].answer, found["R-1"].reason) == ("missing", "refused")
    assert found["R-1"].detail.startswith("1 of 10 turns have no answer; T4: declined")
    (tmp_path / "bad").mkdir()
    found, _ = await judged(
        tmp_path / "bad",
        lambda request: answer("no") if turn(request) == "T6" else reply(request),
        mode="windowed",
        by=checklist(LOCAL),
    )
    assert (found["R-1"].answer, found["R-1"].reason, found["R-1"].evidence) == ("no", "", ("T6",))


def test_the_worst_of_answers_that_do_not_apply_does_not_apply():
    indicator = Indicator.model_validate({**LOCAL, "evidence": "required"})
    turns = [Turn(id=f"T{n}", role="judge", speaker="x", text="x") for n in (1, 2)]
    neither = Vote("not_applicable")
    assert worst(indicator, [(turn, neither) for turn in turns]).answer == "not_applicable"
    mixed = worst(indicator, [(turns[0], neither), (turns[1], Vote("yes", calls=("k",)))])
    assert (mixed.answer, mixed.evidence, mixed.calls) == ("yes", ("T2",), ("k",))


async def test_what_a_turn_cannot_show_is_asked_of_the_whole_as_in_single(tmp_path: Path):
    found, requests = await judged(tmp_path, lambda _: answer(), mode="windowed", by=checklist(LOCAL, WHOLE))
    whole = [request for request in requests if not turn(request)]
    assert len(whole) == 1 and len(turns_shown(whole[0])) == len(TRIAL)
    assert found["R-3"].answer == "yes" and found["R-3"].mode == "windowed"


async def test_windows_of_a_long_transcript_fit_where_the_whole_does_not(tmp_path: Path):
    """C23: what needs the whole is refused with its figures; what a turn shows is judged."""
    long = trial([(role, phase, text + " The hedge bank, once more." * 30) for role, phase, text in TRIAL])
    facts = ModelFacts(context_tokens=2500)
    by = checklist(LOCAL, WHOLE)
    found, _ = await judged(tmp_path, lambda _: answer(), mode="windowed", by=by, transcript=long, facts=facts)
    assert found["R-1"].answer == "yes"
    assert (found["R-3"].answer, found["R-3"].reason) == ("missing", "context_overflow")


async def test_a_window_beyond_the_context_is_missing_and_not_asked(tmp_path: Path):
    huge = trial([*TRIAL[:3], ("judge", "introduction", "word " * 9000)])
    facts = ModelFacts(context_tokens=2500)
    found, requests = await judged(
        tmp_path, lambda _: answer(), mode="windowed", by=checklist(LOCAL), transcript=huge, facts=facts
    )
    assert (found["R-1"].answer, found["R-1"].reason) == ("missing", "context_overflow")
    assert [turn(request) for request in requests] == ["T2"]


def test_a_short_reference_is_shown_whole():
    assert near_facts(REFERENCE, "anything") == REFERENCE


def test_of_a_long_reference_the_nearest_passages_are_shown_in_their_order():
    rows = [
        f"E{n} Item {n}: a thing of {word} kept in the cellar since the spring of that year."
        for n, word in enumerate(["copper", "bamboo", "velvet", "marble", "amber"] * 20)
    ]
    reference = "\n".join(["The case.", *rows, "The camera recorded a head torch at 21:40."])
    shown = near_facts(reference, "Did the camera see a head torch near the bamboo?")
    assert "head torch at 21:40" in shown and "bamboo" in shown and "velvet" not in shown
    assert estimated_tokens(shown.replace("…\n", "")) <= REFERENCE_TOKENS
    assert "…" in shown and "…\n…" not in shown
    lines = [line for line in shown.splitlines() if line != "…"]
    assert lines == [line for line in reference.splitlines() if line in lines]


def test_a_long_paragraph_is_taken_apart_into_sentences():
    filler = "The hedge was measured twice and nothing came of it, as both sides say. " * 40
    reference = filler + "The saw of Grayson hung in the shed. " + filler
    assert "The saw of Grayson hung in the shed." in near_facts(reference, "Where was the saw?")


@pytest.mark.parametrize("reference", ["", "   \n"])
async def test_an_empty_reference_is_said_to_be_none(tmp_path: Path, reference: str):
    bare = trial(scenario=Scenario(id="chat", title="Chat", reference=reference))
    found, requests = await judged(tmp_path, lambda _: answer(), mode="windowed", by=checklist(FACTS), transcript=bare)
    assert "(none given)" in requests[0].messages[-1].text and found["R-2"].answer == "yes"
