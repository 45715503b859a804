"""One attempt at a trial: turn by turn until the procedure ends or the attempt breaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from dramaturg.model import Message, Sampling
from dramaturg.stage.audience import Audience, Floor, Usher
from dramaturg.stage.cast import HumanSeat, ModelSeat
from dramaturg.stage.court.candidates import draw_best
from dramaturg.stage.court.deciding import draw_decision, is_structured
from dramaturg.stage.court.draw import Ask, Drawn, draw_as_it_is, draw_from_person, draw_with_cures
from dramaturg.stage.court.engine import Event, Position
from dramaturg.stage.court.notes import fallback_text, note_text, note_values
from dramaturg.stage.court.procedure import UNDECIDED, VERDICT, State
from dramaturg.stage.court.reading import Read, Reading
from dramaturg.stage.court.setting import Setting
from dramaturg.stage.court.speech import one_line
from dramaturg.stage.court.staging import PROSECUTOR, WITNESS
from dramaturg.stage.court.testimony import draw_consistent
from dramaturg.stage.court.verdict import reach_verdict
from dramaturg.stage.court.view import (
    attempt_seed,
    chat,
    dialogue,
    instructions,
    more_left_out,
    part_prompt,
    shared_chat,
    system_prompt,
    without_middle,
)
from dramaturg.stage.transcript import Cure, EndReason, Outcome, Role, StateChange, Turn

NO_OUTCOME = Outcome(label=UNDECIDED)


@dataclass(frozen=True, slots=True)
class Broken:
    """Why an attempt cannot go on under the protocol `paper`."""

    cause: str
    turn: str
    role: str
    detail: str


@dataclass(frozen=True, slots=True)
class Ending:
    """How an attempt ended."""

    reason: EndReason
    outcome: Outcome = NO_OUTCOME
    broken: Broken | None = None


class Attempt:
    """One attempt; its state is what was said.

    Attributes:
        turns: All turns, notes of the procedure included.
        states: Budgets and rulings as they changed.
        cures: What was done so that the trial could go on.
    """

    def __init__(self, setting: Setting, number: int, audience: Audience | None = None) -> None:
        self.setting = setting
        self.number = number
        self.turns: list[Turn] = []
        self.states: list[StateChange] = []
        self.cures: list[Cure] = []
        self._audience = audience
        self._seed = attempt_seed(setting.seed, number)
        self._told: dict[str, tuple[str, str]] = {}
        self._left_out: dict[str, int] = {}
        self._silent = 0

    async def play(self) -> Ending:
        """Returns how the attempt ended.

        Raises:
            UnitStopped: An endpoint failed.
            LimitReached: A budget of the run is used up.
        """
        engine = self.setting.engine
        position = engine.begin()
        ending = Ending("turn_limit")
        while not position.end:
            state = engine.state(position)
            role = self.setting.role(engine.speaker(position))
            self._give_floor(state, position, role)
            if state.purpose == VERDICT:
                read, ending = await self._verdict(state, role)
            else:
                read, ending = await self._speech(state, position, role)
            if read is None:
                return ending
            moved = engine.step(position, read.event)
            self._record(position, moved, read)
            position = moved
        return ending if position.end == "completed" else Ending("turn_limit")

    def _give_floor(self, state: State, position: Position, role: Role) -> None:
        if not isinstance(self._audience, Usher):
            return
        engine = self.setting.engine
        budgets = self.setting.procedure.budgets
        self._audience.gives(
            Floor(
                role=role.id,
                phase=state.phase,
                purpose=state.purpose,
                events=engine.events(position),
                addressees=engine.addressees(position),
                left={name: left for name, left in position.left if budgets[name].owner == role.kind},
            )
        )

    async def _speech(self, state: State, position: Position, role: Role) -> tuple[Read | None, Ending]:
        setting = self.setting
        values = note_values(setting, state, role, position, self.turns, self.states)
        reminded = self._is_reminded(role)
        note = note_text(setting, state, role, values, position, remind=reminded)
        self._append(
            Turn(
                id=self._next_id(),
                role="procedure",
                speaker="Procedure",
                kind="procedure",
                text=note,
                seen_by=(role.id,),
                phase=state.phase,
                flags=("reminder",) if reminded else (),
            )
        )
        drawn = await self._draw(state, position, role, note, fallback_text(setting, state, values))
        if drawn.fault == "context_overflow":
            return None, Ending("context_overflow")
        reading = Reading(setting, state, position, role, drawn, self.turns)
        if drawn.fault:
            read = Read(fault=drawn.fault, detail=_excerpt(drawn.raw))
        elif setting.strict(role):
            read = reading.by_tags()
        else:
            read = await reading.by_analyst(step=self._step(), labels=self._labels(state))
        if read.fault:
            return None, self._break(state, role, drawn, read)
        turn = self._say(state, role, drawn, read.flags)
        if "fallback:empty" in turn.flags:
            self._silent += 1
            if self._silent >= setting.limits.empty_turns:
                return None, Ending("empty_turns")
        return read, Ending("turn_limit")

    async def _verdict(self, state: State, role: Role) -> tuple[Read | None, Ending]:
        seat = self.setting.deciding_seat(role)
        lines = dialogue(self.turns, self.setting.titles)
        verdict = await reach_verdict(self.setting, role, seat, lines, step=self._step(), labels=self._labels(state))
        drawn = verdict.drawn
        if drawn.fault == "context_overflow":
            return None, Ending("context_overflow")
        if drawn.fault:
            return None, self._break(state, role, drawn, Read(fault=drawn.fault, detail=_excerpt(drawn.raw)))
        self._say(state, role, drawn, () if verdict.labelled else ("verdict:unlabelled",))
        reason: EndReason = "completed" if verdict.labelled else "undecided"
        return Read(Event("decided")), Ending(reason, verdict.outcome)

    async def _draw(self, state: State, position: Position, role: Role, note: str, fallback: str) -> Drawn:
        """Returns a speech; where the prompt does not fit, a guarded trial asks again without the history's middle."""
        cut: tuple[tuple[str, str], ...] = ()
        while True:
            drawn = await self._draw_once(state, position, role, note, fallback)
            if drawn.fault != "context_overflow" or not self._leave_out_more(role):
                break
            cut = (("cut", f"history:{self._left_out[self._history_of(role)]}"),)
        flags = ("cut:history",) if self._left_out.get(self._history_of(role)) else ()
        return replace(drawn, flags=(*flags, *drawn.flags), cures=(*cut, *drawn.cures))

    async def _draw_once(self, state: State, position: Position, role: Role, note: str, fallback: str) -> Drawn:
        setting, limits = self.setting, self.setting.limits
        seat = setting.seat(role)
        ask = Ask(
            messages=self._chat(role),
            step=f"{self._step()}/speech",
            purpose=state.purpose,
            labels=self._labels(state),
            sampling=Sampling(temperature=limits.temperature, max_tokens=limits.speech_tokens),
            speaker=role,
            people=setting.people,
            addressable=setting.engine.addressees(position),
            earlier=[turn.text for turn in self.turns if turn.role == role.id],
            heard=self._heard_from_others(role),
            note=note,
            instructions=instructions(setting, role),
            on_text=partial(self._audience.hears, role.name) if self._audience is not None else None,
        )
        if isinstance(seat, HumanSeat):
            return await draw_from_person(setting.calls, seat, ask, most=limits.heard_characters, fallback=fallback)

        async def draw(ask: Ask) -> Drawn:
            if setting.strict(role):
                return await draw_as_it_is(setting.calls, seat, ask)
            return await draw_with_cures(
                setting.calls, seat, ask, redraws=limits.redraws, most=limits.heard_characters, fallback=fallback
            )

        options = setting.staging
        if is_structured(setting, state, role):
            counts = setting.engine.range_of(state.grants[0]) if state.grants else ()
            return await draw_decision(setting, seat, state, ask, counts=counts, fallback=fallback)
        if role.kind == PROSECUTOR and options.candidates > 1:
            return await draw_best(setting, seat, ask, draw)
        if role.kind == WITNESS and options.witness_check != "off":
            return await draw_consistent(setting, ask, draw, self._last_spoken())
        return await draw(ask)

    def _heard_from_others(self, role: Role) -> list[str]:
        """Returns what was said from another side: two witnesses may well say the same."""
        spoken = (turn for turn in self.turns if turn.kind != "procedure")
        return [turn.text for turn in spoken if self.setting.role(turn.role).kind != role.kind]

    def _last_spoken(self) -> Turn | None:
        return next((turn for turn in reversed(self.turns) if turn.kind != "procedure"), None)

    def _say(self, state: State, role: Role, drawn: Drawn, flags: tuple[str, ...]) -> Turn:
        turn = Turn(
            id=self._next_id(),
            role=role.id,
            speaker=role.name,
            text=drawn.text,
            raw=drawn.raw if drawn.raw != drawn.text else "",
            human=drawn.human,
            phase=state.phase,
            call=drawn.key,
            flags=tuple(dict.fromkeys((*drawn.flags, *flags))),
        )
        if self.setting.protocol == "guarded":
            self.cures += [Cure(kind=kind, turn=turn.id, role=role.id, detail=detail) for kind, detail in drawn.cures]
        changes = drawn.changes
        self.states += [StateChange(turn=turn.id, owner=role.id, name=name, value=value) for name, value in changes]
        self._append(turn)
        return turn

    def _break(self, state: State, role: Role, drawn: Drawn, read: Read) -> Ending:
        broken = Broken(read.fault, self._next_id(), role.id, read.detail)
        if drawn.raw.strip():
            self._say(state, role, drawn, (*read.flags, f"broken:{read.fault}"))
        return Ending("restarts_exhausted", broken=broken)

    def _record(self, before: Position, after: Position, read: Read) -> None:
        turn, owner = self.turns[-1].id, self.turns[-1].role
        if self.setting.protocol == "guarded":
            self.cures += [Cure(kind=kind, turn=turn, role=owner, detail=detail) for kind, detail in read.cures]
        self.states += [StateChange(turn=turn, owner=who, name=name, value=value) for who, name, value in read.changes]
        for name, left in after.left:
            if left != before.left_of(name):
                budget_owner = self.setting.procedure.budgets[name].owner
                self.states.append(StateChange(turn=turn, owner=budget_owner, name=name, value=str(left)))

    def _append(self, turn: Turn) -> None:
        self.turns.append(turn)
        if self._audience is not None:
            self._audience.sees(turn, self.number)

    def _next_id(self) -> str:
        return f"T{len(self.turns) + 1}"

    def _step(self) -> str:
        return f"attempt/{self.number}/turn/{len(self.turns) + 1}"

    def _labels(self, state: State) -> Mapping[str, str]:
        return {"phase": state.phase, "turn": str(len(self.turns) + 1), "restart": str(self.number)}

    def _is_reminded(self, role: Role) -> bool:
        """Returns whether it is time to tell a model again who it is, without touching what stands before."""
        every = self.setting.staging.reminder
        own = sum(turn.role == role.id for turn in self.turns)
        return every > 0 and own > 0 and own % every == 0 and isinstance(self.setting.seat(role), ModelSeat)

    def _history_of(self, role: Role) -> str:
        """Returns whose history is cut together: in `role-last` that of all, so that they go on sharing it."""
        return role.id if self.setting.staging.layout == "role-first" else ""

    def _leave_out_more(self, role: Role) -> bool:
        """Returns whether more of the history's middle could be left out; what is left out stays so."""
        if self.setting.protocol == "paper" or isinstance(self.setting.seat(role), HumanSeat):
            return False
        key = self._history_of(role)
        before = self._left_out.get(key, 0)
        self._left_out[key] = more_left_out(self._history(role), before)
        return self._left_out[key] > before

    def _history(self, role: Role) -> list[Turn]:
        shared = self.setting.staging.layout == "role-last"
        return [turn for turn in self.turns[:-1] if not turn.seen_by or (not shared and role.id in turn.seen_by)]

    def _chat(self, role: Role) -> tuple[Message, ...]:
        setting = self.setting
        turns: Sequence[Turn] = self.turns
        if left_out := self._left_out.get(self._history_of(role), 0):
            notice = setting.prompt("left-out").fill(count=str(left_out))
            turns = [*without_middle(self._history(role), left_out, notice), *self.turns[-1:]]
        if role.id not in self._told:
            prompts = system_prompt(setting, role, seed=self._seed), part_prompt(setting, role, seed=self._seed)
            self._told[role.id] = prompts
        system, part = self._told[role.id]
        if part:
            heading = setting.prompt("history").fill()
            return shared_chat(system, heading, turns, part, role, setting.titles)
        return chat(system, turns, role, setting.titles, raw=setting.strict(role))


def _excerpt(text: str) -> str:
    return one_line(text)[:200]
