"""A small case, casts of scripts, and trials on a real ledger."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from pathlib import Path

from dramaturg.ledger import Calls, Ledger
from dramaturg.model import Identity, Model, ModelFacts, OnText, Reply, Request, parse_spec
from dramaturg.model.script import open_script
from dramaturg.model.spec import Options
from dramaturg.stage import Audience, Transcript
from dramaturg.stage.cast import Cast, HumanSeat, ModelSeat, Reader, Seat
from dramaturg.stage.court import (
    DEFAULT_STAGING,
    Case,
    Procedure,
    Protocol,
    StagingOptions,
    TrialLimits,
    load_procedure,
    play_trial,
)
from dramaturg.stage.court.case import Evidence, Fact, Officer, Witness
from dramaturg.stage.court.setting import Setting

SCRIPTS = Path(__file__).parent / "scripts"

CASE = Case(
    id="open-gate",
    title="The Open Gate",
    kind="criminal",
    setting="A court in Northfield",
    charge="Theft of a horse on 3 May",
    accused="Tom Reed",
    summary="A horse left its stable at night through a gate that had been locked at dusk.",
    goal="Tom Reed is found not guilty.",
    judge=Officer(name="Ada Boyd", manner="brief"),
    prosecutor=Officer(name="Carl Nash", manner="sharp"),
    defence=Officer(name="Eve Lind", manner="calm"),
    evidence=(
        Evidence(id="E1", name="Key", description="A key of the gate, found in Reed's coat."),
        Evidence(id="E2", name="Log", description="The gate was opened at 22:10."),
    ),
    witnesses=(
        Witness(
            name="Nora Quist",
            occupation="groom",
            called_by="prosecution",
            manner="shy",
            knowledge=("Heard the gate at ten.",),
            secrets=("Had a second key.",),
        ),
        Witness(
            name="Paul Ober", occupation="baker", called_by="defence", manner="loud", knowledge=("Was with Reed.",)
        ),
        Witness(name="Ines Marr", occupation="vet", called_by="court", manner="dry", knowledge=("Knows the horse.",)),
    ),
    facts=(Fact(text="There were two keys.", status="true"),),
)


class PassingOn:
    """A model that passes everything on to another one; tests change what it sends."""

    def __init__(self, inner: Model) -> None:
        self.inner = inner

    @property
    def identity(self) -> Identity:
        return self.inner.identity

    @property
    def facts(self) -> ModelFacts:
        return self.inner.facts

    @property
    def options(self) -> Options:
        return self.inner.options

    async def send(self, request: Request, on_text: OnText | None = None) -> Reply:
        return await self.inner.send(request, on_text)

    async def embed(self, texts: Sequence[str]) -> None:
        return None

    async def close(self) -> None:
        return None


def script(name: str) -> Model:
    """Returns a shipped script by name, or one of the tests' own."""
    own = SCRIPTS / f"{name}.yaml"
    return open_script(parse_spec(f"script:{own if own.is_file() else name}"))


def cast(analyst: str | None = "court-steady", **scripts: str) -> Cast:
    """Returns a cast of well-behaved scripts; each keyword puts another one into a role."""
    steady = {"judge": "court-steady", "prosecutor": "court-steady", "witness": "court-steady"}
    seats: dict[str, Seat] = {
        kind: ModelSeat(script(name), subject=True) for kind, name in {**steady, **scripts}.items() if kind != "defence"
    }
    seats["defence"] = ModelSeat(script(scripts.get("defence", "court-steady")))
    return Cast(seats, analyst=script(analyst) if analyst else None)


def with_person(players: Cast, read: Reader) -> Cast:
    """Returns the cast with a person as the defence."""
    return Cast({**players.seats, "defence": HumanSeat(read)}, analyst=players.analyst)


def setting(case: Case = CASE, procedure: str = "trial") -> Setting:
    """Returns a setting for what is told before the first call; it cannot ask anybody."""
    return Setting.of(
        case,
        procedure=load_procedure(procedure),
        protocol="paper",
        limits=TrialLimits(),
        cast=cast(),
        calls=typing.cast("Calls", None),
        seed=1,
        variant=None,
    )


async def trial(
    folder: Path,
    players: Cast,
    protocol: Protocol,
    *,
    case: Case = CASE,
    seed: int = 7,
    limits: TrialLimits = TrialLimits(),  # noqa: B008
    procedure: Procedure | None = None,
    audience: Audience | None = None,
    staging: StagingOptions = DEFAULT_STAGING,
) -> Transcript:
    """Returns the transcript of a trial on the ledger in this folder."""
    with Ledger.open(folder / "ledger.db") as ledger:
        return await play_trial(
            case,
            cast=players,
            calls=ledger.calls(unit=f"trial/{seed}", seed=seed),
            seed=seed,
            protocol=protocol,
            limits=limits,
            procedure=procedure,
            audience=audience,
            staging=staging,
        )


def spoken(transcript: Transcript) -> list[str]:
    """Returns the roles of the turns that were said, in order."""
    return [turn.role for turn in transcript.turns if turn.kind != "procedure"]
