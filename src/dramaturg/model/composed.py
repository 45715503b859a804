"""Embedded models that are more than a file: a base, an adapter that ships, and code that answers before either.

The code is loaded by name and late: it knows of models, and models know nothing of it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal, cast

from dramaturg.files import read_text
from dramaturg.model.model import Model
from dramaturg.text import sha256


@dataclass(frozen=True, slots=True)
class Composed:
    """A model that is put together.

    Attributes:
        name: As in ``embedded:NAME``.
        base: Name of the pinned model below.
        adapter: Of the package, a LoRA adapter as GGUF.
        module: Whose ``composed`` puts the code before base and adapter.
        sources: Of the package, files that can change an answer beside the weights.
        mode: The one way in which this judge can be asked.
        licence: SPDX identifier, of the adapter.
    """

    name: str
    base: str
    adapter: str
    module: str
    sources: tuple[str, ...]
    mode: Literal["glance"]
    licence: str

    @property
    def adapter_path(self) -> Path:
        """The adapter's file."""
        return _in_package(self.adapter)

    @property
    def digest(self) -> str:
        """Hash of the files that can change an answer, beside the weights."""
        return sha256("\n".join(read_text(_in_package(source)) for source in self.sources))

    def before(self, model: Model, digest: str) -> Model:
        """Returns the code before a model.

        Args:
            model: Base with adapter, open.
            digest: Of the whole.
        """
        put = cast("Callable[[Model, str], Model]", importlib.import_module(self.module).composed)
        return put(model, digest)


COMPOSED: Mapping[str, Composed] = {
    model.name: model
    for model in (
        Composed(
            name="dramaturg-judge",
            base="smollm2-135m",
            adapter="content/judges/dramaturg-judge.gguf",
            module="dramaturg.judge.shipped",
            sources=(
                "content/judges/dramaturg-judge.yaml",
                *(f"judge/audit/{name}.py" for name in ("patterns", "reading", "rules", "scripted")),
                "judge/shipped.py",
            ),
            mode="glance",
            licence="MIT",
        ),
    )
}
"""Name → model."""


def base_name(name: str) -> str:
    """Returns the name of the pinned model behind the name of an embedded one, with an adapter or put together."""
    alone = name.partition("+")[0]
    return COMPOSED[alone].base if alone in COMPOSED else alone


def _in_package(path: str) -> Path:
    return Path(str(resources.files("dramaturg"))) / path
