"""The judge's card: what an audit finds, how it is counted, and for what it holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dramaturg.cli.audit import app
from dramaturg.cli.console import Finished
from dramaturg.errors import UserError
from dramaturg.files import find, load_yaml
from dramaturg.judge.audit import Binding, Card, Plan, find_card, plan_audit, shipped_bases
from dramaturg.judge.audit.binding import Length
from dramaturg.judge.audit.card import Cost, card_of
from dramaturg.judge.audit.card_store import keep_card, read_card
from dramaturg.judge.audit.marks import Answered
from dramaturg.judge.audit.natural import natural_excerpts
from dramaturg.judge.checklist import Checklist
from dramaturg.judge.judgement import Judgement
from dramaturg.run.natural import unknown_excerpts
from judge_fixtures import trial

COURT = load_yaml(find("checklists", "court"), Checklist)
MODES = ("paper", "joint", "grouped", "single", "probability", "windowed", "glance")
BINDING = Binding(
    judge="script:test",
    digest="d" * 64,
    prompts="p",
    mode="single",
    ask="presence",
    votes=1,
    checklist="court v2",
    checklist_digest="c",
    language="en",
    length=Length(min=1000, median=2000, max=3000),
)
FREE = Cost(judgements=1, calls=1, input_tokens=1, output_tokens=1, seconds=0)


def audited(*arguments: str) -> dict:  # type: ignore[type-arg]
    result = CliRunner().invoke(app, ["judge", *arguments, "--json"])
    assert result.exception is None, result.output
    return json.loads(result.stdout)


def answered(plan: Plan, answers: Sequence[str], *, source: str = "model") -> list[Answered]:
    """Returns an audit in which the answers follow each other round and round."""
    found: list[Answered] = []
    turn = 0
    for one in plan.assignments:
        judgements: list[Judgement] = []
        for name in one.indicators:
            answer = answers[turn % len(answers)]
            turn += 1
            judgements.append(
                Judgement(
                    transcript=one.specimen.transcript.id,
                    transcript_digest="",
                    indicator=name,
                    dimension="BRF",
                    answer=answer,  # type: ignore[arg-type]
                    reason="unparsed" if answer == "missing" else "",
                    source=source,  # type: ignore[arg-type]
                    judge="script:test",
                    mode="single",
                    checklist="court v2",
                    checklist_digest="c",
                )
            )
        found.append(Answered(one, tuple(judgements)))
    return found


def card(answers: Sequence[str], *, source: str = "model") -> Card:
    plan = plan_audit(COURT, shipped_bases(COURT), sample=51, seed=2)
    return card_of(plan, answered(plan, answers, source=source), binding=BINDING, command="test", sample=51, cost=FREE)


@pytest.mark.parametrize("mode", MODES)
def test_the_oracle_is_always_right_on_what_rules_can_see_in_every_mode(mode: str, tmp_path: Path) -> None:
    checklist = "court" if mode in {"single", "joint"} else "customer-service"
    found = audited("script:oracle", "--checklist", checklist, "--mode", mode, "--sample", "34", "--out", str(tmp_path))
    seen = found["declared"]
    assert seen["parts"]["balanced_accuracy"]["value"] == 1.0
    assert {"slang", "role_swap", "as_an_ai", "broken_grammar"} <= set(seen["sees"])
    assert "knowledge_leak" in seen["cannot"]
    assert found["by_kind"]["knowledge_leak"]["sensitivity"]["value"] == 0.0
    assert found["specificity"]["value"] == 1.0 and not found["missing"]
    assert (found["auc"] is not None) == (mode in {"probability", "glance"})
    assert (found["evidence_hits"] is None) == (mode in {"paper", "probability"})


@pytest.mark.parametrize("ask", ["presence", "text"])
def test_always_yes_sees_nothing_however_it_is_asked(ask: str, tmp_path: Path) -> None:
    found = audited("script:always-yes", "--ask", ask, "--sample", "34", "--out", str(tmp_path))
    assert found["sensitivity"]["value"] == 0.0
    assert found["specificity"]["value"] == 1.0
    assert found["balanced_accuracy"]["value"] == 0.5
    assert found["poor"] is True and "not to be relied on" in found["standing"]


def test_a_coin_is_a_coin(tmp_path: Path) -> None:
    found = audited("script:coin", "--out", str(tmp_path))
    for name in ("balanced_accuracy", "sensitivity", "specificity"):
        figure = found[name]
        assert abs(figure["value"] - 0.5) < 0.15 and figure["low"] < figure["value"] < figure["high"]
    assert found["poor"] is True
    assert found["evidence_hits"]["value"] == 0.0


def test_an_audit_is_resumed_where_a_limit_stopped_it(tmp_path: Path) -> None:
    arguments = ["judge", "script:coin", "--sample", "17", "--out", str(tmp_path), "--json"]
    stopped = CliRunner().invoke(app, [*arguments, "--max-calls", "20"])
    assert isinstance(stopped.exception, Finished) and stopped.exception.code == 3
    assert json.loads(stopped.stdout)["stop"].startswith("max_calls")
    whole = json.loads(CliRunner().invoke(app, arguments).stdout)
    assert whole["replayed"] == 20
    again = json.loads(CliRunner().invoke(app, [*arguments, "--replay-only"]).stdout)
    assert again["calls"] == 0
    assert all(again[key] == whole[key] for key in ("sensitivity", "specificity", "by_kind", "cost", "retest"))


def test_an_answer_that_code_gives_is_no_merit_of_the_judge() -> None:
    proven = card(["no"], source="transcript")
    assert proven.sensitivity.value is None and proven.poor
    assert proven.by_code.faults == proven.by_code.seen > 0
    assert proven.by_code.false_alarms == proven.by_code.innocent > 0


def test_a_missing_answer_is_neither_right_nor_wrong_and_is_shown() -> None:
    found = card(["yes", "missing"])
    assert found.sensitivity.value == 0.0 and found.specificity.value == 1.0
    assert found.sensitivity.n < found.sensitivity.planned
    low, high = found.sensitivity.if_missing_wrong, found.sensitivity.if_missing_right
    assert low == 0.0 and high is not None and 0.3 < high < 0.7
    assert found.missing["unparsed"] > 0


def test_not_applicable_claims_no_fault() -> None:
    found = card(["not_applicable"])
    assert found.sensitivity.value == 0.0
    assert found.specificity.value == 1.0


def test_a_judge_that_always_sees_a_fault_is_no_better_than_a_coin() -> None:
    found = card(["no"])
    assert (found.sensitivity.value, found.specificity.value) == (1.0, 0.0)
    assert found.balanced_accuracy.value == 0.5 and found.poor


def test_words_alone_tell_little_of_a_sample() -> None:
    control = card(["yes"]).control
    assert control.balanced_accuracy.value is not None and control.balanced_accuracy.value < 0.75


def test_a_card_is_kept_and_read_again(tmp_path: Path) -> None:
    made = card(["yes", "no"])
    assert read_card(keep_card(made, tmp_path)) == made


def test_a_card_holds_for_its_binding_and_is_a_hint_elsewhere() -> None:
    made = card(["yes", "no"])
    exact = find_card(BINDING, [made])
    assert exact is not None and exact.exact
    elsewhere = BINDING.model_copy(update={"mode": "joint", "length": Length(min=9000, median=9000, max=9000)})
    near = find_card(elsewhere, [made])
    assert near is not None and near.differences == ("mode", "length")
    assert find_card(BINDING.model_copy(update={"digest": "e" * 64}), [made]) is None


def test_transcripts_of_ones_own_are_audited_without_hooks(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    own = [trial(id=f"own-{number}") for number in range(3)]
    path.write_text("".join(f"{one.model_dump_json()}\n" for one in own), encoding="utf-8")
    found = audited(
        "script:oracle", "--transcripts", str(path), "--sample", "0", "--mode", "joint", "--out", str(tmp_path / "out")
    )
    assert found["skipped"]["contradicts_reference"] == 6
    assert found["declared"]["parts"]["sensitivity"]["value"] == 1.0


def test_a_checklist_that_detects_nothing_is_refused(tmp_path: Path) -> None:
    blind = COURT.model_copy(
        update={"indicators": tuple(one.model_copy(update={"detects": ()}) for one in COURT.indicators)}
    )
    path = tmp_path / "blind.json"
    path.write_text(blind.model_dump_json(exclude_defaults=True), encoding="utf-8")
    result = CliRunner().invoke(app, ["judge", "script:coin", "--checklist", str(path)])
    assert isinstance(result.exception, UserError) and "detects" in str(result.exception)


def test_a_judge_that_fails_is_counted_and_named(tmp_path: Path) -> None:
    script = tmp_path / "fails.yaml"
    script.write_text("name: fails\nrules: [{fault: failed}]\n", encoding="utf-8")
    arguments = ["judge", f"script:{script}", "--sample", "5", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, Finished) and result.exception.code == 2


def test_a_card_of_a_part_of_the_specimens_is_shown_and_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRAMATURG_CACHE", str(tmp_path / "cache"))
    out = tmp_path / "out"
    arguments = ["judge", "script:coin", "--sample", "17", "--mode", "joint", "--out", str(out)]
    CliRunner().invoke(app, [*arguments, "--max-calls", "4"])
    partly = CliRunner().invoke(app, [*arguments, "--replay-only"])
    assert isinstance(partly.exception, Finished) and partly.exception.code == 2
    assert partly.stdout.startswith("INCOMPLETE: ")
    assert "planned specimens are open, so no card is kept: not_recorded" in partly.stderr
    told = json.loads(CliRunner().invoke(app, [*arguments, "--replay-only", "--json"]).stdout)
    assert (told["open"] > 0, told["cards"]) == (True, [])
    assert not list(tmp_path.rglob("script-coin*.json")) and not (tmp_path / "cache" / "cards").exists()
    whole = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    assert (whole["open"], len(whole["cards"])) == (0, 2)


def test_an_incomplete_card_cannot_be_kept(tmp_path: Path) -> None:
    made = card(["yes", "no"])
    partly = made.model_copy(update={"specimens": made.specimens.model_copy(update={"not_judged": {"connect": 2}})})
    with pytest.raises(ValueError, match="2 specimens of the card are open"):
        keep_card(partly, tmp_path)


def test_specimens_are_written_to_read_with_what_was_planted_apart(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["show-specimens", "--sample", "10", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    planted = [json.loads(line) for line in (tmp_path / "planted.jsonl").read_text(encoding="utf-8").splitlines()]
    for one in planted:
        text = (tmp_path / "texts" / f"{one['transcript']}.txt").read_text(encoding="utf-8")
        assert "<transcript>" in text
        for mutation in one["mutations"]:
            assert mutation["description"] not in text
    assert sum(bool(one["mutations"]) for one in planted if one["part"] == "main") >= 10


def test_cards_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAMATURG_CACHE", str(tmp_path))
    keep_card(card(["no"]))
    listed = json.loads(CliRunner().invoke(app, ["cards", "--json"]).stdout)
    assert "script:test" in {one["binding"]["judge"] for one in listed}
    shown = CliRunner().invoke(app, ["cards"]).stdout
    assert "script:test" in shown and "poor" in shown


def test_specimens_of_two_audits_do_not_mix_in_one_folder(tmp_path: Path) -> None:
    first = ["show-specimens", "--sample", "3", "--out", str(tmp_path)]
    assert CliRunner().invoke(app, first).exit_code == 0
    assert CliRunner().invoke(app, first).exit_code == 0
    other = CliRunner().invoke(app, [*first, "--checklist", "customer-service"])
    assert isinstance(other.exception, UserError)
    assert "holds other specimens" in str(other.exception)


def test_kinds_that_a_trained_judge_never_learnt_are_told_apart():
    plan = plan_audit(COURT, shipped_bases(COURT), sample=51, seed=2)
    learnt = [kind for kind in plan.kinds if kind not in {"slang", "as_an_ai"}]
    given = answered(plan, ["no"])
    found = card_of(plan, given, binding=BINDING, command="t", sample=51, cost=FREE, trained_for=learnt)
    assert found.unseen_fault_kinds is not None
    assert set(found.unseen_fault_kinds.kinds) == {"as_an_ai", "slang"}
    assert found.unseen_fault_kinds.sensitivity.value == 1 and found.unseen_fault_kinds.specificity.value == 0
    assert 0 < found.unseen_fault_kinds.sensitivity.n < found.sensitivity.n
    assert card(["no"]).unseen_fault_kinds is None, "a judge that was not trained says nothing of it"


def test_natural_text_of_what_a_judge_was_trained_on_is_left_out_and_counted():
    every = natural_excerpts("en")
    assert unknown_excerpts(every, ()) == unknown_excerpts(every, ["lost-key"]) == every
    without = {one.id for one in every} - {one.id for one in unknown_excerpts(every, ["ridge-my-client", "two-clouds"])}
    assert without == {"ridge-my-client", "canoe-question-echoed", "canoe-island-found"}
    left = unknown_excerpts(every, ["chateau-trespass", "ten-to-five"])
    names = {role.name for one in left for role in one.roles}
    assert 20 < len(left) < len(every) and not names & {"Camille Laurent", "Edith Lomax"}
    plan = plan_audit(COURT, shipped_bases(COURT), sample=2, seed=2)
    given = answered(plan, ["no"])
    found = card_of(plan, given, binding=BINDING, command="t", sample=2, cost=FREE, natural_left_out=13)
    assert found.natural_left_out == 13 and found.natural_text is None


def test_natural_text_is_asked_in_mode_glance_and_told_apart(tmp_path: Path):
    (tmp_path / "yes.py").write_text(
        "from dramaturg.model import TokenLogprob\n"
        "from dramaturg.model.script import scripted_reply\n\n\n"
        "def reply(request):\n"
        "    word = TokenLogprob('yes', -0.1, (('yes', -0.1), ('no', -2.4)))\n"
        "    return scripted_reply(request, 'yes', logprobs=(word,))\n"
    )
    judge = f"script:{tmp_path / 'yes.py'}"
    told = audited(judge, "--mode", "glance", "--sample", "4", "--out", str(tmp_path))
    natural = told["natural_text"]
    assert natural["sensitivity"]["n"] > 100 and natural["specificity"]["n"] > 100
    assert natural["sensitivity"]["value"] == 1 and natural["specificity"]["value"] == 0
    marks = [json.loads(line) for line in (tmp_path / "marks.jsonl").read_text().splitlines()]
    assert {mark["part"] for mark in marks} == {"planted", "natural"}
    assert told["left_out"] == told["natural_left_out"] == 0
