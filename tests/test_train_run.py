"""A model is trained: the loss falls, an interrupted run goes on as if nothing had happened, bad input is one line."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dramaturg.errors import ContentError, RunChangedError, UserError
from dramaturg.model import Message
from dramaturg.model.registry import file_digest
from dramaturg.train.batching import alone, pack
from dramaturg.train.checkpoint import read_facts_of
from dramaturg.train.config import TrainingConfig, load_training_config
from dramaturg.train.estimate import Estimate
from dramaturg.train.learner import Learner, NotANumberError
from dramaturg.train.loading import ChatTokens, find_base
from dramaturg.train.material import in_tokens, read_splits
from dramaturg.train.training import Ended, Event, HeldOut, Prepared, Stepped, train
from gguf_files import write_adapter
from train_run_fixtures import CHAT_THAT_DROPS_SYSTEM, CHAT_WITHOUT_SYSTEM, example, write_base, write_data

for _module in ("torch", "transformers", "peft", "gguf", "psutil"):
    pytest.importorskip(_module)
pytestmark = pytest.mark.filterwarnings("default")  # torch and its friends deprecate each other's functions

Lines = Sequence[Mapping[str, Any]]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_base(tmp_path_factory.mktemp("base") / "tiny.gguf")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("data"))


def configured(base: Path, data: Path, out: Path, **changes: Any) -> TrainingConfig:
    settings = {
        "base": str(base),
        "data": data,
        "out": out,
        "epochs": 6,
        "accumulation": 4,
        "learning_rate": 0.02,
        "threads": 1,
        "patience": 0,
        "checkpoint_every": 3,
        "device": "cpu",
    }
    return TrainingConfig.model_validate({**settings, **changes})


def trained(config: TrainingConfig) -> tuple[Ended, list[Event]]:
    events: list[Event] = []
    return train(config, events.append), events


def log_of(out: Path) -> Lines:
    return [json.loads(line) for line in (out / "log.jsonl").read_text(encoding="utf-8").splitlines()]


def refusal(config: TrainingConfig, kind: type[UserError] = ContentError) -> str:
    with pytest.raises(kind) as caught:
        trained(config)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_the_loss_falls_and_everything_is_told(base: Path, data: Path, tmp_path: Path) -> None:
    ended, events = trained(configured(base, data, tmp_path))
    assert (ended.step, ended.steps) == (36, 36)
    assert ended.best_loss < 0.5 * ended.base_loss
    assert [type(event) for event in events[:3]] == [Prepared, Estimate, HeldOut]
    assert [event.step for event in events if isinstance(event, Stepped)] == list(range(1, 37))
    steps = [line for line in log_of(tmp_path) if "loss" in line]
    assert [line["step"] for line in steps] == list(range(1, 37))
    assert steps[-1]["loss"] < steps[0]["loss"]
    estimate = next(event for event in events if isinstance(event, Estimate))
    assert estimate.seconds > 0 and estimate.memory_bytes > 50_000_000
    again, events = trained(configured(base, data, tmp_path))
    assert again.held_out_loss == ended.held_out_loss
    assert not any(isinstance(event, Stepped) for event in events)


def _learner(base: Path, data: Path, out: Path, **changes: Any) -> tuple[Learner, Any]:
    config = configured(base, data, out, **changes)
    chat = ChatTokens(find_base(config.base))
    material = in_tokens(read_splits(data), chat, config.cutoff, str(data))
    return Learner(find_base(config.base), config), material


def test_packed_examples_have_the_losses_that_they_have_alone(base: Path, data: Path, tmp_path: Path) -> None:
    learner, material = _learner(base, data, tmp_path)
    rows = pack(material.train, 10_000)
    assert len(rows) == 1 and len(rows[0]) < sum(map(len, material.train))
    packed, apart = learner.mean_loss(rows), learner.mean_loss(alone(material.train))
    assert packed == pytest.approx(apart, rel=1e-5)
    learner.prove_packing(material.train)


def test_a_packed_training_is_the_same_training(base: Path, data: Path, tmp_path: Path) -> None:
    packed, _ = trained(configured(base, data, tmp_path / "packed", epochs=2))
    apart, _ = trained(configured(base, data, tmp_path / "apart", epochs=2, packing=False))
    assert packed.held_out_loss == pytest.approx(apart.held_out_loss, rel=1e-3)
    assert packed.held_out_loss != packed.base_loss


def test_recomputing_changes_nothing(base: Path, data: Path, tmp_path: Path) -> None:
    kept, _ = trained(configured(base, data, tmp_path / "kept", epochs=1))
    recomputed, _ = trained(configured(base, data, tmp_path / "recomputed", epochs=1, recompute=True))
    assert recomputed.held_out_loss == pytest.approx(kept.held_out_loss, rel=1e-4)


def test_only_the_layers_at_the_top_learn_where_asked(base: Path, data: Path, tmp_path: Path) -> None:
    learner, _ = _learner(base, data, tmp_path, lora={"last_layers": 1})
    names = list(learner.adapter())
    assert names and all(".layers.1." in name for name in names)


def test_a_run_goes_on_from_the_adapter_of_another(base: Path, data: Path, tmp_path: Path) -> None:
    first, _ = trained(configured(base, data, tmp_path / "first", epochs=2))
    second, _ = trained(configured(base, data, tmp_path / "second", epochs=1, start_from=tmp_path / "first"))
    assert second.base_loss == pytest.approx(first.best_loss, rel=1e-4)
    facts = read_facts_of(tmp_path / "second")
    assert facts.settings["start_from"] != ""
    assert set(read_facts_of(tmp_path / "first").trained_on) <= set(facts.trained_on)
    other = configured(base, data, tmp_path / "other", start_from=tmp_path / "first", lora={"rank": 2})
    assert "its lora is" in refusal(other)
    (tmp_path / "first" / "best.pt").unlink()
    assert "has no adapter yet" in refusal(configured(base, data, tmp_path / "third", start_from=tmp_path / "first"))
    none = refusal(configured(base, data, tmp_path / "third", start_from=tmp_path / "nowhere"))
    assert "holds no training run" in none


def test_a_run_goes_on_though_the_one_that_it_started_from_is_gone(base: Path, data: Path, tmp_path: Path) -> None:
    trained(configured(base, data, tmp_path / "first", epochs=2))
    config = configured(base, data, tmp_path / "second", epochs=1, start_from=tmp_path / "first")
    ended, _ = trained(config)
    (tmp_path / "first" / "best.pt").write_bytes((tmp_path / "first" / "last.pt").read_bytes())  # it went on
    again, _ = trained(config)
    assert again == replace(ended, seconds=0.0, peak_memory_bytes=again.peak_memory_bytes)
    other, _ = trained(configured(base, data, tmp_path / "other", epochs=1))
    assert other.step > 0
    elsewhere = configured(base, data, tmp_path / "second", epochs=1, start_from=tmp_path / "other")
    assert "start_run" in refusal(elsewhere, RunChangedError)
    shutil.rmtree(tmp_path / "first")
    assert trained(config)[0].held_out_loss == ended.held_out_loss


KILLED = """
import sys
from pathlib import Path
from dramaturg.train.config import load_training_config
from dramaturg.train.training import Stepped, train

def watch(event):
    if isinstance(event, Stepped):
        print(event.step, flush=True)

train(load_training_config(Path(sys.argv[1])), watch)
"""


def _write_config(path: Path, config: TrainingConfig) -> Path:
    path.write_text(config.model_dump_json(), encoding="utf-8")  # JSON is YAML
    return path


def test_a_killed_run_goes_on_as_if_nothing_had_happened(base: Path, data: Path, tmp_path: Path) -> None:
    lora = {"dropout": 0.2}
    unbroken, _ = trained(configured(base, data, tmp_path / "unbroken", lora=lora))
    config = _write_config(tmp_path / "c.yaml", configured(base, data, tmp_path / "killed", lora=lora))
    with subprocess.Popen([sys.executable, "-c", KILLED, str(config)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) == 20:
                process.send_signal(signal.SIGKILL)
                break
    ended, events = trained(load_training_config(config))
    prepared = next(event for event in events if isinstance(event, Prepared))
    assert 15 <= prepared.resumed_at < 36
    assert ended.held_out_loss == pytest.approx(unbroken.held_out_loss, abs=1e-3)
    assert [line["step"] for line in log_of(tmp_path / "killed") if "loss" in line] == list(range(1, 37))


def test_ctrl_c_keeps_the_steps_that_were_made(base: Path, data: Path, tmp_path: Path) -> None:
    config = configured(base, data, tmp_path, checkpoint_every=1000)
    seen: list[int] = []

    def watch(event: Event) -> None:
        if isinstance(event, Stepped):
            seen.append(event.step)
            if event.step == 4:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(config, watch)
    _, events = trained(config)
    assert next(event for event in events if isinstance(event, Prepared)).resumed_at == 4


def test_another_configuration_is_another_run(base: Path, data: Path, tmp_path: Path) -> None:
    trained(configured(base, data, tmp_path / "out", epochs=1))
    text = refusal(configured(base, data, tmp_path / "out", epochs=1, learning_rate=0.01), RunChangedError)
    assert "learning_rate was 0.02, is 0.01" in text
    others = write_data(tmp_path / "data", train=[example("a0", n) for n in range(8)])
    assert "train.jsonl was" in refusal(configured(base, others, tmp_path / "out", epochs=1), RunChangedError)
    trained(configured(base, data, tmp_path / "out", epochs=1, threads=2, checkpoint_every=1))


def test_another_device_or_precision_is_another_run(base: Path, data: Path, tmp_path: Path) -> None:
    config = configured(base, data, tmp_path / "out", epochs=1, device="auto")
    trained(config)
    record = tmp_path / "out" / "run.json"
    settings = read_facts_of(tmp_path / "out").settings
    assert settings["device"] in {"cpu", "cuda"} and settings["dtype"] in {"float32", "bfloat16"}
    trained(configured(base, data, tmp_path / "out", epochs=1, device=settings["device"], dtype=settings["dtype"]))

    def recorded(**changes: str) -> None:
        held = json.loads(record.read_text(encoding="utf-8"))
        held["settings"] |= changes
        record.write_text(json.dumps(held), encoding="utf-8")

    recorded(device="tpu", dtype="float16")
    text = refusal(config, RunChangedError)
    assert f'device was "tpu", is "{settings["device"]}", dtype was "float16", is "{settings["dtype"]}"' in text
    recorded(device="auto", dtype="auto")  # as older records have it
    trained(config)


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "merges.txt"])
def test_a_folder_with_other_tokens_or_another_chat_is_another_base(tmp_path: Path, name: str) -> None:
    for file in ("config.json", "model.safetensors", name, "README.md"):
        (tmp_path / file).write_text("{}", encoding="utf-8")
    before = find_base(str(tmp_path)).digest
    (tmp_path / "README.md").write_text("other", encoding="utf-8")
    assert find_base(str(tmp_path)).digest == before
    (tmp_path / name).write_text("other", encoding="utf-8")
    assert find_base(str(tmp_path)).digest != before


def test_a_gguf_base_is_known_by_its_file_alone(base: Path) -> None:
    assert find_base(str(base)).digest == file_digest(base)


def test_training_stops_when_the_held_out_loss_falls_no_more(base: Path, tmp_path: Path) -> None:
    turned = [example("b0", n, messages=_answered(example("b0", n), "never")) for n in range(4)]
    data = write_data(tmp_path / "data", validation=turned)
    ended, _ = trained(configured(base, data, tmp_path / "out", evaluate_every=1, patience=2, epochs=50))
    assert ended.step < ended.steps
    assert ended.best_step <= ended.step - 2


def _answered(line: dict[str, Any], answer: str) -> list[dict[str, str]]:
    return [*line["messages"][:-1], {"role": "assistant", "content": answer}]


def test_examples_over_the_cutoff_are_counted_and_left_out(base: Path, tmp_path: Path) -> None:
    long = example("a9", 0, messages=_answered(example("a9", 0), "yes " * 300))
    data = write_data(tmp_path / "data", train=[long, *(example("a0", n) for n in range(8))])
    _, events = trained(configured(base, data, tmp_path / "out", epochs=1, cutoff=200))
    prepared = next(event for event in events if isinstance(event, Prepared))
    assert (prepared.material.too_long, len(prepared.material.train)) == (1, 8)
    text = refusal(configured(base, data, tmp_path / "other", cutoff=16))
    assert "longer than the cutoff of 16 tokens" in text and "a cutoff of at least" in text


def test_a_set_that_teaches_nothing_is_refused(base: Path, tmp_path: Path) -> None:
    empty = write_data(tmp_path / "empty", train=[])
    assert refusal(configured(base, empty, tmp_path / "out")).endswith("train.jsonl: holds no example")
    same = [example("a0", n, messages=_answered(example("a0", n), "Yes")) for n in range(3)]
    one_class = write_data(tmp_path / "same", train=same)
    assert "all 3 answers are the same ('yes')" in refusal(configured(base, one_class, tmp_path / "out"))
    (tmp_path / "none").mkdir()
    assert "there is no train.jsonl" in refusal(configured(base, tmp_path / "none", tmp_path / "out"))
    weightless = write_data(tmp_path / "weight", train=[example("a0", n, weight=0) for n in range(8)])
    assert "weight: 0.0 is no weight" in refusal(configured(base, weightless, tmp_path / "out"))


def test_a_split_that_leaks_is_refused(base: Path, tmp_path: Path) -> None:
    data = write_data(tmp_path / "data", validation=[example("a1", 7)])
    assert "the split leaks: the scene 'a1'" in refusal(configured(base, data, tmp_path / "out"))


@pytest.mark.parametrize("chat", [CHAT_WITHOUT_SYSTEM, CHAT_THAT_DROPS_SYSTEM])
def test_without_a_system_role_the_prompt_stands_in_the_first_user_message(tmp_path: Path, chat: str) -> None:
    folded = [Message("user", "Say no.\n\nDo you?")]
    asked = [Message("system", "Say no."), Message("user", "Do you?")]
    template = ChatTokens(find_base(str(write_base(tmp_path / "a.gguf", chat=chat))))
    assert template.prompt(asked) == template.prompt(folded)
    (note,) = template.notes
    assert "takes no system" in note and "the system prompt stands in the first user message" in note
    usual = ChatTokens(find_base(str(write_base(tmp_path / "b.gguf"))))
    assert usual.prompt(asked) != usual.prompt(folded) and not usual.notes


def test_a_loss_that_is_no_number_stops_and_the_last_good_checkpoint_stands(
    base: Path, data: Path, tmp_path: Path
) -> None:
    config = configured(base, data, tmp_path / "out", lora={"alpha": 1e20}, learning_rate=1.0, checkpoint_every=1)
    text = refusal(config, NotANumberError)
    assert "at step 2" in text or "at step 3" in text
    assert "the checkpoint before it and the best adapter, of step 0, stand" in text
    assert (tmp_path / "out" / "last.pt").exists() and (tmp_path / "out" / "best.pt").exists()


@pytest.mark.parametrize(("packing", "whose"), [(True, "the base's loss"), (False, "the base's held-out loss")])
def test_a_base_whose_loss_is_no_number_is_named_and_nothing_is_kept(
    data: Path, tmp_path: Path, packing: bool, whose: str
) -> None:
    broken = write_base(tmp_path / "broken.gguf", bad=True)
    text = refusal(configured(broken, data, tmp_path / "out", packing=packing), NotANumberError)
    assert f"broken.gguf: {whose} is not a number (nan), before anything was learnt" in text
    assert "checkpoint" not in text and "learning_rate" not in text
    assert not list((tmp_path / "out").glob("*.pt"))


FULL = """
import resource, sys
from pathlib import Path
from dramaturg.errors import UserError
from dramaturg.train.config import load_training_config
from dramaturg.train.training import Stepped, train

def watch(event):
    if isinstance(event, Stepped) and event.step == 4:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

try:
    train(load_training_config(Path(sys.argv[1])), watch)
except UserError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits the size of files")
def test_a_full_disk_leaves_the_checkpoint_before(base: Path, data: Path, tmp_path: Path) -> None:
    config = _write_config(tmp_path / "c.yaml", configured(base, data, tmp_path / "out"))
    done = subprocess.run([sys.executable, "-c", FULL, str(config)], capture_output=True, text=True, check=True)
    assert "the checkpoint of step 6 (" in done.stdout and "that of step 3 stands" in done.stdout
    assert not list((tmp_path / "out").glob("*.part"))
    _, events = trained(load_training_config(config))
    assert next(event for event in events if isinstance(event, Prepared)).resumed_at == 3


def test_two_processes_do_not_train_in_one_folder(base: Path, data: Path, tmp_path: Path) -> None:
    config = configured(base, data, tmp_path / "out", epochs=1)
    seen: list[str] = []

    def watch(event: Event) -> None:
        if isinstance(event, Prepared):
            seen.append(refusal(config, UserError))

    train(config, watch)
    assert seen[0].endswith("another process trains here")


def test_a_base_that_is_none_is_refused(base: Path, data: Path, tmp_path: Path) -> None:
    adapter = write_adapter(tmp_path / "lora.gguf")
    assert "is an adapter, no model" in refusal(configured(adapter, data, tmp_path / "out"), UserError)
    nowhere = tmp_path / "nowhere.gguf"
    assert "nowhere.gguf: cannot be read" in refusal(configured(nowhere, data, tmp_path / "out"), UserError)
    nothing = tmp_path / "nothing"
    assert "there is no such base" in refusal(configured(nothing, data, tmp_path / "out"), UserError)


@pytest.mark.parametrize(
    ("targets", "named"), [(["w_q"], "'w_q'"), (["q_proj", "v_prj"], "'v_prj'"), (["model.norm"], "'model.norm'")]
)
def test_a_target_that_names_no_layer_is_refused(
    base: Path, data: Path, tmp_path: Path, targets: list[str], named: str
) -> None:
    text = refusal(configured(base, data, tmp_path / "out", lora={"targets": targets}))
    assert f"lora.targets: the base has no layer {named} (" in text
    assert "down_proj, gate_proj, k_proj, o_proj, q_proj, up_proj, v_proj" in text


def test_a_configuration_is_seen_from_its_own_folder(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("base: embedded:smollm2-135m\ndata: sets/judge\nout: runs/judge\n", encoding="utf-8")
    config = load_training_config(path)
    assert (config.data, config.out) == (tmp_path / "sets/judge", tmp_path / "runs/judge")
    assert (config.learning_rate, config.cutoff, config.warmup_steps, config.accumulation) == (5e-5, 8192, 20, 16)
    path.write_text("base: x\ndata: y\nout: z\nlearning_rat: 1\n", encoding="utf-8")
    with pytest.raises(ContentError, match=r"c\.yaml:4: unknown key 'learning_rat' \(did you mean 'learning_rate'"):
        load_training_config(path)


@pytest.mark.parametrize(
    "line",
    [
        "lora: {alpha: .inf}",
        "lora: {alpha: .nan}",
        "max_grad_norm: .inf",
        "max_grad_norm: .nan",
        "seed: -1",
        "seed: 2147483648",
        "threads: 1025",
    ],
)
def test_a_number_that_no_run_can_take_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(f"base: x\ndata: y\nout: z\n{line}\n", encoding="utf-8")
    with pytest.raises(ContentError, match=r"c\.yaml:4: "):
        load_training_config(path)


def test_the_terminal_tells_a_run_and_names_what_is_next(base: Path, data: Path, tmp_path: Path) -> None:
    config = _write_config(tmp_path / "c.yaml", configured(base, data, tmp_path / "out", epochs=1))
    code = "import sys; from dramaturg.cli.train_run import run; from pathlib import Path; run(Path(sys.argv[1]))"
    environment = {**os.environ, "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(config)], capture_output=True, text=True, check=True, env=environment
    )
    assert "24 examples to learn from, 8 held out" in done.stderr
    assert "6 steps will take about" in done.stderr and "GB of memory (1 thread)" in done.stderr
    assert "step 6/6: loss" in done.stderr
    assert "Warning" not in done.stderr and "it/s" not in done.stderr
    assert done.stdout.splitlines()[-1].startswith("next: dramaturg train export ")
