"""How different the cases of a collection are, by their words alone."""

from __future__ import annotations

from collections.abc import Iterable

from dramaturg.model.lexical import tokens
from dramaturg.stage.court.case import AnyCase, Case
from dramaturg.stage.court.cases.fields import listed_people, text_fields
from dramaturg.stage.court.names import plain_name
from dramaturg.stage.diversity import Diversity, Spread

NEAR_DUPLICATE = 0.25
"""Two cases whose distance is less are taken for one case told twice."""


def case_tokens(case: AnyCase) -> list[str]:
    """Returns the words of a case, but for the three offices of a court: generators fill these from lists."""
    office = ("judge.", "prosecutor.", "defence.") if isinstance(case, Case) else ()
    return tokens("\n".join(field.text for field in text_fields(case) if not field.where.startswith(office)))


def case_names(case: AnyCase) -> list[str]:
    """Returns the names of everybody whom a case lists, each in the form in which names are compared."""
    return [plain_name(name) for name in listed_people(case).values()]


def diversity(cases: Iterable[AnyCase]) -> Diversity:
    """Returns how different the cases of a collection are; a pure function of their texts.

    The distance is Jaccard's over word sets, averaged over all unordered pairs. It does not depend on how many cases
    there are, but long cases are a little more alike than short ones, since they share more of the common words:
    compare collections of a similar length.
    """
    spread = Spread()
    for case in cases:
        spread.add(case_tokens(case), case_names(case))
    return spread.figures()
