"""Scripted judges: what tests of judging ask with, and what they get."""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from dramaturg.judge.checklist import Checklist, Long, Mode, Wording, judge_transcript
from dramaturg.judge.judgement import Judgement
from dramaturg.ledger import Budget, Calls, Ledger
from dramaturg.model import ModelFacts, Reply, Request, TokenLogprob
from dramaturg.model.script import ScriptModel
from dramaturg.stage.transcript import Transcript
from judge_fixtures import checklist, trial

SMALL = checklist()
Answer = Callable[[Request], Reply | str]


def answer(said: str = "yes", evidence: object = ("T2",), reasoning: str = "The court was led.") -> str:
    return json.dumps({"reasoning": reasoning, "answer": said, "evidence": evidence})


def scripted(answers: Answer) -> tuple[ScriptModel, list[Request]]:
    """Returns a judge that answers as the function says, and the requests that it gets."""
    requests: list[Request] = []

    def reply(request: Request) -> tuple[Reply, float]:
        requests.append(request)
        said = answers(request)
        return (said if isinstance(said, Reply) else Reply("ok", text=said)), 0.0

    return ScriptModel(Path("judge.yaml"), "0" * 64, reply), requests


@contextmanager
def calls_in(folder: Path, budget: Budget | None = None) -> Iterator[Calls]:
    with Ledger.open(folder / "ledger.db") as ledger:
        yield ledger.calls(unit="unit", seed=1, budget=budget)


async def judged(
    folder: Path,
    answers: Answer,
    *,
    by: Checklist = SMALL,
    mode: Mode = "single",
    votes: int = 1,
    transcript: Transcript | None = None,
    concurrency: int | None = None,
    facts: ModelFacts | None = None,
    indicators: Sequence[str] | None = None,
    long: Long = "refuse",
    ask: Wording = "presence",
) -> tuple[dict[str, Judgement], list[Request]]:
    """Returns the judgements by indicator, and every request that was sent."""
    model, requests = scripted(answers)
    if facts is not None:
        model = replace(model, facts=facts)
    with calls_in(folder) as calls:
        found = await judge_transcript(
            transcript or trial(),
            by,
            judge=model,
            calls=calls,
            mode=mode,
            votes=votes,
            concurrency=concurrency,
            indicators=indicators,
            long=long,
            ask=ask,
        )
    wanted = [indicator.id for indicator in by.indicators if indicators is None or indicator.id in indicators]
    assert [judgement.indicator for judgement in found] == wanted
    return {judgement.indicator: judgement for judgement in found}, requests


def listed(*answers: dict[str, object]) -> str:
    return json.dumps({"answers": list(answers)})


def item(name: str, said: str = "yes", **more: object) -> dict[str, object]:
    return {"id": name, "reasoning": f"About {name}.", "answer": said, "evidence": ["T2"], **more}


def logprobs(*tokens: tuple[str, Mapping[str, float]]) -> tuple[TokenLogprob, ...]:
    """Returns written tokens, each with the probabilities of it and its rivals."""
    return tuple(
        TokenLogprob(token, math.log(rivals[token]), tuple((text, math.log(p)) for text, p in rivals.items()))
        for token, rivals in tokens
    )


def likely(**probabilities: float) -> Reply:
    """Returns a reply of one word with its rivals; the first is what was written."""
    word = next(iter(probabilities))
    return Reply("truncated", text=word, logprobs=logprobs((word, probabilities)))


def in_form(mode: Mode, request: Request, said: str) -> Reply | str:
    """Returns a reply that answers everything that a request asks with one word, in the mode's form."""
    last = request.messages[-1].text
    match mode:
        case "joint" | "grouped":
            return listed(*(item(name, said) for name in re.findall(r"^([A-Z]+-\d+): ", last, re.MULTILINE)))
        case "paper":
            numbers = re.findall(r"^Q(\d+) - ", last.partition("Answer every")[0], re.MULTILINE)
            return "\n".join(f"Q{number} - as asked: {said} (reasoning: seen)" for number in numbers)
        case "single" | "windowed":
            return answer(said)
        case "probability" | "glance":
            return likely(**{said: 0.9})
        case _:
            assert_never(mode)
