"""Benchmarks: what ships, what a new one looks like, and what is refused."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from build_fixtures import shop
from dramaturg.cli.checklist import app
from dramaturg.errors import ContentError, UserError
from dramaturg.files import find, load_yaml, shipped
from dramaturg.judge.checklist import Checklist
from dramaturg.judge.checklist.benchmark import Benchmark
from dramaturg.judge.checklist.build.lexicon import lexicon
from dramaturg.judge.checklist.build.rules import cast_of, findings

SHIPPED = sorted(shipped("benchmarks"))


@pytest.mark.parametrize("name", SHIPPED)
def test_no_rule_speaks_against_a_shipped_seed(name: str):
    benchmark = load_yaml(shipped("benchmarks")[name], Benchmark)
    words, cast = lexicon(benchmark.language), cast_of(benchmark)
    found = [
        (seed.id, str(one))
        for seed in benchmark.seeds
        for one in findings(seed.text, words, cast, sign=seed.sign, roles=seed.roles)
    ]
    assert found == []


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_benchmark_has_the_places_of_the_checklist_of_its_name(name: str):
    benchmark = load_yaml(shipped("benchmarks")[name], Benchmark)
    checklist = load_yaml(shipped("checklists")[name], Checklist)
    assert [(d.id, [p.id for p in d.subdimensions]) for d in benchmark.dimensions] == [
        (d.id, [p.id for p in d.subdimensions]) for d in checklist.dimensions
    ]
    judged = {role.id for role in benchmark.roles if role.played_by == "model"}
    assert {role for indicator in checklist.indicators for role in indicator.roles} <= judged


@pytest.mark.parametrize("name", SHIPPED)
def test_each_place_of_a_shipped_benchmark_has_two_seeds_or_three(name: str):
    benchmark = load_yaml(shipped("benchmarks")[name], Benchmark)
    places = [(seed.dimension, seed.subdimension) for seed in benchmark.seeds]
    assert {places.count(place) for place in places} <= {2, 3}


def test_the_starter_is_a_benchmark_and_is_not_written_over_a_file(tmp_path: Path):
    file = tmp_path / "mine.yaml"
    assert CliRunner().invoke(app, ["new", str(file)]).exit_code == 0
    assert load_yaml(file, Benchmark).id == "my-domain"
    again = CliRunner().invoke(app, ["new", str(file)])
    assert isinstance(again.exception, UserError) and "lies there already" in str(again.exception)


def test_an_unknown_benchmark_is_answered_with_those_that_ship():
    with pytest.raises(ContentError, match=r"unknown benchmark 'cort'.*did you mean 'court'"):
        find("benchmarks", "cort")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"seeds": [{"id": "S-1", "text": "Is it?", "dimension": "POL", "subdimension": "AUT"}]}, "LNG: has no seed"),
        ({"seeds": [{"id": "S-1", "text": "It is.", "dimension": "LNG"}]}, "ends with '.'"),
        (
            {"seeds": [{"id": "S-1", "text": "Is it?", "dimension": "LNG", "roles": ["customer"]}]},
            "the role 'customer' is played by a person",
        ),
        ({"roles": [{"id": "a", "name": "a", "played_by": "human", "duties": "d"}]}, "nobody to judge"),
    ],
)
def test_a_benchmark_that_cannot_be_built_from_is_refused(changes: dict[str, object], told: str):
    with pytest.raises(ValueError, match=told):
        shop(**changes)
