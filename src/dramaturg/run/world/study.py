"""The study file of a world: subjects × scenes × seeds, with narrator and protocol, in one YAML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from dramaturg.errors import StudyError
from dramaturg.files import load_yaml
from dramaturg.judge.rating import RatingMode
from dramaturg.run.study import Budgets, Count, Name, Seed, Seeds, Subjects, Word
from dramaturg.stage.world.limits import DEFAULT_LIMITS, WorldLimits
from dramaturg.stage.world.memory import EQUAL_WEIGHTS, Judge, MemoryRules, Weights
from dramaturg.stage.world.setting import WorldProtocol
from dramaturg.text import Json

Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class WorldStudyLimits(BaseModel):
    """Limits of one play; part of what is measured. See `dramaturg.stage.world.limits.WorldLimits`.

    Attributes:
        belief_tokens: Most tokens of one belief.
        act_tokens: Most tokens of an action, a speech or a reaction.
        narrator_tokens: Most tokens of an answer of the narrator.
        memory_tokens: Most tokens of what comes to a character's mind at once.
        chat_tokens: Tokens from which a chat begins anew.
        settled_rounds: Rounds in a row after which the narrator leaves nothing to be settled, and a play ends; 0 for
            never.
        redraws: Most new draws of an act of which nothing can be used, or that was done before.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    belief_tokens: Count = DEFAULT_LIMITS.belief_tokens
    act_tokens: Count = DEFAULT_LIMITS.act_tokens
    narrator_tokens: Count = DEFAULT_LIMITS.narrator_tokens
    memory_tokens: Count = DEFAULT_LIMITS.memory_tokens
    chat_tokens: Count = DEFAULT_LIMITS.chat_tokens
    settled_rounds: Annotated[int, Field(ge=0, strict=True)] = DEFAULT_LIMITS.settled_rounds
    redraws: Annotated[int, Field(ge=0, strict=True)] = DEFAULT_LIMITS.redraws

    def of_play(self, rounds: int) -> WorldLimits:
        """Returns the limits of a play of so many rounds."""
        return WorldLimits(rounds=rounds, **self.model_dump())


class Remembering(BaseModel):
    """How characters remember; part of what is measured. See `dramaturg.stage.world.memory`.

    Attributes:
        by: ``lexical`` compares memories with a situation by their words, ``embeddings`` by meaning, where a model for
            it is there.
        recency: Weight of how lately something was told, for what comes to mind.
        relevance: Weight of how alike it is to the situation.
        importance: Weight of how important it is.
        importance_by: ``rule``, or ``model``: who remembers is asked once for all that is new and may come to mind.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    by: Literal["lexical", "embeddings"] = "lexical"
    recency: Weight = EQUAL_WEIGHTS.recency
    relevance: Weight = EQUAL_WEIGHTS.relevance
    importance: Weight = EQUAL_WEIGHTS.importance
    importance_by: Judge = "rule"

    @property
    def rules(self) -> MemoryRules:
        """The rules of each play."""
        return MemoryRules(Weights(self.recency, self.relevance, self.importance), self.importance_by)

    def changed(self) -> dict[str, Json]:
        """Returns what is unlike the defaults, but for `by`."""
        return self.model_dump(mode="json", exclude_defaults=True, exclude={"by"})


def _remembering_from_text(value: object) -> object:
    return {"by": value} if isinstance(value, str) else value


class Rating(BaseModel):
    """Who rates the plays, by what, and how.

    Attributes:
        model: Spec string.
        rubric: Name of a shipped rubric, or a path: ``character``, ``narrator``.
        mode: ``joint`` asks for one critique and all metrics at once, ``single`` for each metric alone.
        votes: How often each metric is rated.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: Word
    rubric: Word = "character"
    mode: RatingMode = "joint"
    votes: Annotated[int, Field(ge=1, le=1000, strict=True)] = 1


def _rating_from_text(value: object) -> object:
    return {"model": value} if isinstance(value, str) else value


class WorldStudy(BaseModel):
    """A study of characters in a narrated world.

    Attributes:
        study: Its name; an output folder belongs to one study.
        suite: Always ``world``.
        seed: Seed of the study, from which every call's seed derives.
        subjects: What is measured: the models that play the characters.
        scenes: Names of shipped scenes, or paths; a file of several scenes stands for all of them.
        narrator: Spec string of the model that narrates for all subjects; left out, each subject narrates for itself,
            and a score measures a narrator as well.
        cast: Who plays somebody for all subjects: ``character:ID`` or ``director`` → the spec string of a model,
            ``script:FILE``, or ``human`` for a character.
        seeds: One play per seed; a number n means the seeds 1 to n.
        protocol: ``paper``, ``released`` or ``fast``.
        rounds: Most rounds of a play.
        limits: Other limits of a play.
        memory: How characters remember; ``lexical`` and ``embeddings`` alone say what compares memories.
        prompts: Variants of the prompts: ``default``, or a folder whose files replace shipped ones.
        raters: Who rates the plays when all of them were played; none leaves them unrated.
        concurrency: Most plays at once. May change between runs.
        unit_timeout_s: Longest that one play may take, in seconds; then it fails. May change between runs.
        budgets: Limits of the run. May change between runs.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    study: Name
    suite: Literal["world"]
    seed: Seed = 0
    subjects: Subjects
    scenes: Annotated[tuple[Word, ...], Field(min_length=1)]
    narrator: str = ""
    cast: dict[Word, Word] = {}
    seeds: Seeds = (1,)
    protocol: WorldProtocol = "paper"
    rounds: Annotated[int, Field(ge=1, le=1000, strict=True)] = DEFAULT_LIMITS.rounds
    limits: WorldStudyLimits = WorldStudyLimits()
    memory: Annotated[
        Remembering, BeforeValidator(_remembering_from_text, json_schema_input_type=str | Remembering)
    ] = Remembering()
    prompts: Annotated[tuple[Word, ...], Field(min_length=1)] = ("default",)
    raters: tuple[Annotated[Rating, BeforeValidator(_rating_from_text, json_schema_input_type=str | Rating)], ...] = ()
    concurrency: Annotated[int, Field(ge=1, le=1024, strict=True)] = 4
    unit_timeout_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 7200.0
    budgets: Budgets = Budgets()

    @property
    def play_limits(self) -> WorldLimits:
        """The limits of each play."""
        return self.limits.of_play(self.rounds)


def load_world(path: Path) -> WorldStudy:
    """Returns a study file's content; what it refers to is not read yet.

    Raises:
        StudyError: It is no YAML or no study of a world; every problem is named with its line.
        ContentError: It cannot be read, or is not UTF-8.
    """
    return load_yaml(path, WorldStudy, error=StudyError)
