"""What people's votes did to an item set, as tables, as data, and as the card of the filtered set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import assert_never

from dramaturg.measure import Estimate
from dramaturg.report.figures import NONE, count, counted, decimal, share, words
from dramaturg.report.layouts import Cell, Column, Layout
from dramaturg.run.interview.vote_filter import Changed, Dropped, Filtered, RuleReport, Rules
from dramaturg.run.interview.votes import Ground, Votes
from dramaturg.text import Json

LISTED = 200
"""Raters, items and characters that a table lists; the data hold all."""


def vote_lines(votes: Votes, filtered: Filtered, rules: Rules) -> Iterator[str]:
    """Yields what must be known before any table, line by line.

    Args:
        votes: The votes.
        filtered: What they did.
        rules: By which rules.
    """
    items = sum(one.items for one in filtered.categories)
    kept = sum(one.kept for one in filtered.categories)
    yield (
        f"{counted(len(votes.votes), 'vote', 'votes')} by {counted(len(votes.raters), 'known rater', 'known raters')}; "
        f"{count(kept)} of {counted(items, 'item', 'items')} kept, "
        f"{counted(len(filtered.characters), 'character', 'characters')} dropped"
    )
    yield (
        f"rules: at least {rules.min_votes} votes; emotion above {float(rules.emotion_above):g}, yes or no above "
        f"{float(rules.yes_no_above):g}" + (", votes weighed (Dawid and Skene)" if filtered.accuracy else "")
    )
    for rule in filtered.rules:
        if rule.accepted:
            yield (
                f"{words(rule.name)}: {count(rule.accepted)} accepted; had nobody looked at the items, "
                f"{decimal(rule.even, 1)} would be, or {decimal(rule.mixed, 1)} with this file's mix of answers"
            )
    random = sum(rater.check.at_random for rater in votes.raters)
    failing = sum(rater.failed > 0 for rater in votes.raters)
    yield (
        f"raters: {count(random)} cannot be told from random, {count(failing)} failed a honeypot; "
        f"{count(votes.fast)} answers came too fast to have read the message"
    )
    yield from _asides(votes, filtered)


def vote_layouts(votes: Votes, filtered: Filtered, rules: Rules) -> tuple[Layout, ...]:
    """Returns the tables of the report; see `vote_lines` for the arguments."""
    made = [_categories(votes, filtered, rules), *(_chance(rule) for rule in filtered.rules if _has_votes(rule))]
    if votes.raters:
        made.append(_raters(votes, filtered))
    made += [
        _listed("Characters without an item left", "character", filtered.characters),
        _listed("Items left out", "item", filtered.dropped),
        _changed(filtered.changed),
    ]
    if votes.reported:
        rows = [(Cell(item), Cell(count(times))) for item, times in votes.reported.items()]
        made.append(_layout("Items that people reported", (Column("item", numeric=False), Column("times")), rows))
    return tuple(
        Layout(number, layout.title, layout.columns, layout.rows, layout.notes)
        for number, layout in enumerate((one for one in made if one.rows), start=1)
    )


def vote_record(votes: Votes, filtered: Filtered, rules: Rules) -> dict[str, Json]:
    """Returns the whole report as plain data; see `vote_lines` for the arguments."""
    raters: list[Json] = [
        {**asdict(rater), "accuracy": _accuracy(filtered, rater.check.rater)} for rater in votes.raters
    ]
    return {
        "set": filtered.item_set.id,
        "digest": filtered.item_set.digest,
        "rules": {
            "min_votes": rules.min_votes,
            "emotion_above": float(rules.emotion_above),
            "yes_no_above": float(rules.yes_no_above),
            "weighing": rules.weighing,
        },
        "rows": votes.rows,
        "answers": votes.answers,
        "votes": len(votes.votes),
        "anonymous": votes.anonymous,
        "skipped": votes.skipped,
        "reported": dict(votes.reported),
        "elsewhere": votes.elsewhere,
        "honeypots": votes.honeypots,
        "unknown_honeypots": votes.unknown_honeypots,
        "fast": votes.fast,
        "left_out": {str(ground): number for ground, number in votes.left_out.items()},
        "counts": {str(category): number for category, number in filtered.item_set.counts().items()},
        "categories": [asdict(one) for one in filtered.categories],
        "rule_reports": [asdict(one) for one in filtered.rules],
        "settled": filtered.settled,
        "raters": raters,
        "characters_dropped": [asdict(one) for one in filtered.characters],
        "items_dropped": [asdict(one) for one in filtered.dropped],
        "changed": [asdict(one) for one in filtered.changed],
    }


def vote_card(votes: Votes, filtered: Filtered, rules: Rules) -> str:
    """Returns the card of the filtered set: how its answers came about; see `vote_lines` for the arguments."""
    item_set = filtered.item_set
    lines = "\n".join(f"- {line}" for line in vote_lines(votes, filtered, rules))
    agreement = "\n".join(
        f"- {words(one.category)}: {_interval(one.alpha)}" for one in filtered.categories if one.votes
    )
    counts = "\n".join(f"- {words(category)}: {number:,}" for category, number in item_set.counts().items())
    return (
        f"# {item_set.title}\n\nThe answers to the items on emotions, decisions and morals are those that people gave; "
        f"every such item holds its votes. The facts of all other items are their authors'.\n\n"
        f"## How it was filtered\n\n{lines}\n\n## Agreement (Krippendorff's alpha)\n\n{agreement or '- no votes'}\n\n"
        f"## Items\n\n{counts}\n"
    )


def _asides(votes: Votes, filtered: Filtered) -> Iterator[str]:
    for ground, number in votes.left_out.items():
        yield f"left out: {counted(number, 'answer', 'answers')}, {_ground(ground)}"
    if votes.skipped or votes.reported:
        yield f"skipped {count(votes.skipped)} times; {counted(len(votes.reported), 'item', 'items')} reported"
    if votes.elsewhere:
        yield f"{counted(votes.elsewhere, 'row is', 'rows are')} about items that are not in the set, and not used"
    if votes.unknown_honeypots:
        yield f"{counted(votes.unknown_honeypots, 'honeypot', 'honeypots')} without a right answer, and not judged"
    if votes.anonymous:
        yield (
            f"{counted(votes.anonymous, 'answer names', 'answers name')} no rater: who answers twice, or at random, "
            "cannot be seen there"
        )
    if not filtered.settled:
        yield "the weighing of votes did not settle; its probabilities are rough"


def _ground(ground: Ground) -> str:
    match ground:
        case "fast":
            return "which came too fast to have read the message"
        case "honeypots":
            return "whose rater failed a honeypot"
        case "at-random":
            return "whose rater cannot be told from random"
        case _:
            assert_never(ground)


def _categories(votes: Votes, filtered: Filtered, rules: Rules) -> Layout:
    rows = [
        (
            Cell(words(one.category)),
            *(
                Cell(count(number))
                for number in (one.items, one.votes, one.unvoted, one.too_few, one.no_agreement, one.kept, one.changed)
            ),
            _alpha(one.alpha),
        )
        for one in filtered.categories
        if one.items
    ]
    names = ("items", "votes", "no vote", "too few", "no agreement", "kept", "other answer than before")
    columns = (Column("category", numeric=False), *map(Column, names), Column("alpha", interval=True))
    reasons = dict.fromkeys(
        f"alpha of {words(one.category)} has no interval: {one.alpha.reason}"
        for one in filtered.categories
        if one.votes and one.alpha.low is None
    )
    return _layout("What became of the items", columns, rows, *vote_lines(votes, filtered, rules), *reasons)


def _alpha(alpha: Estimate) -> Cell:
    if alpha.low is None or alpha.high is None:
        return Cell(decimal(alpha.value))
    return Cell(decimal(alpha.value), decimal(alpha.low), decimal(alpha.high))


def _interval(alpha: Estimate) -> str:
    cell = _alpha(alpha)
    return f"{cell.text} (95 % interval {cell.low} to {cell.high})" if cell.low else f"{cell.text}, no interval"


def _has_votes(rule: RuleReport) -> bool:
    return any(row.items for row in rule.table)


def _chance(rule: RuleReport) -> Layout:
    rows = [
        (
            Cell(str(row.votes)),
            Cell(NONE if row.needed is None else str(row.needed)),
            Cell(decimal(row.even, 3)),
            Cell(decimal(row.mixed, 3)),
            Cell(count(row.items)),
            Cell(count(row.accepted)),
        )
        for row in rule.table
    ]
    names = ("needed", "random clicks pass", "this file's mix passes", "items", "accepted, votes counted")
    columns = (Column("votes", numeric=False), *map(Column, names))
    return _layout(
        f"What the rule lets through by chance: {words(rule.name)}, above {rule.above:g}, {rule.answers} answers",
        columns,
        rows,
        f"{count(rule.accepted)} items were accepted; {decimal(rule.even, 1)} would be if every vote were a random "
        f"click, and {decimal(rule.mixed, 1)} if votes came in this file's mix whatever the item.",
        "More votes do not always make a rule stricter: what counts is how the share falls between whole votes.",
    )


def _raters(votes: Votes, filtered: Filtered) -> Layout:
    def wrongs(place: int) -> tuple[bool, int, int, float]:
        rater = votes.raters[place]
        return (not rater.check.at_random, -rater.failed, -rater.fast, rater.check.kappa or 0.0)

    order = sorted(range(len(votes.raters)), key=wrongs)[:LISTED]
    rows = [
        (
            Cell(rater.check.rater),
            Cell(count(rater.check.answers)),
            Cell(share(rater.check.agreed, rater.check.compared)),
            Cell(NONE if rater.check.usual is None else share(rater.check.usual, 1)),
            Cell(decimal(rater.check.kappa)),
            Cell(decimal(rater.check.p, 3)),
            Cell("at random" if rater.check.at_random else ""),
            Cell(f"{rater.failed} of {rater.honeypots}" if rater.honeypots else NONE),
            Cell(f"{rater.fast} of {rater.timed}" if rater.timed else NONE),
            *(Cell(decimal(accuracy.get(rater.check.rater))) for accuracy in filtered.accuracy.values()),
        )
        for rater in (votes.raters[place] for place in order)
    ]
    names = ("answers", "agrees", "usual", "kappa", "p", "verdict", "honeypots failed", "too fast")
    weighed = (f"estimated accuracy, {words(name)}" for name in filtered.accuracy)
    columns = (Column("rater", numeric=False), *map(Column, (*names, *weighed)))
    return _layout(
        "Raters, those in doubt first",
        columns,
        rows,
        "agrees: with the most frequent answer of the others; p: the same answers, dealt out anew over the items, fit "
        "as well; at random: p above 0.05, and clearly less agreement than is usual on such items.",
        *_more(len(votes.raters)),
    )


def _accuracy(filtered: Filtered, rater: str) -> dict[str, Json]:
    return {name: accuracy[rater] for name, accuracy in filtered.accuracy.items() if rater in accuracy}


def _listed(title: str, head: str, dropped: Sequence[Dropped]) -> Layout:
    rows = [(Cell(one.id), Cell(one.why)) for one in dropped[:LISTED]]
    return _layout(title, (Column(head, numeric=False), Column("why", numeric=False)), rows, *_more(len(dropped)))


def _changed(changed: Sequence[Changed]) -> Layout:
    rows = [(Cell(one.id), Cell(one.before), Cell(one.after)) for one in changed[:LISTED]]
    columns = tuple(Column(name, numeric=False) for name in ("item", "answer of the set", "answer of people"))
    return _layout("Items whose answer is another now", columns, rows, *_more(len(changed)))


def _more(number: int) -> tuple[str, ...]:
    return (f"{number - LISTED:,} more are in votes.json.",) if number > LISTED else ()


def _layout(title: str, columns: tuple[Column, ...], rows: Sequence[tuple[Cell, ...]], *notes: str) -> Layout:
    return Layout(0, title, columns, tuple(rows), notes)
