"""The engine: what it writes, whatever the order, the failures, the limits and the interruptions."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from dramaturg.errors import RunChangedError, StudyError, UserError
from dramaturg.run.board import Board
from dramaturg.run.progress import Plain
from misbehaving import MisbehavingServer, hang, out_of_quota
from run_fixtures import carry_out, contents, records, write_study

FIVE = ["summit-ridge", "dukes-yard", "museum-intrusion", "chateau-trespass", "haunted-estate"]


async def test_every_unit_has_its_result_in_plan_order(tmp_path: Path) -> None:
    """I50: a run needs files alone, and no service."""
    result = await carry_out(write_study(tmp_path), tmp_path / "out")
    assert result.exit_code == 0 and result.advice == ""
    units = records(tmp_path / "out")
    assert [(unit["kind"], unit["case"], unit["status"]) for unit in units] == [
        ("stage", "summit-ridge", "done"),
        ("stage", "dukes-yard", "done"),
        ("judge", "summit-ridge", "done"),
        ("judge", "dukes-yard", "done"),
    ]
    transcripts = records(tmp_path / "out", "transcripts.jsonl")
    assert [transcript["scenario"]["id"] for transcript in transcripts] == ["summit-ridge", "dukes-yard"]
    judged = [judgement["transcript"] for judgement in records(tmp_path / "out", "judgements.jsonl")]
    assert list(dict.fromkeys(judged)) == [transcript["id"] for transcript in transcripts]


async def test_concurrency_does_not_change_a_byte(tmp_path: Path) -> None:
    """FW-66: every unit has its own seeded source of chance."""
    for concurrency in (1, 8):
        path = write_study(tmp_path, cases=FIVE, seeds=2, concurrency=concurrency)
        await carry_out(path, tmp_path / f"out-{concurrency}")
    assert contents(tmp_path / "out-1") == contents(tmp_path / "out-8")


async def test_another_seed_gives_other_transcripts(tmp_path: Path) -> None:
    """I31, FW-63: repeats are calls of their own."""
    await carry_out(write_study(tmp_path, seeds=3, cases=["summit-ridge"], judges=None), tmp_path / "out")
    said = {
        tuple(turn["text"] for turn in transcript["turns"])
        for transcript in records(tmp_path / "out", "transcripts.jsonl")
    }
    assert len(said) == 3


async def test_names_of_any_script_survive(tmp_path: Path) -> None:
    """FW-93: UTF-8 in and out, whatever the platform's own encoding."""
    await carry_out(write_study(tmp_path, cases=["summit-ridge"]), tmp_path / "out")
    assert "Zoë 山田" in (tmp_path / "out" / "transcripts.jsonl").read_text(encoding="utf-8")


async def test_second_run_asks_nothing_and_writes_the_same(tmp_path: Path) -> None:
    """I28, FW-30, FW-37: what was answered is replayed, and nothing is asked twice."""
    path = write_study(tmp_path)
    first = await carry_out(path, tmp_path / "out")
    before = contents(tmp_path / "out")
    again = await carry_out(path, tmp_path / "out")
    assert (again.calls, again.replayed) == (0, first.calls)
    assert contents(tmp_path / "out") == before


async def test_failed_unit_does_not_stop_the_others(tmp_path: Path) -> None:
    """I10, I22, C05: a failure is listed with its reason; it is no score, and the run is no success."""
    path = write_study(tmp_path)
    (tmp_path / "actor.down").write_text("Summit Ridge", encoding="utf-8")
    result = await carry_out(path, tmp_path / "out")
    assert result.exit_code == 2
    units = records(tmp_path / "out")
    assert [(unit["case"], unit["status"], unit["failure"]) for unit in units] == [
        ("summit-ridge", "failed", "connect"),
        ("dukes-yard", "done", ""),
        ("summit-ridge", "not_run", "stage_failed"),
        ("dukes-yard", "done", ""),
    ]
    assert "cannot reach the server" in units[0]["detail"] and "cannot reach the server" in units[2]["detail"]
    judged = {judgement["transcript"] for judgement in records(tmp_path / "out", "judgements.jsonl")}
    assert judged == {transcript["id"] for transcript in records(tmp_path / "out", "transcripts.jsonl")}


async def test_failed_unit_is_carried_out_again_and_nothing_else(tmp_path: Path) -> None:
    """I10, I29: a unit that an endpoint stopped is not done; when the server is back it goes on, alone."""
    path = write_study(tmp_path)
    whole = await carry_out(path, tmp_path / "whole")
    (tmp_path / "actor.down").write_text("Summit Ridge", encoding="utf-8")
    broken = await carry_out(path, tmp_path / "out")
    (tmp_path / "actor.down").unlink()
    mended = await carry_out(path, tmp_path / "out")
    assert mended.exit_code == 0
    assert broken.calls - 1 + mended.calls == whole.calls
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


async def test_broken_judge_costs_no_staging(tmp_path: Path) -> None:
    """I28, FW-30: after a failure of the judge, only judging is carried out again."""
    path = write_study(tmp_path)
    (tmp_path / "critic.down").write_text("", encoding="utf-8")
    broken = await carry_out(path, tmp_path / "out")
    assert [record.status for record in broken.records] == ["done", "done", "failed", "failed"]
    (tmp_path / "critic.down").unlink()
    mended = await carry_out(path, tmp_path / "out")
    assert mended.exit_code == 0
    refused = sum(record.status == "failed" for record in broken.records)
    assert mended.replayed == broken.calls - refused
    assert mended.calls == 2 * 2


async def test_quota_is_an_infrastructure_failure(tmp_path: Path) -> None:
    """I25, FW-22: a server that refuses is a failed unit at once, and counts against nobody."""
    async with MisbehavingServer(lambda body, n: out_of_quota()) as server:
        path = write_study(tmp_path, subjects=[f"{server.url}#m"], cases=["summit-ridge"])
        result = await carry_out(path, tmp_path / "out")
    assert (result.exit_code, result.records[0].failure) == (2, "quota")
    assert records(tmp_path / "out", "transcripts.jsonl") == []


async def test_fault_in_one_unit_is_contained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C06, FW-45: whatever breaks inside one unit, the others finish, and no key is in the record."""
    monkeypatch.setenv("SOME_API_KEY", "very-secret-value")
    turns = 0

    async def read(note: str) -> str:
        nonlocal turns
        turns += 1
        if turns == 1:
            raise ZeroDivisionError("with very-secret-value and sk-abcdefgh12345")
        return "I have no question."

    result = await carry_out(write_study(tmp_path, cast={"defence": "human"}), tmp_path / "out", read=read)
    failed, done = result.records[:2]
    assert (result.exit_code, failed.status, failed.failure, done.status) == (2, "failed", "error", "done")
    assert failed.detail.startswith("ZeroDivisionError: with … and … (test_engine.py:")


async def test_person_is_asked_for_one_performance_at_a_time(tmp_path: Path) -> None:
    asking = most = 0

    async def read(note: str) -> str:
        nonlocal asking, most
        asking += 1
        most = max(most, asking)
        await asyncio.sleep(0)
        asking -= 1
        return "I have no question."

    await carry_out(write_study(tmp_path, cast={"defence": "human"}), tmp_path / "out", read=read)
    assert most == 1


async def test_person_needs_somebody_who_asks(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nobody to ask"):
        await carry_out(write_study(tmp_path, cast={"defence": "human"}), tmp_path / "out")


async def test_unit_that_hangs_ends_at_its_limit(tmp_path: Path) -> None:
    """FW-94, FW-96, FW-97: one call never ends; it is named while it hangs, and the run ends without it."""
    lines: list[str] = []
    async with MisbehavingServer([hang()]) as server:
        path = write_study(tmp_path, cast={"defence": f"{server.url}#m"}, unit_timeout_s=1.0, concurrency=1)
        display = Plain(lines.append, every_s=0.1, hanging_s=0.2)
        result = await carry_out(path, tmp_path / "out", progress=display)
    assert [(record.status, record.failure) for record in result.records[:2]] == [
        ("failed", "unit_timeout"),
        ("done", ""),
    ]
    assert "unit_timeout_s=1" in result.records[0].detail
    assert any("1 call open 0 s" in line for line in lines)
    assert lines[-1].startswith("4/4 units, 2 failed")


async def test_calls_at_once_are_bounded(tmp_path: Path) -> None:
    """C15: as many units at once as the study says, however many there are."""
    async with MisbehavingServer() as server:
        path = write_study(tmp_path, cast={"defence": f"{server.url}#m"}, cases=FIVE, judges=None, concurrency=2)
        await carry_out(path, tmp_path / "out")
        assert max(seen.in_flight for seen in server.requests) <= 2


@pytest.mark.parametrize(("budget", "limit"), [({"max_calls": 5}, "max_calls"), ({"max_tokens": 20_000}, "max_tokens")])
async def test_budget_stops_the_run_cleanly(tmp_path: Path, budget: dict[str, int], limit: str) -> None:
    """FW-51, FW-58, FW-69: the run stops, invents no turn, keeps what is done, and goes on later."""
    whole = await carry_out(write_study(tmp_path), tmp_path / "whole")
    stopped = await carry_out(write_study(tmp_path, budgets=budget, concurrency=1), tmp_path / "out")
    assert stopped.exit_code == 3
    assert stopped.limit.startswith(limit) and limit in stopped.advice
    assert {record.failure for record in stopped.records if record.status != "done"} == {f"limit:{limit}"}
    kept = records(tmp_path / "out", "transcripts.jsonl")
    assert all(transcript in records(tmp_path / "whole", "transcripts.jsonl") for transcript in kept)
    rest = await carry_out(write_study(tmp_path), tmp_path / "out")
    assert stopped.calls + rest.calls == whole.calls
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


async def test_unknown_price_under_a_cost_limit_is_refused_at_the_start(tmp_path: Path) -> None:
    path = write_study(tmp_path, subjects=["http://127.0.0.1:9/v1#m"], budgets={"max_cost": 1.0})
    with pytest.raises(UserError, match="no price is known"):
        await carry_out(path, tmp_path / "out")


class StopAfter:
    """A display that sends this process Ctrl-C when so many units are done."""

    def __init__(self, units: int) -> None:
        self._units = units

    async def show(self, board: Board) -> None:
        while board.done < self._units:
            await asyncio.sleep(0)
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.Event().wait()


@pytest.mark.parametrize("after", [0, 1, 7, 15])
async def test_interrupted_run_goes_on_where_it_stopped(tmp_path: Path, after: int) -> None:
    """I26, C06, FW-31, FW-33: after Ctrl-C and a second run, all is as if the run had never been broken."""
    path = write_study(tmp_path, cases=FIVE, seeds=2)
    whole = await carry_out(path, tmp_path / "whole")
    stopped = await carry_out(path, tmp_path / "out", progress=StopAfter(after))
    assert (stopped.stop, stopped.exit_code) == ("interrupted", 130)
    assert "run the same command again" in stopped.advice
    assert len(records(tmp_path / "out")) == 20
    rest = await carry_out(path, tmp_path / "out")
    assert rest.exit_code == 0
    assert stopped.calls + rest.calls == whole.calls
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


async def test_extension_asks_only_what_is_new(tmp_path: Path) -> None:
    """A sixth case, a second subject, a further seed or judge changes no unit that was there before."""
    base = await carry_out(write_study(tmp_path, cases=FIVE[:2]), tmp_path / "out")
    wider = {
        "subjects": ["script:second.py", "script:actor.py"],
        "cases": ["museum-intrusion", *FIVE[:2]],
        "seeds": [2, 1],
        "judges": [{"model": "script:critic.py", "checklist": "short.yaml", "votes": votes} for votes in (2, 1)],
    }
    fresh = await carry_out(write_study(tmp_path, **wider), tmp_path / "fresh")
    extended = await carry_out(write_study(tmp_path, **wider), tmp_path / "out")
    assert extended.calls == fresh.calls - base.calls
    assert contents(tmp_path / "out") == contents(tmp_path / "fresh")


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"limits": {"questions": 2, "restarts": 0}}, "limits.questions: 1 → 2"),
        ({"seed": 5}, "seed: 0 → 5"),
        ({"protocol": "guarded"}, "protocol: paper → guarded"),
    ],
)
async def test_changed_setting_stops_and_is_named(tmp_path: Path, changes: dict[str, object], named: str) -> None:
    """FW-36: settings that make the content may not change unseen."""
    await carry_out(write_study(tmp_path), tmp_path / "out")
    before = contents(tmp_path / "out")
    with pytest.raises(RunChangedError) as raised:
        await carry_out(write_study(tmp_path, **changes), tmp_path / "out")
    assert named in str(raised.value) and "--accept-changes" in str(raised.value)
    assert contents(tmp_path / "out") == before
    result = await carry_out(write_study(tmp_path, **changes), tmp_path / "out", accept_changes=True)
    assert result.calls > 0


async def test_settings_of_the_run_may_change(tmp_path: Path) -> None:
    """FW-36: concurrency, time limits and budgets belong to a run, not to its content."""
    await carry_out(write_study(tmp_path), tmp_path / "out")
    path = write_study(tmp_path, concurrency=1, unit_timeout_s=50.0, budgets={"max_calls": 0})
    assert (await carry_out(path, tmp_path / "out")).calls == 0


def _edit_script(folder: Path) -> None:
    (folder / "actor.py").write_text("def reply(request):\n    return 'Yes.'\n", encoding="utf-8")


def _edit_prompt(folder: Path) -> None:
    with (folder / "mine" / "court-rules.txt").open("a", encoding="utf-8") as file:
        file.write("Be brief.\n")


@pytest.mark.parametrize(("edit", "named"), [(_edit_script, "models/script:actor.py"), (_edit_prompt, "prompts/mine/")])
async def test_changed_file_stops_and_is_named(tmp_path: Path, edit: Callable[[Path], None], named: str) -> None:
    """I52, FW-64: a run is never continued with other files under the same names."""
    shipped = Path(__file__).parents[1] / "src" / "dramaturg" / "content" / "prompts" / "en" / "court-rules.txt"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "court-rules.txt").write_bytes(shipped.read_bytes())
    path = write_study(tmp_path, prompts=["mine"])
    await carry_out(path, tmp_path / "out")
    edit(tmp_path)
    from dramaturg.prompts import load_prompt

    load_prompt.cache_clear()
    with pytest.raises(RunChangedError, match=named):
        await carry_out(path, tmp_path / "out")


async def test_folder_of_another_study_is_refused(tmp_path: Path) -> None:
    await carry_out(write_study(tmp_path), tmp_path / "out")
    before = contents(tmp_path / "out")
    with pytest.raises(StudyError) as raised:
        await carry_out(write_study(tmp_path, study="other"), tmp_path / "out", accept_changes=True)
    assert "the study 'small', not 'other'" in str(raised.value) and "\n" not in str(raised.value)
    assert contents(tmp_path / "out") == before


async def test_snapshot_holds_what_the_run_was_made_with(tmp_path: Path) -> None:
    """I59, FW-64: prompts and checklists are in the output, as they were."""
    path = write_study(tmp_path)
    await carry_out(path, tmp_path / "out")
    kept = {file.read_text(encoding="utf-8") for file in (tmp_path / "out" / "snapshot" / "files").iterdir()}
    content = Path(__file__).parents[1] / "src" / "dramaturg" / "content"
    for used in ("prompts/en/court-rules.txt", "cases/summit-ridge.yaml", "procedures/trial.yaml"):
        assert (content / used).read_text(encoding="utf-8") in kept
    assert (tmp_path / "short.yaml").read_text(encoding="utf-8") in kept
    assert (tmp_path / "out" / "study.yaml").read_bytes() == path.read_bytes()


async def test_missing_folders_of_the_output_are_made(tmp_path: Path) -> None:
    """I49, C18: a new output folder, however deep."""
    result = await carry_out(write_study(tmp_path, judges=None), tmp_path / "new" / "deep" / "folder")
    assert result.exit_code == 0


async def test_shared_ledger_serves_two_studies(tmp_path: Path) -> None:
    shared = tmp_path / "shared.db"
    first = await carry_out(write_study(tmp_path), tmp_path / "one", ledger=shared)
    second = await carry_out(write_study(tmp_path, study="other"), tmp_path / "two", ledger=shared)
    assert (second.calls, second.replayed) == (0, first.calls)


async def test_replay_only_makes_no_call(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    await carry_out(path, tmp_path / "out")
    before = contents(tmp_path / "out")
    assert (await carry_out(path, tmp_path / "out", replay_only=True)).exit_code == 0
    assert contents(tmp_path / "out") == before
    wider = await carry_out(write_study(tmp_path, seeds=2), tmp_path / "out", replay_only=True)
    assert (wider.exit_code, wider.calls) == (2, 0)
    assert {record.failure for record in wider.records} == {"", "not_recorded", "stage_failed"}


async def test_replay_needs_no_server_and_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """FW-99: a recorded run is repeated without any of what made it."""
    monkeypatch.setenv("SOME_KEY", "very-secret-value")
    async with MisbehavingServer() as server:
        path = write_study(tmp_path, subjects=[f"{server.url}#m?key_env=SOME_KEY"], cases=["summit-ridge"])
        recorded = await carry_out(path, tmp_path / "out")
    monkeypatch.delenv("SOME_KEY")
    before = contents(tmp_path / "out")
    replayed = await carry_out(path, tmp_path / "out", replay_only=True)
    assert (replayed.exit_code, replayed.replayed) == (0, recorded.calls)
    assert contents(tmp_path / "out") == before
    for file in (tmp_path / "out").rglob("*"):
        assert not file.is_file() or b"very-secret-value" not in file.read_bytes()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
async def test_full_disk_loses_no_answer(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    whole = await carry_out(path, tmp_path / "whole")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "judgements.jsonl.part").symlink_to("/dev/full")
    with pytest.raises(UserError, match="No space left"):
        await carry_out(path, tmp_path / "out")
    rest = await carry_out(path, tmp_path / "out")
    assert rest.replayed > 0 and rest.calls + rest.replayed == whole.calls
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


async def test_transcript_of_a_broken_performance_is_judged(tmp_path: Path) -> None:
    """FW-48: a performance that broke down is a result with its end reason, and no failure of the run."""
    path = write_study(tmp_path, subjects=["script:mute.yaml"], cases=["summit-ridge"])
    (tmp_path / "mute.yaml").write_text("name: mute\nrules: [{fault: empty}]\n", encoding="utf-8")
    result = await carry_out(path, tmp_path / "out")
    (transcript,) = records(tmp_path / "out", "transcripts.jsonl")
    assert (result.exit_code, transcript["end_reason"]) == (0, "restarts_exhausted")
    assert [record.status for record in result.records] == ["done", "done"]


async def test_overflow_of_the_context_is_a_result_and_not_a_failure(tmp_path: Path) -> None:
    """FW-72: what does not fit ends the performance; no text of the server is ever a turn."""
    path = write_study(tmp_path, subjects=["script:small.yaml"], cases=["summit-ridge"])
    rules = "name: small\nrules:\n- {purpose: introduction, reply: The court is open.}\n- {fault: context_overflow}\n"
    (tmp_path / "small.yaml").write_text(rules, encoding="utf-8")
    result = await carry_out(path, tmp_path / "out")
    (transcript,) = records(tmp_path / "out", "transcripts.jsonl")
    assert (result.exit_code, transcript["end_reason"]) == (0, "context_overflow")
