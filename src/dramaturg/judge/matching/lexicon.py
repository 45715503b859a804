"""The words by which replies are read: data files of `content/lexicons/matching`, one for each language, read as one.

A reply may answer in another language than its item, or in several, so every language is always read; short words
count only where their place says what they are.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

from dramaturg.files import load_yaml
from dramaturg.judge.matching.words import phrase

Terms = tuple[Annotated[str, StringConstraints(min_length=1)], ...]


class Lexicon(BaseModel):
    """How one language says what replies say.

    Attributes:
        language: ISO 639-1, or a name of its own.
        emotions: Words that say an emotion, by its English name.
        emotion_keys: Keys and heads before an emotion label.
        text_keys: Keys before what the character says.
        decision_keys: Keys and heads before a decision.
        thinking_keys: Keys before what is thought and not said.
        first_person: Pronouns of the speaker.
        feeling_openers: What stands before a felt emotion.
        chiefly: What marks the first of several emotions.
        slightly: What marks an emotion that is not the first.
        yes_words: Yes, alone or at the head of a clause.
        no_words: The same of no.
        accepts: Phrases that accept, wherever they stand.
        declines: Phrases that decline, wherever they stand.
        sooner: Prefer one thing to another.
        sooner_than: Between the two.
        wanting: Wishes, which decide nothing.
        wishes: Wishes that a hindrance takes back; those of `accepts` accept without one.
        hindrances: Keep the speaker from what was asked.
        unreal: Conditions that do not hold ("had I not").
        withholding: The speaker keeps the answer to itself.
        telling: Verbs of a message that asks to be told; whoever withholds declines it.
        unminding: Objects to nothing, or declines; only what follows tells which.
        handing: Asks for the thing that is needed to comply.
        sheltering: Verbs of a message that asks for shelter.
        places: Words of a message that asks for a place.
        ushering: Shows somebody to a place.
        truth_pledges: Promises to tell the truth.
        agreeing: Verbs that accept; a negator turns them.
        refusing: Verbs that decline; a negator turns them.
        generic_acts: Verbs that mean doing what was asked, whatever it was.
        auxiliaries: Verbs that carry the decision.
        says: What may stand between the head of a clause and its yes or no.
        ignored: Phrases with such words that decide nothing.
        both: Yes and no at once.
        unsure: Neither.
        conditions: Open a condition.
        contrasts: What follows outweighs what came before.
        negators: Turn a verb.
        needs_end: Phrases of these lists that count only where their clause ends behind them.
        abandoning: Verbs that say no by what they do.
        function_words: Words that carry no content.
        adverbs: May stand between an auxiliary and its verb.
        inner_voices: Parts of the speaker that speak for it.
        other_people: Who else may speak or act.
        behind_no: May stand directly behind a no.
        speaking: Verbs of speaking.
        mental_verbs: Verbs that do nothing that was asked.
        nothing: Turn a verb from behind.
        openings: May stand before the answer of a clause.
        loose_answers: Yes words that open a clause in other senses too.
        lone_answers: Yes and no words that answer only as a clause of their own.
        reassuring: A no that lets things happen.
        gestures_yes: Acts that accept.
        gestures_no: Acts that decline.
        negative_question: How a question is asked in the negative.
        minding: How a question asks for an objection.
        assistant: A model that speaks as an assistant, or of itself as a machine.
        assistant_even_for_machines: Those that no machine character says either.
        denied_machine: Says that the speaker is none.
        refusing_request: A model declines a request, wherever it stands.
        refusing_whole: The same, where the reply says nothing else.
        polite: Words around it.
        negation: Deny a fact in the same clause.
        affirming: Phrases with such a word that deny nothing.
        doubting: Leave a fact open.
        tag_questions: Ask for consent behind a statement.
        own: Before a name: the speaker's.
        alternatives: Join alternatives.
        given_titles: Words that are titles and callings as well as names.
        determiners: Before a common noun.
        name_verbs: Behind a name that opens a sentence.
        name_introducers: Before a name.
        place_prefixes: First words of names whose last word is no surname.
        titled: Titles before a surname.
        months: Names of each month, from January; empty, or one entry for each.
        numbers: Numerals.
        ordinals: Ordinal numerals.
        number_joints: Inside a numeral.
        date_joints: Between the parts of a date.
        century: The word for it.
        before_era: Behind a year before the common era.
        year_openers: Before a year.
        countables: Behind a number that counts.
        counted: Before a number that counts.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    language: str
    emotions: dict[str, Terms] = {}
    emotion_keys: Terms = ()
    text_keys: Terms = ()
    decision_keys: Terms = ()
    thinking_keys: Terms = ()
    first_person: Terms = ()
    feeling_openers: Terms = ()
    chiefly: Terms = ()
    slightly: Terms = ()
    yes_words: Terms = ()
    no_words: Terms = ()
    accepts: Terms = ()
    declines: Terms = ()
    sooner: Terms = ()
    sooner_than: Terms = ()
    wanting: Terms = ()
    wishes: Terms = ()
    hindrances: Terms = ()
    unreal: Terms = ()
    withholding: Terms = ()
    telling: Terms = ()
    unminding: Terms = ()
    handing: Terms = ()
    sheltering: Terms = ()
    places: Terms = ()
    ushering: Terms = ()
    truth_pledges: Terms = ()
    agreeing: Terms = ()
    refusing: Terms = ()
    generic_acts: Terms = ()
    auxiliaries: Terms = ()
    says: Terms = ()
    ignored: Terms = ()
    both: Terms = ()
    unsure: Terms = ()
    conditions: Terms = ()
    contrasts: Terms = ()
    negators: Terms = ()
    needs_end: Terms = ()
    abandoning: Terms = ()
    function_words: Terms = ()
    adverbs: Terms = ()
    inner_voices: Terms = ()
    other_people: Terms = ()
    behind_no: Terms = ()
    speaking: Terms = ()
    mental_verbs: Terms = ()
    nothing: Terms = ()
    openings: Terms = ()
    loose_answers: Terms = ()
    lone_answers: Terms = ()
    reassuring: Terms = ()
    gestures_yes: Terms = ()
    gestures_no: Terms = ()
    negative_question: Terms = ()
    minding: Terms = ()
    assistant: Terms = ()
    assistant_even_for_machines: Terms = ()
    denied_machine: Terms = ()
    refusing_request: Terms = ()
    refusing_whole: Terms = ()
    polite: Terms = ()
    negation: Terms = ()
    affirming: Terms = ()
    doubting: Terms = ()
    tag_questions: Terms = ()
    own: Terms = ()
    alternatives: Terms = ()
    given_titles: Terms = ()
    determiners: Terms = ()
    name_verbs: Terms = ()
    name_introducers: Terms = ()
    place_prefixes: Terms = ()
    titled: Terms = ()
    months: tuple[Terms, ...] = ()
    numbers: dict[str, int] = {}
    ordinals: dict[str, int] = {}
    number_joints: Terms = ()
    date_joints: Terms = ()
    century: Terms = ()
    before_era: Terms = ()
    year_openers: Terms = ()
    countables: Terms = ()
    counted: Terms = ()


@functools.cache
def lexicons() -> tuple[Lexicon, ...]:
    """Returns the shipped lexicons, English first."""
    loaded = [load_yaml(path, Lexicon) for path in sorted(_folder().glob("*.yaml"))]
    return tuple(sorted(loaded, key=lambda one: one.language != "en"))


@functools.cache
def phrases(list_name: str) -> frozenset[tuple[str, ...]]:
    """Returns the folded phrases of one list, in every language.

    Args:
        list_name: Attribute of `Lexicon` that is a list.
    """
    return frozenset(filter(None, (phrase(term) for one in lexicons() for term in _terms(one, list_name))))


@functools.cache
def single_words(list_name: str) -> frozenset[str]:
    """Returns the phrases of one list that are one word, in every language."""
    return frozenset(words[0] for words in phrases(list_name) if len(words) == 1)


@functools.cache
def common_words() -> frozenset[str]:
    """Returns English words that are names as well once they are capitalised, folded."""
    text = (_folder() / "common-words.txt").read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


@functools.cache
def given_names() -> frozenset[str]:
    """Returns given names, folded: a name that ends in one has no surname there."""
    text = (_folder() / "given-names.txt").read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


def _terms(one: Lexicon, list_name: str) -> Iterable[str]:
    terms: Terms = getattr(one, list_name)
    return terms


def _folder() -> Path:
    return Path(str(resources.files("dramaturg"))) / "content" / "lexicons" / "matching"
