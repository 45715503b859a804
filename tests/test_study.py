"""Study files: what they may say, and where an error is."""

from __future__ import annotations

from pathlib import Path

import pytest

from dramaturg.errors import StudyError, UserError
from dramaturg.run.material import read_material
from dramaturg.run.snapshot import snapshot_of
from dramaturg.run.study import Study, load_study

LEAST = """\
study: small
subjects: [openai:gpt-5]
cases: [summit-ridge]
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "study.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(StudyError) as raised:
        read_material(write(folder, text))
    return str(raised.value).replace(f"{folder}/", "")


def test_three_keys_are_enough(tmp_path: Path) -> None:
    material = read_material(write(tmp_path, LEAST))
    assert [subject.label for subject in material.subjects] == ["openai:gpt-5"]
    assert material.study.seeds == (1,)
    assert material.stagings[0].fixed["defence"] is not None
    assert material.judges == ()


def test_every_key_of_the_guide_is_read(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[1] / "docs" / "studies.md").read_text(encoding="utf-8")
    text = guide.split("```yaml\n")[1].split("```")[0]
    study = load_study(write(tmp_path, text))
    assert study.model_fields_set == set(Study.model_fields)
    assert [subject.label for subject in study.subjects] == ["embedded:smollm2-135m", "big"]
    assert study.seeds == (1, 2, 3)


def test_seeds_are_a_number_or_a_list(tmp_path: Path) -> None:
    assert load_study(write(tmp_path, LEAST + "seeds: 3\n")).seeds == (1, 2, 3)
    assert load_study(write(tmp_path, LEAST + "seeds: [5, 1]\n")).seeds == (5, 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("subject: [a]\n", "study.yaml:4: unknown key 'subject' (did you mean 'subjects'?"),
        ("limits: {turn: 3}\n", "study.yaml:4: unknown key 'limits.turn' (did you mean 'turns'?"),
        ("protocol: papr\n", "study.yaml:4: protocol: Input should be 'paper' or 'guarded'"),
        (
            "judges:\n  - model: openai:gpt-5\n    mod: joint\n",
            "study.yaml:6: unknown key 'judges.0.mod' (did you mean 'mode'?",
        ),
        ("judges:\n  - mode: joint\n", "study.yaml:5: key 'judges.0.model' is missing"),
        ("seeds: 0\n", "study.yaml:4: seeds: 0 repeats are out of range"),
        ("seeds: true\n", "study.yaml:4: seeds: "),
        ("concurrency: 0\n", "study.yaml:4: concurrency: "),
        ("budgets: {max_cost: .nan}\n", "study.yaml:4: budgets.max_cost: "),
        ("study: again\n", "study.yaml:4: key 'study' stands twice"),
        ("cast: {prosecution: human}\n", "study.yaml:4: no procedure of this study has the role 'prosecution'"),
        ("cast: {judge: human}\n", "study.yaml:4: 'judge' decides, and is played by a model or a script"),
        ("suite: curt\n", "study.yaml:4: suite: Input should be 'court'"),
    ],
)
def test_wrong_key_is_named_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    assert said in refusal(tmp_path, LEAST + text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "cases: [summit-rigde]\n",
            "study.yaml:3: unknown case 'summit-rigde' (a path, or did you mean 'summit-ridge'?",
        ),
        ("cases: [summit-ridge, summit-ridge]\n", "study.yaml:3: means the same as an entry above"),
        ("cases:\n  - summit-ridge\n  - ./none.yaml\n", "study.yaml:5: unknown case './none.yaml'"),
        ("cases: []\n", "study.yaml:3: cases: "),
    ],
)
def test_wrong_case_is_named_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    assert said in refusal(tmp_path, LEAST.replace("cases: [summit-ridge]\n", text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "subjects: [opnai:gpt-5]\n",
            "study.yaml:2: unknown provider 'opnai' in 'opnai:gpt-5' (did you mean 'openai'?",
        ),
        (
            "subjects:\n  - openai:gpt-5\n  - name: x\n    model: openai:gpt-5\n",
            "study.yaml:4: means the same as an entry",
        ),
        ("subjects: [openai:gpt-5, {name: openai:gpt-5, model: openai:gpt-4}]\n", "stands twice"),
        ("subjects: [script:none.yaml]\n", "study.yaml:2: script:none.yaml: unknown script 'none.yaml'"),
        ("subjects: ['openai:gpt-5?temperatur=0']\n", "study.yaml:2: unknown option 'temperatur'"),
        ("subjects: [7]\n", "study.yaml:2: subjects.0: "),
    ],
)
def test_wrong_subject_is_named_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    assert said in refusal(tmp_path, LEAST.replace("subjects: [openai:gpt-5]\n", text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "judges: [{model: openai:gpt-5, checklist: curt}]\n",
            "study.yaml:4: unknown checklist 'curt' (a path, or did you mean 'court'?",
        ),
        ("judges:\n- model: openai:gpt-5\n- {model: openai:gpt-5, checklist: court}\n", "study.yaml:6: means the same"),
        ("cast: {defence: script:none}\n", "study.yaml:4: script:none: unknown script 'none'"),
        ("cast: {defence: actor}\n", "study.yaml:4: model spec 'actor' has no provider"),
        ("prompts: [default, ./mine]\n", "study.yaml:4: there is no folder of prompts './mine'"),
        ("seeds: [1, 2, 1]\n", "study.yaml:4: the seed 1 stands twice"),
    ],
)
def test_wrong_reference_is_named_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    assert said in refusal(tmp_path, LEAST + text)


def test_all_wrong_references_are_named_at_once(tmp_path: Path) -> None:
    said = refusal(tmp_path, "study: s\nsubjects: [a:b]\ncases: [none]\nseeds: [1, 1]\n")
    assert [line.split(": ")[0] for line in said.splitlines()] == ["study.yaml:2", "study.yaml:3", "study.yaml:4"]


def test_same_model_under_another_temperature_is_another_subject(tmp_path: Path) -> None:
    text = LEAST.replace("[openai:gpt-5]", "[openai:gpt-5, 'openai:gpt-5?temperature=0']")
    material = read_material(write(tmp_path, text))
    assert len({subject.key for subject in material.subjects}) == 2


def test_same_model_at_another_host_is_the_same_subject(tmp_path: Path) -> None:
    text = LEAST.replace("[openai:gpt-5]", "['http://127.0.0.1:1/v1#m', 'http://127.0.0.1:2/v1#m']")
    assert "means the same as an entry above" in refusal(tmp_path, text)


def test_paths_start_from_the_study_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = Path(__file__).parents[1] / "src" / "dramaturg" / "content"
    folder = tmp_path / "studies"
    (folder / "mine").mkdir(parents=True)
    case = (shipped / "cases" / "summit-ridge.yaml").read_text(encoding="utf-8").replace("id: summit-ridge", "id: mine")
    (folder / "mine" / "case.yaml").write_text(case, encoding="utf-8")
    (folder / "mine" / "defence.yaml").write_text("name: d\nrules: [{reply: No.}]\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    text = "study: s\nsubjects: [openai:m]\ncases: [mine/case.yaml]\ncast: {defence: script:mine/defence.yaml}\n"
    material = read_material(write(folder, text))
    player = material.stagings[0].fixed["defence"]
    assert player is not None
    assert (player.written, Path(player.spec.name)) == ("script:mine/defence.yaml", folder / "mine" / "defence.yaml")


def test_case_without_a_script_needs_another_defence(tmp_path: Path) -> None:
    shipped = Path(__file__).parents[1] / "src" / "dramaturg" / "content" / "cases" / "summit-ridge.yaml"
    case = shipped.read_text(encoding="utf-8").replace("id: summit-ridge", "id: mine")
    (tmp_path / "case.yaml").write_text(case, encoding="utf-8")
    said = refusal(tmp_path, LEAST.replace("[summit-ridge]", "[case.yaml]") + "cast: {defence: script}\n")
    assert said == "study.yaml:4: the case 'mine' has no script for the defence; give cast: defence: script:FILE"


def test_variant_of_prompts_replaces_shipped_ones(tmp_path: Path) -> None:
    rules = tmp_path / "mine" / "court-rules.txt"
    rules.parent.mkdir()
    shipped = Path(__file__).parents[1] / "src" / "dramaturg" / "content" / "prompts" / "en" / "court-rules.txt"
    rules.write_text(shipped.read_text(encoding="utf-8") + "\nBe brief.\n", encoding="utf-8")
    material = read_material(write(tmp_path, LEAST + "prompts: [default, mine]\n"))
    assert [variant.name for variant in material.variants] == ["default", "mine"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "court-rulse.txt",
            "{# variables: #}\nx\n",
            "'court-rulse' is no prompt of a performance (did you mean 'court-rules'?",
        ),
        ("court-rules.txt", "{# variables: trnscript #}\n{{trnscript}}\n", "has the variables ['trnscript']"),
        ("judge-system.txt", "{# variables: #}\nx\n", "'judge-system' is no prompt of a performance"),
        ("court-rules.txt", "no head\n", "the first line declares no variables"),
        ("notes.md", "", "holds no prompt"),
    ],
)
def test_wrong_variant_of_prompts_is_refused_before_any_call(tmp_path: Path, name: str, text: str, said: str) -> None:
    """C14, FW-10: an unfilled or unknown placeholder is an error at load."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / name).write_text(text, encoding="utf-8")
    assert said in refusal(tmp_path, LEAST + "prompts: [mine]\n")


def test_study_that_is_not_utf8_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_bytes(b"study: caf\xe9\n")
    with pytest.raises(UserError, match=r"study\.yaml:1: byte 0xe9 is not UTF-8"):
        read_material(tmp_path / "study.yaml")


@pytest.mark.parametrize("text", ["", "[1, 2]\n", "study: [\n", "just text\n"])
def test_file_that_is_no_study_is_refused(tmp_path: Path, text: str) -> None:
    assert "study.yaml" in refusal(tmp_path, text)


def test_schema_of_a_study_allows_what_the_file_allows() -> None:
    schema = Study.model_json_schema()
    assert {"study", "subjects", "cases"} == set(schema["required"])
    subjects = schema["properties"]["subjects"]["items"]
    assert {"type": "string"} in subjects["anyOf"]


def test_a_snapshot_holds_the_judges_prompts_in_the_language_of_each_checklist(tmp_path: Path) -> None:
    judges = "judges: [{model: openai:gpt-5, checklist: court-it}]\n"
    entries = snapshot_of(read_material(write(tmp_path, LEAST + judges))).entries
    kept = {name for name in entries if name.endswith("/judge-single")}
    assert kept == {"prompts/default/en/judge-single", "prompts/default/it/judge-single"}
    assert not any(name.startswith("prompts/default/it/court-") for name in entries)
