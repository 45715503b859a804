"""The report: what it says, what it refuses to say, and that no text of a model becomes more than text."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

import report_fixtures as made
from dramaturg.errors import ContentError, UserError
from dramaturg.judge.audit.binding import Binding, prompts_hash, tokens_of
from dramaturg.judge.audit.card import Card
from dramaturg.judge.audit.figures import Figure
from dramaturg.judge.judgement import Judgement
from dramaturg.report import Failure, Report, RunFacts, collect, html, summary, terminal, write_html
from dramaturg.report.anchors import anchor_of
from dramaturg.report.bases import kinship
from dramaturg.report.figures import count, decimal, duration, money, plain, share, size, weights
from dramaturg.run.kept import KeptModel
from dramaturg.stage.transcript import Transcript

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

VOID = {"meta", "br", "img", "hr", "input", "link", "circle", "rect", "line"}


class Page(HTMLParser):
    """Elements, ids, links and the text of a page; complains of tags that do not close."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name == "id":
                self.ids.append(value or "")
            if name == "href":
                self.links.append(value or "")
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] not in {"style", "script"}:
            self.text += data


def written(report: Report, folder: Path) -> Page:
    write_html(report, folder / "report.html")
    return Page((folder / "report.html").read_text(encoding="utf-8"))


def printed(report: Report, width: int = 80) -> str:
    console = Console(width=width, record=True, file=None, quiet=False, force_terminal=False)
    with console.capture() as captured:
        for part in terminal(report):
            console.print(part)
    return captured.get()


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> made.Run:
    return made.rich_run(tmp_path_factory.mktemp("rich"))


@pytest.fixture(scope="module")
def report(rich: made.Run) -> Report:
    return rich.report()


@pytest.fixture(scope="module")
def page(rich: made.Run, report: Report) -> Page:
    return written(report, rich.folder)


def test_text_of_models_stays_text(page: Page) -> None:
    assert page.tags.count("script") == 1
    assert "img" not in page.tags
    assert not [name for name in page.attributes if name.startswith("on") or name == "style"]
    assert made.ATTACK in page.text
    assert made.JAPANESE in page.text
    assert made.ARABIC in page.text


def test_page_loads_nothing_from_elsewhere(page: Page) -> None:
    assert not {"link", "iframe", "img", "object", "embed"} & set(page.tags)
    assert "src" not in page.attributes
    assert all(link.startswith("#") for link in page.links)


def test_every_link_has_a_target_and_every_id_stands_once(page: Page) -> None:
    assert len(page.ids) == len(set(page.ids))
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)


def test_an_answer_links_to_its_turns_and_a_turn_back_to_the_answer(report: Report) -> None:
    (trial,) = report.views(report.trials[:1])
    answers = [answer for group in trial.sheets[0].groups for part in group.parts for answer in part.answers]
    resting = next(answer for answer in answers if answer.evidence)
    turn = next(view for view in trial.turns if view.anchor == resting.evidence[0].anchor)
    assert turn.anchor == f"{trial.anchor}-{resting.evidence[0].turn}"
    assert resting.anchor in {cite.anchor for cite in turn.cites}


def test_missing_answers_are_counted_with_reason_and_open_the_bounds(report: Report) -> None:
    total = report.panels[0].subjects[0].scores["total"]
    assert total.used < total.planned
    low, value, high = total.summary.low, total.summary.estimate.value, total.summary.high
    assert low is not None and value is not None and high is not None
    assert low < value < high
    missing = report.panels[0].subjects[0].missing
    assert missing["truncated"] > 0


def test_a_trial_that_never_came_about_counts_as_planned_and_not_as_zero(report: Report) -> None:
    large = report.panels[0].subjects[1]
    estimate = large.scores["total"].summary.estimate
    assert (estimate.n_used, estimate.n_planned) == (5, 6)
    assert large.missing["not_staged"] == 38
    kept = [trial.scores[0] for trial in report.trials if trial.subject == made.LARGE]
    cases: dict[str, list[float]] = {}
    for scores in kept:
        assert scores is not None and scores.total.quality.value is not None
        cases.setdefault(scores.scenario, []).append(scores.total.quality.value)
    means = [sum(values) / len(values) for values in cases.values()]
    assert estimate.value == pytest.approx(sum(means) / len(means))


def test_an_unjudged_trial_says_so(page: Page) -> None:
    assert "This judge gave no answer about this trial" in page.text


def test_the_head_names_what_limits_trust_before_any_score(page: Page) -> None:
    head = page.text[: page.text.index("Judged by")]
    for words in ("has no card", "answers of openai:gpt-5-mini are missing", "rest on 3 cases", "rank nobody"):
        assert words in head
    assert head.index("has no card") < head.index("changed its version")


def test_restarts_keep_their_abandoned_turns_and_cures_stand_at_their_turn(page: Page) -> None:
    assert "Restart 1: no next speaker at T3 (prosecutor), 3 turns abandoned" in page.text
    assert "cured: redraw" in page.text
    assert "Cures outside the final attempt (1)" in page.text
    assert "What the player really wrote" in page.text


def test_model_facts_hashes_and_formula_are_shown(page: Page) -> None:
    for words in ("135 million", "Q4_1", "apache-2.0", "412 MB", "0.21 s", "4f" * 32, "equation 4", "2026-02-01"):
        assert words in page.text


def test_no_figure_is_nan_and_an_unknown_price_is_no_zero(report: Report, page: Page) -> None:
    for text in (page.text, printed(report)):
        assert not re.search(r"\b(nan|inf|None)\b", text)
    assert "price unknown" in page.text
    assert "$0.00" not in page.text


def test_summary_is_json_without_nan_and_with_nulls(report: Report) -> None:
    data = json.loads(json.dumps(summary(report), allow_nan=False))
    assert data["costs"]["cost_usd"] is None
    assert data["costs"]["calls"] == 628
    total = data["scores"][0]["subjects"][1]["measures"]["total"]
    assert total["trials_used"] == 5 and total["trials_planned"] == 6
    assert data["subjects"][0]["restart_causes"] == {"no_next_speaker": 1, "loop": 1}
    assert data["failures"][0] == {
        "unit": "stage-9f31c2",
        "kind": "connect",
        "detail": "connection refused at 127.0.0.1:8080 after 5 attempts",
    }


def test_terminal_tables_fit_eighty_columns_and_hold_the_scores(report: Report) -> None:
    text = printed(report)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "5/6 trials, 3 cases" in text
    assert re.search(r"All indicators +0\.\d\d +0\.\d\d–[01]\.\d\d", text)


def test_text_cannot_steer_the_terminal(tmp_path: Path) -> None:
    run = made.bare_run(tmp_path)
    facts = RunFacts("[bold red]x[/]", "0", failures=(Failure("u", "http", "\x1b[2J\x07[link=http://x]y[/link]"),))
    text = printed(collect(run.transcripts, run.judgements, checklists={}, facts=facts))
    assert "\x1b" not in text and "\x07" not in text
    assert "[bold red]x[/]" in text and "[link=http://x]" in text


def test_an_imported_transcript_without_any_fact_is_shown(tmp_path: Path) -> None:
    run = made.bare_run(tmp_path)
    report = run.report()
    page = written(report, tmp_path)
    assert "Nothing was judged" in page.text
    assert "spoken by a person, not judged" in page.text
    assert summary(report)["scores"] == []
    assert printed(report)


def test_a_run_where_everything_failed_has_no_score(tmp_path: Path) -> None:
    report = made.empty_run(tmp_path).report()
    page = written(report, tmp_path)
    assert "No trial came about" in page.text
    assert "the model needs 9 GB" in page.text
    assert summary(report)["subjects"][0]["restarts"] is None


def test_a_run_without_a_judgements_file_is_shown_unjudged(tmp_path: Path) -> None:
    run = made.rich_run(tmp_path)
    run.judgements.unlink()
    report = run.report()
    assert report.panels == ()
    assert any(caution.kind == "not_judged" for caution in report.cautions)


def test_answers_whose_checklist_is_lost_are_shown_without_a_score(tmp_path: Path) -> None:
    run = made.rich_run(tmp_path)
    report = collect(run.transcripts, run.judgements, checklists={}, facts=run.facts)
    page = written(report, tmp_path)
    assert "no copy of the checklist is at hand" in page.text
    assert made.REASONS["no"] in page.text


def test_two_transcripts_with_one_id_are_an_error_with_its_line(tmp_path: Path) -> None:
    made.write(tmp_path / "t.jsonl", [made.transcript(made.SMALL)] * 2)
    with pytest.raises(ContentError, match=r"t\.jsonl:2: transcript .* stands twice"):
        collect(tmp_path / "t.jsonl", tmp_path / "j.jsonl", checklists={}, facts=RunFacts("s", "0"))


def test_a_torn_end_of_a_runs_own_files_is_said_at_the_head(tmp_path: Path) -> None:
    run = made.rich_run(tmp_path)
    for path in (run.transcripts, run.judgements):
        whole = path.read_text(encoding="utf-8")
        path.write_text(whole + whole[:50], encoding="utf-8")
    torn = [caution.text for caution in run.report().cautions if caution.kind == "torn"]
    assert len(torn) == 2 and all("the last line is torn and left out" in text for text in torn)


def test_doubtful_judgements_are_counted_at_the_head(tmp_path: Path) -> None:
    checklist, trial = made.court(), made.transcript(made.SMALL)
    one = checklist.indicators[0]
    answer = made.judgement(trial, checklist, one, "no", flags=["evidence:none"])
    made.write(tmp_path / "t.jsonl", [trial])
    made.write(
        tmp_path / "j.jsonl",
        [
            answer.model_copy(update={"transcript_digest": "other"}),
            answer,
            answer.model_copy(update={"transcript": "elsewhere"}),
            answer.model_copy(update={"indicator": "GONE-1"}),
        ],
    )
    facts = RunFacts("s", "0")
    report = collect(tmp_path / "t.jsonl", tmp_path / "j.jsonl", checklists={checklist.hash: checklist}, facts=facts)
    kinds = {caution.kind for caution in report.cautions}
    assert {"stale", "orphans", "twice", "unknown_indicators", "weak_evidence", "answers_missing"} <= kinds
    assert report.panels[0].subjects[0].scores["total"].used == 1


def test_two_judges_have_two_tables(tmp_path: Path) -> None:
    checklist, trial = made.court(), made.transcript(made.SMALL)
    made.write(tmp_path / "t.jsonl", [trial])
    answers = [
        made.judgement(trial, checklist, indicator, answer, judge=judge)
        for judge, answer in (("a", "yes"), ("b", "no"))
        for indicator in checklist.indicators
    ]
    made.write(tmp_path / "j.jsonl", answers)
    facts = RunFacts("s", "0")
    report = collect(tmp_path / "t.jsonl", tmp_path / "j.jsonl", checklists={checklist.hash: checklist}, facts=facts)
    values = [panel.subjects[0].scores["total"].summary.estimate.value for panel in report.panels]
    assert values == [1.0, 0.0]
    assert "score 1.00 by a" in re.sub(r"\s+", " ", written(report, tmp_path).text)


def test_many_trials_get_pages_beside_the_report_and_old_pages_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html, "INLINE_TRIALS", 3)
    monkeypatch.setattr(html, "TRIALS_PER_INDEX", 4)
    run = made.large_run(tmp_path, 6)
    folder = tmp_path / html.PAGES
    folder.mkdir()
    for name in ("trial-gone.html", "notes.txt"):
        (folder / name).write_text("old", encoding="utf-8")
    page = written(run.report(), tmp_path)
    assert not [name for name in page.ids if name.startswith("trial-")]
    assert [link for link in page.links if not link.startswith("#")] == [
        "report-pages/trials-000001.html",
        "report-pages/trials-000005.html",
    ]
    names = {path.name for path in folder.iterdir()}
    assert names == {f"trial-trial-{number:06d}.html" for number in range(6)} | {
        "trials-000001.html",
        "trials-000005.html",
        "notes.txt",
    }
    for path in folder.glob("*.html"):
        beside = Page(path.read_text(encoding="utf-8"))
        for link in beside.links:
            file, _, anchor = link.partition("#")
            assert not file or (folder / file).resolve().is_file()
            assert not anchor or anchor in beside.ids


def test_a_smaller_rerun_leaves_no_page_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = made.large_run(tmp_path, 6)
    monkeypatch.setattr(html, "INLINE_TRIALS", 3)
    written(run.report(), tmp_path)
    monkeypatch.setattr(html, "INLINE_TRIALS", 6)
    written(run.report(), tmp_path)
    assert list((tmp_path / html.PAGES).glob("*.html")) == []


def test_a_report_that_cannot_be_written_is_a_user_error(report: Report, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UserError, match="cannot be written"):
        write_html(report, tmp_path / "file" / "report.html")


def test_the_same_run_gives_the_same_page(rich: made.Run, tmp_path: Path) -> None:
    texts: list[str] = []
    for name in ("one", "two"):
        write_html(rich.report(), tmp_path / name / "report.html")
        texts.append((tmp_path / name / "report.html").read_text(encoding="utf-8"))
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (decimal(None), "–"),
        (decimal(float("nan")), "–"),
        (decimal(0.125), "0.12"),
        (count(None), "–"),
        (count(1234567), "1,234,567"),
        (share(1, 0), "–"),
        (share(1, 1000), "< 1 %"),
        (share(0, 10), "0 %"),
        (duration(None), "–"),
        (duration(0.21), "0.21 s"),
        (duration(3725), "1 h 02 min"),
        (size(412_000_000), "412 MB"),
        (weights(1_543_714_304), "1.5 billion"),
        (money(None), "–"),
        (money(0.0012), "$0.0012"),
        (plain("a\x1b[31mb\x9bc\u202ed\r\n"), "a⟨U+001B⟩[31mb⟨U+009B⟩c⟨U+202E⟩d\n"),
    ],
)
def test_figures_read_well_and_the_unknown_is_a_dash(shown: str, expected: str) -> None:
    assert shown == expected


def test_anchors_are_safe_and_distinct() -> None:
    assert anchor_of("court-a-1") == "court-a-1"
    odd = ["a b", "a_b", "山田", "山口", "", "<x>", "a" * 500, "a" * 501]
    anchors = [anchor_of(text) for text in odd]
    assert len(set(anchors)) == len(odd)
    assert all(re.fullmatch(r"[A-Za-z0-9._-]{1,110}", anchor) for anchor in anchors)


def test_unseen_characters_are_shown_in_pages_and_terminal(tmp_path: Path) -> None:
    turns = made.spoken()
    turns[0] = turns[0].model_copy(update={"text": "guilty \u202eton\u202c \x1b[2J\u200b \U000e0041 end"})
    trial = made.transcript(made.SMALL, turns=turns)
    made.write(tmp_path / "t.jsonl", [trial])
    facts = RunFacts("study \u2066x", "0")
    report = collect(tmp_path / "t.jsonl", tmp_path / "j.jsonl", checklists={}, facts=facts)
    page = written(report, tmp_path)
    raw = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"[\u202a-\u202e\u2066-\u2069\u200b\x1b\U000e0000-\U000e007f]", raw + printed(report))
    for name in ("202E", "202C", "001B", "200B", "E0041", "2066"):
        assert f"⟨U+{name}⟩" in page.text


def test_a_reversed_indicator_is_shown_so(tmp_path: Path) -> None:
    checklist = made.court()
    first = checklist.indicators[0].model_copy(update={"sign": "negative", "proof": None})
    checklist = checklist.model_copy(update={"indicators": (first, *checklist.indicators[1:])})
    trial = made.transcript(made.SMALL)
    made.write(tmp_path / "t.jsonl", [trial])
    made.write(tmp_path / "j.jsonl", [made.judgement(trial, checklist, one, "no") for one in checklist.indicators])
    report = collect(
        tmp_path / "t.jsonl",
        tmp_path / "j.jsonl",
        checklists={checklist.hash: checklist},
        facts=RunFacts("s", "0"),
    )
    text = written(report, tmp_path).text
    assert f"Counted reversed, a no is good: {first.id}" in text
    assert "Counted reversed: a no is the good answer." in text
    assert f"counted reversed, a no is good: {first.id}" in printed(report)
    assert summary(report)["scores"][0]["scored_reversed"] == [first.id]


def test_probabilities_roles_and_first_attempts_have_their_figures(rich: made.Run, tmp_path: Path) -> None:
    checklist = made.court()
    trial = made.transcript(made.SMALL)
    made.write(tmp_path / "t.jsonl", [trial])
    answers = [
        made.judgement(trial, checklist, one, "yes").model_copy(
            update={"probability": None if one.proof else 0.75, "mode": "probability"}
        )
        for one in checklist.indicators
    ]
    made.write(tmp_path / "j.jsonl", answers)
    report = collect(
        tmp_path / "t.jsonl",
        tmp_path / "j.jsonl",
        checklists={checklist.hash: checklist},
        facts=RunFacts("s", "0"),
    )
    names = [measure.key for measure in report.panels[0].measures]
    assert "total:probabilistic" in names and "role:judge" in names
    figures = summary(report)["scores"][0]["subjects"][0]
    assert 0.75 < figures["measures"]["total:probabilistic"]["value"] < 1
    assert figures["attempts"]["completed_at_first"] == 1
    assert "total:probabilistic" not in [measure.key for measure in rich.report().panels[0].measures]
    text = re.sub(r"\s+", " ", written(rich.report(), tmp_path).text)
    assert "First attempts and completed trials" in text and "Table 1. Behavioural" in text


def card(low: float, **binding: object) -> Card:
    checklist = made.court()
    size = tokens_of(made.transcript(made.SMALL))
    bound = {
        "judge": made.JUDGE,
        "prompts": prompts_hash("en", "single"),
        "mode": "single",
        "ask": "presence",
        "votes": 1,
        "checklist": f"{checklist.id} v{checklist.version}",
        "checklist_digest": checklist.hash,
        "language": "en",
        "length": {"min": size, "median": size, "max": size},
    }
    found = Figure(value=low + 0.1, low=low, high=low + 0.2, n=80, planned=80, bases=20)
    return Card.model_construct(
        binding=Binding.model_validate({**bound, **binding}),
        command="dramaturg audit judge",
        balanced_accuracy=found,
        sensitivity=found.model_copy(update={"value": 0.71}),
        specificity=found.model_copy(update={"value": 0.93}),
    )


@pytest.mark.parametrize(
    ("cards", "kind", "severity", "said"),
    [
        ((), "judge_without_card", "serious", "has no card: nobody has tested"),
        ((card(0.7),), "judge_card", "note", "balanced accuracy 0.80 (0.70 to 0.90), sensitivity 0.71 (0.70 to 0.90)"),
        ((card(0.55),), "judge_card_poor", "serious", "its scores are not to be relied on"),
        ((card(0.7, judge="openai:other"),), "judge_without_card", "serious", "has no card: nobody has tested"),
        (
            (card(0.7, checklist_digest="other", mode="joint", votes=3), card(0.7, language="it")),
            "judge_card_elsewhere",
            "serious",
            "The nearest one differs in the language, so it is only a hint",
        ),
        ((card(0.7, votes=3), card(0.7)), "judge_card", "note", "The card of openai:gpt-5-mini, mode single"),
    ],
)
def test_the_head_says_what_the_judges_card_is_worth(
    tmp_path: Path, cards: tuple[Card, ...], kind: str, severity: str, said: str
) -> None:
    checklist, trial = made.court(), made.transcript(made.SMALL)
    made.write(tmp_path / "t.jsonl", [trial])
    answers = [
        made.judgement(trial, checklist, one, "yes").model_copy(update={"asked": one.ask})
        for one in checklist.indicators
    ]
    made.write(tmp_path / "j.jsonl", answers)
    report = collect(
        tmp_path / "t.jsonl",
        tmp_path / "j.jsonl",
        checklists={checklist.hash: checklist},
        facts=RunFacts("s", "0", cards=cards),
    )
    found = [caution for caution in report.cautions if caution.kind.startswith("judge_")]
    assert [(caution.kind, caution.severity) for caution in found] == [(kind, severity)]
    assert said in found[0].text and found[0].text in written(report, tmp_path).text
    shown = summary(report)["scores"][0]["card"]
    assert (shown is None) == (kind == "judge_without_card")


@pytest.mark.parametrize(
    ("judge", "subject", "expected"),
    [
        ("qwen2.5-coder-1.5b", "Qwen2.5-7B-Instruct-Q4_K_M.gguf", "same_base"),
        ("llama3.1:8b", "llama3.1", "same_base"),
        ("Hermes-3-Llama-3.1-8B", "meta-llama/Llama-3.1-8B-Instruct", "same_base"),
        ("gpt-5", "gpt-5-mini", "same_base"),
        ("gpt-4", "gpt-5", ""),
        ("smollm2-135m", "qwen2.5-coder-1.5b", ""),
        ("gemma-2-9b-it", "gemma-3-12b-it", ""),
        ("7b-instruct", "gemma-3-12b-it", ""),
    ],
)
def test_names_tell_of_a_common_base(judge: str, subject: str, expected: str) -> None:
    one, other = (KeptModel(parts=(), provider="ollama", name=name, digest="") for name in (judge, subject))
    assert kinship(one, other) == expected


def test_what_a_file_says_of_its_base_counts_like_its_name() -> None:
    tuned = KeptModel(parts=(), provider="gguf", name="our-judge", digest="d1", bases=("Qwen2.5-1.5B-Instruct",))
    for name, expected in (("Qwen2.5-7B-Instruct-Q4_K_M", "same_base"), ("gemma-2-9b-it", "")):
        other = KeptModel(parts=(), provider="gguf", name=name, digest="d2")
        assert kinship(tuned, other) == kinship(other, tuned) == expected
    sister = KeptModel(parts=(), provider="gguf", name="their-actor", digest="d3", bases=("Qwen2.5 0.5B",))
    assert kinship(tuned, sister) == "same_base"


def test_equal_files_are_one_model_under_any_name() -> None:
    one = KeptModel(parts=(), provider="gguf", name="a", digest="d1")
    assert kinship(one, one.model_copy(update={"provider": "embedded", "name": "b"})) == "same_model"
    scripts = [KeptModel(parts=(), provider="script", name=name, digest=name) for name in ("court-a", "court-b")]
    assert kinship(*scripts) == ""


def test_every_text_colour_can_be_read_on_every_ground() -> None:
    style = (Path(str(resources.files("dramaturg.report"))) / "templates" / "style.css").read_text(encoding="utf-8")
    palettes = re.findall(r":root \{(.*?)\}", style, re.DOTALL)[:2]
    inks = ["ink", "soft", "link", "good", "bad", "open", *(f"r{number}" for number in range(8))]
    for palette in palettes:
        colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", palette))
        for ink in inks:
            for ground in ("paper", "sheet", "sunk", "mark"):
                assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)


def test_the_examples_of_the_format_page_are_valid() -> None:
    page = (Path(__file__).parent.parent / "docs" / "transcripts.md").read_text(encoding="utf-8")
    example, answer = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    shown = Transcript.model_validate_json(example)
    judged = Judgement.model_validate_json(answer)
    assert [turn.id for turn in shown.judged_turns()] == list(judged.evidence)
    for model, fields in ((Transcript, Transcript.model_fields), (Judgement, Judgement.model_fields)):
        assert not [name for name in fields if f"`{name}`" not in page], model


def contrast(one: str, other: str) -> float:
    """Returns the contrast ratio of WCAG 2.2, section 1.4.3."""
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("Chromium is not installed")
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for name in (
        "headless=new",
        "no-sandbox",
        "disable-gpu",
        "disable-quic",
        "disable-dev-shm-usage",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
        f"user-data-dir={tmp_path_factory.mktemp('browser')}",
    ):
        options.add_argument(f"--{name}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    opened = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield opened
    opened.quit()


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_in_a_browser_nothing_overflows_loads_or_fails(
    browser: Chrome, rich: made.Run, page: Page, width: int, scheme: str
) -> None:
    metrics = {"width": width, "height": 850, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    browser.get("about:blank")
    browser.get_log("performance")
    browser.get((rich.folder / "report.html").as_uri())
    assert browser.title == "court-small-models · Dramaturg"

    follow = "const link = document.querySelector('.ask .cite[href]'); link.click(); return link.hash.slice(1)"
    anchor = browser.execute_script(follow)
    seen = browser.execute_async_script(
        """
        const [anchor, done] = arguments;
        setTimeout(() => {
          const turn = document.getElementById(anchor);
          const box = turn.getBoundingClientRect();
          const body = getComputedStyle(document.body);
          document.querySelectorAll('details').forEach((one) => { one.open = true; });
          done({
            target: turn.matches(':target'),
            visible: box.height > 0 && box.top >= 0 && box.top < innerHeight,
            wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
            dark: body.backgroundColor,
          });
        }, 150);
        """,
        anchor,
    )
    assert seen["target"] and seen["visible"]
    assert seen["wide"] <= 0
    assert seen["dark"] == {"light": "rgb(250, 249, 246)", "dark": "rgb(21, 23, 26)"}[scheme]
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    requested = [
        event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"
    ]
    assert requested and all(url.startswith("file:") for url in requested)
