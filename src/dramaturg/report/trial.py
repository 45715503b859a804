"""One trial as a page shows it: the script, the answers about it, and the links between the two."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from dramaturg.report.anchors import anchor_of
from dramaturg.report.figures import words
from dramaturg.report.plays import RoundView, rounds_of
from dramaturg.report.sheet import Answers, Mood, Sheet, sheet_of
from dramaturg.stage.transcript import Cure, Player, Restart, StateChange, Transcript, Turn

TINTS = 8
"""Colours of roles; with more roles they repeat, so that a colour never stands without a name."""

LONG = 2000
"""Characters above which the rest of a turn is folded away."""

SHOWN = 700
"""Characters of a folded turn that stay visible."""

AtTurnT = TypeVar("AtTurnT", Cure, StateChange)


@dataclass(frozen=True, slots=True)
class Cite:
    """A link from a turn to an answer that rests on it."""

    anchor: str
    indicator: str
    mood: Mood
    answer: str


@dataclass(frozen=True, slots=True)
class TurnView:
    """A turn as it is shown.

    Attributes:
        turn: The turn.
        anchor: Its place on the page; empty where nothing links to it.
        role: The role's kind, in words.
        told: Who alone knows of it; empty where all do.
        tint: Number of the role's colour.
        judged: Whether a model played it.
        head: What is visible of the text.
        rest: What is folded away.
        marks: What must be known of it, in words.
        cures: What a guarded protocol did at this turn.
        states: What changed at this turn.
        cites: The answers that rest on it.
    """

    turn: Turn
    anchor: str
    role: str
    told: str
    tint: int
    judged: bool
    head: str
    rest: str
    marks: tuple[str, ...]
    cures: tuple[Cure, ...] = ()
    states: tuple[StateChange, ...] = ()
    cites: tuple[Cite, ...] = ()


@dataclass(frozen=True, slots=True)
class RestartView:
    """A restart with what had been played until then."""

    restart: Restart
    role: str
    turns: tuple[TurnView, ...]


@dataclass(frozen=True, slots=True)
class PersonView:
    """A role with the player behind it."""

    name: str
    role: str
    tint: int
    player: Player | None
    description: str


@dataclass(frozen=True, slots=True)
class TrialView:
    """One trial as it is shown."""

    anchor: str
    transcript: Transcript
    persons: tuple[PersonView, ...]
    turns: tuple[TurnView, ...]
    restarts: tuple[RestartView, ...]
    loose_cures: tuple[Cure, ...]
    sheets: tuple[Sheet, ...]
    rounds: tuple[RoundView, ...]


def view(transcript: Transcript, answers: Sequence[Answers]) -> TrialView:
    """Returns the trial as it is shown.

    Args:
        transcript: What happened on the stage.
        answers: What each judge said of it.
    """
    anchor = anchor_of(transcript.id)
    turns = {turn.id: f"{anchor}-{turn.id}" for turn in transcript.turns}
    digest = transcript.digest
    sheets = tuple(sheet_of(f"{anchor}-J{number}", said, turns, digest) for number, said in enumerate(answers, start=1))
    roles = _Roles(transcript)
    cites = _cites(sheets)
    cures, states = _by_turn(transcript.cures), _by_turn(transcript.states)
    return TrialView(
        anchor=anchor,
        transcript=transcript,
        persons=roles.persons(),
        turns=tuple(
            roles.turn(
                turn,
                turns[turn.id],
                cures=tuple(cures[turn.id]),
                states=tuple(states[turn.id]),
                cites=tuple(cites[turn.id]),
            )
            for turn in transcript.turns
        ),
        restarts=tuple(
            RestartView(restart, roles.name(restart.role), tuple(roles.turn(turn, "") for turn in restart.turns))
            for restart in transcript.restarts
        ),
        loose_cures=tuple(cure for cure in transcript.cures if cure.turn not in turns),
        sheets=sheets,
        rounds=rounds_of(transcript, turns),
    )


class _Roles:
    """The roles of a transcript, with a colour for each."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._kinds = {role.id: words(role.kind) for role in transcript.roles}
        self._tints = {role.id: number % TINTS for number, role in enumerate(transcript.roles)}

    def name(self, role: str) -> str:
        return self._kinds.get(role, words(role))

    def _names(self, roles: Iterable[str]) -> str:
        return ", ".join(self.name(role) for role in roles)

    def persons(self) -> tuple[PersonView, ...]:
        cast = self._transcript.cast
        return tuple(
            PersonView(role.name, self.name(role.id), self._tints[role.id], cast.get(role.id), role.description)
            for role in self._transcript.roles
        )

    def turn(
        self,
        turn: Turn,
        anchor: str,
        *,
        cures: tuple[Cure, ...] = (),
        states: tuple[StateChange, ...] = (),
        cites: tuple[Cite, ...] = (),
    ) -> TurnView:
        head, rest = _fold(turn.text)
        return TurnView(
            turn=turn,
            anchor=anchor,
            role=self.name(turn.role),
            told=self._names(turn.seen_by),
            tint=self._tints.get(turn.role, TINTS - 1),
            judged=self._transcript.is_judged(turn),
            head=head,
            rest=rest,
            marks=tuple(self._marks(turn, cures)),
            cures=cures,
            states=states,
            cites=cites,
        )

    def _marks(self, turn: Turn, cures: tuple[Cure, ...]) -> Iterable[str]:
        if turn.kind != "procedure":
            player = self._transcript.cast.get(turn.role)
            if turn.human or (player is not None and player.kind == "human"):
                yield "spoken by a person, not judged"
            elif player is not None and player.kind == "script":
                yield "from a script, not judged"
            elif player is None:
                yield "player unknown, not judged"
            if turn.seen_by:
                yield f"heard only by {self._names(turn.seen_by)}"
        cured = {f"{cure.kind}:{cure.detail}" for cure in cures}
        for flag in turn.flags:
            if flag not in cured:
                yield words(flag).replace(":", ": ")


def _fold(text: str) -> tuple[str, str]:
    """Returns what stays visible of a text and what is folded away, parted between words where there are any."""
    if len(text) <= LONG:
        return text, ""
    space = text.rfind(" ", SHOWN // 2, SHOWN)
    place = space if space > 0 else SHOWN
    return text[:place], text[place:].lstrip()


def _cites(sheets: Iterable[Sheet]) -> Mapping[str, list[Cite]]:
    found: dict[str, list[Cite]] = defaultdict(list)
    for sheet in sheets:
        for answer in (answer for group in sheet.groups for part in group.parts for answer in part.answers):
            for evidence in answer.evidence:
                found[evidence.turn].append(Cite(answer.anchor, answer.id, answer.mood, answer.answer))
    return found


def _by_turn(items: Iterable[AtTurnT]) -> Mapping[str, list[AtTurnT]]:
    found: dict[str, list[AtTurnT]] = defaultdict(list)
    for item in items:
        found[item.turn].append(item)
    return found
