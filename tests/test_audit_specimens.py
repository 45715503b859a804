"""Specimens of an audit: planted faults are there, harmless edits are harmless, and the plan is spread evenly."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from dramaturg.errors import ContentError
from dramaturg.files import find, load_yaml
from dramaturg.judge.audit import Base, plan_audit, shipped_bases
from dramaturg.judge.audit.clean import load_base
from dramaturg.judge.audit.draft import Draft, sentences
from dramaturg.judge.audit.operators import BY_KIND, OPERATORS, mutate
from dramaturg.judge.audit.patterns import DECIDES
from dramaturg.judge.audit.phrases import Rewording
from dramaturg.judge.audit.plan import SEVERITIES, detecting
from dramaturg.judge.audit.shams import SHAMS, disguise
from dramaturg.judge.checklist import Checklist
from dramaturg.judge.checklist.proofs import prove
from judge_fixtures import trial

COURT = load_yaml(find("checklists", "court"), Checklist)
SERVICE = load_yaml(find("checklists", "customer-service"), Checklist)
LISTS = pytest.mark.parametrize("checklist", [COURT, SERVICE], ids=["court", "customer-service"])

CLEAN = """
id: tea-shop
checklist: customer-service
scenario: {id: tea, title: Tea, reference: "Clause 1: Broken cups are replaced."}
roles:
  - {id: agent, kind: agent, name: Ann Lee, played_by: model}
  - {id: customer, kind: customer, name: Bo Ray, played_by: human}
turns:
  - {role: customer, text: "My cup came broken."}
  - {role: agent, text: "I am sorry to hear it. Under clause 1 we replace the cup."}
hooks:
  contradicts_reference:
    - turn: T2
      mild: {find: "we replace the cup", put: "we replace half of the cup"}
      severe: {say: "Clause 1 forbids any replacement."}
      note: "Clause 1."
"""


def kinds_of(checklist: Checklist) -> list[str]:
    return list(dict.fromkeys(kind for one in checklist.indicators for kind in one.detects))


def test_there_are_at_least_sixteen_operators_and_one_for_every_detected_kind() -> None:
    assert len(OPERATORS) >= 16
    assert {*kinds_of(COURT), *kinds_of(SERVICE)} <= set(BY_KIND)


@LISTS
def test_every_kind_can_be_planted_at_both_severities_in_every_shipped_transcript(checklist: Checklist) -> None:
    for base in shipped_bases(checklist):
        for kind in kinds_of(checklist):
            for severity in SEVERITIES:
                made = mutate(base, [(kind, severity)], Random(f"{base.id}/{kind}/{severity}"))
                assert made is not None, (base.id, kind, severity)
                draft, (mutation,) = made
                assert draft.transcript != base.transcript
                assert detecting(checklist, mutation), (base.id, mutation)
                judged = {turn.id for turn in draft.transcript.judged_turns()}
                assert mutation.turns and judged.issuperset(mutation.turns)
                before = {turn.id: turn.text for turn in base.transcript.turns}
                changed = {turn.id for turn in draft.transcript.turns if turn.text != before[turn.id]}
                assert changed == set(mutation.turns)


def test_a_seed_gives_the_same_fault_and_another_seed_other_words() -> None:
    base = shipped_bases(COURT)[0]
    made = [mutate(base, [("slang", "mild")], Random(seed)) for seed in (1, 1, *range(2, 30))]
    said = [one[1][0].description for one in made if one is not None]
    assert said[0] == said[1]
    assert len(set(said)) > 5


def test_faults_are_composed_in_turns_of_their_own() -> None:
    base = shipped_bases(COURT)[0]
    made = mutate(base, [("slang", "mild"), ("as_an_ai", "severe"), ("knowledge_leak", "mild")], Random(4))
    assert made is not None
    turns = [turn for mutation in made[1] for turn in mutation.turns]
    assert len(turns) == len(set(turns)) == 3


def test_a_transcript_without_hooks_gets_the_faults_that_need_none() -> None:
    base = Base(trial())
    made = {kind for kind in BY_KIND if mutate(base, [(kind, "severe")], Random(1)) is not None}
    assert {"slang", "loop", "role_swap", "judge_opines_guilt", "invented_evidence", "non_sequitur"} <= made
    assert made.isdisjoint({operator.kind for operator in OPERATORS if operator.needs_hook})


@LISTS
def test_the_record_of_the_end_tells_nothing_of_a_verdict(checklist: Checklist) -> None:
    plan = plan_audit(checklist, shipped_bases(checklist), sample=80, seed=2)
    for one in plan.assignments:
        shown = one.specimen.transcript
        assert (shown.outcome, shown.end_reason) == (None, "imported")
        assert prove("outcome_present", shown) is None, "a judge must read whether there is a verdict"


def test_a_missing_verdict_leaves_a_turn_that_decides_nothing_and_is_shorter_where_it_is_plain() -> None:
    for base in shipped_bases(COURT):
        said: dict[str, list[str]] = {}
        for severity in SEVERITIES:
            for seed in range(4):
                made = mutate(base, [("missing_verdict", severity)], Random(seed))
                assert made is not None
                draft, (mutation,) = made
                last = draft.transcript.turns[-1]
                assert mutation.turns == (last.id,)
                assert not DECIDES.search(last.text), last.text
                said.setdefault(severity, []).append(last.text)
        assert max(map(len, said["severe"])) < min(map(len, said["mild"]))


def test_a_loop_is_proved_by_the_transcript_and_goes_on_where_it_is_severe() -> None:
    for base in [*shipped_bases(COURT), *shipped_bases(SERVICE)]:
        for severity in SEVERITIES:
            made = mutate(base, [("loop", severity)], Random(base.id))
            assert made is not None
            draft, (mutation,) = made
            proven = prove("no_loop", draft.transcript)
            assert proven is not None and proven.answer == "no"
            assert len(mutation.turns) >= 2 if severity == "severe" else len(mutation.turns) == 1


@pytest.mark.parametrize("kind", ["loop", "as_an_ai", "role_swap", "non_sequitur", "slang"])
def test_no_other_fault_takes_the_verdict_away(kind: str) -> None:
    for base in shipped_bases(COURT):
        for severity in SEVERITIES:
            for seed in range(25):
                made = mutate(base, [(kind, severity)], Random(seed))
                if made is not None:
                    assert DECIDES.search(made[0].transcript.turns[-1].text), made[1][0].description


def test_a_witness_who_asks_asks_counsel() -> None:
    base = shipped_bases(COURT)[0]
    for severity in SEVERITIES:
        for seed in range(20):
            made = mutate(base, [("witness_questions", severity)], Random(seed))
            assert made is not None and "counsel" in made[1][0].description


def test_a_mild_mistake_of_grammar_is_in_the_turns_own_words() -> None:
    for base in [*shipped_bases(COURT), *shipped_bases(SERVICE)]:
        before = {turn.id: turn.text for turn in base.transcript.turns}
        for seed in range(10):
            made = mutate(base, [("broken_grammar", "mild")], Random(seed))
            assert made is not None
            (name,) = made[1][0].turns
            turn = made[0].turn(name)
            assert turn is not None
            old, new = before[name].split(), turn.text.split()
            assert len(old) == len(new)
            assert sum(one != other for one, other in zip(old, new, strict=True)) == 1


def test_a_fault_of_content_is_not_always_the_same_roles() -> None:
    for kind in ("contradicts_reference", "non_sequitur"):
        found = {
            made[1][0].role
            for base in shipped_bases(COURT)
            for seed in range(6)
            if (made := mutate(base, [(kind, "mild")], Random(seed))) is not None
        }
        assert len(found) >= 2, kind


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('He said, "I fell." Then he left.', ['He said, "I fell."', "Then he left."]),
        ("He fell. (It was dark.) Then he left.", ["He fell.", "(It was dark.)", "Then he left."]),
        ('"I held him. I could not hold him." Those were the words.', None),
        ("Mr. Lee came. He left [at noon.] Nobody knew.", ["Mr. Lee came.", "He left [at noon.]", "Nobody knew."]),
    ],
)
def test_what_closes_a_quotation_stays_with_its_sentence(text: str, parts: list[str] | None) -> None:
    expected = parts or ['"I held him. I could not hold him."', "Those were the words."]
    assert sentences(text) == expected


def test_a_rewording_leaves_what_is_quoted() -> None:
    rule = Rewording(find=r"\bI shall\b", put="I will")
    assert (
        rule.of('I shall read: "I shall see to it." I shall stop.') == 'I will read: "I shall see to it." I will stop.'
    )
    assert rule.of("“I shall see.” I shall go. I shall stay.", most=1) == "“I shall see.” I will go. I shall stay."


@LISTS
def test_shams_change_the_text_and_nothing_that_is_proved(checklist: Checklist) -> None:
    done: Counter[str] = Counter()
    for base in shipped_bases(checklist):
        for name in SHAMS:
            made = disguise(base, name, Random(f"{base.id}/{name}"))
            if made is None:
                continue
            draft, (mutation,) = made
            done[name] += 1
            clean = Draft.of(base).transcript
            pairs = list(zip(clean.turns, draft.transcript.turns, strict=True))
            assert mutation.sham and any(one.text != other.text for one, other in pairs)
            assert mutation.turns == tuple(one.id for one, other in pairs if one != other)
            assert len(draft.transcript.turns) == len(base.transcript.turns)
            for proof in ("outcome_present", "no_loop", "names_known", "evidence_known", "no_empty_turn"):
                before, after = prove(proof, clean), prove(proof, draft.transcript)  # type: ignore[arg-type]
                assert (before and before.answer) == (after and after.answer), (base.id, name, proof)
    # What is said in a shop hangs together: no two sentences there may change places.
    assert set(SHAMS) - set(done) <= ({"reorder"} if checklist is SERVICE else set())


def test_a_changed_name_is_changed_everywhere() -> None:
    base = shipped_bases(COURT)[0]
    made = disguise(base, "rename", Random(2))
    assert made is not None
    old, _, new = made[1][0].description.partition(" is called ")
    text = made[0].transcript.model_dump_json()
    assert f" {old}" not in text
    assert new.split()[0] in made[0].transcript.scenario.reference


def test_a_plan_is_spread_over_kinds_severities_and_bases() -> None:
    bases = shipped_bases(COURT)
    plan = plan_audit(COURT, bases, sample=68, seed=3)
    mutants = [one for one in plan.of("main") if one.specimen.faults]
    faults = [one.specimen.faults[0] for one in mutants]
    assert len(mutants) == 68
    assert set(Counter(fault.kind for fault in faults).values()) == {4}
    assert set(Counter((fault.kind, fault.severity) for fault in faults).values()) == {2}
    assert max(Counter(one.specimen.base for one in mutants).values()) <= 7


def test_innocents_are_asked_what_the_mutants_of_their_base_are_asked() -> None:
    plan = plan_audit(SERVICE, shipped_bases(SERVICE), sample=40, seed=3)
    asked: dict[str, set[str]] = {}
    for one in plan.of("main"):
        if one.specimen.faults:
            asked.setdefault(one.specimen.base, set()).update(one.indicators)
    innocent = [one for one in plan.of("main") if not one.specimen.faults]
    assert len(innocent) == 2 * len(asked)
    assert all(set(one.indicators) == asked[one.specimen.base] for one in innocent)


def test_a_plan_is_the_same_for_the_same_seed_and_its_ids_tell_nothing() -> None:
    bases = shipped_bases(COURT)
    one, same, other = (plan_audit(COURT, bases, sample=30, seed=seed) for seed in (5, 5, 6))
    assert one == same != other
    ids = [assignment.specimen.transcript.id for assignment in one.of("main")]
    assert len(set(ids)) == len(ids)
    assert all(len(name) == 12 and set(name) <= set("0123456789abcdef") for name in ids)


def test_an_instructed_mutant_holds_the_fault_of_its_twin_and_the_instructions() -> None:
    plan = plan_audit(COURT, shipped_bases(COURT), sample=60, seed=1)
    twins = {one.specimen.transcript.id: one.specimen for one in plan.of("main")}
    assert plan.of("instructed")
    for one in plan.of("instructed"):
        first, second = one.specimen.mutations
        assert (first,) == twins[one.twin].mutations
        assert second.kind == "planted_instructions"
        assert set(first.turns).isdisjoint(second.turns)


def test_mutants_without_a_hook_are_skipped_and_counted() -> None:
    plan = plan_audit(COURT, [Base(trial())], sample=None, seed=1)
    assert plan.skipped["knowledge_leak"] == 2
    assert "slang" not in plan.skipped


def test_a_clean_file_is_read_with_its_hooks(tmp_path: Path) -> None:
    path = tmp_path / "tea.yaml"
    path.write_text(CLEAN, encoding="utf-8")
    base = load_base(path)
    assert [turn.human for turn in base.transcript.turns] == [True, False]
    made = mutate(base, [("contradicts_reference", "severe")], Random(1))
    assert made is not None and made[0].transcript.turns[1].text == "Clause 1 forbids any replacement."


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('find: "we replace the cup"', 'find: "we mend the cup"', "stands 0 times in T2"),
        ('put: "we replace half of the cup"', 'put: "we replace the cup"', "mild: changes nothing in T2"),
        ("Clause 1 forbids any replacement.", " ", "severe: leaves T2 empty"),
        ("turn: T2", "turn: T7", "there is no turn T7"),
        ("{role: agent, text", "{role: clerk, text", "no role 'clerk'"),
        ('{say: "Clause 1 forbids any replacement."}', "{note: x}", "note"),
    ],
)
def test_a_wrong_clean_file_is_refused_with_its_fault(tmp_path: Path, old: str, new: str, told: str) -> None:
    path = tmp_path / "tea.yaml"
    path.write_text(CLEAN.replace(old, new), encoding="utf-8")
    with pytest.raises(ContentError, match=told):
        load_base(path)
