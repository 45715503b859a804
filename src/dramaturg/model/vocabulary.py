"""Closed vocabularies: which of a few allowed answers a text gives, or none. Nothing is guessed.

The rule, for yes and no as for any other vocabulary:

1. A text that is an allowed answer as a whole, marks aside, is that answer.
2. Otherwise the last anchored answer is authoritative. Anchored are: what follows a label such as ``Verdict:`` or
   ``the answer is``; a last line, or the end of the last line behind a dash, colon or arrow, that is an allowed
   answer as a whole. If what follows the last label is not allowed ("Verdict: Partly", "Verdict: YesNo", "yes and no"),
   there is no answer; an earlier one does not take its place.
3. Without any anchor, a text that opens with an allowed answer and a mark ("No. He never says so") gives it, unless
   another allowed answer stands anywhere behind it; "not yes" is no such answer, so "The answer is no, not yes" is no.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from dramaturg.model.relaxed import INVISIBLE

YesNo = Literal["yes", "no", "not_applicable"]

_YES_NO: Mapping[str, Mapping[YesNo, str]] = {
    "en": {
        "yes": "yes|y|yeah|yep|true|correct",
        "no": "no|n|nope|false|incorrect",
        "not_applicable": "not applicable|n/a|na|n.a.|n. a.|n a|not_applicable|not-applicable|inapplicable",
    },
    "it": {"yes": "sì|si|vero", "no": "no|falso", "not_applicable": "non applicabile|n/d"},
    "fr": {"yes": "oui|vrai", "no": "non|faux", "not_applicable": "non applicable|sans objet"},
    "zh": {"yes": "是|是的|对|正确", "no": "否|不|不是|没有|不对|错误", "not_applicable": "不适用|不適用|无关"},
}
"""What says yes, no and not applicable, by language."""

_LABELS = (
    "final answer|final verdict|answer|verdict|result|conclusion|judg(?:e)?ment|decision|choice|score|rating|"
    "risposta|verdetto|punteggio|réponse|note|答案|结论|判断|回答|评分"
)
_INVISIBLE = dict.fromkeys(map(ord, INVISIBLE))
_MARKS = " \t\r\n.,;:!?\"'`*_~#()[]{}<>|。、，；：！？“”‘’「」『』【】（）《》…-–—=→•✓✔✅✗✘❌"
_LEADING_MARKS = re.compile(rf"\A(?:[{re.escape(_MARKS.replace('-', ''))}]|-(?!\d))+")
_SEPARATOR = re.compile(r"\s[-–—|]+(?:\s+|(?=[^\W\d]))|\s*(?:[:—→]|[=-]>)\s*")
_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """Synonyms in plain form with their answers, and the patterns made of them."""

    answers: Mapping[str, str]
    anchored: re.Pattern[str]
    opening: re.Pattern[str]
    leading: re.Pattern[str]
    anywhere: re.Pattern[str]


def read_yes_no(text: str) -> YesNo | None:
    """Returns yes, no or not_applicable as the module's rule reads it, or None.

    Knows English, Italian, French and Chinese; case, width, marks and invisible characters do not matter.

    Args:
        text: What a model wrote, without its reasoning.
    """
    return cast("YesNo | None", _read(text, _yes_no()))


def yes_no_synonyms(*languages: str) -> dict[str, YesNo]:
    """Returns what each word for yes, no and not applicable means, in the languages that are known of these.

    Args:
        languages: ISO 639-1.
    """
    return {
        word: answer
        for language in languages
        for answer, words in _YES_NO.get(language, {}).items()
        for word in words.split("|")
    }


def read_yes_no_field(text: str) -> YesNo | None:
    """Returns yes, no or not_applicable of a field that holds an answer and little else, or None.

    As `read_yes_no`, but a text that opens with one answer and ends in another, such as ``yes | no`` or an answer
    with the next question's behind it, gives none: which of them belongs to the field cannot be known.

    Args:
        text: What stands in the field.
    """
    answer = read_yes_no(text)
    folded = unicodedata.normalize("NFKC", text.translate(_INVISIBLE)).casefold()
    vocabulary = _yes_no()
    leading = vocabulary.leading.match(_LEADING_MARKS.sub("", folded))
    return answer if leading is None or vocabulary.answers[leading["answer"]] == answer else None


def read_choice(text: str, options: Sequence[str]) -> str | None:
    """Returns the option that a text gives by its words, its letter or its number, or None.

    Letters and numbers count from the first option: ``(a)``, ``b)``, ``3.``; an option's own words come first. ``(b) go
    home`` is read where ``go home`` is the second option.

    Args:
        text: What a model wrote, without its reasoning.
        options: What may be chosen, at most 26.
    """
    return _read(text, _choices(tuple(options)))


def match_word(text: str, options: Sequence[str]) -> str | None:
    """Returns the option that a text is as a whole, whatever its case, marks, blanks and hyphens, or None."""
    plain = re.sub(r"[\s_-]+", "_", plain_text(text))
    found = {option for option in options if re.sub(r"[\s_-]+", "_", plain_text(option)) == plain}
    return found.pop() if len(found) == 1 else None


def plain_text(text: str) -> str:
    """Returns the text folded for comparison: width, case, marks around it and invisible characters are gone."""
    folded = unicodedata.normalize("NFKC", text.translate(_INVISIBLE)).casefold()
    folded = _LEADING_MARKS.sub("", folded.rstrip(_MARKS))
    return re.sub(r"[ \t\u00a0]+", " ", folded)


def _read(text: str, vocabulary: _Vocabulary) -> str | None:
    folded = unicodedata.normalize("NFKC", text.translate(_INVISIBLE)).casefold()[-_LONGEST:].strip()
    whole = vocabulary.answers.get(plain_text(folded))
    if whole is not None:
        return whole
    label = max(vocabulary.anchored.finditer(folded), key=re.Match[str].start, default=None)
    last_line_at = folded.rfind("\n") + 1
    last_line = folded[last_line_at:]
    closing = vocabulary.answers.get(plain_text(last_line))
    if closing is None and (parts := _SEPARATOR.split(last_line))[1:]:
        closing = vocabulary.answers.get(plain_text(parts[-1]))
    if closing is not None and (label is None or label.start() < last_line_at or label["answer"] is not None):
        return closing
    if label is not None:
        return vocabulary.answers[label["answer"]] if label["answer"] is not None else None
    opening = vocabulary.opening.match(_LEADING_MARKS.sub("", folded))
    if opening is None:
        return None
    answer = vocabulary.answers[opening["answer"]]
    others = (vocabulary.answers[other["answer"]] for other in vocabulary.anywhere.finditer(folded) if not other["not"])
    return answer if all(other == answer for other in others) else None


@functools.cache
def _yes_no() -> _Vocabulary:
    return _vocabulary(cast("Mapping[str, str]", yes_no_synonyms(*_YES_NO)))


@functools.lru_cache(maxsize=256)
def _choices(options: tuple[str, ...]) -> _Vocabulary:
    answers: dict[str, str] = {}
    for number, option in enumerate(options):
        letter = chr(ord("a") + number)
        for synonym in (letter, str(number + 1)):
            answers.setdefault(synonym, option)
            for mark in (")", ".", ":", ""):
                answers.setdefault(f"{synonym}{mark} {plain_text(option)}", option)
    return _vocabulary(answers | {plain_text(option): option for option in options})


def _vocabulary(answers: Mapping[str, str]) -> _Vocabulary:
    answers = {plain_text(synonym): answer for synonym, answer in answers.items()}
    longest_first = sorted(answers, key=len, reverse=True)
    one = "|".join(re.escape(synonym) for synonym in longest_first)
    ends = r"(?=\s*[.,;:!()\[*\"'`|。、，；：！」”—–\n]|\s-|\s*\Z|\s+(?:because|since|as)\b)"
    more = rf"(?:\s*(?:[,;|、]|and|or|e|et|ou|o|和|或)){{1,2}}\s*(?:{one})(?!\w)"
    alone = rf"(?![.,]\d){ends}(?!{more})"
    joint = r"\s*(?:(?:(?:is|was|è|est)\b|是|为)\s*[:：]?|[:：=])"
    label = rf"(?:(?<!\w)(?:{_LABELS})[*_\"'`)]*{joint}|\[(?:{_LABELS})\])[\s*_\"'`(\[“「]*"
    return _Vocabulary(
        answers,
        re.compile(rf"{label}(?P<answer>(?:{one}){alone})?"),
        re.compile(rf"(?P<answer>{one}){alone}"),
        re.compile(rf"(?P<answer>{one})(?:{ends}|{more})"),
        re.compile(rf"(?P<not>\b(?:not|non|pas|rather than)\s+(?:a\s+)?)?(?<![\w'])(?P<answer>{one})(?![\w'])"),
    )
