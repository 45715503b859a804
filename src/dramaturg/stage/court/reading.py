"""What a speech did: told by its tags alone, or by the analyst; always something that the procedure allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dramaturg.stage.court.analyst import acceptance_by_rule, is_objection, is_rest, ruling_by_rule
from dramaturg.stage.court.draw import Drawn
from dramaturg.stage.court.engine import Event, Position
from dramaturg.stage.court.procedure import State
from dramaturg.stage.court.setting import Setting
from dramaturg.stage.transcript import Role, Turn

Cures = tuple[tuple[str, str], ...]
"""Kind and detail of each cure."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a speech did: an event, or the fault that there is none.

    Attributes:
        event: What happened.
        fault: Cause of a restart; empty otherwise.
        detail: One line on the fault.
        flags: What was noticed.
        cures: What was done about it.
        changes: Owner, name and value of what the speech changed beside the budgets.
    """

    event: Event = field(default_factory=lambda: Event("spoken"))
    fault: str = ""
    detail: str = ""
    flags: tuple[str, ...] = ()
    cures: Cures = ()
    changes: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """A speech that is to be read.

    Attributes:
        setting: The trial.
        state: The state in which it was given.
        position: Where the trial stood.
        role: Who spoke.
        drawn: The speech.
        turns: All turns before it.
    """

    setting: Setting
    state: State
    position: Position
    role: Role
    drawn: Drawn
    turns: Sequence[Turn]

    def by_tags(self) -> Read:
        """Returns what the final tags say; what the procedure needs and they do not say is a fault."""
        events = self.setting.engine.events(self.position)
        count = self.drawn.tags.questions
        if self.state.grants:
            if not count:
                return self._untagged("no_question_count", "the grant has no tag <Questions: N>")
            return self._granted(count, ())
        if "addressed" in events:
            return self._choice_by_tag()
        if "ruled" in events:
            return self._ruled(ruling_by_rule(self.drawn.text) or "unclear", ())
        if "accepted" in events:
            answer = self.drawn.tags.acceptance or acceptance_by_rule(self.drawn.text)
            if answer is None:
                return self._untagged("no_acceptance", "the answer to the proposal has no tag <Accept: yes> or no")
            return Read(Event(answer), changes=((self.role.id, "proposal", answer),))
        return self._requested(count, ()) if self.state.requests and count else Read()

    def _choice_by_tag(self) -> Read:
        engine, named = self.setting.engine, self.drawn.tags.next_speakers
        among = engine.addressees(self.position)
        if not named:
            if "rested" in engine.events(self.position) and is_rest(self.drawn.text):
                return Read(Event("rested"), flags=("rests",))
            if len(among) == 1:
                return Read(Event("addressed", among[0]))
            return self._untagged("no_next_speaker", "no tag <NextSpeaker: NAME> at the end")
        name, *more = named
        if more:
            return Read(fault="illegal_next_speaker", detail=f"names {len(named)} next speakers: {', '.join(named)}")
        meant = self.setting.people.named(name)
        if meant is not None and meant.id in among:
            return Read(Event("addressed", meant.id))
        if meant is not None and meant.id in engine.addressees(self.position, "objected"):
            return Read(Event("objected", meant.id))
        return Read(fault="illegal_next_speaker", detail=f"{name!r} cannot be addressed now")

    def _untagged(self, cause: str, detail: str) -> Read:
        """Returns the fault of a missing tag: an answer cut at its limit had no room for one."""
        return Read(fault="truncated" if self.drawn.truncated else cause, detail=detail)

    async def by_analyst(self, *, step: str, labels: Mapping[str, str]) -> Read:
        """Returns what the analyst makes of the speech.

        Args:
            step: Path of the turn in its unit.
            labels: Phase, turn and restart.
        """
        analyst, engine, text = self.setting.analyst(), self.setting.engine, self.drawn.text
        events = engine.events(self.position)
        if decision := self.drawn.decision:
            return self._ruled(decision, ()) if "ruled" in events else self._granted(int(decision), ())
        for budget in (*self.state.grants, *self.state.requests)[:1]:
            most = engine.range_of(budget)[1]
            number = await analyst.count(text, self.role, most, step=step, labels=labels)
            cures = _cures(number.way, "count")
            return self._granted(number.value, cures) if self.state.grants else self._requested(number.value, cures)
        if "ruled" in events:
            ruling = await analyst.ruling(text, self.role, step=step, labels=labels)
            return self._ruled(ruling.value, _cures(ruling.way, "ruling"))
        if "accepted" in events:
            answer = await analyst.acceptance(text, self.role, step=step, labels=labels)
            cures = _cures(answer.way, "acceptance")
            change = (self.role.id, "proposal", answer.value)
            return Read(Event(answer.value), flags=_flags(cures), cures=cures, changes=(change,))
        if "addressed" not in events:
            return Read()
        if is_objection(text) and "objected" in events:
            return Read(Event("objected", engine.addressees(self.position, "objected")[0]))
        among = engine.addressees(self.position)
        if is_rest(text) and "rested" in events and not self.setting.people.addressed_in(text, among):
            return Read(Event("rested"), flags=("rests",))
        default = least_heard(among, self.turns)
        found = await analyst.route(text, self.role, among, default, step=step, labels=labels)
        cures = _cures(found.way, "route")
        spent = ("objection:spent",) if is_objection(text) else ()
        return Read(Event("addressed", found.value), flags=(*spent, *_flags(cures)), cures=cures)

    def _granted(self, count: int, cures: Cures) -> Read:
        counts: dict[str, int] = {}
        for budget in self.state.grants:
            least, most = self.setting.engine.range_of(budget)
            counts[budget] = min(max(count, least), most)
        if any(granted != count for granted in counts.values()):
            cures = (*cures, ("clamp", f"questions:{count}"))
        return Read(Event("granted", counts=counts), flags=_flags(cures), cures=cures)

    def _requested(self, count: int, cures: Cures) -> Read:
        change = (self.role.id, "questions_requested", str(count))
        return Read(flags=_flags(cures), cures=cures, changes=(change,))

    def _ruled(self, ruling: str, cures: Cures) -> Read:
        objector = next((turn.role for turn in reversed(self.turns) if turn.kind != "procedure"), "")
        return Read(Event("ruled"), flags=_flags(cures), cures=cures, changes=((objector, "objection", ruling),))


def least_heard(among: Sequence[str], turns: Sequence[Turn]) -> str:
    """Returns whom a question goes to when nobody is named: who spoke least, the first in the case of those.

    Args:
        among: Ids of the roles that may be addressed.
        turns: What was said.
    """
    spoke = [turn.role for turn in turns]
    return min(among, key=spoke.count)


def _cures(way: str, what: str) -> Cures:
    """Returns the cure that it was to ask a model or to take the default; a rule is none."""
    return () if way == "rule" else ((f"analyst:{way}", what),)


def _flags(cures: Cures) -> tuple[str, ...]:
    return tuple(f"{kind}:{detail}" for kind, detail in cures)
