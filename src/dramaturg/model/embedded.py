"""Local models: one supervised child process for each, spoken to over loopback like any other server.

A native crash ends the child alone: the next call finds it dead and starts it again, a bounded number of times. The
child ends with its parent, whatever ends the parent (see `dramaturg.model.serve_gguf`).
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import re
import signal
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from dramaturg.errors import MissingExtraError
from dramaturg.model.endpoint import ServerUnavailable
from dramaturg.model.hub import OnProgress, no_progress
from dramaturg.model.local_files import find_local, model_facts, needed_bytes, plan_serving, read_facts
from dramaturg.model.model import Identity, ModelFacts
from dramaturg.model.serve_gguf import ServePlan
from dramaturg.model.spec import ModelSpec

if TYPE_CHECKING:
    import psutil

MAX_RESTARTS = 3
LOAD_TIMEOUT_S = 900.0
_GOODBYE_S = 2.0
_TAIL_BYTES = 8192
_ERROR_LINE = re.compile(r"^[\d.]+ E (?:\S+ +\S+: )?(?P<what>.+)$", re.MULTILINE)


async def open_local(spec: ModelSpec, on_progress: OnProgress = no_progress) -> LocalServer:
    """Returns the server of a local model; its process starts when the address is first asked for.

    Args:
        spec: With provider ``embedded``, ``gguf`` or ``hf``; the name may end in ``+ADAPTER``, a path.
        on_progress: Watches the download of an ``hf`` model.

    Raises:
        MissingExtraError: The runtime is not installed.
        SpecError: The name or an option is wrong.
        ModelFileError: A file is not there, torn or of the wrong kind.
    """
    for module in ("xllamacpp", "psutil"):
        if importlib.util.find_spec(module) is None:
            error = MissingExtraError("embedded models", "local")
            error.allowed += "; without it, name a server: http://host:port/v1#name"
            raise error
    files = await asyncio.to_thread(find_local, spec, on_progress)
    facts = await asyncio.to_thread(read_facts, files)
    plan = plan_serving(files, facts, spec)
    return LocalServer(plan, files.identity, model_facts(spec, files, facts, plan), needed_bytes(files, facts, plan))


class LocalServer:
    """The child process of one model.

    Attributes:
        identity: Digest of the file.
        facts: What the file says of itself.
        plan: How it is served.
    """

    def __init__(self, plan: ServePlan, identity: Identity, facts: ModelFacts, needed: int) -> None:
        self.plan = plan
        self.identity = identity
        self.facts = facts
        self._needed = needed
        self._process: asyncio.subprocess.Process | None = None
        self._address = ""
        self._starting = asyncio.Lock()
        self._starts = 0
        self._peak: int | None = None
        self._tail = b""
        self._listening: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.returncode is None

    @property
    def pid(self) -> int | None:
        """The process's id, or None where it does not run."""
        return self._process.pid if self._process is not None and self.alive else None

    async def address(self) -> str:
        """Returns ``http://127.0.0.1:PORT``; starts the process where it does not run.

        Raises:
            ServerUnavailable: ``memory``: the model does not fit; nothing was loaded. ``crash``: the process died
                while it loaded, or has died too often.
        """
        async with self._starting:
            if self.alive and self._address:
                return self._address
            died = "" if self._process is None else await self._obituary(self._process)
            if self._closed:
                raise ServerUnavailable("crash", "the model was closed")
            if self._starts > MAX_RESTARTS:
                raise ServerUnavailable("crash", f"the model's process died {self._starts} times; {died}")
            self._refuse_small_memory()
            self._starts += 1
            self._address = await self._start()
            return self._address

    def peak_memory_bytes(self) -> int | None:
        """Returns the most memory that the process held so far; where no platform tells, the most that was seen."""
        import psutil

        if self.pid is not None:
            try:
                now = peak_of(psutil.Process(self.pid))
            except (psutil.Error, OSError):
                return self._peak
            self._peak = max(now, self._peak or 0)
        return self._peak

    async def close(self) -> None:
        """Ends the process; a second call does nothing."""
        self._closed = True
        process = self._process
        if process is None:
            return
        self.peak_memory_bytes()
        if process.stdin is not None:
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), _GOODBYE_S)
        except TimeoutError:
            _kill(process)
        await self._obituary(process)

    async def _start(self) -> str:
        self._tail = b""
        process = self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "dramaturg.model.serve_gguf"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        self._listening = asyncio.create_task(self._listen(process.stderr))
        try:
            process.stdin.write(json.dumps(asdict(self.plan)).encode("utf-8") + b"\n")
            line = await asyncio.wait_for(process.stdout.readline(), LOAD_TIMEOUT_S)
        except TimeoutError:
            _kill(process)
            await self._obituary(process)
            raise ServerUnavailable("crash", f"the model did not load within {LOAD_TIMEOUT_S:.0f} s") from None
        except BaseException:
            _kill(process)
            raise
        if self._closed or not line:
            _kill(process)
            raise ServerUnavailable("crash", await self._obituary(process))
        return str(json.loads(line)["address"])

    async def _listen(self, stderr: asyncio.StreamReader) -> None:
        while chunk := await stderr.read(_TAIL_BYTES):
            self._tail = (self._tail + chunk)[-_TAIL_BYTES:]

    async def _obituary(self, process: asyncio.subprocess.Process) -> str:
        """Returns how a process ended, once it has ended, with the first error that it wrote."""
        code = await process.wait()
        if self._listening is not None:
            await self._listening
        said = self._tail.decode("utf-8", "replace")
        error = _ERROR_LINE.search(said)
        lines = said.split("\n") if error is None else [error["what"]]
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"{_how_it_ended(code)}{': ' if last else ''}{last}"

    def _refuse_small_memory(self) -> None:
        import psutil

        available = psutil.virtual_memory().available
        if available < self._needed:
            raise ServerUnavailable(
                "memory",
                f"{self.identity.name} needs about {self._needed / 1e9:.1f} GB of memory, {available / 1e9:.1f} GB are "
                "free; take a smaller model, or fewer tokens with ?context_tokens=",
            )


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return f"the model's process ended with code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hint = ", perhaps for want of memory" if name == "SIGKILL" else ""
    return f"the model's process was ended by {name}{hint}"


def _kill(process: asyncio.subprocess.Process) -> None:
    try:
        process.kill()
    except ProcessLookupError:
        pass  # It ended by itself.


def peak_of(process: psutil.Process) -> int:
    """Returns the peak of a process in bytes; where psutil does not tell it, Linux does, and else what it holds now."""
    memory = process.memory_info()
    peak = getattr(memory, "peak_wset", None)
    if peak is not None:
        return int(peak)
    if sys.platform == "linux":
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii", errors="replace")
        found = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
        if found is not None:
            return int(found[1]) * 1024
    return int(memory.rss)
