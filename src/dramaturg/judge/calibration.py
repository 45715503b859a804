"""Whether P(yes) means what it says, against people's answers, and whether a correction would help.

Source: G. W. Brier, "Verification of forecasts expressed in terms of probability", Monthly Weather Review 78 (1950);
J. Platt, "Probabilistic outputs for support vector machines" (1999); B. Zadrozny and C. Elkan, "Transforming classifier
scores into accurate multiclass probability estimates", KDD (2002). Corrections are tried on transcripts that they were
not fitted on.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dramaturg.measure import Estimate, t_interval, wilson_interval
from dramaturg.measure.discrimination import auc

BINS = 10
"""Equal-width bins of the reliability table."""

FOLDS = 5
"""Parts of the transcripts, each corrected by what the others taught."""

FEWEST_ANSWERS, FEWEST_TRANSCRIPTS, FEWEST_OF_A_KIND = 50, 10, 10
"""Labelled answers, transcripts, and answers of each kind below which nothing is fitted."""

NEWTON_STEPS = 200
"""Most steps of a fit; few are needed."""

Numbers = NDArray[np.float64]
Correction = Callable[[Numbers], Numbers]


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers whose P(yes) lies in one tenth.

    Attributes:
        low: Where it begins.
        high: Where it ends.
        n: How many answers.
        probability: Their mean P(yes).
        yes: The share that people answered yes, with Wilson's interval.
    """

    low: float
    high: float
    n: int
    probability: float
    yes: Estimate


@dataclass(frozen=True, slots=True)
class Corrected:
    """One way to correct P(yes), cross-validated by transcript.

    Attributes:
        name: ``platt`` or ``isotonic``.
        brier: Brier score of the corrected probabilities.
        gain: How much lower it is than uncorrected, with an interval over transcripts.
    """

    name: str
    brier: float
    gain: Estimate

    @property
    def helps(self) -> bool:
        """Whether the gain's interval lies above zero."""
        return self.gain.low is not None and self.gain.low > 0


@dataclass(frozen=True, slots=True)
class Calibration:
    """How P(yes) relates to people's answers.

    Attributes:
        n: Answers with both.
        transcripts: About how many transcripts.
        yes: Share of yes among people's answers; None without any.
        brier: Mean squared distance of P(yes) from the answer.
        brier_of_share: That of a judge that always says the share of yes.
        auc: Chance that P(yes) of a yes is above that of a no; None without both.
        bins: Those with answers in them.
        platt: Slope and intercept on the log-odds, fitted on all answers; a calibrated judge has 1 and 0.
        corrected: The corrections that were tried.
        reason: Why none was; empty otherwise.
    """

    n: int
    transcripts: int
    yes: float | None
    brier: float | None
    brier_of_share: float | None
    auc: float | None
    bins: tuple[Bin, ...]
    platt: tuple[float, float] | None
    corrected: tuple[Corrected, ...]
    reason: str


def calibrate(
    probabilities: Sequence[float], truths: Sequence[bool], transcripts: Sequence[str], *, seed: int = 0
) -> Calibration:
    """Returns how P(yes) relates to people's yes and no.

    Args:
        probabilities: P(yes) of each answer.
        truths: Whether people answered yes.
        transcripts: Id of each answer's transcript: what stays together in cross-validation.
        seed: Of the folds.

    Raises:
        ValueError: The three differ in length, or a probability is none.
    """
    p, y = np.asarray(probabilities, np.float64), np.asarray(truths, np.float64)
    if not len(p) == len(y) == len(transcripts) or not bool(((p >= 0) & (p <= 1)).all()):
        raise ValueError("one probability from 0 to 1, one truth and one transcript are needed for each answer")
    reason = _too_few(y, transcripts)
    return Calibration(
        n=len(p),
        transcripts=len(set(transcripts)),
        yes=float(y.mean()) if len(y) else None,
        brier=float(((p - y) ** 2).mean()) if len(y) else None,
        brier_of_share=float(((y.mean() - y) ** 2).mean()) if len(y) else None,
        auc=auc(list(zip(p.tolist(), (y > 0.5).tolist(), strict=True))),
        bins=_bins(p, y),
        platt=None if reason else _platt_parameters(p, y),
        corrected=() if reason else _corrections(p, y, transcripts, seed),
        reason=reason,
    )


def _too_few(y: Numbers, transcripts: Sequence[str]) -> str:
    counts = (
        (len(y), FEWEST_ANSWERS, "labelled answers with a probability"),
        (len(set(transcripts)), FEWEST_TRANSCRIPTS, "labelled transcripts"),
        (int(y.sum()), FEWEST_OF_A_KIND, "answers yes of people"),
        (len(y) - int(y.sum()), FEWEST_OF_A_KIND, "answers no of people"),
    )
    lacking = [f"{number} {what}, {least} are needed" for number, least, what in counts if number < least]
    return f"too few to fit a correction: {'; '.join(lacking)}" if lacking else ""


def _bins(p: Numbers, y: Numbers) -> tuple[Bin, ...]:
    places = np.minimum((p * BINS).astype(np.int64), BINS - 1)
    found: list[Bin] = []
    for place in range(BINS):
        here = places == place
        n = int(here.sum())
        if n:
            yes = wilson_interval(int(y[here].sum()), n)
            found.append(Bin(place / BINS, (place + 1) / BINS, n, float(p[here].mean()), yes))
    return tuple(found)


def _corrections(p: Numbers, y: Numbers, transcripts: Sequence[str], seed: int) -> tuple[Corrected, ...]:
    names = sorted(set(transcripts))
    random.Random(seed).shuffle(names)
    fold_of = {name: number % FOLDS for number, name in enumerate(names)}
    folds = np.asarray([fold_of[name] for name in transcripts])
    ways: tuple[tuple[str, Callable[[Numbers, Numbers], Correction]], ...] = (
        ("platt", _platt),
        ("isotonic", _isotonic),
    )
    return tuple(_tried(name, fit, p, y, folds, transcripts) for name, fit in ways)


def _tried(
    name: str,
    fit: Callable[[Numbers, Numbers], Correction],
    p: Numbers,
    y: Numbers,
    folds: NDArray[np.int64],
    transcripts: Sequence[str],
) -> Corrected:
    corrected = np.empty_like(p)
    for fold in range(FOLDS):
        held = folds == fold
        corrected[held] = fit(p[~held], y[~held])(p[held])
    gains = (p - y) ** 2 - (corrected - y) ** 2
    by_transcript: dict[str, list[float]] = {}
    for transcript, gain in zip(transcripts, gains, strict=True):
        by_transcript.setdefault(transcript, []).append(float(gain))
    return Corrected(name, float(((corrected - y) ** 2).mean()), t_interval(by_transcript, bounds=None))


def _log_odds(p: Numbers) -> Numbers:
    inside = np.clip(p, 1e-6, 1 - 1e-6)
    return np.log(inside / (1 - inside))


def _platt_parameters(p: Numbers, y: Numbers) -> tuple[float, float]:
    """Returns slope and intercept; targets are drawn in a little, as Platt does, so that both stay finite."""
    positive = float(y.sum())
    negative = len(y) - positive
    target = np.where(y > 0.5, (positive + 1) / (positive + 2), 1 / (negative + 2))
    design = np.stack([_log_odds(p), np.ones_like(p)], axis=1)
    parameters = np.zeros(2)
    for _ in range(NEWTON_STEPS):
        fitted = 1 / (1 + np.exp(-np.clip(design @ parameters, -30, 30)))
        curvature = (design.T * (fitted * (1 - fitted))) @ design + 1e-9 * np.eye(2)
        step = np.linalg.solve(curvature, design.T @ (target - fitted))
        # A long step from a flat place would overshoot.
        parameters += step / max(1.0, float(np.abs(step).max()))
        if float(np.abs(step).max()) < 1e-9:
            break
    return float(parameters[0]), float(parameters[1])


def _platt(p: Numbers, y: Numbers) -> Correction:
    slope, intercept = _platt_parameters(p, y)
    return lambda new: 1 / (1 + np.exp(-(slope * _log_odds(new) + intercept)))


def _isotonic(p: Numbers, y: Numbers) -> Correction:
    from scipy.optimize import isotonic_regression

    places, inverse, counts = np.unique(p, return_inverse=True, return_counts=True)
    means = np.bincount(inverse, weights=y) / counts
    result = isotonic_regression(means, weights=counts.astype(np.float64))
    fitted = np.asarray(result.x, np.float64)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    return lambda new: np.interp(new, places, fitted)
