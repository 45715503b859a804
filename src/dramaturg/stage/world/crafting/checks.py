"""Checks of a crafted scene that need no model: what the linter finds, and what only its source can tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dramaturg.model.lexical import tokens
from dramaturg.stage.finding import Finding, by_severity
from dramaturg.stage.world.crafting.words import language_of
from dramaturg.stage.world.linting import lint
from dramaturg.stage.world.scene import Scene

LONGEST_QUOTE = 40
"""Words (in Chinese, signs) of a work that may stand in a scene in one row."""

_MOST_TOLD = 200


def check_scene(scene: Scene, text: str) -> tuple[Finding, ...]:
    """Returns what is wrong with a scene; each finding is an error.

    Args:
        scene: The scene.
        text: The piece of a work that it was taken from; empty for an invented one.
    """
    return by_severity(
        [
            *(_error(found.issue, found.where, found.detail) for found in lint([scene], scene.id)),
            *_language(scene),
            *(_against(scene, text) if text else ()),
        ]
    )


def copies(told: Iterable[str], text: str) -> bool:
    """Returns whether any of the texts told holds more of a text, in one row, than may be quoted."""
    rows = set(_rows(text))
    return any(not rows.isdisjoint(_rows(part)) for part in told)


def scene_texts(scene: Scene) -> list[str]:
    """Returns all that is told in a scene, field by field."""
    around = scene.environment
    told = [scene.title, scene.event, around.time, around.place, around.description, scene.plot]
    for character in scene.characters:
        told += (character.name, character.profile, character.position, character.state)
        if character.opening is not None:
            told += (character.opening.action, character.opening.speech)
    return told


def _language(scene: Scene) -> Iterator[Finding]:
    if scene.language == "zh" and language_of(scene.event) != "zh":
        yield _error("other language", "event", "is not written in Chinese")
    if all(character.opening is None for character in scene.characters):
        yield _error("nobody acts", "characters", "nobody does or says anything at the beginning")


def _against(scene: Scene, text: str) -> Iterator[Finding]:
    """Yields what contradicts the source; names are looked for where scene and source are in one language."""
    if copies(scene_texts(scene), text):
        yield _error("copied", "scene", f"repeats more than {LONGEST_QUOTE} words of the text; tell it in other words")
    if language_of(text) != scene.language:
        return
    known = set(tokens(text))
    for at, character in enumerate(scene.characters):
        if known.isdisjoint(word for name in (character.name, *character.aliases) for word in tokens(name)):
            yield _error("not in the text", f"characters[{at}].name", f"the text names no {character.name}")


def _rows(text: str) -> Iterator[tuple[str, ...]]:
    words = tokens(text)
    return (tuple(words[at : at + LONGEST_QUOTE + 1]) for at in range(len(words) - LONGEST_QUOTE))


def _error(code: str, where: str, text: str) -> Finding:
    return Finding(code, "error", where, " ".join(text.split())[:_MOST_TOLD])
