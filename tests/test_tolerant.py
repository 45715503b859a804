"""JSON, labelled lines and closed vocabularies in text that models write."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dramaturg.model.labelled import read_lines, read_records
from dramaturg.model.relaxed import Rivals
from dramaturg.model.tolerant import Broken, Found, read_json, read_values
from dramaturg.model.vocabulary import match_word, read_choice, read_yes_no, read_yes_no_field

FIELDS = ("reasoning", "answer", "evidence")
IDS = ("FC-1", "FC-10", "BRF-RA-1")


def value_of(text: str, *keys: str, cut: bool = False) -> object:
    found = read_json(text, keys=keys, cut=cut)
    return found.value if isinstance(found, Found) else None


class TestJson:
    @pytest.mark.parametrize(
        "text",
        [
            pytest.param('{"verdict": "yes"}', id="I08-plain"),
            pytest.param('```json\n{"verdict": "yes"}\n```', id="I08-fenced"),
            pytest.param('```\n{"verdict": "yes"}\n```', id="I08-fenced-without-language"),
            pytest.param('\ufeff{"verdict": "yes"}\n', id="byte-order-mark"),
            pytest.param('<think>{"verdict": "no"}</think>{"verdict": "yes"}', id="I17"),
        ],
    )
    def test_what_is_json_as_a_whole_is_not_called_repaired(self, text: str) -> None:
        found = read_json(text)
        assert isinstance(found, Found)
        assert (found.value, found.repaired) == ({"verdict": "yes"}, False)

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            pytest.param('Sure! Here it is: {"s": 1} Hope it helps {smile}', {"s": 1}, id="I07-prose,FW-09-smile"),
            pytest.param("{'s': 'it's fine', 'n': True,}", {"s": "it's fine", "n": True}, id="I07-single-quotes"),
            pytest.param('{"s": [1, 2,], }', {"s": [1, 2]}, id="I07-trailing-comma"),
            pytest.param('{"s": 1, // one\n /* two */ "t": 2}', {"s": 1, "t": 2}, id="FW-09-comment"),
            pytest.param('{"s": "a\nb\tc"}', {"s": "a\nb\tc"}, id="FW-09-raw-newline"),
            pytest.param('{"s": "he said "stop" now", "t": 1}', {"s": 'he said "stop" now', "t": 1}, id="FW-09-quotes"),
            pytest.param('{"s": "he said "go", then left"}', {"s": 'he said "go", then left'}, id="quote-and-comma"),
            pytest.param('{"s": 1}\n{"s": 2}', {"s": 2}, id="FW-09-two-objects"),
            pytest.param("{“s”: “yes”}", {"s": "yes"}, id="typographic-quotes"),
            pytest.param('x {\u200b"s\u200b": \u200b"yes"}', {"s": "yes"}, id="zero-width"),
            pytest.param("{s: yes, e: [T1, T2]}", {"s": "yes", "e": ["T1", "T2"]}, id="no-quotes"),
            pytest.param('{"s": "1" "t": 2}', {"s": "1", "t": 2}, id="comma-left-out"),
            pytest.param('{"e": ["T1", "T2"}', {"e": ["T1", "T2"]}, id="bracket-left-out"),
            pytest.param('{"s": "yes"', {"s": "yes"}, id="end-left-out"),
            pytest.param('{"s": "https://a.b/c", "t": 1,}', {"s": "https://a.b/c", "t": 1}, id="a-link-is-no-comment"),
            pytest.param('Here: {"s": "<think>"} done', {"s": "<think>"}, id="FW-07-tag-in-string"),
            pytest.param('{"s": "\\ud800", }', {"s": "\ufffd"}, id="lone-surrogate"),
        ],
    )
    def test_slips_are_mended_and_reported(self, text: str, value: object) -> None:
        found = read_json(text)
        assert isinstance(found, Found)
        assert (found.value, found.repaired) == (value, True)

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            pytest.param('<think>maybe {"s":1}</think>{"s":9}', {"s": 9}, id="FW-07-open-close"),
            pytest.param('maybe {"s":1}</think>{"s":9}', {"s": 9}, id="FW-07-close-only"),
            pytest.param('{"s": "<think>never</think>"}', {"s": "<think>never</think>"}, id="FW-07-inside-a-string"),
            pytest.param('<think>he said "stop</think>{"verdicts":[1]}', {"verdicts": [1]}, id="I16"),
            pytest.param(
                '<think>{"s": "</think>"} so</think>{"s": 2}', {"s": 2}, id="tag-in-a-string-of-the-reasoning"
            ),
            pytest.param('<think>{"s": 1}', None, id="reasoning-never-closed"),
            pytest.param('<think>{"s": 1}</think>I cannot say.', None, id="I17-only-the-reasoning-has-json"),
        ],
    )
    def test_reasoning_is_dropped_and_strings_are_left_alone(self, text: str, value: object) -> None:
        assert value_of(text) == value

    @pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "nan", "inf", "+inf", "1e999", "-1e999"])
    @pytest.mark.parametrize(
        "form", ['{{"s": {}}}', 'So: {{"s": {}, }} done', '{{"s": {} "t": "x"}}', '{{"s": [1, {}]}}']
    )
    def test_what_is_not_finite_is_no_json(self, form: str, number: str) -> None:
        """I13."""
        assert value_of(form.format(number)) is None

    def test_an_echoed_example_does_not_win(self) -> None:
        assert value_of('You asked for {"answer": "yes"}. I say {"answer": "no"}', "answer") == {"answer": "no"}

    @pytest.mark.parametrize(
        "text",
        [
            'Example: {"answer": "yes"}. Mine: {"answer": "n',
            'Example: {"answer": "yes"}. Mine: {"reasoning": "x", "answer": ',
            'Example: {"answer": "yes"}. Mine: {"answer": NaN}',
        ],
    )
    def test_an_earlier_object_does_not_stand_in_for_a_broken_last_one(self, text: str) -> None:
        """FW-04, for objects."""
        assert isinstance(read_json(text, keys=("answer",)), Broken)

    def test_objects_of_another_kind_are_passed_over(self) -> None:
        text = '{"answer": "yes"} as turn {"T1": "he came"} and [T2] and [3] show {smile}'
        assert value_of(text, "answer") == {"answer": "yes"}

    @pytest.mark.parametrize("around", ["{}", "So: {}.", "```json\n{}\n```", "<think>hm</think>{}"])
    def test_a_key_with_two_values_keeps_both_for_whoever_wants_one(self, around: str) -> None:
        value = value_of(around.format('{"answer": "yes", "answer": "no", "answer": "yes", "id": 1}'), "answer")
        assert value == {"answer": ["yes", "no"], "id": 1}
        assert isinstance(value, dict) and isinstance(value["answer"], Rivals)

    def test_a_key_with_two_values_is_no_slip_that_is_forgiven(self) -> None:
        assert isinstance(read_json("{'answer': 'yes', 'answer': 'no',}", keys=("answer",)), Broken)

    def test_a_repair_that_would_drop_one_of_two_values_is_not_taken(self) -> None:
        assert value_of('{"answer": "yes", "answer": "no" 3 4}', "answer") is None

    def test_a_key_with_one_value_twice_has_that_value(self) -> None:
        assert value_of('{"answer": "yes", "answer": "yes"}') == {"answer": "yes"}

    @pytest.mark.parametrize(
        "text", ["", "   ", "I cannot rate this", "[RESULT] 2", "{smile}", "yes", "7", '"x"', "null"]
    )
    def test_text_without_json_gives_nothing(self, text: str) -> None:
        assert value_of(text) is None

    @pytest.mark.parametrize("text", ['{"s": "ye', '{"s": 1', '{"s": tru', "{'s': 'x"])
    def test_a_value_that_may_go_on_is_not_completed(self, text: str) -> None:
        assert value_of(text) is None

    def test_cut_text_counts_only_as_a_whole(self) -> None:
        """I05."""
        assert value_of('{"s": "yes"', cut=True) is None
        assert value_of('{"s": "yes"} and then', cut=True) is None
        assert value_of('{"s": "yes"}\n  ', cut=True) == {"s": "yes"}

    def test_objects_survive_a_broken_or_cut_list(self) -> None:
        """FW-78."""
        broken = '{"answers": [{"id": "a", "v": 1}, {"id": "b", "v": 2 3}, {"id": "c", "v": 4}]}'
        values = [standing.value for standing in read_values(broken).values]
        assert values == [{"id": "a", "v": 1}, {"id": "c", "v": 4}]
        values = [standing.value for standing in read_values('[{"id": "a"}, {"ID": "b"}, {"id": "c", "v": "').values]
        assert values == [{"id": "a"}, {"ID": "b"}]

    @settings(deadline=None)
    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
            lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
            max_leaves=12,
        ).filter(lambda value: isinstance(value, dict | list)),
        st.booleans(),
    )
    def test_valid_json_is_read_unchanged(self, value: object, ascii_only: bool) -> None:
        text = json.dumps(value, ensure_ascii=ascii_only)
        found = read_json(text)
        assert isinstance(found, Found)
        assert (found.value, found.repaired) == (value, False)

    @settings(deadline=None)
    @given(st.dictionaries(st.text(min_size=1), st.text() | st.integers(), min_size=1, max_size=4), st.booleans())
    def test_valid_json_in_prose_or_a_fence_is_read_unchanged(self, value: dict[str, object], fenced: bool) -> None:
        inner = json.dumps(value)
        text = f"Sure:\n```json\n{inner}\n```\nDone." if fenced else f"I think {inner} is right."
        assert value_of(text) == value

    @settings(deadline=None)
    @given(st.text(alphabet="{}[]\":,\\'/*<>think \nab1-.e", max_size=200))
    def test_any_text_gives_a_finite_value_or_nothing(self, text: str) -> None:
        found = read_json(text)
        assert not isinstance(found, Found) or json.dumps(found.value, allow_nan=False)

    @pytest.mark.parametrize("unit", ["{", "[", '{"a":', '{"a":"b" ', '{"a":"/* ', "[{", "<think>{"])
    def test_a_hostile_megabyte_takes_bounded_time(self, unit: str) -> None:
        text = unit * (1_000_000 // len(unit))
        started = time.process_time()
        read_json(text, keys=("answer",))
        read_values(text)
        read_lines(text, FIELDS)
        read_records(text, IDS, FIELDS)
        read_yes_no(text)
        assert time.process_time() - started < 20


class TestLines:
    @pytest.mark.parametrize(
        "text",
        [
            "answer: yes",
            "- **Answer**: Yes.",
            "**Answer:** yes",
            "> ANSWER： Yes",
            "1. Answer = yes",
            '"answer": "yes"',
            "answer: no\nanswer: yes",
            "Well.\nAnswer: yes\n",
            "ans\u200bwer: yes",
        ],
    )
    def test_a_labelled_answer_is_read(self, text: str) -> None:
        lines = read_lines(text, FIELDS)
        assert lines is not None
        assert read_yes_no(lines["answer"]) == "yes"

    def test_a_value_goes_on_until_the_next_label(self) -> None:
        lines = read_lines("reasoning: he said:\nit rains\nanswer: no\nevidence: T1, T2", FIELDS)
        assert lines == {"reasoning": "he said:\nit rains", "answer": "no", "evidence": "T1, T2"}

    def test_one_line_with_bars_is_read(self) -> None:
        lines = read_lines("| reasoning: it rains | answer: no | evidence: T3 |", FIELDS)
        assert lines == {"reasoning": "it rains", "answer": "no", "evidence": "T3"}

    def test_text_without_labels_gives_nothing(self) -> None:
        assert read_lines("I cannot say: it depends.", FIELDS) is None

    def test_reasoning_has_no_labels(self) -> None:
        assert read_lines("<think>answer: no</think>answer: yes", FIELDS) == {"answer": "yes"}

    @pytest.mark.parametrize(
        "text",
        [
            "FC-1: yes — because he did\nFC-10: no",
            "- **FC-1**: Yes. He did.\n- **FC-10**: No (T4)",
            "FC-1 | reasoning: a | answer: yes | evidence: T3\nFC-10 | reasoning: b | answer: no | evidence: none",
            "FC-1\nreasoning: x\nanswer: yes\n\nFC-10\nreasoning: y\nanswer: no",
            "| FC-1 | it rains | yes | T3 |\n| FC-10 | b | no | none |",
            "[fc-1] answer: yes\n(FC-10): no",
            "FC-1) yes\nFC-10) no",
            "FC-10：no\nFC-1：yes",
        ],
    )
    def test_records_are_matched_by_id_and_not_by_position(self, text: str) -> None:
        records = read_records(text, IDS, FIELDS, bare=("answer", "reasoning"))
        assert {record.id: read_yes_no(record.fields["answer"]) for record in records} == {
            "FC-1": "yes",
            "FC-10": "no",
        }

    def test_an_id_that_comes_twice_gives_two_records(self) -> None:
        records = read_records("FC-1: yes\nFC-1: no", IDS, FIELDS, bare=("answer", "reasoning"))
        assert [(record.id, record.fields["answer"]) for record in records] == [("FC-1", "yes"), ("FC-1", "no")]

    @settings(deadline=None)
    @given(st.text(max_size=300))
    def test_any_text_is_survived(self, text: str) -> None:
        read_lines(text, FIELDS)
        read_records(text, IDS, FIELDS, bare=("answer", "reasoning"))


class TestVocabulary:
    @pytest.mark.parametrize(
        ("text", "answer"),
        [
            *[
                (text, "yes")
                for text in (
                    "yes",
                    "Yes.",
                    "**YES**",
                    "ｙｅｓ",
                    "y",
                    "true",
                    "是",
                    "是的。",
                    "sì",
                    "Sì!",
                    "oui",
                    "ye\u200bs",
                )
            ],
            *[(text, "no") for text in ("no", "No.", "`n`", "False", "否", "不是", "non", "NO!")],
            *[
                (text, "not_applicable")
                for text in ("n. a.", "n/a", "N/A.", "not applicable", "NOT_APPLICABLE", "不适用", "not-applicable")
            ],
            *[
                (text, None)
                for text in (
                    "",
                    "  ",
                    "none",
                    "maybe",
                    "NaN",
                    "inf",
                    "-3",
                    "0",
                    "I cannot rate this",
                    "YesNo",
                    "yesterday",
                )
            ],
        ],
    )
    def test_short_answers_are_read_as_a_whole(self, text: str, answer: str | None) -> None:
        """I13, FW-03."""
        assert read_yes_no(text) == answer

    @pytest.mark.parametrize(
        ("text", "answer"),
        [
            pytest.param("Verdict: YES", "yes", id="FW-03-upper-case"),
            pytest.param("Verdict: y", "yes", id="FW-03-letter"),
            pytest.param("Verdict: YesNo", None, id="FW-03-malformed"),
            pytest.param("ANSWER: yes", "yes", id="FW-01"),
            pytest.param("At first Verdict: Yes ... Verdict: Partly", None, id="FW-04"),
            pytest.param("Verdict: Yes\nOn reflection.\nVerdict: no", "no", id="last-verdict"),
            pytest.param("No issues at all - YES", "yes", id="C26"),
            pytest.param("No issues at all -YES", "yes", id="C26-without-blank"),
            pytest.param("Thinking Process: 1. … no, wait …\n\nyes", "yes", id="I14"),
            pytest.param("The answer is no, not yes", "no", id="no-not-yes"),
            pytest.param("The answer is yes, not no.", "yes", id="yes-not-no"),
            pytest.param("The answer is not yes", None, id="negated"),
            pytest.param("The answer is yes, no or not_applicable.", None, id="echo-of-the-question"),
            pytest.param("Verdict: yes and no", None, id="both"),
            pytest.param("Answer: Yes/No", None, id="template"),
            pytest.param("Answer: yes|no|not_applicable", None, id="template-with-bars"),
            pytest.param("Answer: yes | no", None, id="template-with-spaced-bars"),
            pytest.param("Answer: yes; no", None, id="both-with-semicolon"),
            pytest.param("Answer: yes, or no", None, id="both-with-comma-and-or"),
            pytest.param("Answer: n. a.", "not_applicable", id="spaced-abbreviation"),
            pytest.param("Verdict: no one spoke", None, id="a-longer-phrase"),
            pytest.param("Yes, the witness says so.", "yes", id="opening"),
            pytest.param("yes — because the judge said it", "yes", id="opening-dash"),
            pytest.param("No. He never says yes.", None, id="opening-with-the-other-behind-it"),
            pytest.param("No, not yes.", "no", id="opening-with-the-other-negated"),
            pytest.param("Is it yes? I think no.", None, id="two-unanchored"),
            pytest.param("Answer: no\n\nyes", "yes", id="bare-last-line-after-a-label"),
            pytest.param("Verdict: Partly - yes", None, id="FW-04-off-menu-on-the-last-line"),
            pytest.param("答案：否", "no", id="chinese"),
            pytest.param("La risposta è: sì", "yes", id="italian"),
            pytest.param("Réponse : non", "no", id="french"),
        ],
    )
    def test_the_last_anchored_answer_is_authoritative(self, text: str, answer: str | None) -> None:
        assert read_yes_no(text) == answer

    @pytest.mark.parametrize(
        ("text", "option"),
        [
            pytest.param("(a)", "Yes", id="FW-55-label"),
            pytest.param("Yes", "Yes", id="FW-55-text"),
            pytest.param("b)", "Go home", id="FW-55-bare-label"),
            pytest.param("(b) go home", "Go home", id="FW-55-label-and-text"),
            pytest.param("The answer is (b)", "Go home", id="FW-55-sentence"),
            pytest.param("3", "Stay", id="number"),
            pytest.param("a or b", None, id="two"),
            pytest.param("d", None, id="unknown-label"),
        ],
    )
    def test_a_choice_is_read_by_label_or_text(self, text: str, option: str | None) -> None:
        assert read_choice(text, ["Yes", "Go home", "Stay"]) == option

    @pytest.mark.parametrize(
        ("text", "score"),
        [
            pytest.param("Score 5: excellent. Score 1: bad.\nThe reply is flat. [RESULT] 2", "2", id="I02"),
            pytest.param("Score: 4", "4", id="label"),
            pytest.param("-3", None, id="I13-negative"),
            pytest.param("score -3", None, id="I13-negative-behind-a-word"),
            pytest.param("NaN", None, id="I13-nan"),
            pytest.param("4.5", None, id="between"),
            pytest.param("Score: 10", None, id="out-of-range"),
        ],
    )
    def test_a_score_is_never_taken_from_the_rubric_nor_clamped(self, text: str, score: str | None) -> None:
        assert read_choice(text, list("12345")) == score

    def test_a_word_is_matched_whatever_its_spelling(self) -> None:
        assert match_word("**Not Guilty.**", ["guilty", "not_guilty"]) == "not_guilty"
        assert match_word("guilty or not", ["guilty", "not_guilty"]) is None

    @settings(deadline=None)
    @given(st.text(max_size=200))
    def test_any_text_is_survived(self, text: str) -> None:
        assert read_yes_no(text) in {"yes", "no", "not_applicable", None}

    @settings(deadline=None)
    @given(st.sampled_from(["yes", "no"]), st.text(alphabet="abc xyz", max_size=40), st.sampled_from("\n.!*` "))
    def test_marks_and_prose_before_a_labelled_answer_do_not_matter(self, answer: str, prose: str, mark: str) -> None:
        assert read_yes_no(f"{prose}\nVerdict: **{answer.upper()}**{mark}") == answer


@pytest.mark.parametrize("text", ["yes | no", "No: yes", "yes, A-2 answer: no", "no\n\nOverall: yes"])
def test_a_field_with_another_answer_behind_its_first_has_none(text: str) -> None:
    assert read_yes_no_field(text) is None


@pytest.mark.parametrize(
    "text", ["yes", "**Yes.**", "Yes, the judge does", "The answer is yes", "At first no. Verdict: yes"]
)
def test_a_field_with_one_answer_gives_it(text: str) -> None:
    assert read_yes_no_field(text) == "yes"
