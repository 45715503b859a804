"""The load of a unit: how many calls and tokens it takes, from limits and texts alone."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import assert_never

from dramaturg.judge.audit.binding import JUDGES_PROMPTS
from dramaturg.judge.checklist import JUDGE_TOKENS, expected_calls
from dramaturg.prompts import load_prompt, prompt_names
from dramaturg.run.court import performance_calls, performance_turns, trial_limits
from dramaturg.run.material import JudgeBench, StagedCase
from dramaturg.run.study import Study
from dramaturg.run.units import JudgeUnit, StageUnit, Unit

ASCII_PER_TOKEN = 3
"""Fewest ASCII letters of prose to a token: real tokenizers need four to five."""

TOKENS_PER_NOTE = 80
"""Most tokens around a turn's text: the note of the procedure before it, its id, its speaker."""

SEVERAL_PER_CALL = frozenset({"joint", "grouped", "paper"})
"""Modes of judging that put several questions into one call."""


@dataclass(frozen=True, slots=True)
class Load:
    """What a unit takes.

    Attributes:
        least_calls: Calls when nothing goes wrong and everything ends early.
        most_calls: Calls when everything goes wrong and nothing ends early; equal to the least where it is fixed.
        input_tokens: Tokens read, at most.
        output_tokens: Tokens written, at most.
    """

    least_calls: int = 0
    most_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Load) -> Load:
        """Returns what both take."""
        return Load(
            self.least_calls + other.least_calls,
            self.most_calls + other.most_calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )


def load_of(unit: Unit, study: Study) -> Load:
    """Returns what a unit takes; nothing is asked."""
    match unit:
        case StageUnit():
            return _stage_load(unit, study)
        case JudgeUnit():
            return _judge_load(unit, study)
        case _:
            assert_never(unit)


def _stage_load(unit: StageUnit, study: Study) -> Load:
    least, most = performance_calls(unit, study)
    limits = trial_limits(study.limits)
    written = max(limits.speech_tokens, limits.summary_tokens, limits.verdict_tokens)
    if study.protocol == "guarded":  # a form that was cut is asked for again, with room for twice as much
        written *= 2
    read = _prompt_tokens(judges=False) + _case_tokens(unit.case) + _dialogue_tokens(unit, study) + written
    return Load(least, most, most * read, most * written)


def _judge_load(unit: JudgeUnit, study: Study) -> Load:
    bench = unit.bench
    turns, _ = performance_turns(unit.stage, study)
    least, most = expected_calls(bench.checklist, mode=bench.mode, votes=bench.votes, turns=turns)
    written = JUDGE_TOKENS[bench.mode]
    questions = _checklist_tokens(bench) if bench.mode in SEVERAL_PER_CALL else 0
    performance = _case_tokens(unit.stage.case) + _dialogue_tokens(unit.stage, study)
    read = _prompt_tokens(judges=True) + performance + questions + written
    return Load(least, most, most * read, most * written)


def _dialogue_tokens(unit: StageUnit, study: Study) -> int:
    """Returns the tokens of a whole performance, at most; what a person or a script says has a limit of its own."""
    limits = trial_limits(study.limits)
    turns, of_others = performance_turns(unit, study)
    more = max(0, limits.heard_characters // ASCII_PER_TOKEN - limits.speech_tokens)
    return turns * (limits.speech_tokens + TOKENS_PER_NOTE) + of_others * more


@functools.lru_cache(maxsize=1024)
def _case_tokens(staged: StagedCase) -> int:
    return most_tokens(staged.case.model_dump_json())


@functools.lru_cache(maxsize=1024)
def _checklist_tokens(bench: JudgeBench) -> int:
    return most_tokens(bench.checklist.model_dump_json())


@functools.cache
def _prompt_tokens(*, judges: bool) -> int:
    """Returns the tokens of all prompts of one side together: no call takes more of them."""
    names = [name for name in prompt_names() if name.startswith(JUDGES_PROMPTS) == judges]
    return sum(most_tokens(load_prompt(name).source) for name in names)


def most_tokens(text: str) -> int:
    """Returns the tokens of a text, at most: one for three ASCII letters, one for each byte of any other."""
    size = len(text.encode("utf-8", "replace"))
    ascii_size = sum(letter.isascii() for letter in text)
    return ascii_size // ASCII_PER_TOKEN + size - ascii_size + 1
