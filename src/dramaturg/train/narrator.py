"""Narrator data: whom an act affects, what comes of it, how it leaves people, what surrounds them then.

Only answers that the play could take as they stood are learned: in the form, about somebody who is there, and more than
a deed told over again.

Source: CharacterBox, sections 4 and 6.4 (CharacterNR): a small model trained on what a larger one narrated.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, cast

from pydantic import BaseModel

from dramaturg.errors import UserError
from dramaturg.model import Message
from dramaturg.model.one_answer import read_one
from dramaturg.stage.transcript import Transcript
from dramaturg.stage.world.answers import NONE, EnvironmentUpdate, Influence, InfluenceOrUpdate, Result, Update
from dramaturg.stage.world.sameness import LEAST_LETTERS, is_same
from dramaturg.stage.world.setting import NARRATOR
from dramaturg.stage.world.written import prose, read_influences
from dramaturg.train.acting import WORLD, example_of
from dramaturg.train.example import Gathered
from dramaturg.train.reading import Call, Runs, counted

TASKS = ("influence", "result", "update", "environment")
"""Purposes of a narrator's calls; with the protocol `fast`, an update is part of the two before it."""

_LINES = frozenset({"influence", "result"})
"""Tasks that a play also asks for in free text."""


def narrator(runs: Runs) -> Gathered:
    """Returns an example for each answer of a narrator that a play could take as it stood.

    Raises:
        UserError: No play of a world is among the runs, or a ledger lacks its calls.
    """
    found = Gathered()
    plays = [(source, transcript) for source, transcript in runs.transcripts.values() if transcript.suite == WORLD]
    if not plays:
        raise UserError(
            "no play of a world is among these runs: nobody narrates",
            where=", ".join(str(source.folder) for source in runs.sources),
            allowed="folders of dramaturg world run",
        )
    for source, transcript in plays:
        told = {turn.call for turn in transcript.turns if turn.role == NARRATOR and turn.call}
        some = next((turn for turn in transcript.turns if turn.call and not turn.human), None)
        if some is None:
            continue
        unit = runs.call(some.call, needed_by=f"{source.folder}: {transcript.id}/{some.id}").unit
        for key in told:
            runs.call(key, needed_by=f"{source.folder}: {transcript.id}")
        narrated = [call for call in runs.units[unit] if call.role == NARRATOR and call.purpose in TASKS]
        for call in counted(narrated):
            answer, why = _answer(call, runs.chat(call), transcript, told)
            if why:
                found.left_out[f"{call.purpose}: {why}"] += 1
                continue
            found.labels[call.purpose] += 1
            found.examples.append(
                example_of(runs, source, transcript, call, answer, kind="narrator", teacher=call.model, place=call.step)
            )
    found.terms = {"tasks": dict(sorted(found.labels.items()))}
    return found


def _answer(call: Call, chat: tuple[Message, ...], transcript: Transcript, told: Collection[str]) -> tuple[str, str]:
    """Returns the answer as the play keeps it, or why it is left out."""
    if call.status == "ok" and call.purpose == "result" and call.key not in told:
        return "", "told nothing new"
    names = {role.name.casefold() for role in transcript.roles if role.kind == "character"}
    return usable_answer(call, chat, names)


def usable_answer(call: Call, chat: tuple[Message, ...], names: Collection[str]) -> tuple[str, str]:
    """Returns a narrator's answer as a play keeps it, or why a play could not take it as it stands.

    Args:
        call: What was asked and answered.
        chat: Its messages.
        names: Of the characters, case folded.
    """
    if call.status != "ok":
        return "", call.status
    if not call.answer_schema:
        return _free(call, names) if call.purpose in _LINES else ("", "not in the form")
    read = read_one(call.text, _form(call))
    if read.value is None or read.repaired:
        return "", "not in the form"
    told, again = _told(read.value)
    if why := _not_new(told, chat, again=again):
        return "", why
    if isinstance(read.value, Influence):
        return _influence(read.value, call, chat)
    return read.value.model_dump_json(), ""


def _told(value: BaseModel) -> tuple[str, bool]:
    """Returns what an answer tells in words of its own, and whether it may be what was answered before."""
    match value:
        case Influence():
            return value.influence, False
        case Result():
            return value.result, False
        case EnvironmentUpdate():
            return value.undecided, True
        case _:
            return "", True


def _not_new(told: str, chat: tuple[Message, ...], *, again: bool) -> str:
    """Returns why what is told is nothing new: small models copy the question, and what they answered before."""
    told = told.strip()
    if len(told) < LEAST_LETTERS:
        return ""
    if told in chat[-1].text:
        return "copies the question"
    earlier = (message.text for message in chat if message.role == "assistant")
    return "repeats an earlier answer" if not again and any(told in text for text in earlier) else ""


def _form(call: Call) -> type[BaseModel]:
    match call.purpose:
        case "influence":
            return InfluenceOrUpdate if "position" in _properties(call) else Influence
        case "result":
            return Result
        case "update":
            return Update
        case _:
            return EnvironmentUpdate


def _influence(value: Influence, call: Call, chat: tuple[Message, ...]) -> tuple[str, str]:
    ids = cast("list[str]", _properties(call).get("target", {}).get("enum", []))
    if value.target not in ids:
        return "", "names nobody who is there"
    if value.target == NONE:
        return value.model_dump_json(), ""
    if not value.influence.strip():
        return "", "says nothing of the target"
    deeds = [line.partition(": ")[2].strip("“”") for line in chat[-1].text.splitlines() if line.startswith("- ")]
    if any(is_same(value.influence, deed) for deed in deeds):
        return "", "only tells the deed again"
    kept = value
    if isinstance(value, InfluenceOrUpdate):  # of whoever acted is asked only where nobody else is affected
        kept = value.model_copy(update={"position": "", "state": ""})
    return kept.model_dump_json(), ""


def _free(call: Call, names: Collection[str]) -> tuple[str, str]:
    if call.purpose == "result":
        return call.text.strip(), "" if prose(call.text, ("result",)).strip() else "empty"
    written = read_influences(call.text)
    if len(written) != 1:
        return "", "not in the form"
    if written[0].target.casefold() not in {*names, NONE}:
        return "", "names nobody who is there"
    return call.text.strip(), ""


def _properties(call: Call) -> dict[str, Any]:
    schema = cast("dict[str, Any]", json.loads(call.answer_schema))
    return cast("dict[str, Any]", schema["schema"].get("properties", {}))
