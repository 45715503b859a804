"""The published schemas: every document has one, and it describes what is read and written."""

from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner

from dramaturg.cli.schema import Document, schema

APP = typer.Typer()
APP.command()(schema)


@pytest.mark.parametrize("document", Document)
def test_every_document_has_a_schema(document: Document) -> None:
    result = CliRunner().invoke(APP, [document.value])
    assert result.exit_code == 0, result.output
    published = json.loads(result.stdout)
    assert published["$schema"].endswith("2020-12/schema")
    assert published["type"] == "object" or "$ref" in published or "oneOf" in published


def test_the_schema_of_a_world_study_knows_raters_memory_and_prompts() -> None:
    published = json.loads(CliRunner().invoke(APP, ["world-study"]).stdout)
    assert {"raters", "memory", "prompts", "scenes", "narrator"} <= set(published["properties"])
    assert set(published["$defs"]["Rating"]["properties"]) == {"model", "rubric", "mode", "votes"}
