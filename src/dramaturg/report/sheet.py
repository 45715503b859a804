"""The answers about one trial as a page shows them, grouped as their checklist groups them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, assert_never

from dramaturg.judge.checklist.checklist import Checklist, Dimension, Indicator
from dramaturg.judge.checklist.score import Share, TranscriptScores
from dramaturg.judge.judgement import Judgement
from dramaturg.report.anchors import anchor_of
from dramaturg.report.figures import words

Mood = Literal["good", "bad", "open", "none"]
"""What an answer says: for the performance, against it, nothing because it is missing, not applicable."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What one judge said of one trial.

    Attributes:
        title: Who judged, by what and how.
        checklist: Its checklist, or None where no copy of it is at hand.
        scores: The trial's scores by this judge; None where no copy of the checklist is at hand.
        judgements: The answers by indicator.
    """

    title: str
    checklist: Checklist | None
    scores: TranscriptScores | None
    judgements: Mapping[str, Judgement]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A turn that an answer rests on; the anchor is empty where the transcript has no such turn."""

    turn: str
    anchor: str


@dataclass(frozen=True, slots=True)
class AnswerView:
    """One indicator with its answer, or without one; `reversed` where a no is the good answer."""

    anchor: str
    id: str
    text: str
    mood: Mood
    reversed: bool
    answer: str
    why_missing: str
    judgement: Judgement | None
    evidence: tuple[Evidence, ...]
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """Answers of one sub-dimension, or of a dimension that has none.

    Attributes:
        share: The Quality Score of these answers in this trial; None where the checklist is not at hand.
    """

    name: str
    share: Share | None
    answers: tuple[AnswerView, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Answers of one dimension."""

    name: str
    share: Share | None
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """All answers of one judge about one trial.

    Attributes:
        title: Who judged, by what and how.
        groups: The answers by dimension; empty where this judge said nothing of the trial.
        stale: Whether they were given about another version of the transcript.
    """

    title: str
    groups: tuple[Group, ...]
    stale: bool


def sheet_of(prefix: str, said: Answers, turns: Mapping[str, str], digest: str) -> Sheet:
    """Returns the answers of one judge about one trial as they are shown.

    Args:
        prefix: What the anchors of the answers begin with.
        said: The answers.
        turns: Anchor of each turn by its id.
        digest: Hash of the transcript as it is now.
    """
    if not said.judgements:
        return Sheet(said.title, (), stale=False)
    groups: list[Group] = []
    if said.checklist is not None and said.scores is not None:
        groups = [
            _group(prefix, dimension, said.checklist, said.scores, said.judgements, turns)
            for dimension in said.checklist.dimensions
        ]
    asked = {answer.id for group in groups for part in group.parts for answer in part.answers}
    others: dict[str, list[AnswerView]] = defaultdict(list)
    for judgement in said.judgements.values():
        if judgement.indicator not in asked:
            others[judgement.dimension].append(_answer(prefix, None, judgement, turns))
    groups += [Group(name, None, (Part("", None, tuple(answers)),)) for name, answers in others.items()]
    stale = any(judgement.transcript_digest != digest for judgement in said.judgements.values())
    return Sheet(said.title, tuple(groups), stale)


def _group(
    prefix: str,
    dimension: Dimension,
    checklist: Checklist,
    scores: TranscriptScores,
    judgements: Mapping[str, Judgement],
    turns: Mapping[str, str],
) -> Group:
    parts = [(part.id, part.name, scores.subdimensions[part.id].quality) for part in dimension.subdimensions]
    return Group(
        name=dimension.name,
        share=scores.dimensions[dimension.id].quality,
        parts=tuple(
            Part(
                name,
                share,
                tuple(
                    _answer(prefix, indicator, judgements.get(indicator.id), turns)
                    for indicator in checklist.indicators
                    if (indicator.dimension, indicator.subdimension) == (dimension.id, part)
                ),
            )
            for part, name, share in parts or [(None, "", None)]
        ),
    )


def _answer(
    prefix: str, indicator: Indicator | None, judgement: Judgement | None, turns: Mapping[str, str]
) -> AnswerView:
    """Returns one answer; one of the two, indicator or judgement, is given at least."""
    identity = indicator.id if indicator is not None else judgement.indicator if judgement is not None else ""
    text = indicator.text if indicator is not None else ""
    anchor = f"{prefix}-{anchor_of(identity)}"
    backwards = indicator is not None and indicator.sign == "negative"
    if judgement is None:
        return AnswerView(anchor, identity, text, "open", backwards, "missing", "never asked", None, (), ())
    return AnswerView(
        anchor=anchor,
        id=identity,
        text=text,
        mood=_mood(judgement, indicator),
        reversed=backwards,
        answer=words(judgement.answer) if judgement.answer != "not_applicable" else "n. a.",
        why_missing=words(judgement.reason),
        judgement=judgement,
        evidence=tuple(Evidence(turn, turns.get(turn, "")) for turn in judgement.evidence),
        flags=tuple(_flag_in_words(flag) for flag in judgement.flags),
    )


def _mood(judgement: Judgement, indicator: Indicator | None) -> Mood:
    """Returns what the answer says of the performance; an indicator without a sign counts as positive."""
    match judgement.answer:
        case "missing":
            return "open"
        case "not_applicable":
            return "none"
        case "yes" | "no":
            good = "no" if indicator is not None and indicator.sign == "negative" else "yes"
            return "good" if judgement.answer == good else "bad"
        case _:
            assert_never(judgement.answer)


def _flag_in_words(flag: str) -> str:
    match flag.split(":", 2):
        case ["evidence", "none"]:
            return "names no turn that it rests on"
        case ["evidence", "unknown", turn]:
            return f"cites a turn that does not exist: {turn}"
        case ["evidence", kind, turn]:
            source = {"human": "said by a person", "script": "from a script", "procedure": "a note of the procedure"}
            return f"rests only on turns that are not judged: {turn}, {source.get(kind, words(kind))}"
        case _:
            return words(flag).replace(":", ": ")
