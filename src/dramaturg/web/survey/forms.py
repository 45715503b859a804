"""What a form sends: a few short fields, read with a bound on everything."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

MOST_BYTES = 64 * 1024
MOST_FIELDS = 20
"""By default."""
_TYPE = "application/x-www-form-urlencoded"


async def read_form(request: Request, most_fields: int = MOST_FIELDS) -> Mapping[str, str]:
    """Returns the fields of a form; of a field that stands twice, the last.

    Args:
        request: Which sends it.
        most_fields: More are too much.

    Raises:
        HTTPException: 400, 413 or 415: it is no form, or too much of one.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _TYPE:
        raise HTTPException(415)
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            raise HTTPException(413)
    try:
        fields = parse_qsl(body.decode("ascii"), keep_blank_values=True, encoding="utf-8", max_num_fields=most_fields)
    except ValueError:
        raise HTTPException(400) from None
    return {name: value.replace("\r\n", "\n") for name, value in fields}
