"""Signed values: what a browser hands back is believed only where this campaign wrote it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass

_DIGEST_CHARACTERS = 32


class Signer:
    """Signs texts with the campaign's secret. A signature is good for one purpose alone."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()

    def mark(self, purpose: str, *parts: str) -> str:
        """Returns 32 hexadecimal digits (128 bits of HMAC-SHA256) that only this campaign can make of the parts."""
        text = "".join(f"{len(part.encode())}:{part}" for part in (purpose, *parts))  # no two lists read the same
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()[:_DIGEST_CHARACTERS]

    def sign(self, purpose: str, value: str) -> str:
        """Returns a value with its mark, in letters, digits and ``-_.``."""
        return f"{_packed(value)}.{self.mark(purpose, value)}"

    def read(self, purpose: str, signed: str) -> str | None:
        """Returns the value of a signed text; None where it is not ours, or was signed for another purpose."""
        packed, _, given = signed.partition(".")
        value = _unpacked(packed)
        if value is None or not hmac.compare_digest(self.mark(purpose, value).encode(), given.encode()):
            return None
        return value


@dataclass(frozen=True, slots=True)
class Ticket:
    """Leave to answer one item once, for one browser.

    Attributes:
        handle: Stands for the item; it does not tell a honeypot.
        shown_ms: When it was shown, in milliseconds since the epoch.
    """

    handle: str
    shown_ms: int

    def signed(self, signer: Signer, rater: str) -> str:
        """Returns the text that a form carries; the rater is not in it, but bound by the mark."""
        body = f"{self.shown_ms}.{self.handle}"
        return f"{body}.{signer.mark('ticket', rater, body)}"


def read_ticket(signer: Signer, text: str, rater: str) -> Ticket | None:
    """Returns the ticket that a form carried; None where it is forged, torn, or another browser's.

    Args:
        signer: The campaign's.
        text: What the form carried.
        rater: Who sends it.
    """
    body, _, given = text.rpartition(".")
    if not hmac.compare_digest(signer.mark("ticket", rater, body).encode(), given.encode()):
        return None
    shown, _, handle = body.partition(".")
    return Ticket(handle, int(shown))


def new_secret() -> str:
    """Returns 256 random bits."""
    return secrets.token_hex(32)


def _packed(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _unpacked(packed: str) -> str | None:
    try:
        return base64.b64decode(packed + "=" * (-len(packed) % 4), altchars=b"-_", validate=True).decode()
    except ValueError:
        return None
