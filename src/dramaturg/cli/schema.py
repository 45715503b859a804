"""``dramaturg schema``: the published JSON schemas."""

from __future__ import annotations

import importlib
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli.console import say_json

if TYPE_CHECKING:
    from pydantic import BaseModel


class Document(StrEnum):
    """What has a schema."""

    TRANSCRIPT = "transcript"
    STUDY = "study"
    CHECKLIST = "checklist"
    JUDGEMENT = "judgement"
    CASE = "case"
    BENCHMARK = "benchmark"
    INTERVIEW_STUDY = "interview-study"
    ITEM_SET = "item-set"
    ITEM = "item"
    CHARACTER = "character"
    REPLY = "reply"
    SCENE = "scene"
    WORLD_STUDY = "world-study"
    RATING = "rating"
    RUBRIC = "rubric"
    PROCEDURE = "procedure"
    UNIT = "unit"
    VOTE = "vote"
    PUBLISHED_FIGURES = "published-figures"


_MODELS: dict[Document, tuple[str, str]] = {
    Document.TRANSCRIPT: ("dramaturg.stage.transcript", "Transcript"),
    Document.STUDY: ("dramaturg.run.study", "Study"),
    Document.CHECKLIST: ("dramaturg.judge.checklist.checklist", "Checklist"),
    Document.JUDGEMENT: ("dramaturg.judge.judgement", "Judgement"),
    Document.CASE: ("dramaturg.stage.court.case", "Case"),
    Document.SCENE: ("dramaturg.stage.world.scene", "Scene"),
    Document.WORLD_STUDY: ("dramaturg.run.world.study", "WorldStudy"),
    Document.RATING: ("dramaturg.judge.rating.judgement", "RatingJudgement"),
    Document.RUBRIC: ("dramaturg.judge.rating.rubric", "Rubric"),
    Document.PROCEDURE: ("dramaturg.stage.court", "Procedure"),
    Document.UNIT: ("dramaturg.run.records", "UnitRecord"),
    Document.VOTE: ("dramaturg.run.interview.vote_row", "VoteRow"),
    Document.PUBLISHED_FIGURES: ("dramaturg.report.table_figures", "Published"),
    Document.BENCHMARK: ("dramaturg.judge.checklist.benchmark", "Benchmark"),
    Document.INTERVIEW_STUDY: ("dramaturg.run.interview.study", "InterviewStudy"),
    Document.ITEM_SET: ("dramaturg.stage.interview.item_set", "ItemSetHead"),
    Document.ITEM: ("dramaturg.stage.interview.item", "Item"),
    Document.CHARACTER: ("dramaturg.stage.cast.character", "Character"),
    Document.REPLY: ("dramaturg.run.interview.reply_row", "ReplyRow"),
}
"""Module and name of what describes each document; imported when it is asked for."""


def schema(document: Annotated[Document, typer.Argument(help="What to describe.")]) -> None:
    """Print the JSON schema of a file format."""
    module, name = _MODELS[document]
    model: type[BaseModel] = getattr(importlib.import_module(module), name)
    published = model.model_json_schema()
    say_json({"$schema": "https://json-schema.org/draft/2020-12/schema", **published})
