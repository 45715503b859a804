"""The child process of a local model: serves a GGUF file on loopback for as long as its parent lives.

One line of JSON comes in (a `ServePlan`), one goes out (the address). After that, stdin says nothing more: its end is
the end of the parent, however that came about, and with it of this process.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import signal
import sys
from dataclasses import dataclass
from typing import Any

_OTHER_SLOT = 0.5
"""A prompt that shares less than this with a slot's last one goes to another slot: each role keeps its own."""

_LOG_ERRORS = 1
_SET_PARENT_DEATH_SIGNAL = 1
_PAGES_OF_THE_SERVER = "http://127.0.0.1"


@dataclass(frozen=True, slots=True)
class ServePlan:
    """How a model is served.

    Attributes:
        name: What the server calls the model: replies carry it, so it holds no path.
        model: Path of the GGUF file.
        adapter: Path of a LoRA adapter, or empty.
        context_tokens: Of all sequences together; one sequence may use them all, up to what the model can.
        slots: Sequences that are computed at once.
        threads: Threads that compute; 0 for the cores that are idle when the model is loaded.
        cache_mib: Memory for the prefixes of sequences that wait for their next turn.
    """

    name: str
    model: str
    adapter: str
    context_tokens: int
    slots: int
    threads: int
    cache_mib: int


def _parameters(runtime: Any, plan: ServePlan) -> Any:
    parameters = runtime.CommonParams()
    parameters.model.path = plan.model
    parameters.model_alias = {plan.name}
    if plan.adapter:
        parameters.lora_adapters = [runtime.CommonAdapterLoraInfo(plan.adapter, 1.0)]
    parameters.n_ctx = plan.context_tokens
    parameters.n_parallel = plan.slots
    # One pool of tokens for all slots, and a prompt that does not fit is refused: nothing is dropped from its start.
    parameters.kv_unified = True
    parameters.ctx_shift = False
    # A waiting sequence moves to memory and back, which costs far less than to compute its prefix again.
    parameters.cache_ram_mib = plan.cache_mib
    parameters.cache_idle_slots = True
    parameters.slot_prompt_similarity = _OTHER_SLOT
    threads = plan.threads or idle_cores()
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    parameters.warmup = False
    parameters.verbosity = _LOG_ERRORS
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    # No page of a browser may read answers, and nobody may read other people's prompts.
    parameters.cors_origins = _PAGES_OF_THE_SERVER
    parameters.cors_credentials = False
    parameters.endpoint_slots = False
    parameters.ui = False
    return parameters


def idle_cores(*, watched_s: float = 0.5) -> int:
    """Returns how many of the cores that this process may use stand idle, at least 1.

    The threads of llama.cpp wait for each other by spinning. One that has to share its core holds up all the rest:
    on two cores with one other busy process, two threads wrote a tenth of what one thread wrote.

    Args:
        watched_s: How long to look, in seconds.
    """
    import psutil

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    busy = psutil.cpu_percent(interval=watched_s) / 100 * (os.cpu_count() or 1)
    return max(1, cores - round(busy))


def _die_with_the_parent() -> None:
    """Covers the time of loading, in which the runtime lets no Python code run and nobody reads stdin."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def main() -> None:
    """Serves until stdin ends."""
    # Ctrl-C reaches the whole group of processes; it is the parent's to decide when this one ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with_the_parent()
    answers = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # What the runtime prints must not mix with the address.
    plan = ServePlan(**json.loads(sys.stdin.buffer.readline()))
    runtime: Any = importlib.import_module("xllamacpp")
    server = runtime.Server(_parameters(runtime, plan))
    os.write(answers, json.dumps({"address": server.listening_address}).encode("utf-8") + b"\n")
    os.close(answers)
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(0)  # The runtime's own way out waits for open connections.


if __name__ == "__main__":
    main()
