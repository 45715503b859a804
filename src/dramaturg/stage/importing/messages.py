"""Messages of JSON chats: who speaks and what is said, under the keys that common programs use."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from dramaturg.errors import ContentError
from dramaturg.stage.importing.chat import Said
from dramaturg.stage.transcript import PlayerKind, TurnKind
from dramaturg.text import Json

NO_TEXT = "parts of messages that are no text were left out ({})"
OTHER_DRAFTS = "other drafts of a message were left out"
REASONING_BESIDE = "messages had reasoning in a field of its own, which was left out"

SPEAKER_KEYS = ("speaker", "name", "role", "from", "author", "sender")
"""Keys that may name the speaker; the first that is there counts."""

TEXT_KEYS = ("content", "value", "text", "message", "utterance", "mes")
"""Keys that may hold the words."""

_PLAYERS: Mapping[str, PlayerKind] = {
    **dict.fromkeys(("assistant", "gpt", "chatgpt", "bot", "model", "ai"), "model"),
    **dict.fromkeys(("user", "human"), "human"),
}
"""Who plays a part that a chat names by its side of the conversation."""

_NOTES = frozenset({"system", "developer", "tool", "function", "observation", "function_call", "tool_call"})
"""Sides of a conversation that nobody plays."""

_REASONING_KEYS = ("reasoning_content", "reasoning", "thinking")


@dataclass(frozen=True, slots=True)
class Keys:
    """Which keys a message has.

    Attributes:
        speaker: Those that may name the speaker, in order of preference.
        text: Those that may hold the words.
    """

    speaker: tuple[str, ...]
    text: tuple[str, ...]


OPENAI = Keys(("role",), ("content",))
SHAREGPT = Keys(("from",), ("value",))
ANY = Keys(SPEAKER_KEYS, TEXT_KEYS)


def is_message(value: Json, keys: Keys) -> bool:
    """Returns whether a value is a message with these keys."""
    if not isinstance(value, Mapping) or not _first(value, keys.speaker):
        return False
    return bool(_first(value, keys.text) or _calls(value))


def read_message(value: Json, keys: Keys, *, where: str, place: str, notes: Counter[str]) -> Said:
    """Returns one message.

    Args:
        value: An object of JSON.
        keys: Where its speaker and its words stand.
        where: File and conversation, for errors.
        place: Which message it is.
        notes: Counts what is left out.

    Raises:
        ContentError: It has no speaker, or words of a kind that is not known.
    """
    at = f"{where}, {place}"
    if not isinstance(value, Mapping):
        raise ContentError(f"is no message but {_kind(value)}", where=at, allowed=_allowed(keys))
    speaker_key, text_key = _first(value, keys.speaker), _first(value, keys.text)
    calls = _calls(value)
    if not speaker_key or not (text_key or calls):
        found = ", ".join(map(str, value)) or "none"
        raise ContentError(f"no message has only the keys {found}", where=at, allowed=_allowed(keys))
    side = value[speaker_key]
    if not isinstance(side, str) or not side.strip():
        raise ContentError(f"{speaker_key} is {_kind(side)}, not a name", where=at, allowed=_allowed(keys))
    notes[REASONING_BESIDE] += any(bool(value.get(key)) for key in _REASONING_KEYS)
    left_out = Counter[str]()
    text = _text(value.get(text_key) if text_key else None, at, left_out) or _refusal(value)
    for part, count in left_out.items():
        notes[NO_TEXT.format(part)] += count
    flags = tuple(f"import:left_out:{part}" for part in left_out)
    role = side.strip().casefold()
    name = value.get("name")
    speaker = name.strip() if isinstance(name, str) and name.strip() and role not in _NOTES else side.strip()
    kind: TurnKind = "speech"
    if role in _NOTES:
        kind = "procedure"
    elif calls and not text.strip():
        kind = "action"
    words = "\n".join(part for part in (text, *calls) if part)
    return Said(speaker, words, place, kind=kind, player=_PLAYERS.get(role), flags=flags)


def _first(value: Mapping[str, Json], keys: Sequence[str]) -> str:
    return next((key for key in keys if key in value), "")


def _allowed(keys: Keys) -> str:
    return f"an object with {' or '.join(keys.speaker)} and {' or '.join(keys.text)}"


def _text(content: Json, where: str, left_out: Counter[str]) -> str:
    """Returns the words of a content, be it text or parts; counts the kinds of the parts that are no text."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping) or not isinstance(content, Sequence):
        raise ContentError(f"the content is {_kind(content)}", where=where, allowed="text, or a list of parts")
    texts: list[str] = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping) and isinstance(part.get("text"), str):
            texts.append(cast("str", part["text"]))
        else:
            kind = part.get("type") if isinstance(part, Mapping) else None
            left_out[kind if isinstance(kind, str) and kind else "unknown"] += 1
    return "\n".join(texts)


def _refusal(value: Mapping[str, Json]) -> str:
    refusal = value.get("refusal")
    return refusal if isinstance(refusal, str) else ""


def _calls(value: Mapping[str, Json]) -> list[str]:
    """Returns the calls of tools that a message makes, each as a line."""
    calls = value.get("tool_calls") or ([value["function_call"]] if value.get("function_call") else [])
    if not isinstance(calls, Sequence) or isinstance(calls, str):
        return []
    lines: list[str] = []
    for call in calls:
        inner = call.get("function", call) if isinstance(call, Mapping) else None
        if isinstance(inner, Mapping):
            given = inner.get("arguments", "")
            shown = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, sort_keys=True)
            lines.append(f"{inner.get('name', 'tool')}({shown})")
    return lines


def _kind(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool() | int() | float():
            return f"the value {json.dumps(value)}"
        case str():
            return "text" if value.strip() else "empty text"
        case Mapping():
            return "an object"
        case _:
            return "a list"
