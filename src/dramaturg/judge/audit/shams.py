"""Harmless edits: a judge that takes them for faults reacts to an edit, not to a fault."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from dramaturg.judge.audit.clean import Base
from dramaturg.judge.audit.draft import Draft, sentences
from dramaturg.judge.audit.mutation import Mutation
from dramaturg.judge.audit.phrases import phrases
from dramaturg.stage.transcript import Role, Transcript, Turn

MOST_REWORDED = 6
"""Places that one rewording changes."""

SHORT_WORD = 3
"""Letters up to which two sentences may share a word and still be independent."""

FEWEST_WORDS = 4
"""Words of a sentence that may change places."""

_WORD = re.compile(r"[^\W\d_]+|\d+")
_CURLY = (("\u2019", "'"), ("\u201c", '"'), ("\u201d", '"'))

Sham = Callable[[Draft, Random], tuple[Draft, tuple[str, ...], str] | None]
"""Returns the edited draft, the ids of its edited turns and what was done; None where there is no place."""


def reword(draft: Draft, rng: Random) -> tuple[Draft, tuple[str, ...], str] | None:
    """Returns the draft with a few words in place of others that mean the same."""
    texts = phrases(draft.transcript.scenario.language)
    if texts is None:
        return None
    places = [(turn, rule) for turn in draft.turns() for rule in texts.rewordings if rule.of(turn.text) != turn.text]
    if not places:
        return None
    chosen = rng.sample(places, min(len(places), MOST_REWORDED))
    changed: dict[str, str] = {}
    for turn, rule in chosen:
        changed[turn.id] = rule.of(changed.get(turn.id, turn.text))
    ids = tuple(turn.id for turn in draft.transcript.turns if turn.id in changed)
    return draft.with_texts(changed), ids, f"other words of the same meaning in {', '.join(ids)}"


def rename(draft: Draft, rng: Random) -> tuple[Draft, tuple[str, ...], str] | None:
    """Returns the draft in which one person who is named in a turn has another surname, in all that a judge reads."""
    texts = phrases(draft.transcript.scenario.language)
    if texts is None:
        return None
    written = _everything(draft.transcript)
    said = "\n".join(turn.text for turn in draft.transcript.turns)
    fresh = [name for name in texts.surnames if name.casefold() not in written.casefold()]
    old_names = [name for role in draft.transcript.roles if (name := _surname(role, written)) and name in said]
    if not fresh or not old_names:
        return None
    old, new = rng.choice(old_names), rng.choice(fresh)
    pattern = re.compile(rf"\b{re.escape(old)}\b")
    before, after = draft.transcript, _renamed(draft.transcript, pattern, new)
    ids = tuple(one.id for one, other in zip(before.turns, after.turns, strict=True) if one != other)
    return draft.with_transcript(after, touched=ids), ids, f"{old} is called {new} throughout"


def reorder(draft: Draft, rng: Random) -> tuple[Draft, tuple[str, ...], str] | None:
    """Returns the draft with two independent sentences of one turn swapped."""
    texts = phrases(draft.transcript.scenario.language)
    if texts is None:
        return None
    hanging = texts.back_references
    places = [
        (turn, parts, place)
        for turn in draft.turns()
        for parts in (sentences(turn.text),)
        for place in range(1, len(parts) - 2)
        if _independent(parts[place], parts[place + 1], hanging)
        # What stands behind must not hang on what it stood behind.
        and hanging.isdisjoint(_words(parts[place + 2])[:2])
    ]
    if not places:
        return None
    turn, parts, place = rng.choice(places)
    swapped = [*parts[:place], parts[place + 1], parts[place], *parts[place + 2 :]]
    return draft.with_texts({turn.id: " ".join(swapped)}), (turn.id,), f"two sentences of {turn.id} change places"


def punctuate(draft: Draft, rng: Random) -> tuple[Draft, tuple[str, ...], str] | None:
    """Returns the draft with other marks and blanks of the same meaning: curly or straight quotes, two blanks."""
    changed = {turn.id: text for turn in draft.turns() if (text := _marked(turn, rng)) != turn.text}
    if not changed:
        return None
    return draft.with_texts(changed), tuple(changed), f"other quotation marks and blanks in {', '.join(changed)}"


SHAMS: dict[str, Sham] = {"reword": reword, "rename": rename, "reorder": reorder, "punctuate": punctuate}
"""Name → operator."""


def disguise(base: Base, name: str, rng: Random) -> tuple[Draft, tuple[Mutation, ...]] | None:
    """Returns a harmlessly edited transcript and what was done; None where the edit has no place.

    Args:
        base: The clean transcript.
        name: Of the operator.
        rng: Chooses the place.

    Raises:
        KeyError: There is no such operator.
    """
    edited = SHAMS[name](Draft.of(base), rng)
    if edited is None:
        return None
    draft, turns, done = edited
    return draft, (Mutation(name, "", "", turns, "", done),)


def _surname(role: Role, written: str) -> str:
    """Returns the last word of a role's name, where it can be replaced without touching another word."""
    words = role.name.split()
    if len(words) < 2 or not words[-1].isalpha():
        return ""
    whole = len(re.findall(rf"\b{re.escape(words[-1])}\b", written))
    anywhere = written.casefold().count(words[-1].casefold())
    return words[-1] if whole == anywhere else ""


def _everything(transcript: Transcript) -> str:
    """Returns all text that a judge may read of a transcript."""
    parts = [transcript.scenario.title, transcript.scenario.reference]
    parts += [text for role in transcript.roles for text in (role.name, role.description)]
    parts += [text for turn in transcript.turns for text in (turn.speaker, turn.text)]
    return "\n".join(parts)


def _renamed(transcript: Transcript, pattern: re.Pattern[str], new: str) -> Transcript:
    def text(old: str) -> str:
        return pattern.sub(new, old)

    scenario = transcript.scenario
    return transcript.model_copy(
        update={
            "scenario": scenario.model_copy(
                update={"title": text(scenario.title), "reference": text(scenario.reference)}
            ),
            "roles": tuple(
                role.model_copy(update={"name": text(role.name), "description": text(role.description)})
                for role in transcript.roles
            ),
            "turns": tuple(
                turn.model_copy(update={"speaker": text(turn.speaker), "text": text(turn.text), "raw": text(turn.raw)})
                for turn in transcript.turns
            ),
        }
    )


def _independent(one: str, other: str, hanging: frozenset[str]) -> bool:
    """Returns whether neither of two sentences leans on the other: no back reference, no shared word, no question."""
    words, others = _words(one), _words(other)
    if min(len(words), len(others)) < FEWEST_WORDS or "?" in one + other:
        return False
    if not one.endswith(".") or not other.endswith(".") or '"' in one + other or ":" in one + other:
        return False
    shared = {word for word in words if len(word) > SHORT_WORD} & set(others)
    return not shared and hanging.isdisjoint(words) and hanging.isdisjoint(others)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _marked(turn: Turn, rng: Random) -> str:
    text = turn.text
    if any(curly in text for curly, _ in _CURLY):
        for curly, straight in _CURLY:
            text = text.replace(curly, straight)
    else:
        text = re.sub(r'"([^"]*)"', "\u201c\\1\u201d", text.replace("'", "\u2019"))
    return "  ".join(sentences(text)) if rng.random() < 0.5 else text
