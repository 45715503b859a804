"""The rater made of rules: what it sees in a performance, and what it makes of it."""

import json
from pathlib import Path

import pytest

from dramaturg.train.rule_rater import Seen, critique_of, faults_in, rating_of
from train_fixtures import dramaturg, played

SHOWN = """<performance>
Seen [T1] Ada: Where did you leave the lamp tonight, my friend?
Done [T2] Ben (action): I left it on the third step, under the coat.
Seen [T3] Ada: Then somebody took it away
Done [T4] Ben: I left it on the third step, under
    | the coat.
Done [T5] Ben: Then I shall
Done [T6] Ben: As an AI language model I have no lamp.
</performance>"""


def test_it_sees_what_repeats_breaks_off_or_leaves_the_role():
    found, acts = faults_in(SHOWN)
    assert found == [Seen("again", "T4", "T2"), Seen("unfinished", "T5"), Seen("as_an_ai", "T6")]
    assert acts == 4
    assert critique_of(found, "en").startswith("T4 says again what was said in T2. T5 breaks off.")


def test_a_rating_falls_with_the_share_of_acts_that_have_a_fault_of_its_kind():
    found, acts = faults_in(SHOWN)
    ratings = {name: rating_of(name, found, acts) for name in ("emotional_expression", "immersion", "adaptability")}
    assert ratings == {"emotional_expression": 4, "immersion": 2, "adaptability": 4}
    assert rating_of("immersion", [], 4) == rating_of("immersion", [], 0) == 5
    assert rating_of("of_my_own", found, acts) == 2


def test_nothing_of_it_is_said_of_what_others_do():
    found, acts = faults_in(SHOWN.replace("Done", "Seen"))
    assert (found, acts) == ([], 0)


@pytest.mark.parametrize("mode", ["joint", "single"])
def test_it_rates_a_play_in_every_form_that_is_asked_for(tmp_path: Path, mode: str):
    run = played(tmp_path / "run", protocol="fast")
    code, _, errors = dramaturg(
        "rate", "run", run, "--judge", "script:rule-rater", "--mode", mode, "--out", tmp_path / "rated"
    )
    assert code == 0, errors
    rated = [json.loads(line) for line in (tmp_path / "rated" / "ratings.jsonl").read_text().splitlines()]
    assert rated and all(one["value"] is not None for one in rated)
    assert all(one["critique"] for one in rated)


def test_chinese_plays_are_criticised_in_chinese():
    shown = (
        "所见 [T1] 阿: 你把灯放在哪里了,老朋友?\n"
        "所为 [T2] 本 (动作): 我把灯放在第三级台阶上了。\n"
        "所为 [T3] 本: 我把灯放在第三级台阶上了。"
    )
    found, acts = faults_in(shown)
    assert (found, acts) == ([Seen("again", "T3", "T2")], 2)
    assert critique_of(found, "zh") == "T3 重复了 T2 已经说过的内容。"
