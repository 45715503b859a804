"""The one way in which a unit asks: replay what was answered, else send, commit, and only then return."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from dramaturg.model import AnswerSchema, Asked, Message, Model, OnText, Sampling

if TYPE_CHECKING:
    from pydantic import BaseModel

    from dramaturg.model.structured import Structured

DEFAULT_SAMPLING = Sampling()
AnswerT = TypeVar("AnswerT", bound="BaseModel")


class Calls(Protocol):
    """Calls of one unit. `dramaturg.ledger.Ledger.calls` makes it."""

    async def ask(
        self,
        model: Model,
        messages: Sequence[Message],
        *,
        step: str,
        role: str,
        purpose: str,
        attempt: int = 0,
        sampling: Sampling = DEFAULT_SAMPLING,
        schema: AnswerSchema | None = None,
        labels: Mapping[str, str] | None = None,
        on_text: OnText | None = None,
    ) -> Asked:
        """Returns the committed answer to one logical request.

        Args:
            model: Who is asked.
            messages: The chat.
            step: Path of this call inside its unit, for example ``turn/12``; with `attempt` it makes the seed.
            role: Who speaks (judge, prosecutor …), for costs and scripts.
            purpose: What for (speech, route, verdict, indicator …), for costs and scripts.
            attempt: 0, then 1, 2 … for a redraw or re-ask of the same step.
            sampling: Parameters of the answer.
            schema: Shape of the answer.
            labels: More labels for scripts (phase, turn …).
            on_text: Receives streamed text.

        Raises:
            UnitStopped: The endpoint failed; the call is asked again on the next run.
            LimitReached: A budget is used up, or the run is replay-only and this call is new.
        """
        ...

    async def ask_structured(
        self,
        model: Model,
        messages: Sequence[Message],
        answer: type[AnswerT],
        *,
        step: str,
        role: str,
        purpose: str,
        attempt: int = 0,
        sampling: Sampling = DEFAULT_SAMPLING,
        labels: Mapping[str, str] | None = None,
        lines: str = "",
    ) -> Structured[AnswerT]:
        """Returns a validated value or a typed failure, never a default; see `dramaturg.model.structured`."""
        ...

    async def human(
        self, read: Callable[[], Awaitable[str]], *, step: str, role: str, purpose: str, attempt: int = 0
    ) -> Asked:
        """Returns what a person said at this step, committed before it is used; a replay does not read again."""
        ...
