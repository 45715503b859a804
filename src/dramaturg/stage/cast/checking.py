"""Checks of sketches and descriptions that need no model.

They are rules over words, written for English: they find what is surely wrong and may overlook what is worded in
another way. An error means that the character should not be played so.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from dramaturg.model.lexical import tokens
from dramaturg.stage import finding
from dramaturg.stage.cast.character import Character
from dramaturg.stage.cast.eras import HUMAN, Setting, anachronisms, settings, traits
from dramaturg.stage.cast.names import cultures
from dramaturg.stage.cast.numerals import numeral_words
from dramaturg.stage.cast.profile import Profile
from dramaturg.stage.cast.sketch import Sketch
from dramaturg.stage.finding import Severity, by_severity

Code = Literal[
    "setting-unknown",
    "implausible",
    "opposed-traits",
    "name-absent",
    "age-absent",
    "age-contradicted",
    "gender-contradicted",
    "occupation-absent",
    "era-absent",
    "race-absent",
    "not-second-person",
    "anachronism",
    "length",
    "markup",
    "assistant-speaks",
]
CODES: tuple[Code, ...] = get_args(Code)

FEWEST_WORDS = 60
MOST_WORDS = 450

_MOST_FIRST_PERSON = 2
_QUOTED = re.compile(r"“[^”]*”|\"[^\"]*\"")
_SECOND = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)
_FIRST = re.compile(r"\b(?:I|I['’]m|I['’]ve|my|me|myself)\b")
_OPENS = re.compile(r"\A\W*(?:\w+\W+){0,14}?(?:you|your|you['’]re)\b", re.IGNORECASE)
_MARKUP = re.compile(r"```|\{\{|\}\}|^\s*#{1,6}\s|\*\*[^*\n]+\*\*|</?[a-z][^<>\n]*>|\[[A-Z][\w ]{1,30}\]", re.MULTILINE)
_ASSISTANT = re.compile(
    r"\b(?:as an AI|language model|here(?:['’]s| is) (?:a|the|your) (?:character|description|second)"
    r"|let me know if|I hope this|sure[,!] here)\b",
    re.IGNORECASE,
)
_NUMERALS = {numeral_words(number): number for number in range(2, 1_000)}
_NUMBER = r"\d{1,6}|[a-z]+(?:-[a-z]+)?(?: hundred(?: [a-z]+(?:-[a-z]+)?)?)?"
"""What may be a numeral; whether it is one is looked up."""
_NOW = r"(?:now |only |just |already |barely |about )?"
_AGE_TOLD = re.compile(
    rf"\b(?:you are|you['’]re) {_NOW}(?P<is>{_NUMBER})(?=[ -]years?[ -](?:old|of age)|[,.;]| and (?:you|have|a)\b)"
    rf"|\b(?P<old>{_NUMBER})[ -]years?[ -]old (?:man|woman|girl|boy|elf|dwarf|robot|android|fox)",
    re.IGNORECASE,
)
_YOU_ARE = r"\b(?:you are|you['’]re|as) (?:an? )?"
_ADJECTIVES = (
    r"(?:(?!(?:an?|and|by|for|from|her|his|no|not|of|that|the|their|to|who|whose|with|your)\b)[\w-]+,? ){0,4}?"
)
_CALLED: Mapping[str, re.Pattern[str]] = {
    gender: re.compile(rf"{_YOU_ARE}{_ADJECTIVES}(?:{nouns})\b(?!['’])", re.IGNORECASE)
    for gender, nouns in (
        ("male", "woman|girl|lady|mother|wife|widow|daughter"),
        ("female", "man|boy|gentleman|father|husband|widower|son"),
    )
}
"""What somebody of a gender is not called."""
_COMMON = frozenset("a an and at for from in into new of on or the then to turned who".split())


@dataclass(frozen=True, slots=True)
class Finding(finding.Finding):
    """One thing that is doubtful about a sketch or a description; see `dramaturg.stage.finding.Finding`."""

    code: Code


def check_sketch(sketch: Sketch) -> tuple[Finding, ...]:
    """Returns what is doubtful about a sketch, the worst first: whether its setting allows what it says."""
    return by_severity(list(_plausible(sketch)))


def check_character(character: Character) -> tuple[Finding, ...]:
    """Returns what is doubtful about a character's description, the worst first.

    What a profile says is looked for where the character has one; time and form always are.
    """
    found = list(_form(character.description))
    if character.knows_until is not None:
        found += (
            _error("anachronism", f"{word!r} is of {novelty.year}, and the character lives in {character.knows_until}")
            for word, novelty in anachronisms(character.description, character.knows_until)
        )
    if character.profile is not None:
        found += _told(character.description, character.profile)
    return by_severity(found)


def _plausible(sketch: Sketch) -> Iterator[Finding]:
    profile = sketch.profile
    known = traits()
    for one, other in known.opposed:
        if one in profile.personality and other in profile.personality:
            yield Finding("opposed-traits", "error", "profile.personality", f"is both {one} and {other}")
    setting = settings().get(sketch.setting)
    if setting is None:
        yield Finding("setting-unknown", "error", "setting", f"no setting is called {sketch.setting!r}")
        return

    yield from _working(sketch, setting)
    yield from _living(sketch, setting)


def _implausible(setting: Setting, where: str, text: str, severity: Severity = "error") -> Finding:
    return Finding("implausible", severity, where, f"{text} in the setting {setting.id}")


def _working(sketch: Sketch, setting: Setting) -> Iterator[Finding]:
    profile = sketch.profile
    occupation = next((one for one in setting.occupations if one.is_ == profile.occupation), None)
    if occupation is None:
        yield _implausible(setting, "profile.occupation", f"nobody is a {profile.occupation}")
        return
    least, most = (bound * setting.lifespan for bound in occupation.ages)
    if not least <= profile.age <= most:
        told = f"a {profile.occupation} is {least} to {most} years old, not {profile.age},"
        yield _implausible(setting, "profile.age", told)
    if occupation.genders and profile.gender not in occupation.genders:
        yield _implausible(setting, "profile.gender", f"no {profile.occupation} is {profile.gender}")


def _living(sketch: Sketch, setting: Setting) -> Iterator[Finding]:
    profile = sketch.profile
    if profile.race not in setting.races:
        yield _implausible(setting, "profile.race", f"nobody is a {profile.race}")
    if profile.place not in setting.places:
        yield _implausible(setting, "profile.place", f"{profile.place!r} does not lie")
    culture = cultures()[setting.culture]
    if not any(culture.has(profile.name, gender) for gender in culture.by_gender if gender == profile.gender):
        told = f"{profile.name!r} is no {setting.culture} name that is {profile.gender}"
        yield _implausible(setting, "profile.name", told, "warning")
    if not _lives_then(sketch.knows_until, setting):
        yield _implausible(setting, "knows_until", f"nobody lives in the year {sketch.knows_until}")
    elif profile.era != setting.era.format(year=sketch.knows_until):
        told = f"{profile.era!r} is another time than the year {sketch.knows_until}"
        yield _implausible(setting, "profile.era", told)
    if sketch.machine != setting.machine:
        yield _implausible(setting, "machine", "who is a machine is another matter")
    if sketch.origin != setting.origin:
        yield _implausible(setting, "origin", f"nobody is {sketch.origin}")


def _lives_then(year: int | None, setting: Setting) -> bool:
    if year is None or setting.years is None:
        return year is None and setting.years is None
    return setting.years[0] <= year <= setting.years[1]


def _form(text: str) -> Iterator[Finding]:
    words = len(tokens(text))
    if not FEWEST_WORDS <= words <= MOST_WORDS:
        severity = "error" if words < FEWEST_WORDS // 2 or words > 2 * MOST_WORDS else "warning"
        yield Finding(
            "length", severity, "description", f"has {words} words; {FEWEST_WORDS} to {MOST_WORDS} are expected"
        )
    unquoted = _QUOTED.sub(" ", text)
    first = len(_FIRST.findall(unquoted))
    second = len(_SECOND.findall(unquoted))
    if _OPENS.search(unquoted) is None or second < 3 or first > _MOST_FIRST_PERSON:
        told = (
            f"says “you” {second} times and “I” {first} times; it must speak to the character, from its first sentence"
        )
        yield _error("not-second-person", told)
    if markup := _MARKUP.search(text):
        yield _error("markup", f"holds {markup[0].strip()!r}")
    if spoken := _ASSISTANT.search(unquoted):
        yield _error("assistant-speaks", f"holds {spoken[0]!r}, which is no part of a description")


def _told(text: str, profile: Profile) -> Iterator[Finding]:
    """Yields what of the profile the text does not say, or contradicts."""
    said = set(_plain_words(text))
    if not said.issuperset(_plain_words(profile.name)):
        yield _error("name-absent", f"does not say the name {profile.name!r}")
    yield from _age(text, said, profile)
    called = _CALLED.get(profile.gender)
    if called is not None and (found := called.search(text)):
        yield _error("gender-contradicted", f"says {found[0]!r} of somebody who is {profile.gender}")
    if not _says_half(said, profile.occupation):
        yield _error("occupation-absent", f"does not say the occupation: {profile.occupation}")
    if not _says_half(said, profile.era) and not _says_half(said, profile.place):
        yield _error("era-absent", f"says neither the time nor the place: {profile.era}; {profile.place}")
    if profile.race != HUMAN and not _says_half(said, profile.race):
        yield _error("race-absent", f"does not say that the character is a {profile.race}")


def _age(text: str, said: set[str], profile: Profile) -> Iterator[Finding]:
    in_words = numeral_words(profile.age)
    if str(profile.age) not in said and not set(_plain_words(in_words)) <= said:
        yield _error("age-absent", f"does not say the age: {profile.age}, or {in_words}")
    for found in _AGE_TOLD.finditer(text):
        told = (found["is"] or found["old"]).lower()
        age = int(told) if told.isdigit() else _NUMERALS.get(told)
        if age is not None and age != profile.age:
            yield _error("age-contradicted", f"says {found[0]!r} of somebody who is {profile.age}")


def _says_half(said: set[str], wanted: str) -> bool:
    """Returns whether at least half of the words of a trait stand in a text, in any ending."""
    words = [word for word in _plain_words(wanted) if word not in _COMMON]
    stems = {_stem(word) for word in said}
    return 2 * sum(_stem(word) in stems for word in words) >= len(words)


def _stem(word: str) -> str:
    """Returns a word without a usual ending, so that “weaving” and “weaver” are one."""
    for ending in ("ings", "ing", "ers", "er", "ors", "or", "es", "ed", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


def _plain_words(text: str) -> list[str]:
    """Returns the words of a text without accents and possessives."""
    plain = unicodedata.normalize("NFKD", re.sub(r"['’]s\b", "", text))
    return tokens("".join(sign for sign in plain if not unicodedata.combining(sign)))


def _error(code: Code, text: str) -> Finding:
    return Finding(code, "error", "description", text)
