"""Asking through the ledger: what was answered is never asked again, and nothing that was answered is lost."""

from __future__ import annotations

import asyncio
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dramaturg.errors import LedgerError, LimitReached, UnitStopped
from dramaturg.ledger import Budget, Ledger, verify
from dramaturg.ledger.keys import derive_seed
from dramaturg.model import AnswerSchema, Message, Reply, Request, Sampling, TokenLogprob, Usage
from dramaturg.model.request import sampling_json
from dramaturg.model.spec import Options
from ledger_fixtures import CountingModel, ask, echo

FAILED = Reply("failed", failure="connect", detail="the server is down")
STRANGE = "nul \0, half \ud83d, whole 🎭, 山田, \u2028, é"


def test_seed_derives_from_what_the_call_is_and_from_nothing_else() -> None:  # I31, FW-63, FW-66
    seed = derive_seed(1, "u", "s", 0)
    assert seed == derive_seed(1, "u", "s", 0)
    assert 0 <= seed < 2**31
    others = [
        derive_seed(2, "u", "s", 0),
        derive_seed(1, "v", "s", 0),
        derive_seed(1, "u", "t", 0),
        derive_seed(1, "u", "s", 1),
    ]
    assert len({seed, *others}) == 5


def test_equal_parameters_are_one_call_however_they_are_written() -> None:
    assert sampling_json(Sampling(temperature=0)) == sampling_json(Sampling(temperature=0.0))
    assert sampling_json(Sampling(temperature=-0.0)) == sampling_json(Sampling(temperature=0.0))
    assert '"temperature":0.0' in sampling_json(Sampling(temperature=0))


async def test_answered_call_is_replayed_and_not_sent(ledger: Ledger) -> None:  # FW-37, FW-63
    model, budget = CountingModel(), Budget()
    first = await ask(ledger.calls(unit="u", seed=1, budget=budget), model)
    again = await ask(ledger.calls(unit="u", seed=1, budget=budget), model)
    assert len(model.asked) == 1
    assert (first.replayed, again.replayed) == (False, True)
    assert (first.reply, first.key) == (again.reply, again.key)
    assert (budget.calls, budget.replayed) == (1, 1)


@pytest.mark.parametrize(
    "change",
    [
        {"step": "turn/2"},
        {"attempt": 1},
        {"sampling": Sampling(temperature=0.1)},
        {"sampling": Sampling(max_tokens=9)},
        {"schema": AnswerSchema("a", {"type": "object"})},
    ],
    ids=["step", "attempt", "temperature", "max_tokens", "schema"],
)
async def test_another_call_is_asked(ledger: Ledger, change: dict[str, Any]) -> None:
    model, calls = CountingModel(), ledger.calls(unit="u", seed=1)
    common: dict[str, Any] = {"step": "turn/1", "role": "judge", "purpose": "speech"}
    first = await calls.ask(model, [Message("user", "x")], **common)
    second = await calls.ask(model, [Message("user", "x")], **{**common, **change})
    assert first.key != second.key
    assert len(model.asked) == 2


async def test_another_unit_study_model_or_message_is_another_call(ledger: Ledger) -> None:
    model, other = CountingModel(), CountingModel(name="other")
    keys = {
        (await ask(ledger.calls(unit=unit, seed=seed), asked, text)).key
        for unit, seed, asked, text in [
            ("u", 1, model, "x"),
            ("v", 1, model, "x"),
            ("u", 2, model, "x"),
            ("u", 1, other, "x"),
            ("u", 1, model, "y"),
        ]
    }
    assert len(keys) == 5


async def test_labels_are_for_scripts_and_not_part_of_the_call(ledger: Ledger) -> None:
    model, calls = CountingModel(), ledger.calls(unit="u", seed=1)
    for phase in ("one", "two"):
        await calls.ask(model, [], step="s", role="r", purpose=f"p{phase}", labels={"phase": phase, "role": "x"})
    (request,) = model.asked
    assert dict(request.labels) == {"phase": "one", "role": "r", "purpose": "pone", "step": "s", "attempt": "0"}


async def test_same_call_in_flight_twice_is_sent_once(ledger: Ledger) -> None:
    model, calls = CountingModel(delay_s=0.05), ledger.calls(unit="u", seed=1)
    shown: list[str] = []
    asked = await asyncio.gather(
        *(ask(calls, model) for _ in range(5)),
        calls.ask(model, [Message("user", "Hello.")], step="turn/1", role="r", purpose="p", on_text=shown.append),
    )
    assert len(model.asked) == 1
    assert len({entry.reply.text for entry in asked}) == 1
    assert [entry.replayed for entry in asked] == [False, True, True, True, True, True]
    assert shown == [asked[0].reply.text]


async def test_failure_of_a_shared_call_is_shared(ledger: Ledger) -> None:
    model, calls = CountingModel(lambda request: FAILED, delay_s=0.02), ledger.calls(unit="u", seed=1)
    ended = await asyncio.gather(*(ask(calls, model) for _ in range(3)), return_exceptions=True)
    assert [type(error) for error in ended] == [UnitStopped] * 3
    assert len(model.asked) == 1


async def test_cancelled_leader_of_a_shared_call_leaves_the_next_to_ask(ledger: Ledger) -> None:
    model, calls = CountingModel(delay_s=0.05), ledger.calls(unit="u", seed=1)
    leader, follower = (asyncio.create_task(ask(calls, model)) for _ in range(2))
    await asyncio.sleep(0.01)
    leader.cancel()
    assert (await follower).reply.ok
    assert leader.cancelled()
    assert len(model.asked) == 2


async def test_failed_call_is_kept_and_asked_again(ledger: Ledger) -> None:  # I29, I32
    replies = iter([FAILED, Reply("malformed", detail="no choices"), Reply("ok", text="Here.")])
    model = CountingModel(lambda request: next(replies))
    for kind in ("connect", "malformed"):
        with pytest.raises(UnitStopped) as stopped:
            await ask(ledger.calls(unit="u", seed=1), model)
        assert stopped.value.kind == kind
    assert (await ask(ledger.calls(unit="u", seed=1), model)).reply.text == "Here."
    assert (await ask(ledger.calls(unit="u", seed=1), model)).replayed
    assert ledger.counts() == {"calls": 1, "failures": 2, "messages": 1, "units": 1}


@pytest.mark.parametrize("status", ["truncated", "refused", "empty", "degenerate", "context_overflow"])
async def test_what_tells_something_of_the_model_is_final(ledger: Ledger, status: Any) -> None:
    model = CountingModel(lambda request: Reply(status, detail="why"))
    first = await ask(ledger.calls(unit="u", seed=1), model)
    again = await ask(ledger.calls(unit="u", seed=1), model)
    assert (again.reply, again.replayed, len(model.asked)) == (first.reply, True, 1)


async def test_options_of_the_spec_override_the_purpose(ledger: Ledger) -> None:  # I44
    model = CountingModel(options=Options(temperature=0.0, max_tokens=33, top_p=0.5))
    await ask(ledger.calls(unit="u", seed=1), model)
    assert model.asked[0].sampling == Sampling(temperature=0.0, max_tokens=33, top_p=0.5)


async def test_one_retry_gets_twice_the_tokens_even_of_a_spec(ledger: Ledger) -> None:  # I05, FW-18
    model = CountingModel(options=Options(max_tokens=100))
    ask_again = ledger.calls(unit="u", seed=1).asker(model, step="s", role="r", purpose="p")
    for attempt, more in enumerate([False, True, False]):
        await ask_again([Message("user", "x")], schema=None, attempt=attempt, more_tokens=more)
    assert [request.sampling.max_tokens for request in model.asked] == [100, 200, 100]
    assert [request.labels["step"] for request in model.asked] == ["s", "s/reask/1", "s/reask/2"]


async def test_strange_text_is_the_same_in_the_run_and_in_its_replay(ledger: Ledger) -> None:
    long = STRANGE * 20_000
    reply = Reply(
        "ok",
        text=long,
        reasoning=STRANGE,
        detail=STRANGE,
        served_by=STRANGE,
        notes=(STRANGE, ""),
        logprobs=(TokenLogprob(STRANGE, -0.25, ((STRANGE, -1.5), ("b", -2.0))),),
        usage=Usage(1, None, 0, 2**31 - 1),
        seconds=0.1 + 0.2,
        first_token_s=1e-9,
    )
    model = CountingModel(lambda request: reply)
    runs = [await ask(ledger.calls(unit="u", seed=1), model, STRANGE) for _ in range(2)]
    assert runs[0].reply == runs[1].reply
    assert runs[0].key == runs[1].key
    assert "🎭" in runs[0].reply.text and "\0" not in runs[0].reply.text
    assert len(model.asked) == 1
    assert model.asked[0].messages[0].text == runs[0].reply.reasoning
    assert verify(ledger).problems == ()


async def test_human_turn_is_committed_and_replayed(ledger: Ledger) -> None:
    reads = 0

    async def read() -> str:
        nonlocal reads
        reads += 1
        return "I object, \0 your honour!"

    async def say(step: str = "turn/1") -> Any:
        return await ledger.calls(unit="u", seed=1).human(read, step=step, role="defence", purpose="speech")

    first, again = await say(), await say()
    assert reads == 1
    assert (first.reply, first.key, first.replayed) == (again.reply, again.key, False)
    assert first.reply.text == "I object, \ufffd your honour!"
    await say("turn/2")
    assert reads == 2
    assert verify(ledger).problems == ()


async def test_person_who_leaves_leaves_nothing_behind(ledger: Ledger) -> None:
    async def read() -> str:
        raise EOFError

    with pytest.raises(EOFError):
        await ledger.calls(unit="u", seed=1).human(read, step="s", role="r", purpose="p")
    assert ledger.counts()["calls"] == 0


async def test_replay_only_refuses_what_is_new(tmp_path: Path) -> None:
    model = CountingModel()
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        await ask(ledger.calls(unit="u", seed=1), model)
    with Ledger.open(tmp_path / "ledger.db", replay_only=True) as ledger:
        assert (await ask(ledger.calls(unit="u", seed=1), model)).replayed
        with pytest.raises(UnitStopped, match="not_recorded: step 'turn/2'"):
            await ask(ledger.calls(unit="u", seed=1), model, step="turn/2")
        with pytest.raises(UnitStopped, match="not_recorded"):
            await ledger.calls(unit="u", seed=1).human(asyncio.Event().wait, step="s", role="r", purpose="p")  # pyright: ignore[reportArgumentType]
    assert len(model.asked) == 1


async def test_streamed_text_of_a_replay_is_shown_at_once(ledger: Ledger) -> None:
    for _ in range(2):
        shown: list[str] = []
        asked = await ledger.calls(unit="u", seed=1).ask(
            CountingModel(), [Message("user", "x")], step="s", role="r", purpose="p", on_text=shown.append
        )
        assert shown == [asked.reply.text]


async def test_call_that_is_cancelled_while_it_is_sent_is_asked_again(ledger: Ledger) -> None:
    model, calls = CountingModel(delay_s=0.05), ledger.calls(unit="u", seed=1, budget=Budget(max_tokens=1000))
    task = asyncio.create_task(ask(calls, model))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await ask(calls, model)).reply.ok
    assert len(model.asked) == 2


async def test_call_that_is_cancelled_while_it_is_committed_is_not_lost(ledger: Ledger) -> None:
    model = CountingModel()
    calls = ledger.calls(unit="u", seed=1)
    tasks: list[asyncio.Task[Any]] = []

    def answer_and_cancel(request: Request) -> Reply:
        tasks[0].cancel()
        return echo(request)

    model.answer = answer_and_cancel
    tasks.append(asyncio.create_task(ask(calls, model)))
    with pytest.raises(asyncio.CancelledError):
        await tasks[0]
    model.answer = echo
    assert (await ask(calls, model)).replayed
    assert (await ask(ledger.calls(unit="u", seed=1), model)).replayed
    assert len(model.asked) == 1


async def test_entry_that_cannot_be_stored_fails_and_hangs_nobody(ledger: Ledger) -> None:
    calls = ledger.calls(unit="u", seed=1)
    with pytest.raises(LedgerError, match=r"ledger\.db: cannot be written: .*surrogates") as raised:
        await asyncio.wait_for(ask(calls, CountingModel(), step="\ud83d"), 5)
    assert "\n" not in str(raised.value)
    assert (await ask(ledger.calls(unit="u", seed=1), CountingModel())).reply.ok


async def test_many_units_at_once_are_answered_as_one_after_the_other(tmp_path: Path) -> None:
    async def run(ledger: Ledger, concurrency: int) -> list[str]:
        gate = asyncio.Semaphore(concurrency)
        rng = random.Random(concurrency)

        async def unit(name: str) -> list[str]:
            async with gate:
                calls = ledger.calls(unit=name, seed=3)
                model = CountingModel(delay_s=rng.random() / 500)
                return [(await ask(calls, model, f"{name} {n}", f"turn/{n}")).reply.text for n in range(5)]

        return [text for texts in await asyncio.gather(*(unit(f"u{n}") for n in range(8))) for text in texts]

    with Ledger.open(tmp_path / "one.db") as one, Ledger.open(tmp_path / "eight.db") as eight:
        assert await run(one, 1) == await run(eight, 8)


class Killed(BaseException):
    """Ends a unit where a kill would."""


@settings(max_examples=15, deadline=None)
@given(st.data())
async def test_killed_and_rerun_gives_the_same_answers_and_sends_nothing_twice(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """A kill is played by copying the files of an open ledger: what is in the copy is what a dead process left."""
    folder = tmp_path_factory.mktemp("kills")
    steps = data.draw(
        st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 5)), min_size=1, max_size=12, unique=True)
    )
    kills = data.draw(st.lists(st.integers(0, 12), max_size=4))
    failing = data.draw(st.sets(st.sampled_from(steps)))
    model = CountingModel()
    sent: dict[str, int] = {}
    down = set(failing)

    def answer(request: Request) -> Reply:
        text = request.messages[-1].text
        if text in {f"{unit}{step}" for unit, step in down}:
            down.discard((text[0], int(text[1:])))
            return FAILED
        sent[text] = sent.get(text, 0) + 1
        return echo(request)

    model.answer = answer

    async def run(ledger: Ledger, die_after: int | None) -> dict[str, str]:
        answers: dict[str, str] = {}
        for unit, step in steps:
            if die_after is not None and len(answers) == die_after:
                raise Killed
            calls = ledger.calls(unit=unit, seed=1)
            try:
                answers[f"{unit}{step}"] = (await ask(calls, model, f"{unit}{step}", f"turn/{step}")).reply.text
            except UnitStopped:
                continue
        return answers

    for number, die_after in enumerate([*kills, None, None]):
        ledger = Ledger.open(folder / f"{number}.db")
        try:
            answers = await run(ledger, die_after)
        except Killed:
            answers = {}
        for ending in ("", "-wal", "-shm"):
            if (folder / f"{number}.db{ending}").exists():
                shutil.copy(folder / f"{number}.db{ending}", folder / f"{number + 1}.db{ending}")
        ledger.close()
    assert answers == {f"{unit}{step}": echo_of(unit, step) for unit, step in steps}
    assert set(sent.values()) <= {1}


def echo_of(unit: str, step: int) -> str:
    return echo(Request([Message("user", f"{unit}{step}")], seed=derive_seed(1, unit, f"turn/{step}", 0))).text


async def test_limit_that_is_reached_sends_nothing(ledger: Ledger) -> None:  # FW-58
    model, budget = CountingModel(), Budget(max_calls=2)
    calls = ledger.calls(unit="u", seed=1, budget=budget)
    for n in range(2):
        await ask(calls, model, step=f"turn/{n}")
    with pytest.raises(LimitReached, match="max_calls"):
        await ask(calls, model, step="turn/2")
    assert (await ask(calls, model, step="turn/0")).replayed
    assert len(model.asked) == 2


async def test_writer_commits_what_was_handed_over_when_it_is_closed(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.db")
    model = CountingModel()
    task = asyncio.create_task(ask(ledger.calls(unit="u", seed=1), model))
    while not model.asked:
        await asyncio.sleep(0)
    while not ledger._writer._queue:  # pyright: ignore[reportPrivateUsage]
        await asyncio.sleep(0)
    ledger.close()
    assert (await asyncio.wait_for(task, 5)).reply.ok
    with Ledger.open(tmp_path / "ledger.db") as reopened:
        assert reopened.counts()["calls"] == 1
