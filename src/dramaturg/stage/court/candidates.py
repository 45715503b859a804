"""The prosecutor's choice: of several drafts, the one that accuses most and serves the player's goal least.

Source: RPA-Check, section 4.3.2, equation 7: the candidate with the highest strength − lambda · similarity to the
user's goal.
Both numbers lie between 0 and 1, so that lambda 1 lets them weigh the same.

Drafts are drawn one after the other: they share their whole prompt, so that a server computes it once. What was chosen
and what was weighed stands in the transcript's states, each draft in the ledger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from pydantic import BaseModel, Field

from dramaturg.model import Message, Reply, Sampling
from dramaturg.model.answer_masses import HIGHEST, RIVALS, answer_masses
from dramaturg.model.embeddings import LEXICAL, WordsOnly, local_embedder, similarities
from dramaturg.model.vocabulary import yes_no_synonyms
from dramaturg.prompts import quote_untrusted
from dramaturg.stage.cast import ModelSeat
from dramaturg.stage.court.draw import Ask, Draw, Drawn
from dramaturg.stage.court.record import exhibits
from dramaturg.stage.court.setting import Setting
from dramaturg.stage.court.speech import one_line
from dramaturg.text import Json, canonical_json

LEAST_MASS = 0.05
"""Probability that must lie on yes and no together; below it the model was not answering the question."""

STRENGTH_NAMES = frozenset({"matter", "speaker", "text"})
"""What the prompts that weigh a draft name, all of it."""

_ONE_WORD = Sampling(temperature=0.0, max_tokens=4, top_logprobs=RIVALS)
_RATING = Sampling(temperature=0.0, max_tokens=40)
_BEST = 10


class Rating(BaseModel):
    """How strongly a draft accuses."""

    strength: int = Field(ge=0, le=_BEST)


@dataclass(frozen=True, slots=True)
class Weighed:
    """A number for each draft, and what it was measured by; numbers of two measures are never mixed."""

    values: tuple[float, ...]
    by: str


async def draw_best(setting: Setting, seat: ModelSeat, ask: Ask, draw: Draw) -> Drawn:
    """Returns the draft with the highest score; the first of those that are level.

    A draft of which nothing can be used is left out. Where none can be used, the first stands as it is.

    Args:
        setting: The trial.
        seat: Who plays the prosecutor.
        ask: What one draft is drawn with. Nothing is heard of drafts: it is not known yet which is said.
        draw: Draws one draft.
    """
    options = setting.staging
    drafts: list[Drawn] = []
    for number in range(options.candidates):
        step = f"{ask.step}/candidate/{number}" if number else ask.step
        drafts.append(await draw(replace(ask, step=step, on_text=None)))
        if drafts[-1].fault == "context_overflow":  # the others have the same prompt
            return drafts[-1]
    usable = [number for number, draft in enumerate(drafts) if not draft.fault and not draft.is_stated]
    texts = [drafts[number].text for number in usable]
    strength = await _strengths(setting, seat, texts, ask)
    similarity = await _similarities(setting, texts)
    pairs = dict(zip(usable, zip(strength.values, similarity.values, strict=True), strict=True))
    scores = {number: strong - options.weight * alike for number, (strong, alike) in pairs.items()}
    chosen = max(usable, key=lambda number: (scores[number], -number), default=0)
    measures: dict[str, Json] = {"chosen": chosen, "lambda": options.weight}
    measures |= {"similarity_by": similarity.by, "strength_by": strength.by}
    weighed = [
        (f"candidate:{number}", canonical_json(_record(draft, pairs.get(number), scores.get(number))))
        for number, draft in enumerate(drafts)
    ]
    return replace(drafts[chosen], changes=(*weighed, ("candidate", canonical_json(measures))))


def _record(draft: Drawn, pair: tuple[float, float] | None, score: float | None) -> Json:
    """Returns what is kept of a draft: its call, its numbers, or why it has none."""
    if pair is None or score is None:
        cause = draft.fault or next((detail for kind, detail in draft.cures if kind == "fallback"), "")
        return {"call": draft.key, "fault": cause}
    strength, similarity = pair
    return {
        "call": draft.key,
        "score": round(score, 6),
        "similarity": round(similarity, 6),
        "strength": round(strength, 6),
    }


async def _similarities(setting: Setting, texts: Sequence[str]) -> Weighed:
    """Returns how alike each draft is to the player's goal.

    The bundled model is used and never a server's: what a server embeds is not in the ledger, and a rerun would
    depend on it.
    """
    embedder = WordsOnly() if setting.staging.similarity == "lexical" else local_embedder()
    found = await similarities(embedder, one_line(setting.case.goal), texts)
    return Weighed(found.values, found.by)


async def _strengths(setting: Setting, seat: ModelSeat, texts: Sequence[str], ask: Ask) -> Weighed:
    match setting.staging.strength:
        case "logprob":
            found = await _by_logprob(setting, seat, texts, ask)
        case "rating":
            found = await _by_rating(setting, seat, texts, ask)
        case "lexical":
            found = None
        case _:
            assert_never(setting.staging.strength)
    return found or await _by_words(setting, texts)


async def _by_logprob(setting: Setting, seat: ModelSeat, texts: Sequence[str], ask: Ask) -> Weighed | None:
    """Returns what the model puts on yes against no; None where a server has no log-probabilities for one of them."""
    values: list[float] = []
    for number, text in enumerate(texts):
        asked = await setting.calls.ask(
            seat.model,
            (Message("user", setting.prompt("strength").fill(**_values(setting, ask, text))),),
            step=f"{ask.step}/strength/{number}",
            role=ask.speaker.kind,
            purpose="strength",
            sampling=_ONE_WORD,
            labels=ask.labels,
        )
        share = _share_of_yes(asked.reply, setting.case.language)
        if share is None:
            return None
        values.append(share)
    return Weighed(tuple(values), "probability of yes")


def _share_of_yes(reply: Reply, language: str) -> float | None:
    if any(entry.logprob > HIGHEST for entry in reply.logprobs):
        return None
    synonyms = yes_no_synonyms("en", language).items()
    masses = answer_masses(reply.logprobs, {word: answer for word, answer in synonyms if answer in {"yes", "no"}})
    yes, no = masses.get("yes", 0.0), masses.get("no", 0.0)
    return yes / (yes + no) if yes + no >= LEAST_MASS else None


async def _by_rating(setting: Setting, seat: ModelSeat, texts: Sequence[str], ask: Ask) -> Weighed | None:
    """Returns the model's own rating as a share of the best; None where one of them cannot be read."""
    values: list[float] = []
    for number, text in enumerate(texts):
        structured = await setting.calls.ask_structured(
            seat.model,
            (Message("user", setting.prompt("strength-rating").fill(**_values(setting, ask, text))),),
            Rating,
            step=f"{ask.step}/strength/{number}",
            role=ask.speaker.kind,
            purpose="strength-rating",
            sampling=_RATING,
            labels=ask.labels,
            lines=setting.prompt("strength-rating-lines").fill(),
        )
        if structured.value is None:
            return None
        values.append(structured.value.strength / _BEST)
    return Weighed(tuple(values), f"rating from 0 to {_BEST}")


async def _by_words(setting: Setting, texts: Sequence[str]) -> Weighed:
    accusation = f"{one_line(setting.case.at_issue)}\n{exhibits(setting.case)}"
    found = await similarities(WordsOnly(), accusation, texts)
    return Weighed(found.values, f"{LEXICAL} to the charge and the exhibits")


def _values(setting: Setting, ask: Ask, text: str) -> dict[str, str]:
    return {
        "matter": one_line(setting.case.at_issue),
        "speaker": one_line(ask.speaker.name),
        "text": quote_untrusted(text, "</turn>"),
    }
