"""The steady cast of a world, which also looks back at what it played and writes every second turn anew."""

import json

from dramaturg.model.request import Request
from dramaturg.model.script import open_script
from dramaturg.model.spec import parse_spec

_STEADY = open_script(parse_spec("script:world-steady"))


def reply(request: Request) -> str:
    match request.labels["purpose"]:
        case "critique":
            return "Several turns only repeat what was done; each should answer what was seen."
        case "rewrite":
            assert request.schema is not None
            ids = request.schema.schema["properties"]["answers"]["items"]["properties"]["id"]["enum"]  # type: ignore[index, call-overload]
            entries = [{"id": turn, "text": f"It is done with care, as {turn} asks."} for turn in ids[::2]]
            return json.dumps({"answers": [*entries, *({"id": turn, "text": "Again."} for turn in ids[1::2])]})
        case _:
            return _STEADY.answer(request)[0].text
