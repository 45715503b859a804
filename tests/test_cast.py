"""Characters that are drawn, described and checked."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from cast_fixtures import writer
from dramaturg.cli.cast import app
from dramaturg.cli.console import Finished
from dramaturg.errors import LimitReached, UserError
from dramaturg.ledger import Budget, Ledger
from dramaturg.model import Request
from dramaturg.stage.cast.character import Character
from dramaturg.stage.cast.checking import check_character, check_sketch
from dramaturg.stage.cast.describing import Described, describe_all, described_by_pattern
from dramaturg.stage.cast.eras import settings as all_settings
from dramaturg.stage.cast.generator import cast_diversity, generate
from dramaturg.stage.cast.names import cultures
from dramaturg.stage.cast.numerals import numeral_words
from dramaturg.stage.cast.sketch import Sketch

LONG = (
    "You keep your tools clean and your accounts cleaner, and you think of home whenever the evening rain begins. " * 4
)


def codes(text: str, sketch: Sketch) -> set[str]:
    return {finding.code for finding in check_character(sketch.described(text))}


def of(setting: str, seed: int = 1) -> Sketch:
    return generate(1, seed, setting_ids=[setting])[0]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 12))
def test_every_drawn_character_is_plausible_and_its_plain_description_passes(seed: int, count: int):
    for sketch in generate(count, seed):
        assert check_sketch(sketch) == ()
        assert check_character(sketch.described(described_by_pattern(sketch).character.description)) == ()  # pyright: ignore


def test_a_cast_is_the_same_for_the_same_seed_and_a_larger_one_begins_with_the_smaller():
    assert generate(40, 7) == generate(80, 7)[:40]
    assert generate(40, 7) != generate(40, 8)


def test_a_cast_of_sixty_has_every_origin_a_dozen_cultures_distinct_names_and_no_near_twins():
    cast = generate(60, 1)
    assert {sketch.origin for sketch in cast} == {"historical", "contemporary", "fictional", "non_human"}
    assert len({sketch.culture for sketch in cast}) >= 12
    assert len({sketch.profile.name for sketch in cast}) == 60
    spread = cast_diversity(cast)
    assert spread.distance is not None and spread.distance > 0.75
    assert spread.least_distance is not None and spread.least_distance > 0.3


def test_every_setting_names_a_culture_that_has_names_for_everybody_who_works_there():
    for setting in all_settings().values():
        genders = set(cultures()[setting.culture].by_gender)
        for occupation in setting.occupations:
            assert genders & set(occupation.genders or genders), (setting.id, occupation.is_)


def test_what_came_after_its_year_is_what_a_character_cannot_know():
    beyond = " ".join(of("london").profile.cannot_know)
    assert "telephone" in " ".join(of("tang").profile.cannot_know) or "movable metal type" in " ".join(
        of("tang").profile.cannot_know
    )
    assert "telegraph" not in beyond
    assert of("reed-shore").knows_until is None


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"age": 3}, "profile.age"),
        ({"occupation": "astronaut"}, "profile.occupation"),
        ({"race": "elf"}, "profile.race"),
        ({"place": "Oslo"}, "profile.place"),
        ({"era": "Tang China, in the year 1999"}, "profile.era"),
        ({"personality": ("patient", "restless")}, "profile.personality"),
    ],
)
def test_a_profile_that_does_not_fit_its_setting_is_found(change: dict[str, object], where: str):
    sketch = of("tang")
    odd = sketch.model_copy(update={"profile": sketch.profile.model_copy(update=change)})
    assert where in {finding.where for finding in check_sketch(odd)}


def sure(sketch: Sketch) -> str:
    profile = sketch.profile
    return (
        f"You are {profile.name}, a {profile.occupation} of {numeral_words(profile.age)} years, and you live in "
        f"{profile.place}, {profile.era}. {LONG}"
    )


def test_a_description_that_says_all_passes_with_the_age_in_words_and_the_occupation_in_another_ending():
    sketch = of("gold-coast", 4)
    assert codes(sure(sketch), sketch) == set()
    weaver = sketch.model_copy(update={"profile": sketch.profile.model_copy(update={"occupation": "kente weaver"})})
    text = sure(weaver).replace("kente weaver", "man who weaves kente").replace("a man who", "somebody who")
    assert "occupation-absent" not in codes(text, weaver)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("NAME", "Somebody", "name-absent"),
        ("AGE", "some", "age-absent"),
        ("JOB", "person", "occupation-absent"),
        ("You keep", "You are 91 years old. You keep", "age-contradicted"),
        ("You keep", "You are ninety-one, and you keep", "age-contradicted"),
        ("You keep", "You look through your telescope and take a photograph. You keep", "anachronism"),
        ("You keep", "**You** keep", "markup"),
        ("You keep", "As an AI you keep", "assistant-speaks"),
        ("You keep", "I keep, I think, I know that you keep", "not-second-person"),
    ],
)
def test_what_a_description_lacks_or_contradicts_is_found(old: str, new: str, code: str):
    sketch = of("tang")
    profile = sketch.profile
    parts = {"NAME": profile.name, "AGE": numeral_words(profile.age), "JOB": profile.occupation}
    assert code in codes(sure(sketch).replace(parts.get(old, old), new), sketch)


@pytest.mark.parametrize(
    ("text", "gender", "found"),
    [
        ("You are a tired old woman.", "male", True),
        ("You are a proud man.", "female", True),
        ("You are a woman whose father was a sailor.", "female", False),
        ("You are the pride of your mother.", "male", False),
        ("You are a man's best hope.", "female", False),
        ("You are a patient man.", "male", False),
    ],
)
def test_a_description_of_the_other_gender_is_found(text: str, gender: str, found: bool):
    sketch = of("seoul")
    changed = sketch.model_copy(update={"profile": sketch.profile.model_copy(update={"gender": gender})})
    assert ("gender-contradicted" in codes(f"{text} {LONG}", changed)) is found


def test_ages_of_a_past_that_is_told_contradict_nothing():
    sketch = of("tang")
    text = f"{sure(sketch)} You were nine years old when you lost your sister at 12 and you are one of many."
    assert "age-contradicted" not in codes(text, sketch)


def test_a_character_without_a_profile_is_checked_for_form_and_time_alone():
    character = Character(id="a", name="A", description=f"You are A. You own a smartphone. {LONG}", knows_until=1500)
    assert {finding.code for finding in check_character(character)} == {"anachronism"}


def test_numerals():
    assert [numeral_words(number) for number in (0, 13, 40, 99, 101, 342, 12_003)] == [
        "zero",
        "thirteen",
        "forty",
        "ninety-nine",
        "one hundred one",
        "three hundred forty-two",
        "twelve thousand three",
    ]


async def described(
    tmp_path: Path,
    answer: Callable[[Request], str],
    cast: Sequence[Sketch],
    *,
    budget: Budget | None = None,
    repairs: int = 2,
) -> list[Described]:
    with Ledger.open(tmp_path / "ledger.db") as store:
        texts = describe_all(cast, writer(answer), store, budget or Budget(), seed=1, repairs=repairs)
        return [one async for one in texts]


async def test_a_description_with_a_fault_is_mended_once_and_then_replayed_without_a_call(tmp_path: Path):
    cast = generate(3, 2)

    def answer(request: Request) -> str:
        sketch = next(one for one in cast if one.profile.name in request.messages[0].text)
        if "check of your description" in request.messages[-1].text:
            assert "does not say the name" in request.messages[-1].text
            return sure(sketch) + (f" You are a {sketch.profile.race}." if sketch.profile.race != "human being" else "")
        return LONG

    first = await described(tmp_path, answer, cast)
    assert [(one.passes, one.repairs) for one in first] == [(True, 1)] * 3
    budget = Budget()
    assert await described(tmp_path, answer, cast, budget=budget) == first
    assert (budget.calls, budget.replayed) == (0, 6)


async def test_a_model_that_never_does_it_right_costs_a_bounded_number_of_calls(tmp_path: Path):
    budget = Budget()
    (one,) = await described(
        tmp_path, lambda _: "You are nobody, you know, and you sleep.", generate(1, 2), budget=budget
    )
    assert not one.passes and one.character is not None
    assert budget.calls == 3


async def test_a_limit_ends_the_work_and_the_next_run_goes_on(tmp_path: Path):
    cast = generate(4, 2)
    with pytest.raises(LimitReached):
        await described(tmp_path, lambda _: LONG, cast, budget=Budget(max_calls=2), repairs=0)
    budget = Budget()
    await described(tmp_path, lambda _: LONG, cast, budget=budget, repairs=0)
    assert budget.calls == 2


def test_an_unknown_setting_is_an_error_of_one_line():
    with pytest.raises(UserError, match=r"unknown setting 'tangg'"):
        generate(1, 1, setting_ids=["tangg"])


def test_the_commands_draw_describe_and_check(tmp_path: Path):
    sketches, out = tmp_path / "s.jsonl", tmp_path / "c.jsonl"
    run = CliRunner()
    drawn = run.invoke(app, ["generate", "-n", "5", "--out", str(sketches), "--json"])
    assert json.loads(drawn.stdout)["characters"] == 5
    again = run.invoke(app, ["generate", "--out", str(sketches)])
    assert isinstance(again.exception, UserError) and "lies there already" in str(again.exception)
    told = run.invoke(app, ["describe", str(sketches), "--model", "template", "--out", str(out), "--json"])
    assert json.loads(told.stdout)["characters"] == 5
    assert run.invoke(app, ["check", str(sketches), str(out)]).exit_code == 0
    broken = json.loads(out.read_text(encoding="utf-8").splitlines()[0]) | {"description": "I am me."}
    out.write_text(json.dumps(broken) + "\n", encoding="utf-8")
    found = run.invoke(app, ["check", str(out)])
    assert isinstance(found.exception, Finished) and found.exception.code == 1
    assert "not-second-person" in found.stdout
