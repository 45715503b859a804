"""Streamed answers: server-sent events of an OpenAI-compatible server, put together as they come."""

from __future__ import annotations

import json
import time
from typing import Any, cast

from dramaturg.model.model import OnText
from dramaturg.model.problem import error_message
from dramaturg.model.reasoning import show_safely, split_reasoning
from dramaturg.model.reply import Reply, TokenLogprob, Usage
from dramaturg.model.wire import finish_reply, message_texts, read_logprobs, read_usage, server_name


class StreamedAnswer:
    """Collects the pieces of one streamed answer and shows the visible text as it grows.

    Attributes:
        error: What the server said when it broke off; empty when it did not.
        shown: The text that was shown.
        finished: Whether the server said that it was done.
    """

    def __init__(self, on_text: OnText, *, started: float) -> None:
        """Starts to collect.

        Args:
            on_text: Receives each piece of visible text.
            started: `time.perf_counter()` when the attempt began.
        """
        self.error = ""
        self.shown = ""
        self.finished = False
        self._on_text = on_text
        self._started = started
        self._line = bytearray()
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._logprobs: list[TokenLogprob] = []
        self._usage = Usage()
        self._served_by = ""
        self._finish_reason = ""
        self._first_token_s: float | None = None

    def feed(self, data: bytes) -> None:
        """Takes the next bytes of the stream, wherever they were cut; what is no event is passed over."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._line += line
            self._read(bytes(self._line).decode("utf-8", "replace"))
            self._line.clear()
        self._line += rest

    def end(self) -> None:
        """Takes note that no byte will follow: what was held back is shown."""
        if self._line:
            self.feed(b"\n")
        self._show(split_reasoning("".join(self._content))[0])

    def _read(self, line: str) -> None:
        field, _, data = line.strip().partition(":")
        data = data.strip()
        if field != "data" or not data:
            return
        if data == "[DONE]":
            self.finished = True
            return
        try:
            event: object = json.loads(data)
        except (ValueError, RecursionError):
            self.error = self.error or "an event of the stream is no JSON"
            return
        if not isinstance(event, dict):
            return
        fields = cast("dict[str, Any]", event)
        if fields.get("error") or fields.get("object") == "error":
            self.error = error_message(data)
        else:
            self._take(fields)

    def _take(self, event: dict[str, Any]) -> None:
        if event.get("usage"):
            self._usage = read_usage(event["usage"])
        self._served_by = server_name(event) or self._served_by
        choices = event.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            return
        choice = cast("dict[str, Any]", choices[0])
        if choice.get("finish_reason"):
            self._finish_reason = str(choice["finish_reason"])
            self.finished = True
            if self._finish_reason == "error":
                self.error = error_message(json.dumps(choice))
        self._logprobs += read_logprobs(choice.get("logprobs"))
        delta = choice.get("delta") or choice.get("message")
        if not isinstance(delta, dict):
            return
        content, reasoning, refusal = message_texts(cast("dict[str, Any]", delta))
        self._reasoning.append(reasoning)
        self._refusal.append(refusal)
        if (content or reasoning) and self._first_token_s is None:
            self._first_token_s = time.perf_counter() - self._started
        if content:
            self._content.append(content)
            self._show(show_safely("".join(self._content)))

    def _show(self, visible: str) -> None:
        if visible.startswith(self.shown) and len(visible) > len(self.shown):
            self._on_text(visible[len(self.shown) :])
            self.shown = visible

    def reply(self, *, max_tokens: int) -> Reply:
        """Returns the reply that the pieces make.

        Args:
            max_tokens: The limit that was asked for, named when the answer was cut.
        """
        return finish_reply(
            content="".join(self._content),
            reasoning="".join(self._reasoning),
            refusal="".join(self._refusal),
            finish_reason=self._finish_reason,
            max_tokens=max_tokens,
            usage=self._usage,
            logprobs=tuple(self._logprobs),
            served_by=self._served_by,
            first_token_s=self._first_token_s,
        )
