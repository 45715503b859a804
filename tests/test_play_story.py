"""A character of a story played in a terminal: what can be typed there, and what only holds in court."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are there on POSIX systems alone", allow_module_level=True)

from ptys import CTRL_D, Terminal

PROMPT = "\n> "


def play(out: Path) -> Terminal:
    given = ("safety-the-old-trade", "--model", "script:world-steady", "--cast", "character:lucian-vane=human")
    options = ("--protocol", "fast", "--rounds", "1", "--out", str(out))
    return Terminal("-m", "dramaturg", "world", "play", *given, *options, environment={"DRAMATURG_HOME": str(out)})


def test_help_lists_what_holds_in_a_story_and_nothing_of_the_court(tmp_path: Path) -> None:
    with play(tmp_path / "out") as terminal:
        assert "What does Lucian Vane do?" in terminal.wait_for(PROMPT)
        terminal.type("/help\n")
        told = terminal.wait_for(PROMPT)
        assert "Type what you do or say" in told
        assert all(command in told for command in ("/log [N|all]", "/save", "/help"))
        assert not any(word in told for word in ("/object", "/record", "/evidence", "/witnesses", "address"))
        for command in ("object no", "record", "evidence", "witnesses"):
            terminal.type(f"/{command}\n")
            assert f"There is no command /{command.split()[0]}." in terminal.wait_for(PROMPT)
        terminal.type("He shuts the door.\n")
        assert "What does Lucian Vane say aloud?" in terminal.wait_for(PROMPT)


def test_save_keeps_what_was_answered_and_the_end_of_the_input_is_silence(tmp_path: Path) -> None:
    with play(tmp_path / "out") as terminal:
        terminal.wait_for(PROMPT)
        terminal.type("He shuts the door.\n")
        terminal.wait_for(PROMPT)
        terminal.type("/save\n")
        terminal.wait_for("run the same command again to go on")
    with play(tmp_path / "out") as terminal:
        again = terminal.wait_for(PROMPT)
        assert "What does Lucian Vane say aloud?" in again, "what was answered is not asked again"
        terminal.type(CTRL_D)
        terminal.wait_for("report: ")
        assert terminal.exit_code() == 0
    assert "He shuts the door." in (tmp_path / "out" / "transcripts.jsonl").read_text(encoding="utf-8")
