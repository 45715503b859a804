"""A case as the YAML file that `read_case` reads."""

from __future__ import annotations

import json
import re
import unicodedata

import yaml
from pydantic import JsonValue

from dramaturg.stage.court.case import AnyCase

_WIDTH = 110
_LONGEST_ID = 60
_UNSAFE = re.compile("[\x85\u2028\u2029\ufeff]")
"""Signs that YAML takes for line ends or drops; a text that holds any is written with escapes."""


def case_yaml(case: AnyCase) -> str:
    """Returns the case as YAML; what stands at its default is left out, the language never is."""
    data: dict[str, JsonValue] = {"id": case.id, "title": case.title, "language": case.language}
    data |= case.model_dump(mode="json", exclude_defaults=True)
    plain = _UNSAFE.search(json.dumps(data, ensure_ascii=False)) is None
    text: str = yaml.safe_dump(data, allow_unicode=plain, sort_keys=False, width=_WIDTH)  # pyright: ignore[reportUnknownMemberType]
    return text


def case_id(title: str, *more: str) -> str:
    """Returns an id made of a title, and of more where titles alone do not tell cases apart."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode("ascii").casefold()
    words = "".join(letter if letter.isalnum() else " " for letter in plain.replace("'", "")).split()
    slug = "-".join(words) or "case"
    if len(slug) > _LONGEST_ID:
        slug = slug[:_LONGEST_ID].rpartition("-")[0] or slug[:_LONGEST_ID]
    return "-".join([slug, *more])
