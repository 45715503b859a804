"""Where two sets of answers about the same transcripts agree: two judgings, or a judge and people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from dramaturg.judge.checklist.answer_table import NO, NOT_APPLICABLE, YES, AnswerTable
from dramaturg.measure import Estimate, cluster_interval
from dramaturg.measure.kappa import cohen_kappa
from dramaturg.measure.krippendorff import krippendorff_alpha

Answer = Literal["yes", "no", "not_applicable"]

_NAMES: Mapping[int, Answer] = {YES: "yes", NO: "no", NOT_APPLICABLE: "not_applicable"}

Question = tuple[str, str]
"""A transcript and an indicator."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two sides agree on some questions. Whatever cannot be told is None.

    Attributes:
        name: Id of the indicator, or ``all``.
        n: Questions that both sides answered, not applicable included.
        equal: Share of equal answers, with its interval over transcripts; against people, the accuracy.
        kappa: Cohen's kappa.
        alpha: Krippendorff's alpha, nominal.
        yes_one: Share of yes of the first side.
        yes_other: Share of yes of the second side.
    """

    name: str
    n: int
    equal: Estimate
    kappa: float | None
    alpha: float | None
    yes_one: float | None
    yes_other: float | None


@dataclass(frozen=True, slots=True)
class Difference:
    """One question that the two sides answer differently."""

    transcript: str
    indicator: str
    one: Answer
    other: Answer


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sides over all questions that both answered.

    Attributes:
        one: The first side.
        other: The second side.
        overall: All questions together.
        indicators: Each indicator, in order.
        differences: The questions with different answers.
        only_one: Questions that the first side alone answered.
        only_other: Questions that the second side alone answered.
        other_version: Transcripts left out because the sides read different versions of them.
    """

    one: str
    other: str
    overall: Agreement
    indicators: tuple[Agreement, ...]
    differences: tuple[Difference, ...]
    only_one: int
    only_other: int
    other_version: int = 0


def answers_of(table: AnswerTable) -> dict[Question, Answer]:
    """Returns every answer that is not missing."""
    return {
        (table.transcripts[row], table.indicators[column]): _NAMES[code]
        for row, codes in enumerate(table.answers.tolist())
        for column, code in enumerate(codes)
        if code in _NAMES
    }


def compare_tables(one: AnswerTable, other: AnswerTable) -> Comparison:
    """Returns where two judgings agree; transcripts that they read in different versions are left out."""
    digests = dict(zip(one.transcripts, one.digests, strict=True))
    stale = {
        name
        for name, digest in zip(other.transcripts, other.digests, strict=True)
        if digests.get(name, digest) != digest
    }
    first, second = _without(answers_of(one), stale), _without(answers_of(other), stale)
    return compare_answers(one.title, first, other.title, second, other_version=len(stale))


def compare_answers(
    one: str,
    first: Mapping[Question, Answer],
    other: str,
    second: Mapping[Question, Answer],
    *,
    other_version: int = 0,
) -> Comparison:
    """Returns where two sides agree.

    Args:
        one: Name of the first side.
        first: Its answers.
        other: Name of the second side.
        second: Its answers.
        other_version: Transcripts that were left out before.
    """
    both = [question for question in first if question in second]
    by_indicator: dict[str, list[Question]] = defaultdict(list)
    for question in both:
        by_indicator[question[1]].append(question)
    return Comparison(
        one=one,
        other=other,
        overall=_agreement("all", both, first, second),
        indicators=tuple(_agreement(name, asked, first, second) for name, asked in by_indicator.items()),
        differences=tuple(_differences(both, first, second)),
        only_one=len(first) - len(both),
        only_other=len(second) - len(both),
        other_version=other_version,
    )


def _without(answers: Mapping[Question, Answer], transcripts: Collection[str]) -> Mapping[Question, Answer]:
    return {question: answer for question, answer in answers.items() if question[0] not in transcripts}


def _agreement(
    name: str, questions: Sequence[Question], first: Mapping[Question, Answer], second: Mapping[Question, Answer]
) -> Agreement:
    one: list[Answer] = [first[question] for question in questions]
    other: list[Answer] = [second[question] for question in questions]
    equal: dict[str, list[float]] = defaultdict(list)
    for question, here, there in zip(questions, one, other, strict=True):
        equal[question[0]].append(float(here == there))
    return Agreement(
        name=name,
        n=len(questions),
        equal=cluster_interval(equal),
        kappa=cohen_kappa(one, other),
        alpha=krippendorff_alpha(list(zip(one, other, strict=True))),
        yes_one=_share_of_yes(one),
        yes_other=_share_of_yes(other),
    )


def _share_of_yes(answers: Sequence[Answer]) -> float | None:
    told = [answer for answer in answers if answer != "not_applicable"]
    return told.count("yes") / len(told) if told else None


def _differences(
    questions: Sequence[Question], first: Mapping[Question, Answer], second: Mapping[Question, Answer]
) -> Iterator[Difference]:
    for transcript, indicator in questions:
        one, other = first[transcript, indicator], second[transcript, indicator]
        if one != other:
            yield Difference(transcript, indicator, one, other)
