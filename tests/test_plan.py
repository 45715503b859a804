"""The plan: ids from content, order, and what will be asked, before anything is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dramaturg.files import shipped
from dramaturg.judge.checklist import Mode
from dramaturg.run.load import Load, load_of
from dramaturg.run.material import read_material
from dramaturg.run.plan import plan
from dramaturg.run.schedule import Schedule
from dramaturg.run.units import JudgeUnit, StageUnit, Unit, units_of
from run_fixtures import CHECKLIST, carry_out, write_study

FIVE = ["summit-ridge", "dukes-yard", "museum-intrusion", "chateau-trespass", "haunted-estate"]


def units(folder: Path, **changes: Any) -> list[Unit]:
    return units_of(read_material(write_study(folder, **changes)))


def ids(folder: Path, **changes: Any) -> set[str]:
    return {unit.id for unit in units(folder, **changes)}


def test_units_are_the_product_of_the_axes(tmp_path: Path) -> None:
    planned = units(tmp_path, subjects=["script:actor.py", "script:second.py"], seeds=3)
    assert sum(isinstance(unit, StageUnit) for unit in planned) == 2 * 2 * 3
    assert len({unit.id for unit in planned}) == len(planned) == 2 * 2 * 2 * 3


@pytest.mark.parametrize(
    "more",
    [
        {"cases": ["museum-intrusion", "dukes-yard", "summit-ridge"]},
        {"subjects": ["script:second.py", "script:actor.py"]},
        {"seeds": [4, 1]},
        {"judges": [{"model": "script:critic.py"}, {"model": "script:critic.py", "checklist": "short.yaml"}]},
        {"concurrency": 9, "unit_timeout_s": 5.0, "budgets": {"max_calls": 1}, "study": "renamed"},
    ],
)
def test_id_comes_from_content_and_not_from_position(tmp_path: Path, more: dict[str, Any]) -> None:
    assert ids(tmp_path) <= ids(tmp_path, **more)


@pytest.mark.parametrize(
    "other",
    [
        {"protocol": "guarded"},
        {"limits": {"questions": 2, "restarts": 0}},
        {"seeds": [2]},
        {"cast": {"defence": "script:second.py"}},
        {"subjects": ["script:second.py"]},
        {"subjects": ["script:actor.py?temperature=0"]},
    ],
)
def test_whatever_can_change_a_result_changes_the_id(tmp_path: Path, other: dict[str, Any]) -> None:
    assert not ids(tmp_path) & ids(tmp_path, **other)


def test_host_and_timeouts_of_a_server_are_no_content(tmp_path: Path) -> None:
    one = ids(tmp_path, subjects=["http://one:1/v1#m"])
    assert one == ids(tmp_path, subjects=["http://two:2/v1#m?max_retries=1&concurrency=3"])


def test_subjects_come_one_after_the_other(tmp_path: Path) -> None:
    planned = units(tmp_path, subjects=["script:actor.py", "script:second.py"])
    assert [unit.models[0] for unit in planned if isinstance(unit, StageUnit)] == sorted(
        (unit.models[0] for unit in planned if isinstance(unit, StageUnit)), key=lambda spec: "second" in spec
    )


def test_judging_waits_for_its_performance_and_then_comes_first(tmp_path: Path) -> None:
    planned = units(tmp_path)
    schedule = Schedule(planned)
    first = schedule.take()
    assert first == 0
    assert schedule.finish(0, has_result=True) == []
    following = schedule.take()
    assert following is not None
    judging = planned[following]
    assert isinstance(judging, JudgeUnit) and judging.stage.id == planned[0].id


def carried_out(planned: list[Unit], heavy: set[str]) -> list[str]:
    schedule = Schedule(planned, heavy=heavy)
    order: list[str] = []
    while (position := schedule.take()) is not None:
        unit = planned[position]
        order.append(("stage " if isinstance(unit, StageUnit) else "judge ") + unit.models[-1].rpartition("/")[2])
        schedule.finish(position, has_result=True)
    return order


def test_few_local_models_are_loaded_at_once(tmp_path: Path) -> None:
    planned = units(tmp_path, subjects=["script:actor.py", "script:second.py"], cast={"defence": "script:critic.py"})
    subjects = {unit.stage.subject.spec.text for unit in planned if isinstance(unit, JudgeUnit)}
    judge = {unit.bench.model.spec.text for unit in planned if isinstance(unit, JudgeUnit)}
    order = [entry.partition(" ")[0] for entry in carried_out(planned, subjects)]
    assert order == ["stage", "judge", "stage", "judge"] * 2
    planned = units(tmp_path, subjects=["script:actor.py", "script:second.py"])
    order = [entry.partition(" ")[0] for entry in carried_out(planned, subjects | judge)]
    assert order == ["stage", "stage", "judge", "judge"] + ["stage", "judge"] * 2


@settings(max_examples=50, deadline=None)
@given(st.lists(st.booleans(), min_size=8, max_size=8))
def test_every_unit_is_carried_out_once_or_has_lost_its_performance(results: list[bool]) -> None:
    planned = _PLANNED
    schedule = Schedule(planned)
    seen: list[int] = []
    released: list[str] = []
    while (position := schedule.take()) is not None:
        lost = schedule.finish(position, has_result=results[position])
        seen += [position, *lost]
        released += schedule.unneeded([spec for over in (position, *lost) for spec in planned[over].models])
    assert sorted(seen) == list(range(len(planned)))
    assert sorted(released) == sorted({spec for unit in planned for spec in unit.models})


@pytest.fixture(autouse=True, scope="module")
def _plan_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    _PLANNED[:] = units(tmp_path_factory.mktemp("plan"), subjects=["script:actor.py", "script:second.py"])


_PLANNED: list[Unit] = []


@pytest.mark.parametrize("protocol", ["paper", "guarded"])
async def test_bounds_hold_for_what_is_really_asked(tmp_path: Path, protocol: str) -> None:
    """FW-67: calls and tokens of the plan are bounds of the run."""
    modes: tuple[str, ...] = get_args(Mode)
    judges = [{"model": "script:critic.py", "checklist": "turns.yaml", "mode": mode} for mode in modes]
    tmp_path.mkdir(exist_ok=True)
    (tmp_path / "turns.yaml").write_text(CHECKLIST.replace("roles: [judge]", "scope: turn"), encoding="utf-8")
    path = write_study(tmp_path, judges=judges, protocol=protocol)
    load = plan(read_material(path)).load
    result = await carry_out(path, tmp_path / "out")
    assert load.least_calls <= result.calls <= load.most_calls
    assert 0 < result.tokens <= load.input_tokens + load.output_tokens


def test_windows_are_bounded_by_the_most_turns_of_a_performance(tmp_path: Path) -> None:
    tmp_path.mkdir(exist_ok=True)
    (tmp_path / "turns.yaml").write_text(CHECKLIST.replace("roles: [judge]", "scope: turn"), encoding="utf-8")
    judges = [{"model": "script:critic.py", "checklist": "turns.yaml", "mode": mode} for mode in ("single", "windowed")]
    single, windowed = (
        load_of(unit, material.study).most_calls
        for material in [read_material(write_study(tmp_path, judges=judges, cases=["summit-ridge"]))]
        for unit in units_of(material)
        if isinstance(unit, JudgeUnit)
    )
    assert windowed > 5 * single


@pytest.mark.parametrize("other", [{"mode": "windowed"}, {"long": "cut"}, {"ask": "text"}, {"votes": 3}])
def test_how_a_judge_is_asked_is_content_and_a_written_default_is_not(tmp_path: Path, other: dict[str, Any]) -> None:
    judge = {"model": "script:critic.py", "checklist": "short.yaml"}
    before = ids(tmp_path, judges=[judge])
    assert before == ids(tmp_path, judges=[{**judge, "mode": "single", "long": "refuse", "ask": "presence"}])
    assert before < ids(tmp_path, judges=[judge, {**judge, **other}])


def test_plan_makes_no_call_and_needs_no_key(tmp_path: Path) -> None:
    """FW-67: five scenarios, seven models, 38 questions: counts and bounds without any call or key."""
    subjects = [f"http://127.0.0.1:9/v1#m{n}" for n in range(5)] + ["openai:gpt-4o", "openai:gpt-4o-mini"]
    path = write_study(tmp_path, subjects=subjects, cases=FIVE, judges=[{"model": "openai:gpt-4o"}])
    planned = plan(read_material(path))
    found = json.loads(json.dumps(planned.as_json()))
    assert (found["performances"], found["judgings"]) == (35, 35)
    judging = [unit["calls"] for unit in found["units"] if unit["kind"] == "judge"]
    assert all(calls["least"] <= 38 <= calls["most"] for calls in judging)
    assert found["calls"]["most"] == sum(unit["calls"]["most"] for unit in found["units"])


def test_cost_is_a_bound_where_prices_are_known_and_unknown_elsewhere(tmp_path: Path) -> None:
    known = plan(read_material(write_study(tmp_path, subjects=["openai:gpt-4o-mini"])))
    assert known.cost_usd is not None and known.cost_usd > 0
    assert known.price_source.startswith("genai-prices") and known.unpriced == ()
    load = known.load
    dearest = (0.15 * load.input_tokens + 0.6 * load.output_tokens) / 1e6
    assert 0.1 * dearest <= known.cost_usd <= 1.1 * dearest
    unknown = plan(read_material(write_study(tmp_path, subjects=["openai:gpt-4o-mini", "http://127.0.0.1:9/v1#m"])))
    assert unknown.cost_usd is None
    assert unknown.unpriced == ("http://127.0.0.1:9/v1#m",)


def test_local_models_cost_nothing(tmp_path: Path) -> None:
    assert plan(read_material(write_study(tmp_path))).cost_usd == 0.0


def test_loads_add_up() -> None:
    assert Load(1, 2, 3, 4) + Load(10, 20, 30, 40) == Load(11, 22, 33, 44)


def test_case_that_was_imported_can_be_planned_and_costs_what_its_twin_costs(tmp_path: Path) -> None:
    """What a case was imported from is kept in it, nested as it came, and changes nothing that is played."""
    origin = '\norigin: {title: "As it was", evidence: ["a key", {nested: [1, 2]}]}\n'
    path = tmp_path / "imported.yaml"
    path.write_text(shipped("cases")["summit-ridge"].read_text(encoding="utf-8") + origin, encoding="utf-8")
    mine, twin = (
        plan(read_material(write_study(tmp_path, cases=[case]))) for case in ("imported.yaml", "summit-ridge")
    )
    assert mine.load.most_calls == twin.load.most_calls
    assert ids(tmp_path, cases=["imported.yaml"]) == ids(tmp_path, cases=["summit-ridge"])
