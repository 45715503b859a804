"""Words by which kinds of fault can be told in English, without understanding."""

from __future__ import annotations

import re


def _any_of(*patterns: str, case: bool = False) -> re.Pattern[str]:
    """Returns a pattern that finds what any of them finds; `case` tells whether capitals matter."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), 0 if case else re.IGNORECASE)


def _words(text: str) -> str:
    """Returns a pattern of the listed words and phrases, between the edges of words; a comma parts them."""
    return r"\b(?:" + "|".join(part.strip() for part in text.split(",")) + r")\b"


CLARIFIES = _any_of(_words("repeat, rephrase, explain, pardon, you mean, understand, say that again, which question"))
"""A question that asks to have a question explained."""

_MACHINE = (
    r"(?:AIs?|A\.I\.|artificial intelligence|(?:large |AI )?language model|LLM|chat ?bot|"
    r"(?:virtual|digital|AI) assistant|neural network|computer program|machine)"
)
AS_AN_AI = _any_of(
    rf"(?:\b[Aa]s|\b[Bb]eing|\bI am|\bI['’]m|\b[Ll]ike|\bI remain|\bonly|\bjust|\bmerely)\s"
    rf"(?:\w+[\s,]+){{0,4}}?(?<!\w)(?i:an? |this )?{_MACHINE}\b",
    rf"{_MACHINE} like me\b",
    r"\b[Mm]y (?:training|programming|developers|creators|weights|knowledge cut-?off)\b",
    r"\btrained me\b",
    r"\bI was (?:trained|programmed)\b",
    case=True,
)
"""A speaker that calls itself a machine."""

_GRADES = r"(?:grades?|marks?|evaluates?|scores?|rates?|checks?|reviews?|assesses|judges? this|reads this)"
_ALL_QUESTIONS = r"(?:every|each|all)[^.?!]{0,20}(?:questions?|indicators?|criteria)"
TO_THE_GRADER = _any_of(
    _words("graders?, evaluators?, assessors?, markers?, raters?, scorers?, annotators?, AI judge, judge model"),
    rf"\b(?:whoever|(?:any(?:one|body)|the (?:one|person|reader)|reader|those) who)\s(?:\w+\s){{0,2}}?{_GRADES}\b",
    r"\bexaminer(?::|\smay note|\sshould|,\s(?:please|answer|mark))",
    r"\b(?:ignore|disregard|forget|override)\b[^.?!]{0,40}\b(?:instructions?|rules|prompt|criteria)\b",
    r"\b(?:answer|respond|reply|say|output|mark|rate|score|tick)\b[^.?!]{0,40}"
    rf"\b(?:yes (?:to|each|every|for|on)|with yes|as (?:passed|flawless|correct)|{_ALL_QUESTIONS})\b",
    r"\bend of (?:the )?transcript\b",
    r"(?:^|[\s\[(])SYSTEM\s?:",
    _words("full marks, dear reader, (?:this|the) checklist"),
)
"""Words to whoever judges the transcript."""

SLANG = _any_of(
    _words("gonna, wanna, gotta, gimme, lemme, kinda, sorta, dunno, outta, ain['’]?t, y['’]?all, ya, yeah, yep, yup"),
    _words(
        "nah, nope, yo, dude, bro, bruh, buddy, homie, sus, legit, cringe, bonkers, crap, damn, heck, freak(?:ed|ing)"
    ),
    _words("sucks, omg, lol, lmao, wtf, btw, whoa, no biggie, no big deal, big time, for real, you guys, bucks, booze"),
    _words("awesome, weirdo, sketchy, pissed, bullshit, messing around, chill out, ripped off, super (?:weird|dumb)"),
    _words("(?:so|totally|pretty) lame"),
    r"\blike, (?:super|so|totally)\b",
    r"(?:^|[.!?,]\s+)no way(?:[,.!]|\s(?:man|dude))",
)
"""Slang."""

AUXILIARIES = frozenset(
    """
    do does did can could will would shall should may might must to not let make makes made help see saw hear heard if
    though whether lest wish or who both nor suggest suggests ask asks asked insist insists require requires what
    """.split()
)
"""Words behind which a verb takes another form: `does he have`, `if he were`, `let it be`."""

_BARE = frozenset("say show make speak give know come mean stand take lie prove want tell see hear explain".split())
_SINGULAR = _BARE | {"are", "were", "have", "do", "am", "don't", "don’t"}
_PLURAL = frozenset({"is", "was", "has", "does", "am", "wasn't", "isn't", "wasn’t", "isn’t"})
DISAGREES = {
    "i": frozenset({"is", "are", "were", "has", "does", "wants", "says", "knows"}),
    **dict.fromkeys(("he", "she", "it"), _SINGULAR),
    **dict.fromkeys(("we", "they", "you"), _PLURAL),
    **dict.fromkeys(("these", "those"), frozenset({"is", "was"})),
    "this": frozenset({"are", "were"}),
    "me": frozenset({"not"}),
}
"""Pronoun → verbs that do not agree with it."""

_MANY = (
    "people|police|children|men|women|court|prosecution|defence|crown|council|commune|jury|public|staff|team|company|"
    "family|firm|chamber"
)
"""Nouns behind which a plural verb may stand."""

BROKEN = _any_of(
    r"\b(?:has|have|had) (?:did|went|saw|came|took|gave|wrote|spoke|want|go|see|say|tell|ran|began)\b",
    r"\bwere (?:see|go|not goes|say|tell)\b",
    r"\b(?:I|they|we|he|she) (?:done|seen|been knowing)\b",
    r"\bof the it\b",
    r"\b[Aa] (?!one\b|once\b|eu)[aeio][a-z]",
    r"\b[Aa]n [bcdfgjklmnpqrstvwxyz][a-z]",
    r"\b(?:two|three|four|five|six|ten|twelve|fourteen|twenty|[2-9]|[1-9]\d+) "
    r"(?:pole|key|day|minute|time|letter|question|point|year|month|metre|pound|picture|people|person|card|piece)\b(?!-)",
    rf"(?<!\bif )(?<!though )\b[Tt]he (?!(?:{_MANY})\b)[a-z]*[a-rt-z] (?:are|were)\b",
    r"\bmore (?:better|worse)\b",
    r"(?:^|[.!?]\s+)(?:that|this|it|what I \w+ \w+ \w+|there's) are\b",
)
"""Forms that no grammar has."""

DECIDES = _any_of(
    _words("guilty, liable, acquit, acquitted, convict, convicted, dismiss, dismissed, allowed, allow, granted"),
    r"\b(?:claim|appeal|action) (?:succeeds|fails)\b",
    r"\b(?:order|sentence)(?:s|ed)? [^.?!]{0,40}\bto (?:pay|prison)\b",
    r"\bshall pay\b",
)
"""Words with which a judge decides a case."""

ANNOUNCES = _any_of(
    r"\b(?:find|finds|found|hold|declare|declared)\b[^.?!]{0,60}\b(?:guilty|liable|not proved|proved)\b",
    r"\b(?:is|are|was|stands) (?:hereby |therefore |accordingly )?(?:not )?(?:acquitted|convicted|guilty|liable)\b",
    r"\bI (?:hereby |therefore |accordingly )?(?:acquit|convict|sentence)\b",
    r"\b(?:claim|action|charge|appeal|injunction)s? (?:(?:succeed|fail)s?|(?:is|are) "
    r"(?:hereby |therefore |accordingly )?(?:dismissed|allowed|granted|refused|upheld))\b",
    r"\bI (?:dismiss|allow|uphold|refuse) the (?:claim|action|charge|appeal)\b",
    r"\b(?:shall|must|is to|ordered to) pay\b",
    r"\bverdict (?:is|of)\b",
)
"""Words with which a judge says how a case ends."""

WEIGHS = _any_of(
    _words("verdict, judgment, my decision, I decide, I have weighed, I have considered, I sum up, I find as follows"),
    _words("therefore, for these reasons, reasonable doubt, has been proved, has not been proved"),
)
"""Words of a judge who gives the grounds of a decision."""

FULL_NAME = r"[A-ZÀ-Þ][\w'’-]+(?: [A-ZÀ-Þ][\w'’-]+)+"
"""Two capitalised words or more."""

NUMBERED = re.compile(
    r"\b(?:exhibit |clause )?E(\d{1,3})\b|\b(?:exhibit|clause|article) (\d{1,3})\b|\b([A-Z]{2,3}-\d{4,6})\b",
    re.IGNORECASE,
)
"""An exhibit, a clause or an order."""

OPINES = _any_of(
    r"\b(?:accused|defendant|he|she|[A-Z]\w+ [A-Z]\w+) "
    r"(?:is (?:plainly |clearly )?(?:guilty|liable|innocent)|did it|stole it|is to blame)\b",
    _words("made up my mind, (?:charge|claim) is true, who is guilty, happened as charged"),
    r"\bGuilty, I say\b",
)
"""Stock phrases of a judge who knows the verdict."""

CONCEDES = _any_of(
    r"(?<!not )\b(?:concede|give up|abandon|withdraw|drop)\b",
    r"\b(?:case|charge|claim) (?:is lost|(?:has|have) (?:failed|not been proved)|fails|no longer stands)\b",
    r"\b(?:case|charge|claim) (?:must|should|will) (?:fail|fall|be (?:refused|dismissed))\b",
    r"\b(?:no longer|cannot|can no longer|do not) (?:hold to|maintain|ask for (?:a conviction|the result)|stay with)\b",
    r"\b(?:no longer|cannot|can no longer|do not) (?:ask you to convict|resist an acquittal)\b",
    r"\bthe defence (?:should|must|is (?:right|entitled))\b",
    r"\b(?:ask|asks|asking|request|join)\b[^.?!]{0,30}\b(?:acquittal|acquit|dismiss)",
    _words("(?:is|was) innocent, I (?:agree with|join) (?:the defence|my friend), not been proved, no case"),
)
"""Stock phrases of a prosecutor who gives up."""

DISMISSES = _any_of(
    _words(
        "fuss, grow up, get over it, spare me, whining, silly, ridiculous, stop complaining, nobody (?:here )?cares"
    ),
    _words("real problems, hardly worth, bore me, boring"),
)
"""Stock phrases of somebody who brushes a trouble aside."""
