"""What is made of one answer: by the parsers and rules of a play, a rating and a judging; odd answers are no crash."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dramaturg.prompts import load_prompt
from dramaturg.train.comparing_prompts import filled_with
from dramaturg.train.comparing_scores import why_unasked
from dramaturg.train.example import Example
from train_compare_fixtures import Said, act, example, influence, judged, likely, marked, narrated, rated

OWN = [("user", "What do you do?"), ("assistant", "Ada Finch climbs slowly onto the wet roof of the old shed.")]


@pytest.mark.parametrize(
    ("purpose", "answer", "faults"),
    [
        ("action", "Ada Finch wedges an oar under the gate.", set[str]()),
        ("action", "Ada Finch: wedges an oar under the gate.", set[str]()),
        ("action", '{"action": "Ada Finch wedges an oar under the gate."}', set[str]()),
        ("action", "", {"nothing"}),
        ("action", "...", {"nothing"}),
        ("action", "I'm sorry, but I can't assist with that.", {"nothing"}),
        ("action", "Ada Finch climbs slowly onto the wet roof of the old shed.", {"again"}),
        ("action", "Bo Reed slams the heavy iron gate and pockets its only key.", {"others"}),
        ("action", "Ada Finch nods. Bo Reed opens the gate and lets her through.", {"others"}),
        ("action", "Ada Finch waits.\nBo Reed: All right, come in.", {"others"}),
        ("action", "她走到门边，慢慢地把钥匙插进锁里，然后推开了门。", {"language"}),
        ("action", "As an AI language model, I would open the gate.", {"as_an_ai"}),
        ("action", "She pulls. She pulls. She pulls. She pulls. She pulls. She pulls. She pulls.", {"again"}),
        ("speech", "(silent)", set[str]()),
        ("speech", "Give me that key, Bo.", set[str]()),
        ("act", '{"action": "Ada Finch lifts the lamp.", "speech": "Look here."}', set[str]()),
        ("act", "Action: Ada Finch lifts the lamp.\nSpeech: Look here.", set[str]()),
        ("act", "I do not know.", {"nothing"}),
        ("act", {"status": "truncated", "text": '{"action": "Ada Finch lif'}, {"cut"}),
        ("beliefs", '{"self_belief": "I am cold.", "environment_belief": "Bo Reed lies to me."}', set[str]()),
        ("beliefs", '{"self_belief": ""}', {"nothing"}),
        ("self-belief", "Bo Reed wants the key. I am cold and I want to go home.", set[str]()),
        ("self-belief", "", {"nothing"}),
        ("action", {"status": "empty"}, {"nothing"}),
    ],
)
async def test_an_act_has_the_faults_that_a_play_notices(
    tmp_path: Path, purpose: str, answer: Said, faults: set[str]
) -> None:
    marks = await marked(tmp_path, act(purpose, before=OWN), answer)
    found = {name for name, value in marks.values.items() if value and name != "clean"}
    assert found == faults
    assert marks.values["clean"] == float(not faults)


async def test_a_chinese_act_is_read_in_its_own_language(tmp_path: Path) -> None:
    marks = await marked(tmp_path, act(language="zh"), "Ada Finch walks to the door and turns the key.")
    assert marks.values["language"] == 1
    marks = await marked(tmp_path, act(language="zh"), "Ada Finch走到门边，把钥匙插进锁里，推开了门。")
    assert {name for name, value in marks.values.items() if value} == {"clean"}


async def test_an_act_of_nobody_known_is_missing_and_no_fault(tmp_path: Path) -> None:
    odd = example("guided", "action", "Old words of another version.", "Ada Finch waits.")
    marks = await marked(tmp_path, odd, "Ada Finch waits.")
    assert marks.values == {} and marks.missing == "cannot tell whose turn it is"


async def test_a_chat_that_does_not_fit_is_missing(tmp_path: Path) -> None:
    for one in (act(), influence(), judged("quay", 1, yes=True)):
        marks = await marked(tmp_path, one, {"status": "context_overflow"})
        assert marks.values == {} and marks.missing == "context_overflow"


def of_court() -> Example:
    lead = load_prompt("court-note-lead").fill(name="Helena Strand", kind="prosecutor")
    said = "Cornelius Ward (judge): The first word is yours.\nArthur Penhale (defence): We say that nobody was there."
    return example(
        "guided",
        "question",
        f"{said}\n\n{lead} Ask one witness. End with the tag <NextSpeaker: NAME>.",
        "Edmund Farrow, what did you see?",
        source="estate-1/prosecutor/T10",
        people=("Edmund Farrow", "Agnes Whitlow"),
        before=[
            ("user", "Begin."),
            ("assistant", "Your Honour, the lock was forced from inside the house that night."),
        ],
    )


@pytest.mark.parametrize(
    ("answer", "faults"),
    [
        ("Edmund Farrow, where were you at ten? <NextSpeaker: Edmund Farrow>", set[str]()),
        ("Helena Strand (prosecutor): Edmund Farrow, where were you?", set[str]()),
        ("Edmund Farrow, where were you?\nEdmund Farrow: I was at home.", {"others"}),
        ("Your Honour, the lock was forced from inside the house that night.", {"again"}),
        ("<NextSpeaker: Edmund Farrow>", {"nothing"}),
        ("As an AI, I cannot take part in a trial.", {"as_an_ai"}),
        ("请问您那天晚上十点钟在什么地方，看见了什么人？", {"language"}),
        ({"status": "truncated", "text": "Edmund Farrow, where were"}, {"cut"}),
    ],
)
async def test_a_turn_in_court_has_the_faults_that_a_trial_notices(
    tmp_path: Path, answer: Said, faults: set[str]
) -> None:
    marks = await marked(tmp_path, of_court(), answer)
    assert {name for name, value in marks.values.items() if value and name != "clean"} == faults


@pytest.mark.parametrize(
    ("answer", "valid", "consistent"),
    [
        ('{"target":"bo-reed","influence":"He is left in the dark and reaches out."}', 1, 1),
        ('{"target":"none","influence":""}', 1, 1),
        ('```json\n{"target": "bo-reed", "influence": "He is left in the dark."}\n```', 1, 1),
        ("target: bo-reed\ninfluence: He is left in the dark.", 1, 0),
        ('{"target":"ada-finch","influence":"She is warm."}', 1, 0),
        ('{"target":"bo-reed","influence":""}', 1, 0),
        ('{"target":"bo-reed","influence":"Ada Finch takes the last lamp and hides it under her long coat."}', 1, 0),
        ("It affects him, I think.", 0, 0),
        ("", 0, 0),
        ({"status": "truncated", "text": '{"target":"bo-re'}, 0, 0),
    ],
)
async def test_an_influence_is_valid_as_a_play_reads_it_and_consistent_as_it_stands(
    tmp_path: Path, answer: Said, valid: int, consistent: int
) -> None:
    marks = await marked(tmp_path, influence(), answer)
    assert marks.values == {"valid": valid, "consistent": consistent}


async def test_the_other_tasks_of_a_narrator_are_read_in_their_own_form(tmp_path: Path) -> None:
    update = narrated("update", "update", '{"position":"at the gate","state":"cold"}', name="Ada Finch")
    assert (await marked(tmp_path, update, '{"position":"by the gate","state":""}')).values["consistent"] == 1
    assert (await marked(tmp_path, update, "She is by the gate.")).values == {"valid": 0, "consistent": 0}
    free = narrated("result", "result", "The lamp goes out.", actor="Ada Finch", target="Bo Reed")
    assert (await marked(tmp_path, free, "The gate swings open.")).values == {"valid": 1, "consistent": 1}
    assert (await marked(tmp_path, free, "None")).values["valid"] == 0
    line = narrated(
        "influence",
        "influence-as-published",
        "[Ada Finch];;[Bo Reed];;[He is cold.]",
        name="Ada Finch",
        deed="- Ada Finch (action): opens the window.",
        names="Bo Reed",
    )
    assert (await marked(tmp_path, line, "[Ada Finch];;[Bo Reed];;[He shivers.]")).values["consistent"] == 1
    assert (await marked(tmp_path, line, "[Ada Finch];;[Nobody Known];;[x]")).values == {"valid": 1, "consistent": 0}


RATINGS = {"Immersion": 4, "Adaptability": 2}


def answers(**ratings: int) -> str:
    return json.dumps({"answers": [{"id": name, "reason": "So.", "rating": value} for name, value in ratings.items()]})


async def test_a_rater_writes_its_own_critique_before_it_rates(tmp_path: Path) -> None:
    marks = await marked(tmp_path, rated("quay", 1, RATINGS), answers(Immersion=3, Adaptability=5))
    assert marks.values == {"Immersion": 3, "Adaptability": 5}
    assert len(marks.calls) == 2


async def test_a_rating_that_is_missing_is_not_there(tmp_path: Path) -> None:
    marks = await marked(tmp_path, rated("quay", 1, RATINGS), answers(Immersion=3))
    assert marks.values == {"Immersion": 3} and marks.missing == ""
    marks = await marked(tmp_path, rated("quay", 1, RATINGS), "Quite good overall.")
    assert marks.values == {} and marks.missing == "unparsed"
    marks = await marked(tmp_path, rated("quay", 1, RATINGS), "")
    assert marks.values == {} and marks.missing == "empty"


async def test_a_single_rating_is_of_the_metric_that_its_source_names(tmp_path: Path) -> None:
    single = example(
        "reward",
        "rating",
        "Rate it.",
        '{"critique":"Well.","rating":4}',
        source="quay-1/character:ada-finch/rate/character:ada-finch/immersion",
        before=[("user", "The performance."), ("assistant", "Ready.")],
    )
    assert (await marked(tmp_path, single, '{"critique":"So so.","rating":2}')).values == {"immersion": 2}
    assert (await marked(tmp_path, single, "Rating: 9")).values == {}


def test_a_critique_is_not_asked_by_itself() -> None:
    critique = example("reward", "critique", "Write a critique.", "It is weak in the middle.")
    assert why_unasked(critique) and not why_unasked(rated("quay", 1, RATINGS))


async def test_a_judge_is_read_by_its_probability_where_there_is_one(tmp_path: Path) -> None:
    marks = await marked(tmp_path, judged("quay", 1, yes=True), likely(0.8))
    assert marks.values == {"answer": 1, "probability": pytest.approx(0.8)}


@pytest.mark.parametrize(
    ("said", "value"), [("Yes.", 1.0), ("No, it does not.", 0.0), ("**yes**", 1.0), ("是", 1.0), ("Perhaps.", None)]
)
async def test_a_judge_without_probabilities_is_read_by_its_word(
    tmp_path: Path, said: str, value: float | None
) -> None:
    marks = await marked(tmp_path, judged("quay", 1, yes=True), said)
    assert marks.values.get("answer") == value
    assert (marks.missing == "unparsed") is (value is None)


async def test_a_judges_form_is_read_as_a_judging_reads_it(tmp_path: Path) -> None:
    asked = example("judge", "indicator", "Is it so?", '{"reasoning":"T2 says it.","answer":"no","evidence":["T2"]}')
    assert (await marked(tmp_path, asked, '{"reasoning":"Yes.","answer":"yes"}')).values == {"answer": 1}
    assert (await marked(tmp_path, asked, "answer: no")).values == {"answer": 0}
    assert (await marked(tmp_path, asked, '{"answer":"maybe"}')).values == {}


@given(st.text(max_size=200), st.from_regex(r"[^\n\s][^\n]{0,20}[^\n\s]", fullmatch=True))
def test_what_a_prompt_was_filled_with_is_found_behind_any_text(before: str, name: str) -> None:
    prompt = load_prompt("world-action")
    found = filled_with(prompt, f"{before}\n\n{prompt.fill(name=name)}")
    assert found is not None and found["name"].endswith(name)
