"""Spec strings: what they mean, and that a wrong one says what is allowed and shows no secret."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dramaturg.errors import SpecError
from dramaturg.model import parse_spec
from dramaturg.model.opening import Models
from dramaturg.model.spec import PROVIDERS


@pytest.mark.parametrize(
    ("text", "provider", "name", "url"),
    [
        ("openai:gpt-5", "openai", "gpt-5", "https://api.openai.com/v1"),
        ("ollama:llama3.1:8b", "ollama", "llama3.1:8b", "http://127.0.0.1:11434/v1"),
        ("vllm:org/name@http://host:8000/v1", "vllm", "org/name", "http://host:8000/v1"),
        ("vllm:a@b@https://host/v1/", "vllm", "a@b", "https://host/v1"),
        ("gguf:/models/a b@c.gguf", "gguf", "/models/a b@c.gguf", ""),
        ("script:C:\\scripts\\x.yaml", "script", "C:\\scripts\\x.yaml", ""),
        ("http://[::1]:8080/v1#m", "http", "m", "http://[::1]:8080/v1"),
        ("HTTPS://host/v1#a%20b", "http", "a b", "https://host/v1"),
        ("http://host/v1/chat/completions#m", "http", "m", "http://host/v1"),
        ("openrouter:foo/bar:1", "openrouter", "foo/bar:1", "https://openrouter.ai/api/v1"),
        ("  embedded:smollm2-135m ", "embedded", "smollm2-135m", ""),
    ],
)
def test_spec_names_provider_model_and_address(text: str, provider: str, name: str, url: str) -> None:
    spec = parse_spec(text)
    assert (spec.provider, spec.name, spec.url) == (provider, name, url)


@pytest.mark.parametrize(
    "text", ["http://h/v1?temperature=0#m", "http://h/v1#m?temperature=0", "openai:m?temperature=0"]
)
def test_options_stand_behind_the_question_mark(text: str) -> None:
    assert parse_spec(text).options.temperature == 0.0
    assert parse_spec(text).options.max_tokens is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        ("gpt-5", "has no provider"),
        ("opnai:gpt-5", "did you mean 'openai'"),
        ("openai:", "names no model"),
        ("openai:gpt-5@somewhere", "no address behind '@'"),
        ("http://host/v1", "names no model"),
        ("http://host:0/v1#m", "is no address"),
        ("http://host:99999/v1#m", "is no address"),
        ("http://[::1/v1#m", "is no address"),
        ("http:///v1#m", "is no address"),
        ("http://a b/v1#m", "is no address"),
        ("openai:m?temprature=0", "did you mean 'temperature'"),
        ("openai:m?temperature", "not key=value"),
        ("openai:m?temperature=warm", "is no number"),
        ("openai:m?temperature=nan", "out of range"),
        ("openai:m?temperature=-1", "out of range"),
        ("openai:m?top_p=1.5", "at most 1"),
        ("openai:m?max_tokens=0", "more than 0"),
        ("openai:m?max_tokens=1.5", "is no number"),
        ("openai:m?attempt_timeout_s=0", "more than 0"),
        ("openai:m?max_tokens=" + "9" * 400, "out of range"),
        ("openai:m?temperature=0&temperature=1", "stands twice"),
    ],
)
def test_wrong_spec_says_what_is_allowed(text: str, says: str) -> None:
    with pytest.raises(SpecError) as raised:
        parse_spec(text)
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        "http://user:hunter2secret@host/v1#m",
        "http://user:hunter2secret@host:99999/v1#m",
        "vllm:m@http://user:hunter2secret@host/v1",
        "http://hunter2secret@host/v1#m",
        "http://host/v1?api_key=hunter2secret#m",
        "openai:m?api_key=hunter2secret",
        "openai:m?key_env=hunter2-secret-1",
        "openai:m?hunter2secret",
        "sk-hunter2secret",
        "sk-hunter2secret:gpt-5",
    ],
)
def test_secret_in_a_spec_is_refused_and_not_shown(text: str) -> None:
    with pytest.raises(SpecError) as raised:
        parse_spec(text)
    assert "hunter2" not in str(raised.value) + repr(raised.value)


async def test_named_key_that_is_not_set_is_an_error(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SpecError, match="OPENAI_API_KEY"):
        await models.open("openai:gpt-5")
    with pytest.raises(SpecError, match="MY_KEY"):
        await models.open("http://127.0.0.1:1/v1#m?key_env=MY_KEY")
    monkeypatch.setenv("MY_KEY", "two\nlines-of-a-key")
    with pytest.raises(SpecError, match="one line of ASCII") as raised:
        await models.open("http://127.0.0.1:1/v1#m?key_env=MY_KEY")
    assert "lines-of-a-key" not in str(raised.value)


@given(st.one_of(st.text(), st.from_regex(rf"(?:{'|'.join(PROVIDERS)}|https?):.{{0,40}}")))
def test_any_text_is_a_spec_or_a_spec_error(text: str) -> None:
    try:
        spec = parse_spec(text)
    except SpecError as error:
        assert str(error)
    else:
        assert spec.name
        assert parse_spec(spec.text) == spec
