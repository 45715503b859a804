"""Faults of form: they are faults in any transcript of their language, so that a rule can plant them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

from dramaturg.judge.audit.draft import Draft, inserted, sentences
from dramaturg.judge.audit.mutation import Severity
from dramaturg.judge.audit.phrases import Phrases, phrases
from dramaturg.stage.transcript import Turn

LONG_TURN = 12
"""Words from which a turn that comes back is a loop and not a habit."""

VERDICT_PHASE = "verdict"

_EXHIBIT = re.compile(r"\bE(\d{1,3})\b")

_Planted = tuple[Draft, tuple[str, ...], str, str]


def worded(kind: str, roles: Sequence[str], draft: Draft, severity: Severity, rng: Random) -> _Planted | None:
    """Returns the draft with one of the wordings of a fault, put into a turn or in its place.

    Args:
        kind: The fault.
        roles: Kinds of roles that can make it; none for all.
        draft: What to edit.
        severity: How plain.
        rng: Chooses turn, wording and place.
    """
    return _say(kind, draft, severity, rng, draft.turns(roles))


def role_swap(draft: Draft, severity: Severity, rng: Random) -> _Planted | None:
    """Returns the draft with a turn whose speaker speaks as a role of another kind."""
    texts = phrases(draft.transcript.scenario.language)
    turns = draft.turns()
    if texts is None or not turns:
        return None
    turn = rng.choice(turns)
    other = draft.other_role(turn, rng)
    if other is None:
        return None
    line = rng.choice(texts.lines.get(other.kind) or texts.lines["other"])
    filling = {"name": other.name, "kind": other.kind.replace("_", " "), "line": line}
    return _say("role_swap", draft, severity, rng, [turn], filling)


def judge_opines(draft: Draft, severity: Severity, rng: Random) -> _Planted | None:
    """Returns the draft with a judge who says before the verdict that the charge is true."""
    early = [turn for turn in draft.turns(("judge",)) if turn.phase and turn.phase != VERDICT_PHASE]
    return _say("judge_opines_guilt", draft, severity, rng, early)


def non_sequitur(draft: Draft, severity: Severity, rng: Random) -> _Planted | None:
    """Returns the draft with a turn that leaves the subject without a reason."""
    return _say("non_sequitur", draft, severity, rng, [turn for turn in draft.turns() if turn.id != "T1"])


def invented_exhibit(draft: Draft, severity: Severity, rng: Random) -> _Planted | None:
    """Returns the draft with an exhibit that the reference does not list; it must number its exhibits E1, E2 …."""
    numbers = {int(found) for found in _EXHIBIT.findall(draft.transcript.scenario.reference)}
    if not numbers:
        return None
    number = max(numbers) + rng.randint(2, 9)
    return _say("invented_evidence", draft, severity, rng, draft.turns(), {"number": str(number)})


def loop(draft: Draft, severity: Severity, rng: Random) -> _Planted | None:
    """Returns the draft with a speaker who says again what it said: once in nearly the same words, or to the end."""
    spoken: dict[str, list[Turn]] = {}
    for turn in draft.turns():
        spoken.setdefault(turn.role, []).append(turn)
    pairs = [
        (turn, turns[place + 1 :])
        for turns in spoken.values()
        for place, turn in enumerate(turns[:-1])
        if len(turn.text.split()) >= LONG_TURN
    ]
    if not pairs:
        return None
    first, later = rng.choice(pairs)
    if severity == "mild":
        again = rng.choice(later)
        # One more word leaves it nearly the same, as a stuck model varies its opening.
        texts = {again.id: f"{rng.choice(('Well,', 'Again,', 'So,', 'Indeed,'))} {first.text}"}
    else:
        texts = {turn.id: first.text for turn in later}
    ids = ", ".join(texts)
    return draft.with_texts(texts), tuple(texts), draft.kind_of(first), f"{ids} repeats what {first.id} said."


def broken_grammar(draft: Draft, severity: Severity, rng: Random) -> _Planted | None:
    """Returns the draft with one grammatical mistake in a turn, or with mistakes all over it."""
    texts = phrases(draft.transcript.scenario.language)
    turns = draft.turns()
    if texts is None or not turns:
        return None
    turn = rng.choice(turns)
    wording = texts.faults["broken_grammar"]
    if severity == "severe":
        broken = _without_articles(_misgrown(turn.text, texts, rng, most=0), texts)
        broken = inserted(broken, rng.choice(wording.severe.insert), rng)
    else:
        broken = _misgrown(turn.text, texts, rng, most=1)
        if broken == turn.text:
            broken = inserted(turn.text, rng.choice(wording.mild.insert), rng)
    return draft.with_texts({turn.id: broken}), (turn.id,), draft.kind_of(turn), f"{turn.id} says: {broken!r}"


def missing_verdict(draft: Draft, severity: Severity, rng: Random) -> _Planted | None:
    """Returns the draft whose judge ends without a verdict; the record then holds no outcome."""
    verdicts = [turn for turn in draft.turns(("judge",)) if turn.phase == VERDICT_PHASE][-1:]
    planted = _say("missing_verdict", draft, severity, rng, verdicts)
    if planted is None or draft.transcript.outcome is None:
        return None
    edited, turns, role, done = planted
    open_end = edited.transcript.model_copy(update={"outcome": None, "end_reason": "undecided"})
    return edited.with_transcript(open_end), turns, role, done


def _say(
    kind: str,
    draft: Draft,
    severity: Severity,
    rng: Random,
    turns: Sequence[Turn],
    filling: dict[str, str] | None = None,
) -> _Planted | None:
    texts = phrases(draft.transcript.scenario.language)
    if texts is None or not turns:
        return None
    turn = rng.choice(turns)
    wordings = texts.faults[kind].mild if severity == "mild" else texts.faults[kind].severe
    said = rng.choice([*wordings.insert, *wordings.replace])
    words = said.format(**filling) if filling else said
    words = words[:1].upper() + words[1:]
    text = words if said in wordings.replace else inserted(turn.text, words, rng)
    done = f"{turn.id} says: {words!r}" if said in wordings.replace else f"{turn.id} says besides: {words!r}"
    return draft.with_texts({turn.id: text}), (turn.id,), draft.kind_of(turn), done


def _misgrown(text: str, texts: Phrases, rng: Random, *, most: int) -> str:
    """Returns the text with mistakes in place of correct words; `most` of them, 0 for all."""
    rules = [rule for rule in texts.grammar if re.search(rule.find, text)]
    rng.shuffle(rules)
    for rule in rules[: most or len(rules)]:
        text = re.sub(rule.find, rule.put, text, count=most)
    return text


def _without_articles(text: str, texts: Phrases) -> str:
    """Returns the text without its articles, but for those that begin a sentence."""
    pattern = re.compile(rf"(?<=\s)(?:{'|'.join(map(re.escape, texts.articles))})\s+")
    return " ".join(pattern.sub("", sentence) for sentence in sentences(text))
