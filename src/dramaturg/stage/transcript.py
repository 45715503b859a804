"""The transcript: what happened on the stage, whoever will judge it.

One JSON object per line, UTF-8. A transcript holds no time of day and no duration: the same configuration
and the same replies give the same bytes. Times and tokens are in the ledger, under each turn's call.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, model_validator

from dramaturg.text import sha256

FORMAT = "dramaturg-transcript/1"

TurnKind = Literal["speech", "action", "narration", "procedure"]
PlayerKind = Literal["model", "human", "script"]
EndReason = Literal[
    "completed",
    "undecided",
    "restarts_exhausted",
    "turn_limit",
    "empty_turns",
    "context_overflow",
    "imported",
]
"""Why a performance ended.

completed: the procedure reached its end with an outcome. undecided: it reached its end without one.
"""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Role(_Frozen):
    """A role on the stage.

    Attributes:
        id: Unique in the transcript, for example ``judge`` or ``witness:julia-mathers``.
        kind: What the role is in its procedure, for example ``witness``.
        name: The character's name.
        description: What a judge may know of it: duties, knowledge, manner.
    """

    id: str
    kind: str
    name: str
    description: str = ""


class Player(_Frozen):
    """Who plays a role.

    Attributes:
        kind: A model, a person or a script.
        model: Model identity as text, the script's name, or empty for a person.
        digest: Hash of the local model file or of the script.
        subject: Whether this player is what the study measures.
    """

    kind: PlayerKind
    model: str = ""
    digest: str = ""
    subject: bool = False


class Turn(_Frozen):
    """One turn.

    Attributes:
        id: ``T1``, ``T2`` …, in order.
        role: Id of the role that speaks, or ``procedure`` for the court's own notes.
        speaker: The character's name.
        kind: Speech, action, narration or procedure.
        text: What was said; tags and reasoning are not part of it.
        raw: What the player really wrote, where it differs from `text`.
        human: Whether a person said it.
        seen_by: Ids of the roles that know of it; empty means all.
        phase: Phase of the procedure.
        call: Key of the ledger's call, empty where none was made.
        flags: What was noticed or cured, for example ``cut:other_speaker``.
    """

    id: Annotated[str, StringConstraints(pattern=r"^T\d+$")]
    role: str
    speaker: str
    kind: TurnKind = "speech"
    text: str
    raw: str = ""
    human: bool = False
    seen_by: tuple[str, ...] = ()
    phase: str = ""
    call: str = ""
    flags: tuple[str, ...] = ()


class Restart(_Frozen):
    """A performance that had to begin anew.

    Attributes:
        cause: ``no_next_speaker``, ``empty``, ``freeze`` (no answer in time), ``loop``, ``degenerate``, ``refused``,
            ``truncated`` …
        turn: Id of the turn at which it broke.
        attempt: Which attempt broke, from 0.
        role: Whose turn it was.
        detail: One line.
        turns: What had been played until then.
    """

    cause: str
    turn: str
    attempt: int
    role: str = ""
    detail: str = ""
    turns: tuple[Turn, ...] = ()


class Cure(_Frozen):
    """What a guarded protocol did so that the performance could go on.

    Attributes:
        kind: ``redraw``, ``fallback``, ``cut``, ``analyst`` …; ``inconsistent`` where a witness's answer still invents
            something after its last redraw.
        turn: Id of the turn.
        role: Whose turn it was.
        detail: One line.
    """

    kind: str
    turn: str
    role: str = ""
    detail: str = ""


class Outcome(_Frozen):
    """What the performance decided.

    Attributes:
        label: ``win``, ``loss`` or ``undecided``, from the defence's side in court.
        justification: Why.
        summary: The summary on which the decision rests.
    """

    label: str
    justification: str = ""
    summary: str = ""


class StateChange(_Frozen):
    """A state that changed: belief, position, environment, question budget.

    Where a speech was chosen among candidates, `value` is JSON: `name` ``candidate:N`` holds a candidate's call with
    its strength, similarity and score, or why it could not be used; ``candidate`` holds which was chosen, lambda, and
    by what strength and similarity were measured.
    """

    turn: str
    owner: str
    name: str
    value: str


class Scenario(_Frozen):
    """What was staged, with the text that a judge may check against.

    Attributes:
        id: Id of the case, scene or item.
        title: For people.
        language: ISO 639-1.
        digest: Hash of the whole file as canonical JSON.
        reference: Everything a judge may check against, as text.
    """

    id: str
    title: str
    language: str = "en"
    digest: str = ""
    reference: str = ""


class Transcript(_Frozen):
    """What happened on the stage."""

    format: Literal["dramaturg-transcript/1"] = FORMAT
    id: str
    suite: str
    protocol: str
    scenario: Scenario
    roles: tuple[Role, ...]
    cast: dict[str, Player]
    seed: int
    turns: tuple[Turn, ...]
    states: tuple[StateChange, ...] = ()
    outcome: Outcome | None = None
    end_reason: EndReason
    restarts: tuple[Restart, ...] = ()
    cures: tuple[Cure, ...] = ()
    versions: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])

    @model_validator(mode="after")
    def _turn_ids_are_distinct(self) -> Self:
        seen: set[int] = set()
        for turn in self.turns:
            number = int(turn.id[1:])
            if number in seen:
                raise ValueError(f"the turn id {turn.id!r} is used more than once; every turn has its own")
            seen.add(number)
        return self

    def judged_turns(self) -> tuple[Turn, ...]:
        """Returns the turns a judge may judge: spoken by models, not by people, scripts or the procedure."""
        return tuple(turn for turn in self.turns if self.is_judged(turn))

    def is_judged(self, turn: Turn) -> bool:
        """Returns whether the turn was played by a model."""
        player = self.cast.get(turn.role)
        return turn.kind != "procedure" and not turn.human and player is not None and player.kind == "model"

    @property
    def digest(self) -> str:
        """Hash of the transcript as it is written."""
        return sha256(self.model_dump_json())
