"""What scores without reading a character: constant answers and echoes, through the same matcher as any model.

A score means nothing until it stands beside these. The published table has none; there a reply without any text passes
every item of one category.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias, assert_never, get_args

from dramaturg.judge.matching.question import Kind, Question
from dramaturg.judge.matching.reply_text import ReplyText
from dramaturg.judge.matching.scored import Match, Scored, is_invalid

Baseline: TypeAlias = Literal["always_yes", "always_no", "most_frequent", "empty", "refuse_all", "echo"]
"""Who answers without reading. always_yes, always_no: the same word to everything. most_frequent: each category's most
frequent right answer, and that it knows nothing where facts are asked for; the strongest of the constant ones, for it
has seen the key. empty: nothing at all. refuse_all: declines as a model does. echo: the message."""

BASELINES: tuple[Baseline, ...] = get_args(Baseline)

_REFUSALS = {
    "en": "I'm sorry, but I can't help with that request.",
    "fr": "Je suis désolé, mais je ne peux pas répondre à cette demande.",
    "it": "Mi dispiace, ma non posso aiutarti con questa richiesta.",
    "zh": "抱歉，我无法协助处理这个请求。",
}

_IGNORANCE = {
    "en": "I know nothing of that.",
    "fr": "Je ne sais rien de cela.",
    "it": "Non ne so nulla.",
    "zh": "这事我一无所知。",
}


def baseline_scored(baseline: Baseline, planned: Iterable[Scored], match: Match) -> list[Scored]:
    """Returns what becomes of a baseline's replies, one for each item that can be scored.

    Args:
        baseline: Who answers.
        planned: Entries of the items, whoever's verdict they hold; an item's repeats count once.
        match: The matcher that the models' replies went through.
    """
    items = {one.item: one for one in planned if not is_invalid(one)}
    frequent = _most_frequent(one.question for one in items.values())
    return [
        Scored(one.item, one.character, one.question, match(one.question, _reply(baseline, one.question, frequent)))
        for one in items.values()
    ]


def _reply(baseline: Baseline, question: Question, frequent: Mapping[Kind, str]) -> ReplyText:
    match baseline:
        case "always_yes":
            return ReplyText(_answer(question.kind, "yes"))
        case "always_no":
            return ReplyText(_answer(question.kind, "no"))
        case "most_frequent":
            known = frequent.get(question.kind)
            return ReplyText(_in_language(_IGNORANCE, question) if known is None else _answer(question.kind, known))
        case "empty":
            return ReplyText("", end="empty")
        case "refuse_all":
            return ReplyText(_in_language(_REFUSALS, question))
        case "echo":
            return ReplyText(question.message)
        case _:
            assert_never(baseline)


def _answer(kind: Kind, word: str) -> str:
    """Returns a word in the form that every matcher takes for an answer of the category."""
    match kind:
        case "emotion":
            return json.dumps({"emotion": word, "text": "…"})
        case "decision" | "moral":
            return json.dumps({"decision": word})
        case "in_character" | "knows":
            return word
        case _:
            assert_never(kind)


def _most_frequent(questions: Iterable[Question]) -> dict[Kind, str]:
    """Returns each category's most frequent right answer; of equally frequent ones the first of the alphabet."""
    counts: defaultdict[Kind, Counter[str]] = defaultdict(Counter)
    for question in questions:
        if question.expected:
            counts[question.kind][question.expected] += 1
    return {kind: min(found, key=lambda word: (-found[word], word)) for kind, found in counts.items()}


def _in_language(texts: Mapping[str, str], question: Question) -> str:
    return texts.get(question.language, texts["en"])
