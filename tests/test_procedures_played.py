"""Every shipped case, played by scripts to an end under its procedure; every outcome of every procedure is reached."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from court_fixtures import script
from dramaturg.files import shipped
from dramaturg.ledger import Ledger
from dramaturg.model import Model, parse_spec
from dramaturg.model.script import open_script
from dramaturg.report.page import write_report
from dramaturg.stage import Transcript
from dramaturg.stage.cast import Cast, ModelSeat, Seat
from dramaturg.stage.court import AnyCase, OpenCase, Protocol, load_procedure, play_trial, read_case
from dramaturg.stage.court.procedure import UNDECIDED
from dramaturg.stage.court.record import reference
from run_fixtures import carry_out, records, write_study

CASES = {name: read_case(path) for name, path in shipped("cases").items()}
COMPLAINTS = ("frozen-olive-tree", "late-telescope", "short-curtains")
ENDS_WELL = {"frozen-olive-tree": "granted", "late-telescope": "partly", "short-curtains": "refused"}
STEADY = {"trial": "court-steady", "hearing": "court-steady", "complaint": "desk-steady"}


def held(case: AnyCase, procedure: str) -> str:
    """Returns the name of the script that plays the player's part."""
    own = f"{load_procedure(procedure).player}-{case.id}"
    written_for = ("trial", "hearing") if case.id == "dukes-yard" else (case.made_for,)
    return own if own in shipped("scripts") and procedure in written_for else STEADY[procedure]


async def played(
    folder: Path,
    case: AnyCase,
    *,
    procedure: str = "",
    protocol: Protocol = "guarded",
    seed: int = 1,
    changed: Mapping[str, Model] | None = None,
) -> Transcript:
    """Returns a case as its steady scripts play it, with others in the roles that are `changed`."""
    under = load_procedure(procedure or case.made_for)
    steady = script(STEADY[under.id])
    seats: dict[str, Seat] = {kind: ModelSeat(steady, subject=True) for kind in under.roles}
    seats[under.player] = ModelSeat(script(held(case, under.id)))
    for kind, model in (changed or {}).items():
        seats[kind] = ModelSeat(model)
    with Ledger.open(folder / f"{case.id}-{protocol}-{seed}.db") as ledger:
        return await play_trial(
            case,
            cast=Cast(seats, analyst=steady),
            calls=ledger.calls(unit=f"trial/{seed}", seed=seed),
            seed=seed,
            protocol=protocol,
            procedure=under,
        )


def with_rules(folder: Path, name: str, *rules: dict[str, Any]) -> Model:
    """Returns a shipped script with rules that are tried before its own."""
    content = yaml.safe_load(shipped("scripts")[name].read_text(encoding="utf-8"))
    content["rules"] = [*rules, *content["rules"]]
    path = folder / f"{name}-changed.yaml"
    path.write_text(json.dumps(content), encoding="utf-8")
    return open_script(parse_spec(f"script:{path}"))


def outcome(transcript: Transcript) -> str:
    """Returns the label of what was decided."""
    assert transcript.outcome is not None
    return transcript.outcome.label


def said(transcript: Transcript, kind: str = "") -> list[str]:
    """Returns what was said, by a kind of role or by all."""
    return [t.text for t in transcript.turns if t.kind != "procedure" and kind in {"", t.role.partition(":")[0]}]


# Every case to its end


@pytest.mark.parametrize("protocol", ["guarded", "paper"])
@pytest.mark.parametrize("name", sorted(CASES))
async def test_a_shipped_case_is_played_to_its_end_without_a_cure(tmp_path: Path, name: str, protocol: Protocol):
    for seed in (1, 2, 3):
        transcript = await played(tmp_path, CASES[name], protocol=protocol, seed=seed)
        assert transcript.end_reason == "completed"
        assert outcome(transcript) != UNDECIDED
        assert (transcript.cures, transcript.restarts) == ((), ())


@pytest.mark.parametrize("protocol", ["guarded", "paper"])
async def test_the_civil_case_is_heard_as_well(tmp_path: Path, protocol: Protocol):
    for seed in (1, 2, 3):
        transcript = await played(tmp_path, CASES["dukes-yard"], procedure="hearing", protocol=protocol, seed=seed)
        assert transcript.end_reason == "completed"
        assert (transcript.cures, transcript.restarts) == ((), ())
        phases = list(dict.fromkeys(turn.phase for turn in transcript.turns))
        assert phases == ["statements", "evidence", "settlement", "decision"]


async def test_a_hearing_asks_for_roles_and_not_for_a_kind_of_case(tmp_path: Path):
    transcript = await played(tmp_path, CASES["museum-intrusion"], procedure="hearing")
    assert transcript.end_reason == "completed"


# Every outcome


@pytest.mark.parametrize("protocol", ["guarded", "paper"])
@pytest.mark.parametrize(
    ("procedure", "case", "judge"),
    [
        ("trial", "summit-ridge", "judge"),
        ("hearing", "dukes-yard", "judge"),
        ("complaint", "late-telescope", "supervisor"),
    ],
)
async def test_every_outcome_can_be_reached(tmp_path: Path, procedure: str, case: str, judge: str, protocol: Protocol):
    for number, (label, word) in enumerate(load_procedure(procedure).outcomes.items()):
        told = {"announcement": "The record is before us, and this is what it bears out.", "outcome": word}
        decides = with_rules(
            tmp_path,
            STEADY[procedure],
            {"purpose": "verdict", "schema": True, "json": told},
            {"purpose": "verdict", "reply": f"{told['announcement']} <Verdict: {word.upper()}>"},
        )
        transcript = await played(
            tmp_path,
            CASES[case],
            procedure=procedure,
            protocol=protocol,
            seed=10 + number,
            changed={judge: decides},
        )
        assert (outcome(transcript), transcript.end_reason) == (label, "completed")


async def test_the_steady_court_reaches_both_verdicts_and_a_settlement(tmp_path: Path):
    trials = [await played(tmp_path, CASES["summit-ridge"], seed=seed) for seed in range(1, 5)]
    assert {outcome(trial) for trial in trials} == {"win", "loss"}
    hearings = [await played(tmp_path, CASES["dukes-yard"], procedure="hearing", seed=seed) for seed in range(1, 9)]
    assert {outcome(hearing) for hearing in hearings} == {"win", "loss", "settled"}
    for hearing in hearings:
        answers = [change.value for change in hearing.states if change.name == "proposal"]
        assert (outcome(hearing) == "settled") == (answers == ["accepted", "accepted"])


# The complaint desk


@pytest.mark.parametrize("protocol", ["guarded", "paper"])
@pytest.mark.parametrize("name", COMPLAINTS)
async def test_a_complaint_ends_as_the_policy_of_its_shop_says(tmp_path: Path, name: str, protocol: Protocol):
    for seed in (1, 2, 3):
        transcript = await played(tmp_path, CASES[name], protocol=protocol, seed=seed)
        assert outcome(transcript) == ENDS_WELL[name]
        assert re.search(r"clause \d", " ".join(said(transcript, "agent")), re.IGNORECASE)


async def test_a_customer_gives_in_or_goes_to_the_supervisor(tmp_path: Path):
    told = [await played(tmp_path, CASES["short-curtains"], seed=seed) for seed in range(1, 5)]
    escalated = ["supervisor" in [turn.role for turn in transcript.turns[:-1]] for transcript in told]
    assert set(escalated) == {True, False}
    assert {outcome(transcript) for transcript in told} == {"refused"}


@pytest.mark.parametrize("name", COMPLAINTS)
async def test_a_customer_declines_what_gives_nothing_and_says_so_to_the_supervisor(tmp_path: Path, name: str):
    nothing = "I am sorry, but the shop cannot do anything for you."
    stern = with_rules(
        tmp_path,
        "desk-steady",
        {"role": "agent", "purpose": "proposal", "reply": nothing},
    )
    transcript = await played(tmp_path, CASES[name], changed={"agent": stern})
    answers = [change.value for change in transcript.states if change.name == "proposal"]
    assert answers == ["declined", "declined"]
    assert [turn.role for turn in transcript.turns if turn.phase == "outcome" and turn.kind != "procedure"] == [
        "supervisor",
        "customer",
        "agent",
        "supervisor",
    ]


@pytest.mark.parametrize(
    ("name", "offer"),
    [
        ("frozen-olive-tree", "We send you a new olive tree without cost."),
        ("frozen-olive-tree", "Your tree will be replaced within a week."),
        ("late-telescope", "You get the finder and half of the price, 144.50 pounds."),
        ("late-telescope", "You get the finder, 12 pounds, and 28.90 pounds."),
        ("short-curtains", "We take them back and refund 212 pounds."),
    ],
)
async def test_a_customer_accepts_what_was_wanted(tmp_path: Path, name: str, offer: str):
    generous = with_rules(tmp_path, "desk-steady", {"role": "agent", "purpose": "proposal", "reply": offer})
    transcript = await played(tmp_path, CASES[name], changed={"agent": generous})
    assert [change.value for change in transcript.states if change.name == "proposal"] == ["accepted"]


@pytest.mark.parametrize(
    ("name", "offer"),
    [
        ("frozen-olive-tree", "We cannot send a new tree."),
        ("late-telescope", "Half of the price is not possible, and 144.50 pounds neither."),
        ("late-telescope", "I cannot pay back half of the price."),
        ("short-curtains", "We do not refund goods that are cut to size."),
        ("short-curtains", "Your 212 pounds cannot be paid back."),
    ],
)
async def test_a_customer_does_not_take_a_refusal_for_an_offer(tmp_path: Path, name: str, offer: str):
    stern = with_rules(tmp_path, "desk-steady", {"role": "agent", "purpose": "proposal", "reply": offer})
    transcript = await played(tmp_path, CASES[name], changed={"agent": stern})
    assert next(change.value for change in transcript.states if change.name == "proposal") == "declined"


@pytest.mark.parametrize("name", COMPLAINTS)
def test_a_complaint_case_is_short_and_keeps_what_is_internal_apart(name: str):
    case = CASES[name]
    assert isinstance(case, OpenCase)
    assert [person.role for person in case.people] == ["agent", "customer", "supervisor"]
    assert all(person.manner and person.knowledge and person.secrets for person in case.people)
    assert len(reference(case, load_procedure("complaint")).split()) < 700
    policy = case.evidence[-1].description
    assert [f"lause {number}," in policy for number in (1, 2, 3, 4)] == [True] * 4


async def test_a_case_that_the_desk_does_not_know_is_played_too(tmp_path: Path):
    case = OpenCase.model_validate(
        {
            "id": "blunt-scissors",
            "title": "Blunt Scissors",
            "procedure": "complaint",
            "setting": "A shop",
            "matter": "Scissors that do not cut",
            "summary": "A pair of scissors came blunt.",
            "goal": "New scissors.",
            "people": [
                {"role": kind, "name": name}
                for kind, name in {"agent": "Ana Bell", "customer": "Cid Moor", "supervisor": "Sue Hart"}.items()
            ],
        }
    )
    labels: set[str] = set()
    for seed in range(1, 9):
        customer = with_rules(
            tmp_path,
            "customer-short-curtains",
            {"purpose": "complaint", "reply": "These scissors do not cut."},
            {"purpose": "answer", "reply": ["On Monday, at noon.", "New ones would do.", "So be it."]},
            {"purpose": "consent", "match": "leave me nothing|stands", "reply": "I decline that."},
            {"purpose": "consent", "reply": "I accept that."},
        )
        transcript = await played(tmp_path, case, seed=seed, changed={"customer": customer})
        assert (transcript.end_reason, transcript.cures) == ("completed", ())
        labels.add(outcome(transcript))
    assert labels == {"granted", "partly", "refused"}


# One study file (issue 4, done-when 6)


async def test_complaints_are_played_and_judged_by_the_customer_service_checklist_in_one_study(tmp_path: Path):
    path = write_study(
        tmp_path,
        study="desk",
        subjects=["script:desk-steady"],
        cases=list(COMPLAINTS),
        limits=None,
        judges=[{"model": "script:critic.py", "checklist": "customer-service"}],
    )
    await carry_out(path, tmp_path / "out")
    transcripts = records(tmp_path / "out", "transcripts.jsonl")
    assert {t["scenario"]["id"]: t["outcome"]["label"] for t in transcripts} == ENDS_WELL
    assert {t["cast"]["customer"]["kind"] for t in transcripts} == {"script"}
    judgements = records(tmp_path / "out", "judgements.jsonl")
    assert judgements
    assert {j["checklist"] for j in judgements} == {"customer-service v1"}
    with Ledger.open(tmp_path / "out" / "ledger.db", replay_only=True) as ledger:
        written = write_report(tmp_path / "out", ledger, command=f"dramaturg run {path}")
    page = written.path.read_text(encoding="utf-8")
    assert all(title in page for title in ("Empathy", "Policy", "Resolution"))
