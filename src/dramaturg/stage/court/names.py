"""Whom a text means: names are matched whole, never as parts of longer words or names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dramaturg.stage.transcript import Role

NO_TITLES: Mapping[str, str] = {}

_EDGES = " \t\r\n.,;:!?*_`'\"“”‘’«»<>[]{}#-–—。、，：；！？「」『』《》"
_BRACKETS = re.compile(r"[\(（][^()（）]{0,60}[\)）]")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_ARTICLE = re.compile(r"(?:^|(?<=, ))(?:(?:the|il|lo|la|i|gli|le)\s+|l['’]\s*)")
_UNSPACED = re.compile(r"[\u3400-\u9fff]")
"""Names in these letters stand between other words without a blank."""

_TITLE_BEFORE = re.compile(
    r"(?:\b(?:mr|mrs|ms|miss|dr|doctor|professor|ranger|madam|sir|witness"
    r"|signora|signorina|signor|sig\.ra|sig|dottoressa|dottor|dottore|dott\.ssa|dott|professoressa|prof"
    r"|ingegner|avvocat[oa]|avv|maresciallo|ispettore|ispettrice|testimone|teste)\.?|证人|辩护人|公诉人|尊敬的)$",
    re.IGNORECASE,
)
_TITLE_AFTER = re.compile(r"先生|女士|小姐|太太|医生|教授|博士|老师|法官|律师|警官|检察官|经理|师傅")
_CALLED = re.compile(
    r"(?:\b(?:call|ask|question|address|turn to|chiamo|interrogo"
    r"|(?:chiedo|domando|mi rivolgo|la parola)(?: al| alla| a)?)|请|请问|问|询问|传唤|传)$",
    re.IGNORECASE,
)
_YOU = ("您", "你", "请")
"""What follows a name that is called without a comma."""


def plain_name(text: str) -> str:
    """Returns a name in the form in which names are compared: no markup, brackets, case or double blanks."""
    text = unicodedata.normalize("NFKC", text).replace("_", " ")
    return " ".join(_BRACKETS.sub(" ", text).strip(_EDGES).casefold().split())


@dataclass(frozen=True, slots=True)
class People:
    """The people of a performance, found by name.

    Attributes:
        roles: All of them.
        titles: Kind of role → what it is called in the language of the performance, where that differs.
    """

    roles: tuple[Role, ...]
    titles: Mapping[str, str] = field(default_factory=lambda: NO_TITLES)

    def named(self, text: str) -> Role | None:
        """Returns the one role of which the whole text is a name, or None.

        A name is the character's own, the kind of a role that only one person has (``judge``), or both together
        (``judge Adelaide Boyd``). A character's own name wins over such a title.
        """
        wanted = plain_name(text)
        if not wanted:
            return None
        own = [role for role in self.roles if plain_name(role.name) == wanted]
        bare = _ARTICLE.sub("", wanted)
        found = own or [role for role in self.roles if bare in self._titles(role)]
        return found[0] if len(found) == 1 else None

    def _titles(self, role: Role) -> set[str]:
        name = plain_name(role.name)
        alone = sum(other.kind == role.kind for other in self.roles) == 1
        titles: set[str] = set()
        for kind in self._kinds(role.kind):
            titles |= {
                f"{kind} {name}",
                f"{name} the {kind}",
                f"{name}, {kind}",
                f"{kind}{name}",
                f"{name}{kind}",
            }
            if alone:
                titles |= {kind}
        return titles

    def _kinds(self, kind: str) -> set[str]:
        return {plain_name(kind), plain_name(self.titles.get(kind, kind))}

    def speaks_of_kind(self, text: str) -> str:
        """Returns the kind of role of which the whole text is the title, or empty."""
        wanted = _ARTICLE.sub("", plain_name(text))
        return next((role.kind for role in self.roles if wanted in self._kinds(role.kind)), "")

    def addressed_in(self, text: str, among: Sequence[str]) -> tuple[Role, ...]:
        """Returns whom the text may address, by rules alone: one role when it is clear, several when it is not.

        Names in the position of an address (at the head of a sentence before a comma, or at its end after one) win over
        names that are only mentioned. A part of a name counts where nobody else in court shares it; of a name that is
        written without blanks that is its first sign, before a title.

        Args:
            text: What was said.
            among: Ids of the roles that may be addressed.
        """
        words = [(found[0].casefold(), found.start(), found.end()) for found in _WORD.finditer(text)]
        hits: dict[str, bool] = {}
        for role in self.roles:
            if role.id not in among:
                continue
            places = self._unspaced(text, role) if _UNSPACED.search(role.name) else self._spaced(words, role)
            if places:
                hits[role.id] = any(_is_address(text, start, end) for start, end in places)
        vocative = [name for name, addressed in hits.items() if addressed]
        chosen = vocative or list(hits)
        return tuple(role for role in self.roles if role.id in chosen)

    def _spaced(self, words: Sequence[tuple[str, int, int]], role: Role) -> list[tuple[int, int]]:
        """Returns where the whole name stands; where it stands nowhere, where parts of it do."""
        places = _find(words, _parts(role.name))
        return places or [place for part in self._own_parts(role) for place in _find(words, (part,))]

    def _unspaced(self, text: str, role: Role) -> list[tuple[int, int]]:
        """Returns the same for a name that is written without blanks."""
        others = [other.name for other in self.roles if other.id != role.id]
        for longer in sorted((name for name in others if role.name in name), key=len, reverse=True):
            text = text.replace(longer, "\0" * len(longer))
        if places := [found.span() for found in re.finditer(re.escape(role.name), text)]:
            return places
        surname = role.name[:1]
        if any(name.startswith(surname) for name in others):
            return []
        titled = re.finditer(f"{re.escape(surname)}(?={_TITLE_AFTER.pattern})", text)
        return [found.span() for found in titled]

    def _own_parts(self, role: Role) -> list[str]:
        """Returns the parts of a name that tell the person apart from everybody else."""
        others = {part for other in self.roles if other.id != role.id for part in _parts(other.name)}
        return [part for part in _parts(role.name) if part not in others and len(part) > 2]


def _parts(name: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(name.casefold()))


def _find(words: Sequence[tuple[str, int, int]], parts: Sequence[str]) -> list[tuple[int, int]]:
    """Returns start and end of every place where the parts stand one after the other as whole words."""
    places: list[tuple[int, int]] = []
    for index in range(len(words) - len(parts) + 1 if parts else 0):
        if all(_same(words[index + offset][0], part) for offset, part in enumerate(parts)):
            places.append((words[index][1], words[index + len(parts) - 1][2]))
    return places


def _same(word: str, part: str) -> bool:
    """Returns whether a word is the part of a name, with a genitive behind it or an elided word before it."""
    return word == part or word in {f"{part}'s", f"{part}’s"} or re.split("['’]", word, maxsplit=1)[1:] == [part]


def _is_address(text: str, start: int, end: int) -> bool:
    """Returns whether the name stands where one addresses somebody."""
    before, after = text[:start].rstrip(), text[end:].lstrip()
    if (title := _TITLE_BEFORE.search(before)) is not None:
        before = before[: title.start()].rstrip()
    if (title := _TITLE_AFTER.match(after)) is not None:
        after = after[title.end() :].lstrip()
    opens = not before or before[-1] in '.!?:\n"“。！？：'
    at_head = opens and (after[:1] in set(",:;–—，：；、") or after.startswith(_YOU))
    at_end = before[-1:] in {",", "，"} and after[:1] in {"", *"?.!,？。！，"}
    return at_head or at_end or _CALLED.search(before) is not None


def name_list(roles: Iterable[Role]) -> str:
    """Returns the names as notes list them: parted by semicolons, as names may hold commas."""
    return "; ".join(role.name for role in roles)
