"""``dramaturg court run``: a short way to write a study of a court and to run it."""

from __future__ import annotations

import tempfile
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli.console import AsJson
from dramaturg.cli.judge import MODES, OF_THE_JUDGE, Mode
from dramaturg.cli.run import AcceptChanges, LedgerAt, MaxCalls, MaxCost, MaxTokens, Out, ReplayOnly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dramaturg.files import Shelf

HEAD = "# Written by `dramaturg court run`. Go on with it, or change it, by: dramaturg run STUDY --out DIR\n"


class Protocol(StrEnum):
    """The exact variant of the court."""

    PAPER = "paper"
    GUARDED = "guarded"


PROTOCOLS = "paper: what models write is taken as it is, and measured. guarded: faults are cured, and counted."

Protocols = Annotated[Protocol, typer.Option("--protocol", help=PROTOCOLS)]
Questions = Annotated[int, typer.Option("--questions", min=1, max=50, help="Most questions granted to a side.")]
TokensPerTurn = Annotated[int, typer.Option("--tokens-per-turn", min=1, help="Most tokens of a model's turn.")]


def run(
    model: Annotated[
        list[str], typer.Option("--model", metavar="SPEC", help="A model to measure; may be given several times.")
    ],
    case: Annotated[list[str], typer.Option("--case", metavar="NAME|FILE", help="A case; may be given several times.")],
    out: Out,
    seeds: Annotated[int, typer.Option("--seeds", min=1, max=100_000, help="Performances of each case.")] = 1,
    procedure: Annotated[
        list[str] | None,
        typer.Option(
            "--procedure",
            metavar="NAME|FILE",
            help="How the cases are held, each that for which it was made by default; may be given several times.",
        ),
    ] = None,
    protocol: Protocols = Protocol.PAPER,
    cast: Annotated[
        list[str] | None,
        typer.Option(
            "--cast",
            metavar="ROLE=PLAYER",
            help="Who plays a role for all models: script, script:FILE, human or a model; may be given several times.",
        ),
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option("--judge", metavar="SPEC", help="A model that judges; may be given several times."),
    ] = None,
    checklist: Annotated[str, typer.Option("--checklist", metavar="NAME|FILE", help="By what is judged.")] = "court",
    mode: Annotated[Mode | None, typer.Option("--mode", help=MODES, show_default=OF_THE_JUDGE)] = None,
    questions: Questions = 3,
    tokens_per_turn: TokensPerTurn = 110,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, max=1024, help="Most units at once.")] = 4,
    ledger: LedgerAt = "",
    as_json: AsJson = False,
    replay_only: ReplayOnly = False,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    accept_changes: AcceptChanges = False,
    watch: Annotated[bool, typer.Option("--watch", help="Show the performances while they go on.")] = False,
) -> None:
    """Stage cases with models, judge and report. The study is kept as OUT/study.yaml; run it again to resume."""
    from dramaturg.cli.run import budget_of, carry_out, finish, open_ledger
    from dramaturg.files import dump_yaml
    from dramaturg.run.material import read_material
    from dramaturg.text import write_atomically

    study: dict[str, object] = {
        "study": "court",
        "subjects": [subject_of_spec(spec) for spec in model],
        "cases": _found("cases", case, "--case"),
        "seeds": seeds,
        "protocol": protocol.value,
        "limits": {"questions": questions, "tokens_per_turn": tokens_per_turn},
        "concurrency": concurrency,
    }
    if procedure:
        study["procedures"] = _found("procedures", procedure, "--procedure")
    if cast:
        study["cast"] = dict(_role_and_player(text) for text in cast)
    if judge:
        (by,) = _found("checklists", [checklist], "--checklist")
        asked = {} if mode is None else {"mode": mode.value}
        study["judges"] = [{"model": absolute_spec(spec), "checklist": by, **asked} for spec in judge]
    with tempfile.TemporaryDirectory(prefix="dramaturg-") as folder:
        path = Path(folder) / "study.yaml"  # the run copies it to OUT once it is sure that OUT is this study's
        write_atomically(path, HEAD + dump_yaml(study))
        material = read_material(path)
        budget = budget_of(material.study.budgets, max_calls, max_tokens, max_cost)
        with open_ledger(out, ledger, replay_only=replay_only) as store:
            result = carry_out(
                material, out, store, budget, accept_changes=accept_changes, replay_only=replay_only, watch=watch
            )
            finish(result, store, as_json=as_json, command=f"dramaturg run {out / 'study.yaml'} --out {out}")


def subject_of_spec(spec: str) -> str | dict[str, str]:
    """Returns a subject as a study file writes it; a path in its spec means the same from every folder."""
    absolute = absolute_spec(spec)
    return spec if absolute == spec else {"model": absolute, "name": spec}


def absolute_spec(spec: str) -> str:
    """Returns a spec that means the same from every folder."""
    from dramaturg.run.material import named_model

    return named_model(spec, spec, beside=Path()).spec.text


def _found(shelf: Shelf, names: Sequence[str], option: str) -> list[str]:
    """Returns names of shipped files, and paths that mean the same from every folder.

    Raises:
        ContentError: There is no such file.
    """
    from dramaturg.files import find, shipped

    files = shipped(shelf)
    return [name if name in files else str(find(shelf, name, where=option).resolve()) for name in names]


def _role_and_player(text: str) -> tuple[str, str]:
    from dramaturg.errors import UserError

    role, is_parted, player = text.partition("=")
    if not (is_parted and role.strip() and player.strip()):
        raise UserError(f"{text!r} casts nobody", where="--cast", allowed="ROLE=PLAYER, for example defence=human")
    player = player.strip()
    return role.strip(), player if player in {"human", "script"} else absolute_spec(player)
