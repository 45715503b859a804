"""Translations: they say what their source says today, and ask it in the same form."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dramaturg.errors import ContentError
from dramaturg.files import load_yaml, shipped
from dramaturg.judge.checklist import Checklist
from dramaturg.judge.checklist.rendering import marks
from dramaturg.model.vocabulary import read_yes_no
from dramaturg.prompts import load_prompt, parse_prompt, prompt_names, stale_translations
from judging_fixtures import SMALL, answer, judged

LANGUAGES = ("it", "zh")
TRANSLATED = [name for name in prompt_names() if name.startswith(("judge-", "structured-"))]
IN_EVERY_LANGUAGE = ("court", "customer-service")
CHECKLISTS = [*(f"{source}-{language}" for source in IN_EVERY_LANGUAGE for language in LANGUAGES), "safety-zh"]
KEYS = re.compile(
    r'"(?:answers|id|reasoning|answer|evidence|yes|no|not_applicable)"|</?(?:reference|roles|transcript)>'
)


def test_no_prompt_has_changed_since_it_was_translated():
    stale = [
        f"{name}: translate what changed and write {{# source: {hash} #}}"
        for name, hash in stale_translations().items()
    ]
    assert not stale, "\n".join(stale)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", TRANSLATED)
def test_a_translated_prompt_asks_for_the_same_form(name: str, language: str):
    source, translated = load_prompt(name), load_prompt(name, language)
    assert translated.language == language
    assert translated.variables == source.variables
    assert KEYS.findall(translated.text) == KEYS.findall(source.text)
    assert "source:" not in translated.fill(**dict.fromkeys(translated.variables, "x"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_around_a_turn_are_all_translated(language: str):
    assert marks(language).keys() == marks("en").keys()
    assert all(marks(language).values())
    assert not set(marks(language).values()) & set(marks("en").values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_answers_that_a_prompt_names_are_read(language: str):
    offered = re.split(r", | o |、|或", load_prompt("judge-answers-three", language).fill())
    assert [read_yes_no(word) for word in offered] == ["yes", "no", "not_applicable"]


def test_the_hash_of_a_prompt_is_of_what_a_model_reads():
    head, text = "{# variables: #}\n", "Ciao.\n"
    translated = parse_prompt(f"{head}{{# source: {'0' * 64} #}}\n{text}", name="p", language="it", where="p.txt")
    assert translated.hash == parse_prompt(head + text, name="p", language="it", where="p.txt").hash
    assert (translated.translated_from, translated.fill()) == ("0" * 64, "Ciao.")


def test_an_error_behind_the_source_line_has_the_right_line():
    text = f"{{# variables: #}}\n{{# source: {'0' * 64} #}}\n{{{{name}}}}\n"
    with pytest.raises(ContentError, match=r"p\.txt:3: unknown variable 'name'"):
        parse_prompt(text, name="p", language="it", where="p.txt")


@pytest.mark.parametrize("name", CHECKLISTS)
def test_a_translated_checklist_is_its_source_in_other_words(name: str):
    translated = load_yaml(shipped("checklists")[name], Checklist)
    assert translated.translation is not None
    source = load_yaml(shipped("checklists")[translated.translation.source], Checklist)
    assert (translated.translation.version, translated.translation.source_hash) == (source.version, source.hash)
    assert [indicator.id for indicator in translated.indicators] == [indicator.id for indicator in source.indicators]
    words = {"text", "ask", "not_applicable_when", "note"}
    for mine, other in zip(translated.indicators, source.indicators, strict=True):
        assert mine.model_dump(exclude=words) == other.model_dump(exclude=words)
        assert bool(mine.ask) == bool(other.ask)
        assert bool(mine.not_applicable_when) == bool(other.not_applicable_when)
        assert mine.text != other.text
    assert [d.model_dump(include={"id"}) for d in translated.dimensions] == [
        d.model_dump(include={"id"}) for d in source.dimensions
    ]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_judge_is_asked_in_the_language_of_the_checklist(tmp_path: Path, language: str):
    by = SMALL.model_copy(update={"language": language})
    said = iter(["no idea", answer()] * len(SMALL.indicators))
    found, requests = await judged(tmp_path, lambda _: next(said), by=by, concurrency=1)
    assert {judgement.answer for judgement in found.values()} == {"yes"}
    english = {load_prompt(name).text.split("{{")[0].strip() for name in TRANSLATED} - {""}
    chats = "\n".join(message.text for request in requests for message in request.messages)
    assert not [text for text in english if len(text) > 20 and text in chats]
    assert load_prompt("structured-reask-lines", language).text.split("{{")[0] in chats
