"""``dramaturg audit``: test a judge with planted faults, and read what was found."""

from __future__ import annotations

import sys
from collections.abc import Collection
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli.console import AsJson, Finished, complain, figures_table, say, say_json, show
from dramaturg.cli.judge import ASK, LONG, MODES, MOST_VOTES, OF_THE_JUDGE, Long, Mode, Wording
from dramaturg.cli.run import LedgerAt, MaxCalls, MaxCost, MaxTokens, ReplayOnly

if TYPE_CHECKING:
    from rich.table import Table

    from dramaturg.judge.audit import Base, Card, Figure, Parts
    from dramaturg.judge.checklist import Checklist
    from dramaturg.run.audit import AuditResult
    from dramaturg.run.material import JudgeBench

app = typer.Typer(
    name="audit", help="Test a judge before its scores are believed.", no_args_is_help=True, rich_markup_mode=None
)

ChecklistNamed = Annotated[
    str,
    typer.Option("--checklist", metavar="NAME|FILE", help="By what is judged; its indicators say what they detect."),
]
Sample = Annotated[
    int,
    typer.Option(
        "--sample", min=0, metavar="N", help="Most mutants, over kinds, severities and bases in turn; 0 for all."
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, max=2**31 - 1, help="Of the choice of specimens and of all calls.")]


class Split(StrEnum):
    """Which clean transcripts an audit is made of."""

    HELD_OUT = "held-out"
    ALL = "all"


Transcripts = Annotated[
    Path | None,
    typer.Option(
        "--transcripts",
        metavar="FILE",
        help="Clean transcripts of your own, one JSON object a line, in place of the shipped ones; faults that need a "
        "place prepared by hand are then skipped and counted.",
    ),
]


@app.command("judge")
def judge(
    spec: Annotated[
        str, typer.Argument(metavar="SPEC", help="The judge: a model, or script:oracle, -always-yes, -coin.")
    ],
    checklist: ChecklistNamed = "court",
    mode: Annotated[Mode | None, typer.Option("--mode", help=MODES, show_default=OF_THE_JUDGE)] = None,
    ask: Annotated[Wording, typer.Option("--ask", help=ASK)] = Wording.PRESENCE,
    votes: Annotated[int, typer.Option("--votes", min=1, max=MOST_VOTES, help="How often each question is asked.")] = 1,
    long: Annotated[Long, typer.Option("--long", help=LONG)] = Long.REFUSE,
    sample: Sample = 120,
    seed: Seed = 1,
    transcripts: Transcripts = None,
    split: Annotated[
        Split,
        typer.Option(
            "--split",
            help="held-out: without the transcripts, cases and natural text that the judge's adapter was trained on.",
        ),
    ] = Split.HELD_OUT,
    held_out_by: Annotated[
        str,
        typer.Option(
            "--held-out-by", metavar="SPEC", help="A trained judge whose held-out transcripts are asked, to compare."
        ),
    ] = "",
    out: Annotated[
        Path | None, typer.Option("--out", help="Output folder; one of its own in the cache by default.")
    ] = None,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, help="Most specimens judged at once.")] = 2,
    ledger: LedgerAt = "",
    as_json: AsJson = False,
    replay_only: ReplayOnly = False,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
) -> None:
    """Make a judge's card: which planted faults it sees, and what it takes for one. Run it again to resume."""
    import asyncio

    from dramaturg.cli.run import open_ledger, progress_display
    from dramaturg.judge.audit import plan_audit
    from dramaturg.judge.audit.card_store import keep_card
    from dramaturg.judge.audit.natural import natural_excerpts
    from dramaturg.ledger import Budget
    from dramaturg.model.opening import Models
    from dramaturg.run.audit import Audit
    from dramaturg.run.judging import benches_of
    from dramaturg.run.kept import keep_models
    from dramaturg.run.natural import unknown_excerpts

    (bench,) = benches_of(
        [spec],
        checklist=checklist,
        mode=None if mode is None else mode.value,
        votes=votes,
        long=long.value,
        ask=ask.value,
    )
    every = _bases(bench.checklist, transcripts)
    known = () if split is Split.ALL else _known_to(bench, held_out_by)
    bases = _unknown(known, every)
    plan = plan_audit(bench.checklist, bases, sample=sample or None, seed=seed)
    shipped_natural = natural_excerpts(bench.checklist.language) if bench.mode == "glance" else ()
    natural = unknown_excerpts(shipped_natural, known)
    folder = out or _own_folder(bench, sample, seed, transcripts)
    budget = Budget(max_calls=max_calls, max_tokens=max_tokens, max_cost=max_cost)
    budget.check_prices({spec: bench.model.identity})
    options = (
        ("ask", ask, Wording.PRESENCE),
        ("votes", votes, 1),
        ("long", long, Long.REFUSE),
        ("sample", sample, 120),
        ("seed", seed, 1),
        ("transcripts", transcripts, None),
        ("split", split, Split.HELD_OUT),
        ("held-out-by", held_out_by, ""),
    )
    chosen = [f"--{name} {value}" for name, value, default in options if value != default]
    command = " ".join([f"dramaturg audit judge {spec} --checklist {checklist} --mode {bench.mode}", *chosen])
    with open_ledger(folder, ledger, replay_only=replay_only) as store:

        async def work() -> AuditResult:
            models = Models()
            try:
                async with models:
                    audit = Audit(
                        plan,
                        bench,
                        models=models,
                        ledger=store,
                        budget=budget,
                        natural=natural,
                        left_out=len(every) - len(bases),
                        natural_left_out=len(shipped_natural) - len(natural),
                        replay_only=replay_only,
                        tell=lambda line: print(line, file=sys.stderr, flush=True),
                    )
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
    is_whole = result.card is not None and not result.card.open
    kept = [str(keep_card(result.card)), str(keep_card(result.card, folder))] if result.card and is_whole else []
    if as_json:
        say_json(
            {
                **(result.card.model_dump(mode="json") if result.card is not None else {}),
                "standing": result.card.standing if result.card is not None else "",
                "poor": result.card.poor if result.card is not None else None,
                "open": result.card.open if result.card is not None else result.planned,
                "out": str(folder),
                "cards": list[str](kept),
                "calls": result.calls,
                "replayed": result.replayed,
                "stop": result.limit or result.stop,
                "exit_code": result.exit_code,
            }
        )
    elif result.card is not None:
        if not kept:
            say(f"INCOMPLETE: {_open_part(result)}")
        show_card(result.card)
        say(f"card: {kept[0]}" if kept else f"incomplete, and not kept: {_open_part(result)}")
        say(f"{result.calls} new calls, {result.replayed} replayed, {result.seconds:.1f} s; all of it in {folder}")
    _end(result)


@app.command("cards")
def cards(as_json: AsJson = False) -> None:
    """List the cards that are known: your own, and those that ship."""
    from dramaturg.judge.audit import known_cards

    found = known_cards()
    if as_json:
        say_json([{"file": str(path), "poor": card.poor, **card.model_dump(mode="json")} for path, card in found])
        return
    if not found:
        say("no card is known; dramaturg audit judge SPEC makes one")
        return
    table = figures_table("judge", "checklist", "mode", "asked by", "votes", "balanced accuracy", "")
    for _, card in found:
        binding = card.binding
        table.add_row(
            binding.judge,
            binding.checklist,
            binding.mode,
            binding.ask,
            str(binding.votes),
            _stacked(card.balanced_accuracy),
            "poor" if card.poor else "",
        )
    show(table)


@app.command("show-specimens")
def show_specimens(
    out: Annotated[Path, typer.Option("--out", help="Folder for the specimens; made where it is missing.")],
    checklist: ChecklistNamed = "court",
    sample: Sample = 120,
    seed: Seed = 1,
    transcripts: Transcripts = None,
) -> None:
    """Write the specimens of an audit to read: text files with what was planted apart from them, and no call."""
    from dramaturg.errors import UserError
    from dramaturg.files import find, load_yaml
    from dramaturg.judge.audit import plan_audit
    from dramaturg.judge.checklist import Checklist
    from dramaturg.judge.checklist.rendering import material
    from dramaturg.run.audit import specimen_lines
    from dramaturg.text import write_atomically

    by = load_yaml(find("checklists", checklist, where="--checklist"), Checklist)
    plan = plan_audit(by, _bases(by, transcripts), sample=sample or None, seed=seed)
    lines = list(specimen_lines(plan.assignments))
    texts = {one.specimen.transcript.id: one.specimen.transcript for one in plan.assignments}
    others = [path.name for path in (out / "texts").glob("*.txt") if path.stem not in texts]
    if others:
        raise UserError(f"holds other specimens, such as texts/{min(others)}", where=str(out), allowed="a new folder")
    write_atomically(out / "specimens.jsonl", "".join(f"{transcript}\n" for transcript, _ in lines))
    write_atomically(out / "planted.jsonl", "".join(f"{done}\n" for _, done in lines))
    for one in texts.values():
        write_atomically(out / "texts" / f"{one.id}.txt", material(one, by.language) + "\n")
    say(f"{len(lines)} specimens in {out}: texts/ to read, planted.jsonl says what was done to each")
    for kind, count in plan.skipped.items():
        say(f"{kind}: {count} have no place in their transcript")


def shown(figure: Figure | None) -> str:
    """Returns a figure as tables write it: `0.71 (0.60–0.82)`."""
    if figure is None or figure.value is None:
        return "–"
    if figure.low is None or figure.high is None:
        return f"{figure.value:.2f}"
    return f"{figure.value:.2f} ({figure.low:.2f}–{figure.high:.2f})"


def _stacked(figure: Figure | None) -> str:
    """Returns a figure with its interval on a line of its own, for narrow columns."""
    return shown(figure).replace(" (", "\n").rstrip(")")


def show_card(card: Card) -> None:
    """Writes a card to standard output."""
    binding = card.binding
    say(f"{binding.judge} by {binding.checklist}, mode {binding.mode}, asked by {binding.ask}")
    say(card.standing)
    say(card.rule)
    of = card.specimens
    say(f"{of.mutants} mutants, {of.clean} clean, {of.shams} harmlessly edited, of {of.bases} transcripts")
    show(_table("all", {"all": card}))
    show(_table("planted fault", card.by_kind))
    if card.left_out:
        say(f"left out: {card.left_out} transcripts that the judge was trained on")
    if card.natural_left_out:
        say(f"left out: {card.natural_left_out} excerpts of natural text, of cases that the judge was trained on")
    if card.unseen_fault_kinds is not None:
        kinds = ", ".join(card.unseen_fault_kinds.kinds).replace("_", " ") or "none"
        say(f"kinds that it never learnt ({kinds}): {shown(card.unseen_fault_kinds.balanced_accuracy)}")
    if card.natural_text is not None:
        found = card.natural_text
        say(f"natural text, labelled by hand: {shown(found.balanced_accuracy)}, AUC {shown(found.auc)}")
    show(_table("severity", card.by_severity))
    show(_table("dimension", card.by_dimension))
    show(_table("length", card.by_length))
    say(f"left alone: clean {shown(card.clean)}, harmlessly edited {shown(card.sham)}")
    say("seen by place of the fault: " + ", ".join(f"{third} {shown(one)}" for third, one in card.by_position.items()))
    if card.evidence_hits is not None:
        say(f"evidence names a turn at fault: {shown(card.evidence_hits)}")
    resists = card.resistance
    say(f"with instructions to the judge in it: {shown(resists.instructed)} seen, without {shown(resists.without)}")
    say(f"same answer twice: {shown(card.retest)}")
    say(f"words alone: {shown(card.control.balanced_accuracy)}, AUC {shown(card.control.auc)}")
    cost = card.cost
    say(
        f"one answer: {cost.calls:.2f} calls, {cost.input_tokens:.0f} tokens read, {cost.output_tokens:.0f} written, "
        f"{cost.seconds:.2f} s"
    )
    if card.missing:
        say("missing: " + ", ".join(f"{reason} × {count}" for reason, count in card.missing.items()))
    if card.declared is not None:
        _show_declared(card)


def _show_declared(card: Card) -> None:
    declared = card.declared
    if declared is None:
        return
    say(f"rules see: {', '.join(declared.sees) or 'nothing'}: {shown(declared.parts.balanced_accuracy)}")
    say(f"rules see partly: {', '.join(declared.sees_partly) or 'nothing'}")
    say(f"rules cannot see: {', '.join(declared.cannot) or 'nothing'}")


def _table(head: str, rows: dict[str, Parts]) -> Table:
    table = figures_table(head, "seen", "left alone", "balanced accuracy", "AUC", "answers", "by code")
    for name, parts in rows.items():
        code = parts.by_code
        by_code = f"{code.seen}/{code.faults} seen" if code.faults else ""
        if code.false_alarms:
            by_code += f" {code.false_alarms}/{code.innocent} false"
        missing = parts.balanced_accuracy.planned - parts.balanced_accuracy.n
        answers = f"{parts.balanced_accuracy.n}" + (f" of {parts.balanced_accuracy.planned}" if missing else "")
        table.add_row(
            name.replace("_", " "),
            *(_stacked(one) for one in (parts.sensitivity, parts.specificity, parts.balanced_accuracy, parts.auc)),
            answers,
            by_code.strip(),
        )
    return table


def _bases(checklist: Checklist, transcripts: Path | None) -> tuple[Base, ...]:
    from dramaturg.errors import UserError
    from dramaturg.judge.audit import shipped_bases
    from dramaturg.run.audit import bases_of

    if transcripts is not None:
        return bases_of(transcripts)
    if not any(indicator.detects for indicator in checklist.indicators):
        raise UserError(
            f"the checklist {checklist.id} names no fault that it detects",
            where="--checklist",
            allowed="give its indicators `detects:`",
        )
    bases = shipped_bases(checklist)
    if not bases:
        raise UserError(
            f"no clean transcripts ship for the checklist {checklist.id}",
            where="--checklist",
            allowed="name clean transcripts of your own with --transcripts",
        )
    return bases


def _known_to(bench: JudgeBench, other: str) -> tuple[str, ...]:
    """Returns the ids that the judge was trained on, and those of another judge that it is compared with."""
    from dramaturg.model import parse_spec
    from dramaturg.model.local_files import adapter_trained_on

    return (*adapter_trained_on(bench.model.spec), *(adapter_trained_on(parse_spec(other)) if other else ()))


def _unknown(known: Collection[str], bases: tuple[Base, ...]) -> tuple[Base, ...]:
    """Returns the clean transcripts that are not known, nor others of their case."""
    from dramaturg.errors import UserError

    left = tuple(base for base in bases if {base.id, base.transcript.scenario.id}.isdisjoint(known))
    if not left:
        raise UserError(
            f"the judge was trained on all {len(bases)} clean transcripts",
            where="--split",
            allowed="--transcripts FILE with others, or --split all",
        )
    return left


def _own_folder(bench: JudgeBench, sample: int, seed: int, transcripts: Path | None) -> Path:
    from dramaturg.model.registry import cache_folder
    from dramaturg.text import sha256

    name = sha256(f"{bench.key}/{sample}/{seed}/{transcripts.resolve() if transcripts else ''}")[:12]
    return cache_folder() / "audits" / name


def _open_part(result: AuditResult) -> str:
    return f"{sum(result.not_judged.values())} of {result.planned} planned specimens are open"


def _end(result: AuditResult) -> None:
    if result.stop:
        complain(f"stopped: {result.limit or result.stop}; run it again to go on")
    elif result.card is None:
        complain("nothing was judged: " + ", ".join(f"{reason} × {n}" for reason, n in result.not_judged.items()))
    elif result.not_judged:
        failed = ", ".join(f"{reason} × {count}" for reason, count in result.not_judged.items())
        complain(f"{_open_part(result)}, so no card is kept: {failed}; run it again")
    if result.exit_code:
        raise Finished(result.exit_code)
