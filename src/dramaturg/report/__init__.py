"""Show what was measured, and how far to trust it.

In: the transcripts and judgements of a run, its checklists, and what only the ledger knows (`RunFacts`). Out: web
pages, terminal tables and a summary for machines. Nothing is computed here that `judge` and `measure` can compute.
"""

from dramaturg.report.collect import Report, collect
from dramaturg.report.data import Caution, Failure, ModelRecord, ModelUse, RunFacts
from dramaturg.report.html import tables_page, write_html
from dramaturg.report.layouts import Layout, layouts
from dramaturg.report.summary import summary
from dramaturg.report.table_figures import NamedReport, figures_of_publication, figures_of_reports
from dramaturg.report.terminal import terminal

__all__ = [
    "Caution",
    "Failure",
    "Layout",
    "ModelRecord",
    "ModelUse",
    "NamedReport",
    "Report",
    "RunFacts",
    "collect",
    "figures_of_publication",
    "figures_of_reports",
    "layouts",
    "summary",
    "tables_page",
    "terminal",
    "write_html",
]
