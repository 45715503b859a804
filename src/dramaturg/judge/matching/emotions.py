"""Which of a set's emotions a reply names: by a key, a tag, a head, alone, or in running text."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dramaturg.judge.matching import flags
from dramaturg.judge.matching.lexicon import lexicons, phrases, single_words
from dramaturg.judge.matching.speech import Speech, values
from dramaturg.judge.matching.words import Phrases, Words, phrase, words_of
from dramaturg.text import Json

_TAG = re.compile(
    r"[\[(<{【「（《*_#~|]{1,3}\s{0,3}(?P<inside>[^\[\](){}<>【】「」（）《》*_#~|\n]{1,60}?)"
    r"\s{0,3}[\])>}】」）》*_#~|]{1,3}"
)
_ELEMENT = re.compile(r"<(?P<name>[^\W\d][\w-]{0,30})>\s{0,40}(?P<inside>[^<>]{1,80}?)\s{0,40}</(?P=name)>")
_HEAD = re.compile(
    r"^[\s*_#>\-•\[(\"'“]{0,8}(?P<key>[^\W\d][\w ]{0,30}?)[\s*_\"'”]{0,6}[:：=]"
    r"[\s*_\[(\"'“]{0,8}(?P<value>[^\n]{1,80})",
    re.MULTILINE,
)
_OPENING = re.compile(
    r"\A[\s*_#>\"'“]{0,6}(?P<value>[^\W\d_]+(?:\s[^\W\d_]+)?)"
    r"[\s*_\"'”]{0,4}(?:[:：.!,，。！;—–…\n]|\s-|--|\Z)"
)
_EMOJI: Mapping[str, str] = {
    **dict.fromkeys("😡😠🤬👿💢", "anger"), **dict.fromkeys("😢😭😔😞🥺💔😥", "sadness"),
    **dict.fromkeys("😱😨😰😧", "fear"), **dict.fromkeys("😮😲😯🤯", "surprise"),
    **dict.fromkeys("🤢🤮", "disgust"), **dict.fromkeys("😀😃😄😁😊😂🥳", "joy"),
    **dict.fromkeys("😍🥰❤💕💖😘", "love"), **dict.fromkeys("🤩", "excitement"),
}  # fmt: skip
_LONGEST_FIELD = 120
_REACH = 5
"""Words between an opener such as "I feel" and the emotion."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply answers.

    Attributes:
        answers: Every answer that it gives, in order, each once; one of them is an answer, several are none.
        flags: What was noticed.
        outside: Emotions that are none of the set's.
        line: The spoken line beside the answer; None where the form has no place for one.
    """

    answers: tuple[str, ...] = ()
    flags: frozenset[str] = frozenset()
    outside: tuple[str, ...] = ()
    line: str | None = None


@dataclass(frozen=True, slots=True)
class _Named:
    label: str
    inside: bool
    exact: bool
    start: int
    end: int


def read_emotion(speech: Speech, labels: Sequence[str]) -> Reading:
    """Returns the emotions that a reply answers with.

    Args:
        speech: The reply.
        labels: The set's.
    """
    names = _names(tuple(labels))
    for read in (_by_key, _by_tag, _by_head):
        reading = read(speech, names)
        if reading is not None:
            return reading
    return _in_prose(speech.text, names)


def emotions_told(text: str, labels: Sequence[str]) -> tuple[str, ...]:
    """Returns the emotions that a spoken line says its speaker feels.

    Args:
        text: The line.
        labels: The set's.
    """
    words = words_of(text[:4000])
    return _distinct(one for one in _found(words, _names(tuple(labels))) if one.inside and _is_felt(words, one.start))


@functools.lru_cache(maxsize=64)
def _names(labels: tuple[str, ...]) -> Phrases[tuple[str, bool, bool]]:
    """Returns what names an emotion: the label, whether it is the set's, and whether the word is the label itself."""
    known: dict[tuple[str, ...], tuple[str, bool, bool]] = {}
    families: dict[str, list[tuple[str, ...]]] = {}
    for one in lexicons():
        for name, terms in one.emotions.items():
            families.setdefault(name, []).extend(phrase(term) for term in terms)
    own = {phrase(label): label for label in labels}
    for wanted in (True, False):
        for name, terms in families.items():
            label = own.get(phrase(name))
            if (label is not None) == wanted:
                for words in terms:
                    known.setdefault(words, (label or name, wanted, False))
    for words, label in own.items():
        known[words] = (label, True, True)
        for ending in ("ly", "ed", "ing", "ful"):
            known.setdefault((*words[:-1], words[-1] + ending), (label, True, False))
    return Phrases(known)


def _by_key(speech: Speech, names: Phrases[tuple[str, bool, bool]]) -> Reading | None:
    said: list[_Named] = []
    line: str | None = None
    seen: set[str] = set()
    for fields in speech.objects:
        field_line = next((text for text in values(fields, ["text_keys"]) if isinstance(text, str)), None)
        given = values(fields, ["emotion_keys", "decision_keys"])
        found = [one for value in given for one in _in_value(value, names, seen)]
        if not found:
            found = _scored(fields, names)
        said += found
        line = field_line if line is None else line
    if not said:
        return None
    if speech.around.strip():
        seen.add(flags.TRAILING_TEXT)
    return _reading(said, seen, "" if line is None else line)


def _in_value(value: Json, names: Phrases[tuple[str, bool, bool]], seen: set[str]) -> list[_Named]:
    match value:
        case str():
            return _in_field(value, names, seen)
        case Mapping():
            inner = values(value, ["emotion_keys", "decision_keys"])
            return [one for part in inner for one in _in_value(part, names, seen)] or _scored(value, names)
        case list() | tuple():
            return [one for part in value for one in _in_value(part, names, seen)]
        case _:
            return []


def _scored(fields: Mapping[str, Json], names: Phrases[tuple[str, bool, bool]]) -> list[_Named]:
    """Returns the emotion with the highest number, where the keys are emotions; both where two are highest."""
    scores: list[tuple[float, _Named]] = []
    for key, value in fields.items():
        words = words_of(key[:40])
        named = _found(words, names)
        if len(named) == 1 and named[0].end - named[0].start == len(words.words):
            if isinstance(value, bool | int | float):
                scores.append((float(value), named[0]))
            elif isinstance(value, str):
                scores.append((1.0, named[0]))
    best = max((score for score, _ in scores), default=0.0)
    return [named for score, named in scores if score == best and best > 0]


def _in_field(text: str, names: Phrases[tuple[str, bool, bool]], seen: set[str]) -> list[_Named]:
    """Returns the emotions of a field that holds little else; the chief one alone, where one is."""
    if len(text) > _LONGEST_FIELD:
        return []
    words = words_of(text)
    named = [one for one in _found(words, names) if not _is_negated(words, one.start)]
    if len({one.label for one in named}) > 1:
        first = named[0]
        lesser = [one for one in named[1:] if one.label != first.label]
        chief = any(hit.end <= first.start for hit in _chiefly().find(words.words))
        if chief or all(_is_slight(words, one.start, first.end) for one in lesser):
            seen.add(flags.SECOND_LABEL)
            return [first]
    return named


def _by_tag(speech: Speech, names: Phrases[tuple[str, bool, bool]]) -> Reading | None:
    text = speech.text
    said: list[_Named] = []
    seen: set[str] = set()
    rest: list[str] = []
    end = 0
    for found in (*_ELEMENT.finditer(text[:20_000]), *_TAG.finditer(text[:20_000])):
        words = words_of(found["inside"])
        named = _in_field(found["inside"], names, seen)
        filled = sum(one.end - one.start for one in _found(words, names))
        helped = sum(word in single_words("emotion_keys") or word in _JOINTS for word in words.words)
        element = "name" in found.groupdict()
        if named and (filled + helped >= len(words.words) or (element and filled * 2 >= len(words.words))):
            said += named
        if said and found.start() >= end:
            rest.append(text[end : found.start()])
            end = found.end()
    if not said:
        return None
    opens = _TAG.match(text) or _ELEMENT.match(text)
    if opens is None and len(text) > _LONGEST_FIELD and not text.rstrip().endswith((")", "]", "*", ">", "}")):
        seen.add(flags.PROSE)
    rest.append(text[end:])
    return _reading(said, seen, "".join(rest).strip(" \n*_-:"))


_JOINTS = frozenset(
    {
        "and",
        "or",
        "with",
        "a",
        "of",
        "the",
        "is",
        "my",
        "et",
        "e",
        "und",
        "y",
        "mostly",
        "mainly",
        "hint",
        "touch",
        "tinge",
        "not",
        "very",
        "quiet",
        "deep",
        "pure",
        "mixed",
    }
)


def _by_head(speech: Speech, names: Phrases[tuple[str, bool, bool]]) -> Reading | None:
    text = speech.text[:20_000]
    said: list[_Named] = []
    seen: set[str] = set()
    line: list[str] = []
    for found in _HEAD.finditer(text):
        key = " ".join(phrase(found["key"]))
        if key in _emotion_heads():
            said += _in_field(re.split(r"[.!?\n]|\s[-–—]\s", found["value"], maxsplit=1)[0], names, seen)
            value_rest = re.split(r"[.!?\n]|\s[-–—]\s", found["value"], maxsplit=1)[1:]
            line += [*value_rest, text[found.end() :]] if not line else []
    if said:
        return _reading(said, seen, "\n".join(line).strip())
    whole = words_of(text[:_LONGEST_FIELD]) if len(text) < _LONGEST_FIELD else None
    named = _found(whole, names) if whole is not None else []
    covered = sum(one.end - one.start for one in named)
    if whole is not None and named and covered + sum(word in _JOINTS for word in whole.words) >= len(whole.words):
        return _reading([one for one in named if not _is_negated(whole, one.start)], seen, "")
    opening = _OPENING.match(text)
    if opening is not None:
        words = words_of(opening["value"])
        named = _found(words, names)
        if len(named) == 1 and named[0].end - named[0].start == len(words.words):
            return _reading(named, seen, text[opening.end() :].strip())
    last = text.rstrip().rsplit("\n", 1)[-1]
    if len(last) <= 40 and "\n" in text.strip():
        words = words_of(last)
        named = _found(words, names)
        if named and sum(one.end - one.start for one in named) == len(words.words):
            return _reading(named, seen, text[: -len(last)].strip())
    return None


@functools.cache
def _emotion_heads() -> frozenset[str]:
    keys = {" ".join(words) for words in phrases("emotion_keys")}
    return frozenset(
        {*keys, *(f"my {key}" for key in keys), *(f"the {key}" for key in keys), *(f"{key} tag" for key in keys)}
    )


def _in_prose(text: str, names: Phrases[tuple[str, bool, bool]]) -> Reading:
    """Returns the emotions that running text says its speaker feels; else any that it names."""
    words = words_of(text[:6000])
    named = [one for one in _found(words, names) if not _is_negated(words, one.start)]
    if not named:
        shown = [_EMOJI[sign] for sign in text[:2000] if sign in _EMOJI]
        said = [one for name in dict.fromkeys(shown) for one in _found(words_of(name), names)]
        return _reading(said, {flags.ALIAS} if said else set(), "")
    felt = [one for one in named if _is_felt(words, one.start)]
    outside = [one for one in felt if not one.inside]
    named = [one for one in named if one.inside]
    mine = [one for one in named if _is_own(words, one)]
    for some in ([one for one in felt if one.inside], mine, named, outside):
        if some:
            seen = {flags.PROSE}
            first = some[0]
            lesser = [one for one in some[1:] if one.label != first.label]
            if lesser and all(_is_slight(words, one.start, first.end) for one in lesser):
                seen.add(flags.SECOND_LABEL)
                some = [first]
            return _reading(some, seen, text)
    return Reading()


def _reading(said: Sequence[_Named], seen: set[str], line: str | None) -> Reading:
    inside = _distinct(one for one in said if one.inside)
    outside = _distinct(one for one in said if not one.inside)
    noticed = set(seen)
    if inside and not all(one.exact for one in said if one.inside):
        noticed.add(flags.ALIAS)
    if outside:
        noticed.add(flags.LABEL_OUTSIDE)
    return Reading((*inside, *outside), frozenset(noticed), outside, line)


def _distinct(named: Iterable[_Named]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.label for one in named))


def _found(words: Words, names: Phrases[tuple[str, bool, bool]]) -> list[_Named]:
    return [_Named(*hit.kind, hit.start, hit.end) for hit in names.find(words.words)]


@functools.cache
def _affirming() -> Phrases[bool]:
    return Phrases(dict.fromkeys(phrases("affirming"), True))


@functools.cache
def _chiefly() -> Phrases[bool]:
    return Phrases(dict.fromkeys(phrases("chiefly"), True))


@functools.cache
def _slightly() -> Phrases[bool]:
    return Phrases(dict.fromkeys(phrases("slightly"), True))


@functools.cache
def _openers() -> Phrases[bool]:
    return Phrases(dict.fromkeys(phrases("feeling_openers"), True))


def _is_slight(words: Words, start: int, after: int) -> bool:
    return any(True for _ in _slightly().find(words.words, max(after, start - _REACH), start))


def _is_negated(words: Words, start: int) -> bool:
    before = list(words.clause_before(start)[-3:])
    for turn in ("but", "only", "mais", "ma", "sondern", "sino"):
        if turn in before:
            before = before[before.index(turn) + 1 :]
    cleared = {index for hit in _affirming().find(before) for index in range(hit.start, hit.end)}
    return any(word in single_words("negators") and index not in cleared for index, word in enumerate(before))


def _is_felt(words: Words, start: int) -> bool:
    """Returns whether an opener such as "I feel" stands closely before an emotion, in a clause about the speaker."""
    before = words.clause_before(start)
    low = max(0, len(before) - _REACH)
    near = before[low:]
    if any(word in _OTHERS for word in near):
        return False
    return any(True for _ in _openers().find(near))


_OTHERS = frozenset(
    {
        "he",
        "she",
        "they",
        "you",
        "your",
        "his",
        "her",
        "their",
        "he's",
        "people",
        "wife",
        "brother",
        "father",
        "mother",
        "son",
        "daughter",
        "il",
        "elle",
        "tu",
        "vous",
        "lui",
        "lei",
        "他",
        "她",
        "你",
    }
)


def _is_own(words: Words, one: _Named) -> bool:
    before = words.clause_before(one.start)
    return any(word in single_words("first_person") for word in before) and not any(word in _OTHERS for word in before)
