"""From verdicts to a report: every subject's scores, the baselines, and what follows from both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dramaturg.judge.matching.baselines import BASELINES, Baseline, baseline_scored
from dramaturg.judge.matching.beating import Beating, beating
from dramaturg.judge.matching.scored import Match, Scored
from dramaturg.judge.matching.scores import InterviewScores, scores_of
from dramaturg.report.data import RunFacts
from dramaturg.report.interview.cautions import cautions
from dramaturg.report.interview.data import InterviewReport, Matcher, SetFacts, Subject


def interview_report(
    facts: RunFacts, items: SetFacts, replies: Mapping[str, Sequence[Scored]], *, matcher: Matcher, match: Match
) -> InterviewReport:
    """Returns the report of an interview.

    Args:
        facts: What the run knows of itself.
        items: The item set.
        replies: Name of a subject → one entry for each item and repeat that was planned for it.
        matcher: Which rule read the replies.
        match: That rule; the baselines go through it too.

    Raises:
        ValueError: A repeat of an item stands twice for one subject.
    """
    planned = [one for scored in replies.values() for one in scored]
    baselines: dict[Baseline, InterviewScores] = {
        baseline: scores_of(baseline_scored(baseline, planned, match)) for baseline in BASELINES
    }
    scores = {name: scores_of(scored) for name, scored in replies.items()}
    subjects = tuple(Subject(name, found, _against(found, baselines)) for name, found in scores.items())
    questions = {
        name: (item.character, item.question) for found in scores.values() for name, item in found.items.items()
    }
    limits = cautions(facts, items, matcher, questions, subjects)
    return InterviewReport(facts, items, matcher, dict(sorted(questions.items())), subjects, baselines, limits)


def _against(scores: InterviewScores, baselines: Mapping[Baseline, InterviewScores]) -> dict[Baseline, Beating]:
    return {baseline: beating(scores, other) for baseline, other in baselines.items()}
