"""What a role did, act by act: the call that asked for it, and the answer as the play took it.

A play puts an answer into the chat without what was cut off, and asks the next one with it. So that is what is learned:
the act as it counted, never the part that a reader had to remove.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from dramaturg.model.one_answer import read_one
from dramaturg.stage.court.tags import split_tags
from dramaturg.stage.transcript import Role, Transcript, Turn
from dramaturg.stage.world.answers import Act as ActForm
from dramaturg.stage.world.answers import Beliefs
from dramaturg.text import Json
from dramaturg.train.example import Example, Kind, example_id
from dramaturg.train.reading import Call, Runs, Source, counted, people_of

WORLD = "world"
BOTH = "act"
"""Purpose of a call that asks for action and speech in one form."""

_BELIEFS = "beliefs"
_BELIEFS_APART = frozenset({"self-belief", "environment-belief"})
_FAULTS = frozenset(
    {
        "repeat", "copy", "as_an_ai", "other_language", "loop", "degenerate", "refused", "empty", "others_act",
        "truncated", "unparsed",
    }
)  # fmt: skip
"""Flags of an act that nobody should learn from; what was only cut off is cut off in the answer too."""

_BROKEN = "broken:"
"""Head of a flag of a turn at which a performance broke: it lacks what other words do not give it."""

_UNASKED = "tag:unasked"

NO_TEXT = "no text"
REPAIRED = "not in its form at the first ask"

_TYPES: Mapping[str, type] = {"string": str, "integer": int}
"""Types of the fields of a decision."""


@dataclass(frozen=True, slots=True)
class Act:
    """What one call gave: mostly one turn; an action and a speech where one form asked for both.

    Attributes:
        call: The call that counted.
        turns: What came of it, in order.
        suite: Of the transcript.
    """

    call: Call
    turns: tuple[Turn, ...]
    suite: str

    @property
    def fault(self) -> str:
        """Why nobody should learn from it; empty where one may."""
        return self.fault_with({})

    def fault_with(self, texts: Mapping[str, str]) -> str:
        """Returns why nobody should learn from it with other texts in some turns' place; empty where one may.

        Args:
            texts: Turn id → the text that stands in its place; what was wrong with the turn's own is gone.
        """
        for turn in self.turns:
            for flag in turn.flags:
                if self._counts(flag, is_anew=turn.id in texts):
                    return flag.partition(":")[0] if flag.startswith(f"{BOTH}:") else flag
        if self.suite != WORLD and not _is_as_asked(self.call):
            return REPAIRED
        return "" if self.answer(texts).strip() else NO_TEXT

    def _counts(self, flag: str, *, is_anew: bool) -> bool:
        if is_anew:
            return flag.startswith(_BROKEN)
        if flag in _FAULTS or flag.startswith(f"{BOTH}:"):
            return True
        return self.suite != WORLD  # there the answer is taken whole, so that nothing in it may be wrong

    def answer(self, texts: Mapping[str, str]) -> str:
        """Returns the answer as it counted, with other texts in the place of some turns' own.

        Args:
            texts: Turn id → the text that stands in its place.
        """
        if self.call.purpose == BOTH and self.suite == WORLD:
            action = " ".join(self._text(turn, texts) for turn in self.turns if turn.kind == "action")
            speech = " ".join(self._text(turn, texts) for turn in self.turns if turn.kind == "speech")
            return ActForm(action=action, speech=speech).model_dump_json() if action else ""
        turn = self.turns[0]
        if self.suite == WORLD:
            return self._text(turn, texts) or (turn.raw.strip() if turn.kind == "speech" else "")
        written = (turn.raw or turn.text).strip()
        if turn.id not in texts:
            return written
        text = texts[turn.id].strip()
        return _decision_with(written, turn, text) if self.call.answer_schema else _speech_with(written, turn, text)

    @staticmethod
    def _text(turn: Turn, texts: Mapping[str, str]) -> str:
        return texts.get(turn.id, turn.text).strip()


def _decision_with(written: str, turn: Turn, text: str) -> str:
    """Returns a decision with other words in the field of its turn's; empty where no field holds those."""
    fields = _object_in(written)
    name = next((name for name, value in fields.items() if str(value).strip() == turn.text.strip()), None)
    return "" if name is None else json.dumps({**fields, name: text}, ensure_ascii=False)


def _speech_with(written: str, turn: Turn, text: str) -> str:
    """Returns a speech in other words, with the final tags that were asked for."""
    said = split_tags(written).text
    return text if _UNASKED in turn.flags else f"{text}{written[len(said) :]}"


def _is_as_asked(call: Call) -> bool:
    """Returns whether an answer came at the first ask, and is as a whole what its schema wants, where it has one."""
    if call.is_reask or not call.answer_schema:
        return not call.is_reask
    fields: dict[str, dict[str, Any]] = json.loads(call.answer_schema)["schema"].get("properties", {})
    written = _object_in(call.text)
    return written.keys() == fields.keys() and all(
        isinstance(written[name], _TYPES.get(field.get("type", ""), object))
        and written[name] in field.get("enum", [written[name]])
        for name, field in fields.items()
    )


def _object_in(text: str) -> dict[str, Json]:
    """Returns the JSON object that a text is as a whole; empty where it is none."""
    try:
        whole: object = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Json]", whole) if isinstance(whole, dict) else {}


def acts_of(runs: Runs, source: Source, transcript: Transcript, role: str) -> Iterator[Act]:
    """Yields what a model did as a role, call by call.

    Raises:
        UserError: A ledger lacks a call.
    """
    by_call: dict[str, list[Turn]] = {}
    for turn in transcript.turns:
        if turn.role == role and turn.call and transcript.is_judged(turn):
            by_call.setdefault(turn.call, []).append(turn)
    for key, turns in by_call.items():
        call = runs.call(key, needed_by=f"{source.folder}: {transcript.id}/{turns[0].id}")
        yield Act(call, tuple(turns), transcript.suite)


def beliefs_of(runs: Runs, unit: str, role: str) -> Iterator[tuple[Call, str]]:
    """Yields the calls in which a character said what it believes, with the answer as its chat keeps it.

    What could not be read is yielded with an empty answer.

    Args:
        runs: Where the calls are.
        unit: The unit that played.
        role: Id of the role.
    """
    of_role = [
        call
        for call in runs.units.get(unit, [])
        if call.step.split("/")[2:3] == [role] and (call.purpose == _BELIEFS or call.purpose in _BELIEFS_APART)
    ]
    for call in counted(of_role):
        answer = ""
        if call.status == "ok" and call.purpose in _BELIEFS_APART:
            answer = call.text.strip()
        elif call.status == "ok":
            read = read_one(call.text, Beliefs)
            answer = "" if read.value is None or read.repaired else read.value.model_dump_json()
        yield call, answer


def example_of(
    runs: Runs, source: Source, transcript: Transcript, call: Call, answer: str, *, kind: Kind, teacher: str, place: str
) -> Example:
    """Returns the example of a call of a performance.

    Args:
        runs: Where the chat is.
        source: The folder that the transcript lies in.
        transcript: What the call belongs to.
        call: What was asked.
        answer: What is wanted.
        kind: What is learned.
        teacher: Who wrote the answer.
        place: Which part of the transcript it is.
    """
    messages = runs.chat(call)
    return Example(
        id=example_id(kind, messages, answer),
        kind=kind,
        messages=messages,
        answer=answer,
        scene=transcript.scenario.id,
        characters=people_of(transcript),
        language=transcript.scenario.language,
        source=f"{transcript.id}/{place}",
        teacher=teacher,
        prompt_hashes=source.hashes(f"{transcript.suite}-"),
        purpose=call.purpose,
        call=call.key,
    )


def played_roles(transcript: Transcript) -> list[Role]:
    """Returns the roles that a model plays and whose acts are its own: neither narrators nor directors."""
    beside = {"narrator", "director"}
    return [
        role
        for role in transcript.roles
        if role.kind not in beside and (player := transcript.cast.get(role.id)) is not None and player.kind == "model"
    ]
