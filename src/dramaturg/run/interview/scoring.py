"""Score the replies of an interview: rows in, for each sitting the verdicts of all that was planned."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from dramaturg.judge.matching import Crash, Verdict
from dramaturg.judge.matching.scored import Match, Scored
from dramaturg.run.interview.questions import questions_of, reply_text
from dramaturg.run.interview.reply_row import ReplyRow
from dramaturg.stage.interview import Condition, ItemSet

_NO_REPLY = frozenset({"failed", "malformed"})


@dataclass(frozen=True, slots=True)
class Sitting:
    """One subject, asked in one way.

    Attributes:
        subject: What tables call the model.
        strategy: How characters were put to it; empty where that is not known.
        form: In which form it was told to answer; empty where that is not known.
        condition: To whom the items were put.
    """

    subject: str
    strategy: str = ""
    form: str = ""
    condition: Condition = "own"

    @property
    def label(self) -> str:
        """What tables call it: the subject, and how it was asked where that is known."""
        control = "" if self.condition == "own" else self.condition
        asked = ", ".join(part for part in (self.strategy, self.form, control) if part)
        return f"{self.subject} ({asked})" if asked else self.subject


def score_replies(
    rows: Iterable[ReplyRow],
    item_set: ItemSet,
    match: Match,
    *,
    planned: Collection[str] | None = None,
    repeats: int | None = None,
    sittings: Iterable[Sitting] = (),
) -> dict[Sitting, list[Scored]]:
    """Returns what became of every planned reply, by sitting.

    A planned reply that has no row is ``failed``, like one that the endpoint failed: nothing is known of it. An item
    with a problem is ``invalid_item`` in every repeat, whatever a row says.

    Args:
        rows: The replies, each item answered once per sitting and repeat.
        item_set: What they answer.
        match: Reads a reply.
        planned: Ids of the items that were asked; all sound items of the set by default.
        repeats: How often; as often as the rows of a sitting show by default.
        sittings: Those that were planned, in order; one without any row is all ``failed``.
    """
    questions = questions_of(item_set)
    characters = {item.id: item.character for item in item_set.items}
    sound = {item.id for item in item_set.sound_items()}
    wanted = [item.id for item in item_set.sound_items() if planned is None or item.id in planned]
    verdicts: defaultdict[Sitting, dict[tuple[str, int], Verdict | Crash]] = defaultdict(dict)
    for row in rows:
        if row.item not in sound:
            continue
        answered = row.status not in _NO_REPLY
        verdict = match(questions[row.item], reply_text(row)) if answered else Verdict("failed")
        verdicts[Sitting(row.subject, row.strategy, row.form, row.condition)][row.item, row.repeat] = verdict
    scored: dict[Sitting, list[Scored]] = {}
    for sitting in dict.fromkeys([*sittings, *verdicts]):
        found = verdicts[sitting]
        times = range(1, (repeats or max((repeat for _, repeat in found), default=1)) + 1)
        places = dict.fromkeys([*found, *((item, repeat) for item in wanted for repeat in times)])
        scored[sitting] = [
            Scored(item, characters[item], questions[item], found.get((item, repeat), Verdict("failed")), repeat)
            for item, repeat in places
        ]
        scored[sitting] += (
            Scored(item, characters[item], questions[item], Verdict("invalid_item"), repeat)
            for item in questions.keys() - sound
            for repeat in times
        )
    return scored
