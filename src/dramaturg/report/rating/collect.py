"""The report of a folder with ratings, gathered from its files and its ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dramaturg.errors import UserError
from dramaturg.files import OnTorn, read_jsonl, shipped
from dramaturg.judge.audit.world.card import RaterCard
from dramaturg.judge.audit.world.store import rater_card_for
from dramaturg.judge.rating import RatingJudgement, Rubric, rubric_in
from dramaturg.judge.rating.reliability import Alpha, RatingHalo, alphas, halo_of
from dramaturg.judge.rating.score import CharacterRating, SubjectRating, score_characters, score_table
from dramaturg.judge.rating.table import RatingTable, tables_of
from dramaturg.ledger import Ledger, Use
from dramaturg.model import Identity, Usage
from dramaturg.model.prices import price_of
from dramaturg.report.rating.layouts import SceneCost
from dramaturg.run.rating import RATINGS, used_rubrics
from dramaturg.run.records import UnitRecord
from dramaturg.run.sitting import UNITS
from dramaturg.run.subjects import label_of, labels_of, measured_roles

MUCH_HALO = 0.2
"""Halo from which a judge is said to follow one impression."""


@dataclass(frozen=True, slots=True)
class RatedTable:
    """What one judge said, with all that follows from it.

    Attributes:
        table: The ratings.
        rubric: What was rated, in English where the rubric ships so.
        scores: By subject and language.
        characters: By subject, scene and character.
        alphas: By dimension, language and unit.
        halo: Whether one impression colours all metrics.
        of_itself: Whether the judge rates what it played itself.
        card: The judge's card from the audit of raters; None where it has none.
    """

    table: RatingTable
    rubric: Rubric
    scores: tuple[SubjectRating, ...]
    characters: tuple[CharacterRating, ...]
    alphas: tuple[Alpha, ...]
    halo: RatingHalo
    of_itself: bool
    card: RaterCard | None


@dataclass(frozen=True, slots=True)
class RatingReport:
    """What a folder says.

    Attributes:
        title: Name of the folder.
        rated: A table for each judge and way of asking.
        cautions: What must be known before a figure is believed.
        costs: What a rated transcript took; empty where the ledger says nothing.
    """

    title: str
    rated: tuple[RatedTable, ...]
    cautions: tuple[str, ...]
    costs: tuple[SceneCost, ...]


def read_ratings(folder: Path, *, on_torn: OnTorn | None = None) -> Iterator[RatingJudgement]:
    """Yields the ratings of a folder or a file.

    Raises:
        UserError: There are none; the message says where they were looked for.
    """
    path = folder / RATINGS if folder.is_dir() else folder
    if not path.is_file():
        raise UserError(f"holds no {RATINGS}", where=str(folder), allowed="the --out folder of dramaturg rate")
    return (one for _, one in read_jsonl(path, RatingJudgement, on_torn=on_torn))


def collect_ratings(folder: Path, ledger: Ledger | None = None, *, on_torn: OnTorn | None = None) -> RatingReport:
    """Returns the report of a folder.

    Args:
        folder: Output folder of a rating.
        ledger: Its ledger, for the costs; None leaves them out.
        on_torn: Is told of a torn last line.

    Raises:
        UserError: The folder holds no ratings, or a file of it is broken.
    """
    tables = tables_of(read_ratings(folder, on_torn=on_torn))
    used = used_rubrics(folder) if folder.is_dir() else {}
    records = _records(folder)
    labels = labels_of(records)
    roles = measured_roles(folder, labels, on_torn=_unheard) if labels else {}
    rated = tuple(
        _rated(table, rubric_of(table, used), [other for other in tables if other.judge != table.judge], roles)
        for table in tables
    )
    costs: tuple[SceneCost, ...] = ()
    if ledger is not None and labels:
        costs = tuple(play_costs(ledger, records))
    elif ledger is not None:
        costs = scene_costs(ledger.uses(by_role=True), len({row.transcript for table in tables for row in table.rows}))
    empty = {rubric.family for rubric in used.values()} - {one.rubric.family for one in rated}
    return RatingReport(folder.resolve().name, rated, (*_cautions(rated), *map(_nobody, sorted(empty))), costs)


def joined(reports: Sequence[RatingReport]) -> RatingReport:
    """Returns what several folders say together: the ratings of one judge, asked in one way, stand in one table.

    Args:
        reports: At least one.

    Raises:
        UserError: Two folders hold ratings of the same performance by the same judge: a retest is no further rating.
    """
    if len(reports) == 1:
        return reports[0]
    groups: dict[tuple[str, str, str], list[RatedTable]] = {}
    for report in reports:
        for one in report.rated:
            groups.setdefault((one.table.judge, one.table.mode, one.rubric.family), []).append(one)
    tables = {key: _one_table([one.table for one in parts]) for key, parts in groups.items()}
    rated = tuple(
        _rated(tables[key], parts[0].rubric, [other for (judge, *_), other in tables.items() if judge != key[0]], {})
        for key, parts in groups.items()
    )
    cautions = dict.fromkeys(caution for report in reports for caution in report.cautions)
    costs = tuple(cost for report in reports for cost in report.costs)
    return RatingReport(", ".join(report.title for report in reports), rated, tuple(cautions), costs)


def _one_table(tables: Sequence[RatingTable]) -> RatingTable:
    rows = [row for table in tables for row in table.rows]
    twice = [key for key, count in Counter(row.key for row in rows).items() if count > 1]
    if twice:
        raise UserError(
            f"{tables[0].judge} rates {twice[0][1]} of {twice[0][0]} in two folders",
            allowed="each folder alone, or dramaturg audit reliability for a test and its retest",
        )
    missing: Counter[str] = Counter()
    for table in tables:
        missing.update(table.missing)
    return replace(
        tables[0],
        rubric=tuple(dict.fromkeys(rubric for table in tables for rubric in table.rubric)),
        rows=tuple(rows),
        votes={key: votes for table in tables for key, votes in table.votes.items()},
        missing=missing,
    )


def play_costs(ledger: Ledger, records: Sequence[UnitRecord]) -> Iterator[SceneCost]:
    """Yields what one play of each subject took on the average, its ratings included.

    Args:
        ledger: Of the run.
        records: What became of its units.
    """
    units: dict[str, set[str]] = {}
    plays: Counter[str] = Counter()
    for record in records:
        units.setdefault(label_of(record), set()).add(record.unit)
        plays[label_of(record)] += record.kind == "stage" and record.status == "done"
    for subject, of_subject in units.items():
        yield from scene_costs(ledger.uses(of_subject, by_role=True), plays[subject], subject=subject)


def scene_costs(uses: Iterable[Use], scenes: int, *, subject: str = "") -> tuple[SceneCost, ...]:
    """Returns what one play took on the average: one row where a ledger holds a staging, a rating, or both.

    Args:
        uses: What the ledger knows, each role apart.
        scenes: How many were staged or rated.
        subject: Whose plays they are; empty where they are anybody's.
    """
    parts: dict[str, list[Use]] = {"narrator": [], "character": [], "judge": []}
    for use in uses:
        part = use.role if use.role in {"narrator", "judge"} else "character"
        parts[part].append(use)
    every = [use for of_part in parts.values() for use in of_part]
    if not every or not scenes:
        return ()
    prices = {identity: price_of(identity) for identity in {_identity(use) for use in every}}
    cost = 0.0
    unknown = False
    for use in every:
        price = prices[_identity(use)]
        if price is None or use.unknown_usage:
            unknown = True
            continue
        cost += price.cost(Usage(use.input_tokens, use.cached_tokens, use.output_tokens, use.reasoning_tokens)) or 0.0
    return (
        SceneCost(
            subject=subject,
            models={
                part: ", ".join(sorted({f"{use.provider}:{use.name}" for use in of})) for part, of in parts.items()
            },
            calls={part: sum(use.calls for use in of) / scenes for part, of in parts.items()},
            input_tokens={part: sum(use.input_tokens for use in of) / scenes for part, of in parts.items()},
            output_tokens={part: sum(use.output_tokens for use in of) / scenes for part, of in parts.items()},
            cost_usd=None if unknown else cost / scenes,
            scenes=scenes,
        ),
    )


def rubric_of(table: RatingTable, used: Mapping[str, Rubric]) -> Rubric:
    """Returns what a table rates: in English where the rubric ships so, else as the folder keeps it.

    Args:
        table: The ratings.
        used: The rubrics of its folder, by id.

    Raises:
        ContentError: The rubric neither ships nor lies in the folder.
    """
    name = table.rubric[0].partition(" ")[0]
    language = table.languages[0] if table.languages else ""
    family = name.removesuffix(f"-{language}")
    kept = used.get(name)
    if kept is not None and family not in shipped("rubrics"):
        return kept
    return rubric_in(family, "en")


def _identity(use: Use) -> Identity:
    return Identity(use.provider, use.name, use.digest)


def _records(folder: Path) -> tuple[UnitRecord, ...]:
    path = folder / UNITS
    return tuple(record for _, record in read_jsonl(path, UnitRecord, on_torn=_unheard)) if path.is_file() else ()


def _unheard(place: str) -> None:
    """Passes over a torn line of a file whose own report tells of it."""


def _rated(
    rows: RatingTable, rubric: Rubric, others: list[RatingTable], labels: Mapping[tuple[str, str], str]
) -> RatedTable:
    models = {row.subject for row in rows.rows}
    named = tuple(replace(row, subject=labels.get(row.key, row.subject)) for row in rows.rows)
    table = replace(rows, rows=named)
    return RatedTable(
        table=table,
        rubric=rubric,
        scores=score_table(table),
        characters=score_characters(table),
        alphas=alphas(table, rubric),
        halo=halo_of(table, others),
        of_itself=table.judge in models,
        card=rater_card_for(table.judge, table.mode, rubric.family),
    )


def _nobody(rubric: str) -> str:
    return f"Nothing was rated by it: no model plays a role that the rubric {rubric} is about, or none was reached yet."


def _cautions(rated: Iterable[RatedTable]) -> Iterator[str]:
    for one in rated:
        table = one.table
        if one.card is None:
            yield f"{table.judge} has no card as a rater in mode {table.mode}: nobody knows whether it sees a fault."
        elif one.card.poor:
            yield f"{table.judge}: {one.card.standing}"
        if one.of_itself:
            yield f"{table.judge} rates performances of its own."
        lost = sum(table.missing.values())
        if lost:
            reasons = ", ".join(f"{reason} × {count}" for reason, count in table.missing.items())
            yield f"{table.judge}: {lost} of {table.planned} ratings are missing ({reasons})."
        if one.halo.halo is not None and one.halo.halo >= MUCH_HALO:
            yield (
                f"{table.judge}: its metrics go together by {one.halo.halo:.2f} more than those of two judges do: "
                "it rates one impression many times."
            )
    protocols = {protocol for one in rated for score in one.scores for protocol in score.protocols}
    if len(protocols) > 1:
        yield f"Scenes were staged under different protocols: {', '.join(sorted(protocols))}."
