"""The study file of an interview: subjects × strategies × items × repeats, in one YAML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from dramaturg.errors import StudyError
from dramaturg.files import load_yaml
from dramaturg.run.study import Budgets, Count, Name, Seed, Subjects, Word
from dramaturg.stage.interview import Condition, Form


class InterviewStudy(BaseModel):
    """A study of single-turn items whose answers are known.

    Attributes:
        study: Its name; an output folder belongs to one study.
        suite: Always ``interview``.
        seed: Seed of the study, from which every call's seed derives, and by which a sample is drawn.
        subjects: What is measured.
        items: Name of a shipped item set, its folder, or a file of the published schema.
        strategies: How characters are put to the subjects: ``bare``, ``period``, ``as-is``, or prompt files.
        form: How an answer is to be given.
        condition: To whom an item is put: its own character, or a control.
        repeats: How often every item is asked, each time with another seed.
        sample: How many items are asked, drawn by category; all by default. A larger sample holds the smaller one.
        max_tokens: Most tokens of a reply.
        temperature: Of the replies; 0 for the likeliest.
        concurrency: Most calls in flight. May change between runs.
        budgets: Limits of the run. May change between runs.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    study: Name
    suite: Literal["interview"]
    seed: Seed = 0
    subjects: Subjects
    items: Word = "crossroads"
    strategies: Annotated[tuple[Word, ...], Field(min_length=1)] = ("bare",)
    form: Form = "tag"
    condition: Condition = "own"
    repeats: Annotated[int, Field(ge=1, le=1000, strict=True)] = 1
    sample: Count | None = None
    max_tokens: Count = 300
    temperature: Annotated[float, Field(ge=0, le=5, allow_inf_nan=False)] = 0.7
    concurrency: Annotated[int, Field(ge=1, le=1024, strict=True)] = 16
    budgets: Budgets = Budgets()


def load_interview(path: Path) -> InterviewStudy:
    """Returns a study file's content; what it refers to is not read yet.

    Raises:
        StudyError: It is no YAML or no study of an interview; every problem is named with its line.
        ContentError: It cannot be read, or is not UTF-8.
    """
    return load_yaml(path, InterviewStudy, error=StudyError)
