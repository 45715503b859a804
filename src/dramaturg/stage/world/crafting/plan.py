"""What a collection is made of: which pieces and ideas are tried, in which order, and in which units."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from dramaturg.prompts import hashes
from dramaturg.stage.world.crafting.chunks import Chunk
from dramaturg.stage.world.crafting.crew import PROMPTS, Stages
from dramaturg.stage.world.crafting.draft import MOST_EVENTS
from dramaturg.stage.world.crafting.premise import Excerpt, Idea, Premise
from dramaturg.stage.world.crafting.words import Language
from dramaturg.text import Json, canonical_json, sha256


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a scene may be made of.

    Attributes:
        chunk: A piece of the text; None for an idea.
        number: Which event of the piece, or which idea, from 1.
    """

    chunk: Chunk | None
    number: int


@dataclass(frozen=True, slots=True)
class CraftingPlan:
    """What a collection is made of.

    Attributes:
        count: How many scenes are tried.
        seed: Of the collection.
        language: Of all scenes.
        stages: One or three.
        threshold: Least mean mark of an accepted scene.
        rounds: Most rounds of refining or repair.
        screenwriter: Who drafts, for the record.
        director: Who refines, for the record; empty where nobody does.
        evaluator: Who marks, for the record; empty where nobody does.
        priors: What invented scenes are about, by turns.
        work: Title of the work; empty where there is none.
        chunks: The pieces of the text; none where scenes are invented.
        chunk_tokens: About how many tokens a piece has at most.
    """

    count: int
    seed: int
    language: Language
    stages: Stages
    threshold: float
    rounds: int
    screenwriter: str
    director: str
    evaluator: str
    priors: tuple[str, ...] = ()
    work: str = ""
    chunks: tuple[Chunk, ...] = ()
    chunk_tokens: int = 0

    def candidates(self) -> Iterator[Candidate]:
        """Yields what is tried, in order.

        Of a text, the first event of every piece, in an order that the seed draws, then every second event, and so on:
        few scenes come from all over a book, and more scenes begin with the same few.
        """
        if not self.chunks:
            yield from (Candidate(None, number) for number in range(1, self.count + 1))
            return
        distinct = list({chunk.hash: chunk for chunk in self.chunks}.values())
        Random(f"{self.seed}/chunks").shuffle(distinct)
        for event in range(1, MOST_EVENTS + 1):
            yield from (Candidate(chunk, event) for chunk in distinct)

    def premise(self, candidate: Candidate, draw: int) -> Premise:
        """Returns what a candidate is, with all that is drawn before a model is asked."""
        if candidate.chunk is not None:
            return Excerpt(candidate.chunk, candidate.number, self.work)
        rng = Random(self.unit(candidate, draw))
        return Idea.draw(self._prior(candidate.number), self.work, self.language, rng)

    def unit(self, candidate: Candidate, draw: int) -> str:
        """Returns the id of a scene's unit."""
        made_of: dict[str, Json] = {"kind": "scene", "number": candidate.number, "draw": draw}
        if candidate.chunk is not None:
            return self._unit({**made_of, "chunk": candidate.chunk.hash})
        return self._unit({**made_of, "prior": self._prior(candidate.number)})

    def events_unit(self, chunk: Chunk) -> str:
        """Returns the id of the unit that lists the events of a piece."""
        return self._unit({"kind": "events", "chunk": chunk.hash})

    def settings(self) -> dict[str, Json]:
        """Returns what must not change while a collection grows."""
        return {
            "priors": list(self.priors),
            "work": self.work,
            "text": sha256("".join(chunk.hash for chunk in self.chunks)) if self.chunks else "",
            "chunk_tokens": self.chunk_tokens,
            "seed": self.seed,
            "language": self.language,
            "stages": self.stages,
            "threshold": self.threshold,
            "rounds": self.rounds,
            "screenwriter": self.screenwriter,
            "director": self.director,
            "evaluator": self.evaluator,
            "prompts": dict(hashes(PROMPTS, self.language)),
        }

    def _prior(self, number: int) -> str:
        return self.priors[(number - 1) % len(self.priors)] if self.priors else ""

    def _unit(self, made_of: dict[str, Json]) -> str:
        common: dict[str, Json] = {"work": self.work, "language": self.language, "seed": self.seed}
        return sha256(canonical_json({**common, **made_of}))[:20]
