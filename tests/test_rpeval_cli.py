"""``dramaturg rpeval`` and the commands that take a study of an interview, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from dramaturg.cli import rpeval
from dramaturg.cli.main import app
from dramaturg.errors import DramaturgError
from interview_fixtures import RIGHT, rows, write_interview, write_set
from test_item_sets import published, row


def rp(*words: object) -> Result:
    return CliRunner().invoke(rpeval.app, [str(word) for word in words])


def command(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def told(result: Result) -> str:
    """Returns the one clear line of a command that ended with an error of the user's."""
    assert isinstance(result.exception, DramaturgError), result.output
    return str(result.exception)


def code(result: Result) -> int:
    """Returns the exit code that the program would end with."""
    return getattr(result.exception, "code", 0 if result.exception is None else 1)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    (tmp_path / "right.py").write_text(RIGHT, encoding="utf-8")
    return write_set(tmp_path / "set")


def test_a_run_ends_with_a_report_and_goes_on_by_its_study(small: Path) -> None:
    folder, out = small.parent, small.parent / "out"
    words = ("run", "--model", f"script:{folder / 'right.py'}", "--items", small, "--out", out, "--json")
    done = rp(*words, "--strategy", "bare", "--strategy", "period", "--repeats", 2)
    assert code(done) == 0, done.output
    result = json.loads(done.stdout)
    assert result["replies"] == {"planned": 60, "answered": 60, "failed": {}, "open": 0}
    assert (result["calls"], result["exit_code"]) == (60, 0)
    assert len(result["subjects"]) == 2
    assert (out / "report.html").is_file() and (out / "scores.csv").is_file()
    again = command("run", out / "study.yaml", "--out", out, "--json", "--replay-only")
    assert json.loads(again.stdout)["replayed"] == 60
    shown = command("report", out, "--json")
    assert json.loads(shown.stdout)["subjects"] == result["subjects"]
    assert f"report: {out / 'report.html'}" in command("report", out).stdout


def test_a_limit_ends_a_run_with_three_and_says_how_to_go_on(small: Path) -> None:
    out = small.parent / "out"
    words = ("run", "--model", f"script:{small.parent / 'right.py'}", "--items", small, "--out", out)
    stopped = rp(*words, "--max-calls", 7)
    assert code(stopped) == 3
    assert "7 of 15 replies are done" in stopped.stderr
    assert code(rp(*words)) == 0


def test_a_sample_is_told_with_what_it_stands_for(small: Path) -> None:
    out = small.parent / "out"
    words = ("run", "--model", f"script:{small.parent / 'right.py'}", "--items", small, "--out", out)
    done = rp(*words, "--sample", 10, "--json")
    assert json.loads(done.stdout)["replies"]["planned"] == 10
    assert "10 of 15 items were asked" in done.stdout


def test_failed_calls_end_a_run_with_two(small: Path) -> None:
    folder, out = small.parent, small.parent / "out"
    (folder / "right.down").write_text("monk-e", encoding="utf-8")
    done = rp("run", "--model", f"script:{folder / 'right.py'}", "--items", small, "--out", out, "--json")
    assert code(done) == 2
    assert json.loads(done.stdout)["replies"]["failed"] == {"connect": 1}


def test_a_plan_counts_the_calls_of_an_interview(small: Path) -> None:
    study = write_interview(small.parent, repeats=6)
    assert json.loads(command("plan", study, "--json").stdout)["calls"] == {"least": 90, "most": 90}
    assert "script:right.py, bare" in command("plan", study).stdout
    assert "watch" in told(command("run", study, "--out", small.parent / "out", "--watch"))


def test_a_list_counts_by_category(small: Path) -> None:
    listed = json.loads(rp("list", small, "--json").stdout)
    assert listed["counts"] == dict.fromkeys(("emotion", "decision", "moral", "in_character", "knows"), 3)
    (one,) = listed["sets"]
    assert (one["id"], one["characters"], len(one["labels"])) == ("small", 3, 13)
    assert "small v1" in rp("list", small).stdout


def test_a_check_names_what_cannot_be_used_and_what_a_constant_answer_would_earn(small: Path) -> None:
    checked = rp("check", small, "--json")
    found = json.loads(checked.stdout)
    assert code(checked) == 2 and not found["sound"]
    assert found["most_expected"]["moral"] == {"answer": "no", "share": 1.0}
    assert "moral: 'no' is expected of 100% of the items" in rp("check", small).stdout


def test_an_import_lists_what_it_cannot_use_and_keeps_it(tmp_path: Path) -> None:
    path = published(tmp_path / "data.jsonl", row(1, "emotion", "joy"), row(2, "in\u2010character", []), {"id": 3})
    done = rp("import", path, "--out", tmp_path / "set", "--json")
    result = json.loads(done.stdout)
    assert (result["id"], len(result["problems"])) == ("data", 2)
    assert "item '2': it names no fact" in (tmp_path / "set" / "card.md").read_text(encoding="utf-8")
    assert len(json.loads(rp("check", tmp_path / "set", "--json").stdout)["problems"]) == 2
    assert "the folder is not empty" in told(rp("import", path, "--out", tmp_path / "set"))
    assert "is no file" in told(rp("import", tmp_path / "no.jsonl", "--out", tmp_path / "other"))


def responses(path: Path, *found: Any) -> Path:
    return published(path, *[{"id": name, "response": text} for name, text in found])


PUBLISHED = (row(1, "emotion", ["anger"]), row(2, "decision", "yes"), row(3, "in\u2010character", ["Nolan"]))


def test_a_published_response_file_is_scored_without_a_model(tmp_path: Path) -> None:
    items = published(tmp_path / "items.jsonl", *PUBLISHED)
    file = responses(
        tmp_path / "gpt.jsonl",
        (1, '{"emotion": "anger", "text": "Out."}'),
        (2, '{"decision": "no"}'),
        (3, "I know no such man."),
    )
    done = rp("score", file, "--items", items, "--matcher", "compat", "--json", "--out", tmp_path / "scores")
    assert code(done) == 0, done.output
    (subject,) = json.loads(done.stdout)["subjects"]
    values = {name: score["value"] for name, score in subject["scores"].items()}
    assert (values["emotion"], values["in_character"]) == (1.0, 1.0)
    assert values["decision"] == 0.0
    assert (tmp_path / "scores" / "report.html").is_file()


def test_a_null_response_is_counted_and_never_ends_the_scoring(tmp_path: Path) -> None:
    items = published(tmp_path / "items.jsonl", *PUBLISHED)
    file = responses(tmp_path / "g.jsonl", (1, None), (2, None), (3, None))
    for matcher in ("compat", "robust"):
        done = rp("score", file, "--items", items, "--matcher", matcher, "--json")
        (subject,) = json.loads(done.stdout)["subjects"]
        assert {score["value"] for score in subject["scores"].values() if score["value"] is not None} == {0.0}


def test_a_missing_response_leaves_the_denominator_and_is_told(tmp_path: Path) -> None:
    items = published(tmp_path / "items.jsonl", *PUBLISHED, row(4, "emotion", ["joy"]))
    file = responses(tmp_path / "g.jsonl", (1, '{"emotion": "anger", "text": "Out."}'))
    (subject,) = json.loads(rp("score", file, "--items", items, "--json").stdout)["subjects"]
    emotion = subject["scores"]["emotion"]
    assert (emotion["value"], emotion["replies_used"], emotion["replies_planned"]) == (1.0, 1, 2)


def test_a_row_without_a_response_is_scored_as_one_that_is_null(tmp_path: Path) -> None:
    items = published(tmp_path / "items.jsonl", *PUBLISHED)
    file = published(tmp_path / "g.jsonl", {"id": 1, "response": '{"emotion": "anger", "text": "Out."}'}, {"id": 2})
    (subject,) = json.loads(rp("score", file, "--items", items, "--json").stdout)["subjects"]
    decision = subject["scores"]["decision"]
    assert (decision["value"], decision["replies_used"]) == (0.0, 1)


@pytest.mark.parametrize(
    ("first", "what"),
    [
        ({"id": 1, "response": 5}, ":1: response: is neither text nor an object nor null"),
        ({"id": 1.5, "response": "x"}, ":1: id: is neither a whole number nor text"),
        ({"id": True, "response": "x"}, ":1: id: is neither a whole number nor text"),
    ],
)
def test_a_wrong_row_of_a_response_file_is_one_line(tmp_path: Path, first: Any, what: str) -> None:
    items = published(tmp_path / "items.jsonl", *PUBLISHED)
    message = told(rp("score", published(tmp_path / "g.jsonl", first), "--items", items))
    assert message.endswith(what) and "\n" not in message


def test_a_row_of_an_absurd_repeat_is_refused_at_once(small: Path) -> None:
    out = small.parent / "out"
    rp("run", "--model", f"script:{small.parent / 'right.py'}", "--items", small, "--out", out)
    first = json.loads((out / "replies.jsonl").read_text(encoding="utf-8").splitlines()[0])
    file = published(small.parent / "far.jsonl", first | {"repeat": 10**9})
    assert "repeat: Input should be less than or equal to 1000" in told(rp("score", file, "--items", small))


def test_a_torn_last_line_is_left_out_and_told(tmp_path: Path) -> None:
    items = published(tmp_path / "items.jsonl", *PUBLISHED)
    file = responses(tmp_path / "g.jsonl", (1, '{"emotion": "anger", "text": "Out."}'))
    with file.open("a", encoding="utf-8") as opened:
        opened.write('{"id": 2, "resp')
    done = rp("score", file, "--items", items, "--json")
    assert code(done) == 0 and "torn" in done.stdout


@pytest.mark.parametrize(
    ("found", "what"),
    [
        ([(71, "x"), (72, "y")], "all rows answer items that the set 'items' does not have: '71', '72'"),
        ([(1, "x"), (72, "y")], "1 of 2 rows answer items that the set 'items' does not have: '72'"),
        ([(1, "x"), (1, "y")], "item '1' is answered twice"),
        ([], "holds no reply"),
    ],
)
def test_a_response_file_of_another_benchmark_is_refused(tmp_path: Path, found: Any, what: str) -> None:
    items = published(tmp_path / "items.jsonl", *PUBLISHED)
    assert what in told(rp("score", responses(tmp_path / "r.jsonl", *found), "--items", items))


def test_what_is_no_file_of_replies_is_refused(tmp_path: Path) -> None:
    items = published(tmp_path / "items.jsonl", *PUBLISHED)
    assert "is no file of replies" in told(rp("score", published(tmp_path / "x.jsonl", {"q": 1}), "--items", items))
    assert "cannot be read" in told(rp("score", tmp_path / "no.jsonl", "--items", items))


def test_rows_of_a_run_are_scored_alone_and_never_for_another_version(small: Path) -> None:
    folder, out = small.parent, small.parent / "out"
    rp("run", "--model", f"script:{folder / 'right.py'}", "--items", small, "--out", out)
    done = rp("score", out / "replies.jsonl", "--items", small, "--json")
    assert json.loads(done.stdout)["subjects"] == json.loads(command("report", out, "--json").stdout)["subjects"]
    text = (small / "items.jsonl").read_text(encoding="utf-8")
    (small / "items.jsonl").write_text(text.replace("stole my mare", "stole my hen"), encoding="utf-8")
    assert "answers another version of item 'smith-e'" in told(rp("score", out / "replies.jsonl", "--items", small))


def test_a_subset_is_scored_where_that_is_wished(small: Path) -> None:
    folder, out = small.parent, small.parent / "out"
    rp("run", "--model", f"script:{folder / 'right.py'}", "--items", small, "--out", out)
    lines = (small / "items.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (small / "items.jsonl").write_text("".join(lines[:5]), encoding="utf-8")
    assert "10 of 15 rows" in told(rp("score", out / "replies.jsonl", "--items", small))
    assert code(rp("score", out / "replies.jsonl", "--items", small, "--skip-unknown")) == 0


def test_a_reply_of_a_megabyte_and_of_mixed_scripts_is_scored(tmp_path: Path) -> None:
    items = published(tmp_path / "items.jsonl", *PUBLISHED)
    file = responses(
        tmp_path / "g.jsonl", (1, "[anger] " + "ab " * 350_000), (2, "\u202eنعم yes 是\u202c \x00"), (3, "لا أعرف")
    )
    done = rp("score", file, "--items", items, "--json")
    assert code(done) == 0, done.output


@pytest.mark.parametrize("document", ["item", "character", "item-set", "interview-study", "reply"])
def test_formats_have_a_schema(document: str) -> None:
    assert json.loads(command("schema", document).stdout)["type"] == "object"


def test_the_rows_of_a_run_follow_their_schema(small: Path) -> None:
    out = small.parent / "out"
    rp("run", "--model", f"script:{small.parent / 'right.py'}", "--items", small, "--out", out)
    keys = json.loads(command("schema", "reply").stdout)["properties"].keys()
    assert all(one.keys() == keys for one in rows(out))


@pytest.mark.parametrize(("option", "value"), [("--items", "nope"), ("--strategy", "nope")])
def test_a_name_that_means_nothing_is_told_by_its_option(small: Path, option: str, value: str) -> None:
    words = ["run", "--model", f"script:{small.parent / 'right.py'}", "--out", small.parent / "out", option, value]
    line = told(rp(*words))
    assert line.startswith(f"{option}: unknown") and "study.yaml" not in line
    assert not (small.parent / "out").exists()
