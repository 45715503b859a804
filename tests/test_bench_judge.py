"""``bench/judge.py``: two audits that did not ask the same are compared on what both asked, and the rest is counted."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

BENCH = Path(__file__).parents[1] / "bench" / "judge.py"


def card(folder: Path, specimens: Iterable[int], *, right: bool) -> Path:
    """Returns a folder with the marks of an audit that asked about some specimens."""
    folder.mkdir()
    marks = [
        {
            "part": part,
            "specimen": f"{part}-{number}",
            "base": f"base-{number % 5}",
            "nature": "mutant" if number % 2 else "clean",
            "kind": "slang" if number % 2 else "",
            "indicator": "A-1",
            "detects": ["slang"],
            "claims_fault": bool(number % 2) == right,
            "by_code": False,
        }
        for number in specimens
        for part in ("planted", "natural")
    ]
    (folder / "marks.jsonl").write_text("".join(f"{json.dumps(mark)}\n" for mark in marks), encoding="utf-8")
    return folder


def compared(*arguments: str | Path) -> dict[str, dict[str, str]]:
    done = subprocess.run(
        [sys.executable, str(BENCH), *map(str, arguments), "--json"], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_what_one_card_alone_was_asked_is_counted(tmp_path: Path) -> None:
    one = card(tmp_path / "one", range(20), right=True)
    same = card(tmp_path / "same", range(20), right=False)
    other = card(tmp_path / "other", range(4, 26), right=False)
    found = compared(one, same, other, "--unseen", "slang")
    for part in ("planted", "unseen", "natural"):
        assert found[part]["over same"].startswith("+1.000") and "not in both" not in found[part]["over same"]
        assert "n 16" in found[part]["over other"] and found[part]["over other"].endswith(", 10 not in both")


def test_cards_that_share_nothing_are_no_crash(tmp_path: Path) -> None:
    one, other = card(tmp_path / "one", range(6), right=True), card(tmp_path / "other", range(6, 9), right=True)
    assert compared(one, other)["planted"]["over other"].endswith("9 not in both")
