"""What a player wrote becomes its own deed: others' deeds, forms and tales that small models write are taken off."""

import pytest

from dramaturg.stage.world.answers import EnvironmentUpdate
from dramaturg.stage.world.deeds import Deed, DeedKind, Reader
from dramaturg.stage.world.sameness import is_copy, is_same, is_told
from dramaturg.stage.world.scene import SceneCharacter

MOEATA = SceneCharacter(id="moeata", name="Moeata")
TAVAKE = SceneCharacter(id="tavake", name="Tavake", aliases=("Grandfather",))
LIN = SceneCharacter(id="lin", name="林小雨")
CHEN = SceneCharacter(id="chen", name="陈伯")


def read(text: str, kind: DeedKind = "action", *, heard: tuple[str, ...] = (), earlier: tuple[str, ...] = ()) -> Deed:
    reader = Reader(MOEATA, (TAVAKE,), "en", [*earlier], [*heard])
    return reader.read("ok", text, text, key="call", kind=kind)


@pytest.mark.parametrize(
    ("written", "kept", "flags"),
    [
        (
            "Moeata lifts the gourd. Tavake nods and drinks.",
            "Moeata lifts the gourd.",
            ("narrates:tavake", "cut:other_act"),
        ),
        ("Tavake points to the northern cloud.", "", ("narrates:tavake", "others_act")),
        ("Grandfather falls into the sea.", "", ("narrates:tavake", "others_act")),
        ("Tavake is asleep, so Moeata takes the paddle.", "Tavake is asleep, so Moeata takes the paddle.", ()),
        ("Moeata kneels. Tavake takes the gourd from Moeata.", "Moeata kneels.", ("narrates:tavake", "cut:other_act")),
        ("Tavake's hand is cold. Moeata holds it.", "Tavake's hand is cold. Moeata holds it.", ()),
        ("Moeata climbs down to where Tavake sits.", "Moeata climbs down to where Tavake sits.", ()),
    ],
)
def test_an_act_ends_where_it_decides_for_somebody_else(written: str, kept: str, flags: tuple[str, ...]) -> None:
    deed = read(written)
    assert (deed.text, deed.flags, deed.raw) == (kept, flags, written)


def test_in_chinese_too_and_not_where_a_name_is_called_or_owns_something() -> None:
    reader = Reader(LIN, (CHEN,), "zh")
    told = "林小雨把灯举高。陈伯跪了下来。"
    assert reader.read("ok", told, told, key="", kind="action").text == "林小雨把灯举高。"
    owned = "陈伯的手在发抖，林小雨握住它。"
    assert reader.read("ok", owned, owned, key="", kind="action").text == owned


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ('"Moeata: I step aside and let them pass."', "I step aside and let them pass."),
        ("“Moeata: I step aside.”", "I step aside."),
        ('Moeata points at "the lagoon"', 'Moeata points at "the lagoon"'),
    ],
)
def test_a_mark_that_was_opened_before_the_name_is_taken_off(written: str, kept: str) -> None:
    assert read(written).text == kept


@pytest.mark.parametrize(
    "written",
    ["Moeata says, ", "Moeata says.", "Moeata says:", "Moeata, silent.", "(turns away)", "*shrugs*", "【走开】"],
)
def test_a_speech_in_which_nothing_is_said_is_silence(written: str) -> None:
    deed = read(written, "speech")
    assert (deed.text, deed.flags) == ("", ())


def test_in_chinese_a_stage_direction_is_no_speech() -> None:
    reader = Reader(LIN, (CHEN,), "zh")
    assert reader.read("ok", "（转身离开）", "（转身离开）", key="", kind="speech").text == ""
    assert reader.read("ok", "林小雨，沉默。", "林小雨，沉默。", key="", kind="speech").text == ""
    said = "（低声）我不走。"
    assert reader.read("ok", said, said, key="", kind="speech").text == said


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("Moeata looks at the drip stand, and says, ", "Moeata looks at the drip stand"),
        ("Moeata nods and then says:", "Moeata nods"),
        ("Moeata does as the old man says.", "Moeata does as the old man says."),
    ],
)
def test_an_act_ends_before_a_verb_of_speaking_with_nothing_behind_it(written: str, kept: str) -> None:
    assert read(written).text == kept


@pytest.mark.parametrize(
    "written",
    [
        "“I cannot let this happen,” Moeata says, her voice firm.",
        '"I cannot let this happen," she whispers.',
        "“I cannot let this happen,” said Moeata.",
    ],
)
def test_who_says_it_and_how_may_stand_behind_the_words(written: str) -> None:
    assert read(written, "speech").text in {"I cannot let this happen,", "I cannot let this happen"}


@pytest.mark.parametrize("kind", ["action", "reaction"])
def test_of_a_form_that_was_cut_what_stands_in_it_is_kept(kind: DeedKind) -> None:
    reader = Reader(MOEATA, (TAVAKE,), "en")
    cut = '{"action":"Moeata opens the basket. She looks at the \\"envelope\\" and'
    deed = reader.read("truncated", cut, cut, key="", kind=kind)
    assert (deed.text, deed.flags) == ("Moeata opens the basket.", ("form", "truncated"))
    assert reader.read("truncated", '{"thought":"She', '{"thought":"She', key="", kind=kind).text == ""


def test_of_a_form_with_other_quotation_marks_what_stands_under_the_own_name_is_kept() -> None:
    reader = Reader(LIN, (CHEN,), "zh")
    written = '{"林小雨":“我立刻拿起灯，问他：“你的手怎么这样凉？””}'
    deed = reader.read("ok", written, written, key="", kind="reaction")
    assert (deed.text, deed.flags) == ("我立刻拿起灯，问他：“你的手怎么这样凉？”", ("form",))


def test_a_speech_may_speak_of_somebody_else() -> None:
    assert read("Tavake is a fool, and you know it.", "speech").text == "Tavake is a fool, and you know it."


@pytest.mark.parametrize(
    ("written", "kind", "kept"),
    [
        ('{"action": "Moeata turns the sail.", "speech": "North!"}', "action", "Moeata turns the sail."),
        ('{"action": "Moeata turns the sail.", "speech": "North!"}', "speech", "North!"),
        ('{"action": "Moeata turns the sail.", "speech": "North!"}', "reaction", "Moeata turns the sail. “North!”"),
        ('```json\n{"Action": "Moeata waits.", "speech": "(silent)"}\n```', "reaction", "Moeata waits."),
        ('{"action": "Moeata waits.", "speech": ""}', "speech", ""),
        ('{"Moeata": "Moeata takes off her shoes."}', "reaction", "Moeata takes off her shoes."),
    ],
)
def test_a_form_where_free_text_was_asked_for_is_taken_off(written: str, kind: DeedKind, kept: str) -> None:
    deed = read(written, kind)
    assert deed.text == kept
    assert "form" in deed.flags


def test_in_a_form_too_another_does_not_speak() -> None:
    written = '{"action": "Moeata gives up the paddle.", "speech": "Tavake says, \'Thank you, child.\'"}'
    assert read(written, "reaction").text == "Moeata gives up the paddle."
    written = '{"action": "Moeata gives up the paddle.", "speech": "Moeata says, \'Take it.\'"}'
    assert read(written, "reaction").text == "Moeata gives up the paddle. “Take it.”"


@pytest.mark.parametrize("written", ["{she throws the rope}", '{"position": "on deck", "state": "wet"}'])
def test_braces_that_are_no_deed_stay(written: str) -> None:
    assert "form" not in read(written).flags


@pytest.mark.parametrize(
    ("written", "kept", "flag"),
    [
        ("Moeata says, “The terns went north.” She waits.", "The terns went north.", "told"),
        ("Moeata shouts: 'North! It isn't far.'", "North! It isn't far.", ""),
        ("'North' is a word; so is 'south'", "'North' is a word; so is 'south'", ""),
        ("Tavake points north and says, 'Which one is it?'", "", "others_act"),
        ("It's Moeata's turn, isn't it?", "It's Moeata's turn, isn't it?", ""),
    ],
)
def test_the_words_of_a_speech_are_taken_out_of_a_tale(written: str, kept: str, flag: str) -> None:
    deed = read(written, "speech")
    assert deed.text == kept
    assert deed.flags[:1] == ((flag,) if flag else ())


def test_who_says_it_is_no_part_of_a_speech_and_quotes_may_stand_in_quotes() -> None:
    reader = Reader(CHEN, (LIN,), "zh")
    told = "陈伯低声说：‘‘雨’字我天天盼，它烧成灰我也认得。’"
    assert reader.read("ok", told, told, key="", kind="speech").text == "‘雨’字我天天盼，它烧成灰我也认得。"
    spoken = "Moeata whispers: Do not look so hard."
    assert read(spoken, "speech").text == "Do not look so hard."
    assert read("Moeata and Tavake: both must stay.", "speech").text == "Moeata and Tavake: both must stay."
    told = "陈伯把灯放下，说，“‘雨’字我认得。”"
    assert reader.read("ok", told, told, key="", kind="speech").text == "‘雨’字我认得。"


def test_a_speech_that_tells_the_action_over_again_is_what_is_quoted_in_it() -> None:
    told = "Moeata points to the northern cloud for all to see, and says, 'The sun will not wait for us.'"
    action, speech = Reader(MOEATA, (TAVAKE,), "en").both(Deed(told), Deed(told, flags=("repeat",)))
    assert (action.text, speech.text, speech.flags) == (told, "The sun will not wait for us.", ("doubled",))
    wordless = "Moeata points to the northern cloud for all of them to see."
    assert Reader(MOEATA, (TAVAKE,), "en").both(Deed(wordless), Deed(wordless))[1].text == ""


def test_what_somebody_else_did_is_drawn_anew_and_a_short_answer_is_not() -> None:
    deed = "She shades her eyes with one hand and looks at the northern cloud."
    assert read(deed, heard=(deed,)).fault == "copy"
    assert read(deed, earlier=(deed,)).fault == "repeat"
    assert read("No. Never again.", "speech", heard=("No. Never again.",)).fault == ""


def test_sameness_goes_by_words_and_in_chinese_by_signs() -> None:
    one = "陈伯把门关上，又把灯吹灭，谁也不许出去。"
    assert is_same(one, "陈伯把门关上，又把灯吹灭，谁也不许出去！")
    assert is_copy(one, one)
    assert not is_copy("我不走。", "我不走。")
    assert not is_same(one, "陈伯把窗打开，让风吹进来，叫大家都出去。")


def test_what_is_put_together_of_what_was_said_is_told_already() -> None:
    acts = ["Tavake lifts the long paddle out of its fork.", "Moeata climbs down and takes the paddle from his hands."]
    assert is_told(
        "Tavake lifts the long paddle out of its fork. Moeata climbs down and takes the paddle from his hands.", acts
    )
    assert not is_told("The paddle slips between the two of them and floats away into the dark.", acts)
    assert not is_told("", acts)
    assert not is_told("The paddle falls.", [*acts, "The paddle falls."])


def test_a_text_of_a_form_ends_where_the_next_key_begins_in_it() -> None:
    told = EnvironmentUpdate(description="A grey sea.\n\nundecided: who gets the gourd", place="on deck")
    assert (told.description, told.place) == ("A grey sea.", "on deck")
    assert EnvironmentUpdate(description="麦田黄了。 undecided：还有什么没有结果").description == "麦田黄了。"
    assert EnvironmentUpdate(description="The clock says 10:30; the place: unknown.").description.endswith("unknown.")


@pytest.mark.parametrize("left", ["nothing", "None.", "“Nothing is left”", "没有", "无。"])
def test_a_story_is_over_where_the_narrator_says_that_nothing_is_left(left: str) -> None:
    assert EnvironmentUpdate(undecided=left).concluded


@pytest.mark.parametrize("left", ["", "nothing has been said about the water", "who gets the gourd", "没有人知道谁走"])
def test_a_story_goes_on_while_anything_is_left(left: str) -> None:
    assert not EnvironmentUpdate(undecided=left).concluded
