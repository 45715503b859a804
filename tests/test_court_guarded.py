from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from court_fixtures import CASE, cast, spoken, trial
from dramaturg.errors import LimitReached
from dramaturg.ledger import Ledger
from dramaturg.ledger.budget import Budget
from dramaturg.model import Reply
from dramaturg.stage.court import TrialLimits, load_procedure, play_trial
from dramaturg.stage.court.analyst import count_by_rule, is_objection, is_rest, ruling_by_rule
from dramaturg.stage.court.names import People
from dramaturg.stage.court.record import roles_of
from dramaturg.stage.court.speech import Speech, nearly_same, read_speech, repeats_itself, whole_sentences
from dramaturg.stage.court.verdict import parts

ROLES = roles_of(CASE, load_procedure())
PEOPLE = People(ROLES)
PROSECUTOR = ROLES[1]
WITNESSES = [role.id for role in ROLES if role.kind == "witness"]


def read(text: str, *, earlier: tuple[str, ...] = (), addressable: tuple[str, ...] = ()) -> Speech:
    return read_speech(
        Reply("ok", text=text),
        text,
        speaker=PROSECUTOR,
        people=PEOPLE,
        addressable=addressable,
        earlier=earlier,
    )


# Speech


@pytest.mark.parametrize(
    "text",
    [
        "We leave at 10:30.",
        "See https://example.org/a:b?c=d for it: the log.",
        "我们十点半走：就这样。",
        "She says: \"He said 'wait', then 10:30.\"",
        "Three things: the key, the log, the coat.",
        "I ask Nora Quist: did you hear it?",
    ],
)
def test_text_before_a_colon_is_kept(text: str):
    """C03, I41: times, addresses, quotes and foreign colons stay whole."""
    assert read(text) == Speech(text, "", ())


@pytest.mark.parametrize(
    "prefix",
    [
        "Carl Nash: ",
        "Carl Nash, Prosecutor: ",
        "Carl Nash (prosecutor): ",
        "**Carl Nash:** ",
        "Prosecutor:\n",
        "carl nash：",
    ],
)
def test_only_a_leading_own_name_is_taken_off(prefix: str):
    """C03: the own name in front goes, nothing else does."""
    speech = read(f"{prefix} We leave at 10:30: all of us.")
    assert (speech.text, speech.flags) == ("We leave at 10:30: all of us.", ("prefix",))


def test_quotation_marks_around_the_whole_line_go_with_the_prefix():
    assert read('Carl Nash (prosecutor): "Who had the key?"').text == "Who had the key?"
    assert read('Carl Nash: "Yes," she said, "at 10:30."').text == '"Yes," she said, "at 10:30."'
    assert read('"Who had the key?"').text == '"Who had the key?"'


@pytest.mark.parametrize(
    "rest",
    [
        "\nNora Quist: I agree.\nAda Boyd: So do I.",
        "\n**Nora Quist (witness):** I agree.",
        " Nora Quist (witness): I agree.",
        "\nThe Judge: Overruled.",
        "\nWitness: I agree.",
    ],
)
def test_lines_of_others_are_cut_off_and_flagged(rest: str):
    """I34: only the speaker's own line is kept."""
    speech = read(f"The gate was open.{rest}")
    assert (speech.text, speech.fault, speech.flags) == ("The gate was open.", "", ("cut:other_speaker",))


def test_a_turn_of_nothing_but_others_is_a_fault():
    assert read("Nora Quist: I heard it.").fault == "speaks_for_others"


def test_a_name_and_a_colon_at_the_head_is_an_address_of_whoever_may_be_addressed():
    assert read("Nora Quist: did you hear it?", addressable=tuple(WITNESSES)).text == "Nora Quist: did you hear it?"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "empty"),
        ("... !? —", "empty"),
        ("I'm sorry, but I can't help with that.", "refused"),
        ("I cannot assist with your request.", "refused"),
        ("I cannot say, and I am sorry for that.", ""),
        ("It was him at the gate. It was him at the gate. It was him at the gate.", "loop"),
    ],
)
def test_what_cannot_be_used_has_a_fault(text: str, fault: str):
    assert read(text).fault == fault


def test_nearly_the_same_words_are_a_loop_and_short_answers_are_not():
    one = "Please tell the court what you heard at the gate on the night of the third of May."
    assert nearly_same(one, one.replace("third", "4th").upper().replace("4TH", "third"))
    assert not nearly_same(one, "Please tell the court who else had a key to the stable that night.")
    assert not nearly_same("I do not know.", "I do not know.")
    assert read(one, earlier=(one,)).fault == "loop"
    assert not repeats_itself("Yes. Yes. Yes. Yes.")
    assert repeats_itself("Yes.\nYes.\nYes.\nYes.\nYes.\nYes.")


def test_as_an_ai_is_noticed_and_said_is_not_ai():
    """C29: whole words only."""
    assert "as_an_ai" in read("As an AI language model, I have no memory.").flags
    assert read("I said again that the air was cold, as an aide told me.").flags == ()


def test_a_cut_answer_ends_with_its_last_whole_sentence():
    assert whole_sentences('He said "go." Then at 10:30 he le') == 'He said "go."'
    assert whole_sentences("no end at all") == "no end at all"


@given(st.text(max_size=300))
def test_any_text_can_be_read_and_nothing_is_invented(text: str):
    speech = read(text)
    assert speech.text in text


# The analyst's rules


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Nora Quist, did you hear it?", ["witness:nora-quist"]),
        ("Mr Ober, did Nora Quist tell you?", ["witness:paul-ober"]),
        ("Did you hear it, Ms Marr?", ["witness:ines-marr"]),
        ("I call Paul Ober and not Nora Quist.", ["witness:paul-ober"]),
        ("Quist's key was found. Who had it?", ["witness:nora-quist"]),
        ("Nora Quist and Paul Ober know each other.", ["witness:nora-quist", "witness:paul-ober"]),
        ("The marred paint tells us nothing.", []),
        ("Who had the key?", []),
    ],
)
def test_rules_find_who_is_addressed(text: str, found: list[str]):
    assert [role.id for role in PEOPLE.addressed_in(text, WITNESSES)] == found


def test_only_who_may_be_addressed_is_found():
    assert PEOPLE.addressed_in("Ada Boyd, may I?", WITNESSES) == ()


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("I grant three questions to each side.", 3),
        ("Each side has 2 questions.", 2),
        ("Three (3) questions each.", 3),
        ("The prosecutor may ask two questions and the defence three questions.", None),
        ("By exhibit E1, at 22:10, I need some time.", None),
        ("One more question.", None),
    ],
)
def test_rules_find_a_count(text: str, count: int | None):
    expected = 1 if text == "One more question." else count
    assert count_by_rule(text) == expected


@pytest.mark.parametrize(
    ("text", "ruling"),
    [
        ("Sustained.", "sustained"),
        ("The objection is overruled.", "overruled"),
        ("I overrule it.", "overruled"),
        ("The objection is not sustained.", "overruled"),
        ("Sustained or overruled, that is the question.", None),
        ("Noted.", None),
    ],
)
def test_rules_find_a_ruling(text: str, ruling: str | None):
    assert ruling_by_rule(text) == ruling


def test_an_objection_and_a_rest_are_told_by_how_they_begin_or_what_they_say():
    assert is_objection("Objection, Your Honour: hearsay.")
    assert is_objection('"Your Honour, I object."')
    assert not is_objection("I have no objection.")
    assert is_rest("No further questions, Your Honour.")
    assert not is_rest("I have one further question.")


def test_a_long_history_is_summarised_in_parts():
    lines = [f"line {n} " + "x" * 90 for n in range(20)]
    texts = parts(lines, 500)
    assert len(texts) > 1
    assert all(len(text) <= 500 for text in texts)
    assert "\n".join(texts).split("\n") == lines
    assert parts(["y" * 900], 500) == ["y" * 900]


# A trial


async def test_a_well_behaved_cast_needs_no_cure(tmp_path: Path):
    transcript = await trial(tmp_path, cast(), "guarded")
    assert transcript.end_reason == "completed"
    assert transcript.cures == ()
    assert not any("tag" in turn.text for turn in transcript.turns if turn.kind == "procedure")


async def test_what_breaks_under_paper_finishes_with_every_cure_counted(tmp_path: Path):
    players = cast(judge="untagged", prosecutor="untagged", witness="untagged", analyst="untagged")
    transcript = await trial(tmp_path, players, "guarded")
    assert transcript.end_reason == "completed"
    assert transcript.restarts == ()
    assert transcript.outcome is not None
    assert transcript.outcome.label == "win"
    counted = Counter((cure.kind, cure.detail) for cure in transcript.cures)
    assert counted["analyst:model", "count"] == 2
    assert counted["analyst:model", "route"] == 2
    flagged = [flag for turn in transcript.turns for flag in turn.flags if flag.startswith("analyst:")]
    assert len(flagged) == sum(counted.values())


async def test_without_an_analyst_the_default_is_taken_and_counted(tmp_path: Path):
    players = cast(judge="untagged", prosecutor="untagged", witness="untagged", analyst=None)
    transcript = await trial(tmp_path, players, "guarded")
    assert transcript.end_reason == "completed"
    counted = Counter((cure.kind, cure.detail) for cure in transcript.cures)
    assert counted["analyst:default", "count"] == 2
    assert counted["analyst:default", "route"] == 3
    asked = [role for role in spoken(transcript) if role.startswith("witness")]
    assert len(set(asked)) == 3, "whoever was heard least is asked next"


@pytest.mark.parametrize(
    "answer", ["TERMINATE", "The next speaker is the judge.", '{"addressee": "Nobody"}', '{"addressee": "Ada Boyd"}']
)
async def test_an_analyst_that_names_nobody_legal_is_asked_twice_and_then_the_default_counts(
    tmp_path: Path, answer: str
):
    """FW-49, FW-55: at most two asks, then the procedure's default; each is recorded."""
    path = tmp_path / "lost.yaml"
    path.write_text(f"name: lost\nrules:\n  - reply: '{answer}'\n", encoding="utf-8")
    players = cast(prosecutor="untagged", analyst=str(path))
    transcript = await trial(tmp_path, players, "guarded", limits=TrialLimits(questions=1))
    assert transcript.end_reason == "completed"
    assert [cure.kind for cure in transcript.cures if cure.detail == "route"] == ["analyst:default"]
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        assert [use.calls for use in ledger.uses() if use.purpose == "route"] == [2]


async def test_a_note_that_is_read_out_is_drawn_anew(tmp_path: Path):
    path = tmp_path / "echo.yaml"
    path.write_text(
        "name: echo\nrules:\n  - {purpose: ruling, reply: Overruled.}\n"
        "  - {attempt: 0, match: '(?P<note>Ask .+ final theses)', reply: '{note}, and decide nothing yet.'}\n"
        "  - {purpose: verdict, json: {announcement: '', outcome: loss}}\n"
        "  - {reply: [I grant 1 question to each side., The trial is open now., Both sides have the floor.]}\n",
        encoding="utf-8",
    )
    transcript = await trial(tmp_path, cast(judge=str(path)), "guarded")
    assert ("redraw", "echo") in {(cure.kind, cure.detail) for cure in transcript.cures}
    assert transcript.turns[-1].text == "The court decides that the charge is proved."
    assert transcript.outcome is not None
    assert transcript.outcome.label == "loss"


async def test_two_addressees_are_one_question_to_the_analyst_and_a_legal_choice(tmp_path: Path):
    """I37: several names give one structured question among the legal ones, and it is recorded."""
    transcript = await trial(tmp_path, cast(prosecutor="two-speakers"), "guarded")
    assert transcript.end_reason == "completed"
    routed = [cure for cure in transcript.cures if (cure.kind, cure.detail) == ("analyst:model", "route")]
    assert len(routed) == 2
    for cure in routed:
        at = next(index for index, turn in enumerate(transcript.turns) if turn.id == cure.turn)
        assert transcript.turns[at + 2].role == "witness:nora-quist"


async def test_lines_for_others_are_cut_and_counted(tmp_path: Path):
    """I34: the other speaker's lines are gone, and the cut is a cure."""
    transcript = await trial(tmp_path, cast(prosecutor="speaks-for-others"), "guarded")
    cut = [cure for cure in transcript.cures if cure.kind == "cut"]
    assert len(cut) == 2
    turn = next(turn for turn in transcript.turns if turn.id == cut[0].turn)
    assert "\n" not in turn.text
    assert "I heard the gate" in turn.raw or "I was at the gate" in turn.raw


async def test_a_loop_is_drawn_anew_and_then_replaced_by_a_stated_line(tmp_path: Path):
    transcript = await trial(tmp_path, cast(prosecutor="loops"), "guarded")
    assert transcript.end_reason == "completed"
    assert Counter(cure.kind for cure in transcript.cures if cure.role == "prosecutor")["fallback"] >= 1


async def test_a_role_that_is_left_is_drawn_anew(tmp_path: Path):
    transcript = await trial(tmp_path, cast(witness="as-an-ai"), "guarded")
    assert transcript.end_reason == "completed"
    answers = [turn for turn in transcript.turns if turn.role.startswith("witness")]
    assert all("AI" not in turn.text for turn in answers)
    assert Counter(cure.detail for cure in transcript.cures)["as_an_ai"] == 2 * len(answers)


async def test_a_refusal_becomes_a_stated_line(tmp_path: Path):
    transcript = await trial(tmp_path, cast(witness="refuses"), "guarded")
    assert transcript.end_reason == "completed"
    answers = [turn for turn in transcript.turns if turn.role.startswith("witness")]
    assert {turn.text for turn in answers} == {"I cannot say more about that."}
    assert all(turn.raw for turn in answers)


async def test_blank_turns_end_the_trial_after_a_stated_number(tmp_path: Path):
    """FW-46: blank messages do not go on without end; the reason is `empty_turns`."""
    transcript = await trial(tmp_path, cast(witness="silent"), "guarded", limits=TrialLimits(empty_turns=3))
    assert transcript.end_reason == "empty_turns"
    assert sum("fallback:empty" in turn.flags for turn in transcript.turns) == 3
    assert transcript.outcome is not None
    assert transcript.outcome.label == "undecided"


async def test_a_count_out_of_range_is_clamped_and_counted(tmp_path: Path):
    path = tmp_path / "generous.yaml"
    path.write_text(
        "name: generous\nrules:\n  - {purpose: grant, reply: I grant 40 questions to each side.}\n"
        "  - {purpose: verdict, json: {announcement: It is so., outcome: loss}}\n"
        "  - {reply: [Please begin now., Please end now., All was said.]}\n",
        encoding="utf-8",
    )
    transcript = await trial(tmp_path, cast(judge=str(path)), "guarded")
    assert [(cure.kind, cure.detail) for cure in transcript.cures] == [("clamp", "questions:40")]
    assert spoken(transcript).count("prosecutor") == 5


async def test_an_answer_that_is_no_json_is_an_undecided_verdict_and_a_cure(tmp_path: Path):
    """FW-55: at most two asks, then a typed result; nothing is guessed."""
    path = tmp_path / "prose.yaml"
    path.write_text(
        "name: prose\nrules:\n  - {purpose: verdict, reply: The court thanks everybody.}\n"
        "  - {purpose: grant, reply: I grant 1 question to each side.}\n"
        "  - {reply: [Please begin now., Please end now., All was said.]}\n",
        encoding="utf-8",
    )
    transcript = await trial(tmp_path, cast(judge=str(path)), "guarded")
    assert transcript.end_reason == "undecided"
    assert transcript.outcome is not None
    assert transcript.outcome.label == "undecided"
    assert transcript.cures[-1].kind == "fallback"
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        asked = sum(use.calls for use in ledger.uses() if use.purpose == "verdict")
    assert asked <= 2


async def test_a_budget_that_is_used_up_stops_the_trial_and_invents_no_turn(tmp_path: Path):
    """FW-58: after the limit there is no made-up line."""
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        calls = ledger.calls(unit="u", seed=1, budget=Budget(max_calls=5))
        with pytest.raises(LimitReached):
            await play_trial(CASE, cast=cast(), calls=calls, seed=1, protocol="guarded")
        assert ledger.counts()["calls"] == 5


async def test_a_guarded_trial_is_the_same_again_from_its_replies(tmp_path: Path):
    players = cast(prosecutor="two-speakers", witness="as-an-ai", judge="untagged", analyst="untagged")
    first = await trial(tmp_path, players, "guarded")
    again = await trial(tmp_path, players, "guarded")
    assert again.model_dump_json() == first.model_dump_json()


# Instead of speech


TOLD = (
    "You are Graham Sutter, the prosecutor in a trial. You attack the weak points of the defence. You never help the"
    " defence, never agree with it and never stay neutral.\nThe questions are used up. Ask Graham Sutter and then"
    " Miriam Kovacs for their final theses, and decide nothing yet."
)


@pytest.mark.parametrize(
    ("text", "copied"),
    [
        ("I will attack the weak points of the defence, never help the defence, never stay neutral.", True),
        ("The questions are used up. Graham Sutter and then Miriam Kovacs for their final theses.", True),
        (
            "The questions are used up. Graham Sutter, please give the court your final thesis; then Miriam Kovacs.",
            False,
        ),
        ("The rope of exhibit E1 was cut, and the weak points of the defence are plain.", False),
        ("Never.", False),
    ],
)
def test_a_speech_that_only_repeats_what_its_speaker_was_told_to_do_is_an_echo(text: str, copied: bool):
    speech = read_speech(
        Reply("ok", text=text), text, speaker=PROSECUTOR, people=PEOPLE, addressable=(), earlier=(), told=TOLD
    )
    assert ("echo" in speech.flags) is copied
    assert speech.fault == ""


def test_a_speech_that_was_said_by_somebody_else_before_is_a_copy():
    line = "Your Honour, the prosecution offers a rope, a knife and a debt. The rope may have sheared on rock."
    speech = read_speech(
        Reply("ok", text=line), line, speaker=PROSECUTOR, people=PEOPLE, addressable=(), earlier=(), heard=(line,)
    )
    assert speech.flags == ("copy",)


async def test_the_defences_line_in_the_mouth_of_the_prosecutor_is_drawn_anew(tmp_path: Path):
    path = tmp_path / "parrot.yaml"
    path.write_text(
        "name: parrot\nrules:\n"
        "  - {purpose: question, attempt: 0, match: 'Eve Lind [(]defence[)]: (?P<thesis>[^\\n]{60,})', "
        "reply: '{thesis}'}\n"
        "  - {reply: ['Paul Ober, what does exhibit E1 show?', 'Nora Quist, what does E2 show?']}\n",
        encoding="utf-8",
    )
    transcript = await trial(tmp_path, cast(prosecutor=str(path)), "guarded", limits=TrialLimits(questions=1))
    assert ("redraw", "copy", "prosecutor") in {(cure.kind, cure.detail, cure.role) for cure in transcript.cures}
