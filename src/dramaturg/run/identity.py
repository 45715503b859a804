"""Which model a spec string means, told without opening it."""

from __future__ import annotations

from pathlib import Path

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
            from dramaturg.model.registry import file_digest

            return Identity(spec.provider, spec.name, file_digest(Path(spec.name)))
        case _:
            return Identity(spec.provider, spec.name)
