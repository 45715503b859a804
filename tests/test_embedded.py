"""A local model's process: it starts when asked, ends with its parent, and its death is a typed failure."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from dramaturg.errors import MissingExtraError, ModelFileError, SpecError
from dramaturg.model import Message, Request, Sampling, parse_spec
from dramaturg.model.embedded import MAX_RESTARTS, LocalServer, open_local
from dramaturg.model.endpoint import ServerUnavailable
from dramaturg.model.local_files import KV_BYTES, find_local, local_identity, needed_bytes, plan_serving, read_facts
from dramaturg.model.opening import Models
from dramaturg.model.registry import cache_folder, pinned_model
from gguf_files import CONTEXT, gguf_bytes, model_values, write_adapter, write_model

pytest.importorskip("xllamacpp")
pytest.importorskip("psutil")

ALONE_S = 2.0
"""In which a child ends after its parent."""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return write_model(tmp_path / "tiny.gguf")


@pytest.fixture
async def server(tiny: Path) -> AsyncIterator[LocalServer]:
    opened = await open_local(parse_spec(f"gguf:{tiny}?threads=1&slots=2"))
    yield opened
    await opened.close()


async def _chat(server: LocalServer, text: str, **more: object) -> tuple[int, dict[str, Any]]:
    body = {"messages": [{"role": "user", "content": text}], "max_tokens": 4, "temperature": 0, **more}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{await server.address()}/v1/chat/completions", json=body) as response,
    ):
        return response.status, await response.json()


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


async def test_a_model_answers_under_its_name_and_tells_its_facts(server: LocalServer, tiny: Path) -> None:
    assert not server.alive
    status, answer = await _chat(server, "hello")
    assert status == 200
    assert answer["usage"]["completion_tokens"] == 4
    assert answer["model"] == "tiny"
    assert server.identity.provider == "gguf" and len(server.identity.digest) == 64
    assert (server.facts.parameters, server.facts.quantisation, server.facts.licence) == (32_992, "F32", "mit")
    assert (server.facts.context_tokens, server.facts.extra["slots"]) == (CONTEXT, 2)
    assert server.facts.runtime.startswith("xllamacpp ")
    peak = server.peak_memory_bytes()
    assert peak is not None and peak > tiny.stat().st_size
    await server.close()
    await server.close()
    assert not server.alive
    assert server.peak_memory_bytes() == pytest.approx(peak, rel=0.5)


async def test_a_local_model_is_opened_like_any_other(tiny: Path, models: Models) -> None:
    model = await models.open(f"gguf:{tiny}?threads=1&slots=1")
    reply = await model.send(Request([Message("user", "hello")], Sampling(temperature=0, max_tokens=4)))
    assert reply.status in {"ok", "truncated"}
    assert reply.served_by.startswith("tiny")
    too_long = await model.send(Request([Message("user", "x" * 3 * CONTEXT)], Sampling(max_tokens=4)))
    assert too_long.status == "context_overflow"
    assert (await model.send(Request([Message("user", "hello")], Sampling(max_tokens=4)))).final


async def test_a_growing_chat_computes_only_what_is_new_while_others_speak(server: LocalServer) -> None:
    texts = [f"{role} " * 40 for role in ("judge", "witness", "clerk", "usher")]
    for text in texts:
        await _chat(server, text)
    for text in texts:
        _, answer = await _chat(server, text + "more")
        usage = answer["usage"]
        assert usage["prompt_tokens"] - usage["prompt_tokens_details"]["cached_tokens"] < 30


async def test_one_sequence_may_use_the_whole_context_and_no_more(server: LocalServer) -> None:
    _, short = await _chat(server, "x", max_tokens=1)
    frame = short["usage"]["prompt_tokens"] - 1
    status, answer = await _chat(server, "x" * (CONTEXT - frame - 8), max_tokens=1)
    assert status == 200 and answer["usage"]["prompt_tokens"] > CONTEXT - 16
    status, answer = await _chat(server, "x" * (CONTEXT + 1), max_tokens=1)
    assert status == 400 and answer["error"]["type"] == "exceed_context_size_error"
    assert server.alive


async def test_nobody_reads_other_peoples_prompts(server: LocalServer) -> None:
    address = await server.address()
    async with aiohttp.ClientSession(headers={"Origin": "http://elsewhere.example"}) as session:
        async with session.get(f"{address}/slots") as response:
            assert response.status == 501
        async with session.get(f"{address}/") as response:
            assert response.status == 404
        async with session.get(f"{address}/v1/models") as response:
            assert response.headers.get("Access-Control-Allow-Origin") not in {"*", "http://elsewhere.example", "null"}
    assert address.startswith("http://127.0.0.1:")


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
async def test_a_killed_process_is_started_again_but_not_without_end(server: LocalServer) -> None:
    for _ in range(MAX_RESTARTS + 1):
        assert (await _chat(server, "hello"))[0] == 200
        assert server.pid is not None
        os.kill(server.pid, signal.SIGKILL)
        while server.alive:
            await asyncio.sleep(0.01)
    with pytest.raises(ServerUnavailable, match=r"died 4 times.*SIGKILL") as caught:
        await server.address()
    assert caught.value.kind == "crash"


async def test_callers_at_once_start_one_process(server: LocalServer) -> None:
    assert len(set(await asyncio.gather(*(server.address() for _ in range(8))))) == 1


async def test_a_closed_model_stays_closed(server: LocalServer) -> None:
    await server.close()
    with pytest.raises(ServerUnavailable, match="closed"):
        await server.address()


async def test_closing_while_it_loads_leaves_no_process(server: LocalServer) -> None:
    starting = asyncio.create_task(server.address())
    while server.pid is None:
        await asyncio.sleep(0.01)
    pid = server.pid
    await server.close()
    with pytest.raises(ServerUnavailable):
        await starting
    assert not _is_running(pid)


async def test_a_cancelled_start_leaves_no_process(server: LocalServer) -> None:
    starting = asyncio.create_task(server.address())
    while server.pid is None:
        await asyncio.sleep(0.01)
    pid = server.pid
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    await server.close()
    assert not _is_running(pid)


async def test_a_model_that_the_runtime_refuses_is_a_crash_with_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "strange.gguf"
    path.write_bytes(gguf_bytes(model_values(general__architecture="strange"), {"token_embd.weight": (4, 8)}))
    server = await open_local(parse_spec(f"gguf:{path}?threads=1"))
    with pytest.raises(ServerUnavailable, match="unknown model architecture: 'strange'") as caught:
        await server.address()
    assert caught.value.kind == "crash"
    assert "\n" not in caught.value.detail
    await server.close()


async def test_a_model_that_does_not_fit_is_refused_before_it_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "wide.gguf"
    values = model_values(llama__context_length=2**30, llama__block_count=1000)
    path.write_bytes(gguf_bytes(values, {"token_embd.weight": (4, 8)}))
    server = await open_local(parse_spec(f"gguf:{path}?context_tokens={2**30}"))
    with pytest.raises(ServerUnavailable, match=r"needs about [\d.]+ GB of memory, [\d.]+ GB are free") as caught:
        await server.address()
    assert caught.value.kind == "memory"
    assert not server.alive
    await server.close()


PARENT = """
import asyncio, sys
from dramaturg.model import parse_spec
from dramaturg.model.embedded import open_local

async def main():
    server = await open_local(parse_spec(sys.argv[1]))
    if sys.argv[2] == "loading":
        asyncio.get_running_loop().create_task(server.address())
        while server.pid is None:
            await asyncio.sleep(0.01)
    else:
        await server.address()
    sys.stdout.write(f"{server.pid}\\n")
    sys.stdout.flush()
    await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("moment", ["loading", "serving"])
def test_the_process_ends_when_its_parent_is_killed(tiny: Path, moment: str) -> None:
    command = [sys.executable, "-c", PARENT, f"gguf:{tiny}?threads=1", moment]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert _is_running(child)
        parent.kill()
    deadline = time.monotonic() + ALONE_S
    while _is_running(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _is_running(child)


async def test_an_adapter_makes_another_model(tiny: Path, tmp_path: Path) -> None:
    adapter = write_adapter(tmp_path / "clerk.gguf")
    plain = local_identity(parse_spec(f"gguf:{tiny}"))
    server = await open_local(parse_spec(f"gguf:{tiny}+{adapter}?threads=1&slots=1"))
    assert server.identity.name == "tiny+clerk"
    assert server.identity.digest != plain.digest
    status, answer = await _chat(server, "hello")
    assert (status, answer["model"]) == (200, "tiny+clerk")
    await server.close()


async def test_files_that_do_not_belong_together_are_refused(tiny: Path, tmp_path: Path) -> None:
    adapter = write_adapter(tmp_path / "lora.gguf")
    other = write_adapter(tmp_path / "other.gguf", architecture="qwen2")
    for name, what in [
        (f"{tiny}+{other}", "an adapter for 'qwen2', the model is 'llama'"),
        (f"{tiny}+{tiny}", "is no adapter"),
        (str(adapter), "is an adapter, no model"),
        (str(tmp_path / "none.gguf"), "cannot be read"),
    ]:
        with pytest.raises(ModelFileError, match=what):
            await open_local(parse_spec(f"gguf:{name}"))
    with pytest.raises(SpecError, match="no adapter behind"):
        await open_local(parse_spec(f"gguf:{tiny}+"))


def test_a_pinned_model_has_its_identity_before_it_is_pulled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAMATURG_CACHE", str(tmp_path))
    adapter = write_adapter(tmp_path / "clerk.gguf")
    plain = local_identity(parse_spec("embedded:smollm2-135m"))
    tuned = local_identity(parse_spec(f"embedded:smollm2-135m+{adapter}"))
    assert plain.digest == pinned_model("smollm2-135m").sha256
    assert (plain.name, tuned.name) == ("smollm2-135m", "smollm2-135m+clerk")
    assert tuned.digest not in {"", plain.digest}


async def test_a_pinned_model_that_is_not_here_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRAMATURG_CACHE", str(tmp_path))
    with pytest.raises(ModelFileError, match="dramaturg models pull smollm2-135m"):
        await open_local(parse_spec("embedded:smollm2-135m"))
    with pytest.raises(SpecError, match="did you mean"):
        await open_local(parse_spec("embedded:smollm2"))


def test_a_changed_file_is_not_the_pinned_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAMATURG_CACHE", str(tmp_path))
    path = cache_folder() / "models" / "smollm2-135m.gguf"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.truncate(pinned_model("smollm2-135m").size_bytes)
    with pytest.raises(ModelFileError, match="is not the pinned file"):
        find_local(parse_spec("embedded:smollm2-135m"))


async def test_without_the_runtime_the_message_names_the_extra_and_the_way_around(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, "xllamacpp", raising=False)
    with pytest.raises(MissingExtraError, match=r"dramaturg\[local\].*http://host:port"):
        await open_local(parse_spec(f"gguf:{tiny}"))


def test_the_plan_follows_model_and_spec(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"

    def plan(trained: int, blocks: int, options: str = "") -> tuple[int, int]:
        values = model_values(llama__context_length=trained, llama__block_count=blocks)
        path.write_bytes(gguf_bytes(values, {"token_embd.weight": (4, 8)}))
        spec = parse_spec(f"gguf:{path}{options}")
        files = find_local(spec)
        facts = read_facts(files)
        found = plan_serving(files, facts, spec)
        assert needed_bytes(files, facts, found) >= (facts.kv_bytes_per_token or 0) * found.context_tokens
        return found.context_tokens, found.slots

    kv_per_block = 128
    assert plan(2048, 1) == (8 * 2048, 8)
    assert plan(2048, 1, "?slots=3") == (3 * 2048, 3)
    assert plan(131_072, 1) == (8 * 8192, 8)
    assert plan(131_072, 100) == (KV_BYTES // (100 * kv_per_block) // 256 * 256, 8)
    assert plan(131_072, 10_000) == (8192, 8)
    assert plan(131_072, 10_000, "?context_tokens=20000") == (20_000, 8)
    with pytest.raises(SpecError, match="at most 2048"):
        plan(2048, 1, "?context_tokens=4096")


SMOLLM2 = os.environ.get("DRAMATURG_SMOLLM2", "")


@pytest.mark.embedded
@pytest.mark.skipif(not SMOLLM2, reason="DRAMATURG_SMOLLM2 names no file")
async def test_the_smallest_pinned_model_keeps_to_a_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAMATURG_CACHE", str(tmp_path))
    path = cache_folder() / "models" / "smollm2-135m.gguf"
    path.parent.mkdir(parents=True)
    shutil.copy(SMOLLM2, path)
    server = await open_local(parse_spec("embedded:smollm2-135m"))
    schema = {"type": "object", "properties": {"guilty": {"type": "boolean"}}, "required": ["guilty"]}
    shape = {"type": "json_schema", "json_schema": {"name": "verdict", "schema": schema}}
    status, answer = await _chat(server, "Is he guilty?", max_tokens=40, response_format=shape)
    assert status == 200 and '"guilty"' in answer["choices"][0]["message"]["content"]
    assert server.facts.licence == "apache-2.0" and server.facts.context_tokens == 8192
    peak = server.peak_memory_bytes()
    assert peak is not None and peak < 1_200_000_000
    await server.close()
