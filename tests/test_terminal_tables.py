"""A table fits the terminal it is printed in, and no figure of it is cut off or broken where that can be helped."""

import io

import pytest
from rich.console import Console

from dramaturg.report.exports import as_terminal
from dramaturg.report.layouts import Cell, Column, Layout


def layout(columns: int, rows: int) -> Layout:
    heads = (Column("Model", numeric=False), *(Column(f"Metric {number}") for number in range(columns)))
    lines = tuple(
        (Cell(f"model {line}"), *(Cell(f"{line}.{number:03}", "-10.25", "0.97") for number in range(columns)))
        for line in range(rows)
    )
    return Layout(1, "Ratings", heads, lines, ("A note.",))


def printed(shown: Layout, width: int) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None)
    for part in as_terminal([shown]):
        console.print(part)
    return out.getvalue()


def test_a_table_that_fits_stands_upright() -> None:
    lines = printed(layout(2, 3), 80).splitlines()
    assert any("Metric 0" in line and "Metric 1" in line for line in lines)
    assert any("model 1" in line and "1.001 [-10.25, 0.97]" in line for line in lines)


def test_one_that_is_too_wide_is_turned_and_every_figure_stays_whole() -> None:
    shown = printed(layout(12, 2), 80)
    assert any("model 0" in line and "model 1" in line for line in shown.splitlines())
    for number in range(12):
        assert f"0.{number:03} [-10.25, 0.97]" in shown and f"1.{number:03} [-10.25, 0.97]" in shown


@pytest.mark.parametrize("width", [120, 80])
def test_where_neither_fits_an_interval_may_stand_below_and_nothing_is_lost(width: int) -> None:
    shown = printed(layout(6, 5), width)
    assert max(map(len, shown.splitlines())) <= width
    for line in range(5):
        for number in range(6):
            assert f"{line}.{number:03}" in shown
    assert shown.count("-10.25,") == 30
