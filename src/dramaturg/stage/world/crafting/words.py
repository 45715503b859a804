"""What is drawn for an invented scene before a model is asked, and in which language a text is."""

from __future__ import annotations

import functools
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from dramaturg.errors import UserError
from dramaturg.files import load_yaml
from dramaturg.stage.world.importing import HAN

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")
"""Languages in which scenes can be crafted."""

_HAN_SHARE = 0.2
"""From this share of Chinese signs on, a text is Chinese."""

_MOST_LOOKED_AT = 20_000


class SceneWords(BaseModel):
    """What one language brings.

    Attributes:
        places: Where a scene may play.
        conflicts: What nobody in it can stay out of.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    places: Annotated[tuple[str, ...], Field(min_length=1)]
    conflicts: Annotated[tuple[str, ...], Field(min_length=1)]


@functools.cache
def scene_words(language: Language) -> SceneWords:
    """Returns the words of a language."""
    folder = Path(str(resources.files("dramaturg"))) / "content" / "scene-words"
    return load_yaml(folder / f"{language}.yaml", SceneWords)


def known_language(code: str, *, where: str) -> Language:
    """Returns the code of a language in which scenes can be crafted.

    Raises:
        UserError: It is another.
    """
    for language in LANGUAGES:
        if code == language:
            return language
    raise UserError(f"no scenes are crafted in the language {code!r}", where=where, allowed=", ".join(LANGUAGES))


def language_of(text: str) -> Language:
    """Returns ``zh`` for a text with Chinese signs enough, and ``en`` for every other; its beginning decides."""
    signs = "".join(text[:_MOST_LOOKED_AT].split())
    return "zh" if len(HAN.findall(signs)) > _HAN_SHARE * len(signs) else "en"
