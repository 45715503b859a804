"""A rater that gives more for whatever is done with care, and less than nothing to nobody."""

import json

from dramaturg.model.request import Request


def reply(request: Request) -> str:
    if request.labels["purpose"] != "rating":
        return "By whether it is done with care."
    assert request.schema is not None
    names = request.schema.schema["properties"]["answers"]["items"]["properties"]["id"]["enum"]  # type: ignore[index, call-overload]
    shown = request.messages[1].text
    points = 4 if "with care" in shown and len(shown) % 3 else 2
    return json.dumps({"answers": [{"id": name, "reason": "By rule.", "rating": points} for name in names]})
