"""``dramaturg world play``, ``run`` and ``cost``: stories that models play, as studies and one by one."""

from __future__ import annotations

import tempfile
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli.console import AsJson, figures_table, say_json, show
from dramaturg.cli.run import (
    AcceptChanges,
    LedgerAt,
    MaxCalls,
    MaxCost,
    MaxTokens,
    Out,
    ReplayOnly,
    budget_of,
    finish,
    open_ledger,
    progress_display,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dramaturg.ledger import Budget, Ledger
    from dramaturg.run.result import RunResult
    from dramaturg.run.world.costs import PlayCost
    from dramaturg.run.world.material import WorldMaterial

HEAD = "# Written by `dramaturg world`. Go on with it, or change it, by: dramaturg run STUDY --out DIR\n"


class Protocol(StrEnum):
    """The exact variant of a round."""

    PAPER = "paper"
    RELEASED = "released"
    FAST = "fast"


PROTOCOLS = (
    "paper: Algorithm 1, everybody acts. released: the published order, where who reacts loses its turn and a director "
    "plans. fast: the same information in fewer calls."
)

Scene = Annotated[
    str, typer.Argument(metavar="SCENE", help="Name of a shipped scene, or a file; FILE#ID is one of it.")
]
Protocols = Annotated[Protocol, typer.Option("--protocol", help=PROTOCOLS)]
Rounds = Annotated[int, typer.Option("--rounds", min=1, max=1000, help="Most rounds.")]
Narrator = Annotated[
    str, typer.Option("--narrator", metavar="SPEC", help="The model that narrates; the measured one by default.")
]
Players = Annotated[
    list[str] | None,
    typer.Option(
        "--cast",
        metavar="ROLE=PLAYER",
        help="Who plays character:ID or director: a model, script:FILE or human; may be given several times.",
    ),
]


def play(
    scene: Scene,
    model: Annotated[str, typer.Option("--model", metavar="SPEC", help="The model that plays the characters.")],
    out: Out,
    narrator: Narrator = "",
    protocol: Protocols = Protocol.PAPER,
    rounds: Rounds = 3,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Which repeat.")] = 1,
    cast: Players = None,
    watch: Annotated[bool, typer.Option("--watch", help="Show the story while it goes on.")] = False,
    ledger: LedgerAt = "",
    as_json: AsJson = False,
    replay_only: ReplayOnly = False,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    accept_changes: AcceptChanges = False,
) -> None:
    """Play one scene. What was answered is kept in OUT; run it again to go on, or to play in a person's place."""
    from dramaturg.stage.world.reading import read_scene

    read_scene(scene)  # of several, one must be named
    study = _study([model], [scene], narrator, protocol, rounds, cast)
    study["seeds"] = [seed]
    limits = (max_calls, max_tokens, max_cost)
    _run_written(study, out, ledger, limits, as_json, replay_only, accept_changes, watch=watch)


def run(
    model: Annotated[
        list[str], typer.Option("--model", metavar="SPEC", help="A model to measure; may be given several times.")
    ],
    scene: Annotated[
        list[str], typer.Option("--scene", metavar="NAME|PATTERN|FILE", help="A scene, or many; several times.")
    ],
    out: Out,
    narrator: Narrator = "",
    protocol: Protocols = Protocol.PAPER,
    rounds: Rounds = 3,
    seeds: Annotated[int, typer.Option("--seeds", min=1, max=100_000, help="Plays of each scene.")] = 1,
    cast: Players = None,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, max=1024, help="Most plays at once.")] = 4,
    watch: Annotated[bool, typer.Option("--watch", help="Show the stories while they go on.")] = False,
    ledger: LedgerAt = "",
    as_json: AsJson = False,
    replay_only: ReplayOnly = False,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    accept_changes: AcceptChanges = False,
) -> None:
    """Play scenes with models. The study is kept as OUT/study.yaml; run it again to resume."""
    study = _study(model, scene, narrator, protocol, rounds, cast)
    study |= {"seeds": seeds, "concurrency": concurrency}
    limits = (max_calls, max_tokens, max_cost)
    _run_written(study, out, ledger, limits, as_json, replay_only, accept_changes, watch=watch)


def cost(
    scene: Scene,
    model: Annotated[
        str, typer.Option("--model", metavar="SPEC", help="The model that plays the characters.")
    ] = "script:world-steady",
    narrator: Narrator = "",
    rounds: Rounds = 3,
    ledger: Annotated[
        str, typer.Option("--ledger", metavar="PATH|URL", help="Where answers are kept; nowhere by default.")
    ] = "",
    as_json: AsJson = False,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
) -> None:
    """Play one scene under the three protocols and compare calls, tokens, price and the longest chain."""
    from dramaturg.ledger import Budget

    budget = Budget(max_calls=max_calls, max_tokens=max_tokens, max_cost=max_cost)
    with tempfile.TemporaryDirectory(prefix="dramaturg-") as folder, open_ledger(Path(folder), ledger) as store:
        costs = [_cost(scene, model, narrator, protocol, rounds, Path(folder), store, budget) for protocol in Protocol]
    if as_json:
        say_json({"scene": scene, "model": model, "protocols": [one.as_json() for one in costs]})
        return
    table = figures_table(
        "per round", "calls", "by formula", "published", "longest chain", "tokens in", "cached", "tokens out", "USD"
    )
    for one in costs:
        total, rounds_played = one.total, max(len(one.rounds), 1)
        table.add_row(
            one.protocol,
            f"{total.calls / rounds_played:.1f}",
            f"{one.mean(lambda of_round: of_round.by_formula):.1f}",
            f"{one.mean(lambda of_round: of_round.published):.1f}",
            f"{one.mean(lambda of_round: of_round.chain):.1f}",
            f"{total.input_tokens / rounds_played:,.0f}",
            f"{total.cached_tokens / rounds_played:,.0f}",
            f"{total.output_tokens / rounds_played:,.0f}",
            "unknown" if total.usd is None else f"{total.usd / rounds_played:.5f}",
        )
    show(table)
    for one in costs:
        parts = figures_table(one.protocol, "calls", "tokens in", "cached", "tokens out")
        for name, part in (*one.by_role.items(), *one.by_purpose.items()):
            figures = (part.calls, part.input_tokens, part.cached_tokens, part.output_tokens)
            parts.add_row(name, *(f"{figure:,}" for figure in figures))
        show(parts)


def run_world_study(
    study: Path,
    out: Path,
    ledger: str,
    limits: tuple[int | None, int | None, float | None],
    *,
    as_json: bool,
    replay_only: bool,
    accept_changes: bool,
    watch: bool,
    command: str,
) -> None:
    """Carries out a study of worlds, writes its report, and ends with the run's exit code.

    Args:
        study: The study file.
        out: Output folder.
        ledger: Where every answer is kept; empty for the folder's own.
        limits: Most calls, tokens and dollars, each before the study file's.
        as_json: Whether the result is printed as JSON.
        replay_only: Whether new calls are refused.
        accept_changes: Whether other prompts, settings or another version are fine.
        watch: Whether the plays are shown while they go on; always so where a person plays.
        command: What continues the run.

    Raises:
        UserError: The study is wrong, or the folder belongs to another.
        LedgerError: The ledger cannot be written.
    """
    from dramaturg.run.world.material import read_world

    material = read_world(study)
    budget = budget_of(material.study.budgets, *limits)
    with open_ledger(out, ledger, replay_only=replay_only) as store:
        result = _carry_out(
            material, out, store, budget, accept_changes=accept_changes, replay_only=replay_only, watch=watch
        )
        finish(result, store, as_json=as_json, command=command)


def _carry_out(
    material: WorldMaterial,
    out: Path,
    ledger: Ledger,
    budget: Budget,
    *,
    accept_changes: bool,
    replay_only: bool,
    watch: bool,
) -> RunResult:
    import asyncio

    from dramaturg.cli.theatre import Playhouse, TerminalAudience
    from dramaturg.model.opening import Models
    from dramaturg.run.court import House
    from dramaturg.run.kept import keep_models
    from dramaturg.run.progress import Silent
    from dramaturg.run.world.engine import run_world

    if material.has_person:
        playhouse = Playhouse(most=material.study.play_limits.heard_characters, stays=True, in_court=False)
        house = House(playhouse, playhouse.read)
    else:
        house = House(TerminalAudience() if watch else None)

    async def work() -> RunResult:
        models = Models()
        try:
            async with models:
                return await run_world(
                    material,
                    out=out,
                    ledger=ledger,
                    models=models,
                    budget=budget,
                    progress=Silent() if house.audience is not None else progress_display(),
                    accept_changes=accept_changes,
                    replay_only=replay_only,
                    house=house,
                )
        finally:
            keep_models(ledger, models, material.parts())

    return asyncio.run(work())


def _cost(
    scene: str,
    model: str,
    narrator: str,
    protocol: Protocol,
    rounds: int,
    folder: Path,
    ledger: Ledger,
    budget: Budget,
) -> PlayCost:
    import asyncio

    from dramaturg.errors import UserError
    from dramaturg.files import dump_yaml
    from dramaturg.model.opening import Models
    from dramaturg.run.world.costs import call_costs, play_cost
    from dramaturg.run.world.engine import play_unit
    from dramaturg.run.world.material import read_world
    from dramaturg.run.world.units import world_units
    from dramaturg.stage.world.chain import Made
    from dramaturg.text import write_atomically

    path = folder / f"{protocol}.yaml"
    write_atomically(path, dump_yaml(_study([model], [scene], narrator, protocol, rounds, None)))
    material = read_world(path)
    units = list(world_units(material))
    if len(units) != 1:
        raise UserError(f"{scene} holds {len(units)} scenes", where="SCENE", allowed=f"one of them: {scene}#ID")
    made: list[Made] = []

    async def work() -> PlayCost:
        async with Models() as models:
            opened = {spec: await models.open(spec) for spec in material.models()}
            budget.check_prices({spec: one.identity for spec, one in material.models().items()})
            transcript = await play_unit(units[0], material, opened, ledger, budget, on_call=made.append)
        costs = call_costs(ledger, (call.key for call in made))
        return play_cost(transcript, material.study.protocol, made, costs)

    return asyncio.run(work())


def _study(
    models: Sequence[str],
    scenes: Sequence[str],
    narrator: str,
    protocol: Protocol,
    rounds: int,
    cast: Sequence[str] | None,
) -> dict[str, object]:
    from dramaturg.cli.court_run import absolute_spec, subject_of_spec

    study: dict[str, object] = {
        "study": "world",
        "suite": "world",
        "subjects": [subject_of_spec(spec) for spec in models],
        "scenes": [_found(name) for name in scenes],
        "protocol": protocol.value,
        "rounds": rounds,
    }
    if narrator:
        study["narrator"] = absolute_spec(narrator)
    if cast:
        study["cast"] = dict(_role_and_player(text) for text in cast)
    return study


def _run_written(
    study: dict[str, object],
    out: Path,
    ledger: str,
    limits: tuple[int | None, int | None, float | None],
    as_json: bool,
    replay_only: bool,
    accept_changes: bool,
    *,
    watch: bool,
) -> None:
    from dramaturg.files import dump_yaml
    from dramaturg.text import write_atomically

    with tempfile.TemporaryDirectory(prefix="dramaturg-") as folder:
        path = Path(folder) / "study.yaml"  # the run copies it to OUT once it is sure that OUT is this study's
        write_atomically(path, HEAD + dump_yaml(study))
        run_world_study(
            path,
            out,
            ledger,
            limits,
            as_json=as_json,
            replay_only=replay_only,
            accept_changes=accept_changes,
            watch=watch,
            command=f"dramaturg run {out / 'study.yaml'} --out {out}",
        )


def _found(name: str) -> str:
    """Returns the name of a shipped scene, or a path that means the same from every folder."""
    from dramaturg.files import shipped

    if name in shipped("scenes"):
        return name
    path, parted, wanted = name.rpartition("#")
    if parted and Path(path).exists():
        return f"{Path(path).resolve()}#{wanted}"
    return str(Path(name).resolve()) if Path(name).exists() else name


def _role_and_player(text: str) -> tuple[str, str]:
    from dramaturg.cli.court_run import absolute_spec
    from dramaturg.errors import UserError

    role, is_parted, player = text.partition("=")
    if not (is_parted and role.strip() and player.strip()):
        raise UserError(f"{text!r} casts nobody", where="--cast", allowed="ROLE=PLAYER, such as character:ID=human")
    player = player.strip()
    return role.strip(), player if player == "human" else absolute_spec(player)
