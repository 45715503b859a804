"""Tables in the forms that papers, pages and spreadsheets take; what a model or file is called stays mere text."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from dramaturg.report.figures import NONE, plain
from dramaturg.report.layouts import Cell, Column, Layout
from dramaturg.text import Json

_FORMULA = re.compile(r"[\s\u200b\ufeff]*[=+\-@＝＋－＠]")
_NUMBER = re.compile(r"\d+(\.\d+)?")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~&])")
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "⟨": r"$\langle$",
    "⟩": r"$\rangle$",
    "–": "--",
    "…": r"\dots{}",
}


def as_csv(layouts: Sequence[Layout]) -> str:
    """Returns the tables as CSV, each under its title, parted by blank lines; intervals have columns of their own.

    A text that a spreadsheet would take for a formula gets an apostrophe before it.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for number, layout in enumerate(layouts):
        if number:
            out.write("\n")
        writer.writerow([csv_text(heading(layout))])
        writer.writerow([csv_text(name) for column in layout.columns for name in _csv_names(column)])
        for row in layout.rows:
            writer.writerow(
                [
                    csv_text(text)
                    for column, cell in zip(layout.columns, row, strict=True)
                    for text in ((cell.text, cell.low, cell.high) if column.interval else (cell.text,))
                ]
            )
        for note in layout.notes:
            writer.writerow([csv_text(note)])
    return out.getvalue()


def as_markdown(layouts: Sequence[Layout]) -> str:
    """Returns the tables as Markdown."""
    return "\n".join(line for layout in layouts for line in _markdown(layout))


def as_latex(layouts: Sequence[Layout]) -> str:
    """Returns the tables as LaTeX floats that need no package."""
    return "\n".join(line for layout in layouts for line in _latex(layout))


def as_terminal(layouts: Sequence[Layout]) -> Iterator[RenderableType]:
    """Yields the tables for a terminal; one that is too wide for it is turned, if it fits then."""
    for layout in layouts:
        yield _Fitting(layout)
        for note in layout.notes:
            yield Text(plain(note), "dim")
        yield Text("")


_ANY_WIDTH = 100_000


@dataclass(frozen=True, slots=True)
class _Fitting:
    """A table that no terminal breaks in the middle of a number, where it can be helped."""

    layout: Layout

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        for table in (_upright(self.layout), _turned(self.layout)):
            if Measurement.get(console, options.update(width=_ANY_WIDTH), table).minimum <= options.max_width:
                yield table
                return
        yield _upright(self.layout, breaks=True)


def _empty(layout: Layout) -> Table:
    return Table(title=Text(plain(heading(layout)), "bold"), title_justify="left", box=SIMPLE_HEAD, pad_edge=False)


def _upright(layout: Layout, *, breaks: bool = False) -> Table:
    """Returns the table with a line for each row; with `breaks`, a figure and its interval may stand on two lines."""
    table = _empty(layout)
    for position, column in enumerate(layout.columns):
        least = 0 if breaks or not column.numeric else _width([row[position] for row in layout.rows])
        side = "right" if column.numeric else "left"
        table.add_column(Text(plain(column.name)), justify=side, overflow="fold", min_width=least or None)
    for row in layout.rows:
        table.add_row(*map(_shown, row))
    return table


def _turned(layout: Layout) -> Table:
    """Returns the table with a line for each column, so that a row is read from top to bottom."""
    table = _empty(layout)
    first, *others = layout.columns
    table.add_column(Text(plain(first.name)), overflow="fold")
    for row in layout.rows:
        figures = [cell for column, cell in zip(others, row[1:], strict=True) if column.numeric]
        table.add_column(_shown(row[0]), justify="right", overflow="fold", min_width=_width(figures) or None)
    for position, column in enumerate(others, start=1):
        table.add_row(Text(plain(column.name)), *(_shown(row[position]) for row in layout.rows))
    return table


def _shown(cell: Cell) -> Text:
    return Text(plain(with_interval(cell)))


def _width(cells: Sequence[Cell]) -> int:
    return max((_shown(cell).cell_len for cell in cells), default=0)


def as_json(layouts: Sequence[Layout]) -> list[Json]:
    """Returns the tables as JSON values, with numbers as they are printed."""
    return [
        {
            "table": layout.number,
            "title": layout.title,
            "columns": [column.name for column in layout.columns],
            "rows": [[_json_cell(cell) for cell in row] for row in layout.rows],
            "notes": list(layout.notes),
        }
        for layout in layouts
    ]


def heading(layout: Layout) -> str:
    """Returns the table's number and title; a table without number has its title alone."""
    return f"Table {layout.number}. {layout.title}" if layout.number else layout.title


def with_interval(cell: Cell) -> str:
    """Returns the cell's text, its interval in brackets where it has one."""
    return f"{cell.text} [{cell.low}, {cell.high}]" if cell.low else cell.text


def _json_cell(cell: Cell) -> Json:
    text = None if cell.text == NONE else cell.text
    return {"text": text, "low": cell.low, "high": cell.high} if cell.low else text


def _csv_names(column: Column) -> tuple[str, ...]:
    return (column.name, f"{column.name}, low", f"{column.name}, high") if column.interval else (column.name,)


def csv_text(text: str) -> str:
    """Returns a cell of a CSV file: nothing in it steers, and no spreadsheet takes it for a formula."""
    shown = plain(text).replace("\n", " ")
    if shown == NONE:
        return ""
    return f"'{shown}" if _FORMULA.match(shown) and not _NUMBER.fullmatch(shown) else shown


def _markdown(layout: Layout) -> Iterator[str]:
    yield f"**{_markdown_text(heading(layout))}**\n"
    yield _markdown_row(column.name for column in layout.columns)
    yield "| " + " | ".join("---:" if column.numeric else "---" for column in layout.columns) + " |"
    for row in layout.rows:
        yield _markdown_row(with_interval(cell) for cell in row)
    yield ""
    for note in layout.notes:
        yield f"{_markdown_text(note)}\n"


def _markdown_row(texts: Iterator[str]) -> str:
    return "| " + " | ".join(map(_markdown_text, texts)) + " |"


def _markdown_text(text: str) -> str:
    return " ".join(_MARKDOWN.sub(r"\\\1", plain(text)).split())


def _latex(layout: Layout) -> Iterator[str]:
    sides = "".join("r" if column.numeric else "l" for column in layout.columns)
    yield "\\begin{table}\n\\centering"
    yield f"\\caption{{{_latex_text(layout.title)}. {' '.join(map(_latex_text, layout.notes))}}}"
    yield f"\\begin{{tabular}}{{{sides}}}\n\\hline"
    yield _latex_row(column.name for column in layout.columns)
    yield "\\hline"
    for row in layout.rows:
        yield _latex_row(with_interval(cell) for cell in row)
    yield "\\hline\n\\end{tabular}\n\\end{table}\n"


def _latex_row(texts: Iterator[str]) -> str:
    # Braces around the first cell: a leading bracket or star would be read as an argument of the row before.
    return " & ".join(f"{{{_latex_text(text)}}}" for text in texts) + r" \\"


def _latex_text(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in " ".join(plain(text).split()))
