"""The card of a data set: what is in it, where it is from, by what it was chosen, and what was left out and why."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, JsonValue

from dramaturg import __version__
from dramaturg.errors import ContentError, MissingExtraError, UserError
from dramaturg.ledger.budget import estimated_tokens
from dramaturg.model.local_files import find_local
from dramaturg.model.spec import parse_spec
from dramaturg.prompts import load_prompt
from dramaturg.text import write_atomically
from dramaturg.train.example import Example, Kind
from dramaturg.train.recipes import CUTOFF_TOKENS
from dramaturg.train.splitting import Split

FORMAT = "dramaturg-train-data/1"
ESTIMATED = "estimated: 4 ASCII characters, 2 of other alphabets or 1 dense sign a token"

TokensOf = Callable[[str], int]
"""Returns how many tokens a text has."""


class Tokens(BaseModel):
    """Tokens of one split, chat and answer together where nothing else is said.

    Attributes:
        total: Of all examples.
        answers: Of the answers alone, on which the loss is.
        least: Of the shortest example.
        median: Of the example in the middle.
        p95: What 95 of 100 examples do not pass.
        most: Of the longest.
        over_cutoff: Examples longer than `CUTOFF_TOKENS`.
    """

    model_config = ConfigDict(frozen=True)

    total: int
    answers: int
    least: int
    median: int
    p95: int
    most: int
    over_cutoff: int


class SplitFacts(BaseModel):
    """What one split holds; an adapter that was trained on it lists its scenes.

    Attributes:
        examples: How many.
        purposes: Purpose of the call → how many.
        languages: Language → how many.
        scenes: Ids of scenes and cases.
        characters: Names.
        tokens: How long they are.
    """

    model_config = ConfigDict(frozen=True)

    examples: int
    purposes: dict[str, int]
    languages: dict[str, int]
    scenes: tuple[str, ...]
    characters: tuple[str, ...]
    tokens: Tokens


class DataCard(BaseModel):
    """The card, as ``card.json`` holds it.

    Attributes:
        kind: What is learned.
        version: Of the package that made it.
        seed: Of the splits.
        sources: Folders of runs and files of excerpts that it is from, as they were named.
        teachers: Who wrote the answers → how many.
        terms: By what was chosen.
        tokenizer: What counted the tokens.
        splits: By name.
        left_out: Why → how many.
        prompt_hashes: Of the prompts behind the chats, as ``VARIANT/LANGUAGE/NAME``.
        changed_prompts: Those that this version of the package asks in other words by now.
    """

    model_config = ConfigDict(frozen=True)

    format: Literal["dramaturg-train-data/1"] = FORMAT
    kind: Kind
    version: str = __version__
    seed: int
    sources: tuple[str, ...]
    teachers: dict[str, int]
    terms: dict[str, JsonValue]
    tokenizer: str
    splits: dict[str, SplitFacts]
    left_out: dict[str, int]
    prompt_hashes: dict[str, str]
    changed_prompts: tuple[str, ...]


def card_of(
    kind: Kind,
    splits: Mapping[Split, Sequence[Example]],
    *,
    seed: int,
    sources: Sequence[Path],
    terms: Mapping[str, object],
    left_out: Mapping[str, int],
    tokens_of: TokensOf,
    tokenizer: str,
) -> DataCard:
    """Returns the card of a set.

    Args:
        kind: What is learned.
        splits: The examples.
        seed: Of the splits.
        sources: Folders and files that they are from.
        terms: By what was chosen.
        left_out: Why what was left out was.
        tokens_of: Counts tokens.
        tokenizer: What counts them, in words.
    """
    examples = [example for split in splits.values() for example in split]
    languages = {example.language for example in examples} | {"en"}
    hashes: dict[str, str] = {}
    for example in examples:
        hashes |= example.prompt_hashes
    hashes = {path: of for path, of in sorted(hashes.items()) if path.split("/")[-2] in languages}
    return DataCard(
        kind=kind,
        seed=seed,
        sources=tuple(str(folder) for folder in sources),
        teachers=dict(Counter(example.teacher for example in examples).most_common()),
        terms=cast("dict[str, JsonValue]", dict(terms)),
        tokenizer=tokenizer,
        splits={name: _facts(split, tokens_of) for name, split in splits.items()},
        left_out=dict(sorted(left_out.items())),
        prompt_hashes=hashes,
        changed_prompts=tuple(path for path, of in hashes.items() if _is_changed(path, of)),
    )


def read_card(folder: Path) -> DataCard | None:
    """Returns the card of a folder, or None where it has none.

    Raises:
        UserError: ``card.json`` is no card of a data set.
    """
    path = folder / "card.json"
    if not path.is_file():
        return None
    try:
        return DataCard.model_validate_json(path.read_bytes())
    except ValueError:
        raise UserError("is no card of a data set", where=str(path), allowed="choose another --out") from None


def write_card(out: Path, card: DataCard) -> None:
    """Writes ``card.json`` for programs and ``card.md`` for people."""
    write_atomically(out / "card.json", card.model_dump_json(indent=1) + "\n")
    write_atomically(out / "card.md", _markdown(card))


def tokenizer_of(base: str) -> tuple[TokensOf, str]:
    """Returns what counts tokens, and how the card names it.

    Args:
        base: Hub id, folder, GGUF file or ``embedded:NAME`` of a model; empty to estimate.

    Raises:
        MissingExtraError: The extra ``train`` is not installed.
        UserError: There is no such tokenizer.
    """
    if not base:
        return estimated_tokens, ESTIMATED
    try:
        import transformers  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise MissingExtraError("tokens by the base's tokenizer", "train") from None
    path = find_local(parse_spec(base)).model if base.startswith("embedded:") else Path(base)
    given: dict[str, str] = {"gguf_file": path.name} if path.suffix == ".gguf" else {}
    try:
        made: Any = transformers.AutoTokenizer.from_pretrained(str(path.parent) if given else base, **given)  # pyright: ignore
    except (OSError, ValueError, KeyError) as problem:
        raise UserError(
            f"no tokenizer can be read: {str(problem).splitlines()[0]}",
            where=base,
            allowed="hub id, folder, GGUF file or embedded:NAME",
        ) from None

    def count(text: str) -> int:
        return len(cast("list[int]", made.encode(text, add_special_tokens=False)))  # pyright: ignore[reportUnknownMemberType]

    return count, f"by the tokenizer of {base}, without what a chat template adds"


def _facts(examples: Sequence[Example], tokens_of: TokensOf) -> SplitFacts:
    known: dict[str, int] = {}

    def counted(text: str) -> int:
        if text not in known:
            known[text] = tokens_of(text)
        return known[text]

    answers = [counted(example.answer) for example in examples]
    whole = sorted(
        answer + sum(counted(message.text) for message in example.messages)
        for example, answer in zip(examples, answers, strict=True)
    )
    return SplitFacts(
        examples=len(examples),
        purposes=dict(Counter(example.purpose for example in examples).most_common()),
        languages=dict(Counter(example.language for example in examples).most_common()),
        scenes=tuple(sorted({example.scene for example in examples})),
        characters=tuple(sorted({name for example in examples for name in example.characters})),
        tokens=Tokens(
            total=sum(whole),
            answers=sum(answers),
            least=whole[0],
            median=round(statistics.median(whole)),
            p95=whole[min(len(whole) - 1, int(0.95 * len(whole)))],
            most=whole[-1],
            over_cutoff=sum(count > CUTOFF_TOKENS for count in whole),
        ),
    )


def _is_changed(path: str, of: str) -> bool:
    variant, language, name = f"default/{path}".split("/")[-3:]
    if variant != "default":
        return False
    try:
        prompt = load_prompt(name, language)
    except ContentError:
        return True
    return prompt.language == language and prompt.hash != of


def _markdown(card: DataCard) -> str:
    lines = [
        f"# Data set: {card.kind}",
        "",
        f"Made by dramaturg {card.version} with seed {card.seed}. Tokens are {card.tokenizer}.",
        "",
        "| split | examples | scenes | characters | tokens | of answers | least | median | 95 % | most | over"
        f" {CUTOFF_TOKENS} |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, facts in card.splits.items():
        tokens = facts.tokens
        figures = (
            facts.examples, len(facts.scenes), len(facts.characters), tokens.total, tokens.answers, tokens.least,
            tokens.median, tokens.p95, tokens.most, tokens.over_cutoff,
        )  # fmt: skip
        lines.append(f"| {name} | {' | '.join(f'{figure:,}' for figure in figures)} |")
    lines += ["", "No scene, no character, no duplicate and no run of 13 words or 20 signs stands in two splits.", ""]
    lines += ["## Scenes", "", *(f"- {name}: {', '.join(facts.scenes)}" for name, facts in card.splits.items()), ""]
    lines += ["## Sources", "", *(f"- {source}" for source in card.sources), ""]
    lines += ["## Teachers", "", *(f"- {name}: {count}" for name, count in card.teachers.items()), ""]
    lines += ["What a teacher's licence says of models that are trained on its answers holds for this set.", ""]
    lines += ["## Chosen by", "", *(f"- {name}: {value}" for name, value in card.terms.items()), ""]
    lines += ["## Left out", "", *(f"- {why}: {count}" for why, count in card.left_out.items()), ""]
    if card.changed_prompts:
        lines += [
            "## Prompts that have changed since",
            "",
            "This version of the package asks in other words than these chats do:",
            "",
            *(f"- {path}" for path in card.changed_prompts),
            "",
        ]
    return "\n".join(lines)
