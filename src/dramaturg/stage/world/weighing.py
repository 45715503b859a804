"""How important memories are, by the model that remembers: one short call for all that are new.

Source: J. S. Park et al., "Generative Agents", 2023, section 4.1: a whole number from 1 to 10 for each memory.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field

from dramaturg.model import Message, Sampling
from dramaturg.model.structured import Structured
from dramaturg.stage.cast import ModelSeat
from dramaturg.stage.court.speech import one_line
from dramaturg.stage.world.memory import Memory, shortened
from dramaturg.stage.world.scene import SceneCharacter
from dramaturg.stage.world.setting import Setting

PURPOSE = "importance"

LEAST, GREATEST = 1, 10
"""Ends of the scale."""

BATCH = 20
"""Most memories of one call; the newest are asked for first."""

MEMORY_TOKENS = 60
"""Most tokens, estimated, of one memory in the question."""

_TOKENS_PER_NUMBER = 6
_NUMBER = re.compile(r"\d{1,3}")


def _numbers(value: object) -> object:
    """Returns the numbers of a line, which an answer in labelled lines is."""
    return [int(number) for number in _NUMBER.findall(value)] if isinstance(value, str) else value


class Importances(BaseModel):
    """A number for each memory, in the order in which they were told."""

    importance: Annotated[list[Annotated[int, Field(ge=LEAST, le=GREATEST)]], BeforeValidator(_numbers)]


async def weigh(
    setting: Setting, character: SceneCharacter, seat: ModelSeat, memories: Sequence[Memory], *, step: str, round: int
) -> Structured[Importances]:
    """Returns what the player of a character says of memories; they may be fewer or more than were asked for.

    Args:
        setting: The play.
        character: Who remembers.
        seat: Who plays it.
        memories: At most `BATCH`.
        step: Of the call.
        round: The round it is now.
    """
    told = "\n".join(
        f"{number}. {one_line(shortened(memory.text, MEMORY_TOKENS))}"
        for number, memory in enumerate(memories, start=1)
    )
    asked = setting.prompt("importance").fill(
        name=one_line(character.name),
        profile=shortened(setting.profile(character), 4 * MEMORY_TOKENS),
        memories=told,
        count=str(len(memories)),
    )
    return await setting.calls.ask_structured(
        seat.model,
        [Message("user", asked)],
        Importances,
        step=step,
        role="character",
        purpose=PURPOSE,
        sampling=Sampling(0.0, 24 + _TOKENS_PER_NUMBER * len(memories)),
        labels={"phase": f"round-{round}", "turn": str(round)},
        lines=setting.prompt("importance-lines").fill(count=str(len(memories))),
        language=setting.language,
    )


def shares(numbers: Sequence[int]) -> list[float]:
    """Returns numbers of the scale as importances from 0 to 1."""
    return [(number - LEAST) / (GREATEST - LEAST) for number in numbers]
