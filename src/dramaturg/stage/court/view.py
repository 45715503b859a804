"""What each role sees: a chat that is derived from the turns alone. There are two layouts.

``role-first``: a role's system prompt comes first and never changes during an attempt; own turns are the assistant's
messages; all that others said, and the notes of the procedure that this role may see, stand between them as lines of
one user message. The next call of a role therefore begins with the whole of its last one, so that a server computes
each token once for each role.
Source: RPA-Check, section 4.3: a composite system prompt before the history, with the integer seed of the run in it.

``role-last``: the public record comes first, then all that was said aloud, one line a turn, the same for every role and
growing only at its end, so that a server computes it once for all of them. Who is asked, what only this role knows,
the rules and the note of this turn stand at the end, where a model heeds them most; older notes are left out. The list
of exhibits is part of what everybody sees here, a witness too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from dramaturg.model import Message
from dramaturg.stage.court.record import language_name, private_values, public_record
from dramaturg.stage.court.setting import Setting
from dramaturg.stage.court.speech import one_line
from dramaturg.stage.court.tags import break_tags
from dramaturg.stage.transcript import Role, Turn
from dramaturg.text import sha256

RULES_NAMES = frozenset({"name", "language", "seed"})
"""What the prompt `rules` may name."""

LEFT_OUT_NAMES = frozenset({"count"})
"""What the prompt `left-out` names."""

KEPT_FIRST = 2
"""Turns at the beginning of a history that are never left out."""

KEPT_LAST = 4
"""Turns at the end of a history that are never left out."""


def attempt_seed(seed: int, attempt: int) -> int:
    """Returns the integer that stands in the prompts: the trial's seed, another one for each restart."""
    return seed if attempt == 0 else int(sha256(f"{seed}/{attempt}")[:8], 16)


def system_prompt(setting: Setting, role: Role, *, seed: int) -> str:
    """Returns the first message of a role's chats: in `role-first` all that it is told, in `role-last` what all see.

    Args:
        setting: The performance.
        role: Who is played.
        seed: The integer of this attempt.
    """
    match setting.staging.layout:
        case "role-first":
            own, rules = _own(setting, role, seed)
            exhibits = setting.procedure.roles[role.kind].exhibits
            return "\n\n".join([own, public_record(setting.case, evidence=exhibits, variant=setting.variant), rules])
        case "role-last":
            return public_record(setting.case, variant=setting.variant)
        case _:
            assert_never(setting.staging.layout)


def part_prompt(setting: Setting, role: Role, *, seed: int) -> str:
    """Returns what stands before the note at the end of a chat of `role-last`; empty in `role-first`."""
    match setting.staging.layout:
        case "role-first":
            return ""
        case "role-last":
            return "\n\n".join(_own(setting, role, seed))
        case _:
            assert_never(setting.staging.layout)


def _own(setting: Setting, role: Role, seed: int) -> tuple[str, str]:
    """Returns the role's duties with what only it knows, and the rules with the seed."""
    case = setting.case
    rules = {"name": one_line(role.name), "language": language_name(case.language), "seed": str(seed)}
    return (
        setting.fill(setting.prompt(role.kind), private_values(case, role)),
        setting.fill(setting.prompt("rules"), rules),
    )


def instructions(setting: Setting, role: Role) -> str:
    """Returns the texts of a role's part and of the rules as they stand in their files: all but the case."""
    return f"{setting.prompt(role.kind).text}\n{setting.prompt('rules').text}"


def chat(system: str, turns: Sequence[Turn], role: Role, titles: dict[str, str], *, raw: bool) -> tuple[Message, ...]:
    """Returns the messages that a role is asked with in the layout `role-first`.

    Args:
        system: The role's system prompt.
        turns: All turns of this attempt so far.
        role: Who is asked.
        titles: What each role is called behind its name, by id.
        raw: Whether the role's own turns stand as it wrote them, tags included, and not as the others see them.
    """
    messages = [Message("system", system)]
    heard: list[str] = []
    for turn in turns:
        if turn.seen_by and role.id not in turn.seen_by:
            continue
        if turn.role != role.id:
            heard.append(line(turn, titles))
            continue
        if heard:
            messages.append(Message("user", "\n".join(heard).strip()))
            heard.clear()
        messages.append(Message("assistant", (turn.raw or turn.text) if raw else line(turn, titles)))
    if heard:
        messages.append(Message("user", "\n".join(heard).strip()))
    return tuple(messages)


def shared_chat(
    record: str, heading: str, turns: Sequence[Turn], part: str, role: Role, titles: dict[str, str]
) -> tuple[Message, ...]:
    """Returns the messages that a role is asked with in the layout `role-last`.

    All chats of an attempt begin alike, up to the last line that was said aloud.

    Args:
        record: What everybody sees.
        heading: Stands before the first line that was said.
        turns: All turns of this attempt so far.
        part: Who is asked, with what only this role knows.
        role: Who is asked.
        titles: What each role is called behind its name, by id.
    """
    said = [line(turn, titles) for turn in turns if not turn.seen_by]
    told = [line(turn, titles).strip() for turn in turns[-1:] if role.id in turn.seen_by]
    return shared_messages(record, heading, said, "\n\n".join([part, *told]))


def shared_messages(record: str, heading: str, said: Sequence[str], end: str) -> tuple[Message, ...]:
    """Returns the record and what was said, as every chat of `role-last` begins, and what stands at its end."""
    history = ["\n".join([heading, *said]).strip()] if said else []
    return (Message("system", record), Message("user", "\n\n".join([*history, end])))


def more_left_out(history: Sequence[Turn], before: int) -> int:
    """Returns how many turns of a history to leave out next: half of what still may be, the same where nothing may.

    Args:
        history: What a role is shown of the past.
        before: How many were left out already.
    """
    room = len(history) - KEPT_FIRST - before - KEPT_LAST
    return before + (room + 1) // 2 if room > 0 else before


def without_middle(history: Sequence[Turn], left_out: int, notice: str) -> list[Turn]:
    """Returns the history with a notice in place of the turns behind its first ones.

    Args:
        history: What a role is shown of the past.
        left_out: How many turns are left out.
        notice: Says so.
    """
    gap = Turn(id="T0", role="procedure", speaker="Procedure", kind="procedure", text=notice)
    return [*history[:KEPT_FIRST], gap, *history[KEPT_FIRST + left_out :]]


def line(turn: Turn, titles: dict[str, str]) -> str:
    """Returns a turn as one line of a chat.

    What was said stands on one line behind its speaker's name. A note stands behind a blank line without a name, so
    no text that was said can be taken for a note or for a line of another speaker.
    """
    if turn.kind == "procedure":
        return f"\n{turn.text}"
    return f"{one_line(turn.speaker)} ({titles[turn.role]}): {break_tags(one_line(turn.text))}"


def dialogue(turns: Sequence[Turn], titles: dict[str, str]) -> list[str]:
    """Returns what was said in court, one line a turn, without the notes of the procedure."""
    return [line(turn, titles) for turn in turns if turn.kind != "procedure"]
