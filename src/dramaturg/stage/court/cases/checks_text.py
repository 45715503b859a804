"""Checks of each text by itself: length, signs, markup, orders to a model, language, repeats."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping

from dramaturg.stage.court.case import AnyCase
from dramaturg.stage.court.cases.fields import TextField, text_fields
from dramaturg.stage.court.cases.finding import Finding
from dramaturg.stage.court.cases.words import LANGUAGES, case_words

LENGTHS: Mapping[str, tuple[int, int]] = {
    "title": (4, 160),
    "setting": (6, 300),
    "charge": (6, 400),
    "matter": (6, 400),
    "accused": (2, 120),
    "summary": (80, 2400),
    "goal": (12, 600),
    "evidence.name": (3, 120),
    "evidence.description": (12, 700),
    "witnesses.occupation": (3, 160),
    "witnesses.manner": (6, 600),
    "witnesses.knowledge": (8, 600),
    "witnesses.secrets": (8, 600),
    "people.knowledge": (8, 600),
    "people.secrets": (8, 600),
    "timeline.event": (8, 400),
    "facts.text": (8, 400),
}
"""Fewest and most characters of a field; one of Chinese, Japanese or Korean counts as three."""

_ERROR_FACTOR = 3
"""A field that is longer than its most by this factor is an error."""

_LONGEST_NAME = 60
_LONGEST_CASE = 24_000
"""Characters of a whole case, counted as above: about 6,000 tokens, which a context of 8,192 still holds."""

_DENSE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")
_DENSE_COUNTS = 3
_DIRECTION = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_INVISIBLE = re.compile("[\u00ad\u180e\u200b\u2060\ufeff]")
_MARKUP = re.compile(
    r"</?[A-Za-z!|][^<>\n]{0,200}>|\{\{|\}\}|```|<\|[^|]{0,60}\|>|\[/?INST\]|\[\s*\d{1,2}\s*\]|#(?:WIN|LOSS)\b"
    r"|&(?:lt|gt|amp|#\d+);|\*\*[^*\n]+\*\*|^\s*#{1,6}\s|</?s>|\bnext[ _]?speaker\s*[:：]",
    re.IGNORECASE | re.MULTILINE,
)
_PLACEHOLDER = re.compile(r"\A\s*(?:string|text|name|\.{3}|…|-+|\?+|x+|null|none)\s*\Z|\[[A-Z][\w ]{1,30}\]|\$\{", re.I)
_RTL_LANGUAGES = frozenset({"ar", "dv", "fa", "he", "ku", "ps", "sd", "ug", "ur", "yi"})
_LEAST_WORDS = 25
_LEAST_SHARE = 0.02


def check_texts(case: AnyCase) -> Iterator[Finding]:
    """Yields what is doubtful about single texts."""
    fields = text_fields(case)
    for field in fields:
        yield from _length(field)
        yield from _signs(field, case.language)
        yield from _orders(field, case.language)
    total = sum(weight(field.text) for field in fields)
    if total > _LONGEST_CASE:
        told = f"the case has {total:,} characters, at most {_LONGEST_CASE:,} fit into the context of most models"
        yield Finding("long-case", "warning", "case", told)
    yield from _repeats(fields)
    yield from _language(case, fields)


def weight(text: str) -> int:
    """Returns the length of a text in characters of an alphabet; a dense sign counts as three."""
    return len(text) + (_DENSE_COUNTS - 1) * len(_DENSE.findall(text))


def shown(text: str, most: int = 40) -> str:
    """Returns a piece of a text as a finding quotes it: one line, without invisible signs."""
    plain = " ".join("".join(sign if sign.isprintable() else "\ufffd" for sign in text).split())
    return repr(plain if len(plain) <= most else f"{plain[:most]}…")


def _length(field: TextField) -> Iterator[Finding]:
    length = weight(field.text)
    if field.where.endswith(".name") and not field.where.startswith("evidence") and length > _LONGEST_NAME:
        yield Finding("length", "error", field.where, f"a name of {length} characters; at most {_LONGEST_NAME}")
    if field.kind not in LENGTHS:
        return
    least, most = LENGTHS[field.kind]
    if length < least:
        yield Finding("length", "warning", field.where, f"{length} characters; at least {least} are expected")
    elif length > most:
        severity = "error" if length > most * _ERROR_FACTOR else "warning"
        yield Finding("length", severity, field.where, f"{length:,} characters; at most {most} are expected")


def _signs(field: TextField, language: str) -> Iterator[Finding]:
    if found := _DIRECTION.search(field.text):
        told = f"holds {_name(found[0])}, which changes the order of what is shown"
        yield Finding("direction-control", "error", field.where, told)
    control = [sign for sign in field.text if unicodedata.category(sign) == "Cc" and sign not in "\n\t\r"]
    if control:
        yield Finding("control-character", "error", field.where, f"holds the control character {_name(control[0])}")
    elif found := _INVISIBLE.search(field.text):
        yield Finding("control-character", "warning", field.where, f"holds {_name(found[0])}, which nobody sees")
    rtl = [sign for sign in field.text if unicodedata.bidirectional(sign) in {"R", "AL"}]
    if rtl and language not in _RTL_LANGUAGES:
        told = f"holds right-to-left text ({len(rtl)} letters) in a case in the language {language!r}"
        yield Finding("right-to-left", "warning", field.where, told)


def _name(sign: str) -> str:
    return f"U+{ord(sign):04X} {unicodedata.name(sign, '')}".strip()


def _orders(field: TextField, language: str) -> Iterator[Finding]:
    if found := _MARKUP.search(field.text):
        told = f"holds {shown(found[0].strip())}, which looks like markup or a tag"
        yield Finding("markup", "error", field.where, told)
    for known in LANGUAGES:
        if found := re.search(case_words(known).instructions, field.text, re.IGNORECASE):
            told = f"holds {shown(found[0])}, which speaks to a model and not of the case"
            yield Finding("instructions", "error", field.where, told)
    placeholder = _PLACEHOLDER.search(field.text) or re.search(
        case_words(language).placeholder, field.text, re.IGNORECASE
    )
    if placeholder:
        yield Finding("placeholder", "error", field.where, f"holds {shown(placeholder[0])}, which was to be replaced")


def _repeats(fields: list[TextField]) -> Iterator[Finding]:
    """Yields texts that stand twice; two people may know the same thing."""
    first: dict[tuple[str, str], str] = {}
    for field in fields:
        if field.where.endswith((".name", ".time", ".manner", ".occupation")):
            continue
        together = field.where.rpartition("[")[0] if field.where.endswith("]") else field.kind
        plain = (together, " ".join(field.text.casefold().split()))
        if plain in first:
            yield Finding("repeated", "warning", field.where, f"says the same as {first[plain]}")
        first.setdefault(plain, field.where)


def _language(case: AnyCase, fields: list[TextField]) -> Iterator[Finding]:
    """Yields a finding where the commonest words are another language's than the one declared."""
    text = "\n".join(field.text for field in fields if not field.where.endswith(".name"))
    dense = len(_DENSE.findall(text)) / max(len(text), 1)
    if (case.language in {"zh", "ja", "ko"}) != (dense > 0.3) and len(text) > LENGTHS["summary"][0]:
        yield Finding("language", "error", "language", f"is {case.language!r}, and the texts are in another script")
        return
    tokens = re.findall(r"[^\W\d_]+", text.casefold())
    shares = {
        known: sum(token in case_words(known).function_words for token in tokens) / max(len(tokens), 1)
        for known in LANGUAGES
        if case_words(known).joiner
    }
    if case.language not in shares or len(tokens) < _LEAST_WORDS:
        return
    likeliest = max(shares, key=lambda known: shares[known])
    if shares[likeliest] > max(2 * shares[case.language], _LEAST_SHARE):
        told = f"is {case.language!r}, and the texts read like {likeliest!r}"
        yield Finding("language", "error", "language", told)
