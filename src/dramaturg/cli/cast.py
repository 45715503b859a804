"""``dramaturg cast``: draw, describe and check characters; read and write character cards and chats."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, assert_never

import typer

from dramaturg.cli.cast_files import (
    as_lines,
    cards_folder,
    read_characters,
    read_sketches,
    refuse_overwriting,
    source_card,
)
from dramaturg.cli.console import AsJson, Finished, console, say, say_json
from dramaturg.cli.run import MaxCalls, MaxCost, MaxTokens, ReplayOnly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dramaturg.ledger import Budget, Ledger
    from dramaturg.stage.cast.describing import Described
    from dramaturg.stage.cast.sketch import Sketch

app = typer.Typer(
    help="Draw, describe and check characters; read and write character cards.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what lies there.")]


class Kind(StrEnum):
    """What a character may be."""

    HISTORICAL = "historical"
    CONTEMPORARY = "contemporary"
    FICTIONAL = "fictional"
    NON_HUMAN = "non_human"


class CardForm(StrEnum):
    """How a card is written."""

    JSON = "json"
    PNG = "png"


class CardVersion(StrEnum):
    """Which specification a card follows."""

    V2 = "2"
    V3 = "3"


@app.command()
def generate(
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where the sketches go, one a line.")],
    count: Annotated[int, typer.Option("-n", min=1, max=100_000, metavar="N", help="How many characters.")] = 1,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**31 - 1, metavar="S", help="Of the cast.")] = 1,
    origin: Annotated[list[Kind] | None, typer.Option("--origin", help="Which kinds; all by default.")] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--setting", metavar="ID", help="Which times and places; all by default.")
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Draw characters without a model: name, age, occupation, time, place and traits that agree with each other."""
    from dramaturg.stage.cast.generator import cast_diversity
    from dramaturg.stage.cast.generator import generate as draw
    from dramaturg.text import write_atomically

    refuse_overwriting(out, overwrite=overwrite)
    sketches = draw(count, seed, origins=[kind.value for kind in origin or ()], setting_ids=setting or ())
    write_atomically(out, as_lines(sketches))
    spread = cast_diversity(sketches)
    cultures = sorted({sketch.culture for sketch in sketches})
    if as_json:
        say_json(
            {
                "out": str(out),
                "characters": len(sketches),
                "cultures": cultures,
                "diversity": spread.as_json("characters"),
            }
        )
        return
    say(f"{out}: {len(sketches)} characters of {len(cultures)} cultures")
    say(spread.in_words("characters"))
    say(f"next: dramaturg cast describe {out} --model SPEC --out characters.jsonl")


@app.command()
def describe(
    sketches: Annotated[Path, typer.Argument(metavar="SKETCHES", help="What `cast generate` wrote.")],
    model: Annotated[
        str, typer.Option("--model", metavar="SPEC|template", help="Who writes: a model, or `template` for none.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where the characters go, one a line.")],
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**31 - 1, metavar="S", help="Of the texts.")] = 1,
    repairs: Annotated[
        int, typer.Option("--repairs", min=0, max=10, metavar="K", help="Most rounds of repair of a description.")
    ] = 2,
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, max=1024, metavar="N", help="Most descriptions at once.")
    ] = 8,
    ledger: Annotated[
        str, typer.Option("--ledger", metavar="PATH|URL", help="Where answers are kept; beside FILE by default.")
    ] = "",
    as_json: AsJson = False,
    replay_only: ReplayOnly = False,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
) -> None:
    """Describe characters in the second person, and check each description against its profile.

    Run it again to resume. A description that keeps an error is shown and not written.
    """
    import asyncio

    from dramaturg.ledger import Budget, Ledger
    from dramaturg.stage.cast.describing import TEMPLATE, described_by_pattern
    from dramaturg.text import write_atomically

    wanted = read_sketches(sketches)
    budget = Budget(max_calls=max_calls, max_tokens=max_tokens, max_cost=max_cost)
    described: list[Described] = []
    try:
        if model == TEMPLATE:
            described += map(described_by_pattern, wanted)
        else:
            with Ledger.open(ledger or out.with_suffix(".ledger.db"), replay_only=replay_only) as store:
                asyncio.run(_describe(wanted, model, store, budget, seed, repairs, concurrency, described))
    finally:
        passed = [one.character for one in described if one.passes and one.character is not None]
        if passed:
            write_atomically(out, as_lines(passed))
    _tell_described(described, out, budget, as_json=as_json)


async def _describe(
    wanted: Sequence[Sketch],
    spec: str,
    store: Ledger,
    budget: Budget,
    seed: int,
    repairs: int,
    concurrency: int,
    described: list[Described],
) -> None:
    """Adds what became of each sketch, as it is decided, so that a limit loses nothing."""
    from contextlib import aclosing

    from dramaturg.model.opening import Models
    from dramaturg.stage.cast.describing import describe_all

    async with Models() as models:
        model = await models.open(spec)
        budget.check_prices({spec: model.identity})
        with console(stderr=True).status(f"character 0 of {len(wanted)}") as status:
            texts = describe_all(wanted, model, store, budget, seed=seed, repairs=repairs, concurrency=concurrency)
            async with aclosing(texts):
                async for one in texts:
                    described.append(one)
                    status.update(f"character {len(described)} of {len(wanted)}: {one.sketch.profile.name}")


def _tell_described(described: Sequence[Described], out: Path, budget: Budget, *, as_json: bool) -> None:
    failed = [one for one in described if not one.passes]
    if as_json:
        say_json(
            {
                "out": str(out),
                "characters": len(described) - len(failed),
                "failed": [
                    {
                        "id": one.sketch.id,
                        "failure": one.failure,
                        "stopped": one.stopped,
                        "findings": [found.as_json() for found in one.findings],
                    }
                    for one in failed
                ],
                "calls": budget.calls,
                "replayed": budget.replayed,
            }
        )
    else:
        repaired = sum(one.passes and one.repairs > 0 for one in described)
        say(f"{out}: {len(described) - len(failed)} of {len(described)} descriptions pass ({repaired} after repair)")
        say(f"{budget.calls} new calls, {budget.replayed} replayed")
        for one in failed:
            say(f"{one.sketch.id}: {one.failure or 'keeps an error'}")
            for found in one.findings:
                say(f"  {found}")
    if failed:
        raise Finished(2)


@app.command()
def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="Sketches or characters, one a line.")],
    as_json: AsJson = False,
) -> None:
    """Check sketches and characters without a model. Errors end with exit code 1, warnings with 0."""
    from dramaturg.cli.cast_files import holds_sketches
    from dramaturg.stage.cast.checking import check_character, check_sketch
    from dramaturg.stage.finding import has_errors

    checked = [
        (path, one.id, check_sketch(one)) for path in files if holds_sketches(path) for one in read_sketches(path)
    ] + [
        (path, one.id, check_character(one))
        for path in files
        if not holds_sketches(path)
        for one in read_characters(path)
    ]
    if as_json:
        say_json(
            [
                {"file": str(path), "id": name, "findings": [found.as_json() for found in findings]}
                for path, name, findings in checked
            ]
        )
    else:
        for _, name, findings in checked:
            for found in findings:
                say(f"{name}: {found}")
        say(f"{len(checked)} checked, {sum(bool(findings) for _, _, findings in checked)} with findings")
    if any(has_errors(findings) for _, _, findings in checked):
        raise Finished(1)


@app.command("import")
def import_cards(
    cards: Annotated[list[Path], typer.Argument(metavar="CARD…", help="Character cards: JSON or PNG, V1 to V3.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where the characters go, one a line.")],
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Read character cards; each is kept whole beside FILE, so that `cast export` gives back all that was in it."""
    from dramaturg.errors import UserError
    from dramaturg.stage.cast.cards import character_of, read_card
    from dramaturg.text import write_atomically

    refuse_overwriting(out, overwrite=overwrite)
    read = [(path, card := read_card(path), character_of(card)) for path in cards]
    first: dict[str, Path] = {}
    for path, _, character in read:
        if character.id in first:
            what = f"holds the character {character.id!r}, as {first[character.id]} does"
            raise UserError(what, where=str(path), allowed="each character once")
        first[character.id] = path
    kept = cards_folder(out)
    kept.mkdir(parents=True, exist_ok=True)
    for path, card, character in read:
        (kept / f"{character.id}{'.png' if card.image else '.json'}").write_bytes(card.image or path.read_bytes())
    write_atomically(out, as_lines([character for _, _, character in read]))
    if as_json:
        say_json(
            {
                "out": str(out),
                "characters": [
                    {"id": character.id, "name": character.name, "file": str(path), "version": card.version}
                    for path, card, character in read
                ],
            }
        )
        return
    for path, card, character in read:
        say(f"{path}: {character.name} (card version {card.version}), {len(character.description)} characters of text")
    say(f"{out}: characters: {len(read)}; the cards lie in {kept}")


@app.command("export")
def export_cards(
    characters: Annotated[Path, typer.Argument(metavar="CHARACTERS", help="Characters, one a line.")],
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where the cards go, one for each character.")],
    form: Annotated[CardForm, typer.Option("--format", help="JSON, or a PNG image that holds it.")] = CardForm.JSON,
    version: Annotated[CardVersion, typer.Option("--card-version", help="Of the card.")] = CardVersion.V3,
    image: Annotated[
        Path | None, typer.Option("--image", metavar="FILE", help="Picture of a PNG card; else its own, or a grey one.")
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Write character cards. A character that was imported keeps every field of its card."""
    from dramaturg.stage.cast.cards import card_for
    from dramaturg.text import write_atomically

    number: Literal[2, 3] = 3 if version is CardVersion.V3 else 2
    picture = image.read_bytes() if image is not None else b""
    written: list[Path] = []
    read = read_characters(characters)
    for character in read:
        path = out / f"{character.id}.{form.value}"
        refuse_overwriting(path, overwrite=overwrite)
    for character in read:
        path = out / f"{character.id}.{form.value}"
        card = card_for(character, number, source_card(characters, character.id))
        match form:
            case CardForm.JSON:
                write_atomically(path, f"{card.as_json()}\n")
            case CardForm.PNG:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(card.as_png(picture, where=str(image or path)))
            case _:
                assert_never(form)
        written.append(path)
    if as_json:
        say_json({"out": str(out), "cards": [str(path) for path in written]})
    else:
        say(f"{out}: cards: {len(written)} (version {version.value}, {form.value})")


@app.command()
def chat(
    transcripts: Annotated[Path, typer.Argument(metavar="TRANSCRIPTS", help="Transcripts, one a line.")],
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where the chats go, one for each transcript.")],
    user: Annotated[
        str, typer.Option("--user", metavar="ROLE", help="Who sits at the keyboard; the human player by default.")
    ] = "",
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Write transcripts as chats of SillyTavern, which `dramaturg import` reads back."""
    from dramaturg.cli.console import complain_of_torn
    from dramaturg.files import read_jsonl
    from dramaturg.stage.chat_export import to_sillytavern
    from dramaturg.stage.slug import slug
    from dramaturg.stage.transcript import Transcript
    from dramaturg.text import write_atomically

    written: list[Path] = []
    for _, transcript in read_jsonl(transcripts, Transcript, on_torn=complain_of_torn):
        path = out / f"{slug(transcript.id) or 'chat'}.jsonl"
        refuse_overwriting(path, overwrite=overwrite)
        write_atomically(path, to_sillytavern(transcript, user=user))
        written.append(path)
    if as_json:
        say_json({"out": str(out), "chats": [str(path) for path in written]})
    else:
        say(f"{out}: chats: {len(written)}")
