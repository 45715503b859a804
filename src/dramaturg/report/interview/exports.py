"""The scores of an interview for machines: JSON with everything, CSV with one row for each score."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from dramaturg.judge.matching.beating import Difference
from dramaturg.judge.matching.joint import Joint
from dramaturg.judge.matching.repeats import Repeats
from dramaturg.judge.matching.scores import RULE, InterviewScores, Score
from dramaturg.judge.matching.soft import Soft
from dramaturg.measure import Classification, Estimate
from dramaturg.report.exports import as_json, csv_text
from dramaturg.report.interview.data import InterviewReport
from dramaturg.report.interview.published import published_tables
from dramaturg.report.interview.sections import headline
from dramaturg.text import Json

FORMAT = "dramaturg-interview-scores/1"

COLUMNS = (
    "subject",
    "kind",
    "score",
    "value",
    "low",
    "high",
    "wilson_low",
    "wilson_high",
    "if_missing_were_wrong",
    "if_missing_were_right",
    "replies_used",
    "replies_planned",
    "items_used",
    "items_planned",
    "characters",
    "interval",
)
"""Columns of the CSV."""


def to_json(report: InterviewReport) -> dict[str, Json]:
    """Returns the whole report as JSON values; what is not known is null.

    Args:
        report: What to show.
    """
    return {
        "format": FORMAT,
        "study": report.facts.study,
        "version": report.facts.package_version,
        "headline": headline(report),
        "item_set": {
            "id": report.items.id,
            "title": report.items.title,
            "version": report.items.version,
            "digest": report.items.digest or None,
            "licence": report.items.licence or None,
            "items": len(report.questions),
            "problems": list(report.items.problems),
        },
        "matcher": report.matcher,
        "cautions": [
            {"kind": caution.kind, "severity": caution.severity, "text": caution.text} for caution in report.cautions
        ],
        "subjects": [
            {
                "subject": subject.name,
                **_scores(subject.scores),
                "against_baselines": {
                    baseline: {
                        "differences": {name: _difference(one) for name, one in against.differences.items()},
                        "joint": _difference(against.joint) if against.joint is not None else None,
                    }
                    for baseline, against in subject.against.items()
                },
            }
            for subject in report.subjects
        ],
        "baselines": {baseline: _scores(scores) for baseline, scores in report.baselines.items()},
        "published_tables": as_json(published_tables(report, intervals=True)),
        "formula": RULE,
    }


def to_csv(report: InterviewReport) -> str:
    """Returns every score of every subject and baseline, one in a row under the names of `COLUMNS`.

    A text that a spreadsheet would take for a formula gets an apostrophe before it.

    Args:
        report: What to show.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for subject in report.subjects:
        writer.writerows(_rows(subject.name, "subject", subject.scores))
    for baseline, scores in report.baselines.items():
        writer.writerows(_rows(baseline, "baseline", scores))
    return out.getvalue()


def _rows(name: str, kind: str, scores: InterviewScores) -> Iterator[tuple[object, ...]]:
    for measure, score in scores.scores.items():
        one = score.estimate
        wilson = score.wilson or (None, None)
        bounds = (score.low, score.high)
        counts = (score.used, score.planned, one.n_used, one.n_planned, score.characters)
        yield (csv_text(name), kind, measure, one.value, one.low, one.high, *wilson, *bounds, *counts, one.method)
    if scores.joint is not None:
        one = scores.joint.both
        blanks = (None,) * 8
        yield (csv_text(name), kind, "joint", one.value, one.low, one.high, *blanks, one.n_used, one.method)


def _scores(scores: InterviewScores) -> dict[str, Json]:
    return {
        "replies_used": scores.used,
        "replies_planned": scores.planned,
        "replies_judged_by_a_model": scores.judged,
        "replies_to_invalid_items": scores.invalid,
        "scores": {measure: _score(score) for measure, score in scores.scores.items()},
        "joint": _joint(scores.joint) if scores.joint is not None else None,
        "labels": {kind: _classification(found) for kind, found in scores.labels.items()},
        "statuses": {kind: dict(found) for kind, found in scores.statuses.items()},
        "flags": dict(scores.flags),
        "repeats": _repeats(scores.repeats) if scores.repeats is not None else None,
        "soft": _soft(scores.soft) if scores.soft is not None else None,
    }


def _score(score: Score) -> dict[str, Json]:
    return {
        **_estimate(score.estimate),
        "wilson": list(score.wilson) if score.wilson is not None else None,
        "if_missing_were_wrong": score.low,
        "if_missing_were_right": score.high,
        "replies_used": score.used,
        "replies_planned": score.planned,
        "characters": score.characters,
    }


def _estimate(one: Estimate) -> dict[str, Json]:
    return {
        "value": one.value,
        "low": one.low,
        "high": one.high,
        "used": one.n_used,
        "planned": one.n_planned,
        "clusters": one.clusters,
        "interval": one.method or None,
        "reason": one.reason or None,
    }


def _difference(difference: Difference) -> dict[str, Json]:
    return {**_estimate(difference.estimate), "standing": difference.standing}


def _joint(found: Joint) -> dict[str, Json]:
    return {
        **_estimate(found.both),
        "only_in_character": found.only_in_character,
        "only_knows": found.only_knows,
        "neither": found.neither,
        "characters_with_one_kind_alone": found.one_kind_alone,
    }


def _classification(found: Classification) -> dict[str, Json]:
    return {
        "macro_f1": found.macro_f1,
        "balanced_accuracy": found.balanced_accuracy,
        "labels": [
            {
                "label": one.label,
                "expected": one.expected,
                "answered": one.answered,
                "hits": one.hits,
                "precision": one.precision,
                "recall": _estimate(one.recall),
                "f1": one.f1,
            }
            for one in found.labels
        ],
        "confusion": [
            {"expected": expected, "answered": answered, "items": items}
            for (expected, answered), items in found.confusion.items()
        ],
    }


def _repeats(found: Repeats) -> dict[str, Json]:
    return {
        "runs": found.runs,
        "items": found.items,
        "items_left_out": found.left_out,
        "changed": found.changed,
        "deviations": {
            measure: {"value": one.value, "low": one.low, "high": one.high, "runs": list(one.runs)}
            for measure, one in found.deviations.items()
        },
    }


def _soft(found: Soft) -> dict[str, Json]:
    return {
        **_estimate(found.score),
        "ceiling": found.ceiling,
        "people": found.people,
        "people_items": found.people_items,
    }
