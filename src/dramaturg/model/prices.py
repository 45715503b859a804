"""What calls cost: genai-prices, with the date of its data. Unknown stays unknown."""

from __future__ import annotations

from dataclasses import dataclass

from dramaturg.model.model import Identity
from dramaturg.model.reply import Usage

FREE = frozenset({"embedded", "gguf", "hf", "script", "human"})
"""Providers that run on this machine: nobody sends a bill."""


@dataclass(frozen=True, slots=True)
class Price:
    """The price of one model.

    Attributes:
        source: Where it comes from, with its date; empty for a local model.
        identity: Which model.
    """

    identity: Identity
    source: str

    def cost(self, usage: Usage) -> float:
        """Returns US dollars for these tokens; tokens that are not known count as none.

        Args:
            usage: Tokens of one call, or of many of the same kind.
        """
        if self.identity.provider in FREE:
            return 0.0
        from genai_prices import Usage as PricedUsage
        from genai_prices import calc_price

        input_tokens = usage.input_tokens or 0
        priced = PricedUsage(
            input_tokens=input_tokens,
            cache_read_tokens=min(usage.cached_tokens or 0, input_tokens),
            output_tokens=usage.output_tokens or 0,
        )
        return float(calc_price(priced, model_ref=self.identity.name, provider_id=self.identity.provider).total_price)


def price_of(identity: Identity) -> Price | None:
    """Returns the model's price, or None where none is known.

    Source: the package genai-prices; prices are those of its release, per token, in US dollars.
    """
    if identity.provider in FREE:
        return Price(identity, "")
    if identity.provider not in {"openai", "openrouter"}:
        return None
    import importlib.metadata

    version = importlib.metadata.version("genai-prices")
    price = Price(identity, f"genai-prices {version}")
    try:
        price.cost(Usage(input_tokens=1, output_tokens=1))
    except LookupError:
        return None
    return price
