"""The ledger's file: locks, limits, sizes, and what it says when something is wrong with it."""

from __future__ import annotations

import asyncio
import multiprocessing
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
import sqlalchemy.dialects.postgresql

from dramaturg.errors import LedgerError, UnitStopped, UserError
from dramaturg.ledger import Ledger, verify
from dramaturg.ledger.schema import MIGRATIONS, VERSION, metadata
from dramaturg.ledger.writer import insert_of
from dramaturg.model import Message, Reply, Sampling, Usage
from ledger_fixtures import CountingModel, ask, echo


async def converse(ledger: Ledger, units: int, turns: int, *, text: str = "") -> None:
    """Holds conversations whose chat grows with each turn."""
    model = CountingModel()

    async def unit_of(unit: int) -> None:
        calls = ledger.calls(unit=f"unit {unit}", seed=1)
        chat = [Message("system", f"You are the judge of case {unit}. " * 10)]
        for turn in range(turns):
            chat.append(Message("user", text or f"Turn {turn} of case {unit}. " * 5))
            asked = await calls.ask(model, chat, step=f"turn/{turn}", role="judge", purpose="speech")
            chat.append(Message("assistant", text or asked.reply.text))

    await asyncio.gather(*map(unit_of, range(units)))


def size_of(path: Path) -> int:
    with Ledger.open(path):
        pass
    connection = sqlite3.connect(path)
    connection.execute("VACUUM")
    connection.close()
    return path.stat().st_size


async def test_size_is_linear_in_turns_whatever_the_length_of_a_chat(tmp_path: Path) -> None:  # FW-42
    for name, units, turns in (("short", 50, 20), ("long", 5, 200)):
        with Ledger.open(tmp_path / name) as ledger:
            await converse(ledger, units, turns)
    assert 0.9 < size_of(tmp_path / "long") / size_of(tmp_path / "short") < 1.1


async def test_equal_short_messages_are_told_apart_by_what_stands_before_them(ledger: Ledger) -> None:  # FW-43
    await converse(ledger, 1, 300, text="…")
    counts = ledger.counts()
    assert counts["messages"] == 1 + 300 + 299
    assert verify(ledger).problems == ()


async def test_shared_beginning_of_chats_is_stored_once(ledger: Ledger) -> None:
    model, opening = CountingModel(), [Message("system", "rules"), Message("user", "transcript")]
    for n in range(5):
        calls = ledger.calls(unit=f"u{n}", seed=1)
        await calls.ask(model, [*opening, Message("user", f"{n}")], step="s", role="r", purpose="p")
    assert ledger.counts()["messages"] == 2 + 5


async def test_use_is_summed_per_model_and_purpose(ledger: Ledger) -> None:
    replies = [
        Reply("ok", text="a", usage=Usage(10, 2, 5, 1), seconds=1.5, first_token_s=0.1, served_by="one"),
        Reply("empty", usage=Usage(20, None, 0, None), seconds=0.5, first_token_s=0.3, served_by="two"),
        Reply("ok", text="b", seconds=1.0),
        Reply("failed", failure="connect", seconds=9.0),
    ]
    left = iter(replies)
    model, calls = CountingModel(lambda request: next(left)), ledger.calls(unit="u", seed=1)
    for n in range(4):
        try:
            await ask(calls, model, step=f"turn/{n}")
        except UnitStopped:
            assert n == 3
    (use,) = ledger.uses()
    assert (use.calls, use.failures, use.unknown_usage) == (3, 1, 1)
    assert (use.input_tokens, use.cached_tokens, use.output_tokens, use.reasoning_tokens) == (30, 2, 5, 1)
    assert (use.seconds, use.first_token_s, use.served_by) == (3.0, 0.2, ("one", "two"))
    assert 0 < use.first_at <= use.last_at
    assert ledger.uses({"other"}) == []
    assert [use.role for use in ledger.uses(by_role=True)] == ["judge"]


async def test_use_of_failures_alone_is_nothing(ledger: Ledger) -> None:
    model = CountingModel(lambda request: Reply("failed", failure="connect"))
    with pytest.raises(UnitStopped):
        await ask(ledger.calls(unit="u", seed=1), model)
    (use,) = ledger.uses()
    assert (use.calls, use.failures, use.first_at, use.first_token_s) == (0, 1, 0.0, None)


def test_values_of_a_run_are_kept_and_replaced(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        assert ledger.meta("study") is None
        ledger.set_meta("study", "first")
        ledger.set_meta("study", "second 山田")
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        assert ledger.meta("study") == "second 山田"
        assert ledger.meta("schema_version") == str(VERSION)


def test_folder_is_made_where_there_is_none(tmp_path: Path) -> None:  # I49
    Ledger.open(tmp_path / "new" / "deep" / "ledger.db").close()
    assert (tmp_path / "new" / "deep" / "ledger.db").is_file()


def one_line(raised: pytest.ExceptionInfo[BaseException]) -> str:
    text = str(raised.value)
    assert len(text.splitlines()) == 1
    assert "Traceback" not in text
    return text


def test_second_process_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    code = "import sys; from dramaturg.ledger import Ledger; Ledger.open(sys.argv[1])"
    with Ledger.open(path):
        ended = subprocess.run(
            [sys.executable, "-c", code, path], capture_output=True, text=True, timeout=60, check=False
        )
        assert ended.returncode == 1
        assert ended.stderr.splitlines()[-1].startswith("dramaturg.errors.LedgerError")
        assert "another process is using this ledger" in ended.stderr
        (tmp_path / "link.db").symlink_to(path)
        for other in (path, tmp_path / "link.db", f"sqlite:///{path}", tmp_path / "x" / ".." / "ledger.db"):
            (tmp_path / "x").mkdir(exist_ok=True)
            with pytest.raises(LedgerError, match="another process") as raised:
                Ledger.open(other)
            one_line(raised)
    Ledger.open(path).close()


def hold(path: str, started: Any) -> None:
    ledger = Ledger.open(path)
    asyncio.run(converse(ledger, 1, 3))
    started.set()
    multiprocessing.Event().wait()


def test_killed_process_leaves_a_ledger_that_opens_with_all_answers(tmp_path: Path) -> None:  # FW-31, FW-34, I26
    context = multiprocessing.get_context("spawn")
    started = context.Event()
    process = context.Process(target=hold, args=(str(tmp_path / "ledger.db"), started))
    process.start()
    assert started.wait(60)
    process.kill()
    process.join()
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        assert ledger.counts()["calls"] == 3
        assert verify(ledger).problems == ()


def spoil_bytes(path: Path) -> None:
    path.write_bytes(b"this is no database, it is a letter to my aunt " * 100)


def spoil_pages(path: Path) -> None:
    Ledger.open(path).close()
    data = bytearray(path.read_bytes())
    data[100:] = b"\xff" * (len(data) - 100)
    path.write_bytes(data)


def other_database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE birds (name TEXT)")
    connection.commit()
    connection.close()


def other_meta(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE meta (id INTEGER, bird TEXT)")
    connection.commit()
    connection.close()


def no_version(path: Path) -> None:
    Ledger.open(path).close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE meta SET value = 'seven' WHERE name = 'schema_version'")
    connection.commit()
    connection.close()


def newer(path: Path) -> None:
    Ledger.open(path).close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE meta SET value = '99' WHERE name = 'schema_version'")
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (spoil_bytes, "not a database"),
        (spoil_pages, "malformed|not a database"),
        (other_database, "is a database, but no ledger"),
        (other_meta, "is a database, but no ledger"),
        (no_version, "is a database, but no ledger"),
        (newer, f"schema version 99; this release reads up to {VERSION}"),
        (Path.mkdir, "unable to open"),
    ],
)
def test_file_that_is_no_ledger_is_refused_in_one_line(
    tmp_path: Path, spoil: Callable[[Path], None], says: str
) -> None:
    path = tmp_path / "ledger.db"
    spoil(path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(LedgerError, match=says) as raised:
        Ledger.open(path)
    assert one_line(raised).startswith(str(path))
    if spoil is other_database:
        assert path.read_bytes()[-4096:] == before[-4096:]
    with pytest.raises(LedgerError, match=says):
        Ledger.open(path)


def test_empty_file_is_version_0_and_becomes_a_ledger(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").touch()
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        assert ledger.counts()["calls"] == 0


def test_ledger_whose_making_was_cut_off_is_made_the_next_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def create_and_fail(connection: sqlalchemy.Connection) -> None:
        metadata.create_all(connection)
        raise OSError("no space")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="no space"):
        patch.setitem(MIGRATIONS, 1, create_and_fail)
        Ledger.open(tmp_path / "ledger.db")
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        assert ledger.counts()["calls"] == 0


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg://user:hunter2@127.0.0.1:1/db",
        "nosuchdb://user:hunter2@host/db",
        "postgresql://user:hunter2@host:port/db",
        "://user:hunter2@host",
        "sqlite://user:hunter2@host/ledger.db",
    ],
)
def test_password_of_a_url_is_never_shown(url: str) -> None:
    with pytest.raises((UserError, LedgerError)) as raised:
        Ledger.open(url)
    assert "hunter2" not in one_line(raised) + repr(raised.value)


def limit_pages(pages: int) -> Callable[[Any, Any], None]:
    def configure(connection: Any, _: object) -> None:
        connection.execute(f"PRAGMA max_page_count={pages}")

    return configure


async def test_full_disk_is_one_line_and_loses_nothing_that_was_answered(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    ledger = Ledger.open(path)
    sqlalchemy.event.listen(ledger._engine, "connect", limit_pages(40))  # pyright: ignore[reportPrivateUsage]
    ledger._engine.dispose()  # pyright: ignore[reportPrivateUsage]
    answers: dict[int, str] = {}
    model, calls = CountingModel(lambda request: Reply("ok", text="word " * 2000)), ledger.calls(unit="u", seed=1)
    with pytest.raises(LedgerError, match="full; what was committed before is safe") as raised:
        for n in range(100):
            answers[n] = (await ask(calls, model, step=f"turn/{n}")).reply.text
    assert one_line(raised).startswith(str(path))
    ledger.close()
    assert answers
    with Ledger.open(path) as again:
        replayed, fresh = again.calls(unit="u", seed=1), CountingModel()
        assert {n: (await ask(replayed, fresh, step=f"turn/{n}")).reply.text for n in answers} == answers
        assert fresh.asked == []
        assert verify(again).problems == ()


async def test_file_of_another_owner_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(LedgerError, match="cannot be opened") as raised:
        Ledger.open(tmp_path / "file" / "ledger.db")
    one_line(raised)


async def test_ledger_is_read_while_it_is_written(ledger: Ledger) -> None:
    await converse(ledger, 1, 5)
    rows = ledger.call_rows()
    next(rows)
    await converse(ledger, 2, 5)
    assert ledger.counts()["calls"] == 10
    assert len(list(rows)) >= 4


def test_tables_and_inserts_are_nothing_that_postgresql_could_not_do() -> None:
    statements: list[str] = []
    dialect = sqlalchemy.dialects.postgresql.dialect()
    engine = sqlalchemy.create_mock_engine(
        "postgresql+psycopg://", lambda statement, *_, **__: statements.append(str(statement.compile(dialect=dialect)))
    )
    metadata.create_all(engine, checkfirst=False)
    assert any("CREATE UNIQUE INDEX call_final ON call (key) WHERE" in text.replace('"', "") for text in statements)
    for table in metadata.sorted_tables:
        assert "ON CONFLICT DO NOTHING" in str(insert_of(table, dialect))


def test_room_opens_no_connection_to_a_model() -> None:
    code = "import sys, dramaturg.ledger; print(sorted({'aiohttp', 'genai_prices', 'numpy'} & set(sys.modules)))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout.strip() == "[]"


async def test_same_request_of_two_units_is_two_calls(ledger: Ledger) -> None:
    model = CountingModel(echo)
    for unit in ("u", "v"):
        await ledger.calls(unit=unit, seed=1).ask(
            model, [Message("user", "x")], step="s", role="r", purpose="p", sampling=Sampling()
        )
    assert len({request.seed for request in model.asked}) == 2
    assert ledger.counts() == {"calls": 2, "failures": 0, "messages": 1, "units": 2}
