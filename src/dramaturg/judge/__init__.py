"""Judge transcripts: `checklist` answers yes/no questions about one.

In: a transcript, whoever made it, and a judge. Out: judgements, which are data of their own.
A judgement does not know how the transcript was staged; judging again never stages again.
"""

from dramaturg.judge.judgement import Judgement, MissingReason, Verdict

__all__ = ["Judgement", "MissingReason", "Verdict"]
