"""Guided data: the trajectories that were rated well enough, act by act, for a model that is to play as well.

Source: CharacterBox, section 5. Its published data come from models by name; here a measured score decides, and it is
the lower end of its interval that has to reach the threshold.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping

from dramaturg.errors import UserError
from dramaturg.files import shipped
from dramaturg.judge.rating import HIGHEST, LOWEST, RatingJudgement, load_rubric
from dramaturg.measure import Estimate, t_interval
from dramaturg.stage.transcript import Role, Transcript
from dramaturg.train.acting import acts_of, beliefs_of, example_of, played_roles
from dramaturg.train.example import Gathered
from dramaturg.train.reading import Runs, Source

INTERVAL = "95 % t interval of the mean over the metrics, each first averaged over raters and votes"

_BOUNDS = (float(LOWEST), float(HIGHEST))

_RATED_KIND = "character"
"""Kind of the roles that a rubric must be about."""

RoleKey = tuple[str, str]
"""Digest of a transcript, and the id of a role in it."""


def guided(runs: Runs, *, at_least: float | None, best: int | None, beliefs: bool) -> Gathered:
    """Returns an example for each act of the trajectories that were rated well enough.

    Args:
        runs: Plays and their ratings.
        at_least: What the lower end of a trajectory's mean rating has to reach; None takes every rated trajectory.
        best: How many models count, those with the highest mean over scenes; None lets all count.
        beliefs: Whether what a character believes is learned too.

    Raises:
        UserError: Nothing was rated, or a ledger lacks a call.
    """
    counting, others = _ratings(runs)
    scores = trajectory_scores(counting)
    models = _model_scores(runs, scores)
    teachers = sorted(models, key=lambda name: (-(models[name].value or 0.0), name))[:best]
    found = Gathered()
    found.terms = {
        "at_least": at_least,
        "best_models": best,
        "beliefs": beliefs,
        "interval": INTERVAL,
        "raters": sorted({rating.judge for rating in counting}),
        "model_scores": {name: _shown(models[name]) for name in sorted(models)},
    }
    if others:
        found.left_out["rating: by another rubric than that for characters"] = others
    for digest, (source, transcript) in runs.transcripts.items():
        for role in played_roles(transcript):
            score = scores.get((digest, role.id))
            why = _too_low(score, at_least)
            if not why and transcript.cast[role.id].model not in teachers:
                why = "trajectory: its model is not among the best"
            if why:
                found.left_out[why] += 1
            else:
                _take(found, runs, source, transcript, role, beliefs=beliefs)
    return found


def trajectory_scores(ratings: Iterable[RatingJudgement]) -> dict[RoleKey, Estimate]:
    """Returns the mean rating of every rated trajectory with its interval.

    Args:
        ratings: By the rubric for characters.
    """
    rated: dict[RoleKey, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    planned: dict[RoleKey, int] = defaultdict(int)
    for rating in ratings:
        key = (rating.transcript_digest, rating.role)
        planned[key] += 1
        if rating.value is not None:
            rated[key][rating.metric].append(rating.value)
    return {key: t_interval(rated[key], n_planned=count, bounds=_BOUNDS) for key, count in planned.items()}


def _ratings(runs: Runs) -> tuple[list[RatingJudgement], int]:
    """Returns the ratings by the rubric for characters, and how many there are by others.

    Raises:
        UserError: Nothing in these runs was rated by it.
    """
    rubrics = (load_rubric(path) for path in shipped("rubrics").values())
    names = {rubric.id for rubric in rubrics if rubric.rates == _RATED_KIND}
    everything = [rating for source in runs.sources for rating in source.ratings]
    counting = [rating for rating in everything if rating.rubric.rpartition(" v")[0] in names]
    if not counting:
        others = ", ".join(sorted({rating.rubric for rating in everything}))
        raise UserError(
            f"these runs have no ratings by the rubric for characters, only by {others}"
            if others
            else "these runs have no ratings",
            where=", ".join(str(source.folder) for source in runs.sources),
            allowed="rate them (dramaturg rate run DIR --judge SPEC --out RATED) and name RATED too",
        )
    return counting, len(everything) - len(counting)


def _model_scores(runs: Runs, scores: Mapping[RoleKey, Estimate]) -> dict[str, Estimate]:
    scenes: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (digest, role), score in scores.items():
        if digest not in runs.transcripts or score.value is None:
            continue
        transcript = runs.transcripts[digest][1]
        if role in {one.id for one in played_roles(transcript)}:
            scenes[transcript.cast[role].model][transcript.scenario.id].append(score.value)
    return {name: t_interval(of_scene, bounds=_BOUNDS) for name, of_scene in scenes.items()}


def _shown(score: Estimate) -> dict[str, float | int | None]:
    return {"mean": score.value, "low": score.low, "high": score.high, "scenes": score.clusters}


def _too_low(score: Estimate | None, at_least: float | None) -> str:
    if score is None or score.value is None:
        return "trajectory: not rated"
    if at_least is None:
        return ""
    if score.low is None:
        return "trajectory: too few ratings for an interval"
    return "trajectory: rated too low" if score.low < at_least else ""


def _take(found: Gathered, runs: Runs, source: Source, transcript: Transcript, role: Role, *, beliefs: bool) -> None:
    teacher = transcript.cast[role.id].model
    units: list[str] = []
    for act in acts_of(runs, source, transcript, role.id):
        units.append(act.call.unit)
        if fault := act.fault:
            found.left_out[f"act: {fault}"] += 1
            continue
        place = f"{role.id}/{'+'.join(turn.id for turn in act.turns)}"
        found.examples.append(
            example_of(runs, source, transcript, act.call, act.answer({}), kind="guided", teacher=teacher, place=place)
        )
    if not beliefs or not units:
        return
    for call, answer in beliefs_of(runs, statistics.mode(units), role.id):
        if not answer:
            found.left_out["belief: could not be read"] += 1
            continue
        found.examples.append(
            example_of(
                runs, source, transcript, call, answer, kind="guided", teacher=teacher, place=f"{role.id}/{call.step}"
            )
        )
