"""What a report says that each model of a run did: every call once, for the spec that the units name."""

from pathlib import Path

from dramaturg.cli.run import budget_of, carry_out, open_ledger
from dramaturg.prompts import load_prompt
from dramaturg.report import collect
from dramaturg.report.costs import costs
from dramaturg.report.data import RunFacts
from dramaturg.report.facts import facts_of_run, used_checklists
from dramaturg.run.material import read_material
from dramaturg.run.result import RunResult
from run_fixtures import write_study


def run(study: Path, out: Path) -> tuple[RunResult, RunFacts, int]:
    """Returns what became of a study, what its report knows, and how many calls its ledger has."""
    material = read_material(study)
    with open_ledger(out, "") as ledger:
        budget = budget_of(material.study.budgets, None, None, None)
        result = carry_out(material, out, ledger, budget, accept_changes=False)
        return result, facts_of_run(out, ledger, command=""), ledger.counts()["calls"]


def test_a_spec_with_other_options_does_not_count_the_same_calls_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    _, once, made = run(write_study(tmp_path), out)
    assert costs(once).calls == made > 0
    judges = [{"model": "script:critic.py?max_retries=2", "checklist": "short.yaml"}]
    result, again, _ = run(write_study(tmp_path, subjects=["script:actor.py?max_retries=2"], judges=judges), out)
    assert result.calls == 0
    assert costs(again).calls == made
    specs = {model.spec.rpartition("?")[2] for model in again.models if model.study_role != "fixed"}
    assert specs == {"max_retries=2"}


def test_one_model_in_several_parts_counts_each_call_for_one_of_them(tmp_path: Path) -> None:
    judges = [{"model": "script:actor.py", "checklist": "short.yaml"}]
    study = write_study(tmp_path, cast={"defence": "script:actor.py"}, judges=judges)
    _, found, made = run(study, tmp_path / "out")
    assert costs(found).calls == made


def test_two_subjects_of_one_model_have_calls_of_their_own(tmp_path: Path) -> None:
    hot = {"model": "script:actor.py?temperature=0.5", "name": "hot"}
    _, found, made = run(write_study(tmp_path, subjects=["script:actor.py", hot], seeds=2), tmp_path / "out")
    assert costs(found).calls == made
    subjects = [model for model in found.models if model.study_role == "subject"]
    assert len({model.spec for model in subjects}) == 2


def test_variants_of_the_prompts_are_subjects_of_their_own_in_a_report(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    changed = load_prompt("court-judge").source + "\nBe brief.\n"
    (tmp_path / "mine" / "court-judge.txt").write_text(changed, encoding="utf-8")
    out = tmp_path / "out"
    _, found, _ = run(write_study(tmp_path, prompts=["default", "mine"]), out)
    labels = {"script:actor.py", "script:actor.py with mine"}
    assert set(found.labels.values()) == set(found.planned_trials) == labels
    report = collect(out / "transcripts.jsonl", out / "judgements.jsonl", checklists=used_checklists(out), facts=found)
    assert {subject.label: (subject.trials, subject.planned) for subject in report.subjects} == {
        label: (2, 2) for label in labels
    }
    assert [one.subject for one in report.panels[0].subjects] == sorted(labels)
