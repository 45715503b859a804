"""The layouts of the paper's tables: arithmetic, rounding, several runs in one table, forms and their escaping."""

import csv
import io
import json
import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import report_fixtures as made
from dramaturg.cli.report import report as command
from dramaturg.errors import ContentError, UserError
from dramaturg.judge.checklist.attempts import mean_of_parts
from dramaturg.report import NamedReport, exports, figures_of_publication, figures_of_reports, layouts, tables_page
from dramaturg.report.figures import half_up
from dramaturg.report.layouts import Cell, Column, Layout
from run_fixtures import carry_out, write_study

PUBLISHED = """
source: RPA-Check, Tables 1 to 6
dimensions:
  - id: BRF
    name: Behavioural Role Fidelity
    parts: {D1: Role Adherence, D2: Argumentative Depth, D3: Factual Consistency, D4: Contextual Relevance}
  - {id: LFO, name: Linguistic Formalism and Orthography}
  - {id: PCS, name: Procedural Convergence and Stability}
cases: {"1": Case 1, "2": Case 2, "3": Case 3, "4": Case 4, "5": Case 5}
subjects:
"""

TABLE_1 = (
    ("Llama-3.1-8B", "3", "0.925"),
    ("Gemma-2-9B-it", "0", "0.893"),
    ("Qwen-3-8B", "1", "0.893"),
    ("Gemma-3-12B-it", "0", "0.823"),
    ("Hermes-3-8B", "3", "0.810"),
    ("Phi-4-14B", "0", "0.760"),
    ("Qwen-3-14B", "0", "0.730"),
)

TABLE_2 = (
    ("Llama-3.1-8B", "0.93", "0.97", "0.80", "1.00"),
    ("Gemma-2-9B-it", "0.93", "0.91", "0.73", "1.00"),
    ("Qwen-3-8B", "0.90", "0.94", "0.73", "1.00"),
    ("Gemma-3-12B-it", "0.73", "1.00", "0.73", "0.83"),
    ("Hermes-3-8B", "0.80", "0.94", "0.80", "0.70"),
    ("Phi-4-14B", "0.66", "0.82", "0.73", "0.83"),
    ("Qwen-3-14B", "0.46", "1.00", "0.63", "0.83"),
)

TABLE_3 = (
    ("Llama-3.1-8B", "0.96 0 0.96 0 0.88 1 0.84 1 1.00 1"),
    ("Gemma-2-9B-it", "0.96 0 0.88 0 0.79 0 1.00 0 0.84 0"),
    ("Qwen-3-8B", "1.00 0 0.88 0 0.88 1 0.92 0 0.79 0"),
    ("Gemma-3-12B-it", "0.79 0 1.00 0 1.00 0 0.54 0 0.79 0"),
    ("Hermes-3-8B", "1.00 0 0.75 2 0.83 1 0.55 0 0.92 0"),
    ("Phi-4-14B", "1.00 0 0.92 0 0.70 0 0.28 0 0.92 0"),
    ("Qwen-3-14B", "0.87 0 0.87 0 0.50 0 0.71 0 0.71 0"),
)


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    """Tables 2 and 3 typed in as data."""
    rows: list[object] = []
    for (name, *parts), (_, by_case) in zip(TABLE_2, TABLE_3, strict=True):
        numbers = by_case.split()
        rows.append(
            {
                "name": name,
                "quantisation": "5-bit" if name.startswith("Hermes") else "4-bit",
                "parts": dict(zip(("D1", "D2", "D3", "D4"), map(float, parts), strict=True)),
                "cases": {"BRF": {str(case): float(numbers[2 * case - 2]) for case in range(1, 6)}},
                "restarts": {str(case): int(numbers[2 * case - 1]) for case in range(1, 6)},
            }
        )
    path = tmp_path / "published.yaml"
    path.write_text(PUBLISHED + "\n".join(f"  - {json.dumps(row)}" for row in rows), encoding="utf-8")
    return path


def texts(layout: Layout) -> list[tuple[str, ...]]:
    return [tuple(cell.text for cell in row) for row in layout.rows]


def test_table_1_of_the_paper_is_the_mean_of_its_table_2_rounded_half_up(paper: Path) -> None:
    first, second, *_ = layouts(figures_of_publication(paper))
    assert texts(second) == list(TABLE_2)
    assert [(row[0], row[3], row[4]) for row in texts(first)] == list(TABLE_1)


def test_the_mean_of_the_papers_table_3_is_said_to_be_another_figure(paper: Path) -> None:
    third = layouts(figures_of_publication(paper))[2]
    assert [(row[0], " ".join(row[1:])) for row in texts(third)] == list(TABLE_3)
    note = next(note for note in third.notes if note.startswith("Mean over the cases"))
    assert "Llama-3.1-8B 0.928 (there 0.925)" in note
    assert "Gemma-2-9B-it 0.894 (there 0.893)" in note


def test_the_command_prints_published_tables(paper: Path) -> None:
    text = run("--table", "1", "--format", "csv", paths=[paper])
    for name, restarts, score in TABLE_1:
        assert re.search(rf"^{name},[45]-bit,,{restarts},{score}$", text, re.MULTILINE)
    assert "0.928" in run("--table", "3", "--format", "md", paths=[paper])


def run(*arguments: str, paths: Sequence[Path], fails: bool = False) -> str:
    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, [*map(str, paths), *arguments])
    if fails:
        assert isinstance(result.exception, UserError)
        return str(result.exception)
    assert result.exception is None
    return result.output


def test_a_missing_part_leaves_the_mean() -> None:
    assert mean_of_parts([Fraction(1, 2), None, Fraction(1)]) == Fraction(3, 4)
    assert mean_of_parts([None]) is None


@pytest.mark.parametrize(
    ("value", "digits", "expected"),
    [
        (Fraction(357, 400), 3, "0.893"),
        (Fraction(329, 400), 3, "0.823"),
        (Fraction(1, 8), 2, "0.13"),
        (Fraction(2, 3), 2, "0.67"),
        (Fraction(1), 3, "1.000"),
        (Fraction(0), 2, "0.00"),
        (None, 2, "–"),
    ],
)
def test_ties_go_up_as_in_print(value: Fraction | None, digits: int, expected: str) -> None:
    assert half_up(value, digits) == expected


def test_a_run_has_all_layouts_and_its_model_files_facts(tmp_path: Path) -> None:
    report = made.rich_run(tmp_path).report()
    (figures,) = figures_of_reports([NamedReport("run", report)])
    made_tables = layouts(figures)
    assert [layout.number for layout in made_tables] == [1, 2, 3, 4, 5, 6]
    first = made_tables[0]
    assert [row[:3] for row in texts(first)] == [
        (made.SMALL, "Q4_1", "135 million"),
        (made.LARGE, "Q4_K_M", "1.5 billion"),
    ]
    assert texts(first)[0][3] == "2"
    assert "1 trial did not reach the end" in " ".join(first.notes)
    assert len(made_tables[1].columns) == 5
    assert len(made_tables[2].columns) == 1 + 2 * 3 and len(made_tables[4].columns) == 1 + 3
    assert made_tables[2].notes[0].startswith("Case 1: lighthouse (The Lighthouse Ledger); Case 2: night-train")


def test_table_scores_are_those_of_the_score_table_when_all_trials_completed(tmp_path: Path) -> None:
    report = made.large_run(tmp_path, 6).report()
    (figures,) = figures_of_reports([NamedReport("run", report)])
    for row, subject in zip(layouts(figures)[0].rows, report.panels[0].subjects, strict=True):
        value = subject.scores[f"{figures.dimensions[0].id}:mean"].summary.estimate.value
        assert value is not None and abs(float(row[4].text) - value) <= 0.0005 + 1e-9


def test_another_dimension_can_lead_and_an_unknown_one_is_an_error(tmp_path: Path) -> None:
    (figures,) = figures_of_reports([NamedReport("run", made.rich_run(tmp_path).report())])
    names = [head.id for head in figures.dimensions]
    first = layouts(figures, dimension=names[1])[0]
    assert first.columns[-1].name == f"QS {names[1]}"
    with pytest.raises(UserError, match="no dimension 'XX'"):
        layouts(figures, dimension="XX")


def test_runs_are_put_together_and_equal_labels_told_apart(tmp_path: Path) -> None:
    reports = [NamedReport(name, made.rich_run(tmp_path / name).report()) for name in ("one", "two")]
    (figures,) = figures_of_reports(reports)
    labels = [row[0] for row in texts(layouts(figures)[0])]
    assert labels == [f"{model} ({name})" for name in ("one", "two") for model in (made.SMALL, made.LARGE)]


def test_intervals_stand_in_brackets_and_in_columns_of_their_own_in_csv(tmp_path: Path) -> None:
    (figures,) = figures_of_reports([NamedReport("run", made.rich_run(tmp_path).report())])
    tables = layouts(figures, intervals=True)
    assert re.search(r"0\.\d{3} \[\d\.\d{3}, \d\.\d{3}\]", exports.as_markdown(tables[:1]).replace("\\", ""))
    header = list(csv.reader(io.StringIO(exports.as_csv(tables[:1]))))[1]
    assert header[-3:] == ["QS BRF", "QS BRF, low", "QS BRF, high"]


def odd(name: str) -> list[Layout]:
    columns = (Column("Model", numeric=False), Column("QS"))
    return [Layout(1, "At a glance", columns, ((Cell(name), Cell("0.50")),), ("a note",))]


@pytest.mark.parametrize("name", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", " =1", "＝1+1"])
def test_a_name_is_no_formula_in_a_spreadsheet(name: str) -> None:
    cell = list(csv.reader(io.StringIO(exports.as_csv(odd(name)))))[2][0]
    assert cell.startswith(("'", "⟨"))


def test_quotes_commas_and_lines_survive_csv() -> None:
    rows = list(csv.reader(io.StringIO(exports.as_csv(odd('a,"b"\nc')))))
    assert rows[2] == ['a,"b" c', "0.50"]


def test_latex_specials_are_escaped() -> None:
    text = exports.as_latex(odd("a_b & 50% #1 $x$ {y} ~ ^ \\input{z} [w]"))
    assert r"a\_b \& 50\% \#1 \$x\$ \{y\} \textasciitilde{} \textasciicircum{} \textbackslash{}input\{z\} [w]" in text
    assert "\n{a" in text


def test_markdown_and_html_hold_text_alone() -> None:
    text = exports.as_markdown(odd("a|b <img src=x> [l](u)\nc"))
    assert r"| a\|b \<img src=x\> \[l\](u) c | 0.50 |" in text
    page = tables_page(odd("<script>alert(1)</script>\u202e"))
    assert "&lt;script&gt;" in page and "<script" not in page and "⟨U+202E⟩" in page


def test_a_run_whose_checklist_is_lost_has_no_tables(tmp_path: Path) -> None:
    made.rich_run(tmp_path / "run")
    error = run("--table", "1", paths=[tmp_path / "run"], fails=True)
    assert "nothing was judged by a checklist that is at hand" in error


async def test_the_command_puts_real_runs_together_and_reads_no_model(tmp_path: Path) -> None:
    folders: list[Path] = []
    for name, subjects in (("one", ["script:actor.py"]), ("two", ["script:actor.py", "script:second.py"])):
        study = write_study(tmp_path, subjects=subjects, judges=[{"model": "script:critic.py", "checklist": "court"}])
        await carry_out(study, tmp_path / name)
        folders.append(tmp_path / name)
    text = run("--table", "1", "--format", "csv", paths=folders)
    labels = [row[0] for row in csv.reader(io.StringIO(text))][2:5]
    assert labels == ["script:actor.py (one)", "script:actor.py (two)", "script:second.py"]
    for form in ("terminal", "md", "latex", "html"):
        assert "second.py" in run("--table", "all", "--intervals", "--format", form, paths=folders)
    assert "report.html" in run(paths=folders) and (folders[1] / "report.html").is_file()
    assert "--ledger goes with one DIR" in run("--ledger", "x.db", paths=folders, fails=True)


def test_a_table_that_is_not_there_is_named_with_those_that_are(paper: Path) -> None:
    assert "(1, 2, 3, 4, 5, 6, all)" in run("--table", "9", paths=[paper], fails=True)
    assert "go with --table" in run("--format", "csv", paths=[paper], fails=True)


def test_a_table_that_only_some_checklists_have_is_printed_for_them(tmp_path: Path, paper: Path) -> None:
    small = tmp_path / "small.yaml"
    small.write_text(
        "source: another\ndimensions: [{id: AA, name: Only}]\nsubjects: [{name: x, dimensions: {AA: 0.5}}]\n",
        encoding="utf-8",
    )
    assert len(json.loads(run("--table", "5", "--json", paths=[small, paper]))) == 1
    assert len(json.loads(run("--table", "3", "--json", paths=[small, paper]))) == 2
    assert "no table '5' (1, 2, 3, all)" in run("--table", "5", paths=[small], fails=True)


def test_json_has_null_where_nothing_is_known(paper: Path) -> None:
    tables = json.loads(run("--table", "5", "--json", paths=[paper]))
    assert tables[0]["table"] == 5 and tables[0]["rows"][0][1:] == [None] * 5


def test_a_wrong_figure_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(PUBLISHED + "  - name: x\n    parts: {D1: 1.5}\n", encoding="utf-8")
    with pytest.raises(ContentError, match=r"p\.yaml:12: subjects\.0\.parts\.D1"):
        figures_of_publication(path)
