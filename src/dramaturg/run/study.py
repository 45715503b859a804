"""The study file: what is measured, on what, by whom, and within which limits.

It is the YAML as it was written, checked by itself. What it refers to (cases, checklists, scripts, models) is
read and checked by `dramaturg.run.material`, still before any call.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from dramaturg.errors import StudyError
from dramaturg.files import load_yaml
from dramaturg.judge.checklist import Long, Mode, Wording
from dramaturg.stage.court import DEFAULT_LIMITS, DEFAULT_STAGING, Protocol, StagingOptions

Suite = Literal["court", "interview", "world"]
"""What a study stages; each suite has a study file of its own."""

Word = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""Text that is not blank."""

Name = Annotated[str, StringConstraints(pattern=r"^\w[\w.-]*$", max_length=100)]
"""A name that any file system and any table can hold."""

Count = Annotated[int, Field(ge=1, strict=True)]
Seed = Annotated[int, Field(ge=0, lt=2**31, strict=True)]


def _subject_from_text(value: object) -> object:
    return {"model": value} if isinstance(value, str) else value


def _seeds_from_count(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        if not 1 <= value <= 100_000:
            raise ValueError(f"{value} repeats are out of range; allowed: 1 to 100000, or a list of seeds")
        return tuple(range(1, value + 1))
    return value


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Subject(_Frozen):
    """A model that the study measures.

    Attributes:
        model: Spec string.
        name: What tables call it; the spec string when left out.
    """

    model: Word
    name: str = ""

    @property
    def label(self) -> str:
        """What tables call it."""
        return self.name or self.model


class Limits(_Frozen):
    """Limits of one performance; part of what is measured.

    Attributes:
        turns: Most turns of a performance.
        questions: Most questions that may be granted to a side.
        tokens_per_turn: Most tokens that a role may answer with.
        restarts: How often a performance that broke may begin anew.
    """

    turns: Count = DEFAULT_LIMITS.turns
    questions: Count = DEFAULT_LIMITS.questions
    tokens_per_turn: Count = DEFAULT_LIMITS.speech_tokens
    restarts: Annotated[int, Field(ge=0, strict=True)] = DEFAULT_LIMITS.restarts


class Judging(_Frozen):
    """Who judges the transcripts, by what, and how.

    Attributes:
        model: Spec string.
        checklist: Name of a shipped checklist, or a path.
        mode: ``single`` asks one question per call, ``joint`` all at once, ``grouped`` those of a sub-dimension,
            ``paper`` those of a dimension in RPA-Check's form; ``probability`` reads how likely a yes is;
            ``windowed`` asks of each turn what one turn can show; ``glance`` asks all of each turn, and reads how
            likely a yes is. None is ``single``, or what the judge was made for.
        votes: How often each question is asked.
        long: What becomes of a transcript beyond the judge's context: ``refuse``, or ``cut`` its middle.
        ask: ``presence`` puts an indicator's short question of presence to the judge, ``text`` always its text.
    """

    model: Word
    checklist: Word = "court"
    mode: Mode | None = None
    votes: Count = 1
    long: Long = "refuse"
    ask: Wording = "presence"


class Budgets(_Frozen):
    """Limits of the whole run; it stops cleanly at the first that is reached. None is no limit.

    Attributes:
        max_calls: Most calls that reach a model.
        max_tokens: Most tokens, read and written together.
        max_cost: Most US dollars; refused at the start where a price is unknown.
    """

    max_calls: Annotated[int, Field(ge=0, strict=True)] | None = None
    max_tokens: Annotated[int, Field(ge=0, strict=True)] | None = None
    max_cost: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None


Subjects = Annotated[
    tuple[Annotated[Subject, BeforeValidator(_subject_from_text, json_schema_input_type=str | Subject)], ...],
    Field(min_length=1),
]
"""What a study measures: models, each as a spec string or with a name of its own."""

Seeds = Annotated[
    tuple[Seed, ...],
    BeforeValidator(_seeds_from_count, json_schema_input_type=Count | tuple[Seed, ...]),
    Field(min_length=1),
]
"""Repeats of a performance: a list of seeds, or their number."""


class Study(_Frozen):
    """A study: subjects × prompts × cases × seeds, then judges.

    Attributes:
        study: Its name; an output folder belongs to one study.
        suite: What is staged.
        seed: Seed of the study, from which every call's seed derives.
        subjects: What is measured.
        prompts: Variants of the prompts: ``default``, or a folder whose files replace shipped ones.
        cases: Names of shipped cases, or paths.
        seeds: One performance per seed; a number n means the seeds 1 to n.
        procedures: How the cases are held: names of shipped procedures, or paths; none holds each case under the one
            that it was made for.
        protocol: ``paper``, or ``guarded``.
        cast: Kind of role → who plays it in every performance: ``script`` (the case's own), ``script:FILE``, ``human``,
            or the spec string of a model. Who is not named is played by the subject, but for the procedure's player,
            who is a script by default.
        limits: Limits of one performance.
        staging: How it is staged: layout of the prompts, candidates, checks; part of what is measured.
        judges: Who judges; none leaves the transcripts unjudged.
        concurrency: Most units carried out at once. May change between runs.
        unit_timeout_s: Longest that one unit may take, in seconds; then it fails. May change between runs.
        budgets: Limits of the run. May change between runs.
    """

    study: Name
    suite: Literal["court"] = "court"
    seed: Seed = 0
    subjects: Subjects
    prompts: Annotated[tuple[Word, ...], Field(min_length=1)] = ("default",)
    cases: Annotated[tuple[Word, ...], Field(min_length=1)]
    seeds: Seeds = (1,)
    procedures: tuple[Word, ...] = ()
    protocol: Protocol = "paper"
    cast: dict[Word, Word] = {}
    limits: Limits = Limits()
    staging: StagingOptions = DEFAULT_STAGING
    judges: tuple[Judging, ...] = ()
    concurrency: Annotated[int, Field(ge=1, le=1024, strict=True)] = 4
    unit_timeout_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 7200.0
    budgets: Budgets = Budgets()


class _AnyStudy(BaseModel):
    model_config = ConfigDict(extra="ignore")

    suite: Suite = "court"


def suite_of(path: Path) -> Suite:
    """Returns what a study file stages; nothing else of it is checked.

    Raises:
        StudyError: It is no YAML, or names no suite that there is.
        ContentError: It cannot be read, or is not UTF-8.
    """
    return load_yaml(path, _AnyStudy, error=StudyError).suite


def load_study(path: Path) -> Study:
    """Returns a study file's content; what it refers to is not read yet.

    Raises:
        StudyError: It is no YAML or not a study; every problem is named with its line.
        ContentError: It cannot be read, or is not UTF-8.
    """
    return load_yaml(path, Study, error=StudyError)
