"""The director: a model that plans for each round what every character should do next. Off unless asked for.

In the published code the model of the first character directs, so that a score measures a director as well as actors;
the protocol `released` keeps that. Elsewhere a director is a player of its own.
"""

from __future__ import annotations

from dramaturg.stage.cast import ModelSeat
from dramaturg.stage.court.speech import one_line
from dramaturg.stage.transcript import Role
from dramaturg.stage.world.agents import Agent
from dramaturg.stage.world.chronicle import Chronicle
from dramaturg.stage.world.setting import DIRECTOR, Setting, character_role, surroundings
from dramaturg.stage.world.written import read_plan


class Director(Agent):
    """The director."""

    def __init__(self, setting: Setting, chronicle: Chronicle, seat: ModelSeat) -> None:
        """Tells the director the scene.

        Args:
            setting: The play.
            chronicle: What has happened.
            seat: Who directs.
        """
        scene = setting.scene
        system = setting.prompt("director").fill(
            event=scene.event,
            environment=surroundings(scene.environment),
            people="\n".join(f"- {one_line(one.name)}: {one_line(setting.profile(one))}" for one in scene.characters),
            language=setting.language_words,
        )
        role = Role(id=DIRECTOR, kind=DIRECTOR, name=setting.word("director"))
        super().__init__(setting, chronicle, role, seat, system)

    async def plan(self, order: tuple[Role, ...]) -> dict[str, tuple[str, str]]:
        """Returns the plan of everybody who has one, by the id of the role, with the call in the ledger.

        Args:
            order: Who is to act, in which order.
        """
        names = [role.name for role in order]
        task = self._setting.prompt("synopsis").fill(names=", ".join(map(one_line, names)))
        asked = await self.write(task, purpose="synopsis", sampling=self.sampling(self._setting.limits.plan_tokens))
        self.keep(asked.reply.text)
        lines = read_plan(asked.reply.text, self._whose)
        if left_out := [role.name for role in order if role.id not in lines]:
            self._cures.append(("synopsis:left_out", ", ".join(left_out)))
        return {role.id: (lines[role.id], asked.key) for role in order if role.id in lines}

    def _whose(self, name: str) -> str:
        """Returns the id of the role that a name means; empty where it means no one character."""
        character = self._setting.names.resolve(name).id
        return character_role(character) if character else ""

    def standing(self) -> str:
        """Returns how everything stands now."""
        standings = self._chronicle.standings
        people = [
            f"- {one_line(character.name)}: {one_line(standings[self._setting.role_of(character).id].text)}"
            for character in self._setting.scene.characters
        ]
        return self._setting.prompt("standing").fill(
            environment=surroundings(self._chronicle.environment), people="\n".join(people), beliefs=""
        )
