"""What a stage would notice in a turn that was written anew: the checks that an act went through when it was played.

A rewrite is learned as it stands, so nothing in it may be wrong: neither what a stage would draw anew nor what it would
cut off. Earlier turns are those that were really played, as they stand in the chat that the rewrite answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from dramaturg.files import load_yaml, shipped
from dramaturg.model import Reply
from dramaturg.stage.court import Procedure
from dramaturg.stage.court.names import People
from dramaturg.stage.court.speech import read_speech
from dramaturg.stage.court.tags import split_tags
from dramaturg.stage.transcript import Role, Transcript, Turn
from dramaturg.stage.world.deeds import DeedKind, Reader
from dramaturg.stage.world.scene import SceneCharacter
from dramaturg.train.acting import WORLD

_QUESTION = "question"
"""Purpose of a turn in court that may begin with the name of whoever is asked."""

_REACTION = "reaction"
_NOBODY = SceneCharacter(id="somebody", name="Somebody")


def fault_of_rewrite(transcript: Transcript, turn: Turn, text: str, *, purpose: str) -> str:
    """Returns what a stage would notice in a text in the place of a turn, as a flag; empty where nothing.

    Args:
        transcript: What was played.
        turn: One of its turns.
        text: What is written in its place.
        purpose: Of the call that the turn is from.
    """
    place = next(number for number, one in enumerate(transcript.turns) if one.id == turn.id)
    before = [one for one in transcript.turns[:place] if not one.seen_by or turn.role in one.seen_by]
    if transcript.suite == WORLD:
        return _fault_in_world(transcript, turn, before, text, purpose)
    return _fault_in_court(transcript, turn, before, text, purpose)


def _fault_in_world(transcript: Transcript, turn: Turn, before: Sequence[Turn], text: str, purpose: str) -> str:
    own, rest = _split(transcript.roles, turn.role)
    others = [role for role in rest if role.kind == "character"]
    reader = Reader(
        _character(own, 0),
        [_character(role, number) for number, role in enumerate(others, start=1)],
        transcript.scenario.language,
        [one.text for one in before if one.role == turn.role and one.text],
        [one.text for one in before if one.role != turn.role and one.text],
    )
    kind: DeedKind = "reaction" if purpose == _REACTION else "speech" if turn.kind == "speech" else "action"
    deed = reader.read("ok", text, text, key="", kind=kind)
    noticed = [flag for flag in deed.flags if not flag.startswith("narrates:")]
    return noticed[0] if noticed else "" if deed.text else "empty"


def _fault_in_court(transcript: Transcript, turn: Turn, before: Sequence[Turn], text: str, purpose: str) -> str:
    own, others = _split(transcript.roles, turn.role)
    kinds = {role.id: role.kind for role in transcript.roles}
    spoken = [one for one in before if one.kind != "procedure"]
    notes = [one.text for one in before if one.kind == "procedure" and one.seen_by]
    tagged = split_tags(text)
    if tagged.tags:
        return "tag:unasked"
    speech = read_speech(
        Reply("ok", text=text),
        tagged.text,
        speaker=own,
        people=People(transcript.roles, _titles(transcript)),
        addressable=[role.id for role in others] if purpose == _QUESTION else (),
        earlier=[one.text for one in spoken if one.role == own.id],
        heard=[one.text for one in spoken if kinds.get(one.role) != own.kind],
        told=notes[-1] if notes else "",
    )
    plain = Reader(_NOBODY, (), transcript.scenario.language).read("ok", text, text, key="", kind="speech")
    noticed = [flag for flag in plain.flags if flag in {"as_an_ai", "other_language"}]
    return speech.fault or next(iter((*speech.flags, *noticed)), "")


def _titles(transcript: Transcript) -> Mapping[str, str]:
    """Returns what the kinds of roles are called in the language of a trial, where its procedure ships."""
    procedure = cast("Mapping[str, object]", transcript.versions.get("procedure") or {})
    path = shipped("procedures").get(str(procedure.get("id", "")))
    if path is None:
        return {}
    titled = load_yaml(path, Procedure)
    return {kind: titled.title_of(kind, transcript.scenario.language) for kind in titled.roles}


def _split(roles: Sequence[Role], own: str) -> tuple[Role, list[Role]]:
    return next(role for role in roles if role.id == own), [role for role in roles if role.id != own]


def _character(role: Role, number: int) -> SceneCharacter:
    return SceneCharacter(id=f"one-{number}", name=role.name)
