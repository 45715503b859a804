"""Where a role's prompt stands: before the history of its own chat, or behind the history that all roles share."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from court_fixtures import CASE, PassingOn, script, spoken
from dramaturg.ledger import Ledger
from dramaturg.model import Message, Model, OnText, Reply, Request
from dramaturg.stage import Transcript
from dramaturg.stage.cast import Cast, ModelSeat, Seat
from dramaturg.stage.court import Protocol, StagingOptions, TrialLimits, play_trial
from dramaturg.stage.court.staging import DEFAULT_STAGING
from dramaturg.stage.court.view import KEPT_FIRST, KEPT_LAST, more_left_out, without_middle
from dramaturg.stage.transcript import Turn

LAST = StagingOptions(layout="role-last")
KINDS = ("judge", "prosecutor", "witness", "defence")


class Room(PassingOn):
    """A script that remembers what it was asked, and does not take more than so many characters."""

    def __init__(self, inner: Model, most: int = 10**9) -> None:
        super().__init__(inner)
        self.most = most
        self.asked: list[Request] = []

    async def send(self, request: Request, on_text: OnText | None = None) -> Reply:
        self.asked.append(request)
        if sum(len(message.text) for message in request.messages) > self.most:
            return Reply("context_overflow", detail="the prompt does not fit")
        return await self.inner.send(request, on_text)


def talker(tmp_path: Path) -> Model:
    """Returns a script that says something new in every turn."""
    path = tmp_path / "talker.py"
    path.write_text(
        "import json, random, re\n"
        "def reply(request):\n"
        "    rng = random.Random(request.seed)\n"
        "    purpose = request.labels.get('purpose')\n"
        "    if request.schema is not None and purpose == 'verdict':\n"
        "        return json.dumps({'announcement': 'It is not proved.', 'outcome': 'undecided'})\n"
        "    said = ' '.join(rng.choices('gate key night horse door stable light road'.split(), k=12)).capitalize()\n"
        "    note = request.messages[-1].text.rsplit('\\n\\n', 1)[-1]\n"
        "    who = re.search(r'You may address: ([^;.]+)', note)\n"
        "    said = f'{who[1]}, {said}' if who else said\n"
        "    count = re.search(r'from \\d+ to (\\d+)', note)\n"
        "    return f'{said}. I name {count[1]} questions.' if count else said + '.'\n",
        encoding="utf-8",
    )
    return script(str(path))


async def play(
    folder: Path, model: Model, staging: StagingOptions, protocol: Protocol = "guarded", questions: int = 3
) -> Transcript:
    seats: dict[str, Seat] = dict.fromkeys(KINDS, ModelSeat(model, subject=True))
    folder.mkdir(exist_ok=True)
    with Ledger.open(folder / "ledger.db") as ledger:
        return await play_trial(
            CASE,
            cast=Cast(seats, analyst=None),
            calls=ledger.calls(unit="u", seed=1),
            seed=1,
            protocol=protocol,
            limits=TrialLimits(questions=questions, restarts=0),
            staging=staging,
        )


def speeches(room: Room) -> list[Request]:
    return [request for request in room.asked if request.labels["purpose"] not in {"summary", "verdict"}]


async def test_in_role_last_all_chats_begin_alike_up_to_what_was_said_last(tmp_path: Path):
    room = Room(talker(tmp_path))
    transcript = await play(tmp_path, room, LAST)
    assert transcript.end_reason in {"completed", "undecided"}
    asked = speeches(room)
    assert len({request.messages[0] for request in asked}) == 1, "one record for all roles"
    assert all([message.role for message in request.messages] == ["system", "user"] for request in asked)
    said = [request.messages[1].text.split("\n\n")[0] for request in asked[1:]]
    assert all(after.startswith(before) for before, after in itertools.pairwise(said))
    assert said[-1].count("\n") > said[0].count("\n")


async def test_in_role_last_the_role_its_knowledge_and_the_one_note_of_the_turn_stand_at_the_end(tmp_path: Path):
    room = Room(talker(tmp_path))
    transcript = await play(tmp_path, room, LAST)
    notes = [turn.text for turn in transcript.turns if turn.kind == "procedure"]
    for request, note in zip(speeches(room), notes, strict=False):
        text = request.messages[1].text
        assert text.endswith(f"\n\n{note}")
        assert sum(text.count(other) for other in set(notes)) == 1, "older notes are left out"
        assert text.count("You are ") == 1
        assert ("second key" in text) == ("You are Nora Quist" in text)
    assert not any("second key" in request.messages[0].text for request in room.asked)


async def test_in_role_last_the_summary_is_asked_for_behind_the_same_history(tmp_path: Path):
    room = Room(talker(tmp_path))
    await play(tmp_path, room, LAST)
    (summary,) = [request for request in room.asked if request.labels["purpose"] == "summary"]
    last = speeches(room)[-1]
    assert summary.messages[0] == last.messages[0]
    assert summary.messages[1].text.startswith(last.messages[1].text.split("\n\n")[0])


async def test_a_summary_that_does_not_fit_behind_the_history_is_made_in_parts(tmp_path: Path):
    model = talker(tmp_path)
    probe = Room(model)
    whole = await play(tmp_path / "whole", probe, LAST)
    longest = max(sum(len(m.text) for m in request.messages) for request in speeches(probe))
    parted = await play(tmp_path / "parted", Room(model, most=longest), LAST)
    assert spoken(parted) == spoken(whole)
    assert parted.outcome is not None
    assert parted.outcome.summary


async def test_the_default_layout_is_the_papers_and_leaves_every_request_as_it_was(tmp_path: Path):
    rooms = [Room(script("court-steady")) for _ in range(2)]
    for number, (room, staging) in enumerate(zip(rooms, (DEFAULT_STAGING, StagingOptions()), strict=True)):
        await play(tmp_path / str(number), room, staging, "paper")
    assert rooms[0].asked == rooms[1].asked
    assert rooms[0].asked[0].messages[0].text.startswith("You are Ada Boyd")
    assert DEFAULT_STAGING.changed() == {}


async def test_the_layout_is_recorded_with_the_transcript(tmp_path: Path):
    transcript = await play(tmp_path, talker(tmp_path), LAST)
    options = transcript.versions["staging"]
    assert isinstance(options, dict)
    assert (options["layout"], options["lambda"]) == ("role-last", 0.0)


@pytest.mark.parametrize("protocol", ["paper", "guarded"])
async def test_a_role_is_reminded_in_its_note_after_so_many_own_turns(tmp_path: Path, protocol: Protocol):
    room = Room(script("court-steady"))
    transcript = await play(tmp_path, room, StagingOptions(reminder=2), protocol)
    reminded = [turn for turn in transcript.turns if "reminder" in turn.flags]
    assert reminded
    assert all("Keep to your part" in turn.text for turn in reminded)
    told = [turn for turn in transcript.turns if turn.kind == "procedure" and turn.seen_by == ("prosecutor",)]
    assert ["reminder" in turn.flags for turn in told[:5]] == [False, False, True, False, True]
    by_system: dict[Message, list[Sequence[Message]]] = {}
    for request in speeches(room):
        if request.labels["role"] in KINDS:
            by_system.setdefault(request.messages[0], []).append(request.messages)
    for chain in by_system.values():
        for one, after in itertools.pairwise(chain):
            assert list(after[: len(one)]) == list(one), "a reminder does not break the prefix"


# Histories that are longer than the context


@pytest.mark.parametrize("layout", ["role-first", "role-last"])
async def test_a_guarded_trial_leaves_out_the_middle_of_a_history_that_does_not_fit_and_says_so(
    tmp_path: Path, layout: str
):
    staging = StagingOptions.model_validate({"layout": layout})
    model = talker(tmp_path)
    probe = Room(model)
    whole = await play(tmp_path / "whole", probe, staging)
    sizes = [sum(len(message.text) for message in request.messages) for request in speeches(probe)]
    room = Room(model, most=max(sizes) - 150)
    cut = await play(tmp_path / "cut", room, staging)
    assert cut.end_reason in {"completed", "undecided"}
    assert spoken(cut) == spoken(whole)
    cures = [cure for cure in cut.cures if cure.detail.startswith("history:")]
    assert cures
    assert all(cure.kind == "cut" for cure in cures)
    flagged = [turn.id for turn in cut.turns if "cut:history" in turn.flags]
    assert {cure.turn for cure in cures} <= set(flagged)
    assert any("lines of the trial are left out here" in m.text for r in room.asked for m in r.messages)


async def test_the_paper_protocol_ends_where_a_history_does_not_fit(tmp_path: Path):
    probe = Room(script("court-steady"))
    await play(tmp_path / "whole", probe, DEFAULT_STAGING, "paper")
    sizes = [sum(len(message.text) for message in request.messages) for request in speeches(probe)]
    room = Room(script("court-steady"), most=max(sizes) - 150)
    transcript = await play(tmp_path / "cut", room, DEFAULT_STAGING, "paper")
    assert (transcript.end_reason, transcript.cures) == ("context_overflow", ())
    assert not any("cut:history" in turn.flags for turn in transcript.turns)


@given(st.integers(0, 60))
def test_what_is_left_out_grows_until_only_both_ends_are_left(length: int):
    history = [Turn(id=f"T{n}", role="judge", speaker="Ada", text=str(n)) for n in range(1, length + 1)]
    left_out, steps = 0, 0
    while (more := more_left_out(history, left_out)) > left_out:
        left_out, steps = more, steps + 1
    assert left_out == max(0, length - KEPT_FIRST - KEPT_LAST)
    assert steps <= 7
    if left_out:
        kept = without_middle(history, left_out, "gap")
        assert [turn.text for turn in kept] == ["1", "2", "gap", *(str(n) for n in range(length - 3, length + 1))]


async def test_both_layouts_tell_a_role_the_same_but_for_the_exhibits_of_a_witness(tmp_path: Path):
    told: dict[str, set[str]] = {}
    for staging in (DEFAULT_STAGING, LAST):
        room = Room(talker(tmp_path))
        await play(tmp_path / staging.layout, room, staging, questions=1)
        first = speeches(room)[0]
        told[staging.layout] = set("\n".join(message.text for message in first.messages).split("\n"))
    assert told["role-first"] == told["role-last"]
