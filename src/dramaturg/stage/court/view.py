"""What each role sees: a chat that is derived from the turns alone and only grows at its end.

A role's system prompt comes first and never changes during an attempt; own turns are the assistant's messages;
all that others said, and the notes of the procedure that this role may see, stand between them as lines of one
user message. The next call of a role therefore begins with the whole of its last one, so that a server computes
each token once.

Source: RPA-Check, section 4.3: a composite system prompt before the history, with the integer seed of the run in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dramaturg.model import Message
from dramaturg.prompts import load_prompt
from dramaturg.stage.court.case import Case
from dramaturg.stage.court.record import UNKNOWN, bullets, language_name, public_record
from dramaturg.stage.court.speech import one_line
from dramaturg.stage.court.tags import break_tags
from dramaturg.stage.transcript import Role, Turn
from dramaturg.text import sha256


def attempt_seed(seed: int, attempt: int) -> int:
    """Returns the integer that stands in the prompts: the trial's seed, another one for each restart."""
    return seed if attempt == 0 else int(sha256(f"{seed}/{attempt}")[:8], 16)


def system_prompt(case: Case, role: Role, *, seed: int, variant: Path | None = None) -> str:
    """Returns the system prompt of a role: its duties and private knowledge, the public record, rules and seed.

    Args:
        case: The case.
        role: Who is played.
        seed: The integer of this attempt.
        variant: Folder with prompts that replace shipped ones.
    """
    own = load_prompt(f"court-{role.kind}", case.language, variant)
    return "\n\n".join(
        [
            own.fill(**_private(case, role)),
            public_record(case, evidence=role.kind != "witness"),
            load_prompt("court-rules", case.language, variant).fill(
                name=one_line(role.name), language=language_name(case.language), seed=str(seed)
            ),
        ]
    )


def _private(case: Case, role: Role) -> dict[str, str]:
    if role.kind == "witness":
        witness = next(witness for witness in case.witnesses if witness.name == role.name)
        return {
            "name": one_line(witness.name),
            "occupation": one_line(witness.occupation),
            "manner": one_line(witness.manner),
            "knowledge": bullets(witness.knowledge),
            "secrets": bullets(witness.secrets),
        }
    officer = {"judge": case.judge, "prosecutor": case.prosecutor, "defence": case.defence}[role.kind]
    values = {"name": one_line(officer.name), "manner": one_line(officer.manner) or UNKNOWN}
    if role.kind == "defence":
        values["goal"] = one_line(case.goal)
    if role.kind in {"prosecutor", "defence"}:
        values["accused"] = one_line(case.accused)
    return values


def chat(system: str, turns: Sequence[Turn], role: Role, kinds: dict[str, str], *, raw: bool) -> tuple[Message, ...]:
    """Returns the messages that a role is asked with.

    Args:
        system: The role's system prompt.
        turns: All turns of this attempt so far.
        role: Who is asked.
        kinds: Kind of each role by id, shown behind the names.
        raw: Whether the role's own turns stand as it wrote them, tags included, and not as the others see them.
    """
    messages = [Message("system", system)]
    heard: list[str] = []
    for turn in turns:
        if turn.seen_by and role.id not in turn.seen_by:
            continue
        if turn.role != role.id:
            heard.append(line(turn, kinds))
            continue
        if heard:
            messages.append(Message("user", "\n".join(heard).strip()))
            heard.clear()
        messages.append(Message("assistant", (turn.raw or turn.text) if raw else line(turn, kinds)))
    if heard:
        messages.append(Message("user", "\n".join(heard).strip()))
    return tuple(messages)


def line(turn: Turn, kinds: dict[str, str]) -> str:
    """Returns a turn as one line of a chat.

    What was said stands on one line behind its speaker's name. A note stands behind a blank line without a name, so
    no text that was said can be taken for a note or for a line of another speaker.
    """
    if turn.kind == "procedure":
        return f"\n{turn.text}"
    return f"{one_line(turn.speaker)} ({kinds[turn.role]}): {break_tags(one_line(turn.text))}"


def dialogue(turns: Sequence[Turn], kinds: dict[str, str]) -> list[str]:
    """Returns what was said in court, one line a turn, without the notes of the procedure."""
    return [line(turn, kinds) for turn in turns if turn.kind != "procedure"]
