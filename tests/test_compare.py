"""``dramaturg compare`` and ``dramaturg power``: paired, corrected, and refused where runs are not comparable."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from dramaturg.cli import compare as door
from dramaturg.errors import ContentError, UserError
from dramaturg.files import load_yaml
from dramaturg.judge.checklist import Checklist
from dramaturg.judge.judgement import Judgement
from dramaturg.run.comparing import Comparison, compare
from dramaturg.run.pilot import plan_power
from dramaturg.run.records import UnitRecord
from dramaturg.run.sides import Side, read_side
from dramaturg.run.snapshot import Manifest
from dramaturg.stage.transcript import Transcript
from dramaturg.text import sha256
from report_fixtures import LARGE, SMALL, judgement, transcript, write
from run_fixtures import CHECKLIST as THREE
from run_fixtures import carry_out, write_study

TEN = "id: ten\nversion: 1\ntitle: Ten questions\ndomain: court\ndimensions:\n" + (
    "  - {id: AA, name: First half, definition: The first five.}\n"
    "  - {id: BB, name: Second half, definition: The last five.}\nindicators:\n"
    + "".join(
        f"  - {{id: {half}-{number}, dimension: {half}, text: Does it hold at place {number}?, roles: [judge]}}\n"
        for half in ("AA", "BB")
        for number in range(1, 6)
    )
)
ENTRIES = {
    "version": "0.2.0",
    "suite": "court",
    "protocol": "guarded",
    "seed": "0",
    "limits.turns": "60",
    "cast.defence": "script",
    "prompts/default/en/court-judge": "a" * 64,
    "prompts/default/en/judge-single": "b" * 64,
}
CASES = tuple(f"case-{letter}" for letter in "abcdefgh")

Shares = Mapping[str, Sequence[int]]
"""Subject → how many of ten questions got a yes, case by case."""

GOOD, POOR = (9, 8, 10, 7, 9, 8, 9, 10), (6, 5, 8, 4, 6, 6, 5, 7)


def make_run(
    folder: Path,
    shares: Shares,
    *,
    seeds: Sequence[int] = (1,),
    checklist: str = TEN,
    mode: str = "single",
    judge: str = "openai:judge",
    changed: Mapping[str, str] | None = None,
    spread: int = 0,
) -> Path:
    """Writes a judged run. With `spread`, seeds differ by so many answers."""
    file = folder / "snapshot" / "files" / f"{sha256(checklist)}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(checklist, encoding="utf-8")
    loaded = load_yaml(file, Checklist)
    manifest = Manifest(
        study="invented",
        entries={**ENTRIES, f"checklists/{loaded.id}": loaded.hash, **(changed or {})},
        files={f"checklists/{loaded.id}": f"files/{file.name}"},
    )
    (folder / "snapshot" / "manifest.json").write_text(manifest.model_dump_json(), encoding="utf-8")
    trials: list[Transcript] = []
    answers: list[Judgement] = []
    for subject, counts in shares.items():
        for case, count in zip(CASES, counts, strict=False):
            for place, seed in enumerate(seeds):
                trial = transcript(subject, case, seed)
                yes = max(0, min(10, count + (spread if place % 2 else -spread)))
                trials.append(trial)
                answers += answered(trial, loaded, yes, mode=mode, judge=judge)
    write(folder / "transcripts.jsonl", trials)
    write(folder / "judgements.jsonl", answers)
    return folder


def answered(trial: Transcript, checklist: Checklist, yes: int, *, mode: str, judge: str) -> Iterator[Judgement]:
    digest = trial.digest
    # Alternately from both halves, so that dimensions differ by one at most.
    order = sorted(checklist.indicators, key=lambda one: (one.id[-1], one.id))
    for place, indicator in enumerate(order):
        made = judgement(trial, checklist, indicator, "yes" if place < yes else "no", judge=judge, digest=digest)
        yield made.model_copy(update={"mode": mode})


def side(folder: Path, name: str = "") -> Side:
    from dramaturg.report.facts import used_checklists

    return read_side(folder, name=name or folder.name, checklists=used_checklists(folder), ledger=None)


def compared(*folders: Path, anyway: Sequence[str] = ()) -> Comparison:
    return compare([side(folder) for folder in folders], anyway=anyway)


@pytest.fixture
def typed() -> Any:
    app = typer.Typer()
    app.command("compare")(door.compare)
    app.command("power")(door.power)
    runner = CliRunner()
    return lambda *arguments: runner.invoke(app, [str(argument) for argument in arguments])


def test_subjects_of_one_run_are_paired_by_case_and_seed(tmp_path: Path):
    (panel,) = compared(make_run(tmp_path / "run", {SMALL: POOR, LARGE: GOOD})).panels
    assert [one.name for one in panel.subjects] == [LARGE, SMALL]
    total = next(one for one in panel.differences if one.measure == "total")
    assert (total.one, total.other) == (LARGE, SMALL)
    assert total.paired.difference.value == pytest.approx((sum(GOOD) - sum(POOR)) / 80)
    assert (total.paired.difference.n_used, total.paired.difference.clusters) == (8, 8)
    assert total.paired.p_value == pytest.approx(2 / 2**8)
    assert total.p_holm == pytest.approx(2 / 2**8)
    assert total.shown
    assert set(panel.measures) == {"total", "AA", "BB"}
    best = panel.subjects[0].ranks["total"]
    assert (best.rank, best.low, best.high, best.best) == (1, 1, 1, 1.0)


def test_the_same_label_in_two_runs_is_told_apart_by_its_run(tmp_path: Path):
    one, two = make_run(tmp_path / "one", {SMALL: POOR}), make_run(tmp_path / "two", {SMALL: GOOD})
    found = compared(one, two)
    (panel,) = found.panels
    assert {subject.name for subject in panel.subjects} == {f"{SMALL} [one]", f"{SMALL} [two]"}
    assert found.settings == ()


def test_what_differs_and_may_differ_is_shown(tmp_path: Path):
    changed = {"version": "0.3.0", "prompts/default/en/court-judge": "c" * 64}
    found = compared(
        make_run(tmp_path / "one", {SMALL: POOR}), make_run(tmp_path / "two", {LARGE: GOOD}, changed=changed)
    )
    assert {(setting.name, setting.field) for setting in found.settings} == {
        ("version", ""),
        ("prompts/default/en/court-judge", ""),
    }


@pytest.mark.parametrize(
    ("other", "field"),
    [
        ({"mode": "joint"}, "mode"),
        ({"judge": "openai:another"}, "judge"),
        ({"checklist": TEN.replace("version: 1", "version: 2")}, "checklist"),
        ({"changed": {"limits.turns": "30"}}, "limits"),
        ({"changed": {"cast.defence": "human"}}, "cast"),
        ({"changed": {"prompts/default/en/judge-single": "d" * 64}}, "judge-prompts"),
    ],
)
def test_what_is_not_comparable_is_refused_by_name_unless_wanted(tmp_path: Path, other: dict[str, Any], field: str):
    one, two = make_run(tmp_path / "one", {SMALL: POOR}), make_run(tmp_path / "two", {LARGE: GOOD}, **other)
    with pytest.raises(UserError, match="not comparable") as refused:
        compared(one, two)
    assert f"--anyway {field}" in str(refused.value)
    found = compared(one, two, anyway=[field])
    assert found.ignored == (field,)
    assert found.panels[0].differences[0].paired.difference.n_used == 8


ASKED = "judges/openai:judge/ten/single/"


@pytest.mark.parametrize(
    ("one", "two", "field"),
    [
        ({f"{ASKED}ask": "presence"}, {f"{ASKED}ask": "text"}, "ask"),
        ({f"{ASKED}long": "refuse"}, {f"{ASKED}long": "cut"}, "long"),
        ({"ask": "text"}, {f"{ASKED}ask": "presence"}, "ask"),
        ({}, {f"{ASKED}ask": "text"}, "ask"),
        ({}, {"long": "cut"}, "long"),
    ],
)
def test_judges_asked_in_another_way_are_refused(tmp_path: Path, one: dict[str, str], two: dict[str, str], field: str):
    folders = (
        make_run(tmp_path / "one", {SMALL: POOR}, changed=one),
        make_run(tmp_path / "two", {LARGE: GOOD}, changed=two),
    )
    with pytest.raises(UserError, match=f"not comparable: {field}: ") as refused:
        compared(*folders)
    assert f"--anyway {field}" in str(refused.value)
    assert compared(*folders, anyway=[field]).ignored == (field,)


@pytest.mark.parametrize("asked", [{"ask": "text"}, {f"{ASKED}ask": "text"}])
def test_judges_asked_in_one_way_are_compared_and_the_default_need_not_be_recorded(
    tmp_path: Path, asked: dict[str, str]
):
    old = make_run(tmp_path / "old", {SMALL: POOR})
    new = make_run(tmp_path / "new", {LARGE: GOOD}, changed={f"{ASKED}ask": "presence", f"{ASKED}long": "refuse"})
    assert compared(old, new).settings == ()
    one = make_run(tmp_path / "one", {SMALL: POOR}, changed=asked)
    two = make_run(tmp_path / "two", {LARGE: GOOD}, changed={f"{ASKED}ask": "text"})
    assert "asked by its text" in compared(one, two).panels[0].title


async def test_a_study_records_how_its_judges_are_asked(tmp_path: Path):
    sides: list[Side] = []
    for ask in ("presence", "text"):
        judges = [{"model": "script:critic.py", "checklist": "short.yaml", "ask": ask}]
        await carry_out(write_study(tmp_path, judges=judges), tmp_path / ask)
        sides.append(side(tmp_path / ask))
    assert [key.ask for one in sides for key in one.panels] == ["presence", "text"]
    with pytest.raises(UserError, match="ask: presence in presence, text in text"):
        compare(sides)


def test_another_protocol_is_refused(tmp_path: Path):
    one, two = make_run(tmp_path / "one", {SMALL: POOR}), make_run(tmp_path / "two", {LARGE: GOOD})
    path = two / "transcripts.jsonl"
    text = path.read_text(encoding="utf-8").replace('"protocol":"guarded"', '"protocol":"paper"')
    path.write_text(text, encoding="utf-8")
    trials = [Transcript.model_validate_json(line) for line in text.splitlines()]
    digests = {trial.id: trial.digest for trial in trials}
    lines = (two / "judgements.jsonl").read_text(encoding="utf-8").splitlines()
    answers = [Judgement.model_validate_json(line) for line in lines]
    write(
        two / "judgements.jsonl", (a.model_copy(update={"transcript_digest": digests[a.transcript]}) for a in answers)
    )
    with pytest.raises(UserError, match="protocol: guarded in one, paper in two"):
        compared(one, two)
    assert compared(one, two, anyway=["protocol"]).ignored == ("protocol",)


def test_a_case_that_changed_is_no_longer_the_same_case(tmp_path: Path):
    one = make_run(tmp_path / "one", {SMALL: POOR}, changed={"cases/case-a": "1" * 64})
    two = make_run(tmp_path / "two", {LARGE: GOOD}, changed={"cases/case-a": "2" * 64})
    with pytest.raises(UserError, match=r"cases/case-a: 11111111 in one, 22222222 in two"):
        compared(one, two)


def test_an_unknown_field_is_named(tmp_path: Path):
    run = make_run(tmp_path / "run", {SMALL: POOR, LARGE: GOOD})
    with pytest.raises(UserError, match="no field 'modes'") as refused:
        compared(run, anyway=["modes"])
    assert "did you mean 'mode'" in str(refused.value)


def test_one_subject_is_not_compared(tmp_path: Path):
    with pytest.raises(UserError, match="only one subject"):
        compared(make_run(tmp_path / "run", {SMALL: POOR}))


def test_what_only_one_subject_has_is_left_out_and_counted(tmp_path: Path):
    one = make_run(tmp_path / "one", {SMALL: POOR})
    two = make_run(tmp_path / "two", {LARGE: GOOD[:6]}, seeds=(1, 2))
    (panel,) = compared(one, two).panels
    total = panel.differences[0].paired.difference
    assert (total.n_used, total.n_planned, total.clusters) == (6, 14, 6)
    assert any("pairs are missing" in note for note in panel.notes)


def test_runs_without_a_common_case_pair_nothing_and_say_so(tmp_path: Path):
    one, two = make_run(tmp_path / "one", {SMALL: POOR}), make_run(tmp_path / "two", {LARGE: GOOD}, seeds=(5,))
    (panel,) = compared(one, two).panels
    assert panel.notes == ("no scenario and seed is common to two subjects: nothing is paired",)
    assert all(one.paired.difference.value is None and one.p_holm is None for one in panel.differences)


def test_five_cases_cannot_show_a_difference_and_it_is_said(tmp_path: Path):
    (panel,) = compared(make_run(tmp_path / "run", {SMALL: POOR[:5], LARGE: GOOD[:5]})).panels
    assert not any(one.shown for one in panel.differences)
    assert any("5 common scenarios cannot show one of 1 differences, however large" in note for note in panel.notes)


def test_transcripts_that_changed_after_judging_are_left_out(tmp_path: Path):
    run = make_run(tmp_path / "run", {SMALL: POOR, LARGE: GOOD})
    path = run / "transcripts.jsonl"
    first, *rest = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text(first.replace("The court is open", "The court is shut") + "".join(rest), encoding="utf-8")
    found = compared(run)
    assert found.panels[0].differences[0].paired.difference.n_used == 7
    assert "1 transcripts are not there or changed" in found.notes[0]


def test_a_torn_end_of_a_file_is_noted(tmp_path: Path):
    folder = make_run(tmp_path / "run", {SMALL: GOOD, LARGE: POOR})
    with (folder / "judgements.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"format": "dramat')
    assert any("the last line is torn and left out" in note for note in side(folder).notes)


def test_two_trials_of_one_seed_cannot_be_paired(tmp_path: Path):
    run = make_run(tmp_path / "run", {SMALL: POOR, LARGE: GOOD})
    for name in ("transcripts.jsonl", "judgements.jsonl"):
        path = run / name
        first = [
            line for line in path.read_text(encoding="utf-8").splitlines() if "court-case-a-smollm2-135m-1" in line
        ]
        twin = [line.replace("court-case-a-smollm2-135m-1", "twin") for line in first]
        path.write_text(path.read_text(encoding="utf-8") + "\n".join(twin) + "\n", encoding="utf-8")
    digests = [
        trial.digest
        for line in (run / "transcripts.jsonl").read_text(encoding="utf-8").splitlines()
        for trial in [Transcript.model_validate_json(line)]
    ]
    path = run / "judgements.jsonl"
    text = path.read_text(encoding="utf-8")
    path.write_text(
        "\n".join(line.replace(digests[0], digests[-1]) if '"twin"' in line else line for line in text.splitlines())
        + "\n",
        encoding="utf-8",
    )
    with pytest.raises(ContentError, match="two trials of 'case-a' with seed 1"):
        compared(run)


def test_variants_of_the_prompts_are_subjects_of_their_own(tmp_path: Path):
    run = make_run(tmp_path / "run", {SMALL: POOR, LARGE: GOOD})
    records = []
    lines = (run / "transcripts.jsonl").read_text(encoding="utf-8").splitlines()
    trials = [Transcript.model_validate_json(line) for line in lines]
    renamed: dict[str, str] = {}
    for number, trial in enumerate(trials):
        unit = f"{number:020d}"
        variant = "default" if trial.cast["judge"].model == SMALL else "terse"
        renamed[trial.id] = f"{trial.scenario.id}-{unit}"
        records.append(
            UnitRecord(
                unit=unit,
                kind="stage",
                status="done",
                subject="actor",
                subject_model="m",
                prompts=variant,
                case=trial.scenario.id,
                seed=trial.seed,
                protocol="guarded",
            )
        )
    trials = [trial.model_copy(update={"id": renamed[trial.id]}) for trial in trials]
    answers = [
        Judgement.model_validate_json(line)
        for line in (run / "judgements.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    digests = {trial.id: trial.digest for trial in trials}
    write(run / "transcripts.jsonl", trials)
    write(
        run / "judgements.jsonl",
        (
            answer.model_copy(
                update={
                    "transcript": renamed[answer.transcript],
                    "transcript_digest": digests[renamed[answer.transcript]],
                }
            )
            for answer in answers
        ),
    )
    write(run / "units.jsonl", records)
    (panel,) = compared(run).panels
    assert {one.name for one in panel.subjects} == {"actor", "actor with terse"}


async def test_a_real_run_brings_speed_beside_quality(tmp_path: Path, typed: Any):
    study = write_study(tmp_path, subjects=["script:actor.py", "script:second.py"], seeds=3)
    out = tmp_path / "out"
    assert (await carry_out(study, out)).exit_code == 0
    result = typed("compare", out, "--json")
    assert result.exception is None
    (panel,) = json.loads(result.stdout)["panels"]
    assert [one["subject"] for one in panel["subjects"]] == ["script:actor.py", "script:second.py"]
    for one in panel["subjects"]:
        assert one["cost"]["trials"] == 6
        assert one["cost"]["seconds_per_trial"] is not None
        assert one["scores"]["total"]["n_used"] == one["scores"]["total"]["n_planned"] == 6
    assert {one["verdict"] for one in panel["differences"]} == {"unclear"}


def test_the_command_prints_tables_and_what_differs(tmp_path: Path, typed: Any):
    one = make_run(tmp_path / "one", {SMALL: POOR})
    two = make_run(tmp_path / "two", {LARGE: GOOD}, changed={"version": "0.3.0", "limits.turns": "30"})
    result = typed("compare", one, two, "--anyway", "limits")
    assert result.exception is None
    assert "1 − 2" in result.stdout
    assert "higher" in result.stdout
    assert "version: 0.2.0 in one, 0.3.0 in two" in result.stdout
    assert "compared anyway" in result.stdout
    assert isinstance(typed("compare", one, two).exception, UserError)
    assert not (one / "ledger.db").exists()


@pytest.mark.parametrize("wrong", ["nowhere", "run twice", "unjudged", "a table"])
def test_bad_folders_get_one_clear_line(tmp_path: Path, typed: Any, wrong: str):
    run = make_run(tmp_path / "run", {SMALL: POOR, LARGE: GOOD})
    arguments = {"nowhere": [tmp_path / "no"], "run twice": [run, run], "unjudged": [run], "a table": [run]}[wrong]
    if wrong == "unjudged":
        (run / "judgements.jsonl").unlink()
    if wrong == "a table":
        (run / "judgements.jsonl").write_text("a,b\n", encoding="utf-8")
    error = typed("compare", *arguments).exception
    assert isinstance(error, UserError)
    assert "\n" not in str(error)


def test_power_uses_the_pairs_of_a_pilot(tmp_path: Path):
    run = make_run(tmp_path / "run", {SMALL: POOR, LARGE: GOOD}, seeds=(1, 2), spread=1)
    (plan,) = plan_power(side(run), difference=0.05)
    (basis,) = plan.bases
    assert (basis.title, basis.cases, basis.pairs) == (f"{SMALL} − {LARGE}", 8, 16)
    assert [one.seeds for one in basis.plans] == [1, 2, 3, 5, 10]
    for one in basis.plans:
        assert one.expected is not None and one.cautious is not None
        assert one.cautious.scenarios >= one.expected.scenarios >= 6
        assert one.expected.power >= 0.8
    assert plan_power(side(run), difference=0.2)[0].bases[0].plans[0].expected != basis.plans[0].expected


def test_power_plans_for_the_test_that_compare_makes(tmp_path: Path, typed: Any):
    run = make_run(tmp_path / "run", {SMALL: POOR, LARGE: GOOD, "openai:third": (2, 3, 1, 2, 4, 2, 3, 1)})
    (plan,) = plan_power(side(run), difference=1)
    assert (plan.tests, plan.level, plan.fewest) == (3, pytest.approx(0.05 / 3), 7)
    sizes = [one.expected.scenarios for basis in plan.bases for one in basis.plans if one.expected is not None]
    assert sizes and min(sizes) == 7
    few = make_run(tmp_path / "few", {SMALL: [0] * 6, LARGE: [10] * 6, "openai:third": [5] * 6})
    assert not any(one.shown for one in compared(few).panels[0].differences)
    said = typed("power", run, "--difference", "0.3").stdout
    assert "3 pairs of subjects (Holm): fewer than 7 cases can show no difference, however large" in said


def test_a_pilot_of_one_case_is_too_small_and_says_so(tmp_path: Path, typed: Any):
    run = make_run(tmp_path / "run", {SMALL: POOR[:1], LARGE: GOOD[:1]}, seeds=(1, 2, 3))
    result = typed("power", run, "--difference", "0.05")
    assert result.exception is None
    assert "the pilot is too small: one case says nothing of how cases differ" in result.stdout
    (plan,) = json.loads(typed("power", run, "--difference", "0.05", "--json").stdout)
    assert plan["bases"][0]["plans"] == []


def test_one_seed_or_one_subject_or_few_cases_are_said(tmp_path: Path):
    alone = side(make_run(tmp_path / "alone", {SMALL: POOR[:4]}))
    (basis,) = plan_power(alone, difference=0.05)[0].bases
    assert [one.seeds for one in basis.plans] == [1]
    for part in ("one subject", "4 cases", "one seed per case"):
        assert any(part in note for note in basis.notes)
    assert basis.variance.between is not None and basis.variance.within is None


def test_no_variance_is_no_promise(tmp_path: Path):
    run = make_run(tmp_path / "run", {SMALL: [8] * 6, LARGE: [9] * 6})
    (basis,) = plan_power(side(run), difference=0.05)[0].bases
    assert basis.plans == ()
    assert any("no variance at all" in note for note in basis.notes)


@pytest.mark.parametrize(
    ("option", "value", "allowed"),
    [("--difference", "0", "above 0"), ("--power", "1", "below 1"), ("--measure", "AB", "allowed: AA, BB, total")],
)
def test_power_refuses_what_is_out_of_range(tmp_path: Path, typed: Any, option: str, value: str, allowed: str):
    run = make_run(tmp_path / "run", {SMALL: POOR, LARGE: GOOD})
    options = {"--difference": "0.05", option: value}
    error = typed("power", run, *(part for pair in options.items() for part in pair)).exception
    assert isinstance(error, UserError)
    assert allowed in str(error)


def test_three_questions_are_enough_for_a_checklist_of_its_own(tmp_path: Path):
    """Two checklists have no dimension in common: compared anyway, only the whole is left."""
    one = make_run(tmp_path / "one", {SMALL: POOR})
    two = make_run(tmp_path / "two", {LARGE: [3] * 8}, checklist=THREE)
    assert set(compared(one, two, anyway=["checklist"]).panels[0].measures) == {"total"}
