"""What running text decides: signs of yes and no are gathered from left to right and weighed.

Signs inside a question or a condition, and what others say, do not count. Where signs differ, a stated conclusion
decides, else what the speaker will do, else what stands behind the last contrast ("but", "no wait"), else nothing
does. A verb of the message decides by whether the speaker will do it ("I will refuse" says yes to "Will you refuse?").
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dramaturg.judge.matching import flags
from dramaturg.judge.matching.acts import acts, chinese_acts, sooner, verb_of
from dramaturg.judge.matching.deeds import deeds, takes_hold, truth_for_lie
from dramaturg.judge.matching.hindering import hindered
from dramaturg.judge.matching.lexicon import phrases, single_words
from dramaturg.judge.matching.signs import Answer, Side, Sign, answer_of, other, sides_of, stem
from dramaturg.judge.matching.words import Phrases, Words, words_of

_Kind: TypeAlias = Literal[
    "yes_word", "no_word", "yes", "no", "agree", "refuse", "ignored", "both", "unsure", "condition", "contrast",
    "reassuring", "sooner", "wanting", "says", "wish", "withheld",
]  # fmt: skip

_Noted: TypeAlias = Literal["condition", "both", "unsure", "reassuring", "withheld"]

_MOST_READ = 6000
_INVERTING = frozenset({"never", "nor"})
_SUBORDINATE = re.compile(r"\b(?:that|although|though|because)\s[^.?!,;:\n]{4,200}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Weighed:
    """What a text decides.

    Attributes:
        sides: One is an answer, two leave it open, none is no answer.
        flags: What was noticed.
    """

    sides: tuple[Side, ...]
    flags: frozenset[str]


def weigh(text: str, message: str) -> Weighed:
    """Returns what running text decides, and what was noticed.

    Args:
        text: What was said.
        message: What was asked.
    """
    if len(text) > 2 * _MOST_READ:
        text = f"{text[:_MOST_READ]}\n{text[-_MOST_READ:]}"
    words = words_of(_without_repeated(text, message))
    return _Weighing(answer_of(words, words_of(message))).weighed()


def _without_repeated(text: str, message: str) -> str:
    """Returns the text without the message's subordinate clauses, where it says them again.

    What stands in them ("… that there's nothing in it", "… although I didn't") is the asker's and denies nothing.
    """
    for clause in _SUBORDINATE.findall(message[:_MOST_READ]):
        text = re.sub(re.escape(clause.rstrip()), "", text, flags=re.IGNORECASE)
    return text


@functools.cache
def _phrases() -> Phrases[_Kind]:
    known: dict[tuple[str, ...], _Kind] = {}
    lists: tuple[tuple[str, _Kind], ...] = (
        ("conditions", "condition"), ("wanting", "wanting"), ("says", "says"), ("agreeing", "agree"),
        ("refusing", "refuse"), ("yes_words", "yes_word"), ("no_words", "no_word"),
        ("reassuring", "reassuring"), ("accepts", "yes"), ("declines", "no"), ("unsure", "unsure"), ("both", "both"),
        ("contrasts", "contrast"), ("sooner", "sooner"), ("ignored", "ignored"),
        ("withholding", "withheld"), ("wishes", "wish"),
    )  # fmt: skip
    for name, kind in lists:
        for words in phrases(name):
            if kind == "says" and words in known:
                continue
            known[words] = kind
    return Phrases(known)


def is_negative(message: Words) -> bool:
    """Returns whether a question is asked in the negative."""
    return any(message.sentence[hit.start] in message.asked for hit in _negative().find(message.words))


@functools.cache
def _negative() -> Phrases[bool]:
    return Phrases(dict.fromkeys(phrases("negative_question"), True))


@functools.cache
def _minding() -> Phrases[bool]:
    return Phrases(dict.fromkeys(phrases("minding"), True))


@functools.cache
def _unminding() -> Phrases[bool]:
    return Phrases(dict.fromkeys(phrases("unminding"), True))


@functools.cache
def _telling_stems() -> frozenset[str]:
    return frozenset(map(stem, single_words("telling")))


class _Weighing:
    """Gathers the signs of one text."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.words = answer.words
        self.message = answer.message
        self.signs: list[Sign] = []
        self.contrasts: list[int] = []
        self.unsure_at = -1
        self.both = False
        self.reassured = False
        self.conditional = False
        self.preferring: set[int] = set()
        self.wishes: set[int] = set()
        self.withheld: set[int] = set()

    def weighed(self) -> Weighed:
        for hit in _phrases().find(self.words.words, parts=self.words.clause):
            self._take(hit.start, hit.end, hit.kind)
        self.signs += [*acts(self.answer, self.preferring), *chinese_acts(self.answer), *deeds(self.answer)]
        self._take_back()
        self.signs = [sign for sign in map(self._answering, self.signs) if sign.weight]
        self.signs.sort(key=lambda sign: sign.at)
        return self._conclude()

    def _take(self, start: int, end: int, kind: _Kind) -> None:
        """Takes what a phrase says, where it stands to say it."""
        words = self.words
        said = words.words[start:end]
        self.wishes |= {start} if kind == "wish" else set()
        if said in phrases("needs_end") and not self._ends(end):
            return
        match kind:
            case "ignored" | "says" | "wanting":
                return
            case "condition" | "both" | "unsure" | "reassuring" | "withheld":
                self._note(kind, start, end)
            case "contrast":
                self._contrast(start, end)
            case "sooner":
                self._preference(start, end)
            case "yes_word" | "no_word":
                asked = words.sentence[start] in words.asked
                if not asked or (words.opens_clause(start) and self._tag_end(start)):
                    self._particle("yes" if kind == "yes_word" else "no", start, end)
            case "wish":
                if said in phrases("accepts"):
                    self._idiom("yes", start, end)
            case "yes" | "no":
                self._idiom(kind, start, end)
            case "agree" | "refuse":
                self._verb(kind, start, end)

    def _contrast(self, start: int, end: int) -> None:
        self.contrasts.append(start)
        if start == 0 and self.words.words[start] in single_words("yes_words"):
            self._particle("yes", start, end)

    def _preference(self, start: int, end: int) -> None:
        self.preferring.update(range(start, self._sentence_end(start)))
        preferred = sooner(self.answer, start, end)
        self.signs += [preferred] if preferred is not None else []

    def _take_back(self) -> None:
        """Takes back what a hindrance or an unreal condition undoes, and the telling that turns out to be the truth."""
        found = hindered(self.answer, self.wishes, self.contrasts, self.signs)
        self.signs = [sign for sign in self.signs if sign.side == "no" or sign.at not in found.void]
        self.signs += found.no
        self.unsure_at = max(self.unsure_at, found.open_at)
        truth = truth_for_lie(self.answer)
        if truth is not None:
            sentence = self.words.sentence
            self.signs = [sign for sign in self.signs if sentence[sign.at] != sentence[truth.at]]
            self.signs.append(truth)

    def _note(self, kind: _Noted, start: int, end: int) -> None:
        """Notes what is no sign itself and bears on how the signs are weighed."""
        self.conditional = self.conditional or kind == "condition"
        self.both = self.both or kind == "both"
        self.unsure_at = start if kind == "unsure" else self.unsure_at
        if kind == "withheld" and not self.answer.asked & _telling_stems():
            self.withheld.add(self.words.sentence[start])
        if kind == "reassuring" and not any(map(self.answer.is_asked, self.words.words[start:end])):
            self.reassured = True

    def _idiom(self, side: Side, start: int, end: int) -> None:
        """Takes a phrase that says yes or no wherever it stands; idioms that ask count too ("Why not?")."""
        withheld = side == "no" and self.words.sentence[start] in self.withheld
        if not withheld and not self.answer.in_condition(start) and not self.answer.spoken_by_other(start):
            self.signs.append(Sign(other(side) if self._is_turned(side, start, end) else side, start, 2))

    def _is_turned(self, side: Side, start: int, end: int) -> bool:
        """Returns whether a negator turns an idiom; two in a row do not undo each other ("ain't no way")."""
        words = self.words.words
        if side == "yes":
            return self.answer.negators(start) % 2 == 1
        if end < len(words) and words[end] == "not" and words[end - 1] not in ("better",):
            return True
        return words[start] not in single_words("negators") and start > 0 and words[start - 1] in ("not", "never")

    def _ends(self, end: int) -> bool:
        words = self.words
        return (
            end >= len(words.words)
            or words.clause[end] != words.clause[end - 1]
            or words.words[end] in ("for", "and", "but")
        )

    def _sentence_end(self, start: int) -> int:
        stop = start
        while stop < len(self.words.words) and self.words.sentence[stop] == self.words.sentence[start]:
            stop += 1
        return stop

    def _tag_end(self, start: int) -> bool:
        """Returns whether a particle ends its clause inside a sentence that asks on ("No, why should I?")."""
        return start + 1 >= len(self.words.words) or self.words.clause[start + 1] != self.words.clause[start]

    def _particle(self, side: Side, start: int, end: int) -> None:
        """Takes a yes or no where its place says that it is the answer."""
        words = self.words
        if self.answer.in_condition(start):
            return
        ends = end >= len(words.words) or words.clause[end] != words.clause[end - 1]
        following = "" if end >= len(words.words) else words.words[end]
        before = words.clause_before(start)
        word = words.words[start]
        opens = not before or all(one in single_words("openings") for one in before)
        if self.answer.spoken_by_other(start):
            return
        if opens and word in _INVERTING and following in ("have", "did", "was", "had"):
            return
        if opens and word in _INVERTING and following in single_words("auxiliaries"):
            self.signs.append(Sign("no", start, 2))
            return
        cjk = "\u4e00" <= word[0] <= "\u9fff"
        if opens and word in single_words("lone_answers") and not ends:
            return
        if opens and (
            ends
            or cjk
            or (side == "yes" and word not in single_words("loose_answers"))
            or following in single_words("behind_no")
            or following == word
        ):
            if cjk and not ends and end - start == 1 and following not in ("我", "吾", "，"):
                return
            self.signs.append(Sign(side, start, 1))
            return
        if not before or not (ends or following in ("from", "to", "and", "for", "i", "because", "on")):
            return
        if self._introduced(before) and word not in ("not", "never", "hardly", "pass", "rather"):
            counted = sum(1 for one in before if one in single_words("negators"))
            self.signs.append(Sign(other(side) if counted % 2 else side, start, 3))

    def _introduced(self, before: Sequence[str]) -> bool:
        """Returns whether the words before a particle say that it is the speaker's answer."""
        last = before[-1]
        if last in ("say", "says", "said"):
            subject = [
                one
                for one in before[:-1]
                if one in single_words("other_people")
                or one in single_words("inner_voices")
                or one in ("i", "we", "must")
            ]
            counterfactual = (last == "said" and "have" in before[-3:]) or "if" in before
            return bool(subject) and subject[-1] not in single_words("other_people") and not counterfactual
        if any(one in single_words("other_people") for one in before) and "answer" not in before and "it" not in before:
            return False
        tail = list(before[-4:])
        return any(tuple(tail[-size:]) in phrases("says") for size in (4, 3, 2, 1) if len(tail) >= size)

    def _verb(self, kind: Literal["agree", "refuse"], start: int, end: int) -> None:
        """Takes a verb that accepts or declines, if the speaker is its subject."""
        words = self.words
        asked = words.sentence[start] in words.asked
        if asked or self.answer.in_condition(start) or self.answer.by_other(start):
            return
        is_answer = kind == "agree" or any(map(self.answer.is_asked, words.words[start:end]))
        side: Side = "yes" if is_answer else "no"
        self.signs.append(Sign(other(side) if self.answer.negators(start) % 2 else side, start, 2))

    def _answering(self, sign: Sign) -> Sign:
        """Returns a particle with the weight that the speaker's own question before it gives it."""
        words = self.words
        sentence = words.sentence[sign.at]
        if sign.weight != 1 or sentence - 1 not in words.asked:
            return sign
        asked = {
            words.words[index]
            for index in range(max(0, sign.at - 14), sign.at)
            if words.sentence[index] == sentence - 1
        }
        if "i" in asked and asked & {"want", "like", "wish", "love", "enjoy", "fear"}:
            return Sign(sign.side, sign.at, 0)
        if "i" in asked and asked & {"will", "shall", "would"}:
            return Sign(sign.side, sign.at, 3)
        return sign

    def _conclude(self) -> Weighed:
        noticed: set[str] = set()
        signs = self.signs
        if self.conditional and signs:
            noticed.add(flags.CONDITIONAL)
        if self.both and not any(sign.weight >= 2 for sign in signs):
            return Weighed(("yes", "no"), frozenset(noticed))
        if not signs:
            return Weighed(("yes", "no") if self.unsure_at >= 0 else (), frozenset(noticed))
        if self.unsure_at > signs[-1].at and not any(sign.weight == 3 for sign in signs):
            later = any(at < self.unsure_at for at in self.contrasts) or all(sign.weight < 2 for sign in signs)
            if later:
                return Weighed(("yes", "no"), frozenset(noticed))
        acted = any(sign.weight >= 2 for sign in signs)
        sides = sides_of(signs)
        if len(sides) == 2:
            sides = self._decided(noticed)
        negative = is_negative(self.message)
        if len(sides) == 2 and negative and acted:
            sides = sides_of([sign for sign in signs if sign.weight >= 2])
            noticed.add(flags.POLARITY)
        if any(_minding().find(self.message.words)) and self.message.asked:
            return Weighed(self._minded(), frozenset({*noticed, flags.POLARITY}))
        if self.reassured and sides == ("no",):
            return Weighed(("no", "yes"), frozenset({*noticed, flags.POLARITY}))
        if sides == ("yes",) and not acted and self._denying_question():
            return Weighed(("yes", "no"), frozenset({*noticed, flags.POLARITY}))
        if len(sides) == 1 and not acted and negative and self._answers_by_agreeing():
            return Weighed(("yes", "no"), frozenset({*noticed, flags.POLARITY}))
        return Weighed(sides, frozenset(noticed))

    def _decided(self, noticed: set[str]) -> tuple[Side, ...]:
        """Returns the side of signs that differ: a conclusion's, or what stands behind the last contrast."""
        stated = [sign for sign in self.signs if sign.weight == 3]
        if stated and len(sides_of(stated)) == 1 and not any(at > stated[-1].at for at in self.contrasts):
            noticed.add(flags.CORRECTED)
            return sides_of(stated)
        acting = [sign for sign in self.signs if sign.weight >= 2]
        if acting and len(sides_of(acting)) == 1 and acting[-1].at >= self.signs[-1].at:
            noticed.add(flags.CORRECTED)
            return sides_of(acting)
        for at in reversed(self.contrasts):
            behind = [sign for sign in self.signs if sign.at >= at]
            if behind:
                sides = sides_of(behind)
                if len(sides) == 1:
                    noticed.add(flags.CORRECTED)
                return sides
        return sides_of(self.signs)

    def _minded(self) -> tuple[Side, ...]:
        """Returns the answer to a question that asks for an objection; a bare "not at all" leaves it open."""
        words = self.words
        unminding = {hit.start for hit in _unminding().find(words.words)}
        willing: list[Sign] = []
        for sign in self.signs:
            if sign.weight < 2 or sign.at in unminding:
                continue
            if words.words[sign.at] in ("i", "we") and _phrases().at(words.words, sign.at, words.clause) is None:
                at, _ = verb_of(self.answer, sign.at)
                verb = words.words[at] if 0 <= at < len(words.words) else ""
                if verb == "mind":
                    willing.append(Sign(other(sign.side), sign.at, 2))
                    continue
                if words.words[sign.at + 1] in ("do", "would") and not self.answer.is_asked(verb):
                    continue
            willing.append(sign)
        if not willing and unminding and takes_hold(self.answer):
            return ("yes",)
        sides = sides_of(willing)
        return sides if len(sides) == 1 else ("yes", "no")

    def _denying_question(self) -> bool:
        """Returns whether the message states the negative and asks for consent ("You won't come?")."""
        opening = self.message.words[:3]
        return (
            bool(self.message.asked)
            and bool(opening)
            and opening[0] == "you"
            and ("not" in opening or "never" in opening)
        )

    def _answers_by_agreeing(self) -> bool:
        """Returns whether the language answers a negative question by agreeing with it, as Chinese does."""
        return any("\u4e00" <= word[0] <= "\u9fff" for word in self.words.words)
