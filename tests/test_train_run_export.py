"""What was trained is loaded elsewhere and is the same model there; an adapter for another base is refused."""

from __future__ import annotations

import importlib
import json
import math
import os
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from dramaturg.errors import ContentError, ModelFileError, UserError
from dramaturg.model import Message, parse_spec
from dramaturg.model.embedded import LocalServer, open_local
from dramaturg.model.gguf import read_gguf
from dramaturg.model.registry import cache_folder, file_digest
from dramaturg.train.adapter import Metadata, write_gguf_adapter
from dramaturg.train.checkpoint import read_facts_of
from dramaturg.train.config import TrainingConfig
from dramaturg.train.example import ExampleRow
from dramaturg.train.export import export_gguf, export_merged, export_peft
from dramaturg.train.loading import ChatTokens, find_base, load_weights
from dramaturg.train.material import ids_of
from dramaturg.train.training import train
from train_run_fixtures import example, write_base, write_data

for _module in ("torch", "transformers", "peft", "gguf", "psutil", "xllamacpp"):
    pytest.importorskip(_module)
pytestmark = pytest.mark.filterwarnings("default")  # torch and its friends deprecate each other's functions

torch: Any = importlib.import_module("torch")
peft: Any = importlib.import_module("peft")

CHAT = [Message("system", "Say yes or no."), Message("user", "b0: lamp, coin, book, rope. lamp?")]
NUMERALS = "½ of ², ٣ or 12,345: 'Zoë' said “no” — 你好 😀\n\n  indented\ttext"


@dataclass(frozen=True)
class Run:
    base: Path
    data: Path
    out: Path


def trained(folder: Path, base: Path, data: Path, **changes: Any) -> Run:
    settings = {
        "base": str(base),
        "data": data,
        "out": folder / "out",
        "epochs": 6,
        "accumulation": 4,
        "learning_rate": 0.01,
        "threads": 1,
        "device": "cpu",
    }
    train(TrainingConfig.model_validate({**settings, **changes}), lambda event: None)
    return Run(base, data, folder / "out")


@pytest.fixture(scope="module", params=["llama", "qwen2"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp(str(request.param))
    base = write_base(folder / "tiny.gguf", architecture=str(request.param))
    return trained(folder, base, write_data(folder / "data"))


@pytest.fixture
async def opened() -> AsyncIterator[list[LocalServer]]:
    servers: list[LocalServer] = []
    yield servers
    for server in servers:
        await server.close()


async def _post(server: LocalServer, path: str, **body: Any) -> Any:
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{await server.address()}{path}", json=body) as response,
    ):
        return await response.json()


async def _served_logprobs(server: LocalServer, tokens: Sequence[int], top: int) -> dict[int, float]:
    answer = await _post(
        server, "/completion", prompt=list(tokens), n_predict=1, n_probs=top, temperature=0, cache_prompt=False
    )
    return {one["id"]: one["logprob"] for one in answer["completion_probabilities"][0]["top_logprobs"]}


def _logprobs(model: Any, tokens: Sequence[int]) -> Any:
    with torch.no_grad():
        return torch.log_softmax(model(input_ids=torch.tensor([list(tokens)])).logits[0, -1].float(), -1)


def _base_model(base: Path) -> Any:
    return load_weights(find_base(str(base)), torch.float32, "cpu").eval()


def _tuned_model(run: Run, folder: Path) -> Any:
    export_peft(run.out, folder)
    return peft.PeftModel.from_pretrained(_base_model(run.base), str(folder)).eval()


async def _differences(server: LocalServer, model: Any, prompts: Sequence[Sequence[int]], top: int) -> list[float]:
    """Returns how far the likeliest tokens' log-probabilities lie apart, here and served."""
    found: list[float] = []
    for tokens in prompts:
        here = _logprobs(model, tokens)
        served = await _served_logprobs(server, tokens, top)
        found += [abs(served[token] - float(here[token])) for token in served]
    return found


def _prompts(base: Path) -> list[list[int]]:
    chat = ChatTokens(find_base(str(base)))
    whole = [*chat.prompt(CHAT), *chat.answer("yes")]
    return [whole[:end] for end in range(len(chat.prompt(CHAT)) - 3, len(whole))]


async def test_an_exported_adapter_has_the_log_probabilities_that_were_trained(
    run: Run, tmp_path: Path, opened: list[LocalServer]
) -> None:
    adapter = tmp_path / "adapter.gguf"
    export_gguf(run.out, adapter, stored="f32")
    prompts = _prompts(run.base)
    tuned = _tuned_model(run, tmp_path / "peft")
    opened.append(await open_local(parse_spec(f"gguf:{run.base}+{adapter}?threads=1&slots=1")))
    apart = await _differences(opened[0], tuned, prompts, 20)
    effect = await _differences(opened[0], _base_model(run.base), prompts, 20)
    assert max(apart) < 0.02, "what llama.cpp rounds in its cache of keys and values"
    assert max(effect) > 50 * max(apart), "and far less than what was learnt"


async def test_the_served_chat_has_the_tokens_that_were_trained_on(run: Run, opened: list[LocalServer]) -> None:
    opened.append(await open_local(parse_spec(f"gguf:{run.base}?threads=1&slots=1")))
    await _assert_same_tokens(opened[0], ChatTokens(find_base(str(run.base))), [CHAT])


async def _assert_same_tokens(server: LocalServer, chat: ChatTokens, chats: Sequence[Sequence[Message]]) -> None:
    for messages in chats:
        listed = [{"role": one.role, "content": one.text} for one in messages]
        prompt = (await _post(server, "/apply-template", messages=listed))["prompt"]
        served = await _post(server, "/tokenize", content=prompt, add_special=True, parse_special=True)
        assert tuple(served["tokens"]) == chat.prompt(messages)
        for answer in ("yes", "No: 12 of them, Zoë.\n\nWhy?"):
            served = await _post(server, "/tokenize", content=prompt + answer, add_special=True, parse_special=True)
            *tokens, _ = (*chat.prompt(messages), *chat.answer(answer))
            assert served["tokens"] == tokens


def test_an_adapter_says_what_it_is_for_and_what_it_was_trained_on(run: Run, tmp_path: Path) -> None:
    export_gguf(run.out, tmp_path / "adapter.gguf")
    facts = read_gguf(tmp_path / "adapter.gguf")
    assert facts.kind == "adapter" and facts.bases == ("tiny.gguf",)
    assert facts.base_digests == (file_digest(run.base),)
    assert facts.trained_on == ("a0", "a1", "a2", "a3", "a4", "a5", "b0", "b1", *(f"t-{s}{n}" for s, n in _SOURCES))
    half = (tmp_path / "adapter.gguf").stat().st_size
    export_gguf(run.out, tmp_path / "whole.gguf", stored="f32")
    assert half < 0.7 * (tmp_path / "whole.gguf").stat().st_size


def test_a_big_set_lists_scenes_and_transcripts_alone_and_is_exported(run: Run, tmp_path: Path) -> None:
    places = [f"world-scene-{n % 40}-{n % 400:016x}/character:ada-finch/act/T{n}" for n in range(15_000)]
    rows = [example(f"scene-{n % 40}", n, source=place) for n, place in enumerate(places)]
    ids = ids_of([ExampleRow.model_validate(row).example for row in rows])
    assert len(ids) == 440 and "world-scene-0-0000000000000000" in ids
    facts = read_facts_of(run.out).model_copy(update={"trained_on": ids})
    write_gguf_adapter(tmp_path / "a.gguf", {}, facts, Metadata("a", "b", []), "f16")
    assert read_gguf(tmp_path / "a.gguf").trained_on == ids


_SOURCES = [*(("a", n) for n in range(6)), ("b", 0), ("b", 1)]


async def test_an_adapter_for_another_base_is_refused(run: Run, tmp_path: Path, opened: list[LocalServer]) -> None:
    adapter = tmp_path / "adapter.gguf"
    export_gguf(run.out, adapter)
    other = tmp_path / "other.gguf"
    other.write_bytes(run.base.read_bytes()[:-4] + b"\x00\x00\x80\x3f")
    with pytest.raises(ModelFileError, match=r"adapter\.gguf: is an adapter for another base: made for the file"):
        await open_local(parse_spec(f"gguf:{other}+{adapter}"))
    export_gguf(run.out, adapter, beside=[other])
    opened.append(await open_local(parse_spec(f"gguf:{other}+{adapter}?threads=1&slots=1")))
    assert opened[0].facts.extra["trained_on"] == list(read_gguf(adapter).trained_on)
    with pytest.raises(ModelFileError, match="is no model of 2 layers"):
        export_gguf(run.out, adapter, beside=[adapter])


def test_merged_weights_are_the_tuned_model_and_its_tokenizer(run: Run, tmp_path: Path) -> None:
    export_merged(run.out, tmp_path / "merged")
    tuned = _tuned_model(run, tmp_path / "peft")
    merged = load_weights(find_base(str(tmp_path / "merged")), torch.float32, "cpu").eval()
    (tokens, *_) = _prompts(run.base)
    assert torch.allclose(_logprobs(tuned, tokens), _logprobs(merged, tokens), atol=1e-4)
    if read_gguf(run.base).architecture == "llama":  # no Qwen has a tokenizer like the tiny one's
        saved, own = (ChatTokens(find_base(str(base))) for base in (tmp_path / "merged", run.base))
        assert saved.prompt(CHAT) == own.prompt(CHAT)


async def test_a_folder_is_a_base_and_its_adapter_must_know_a_file(run: Run, tmp_path: Path) -> None:
    export_merged(run.out, tmp_path / "merged")
    again = trained(tmp_path, tmp_path / "merged", run.data, epochs=1)
    with pytest.raises(ContentError, match="--beside"):
        export_gguf(again.out, tmp_path / "adapter.gguf")
    export_gguf(again.out, tmp_path / "adapter.gguf", beside=[run.base])
    assert read_gguf(tmp_path / "adapter.gguf").base_digests == (file_digest(run.base),)


def test_what_is_no_run_is_not_exported(tmp_path: Path) -> None:
    with pytest.raises(ContentError, match="holds no training run"):
        export_peft(tmp_path, tmp_path / "peft")
    (tmp_path / "run.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UserError, match="is no record of a training run"):
        export_gguf(tmp_path, tmp_path / "adapter.gguf")


def test_a_torn_checkpoint_is_one_line(run: Run, tmp_path: Path) -> None:
    for name in ("run.json", "best.pt"):
        data = (run.out / name).read_bytes()
        (tmp_path / name).write_bytes(data if name == "run.json" else data[: len(data) // 2])
    with pytest.raises(ContentError, match=r"best\.pt: is no checkpoint") as caught:
        export_peft(tmp_path, tmp_path / "peft")
    assert "\n" not in str(caught.value)


SMOLLM2 = os.environ.get("DRAMATURG_SMOLLM2", "")


@pytest.mark.embedded
@pytest.mark.skipif(not SMOLLM2, reason="DRAMATURG_SMOLLM2 names no file")
async def test_the_embedded_model_is_trained_and_served_with_its_adapter(
    tmp_path: Path, opened: list[LocalServer]
) -> None:
    models = cache_folder() / "models"
    models.mkdir(parents=True, exist_ok=True)
    (models / "smollm2-135m.gguf").symlink_to(Path(SMOLLM2).resolve())
    base = models / "smollm2-135m.gguf"
    data = write_data(tmp_path / "data", train=[example(f"a{i}", n) for i in range(4) for n in range(2)])
    settings: dict[str, Any] = {"epochs": 2, "accumulation": 4, "learning_rate": 1e-3, "together": 2}
    run = trained(tmp_path, Path("embedded:smollm2-135m"), data, **settings)
    log = [json.loads(line) for line in (run.out / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    held_out = [line["held_out_loss"] for line in log if "held_out_loss" in line]
    assert held_out[-1] < 0.8 * held_out[0]

    adapter = tmp_path / "adapter.gguf"
    export_gguf(run.out, adapter)
    opened.append(await open_local(parse_spec("embedded:smollm2-135m?threads=1&slots=1&context_tokens=1024")))
    opened.append(
        await open_local(parse_spec(f"embedded:smollm2-135m+{adapter}?threads=1&slots=1&context_tokens=1024"))
    )
    chats = [CHAT, CHAT[1:], [*CHAT, Message("assistant", NUMERALS), Message("user", NUMERALS)]]
    await _assert_same_tokens(opened[0], ChatTokens(find_base(str(base))), chats)

    prompts = _prompts(base)
    plain = _base_model(base)
    noise = _rms(await _differences(opened[0], plain, prompts, 10))
    effect = _rms(await _differences(opened[1], plain, prompts, 10))
    tuned = _tuned_model(Run(base, data, run.out), tmp_path / "peft")
    apart = _rms(await _differences(opened[1], tuned, prompts, 10))
    assert apart < max(2 * noise, 0.1), f"quantised {noise:.3f}, with the adapter {apart:.3f}"
    assert effect > 5 * apart, f"learnt {effect:.3f}, apart {apart:.3f}"


def _rms(differences: Sequence[float]) -> float:
    return math.sqrt(math.fsum(one * one for one in differences) / len(differences))
