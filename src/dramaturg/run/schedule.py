"""The schedule: which unit is carried out next, and which models are needed no more. Pure bookkeeping."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence

from dramaturg.run.units import JudgeUnit, StageUnit, Unit


class Schedule:
    """The units of a run, in the order in which they are to be carried out.

    A judging is ready when its performance has a result. Among what is ready, a unit comes first that needs no
    further local model to be loaded, then a judging before a performance, then the plan's order.
    """

    def __init__(self, units: Sequence[Unit], *, heavy: Collection[str] = ()) -> None:
        """Makes the schedule.

        Args:
            units: All units, in plan order.
            heavy: Spec strings of models that take memory of this machine while they are loaded.
        """
        self._units = units
        self._heavy = frozenset(heavy)
        self._loaded: set[str] = set()
        self._ready: dict[tuple[frozenset[str], bool], list[int]] = defaultdict(list)
        self._waiting: dict[str, list[int]] = defaultdict(list)
        self._uses = Counter(spec for unit in units for spec in unit.models)
        for position, unit in enumerate(units):
            match unit:
                case StageUnit():
                    self._make_ready(position)
                case JudgeUnit():
                    self._waiting[unit.stage.id].append(position)

    def take(self) -> int | None:
        """Returns the position of the next unit, or None when nothing is ready."""
        groups = [(self._rank(group), group) for group, positions in self._ready.items() if positions]
        if not groups:
            return None
        _, group = min(groups, key=lambda entry: entry[0])
        position = heapq.heappop(self._ready[group])
        self._loaded |= group[0]
        return position

    def finish(self, position: int, *, has_result: bool) -> list[int]:
        """Notes that a unit is over.

        Args:
            position: The unit's place in the plan.
            has_result: Whether what depends on it can be carried out.

        Returns:
            The positions of units that will never be ready, because this one has no result.
        """
        unit = self._units[position]
        self._uses.subtract(unit.models)
        dependents = self._waiting.pop(unit.id, [])
        if has_result:
            for dependent in dependents:
                self._make_ready(dependent)
            return []
        for dependent in dependents:
            self._uses.subtract(self._units[dependent].models)
        return dependents

    def unneeded(self, specs: Collection[str]) -> list[str]:
        """Returns those of the models that no unit needs any more; they count as not loaded from now on."""
        over = [spec for spec in dict.fromkeys(specs) if self._uses[spec] <= 0]
        self._loaded.difference_update(over)
        return over

    def _make_ready(self, position: int) -> None:
        unit = self._units[position]
        group = (frozenset(unit.models) & self._heavy, isinstance(unit, StageUnit))
        heapq.heappush(self._ready[group], position)

    def _rank(self, group: tuple[frozenset[str], bool]) -> tuple[int, bool, int]:
        models, is_stage = group
        return len(models - self._loaded), is_stage, self._ready[group][0]
