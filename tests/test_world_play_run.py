"""Studies of worlds: planned, run, resumed and reported like any other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dramaturg.errors import StudyError
from dramaturg.ledger import Budget, Ledger
from dramaturg.model.opening import Models
from dramaturg.report.page import collect_report
from dramaturg.run.result import RunResult
from dramaturg.run.study import suite_of
from dramaturg.run.transcripts import read_transcripts
from dramaturg.run.world.costs import call_costs, play_cost
from dramaturg.run.world.engine import play_unit, run_world
from dramaturg.run.world.material import read_world
from dramaturg.run.world.plan import plan_world
from dramaturg.run.world.units import world_units
from dramaturg.stage.world.chain import Made
from world_fixtures import ALONE, FERRY

STUDY = """\
study: small
suite: world
subjects: [{model: script:world-steady, name: steady}]
narrator: script:world-steady
scenes: [scenes.jsonl]
protocol: fast
seeds: 2
"""


def write(folder: Path, text: str = STUDY) -> Path:
    scenes = "".join(f"{scene.model_dump_json(exclude_defaults=True)}\n" for scene in (FERRY, ALONE))
    (folder / "scenes.jsonl").write_text(scenes, encoding="utf-8")
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    return folder / "study.yaml"


async def run(study: Path, out: Path, budget: Budget | None = None, *, replay_only: bool = False) -> RunResult:
    with Ledger.open(out / "ledger.db", replay_only=replay_only) as ledger:
        async with Models() as models:
            return await run_world(
                read_world(study),
                out=out,
                ledger=ledger,
                models=models,
                budget=budget or Budget(),
                replay_only=replay_only,
            )


async def test_a_study_is_planned_run_resumed_and_reported(tmp_path: Path) -> None:
    study, out = write(tmp_path), tmp_path / "out"
    assert suite_of(study) == "world"
    stopped = await run(study, out, Budget(max_calls=25))
    assert (stopped.exit_code, stopped.stop) == (3, "limit")
    whole = await run(study, out)
    assert (whole.exit_code, whole.counts()["done"], whole.replayed) == (0, 4, 25)
    planned = plan_world(read_world(study))
    assert planned.load.least_calls <= whole.calls + whole.replayed <= planned.load.most_calls
    before = (out / "transcripts.jsonl").read_bytes()
    again = await run(study, out, replay_only=True)
    assert (again.calls, (out / "transcripts.jsonl").read_bytes()) == (0, before)
    found = [transcript for _, transcript in read_transcripts(out / "transcripts.jsonl")]
    assert [(one.scenario.id, one.seed, one.suite) for one in found] == [
        *[("ferry", 1, "world"), ("ferry", 2, "world")],
        *[("alone", 1, "world"), ("alone", 2, "world")],
    ]
    assert found[0].turns != found[1].turns
    assert {player.subject for role, player in found[0].cast.items() if role != "narrator"} == {True}
    with Ledger.open(out / "ledger.db") as ledger:
        report = collect_report(out, ledger, command="")
    assert [(one.label, one.trials, dict(one.outcomes)) for one in report.subjects] == [("steady", 4, {"concluded": 4})]


async def test_the_cost_of_a_play_is_counted_by_round_role_and_purpose(tmp_path: Path) -> None:
    material = read_world(write(tmp_path, f"{STUDY}limits: {{redraws: 0}}\n"))
    unit = next(world_units(material))
    made: list[Made] = []
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        async with Models() as models:
            opened = {spec: await models.open(spec) for spec in material.models()}
            transcript = await play_unit(unit, material, opened, ledger, Budget(), on_call=made.append)
        cost = play_cost(transcript, "fast", made, call_costs(ledger, [one.key for one in made]))
    assert cost.total.calls == len(made) == sum(part.calls for part in cost.by_role.values())
    assert cost.by_purpose["character/beliefs"].calls == 9
    assert cost.total.usd == 0.0
    assert all(one.chain <= one.longest_by_formula for one in cost.rounds)
    assert all(one.cost.calls <= one.characters + 3 * one.turns + one.hits + 1 for one in cost.rounds)
    json.dumps(cost.as_json())


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("scenes: [scene-that-is-not]", "unknown scene 'scene-that-is-not'"),
        ("cast: {character:zoe: human}", "no scene of this study has the role 'character:zoe'"),
        ("cast: {director: human}", "the director is a model or a script"),
        ("cast: {narrator: script:world-steady}", "who narrates stands under its own key"),
        ("narrator: nowhere:x", "unknown provider"),
        ("rounds: 0", "rounds"),
        ("protocol: quick", "protocol"),
    ],
)
def test_a_wrong_study_is_told_with_its_line(tmp_path: Path, line: str, says: str) -> None:
    key = line.partition(":")[0]
    kept = [old for old in STUDY.splitlines() if not old.startswith(f"{key}:")]
    with pytest.raises(StudyError, match=r"study\.yaml:") as raised:
        read_world(write(tmp_path, "\n".join([*kept, line])))
    assert says in str(raised.value)


def test_adding_a_scene_or_a_seed_changes_no_unit(tmp_path: Path) -> None:
    few = {unit.id for unit in world_units(read_world(write(tmp_path, STUDY.replace("seeds: 2", "seeds: 1"))))}
    many = {unit.id for unit in world_units(read_world(write(tmp_path)))}
    slower = {unit.id for unit in world_units(read_world(write(tmp_path, STUDY.replace("fast", "paper"))))}
    assert few < many
    assert not many & slower
