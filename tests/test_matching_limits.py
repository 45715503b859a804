"""What holds for any reply: no crash, the same verdict each time, time that grows with its length, and who is asked."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dramaturg.facts import Fact
from dramaturg.judge.matching import Question, ReplyText, Verdict, compat, robust
from dramaturg.judge.matching.asking import is_open, judge_share, settle
from dramaturg.judge.matching.flags import FLAGS
from dramaturg.ledger import Ledger
from dramaturg.model import Reply
from ledger_fixtures import CountingModel

LABELS = ("anger", "joy", "fear")
QUESTIONS = (
    Question("emotion", "Your work is worthless.", labels=LABELS, expected="anger"),
    Question("decision", "Won't you help us?", expected="yes"),
    Question("moral", "Will you take the bribe?", expected="no"),
    Question(
        "in_character", "Who made it?", facts=(Fact(forms={"": ("Christopher Nolan", "Meta")}),), knows_until=1500
    ),
    Question("knows", "When was it?", facts=(Fact(date="1066-10-14", forms={"": ("Hastings",)}),)),
)


@given(st.text(max_size=300))
@settings(max_examples=150, deadline=None)
def test_any_text_has_a_verdict_with_known_flags(text: str) -> None:
    for question in QUESTIONS:
        verdict = robust(question, ReplyText(text))
        assert verdict == robust(question, ReplyText(text))
        assert set(verdict.flags) <= FLAGS
        compat(question, text)


@pytest.mark.parametrize(
    "piece",
    [
        "{",
        '{"a":',
        "<think>",
        "[x](",
        "a.b.",
        "*",
        "two thousand ",
        "not ",
        "(thinking:",
        "<!--",
        "no, ",
        "年",
        "\u202ea",
    ],
)
def test_a_megabyte_is_read_in_seconds(piece: str) -> None:
    reply = ReplyText(piece * (1_000_000 // len(piece)))
    for question in QUESTIONS:
        began = time.process_time()
        robust(question, reply)
        assert time.process_time() - began < 20


def test_a_leak_at_the_end_of_a_megabyte_is_found() -> None:
    reply = ReplyText(
        "The river runs on, my friend, and nobody knows where it ends, said I to him once more. " * 50 + "Nolan."
    )
    assert robust(QUESTIONS[3], reply).status == "wrong"


@pytest.mark.parametrize(
    "question",
    [
        Question("in_character", "Who?"),
        Question("knows", "Who?", facts=(Fact(text="nobody can match this"),)),
        Question("emotion", "Hm?", labels=LABELS, expected="envy"),
        Question("decision", "Will you?", expected="maybe"),
    ],
)
def test_an_item_that_cannot_be_scored_is_said_to_be_so(question: Question) -> None:
    assert robust(question, ReplyText("Yes.")).status == "invalid_item"


def test_an_echo_of_the_message_is_no_answer() -> None:
    for question in QUESTIONS[1:]:
        assert robust(question, ReplyText(question.message)).status == "unparsed"


def test_a_machine_may_call_itself_one() -> None:
    machine = Question("decision", "Will you help us?", expected="yes", machine=True)
    assert robust(machine, ReplyText("As an artificial intelligence, I will.")).status == "right"


def test_a_date_that_is_more_exact_than_the_message_is_given_away() -> None:
    question = Question("in_character", "Who won in 2016?", facts=(Fact(date="2016-11-08"),))
    assert robust(question, ReplyText("You ask of 2016? I cannot tell.")).status == "right"
    assert robust(question, ReplyText("It was on November 8, 2016.")).status == "wrong"


def test_a_judge_is_asked_only_what_the_rules_leave_open() -> None:
    decision = QUESTIONS[1]
    assert is_open(decision, robust(decision, ReplyText("The dragon has burned my village.")))
    assert is_open(decision, robust(decision, ReplyText("Perhaps.")))
    assert not is_open(decision, robust(decision, ReplyText("Yes, I will.")))
    assert not is_open(decision, robust(decision, ReplyText("")))
    assert not is_open(decision, robust(decision, ReplyText(decision.message)))


def test_the_share_of_the_judge_is_counted() -> None:
    share = judge_share(
        [Verdict("right"), Verdict("right", by="judge"), Verdict("wrong"), Verdict("unparsed", by="judge")]
    )
    assert (share.verdicts, share.asked, share.share) == (4, 2, 0.5)
    assert judge_share([]).share is None


@pytest.mark.parametrize(
    ("said", "status", "by"),
    [
        ('{"reasoning": "It mourns its village.", "answer": "no"}', "wrong", "judge"),
        ('{"reasoning": "It picks up the axe.", "answer": "yes"}', "right", "judge"),
        ('{"reasoning": "It says neither.", "answer": "none"}', "unparsed", "judge"),
        ("I cannot tell.", "unparsed", "judge"),
    ],
)
async def test_a_judge_settles_an_open_reply_or_leaves_it(ledger: Ledger, said: str, status: str, by: str) -> None:
    judge = CountingModel(lambda request: Reply("ok", text=said))
    reply = ReplyText("The dragon has burned my village.")
    calls = ledger.calls(unit="u", seed=1)
    verdict = await settle(QUESTIONS[1], reply, robust(QUESTIONS[1], reply), judge=judge, calls=calls, step="match")
    assert (verdict.status, verdict.by) == (status, by)
    assert QUESTIONS[1].expected not in judge.asked[0].messages[-1].text.split("Message:")[0]


async def test_a_settled_reply_costs_no_call(ledger: Ledger) -> None:
    judge = CountingModel()
    verdict = robust(QUESTIONS[1], ReplyText("Yes, I will."))
    calls = ledger.calls(unit="u", seed=1)
    assert await settle(QUESTIONS[1], ReplyText("Yes, I will."), verdict, judge=judge, calls=calls, step="m") == verdict
    assert judge.asked == []
