"""What a model makes of a form: a narrator's typed answers, a rater's numbers, a judge's yes or no.

Each is asked as in a play, a rating or a judging, and read by the same parsers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from pydantic import BaseModel

from dramaturg.judge.checklist.answers import Decided
from dramaturg.judge.checklist.probability import LEAST_MASS, TOKENS
from dramaturg.judge.rating.answers import ListedRating, Rated
from dramaturg.judge.rating.asking import CRITIQUE, CRITIQUE_TOKENS, PURPOSE, ROLE, SINGLE_TOKENS, TOKENS_PER_RATING
from dramaturg.ledger import Calls
from dramaturg.ledger.keys import schema_json
from dramaturg.model import AnswerSchema, Message, Model, Reply, Sampling
from dramaturg.model.answer_masses import HIGHEST, RIVALS, answer_masses
from dramaturg.model.answer_type import answer_schema
from dramaturg.model.one_answer import read_one
from dramaturg.model.structured import ask_list, failure_of
from dramaturg.model.vocabulary import YesNo, read_yes_no, yes_no_synonyms
from dramaturg.prompts import load_prompt
from dramaturg.stage.world.answers import (
    NONE,
    EnvironmentUpdate,
    Influence,
    InfluenceOrUpdate,
    Result,
    Update,
    closed,
    is_blank,
)
from dramaturg.stage.world.limits import DEFAULT_LIMITS
from dramaturg.stage.world.setting import NARRATOR
from dramaturg.stage.world.written import prose, read_influences
from dramaturg.train.comparing import Marks
from dramaturg.train.comparing_prompts import filled_with
from dramaturg.train.example import Example
from dramaturg.train.narrator import usable_answer
from dramaturg.train.reading import Call

VALID = "valid"
"""Measure: an answer can be read as a play reads it."""

CONSISTENT = "consistent"
"""Measure: it is valid, in its form, about somebody who is there, and neither copies nor repeats."""

ANSWER = "answer"
LIKELY = "probability"
"""Measures of a judge: whether it says yes, and how likely a yes is."""

_NARRATOR_PARTS: Mapping[type[BaseModel], int] = {
    Influence: 1, InfluenceOrUpdate: 2, Result: 3, Update: 1, EnvironmentUpdate: 2
}  # fmt: skip
_JUDGED_TOKENS = 400
_ONE_WORD = 2
"""Words up to which a yes or no is asked for by itself."""

_OUTSIDE = frozenset({"context_overflow"})
"""What says nothing of an answer: it is missing, and not wrong."""


async def mark_narrated(example: Example, model: Model, calls: Calls) -> Marks:
    """Returns whether a model's answer as a narrator is valid, and consistent too: 1 where it is.

    Raises:
        UnitStopped: The endpoint failed.
        LimitReached: A budget is used up.
    """
    form, ids = _narrator_form(example)
    enforced = closed(form, ids) if form is not None and ids and issubclass(form, Influence) else form
    schema = answer_schema(enforced, example.purpose) if enforced is not None else None
    parts = 1 if form is None else _NARRATOR_PARTS[form]
    asked = await calls.ask(
        model,
        example.messages,
        step="narrated",
        role=NARRATOR,
        purpose=example.purpose,
        sampling=Sampling(DEFAULT_LIMITS.narrator_temperature, parts * DEFAULT_LIMITS.narrator_tokens),
        schema=schema,
    )
    reply = asked.reply
    if reply.status in _OUTSIDE:
        return Marks(missing=reply.status, calls=(asked.key,))
    valid = _is_valid(example, reply, form)
    names = {name.casefold() for name in example.characters}
    consistent = valid and not usable_answer(_as_call(example, reply, schema), example.messages, names)[1]
    values = {VALID: float(valid), CONSISTENT: float(consistent)}
    return Marks(values, text=reply.text, calls=(asked.key,))


def _narrator_form(example: Example) -> tuple[type[BaseModel] | None, tuple[str, ...]]:
    """Returns the form that a narrator is asked for, and the ids that it may name; no form where it is free text."""
    if not example.answer.lstrip().startswith("{"):
        return None, ()
    match example.purpose:
        case "influence":
            form, name = Influence, "world-influence"
            if '"position"' in example.answer:
                form, name = InfluenceOrUpdate, "world-influence-or-update"
            found = filled_with(load_prompt(name, example.language), example.messages[-1].text, long="deed")
            listed = found["ids"].replace("，", ",").replace("、", ",").split(",") if found is not None else []
            return form, tuple(one.strip() for one in listed if one.strip() not in {"", NONE})
        case "result":
            return Result, ()
        case "update":
            return Update, ()
        case _:
            return EnvironmentUpdate, ()


def _is_valid(example: Example, reply: Reply, form: type[BaseModel] | None) -> bool:
    if reply.status not in {"ok", "truncated"}:
        return False
    if form is not None:
        return read_one(reply.text, form, cut=reply.status == "truncated").value is not None
    if example.purpose == "result":
        return not is_blank(prose(reply.text, ("result",)))
    return bool(read_influences(reply.text)) or read_one(reply.text, Influence).value is not None


def _as_call(example: Example, reply: Reply, schema: AnswerSchema | None) -> Call:
    """Returns an answer as a ledger holds it, for the reading that training data go through."""
    return Call(
        key="",
        unit="",
        step="",
        attempt=0,
        role=NARRATOR,
        purpose=example.purpose,
        model="",
        status=reply.status,
        text=reply.text,
        answer_schema=schema_json(schema) if schema is not None else "",
        last_message="",
    )


def teachers_ratings(example: Example) -> dict[str, float]:
    """Returns what the teacher rated, by the name of the metric; nothing where the answer holds no ratings."""
    if (single := read_one(example.answer, Rated).value) is not None:
        return {example.source.rpartition("/")[2]: float(single.rating)}
    try:
        whole = cast("dict[str, Any]", json.loads(example.answer))
        listed = [ListedRating.model_validate(entry) for entry in whole["answers"]]
    except (ValueError, KeyError, TypeError):
        return {}
    return {one.id: float(one.rating) for one in listed}


async def mark_rated(example: Example, model: Model, calls: Calls) -> Marks:
    """Returns a model's own ratings by the name of the metric; where a critique stands before them, its own too.

    Raises:
        UnitStopped: The endpoint failed.
        LimitReached: A budget is used up.
    """
    wanted = teachers_ratings(example)
    messages, keys = example.messages, ()
    if sum(message.role == "assistant" for message in messages) > 1:
        *before, _, question = messages
        criticised = await calls.ask(
            model, before, step=CRITIQUE, role=ROLE, purpose=CRITIQUE, sampling=Sampling(0.0, CRITIQUE_TOKENS)
        )
        critique, keys = criticised.reply.text.strip(), (criticised.key,)
        failure = failure_of(criticised.reply)
        if failure not in {"", "truncated"} or not critique:
            return Marks(missing=failure or "empty", calls=keys)
        messages = (*before, Message("assistant", critique), question)
    if len(wanted) == 1 and example.source.rpartition("/")[2] in wanted:
        answered = await calls.ask_structured(
            model,
            messages,
            Rated,
            step=PURPOSE,
            role=ROLE,
            purpose=PURPOSE,
            sampling=Sampling(0.0, SINGLE_TOKENS),
            language=example.language,
        )
        values = {name: float(answered.value.rating) for name in wanted} if answered.value is not None else {}
        failure = answered.failure if answered.value is None else ""
        return Marks(values, failure, answered.text, (*keys, *answered.keys))
    chat = messages
    listed = await ask_list(
        calls.asker(
            model,
            step=PURPOSE,
            role=ROLE,
            purpose=PURPOSE,
            sampling=Sampling(0.0, TOKENS_PER_RATING * (len(wanted) + 1)),
        ),
        lambda _: chat,
        tuple(wanted),
        ListedRating,
        name=PURPOSE,
        decisive="rating",
    )
    values = {name: float(item.rating) for name, item in listed.items.items()}
    reasons = sorted({missing.reason for missing in listed.failures.values()})
    return Marks(values, ", ".join(reasons) if not values else "", listed.text, (*keys, *listed.keys))


def teachers_answer(example: Example) -> bool | None:
    """Returns whether the wanted answer is yes; None where it is neither yes nor no."""
    return _decided(example.answer)


async def mark_judged(example: Example, model: Model, calls: Calls) -> Marks:
    """Returns whether a model says yes, and how likely it holds a yes where its server tells.

    A question that is answered in one word is asked for one, of which the probability is read; another as it is.

    Raises:
        UnitStopped: The endpoint failed.
        LimitReached: A budget is used up.
    """
    one_word = len(example.answer.split()) <= _ONE_WORD and not example.answer.lstrip().startswith("{")
    in_form = example.answer.lstrip().startswith("{")
    asked = await calls.ask(
        model,
        example.messages,
        step="judged",
        role=ROLE,
        purpose=example.purpose or "indicator",
        sampling=Sampling(0.0, TOKENS, top_logprobs=RIVALS) if one_word else Sampling(0.0, _JUDGED_TOKENS),
        schema=answer_schema(Decided, example.purpose or "indicator") if in_form else None,
    )
    reply = asked.reply
    if reply.status in {"refused", *_OUTSIDE}:
        return Marks(missing=reply.status, calls=(asked.key,))
    likely = _probability(reply, example.language) if one_word else None
    said = likely > 0.5 if likely is not None and likely != 0.5 else _decided(reply.text)
    values = {LIKELY: likely} if likely is not None else {}
    if said is not None:
        values[ANSWER] = float(said)
    return Marks(values, "" if values else "unparsed", reply.text, (asked.key,))


def _probability(reply: Reply, language: str) -> float | None:
    """Returns how likely a yes is among yes and no; None where the server does not tell, or neither is likely."""
    if not reply.logprobs or any(
        logprob > HIGHEST for token in reply.logprobs for _, logprob in (*token.top, ("", token.logprob))
    ):
        return None
    words: dict[str, YesNo] = {
        word: answer for word, answer in yes_no_synonyms("en", language).items() if answer != "not_applicable"
    }
    masses = answer_masses(reply.logprobs, words)
    yes, no = masses.get("yes", 0.0), masses.get("no", 0.0)
    return yes / (yes + no) if yes + no >= LEAST_MASS else None


def _decided(text: str) -> bool | None:
    read = read_one(text, Decided)
    answer = read.value.answer if read.value is not None else None
    if answer is None and not read.failure == "contradictory":
        answer = read_yes_no(text)
    return None if answer not in {"yes", "no"} else answer == "yes"
