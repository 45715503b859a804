"""Mode `paper`: one call per dimension with its definition, answers in free text as RPA-Check prints them.

Source: RPA-Check, section 3.4 and appendix A: ``Q1 - question: yes (reasoning: …)``, the answer before its
reasoning. Answers are matched by the number of their question, never by their place. A judge that answers in JSON is
read as JSON or not at all. A question with different answers, or one that the text behind it takes back, has none. The
form names no evidence, so the indicator's rule of evidence is not applied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dramaturg.judge.checklist.answers import Brief
from dramaturg.judge.checklist.asking import PURPOSE, ROLE, Questioning, told, with_condition
from dramaturg.judge.checklist.checklist import Indicator
from dramaturg.judge.checklist.votes import Vote
from dramaturg.judge.judgement import MissingReason
from dramaturg.model import Message
from dramaturg.model.answer_type import validated
from dramaturg.model.corrections import corrections, holds_several_answers, taken_back_inside
from dramaturg.model.labelled import fold_text
from dramaturg.model.one_answer import read_one
from dramaturg.model.reasoning import split_reasoning
from dramaturg.model.relaxed import INVISIBLE
from dramaturg.model.structured import failure_of
from dramaturg.model.tolerant import Found, json_line, plain_key, read_json, read_values
from dramaturg.model.vocabulary import YesNo, read_yes_no_field
from dramaturg.prompts import load_prompt
from dramaturg.text import Json

MOST_TOKENS = 6000
"""Most tokens of all answers of one call together."""

TOKENS_PER_ANSWER = 120
"""What one of them may take, with its question repeated."""

MOST_ASKS = 2
"""Calls that one dimension can cost: the first, and one for what it did not answer."""

_ASKED_AGAIN = frozenset({"", "truncated", "budget_spent_on_reasoning", "empty", "degenerate"})
"""Ends of a call after which open questions are asked once more."""

_INVISIBLE = dict.fromkeys(map(ord, INVISIBLE))
_MARKS = r"[^\w\n(（]*"
_NUMBER = r"(?:q|question|domanda|问题|問題)\s{0,3}[.#:]?\s{0,3}(\d{1,4})(?!\w)"
_HEAD = re.compile(
    rf"^{_MARKS}{_NUMBER}|(?<=[)）])[^\S\n]*{_MARKS}{_NUMBER}(?=\s*[-–—:：])", re.IGNORECASE | re.MULTILINE
)
_QUESTION = re.compile(rf"\s*(?:{_NUMBER}|(\d{{1,4}}))[.:)]?\s*", re.IGNORECASE)
_NUMBER_KEYS = frozenset({"question", "number", "no", "q", "id"})
"""Keys under which judges put the number of a question that an object answers."""

_ANOTHER = re.compile(rf"{_NUMBER}\s*[-–—:：]", re.IGNORECASE)
_BARE_HEAD = re.compile(rf"^{_MARKS}(\d{{1,4}})(?=\s*[.):|\]、-])(?!\.\d)", re.M)
_BARE_NUMBER = re.compile(r"(?<![\w.:,-])(\d{1,4})(?:[.)](?=\s)|[:：、])")
_BRACKETS = {"(": ")", "（": "）", "[": "]", "【": "】"}
_LEAD = re.compile(r"^[\s.:、|*_\"'`)\]>=–—-]+")
_LABELS = r"(?:reasoning|reason|because|motivazione|perché|理由|原因)"
_REASONING = re.compile(rf"[(（\[【]|(?:^|[\s.,;|]){_LABELS}\s*[:：]?", re.IGNORECASE)
_BRACKET = re.compile(rf"[(（\[【]\s*{_LABELS}", re.IGNORECASE)
_LABELLED = re.compile(rf"\A{_LABELS}\s*[:：]\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Entry:
    """What was written to one question.

    Attributes:
        answer: Its answer; None where none can be read.
        reasoning: What stands behind it.
        several: Whether it holds more than one answer.
        behind: What stands behind the reasoning's bracket, and may take the answer back.
        written: All of it.
    """

    answer: YesNo | None
    reasoning: str
    several: bool = False
    behind: str = ""
    written: str = ""


def paper_tokens(questions: int) -> int:
    """Returns the most tokens of a call with so many questions."""
    return min(MOST_TOKENS, TOKENS_PER_ANSWER * (questions + 1))


def paper_question(questioning: Questioning, numbered: Mapping[int, Indicator]) -> Message:
    """Returns the message that asks the numbered questions of one dimension."""
    language = questioning.language
    of = next(iter(numbered.values())).dimension
    dimension = next(one for one in questioning.checklist.dimensions if one.id == of)
    questions = "\n".join(f"Q{number} - {_asked(questioning, indicator)}" for number, indicator in numbered.items())
    text = load_prompt("judge-paper", language).fill(
        dimension=dimension.name, definition=dimension.definition, questions=questions
    )
    return Message("user", text)


def _asked(questioning: Questioning, indicator: Indicator) -> str:
    return with_condition(questioning.question(indicator), indicator, questioning.language)


async def ask_paper(
    questioning: Questioning, opened: Sequence[Message], indicators: Sequence[Indicator], number: int
) -> dict[str, Vote]:
    """Returns one vote per indicator of a dimension, by its id; what was not answered is asked once more.

    Args:
        questioning: Whom to ask about what.
        opened: The messages that all questions share.
        indicators: Those of one dimension; at least one.
        number: Which vote, from 0.
    """
    ask = questioning.calls.asker(
        questioning.judge,
        step=f"dimension/{indicators[0].dimension}",
        role=ROLE,
        purpose=PURPOSE,
        attempt=number,
        sampling=questioning.sampling(paper_tokens(len(indicators))),
    )
    open_ones = dict(enumerate(indicators, start=1))
    votes: dict[str, Vote] = {}
    keys: tuple[str, ...] = ()
    more_tokens = False
    while open_ones and len(keys) < MOST_ASKS:
        messages = [*opened, paper_question(questioning, open_ones)]
        asked = await ask(messages, schema=None, attempt=len(keys), more_tokens=more_tokens)
        keys = (*keys, asked.key)
        failure = failure_of(asked.reply)
        text = asked.reply.text if failure in {"", "truncated"} else ""
        read = read_answers(text, {place: _asked(questioning, one) for place, one in open_ones.items()})
        for place, indicator in list(open_ones.items()):
            vote = _vote(questioning, indicator, read.get(place, ()), keys)
            if vote.reason == "left_out" and (failure or not read):
                detail = asked.reply.detail or failure or "no line has the number of a question"
                vote = Vote("missing", failure or "unparsed", calls=keys, detail=told(detail, text))
            votes[indicator.id] = vote
            if vote.answer != "missing":
                del open_ones[place]
        if failure not in _ASKED_AGAIN:
            break
        more_tokens = failure in {"truncated", "budget_spent_on_reasoning"}
    return votes


def read_answers(text: str, questions: Mapping[int, str]) -> dict[int, tuple[Entry, ...]]:
    """Returns what was written to each question by its number, in order; numbers that were not asked are left out.

    Args:
        text: What the judge wrote.
        questions: The questions by number; a judge may repeat them before its answer.
    """
    visible = split_reasoning(text)[0].translate(_INVISIBLE)
    begins = json_line(visible)
    if begins is not None and not any(_parts(visible[:begins])):
        return _in_json(visible, questions)
    found: dict[int, tuple[Entry, ...]] = {}
    parts = list(_parts(visible))
    if not parts and len(questions) == 1 and visible.strip():  # one question needs no number
        if read_json(visible, keys=("answer",)) is not None:
            return _in_json(visible, questions)
        parts = [(number, visible) for number in questions]
    entries = [
        (number, replace(_entry(written, questions.get(number, "")), written=written.strip()))
        for number, written in parts
    ]
    for number, entry in entries:
        if number in questions:
            found[number] = (*found.get(number, ()), entry)
    for number, entry in entries:
        _add_corrections(found, entry.behind, (number,))
    return found


def _in_json(visible: str, questions: Mapping[int, str]) -> dict[int, tuple[Entry, ...]]:
    """Returns what a judge wrote that answered in JSON, with each question's number as a key or as a value.

    Of JSON that is broken nothing is read.
    """
    read = read_values(visible)
    values = [standing.value for standing in read.values]
    behind = visible[read.values[-1].end :] if values and not read.whole else ""
    if not any(True for value in values for _ in _numbered(value)):
        keys = [name for number in questions for name in (f"Q{number}", f"question {number}", str(number))]
        match read_json(visible, keys=[*keys, "answer"]):
            case Found(value):
                values = [value]
            case _:
                return {}
    found: dict[int, tuple[Entry, ...]] = {}
    for number, part in (pair for value in values for pair in _numbered(value)):
        if number in questions:
            checked = validated(part if isinstance(part, dict) else {"answer": part}, Brief)
            found[number] = (*found.get(number, ()), _given(checked.value, several=checked.contradictory))
    if not found and len(questions) == 1:
        one = read_one(visible, Brief)
        return {number: (_given(one.value, several=one.failure == "contradictory"),) for number in questions}
    _add_corrections(found, behind, tuple(found))
    return found


def _given(brief: Brief | None, *, several: bool) -> Entry:
    return Entry(None, "", several) if brief is None else Entry(brief.answer, brief.reasoning)


def _add_corrections(found: dict[int, tuple[Entry, ...]], behind: str, about: Sequence[int]) -> None:
    """Adds what a text behind answers gives anew, to the questions that it names or else to those it is about.

    "Correction: 1. No" names a question as "Q1" does.
    """
    behind = _BARE_NUMBER.sub(r"Q\1 ", behind)
    numbers = {f"{word}{number}": number for number in found for word in ("q", "question ")}
    for again in corrections(behind, tuple(numbers)):
        for number in found.keys() & ([numbers[name] for name in again.ids] or about):
            found[number] = (*found[number], Entry(again.answer, ""))


def _numbered(value: Json) -> Iterator[tuple[int, Json]]:
    """Yields the numbers of questions inside a JSON value, each with what stands under it."""
    if isinstance(value, Mapping):
        own = [_QUESTION.fullmatch(str(part)) for key, part in value.items() if plain_key(key) in _NUMBER_KEYS]
        if own and own[0] is not None:
            yield int(own[0][own[0].lastindex or 0]), value
            return
        for key, part in value.items():
            number = _QUESTION.fullmatch(fold_text(key).strip())
            if number is not None:
                yield int(number[number.lastindex or 0]), part
            else:
                yield from _numbered(part)
    elif isinstance(value, list):
        for part in value:
            yield from _numbered(part)


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """Yields each question's number with what stands between it and the next one."""
    folded = fold_text(text)
    heads = list(_HEAD.finditer(folded)) or list(_BARE_HEAD.finditer(folded))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    for head, end in zip(heads, ends, strict=False):
        yield int(head[head.lastindex or 0]), text[head.end() : end]


def _entry(written: str, question: str) -> Entry:
    """Returns the answer and the reasoning in what was written to one question."""
    body = _LEAD.sub("", _without_question(_LEAD.sub("", written.replace("```", "")), question))
    if "|" in body:
        cells = [cell.strip() for cell in body.split("|") if cell.strip()]
        rivals = {read_yes_no_field(cell) for cell in cells if " " not in cell} - {None}
        answer = read_yes_no_field(cells[0]) if cells and len(rivals) < 2 else None
        return Entry(answer, " ".join(cells[1:]))
    reasoning = _REASONING.search(body)
    if reasoning is None:
        return _answered(body, "", body.partition("\n")[2])
    before, behind = body[: reasoning.start()].strip(), body[reasoning.start() :]
    if not before.strip(" .:-–—*_,"):  # the reasoning came first
        return Entry(read_yes_no_field(re.split(r"[)）\]】]", behind)[-1]), _plain(behind))
    return _answered(before, behind, _behind_reasoning(behind))


def _answered(written: str, reasoning: str, behind: str) -> Entry:
    """Returns the entry of an answer; it has none where another question's answer stands on the same line."""
    if _ANOTHER.search(written):
        return Entry(None, _plain(reasoning))
    answer = read_yes_no_field(written)
    if holds_several_answers(written) if answer is None else taken_back_inside(written, answer):
        return Entry(None, _plain(reasoning), several=True)
    return Entry(answer, _plain(reasoning), behind=behind)


def _behind_reasoning(text: str) -> str:
    """Returns what stands behind the bracket that a text opens with; without a bracket, behind its first line."""
    if text[0] not in _BRACKETS:
        return text.partition("\n")[2]
    opened = 0
    for place, sign in enumerate(text):
        opened += (sign in _BRACKETS) - (sign in _BRACKETS.values())
        if not opened:
            return text[place + 1 :]
    return ""


def _without_question(body: str, question: str) -> str:
    """Returns what stands behind the question, where it was repeated, in its own words or in others."""
    words = re.findall(r"\w+", question)
    repeated = re.match(r"\W*" + r"\W+".join(map(re.escape, words)) + r"\W*", body, re.IGNORECASE) if words else None
    if repeated is not None:
        rest = body[repeated.end() :]
        opens = re.search(r"[(（\[]\s*\Z", repeated[0])
        return (opens[0] if opens else "") + rest
    bracket = _BRACKET.search(body) or re.search(r"[(（]", body)
    mark = max(body.rfind(sign, 0, bracket.start() if bracket else len(body)) for sign in "?？")
    return body[mark + 1 :] if mark >= 0 else body


def _plain(reasoning: str) -> str:
    """Returns a reasoning without its brackets and its label."""
    text = " ".join(reasoning.split()).strip(" ()（）[]【】")
    return _LABELLED.sub("", text)


def _vote(questioning: Questioning, indicator: Indicator, entries: Sequence[Entry], calls: tuple[str, ...]) -> Vote:
    reason: MissingReason
    answers: dict[YesNo, str] = {entry.answer: entry.reasoning for entry in entries if entry.answer is not None}
    if not answers:
        several = any(entry.several for entry in entries)
        reason = "contradictory" if several else "unparsed" if entries else "left_out"
        detail = "the answer is neither yes nor no" if entries else "the answer does not have this number"
        detail = "more than one answer is given" if several else detail
        written = entries[-1].written or entries[-1].reasoning if entries else ""
        return Vote("missing", reason, calls=calls, detail=told(detail, written))
    if len(answers) > 1 or any(entry.several for entry in entries):
        detail = "the question is answered more than once, with different results"
        return Vote("missing", "contradictory", calls=calls, detail=detail)
    ((answer, reasoning),) = answers.items()
    brief = Brief(reasoning=reasoning, answer=answer)
    return questioning.vote(indicator, brief, calls, repaired=False, evidence=False)
