"""What is kept of an unexpected fault: enough to find it, no secret, no path of this machine."""

from __future__ import annotations

import traceback
from pathlib import Path

from dramaturg.text import redact

MOST_CHARACTERS = 500


def bug_detail(problem: BaseException) -> str:
    """Returns one line that says what broke and where: ``KeyError: 'x' (trial.py:120 in play)``."""
    frames = traceback.extract_tb(problem.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name})" if frames else ""
    said = " ".join(redact(str(problem)).split())[:MOST_CHARACTERS]
    return f"{type(problem).__name__}: {said}{where}"
