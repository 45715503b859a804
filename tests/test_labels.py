"""People's labels, agreement of two judgings, calibration and halo."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from dramaturg.cli import agreement as commands
from dramaturg.cli.items import items as items_command
from dramaturg.errors import ContentError, UserError
from dramaturg.judge.agreement import compare_answers, compare_tables
from dramaturg.judge.calibration import calibrate
from dramaturg.judge.checklist.answer_table import read_answers
from dramaturg.judge.halo import Halo, halos
from dramaturg.run.labels import consensus, read_labels
from test_items import line, write

HEAD = "transcript,indicator,person,answer\n"


def csv_file(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def run(command: Callable[..., None], *arguments: str) -> str:
    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, list(arguments))
    if result.exception is not None:
        raise result.exception
    return result.output


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "t1,R-1,ann,yes\nt1,R-2,ann,No\n",
        "\ufeff" + HEAD.replace(",", ";") + 't1;R-1;ann;1\r\n\r\n"t1";R-2;ann;0\r\n',
        "Answer\tPerson\tIndicator\tTranscript\tnote\nTRUE\tann\tR-1\tt1\tsure\nn\tann\tR-2\tt1\t\n",
    ],
)
def test_spreadsheets_of_several_kinds_are_read(tmp_path: Path, text: str) -> None:
    labels = read_labels(csv_file(tmp_path / "l.csv", text))
    assert [(one.transcript, one.indicator, one.person, one.answer) for one in labels] == [
        ("t1", "R-1", "ann", "yes"),
        ("t1", "R-2", "ann", "no"),
    ]


@pytest.mark.parametrize(("command", "times"), [(commands.halo, 1), (commands.agreement, 2), (items_command, 1)])
def test_a_file_without_judgements_is_an_error(tmp_path: Path, command: Callable[..., None], times: int) -> None:
    path = tmp_path / "judgements.jsonl"
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"judgements\.jsonl: holds no judgements"):
        run(command, *[str(path)] * times)


def test_a_torn_tail_of_judgements_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "judgements.jsonl", [line("t", "R-1", "yes"), line("t", "R-2", "no")[:30]])
    assert f"{path}: the last line is torn and left out" in run(items_command, str(path))


def test_json_lines_are_read_too(tmp_path: Path) -> None:
    record = {"transcript": "t", "indicator": "R-1", "person": "ann"}
    answers = (True, 0, "n/a")
    lines = [json.dumps({**record, "person": f"p{number}", "answer": one}) for number, one in enumerate(answers)]
    labels = read_labels(csv_file(tmp_path / "l.jsonl", "\n".join(lines)))
    assert [one.answer for one in labels] == ["yes", "no", "not_applicable"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("transcript,indicator,answer\nt,R-1,yes\n", r"l\.csv:1: column 'person' is missing"),
        (HEAD.replace("\n", ",mood\n"), r"l\.csv:1: unknown column 'mood'"),
        (HEAD + "t,R-1,ann,maybe\n", r"l\.csv:2: answer is 'maybe' \(yes, no or not_applicable"),
        (HEAD + "t,R-1,ann,yes\nt,R-1,,no\n", r"l\.csv:3: person is empty"),
        (HEAD + "t,R-1,ann,yes\nt,R-1,ann,yes\n", r"l\.csv:3: 'ann' answers R-1 about 't' twice .*line 2"),
        (HEAD + "t,R-1,ann,yes,more\n", r"l\.csv:2: the line has 1 cells too many"),
        (HEAD + 't,R-1,ann,"yes\n', r"l\.csv:2: is no valid CSV"),
        (HEAD, "holds no labels"),
        ("", r"l\.csv:1: column 'transcript' is missing"),
    ],
)
def test_what_is_wrong_with_labels_is_said_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ContentError, match=message):
        read_labels(csv_file(tmp_path / "l.csv", text))


def test_most_people_decide_and_ties_are_left_out(tmp_path: Path) -> None:
    rows = ["t,R-1,a,yes", "t,R-1,b,yes", "t,R-1,c,no", "t,R-2,a,yes", "t,R-2,b,no"]
    agreed, tied = consensus(read_labels(csv_file(tmp_path / "l.csv", HEAD + "\n".join(rows))))
    assert agreed == {("t", "R-1"): "yes"} and tied == 1


def test_agreement_counts_only_what_both_answered() -> None:
    first = {("t1", "R-1"): "yes", ("t2", "R-1"): "no", ("t3", "R-1"): "yes"}
    second = {("t1", "R-1"): "yes", ("t2", "R-1"): "yes", ("t4", "R-1"): "no"}
    found = compare_answers("a", first, "b", second)  # pyright: ignore[reportArgumentType]
    assert (found.overall.n, found.overall.equal.value, found.only_one, found.only_other) == (2, 0.5, 1, 1)
    assert [(one.transcript, one.one, one.other) for one in found.differences] == [("t2", "no", "yes")]


def test_kappa_is_agreement_beyond_chance() -> None:
    """20 yes–yes, 15 no–no, 5 yes–no, 10 no–yes: observed .7, by chance .5, kappa .4."""
    pairs = [("yes", "yes")] * 20 + [("no", "no")] * 15 + [("yes", "no")] * 5 + [("no", "yes")] * 10
    first = {(f"t{number}", "R-1"): one for number, (one, _) in enumerate(pairs)}
    second = {(f"t{number}", "R-1"): other for number, (_, other) in enumerate(pairs)}
    found = compare_answers("a", first, "b", second)  # pyright: ignore[reportArgumentType]
    assert found.overall.kappa == pytest.approx(0.4)
    assert found.overall.alpha == pytest.approx(0.4)


def test_transcripts_read_in_two_versions_are_left_out(tmp_path: Path) -> None:
    one = read_answers(write(tmp_path / "a.jsonl", [line("t1", "R-1", "yes"), line("t2", "R-1", "yes")]))[0]
    lines = [line("t1", "R-1", "yes"), line("t2", "R-1", "no", transcript_digest="new")]
    found = compare_tables(one, read_answers(write(tmp_path / "b.jsonl", lines))[0])
    assert (found.overall.n, found.other_version, found.differences) == (1, 1, ())


def test_the_agreement_command_compares_two_files_or_two_judges_of_one(tmp_path: Path) -> None:
    a = write(tmp_path / "a.jsonl", [line(f"t{row}", "R-1", "yes" if row % 2 else "no") for row in range(30)])
    b = write(tmp_path / "b.jsonl", [line(f"t{row}", "R-1", "yes", judge="b") for row in range(30)])
    text = run(commands.agreement, str(a), str(b))
    assert "R-1: no, yes" in text
    data = json.loads(run(commands.agreement, str(a), str(b), "--json"))
    assert data[0]["overall"]["equal"]["value"] == 0.5 and len(data[0]["differences"]) == 15
    both = write(tmp_path / "both.jsonl", [a.read_text(encoding="utf-8"), b.read_text(encoding="utf-8")])
    assert json.loads(run(commands.agreement, str(both), str(both), "--json"))[0]["overall"]["n"] == 30
    with pytest.raises(UserError, match="only one judge is in it"):
        run(commands.agreement, str(a), str(a))


def judged_and_labelled(folder: Path, *, noise: float, n: int = 40) -> Path:
    """Returns a file of labels beside 40 transcripts judged in mode probability, too sure of itself by a half."""
    generator = random.Random(2)
    lines: list[str] = []
    rows: list[str] = []
    for row in range(n):
        for name in ("R-1", "R-2", "R-3"):
            chance = generator.random()
            said = min(0.999, max(0.001, 0.5 + (chance - 0.5) * (1 + noise)))
            lines.append(line(f"t{row}", name, "yes" if said > 0.5 else "no", probability=said))
            rows.append(f"t{row},{name},ann,{'yes' if generator.random() < chance else 'no'}")
    write(folder / "judgements.jsonl", lines)
    return csv_file(folder / "labels.csv", HEAD + "\n".join(rows))


def test_the_labels_command_shows_agreement_and_calibration(tmp_path: Path) -> None:
    labels = judged_and_labelled(tmp_path, noise=1.0)
    text = run(commands.labels, str(labels), str(tmp_path))
    assert "120 labels of 1 persons on 120 questions" in text and "cross-validated: Brier" in text
    judge = json.loads(run(commands.labels, str(labels), str(tmp_path), "--json"))["judges"][0]
    assert judge["overall"]["n"] == 120 and judge["calibration"]["n"] == 120
    assert judge["calibration"]["platt"][0] < 0.9


def test_labels_of_elsewhere_are_counted_and_unknown_indicators_refused(tmp_path: Path) -> None:
    labels = judged_and_labelled(tmp_path, noise=0.0, n=2)
    more = labels.read_text(encoding="utf-8") + "\nelsewhere,R-1,ann,yes"
    assert "1 labels are about transcripts" in run(commands.labels, str(csv_file(labels, more)), str(tmp_path))
    with pytest.raises(ContentError, match=r"labels\.csv:2: no judge answered an indicator 'X-1' \(R-1, R-2, R-3\)"):
        run(commands.labels, str(csv_file(labels, HEAD + "t0,X-1,ann,yes")), str(tmp_path))
    with pytest.raises(ContentError, match="no label is about a transcript of this run"):
        run(commands.labels, str(csv_file(labels, HEAD + "zz,R-1,ann,yes")), str(tmp_path))


def test_a_judge_too_sure_of_itself_gains_by_correction() -> None:
    generator = random.Random(1)
    chances = [generator.random() for _ in range(1200)]
    truths = [generator.random() < chance for chance in chances]
    transcripts = [f"t{number // 6}" for number in range(1200)]
    sure = [min(0.999, max(0.001, 0.5 + (chance - 0.5) * 3)) for chance in chances]
    honest, overdone = calibrate(chances, truths, transcripts), calibrate(sure, truths, transcripts)
    assert honest.platt is not None and overdone.platt is not None
    assert overdone.platt[0] < 0.6 and all(one.helps for one in overdone.corrected)
    assert not any(one.helps for one in honest.corrected)
    assert sum(one.n for one in overdone.bins) == 1200
    assert honest.brier is not None and honest.brier_of_share is not None and honest.brier < honest.brier_of_share


def test_too_few_labels_fit_nothing_and_say_so() -> None:
    found = calibrate([0.2, 0.9], [False, True], ["a", "b"])
    assert found.corrected == () and found.platt is None
    assert "2 labelled answers with a probability, 50 are needed" in found.reason
    assert calibrate([], [], []).brier is None


def halo_of(path: Path, lines: list[str]) -> Halo:
    return halos(read_answers(write(path, lines)), subjects={}, negative={})[0]


def impression(answer: Callable[[int, str], bool], judge: str = "a") -> list[str]:
    names = ("R-1", "R-2", "R-3", "L-1", "L-2", "L-3")
    return [
        line(f"t{row}", name, "yes" if answer(row, name) else "no", judge=judge) for row in range(60) for name in names
    ]


def test_independent_answers_show_no_halo(tmp_path: Path) -> None:
    generator = random.Random(4)
    found = halo_of(tmp_path / "j.jsonl", impression(lambda row, name: generator.random() < 0.6))
    assert found.chance is not None and found.within is not None and found.within <= found.chance[1]
    assert "no sign of one overall impression" in found.verdict


def test_one_impression_is_told_from_true_differences_by_a_second_judge(tmp_path: Path) -> None:
    moods, generator = random.Random(1), random.Random(2)
    mood = [moods.random() < 0.5 for _ in range(60)]
    lines = impression(lambda row, name: mood[row])
    alone = halo_of(tmp_path / "alone.jsonl", lines)
    assert alone.within == pytest.approx(1.0) and alone.halo is None and "second model" in alone.verdict
    assert alone.uniform == 1.0 and alone.uniform_by_chance is not None and alone.uniform_by_chance < 0.3
    beside = halo_of(tmp_path / "two.jsonl", lines + impression(lambda row, name: generator.random() < 0.6, "b"))
    assert beside.halo is not None and beside.halo > 0.5 and "one overall impression" in beside.verdict
    true = halo_of(tmp_path / "true.jsonl", lines + impression(lambda row, name: mood[row], "b"))
    assert true.halo == pytest.approx(0.0) and "the performances explain it" in true.verdict


def test_few_transcripts_say_nothing_of_halo(tmp_path: Path) -> None:
    write(tmp_path / "judgements.jsonl", [line("t", "R-1", "yes"), line("t", "L-1", "yes")])
    assert "too few to tell" in run(commands.halo, str(tmp_path))
