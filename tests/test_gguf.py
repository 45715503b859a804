"""What a GGUF file says of itself is read without its weights; wrecks and lies are refused quickly, in one line."""

from __future__ import annotations

import struct
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dramaturg.errors import ModelFileError
from dramaturg.model.gguf import GgufFacts, read_gguf
from gguf_files import CONTEXT, HEADS, WIDTH, GgufValue, gguf_bytes, model_values, write_adapter, write_model

TENSORS = {"token_embd.weight": (4, 8), "output.weight": (8, 4)}


def _read(folder: Path, data: bytes) -> GgufFacts:
    path = folder / "model.gguf"
    path.write_bytes(data)
    return read_gguf(path)


def _facts(folder: Path, **changes: GgufValue) -> GgufFacts:
    return _read(folder, gguf_bytes(model_values(**changes), TENSORS))


def test_a_model_file_tells_its_facts(tmp_path: Path) -> None:
    facts = read_gguf(write_model(tmp_path / "tiny.gguf"))
    assert (facts.kind, facts.architecture, facts.name, facts.licence) == ("model", "llama", "Tiny", "mit")
    assert (facts.context_tokens, facts.blocks, facts.quantisation) == (CONTEXT, 1, "F32")
    assert facts.has_chat_template
    assert facts.parameters == 32_992
    assert facts.file_bytes == (tmp_path / "tiny.gguf").stat().st_size
    assert facts.kv_bytes_per_token == 2 * HEADS * (WIDTH // HEADS) * 2


def test_an_adapter_is_told_from_a_model(tmp_path: Path) -> None:
    assert read_gguf(write_adapter(tmp_path / "lora.gguf")).kind == "adapter"


def test_a_name_that_is_not_ascii_survives(tmp_path: Path) -> None:
    assert _facts(tmp_path, general__name="Zoë 山田").name == "Zoë 山田"


@pytest.mark.parametrize(
    ("number", "name"), [(0, "F32"), (3, "Q4_1"), (15, "Q4_K_M"), (1024 + 7, "Q8_0"), (999_999, "")]
)
def test_quantisation_has_the_usual_name_or_none(tmp_path: Path, number: int, name: str) -> None:
    assert _facts(tmp_path, general__file_type=number).quantisation == name


def test_heads_of_each_layer_and_own_widths_count_for_the_cache(tmp_path: Path) -> None:
    facts = _facts(
        tmp_path,
        llama__block_count=3,
        llama__attention__head_count_kv=[1, 2, 1],
        llama__attention__key_length=10,
        llama__attention__value_length=6,
    )
    assert facts.kv_bytes_per_token == 2 * (1 + 2 + 1) * (10 + 6)


def test_what_a_file_does_not_say_is_unknown(tmp_path: Path) -> None:
    facts = _read(tmp_path, gguf_bytes({"general.architecture": "new"}, TENSORS))
    assert (facts.context_tokens, facts.blocks, facts.kv_bytes_per_token) == (None, None, None)
    assert (facts.licence, facts.quantisation, facts.has_chat_template) == ("", "", False)


def test_a_value_of_another_type_is_unknown(tmp_path: Path) -> None:
    facts = _facts(tmp_path, llama__context_length="many", general__license=7, llama__attention__head_count=[-5])
    assert (facts.context_tokens, facts.licence, facts.kv_bytes_per_token) == (None, "", None)


def _head(version: int = 3, tensors: int = 0, keys: int = 0) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, tensors, keys)


def _key(kind: int, rest: bytes, key: bytes = b"k") -> bytes:
    return struct.pack("<Q", len(key)) + key + struct.pack("<I", kind) + rest


def _array(kind: int, count: int) -> bytes:
    return _head(keys=1) + _key(9, struct.pack("<IQ", kind, count))


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "is empty"),
        (b"GG", "no GGUF file"),
        (b"PK\x03\x04" + bytes(100), "no GGUF file"),
        (b"version https://git-lfs.github.com/spec/v1\n", "no GGUF file"),
        (b"GGUF", "torn"),
        (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "big-endian"),
        (_head(version=1), "version 1"),
        (_head(keys=2**63), "more than any model"),
        (_head(tensors=2**63), "more than any model"),
        (_head(keys=1) + struct.pack("<Q", 2**63), "torn"),
        (_head(keys=1) + _key(99, b""), "unknown type 99"),
        (_array(4, 2**62), "torn"),
        (_array(8, 2**62), "more than any vocabulary"),
        (_array(8, 7_000_000), "torn"),
        (_array(9, 1), "array of type 9"),
        (_head(), "names no architecture"),
        (_head(tensors=1) + struct.pack("<QI", 0, 2**31), "dimensions"),
        (_head(tensors=1) + struct.pack("<QIQQ", 0, 2, 2**40, 2**40), "larger than any model"),
    ],
)
def test_wrecks_and_lies_are_refused(tmp_path: Path, data: bytes, what: str) -> None:
    started = time.perf_counter()
    with pytest.raises(ModelFileError, match=what) as caught:
        _read(tmp_path, data)
    assert time.perf_counter() - started < 1
    assert "\n" not in str(caught.value)
    assert "model.gguf" in str(caught.value)


def test_an_endless_list_of_empty_texts_is_refused_quickly(tmp_path: Path) -> None:
    started = time.perf_counter()
    with pytest.raises(ModelFileError, match="more than any vocabulary"):
        _read(tmp_path, _head(keys=1) + _key(9, struct.pack("<IQ", 8, 9_000_000)) + bytes(80_000_000))
    assert time.perf_counter() - started < 2


def test_a_download_that_lacks_its_last_bytes_is_torn(tmp_path: Path) -> None:
    whole = gguf_bytes(model_values(), TENSORS)
    with pytest.raises(ModelFileError, match="torn: 1 bytes are missing"):
        _read(tmp_path, whole[:-1])


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"none\.gguf: cannot be read"):
        read_gguf(tmp_path / "none.gguf")


def test_a_folder_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="cannot be read"):
        read_gguf(tmp_path)


@settings(max_examples=150, deadline=2000)
@given(cut=st.integers(0, 4000), place=st.integers(0, 4000), byte=st.integers(0, 255))
def test_no_damage_does_more_than_a_typed_error(
    tmp_path_factory: pytest.TempPathFactory, cut: int, place: int, byte: int
) -> None:
    data = bytearray(gguf_bytes(model_values(), TENSORS))
    if place < len(data):
        data[place] = byte
    path = tmp_path_factory.mktemp("damaged") / "model.gguf"
    path.write_bytes(data[: len(data) - cut])
    try:
        assert read_gguf(path).parameters >= 0
    except ModelFileError as error:
        assert "\n" not in str(error)


def test_a_file_names_the_models_that_it_was_made_from(tmp_path: Path) -> None:
    base = "general.base_model"
    made = model_values(
        **{
            f"{base}.count": 3,
            f"{base}.0.name": "Qwen2.5 1.5B",
            f"{base}.0.repo_url": "https://huggingface.co/Qwen/Qwen2.5-1.5B-Instruct/",
            f"{base}.1.name": "Tiny Llama",
        }
    )
    path = tmp_path / "tuned.gguf"
    path.write_bytes(gguf_bytes(made))
    assert read_gguf(path).bases == ("Qwen2.5-1.5B-Instruct", "Tiny Llama")
    path.write_bytes(gguf_bytes(model_values(**{f"{base}.count": 2**32 - 1})))
    assert read_gguf(path).bases == ()
