"""Writes a data set: without duplicates, split so that nothing leaks, checked, with its card and its forms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dramaturg.errors import UserError
from dramaturg.text import write_atomically
from dramaturg.train.card import DataCard, card_of, read_card, tokenizer_of, write_card
from dramaturg.train.example import Example, ExampleRow, Gathered, Kind
from dramaturg.train.formats import FORMS, Form, all_formed, file_of, write_form
from dramaturg.train.leaks import Piece, find_leaks, sharing
from dramaturg.train.recipes import BASE, CUTOFF_TOKENS, Reads, write_dataset_info, write_llamafactory, write_trl
from dramaturg.train.splitting import SPLITS, Split, read_set, refuse_one_class, split_as, split_examples

PAIRS: tuple[tuple[Split, Split], ...] = (("train", "test"), ("validation", "test"), ("train", "validation"))
"""Splits that must share nothing; of each pair, the first gives way."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a set is to be written.

    Attributes:
        validation: Share of the examples for validation.
        test: Share for the test.
        seed: Of the splits.
        forms: Beside ``train.jsonl`` and the others.
        base: Hub id, folder or GGUF file of the model to be trained: it counts the tokens, and stands in the
            configurations; empty to estimate them.
        like: Folder of another set, whose splits these are; shares and seed say nothing then.
    """

    validation: float
    test: float
    seed: int
    forms: tuple[Form, ...] = ()
    base: str = ""
    like: Path | None = None


def check_out(out: Path, kind: Kind) -> None:
    """Refuses a folder that holds another kind of set, before anything is read or asked.

    Raises:
        UserError: It does.
    """
    card = read_card(out)
    if card is not None and card.kind != kind:
        raise UserError(f"holds a set of the kind {card.kind}", where=str(out), allowed="choose another --out")


def write_set(out: Path, kind: Kind, gathered: Gathered, layout: Layout, *, sources: Sequence[Path]) -> DataCard:
    """Returns the card of a set, written with all of its files.

    Args:
        out: Folder, made where it is missing.
        kind: What is learned.
        gathered: The examples, and what was left out before.
        layout: How.
        sources: Folders and files that they are from.

    Raises:
        UserError: The set is empty, has one class, cannot be split, or a form cannot hold it; what the folder held
            before is still there.
        MissingExtraError: A form or the tokenizer needs what is not installed; see there.
    """
    left_out = Counter(gathered.left_out)
    examples = _distinct(gathered.examples, left_out)
    if not examples:
        reasons = "; ".join(f"{why} ({count})" for why, count in left_out.most_common(4))
        raise UserError(f"the set is empty: {reasons or 'the runs hold nothing of this kind'}", where=str(out))
    if gathered.labels:
        refuse_one_class(gathered.labels, "rating" if kind == "reward" else "answer")
    tokens_of, tokenizer = tokenizer_of(layout.base)
    beside: list[Piece] = []
    if layout.like is None:
        splits = split_examples(examples, validation=layout.validation, test=layout.test, seed=layout.seed)
    else:
        other = read_set(layout.like)
        splits = split_as(examples, other, left_out, str(layout.like))
        beside = _pieces(other, f"{layout.like}: ")
    splits = _without_shared_runs(splits, left_out, beside)
    if leaks := find_leaks([*_pieces(splits), *beside]):
        allowed = "another set than " + str(layout.like) if layout.like else "report this as a fault"
        raise UserError(f"the splits leak: {leaks[0]}", where=str(out), allowed=allowed)
    card = card_of(
        kind,
        splits,
        seed=layout.seed,
        sources=sources,
        terms=gathered.terms if layout.like is None else {**gathered.terms, "split_as": str(layout.like)},
        left_out=left_out,
        tokens_of=tokens_of,
        tokenizer=tokenizer,
    )
    by_split = {name: [ExampleRow.of(one) for one in splits[name]] for name in SPLITS if splits.get(name)}
    formed = {form: all_formed(by_split, form) for form in layout.forms}
    _clear(out)
    for name, rows in by_split.items():
        write_atomically(out / f"{name}.jsonl", "".join(f"{row.model_dump_json()}\n" for row in rows))
        for form in layout.forms:
            write_form(out / form, name, formed[form][name], form)
    _configure(out, layout, card)
    write_card(out, card)
    return card


def _clear(out: Path) -> None:
    """Removes the files of an earlier set, so that no split and no form of it stands beside this one."""
    for name in SPLITS:
        for path in (out / f"{name}.jsonl", *(file_of(out / form, name, form) for form in FORMS)):
            path.unlink(missing_ok=True)
    infos = [out / form / "dataset_info.json" for form in FORMS]
    for path in (out / "trl.yaml", out / "llamafactory.yaml", *infos):
        path.unlink(missing_ok=True)


def _distinct(examples: Sequence[Example], left_out: Counter[str]) -> list[Example]:
    """Returns the examples without those that say the same, blanks and case aside."""
    seen: set[tuple[str, ...]] = set()
    found: list[Example] = []
    for example in examples:
        said = tuple(" ".join(text.casefold().split()) for text in (*_texts(example), example.answer))
        if said in seen:
            left_out["duplicate"] += 1
            continue
        seen.add(said)
        found.append(example)
    return found


def _without_shared_runs(
    splits: Mapping[Split, Sequence[Example]], left_out: Counter[str], beside: Sequence[Piece]
) -> dict[Split, list[Example]]:
    """Returns the splits without what has a long run of words in common with a split that is held out.

    Args:
        splits: Examples by split.
        left_out: Is told what was left out.
        beside: Of another set that is learnt from too; they stay, so that what is held out here may give way.

    Raises:
        UserError: Nothing is left of a split.
    """
    kept: dict[Split, list[Example]] = {name: list(split) for name, split in splits.items()}
    pairs = PAIRS if not beside else (*PAIRS, *((held_out, name) for name, held_out in PAIRS))
    is_clear = False
    while not is_clear:  # what is taken away may make a stock phrase one of two scenes alone
        is_clear = True
        for name, other in pairs:
            if name not in kept or (other not in kept and not beside):
                continue
            shared = sharing([*_pieces(kept), *beside], name, other)
            if beside and other in kept:  # what is stock beside another set may stand in two scenes of this one alone
                shared |= sharing(_pieces(kept), name, other)
            clear = [example for example in kept[name] if example.id not in shared]
            is_clear = is_clear and len(clear) == len(kept[name])
            left_out[f"shares a run of words with {other}"] += len(kept[name]) - len(clear)
            kept[name] = clear
    for name, split in kept.items():
        if not split:
            raise UserError(
                f"nothing is left of the split {name}: each example shares long runs of words with another split",
                allowed="runs whose answers repeat each other less",
            )
    left_out += Counter()  # drops what is zero
    return kept


def _pieces(splits: Mapping[Split, Sequence[Example]], where: str = "") -> list[Piece]:
    return [
        Piece(name, where + example.id, (*_texts(example), example.answer), example.scene, example.characters)
        for name, split in splits.items()
        for example in split
    ]


def _texts(example: Example) -> tuple[str, ...]:
    return tuple(message.text for message in example.messages)


def _configure(out: Path, layout: Layout, card: DataCard) -> None:
    base, splits, note = layout.base or BASE, tuple(card.splits), _length_note(card)
    if "trl" in layout.forms:
        write_trl(out, card.kind, base=base, splits=splits, seed=layout.seed, note=note)
    read: list[Reads] = [form for form in layout.forms if form == "alpaca" or form == "sharegpt"]
    for reads in read:
        write_dataset_info(out, card.kind, reads=reads, splits=splits)
    if read:
        write_llamafactory(out, card.kind, base=base, reads=read[0], splits=splits, seed=layout.seed, note=note)


def _length_note(card: DataCard) -> str:
    """Returns what a trainer's cutoff means for the set: beyond it, trainers cut without a word."""
    tokens = [facts.tokens for facts in card.splits.values()]
    longest, over = max(one.most for one in tokens), sum(one.over_cutoff for one in tokens)
    return (
        f"An example longer than the cutoff is cut. The longest has {longest} tokens, {over} are"
        f" longer than {CUTOFF_TOKENS} (tokens are {card.tokenizer})."
    )
