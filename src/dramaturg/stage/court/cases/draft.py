"""What a model is asked for, in three small forms, and how they make a case.

Names, sides and number of the witnesses are drawn beforehand from the words of the language: a small model that need
not invent them cannot confuse them, and the cases of a corpus do not all have the same people.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from dramaturg.stage.court.case import Case, Evidence, Fact, Officer, Text, Witness
from dramaturg.stage.court.cases.words import CaseWords, Language, case_words, pick_names
from dramaturg.stage.court.cases.writing import case_id

Side = Literal["prosecution", "defence", "court"]
_SIDES: tuple[Side, ...] = ("prosecution", "defence", "prosecution", "court")
LEAST_WITNESSES = 2
MOST_WITNESSES = len(_SIDES)
_PEOPLE = 4
"""The accused and the three offices of the court."""

Few = Annotated[tuple[Text, ...], Field(min_length=2, max_length=4)]


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Plot(_Answer):
    """First form: what happened, as everybody knows it."""

    title: Text
    kind: Literal["criminal", "civil"]
    setting: Text
    charge: Text
    summary: Text
    goal: Text


class ExhibitDraft(_Answer):
    """An exhibit without its number."""

    name: Text
    description: Text


class Exhibits(_Answer):
    """Second form: what lies on the table, what is true, and what is open."""

    evidence: Annotated[tuple[ExhibitDraft, ...], Field(min_length=2, max_length=5)]
    true_facts: Few
    open_questions: Few


class Testimony(_Answer):
    """Third form, once for every witness: who this is, what it knows, what it hides."""

    occupation: Text
    manner: Text
    knowledge: Annotated[tuple[Text, ...], Field(min_length=2, max_length=5)]
    secret: str = ""


@dataclass(frozen=True, slots=True)
class Premise:
    """What is drawn before a model is asked.

    Attributes:
        prior: What the case is to be about, as a person wrote it.
        language: Of the case.
        number: Position in the corpus, part of the case's id.
        accused: Who is accused.
        officers: Judge, prosecutor and defence.
        witnesses: Name and side of each.
        place: Where it happens.
        time: When it happens.
        detail: What it turns on.
    """

    prior: str
    language: Language
    number: int
    accused: str
    officers: tuple[Officer, Officer, Officer]
    witnesses: tuple[tuple[str, Side], ...]
    place: str
    time: str
    detail: str

    @classmethod
    def draw(cls, prior: str, language: Language, number: int, rng: Random) -> Premise:
        """Returns a premise; equal generators give equal ones."""
        words = case_words(language)
        count = rng.randint(LEAST_WITNESSES, MOST_WITNESSES)
        accused, *names = pick_names(words, _PEOPLE + count, rng)
        manners = rng.sample(words.manners, 3)
        judge, prosecutor, defence = (
            Officer(name=name, manner=manner) for name, manner in zip(names[:3], manners, strict=True)
        )
        return cls(
            prior=prior,
            language=language,
            number=number,
            accused=accused,
            officers=(judge, prosecutor, defence),
            witnesses=tuple(zip(names[3:], _SIDES[:count], strict=True)),
            place=rng.choice(words.places),
            time=rng.choice(words.times),
            detail=rng.choice(words.details),
        )

    @property
    def words(self) -> CaseWords:
        """The words of its language."""
        return case_words(self.language)


@dataclass(frozen=True, slots=True)
class Draft:
    """A case in parts, as a model wrote them.

    Attributes:
        premise: What was drawn.
        plot: The first form.
        exhibits: The second.
        testimonies: The third, in the order of the premise's witnesses.
    """

    premise: Premise
    plot: Plot
    exhibits: Exhibits
    testimonies: tuple[Testimony, ...]

    def with_part(self, part: str, answer: Plot | Exhibits | Testimony) -> Draft:
        """Returns the draft with another answer for one part (see `part_of`)."""
        match answer:
            case Plot():
                return replace(self, plot=answer)
            case Exhibits():
                return replace(self, exhibits=answer)
            case Testimony():
                at = int(part.partition("/")[2])
                return replace(self, testimonies=(*self.testimonies[:at], answer, *self.testimonies[at + 1 :]))

    def case(self) -> Case:
        """Returns the case that the parts make."""
        judge, prosecutor, defence = self.premise.officers
        facts = [Fact(text=text, status="true") for text in self.exhibits.true_facts]
        return Case(
            id=case_id(self.plot.title, f"{self.premise.number:04}"),
            title=self.plot.title,
            language=self.premise.language,
            kind=self.plot.kind,
            setting=self.plot.setting,
            charge=self.plot.charge,
            accused=self.premise.accused,
            summary=self.plot.summary,
            goal=self.plot.goal,
            judge=judge,
            prosecutor=prosecutor,
            defence=defence,
            evidence=tuple(
                Evidence(id=f"E{number}", name=item.name, description=item.description)
                for number, item in enumerate(self.exhibits.evidence, start=1)
            ),
            witnesses=tuple(
                Witness(
                    name=name,
                    occupation=told.occupation,
                    called_by=side,
                    manner=told.manner,
                    knowledge=told.knowledge,
                    secrets=(told.secret,) if told.secret.strip() else (),
                )
                for (name, side), told in zip(self.premise.witnesses, self.testimonies, strict=True)
            ),
            facts=(*facts, *(Fact(text=text, status="contested") for text in self.exhibits.open_questions)),
        )


def part_of(where: str, code: str, witnesses: int) -> str:
    """Returns which part of a draft a finding is about: ``plot``, ``exhibits``, or ``witness/INDEX``.

    An exhibit of which nobody speaks is mended by a witness who does.

    Args:
        where: The finding's place.
        code: The finding's code.
        witnesses: How many the case has.
    """
    root, _, rest = where.partition("[")
    number = int(rest.partition("]")[0]) if rest.partition("]")[0].isdigit() else 0
    if code == "evidence-unreferenced" or root == "witnesses":
        return f"witness/{number % witnesses}"
    return "exhibits" if root in {"evidence", "facts"} else "plot"
