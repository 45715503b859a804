"""Building a checklist: what is written, what is removed and why, and what a person's word does."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from build_fixtures import PARTS, SIDES, shop, writer
from dramaturg.cli.checklist import app
from dramaturg.errors import ContentError, LimitReached
from dramaturg.files import parse_yaml
from dramaturg.judge.checklist import Checklist
from dramaturg.judge.checklist.benchmark import Benchmark
from dramaturg.judge.checklist.build import (
    Account,
    Built,
    Entry,
    build_checklist,
    compare,
    counts,
    expected_calls,
    read_account,
    read_before,
    write_built,
)
from dramaturg.judge.checklist.build.alike import likeness
from dramaturg.judge.checklist.build.cleaning import Cleaned, clean
from dramaturg.judge.checklist.build.lexicon import lexicon
from dramaturg.judge.checklist.build.writing import account_text, checklist_text
from dramaturg.ledger import Budget, Ledger
from dramaturg.model import Request
from dramaturg.model.embeddings import WordsOnly
from dramaturg.model.script import ScriptModel

EN = lexicon("en")


async def built(
    ledger: Ledger,
    model: ScriptModel,
    benchmark: Benchmark | None = None,
    *,
    most: int = 8,
    before: Built | None = None,
    budget: Budget | None = None,
) -> Built:
    """Returns what a build with words alone makes of the small benchmark."""
    return await build_checklist(
        benchmark or shop(),
        model,
        WordsOnly(),
        lambda unit: ledger.calls(unit=unit, seed=0, budget=budget),
        most=most,
        before=(before.checklist, before.account) if before else None,
    )


def texts(made: Built, place: str = "") -> list[str]:
    return [entry.text for entry in made.account.questions if entry.kept and place in entry.place]


def entry_of(made: Built, text: str) -> Entry:
    return next(entry for entry in made.account.questions if text in entry.text)


# Augmentation


async def test_each_seed_is_asked_once_per_strategy_and_nothing_is_asked_again(ledger: Ledger):
    asked: list[Request] = []
    model = writer(asked=asked)
    made = await built(ledger, model)
    purposes = [request.labels["purpose"] for request in asked]
    assert (purposes.count("diversification"), purposes.count("elaboration"), purposes.count("filter")) == (2, 2, 2)
    assert len(asked) == expected_calls(shop())
    assert await built(ledger, model) == made
    assert len(asked) == expected_calls(shop())


async def test_another_seed_asks_nothing_again_of_the_old_ones(ledger: Ledger):
    asked: list[Request] = []
    model = writer(asked=asked)
    await built(ledger, model)
    before = len(asked)
    seed = {"id": "LNG-S2", "text": "Does the agent write in English?", "dimension": "LNG"}
    more = shop(seeds=[*[s.model_dump() for s in shop().seeds], seed])
    await built(ledger, model, more)
    assert {request.labels["purpose"] for request in asked[before:]} <= {"diversification", "elaboration", "filter"}
    assert sum(request.labels["purpose"] != "filter" for request in asked[before:]) == 2


async def test_the_prompt_names_who_is_judged_who_is_not_and_what_is_true(ledger: Ledger):
    asked: list[Request] = []
    await built(ledger, writer(asked=asked))
    told = asked[0].messages[-1].text
    for part in ("agent: Answers.", "customer", "The order.", "Does the agent name the rule behind a refusal?"):
        assert part in told


async def test_every_question_carries_its_seed_strategy_parent_and_model(ledger: Ledger):
    parts = [
        {"number": "1", "question": "Does the agent refuse a refund?"},
        {"number": "1.1", "question": "Does the agent refer to clause four?"},
        {"number": "1.1", "question": "Does the agent write the date of the order?"},
        {"number": "7.2", "question": "Does the agent repeat the number of the order?"},
    ]
    made = await built(ledger, writer(sides=SIDES[:1], parts=parts))
    found = {entry.text: entry.provenance for entry in made.account.questions if entry.provenance.seed == "AUT-S1"}
    assert found["Does the agent name the rule behind a refusal?"].strategy == "seed"
    assert (found[SIDES[0]].strategy, found[SIDES[0]].parent, found[SIDES[0]].model) == (
        "diversification",
        "AUT-S1",
        "script:writer",
    )
    numbers = [(found[part["question"]].number, found[part["question"]].parent) for part in parts]
    assert numbers == [("1", "AUT-S1"), ("1.1", "1"), ("2", "AUT-S1"), ("7.2", "AUT-S1")]


async def test_a_seed_in_another_language_is_translated_first(ledger: Ledger):
    seeds = [s.model_dump() for s in shop().seeds]
    seeds[1] |= {"text": "Le frasi dell'agente sono brevi?", "language": "it"}
    asked: list[Request] = []
    made = await built(ledger, writer(asked=asked), shop(seeds=seeds))
    seed = next(entry for entry in made.account.questions if entry.provenance.seed == "LNG-S1" and entry.is_seed)
    assert (seed.text, seed.provenance.translated_from) == ("Does the agent write short sentences?", "it")
    written_of = [r for r in asked if r.labels["purpose"] == "diversification"]
    assert all("Le frasi" not in request.messages[-1].text for request in written_of)


async def test_a_seed_whose_translation_fails_stands_alone_and_it_is_said(ledger: Ledger):
    seeds = [s.model_dump() for s in shop().seeds]
    seeds[1] |= {"text": "Le frasi dell'agente sono brevi?", "language": "it"}
    made = await built(ledger, writer(translation="That is a short sentence."), shop(seeds=seeds))
    assert texts(made, "LNG") == ["Le frasi dell'agente sono brevi?"]
    assert any("LNG-S1 stands alone, untranslated" in note for note in made.account.notes)


async def test_a_seed_that_the_endpoint_fails_at_stands_alone_and_the_rest_is_built(ledger: Ledger):
    made = await built(ledger, writer(fails=lambda request: "short sentences" in request.messages[-1].text))
    assert texts(made, "LNG") == ["Does the agent write short sentences?"]
    assert len(texts(made, "AUT")) == 7
    assert any("LNG-S1 stands alone" in note for note in made.account.notes)
    again = await built(ledger, writer())
    assert len(texts(again, "LNG")) > 1


async def test_a_used_up_budget_stops_the_build_and_keeps_what_was_answered(ledger: Ledger):
    asked: list[Request] = []
    with pytest.raises(LimitReached):
        await built(ledger, writer(asked=asked), budget=Budget(max_calls=3))
    assert len(asked) == 3
    await built(ledger, writer(asked=asked))
    assert len(asked) == expected_calls(shop())


async def test_a_seed_of_which_little_came_is_asked_for_once_more_with_other_seeds_as_patterns(ledger: Ledger):
    asked: list[Request] = []
    unfit = ["Is the agent's answer good?", "Is the agent's answer clear?", "The agent answers."]
    made = await built(ledger, writer(asked=asked, sides=unfit, parts=unfit))
    again = [one for one in asked if one.labels["step"] == "again"]
    assert len(again) == 2
    told = next(one.messages[-1].text for one in again if "refusal" in one.messages[-1].text)
    assert "- Does the agent write short sentences?" in told and "Is the agent's answer good?" not in told
    assert len(made.checklist.indicators) == 2


ODD = [
    ("**1.1** Does the agent greet the customer?", "Does the agent greet the customer?", "1.1"),
    ('Q3: "Does the agent greet the customer?" (Yes/No)', "Does the agent greet the customer?", "3"),
    ("Yes/No: Does the agent greet the customer?", "Does the agent greet the customer?", ""),
    ("- does the agent greet the customer", "Does the agent greet the customer?", ""),
    ("From the shop's side: Does the agent greet the customer?", "Does the agent greet the customer?", ""),
    ("Does the agent greet the customer? - Yes", "Does the agent greet the customer?", ""),
    ("A greeting is due. Does the agent greet the customer?", "Does the agent greet the customer?", ""),
    ("Does the agent\u200b greet\nthe customer ?", "Does the agent greet the customer?", ""),
    ("Does the agent greet the customer? The greeting is polite.", "Does the agent greet the customer?", ""),
    ("Does the agent greet the customer? For example, does it say hello?", "Does the agent greet the customer?", ""),
    ("Does the agent greet the customer in the transcript?", "Does the agent greet the customer?", ""),
    ("Sub-question 2.1: Does the agent give 2 dates.", "Does the agent give 2 dates?", "2.1"),
]


@pytest.mark.parametrize(("raw", "text", "number"), ODD)
def test_what_stands_around_a_question_is_taken_off(raw: str, text: str, number: str):
    assert clean(raw, EN, prompt="", seed="") == Cleaned(text, number)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ("The agent greets the customer.", "no_question"),
        ("Does the agent greet? Does the agent answer?", "several_questions"),
        ("  ", "blank"),
        ("?", "no_question"),
        ("1.1", "no_question"),
        ("Does the cook wash the pan?", "echoes_prompt"),
        ("is it THE seed", "repeats_seed"),
    ],
)
def test_what_is_no_question_of_its_own_is_refused_with_a_reason(raw: str, why: str):
    assert clean(raw, EN, prompt='An example: "Does the cook wash the pan?" Write six.', seed="Is it the seed?") == why


def test_a_run_of_words_from_the_instructions_is_an_echo():
    told = "It asks about a fact that can be pointed at."
    raw = "Is the ruling of the judge a fact that can be pointed at?"
    assert clean(raw, EN, prompt="", seed="", instructions=told) == "echoes_prompt"
    assert isinstance(clean("Is the ruling a fact?", EN, prompt="", seed="", instructions=told), Cleaned)


@given(st.text(max_size=80))
def test_whatever_is_written_becomes_one_question_or_a_reason(raw: str):
    found = clean(raw, EN, prompt="prompt", seed="Is it the seed?")
    if isinstance(found, Cleaned):
        assert found.text.endswith(("?", "？"))
        assert found.text == found.text.strip() and "\n" not in found.text
        again = clean(found.text, EN, prompt="prompt", seed="Is it the seed?")
        assert not isinstance(again, Cleaned) or again.text.endswith(("?", "？"))


async def test_what_the_model_wrote_twice_is_there_once(ledger: Ledger):
    made = await built(ledger, writer(sides=[SIDES[0], f"1. {SIDES[0].upper()}"], parts=[SIDES[0]]))
    twins = [entry for entry in made.account.questions if entry.text.casefold() == SIDES[0].casefold()]
    assert sum(entry.kept for entry in twins) == 1
    assert "the model wrote it before" in {entry.reason for entry in twins}


# Filtering


async def test_every_removal_has_its_stage_and_reason(ledger: Ledger):
    bad = {
        "Does the agent answer in an appropriate way?": "vague: 'appropriate'",
        "Does the agent always answer the customer?": "exaggerated: 'always'",
        "Does the agent avoid slang in the answer?": "negative: 'avoid'",
        "Does the agent greet and thank the customer?": "two_concepts: 'and'",
        "Does the customer thank the agent?": "human: it is about 'customer', whom a person plays",
        "Does the agent intend to help the customer?": (
            "unanswerable: 'intend': transcript and reference do not show it"
        ),
        "How does the agent greet the customer?": "not_yes_no: it asks 'How'",
        "Does the agent contradict the policy?": "wrong_sign: 'contradict' is a fault, and a yes counts as good",
    }
    made = await built(ledger, writer(sides=[*SIDES[:2], *bad]))
    for text, reason in bad.items():
        entry = entry_of(made, text)
        assert (entry.decision, entry.stage, entry.reason) == ("removed", "rules", reason)
    assert all(entry.reason for entry in made.account.questions if not entry.kept)
    assert set(SIDES[:2]) <= set(texts(made))


async def test_the_same_meaning_is_merged_across_strategies_and_the_seed_stays(ledger: Ledger):
    near = "Does the agent name the rule behind a refusal here?"
    made = await built(ledger, writer(sides=SIDES[:1], parts=[near]))
    entry = next(entry for entry in made.account.questions if entry.text == near)
    assert (entry.decision, entry.stage) == ("merged", "alike")
    seed = next(
        one for one in made.checklist.indicators if one.text == "Does the agent name the rule behind a refusal?"
    )
    assert seed.provenance is not None and near in seed.provenance.merged


async def test_the_same_asked_of_two_roles_is_not_merged(ledger: Ledger):
    clerk = {"id": "clerk", "name": "clerk", "played_by": "model", "duties": "Writes."}
    seeds = [s.model_copy(update={"roles": ()}).model_dump() for s in shop().seeds]
    sides = [f"Does the {role} write the number of the order in the first line?" for role in ("agent", "clerk")]
    made = await built(ledger, writer(sides=sides), shop(roles=[*shop().model_dump()["roles"], clerk], seeds=seeds))
    assert {one.text: one.roles for one in made.checklist.indicators if one.text in sides} == {
        sides[0]: ("agent",),
        sides[1]: ("clerk",),
    }


async def test_the_model_can_only_remove_what_it_was_given(ledger: Ledger):
    made = await built(ledger, writer(remove=[(1, "off_topic"), (99, "style"), (0, "style"), (-1, "redundant")]))
    assert made.account.refused == 6
    first = entry_of(made, SIDES[0])
    assert (first.stage, first.reason) == ("model", "the model says that it measures something else")
    assert len(texts(made, "AUT")) == 6


async def test_a_model_that_removes_all_leaves_three_and_it_is_said(ledger: Ledger):
    everything = [(number, "redundant") for number in range(1, 13)]
    made = await built(ledger, writer(remove=everything))
    assert texts(made, "AUT") == ["Does the agent name the rule behind a refusal?", *SIDES[:2]]
    assert any(note.startswith("POL.AUT: the model would have removed 6; 2 stay") for note in made.account.notes)


async def test_a_model_leaves_as_many_as_there_are_seeds(ledger: Ledger):
    seeds = [s.model_dump() for s in shop().seeds]
    more = [
        {"id": f"AUT-X{at}", "text": f"Does the agent name the {word}?", "dimension": "POL", "subdimension": "AUT"}
        for at, word in enumerate(("clause", "deadline", "price"))
    ]
    everything = [(number, "off_topic") for number in range(1, 13)]
    made = await built(ledger, writer(remove=everything), shop(seeds=[*seeds, *more]))
    kept = [entry for entry in made.account.questions if entry.kept and entry.place == "POL.AUT"]
    assert (len(kept), sum(entry.is_seed for entry in kept)) == (8, 4)


async def test_a_place_that_would_be_empty_keeps_its_seed_and_says_so(ledger: Ledger):
    seeds = [s.model_dump() for s in shop().seeds]
    seeds[1] |= {"text": "Does the agent write good sentences?"}
    made = await built(ledger, writer(sides=["Nothing."], parts=["Nothing."]), shop(seeds=seeds))
    (indicator,) = [one for one in made.checklist.indicators if one.dimension == "LNG"]
    assert indicator.provenance is not None and indicator.provenance.kept == "last_in_subdimension"
    assert any("LNG: nothing else is left" in note and "vague" in note for note in made.account.notes)


async def test_the_limit_keeps_half_for_what_was_written(ledger: Ledger):
    seeds = [s.model_dump() for s in shop().seeds]
    words = ("clause", "deadline", "price", "receipt", "warranty")
    more = [
        {"id": f"AUT-X{at}", "text": f"Does the agent name the {word}?", "dimension": "POL", "subdimension": "AUT"}
        for at, word in enumerate(words)
    ]
    made = await built(ledger, writer(), shop(seeds=[*seeds, *more]), most=4)
    kept = [entry for entry in made.account.questions if entry.kept and entry.place == "POL.AUT"]
    assert (len(kept), sum(entry.is_seed for entry in kept)) == (4, 2)
    assert any(entry.stage == "limit" for entry in made.account.questions)


async def test_what_falls_short_of_the_goal_is_said(ledger: Ledger):
    made = await built(ledger, writer(sides=["Nothing."], parts=["Nothing."]))
    assert "POL.AUT: 1 left, 3 wanted; add a seed, or build with another model" in made.account.notes
    assert "2 of 2 indicators are seeds; at most half were wanted" in made.account.notes


# The checklist


async def test_what_only_a_person_can_know_stays_with_the_seed(ledger: Ledger):
    made = await built(ledger, writer())
    seed = next(one for one in made.checklist.indicators if one.text.startswith("Does the agent name the rule"))
    other = next(one for one in made.checklist.indicators if one.text == SIDES[0])
    assert (seed.detects, other.detects) == (("promises_refused",), ())
    assert other.roles == ("agent",)


async def test_a_condition_in_the_question_says_when_it_does_not_apply(ledger: Ledger):
    made = await built(ledger, writer(sides=["When the agent refuses, does the agent name a clause?"]))
    one = next(one for one in made.checklist.indicators if one.text.startswith("When"))
    assert one.not_applicable_when == "It does not occur that the agent refuses."


async def test_checklist_and_account_read_back_as_they_were_written(ledger: Ledger, tmp_path: Path):
    odd = "Does the agent write \"yes: no\", '#' {or: [a]} – 你好?"
    made = await built(ledger, writer(sides=[*SIDES, odd]))
    write_built(tmp_path / "c.yaml", made)
    assert parse_yaml((tmp_path / "c.yaml").read_text("utf-8"), Checklist, where="c") == made.checklist
    assert read_account(tmp_path / "c.yaml") == made.account


LINE = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=30).map(str.strip).filter(bool)


@given(LINE, LINE)
def test_any_text_survives_the_file(text: str, reason: str):
    benchmark = shop()
    provenance: dict[str, Any] = {"seed": "AUT-S1", "strategy": "diversification", "merged": [reason]}
    place = {"dimension": "POL", "subdimension": "AUT", "provenance": provenance}
    entry = Entry.model_validate({"text": text, "reason": reason, **place})
    account = Account(
        benchmark="b",
        checklist="c",
        model=text,
        compared_by="x",
        prompts={"p": reason},
        notes=(reason,),
        questions=(entry,),
    )
    assert parse_yaml(account_text(account, checklist="c"), Account, where="a") == account
    checklist = Checklist.model_validate(
        {
            "id": "c",
            "version": 1,
            "title": text,
            "domain": reason,
            "dimensions": [d.model_dump() for d in benchmark.dimensions],
            "indicators": [
                {"id": "A-1", "text": f"{text}?", "note": reason, **place},
                {"id": "B-1", "text": f"{reason}?", "dimension": "LNG"},
            ],
        }
    )
    assert parse_yaml(checklist_text(checklist, account="a"), Checklist, where="c") == checklist


# A person's word


def with_words(made: Built, words: dict[str, str]) -> Built:
    """Returns a build whose account a person has written into."""
    questions = [
        Entry.model_validate({**entry.model_dump(), "overrule": words.get(entry.text, entry.overrule)})
        for entry in made.account.questions
    ]
    return Built(made.checklist, made.account.model_copy(update={"questions": tuple(questions)}))


async def test_a_person_overrules_in_the_file_and_that_is_kept(ledger: Ledger):
    vague = "Does the agent answer in a good way?"
    model = writer(sides=[*SIDES, vague])
    first = await built(ledger, model)
    second = await built(ledger, model, before=with_words(first, {vague: "keep", SIDES[0]: "remove"}))
    assert vague in texts(second) and SIDES[0] not in texts(second)
    kept = next(one for one in second.checklist.indicators if one.text == vague)
    assert kept.provenance is not None and kept.provenance.kept == "person"
    assert entry_of(second, vague).reason == "a person keeps it; else: vague: 'good'"
    third = await built(ledger, model, before=second)
    assert third.checklist == second.checklist
    assert entry_of(third, SIDES[0]).overrule == "remove"


async def test_what_a_person_keeps_stays_though_another_model_does_not_write_it(ledger: Ledger):
    first = await built(ledger, writer())
    word = with_words(first, {SIDES[0]: "keep"})
    others = ["Does the agent write a price?", "Does the agent refer to a receipt?", "Is a date in the answer?"]
    second = await built(ledger, writer(sides=others, parts=others), before=word)
    assert SIDES[0] in texts(second)


async def test_an_id_stays_with_its_question_and_is_not_given_to_another(ledger: Ledger):
    first = await built(ledger, writer())
    ids = {one.text: one.id for one in first.checklist.indicators}
    word = with_words(first, {SIDES[0]: "remove"})
    second = await built(ledger, writer(sides=[*SIDES, "Does the agent offer a repair?"]), before=word)
    for one in second.checklist.indicators:
        assert ids.get(one.text, one.id) == one.id
    new = next(one for one in second.checklist.indicators if one.text == "Does the agent offer a repair?")
    assert new.id not in ids.values()
    assert (first.checklist.version, second.checklist.version) == (1, 2)


async def test_a_checklist_that_a_person_changed_is_not_written_over(ledger: Ledger, tmp_path: Path):
    out = tmp_path / "c.yaml"
    write_built(out, await built(ledger, writer()))
    assert read_before(out, shop(), overwrite=False) is not None
    out.write_text(out.read_text("utf-8").replace("a clause", "the clause"), "utf-8")
    with pytest.raises(ContentError, match="changed by hand"):
        read_before(out, shop(), overwrite=False)
    assert read_before(out, shop(), overwrite=True) is not None
    with pytest.raises(ContentError, match="built from the benchmark 'shop'"):
        read_before(out, shop(id="other"), overwrite=False)
    (tmp_path / "c.account.yaml").unlink()
    with pytest.raises(ContentError, match="no build wrote it"):
        read_before(out, shop(), overwrite=False)


# What was done


async def test_the_counts_of_each_place_add_up(ledger: Ledger):
    made = await built(ledger, writer(sides=[*SIDES, "Is it good?", "Nothing."], remove=[(1, "style")]))
    for count in counts(made.account):
        assert count.seeds + count.diversified + count.elaborated == sum(count.gone.values()) + count.kept


async def test_two_checklists_differ_by_what_came_went_and_changed(ledger: Ledger):
    first = (await built(ledger, writer())).checklist
    old, gone, *rest = first.indicators
    changed = old.model_copy(update={"weight": 2.0})
    new = gone.model_copy(update={"id": "POL-AUT-99"})
    second = first.model_copy(update={"indicators": (changed, new, *rest)})
    found = [(change.kind, change.id, change.fields) for change in compare(first, second)]
    assert found == [
        ("removed", gone.id, {}),
        ("changed", old.id, {"weight": (1.0, 2.0)}),
        ("added", "POL-AUT-99", {}),
    ]


async def test_without_vectors_words_are_compared_and_it_is_said():
    found = await likeness(WordsOnly(), ["Does it rain today?", "Does it rain today?", "Is the cat fed?"], EN)
    assert found.by == "words:dice"
    assert found.same(0, 1) and not found.same(0, 2)


class ServerOfAxes:
    """Embeds each number as an axis of its own, and half a number as the one below."""

    name = "server:axes"

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[1.0 if axis == int(float(text)) else 0.0 for axis in range(9)] for text in texts]


async def test_an_unknown_embedder_is_measured_by_what_is_usual_with_it():
    found = await likeness(ServerOfAxes(), ["0", "0.5", *map(str, range(1, 8))], EN)
    assert found.by == "server:axes"
    assert found.same(0, 1) and not found.same(1, 2)


# The commands


WRITER = """
import json
from dramaturg.model import Reply

def reply(request):
    who = "each line of the letter" if "now: Language." in request.messages[-1].text else "the agent"
    match request.labels["purpose"]:
        case "diversification":
            told = {"questions": [side.replace("the agent", who) for side in SIDES]}
        case "elaboration":
            parts = [part.replace("the agent", who) for part in PARTS]
            told = {"questions": [{"number": str(at), "question": part} for at, part in enumerate(parts, 1)]}
        case _:
            told = {"remove": [{"number": 99, "reason": "style"}]}
    return json.dumps(told)
"""


def test_the_command_builds_diffs_and_builds_again_from_the_ledger(tmp_path: Path):
    script = tmp_path / "writer.py"
    script.write_text(f"SIDES = {SIDES!r}\nPARTS = {PARTS!r}\n{WRITER}", "utf-8")
    benchmark = tmp_path / "shop.yaml"
    benchmark.write_text(shop().model_dump_json(), "utf-8")
    out = tmp_path / "c.yaml"
    runner = CliRunner()
    command = ["build", str(benchmark), "--model", f"script:{script}", "--out", str(out), "--embedder", "none"]
    told = runner.invoke(app, command)
    assert told.exit_code == 0, told.output
    assert "refused" in told.stdout and "6 new calls" in told.stdout
    again = json.loads(runner.invoke(app, [*command, "--json"]).stdout)
    assert (again["calls"], again["replayed"], again["refused"], again["version"]) == (0, 6, 2, 1)
    assert again["indicators"] - again["seeds"] >= again["seeds"]
    diff = json.loads(runner.invoke(app, ["diff", str(out), "--json"]).stdout)
    assert diff["questions"] == again["questions"]
    assert "no indicator differs" in runner.invoke(app, ["diff", str(out), str(out)]).stdout
    assert runner.invoke(app, ["lint", str(out), "--benchmark", str(benchmark)]).exit_code == 0


def test_diff_without_an_account_says_what_is_missing(tmp_path: Path):
    failed = CliRunner().invoke(app, ["diff", str(tmp_path / "c.yaml")])
    assert "no account lies beside it (c.account.yaml)" in str(failed.exception)
