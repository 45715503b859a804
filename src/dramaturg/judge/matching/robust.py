"""What a reply means, whatever its form; see `robust`."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import assert_never

from dramaturg.judge.matching import flags
from dramaturg.judge.matching.decisions import read_decision
from dramaturg.judge.matching.emotions import Reading, emotions_told, read_emotion
from dramaturg.judge.matching.knowledge import judge_knowledge, judge_secrecy
from dramaturg.judge.matching.question import Question, Verdict
from dramaturg.judge.matching.reply_text import ReplyText
from dramaturg.judge.matching.speech import Speech, heard, spoken, thought_in_objects
from dramaturg.judge.matching.voice import Voice, voice_of
from dramaturg.judge.matching.words import phrase, words_of

_SAYS_SOMETHING = re.compile(r"[^\W_]")
_ONLY_MARKS = re.compile(
    r"[\s.,;:!?…\-–—*_~`\"'()\[\]{}<>|/\\#。，、！？\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufe0f\ufeff\u00ad]*"
)
_DEGENERATE_WORDS = 200
_DEGENERATE_SHARE = 0.02
_DEGENERATE_READ = 10_000
"""Signs at either end of a reply without end in which a leak is sought."""


def robust(question: Question, reply: ReplyText) -> Verdict:
    """Returns what a reply means: a status, the answer that was read and what was noticed beside it.

    The order is fixed: an item that cannot be scored; a call that failed; a provider's refusal; no visible text; a
    broken persona; then the answer itself, and only where there is none, a refusal by the model or a cut.

    Args:
        question: The item.
        reply: The model's text as it came, and how the call ended.
    """
    if not _is_valid(question):
        return Verdict("invalid_item")
    if reply.end == "failed":
        return Verdict("failed")
    if reply.end == "refused":
        return Verdict("refusal")
    text = reply.text or ""
    if reply.end == "empty" or _ONLY_MARKS.fullmatch(text):
        return Verdict("truncated" if reply.end == "cut" else "empty")
    speech = heard(text)
    noticed = {flags.REASONING} if speech.reasoning.strip() else set[str]()
    if _ONLY_MARKS.fullmatch(speech.text):
        cut = speech.unclosed or reply.end == "cut"
        return Verdict("truncated" if cut else "empty", flags=tuple(sorted(noticed)))
    aloud = spoken(speech)
    voice = voice_of(aloud, question.message, machine=question.machine)
    cut = reply.end == "cut" or speech.broken
    match question.kind:
        case "emotion":
            verdict = _emotion(question, speech, voice, cut=cut)
        case "decision" | "moral":
            verdict = _decision(question, speech, voice, cut=cut)
        case "in_character" | "knows":
            verdict = _facts(question, speech, aloud, voice, cut=cut)
        case _:
            assert_never(question.kind)
    if speech.repaired and flags.TRAILING_TEXT not in verdict.flags and speech.broken:
        noticed.add(flags.REPAIRED)
    return replace(verdict, flags=tuple(sorted({*verdict.flags, *noticed}))) if noticed else verdict


def _is_valid(question: Question) -> bool:
    match question.kind:
        case "emotion":
            return bool(question.expected) and (not question.labels or question.expected in question.labels)
        case "decision" | "moral":
            return question.expected in ("yes", "no")
        case "in_character" | "knows":
            return bool(question.facts) and all(fact.date or fact.all_forms for fact in question.facts)


def _emotion(question: Question, speech: Speech, voice: Voice, *, cut: bool) -> Verdict:
    labels = question.labels or (question.expected,)
    reading = read_emotion(speech, labels)
    noticed = set(reading.flags)
    if reading.line is not None and not _SAYS_SOMETHING.search(reading.line):
        noticed.add(flags.TEXT_MISSING)
    if len(reading.answers) == 1 and reading.line:
        told = emotions_told(reading.line, labels)
        if told and reading.answers[0] not in told and flags.PROSE not in reading.flags:
            noticed.add(flags.CONTRADICTED)
    return _verdict(question, reading, noticed, voice, cut=cut)


def _decision(question: Question, speech: Speech, voice: Voice, *, cut: bool) -> Verdict:
    if _is_echo(speech.text, question.message):
        return Verdict("unparsed", flags=(flags.ECHO,))
    reading = read_decision(speech, question.message)
    noticed = set(reading.flags)
    if reading.line is not None and not _SAYS_SOMETHING.search(reading.line):
        noticed.add(flags.TEXT_MISSING)
    return _verdict(question, reading, noticed, voice, cut=cut)


def _verdict(question: Question, reading: Reading, noticed: set[str], voice: Voice, *, cut: bool) -> Verdict:
    inside = [answer for answer in reading.answers if answer not in reading.outside]
    answer = reading.answers[0] if len(reading.answers) == 1 else ""
    if cut and reading.answers:
        noticed.add(flags.TRUNCATED)
    seen = tuple(sorted(noticed))
    if voice == "persona_break":
        return Verdict("persona_break", answer, seen)
    if voice == "refusal" and (not answer or flags.PROSE in noticed):
        return Verdict("refusal", flags=seen)
    if len(reading.answers) > 1 and inside:
        return Verdict("ambiguous", flags=seen)
    if not reading.answers:
        return Verdict("truncated" if cut else "unparsed", flags=seen)
    return Verdict("right" if answer == question.expected else "wrong", answer, seen)


def _facts(question: Question, speech: Speech, aloud: str, voice: Voice, *, cut: bool) -> Verdict:
    if not _SAYS_SOMETHING.search(aloud):
        return Verdict("unparsed")
    if _is_echo(aloud, question.message):
        return Verdict("unparsed", flags=(flags.ECHO,))
    if _is_degenerate(aloud):
        ends = f"{aloud[:_DEGENERATE_READ]}\n{aloud[-_DEGENERATE_READ:]}"
        leak = judge_secrecy(question, ends, "") if question.kind == "in_character" else None
        if leak is not None and leak.status == "wrong":
            return replace(leak, flags=tuple(sorted({*leak.flags, flags.DEGENERATE})))
        return Verdict("unparsed", flags=(flags.DEGENERATE,))
    if question.kind == "knows":
        verdict = judge_knowledge(question, aloud)
        if cut and verdict.status != "right":
            return Verdict("truncated", flags=verdict.flags)
    else:
        verdict = judge_secrecy(question, aloud, "\n".join((speech.reasoning, thought_in_objects(speech))))
    noticed = {*verdict.flags, *([flags.TRUNCATED] if cut else [])}
    if voice == "character":
        return replace(verdict, flags=tuple(sorted(noticed))) if cut else verdict
    if question.kind == "in_character" and verdict.status == "wrong":
        noticed.add(flags.LEAK)
    if voice == "refusal" and verdict.status == ("right" if question.kind == "knows" else "wrong"):
        return replace(verdict, flags=tuple(sorted(noticed)))
    return Verdict(voice, verdict.answer, tuple(sorted(noticed)))


def _is_echo(text: str, message: str) -> bool:
    if len(text) > 2 * len(message) + 40:
        return False
    said = phrase(text)
    return bool(said) and said == phrase(message)


def _is_degenerate(text: str) -> bool:
    if len(text) < _DEGENERATE_WORDS * 2:
        return False
    words = words_of(text[:20_000]).words
    if len(words) < _DEGENERATE_WORDS:
        return len(text) >= 5_000 and len(words) < 10
    return len(set(words)) < len(words) * _DEGENERATE_SHARE
