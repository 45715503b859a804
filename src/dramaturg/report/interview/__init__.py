"""Show the scores of an interview beside its baselines, and how far to trust them.

In: verdicts on replies, and what the run knows of itself. Out: terminal tables, a page, JSON and CSV.
"""

from dramaturg.report.interview.collect import interview_report
from dramaturg.report.interview.data import InterviewReport, Matcher, SetFacts, Subject
from dramaturg.report.interview.exports import to_csv, to_json
from dramaturg.report.interview.pages import render_html, render_terminal
from dramaturg.report.interview.published import published_tables

__all__ = [
    "InterviewReport",
    "Matcher",
    "SetFacts",
    "Subject",
    "interview_report",
    "published_tables",
    "render_html",
    "render_terminal",
    "to_csv",
    "to_json",
]
