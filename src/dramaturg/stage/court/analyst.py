"""The analyst: what a turn does, told by rules first, a model second, a stated default third.

Its answers never leave the procedure: it chooses among what the engine allows, and says by which of the three ways it
chose, so that each can be counted.

Source: RPA-Check, section 4.4 (sentence analysis for a finite-state turn management).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, Field, create_model

from dramaturg.ledger.calls import Calls
from dramaturg.model import Message, Model, Sampling
from dramaturg.prompts import Prompt, quote_untrusted
from dramaturg.stage.court import phrases
from dramaturg.stage.court.names import People, name_list
from dramaturg.stage.transcript import Role

Way = Literal["rule", "model", "default"]
Ruling = Literal["sustained", "overruled"]
Acceptance = Literal["accepted", "declined"]
ValueT = TypeVar("ValueT")
AnswerT = TypeVar("AnswerT", bound=BaseModel)

READING_NAMES = frozenset({"speaker", "text"})
"""What the prompts that read a turn name, all of it."""

ROUTE_LINES_NAMES = frozenset({"names"})
"""What the labelled lines of the prompt `route` name."""

ROUTE_NAMES = READING_NAMES | ROUTE_LINES_NAMES
"""What the prompt `route` names, all of it."""

_SAMPLING = Sampling(temperature=0.0, max_tokens=40)


class _Count(BaseModel):
    count: int = Field(ge=0, le=100)


class _Ruling(BaseModel):
    ruling: Ruling


class _Acceptance(BaseModel):
    answer: Acceptance


@dataclass(frozen=True, slots=True)
class Found(Generic[ValueT]):
    """What the analyst found.

    Attributes:
        value: The answer.
        way: How it was found.
    """

    value: ValueT
    way: Way


@dataclass(frozen=True, slots=True)
class Analyst:
    """Reads turns.

    Attributes:
        calls: The unit's calls.
        model: Who may be asked where the rules do not tell; None for nobody.
        people: Everybody on the stage.
        prompt: Returns a prompt of the procedure by its stem.
    """

    calls: Calls
    model: Model | None
    people: People
    prompt: Callable[[str], Prompt]

    async def route(
        self, text: str, speaker: Role, among: Sequence[str], default: str, *, step: str, labels: Mapping[str, str]
    ) -> Found[str]:
        """Returns the id of the role whom the turn addresses; where there is no choice, no model is asked."""
        named = self.people.addressed_in(text, among)
        if len(named) == 1 or len(among) == 1:
            return Found(named[0].id if len(named) == 1 else among[0], "rule")
        options = named or tuple(role for role in self.people.roles if role.id in among)
        names = [role.name for role in options]
        one_of: Any = Literal[tuple(names)]
        answer = create_model("Addressee", addressee=(one_of, ...))
        values = {"names": name_list(options), "speaker": speaker.name, "text": quote_untrusted(text, "</turn>")}
        found = await self._ask("route", answer, values, {"names": values["names"]}, step, labels)
        if found is None:
            return Found(options[0].id if named else default, "default")
        chosen = str(getattr(found, "addressee", ""))
        return Found(next(role.id for role in options if role.name == chosen), "model")

    async def count(
        self, text: str, speaker: Role, default: int, *, step: str, labels: Mapping[str, str]
    ) -> Found[int]:
        """Returns the number of questions that the turn names, in whatever range."""
        if (number := count_by_rule(text)) is not None:
            return Found(number, "rule")
        values = {"speaker": speaker.name, "text": quote_untrusted(text, "</turn>")}
        found = await self._ask("count", _Count, values, {}, step, labels)
        return Found(default, "default") if found is None else Found(found.count, "model")

    async def ruling(self, text: str, speaker: Role, *, step: str, labels: Mapping[str, str]) -> Found[Ruling]:
        """Returns how an objection was decided; overruled where nothing tells."""
        if (ruling := ruling_by_rule(text)) is not None:
            return Found(ruling, "rule")
        values = {"speaker": speaker.name, "text": quote_untrusted(text, "</turn>")}
        found = await self._ask("read-ruling", _Ruling, values, {}, step, labels)
        return Found("overruled", "default") if found is None else Found(found.ruling, "model")

    async def acceptance(self, text: str, speaker: Role, *, step: str, labels: Mapping[str, str]) -> Found[Acceptance]:
        """Returns how a proposal was answered; declined where nothing tells: nobody is bound by silence."""
        if (answer := acceptance_by_rule(text)) is not None:
            return Found(answer, "rule")
        values = {"speaker": speaker.name, "text": quote_untrusted(text, "</turn>")}
        found = await self._ask("read-acceptance", _Acceptance, values, {}, step, labels)
        return Found("declined", "default") if found is None else Found(found.answer, "model")

    async def _ask(
        self,
        what: str,
        answer: type[AnswerT],
        values: Mapping[str, str],
        line_values: Mapping[str, str],
        step: str,
        labels: Mapping[str, str],
    ) -> AnswerT | None:
        if self.model is None:
            return None
        prompt = self.prompt(what).fill(**values)
        lines = self.prompt(f"{what}-lines").fill(**line_values)
        structured = await self.calls.ask_structured(
            self.model,
            (Message("user", prompt),),
            answer,
            step=f"{step}/{what}",
            role="analyst",
            purpose=what,
            sampling=_SAMPLING,
            labels=labels,
            lines=lines,
        )
        return structured.value


def is_objection(text: str) -> bool:
    """Returns whether the turn begins as an objection."""
    return phrases.OBJECTION.match(text) is not None


def is_rest(text: str) -> bool:
    """Returns whether the turn gives up the questions that are left."""
    return phrases.REST.search(text) is not None


def count_by_rule(text: str) -> int | None:
    """Returns the number that stands before the word for questions, where there is exactly one."""
    numbers = phrases.counts_in(text)
    return numbers.pop() if len(numbers) == 1 else None


def ruling_by_rule(text: str) -> Ruling | None:
    """Returns the ruling where the turn uses one of the two words and not both."""
    denied = phrases.NOT_SUSTAINED.search(text) is not None
    sustained = not denied and phrases.SUSTAINED.search(text) is not None
    overruled = denied or phrases.OVERRULED.search(text) is not None
    if sustained == overruled:
        return None
    return "sustained" if sustained else "overruled"


def acceptance_by_rule(text: str) -> Acceptance | None:
    """Returns how the turn answers a proposal where it uses words of one kind only."""
    declined = phrases.DECLINED.search(text) is not None
    accepted = phrases.ACCEPTED.search(phrases.DECLINED.sub(" ", text)) is not None
    if declined == accepted:
        return None
    return "declined" if declined else "accepted"
