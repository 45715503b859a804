"""A transcript as a chat of SillyTavern: a head, then one message a line."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from dramaturg.errors import UserError, did_you_mean
from dramaturg.stage.transcript import Transcript, Turn
from dramaturg.text import Json

NOBODY = "Narrator"
"""Speaker of turns that have none."""

_BEGIN = datetime(2000, 1, 1, tzinfo=UTC)
"""A transcript holds no time of day; the messages are dated a second apart from here, so that their order is kept."""


def to_sillytavern(transcript: Transcript, *, user: str = "") -> str:
    """Returns a chat as JSON Lines.

    Notes of the procedure become messages of the system, which SillyTavern shows and sends to no model. What turns hold
    beside speaker and text is kept under ``extra``.

    Args:
        transcript: What happened.
        user: Id or name of the role that is the person at the keyboard; by default that of a human player, if any.

    Raises:
        UserError: The transcript has no such role.
    """
    person = _person(transcript, user)
    names = {role.id: role.name for role in transcript.roles}
    others = Counter(turn.speaker for turn in transcript.turns if turn.role != person and turn.kind != "procedure")
    head: dict[str, Json] = {
        "user_name": names.get(person, "You"),
        "character_name": next(iter(dict(others.most_common(1))), transcript.scenario.title),
        "create_date": _date(0),
        "chat_metadata": {"scenario": transcript.scenario.title, "dramaturg": {"transcript": transcript.id}},
    }
    lines = (head, *_messages(transcript, person))
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)


def _messages(transcript: Transcript, person: str) -> Iterator[dict[str, Json]]:
    for number, turn in enumerate(transcript.turns, start=1):
        yield {
            "name": turn.speaker.strip() or NOBODY,
            "is_user": turn.role == person or turn.human,
            "is_system": turn.kind == "procedure",
            "send_date": _date(number),
            "mes": turn.text,
            "extra": _extra(turn),
        }


def _extra(turn: Turn) -> dict[str, Json]:
    return {"dramaturg": {"turn": turn.id, "role": turn.role, "kind": turn.kind}}


def _person(transcript: Transcript, user: str) -> str:
    if user:
        named = [role.id for role in transcript.roles if user in (role.id, role.name)]
        if not named:
            known = [role.id for role in transcript.roles]
            raise UserError(
                f"the transcript {transcript.id!r} has no role {user!r}",
                where="--user",
                allowed=did_you_mean(user, known),
            )
        return named[0]
    return next((role for role, player in transcript.cast.items() if player.kind == "human"), "")


def _date(number: int) -> str:
    return (_BEGIN + timedelta(seconds=number)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
