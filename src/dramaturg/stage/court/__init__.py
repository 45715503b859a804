"""A trial under strict procedure.

In: a case, a procedure, a cast. Out: the transcript of a trial, with its verdict, restarts and cures.
"""

from dramaturg.stage.court.case import AnyCase, Case, OpenCase, read_case
from dramaturg.stage.court.limits import DEFAULT_LIMITS, TrialLimits
from dramaturg.stage.court.procedure import Procedure, load_procedure
from dramaturg.stage.court.setting import Protocol
from dramaturg.stage.court.staging import DEFAULT_STAGING, StagingOptions
from dramaturg.stage.court.trial import expected_calls, play_trial

__all__ = [
    "DEFAULT_LIMITS",
    "DEFAULT_STAGING",
    "AnyCase",
    "Case",
    "OpenCase",
    "Procedure",
    "Protocol",
    "StagingOptions",
    "TrialLimits",
    "expected_calls",
    "load_procedure",
    "play_trial",
    "read_case",
]
