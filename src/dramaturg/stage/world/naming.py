"""Whom a text names: a narrator's answer becomes the id of one who is there, or says why it does not.

Names are compared whole first: ids, then names, then other names. Only then do titles fall away ("Mr. Potter",
林姑娘) and parts of names count ("Harry" for Harry Potter, 黛玉 for 林黛玉), and only where they are one person's
alone. What is not sure names nobody, and says so: a guess would let somebody react who was not meant.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from dramaturg.stage.world.name_words import (
    ARTICLES,
    EVERYBODY,
    GENDERS,
    NOBODY,
    NOBODY_WORD,
    OTHERS,
    PARTICLES,
    PREFIXES,
    PRONOUNS,
    SELF,
    SUFFIXES,
    TITLES,
    TWO_SIGN_SURNAMES,
    Gender,
)
from dramaturg.stage.world.scene import SceneCharacter

Meaning = Literal["one", "self", "nobody", "several", "ambiguous", "unknown"]
"""one: a person. self: whoever acts. nobody: said so. several: more than one, all named. ambiguous: it may be one of
several, or nobody can tell which. unknown: nobody who is there is called so."""

_EDGES = " \t\r\n.,;:!?*_`'\"<>[]{}()#|@~=-–—。、「」『』《》〈〉【】〔〕…·"
_QUOTES = re.compile('["“”„«»「」『』`*]')
_APOSTROPHES = re.compile("[‘’ʼ′]")
_ACCENTS = re.compile("[\u0300-\u036f]")
_DOTS = re.compile(r"[·・•‧]|(?<=\w)-(?=\w)")
"""Signs between the parts of one name, which some write and others leave out."""
_BRACKETED = re.compile(r"[(\[{【〔]([^()\[\]{}【】〔〕]*)[)\]}】〕]")
_BRACKETS = re.compile(r"[()\[\]{}【】〔〕]")
_LABEL = re.compile(
    r"^\s*(?:\d{1,2}[.)、]\s*(?=\D))?(?:(?:[-*#>]+\s*)?(?:the\s+)?(?:\w+\s+){0,2}?(?:targets?|characters?|names?|id|answer|recipient|affected)"
    r"(?:\s+is)?\s*[:=]|[\u3400-\u9fff]{0,6}(?:目标|对象|角色|人物|姓名|名字|名称|答案|影响者|是)\s*[:=])?\s*",
    re.IGNORECASE,
)
_PIECES = re.compile(r"[,;:\n|/]+|\s[-–—]+\s|[–—、。]+|\s(?=(?:who|whom|which|because|since|as)\s)", re.IGNORECASE)
_JOINED = re.compile(r"\s*(?:\band\b|\bas well as\b|\bwith\b|[&+]|以及|还有|和|与|及|跟)\s*", re.IGNORECASE)
_EITHER = re.compile(r"\bor\b|或者?|还是", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_WORD_BEFORE = re.compile(r"([^\W\d_][\w'-]*)\.?\s+\Z")
_WORD_AFTER = re.compile(r"\s+([^\W\d_][\w'-]*)")
_UNSPACED = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_NOBODY_IN_SENTENCE = re.compile(
    r"\b(?:no one|nobody|no-one|no other|no (?:[\w-]+ )?(?:character|person|target))\b"
    r"|\b(?:not|n't)\b[^.]{0,40}\b(?:anyone|anybody|any (?:other|one|specific|particular)|another)\b"
    r"|没有(?:任何|其他|特定|直接)?(?:的)?(?:人|角色|对象|目标)|(?:没有|不会?|未)(?:直接)?影响(?:到)?(?:任何|其他|别)|无人受"
    r"|对(?:其他|别的?|任何)?(?:人|角色)[^。]{0,4}?[没无]有?(?:任何|直接)?影响|[仅只](?:直接)?影响到?了?(?:他|她)?自己",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\b(?:not|never|without|neither|nor|but|except|instead|than)\b|n't\b|[不没非未除]", re.IGNORECASE)
_OWNED = re.compile(r"'s?\b|'(?=\s)|\s*[的之]")
_LEADS_TO_NAME = "对向和与给让把被是为了及跟叫请问打看将使令同朝往由到者人，。"
"""Signs after which a part of a Chinese name is not the end of a longer name."""

_FEWEST_WORDS = 4
"""A text with fewer words may be a name; with more it is a sentence."""


@dataclass(frozen=True, slots=True)
class Named:
    """Whom a text names.

    Attributes:
        meaning: How sure it is.
        ids: The one who is meant, all of the several, or those between whom it cannot be told; else empty.
    """

    meaning: Meaning
    ids: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Id of the one who is meant, whoever acts included; empty where it is not one person."""
        return self.ids[0] if self.meaning in ("one", "self") else ""

    @property
    def is_doubtful(self) -> bool:
        """Whether somebody may have been meant of whom it cannot be told who it is."""
        return self.meaning in ("ambiguous", "unknown")


_UNKNOWN = Named("unknown")
_NOBODY = Named("nobody")


class Names:
    """The people who are there, found by what they are called."""

    def __init__(self, characters: Sequence[SceneCharacter]) -> None:
        """Learns the names.

        Args:
            characters: Everybody who is there; a name of somebody else is unknown.
        """
        self._ids = tuple(character.id for character in characters)
        self._called = tuple(_Called(character) for character in characters)

    def resolve(self, text: str, *, by: str = "") -> Named:
        """Returns whom a text names.

        Args:
            text: A name with whatever a model writes around it: quotes, brackets, a label, a note; or a sentence.
            by: Id of whoever acts: "him" is somebody else, "himself" is this one.
        """
        plain = _plain(text)
        plain = plain[_label_end(plain) :]
        bare = _BRACKETED.sub(" ", plain)
        if not _folded(bare):
            bare = _BRACKETS.sub(" ", plain)
        for reading in dict.fromkeys((plain, bare, *(found[1] for found in _BRACKETED.finditer(plain)))):
            if _folded(reading) and (named := self._whole(reading, by)) is not None:
                return named
        if not _folded(plain):
            return _UNKNOWN
        return self._in_pieces(bare, by) or self._in_sentence(plain, by)

    def _whole(self, reading: str, by: str) -> Named | None:
        """Returns whom the whole reading names or stands for; None where it is no name and no such word."""
        key = _folded(reading)
        if key == NOBODY_WORD:
            return _NOBODY
        return self._by_name(key, by) or self._by_word(key, by)

    def _by_name(self, key: str, by: str) -> Named | None:
        for fits in _WAYS:
            found = tuple(called.id for called in self._called if fits(called, key))
            if found:
                return _one_of(found, by)
        return None

    def _by_word(self, key: str, by: str) -> Named | None:
        others = tuple(name for name in self._ids if name != by)
        if key in NOBODY:
            return _NOBODY
        if key in SELF:
            return Named("self", (by,)) if by else _UNKNOWN
        if key in EVERYBODY and len(others) > 1:
            return Named("several", others)
        if key in OTHERS or key in EVERYBODY:
            return _one_of(self._of_gender(PRONOUNS.get(key), others), by) if others else _NOBODY
        return None

    def _of_gender(self, gender: Gender | None, ids: tuple[str, ...]) -> tuple[str, ...]:
        """Returns those of whom a pronoun may speak; of one who is alone, all pronouns may."""
        fitting = tuple(called.id for called in self._called if called.id in ids and called.may_be(gender))
        return fitting if fitting and len(ids) > 1 else ids

    def _in_pieces(self, text: str, by: str) -> Named | None:
        """Returns whom the pieces of a list, or of a name with a note, name; None where no piece is a name."""
        found: list[Named] = []
        words: list[Named] = []
        for piece, is_joined in _pieces(text):
            key = _folded(piece[_label_end(piece) :])
            if (named := self._by_name(key, by)) is not None:
                found.append(named)
            elif key and (word := self._by_word(key, by)) is not None:
                words.append(word)
            elif is_joined:
                found += (Named("one", (name,)) for name in self._mentioned(piece))
        if not found:
            return words[0] if words else None
        ids = tuple(dict.fromkeys(name for named in found for name in named.ids))
        is_choice = len(ids) > 1 and _EITHER.search(text) is not None
        if any(named.meaning == "ambiguous" for named in found) or is_choice or (_NOBODY in words and ids != (by,)):
            return Named("ambiguous", ids)
        return Named("several", ids) if len(ids) > 1 else _one_of(ids, by)

    def _in_sentence(self, text: str, by: str) -> Named:
        """Returns the one other person whom a sentence mentions, where it denies nothing."""
        denied = _DENIED.search(text) is not None
        if _NOBODY_IN_SENTENCE.search(text) and not re.search(r"\b(?:but|except|other than)\b|除", text, re.IGNORECASE):
            return _NOBODY
        found = self._mentioned(text)
        others = tuple(name for name in found if name != by)
        if not found:
            return _UNKNOWN
        if denied:
            return Named("ambiguous", others or found)
        return _one_of(others or found, by)

    def _mentioned(self, text: str) -> tuple[str, ...]:
        """Returns the ids of all whom a text mentions by name, longer names first, so that none is found in another."""
        forms: dict[str, list[_Called]] = {}
        parts: set[str] = set()
        for called in self._called:
            for form in called.whole:
                forms.setdefault(form, []).append(called)
            for form in () if _is_name(text) else called.parts - called.whole:
                forms.setdefault(form, []).append(called)
                parts.add(form)
        found: dict[str, int] = {}
        for form in sorted(forms, key=lambda form: (form in parts, -len(form), form)):
            for place in re.finditer(_bounded(form), text, re.IGNORECASE):
                text = text[: place.start()] + "\0" * len(place[0]) + text[place.end() :]
                if _OWNED.match(text, place.end()) or (form in parts and _of_longer_name(text, *place.span())):
                    continue
                before = _WORD_BEFORE.search(text[: place.start()])
                title = TITLES.get(before[1].casefold()) if before is not None else None
                for called in forms[form]:
                    if called.may_be(title):
                        found.setdefault(called.id, place.start())
        return tuple(sorted(found, key=lambda name: (found[name], self._ids.index(name))))


class _Called:
    """What one person is called, in the form in which names are compared."""

    def __init__(self, character: SceneCharacter) -> None:
        self.id = character.id
        self.gender = GENDERS.get(_folded(character.gender))
        self.ids = {_folded(character.id), _folded(f"character:{character.id}")}
        self.names = set(_forms(character.name))
        self.aliases = {form for alias in character.aliases for form in _forms(alias)}
        self.whole = self.names | self.aliases
        untitled = {_untitled(form)[0] for form in self.whole}
        self.untitled = {form for form in untitled if len(form) > 1}
        words = [frozenset(_WORD.findall(form)) for form in self.whole if not form.startswith("the ")]
        self.words = [those - TITLES.keys() - PARTICLES for those in words]
        self.titles = {word for those in words for word in those & TITLES.keys()}
        self.titles |= {title for form in self.whole for title in SUFFIXES if form != title and form.endswith(title)}
        halves = [half for form in self.whole if (half := _surname_and_given(form)) is not None]
        self.given = {half for both in halves for half in both if len(half) > 1}
        self.titled = {part for surname, given in halves for part in (surname, given, *given)}
        self.parts = {word for those in self.words for word in those if len(word) > 2 or _UNSPACED.search(word)}
        self.parts = {part for part in self.parts | self.given | self.untitled if len(part) > 1}

    def is_id(self, key: str) -> bool:
        """Returns whether the key is the id."""
        return key in self.ids

    def is_name(self, key: str) -> bool:
        """Returns whether the key is the name."""
        return key in self.names

    def is_alias(self, key: str) -> bool:
        """Returns whether the key is another of the names."""
        return key in self.aliases

    def is_untitled(self, key: str) -> bool:
        """Returns whether the key is a name but for titles before or behind it."""
        bare, gender = _untitled(key)
        return self.may_be(gender) and bare in self.untitled

    def is_part(self, key: str) -> bool:
        """Returns whether the key is a part of a name, alone or with a title."""
        bare, gender = _untitled(key)
        if not self.may_be(gender):
            return False
        asked = {word for word in _WORD.findall(bare) if word not in PARTICLES}
        if any(len(word) > 1 for word in asked) and any(asked <= words for words in self.words):
            return True
        return bare in self.given or (bare != key and bare in self.titled)

    def is_title(self, key: str) -> bool:
        """Returns whether the key is a title that belongs to the name."""
        return " ".join(word for word in key.split() if word not in ARTICLES) in self.titles

    def is_with_middle(self, key: str) -> bool:
        """Returns whether the key is a name with one more name in its middle."""
        match _untitled(key)[0].split():
            case [first, middle, last]:
                return middle not in PARTICLES and f"{first} {last}" in self.untitled
            case _:
                return False

    def may_be(self, gender: Gender | None) -> bool:
        """Returns whether a title that tells this gender may be the person's."""
        return gender is None or self.gender is None or gender == self.gender


_WAYS: tuple[Callable[[_Called, str], bool], ...] = (
    _Called.is_id,
    _Called.is_name,
    _Called.is_alias,
    _Called.is_untitled,
    _Called.is_part,
    _Called.is_with_middle,
    _Called.is_title,
)
"""In which ways a text may be somebody's name; the first that fits anybody decides."""


def _one_of(found: tuple[str, ...], by: str) -> Named:
    match found:
        case (only,):
            return Named("self" if only == by else "one", found)
        case _:
            return Named("ambiguous", found)


def _plain(text: str) -> str:
    """Returns a text in one form of signs: width, accents and apostrophes; letters keep their case."""
    text = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return _APOSTROPHES.sub("'", unicodedata.normalize("NFKC", text)).replace("_", " ")


def _folded(text: str) -> str:
    """Returns a name in the form in which names are compared."""
    text = _DOTS.sub(" ", _QUOTES.sub("", _plain(text)))
    return " ".join(text.strip(_EDGES).casefold().split())


def _forms(name: str) -> Iterator[str]:
    """Yields a name whole, without what stands in brackets, and what stands there."""
    plain = _plain(name)
    for form in (plain, _BRACKETED.sub(" ", plain), *(found[1] for found in _BRACKETED.finditer(plain))):
        if folded := _folded(form):
            yield folded


def _label_end(text: str) -> int:
    found = _LABEL.match(text)
    return found.end() if found is not None else 0


def _untitled(key: str) -> tuple[str, Gender | None]:
    """Returns a name without articles and titles around it, and the gender that the titles tell."""
    words = key.split()
    gender: Gender | None = None
    while len(words) > 1 and ((word := words[0].rstrip(".")) in TITLES or word in ARTICLES):
        gender = TITLES.get(word) or gender
        del words[0]
    while len(words) > 1 and words[-1].rstrip(".") in TITLES:
        gender = TITLES[words.pop().rstrip(".")] or gender
    bare = " ".join(words)
    if not _UNSPACED.search(bare):
        return bare, gender
    for title in sorted(SUFFIXES, key=len, reverse=True):
        if len(bare) > len(title) and bare.endswith(title):
            return bare.removesuffix(title).strip(), SUFFIXES[title]
    if len(bare) > 1 and bare.startswith(PREFIXES):
        return bare[1:].strip(), gender
    return bare, gender


def _surname_and_given(name: str) -> tuple[str, str] | None:
    """Returns the two halves of a Chinese name of two to four signs; None where it is none."""
    if not 2 <= len(name) <= 4 or not all(_UNSPACED.match(sign) for sign in name):
        return None
    surname = 2 if len(name) > 2 and name[:2] in TWO_SIGN_SURNAMES else 1
    return name[:surname], name[surname:]


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Yields the pieces of a list, each with whether a word joins it to another: those between signs, then theirs."""
    for piece in _PIECES.split(text):
        yield piece, False
        for cut in (_JOINED, _EITHER):
            parts = cut.split(piece)
            if len(parts) > 1:
                yield from ((part, True) for part in parts)


def _bounded(form: str) -> str:
    """Returns a pattern that finds a form as a whole word; of scripts without blanks, anywhere."""
    pattern = r"[\s-]+".join(map(re.escape, form.split()))
    return pattern if _UNSPACED.search(form) else rf"(?<![\w'-]){pattern}(?![\w-])"


def _is_name(text: str) -> bool:
    """Returns whether a text is short and written as names are: all small, or each word with a capital."""
    words = _WORD.findall(text)
    same_case = text == text.lower() or all(word[0].isupper() for word in words)
    return len(words) < _FEWEST_WORDS and same_case and not _UNSPACED.search(text)


def _of_longer_name(text: str, start: int, end: int) -> bool:
    """Returns whether a part of a name stands beside what looks like the rest of another's name."""
    before, after = text[:start], text[end:]
    if _UNSPACED.match(text[start - 1 : start]):
        return before[-1] not in _LEADS_TO_NAME
    return any(
        word is not None and word[1][0].isupper() and word[1].casefold() not in TITLES.keys() | ARTICLES
        for word in (_WORD_BEFORE.search(before), _WORD_AFTER.match(after))
    )
