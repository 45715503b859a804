"""Persona leakage across the rows of a file of replies: some were answered under another row's character.

A client that keeps the first system prompt, a server that reuses a cache, a conversation that is not reset: all leave
the same trace, replies that name another row's character, in blocks of the file. Order without meaning leaves none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dramaturg.judge.audit.label_shifts import Drift, LabelShift, drift_of, edge_p, shift_at
from dramaturg.judge.audit.persona_names import (
    FEWEST_ROWS,
    likely_names,
    owners_of_parts,
    rows_naming,
    words_of,
)
from dramaturg.measure.scan import Run, dealt, run_scores, strongest_run

ALPHA = 0.01
"""Probability by chance at which a block is called one."""

DEALS = 199
PACK = 25
"""Rows that stay together when rows are dealt and nobody knows their characters: a file may be sorted by character."""

SUSPECT_SHARE = 0.02
"""Share of rows that name one other character, from which that is worth a look even without a block."""

_MOST_BLOCKS = 5
_SAME = 0.6

Verdict: TypeAlias = Literal["leak", "suspect", "none seen"]


@dataclass(frozen=True, slots=True)
class Answered:
    """A row of a file of replies.

    Attributes:
        row: Its line in the file.
        text: What was answered, without the keys of its form.
        label: The emotion, yes or no that it answers; empty where it answers otherwise.
        stratum: Rows with the same stratum are alike in what they should answer, as far as is known.
        character: Id of the character that was asked; empty where it is not known.
        known: What the reply may well name: description, message, what was said before.
    """

    row: int
    text: str
    label: str = ""
    stratum: str = ""
    character: str = ""
    known: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """Rows in a stretch of the file that name the same other character.

    Attributes:
        personas: Who is named: the characters' names, or the words that look like one.
        first: First row.
        last: Last row.
        rows: Rows in the stretch.
        naming: Those that name the persona.
        share: `naming` of `rows`.
        outside: Rows outside the stretch that name the persona.
        characters: Different characters that the naming rows belong to; None where they are not known.
        shift: The label whose share differs most inside; None without labels on both sides.
    """

    personas: tuple[str, ...]
    first: int
    last: int
    rows: int
    naming: int
    share: float
    outside: int
    characters: int | None
    shift: LabelShift | None


@dataclass(frozen=True, slots=True)
class Spread:
    """A persona that rows of others name all over the file."""

    persona: str
    rows: int
    share: float


@dataclass(frozen=True, slots=True)
class Bleed:
    """What a file shows of leakage.

    Attributes:
        verdict: ``leak`` where names of others stand in blocks, or more often than a row's own; ``suspect`` where only
            labels drift, or one name is everywhere.
        rows: Rows looked at.
        own: Rows that name their own character; None where names are not known.
        other: Rows that name another row's character; without known names, rows with a word that looks like a name.
        p: Probability of a block as dense, were the order of rows without meaning; None where too few rows name any.
        blocks: The blocks, in the order of the file.
        p_edges: Probability of labels that differ as much inside the blocks; None without blocks or labels.
        drift: The stretch whose labels differ most; None with too few.
        spread: Personas named all over the file.
        known_names: Whether the names of the characters were known.
        known_rows: Whether the character of each row was known.
    """

    verdict: Verdict
    rows: int
    own: int | None
    other: int
    p: float | None
    blocks: tuple[Block, ...]
    p_edges: float | None
    drift: Drift | None
    spread: tuple[Spread, ...]
    known_names: bool
    known_rows: bool


def find_bleed(rows: Sequence[Answered], names: Mapping[str, str] | None = None, *, seed: int = 1) -> Bleed:
    """Returns what the rows of one model show of leakage.

    Names count that stand neither in the row's own character nor in what was said to it. The p-value deals the rows
    anew: singly where each row's character is known, else in packs of 25 neighbours.

    Args:
        rows: In the order of the file.
        names: Character's id → name; None where they are not known: then words that look like names stand in.
        seed: Of the dealing.
    """
    known_rows = bool(rows) and all(row.character for row in rows)
    parts, own = _parts(rows, names)
    shown = names or {}
    owners = owners_of_parts(shown)
    together = 1 if known_rows else PACK
    generator = np.random.default_rng(seed)
    places = dealt(len(rows), deals=DEALS, together=together, generator=generator)
    candidates = {part: np.array(found, dtype=np.int64) for part, found in parts.items() if len(found) >= FEWEST_ROWS}
    p, runs = _runs(candidates, places, len(rows))
    merged = _merged(runs, candidates)
    p_edges = edge_p(rows, [(run.first, run.last) for _, run in merged], generator) if merged else None
    packs = places if together == PACK else dealt(len(rows), deals=DEALS, together=PACK, generator=generator)
    drift = drift_of(rows, packs, least=2 * PACK)
    in_blocks = {part for found, _ in merged for part in found}
    spread = tuple(
        Spread(_persona(part, owners, shown), len(found), len(found) / len(rows))
        for part, found in sorted(candidates.items(), key=lambda pair: -len(pair[1]))
        if part not in in_blocks and _everywhere(len(found), len(rows), names is not None or known_rows)
    )
    outnumbering = names is not None and any(one.rows > (own or 0) for one in spread)
    drifts = drift is not None and drift.p <= ALPHA
    return Bleed(
        verdict="leak" if merged or outnumbering else "suspect" if spread or drifts else "none seen",
        rows=len(rows),
        own=own,
        other=len({number for found in parts.values() for number in found}),
        p=p,
        blocks=tuple(_block(found, run, candidates, rows, owners, shown, known_rows) for found, run in merged),
        p_edges=p_edges,
        drift=drift,
        spread=spread,
        known_names=names is not None,
        known_rows=known_rows,
    )


def _parts(rows: Sequence[Answered], names: Mapping[str, str] | None) -> tuple[dict[str, list[int]], int | None]:
    """Returns part of a name → rows that name it though it is not theirs, and how many rows name their own."""
    texts = [row.text for row in rows]
    if names is None:
        found = rows_naming(texts, likely_names(texts))
        return {part: _without_owner(numbers, rows) for part, numbers in found.items()}, None
    owners = owners_of_parts(names)
    known = [{word.casefold() for word in words_of(row.known)} for row in rows]
    own: set[int] = set()
    others: dict[str, list[int]] = {}
    for part, numbers in rows_naming(texts, owners).items():
        own.update(number for number in numbers if rows[number].character in owners[part])
        others[part] = [
            number
            for number in numbers
            if rows[number].character not in owners[part]
            and part not in known[number]
            and (part.islower() or part not in rows[number].known)
        ]
    return others, len(own)


def _without_owner(numbers: Sequence[int], rows: Sequence[Answered]) -> list[int]:
    """Returns the rows of all but the character who is named most; all where characters are not known."""
    most = Counter(rows[number].character for number in numbers).most_common(1)
    if not most or not most[0][0]:
        return list(numbers)
    return [number for number in numbers if rows[number].character != most[0][0]]


def _runs(
    candidates: Mapping[str, NDArray[np.int64]], places: NDArray[np.int64], rows: int
) -> tuple[float | None, list[tuple[str, Run]]]:
    """Returns the p-value of the densest run of any name, and every run that is denser than chance has them."""
    if not candidates:
        return None, []
    chance = np.zeros(len(places))
    best = 0.0
    for marks in candidates.values():
        chance = np.maximum(chance, run_scores(np.sort(places[:, marks], axis=1), rows))
        best = max(best, float(run_scores(marks[None, :], rows)[0]))
    p = float(1 + np.count_nonzero(chance >= best - 1e-9)) / (1 + len(chance))
    needed = float(np.sort(chance)[-max(1, round(ALPHA * (1 + len(chance))) - 1)])
    runs: list[tuple[str, Run]] = []
    for part, marks in candidates.items():
        left = marks
        while len(left) >= FEWEST_ROWS and len([name for name, _ in runs if name == part]) < _MOST_BLOCKS:
            if float(run_scores(left[None, :], rows)[0]) <= needed:
                break
            run = strongest_run(left, rows)
            runs.append((part, run))
            left = left[(left < run.first) | (left > run.last)]
    return p, runs if p <= ALPHA else []


def _merged(
    runs: Sequence[tuple[str, Run]], candidates: Mapping[str, NDArray[np.int64]]
) -> list[tuple[tuple[str, ...], Run]]:
    """Returns the runs in the order of the file, those over the same rows as one, the most frequent name first."""
    merged: list[tuple[list[str], Run]] = []
    for part, run in sorted(runs, key=lambda pair: -len(candidates[pair[0]])):
        for parts, other in merged:
            common = min(run.last, other.last) - max(run.first, other.first) + 1
            if common > _SAME * (min(run.last - run.first, other.last - other.first) + 1):
                parts.append(part)
                break
        else:
            merged.append(([part], run))
    return sorted(((tuple(dict.fromkeys(parts)), run) for parts, run in merged), key=lambda pair: pair[1].first)


def _everywhere(naming: int, rows: int, known: bool) -> bool:
    """Returns whether rows all over the file name one persona; without known characters a tenth must do so."""
    return naming >= 2 * FEWEST_ROWS and naming / rows >= (SUSPECT_SHARE if known else 5 * SUSPECT_SHARE)


def _block(
    parts: tuple[str, ...],
    run: Run,
    candidates: Mapping[str, NDArray[np.int64]],
    rows: Sequence[Answered],
    owners: Mapping[str, set[str]],
    names: Mapping[str, str],
    known_rows: bool,
) -> Block:
    naming = sorted({int(number) for part in parts for number in candidates[part]})
    inside = [number for number in naming if run.first <= number <= run.last]
    size = run.last - run.first + 1
    return Block(
        personas=tuple(dict.fromkeys(_persona(part, owners, names) for part in parts)),
        first=rows[run.first].row,
        last=rows[run.last].row,
        rows=size,
        naming=len(inside),
        share=len(inside) / size,
        outside=len(naming) - len(inside),
        characters=len({rows[number].character for number in inside}) if known_rows else None,
        shift=shift_at(rows, run.first, run.last),
    )


def _persona(part: str, owners: Mapping[str, set[str]], names: Mapping[str, str]) -> str:
    """Returns the name of the character whose part of a name it is; the part itself where several have it."""
    found = owners.get(part, set[str]())
    return names[next(iter(found))] if len(found) == 1 else part.title()
