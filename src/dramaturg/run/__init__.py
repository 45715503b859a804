"""Carry out a study.

In: a study file. Out: transcripts, judgements and what became of every unit, in plan order, in one folder.
To resume, run again: what was answered comes from the ledger.
"""

from dramaturg.run.engine import run_study
from dramaturg.run.material import Material, read_material
from dramaturg.run.records import UnitRecord
from dramaturg.run.result import RunResult
from dramaturg.run.study import Study, load_study

__all__ = ["Material", "RunResult", "Study", "UnitRecord", "load_study", "read_material", "run_study"]
