"""What is said in court, in every language that a performance may have: patterns that need no model.

Each pattern stands for all languages at once: a trial is held in one, and words of one do not mean something else in
another. Apostrophes may be straight or curly.
"""

from __future__ import annotations

import re

_NUMBERS = {
    **{word: number for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()
    )},
    **{word: number for number, word in enumerate(
        "zero una due tre quattro cinque sei sette otto nove dieci undici dodici".split()
    )},
    **{word: number for number, word in enumerate("零 一 二 三 四 五 六 七 八 九 十 十一 十二".split())},
    "两": 2,
}  # fmt: skip

_SPACED = "|".join(word for word in _NUMBERS if word.isascii())
_CHINESE = "|".join(sorted((word for word in _NUMBERS if not word.isascii()), key=len, reverse=True))

_COUNTS = (
    re.compile(
        rf"\b(\d{{1,6}}|{_SPACED})\b\)?(?:\s+\w+){{0,2}}?\s+(?:questions?|interventions?|domand[ae]|interventi)\b",
        re.IGNORECASE,
    ),
    re.compile(rf"(?<![第\d一二三四五六七八九十百])(\d{{1,6}}|{_CHINESE})\s*[个次道]\s*(?:问题|提问|发问)"),
)

OBJECTION = re.compile(
    r"^\W*(?:(?:your honou?r|vostro onore|signora? (?:giudice|presidente)|presidente"
    r"|(?:尊敬的)?(?:法官|审判长)(?:大人|先生|女士|阁下)?)\W+)?"
    r"(?:objection\b|i (?:must )?object\b"
    r"|obiezione\b|mi oppongo\b|(?:faccio|sollevo) (?:un['’])?obiezione\b"
    r"|我?(?:方)?(?:要|必须)?(?:提出)?(?:反对|异议)|我(?:方)?有异议)",
    re.IGNORECASE,
)
"""The turn begins as an objection."""

REST = re.compile(
    r"\bno (?:further|more|other) questions?\b|\bnothing further\b|\bi rest\b"
    r"|\bness(?:un['’]?|una) ?(?:altra|ulteriore) domanda\b|\bnon (?:ho|abbiamo) (?:pi[uù]|altre|ulteriori) domande\b"
    r"|没有(?:其他|其它|别的|更多|进一步)的?问题|没有(?:问题)?要问|没有问题了|不再(?:提问|发问)|提问完毕|问完了",
    re.IGNORECASE,
)
"""The turn gives up the questions that are left."""

SUSTAINED = re.compile(
    r"\bsustain(?:ed|s)?\b|\baccol(?:go|ta|to|gli[eo]|gliamo)\b|(?:异议|反对)(?:成立|有效)|(?:支持|准许|采纳)[^。，]{0,8}异议",
    re.IGNORECASE,
)
"""An objection is upheld."""

NOT_SUSTAINED = re.compile(
    r"\bnot (?:be )?sustain(?:ed)?\b|\bnon (?:(?:è|viene|può essere|la|posso) )?accol\w+"
    r"|(?:异议|反对)(?:不成立|不能成立|无效)|不(?:予|能)?(?:支持|准许|采纳)",
    re.IGNORECASE,
)
"""The word for upholding, denied."""

OVERRULED = re.compile(
    r"\boverrul(?:ed?|es|ing)\b|\brespin(?:go|ta|to|ge|giamo)\b|\brigett(?:o|a|ata|ato|iamo)\b|驳回", re.IGNORECASE
)
"""An objection is turned down."""

DECLINED = re.compile(
    r"\b(?:declin(?:e|es|ed)|reject(?:s|ed)?|refus(?:e|es|ed)|do not (?:accept|agree)|don['’]t (?:accept|agree)"
    r"|can(?:not|['’]t) (?:accept|agree)|not (?:acceptable|accept|agree)|unacceptable"
    r"|non (?:(?:lo|la|li|le|l['’])\s?)?(?:accett\w+|(?:è|sono|sarebbe) accettabil\w+)"
    r"|non (?:la |lo )?(?:posso|possiamo|può|voglio|vogliamo|intendo|intendiamo) accett\w+"
    r"|non (?:sono|siamo|è) d['’]accordo|inaccettabil\w+|rifiut\w+|declin(?:o|a|iamo)|respin(?:go|ge|giamo))\b"
    r"|(?<!不得)不(?:能|会|愿意?|予|打算|可能|想)?(?:接受|同意)|无法(?:接受|同意)|(?:难以|没法)(?:接受|同意)|拒绝",
    re.IGNORECASE,
)
"""A proposal is declined."""

ACCEPTED = re.compile(
    r"\b(?:accept(?:s|ed)?|agree(?:s|d)?|settled|accett\w+|(?:sono|siamo|è) d['’]accordo)\b|接受|同意", re.IGNORECASE
)
"""A proposal is accepted, where it is not denied."""


def counts_in(text: str) -> set[int]:
    """Returns the numbers that stand before the word for questions."""
    found = (value.casefold() for pattern in _COUNTS for value in pattern.findall(text))
    return {int(value) if value.isdecimal() else _NUMBERS[value] for value in found}
