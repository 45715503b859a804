"""Evidence: what judges write for turn ids, and which answers may rest on which turns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dramaturg.judge.checklist.answers import Decided
from dramaturg.judge.checklist.evidence import check_evidence, read_citations
from dramaturg.stage.transcript import Player
from judge_fixtures import CAST, TRIAL, trial

TRANSCRIPT = trial()


@pytest.mark.parametrize(
    "written",
    ["T7", "[T7]", "turn 7", "Turn 7", "7", "T07", "t7", "T7.", "(T7)", "turn T7", "turn id: T7", "**T7**", "T7: cuts"],
)
def test_every_way_to_write_a_turn_is_read(written: str):
    assert read_citations([written]) == ("T7",)


@pytest.mark.parametrize(
    "written", ["T2-T4", "T2–T4", "[T2 - T4]", "turns 2 to 4", "2-4", "T2 through T4", "T2...T4", "T2至T4", "T02-T04."]
)
def test_a_range_names_every_turn_in_it(written: str):
    assert read_citations([written]) == ("T2", "T3", "T4")


@pytest.mark.parametrize(("written", "read"), [("T4-T2", ("T4", "T2")), ("T2-T9999", ("T2", "T9999"))])
def test_a_range_that_is_none_names_its_ends(written: str, read: tuple[str, ...]):
    assert read_citations([written]) == read


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ([2.0], ("T2",)),
        ("[2.0]", ("T2",)),
        ({"id": "T2"}, ("T2",)),
        ([{"id": "T2", "text": "He said T9"}, {"turn": 3}], ("T2", "T3")),
        ([{"Turn ID": 4.0}], ("T4",)),
        ({"first": "T2", "second": "T3"}, ("T2", "T3")),
        ([True, None, "T5"], ("T5",)),
        (7, ("T7",)),
    ],
)
def test_numbers_and_objects_of_a_reply_are_read_as_turns(written: object, read: tuple[str, ...]):
    decided = Decided.model_validate({"answer": "no", "evidence": written})
    assert read_citations(decided.evidence) == read


@pytest.mark.parametrize("written", ["", "none", "None", "null", "[]", "n/a", "no evidence", " "])
def test_nothing_is_read_from_what_means_nothing(written: str):
    assert read_citations([written]) == ()


def test_a_list_in_one_text_is_taken_apart():
    assert read_citations(["T3, T4 and T3", "T5; [T6]"]) == ("T3", "T4", "T5", "T6")


def test_a_turn_that_does_not_exist_is_flagged_and_named_twice_counts_once():
    """FW-88: a judge that names turn 99, and turn 2 twice."""
    found = check_evidence(["T99", "T2", "turn 2"], "no", "for_no", TRANSCRIPT)
    assert found.turns == ("T2",)
    assert found.flags == ("evidence:unknown:T99",)


def test_a_no_without_any_turn_is_flagged():
    assert check_evidence([], "no", "for_no", TRANSCRIPT).flags == ("evidence:none",)
    assert check_evidence(["T99"], "no", "for_no", TRANSCRIPT).flags == ("evidence:unknown:T99", "evidence:none")


def test_a_yes_may_go_without_turns_unless_the_indicator_wants_them():
    assert check_evidence([], "yes", "for_no", TRANSCRIPT).flags == ()
    assert check_evidence([], "yes", "required", TRANSCRIPT).flags == ("evidence:none",)
    assert check_evidence([], "no", "none", TRANSCRIPT).flags == ()


def test_what_does_not_apply_needs_no_turn():
    assert check_evidence([], "not_applicable", "required", TRANSCRIPT).flags == ()


def test_an_answer_that_rests_on_a_persons_turn_alone_is_flagged_and_kept():
    found = check_evidence(["T5"], "no", "for_no", TRANSCRIPT)
    assert found.turns == ("T5",)
    assert found.flags == ("evidence:human:T5",)


def test_a_persons_turn_is_context_beside_a_models_turn():
    assert check_evidence(["T8", "T9"], "no", "for_no", TRANSCRIPT).flags == ()


def test_turns_of_the_procedure_and_of_a_script_are_named_as_such():
    scripted = trial(cast={**CAST, "defence": Player(kind="script", model="script:defence")})
    found = check_evidence(["T1", "T5"], "no", "for_no", scripted)
    assert found.flags == ("evidence:procedure:T1", "evidence:script:T5")


def test_an_exhibit_is_no_turn():
    assert check_evidence(["E3"], "no", "for_no", TRANSCRIPT).flags == ("evidence:unknown:E3", "evidence:none")


def test_a_quotation_is_flagged_short():
    flag = check_evidence(["x" * 900], "yes", "for_no", TRANSCRIPT).flags[0]
    assert flag.startswith("evidence:unknown:x") and len(flag) < 60


@given(st.lists(st.text(max_size=30), max_size=6), st.sampled_from(["yes", "no", "not_applicable"]))
def test_whatever_is_named_only_turns_that_exist_remain(named: list[str], answer: str):
    found = check_evidence(named, answer, "for_no", TRANSCRIPT)  # pyright: ignore[reportArgumentType]
    assert set(found.turns) <= {f"T{number}" for number in range(1, len(TRIAL) + 1)}
    assert len(found.turns) == len(set(found.turns))
