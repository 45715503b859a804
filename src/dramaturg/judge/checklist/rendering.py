"""A transcript as text for a judge: one line per turn, framed so that no turn can forge another or close its frame.

Who is judged stays visible; which model plays a role does not, so that a judge cannot favour one.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dramaturg.prompts import load_prompt, quote_untrusted
from dramaturg.stage.transcript import Role, Transcript, Turn

FENCES = tuple(f"{start}{tag}" for tag in ("reference", "roles", "transcript") for start in ("</", "<", "< /", "< "))
"""What a text would have to contain to open or close a frame of the prompt; the bracket's end does not matter."""

CONTINUED = "    | "
"""Stands before every line of a turn but its first."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The middle of a transcript, where it is left out.

    Attributes:
        first: Id of the first turn that is left out.
        last: Id of the last one.
        count: How many they are.
        resumes: Id of the turn that follows.
    """

    first: str
    last: str
    count: int
    resumes: str

    @property
    def flag(self) -> str:
        """How a judgement says so."""
        return f"cut:{self.first}-{self.last}"


def material(transcript: Transcript, language: str, cut: Cut | None = None) -> str:
    """Returns the message that shows a judge the reference text, the roles and the transcript.

    Args:
        transcript: What happened on the stage.
        language: Of the prompt, ISO 639-1.
        cut: What was left out of the transcript; its place is marked.
    """
    return load_prompt("judge-material", language).fill(
        reference=framed(transcript.scenario.reference, language),
        roles=quote_untrusted(render_roles(transcript, transcript.roles, language), *FENCES),
        transcript=quote_untrusted(render_turns(transcript, language, cut), *FENCES),
    )


def framed(text: str, language: str) -> str:
    """Returns a text so that it cannot close the frame in which it is shown, or that there is none."""
    return quote_untrusted("\n".join(text.strip().splitlines()) or marks(language)["nothing"], *FENCES)


def render_roles(transcript: Transcript, roles: Sequence[Role], language: str) -> str:
    """Returns one entry per role: kind, name, who plays it, and what a judge may know of it."""
    return "\n".join(_role_entry(role, transcript, language) for role in roles) or marks(language)["nothing"]


def render_turns(transcript: Transcript, language: str, cut: Cut | None = None) -> str:
    """Returns the turns in order, one entry per turn, and below them what the record says of the end."""
    lines: list[str] = []
    for turn in transcript.turns:
        if cut is not None and turn.id == cut.resumes:
            lines.append(_cut_line(cut, language))
        lines.append(render_turn(turn, transcript, language))
    return "\n".join([*lines, *_record(transcript, language)])


def render_turn(turn: Turn, transcript: Transcript, language: str) -> str:
    """Returns the entry of one turn."""
    text = _hanging(turn.text) if turn.text.strip() else marks(language)["silent"]
    if turn.kind == "procedure":
        return f"[{turn.id}] ({marks(language)['procedure']}) {text}"
    speaker = _label(_kinds(transcript).get(turn.role, turn.role))
    if turn.speaker.strip():
        speaker += f" ({_one_line(turn.speaker)})"
    return f"[{turn.id}] {speaker}{_marked(turn, transcript, language)}: {text}"


@functools.cache
def marks(language: str) -> Mapping[str, str]:
    """Returns the words that stand around what was said, by their key in the prompt `judge-marks`."""
    lines = load_prompt("judge-marks", language).fill().splitlines()
    return {key.strip(): words.strip() for key, _, words in (line.partition(":") for line in lines)}


def _cut_line(cut: Cut, language: str) -> str:
    told = load_prompt("judge-cut", language).fill(first=cut.first, last=cut.last, count=str(cut.count))
    return f"({marks(language)['record']}) {told}"


def _role_entry(role: Role, transcript: Transcript, language: str) -> str:
    text = f": {_hanging(role.description)}" if role.description.strip() else ""
    player = f"{marks(language)['played_by']}: {_player(role.id, transcript, language)}"
    return f"- {_label(role.kind)} ({_one_line(role.name)}), {player}{text}"


def _player(role: str, transcript: Transcript, language: str) -> str:
    player = transcript.cast.get(role)
    return marks(language)["nobody" if player is None else player.kind]


def _marked(turn: Turn, transcript: Transcript, language: str) -> str:
    """Returns what must be known of a turn beside its words."""
    words = marks(language)
    noted: list[str] = []
    if turn.kind != "speech":
        noted.append(words[turn.kind])
    if not transcript.is_judged(turn):
        noted.append(words["human"] if turn.human else _player(turn.role, transcript, language))
    if turn.seen_by:
        kinds = _kinds(transcript)
        noted.append(f"{words['known_to']} " + ", ".join(_label(kinds.get(role, role)) for role in turn.seen_by))
    return f" [{'; '.join(noted)}]" if noted else ""


def _record(transcript: Transcript, language: str) -> Iterator[str]:
    """Yields what is known of the performance as a whole."""
    words = marks(language)
    yield f"({words['record']}) {words['ended']}: {transcript.end_reason}."
    if transcript.outcome is not None:
        side = f" {words['for_defence']}" if any(role.kind == "defence" for role in transcript.roles) else ""
        yield f"({words['record']}) {words['outcome']}: {_one_line(transcript.outcome.label)}{side}."
    for cause, count in _causes(transcript):
        yield f"({words['record']}) {words['restarted']}: {_one_line(cause)} × {count}."


def _causes(transcript: Transcript) -> Iterable[tuple[str, int]]:
    return Counter(restart.cause for restart in transcript.restarts).items()


def _kinds(transcript: Transcript) -> dict[str, str]:
    return {role.id: role.kind for role in transcript.roles}


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
