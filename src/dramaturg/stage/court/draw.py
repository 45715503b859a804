"""Draws one speech from a player: once and as it is, or with cures, as the protocol says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from dramaturg.ledger.calls import Calls
from dramaturg.model import Asked, Message, OnText, Sampling
from dramaturg.stage.cast import HumanSeat, ModelSeat
from dramaturg.stage.court.names import People
from dramaturg.stage.court.speech import Speech, read_speech, whole_sentences
from dramaturg.stage.court.tags import Tagged, split_tags
from dramaturg.stage.transcript import Role


@dataclass(frozen=True, slots=True)
class Ask:
    """What a speech is drawn with.

    Attributes:
        messages: The chat of the role.
        step: Path of the call in its unit.
        purpose: What the speech is for.
        labels: Phase, turn and attempt.
        sampling: Parameters.
        speaker: Whose turn it is.
        people: Everybody in court.
        addressable: Ids of those whom the speaker may address.
        earlier: What the speaker said before.
        heard: What was said before from another side.
        note: What the speaker was told to do.
        instructions: The texts of its part and of the rules, without the case.
        on_text: Receives the speech while it is being said, where somebody watches.
    """

    messages: Sequence[Message]
    step: str
    purpose: str
    labels: Mapping[str, str]
    sampling: Sampling
    speaker: Role
    people: People
    addressable: Collection[str] = ()
    earlier: Sequence[str] = ()
    heard: Sequence[str] = ()
    note: str = ""
    instructions: str = ""
    on_text: OnText | None = None

    @property
    def told(self) -> str:
        """All that the speaker was told to do."""
        return f"{self.instructions}\n{self.note}"


@dataclass(frozen=True, slots=True)
class Drawn:
    """One drawn speech.

    Attributes:
        text: What counts as said.
        raw: What the player wrote.
        key: The call in the ledger.
        human: Whether a person said it.
        fault: Why there is nothing to use; empty otherwise.
        tags: Final tags, where the speech was read with tags.
        truncated: Whether the answer was cut at its limit.
        flags: What was noticed or cured.
        cures: Kind and detail of each cure.
        decision: What was decided, where the speech came with a field for it.
        changes: Name and value of what was weighed, for the record.
    """

    text: str
    raw: str
    key: str
    human: bool = False
    fault: str = ""
    tags: Tagged = field(default_factory=lambda: Tagged("", ()))
    truncated: bool = False
    flags: tuple[str, ...] = ()
    cures: tuple[tuple[str, str], ...] = ()
    decision: str = ""
    changes: tuple[tuple[str, str], ...] = ()

    @property
    def is_stated(self) -> bool:
        """Whether nothing usable was said, and a stated line stands for it."""
        return any(kind == "fallback" for kind, _ in self.cures)


CURED_FLAGS = ("as_an_ai", "echo", "copy")
"""What is no fault, and is drawn anew where the protocol cures."""

Draw = Callable[[Ask], Awaitable[Drawn]]
"""Draws one speech, as the protocol says."""


async def draw_as_it_is(calls: Calls, seat: ModelSeat, ask: Ask) -> Drawn:
    """Returns the first answer, unmended; a line for somebody else is a fault, and so is none in time."""
    asked, speech, tagged = await _once(calls, seat, ask, 0, timeout_is_final=True)
    return Drawn(
        text=speech.text,
        raw=asked.reply.text,
        key=asked.key,
        fault="speaks_for_others" if "cut:other_speaker" in speech.flags else speech.fault,
        tags=tagged,
        truncated=asked.reply.status == "truncated",
        flags=speech.flags,
    )


async def draw_with_cures(calls: Calls, seat: ModelSeat, ask: Ask, *, redraws: int, most: int, fallback: str) -> Drawn:
    """Returns a usable answer: foreign lines cut, drawn anew when there is nothing to use, in the end a stated line.

    Only a prompt that does not fit is a fault here: drawing again would not mend it.
    """
    cures: list[tuple[str, str]] = []
    asked, why = None, ""
    for attempt in range(redraws + 1):
        asked, speech, tagged = await _once(calls, seat, ask, attempt)
        why = speech.fault or next((flag for flag in CURED_FLAGS if flag in speech.flags), "")
        if speech.fault == "context_overflow":
            return Drawn("", asked.reply.text, asked.key, fault=speech.fault)
        if not why:
            return _mended(asked, speech, tagged, cures, most)
        if attempt < redraws:
            cures.append(("redraw", why))
    cures.append(("fallback", why))
    flags = tuple(f"{kind}:{detail}" for kind, detail in cures)
    raw, key = (asked.reply.text, asked.key) if asked is not None else ("", "")
    return Drawn(fallback, raw, key, flags=flags, cures=tuple(cures))


def _mended(asked: Asked, speech: Speech, tagged: Tagged, cures: list[tuple[str, str]], most: int) -> Drawn:
    text = speech.text
    flags = [f"{kind}:{detail}" for kind, detail in cures]
    if "truncated" in speech.flags:
        text = whole_sentences(text)
        cures.append(("cut", "truncated"))
    if "cut:other_speaker" in speech.flags:
        cures.append(("cut", "other_speaker"))
    if len(text) > most:
        text = whole_sentences(text[:most])
        flags.append("cut:length")
        cures.append(("cut", "length"))
    if tagged.tags:
        flags.append("tag:unasked")
    return Drawn(text, asked.reply.text, asked.key, flags=(*flags, *speech.flags), cures=tuple(cures))


async def _once(
    calls: Calls, seat: ModelSeat, ask: Ask, attempt: int, *, timeout_is_final: bool = False
) -> tuple[Asked, Speech, Tagged]:
    """Returns one answer, the speech in it and its tags."""
    asked = await calls.ask(
        seat.model,
        ask.messages,
        step=ask.step,
        role=ask.speaker.kind,
        purpose=ask.purpose,
        attempt=attempt,
        sampling=ask.sampling,
        labels=ask.labels,
        on_text=ask.on_text,
        timeout_is_final=timeout_is_final,
    )
    tagged = split_tags(asked.reply.text)
    speech = read_speech(
        asked.reply,
        tagged.text,
        speaker=ask.speaker,
        people=ask.people,
        addressable=ask.addressable,
        earlier=ask.earlier,
        heard=ask.heard,
        told=ask.told,
    )
    return asked, speech, tagged


async def draw_from_person(calls: Calls, seat: HumanSeat, ask: Ask, *, most: int, fallback: str) -> Drawn:
    """Returns what a person said, committed before it is used; a stated line where it was nothing.

    Args:
        calls: The unit's calls.
        seat: The person.
        ask: What for; its note is what the person is told.
        most: Characters that are heard.
        fallback: The stated line.
    """
    asked = await calls.human(lambda: seat.read(ask.note), step=ask.step, role=ask.speaker.kind, purpose=ask.purpose)
    raw = asked.reply.text
    text = raw.strip()
    flags: tuple[str, ...] = ()
    if len(text) > most:
        text, flags = text[:most].rstrip(), ("cut:length",)
    if not text:
        text, flags = fallback, ("fallback:empty",)
    return Drawn(text, raw, asked.key, human=True, flags=flags)
