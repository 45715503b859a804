"""Prompts: text files filled in one pass from declared names.

A prompt's first line declares its variables: ``{# variables: name, other #}``. In the text a variable stands
as ``{{name}}``. An unknown, undeclared or unused name is an error at load. Filling is one pass: a value that
looks like a variable stays as it is, so that no text of a model or a user can reach another variable.

The second line of a translated prompt names the English text that it was made of, by hash: ``{# source: HASH #}``.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from dramaturg.errors import ContentError, did_you_mean
from dramaturg.files import read_text
from dramaturg.text import sha256

_HEAD = re.compile(r"\A\{#\s*variables:\s*(?P<names>[a-z0-9_,\s]*?)\s*#\}[ \t]*\n")
_SOURCE = re.compile(r"\{#\s*source:\s*(?P<hash>[0-9a-f]{64})\s*#\}[ \t]*\n")
_BRACES = re.compile(r"\{\{[^{}\n]{0,80}(?:\}\})?")
_VARIABLE = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt that is ready to be filled.

    Attributes:
        name: Its purpose, which is its file's stem.
        language: ISO 639-1.
        variables: Names that must be given.
        text: The template without its head.
        source: The template with its head.
        hash: SHA-256 of the source, without the line that names what it was translated from.
        translated_from: Hash of the English prompt that it is a translation of; empty for an original.
    """

    name: str
    language: str
    variables: frozenset[str]
    text: str
    source: str
    hash: str
    translated_from: str = ""

    def fill(self, **values: str) -> str:
        """Returns the text with every variable replaced.

        Raises:
            TypeError: A variable is missing, or one was given that the prompt does not have.
        """
        if values.keys() != self.variables:
            wrong = sorted(values.keys() ^ self.variables)
            raise TypeError(f"prompt {self.name!r} takes {sorted(self.variables)}; differs in {wrong}")
        return _VARIABLE.sub(lambda found: values[found[1]], self.text).strip("\n")


def parse_prompt(source: str, *, name: str, language: str, where: str) -> Prompt:
    """Returns the prompt of a file's text.

    Raises:
        ContentError: The head is missing, a name is unknown or a declared one is unused; the message names it.
    """
    source = source.replace("\r\n", "\n")
    head = _HEAD.match(source)
    if head is None:
        raise ContentError("the first line declares no variables", where=where, allowed="{# variables: name, other #}")
    declared = frozenset(part.strip() for part in head["names"].split(",") if part.strip())
    origin = _SOURCE.match(source, head.end())
    start = origin.end() if origin is not None else head.end()
    text = source[start:]
    for found in _BRACES.finditer(text):
        variable = _VARIABLE.fullmatch(found[0])
        if variable is None or variable[1] not in declared:
            line = source.count("\n", 0, start + found.start()) + 1
            name = variable[1] if variable else found[0]
            raise ContentError(
                f"unknown variable {name!r}", where=f"{where}:{line}", allowed=did_you_mean(name, declared)
            )
    if unused := sorted(declared - frozenset(_VARIABLE.findall(text))):
        raise ContentError(f"variable {unused[0]!r} is declared and never used", where=f"{where}:1")
    translated_from = origin["hash"] if origin is not None else ""
    return Prompt(name, language, declared, text, source, sha256(head[0] + text), translated_from)


@functools.cache
def load_prompt(name: str, language: str = "en", variant: Path | None = None) -> Prompt:
    """Returns a prompt by its purpose.

    Args:
        name: The file's stem.
        language: Folder of the shipped prompts; English where the language has none.
        variant: Folder with files that replace shipped ones of the same name.

    Raises:
        ContentError: There is no such prompt, or its file is wrong.
    """
    if variant is not None:
        check_variant(variant)
        path = variant / f"{name}.txt"
        if path.is_file():
            prompt = parse_prompt(read_text(path), name=name, language=language, where=str(path))
            wanted = load_prompt(name, language).variables
            if prompt.variables != wanted:
                raise ContentError(
                    f"declares other variables than the prompt that it replaces: {sorted(prompt.variables ^ wanted)}",
                    where=f"{path}:1",
                    allowed="{# variables: " + ", ".join(sorted(wanted)) + " #}",
                )
            return prompt
    for code in dict.fromkeys((language, "en")):
        path = _shipped() / code / f"{name}.txt"
        if path.is_file():
            return parse_prompt(read_text(path), name=name, language=code, where=str(path))
    raise ContentError(f"unknown prompt {name!r}", allowed=did_you_mean(name, prompt_names()))


@functools.cache
def check_variant(folder: Path) -> None:
    """Refuses a folder of prompts that would replace nothing.

    Args:
        folder: Holds files with the names of shipped prompts.

    Raises:
        ContentError: It is no folder, or a file in it has the name of no shipped prompt.
    """
    if not folder.is_dir():
        raise ContentError("is no folder of prompts", where=str(folder))
    names = prompt_names()
    for path in sorted(folder.glob("*.txt")):
        if path.stem not in names:
            raise ContentError("replaces no prompt", where=str(path), allowed=did_you_mean(path.stem, names))


def stale_translations() -> dict[str, str]:
    """Returns the shipped translations whose English prompt has changed since, and the hash that it has today.

    Returns:
        ``LANGUAGE/NAME`` to the hash that the line ``{# source: HASH #}`` will name once the text is translated anew.
    """
    stale: dict[str, str] = {}
    for path in sorted(_shipped().glob("*/*.txt")):
        language, name = path.parent.name, path.stem
        if language != "en":
            today = load_prompt(name).hash
            if load_prompt(name, language).translated_from != today:
                stale[f"{language}/{name}"] = today
    return stale


def _shipped() -> Path:
    return Path(str(resources.files("dramaturg"))) / "content" / "prompts"


@functools.cache
def prompt_names() -> tuple[str, ...]:
    """Returns the names of all shipped prompts, sorted."""
    return tuple(sorted(path.stem for path in (_shipped() / "en").glob("*.txt")))


def hashes(names: tuple[str, ...], language: str = "en", variant: Path | None = None) -> dict[str, str]:
    """Returns the hash of each prompt by name, for records."""
    return {name: load_prompt(name, language, variant).hash for name in sorted(names)}


def quote_untrusted(text: str, *fences: str) -> str:
    """Returns text of a model or a user so that it cannot close the frame in which a prompt puts it.

    Args:
        text: Untrusted text.
        fences: Delimiters of the frame, for example ``</transcript>``.
    """
    for fence in fences:
        broken = fence[0] + "\u200b" + fence[1:]
        text = re.sub(re.escape(fence), broken, text, flags=re.IGNORECASE)
    return text
