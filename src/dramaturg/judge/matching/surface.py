"""A text as names are sought in it: its letters and digits alone, with where words begin and end and what parts them.

A form is found however it is written: with hyphens, dots, blanks, line ends, accents, markdown or single letters
between its parts. What it must not do is run over the end of a sentence, or start or end inside a word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from dramaturg.judge.matching.words import fold, straight

_MARKUP = re.compile(r"[*_~`]+|\[(?=[^\]]{1,80}\]\()|\]\([^()\s]{1,300}\)|(?<=\w)-\n(?=\w)")
_SENTENCE_ENDS = ".!?…。！？؟"
_CASELESS = re.compile(r"[^\W\d_]")
_CJK = re.compile("[\u2e80-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af\u0e00-\u0e7f\u1000-\u109f\u1780-\u17ff]")
_LOOSE_START = re.compile("[\u0590-\u06ff]")
"""Hebrew and Arabic write articles and prepositions before a name into one word with it."""
_RUN = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Surface:
    """A text prepared for finding forms.

    Attributes:
        plain: The text without markup and invisible characters, as written.
        letters: Its letters and digits, folded.
        at: Where each of them stands in `plain`.
        starts: Of each, whether a word begins there.
        ends: Of each, whether a word ends behind it.
    """

    plain: str
    letters: str
    at: tuple[int, ...]
    starts: bytes
    ends: bytes


@dataclass(frozen=True, slots=True)
class Place:
    """Where a form stands.

    Attributes:
        start: In `Surface.plain`.
        end: Behind it.
        spelled: Whether it was written letter by letter, or in pieces.
    """

    start: int
    end: int
    spelled: bool


def surface(text: str) -> Surface:
    """Returns a text prepared for finding forms, in time linear in its length."""
    plain = _MARKUP.sub("", straight(text))
    letters: list[str] = []
    at: list[int] = []
    starts = bytearray()
    ends = bytearray()
    for run in _RUN.finditer(plain):
        word = run[0]
        start = run.start()
        if word.isascii():
            folded = word.lower()
            letters.append(folded)
            at.extend(range(start, start + len(folded)))
            size = len(folded)
            starts += b"\1" + bytes(size - 1)
            ends += bytes(size - 1) + b"\1"
            continue
        first = len(at)
        is_mixed = any("a" <= sign <= "z" for sign in fold(word))
        for offset, sign in enumerate(word):
            if unicodedata.decimal(sign, None) is not None:
                folded = str(unicodedata.decimal(sign))
            else:
                folded = fold(f"a{sign}")[1:] if is_mixed else fold(sign)
            letters.append(folded)
            at.extend([start + offset] * len(folded))
            free = bool(_CJK.match(sign))
            for place in range(len(folded)):
                starts.append(1 if free and place == 0 else 0)
                ends.append(1 if free and place == len(folded) - 1 else 0)
        if len(at) > first:
            starts[first] = 1
            ends[-1] = 1
            for index in range(first, len(at)):
                if starts[index] and index > first:
                    ends[index - 1] = 1
                if ends[index] and index + 1 < len(at):
                    starts[index + 1] = 1
    return Surface(plain, "".join(letters), tuple(at), bytes(starts), bytes(ends))


@dataclass(frozen=True, slots=True)
class Form:
    """A form that is sought.

    Attributes:
        letters: Its letters and digits, folded.
        breaks: Where in `letters` the form itself has a break between words.
        humps: Where in `letters` a capital stands inside a word.
        cased: Where in `letters` a word begins with a capital.
        loose_start: Whether other letters may stand before it in its word.
        loose_end: Whether other letters may stand behind it in its word.
        inflects: Whether an ending of its language may follow.
    """

    letters: str
    breaks: frozenset[int]
    humps: frozenset[int]
    cased: frozenset[int]
    loose_start: bool
    loose_end: bool
    inflects: bool


def form_of(text: str) -> Form:
    """Returns a form prepared for finding."""
    own = surface(text)
    breaks = frozenset(index for index in range(1, len(own.letters)) if own.starts[index])
    cased = frozenset(
        index for index in range(len(own.letters)) if own.starts[index] and own.plain[own.at[index]].isupper()
    )
    capitals = frozenset(
        index
        for index in range(1, len(own.letters))
        if own.plain[own.at[index]].isupper() and own.plain[own.at[index - 1]].islower()
    )
    first = own.letters[:1]
    return Form(
        own.letters,
        breaks,
        capitals,
        cased,
        loose_start=bool(_LOOSE_START.match(first)) or bool(_CJK.match(first)),
        loose_end=bool(_CJK.match(own.letters[-1:])) or bool(_LOOSE_START.match(first)),
        inflects=len(own.letters) >= 3 and own.letters[-1:].isalpha(),
    )


def places(text: Surface, form: Form) -> Iterator[Place]:
    """Yields where a form stands in a text."""
    if not form.letters:
        return
    size = len(form.letters)
    start = text.letters.find(form.letters)
    while start >= 0:
        end = start + size
        if (form.loose_start or text.starts[start]) and (last := _last(text, form, start, end)) is not None:
            spelled = _spelled(text, form, start, end)
            if spelled is not None:
                yield Place(text.at[start], text.at[last - 1] + 1, spelled)
        start = text.letters.find(form.letters, start + 1)


_ENDINGS = ("s", "es")
_CYRILLIC_ENDING = 3


def _last(text: Surface, form: Form, start: int, end: int) -> int | None:
    """Returns where the word ends in which a form ends, if the form may end there."""
    if form.loose_end or text.ends[end - 1]:
        return end
    if not form.inflects:
        return (
            end
            if form.letters[-1].isdigit() and text.letters[end].isalpha() and text.letters[end : end + 2] in _ORDINAL
            else None
        )
    if text.letters[end].isdigit():
        return end
    for ending in _ENDINGS:
        if (
            text.letters.startswith(ending, end)
            and text.ends[end + len(ending) - 1]
            and not any(text.starts[end : end + len(ending)])
        ):
            return end + len(ending)
    if "\u0400" <= form.letters[-1] <= "\u04ff":
        for size in range(1, _CYRILLIC_ENDING + 1):
            if end + size <= len(text.letters) and text.ends[end + size - 1]:
                return end + size
    return None


_ORDINAL = frozenset({"st", "nd", "rd", "th", "er"})


def _spelled(text: Surface, form: Form, start: int, end: int) -> bool | None:
    """Returns whether a form is written in pieces; None where what parts its letters parts two words."""
    inner = [index for index in range(start + 1, end) if text.starts[index]]
    if not inner:
        return False
    extra = 0
    bounds = [start, *inner, end]
    singles = all(bounds[index + 1] - bounds[index] == 1 for index in range(len(bounds) - 1))
    for index in inner:
        between = text.plain[text.at[index - 1] + 1 : text.at[index]]
        is_hump = (index - start) in form.humps and text.plain[text.at[index]].isupper()
        own_break = (index - start) in form.breaks or is_hump
        if not between or _CJK.match(text.letters[index]) or _CJK.match(text.letters[index - 1]):
            continue
        if "\n\n" in between or len(between) > 6:
            return None
        if any(mark in between for mark in '!?;:…。！？()[]{}"“”') and not singles:
            return None
        if ("." in between or "," in between) and any(blank in between for blank in " \n") and not singles:
            head = max(bound for bound in bounds if bound < index)
            if "," in between or index - head > 2:
                return None
        if own_break:
            continue
        if any(blank in between for blank in " \n,"):
            if not singles or end - start < 3:
                return None
        elif form.letters.isdigit() and not singles:
            return None
        extra += 1
    return extra > 0 and singles and end - start >= 3
