"""How characters remember, and with which prompts they are asked, as settings of a study of worlds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dramaturg.errors import StudyError
from dramaturg.ledger import Budget, Ledger
from dramaturg.model.embeddings import WordsOnly
from dramaturg.model.opening import Models
from dramaturg.model.request import Request
from dramaturg.run.transcripts import read_transcripts
from dramaturg.run.world.engine import run_world
from dramaturg.run.world.material import read_world, world_snapshot
from dramaturg.run.world.plan import plan_world
from dramaturg.run.world.units import world_units
from dramaturg.stage.cast import Cast, ModelSeat
from dramaturg.stage.transcript import Transcript
from dramaturg.stage.world.limits import WorldLimits
from dramaturg.stage.world.memory import CharacterMemory, MemoryRules, Weights
from dramaturg.stage.world.play import play_scene
from dramaturg.stage.world.weighing import Importances, shares
from world_fixtures import ALONE, FERRY, STEADY, Answers, Asked

STUDY = """\
study: remembering
suite: world
subjects: [{model: script:world-steady, name: steady}]
scenes: [scenes.jsonl]
protocol: fast
"""

SHORT_CHATS = WorldLimits(rounds=3, chat_tokens=500)
"""Chats begin anew, so that much has to come to mind."""


def write(folder: Path, more: str = "") -> Path:
    scenes = "".join(f"{scene.model_dump_json(exclude_defaults=True)}\n" for scene in (FERRY, ALONE))
    (folder / "scenes.jsonl").write_text(scenes, encoding="utf-8")
    (folder / "study.yaml").write_text(STUDY + more, encoding="utf-8")
    return folder / "study.yaml"


async def remembered(folder: Path, rules: MemoryRules, answers: Answers = STEADY) -> tuple[Transcript, list[Request]]:
    model = Asked(answers, [])
    with Ledger.open(folder / "ledger.db") as ledger:
        transcript = await play_scene(
            FERRY,
            cast=Cast({"character": ModelSeat(model, subject=True), "narrator": ModelSeat(model)}),
            calls=ledger.calls(unit="ferry", seed=1, budget=Budget()),
            seed=1,
            limits=SHORT_CHATS,
            memory=rules,
        )
    return transcript, model.requests


def numbers(request: Request) -> str:
    """Returns a number for every memory that is asked about."""
    count = len(re.findall(r"^\d+\. ", request.messages[-1].text, re.MULTILINE))
    return f'{{"importance": {[10] * count}}}'


async def test_importance_by_model_asks_once_for_what_is_new_and_keeps_it_in_the_record(tmp_path: Path) -> None:
    transcript, requests = await remembered(
        tmp_path, MemoryRules(importance_by="model"), {**STEADY, "importance": numbers}
    )
    asked = [request for request in requests if request.labels["purpose"] == "importance"]
    assert asked
    told = [line for one in asked for line in re.findall(r"^\d+\. (.+)$", one.messages[-1].text, re.MULTILINE)]
    by_role: dict[str, list[str]] = {}
    for one in asked:
        role = one.labels["step"].split("/")[2]
        by_role.setdefault(role, []).extend(re.findall(r"^\d+\. (.+)$", one.messages[-1].text, re.MULTILINE))
    assert all(len(set(lines)) == len(lines) for lines in by_role.values())  # nothing is asked about twice
    kept = [state for state in transcript.states if state.name == "importance"]
    assert sum(len(state.value.split()) for state in kept) == len(told)
    assert all(value.endswith("=10") for state in kept for value in state.value.split())
    assert all(len(one.messages) == 1 for one in asked)  # it is no part of the character's chat


async def test_by_default_a_rule_says_it_and_nobody_is_asked(tmp_path: Path) -> None:
    transcript, requests = await remembered(tmp_path, MemoryRules())
    assert not [request for request in requests if request.labels["purpose"] == "importance"]
    assert any(state.name == "retrieved" for state in transcript.states)
    memory = transcript.versions["memory"]
    assert isinstance(memory, dict) and memory["importance_by"] == "rule"


@pytest.mark.parametrize(("answer", "why"), [('{"importance": [5]}', "left_out"), ("no idea", "unparsed")])
async def test_an_answer_without_a_number_for_each_leaves_the_rule_and_is_counted(
    tmp_path: Path, answer: str, why: str
) -> None:
    rules = MemoryRules(importance_by="model")
    transcript, _ = await remembered(tmp_path, rules, {**STEADY, "importance": answer})
    kinds = {cure.kind for cure in transcript.cures if cure.kind.startswith("importance:")}
    assert f"importance:{why}" in kinds


async def test_weights_decide_what_comes_to_mind() -> None:
    async def first(weights: Weights) -> str:
        memory = CharacterMemory(WordsOnly(), weights=weights, budget_tokens=12)
        memory.remember("T1", 0, "The bell of the church rang long ago.", 1.0)
        memory.remember("T2", 1, "A rope was cut at the jetty.", 0.0)
        memory.remember("T3", 9, "Somebody coughed behind the shed door.", 0.0)
        (found,) = (await memory.recall("who cut the rope at the jetty", round=9)).memories
        return found.turns[0]

    assert await first(Weights(0, 0, 1)) == "T1"
    assert await first(Weights(0, 1, 0)) == "T2"
    assert await first(Weights(1, 0, 0)) == "T3"


async def test_a_weighed_memory_is_not_asked_about_again_until_it_is_told_anew() -> None:
    memory = CharacterMemory(WordsOnly())
    memory.remember("T1", 0, "A rope was cut at the jetty.", 0.2)
    memory.remember("T2", 1, "The lamp went out.", 0.2)
    assert [one.turns for one in memory.to_weigh(without={"T2"})] == [("T1",)]
    memory.weigh(memory.to_weigh(without={"T2"}), [0.9])
    assert [(one.turns, one.importance) for one in memory.memories] == [(("T1",), 0.9), (("T2",), 0.2)]
    assert [one.turns for one in memory.to_weigh()] == [("T2",)]


def test_numbers_of_labelled_lines_are_read_and_lie_on_the_scale() -> None:
    read = Importances.model_validate({"importance": "1, 10, 5"})
    assert shares(read.importance) == [0.0, 1.0, pytest.approx(4 / 9)]
    with pytest.raises(ValueError, match="less than or equal to 10"):
        Importances.model_validate({"importance": [11]})


def test_memory_and_prompts_are_settings_that_make_other_units(tmp_path: Path) -> None:
    folder = tmp_path / "curt"
    folder.mkdir()
    (folder / "world-speech.txt").write_text(
        "{# variables: name, silence #}\n{{name}}: one short sentence, or {{silence}}.\n", encoding="utf-8"
    )
    plain = read_world(write(tmp_path))
    ids = {unit.id for unit in world_units(plain)}
    assert {unit.id for unit in world_units(read_world(write(tmp_path, "memory: lexical\n")))} == ids
    assert {unit.id for unit in world_units(read_world(write(tmp_path, "memory: {importance_by: rule}\n")))} == ids
    weighted = read_world(write(tmp_path, "memory: {by: lexical, recency: 0.5, importance_by: model}\n"))
    assert not {unit.id for unit in world_units(weighted)} & ids
    assert weighted.study.memory.rules == MemoryRules(Weights(0.5, 1.0, 1.0), "model")
    assert world_snapshot(weighted).entries["memory.importance_by"] == "model"
    assert plan_world(weighted).load.most_calls == 2 * plan_world(plain).load.most_calls
    both = read_world(write(tmp_path, "prompts: [default, curt]\n"))
    units = list(world_units(both))
    assert ids < {unit.id for unit in units}
    assert [unit.description.endswith(" with curt") for unit in units] == [False, False, True, True]
    assert "prompts/curt/en/world-speech" in world_snapshot(both).entries


async def test_a_variant_of_the_prompts_is_played_and_named_in_the_report(tmp_path: Path) -> None:
    folder = tmp_path / "curt"
    folder.mkdir()
    (folder / "world-standing.txt").write_text(
        "{# variables: beliefs, environment, people #}\nNow: {{environment}}\n{{people}}\n{{beliefs}}\n",
        encoding="utf-8",
    )
    out = tmp_path / "out"
    with Ledger.open(out / "ledger.db") as ledger:
        async with Models() as models:
            result = await run_world(
                read_world(write(tmp_path, "prompts: [default, curt]\nlimits: {chat_tokens: 400}\n")),
                out=out, ledger=ledger, models=models, budget=Budget(),
            )  # fmt: skip
    assert result.exit_code == 0
    assert {record.prompts for record in result.records} == {"default", "curt"}
    found = [transcript for _, transcript in read_transcripts(out / "transcripts.jsonl")]
    hashes = {str(one.versions["prompts"]) for one in found}
    assert len(hashes) == 2


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("memory: by-heart", "memory"),
        ("memory: {recency: -1}", "recency"),
        ("memory: {importance_by: everybody}", "importance_by"),
        ("prompts: [nowhere]", "there is no folder of prompts 'nowhere'"),
        ("prompts: [default, default]", "means the same as an entry above"),
    ],
)
def test_a_wrong_setting_is_told_with_its_line(tmp_path: Path, line: str, says: str) -> None:
    with pytest.raises(StudyError, match=r"study\.yaml:") as raised:
        read_world(write(tmp_path, line + "\n"))
    assert says in str(raised.value)
