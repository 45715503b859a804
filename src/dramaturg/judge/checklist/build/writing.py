"""Checklists and accounts as YAML that people read and edit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

import yaml

from dramaturg.judge.checklist.build.account import Account, Entry
from dramaturg.judge.checklist.checklist import Checklist, Indicator, Provenance
from dramaturg.text import Json

_WIDTH = 110
_SHORT_LISTS = frozenset({"roles", "detects"})

_HEAD = """\
# A checklist that was built from the benchmark {benchmark}. Read it before you use it.
#
# {account} tells what became of every question that was written, and why. To overrule it, write
# `keep` or `remove` there under `overrule` and build again. A change in this file is a person's: a later build then
# stops and asks before it writes over it.
# `dramaturg checklist lint FILE` names what is doubtful; `dramaturg checklist diff FILE` shows what each stage did.
"""

_ACCOUNT_HEAD = """\
# What became of every question that was written for {checklist}.
#
# To overrule a decision, write `keep` or `remove` under `overrule` and run the same build again: your word holds, and
# stays here. `decision` is what is in the checklist now; `stage` is where it was decided, `reason` why.
"""


class _Flow(list[str]):
    """A list that is written in one line."""


class _Dumper(yaml.SafeDumper):
    """Writes lists under their key with an indent, texts that look like something else in quotes."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


_Dumper.add_representer(
    _Flow, lambda dumper, data: dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=True)
)


def checklist_text(checklist: Checklist, *, account: str) -> str:
    """Returns a checklist as YAML with a head for people; it reads back as the same checklist.

    Args:
        checklist: The checklist.
        account: Name of its account's file.
    """
    head = _HEAD.format(benchmark=checklist.benchmark.partition("@")[0], account=account)
    fields = _plain(checklist.model_dump(mode="json", exclude={"indicators", "dimensions"}, exclude_defaults=True))
    fields["language"] = checklist.language
    parts = [head, _dump(fields), _dump({"dimensions": checklist.model_dump(mode="json")["dimensions"]})]
    lines = ["indicators:\n"]
    names = {dimension.id: dimension.name for dimension in checklist.dimensions}
    parts_of = {part.id: part.name for dimension in checklist.dimensions for part in dimension.subdimensions}
    place = ("", "")
    for indicator in checklist.indicators:
        here = (indicator.dimension, indicator.subdimension or "")
        if here != place:
            place = here
            title = names[here[0]] + (f": {parts_of[here[1]].lower()}" if here[1] else "")
            lines.append(f"  # {title}\n")
        lines.append(_item(_of_indicator(indicator)))
    return "\n".join([*parts, "\n".join(lines)])


def account_text(account: Account, *, checklist: str) -> str:
    """Returns an account as YAML with a head for people; it reads back as the same account.

    Args:
        account: The account.
        checklist: Name of its checklist's file.
    """
    head = _ACCOUNT_HEAD.format(checklist=checklist)
    fields = account.model_dump(mode="json", exclude={"questions"})
    lines = ["questions:\n"]
    place = ""
    for entry in account.questions:
        if entry.place != place:
            place = entry.place
            lines.append(f"  # {place}\n")
        lines.append(_item(_of_entry(entry)))
    return "\n".join([head, _dump(fields), "\n".join(lines)])


def _of_indicator(indicator: Indicator) -> dict[str, Json]:
    fields = _plain(indicator.model_dump(mode="json", exclude={"provenance"}, exclude_defaults=True))
    if indicator.provenance is not None:
        fields["provenance"] = _of_provenance(indicator.provenance)
    return fields


def _of_entry(entry: Entry) -> dict[str, Json]:
    fields = _plain(entry.model_dump(mode="json", exclude={"provenance"}))
    fields = {key: value for key, value in fields.items() if value or key == "overrule"}
    fields["provenance"] = _of_provenance(entry.provenance)
    return fields


def _of_provenance(provenance: Provenance) -> Json:
    return _plain(provenance.model_dump(mode="json", exclude_defaults=True))


def _plain(fields: Mapping[str, Json]) -> dict[str, Json]:
    return {key: _Flow(cast("Sequence[str]", value)) if key in _SHORT_LISTS else value for key, value in fields.items()}


def _item(fields: Mapping[str, Json]) -> str:
    """Returns a mapping as an item of a list, followed by a blank line."""
    lines = _dump(fields).splitlines()
    return "".join(f"  - {line}\n" if at == 0 else f"    {line}\n" if line else "\n" for at, line in enumerate(lines))


def _dump(fields: Mapping[str, Json]) -> str:
    dump = cast("Callable[..., str]", yaml.dump)  # pyright: ignore[reportUnknownMemberType]
    return dump(dict(fields), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)
