"""Whom a text means: names are matched whole, never as parts of longer words or names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dramaturg.stage.transcript import Role

_EDGES = " \t\r\n.,;:!?*_`'\"“”‘’«»<>[]{}#-–—"
_BRACKETS = re.compile(r"[\(（][^()（）]{0,60}[\)）]")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def plain_name(text: str) -> str:
    """Returns a name in the form in which names are compared: no markup, brackets, case or double blanks."""
    text = unicodedata.normalize("NFKC", text).replace("_", " ")
    return " ".join(_BRACKETS.sub(" ", text).strip(_EDGES).casefold().split())


@dataclass(frozen=True, slots=True)
class People:
    """The people of a performance, found by name.

    Attributes:
        roles: All of them.
    """

    roles: tuple[Role, ...]

    def named(self, text: str) -> Role | None:
        """Returns the one role of which the whole text is a name, or None.

        A name is the character's own, the kind of a role that only one person has (``judge``), or both together
        (``judge Adelaide Boyd``). A character's own name wins over such a title.
        """
        wanted = plain_name(text)
        if not wanted:
            return None
        own = [role for role in self.roles if plain_name(role.name) == wanted]
        found = own or [role for role in self.roles if wanted in self._titles(role)]
        return found[0] if len(found) == 1 else None

    def _titles(self, role: Role) -> set[str]:
        kind = plain_name(role.kind)
        name = plain_name(role.name)
        titles = {
            f"{kind} {name}",
            f"the {kind} {name}",
            f"{name} the {kind}",
            f"{name}, {kind}",
            f"{name}, the {kind}",
        }
        if sum(other.kind == role.kind for other in self.roles) == 1:
            titles |= {kind, f"the {kind}"}
        return titles

    def speaks_of_kind(self, text: str) -> str:
        """Returns the kind of role of which the whole text is the title, or empty."""
        wanted = plain_name(text).removeprefix("the ")
        return next((role.kind for role in self.roles if plain_name(role.kind) == wanted), "")

    def addressed_in(self, text: str, among: Sequence[str]) -> tuple[Role, ...]:
        """Returns whom the text may address, by rules alone: one role when it is clear, several when it is not.

        Names in the position of an address (at the head of a sentence before a comma, or at its end after one) win over
        names that are only mentioned. A part of a name counts where nobody else in court shares it.

        Args:
            text: What was said.
            among: Ids of the roles that may be addressed.
        """
        words = [(found[0].casefold(), found.start(), found.end()) for found in _WORD.finditer(text)]
        hits: dict[str, bool] = {}
        for role in self.roles:
            if role.id not in among:
                continue
            places = _find(words, _parts(role.name))
            if not places:
                places = [place for part in self._own_parts(role) for place in _find(words, (part,))]
            if places:
                hits[role.id] = any(_is_address(text, start, end) for start, end in places)
        vocative = [name for name, addressed in hits.items() if addressed]
        chosen = vocative or list(hits)
        return tuple(role for role in self.roles if role.id in chosen)

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
    return word == part or word in {f"{part}'s", f"{part}’s"}


def _is_address(text: str, start: int, end: int) -> bool:
    """Returns whether the name stands where one addresses somebody."""
    before = text[:start].rstrip()
    title = re.search(r"(?:\b(?:mr|mrs|ms|miss|dr|doctor|professor|ranger|madam|sir)\.?)$", before, re.IGNORECASE)
    if title is not None:
        before = before[: title.start()].rstrip()
    after = text[end:].lstrip()
    at_head = (not before or before[-1] in '.!?:\n"“') and after[:1] in {",", ":", ";", "–", "—"}
    at_end = before[-1:] == "," and after[:1] in {"?", ".", "!", ",", ""}
    called = re.search(r"\b(?:call|ask|question|address|turn to)$", before, re.IGNORECASE) is not None
    return at_head or at_end or called


def name_list(roles: Iterable[Role]) -> str:
    """Returns the names as notes list them: parted by semicolons, as names may hold commas."""
    return "; ".join(role.name for role in roles)
