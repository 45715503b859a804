"""What calls cost: known with its source, or unknown; never guessed."""

from __future__ import annotations

import pytest

from dramaturg.model import Identity, Usage
from dramaturg.model.prices import price_of


def test_small_model_is_not_priced_like_the_large_one() -> None:  # C11
    small, large = price_of(Identity("openai", "gpt-4o-mini")), price_of(Identity("openai", "gpt-4o"))
    assert small is not None and large is not None
    million = Usage(input_tokens=1_000_000)
    assert small.cost(million) == pytest.approx(0.15)
    assert large.cost(million) > 10 * small.cost(million)
    assert small.source.startswith("genai-prices ")


@pytest.mark.parametrize(
    "identity", [Identity("openai", "gpt-99-nowhere"), Identity("ollama", "gpt-4o"), Identity("http", "gpt-4o")]
)
def test_unknown_stays_unknown(identity: Identity) -> None:  # C11
    assert price_of(identity) is None


@pytest.mark.parametrize("provider", ["embedded", "gguf", "hf", "script", "human"])
def test_what_runs_here_is_free(provider: str) -> None:
    price = price_of(Identity(provider, "x"))
    assert price is not None
    assert price.cost(Usage(10, 0, 10, 0)) == 0.0


def test_cached_tokens_are_cheaper_and_a_wrong_report_is_survived() -> None:
    price = price_of(Identity("openai", "gpt-4o-mini"))
    assert price is not None
    assert price.cost(Usage(1000, 1000, 0, 0)) < price.cost(Usage(1000, 0, 0, 0))
    assert price.cost(Usage(10, 1000, 0, 0)) == price.cost(Usage(10, 10, 0, 0))
    assert price.cost(Usage()) == 0.0
