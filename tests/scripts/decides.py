"""The steady cast of a court; its judge writes a decision in the form, in more than it, or only when asked again."""

import json
import os

from dramaturg.model.request import Request
from dramaturg.model.script import open_script
from dramaturg.model.spec import parse_spec

_STEADY = open_script(parse_spec("script:court-steady"))
_DECIDED = {"announcement": "I have weighed what was shown, and the doubt that is left counts.", "outcome": "undecided"}


def reply(request: Request) -> str:
    if request.labels["purpose"] != "verdict":
        return _STEADY.answer(request)[0].text
    match os.environ["DECIDES"]:
        case "whole":
            return json.dumps(_DECIDED)
        case "fenced":
            return f"```json\n{json.dumps(_DECIDED)}\n```"
        case "other word":
            return json.dumps({**_DECIDED, "outcome": "Undecided."})
        case _:
            return json.dumps(_DECIDED) if len(request.messages) > 1 else "Let me think."
