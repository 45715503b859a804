"""The data card of a set that a model made: what it holds, where it comes from, and what nobody has checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from dramaturg import __version__
from dramaturg.stage.interview.item import CATEGORIES
from dramaturg.stage.interview.item_set import ItemSet
from dramaturg.text import Json

MOST_OF_ONE_ANSWER = 0.6
"""Share of one answer above which a bot that always gives it is told to score well."""


def data_card(made: ItemSet, settings: Mapping[str, Json], figures: Mapping[str, int], *, complete: bool) -> str:
    """Returns the card in Markdown.

    Args:
        made: The set.
        settings: What it was made with.
        figures: How many tasks and scenarios came to what.
        complete: Whether everything that was planned is decided.
    """
    return "\n".join(_lines(made, settings, figures, complete)) + "\n"


def _lines(made: ItemSet, settings: Mapping[str, Json], figures: Mapping[str, int], complete: bool) -> Iterator[str]:
    head = made.head
    yield f"# {head.title}"
    yield ""
    size = f"{len(made.characters)} characters, {len(made.items)} items"
    yield f"{size}, language {head.language}, version {head.version}."
    yield f"Licence: {head.licence or 'not stated'}."
    if not complete:
        yield ""
        yield "**The set is not complete**: the same command makes the rest."
    yield ""
    yield "## What it holds"
    yield ""
    yield "| category | items | commonest answer | its share |"
    yield "| --- | ---: | --- | ---: |"
    for category in CATEGORIES:
        answers = Counter(item.expected for item in made.items if item.category == category)
        total = answers.total()
        if category in ("in_character", "knows") or not total:
            yield f"| {category} | {total} | | |"
            continue
        answer, count = answers.most_common(1)[0]
        warned = " (!)" if count > MOST_OF_ONE_ANSWER * total else ""
        yield f"| {category} | {total} | {answer} | {count / total:.0%}{warned} |"
    yield ""
    yield f"(!): always giving that answer is right more often than {MOST_OF_ONE_ANSWER:.0%}; add items or drop some."
    yield ""
    yield "## How it was made"
    yield ""
    yield f"- Dramaturg {__version__}, seed {settings['seed']}."
    yield f"- Written by `{settings['model']}`; read by `{settings['critic'] or 'nobody'}`."
    yield f"- At most {settings['repairs']} rounds of repair of a form."
    yield f"- Wanted: {figures['wanted']} items. Passed the checks: {figures['items']}. Dropped: {figures['dropped']}."
    yield f"  Told to another character already: {figures['repeated']}. `making.json` lists what was dropped, and why."
    yield "- The checks are rules over words: no talk before the message, the answer not given away, questions that"
    yield "  yes or no answers, labels of the set, facts after (or before) the end of what the character can know."
    yield ""
    yield "Prompts (SHA-256):"
    yield ""
    prompts = settings["prompts"]
    if isinstance(prompts, Mapping):
        yield from (f"- `{name}`: `{digest}`" for name, digest in prompts.items())
    yield ""
    yield "## What nobody has checked"
    yield ""
    yield "The right answers are the writing model's. They are no gold labels until people annotate them, and they"
    yield "favour a model of the writer's family. Whether an item needs its character is to be measured: score a run"
    yield "of the messages alone, and one with the characters shuffled, beside every model."
