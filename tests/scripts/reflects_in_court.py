"""The steady cast of a court, which writes its turns anew: with care, as an assistant would refuse, or for others."""

import json

from dramaturg.model.request import Request
from dramaturg.model.script import open_script
from dramaturg.model.spec import parse_spec

_STEADY = open_script(parse_spec("script:court-steady"))
_ANEW = (
    'Your Honour, with care I say "{turn}" and no more than that.',
    "I am sorry, but I cannot assist with that request.",
    "Let me answer with care.\nSimon Trask: And what of exhibit E1?\nAnita Holloway: I object to {turn}.",
    "As an AI language model I have no memory of {turn}.",
)


def reply(request: Request) -> str:
    match request.labels["purpose"]:
        case "verdict":
            return json.dumps({"announcement": "I have weighed it all, and a doubt is left.", "outcome": "undecided"})
        case "critique":
            return "Several turns say too little."
        case "rewrite":
            assert request.schema is not None
            ids = request.schema.schema["properties"]["answers"]["items"]["properties"]["id"]["enum"]  # type: ignore[index, call-overload]
            last_first: list[str] = sorted(map(str, ids), key=lambda turn: -int(turn[1:]))  # type: ignore[arg-type]
            texts = ((turn, _ANEW[at % len(_ANEW)].format(turn=turn)) for at, turn in enumerate(last_first))
            return json.dumps({"answers": [{"id": turn, "text": text} for turn, text in texts]})
        case _:
            return _STEADY.answer(request)[0].text
