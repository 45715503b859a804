"""What goes over the wire and what comes back: bodies, statuses, errors of servers. Pure functions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dramaturg.model import AnswerSchema, Message, Request, Sampling
from dramaturg.model.capabilities import Capabilities, Capability
from dramaturg.model.problem import context_tokens_in, error_message, read_problem, read_retry_after
from dramaturg.model.reply import REPLY_STATUSES
from dramaturg.model.wire import body_of, finish_reply, problem_in, read_reply, read_usage, read_vectors

SCHEMA = AnswerSchema("answer", {"type": "object", "properties": {"a": {"type": "string"}}})
REQUEST = Request(
    [Message("system", "rules"), Message("user", "hello")],
    Sampling(temperature=0.3, max_tokens=64, top_p=0.9, stop=("\n\n",), top_logprobs=5),
    seed=7,
    schema=SCHEMA,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def body(request: Request = REQUEST, refused: tuple[Capability, ...] = (), *, stream: bool = False) -> dict[str, Any]:
    return body_of(request, "m", Capabilities(dict.fromkeys(refused, "no")), stream=stream)


def choice(content: Any, finish_reason: str = "stop", **message: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": content, **message}, "finish_reason": finish_reason}]}


def test_every_request_carries_temperature_and_seed() -> None:  # FW-61
    assert (body()["temperature"], body()["seed"]) == (0.3, 7)
    assert body(Request([Message("user", "x")]))["temperature"] == 0.7


def test_body_holds_all_that_was_asked_for() -> None:
    sent = body(stream=True)
    assert sent["messages"] == [{"role": "system", "content": "rules"}, {"role": "user", "content": "hello"}]
    assert (sent["max_tokens"], sent["top_p"], sent["stop"], sent["top_logprobs"]) == (64, 0.9, ["\n\n"], 5)
    assert sent["response_format"]["json_schema"]["strict"] is True
    assert sent["stream_options"] == {"include_usage": True}
    assert "labels" not in sent


@pytest.mark.parametrize(
    ("refused", "gone", "instead"),
    [
        ("temperature", "temperature", None),
        ("seed", "seed", None),
        ("top_p", "top_p", None),
        ("stop", "stop", None),
        ("logprobs", "top_logprobs", None),
        ("stream_usage", "stream_options", None),
        ("max_tokens", "max_tokens", "max_completion_tokens"),
    ],
)
def test_refused_parameter_is_left_out(refused: Capability, gone: str, instead: str | None) -> None:
    sent = body(refused=(refused,), stream=True)
    assert gone not in sent
    assert instead is None or sent[instead] == 64


def test_schema_becomes_json_mode_and_then_plain() -> None:  # FW-75
    assert body(refused=("schema",))["response_format"] == {"type": "json_object"}
    assert "response_format" not in body(refused=("schema", "json_mode"))


def roles(refused: tuple[Capability, ...], *chat: str) -> list[tuple[str, str]]:
    request = Request([Message(role, f"{role}{n}") for n, role in enumerate(chat)])  # pyright: ignore[reportArgumentType]
    return [(message["role"], message["content"]) for message in body(request, refused)["messages"]]


def test_system_prompt_moves_into_the_first_user_message() -> None:
    assert roles(("system",), "system", "user", "assistant") == [
        ("user", "system0\n\nuser1"),
        ("assistant", "assistant2"),
    ]
    assert roles(("system",), "system", "assistant") == [("user", "system0"), ("assistant", "assistant1")]
    assert roles(("system",), "user", "system") == [("user", "user0"), ("user", "system1")]


def test_neighbours_of_one_role_are_joined_and_the_user_begins() -> None:
    assert roles(("alternation",), "system", "user", "user") == [("system", "system0"), ("user", "user1\n\nuser2")]
    assert roles(("alternation",), "user", "system", "user") == [("user", "user0\n\nsystem1\n\nuser2")]
    assert [role for role, _ in roles(("alternation",), "system", "assistant", "user")] == [
        "system",
        "user",
        "assistant",
        "user",
    ]


@given(st.lists(st.sampled_from(["system", "user", "assistant"]), max_size=8), st.booleans())
def test_no_message_is_lost_whatever_roles_a_server_takes(chat: list[str], no_system: bool) -> None:
    refused: tuple[Capability, ...] = ("alternation", "system") if no_system else ("alternation",)
    sent = roles(refused, *chat)
    text = "\n".join(content for _, content in sent)
    assert [part for part in text.split() if part != "…"] == [f"{role}{n}" for n, role in enumerate(chat)]
    spoken = [role for role, _ in sent if role != "system"]
    assert spoken == ["user" if n % 2 == 0 else "assistant" for n in range(len(spoken))]


@pytest.mark.parametrize(
    ("payload", "status", "text"),
    [
        pytest.param(choice("Hi."), "ok", "Hi.", id="text"),
        pytest.param(choice("日本 🎭 é"), "ok", "日本 🎭 é", id="unicode"),
        pytest.param(
            choice([{"type": "text", "text": "a"}, "b", {"type": "image_url"}]), "ok", "ab[image_url]", id="FW-12-parts"
        ),
        pytest.param(choice({"b": 1, "a": "é"}), "ok", '{"a": "é", "b": 1}', id="FW-12-dict"),
        pytest.param(choice({"type": "text", "text": "a"}), "ok", "a", id="FW-12-one-part"),
        pytest.param(
            choice([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "a"}]),
            "ok",
            "a",
            id="thinking-part",
        ),
        pytest.param(choice(None), "empty", "", id="null-content"),
        pytest.param(choice("  \n"), "empty", "", id="blank"),
        pytest.param(choice(None, tool_calls=[{"id": "x"}]), "empty", "", id="tool-call"),
        pytest.param(choice("cut he", "length"), "truncated", "cut he", id="I05"),
        pytest.param(choice("", "length"), "truncated", "", id="FW-18-nothing-visible"),
        pytest.param(choice("", "length", reasoning_content="hm " * 500), "truncated", "", id="FW-18"),
        pytest.param(choice("<think>hm", "length"), "truncated", "", id="FW-15-unclosed"),
        pytest.param(choice("<think>hm"), "truncated", "", id="unclosed-and-stopped"),
        pytest.param(choice(" " * 5000, "length"), "degenerate", "", id="FW-76"),
        pytest.param(choice('{"a": ' + "\n" * 900, "length"), "degenerate", "", id="FW-76-mid-object"),
        pytest.param(choice("Well, " + "no. " * 300, "length"), "degenerate", "", id="loop"),
        pytest.param(choice("A long line that comes again.\n" * 40, "length"), "degenerate", "", id="loop-of-lines"),
        pytest.param(choice("hahahahaha", "length"), "truncated", "hahahahaha", id="short-laugh"),
        pytest.param(choice("no. " * 300), "ok", "no. " * 300, id="ended-by-itself"),
        pytest.param(choice("I will not.", "content_filter"), "refused", "", id="filter"),
        pytest.param(choice(None, refusal="I cannot."), "refused", "", id="refusal"),
        pytest.param({"choices": []}, "malformed", "", id="FW-27-choices"),
        pytest.param({"choices": [{"message": None}]}, "malformed", "", id="FW-27-message"),
        pytest.param({"choices": [None]}, "malformed", "", id="null-choice"),
        pytest.param({"choices": {"0": 1}}, "malformed", "", id="choices-no-list"),
        pytest.param({"error": {"message": "model crashed"}}, "malformed", "", id="error-in-200"),
        pytest.param(choice("half an answ", "error"), "malformed", "", id="broke-off"),
        pytest.param([], "malformed", "", id="list"),
        pytest.param("text", "malformed", "", id="string"),
        pytest.param(None, "malformed", "", id="null"),
    ],
)
def test_reply_has_a_status_that_nobody_has_to_guess(payload: object, status: str, text: str) -> None:
    reply = read_reply(payload, max_tokens=64)
    assert (reply.status, reply.text) == (status, text)
    if status != "ok":
        assert reply.detail


def test_limit_is_named_when_reasoning_ate_it() -> None:  # FW-18
    hidden = {**choice("", "length"), "usage": {"completion_tokens_details": {"reasoning_tokens": 512}}}
    for payload in (choice("", "length", reasoning_content="hm"), hidden):
        assert read_reply(payload, max_tokens=512).detail.startswith("budget_spent_on_reasoning: max_tokens=512")


def test_reasoning_is_kept_apart_and_never_text() -> None:
    reply = read_reply(choice("<think>b</think>Hi", reasoning_content="a"), max_tokens=9)
    assert (reply.text, reply.reasoning) == ("Hi", "a\nb")
    assert read_reply(choice("Hi", reasoning={"summary": "a"}), max_tokens=9).text == "Hi"


@given(JSON)
def test_any_body_gives_a_status(payload: Any) -> None:
    for candidate in (payload, {"choices": payload}, {"choices": [payload]}, {"choices": [{"message": payload}]}):
        assert read_reply(candidate, max_tokens=9).status in REPLY_STATUSES
        problem_in(candidate)
    reply = read_reply({**choice(payload), "usage": payload, "timings": payload}, max_tokens=9)
    assert reply.status in REPLY_STATUSES
    assert read_reply(choice("x", reasoning=payload, refusal=""), max_tokens=9).text == "x"


@given(JSON)
def test_usage_is_a_count_or_unknown(value: Any) -> None:
    usage = read_usage({"prompt_tokens": value, "completion_tokens": 3, "prompt_tokens_details": value})
    assert usage.output_tokens == 3
    assert usage.input_tokens is None or 0 <= usage.input_tokens < 2**31


def test_tokens_that_a_server_does_not_report_stay_unknown() -> None:
    assert read_usage(None).input_tokens is None
    assert read_usage({"prompt_tokens": True, "completion_tokens": 1e300}).output_tokens is None


@given(st.text(), st.sampled_from(["stop", "length", "content_filter", "", "weird"]))
def test_text_is_never_invented(content: str, finish_reason: str) -> None:
    reply = finish_reply(
        content=content, reasoning="", refusal="", finish_reason=finish_reason, max_tokens=9, usage=read_usage(None)
    )
    assert reply.text == "" or reply.text in content


@pytest.mark.parametrize(
    ("status", "text", "problem"),
    [
        (429, '{"error":{"message":"slow down"}}', "overload"),
        (429, '{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}', "quota"),
        (503, "<html>busy</html>", "overload"),
        (402, "{}", "quota"),
        (401, "{}", "auth"),
        (403, "", "auth"),
        (404, '{"detail":"no such model"}', "missing"),
        (400, '{"error":{"message":"This model\'s maximum context length is 2048 tokens."}}', "context"),
        (400, '{"error":{"message":"the request exceeds the available context size, try increasing it"}}', "context"),
        (500, '{"error":{"message":"prompt is too long"}}', "context"),
        (413, '{"message":"Request too large: too many tokens"}', "context"),
        (400, '{"error":{"message":"temperature is not supported"}}', "request"),
        (422, '{"detail":[{"msg":"bad"}]}', "request"),
        (500, "boom", "server"),
        (408, "", "server"),
        (302, "", "redirect"),
    ],
)
def test_http_error_means_one_thing(status: int, text: str, problem: str) -> None:
    assert read_problem(status, text).problem == problem


def test_quota_with_a_short_wait_is_only_an_overload() -> None:
    assert read_problem(429, "quota per minute", retry_after="20").problem == "overload"


@given(st.integers(300, 599), st.text() | JSON.map(lambda value: json.dumps(value)), st.none() | st.text())
def test_any_error_is_one_short_line(status: int, text: str, retry_after: str | None) -> None:
    problem = read_problem(status, text, retry_after=retry_after)
    assert 0 < len(problem.message) <= 400
    assert len(problem.message.splitlines()) <= 1


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("5", 5.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("", None),
        (None, None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, seconds: float | None) -> None:
    assert read_retry_after(value) == seconds


def test_retry_after_in_the_future_is_a_wait() -> None:
    assert (read_retry_after("Wed, 21 Oct 2195 07:28:00 GMT") or 0) > 1e6


def test_page_of_a_proxy_becomes_its_words() -> None:
    assert error_message("<html><style>b{}</style><body><h1>Bad\n gateway</h1></body></html>") == "Bad gateway"


def test_error_in_a_body_of_200_is_read_like_its_code() -> None:
    overload = problem_in({"error": {"code": 429, "message": "slow"}})
    assert overload is not None and overload.problem == "overload"
    context = problem_in({"error": "maximum context length is 5"})
    assert context is not None and context.problem == "context"
    assert problem_in({"error": {"message": "x"}}) is None
    assert problem_in({"error": {"code": 429}, **choice("Hi")}) is None


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        ("This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.", 4096),
        ("the request exceeds the available context size (8192 tokens), try increasing it", 8192),
        ("prompt is too long: 210000 tokens > 200000 maximum", 200_000),
        ("maximum context length is 32,768 tokens", 32_768),
        ("too many tokens", None),
        ("the context window is full after 3 turns", None),
    ],
)
def test_the_length_of_a_context_is_read_where_a_server_says_it(message: str, tokens: int | None) -> None:
    assert context_tokens_in(message) == tokens


def test_vectors_come_back_in_the_order_of_the_texts() -> None:
    rows = [{"index": 1, "embedding": [2]}, {"index": 0, "embedding": [1]}]
    assert read_vectors({"data": rows}, 2) == [[1.0], [2.0]]
    assert read_vectors({"data": [{"embedding": [1]}, {"embedding": [2]}]}, 2) == [[1.0], [2.0]]
    for wrong in ({"data": rows[:1]}, {"data": [rows[0], rows[0]]}, {"data": [{}, {}]}, {"data": None}, [], None):
        assert read_vectors(wrong, 2) is None
