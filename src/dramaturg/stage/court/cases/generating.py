"""One case by a model: three short forms, checks, a critique, repairs that quote what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from dramaturg.ledger import Calls
from dramaturg.model import Message, Model, Sampling
from dramaturg.prompts import load_prompt, quote_untrusted
from dramaturg.stage.court.case import Case, Text
from dramaturg.stage.court.cases.checks import check_case
from dramaturg.stage.court.cases.draft import (
    Draft,
    Exhibits,
    Plot,
    Premise,
    Testimony,
    part_of,
)
from dramaturg.stage.court.cases.finding import Finding
from dramaturg.stage.court.record import record_words
from dramaturg.stage.court.speech import one_line
from dramaturg.stage.finding import badness, by_severity, has_errors
from dramaturg.text import Json, canonical_json

PROMPTS = (
    "court-case-plot",
    "court-case-exhibits",
    "court-case-witness",
    "court-case-repair",
    "court-case-critique",
)
"""Prompts of a case, for records."""
WRITING = Sampling(temperature=0.9, max_tokens=700)
READING = Sampling(temperature=0.0, max_tokens=400)
DRAWS = 2
"""How often a form is asked for, with another seed, when no usable answer came."""

_LONGEST_WISH = 500
_MOST_QUOTED = 8

PartT = TypeVar("PartT", Plot, Exhibits, Testimony)


class Problem(BaseModel):
    """What a model finds wrong with a case."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    where: Literal["plot", "evidence", "witness"]
    who: str = ""
    what: Text


class Critique(BaseModel):
    """A model's reading of a case."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    problems: Annotated[tuple[Problem, ...], Field(max_length=3)]


@dataclass(frozen=True, slots=True)
class Generated:
    """What became of one case.

    Attributes:
        case: The best version; None where a form was never answered.
        findings: What is doubtful about it.
        at_once: Whether the first version had no error.
        repairs: How many rounds of repair were carried out.
        failure: Which form was not answered and why; empty otherwise.
    """

    case: Case | None
    findings: tuple[Finding, ...] = ()
    at_once: bool = False
    repairs: int = 0
    failure: str = ""

    @property
    def passes(self) -> bool:
        """Whether there is a case without errors."""
        return self.case is not None and not has_errors(self.findings)


class _Unanswered(Exception):
    """A form was never answered. It never leaves this module."""


@dataclass(frozen=True, slots=True)
class _Author:
    """Asks a model for the parts of one case."""

    calls: Calls
    model: Model
    critic: Model
    premise: Premise

    def fill(self, prompt: str, /, **values: str) -> str:
        return load_prompt(f"court-case-{prompt}", self.premise.language).fill(**values)

    async def draft(self) -> Draft:
        plot = await self.part("plot", self.plot_prompt(), Plot)
        exhibits = await self.part("exhibits", self.exhibits_prompt(plot), Exhibits)
        testimonies: list[Testimony] = []
        for at in range(len(self.premise.witnesses)):
            prompt = self.witness_prompt(plot, exhibits, testimonies, at)
            testimonies.append(await self.part(f"witness/{at}", prompt, Testimony))
        return Draft(self.premise, plot, exhibits, tuple(testimonies))

    async def part(
        self,
        part: str,
        prompt: str,
        form: type[PartT],
        *,
        before: PartT | None = None,
        repair: str = "",
        number: int = 0,
    ) -> PartT:
        """Returns one part of a draft; with `before`, mended.

        Raises:
            _Unanswered: No usable answer came.
        """
        messages = [Message("user", prompt)]
        step = part
        if before is not None:
            step = f"{part}/repair/{number}"
            messages += [Message("assistant", before.model_dump_json()), Message("user", repair)]
        detail = ""
        for attempt in range(DRAWS):
            answer = await self.calls.ask_structured(
                self.model,
                messages,
                form,
                step=step,
                role="author",
                purpose=f"case-{part.partition('/')[0]}",
                attempt=attempt,
                sampling=WRITING,
                labels={"language": self.premise.language},
                language=self.premise.language,
            )
            if answer.value is not None:
                return answer.value
            detail = f"{part}: {answer.failure}: {one_line(answer.detail)}"
        raise _Unanswered(detail)

    def plot_prompt(self) -> str:
        premise = self.premise
        return self.fill(
            "plot",
            prior=quote_untrusted(premise.prior, "</wish>"),
            accused=premise.accused,
            witnesses=", ".join(name for name, _ in premise.witnesses),
            place=premise.place,
            time=premise.time,
            detail=premise.detail,
        )

    def exhibits_prompt(self, plot: Plot) -> str:
        return self.fill("exhibits", plot=_quoted(self._known(plot)))

    def witness_prompt(self, plot: Plot, exhibits: Exhibits, before: Sequence[Testimony], at: int) -> str:
        others: list[Json] = [
            {"name": name, "occupation": told.occupation, "knowledge": list(told.knowledge)}
            for (name, _), told in zip(self.premise.witnesses, before, strict=False)
        ]
        numbered: list[Json] = [
            {"id": f"E{number}", **item.model_dump()} for number, item in enumerate(exhibits.evidence, start=1)
        ]
        name, side = self.premise.witnesses[at]
        case = _quoted({**self._known(plot), "evidence": numbered, "other_witnesses": others})
        called = record_words(self.premise.language).called
        return self.fill("witness", case=case, name=name, side=called.get(side, side))

    def _known(self, plot: Plot) -> dict[str, Json]:
        names: list[Json] = [name for name, _ in self.premise.witnesses]
        return {**plot.model_dump(), "accused": self.premise.accused, "witnesses": names}

    async def critique(self, case: Case, number: int) -> list[Finding]:
        """Returns what a model finds wrong; an answer that cannot be used finds nothing."""
        told = case.model_dump(mode="json", include={"title", "kind", "charge", "accused", "summary", "goal"})
        told |= {"evidence": [item.model_dump() for item in case.evidence]}
        told |= {
            "witnesses": [
                witness.model_dump(mode="json", include={"name", "occupation", "knowledge", "secrets"})
                for witness in case.witnesses
            ]
        }
        answer = await self.calls.ask_structured(
            self.critic,
            [Message("user", self.fill("critique", case=_quoted(told)))],
            Critique,
            step=f"critique/{number}",
            role="critic",
            purpose="case-critique",
            sampling=READING,
            labels={"language": self.premise.language},
            language=self.premise.language,
        )
        if answer.value is None:
            return []
        return [
            Finding("critique", "remark", _place(problem, case), one_line(problem.what))
            for problem in answer.value.problems
        ]

    async def mended(self, draft: Draft, findings: Sequence[Finding], number: int) -> Draft:
        """Returns the draft with every part written anew about which something was found.

        A part that is not answered stays as it was.
        """
        by_part: dict[str, list[Finding]] = {}
        for finding in findings:
            part = part_of(finding.where, finding.code, len(draft.testimonies))
            by_part.setdefault(part, []).append(finding)
        for part in sorted(by_part, key=_order):
            told = "\n".join(
                f"- {one_line(finding.text)} ({finding.where})" for finding in by_part[part][:_MOST_QUOTED]
            )
            repair = self.fill("repair", findings=quote_untrusted(told, "</findings>"))
            try:
                draft = draft.with_part(part, await self._mended_part(draft, part, repair, number))
            except _Unanswered:
                continue
        return draft

    async def _mended_part(self, draft: Draft, part: str, repair: str, number: int) -> Plot | Exhibits | Testimony:
        if part == "plot":
            return await self.part(part, self.plot_prompt(), Plot, before=draft.plot, repair=repair, number=number)
        if part == "exhibits":
            prompt = self.exhibits_prompt(draft.plot)
            return await self.part(part, prompt, Exhibits, before=draft.exhibits, repair=repair, number=number)
        at = int(part.partition("/")[2])
        prompt = self.witness_prompt(draft.plot, draft.exhibits, draft.testimonies[:at], at)
        return await self.part(part, prompt, Testimony, before=draft.testimonies[at], repair=repair, number=number)


async def generate_case(calls: Calls, model: Model, premise: Premise, *, critic: Model, repairs: int) -> Generated:
    """Returns one case by a model, the best of its versions.

    Every version is checked, and read by a critic while repairs are left. What was found is quoted to the model, which
    writes those parts anew. Of two versions the one with fewer errors is better, then that with fewer warnings, then
    the later one.

    Args:
        calls: The case's calls; a rerun replays them.
        model: Who writes.
        premise: What was drawn.
        critic: Who reads.
        repairs: Most rounds of repair; with 0 there is no critique either.

    Raises:
        UnitStopped: An endpoint failed.
        LimitReached: A budget of the run is used up.
    """
    author = _Author(calls, model, critic, premise)
    try:
        draft = await author.draft()
    except _Unanswered as problem:
        return Generated(None, failure=str(problem))
    best_case, best_findings = draft.case(), check_case(draft.case())
    at_once = not has_errors(best_findings)
    findings = best_findings
    done = 0
    for number in range(1, repairs + 1):
        remarks = await author.critique(draft.case(), number)
        to_mend = by_severity([*findings, *remarks])
        if not to_mend:
            break
        draft = await author.mended(draft, to_mend, number)
        done = number
        findings = check_case(draft.case())
        if badness(findings) <= badness(best_findings):
            best_case, best_findings = draft.case(), findings
    return Generated(best_case, best_findings, at_once, done)


def checked_prior(prior: str) -> str:
    """Returns a prior on one line.

    Raises:
        ValueError: It is blank or longer than 500 characters.
    """
    line = one_line(prior)
    if not line or len(line) > _LONGEST_WISH:
        raise ValueError(f"a prior has 1 to {_LONGEST_WISH} characters; this one has {len(line)}")
    return line


def _quoted(value: Json) -> str:
    return quote_untrusted(canonical_json(value), "</case>")


def _place(problem: Problem, case: Case) -> str:
    match problem.where:
        case "plot":
            return "summary"
        case "evidence":
            return "evidence"
        case "witness":
            wanted = problem.who.casefold()
            at = next((i for i, witness in enumerate(case.witnesses) if witness.name.casefold() in wanted), 0)
            return f"witnesses[{at}]"


def _order(part: str) -> tuple[int, str]:
    return ("plot", "exhibits", "witness").index(part.partition("/")[0]), part
