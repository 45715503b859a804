"""Real run folders, small: worlds and courts played and rated by scripts, made once for all tests of training data."""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path

from dramaturg.cli import main

SCENES = (
    *("two-clouds", "ballast", "ten-to-five", "three-inches", "one-suit", "the-river-at-the-door"),
    *("storm-at-the-top-station", "the-hamster-in-the-piano"),
)
SCRIPTS = Path(__file__).parent / "scripts"
PLAYER = f"script:{SCRIPTS / 'reflects.py'}"
CAREFUL = f"script:{SCRIPTS / 'rates_care.py'}"


def dramaturg(*arguments: str | Path) -> tuple[int, str, str]:
    """Returns exit code, output and errors of the program."""
    before, out, err = sys.argv, io.StringIO(), io.StringIO()
    out.reconfigure = err.reconfigure = lambda **_: None  # type: ignore[attr-defined]
    sys.argv = ["dramaturg", *map(str, arguments)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as left:
        return int(left.code or 0), out.getvalue(), err.getvalue()
    finally:
        sys.argv = before
    raise AssertionError("the program always exits")


def played(out: Path, *, protocol: str, rounds: int = 2) -> Path:
    """Returns the folder of a finished run of a world."""
    scenes = [word for scene in SCENES for word in ("--scene", scene)]
    code, _, errors = dramaturg(
        "world", "run", "--model", PLAYER, *scenes, "--out", out, "--protocol", protocol, "--rounds", str(rounds)
    )
    assert code == 0, errors
    return out


def tried(out: Path, model: str, case: str = "dukes-yard") -> Path:
    """Returns the folder of a finished run of a court."""
    code, _, errors = dramaturg("court", "run", "--model", model, "--case", case, "--protocol", "guarded", "--out", out)
    assert code == 0, errors
    return out


def rated(out: Path, run: Path, judge: str = "script:random-rater", mode: str = "joint") -> Path:
    """Returns the folder of a finished rating of a run."""
    code, _, errors = dramaturg("rate", "run", run, "--judge", judge, "--mode", mode, "--out", out)
    assert code == 0, errors
    return out
