"""A rater that gives more to whoever does something with care."""

import json

from dramaturg.model.request import Request


def reply(request: Request) -> str:
    if request.labels["purpose"] != "rating":
        return "By whether anything is done with care."
    assert request.schema is not None
    names: list[str] = request.schema.schema["properties"]["answers"]["items"]["properties"]["id"]["enum"]  # type: ignore[index, call-overload, assignment]
    points = 4 if "with care" in request.messages[1].text else 2
    return json.dumps({"answers": [{"id": name, "reason": "By rule.", "rating": points} for name in names]})
