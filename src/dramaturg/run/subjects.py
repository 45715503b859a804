"""Whose performance a transcript is: the label that tables use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from dramaturg.files import OnTorn, read_jsonl
from dramaturg.run.records import UnitRecord
from dramaturg.stage.transcript import Player


class _Cast(BaseModel):
    """The two fields of a transcript that are needed here; the rest is passed over unread."""

    model_config = ConfigDict(extra="ignore")

    id: str
    cast: dict[str, Player]


def measured_models(cast: Mapping[str, Player]) -> tuple[str, ...]:
    """Returns the models that play the measured roles, or all models where no role is marked as measured."""
    players = [player for player in cast.values() if player.kind == "model"]
    measured = [player for player in players if player.subject] or players
    return tuple(dict.fromkeys(player.model or "unnamed model" for player in measured))


def subject_of(cast: Mapping[str, Player]) -> str:
    """Returns the models that play the measured roles, joined to a label."""
    return " + ".join(measured_models(cast)) or "no model"


def labels_of(records: Iterable[UnitRecord]) -> dict[str, str]:
    """Returns the label that a study gives each transcript's subject, by the transcript's id."""
    return {transcript_of(record): label_of(record) for record in records if record.kind == "stage"}


def label_of(record: UnitRecord) -> str:
    """Returns what tables call the subject of a unit.

    Under another variant of the prompts, or under a procedure that the case was not made for, it is another subject.
    """
    prompts = "" if record.prompts in {"", "default"} else f" with {record.prompts}"
    procedure = f" under {record.procedure}" if record.procedure else ""
    return f"{record.subject}{prompts}{procedure}"


def transcript_of(record: UnitRecord) -> str:
    """Returns the id of the transcript that a performance made."""
    return f"{record.case}-{record.unit}"


def measured_roles(out: Path, labels: Mapping[str, str], *, on_torn: OnTorn) -> dict[tuple[str, str], str]:
    """Returns the study's label of every measured role, by ids of transcript and role.

    Args:
        out: Output folder of a run.
        labels: Label of each transcript's subject, by the transcript's id.
        on_torn: Is told of a torn last line, which is left out.

    Raises:
        ContentError: A line is broken; the message names it.
    """
    path = out / "transcripts.jsonl"
    if not path.is_file():
        return {}
    return {
        (transcript.id, role): labels[transcript.id]
        for _, transcript in read_jsonl(path, _Cast, on_torn=on_torn)
        if transcript.id in labels
        for role, player in transcript.cast.items()
        if player.subject
    }


def subjects_of_run(out: Path, *, on_torn: OnTorn) -> dict[str, str]:
    """Returns the label of each transcript's subject: the study's where there is one, else its models.

    Args:
        out: Output folder of a run or a judging.
        on_torn: Is told of a torn last line, which is left out.

    Raises:
        ContentError: A line is broken; the message names it.
    """
    units, transcripts = out / "units.jsonl", out / "transcripts.jsonl"
    labels: dict[str, str] = {}
    if units.is_file():
        labels |= labels_of(record for _, record in read_jsonl(units, UnitRecord, on_torn=on_torn))
    if transcripts.is_file():
        for _, transcript in read_jsonl(transcripts, _Cast, on_torn=on_torn):
            if transcript.id not in labels:
                labels[transcript.id] = subject_of(transcript.cast)
    return labels
