"""Numbers as people read them. What is not known is a dash, never zero and never NaN."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction

NONE = "–"
"""What stands for a value that does not exist."""

_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that reorder text
    r"\u200b\u2028\u2029\u2060-\u2064\ufeff"  # blanks and breaks without width
    r"\U000e0000-\U000e007f]"  # tags: letters that nobody sees
)
"""Characters that steer a terminal or let a reader see another text than stands there.

The joiners U+200C and U+200D stay: scripts and emoji are written with them.
"""


def _known(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value


def decimal(value: float | None, digits: int = 2) -> str:
    """Returns the number with a fixed count of digits, or a dash."""
    known = _known(value)
    return NONE if known is None else f"{known:.{digits}f}"


def half_up(value: Fraction | None, digits: int) -> str:
    """Returns an exact value rounded half up, as published tables are: 0.8925 to three digits is 0.893; or a dash."""
    if value is None:
        return NONE
    with localcontext() as context:
        context.prec = 50
        scaled = Decimal(value.numerator) / Decimal(value.denominator)
        return str(scaled.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP))


def count(value: int | None) -> str:
    """Returns the number with its thousands parted, or a dash."""
    return NONE if value is None else f"{value:,}"


def share(part: float | None, whole: float | None) -> str:
    """Returns the part as a percentage of the whole, or a dash where the whole is unknown or nothing."""
    if part is None or not whole:
        return NONE
    percent = 100 * part / whole
    return f"{percent:.0f} %" if percent >= 1 or part == 0 else "< 1 %"


def duration(seconds: float | None) -> str:
    """Returns a length of time, or a dash."""
    known = _known(seconds)
    if known is None:
        return NONE
    if known < 10:
        return f"{known:.2f} s"
    if known < 120:
        return f"{known:.0f} s"
    minutes, rest = divmod(round(known), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def size(value: int | None) -> str:
    """Returns a size in bytes, in decimal units, or a dash."""
    if value is None:
        return NONE
    amount = float(value)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if amount >= 100 or unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"


def weights(value: int | None) -> str:
    """Returns a number of parameters in millions or billions, or a dash."""
    if value is None:
        return NONE
    return f"{value / 1e9:.2g} billion" if value >= 1e9 else f"{value / 1e6:.0f} million"


def money(dollars: float | None) -> str:
    """Returns US dollars, or a dash."""
    known = _known(dollars)
    if known is None:
        return NONE
    return f"${known:,.2f}" if known >= 1 or known == 0 else f"${known:.4f}"


def moment(text: str) -> str:
    """Returns a time as date, hour and minute with its zone; text that is no ISO 8601 as it is, none as a dash."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return text or NONE
    return time.strftime("%d %B %Y, %H:%M %Z").strip()


def counted(number: int, one: str, many: str) -> str:
    """Returns a number with its noun in the right form."""
    return f"{number:,} {one if number == 1 else many}"


def words(label: str) -> str:
    """Returns a machine-readable label as words: ``no_next_speaker`` as ``no next speaker``."""
    return label.replace("_", " ")


def tallies(counts: Mapping[str, int]) -> str:
    """Returns counts by label in words, the most frequent first, or a dash where there are none."""
    pairs = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{words(label)} {number:,}" for label, number in pairs) or NONE


def plain(text: str) -> str:
    """Returns untrusted text with its unseen characters shown, such as ``⟨U+202E⟩``: it neither steers nor deceives."""
    return _UNSEEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text.replace("\r\n", "\n"))
