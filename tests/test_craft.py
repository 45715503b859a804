"""Crafting one scene: who is asked in which order, what goes back, which version counts."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from craft_fixtures import Answer, book, crafted, files, good, marks, plan, scene_draft, scripted, sentence
from dramaturg.model import Request
from dramaturg.prompts import load_prompt
from dramaturg.stage.world.crafting.checks import LONGEST_QUOTE, check_scene, copies
from dramaturg.stage.world.crafting.crew import PROMPTS
from dramaturg.stage.world.crafting.draft import SceneDraft, scene_of
from dramaturg.stage.world.crafting.marks import Marks
from dramaturg.stage.world.scene import Scene


class Asked:
    """Remembers what a crew was asked, and answers in turn where it is told how."""

    def __init__(self, **answers: list[Answer | str]) -> None:
        self.answers = answers
        self.requests: list[Request] = []

    def __call__(self, request: Request) -> Answer | str:
        self.requests.append(request)
        left = self.answers.get(request.labels["purpose"].removeprefix("craft-"))
        return left.pop(0) if left else good(request)

    @property
    def purposes(self) -> list[str]:
        return [request.labels["purpose"].removeprefix("craft-") for request in self.requests]


def scene(text_language: str = "en", **change: Any) -> Scene:
    draft = SceneDraft.model_validate(scene_draft(random.Random(1), **change))
    return scene_of(draft, unit="abcdef123", language=text_language, source="crafted", work="", tags=())


def person(name: str, **change: Any) -> Answer:
    return {"name": name, "profile": "Keeps the ferry.", "action": f"{name} waits.", **change}


def codes(made: Scene, text: str = "") -> set[str]:
    return {finding.code for finding in check_scene(made, text)}


async def test_three_stages_ask_screenwriter_director_and_evaluator(tmp_path: Path) -> None:
    asked = Asked()
    collection = await crafted(tmp_path, plan(), scripted(asked))
    assert asked.purposes == ["draft", "direct", "evaluate"]
    (entry,) = collection.entries
    assert entry.status == "kept" and entry.best is not None and entry.best.by == "director"
    draft, refined = entry.versions
    assert draft.scene.title in asked.requests[1].messages[0].text
    assert refined.scene.title in asked.requests[2].messages[0].text


async def test_a_scene_below_the_threshold_goes_back_with_its_critique(tmp_path: Path) -> None:
    asked = Asked(evaluate=[marks(3, 3, 3, 3, "Bo has no reason to stay."), marks(5, 4, 4, 4)])
    collection = await crafted(tmp_path, plan(), scripted(asked))
    assert asked.purposes == ["draft", "direct", "evaluate", "direct", "evaluate"]
    first, second = asked.requests[1].messages, asked.requests[3].messages
    assert list(second[:1]) == list(first), "the director's chat grows at its end"
    assert "creativity 3/5, coherence 3/5" in second[-1].text and "Bo has no reason to stay." in second[-1].text
    (entry,) = collection.entries
    assert entry.status == "kept" and entry.best is not None and entry.best.round == 2
    told = [(version["round"], version["mean"]) for version in entry.as_json()["rounds"]]  # type: ignore[union-attr]
    assert told == [(0, None), (1, 3.0), (2, 4.25)]


async def test_one_mark_below_two_is_never_accepted_and_an_accepted_version_beats_a_higher_mean(tmp_path: Path) -> None:
    asked = Asked(evaluate=[marks(5, 5, 5, 1), marks(4, 4, 3, 3)])
    (entry,) = (await crafted(tmp_path, plan(), scripted(asked))).entries
    assert entry.status == "kept" and entry.best is not None and entry.best.round == 2


async def test_rounds_are_bounded_and_the_best_version_is_kept_as_not_accepted(tmp_path: Path) -> None:
    asked = Asked(evaluate=[marks(3, 3, 3, 2), marks(3, 3, 3, 3), marks(2, 2, 2, 2)])
    (entry,) = (await crafted(tmp_path, plan(), scripted(asked))).entries
    assert asked.purposes.count("direct") == 3
    assert entry.status == "not_accepted" and entry.best is not None and entry.best.round == 2
    written = yaml.safe_load((tmp_path / entry.file).read_text(encoding="utf-8"))
    assert entry.file.startswith("not-accepted/") and "not-accepted" in written["tags"]
    assert written["origin"]["accepted"] is False and written["origin"]["marks"]["detail"] == 3


async def test_a_director_without_an_answer_leaves_the_draft_which_is_marked(tmp_path: Path) -> None:
    asked = Asked(direct=["No."] * 8)
    (entry,) = (await crafted(tmp_path, plan(), scripted(asked))).entries
    assert entry.status == "kept" and entry.best is not None and entry.best.by == "screenwriter"
    assert asked.purposes[-1] == "evaluate" and entry.detail.startswith("direct/1: unparsed")


async def test_marks_that_cannot_be_read_are_missing_and_accept_nothing(tmp_path: Path) -> None:
    asked = Asked(evaluate=["Fine!"] * 20)
    (entry,) = (await crafted(tmp_path, plan(rounds=1), scripted(asked))).entries
    assert entry.status == "not_accepted" and entry.marks is None
    assert entry.best is not None and "unparsed" in entry.best.unmarked


async def test_a_screenwriter_without_an_answer_is_a_failure_as_data(tmp_path: Path) -> None:
    (entry,) = (await crafted(tmp_path, plan(), scripted(lambda _: "No."))).entries
    assert entry.status == "failed" and entry.detail.startswith("draft: unparsed")


async def test_one_stage_is_the_screenwriter_alone(tmp_path: Path) -> None:
    asked = Asked()
    collection = await crafted(tmp_path, plan(stages="one", director="", evaluator=""), scripted(asked))
    assert asked.purposes == ["draft"]
    assert collection.entries[0].status == "kept"
    (scene_file,) = [text for name, text in files(tmp_path).items() if name.startswith("scenes/")]
    assert yaml.safe_load(scene_file)["tags"] == ["one-stage"]


async def test_in_one_stage_an_evaluator_marks_once_and_refuses_nothing(tmp_path: Path) -> None:
    asked = Asked(evaluate=[marks(1, 1, 1, 1)])
    collection = await crafted(tmp_path, plan(stages="one", director=""), scripted(asked))
    assert asked.purposes == ["draft", "evaluate"] and collection.entries[0].status == "kept"
    assert collection.marks()["all"] == {
        "n": 1,
        **{name: {"mean": 1.0, "sd": None} for name in ("creativity", "coherence", "conformity", "detail")},
    }


async def test_one_and_three_stages_begin_with_the_same_drafts(tmp_path: Path) -> None:
    shared = tmp_path / "ledger.db"
    one = await crafted(tmp_path / "a", plan(3, stages="one", director="", evaluator=""), ledger=shared)
    three = await crafted(tmp_path / "b", plan(3), ledger=shared)
    assert [entry.versions[0].scene.id for entry in one.entries] == [
        entry.versions[0].scene.id for entry in three.entries
    ]


async def test_what_rules_find_is_quoted_and_mended(tmp_path: Path) -> None:
    faulty = scene_draft(random.Random(1), event="The 渡船 is late.")
    asked = Asked(draft=[faulty])
    (entry,) = (await crafted(tmp_path, plan(stages="one", director="", evaluator=""), scripted(asked))).entries
    assert (
        asked.purposes == ["draft", "repair"] and "Chinese inside English text" in asked.requests[1].messages[-1].text
    )
    assert entry.status == "kept"


async def test_a_scene_that_keeps_an_error_is_rejected_with_its_reason(tmp_path: Path) -> None:
    def answer(request: Request) -> Answer:
        said = good(request)
        return {**said, "plot": "他们走了。"} if "plot" in said else said

    (entry,) = (await crafted(tmp_path, plan(), scripted(answer))).entries
    assert entry.status == "rejected" and entry.file.startswith("rejected/")
    assert entry.best is not None and [found.where for found in entry.best.findings] == ["plot"]


async def test_a_scene_that_copies_the_text_is_written_nowhere(tmp_path: Path) -> None:
    text = book(1)

    def answer(request: Request) -> Answer:
        said = good(request)
        return {**said, "plot": text[:900]} if "plot" in said else {**said, "critique": text[:900]}

    (entry,) = (await crafted(tmp_path, plan(text=text, rounds=1), scripted(answer))).entries
    assert entry.status == "rejected" and not entry.file
    assert set(files(tmp_path)) == {"crafting.json"}
    assert not copies(files(tmp_path).values(), text)


def test_a_sound_scene_has_no_finding() -> None:
    assert codes(scene()) == set()


@pytest.mark.parametrize(
    ("language", "change", "text", "code"),
    [
        ("en", {"event": "The 渡船 is late."}, "", "Chinese inside English text"),
        ("en", {"characters": [person("Ann"), person("Ann Lee", aliases=["Ann"])]}, "", ""),
        ("zh", {}, "", "other language"),
        ("en", {"characters": [person("Ann", action=""), person("Bo", action="")]}, "", "nobody acts"),
        ("en", {}, "Carl and Dora met at the mill.", "not in the text"),
        ("en", {}, "Anna met Bo at the mill.", ""),
        ("en", {}, "安娜在磨坊里遇见了一个人，他们谈了很久。", ""),
    ],
)
def test_each_fault_of_a_scene_is_found(language: str, change: Answer, text: str, code: str) -> None:
    assert codes(scene(language, **change), text) == ({code} if code else set())


def test_a_quote_may_be_as_long_as_the_limit_and_no_longer() -> None:
    words = [f"w{at}" for at in range(200)]
    assert not copies([" ".join(words[50 : 50 + LONGEST_QUOTE])], " ".join(words))
    assert copies([" ".join(words[50 : 51 + LONGEST_QUOTE])], " ".join(words))


def test_words_for_silence_are_no_speech_and_shared_aliases_are_left_out() -> None:
    people = [
        person("Ann", speech="None", aliases=["Ann", "the Captain", " "]),
        person("Bo", speech="（沉默）", aliases=["the captain", "Bobo"]),
    ]
    ann, bo = scene(characters=people).characters
    assert ann.opening is not None and ann.opening.speech == ""
    assert bo.opening is not None and bo.opening.speech == ""
    assert (ann.aliases, bo.aliases) == ((), ("Bobo",))


def test_names_without_latin_letters_get_ids_by_position() -> None:
    people = scene("zh", event="船不见了，没有人能离开。", characters=[person("安"), person("李本")]).characters
    assert [one.id for one in people] == ["c1", "c2"]
    people = scene(characters=[person("C2"), person("本"), person("Ann")]).characters
    assert [one.id for one in people] == ["c1", "c2", "ann"]


@pytest.mark.parametrize("number", [1, 3, 6])
def test_a_scene_has_two_to_four_people_with_names_of_their_own(number: int) -> None:
    people = [person(f"Person {at if number != 3 else 0}") for at in range(number)]
    with pytest.raises(ValidationError):
        SceneDraft.model_validate(scene_draft(random.Random(1), characters=people))


@pytest.mark.parametrize(
    ("written", "read"),
    [(4, 4), ("4", 4), ("4/5", 4), ("**4**", 4), ("4 分", 4), ("４", 4), (4.0, 4)]
    + [(bad, None) for bad in (0, 6, 3.5, "3.5", "4/10", True, None, "good", "1 3 5")],
)
def test_marks_are_read_as_written_or_refused(written: object, read: int | None) -> None:
    raw = {**marks(), "detail": written}
    if read is None:
        with pytest.raises(ValidationError):
            Marks.model_validate(raw)
    else:
        assert Marks.model_validate(raw).detail == read


@pytest.mark.parametrize(
    ("given", "accepted"), [((4, 4, 3, 3), True), ((4, 3, 3, 3), False), ((5, 5, 5, 1), False), ((5, 5, 2, 2), True)]
)
def test_acceptance_needs_the_mean_and_no_mark_below_two(given: tuple[int, int, int, int], accepted: bool) -> None:
    assert Marks.model_validate(marks(*given)).reach(3.5) is accepted


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_can_be_told(event: str, profile: str) -> None:
    raw = scene_draft(
        random.Random(1), event=f"x{event}", characters=[person("Ann", profile=f"y{profile}"), person("Bo")]
    )
    made = scene_of(SceneDraft.model_validate(raw), unit="abcdef", language="en", source="crafted", work="", tags=())
    check_scene(made, f"{profile}{sentence(random.Random(2), 60)}")


@pytest.mark.parametrize("name", PROMPTS)
def test_every_prompt_exists_in_both_languages_with_the_same_variables(name: str) -> None:
    english, chinese = load_prompt(name), load_prompt(name, "zh")
    assert chinese.language == "zh" and chinese.variables == english.variables
