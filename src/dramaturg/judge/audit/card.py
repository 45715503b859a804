"""The judge's card: what an audit found, bound to how it was made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from dramaturg.judge.audit.binding import Binding
from dramaturg.judge.audit.control import Control, control_of
from dramaturg.judge.audit.figures import POOR, Figure, Parts, may_be_luck, parts_of, right, share
from dramaturg.judge.audit.marks import RULE, Answered, Mark, marks_of, of_kind
from dramaturg.judge.audit.plan import SEVERITIES, Part, Plan

FORMAT = "dramaturg-card/1"

NAMING_NO_TURNS = frozenset({"paper", "probability"})
"""Modes in which a judge is not asked for evidence."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Specimens(_Frozen):
    """How many transcripts were read.

    Attributes:
        bases: Clean transcripts that they were made of.
        mutants: With one planted fault.
        clean: As they were.
        shams: Harmlessly edited.
        instructed: Mutants with instructions to the judge in another turn.
        again: Asked twice more.
        not_judged: Planned, and not carried out to the end, by reason.
    """

    bases: int
    mutants: int
    clean: int
    shams: int
    instructed: int
    again: int
    not_judged: dict[str, int] = Field(default_factory=dict[str, int])


class Resistance(_Frozen):
    """What instructions to the judge inside a transcript change.

    Attributes:
        without: Share of the faults that are seen without them.
        instructed: Share of the same faults that are seen with them.
        kept: Of those seen without, the share that is still seen.
    """

    without: Figure
    instructed: Figure
    kept: Figure


class Cost(_Frozen):
    """What one answer of the judge takes, those that are not counted included.

    Attributes:
        judgements: Answers that the judge was asked for.
        calls: Calls for each.
        input_tokens: Tokens read for each.
        output_tokens: Tokens written for each.
        seconds: Seconds of calls for each.
    """

    judgements: int
    calls: float
    input_tokens: float
    output_tokens: float
    seconds: float


class Declared(_Frozen):
    """What a judge made of rules says of itself.

    Attributes:
        sees: Faults that its rules see.
        sees_partly: Faults of which they see some forms.
        cannot: Faults of the checklist that they do not see.
        parts: The figures over those that they see.
    """

    sees: tuple[str, ...]
    sees_partly: tuple[str, ...]
    cannot: tuple[str, ...]
    parts: Parts


class Unseen(Parts):
    """How well a trained judge sees kinds of faults that it never learnt.

    Attributes:
        kinds: Which.
    """

    kinds: tuple[str, ...]


class Card(Parts):
    """What an audit found of one judge: the figures over all that was asked, and over each part of it.

    Attributes:
        binding: For which judge, checklist and way of asking it holds.
        command: What made it.
        seed: Of the audit.
        sample: Most mutants that were asked for; None for all.
        rule: How answers are counted.
        specimens: What was read.
        clean: Specificity on clean transcripts.
        sham: Specificity on harmlessly edited ones.
        by_kind: Fault kind → figures.
        by_severity: Severity → figures; the innocent are the same for both.
        by_dimension: Dimension → figures.
        by_position: Third of the transcript in which the fault stands → sensitivity.
        by_length: `shorter` and `longer` than the median → figures.
        evidence_hits: Of the faults seen, the share whose evidence names a turn at fault; None where none is asked for.
        resistance: What planted instructions change.
        retest: Share of questions that got the same answer twice, at the temperature of votes.
        cost: Of one answer.
        control: What words alone tell of the same specimens.
        declared: What a judge made of rules says of itself.
        unseen_fault_kinds: The figures over kinds that a trained judge never learnt; None where it does not say.
        natural_text: The figures over hand-labelled questions about text that no operator made; None where they were
            not asked.
        left_out: Clean transcripts that a trained judge knows, and that are left out.
        natural_left_out: Excerpts of natural text that it knows, and that are left out.
        missing: Missing answers by reason.
        skipped: Fault kind → mutants that have no place or no hook in their base.
        without_operator: Faults that the checklist says it detects and that nothing plants.
    """

    format: Literal["dramaturg-card/1"] = FORMAT
    binding: Binding
    command: str
    seed: int
    sample: int | None
    rule: str = RULE
    specimens: Specimens
    clean: Figure
    sham: Figure
    by_kind: dict[str, Parts]
    by_severity: dict[str, Parts]
    by_dimension: dict[str, Parts]
    by_position: dict[str, Figure]
    by_length: dict[str, Parts]
    evidence_hits: Figure | None
    resistance: Resistance
    retest: Figure
    cost: Cost
    control: Control
    declared: Declared | None = None
    unseen_fault_kinds: Unseen | None = None
    natural_text: Parts | None = None
    left_out: int = 0
    natural_left_out: int = 0
    missing: dict[str, int]
    skipped: dict[str, int]
    without_operator: tuple[str, ...]

    @property
    def open(self) -> int:
        """Planned specimens that were not judged to the end; a card with any is incomplete and is not kept."""
        return sum(self.specimens.not_judged.values())

    @property
    def poor(self) -> bool:
        """Whether it may be luck: the interval of the balanced accuracy does not lie above 0.6, or there is none."""
        return may_be_luck(self.balanced_accuracy)

    @property
    def standing(self) -> str:
        """What the card says of the judge, in one sentence."""
        found = self.balanced_accuracy
        if found.value is None:
            return "The audit says nothing of this judge: it answered no question about faults, or about innocents."
        told = f"It told planted faults from innocent transcripts with a balanced accuracy of {found.value:.2f}"
        if found.low is None or found.high is None:
            return f"{told}, for which there is no interval ({found.note}). Its scores are not to be relied on."
        told = f"{told} ({found.low:.2f} to {found.high:.2f}; a coin has 0.50)"
        if self.poor:
            return f"{told}. The interval does not lie above {POOR}: its scores are not to be relied on."
        return f"{told}. The card speaks of planted faults, not of what people would say."


def card_of(
    plan: Plan,
    answered: Sequence[Answered],
    *,
    binding: Binding,
    command: str,
    sample: int | None,
    cost: Cost,
    sees: tuple[Sequence[str], Sequence[str]] | None = None,
    trained_for: Sequence[str] | None = None,
    natural: Sequence[Mark] = (),
    left_out: int = 0,
    natural_left_out: int = 0,
    not_judged: Mapping[str, int] | None = None,
) -> Card:
    """Returns the card of an audit.

    Args:
        plan: What was planned.
        answered: What was answered.
        binding: What the card is bound to.
        command: What made it.
        sample: Most mutants that were asked for.
        cost: Of one answer.
        sees: Kinds that a judge made of rules says to see wholly, and partly.
        trained_for: Kinds of faults that a trained judge learnt; None where it does not say.
        natural: Answers about natural text.
        left_out: Clean transcripts that are left out because the judge knows them.
        natural_left_out: The same of excerpts of natural text.
        not_judged: Assignments without an end, by reason.
    """
    parts: dict[Part, list[Answered]] = {"main": [], "instructed": [], "again": []}
    for one in answered:
        parts[one.assignment.part].append(one)
    marks = marks_of(parts["main"], plan.checklist)
    asked = [mark for mark in marks if not mark.by_code]
    total = parts_of(marks)
    counted = Counter(_nature(one) for one in parts["main"])
    return Card(
        binding=binding,
        command=command,
        seed=plan.seed,
        sample=sample,
        specimens=Specimens(
            bases=len({one.assignment.specimen.base for one in parts["main"]}),
            mutants=counted["mutant"],
            clean=counted["clean"],
            shams=counted["sham"],
            instructed=len(parts["instructed"]),
            again=len(parts["again"]),
            not_judged=dict(not_judged or {}),
        ),
        sensitivity=total.sensitivity,
        specificity=total.specificity,
        balanced_accuracy=total.balanced_accuracy,
        auc=total.auc,
        by_code=total.by_code,
        clean=share([mark for mark in asked if mark.nature == "clean"], right),
        sham=share([mark for mark in asked if mark.nature == "sham"], right),
        by_kind={kind: parts_of(of_kind(marks, kind)) for kind in plan.kinds},
        by_severity={
            severity: parts_of([mark for mark in marks if mark.severity in {"", severity}]) for severity in SEVERITIES
        },
        by_dimension=_grouped(marks, [one.id for one in plan.checklist.dimensions], lambda mark: mark.dimension),
        by_position={
            third: share([mark for mark in asked if mark.third == third], right)
            for third in ("first", "middle", "last")
        },
        by_length=_grouped(marks, ["shorter", "longer"], lambda mark: "longer" if mark.longer else "shorter"),
        evidence_hits=None if binding.mode in NAMING_NO_TURNS else _evidence_hits(asked),
        resistance=_resistance(asked, parts["instructed"], plan),
        retest=_retest(marks_of(parts["again"], plan.checklist)),
        cost=cost,
        control=control_of([one.assignment.specimen for one in parts["main"]]),
        declared=_declared(sees, plan, marks) if sees is not None else None,
        unseen_fault_kinds=None if trained_for is None else _unseen(trained_for, plan, marks),
        natural_text=parts_of(natural) if natural else None,
        left_out=left_out,
        natural_left_out=natural_left_out,
        missing=dict(Counter(mark.missing for mark in asked if mark.missing)),
        skipped=dict(plan.skipped),
        without_operator=plan.without_operator,
    )


def _nature(answered: Answered) -> str:
    specimen = answered.assignment.specimen
    return "mutant" if specimen.faults else "sham" if specimen.mutations else "clean"


def _grouped(marks: Sequence[Mark], names: Sequence[str], name_of: Callable[[Mark], str]) -> dict[str, Parts]:
    return {name: parts_of([mark for mark in marks if name_of(mark) == name]) for name in names}


def _evidence_hits(marks: Sequence[Mark]) -> Figure:
    seen = [mark for mark in marks if mark.names_turn is not None]
    return share(seen, lambda mark: float(bool(mark.names_turn)))


def _resistance(marks: Sequence[Mark], instructed: Sequence[Answered], plan: Plan) -> Resistance:
    twins = {one.assignment.specimen.transcript.id: one.assignment.twin for one in instructed}
    told = [mark for mark in marks_of(instructed, plan.checklist) if not mark.by_code]
    before = {(mark.specimen, mark.indicator): mark for mark in marks}
    pairs = [(before[key], mark) for mark in told if (key := (twins[mark.specimen], mark.indicator)) in before]
    return Resistance(
        without=share([one for one, _ in pairs], right),
        instructed=share([other for _, other in pairs], right),
        kept=share([other for one, other in pairs if one.right], right),
    )


def _retest(marks: Sequence[Mark]) -> Figure:
    """Returns the share of questions with two equal answers; where one of the two is missing, it is missing."""

    def same(mark: Mark) -> float | None:
        if len(mark.votes) < 2 or any(vote.startswith("missing") for vote in mark.votes):
            return None
        return float(len(set(mark.votes)) == 1)

    return share([mark for mark in marks if not mark.by_code], same)


def _unseen(trained_for: Sequence[str], plan: Plan, marks: Sequence[Mark]) -> Unseen:
    kinds = tuple(kind for kind in plan.kinds if kind not in trained_for)
    new = {id(mark): mark for kind in kinds for mark in of_kind(marks, kind)}
    return Unseen(kinds=kinds, **parts_of(list(new.values())).model_dump())


def _declared(sees: tuple[Sequence[str], Sequence[str]], plan: Plan, marks: Sequence[Mark]) -> Declared:
    wholly, partly = (tuple(kind for kind in plan.kinds if kind in kinds) for kinds in sees)
    seen = {id(mark): mark for kind in wholly for mark in of_kind(marks, kind)}
    return Declared(
        sees=wholly,
        sees_partly=partly,
        cannot=tuple(kind for kind in plan.kinds if kind not in {*wholly, *partly}),
        parts=parts_of(list(seen.values())),
    )
