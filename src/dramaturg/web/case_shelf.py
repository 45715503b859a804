"""The cases that may be played from a page: shipped ones, and those that were written and saved here."""

from __future__ import annotations

import random
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from dramaturg.errors import ContentError, UnitStopped, UserError
from dramaturg.files import shipped
from dramaturg.ledger import Budget, Ledger
from dramaturg.model import Model
from dramaturg.run.games import games_folder
from dramaturg.run.spool import writing
from dramaturg.stage.court.case import AnyCase, Case, read_case
from dramaturg.stage.court.cases import case_yaml, generate_case, known_language
from dramaturg.stage.court.cases.draft import Premise
from dramaturg.stage.court.cases.generating import checked_prior
from dramaturg.text import sha256, write_atomically

REPAIRS = 1
"""Rounds of repair while a person waits."""

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")


@dataclass(frozen=True, slots=True)
class CaseShelf:
    """The cases of one server.

    Attributes:
        folder: Where saved ones are: ``cases`` beside the folder of the games.
    """

    folder: Path

    @classmethod
    def beside(cls, games: Path | None) -> CaseShelf:
        """Returns the shelf beside a folder of games; beside the user's own by default."""
        return cls((games or games_folder()).parent / "cases")

    def saved(self) -> dict[str, Path]:
        """Returns the saved cases by name."""
        return {path.stem: path for path in sorted(self.folder.glob("*.yaml")) if _NAME.match(path.stem)}

    def path(self, name: str) -> Path | None:
        """Returns the file of a case that may be played here, or None."""
        return shipped("cases").get(name) or self.saved().get(name)

    def read(self, name: str) -> AnyCase | None:
        """Returns a case that may be played here, or None where there is none or it cannot be read."""
        path = self.path(name)
        return _read(path) if path is not None else None

    def readable(self) -> tuple[dict[str, AnyCase], dict[str, AnyCase]]:
        """Returns the saved cases and the shipped ones, by name; those that cannot be read are left out."""
        own, ready = self.saved(), shipped("cases")
        return _all_of({name: path for name, path in own.items() if name not in ready}), _all_of(ready)

    def save(self, case: Case) -> str:
        """Returns the name under which the case was saved: its id, with a number where that is taken.

        Raises:
            UserError: The folder cannot be written.
        """
        number = 1
        while self.path(name := case.id if number == 1 else f"{case.id}-{number}") is not None:
            number += 1
        path = self.folder / f"{name}.yaml"
        with writing(path):
            write_atomically(path, case_yaml(case.model_copy(update={"id": name})))
        return name


async def write_case(model: Model, *, prior: str, language: str, attempt: int) -> Case:
    """Returns a case that a model wrote, checked and repaired as far as it could be.

    Args:
        model: Who writes.
        prior: What it is to be about.
        language: Of the case, ISO 639-1.
        attempt: Another one draws other people.

    Raises:
        UserError: The prior is blank or too long, the language unknown, or no case came of it.
        UnitStopped: The model's endpoint failed.
    """
    try:
        prior = checked_prior(prior)
    except ValueError as problem:
        raise UserError(str(problem)) from None
    seed = int(sha256(f"{prior}\n{language}\n{attempt}")[:8], 16)
    premise = Premise.draw(prior, known_language(language, where="language"), seed % 10_000, random.Random(seed))
    with (
        tempfile.TemporaryDirectory(prefix="dramaturg-case-") as folder,
        Ledger.open(Path(folder) / "ledger.db") as ledger,
    ):
        calls = ledger.calls(unit="case", seed=seed, budget=Budget())
        written = await generate_case(calls, model, premise, critic=model, repairs=REPAIRS)
    if written.case is None:
        raise UnitStopped("no_case", written.failure)
    return written.case


def _read(path: Path) -> AnyCase | None:
    try:
        return read_case(path)
    except ContentError:
        return None


def _all_of(files: dict[str, Path]) -> dict[str, AnyCase]:
    read = {name: _read(path) for name, path in files.items()}
    return {name: case for name, case in read.items() if case is not None}
