"""Invented runs for the report: a rich one with everything that can go wrong, a bare one, and one of any size."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from dramaturg.files import find, load_yaml
from dramaturg.judge.checklist.checklist import Checklist, Indicator
from dramaturg.judge.judgement import Judgement, MissingReason, Verdict
from dramaturg.report import Caution, Failure, ModelRecord, ModelUse, Report, RunFacts, collect
from dramaturg.stage.transcript import (
    Cure,
    Outcome,
    Player,
    Restart,
    Role,
    Scenario,
    StateChange,
    Transcript,
    Turn,
)

ATTACK = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
JAPANESE = "認める。検察官は前提なしに質問し直してください。本廷はその鍵が一本だけだとは認定していない。"
ARABIC = "قصصت الفتيل. استغرق الأمر وقتاً، فيداي لم تعودا كما كانتا (E3) في الساعة 21:52."
SMALL, LARGE, JUDGE = "embedded:smollm2-135m", "embedded:qwen2.5-coder-1.5b", "openai:gpt-5-mini"
CASES = {
    "lighthouse": "The Lighthouse Ledger",
    "orchard": "The Orchard Boundary",
    "night-train": "The Night Train Affair",
}
SPOKEN = (
    ("judge", "introduction", "The court is open. We hear the matter of the missing ledger. Prosecutor, begin."),
    (
        "prosecutor",
        "introduction",
        "Your Honour, the ledger lay in the lamp room at nine. At ten it was gone, and one man held the key. I ask for "
        "two questions to the keeper.",
    ),
    ("procedure", "interrogation", "The prosecutor may ask 2 questions."),
    ("prosecutor", "interrogation", "Mr Finch, where did you keep the key on the evening of the third?"),
    ("witness:finch", "interrogation", "On the hook by the stove, sir. It is always on the hook. Ask anyone."),
    ("defence", "interrogation", "Objection. My colleague assumes that there is only one key."),
    ("judge", "interrogation", "Sustained. Prosecutor, put the question without the assumption."),
    (
        "prosecutor",
        "interrogation",
        "Then I ask what you did between nine and ten. The harbour log, exhibit E3, records that the lamp was lit "
        "late, at 21:52. You say that you lit it at nine. Both cannot be true.",
    ),
    ("witness:finch", "interrogation", "I trimmed the wick.\n\nIt took a while. My hands are not what they were."),
    ("defence", "interrogation", "No further questions. The log is in another hand after the second page."),
    ("procedure", "verdict", "The hearing is closed. The parties give their final theses."),
    ("prosecutor", "verdict", "The hour that he cannot explain is the hour in which the ledger vanished."),
    ("defence", "verdict", "An hour is not a proof. The key hung where anyone could take it."),
    (
        "judge",
        "verdict",
        "The court has heard one witness and seen one log. The log was kept by two hands and the key hung in the open. "
        "The accusation is not proven. Not guilty.",
    ),
)
REASONS = {
    "yes": "The turns show it: the prosecutor points to exhibit E3 and draws one conclusion from the time it records.",
    "no": "At this turn the role speaks of a key that the case file does not have, and nobody corrects it.",
    "not_applicable": "No objection was raised that would have needed a ruling.",
    "missing": "",
}


@dataclass(frozen=True, slots=True)
class Run:
    """Files of an invented run, and what is known of it."""

    folder: Path
    facts: RunFacts
    checklists: dict[str, Checklist]

    @property
    def transcripts(self) -> Path:
        return self.folder / "transcripts.jsonl"

    @property
    def judgements(self) -> Path:
        return self.folder / "judgements.jsonl"

    def report(self) -> Report:
        return collect(self.transcripts, self.judgements, checklists=self.checklists, facts=self.facts)


def court() -> Checklist:
    return load_yaml(find("checklists", "court"), Checklist)


def transcript(
    subject: str, case: str = "lighthouse", seed: int = 1, *, turns: Sequence[Turn] | None = None
) -> Transcript:
    return Transcript(
        id=f"court-{case}-{subject.partition(':')[2]}-{seed}",
        suite="court",
        protocol="guarded",
        scenario=Scenario(
            id=case,
            title=CASES.get(case, case),
            reference="Charge: theft of the ledger.\nE1 Key\nE2 Lamp room plan\nE3 Harbour log: lamp lit 21:52.",
        ),
        roles=(
            Role(id="judge", kind="judge", name="Adela Voss", description="Leads the hearing. Brief and dry."),
            Role(id="prosecutor", kind="prosecutor", name="Corin Hale", description="Builds on minutes and exhibits."),
            Role(id="defence", kind="defence", name="Mira Quist"),
            Role(id="witness:finch", kind="witness", name="Edgar Finch", description="Keeps the light; hides a debt."),
        ),
        cast={
            "judge": Player(kind="model", model=subject, subject=True),
            "prosecutor": Player(kind="model", model=subject, subject=True),
            "defence": Player(kind="script", model="lighthouse.defence"),
            "witness:finch": Player(kind="model", model=subject, subject=True),
        },
        seed=seed,
        turns=tuple(turns if turns is not None else spoken()),
        outcome=Outcome(label="win", justification="The key hung in the open, so the accusation is not proven."),
        end_reason="completed",
    )


def spoken() -> list[Turn]:
    names = {"judge": "Adela Voss", "prosecutor": "Corin Hale", "defence": "Mira Quist", "witness:finch": "Edgar Finch"}
    return [
        Turn(
            id=f"T{number}",
            role=role,
            speaker=names.get(role, ""),
            kind="procedure" if role == "procedure" else "speech",
            text=text,
            phase=phase,
        )
        for number, (role, phase, text) in enumerate(SPOKEN, start=1)
    ]


def judgement(
    about: Transcript,
    checklist: Checklist,
    indicator: Indicator,
    answer: Verdict,
    *,
    evidence: Sequence[str] = (),
    reason: MissingReason = "",
    flags: Sequence[str] = (),
    judge: str = JUDGE,
    digest: str = "",
) -> Judgement:
    return Judgement(
        transcript=about.id,
        transcript_digest=digest or about.digest,
        indicator=indicator.id,
        dimension=indicator.dimension,
        subdimension=indicator.subdimension or "",
        answer=answer,
        reason=reason,
        reasoning=REASONS[answer],
        evidence=tuple(evidence),
        flags=tuple(flags),
        source="transcript" if indicator.proof else "model",
        judge=judge,
        mode="single",
        checklist=f"{checklist.id} v{checklist.version}",
        checklist_digest=checklist.hash,
        detail="the answer broke off inside its reasoning" if reason == "truncated" else "",
    )


def judged(about: Transcript, checklist: Checklist, generator: random.Random, share_good: float) -> Iterator[Judgement]:
    digest = about.digest
    played = [turn.id for turn in about.judged_turns()]
    for indicator in checklist.indicators:
        draw = generator.random()
        drawn = generator.sample(played, min(len(played), generator.randint(1, 3)))
        cited = sorted(drawn, key=lambda turn: int(turn[1:]))
        if draw < share_good:
            yield judgement(
                about, checklist, indicator, "yes", evidence=cited if draw < share_good / 2 else (), digest=digest
            )
        elif draw < 0.93:
            yield judgement(about, checklist, indicator, "no", evidence=cited, digest=digest)
        elif draw < 0.95:
            yield judgement(
                about, checklist, indicator, "no", flags=["evidence:unknown:T99", "evidence:none"], digest=digest
            )
        elif draw < 0.98:
            yield judgement(about, checklist, indicator, "missing", reason="truncated", digest=digest)
        else:
            yield judgement(about, checklist, indicator, "not_applicable", digest=digest)


def write(path: Path, records: Iterable[BaseModel]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(record.model_dump_json() + "\n")


def rich_run(folder: Path) -> Run:
    """Two subjects, three cases, two seeds; eleven of twelve trials; hostile, foreign, long and broken text."""
    checklist, generator = court(), random.Random(7)
    trials = [transcript(subject, case, seed) for subject in (SMALL, LARGE) for case in CASES for seed in (1, 2)][:-1]
    trials[0] = _eventful(trials[0])
    trials[1] = trials[1].model_copy(update={"outcome": None, "end_reason": "restarts_exhausted", "turns": ()})
    trials[2] = trials[2].model_copy(update={"outcome": Outcome(label="undecided"), "end_reason": "undecided"})
    good = {SMALL: 0.62, LARGE: 0.84}
    answers = [
        answer
        for trial in trials
        if trial is not trials[4]
        for answer in judged(trial, checklist, generator, good[trial.cast["judge"].model])
    ]
    write(folder / "transcripts.jsonl", trials)
    write(folder / "judgements.jsonl", answers)
    return Run(folder, rich_facts(checklist), {checklist.hash: checklist})


def _eventful(trial: Transcript) -> Transcript:
    turns = spoken()
    turns[3] = turns[3].model_copy(
        update={
            "text": "Mr Finch, where did you keep the key?",
            "raw": "Mr Finch, where did you keep the key?\nFinch: On the hook.",
            "flags": ("cut:other_speaker",),
        }
    )
    turns[4] = turns[4].model_copy(update={"text": f"On the hook. {ATTACK} & so on </p></li></ol></main>"})
    turns[5] = turns[5].model_copy(update={"human": True})
    turns[6] = turns[6].model_copy(update={"text": JAPANESE})
    turns[8] = turns[8].model_copy(update={"text": ARABIC})
    turns[9] = turns[9].model_copy(update={"kind": "action", "text": "Lays the second page before the bench."})
    turns[11] = turns[11].model_copy(update={"text": "The hour that he cannot explain is the hour. " * 90})
    turns[12] = turns[12].model_copy(update={"text": "  ", "seen_by": ("judge", "defence")})
    return trial.model_copy(
        update={
            "turns": tuple(turns),
            "restarts": (
                Restart(
                    cause="no_next_speaker",
                    turn="T3",
                    attempt=0,
                    role="prosecutor",
                    detail="the turn named nobody who may speak next",
                    turns=tuple(spoken()[:3]),
                ),
                Restart(cause="loop", turn="T5", attempt=1, role="witness:finch", turns=tuple(spoken()[:5])),
            ),
            "cures": (
                Cure(kind="cut", turn="T4", role="prosecutor", detail="other_speaker"),
                Cure(kind="redraw", turn="T9", role="witness:finch", detail="the first draw was empty"),
                Cure(kind="fallback", turn="T99", role="judge", detail="of an abandoned attempt"),
            ),
            "states": (StateChange(turn="T3", owner="prosecutor", name="question_budget", value="2"),),
        }
    )


def rich_facts(checklist: Checklist) -> RunFacts:
    return RunFacts(
        study="court-small-models",
        package_version="0.1.0",
        started="2026-03-04T09:12:00+00:00",
        finished="2026-03-04T09:31:20+00:00",
        wall_s=1160.4,
        planned_trials={subject: dict.fromkeys(CASES, 2) for subject in (SMALL, LARGE)},
        models=(
            ModelRecord(
                study_role="subject",
                spec="embedded:smollm2-135m?temperature=0.7",
                identity=SMALL,
                digest="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
                parameters=134_515_008,
                quantisation="Q4_1",
                licence="apache-2.0",
                file_bytes=98_000_000,
                runtime="llama.cpp b6100 (xllamacpp 2026.1)",
                context_tokens=8192,
                served_by=("b6100",),
                peak_memory_bytes=412_000_000,
                settings={"temperature": "0.7", "max_tokens": "120"},
                uses=(
                    ModelUse("speech", 132, 91_200, 80_100, 7_420, None, 96.4, 77.0, 0.21),
                    ModelUse("verdict", 6, 9_100, 8_800, 410, None, 6.0, 68.3, 0.4, None),
                ),
            ),
            ModelRecord(
                study_role="subject",
                spec="embedded:qwen2.5-coder-1.5b",
                identity=LARGE,
                parameters=1_543_714_304,
                quantisation="Q4_K_M",
                licence="apache-2.0",
                file_bytes=986_048_768,
                runtime="llama.cpp b6100 (xllamacpp 2026.1)",
                context_tokens=32_768,
                peak_memory_bytes=1_310_000_000,
                uses=(ModelUse("speech", 110, 88_400, 79_000, 8_100, None, 512.2, 15.8, 1.31),),
            ),
            ModelRecord(
                study_role="judge",
                spec="openai:gpt-5-mini",
                identity=JUDGE,
                served_by=("gpt-5-mini-2026-01-12", "gpt-5-mini-2026-02-20"),
                price_date="2026-02-01",
                uses=(ModelUse("indicator", 380, 1_204_000, 1_102_000, 64_300, 40_960, 402.0, 160.0, 0.62, 0.8231),),
            ),
        ),
        failures=(
            Failure("stage-9f31c2", "connect", "connection refused at 127.0.0.1:8080 after 5 attempts"),
            Failure("judge-1b20aa", "timeout", f"no answer in 120 s {ATTACK}"),
        ),
        unfinished=("judge-77aa01",),
        protocols={"guarded": "Answers follow schemas; a turn that fails is drawn again, then replaced."},
        prompts={"judge-single": "4f" * 32, "judge-system": "a1" * 32, "prosecutor": "07" * 32},
        checklists={"court v1": checklist.hash},
        versions={"dramaturg": "0.1.0", "python": "3.11.7", "xllamacpp": "2026.1"},
        cautions=(Caution("served_by_mixed", f"The server of {JUDGE} changed its version during the run.", "note"),),
        command="dramaturg run study.yaml --out results",
    )


def bare_run(folder: Path) -> Run:
    """One imported transcript of two turns; no judge, no facts."""
    turns = [
        Turn(id="T1", role="user", speaker="", text="Who are you?", human=True),
        Turn(id="T2", role="char", speaker="", text="A lighthouse keeper."),
    ]
    imported = transcript("x:unknown", turns=turns).model_copy(
        update={"cast": {}, "roles": (), "outcome": None, "end_reason": "imported", "id": "Zoë 山田 <1>"}
    )
    write(folder / "transcripts.jsonl", [imported])
    return Run(folder, RunFacts(study="imported", package_version="0.1.0"), {})


def empty_run(folder: Path) -> Run:
    """Every unit failed."""
    checklist = court()
    write(folder / "transcripts.jsonl", [])
    write(folder / "judgements.jsonl", [])
    facts = RunFacts(
        study="nothing",
        package_version="0.1.0",
        planned_trials={SMALL: {"lighthouse": 1}},
        failures=(Failure("stage-1", "memory", "the model needs 9 GB"),),
    )
    return Run(folder, facts, {checklist.hash: checklist})


def large_run(folder: Path, trials: int) -> Run:
    """Many trials of two subjects, judged in full."""
    checklist, generator = court(), random.Random(11)
    bases = [transcript(subject, case) for subject in (SMALL, LARGE) for case in CASES]

    def staged() -> Iterator[Transcript]:
        for number in range(trials):
            yield bases[number % len(bases)].model_copy(update={"id": f"trial-{number:06d}", "seed": number})

    write(folder / "transcripts.jsonl", staged())
    write(folder / "judgements.jsonl", (one for trial in staged() for one in judged(trial, checklist, generator, 0.7)))
    return Run(folder, RunFacts(study="large", package_version="0.1.0"), {checklist.hash: checklist})
