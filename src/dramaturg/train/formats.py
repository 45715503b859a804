"""Forms of a training file: our own lines, TRL, Alpaca, ShareGPT and Parquet; and the reading of anybody's.

Whatever the form, the answer is the last message and where it is from stays beside it, so that a file can be checked
for leaks after it has left the folder.

Sources: the conversational forms of TRL (``messages``; ``prompt`` and ``completion``), and the data forms of
LLaMA-Factory (``alpaca`` with ``system`` and ``history``; ``sharegpt``).
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, assert_never, cast, get_args

from dramaturg.errors import ContentError, MissingExtraError, UserError
from dramaturg.files import read_lines, read_text
from dramaturg.text import Json, write_atomically
from dramaturg.train.example import ExampleRow
from dramaturg.train.leaks import Piece

Form = Literal["trl", "alpaca", "sharegpt", "parquet"]
FORMS: tuple[Form, ...] = get_args(Form)

ALLOWED = "rows with messages, conversations, prompt and completion, or instruction and output"

_HUMAN = frozenset({"human", "user"})
_MODEL = frozenset({"gpt", "assistant", "model", "chatgpt"})
_ROLES: Mapping[str, str] = {**dict.fromkeys(_HUMAN, "user"), **dict.fromkeys(_MODEL, "assistant"), "system": "system"}


@dataclass(frozen=True, slots=True)
class Chat:
    """A row of a training file, whatever its form.

    Attributes:
        messages: Role and text of each, the answer last.
        scene: Id of its scene or case; empty where the row does not say.
        characters: Names; none where the row does not say.
    """

    messages: tuple[tuple[str, str], ...]
    scene: str = ""
    characters: tuple[str, ...] = ()


def formed(row: ExampleRow, form: Form) -> dict[str, Json]:
    """Returns a row in another form; what it is from stays beside it.

    Alpaca and ShareGPT have turns alone: there, neighbours of one role are joined, as for a model that takes no others.

    Args:
        row: One of ours.
        form: Which; a row of a Parquet file is ours with the chat as it is.

    Raises:
        UserError: The form cannot hold the chat.
    """
    meta = cast("dict[str, Json]", row.model_dump(mode="json", exclude={"messages"}))
    chat = [(one.role, one.content) for one in row.messages]
    match form:
        case "trl":
            *asked, answer = [{"role": role, "content": text} for role, text in chat]
            return {"prompt": asked, "completion": [answer], **meta}
        case "alpaca":
            system, turns = _pairs(row.id, chat)
            *history, last = turns
            return {
                "instruction": last[0],
                "input": "",
                "output": last[1],
                "system": system,
                "history": [list(pair) for pair in history],
                **meta,
            }
        case "sharegpt":
            system, turns = _pairs(row.id, chat)
            said = [
                {"from": who, "value": text}
                for asked, answered in turns
                for who, text in (("human", asked), ("gpt", answered))
            ]
            return {"conversations": said, "system": system, **meta}
        case "parquet":
            return {"messages": [{"role": role, "content": text} for role, text in chat], **meta}
        case _:
            assert_never(form)


def all_formed(splits: Mapping[str, Sequence[ExampleRow]], form: Form) -> dict[str, list[dict[str, Json]]]:
    """Returns the rows of all splits in a form, before anything is written.

    Args:
        splits: Rows by split.
        form: Which form.

    Raises:
        MissingExtraError: Parquet needs pyarrow.
        UserError: The form cannot hold a chat.
    """
    if form == "parquet":
        _pyarrow()
    return {name: [formed(row, form) for row in rows] for name, rows in splits.items()}


def write_form(folder: Path, split: str, rows: Sequence[Mapping[str, Json]], form: Form) -> Path:
    """Returns the file of a split in a form, written.

    Args:
        folder: Where it goes.
        split: Its name.
        rows: What is in it, in the form.
        form: Which form.

    Raises:
        MissingExtraError: Parquet needs pyarrow.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = file_of(folder, split, form)
    match form:
        case "parquet":
            _write_parquet(path, rows)
        case "trl":
            write_atomically(path, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows))
        case "alpaca" | "sharegpt":
            write_atomically(path, json.dumps(rows, ensure_ascii=False, indent=1) + "\n")
        case _:
            assert_never(form)
    return path


def file_of(folder: Path, split: str, form: Form) -> Path:
    """Returns where a split in a form lies in its folder."""
    ending = {"trl": "jsonl", "alpaca": "json", "sharegpt": "json", "parquet": "parquet"}[form]
    return folder / f"{split}.{ending}"


def read_pieces(path: Path, split: str) -> Iterator[Piece]:
    """Yields the rows of a training file as pieces of a split, whatever form they have.

    Args:
        path: JSON Lines, or a JSON list.
        split: The split that its rows are in.

    Raises:
        ContentError: A row has no form that is known; the message names the line.
    """
    for place, row in _rows(path):
        chat = read_row(row, where=place)
        texts = tuple(text for _, text in chat.messages)
        yield Piece(split, place, texts, chat.scene, chat.characters)


def read_row(row: Mapping[str, object], *, where: str = "") -> Chat:
    """Returns the chat of a row in any known form.

    Args:
        row: As JSON gives it.
        where: Its place, for the error.

    Raises:
        ContentError: It has no form that is known.
    """
    listed = row.get("characters")
    named = cast("list[object]", listed) if isinstance(listed, list) else [listed]
    characters = tuple(name for name in map(_text, named) if name)
    return Chat(_messages(row, where), _text(row.get("scene")) or _text(row.get("case")), characters)


def _text(value: object) -> str:
    """Returns a name or an id as text; a number is one too."""
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _messages(row: Mapping[str, object], where: str) -> tuple[tuple[str, str], ...]:
    if isinstance(listed := row.get("messages") or row.get("conversations"), list):
        chat = [_message(one, where) for one in cast("list[object]", listed)]
        system = row.get("system")
        return (*((("system", system),) if isinstance(system, str) and system else ()), *chat)
    if "prompt" in row and "completion" in row:
        return (*_side(row["prompt"], "user", where), *_side(row["completion"], "assistant", where))
    asked, answer = row.get("instruction"), row.get("output")
    if isinstance(asked, str) and isinstance(answer, str):
        more = row.get("input")
        system, history = row.get("system"), row.get("history")
        said: list[tuple[str, str]] = [("system", system)] if isinstance(system, str) and system else []
        for pair in cast("list[object]", history) if isinstance(history, list) else ():
            match pair:
                case [str() as question, str() as reply]:
                    said += [("user", question), ("assistant", reply)]
                case _:
                    raise _unknown(where)
        whole = f"{asked}\n{more}" if isinstance(more, str) and more else asked
        return (*said, ("user", whole), ("assistant", answer))
    raise _unknown(where)


def _message(message: object, where: str) -> tuple[str, str]:
    match message:
        case {"role": str() as role, "content": str() as text} | {"from": str() as role, "value": str() as text}:
            return _ROLES.get(role, role), text
        case _:
            raise _unknown(where)


def _side(side: object, role: str, where: str) -> list[tuple[str, str]]:
    match side:
        case str():
            return [(role, side)]
        case list():
            return [_message(one, where) for one in cast("list[object]", side)]
        case _:
            raise _unknown(where)


def _unknown(where: str) -> ContentError:
    return ContentError("is no row of a training file in a form that is known", where=where, allowed=ALLOWED)


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, object]]]:
    if path.suffix == ".json":
        try:
            whole: object = json.loads(read_text(path))
        except (ValueError, RecursionError):
            raise ContentError("is no JSON", where=str(path), allowed="a list of rows, or a .jsonl file") from None
        if not isinstance(whole, list):
            raise ContentError("is no list of rows", where=str(path), allowed=ALLOWED)
        for number, row in enumerate(cast("list[object]", whole), start=1):
            yield f"{path}#{number}", _mapping(row, f"{path}#{number}")
        return
    for number, line in read_lines(path):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise ContentError("is no JSON", where=f"{path}:{number}") from None
        yield f"{path}:{number}", _mapping(row, f"{path}:{number}")


def _mapping(row: object, where: str) -> Mapping[str, object]:
    if not isinstance(row, dict):
        raise _unknown(where)
    return cast("Mapping[str, object]", row)


def _pairs(name: str, chat: Sequence[tuple[str, str]]) -> tuple[str, list[tuple[str, str]]]:
    """Returns the system prompt and the turns as pairs of question and answer.

    Raises:
        UserError: The user does not begin, or a system prompt stands among the turns.
    """
    joined = [
        (role, "\n\n".join(text for _, text in said)) for role, said in groupby(chat, key=lambda message: message[0])
    ]
    system = joined[0][1] if joined[0][0] == "system" else ""
    turns = joined[1:] if joined[0][0] == "system" else joined
    asked, answered = turns[::2], turns[1::2]
    if {role for role, _ in asked} != {"user"} or {role for role, _ in answered} != {"assistant"}:
        raise UserError(
            f"example {name}: user and assistant do not take turns",
            allowed="the forms trl and parquet, or train.jsonl itself",
        )
    return system, [(one, other) for (_, one), (_, other) in zip(asked, answered, strict=True)]


def _write_parquet(path: Path, rows: Sequence[Mapping[str, Json]]) -> None:
    pyarrow = _pyarrow()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)


def _pyarrow() -> Any:
    try:
        importlib.import_module("pyarrow.parquet")
        return importlib.import_module("pyarrow")
    except ImportError:
        raise MissingExtraError("a Parquet file needs pyarrow", "train") from None
