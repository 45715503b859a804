"""How far a report can be trusted, in plain words, most serious first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dramaturg.judge.judgement import Judgement
from dramaturg.report.cards import card_caution
from dramaturg.report.data import Caution, RunFacts
from dramaturg.report.figures import counted, decimal, share, words
from dramaturg.report.tables import Panel, Subject
from dramaturg.report.terms import Terms

FEW_CASES = 5
"""Cases below which an interval over cases says little."""

MUCH_MISSING = 0.05
"""Share of missing answers above which a reader must know it first."""

WIDE = 0.3
"""Width of an interval, on a scale from 0 to 1, above which it is no basis for a choice."""

WEAK_EVIDENCE = 0.2
"""Share of no answers without a usable turn above which the evidence is doubted."""


@dataclass(slots=True)
class Doubts:
    """What was noticed while reading.

    Attributes:
        noes: Answers no of a model.
        groundless_noes: Those of them whose evidence is flagged.
        twice: Judgements that another one of the same judge, transcript and indicator replaced.
        stale: Judgements of another version of their transcript.
        orphans: Judgements of transcripts that are not here.
        unknown_indicators: Judgements whose indicator their checklist does not have.
        torn: Places of torn last lines, which are left out.
    """

    noes: int = 0
    groundless_noes: int = 0
    twice: int = 0
    stale: int = 0
    orphans: int = 0
    unknown_indicators: int = 0
    torn: list[str] = field(default_factory=list[str])

    def see(self, judgement: Judgement, *, twice: bool, stale: bool) -> None:
        """Counts one judgement."""
        self.twice += twice
        self.stale += stale
        if judgement.answer == "no" and judgement.source == "model":
            self.noes += 1
            self.groundless_noes += any(flag.startswith("evidence:") for flag in judgement.flags)


def cautions(
    facts: RunFacts,
    subjects: Sequence[Subject],
    panels: Sequence[Panel],
    doubts: Doubts,
    *,
    terms: Terms,
    rated: Sequence[str] | None = None,
) -> tuple[Caution, ...]:
    """Returns what limits trust: what the run knows of itself, then what its figures show.

    Args:
        facts: What only the ledger knows.
        subjects: How their performances ended.
        panels: What judges said.
        doubts: What was noticed while reading.
        terms: What performances are called.
        rated: What limits trust in the ratings; None where nothing was rated.
    """
    staged = any(subject.trials for subject in subjects)
    found = [
        *facts.cautions,
        *map(torn_caution, doubts.torn),
        *_about_trials(facts, subjects, terms),
        *(caution for panel in panels for caution in _about_panel(panel, terms)),
        *_about_judgements(panels, doubts, staged and rated is None),
        *(Caution("rating", text) for text in rated or ()),
    ]
    return tuple(sorted(found, key=lambda caution: caution.severity != "serious"))


def torn_caution(place: str) -> Caution:
    """Returns what a report says of a torn last line of one of the run's files.

    Args:
        place: File and line.
    """
    return Caution(
        "torn", f"{place}: the last line is torn and left out. The command that made the file writes it anew."
    )


def _about_trials(facts: RunFacts, subjects: Sequence[Subject], terms: Terms) -> Iterator[Caution]:
    if not any(subject.trials for subject in subjects):
        yield Caution("no_trials", f"No {terms.trial} came about, so there is nothing to judge.")
    for subject in subjects:
        if subject.planned is not None and subject.trials < subject.planned:
            yield Caution(
                "trials_absent",
                f"{subject.planned - subject.trials:,} of {subject.planned:,} planned {terms.trials} of "
                f"{subject.label} never came about. Such {terms.trials} count against nobody; the bounds show what "
                "they could have changed.",
            )
    if facts.unfinished:
        yield Caution(
            "unfinished",
            f"The run is not complete: {counted(len(facts.unfinished), 'unit was', 'units were')} not carried out.",
        )


def _about_panel(panel: Panel, terms: Terms) -> Iterator[Caution]:
    if panel.checklist is None:
        yield Caution(
            "checklist_absent",
            f"No copy of the checklist {panel.checklist_id} is at hand, so the answers of {panel.judge} are shown "
            "without their questions and without a score.",
        )
        return
    if panel.subjects:
        yield card_caution(panel.judge, panel.mode, panel.card)
    yield from _about_missing(panel)
    yield from _about_intervals(panel, terms)


def _about_missing(panel: Panel) -> Iterator[Caution]:
    missing: Counter[str] = Counter()
    for subject in panel.subjects:
        missing.update(subject.missing)
    planned = sum(subject.scores["total"].planned for subject in panel.subjects)
    number = missing.total()
    if panel.subjects and not planned:
        yield Caution(
            "nothing_applies",
            f"No question of the checklist {panel.checklist_id} applies to these transcripts, so there is no score. "
            "Only turns that a model played are judged: see who played what.",
        )
    if not number:
        return
    text = (
        f"{number:,} of {planned:,} answers of {panel.judge} are missing ({share(number, planned)}): "
        f"{_reasons(missing)}. Scores leave them out; the bounds show what they could have changed."
    )
    yield Caution("answers_missing", text, "serious" if number > MUCH_MISSING * planned else "note")


def _about_intervals(panel: Panel, terms: Terms) -> Iterator[Caution]:
    estimates = {subject.subject: subject.scores["total"].summary.estimate for subject in panel.subjects}
    measured = {name: estimate for name, estimate in estimates.items() if estimate.value is not None}
    if not measured:
        return
    cases = min(estimate.clusters for estimate in measured.values())
    if cases < FEW_CASES:
        weight = (
            f"One {terms.case} cannot tell how the score would differ in another: there is no interval."
            if cases == 1
            else f"Another set of {terms.cases} may well give other scores."
        )
        yield Caution("few_cases", f"The scores rest on {terms.of_cases(cases)}. {weight}")
    wide = [
        f"{name} ({decimal(estimate.low)} to {decimal(estimate.high)})"
        for name, estimate in measured.items()
        if estimate.low is not None and estimate.high is not None and estimate.high - estimate.low > WIDE
    ]
    if wide:
        yield Caution("wide_interval", f"The interval of the Quality Score is wide: {'; '.join(wide)}.")
    if len(measured) > 1 and not any(
        one.clearly_above(other) for one in measured.values() for other in measured.values()
    ):
        yield Caution("no_ranking", "The intervals of the subjects overlap: these figures rank nobody.")


def _about_judgements(panels: Sequence[Panel], doubts: Doubts, staged: bool) -> Iterator[Caution]:
    if staged and not panels:
        yield Caution("not_judged", "Nothing was judged: this report shows transcripts without scores.")
    if doubts.noes and doubts.groundless_noes > WEAK_EVIDENCE * doubts.noes:
        yield Caution(
            "weak_evidence",
            f"{doubts.groundless_noes:,} of {counted(doubts.noes, 'answer', 'answers')} “no” name no turn, or only "
            "turns that cannot bear them.",
        )
    counts: tuple[tuple[str, int, str], ...] = (
        ("stale", doubts.stale, "about another version of its transcript"),
        ("orphans", doubts.orphans, "about a transcript that is not here, and left out"),
        ("twice", doubts.twice, "given twice; the last one counts"),
        (
            "unknown_indicators",
            doubts.unknown_indicators,
            "about an indicator that its checklist does not have, and not scored",
        ),
    )
    for kind, number, what in counts:
        if number:
            yield Caution(kind, f"{counted(number, 'answer is', 'answers are')} {what}.")


def _reasons(missing: Mapping[str, int]) -> str:
    named = {
        "left_out": "not answered",
        "not_staged": "trial not staged",
        "checklist_unfit": "checklist about roles that the transcript does not declare",
    }
    return ", ".join(
        f"{named.get(reason, words(reason))} {number:,}" for reason, number in Counter(missing).most_common()
    )
