"""What is doubtful in a checklist: by the rules that the filter uses, and by what only a whole checklist shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from dramaturg.judge.checklist.benchmark import Benchmark
from dramaturg.judge.checklist.build.alike import likeness
from dramaturg.judge.checklist.build.lexicon import Lexicon, found_in, lexicon, without
from dramaturg.judge.checklist.build.rules import (
    Cast,
    Finding,
    Rule,
    cast_of,
    condition_of,
    findings,
    same_words,
)
from dramaturg.judge.checklist.checklist import Checklist, Indicator
from dramaturg.model.embeddings import Embedder

Severity = Literal["error", "warning"]

_ERRORS: frozenset[Rule] = frozenset({"not_yes_no", "human"})
"""Findings that make an indicator useless; the others may be right in a person's hand."""


@dataclass(frozen=True, slots=True)
class Lint:
    """One thing that is doubtful.

    Attributes:
        severity: An error makes answers meaningless; a warning wants a second look.
        rule: What it goes against.
        indicator: Id; empty where it is about the checklist.
        detail: What shows it, and what may be done.
    """

    severity: Severity
    rule: str
    indicator: str
    detail: str


async def lint(
    checklist: Checklist, embedder: Embedder, *, benchmark: Benchmark | None = None, source: Checklist | None = None
) -> list[Lint]:
    """Returns what is doubtful, errors first.

    Args:
        checklist: The checklist.
        embedder: What tells which questions mean the same.
        benchmark: Says which roles people play; without it, only general names of people are known.
        source: The checklist that it was translated from, as it is today; None where it is not to be found.
    """
    words = lexicon(checklist.language)
    cast = _cast(checklist, words, benchmark)
    found = [one for indicator in checklist.indicators for one in _of_indicator(indicator, words, cast)]
    found += await _duplicates(checklist.indicators, embedder, words)
    found += _of_translation(checklist, source)
    if words.empty:
        detail = f"there are no word lists for {checklist.language!r}: only form and duplicates were looked at"
        found.append(Lint("warning", "no_lexicon", "", detail))
    return sorted(found, key=lambda one: one.severity != "error")


def _cast(checklist: Checklist, words: Lexicon, benchmark: Benchmark | None) -> Cast:
    if benchmark is not None:
        known = cast_of(benchmark)
        return Cast(known.judged, tuple(dict.fromkeys((*known.people, *words.people))))
    roles = dict.fromkeys(role for indicator in checklist.indicators for role in indicator.roles)
    return Cast({role: (plain := role.replace("_", " "), f"{plain}s") for role in roles}, words.people)


def _of_indicator(indicator: Indicator, words: Lexicon, cast: Cast) -> Iterator[Lint]:
    for one in findings(indicator.text, words, cast, sign=indicator.sign, roles=indicator.roles):
        if one.rule != "negative":
            yield _lint(one, indicator, "text")
        elif not indicator.ask and indicator.proof is None:
            advice = "small judges overlook what is absent; give `ask`, a short question of what is there"
            yield Lint("warning", "avoidance", indicator.id, f"{one.detail}: {advice}")
    if indicator.ask:
        yield from _of_ask(indicator, words, cast)
    condition = condition_of(indicator.text, words)
    if condition and not indicator.not_applicable_when:
        detail = f"it asks only when {condition!r}, and not_applicable_when does not say what holds otherwise"
        yield Lint("warning", "open_condition", indicator.id, detail)


def _of_ask(indicator: Indicator, words: Lexicon, cast: Cast) -> Iterator[Lint]:
    """Yields what is doubtful in the short question: it must ask for presence, and its sign must fit."""
    for one in findings(indicator.ask, words, cast, sign="positive", roles=indicator.roles):
        if one.rule in {"not_yes_no", "human", "other_language", "too_long", "unanswerable", "leaking"}:
            yield _lint(one, indicator, "ask")
    turned = (
        *found_in(without(indicator.ask, words.neutral), words.avoidance),
        *found_in(_head(indicator.ask), words.negations),
    )
    if turned:
        yield Lint("warning", "avoidance", indicator.id, f"ask: {', '.join(turned)}: `ask` must ask for what is there")
    if same_words(indicator.ask) == same_words(indicator.text):
        yield Lint("warning", "duplicate", indicator.id, "ask: it has the words of `text`; leave it out")
    if not indicator.turned and found_in(indicator.ask, words.faults) and not turned and indicator.sign == "positive":
        detail = f"ask: {', '.join(found_in(indicator.ask, words.faults))} is a fault, and ask_sign is positive"
        yield Lint("warning", "wrong_sign", indicator.id, detail)


def _head(text: str) -> str:
    """Returns the words in which a negation turns the whole question, not a part of it."""
    return " ".join(text.split()[:2])


def _lint(finding: Finding, indicator: Indicator, key: str) -> Lint:
    severity: Severity = "error" if finding.rule in _ERRORS else "warning"
    return Lint(severity, finding.rule, indicator.id, f"{key}: {finding.detail}")


async def _duplicates(indicators: Sequence[Indicator], embedder: Embedder, words: Lexicon) -> list[Lint]:
    likes = await likeness(embedder, [indicator.text for indicator in indicators], words)
    found: list[Lint] = []
    for at, one in enumerate(indicators):
        for before, other in enumerate(indicators[:at]):
            if same_words(one.text) == same_words(other.text):
                found.append(Lint("error", "duplicate", one.id, f"has the words of {other.id}"))
            elif likes.same(at, before):
                detail = f"may mean the same as {other.id}: {other.text} (compared by {likes.by})"
                found.append(Lint("warning", "near_duplicate", one.id, detail))
    return found


def _of_translation(checklist: Checklist, source: Checklist | None) -> Iterator[Lint]:
    told = checklist.translation
    if told is None:
        return
    if source is None:
        yield Lint("warning", "unknown_source", "", f"the checklist {told.source!r} that it translates is not here")
        return
    if source.hash != told.source_hash:
        detail = (
            f"{told.source} has changed since it was translated: version {told.version} then, {source.version} now; "
            "look over what differs, then set source_hash to its hash today"
        )
        yield Lint("warning", "stale_translation", "", f"{detail} ({source.hash})")
    ids, own = ({indicator.id for indicator in one.indicators} for one in (source, checklist))
    if missing := sorted(ids - own):
        yield Lint(
            "warning", "stale_translation", "", f"{told.source} has indicators that are not here: {', '.join(missing)}"
        )
    if extra := sorted(own - ids):
        yield Lint("warning", "stale_translation", "", f"{told.source} does not have: {', '.join(extra)}")
