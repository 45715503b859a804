"""The chronicle: what has happened in a play so far, how everything stands now, and what was noticed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dramaturg.stage.audience import Floor, Observer, Usher
from dramaturg.stage.court.speech import one_line
from dramaturg.stage.transcript import Cure, Role, StateChange, Turn, TurnKind
from dramaturg.stage.world.answers import EnvironmentUpdate
from dramaturg.stage.world.deeds import Deed
from dramaturg.stage.world.scene import Environment
from dramaturg.stage.world.setting import ENVIRONMENT, NARRATOR, Setting, surroundings

OPENING = "opening"
"""Phase of what happens before the first round."""

SCENE_TURN = "T1"
"""The turn that tells the scene."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How somebody stands.

    Attributes:
        position: Where.
        state: In body and mind.
    """

    position: str
    state: str

    @property
    def text(self) -> str:
        """Both, on one line."""
        return "; ".join(part for part in (self.position, self.state) if part)


class Chronicle:
    """What has happened so far.

    Attributes:
        turns: What was done, said and told.
        states: What changed, and at which turn.
        cures: What was mended, and answers of which nothing could be used.
        environment: What surrounds everybody now.
        standings: How every character stands now, by the id of its role.
        round: The round that is played, from 1; 0 for the opening.
    """

    def __init__(self, setting: Setting, hears: Callable[[Turn], None]) -> None:
        """Begins with the scene and its opening acts.

        Args:
            setting: The play.
            hears: Is told of every turn once it stands, opening acts included.
        """
        self.turns: list[Turn] = []
        self.states: list[StateChange] = []
        self.cures: list[Cure] = []
        self.environment = setting.scene.environment
        self.standings: dict[str, Standing] = {}
        self.round = 0
        self._setting = setting
        self._hears = hears

    def open(self) -> None:
        """Tells the scene: what is going on, how everything stands, and what everybody does before the first round."""
        scene = self._setting.scene
        self._add(
            Turn(
                id=SCENE_TURN,
                role="procedure",
                speaker=scene.title,
                kind="procedure",
                text=self._opening_text(),
                phase=OPENING,
            )
        )
        for name in ("time", "place", "description"):
            self.change(ENVIRONMENT, name, getattr(scene.environment, name))
        for character in scene.characters:
            role = self._setting.role_of(character)
            self.standings[role.id] = Standing(character.position, character.state)
            self.change(role.id, "position", character.position)
            self.change(role.id, "state", character.state)
        for character in scene.characters:
            opening = character.opening
            for kind, text in (("action", opening.action), ("speech", opening.speech)) if opening is not None else ():
                if text.strip():
                    told = self._setting.told(kind, character.name, text).removeprefix("- ")
                    self._add(
                        Turn(
                            id=self._next_id(),
                            role="procedure",
                            speaker=character.name,
                            kind="procedure",
                            text=told,
                            phase=OPENING,
                        )
                    )

    def begin_round(self) -> None:
        """Begins the next round."""
        self.round += 1

    def gives(self, role: Role, purpose: str) -> None:
        """Tells whoever watches who is about to act."""
        audience = self._setting.audience
        if isinstance(audience, Usher):
            audience.gives(Floor(role=role.id, phase=self._phase, purpose=purpose, events=(), addressees=(), left={}))

    def do(self, role: Role, kind: TurnKind, deed: Deed, *flags: str) -> Turn:
        """Adds what a character did or said; without a text too, where it is to be seen that nothing came."""
        return self._add(
            Turn(
                id=self._next_id(),
                role=role.id,
                speaker=role.name,
                kind=kind,
                text=deed.text,
                raw=deed.raw if deed.raw != deed.text else "",
                human=deed.human,
                phase=self._phase,
                call=deed.key,
                flags=tuple(dict.fromkeys((*deed.flags, *flags))),
            )
        )

    def tell(self, text: str, *, key: str, seen_by: tuple[str, ...] = (), flags: tuple[str, ...] = ()) -> Turn:
        """Adds what the narrator tells, to all or to some."""
        return self._add(
            Turn(
                id=self._next_id(),
                role=NARRATOR,
                speaker=self._setting.word("narrator"),
                kind="narration",
                text=text,
                seen_by=seen_by,
                phase=self._phase,
                call=key,
                flags=flags,
            )
        )

    def plan(self, role: Role, director: Role, text: str, key: str) -> None:
        """Adds what a director plans for a character; nobody else knows of it, and nobody judges it."""
        self._add(
            Turn(
                id=self._next_id(),
                role=director.id,
                speaker=director.name,
                kind="procedure",
                text=text,
                seen_by=(role.id,),
                phase=self._phase,
                call=key,
            )
        )

    def change(self, owner: str, name: str, value: str) -> None:
        """Adds a state that changed at the last turn."""
        changed = StateChange(turn=self.turns[-1].id, owner=owner, name=name, value=value)
        self.states.append(changed)
        if isinstance(self._setting.audience, Observer):
            self._setting.audience.changed(changed)

    def cure(self, kind: str, role: str, detail: str = "") -> None:
        """Adds what was mended at the last turn, or of what nothing could be used."""
        self.cures.append(Cure(kind=kind, turn=self.turns[-1].id, role=role, detail=detail))

    def moved(self, role: Role, position: str, state: str) -> bool:
        """Takes how something left a character; what is blank stays. Returns whether anything changed."""
        before = self.standings[role.id]
        now = Standing(one_line(position) or before.position, one_line(state) or before.state)
        self.standings[role.id] = now
        if now.position != before.position:
            self.change(role.id, "position", now.position)
        if now.state != before.state:
            self.change(role.id, "state", now.state)
        return now != before

    def surround(self, update: EnvironmentUpdate, key: str) -> None:
        """Takes what surrounds everybody now, and tells of it where it changed; what is blank stays."""
        before = self.environment
        now = Environment(
            time=update.time.strip() or before.time,
            place=update.place.strip() or before.place,
            description=update.description.strip() or before.description,
        )
        self.environment = now
        if now == before:
            return
        self.tell(surroundings(now), key=key, flags=(ENVIRONMENT,))
        for name in ("time", "place", "description"):
            if getattr(now, name) != getattr(before, name):
                self.change(ENVIRONMENT, name, getattr(now, name))

    @property
    def _phase(self) -> str:
        return f"round-{self.round}" if self.round else OPENING

    def _next_id(self) -> str:
        return f"T{len(self.turns) + 1}"

    def _opening_text(self) -> str:
        scene = self._setting.scene
        return f"{scene.event}\n{surroundings(scene.environment)}"

    def _add(self, turn: Turn) -> Turn:
        self.turns.append(turn)
        if self._setting.audience is not None:
            self._setting.audience.sees(turn, 0)
        self._hears(turn)
        return turn


def is_news(turn: Turn) -> bool:
    """Returns whether those who see a turn are told of it: all but the scene and a director's plan."""
    return turn.kind != "procedure" or (turn.phase == OPENING and turn.id != SCENE_TURN)
