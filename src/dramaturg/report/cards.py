"""The card of each judge of a report: the one that holds for what was judged here, or the nearest from elsewhere."""

from __future__ import annotations

from array import array
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Literal

from pydantic import ValidationError

from dramaturg.judge.audit.binding import Binding, Length, begins_of_prompts, prompts_hash, tokens_of
from dramaturg.judge.audit.card import Figure
from dramaturg.judge.audit.card_store import Nearest, find_card
from dramaturg.judge.checklist.checklist import Checklist
from dramaturg.judge.judgement import Judgement
from dramaturg.report.data import Caution, RunFacts
from dramaturg.report.figures import decimal
from dramaturg.stage.transcript import Transcript
from dramaturg.text import canonical_json, sha256

_IN_WORDS = {
    "judge": "the judge's file",
    "checklist": "the checklist",
    "language": "the language",
    "mode": "the way of asking",
    "ask": "the wording of the questions",
    "prompts": "the prompts",
    "votes": "the number of votes",
    "length": "the length of the transcripts",
}
"""What can differ between a card and a report, for people."""


@dataclass(slots=True)
class Read:
    """What one judge read and how it was asked, gathered transcript by transcript.

    Attributes:
        tokens: Size of each transcript, estimated.
        languages: Of the transcripts.
        votes: Most votes on one question.
        presence: Whether a question of presence was put in place of an indicator's text.
    """

    tokens: array[int] = field(default_factory=lambda: array("Q"))
    languages: set[str] = field(default_factory=set[str])
    votes: int = 1
    presence: bool = False

    def see(self, transcript: Transcript, judgements: Collection[Judgement]) -> None:
        """Adds a transcript and this judge's answers about it."""
        self.tokens.append(tokens_of(transcript))
        self.languages.add(transcript.scenario.language)
        for judgement in judgements:
            self.votes = max(self.votes, len(judgement.votes))
            self.presence = self.presence or bool(judgement.asked)


def nearest_card(judge: str, mode: str, checklist: Checklist, read: Read, facts: RunFacts) -> Nearest | None:
    """Returns the card that fits best among those that are at hand, with what differs; None where the judge has none.

    Args:
        judge: Identity as judgements write it.
        mode: How it was asked.
        checklist: By what it judged.
        read: What it read.
        facts: Of the run.
    """
    binding = _binding(judge, mode, checklist, read, facts)
    return find_card(binding, facts.cards) if binding is not None else None


def card_caution(judge: str, mode: str, nearest: Nearest | None) -> Caution:
    """Returns what the head of a report says of a judge's card: its figures, or that there is none that holds."""
    if nearest is None:
        return Caution(
            "judge_without_card",
            f"The judge {judge} has no card: nobody has tested with planted faults whether it sees any "
            "(dramaturg audit judge).",
        )
    card = nearest.card
    shown = (
        f"balanced accuracy {_figure(card.balanced_accuracy)}, sensitivity {_figure(card.sensitivity)}, "
        f"specificity {_figure(card.specificity)}"
    )
    if not nearest.exact:
        differing = ", ".join(_IN_WORDS[name] for name in nearest.differences)
        return Caution(
            "judge_card_elsewhere",
            f"The judge {judge} has no card for what it did here. The nearest one differs in {differing}, so it is "
            f"only a hint: {shown}. {card.standing}",
        )
    return Caution(
        "judge_card_poor" if card.poor else "judge_card",
        f"The card of {judge}, mode {mode}: {shown}. {card.standing}",
        "serious" if card.poor else "note",
    )


def _figure(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return f"{decimal(figure.value)} (no interval)"
    return f"{decimal(figure.value)} ({decimal(figure.low)} to {decimal(figure.high)})"


def _binding(judge: str, mode: str, checklist: Checklist, read: Read, facts: RunFacts) -> Binding | None:
    """Returns what a card for these judgements is bound to; None where nothing was read, or in a way unknown here."""
    if not read.tokens:
        return None
    digests = [model.digest for model in facts.models if model.study_role == "judge" and model.identity == judge]
    try:
        return Binding.model_validate(
            {
                "judge": judge,
                "digest": digests[0] if digests else "",
                "prompts": _prompts(facts, checklist.language, mode),
                "mode": mode,
                "ask": _wording(checklist, read),
                "votes": read.votes,
                "checklist": f"{checklist.id} v{checklist.version}",
                "checklist_digest": checklist.hash,
                "language": ", ".join(sorted(read.languages)),
                "length": Length.of(read.tokens),
            }
        )
    except ValidationError:
        return None


def _wording(checklist: Checklist, read: Read) -> Literal["presence", "text"]:
    """Returns what was put to the judge; without an indicator that has two wordings, presence is the default."""
    both = any(indicator.ask for indicator in checklist.indicators)
    return "presence" if read.presence or not both else "text"


def _prompts(facts: RunFacts, language: str, mode: str) -> str:
    """Returns the hash of the judge's prompts as the run recorded them, else as they are now."""
    recorded: dict[str, str] = {}
    for key, digest in sorted(facts.prompts.items()):
        variant, _, rest = key.partition("/")
        in_language, _, name = rest.partition("/")
        if (variant, in_language) == ("default", language) and name.startswith(begins_of_prompts(mode)):
            recorded[name] = digest
    return sha256(canonical_json(recorded)) if recorded else prompts_hash(language, mode)
