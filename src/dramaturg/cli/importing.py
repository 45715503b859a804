"""``dramaturg import``: plain chat logs become transcripts."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli.console import AsJson, say, say_json
from dramaturg.errors import UserError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dramaturg.stage.importing import ChatLog, Imported, Part
    from dramaturg.text import Json


class Shape(StrEnum):
    """How a log is written."""

    AUTO = "auto"
    PREFIX = "prefix"
    OPENAI = "openai"
    SHAREGPT = "sharegpt"
    JSONL = "jsonl"
    SILLYTAVERN = "sillytavern"
    CSV = "csv"


SHAPES = (
    "prefix: lines “Name: text”, with times or Markdown or without. openai, sharegpt: JSON, or one conversation a "
    "line. jsonl: JSON with other keys. sillytavern: its chats. csv: columns speaker and text. auto: find out."
)
ROLE = (
    "Who a speaker is: a role of the checklist, and whether a model, a human or a script plays it (a model where "
    "neither this nor the log says). '*' is everyone else; procedure, narration or text is a KIND that nobody plays."
)


def import_chats(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Chat logs, in UTF-8.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where the transcripts go, one a line.")],
    role: Annotated[list[str] | None, typer.Option("--role", metavar="NAME=KIND[:PLAYER]", help=ROLE)] = None,
    roles: Annotated[Path | None, typer.Option("--roles", metavar="FILE", help="The same for many, in YAML.")] = None,
    reference: Annotated[
        Path | None, typer.Option("--reference", metavar="FILE", help="Text that a judge may check against.")
    ] = None,
    title: Annotated[
        str, typer.Option("--scenario-title", help="Of the scenario; one title is one scenario. Else the file's name.")
    ] = "",
    model: Annotated[
        str, typer.Option("--model", metavar="NAME", help="The model that played the model's roles.")
    ] = "",
    language: Annotated[str, typer.Option("--language", help="Of the chats, ISO 639-1.")] = "en",
    shape: Annotated[Shape, typer.Option("--format", help=SHAPES)] = Shape.AUTO,
    checklist: Annotated[
        str, typer.Option("--checklist", metavar="NAME|FILE", help="Refuse roles of models that it does not judge.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Turn chat logs into transcripts, to be judged like any other. Turns of models are judged; others are context."""
    from dramaturg.files import read_text
    from dramaturg.stage.importing import RoleMap, Settings, load_roles, read_log, to_transcripts
    from dramaturg.text import write_atomically

    if len(language) != 2 or not (language.isascii() and language.isalpha() and language.islower()):
        raise UserError(f"{language!r} is no language", where="--language", allowed="two letters, such as en, it, zh")
    if out.is_dir():
        raise UserError("is a folder", where=f"--out {out}", allowed=f"a file, such as {out / 'transcripts.jsonl'}")
    if any(_same(out, file) for file in (*files, roles, reference)):
        raise UserError("would overwrite what is read", where=f"--out {out}", allowed="another file")
    people = RoleMap((*(load_roles(roles) if roles is not None else ()), *_parts(role or [])))
    form = None if shape is Shape.AUTO else shape.value
    logs = [read_log(file, people, form) for file in files]
    settings = Settings(
        title=title.strip(),
        reference=read_text(reference) if reference is not None else "",
        language=language,
        model=model.strip(),
    )
    imported, notes = to_transcripts(logs, people, settings)
    if checklist:
        _check_kinds(imported, checklist)
    write_atomically(out, "".join(f"{one.transcript.model_dump_json()}\n" for one in imported))
    if as_json:
        say_json(_as_json(out, files, logs, imported, notes))
    else:
        _tell(out, files, logs, imported, notes, checklist)


def _parts(roles: Sequence[str]) -> Iterator[Part]:
    """Yields what each ``--role`` says.

    Raises:
        UserError: One has another form, or two are about one name.
    """
    from dramaturg.stage.importing import parse_role
    from dramaturg.stage.importing.roles import plain

    first: dict[str, str] = {}
    for text in roles:
        part = parse_role(text)
        name = plain(part.name)
        if name in first:
            what = f"{first[name]!r} and {text!r} are about one name"
            raise UserError(what, where="--role", allowed="each name once")
        first[name] = text
        yield part


def _same(out: Path, file: Path | None) -> bool:
    return file is not None and out.exists() and file.exists() and out.samefile(file)


def _check_kinds(imported: Sequence[Imported], checklist: str) -> None:
    from dramaturg.files import find, load_yaml
    from dramaturg.judge.checklist import Checklist

    by = load_yaml(find("checklists", checklist, where="--checklist"), Checklist)
    known = {kind for indicator in by.indicators for kind in indicator.roles}
    played = {
        role.kind for one in imported for role in one.transcript.roles if one.transcript.cast[role.id].kind == "model"
    }
    for kind in sorted(played - known) if known else ():
        raise UserError(f"the checklist {by.id} judges no {kind!r}", where="--role", allowed=did_you_mean(kind, known))
    if not played:
        raise UserError(
            "no model plays a role, so there is nothing to judge", where="--role", allowed="NAME=KIND:model"
        )


def _tell(
    out: Path,
    files: Sequence[Path],
    logs: Sequence[ChatLog],
    imported: Sequence[Imported],
    notes: Mapping[str, int],
    checklist: str,
) -> None:
    from dramaturg.stage.importing import FORMATS

    for file, log in zip(files, logs, strict=True):
        chats, messages = len(log.chats), sum(len(chat.messages) for chat in log.chats)
        words = next(words for form, words in FORMATS.items() if form == log.format)
        say(f"{file}: read as {log.format} ({words}); conversations: {chats}, messages: {messages}")
    for entry in _roles(imported):
        judged = "judged" if entry["played_by"] == "model" else "context"
        say(f"  {entry['name']}: {entry['kind']}, played by {entry['played_by']} ({judged}); turns: {entry['turns']}")
    for note, count in notes.items():
        say(f"  {note}: {count}")
    if not any(one.transcript.judged_turns() for one in imported):
        say("! No turn is judged: no role is played by a model.")
    say(f"{out}: transcripts: {len(imported)}")
    say(f"next: dramaturg judge {out} --checklist {checklist or 'NAME'} --judge SPEC --out DIR")


def _roles(imported: Sequence[Imported]) -> list[dict[str, Json]]:
    """Returns each character that appears, with its number of turns over all transcripts."""
    turns: dict[tuple[str, str, str], int] = {}
    for one in imported:
        of_role = {role.id: (role.name, role.kind, one.transcript.cast[role.id].kind) for role in one.transcript.roles}
        for turn in one.transcript.turns:
            if turn.role in of_role:
                turns[of_role[turn.role]] = turns.get(of_role[turn.role], 0) + 1
    return [
        {"name": name, "kind": kind, "played_by": player, "turns": count}
        for (name, kind, player), count in turns.items()
    ]


def _as_json(
    out: Path,
    files: Sequence[Path],
    logs: Sequence[ChatLog],
    imported: Sequence[Imported],
    notes: Mapping[str, int],
) -> Json:
    return {
        "out": str(out),
        "files": [
            {"file": str(file), "format": log.format, "conversations": len(log.chats)}
            for file, log in zip(files, logs, strict=True)
        ],
        "transcripts": [
            {
                "id": one.transcript.id,
                "scenario": one.transcript.scenario.id,
                "log": one.log,
                "place": one.place,
                "turns": len(one.transcript.turns),
                "judged": len(one.transcript.judged_turns()),
            }
            for one in imported
        ],
        "roles": _roles(imported),
        "notes": dict(notes),
    }
