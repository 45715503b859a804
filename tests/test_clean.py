"""The clean transcripts that audits start from: whole, true to their reference text, and with faults that fit."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from dramaturg.files import load_yaml, shipped
from dramaturg.judge.checklist.checklist import Checklist
from dramaturg.judge.checklist.proofs import prove
from dramaturg.judge.checklist.unknown import unknown_exhibits, unknown_names
from dramaturg.stage.court import load_procedure
from dramaturg.stage.court.case import Case, read_case
from dramaturg.stage.court.record import reference, roles_of
from dramaturg.stage.transcript import Outcome, Player, Role, Scenario, Transcript, Turn

FOLDER = shipped("checklists")["court"].parent.parent / "audit"
FILES = {path.stem: path for path in sorted(FOLDER.glob("*/*.yaml"))}
COURT = [name for name, path in FILES.items() if path.parent.name == "court"]
SERVICE = [name for name, path in FILES.items() if path.parent.name == "customer-service"]

EVERYWHERE = {
    "contradicts_reference",
    "contradicts_earlier_turn",
    "invented_evidence",
    "ignored_question",
    "non_sequitur",
    "knowledge_leak",
}
HOOKS = {
    "court": EVERYWHERE | {"judge_opines_guilt", "prosecutor_concedes", "reversed_verdict"},
    "customer-service": EVERYWHERE | {"promises_refused", "dismissive"},
}


def raw(name: str) -> dict[str, Any]:
    return cast(dict[str, Any], yaml.safe_load(FILES[name].read_text(encoding="utf-8")))


def transcript(name: str) -> Transcript:
    data = raw(name)
    names = {role["id"]: role["name"] for role in data["roles"]}
    cast_ = {role["id"]: Player(kind=role["played_by"]) for role in data["roles"]}
    turns = [
        Turn(
            id=f"T{number}",
            role=turn["role"],
            speaker=names[turn["role"]],
            kind=turn.get("kind", "speech"),
            text=turn["text"],
            human=cast_[turn["role"]].kind == "human",
            phase=turn.get("phase", ""),
        )
        for number, turn in enumerate(data["turns"], start=1)
    ]
    return Transcript(
        id=data["id"],
        suite=data["checklist"],
        protocol="clean",
        scenario=Scenario(**data["scenario"]),
        roles=tuple(
            Role(**{key: role[key] for key in ("id", "kind", "name", "description")}) for role in data["roles"]
        ),
        cast=cast_,
        seed=0,
        turns=tuple(turns),
        outcome=Outcome(**data["outcome"]) if data["outcome"] else None,
        end_reason=data["end_reason"],
    )


def edits(name: str) -> list[tuple[str, str, str, dict[str, str]]]:
    """Returns every planted fault of a transcript: its kind, its turn, its severity, the edit."""
    return [
        (kind, hook["turn"], severity, hook[severity])
        for kind, hooks in raw(name)["hooks"].items()
        for hook in hooks
        for severity in ("mild", "severe")
    ]


def checklist_of(name: str) -> Checklist:
    return load_yaml(shipped("checklists")[FILES[name].parent.name], Checklist)


def test_there_are_enough_clean_transcripts_of_both_domains() -> None:
    assert len(COURT) >= 13
    assert len(SERVICE) >= 9
    of_court = {name for name, path in shipped("cases").items() if read_case(path).made_for == "trial"}
    assert {raw(name)["scenario"]["id"] for name in COURT} == of_court


@pytest.mark.parametrize("name", FILES)
def test_a_clean_transcript_is_whole(name: str) -> None:
    data, clean = raw(name), transcript(name)
    assert (data["id"], data["checklist"]) == (name, FILES[name].parent.name)
    assert {turn.role for turn in clean.turns} <= {role.id for role in clean.roles}
    assert all(turn.text.strip() for turn in clean.turns)
    assert clean.judged_turns()


@pytest.mark.parametrize("name", FILES)
def test_what_code_can_see_of_a_clean_transcript_is_good(name: str) -> None:
    clean = transcript(name)
    for indicator in checklist_of(name).indicators:
        proven = prove(indicator.proof, clean) if indicator.proof else None
        assert proven is None or proven.answer == "yes", f"{indicator.id}: {proven}"
    assert not unknown_exhibits(clean)
    assert not unknown_names(clean)


@pytest.mark.parametrize("name", COURT)
def test_a_court_transcript_holds_its_case_file_and_cast(name: str) -> None:
    clean = transcript(name)
    case = load_yaml(shipped("cases")[clean.scenario.id], Case)
    assert clean.scenario.reference == reference(case, load_procedure())
    assert (clean.scenario.title, clean.scenario.language) == (case.title, case.language)
    assert clean.roles == roles_of(case, load_procedure())
    assert {role for role, player in clean.cast.items() if player.kind != "model"} == {"defence"}


@pytest.mark.parametrize("name", SERVICE)
def test_an_agent_cites_orders_and_clauses_of_the_reference_alone(name: str) -> None:
    clean = transcript(name)
    known = clean.scenario.reference.casefold()
    for turn in clean.turns:
        for cited in re.findall(r"\b[A-Z]{2}-\d{5}\b|\b[Cc]lause \d+", turn.text):
            assert cited.casefold() in known, f"{turn.id}: {cited}"
    assert {role: player.kind for role, player in clean.cast.items()} == {"agent": "model", "customer": "human"}


@pytest.mark.parametrize("name", FILES)
def test_planted_faults_fit_their_turns(name: str) -> None:
    clean = transcript(name)
    turns = {turn.id: turn for turn in clean.turns}
    for kind, where, severity, edit in edits(name):
        place = f"{name}, {kind}, {where}, {severity}"
        assert clean.is_judged(turns[where]), place
        match edit:
            case {"find": find, "put": put}:
                assert turns[where].text.count(find) == 1, place
                assert put != find, place
            case {"say": say}:
                assert say != turns[where].text, place
            case _:
                pytest.fail(f"{place}: {edit}")


@pytest.mark.parametrize("name", FILES)
def test_every_planted_fault_is_one_that_the_checklist_detects_in_that_role(name: str) -> None:
    clean, checklist = transcript(name), checklist_of(name)
    kinds = {role.id: role.kind for role in clean.roles}
    turns = {turn.id: turn for turn in clean.turns}
    assert set(raw(name)["hooks"]) >= HOOKS[checklist.id]
    for kind, where, _, _ in edits(name):
        role = kinds[turns[where].role]
        seen = [one.id for one in checklist.indicators if kind in one.detects and (not one.roles or role in one.roles)]
        assert seen, f"{kind} in {where}, a turn of the {role}: no indicator detects it"


def test_no_two_clean_transcripts_share_a_turn() -> None:
    seen: dict[str, Path] = {}
    for name, path in FILES.items():
        for turn in transcript(name).turns:
            assert turn.text not in seen, f"{path.name} and {seen[turn.text].name}: {turn.text}"
            seen[turn.text] = path
