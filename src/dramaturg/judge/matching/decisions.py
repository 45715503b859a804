"""Whether a reply says yes or no: by a key, a tag, a head, in running text, or by a gesture."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence

from dramaturg.judge.matching import flags
from dramaturg.judge.matching.emotions import Reading
from dramaturg.judge.matching.lexicon import phrases
from dramaturg.judge.matching.signs import Side, other
from dramaturg.judge.matching.speech import Speech, is_key, values
from dramaturg.judge.matching.weighing import is_negative, weigh
from dramaturg.judge.matching.words import Phrases, phrase, words_of
from dramaturg.text import Json

_TAG = re.compile(
    r"\A[\s>\"'“]{0,4}(?P<open>[\[(<{【*_]{1,3})\s{0,3}(?P<inside>[^\[\](){}<>【】*_\n]{1,40}?)"
    r"\s{0,3}[\])>}】*_]{1,3}[\s:.,\-–—]{0,4}"
)
_LAST_TAG = re.compile(r"[\[【]\s{0,3}(?P<inside>[^\[\]【】\n]{1,30})\s{0,3}[\]】]")
_HEAD = re.compile(
    r"^[\s*_#>\-•\[(\"'“]{0,8}(?P<key>[^\W\d][\w ]{0,24}?)[\s*_\"'”]{0,4}[:：=]"
    r"[\s*_\[(\"'“]{0,6}(?P<value>[^\n]{0,200})",
    re.MULTILINE,
)
_ACTION = re.compile(
    r"\*{1,2}(?P<act>[^*\n]{2,120})\*{1,2}|\((?P<aside>[^()\n]{2,120})\)|\[(?P<square>[^\[\]\n]{2,120})\]"
)
_EMOJI: Mapping[str, Side] = {**dict.fromkeys("👍✅✔☑🙆👌🤝🆗", "yes"), **dict.fromkeys("👎❌✖🙅🚫⛔", "no")}
_MOST_READ = 6000
_FIELD = 60


def read_decision(speech: Speech, message: str) -> Reading:
    """Returns whether a reply says yes, no, or both.

    Args:
        speech: The reply.
        message: What was asked.
    """
    for read in (_by_key, _by_tag, _by_head):
        found = read(speech, message)
        if found is not None:
            return found
    text = speech.text
    weighed = weigh(text, message)
    if not weighed.sides:
        shown = _shown(text[:2000])
        if shown:
            return Reading(shown, frozenset({flags.ALIAS}), line=None)
        gestures = _gestures(text)
        if gestures:
            return Reading(gestures, frozenset({flags.GESTURE}), line=text)
    noticed = set(weighed.flags)
    if weighed.sides and len(words_of(text[:200]).words) > 1:
        noticed.add(flags.PROSE)
    return Reading(tuple(weighed.sides), frozenset(noticed), line=text)


def _by_key(speech: Speech, message: str) -> Reading | None:
    said: list[Side] = []
    lines: list[str] = []
    exact = True
    found_key = False
    noticed: set[str] = set()
    for fields in speech.objects:
        given = values(fields, ["decision_keys"])
        lines += [text for text in values(fields, ["text_keys"]) if isinstance(text, str)]
        for key, value in fields.items():
            side = _particle(key)
            if side is not None and (value is True or (isinstance(value, str) and not given)):
                given = [side]
                lines += [value] if isinstance(value, str) else []
        for value in given:
            found_key = True
            sides, is_exact = _in_value(value, message)
            said += sides
            exact = exact and is_exact
    if not found_key or not said:
        return None
    if not exact:
        noticed.add(flags.ALIAS)
    if speech.around.strip():
        noticed.add(flags.TRAILING_TEXT)
    line = next((text for text in lines if text.strip() and _particle(text) is None), "")
    return _settled(said, line, message, noticed)


def _in_value(value: Json, message: str) -> tuple[list[Side], bool]:
    match value:
        case bool():
            return ["yes" if value else "no"], False
        case str():
            side = _particle(value)
            if side is not None:
                return [side], value in ("yes", "no")
            return list(weigh(value, message).sides), False
        case Mapping():
            inner = [_in_value(part, message) for part in values(value, ["decision_keys"])]
            return [side for sides, _ in inner for side in sides], False
        case list() | tuple():
            inner = [_in_value(part, message) for part in value]
            return [side for sides, _ in inner for side in sides], False
        case _:
            return [], False


def _by_tag(speech: Speech, message: str) -> Reading | None:
    text = speech.text
    opening = _TAG.match(text)
    tags = [opening] if opening is not None else []
    tags += [found for found in _LAST_TAG.finditer(text[:20_000]) if opening is None or found.start() >= opening.end()]
    sides: list[Side] = []
    kept = text
    for found in tags:
        inside = re.sub(r"^[^:：=]{1,20}[:：=]\s*", "", found["inside"])
        side = _particle(inside)
        if side is not None:
            sides.append(side)
            kept = kept.replace(found[0], " ", 1)
    if not sides:
        return None
    exact = not opening or opening["inside"] in ("yes", "no")
    return _settled(sides, kept.strip(), message, set() if exact else {flags.ALIAS})


def _by_head(speech: Speech, message: str) -> Reading | None:
    sides: list[Side] = []
    rest: list[str] = []
    for found in _HEAD.finditer(speech.text[:20_000]):
        key = found["key"]
        if is_key(key, "decision_keys") or is_key(key.removeprefix("My ").removeprefix("my "), "decision_keys"):
            first = re.split(r"[.!?,;\n*]|\s[-–—]\s", found["value"], maxsplit=1)
            side = _particle(first[0])
            if side is None:
                weighed = weigh(found["value"], message).sides
                sides += weighed
            else:
                sides.append(side)
                rest += first[1:]
        elif is_key(key, "text_keys"):
            rest.append(found["value"])
    return _settled(sides, "\n".join(rest), message, set()) if sides else None


def _settled(sides: Sequence[Side], line: str, message: str, noticed: set[str]) -> Reading:
    """Returns the answer of a form, checked against the line that is spoken beside it."""
    answers = tuple(dict.fromkeys(sides))
    if len(answers) != 1 or not line.strip():
        return Reading(answers, frozenset(noticed), line=line)
    told = weigh(line, message)
    if flags.POLARITY in told.flags and answers[0] == "no":
        return Reading(("no", "yes"), frozenset({*noticed, flags.POLARITY}), line=line)
    if told.sides == (other(answers[0]),):
        turned = is_negative(words_of(message))
        return Reading(
            ("no", "yes"), frozenset({*noticed, flags.POLARITY if turned else flags.CONTRADICTED}), line=line
        )
    return Reading(answers, frozenset(noticed), line=line)


@functools.lru_cache(maxsize=4096)
def _particle(text: str) -> Side | None:
    """Returns what a short text says as a whole."""
    if len(text) > _FIELD:
        return None
    words = phrase(text)
    if not words:
        shown = _shown(text)
        return shown[0] if len(shown) == 1 else None
    if words in phrases("yes_words"):
        return "yes"
    if words in phrases("no_words"):
        return "no"
    return _particle(words[0]) if 1 < len(words) <= 3 and len(set(words)) == 1 else None


def _shown(text: str) -> tuple[Side, ...]:
    """Returns what the signs of a text say, such as a thumb."""
    return tuple(dict.fromkeys(_EMOJI[sign] for sign in text if sign in _EMOJI))


def _gestures(text: str) -> tuple[Side, ...]:
    """Returns what the acts of a reply say: those between marks, or where there are none, its first words."""
    acts = [found["act"] or found["aside"] or found["square"] for found in _ACTION.finditer(text[:_MOST_READ])]
    for parts in (acts, [text[:400]]):
        sides: list[Side] = [hit.kind for part in parts for hit in _acting().find(words_of(part).words)]
        if sides:
            return tuple(dict.fromkeys(sides))
    return ()


@functools.cache
def _acting() -> Phrases[Side]:
    known: dict[tuple[str, ...], Side] = dict.fromkeys(phrases("gestures_yes"), "yes")
    known.update(dict.fromkeys(phrases("gestures_no"), "no"))
    return Phrases(known)
