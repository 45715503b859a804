"""The texts of a case, each with its place; both forms of a case are read alike."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from dramaturg.stage.court.case import AnyCase, Case

_NO_TEXT = frozenset({"id", "language", "kind", "status", "called_by", "role", "procedure", "origin"})
_NUMBERS = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class TextField:
    """One text of a case.

    Attributes:
        where: Its place, for example ``evidence[0].description``.
        text: The text.
    """

    where: str
    text: str

    @property
    def kind(self) -> str:
        """The place without its numbers: ``evidence.description``."""
        return _NUMBERS.sub("", self.where)


def text_fields(case: AnyCase) -> list[TextField]:
    """Returns every text of a case that people write, in the order of the form; blank ones are left out."""
    return list(_texts(case.model_dump(mode="json"), ""))


def _texts(value: object, where: str) -> Iterator[TextField]:
    match value:
        case str():
            if value:
                yield TextField(where, value)
        case dict():
            for key, part in cast("dict[str, object]", value).items():
                if key not in _NO_TEXT:
                    yield from _texts(part, f"{where}.{key}" if where else key)
        case list():
            for number, part in enumerate(cast("list[object]", value)):
                yield from _texts(part, f"{where}[{number}]")
        case _:
            pass


def listed_people(case: AnyCase) -> dict[str, str]:
    """Returns the name of everybody whom the case lists, by place; the accused last."""
    people = {
        field.where: field.text
        for field in text_fields(case)
        if field.where.endswith(".name") and not field.where.startswith("evidence")
    }
    return people | {"accused": case.accused} if isinstance(case, Case) else people


def whole_text(case: AnyCase) -> str:
    """Returns all texts of a case, one a line."""
    return "\n".join(field.text for field in text_fields(case))
