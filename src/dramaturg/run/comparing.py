"""Compare subjects of one run or of several: paired by scenario and seed, or not at all."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dramaturg.errors import UserError, did_you_mean
from dramaturg.judge.audit.binding import JUDGES_PROMPTS
from dramaturg.judge.checklist import Checklist
from dramaturg.measure import Estimate, PairedDifference, Rank, cluster_interval, holm, paired_difference, ranks
from dramaturg.run.sides import Cost, Panel, PanelKey, Place, Side, Values
from dramaturg.run.snapshot import ASKING

PANEL_FIELDS = ("checklist", "judge", "mode", "votes", "long", "ask")
RUN_FIELDS = ("protocol", "suite", "limits", "cast", "staging", "procedures", "judge-prompts", "cases")
FIELDS = (*PANEL_FIELDS, *RUN_FIELDS)
"""What must be the same on all sides. Whatever else differs is shown."""

LEVEL = 0.05
"""Of the tests: a corrected p-value up to it tells two subjects apart."""

SEED = 7
"""Of the resampling: equal runs give equal comparisons."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Something that is not the same in all runs.

    Attributes:
        name: As the snapshots call it, for example ``limits.turns``.
        field: The field that it belongs to where it must be the same; empty elsewhere.
        values: Run → its value; empty where the run has none.
    """

    name: str
    field: str
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Compared:
    """One subject of one run.

    Attributes:
        name: What tables call it.
        run: Its run.
        subject: Its label there.
        scores: Measure → mean over scenarios with its interval.
        ranks: Measure → rank over the scenarios that all subjects have.
        cost: What its performances took.
    """

    name: str
    run: str
    subject: str
    scores: Mapping[str, Estimate]
    ranks: Mapping[str, Rank]
    cost: Cost


@dataclass(frozen=True, slots=True)
class Difference:
    """The first subject's score minus the second's, over what both have.

    Attributes:
        measure: Of what.
        one: Name of the first.
        other: Name of the second.
        paired: The difference, its interval and its own p-value.
        p_holm: The p-value, corrected for all pairs on this measure; None where there is none.
    """

    measure: str
    one: str
    other: str
    paired: PairedDifference
    p_holm: float | None

    @property
    def shown(self) -> bool:
        """Whether the difference is told apart from none, after the correction."""
        return self.p_holm is not None and self.p_holm <= LEVEL


@dataclass(frozen=True, slots=True)
class PanelComparison:
    """All subjects as one judge saw them.

    Attributes:
        title: Checklist, judge and mode.
        measures: Measure → its name.
        subjects: The subjects, the best by all indicators first.
        differences: Every pair on every measure.
        notes: What limits it, in words.
    """

    title: str
    measures: Mapping[str, str]
    subjects: tuple[Compared, ...]
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was compared.

    Attributes:
        runs: Names of the runs.
        panels: One for each judge that all runs have.
        settings: What is not the same in all runs.
        ignored: Fields that differ and were to be ignored.
        notes: What was left out, by run.
    """

    runs: tuple[str, ...]
    panels: tuple[PanelComparison, ...]
    settings: tuple[Setting, ...]
    ignored: tuple[str, ...]
    notes: tuple[str, ...]


def compare(sides: Sequence[Side], *, anyway: Sequence[str] = ()) -> Comparison:
    """Returns every subject compared with every other.

    Args:
        sides: The runs.
        anyway: Fields of `FIELDS` that may differ.

    Raises:
        UserError: There is only one subject, a field is unknown, or the runs are not comparable; the message names
            the fields and their values.
    """
    for field in anyway:
        if field not in FIELDS:
            raise UserError(f"there is no field {field!r}", where="--anyway", allowed=did_you_mean(field, FIELDS))
    settings = tuple(_settings(sides))
    differing = {setting.field for setting in settings if setting.field}
    _refuse([setting for setting in settings if setting.field and setting.field not in anyway])
    matched = _matched_panels(sides, anyway)
    panels = tuple(_compare_panel(sides, keys) for keys in matched)
    return Comparison(
        runs=tuple(side.name for side in sides),
        panels=panels,
        settings=settings,
        ignored=tuple(field for field in FIELDS if field in anyway and field in differing),
        notes=tuple(f"{side.name}: {note}" for side in sides for note in side.notes),
    )


def _refuse(settings: Sequence[Setting]) -> None:
    if not settings:
        return
    shown = [
        f"{setting.name}: " + ", ".join(f"{_short(value) or 'none'} in {run}" for run, value in setting.values.items())
        for setting in settings[:8]
    ]
    more = f" and {len(settings) - 8} more" if len(settings) > 8 else ""
    fields = ",".join(field for field in FIELDS if any(setting.field == field for setting in settings))
    raise UserError(
        f"the runs are not comparable: {'; '.join(shown)}{more}",
        allowed=f"runs that share them, or --anyway {fields}",
    )


def _settings(sides: Sequence[Side]) -> Iterator[Setting]:
    """Yields what is not the same in all runs, in the order of names; a single run differs from nothing."""
    for field in PANEL_FIELDS:
        values = {
            side.name: ", ".join(sorted({_panel_value(key, field, side) for key in side.panels})) for side in sides
        }
        if len(set(values.values())) > 1 and not _has_common_panel(sides):
            yield Setting(field, field, values)
    protocols = {side.name: ", ".join(side.protocols) for side in sides}
    if len(set(protocols.values())) > 1:
        yield Setting("protocol", "protocol", protocols)
    names = sorted({name for side in sides for name in side.entries} - {"protocol", "mode", "votes", "long", "ask"})
    for name in names:
        if name.startswith(ASKING):  # part of the panels
            continue
        field = _field_of(name)
        values = {side.name: side.entries.get(name, "") for side in sides}
        present = {value for value in values.values() if value}
        # A run without a snapshot, or one that does not use a file, contradicts nobody.
        if len(present) > 1 or (not field and len(set(values.values())) > 1 and all(side.entries for side in sides)):
            yield Setting(name, field, values)
    for scenario in sorted({scenario for side in sides for scenario in side.scenarios}):
        digests = {side.name: side.scenarios[scenario] for side in sides if scenario in side.scenarios}
        if len(set(digests.values())) > 1 and not any(f"cases/{scenario}" in side.entries for side in sides):
            yield Setting(f"cases/{scenario}", "cases", digests)


def _field_of(name: str) -> str:
    """Returns the field that an entry of a snapshot belongs to; empty where it may differ."""
    head = name.partition("/")[0] if "/" in name else name.partition(".")[0]
    if head == "prompts":
        return "judge-prompts" if name.rpartition("/")[2].startswith(JUDGES_PROMPTS) else ""
    by_head = {"limits": "limits", "cast": "cast", "staging": "staging", "suite": "suite"}
    by_head |= {"procedures": "procedures", "cases": "cases", "scripts": "cast"}
    return by_head.get(head, "")


def _has_common_panel(sides: Sequence[Side]) -> bool:
    return bool(_common(side.panels for side in sides))


def _common(keys: Iterable[Iterable[PanelKey]]) -> set[PanelKey]:
    first, *others = (set(of_side) for of_side in keys)
    return first.intersection(*others)


def _panel_value(key: PanelKey, field: str, side: Side) -> str:
    if field == "checklist":
        checklist = side.panels[key].checklist
        return f"{checklist.id} v{checklist.version} ({checklist.hash[:8]})"
    return str(getattr(key, field))


def _matched_panels(sides: Sequence[Side], anyway: Sequence[str]) -> list[tuple[PanelKey, ...]]:
    """Returns the panels that all sides have, one key for each side; fields that may differ are not looked at."""
    common = _common(side.panels for side in sides)
    if common:
        return [tuple(itertools.repeat(key, len(sides))) for key in sorted(common)]
    by_rest: list[dict[PanelKey, PanelKey]] = []
    for side in sides:
        rest: dict[PanelKey, PanelKey] = {}
        for key in side.panels:
            rest_key = _without(key, anyway)
            if rest_key in rest:
                raise UserError(
                    f"{side.name} was judged in several ways that differ in {', '.join(anyway)} alone",
                    where="--anyway",
                    allowed="one judging on each side",
                )
            rest[rest_key] = key
        by_rest.append(rest)
    shared = _common(by_rest)
    if not shared:
        # Each field occurs on both sides, but in other combinations.
        names = "; ".join(f"{side.name}: {', '.join(map(_title_of_key, side.panels))}" for side in sides)
        raise UserError(f"no judge, checklist and mode is common to all runs: {names}", allowed="judge them alike")
    return [tuple(rest[key] for rest in by_rest) for key in sorted(shared)]


def _without(key: PanelKey, fields: Sequence[str]) -> PanelKey:
    return replace(
        key,
        checklist="" if "checklist" in fields else key.checklist,
        judge="" if "judge" in fields else key.judge,
        mode="" if "mode" in fields else key.mode,
        votes=0 if "votes" in fields else key.votes,
        long="" if "long" in fields else key.long,
        ask="" if "ask" in fields else key.ask,
    )


def _title_of_key(key: PanelKey) -> str:
    votes = f", {key.votes} votes" if key.votes > 1 else ""
    cut = ", middle cut" if key.long == "cut" else ""
    text = ", asked by its text" if key.ask == "text" else ""
    return f"{key.judge}, {key.mode}{votes}{cut}{text}"


def _compare_panel(sides: Sequence[Side], keys: Sequence[PanelKey]) -> PanelComparison:
    panels = [side.panels[key] for side, key in zip(sides, keys, strict=True)]
    names = _names(sides, panels)
    if len(names) < 2:
        raise UserError(
            f"there is only one subject: {', '.join(names)}", allowed="a run of several subjects, or several runs"
        )
    measures = _measures([panel.checklist for panel in panels], panels)
    values = {name: panels[place].values[subject] for name, (place, subject) in names.items()}
    planned = {name: sides[place].planned.get(subject, frozenset()) for name, (place, subject) in names.items()}
    ranked = {
        measure: _ranks({name: of[measure] for name, of in values.items() if measure in of}) for measure in measures
    }
    subjects = [
        Compared(
            name=name,
            run=sides[place].name,
            subject=subject,
            scores={measure: _score(values[name].get(measure, {}), planned[name]) for measure in measures},
            ranks={measure: ranked[measure][name] for measure in measures if name in ranked[measure]},
            cost=sides[place].costs[subject],
        )
        for name, (place, subject) in names.items()
    ]
    subjects.sort(key=lambda one: -(one.scores["total"].value if one.scores["total"].value is not None else -1.0))
    order = [one.name for one in subjects]
    titles = dict.fromkeys(
        f"{panel.checklist.id} v{panel.checklist.version}, {_title_of_key(key)}"
        for panel, key in zip(panels, keys, strict=True)
    )
    differences = _differences(order, measures, values, planned)
    return PanelComparison(
        title=" | ".join(titles),
        measures=measures,
        subjects=tuple(subjects),
        differences=differences,
        notes=tuple(_notes(differences)),
    )


def _names(sides: Sequence[Side], panels: Sequence[Panel]) -> dict[str, tuple[int, str]]:
    """Returns each subject by its name in tables: its label, with its run where several runs have that label."""
    found = [(place, subject) for place, panel in enumerate(panels) for subject in panel.values]
    labels = [subject for _, subject in found]
    return {
        (subject if labels.count(subject) == 1 else f"{subject} [{sides[place].name}]"): (place, subject)
        for place, subject in found
    }


def _measures(checklists: Sequence[Checklist], panels: Sequence[Panel]) -> dict[str, str]:
    """Returns the measures that every side's checklist has, with their names."""
    names = {"total": "All indicators"}
    for dimension in checklists[0].dimensions:
        if all(any(one.id == dimension.id for one in checklist.dimensions) for checklist in checklists):
            names[dimension.id] = dimension.name
    valued = {measure for panel in panels for of_subject in panel.values.values() for measure in of_subject}
    both = {f"{key}:probabilistic": f"{name}, probabilistic" for key, name in names.items()}
    return names | {key: name for key, name in both.items() if key in valued}


def _score(values: Values, planned: frozenset[Place]) -> Estimate:
    return cluster_interval(_by_scenario(values), n_planned=max(len(planned), len(values)))


def _ranks(values: Mapping[str, Values]) -> dict[str, Rank]:
    if len(values) < 2:
        return {}
    return ranks({name: _by_scenario(of_subject) for name, of_subject in values.items()}, seed=SEED)


def _by_scenario(values: Values) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    for (scenario, _), value in sorted(values.items()):
        found[scenario].append(value)
    return found


def _differences(
    order: Sequence[str],
    measures: Mapping[str, str],
    values: Mapping[str, Mapping[str, Values]],
    planned: Mapping[str, frozenset[Place]],
) -> tuple[Difference, ...]:
    found: list[Difference] = []
    for measure in measures:
        of_measure: list[Difference] = []
        for one, other in itertools.combinations(order, 2):
            first, second = values[one].get(measure, {}), values[other].get(measure, {})
            pairs: dict[str, list[tuple[float, float]]] = defaultdict(list)
            for place in sorted(first.keys() & second.keys()):
                pairs[place[0]].append((first[place], second[place]))
            wanted = max(len(planned[one] | planned[other]), sum(map(len, pairs.values())))
            paired = paired_difference(pairs, seed=SEED, n_planned=wanted)
            of_measure.append(Difference(measure, one, other, paired, None))
        corrected = holm([difference.paired.p_value for difference in of_measure])
        found += [replace(difference, p_holm=p) for difference, p in zip(of_measure, corrected, strict=True)]
    return tuple(found)


def _notes(differences: Sequence[Difference]) -> Iterator[str]:
    if not any(difference.paired.difference.n_used for difference in differences):
        yield "no scenario and seed is common to two subjects: nothing is paired"
        return
    of_total = [one.paired for one in differences if one.measure == "total"]
    least = [paired.smallest_p for paired in of_total if paired.smallest_p is not None]
    if not least:
        yield "one common scenario: a difference on it says nothing of others"
    elif min(least) * len(least) > LEVEL:
        scenarios = max(paired.difference.clusters for paired in of_total)
        yield (
            f"{scenarios} common scenarios cannot show one of {len(least)} differences, however large: "
            f"no corrected p-value below {min(least) * len(least):.3f} is possible; run more scenarios"
        )
    unpaired = [one for one in differences if one.paired.difference.n_used < one.paired.difference.n_planned]
    if unpaired:
        yield "pairs are missing where one of the two has no trial or no answer; the counts say how many are used"


def _short(value: str) -> str:
    return value[:8] if len(value) == 64 and " " not in value else value
