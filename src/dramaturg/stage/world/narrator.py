"""The narrator: the world itself. It says whom an act affects, what comes of it, and how everything stands then.

What it answers is typed. Of what cannot be read nothing is taken: everything stays as it was, and the record says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dramaturg.model import Asked, Sampling
from dramaturg.model.one_answer import read_one
from dramaturg.model.structured import Structured
from dramaturg.stage.court.speech import one_line
from dramaturg.stage.transcript import Role, Turn
from dramaturg.stage.world.agents import Agent
from dramaturg.stage.world.answers import (
    NONE,
    EnvironmentUpdate,
    Influence,
    InfluenceOrUpdate,
    Result,
    Update,
    closed,
    is_blank,
)
from dramaturg.stage.world.chronicle import Chronicle
from dramaturg.stage.world.deeds import Deed
from dramaturg.stage.world.naming import Named
from dramaturg.stage.world.sameness import is_same, is_told
from dramaturg.stage.world.scene import SceneCharacter
from dramaturg.stage.world.setting import NARRATOR, Setting, surroundings
from dramaturg.stage.world.written import bounded, prose, read_influences

LAST_TURNS = 8
"""Turns that a narrator whose chat begins anew is told again."""


@dataclass(frozen=True, slots=True)
class Influenced:
    """Whom an act affects.

    Attributes:
        target: Id of the character; empty where nobody else is affected, or where nobody can tell who.
        influence: What the act does to the target.
        key: The call in the ledger; empty where none was made.
        problem: Why it cannot be told who is affected: ``unparsed`` and the other failures of a form, ``ambiguous``,
            ``unknown``; ``several`` where the first of several was taken; ``copy`` where the influence only tells the
            deed over again, and is left out; empty otherwise.
        detail: One line for people.
        update: How the act leaves the actor, where that was told along with it.
    """

    target: str = ""
    influence: str = ""
    key: str = ""
    problem: str = ""
    detail: str = ""
    update: Update | None = None

    @property
    def flags(self) -> tuple[str, ...]:
        """What is noted at the act."""
        target = (f"target:{self.target}",) if self.target else ()
        return (*target, *((f"influence:{self.problem}",) if self.problem else ()))


NOBODY = Influenced()
"""Of an act that was none."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an act and its answer.

    Attributes:
        text: What happened; empty where nothing could be read.
        key: The call in the ledger.
        problem: Why nothing could be read; ``copy`` where it only tells over again what happened; empty otherwise.
        detail: One line for people.
        updates: How it left whom, by id; of those who are missing nothing could be read.
    """

    text: str
    key: str
    problem: str = ""
    detail: str = ""
    updates: tuple[tuple[str, Update], ...] = ()


class Narrator(Agent):
    """The narrator; its answers are returned, and the chronicle is left to whoever asks."""

    def __init__(self, setting: Setting, chronicle: Chronicle) -> None:
        """Tells the narrator who is there.

        Args:
            setting: The play.
            chronicle: What has happened.
        """
        scene = setting.scene
        system = setting.prompt("narrator").fill(
            event=scene.event,
            environment=surroundings(scene.environment),
            people="\n".join(_person(character) for character in scene.characters),
            language=setting.language_words,
        )
        if setting.protocol == "fast":
            system += f"\n\n{setting.prompt('narrator-forms').fill()}"
        role = Role(id=NARRATOR, kind=NARRATOR, name=setting.word("narrator"))
        super().__init__(setting, chronicle, role, setting.narrator(), system)
        self._shown: frozenset[str] = frozenset()

    def hears(self, turn: Turn) -> None:
        """Takes a turn; a deed of which the narrator was asked whom it affects is known already."""
        if turn.text in self._shown:
            self._in_chat.add(turn.id)
        else:
            super().hears(turn)

    async def influence(self, actor: SceneCharacter, deeds: Sequence[tuple[str, Deed]]) -> Influenced:
        """Returns whom a deed affects.

        Args:
            actor: Who acted.
            deeds: What it did and said, each with its kind; not yet in the chronicle.
        """
        others = self._others(actor)
        filled = await self.fill(
            self._asked_of(actor, deeds, "influence"),
            closed(Influence, others),
            purpose="influence",
            sampling=self._sampling(1),
            lines=self._setting.prompt("influence-lines").fill(ids=", ".join(others)),
        )
        return self._influenced(actor, filled)

    async def influence_or_update(self, actor: SceneCharacter, deeds: Sequence[tuple[str, Deed]]) -> Influenced:
        """Returns whom a deed affects, and where nobody is, how it leaves the actor; see `influence`."""
        others = self._others(actor)
        filled = await self.fill(
            self._asked_of(actor, deeds, "influence-or-update"),
            closed(InfluenceOrUpdate, others),
            purpose="influence",
            sampling=self._sampling(2),
            lines=self._setting.prompt("influence-or-update-lines").fill(ids=", ".join(others)),
        )
        value = filled.value
        found = self._influenced(actor, filled)
        if value is None or found.target or found.problem:
            return found  # where somebody else may be meant, so may be the update
        return replace(found, update=Update(position=value.position, state=value.state))

    async def influence_as_published(self, actor: SceneCharacter, deeds: Sequence[tuple[str, Deed]]) -> Influenced:
        """Returns whom a deed affects, asked for in the published form; see `influence`."""
        names = [character.name for character in self._setting.scene.characters if character is not actor]
        asked = await self.write(
            self._asked_of(
                actor, deeds, "influence-as-published", names=", ".join(names) or self._setting.word("nobody")
            ),
            purpose="influence",
            sampling=self._sampling(1),
        )
        self.keep(asked.reply.text)
        if asked.reply.status not in {"ok", "truncated"}:
            return Influenced(key=asked.key, problem=asked.reply.status)
        written = [(one.target, one.influence) for one in read_influences(asked.reply.text)]
        if not written and (filled := read_one(asked.reply.text, Influence).value) is not None:
            written = [(filled.target, filled.influence)]
        if not written:
            return Influenced(key=asked.key, problem="unparsed", detail=one_line(asked.reply.text)[:200])
        return _of_lines([self._named(actor, target, influence, asked.key) for target, influence in written])

    async def result(self, actor: SceneCharacter, target: SceneCharacter) -> Outcome:
        """Returns what comes of an act and its answer, both in the chronicle."""
        task = self._setting.prompt("result").fill(actor=one_line(actor.name), target=one_line(target.name))

        async def draw(attempt: int) -> Asked:
            return await self.write(task, purpose="result", sampling=self._sampling(1, attempt), attempt=attempt)

        asked = await self.drawn(draw, lambda drawn: self._retold(drawn.reply.text))
        self.keep(asked.reply.text)
        if asked.reply.status not in {"ok", "truncated"}:
            return Outcome("", asked.key, asked.reply.status)
        return self._outcome(prose(asked.reply.text, ("result",)), asked.key)

    async def result_with_updates(self, actor: SceneCharacter, target: SceneCharacter) -> Outcome:
        """Returns what comes of an act and its answer, and how it leaves both."""
        task = self._setting.prompt("result-updates").fill(
            actor=one_line(actor.name), target=one_line(target.name), actor_id=actor.id, target_id=target.id
        )

        async def draw(attempt: int) -> Structured[Result]:
            return await self.fill(task, Result, purpose="result", sampling=self._sampling(3, attempt), attempt=attempt)

        filled = await self.drawn(draw, lambda drawn: self._retold(drawn.value.result if drawn.value else ""))
        self._keep(filled)
        value, key = filled.value, filled.keys[-1]
        if value is None:
            return Outcome("", key, filled.failure, filled.detail)
        updates: dict[str, Update] = {}
        for update in value.updates:
            who = self._setting.names.resolve(update.who).id
            if who in {actor.id, target.id}:
                updates[who] = Update(position=update.position, state=update.state)
        return replace(self._outcome(value.result, key), updates=tuple(updates.items()))

    async def update(self, character: SceneCharacter) -> Structured[Update]:
        """Returns how what has happened leaves a character."""
        filled = await self.fill(
            self._setting.prompt("update").fill(name=one_line(character.name)),
            Update,
            purpose="update",
            sampling=self._sampling(1),
            lines=self._setting.prompt("update-lines").fill(),
        )
        self._keep(filled)
        return filled

    async def environment(self) -> Structured[EnvironmentUpdate]:
        """Returns what surrounds everybody after a round, and whether the story is over."""
        now = self._chronicle.environment
        filled = await self.fill(
            self._setting.prompt("environment").fill(time=now.time, place=now.place, description=now.description),
            EnvironmentUpdate,
            purpose="environment",
            sampling=self._sampling(2),
            lines=self._setting.prompt("environment-lines").fill(),
        )
        self._keep(filled)
        return filled

    def standing(self) -> str:
        """Returns how everything stands now."""
        standings = self._chronicle.standings
        people = [
            f"- {one_line(character.name)}: {one_line(standings[self._setting.role_of(character).id].text)}"
            for character in self._setting.scene.characters
        ]
        told = [self._setting.line(turn) for turn in self._chronicle.turns[-LAST_TURNS:] if turn.text]
        return self._setting.prompt("standing").fill(
            environment=surroundings(self._chronicle.environment), people="\n".join(people), beliefs="\n".join(told)
        )

    def _outcome(self, result: str, key: str) -> Outcome:
        result = self._named_in(result)
        problem = "empty" if is_blank(result) else self._retold(result)
        return Outcome("", key, problem) if problem else Outcome(bounded(result.strip()), key)

    def _named_in(self, text: str) -> str:
        """Returns what is told, with names where the narrator wrote the ids that it chooses from."""
        for character in self._setting.scene.characters:
            if character.id.casefold() != character.name.casefold():
                text = re.sub(
                    rf"(?<![\w-]){re.escape(character.id)}(?![\w-])", character.name.replace("\\", r"\\"), text
                )
        return text

    def _retold(self, result: str) -> str:
        """Returns ``copy`` where a result only says what has been told lately; empty otherwise."""
        return "copy" if is_told(result, (turn.text for turn in self._chronicle.turns[-LAST_TURNS:])) else ""

    def _others(self, actor: SceneCharacter) -> tuple[str, ...]:
        return tuple(character.id for character in self._setting.scene.characters if character is not actor)

    def _asked_of(self, actor: SceneCharacter, deeds: Sequence[tuple[str, Deed]], prompt: str, names: str = "") -> str:
        self._shown = frozenset(deed.text for _, deed in deeds if deed.text)
        told = [self._setting.told(kind, actor.name, deed.text) for kind, deed in deeds if deed.text]
        more = {"names": names} if names else {"ids": ", ".join(self._others(actor)) or NONE}
        return self._setting.prompt(prompt).fill(name=one_line(actor.name), deed="\n".join(told), **more)

    def _influenced(
        self, actor: SceneCharacter, filled: Structured[Influence] | Structured[InfluenceOrUpdate]
    ) -> Influenced:
        value, key = filled.value, filled.keys[-1]
        if value is None:
            self.keep(filled.text)
            return Influenced(key=key, problem=filled.failure, detail=filled.detail)
        found = self._named(actor, value.target, value.influence, key)
        self.keep(value.model_dump_json(include={"target", "influence"} if found.target else None))
        return found

    def _named(self, actor: SceneCharacter, target: str, influence: str, key: str) -> Influenced:
        named = self._setting.names.resolve(target, by=actor.id)
        problem, ids = _meant(named, actor)
        detail = one_line(target)[:200] if problem else ""
        if ids and not problem and any(is_same(influence, deed) for deed in self._shown):
            return Influenced(ids[0], "", key, "copy")
        return Influenced(
            ids[0] if ids else "", one_line(self._named_in(bounded(influence))) if ids else "", key, problem, detail
        )

    def _keep(self, filled: Structured[Update] | Structured[EnvironmentUpdate] | Structured[Result]) -> None:
        self.keep(filled.text if filled.value is None else filled.value.model_dump_json())

    def _sampling(self, parts: int, attempt: int = 0) -> Sampling:
        return self.sampling(parts * self._setting.limits.narrator_tokens, attempt)

    @property
    def _temperature(self) -> float:
        return self._setting.limits.narrator_temperature


def _of_lines(found: Sequence[Influenced]) -> Influenced:
    """Returns whom an act affects by lines of which one was asked for; a line that names nobody there is no answer."""
    known = [one for one in found if one.problem != "unknown"]
    if not known:
        return found[0]
    targets = {one.target for one in known if not one.problem}
    if len(targets) < 2:
        return known[0]
    if "" in targets:
        return Influenced(key=known[0].key, problem="ambiguous", detail="several lines; one of them names nobody")
    return replace(known[0], problem="several", detail=", ".join(one.target for one in known))


def _meant(named: Named, actor: SceneCharacter) -> tuple[str, tuple[str, ...]]:
    """Returns the problem with a name, and who is meant."""
    match named.meaning:
        case "one":
            return "", named.ids
        case "self" | "nobody":
            return "", ()
        case "several":
            others = tuple(name for name in named.ids if name != actor.id)
            return ("several" if len(others) > 1 else ""), others
        case "ambiguous" | "unknown":
            return named.meaning, ()


def _person(character: SceneCharacter) -> str:
    stands = one_line("; ".join(part for part in (character.position, character.state) if part))
    return f"- {character.id}: {one_line(character.name)}" + (f"; {stands}" if stands else "")
