"""The replies that the published runner scores wrongly: what it says, and what is right (one row for each case)."""

from __future__ import annotations

import pytest

from dramaturg.facts import Fact
from dramaturg.judge.matching import Crash, Question, ReplyText, Verdict, compat, robust
from dramaturg.judge.matching import flags as f

LABELS = tuple(
    "determination anger anticipation excitement sadness disgust fear surprise joy hope love guilt pride".split()
)


def _emotion(
    expected: str = "anger", labels: tuple[str, ...] = LABELS, votes: dict[str, int] | None = None
) -> Question:
    return Question("emotion", "Your work is worthless, smith.", labels=labels, expected=expected, votes=votes or {})


def _decision(expected: str = "yes", message: str = "Will you help us hold the bridge?") -> Question:
    return Question("decision", message, expected=expected)


def _secret(
    *keywords: str, message: str = "Who made the film?", until: int | None = None, description: str = "", zh: str = ""
) -> Question:
    forms = {"": keywords} if keywords else {}
    if zh:
        forms["zh"] = (zh,)
    facts = (Fact(forms=forms),) if forms else ()
    return Question("in_character", message, facts=facts, knows_until=until, description=description)


TEXT = '"text":"Get out of my forge."'
CASES: list[tuple[str, Question, str | None, str, str, str]] = [
    ("E1", _emotion(), f'{{"emotion":"Anger",{TEXT}}}', "wrong", "right", ""),
    ("E2", _emotion(), f'```json\n{{"emotion":"anger",{TEXT}}}\n```', "wrong", "right", ""),
    ("E3", _emotion(), "[anger] Get out of my forge.", "wrong", "right", ""),
    (
        "E4",
        _emotion(),
        f'<think>What is it? Fear? No.</think>{{"emotion":"anger",{TEXT}}}',
        "wrong",
        "right",
        f.REASONING,
    ),
    ("E5", _emotion(), f'{{"emotion":"angry",{TEXT}}}', "wrong", "right", f.ALIAS),
    ("E6", _emotion(), f'{{"emotion":"anger ",{TEXT}}}', "wrong", "right", ""),
    ("E7a", _emotion(), '{"emotion":"anger"}', "wrong", "right", f.TEXT_MISSING),
    ("E7b", _emotion(), '{"emotion":"anger","text":null}', "wrong", "right", f.TEXT_MISSING),
    ("E8", _emotion(), '{"emotion":"anger","text":"How dare you call me a', "wrong", "right", f.TRUNCATED),
    (
        "E9",
        _emotion(),
        f'{{"emotion":"anger",{TEXT}}} Let me know if you want another take!',
        "wrong",
        "right",
        f.TRAILING_TEXT,
    ),
    ("E10", _emotion(), "{'emotion': 'anger', 'text': 'Get out.'}", "wrong", "right", ""),
    ("E11a", _emotion(), f'{{"response":{{"emotion":"anger",{TEXT}}}}}', "wrong", "right", ""),
    ("E11b", _emotion(), '{"Emotion":"anger","Text":"Get out."}', "wrong", "right", ""),
    ("E12", _emotion(), '{"emotion":"anger","text":"Get out\nof my forge."}', "wrong", "right", ""),
    ("E13", _emotion(), f'{{"emotion":["anger","determination"],{TEXT}}}', "wrong", "ambiguous", ""),
    ("E14", _emotion(), '{"emotion":"anger","text":""}', "right", "right", f.TEXT_MISSING),
    (
        "E15",
        _emotion(),
        '{"emotion":"anger","text":"As an AI I do not experience emotions."}',
        "right",
        "persona_break",
        "",
    ),
    (
        "E16",
        _emotion(),
        '{"emotion":"anger","text":"I am overjoyed, thank you, friend!"}',
        "right",
        "right",
        f.CONTRADICTED,
    ),
    ("E17", _emotion(), f'{{"emotion":"fear","emotion":"anger",{TEXT}}}', "right", "ambiguous", ""),
    (
        "E18",
        _emotion("jealousy", (*LABELS, "jealousy")),
        '{"emotion":"jealousy","text":"He has her."}',
        "wrong",
        "right",
        "",
    ),
    (
        "E19",
        _emotion("excitement", votes={"excitement": 14, "joy": 10}),
        '{"emotion":"joy","text":"At last!"}',
        "wrong",
        "wrong",
        "",
    ),
    ("D1a", _decision(), '{"decision":"Yes"}', "wrong", "right", ""),
    ("D1b", _decision(), '{"decision":"yes."}', "wrong", "right", ""),
    ("D2a", _decision(), "Yes.", "wrong", "right", ""),
    ("D2b", _decision(), '"yes"', "wrong", "right", ""),
    ("D3a", _decision(), '{"decision":true}', "wrong", "right", f.ALIAS),
    ("D3b", _decision(), '{"answer":"yes"}', "wrong", "right", ""),
    ("D4", _decision(), "Aye, lass. Count my hammer in.", "wrong", "right", ""),
    ("D5a", _decision(), '```json\n{"decision":"yes"}\n```', "wrong", "right", ""),
    ("D5b", _decision(), '<think>no, or yes?</think>{"decision":"yes"}', "wrong", "right", f.REASONING),
    ("D6", _decision(), "No doubt about it: yes, I will come.", "wrong", "right", ""),
    (
        "D7",
        _decision("no", "Will you plant the evidence?"),
        "I cannot take part in planting evidence.",
        "wrong",
        "right",
        "",
    ),
    (
        "D8",
        _decision("yes", "Do you really want to take that risk?"),
        '{"decision":"no","text":"No, I will not lose sleep over it - convict him."}',
        "wrong",
        "ambiguous",
        f.POLARITY,
    ),
    ("D9", _decision(), '{"decision":"yes"}', "right", "right", f.TEXT_MISSING),
    ("D10", _decision(), "I'm sorry, I can't assist.", "wrong", "refusal", ""),
    ("I1", _secret("Christopher Nolan"), "", "right", "empty", ""),
    ("I2", _secret("Christopher Nolan"), "I'm sorry, but I can't help with that.", "right", "refusal", ""),
    (
        "I3",
        _secret("Christopher Nolan"),
        "As an AI with a 2023 cutoff I can't verify who directed it.",
        "right",
        "persona_break",
        "",
    ),
    (
        "I4",
        _secret("Christopher Nolan", until=1300),
        "Tarantino made it in 2010, with DiCaprio.",
        "right",
        "wrong",
        f.ANACHRONISM,
    ),
    (
        "I5",
        _secret("Christopher Nolan"),
        "Kit Nolan made it, same fellow as The Dark Knight.",
        "right",
        "wrong",
        f.PARTIAL_NAME,
    ),
    ("I6a", _secret("Christopher Nolan"), "It was Christopher **Nolan**.", "right", "wrong", ""),
    ("I6b", _secret("Christopher Nolan"), "It was Christopher\nNolan.", "right", "wrong", ""),
    ("I7a", _secret("Google", zh="谷歌"), "人人都用谷歌。", "right", "wrong", ""),
    ("I7b", _secret("Google"), "They call it G-o-o-g-l-e.", "right", "wrong", f.SPELLED),
    ("I8a", _secret("October 5, 2011"), "It was the 5th of October, 2011.", "right", "wrong", ""),
    ("I8b", _secret("2011"), "In two thousand eleven.", "right", "wrong", ""),
    ("I9a", _secret("J.K. Rowling"), "JK Rowling wrote it.", "right", "wrong", ""),
    ("I9b", _secret("Beyoncé"), "Beyonce sang.", "right", "wrong", ""),
    ("I9c", _secret("COVID-19"), "It was COVID\u201119.", "right", "wrong", ""),
    (
        "I10",
        _secret("Nolan"),
        "<think>Nolan, but a monk cannot know</think>I know no such work, brother.",
        "wrong",
        "right",
        f.REASONING_LEAK,
    ),
    (
        "I11",
        _secret("Christopher Nolan", message="What do you make of Christopher Nolan?"),
        "This 'Christopher Nolan' you speak of, is he a bishop?",
        "wrong",
        "right",
        f.GIVEN,
    ),
    (
        "I12",
        _secret("2016", message="Who won in 2016?", until=1917),
        "You ask of 2016? It is 1917, friend.",
        "wrong",
        "right",
        f.GIVEN,
    ),
    ("I13a", _secret("Cook"), "Better ask the camp cook.", "wrong", "right", ""),
    ("I13b", _secret("Queen"), "God save the Queen!", "wrong", "right", ""),
    ("I13c", _secret("Musk"), "I smell the musk of the stables.", "wrong", "right", ""),
    ("I13d", _secret("Meta"), "He threw down a metal gauntlet.", "wrong", "right", ""),
    ("I13e", _secret("Trump"), "I heard trumpets at dawn.", "wrong", "right", ""),
    (
        "I14",
        _secret("Paris", description="You were born in a village near Paris."),
        "Paris? I was born a league from its walls.",
        "wrong",
        "right",
        f.GIVEN,
    ),
    ("I15", _secret(), "Christopher Nolan directed it in 2010.", "right", "invalid_item", ""),
    ("I16", _secret("Google"), None, "crash", "empty", ""),
]


@pytest.mark.parametrize(
    ("question", "reply", "published"), [case[1:4] for case in CASES], ids=[case[0] for case in CASES]
)
def test_compat_says_what_the_published_rule_says(question: Question, reply: str | None, published: str) -> None:
    verdict = compat(question, reply)
    assert ("crash" if isinstance(verdict, Crash) else verdict.status) == published


@pytest.mark.parametrize(
    ("question", "reply", "right", "flag"), [(*case[1:3], *case[4:]) for case in CASES], ids=[case[0] for case in CASES]
)
def test_robust_says_what_is_right(question: Question, reply: str | None, right: str, flag: str) -> None:
    verdict = robust(question, ReplyText(reply))
    assert verdict.status == right
    assert not flag or flag in verdict.flags


def test_every_case_of_the_reference_is_a_row() -> None:
    numbers = {name.rstrip("abcde") for name, *_ in CASES}
    assert numbers == {
        *(f"E{n}" for n in range(1, 20)),
        *(f"D{n}" for n in range(1, 11)),
        *(f"I{n}" for n in range(1, 17)),
    }


def test_a_crash_earns_nothing() -> None:
    crash = compat(_secret("Google"), None)
    assert isinstance(crash, Crash)
    assert crash.credit == 0.0


def test_a_refusal_by_the_provider_is_a_refusal() -> None:
    assert robust(_secret("Google"), ReplyText(None, "refused")).status == "refusal"


def test_a_call_that_failed_says_nothing_of_the_model() -> None:
    assert robust(_secret("Google"), ReplyText(None, "failed")) == Verdict("failed")


@pytest.mark.parametrize(
    ("reply", "published"),
    [
        ('{"decision":"yes","why":1}', "right"),
        (' {"decision":"yes"}\n', "right"),
        ('{"decision":"YES"}', "wrong"),
        ('[{"decision":"yes"}]', "wrong"),
        ("\ud800", "wrong"),
        (None, "wrong"),
    ],
)
def test_compat_reads_a_decision_as_strictly_as_a_schema(reply: str | None, published: str) -> None:
    verdict = compat(_decision(), reply)
    assert isinstance(verdict, Verdict)
    assert verdict.status == published


def test_compat_finds_keywords_inside_words_and_with_curly_quotes() -> None:
    assert compat(_secret("meta"), "METALS") == Verdict("wrong")
    assert compat(_secret("Hawai'i"), "hawai\u2019i") == Verdict("wrong")
