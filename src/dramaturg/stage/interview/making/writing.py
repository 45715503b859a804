"""Scenarios for one character and one category: drafted, checked, read by a critic, mended, counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from dramaturg.ledger import Calls
from dramaturg.model import Message, Model, Sampling
from dramaturg.prompts import load_prompt, quote_untrusted
from dramaturg.stage.cast.character import Character
from dramaturg.stage.finding import has_errors
from dramaturg.stage.interview.item import Category, Item, Text
from dramaturg.stage.interview.making.checks import Finding, check_drafts
from dramaturg.stage.interview.making.forms import FORMS, MOST_IN_A_FORM, Draft, Drafts, item_of
from dramaturg.text import Json, canonical_json

_PROMPT: Mapping[Category, str] = {
    "emotion": "interview-make-emotion",
    "decision": "interview-make-decision",
    "moral": "interview-make-moral",
    "in_character": "interview-make-in-character",
    "knows": "interview-make-knows",
}
PROMPTS = (*_PROMPT.values(), "interview-make-critique", "interview-make-repair")
"""Prompts of a set, for records."""
WRITING = Sampling(temperature=0.9, max_tokens=1_200)
READING = Sampling(temperature=0.0, max_tokens=400)
DRAWS = 2
"""How often a form is asked for, with another seed, when no usable answer came."""


class Problem(BaseModel):
    """What a model finds wrong with a scenario."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    number: Annotated[int, Field(ge=1, le=MOST_IN_A_FORM)]
    what: Text


class Critique(BaseModel):
    """A model's reading of scenarios."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    problems: Annotated[tuple[Problem, ...], Field(max_length=MOST_IN_A_FORM)]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A scenario that did not enter the set.

    Attributes:
        message: What it said.
        findings: Why.
    """

    message: str
    findings: tuple[Finding, ...]

    def as_json(self) -> dict[str, Json]:
        """Returns it as JSON."""
        return {"message": self.message, "findings": [finding.as_json() for finding in self.findings]}


@dataclass(frozen=True, slots=True)
class Written:
    """What became of one category of one character.

    Attributes:
        items: Those that passed, at most as many as wanted.
        dropped: Those of the last versions that did not.
        repairs: Rounds of repair.
        failure: Which form was not answered and why; empty otherwise.
    """

    items: tuple[Item, ...]
    dropped: tuple[Dropped, ...] = ()
    repairs: int = 0
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """What is written in one unit.

    Attributes:
        character: For whom.
        category: What is asked for.
        count: How many items.
        labels: What an emotion may be.
        language: Of the messages.
    """

    character: Character
    category: Category
    count: int
    labels: tuple[str, ...]
    language: str


async def write_items(calls: Calls, model: Model, critic: Model, task: Task, *, repairs: int) -> Written:
    """Returns the items of a task; fewer where scenarios keep an error.

    Forms of at most `MOST_IN_A_FORM` scenarios are filled one after the other, each told of the messages before it.
    While repairs are left, a critic reads each form, and all findings are quoted to the model, which writes it again.

    Args:
        calls: The task's calls; a rerun replays them.
        model: Who writes.
        critic: Who reads.
        task: What is written.
        repairs: Most rounds of repair of a form; with 0 there is no critique either.

    Raises:
        UnitStopped: An endpoint failed.
        LimitReached: A budget of the run is used up.
    """
    kept: list[Draft] = []
    dropped: list[Dropped] = []
    done = 0
    failure = ""
    for number, start in enumerate(range(0, task.count, MOST_IN_A_FORM), start=1):
        wanted = min(MOST_IN_A_FORM, task.count - start)
        form = _Form(calls, model, critic, task, number, wanted, tuple(draft.message for draft in kept))
        passed, failed, rounds, problem = await form.filled(repairs)
        kept += passed
        dropped += failed
        done += rounds
        failure = failure or problem
    items = tuple(
        item_of(draft, task.character, task.category, number, task.language) for number, draft in enumerate(kept, 1)
    )
    return Written(items, tuple(dropped), done, failure)


@dataclass(frozen=True, slots=True)
class _Form:
    """Asks for one form and mends it."""

    calls: Calls
    model: Model
    critic: Model
    task: Task
    number: int
    wanted: int
    used: tuple[str, ...]

    async def filled(self, repairs: int) -> tuple[list[Draft], list[Dropped], int, str]:
        """Returns the drafts that pass, the last version's that do not, the rounds, and why there is no draft."""
        prompt = self._prompt()
        answer, failure = await self._asked([Message("user", prompt)], f"form/{self.number}")
        if answer is None:
            return [], [], 0, failure
        passing: dict[int, Draft] = {}
        drafts, found = self._checked(answer, passing)
        done = 0
        for number in range(1, repairs + 1):
            remarks = await self._critique(drafts, number)
            told = [*(finding for listed in found.values() for finding in listed), *remarks]
            if not told:
                break
            done = number
            chat = [
                Message("user", prompt),
                Message("assistant", answer.model_dump_json()),
                Message("user", self._repair(told)),
            ]
            mended, _ = await self._asked(chat, f"form/{self.number}/repair/{number}")
            if mended is None:
                break
            answer = mended
            drafts, found = self._checked(answer, passing)
        sound = {passing[at].message: passing[at] for at in sorted(passing)}
        kept = list(sound.values())[: self.wanted]
        failed = [
            Dropped(drafts[at].message, tuple(listed))
            for at, listed in found.items()
            if has_errors(listed) and at not in passing
        ]
        return kept, failed, done, ""

    def _checked(self, answer: Drafts, passing: dict[int, Draft]) -> tuple[tuple[Draft, ...], dict[int, list[Finding]]]:
        """Returns the drafts and what is doubtful about them; a sound one takes the older one's place in `passing`.

        Versions of one scenario are told by their position, so that no two of them enter a set.
        """
        task = self.task
        drafts: tuple[Draft, ...] = answer.scenarios
        found = check_drafts(drafts, task.character, task.category, task.labels, self.used)
        passing.update((at, draft) for at, draft in enumerate(drafts) if not has_errors(found.get(at, ())))
        return drafts, found

    async def _asked(self, chat: Sequence[Message], step: str) -> tuple[Drafts | None, str]:
        detail = ""
        for attempt in range(DRAWS):
            answer = await self.calls.ask_structured(
                self.model,
                chat,
                FORMS[self.task.category],
                step=step,
                role="author",
                purpose=f"items-{self.task.category}",
                attempt=attempt,
                sampling=WRITING,
                language=self.task.language,
            )
            if answer.value is not None:
                return answer.value, ""
            detail = f"form {self.number}: {answer.failure}: {' '.join(answer.detail.split())}"
        return None, detail

    async def _critique(self, drafts: Sequence[Draft], number: int) -> list[Finding]:
        """Returns what a model finds wrong; an answer that cannot be used finds nothing."""
        scenarios = [{"number": at, **draft.model_dump(mode="json")} for at, draft in enumerate(drafts, start=1)]
        prompt = load_prompt("interview-make-critique", self.task.language).fill(
            character=self._character(),
            scenarios=quote_untrusted(canonical_json(scenarios), "</scenarios>"),
            category=self.task.category.replace("_", " "),
        )
        answer = await self.calls.ask_structured(
            self.critic,
            [Message("user", prompt)],
            Critique,
            step=f"form/{self.number}/critique/{number}",
            role="critic",
            purpose="items-critique",
            sampling=READING,
            language=self.task.language,
        )
        if answer.value is None:
            return []
        return [
            Finding("critique", "remark", f"scenarios[{problem.number - 1}]", " ".join(problem.what.split()))
            for problem in answer.value.problems
            if problem.number <= len(drafts)
        ]

    def _prompt(self) -> str:
        values = {
            "character": self._character(),
            "count": str(self.wanted),
            "used": quote_untrusted("\n".join(f"- {message}" for message in self.used) or "- none yet", "</used>"),
        }
        if self.task.category == "emotion":
            values["labels"] = ", ".join(self.task.labels)
        if self.task.category in ("in_character", "knows"):
            values["time"] = _time(self.task.character)
        return load_prompt(_PROMPT[self.task.category], self.task.language).fill(**values)

    def _repair(self, findings: Sequence[Finding]) -> str:
        told = "\n".join(f"- scenario {_position(finding) + 1}: {finding.text}" for finding in findings)
        return load_prompt("interview-make-repair", self.task.language).fill(
            findings=quote_untrusted(told, "</findings>"), count=str(self.wanted)
        )

    def _character(self) -> str:
        character = self.task.character
        return quote_untrusted(f"{character.name}\n\n{character.description}", "</character>")


def _time(character: Character) -> str:
    if character.knows_until is not None:
        return f"The character lives in the year {character.knows_until} and can know of nothing that came later."
    return (
        "The character lives in another world than ours and can know nothing of our Earth, its people and its history."
    )


def _position(finding: Finding) -> int:
    return int(finding.where.partition("[")[2].partition("]")[0])
