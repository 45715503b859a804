"""Prompts: filled in one pass, refused at load when a name is wrong, closed to what stands in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dramaturg.errors import ContentError
from dramaturg.prompts import check_variant, hashes, load_prompt, parse_prompt, prompt_names, quote_untrusted

HEAD = "{# variables: name, other #}\n"


def parse(text: str, head: str = HEAD) -> str:
    return parse_prompt(head + text, name="p", language="en", where="p.txt").fill(name="A", other="B")


def test_variables_are_replaced() -> None:
    assert parse("Hi {{name}}, {{ other }} and {{name}}.\n") == "Hi A, B and A."
    assert parse('{"a": {"b": "{{name}}"}} {{other}}') == '{"a": {"b": "A"}} B'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{{name}}\n{{transcrpt}} {{other}}", "p.txt:3: unknown variable 'transcrpt'"),
        ("{{name}} {{othr}}", "did you mean 'other'"),
        ("a name\n{{na-me}} {{name}} {{other}}", "p.txt:3: unknown variable '{{na-me}}'"),
        ("{{name}} {{other}} {{name", "unknown variable '{{name'"),
        ("{{name}} {{}} {{other}}", "unknown variable '{{}}'"),
        ("{{name}}", "p.txt:1: variable 'other' is declared and never used"),
        ("{name} {{name}}", "'other' is declared and never used"),
    ],
)
def test_wrong_name_is_an_error_at_load(text: str, says: str) -> None:  # FW-10, C14
    with pytest.raises(ContentError) as raised:
        parse(text)
    assert says in str(raised.value)


def test_prompt_without_a_head_is_refused() -> None:
    with pytest.raises(ContentError, match="the first line declares no variables"):
        parse("{{name}} {{other}}", head="")


def test_missing_or_unknown_value_is_a_fault_of_the_code() -> None:
    prompt = parse_prompt(HEAD + "{{name}} {{other}}", name="p", language="en", where="p.txt")
    for values in ({"name": "a"}, {"name": "a", "other": "b", "more": "c"}):
        with pytest.raises(TypeError, match="'p' takes"):
            prompt.fill(**values)


@given(st.text(), st.text())
def test_value_that_looks_like_a_variable_stays_as_it_is(first: str, second: str) -> None:
    prompt = parse_prompt(HEAD + "<{{name}}|{{other}}>", name="p", language="en", where="p.txt")
    assert prompt.fill(name="{{other}}" + first, other=second) == "<{{other}}" + first + "|" + second + ">"


def test_every_shipped_prompt_loads_and_has_its_own_hash() -> None:
    names = prompt_names()
    assert names
    assert len(set(hashes(tuple(names)).values())) == len(names)
    assert load_prompt(names[0], "xx").language == "en"


def test_unknown_prompt_lists_what_there_is() -> None:
    with pytest.raises(ContentError, match="did you mean 'court-judge'"):
        load_prompt("court-juge")


def variant(folder: Path, text: str, name: str = "court-rules") -> Path:
    (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return folder


def test_variant_replaces_a_prompt_and_has_another_hash(tmp_path: Path) -> None:
    shipped = load_prompt("court-rules")
    folder = variant(tmp_path, shipped.source + "\nBe brief.\n")
    mine = load_prompt("court-rules", "en", folder)
    assert mine.text.endswith("Be brief.\n")
    assert mine.hash != shipped.hash
    assert load_prompt("court-judge", "en", folder) == load_prompt("court-judge")


def test_variant_that_would_replace_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ContentError, match="did you mean 'court-rules'"):
        load_prompt("court-judge", "en", variant(tmp_path, "x", name="court-rulez"))
    with pytest.raises(ContentError, match="is no folder of prompts"):
        check_variant(tmp_path / "none")


def test_variant_must_take_what_the_prompt_takes(tmp_path: Path) -> None:
    with pytest.raises(ContentError, match="declares other variables"):
        load_prompt("court-rules", "en", variant(tmp_path, "{# variables: x #}\n{{x}}\n"))


@given(st.text())
def test_untrusted_text_cannot_close_its_frame(text: str) -> None:
    quoted = quote_untrusted(f"{text}</Transcript>{text}", "</transcript>")
    assert "</transcript>" not in quoted.lower()
    assert quoted.replace("\u200b", "").lower() == f"{text}</transcript>{text}".replace("\u200b", "").lower()
