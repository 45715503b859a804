"""``dramaturg court``: play a case, run many, look at procedures and cases."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli import court_cases, court_procedure, court_run
from dramaturg.cli.console import AsJson, Finished, complain, say, say_json
from dramaturg.cli.court_run import Protocol, Protocols, Questions, TokensPerTurn
from dramaturg.cli.run import AcceptChanges, MaxCalls, MaxCost, MaxTokens

if TYPE_CHECKING:
    from dramaturg.ledger import Budget
    from dramaturg.run.games import Game, GameSettings
    from dramaturg.stage.transcript import Transcript

MODEL = "embedded:smollm2-135m"
INTERRUPTED = 130

ENDS = {
    "undecided": "The end was reached without a decision.",
    "restarts_exhausted": "The models broke it off too often.",
    "turn_limit": "The most turns were taken before its end.",
    "empty_turns": "Too many turns were left silent.",
    "context_overflow": "The model cannot hold more of it.",
}
"""What is said of a performance that did not come to a decision."""

app = typer.Typer(
    help="Play a case against models, stage many, write and check cases and procedures.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(court_cases.app, name="cases")
app.add_typer(court_procedure.app, name="procedure")
app.command("run")(court_run.run)


@app.command()
def play(
    case: Annotated[str, typer.Argument(metavar="[CASE]", help="Name of a case, or its file.")] = "",
    model: Annotated[
        str, typer.Option("--model", metavar="SPEC", help=f"Who plays all the other roles; {MODEL} by default.")
    ] = "",
    procedure: Annotated[
        str, typer.Option("--procedure", metavar="NAME|FILE", help="How the case is held; its own way by default.")
    ] = "",
    protocol: Protocols = Protocol.GUARDED,
    game: Annotated[str, typer.Option("--game", metavar="ID|DIR", help="Go on with a saved game.")] = "",
    player: Annotated[
        str,
        typer.Option("--player", metavar="PLAYER", help="Who plays your part: human, script, script:FILE, a model."),
    ] = "human",
    name: Annotated[str, typer.Option("--name", help="Your name in the game.")] = "",
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**31 - 1, help="Another one makes another game.")] = 1,
    questions: Questions = 3,
    tokens_per_turn: TokensPerTurn = 110,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    accept_changes: AcceptChanges = False,
) -> None:
    """Play a case in the terminal. The game is saved with every turn; --game goes on with it."""
    from dramaturg.errors import UserError
    from dramaturg.files import shipped
    from dramaturg.ledger import Budget
    from dramaturg.run.games import GameSettings, new_game, open_game

    if game and (case or model or procedure or name):
        raise UserError("a saved game has its case, model, procedure and name already", where="--game")
    if not game and not case:
        names = ", ".join(shipped("cases"))
        raise UserError("which case?", allowed=f"a path, or {names}; saved games: dramaturg court games")
    if game:
        kept = open_game(game)
        kept.check()
        _pull(kept.settings)
    else:
        settings = GameSettings(
            case=case,
            model=model or MODEL,
            procedure=procedure,
            protocol=protocol.value,
            player=player,
            player_name=name,
            seed=seed,
            questions=questions,
            tokens_per_turn=tokens_per_turn,
        )
        _pull(settings)
        kept = new_game(settings)
    budget = Budget(max_calls=max_calls, max_tokens=max_tokens, max_cost=max_cost)
    _applaud(kept, _played(kept, budget, accept_changes=accept_changes))


@app.command()
def games(
    delete: Annotated[str | None, typer.Option("--delete", metavar="ID", help="Delete a saved game for good.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the saved games, the newest first."""
    from dramaturg.run.games import delete_game, delete_torn_game, games_folder, list_games, open_game

    if delete is not None and not delete_torn_game(delete):
        delete_game(open_game(delete))
    listed = list_games()
    if as_json:
        say_json(
            [
                {
                    "id": one.id,
                    "status": one.status,
                    "title": one.title,
                    "created": one.created,
                    "turns": one.turns,
                    "phase": one.phase,
                    "outcome": one.outcome,
                    "problem": one.problem,
                    "folder": str(one.folder),
                }
                for one in listed
            ]
        )
        return
    if not listed:
        say(f"no game is saved in {games_folder()}; begin one: dramaturg court play summit-ridge")
        return
    for one in listed:
        standing = one.problem or ", ".join(part for part in (one.phase, one.outcome) if part)
        say(
            f"{one.id}  {one.status}, {one.turns} turns{f' ({standing})' if standing else ''}: {one.title}".rstrip(": ")
        )
    say("go on with one: dramaturg court play --game GAME")


def _pull(settings: GameSettings) -> None:
    from dramaturg.cli.models import pull_with_progress
    from dramaturg.model import parse_spec

    for text in (settings.model, settings.player):
        spec = parse_spec(text) if text not in {"human", "script"} else None
        if spec is not None and spec.provider == "embedded":
            pull_with_progress(spec.name)


def _played(game: Game, budget: Budget, *, accept_changes: bool) -> Transcript:
    """Returns the transcript of a game that was played to its end; however it stops, it says how to go on."""
    import asyncio

    from dramaturg.cli.theatre import LEFT
    from dramaturg.errors import DramaturgError, UnitStopped

    try:
        return asyncio.run(_play(game, budget, accept_changes=accept_changes))
    except UnitStopped as stopped:
        if stopped.kind == LEFT:
            say(_how_to_go_on(game))
            raise Finished(0) from None
        complain(str(stopped))
        complain(_how_to_go_on(game))
        raise Finished(1) from None
    except (asyncio.CancelledError, KeyboardInterrupt):
        say(f"\n{_how_to_go_on(game)}")
        raise Finished(INTERRUPTED) from None
    except DramaturgError:
        complain(_how_to_go_on(game))
        raise


async def _play(game: Game, budget: Budget, *, accept_changes: bool) -> Transcript:
    import asyncio

    from dramaturg.cli.theatre import Playhouse
    from dramaturg.model.opening import Models
    from dramaturg.run.court import House, trial_limits
    from dramaturg.run.games import play as play_game
    from dramaturg.run.interrupt import interrupts

    material = game.material()
    budget.check_prices({spec: model.identity for spec, model in material.models().items()})
    case = material.cases[0].case
    playhouse = Playhouse(case, most=trial_limits(material.study.limits).heard_characters)
    say(f"{game.title}. {game.settings.model} plays all roles but yours.")
    say(f"Your goal: {case.goal}" if game.settings.player == "human" else f"{game.settings.player} plays your part.")
    say(f"Saved as {game.id}.")
    task = asyncio.current_task()

    def leave() -> None:
        if task is not None:
            task.cancel()

    async with Models() as models:
        with interrupts(leave):
            return await play_game(
                game,
                models=models,
                house=House(playhouse, playhouse.read),
                budget=budget,
                accept_changes=accept_changes,
            )


def _how_to_go_on(game: Game) -> str:
    return f"the game is saved; go on with: dramaturg court play --game {game.id}"


def _applaud(game: Game, transcript: Transcript) -> None:
    """Says how a game ended, and what can be done with it now."""
    from dramaturg.run.fitting import fitting_checklist

    outcome = transcript.outcome
    procedure = game.material().stagings[0].procedure
    say("")
    if transcript.end_reason in ENDS:
        say(ENDS[transcript.end_reason])
    if outcome is not None:
        word = procedure.outcomes.get(outcome.label, outcome.label)
        named = outcome.label if word == outcome.label else f"{outcome.label} ({word})"
        say(f"Outcome for the {procedure.player}: {named}.")
        if outcome.justification and outcome.justification != transcript.turns[-1].text:
            say(outcome.justification)
    path = game.folder / "transcripts.jsonl"
    settings = game.settings
    checklist = fitting_checklist(procedure.roles, transcript.scenario.language)
    words = ["judge", str(path), "--judge", settings.model, "--checklist", checklist]
    words += ["--out", str(game.folder / "report")]
    say(f"Transcript: {path}")
    say(f"Judge this performance: dramaturg {shlex.join(words)}")
    again = ["play", settings.case, "--model", settings.model, "--seed", str(settings.seed + 1)]
    again += ["--procedure", settings.procedure] if settings.procedure else []
    say(f"Play the case again: dramaturg court {shlex.join(again)}")
