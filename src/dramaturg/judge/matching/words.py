"""A text as words: folded for comparison, with what stands between them and where each stands.

Folding drops case, accents, width, marks of markdown and characters without width, writes English contractions out and
takes letters of other scripts that stand inside a Latin word for the Latin ones they look like. Every Chinese
character is a word of its own, so that phrases are compared word by word in any language.
"""

from __future__ import annotations

import bisect
import functools
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from dramaturg.model.relaxed import INVISIBLE

KindT = TypeVar("KindT")

_INVISIBLE = dict.fromkeys(map(ord, INVISIBLE + "\u180e\u2061\u2062\u2063\u2064"))
_STRAIGHT = str.maketrans("‘’ʼ′`´＇", "'''''''")
_LOOKALIKES = str.maketrans("аеорсухіјѕԁһӏԛԝвкмнтзοανικρτυχε", "aeopcyxijsdhlqwbkmhtzoavikptuxe")
_CJK = "\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
_HAS_CJK = re.compile(rf"[{_CJK}]")
_ENGLISH = re.compile(
    r"\b(?:(?P<special>won't|wont|can't|cant|cannot|shan't|ain't|dinna[e]?|canna[e]?|wouldna[e]?|willna[e]?|wilna|shouldna[e]?"
    r"|couldna[e]?|havena[e]?|dunno|gonna|gotta|wanna|dont|didnt|doesnt|wouldnt|isnt|'tis|'twas|'twould|'twere|y'all"
    r"|i'm|im|ima|imma|i'ma|lemme|nothin'|nothin)"
    r"|(?P<not>n't)|(?P<tail>'(?:ll|d|m|re|ve)))(?!\w)"
    r"|(?<=[a-z])(?P<n_t>n't)\b|(?<=[a-z])(?P<short>'(?:ll|d|re|ve|m))\b|\b(?P<is>it|that|there|what|he|she|who|here|let|where)'s\b"
)
_SPECIAL = {
    "won't": "will not", "wont": "will not", "can't": "can not", "cant": "can not", "cannot": "can not",
    "shan't": "shall not", "ain't": "am not", "dinna": "do not", "dinnae": "do not", "canna": "can not",
    "cannae": "can not", "wouldna": "would not", "wouldnae": "would not", "willna": "will not", "willnae": "will not",
    "wilna": "will not", "shouldna": "should not", "shouldnae": "should not", "couldna": "could not",
    "couldnae": "could not", "havena": "have not", "havenae": "have not", "dunno": "do not know",
    "gonna": "going to", "gotta": "got to", "wanna": "want to", "dont": "do not", "didnt": "did not",
    "doesnt": "does not", "wouldnt": "would not", "isnt": "is not", "'tis": "it is", "'twas": "it was",
    "'twould": "it would", "'twere": "it were", "y'all": "you all", "i'm": "i am", "im": "i am", "ima": "i will",
    "imma": "i will", "i'ma": "i will", "lemme": "let me", "nothin'": "nothing", "nothin": "nothing",
}  # fmt: skip
_TAILS = {"'ll": " will", "'d": " would", "'m": " am", "'re": " are", "'ve": " have"}

STOPS = ".!?…。！？؟\n"
"""Marks that end a sentence."""

BREAKS = STOPS + ',;:—–，；：、،()（）[]{}"“”«»|'
"""Marks that end a clause."""


def straight(text: str) -> str:
    """Returns the text in one form: composed, without width and invisible characters, with straight apostrophes."""
    if text.isascii():
        return text.replace("`", "'") if "`" in text else text
    return unicodedata.normalize("NFKC", text.translate(_INVISIBLE)).translate(_STRAIGHT)


def fold(word: str) -> str:
    """Returns a word without case and accents; letters of other scripts inside a Latin word become Latin."""
    word = word.casefold()
    if word.isascii():
        return word
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", word) if not unicodedata.combining(sign))
    bare = unicodedata.normalize("NFKC", bare).replace("ø", "o").replace("ł", "l").replace("đ", "d").replace("ı", "i")
    bare = bare.replace("œ", "oe").replace("æ", "ae")
    if not bare.isascii() and any("a" <= sign <= "z" for sign in bare):
        bare = bare.translate(_LOOKALIKES)
    return bare


_FARTHEST = 40
"""Words that are looked back at in a clause."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text.

    Attributes:
        words: Folded.
        after: What stands between each word and the next, as written.
        starts: Where each begins in the text that was read.
        clause: Index of the clause of each word.
        sentence: Index of the sentence of each word.
        asked: Sentences that end in a question mark.
    """

    words: tuple[str, ...]
    after: tuple[str, ...]
    starts: tuple[int, ...]
    clause: tuple[int, ...]
    sentence: tuple[int, ...]
    asked: frozenset[int]

    def opens_clause(self, index: int) -> bool:
        """Returns whether a word is the first of its clause."""
        return index == 0 or self.clause[index - 1] != self.clause[index]

    def clause_before(self, index: int) -> Sequence[str]:
        """Returns the words of the same clause before one, the nearest 40 at most."""
        start = index
        while start > max(0, index - _FARTHEST) and self.clause[start - 1] == self.clause[index]:
            start -= 1
        return self.words[start:index]


_ARCHAIC = {
    "ye": "you", "thou": "you", "thee": "you", "thy": "your", "thine": "yours", "yer": "your", "wilt": "will",
    "shalt": "shall", "hast": "have", "hath": "has", "dost": "do", "doth": "does", "canst": "can", "wouldst": "would",
    "mah": "my", "tae": "to", "wi": "with", "ain": "own", "u": "you", "ur": "your",
}  # fmt: skip
"""Old and dialect words as the lexicons write them."""


def contracted(text: str) -> str:
    """Returns lower-case text with English contractions written out."""
    return _contracted(text, [])


_ELIDED = re.compile(r"\b(o)' (?=[a-z])")
_MAY_CONTRACT = re.compile(r"cannot|cant|wont|dont|dunno|nna|ae\b|\bim|ntt?\b|gotta|lemme|nothin")


def _contracted(text: str, shifted: list[tuple[int, int]]) -> str:
    """Returns as `contracted`, and notes from where on the result lies how far behind the text."""
    if "'" not in text and not _MAY_CONTRACT.search(text):
        return text
    total = 0

    def written_out(match: re.Match[str]) -> str:
        nonlocal total
        made = _written_out(match)
        if len(made) != len(match[0]):
            total += len(made) - len(match[0])
            shifted.append((match.end() + total, total))
        return made

    return _ENGLISH.sub(written_out, text)


def _shift(shifted: Sequence[tuple[int, int]], at: int) -> int:
    index = bisect.bisect_right(shifted, at, key=lambda pair: pair[0])
    return shifted[index - 1][1] if index else 0


def _written_out(match: re.Match[str]) -> str:
    if match["is"]:
        return "let us" if match["is"] == "let" else f"{match['is']} is"
    if match["special"]:
        return _SPECIAL[match["special"]]
    if match["not"] or match["n_t"]:
        return " not"
    return _TAILS[match["tail"] or match["short"]]


def words_of(text: str) -> Words:
    """Returns the words of a text, contractions written out."""
    return _short_words(text) if len(text) <= LONGEST_KEPT else _read_words(text)


LONGEST_KEPT = 4000
"""Signs of a text whose reading is kept for when it comes again."""


@functools.lru_cache(maxsize=512)
def _short_words(text: str) -> Words:
    return _read_words(text)


def _read_words(text: str) -> Words:
    shifted: list[tuple[int, int]] = []
    text = _ELIDED.sub(r"\1f ", _contracted(straight(text).casefold(), shifted))
    words: list[str] = []
    after: list[str] = []
    starts: list[int] = []
    clause: list[int] = []
    sentence: list[int] = []
    asked: set[int] = set()
    end = 0
    in_clause = in_sentence = 0
    for found in _WORD.finditer(text):
        start = found.start()
        if words:
            between = text[end:start]
            after.append(between)
            if between != " ":
                stop, part = _ends(between)
                if stop:
                    if "?" in between or "؟" in between:
                        asked.add(in_sentence)
                    in_sentence += 1
                if stop or part:
                    in_clause += 1
        word = found[0]
        if not word.isascii():
            word = fold(word)
        words.append(_ARCHAIC.get(word, word))
        starts.append(start - _shift(shifted, start) if shifted else start)
        clause.append(in_clause)
        sentence.append(in_sentence)
        end = found.end()
    if words:
        after.append(text[end:])
        if "?" in text[end:] or "؟" in text[end:]:
            asked.add(in_sentence)
    return Words(tuple(words), tuple(after), tuple(starts), tuple(clause), tuple(sentence), frozenset(asked))


@functools.lru_cache(maxsize=1024)
def _ends(between: str) -> tuple[bool, bool]:
    """Returns whether a sentence ends in what stands between two words, and whether a clause does."""
    stop = any(sign in STOPS for sign in between)
    return stop, stop or any(sign in BREAKS for sign in between) or " - " in between or "--" in between


@functools.lru_cache(maxsize=65_536)
def phrase(text: str) -> tuple[str, ...]:
    """Returns the folded words of a phrase of a lexicon."""
    folded = (fold(found[0]) for found in _WORD.finditer(contracted(straight(text).casefold())))
    return tuple(_ARCHAIC.get(word, word) for word in folded)


def is_unspaced(text: str) -> bool:
    """Returns whether a text holds Chinese characters."""
    return _HAS_CJK.search(text) is not None


@dataclass(frozen=True, slots=True)
class Hit(Generic[KindT]):
    """A phrase that stands in a text.

    Attributes:
        start: Index of its first word.
        end: Index behind its last word.
        kind: What it says.
    """

    start: int
    end: int
    kind: KindT


class Phrases(Generic[KindT]):
    """Phrases by their first word, the longest first; found in one pass from left to right, without overlaps."""

    def __init__(self, phrases: Mapping[tuple[str, ...], KindT]) -> None:
        """Takes phrases as folded words, and what each says."""
        self._single: dict[str, KindT] = {}
        self._by_pair: dict[str, dict[str, list[tuple[tuple[str, ...], KindT]]]] = {}
        for words, kind in sorted(phrases.items(), key=lambda pair: -len(pair[0])):
            if len(words) == 1:
                self._single[words[0]] = kind
            elif words:
                self._by_pair.setdefault(words[0], {}).setdefault(words[1], []).append((words, kind))

    def at(self, words: Sequence[str], index: int, parts: Sequence[int] | None = None) -> Hit[KindT] | None:
        """Returns the longest phrase that begins at an index, or None; see `find` for `parts`."""
        first = words[index]
        following = self._by_pair.get(first)
        if following is not None and index + 1 < len(words):
            for candidate, kind in following.get(words[index + 1], ()):
                end = index + len(candidate)
                if (
                    end <= len(words)
                    and tuple(words[index:end]) == candidate
                    and (parts is None or parts[index] == parts[end - 1])
                ):
                    return Hit(index, end, kind)
        if first in self._single:
            return Hit(index, index + 1, self._single[first])
        return None

    def find(
        self, words: Sequence[str], start: int = 0, end: int | None = None, *, parts: Sequence[int] | None = None
    ) -> Iterator[Hit[KindT]]:
        """Yields the phrases of a stretch of words.

        Args:
            words: Folded words.
            start: Index of the first word of the stretch.
            end: Index behind its last word; to the end by default.
            parts: Index of the part of each word; a phrase does not reach from one part into another.
        """
        index, stop = start, len(words) if end is None else end
        single, pairs = self._single, self._by_pair
        while index < stop:
            word = words[index]
            if (
                (word in single or word in pairs)
                and (hit := self.at(words, index, parts)) is not None
                and hit.end <= stop
            ):
                yield hit
                index = hit.end
            else:
                index += 1
