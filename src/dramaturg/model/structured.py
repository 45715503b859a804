"""Structured answers: a pydantic type goes in, a validated value or a typed failure comes out.

The ladder: the server is given the schema (where it refuses, the endpoint asks for JSON or sends none); whatever comes
back is read tolerantly, as JSON or as labelled lines; what does not fit is asked once more with the problem quoted,
in lines where the caller has that form; then it is a typed failure. A cut answer is asked once more with twice the
tokens. So a call costs two asks at most, three where one was cut. There is never a default value.

What says two things says nothing (`contradictory`): an object with different answers in it, an id with different
answers anywhere in the reply, an answer that the text behind it takes back. Two forms have a last word that counts:
of whole objects that answer one question, the last; of lines with one label, the last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel

from dramaturg.model.answer_type import answer_schema, field_labels, list_schema, validated, yes_no_field
from dramaturg.model.corrections import Correction
from dramaturg.model.labelled import id_reader
from dramaturg.model.many_answers import Entry, Form, read_many
from dramaturg.model.one_answer import Reading, read_one, settled
from dramaturg.model.reply import Asked, Reply
from dramaturg.model.request import AnswerSchema, Message
from dramaturg.prompts import load_prompt

AnswerT = TypeVar("AnswerT", bound=BaseModel)
ItemT = TypeVar("ItemT", bound=BaseModel)

StructuredFailure = Literal[
    "",
    "unparsed",
    "contradictory",
    "truncated",
    "budget_spent_on_reasoning",
    "refused",
    "empty",
    "degenerate",
    "context_overflow",
]
ItemFailure = Literal[StructuredFailure, "left_out"]

PROMPTS = ("structured-lines", "structured-reask", "structured-reask-lines")
"""Prompts that this module adds to a chat, for records."""

MOST_ASKS = 3
"""Calls that one answer can cost: the first, one more for what does not fit, one more where an answer was cut."""

_QUOTED_CHARACTERS = 1500
_CUT: frozenset[str] = frozenset({"truncated", "budget_spent_on_reasoning"})
_WORTH_ASKING_AGAIN: frozenset[str] = frozenset({"unparsed", "contradictory", "left_out", "empty", "degenerate"})


class Ask(Protocol):
    """Sends one chat and returns the committed answer; bound to a model, a step and a purpose."""

    async def __call__(
        self, messages: Sequence[Message], *, schema: AnswerSchema | None, attempt: int, more_tokens: bool = False
    ) -> Asked:
        """Returns the answer; `more_tokens` doubles the limit of tokens."""
        ...


@dataclass(frozen=True, slots=True)
class Structured(Generic[AnswerT]):
    """A validated value, or a typed failure; never a default.

    Attributes:
        value: The answer, or None.
        failure: Why there is none; empty otherwise.
        detail: One line for people.
        text: The visible text of the last reply.
        repaired: Whether it needed a tolerant reading.
        keys: The ledger's keys of all asks, oldest first.
    """

    value: AnswerT | None
    failure: StructuredFailure
    detail: str
    text: str
    repaired: bool
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListFailure:
    """Why there is no item for an id.

    Attributes:
        reason: ``left_out`` where the answer does not have the id.
        detail: One line for people.
    """

    reason: ItemFailure
    detail: str


@dataclass(frozen=True, slots=True)
class ListAnswer(Generic[ItemT]):
    """One item or one failure for every id that was asked.

    Attributes:
        items: Item by id, in the order asked.
        failures: Failure by id, in the order asked.
        repaired: Ids whose item needed a tolerant reading.
        ignored: Entries whose id was not asked, over all replies.
        text: The visible text of the last reply.
        keys: The ledger's keys of all asks, oldest first; their number is the number of calls.
    """

    items: dict[str, ItemT]
    failures: dict[str, ListFailure]
    repaired: frozenset[str]
    ignored: int
    text: str
    keys: tuple[str, ...]


async def ask_structured(
    ask: Ask,
    messages: Sequence[Message],
    answer: type[AnswerT],
    *,
    name: str,
    lines: str = "",
    language: str = "en",
) -> Structured[AnswerT]:
    """Returns a validated value or a typed failure.

    Args:
        ask: Sends one chat.
        messages: The chat; its last message says which keys the JSON object has.
        answer: What is wanted. Declare reasoning first, so that it is written first.
        name: Name of the schema, for the server.
        lines: How to answer in labelled lines, shown when the first answer could not be used; empty: ask for JSON.
        language: Of what is added to the chat, ISO 639-1.
    """
    schema: AnswerSchema | None = answer_schema(answer, name)
    chat = tuple(messages)
    keys: list[str] = []
    asked_again = more_tokens = False
    while True:
        asked = await ask(chat, schema=schema, attempt=len(keys), more_tokens=more_tokens)
        keys.append(asked.key)
        value, failure, detail, repaired = _read_answer(asked.reply, answer)
        if failure in _CUT and not more_tokens:
            more_tokens = True
        elif failure in _WORTH_ASKING_AGAIN and not asked_again:
            asked_again = True
            schema = None if lines else schema
            chat = (*messages, *_reask(asked.reply.text, failure, detail, lines, language))
        else:
            return Structured(value, failure, detail, asked.reply.text, repaired, tuple(keys))


async def ask_list(
    ask: Ask,
    messages_for: Callable[[Sequence[str]], Sequence[Message]],
    ids: Sequence[str],
    item: type[ItemT],
    *,
    name: str,
    id_field: str = "id",
    decisive: str = "answer",
    lines_for: Callable[[Sequence[str]], Sequence[Message]] | None = None,
) -> ListAnswer[ItemT]:
    """Returns one item or one typed failure per id, from one reply that answers them all.

    Valid items are kept; only ids that are missing, invalid or answered twice with different results are asked once
    more. Read are an object whose key ``answers`` (or any other) holds the list, a bare list, an object keyed by id,
    objects one after the other, and lines that begin with the id. A cut reply gives the items that were complete.

    Args:
        ask: Sends one chat.
        messages_for: Makes the chat that asks for these ids.
        ids: What is asked; distinct.
        item: What is wanted for each.
        name: Name of the schema, for the server.
        id_field: The item's key that holds the id.
        decisive: The item's key that holds the answer itself: two entries with one id may differ in anything else. It
            is also what a line such as ``ID: yes`` fills. Where the type has no such key, entries must be equal.
        lines_for: As `messages_for`, but asks for lines; used for the second ask where the first gave no item at all.
    """
    gathered = _Gathered(item, id_field, decisive, tuple(ids))
    messages, schema_wanted = messages_for, True
    asked_again = more_tokens = False
    keys: list[str] = []
    if not ids:
        return gathered.answer("", ())
    while True:
        open_ids = gathered.open_ids
        schema = list_schema(item, name, id_field=id_field, ids=open_ids) if schema_wanted else None
        chat = messages(open_ids)
        asked = await ask(chat, schema=schema, attempt=len(keys), more_tokens=more_tokens)
        keys.append(asked.key)
        gathered.take(asked.reply)
        reasons = {failure.reason for failure in gathered.failures.values()}
        if reasons & _CUT and not more_tokens:
            more_tokens = True
        elif reasons & _WORTH_ASKING_AGAIN and not asked_again:
            asked_again = True
            if lines_for is not None and not gathered.items:
                messages, schema_wanted = lines_for, False
        else:
            return gathered.answer(asked.reply.text, tuple(keys))


def _reask(text: str, failure: StructuredFailure, problem: str, lines: str, language: str) -> list[Message]:
    """Returns what is added to the chat: the answer and its problem, or the other form where there was no answer."""
    if failure not in {"unparsed", "contradictory"}:
        return [Message("user", load_prompt("structured-lines", language).fill(lines=lines))] if lines else []
    if lines:
        told = load_prompt("structured-reask-lines", language).fill(problem=problem, lines=lines)
    else:
        told = load_prompt("structured-reask", language).fill(problem=problem)
    return [Message("assistant", _shortened(text)), Message("user", told)]


def _shortened(text: str) -> str:
    if len(text) <= _QUOTED_CHARACTERS:
        return text
    half = _QUOTED_CHARACTERS // 2
    return f"{text[:half]} […] {text[-half:]}"


def failure_of(reply: Reply) -> StructuredFailure:
    """Returns why a reply holds no answer, going by its status; empty where its text must be read."""
    match reply.status:
        case "ok":
            return ""
        case "truncated" if reply.reasoning and not reply.text.strip():
            return "budget_spent_on_reasoning"
        case "truncated" | "refused" | "empty" | "degenerate" | "context_overflow":
            return reply.status
        case "malformed" | "failed":
            raise AssertionError(f"a reply that is {reply.status} is never committed")


def _read_answer(reply: Reply, answer: type[AnswerT]) -> tuple[AnswerT | None, StructuredFailure, str, bool]:
    """Returns value, failure, detail, and whether the reading was tolerant."""
    failure = failure_of(reply)
    if failure not in {"", "truncated"}:
        return None, failure, reply.detail or failure, False
    read = read_one(reply.text, answer, cut=failure == "truncated")
    if read.value is None and failure == "truncated":
        return None, failure, reply.detail or "the answer was cut at the limit of tokens", False
    return read.value, read.failure, read.detail, read.repaired


@dataclass(slots=True)
class _Gathered(Generic[ItemT]):
    """What the replies have given so far."""

    item: type[ItemT]
    id_field: str
    decisive: str
    ids: tuple[str, ...]
    items: dict[str, ItemT] = field(default_factory=dict[str, ItemT])
    failures: dict[str, ListFailure] = field(default_factory=dict[str, ListFailure])
    repaired: set[str] = field(default_factory=set[str])
    ignored: int = 0

    @property
    def open_ids(self) -> tuple[str, ...]:
        return tuple(name for name in self.ids if name not in self.items)

    def take(self, reply: Reply) -> None:
        """Takes the items of a reply that answers the open ids; what it does not give becomes a failure."""
        open_ids = self.open_ids
        failure = failure_of(reply)
        readable = failure in {"", "truncated"}
        entries, around = self._read(reply.text, open_ids, cut=failure == "truncated") if readable else ([], [])
        missing: ItemFailure = failure or ("left_out" if entries else "unparsed")
        none = "the answer does not have this id" if entries else "no answer has the id of a question"
        detail = reply.detail or failure or none
        self.failures = {name: ListFailure(missing, detail) for name in open_ids}
        named = id_reader(open_ids)
        read: dict[str, list[Reading[ItemT]]] = {}
        for entry in entries:
            name = named(entry.id)
            if name is None:
                self.ignored += 1
                continue
            checked = validated({**entry.fields, self.id_field: name}, self.item)
            read.setdefault(name, []).append(settled(checked, entry.behind, repaired=entry.repaired))
        for name, readings in read.items():
            self._settle(name, readings, [one.answer for one in around if not one.ids or name in one.ids])

    def answer(self, text: str, keys: tuple[str, ...]) -> ListAnswer[ItemT]:
        items = {name: self.items[name] for name in self.ids if name in self.items}
        return ListAnswer(items, self.failures, frozenset(self.repaired), self.ignored, text, keys)

    def _settle(self, name: str, readings: Sequence[Reading[ItemT]], again: Sequence[str]) -> None:
        """Takes the last entry of an id, unless it is invalid or something else in the reply says otherwise.

        Args:
            name: The id.
            readings: Its entries.
            again: Answers that the text around the entries gives it anew.
        """
        last = readings[-1]
        decisions = [self._decision(reading.value) for reading in readings if reading.value is not None]
        if last.value is None:
            self.failures[name] = ListFailure(last.failure, last.detail)
        elif any(decision != decisions[-1] for decision in decisions):
            self.failures[name] = ListFailure("contradictory", "the answer has this id twice, with different results")
        elif any(answer != decisions[-1] for answer in again):
            self.failures[name] = ListFailure("contradictory", "the text behind the answer says something else")
        else:
            self.items[name] = last.value
            del self.failures[name]
            if last.repaired:
                self.repaired.add(name)

    def _decision(self, value: ItemT) -> object:
        return getattr(value, self.decisive, value)

    def _read(self, text: str, open_ids: Sequence[str], *, cut: bool) -> tuple[list[Entry], list[Correction]]:
        labels = tuple(label for label in field_labels(self.item) if label != self.id_field)
        entries, around = read_many(text, Form(self.id_field, self.decisive, labels), self.ids, open_ids, cut=cut)
        return entries, around if self.decisive == yes_no_field(self.item) else []
