"""A model in this process for tests of the ledger: it counts what it is asked and answers as it is told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from dramaturg.ledger import Calls
from dramaturg.model import Asked, Identity, Message, ModelFacts, OnText, Reply, Request, Usage
from dramaturg.model.spec import Options
from dramaturg.text import sha256


def echo(request: Request) -> Reply:
    """Answers by the request alone."""
    digest = sha256(f"{request.messages[-1].text}\n{request.seed}")[:8] if request.messages else "nothing"
    return Reply("ok", text=f"I heard {digest}.", usage=Usage(10, 2, 5, 1), seconds=0.25, served_by="echo-1")


@dataclass
class CountingModel:
    """A model that counts.

    Attributes:
        answer: Gives the reply to a request.
        delay_s: Waited before each reply.
        name: Its name.
        options: As of a spec string.
        asked: Every request, oldest first.
        in_flight: Requests that wait for their reply.
        peak: Most requests in flight at once.
    """

    answer: Callable[[Request], Reply] = echo
    delay_s: float = 0.0
    name: str = "counting"
    options: Options = field(default_factory=Options)
    facts: ModelFacts = field(default_factory=ModelFacts)
    asked: list[Request] = field(default_factory=list)
    in_flight: int = 0
    peak: int = 0

    @property
    def identity(self) -> Identity:
        return Identity("script", self.name)

    async def send(self, request: Request, on_text: OnText | None = None) -> Reply:
        self.asked.append(request)
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            await asyncio.sleep(self.delay_s)
            reply = self.answer(request)
        finally:
            self.in_flight -= 1
        if on_text is not None and reply.text:
            on_text(reply.text)
        return reply

    async def embed(self, texts: Sequence[str]) -> None:
        return None

    async def close(self) -> None:
        return None


async def ask(
    calls: Calls, model: CountingModel, text: str = "Hello.", step: str = "turn/1", attempt: int = 0
) -> Asked:
    """Asks the simplest question."""
    return await calls.ask(model, [Message("user", text)], step=step, role="judge", purpose="speech", attempt=attempt)
