"""Chats and a map of roles become transcripts.

The same files and options give the same bytes; the id of a transcript is made of its content, not of its file's name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dramaturg.errors import UserError
from dramaturg.model.reasoning import split_reasoning
from dramaturg.stage.importing.chat import Chat, ChatLog, Said, by_speaker
from dramaturg.stage.importing.roles import EVERYONE_ELSE, NO_ROLE, Part, RoleMap, plain
from dramaturg.stage.transcript import Player, PlayerKind, Role, Scenario, Transcript, Turn, TurnKind
from dramaturg.text import canonical_json, sha256

SUITE = "imported"
"""Suite and protocol of every imported transcript."""

UNNAMED = "unnamed"
"""What stands for the model where nobody says which it was."""

REASONING = "turns of models held reasoning, which no judge sees; it stays in the turn's raw text"
NOTES = "messages of nobody's, such as those of the system, became notes of the procedure"
REPEATED = "conversations are the same as an earlier one; their ids end in a number"

PROCEDURE = "procedure"
"""Role of the turns that nobody plays."""

_SHOWN = 12
_ID_LENGTH = 12


@dataclass(frozen=True, slots=True)
class Settings:
    """What all transcripts of one import share.

    Attributes:
        title: Of the scenario; empty takes the file's name. Conversations of one title count as one scenario.
        reference: What a judge may check against.
        language: ISO 639-1.
        model: Name of the model that played, where the roles name none.
    """

    title: str = ""
    reference: str = ""
    language: str = "en"
    model: str = ""


@dataclass(frozen=True, slots=True)
class Imported:
    """One transcript, and where it comes from.

    Attributes:
        transcript: What a judge reads.
        log: The file's stem.
        place: Which conversation of the file it was; empty where the file held one.
    """

    transcript: Transcript
    log: str
    place: str


def check_speakers(logs: Sequence[ChatLog], roles: RoleMap) -> None:
    """Refuses logs with a speaker that has no role.

    Raises:
        UserError: Lists every such speaker with its number of messages and its first place.
    """
    unknown: dict[str, list[str]] = {}
    for log in logs:
        for speaker, messages in by_speaker(log.chats).items():
            for said in messages:
                if _part(said, roles) is None and not _is_note(said, roles):
                    unknown.setdefault(speaker, []).append(f"{log.name}, {said.place}")
    if not unknown:
        return
    told = [f"{name!r} (messages: {len(at)}, first: {at[0]})" for name, at in unknown.items()]
    more = f" and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
    raise UserError(
        f"no role is given for {', '.join(told[:_SHOWN])}{more}",
        where="--role",
        allowed=f"--role '{next(iter(unknown))}=KIND[:model|human|script]', or '*=…' for everyone else; KIND is a role "
        f"of the checklist, or {', '.join(NO_ROLE)} where nobody plays it",
    )


def to_transcripts(
    logs: Sequence[ChatLog], roles: RoleMap, settings: Settings
) -> tuple[list[Imported], dict[str, int]]:
    """Returns the transcripts in the order of the logs, and what was not taken as it stands, with counts.

    Args:
        logs: What was read.
        roles: Who is who; it has a part for every speaker.
        settings: What the transcripts share.

    Raises:
        UserError: A speaker has no role.
    """
    check_speakers(logs, roles)
    notes = Counter[str]()
    seen = Counter[str]()
    titles = Counter[str]()
    imported: list[Imported] = []
    for log in logs:
        notes.update(log.notes)
        for chat in log.chats:
            title = settings.title or f"{log.name} {chat.place}".strip()
            titles[_slug(title)] += 1
            if not settings.title and titles[_slug(title)] > 1:  # files of one name are not repeats of one scenario
                title = f"{title} ({titles[_slug(title)]})"
            transcript = _transcript(title, log, chat, roles, settings, notes)
            seen[transcript.id] += 1
            if seen[transcript.id] > 1:
                notes[REPEATED] += 1
                transcript = transcript.model_copy(update={"id": f"{transcript.id}-{seen[transcript.id]}"})
            imported.append(Imported(transcript, log.name, chat.place))
    for part in _unused(logs, roles):
        notes[f"entries for {part.name!r} name nobody in the logs"] += 1
    return imported, dict(+notes)


def _transcript(
    title: str, log: ChatLog, chat: Chat, roles: RoleMap, settings: Settings, notes: Counter[str]
) -> Transcript:
    people = _people(chat, roles)
    cast = {role.id: _player(said, roles, settings) for role, said in people.values()}
    turns = tuple(_turns(chat, roles, people, cast, notes))
    played = list(dict.fromkeys(role for role, _ in people.values()))
    reference = settings.reference.strip()
    content = {
        "reference": reference,
        "language": settings.language,
        "roles": [role.model_dump(mode="json") for role in played],
        "cast": {role: player.model_dump(mode="json") for role, player in cast.items()},
        "turns": [turn.model_dump(mode="json") for turn in turns],
    }
    return Transcript(
        id=f"import-{sha256(canonical_json(content))[:_ID_LENGTH]}",
        suite=SUITE,
        protocol=SUITE,
        scenario=Scenario(id=_slug(title), title=title, language=settings.language, reference=reference),
        roles=tuple(played),
        cast=cast,
        seed=0,
        turns=turns,
        end_reason="imported",
        versions={"import": log.format},
    )


def _people(chat: Chat, roles: RoleMap) -> dict[str, tuple[Role, Said]]:
    """Returns the role of each speaker that plays one, by the speaker's key, and where the speaker appears first."""
    first: dict[str, tuple[Part, Said]] = {}
    for said in chat.messages:
        part = _part(said, roles)
        if part is not None and part.kind not in NO_ROLE:
            first.setdefault(_key(said, part, roles), (part, said))
    kinds = Counter(part.kind for part, _ in first.values())
    taken: set[str] = set()
    people: dict[str, tuple[Role, Said]] = {}
    for key, (part, said) in first.items():
        name = part.character or said.speaker
        wanted = part.kind if kinds[part.kind] == 1 else f"{part.kind}:{_slug(name)}"
        number = next(n for n in range(1, len(first) + 2) if _numbered(wanted, n) not in taken)
        taken.add(_numbered(wanted, number))
        role = Role(
            id=_numbered(wanted, number), kind=part.kind, name=name, description=part.description.strip() or said.label
        )
        people[key] = (role, said)
    return people


def _turns(
    chat: Chat,
    roles: RoleMap,
    people: dict[str, tuple[Role, Said]],
    cast: dict[str, Player],
    notes: Counter[str],
) -> Iterator[Turn]:
    for number, said in enumerate(chat.messages, start=1):
        part = _part(said, roles)
        text = said.text.strip()
        if part is None or part.kind in NO_ROLE:
            notes[NOTES] += bool(said.speaker)
            kind: TurnKind = "narration" if part is not None and part.kind == "narration" else "procedure"
            yield Turn(id=f"T{number}", role=PROCEDURE, speaker=said.speaker, kind=kind, text=text, flags=said.flags)
            continue
        role, _ = people[_key(said, part, roles)]
        player = cast[role.id]
        visible, hidden, _ = split_reasoning(text) if player.kind == "model" else (text, "", False)
        notes[REASONING] += bool(hidden)
        yield Turn(
            id=f"T{number}",
            role=role.id,
            speaker=role.name,
            kind="action" if said.kind == "action" else "speech",
            text=visible.strip(),
            raw=text if visible.strip() != text else "",
            human=player.kind == "human",
            flags=(*said.flags, *(("import:reasoning",) if hidden else ())),
        )


def _part(said: Said, roles: RoleMap) -> Part | None:
    """Returns what a message's speaker is; a note that no entry names has none, whatever is said of everyone else."""
    if not said.speaker or _is_note(said, roles):
        return None
    return roles.find(said.speaker, said.label)


def _is_note(said: Said, roles: RoleMap) -> bool:
    return said.kind == "procedure" and not roles.names(said.speaker)


def _key(said: Said, part: Part, roles: RoleMap) -> str:
    """Returns what tells speakers apart: all names of one entry are one speaker."""
    return plain(part.name) if roles.names(said.speaker) else plain(said.speaker)


def _player(said: Said, roles: RoleMap, settings: Settings) -> Player:
    part = roles.find(said.speaker, said.label)
    kind: PlayerKind = (part.player if part is not None else None) or said.player or "model"
    if kind != "model":
        return Player(kind=kind, model=part.model if part is not None and kind == "script" else "")
    named = part.model if part is not None else ""
    return Player(kind="model", model=named or settings.model or UNNAMED, subject=True)


def _unused(logs: Iterable[ChatLog], roles: RoleMap) -> list[Part]:
    spoken = {plain(name) for log in logs for chat in log.chats for said in chat.messages for name in _names(said)}
    return [
        part
        for part in roles.parts
        if part.name != EVERYONE_ELSE
        and part.kind != "text"
        and spoken.isdisjoint(plain(name) for name in (part.name, *part.also))
    ]


def _names(said: Said) -> tuple[str, str]:
    return said.speaker, said.label


def _numbered(wanted: str, number: int) -> str:
    return wanted if number == 1 else f"{wanted}-{number}"


def _slug(text: str) -> str:
    """Returns a text as an id: letters and digits of any script, hyphens between them."""
    return re.sub(r"[\W_]+", "-", text.casefold()).strip("-") or "chat"
