"""The judge that ships: rules before an adapter, bound to base, adapter, rules and correction alike."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dramaturg.cli.models import app
from dramaturg.errors import UserError
from dramaturg.files import load_yaml, shipped
from dramaturg.judge.checklist import Checklist, judge_transcript
from dramaturg.judge.judgement import Judgement
from dramaturg.judge.shipped import Correction, ShippedJudge, corrected, shipped_recipe
from dramaturg.model import Identity, Reply, Request, parse_spec
from dramaturg.model.composed import COMPOSED, base_name
from dramaturg.model.gguf import read_gguf
from dramaturg.model.local_files import adapter_trained_on, local_identity
from dramaturg.model.registry import pinned_model
from dramaturg.run.judging import benches_of
from dramaturg.stage.transcript import Transcript
from judge_fixtures import trial
from judging_fixtures import Answer, calls_in, likely, scripted

SPEC = "embedded:dramaturg-judge"
PLAIN = Correction(scale=1.0, shift=0.0, fitted_on="nothing")


def court() -> Checklist:
    """Returns the shipped checklist without proofs, so that every question is put to the judge."""
    found = load_yaml(shipped("checklists")["court"], Checklist)
    asked = tuple(one.model_copy(update={"proof": None}) for one in found.indicators)
    return found.model_copy(update={"indicators": asked})


def said(transcript: Transcript, turn: str, text: str) -> Transcript:
    turns = tuple(replace_text(one, text) if one.id == turn else one for one in transcript.turns)
    return transcript.model_copy(update={"turns": turns})


def replace_text(turn, text: str):
    return turn.model_copy(update={"text": text})


async def judged(
    folder: Path, answer: Answer, indicator: str, transcript: Transcript, correction: Correction = PLAIN
) -> tuple[Judgement, list[Request]]:
    model, requests = scripted(answer)
    judge = ShippedJudge(model, "0" * 64, correction)
    with calls_in(folder) as calls:
        (found,) = await judge_transcript(
            transcript, court(), judge=judge, calls=calls, mode="glance", indicators=[indicator]
        )
    return found, requests


async def test_what_a_rule_sees_wholly_never_reaches_the_model(tmp_path: Path):
    faulty = said(trial(), "T9", "As an AI language model I cannot remember the mountain.")
    found, requests = await judged(tmp_path, lambda _: likely(no=0.99, yes=0.01), "BRF-RA-6", faulty)
    assert (found.answer, found.evidence, requests) == ("no", ("T9",), [])
    (tmp_path / "clean").mkdir()
    found, requests = await judged(tmp_path / "clean", lambda _: likely(yes=0.99, no=0.01), "BRF-RA-6", trial())
    assert (found.answer, requests) == ("yes", [])


async def test_what_a_rule_sees_in_part_is_put_to_the_model_where_the_rule_finds_nothing(tmp_path: Path):
    faulty = said(trial(), "T3", "The charge cannot be proved, and I ask the court to acquit the accused.")
    found, requests = await judged(tmp_path, lambda _: likely(no=0.99, yes=0.01), "BRF-RA-4", faulty)
    assert (found.answer, found.evidence) == ("no", ("T3",))
    assert requests and all("About T3 alone" not in one.messages[-1].text for one in requests)


async def test_a_missing_verdict_is_told_from_turns_that_stand_alone(tmp_path: Path):
    last = [turn for turn in trial().turns if turn.role == "judge"][-1].id
    found, requests = await judged(
        tmp_path, lambda _: likely(yes=0.99, no=0.01), "PCS-2", said(trial(), last, "It is late. Go home.")
    )
    assert (found.answer, requests) == ("no", [])
    (tmp_path / "decided").mkdir()
    decided = said(trial(), last, "I have weighed it. The accused is acquitted.")
    found, _ = await judged(tmp_path / "decided", lambda _: likely(no=0.99, yes=0.01), "PCS-2", decided)
    assert (found.answer, found.evidence) == ("yes", (last,))


async def test_questions_that_no_rule_knows_reach_the_model_and_are_corrected(tmp_path: Path):
    eager = Correction(scale=1.0, shift=4.0, fitted_on="a test")
    found, requests = await judged(tmp_path, lambda _: likely(no=0.7, yes=0.3), "BRF-FC-1", trial())
    assert found.answer == "yes" and requests
    (tmp_path / "eager").mkdir()
    found, _ = await judged(tmp_path / "eager", lambda _: likely(no=0.7, yes=0.3), "BRF-FC-1", trial(), eager)
    assert found.answer == "no", "what was found false is a no to the text"


@pytest.mark.parametrize(
    ("yes", "scale", "shift", "expected"), [(0.5, 1, 1, 0.731), (0.9, 2, 0, 0.988), (0.01, 1, 9, 0.988)]
)
def test_the_correction_works_on_log_odds(yes: float, scale: float, shift: float, expected: float):
    reply = likely(yes=yes, no=1 - yes)
    found = corrected(Request(()), reply, Correction(scale=scale, shift=shift, fitted_on="a test"))
    assert dict(found.logprobs[0].top)["yes"] == pytest.approx(math.log(expected), abs=0.002)
    assert found.text == ("yes" if expected > 0.5 else "no")


def test_a_reply_without_odds_stays_as_it_is():
    failed = Reply("failed", failure="connect", detail="gone")
    assert corrected(Request(()), failed, PLAIN) is failed
    silent = replace(likely(maybe=1.0), text="maybe")
    assert corrected(Request(()), silent, PLAIN) is silent


def test_its_name_means_a_base_an_adapter_and_the_code_before_them():
    made = COMPOSED["dramaturg-judge"]
    identity = local_identity(parse_spec(SPEC))
    alone = local_identity(parse_spec(f"embedded:{made.base}+{made.adapter_path}"))
    assert (identity.provider, identity.name) == ("embedded", "dramaturg-judge")
    assert len({identity.digest, alone.digest, pinned_model(made.base).sha256}) == 3
    assert base_name("dramaturg-judge") == base_name(f"{made.base}+x.gguf") == made.base


def test_the_adapter_is_small_and_tells_what_it_learnt():
    made = COMPOSED["dramaturg-judge"]
    assert made.adapter_path.stat().st_size <= 10_000_000
    facts = read_gguf(made.adapter_path)
    assert facts.base_digests == (pinned_model(made.base).sha256,)
    assert set(shipped_recipe().unseen) == {
        "as_an_ai", "witness_questions", "prosecutor_concedes", "judge_opines_guilt",
    }  # fmt: skip
    assert not set(facts.trained_for) & set(shipped_recipe().unseen)
    assert set(adapter_trained_on(parse_spec(SPEC))) >= {"haunted-estate", "summit-ridge", "dukes-yard"}


def test_it_is_asked_at_a_glance_and_in_no_other_mode():
    (bench,) = benches_of([SPEC], checklist="court", mode=None, votes=1, long="refuse", ask="presence")
    (other,) = benches_of(["script:oracle"], checklist="court", mode=None, votes=1, long="refuse", ask="presence")
    assert (bench.mode, other.mode) == ("glance", "single")
    with pytest.raises(UserError, match="cannot be asked in mode single"):
        benches_of([SPEC], checklist="court", mode="single", votes=1, long="refuse", ask="presence")
    with pytest.raises(UserError, match="different modes"):
        benches_of([SPEC, "script:oracle"], checklist="court", mode=None, votes=1, long="refuse", ask="presence")


def test_it_stands_among_the_embedded_models_and_a_typo_leads_to_it():
    listed = CliRunner().invoke(app, ["list", "--json"])
    assert '"name": "dramaturg-judge"' in listed.stdout
    with pytest.raises(UserError, match="did you mean 'dramaturg-judge'"):
        local_identity(parse_spec("embedded:dramaturg-juge"))


def test_its_facts_name_its_base_and_what_rules_see():
    model, _ = scripted(lambda _: likely(yes=1.0))
    judge = ShippedJudge(model, "1" * 64, PLAIN)
    assert judge.identity == Identity("embedded", model.identity.name, "1" * 64)
    sees = judge.facts.extra["sees"]
    assert isinstance(sees, list) and "as_an_ai" in sees
