"""A transcript as text for a judge: one line per turn, framed so that no turn can forge another or close its frame.

Who is judged stays visible; which model plays a role does not, so that a judge cannot favour one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from dramaturg.prompts import load_prompt, quote_untrusted
from dramaturg.stage.transcript import Role, Transcript, Turn

FENCES = tuple(f"{start}{tag}" for tag in ("reference", "roles", "transcript") for start in ("</", "<", "< /", "< "))
"""What a text would have to contain to open or close a frame of the prompt; the bracket's end does not matter."""

CONTINUED = "    | "
"""Stands before every line of a turn but its first."""

NOTHING = "(none given)"


def material(transcript: Transcript, language: str) -> str:
    """Returns the message that shows a judge the reference text, the roles and the transcript.

    Args:
        transcript: What happened on the stage.
        language: Of the prompt, ISO 639-1.
    """
    return load_prompt("judge-material", language).fill(
        reference=quote_untrusted(_block(transcript.scenario.reference), *FENCES),
        roles=quote_untrusted(render_roles(transcript), *FENCES),
        transcript=quote_untrusted(render_turns(transcript), *FENCES),
    )


def render_roles(transcript: Transcript) -> str:
    """Returns one entry per role: kind, name, who plays it, and what a judge may know of it."""
    return "\n".join(_role_entry(role, transcript) for role in transcript.roles) or NOTHING


def render_turns(transcript: Transcript) -> str:
    """Returns the turns in order, one entry per turn, and below them what the record says of the end."""
    kinds = {role.id: role.kind for role in transcript.roles}
    lines = [_turn_entry(turn, transcript, kinds) for turn in transcript.turns]
    return "\n".join([*lines, *_record(transcript)])


def _role_entry(role: Role, transcript: Transcript) -> str:
    text = f": {_hanging(role.description)}" if role.description.strip() else ""
    return f"- {_label(role.kind)} ({_one_line(role.name)}), played by: {_player(role.id, transcript)}{text}"


def _player(role: str, transcript: Transcript) -> str:
    player = transcript.cast.get(role)
    match player.kind if player is not None else None:
        case "model":
            return "model"
        case "human":
            return "person, context only"
        case "script":
            return "script, context only"
        case None:
            return "nobody, context only"


def _turn_entry(turn: Turn, transcript: Transcript, kinds: dict[str, str]) -> str:
    text = _hanging(turn.text) if turn.text.strip() else "(says nothing)"
    if turn.kind == "procedure":
        return f"[{turn.id}] (procedure) {text}"
    speaker = _label(kinds.get(turn.role, turn.role))
    if turn.speaker.strip():
        speaker += f" ({_one_line(turn.speaker)})"
    return f"[{turn.id}] {speaker}{_marks(turn, transcript, kinds)}: {text}"


def _marks(turn: Turn, transcript: Transcript, kinds: dict[str, str]) -> str:
    """Returns what must be known of a turn beside its words."""
    marks: list[str] = []
    if turn.kind != "speech":
        marks.append(turn.kind)
    if not transcript.is_judged(turn):
        marks.append("person, context only" if turn.human else _player(turn.role, transcript))
    if turn.seen_by:
        marks.append("known only to " + ", ".join(_label(kinds.get(role, role)) for role in turn.seen_by))
    return f" [{'; '.join(marks)}]" if marks else ""


def _record(transcript: Transcript) -> Iterable[str]:
    """Yields what is known of the performance as a whole."""
    yield f"(record) Ended because: {transcript.end_reason}."
    if transcript.outcome is not None:
        side = " for the defence" if any(role.kind == "defence" for role in transcript.roles) else ""
        yield f"(record) Outcome: {_one_line(transcript.outcome.label)}{side}."
    for cause, count in Counter(restart.cause for restart in transcript.restarts).items():
        times = "once" if count == 1 else f"{count} times"
        yield f"(record) Restarted from the beginning {times} before this attempt: {_one_line(cause)}."


def _label(kind: str) -> str:
    """Returns a role's kind as it is shown: `witness:ann-lee` and `witness` both become `Witness`."""
    name = _one_line(kind.partition(":")[0]).replace("_", " ")
    return name[:1].upper() + name[1:]


def _one_line(text: str) -> str:
    """Returns a name on one line, without the brackets that mark turns and players."""
    return " ".join(text.split()).translate(str.maketrans("[]", "()"))


def _hanging(text: str) -> str:
    """Returns the text with every line but the first marked as continued."""
    return f"\n{CONTINUED}".join(text.strip().splitlines())


def _block(text: str) -> str:
    return "\n".join(text.strip().splitlines()) or NOTHING
