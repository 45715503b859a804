"""The control: what words alone tell. A judge that is no better has read no more than a list of words.

Source: logistic regression on which words a transcript has, with a ridge penalty, fitted in its dual form by Newton
steps: J. Zhu and T. Hastie, "Kernel logistic regression and the import vector machine", Journal of Computational and
Graphical Statistics 14 (2005). Both classes weigh the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from dramaturg.judge.audit.figures import Figure, figure
from dramaturg.judge.audit.mutation import Specimen
from dramaturg.measure import Estimate, auc_interval, balanced_accuracy, cluster_interval

RIDGE = 1.0
"""Weight of the penalty on the words' coefficients."""

STEPS = 12
"""Newton steps: far more than these convex problems need."""

FEWEST_BASES = 2
"""Base transcripts in which a word must stand: what is said in one alone tells nothing of another."""

_LEAST = 1e-6
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")

_Matrix = NDArray[np.float64]


class Control(BaseModel):
    """How well words alone tell mutants from innocent transcripts, when those of their base were not learnt from.

    Attributes:
        balanced_accuracy: As of the judge, but per specimen and not per question.
        auc: As of the judge.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    balanced_accuracy: Figure
    auc: Figure


def control_of(specimens: Sequence[Specimen]) -> Control:
    """Returns the control on the same specimens: for each base, learnt from all others.

    Args:
        specimens: Mutants, clean and harmlessly edited ones.
    """
    bases = np.asarray([specimen.base for specimen in specimens])
    faulty = np.asarray([bool(specimen.faults) for specimen in specimens])
    words = _presence(specimens)
    scored: dict[str, list[tuple[float, bool]]] = {}
    for base in dict.fromkeys(bases.tolist()):
        own = bases == base
        scores = _scores(words[~own], faulty[~own], words[own])
        scored[base] = list(zip(scores.tolist(), faulty[own].tolist(), strict=True))
    return Control(
        balanced_accuracy=figure(balanced_accuracy(_right(scored, faulty=True), _right(scored, faulty=False))),
        auc=figure(auc_interval(scored)),
    )


def _presence(specimens: Sequence[Specimen]) -> _Matrix:
    """Returns a row per specimen and a column per word that stands in several bases: 1 where it is said."""
    texts = [_words(specimen) for specimen in specimens]
    found: dict[str, set[str]] = {}
    for specimen, words in zip(specimens, texts, strict=True):
        for word in words:
            found.setdefault(word, set()).add(specimen.base)
    vocabulary = sorted(word for word, bases in found.items() if len(bases) >= FEWEST_BASES)
    columns = {word: column for column, word in enumerate(vocabulary)}
    matrix = np.zeros((len(texts), len(columns)))
    for row, words in enumerate(texts):
        matrix[row, [columns[word] for word in words if word in columns]] = 1.0
    return matrix


def _words(specimen: Specimen) -> frozenset[str]:
    turns = specimen.transcript.turns
    return frozenset(word.casefold() for turn in turns for word in _WORD.findall(turn.text))


def _scores(learnt: _Matrix, faulty: NDArray[np.bool_], unseen: _Matrix) -> _Matrix:
    """Returns the log-odds of a fault in each unseen row; zeros where there is only one class to learn."""
    count = len(learnt)
    positives = int(faulty.sum())
    if positives in {0, count}:
        return np.zeros(len(unseen))
    kernel = learnt @ learnt.T
    weight = np.where(faulty, count / (2 * positives), count / (2 * (count - positives)))
    system = np.zeros((count + 1, count + 1))
    system[:count, count] = system[count, :count] = 1.0
    fitted, solution = np.zeros(count), np.zeros(count + 1)
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(fitted, -30, 30)))
        spread = np.maximum(chance * (1 - chance), _LEAST)
        system[:count, :count] = kernel
        system[np.arange(count), np.arange(count)] += RIDGE / (weight * spread)
        wanted = fitted + (faulty - chance) / spread
        solution = np.linalg.solve(system, np.append(wanted, 0.0))
        fitted = kernel @ solution[:count] + solution[count]
    return unseen @ (learnt.T @ solution[:count]) + solution[count]


def _right(scored: dict[str, list[tuple[float, bool]]], *, faulty: bool) -> Estimate:
    return cluster_interval(
        {
            base: [float((score > 0) == faulty) for score, is_faulty in entries if is_faulty == faulty]
            for base, entries in scored.items()
        }
    )
