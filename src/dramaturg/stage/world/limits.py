"""The limits of a play: always on, whatever a model says or does not say."""

from __future__ import annotations

from dataclasses import dataclass, fields

from dramaturg.errors import UserError

_MAY_BE_ZERO = frozenset({"redraws", "settled_rounds", "temperature", "narrator_temperature"})


@dataclass(frozen=True, slots=True)
class WorldLimits:
    """What a play may use.

    Attributes:
        rounds: Most rounds.
        stalled_rounds: Rounds in a row in which nobody did anything new, after which the play ends.
        settled_rounds: Rounds in a row after which the narrator leaves nothing to be settled, and the play ends; 0 for
            never. A small narrator says so too soon, and once.
        redraws: Most new draws of a deed of which nothing can be used, or that was done before, and of such a result.
        belief_tokens: Most tokens of one belief.
        act_tokens: Most tokens of an action, a speech or a reaction.
        narrator_tokens: Most tokens of an answer of the narrator; of one that holds several things, twice as many.
        plan_tokens: Most tokens of the director's plan for a round.
        memory_tokens: Most tokens, estimated, of what comes to a character's mind at once.
        profile_tokens: Most tokens, estimated, of a profile that is told to its player; its middle is left out beyond.
        chat_tokens: Tokens, estimated, from which a chat begins anew with what its player knows by then.
        heard_characters: Most characters of what a person types.
        temperature: Of characters and director.
        narrator_temperature: Of the narrator, which says what follows and should not be surprised by itself.
    """

    rounds: int = 3
    stalled_rounds: int = 2
    settled_rounds: int = 2
    redraws: int = 1
    belief_tokens: int = 160
    act_tokens: int = 120
    narrator_tokens: int = 160
    plan_tokens: int = 240
    memory_tokens: int = 600
    profile_tokens: int = 1_500
    chat_tokens: int = 6_000
    heard_characters: int = 2_000
    temperature: float = 0.7
    narrator_temperature: float = 0.3

    def __post_init__(self) -> None:
        """Checks the range of every limit.

        Raises:
            UserError: One is too small.
        """
        for field in fields(self):
            least = 0 if field.name in _MAY_BE_ZERO else 1
            if getattr(self, field.name) < least:
                raise UserError(f"limit {field.name} of a play is too small", allowed=f"at least {least}")


DEFAULT_LIMITS = WorldLimits()
