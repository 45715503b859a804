"""Reads what a player wrote as an action or a speech: where the own deed ends, and what is to be noticed in it.

Only a leading own name with a colon is taken off; times, addresses and colons stay. Pure text, no model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from dramaturg.model.reply import ReplyStatus
from dramaturg.model.tolerant import Found, plain_key, read_json
from dramaturg.stage.court.speech import declines, repeats_itself, whole_sentences
from dramaturg.stage.world.answers import is_blank
from dramaturg.stage.world.name_words import PARTICLES, TITLES
from dramaturg.stage.world.sameness import HAN, LEAST_LETTERS, is_copy, is_same
from dramaturg.stage.world.scene import SceneCharacter
from dramaturg.stage.world.written import MOST_CHARACTERS, bounded, prose

_HEAD = re.compile(
    r"^[ \t>*_#\"“\[【(（-]*(?P<head>[^\n:：]{1,80}?)[ \t*_\]】)）]*(?:：|:(?=\s|\*|\"|“|$))", re.MULTILINE
)
_NOTE = re.compile(r"\s*[(（\[【][^()（）\[\]【】]{0,30}[)）\]】]?\s*\Z")
_SPEECH_LABELS = frozenset({"speech", "dialogue", "言语", "对白", "台词"})
_LABELS = _SPEECH_LABELS | {"action", "act", "reaction", "动作", "行动", "反应"}
_NARRATORS = frozenset({"narrator", "narration", "旁白", "解说"})
_QUOTED = re.compile(
    r"\A(?:\"([^\"]*)\"|“([^“”]*)”|「([^「」]*)」|‘((?:[^‘’]|‘[^‘’]*’)*)’|'((?:[^']|(?<=\w)'(?=\w))*)')\Z", re.DOTALL
)
_QUOTATION = re.compile(
    r"\"([^\"]+)\"|“((?:[^“”]|“[^“”]*”)+)”|「([^「」]+)」|‘((?:[^‘’]|‘[^‘’]*’)+)’(?!\w)|(?<!\w)'(.+?)'(?!\w)",
    re.DOTALL,
)
_SAYS = re.compile(
    r"\s*(?:says?|said|asks?|answers?|replies|replied|shouts?|whispers?|calls? out"
    r"|(?:低声|大声|轻声)?(?:说|问|喊|答|叫)?道?)\s*\Z"
)
_SAID = re.compile(
    r"\s*(?:(?:says?|said|asks?|asked|answers?|answered|replies|replied|shouts?|shouted|whispers?|whispered|cries|cried)\b"
    r"|(?:低声|大声|轻声)?(?:说|问|喊|答|叫))道?"
)
"""A verb of speaking, behind a name."""

_UNSAID = re.compile(
    r"[\s,，]*(?:\b(?:and|then)\s+)*\b(?:says?|asks?|answers?|replies)\s*[,:]\s*\Z|[，,]?(?:并|然后)?说道?[：:，,]\s*\Z"
)
"""A verb of speaking at the end of an act, with nothing said behind it."""

_STAGED = re.compile(r"\A(?:\([^()]*\)|（[^（）]*）|\[[^\[\]]*\]|【[^【】]*】|\*[^*]+\*)[.。]?\Z")
"""A speech that is a stage direction from its first sign to its last."""

_BEGUN = re.compile(
    r"\"(?P<key>[^\"“”{}:：]{1,40})\"\s*[:：]\s*(?:\"(?P<value>(?:[^\"\\]|\\.)*)|“(?P<curly>.*?)(?:”?\s*\}\s*\Z|”?\Z))",
    re.DOTALL,
)
"""A text in a JSON object that was cut, or that has other quotation marks."""

_SENTENCE_ENDS = re.compile(r"[.!?。！？\n]")
_CLAUSE = r"[,，;；]\s*(?:\w+\s+){0,2}"
_WORD = re.compile(r"\w")
_LATIN = re.compile(r"[A-Za-z]")
_AS_AN_AI = re.compile(
    r"\b(?:as an?|i am an?|i['’]m an?)\s+(?:ai\b|artificial intelligence|(?:large )?language model)"
    r"|作为(?:一个|一名)?(?:AI|人工智能|语言模型)",
    re.IGNORECASE,
)
_SILENT = re.compile(
    r"\A[\s.…*_\"'“”()（）\[\]【】-]*(?:(?:i |he |she |they |我|他|她)?"
    r"(?:says? nothing|silent|silence|(?:keeps?|remains?|stays?|is) silent|none|null|nothing|n/a"
    r"|no (?:speech|dialogue|words|response|reply|answer)"
    r"|沉默(?:不语)?|无(?:言|对白)?|不说话|什么也不说|没有说话|一言不发)"
    r"[\s.…。*_\"'“”()（）\[\]【】-]*)?\Z",
    re.IGNORECASE,
)

DeedKind = Literal["action", "speech", "reaction"]


@dataclass(frozen=True, slots=True)
class Deed:
    """What one player did or said, as far as it is its own.

    Attributes:
        text: The own deed; empty where there is none.
        raw: What the player wrote.
        key: The call in the ledger; empty where none was made.
        flags: What was noticed: ``empty``, ``refused``, ``degenerate``, ``loop`` (one sentence again and again),
            ``repeat`` (of an earlier one), ``copy`` (of what somebody else did or said), ``truncated``,
            ``cut:other_speaker``, ``cut:length``, ``cut:other_act`` with ``narrates:ID`` (from where it tells what
            somebody else does), ``others_act`` (all of it does), ``form`` (a form where free text was asked for),
            ``told`` and ``doubled`` (the words of a speech stood in a tale, or in the action), ``as_an_ai``,
            ``other_language``, ``redraw:WHY``, ``unparsed``.
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
        return next((flag for flag in NOTHING_NEW if flag in self.flags), "")


NOTHING_NEW = ("repeat", "copy")
"""Flags of a deed that was done before, by the same one or by somebody else."""

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
        heard: What the others did and said, and what the narrator told.
    """

    own: SceneCharacter
    others: Sequence[SceneCharacter]
    language: str
    earlier: list[str] = field(default_factory=list[str])
    heard: list[str] = field(default_factory=list[str])

    def read(self, status: ReplyStatus, raw: str, text: str, *, key: str, kind: DeedKind) -> Deed:
        """Returns what an answer holds of an action or a speech.

        Args:
            status: How the call ended.
            raw: All that the player wrote.
            text: The part of it that is read.
            key: The call in the ledger.
            kind: Of the deed; to say nothing is an answer, to do nothing is none.
        """
        if status in {"refused", "degenerate"}:
            return Deed("", raw, key, (status,))
        text, flags = self._unwrapped(prose(text), kind)
        silent = kind == "speech"
        own, noticed = self._own(text, silent=silent)
        if silent and raw.strip() and not noticed and self._is_silence(own):
            return Deed("", raw, key, tuple(flags))
        own, more = self._words_of(own) if silent else self._without_others(_UNSAID.sub("", own))
        flags += noticed + more
        if status == "truncated" and not flags:
            own = whole_sentences(own)
            flags.append("truncated")
        if len(own) > MOST_CHARACTERS:
            own = bounded(own)
            flags.append("cut:length")
        if not _WORD.search(own) or (not silent and is_blank(own)):
            return Deed("", raw, key, tuple(flags) or ("empty",))
        if not silent and declines(own):  # a character may decline in words, but not in what it does
            return Deed("", raw, key, (*flags, "refused"))
        if repeats_itself(own):
            return Deed("", raw, key, (*flags, "loop"))
        return Deed(own, raw, key, (*flags, *self._noticed(own)))

    def both(self, action: Deed, speech: Deed) -> tuple[Deed, Deed]:
        """Returns an action and the speech with it, where the speech does not tell the action over again."""
        if not speech.text or not is_same(speech.text, action.text):
            return action, speech
        said = _quoted(action.text)
        flags = (*(flag for flag in speech.flags if flag not in NOTHING_NEW), "doubled")
        return action, Deed(said, speech.raw, speech.key, flags)

    def _unwrapped(self, text: str, kind: DeedKind) -> tuple[str, list[str]]:
        """Returns a deed out of the form that it was written in, where that was not asked for."""
        found = read_json(text, keys=("action", "speech")) if "{" in text else None
        if not isinstance(found, Found) or not isinstance(found.value, dict):
            return self._begun(text, kind)
        parts = {plain_key(key): value.strip() for key, value in found.value.items() if isinstance(value, str)}
        action, speech = parts.get("action", "") or parts.get("reaction", ""), parts.get("speech", "")
        if not action and not speech and len(found.value) == len(parts) == 1:
            (action,) = parts.values()  # under a key of the player's own
        if not action and not speech:
            return text, []
        match kind:
            case "speech":
                return speech, ["form"]
            case "action":
                return action, ["form"]
            case "reaction":
                said, _ = self._words_of(speech)
                heard = said and _SILENT.match(said) is None and not is_same(said, action)
                return " ".join(filter(None, (action, f"“{_unquoted(said)}”" if heard else ""))), ["form"]

    def _begun(self, text: str, kind: DeedKind) -> tuple[str, list[str]]:
        """Returns a deed out of a form that was cut before its end, or that is no JSON for its quotation marks."""
        if not text.startswith("{"):
            return text, []
        parts = {plain_key(found["key"]): found["value"] or found["curly"] or "" for found in _BEGUN.finditer(text)}
        names = ("speech",) if kind == "speech" else ("action", "reaction", *map(plain_key, _called(self.own)))
        told = next((parts[name] for name in names if parts.get(name)), "")
        told = told.replace('\\"', '"').replace("\\n", "\n")
        if text.rstrip().endswith("}"):
            return (told, ["form"]) if parts else (text, [])
        return (whole_sentences(told) or told, ["form", "truncated"]) if parts else (text, [])

    def _words_of(self, text: str) -> tuple[str, list[str]]:
        """Returns the words of a speech, also where a tale of it holds them."""
        said = _quoted(text)
        if said and (re.match(_begins(self.own.name), text, re.IGNORECASE) or self._is_told_behind(text)):
            return said, ["told"]
        if said and any((at := _tells_of(text, other)) is not None and at == 0 for other in self.others):
            return "", ["others_act"]
        return text, []

    def _is_told_behind(self, text: str) -> bool:
        """Returns whether a text opens with a quotation, and then tells that it was this one who said it."""
        first = _QUOTATION.match(text)
        if first is None:
            return False
        behind = text[first.end() :].lstrip(" ,，").casefold()
        names = (*_called(self.own), "she", "he", "她", "他")
        said = _SAID.match(behind)
        if said is not None and behind[said.end() :].lstrip().startswith(names):
            return True
        return any(behind.startswith(name) and _SAID.match(behind, len(name)) is not None for name in names)

    def _without_others(self, text: str) -> tuple[str, list[str]]:
        """Returns an act up to where it tells what somebody else does: each decides for itself alone."""
        told = [(at, other.id) for other in self.others if (at := self._decides_for(text, other)) is not None]
        if not told:
            return text, []
        at, who = min(told)
        kept = text[:at].strip()
        return kept, [f"narrates:{who}", "cut:other_act" if _WORD.search(kept) else "others_act"]

    def _decides_for(self, text: str, other: SceneCharacter) -> int | None:
        """Returns where a sentence begins that tells what somebody else does, and in no clause the own one."""
        start = 0
        while (at := _tells_of(text, other, start)) is not None:
            end = _SENTENCE_ENDS.search(text, at)
            sentence = text[at : end.start() if end is not None else len(text)].casefold()
            if not any(re.search(_CLAUSE + re.escape(name), sentence) for name in _called(self.own)):
                return at
            start = at + len(sentence)
        return None

    def _own(self, text: str, *, silent: bool) -> tuple[str, list[str]]:
        """Returns the part that was asked for, up to the first line of somebody else, without the own name before it.

        An action and a speech, each behind its label, are two parts; a speech is asked for where silence is an answer.
        """
        for head in _HEAD.finditer(text) if silent else ():
            if _bare(head["head"]) in _SPEECH_LABELS:
                text = text[head.start() :]
                break
        while (head := _HEAD.match(text)) is not None and self._is_own(head["head"]):
            text = text[head.end() :].lstrip(" \t\n*_")
        for head in _HEAD.finditer(text):
            if _bare(head["head"]) in _LABELS:
                return _unquoted(text[: head.start()]), []
            if self._is_anothers(head["head"]):
                return _unquoted(text[: head.start()]), ["cut:other_speaker"]
        return _unquoted(text), []

    def _is_own(self, head: str) -> bool:
        bare = _bare(head)
        for name in _called(self.own):
            if bare.startswith(name) and _SAYS.match(bare, len(name)) is not None:
                return True
        return bare in _LABELS or bare in _called(self.own) or self._by_part(bare) is self.own

    def _is_anothers(self, head: str) -> bool:
        bare = _bare(head)
        named = any(bare in _called(other) for other in self.others)
        return named or bare in _NARRATORS or self._by_part(bare) not in (None, self.own)

    def _by_part(self, bare: str) -> SceneCharacter | None:
        """Returns who alone has a word in the name that is this one; None where nobody has, or several have."""
        having = [one for one in (self.own, *self.others) if bare in one.name.casefold().split()]
        return having[0] if len(having) == 1 and bare not in TITLES.keys() | PARTICLES else None

    def _is_silence(self, text: str) -> bool:
        """Returns whether a text says that nothing is said, with or without the own name before it."""
        first = text.casefold()
        if _STAGED.match(text):
            return True
        for name in sorted((*_called(self.own), self.own.name.casefold().split()[0]), key=len, reverse=True):
            if first.startswith(name):
                said = _SAID.match(text, len(name))
                rest = text[said.end() if said is not None else len(name) :]
                return _SILENT.match(rest.strip(" ,，:：")) is not None
        return _SILENT.match(text) is not None

    def _noticed(self, text: str) -> list[str]:
        flags: list[str] = []
        if any(is_same(text, before) for before in self.earlier):
            flags.append("repeat")
        elif any(is_copy(text, before) for before in self.heard):
            flags.append("copy")
        if _AS_AN_AI.search(text):
            flags.append("as_an_ai")
        if _is_other_language(text, self.language):
            flags.append("other_language")
        return flags


def _quoted(text: str) -> str:
    """Returns the words between quotation marks; empty where there are none."""
    found = (next(filter(None, quotation.groups()), "") for quotation in _QUOTATION.finditer(text))
    return " ".join(part.strip() for part in found if part.strip())


def _bare(head: str) -> str:
    return _NOTE.sub("", head).strip(' *_"“').casefold()


def _unquoted(text: str) -> str:
    """Returns a text without the marks around all of it, and without one at its end that was opened before its head."""
    text = text.strip()
    if (text.endswith('"') and text.count('"') % 2) or (text.endswith("”") and text.count("“") < text.count("”")):
        text = text[:-1].rstrip()
    found = _QUOTED.match(text)
    return next((part for part in found.groups() if part is not None), text).strip() if found is not None else text


def _called(character: SceneCharacter) -> set[str]:
    return {name.casefold() for name in (character.name, character.id, *character.aliases)}


def _tells_of(text: str, other: SceneCharacter, start: int = 0) -> int | None:
    """Returns where a sentence begins with somebody else's name: it tells what that one does; None where none does."""
    found = (
        sentence.start("name")
        for name in (other.name, *other.aliases)
        if (sentence := re.compile(rf"(?:\A|[.!?。！？\n]\s*){_begins(name)}", re.IGNORECASE).search(text, start))
    )
    return min(found, default=None)


def _begins(name: str) -> str:
    """Returns the pattern of a name that is the subject of what follows: neither called, nor the owner of something."""
    follows = r"(?![的，！])" if HAN.search(name) else r"(?![\w'’的])(?!\s*[,，!！])"
    return rf"(?P<name>{re.escape(name)}){follows}"


def _is_other_language(text: str, language: str) -> bool:
    han, latin = len(HAN.findall(text)), len(_LATIN.findall(text))
    if 2 * han + latin < LEAST_LETTERS:  # a Chinese sign is a syllable
        return False
    match language:
        case "zh":
            return han < latin / 3
        case "en":
            return han > latin / 3
        case _:
            return False
