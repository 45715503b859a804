"""What is wrong with an act, by rule: what a play notices in it when it is played."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import BaseModel

from dramaturg.ledger import Calls
from dramaturg.model import Message, Model, Reply, Sampling
from dramaturg.model.answer_type import answer_schema
from dramaturg.model.one_answer import read_one
from dramaturg.prompts import load_prompt
from dramaturg.stage.court import DEFAULT_LIMITS as COURT
from dramaturg.stage.court.names import People
from dramaturg.stage.court.speech import read_speech
from dramaturg.stage.court.tags import split_tags
from dramaturg.stage.transcript import Role
from dramaturg.stage.world.answers import Act, Beliefs
from dramaturg.stage.world.deeds import DeedKind, Reader
from dramaturg.stage.world.limits import DEFAULT_LIMITS as WORLD
from dramaturg.stage.world.scene import SceneCharacter
from dramaturg.train.comparing import Marks
from dramaturg.train.comparing_prompts import filled_with
from dramaturg.train.example import Example

FAULTS: Mapping[str, tuple[str, frozenset[str]]] = {
    "nothing": ("nothing usable", frozenset({"empty", "refused", "degenerate", "unparsed"})),
    "again": ("repeats or copies", frozenset({"repeat", "copy", "loop", "echo"})),
    "others": (
        "speaks or acts for others",
        frozenset({"others_act", "cut:other_act", "cut:other_speaker", "speaks_for_others"}),
    ),
    "language": ("another language", frozenset({"other_language"})),
    "as_an_ai": ("speaks as an AI", frozenset({"as_an_ai"})),
    "cut": ("cut at its limit", frozenset({"truncated", "cut:length"})),
}
"""Fault → its name, and the flags of a play that show it."""

CLEAN = "clean"
"""Measure of an act without any of the faults."""

NOBODY = "cannot tell whose turn it is"

_BELIEFS = frozenset({"beliefs", "self-belief", "environment-belief"})
_DEEDS: Mapping[str, DeedKind] = {"action": "action", "speech": "speech", "reaction": "reaction", "act": "action"}
_FORMS: Mapping[str, type[BaseModel]] = {"act": Act, "beliefs": Beliefs}
_OF_BELIEFS = frozenset(
    {"empty", "refused", "degenerate", "unparsed", "loop", "repeat", "other_language", "as_an_ai", "truncated"}
)
_TOLD = re.compile(
    r"^- (?:(?P<who>[^\n()（）:：]{1,80}) [(（][^()（）\n]*[)）][:：] ?)?(?P<text>[^\n]+)$", re.MULTILINE
)
_SAID = re.compile(r"^(?P<who>[^\n():]{1,80}) \((?P<kind>[^()\n]{1,40})\): ?(?P<text>[^\n]*)$", re.MULTILINE)


_LEAD = re.compile(r"\"(?P<who>[^\"\n():]{1,80}) \([^()\n\"]{1,40}\):\"")
"""The head of the line that a court asks for, in any language."""


@dataclass(slots=True)
class _Heard:
    """What a chat tells: who was heard, what the player said before, and what the others said."""

    people: dict[str, str] = field(default_factory=dict[str, str])
    own: list[str] = field(default_factory=list[str])
    others: list[str] = field(default_factory=list[str])


async def mark_act(example: Example, model: Model, calls: Calls) -> Marks:
    """Returns the faults of an act that a model writes where an example's act was written: 1 where it has one.

    It is asked as in a play, with a play's temperature and room.

    Args:
        example: The chat before the act.
        model: Who is asked.
        calls: Through which.

    Raises:
        UnitStopped: The endpoint failed.
        LimitReached: A budget is used up.
    """
    role = example.source.split("/")[1] if "/" in example.source else ""
    kind = role.partition(":")[0] or "character"
    in_world = kind == "character" and (example.purpose in _DEEDS or example.purpose in _BELIEFS)
    form = _FORMS.get(example.purpose) if in_world else None
    asked = await calls.ask(
        model,
        example.messages,
        step="act",
        role=kind,
        purpose=example.purpose,
        sampling=_sampling(example, in_world=in_world),
        schema=answer_schema(form, example.purpose) if form is not None else None,
    )
    reply = asked.reply
    if reply.status == "context_overflow":
        return Marks(missing=reply.status, calls=(asked.key,))
    flags = _world_flags(example, reply, form) if in_world else _court_flags(example, reply, kind)
    if flags is None:
        return Marks(missing=NOBODY, text=reply.text, calls=(asked.key,))
    values = {fault: float(not shows.isdisjoint(flags)) for fault, (_, shows) in FAULTS.items()}
    return Marks({**values, CLEAN: float(not any(values.values()))}, text=reply.text, calls=(asked.key,))


def _sampling(example: Example, *, in_world: bool) -> Sampling:
    if not in_world:
        room = COURT.verdict_tokens if example.purpose == "verdict" else COURT.speech_tokens
        return Sampling(COURT.temperature, room)
    room = WORLD.belief_tokens if example.purpose in _BELIEFS else WORLD.act_tokens
    return Sampling(WORLD.temperature, room * (2 if example.purpose in _FORMS else 1))


def _world_flags(example: Example, reply: Reply, form: type[BaseModel] | None) -> set[str] | None:
    """Returns what a play of a world notices; None where the chat does not say whose turn it is."""
    prompt = load_prompt(f"world-{example.purpose}", example.language)
    task = filled_with(prompt, example.messages[-1].text)
    if task is None:
        return None
    name = task["name"]
    heard = _heard_in_world(example.messages, name)
    others = [one for one in example.characters if one != name]
    reader = Reader(_character("own", name), _characters(others), example.language, heard.own, heard.others)
    if form is None:
        parts: list[tuple[str, DeedKind]] = [(reply.text, _DEEDS.get(example.purpose, "speech"))]
    elif reply.status in {"ok", "truncated"}:
        read = read_one(reply.text, form, cut=reply.status == "truncated").value
        match read:
            case Act():
                parts = [(read.action, "action"), (read.speech, "speech")]
            case Beliefs():
                parts = [(read.self_belief, "speech"), (read.environment_belief, "speech")]
            case _:
                return {"truncated" if reply.status == "truncated" else "unparsed"}
    else:
        return {reply.status}
    flags: set[str] = set()
    for text, kind in parts:
        deed = reader.read("ok" if form is not None else reply.status, text, text, key="", kind=kind)
        flags |= {*deed.flags}
        if not deed.text and not deed.flags and (example.purpose in _BELIEFS or not reply.text.strip()):
            flags.add("empty")
    return flags & _OF_BELIEFS if example.purpose in _BELIEFS else flags


def _court_flags(example: Example, reply: Reply, kind: str) -> set[str] | None:
    """Returns what a trial notices; None where the chat does not say whose turn it is."""
    told = "\n".join(message.text for message in example.messages if message.role == "user")
    leads = [*_LEAD.finditer(told)]  # a chat asks for lines of its own player alone
    if not leads:
        return None
    name = leads[-1]["who"]
    heard = _heard_in_court(example.messages, name)
    people = {**dict.fromkeys(example.characters, "witness"), **heard.people, name: kind}
    roles = tuple(Role(id=f"{of}:{number}", kind=of, name=one) for number, (one, of) in enumerate(people.items()))
    speaker = next(role for role in roles if role.name == name)
    speech = read_speech(
        reply,
        split_tags(reply.text).text,
        speaker=speaker,
        people=People(roles),
        addressable=[role.id for role in roles if role is not speaker],
        earlier=heard.own,
        heard=heard.others,
    )
    flags = {*speech.flags, *((speech.fault,) if speech.fault else ())}
    plain = Reader(_character("own", name), (), example.language)
    noticed = plain.read("ok", speech.text, speech.text, key="", kind="speech").flags
    return flags | ({*noticed} & {"other_language", "as_an_ai"})


def _heard_in_world(messages: Sequence[Message], own: str) -> _Heard:
    heard = _Heard()
    for message in messages[1:]:
        if message.role == "assistant":
            heard.own += _texts(message.text)
            continue
        for told in _TOLD.finditer(message.text):
            (heard.own if told["who"] == own else heard.others).append(told["text"].strip('“”" '))
    return heard


def _heard_in_court(messages: Sequence[Message], own: str) -> _Heard:
    heard = _Heard()
    for message in messages[1:]:
        if message.role == "assistant":
            heard.own.append(split_tags(message.text).text)
            continue
        for said in _SAID.finditer(message.text):
            heard.people.setdefault(said["who"], said["kind"])
            (heard.own if said["who"] == own else heard.others).append(said["text"])
    return heard


def _texts(text: str) -> Iterator[str]:
    """Yields what an earlier answer said: the texts of its form, or all of it."""
    try:
        whole: object = json.loads(text)
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, dict):
        yield from (part for part in cast("dict[str, Any]", whole).values() if isinstance(part, str) and part.strip())
    else:
        yield text


def _characters(names: Sequence[str]) -> list[SceneCharacter]:
    return [_character(f"other-{number}", name) for number, name in enumerate(names, start=1)]


def _character(slug: str, name: str) -> SceneCharacter:
    return SceneCharacter(id=slug, name=name)
