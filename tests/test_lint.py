"""Lint: which indicators are doubtful, by rules that need no model."""

import json
import re
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from build_fixtures import shop
from dramaturg.cli.checklist import app
from dramaturg.cli.console import Finished
from dramaturg.files import load_yaml, shipped
from dramaturg.judge.checklist import Checklist
from dramaturg.judge.checklist.benchmark import Benchmark
from dramaturg.judge.checklist.build import Lint, lint
from dramaturg.judge.checklist.build.lexicon import Lexicon, found_in, lexicon, lexicons
from dramaturg.judge.checklist.build.rules import Cast, cast_of, condition_of, findings, subjects
from dramaturg.model.embeddings import WordsOnly

EN, IT, ZH = lexicon("en"), lexicon("it"), lexicon("zh")
COURT = Cast({"judge": ("judge", "judges"), "witness": ("witness", "witnesses")}, ("defence", "player"))
DEFENCE = {"id": "defence", "name": "defence", "played_by": "human", "duties": "Argues."}
TRIBUNALE = Cast({"judge": ("giudice",), "witness": ("testimone",)}, ("difesa",))
FATING = Cast({"judge": ("法官",), "witness": ("证人",)}, ("辩方",))


def rules(text: str, words: Lexicon = EN, cast: Cast = COURT, **options: Any) -> list[str]:
    """Returns the names of the rules that speak against a question."""
    return [one.rule for one in findings(text, words, cast, **options)]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("How does the judge open the hearing?", "not_yes_no"),
        ("The judge opens the hearing?", "not_yes_no"),
        ("Does the judge open the hearing", "not_yes_no"),
        ("Does the judge speak? Does the witness?", "not_yes_no"),
        ("Does the judge refer to [exhibit] in court?", "not_yes_no"),
        ("Does the judge greet and thank the court?", "two_concepts"),
        ("Does the judge rule while smoking a pipe?", "two_concepts"),
        ("Does the judge stay without a wig?", "negative"),
        ("Doesn't the judge wear a wig?", "negative"),
        ("Does the judge refrain from comments?", "negative"),
        ("Does the judge contradict the case file?", "wrong_sign"),
        ("Does the defence question the witness?", "human"),
        ("Does each player speak in turn?", "human"),
        ("Is a reason given to the defence?", "human"),
        ("Does the judge want to help the court?", "unanswerable"),
        ("Does the judge use body language?", "unanswerable"),
        ("Does the judge give a proper reason?", "vague"),
        ("Does the judge answer every possible question?", "exaggerated"),
        ("Does the model speak as the judge?", "leaking"),
        ("Does the judge speak as expected?", "leaking"),
        ("Does the judge?", "too_short"),
        ("Does the judge speak as the judge?", "too_short"),
        (f"Does the judge {'very ' * 40}often speak?", "too_long"),
        ("Il giudice annuncia la sentenza del processo?", "other_language"),
        ("法官是否宣布了判决？", "other_language"),
    ],
)
def test_a_doubtful_question_is_found(text: str, rule: str):
    assert rule in rules(text)


@pytest.mark.parametrize(
    "text",
    [
        "Does the judge announce a verdict?",
        "Before the verdict, does the judge hear both sides?",
        "When a witness is asked, does the witness answer?",
        "Does the witness answer the question of the defence?",
        "Is the talk between the judge and the witness about the case?",
        "Does the judge find the accused not guilty?",
        "Are both sides given the floor?",
    ],
)
def test_a_plain_question_passes(text: str):
    assert rules(text) == []


@pytest.mark.parametrize(
    ("text", "words", "cast", "found"),
    [
        ("Il giudice annuncia la sentenza?", IT, TRIBUNALE, []),
        ("Quando parla un testimone, il giudice ascolta?", IT, TRIBUNALE, []),
        ("Come apre il processo il giudice?", IT, TRIBUNALE, ["not_yes_no"]),
        ("Il giudice evita di dire chi ha torto?", IT, TRIBUNALE, ["negative"]),
        ("Il giudice saluta e ringrazia la corte?", IT, TRIBUNALE, ["two_concepts"]),
        ("La difesa interroga il testimone?", IT, TRIBUNALE, ["human"]),
        ("Il giudice parla in modo appropriato?", IT, TRIBUNALE, ["vague"]),
        ("法官是否宣布了判决？", ZH, FATING, []),
        ("法官有没有回答证人的问题？", ZH, FATING, []),
        ("法官如何宣布判决？", ZH, FATING, ["not_yes_no"]),
        ("法官是否避免表态？", ZH, FATING, ["negative"]),
        ("辩方是否询问了证人？", ZH, FATING, ["human"]),
        ("法官的发言是否恰当？", ZH, FATING, ["vague"]),
    ],
)
def test_italian_and_chinese_have_their_own_words(text: str, words: Lexicon, cast: Cast, found: list[str]):
    assert rules(text, words, cast) == found


def test_a_question_about_another_role_than_its_seed_is_found():
    assert rules("Does the judge answer the question?", roles=("witness",)) == ["other_role"]
    assert rules("Does the witness answer the judge's question?", roles=("witness",)) == []


def test_a_role_is_known_in_both_spellings():
    cast = cast_of(shop(roles=[*shop().model_dump()["roles"], DEFENCE]))
    assert rules("Does the defense question the agent?", cast=cast) == ["human"]


def test_a_negative_sign_turns_the_rules_of_polarity():
    assert rules("Does the judge contradict the case file?", sign="negative") == []
    assert rules("Does the judge avoid slang in court?", sign="negative") == ["wrong_sign"]


def test_the_subject_and_the_condition_of_a_question_are_read():
    assert subjects("Does the witness answer the judge?", EN, COURT) == ("witness",)
    assert subjects("Is the verdict announced?", EN, COURT) == ()
    assert condition_of("If a witness speaks, does the judge listen?", EN) == "a witness speaks"
    assert condition_of("Before the verdict, does the judge listen?", EN) == ""


@given(st.text(max_size=60), st.sampled_from(["en", "it", "zh", "de"]))
def test_the_rules_take_any_text(text: str, language: str):
    assert isinstance(rules(text, lexicon(language)), list)


@pytest.mark.parametrize("words", lexicons(), ids=lambda words: words.language)
def test_every_term_of_a_lexicon_is_found_in_itself(words: Lexicon):
    for key in Lexicon.model_fields:
        terms = cast("object", getattr(words, key))
        for term in cast("tuple[str, ...]", terms) if isinstance(terms, tuple) else ():
            shown = re.sub(r"(?<!\S)\*(?!\S)", "that", term).replace("*", "")
            assert found_in(shown, (term,)), f"{key}: {term}"


# Whole checklists


def checklist(*indicators: dict[str, Any], **changes: Any) -> Checklist:
    """Returns a checklist of the shop, with an indicator for each place that has none."""
    given_ones = [{"id": f"A-{at}", "dimension": "LNG", **one} for at, one in enumerate(indicators)]
    filler = {
        "id": "B-1",
        "text": "Does the agent name a clause of the policy?",
        "dimension": "POL",
        "subdimension": "AUT",
    }
    dimensions = [dimension.model_dump() for dimension in shop().dimensions]
    base = {"id": "shop", "version": 1, "title": "Shop", "domain": "shop", "dimensions": dimensions}
    return Checklist.model_validate({**base, "indicators": [*given_ones, filler], **changes})


async def linted(made: Checklist, source: Checklist | None = None) -> list[Lint]:
    return await lint(made, WordsOnly(), benchmark=shop(), source=source)


async def found_rules(*indicators: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(one.severity, one.rule, one.indicator) for one in await linted(checklist(*indicators))]


async def test_avoidance_asks_for_an_ask_and_is_content_with_one():
    text = {"text": "Does the agent avoid slang?"}
    (one,) = await linted(checklist(text))
    assert (one.rule, one.severity) == ("avoidance", "warning") and "`ask`" in one.detail
    assert await found_rules({**text, "ask": "Does the agent use slang?"}) == []


async def test_an_ask_that_asks_for_an_absence_or_has_the_wrong_sign_is_found():
    text = {"text": "Does the agent avoid slang?"}
    assert await found_rules({**text, "ask": "Does the agent refrain from slang?"}) == [("warning", "avoidance", "A-0")]
    turned = {**text, "ask": "Does the agent use slang?", "ask_sign": "positive"}
    assert await found_rules(turned) == [("warning", "wrong_sign", "A-0")]
    same = {"text": "Does the agent write short lines?", "ask": "Does the agent write short lines?"}
    assert await found_rules(same) == [("warning", "duplicate", "A-0")]


async def test_duplicates_by_words_are_errors_and_by_meaning_warnings():
    one = {"text": "Does the agent write the date of the order in the answer?"}
    found = await found_rules(one, {"text": "Does the agent write the DATE of the order, in the answer?"})
    assert found == [("error", "duplicate", "A-1")]
    near = await found_rules(one, {"text": "Does the agent write the date of the order in an answer?"})
    assert near == [("warning", "near_duplicate", "A-1")]


async def test_a_condition_without_a_rule_for_its_absence_is_found():
    asked = {"text": "When the agent refuses, does the agent name a rule?"}
    assert await found_rules(asked) == [("warning", "open_condition", "A-0")]
    assert await found_rules({**asked, "not_applicable_when": "The agent refuses nothing."}) == []


async def test_errors_come_first():
    vague, human = {"text": "Is the agent's answer good?"}, {"text": "Does the customer thank the agent?"}
    assert [rule for _, rule, _ in await found_rules(vague, human)] == ["human", "vague"]


async def test_a_translation_whose_source_changed_is_flagged_by_hash():
    source = checklist({"text": "Does the agent write short lines?"})
    translation = {"source": "shop", "version": 1, "source_hash": source.hash}
    italian = {"text": "L'agente scrive frasi brevi nelle risposte?"}
    ours = checklist(italian, id="shop-it", language="it", translation=translation)
    stale = {"stale_translation", "unknown_source"}
    assert not {one.rule for one in await linted(ours, source)} & stale
    changed = checklist({"text": "Does the agent write long lines?"}, version=2)
    (found,) = [one for one in await linted(ours, changed) if one.rule in stale]
    assert "version 1 then, 2 now" in found.detail and changed.hash in found.detail
    assert [one.rule for one in await linted(ours, None) if one.rule in stale] == ["unknown_source"]


async def test_a_language_without_words_is_said():
    ours = checklist({"text": "Schreibt der Agent kurze Sätze?"}, language="de")
    assert "no_lexicon" in {one.rule for one in await linted(ours)}


@pytest.mark.parametrize("name", sorted(set(shipped("checklists")) & {"court", "customer-service"}))
async def test_a_shipped_checklist_has_no_doubtful_indicator(name: str):
    made = load_yaml(shipped("checklists")[name], Checklist)
    benchmark = load_yaml(shipped("benchmarks")[name], Benchmark)
    assert cast_of(benchmark).people
    assert await lint(made, WordsOnly(), benchmark=benchmark) == []


def test_the_command_ends_with_1_where_there_is_an_error_and_else_with_0(tmp_path: Path):
    runner = CliRunner()
    file = tmp_path / "c.yaml"

    def write(text: str) -> None:
        file.write_text(checklist({"text": text}).model_dump_json(), "utf-8")

    write("Does the user thank the agent?")
    failed = runner.invoke(app, ["lint", str(file), "--embedder", "none", "--json"])
    assert isinstance(failed.exception, Finished) and failed.exception.code == 1
    assert json.loads(failed.stdout)["errors"] == 1
    write("Is the agent's answer good?")
    fine = runner.invoke(app, ["lint", str(file), "--embedder", "none"])
    assert fine.exit_code == 0 and "warning: A-0: vague" in fine.stdout
    assert runner.invoke(app, ["lint", "court", "--embedder", "none"]).exit_code == 0
