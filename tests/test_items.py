"""Item analysis: what each indicator tells, what is advised, and what broken files say."""

import json
import math
import random
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from dramaturg.cli.items import items as command
from dramaturg.errors import ContentError
from dramaturg.judge.checklist.answer_table import MISSING, NO, NOT_APPLICABLE, NOT_ASKED, YES, read_answers
from dramaturg.judge.checklist.checklist import Checklist
from dramaturg.judge.checklist.items import FEWEST, Item, ItemAnalysis, analyse
from judge_fixtures import checklist

SMALL = checklist()


def line(transcript: str, indicator: str, answer: str, **more: object) -> str:
    record: dict[str, object] = {
        "transcript": transcript,
        "transcript_digest": "d",
        "indicator": indicator,
        "dimension": indicator[0],
        "answer": answer,
        "judge": "a",
        "mode": "single",
        "checklist": "small v1",
        "checklist_digest": SMALL.hash,
    }
    return json.dumps({**record, **more}) + "\n"


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(lines), encoding="utf-8")
    return path


def analysed(
    path: Path, by: Checklist = SMALL, subjects: Mapping[str, str] | None = None
) -> tuple[ItemAnalysis, dict[str, Item]]:
    first, *_ = analyse(read_answers(path), checklists={by.hash: by}, subjects=subjects or {})
    return first, {item.indicator: item for item in first.items}


def filled(path: Path, answers: Mapping[str, Callable[[int], str]], n: int = 40, **more: object) -> Path:
    return write(
        path, [line(f"t{row}", name, answer(row), **more) for row in range(n) for name, answer in answers.items()]
    )


def test_answers_become_small_numbers_and_the_last_one_counts(tmp_path: Path) -> None:
    path = write(
        tmp_path / "j.jsonl",
        [
            line("t1", "R-1", "yes"),
            line("t1", "R-2", "no", probability=0.25),
            line("t2", "R-1", "missing", reason="refused"),
            line("t2", "L-1", "not_applicable"),
            line("t1", "R-1", "no", source="transcript"),
        ],
    )
    (table,) = read_answers(path)
    assert table.transcripts == ("t1", "t2") and table.indicators == ("R-1", "R-2", "L-1")
    assert table.answers.tolist() == [[NO, NO, NOT_ASKED], [MISSING, NOT_ASKED, NOT_APPLICABLE]]
    assert table.probabilities[0, 1] == 0.25 and math.isnan(table.probabilities[0, 0])
    assert table.proven[0, 0] and not table.proven[0, 1]


def test_each_judge_checklist_and_mode_has_a_table(tmp_path: Path) -> None:
    lines = [line("t", "R-1", "yes"), line("t", "R-1", "no", judge="b"), line("t", "R-1", "no", mode="joint")]
    tables = read_answers(write(tmp_path / "j.jsonl", lines))
    assert [(table.judge, table.mode, int(table.answers[0, 0])) for table in tables] == [
        ("a", "single", YES),
        ("b", "single", NO),
        ("a", "joint", NO),
    ]


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("{nonsense\n", "is no JSON"),
        ("[1]\n", "is no judgement"),
        (line("t", "R-1", "Partly"), "answer is 'Partly' "),
        (line("t", "R-1", "yes", probability=7), "probability is 7"),
        (line("t", "R-1", "yes", judge=3), "is no judgement: key 'judge' is missing or no text"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, broken: str, message: str) -> None:
    path = write(tmp_path / "j.jsonl", [line("t", "R-1", "yes"), "\n", broken])
    with pytest.raises(ContentError, match=rf"j\.jsonl:3: {message}"):
        read_answers(path)


def test_a_torn_tail_is_left_out_and_a_byte_order_mark_read(tmp_path: Path) -> None:
    path = write(tmp_path / "j.jsonl", ["\ufeff" + line("t", "R-1", "yes"), line("t", "R-2", "no")[:30]])
    assert read_answers(path)[0].indicators == ("R-1",)


def test_shares_and_counts(tmp_path: Path) -> None:
    lines = [line(f"t{row}", "R-1", answer) for row, answer in enumerate(["yes", "yes", "no", "missing"])]
    _, found = analysed(write(tmp_path / "j.jsonl", [*lines, line("t4", "R-1", "not_applicable")]))
    item = found["R-1"]
    assert (item.answered, item.missing, item.not_applicable) == (3, 1, 1)
    assert item.yes == pytest.approx(2 / 3) and item.missing_share == pytest.approx(1 / 4)
    assert (item.item_total, item.discrimination, item.disagreement) == (None, None, None)


def test_item_total_is_pearsons_r_with_the_rest_of_the_dimension(tmp_path: Path) -> None:
    generator = random.Random(5)
    draws = [[generator.random() < 0.6 for _ in range(3)] for _ in range(60)]
    names = ("R-1", "R-2", "R-3")
    lines = [
        line(f"t{row}", name, "yes" if value else "no")
        for row, draw in enumerate(draws)
        for name, value in zip(names, draw, strict=True)
    ]
    _, found = analysed(write(tmp_path / "j.jsonl", lines))
    data = np.asarray(draws, float)
    for column, name in enumerate(names):
        rest = np.delete(data, column, axis=1).mean(axis=1)
        assert found[name].item_total == pytest.approx(float(np.corrcoef(data[:, column], rest)[0, 1]))


def test_a_reversed_indicator_is_turned_before_it_is_correlated(tmp_path: Path) -> None:
    by = checklist(
        {"id": "R-1", "text": "Is it bad?", "dimension": "R", "sign": "negative"},
        {"id": "R-2", "text": "Is it good?", "dimension": "R"},
    )
    answers = {"R-1": lambda row: "no" if row % 3 else "yes", "R-2": lambda row: "yes" if row % 3 else "no"}
    analysis, found = analysed(filled(tmp_path / "j.jsonl", answers, checklist_digest=by.hash), by)
    assert found["R-1"].reversed and found["R-1"].item_total == pytest.approx(1.0)
    assert [(pair.one, pair.other, pytest.approx(pair.phi)) for pair in analysis.twins] == [("R-1", "R-2", 1.0)]


def test_discrimination_is_the_variance_between_subjects(tmp_path: Path) -> None:
    answers = {"R-1": lambda row: "yes" if row % 2 else "no", "R-2": lambda row: "yes" if row % 4 < 2 else "no"}
    subjects = {f"t{row}": "odd" if row % 2 else "even" for row in range(40)}
    _, found = analysed(filled(tmp_path / "j.jsonl", answers), subjects=subjects)
    assert (found["R-1"].discrimination, found["R-1"].spread) == (pytest.approx(1.0), pytest.approx(1.0))
    assert (found["R-2"].discrimination, found["R-2"].spread) == (pytest.approx(0.0), pytest.approx(0.0))


def test_advice_names_constant_twin_missing_and_unfit_indicators(tmp_path: Path) -> None:
    answers: dict[str, Callable[[int], str]] = {
        "R-1": lambda row: "yes",
        "R-2": lambda row: "yes" if row % 2 else "no",
        "R-3": lambda row: "yes" if row % 2 else "no",
        "L-1": lambda row: "missing" if row % 3 == 0 else "yes" if row % 2 else "no",
        "L-2": lambda row: "no" if row % 2 else "yes",
    }
    analysis, _ = analysed(filled(tmp_path / "j.jsonl", answers))
    advice = {one.indicator: "; ".join(one.reasons) for one in analysis.advice}
    assert "always yes" in advice["R-1"]
    assert ("says the same as R-3" in advice.get("R-2", "")) != ("says the same as R-2" in advice.get("R-3", ""))
    assert "are missing" in advice["L-1"] and "does not go with the rest" in advice["L-2"]
    assert analysis.notes[0].endswith("L: rewrite some instead.")


def test_too_few_transcripts_give_figures_but_no_advice(tmp_path: Path) -> None:
    analysis, found = analysed(filled(tmp_path / "j.jsonl", {"R-1": lambda row: "yes"}, n=FEWEST - 1))
    assert found["R-1"].yes == 1.0 and analysis.advice == ()
    assert "too few to advise" in analysis.notes[0]


def test_judges_that_disagree_are_seen(tmp_path: Path) -> None:
    lines = [line(f"t{row}", "R-1", "yes" if row % 2 else "no") for row in range(40)]
    lines += [line(f"t{row}", "R-1", "yes", judge="b") for row in range(40)]
    analysis, found = analysed(write(tmp_path / "j.jsonl", lines))
    assert found["R-1"].disagreement == pytest.approx(0.5)
    assert "judges disagree on 50%" in analysis.advice[0].reasons[0]


def test_the_command_prints_tables_and_json(tmp_path: Path) -> None:
    filled(tmp_path / "judgements.jsonl", {"R-1": lambda row: "yes", "R-2": lambda row: "yes" if row % 2 else "no"})
    app = typer.Typer()
    app.command()(command)
    text = CliRunner().invoke(app, [str(tmp_path)])
    assert text.exception is None and "To drop or rewrite:" in text.output and "R-1: always yes" in text.output
    data = json.loads(CliRunner().invoke(app, [str(tmp_path), "--json"]).output)
    assert data[0]["items"][0]["yes"] == 1.0 and data[0]["advice"][0]["indicator"] == "R-1"
    missing = CliRunner().invoke(app, [str(tmp_path / "nowhere")])
    assert "holds no judgements.jsonl" in str(missing.exception)
