"""English numerals in words."""

from __future__ import annotations

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()


def numeral_words(number: int) -> str:
    """Returns a whole number below a million in English words.

    Raises:
        ValueError: It is negative, or a million or more.
    """
    if not 0 <= number < 1_000_000:
        raise ValueError(f"{number} is not between 0 and 999,999")
    if number < 20:
        return _ONES[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return _TENS[tens - 2] + (f"-{_ONES[ones]}" if ones else "")
    size, unit = (1000, "thousand") if number >= 1000 else (100, "hundred")
    many, rest = divmod(number, size)
    return f"{numeral_words(many)} {unit}" + (f" {numeral_words(rest)}" if rest else "")
