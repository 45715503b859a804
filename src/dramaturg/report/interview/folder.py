"""The report of an interview's output folder, or of a file of replies; no model is called."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from dramaturg import __version__
from dramaturg.judge.matching import Crash, Question, ReplyText, Verdict, compat, robust
from dramaturg.judge.matching.scored import Match
from dramaturg.ledger import Ledger
from dramaturg.report.cautions import torn_caution
from dramaturg.report.data import RunFacts
from dramaturg.report.facts import facts_of_run
from dramaturg.report.interview.collect import interview_report
from dramaturg.report.interview.data import InterviewReport, Matcher, SetFacts
from dramaturg.run.interview.engine import ITEM_SET, REPLIES
from dramaturg.run.interview.replies import read_replies
from dramaturg.run.interview.reply_row import ReplyRow
from dramaturg.run.interview.scoring import Sitting, score_replies
from dramaturg.run.interview.study import InterviewStudy, load_interview
from dramaturg.stage.interview import ItemSet, read_item_set
from dramaturg.stage.interview.sampling import stratified_sample

CONTROLS = {
    "message-only": "A control: every message was put to nobody, without any character.",
    "shuffled": "A control: every item was put to another character than its own.",
}


def is_interview(out: Path) -> bool:
    """Returns whether a folder is the output folder of an interview."""
    return (out / REPLIES).is_file()


def report_of_folder(out: Path, ledger: Ledger, *, command: str, matcher: Matcher = "robust") -> InterviewReport:
    """Returns the report of an interview's output folder: everything that its study planned.

    Args:
        out: Output folder.
        ledger: Its ledger.
        command: What continues the run.
        matcher: Which rule reads the replies.

    Raises:
        UserError: A file of the folder is broken; the message names the line.
    """
    study = load_interview(out / "study.yaml")
    item_set = read_item_set(out / ITEM_SET)
    sound = item_set.sound_items()
    asked = sound if study.sample is None else stratified_sample(sound, study.sample, study.seed)
    planned = [
        Sitting(subject.label, strategy, study.form, study.condition)
        for subject in study.subjects
        for strategy in study.strategies
    ]
    torn: list[str] = []
    rows = read_replies(out / REPLIES, item_set, on_torn=torn.append, empty=True)
    return _report(
        rows,
        item_set,
        matcher,
        facts=facts_of_run(out, ledger, command=command),
        torn=torn,
        notes=_notes(study, len(asked), len(sound)),
        planned={item.id for item in asked},
        repeats=study.repeats,
        sittings=planned,
    )


def report_of_replies(
    path: Path, item_set: ItemSet, *, command: str, matcher: Matcher = "robust", skip_unknown: bool = False
) -> InterviewReport:
    """Returns the report of a file of replies: every sound item of the set is planned, in every repeat.

    Args:
        path: ``replies.jsonl`` of a run, or a published response file.
        item_set: What the replies answer.
        command: What made the report.
        matcher: Which rule reads the replies.
        skip_unknown: Whether rows may answer items that the set does not have; they are left out.

    Raises:
        ContentError: The file is none of replies to this set; see `read_replies`.
    """
    torn: list[str] = []
    rows = read_replies(path, item_set, on_torn=torn.append, skip_unknown=skip_unknown)
    facts = RunFacts(study=path.stem, package_version=__version__, versions={"dramaturg": __version__}, command=command)
    return _report(rows, item_set, matcher, facts=facts, torn=torn)


def match_of(matcher: Matcher) -> Match:
    """Returns the rule of a name."""
    match matcher:
        case "robust":
            return robust
        case "compat":
            return _published
        case _:
            assert_never(matcher)


def _published(question: Question, reply: ReplyText) -> Verdict | Crash:
    return compat(question, reply.text)


def _report(
    rows: Iterable[ReplyRow],
    item_set: ItemSet,
    matcher: Matcher,
    *,
    facts: RunFacts,
    torn: list[str],
    notes: tuple[str, ...] = (),
    planned: Collection[str] | None = None,
    repeats: int | None = None,
    sittings: Iterable[Sitting] = (),
) -> InterviewReport:
    match = match_of(matcher)
    scored = score_replies(rows, item_set, match, planned=planned, repeats=repeats, sittings=sittings)
    items = SetFacts(
        id=item_set.id,
        title=item_set.title,
        version=item_set.version,
        digest=item_set.digest,
        licence=item_set.head.licence,
        problems=tuple(str(problem) for problem in item_set.problems),
        notes=notes,
    )
    replies = {sitting.label: found for sitting, found in scored.items()}
    facts = replace(facts, cautions=(*facts.cautions, *map(torn_caution, torn)))
    return interview_report(facts, items, replies, matcher=matcher, match=match)


def _notes(study: InterviewStudy, asked: int, sound: int) -> tuple[str, ...]:
    notes: list[str] = []
    if asked < sound:
        notes.append(
            f"{asked:,} of {sound:,} items were asked, drawn by category with seed {study.seed}; the intervals speak "
            "of all of them."
        )
    if study.condition != "own":
        notes.append(CONTROLS[study.condition])
    return tuple(notes)
