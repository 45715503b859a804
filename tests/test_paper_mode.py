"""Mode `paper`: answers in RPA-Check's form, read by the number of their question."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dramaturg.judge.checklist.paper import read_answers
from dramaturg.model import Reply, Request
from judge_fixtures import checklist
from judging_fixtures import judged

QUESTIONS = {1: "Does the judge lead?", 2: "Do the witnesses answer, yes or no?", 3: "Is it formal?"}
BY = checklist(*({"id": f"R-{n}", "text": text, "dimension": "R"} for n, text in QUESTIONS.items()))


def answers(text: str) -> dict[int, tuple[str | None, ...]]:
    return {
        number: tuple(entry.answer for entry in entries) for number, entries in read_answers(text, QUESTIONS).items()
    }


@pytest.mark.parametrize(
    "line",
    [
        "Q1 - Does the judge lead?: yes (reasoning: he grants questions)",
        "Q1 – does the judge lead? Yes (reasoning: there is no doubt, (really) no)",
        "**Q1** - Does the judge lead?: **YES** (reasoning: he does)",
        "Q1: yes (reasoning: no objection)",
        "Q1. Yes.",
        "q1) yes",
        "Question 1: yes, he does (reasoning: x)",
        "- Q1 - Does the judge lead?\n  Yes (reasoning: x)",
        "| Q1 | Does the judge lead? | yes | no question is left |",
        "Q1 - Does the judge lead?: (reasoning: he leads) yes",
        "Q1 - Is the trial led by its judge (whoever it is)?: No issues at all - YES (reasoning: x)",
        "Q1 - Does the judge lead?: y\u200bes (reasoning: x)",
        "Q1 - Does the judge lead?: 是（理由：不明）",
        "Q1 - Does the judge lead?: yes because no one else does",
        "1. Does the judge lead?: yes (reasoning: x)",
        "1) yes",
        "```\nQ1 - Does the judge lead?: yes (reasoning: x)\n```",
        '{"Q1": "yes"}',
        '{"Q1": {"answer": "yes", "reasoning": "no doubt"}}',
        "<think>Q1 - no (reasoning: hm)</think>\nQ1 - yes (reasoning: x)",
        "Q1 is no.</think>Q1 - yes",
    ],
)
def test_every_usual_form_of_a_line_is_read(line: str):
    assert answers(line) == {1: ("yes",)}


@pytest.mark.parametrize(
    "said", ["Partly", "yes and no", "YesNo", "5", "", "maybe (reasoning: yes)", "not sure: perhaps"]
)
def test_what_is_neither_yes_nor_no_is_none(said: str):
    """FW-03: a closed vocabulary; the question's own words are not its answer."""
    assert answers(f"Q2 - Do the witnesses answer, yes or no?: {said}") == {2: (None,)}


@pytest.mark.parametrize(
    "text",
    [
        "Q1 - no. Q2 - no. Q3 - yes.",
        "Q1: yes; Q2: no; Q3: no",
        "Q1: no\tQ2: yes\tQ3: yes",
        "Q1-Q3 - yes",
        "Q1 - yes | no",
        "Q1 - no\n\nOverall verdict: yes",
        "Q1 - No, it does not. Expected answer: yes",
        "Q1 - yes: the agent said: no",
    ],
)
def test_an_answer_with_another_one_behind_it_is_none(text: str):
    """Which of the two belongs to the question cannot be known, so it is asked again."""
    assert answers(text) == {1: (None,)}


def test_reasoning_is_kept_without_its_brackets_and_label():
    (entry,) = read_answers('Q3 - Is it formal?: no (reasoning: he says "hey {you}", (loudly))', QUESTIONS)[3]
    assert (entry.answer, entry.reasoning) == ("no", 'he says "hey {you}", (loudly')


def test_order_does_not_matter_and_numbers_that_were_not_asked_are_left_out():
    text = "Q3 - no (reasoning: x)\nQ9 - yes (reasoning: y)\nQ1 - yes (reasoning: as in Q2, no)"
    assert answers(text) == {3: ("no",), 1: ("yes",)}


def test_answers_on_one_line_are_taken_apart():
    text = "Q1 - Does the judge lead?: yes (reasoning: a) Q2 - Do the witnesses answer?: no (reasoning: b) Q3: yes"
    assert answers(text) == {1: ("yes",), 2: ("no",), 3: ("yes",)}


def test_a_question_that_a_reasoning_mentions_is_not_answered_there():
    text = "Q1 - yes (reasoning: he leads. Q2 is no, as (in short) Q3 says: no)\nQ2 - yes (reasoning: b)"
    assert answers(text) == {1: ("yes",), 2: ("yes",)}


def test_a_numbered_reasoning_under_numbered_questions_is_no_answer():
    assert answers("Q1 - yes (reasoning:\n1. he leads\n2. he ends)\nQ3 - no (reasoning: z)") == {
        1: ("yes",),
        3: ("no",),
    }


@given(st.text(max_size=300))
def test_no_text_breaks_the_reader_and_no_number_is_invented(text: str):
    assert set(read_answers(text, QUESTIONS)) <= set(QUESTIONS)


@given(st.permutations([1, 2, 3]), st.lists(st.sampled_from(["yes", "no"]), min_size=3, max_size=3))
def test_whatever_the_order_each_answer_goes_to_its_question(order: list[int], said: list[str]):
    written = dict(zip(order, said, strict=True))
    text = "\n".join(f"Q{n} - {QUESTIONS[n]}: {answer} (reasoning: {QUESTIONS[n]})" for n, answer in written.items())
    assert answers(text) == {n: (answer,) for n, answer in written.items()}


async def test_the_prompt_has_the_dimensions_definition_and_no_schema(tmp_path: Path):
    _, requests = await judged(tmp_path, lambda _: "Q1 - yes\nQ2 - yes\nQ3 - yes", by=BY, mode="paper")
    (request,) = requests
    assert request.schema is None
    assert "What R is." in request.messages[-1].text
    assert [line for line in request.messages[-1].text.splitlines() if re.match(r"Q\d - (?!the q)", line)] == [
        f"Q{n} - {text}" for n, text in QUESTIONS.items()
    ]


async def test_only_what_was_not_answered_is_asked_again_and_only_once(tmp_path: Path):
    """C21, C27: under its own number, never matched by place."""
    replies = iter(["Q1 - yes (reasoning: a)\nQ2 - Partly (reasoning: b)", "Q3 - no (reasoning: c)"])
    found, requests = await judged(tmp_path, lambda _: next(replies), by=BY, mode="paper")
    assert {name: judgement.answer for name, judgement in found.items()} == {
        "R-1": "yes",
        "R-2": "missing",
        "R-3": "no",
    }
    assert (found["R-2"].reason, len(requests)) == ("left_out", 2)
    assert "Q2 - " in requests[1].messages[-1].text and "Q1 - Does" not in requests[1].messages[-1].text
    assert len(found["R-1"].calls) == 1 and len(found["R-3"].calls) == 2


async def test_an_answer_given_twice_with_different_results_is_no_answer(tmp_path: Path):
    """FW-06."""
    text = "Q1 - yes (reasoning: a)\nQ1 - no (reasoning: b)\nQ2 - yes\nQ2 - yes (reasoning: twice)\nQ3 - no"
    found, _ = await judged(tmp_path, lambda _: text, by=BY, mode="paper")
    assert (found["R-1"].answer, found["R-1"].reason) == ("missing", "contradictory")
    assert (found["R-2"].answer, found["R-3"].answer) == ("yes", "no")


async def test_an_answer_in_this_form_needs_no_evidence(tmp_path: Path):
    found, _ = await judged(tmp_path, lambda _: "Q1 - no (reasoning: a)\nQ2 - no\nQ3 - no", by=BY, mode="paper")
    assert {judgement.flags for judgement in found.values()} == {()}
    assert found["R-1"].reasoning == "a"


async def test_of_a_cut_reply_what_was_written_counts_and_the_rest_gets_more_room(tmp_path: Path):
    """I05: a cut answer is no lost answer."""
    replies: Iterator[Reply | str] = iter(
        [Reply("truncated", text="Q1 - yes (reasoning: a)\nQ2 - Do the wit", detail="cut"), "Q2 - no\nQ3 - no"]
    )
    found, requests = await judged(tmp_path, lambda _: next(replies), by=BY, mode="paper")
    assert [judgement.answer for judgement in found.values()] == ["yes", "no", "no"]
    assert requests[1].sampling.max_tokens == 2 * requests[0].sampling.max_tokens


async def test_a_refused_reply_is_not_asked_again(tmp_path: Path):
    found, requests = await judged(tmp_path, lambda _: Reply("refused", detail="declined"), by=BY, mode="paper")
    assert len(requests) == 1 and {judgement.reason for judgement in found.values()} == {"refused"}


async def test_not_applicable_counts_only_where_the_indicator_allows_it(tmp_path: Path):
    by = checklist(
        {"id": "R-1", "text": "Is it formal?", "dimension": "R", "not_applicable_when": "No word is spoken."},
        {"id": "R-2", "text": "Does it end?", "dimension": "R"},
    )

    asked: list[str] = []

    def reply(request: Request) -> str:
        asked.append(request.messages[-1].text)
        return (
            "Q1 - Is it formal? (Not applicable when: No word is spoken.): not applicable (reasoning: silence)\n"
            "Q2 - Does it end?: n/a (reasoning: silence)"
        )

    found, _ = await judged(tmp_path, reply, by=by, mode="paper")
    assert "Q1 - Is it formal? (Not applicable when: No word is spoken.)" in asked[0]
    assert found["R-1"].answer == "not_applicable"
    assert (found["R-2"].answer, found["R-2"].reason) == ("missing", "unparsed")
