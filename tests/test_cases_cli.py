"""The commands for cases: what they say, as lines and as JSON, and how they end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dramaturg.cli.console import Finished
from dramaturg.cli.court_cases import app
from dramaturg.errors import UserError
from dramaturg.files import shipped
from dramaturg.stage.court.case import read_case
from dramaturg.stage.court.cases import case_yaml
from test_cases_llm_court import UPSTREAM

YARD = read_case(shipped("cases")["dukes-yard"])


def said(*words: str | Path, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    ended = result.exception
    assert (ended.code if isinstance(ended, Finished) else 0) == code, result.output
    assert ended is None or isinstance(ended, Finished), result.output
    return result.output


def told(*words: str | Path, code: int = 0) -> Any:
    return json.loads(said(*words, "--json", code=code))


def refused(*words: str | Path) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert isinstance(result.exception, UserError), result.output
    assert "\n" not in str(result.exception)
    return str(result.exception)


def test_shipped_cases_are_listed_with_their_diversity():
    assert "dukes-yard  en  trial  8 people" in said("list")
    listed = told("list")
    assert {case["id"] for case in listed["cases"]} == set(shipped("cases"))
    assert 0.7 < listed["diversity"]["distance"] < 1


def test_case_is_shown_with_what_witnesses_hide():
    shown = said("show", "dukes-yard")
    assert YARD.everybody[3].secrets[0] in shown
    assert told("show", "dukes-yard")["title"] == YARD.title


def test_open_case_is_shown_too():
    name = next(name for name, path in shipped("cases").items() if read_case(path).made_for != "trial")
    assert read_case(shipped("cases")[name]).summary.split()[0] in said("show", name)


def test_check_ends_with_one_where_there_is_an_error(tmp_path: Path):
    assert said("check", "dukes-yard") == "dukes-yard: nothing found\n"
    path = tmp_path / "bad.yaml"
    path.write_text(case_yaml(YARD.model_copy(update={"goal": "Win <b>it</b> all."})), encoding="utf-8")
    assert "error markup at goal" in said("check", path, code=1)
    [checked] = told("check", tmp_path, code=1)
    assert checked["findings"][0]["code"] == "markup"
    path.write_text("id: x\n", encoding="utf-8")
    assert told("check", path, code=1)[0]["findings"][0]["code"] == "form"


def test_warnings_end_with_zero(tmp_path: Path):
    path = tmp_path / "odd.yaml"
    path.write_text(case_yaml(YARD.model_copy(update={"goal": "Dismiss the\u200bclaim, please."})), encoding="utf-8")
    assert "warning control-character at goal" in said("check", path)


def test_import_then_export_gives_the_same_file(tmp_path: Path):
    source, back = tmp_path / "in.json", tmp_path / "out.json"
    source.write_text(json.dumps([UPSTREAM]), encoding="utf-8")
    [imported] = told("import", source, "--out", tmp_path / "cases")
    assert imported["findings"][0]["code"] == "named-like-role"
    said("export", imported["file"], "--out", back)
    assert json.loads(back.read_text(encoding="utf-8")) == [UPSTREAM]
    assert json.loads(said("export", imported["file"])) == [UPSTREAM]
    assert "lies there already" in refused("import", source, "--out", tmp_path / "cases")
    said("import", source, "--out", tmp_path / "cases", "--overwrite")


def test_case_of_another_form_is_not_exported():
    name = next(name for name, path in shipped("cases").items() if read_case(path).made_for != "trial")
    assert "is no court case" in refused("export", name)


def test_templates_need_no_model_and_no_wish(tmp_path: Path):
    made = told("generate", "--model", "template", "-n", "5", "--language", "it", "--out", tmp_path / "c")
    assert made["figures"]["kept"] == 5
    assert made["complete"]
    assert made["diversity"]["formula"].startswith("mean over all pairs")
    assert "diversity" in said("list", tmp_path / "c")
    assert "nothing found" in said("check", tmp_path / "c")
    assert not (tmp_path / "c" / "ledger.db").exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "says not what the cases are about"),
        (("--prior", "  "), "a prior has 1 to 500 characters"),
        (("--prior", "x" * 501), "a prior has 1 to 500 characters"),
        (("--prior", "a theft", "--language", "fr"), "allowed: en, it, zh|en, it, zh"),
    ],
)
def test_bad_option_is_one_line_and_writes_nothing(tmp_path: Path, options: tuple[str, ...], says: str):
    problem = refused("generate", "--model", "script:court-steady", "--out", tmp_path / "c", *options)
    assert any(part in problem for part in says.split("|"))
    assert not (tmp_path / "c").exists()


def test_unknown_model_is_one_line(tmp_path: Path):
    assert "unknown provider" in refused("generate", "--model", "nobody:x", "--prior", "a", "--out", tmp_path / "c")


def test_what_became_of_a_case_that_could_not_be_written_is_told(tmp_path: Path):
    script = tmp_path / "silent.py"
    script.write_text("def reply(request):\n    return ''\n", encoding="utf-8")
    lines = said("generate", "--model", f"script:{script}", "--prior", "a theft", "--out", tmp_path / "corpus", code=2)
    assert "0 of 1 cases kept" in lines
    assert "case 1 failed: plot: empty" in lines
