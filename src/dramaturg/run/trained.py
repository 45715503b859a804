"""A base and a tuned model before the same things: who they are, and what either was trained on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dramaturg.errors import UserError
from dramaturg.model.local_files import adapter_trained_on
from dramaturg.run.material import NamedModel, named_model
from dramaturg.run.result import EXIT_FINE, EXIT_INTERRUPTED, EXIT_LIMIT, EXIT_UNITS_FAILED, Stop
from dramaturg.train.card import read_card
from dramaturg.train.comparing import Table


@dataclass(frozen=True, slots=True)
class Pair:
    """Who is compared.

    Attributes:
        base: Before.
        tuned: After.
    """

    base: NamedModel
    tuned: NamedModel

    @property
    def models(self) -> tuple[NamedModel, NamedModel]:
        """Both, the base first."""
        return self.base, self.tuned


@dataclass(frozen=True, slots=True)
class TrainedOn:
    """What is no longer held out.

    Attributes:
        ids: Of scenes, cases and parts of transcripts.
        told_by: Where it is from.
    """

    ids: frozenset[str]
    told_by: tuple[str, ...]

    @property
    def note(self) -> str:
        """What is known of it, for people."""
        if self.told_by:
            return f"{len(self.ids):,} ids were trained on, as {', '.join(self.told_by)} tell"
        return (
            "neither model tells what it was trained on, so nothing is left out for that; name the data sets with "
            "--trained-on where there are any"
        )


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """What a comparison found.

    Attributes:
        kind: What was compared: a kind of data, or what a study stages.
        on: On what.
        base: Spec string.
        tuned: Spec string.
        tables: Before and after; none where it was stopped before its end.
        left_out: Why what was not compared was left out → how many.
        notes: What must be known, in words.
        planned: Units that were planned.
        done: Those with a result.
        calls: New calls.
        replayed: Calls that the ledger answered.
        seconds: Of this session.
        stop: Why it stopped before its end; empty where it did not.
        limit: Which limit was reached, for people.
    """

    kind: str
    on: str
    base: str
    tuned: str
    tables: tuple[Table, ...]
    left_out: Mapping[str, int]
    notes: tuple[str, ...]
    planned: int
    done: int
    calls: int
    replayed: int
    seconds: float
    stop: Stop = ""
    limit: str = ""

    @property
    def exit_code(self) -> int:
        """0 when everything was compared, 2 when a unit failed, 3 at a limit, 130 after Ctrl-C."""
        match self.stop:
            case "limit":
                return EXIT_LIMIT
            case "interrupted":
                return EXIT_INTERRUPTED
            case "":
                return EXIT_FINE if self.done == self.planned else EXIT_UNITS_FAILED


def pair_of(base: str, tuned: str) -> Pair:
    """Returns both models, not opened; their files are seen from the working folder.

    Raises:
        UserError: A spec is wrong, a file is not there, or both mean the same model.
    """
    pair = Pair(*(named_model(spec, spec, beside=Path()) for spec in (base, tuned)))
    if pair.base.key == pair.tuned.key:
        raise UserError(f"{base!r} and {tuned!r} mean the same model", where="TUNED", allowed="two models")
    return pair


def trained_on(pair: Pair, sets: Sequence[Path] = ()) -> TrainedOn:
    """Returns what either model was trained on: as their adapters list it, and of data sets that are named.

    Args:
        pair: Who is compared.
        sets: Folders of data sets; what they were split for testing is not trained on.

    Raises:
        UserError: A folder has no card of a data set, or a file of a model cannot be read.
    """
    ids: set[str] = set()
    told_by: list[str] = []
    for model in pair.models:
        if listed := adapter_trained_on(model.spec):
            ids |= {*listed}
            told_by.append(model.label)
    for folder in sets:
        card = read_card(folder)
        if card is None:
            raise UserError("has no card of a data set", where=str(folder), allowed="folders of dramaturg train data")
        ids |= {
            scene for split in ("train", "validation") if split in card.splits for scene in card.splits[split].scenes
        }
        told_by.append(str(folder))
    return TrainedOn(frozenset(ids), tuple(told_by))
