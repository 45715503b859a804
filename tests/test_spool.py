"""Spools: lines on disk as they come, and files in plan order, whole or not at all."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dramaturg.errors import UserError
from dramaturg.run.spool import Spool, copy_file


def test_lines_are_on_disk_before_the_run_ends(tmp_path: Path) -> None:
    """C06, FW-34: a finished unit is on disk at once, not only after the last one."""
    with Spool(tmp_path / "records.jsonl") as spool:
        spool.add(3, ['{"n": 3}'])
        assert (tmp_path / "records.jsonl.part").read_text(encoding="utf-8") == '{"n": 3}\n'


@pytest.mark.parametrize("seed", range(5))
def test_order_of_arrival_does_not_change_the_file(tmp_path: Path, seed: int) -> None:
    order = list(range(20))
    random.Random(seed).shuffle(order)
    with Spool(tmp_path / "records.jsonl") as spool:
        for position in order:
            spool.add(position, [f'{{"n": {position}}}', f'{{"m": {position}}}'])
        spool.finish()
    wanted = "".join(f'{{"n": {n}}}\n{{"m": {n}}}\n' for n in range(20))
    assert (tmp_path / "records.jsonl").read_text(encoding="utf-8") == wanted


@given(
    st.lists(
        st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])), max_size=3), max_size=6
    )
)
def test_lines_come_back_as_they_were(tmp_path_factory: pytest.TempPathFactory, units: list[list[str]]) -> None:
    """FW-93: any character, line separators of Unicode among them, survives."""
    with Spool(tmp_path_factory.mktemp("spool") / "records.jsonl") as spool:
        for position, lines in enumerate(units):
            spool.add(position, lines)
        assert [spool.lines(position) for position in range(len(units))] == units


def test_nothing_is_left_but_the_file(tmp_path: Path) -> None:
    with Spool(tmp_path / "records.jsonl") as spool:
        spool.add(0, ["{}"])
        spool.finish()
    assert [path.name for path in tmp_path.iterdir()] == ["records.jsonl"]


def test_missing_folders_are_made(tmp_path: Path) -> None:
    """I49: an output folder that does not exist, however deep, is made."""
    with Spool(tmp_path / "new" / "deep" / "folder" / "records.jsonl") as spool:
        spool.finish()
    assert (tmp_path / "new" / "deep" / "folder" / "records.jsonl").read_bytes() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_full_disk_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "records.jsonl").write_text("old\n", encoding="utf-8")
    os.symlink("/dev/full", tmp_path / "records.jsonl.part")
    with Spool(tmp_path / "records.jsonl") as spool, pytest.raises(UserError) as raised:
        spool.add(0, ["{}"])
    assert "No space left" in str(raised.value) and "in the ledger" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert (tmp_path / "records.jsonl").read_text(encoding="utf-8") == "old\n"


def test_file_stays_as_it_was_when_it_cannot_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "records.jsonl").mkdir()
    with Spool(tmp_path / "records.jsonl") as spool:
        spool.add(0, ["{}"])
        with pytest.raises(UserError, match=r"records\.jsonl: cannot be written"):
            spool.finish()
    assert [path.name for path in tmp_path.iterdir()] == ["records.jsonl"]


def test_folder_that_is_a_file_is_one_clear_line(tmp_path: Path) -> None:
    """C18: the output path is tried first, not after the whole run."""
    (tmp_path / "out").write_text("", encoding="utf-8")
    with pytest.raises(UserError, match="cannot be written"):
        Spool(tmp_path / "out" / "records.jsonl")


@pytest.mark.skipif(sys.platform != "linux", reason="reads this process's memory from /proc")
def test_memory_stays_flat(tmp_path: Path) -> None:
    """FW-40: what is spooled does not stay in memory."""
    line = "x" * 100_000
    with Spool(tmp_path / "records.jsonl") as spool:
        spool.add(0, [line])
        before = _resident_kib()
        for position in range(1, 1000):
            spool.add(position, [line])
        spool.finish()
        assert _resident_kib() - before < 30_000
    assert (tmp_path / "records.jsonl").stat().st_size == 1000 * 100_001


def test_copy_of_a_file_onto_itself_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text("study: one\n", encoding="utf-8")
    copy_file(path, path)
    assert path.read_text(encoding="utf-8") == "study: one\n"


def _resident_kib() -> int:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split("VmRSS:")[1].split()[0])
