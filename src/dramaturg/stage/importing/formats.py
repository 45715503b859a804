"""Which shape a log has, and its conversations."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Literal, assert_never, get_args

from dramaturg.errors import ContentError
from dramaturg.files import read_text
from dramaturg.stage.importing.chat import Chat, ChatLog
from dramaturg.stage.importing.json_chats import guess_json, parse_json, read_json_chats, read_sillytavern
from dramaturg.stage.importing.prefixed import is_prefixed, read_prefixed
from dramaturg.stage.importing.roles import RoleMap
from dramaturg.stage.importing.tables import is_table, read_table
from dramaturg.text import storable

Format = Literal["prefix", "openai", "sharegpt", "jsonl", "sillytavern", "csv"]

FORMATS: dict[Format, str] = {
    "prefix": "lines that begin with “Name:”",
    "openai": "messages with role and content",
    "sharegpt": "messages with from and value",
    "jsonl": "messages with a speaker and a text in JSON",
    "sillytavern": "a chat of SillyTavern",
    "csv": "a table with a column of speakers",
}
"""The shapes that can be read, in words."""

NUL = "NUL characters became \ufffd"

_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_MOST_NULS = 0.1
"""Share of NUL bytes from which a file is no text in UTF-8."""


def read_log(path: Path, roles: RoleMap, form: Format | None = None) -> ChatLog:
    """Returns the conversations of a file.

    Args:
        path: The file, in UTF-8.
        roles: Who is who; only logs of lines need it to be read.
        form: Its shape; None finds it out.

    Raises:
        ContentError: It cannot be read, is in another encoding, or has another shape; the message says where.
    """
    text, nuls = _text(path)
    chosen = form or _guess(text, path)
    log = _read(text, path, roles, chosen)
    nuls += sum(said.text.count("\0") for chat in log.chats for said in chat.messages)
    return replace(log, chats=tuple(map(_storable, log.chats)), notes=+Counter({**log.notes, NUL: nuls}))


def _storable(chat: Chat) -> Chat:
    """Returns a chat without what an escape of JSON can write and no file can hold."""
    messages = (replace(said, speaker=storable(said.speaker), text=storable(said.text)) for said in chat.messages)
    return replace(chat, messages=tuple(messages))


def _text(path: Path) -> tuple[str, int]:
    """Returns the text with plain ends of lines and without NUL, and how many NUL it had."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ContentError(f"cannot be read: {error.strerror or error}", where=str(path)) from None
    nuls = data.count(0)
    if data.startswith(_UTF16) or nuls > _MOST_NULS * len(data):
        raise ContentError("is UTF-16 or no text at all", where=str(path), allowed="save the file as UTF-8")
    text = storable(read_text(path)).replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise ContentError("is empty", where=str(path))
    return text, nuls


def _guess(text: str, path: Path) -> Format:
    if text.lstrip()[0] in "[{" and not is_prefixed(text.lstrip().split("\n", 1)[0]):
        found = guess_json(parse_json(text, path))
        return found or "jsonl"
    if is_table(text):
        return "csv"
    if is_prefixed(text):
        return "prefix"
    raise ContentError(
        "has none of the shapes that can be read",
        where=str(path),
        allowed=f"--format {'|'.join(get_args(Format))}; lines begin with “Name: ”",
    )


def _read(text: str, path: Path, roles: RoleMap, form: Format) -> ChatLog:
    match form:
        case "prefix":
            return read_prefixed(text, path, roles)
        case "csv":
            return read_table(text, path)
        case "sillytavern":
            return read_sillytavern(parse_json(text, path), path)
        case "openai" | "sharegpt" | "jsonl":
            return read_json_chats(parse_json(text, path), path, form)
        case _:
            assert_never(form)
