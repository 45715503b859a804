"""What the transcript itself proves, without a model."""

from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dramaturg.errors import ContentError
from dramaturg.judge.checklist import score_transcript
from dramaturg.judge.checklist.checklist import Proof
from dramaturg.judge.checklist.proofs import prove
from dramaturg.run.transcripts import read_transcripts
from dramaturg.stage.transcript import Outcome, Player, Scenario, Transcript
from judge_fixtures import CAST, REFERENCE, ROLES, TRIAL, checklist, restart, trial
from judging_fixtures import answer, judged


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


def chat(*turns: tuple[str, str], reference: str = REFERENCE) -> Transcript:
    """Returns an imported chat of the turns given as (role, text)."""
    scenario = Scenario(id="chat", title="Chat", reference=reference)
    return trial([(role, "", text) for role, text in turns], scenario=scenario, end_reason="imported", outcome=None)


def test_an_empty_model_turn_is_found_and_an_empty_human_one_is_not():
    proven = prove("no_empty_turn", chat(("judge", " \n"), ("defence", ""), ("prosecutor", "I rest.")))
    assert proven is not None and (proven.answer, proven.evidence) == ("no", ("T1",))
    proven = prove("no_empty_turn", chat(("judge", "Open."), ("defence", "")))
    assert proven is not None and proven.answer == "yes"


@pytest.mark.parametrize(
    "text",
    [
        "Prosecutor: I accuse.",
        "**Prosecutor:** I accuse.",
        "[Witness]: I saw it.",
        "Ida Quill: I saw it.",
        "oliver crane： 我",
    ],
)
def test_a_turn_under_the_label_of_another_role_is_found(text: str):
    proven = prove("labels_present", chat(("judge", "I open."), ("judge", text)))
    assert proven is not None and (proven.answer, proven.evidence) == ("no", ("T2",))


@pytest.mark.parametrize(
    "text", ["Judge: I open.", "Mr Crane, you may ask.", "My ruling: sustained.", "Question: where were you?", "No."]
)
def test_a_turn_under_its_own_label_or_none_is_fine(text: str):
    proven = prove("labels_present", chat(("judge", text), ("defence", "Prosecutor: I accuse.")))
    assert proven is not None and proven.answer == "yes"


def test_a_model_turn_without_a_speaker_is_found():
    plain = chat(("judge", "I open."))
    nameless = plain.model_copy(update={"turns": (plain.turns[0].model_copy(update={"speaker": " "}),)})
    proven = prove("labels_present", nameless)
    assert proven is not None and (proven.answer, proven.evidence) == ("no", ("T1",))


@pytest.mark.parametrize(
    "text",
    ["As exhibit E9 shows, he lied.", "Exhibit 9 shows it.", "See E9.", "evidence no. 12", "证据9 在此"],
)
def test_an_exhibit_that_nobody_named_is_invented(text: str):
    proven = prove("evidence_known", chat(("judge", "Open."), ("prosecutor", text)))
    assert proven is not None and (proven.answer, proven.evidence) == ("no", ("T2",))


@pytest.mark.parametrize(
    "turns",
    [
        (("prosecutor", "Exhibit E2 holds twelve letters, exhibit 3 a clip; gusts of 74 km/h; E4."),),
        (("defence", "I hand in E9."), ("prosecutor", "E9 proves nothing.")),
        (("prosecutor", "In room B12 on the M25, at 9 o'clock, by article 9."),),
    ],
)
def test_what_is_known_or_no_exhibit_is_left_to_a_model(turns: tuple[tuple[str, str], ...]):
    assert prove("evidence_known", chat(*turns)) is None


def test_a_reference_without_numbers_knows_of_no_unknown_exhibit():
    assert prove("evidence_known", chat(("prosecutor", "Exhibit 9."), reference="A saw and a letter.")) is None


@pytest.mark.parametrize(
    "text", ["He met Thomas Blackwood there.", "Dr Edwina Marsh saw it.", "it was, I swear, Jean-Luc O'Rourke!"]
)
def test_a_full_name_that_nobody_named_is_invented(text: str):
    proven = prove("names_known", chat(("judge", "Open."), ("prosecutor", text)))
    assert proven is not None and (proven.answer, proven.evidence) == ("no", ("T2",))


@pytest.mark.parametrize(
    "text",
    [
        "Harold Grayson and Rosalind Ashcombe, Your Honour, met at the County Court.",
        "On Sunday Morning Ms Ida Quill came. Then Let us go on. Yes, Your Honour.",
        "He met Mr Grayson, Thomas Grayson's uncle, at Baker Street Station in West Yorkshire.",
        "Please Note: The Bamboo was cut.",
        "My name is Oliver Crane.",
    ],
)
def test_known_names_places_and_sentence_openings_are_left_to_a_model(text: str):
    assert prove("names_known", chat(("prosecutor", text))) is None


def test_a_name_that_a_person_said_first_is_known_from_then_on():
    said = ("defence", "I call Thomas Blackwood.")
    assert prove("names_known", chat(said, ("judge", "Let us hear Thomas Blackwood."))) is None
    assert prove("names_known", chat(("judge", "Let us hear Thomas Blackwood."), said)) is not None


def test_names_prove_nothing_without_a_reference_or_where_every_noun_has_a_capital():
    text = ("prosecutor", "He met Thomas Blackwood there.")
    assert prove("names_known", chat(text, reference=" ")) is None
    german = chat(text)
    scenario = german.scenario.model_copy(update={"language": "de"})
    assert prove("names_known", german.model_copy(update={"scenario": scenario})) is None


def test_a_clean_trial_has_no_unknown_name_and_no_unknown_exhibit():
    assert prove("names_known", trial()) is None and prove("evidence_known", trial()) is None


@given(st.lists(st.tuples(st.sampled_from(["judge", "defence"]), st.text(max_size=120)), max_size=5))
def test_no_text_breaks_a_proof(turns: list[tuple[str, str]]):
    for proof in get_args(Proof):
        prove(proof, chat(*turns))


# What a transcript proves of itself is no score where nothing of what the checklist is about was played


AGENTS = checklist(
    {"id": "R-1", "text": "Does the agent help?", "dimension": "R", "roles": ["agent"]},
    {"id": "R-2", "text": "Does it end?", "dimension": "R", "proof": "end_reached"},
    {"id": "R-3", "text": "Is nothing repeated?", "dimension": "R", "proof": "no_loop", "roles": ["agent"]},
    {"id": "R-4", "text": "Is it formal?", "dimension": "R"},
)


async def test_a_checklist_about_roles_that_the_transcript_does_not_declare_is_refused(tmp_path: Path):
    found, requests = await judged(tmp_path, lambda _: answer(), by=AGENTS)
    assert requests == []
    assert {(one.answer, one.reason) for one in found.values()} == {("missing", "checklist_unfit")}
    assert "about the roles agent; the transcript declares: judge, prosecutor" in found["R-2"].detail
    scores = score_transcript(trial(), AGENTS, list(found.values())).total
    assert (scores.quality.value, scores.missing) == (None, {"checklist_unfit": 4})


async def test_a_transcript_without_roles_fits_no_checklist_that_names_some(tmp_path: Path):
    found, requests = await judged(tmp_path, lambda _: answer(), by=AGENTS, transcript=trial(roles=()))
    assert requests == []
    assert {one.reason for one in found.values()} == {"checklist_unfit"}
    assert "declares: none" in found["R-1"].detail


async def test_a_role_that_the_transcript_does_not_declare_leaves_questions_about_it_open(tmp_path: Path):
    by = checklist(
        {"id": "R-1", "text": "Does the judge lead?", "dimension": "R", "roles": ["judge"]},
        {"id": "R-2", "text": "Is nothing repeated?", "dimension": "R", "proof": "no_loop", "roles": ["witness"]},
    )
    found, _ = await judged(tmp_path, lambda _: answer(), by=by, transcript=trial(roles=ROLES[:3]))
    assert found["R-1"].answer == "yes"
    assert (found["R-2"].answer, found["R-2"].reason) == ("missing", "checklist_unfit")
    assert "witness:ida-quill" in found["R-2"].detail


async def test_where_people_play_all_that_the_checklist_is_about_no_proof_counts(tmp_path: Path):
    by = checklist(
        {"id": "R-1", "text": "Does the defence speak?", "dimension": "R", "roles": ["defence"]},
        {"id": "R-2", "text": "Does it end?", "dimension": "R", "proof": "end_reached"},
    )
    found, requests = await judged(tmp_path, lambda _: answer(), by=by)
    assert requests == []
    assert {one.answer for one in found.values()} == {"not_applicable"}


async def test_a_proof_about_a_role_that_no_model_plays_does_not_apply(tmp_path: Path):
    by = checklist(
        {"id": "R-1", "text": "Does the judge lead?", "dimension": "R", "roles": ["judge"]},
        {"id": "R-2", "text": "Is nothing repeated?", "dimension": "R", "proof": "no_loop", "roles": ["defence"]},
    )
    found, _ = await judged(tmp_path, lambda _: answer(), by=by)
    assert (found["R-1"].answer, found["R-2"].answer) == ("yes", "not_applicable")


@pytest.mark.parametrize("ids", [("T1", "T1"), ("T1", "T01")])
def test_a_turn_id_that_is_used_twice_is_an_error_with_its_line(tmp_path: Path, ids: tuple[str, str]):
    good = trial()
    turns = tuple(turn.model_copy(update={"id": name}) for turn, name in zip(good.turns, ids, strict=False))
    path = tmp_path / "t.jsonl"
    twice = good.model_copy(update={"id": "trial-2", "turns": turns})
    path.write_text(f"{good.model_dump_json()}\n{twice.model_dump_json()}\n", encoding="utf-8")
    with pytest.raises(ContentError) as error:
        list(read_transcripts(path))
    assert str(error.value).startswith(f"{path}:2: ") and ids[1] in str(error.value)
