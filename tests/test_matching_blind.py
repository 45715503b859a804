"""Two hundred replies with the verdict that a reader gave each, written without a look at the rules that read them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dramaturg.facts import Fact
from dramaturg.judge.matching import Question, ReplyText, robust

_FILE = Path(__file__).parent / "matching_replies.jsonl"
_FACTS = ("in_character", "knows")
CASES: list[dict[str, Any]] = [json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_reply_is_read_as_its_reader_read_it(case: dict[str, Any]) -> None:
    given = dict(case["question"])
    given["facts"] = tuple(Fact.model_validate(fact) for fact in given.get("facts", ()))
    given["labels"] = tuple(given.get("labels", ()))
    text = case["reply"]
    if text is not None:
        text *= case.get("repeat", 1)
    verdict = robust(Question(**given), ReplyText(text, "cut" if case.get("truncated") else "whole"))
    assert verdict.status == case["right"]["status"], case["why"]
    if given["kind"] not in _FACTS and "answer" in case["right"]:
        assert verdict.answer == case["right"]["answer"], case["why"]


def test_two_hundred_replies_are_read() -> None:
    assert len({case["id"] for case in CASES}) == 200
