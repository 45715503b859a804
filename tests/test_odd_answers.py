"""What judges really write, and the one verdict that each text is worth, in every mode where it can occur."""

from pathlib import Path

import pytest

from dramaturg.judge.checklist import Mode
from judge_fixtures import TRIAL, checklist, trial
from judging_fixtures import judged

ONE = checklist(
    {"id": "A-1", "text": "Does the judge lead?", "dimension": "A", "not_applicable_when": "Never.", "scope": "turn"}
)
TWO = checklist(
    *(
        {"id": f"A-{n}", "text": f"Is it {word}?", "dimension": "A", "not_applicable_when": "Never."}
        for n, word in ((1, "formal"), (2, "loud"))
    )
)
SHORT = trial(TRIAL[:2])
GOOD = '{"reasoning": "r", "answer": "yes", "evidence": ["T2"]}'
LIST = '{"answers": [{"id": "A-1", "answer": "yes"}, {"id": "A-2", "answer": "yes"}]}'

ALONE: tuple[tuple[str, str], ...] = (
    # words alone
    ("yes", "yes"),
    ("YES!", "yes"),
    ("**No**", "no"),
    ('"yes"', "yes"),
    ("`no`.", "no"),
    ("(yes)", "yes"),
    ("ｙｅｓ", "yes"),
    ("y\u200be\u200bs", "yes"),
    ("n/a", "not_applicable"),
    ("Not applicable.", "not_applicable"),
    ("是", "yes"),
    ("否。", "no"),
    ("不是", "no"),
    ("没有", "no"),
    ("不适用", "not_applicable"),
    ("答案：是", "yes"),
    ("sì", "yes"),
    ("Si.", "yes"),
    ("La risposta è: no", "unparsed"),
    ("Risposta: no", "no"),
    ("oui", "yes"),
    ("Partly", "unparsed"),
    ("maybe yes", "unparsed"),
    ("YesNo", "unparsed"),
    ("1", "unparsed"),
    ("0", "unparsed"),
    ("-3", "unparsed"),
    ("NaN", "unparsed"),
    ("", "unparsed"),
    ("I cannot rate this.", "unparsed"),
    ("No idea.", "unparsed"),
    ("Nobody leads.", "unparsed"),
    # reasoning and prose around
    ("Thinking Process: 1. no, wait\n2. the judge leads.\n\nyes", "yes"),
    ("<think>no</think>yes", "yes"),
    ('He said "no"</think>\n\nyes', "yes"),
    ("<think>yes", "unparsed"),
    ("The judge leads.\nAnswer: yes", "yes"),
    ("The judge leads.\n**Final answer:** no", "no"),
    ("So the answer is no.", "no"),
    ("[RESULT] yes", "yes"),
    ("Yes, the judge leads the hearing.", "yes"),
    ("Yes.\nHe leads the hearing.", "yes"),
    ("The witness answered: no", "unparsed"),
    ("He asks {who} it was.\nyes", "yes"),
    # several answers
    ("no, wait, yes", "contradictory"),
    ("yes | no", "unparsed"),
    ("yes and no", "unparsed"),
    ("No, he does not.\n\nyes", "contradictory"),
    ("The answer is yes. Actually, no.", "contradictory"),
    ("Answer: yes\nCorrection: no", "contradictory"),
    ("是，不对，否", "contradictory"),
    # one object
    (f"```json\n{GOOD}\n```", "yes"),
    (f"Sure!\n{GOOD}\nI hope this helps. No further questions.", "yes"),
    (f'<think>{{"answer": "no"}}</think>{GOOD}', "yes"),
    ("{'answer': 'NO',}", "no"),
    ('{"ANSWER": "是"}', "yes"),
    ('{"answer": ["no"]}', "no"),
    ('{"answer": false}', "no"),
    ('{"result": {"reasoning": "r", "answer": "no"}}', "no"),
    ('{"reasoning": "he wrote {\\"answer\\": \\"no\\"} and \\"}\\"", "answer": "yes"}', "yes"),
    ('{"reasoning": "no, wait, no", "answer": "yes"}', "yes"),
    ('{"answer": "no"} That was an example. {"answer": "yes"}', "yes"),
    (f"{GOOD}\nAnswer: yes", "yes"),
    ('{"answer": 1}', "unparsed"),
    ('{"answer": null}', "unparsed"),
    ('{"answer": "partly"}', "unparsed"),
    ('[{"answer": "yes"}]', "unparsed"),
    ('{"reasoning": "r", "answer": "yes" no}', "unparsed"),
    ('{\n"reasoning": "r,\n"answer": yes: no,\n"evidence": [', "unparsed"),
    ('{"answer": "yes"} Mine: {"answer": "n', "unparsed"),
    # one object that says two things
    ('{"answer": "yes", "answer": "no"}', "contradictory"),
    ('{\n"answer": "yes",\n"answer": "no"\n}', "contradictory"),
    ('{"answer": "yes", "Answer": "no"}', "contradictory"),
    ('{"answer": "yes", "Answer": "YES"}', "yes"),
    ('{"answer": "yes", "final_answer": "no"}', "contradictory"),
    ('{"answer": "yes", "verdict": "No."}', "contradictory"),
    ('{"answer": "yes", "final": {"answer": "no"}}', "contradictory"),
    ('{"draft": {"answer": "no"}, "final": {"answer": "yes"}}', "contradictory"),
    ('{"draft": {"answer": "yes"}, "final": {"answer": "yes"}}', "yes"),
    ('{"answer": ["yes", "no"]}', "contradictory"),
    ('{"answer": "no, wait, yes"}', "contradictory"),
    (f"{GOOD}\nSorry, the answer should be no.", "contradictory"),
    (f"{GOOD}\n\nWait, no.", "contradictory"),
    (f"{GOOD}\nFinal answer: no", "contradictory"),
    (f"{GOOD}\nCorrection: it should be yes, not no.", "yes"),
    (f"{GOOD}\n抱歉，应该是否。", "contradictory"),
    (f"{GOOD}\nScusa, la risposta dovrebbe essere no.", "contradictory"),
    # lines
    ("reasoning: he leads\nanswer: yes\nevidence: T2", "yes"),
    ("answer: no\nanswer: yes", "yes"),
    ("reasoning: he said no\nFinal answer: yes", "yes"),
    ("answer: no, wait, yes", "contradictory"),
    ("reasoning: r\nanswer: yes\nevidence: T2\nSorry, the answer should be no.", "contradictory"),
)

TOGETHER: tuple[tuple[str, str, str], ...] = (
    # every form of an id
    ("A–1: yes\nA\u20112: no", "yes", "no"),
    ("A—1: yes\nA\u22122: no", "yes", "no"),
    ("Ａ－１：yes\nＡ－２：no", "yes", "no"),
    ("a-1: yes\na-2: no", "yes", "no"),
    ("A-1. yes\nA-2. no", "yes", "no"),
    ("[A-1] yes\n(A-2): no", "yes", "no"),
    ("【A-1】：是\n【A-2】：否", "yes", "no"),
    ("**A-1**: **Yes**\n**A-2**: **No**", "yes", "no"),
    ("A-1 yes\nA-2 no", "yes", "no"),
    ("A-1 答案：是\nA-2 答案：没有", "yes", "no"),
    ('{"A–1": "yes", "ａ－２.": "no"}', "yes", "no"),
    ('{"answers": [{"id": "A\u20111", "answer": "sì"}, {"id": "(a-2)", "answer": "不是"}]}', "yes", "no"),
    ('[{"A-1": "yes"}, {"A-2": "no"}]', "yes", "no"),
    ('{"A-1": {"reasoning": "r", "answer": "yes"}, "A-2": {"reasoning": "r", "answer": "no"}}', "yes", "no"),
    ('{"answers": [{"id": "A_1", "answer": "yes"}, {"id": "a 2", "answer": "no"}]}', "yes", "no"),
    ('{"A - 1": "yes", "A_2": "no"}', "yes", "no"),
    ('[{"id": "A-1: Is it formal?", "answer": "yes"}, {"id": "A-2 (Is it loud?)", "answer": "no"}]', "yes", "no"),
    ('[{"id": "A_1", "answer": "no"}, {"A-1": "yes", "A-2": "yes"}]', "contradictory", "yes"),
    ('[{"id": "A-12", "answer": "yes"}, {"id": "A-2-1", "answer": "no"}]', "left_out", "left_out"),
    ("\u200fA-1: yes\u200e\n\u2067A-2: no\u2069", "yes", "no"),
    # order, number
    ("A-2: no\nA-1: yes", "yes", "no"),
    ("A-2: no", "left_out", "no"),
    ("A-1: yes\nA-2: no\nA-3: yes", "yes", "no"),
    ("yes\nno", "unparsed", "unparsed"),
    ("A-1: Partly\nA-2: no", "unparsed", "no"),
    ('{"answers": [{"id": "A-1", "answer": "yes"}, {"id": "A-2", "answer": 1}]}', "yes", "unparsed"),
    (LIST[:-2], "yes", "yes"),
    # around
    (f"```\n{LIST}\n```", "yes", "yes"),
    (f"A-1: no, I think.\n{LIST}", "yes", "yes"),
    (f"<think>A-1: no</think>{LIST}", "yes", "yes"),
    (f"A-1: no</think>{LIST}", "yes", "yes"),
    (f"{LIST}\nNote: A-1 rests on T3; no evidence was found for A-2.", "yes", "yes"),
    (f"{LIST}\nI hope this helps. No further remarks.", "yes", "yes"),
    (f"{LIST}\nOverall verdict: yes", "yes", "yes"),
    ('{"answers": [{"id": "A-1", "reasoning": "no {", "answer": "yes"}, {"id": "A-2", "answer": "no"}]}', "yes", "no"),
    ("Thinking Process: 1. no, wait\n\nA-1: yes\nA-2: no", "yes", "no"),
    ("A-1: yes. No fault is seen.\nA-2: no (yes, he whispers)", "yes", "no"),
    # two things at once
    ('{"draft": {"A-1": "no", "A-2": "yes"}, "final": {"A-1": "yes", "A-2": "yes"}}', "contradictory", "yes"),
    (f'{LIST}\n{LIST.replace("yes", "no", 1)}', "contradictory", "yes"),
    ('{"A-1": "yes", "A-1": "no", "A-2": "yes"}', "contradictory", "yes"),
    ('{"A-1": "yes", "a–1": "no", "A-2": "yes"}', "contradictory", "yes"),
    ('{"A-1": "yes", "A-2": "yes", "corrections": {"A-1": "no"}}', "contradictory", "yes"),
    (LIST.replace('"answer": "yes"}', '"answer": "yes", "Answer": "no"}', 1), "contradictory", "yes"),
    (LIST.replace("[", '[{"id": "A-1", "answer": "no"}, '), "contradictory", "yes"),
    (LIST.replace("]", ', {"id": "A-1", "answer": "no" 3}]'), "unparsed", "yes"),
    (f"{LIST}\nSorry, A-1 should be no.", "contradictory", "yes"),
    (f"{LIST}\nSorry, a–1 should be No!", "contradictory", "yes"),
    (f"{LIST}\nCorrection: the answer to A-1 is no", "contradictory", "yes"),
    (f"{LIST}\nA-1: no", "contradictory", "yes"),
    (f"{LIST}\nA-1 should be yes, not no.", "yes", "yes"),
    (f"{LIST}\nSorry, change A-1 from yes to no and A-2 stays yes.", "contradictory", "yes"),
    (f"{LIST}\nWait, the first one should be no.", "contradictory", "contradictory"),
    (f"{LIST}\n更正：A-1应该是否。", "contradictory", "yes"),
    ("A-1: no, wait, yes\nA-2: yes", "contradictory", "yes"),
    ("A-1: yes - no, on second thought\nA-2: yes", "contradictory", "yes"),
    ("A-1: yes\nA-2: yes\nSorry, A-1 should be no.", "contradictory", "yes"),
    ("A-1: yes\nA-2: yes\nSorry, the first should be no.", "contradictory", "contradictory"),
    ("A-1: yes\nA-2: yes\n\nFinal:\nA-1: no\nA-2: yes", "contradictory", "yes"),
    # broken
    ('{\n"A-1": "yes",\n"A-2": no" 3\n', "unparsed", "unparsed"),
    ('{"A-1": "yes", "A-2": "n', "unparsed", "unparsed"),
)  # fmt: skip

NUMBERED: tuple[tuple[str, str, str], ...] = (
    ("Q1 - Is it formal?: yes (reasoning: r)\nQ2 - Is it loud?: no (reasoning: r)", "yes", "no"),
    ("Ｑ１：是\nＱ２：没有", "yes", "no"),
    ("Q2 - no\nQ1 - yes", "yes", "no"),
    ('{"Q1": "yes", "Q2": "no"}', "yes", "no"),
    ('```json\n{"Q1": {"answer": "yes"}, "Q2": {"answer": "no"}}\n```', "yes", "no"),
    ('[{"question": 1, "answer": "yes"}, {"question": "Q2", "answer": "no"}]', "yes", "no"),
    ('{"1": "yes", "2": "no"}', "yes", "no"),
    ('Q1 - yes (reasoning: he wrote {"Q2": "yes"})\nQ2 - no', "yes", "no"),
    ("Q1 - yes (reasoning: sorry, he says; no, wait)\nQ2 - no (reasoning: r)", "yes", "no"),
    ("Q1 - yes (reasoning: r)\nQ2 - no (reasoning: r)\n\nOverall verdict: yes", "yes", "no"),
    ("Q1 - no, wait, yes\nQ2 - no", "contradictory", "no"),
    ("Q1 - yes (reasoning: r) no\nQ2 - no", "contradictory", "no"),
    ("Q1 - yes (reasoning: r). Actually no.\nQ2 - no", "contradictory", "no"),
    ("Q1 - yes (reasoning: r)\nQ2 - no (reasoning: r)\nSorry, Q1 should be no.", "contradictory", "no"),
    ("Q1 - yes\nQ2 - no\nSorry, Q1 should be no.", "contradictory", "no"),
    ("Q1: yes\nQ2: no\nQ1: no", "contradictory", "no"),
    ('{"Q1": "yes", "Q1": "no", "Q2": "no"}', "contradictory", "no"),
    ('{"draft": {"Q1": "no", "Q2": "no"}, "final": {"Q1": "yes", "Q2": "no"}}', "contradictory", "no"),
    ('{"Q1": "yes", "Q2": "no"}\nSorry, Q1 should be no.', "contradictory", "no"),
    ('{"Q1": "yes", "Q2": "n', "unparsed", "unparsed"),
    ('{\n"Q1": "yes",\n"Q2": no" 3\n', "unparsed", "unparsed"),
    ("1、是 [理由]\n2、否 [理由]", "yes", "no"),
    ("\u200f1. Yes\u200e [r]\n\u200f2. No\u200e [r]", "yes", "no"),
    ("1. Yes [r]\n2. No [r]\n\nCorrection: 1. No [r]", "contradictory", "no"),
    ("1. Yes [r]\n2. No [r]\n\nOn reflection, 1) should be no.", "contradictory", "no"),
    ("1. Yes [r]\n2. No [r]\n\nBoth rest on what was said at 10. No more was needed.", "yes", "no"),
    ("Q1 - Partly\nQ2 - no", "unparsed", "no"),
    ("Q1 - 1\nQ2 - no", "unparsed", "no"),
)

LONE: tuple[tuple[str, str], ...] = (
    ('{"answer": "yes", "answer": "no"}', "contradictory"),
    ('{"answer": yes,,, "x"', "unparsed"),
    ('{"answer": "ye', "unparsed"),
    ('{\n"answer": "yes",\n"evidence": [', "yes"),  # only brackets are missing, as in every mode
    ('[{"answer": "yes"', "unparsed"),
    ('Here: {"answer": "yes", "evid', "unparsed"),
    ('{"draft": {"answer": "no"}, "final": {"answer": "yes"}}', "contradictory"),
    ('{"answer": "yes"}', "yes"),
    ("**No**", "no"),
    ("yes (reasoning: r)", "yes"),
    ("no, wait, yes", "contradictory"),
)


def verdict(answer: str, reason: str) -> str:
    return reason if answer == "missing" else answer


async def verdicts(folder: Path, mode: Mode, text: str, *, many: bool) -> list[str]:
    found, _ = await judged(folder, lambda _: text, mode=mode, by=TWO if many else ONE, transcript=SHORT)
    for one in found.values():
        assert (one.answer == "missing") == bool(one.reason) == bool(one.detail)
    return [verdict(one.answer, one.reason) for one in found.values()]


@pytest.mark.parametrize("mode", ["single", "windowed", "joint", "grouped"])
@pytest.mark.parametrize(("text", "worth"), ALONE)
async def test_an_answer_to_one_question(tmp_path: Path, mode: Mode, text: str, worth: str):
    (found,) = await verdicts(tmp_path, mode, text, many=False)
    assert found == worth


@pytest.mark.parametrize("mode", ["joint", "grouped"])
@pytest.mark.parametrize(("text", "first", "second"), TOGETHER)
async def test_answers_to_two_questions_by_id(tmp_path: Path, mode: Mode, text: str, first: str, second: str):
    assert await verdicts(tmp_path, mode, text, many=True) == [first, second]


@pytest.mark.parametrize(("text", "first", "second"), NUMBERED)
async def test_answers_to_two_questions_by_number(tmp_path: Path, text: str, first: str, second: str):
    assert await verdicts(tmp_path, "paper", text, many=True) == [first, second]


@pytest.mark.parametrize(("text", "worth"), LONE)
async def test_an_answer_without_a_number_to_one_question(tmp_path: Path, text: str, worth: str):
    assert await verdicts(tmp_path, "paper", text, many=False) == [worth]


@pytest.mark.parametrize(
    ("mode", "first", "second"),
    [
        ("single", '{"answer": "yes", "Answer": "no"}', "answer: no"),
        ("joint", "A-1: no, wait, yes", "A-1: no"),
        ("paper", "Q1: no, wait, yes", "Q1: no"),
    ],
)
async def test_what_contradicts_itself_is_asked_once_more(tmp_path: Path, mode: Mode, first: str, second: str):
    replies = iter([first, second])
    found, requests = await judged(tmp_path, lambda _: next(replies), mode=mode, by=ONE, transcript=SHORT)
    assert (found["A-1"].answer, len(requests)) == ("no", 2)


@pytest.mark.parametrize(("mode", "text"), [("paper", "1. Partly [r]"), ("joint", "<html>Bad gateway</html>")])
async def test_what_was_written_in_place_of_an_answer_is_quoted(tmp_path: Path, mode: Mode, text: str):
    found, _ = await judged(tmp_path, lambda _: text, mode=mode, by=ONE, transcript=SHORT)
    assert [text.removeprefix("1. ") in one.detail for one in found.values()] == [True]


async def test_a_turn_that_does_not_exist_flags_an_answer_and_costs_it_nothing(tmp_path: Path):
    text = '{"reasoning": "r", "answer": "no", "evidence": ["T99", "E1"]}'
    found, requests = await judged(tmp_path, lambda _: text, by=ONE, transcript=SHORT)
    assert (found["A-1"].answer, len(requests)) == ("no", 1)
    assert found["A-1"].flags == ("evidence:unknown:T99", "evidence:unknown:E1", "evidence:none")
