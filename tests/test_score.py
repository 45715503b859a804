"""Scores: equation 4, means of sub-dimensions, the denominator's rule, bounds, restarts."""

import json
from dataclasses import asdict

import pytest

from dramaturg.judge.checklist.attempts import attempts, retry_rate
from dramaturg.judge.checklist.checklist import Checklist
from dramaturg.judge.checklist.score import TranscriptScores, score_transcript, summarise
from dramaturg.judge.judgement import Judgement
from dramaturg.stage.transcript import Scenario, Transcript
from judge_fixtures import checklist, restart, trial

SMALL = checklist()


def answered(transcript: Transcript, by: Checklist, answers: dict[str, str]) -> list[Judgement]:
    """Returns one judgement per answer; ``missing:REASON`` is a missing one."""
    return [
        Judgement.model_validate(
            {
                "transcript": transcript.id,
                "transcript_digest": transcript.digest,
                "indicator": name,
                "dimension": "",
                "answer": answer.partition(":")[0],
                "reason": answer.partition(":")[2],
                "judge": "script:judge",
                "mode": "single",
                "checklist": by.id,
                "checklist_digest": by.hash,
            }
        )
        for name, answer in answers.items()
    ]


def scored(by: Checklist = SMALL, transcript: Transcript | None = None, **answers: str) -> TranscriptScores:
    transcript = transcript or trial()
    named = {name.replace("_", "-"): answer for name, answer in answers.items()}
    return score_transcript(transcript, by, answered(transcript, by, named))


def in_case(case: str, number: int) -> Transcript:
    return trial(id=f"{case}/{number}", scenario=Scenario(id=case, title=case))


def test_equation_4_and_the_mean_of_subdimensions_differ_and_are_both_given():
    """RA: 1 of 2, RB: 1 of 1, L: 2 of 2. Equation 4: 4/5; mean of sub-dimensions: (.5 + 1 + 1)/3."""
    scores = scored(R_1="yes", R_2="no", R_3="yes", L_1="yes", L_2="yes")
    assert scores.total.quality.value == pytest.approx(0.8)
    assert scores.total.subdimension_mean.value == pytest.approx(2.5 / 3)
    assert scores.dimensions["R"].quality.value == pytest.approx(2 / 3)
    assert scores.dimensions["R"].subdimension_mean.value == pytest.approx(0.75)
    assert scores.subdimensions["RA"].quality.value == pytest.approx(0.5)
    assert scores.dimensions["L"].subdimension_mean == scores.dimensions["L"].quality


def test_both_levels_and_the_total_are_scored():
    """I55, C14: a checklist with two groups has every level."""
    scores = scored(R_1="yes", R_2="yes", R_3="yes", L_1="no", L_2="no")
    assert set(scores.dimensions) == {"R", "L"} and set(scores.subdimensions) == {"RA", "RB"}
    assert scores.dimensions["L"].quality.value == 0.0


def test_a_missing_answer_is_not_a_no():
    """I04, I19, C05, FW-01: it leaves numerator and denominator, is counted with its reason, and opens the bounds."""
    scores = scored(R_1="yes", R_2="missing:unparsed", R_3="yes", L_1="missing:refused", L_2="no").total
    assert scores.quality.value == pytest.approx(2 / 3)
    assert (scores.quality.used, scores.quality.planned) == (3, 5)
    assert (scores.quality.low, scores.quality.high) == (pytest.approx(2 / 5), pytest.approx(4 / 5))
    assert scores.missing == {"unparsed": 1, "refused": 1}


def test_what_does_not_apply_leaves_the_denominator():
    scores = scored(R_1="yes", R_2="no", R_3="yes", L_1="not_applicable", L_2="yes").total
    assert (scores.quality.used, scores.quality.planned, scores.not_applicable) == (4, 4, 1)
    assert scores.quality.value == pytest.approx(3 / 4)
    assert scores.quality.low == scores.quality.high == scores.quality.value


def test_an_indicator_without_a_judgement_is_missing():
    """C21, C24, C27: what the judge leaves out neither vanishes nor becomes a value."""
    scores = scored(R_1="yes", R_2="yes", R_3="yes").total
    assert (scores.quality.value, scores.quality.used, scores.quality.planned) == (1.0, 3, 5)
    assert scores.missing == {"left_out": 2}


def test_all_missing_is_no_score_rather_than_zero():
    """C17, I22: nothing answered has no value; its bounds are 0 and 1."""
    scores = scored(**dict.fromkeys(("R_1", "R_2", "R_3", "L_1", "L_2"), "missing:unparsed"))
    for part in (scores.total, *scores.dimensions.values(), *scores.subdimensions.values()):
        for share in (part.quality, part.subdimension_mean, part.weighted):
            assert (share.value, share.low, share.high, share.used) == (None, 0.0, 1.0, 0)


def test_nothing_applicable_has_neither_value_nor_bounds():
    scores = scored(**dict.fromkeys(("R_1", "R_2", "R_3", "L_1", "L_2"), "not_applicable")).total
    assert (scores.quality.value, scores.quality.low, scores.quality.high) == (None, None, None)


def test_no_score_exports_as_null():
    """I23: neither NaN nor 0 in an export."""
    exported = json.dumps(asdict(scored().total), allow_nan=False)
    assert '"value": null' in exported and "NaN" not in exported


def test_weights_count_in_the_weighted_score_alone():
    weighted = checklist(
        {"id": "R-1", "text": "A?", "dimension": "R", "weight": 3.0}, {"id": "R-2", "text": "B?", "dimension": "R"}
    )
    scores = scored(weighted, R_1="yes", R_2="no").total
    assert (scores.quality.value, scores.weighted.value) == (0.5, 0.75)


def test_a_negative_indicator_is_scored_reversed():
    negative = checklist(
        {"id": "R-1", "text": "Is it bad?", "dimension": "R", "sign": "negative"},
        {"id": "R-2", "text": "Is it good?", "dimension": "R"},
    )
    assert scored(negative, R_1="no", R_2="yes").total.quality.value == 1.0
    assert scored(negative, R_1="yes", R_2="yes").total.quality.value == 0.5


def test_restarts_are_counted_by_cause():
    transcript = trial(restarts=(restart("loop"), restart("empty", 1), restart("loop", 2)))
    assert scored(SMALL, transcript).restarts == {"loop": 2, "empty": 1}


def test_two_answers_to_one_indicator_are_refused():
    transcript = trial()
    twice = answered(transcript, SMALL, {"R-1": "yes"}) * 2
    with pytest.raises(ValueError, match="two judgements answer 'R-1'"):
        score_transcript(transcript, SMALL, twice)


def test_judgements_of_something_else_are_refused():
    transcript = trial()
    with pytest.raises(ValueError, match="no indicator 'X-9'"):
        score_transcript(transcript, SMALL, answered(transcript, SMALL, {"X-9": "yes"}))
    with pytest.raises(ValueError, match="a judgement about 'other'"):
        score_transcript(transcript, SMALL, answered(trial(id="other"), SMALL, {"R-1": "yes"}))


def test_repeats_are_reduced_per_scenario_before_the_mean_is_taken():
    """FW-84, FW-85: a case with four seeds weighs as much as one with a single seed."""
    all_yes = dict.fromkeys(("R_1", "R_2", "R_3", "L_1", "L_2"), "yes")
    many = [scored(SMALL, in_case("a", number), **all_yes) for number in range(4)]
    one = [scored(SMALL, in_case("b", 0), **{**all_yes, "R_1": "no", "R_2": "no"})]
    figure = summarise(many + one).total.quality
    assert figure.estimate.value == pytest.approx((1.0 + 0.6) / 2)
    assert (figure.estimate.n_used, figure.estimate.clusters) == (5, 2)


def test_one_case_has_no_interval_and_says_why():
    figure = summarise([scored(R_1="yes"), scored(R_1="no")]).total.quality
    assert (figure.estimate.low, figure.estimate.high) == (None, None)
    assert "one cluster" in figure.estimate.reason


def test_a_transcript_without_answers_is_missing_from_the_mean_and_shows():
    """I20, C05, I19: a failed transcript is neither a zero nor gone."""
    all_yes = dict.fromkeys(("R_1", "R_2", "R_3", "L_1", "L_2"), "yes")
    failed = dict.fromkeys(all_yes, "missing:judge_failed")
    study = summarise(
        [
            scored(SMALL, in_case("a", 0), **all_yes),
            scored(SMALL, in_case("b", 0), **all_yes),
            scored(SMALL, in_case("c", 0), **failed),
        ]
    )
    figure = study.total.quality
    assert (figure.estimate.value, figure.estimate.n_used, figure.estimate.n_planned) == (1.0, 2, 3)
    assert (figure.low, figure.high) == (pytest.approx(2 / 3), 1.0)
    assert study.missing == {"judge_failed": 5}


def test_summing_nothing_is_refused():
    with pytest.raises(ValueError, match="no transcript was scored"):
        summarise([])


def probable(by: Checklist, **chances: float | None) -> TranscriptScores:
    """Scores of answers with a probability; None is an answer that the transcript itself proves to be a yes."""
    transcript = trial()
    named = {name.replace("_", "-"): chance for name, chance in chances.items()}
    answers = {name: "yes" if chance is None or chance >= 0.5 else "no" for name, chance in named.items()}
    judged = [
        judgement.model_copy(
            update={"source": "transcript"}
            if named[judgement.indicator] is None
            else {"probability": named[judgement.indicator]}
        )
        for judgement in answered(transcript, by, answers)
    ]
    return score_transcript(transcript, by, judged)


def test_the_probabilistic_score_is_the_mean_probability_of_the_good_answer():
    by = checklist(
        {"id": "R-1", "text": "Is it bad?", "dimension": "R", "sign": "negative"},
        {"id": "R-2", "text": "Is it good?", "dimension": "R"},
        {"id": "R-3", "text": "Has it an end?", "dimension": "R"},
        {"id": "R-4", "text": "Is it left out?", "dimension": "R"},
    )
    share = probable(by, R_1=0.2, R_2=0.6, R_3=None).total.probabilistic
    assert share.value == pytest.approx((0.8 + 0.6 + 1.0) / 3)
    assert (share.used, share.planned) == (3, 4)
    assert (share.low, share.high) == (pytest.approx(2.4 / 4), pytest.approx(3.4 / 4))


def test_without_any_probability_there_is_no_probabilistic_score():
    scores = scored(R_1="yes", R_2="no").total.probabilistic
    assert (scores.value, scores.low, scores.used, scores.planned) == (None, None, 0, 0)


def test_a_role_is_scored_by_the_indicators_about_it_alone():
    by = checklist(
        {"id": "R-1", "text": "A?", "dimension": "R", "roles": ["judge"]},
        {"id": "R-2", "text": "B?", "dimension": "R", "roles": ["judge", "witness"]},
        {"id": "R-3", "text": "C?", "dimension": "R"},
    )
    scores = scored(by, R_1="yes", R_2="no", R_3="no")
    assert {role: one.quality.value for role, one in scores.roles.items()} == {"judge": 0.5, "witness": 0.0}
    assert summarise([scores]).roles["judge"].quality.estimate.value == 0.5


def test_a_trial_that_began_anew_has_no_completed_first_attempt():
    """Two of four trials came through at once, one at its second attempt, one never."""
    all_yes = dict.fromkeys(("R_1", "R_2", "R_3", "L_1", "L_2"), "yes")
    worse = {**all_yes, "R_1": "no"}
    at_last = in_case("b", 1).model_copy(update={"restarts": (restart("loop"),)})
    broken = in_case("b", 2).model_copy(
        update={"restarts": (restart("loop"), restart("empty", 1)), "end_reason": "restarts_exhausted"}
    )
    study = [
        scored(SMALL, in_case("a", 0), **worse),
        scored(SMALL, in_case("b", 0), **worse),
        scored(SMALL, at_last, **all_yes),
        scored(SMALL, broken, **worse),
    ]
    found = attempts(study)
    assert (found.trials, found.completed, found.first) == (4, 3, 2)
    assert found.first_share.value == pytest.approx((1 + 1 / 3) / 2)
    assert found.of_first["total"].value == pytest.approx(0.8)
    assert found.of_completed["total"].value == pytest.approx((0.8 + (0.8 + 1.0) / 2) / 2)
    assert (retry_rate(study).restarts, retry_rate(study).per_trial) == (3, 0.75)
    assert retry_rate(study).causes == {"loop": 2, "empty": 1}


def test_no_trial_at_first_attempt_has_a_share_and_no_score():
    broken = trial(restarts=(restart("loop"),))
    found = attempts([scored(SMALL, broken, R_1="yes")])
    assert (found.first, found.first_share.value, found.of_first) == (0, 0.0, {})
    assert attempts([]).first_share.value is None
