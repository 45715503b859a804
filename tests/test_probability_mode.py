"""Mode `probability`: P(yes) from the first word's rivals."""

import math
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dramaturg.judge.checklist import score_transcript
from dramaturg.judge.checklist.probability import LEAST_MASS, answer_masses
from dramaturg.model import Reply, TokenLogprob
from dramaturg.model.vocabulary import yes_no_synonyms
from judge_fixtures import checklist, trial
from judging_fixtures import judged, likely, logprobs

WORDS = yes_no_synonyms("en")
TWO = {word: answer for word, answer in WORDS.items() if answer != "not_applicable"}
BY = checklist({"id": "R-1", "text": "Does the judge lead?", "dimension": "R"})
OPEN = checklist(
    {"id": "R-1", "text": "Does the judge lead?", "dimension": "R", "not_applicable_when": "There is no judge."}
)


def masses(*tokens: tuple[str, Mapping[str, float]], words: object = None) -> dict[str, float]:
    found = answer_masses(logprobs(*tokens), TWO if words is None else WORDS)
    return {answer: round(mass, 6) for answer, mass in found.items()}


def test_synonyms_in_any_case_and_with_any_blank_count_together():
    rivals = {"Yes": 0.3, " yes": 0.2, "YES": 0.1, "no": 0.15, "▁": 0.05, "No.": 0.1, "Perhaps": 0.1}
    assert masses(("Yes", rivals)) == {"yes": 0.6, "no": 0.25}


@pytest.mark.parametrize("mark", ['"', " ", "**", "\n", '" '])
def test_a_mark_before_the_word_is_passed_over(mark: str):
    first = {mark: 0.8, "yes": 0.1, "no": 0.1}
    assert masses((mark, first), ("no", {"no": 0.75, "Yes": 0.25})) == {"yes": 0.3, "no": 0.7}


def test_a_piece_counts_only_where_it_can_be_one_answer_alone():
    assert masses(("Ye", {"Ye": 0.6, "N": 0.3}))["yes"] == 0.6
    assert masses(("Y", {"Y": 0.6, "n": 0.3})) == {"yes": 0.6, "no": 0.3}
    assert masses(("Y", {"Y": 0.6, "N": 0.3}), words=WORDS) == {"yes": 0.6}  # N may begin N/A
    assert masses(("In", {"In": 0.9, "yes": 0.05}), words=WORDS) == {"yes": 0.05}  # "In the first turn …"
    assert masses(("Not", {"Not": 0.9, "yes": 0.05}), words=WORDS) == {"yes": 0.05}


def test_an_open_piece_is_decided_by_the_tokens_behind_it():
    written = [("N", {"N": 0.8, "yes": 0.2}), ("/A", {"/A": 0.75, "o": 0.25})]
    assert masses(*written, words=WORDS) == {"yes": 0.2, "not_applicable": 0.6, "no": 0.2}


def test_a_word_behind_a_first_word_that_is_no_answer_does_not_count():
    assert masses(("The", {"The": 0.9, "no": 0.1}), ("yes", {"yes": 1.0})) == {"no": 0.1}


@pytest.mark.parametrize(("language", "word", "meant"), [("it", "Sì", "yes"), ("zh", "是", "yes"), ("zh", "否", "no")])
def test_words_of_the_checklists_language_count_beside_english(language: str, word: str, meant: str):
    words = yes_no_synonyms("en", language)
    found = answer_masses(logprobs((word, {word: 0.6, "Yes": 0.2, "No": 0.1})), words)
    assert found[meant] >= 0.6


tokens = st.sampled_from(["yes", "Yes", "no", "N", "Y", "/A", " ", '"', "not", " applicable", "The", "是", "\u200b"])
places = st.dictionaries(tokens, st.floats(0.01, 0.16), min_size=1, max_size=6)


@given(st.lists(places, max_size=4))
def test_masses_are_probabilities_whatever_was_written(rivals: list[dict[str, float]]):
    found = answer_masses(logprobs(*((next(iter(one)), one) for one in rivals)), WORDS)
    assert all(0 <= mass <= 1 for mass in found.values())
    assert sum(found.values()) <= 1 + 1e-9


async def test_the_probability_is_renormalised_over_yes_and_no(tmp_path: Path):
    found, requests = await judged(tmp_path, lambda _: likely(no=0.3, yes=0.1, The=0.5), by=BY, mode="probability")
    assert (found["R-1"].answer, found["R-1"].probability) == ("no", pytest.approx(0.25))
    assert found["R-1"].flags == () and found["R-1"].evidence == ()
    (request,) = requests
    assert request.schema is None and request.sampling.top_logprobs == 20 and request.sampling.max_tokens <= 8
    assert [message.role for message in request.messages] == ["system", "user", "assistant", "user"]


@pytest.mark.parametrize(
    "rivals", [{"no": 0.3, "yes": 0.3}, {"yes": 0.5, "no": 0.5}, {"yes": 0.1, "Yes": 0.2, "no": 0.3}]
)
async def test_even_odds_are_no_answer_and_keep_their_probability(tmp_path: Path, rivals: dict[str, float]):
    found, _ = await judged(tmp_path, lambda _: likely(**rivals), by=BY, mode="probability")
    assert (found["R-1"].answer, found["R-1"].reason, found["R-1"].probability) == ("missing", "even_odds", 0.5)
    assert "equally likely" in found["R-1"].detail
    scores = score_transcript(trial(), BY, list(found.values())).total
    assert (scores.quality.value, scores.quality.used, scores.missing) == (None, 0, {"even_odds": 1})
    assert scores.probabilistic.value == 0.5


async def test_the_likelier_word_is_the_answer_however_little_likelier_it_is(tmp_path: Path):
    found, _ = await judged(tmp_path, lambda _: likely(no=0.3, yes=0.30001), by=BY, mode="probability")
    assert found["R-1"].answer == "yes"


async def test_where_neither_is_likely_the_answer_is_missing(tmp_path: Path):
    found, _ = await judged(tmp_path, lambda _: likely(The=0.9, yes=LEAST_MASS / 2), by=BY, mode="probability")
    assert (found["R-1"].answer, found["R-1"].reason, found["R-1"].probability) == ("missing", "unparsed", None)
    assert "0.025" in found["R-1"].detail and "The" in found["R-1"].detail


async def test_a_server_without_log_probabilities_says_so(tmp_path: Path):
    found, _ = await judged(tmp_path, lambda _: "yes", by=BY, mode="probability")
    assert (found["R-1"].answer, found["R-1"].reason) == ("missing", "judge_failed")
    assert "log-probabilities" in found["R-1"].detail


async def test_numbers_above_zero_are_no_log_probabilities(tmp_path: Path):
    impossible = Reply("ok", text="yes", logprobs=(TokenLogprob("yes", 5.0, (("yes", 5.0), ("no", 3.0))),))
    found, _ = await judged(tmp_path, lambda _: impossible, by=BY, mode="probability")
    assert (found["R-1"].answer, found["R-1"].reason) == ("missing", "judge_failed")
    assert "above 0" in found["R-1"].detail


async def test_not_applicable_is_a_third_answer_only_where_the_indicator_allows_it(tmp_path: Path):
    reply = Reply("ok", text="N/A", logprobs=logprobs(("N/A", {"N/A": 0.6, "yes": 0.3})))
    found, _ = await judged(tmp_path, lambda _: reply, by=OPEN, mode="probability")
    assert (found["R-1"].answer, found["R-1"].probability) == ("not_applicable", None)
    (tmp_path / "two").mkdir()
    found, _ = await judged(tmp_path / "two", lambda _: reply, by=BY, mode="probability")
    assert (found["R-1"].answer, found["R-1"].probability) == ("yes", 1.0)


async def test_the_probability_of_yes_is_that_of_the_text_when_the_question_is_turned(tmp_path: Path):
    by = checklist({"id": "R-1", "text": "Is it kept back?", "ask": "Is it said?", "dimension": "R"})
    found, _ = await judged(tmp_path, lambda _: likely(yes=0.6, no=0.2), by=by, mode="probability")
    assert (found["R-1"].answer, found["R-1"].probability) == ("no", pytest.approx(0.25))


def test_an_impossible_log_probability_does_no_harm():
    (token,) = logprobs(("yes", {"yes": 0.5}))
    assert answer_masses([token], WORDS) == {"yes": math.exp(math.log(0.5))}
    assert answer_masses([], WORDS) == {}
    odd = [TokenLogprob("yes", float("nan"), (("no", 3.0), ("No", float("-inf"))))]
    assert answer_masses(odd, WORDS) == {"yes": 0.0, "no": 1.0}
