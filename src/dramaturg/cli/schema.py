"""``dramaturg schema``: the published JSON schemas."""

from __future__ import annotations

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


def schema(document: Annotated[Document, typer.Argument(help="What to describe.")]) -> None:
    """Print the JSON schema of a file format."""
    published = _model(document).model_json_schema()
    say_json({"$schema": "https://json-schema.org/draft/2020-12/schema", **published})


def _model(document: Document) -> type[BaseModel]:
    match document:
        case Document.TRANSCRIPT:
            from dramaturg.stage.transcript import Transcript

            return Transcript
        case Document.STUDY:
            from dramaturg.run.study import Study

            return Study
        case Document.CHECKLIST:
            from dramaturg.judge.checklist.checklist import Checklist

            return Checklist
        case Document.JUDGEMENT:
            from dramaturg.judge.judgement import Judgement

            return Judgement
        case Document.CASE:
            from dramaturg.stage.court.case import Case

            return Case
        case Document.SCENE:
            from dramaturg.stage.world.scene import Scene

            return Scene
        case Document.BENCHMARK:
            from dramaturg.judge.checklist.benchmark import Benchmark

            return Benchmark
        case Document.INTERVIEW_STUDY:
            from dramaturg.run.interview.study import InterviewStudy

            return InterviewStudy
        case Document.ITEM_SET:
            from dramaturg.stage.interview.item_set import ItemSetHead

            return ItemSetHead
        case Document.ITEM:
            from dramaturg.stage.interview.item import Item

            return Item
        case Document.CHARACTER:
            from dramaturg.stage.cast.character import Character

            return Character
        case Document.REPLY:
            from dramaturg.run.interview.reply_row import ReplyRow

            return ReplyRow
