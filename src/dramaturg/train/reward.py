"""Reward data: a critique and the ratings after it, for a small model that is to rate as a larger one does.

Source: CharacterBox, sections 4 and 6.4 (CharacterRM). Its published targets hold no critique; here both calls of a
rating are learned, as they are asked.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import cast

from pydantic import ValidationError

from dramaturg.errors import UserError
from dramaturg.judge.rating import RatingJudgement
from dramaturg.judge.rating.answers import ListedRating, Rated
from dramaturg.judge.rating.asking import CRITIQUE, PURPOSE
from dramaturg.model.one_answer import read_one
from dramaturg.stage.transcript import Transcript
from dramaturg.train.example import Example, Gathered, example_id
from dramaturg.train.reading import Call, Runs, Source, people_of

RATERS_PROMPTS = "rate-"

RatedRole = tuple[str, str, str, str, str]
"""Transcript, role, judge, mode and rubric."""


def reward(runs: Runs) -> Gathered:
    """Returns the examples of every trajectory of which each metric was rated, without a repair.

    Raises:
        UserError: Nothing was rated, every rating is the same number, or a ledger lacks a call.
    """
    found = Gathered()
    judges: set[str] = set()
    for source in runs.sources:
        for ratings in _by_role(source).values():
            first = ratings[0]
            if any(rating.value is None for rating in ratings):
                found.left_out["trajectory: a rating is missing"] += 1
                continue
            examples = _examples(found, runs, source, ratings)
            if examples:
                judges.add(first.judge)
                found.examples += examples
                for rating in ratings:
                    found.labels[f"{rating.value:g}"] += 1
    if not any(source.ratings for source in runs.sources):
        raise UserError(
            "these runs have no ratings",
            where=", ".join(str(source.folder) for source in runs.sources),
            allowed="rate them first: dramaturg rate run DIR --judge SPEC --out RATED",
        )
    found.terms = {"raters": sorted(judges), "ratings": dict(sorted(found.labels.items()))}
    return found


def _by_role(source: Source) -> dict[RatedRole, list[RatingJudgement]]:
    found: dict[RatedRole, list[RatingJudgement]] = defaultdict(list)
    for rating in source.ratings:
        found[rating.transcript, rating.role, rating.judge, rating.mode, rating.rubric].append(rating)
    return found


def _examples(found: Gathered, runs: Runs, source: Source, ratings: list[RatingJudgement]) -> list[Example]:
    """Returns the examples of one rated role; answers that had to be repaired or asked for again are left out."""
    first = ratings[0]
    transcript = source.transcripts.get(first.transcript)
    if transcript is None:
        found.left_out["trajectory: its transcript is missing"] += 1
        return []
    place = f"{source.folder}: rating of {first.transcript}/{first.role}"
    keys = dict.fromkeys(key for rating in ratings for key in rating.calls)
    calls = [runs.call(key, needed_by=place) for key in keys]
    if not calls:
        found.left_out["trajectory: no call"] += 1
        return []
    asked = [call for call in calls if not call.is_reask]
    whole = {call.attempt: _whole(call, ratings) for call in asked if call.purpose == PURPOSE}
    examples: list[Example] = []
    for call in asked:
        if call.purpose == CRITIQUE:
            why = "" if whole.get(call.attempt) and call.status == "ok" else "the ratings after it are not whole"
        else:
            why = "" if _whole(call, ratings) else "not in the form"
        if why:
            found.left_out[f"{call.purpose}: {why}"] += 1
            continue
        examples.append(_example(runs, source, transcript, first.role, call))
    return examples


def _example(runs: Runs, source: Source, transcript: Transcript, role: str, call: Call) -> Example:
    messages, answer = runs.chat(call), call.text.strip()
    return Example(
        id=example_id("reward", messages, answer),
        kind="reward",
        messages=messages,
        answer=answer,
        scene=transcript.scenario.id,
        characters=people_of(transcript),
        language=transcript.scenario.language,
        source=f"{transcript.id}/{role}/{call.step}",
        teacher=call.model,
        prompt_hashes=source.hashes(RATERS_PROMPTS),
        purpose=call.purpose,
        call=call.key,
    )


def _whole(call: Call, ratings: list[RatingJudgement]) -> bool:
    """Returns whether an answer holds what it was asked for, as it stands: every metric once, or the one alone."""
    if call.status != "ok":
        return False
    if ratings[0].mode == "single":
        read = read_one(call.text, Rated)
        return read.value is not None and not read.repaired
    listed = _listed(call.text)
    values = sorted(rating.value for rating in ratings if rating.value is not None)
    one_vote = not ratings[0].votes
    return len(listed) == len(ratings) and (not one_vote or sorted(float(one.rating) for one in listed) == values)


def _listed(text: str) -> list[ListedRating]:
    """Returns the entries of a joint answer that is JSON as a whole; none where it is not."""
    try:
        whole: object = json.loads(text)
        entries = cast("dict[str, object]", whole)["answers"] if isinstance(whole, dict) else None
        listed = [ListedRating.model_validate(entry) for entry in cast("list[object]", entries or [])]
    except (ValueError, KeyError, TypeError, ValidationError):
        return []
    return listed if len({one.id for one in listed}) == len(listed) else []
