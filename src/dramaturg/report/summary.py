"""The report for machines: what `--json` prints. What is not known is null; there is no NaN."""

from __future__ import annotations

from collections.abc import Mapping

from dramaturg.judge.audit.card_store import Nearest
from dramaturg.judge.checklist.attempts import Attempts
from dramaturg.judge.checklist.score import RULE
from dramaturg.measure import Estimate
from dramaturg.report.collect import Report
from dramaturg.report.costs import costs
from dramaturg.report.data import ModelRecord, ModelUse
from dramaturg.report.scores import Score
from dramaturg.report.tables import Panel, Subject
from dramaturg.text import Json

FORMAT = "dramaturg-summary/1"


def summary(report: Report) -> dict[str, Json]:
    """Returns scores, endings, costs, failures and cautions as JSON values.

    Args:
        report: What to summarise.
    """
    facts, spent = report.facts, costs(report.facts)
    return {
        "format": FORMAT,
        "study": facts.study,
        "version": facts.package_version,
        "started": facts.started or None,
        "finished": facts.finished or None,
        "wall_s": facts.wall_s,
        "trials": len(report.trials),
        "cautions": [
            {"kind": caution.kind, "severity": caution.severity, "text": caution.text} for caution in report.cautions
        ],
        "subjects": [_subject(subject) for subject in report.subjects],
        "scores": [_panel(panel) for panel in report.panels],
        "formula": RULE,
        "models": [_model(model) for model in facts.models],
        "costs": {
            "calls": spent.calls,
            "input_tokens": spent.input_tokens,
            "cached_tokens": spent.cached_tokens,
            "output_tokens": spent.output_tokens,
            "reasoning_tokens": spent.reasoning_tokens,
            "seconds": spent.seconds,
            "cost_usd": spent.cost_usd,
        },
        "failures": [
            {"unit": failure.unit, "kind": failure.kind, "detail": failure.detail} for failure in facts.failures
        ],
        "unfinished": list(facts.unfinished),
    }


def _subject(subject: Subject) -> Json:
    restarts = sum(subject.restarts.values())
    return {
        "subject": subject.label,
        "protocols": list(subject.protocols),
        "trials": subject.trials,
        "planned_trials": subject.planned,
        "outcomes": dict(subject.outcomes),
        "ends": dict(subject.ends),
        "restarts": restarts if subject.trials else None,
        "restarts_per_trial": restarts / subject.trials if subject.trials else None,
        "restart_causes": dict(subject.restarts),
        "cures": dict(subject.cures),
    }


def _panel(panel: Panel) -> Json:
    return {
        "judge": panel.judge,
        "mode": panel.mode,
        "checklist": panel.checklist_id,
        "checklist_digest": panel.checklist_digest,
        "card": _card(panel.card),
        "scored_reversed": list(panel.negative),
        "subjects": [
            {
                "subject": subject.subject,
                "missing": dict(subject.missing),
                "not_applicable": subject.not_applicable,
                "attempts": _attempts(subject.attempts),
                "retry_rate": {
                    "restarts": subject.retry.restarts,
                    "trials": subject.retry.trials,
                    "per_trial": subject.retry.per_trial,
                    "causes": dict(subject.retry.causes),
                },
                "measures": {measure.key: _score(subject.scores[measure.key]) for measure in panel.measures},
            }
            for subject in panel.subjects
        ],
    }


def _card(nearest: Nearest | None) -> Json:
    if nearest is None:
        return None
    card = nearest.card
    figures = {
        "balanced_accuracy": card.balanced_accuracy,
        "sensitivity": card.sensitivity,
        "specificity": card.specificity,
    }
    return {
        "holds": nearest.exact,
        "differs_in": list(nearest.differences),
        "poor": card.poor,
        "command": card.command,
        **{name: figure.model_dump(mode="json") for name, figure in figures.items()},
    }


def _attempts(attempts: Attempts) -> Mapping[str, Json]:
    return {
        "trials": attempts.trials,
        "completed": attempts.completed,
        "completed_at_first": attempts.first,
        "first_share": _estimate(attempts.first_share),
        "scores_of_completed": {name: _estimate(one) for name, one in attempts.of_completed.items()},
        "scores_of_first": {name: _estimate(one) for name, one in attempts.of_first.items()},
    }


def _estimate(estimate: Estimate) -> Mapping[str, Json]:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high, "trials": estimate.n_used}


def _score(score: Score) -> Mapping[str, Json]:
    estimate = score.summary.estimate
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "if_missing_were_bad": score.summary.low,
        "if_missing_were_good": score.summary.high,
        "answers_used": score.used,
        "answers_planned": score.planned,
        "trials_used": estimate.n_used,
        "trials_planned": estimate.n_planned,
        "cases": estimate.clusters,
        "interval": estimate.method or None,
        "reason": estimate.reason or None,
    }


def _model(model: ModelRecord) -> Json:
    return {
        "role": model.study_role,
        "spec": model.spec,
        "identity": model.identity,
        "digest": model.digest or None,
        "parameters": model.parameters,
        "quantisation": model.quantisation or None,
        "licence": model.licence or None,
        "file_bytes": model.file_bytes,
        "runtime": model.runtime or None,
        "context_tokens": model.context_tokens,
        "served_by": list(model.served_by),
        "peak_memory_bytes": model.peak_memory_bytes,
        "price_date": model.price_date or None,
        "settings": dict(model.settings),
        "uses": [_use(use) for use in model.uses],
    }


def _use(use: ModelUse) -> Json:
    return {
        "purpose": use.purpose,
        "calls": use.calls,
        "input_tokens": use.input_tokens,
        "cached_tokens": use.cached_tokens,
        "output_tokens": use.output_tokens,
        "reasoning_tokens": use.reasoning_tokens,
        "seconds": use.seconds,
        "tokens_per_s": use.tokens_per_s,
        "first_token_s": use.first_token_s,
        "cost_usd": use.cost_usd,
    }
