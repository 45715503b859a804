"""Budgets of a run: they stop it cleanly, before a call and never in the middle of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dramaturg.errors import LimitReached, UserError
from dramaturg.model import Identity, Request, Usage
from dramaturg.model.prices import Price, price_of

CHARACTERS_PER_TOKEN = 4
"""For estimates alone: what a server reports takes their place as soon as it is there."""

_FIRST_DENSE = 0x2E80
"""From here on (Chinese, Japanese, Korean, emoji) a character is about a token."""


def estimated_tokens(text: str) -> int:
    """Returns about how many tokens a text has: 4 ASCII characters each, 2 of other alphabets, 1 of what is dense."""
    if text.isascii():
        return len(text) // CHARACTERS_PER_TOKEN + 1
    ascii_count = sum(1 for character in text if character < "\x80")
    dense = sum(1 for character in text if ord(character) >= _FIRST_DENSE)
    return ascii_count // CHARACTERS_PER_TOKEN + (len(text) - ascii_count - dense) // 2 + dense + 1


@dataclass(frozen=True, slots=True)
class Reservation:
    """What one call in flight may use at most."""

    tokens: int
    cost: float
    price: Price | None


class Budget:
    """Counts new calls, tokens and dollars of one run; replayed calls are free."""

    def __init__(
        self, *, max_calls: int | None = None, max_tokens: int | None = None, max_cost: float | None = None
    ) -> None:
        """Makes a budget; None is no limit.

        Args:
            max_calls: Most new calls.
            max_tokens: Most tokens of new calls, input and output together.
            max_cost: Most US dollars of new calls.
        """
        self.max_calls = max_calls
        self.max_tokens = max_tokens
        self.max_cost = max_cost
        self.calls = 0
        self.replayed = 0
        self.tokens = 0
        self.output_tokens = 0
        self.cost = 0.0
        self._reserved_tokens = 0
        self._reserved_cost = 0.0
        self._prices: dict[Identity, Price | None] = {}

    def check_prices(self, identities: Mapping[str, Identity]) -> None:
        """Refuses to start under ``max_cost`` where a price is not known.

        Args:
            identities: Spec string → identity of each model of the run.

        Raises:
            UserError: A price is not known; the message names the model.
        """
        if self.max_cost is None:
            return
        for spec, identity in identities.items():
            if price_of(identity) is None:
                raise UserError(
                    f"--max-cost cannot hold: no price is known for {spec}", allowed="use --max-tokens instead"
                )

    def admit(self, request: Request, identity: Identity) -> Reservation:
        """Returns what is set aside for one new call.

        Raises:
            LimitReached: The call could pass a limit.
        """
        if self.max_calls is not None and self.calls >= self.max_calls:
            raise LimitReached("max_calls", f"{self.max_calls} calls were made")
        tokens, cost, price = 0, 0.0, None
        if self.max_tokens is not None or self.max_cost is not None:
            input_tokens = sum(estimated_tokens(message.text) for message in request.messages)
            tokens = input_tokens + request.sampling.max_tokens
            if self.max_cost is not None:
                price = self._price(identity)
                worst = Usage(input_tokens=input_tokens, output_tokens=request.sampling.max_tokens)
                cost = price.cost(worst) if price is not None else 0.0
        if self.max_tokens is not None and self.tokens + self._reserved_tokens + tokens > self.max_tokens:
            raise LimitReached(
                "max_tokens", f"{self.tokens} of {self.max_tokens} tokens are used; the next call may pass"
            )
        if self.max_cost is not None and self.cost + self._reserved_cost + cost > self.max_cost:
            raise LimitReached("max_cost", f"${self.cost:.4f} of ${self.max_cost} are spent; the next call may pass")
        self.calls += 1
        self._reserved_tokens += tokens
        self._reserved_cost += cost
        return Reservation(tokens, cost, price)

    def settle(self, reservation: Reservation, usage: Usage) -> None:
        """Puts what a call really used in the place of what was set aside.

        Args:
            reservation: What `admit` gave.
            usage: What the server reports; where it reports nothing, the reservation counts.
        """
        self._reserved_tokens -= reservation.tokens
        self._reserved_cost -= reservation.cost
        known = usage.input_tokens is not None and usage.output_tokens is not None
        self.tokens += (usage.input_tokens or 0) + (usage.output_tokens or 0) if known else reservation.tokens
        self.output_tokens += usage.output_tokens or 0
        if reservation.price is not None:
            self.cost += reservation.price.cost(usage) if known else reservation.cost

    def release(self, reservation: Reservation) -> None:
        """Gives back what was set aside for a call that was not made to its end."""
        self._reserved_tokens -= reservation.tokens
        self._reserved_cost -= reservation.cost

    def _price(self, identity: Identity) -> Price | None:
        if identity not in self._prices:
            self._prices[identity] = price_of(identity)
        return self._prices[identity]
