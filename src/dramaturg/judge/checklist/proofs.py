"""Proofs: what the transcript itself shows, answered without a model.

A proof answers yes or no with its reason, or nothing where the transcript does not say (an imported chat log
knows of no restarts); then a model is asked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, assert_never

from dramaturg.judge.checklist.checklist import Proof
from dramaturg.judge.checklist.unknown import Unknown, unknown_exhibits, unknown_names
from dramaturg.stage.transcript import Role, Transcript, Turn

ALIKE = 0.95
"""Share of equal words in order from which two long turns count as the same."""

LONG_WORDS = 8
"""Words from which a turn is long; a short one ("Sustained.") may come back, but not without end."""

SHORT_REPEATS = 3
"""Equal short turns of one speaker in a row that are a loop."""

FINAL_PHASE = "verdict"
"""Phase of a trial in which the sides give their final theses."""

SIDES = ("prosecutor", "defence")
"""Kinds of the roles that are two sides of a trial."""

_WORD = re.compile(r"\w+")
_LABEL = re.compile(r"[\s*_\[(<\"']*([^\n:：\[\]()<>*\"]{1,60}?)[\s*_\])>\"']*[:：]")


@dataclass(frozen=True, slots=True)
class Proven:
    """An answer that the transcript proves.

    Attributes:
        answer: Yes or no.
        reasoning: What it rests on.
        evidence: Ids of the turns concerned.
    """

    answer: Literal["yes", "no"]
    reasoning: str
    evidence: tuple[str, ...] = ()


def prove(proof: Proof, transcript: Transcript) -> Proven | None:
    """Returns the proven answer, or None where the transcript does not say."""
    match proof:
        case "end_reached":
            return _end_reached(transcript)
        case "outcome_present":
            return _outcome_present(transcript)
        case "no_restart":
            return _no_restart(transcript)
        case "no_loop":
            return _no_loop(transcript)
        case "final_theses_given":
            return _final_theses_given(transcript)
        case "no_empty_turn":
            return _no_empty_turn(transcript)
        case "labels_present":
            return _labels_present(transcript)
        case "names_known":
            return _all_known(unknown_names(transcript), "a person")
        case "evidence_known":
            return _all_known(unknown_exhibits(transcript), "an exhibit")
        case _:
            assert_never(proof)


def _end_reached(transcript: Transcript) -> Proven | None:
    match transcript.end_reason:
        case "imported":
            return None
        case "completed" | "undecided":
            return Proven("yes", "The procedure reached its end.", _last(transcript.turns))
        case "restarts_exhausted" | "turn_limit" | "empty_turns" | "context_overflow":
            return Proven("no", f"The performance ended early: {transcript.end_reason}.", _last(transcript.turns))
        case _:
            assert_never(transcript.end_reason)


def _outcome_present(transcript: Transcript) -> Proven | None:
    if transcript.end_reason == "imported" and transcript.outcome is None:
        return None
    if transcript.outcome is None or transcript.outcome.label == "undecided":
        return Proven("no", "The record holds no verdict.", _last(transcript.turns))
    return Proven("yes", f"The record holds the outcome {transcript.outcome.label}.")


def _no_restart(transcript: Transcript) -> Proven | None:
    if transcript.end_reason == "imported" and not transcript.restarts:
        return None
    if not transcript.restarts:
        return Proven("yes", "The record holds no restart.")
    causes = Counter(restart.cause for restart in transcript.restarts)
    listed = ", ".join(f"{cause} × {count}" for cause, count in causes.items())
    return Proven("no", f"The performance was restarted: {listed}.")


def _no_loop(transcript: Transcript) -> Proven:
    spoken: dict[tuple[str, str], list[Turn]] = {}
    for turn in transcript.judged_turns():
        spoken.setdefault((turn.role, turn.speaker), []).append(turn)
    for earlier, later in (pair for turns in spoken.values() for pair in _repeats(turns)):
        return Proven("no", f"{later.id} says in nearly the same words what {earlier.id} said.", (earlier.id, later.id))
    return Proven("yes", "No model-played turn repeats an earlier turn of its speaker.")


def _repeats(turns: list[Turn]) -> Iterator[tuple[Turn, Turn]]:
    """Yields pairs of turns of one speaker that say the same."""
    words = [_WORD.findall(turn.text.casefold()) for turn in turns]
    for later, said in enumerate(words):
        if len(said) < LONG_WORDS:
            start = later - SHORT_REPEATS + 1
            if said and start >= 0 and all(words[index] == said for index in range(start, later)):
                yield turns[start], turns[later]
            continue
        matcher = SequenceMatcher(None, autojunk=False)
        matcher.set_seq2(said)
        for earlier in range(later):
            matcher.set_seq1(words[earlier])
            if matcher.real_quick_ratio() >= ALIKE and matcher.quick_ratio() >= ALIKE and matcher.ratio() >= ALIKE:
                yield turns[earlier], turns[later]
                break


def _final_theses_given(transcript: Transcript) -> Proven | None:
    if not any(turn.phase for turn in transcript.turns):
        return None
    kinds = {role.id: role.kind for role in transcript.roles}
    given: dict[str, str] = {}
    for turn in transcript.turns:
        kind = kinds.get(turn.role, "")
        if turn.phase == FINAL_PHASE and kind in SIDES and turn.kind != "procedure":
            given.setdefault(kind, turn.id)
    absent = [side for side in SIDES if side not in given]
    if absent:
        return Proven("no", f"No turn for a final thesis: {', '.join(absent)}.", _last(transcript.turns))
    return Proven("yes", "Both sides had a turn for a final thesis.", tuple(given.values()))


def _no_empty_turn(transcript: Transcript) -> Proven:
    empty = tuple(turn.id for turn in transcript.judged_turns() if not turn.text.strip())
    if empty:
        return Proven("no", "A model-played turn holds no words.", empty)
    return Proven("yes", "Every model-played turn holds words.")


def _labels_present(transcript: Transcript) -> Proven:
    """Returns whether every model-played turn says who speaks, and none opens under the label of another role."""
    labels = {role.id: _labels(role) for role in transcript.roles}
    faults: dict[str, str] = {}
    for turn in transcript.judged_turns():
        others = {label for own in labels.values() for label in own} - labels.get(turn.role, frozenset())
        opening = _LABEL.match(turn.text)
        if not turn.speaker.strip():
            faults[turn.id] = f"{turn.id} names no speaker."
        elif opening is not None and _folded(opening[1]) in others:
            faults[turn.id] = f"{turn.id} opens under the label of another role: {' '.join(opening[1].split())}."
    if faults:
        return Proven("no", next(iter(faults.values())), tuple(faults))
    return Proven("yes", "Every model-played turn has its own speaker's label.")


def _labels(role: Role) -> frozenset[str]:
    return frozenset(_folded(label) for label in (role.kind, role.kind.replace("_", " "), role.name) if label.strip())


def _folded(label: str) -> str:
    return " ".join(label.split()).casefold()


def _all_known(unknown: Sequence[Unknown], what: str) -> Proven | None:
    """Returns a no where something is named that nothing knows of; otherwise a model must read."""
    if not unknown:
        return None
    first = unknown[0]
    told = f"{first.turn} names {what} that neither the reference nor a person has named: {first.name}."
    return Proven("no", told, tuple(dict.fromkeys(one.turn for one in unknown)))


def _last(turns: tuple[Turn, ...]) -> tuple[str, ...]:
    return (turns[-1].id,) if turns else ()
