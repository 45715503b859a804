"""How stories of a world went: rounds, who acted on whom, and what of it could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dramaturg.report.figures import decimal, share
from dramaturg.report.layouts import Cell, Column, Layout
from dramaturg.stage.transcript import Transcript
from dramaturg.stage.world.acts import acts_of, round_of

UNREAD = "unparsed"
"""End of the names of cures where an answer of the narrator could not be read."""

FEW_HITS = 0.3
"""Share of acts on somebody below which the story is one of people side by side."""


@dataclass(frozen=True, slots=True)
class PlayFigures:
    """What is counted of one story, or of several.

    Attributes:
        subject: Who plays.
        plays: How many stories.
        concluded: Those of them that came to an end by themselves.
        rounds: All of them together.
        acts: Those that were nobody's answer.
        hits: Those of them that affected somebody else.
        reactions: Answers to them.
        repeated: Acts that say word for word what the same character did before.
        unread: Answers of the narrator that could not be read.
    """

    subject: str
    plays: int
    concluded: int
    rounds: int
    acts: int
    hits: int
    reactions: int
    repeated: int
    unread: int


@dataclass(frozen=True, slots=True)
class ActView:
    """Who acted on whom.

    Attributes:
        actor: Name of the one.
        target: Name of the other; empty where nobody else was affected.
        turn: Id of the act.
        anchor: Its place on a page.
        reaction: Id of the answer; empty where there was none.
        reaction_anchor: Its place on a page.
    """

    actor: str
    target: str
    turn: str
    anchor: str
    reaction: str
    reaction_anchor: str


@dataclass(frozen=True, slots=True)
class RoundView:
    """The acts of one round."""

    number: int
    acts: tuple[ActView, ...]


def play_figures(transcript: Transcript, subject: str) -> PlayFigures:
    """Returns what is counted of one story.

    Args:
        transcript: Of a world.
        subject: Label of who plays.
    """
    acts = acts_of(transcript)
    said = [(act.turn.role, " ".join(act.turn.text.casefold().split())) for act in acts]
    outcome = transcript.outcome.label if transcript.outcome is not None else ""
    return PlayFigures(
        subject=subject,
        plays=1,
        concluded=int(outcome == "concluded"),
        rounds=max((round_of(turn) for turn in transcript.turns), default=0),
        acts=len(acts),
        hits=sum(bool(act.target) for act in acts),
        reactions=sum(act.reaction is not None for act in acts),
        repeated=len(said) - len(set(said)),
        unread=sum(cure.kind.endswith(UNREAD) for cure in transcript.cures),
    )


def plays_by_subject(plays: Iterable[PlayFigures]) -> tuple[PlayFigures, ...]:
    """Returns the figures of each subject's stories together, in the order in which they come."""
    found: dict[str, PlayFigures] = {}
    for one in plays:
        before = found.get(one.subject)
        found[one.subject] = one if before is None else _together(before, one)
    return tuple(found.values())


def rounds_of(transcript: Transcript, anchors: dict[str, str]) -> tuple[RoundView, ...]:
    """Returns who acted on whom, round by round; nothing for what is no world.

    Args:
        transcript: Any.
        anchors: Place of each turn on a page, by its id.
    """
    if transcript.suite != "world":
        return ()
    names = {role.id: role.name for role in transcript.roles}
    rounds: dict[int, list[ActView]] = {}
    for act in acts_of(transcript):
        answer = act.reaction.id if act.reaction is not None else ""
        rounds.setdefault(act.round, []).append(
            ActView(
                actor=names.get(act.turn.role, act.turn.speaker),
                target=names.get(act.target, act.target),
                turn=act.turn.id,
                anchor=anchors[act.turn.id],
                reaction=answer,
                reaction_anchor=anchors.get(answer, ""),
            )
        )
    return tuple(RoundView(number, tuple(acts)) for number, acts in rounds.items())


def plays_layout(plays: Sequence[PlayFigures]) -> Layout:
    """Returns the table of stories by subject."""
    names = ("Plays", "Concluded", "Rounds per play", "Acts", "On somebody", "Reactions", "Repeated", "Unread")
    columns = (Column("Subject", numeric=False), *map(Column, names))
    rows = tuple(
        (
            Cell(one.subject),
            Cell(str(one.plays)),
            Cell(share(one.concluded, one.plays)),
            Cell(decimal(one.rounds / one.plays, 1)),
            Cell(str(one.acts)),
            Cell(share(one.hits, one.acts)),
            Cell(str(one.reactions)),
            Cell(share(one.repeated, one.acts)),
            Cell(str(one.unread)),
        )
        for one in plays
    )
    notes = (
        "Acts: those that answer nobody. On somebody: the share of them of which the narrator named a person whom they "
        "affect. Repeated: word for word as the same character did before. Unread: answers of the narrator.",
    )
    return Layout(0, "How the stories went", columns, rows, notes)


def _together(one: PlayFigures, other: PlayFigures) -> PlayFigures:
    return PlayFigures(
        subject=one.subject,
        plays=one.plays + other.plays,
        concluded=one.concluded + other.concluded,
        rounds=one.rounds + other.rounds,
        acts=one.acts + other.acts,
        hits=one.hits + other.hits,
        reactions=one.reactions + other.reactions,
        repeated=one.repeated + other.repeated,
        unread=one.unread + other.unread,
    )
