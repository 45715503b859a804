"""Every exception that Dramaturg raises, in one tree.

DramaturgError
├── UserError              the input is wrong: what, where, what is allowed; exit code 1
│   ├── SpecError          a model spec string
│   ├── ContentError       a case, checklist, script, prompt or other text file
│   ├── ModelFileError     a model's weights: missing, torn, of another kind, or not to be had
│   ├── StudyError         a study file
│   ├── MissingExtraError  a feature needs an optional dependency
│   └── RunChangedError    a run would be continued under other prompts or versions
├── LedgerError            the ledger cannot be used: locked, torn, full, from the future
├── UnitStopped            a unit cannot go on; carries the reason as data
└── LimitReached           a budget of the run is used up; exit code 3

Failures of models and judges are not here: they are values (`dramaturg.model.Reply.status`).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class DramaturgError(Exception):
    """The root of the tree."""


class UserError(DramaturgError):
    """The input is wrong. Its text is a line for each problem: where, what, what is allowed."""

    def __init__(self, what: str, *, where: str = "", allowed: str = "") -> None:
        self.what = what
        self.where = where
        self.allowed = allowed
        super().__init__(what)

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        hint = f" ({self.allowed})" if self.allowed else ""
        return f"{place}{self.what}{hint}"


class SpecError(UserError):
    """A model spec string is wrong."""


class ContentError(UserError):
    """A case, checklist, script, prompt or other text file is wrong."""


class ModelFileError(UserError):
    """A model's file of weights is missing, torn, of another kind, or cannot be had."""


class StudyError(UserError):
    """A study file is wrong."""


class MissingExtraError(UserError):
    """A feature needs an optional dependency that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature}: the extra {extra!r} is not installed", allowed=f'pip install "dramaturg[{extra}]"'
        )


class RunChangedError(UserError):
    """A run would be continued under other prompts, checklists or another version."""


class LedgerError(DramaturgError):
    """The ledger cannot be used: locked by another process, torn, full, or from a newer version."""


class UnitStopped(DramaturgError):
    """A unit cannot go on, for a reason outside the subject; it is carried out again on the next run.

    Attributes:
        kind: Machine-readable reason, for example ``connect`` or ``quota``.
        detail: What the endpoint said, without secrets.
    """

    def __init__(self, kind: str, detail: str) -> None:
        self.kind = kind
        self.detail = detail
        super().__init__(f"{kind}: {detail}")


class LimitReached(DramaturgError):
    """A budget of the run is used up.

    Attributes:
        limit: The option's name, for example ``max_calls``.
    """

    def __init__(self, limit: str, detail: str) -> None:
        self.limit = limit
        super().__init__(f"{limit}: {detail}")


def did_you_mean(word: str, allowed: Iterable[str]) -> str:
    """Returns the hint that lists what is allowed, the nearest first where one is near.

    Args:
        word: What was given.
        allowed: What would have been right.
    """
    options = sorted(set(allowed))
    near = difflib.get_close_matches(word, options, n=1, cutoff=0.6)
    listed = ", ".join(options[:20]) + (", …" if len(options) > 20 else "")
    return f"did you mean {near[0]!r}? allowed: {listed}" if near else f"allowed: {listed}"
