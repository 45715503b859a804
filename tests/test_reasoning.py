"""Reasoning is split off once, and nothing of it is ever shown."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dramaturg.model.reasoning import show_safely, split_reasoning

TAG = st.sampled_from(
    [
        "<think>",
        "</think>",
        "<THINK>",
        "<thinking>",
        "</thinking>",
        "[THINK]",
        "[/THINK]",
        "◁think▷",
        "◁/think▷",
        "<reasoning>",
        "<|channel|>analysis<|message|>",
        "<|channel|>final<|message|>",
        "<|end|>",
        '{"a":"<think>"}',
        "<th",
        "ink>",
        "{",
        '"',
    ]
)
TAGGED = st.lists(st.one_of(TAG, st.text(max_size=8)), max_size=12).map("".join)


@pytest.mark.parametrize(
    ("text", "visible", "reasoning"),
    [
        pytest.param("<think>I am an AI</think>Aye, captain", "Aye, captain", "I am an AI", id="FW-15"),
        pytest.param('<think>maybe {"s":1}</think>{"s":9}', '{"s":9}', 'maybe {"s":1}', id="FW-07"),
        pytest.param('maybe {"s":1}</think>{"s":9}', '{"s":9}', 'maybe {"s":1}', id="FW-07-close-only"),
        pytest.param('{"s":"a <think> tag"}', '{"s":"a <think> tag"}', "", id="FW-07-in-a-string"),
        pytest.param('<think>he said "stop</think>{"v":[1]}', '{"v":[1]}', 'he said "stop', id="I16"),
        pytest.param(
            '<think>{"verdict":"no"}</think>{"verdict":"yes"}', '{"verdict":"yes"}', '{"verdict":"no"}', id="I17"
        ),
        pytest.param("<think>no, wait …</think>\n\nyes", "yes", "no, wait …", id="I14"),
        pytest.param("[THINK]a[/THINK]b", "b", "a", id="square"),
        pytest.param("◁think▷a◁/think▷b", "b", "a", id="kimi"),
        pytest.param("<seed:think>a</seed:think>b", "b", "a", id="seed"),
        pytest.param('<think type="long">a</think >b', "b", "a", id="attributes"),
        pytest.param("<THINK>a</Think>b", "b", "a", id="case"),
        pytest.param("<think>a <think>b</think> c</think> d", "d", "a <think>b</think> c", id="nested"),
        pytest.param("<think>the tag <think> is odd</think>d", "d", "the tag <think> is odd", id="quoted-open"),
        pytest.param("<think>a</think>b</think>c", "c", "a</think>b", id="closed-twice"),
        pytest.param("<think>a</think>Hi <think>b</think>you", "Hi you", "a\nb", id="several"),
        pytest.param("Well. <think>a</think> Yes.", "Well.  Yes.", "a", id="in-the-middle"),
        pytest.param('```json\n{"a":"<think>"}\n```', '```json\n{"a":"<think>"}\n```', "", id="fenced"),
        pytest.param('Here: {"a":"</think>"} done', 'Here: {"a":"</think>"} done', "", id="prose-around"),
        pytest.param("a < b and [x] and <thinker>", "a < b and [x] and <thinker>", "", id="no-tag"),
        pytest.param(
            "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Hi<|return|>",
            "Hi",
            "analysis hm  assistant",
            id="channels",
        ),
    ],
)
def test_only_what_was_said_is_visible(text: str, visible: str, reasoning: str) -> None:
    assert split_reasoning(text) == (visible, reasoning, False)


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        pytest.param("<think>I am an AI", "", id="FW-15-unclosed"),
        pytest.param("<think>Hello</tool>", "", id="FW-13-other-tag"),
        pytest.param("<thinking>a</think>b", "", id="FW-13-other-name"),
        pytest.param("Hi <think>a", "Hi", id="after-text"),
        pytest.param("a</think><|channel|>analysis<|message|>b", "", id="mixed"),
        pytest.param("<|channel|>analysis<|message|>hm", "", id="channel"),
    ],
)
def test_unclosed_reasoning_hides_what_follows_and_says_so(text: str, visible: str) -> None:
    shown, reasoning, unclosed = split_reasoning(text)
    assert (shown, unclosed) == (visible, True)
    assert reasoning


@given(TAGGED)
def test_split_ends_and_leaves_no_tag_to_split(text: str) -> None:
    visible, _, _ = split_reasoning(text)
    assert split_reasoning(visible) == (visible, "", False)


@given(st.text(alphabet=st.characters(exclude_characters="<[◁")))
def test_text_without_tags_is_kept_to_the_letter(text: str) -> None:
    assert split_reasoning(text) == (text, "", False)


@given(
    st.recursive(st.text() | TAG, lambda inner: st.lists(inner) | st.dictionaries(st.text() | TAG, inner), max_leaves=6)
)
def test_tags_inside_json_are_text(value: object) -> None:
    text = json.dumps({"value": value}, ensure_ascii=False)
    if "<|channel|>" not in text:
        assert split_reasoning(text) == (text, "", False)


@given(TAGGED)
def test_growing_text_never_shows_what_the_reasoning_holds(text: str) -> None:
    text = f"<think>SECRET{text.replace('<', '')}</think>{text.replace('<', '(')}"
    for end in range(len(text)):
        if "</think>" not in text[:end]:
            assert "SECRET" not in show_safely(text[:end])


@pytest.mark.parametrize("text", ["Hello <think>x</think> you", "<think>x</think>{", "a [THINK]x[/THINK] b", "a <b> c"])
def test_growing_text_shows_no_piece_of_a_tag(text: str) -> None:
    for end in range(len(text) + 1):
        shown = show_safely(text[:end])
        assert "think" not in shown.lower()
        assert not shown.endswith(("<", "[", "</"))


@pytest.mark.parametrize(
    "text", ["<think></think>" * 5000, "<th" * 8000 + "<think>" + "ink>" * 8000, "[" * 100_000 + "<think>"]
)
def test_hostile_text_is_split_in_time(text: str) -> None:
    started = time.perf_counter()
    split_reasoning(text)
    assert time.perf_counter() - started < 2
