"""Importing: plain chat logs become transcripts that are judged like any other, and nothing is lost unsaid."""

from __future__ import annotations

import json
import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from dramaturg.cli.importing import import_chats
from dramaturg.errors import ContentError, UserError
from dramaturg.files import load_yaml, read_jsonl, shipped
from dramaturg.judge.checklist import Checklist, score_transcript
from dramaturg.stage.importing import RoleMap, Settings, load_roles, parse_role, read_log, to_transcripts
from dramaturg.stage.transcript import Transcript
from judging_fixtures import answer, judged

DATA = Path("/work/shared/data")
AGENT = ("Dana=agent", "Bob=customer:human")

app = typer.Typer(pretty_exceptions_enable=False)
app.command()(import_chats)


def roles(*texts: str) -> RoleMap:
    return RoleMap(map(parse_role, texts))


def imported(
    folder: Path, text: str | bytes, *who: str, name: str = "chat.txt", form: Any = None
) -> tuple[list[Transcript], dict[str, int]]:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    people = roles(*who)
    found, notes = to_transcripts([read_log(path, people, form)], people, Settings())
    return [one.transcript for one in found], notes


def one(folder: Path, text: str | bytes, *who: str, **more: Any) -> Transcript:
    found, _ = imported(folder, text, *who, **more)
    assert len(found) == 1
    return found[0]


def said(transcript: Transcript) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in transcript.turns]


def command(*arguments: str | Path) -> Any:
    return CliRunner().invoke(app, [str(part) for part in arguments])


# Logs of lines


@pytest.mark.parametrize(
    "text",
    [
        "Dana: Good morning.\nHow may I help?\n\nBob: It leaks.\n",
        "[10:02] Dana: Good morning.\nHow may I help?\n[10:03] Bob: It leaks.\n",
        "12/03/2024, 10:02 - Dana: Good morning.\nHow may I help?\n12/03/2024, 10:03 - Bob: It leaks.\n",
        "[12/03/24, 10:02:15] Dana: Good morning.\nHow may I help?\n\u200e[12/03/24, 10:03:01] Bob: It leaks.",
        "12.03.24, 10:02 AM - Dana: Good morning.\nHow may I help?\n12.03.24, 10:03\u202fPM - Bob: It leaks.",
        "2024-03-12T10:02:15Z Dana: Good morning.\nHow may I help?\n2024-03-12 10:03 Bob: It leaks.",
        "**Dana:** Good morning.\nHow may I help?\n\n**Bob**: It leaks.",
        "- **Dana (agent):** Good morning.\n  How may I help?\n- **Bob** (customer): It leaks.",
        "Dana (agent): Good morning.\nHow may I help?\nBob (10:03): It leaks.",
        "### Dana:\nGood morning.\nHow may I help?\n\n### Bob:\nIt leaks.",
        "> DANA: Good morning.\n> How may I help?\n> bob: It leaks.",
        "Dana：Good morning.\nHow may I help?\nBob： It leaks.",
    ],
)
def test_turns_begin_with_a_name_and_go_on_until_the_next(tmp_path: Path, text: str):
    found = one(tmp_path, text, *AGENT)
    assert [turn.role for turn in found.turns] == ["agent", "customer"]
    words = [" ".join(turn.text.replace(">", " ").split()) for turn in found.turns]
    assert words == ["Good morning. How may I help?", "It leaks."]
    assert [turn.human for turn in found.turns] == [False, True]
    assert found.judged_turns() == found.turns[:1]
    assert (found.suite, found.end_reason) == ("imported", "imported")


def test_a_name_with_a_title_and_several_words_is_a_speaker(tmp_path: Path):
    text = "Dr. Ludwig van Hoek (witness): I saw it.\nMary-Ann O'Neil: And then?\n张三：是的。"
    found = one(tmp_path, text, "witness=witness", "Mary-Ann O'Neil=prosecutor", "张三=judge")
    assert [(turn.role, turn.speaker) for turn in found.turns] == [
        ("witness", "Dr. Ludwig van Hoek"),
        ("prosecutor", "Mary-Ann O'Neil"),
        ("judge", "张三"),
    ]


def test_prose_times_and_addresses_are_no_speakers(tmp_path: Path):
    text = (
        "Dana: see https://shop.example/a: it says so.\nhttps://shop.example/b\nHe said to me: come at\n10:30: late.\n"
        '{"a": 1}\nBob: ok'
    )
    found = one(tmp_path, text, *AGENT)
    assert [turn.speaker for turn in found.turns] == ["Dana", "Bob"]
    assert found.turns[0].text.endswith('10:30: late.\n{"a": 1}')


def test_what_looks_like_a_speaker_is_never_taken_for_text_unasked(tmp_path: Path):
    text = "Dana: Two things.\nNote: bring the receipt.\nBob: Yes."
    with pytest.raises(UserError) as raised:
        imported(tmp_path, text, *AGENT)
    assert "'Note' (messages: 1, first: chat, line 2)" in str(raised.value)
    assert "text where nobody plays it" in str(raised.value)
    found, notes = imported(tmp_path, text, *AGENT, "Note=text")
    assert said(found[0]) == [("Dana", "Two things.\nNote: bring the receipt."), ("Bob", "Yes.")]
    assert notes == {"lines that look like a speaker's are text, as --role says": 1}


@pytest.mark.parametrize(
    "name",
    [
        "Bob 🎩",
        "👩\u200d🍳 Ana",
        "🎩",
        "Zoe\u0308",
        "राम",
        "हरि राम",
        "สมชาย ใจดี",
        "מֹשֶׁה",
        "@bob",
        "\u2068Bob\u2069",
        "Müller-Lüdenscheidt",
        "José\u200b",
    ],
)
def test_names_of_any_script_and_with_pictures_are_speakers(tmp_path: Path, name: str):
    """A line that is missed would put what one said into the turn of another."""
    found = one(tmp_path, f"Dana: Hello.\n{name}: Hi.\nDana: Bye.", "Dana=agent:model", "*=customer:human")
    assert [turn.text for turn in found.turns] == ["Hello.", "Hi.", "Bye."]


def test_lines_of_nobody_become_notes_and_are_counted(tmp_path: Path):
    text = "Chat of 3 May\nwith the shop\nDana: Hello.\nBob: Hi."
    found, notes = imported(tmp_path, text, *AGENT)
    assert (found[0].turns[0].kind, found[0].turns[0].text) == ("procedure", "Chat of 3 May\nwith the shop")
    assert notes == {"lines before the first speaker became a note of the procedure": 2}
    text = "12/03/2024, 10:01 - Messages are encrypted.\n12/03/2024, 10:02 - Dana: Hi.\n12/03/2024, 10:03 - Bob: Ho."
    found, notes = imported(tmp_path, text, *AGENT)
    assert [turn.kind for turn in found[0].turns] == ["procedure", "speech", "speech"]
    assert notes == {"lines with a time and no speaker became notes of the procedure": 1}


def test_in_a_log_with_times_only_they_begin_a_turn(tmp_path: Path):
    text = "[10:02] Dana: Two things.\nFirst: the form.\n[10:03] Bob: Yes.\nDana: and now"
    found = one(tmp_path, text, *AGENT)
    assert said(found) == [("Dana", "Two things.\nFirst: the form."), ("Bob", "Yes."), ("Dana", "and now")]


def test_an_empty_turn_stays_a_turn(tmp_path: Path):
    assert said(one(tmp_path, "Dana:\nBob: Well?", *AGENT)) == [("Dana", ""), ("Bob", "Well?")]


NAMES = st.sampled_from(["Dana", "Bob"])
WORDS = st.text(string.ascii_letters + string.digits + " .,!?éß语。\t'\"<>*[]()", max_size=60)


@given(st.lists(st.tuples(NAMES, WORDS), min_size=1, max_size=8))
def test_every_word_of_a_log_is_in_its_transcript(tmp_path_factory: pytest.TempPathFactory, turns: Any):
    text = "\n".join(f"{name}: {words}" for name, words in turns)
    found = one(tmp_path_factory.mktemp("log"), text, "Dana=agent:human", "Bob=customer:human")
    assert said(found) == [(name, words.strip()) for name, words in turns]


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_in_one_way(tmp_path_factory: pytest.TempPathFactory, text: str):
    try:
        imported(tmp_path_factory.mktemp("log"), text.encode("utf-8", "replace"), "*=agent")
    except UserError as refused:
        assert str(refused)


KEYS = st.sampled_from(["role", "content", "from", "value", "messages", "conversations", "mes", "name", "tool_calls"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(VALUES, min_size=1, max_size=3), st.sampled_from([None, "openai", "sharegpt", "jsonl", "sillytavern"]))
def test_any_json_is_read_or_refused_in_one_way(
    tmp_path_factory: pytest.TempPathFactory, values: list[object], form: str | None
):
    text = "\n".join(map(json.dumps, values))
    try:
        imported(tmp_path_factory.mktemp("log"), text, "*=agent", name="chat.jsonl", form=form)
    except UserError as refused:
        assert str(refused)


# JSON, SillyTavern, tables

OPENAI = [
    {"role": "system", "content": "You are Dana."},
    {"role": "assistant", "content": [{"type": "text", "text": "Hello."}, {"type": "image_url", "image_url": {}}]},
    {"role": "user", "content": "It leaks."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"type": "function", "function": {"name": "find", "arguments": '{"id":4}'}}],
    },
    {"role": "tool", "content": "shipped"},
    {"role": "assistant", "content": None, "refusal": "I cannot."},
]


@pytest.mark.parametrize("text", [json.dumps(OPENAI), json.dumps({"messages": OPENAI}, indent=1)])
def test_openai_messages_are_read(tmp_path: Path, text: str):
    found, notes = imported(tmp_path, text, "assistant=agent", "user=customer", name="chat.json")
    assert found[0].versions == {"import": "openai"}
    assert [(turn.kind, turn.role, turn.text) for turn in found[0].turns] == [
        ("procedure", "procedure", "You are Dana."),
        ("speech", "agent", "Hello."),
        ("speech", "customer", "It leaks."),
        ("action", "agent", 'find({"id":4})'),
        ("procedure", "procedure", "shipped"),
        ("speech", "agent", "I cannot."),
    ]
    assert {role: player.kind for role, player in found[0].cast.items()} == {"agent": "model", "customer": "human"}
    assert found[0].turns[1].flags == ("import:left_out:image_url",)
    assert notes["parts of messages that are no text were left out (image_url)"] == 1
    assert notes["messages of nobody's, such as those of the system, became notes of the procedure"] == 2


def test_one_conversation_a_line_gives_one_transcript_each(tmp_path: Path):
    lines = [{"messages": OPENAI[1:3]}, {"messages": []}, {"messages": [OPENAI[2]]}, {"messages": [OPENAI[2]]}]
    text = "\r\n".join(map(json.dumps, lines))
    found, notes = imported(tmp_path, text, "assistant=agent", "*=customer", name="chats.jsonl")
    assert [len(transcript.turns) for transcript in found] == [2, 1, 1]
    assert len({transcript.id for transcript in found}) == 3
    assert notes["conversations without a message were left out"] == 1
    assert notes["conversations are the same as an earlier one; their ids end in a number"] == 1


def test_sharegpt_is_read(tmp_path: Path):
    text = json.dumps(
        [{"id": "1", "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Ho"}]}]
    )
    found = one(tmp_path, text, "human=customer", "gpt=agent", name="share.json")
    assert found.versions == {"import": "sharegpt"}
    assert [(turn.role, turn.human, turn.text) for turn in found.turns] == [
        ("customer", True, "Hi"),
        ("agent", False, "Ho"),
    ]


def test_messages_with_other_keys_one_a_line_are_one_conversation(tmp_path: Path):
    text = '{"speaker": "Dana", "text": "Hi", "time": 3}\n{"speaker": "Bob", "text": "Ho"}\n'
    found = one(tmp_path, text, *AGENT, name="chat.jsonl")
    assert (found.versions, said(found)) == ({"import": "jsonl"}, [("Dana", "Hi"), ("Bob", "Ho")])


def test_sillytavern_is_read(tmp_path: Path):
    lines = [
        {"user_name": "Bob", "character_name": "Dana", "create_date": "2024", "chat_metadata": {}},
        {"name": "Dana", "is_user": False, "is_system": False, "mes": "*nods* Hello.", "swipes": ["a", "b", "c"]},
        {"name": "Bob", "is_user": True, "mes": "It leaks."},
        {"name": "Note", "is_system": True, "mes": "hidden"},
    ]
    found, notes = imported(tmp_path, "\n".join(map(json.dumps, lines)), "Dana=agent", "Bob=customer", name="s.jsonl")
    assert found[0].versions == {"import": "sillytavern"}
    assert [(turn.kind, turn.human) for turn in found[0].turns] == [
        ("speech", False),
        ("speech", True),
        ("procedure", False),
    ]
    assert notes["other drafts of a message were left out"] == 2


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_tables_are_read(tmp_path: Path, delimiter: str):
    rows = [["Speaker", "Text", "Conversation"], ["Dana", '"Hi,\nBob"', "a"], ["Bob", "Ho", "b"]]
    found, _ = imported(tmp_path, "\n".join(map(delimiter.join, rows)), *AGENT, name="t.csv")
    assert [said(transcript) for transcript in found] == [[("Dana", "Hi,\nBob")], [("Bob", "Ho")]]
    assert found[0].scenario.id != found[1].scenario.id


# What is refused, and how


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.txt", "Dana: hi".encode("utf-16"), "is UTF-16 or no text at all (save the file as UTF-8)"),
        ("a.txt", "Dana: hi".encode("utf-16-le"), "is UTF-16 or no text at all"),
        ("a.txt", b"Dana: hi\nBob: \xff\n", ":2: byte 0xff is not UTF-8"),
        ("a.txt", b" \n\n", "is empty"),
        ("a.txt", b"no one speaks here\n", "has none of the shapes"),
        ("a.json", b'{"title": "x", "scenes": []}', "holds no chat, only the keys title, scenes"),
        ("a.json", b'{"format": "dramaturg-transcript/1", "turns": []}', "it is a transcript already"),
        ("a.json", b'[{"role": "user", "content": 3}]', "message 1: the content is the value 3"),
        (
            "a.json",
            b'[{"role": "user", "content": "a"}, {"role": "user"}]',
            "message 2: no message has only the keys role",
        ),
        ("a.json", b'[{"role": "user",\n "content": ]', ":2: is no JSON"),
        ("a.json", b"[" * 100_000, "is nested too deeply"),
        ("a.jsonl", b'{"messages": [{"role": "user", "content": "a"}]}\n{"messages"', ":2: is no JSON"),
        ("a.json", b"[]", "holds no message"),
        ("a.csv", b"speaker,text\nDana,hi,there\n", ":2: the row has 3 values, the first row 2"),
        ("a.csv", b'speaker,text\nDana,"hi\n', "is no table"),
    ],
)
def test_a_file_that_is_no_chat_gets_one_clear_line(tmp_path: Path, name: str, content: bytes, says: str):
    with pytest.raises(ContentError) as raised:
        imported(tmp_path, content, "*=agent", name=name)
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)
    assert str(tmp_path / name) in str(raised.value)


def test_speakers_without_a_role_are_listed_with_the_option_to_give(tmp_path: Path):
    with pytest.raises(UserError) as raised:
        imported(tmp_path, "Dana: a\nBob: b\nDana: c\n", "Carl=agent")
    assert (
        "no role is given for 'Dana' (messages: 2, first: chat, line 1), 'Bob' (messages: 1, first: chat, line 2)"
        in str(raised.value)
    )
    assert "--role 'Dana=KIND[:model|human|script]'" in str(raised.value)


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("Dana", "'Dana' names no role"),
        ("=agent", "names no role"),
        ("Dana=Agent", "'Agent' is no kind of role"),
        ("Dana=agent:robot", "'robot' cannot play 'agent'"),
        ("Dana=text:model", "'model' cannot play 'text'"),
    ],
)
def test_a_wrong_role_says_what_is_allowed(option: str, says: str):
    with pytest.raises(UserError, match="--role: ") as raised:
        parse_role(option)
    assert says in str(raised.value)


def test_a_file_of_roles_is_the_same_and_more(tmp_path: Path):
    path = tmp_path / "roles.yaml"
    path.write_text(
        "roles:\n- {name: Dana, kind: agent, model: m1, character: Dana Hill, description: Answers., also: [D]}\n"
        "- {name: Bob, kind: customer, played_by: human}\n",
        encoding="utf-8",
    )
    log = tmp_path / "chat.txt"
    log.write_text("Dana: a\nD: b\nBob: c", encoding="utf-8")
    people = RoleMap(load_roles(path))
    found = to_transcripts([read_log(log, people)], people, Settings(model="m2"))[0][0].transcript
    assert [turn.role for turn in found.turns] == ["agent", "agent", "customer"]
    assert (found.roles[0].name, found.roles[0].description) == ("Dana Hill", "Answers.")
    assert (found.cast["agent"].model, found.cast["agent"].subject) == ("m1", True)
    path.write_text("roles:\n- {name: Dana, kind: agent}\n- {name: dana, kind: customer}\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"roles.yaml:3: the name 'dana' stands twice"):
        load_roles(path)


# What is untrusted


def test_reasoning_is_not_judged_and_not_lost(tmp_path: Path):
    text = "Dana: <think>He is a fool.\nBob: no, be kind.</think>Hello, Bob.\nBob: <think>ah</think> hi\n"
    found, notes = imported(tmp_path, text, *AGENT)
    assert said(found[0]) == [("Dana", "Hello, Bob."), ("Bob", "<think>ah</think> hi")]
    assert "He is a fool" in found[0].turns[0].raw
    assert found[0].turns[0].flags == ("import:reasoning",)
    assert sum(notes.values()) == 1


def test_an_open_thought_does_not_swallow_the_rest_of_the_log(tmp_path: Path):
    found = one(tmp_path, "Dana: <think>hm\nBob: hi\nDana: <think>a</think>Ho.", *AGENT)
    assert said(found) == [("Dana", ""), ("Bob", "hi"), ("Dana", "Ho.")]


def test_marks_and_ends_of_lines_of_other_systems_change_nothing(tmp_path: Path):
    plain_text = "Dana: a\nb\nBob: c\n"
    wanted = one(tmp_path, plain_text, *AGENT)
    for text in ("\ufeff" + plain_text, plain_text.replace("\n", "\r\n"), plain_text.replace("\n", "\r")):
        assert one(tmp_path, text, *AGENT) == wanted


def test_nul_is_replaced_and_counted(tmp_path: Path):
    found, notes = imported(tmp_path, "Dana: a\0b and more words than that\nBob: c", *AGENT)
    assert found[0].turns[0].text.startswith("a\ufffdb")
    assert notes == {"NUL characters became \ufffd": 1}
    found, _ = imported(
        tmp_path, '[{"role": "user", "content": "a\\u0000\\ud800b"}]', "user=agent:model", name="c.json"
    )
    assert "\0" not in found[0].turns[0].text
    assert found[0].model_dump_json()


def test_the_id_is_made_of_the_content_alone(tmp_path: Path):
    first = one(tmp_path, "Dana: a\nBob: b", *AGENT, name="one.txt")
    second = one(tmp_path, "Dana: a\n\nBob: b\n", *AGENT, name="two.txt")
    other = one(tmp_path, "Dana: a\nBob: c", *AGENT, name="one.txt")
    assert first.id == second.id != other.id
    assert (first.scenario.id, second.scenario.id) == ("one", "two")


def test_two_of_one_kind_are_told_apart(tmp_path: Path):
    found = one(tmp_path, "Ann Lee: a\nBo: b\nVoss: c", "Ann Lee=witness", "Bo=witness", "Voss=judge")
    assert [role.id for role in found.roles] == ["witness:ann-lee", "witness:bo", "judge"]


def test_files_of_one_name_are_not_repeats_of_one_scenario_unless_it_is_said(tmp_path: Path):
    logs = [tmp_path / folder / "chat.txt" for folder in "ab"]
    for log in logs:
        log.parent.mkdir()
        log.write_text(f"Dana: {log.parent.name}\n", encoding="utf-8")
    people = roles("*=agent")
    for title, wanted in (("", ["chat", "chat-2"]), ("One day", ["one-day", "one-day"])):
        found, _ = to_transcripts([read_log(log, people) for log in logs], people, Settings(title=title))
        assert [item.transcript.scenario.id for item in found] == wanted


def test_long_logs_and_long_lines_are_read(tmp_path: Path):
    text = f"Dana: <think>a</think>{'x' * 200_000}\n" + "more\n" * 50_000 + "Bob: <think>b\n" * 20_000
    found = one(tmp_path, text, *AGENT)
    assert len(found.turns) == 20_001


# The command


def test_the_command_says_what_was_read_and_writes_the_same_bytes_again(tmp_path: Path):
    log, out = tmp_path / "chat.txt", tmp_path / "t.jsonl"
    log.write_text("Dana: Hello.\nBob: It leaks.\n", encoding="utf-8")
    arguments = (
        log,
        "--out",
        out,
        "--role",
        AGENT[0],
        "--role",
        AGENT[1],
        "--model",
        "m",
        "--checklist",
        "customer-service",
    )
    result = command(*arguments)
    assert result.exit_code == 0, result.output
    assert f"{log}: read as prefix (lines that begin with “Name:”); conversations: 1, messages: 2" in result.output
    assert "Dana: agent, played by model (judged); turns: 1" in result.output
    assert "Bob: customer, played by human (context); turns: 1" in result.output
    written = out.read_bytes()
    again = json.loads(command(*arguments, "--json").output)
    assert out.read_bytes() == written
    assert again["transcripts"][0]["judged"] == 1
    assert [transcript.cast["agent"].model for _, transcript in read_jsonl(out, Transcript)] == ["m"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--role", "*=agnt", "--checklist", "customer-service"), "judges no 'agnt' (did you mean 'agent'?"),
        (("--role", "*=agent:human", "--checklist", "customer-service"), "no model plays a role"),
        (("--role", "*=agent", "--language", "english"), "'english' is no language"),
        (("--role", "*=agent", "--format", "openai"), ":1: is no JSON"),
        (("--role", "*=agent", "--reference", "absent.txt"), "absent.txt: cannot be read"),
    ],
)
def test_a_wrong_option_gets_one_clear_line(tmp_path: Path, arguments: Sequence[str], says: str):
    log = tmp_path / "chat.txt"
    log.write_text("Dana: Hello.\n", encoding="utf-8")
    result = command(log, "--out", tmp_path / "t.jsonl", *arguments)
    assert isinstance(result.exception, UserError)
    assert says in str(result.exception)
    assert not (tmp_path / "t.jsonl").exists()


def test_what_is_read_is_not_overwritten(tmp_path: Path):
    log = tmp_path / "chat.txt"
    log.write_text("Dana: Hello.\n", encoding="utf-8")
    result = command(log, "--out", log, "--role", "*=agent")
    assert "would overwrite" in str(result.exception)
    assert log.read_text(encoding="utf-8") == "Dana: Hello.\n"


# From a plain log to a score, with no stage

SHOP = """\
Chat with Larkspur Kitchen
[10:02] Dana Whitfield (agent): Good morning, how may I help?
[10:03] Robert Hale: My kettle, order LK-40218, leaks.
It ruined a cloth.
[10:04] Dana Whitfield (agent): I am sorry. Under clause 1 we replace it or refund it; which do you prefer?
[10:05] Robert Hale: A new one, please.
[10:06] Dana Whitfield (agent): It leaves our warehouse within 2 working days.
"""
TRIAL = """\
**Judge Voss:** The court is open. The charge is theft. The prosecution has one question.
**Desmond Crane:** The login of E1 came from the home of the accused.

**Yusuf Adeyemi:** My client slept.
**Victor Hale (witness):** I was at home that night.
**Judge Voss:** Not guilty, since E1 may be forged.
"""


@pytest.mark.parametrize(
    ("checklist", "log", "who", "kinds"),
    [
        ("customer-service", SHOP, ("Dana Whitfield=agent", "Robert Hale=customer:human"), {"agent"}),
        (
            "court",
            TRIAL,
            ("Judge Voss=judge", "Desmond Crane=prosecutor", "witness=witness", "Yusuf Adeyemi=defence:script"),
            {"judge", "prosecutor", "witness"},
        ),
    ],
)
async def test_both_domains_are_judged_from_a_plain_log(
    tmp_path: Path, checklist: str, log: str, who: Sequence[str], kinds: set[str]
):
    source, reference, out = tmp_path / "log.txt", tmp_path / "reference.txt", tmp_path / "t.jsonl"
    source.write_text(log, encoding="utf-8")
    reference.write_text(
        "Order LK-40218: one kettle.\nE1 Server log: a login.\nClause 1: replace or refund.", encoding="utf-8"
    )
    options = [part for one_role in who for part in ("--role", one_role)]
    result = command(source, "--out", out, *options, "--reference", reference, "--checklist", checklist)
    assert result.exit_code == 0, result.output
    [(_, transcript)] = read_jsonl(out, Transcript)
    judged_roles = {turn.role for turn in transcript.judged_turns()}
    assert judged_roles == kinds
    by = load_yaml(shipped("checklists")[checklist], Checklist)
    found, requests = await judged(tmp_path, lambda _: answer(evidence=("T1", "T2")), by=by, transcript=transcript)
    assert requests
    assert "known only to" not in requests[0].messages[1].text
    assert {judgement.answer for judgement in found.values()} <= {"yes", "no"}
    scores = score_transcript(transcript, by, list(found.values()))
    assert scores.total.quality.value is not None


# Real data, where it is there


@pytest.mark.skipif(not DATA.is_dir(), reason="the data are not here")
@pytest.mark.parametrize("name", ["case1", "case2", "case4", "case5"])
def test_a_court_case_is_no_chat_but_a_reference(tmp_path: Path, name: str):
    case = DATA / "llm_court" / f"{name}.json"
    with pytest.raises(ContentError, match="conversation 1: holds no chat, only the keys title, playerGoal"):
        read_log(case, roles("*=judge"))
    log, out = tmp_path / "chat.txt", tmp_path / "t.jsonl"
    log.write_text("Voss: Open.\n", encoding="utf-8")
    assert command(log, "--out", out, "--role", "*=judge", "--reference", case).exit_code == 0
    [(_, transcript)] = read_jsonl(out, Transcript)
    assert "playerGoal" in transcript.scenario.reference


@pytest.mark.skipif(not DATA.is_dir(), reason="the data are not here")
@pytest.mark.parametrize("shape", ["prefix", "csv", "jsonl"])
def test_the_dialogues_of_real_scenes_come_through_whole(tmp_path: Path, shape: str):
    """Chinese and dirty rows: names with marks, empty dialogue, dialogue that looks like a speaker's line."""
    for path in sorted((DATA / "characterbox/scenes/public_domain_works").glob("*.json")):
        scenes = json.loads(path.read_text(encoding="utf-8"))["scenes"]
        chats = [[(a["character"], a["dialogue"]) for a in scene["actions"]] for scene in scenes]
        for chat in [chat for chat in chats if any(name.strip() for name, _ in chat)]:
            if shape == "prefix":
                text = "\n".join(f"{name}：{words}" for name, words in chat)
            elif shape == "csv":
                quoted = [['"' + value.replace('"', '""') + '"' for value in row] for row in chat]
                text = "speaker,text\n" + "\n".join(map(",".join, quoted))
            else:
                text = "\n".join(json.dumps({"speaker": name, "text": words}) for name, words in chat)
            found = one(tmp_path, text, "*=character", form=shape)
            assert ["".join(turn.text.split()) for turn in found.turns] == ["".join(words.split()) for _, words in chat]


@pytest.mark.parametrize("again", ["Dana=customer", "DANA =agent", "Dana=agent:model"])
def test_a_name_is_given_one_role_and_no_more(tmp_path: Path, again: str):
    log = tmp_path / "chat.txt"
    log.write_text("Dana: Hello.\nBob: It leaks.\n", encoding="utf-8")
    everyone = ("--role", "*=customer:human")
    result = command(log, "--out", tmp_path / "t.jsonl", "--role", "Dana=agent:model", *everyone, "--role", again)
    assert str(result.exception) == f"--role: 'Dana=agent:model' and {again!r} are about one name (each name once)"
    result = command(log, "--out", tmp_path / "t.jsonl", *everyone, "--role", "*=agent")
    assert "are about one name" in str(result.exception)
    assert not (tmp_path / "t.jsonl").exists()


def test_an_option_counts_before_the_file_of_roles(tmp_path: Path):
    log, people, out = tmp_path / "chat.txt", tmp_path / "roles.yaml", tmp_path / "t.jsonl"
    log.write_text("Dana: Hello.\n", encoding="utf-8")
    people.write_text("roles:\n  - {name: Dana, kind: customer, played_by: human}\n", encoding="utf-8")
    assert command(log, "--out", out, "--roles", people, "--role", "Dana=agent:model").exit_code == 0
    [(_, transcript)] = read_jsonl(out, Transcript)
    assert [role.kind for role in transcript.roles] == ["agent"]


def test_a_folder_is_no_file_for_transcripts(tmp_path: Path):
    log = tmp_path / "chat.txt"
    log.write_text("Dana: Hello.\n", encoding="utf-8")
    result = command(log, "--out", tmp_path, "--role", "Dana=agent")
    assert str(result.exception) == f"--out {tmp_path}: is a folder (a file, such as {tmp_path / 'transcripts.jsonl'})"
