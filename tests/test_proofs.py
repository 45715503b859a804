"""What the transcript itself proves, without a model."""

import pytest

from dramaturg.judge.checklist.proofs import prove
from dramaturg.stage.transcript import Outcome, Player
from judge_fixtures import CAST, ROLES, TRIAL, restart, trial


def test_a_trial_that_ran_to_its_end_is_proved_in_every_respect():
    transcript = trial()
    answers = {
        proof: prove(proof, transcript)
        for proof in ("end_reached", "outcome_present", "no_restart", "no_loop", "final_theses_given")
    }
    assert all(proven is not None and proven.answer == "yes" and proven.reasoning for proven in answers.values())


@pytest.mark.parametrize("reason", ["restarts_exhausted", "turn_limit", "empty_turns", "context_overflow"])
def test_a_trial_that_broke_off_did_not_reach_its_end(reason: str):
    proven = prove("end_reached", trial(end_reason=reason))
    assert proven is not None and proven.answer == "no"
    assert reason in proven.reasoning and proven.evidence == ("T14",)


def test_an_undecided_trial_reached_its_end_without_an_outcome():
    transcript = trial(end_reason="undecided", outcome=Outcome(label="undecided"))
    end, outcome = prove("end_reached", transcript), prove("outcome_present", transcript)
    assert end is not None and end.answer == "yes"
    assert outcome is not None and outcome.answer == "no"


def test_restarts_are_told_by_cause():
    proven = prove("no_restart", trial(restarts=(restart("loop"), restart("empty", 1), restart("loop", 2))))
    assert proven is not None and proven.answer == "no"
    assert "loop × 2" in proven.reasoning and "empty × 1" in proven.reasoning


def test_an_imported_log_proves_nothing_of_what_it_does_not_record():
    turns = [(role, "", text) for role, _, text in TRIAL]
    imported = trial(turns, end_reason="imported", outcome=None)
    for proof in ("end_reached", "outcome_present", "no_restart", "final_theses_given"):
        assert prove(proof, imported) is None
    assert prove("no_loop", imported) is not None


def said(role: str, *texts: str):
    return trial([("procedure", "introduction", "Opened."), *((role, "interrogation", text) for text in texts)])


LONG = "The letters show that the defendant wanted the screen gone, and the cuts show that somebody did it."


def test_a_turn_that_comes_back_in_nearly_the_same_words_is_a_loop():
    proven = prove("no_loop", said("prosecutor", LONG, "Ms Quill, what did you see?", LONG.replace(",", " –").upper()))
    assert proven is not None and proven.answer == "no"
    assert proven.evidence == ("T2", "T4")


def test_a_short_ruling_may_come_back_but_not_without_end():
    twice = prove("no_loop", said("judge", "Sustained.", "Sustained."))
    assert twice is not None and twice.answer == "yes"
    thrice = prove("no_loop", said("judge", "Sustained.", "Sustained.", "Sustained."))
    assert thrice is not None and thrice.answer == "no"


def test_a_loop_of_the_defence_is_not_judged():
    proven = prove("no_loop", said("defence", LONG, LONG))
    assert proven is not None and proven.answer == "yes"


def test_two_speakers_may_say_the_same():
    transcript = trial([("prosecutor", "interrogation", LONG), ("judge", "interrogation", LONG)])
    proven = prove("no_loop", transcript)
    assert proven is not None and proven.answer == "yes"


def test_two_witnesses_of_one_role_kind_do_not_repeat_each_other():
    second = ROLES[3].model_copy(update={"id": "witness:tom-ferris", "name": "Tom Ferris"})
    transcript = trial(
        [("witness:ida-quill", "interrogation", LONG), ("witness:tom-ferris", "interrogation", LONG)],
        roles=(*ROLES, second),
        cast={**CAST, second.id: Player(kind="model")},
    )
    proven = prove("no_loop", transcript)
    assert proven is not None and proven.answer == "yes"


@pytest.mark.parametrize("absent", ["prosecutor", "defence"])
def test_a_side_without_a_turn_in_the_last_phase_had_no_final_thesis(absent: str):
    turns = [turn for turn in TRIAL if not (turn[1] == "verdict" and turn[0] == absent)]
    proven = prove("final_theses_given", trial(turns))
    assert proven is not None and proven.answer == "no"
    assert absent in proven.reasoning


def test_a_final_thesis_need_not_be_used():
    turns = [(role, phase, "" if (role, phase) == ("defence", "verdict") else text) for role, phase, text in TRIAL]
    proven = prove("final_theses_given", trial(turns))
    assert proven is not None and proven.answer == "yes"
