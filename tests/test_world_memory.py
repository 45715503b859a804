"""What a character remembers, and what comes to mind."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from dramaturg.ledger.budget import estimated_tokens
from dramaturg.model.embeddings import LEXICAL, WordsOnly
from dramaturg.stage.world.memory import (
    BUDGET_TOKENS,
    CUT_MARK,
    CharacterMemory,
    Recollection,
    Weights,
    importance,
    shortened,
)

ONLY_RECENCY = Weights(recency=1, relevance=0, importance=0)
ONLY_RELEVANCE = Weights(recency=0, relevance=1, importance=0)
ONLY_IMPORTANCE = Weights(recency=0, relevance=0, importance=1)

EVENTS = (
    "Mara hides the brass key under the loose floorboard.",
    "The captain orders everybody to stay on the bridge.",
    "Rain begins to fall upon the harbour and the boats.",
)


def _filled(weights: Weights, *, budget_tokens: int = 15, levels: Sequence[float] = (0.5, 0.5, 0.5)) -> CharacterMemory:
    memory = CharacterMemory(WordsOnly(), weights=weights, budget_tokens=budget_tokens)
    for at, (text, level) in enumerate(zip(EVENTS, levels, strict=True)):
        memory.remember(f"T{at + 1}", at, text, level)
    return memory


async def test_the_latest_comes_to_mind_by_recency() -> None:
    found = await _filled(ONLY_RECENCY).recall("Where is the key?", round=3)
    assert found.turns == ("T3",)


async def test_what_is_like_the_situation_comes_to_mind_by_relevance() -> None:
    found = await _filled(ONLY_RELEVANCE).recall("Where is the brass key?", round=3)
    assert found.turns == ("T1",)
    assert found.by == LEXICAL


async def test_what_matters_comes_to_mind_by_importance() -> None:
    found = await _filled(ONLY_IMPORTANCE, levels=(0.2, 0.9, 0.2)).recall("Where is the brass key?", round=3)
    assert found.turns == ("T2",)


async def test_the_weights_decide_between_what_is_late_and_what_is_like_the_situation() -> None:
    late = await _filled(Weights(recency=3)).recall("Where is the brass key?", round=3)
    alike = await _filled(Weights(relevance=3)).recall("Where is the brass key?", round=3)
    assert (late.turns, alike.turns) == (("T3",), ("T1",))


async def test_memories_come_in_the_order_of_events() -> None:
    found = await _filled(ONLY_RELEVANCE, budget_tokens=100).recall("rain upon the harbour", round=3)
    assert found.turns == ("T1", "T2", "T3")


async def test_a_long_profile_cannot_eat_the_memory() -> None:
    profile = "He was born by the sea and never forgets a face. " * 820
    assert estimated_tokens(profile) > 10_000
    short, long = _filled(Weights(), budget_tokens=100), _filled(Weights(), budget_tokens=100)
    long.remember("T4", 3, profile, 1.0)
    assert (await short.recall(profile, round=3)).turns == ("T1", "T2", "T3")
    found = await long.recall(profile, round=3)
    assert found.memories
    assert found.tokens <= 100


async def test_a_memory_larger_than_the_budget_is_cut_in_its_middle() -> None:
    memory = CharacterMemory(WordsOnly(), budget_tokens=30)
    memory.remember("T1", 0, f"It begins here. {'And on it goes. ' * 100}It ends there.", 1.0)
    (only,) = (await memory.recall("the end", round=1)).memories
    assert only.text.startswith("It begins here.")
    assert only.text.endswith("It ends there.")
    assert CUT_MARK in only.text


async def test_the_same_event_told_again_is_one_memory() -> None:
    memory = CharacterMemory(WordsOnly())
    memory.remember("T1", 0, "Ron pushes Harry into the lake.", 0.3)
    memory.remember("T2", 1, "“Ron pushes Harry into the LAKE!”", 0.8)
    memory.remember("T3", 2, "While Lily watches, Ron pushes Harry into the lake and laughs.", 0.2)
    (only,) = memory.memories
    assert only.turns == ("T1", "T2", "T3")
    assert (only.round, only.importance) == (2, 0.8)
    assert only.text.startswith("While Lily watches")


def test_another_event_in_almost_the_same_words_is_another_memory() -> None:
    memory = CharacterMemory(WordsOnly())
    events = (
        "Ron hits Harry with the broom.",
        "Harry hits Ron with the broom.",
        "Ron does not hit Harry with the broom.",
        "Ron hits Lily with the broom.",
        "宝玉把玉摔在地上。",
        "黛玉把玉摔在地上。",
        "No.",
        "No, I will not go with you.",
    )
    for at, text in enumerate(events):
        memory.remember(f"T{at + 1}", 0, text, 0.5)
    assert [one.text for one in memory.memories] == list(events)


async def test_what_stands_before_the_eyes_is_not_recalled() -> None:
    found = await _filled(Weights(), budget_tokens=100).recall("key", round=3, without={"T1", "T3"})
    assert found.turns == ("T2",)


async def test_an_empty_memory_recalls_nothing() -> None:
    memory = CharacterMemory(WordsOnly())
    memory.remember("T1", 0, " \n…", 1.0)
    found = await memory.recall("anything", round=0)
    assert (found.memories, found.tokens) == ((), 0)


async def test_vectors_are_computed_once_for_each_memory() -> None:
    embedder = _Counting()
    memory = CharacterMemory(embedder)
    for at, text in enumerate(EVENTS):
        memory.remember(f"T{at + 1}", at, text, 0.5)
        await memory.recall("What now?", round=at)
    assert [text for text in embedder.asked if text in EVENTS] == list(EVENTS)


async def test_a_server_without_vectors_leaves_the_comparison_to_words() -> None:
    memory = CharacterMemory(_Counting(gives=False))
    memory.remember("T1", 0, EVENTS[0], 0.5)
    assert (await memory.recall("the brass key", round=0)).by == LEXICAL


def test_importance_follows_the_rule() -> None:
    assert importance("narration") > importance("action") > importance("speech") > importance("procedure")
    assert importance("speech", about_owner=True) > importance("action", own=True)
    assert importance("narration", own=True, about_owner=True) <= 1.0


@settings(deadline=None)
@given(
    texts=st.lists(st.text(min_size=1, max_size=400), max_size=12),
    budget=st.integers(20, BUDGET_TOKENS),
    situation=st.text(max_size=200),
)
async def test_no_recollection_passes_its_budget_or_differs_from_the_next(
    texts: list[str], budget: int, situation: str
) -> None:
    found: list[Recollection] = []
    for _ in range(2):
        memory = CharacterMemory(WordsOnly(), budget_tokens=budget)
        for at, text in enumerate(texts):
            memory.remember(f"T{at + 1}", at, text, at % 3 / 2)
        found.append(await memory.recall(situation, round=len(texts)))
    assert found[0] == found[1]
    assert found[0].tokens == sum(estimated_tokens(one.text) for one in found[0].memories) <= budget


@settings(deadline=None)
@given(st.text(max_size=500), st.integers(10, 100))
def test_a_shortened_text_fits(text: str, most: int) -> None:
    assert estimated_tokens(shortened(text, most)) <= most
    if estimated_tokens(text) <= most:
        assert shortened(text, most) == text


class _Counting:
    """An embedder that remembers what it was asked for."""

    name = "counting"

    def __init__(self, *, gives: bool = True) -> None:
        self.asked: list[str] = []
        self._gives = gives

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]] | None:
        self.asked += texts
        return [(1.0, 0.0) for _ in texts] if self._gives else None
