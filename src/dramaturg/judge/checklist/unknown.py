"""What a model-played turn names though nobody told of it: exhibits and persons that were made up.

Only sure cases are found. What the reference, the roles or an earlier turn of a person or a script names is
known. A reference that is empty, or that numbers no exhibits, knows of nothing, so nothing can be unknown to it.
"""

from __future__ import annotations

from dataclasses import dataclass

from dramaturg.stage.mentions import NOUNS_CAPITALISED, exhibit_ids, exhibit_numbers, full_names, words
from dramaturg.stage.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something named that nobody told of.

    Attributes:
        turn: Id of the turn.
        name: What it names.
    """

    turn: str
    name: str


def unknown_exhibits(transcript: Transcript) -> list[Unknown]:
    """Returns exhibits that model-played turns cite and that neither the reference nor a person named before.

    An id such as ``E9`` counts where the reference has ids with the same letters; ``Exhibit 9`` where it has any.
    """
    ids = set(exhibit_ids(transcript.scenario.reference))
    letters = {letter for letter, _ in ids}
    numbered = bool(ids) or next(exhibit_numbers(transcript.scenario.reference), None) is not None
    numbers = {number for _, number in ids} | set(exhibit_numbers(transcript.scenario.reference))
    found: list[Unknown] = []
    for turn in transcript.turns:
        if transcript.is_judged(turn):
            cited = [f"{letter}{number}" for letter, number in exhibit_ids(turn.text) if letter in letters]
            made_up = [one for one in cited if one not in {f"{letter}{number}" for letter, number in ids}]
            if numbered:
                made_up += [f"exhibit {number}" for number in exhibit_numbers(turn.text) if number not in numbers]
            found += [Unknown(turn.id, name) for name in dict.fromkeys(made_up)]
        else:
            ids |= set(exhibit_ids(turn.text))
            numbers |= {number for _, number in exhibit_ids(turn.text)} | set(exhibit_numbers(turn.text))
    return found


def unknown_names(transcript: Transcript) -> list[Unknown]:
    """Returns full names of persons in model-played turns of which no part was named before by another source.

    A name is two or three capitalised words, or a title with them; at the beginning of a sentence, where any word has a
    capital, only behind a title. What a model-played turn was first to name is as unknown the second time.
    """
    if not transcript.scenario.reference.strip() or transcript.scenario.language in NOUNS_CAPITALISED:
        return []
    told = [transcript.scenario.reference, transcript.scenario.title]
    told += [text for role in transcript.roles for text in (role.name, role.description)]
    told += [turn.speaker for turn in transcript.turns]
    known = {word for text in told for word in words(text)}
    found: list[Unknown] = []
    for turn in transcript.turns:
        if transcript.is_judged(turn):
            found += [Unknown(turn.id, name) for name in full_names(turn.text) if known.isdisjoint(words(name))]
        else:
            known.update(words(turn.text))
    return found
