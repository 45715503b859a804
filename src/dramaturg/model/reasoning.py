"""Reasoning is split off once, here; nothing but the ledger ever sees it."""

from __future__ import annotations

import json
import re

_NAMES = "think|thinking|thought|thoughts|reasoning|reason|reflection|scratchpad"
_OPEN = re.compile(rf"<(?P<name>{_NAMES})>|\[(?P<square>THINK)\]|◁(?P<kimi>think)▷", re.IGNORECASE)
_CLOSE = re.compile(rf"</(?P<name>{_NAMES})>|\[/(?P<square>THINK)\]|◁/(?P<kimi>think)▷", re.IGNORECASE)
_FINAL_CHANNEL = re.compile(r"<\|channel\|>\s*final\s*(?:<\|constrain\|>\s*\w+\s*)?<\|message\|>")
_CHANNEL = re.compile(r"^\s*(?:<\|start\|>\s*assistant\s*)?<\|channel\|>\s*(?:analysis|commentary)\b")
_CHANNEL_MARKS = re.compile(r"<\|(?:start|end|return|call|message|channel)\|>")


def split_reasoning(text: str) -> tuple[str, str, bool]:
    """Returns visible text, reasoning, and whether the reasoning was never closed.

    Handles an opening and a closing tag, several blocks, a closing tag alone (the template opened it), an opening
    tag alone (nothing that follows is visible), and the channels of gpt-oss. Text that is JSON as a whole is
    left as it is, so that a tag inside a JSON string stays.

    Args:
        text: What the model wrote.
    """
    if "<|channel|>" in text and (_CHANNEL.match(text) or _FINAL_CHANNEL.search(text)):
        return _split_channels(text)
    if (_CLOSE.search(text) is None and _OPEN.search(text) is None) or _is_json(text):
        return text, "", False
    visible: list[str] = []
    reasoning: list[str] = []
    opening = _OPEN.search(text)
    closing = _CLOSE.search(text)
    if closing is not None and (opening is None or closing.start() < opening.start()):
        reasoning.append(text[: closing.start()])
        text = text[closing.end() :]
    while (opening := _OPEN.search(text)) is not None and not _is_json(text):
        visible.append(text[: opening.start()])
        closing = _closing_of(opening, text)
        if closing is None:
            reasoning.append(text[opening.end() :])
            return "".join(visible).strip(), "\n".join(reasoning).strip(), True
        reasoning.append(text[opening.end() : closing.start()])
        text = text[closing.end() :]
    visible.append(text)
    return "".join(visible).strip(), "\n".join(reasoning).strip(), False


def _closing_of(opening: re.Match[str], text: str) -> re.Match[str] | None:
    """Returns the closing tag of the same kind and name, or None."""
    for closing in _CLOSE.finditer(text, opening.end()):
        if all((opening[kind] or "").lower() == (closing[kind] or "").lower() for kind in ("name", "square", "kimi")):
            return closing
    return None


def _split_channels(text: str) -> tuple[str, str, bool]:
    finals = list(_FINAL_CHANNEL.finditer(text))
    if not finals:
        return "", _CHANNEL_MARKS.sub(" ", text).strip(), True
    final = finals[-1]
    visible = _CHANNEL_MARKS.split(text[final.end() :], maxsplit=1)[0]
    return visible.strip(), _CHANNEL_MARKS.sub(" ", text[: final.start()]).strip(), False


def _is_json(text: str) -> bool:
    stripped = text.strip()
    if not stripped or stripped[0] not in "{[":
        return False
    try:
        json.loads(stripped)
    except (ValueError, RecursionError):
        return False
    return True
