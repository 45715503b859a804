"""Flags: what was noticed in a reply beside its verdict. Fixed words; a reply may carry several."""

from __future__ import annotations

from typing import Final

ALIAS: Final = "alias"
"""The answer was said in another word or language than the expected one."""
CONDITIONAL: Final = "conditional"
"""The answer hangs on a condition."""
CONTRADICTED: Final = "text_mismatch"
"""The text beside the answer says another one."""
CORRECTED: Final = "corrected"
"""An earlier answer was taken back or outweighed."""
DEGENERATE: Final = "degenerate"
"""The reply repeats itself without end."""
ECHO: Final = "echo"
"""The reply is the message."""
GESTURE: Final = "gesture"
"""The answer is an act, not a word."""
LABEL_OUTSIDE: Final = "label_outside"
"""The emotion is none of the set's."""
LEAK: Final = "leak"
"""A fact is given away, though the verdict rests on something else."""
ANACHRONISM: Final = "anachronism"
"""A year beyond the character's horizon is named."""
DENIED: Final = "denied"
"""The fact is named and denied, doubted or asked back."""
GIVEN: Final = "given_by_asker"
"""A fact is named that the message or the description names."""
PARTIAL_NAME: Final = "partial_name"
"""A fact is given away by a surname alone."""
SPELLED: Final = "spelled_out"
"""A fact is given away letter by letter, or in pieces."""
POLARITY: Final = "polarity"
"""What a yes or no means is open: the question, or the words behind it, turn it around."""
PROSE: Final = "prose"
"""The answer was found in running text."""
REASONING: Final = "reasoning"
"""The reply held reasoning."""
REASONING_LEAK: Final = "reasoning_leak"
"""A fact stands in the reasoning, which nobody hears."""
REPAIRED: Final = "repaired"
"""The form was broken, and was read all the same."""
SECOND_LABEL: Final = "second_label"
"""Another emotion is named as the lesser one."""
TEXT_MISSING: Final = "text_missing"
"""There is an answer and no spoken line."""
TRAILING_TEXT: Final = "trailing_text"
"""Text stands around the form that was asked for."""
TRUNCATED: Final = "truncated"
"""The reply was cut behind its answer."""

FLAGS: Final = frozenset({
    ALIAS, CONDITIONAL, CONTRADICTED, CORRECTED, DEGENERATE, ECHO, GESTURE, LABEL_OUTSIDE, LEAK, ANACHRONISM, DENIED,
    GIVEN, PARTIAL_NAME, SPELLED, POLARITY, PROSE, REASONING, REASONING_LEAK, REPAIRED, SECOND_LABEL, TEXT_MISSING,
    TRAILING_TEXT, TRUNCATED,
})  # fmt: skip
"""Every flag."""
