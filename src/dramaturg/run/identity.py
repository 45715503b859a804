"""Which model a spec string means, told without opening it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from dramaturg.errors import ContentError
from dramaturg.model import Identity, ModelSpec


def identity_of(spec: ModelSpec) -> Identity:
    """Returns the identity of the model that a spec means; nothing is loaded, pulled or called.

    Raises:
        UserError: A script or a model file is not there, or is wrong.
    """
    match spec.provider:
        case "script":
            from dramaturg.model.script import open_script

            return open_script(spec).identity
        case "embedded":
            from dramaturg.model.registry import pinned_model

            return Identity(spec.provider, spec.name, pinned_model(spec.name).sha256)
        case "gguf":
            return Identity(spec.provider, Path(spec.name).stem, _file_digest(Path(spec.name)))
        case _:
            return Identity(spec.provider, spec.name)


def _file_digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ContentError(f"cannot be read: {error.strerror or error}", where=str(path)) from None
