"""A case played in a terminal, keystroke by keystroke."""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path

import pytest

from dramaturg.files import shipped
from dramaturg.run.games import Game, list_games, open_game
from dramaturg.stage.transcript import Turn

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are there on POSIX systems alone", allow_module_level=True)

from ptys import CTRL_C, CTRL_D, Terminal

PROMPT = "\n> "
THESIS = "Your Honour, nobody saw the fall, and exhibit E1 allows an accident."
SLOW = """
  - role: witness
    delay_s: 2
    reply: [I saw the cloud and nothing else., I heard a shout.]
"""


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"DRAMATURG_HOME": str(tmp_path)}


def play(home: dict[str, str], *arguments: str, model: str = "script:court-steady") -> Terminal:
    given = arguments or ("summit-ridge", "--model", model, "--questions", "1")
    return Terminal("-m", "dramaturg", "court", "play", *given, environment=home)


def the_game(home: dict[str, str]) -> Game:
    root = Path(home["DRAMATURG_HOME"]) / "games"
    (summary,) = list_games(root)
    return open_game(summary.id, root)


def human_turns(game: Game) -> list[Turn]:
    return [turn for turn in game.transcript().turns if turn.human]


def test_a_case_is_played_in_the_terminal_with_everything_at_hand(home: dict[str, str]):
    with play(home) as terminal:
        opening = terminal.wait_for(PROMPT)
        assert "Your goal: " in opening
        assert "--- Introduction ---" in opening
        assert "[Introduction · turn 4]" in opening
        assert "/help" in opening
        terminal.type("/help\n")
        assert "/object REASON" in terminal.wait_for(PROMPT)
        terminal.type("/evidence\n")
        assert "E1 " in terminal.wait_for(PROMPT)
        terminal.type("/witnesses\n")
        people = terminal.wait_for(PROMPT)
        assert "Nora Lindqvist, witness, " in people
        assert "called by the prosecution" in people
        terminal.type("/record\n")
        assert "Your goal: " in terminal.wait_for(PROMPT)
        terminal.type("/log\n")
        assert "T2 Adelaide Boyd: " in terminal.wait_for(PROMPT)
        terminal.type("/recrod\n")
        assert "no command /recrod" in terminal.wait_for(PROMPT)
        terminal.type("/object leading\n")
        assert "cannot object now" in terminal.wait_for(PROMPT)

        terminal.type(f"{THESIS}\n")
        floor = terminal.wait_for(PROMPT)
        assert "--- Interrogation ---" in floor
        assert "Defence: 1 left" in floor
        assert floor.count(THESIS) == 1, "what was typed is not written again"
        terminal.type("/object this is a guess\n")
        assert "[Interrogation" in terminal.wait_for(PROMPT)
        terminal.type("Peter Okafor, what did you see?\n")
        terminal.wait_for(PROMPT)
        terminal.type("//nothing was proved.\n")
        end = terminal.wait_for("Play the case again: ")
        assert re.search(r"Outcome for the defence: (win|loss) \(", end)
        assert "Judge this performance: dramaturg judge " in end
        assert terminal.exit_code() == 0
    game = the_game(home)
    assert [turn.text for turn in human_turns(game)] == [
        THESIS,
        "Objection: this is a guess",
        "Peter Okafor, what did you see?",
        "/nothing was proved.",
    ]
    assert not any(turn.human for turn in game.transcript().judged_turns())


def test_ctrl_c_while_a_model_speaks_keeps_the_game_and_it_goes_on_at_the_same_turn(
    home: dict[str, str], tmp_path: Path
):
    steady = shipped("scripts")["court-steady"].read_text(encoding="utf-8")
    script = tmp_path / "slow.yaml"
    script.write_text(steady.replace("\nrules:", f"\nrules:{SLOW}", 1), encoding="utf-8")
    with play(home, model=f"script:{script}") as terminal:
        terminal.wait_for(PROMPT)
        terminal.type(f"{THESIS}\n")
        terminal.wait_for("Graham Sutter: ")  # asks a witness, who takes its time
        time.sleep(0.3)
        terminal.type(CTRL_C)
        terminal.wait_for("the game is saved; go on with: dramaturg court play --game ")
        assert terminal.exit_code() == 130
        assert "I saw the cloud" not in terminal.shown
        assert "I heard a shout" not in terminal.shown
    game = the_game(home)
    assert not game.has_ended
    with play(home, "--game", game.id) as terminal:
        again = terminal.wait_for(PROMPT)
        assert again.count(THESIS) == 1, "the history is shown, and nobody is asked for it again"
        assert "I saw the cloud" in again or "I heard a shout" in again
        terminal.type("Peter Okafor, were you near?\n")
        terminal.wait_for(PROMPT)
        terminal.type("I ask for an acquittal.\n")
        terminal.wait_for("Play the case again: ")
        assert terminal.exit_code() == 0
    assert [turn.text for turn in human_turns(game)] == [
        THESIS,
        "Peter Okafor, were you near?",
        "I ask for an acquittal.",
    ]


def test_ctrl_c_ctrl_d_and_save_at_the_prompt_keep_the_game(home: dict[str, str]):
    with play(home) as terminal:
        terminal.wait_for(PROMPT)
        terminal.type("/save\n")
        terminal.wait_for("the game is saved; go on with: ")
        assert terminal.exit_code() == 0
    game = the_game(home)
    for key, code in ((CTRL_D, 0), (CTRL_C, 130)):
        with play(home, "--game", game.id) as terminal:
            terminal.wait_for(PROMPT)
            terminal.type(key)
            terminal.wait_for("the game is saved; go on with: ")
            assert terminal.exit_code() == code
            assert "Traceback" not in terminal.shown
    assert not game.has_ended


def test_a_paste_is_one_turn_a_long_one_is_cut_and_silence_is_asked_twice(home: dict[str, str]):
    with play(home) as terminal:
        terminal.wait_for(PROMPT)
        terminal.type("Your Honour,\nthree lines are\none turn")
        terminal.wait_for("press Enter to say them as one turn")
        terminal.type("\n")
        terminal.wait_for(PROMPT)  # after the paste was told
        terminal.wait_for(PROMPT)
        long = "Peter Okafor, where were you on that day, and what did you see of it?\n" * 720
        assert len(long) > 50_000
        terminal.type(long)
        terminal.wait_for("press Enter to say them as one turn")
        terminal.type("\n")
        terminal.wait_for("the first 2,000 are heard")
        terminal.wait_for(PROMPT)
        terminal.type("\n")
        terminal.wait_for("Nothing was heard")
        terminal.type("\n")
        terminal.wait_for("Play the case again: ")
        assert terminal.exit_code() == 0
    thesis, question, silence = human_turns(the_game(home))
    assert thesis.text == "Your Honour,\nthree lines are\none turn"
    assert len(question.text) == 2000
    assert "cut:length" in question.flags
    assert len(question.raw) > 50_000 - 100
    assert "fallback:empty" in silence.flags


def test_what_is_typed_while_a_model_speaks_is_no_turn(home: dict[str, str]):
    with play(home) as terminal:
        terminal.type("\n\nimpatient\n")
        terminal.wait_for(PROMPT)
        time.sleep(0.5)
        assert "Nothing was heard" not in terminal.shown
        terminal.type(CTRL_D)
        terminal.wait_for("the game is saved")


def test_the_games_are_listed_and_deleted(home: dict[str, str]):
    with play(home) as terminal:
        terminal.wait_for(PROMPT)
        terminal.type(CTRL_D)
        terminal.exit_code()
    game = the_game(home)
    with Terminal("-m", "dramaturg", "court", "games", "--json", environment=home) as terminal:
        assert terminal.exit_code() == 0
        (listed,) = json.loads(terminal.shown)
        assert (listed["id"], listed["status"], listed["turns"]) == (game.id, "open", 3)
    with Terminal("-m", "dramaturg", "court", "games", "--delete", game.id, environment=home) as terminal:
        assert terminal.exit_code() == 0
        assert "no game is saved" in terminal.shown
