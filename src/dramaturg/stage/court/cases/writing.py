"""A case as the YAML file that `read_case` reads."""

from __future__ import annotations

from pydantic import JsonValue

from dramaturg.files import dump_yaml
from dramaturg.stage.court.case import AnyCase
from dramaturg.stage.slug import slug

_WIDTH = 110


def case_yaml(case: AnyCase) -> str:
    """Returns the case as YAML; what stands at its default is left out, the language never is."""
    data: dict[str, JsonValue] = {"id": case.id, "title": case.title, "language": case.language}
    data |= case.model_dump(mode="json", exclude_defaults=True)
    return dump_yaml(data, width=_WIDTH)


def case_id(title: str, *more: str) -> str:
    """Returns an id made of a title, and of more where titles alone do not tell cases apart."""
    return "-".join([slug(title) or "case", *more])
