"""``dramaturg train run`` and ``train export``: train a model on a data set, and write it as others load it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dramaturg.cli.console import AsJson, complain, console, say, say_json
from dramaturg.text import Json

if TYPE_CHECKING:
    from dramaturg.train.estimate import Estimate
    from dramaturg.train.training import Ended, Event, Prepared

_LINE_EVERY_S = 30.0
"""Between two lines of progress where there is no terminal."""

Config = Annotated[Path, typer.Argument(metavar="CONFIG", help="YAML file: base, data, out, and what to change.")]
Out = Annotated[Path, typer.Argument(metavar="OUT", help="Folder of a training run.")]


def run(config: Config, as_json: AsJson = False) -> None:
    """Train an adapter; run again to go on after any interruption."""
    from dramaturg.train.config import load_training_config
    from dramaturg.train.training import train

    settings = load_training_config(config)
    with _Display() as display:
        ended = train(settings, display.watch)
    if as_json:
        say_json(_as_json(ended))
        return
    early = "" if ended.step == ended.steps else f" of {ended.steps} planned: the held-out loss fell no more"
    fell = f"held-out loss {ended.base_loss:.4f} → {ended.best_loss:.4f} (step {ended.best_step})"
    say(f"{ended.step} steps{early}; {fell}")
    if ended.best_step == 0:
        if settings.start_from is None:
            complain("no step was better than the base alone; the adapter changes nothing")
        else:
            complain(f"no step was better than the start; the adapter is that of {settings.start_from}")
    say(f"next: dramaturg train export {settings.out} --to gguf")


def export(
    out: Out,
    to: Annotated[Literal["peft", "merged", "gguf"], typer.Option(help="Form of the result.")],
    target: Annotated[
        Path | None, typer.Option("--target", help="What to write; adapter.gguf, peft or merged in OUT if not given.")
    ] = None,
    beside: Annotated[
        list[Path] | None,
        typer.Option(help="GGUF file of the same base that the adapter may be loaded beside; may be repeated."),
    ] = None,
    stored: Annotated[Literal["f16", "f32"], typer.Option(help="Type of a GGUF adapter's numbers.")] = "f16",
) -> None:
    """Write the best adapter of a run for PEFT, merged into its base, or for llama.cpp."""
    from dramaturg.errors import UserError
    from dramaturg.train.export import export_gguf, export_merged, export_peft

    if beside and to != "gguf":
        raise UserError("--beside goes with --to gguf alone")
    path = target or out / ("adapter.gguf" if to == "gguf" else to)
    match to:
        case "peft":
            export_peft(out, path)
        case "merged":
            export_merged(out, path)
        case "gguf":
            export_gguf(out, path, beside=beside or (), stored=stored)
    say(str(path))


class _Display:
    """Shows a run: a bar on a terminal, lines elsewhere."""

    def __init__(self) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = (TextColumn("steps"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
        self._console = console(stderr=True)
        self._progress = Progress(*columns, console=self._console, disable=not self._console.is_terminal)
        self._task = self._progress.add_task("", total=None, visible=False)
        self._said = 0.0

    def __enter__(self) -> _Display:
        self._progress.start()
        return self

    def __exit__(self, *ended: object) -> None:
        self._progress.stop()

    def watch(self, event: Event) -> None:
        """Shows an event."""
        import time

        from dramaturg.train.estimate import Estimate
        from dramaturg.train.training import Ended, HeldOut, Prepared, Stepped

        match event:
            case Prepared():
                self._lines(_prepared(event))
            case Estimate():
                self._lines([_estimated(event)])
            case Stepped():
                left = _duration(event.seconds_left)
                text = f"loss {event.loss:.4f}, {left} left"
                self._progress.update(
                    self._task, completed=event.step, total=event.steps, description=text, visible=True
                )
                now = time.monotonic()
                if not self._console.is_terminal and (now - self._said >= _LINE_EVERY_S or event.step == event.steps):
                    self._said = now
                    self._lines([f"step {event.step}/{event.steps}: {text}"])
            case HeldOut():
                best = ", the best so far" if event.is_best else ""
                self._lines([f"held-out loss after step {event.step}: {event.loss:.4f}{best}"])
            case Ended():
                pass

    def _lines(self, lines: list[str]) -> None:
        for line in lines:
            self._console.print(line, markup=False)


def _prepared(event: Prepared) -> list[str]:
    material = event.material
    lines = [f"{len(material.train):,} examples to learn from, {len(material.validation):,} held out"]
    if material.too_long:
        lines.append(f"{material.too_long:,} examples are longer than the cutoff of {event.cutoff} tokens: left out")
    lines += event.notes
    if event.resumed_at:
        lines.append(f"goes on after step {event.resumed_at}")
    return lines


def _estimated(event: Estimate) -> str:
    threads = f"{event.threads} thread{'s' if event.threads > 1 else ''}"
    memory = f"{event.memory_bytes / 1e9:.1f} GB of memory"
    return f"{event.steps} steps will take about {_duration(event.seconds)} and {memory} ({threads})"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def _as_json(ended: Ended) -> dict[str, Json]:
    return {
        "steps": ended.step,
        "planned_steps": ended.steps,
        "held_out_loss": ended.held_out_loss,
        "best_step": ended.best_step,
        "best_loss": ended.best_loss,
        "base_loss": ended.base_loss,
        "seconds": ended.seconds,
        "peak_memory_bytes": ended.peak_memory_bytes,
    }
