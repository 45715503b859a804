from __future__ import annotations

from pathlib import Path

import pytest

from dramaturg.errors import ContentError
from dramaturg.files import shipped
from dramaturg.model import AnswerSchema, Message, Request, parse_spec
from dramaturg.model.script import ScriptModel, open_script

USER = Message("user", "Nora Quist heard a storm.")


def make(folder: Path, rules: str, name: str = "script.yaml") -> ScriptModel:
    path = folder / name
    path.write_text(f"name: test\nrules:\n{rules}", encoding="utf-8")
    return open_script(parse_spec(f"script:{path}"))


async def say(model: ScriptModel, *messages: Message, seed: int = 0, schema: bool = False, **labels: str) -> str:
    shape = AnswerSchema("answer", {"type": "object"}) if schema else None
    reply = await model.send(Request(messages or (USER,), seed=seed, schema=shape, labels=labels))
    return reply.text if reply.ok else f"!{reply.status}"


async def test_the_first_rule_whose_conditions_all_hold_replies(tmp_path: Path):
    model = make(
        tmp_path,
        "  - {role: judge, phase: verdict, reply: a}\n"
        "  - {role: [judge, witness], turn: '3-5', reply: b}\n"
        "  - {purpose: route, turn: '>=9', reply: c}\n"
        "  - {attempt: 1, reply: d}\n"
        "  - {restart: '<=0', reply: f}\n"
        "  - {reply: e}\n",
    )
    assert await say(model, role="judge", phase="verdict") == "a"
    assert await say(model, role="judge", phase="introduction", turn="4") == "b"
    assert await say(model, role="witness:nora-quist", turn="5") == "b"
    assert await say(model, role="witness", turn="6") == "e"
    assert await say(model, role="judgement", turn="4") == "e"
    assert await say(model, purpose="route", turn="9") == "c"
    assert await say(model, purpose="route", turn="8") == "e"
    assert await say(model, attempt="1") == "d"
    assert await say(model, restart="0") == "f"
    assert await say(model, turn="no number") == "e"


async def test_match_looks_only_at_what_was_said_since_the_own_last_message(tmp_path: Path):
    model = make(tmp_path, "  - {match: storm, reply: new}\n  - {anywhere: storm, reply: old}\n  - {reply: none}\n")
    own = Message("assistant", "I see.")
    assert await say(model, USER) == "new"
    assert await say(model, USER, own, Message("user", "Go on.")) == "old"
    assert await say(model, Message("system", "You like storms."), Message("user", "Go on.")) == "old"
    assert await say(model, Message("user", "Go on.")) == "none"


async def test_a_group_is_filled_in_one_pass(tmp_path: Path):
    model = make(tmp_path, "  - {match: '(?P<who>\\S+) (?P<what>\\S+)', reply: 'So {who} says {what}.'}\n")
    assert await say(model, Message("user", "{what} {who}")) == "So {what} says {who}."


async def test_a_variant_not_yet_said_is_preferred_and_the_seed_picks(tmp_path: Path):
    model = make(tmp_path, "  - {reply: [one, two, three]}\n")
    assert {await say(model, seed=seed) for seed in range(20)} == {"one", "two", "three"}
    assert await say(model, seed=3) == await say(model, seed=3)
    said = (Message("assistant", "one"), Message("assistant", "three"), USER)
    assert {await say(model, *said, seed=seed) for seed in range(9)} == {"two"}


async def test_once_skips_a_rule_whose_reply_stands_already(tmp_path: Path):
    model = make(
        tmp_path,
        "  - {match: '(?P<who>Nora \\w+)', once: true, reply: ['{who}, why?', 'Who is {who}?']}\n  - {reply: x}\n",
    )
    asked = Message("assistant", "Who is\nNora Quist?")
    assert await say(model, USER) in {"Nora Quist, why?", "Who is Nora Quist?"}
    assert await say(model, asked, USER) == "x"


async def test_chance_is_seeded_by_the_request(tmp_path: Path):
    model = make(tmp_path, "  - {chance: 0.5, reply: a}\n  - {reply: b}\n")
    said = [await say(model, seed=seed) for seed in range(200)]
    assert said == [await say(model, seed=seed) for seed in range(200)]
    assert 70 < said.count("a") < 130


async def test_json_is_given_to_a_request_with_a_schema(tmp_path: Path):
    model = make(
        tmp_path,
        "  - {schema: true, match: '(?P<who>Nora)', json: {name: '{who}', n: 3, list: ['{who}', true]}}\n"
        "  - {reply: free}\n",
    )
    assert await say(model, schema=True) == '{"list":["Nora",true],"n":3,"name":"Nora"}'
    assert await say(model) == "free"


@pytest.mark.parametrize(
    ("fault", "status", "failure"),
    [
        ("empty", "empty", ""),
        ("refused", "refused", ""),
        ("truncated", "truncated", ""),
        ("loop", "degenerate", ""),
        ("blanks", "degenerate", ""),
        ("context_overflow", "context_overflow", ""),
        ("failed", "failed", "http"),
        ("malformed", "malformed", "protocol"),
        ("crash", "failed", "crash"),
    ],
)
async def test_a_fault_is_a_status_and_never_raises(tmp_path: Path, fault: str, status: str, failure: str):
    reply = await make(tmp_path, f"  - {{fault: {fault}, reply: Well}}\n").send(Request((USER,)))
    assert (reply.status, reply.failure) == (status, failure)


async def test_no_rule_that_holds_is_a_failure_with_the_labels(tmp_path: Path):
    reply = await make(tmp_path, "  - {role: judge, reply: a}\n").send(Request((USER,), labels={"role": "witness"}))
    assert reply.status == "failed"
    assert "role=witness" in reply.detail


async def test_usage_is_estimated_from_the_text(tmp_path: Path):
    """FW-99: tokens are counted without a download."""
    reply = await make(tmp_path, "  - {reply: '12345678'}\n").send(Request((Message("user", "x" * 40),)))
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (10, 2)


@pytest.mark.parametrize(
    ("rules", "line", "words"),
    [
        ("  - {reply: a}\n  - {rolle: judge, reply: b}\n", 4, "did you mean 'role'"),
        ("  - {match: '(', reply: a}\n", 3, "regular expression"),
        ("  - {turn: soon, reply: a}\n", 3, "allowed: 3, 3-5"),
        ("  - {role: judge}\n", 3, "reply, json, fault"),
        ("  - {match: '(?P<a>x)', reply: 'say {b}'}\n", 3, "{b}"),
        ("  - {fault: nonsense}\n", 3, "fault"),
        ("  - {chance: 2, reply: a}\n", 3, "chance"),
        ("  - {reply: a, json: {b: 1}}\n", 3, "json stands alone"),
        ("  []\n", 2, "rules"),
    ],
)
def test_a_wrong_script_is_an_error_with_its_line(tmp_path: Path, rules: str, line: int, words: str):
    with pytest.raises(ContentError) as caught:
        make(tmp_path, rules)
    assert f":{line}: " in str(caught.value)
    assert words in str(caught.value)


def test_an_unknown_script_is_an_error_that_lists_what_ships():
    with pytest.raises(ContentError, match="court-steady"):
        open_script(parse_spec("script:court-stedy"))


def test_all_shipped_scripts_load():
    assert "court-steady" in shipped("scripts")
    for name in shipped("scripts"):
        assert open_script(parse_spec(f"script:{name}")).identity.name == name


async def test_a_python_script_is_a_function_of_the_request(tmp_path: Path):
    path = tmp_path / "own.py"
    path.write_text("def reply(request):\n    return request.messages[-1].text.upper()\n", encoding="utf-8")
    model = open_script(parse_spec(f"script:{path}"))
    assert await say(model) == "NORA QUIST HEARD A STORM."
    assert model.identity.provider == "script"


async def test_a_python_script_that_raises_is_a_failed_call(tmp_path: Path):
    path = tmp_path / "own.py"
    path.write_text("def reply(request):\n    return 1 / 0\n", encoding="utf-8")
    reply = await open_script(parse_spec(f"script:{path}")).send(Request((USER,)))
    assert (reply.status, reply.failure) == ("failed", "crash")
    assert "ZeroDivisionError" in reply.detail


@pytest.mark.parametrize(("source", "words"), [("x = (", "cannot be run"), ("x = 1\n", "no function reply")])
def test_a_wrong_python_script_is_an_error(tmp_path: Path, source: str, words: str):
    path = tmp_path / "own.py"
    path.write_text(source, encoding="utf-8")
    with pytest.raises(ContentError, match=words):
        open_script(parse_spec(f"script:{path}"))


def test_the_identity_changes_with_the_content(tmp_path: Path):
    one = make(tmp_path, "  - {reply: a}\n", "a.yaml")
    other = make(tmp_path, "  - {reply: b}\n", "b.yaml")
    assert one.identity.key != other.identity.key
