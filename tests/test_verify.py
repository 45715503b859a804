"""`verify` derives every hash again, so that no kind of change goes unseen."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from dramaturg.errors import UnitStopped
from dramaturg.ledger import Ledger, verify
from dramaturg.ledger.verify import MOST_PROBLEMS
from dramaturg.model import AnswerSchema, Message, Reply, TokenLogprob, Usage
from ledger_fixtures import CountingModel, ask


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    """A closed ledger with a chat, an answer under a schema, a person's turn, a failure and log-probabilities."""
    path = tmp_path / "ledger.db"
    with Ledger.open(path) as ledger:
        calls = ledger.calls(unit="u", seed=1)
        chat = [
            Message("system", "rules"),
            Message("user", "first"),
            Message("assistant", "said"),
            Message("user", "last"),
        ]
        reply = Reply(
            "ok",
            text="yes",
            reasoning="hm",
            usage=Usage(1, 2, 3, 4),
            logprobs=(TokenLogprob("yes", -0.1, (("no", -3.0),)),),
        )
        model, schema = CountingModel(lambda request: reply), AnswerSchema("a", {"type": "object"})
        await calls.ask(model, chat, step="turn/1", role="judge", purpose="speech", schema=schema)

        async def read() -> str:
            return "I object."

        await calls.human(read, step="turn/2", role="defence", purpose="speech")
        with pytest.raises(UnitStopped):
            await ask(
                calls, CountingModel(lambda request: Reply("failed", failure="connect", detail="down")), step="turn/3"
            )
    return path


def change(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    assert connection.execute(statement).rowcount > 0
    connection.commit()
    connection.close()


def test_ledger_as_it_was_written_has_no_problem(path: Path) -> None:
    with Ledger.open(path) as ledger:
        found = verify(ledger)
    assert (found.messages, found.calls, found.problems) == (5, 3, ())


FIRST = "WHERE step = 'turn/1'"
HUMAN = "WHERE step = 'turn/2'"


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("UPDATE message SET text = 'other' WHERE text = 'first'", "was changed"),
        ("UPDATE message SET role = 'assistant' WHERE text = 'first'", "was changed"),
        ("UPDATE message SET parent = '' WHERE text = 'last'", "was changed"),
        ("DELETE FROM message WHERE text = 'first'", "the message before it"),
        ("DELETE FROM message WHERE text = 'last'", "its messages are missing"),
        (f"UPDATE call SET text = 'no' {FIRST}", "its reply was changed"),
        (f"UPDATE call SET reasoning = 'other' {FIRST}", "its reply was changed"),
        (f"UPDATE call SET status = 'truncated' {FIRST}", "its reply was changed"),
        (f"UPDATE call SET output_tokens = 1 {FIRST}", "its reply was changed"),
        (f"UPDATE call SET logprobs = '[[\"yes\",-5.0,[]]]' {FIRST}", "its reply was changed"),
        (f"UPDATE call SET logprobs = '[[' {FIRST}", "its reply was changed"),
        (f"UPDATE call SET served_by = 'better-model' {FIRST}", "its reply was changed"),
        (f"UPDATE call SET reply_hash = key {FIRST}", "its reply was changed"),
        ("UPDATE call SET final = 1 WHERE step = 'turn/3'", "its reply was changed"),
        ("UPDATE call SET status = 'ok', final = 1 WHERE step = 'turn/3'", "its reply was changed"),
        (f"UPDATE call SET text = 'I agree.' {HUMAN}", "its reply was changed"),
        (f"UPDATE call SET seed = 5 {FIRST}", "key or seed"),
        (f"UPDATE call SET study_seed = 2 {FIRST}", "key or seed"),
        (f"UPDATE call SET unit = 'v' {FIRST}", "key or seed"),
        (f"UPDATE call SET step = 'turn/9' {FIRST}", "key or seed"),
        (f"UPDATE call SET attempt = 1 {FIRST}", "key or seed"),
        (f"UPDATE call SET key = reply_hash {FIRST}", "key or seed"),
        (f"UPDATE call SET sampling = '{{}}' {FIRST}", "key or seed"),
        (f"UPDATE call SET answer_schema = '' {FIRST}", "key or seed"),
        (f"UPDATE call SET last_message = (SELECT hash FROM message WHERE text = 'first') {FIRST}", "key or seed"),
        (f"UPDATE call SET step = 'turn/9' {HUMAN}", "key or seed"),
        (f"UPDATE call SET model = (SELECT hash FROM model WHERE provider = 'human') {FIRST}", "key or seed"),
        ("UPDATE model SET name = 'other' WHERE provider = 'script'", "its identity was changed"),
        ("DELETE FROM model WHERE provider = 'script'", "its model is missing"),
        ("UPDATE answer_schema SET json = '{}'", "schema"),
        ("DELETE FROM answer_schema", "its schema is missing"),
    ],
)
def test_change_is_seen(path: Path, statement: str, says: str) -> None:
    change(path, statement)
    with Ledger.open(path) as ledger:
        problems = verify(ledger).problems
    assert any(says in problem for problem in problems), problems
    assert all(len(problem.splitlines()) == 1 for problem in problems)


async def test_list_of_problems_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "many.db"
    with Ledger.open(path) as ledger:
        calls = ledger.calls(unit="u", seed=1)
        for n in range(MOST_PROBLEMS + 20):
            await ask(calls, CountingModel(), step=f"turn/{n}")
    change(path, "UPDATE call SET text = 'no'")
    with Ledger.open(path) as ledger:
        found = verify(ledger)
    assert len(found.problems) == MOST_PROBLEMS
    assert found.calls == MOST_PROBLEMS + 20
