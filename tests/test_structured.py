"""Structured answers: a pydantic type goes in, a validated value or a typed failure comes out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from dramaturg.model import AnswerSchema, Asked, Message, Reply
from dramaturg.model.answer_type import answer_schema, list_schema
from dramaturg.model.structured import MOST_ASKS, ListAnswer, Structured, ask_list, ask_structured
from dramaturg.model.wire import read_reply

CHAT = (Message("system", "You judge."), Message("user", "Is it so?"))
LINES = "Reply with these lines:\nreasoning: …\nanswer: yes or no"


class Verdict(BaseModel):
    """Reasoning first."""

    reasoning: str
    answer: Literal["yes", "no", "not_applicable"]
    evidence: list[str]


class Entry(BaseModel):
    id: str
    reasoning: str
    answer: Literal["yes", "no", "not_applicable"]


class Score(BaseModel):
    score: float = Field(ge=1, le=5)


class Number(BaseModel):
    value: float


class Goal(BaseModel):
    model_config = ConfigDict(extra="forbid")

    goal: tuple[str, int]


class Part(BaseModel):
    name: str
    kind: Literal["a", "b"] = "a"


class Whole(BaseModel):
    title: str = "none"
    parts: list[Part]
    last: Part | None = None


class Endless(BaseModel):
    inner: list[Endless]


def wrote(content: object, finish_reason: str = "stop", *, reasoning: str = "", refusal: str = "") -> Reply:
    message = {"role": "assistant", "content": content, "reasoning_content": reasoning, "refusal": refusal or None}
    return read_reply({"choices": [{"message": message, "finish_reason": finish_reason}]}, max_tokens=512)


class Scripted:
    """An `Ask` that gives replies in order and keeps what it was asked."""

    def __init__(self, *replies: Reply | str) -> None:
        self.replies = [wrote(reply) if isinstance(reply, str) else reply for reply in replies]
        self.asked: list[tuple[Sequence[Message], AnswerSchema | None, int, bool]] = []

    async def __call__(
        self, messages: Sequence[Message], *, schema: AnswerSchema | None, attempt: int, more_tokens: bool = False
    ) -> Asked:
        self.asked.append((messages, schema, attempt, more_tokens))
        return Asked(self.replies[len(self.asked) - 1], key=f"k{attempt}")


async def asks(ask: Scripted, lines: str = "") -> Structured[Verdict]:
    return await ask_structured(ask, CHAT, Verdict, name="verdict", lines=lines)


GOOD = '{"reasoning": "it rains", "answer": "yes", "evidence": ["T1"]}'


class TestOneAnswer:
    async def test_a_valid_answer_costs_one_call(self) -> None:
        ask = Scripted(GOOD)
        answer = await asks(ask)
        assert answer.value == Verdict(reasoning="it rains", answer="yes", evidence=["T1"])
        assert (answer.failure, answer.repaired, answer.keys) == ("", False, ("k0",))
        assert ask.asked[0][0] == CHAT
        assert ask.asked[0][1] is not None

    @pytest.mark.parametrize(
        ("text", "verdict"),
        [
            pytest.param(f"Sure!\n{GOOD}\nHope it helps.", "yes", id="I07-prose"),
            pytest.param("{'reasoning': 'he's late', 'answer': 'Yes', 'evidence': [],}", "yes", id="I07-quotes"),
            pytest.param(f"```\n{GOOD}\n```", "yes", id="I08"),
            pytest.param(f'{GOOD[:-1]}, "note": "extra"}}', "yes", id="I01-extra-key"),
            pytest.param(
                '{"Reasoning": "", "Answer": "N/A", "Evidence": null, "evidence": []}', "not_applicable", id="case"
            ),
            pytest.param('{"reasoning": "", "answer": false, "evidence": "none"}', "no", id="truth-value"),
            pytest.param('{"reasoning": "", "answer": "y", "evidence": "T1, T3"}', "yes", id="FW-03-synonym"),
            pytest.param("reasoning: it rains\nanswer: Yes.\nevidence: T1", "yes", id="FW-09-labelled-lines"),
            pytest.param(f'<think>{{"answer": "no"}}</think>{GOOD}', "yes", id="I17"),
            pytest.param(
                f'I was shown {{"reasoning": "", "answer": "no", "evidence": []}}. {GOOD}', "yes", id="I02-echo"
            ),
        ],
    )
    async def test_a_usable_answer_is_not_asked_again(self, text: str, verdict: str) -> None:
        ask = Scripted(text)
        answer = await asks(ask)
        assert answer.value is not None
        assert answer.value.answer == verdict
        assert len(ask.asked) == 1

    async def test_content_as_parts_or_as_an_object_is_read(self) -> None:
        """FW-12."""
        parts = [{"type": "text", "text": GOOD[:20]}, {"type": "text", "text": GOOD[20:]}]
        for content in (parts, json.loads(GOOD)):
            answer = await asks(Scripted(wrote(content)))
            assert answer.value is not None

    @pytest.mark.parametrize(
        "text",
        [
            pytest.param("I cannot rate this", id="FW-01"),
            pytest.param(f"[{GOOD}]", id="I11-list"),
            pytest.param('{"reasoning": "", "answer": "partly", "evidence": []}', id="FW-04-off-menu"),
            pytest.param('{"reasoning": "", "answer": "YesNo", "evidence": []}', id="FW-03-malformed"),
            pytest.param('{"reasoning": "", "answer": null, "evidence": []}', id="null"),
            pytest.param('{"reasoning": "", "evidence": []}', id="left-out"),
            pytest.param('{"verdict": "yes"}', id="other-keys"),
        ],
    )
    async def test_an_unusable_answer_is_asked_once_more_and_then_a_failure(self, text: str) -> None:
        ask = Scripted(text, text)
        answer = await asks(ask)
        assert (answer.value, answer.failure, answer.keys) == (None, "unparsed", ("k0", "k1"))
        assert answer.text == text
        assert answer.detail
        assert "\n" not in answer.detail

    async def test_the_second_ask_quotes_answer_and_problem(self) -> None:
        """I07."""
        ask = Scripted('{"reasoning": "", "answer": "partly", "evidence": []}', GOOD)
        answer = await asks(ask)
        assert answer.value is not None
        messages, schema, attempt, more_tokens = ask.asked[1]
        assert [message.role for message in messages] == ["system", "user", "assistant", "user"]
        assert "partly" in messages[2].text
        assert "answer: Input should be 'yes', 'no' or 'not_applicable'" in messages[3].text
        assert (schema is not None, attempt, more_tokens) == (True, 1, False)

    async def test_the_second_ask_is_in_lines_and_without_a_schema_where_lines_are_given(self) -> None:
        ask = Scripted("no idea", "reasoning: it rains\nanswer: no\nevidence: T1, T2")
        answer = await asks(ask, LINES)
        assert answer.value == Verdict(reasoning="it rains", answer="no", evidence=["T1", "T2"])
        assert answer.repaired
        messages, schema, _, _ = ask.asked[1]
        assert LINES in messages[-1].text
        assert schema is None

    async def test_a_long_answer_is_quoted_in_short(self) -> None:
        ask = Scripted("word " * 10_000, GOOD)
        await asks(ask)
        assert len(ask.asked[1][0][2].text) < 2000

    async def test_a_cut_answer_is_asked_with_more_tokens_and_the_same_chat(self) -> None:
        """I05."""
        ask = Scripted(wrote('{"reasoning": "it ra', "length"), GOOD)
        answer = await asks(ask)
        assert answer.value is not None
        messages, _, _, more_tokens = ask.asked[1]
        assert (messages, more_tokens) == (CHAT, True)

    async def test_an_answer_cut_twice_is_truncated_and_names_the_limit(self) -> None:
        """I05."""
        cut = wrote('{"reasoning": "it ra', "length")
        answer = await asks(Scripted(cut, cut))
        assert (answer.value, answer.failure) == (None, "truncated")
        assert "max_tokens=512" in answer.detail

    async def test_a_cut_answer_that_is_whole_counts(self) -> None:
        answer = await asks(Scripted(wrote(GOOD + "\n\n", "length")))
        assert answer.value is not None

    @pytest.mark.parametrize("content", ["", "<think>hmm hmm", "{"])
    async def test_a_budget_spent_on_reasoning_is_never_a_no(self, content: str) -> None:
        """FW-18."""
        spent = wrote(content, "length", reasoning="" if "<" in content else "hmm " * 500)
        ask = Scripted(spent, spent)
        answer = await asks(ask)
        assert answer.value is None
        assert answer.failure == ("truncated" if content == "{" else "budget_spent_on_reasoning")
        assert [more for *_, more in ask.asked] == [False, True]

    async def test_no_answer_costs_more_than_three_asks(self) -> None:
        """FW-55."""
        ask = Scripted("no idea", wrote('{"reasoning": "it ra', "length"), "no idea", GOOD)
        answer = await asks(ask)
        assert (answer.failure, len(ask.asked)) == ("unparsed", MOST_ASKS)

    @pytest.mark.parametrize(
        ("reply", "failure", "calls"),
        [
            pytest.param(wrote(" " * 5000, "length"), "degenerate", 2, id="FW-76"),
            pytest.param(wrote(""), "empty", 2, id="empty"),
            pytest.param(wrote("", refusal="I will not."), "refused", 1, id="refused"),
            pytest.param(wrote("x", "content_filter"), "refused", 1, id="filtered"),
            pytest.param(Reply("context_overflow", detail="too long"), "context_overflow", 1, id="FW-72"),
        ],
    )
    async def test_a_reply_without_an_answer_is_a_typed_failure(self, reply: Reply, failure: str, calls: int) -> None:
        ask = Scripted(*[reply] * 3)
        answer = await asks(ask)
        assert (answer.value, answer.failure, len(ask.asked)) == (None, failure, calls)

    async def test_blanks_without_end_are_asked_again_in_lines(self) -> None:
        """FW-76."""
        ask = Scripted(wrote(" " * 5000, "length"), "reasoning: x\nanswer: yes\nevidence: none")
        answer = await asks(ask, LINES)
        assert answer.value == Verdict(reasoning="x", answer="yes", evidence=[])
        messages, schema, _, _ = ask.asked[1]
        assert schema is None
        assert [message.role for message in messages] == ["system", "user", "user"]

    @pytest.mark.parametrize("value", ['"NaN"', "NaN", '"inf"', "Infinity", "-3", '"-3"', "true", "1e999", "null"])
    async def test_a_score_off_the_scale_is_missing_and_never_clamped(self, value: str) -> None:
        """I13."""
        text = f'{{"score": {value}}}'
        answer = await ask_structured(Scripted(text, text), CHAT, Score, name="score")
        assert (answer.value, answer.failure) == (None, "unparsed")

    @pytest.mark.parametrize("value", ['"NaN"', '"inf"', '"-Infinity"', "NaN", "1e999"])
    async def test_a_number_without_bounds_is_finite(self, value: str) -> None:
        """I13."""
        text = f'{{"value": {value}}}'
        answer = await ask_structured(Scripted(text, text), CHAT, Number, name="number")
        assert answer.value is None

    @pytest.mark.parametrize("value", ["3", "3.0", '"3"', '" 3 "'])
    async def test_a_number_written_as_text_counts(self, value: str) -> None:
        """C20."""
        answer = await ask_structured(Scripted(f'{{"score": {value}}}'), CHAT, Score, name="score")
        assert answer.value == Score(score=3)

    async def test_a_sibling_key_does_not_spoil_an_answer(self) -> None:
        """I01."""
        ask = Scripted('{"goal": ["why", 6], "reasoning": "…"}')
        answer = await ask_structured(ask, CHAT, Goal, name="goal")
        assert answer.value == Goal(goal=("why", 6))
        assert len(ask.asked) == 1


class TestSchema:
    def test_references_are_inlined_and_nothing_is_optional(self) -> None:
        schema = dict(answer_schema(Whole, "whole").schema)
        assert "$ref" not in json.dumps(schema)
        assert "default" not in json.dumps(schema)
        assert schema["required"] == ["title", "parts", "last"]
        assert schema["additionalProperties"] is False
        part = schema["properties"]["parts"]["items"]  # type: ignore[index,call-overload]
        assert part == {  # type: ignore[comparison-overlap]
            "type": "object",
            "properties": {"name": {"type": "string"}, "kind": {"type": "string", "enum": ["a", "b"]}},
            "required": ["name", "kind"],
            "additionalProperties": False,
        }

    def test_reasoning_stays_before_the_answer(self) -> None:
        properties = answer_schema(Verdict, "verdict").schema["properties"]
        assert list(properties) == ["reasoning", "answer", "evidence"]  # type: ignore[arg-type]

    def test_a_type_that_contains_itself_has_no_schema(self) -> None:
        with pytest.raises(TypeError, match="Endless"):
            answer_schema(Endless, "endless")

    def test_a_list_names_its_ids_and_their_number(self) -> None:
        answers = list_schema(Entry, "entries", id_field="id", ids=["a", "b"]).schema["properties"]["answers"]  # type: ignore[index,call-overload]
        assert (answers["minItems"], answers["maxItems"]) == (2, 2)  # type: ignore[index,call-overload]
        assert answers["items"]["properties"]["id"]["enum"] == ["a", "b"]  # type: ignore[index,call-overload]
        assert "enum" not in answer_schema(Entry, "entries").schema["properties"]["id"]  # type: ignore[index,call-overload,operator]


def chat_for(ids: Sequence[str]) -> list[Message]:
    return [Message("user", "Answer " + ", ".join(ids))]


def lines_for(ids: Sequence[str]) -> list[Message]:
    return [Message("user", "In lines " + ", ".join(ids))]


def entries(**answers: str) -> str:
    return json.dumps(
        {"answers": [{"id": name, "reasoning": "r", "answer": answer} for name, answer in answers.items()]}
    )


async def lists(ask: Scripted, *ids: str, lines: bool = False) -> ListAnswer[Entry]:
    return await ask_list(ask, chat_for, ids, Entry, name="entries", lines_for=lines_for if lines else None)


def answers_of(answer: ListAnswer[Entry]) -> dict[str, str]:
    return {name: item.answer for name, item in answer.items.items()}


class TestManyAnswers:
    @pytest.mark.parametrize(
        "text",
        [
            pytest.param(entries(a="yes", b="no"), id="object"),
            pytest.param(entries(b="no", a="yes"), id="FW-06-out-of-order"),
            pytest.param(json.dumps(json.loads(entries(a="yes", b="no"))["answers"]), id="bare-list"),
            pytest.param(
                '{"a": {"reasoning": "r", "answer": "yes"}, "b": {"reasoning": "r", "answer": "no"}}', id="by-id"
            ),
            pytest.param(
                '{"answers": {"a": {"reasoning": "r", "answer": "yes"}, "b": {"reasoning": "r", "answer": "no"}}}',
                id="by-id-inside",
            ),
            pytest.param(
                '{"id": "a", "reasoning": "r", "answer": "yes"}\n{"id": "b", "reasoning": "r", "answer": "no"}',
                id="one-after-the-other",
            ),
            pytest.param("a: yes - r\nb: no - r", id="lines"),
            pytest.param("a | reasoning: r | answer: yes\nb | reasoning: r | answer: no", id="lines-with-bars"),
            pytest.param(entries(A="Yes.", **{" b.": "n"}), id="spelling"),
            pytest.param(f"Example: {entries(x='no')}\nMine:\n```json\n{entries(a='yes', b='no')}\n```", id="I02-echo"),
        ],
    )
    async def test_every_form_is_matched_by_id(self, text: str) -> None:
        ask = Scripted(text)
        answer = await lists(ask, "a", "b")
        assert answers_of(answer) == {"a": "yes", "b": "no"}
        assert (answer.failures, len(ask.asked)) == ({}, 1)

    async def test_only_what_is_missing_or_invalid_is_asked_again(self) -> None:
        """FW-78, FW-06, FW-01."""
        ids = [f"i{number}" for number in range(38)]
        answers = dict.fromkeys(ids, "yes") | {"i7": "partly"}
        del answers["i9"]
        ask = Scripted(entries(**answers), entries(i7="no", i9="no"))
        answer = await lists(ask, *ids)
        assert ask.asked[1][0] == chat_for(["i7", "i9"])
        assert answers_of(answer) == dict.fromkeys(ids, "yes") | {"i7": "no", "i9": "no"}
        assert answer.keys == ("k0", "k1")

    async def test_what_stays_out_is_a_failure_for_its_id_alone(self) -> None:
        """FW-01, FW-06."""
        ask = Scripted(entries(a="yes", b="partly"), entries(b="partly"))
        answer = await lists(ask, "a", "b", "c")
        assert answers_of(answer) == {"a": "yes"}
        assert {name: failure.reason for name, failure in answer.failures.items()} == {"b": "unparsed", "c": "left_out"}
        assert len(ask.asked) == 2

    async def test_an_id_answered_twice_with_different_results_is_contradictory(self) -> None:
        """FW-06."""
        twice = '[{"id": "a", "reasoning": "r", "answer": "yes"}, {"id": "a", "reasoning": "s", "answer": "no"}]'
        answer = await lists(Scripted(twice, twice), "a")
        assert answer.failures["a"].reason == "contradictory"

    async def test_an_id_answered_twice_alike_is_answered(self) -> None:
        twice = '[{"id": "a", "reasoning": "r", "answer": "no"}, {"id": "a", "reasoning": "s", "answer": "no"}]'
        answer = await lists(Scripted(twice), "a")
        assert answers_of(answer) == {"a": "no"}

    async def test_the_last_entry_of_an_id_is_authoritative(self) -> None:
        """FW-04."""
        text = '[{"id": "a", "reasoning": "r", "answer": "yes"}, {"id": "a", "reasoning": "r", "answer": "partly"}]'
        answer = await lists(Scripted(text, text), "a")
        assert answer.failures["a"].reason == "unparsed"

    async def test_unknown_ids_are_counted_and_ignored(self) -> None:
        answer = await lists(Scripted(entries(a="yes", T99="no", z="no")), "a")
        assert (answers_of(answer), answer.ignored) == ({"a": "yes"}, 2)

    async def test_ids_are_the_same_whatever_the_hyphen(self) -> None:
        """C29, FW-06."""
        answer = await lists(Scripted(entries(**{"A\u20111": "yes"})), "A-1")
        assert (answers_of(answer), answer.ignored) == ({"A-1": "yes"}, 0)

    async def test_one_broken_entry_does_not_spoil_the_others(self) -> None:
        """FW-78."""
        broken = entries(a="yes", b="no", c="yes").replace('"no"', '"no" 3 4')
        ask = Scripted(broken, entries(b="no"))
        answer = await lists(ask, "a", "b", "c")
        assert answers_of(answer) == {"a": "yes", "b": "no", "c": "yes"}
        assert ask.asked[1][0] == chat_for(["b"])
        assert answer.repaired == {"a", "c"}

    async def test_a_cut_list_gives_what_was_complete(self) -> None:
        """I05, FW-78."""
        ask = Scripted(wrote(entries(a="yes", b="no", c="yes")[:-20], "length"), entries(c="yes"))
        answer = await lists(ask, "a", "b", "c")
        assert answers_of(answer) == {"a": "yes", "b": "no", "c": "yes"}
        messages, _, _, more_tokens = ask.asked[1]
        assert (messages, more_tokens) == (chat_for(["c"]), True)

    async def test_a_list_never_costs_more_than_three_asks(self) -> None:
        ask = Scripted(wrote(entries(a="yes")[:-9], "length"), "no idea", "no idea", "no idea")
        answer = await lists(ask, "a")
        assert (len(ask.asked), answer.failures["a"].reason) == (MOST_ASKS, "unparsed")

    async def test_the_second_ask_is_in_lines_where_nothing_was_read(self) -> None:
        ask = Scripted("no idea", "a: yes\nb: no")
        answer = await lists(ask, "a", "b", lines=True)
        assert answers_of(answer) == {"a": "yes", "b": "no"}
        messages, schema, _, _ = ask.asked[1]
        assert (messages, schema) == (lines_for(["a", "b"]), None)
        assert answer.repaired == {"a", "b"}

    async def test_an_overflow_is_every_ids_failure(self) -> None:
        """FW-72."""
        ask = Scripted(Reply("context_overflow", detail="too long"))
        answer = await lists(ask, "a", "b")
        assert {failure.reason for failure in answer.failures.values()} == {"context_overflow"}
        assert len(ask.asked) == 1

    async def test_nothing_to_ask_asks_nothing(self) -> None:
        answer = await lists(Scripted())
        assert (answer.items, answer.failures, answer.keys) == ({}, {}, ())
