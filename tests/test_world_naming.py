"""Whom a narrator's answer names."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dramaturg.stage.world.naming import Named, Names
from dramaturg.stage.world.scene import SceneCharacter

POTTER = SceneCharacter(id="harry", name="Harry Potter", gender="male", aliases=("The Boy Who Lived", "哈利"))
LILY = SceneCharacter(id="lily", name="Lily Potter", gender="female")
RON = SceneCharacter(id="ron", name="Ron Weasley", gender="male")
HAGRID = SceneCharacter(id="keeper", name="Captain Rubeus Hagrid")
ENGLISH = Names([POTTER, LILY, RON, HAGRID])

BAOYU = SceneCharacter(id="baoyu", name="贾宝玉", gender="男", aliases=("宝二爷",))
DAIYU = SceneCharacter(id="daiyu", name="林黛玉", gender="女")
XIFENG = SceneCharacter(id="xifeng", name="王熙凤", gender="女")
LADY_WANG = SceneCharacter(id="lady-wang", name="王夫人", gender="女")
KONGMING = SceneCharacter(id="kongming", name="诸葛亮", aliases=("孔明", "Kongming"))
FOREIGNER = SceneCharacter(id="anna", name="安娜·史密斯")
CHINESE = Names([BAOYU, DAIYU, XIFENG, LADY_WANG, KONGMING, FOREIGNER])


@pytest.mark.parametrize(
    "text",
    [
        *("harry", "Harry Potter", "HARRY POTTER", "Harry", "hárry", "harry_potter", " Harry ", "Harry."),
        *("[Harry]", "**Harry**", "“Harry”", "'Harry'", '"harry",', "<Harry>", "@Harry", "1. Harry", "- Harry"),
        *("Target: Harry", "The target is: Harry", "Character: Harry Potter", "character:harry", "目标：哈利"),
        *("Harry (the boy)", "The boy (Harry)", "Harry, the boy", "Harry - he falls", "Harry: pushed by Ron"),
        *("Harry, Ron's friend", "Harry\nHe is the one who is hit.", "Harry, not Ron", "Potter, Harry"),
        *(
            "Mr. Potter",
            "Mr Potter",
            "young Harry",
            "Professor Harry Potter",
            "the boy who lived",
            "Harry James Potter",
        ),
        *("哈利", "哈利（男孩）", "“哈利”。", "The action affects Harry directly.", "the boy Harry", "Ron hits Harry"),
    ],
)
def test_a_name_is_found_however_it_is_written(text: str) -> None:
    assert ENGLISH.resolve(text, by="ron") == Named("one", ("harry",))


@pytest.mark.parametrize(
    ("text", "person"),
    [
        *(("贾宝玉", "baoyu"), ("宝玉", "baoyu"), ("「宝玉」", "baoyu"), ("宝二爷", "baoyu"), ("宝哥哥", "baoyu")),
        *(
            ("林姑娘", "daiyu"),
            ("黛玉妹妹", "daiyu"),
            ("林黛玉（宝玉的表妹）", "daiyu"),
            ("Lin Daiyu (林黛玉)", "daiyu"),
        ),
        *(("凤姐", "xifeng"), ("王夫人", "lady-wang"), ("夫人", "lady-wang"), ("目标角色：宝玉", "baoyu")),
        *(("孔明", "kongming"), ("诸葛先生", "kongming"), ("诸葛", "kongming"), ("KONGMING", "kongming")),
        *(("安娜", "anna"), ("史密斯小姐", "anna"), ("安娜・史密斯", "anna"), ("受影响的是宝玉", "baoyu")),
    ],
)
def test_a_chinese_name_is_found_whole_short_and_with_a_title(text: str, person: str) -> None:
    assert CHINESE.resolve(text, by="somebody") == Named("one", (person,))


@pytest.mark.parametrize(
    "text",
    [
        *("none", "None.", "[none]", "NONE (he is alone)", "nobody", "No one", "N/A", "null", "nobody in particular"),
        *(
            "无",
            "没有人",
            "没人",
            "“无”。",
            "没有影响任何人",
            "The action affects no one.",
            "Target: none",
            "the environment",
        ),
        *("It does not directly affect any other character.", "Harry's act affects nobody."),
    ],
)
def test_nobody_is_an_answer_of_its_own(text: str) -> None:
    assert ENGLISH.resolve(text, by="ron") == Named("nobody")


def test_a_part_of_two_names_is_ambiguous_until_a_title_tells_them_apart() -> None:
    assert ENGLISH.resolve("Potter") == Named("ambiguous", ("harry", "lily"))
    assert ENGLISH.resolve("Mrs. Potter") == Named("one", ("lily",))
    assert CHINESE.resolve("王姑娘") == Named("ambiguous", ("xifeng", "lady-wang"))


def test_a_name_that_is_part_of_anothers_is_its_owners() -> None:
    names = Names([SceneCharacter(id="a", name="Ann"), SceneCharacter(id="b", name="Ann Lee")])
    assert names.resolve("Ann").id == "a"
    assert names.resolve("Ann Lee").id == "b"
    assert names.resolve("Ann Lee steps back while the door is closing").id == "b"
    chinese = Names([SceneCharacter(id="a", name="石头"), SceneCharacter(id="b", name="石头记")])
    assert chinese.resolve("石头").id == "a"
    assert chinese.resolve("这句话伤了石头记").id == "b"


@pytest.mark.parametrize("text", ["him", "She", "them", "the other", "他", "对方"])
def test_a_pronoun_is_somebody_only_where_one_other_is_there(text: str) -> None:
    assert ENGLISH.resolve(text, by="ron").meaning == "ambiguous"
    assert Names([POTTER, RON]).resolve(text, by="ron") == Named("one", ("harry",))
    assert Names([RON]).resolve(text, by="ron") == Named("nobody")


def test_whoever_acts_is_told_apart_from_the_others() -> None:
    for text in ("himself", "自己", "Ron", "ron"):
        assert ENGLISH.resolve(text, by="ron") == Named("self", ("ron",))
    assert ENGLISH.resolve("himself").meaning == "unknown"


def test_several_are_all_named() -> None:
    for text in ("Harry and Lily", "Harry, Lily", "Harry & Lily", "- Harry\n- Lily", "Harry/Lily", "Harry和Lily"):
        assert ENGLISH.resolve(text, by="ron") == Named("several", ("harry", "lily"))
    assert ENGLISH.resolve("everyone", by="ron") == Named("several", ("harry", "lily", "keeper"))
    assert CHINESE.resolve("宝玉、黛玉和王夫人").ids == ("baoyu", "daiyu", "lady-wang")
    assert Names([POTTER, RON]).resolve("everyone", by="ron") == Named("one", ("harry",))


def test_a_choice_between_two_is_ambiguous() -> None:
    assert ENGLISH.resolve("Harry or Lily") == Named("ambiguous", ("harry", "lily"))
    assert CHINESE.resolve("宝玉或黛玉").meaning == "ambiguous"


@pytest.mark.parametrize(
    "text",
    [
        *("", "  ", "[]", "…", "Draco", "Ginny Weasley", "ginny weasley", "Harry Dursley", "Harry's mother", "the boy"),
        *(
            "Harrys",
            "Mrs. Weasley",
            "This act hits Mrs. Weasley hard.",
            "甄宝玉",
            "宝玉的母亲",
            "玉",
            "王",
        ),
    ],
)
def test_nobody_is_guessed(text: str) -> None:
    for names in (ENGLISH, CHINESE):
        assert names.resolve(text).id == ""
        assert names.resolve(text).is_doubtful


def test_a_denial_names_nobody() -> None:
    for text in ("It does not affect Harry", "No one but Harry", "everybody except Harry is hit"):
        assert ENGLISH.resolve(text, by="ron").is_doubtful


def test_a_title_alone_is_somebody_where_one_has_it() -> None:
    assert ENGLISH.resolve("the captain").id == "keeper"
    assert Names([HAGRID, SceneCharacter(id="x", name="Captain Ahab")]).resolve("the captain").meaning == "ambiguous"


def test_a_character_may_be_called_nobody_but_not_none() -> None:
    names = Names([SceneCharacter(id="odysseus", name="Nobody"), RON])
    assert names.resolve("Nobody", by="ron").id == "odysseus"
    assert names.resolve("none", by="ron") == Named("nobody")


def test_a_chinese_name_may_hold_a_word_that_joins() -> None:
    names = Names([SceneCharacter(id="monk", name="和尚"), SceneCharacter(id="priest", name="道士")])
    assert names.resolve("和尚").id == "monk"
    assert names.resolve("和尚、道士") == Named("several", ("monk", "priest"))


_EVERYBODY = [POTTER, LILY, RON, HAGRID, BAOYU, DAIYU, XIFENG, LADY_WANG, KONGMING, FOREIGNER]
_BOTH = Names(_EVERYBODY)


@settings(deadline=None)
@given(
    character=st.sampled_from(_EVERYBODY),
    frame=st.sampled_from(
        ["{}", "[{}]", "“{}”", "**{}**", "({})", "{}.", "{}。", "Target: {}", "{} (a note)", "「{}」"]
    ),
    choice=st.integers(0, 9),
)
def test_everybodys_own_names_are_theirs(character: SceneCharacter, frame: str, choice: int) -> None:
    own = (character.id, character.name, *character.aliases)
    assert _BOTH.resolve(frame.format(own[choice % len(own)])).id == character.id


@settings(deadline=None)
@given(st.text(max_size=80))
def test_any_text_has_a_meaning(text: str) -> None:
    named = _BOTH.resolve(text, by="ron")
    assert (named.id != "") == (named.meaning in ("one", "self"))
    assert set(named.ids) <= {character.id for character in _EVERYBODY}
