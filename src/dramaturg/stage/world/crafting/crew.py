"""One scene by a crew: the screenwriter drafts, the director refines, the evaluator marks; what is found goes back.

Source: CharacterBox, section 3.1. `one` is the screenwriter alone, for comparison with all `three`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar, assert_never

from pydantic import BaseModel

from dramaturg.ledger import Budget, Calls, Ledger
from dramaturg.model import Message, Model, Sampling
from dramaturg.prompts import load_prompt, quote_untrusted
from dramaturg.stage.finding import Finding, badness, has_errors
from dramaturg.stage.world.crafting.checks import check_scene, copies
from dramaturg.stage.world.crafting.draft import Events, SceneDraft, scene_of
from dramaturg.stage.world.crafting.marks import HIGHEST_MARK, Marks
from dramaturg.stage.world.crafting.premise import Excerpt, Idea, Premise
from dramaturg.stage.world.crafting.words import Language
from dramaturg.stage.world.scene import Scene
from dramaturg.text import Json

Stages = Literal["one", "three"]
By = Literal["screenwriter", "director"]

PROMPTS = (
    "craft-again",
    "craft-direct",
    "craft-evaluate",
    "craft-extract",
    "craft-find",
    "craft-form",
    "craft-invent",
    "craft-source-idea",
    "craft-source-text",
    "craft-source-world",
)
"""Prompts of a scene, for records."""
WRITING = Sampling(temperature=0.9, max_tokens=1_600)
READING = Sampling(temperature=0.0, max_tokens=500)
DRAWS = 2
"""How often a form is asked for, with another seed, when no usable answer came."""

_LONGEST_CRITIQUE = 800
_LONGEST_DETAIL = 300

AnswerT = TypeVar("AnswerT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a scene.

    Attributes:
        round: 0 for the screenwriter's first; then the round that made it.
        by: Who wrote it.
        draft: As it was answered.
        scene: The scene that it makes.
        findings: What rules find wrong with it.
        marks: The evaluator's; None where there are none.
        unmarked: Why there are none; empty where nobody was asked.
        critique: What the evaluator wrote, on one line; empty where it repeats the text that the scene was taken from.
    """

    round: int
    by: By
    draft: SceneDraft
    scene: Scene
    findings: tuple[Finding, ...]
    marks: Marks | None = None
    unmarked: str = ""
    critique: str = ""

    @property
    def sound(self) -> bool:
        """Whether rules find no error."""
        return not has_errors(self.findings)

    def rank(self) -> tuple[tuple[int, ...], float, int]:
        """Returns by what two versions are compared: fewer errors, then a higher mean mark, then the later one."""
        worse = tuple(-count for count in badness(self.findings))
        return worse, self.marks.mean if self.marks is not None else 0.0, self.round

    def as_json(self) -> dict[str, Json]:
        """Returns round, marks and findings, without the scene."""
        marks = self.marks
        return {
            "round": self.round,
            "by": self.by,
            "marks": dict(marks.by_criterion()) if marks is not None else None,
            "mean": marks.mean if marks is not None else None,
            "unmarked": self.unmarked,
            "critique": self.critique,
            "findings": [finding.as_json() for finding in self.findings],
        }


@dataclass(frozen=True, slots=True)
class Crafted:
    """What became of one scene.

    Attributes:
        versions: All versions, the oldest first; none where the screenwriter answered no form.
        best: The version that counts; None where there is none.
        accepted: Whether it is sound and, with three stages, has marks that suffice.
        failure: Which form was not answered and why; empty otherwise.
    """

    versions: tuple[Version, ...] = ()
    best: Version | None = None
    accepted: bool = False
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Listed:
    """The events of a piece of a text.

    Attributes:
        events: As the screenwriter listed them; None where it gave no usable answer.
        failure: Why not; empty otherwise.
    """

    events: Events | None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Crew:
    """Who makes scenes, and by which rules.

    Attributes:
        screenwriter: Who drafts.
        director: Who refines, in three stages.
        evaluator: Who marks; None where nobody does, which one stage alone allows.
        ledger: Keeps every answer.
        budget: Of the run.
        language: Of the scenes.
        stages: One or three.
        threshold: Least mean mark of an accepted scene.
        rounds: Most rounds of refining, or, in one stage, of repairs of what rules found.
        seed: Of the collection.
    """

    screenwriter: Model
    director: Model
    evaluator: Model | None
    ledger: Ledger
    budget: Budget
    language: Language
    stages: Stages
    threshold: float
    rounds: int
    seed: int

    async def list_events(self, excerpt: Excerpt, unit: str) -> Listed:
        """Returns what can be staged of a piece of a text.

        Args:
            excerpt: The piece; which of its events does not matter.
            unit: The unit's id.

        Raises:
            UnitStopped: The endpoint failed.
            LimitReached: A budget of the run is used up.
        """
        work = _Work(self, self._calls(unit), excerpt, unit)
        events, failure = await work.asked(
            self.screenwriter, [work.find_prompt()], Events, step="events", role="screenwriter", sampling=READING
        )
        return Listed(events, failure)

    async def craft(self, premise: Premise, events: Events | None, unit: str) -> Crafted:
        """Returns one scene, the best of its versions.

        Every version is checked by rules. In three stages the director refines the draft, and the evaluator marks
        each version; one that is not accepted goes back with its critique and its findings, `rounds` times at most.
        In one stage the screenwriter mends what rules found. The best version gets marks wherever an evaluator is.

        Args:
            premise: What it is made of.
            events: What was listed of an excerpt; None for an idea.
            unit: The unit's id.

        Raises:
            UnitStopped: An endpoint failed.
            LimitReached: A budget of the run is used up.
        """
        work = _Work(self, self._calls(unit), premise, unit)
        chat = work.opening(events)
        draft, failure = await work.written(self.screenwriter, chat, "draft", "screenwriter")
        if draft is None:
            return Crafted(failure=failure)
        versions = [work.version(draft, 0, "screenwriter")]
        match self.stages:
            case "one":
                await work.repair(chat, versions)
            case "three":
                failure = await work.direct(versions)
            case _:
                assert_never(self.stages)
        best = max(versions, key=lambda version: (self.accepts(version), version.rank()))
        if best.marks is None and not best.unmarked:
            at = versions.index(best)
            best = versions[at] = await work.marked(best)
        return Crafted(tuple(versions), best, self.accepts(best), failure)

    def accepts(self, version: Version) -> bool:
        """Returns whether a version is sound and, with three stages, has marks that suffice."""
        if self.stages == "one" or not version.sound:
            return version.sound
        return version.marks is not None and version.marks.reach(self.threshold)

    def _calls(self, unit: str) -> Calls:
        return self.ledger.calls(unit=unit, seed=self.seed, budget=self.budget)


@dataclass(frozen=True, slots=True)
class _Work:
    """The work on one scene, or on the events of one piece."""

    crew: Crew
    calls: Calls
    premise: Premise
    unit: str

    def fill(self, prompt: str, /, **values: str) -> str:
        return load_prompt(f"craft-{prompt}", self.crew.language).fill(**values)

    @property
    def source(self) -> str:
        return self.premise.told(self.crew.language)

    @property
    def form(self) -> str:
        return self.fill("form")

    def find_prompt(self) -> Message:
        return Message("user", self.fill("find", source=self.source))

    def opening(self, events: Events | None) -> list[Message]:
        """Returns the screenwriter's chat; that of an excerpt goes on from the list of its events."""
        match self.premise:
            case Excerpt(event=number) if events is not None:
                wanted = quote_untrusted(" ".join(events.events[number - 1].event.split()), "</event>")
                asked = self.fill("extract", number=str(number), event=wanted, form=self.form)
                return [self.find_prompt(), Message("assistant", events.model_dump_json()), Message("user", asked)]
            case Excerpt() | Idea():
                return [Message("user", self.fill("invent", source=self.source, form=self.form))]
            case _:
                assert_never(self.premise)

    async def repair(self, chat: Sequence[Message], versions: list[Version]) -> None:
        """Lets the screenwriter mend what rules found, and adds its versions."""
        for number in range(1, self.crew.rounds + 1):
            latest = versions[-1]
            if latest.sound:
                return
            messages = [*chat, _answered(latest), self.again(latest)]
            draft, _ = await self.written(self.crew.screenwriter, messages, f"repair/{number}", "screenwriter")
            if draft is None:
                return
            versions.append(self.version(draft, number, "screenwriter"))

    async def direct(self, versions: list[Version]) -> str:
        """Lets the director refine until a version is accepted, and adds its versions.

        Returns:
            Why it gave up before; empty otherwise.
        """
        first = versions[0]
        chat = [Message("user", self.direct_prompt(first))]
        for number in range(1, self.crew.rounds + 1):
            latest = versions[-1]
            messages = chat if number == 1 else [*chat, _answered(latest), self.again(latest)]
            draft, failure = await self.written(self.crew.director, messages, f"direct/{number}", "director")
            if draft is None:
                return failure
            versions.append(await self.marked(self.version(draft, number, "director")))
            if self.crew.accepts(versions[-1]):
                break
        return ""

    def direct_prompt(self, version: Version) -> str:
        return self.fill(
            "direct",
            source=self.source,
            scene=quote_untrusted(version.draft.model_dump_json(), "</scene>"),
            findings=quote_untrusted(_told(version), "</findings>"),
            form=self.form,
        )

    def again(self, version: Version) -> Message:
        return Message("user", self.fill("again", findings=quote_untrusted(_told(version), "</findings>")))

    async def marked(self, version: Version) -> Version:
        """Returns the version with the evaluator's marks, or with the reason why there are none."""
        evaluator = self.crew.evaluator
        if evaluator is None:
            return version
        scene = quote_untrusted(version.draft.model_dump_json(), "</scene>")
        prompt = self.fill("evaluate", source=self.source, scene=scene)
        marks, failure = await self.asked(
            evaluator,
            [Message("user", prompt)],
            Marks,
            step=f"evaluate/{version.round}",
            role="evaluator",
            sampling=READING,
        )
        if marks is None:
            return replace(version, unmarked=failure)
        critique = " ".join(marks.critique.split())[:_LONGEST_CRITIQUE]
        return replace(version, marks=marks, critique="" if copies([critique], self.premise.text) else critique)

    async def written(
        self, writer: Model, chat: Sequence[Message], step: str, role: By
    ) -> tuple[SceneDraft | None, str]:
        return await self.asked(writer, chat, SceneDraft, step=step, role=role, sampling=WRITING)

    async def asked(
        self,
        model: Model,
        chat: Sequence[Message],
        form: type[AnswerT],
        *,
        step: str,
        role: str,
        sampling: Sampling,
    ) -> tuple[AnswerT | None, str]:
        """Returns the answer, or None and why there is none."""
        detail = ""
        for attempt in range(DRAWS):
            answer = await self.calls.ask_structured(
                model,
                chat,
                form,
                step=step,
                role=role,
                purpose=f"craft-{step.partition('/')[0]}",
                attempt=attempt,
                sampling=sampling,
                labels={"language": self.crew.language},
                language=self.crew.language,
            )
            if answer.value is not None:
                return answer.value, ""
            detail = f"{step}: {answer.failure}: {' '.join(answer.detail.split())}"[:_LONGEST_DETAIL]
        return None, detail

    def version(self, draft: SceneDraft, number: int, by: By) -> Version:
        scene = scene_of(
            draft,
            unit=self.unit,
            language=self.crew.language,
            source=self.premise.kind,
            work=self.premise.work,
            tags=(f"{self.crew.stages}-stage",),
        )
        return Version(number, by, draft, scene, check_scene(scene, self.premise.text))


def _answered(version: Version) -> Message:
    return Message("assistant", version.draft.model_dump_json())


def _told(version: Version) -> str:
    """Returns what is quoted to whoever writes next: what rules found, then the marks and the critique."""
    lines = [f"- {finding.where}: {finding.code}: {finding.text}" for finding in version.findings]
    if version.marks is not None:
        marks = version.marks.by_criterion().items()
        lines.append(f"- {', '.join(f'{criterion} {mark}/{HIGHEST_MARK}' for criterion, mark in marks)}")
    if version.critique:
        lines.append(f"- {version.critique}")
    return "\n".join(lines) or "-"
