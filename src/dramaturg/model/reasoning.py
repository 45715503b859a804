"""Reasoning is split off once, here; nothing but the ledger ever sees it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_NAMES = "think|thinking|thought|thoughts|reasoning|reason|reflection|scratchpad|seed:think"
_TAG = re.compile(
    rf"<(?P<close>/)?(?P<name>{_NAMES})(?:\s[^<>]{{0,80}})?>"
    r"|\[(?P<square_close>/)?(?P<square>THINK)\]"
    r"|◁(?P<kimi_close>/)?(?P<kimi>think)▷",
    re.IGNORECASE,
)
_TAG_BEGUN = re.compile(r"[<\[◁](?!\s)[^<>\]▷\n]{0,99}\Z")
_LONGEST_TAG = 100
_FINAL_CHANNEL = re.compile(r"<\|channel\|>\s*final\s*(?:<\|constrain\|>\s*\w+\s*)?<\|message\|>")
_CHANNEL = re.compile(r"^\s*(?:<\|start\|>\s*assistant\s*)?<\|channel\|>\s*(?:analysis|commentary)\b")
_CHANNEL_MARKS = re.compile(r"<\|(?:start|end|return|call|message|channel)\|>")
_DECODER = json.JSONDecoder()
_JSON_STARTS = 64
"""Braces tried as the start of a JSON value around a tag; more are prose."""
_MOST_PASSES = 8
"""What a pass leaves can hold tags again, made of pieces that stood apart; nobody writes so often so deep."""


@dataclass(frozen=True, slots=True)
class _Tag:
    start: int
    end: int
    closes: bool
    name: str


def split_reasoning(text: str) -> tuple[str, str, bool]:
    """Returns visible text, reasoning, and whether the reasoning was never closed.

    Handles an opening and a closing tag, several blocks, nested blocks, a closing tag alone (the template opened it),
    an opening tag alone (nothing that follows is visible), and the channels of gpt-oss. A tag inside a JSON string
    is text like any other. The visible text holds no reasoning tag any more; without tags it is the text as it is.

    Args:
        text: What the model wrote.
    """
    reasoning: list[str] = []
    unclosed = False
    for _ in range(_MOST_PASSES):
        if "<|channel|>" in text and (_CHANNEL.match(text) or _FINAL_CHANNEL.search(text)):
            text, hidden, is_open = _split_channels(text)
        elif tags := _tags(text):
            text, hidden, is_open = _split_tags(text, tags)
        else:
            break
        reasoning.append(hidden)
        unclosed = unclosed or is_open
    else:
        reasoning.append(text)
        text, unclosed = "", True
    return text, "\n".join(part for part in reasoning if part), unclosed


def _tags(text: str) -> list[_Tag]:
    """Returns the reasoning tags that are not part of a JSON value, in order."""
    if "<" not in text and "[" not in text and "◁" not in text:
        return []
    found = [
        _Tag(
            match.start(),
            match.end(),
            any(match[kind] for kind in ("close", "square_close", "kimi_close")),
            (match["name"] or match["square"] or match["kimi"]).lower() + match[0][0],
        )
        for match in _TAG.finditer(text)
    ]
    if not found:
        return []
    values = list(_json_values(text, before=found[-1].start))
    return [tag for tag in found if not any(start < tag.start < end for start, end in values)]


def _json_values(text: str, *, before: int) -> Iterator[tuple[int, int]]:
    """Yields where whole JSON objects and arrays stand that begin before a position and do not overlap."""
    position = 0
    for _ in range(_JSON_STARTS):
        start = min((at for at in (text.find("{", position), text.find("[", position)) if at >= 0), default=before)
        if start >= before:
            return
        try:
            _, position = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            position = start + 1
        else:
            yield start, position


def _split_tags(text: str, tags: Sequence[_Tag]) -> tuple[str, str, bool]:
    """Returns what one pass over the tags leaves visible.

    A block ends at the last closing tag of its name that stands before the next opening one: what a model writes
    between two closing tags is reasoning that quotes or nests a block.
    """
    visible: list[str] = []
    hidden: list[str] = []
    position = 0
    index = 0
    while index < len(tags):
        opening = tags[index]
        if opening.closes:
            name, begin = None, position
        else:
            visible.append(text[position : opening.start])
            name, begin = opening.name, opening.end
            index += 1
        closing, index = _closing(tags, index, name)
        if closing is None:
            hidden.append(text[begin:])
            return "".join(visible).strip(), "\n".join(hidden).strip(), True
        hidden.append(text[begin : closing.start])
        position = closing.end
    visible.append(text[position:])
    return "".join(visible).strip(), "\n".join(hidden).strip(), False


def _closing(tags: Sequence[_Tag], index: int, name: str | None) -> tuple[_Tag | None, int]:
    """Returns the tag that closes a block whose tags begin at an index, and the index behind it."""
    closing: _Tag | None = None
    while index < len(tags):
        tag = tags[index]
        if tag.closes and name in {None, tag.name}:
            closing = tag
        elif not tag.closes and closing is not None:
            break
        index += 1
    return closing, index


def show_safely(text: str) -> str:
    """Returns what of a text that is still growing may be shown: no reasoning, and no tag that has only begun.

    Args:
        text: What the model wrote so far.
    """
    if text.lstrip().startswith("<|") and _FINAL_CHANNEL.search(text) is None:
        return ""
    begun = _TAG_BEGUN.search(text, max(0, len(text) - _LONGEST_TAG))
    return split_reasoning(text[: begun.start()] if begun else text)[0]


def _split_channels(text: str) -> tuple[str, str, bool]:
    finals = list(_FINAL_CHANNEL.finditer(text))
    if not finals:
        return "", _CHANNEL_MARKS.sub(" ", text).strip(), True
    final = finals[-1]
    visible = _CHANNEL_MARKS.split(text[final.end() :], maxsplit=1)[0]
    return visible.strip(), _CHANNEL_MARKS.sub(" ", text[: final.start()]).strip(), False
