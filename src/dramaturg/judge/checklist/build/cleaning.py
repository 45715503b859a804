"""From what a model wrote to the text of a question: numbers, labels and marks taken off, or a reason why it is none.

Small models number inside the text, repeat the prompt, put a label or an answer beside the question, leave the mark
out, or write two questions into one. What can be mended without guessing is mended; the rest is refused.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from dramaturg.judge.checklist.build.lexicon import Lexicon, begins_with, without
from dramaturg.judge.checklist.build.rules import same_words
from dramaturg.judge.checklist.checklist import QUESTION_MARKS

Unfit = Literal["blank", "no_question", "several_questions", "echoes_prompt", "repeats_seed", "repeats_sibling"]
"""Why a text is no question of its own."""

WHY: dict[Unfit, str] = {
    "blank": "nothing is left of it",
    "no_question": "it is a statement or a heading, no question",
    "several_questions": "it holds several questions",
    "echoes_prompt": "it copies words of the prompt",
    "repeats_seed": "it repeats the seed question",
    "repeats_sibling": "the model wrote it before",
}
"""Reason → one line for people."""

NUMBER = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,3}")

_ECHO = 5
"""So many words in a row are no chance."""

_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060\ufeff\u00ad]")
_MARKUP = re.compile(r"\*\*|__|`|^#+\s*", re.MULTILINE)
_BULLET = re.compile(r"^\s*(?:[-*•–—>]+|\(?[a-z]\))\s+", re.IGNORECASE)
_NUMBERED = re.compile(rf"^\s*\(?(?P<number>{NUMBER.pattern})\s*(?:[.):\-–]+\s*|\s+)(?=\D)")
_LABEL = re.compile(
    r"^\s*(?:q(?:uestion)?|sub-?question|query|frage|domanda|问题|问)\s*(?P<number>\d{1,2}(?:\.\d{1,2})*)?\s*[:.)\-–：]\s*",
    re.IGNORECASE,
)
_YES_OR_NO = r"[\s(\[{–—-]*\b(?:(?:please\s+)?answer\s*:?\s*)?yes\s*(?:/|\bor\b|\|)\s*no\b[\s)\]},:.?–—-]*"
_YES_NO = re.compile(rf"\A{_YES_OR_NO}|(?<=[?？.]){_YES_OR_NO}\Z", re.IGNORECASE)
_ANSWER = re.compile(
    r"(?<=[?？])[\s(\[–—-]*(?:answer\s*[:=]?\s*)?(?:yes|no|true|false|sì|是|否)\b[\s)\].!]*\Z", re.IGNORECASE
)
_BEFORE_COLON = re.compile(r"^[^:：?？]{1,60}[:：]\s*(?=\S)")
_SPACE_BEFORE_MARK = re.compile(r"\s+([?？,])")
_QUOTES = "\"'“”‘’«»「」"


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A question, with the number that stood inside its text.

    Attributes:
        text: The question; it ends with one question mark.
        number: Such as `1.2`; empty where there was none.
    """

    text: str
    number: str


def clean(raw: str, words: Lexicon, *, prompt: str, seed: str, instructions: str = "") -> Cleaned | Unfit:
    """Returns the question in what a model wrote, or why there is none.

    Args:
        raw: What it wrote.
        words: Lexicon of the checklist's language.
        prompt: What it was told, whose sentences are no questions of its own.
        seed: The question that it was given.
        instructions: The part of the prompt that is the same for every seed; five words of it in a row are an echo.
    """
    text, number = _bare(raw)
    if not text:
        return "blank"
    text = _without_label(text, words)
    questions = [
        part
        for part in re.findall(r"[^?？]*[?？]", text)
        if any(sign.isalnum() for sign in part) and not begins_with(part, words.illustrations)
    ]
    if len(questions) > 1:
        return "several_questions"
    if questions:
        text = _last_sentence(questions[0], words)
    elif begins_with(text, words.openings):
        text = text.rstrip(" .;,!。！") + "?"
    else:
        return "no_question"
    text = _SPACE_BEFORE_MARK.sub(r"\1", " ".join(without(text, words.padding).split()))
    words_of_it = same_words(text)
    if not words_of_it:
        return "blank"
    if words_of_it == same_words(seed):
        return "repeats_seed"
    if f" {words_of_it} " in f" {same_words(prompt)} " or _repeats(words_of_it, same_words(instructions)):
        return "echoes_prompt"
    return Cleaned(text[0].upper() + text[1:], number)


def _repeats(text: str, instructions: str) -> bool:
    """Returns whether a text has a run of words from the instructions."""
    parts = text.split()
    runs = (" ".join(parts[at : at + _ECHO]) for at in range(len(parts) - _ECHO + 1))
    return any(f" {run} " in f" {instructions} " for run in runs)


def _bare(raw: str) -> tuple[str, str]:
    """Returns the text without what stands around it, and the number that stood before it."""
    text = _INVISIBLE.sub("", unicodedata.normalize("NFC", raw))
    text = " ".join(_MARKUP.sub("", text).split())
    number = ""
    before = None
    while text != before:
        before = text
        text = _BULLET.sub("", text.strip(f" \t{_QUOTES}"))
        for pattern in (_NUMBERED, _LABEL):
            if (found := pattern.match(text)) is not None:
                number = found["number"] or number
                text = text[found.end() :]
        text = _ANSWER.sub("", _YES_NO.sub(" ", text)).strip(f" \t{_QUOTES},")
    return text, number


def _without_label(text: str, words: Lexicon) -> str:
    """Returns the text without a heading before its question, such as `From the witness's side: …`."""
    found = _BEFORE_COLON.match(text)
    if found is None or begins_with(text, words.openings):
        return text
    rest = text[found.end() :]
    opens = begins_with(rest, words.openings) if words.openings else rest.endswith(QUESTION_MARKS)
    return rest if opens else text


def _last_sentence(question: str, words: Lexicon) -> str:
    """Returns the question without statements before it."""
    parts = re.split(r"(?<=[.!。！])\s*(?=\S)", question.strip())
    last = parts[-1].strip()
    return last if len(parts) > 1 and (not words.openings or begins_with(last, words.openings)) else question.strip()
