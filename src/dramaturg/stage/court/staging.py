"""How a case is staged: what may vary while case, procedure and cast stay the same; part of what is measured.

Sources: RPA-Check, section 4.3.2, equation 7 (candidates, lambda, strength, similarity), section 4.3.3, equation 8
(witness_check), section 4.3.1, equation 6 (judge).
"""

from __future__ import annotations

from typing import Annotated, Literal, Self, cast

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from dramaturg.errors import UserError
from dramaturg.stage.court.procedure import Procedure
from dramaturg.text import Json

Layout = Literal["role-first", "role-last"]
StrengthMeasure = Literal["logprob", "rating", "lexical"]
SimilarityMeasure = Literal["embedding", "lexical"]
WitnessCheck = Literal["off", "rules", "model"]
JudgePolicy = Literal["spoken", "structured"]

PROSECUTOR = "prosecutor"
"""Kind of the role that may be played by the best of several candidates."""

WITNESS = "witness"
"""Kind of the role whose answers may be checked against what it knows."""


class StagingOptions(BaseModel, frozen=True):
    """Options of a staging; the defaults are the paper's prompts and nothing else.

    Attributes:
        layout: ``role-first`` puts the role's prompt before the history, as the paper does; ``role-last`` puts the
            public record and the history first, the same for all roles, and the role with what only it knows last.
        reminder: After how many own turns a role is told again, in its note, who it is; 0 for never. ``role-last``
            tells it before every turn anyway.
        candidates: Speeches that the prosecutor drafts for each turn; one of them is given.
        weight: Equation 7's lambda: how much likeness to the player's goal counts against a candidate.
        strength: How strongly a candidate accuses: ``logprob`` is what the prosecutor's own model puts on yes against
            no when asked whether it argues for the charge, ``rating`` is its rating from 0 to 10, ``lexical`` is how
            alike it is to the charge and the exhibits by words. Where a model gives none, by words.
        similarity: How alike a candidate is to the player's goal: by ``embedding``, where the bundled model is
            installed, or by words (``lexical``).
        witness_check: Whether a witness's answer is checked against what it may know: ``rules`` find numbers, times,
            dates, names and exhibits that it cannot know of, ``model`` asks the analyst where the rules find nothing.
        witness_redraws: Most new draws of an answer that was found to invent something.
        judge: Whether a grant or a ruling is read from what the judge says (``spoken``) or is given as a decision
            with the words to say (``structured``).
    """

    model_config = ConfigDict(extra="forbid")

    layout: Layout = "role-first"
    reminder: Annotated[int, Field(ge=0, le=100, strict=True)] = 0
    candidates: Annotated[int, Field(ge=1, le=16, strict=True)] = 1
    weight: Annotated[float, Field(alias="lambda", ge=0, le=100, allow_inf_nan=False)] = 0.0
    strength: StrengthMeasure = "logprob"
    similarity: SimilarityMeasure = "embedding"
    witness_check: WitnessCheck = "off"
    witness_redraws: Annotated[int, Field(ge=0, le=10, strict=True)] = 2
    judge: JudgePolicy = "spoken"

    @model_validator(mode="after")
    def _weight_has_a_choice(self) -> Self:
        if self.weight and self.candidates == 1:
            raise ValueError("lambda weighs candidates against each other; give candidates: 2 or more")
        return self

    def record(self) -> dict[str, JsonValue]:
        """Returns all options by name, for records."""
        return self.model_dump(mode="json", by_alias=True)

    def changed(self) -> dict[str, Json]:
        """Returns the options that are not the defaults: what a unit's id depends on."""
        return cast("dict[str, Json]", self.model_dump(mode="json", by_alias=True, exclude_defaults=True))

    def check(self, procedure: Procedure, *, guarded: bool) -> None:
        """Refuses what the protocol or the procedure cannot hold.

        Args:
            procedure: How the case is held.
            guarded: Whether the protocol is ``guarded``.

        Raises:
            UserError: An option would have no effect, or would mend what `paper` is there to measure.
        """
        if not guarded and self.witness_check != "off":
            raise UserError(
                "staging.witness_check draws answers anew, and the protocol paper takes what a witness says as it is",
                allowed="protocol: guarded, or witness_check: off",
            )
        if not guarded and self.judge == "structured":
            raise UserError(
                "staging.judge structured asks for a form, and the protocol paper reads free text",
                allowed="protocol: guarded, or judge: spoken",
            )
        needed = {PROSECUTOR: self.candidates > 1, WITNESS: self.witness_check != "off"}
        for kind, wanted in needed.items():
            if wanted and kind not in procedure.roles:
                option = "candidates" if kind == PROSECUTOR else "witness_check"
                raise UserError(
                    f"staging.{option} is for the {kind}, whom procedure {procedure.id!r} does not have",
                    allowed=f"a procedure with a {kind}, such as trial",
                )


DEFAULT_STAGING = StagingOptions()
