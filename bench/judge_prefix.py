"""Judging one question per call, in modes `single` and `probability`: the transcript's tokens are computed once, not
once per question.

Budget: tokens computed ≤ 1.2 × (L + Σ question and answer tokens), where L is what all questions share. Without a
shared prefix it would be about m × L. Pulls the embedded model where it is not there yet.

    python bench/judge_prefix.py [--json] [--model embedded:smollm2-135m] [--questions 38] [--mode probability]
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from dramaturg.errors import UserError
from dramaturg.files import load_yaml, shipped
from dramaturg.judge.checklist import Checklist, Mode, judge_transcript
from dramaturg.judge.checklist.asking import opening
from dramaturg.ledger import Ledger
from dramaturg.model import Model, Sampling, parse_spec
from dramaturg.model.opening import Models
from dramaturg.model.pull import pull
from dramaturg.stage.transcript import Outcome, Player, Role, Scenario, Transcript, Turn
from figures import Figure, at_most, show

NAME = "tokens computed / (L + questions and answers)"
MODES: tuple[Mode, ...] = ("single", "probability")
BUDGET = 1.2
TURNS = 50

ROLES = {"judge": "Margaret Ellwood", "prosecutor": "Oliver Crane", "witness": "Ida Quill", "defence": "Nadia Holt"}
LINES = (
    ("judge", "The court has heard point {n}. Mr Crane, you may put your next question about the bamboo screen."),
    ("prosecutor", "Ms Quill, exhibit E{n} shows pole {n}. Tell the court in what state you found that pole, please."),
    ("witness", "Pole {n} had a clean cut on one side, and it lay near post {n} of the hedge bank, as I remember it."),
    (
        "defence",
        "Your Honour, gusts of {n} km/h were recorded that night, and nobody saw a saw at post {n} of the bank.",
    ),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """What one judging took.

    Attributes:
        questions: How many were asked.
        shared: Tokens that all questions share (L).
        own: Tokens of questions and answers together.
        computed: Prompt tokens that were not cached, and generated tokens.
        seconds: Wall time.
        answered: Questions that got an answer.
    """

    questions: int
    shared: int
    own: int
    computed: int
    seconds: float
    answered: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="embedded:smollm2-135m")
    parser.add_argument("--questions", type=int, default=38)
    parser.add_argument("--mode", choices=MODES, action="append", help="both where none is given")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures: list[Figure] = []
    for mode in options.mode or MODES:
        try:
            figures += report(asyncio.run(measure(options.model, options.questions, mode)), mode)
        except UserError as problem:  # no weights to be had, or no runtime for them
            figures.append(Figure(f"{mode}: {NAME}", None, BUDGET, None, f"not measured: {problem}"))
    show(figures, as_json=options.json)


async def measure(spec: str, questions: int, mode: Mode) -> Measured:
    transcript, checklist = synthetic_trial(), court_questions(questions)
    if (parsed := parse_spec(spec)).provider == "embedded":
        pull(parsed.name)
    with tempfile.TemporaryDirectory() as folder:
        async with Models() as models:
            judge = await models.open(spec)
            with Ledger.open(Path(folder) / "ledger.db") as ledger:
                started = time.monotonic()
                calls = ledger.calls(unit="judging", seed=1)
                found = await judge_transcript(transcript, checklist, judge=judge, calls=calls, mode=mode)
                seconds = time.monotonic() - started
                shared = await shared_tokens(judge, ledger, transcript)
                (use,) = [use for use in ledger.uses() if use.purpose == "indicator"]
    return Measured(
        questions=len(found),
        shared=shared,
        own=use.input_tokens - use.calls * shared + use.output_tokens,
        computed=use.input_tokens - use.cached_tokens + use.output_tokens,
        seconds=seconds,
        answered=sum(judgement.answer != "missing" for judgement in found),
    )


async def shared_tokens(judge: Model, ledger: Ledger, transcript: Transcript) -> int:
    """Returns how many tokens the server counts for the messages that all questions share."""
    asked = await ledger.calls(unit="length", seed=1).ask(
        judge, opening(transcript, "en"), step="length", role="judge", purpose="length", sampling=Sampling(max_tokens=1)
    )
    return asked.reply.usage.input_tokens or 0


def report(measured: Measured, mode: Mode) -> list[Figure]:
    fair = measured.shared + measured.own
    detail = (
        f"{measured.questions} questions, L = {measured.shared}, questions and answers {measured.own}, computed "
        f"{measured.computed} tokens in {measured.seconds:.0f} s; {measured.answered} answered"
    )
    naive = measured.computed / (measured.questions * measured.shared)
    return [
        at_most(f"{mode}: {NAME}", measured.computed / fair, BUDGET, detail),
        Figure(
            f"{mode}: tokens computed / (m × L)", round(naive, 4), None, None, "without a shared prefix it is above 1"
        ),
    ]


def court_questions(number: int) -> Checklist:
    """Returns the court checklist with so many of its indicators, none of them proved by the transcript."""
    court = load_yaml(shipped("checklists")["court"], Checklist)
    asked = tuple(indicator.model_copy(update={"proof": None}) for indicator in court.indicators[:number])
    return court.model_copy(update={"indicators": asked})


def synthetic_trial() -> Transcript:
    """Returns a trial of about 2,500 tokens in which no two turns are equal."""
    turns = [
        Turn(id=f"T{n + 1}", role=role, speaker=ROLES[role], text=text.format(n=n + 1), phase="interrogation")
        for n in range(TURNS)
        for role, text in (LINES[n % len(LINES)],)
    ]
    return Transcript(
        id="bench",
        suite="court",
        protocol="paper",
        scenario=Scenario(id="bench", title="Bench", reference="A claim for the destruction of bamboo structures."),
        roles=tuple(Role(id=role, kind=role, name=name) for role, name in ROLES.items()),
        cast={role: Player(kind="script" if role == "defence" else "model") for role in ROLES},
        seed=1,
        turns=tuple(turns),
        outcome=Outcome(label="win"),
        end_reason="completed",
    )


if __name__ == "__main__":
    main()
