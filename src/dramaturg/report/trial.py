"""One trial as a page shows it: the script, the answers about it, and the links between the two."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar, assert_never

from dramaturg.judge.checklist.checklist import Checklist, Dimension, Indicator
from dramaturg.judge.checklist.score import Share, TranscriptScores
from dramaturg.judge.judgement import Judgement
from dramaturg.report.figures import words
from dramaturg.stage.transcript import Cure, Player, Restart, StateChange, Transcript, Turn
from dramaturg.text import sha256

TINTS = 8
"""Colours of roles; with more roles they repeat, so that a colour never stands without a name."""

LONG = 2000
"""Characters above which the rest of a turn is folded away."""

SHOWN = 700
"""Characters of a folded turn that stay visible."""

AtTurnT = TypeVar("AtTurnT", Cure, StateChange)

Mood = Literal["good", "bad", "open", "none"]
"""What an answer says: for the performance, against it, nothing because it is missing, not applicable."""

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")


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
class Evidence:
    """A turn that an answer rests on; the anchor is empty where the transcript has no such turn."""

    turn: str
    anchor: str


@dataclass(frozen=True, slots=True)
class AnswerView:
    """One indicator with its answer, or without one."""

    anchor: str
    id: str
    text: str
    mood: Mood
    answer: str
    why_missing: str
    judgement: Judgement | None
    evidence: tuple[Evidence, ...]
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """Answers of one sub-dimension, or of a dimension that has none.

    Attributes:
        share: The Quality Score of these answers in this trial; None where the checklist is not at hand.
    """

    name: str
    share: Share | None
    answers: tuple[AnswerView, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Answers of one dimension."""

    name: str
    share: Share | None
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """All answers of one judge about one trial.

    Attributes:
        title: Who judged, by what and how.
        groups: The answers by dimension; empty where this judge said nothing of the trial.
        stale: Whether they were given about another version of the transcript.
    """

    title: str
    groups: tuple[Group, ...]
    stale: bool


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


@dataclass(frozen=True, slots=True)
class Answers:
    """What one judge said of one trial.

    Attributes:
        title: Who judged, by what and how.
        checklist: Its checklist, or None where no copy of it is at hand.
        scores: The trial's scores by this judge; None where no copy of the checklist is at hand.
        judgements: The answers by indicator.
    """

    title: str
    checklist: Checklist | None
    scores: TranscriptScores | None
    judgements: Mapping[str, Judgement]


def anchor_of(text: str) -> str:
    """Returns an id that is valid and unique on a page: the text itself where it is safe, else with a hash."""
    safe = _UNSAFE.sub("_", text)
    return safe if safe == text and text else f"{safe[:60]}-{sha256(text)[:8]}"


def view(transcript: Transcript, answers: Sequence[Answers]) -> TrialView:
    """Returns the trial as it is shown.

    Args:
        transcript: What happened on the stage.
        answers: What each judge said of it.
    """
    anchor = anchor_of(transcript.id)
    turns = {turn.id: f"{anchor}-{turn.id}" for turn in transcript.turns}
    digest = transcript.digest
    sheets = tuple(_sheet(f"{anchor}-J{number}", said, turns, digest) for number, said in enumerate(answers, start=1))
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
    )


class _Roles:
    """The roles of a transcript, with a colour for each."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._kinds = {role.id: words(role.kind) for role in transcript.roles}
        self._tints = {role.id: number % TINTS for number, role in enumerate(transcript.roles)}

    def name(self, role: str) -> str:
        return self._kinds.get(role, words(role))

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
            tint=self._tints.get(turn.role, TINTS - 1),
            judged=self._transcript.is_judged(turn),
            head=head,
            rest=rest,
            marks=tuple(self._marks(turn)),
            cures=cures,
            states=states,
            cites=cites,
        )

    def _marks(self, turn: Turn) -> Iterable[str]:
        if turn.kind != "procedure":
            player = self._transcript.cast.get(turn.role)
            if turn.human or (player is not None and player.kind == "human"):
                yield "spoken by a person, not judged"
            elif player is not None and player.kind == "script":
                yield "from a script, not judged"
            elif player is None:
                yield "player unknown, not judged"
        if turn.seen_by:
            yield "heard only by " + ", ".join(self.name(role) for role in turn.seen_by)
        for flag in turn.flags:
            yield words(flag).replace(":", ": ")


def _fold(text: str) -> tuple[str, str]:
    """Returns what stays visible of a text and what is folded away, parted between words where there are any."""
    if len(text) <= LONG:
        return text, ""
    space = text.rfind(" ", SHOWN // 2, SHOWN)
    place = space if space > 0 else SHOWN
    return text[:place], text[place:].lstrip()


def _sheet(prefix: str, said: Answers, turns: Mapping[str, str], digest: str) -> Sheet:
    if not said.judgements:
        return Sheet(said.title, (), stale=False)
    groups: list[Group] = []
    if said.checklist is not None and said.scores is not None:
        groups = [
            _group(prefix, dimension, said.checklist, said.scores, said.judgements, turns)
            for dimension in said.checklist.dimensions
        ]
    asked = {answer.id for group in groups for part in group.parts for answer in part.answers}
    others: dict[str, list[AnswerView]] = defaultdict(list)
    for judgement in said.judgements.values():
        if judgement.indicator not in asked:
            others[judgement.dimension].append(_answer(prefix, None, judgement, turns))
    groups += [Group(name, None, (Part("", None, tuple(answers)),)) for name, answers in others.items()]
    stale = any(judgement.transcript_digest != digest for judgement in said.judgements.values())
    return Sheet(said.title, tuple(groups), stale)


def _group(
    prefix: str,
    dimension: Dimension,
    checklist: Checklist,
    scores: TranscriptScores,
    judgements: Mapping[str, Judgement],
    turns: Mapping[str, str],
) -> Group:
    parts = [(part.id, part.name, scores.subdimensions[part.id].quality) for part in dimension.subdimensions]
    return Group(
        name=dimension.name,
        share=scores.dimensions[dimension.id].quality,
        parts=tuple(
            Part(
                name,
                share,
                tuple(
                    _answer(prefix, indicator, judgements.get(indicator.id), turns)
                    for indicator in checklist.indicators
                    if (indicator.dimension, indicator.subdimension) == (dimension.id, part)
                ),
            )
            for part, name, share in parts or [(None, "", None)]
        ),
    )


def _answer(
    prefix: str, indicator: Indicator | None, judgement: Judgement | None, turns: Mapping[str, str]
) -> AnswerView:
    """Returns one answer; one of the two, indicator or judgement, is given at least."""
    identity = indicator.id if indicator is not None else judgement.indicator if judgement is not None else ""
    text = indicator.text if indicator is not None else ""
    anchor = f"{prefix}-{anchor_of(identity)}"
    if judgement is None:
        return AnswerView(anchor, identity, text, "open", "missing", "never asked", None, (), ())
    return AnswerView(
        anchor=anchor,
        id=identity,
        text=text,
        mood=mood_of(judgement, indicator),
        answer=words(judgement.answer) if judgement.answer != "not_applicable" else "n. a.",
        why_missing=words(judgement.reason),
        judgement=judgement,
        evidence=tuple(Evidence(turn, turns.get(turn, "")) for turn in judgement.evidence),
        flags=tuple(_flag_in_words(flag) for flag in judgement.flags),
    )


def mood_of(judgement: Judgement, indicator: Indicator | None) -> Mood:
    """Returns what the answer says of the performance; an indicator without a sign counts as positive."""
    match judgement.answer:
        case "missing":
            return "open"
        case "not_applicable":
            return "none"
        case "yes" | "no":
            good = "no" if indicator is not None and indicator.sign == "negative" else "yes"
            return "good" if judgement.answer == good else "bad"
        case _:
            assert_never(judgement.answer)


def _flag_in_words(flag: str) -> str:
    match flag.split(":", 2):
        case ["evidence", "none"]:
            return "names no turn that it rests on"
        case ["evidence", "unknown", turn]:
            return f"cites a turn that does not exist: {turn}"
        case ["evidence", kind, turn]:
            source = {"human": "said by a person", "script": "from a script", "procedure": "a note of the procedure"}
            return f"rests only on turns that are not judged: {turn}, {source.get(kind, words(kind))}"
        case _:
            return words(flag).replace(":", ": ")


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
