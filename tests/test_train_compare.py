"""``dramaturg train compare``: paired, with intervals, what was trained on left out, and nothing missing as a zero."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from dramaturg.errors import UserError
from dramaturg.run.trained import TrainedOn, pair_of, trained_on
from dramaturg.run.trained_set import held_out
from dramaturg.text import canonical_json
from dramaturg.train.comparing import Both, Marks, corrected, mean_row
from dramaturg.train.comparing_scores import Outcome, drawn, tables_of
from run_fixtures import write_study
from train_compare_fixtures import Said, act, example, influence, judged, likely, rated, teller, write_split
from train_fixtures import CAREFUL, PLAYER, dramaturg

STEADY = "script:world-steady"
NOTHING = TrainedOn(frozenset(), ())


def compared(*arguments: str | Path, code: int = 0) -> dict[str, Any]:
    ended, output, errors = dramaturg("train", "compare", *arguments, "--json")
    assert ended == code, errors
    found: dict[str, Any] = json.loads(output)
    return found


def rows(found: Mapping[str, Any], place: int = 0) -> dict[str, dict[str, Any]]:
    return {row["measure"]: row for row in found["tables"][place]["rows"]}


def test_the_mean_of_a_measure_is_paired_by_scene_and_counts_what_is_missing() -> None:
    values: dict[str, list[Both]] = {f"s{n}": [(0.0, 1.0), (0.0, None), (None, 1.0)] for n in range(8)}
    values["s0"] = [(0.0, 1.0), (1.0, 1.0)]
    (row,) = corrected([mean_row("m", "M", values)])
    assert row.base.n_used == 16 and row.tuned.n_used == 16 and row.base.n_planned == 23
    assert row.difference.n_used == 9 and row.difference.value == pytest.approx((7 + 0.5) / 8)
    assert row.difference.low is not None and row.difference.low > 0
    assert row.verdict == "better"
    (lower,) = corrected([mean_row("m", "M", values, better="lower")])
    assert lower.verdict == "worse"


def test_a_difference_on_another_scale_is_in_its_points() -> None:
    values: dict[str, list[Both]] = {"a": [(2.0, 3.0)], "b": [(1.0, 3.0)], "c": [(4.0, 4.5)]}
    row = mean_row("m", "M", values, scale=(1.0, 5.0))
    assert row.difference.value == pytest.approx(3.5 / 3)
    assert row.base.value == pytest.approx(7 / 3)


def test_one_scene_gives_no_interval_and_no_verdict() -> None:
    (row,) = corrected([mean_row("m", "M", {"a": [(0.0, 1.0)] * 9})])
    assert row.difference.value == 1.0 and row.difference.low is None and row.verdict == "unclear"


def test_two_scenes_or_equal_ones_give_no_interval_and_say_why() -> None:
    scale = (1.0, 5.0)
    two = mean_row("m", "M", {"a": [(2.0, 3.0)], "b": [(1.0, 3.5)]}, scale=scale)
    assert two.base.value == 1.5 and two.tuned.value == 3.25 and two.difference.value == pytest.approx(1.75)
    for one in (two.base, two.tuned, two.difference):
        assert one.low is None and "2 clusters; at least 3 are needed" in one.reason
    equal: dict[str, list[Both]] = {f"s{n}": [(2.0, float(n))] for n in range(1, 6)}
    row = mean_row("m", "M", equal, scale=scale)
    assert row.base.low is None and row.base.reason == "all clusters have the same value; the error cannot be told"
    assert row.tuned.low is not None and row.difference.low is not None


def test_a_statistic_of_few_scenes_has_no_interval_on_any_side(tmp_path: Path) -> None:
    examples = [judged(f"s{scene}", n, yes=bool(n % 2)) for scene in range(9) for n in range(4)]
    base = teller(tmp_path / "base.py", {"About s0 1": likely(0.2), "yes is so": likely(0.8), "": likely(0.3)})
    tuned = teller(tmp_path / "tuned.py", {"About s1": likely(0.7), "yes is so": likely(0.6), "": likely(0.4)})
    folder = write_split(tmp_path / "set", examples)
    found = compared(base, tuned, "--on", folder, "--out", tmp_path / "out")
    for measure in ("balanced_accuracy", "auc"):
        row = rows(found)[measure]
        for side in ("base", "tuned", "difference"):
            assert row[side]["value"] is not None and row[side]["low"] is None
            assert row[side]["reason"].startswith(("9 clusters", "no honest interval: 9 clusters"))
    told = dramaturg("train", "compare", base, tuned, "--on", folder, "--out", tmp_path / "out")[1]
    words = "no interval of the base, the tuned model for balanced accuracy, AUC: no honest interval: 9 clusters"
    assert words in " ".join(told.split())


def test_a_sample_is_drawn_from_all_scenes_in_turn() -> None:
    examples = [judged(scene, number, yes=True) for scene in "abc" for number in range(9)]
    chosen = drawn(examples, 6, 1)
    assert sorted(one.scene for one in chosen) == ["a", "a", "b", "b", "c", "c"]
    assert chosen == drawn(examples, 6, 1) != drawn(examples, 6, 2)
    assert drawn(examples, 99, 1) == examples


def test_a_sample_smaller_than_the_scenes_is_not_of_the_first_ones() -> None:
    examples = [judged(f"s{scene}", number, yes=True) for scene in range(20) for number in range(2)]
    chosen = [frozenset(one.scene for one in drawn(examples, 5, seed)) for seed in range(8)]
    assert all(len(scenes) == 5 for scenes in chosen) and len(set(chosen)) == 8
    assert frozenset(f"s{scene}" for scene in range(5)) not in chosen
    assert drawn(examples, 5, 3) == drawn(examples, 5, 3)


def test_a_judge_is_compared_by_balanced_accuracy_and_auc(tmp_path: Path) -> None:
    examples = [judged(f"s{scene}", n, yes=bool(n % 2)) for scene in range(12) for n in range(4)]
    folder = write_split(tmp_path / "set", examples)
    base = teller(tmp_path / "base.py", {"": likely(0.9)})
    right: dict[str, Said] = {"yes is so": likely(0.8), "no is so": likely(0.2)}
    tuned = teller(tmp_path / "tuned.py", {"About s0 0": {"text": "Hm."}, "About s1 1": likely(0.1), **right})
    found = compared(base, tuned, "--on", folder, "--out", tmp_path / "out")
    table = rows(found)
    assert table["balanced_accuracy"]["base"]["value"] == 0.5
    assert table["balanced_accuracy"]["tuned"]["value"] > 0.9
    assert table["balanced_accuracy"]["tuned"]["n_used"] == 47 and table["balanced_accuracy"]["base"]["n_used"] == 48
    assert table["balanced_accuracy"]["difference"]["low"] > 0.3
    assert table["auc"]["base"]["value"] == 0.5 and table["auc"]["verdict"] == "better"
    assert table["sensitivity"]["difference"]["value"] < 0 < table["specificity"]["difference"]["value"]
    assert any("unparsed × 1" in note for note in found["tables"][0]["notes"])
    again = compared(base, tuned, "--on", folder, "--out", tmp_path / "out")
    assert again["calls"] == 0 and again["replayed"] == 96 and again["tables"] == found["tables"]


def test_a_judges_difference_is_tuned_minus_base_where_scenes_differ_in_size(tmp_path: Path) -> None:
    sizes = {"large": 40, **{f"s{number}": 1 for number in range(11)}}
    examples = [
        judged(scene, n, yes=yes) for scene, size in sizes.items() for n in range(size) for yes in (True, False)
    ]
    base = teller(tmp_path / "base.py", {"About large": "no", "yes is so": "yes", "": "no"})
    right: dict[str, Said] = {f"About large {n}, yes": "yes" for n in range(40)}
    tuned = teller(tmp_path / "tuned.py", {**right, "": "no"})
    found = compared(base, tuned, "--on", write_split(tmp_path / "set", examples), "--out", tmp_path / "out")
    row = rows(found)["balanced_accuracy"]
    assert row["base"]["value"] == pytest.approx((11 / 51 + 1) / 2)
    assert row["tuned"]["value"] == pytest.approx((40 / 51 + 1) / 2)
    assert row["difference"]["value"] == pytest.approx(row["tuned"]["value"] - row["base"]["value"])
    assert row["base"]["low"] is not None and row["base"]["clusters"] == 12


def test_a_rater_is_compared_by_its_correlation_with_the_teacher(tmp_path: Path) -> None:
    points = [(1, 2), (2, 4), (4, 3), (5, 5)]
    examples = [
        rated(f"s{scene}", n, {"Immersion": one, "Adaptability": other})
        for scene in range(11)
        for n, (one, other) in enumerate(points)
    ]

    def said(give: Sequence[tuple[int, int]]) -> dict[str, Said]:
        texts: dict[str, Said] = {"critique": "It is so."}
        for scene in range(11):
            for n, (one, other) in enumerate(give):
                listed = [{"id": "Immersion", "rating": one}, {"id": "Adaptability", "rating": other}]
                texts[f"Rate s{scene} {n} now"] = json.dumps({"answers": listed})
        return texts

    base = teller(tmp_path / "base.py", said([(3, 1), (1, 4), (3, 2), (2, 2)]))
    tuned = teller(tmp_path / "tuned.py", {**said(points), "Rate s0 0 now": "I cannot say."})
    found = compared(base, tuned, "--on", write_split(tmp_path / "set", examples), "--out", tmp_path / "out")
    near, far = rows(found, 0), rows(found, 1)
    assert near["overall"]["tuned"]["value"] == pytest.approx(1.0)
    assert near["overall"]["difference"]["value"] > 0 and near["overall"]["verdict"] == "better"
    assert near["Immersion"]["tuned"]["n_used"] == 43 and near["Immersion"]["tuned"]["n_planned"] == 44
    assert far["distance:Immersion"]["tuned"]["value"] == 0 and far["distance:Immersion"]["verdict"] == "better"


def test_a_mean_of_all_metrics_needs_every_metric_on_both_sides() -> None:
    def alone(scene: str, metric: str, base: float | None, tuned: float | None) -> Outcome:
        role = "character:ada-finch"
        asked = example(
            "reward",
            "rating",
            "Rate it.",
            '{"critique":"Well.","rating":4}',
            scene=scene,
            source=f"{scene}-1/{role}/rate/{role}/{metric}",
        )
        sides = (Marks({metric: value} if value is not None else {}) for value in (base, tuned))
        return Outcome(asked, *sides)

    outcomes = [
        alone("a", "immersion", 3, 4),
        alone("a", "adaptability", 1, 4),
        alone("b", "immersion", 5, 5),  # its other metric is not in the set
        alone("c", "immersion", 2, 4),
        alone("c", "adaptability", 2, None),
    ]
    _, far = tables_of("reward", outcomes)
    overall = next(row for row in far.rows if row.measure == "distance:overall")
    assert (overall.base.n_used, overall.tuned.n_used, overall.difference.n_used) == (1, 1, 1)
    assert overall.base.value == 2 and overall.tuned.value == 0 and overall.base.n_planned == 3
    assert any("2 of 3 trajectories are left out" in note for note in far.notes)
    each = next(row for row in far.rows if row.measure == "distance:immersion")
    assert each.base.n_used == 3


def test_a_narrator_and_its_tasks_are_compared(tmp_path: Path) -> None:
    examples = [influence()]
    base = teller(tmp_path / "base.py", {"": "Him."})
    tuned = teller(tmp_path / "tuned.py", {"": '{"target":"none","influence":""}'})
    found = compared(base, tuned, "--on", write_split(tmp_path / "set", examples), "--out", tmp_path / "out")
    table = rows(found)
    assert table["valid"]["difference"]["value"] == 1
    assert "consistent:influence" in table
    assert "one cluster" in table["valid"]["difference"]["reason"]


def test_tables_are_written_for_people_and_for_pages(tmp_path: Path) -> None:
    folder = write_split(tmp_path / "set", [act(), act("speech"), act("reaction")])
    out = tmp_path / "out"
    base, tuned = teller(tmp_path / "base.py", {"": ""}), teller(tmp_path / "tuned.py", {"": "Ada Finch runs away."})
    code, output, errors = dramaturg("train", "compare", base, tuned, "--on", folder, "--out", out)
    assert code == 0, errors
    assert "faults that a play notices by rule" in " ".join(output.split())
    assert "neither model tells what it was trained on" in output
    assert "| nothing usable |" in (out / "comparison.md").read_text(encoding="utf-8")
    assert "nothing usable" in (out / "comparison.html").read_text(encoding="utf-8")
    answers = [json.loads(line) for line in (out / "answers.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(answers) == 6 and {one["model"] for one in answers} == {base, tuned}


def test_a_failed_call_is_missing_and_is_asked_again(tmp_path: Path) -> None:
    folder = write_split(tmp_path / "set", [judged("a", 1, yes=True), judged("b", 1, yes=False)])
    base = teller(tmp_path / "base.py", {"": "yes"})
    tuned = teller(tmp_path / "tuned.py", {"About a": {"status": "failed"}, "": "no"})
    out = tmp_path / "out"
    found = compared(base, tuned, "--on", folder, "--out", out, code=2)
    row = rows(found)["sensitivity"]
    assert row["tuned"]["value"] is None and row["tuned"]["n_planned"] == 1 and row["difference"]["value"] is None
    (tmp_path / "tuned.json").write_text('{"": "no"}', encoding="utf-8")
    found = compared(base, tuned, "--on", folder, "--out", out)
    assert found["calls"] == 1 and found["replayed"] == 3 and rows(found)["sensitivity"]["tuned"]["value"] == 0


def test_a_limit_stops_it_and_it_goes_on(tmp_path: Path) -> None:
    folder = write_split(tmp_path / "set", [judged("a", n, yes=True) for n in range(5)])
    base, tuned = teller(tmp_path / "base.py", {"": "yes"}), teller(tmp_path / "tuned.py", {"": "no"})
    wanted = (base, tuned, "--on", folder, "--out", tmp_path / "out")
    stopped = compared(*wanted, "--max-calls", "7", code=3)
    assert stopped["tables"] == [] and stopped["calls"] == 7
    assert not (tmp_path / "out" / "comparison.md").exists()
    found = compared(*wanted)
    assert found["calls"] == 3 and found["replayed"] == 7


def test_what_an_adapter_was_trained_on_is_left_out_and_counted(tmp_path: Path) -> None:
    from gguf_files import write_model

    base = write_model(tmp_path / "base.gguf")
    adapter = adapter_trained_on(tmp_path / "tuned.gguf", ["a", "b-1", "d-1/character:ada-finch/T4"])
    pair = pair_of(f"gguf:{base}", f"gguf:{base}+{adapter}")
    known = trained_on(pair)
    assert known.ids == {"a", "b-1", "d-1/character:ada-finch/T4"} and "tuned.gguf" in known.note
    examples = [judged("a", 1, yes=True), judged("b", 1, yes=True), judged("c", 1, yes=True), judged("d", 1, yes=True)]
    folder = write_split(tmp_path / "set", examples)
    asked = held_out(folder, pair, known, sample=None, seed=0)
    assert [one.scene for one in asked.examples] == ["c"]
    assert asked.left_out == {"its scene or its transcript was trained on": 3}
    with pytest.raises(UserError, match="nothing of it is held out"):
        held_out(write_split(tmp_path / "known", examples[:1]), pair, known, sample=None, seed=0)


def adapter_trained_on(path: Path, ids: Sequence[str]) -> Path:
    from gguf_files import gguf_bytes

    values = {
        "general.architecture": "llama",
        "general.type": "adapter",
        "adapter.type": "lora",
        "adapter.lora.alpha": 8.0,
        "dramaturg.trained_on": canonical_json(list(ids)),
    }
    path.write_bytes(gguf_bytes(values, {}))
    return path


def test_what_is_wrong_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    base, tuned = teller(tmp_path / "base.py", {"": "yes"}), teller(tmp_path / "tuned.py", {"": "no"})
    folder = write_split(tmp_path / "set", [judged("a", 1, yes=True)])
    mixed = write_split(tmp_path / "mixed", [judged("a", 1, yes=True), act()])
    empty = tmp_path / "empty"
    empty.mkdir()
    for arguments, words in (
        ((base, base, "--on", folder), "mean the same model"),
        ((base, tuned, "--on", tmp_path / "none"), "is not there"),
        ((base, tuned, "--on", mixed), "examples of one kind"),
        ((base, tuned, "--on", empty), "is no study, data set, or folder"),
        ((base, tuned, "--on", folder, "--judge", base), "measured by rule"),
        ((base, tuned, "--on", folder, "--trained-on", empty), "has no card of a data set"),
    ):
        code, _, errors = dramaturg("train", "compare", *arguments, "--out", tmp_path / "out")
        assert code == 1 and words in errors, errors
    compared(base, tuned, "--on", folder, "--out", tmp_path / "out")
    other = write_split(tmp_path / "other", [judged("z", 1, yes=True)])
    code, _, errors = dramaturg("train", "compare", base, tuned, "--on", other, "--out", tmp_path / "out")
    assert code != 0 and "data" in errors


WORLD = """\
study: before-and-after
suite: world
subjects: [script:world-steady]
scenes: [two-clouds, ballast, three-inches]
narrator: script:world-steady
protocol: fast
rounds: 1
raters: [{model: RATER, mode: joint}]
"""


def test_a_study_of_a_world_is_played_and_rated_for_both(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text(WORLD.replace("RATER", "script:random-rater"), encoding="utf-8")
    out = tmp_path / "out"
    found = compared(STEADY, PLAYER, "--on", study, "--out", out, "--trained-on", set_of_scenes(tmp_path, "ballast"))
    assert found["left_out"] == {"trained on": 1}
    english, chinese = found["tables"]
    assert "(en)" in english["title"] and "(zh)" in chinese["title"]
    measures = [row["measure"] for row in english["rows"]]
    assert measures[0] == "average" and len(measures) == 8
    assert english["rows"][0]["base"]["n_used"] == english["rows"][0]["difference"]["n_used"] > 0
    assert (out / "transcripts.jsonl").is_file() and (out / "ratings.jsonl").is_file()
    again = compared(STEADY, PLAYER, "--on", study, "--out", out, "--trained-on", set_of_scenes(tmp_path, "ballast"))
    assert again["calls"] == 0 and again["tables"] == found["tables"]


def set_of_scenes(folder: Path, *scenes: str) -> Path:
    from dramaturg.train.card import DataCard, SplitFacts, Tokens, write_card

    tokens = Tokens(total=1, answers=1, least=1, median=1, p95=1, most=1, over_cutoff=0)
    facts = SplitFacts(examples=1, purposes={}, languages={}, scenes=scenes, characters=(), tokens=tokens)
    held = SplitFacts(examples=1, purposes={}, languages={}, scenes=("two-clouds",), characters=(), tokens=tokens)
    card = DataCard(
        kind="guided",
        seed=0,
        sources=(),
        teachers={},
        terms={},
        tokenizer="",
        splits={"train": facts, "test": held},
        left_out={},
        prompt_hashes={},
        changed_prompts=(),
    )
    (folder / "trained").mkdir(exist_ok=True)
    write_card(folder / "trained", card)
    return folder / "trained"


def test_a_study_that_nobody_judges_asks_for_a_judge(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text(WORLD.partition("raters")[0], encoding="utf-8")
    code, _, errors = dramaturg("train", "compare", STEADY, PLAYER, "--on", study, "--out", tmp_path / "out")
    assert code == 1 and "--judge SPEC" in errors
    wanted = ("--judge", CAREFUL, "--sample", "1", "--narrator", STEADY, "--seed", "3")
    found = compared(STEADY, PLAYER, "--on", study, "--out", tmp_path / "out", *wanted)
    assert found["left_out"] == {"not drawn (--sample)": 2}
    assert found["tables"][0]["rows"][0]["difference"]["clusters"] == 1


def test_a_study_of_a_court_is_judged_for_both(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study")
    base, tuned = (f"script:{tmp_path / 'study' / name}.py" for name in ("actor", "second"))
    found = compared(base, tuned, "--on", study, "--out", tmp_path / "out")
    table = rows(found)
    assert set(table) == {"total", "SHORT"}
    assert table["total"]["base"]["n_used"] == 2 and table["total"]["difference"]["n_used"] == 2
    assert found["kind"] == "court" and found["exit_code"] == 0


def test_a_model_without_a_finished_play_is_named_with_the_reason(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study")
    base, tuned = (f"script:{tmp_path / 'study' / name}.py" for name in ("actor", "second"))
    down = tmp_path / "study" / "second.down"
    down.write_text("", encoding="utf-8")
    wanted = ("train", "compare", base, tuned, "--on", study, "--out", tmp_path / "out")
    code, output, errors = dramaturg(*wanted)
    told = " ".join(output.split())
    assert code == 2 and "run it again" in errors
    why = "has no finished play (connect: cannot reach the server × 2)"
    assert f"nothing is compared: {tuned} {why}" in told and f"{base} {why}" not in told
    assert "hold the tables" not in told and not (tmp_path / "out" / "comparison.md").exists()
    down.unlink()
    assert rows(compared(*wanted[2:]))["total"]["difference"]["n_used"] == 2


def test_plays_that_nobody_could_judge_are_no_comparison_and_no_crash(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study")
    (tmp_path / "study" / "critic.down").write_text("", encoding="utf-8")
    base, tuned = (f"script:{tmp_path / 'study' / name}.py" for name in ("actor", "second"))
    found = compared(base, tuned, "--on", study, "--out", tmp_path / "out", code=2)
    assert found["tables"] == []
    assert sum("has no play that was rated or judged (connect" in note for note in found["notes"]) == 2


def test_a_folder_of_scenes_is_a_study_of_them(tmp_path: Path) -> None:
    from dramaturg.files import shipped

    folder = tmp_path / "scenes"
    folder.mkdir()
    for name in ("two-clouds", "ballast"):
        (folder / f"{name}.yaml").write_text(shipped("scenes")[name].read_text(encoding="utf-8"), encoding="utf-8")
    wanted = ("--judge", "script:random-rater", "--narrator", STEADY, "--sample", "1")
    found = compared(STEADY, PLAYER, "--on", folder, "--out", tmp_path / "out", *wanted)
    assert found["kind"] == "world" and len(found["tables"]) == 1


def test_a_study_of_ones_own_scenes_can_be_read_again_from_the_output_folder(tmp_path: Path) -> None:
    from dramaturg.files import load_yaml, shipped
    from dramaturg.stage.world.scene import Scene

    beside = tmp_path / "mine"
    (beside / "scenes").mkdir(parents=True)
    text = shipped("scenes")["two-clouds"].read_text(encoding="utf-8")
    (beside / "scenes" / "one.yaml").write_text(text.replace("id: two-clouds", "id: my-clouds", 1), encoding="utf-8")
    several = [load_yaml(shipped("scenes")[name], Scene) for name in ("ballast", "one-suit")]
    lines = [scene.model_copy(update={"id": f"my-{scene.id}"}).model_dump_json() for scene in several]
    (beside / "scenes" / "more.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (beside / "narrates.py").write_text(Path(PLAYER.removeprefix("script:")).read_text(encoding="utf-8"))
    content = WORLD.replace("RATER", "script:random-rater").replace(
        "narrator: script:world-steady", "narrator: script:narrates.py"
    )
    content = content.replace(
        "[two-clouds, ballast, three-inches]", "[scenes/one.yaml, 'scenes/more.jsonl#my-ballast', ten-to-five]"
    )
    (beside / "study.yaml").write_text(content, encoding="utf-8")
    out = tmp_path / "out"
    found = compared(STEADY, PLAYER, "--on", beside / "study.yaml", "--out", out)
    kept = yaml.safe_load((out / "study.yaml").read_text(encoding="utf-8"))
    scenes = beside / "scenes"
    assert kept["scenes"] == [str(scenes / "one.yaml"), f"{scenes / 'more.jsonl'}#my-ballast", "ten-to-five"]
    assert kept["narrator"] == f"script:{beside / 'narrates.py'}"
    again = compared(STEADY, PLAYER, "--on", out, "--out", out, "--replay-only")
    assert again["calls"] == 0 and again["tables"] == found["tables"]
    code, _, errors = dramaturg("run", out / "study.yaml", "--out", out, "--replay-only")
    assert code == 0, errors


def test_a_study_of_ones_own_case_checklist_and_prompts_can_be_read_again(tmp_path: Path) -> None:
    from dramaturg.files import shipped
    from dramaturg.prompts import load_prompt

    (tmp_path / "study" / "terse").mkdir(parents=True)
    (tmp_path / "study" / "mine.yaml").write_text(
        shipped("cases")["summit-ridge"].read_text(encoding="utf-8"), encoding="utf-8"
    )
    (tmp_path / "study" / "terse" / "court-rules.txt").write_text(
        load_prompt("court-rules").source + "\nBe short.\n", encoding="utf-8"
    )
    study = write_study(tmp_path / "study", cases=["mine.yaml"], prompts=["terse"])
    base, tuned = (f"script:{tmp_path / 'study' / name}.py" for name in ("actor", "second"))
    out = tmp_path / "out"
    found = compared(base, tuned, "--on", study, "--out", out)
    assert found["tables"][0]["title"].endswith(f"with {tmp_path / 'study' / 'terse'}")
    assert rows(found)["total"]["difference"]["n_used"] == 1
    again = compared(base, tuned, "--on", out, "--out", out, "--replay-only")
    assert again["calls"] == 0 and again["tables"] == found["tables"]


def test_a_folder_of_cases_is_a_study_of_a_court(tmp_path: Path) -> None:
    from dramaturg.files import shipped

    write_study(tmp_path / "scripts")
    folder = tmp_path / "cases"
    folder.mkdir()
    case = shipped("cases")["summit-ridge"].read_text(encoding="utf-8")
    (folder / "summit-ridge.yaml").write_text(case, encoding="utf-8")
    base, tuned, critic = (f"script:{tmp_path / 'scripts' / name}.py" for name in ("actor", "second", "critic"))
    found = compared(base, tuned, "--on", folder, "--judge", critic, "--out", tmp_path / "out")
    assert found["kind"] == "court" and rows(found)["total"]["difference"]["n_used"] == 1
    replayed = compared(base, tuned, "--on", tmp_path / "out", "--out", tmp_path / "out", "--replay-only")
    assert replayed["calls"] == 0 and replayed["tables"] == found["tables"]


def test_an_interview_is_refused(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text("suite: interview\n", encoding="utf-8")
    code, _, errors = dramaturg("train", "compare", STEADY, PLAYER, "--on", study, "--out", tmp_path / "out")
    assert code == 1 and "a study of a court or a world" in errors
