"""Chats in JSON: a list of messages, an object that holds one, a list of such, or one of them a line."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, cast

from dramaturg.errors import ContentError
from dramaturg.stage.importing.chat import Chat, ChatLog, Said
from dramaturg.stage.importing.messages import (
    ANY,
    OPENAI,
    OTHER_DRAFTS,
    REASONING_BESIDE,
    SHAREGPT,
    Keys,
    is_message,
    read_message,
)
from dramaturg.text import Json

JsonFormat = Literal["openai", "sharegpt", "jsonl"]

KEYS: Mapping[JsonFormat, Keys] = {"openai": OPENAI, "sharegpt": SHAREGPT, "jsonl": ANY}

HOLDERS = ("messages", "conversations", "conversation", "turns", "dialogue", "dialog", "chat")
"""Keys under which an object holds the messages of one conversation."""

EMPTY = "conversations without a message were left out"

_TRANSCRIPT = "dramaturg-transcript/"


def parse_json(text: str, path: Path) -> list[tuple[int, Json]]:
    """Returns the values of a JSON or JSON Lines file, each with the line at which it begins.

    Raises:
        ContentError: It is neither; the message names the line.
    """
    try:
        return [(1, cast("Json", json.loads(text)))]
    except RecursionError:
        raise ContentError("is nested too deeply", where=str(path)) from None
    except ValueError as whole:
        lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
        values: list[tuple[int, Json]] = []
        for number, line in lines:
            try:
                values.append((number, cast("Json", json.loads(line))))
            except (ValueError, RecursionError) as problem:
                said = whole if not values else problem
                at = getattr(whole, "lineno", number) if not values else number
                told = getattr(said, "msg", "") or str(said)
                raise ContentError(f"is no JSON: {told}", where=f"{path}:{at}") from None
        return values


def guess_json(values: Sequence[tuple[int, Json]]) -> JsonFormat | Literal["sillytavern"] | None:
    """Returns the format of parsed values by their first message; None where there is none."""
    first = values[0][1] if values else None
    if isinstance(first, Mapping) and (("user_name" in first and "character_name" in first) or "mes" in first):
        return "sillytavern"
    message = _first_message(first)
    if message is None:
        return None
    if is_message(message, SHAREGPT):
        return "sharegpt"
    return "openai" if is_message(message, OPENAI) else "jsonl"


def read_json_chats(values: Sequence[tuple[int, Json]], path: Path, form: JsonFormat) -> ChatLog:
    """Returns the conversations of parsed values.

    Args:
        values: With the line at which each begins.
        path: Where they stand, for errors.
        form: Which keys messages have.

    Raises:
        ContentError: A value is no chat; the message names the conversation and the message.
    """
    keys = KEYS[form]
    notes = Counter[str]()
    chats: list[Chat] = []
    for place, messages in _conversations(values, path):
        where = f"{path}: {place}" if place else str(path)
        said = tuple(
            read_message(message, keys, where=where, place=f"message {number}", notes=notes)
            for number, message in enumerate(messages, start=1)
        )
        if said:
            chats.append(Chat(said, place))
        notes[EMPTY] += not said
    if not chats:
        raise ContentError("holds no message", where=str(path))
    return ChatLog(path.stem, form, tuple(chats), +notes)


def read_sillytavern(values: Sequence[tuple[int, Json]], path: Path) -> ChatLog:
    """Returns the one conversation of a SillyTavern chat: a head, then one message a line.

    Raises:
        ContentError: A line is no message of such a chat.
    """
    notes = Counter[str]()
    messages: list[Said] = []
    for number, value in values:
        if not isinstance(value, Mapping):
            raise ContentError("is no message of SillyTavern", where=f"{path}:{number}", allowed="name, is_user, mes")
        if "mes" not in value and "character_name" in value:
            continue
        name, text = value.get("name"), value.get("mes")
        if not isinstance(name, str) or not isinstance(text, str):
            raise ContentError("is no message of SillyTavern", where=f"{path}:{number}", allowed="name, is_user, mes")
        swipes, extra = value.get("swipes"), value.get("extra")
        if isinstance(swipes, Sequence) and not isinstance(swipes, str):
            notes[OTHER_DRAFTS] += max(0, len(swipes) - 1)
        notes[REASONING_BESIDE] += isinstance(extra, Mapping) and bool(extra.get("reasoning"))
        kind = "procedure" if value.get("is_system") is True else "speech"
        player = "human" if value.get("is_user") is True else "model"
        messages.append(Said(name.strip(), text, f"line {number}", kind=kind, player=player))
    if not messages:
        raise ContentError("holds no message", where=str(path))
    return ChatLog(path.stem, "sillytavern", (Chat(tuple(messages)),), +notes)


def _conversations(values: Sequence[tuple[int, Json]], path: Path) -> Iterator[tuple[str, Sequence[Json]]]:
    """Yields place and messages of each conversation."""
    if len(values) == 1:
        value = values[0][1]
        if isinstance(value, Sequence) and not isinstance(value, str) and value and _is_chat(value[0]):
            for number, inner in enumerate(value, start=1):
                yield f"conversation {number}", _messages(inner, f"{path}: conversation {number}")
        else:
            yield "", _messages(value, str(path))
    elif values and isinstance(values[0][1], Mapping) and _held(values[0][1]) is None:
        yield "", [value for _, value in values]
    else:
        for number, value in values:
            yield f"line {number}", _messages(value, f"{path}:{number}")


def _messages(value: Json, where: str) -> Sequence[Json]:
    messages = _held(value) if isinstance(value, Mapping) else value
    if messages is None and is_message(value, ANY):
        messages = [value]
    if messages is None or isinstance(messages, (str, Mapping)) or not isinstance(messages, Sequence):
        raise ContentError(f"holds no chat{_seen(value)}", where=where, allowed=f"one of {', '.join(HOLDERS)}")
    return messages


def _is_chat(value: Json) -> bool:
    """Returns whether an element of a list is a conversation of its own, not a message."""
    return not is_message(value, ANY) or (isinstance(value, Mapping) and _held(value) is not None)


def _seen(value: Json) -> str:
    if isinstance(value, Mapping):
        if str(value.get("format", "")).startswith(_TRANSCRIPT):
            return ": it is a transcript already, ready for dramaturg judge"
        keys = [str(key) for key in value]
        return ", only the keys " + ", ".join(keys[:8]) + (", …" if len(keys) > 8 else "")
    return ""


def _held(value: Mapping[str, Json]) -> Sequence[Json] | None:
    """Returns what an object holds as messages, or None."""
    if str(value.get("format", "")).startswith(_TRANSCRIPT):
        return None
    for key in HOLDERS:
        held = value.get(key)
        if isinstance(held, Sequence) and not isinstance(held, str):
            return held
    return None


def _first_message(value: Json) -> Mapping[str, Json] | None:
    for _ in range(3):
        if isinstance(value, Mapping):
            held = _held(value)
            if held is None:
                return value if is_message(value, ANY) else None
            value = held
        if not isinstance(value, Sequence) or isinstance(value, str) or not value:
            return None
        value = value[0]
        if isinstance(value, Mapping) and _held(value) is None:
            return value
    return None
