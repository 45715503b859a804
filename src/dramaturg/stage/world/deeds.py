"""Reads what a player wrote as an action or a speech: where the own deed ends, and what is to be noticed in it.

Only a leading own name with a colon is taken off; times, addresses and colons stay. Pure text, no model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from dramaturg.model.reply import ReplyStatus
from dramaturg.stage.court.speech import nearly_same, repeats_itself, whole_sentences
from dramaturg.stage.world.scene import SceneCharacter

_HEAD = re.compile(
    r"^[ \t>*_#\"“\[【(（-]*(?P<head>[^\n:：]{1,80}?)[ \t*_\]】)）]*(?:：|:(?=\s|\*|\"|“|$))", re.MULTILINE
)
_NOTE = re.compile(r"\s*[(（\[【][^()（）\[\]【】]{0,30}[)）\]】]?\s*\Z")
_LABEL = re.compile(r"\A(?:action|act|speech|dialogue|reaction|动作|行动|言语|对白|台词|反应)\Z", re.IGNORECASE)
_QUOTED = re.compile(r"\A(?:\"([^\"]*)\"|“([^“”]*)”|「([^「」]*)」)\Z", re.DOTALL)
_WORD = re.compile(r"\w")
_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]")
_AS_AN_AI = re.compile(
    r"\b(?:as an?|i am an?|i['’]m an?)\s+(?:ai\b|artificial intelligence|(?:large )?language model)"
    r"|作为(?:一个|一名)?(?:AI|人工智能|语言模型)",
    re.IGNORECASE,
)
_SILENT = re.compile(
    r"\A[\s.…*_\"'“”()（）\[\]【】-]*(?:(?:says? nothing|silent|silence|remains? silent|stays? silent|none|nothing|n/a"
    r"|no (?:speech|dialogue|words)|沉默(?:不语)?|无(?:言|对白)?|不说话|什么也不说|没有说话)"
    r"[\s.…。*_\"'“”()（）\[\]【】-]*)?\Z",
    re.IGNORECASE,
)

LEAST_LETTERS = 12
"""A shorter text tells nothing of its language, and may be said again."""


@dataclass(frozen=True, slots=True)
class Deed:
    """What one player did or said, as far as it is its own.

    Attributes:
        text: The own deed; empty where there is none.
        raw: What the player wrote.
        key: The call in the ledger; empty where none was made.
        flags: What was noticed: ``empty``, ``refused``, ``degenerate``, ``loop`` (one sentence again and again),
            ``repeat`` (of an earlier one), ``truncated``, ``cut:other_speaker``, ``cut:length``, ``narrates:ID`` (a
            sentence tells what somebody else does), ``as_an_ai``, ``other_language``, ``redraw:WHY``, ``unparsed``.
        human: Whether a person did it.
    """

    text: str
    raw: str = ""
    key: str = ""
    flags: tuple[str, ...] = ()
    human: bool = False

    @property
    def fault(self) -> str:
        """Why it had better be drawn anew: nothing of it can be used, or it was done before; empty otherwise."""
        if not self.text:
            return self.flags[-1] if self.flags else ""
        return "repeat" if "repeat" in self.flags else ""


NOTHING = Deed("")
"""Neither done nor asked for."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the deeds of one character.

    Attributes:
        own: The character.
        others: Everybody else who is there.
        language: In which it should write.
        earlier: What it did and said before.
    """

    own: SceneCharacter
    others: Sequence[SceneCharacter]
    language: str
    earlier: list[str] = field(default_factory=list[str])

    def read(self, status: ReplyStatus, raw: str, text: str, *, key: str, silent: bool = False) -> Deed:
        """Returns what an answer holds of an action or a speech.

        Args:
            status: How the call ended.
            raw: All that the player wrote.
            text: The part of it that is read.
            key: The call in the ledger.
            silent: Whether saying nothing is an answer.
        """
        if status in {"refused", "degenerate"}:
            return Deed("", raw, key, (status,))
        if silent and raw.strip() and _SILENT.match(text) is not None:
            return Deed("", raw, key)
        own, flags = self._own(text.strip())
        if status == "truncated" and not flags:
            own = whole_sentences(own)
            flags.append("truncated")
        if not _WORD.search(own):
            return Deed("", raw, key, tuple(flags) or ("empty",))
        if repeats_itself(own):
            return Deed("", raw, key, (*flags, "loop"))
        return Deed(own, raw, key, (*flags, *self._noticed(own)))

    def _own(self, text: str) -> tuple[str, list[str]]:
        """Returns the text up to the first line of somebody else, without the own name at its head."""
        while (head := _HEAD.match(text)) is not None and self._is_own(head["head"]):
            text = text[head.end() :].lstrip(" \t\n*_")
        for head in _HEAD.finditer(text):
            if self._whose(head["head"]) is not None:
                return _unquoted(text[: head.start()]), ["cut:other_speaker"]
        return _unquoted(text), []

    def _is_own(self, head: str) -> bool:
        bare = _NOTE.sub("", head).strip(' *_"“')
        return _LABEL.match(bare) is not None or bare.casefold() in _called(self.own)

    def _whose(self, head: str) -> SceneCharacter | None:
        bare = _NOTE.sub("", head).strip(' *_"“').casefold()
        return next((other for other in self.others if bare in _called(other)), None)

    def _noticed(self, text: str) -> list[str]:
        flags: list[str] = []
        if any(_same(text, before) for before in self.earlier):
            flags.append("repeat")
        flags += [f"narrates:{other.id}" for other in self.others if _tells_of(text, other)]
        if _AS_AN_AI.search(text):
            flags.append("as_an_ai")
        if _is_other_language(text, self.language):
            flags.append("other_language")
        return flags


def _unquoted(text: str) -> str:
    text = text.strip()
    found = _QUOTED.match(text)
    return next((part for part in found.groups() if part is not None), text).strip() if found is not None else text


def _called(character: SceneCharacter) -> set[str]:
    return {name.casefold() for name in (character.name, character.id, *character.aliases)}


def _same(text: str, before: str) -> bool:
    """Returns whether two deeds are the same; of scripts without blanks, sign by sign."""
    one, other = " ".join(text.split()).casefold(), " ".join(before.split()).casefold()
    if one == other:
        return len(one) >= LEAST_LETTERS
    if _HAN.search(text):
        return nearly_same(" ".join(_HAN.findall(text)), " ".join(_HAN.findall(before)))
    return nearly_same(text, before)


def _tells_of(text: str, other: SceneCharacter) -> bool:
    """Returns whether a sentence begins with somebody else's name: it tells what that one does."""
    for name in (other.name, *other.aliases):
        pattern = rf"(?:\A|[.!?。！？\n]\s*){re.escape(name)}(?![\w'’的])(?!\s*[,，!！])"
        if _HAN.search(name):
            pattern = rf"(?:\A|[。！？\n]\s*){re.escape(name)}(?![的，！])"
        if re.search(pattern, text, re.IGNORECASE):
            return True
    return False


def _is_other_language(text: str, language: str) -> bool:
    han, latin = len(_HAN.findall(text)), len(_LATIN.findall(text))
    if han + latin < LEAST_LETTERS:
        return False
    match language:
        case "zh":
            return han < latin / 3
        case "en":
            return han > latin / 3
        case _:
            return False
