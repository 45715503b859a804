"""Reads the folders of finished runs: transcripts, ratings, and the calls of their ledgers with the exact chats."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from dramaturg.errors import UserError
from dramaturg.files import read_jsonl, read_text
from dramaturg.judge.rating import RatingJudgement
from dramaturg.ledger import Ledger
from dramaturg.model import Message
from dramaturg.model.request import MessageRole
from dramaturg.stage.transcript import Transcript

TRANSCRIPTS = "transcripts.jsonl"
UNITS = "units.jsonl"
RATINGS = "ratings.jsonl"
LEDGER = "ledger.db"

_PROMPTS = "prompts/"
_REASK = "/reask/"
_ANEW = "/anew"


class Unit(BaseModel):
    """What became of a planned unit, as far as it matters here."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    unit: str
    kind: Literal["stage", "judge"]
    status: Literal["done", "failed", "not_run", "open"]
    subject_model: str


class _Manifest(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    study: str = ""
    entries: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Call:
    """One committed call of a ledger.

    Attributes:
        key: Its key.
        unit: The unit that made it.
        step: Path inside the unit.
        attempt: 0, then 1 … for redraws.
        role: Who spoke.
        purpose: What for.
        model: Identity of the model as text.
        status: How it ended.
        text: The visible answer.
        answer_schema: JSON of the answer's schema with its name; empty for free text.
        last_message: Hash of the chat's last message.
    """

    key: str
    unit: str
    step: str
    attempt: int
    role: str
    purpose: str
    model: str
    status: str
    text: str
    answer_schema: str
    last_message: str

    @property
    def is_reask(self) -> bool:
        """Whether it asks again after an answer that could not be read."""
        return _REASK in self.step

    @property
    def base_step(self) -> str:
        """The step without what a second ask or a new chat adds."""
        return self.step.partition(_REASK)[0].removesuffix(_ANEW)


@dataclass(frozen=True, slots=True)
class Source:
    """One folder of a run.

    Attributes:
        folder: Where it is.
        study: What its snapshot calls it.
        transcripts: By id.
        ratings: Of roles in transcripts.
        units: What became of what was planned.
        prompt_hashes: Of the prompts that it was made with, as ``VARIANT/LANGUAGE/NAME``.
    """

    folder: Path
    study: str
    transcripts: Mapping[str, Transcript]
    ratings: tuple[RatingJudgement, ...]
    units: tuple[Unit, ...]
    prompt_hashes: Mapping[str, str]

    def hashes(self, head: str) -> dict[str, str]:
        """Returns the hashes of the prompts whose names begin so."""
        return {path: of for path, of in self.prompt_hashes.items() if path.rpartition("/")[2].startswith(head)}


@dataclass
class Runs:
    """Finished runs, and what their ledgers hold.

    Attributes:
        sources: In the order given.
        calls: Final calls by key, in the ledgers' order.
    """

    sources: tuple[Source, ...]
    calls: dict[str, Call] = field(default_factory=dict[str, Call])
    _nodes: dict[str, tuple[str, Message]] = field(default_factory=dict[str, tuple[str, Message]])

    @cached_property
    def transcripts(self) -> dict[str, tuple[Source, Transcript]]:
        """All transcripts by their digest, each once, with the first folder that knows by what prompts it was played.

        A rating's folder holds the transcripts too, but the prompts of the rating alone.
        """
        found: dict[str, tuple[Source, Transcript]] = {}
        for source in self.sources:
            for digest, transcript in ((one.digest, one) for one in source.transcripts.values()):
                head = f"{transcript.suite}-"
                if digest not in found or (source.hashes(head) and not found[digest][0].hashes(head)):
                    found[digest] = (source, transcript)
        return found

    @cached_property
    def units(self) -> dict[str, list[Call]]:
        """The calls of every unit, in the order in which they were committed."""
        found: dict[str, list[Call]] = defaultdict(list)
        for call in self.calls.values():
            found[call.unit].append(call)
        return found

    def call(self, key: str, *, needed_by: str) -> Call:
        """Returns a call by its key.

        Args:
            key: Of the ledger.
            needed_by: What names it, for the error.

        Raises:
            UserError: No ledger of these runs holds it.
        """
        call = self.calls.get(key)
        if call is None:
            raise UserError(
                f"no ledger of these runs holds the call {key[:12]}",
                where=needed_by,
                allowed="name the folder of the run that made it too, or its ledger with --ledger",
            )
        return call

    def chat(self, call: Call) -> tuple[Message, ...]:
        """Returns the very messages of a call, oldest first.

        Raises:
            UserError: The ledger lacks one of them.
        """
        chat: list[Message] = []
        node = call.last_message
        while node:
            if node not in self._nodes:
                raise UserError(
                    f"the ledger lacks message {node[:12]} of call {call.key[:12]}", allowed="dramaturg ledger verify"
                )
            node, message = self._nodes[node]
            chat.append(message)
        return tuple(reversed(chat))

    def take(self, ledger: Ledger) -> None:
        """Adds what a ledger holds."""
        schemas = ledger.schemas()
        models = {of: f"{row.provider}:{row.name}" for of, row in ledger.identities().items()}
        for row in ledger.message_rows():
            self._nodes[row.hash] = (row.parent, Message(cast("MessageRole", row.role), row.text))
        for row in ledger.call_rows():
            if row.final:
                self.calls[row.key] = Call(
                    key=row.key,
                    unit=row.unit,
                    step=row.step,
                    attempt=row.attempt,
                    role=row.role,
                    purpose=row.purpose,
                    model=models.get(row.model, ""),
                    status=row.status,
                    text=row.text,
                    answer_schema=schemas.get(row.answer_schema, ""),
                    last_message=row.last_message,
                )


def read_runs(folders: Sequence[Path], *, ledger: str = "") -> Runs:
    """Returns finished runs with the calls of their ledgers; nothing in the folders changes.

    Args:
        folders: Output folders of runs and ratings.
        ledger: Path or URL of a ledger that all of them share; each folder's own by default.

    Raises:
        UserError: A folder holds no finished run, or no ledger; the message names it.
        ContentError: A file of a folder is broken.
        LedgerError: A ledger is in use, or is none.
    """
    runs = Runs(tuple(_source(folder) for folder in folders))
    places = [ledger] if ledger else [_ledger_of(folder) for folder in folders]
    for place in places:
        with Ledger.open(place, replay_only=True) as opened:
            runs.take(opened)
    return runs


def counted(calls: Iterable[Call]) -> list[Call]:
    """Returns, of each step, the first ask of the last draw: the one whose answer counts if it could be read.

    Args:
        calls: Of one unit, in the order in which they were committed.
    """
    last: dict[str, Call] = {}
    for call in calls:
        known = last.get(call.base_step)
        if not call.is_reask and (known is None or call.attempt >= known.attempt):
            last[call.base_step] = call
    return list(last.values())


def people_of(transcript: Transcript) -> tuple[str, ...]:
    """Returns the names of whoever belongs to what was staged: all roles with a name that is theirs alone.

    A role id such as ``witness:nora-lindqvist`` says whose it is; ``narrator`` or ``judge`` is an office.
    """
    named = [role.name for role in transcript.roles if ":" in role.id] or [
        role.name for role in transcript.roles if role.kind == "character"
    ]
    return tuple(dict.fromkeys(" ".join(name.split()) for name in named if name.strip()))


def _source(folder: Path) -> Source:
    if not folder.is_dir():
        raise UserError("is no folder", where=str(folder), allowed="the --out folder of a run")
    for name in (TRANSCRIPTS, UNITS):
        if not (folder / name).is_file():
            unfinished = (folder / f"{name}.part").exists() or (folder / "snapshot").is_dir()
            what = f"the run is not finished: there is no {name} yet" if unfinished else f"holds no {name}"
            raise UserError(
                what,
                where=str(folder),
                allowed="finish it with the command that began it"
                if unfinished
                else "the --out folder of a finished run of a court or a world, or of a rating",
            )
    units = tuple(unit for _, unit in read_jsonl(folder / UNITS, Unit))
    if waiting := sum(unit.status == "open" for unit in units):
        raise UserError(
            f"the run is not finished: {waiting} of {len(units)} units are open",
            where=str(folder),
            allowed="finish it with the command that began it",
        )
    transcripts = {one.id: one for _, one in read_jsonl(folder / TRANSCRIPTS, Transcript)}
    if not transcripts:
        raise UserError("holds no transcript: nothing was staged to its end", where=str(folder))
    rated = folder / RATINGS
    ratings = tuple(one for _, one in read_jsonl(rated, RatingJudgement)) if rated.is_file() else ()
    manifest = _manifest(folder)
    hashes = {name.removeprefix(_PROMPTS): of for name, of in manifest.entries.items() if name.startswith(_PROMPTS)}
    return Source(folder, manifest.study, transcripts, ratings, units, hashes)


def _manifest(folder: Path) -> _Manifest:
    path = folder / "snapshot" / "manifest.json"
    if not path.is_file():
        return _Manifest()
    try:
        return _Manifest.model_validate_json(read_text(path))
    except ValidationError:
        raise UserError("is no manifest of a run", where=str(path)) from None


def _ledger_of(folder: Path) -> Path:
    path = folder / LEDGER
    if not path.is_file():
        raise UserError(
            f"holds no {LEDGER}", where=str(folder), allowed="name the ledger of the run with --ledger PATH|URL"
        )
    return path
