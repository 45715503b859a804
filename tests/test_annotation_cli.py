"""``dramaturg annotate``: served in a process of its own, watched and exported from another."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("uvicorn")
pytest.importorskip("argon2")

from annotation_fixtures import Browser, small_set
from dramaturg.cli.annotate import app
from dramaturg.errors import UserError
from dramaturg.files import read_jsonl
from dramaturg.run.interview.vote_row import VoteRow
from dramaturg.stage.interview.item_set import write_item_set
from dramaturg.web.survey.door import is_password

SERVE = "from dramaturg.cli.annotate import app; app()"


def run(*arguments: str, typed: str = "") -> str:
    result = CliRunner().invoke(app, list(arguments), input=typed, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


async def test_a_campaign_from_the_first_link_to_the_export(tmp_path: Path) -> None:
    write_item_set(tmp_path / "set", small_set())
    (tmp_path / "password").write_text("a long password\n", encoding="utf-8")
    db = str(tmp_path / "votes.db")
    link = json.loads(run("rater", "add", "anna", "--db", db, "--address", "http://127.0.0.1:1", "--json"))["link"]
    command = [sys.executable, "-u", "-c", SERVE, "serve", str(tmp_path / "set"), "--db", db, "--port", "0"]
    command += ["--owner-password-file", str(tmp_path / "password"), "--minimum-seconds", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8", env={**os.environ}) as process:
        assert process.stdout is not None
        found = re.match(r"(http://127\.0\.0\.1:\d+/)", process.stdout.readline())
        assert found is not None
        async with Browser(found[1]) as anna, Browser(found[1]) as somebody:
            page = await anna.get("rater/" + link.rpartition("/")[2])
            page = await anna.post("guideline", page.fields)
            await anna.answer(page)
            await somebody.answer(await somebody.get("item"))
            assert (await somebody.post("progress", {"password": "a long password"})).status == 200
        shown = json.loads(run("progress", "--db", db, "--json"))
        assert shown["total"]["answers"] == 2
        process.send_signal(signal.SIGINT)
    told = run("progress", "--db", db)
    assert "2 answers by 2 people" in told and "anna" in told
    run("export", "--db", db, "--out", str(tmp_path / "deep" / "votes.jsonl"))
    rows = [row for _, row in read_jsonl(tmp_path / "deep" / "votes.jsonl", VoteRow)]
    assert {row.rater == "anna" for row in rows} == {True, False}
    run("rater", "remove", "anna", "--db", db)
    assert "anna: 1 votes, removed" in run("rater", "list", "--db", db)


def test_the_password_command_writes_a_hash_that_only_its_owner_reads(tmp_path: Path) -> None:
    file = tmp_path / "hash"
    run("password", str(file), typed="a long password\na long password\n")
    assert is_password("a long password", file.read_text(encoding="utf-8").strip())
    assert file.stat().st_mode & 0o077 == 0
    with pytest.raises(UserError, match="too short"):
        run("password", str(file), typed="short\nshort\n")


@pytest.mark.parametrize("command", [["progress"], ["export", "--out", "x.jsonl"], ["rater", "list"]])
def test_a_campaign_that_is_not_there_is_a_user_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="no campaign"):
        run(*command)
    assert not list(tmp_path.iterdir())
