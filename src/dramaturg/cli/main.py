"""The program: arguments in, exit code out, one clear line for every error that a user can mend."""

from __future__ import annotations

import os
import sys

import typer

from dramaturg import __version__
from dramaturg.cli import (
    agreement,
    annotate,
    audit,
    audit_bleed,
    audit_world,
    cast,
    checklist,
    compare,
    court,
    demo,
    doctor,
    importing,
    items,
    judge,
    ledger,
    models,
    rate,
    reliability,
    report,
    rpeval,
    rpeval_make,
    rpeval_votes,
    run,
    schema,
    serve,
    train,
    world,
)
from dramaturg.cli.console import Finished, complain
from dramaturg.errors import DramaturgError, LimitReached

USER_ERROR = 1
LIMIT = 3
INTERRUPTED = 130

app = typer.Typer(
    name="dramaturg",
    help="Stage performances by language models that play a role, judge them, and say how far to trust it.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.demo)
app.command("run")(run.run)
app.command("plan")(run.plan)
app.command("serve")(serve.serve)
app.command("judge")(judge.judge)
app.command("report")(report.report)
app.command("import")(importing.import_chats)
app.command("compare")(compare.compare)
app.command("power")(compare.power)
app.command("doctor")(doctor.doctor)
app.command("schema")(schema.schema)
checklist.app.command("items")(items.items)
audit.app.command("labels")(agreement.labels)
audit.app.command("agreement")(agreement.agreement)
audit.app.command("halo")(agreement.halo)
audit.app.command("bleed")(audit_bleed.bleed)
rpeval.app.command("make")(rpeval_make.make)
rpeval.app.command("votes")(rpeval_votes.votes)
app.add_typer(court.app, name="court")
app.add_typer(rpeval.app, name="rpeval")
audit.app.command("world")(audit_world.world)
audit.app.command("reliability")(reliability.reliability)
app.add_typer(rate.app, name="rate")
app.add_typer(world.app, name="world")
app.add_typer(train.app, name="train")
app.add_typer(annotate.app, name="annotate")
app.add_typer(cast.app, name="cast")
app.add_typer(audit.app, name="audit")
app.add_typer(checklist.app, name="checklist")
app.add_typer(models.app, name="models")
app.add_typer(ledger.app, name="ledger")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _program(  # pyright: ignore[reportUnusedFunction]
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Show the version."),
) -> None:
    del version


def main() -> None:
    """Runs the program and exits."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))
        getattr(sys, name).reconfigure(errors="backslashreplace")
    sys.exit(_run())


def _run() -> int:
    try:
        app()
    except Finished as finished:
        return finished.code
    except SystemExit as left:
        if left.code == INTERRUPTED:  # typer takes KeyboardInterrupt for itself
            return _interrupted()
        return USER_ERROR if left.code not in (0, None) else 0
    except LimitReached as error:
        complain(str(error))
        return LIMIT
    except DramaturgError as error:
        complain(str(error))
        return USER_ERROR
    except KeyboardInterrupt:
        return _interrupted()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        complain(f"{error.filename or 'system'}: {error.strerror or error}")
        return USER_ERROR
    return 0


def _interrupted() -> int:
    complain("interrupted; run the same command again to go on")
    return INTERRUPTED
