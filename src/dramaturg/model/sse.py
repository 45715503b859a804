"""Streamed answers: server-sent events of an OpenAI-compatible server, put together as they come."""

from __future__ import annotations

import json
import time
from typing import Any, cast

from dramaturg.model.model import OnText
from dramaturg.model.reasoning import split_reasoning
from dramaturg.model.reply import Reply, Usage
from dramaturg.model.wire import content_text, error_message, finish_reply, read_usage


class StreamedAnswer:
    """Collects the pieces of one streamed answer and shows the visible text as it grows."""

    def __init__(self, on_text: OnText, *, started: float) -> None:
        """Starts to collect.

        Args:
            on_text: Receives each piece of visible text.
            started: `time.perf_counter()` when the attempt began.
        """
        self._on_text = on_text
        self._started = started
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._shown = ""
        self._usage = Usage()
        self._served_by = ""
        self._finish_reason = ""
        self._first_token_s: float | None = None
        self.error = ""

    def feed(self, line: bytes) -> None:
        """Takes one line of the stream; what is no event is passed over."""
        text = line.decode("utf-8", "replace").strip()
        if not text.startswith("data:"):
            return
        data = text.removeprefix("data:").strip()
        if not data or data == "[DONE]":
            return
        try:
            event: object = json.loads(data)
        except ValueError:
            self.error = self.error or "an event of the stream is no JSON"
            return
        if not isinstance(event, dict):
            return
        fields = cast("dict[str, Any]", event)
        if fields.get("error"):
            self.error = error_message(data)
            return
        self._take(fields)

    def _take(self, event: dict[str, Any]) -> None:
        if event.get("usage"):
            self._usage = read_usage(event["usage"])
        self._served_by = str(event.get("model") or self._served_by)
        choices = event.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            return
        choice = cast("dict[str, Any]", choices[0])
        self._finish_reason = str(choice.get("finish_reason") or self._finish_reason)
        delta = choice.get("delta") or choice.get("message")
        if not isinstance(delta, dict):
            return
        pieces = cast("dict[str, Any]", delta)
        content = content_text(pieces.get("content"))
        self._reasoning.append(content_text(pieces.get("reasoning_content") or pieces.get("reasoning")))
        self._refusal.append(content_text(pieces.get("refusal")))
        if (content or self._reasoning[-1]) and self._first_token_s is None:
            self._first_token_s = time.perf_counter() - self._started
        if content:
            self._content.append(content)
            self._show()

    def _show(self) -> None:
        visible, _, _ = split_reasoning("".join(self._content))
        if visible.startswith(self._shown) and len(visible) > len(self._shown):
            self._on_text(visible[len(self._shown) :])
            self._shown = visible

    @property
    def finished(self) -> bool:
        """Whether the server said why it stopped."""
        return bool(self._finish_reason)

    def reply(self, *, max_tokens: int) -> Reply:
        """Returns the reply that the pieces make."""
        return finish_reply(
            content="".join(self._content),
            reasoning="".join(self._reasoning),
            refusal="".join(self._refusal),
            finish_reason=self._finish_reason,
            max_tokens=max_tokens,
            usage=self._usage,
            served_by=self._served_by,
            first_token_s=self._first_token_s,
        )
