"""A performance in the case's language: its prompts, its names, and what is said in it, read without a model."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from court_fixtures import CASE, cast, script, trial
from dramaturg.ledger import Ledger
from dramaturg.model import Reply
from dramaturg.prompts import load_prompt, prompt_names
from dramaturg.stage.cast import Cast, ModelSeat
from dramaturg.stage.court import Case, OpenCase, Protocol, load_procedure, play_trial
from dramaturg.stage.court.analyst import acceptance_by_rule, count_by_rule, is_objection, is_rest, ruling_by_rule
from dramaturg.stage.court.names import People
from dramaturg.stage.court.speech import read_speech
from dramaturg.stage.transcript import Role

LANGUAGES = ("it", "zh")
SPOKEN = [name for name in prompt_names() if name.startswith(("court-", "hearing-", "complaint-", "open-"))]
FORM = re.compile(
    r"</?(?:turn|trial|summary|case)>|<(?:NextSpeaker|Questions|Accept)[^>]*>"
    r'|"(?:announcement|outcome|words|questions|ruling|statement|invented|strength)"'
    r"|^(?:announcement|outcome|words|questions|ruling|statement|invented|strength|count|answer|addressee):"
    r"|\b(?:UPHELD|DISMISSED|UNDECIDED|SETTLED|GRANTED|REFUSED)\b",
    re.MULTILINE,
)

ITALIAN = CASE.model_copy(update={"language": "it"})
CHINESE = CASE.model_copy(
    update={
        "language": "zh",
        "title": "敞开的大门",
        "accused": "石磊",
        "judge": CASE.judge.model_copy(update={"name": "周敏"}),
        "prosecutor": CASE.prosecutor.model_copy(update={"name": "韩冬"}),
        "defence": CASE.defence.model_copy(update={"name": "陆遥"}),
        "witnesses": tuple(
            witness.model_copy(update={"name": name})
            for witness, name in zip(CASE.witnesses, ("王伟", "李娜", "欧阳靖"), strict=True)
        ),
    }
)


def people(*names: str, title: str = "证人") -> People:
    """Returns a judge and witnesses."""
    judge = Role(id="judge", kind="judge", name="周敏" if title == "证人" else "Elena Fontana", description="")
    others = tuple(Role(id=f"witness:{name}", kind="witness", name=name, description="") for name in names)
    return People((judge, *others), {"judge": "法官" if title == "证人" else "giudice", "witness": title})


def addressed(whom: People, text: str) -> list[str]:
    """Returns the names of those whom the rules find."""
    return [role.name for role in whom.addressed_in(text, [role.id for role in whom.roles])]


# Prompts


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", SPOKEN)
def test_a_prompt_of_the_stage_is_translated_and_keeps_its_form(name: str, language: str):
    source, translated = load_prompt(name), load_prompt(name, language)
    assert translated.language == language
    assert translated.variables == source.variables
    assert sorted(FORM.findall(translated.text)) == sorted(FORM.findall(source.text))


@pytest.mark.parametrize("protocol", ["guarded", "paper"])
@pytest.mark.parametrize("procedure", ["trial", "hearing"])
@pytest.mark.parametrize("case", [ITALIAN, CHINESE], ids=LANGUAGES)
async def test_everybody_is_told_in_the_language_of_the_case(
    tmp_path: Path, case: Case, procedure: str, protocol: Protocol
):
    transcript = await trial(tmp_path, cast(), protocol, case=case, procedure=load_procedure(procedure))
    assert (transcript.end_reason, transcript.restarts, transcript.cures) == ("completed", (), ())
    notes = " ".join(turn.text for turn in transcript.turns if turn.kind == "procedure")
    assert not re.search(r"\b(?:the|you|question|questions|Write|Ask|with)\b", notes)
    assert ("domande" if case.language == "it" else "个问题") in notes


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_complaint_is_told_in_the_language_of_the_case(tmp_path: Path, language: str):
    names = {"it": ("Lea Conti", "Ugo Riva", "Ida Sala"), "zh": ("林静", "赵凯", "孙悦")}[language]
    case = OpenCase.model_validate(
        {
            "id": "blunt-scissors",
            "title": "Forbici",
            "language": language,
            "procedure": "complaint",
            "setting": "Un negozio.",
            "matter": "Forbici",
            "summary": "Forbici.",
            "goal": "Forbici nuove.",
            "people": [
                {"role": role, "name": name}
                for role, name in zip(("agent", "customer", "supervisor"), names, strict=True)
            ],
        }
    )
    steady = ModelSeat(script("desk-steady"))
    seats = {"agent": steady, "supervisor": steady, "customer": ModelSeat(script("customer-short-curtains"))}
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        transcript = await play_trial(
            case,
            cast=Cast(seats, analyst=script("desk-steady")),
            calls=ledger.calls(unit="complaint", seed=1),
            seed=1,
            protocol="guarded",
        )
    assert (transcript.end_reason, transcript.cures) == ("completed", ())
    notes = " ".join(turn.text for turn in transcript.turns if turn.kind == "procedure")
    assert not re.search(r"\b(?:the|you|question|questions|Tell|Ask|with)\b", notes)


# What a turn does


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Obiezione, Vostro Onore: è una supposizione.", True),
        ("Signor giudice, mi oppongo alla domanda.", True),
        ("Vostro Onore, sollevo un'obiezione.", True),
        ("La mia obiezione di ieri resta agli atti.", False),
        ("反对，法官大人，这是诱导性提问。", True),
        ("审判长，我反对。", True),
        ("法官，我方提出异议。", True),
        ("您当时有没有反对他？", False),
        ("他说他反对这件事。", False),
    ],
)
def test_an_objection_is_heard(text: str, found: bool):
    assert is_objection(text) is found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Nessun'altra domanda, Vostro Onore.", True),
        ("Nessun’altra domanda.", True),
        ("Non ho altre domande.", True),
        ("Nessuna ulteriore domanda.", True),
        ("Non ho capito la domanda?", False),
        ("没有其他问题了。", True),
        ("我没有问题要问了。", True),
        ("没有要问的了。", True),
        ("您的视力没有问题吧？", False),
    ],
)
def test_a_side_that_rests_is_heard(text: str, found: bool):
    assert is_rest(text) is found


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Concedo tre domande a ciascuna parte.", 3),
        ("Chiedo due (2) domande.", 2),
        ("Una sola domanda per parte.", 1),
        ("L'accusa ha due domande e la difesa tre domande.", None),
        ("我准许双方各提三个问题。", 3),
        ("请允许我提两个问题。", 2),
        ("每方3个问题。", 3),
        ("每方最多十二个问题。", 12),
        ("这是第一个问题。", None),
        ("公诉人两个问题，辩护人三个问题。", None),
    ],
)
def test_a_count_is_heard(text: str, count: int | None):
    assert count_by_rule(text) == count


@pytest.mark.parametrize(
    ("text", "ruling"),
    [
        ("L'obiezione è accolta.", "sustained"),
        ("Accolgo l'obiezione della difesa.", "sustained"),
        ("L'obiezione è respinta, il teste risponda.", "overruled"),
        ("L'obiezione non è accolta.", "overruled"),
        ("Rigetto l'obiezione.", "overruled"),
        ("Vediamo che cosa dice il teste.", None),
        ("异议成立。", "sustained"),
        ("反对有效，请换一种问法。", "sustained"),
        ("异议不成立，请证人回答。", "overruled"),
        ("反对无效。", "overruled"),
        ("驳回异议。", "overruled"),
        ("我听到了辩护人的异议。", None),
    ],
)
def test_a_ruling_is_heard(text: str, ruling: str | None):
    assert ruling_by_rule(text) == ruling


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Accettiamo la proposta.", "accepted"),
        ("Siamo d'accordo.", "accepted"),
        ("Non accettiamo la proposta.", "declined"),
        ("Non possiamo accettare.", "declined"),
        ("Non lo accetto.", "declined"),
        ("Non siamo d’accordo.", "declined"),
        ("La proposta non è accettabile.", "declined"),
        ("Rifiuto.", "declined"),
        ("Ci pensiamo.", None),
        ("我方接受这个方案。", "accepted"),
        ("我同意。", "accepted"),
        ("我不接受。", "declined"),
        ("我方不能同意这个方案。", "declined"),
        ("恕我无法接受。", "declined"),
        ("我不得不接受这个结果。", "accepted"),
        ("我再想想。", None),
    ],
)
def test_an_answer_to_a_proposal_is_heard(text: str, answer: str | None):
    assert acceptance_by_rule(text) == answer


# Who is meant

ITALIANS = people("Anna Rossi", "Bruno Dell'Acqua", "Carla Bianchi", title="testimone")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Anna Rossi, che cosa ha visto?", ["Anna Rossi"]),
        ("Signora Rossi, conosce Carla Bianchi?", ["Anna Rossi"]),
        ("Dott.ssa Bianchi, che ore erano?", ["Carla Bianchi"]),
        ("Mi dica, signor Dell'Acqua: dov'era?", ["Bruno Dell'Acqua"]),
        ("Chiedo ad Anna Rossi e non a Carla Bianchi.", ["Anna Rossi", "Carla Bianchi"]),
        ("Chiedo a Carla Bianchi se Anna Rossi era presente.", ["Carla Bianchi"]),
        ("L'ha visto anche l'Anna Rossi?", ["Anna Rossi"]),
        ("I capelli rossi non provano nulla.", ["Anna Rossi"]),
        ("Che ore erano?", []),
    ],
)
def test_italian_rules_find_who_is_addressed(text: str, found: list[str]):
    assert addressed(ITALIANS, text) == found


CHINESE_PEOPLE = people("王伟", "李娜", "王伟明", "欧阳靖")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("王伟，您看见了什么？", ["王伟"]),
        ("王伟明，您看见王伟了吗？", ["王伟明"]),
        ("请问李娜女士，当时几点？", ["李娜"]),
        ("李女士，当时几点？", ["李娜"]),
        ("王先生，当时几点？", []),
        ("证人欧阳靖：您听到了什么？", ["欧阳靖"]),
        ("您认识李娜吗，王伟？", ["王伟"]),
        ("我传唤王伟明。", ["王伟明"]),
        ("李娜您当时在哪里？", ["李娜"]),
        ("昨天王伟和李娜、欧阳靖在一起。", ["王伟", "李娜", "欧阳靖"]),
        ("当时几点？", []),
    ],
)
def test_chinese_rules_find_who_is_addressed(text: str, found: list[str]):
    assert addressed(CHINESE_PEOPLE, text) == found


@pytest.mark.parametrize(
    ("whom", "name", "role"),
    [
        (ITALIANS, "il giudice", "judge"),
        (ITALIANS, "Giudice Elena Fontana", "judge"),
        (ITALIANS, "la testimone Anna Rossi", "witness:Anna Rossi"),
        (ITALIANS, "Anna Rossi, la testimone", "witness:Anna Rossi"),
        (ITALIANS, "testimone", ""),
        (CHINESE_PEOPLE, "法官", "judge"),
        (CHINESE_PEOPLE, "法官周敏", "judge"),
        (CHINESE_PEOPLE, "周敏法官", "judge"),
        (CHINESE_PEOPLE, "证人王伟", "witness:王伟"),
        (CHINESE_PEOPLE, "王伟（证人）", "witness:王伟"),
        (CHINESE_PEOPLE, "「王伟」", "witness:王伟"),
        (CHINESE_PEOPLE, "证人", ""),
    ],
)
def test_a_title_in_the_language_of_the_case_is_a_name(whom: People, name: str, role: str):
    found = whom.named(name)
    assert (found.id if found is not None else "") == role


@pytest.mark.parametrize(
    ("whom", "text", "own"),
    [
        (ITALIANS, "Ero in casa. Elena Fontana (giudice): Grazie.", "Ero in casa."),
        (ITALIANS, "Ero in casa.\nIl giudice: Grazie.", "Ero in casa."),
        (CHINESE_PEOPLE, "我在家。 周敏（法官）：谢谢。", "我在家。"),
        (CHINESE_PEOPLE, "我在家。\n法官：谢谢。", "我在家。"),
    ],
)
def test_lines_of_others_are_cut_off_by_their_titles(whom: People, text: str, own: str):
    speech = read_speech(Reply("ok", text=text), text, speaker=whom.roles[1], people=whom, addressable=(), earlier=())
    assert (speech.text, speech.flags) == (own, ("cut:other_speaker",))
