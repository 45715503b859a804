"""The report as web pages: one self-contained file; with many trials, a page for each beside it.

No network, no outside file; works without JavaScript. Whatever models, people and files said is escaped, and a
content security policy lets nothing run but the page's own script. Pages are written piece by piece.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TextIO, cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from dramaturg.errors import UserError
from dramaturg.judge.checklist.score import RULE
from dramaturg.judge.rating import HIGHEST, LOWEST, Rubric
from dramaturg.judge.rating.score import AVERAGE
from dramaturg.report import figures
from dramaturg.report.collect import Report
from dramaturg.report.costs import costs
from dramaturg.report.exports import heading, with_interval
from dramaturg.report.layouts import Layout, layouts
from dramaturg.report.overview import headline, key_figures
from dramaturg.report.plays import plays_layout
from dramaturg.report.rating.collect import RatedTable
from dramaturg.report.rating.layouts import character_layout, rating_layouts
from dramaturg.report.rating.radar import radar_of
from dramaturg.report.table_figures import NamedReport, figures_of_reports
from dramaturg.report.tables import Trial
from dramaturg.report.trial import TrialView

INLINE_TRIALS = 200
"""Trials up to which one file holds everything; with more, each trial has its own page."""

TRIALS_PER_INDEX = 500
"""Trials that one page of the list shows."""

LISTED_FAILURES = 500
"""Failures and unfinished units that are listed; all are counted."""

PAGES = "report-pages"
"""Folder of the trials' own pages, beside the report."""

_TEMPLATES = Path(str(resources.files("dramaturg.report"))) / "templates"
_PLOT_START, _PLOT_LENGTH = 5, 170


@dataclass(frozen=True, slots=True)
class _Shown:
    trial: Trial
    view: TrialView


@dataclass(frozen=True, slots=True)
class _Row:
    trial: Trial
    href: str


@dataclass(frozen=True, slots=True)
class _IndexPage:
    href: str
    first: int
    last: int


def write_html(report: Report, path: Path) -> None:
    """Writes the report, and the pages of its trials where there are more than `INLINE_TRIALS`.

    A reader sees each old file or each new one, never a part. Pages of trials that are no more are removed.

    Args:
        report: What to show.
        path: The report's file; pages go to the folder `PAGES` beside it.

    Raises:
        UserError: A file cannot be written.
    """
    folder = path.parent / PAGES
    many = len(report.trials) > INLINE_TRIALS
    written = _write_pages(report, folder, path.name) if many else set[str]()
    shown = (_Shown(trial, view) for trial, view in zip(report.trials, report.views(report.trials), strict=True))
    _write(
        path,
        "report.html.j2",
        report=report,
        headline=headline(report),
        key_figures=key_figures(report),
        serious=any(caution.severity == "serious" for caution in report.cautions),
        views=() if many else shown,
        layouts=[layouts(figures) for figures in figures_of_reports([NamedReport("", report)])],
        rating_tables=rating_layouts(report.ratings) if report.ratings is not None else (),
        pages=_index_pages(len(report.trials)) if many else (),
        costs=costs(report.facts),
        rule=RULE,
        methods=_methods(report),
        protocols=_protocols(report),
        hashes={
            "Hashes of the prompts": report.facts.prompts,
            "Hashes of the checklists": report.facts.checklists,
            "Hashes of the rubrics": report.facts.rubrics,
            "Versions": report.facts.versions,
        },
        shown=LISTED_FAILURES,
    )
    _remove_others(folder, written)


def tables_page(made: Sequence[Layout]) -> str:
    """Returns a page of tables alone.

    Args:
        made: The tables, in order.
    """
    return render_page("tables.html.j2", tables=made)


def render_page(template: str, **values: object) -> str:
    """Returns a page of one of the report's templates, all text in it escaped.

    Args:
        template: Name of the file.
        values: What it shows.
    """
    return _environment().get_template(template).render(values)


def _write_pages(report: Report, folder: Path, report_name: str) -> set[str]:
    """Writes a page per trial and the pages of the list; returns their names."""
    names: set[str] = set()
    pages = _index_pages(len(report.trials))
    for number, page in enumerate(pages):
        trials = report.trials[page.first - 1 : page.last]
        index = Path(page.href).name
        for trial, view in zip(trials, report.views(trials), strict=True):
            name = f"trial-{trial.anchor}.html"
            names.add(name)
            _write(
                folder / name,
                "page.html.j2",
                report=report,
                trial=trial,
                view=view,
                report_href=f"../{report_name}",
                index_href=index,
            )
        names.add(index)
        _write(
            folder / index,
            "index.html.j2",
            report=report,
            first=page.first,
            last=page.last,
            rows=[_Row(trial, f"trial-{trial.anchor}.html") for trial in trials],
            before=Path(pages[number - 1].href).name if number else "",
            after=Path(pages[number + 1].href).name if number + 1 < len(pages) else "",
            report_href=f"../{report_name}",
        )
    return names


def _index_pages(trials: int) -> Sequence[_IndexPage]:
    return [
        _IndexPage(f"{PAGES}/trials-{start + 1:06d}.html", start + 1, min(start + TRIALS_PER_INDEX, trials))
        for start in range(0, trials, TRIALS_PER_INDEX)
    ]


def _remove_others(folder: Path, names: set[str]) -> None:
    """Removes pages that an earlier report left; nothing else in the folder is touched."""
    with _writing(folder):
        for pattern in ("trial-*.html", "trials-*.html"):
            for path in folder.glob(pattern):
                if path.name not in names:
                    path.unlink(missing_ok=True)


def _methods(report: Report) -> Sequence[str]:
    """Returns how the intervals of this report were computed, each way once."""
    estimates = (estimate for panel in report.panels for estimate in panel.estimates())
    return list(dict.fromkeys(estimate.method for estimate in estimates if estimate.method))


def _protocols(report: Report) -> Mapping[str, str]:
    used = dict.fromkeys(protocol for subject in report.subjects for protocol in subject.protocols)
    return {name: report.facts.protocols.get(name, "") for name in [*used, *report.facts.protocols]}


def _across(value: float) -> str:
    """Returns the place of a score on the plot."""
    return f"{_PLOT_START + value * _PLOT_LENGTH:.1f}"


def _along(length: float) -> str:
    """Returns a difference of scores as a length on the plot."""
    return f"{length * _PLOT_LENGTH:.1f}"


def _on_scale(rating: float | None) -> float | None:
    """Returns a rating as a share of its scale."""
    return None if rating is None else (rating - LOWEST) / (HIGHEST - LOWEST)


def _measured(rubric: Rubric) -> Sequence[tuple[str, str, str]]:
    """Returns what a rubric gives means of: key, name and question, the mean of all first."""
    return [(AVERAGE, "Mean of all", ""), *((one.id, one.name, one.definition) for one in rubric.metrics)]


def _of_characters(rated: RatedTable) -> Layout:
    return character_layout(rated.characters, rated.rubric, title=rated.table.title)


def _seen(value: object) -> object:
    """Returns text with its unseen characters shown; markup was made of such text, or ships with the package."""
    return figures.plain(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_seen,
    )
    for name in (
        "count",
        "counted",
        "decimal",
        "duration",
        "moment",
        "money",
        "share",
        "size",
        "tallies",
        "weights",
        "words",
    ):
        environment.filters[name] = getattr(figures, name)
    own: dict[str, Callable[..., object]] = {
        "across": _across,
        "along": _along,
        "heading": heading,
        "measured": _measured,
        "of_characters": _of_characters,
        "on_scale": _on_scale,
        "radar": radar_of,
        "stories": plays_layout,
        "with_interval": with_interval,
    }
    for name, function in own.items():
        environment.filters[name] = function
    shared = cast("dict[str, object]", environment.globals)
    for name, file in (("style", "style.css"), ("script", "script.js")):
        text = (_TEMPLATES / file).read_text(encoding="utf-8")
        digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
        # The only texts that are not escaped: they ship with the package.
        shared[name] = Markup(text)
        shared[f"{name}_hash"] = f"sha256-{digest}"
    return environment


def _write(path: Path, template: str, **values: object) -> None:
    with _atomic(path) as file:
        for piece in _pieces(_environment().get_template(template).generate(values)):
            file.write(piece)


def _pieces(pieces: Iterable[str]) -> Iterator[str]:
    """Joins the template's many small pieces to a few larger ones."""
    held: list[str] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size > 1 << 16:
            yield "".join(held)
            held.clear()
            size = 0
    yield "".join(held)


@contextmanager
def _atomic(path: Path) -> Generator[TextIO]:
    """Opens a file that takes the place of the old one when it is whole."""
    part = path.with_name(path.name + ".part")
    with _writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            # A lone surrogate in a text cannot be written as UTF-8; it becomes a question mark instead of an error.
            with part.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
                yield file
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def _writing(path: Path) -> Generator[None]:
    """Turns what the file system refuses into one clear line."""
    try:
        yield
    except OSError as error:
        raise UserError(f"cannot be written: {error.strerror or error}", where=str(path)) from None
