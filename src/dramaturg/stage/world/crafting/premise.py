"""What a scene is made of: an event in a piece of a text, or an idea."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from pydantic import JsonValue

from dramaturg.prompts import load_prompt, quote_untrusted
from dramaturg.stage.world.crafting.chunks import Chunk
from dramaturg.stage.world.crafting.words import Language, scene_words
from dramaturg.stage.world.scene import SceneSource

FEWEST_PEOPLE = 2
MOST_PEOPLE = 4
"""CharacterBox, section 4.1: scenes of two to four characters."""

LONGEST_PRIOR = 500


@dataclass(frozen=True, slots=True)
class Excerpt:
    """An event in a piece of a work.

    Attributes:
        chunk: The piece.
        event: Which of its events, from 1, in the order in which the screenwriter listed them.
        work: The work's title.
    """

    chunk: Chunk
    event: int
    work: str

    @property
    def kind(self) -> SceneSource:
        """Where such a scene comes from."""
        return "extracted"

    @property
    def text(self) -> str:
        """What a scene must not copy."""
        return self.chunk.text

    def as_json(self) -> dict[str, JsonValue]:
        """Returns the provenance, without any text of the work."""
        return {"chunk": self.chunk.as_json(), "event": self.event}

    def told(self, language: Language) -> str:
        """Returns the part of a prompt that says what the scene is made of."""
        return load_prompt("craft-source-text", language).fill(text=quoted_text(self.chunk.text), work=self.work)


@dataclass(frozen=True, slots=True)
class Idea:
    """What a scene is to be about.

    Attributes:
        prior: The user's wish; empty where there is none.
        work: Title of the work in whose world it plays; empty for a world of its own.
        place: Where it plays; empty where wish or work say that.
        conflict: What nobody can stay out of; empty with a wish.
        people: How many characters it has.
    """

    prior: str
    work: str
    place: str
    conflict: str
    people: int

    @classmethod
    def draw(cls, prior: str, work: str, language: Language, rng: Random) -> Idea:
        """Returns an idea; what the user left open is drawn."""
        people = rng.randint(FEWEST_PEOPLE, MOST_PEOPLE)
        words = scene_words(language)
        place, conflict = rng.choice(words.places), rng.choice(words.conflicts)
        return cls(prior, work, "" if prior or work else place, "" if prior else conflict, people)

    @property
    def kind(self) -> SceneSource:
        """Where such a scene comes from."""
        return "generated" if self.work else "crafted"

    @property
    def text(self) -> str:
        """What a scene must not copy: nothing."""
        return ""

    def as_json(self) -> dict[str, JsonValue]:
        """Returns the provenance."""
        return {"prior": self.prior, "place": self.place, "conflict": self.conflict, "people": self.people}

    def told(self, language: Language) -> str:
        """Returns the part of a prompt that says what the scene is made of."""
        wish = "\n".join(line for line in (self.prior, self.place, self.conflict) if line)
        values = {"wish": quote_untrusted(wish, "</wish>"), "count": str(self.people)}
        if self.work:
            return load_prompt("craft-source-world", language).fill(work=self.work, **values)
        return load_prompt("craft-source-idea", language).fill(**values)


Premise: TypeAlias = Excerpt | Idea


def quoted_text(text: str) -> str:
    """Returns a piece of a work so that it cannot close its frame."""
    return quote_untrusted(text.strip(), "</text>")


def checked_prior(prior: str) -> str:
    """Returns a wish on one line.

    Raises:
        ValueError: It is blank or longer than 500 characters.
    """
    line = " ".join(prior.split())
    if not line or len(line) > LONGEST_PRIOR:
        raise ValueError(f"a prior has 1 to {LONGEST_PRIOR} characters; this one has {len(line)}")
    return line
