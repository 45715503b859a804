"""Proves that nothing stands in two splits: no scene, no character, no duplicate, no long run of the same words.

A run is 13 words on end in one line or one value of JSON, or 20 signs of a script without blanks. What the system's own
prompts say in every chat is no leak, and neither is a stock phrase, which stands in three scenes or more; both are
taken out before.

Source: T. Brown et al., "Language models are few-shot learners", appendix C, who look for 13-grams that training and
test share, and pass over those of many documents.
"""

from __future__ import annotations

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import combinations
from pathlib import Path
from typing import Literal

from dramaturg.files import read_text, shipped
from dramaturg.prompts import load_prompt, prompt_names
from dramaturg.text import sha256

RUN_WORDS = 13
RUN_SIGNS = 20

_PROMPT_WORDS = 5
_PROMPT_SIGNS = 8
"""A stretch of this length that a prompt of the system has too is the prompt's."""

_LEAST_SCENES = 3
_SHARE_OF_SCENES = 0.05
"""What stands in so many scenes, and in so large a part of all, is a stock phrase."""

_LEAST_ROWS = 3
_SHARE_OF_ROWS = 0.5
"""The same of the rows of each split, where a row does not name its scene."""

_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")
_SIGN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_FRAGMENT = re.compile(r'[\n\r"]')
"""Parts of a text that a run stays inside of: lines, and the values of JSON."""
_VARIABLE = re.compile(r"\{\{[^{}\n]*\}\}")

LeakKind = Literal["scene", "character", "duplicate", "run"]


@dataclass(frozen=True, slots=True)
class Piece:
    """One example of a split, whatever file it is from.

    Attributes:
        split: Which split.
        place: Where it is, for people: ``FILE:LINE`` or an id.
        texts: All of its messages, the answer last.
        scene: Id of its scene or case; empty where the file does not say.
        characters: Names; none where the file does not say.
    """

    split: str
    place: str
    texts: tuple[str, ...]
    scene: str = ""
    characters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Leak:
    """Something that stands in two splits.

    Attributes:
        kind: What.
        what: The scene, the character, or the words.
        splits: Both splits.
        places: One example of each.
    """

    kind: LeakKind
    what: str
    splits: tuple[str, str]
    places: tuple[str, str]

    def __str__(self) -> str:
        named = {"scene": "the scene", "character": "the character", "duplicate": "the example", "run": "the words"}
        return (
            f"{named[self.kind]} {self.what!r} in {self.splits[0]} ({self.places[0]}) "
            f"and in {self.splits[1]} ({self.places[1]})"
        )


def find_leaks(pieces: Sequence[Piece]) -> list[Leak]:
    """Returns what stands in two splits, scenes first, then characters, duplicates and runs; none where nothing does.

    Args:
        pieces: All examples of all splits.
    """
    found = [
        *_shared("scene", ((piece.scene, piece) for piece in pieces if piece.scene)),
        *_shared("character", ((_plain(name), piece) for piece in pieces for name in piece.characters)),
        *_shared("duplicate", ((_shown_duplicate(piece), piece) for piece in pieces)),
    ]
    seen: set[tuple[str, ...]] = set()
    for one, other in combinations(sorted({piece.split for piece in pieces}), 2):
        for leak in _shared("run", _runs_of(pieces, one, other)):
            if (pair := (*leak.splits, *leak.places)) not in seen:  # many runs of one pair say the same
                seen.add(pair)
                found.append(leak)
    return found


def sharing(pieces: Sequence[Piece], split: str, held_out: str) -> frozenset[str]:
    """Returns the places of pieces of a split that share a run with one that is held out.

    Args:
        pieces: All examples of all splits.
        split: The one that gives way.
        held_out: The one that must share nothing.
    """
    return frozenset(piece.place for _, piece in _runs_of(pieces, split, held_out) if piece.split == split)


def _shared(kind: LeakKind, named: Iterable[tuple[str, Piece]]) -> Iterator[Leak]:
    places: dict[str, dict[str, str]] = {}
    for what, piece in named:
        places.setdefault(what, {}).setdefault(piece.split, piece.place)
    for what, by_split in places.items():
        for one, other in combinations(sorted(by_split), 2):
            yield Leak(kind, what, (one, other), (by_split[one], by_split[other]))


def _shown_duplicate(piece: Piece) -> str:
    whole = "\n\n".join(_plain(text) for text in piece.texts)
    return f"{sha256(whole)[:8]}: …{whole[-60:]}"


def _runs_of(pieces: Sequence[Piece], one: str, other: str) -> Iterator[tuple[str, Piece]]:
    """Yields the runs that stand in both of two splits, each with every piece of them that has it.

    Stock phrases are left out. Where one of the two is the largest split, what is stock is told by these two alone, so
    that a check of them finds the same whether a third one is there or not.
    """
    pair = [piece for piece in pieces if piece.split in {one, other}]
    largest = Counter(split for split, _ in {(piece.split, piece.scene) for piece in pieces}).most_common(1)
    among = pair if largest and largest[0][0] in {one, other} else pieces
    splits: dict[int, set[str]] = defaultdict(set)
    for piece in pair:
        for text in piece.texts:
            for run in _hashes(text):
                splits[run].add(piece.split)
    suspects = {run for run, of_run in splits.items() if len(of_run) > 1}
    if not suspects:
        return
    holders: dict[int, list[Piece]] = defaultdict(list)
    for piece in among:
        for run in {run for text in piece.texts for run in _hashes(text) if run in suspects}:
            holders[run].append(piece)
    count = len({piece.scene for piece in among})
    sizes = Counter(piece.split for piece in among)
    for run, of_run in holders.items():
        if _is_stock(of_run, count, sizes):
            continue
        words = _words_of(run, of_run[0].texts)
        for piece in of_run:
            if piece.split in {one, other}:
                yield words, piece


def _is_stock(holders: Sequence[Piece], scenes: int, sizes: Mapping[str, int]) -> bool:
    """Returns whether a run is nobody's own: of several scenes, or of most rows where no row names its scene."""
    if all(piece.scene for piece in holders):
        return len({piece.scene for piece in holders}) >= max(_LEAST_SCENES, _SHARE_OF_SCENES * scenes)
    counts = Counter(piece.split for piece in holders)
    return all(count >= max(_LEAST_ROWS, _SHARE_OF_ROWS * sizes[split]) for split, count in counts.items())


@functools.lru_cache(maxsize=1 << 16)
def _hashes(text: str) -> tuple[int, ...]:
    """Returns a hash for each run of a text."""
    return tuple(hash(run) for run in _runs(text))


def _words_of(run: int, texts: Iterable[str]) -> str:
    for text in texts:
        for words in _runs(text):
            if hash(words) == run:
                return " ".join(words)
    return ""


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    for line in _FRAGMENT.split(text):
        tokens = _tokens(line)
        signs = sum(1 for token in tokens if _SIGN.match(token))
        is_dense = 2 * signs >= len(tokens)
        length, own = (RUN_SIGNS, _PROMPT_SIGNS) if is_dense else (RUN_WORDS, _PROMPT_WORDS)
        if len(tokens) < length:
            continue
        prompts = _prompt_stretches()
        covered = [False] * len(tokens)
        for start in range(len(tokens) - own + 1):
            if tuple(tokens[start : start + own]) in prompts:
                covered[start : start + own] = [True] * own
        clear = 0
        for end, is_covered in enumerate(covered, start=1):
            clear = 0 if is_covered else clear + 1
            if clear >= length:
                yield tuple(tokens[end - length : end])


@functools.cache
def _prompt_stretches() -> frozenset[tuple[str, ...]]:
    """Returns every short stretch of the shipped prompts, rubrics and checklists: what all chats have."""
    languages = sorted(folder.name for folder in (_content() / "prompts").iterdir() if folder.is_dir())
    texts = [load_prompt(name, language).text for name in prompt_names() for language in languages]
    texts += [read_text(path) for shelf in ("rubrics", "checklists") for path in shipped(shelf).values()]
    found: set[tuple[str, ...]] = set()
    for text in texts:
        for part in _VARIABLE.split(text):
            tokens = _tokens(part)
            for length in (_PROMPT_WORDS, _PROMPT_SIGNS):
                found.update(tuple(tokens[at : at + length]) for at in range(len(tokens) - length + 1))
    return frozenset(found)


def _content() -> Path:
    return Path(str(resources.files("dramaturg"))) / "content"


def _tokens(text: str) -> list[str]:
    return [token.casefold() for token in _TOKEN.findall(text)]


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
