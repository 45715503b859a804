"""A character's memory: what it lived through, and what of it comes to mind.

A memory comes to mind by ``recency · w1 + relevance · w2 + importance · w3``, each from 0 to 1. Source: J. S. Park et
al., "Generative Agents: Interactive Simulacra of Human Behavior", 2023, section 4.1. What comes to mind has a budget of
tokens of its own: no profile, belief or prompt counts against it, however long.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal, assert_never

from dramaturg.ledger.budget import estimated_tokens
from dramaturg.model.embeddings import Embedder, Vector, similarities
from dramaturg.model.lexical import tokens
from dramaturg.stage.transcript import TurnKind

HALF_LIFE_ROUNDS = 2.0
"""After so many rounds a memory's recency is half of what it was."""

BUDGET_TOKENS = 600
"""Most tokens, estimated, that come to mind at once."""

LEAST_WORDS = 3
"""A text with fewer words is taken for a part of another only where it is the same."""

CUT_MARK = " […] "
"""Stands for what was left out of a text that is too long."""

_ABOUT_OWNER = 0.4
_OWN = 0.2


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each part counts for what comes to mind.

    Attributes:
        recency: Halved every `HALF_LIFE_ROUNDS` rounds.
        relevance: Likeness to the situation, stretched so that the most alike memory has 1 and the least 0.
        importance: As it was given when the memory was made.
    """

    recency: float = 1.0
    relevance: float = 1.0
    importance: float = 1.0


EQUAL_WEIGHTS = Weights()
"""Those of the source."""

Judge = Literal["rule", "model"]
"""Who says how important a memory is: a rule, or the model that remembers, as in the source."""


@dataclass(frozen=True, slots=True)
class MemoryRules:
    """How characters remember; part of what is measured.

    Attributes:
        weights: How much each part counts for what comes to mind.
        importance_by: Who says how important a memory is.
    """

    weights: Weights = EQUAL_WEIGHTS
    importance_by: Judge = "rule"


DEFAULT_RULES = MemoryRules()


@dataclass(frozen=True, slots=True)
class Memory:
    """One thing that a character remembers.

    Attributes:
        turns: Ids of the turns that told of it, the first first.
        round: Round in which it was last told of, from 0 for the opening.
        text: What happened, and who did it, in words.
        importance: From 0 to 1.
        weighed: Whether a model gave the importance.
    """

    turns: tuple[str, ...]
    round: int
    text: str
    importance: float
    weighed: bool = False


@dataclass(frozen=True, slots=True)
class Recollection:
    """What comes to mind.

    Attributes:
        memories: In the order in which they happened.
        tokens: Size of their texts, estimated.
        by: What compared them with the situation.
    """

    memories: tuple[Memory, ...]
    tokens: int
    by: str

    @property
    def turns(self) -> tuple[str, ...]:
        """Ids of the turns that told of them, each once, the first first."""
        return tuple(dict.fromkeys(turn for memory in self.memories for turn in memory.turns))


def importance(kind: TurnKind, *, own: bool = False, about_owner: bool = False) -> float:
    """Returns how important something is to the one who remembers it, from 0 to 1, by rule.

    What is told of the world weighs 0.4, what somebody does 0.3, what somebody says 0.2; 0.4 more where it is done to
    the one who remembers or names it, 0.2 more where it is the own deed.

    Args:
        kind: Of the turn.
        own: Whether the one who remembers did or said it.
        about_owner: Whether it acts on the one who remembers, or names it.
    """
    match kind:
        case "narration":
            base = 0.4
        case "action":
            base = 0.3
        case "speech":
            base = 0.2
        case "procedure":
            base = 0.0
        case _:
            assert_never(kind)
    return base + _OWN * own + _ABOUT_OWNER * about_owner


class CharacterMemory:
    """What one character remembers. The same memories and situations give the same recollections."""

    def __init__(
        self, embedder: Embedder, *, weights: Weights = EQUAL_WEIGHTS, budget_tokens: int = BUDGET_TOKENS
    ) -> None:
        """Makes an empty memory.

        Args:
            embedder: What compares memories with a situation.
            weights: How much recency, relevance and importance count.
            budget_tokens: Most tokens, estimated, that come to mind at once.
        """
        self._embedder = _Kept(embedder)
        self._weights = weights
        self._budget_tokens = budget_tokens
        self._memories: list[Memory] = []
        self._words: list[tuple[str, ...]] = []

    @property
    def memories(self) -> tuple[Memory, ...]:
        """All of them, in the order in which they were last told of."""
        return tuple(self._memories)

    def remember(self, turn: str, round: int, text: str, importance: float) -> None:
        """Keeps a memory; blank text is none.

        A text that says what is there already, or part of it, in the same words and order, is merged with it: the
        longer text stays, the later round counts, and so does the greater importance, or the one that a model gave to
        it. Other words are another memory, however alike: one name or one "not" makes another event.

        Args:
            turn: Id of the turn that tells of it.
            round: Round in which it happened.
            text: What happened, and who did it.
            importance: From 0 to 1.
        """
        words = tuple(tokens(text))
        if not words:
            return
        turns: tuple[str, ...] = (turn,)
        weighed = False
        for at in reversed([at for at, known in enumerate(self._words) if _same(words, known)]):
            known, known_words = self._memories.pop(at), self._words.pop(at)
            turns = (*known.turns, *turns)
            round, importance = max(round, known.round), max(importance, known.importance)
            if len(known_words) >= len(words):
                text, words = known.text, known_words
                weighed, importance = (True, known.importance) if known.weighed else (weighed, importance)
        self._memories.append(Memory(tuple(dict.fromkeys(turns)), round, text.strip(), importance, weighed))
        self._words.append(words)

    def to_weigh(self, *, without: Collection[str] = ()) -> tuple[Memory, ...]:
        """Returns the memories that may come to mind and whose importance no model gave yet, the oldest first.

        Args:
            without: Ids of turns that the character has before its eyes.
        """
        return tuple(memory for memory in self._away(without) if not memory.weighed)

    def weigh(self, memories: Sequence[Memory], importance: Sequence[float]) -> None:
        """Takes how important memories are, instead of what the rule said.

        Args:
            memories: Some that `to_weigh` returned.
            importance: From 0 to 1, one for each.
        """
        given = dict(zip(memories, importance, strict=True))
        self._memories = [
            replace(memory, importance=given[memory], weighed=True) if memory in given else memory
            for memory in self._memories
        ]

    async def recall(self, situation: str, *, round: int, without: Collection[str] = ()) -> Recollection:
        """Returns what comes to mind in a situation: the best that fit the budget, in the order of events.

        A memory that alone is larger than the budget is cut in its middle, so that something always comes to mind.

        Args:
            situation: What is going on, in words.
            round: The round it is now.
            without: Ids of turns that the character has before its eyes; memories of these alone stay away.
        """
        there = self._away(without)
        situation = shortened(situation, self._budget_tokens)
        texts = [shortened(memory.text, self._budget_tokens) for memory in there]
        alike = await similarities(self._embedder, situation, texts)
        self._embedder.keep(texts)
        relevance = _stretched(alike.values)
        scores = [self._score(memory, round, value) for memory, value in zip(there, relevance, strict=True)]
        left = self._budget_tokens
        chosen: dict[int, Memory] = {}
        for at in sorted(range(len(there)), key=lambda at: (-scores[at], -at)):
            size = estimated_tokens(texts[at])
            if size <= left:
                left -= size
                memory = there[at]
                chosen[at] = replace(memory, text=texts[at])
        return Recollection(tuple(chosen[at] for at in sorted(chosen)), self._budget_tokens - left, alike.by)

    def _away(self, without: Collection[str]) -> list[Memory]:
        return [memory for memory in self._memories if not set(without).issuperset(memory.turns)]

    def _score(self, memory: Memory, round: int, relevance: float) -> float:
        recency = 0.5 ** (max(round - memory.round, 0) / HALF_LIFE_ROUNDS)
        weights = self._weights
        return weights.recency * recency + weights.relevance * relevance + weights.importance * memory.importance


def shortened(text: str, most_tokens: int) -> str:
    """Returns a text, cut in its middle where it has more tokens than that, with a mark where it was cut.

    Args:
        text: Any text.
        most_tokens: Estimated; at least the mark is left.
    """
    if estimated_tokens(text) <= most_tokens:
        return text
    least, most = 0, len(text) // 2
    while least < most:  # the most signs at each end that still fit
        signs = (least + most + 1) // 2
        if estimated_tokens(_without_middle(text, signs)) <= most_tokens:
            least = signs
        else:
            most = signs - 1
    return _without_middle(text, least)


def _without_middle(text: str, signs: int) -> str:
    return f"{text[:signs].rstrip()}{CUT_MARK}{text[len(text) - signs :].lstrip()}"


def _same(one: Sequence[str], other: Sequence[str]) -> bool:
    """Returns whether the shorter of two runs of words stands in the longer, one word after the other."""
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) < LEAST_WORDS:
        return shorter == longer
    length = len(shorter)
    return any(longer[at : at + length] == shorter for at in range(len(longer) - length + 1))


def _stretched(values: Sequence[float]) -> list[float]:
    """Returns values on a scale from the least (0) to the greatest (1); zeros where all are the same."""
    if not values:
        return []
    least, greatest = min(values), max(values)
    if greatest == least:
        return [0.0] * len(values)
    return [(value - least) / (greatest - least) for value in values]


class _Kept:
    """An embedder that embeds each memory once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, Vector] = {}

    @property
    def name(self) -> str:
        return self._embedder.name

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector] | None:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        vectors = await self._embedder.embed(new)
        if vectors is None:
            return None
        found = self._vectors | dict(zip(new, vectors, strict=True))
        self._vectors = found
        return [found[text] for text in texts]

    def keep(self, texts: Collection[str]) -> None:
        """Forgets the vectors of all but these texts."""
        self._vectors = {text: self._vectors[text] for text in texts if text in self._vectors}
