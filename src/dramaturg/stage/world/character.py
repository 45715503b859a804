"""A character that a model or a script plays: it believes, acts, speaks and reacts, and remembers."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from dramaturg.model.structured import Structured
from dramaturg.stage.cast import ModelSeat
from dramaturg.stage.court.speech import one_line
from dramaturg.stage.transcript import Role, Turn
from dramaturg.stage.world.agents import Agent
from dramaturg.stage.world.answers import Act, Beliefs
from dramaturg.stage.world.chronicle import Chronicle, is_news
from dramaturg.stage.world.deeds import Deed, DeedKind, Reader
from dramaturg.stage.world.memory import CharacterMemory, importance
from dramaturg.stage.world.scene import SceneCharacter
from dramaturg.stage.world.setting import Setting, surroundings
from dramaturg.stage.world.weighing import BATCH, shares, weigh
from dramaturg.stage.world.weighing import PURPOSE as IMPORTANCE
from dramaturg.stage.world.written import bounded

SELF_BELIEF = "self_belief"
ENVIRONMENT_BELIEF = "environment_belief"
RETRIEVED = "retrieved"
"""Name of the state that holds the ids of the turns of which a character was reminded."""

READABLE = frozenset({"unparsed", "contradictory", "truncated"})
"""Failures of a form behind which there is a text."""


class CharacterAgent(Agent):
    """A character, as a model or a script plays it; see `dramaturg.stage.world.performer.Performer`.

    Attributes:
        character: Who is played.
    """

    def __init__(self, setting: Setting, chronicle: Chronicle, character: SceneCharacter, seat: ModelSeat) -> None:
        """Tells the player who it is.

        Args:
            setting: The play.
            chronicle: What has happened.
            character: Who is played.
            seat: Who plays.
        """
        scene = setting.scene
        others = [other for other in scene.characters if other is not character]
        system = setting.prompt("character").fill(
            name=one_line(character.name),
            profile=setting.profile(character),
            event=scene.event,
            environment=surroundings(scene.environment),
            others="\n".join(shown(other) for other in others) or setting.word("nobody"),
            standing=_standing(character.position, character.state) or setting.word("not_told"),
            language=setting.language_words,
        )
        if setting.protocol == "fast":
            forms = setting.prompt("character-forms")
            system += f"\n\n{forms.fill(name=one_line(character.name), silence=setting.word('silence'))}"
        super().__init__(setting, chronicle, setting.role_of(character), seat, system)
        self.character = character
        self._reader = Reader(character, others, setting.language, _opened(character), _opened(*others))
        self._memory = CharacterMemory(
            setting.embedder, weights=setting.memory.weights, budget_tokens=setting.limits.memory_tokens
        )
        self._beliefs: dict[str, str] = {}

    def hears(self, turn: Turn) -> None:
        """Takes a turn, and remembers it."""
        super().hears(turn)
        own = turn.role == self.role.id
        seen = not turn.seen_by or own or self.role.id in turn.seen_by
        if not (turn.text and seen and is_news(turn)):
            return
        if own:
            self._reader.earlier.append(turn.text)
        elif turn.kind in {"action", "speech", "narration"}:
            self._reader.heard.append(turn.text)
        about_owner = not own and (f"target:{self.character.id}" in turn.flags or self.character.name in turn.text)
        weight = importance(turn.kind, own=own, about_owner=about_owner)
        self._memory.remember(turn.id, self._chronicle.round, self._setting.line(turn).removeprefix("- "), weight)

    def stands(self, standing: str) -> None:
        """Takes how the narrator left the character."""
        self._news.append(("", f"- {self._setting.word('you')}: {one_line(standing)}"))

    async def believe_apart(self) -> None:
        """Renews what the character makes of itself, then what it makes of what is around it: two calls."""
        for name, prompt in ((SELF_BELIEF, "self-belief"), (ENVIRONMENT_BELIEF, "environment-belief")):
            task = self._setting.prompt(prompt).fill(name=self.character.name)
            asked = await self.write(task, purpose=prompt, sampling=self.sampling(self._setting.limits.belief_tokens))
            self.keep(asked.reply.text)
            if asked.reply.status in {"ok", "truncated"} and asked.reply.text.strip():
                self._believes(name, asked.reply.text)
            else:
                self._cures.append((f"{name}:{asked.reply.status}", ""))

    async def believe(self) -> None:
        """Renews both at once: one call."""
        filled = await self.fill(
            self._setting.prompt("beliefs").fill(name=self.character.name),
            Beliefs,
            purpose="beliefs",
            sampling=self.sampling(2 * self._setting.limits.belief_tokens),
            lines=self._setting.prompt("beliefs-lines").fill(),
        )
        self.keep(_form(filled))
        if filled.value is None:
            self._cures.append((f"beliefs:{filled.failure}", filled.detail))
            return
        self._believes(SELF_BELIEF, filled.value.self_belief)
        self._believes(ENVIRONMENT_BELIEF, filled.value.environment_belief)

    async def act(self, plan: str = "") -> Deed:
        """Returns what the character does; `plan` is what a director wants."""
        return await self._deed("action", self._planned("action", plan))

    async def speak(self, plan: str = "") -> Deed:
        """Returns what the character says to what it does."""
        return await self._deed("speech", self._planned("speech", plan))

    async def react(self, actor: Role) -> Deed:
        """Returns what the character does at once when somebody else's act has affected it."""
        task = self._setting.prompt("reaction").fill(name=self.character.name, actor=one_line(actor.name))
        return await self._deed("reaction", task)

    async def act_and_speak(self, plan: str = "") -> tuple[Deed, Deed]:
        """Returns both at once: one call."""
        task = self._planned("act", plan)

        async def draw(attempt: int) -> tuple[Deed, Deed]:
            filled = await self.fill(
                task,
                Act,
                purpose="act",
                sampling=self.sampling(2 * self._setting.limits.act_tokens, attempt),
                lines=self._setting.prompt("act-lines").fill(name=self.character.name),
                attempt=attempt,
            )
            return self._read_both(filled)

        action, speech = await self.drawn(draw, lambda both: both[0].fault)
        self.keep(Act.model_construct(action=action.text, speech=speech.text).model_dump_json())
        return action, speech

    def standing(self) -> str:
        """Returns what the character knows by now."""
        now = self._chronicle.standings[self.role.id]
        return self._setting.prompt("standing").fill(
            environment=surroundings(self._chronicle.environment),
            people=f"- {self._setting.word('you')}: {one_line(now.text)}",
            beliefs="\n".join(f"- {one_line(belief)}" for belief in self._beliefs.values()),
        )

    async def recollected(self, situation: str) -> str:
        """Returns what comes to the character's mind of what does not stand in its chat any more."""
        there = {*self._in_chat, *(turn for turn, _ in self._news)}
        if self._setting.memory.importance_by == "model":
            await self._weigh(there)
        found = await self._memory.recall(situation, round=self._chronicle.round, without=there)
        if not found.memories:
            return ""
        self._in_chat |= {*found.turns}
        self._changes.append((RETRIEVED, " ".join(found.turns)))
        memories = "\n".join(f"- {one_line(memory.text)}" for memory in found.memories)
        return self._setting.prompt("memories").fill(memories=memories)

    async def _weigh(self, there: Collection[str]) -> None:
        """Asks the player how important those memories are that may come to mind and that it was not asked about yet.

        An answer that cannot be read, or has not a number for each, leaves them as the rule has it, and is counted.
        """
        new = self._memory.to_weigh(without=there)[-BATCH:]
        if not new:
            return
        step = f"round/{self._chronicle.round}/{self.role.id}/{self._asked}/{IMPORTANCE}/{new[-1].turns[0]}"
        filled = await weigh(self._setting, self.character, self.seat, new, step=step, round=self._chronicle.round)
        self._note(filled.keys, IMPORTANCE)
        if filled.value is None or len(filled.value.importance) != len(new):
            self._cures.append((f"{IMPORTANCE}:{filled.failure or 'left_out'}", filled.detail))
            return
        numbers = filled.value.importance
        self._memory.weigh(new, shares(numbers))
        given = " ".join(f"{memory.turns[0]}={number}" for memory, number in zip(new, numbers, strict=True))
        self._changes.append((IMPORTANCE, given))

    async def _deed(self, purpose: DeedKind, task: str) -> Deed:
        limits, audience = self._setting.limits, self._setting.audience
        self._chronicle.gives(self.role, purpose)

        async def draw(attempt: int) -> Deed:
            asked = await self.write(
                task,
                purpose=purpose,
                sampling=self.sampling(limits.act_tokens, attempt),
                attempt=attempt,
                on_text=partial(audience.hears, self.role.name) if audience is not None else None,
            )
            reply = asked.reply
            return self._reader.read(reply.status, reply.text, reply.text, key=asked.key, kind=purpose)

        deed = await self.drawn(draw, lambda deed: deed.fault)
        self.keep(deed.text or deed.raw)
        return deed

    def _read_both(self, filled: Structured[Act]) -> tuple[Deed, Deed]:
        key = filled.keys[-1]
        if filled.value is None:
            raw = filled.text if filled.failure in READABLE else ""
            deed = self._reader.read("ok", filled.text, raw, key=key, kind="action")
            flag = f"act:{filled.failure}"
            return Deed(deed.text, deed.raw, key, (*deed.flags, flag)), Deed("")
        action = self._reader.read("ok", filled.text, filled.value.action, key=key, kind="action")
        return self._reader.both(
            action, self._reader.read("ok", filled.text, filled.value.speech, key=key, kind="speech")
        )

    def _believes(self, name: str, belief: str) -> None:
        self._beliefs[name] = bounded(belief.strip())
        self._changes.append((name, self._beliefs[name]))

    def _planned(self, prompt: str, plan: str) -> str:
        values = {"name": self.character.name}
        if prompt == "speech":
            values["silence"] = self._setting.word("silence")
        task = self._setting.prompt(prompt).fill(**values)
        return f"{self._setting.prompt('plan').fill(plan=one_line(plan))}\n\n{task}" if plan else task


def _opened(*characters: SceneCharacter) -> list[str]:
    """Returns what characters did and said before the first round."""
    openings = (character.opening for character in characters if character.opening is not None)
    return [text for opening in openings for text in (opening.action, opening.speech) if text.strip()]


def _form(filled: Structured[Beliefs]) -> str:
    return filled.text if filled.value is None else filled.value.model_dump_json()


def _standing(position: str, state: str) -> str:
    return one_line("; ".join(part for part in (position, state) if part))


def shown(character: SceneCharacter) -> str:
    """Returns what everybody can see of somebody: name and place, not the profile."""
    return f"- {one_line(character.name)}" + (f": {one_line(character.position)}" if character.position else "")
