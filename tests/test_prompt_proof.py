"""Every prompt of a procedure can be filled where it is used; where one cannot, it is told before anybody plays."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

import court_fixtures
from dramaturg.cli.main import app
from dramaturg.errors import ContentError
from dramaturg.files import shipped
from dramaturg.stage.court import Procedure, load_procedure
from dramaturg.stage.court.engine import Engine, bounds
from dramaturg.stage.court.notes import names_in_notes, note_values
from dramaturg.stage.court.prompt_proof import prompt_problems
from dramaturg.stage.court.proof import problems
from dramaturg.stage.court.record import PRIVATE_NAMES, private_values

PAGE = Path(__file__).parents[1] / "docs" / "write-a-procedure.md"
Data = dict[str, Any]


def intake() -> Data:
    """Returns the clinical intake of the page on procedures: all its own prompts are inline."""
    found = re.search(r"```yaml\n(id: intake\n.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return yaml.safe_load(found[1])


def told(data: Data) -> tuple[str, ...]:
    """Returns what is wrong with a procedure's prompts."""
    procedure = Procedure.model_validate(data)
    assert problems(procedure) == ()
    return prompt_problems(procedure)


def with_text(name: str, text: str, language: str = "en") -> Data:
    """Returns the intake with one text written anew."""
    data = intake()
    data["texts"].setdefault(language, {})[name] = text
    return data


def without_text(*names: str) -> Data:
    data = intake()
    for name in names:
        del data["texts"]["en"][name]
    return data


@pytest.mark.parametrize("name", sorted(shipped("procedures")))
def test_every_prompt_of_a_shipped_procedure_can_be_filled(name: str):
    assert prompt_problems(load_procedure(name)) == ()


def test_the_procedure_of_the_page_is_sound():
    assert told(intake()) == ()


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("clinic-patient", "You are {{name}}. {{exhibits}}", "prompt 'clinic-patient' names 'exhibits'"),
        (
            "clinic-note-question",
            "Ask {{pateint}}.",
            "prompt 'clinic-note-question' of state 'question' names 'pateint'",
        ),
        ("clinic-fallback-concern", "{{doctor}}, I am unwell.", "of state 'concern' names 'doctor'"),
        ("clinic-fallback-verdict-gaps", "{{name}} leaves gaps.", "(allowed: no variable)"),
        ("clinic-rules", "You are {{name}}, {{seed}}. {{manner}}", "prompt 'clinic-rules' names 'manner'"),
        ("clinic-verdict", "{{summary}} {{dialogue}}", "prompt 'clinic-verdict' names 'dialogue'"),
        ("clinic-verdict", "Decide.", "prompt 'clinic-verdict' must name {{summary}}"),
        ("clinic-verdict-form", "Decide as JSON.", "prompt 'clinic-verdict-form' must name {{outcomes}}"),
        ("clinic-tag-verdict", "End with a tag.", "prompt 'clinic-tag-verdict' must name {{tags}}"),
        ("clinic-summary", "Sum it up.", "prompt 'clinic-summary' must name {{dialogue}}"),
        ("clinic-route", "Who is meant? {{text}}", "prompt 'clinic-route' must name {{names}}"),
        ("clinic-patient", "You are {{Name}}.", "unknown variable 'Name'"),
        ("clinic-patient", "You are {{the name}}.", "unknown variable '{{the name}}'"),
        ("clinic-fallback-concern", "  ", "prompt 'clinic-fallback-concern' in en is blank"),
    ],
)
def test_a_prompt_that_cannot_be_filled_is_named_with_its_variable(name: str, text: str, says: str):
    (problem,) = [line for line in told(with_text(name, text)) if says in line]
    assert name in problem


def test_what_a_prompt_may_name_is_listed():
    (problem,) = told(with_text("clinic-note-concern", "{{patent}}"))
    assert problem == (
        "prompt 'clinic-note-concern' of state 'concern' names 'patent', which there is not "
        "(allowed: asker, clinician, kind, matter, name, patient, requested, reviewer, title)"
    )


def test_a_note_names_no_number_where_nothing_is_counted():
    """ "You have {{count}} left" would be "You have  left" where the turn takes from no budget."""
    (problem,) = told(with_text("clinic-note-concern", "You have {{count}} left."))
    assert "names 'count'" in problem


def test_every_language_is_looked_at():
    (problem,) = told(with_text("clinic-patient", "Sei {{nome}}.", "it"))
    assert "names 'nome'" in problem


def test_a_line_of_the_court_that_names_a_role_which_there_is_not_is_told_with_what_to_write():
    (problem,) = told(without_text("clinic-fallback-introduction"))
    assert "'court-fallback-introduction' of state 'welcome' names 'prosecutor'" in problem
    assert problem.endswith("write clinic-fallback-introduction under texts)")


def test_all_that_is_missing_is_told_at_once():
    found = told(without_text("clinic-patient", "clinic-reviewer", "clinic-note-concern"))
    assert [line.split("(")[0].strip() for line in found] == [
        "procedure 'intake' has no prompt clinic-patient",
        "procedure 'intake' has no prompt clinic-reviewer",
        "state 'concern' has the note 'clinic-note-concern', which there is not",
    ]


@pytest.mark.parametrize("name", ["clinic-summray", "open-record"])
def test_a_text_that_nothing_uses_is_told(name: str):
    (problem,) = told(with_text(name, "x"))
    assert problem.startswith(f"texts.en.{name} is used by nothing")


def test_such_a_procedure_is_refused_by_check_and_by_load(tmp_path: Path):
    path = tmp_path / "intake.yaml"
    path.write_text(json.dumps(with_text("clinic-note-question", "Ask {{pateint}}.")), encoding="utf-8")
    result = CliRunner().invoke(app, ["court", "procedure", "check", str(path)])
    assert result.exit_code == 1
    assert "names 'pateint'" in result.output
    with pytest.raises(ContentError, match="names 'pateint'"):
        load_procedure(str(path))


@pytest.mark.parametrize("name", ["trial", "hearing"])
def test_what_notes_may_name_is_what_they_are_filled_from(name: str):
    setting = court_fixtures.setting(procedure=name)
    position = setting.engine.begin()
    state = setting.engine.state(position)
    role = setting.role(setting.engine.speaker(position))
    filled = note_values(setting, state, role, position, (), ()).keys()
    every = frozenset[str]().union(*(names_in_notes(setting.procedure, one) for one in setting.procedure.states))
    assert every == filled


def test_what_roles_may_name_is_what_they_are_filled_from():
    setting = court_fixtures.setting()
    assert {*private_values(setting.case, setting.people.roles[0])} == PRIVATE_NAMES


def test_a_procedure_whose_shortest_way_is_longer_than_its_limit_is_refused():
    data = intake()
    data["turn_limit"] = 2
    assert problems(Procedure.model_validate(data)) == (
        "turn_limit 2 is too low: the shortest way to the end takes 3 turns",
    )


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("procedure", "role 'procedure' cannot be: records name something else so"),
        ("analyst", "role 'analyst' cannot be: records name something else so"),
        ("asker", "role 'asker' cannot be: {{asker}} in a note is something else"),
    ],
)
def test_a_role_has_no_name_that_means_something_else(kind: str, says: str):
    data = intake()
    data["roles"][kind] = data["roles"].pop("reviewer")
    data["states"][-1]["speaker"] = kind
    data["texts"]["en"][f"clinic-{kind}"] = data["texts"]["en"].pop("clinic-reviewer")
    procedure = Procedure.model_validate(data)
    assert (problems(procedure) or prompt_problems(procedure)) == (says,)


def test_what_a_long_procedure_costs_can_be_told():
    data = intake()
    line, *_, review = data["states"]
    lines = [{**line, "id": f"line-{n}", "then": [{"event": "spoken", "to": f"line-{n + 1}"}]} for n in range(499)]
    lines[-1] |= {"then": [{"event": "spoken", "to": "review"}]}
    procedure = Procedure.model_validate(data | {"states": [*lines, review], "start": "line-0", "turn_limit": 500})
    engine = Engine(procedure, {kind: (kind,) for kind in procedure.roles}, questions=3)
    assert bounds(engine, lambda _: (1, 2)) == (500, 1000)


def test_a_note_of_the_deciding_state_is_refused():
    data = copy.deepcopy(intake())
    data["states"][-1]["note"] = "clinic-note-concern"
    assert problems(Procedure.model_validate(data)) == (
        "state 'review' decides by the prompt verdict, and its note would be told to nobody",
    )
