"""Which models a visitor may choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dramaturg.errors import UserError
from dramaturg.web.elements import Field


@dataclass(frozen=True, slots=True)
class Offer:
    """Models that may be chosen on a page.

    Attributes:
        models: Spec strings; the first is chosen at first.
        any_model: Whether another one may be written, which is right only where no stranger can reach the page: a spec
            names files and servers.
    """

    models: Sequence[str]
    any_model: bool

    def model_field(self, label: str, chosen: str = "", hint: str = "", same: str = "") -> Field:
        """Shows the field for a model.

        Args:
            label: What it is for.
            chosen: Spec string that stands in it at first; the first of the offer by default.
            hint: One line below it, where any model may be written.
            same: What the choice of none is called, where none may be chosen; it is chosen at first.
        """
        if same:
            none = {"": same} | {spec: spec for spec in self.models}
            return Field(label, hint=hint) if self.any_model else Field(label, choices=none)
        if self.any_model:
            return Field(label, chosen or self.models[0], hint=hint)
        first = chosen if chosen in self.models else self.models[0]
        return Field(label, first, choices={spec: spec for spec in self.models})

    def allowed(self, spec: str) -> str:
        """Returns the spec string, if it may be chosen.

        Raises:
            UserError: It may not.
        """
        spec = spec.strip()
        if not self.any_model and spec not in self.models:
            raise UserError("this model is not offered here", allowed=", ".join(self.models))
        return spec
