"""Judge by a checklist: yes/no questions, each answered from a transcript and its reference text.

In: a transcript, a checklist, a judge. Out: one judgement per indicator, and scores over them.
What the transcript itself proves is not asked; what cannot be answered is missing with its reason, never a no.
"""

from dramaturg.judge.checklist.asking import Long, Mode, Wording
from dramaturg.judge.checklist.ballots import JUDGE_TOKENS
from dramaturg.judge.checklist.checklist import Checklist, Dimension, Indicator, Subdimension
from dramaturg.judge.checklist.judging import expected_calls, judge_transcript
from dramaturg.judge.checklist.score import StudyScores, TranscriptScores, score_transcript, summarise

__all__ = [
    "JUDGE_TOKENS",
    "Checklist",
    "Dimension",
    "Indicator",
    "Long",
    "Mode",
    "StudyScores",
    "Subdimension",
    "TranscriptScores",
    "Wording",
    "expected_calls",
    "judge_transcript",
    "score_transcript",
    "summarise",
]
