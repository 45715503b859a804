"""The limits of a trial: always on, whatever a model says or does not say."""

from __future__ import annotations

from dataclasses import dataclass, fields

from dramaturg.errors import UserError


@dataclass(frozen=True, slots=True)
class TrialLimits:
    """What a trial may use. With the defaults it takes 10 to 28 turns and fits into 8,192 tokens.

    Attributes:
        questions: Most questions that may be granted to a side.
        turns: Most turns; the procedure's own limit where that is lower.
        restarts: Most new beginnings under the protocol `paper`.
        redraws: Most new draws of one turn under the protocol `guarded`.
        empty_turns: Turns without a word after which a guarded trial ends.
        speech_tokens: Most tokens of one turn.
        summary_tokens: Most tokens of one part of the summary.
        verdict_tokens: Most tokens of the verdict.
        part_characters: Most characters of dialogue that are summarised at once.
        heard_characters: Most characters of a turn that is taken with cures; more is cut off.
        temperature: Of every speech.
    """

    questions: int = 3
    turns: int = 60
    restarts: int = 3
    redraws: int = 2
    empty_turns: int = 3
    speech_tokens: int = 110
    summary_tokens: int = 240
    verdict_tokens: int = 220
    part_characters: int = 16_000
    heard_characters: int = 2_000
    temperature: float = 0.7

    def __post_init__(self) -> None:
        """Checks the range of every limit.

        Raises:
            UserError: One is too small.
        """
        for field in fields(self):
            least = 0 if field.name in {"restarts", "redraws", "temperature"} else 1
            if getattr(self, field.name) < least:
                raise UserError(f"trial limit {field.name} is too small", allowed=f"at least {least}")


DEFAULT_LIMITS = TrialLimits()
