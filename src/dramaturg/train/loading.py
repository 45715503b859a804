"""Opens a base model for training: its weights, and its chat in tokens.

Everything of the extra ``train`` is imported here and nowhere at import time: the other rooms work without it. Of a
GGUF file the weights are dequantised by transformers; the adapter is learnt beside what llama.cpp really computes with.
"""

from __future__ import annotations

import importlib
import io
import warnings
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dramaturg.errors import ContentError, MissingExtraError, ModelFileError
from dramaturg.model import Message, Request
from dramaturg.model.capabilities import Capabilities
from dramaturg.model.gguf import read_gguf
from dramaturg.model.local_files import find_local
from dramaturg.model.registry import file_digest
from dramaturg.model.spec import parse_spec
from dramaturg.model.wire import body_of
from dramaturg.text import canonical_json, sha256
from dramaturg.train.config import LoraConfig

_FILES = (
    *("*.safetensors", "*.bin", "config.json"),
    *("tokenizer*", "*.model", "vocab*", "merges.txt", "added_tokens.json", "special_tokens_map.json"),
    *("chat_template*", "*.jinja"),
)
"""What decides a folder's result: weights, tokens, and the form of the chat."""

_LOCAL = ("embedded:", "gguf:", "hf:")
_PROBE = "Speak."
_ANSWER = "Spoken."
_ANCHOR = "\n"


def needed(module: str) -> Any:
    """Returns a module of the extra ``train``.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != module.partition(".")[0]:
            raise
        raise MissingExtraError("training", "train") from None


@contextmanager
def quiet() -> Generator[None]:
    """Keeps what libraries write beside their results, bars and warnings, out of the terminal."""
    with redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@dataclass(frozen=True, slots=True)
class Base:
    """Where a base model is.

    Attributes:
        name: As it was asked for.
        source: A folder, or a name on a hub.
        gguf: Name of the GGUF file in the folder; empty where the weights are in another form.
        digest: SHA-256 of the GGUF file, or of what the folder holds; empty for a hub's.
    """

    name: str
    source: str
    gguf: str
    digest: str

    @property
    def file(self) -> Path | None:
        """The GGUF file, if it is one."""
        return Path(self.source) / self.gguf if self.gguf else None

    @property
    def weights(self) -> int | None:
        """How many weights it has, where that is known before they are loaded."""
        if self.file is not None:
            return read_gguf(self.file).parameters
        sizes = [path.stat().st_size for path in Path(self.source).glob("*.safetensors")]
        return sum(sizes) // 2 if sizes else None


def find_base(name: str) -> Base:
    """Returns where a base is; of a hub's GGUF file, the first call fetches it.

    Args:
        name: ``embedded:NAME``, ``gguf:PATH``, ``hf:REPO/FILE``, a GGUF file, a folder, or a name on a hub.

    Raises:
        UserError: It is not there, is torn, or is an adapter.
    """
    path = Path(name).expanduser()
    if name.startswith(_LOCAL) or path.suffix == ".gguf":
        files = find_local(parse_spec(name if name.startswith(_LOCAL) else f"gguf:{name}"))
        if files.adapter is not None:
            raise ModelFileError("is a base with an adapter", where=name, allowed="a base alone")
        if read_gguf(files.model).kind != "model":
            raise ModelFileError("is an adapter, no model", where=str(files.model))
        return Base(name, str(files.model.parent), files.model.name, file_digest(files.model))
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise ModelFileError("holds no config.json", where=str(path), allowed="a folder that transformers wrote")
        found = sorted({file for pattern in _FILES for file in path.glob(pattern) if file.is_file()})
        return Base(name, str(path), "", sha256(canonical_json({file.name: file_digest(file) for file in found})))
    if path.is_absolute() or name.startswith(".") or name.count("/") != 1:
        allowed = "embedded:NAME, a GGUF file, a folder of weights, or OWNER/NAME of a hub"
        raise ModelFileError("there is no such base", where=name, allowed=allowed)
    return Base(name, name, "", "")


def load_weights(base: Base, dtype: Any, device: str) -> Any:
    """Returns the model, frozen, on its device.

    Args:
        base: Where it is.
        dtype: Of torch.
        device: ``cpu`` or ``cuda``.

    Raises:
        MissingExtraError: The extra ``train`` is not installed.
        ModelFileError: It cannot be loaded; the message says why.
    """
    transformers = _transformers()
    try:
        with quiet():
            model = transformers.AutoModelForCausalLM.from_pretrained(
                base.source, dtype=dtype, attn_implementation="sdpa", **_gguf(base)
            )
    except (OSError, ValueError, KeyError, NotImplementedError) as error:
        raise _unloadable(base, error) from None
    model.requires_grad_(False)
    return model.to(device)


def add_adapter(model: Any, lora: LoraConfig) -> Any:
    """Returns the model with a fresh adapter, drawn from torch's generator.

    Raises:
        ContentError: The model has no such layers.
    """
    peft = needed("peft")
    layers = model.config.get_text_config().num_hidden_layers
    last = None if lora.last_layers is None else list(range(layers))[-lora.last_layers :]
    wanted = peft.LoraConfig(
        task_type="CAUSAL_LM",
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=list(lora.targets),
        layers_to_transform=last,
    )
    try:
        with quiet():
            return peft.get_peft_model(model, wanted)
    except ValueError:
        raise _no_targets(model, lora.targets) from None


def refuse_missing_targets(model: Any, lora: LoraConfig) -> None:
    """Proves that each target names a layer: an adapter is made of those that do, and the others are passed over.

    Raises:
        ContentError: One names none.
    """
    layers = [f".{name}" for name, part in model.named_modules() if not any(part.children())]
    missing = [target for target in lora.targets if not any(name.endswith(f".{target}") for name in layers)]
    if missing:
        raise _no_targets(model, missing)


def _no_targets(model: Any, targets: Sequence[str]) -> ContentError:
    linear = {name.rpartition(".")[2] for name, part in model.named_modules() if hasattr(part, "in_features")}
    allowed = ", ".join(sorted(linear - {"lm_head"}))
    return ContentError(f"lora.targets: the base has no layer {', '.join(map(repr, targets))}", allowed=allowed)


class ChatTokens:
    """A base's chat template and tokens, as llama.cpp's server has them: one token of beginning where the base has any.

    Attributes:
        tokenizer: Of transformers.
        notes: What is done in another form than asked, for the log.
    """

    def __init__(self, base: Base) -> None:
        """Opens the tokenizer.

        Raises:
            MissingExtraError: The extra ``train`` is not installed.
            ModelFileError: It cannot be loaded, or has no chat template.
        """
        transformers = _transformers()
        try:
            with quiet():
                self.tokenizer: Any = transformers.AutoTokenizer.from_pretrained(base.source, **_gguf(base))
        except (OSError, ValueError, KeyError, NotImplementedError) as error:
            raise _unloadable(base, error) from None
        if not self.tokenizer.chat_template:
            raise ModelFileError("has no chat template", where=base.name, allowed="a base that was taught to chat")
        if base.file is not None and read_gguf(base.file).pre_tokenizer == "smollm":
            self._split_digits()
        self._name = base.name
        self._capabilities = Capabilities()
        first = self.tokenizer(_ANCHOR)["input_ids"][0]
        self._begin = (first,) if first == self.tokenizer.bos_token_id else ()
        self._end = self._end_of_answer()

    @property
    def notes(self) -> tuple[str, ...]:
        """What the base does not take, and what is done instead."""
        instead = {
            "system": "the system prompt stands in the first user message",
            "alternation": "neighbours of one role are joined",
        }
        return tuple(
            f"the chat template of {self._name} takes no {name} ({why}); {instead.get(name, '')}, as when it is asked"
            for name, why in self._capabilities.refused.items()
        )

    def prompt(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """Returns the tokens of a chat, up to where the answer begins.

        Raises:
            ContentError: The template takes no such chat, in no form that the model's server would be sent.
        """
        tokens = self._tokens(self._rendered(messages))
        return tokens if tokens[:1] == self._begin else (*self._begin, *tokens)

    def answer(self, text: str) -> tuple[int, ...]:
        """Returns the tokens of an answer, with the one that ends it."""
        return (*self._tokens_behind(text), *self._end)

    def _rendered(self, messages: Sequence[Message]) -> str:
        while True:
            body = body_of(Request(messages), "", self._capabilities, stream=False)
            chat: Any = body["messages"]
            try:
                text = self._template(chat, add_generation_prompt=True)
            except importlib.import_module("jinja2").TemplateError as error:
                refused = self._capabilities.learn(str(error), body)
                if refused is None:
                    raise ContentError(f"the chat template takes no such chat: {error}", where=self._name) from None
                continue
            dropped = next((one["content"] for one in chat if one["role"] == "system"), "")
            if dropped.strip() in text:
                return text
            self._capabilities.learn("system role is not supported: it is dropped", body)

    def _template(self, chat: Sequence[Mapping[str, str]], *, add_generation_prompt: bool) -> str:
        return self.tokenizer.apply_chat_template(
            list(chat), tokenize=False, add_generation_prompt=add_generation_prompt
        )

    def _tokens(self, text: str) -> tuple[int, ...]:
        return tuple(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def _tokens_behind(self, text: str) -> tuple[int, ...]:
        """Returns the tokens of a text that begins no chat: some tokenizers put a blank before what they begin with."""
        before, whole = self._tokens(_ANCHOR), self._tokens(_ANCHOR + text)
        return whole[len(before) :] if whole[: len(before)] == before else self._tokens(text)

    def _end_of_answer(self) -> tuple[int, ...]:
        """Returns what the template puts behind an answer, up to the token that ends it, or the model's own end."""
        asked = [{"role": "user", "content": _PROBE}]
        begun = self._template(asked, add_generation_prompt=True)
        whole = self._template([*asked, {"role": "assistant", "content": _ANSWER}], add_generation_prompt=False)
        special = set(self.tokenizer.all_special_ids)
        if whole.startswith(begun + _ANSWER):
            behind = self._tokens_behind(whole[len(begun + _ANSWER) :])
            end = next((place for place, token in enumerate(behind) if token in special), None)
            if end is not None:
                return behind[: end + 1]
        return (self.tokenizer.eos_token_id,)

    def _split_digits(self) -> None:
        """Splits numbers as llama.cpp does for this kind of tokenizer; transformers' reader of GGUF leaves it out."""
        splitters = needed("tokenizers").pre_tokenizers
        digits = splitters.Split(needed("tokenizers").Regex(r"\p{N}"), "isolated")
        bytewise = splitters.ByteLevel(add_prefix_space=False, use_regex=True)
        self.tokenizer.backend_tokenizer.pre_tokenizer = splitters.Sequence([digits, bytewise])


def _transformers() -> Any:
    needed("gguf")
    transformers = needed("transformers")
    transformers.utils.logging.set_verbosity_error()
    return transformers


def _gguf(base: Base) -> dict[str, str]:
    return {"gguf_file": base.gguf} if base.gguf else {}


def _unloadable(base: Base, error: Exception) -> ModelFileError:
    first = str(error).strip().split("\n")[0]
    return ModelFileError(f"cannot be loaded: {first}", where=base.name)
