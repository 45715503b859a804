"""Which model a spec string means, told without opening it."""

from __future__ import annotations

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
        case "embedded" | "gguf":
            from dramaturg.model.local_files import local_identity

            return local_identity(spec)
        case _:
            return Identity(spec.provider, spec.name)
