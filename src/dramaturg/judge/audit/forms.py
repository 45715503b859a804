"""Faults of form: they are faults in any transcript of their language, so that a rule can plant them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from dramaturg.judge.audit.draft import VERDICT_PHASE, Draft, inserted, sentences
from dramaturg.judge.audit.mutation import Severity
from dramaturg.judge.audit.phrases import Phrases, phrases
from dramaturg.stage.transcript import Turn

LONG_TURN = 12
"""Words from which a turn that comes back is a loop and not a habit."""

OPENERS = ("Well.", "Again.", "So.", "Indeed.")
"""One more word leaves a turn nearly the same, as a stuck model varies its opening."""

FEWEST_REPEATS = 2
"""Turns that a severe loop takes."""

_EXHIBIT = re.compile(r"\bE(\d{1,3})\b")

_Planted = tuple[Draft, tuple[str, ...], str, str]


@dataclass(frozen=True, slots=True)
class _Wording:
    """One way to say a fault, and whether it takes the place of a turn."""

    words: str
    replaces: bool


def worded(kind: str, roles: Sequence[str], draft: Draft, severity: Severity, rng: Random) -> _Planted | None:
    """Returns the draft with one of the wordings of a fault, put into a turn or in its place.

    Args:
        kind: The fault.
        roles: Kinds of roles that can make it; none for all.
        draft: What to edit.
        severity: How plain.
        rng: Chooses turn, wording and place.
    """
    wording = _drawn(kind, draft, severity, rng)
    return wording and _say(wording, draft, rng, _places(wording, draft, roles))


def role_swap(draft: Draft, severity: Severity, rng: Random) -> _Planted | None:
    """Returns the draft with a turn whose speaker speaks as a role of another kind."""
    texts = phrases(draft.transcript.scenario.language)
    wording = _drawn("role_swap", draft, severity, rng)
    if texts is None or wording is None or not (turns := _places(wording, draft)):
        return None
    turn = rng.choice(turns)
    other = draft.other_role(turn, rng)
    if other is None:
        return None
    line = rng.choice(texts.lines.get(other.kind) or texts.lines["other"])
    filling = {"name": other.name, "kind": other.kind.replace("_", " "), "line": line}
    return _say(wording, draft, rng, [turn], filling)


def judge_opines(draft: Draft, severity: Severity, rng: Random) -> _Planted | None:
    """Returns the draft with a judge who says before the verdict that the charge is true."""
    wording = _drawn("judge_opines_guilt", draft, severity, rng)
    early = [turn for turn in draft.turns(("judge",)) if turn.phase and turn.phase != VERDICT_PHASE]
    return wording and _say(wording, draft, rng, early)


def non_sequitur(draft: Draft, severity: Severity, rng: Random) -> _Planted | None:
    """Returns the draft with a turn that leaves the subject without a reason."""
    wording = _drawn("non_sequitur", draft, severity, rng)
    return wording and _say(wording, draft, rng, [turn for turn in _places(wording, draft) if turn.id != "T1"])


def invented_exhibit(draft: Draft, severity: Severity, rng: Random) -> _Planted | None:
    """Returns the draft with an exhibit that the reference does not list; it must number its exhibits E1, E2 …."""
    numbers = {int(found) for found in _EXHIBIT.findall(draft.transcript.scenario.reference)}
    wording = _drawn("invented_evidence", draft, severity, rng)
    if not numbers or wording is None:
        return None
    number = max(numbers) + rng.randint(2, 9)
    return _say(wording, draft, rng, _places(wording, draft), {"number": str(number)})


def loop(draft: Draft, severity: Severity, rng: Random) -> _Planted | None:
    """Returns the draft with a speaker who says again what it said: once in nearly the same words, or to the end."""
    spoken: dict[str, list[Turn]] = {}
    for turn in draft.replaceable():
        spoken.setdefault(turn.role, []).append(turn)
    fewest = 1 if severity == "mild" else FEWEST_REPEATS
    pairs = [
        (turn, later)
        for turns in spoken.values()
        for place, turn in enumerate(turns)
        if len(later := turns[place + 1 :]) >= fewest and len(turn.text.split()) >= LONG_TURN
    ]
    if not pairs:
        return None
    first, later = rng.choice(pairs)
    if severity == "mild":
        texts = {rng.choice(later).id: f"{rng.choice(OPENERS)} {first.text}"}
    else:
        texts = {turn.id: first.text for turn in later}
    ids = ", ".join(texts)
    return draft.with_texts(texts), tuple(texts), draft.kind_of(first), f"{ids} repeats what {first.id} said."


def broken_grammar(draft: Draft, severity: Severity, rng: Random) -> _Planted | None:
    """Returns the draft with one grammatical mistake in a turn's own words, or with mistakes all over it."""
    texts = phrases(draft.transcript.scenario.language)
    if texts is None:
        return None
    turns = draft.turns()
    if severity == "mild":
        turns = [turn for turn in turns if any(rule.of(turn.text) != turn.text for rule in texts.grammar)]
    if not turns:
        return None
    turn = rng.choice(turns)
    if severity == "mild":
        rules = [rule for rule in texts.grammar if rule.of(turn.text) != turn.text]
        broken = rng.choice(rules).of(turn.text, most=1)
    else:
        broken = turn.text
        for rule in texts.grammar:
            broken = rule.of(broken)
        broken = inserted(_without_articles(broken, texts), rng.choice(texts.ungrammatical), rng)
    return draft.with_texts({turn.id: broken}), (turn.id,), draft.kind_of(turn), f"{turn.id} says: {broken!r}"


def missing_verdict(draft: Draft, severity: Severity, rng: Random) -> _Planted | None:
    """Returns the draft whose judge ends without a verdict."""
    wording, verdict = _drawn("missing_verdict", draft, severity, rng), draft.verdict
    return wording and verdict and _say(wording, draft, rng, [verdict])


def _drawn(kind: str, draft: Draft, severity: Severity, rng: Random) -> _Wording | None:
    """Returns one of the wordings of a fault, or None where the language has none."""
    texts = phrases(draft.transcript.scenario.language)
    if texts is None:
        return None
    wordings = texts.faults[kind].mild if severity == "mild" else texts.faults[kind].severe
    said = rng.choice([*wordings.insert, *wordings.replace])
    return _Wording(said, said in wordings.replace)


def _places(wording: _Wording, draft: Draft, roles: Sequence[str] = ()) -> list[Turn]:
    return draft.replaceable(roles) if wording.replaces else draft.turns(roles)


def _say(
    wording: _Wording, draft: Draft, rng: Random, turns: Sequence[Turn], filling: dict[str, str] | None = None
) -> _Planted | None:
    if not turns:
        return None
    turn = rng.choice(turns)
    words = wording.words.format(**filling) if filling else wording.words
    words = words[:1].upper() + words[1:]
    text = words if wording.replaces else inserted(turn.text, words, rng)
    done = f"{turn.id} says: {words!r}" if wording.replaces else f"{turn.id} says besides: {words!r}"
    return draft.with_texts({turn.id: text}), (turn.id,), draft.kind_of(turn), done


def _without_articles(text: str, texts: Phrases) -> str:
    """Returns the text without its articles, but for those that begin a sentence."""
    pattern = re.compile(rf"(?<=\s)(?:{'|'.join(map(re.escape, texts.articles))})\s+")
    return " ".join(pattern.sub("", sentence) for sentence in sentences(text))
