"""A built checklist and its account on disk: what a person changed is never written over unasked."""

from __future__ import annotations

from pathlib import Path

from dramaturg.errors import ContentError
from dramaturg.files import load_yaml
from dramaturg.judge.checklist.benchmark import Benchmark
from dramaturg.judge.checklist.build.account import Account, account_path, read_account
from dramaturg.judge.checklist.build.building import Built
from dramaturg.judge.checklist.build.writing import account_text, checklist_text
from dramaturg.judge.checklist.checklist import Checklist
from dramaturg.text import write_atomically

_OVERWRITE = "another --out, or --overwrite to replace it"


def read_before(out: Path, benchmark: Benchmark, *, overwrite: bool) -> tuple[Checklist, Account] | None:
    """Returns the checklist and account of the build before at a place, or None where there is none.

    Args:
        out: Where the checklist is to lie.
        benchmark: What is to be built.
        overwrite: Whether a checklist that a person wrote or changed may be replaced.

    Raises:
        ContentError: A checklist lies there that this benchmark's build did not write, or that a person changed since.
    """
    if out.suffix not in {".yaml", ".yml"}:
        raise ContentError(
            f"cannot be the name of a checklist: it ends with {out.suffix!r}", where=str(out), allowed=".yaml"
        )
    account = read_account(out)
    if not out.exists():
        return None
    if account is None:
        if overwrite:
            return None
        raise ContentError("lies there already, and no build wrote it", where=str(out), allowed=_OVERWRITE)
    before = load_yaml(out, Checklist)
    of = account.benchmark.partition("@")[0]
    if of != benchmark.id:
        if overwrite:
            return None
        raise ContentError(f"was built from the benchmark {of!r}", where=str(out), allowed=_OVERWRITE)
    if before.hash != account.checklist and not overwrite:
        raise ContentError(
            "was changed by hand since it was built",
            where=str(out),
            allowed=f"{_OVERWRITE}; a decision that holds for every build is written in {account_path(out).name}",
        )
    return before, account


def write_built(out: Path, built: Built) -> None:
    """Writes a checklist and its account beside it.

    Raises:
        OSError: The folder cannot be written; a file that was there is untouched.
    """
    beside = account_path(out)
    write_atomically(beside, account_text(built.account, checklist=out.name))
    write_atomically(out, checklist_text(built.checklist, account=beside.name))
