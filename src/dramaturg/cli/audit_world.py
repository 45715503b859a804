"""``dramaturg audit world``: test a rater with faults that were planted in played scenes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli.audit import Sample, Seed, shown
from dramaturg.cli.console import AsJson, Finished, complain, figures_table, say, say_json, show
from dramaturg.cli.rate import RatingModeOption, RatingModes, Votes
from dramaturg.cli.run import LedgerAt, MaxCalls, MaxCost, MaxTokens, ReplayOnly

if TYPE_CHECKING:
    from rich.table import Table

    from dramaturg.judge.audit.world import RaterCard
    from dramaturg.judge.audit.world.card import RaterParts
    from dramaturg.run.rater_audit import RaterAuditResult
    from dramaturg.run.rating import RatingBench


def world(
    spec: Annotated[
        str,
        typer.Argument(
            metavar="SPEC", help="The rater: a model, or script:rating-oracle, -always-five, -random-rater."
        ),
    ],
    mode: RatingModeOption = RatingModes.JOINT,
    votes: Votes = 1,
    language: Annotated[str, typer.Option("--language", metavar="CODE", help="Scenes of one language alone.")] = "",
    sample: Sample = 0,
    seed: Seed = 1,
    out: Annotated[
        Path | None, typer.Option("--out", help="Output folder; one of its own in the cache by default.")
    ] = None,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, help="Most specimens rated at once.")] = 2,
    ledger: LedgerAt = "",
    as_json: AsJson = False,
    replay_only: ReplayOnly = False,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
) -> None:
    """Make a rater's card: which faults of played characters lower which metric. Run it again to resume."""
    import asyncio

    from dramaturg.cli.run import open_ledger, progress_display
    from dramaturg.errors import UserError
    from dramaturg.judge.audit.world import keep_rater_card, plan_rater_audit, shipped_rater_bases
    from dramaturg.ledger import Budget
    from dramaturg.model.opening import Models
    from dramaturg.run.kept import keep_models
    from dramaturg.run.rater_audit import RaterAudit
    from dramaturg.run.rating import rating_benches

    (bench,) = rating_benches([spec], rubric="character", mode=mode.value, votes=votes)
    bases = shipped_rater_bases(language)
    if not bases:
        known = sorted({base.transcript.scenario.language for base in shipped_rater_bases()})
        raise UserError(f"no clean scenes ship in {language!r}", where="--language", allowed=", ".join(known))
    plan = plan_rater_audit(bases, sample=sample or None, seed=seed)
    folder = out or _own_folder(bench, language, sample, seed)
    budget = Budget(max_calls=max_calls, max_tokens=max_tokens, max_cost=max_cost)
    budget.check_prices({spec: bench.model.identity})
    options = (("votes", votes, 1), ("language", language, ""), ("sample", sample, 0), ("seed", seed, 1))
    chosen = [f"--{name} {value}" for name, value, default in options if value != default]
    command = " ".join([f"dramaturg audit world {spec} --mode {mode}", *chosen])
    with open_ledger(folder, ledger, replay_only=replay_only) as store:

        async def work() -> RaterAuditResult:
            models = Models()
            try:
                async with models:
                    audit = RaterAudit(plan, bench, models, store, budget, replay_only)
                    return await audit.carry_out(
                        folder,
                        concurrency=concurrency,
                        progress=progress_display(),
                        command=command,
                        sample=sample or None,
                    )
            finally:
                keep_models(store, models, {bench.model.spec.text: ("judge",)})

        result = asyncio.run(work())
    card = result.card
    kept = [str(keep_rater_card(card)), str(keep_rater_card(card, folder))] if card and not card.open else []
    if as_json:
        say_json(
            {
                **(card.model_dump(mode="json") if card is not None else {}),
                "standing": card.standing if card is not None else "",
                "poor": card.poor if card is not None else None,
                "out": str(folder),
                "cards": list[str](kept),
                "calls": result.calls,
                "replayed": result.replayed,
                "stop": result.limit or result.stop,
                "exit_code": result.exit_code,
            }
        )
    elif card is not None:
        show_rater_card(card)
        say(f"card: {kept[0]}" if kept else "incomplete, and not kept")
        say(f"{result.calls} new calls, {result.replayed} replayed, {result.seconds:.1f} s; all of it in {folder}")
    if result.not_rated:
        complain("not rated: " + ", ".join(f"{reason} × {count}" for reason, count in result.not_rated.items()))
    if result.stop:
        complain(f"stopped: {result.limit or result.stop}; run it again to go on")
    if result.exit_code:
        raise Finished(result.exit_code)


def show_rater_card(card: RaterCard) -> None:
    """Writes a rater's card to standard output."""
    binding = card.binding
    votes = f", {binding.votes} votes" if binding.votes > 1 else ""
    say(f"{binding.judge} by the rubric {binding.rubric}, mode {binding.mode}{votes}")
    say(card.standing)
    say(card.rule)
    say(
        f"{card.mutants} with a planted fault, {card.clean} clean, {card.shams} harmlessly edited, of {card.scenes} "
        f"scenes; clean scenes are rated {shown(card.level)} on the average"
    )
    show(_table("all", {"all": card}))
    show(_table("planted fault", card.by_kind))
    show(_table("severity", card.by_severity))
    show(_table("metric", card.by_metric))
    if card.missing:
        say("missing: " + ", ".join(f"{reason} × {count}" for reason, count in card.missing.items()))


def _table(head: str, rows: dict[str, RaterParts]) -> Table:
    table = figures_table(head, "seen", "left alone", "balanced accuracy", "AUC", "falls by", "others fall by")
    for name, parts in rows.items():
        figures = (
            parts.sensitivity,
            parts.specificity,
            parts.balanced_accuracy,
            parts.auc,
            parts.drop,
            parts.drop_elsewhere,
        )
        table.add_row(name.replace("_", " "), *(shown(one).replace(" (", "\n").rstrip(")") for one in figures))
    return table


def _own_folder(bench: RatingBench, language: str, sample: int, seed: int) -> Path:
    from dramaturg.model.registry import cache_folder
    from dramaturg.text import sha256

    name = sha256(f"{bench.key(language or 'en')}/{language}/{sample}/{seed}")[:12]
    return cache_folder() / "rater-audits" / name
