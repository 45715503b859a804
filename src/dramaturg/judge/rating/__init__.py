"""Rate how roles are played: metrics from 1 to 5 with anchors in words, a critique before every number.

In: a transcript, a rubric, a judge. Out: one rating per role and metric, scores over them, and how far they can be
relied on. What cannot be read is missing with its reason, never a guess.
"""

from dramaturg.judge.rating.judgement import RatingJudgement, RatingMode, RatingReason
from dramaturg.judge.rating.rating import rate_transcript, rated_roles
from dramaturg.judge.rating.rubric import HIGHEST, LOWEST, Metric, Rubric, load_rubric, rubric_in

__all__ = [
    "HIGHEST",
    "LOWEST",
    "Metric",
    "RatingJudgement",
    "RatingMode",
    "RatingReason",
    "Rubric",
    "load_rubric",
    "rate_transcript",
    "rated_roles",
    "rubric_in",
]
