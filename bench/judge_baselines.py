"""What a judge must beat: a bag of words and the length alone, trained on the very data that the judge was trained on.

    python bench/judge_baselines.py SET --out DIR
    dramaturg audit judge script:DIR/bag_of_words.py --mode glance --checklist court --sample 0 --out CARD

SET is a data set of ``dramaturg train data judge``. Both are logistic regressions over the question and the turn that
it is about: the bag of words has each word of the turn, each word of the question, and each pair of both; the length
has the number of words. The strength of the penalty is chosen on the validation split, with the weights of the data.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from scipy import optimize, sparse, special

from dramaturg.judge.audit.reading import read_material
from dramaturg.model import Message, Reply, Request, TokenLogprob
from dramaturg.model.script import scripted_reply

BUCKETS = 1 << 18
PENALTIES = (0.1, 1.0, 10.0, 100.0)

_ASKED = re.compile(r"About (T\d+) alone: (.*)")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")

Features = Callable[[str, str], Iterator[tuple[int, float]]]


def asked_of(messages: Sequence[Message]) -> tuple[str, str]:
    """Returns the text of the turn that is asked about, and the question."""
    found = _ASKED.search(messages[-1].text)
    if found is None:
        return "", messages[-1].text
    turns = {turn.id: turn.text for turn in read_material(messages).turns}
    return turns.get(found[1], ""), found[2]


def bag_of_words(turn: str, question: str) -> Iterator[tuple[int, float]]:
    """Yields a bucket for each word of the turn and of the question, and for each pair of both."""
    said, asked = _words(turn), _words(question)
    names = [f"t {word}" for word in said] + [f"q {word}" for word in asked]
    names += [f"{one}|{other}" for one in said for other in asked]
    for name in names:
        yield 1 + crc32(name.encode()) % BUCKETS, 1.0


def length_only(turn: str, question: str) -> Iterator[tuple[int, float]]:
    """Yields how long the turn is."""
    long = math.log1p(len(_WORD.findall(turn)))
    yield 1, long
    yield 2, long * long


FEATURES: Mapping[str, Features] = {"bag_of_words": bag_of_words, "length_only": length_only}


def replies(weights: Path) -> Callable[[Request], Reply]:
    """Returns the script that answers with the probability of yes."""
    held = np.load(weights)
    features, values = FEATURES[weights.stem], held["weights"]

    def reply(request: Request) -> Reply:
        turn, question = asked_of(request.messages)
        score = values[0] + sum(values[place] * value for place, value in features(turn, question))
        yes = min(max(float(special.expit(score)), 1e-6), 1 - 1e-6)
        both = (("yes", math.log(yes)), ("no", math.log1p(-yes)))
        word, chance = max(both, key=lambda one: one[1])
        return scripted_reply(request, word, logprobs=(TokenLogprob(word, chance, both),))

    return reply


def fit(folder: Path, features: Features) -> tuple[np.ndarray, float, float]:
    """Returns weights, the penalty that was chosen, and the loss on the validation split."""
    train, validation = (_read(folder / f"{name}.jsonl", features) for name in ("train", "validation"))
    fits = [(_loss(weights := _fit(*train, penalty), *validation), penalty, weights) for penalty in PENALTIES]
    loss, penalty, weights = min(fits, key=lambda one: one[0])
    return weights, penalty, loss


def main() -> None:
    """Fits both and writes them as scripts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name, features in FEATURES.items():
        weights, penalty, loss = fit(options.set, features)
        np.savez_compressed(options.out / f"{name}.npz", weights=weights.astype(np.float32))
        (options.out / f"{name}.py").write_text(
            f"import sys\nfrom pathlib import Path\n\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n"
            f"from judge_baselines import replies\n\nreply = replies(Path(__file__).with_suffix('.npz'))\n"
        )
        print(f"{name}: penalty {penalty:g}, validation loss {loss:.4f}")


def _words(text: str) -> list[str]:
    return sorted({word.casefold() for word in _WORD.findall(text)})


def _read(path: Path, features: Features) -> tuple[Any, np.ndarray, np.ndarray]:
    rows: list[dict[int, float]] = []
    said: list[float] = []
    weights: list[float] = []
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            *asked, answer = [Message(one["role"], one["content"]) for one in row["messages"]]
            found: dict[int, float] = {0: 1.0}
            for place, value in features(*asked_of(asked)):
                found[place] = value
            rows.append(found)
            said.append(float(answer.text.strip().casefold() == "yes"))
            weights.append(float(row["weight"]))
    places = [place for row in rows for place in row]
    values = [value for row in rows for value in row.values()]
    starts = np.cumsum([0, *map(len, rows)])
    matrix = sparse.csr_matrix((values, places, starts), shape=(len(rows), BUCKETS + 1))
    return matrix, np.array(said), np.array(weights)


def _fit(matrix: Any, said: np.ndarray, weights: np.ndarray, penalty: float) -> np.ndarray:
    def objective(vector: np.ndarray) -> tuple[float, np.ndarray]:
        scores = matrix @ vector
        loss = weights @ (np.logaddexp(0, scores) - said * scores) + penalty / 2 * float(vector[1:] @ vector[1:])
        gradient = matrix.T @ (weights * (special.expit(scores) - said))
        gradient[1:] += penalty * vector[1:]
        return float(loss), gradient

    start = np.zeros(matrix.shape[1])
    return optimize.minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 200}).x


def _loss(vector: np.ndarray, matrix: Any, said: np.ndarray, weights: np.ndarray) -> float:
    scores = matrix @ vector
    return float(weights @ (np.logaddexp(0, scores) - said * scores) / weights.sum())


if __name__ == "__main__":
    sys.exit(main())
