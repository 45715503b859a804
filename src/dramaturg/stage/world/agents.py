"""An agent: somebody who is asked again and again in one chat that only grows at its end.

Its system prompt comes first; what it hears and what it is asked to do are the user's messages, its own answers the
assistant's. So each prompt begins with the whole of the one before, and a server computes each token once. What comes
to its mind stands in the newest message, never before what stood there already. A chat that grows too long begins anew
with what the agent knows by then.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from pydantic import BaseModel

from dramaturg.ledger.budget import estimated_tokens
from dramaturg.model import Asked, Message, OnText, Sampling
from dramaturg.model.structured import Structured
from dramaturg.stage.cast import ModelSeat
from dramaturg.stage.transcript import Role, Turn
from dramaturg.stage.world.chain import Made, deeper
from dramaturg.stage.world.chronicle import Chronicle, is_news
from dramaturg.stage.world.setting import Setting

AnswerT = TypeVar("AnswerT", bound=BaseModel)
ResultT = TypeVar("ResultT")

NO_WORDS = "…"
"""Stands in a chat for an answer without words: servers refuse an empty message."""

WARMER = 0.3
"""What a new draw adds to the temperature.

Of 35 new draws of a small model at one temperature, 12 were the same to the letter: what repeats is sure of itself.
"""

KEPT_CHARACTERS = 1_500
"""Most characters of an answer that nobody could read, as it stays in the chat."""


class OverflowedError(Exception):
    """A prompt does not fit, though its chat holds nothing any more that could be left out.

    Attributes:
        role: Id of the role that was asked.
    """

    def __init__(self, role: str) -> None:
        self.role = role
        super().__init__(role)


class Agent:
    """An agent.

    Attributes:
        role: What it plays.
        seat: Who plays it.
    """

    def __init__(self, setting: Setting, chronicle: Chronicle, role: Role, seat: ModelSeat, system: str) -> None:
        """Begins the chat.

        Args:
            setting: The play.
            chronicle: What has happened.
            role: What is played.
            seat: Who plays it.
            system: What the agent is told first.
        """
        self.role = role
        self.seat = seat
        self._setting = setting
        self._chronicle = chronicle
        self._messages: tuple[Message, ...] = (Message("system", system),)
        self._size = estimated_tokens(system)
        self._question = Message("user", "")
        self._news: list[tuple[str, str]] = []
        self._told = 0
        self._in_chat: set[str] = set()
        self._asked = 0
        self._changes: list[tuple[str, str]] = []
        self._cures: list[tuple[str, str]] = []

    def hears(self, turn: Turn) -> None:
        """Takes a turn, to be told of it when it is asked next.

        What is its own stands in its chat already, but for what a person did in its place.
        """
        if (turn.role == self.role.id and not turn.human) or not is_news(turn):
            self._in_chat.add(turn.id)
        elif turn.text and (not turn.seen_by or self.role.id in turn.seen_by):
            self._news.append((turn.id, self._setting.line(turn)))

    def settle(self) -> None:
        """Writes down, at the last turn, what changed in the agent and what was mended since this was done last.

        Whoever asks several agents at once settles them in one order, so that the record does not depend on time.
        """
        for name, value in self._changes:
            self._chronicle.change(self.role.id, name, value)
        for kind, detail in self._cures:
            self._chronicle.cure(kind, self.role.id, detail)
        self._changes.clear()
        self._cures.clear()

    async def write(
        self,
        task: str,
        *,
        purpose: str,
        sampling: Sampling,
        attempt: int = 0,
        on_text: OnText | None = None,
    ) -> Asked:
        """Returns an answer in free text; `keep` puts it into the chat.

        Args:
            task: What is asked.
            purpose: What for.
            sampling: Parameters.
            attempt: 0, then 1, 2 … where the same is drawn anew.
            on_text: Receives the text while it is being written.

        Raises:
            OverflowedError: The prompt does not fit, even in a new chat.
        """

        async def send(messages: Sequence[Message], step: str) -> Asked:
            asked = await self._setting.calls.ask(
                self.seat.model,
                messages,
                step=step,
                role=self.role.kind,
                purpose=purpose,
                attempt=attempt,
                sampling=sampling,
                labels=self._labels,
                on_text=on_text,
            )
            self._note([asked.key], purpose)
            return asked

        return await self._through(
            task, purpose, send, lambda asked: asked.reply.status == "context_overflow", again=attempt > 0
        )

    async def fill(
        self,
        task: str,
        answer: type[AnswerT],
        *,
        purpose: str,
        sampling: Sampling,
        lines: str = "",
        attempt: int = 0,
    ) -> Structured[AnswerT]:
        """Returns an answer in a form, or why there is none; `keep` puts it into the chat.

        Args:
            task: What is asked, and which keys the answer has.
            answer: The form.
            purpose: What for.
            sampling: Parameters.
            lines: The form in labelled lines, for an answer that is asked for again.
            attempt: 0, then 1, 2 … where the same is drawn anew.

        Raises:
            OverflowedError: The prompt does not fit, even in a new chat.
        """

        async def send(messages: Sequence[Message], step: str) -> Structured[AnswerT]:
            filled = await self._setting.calls.ask_structured(
                self.seat.model,
                messages,
                answer,
                step=step,
                role=self.role.kind,
                purpose=purpose,
                attempt=attempt,
                sampling=sampling,
                labels=self._labels,
                lines=lines,
                language=self._setting.language,
            )
            self._note(filled.keys, purpose)
            return filled

        return await self._through(
            task, purpose, send, lambda filled: filled.failure == "context_overflow", again=attempt > 0
        )

    def keep(self, answer: str) -> None:
        """Puts what was asked last, and the answer that counts, into the chat."""
        kept = answer.strip()
        if len(kept) > KEPT_CHARACTERS:
            kept = f"{kept[:KEPT_CHARACTERS].rstrip()} […]"
        self._messages = (*self._messages, self._question, Message("assistant", kept or NO_WORDS))
        self._size += estimated_tokens(self._question.text) + estimated_tokens(kept)
        self._in_chat |= {turn for turn, _ in self._news[: self._told]}
        del self._news[: self._told]

    def standing(self) -> str:
        """Returns what the agent knows by now, for a chat that begins anew."""
        raise NotImplementedError

    async def recollected(self, situation: str) -> str:
        """Returns what comes to the agent's mind, as a part of a message; empty where nothing does."""
        del situation
        return ""

    async def drawn(self, draw: Callable[[int], Awaitable[ResultT]], fault: Callable[[ResultT], str]) -> ResultT:
        """Returns what was drawn, anew where it had better be; each time is counted.

        Args:
            draw: Draws once; gets 0, then 1, 2 …
            fault: Why what was drawn had better be drawn anew; empty where it need not.
        """
        drawn = await draw(0)
        for attempt in range(1, self._setting.limits.redraws + 1):
            if not (why := fault(drawn)):
                break
            self._cures.append(("redraw", why))
            drawn = await draw(attempt)
        return drawn

    def sampling(self, most_tokens: int, attempt: int = 0) -> Sampling:
        """Returns the parameters of an answer of a length; each time that it is drawn anew, it is drawn warmer."""
        return Sampling(temperature=self._temperature + attempt * WARMER, max_tokens=most_tokens)

    @property
    def _temperature(self) -> float:
        return self._setting.limits.temperature

    async def _through(
        self,
        task: str,
        purpose: str,
        send: Callable[[Sequence[Message], str], Awaitable[ResultT]],
        overflows: Callable[[ResultT], bool],
        *,
        again: bool,
    ) -> ResultT:
        """Returns what an endpoint made of a task; in a new chat where the old one has become too long for it."""
        if not again:
            self._asked += 1
            await self._compose(task, anew=False)
            size = self._size + estimated_tokens(self._question.text)
            if len(self._messages) > 1 and size > self._setting.limits.chat_tokens:
                await self._compose(task, anew=True)
        step = f"round/{self._chronicle.round}/{self.role.id}/{self._asked}/{purpose}"
        result = await send((*self._messages, self._question), step)
        if not overflows(result):
            return result
        if len(self._messages) > 1:
            self._cures.append(("cut", "chat"))
            await self._compose(task, anew=True)
            result = await send((*self._messages, self._question), f"{step}/anew")
        if overflows(result):
            raise OverflowedError(self.role.id)
        return result

    async def _compose(self, task: str, *, anew: bool) -> None:
        """Makes the next message: what has happened, what comes to mind, what is asked."""
        if anew:
            self._messages = self._messages[:1]
            self._size = estimated_tokens(self._messages[0].text)
            self._in_chat.clear()
        self._told = len(self._news)
        news = "\n".join(line for _, line in self._news)
        parts = [self.standing()] if anew else []
        if news:
            parts.append(self._setting.prompt("news").fill(news=news))
        parts += [await self.recollected(news or task), task]
        self._question = Message("user", "\n\n".join(part for part in parts if part))

    def _note(self, keys: Sequence[str], purpose: str) -> None:
        for key in keys:
            depth = deeper()
            if self._setting.on_call is not None:
                self._setting.on_call(Made(key, self._chronicle.round, self.role.id, purpose, depth))

    @property
    def _labels(self) -> dict[str, str]:
        return {"phase": f"round-{self._chronicle.round}", "turn": str(self._chronicle.round)}
