"""The report of an interview: its order, what it warns of, its forms, and that text in it stays text."""

import csv
import io
import json
from collections.abc import Sequence

from rich.console import Console

from dramaturg.facts import Fact
from dramaturg.judge.matching import Question, ReplyText, Verdict, compat
from dramaturg.judge.matching.compat import Crash
from dramaturg.judge.matching.question import Kind
from dramaturg.judge.matching.scored import Scored
from dramaturg.report.data import RunFacts
from dramaturg.report.interview import (
    InterviewReport,
    Matcher,
    SetFacts,
    interview_report,
    published_tables,
    render_html,
    render_terminal,
    to_csv,
    to_json,
)
from dramaturg.report.interview.sections import sections

KINDS: tuple[Kind, ...] = ("emotion", "decision", "moral", "in_character", "knows")
EVIL = "=cmd()<script>alert(1)</script>[red]\u202e"
ITEMS = SetFacts("x", "Crossroads", 2, licence="CC-BY-4.0")


def asked(kind: Kind, number: int, votes: bool = False) -> Question:
    fact = Fact(text="who", forms={"": ("Nolan",)})
    match kind:
        case "emotion":
            label = "anger" if number % 3 else "fear"
            return Question(kind, "Hm?", ("anger", "fear"), label, votes={label: 3} if votes else {})
        case "decision" | "moral":
            word = "yes" if number % 2 else "no"
            return Question(kind, "Will you?", expected=word, votes={word: 3} if votes else {})
        case "in_character" | "knows":
            return Question(kind, "Who?", facts=(fact,))


def published(question: Question, reply: ReplyText) -> Verdict | Crash:
    return compat(question, reply.text)


def replies(verdict: Verdict, kinds: Sequence[Kind] = KINDS, *, votes: bool = False, runs: int = 1) -> list[Scored]:
    return [
        Scored(f"{kind}-{number}", f"c{number}", asked(kind, number, votes), verdict, run)
        for run in range(1, runs + 1)
        for kind in kinds
        for number in range(12)
    ]


def report(
    subjects: dict[str, list[Scored]], *, matcher: Matcher = "robust", items: SetFacts = ITEMS
) -> InterviewReport:
    return interview_report(RunFacts("trial", "1.0"), items, subjects, matcher=matcher, match=published)


def kinds_of(made: InterviewReport) -> set[str]:
    return {caution.kind for caution in made.cautions}


def printed(made: InterviewReport, *, details: bool = False) -> str:
    console = Console(width=240, file=io.StringIO(), color_system=None)
    for part in render_terminal(made, details=details):
        console.print(part)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_report_says_what_was_asked_before_any_score() -> None:
    made = report({"one": replies(Verdict("right", "yes"), votes=True, runs=2)})
    order = [section.anchor for section in sections(made)]
    assert order == [
        "asked",
        "scores",
        "categories",
        "joint",
        "labels",
        "statuses",
        "repeats",
        "votes",
        "published",
    ]


def test_baselines_stand_in_the_table_of_the_models_and_a_sentence_says_who_is_beaten() -> None:
    made = report({"good": replies(Verdict("right")), "bad": replies(Verdict("wrong"))})
    text = printed(made)
    assert "[always yes]" in text and "[refuse all]" in text
    assert "good, macro: shown to be better than always yes, always no, most frequent answer, empty reply" in text
    assert "bad, macro: shown to be better than no baseline; worse than always yes" in text
    unbeaten = [caution.text for caution in made.cautions if caution.kind == "baseline_unbeaten"]
    assert len(unbeaten) == 1 and unbeaten[0].startswith("bad is not shown to be better than")


def test_a_missing_reply_is_counted_and_bounds_say_what_it_could_change() -> None:
    scored = replies(Verdict("right"), ["decision"])
    scored[0] = Scored(scored[0].item, scored[0].character, scored[0].question, Verdict("failed"))
    made = report({"one": scored})
    assert "replies_missing" in kinds_of(made)
    text = printed(made)
    assert "11 of 12 planned replies count" in text
    assert "0.917 – 1.000" in text


def test_authors_labels_are_called_theirs_until_people_voted() -> None:
    assert "gold_unannotated" in kinds_of(report({"one": replies(Verdict("right"))}))
    annotated = kinds_of(report({"one": replies(Verdict("right"), votes=True)}))
    assert not {"gold_unannotated", "gold_partly_annotated"} & annotated


def test_the_published_rule_stands_under_a_warning_at_the_head() -> None:
    made = report({"one": replies(Verdict("right"))}, matcher="compat")
    serious = [caution for caution in made.cautions if caution.kind == "compat"]
    assert serious and serious[0].severity == "serious"
    assert "compat" not in kinds_of(report({"one": replies(Verdict("right"))}))


def test_a_judges_share_of_the_replies_is_told() -> None:
    made = report({"one": [*replies(Verdict("right"), ["emotion"]), *replies(Verdict("right", by="judge"), ["moral"])]})
    text = [caution.text for caution in made.cautions if caution.kind == "judge_read"]
    assert text and "50 % of the replies (12 of 24)" in text[0]


def test_in_character_without_knows_is_called_winnable_by_silence() -> None:
    alone = kinds_of(report({"one": replies(Verdict("right"), ["in_character"])}))
    both = kinds_of(report({"one": replies(Verdict("right"), ["in_character", "knows"])}))
    assert "no_positive_control" in alone and "no_positive_control" not in both


def test_a_model_that_says_the_same_to_everything_is_named() -> None:
    scored = [
        Scored(
            one.item, one.character, one.question, Verdict("right" if one.question.expected == "no" else "wrong", "no")
        )
        for one in replies(Verdict("right"), ["decision"])
    ]
    text = [caution.text for caution in report({"one": scored}).cautions if caution.kind == "constant"]
    assert text and "“no” to 100 %" in text[0]


def test_serious_cautions_come_first() -> None:
    made = report(
        {"one": replies(Verdict("right"))}, items=SetFacts("x", "X", 1, problems=("items.jsonl:3: no facts",))
    )
    severities = [caution.severity for caution in made.cautions]
    assert severities == sorted(severities, key=lambda one: one != "serious")
    assert "items.jsonl:3: no facts" in printed(made)


def test_the_papers_tables_hold_any_models_and_say_that_macro_is_not_micro() -> None:
    scored = [
        *replies(Verdict("wrong"), ["emotion"]),
        *replies(Verdict("right"), ["decision"]),
        *replies(Verdict("right"), ["moral"]),
        *replies(Verdict("wrong"), ["in_character"]),
        *replies(Verdict("right"), ["knows"]),
    ]
    counts, evaluation = published_tables(report({"one": scored}))
    assert [cell.text for cell in counts.rows[0]] == ["Count", "12", "24", "12", "48"]
    assert "12 more items" in counts.notes[0]
    assert [cell.text for cell in evaluation.rows[0]] == ["one", "33.33%", "0.00%", "100.00%", "0.00%"]
    assert any("50.00% over all items, 33.33% over the three categories" in note for note in evaluation.notes)


def test_a_set_without_one_of_the_three_categories_has_no_published_average() -> None:
    _, evaluation = published_tables(report({"one": replies(Verdict("right"), ["emotion", "moral"])}))
    assert [cell.text for cell in evaluation.rows[0]] == ["one", "–", "100.00%", "100.00%", "–"]
    assert any("no average" in note for note in evaluation.notes)


def test_json_and_csv_hold_every_score_and_no_nan() -> None:
    made = report({"one": replies(Verdict("right", "yes"), votes=True, runs=3)})
    text = json.dumps(to_json(made), allow_nan=False)
    told = json.loads(text)
    assert told["subjects"][0]["scores"]["micro"]["value"] == 1
    assert told["baselines"]["refuse_all"]["joint"]["value"] == 0
    assert told["subjects"][0]["against_baselines"]["echo"]["differences"]["macro"]["standing"] == "better"
    assert told["subjects"][0]["repeats"]["runs"] == 3
    rows = list(csv.DictReader(io.StringIO(to_csv(made))))
    assert {row["subject"] for row in rows if row["kind"] == "baseline"} >= {"always_yes", "echo"}
    (micro,) = [row for row in rows if (row["subject"], row["score"]) == ("one", "micro")]
    assert float(micro["value"]) == 1 and micro["replies_used"] == "180"
    (joint,) = [row for row in rows if (row["subject"], row["score"]) == ("one", "joint")]
    assert joint["characters"] == "12" and joint["interval"]


def test_text_of_models_and_files_stays_text_everywhere() -> None:
    made = report({EVIL: replies(Verdict("right", EVIL))}, items=SetFacts("x", EVIL, 1, problems=(EVIL,)))
    page = render_html(made)
    assert "<script>alert" not in page and "\u202e" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert "[red]" in printed(made, details=True)
    assert next(csv.reader(io.StringIO(to_csv(made).splitlines()[1])))[0].startswith("'=")


def test_half_a_surrogate_pair_does_not_break_the_page() -> None:
    assert render_html(report({"one \ud800": replies(Verdict("right"))})).encode("utf-8")


def test_a_run_without_any_scorable_item_says_so() -> None:
    made = report({"one": replies(Verdict("invalid_item"), ["in_character"])})
    assert "nothing_asked" in kinds_of(made)
    assert "12 more belong to items that cannot be scored" in printed(made)
    assert render_html(made) and to_csv(made)


def test_no_subject_at_all_leaves_an_empty_report() -> None:
    made = report({})
    assert "nothing_asked" in kinds_of(made)
    assert render_html(made) and printed(made)


def test_the_published_mean_is_not_shown_twice_where_it_is_the_macro() -> None:
    made = report({"one": replies(Verdict("right"), ["emotion", "decision", "in_character"])})
    (scores, _) = next(section for section in sections(made) if section.anchor == "scores").tables
    names = [column.name for column in scores.columns]
    assert "Macro" in names and "Macro as published" not in names
