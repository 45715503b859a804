"""Roles with a policy: a prosecutor that chooses, a witness that is held to what it knows, a judge that decides."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from court_fixtures import CASE, PassingOn, cast, script, spoken, trial
from dramaturg.errors import StudyError, UserError
from dramaturg.ledger import Ledger
from dramaturg.model import Model, OnText, Reply, Request, TokenLogprob
from dramaturg.model.embeddings import LEXICAL
from dramaturg.run.court import performance_calls
from dramaturg.run.material import read_material
from dramaturg.run.snapshot import snapshot_of
from dramaturg.run.units import StageUnit, units_of
from dramaturg.stage import Transcript
from dramaturg.stage.cast import Cast, ModelSeat
from dramaturg.stage.court import Protocol, StagingOptions, TrialLimits, expected_calls, load_procedure
from dramaturg.stage.court.inventions import inventions

BEST = StagingOptions.model_validate({"candidates": 3, "lambda": 0.5, "strength": "lexical", "similarity": "lexical"})
RULES = StagingOptions(witness_check="rules")

KNOWN = """\
Heard the gate at ten. Left at 22:10 on 3 May. There were two keys and 1,200 crowns. Exhibit E2 is a log.
Nora Quist, groom. Carl Nash asked about Tom Reed. Twenty-five horses.
"""


class Likely(PassingOn):
    """A script whose answers to questions about strength carry log-probabilities."""

    def __init__(self, inner: Model, *shares: float | None) -> None:
        super().__init__(inner)
        self.shares = [*shares]

    async def send(self, request: Request, on_text: OnText | None = None) -> Reply:
        if request.labels["purpose"] != "strength":
            return await self.inner.send(request, on_text)
        share = self.shares.pop(0) if self.shares else 0.5
        if share is None:
            return Reply("ok", text="yes")
        top = (("yes", math.log(share)), ("no", math.log(1 - share)))
        return Reply("ok", text="yes", logprobs=(TokenLogprob("yes", math.log(share), top),))


def with_prosecutor(model: Model) -> Cast:
    players = cast(analyst=None)
    return Cast({**players.seats, "prosecutor": ModelSeat(model, subject=True)})


def yaml_script(folder: Path, name: str, text: str) -> Model:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.yaml"
    path.write_text(f"name: {name}\nrules:\n{text}", encoding="utf-8")
    return script(str(path))


def choices(transcript: Transcript) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Returns what was chosen by, and the candidates, for every turn with a choice."""
    found: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    candidates: list[dict[str, Any]] = []
    for state in transcript.states:
        if state.name.startswith("candidate:"):
            candidates.append(json.loads(state.value))
        elif state.name == "candidate":
            found.append((json.loads(state.value), candidates))
            candidates = []
    return found


# The prosecutor


async def test_the_chosen_candidate_has_the_highest_score_and_all_are_recorded(tmp_path: Path):
    transcript = await trial(tmp_path, cast(), "guarded", staging=BEST)
    turns = {turn.id: turn for turn in transcript.turns}
    said = [turn for turn in transcript.turns if turn.role == "prosecutor"]
    made = choices(transcript)
    assert len(made) == len(said)
    for (measures, candidates), turn in zip(made, said, strict=True):
        assert len(candidates) == 3
        assert len({candidate["call"] for candidate in candidates}) == 3, "each has its own seed and its own call"
        scores = [candidate["strength"] - 0.5 * candidate["similarity"] for candidate in candidates]
        assert [candidate["score"] for candidate in candidates] == pytest.approx(scores, abs=1e-5)
        assert scores[measures["chosen"]] == pytest.approx(max(scores), abs=1e-5)
        assert turns[turn.id].call == candidates[measures["chosen"]]["call"]
        assert measures["similarity_by"] == LEXICAL
        assert measures["strength_by"].startswith(LEXICAL)
    with Ledger.open(tmp_path / "ledger.db", replay_only=True) as ledger:
        assert ledger.counts()["calls"] > 3 * len(said), "every draft is in the ledger"


async def test_one_candidate_without_lambda_asks_exactly_what_was_asked_before(tmp_path: Path):
    keys: list[list[str]] = []
    for name, staging in (("a", StagingOptions()), ("b", StagingOptions(candidates=1, strength="lexical"))):
        transcript = await trial(tmp_path / name, cast(), "paper", staging=staging)
        keys.append([turn.call for turn in transcript.turns])
        assert choices(transcript) == []
    assert keys[0] == keys[1]


async def test_strength_is_the_probability_of_yes_where_the_model_tells_it(tmp_path: Path):
    staging = StagingOptions(candidates=2, strength="logprob", similarity="lexical")
    model = Likely(script("court-steady"), 0.2, 0.9)
    transcript = await trial(tmp_path, with_prosecutor(model), "paper", staging=staging)
    measures, candidates = choices(transcript)[0]
    assert measures["strength_by"] == "probability of yes"
    assert [candidate["strength"] for candidate in candidates] == pytest.approx([0.2, 0.9])
    assert measures["chosen"] == 1


async def test_a_model_without_log_probabilities_is_measured_by_words_for_all_drafts_of_the_turn(tmp_path: Path):
    staging = StagingOptions(candidates=2, similarity="lexical")
    model = Likely(script("court-steady"), 0.9, None)
    transcript = await trial(tmp_path, with_prosecutor(model), "paper", staging=staging)
    measures, candidates = choices(transcript)[0]
    assert measures["strength_by"].startswith(LEXICAL)
    assert all("strength" in candidate for candidate in candidates)


async def test_strength_can_be_the_models_own_rating(tmp_path: Path):
    text = (
        "  - {purpose: strength-rating, match: 'E2 only', json: {strength: 2}}\n"
        "  - {purpose: strength-rating, json: {strength: 9}}\n"
        "  - purpose: thesis\n    reply: ['E1 and E2 prove it. I ask for 2 questions.', 'E2 only, and 2 questions.']\n"
        "  - {purpose: question, reply: ['Nora Quist, what?', 'Paul Ober, who?', 'Ines Marr, when?']}\n"
        "  - {reply: [It is proved by E1., It is proved by E2.]}\n"
    )
    staging = StagingOptions(candidates=4, strength="rating", similarity="lexical")
    model = yaml_script(tmp_path, "rater", text)
    transcript = await trial(tmp_path, with_prosecutor(model), "guarded", staging=staging)
    measures, candidates = choices(transcript)[0]
    assert measures["strength_by"] == "rating from 0 to 10"
    assert {candidate["strength"] for candidate in candidates} <= {0.2, 0.9}
    assert candidates[measures["chosen"]]["strength"] == max(candidate["strength"] for candidate in candidates)


async def test_lambda_turns_the_choice_away_from_the_players_goal(tmp_path: Path):
    text = (
        "  - purpose: thesis\n    reply: ['Tom Reed is found not guilty of theft of a horse on 3 May. 2 questions.',"
        " 'Exhibit E1 counts against him. I ask for 2 questions.']\n"
        "  - {purpose: question, reply: ['Nora Quist, what?', 'Paul Ober, who?', 'Ines Marr, when?']}\n"
        "  - {reply: [It is proved by E1., It is proved by E2.]}\n"
    )
    said: dict[float, str] = {}
    for weight in (0.0, 5.0):
        staging = StagingOptions.model_validate(
            {"candidates": 8, "lambda": weight, "strength": "lexical", "similarity": "lexical"}
        )
        model = yaml_script(tmp_path / str(weight), "sides", text)
        transcript = await trial(tmp_path / str(weight), with_prosecutor(model), "guarded", staging=staging)
        said[weight] = next(turn.text for turn in transcript.turns if turn.role == "prosecutor")
    assert "not guilty" in said[0.0]
    assert "against him" in said[5.0]


async def test_a_draft_of_which_nothing_can_be_used_is_left_out_of_the_choice(tmp_path: Path):
    text = (
        "  - {purpose: thesis, chance: 0.5, fault: empty}\n"
        "  - {purpose: thesis, reply: 'E1 shows it. I ask for 2 questions. <Questions: 2>'}\n"
        "  - {purpose: question, reply: ['No further questions.', 'I rest here.']}\n"
        "  - {reply: [It is proved by E1., It is proved by E2.]}\n"
    )
    staging = StagingOptions(candidates=8, strength="lexical", similarity="lexical")
    model = yaml_script(tmp_path, "half", text)
    transcript = await trial(tmp_path, with_prosecutor(model), "paper", staging=staging)
    measures, candidates = choices(transcript)[0]
    faults = [candidate.get("fault", "") for candidate in candidates]
    assert {"", "empty"} == set(faults)
    assert faults[measures["chosen"]] == ""
    assert transcript.restarts == ()


async def test_where_no_draft_can_be_used_the_trial_breaks_as_with_one(tmp_path: Path):
    staging = StagingOptions(candidates=2, strength="lexical", similarity="lexical")
    players = cast(prosecutor="silent")
    transcript = await trial(tmp_path, players, "paper", limits=TrialLimits(restarts=0), staging=staging)
    assert [restart.cause for restart in transcript.restarts] == ["empty"]


async def test_a_replay_chooses_the_same(tmp_path: Path):
    first = await trial(tmp_path, cast(), "guarded", staging=BEST)
    again = await trial(tmp_path, cast(), "guarded", staging=BEST)
    assert first.model_dump_json() == again.model_dump_json()


# The witness


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("I heard the gate at ten, and at 22:10 I left.", ()),
        ("It was 10:10 in the evening, on 3 May.", ()),
        ("I heard it at 23:45.", ("23:45",)),
        ("There were two keys, one for each of us.", ()),
        ("There were seven keys.", ("seven",)),
        ("Twenty-five horses, and 1200 crowns.", ()),
        ("Twenty-six horses.", ("Twenty-six",)),
        ("About seven minutes, or perhaps eight.", ()),
        ("It stands in exhibit E2.", ()),
        ("It stands in exhibit E7.", ("E7",)),
        ("I saw Marcus Webb at the gate.", ("Marcus Webb",)),
        ("Then I spoke with Marcus about it.", ("Marcus",)),
        ("Tom Reed was there, and Nora too.", ()),
        ("That was on a Tuesday in July.", ("tuesday", "july")),
        ("That may be so, Your Honour.", ()),
        ("I do not know whether it was 23:45.", ()),
        ("I cannot say, but I saw Marcus Webb.", ("Marcus Webb",)),
        ("I'm not sure. It was dark.", ()),
        ("", ()),
    ],
)
def test_only_what_nobody_told_is_an_invention(answer: str, found: tuple[str, ...]):
    assert inventions(answer, KNOWN, "en") == found


@pytest.mark.parametrize(
    ("language", "answer", "found"),
    [
        ("it", "Non so se fossero le 23:45.", ()),
        ("it", "Erano le 23:45, di martedì.", ("23:45", "martedì")),
        ("zh", "我不知道是不是23点。", ()),
        ("zh", "我在23点看见了7匹马。", ("23", "7")),
        ("de", "Ich sah den Mann am Tor.", ()),
    ],
)
def test_other_languages_have_their_own_uncertainty(language: str, answer: str, found: tuple[str, ...]):
    assert inventions(answer, KNOWN, language) == found


@given(st.text(max_size=200) | st.text("0123456789.:,hE ?!ab", max_size=60))
@example(".0")
def test_what_was_told_is_never_an_invention(text: str):
    assert inventions(text, text, "en") == ()


def inventing(folder: Path, *, until: int) -> str:
    """Returns a witness that names an unknown man until it is drawn for that time, counted from 0."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "inventor.py"
    path.write_text(
        "def reply(request):\n"
        "    step = request.labels['step']\n"
        "    number = int(step.rpartition('/witness/')[2]) if '/witness/' in step else 0\n"
        f"    if number < {until}:\n"
        "        return 'I saw Marcus Webb at 23:45.' if number else 'I saw Marcus Webb with exhibit E9 at 23:45.'\n"
        "    said = sum(m.role == 'assistant' for m in request.messages)\n"
        "    return ['I do not know.', 'I heard the gate.', 'I cannot say more.'][said % 3]\n",
        encoding="utf-8",
    )
    return str(path)


async def test_an_answer_that_invents_is_drawn_anew_and_each_redraw_is_recorded(tmp_path: Path):
    players = cast(witness=inventing(tmp_path, until=2), analyst=None)
    transcript = await trial(tmp_path, players, "guarded", staging=RULES)
    answers = [turn for turn in transcript.turns if turn.role.startswith("witness")]
    assert answers
    for turn in answers:
        cures = [cure for cure in transcript.cures if cure.turn == turn.id]
        assert [cure.kind for cure in cures] == ["redraw", "redraw"]
        assert cures[0].detail == "invention: E9, 23:45, Marcus Webb"
        assert cures[1].detail == "invention: 23:45, Marcus Webb"
        assert "Marcus" not in turn.text
        assert "redraw:invention" in turn.flags
        assert "inconsistent" not in turn.flags


async def test_after_the_last_redraw_the_answer_that_invents_least_is_taken_and_flagged(tmp_path: Path):
    players = cast(witness=inventing(tmp_path, until=99), analyst=None)
    transcript = await trial(tmp_path, players, "guarded", staging=RULES)
    answers = [turn for turn in transcript.turns if turn.role.startswith("witness")]
    assert all("inconsistent" in turn.flags and "E9" not in turn.text for turn in answers[:1])
    assert all(turn.text for turn in answers), "never silence"
    kinds = [cure.kind for cure in transcript.cures if cure.turn == answers[0].id]
    assert kinds == ["redraw", "redraw", "inconsistent"]


async def test_without_redraws_an_invention_is_flagged_at_once(tmp_path: Path):
    players = cast(witness=inventing(tmp_path, until=1), analyst=None)
    staging = StagingOptions(witness_check="rules", witness_redraws=0)
    transcript = await trial(tmp_path, players, "guarded", staging=staging)
    first = next(turn for turn in transcript.turns if turn.role.startswith("witness"))
    assert first.flags == ("inconsistent",)


async def test_the_model_is_asked_where_the_rules_find_nothing(tmp_path: Path):
    text = (
        "  - {purpose: witness-check, match: 'the stable burned', json: {statement: the fire, invented: 'yes'}}\n"
        "  - {purpose: witness-check, json: {statement: '', invented: 'no'}}\n"
        "  - {purpose: answer, reply: [And then the stable burned down., I heard the gate., I saw nobody.]}\n"
        "  - {fault: empty}\n"
    )
    model = yaml_script(tmp_path, "fire", text)
    players = cast()
    seats = {**players.seats, "witness": ModelSeat(model, subject=True)}
    both = Cast(seats, analyst=model)
    staging = StagingOptions(witness_check="model", witness_redraws=4)
    transcript = await trial(tmp_path, both, "guarded", staging=staging)
    details = {cure.detail for cure in transcript.cures if cure.detail.startswith("invention")}
    assert details <= {"invention: the fire"}
    low, high = expected_calls(CASE, "guarded", staging=staging)
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        assert low <= ledger.counts()["calls"] <= high
        uses = {use.purpose: use.calls for use in ledger.uses()}
    assert uses["witness-check"] >= len([turn for turn in transcript.turns if "witness:" in turn.role])


async def test_a_check_that_cannot_be_read_lets_the_answer_stand_and_says_so(tmp_path: Path):
    model = yaml_script(tmp_path, "mumbles", "  - {purpose: witness-check, reply: Well.}\n")
    players = Cast(cast().seats, analyst=model)
    transcript = await trial(tmp_path, players, "guarded", staging=StagingOptions(witness_check="model"))
    answers = [turn for turn in transcript.turns if turn.role.startswith("witness")]
    assert all("check:unread" in turn.flags for turn in answers if "inconsistent" not in turn.flags)


# The judge


async def test_a_structured_ruling_is_what_the_field_says(tmp_path: Path):
    judge = (
        "  - {schema: true, purpose: ruling, json: {words: The court has heard that., ruling: sustained}}\n"
        "  - {schema: true, purpose: grant, json: {words: Ask briefly., questions: 2}}\n"
        "  - {schema: true, purpose: verdict, json: {announcement: It is not proved., outcome: undecided}}\n"
        "  - {reply: [Please begin now., Please go on now., Please end now.]}\n"
    )
    objects = (
        "  - {purpose: question, once: true, reply: 'Objection, Your Honour: that is hearsay.'}\n"
        "  - {purpose: question, reply: ['Nora Quist, where?', 'Paul Ober, who was with you?', 'Ines Marr, why?']}\n"
        "  - {reply: [The charge is not proved by E1., I leave E2 to the court.]}\n"
    )
    players = cast(analyst=None)
    seats = {
        **players.seats,
        "judge": ModelSeat(yaml_script(tmp_path, "structured", judge), subject=True),
        "defence": ModelSeat(yaml_script(tmp_path, "objects", objects)),
    }
    transcript = await trial(tmp_path, Cast(seats), "guarded", staging=StagingOptions(judge="structured"))
    ruling = next(state for state in transcript.states if state.name == "objection")
    assert ruling.value == "sustained"
    granted = [state.value for state in transcript.states if state.name == "prosecution"]
    assert granted[0] == "2"
    said = {turn.text for turn in transcript.turns if turn.role == "judge"}
    assert {"The court has heard that.", "Ask briefly."} <= said
    assert not any(cure.detail in {"ruling", "count"} for cure in transcript.cures), "nobody had to read the words"


async def test_a_judge_that_gives_no_decision_is_replaced_by_the_stated_line(tmp_path: Path):
    judge = (
        "  - {schema: true, purpose: grant, json: {words: Take many., questions: 40}}\n"
        "  - {schema: true, purpose: verdict, json: {announcement: It is not proved., outcome: undecided}}\n"
        "  - {reply: [Please begin now., Please go on now., Please end now.]}\n"
    )
    players = cast(analyst=None)
    seats = {**players.seats, "judge": ModelSeat(yaml_script(tmp_path, "lavish", judge), subject=True)}
    transcript = await trial(tmp_path, Cast(seats), "guarded", staging=StagingOptions(judge="structured"))
    grant = next(turn for turn in transcript.turns if turn.role == "judge" and "fallback:unparsed" in turn.flags)
    assert grant.text == "Each side may put 3 questions."
    assert next(state.value for state in transcript.states if state.name == "prosecution") == "3"
    assert spoken(transcript)[-1] == "judge"


async def test_the_stated_grant_counts_one_question_as_one(tmp_path: Path):
    silent = cast(analyst=None)
    seats = {**silent.seats, "judge": ModelSeat(yaml_script(tmp_path, "silent", "  - {reply: '...'}\n"), subject=True)}
    transcript = await trial(tmp_path, Cast(seats), "guarded", limits=TrialLimits(questions=1))
    assert "Each side may put 1 question." in [turn.text for turn in transcript.turns]


async def test_words_that_say_something_else_than_the_decision_are_flagged(tmp_path: Path):
    judge = (
        "  - {schema: true, purpose: grant, json: {words: I grant 3 questions each., questions: 1}}\n"
        "  - {schema: true, purpose: verdict, json: {announcement: It is not proved., outcome: undecided}}\n"
        "  - {reply: [Please begin now., Please go on now., Please end now.]}\n"
    )
    players = cast(analyst=None)
    seats = {**players.seats, "judge": ModelSeat(yaml_script(tmp_path, "torn", judge), subject=True)}
    transcript = await trial(tmp_path, Cast(seats), "guarded", staging=StagingOptions(judge="structured"))
    (grant,) = [turn for turn in transcript.turns if "decision:unlike_words" in turn.flags]
    assert grant.text == "I grant 3 questions each."
    assert next(state.value for state in transcript.states if state.name == "defence") == "1"


# Stability


async def test_a_speech_that_does_not_come_in_time_is_a_freeze_and_is_replayed_as_one(tmp_path: Path):
    path = tmp_path / "hangs.py"
    path.write_text(
        "from dramaturg.model import Reply\n"
        "def reply(request):\n"
        "    return Reply('failed', failure='timeout', detail='no answer within 900 s')\n",
        encoding="utf-8",
    )
    players = cast(witness=str(path))
    transcript = await trial(tmp_path, players, "paper", limits=TrialLimits(restarts=1))
    assert [restart.cause for restart in transcript.restarts] == ["freeze", "freeze"]
    assert transcript.end_reason == "restarts_exhausted"
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    again = await trial(tmp_path, players, "paper", limits=TrialLimits(restarts=1))
    assert again.model_dump_json() == transcript.model_dump_json()


# What a study may say


def study(folder: Path, **changes: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "study.yaml"
    content = {"study": "s", "subjects": ["openai:gpt-5"], "cases": ["summit-ridge"], **changes}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def stage_unit(path: Path) -> StageUnit:
    return next(unit for unit in units_of(read_material(path)) if isinstance(unit, StageUnit))


def test_staging_is_part_of_the_unit_and_its_defaults_are_not(tmp_path: Path):
    plain = stage_unit(study(tmp_path))
    same = stage_unit(study(tmp_path, staging={"layout": "role-first", "candidates": 1, "lambda": 0}))
    other = stage_unit(study(tmp_path, staging={"layout": "role-last"}))
    assert plain.id == same.id
    assert plain.id != other.id
    entries = snapshot_of(read_material(tmp_path / "study.yaml")).entries
    assert entries["staging.layout"] == "role-last"
    assert entries["staging.lambda"] == "0.0"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"staging": {"witness_check": "rules"}}, "the protocol paper takes what a witness says as it is"),
        ({"staging": {"judge": "structured"}}, "the protocol paper reads free text"),
        ({"staging": {"lambda": 1}}, "lambda weighs candidates against each other"),
        ({"staging": {"layout": "role-middle"}}, "'role-first' or 'role-last'"),
        ({"staging": {"candidates": 0}}, "greater than or equal to 1"),
        ({"staging": {"lamda": 1}}, "did you mean 'lambda'"),
        ({"staging": {"weight": 1}}, "unknown key"),
    ],
)
def test_what_cannot_be_had_is_one_clear_line(tmp_path: Path, changes: dict[str, object], said: str):
    with pytest.raises(StudyError) as raised:
        read_material(study(tmp_path, **changes))
    assert said in str(raised.value)


def test_an_option_for_a_role_that_a_procedure_does_not_have_is_refused():
    desk = load_procedure("complaint")
    with pytest.raises(UserError, match=r"staging\.candidates is for the prosecutor, whom procedure 'complaint'"):
        StagingOptions(candidates=2).check(desk, guarded=True)
    with pytest.raises(UserError, match=r"staging\.witness_check is for the witness"):
        RULES.check(desk, guarded=True)


async def test_what_cannot_be_had_is_refused_before_any_call(tmp_path: Path):
    with pytest.raises(UserError, match="the protocol paper takes what a witness says"):
        await trial(tmp_path, cast(), "paper", staging=RULES)
    with pytest.raises(UserError, match="asks the analyst, and there is none"):
        await trial(tmp_path, cast(analyst=None), "guarded", staging=StagingOptions(witness_check="model"))


@pytest.mark.parametrize(
    ("protocol", "options"),
    [
        ("paper", {"candidates": 3, "strength": "lexical", "similarity": "lexical"}),
        ("guarded", {"candidates": 2, "strength": "lexical", "similarity": "lexical", "judge": "structured"}),
        ("guarded", {"layout": "role-last", "witness_check": "model"}),
    ],
)
async def test_the_calls_lie_within_what_a_plan_says(tmp_path: Path, protocol: Protocol, options: dict[str, Any]):
    staging = StagingOptions.model_validate(options)
    low, high = expected_calls(CASE, protocol, staging=staging)
    judge = (
        "  - {schema: true, purpose: grant, json: {words: Ask briefly., questions: 3}}\n"
        "  - {schema: true, purpose: verdict, json: {announcement: It is not proved., outcome: undecided}}\n"
        "  - {purpose: summary, reply: Both sides spoke.}\n"
        "  - {purpose: grant, reply: 'Three each. <Questions: 3>'}\n"
        "  - {reply: [Please begin now., Please go on now., 'It is over. <Verdict: UNDECIDED>']}\n"
    )
    checks = "  - {purpose: witness-check, json: {statement: '', invented: 'no'}}\n  - {fault: empty}\n"
    players = cast()
    seats = {**players.seats, "judge": ModelSeat(yaml_script(tmp_path, "brief", judge), subject=True)}
    analyst = yaml_script(tmp_path, "checks", checks)
    await trial(tmp_path, Cast(seats, analyst=analyst), protocol, staging=staging)
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        assert low <= ledger.counts()["calls"] <= high


def test_a_plan_counts_candidates_and_checks(tmp_path: Path):
    plain = study(tmp_path / "a", protocol="guarded")
    more = study(tmp_path / "b", protocol="guarded", staging={"candidates": 4, "witness_check": "model"})
    few = performance_calls(stage_unit(plain), read_material(plain).study)
    many = performance_calls(stage_unit(more), read_material(more).study)
    assert many[0] > few[0]
    assert many[1] > few[1]
