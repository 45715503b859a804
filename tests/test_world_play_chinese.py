"""A scene in Chinese: the order of its calls under each protocol, its prompts, and names as they are written there."""

from __future__ import annotations

from pathlib import Path

import pytest

from dramaturg.model.request import Request
from dramaturg.stage.world.limits import WorldLimits
from dramaturg.stage.world.scene import Environment, Opening, Scene, SceneCharacter
from dramaturg.stage.world.setting import WorldProtocol
from world_fixtures import STEADY, Answers, influence, play

DOU = Scene(
    id="ducou",
    title="末班渡船",
    language="zh",
    event="末班渡船还有五分钟开，只剩一个座位。",
    environment=Environment(time="黄昏", place="渡口", description="雾，一盏灯，一根缆绳。"),
    characters=(
        SceneCharacter(
            id="lin",
            name="林若兰",
            aliases=("林大夫",),
            profile="大夫，孩子在对岸生着病。",
            position="跳板旁",
            state="气喘吁吁",
            opening=Opening(action="林若兰把药箱放上跳板。", speech="这个座位是我的。"),
        ),
        SceneCharacter(id="zhao", name="赵四", profile="走私的人。", position="灯后", state="警惕"),
    ),
)
ONE = WorldLimits(rounds=1)

DEEDS = {
    "character:lin": "林若兰一步跨上跳板，把药箱压在座位上。",
    "character:zhao": "赵四吹灭了灯，渡口一下子黑了。",
    "character:qian": "钱三解开缆绳的第一个结。",
}

SPEECHES = {
    "character:lin": "十点三十分开船，谁也别拦我。",
    "character:zhao": "钱我出双倍。",
    "character:qian": "你们再吵，船就走了。",
}


def who(request: Request) -> str:
    """Returns the role that is asked."""
    return request.labels["step"].split("/")[2]


CHINESE: Answers = {
    **STEADY,
    "self-belief": "我要过河。",
    "environment-belief": "他们也要过河。",
    "beliefs": '{"self_belief": "我要过河。", "environment_belief": "他们也要过河。"}',
    "action": lambda request: DEEDS[who(request)],
    "speech": lambda request: SPEECHES[who(request)],
    "act": lambda request: f'{{"action": "{DEEDS[who(request)]}", "speech": "{SPEECHES[who(request)]}"}}',
    "reaction": "赵四退了一步，抓住缆绳。",
    "influence": lambda request: influence(request, "赵四", "轮到林若兰"),
    "result": lambda request: (
        '{"result": "两人都晃了一下。", "updates": [{"who": "lin", "position": "船上", "state": "得意"},'
        ' {"who": "zhao", "position": "水里", "state": "湿透"}]}'
        if request.schema is not None
        else "两人都晃了一下。"
    ),
    "update": '{"position": "缆绳旁", "state": "发抖"}',
    "synopsis": "林若兰：上船\n赵四：拦住她",
}


HIT = ["narrator influence", "zhao reaction", "narrator result"]
ORDERS: dict[WorldProtocol, list[str]] = {
    "paper": [
        *["lin self-belief", "zhao self-belief", "lin environment-belief", "zhao environment-belief"],
        *["lin action", "lin speech", *HIT, "narrator update", "narrator update"],
        *["zhao action", "zhao speech", "narrator influence", "narrator update"],
        "narrator environment",
    ],
    "released": [
        *["lin self-belief", "zhao self-belief", "lin environment-belief", "zhao environment-belief"],
        "director synopsis",
        *["lin action", "lin speech", *HIT, "narrator update", "narrator update"],  # who reacted loses its turn
        "narrator environment",
    ],
    "fast": [
        *["lin beliefs", "zhao beliefs"],
        *["lin act", "narrator influence", "zhao reaction"],
        *["zhao act", "narrator result", "narrator influence"],  # a result is told beside the next act
        "narrator environment",
    ],
}


@pytest.mark.parametrize("protocol", ORDERS)
async def test_each_protocol_asks_in_its_order(tmp_path: Path, protocol: WorldProtocol) -> None:
    played = await play(tmp_path, protocol, CHINESE, DOU, limits=ONE, slow=frozenset({"result"}))
    assert played.order() == ORDERS[protocol]
    (act,) = [turn for turn in played.transcript.turns if "target:zhao" in turn.flags and turn.kind == "action"]
    assert act.role == "character:lin"


@pytest.mark.parametrize("protocol", ORDERS)
async def test_prompts_are_in_the_language_of_the_scene(tmp_path: Path, protocol: WorldProtocol) -> None:
    played = await play(tmp_path, protocol, CHINESE, DOU, limits=ONE)
    for request in played.requests:
        for message in request.messages:
            if message.role != "assistant":
                assert sum("\u4e00" <= sign <= "\u9fff" for sign in message.text) > 0.2 * len(message.text), (
                    message.text
                )


def naming(name: str) -> Answers:
    """Returns the answers with a narrator that names somebody in its own way."""

    def named(request: Request) -> str:
        return influence(request, name, "轮到林若兰")

    return {**CHINESE, "influence": named}


@pytest.mark.parametrize("name", ["zhao", "赵四", "赵四先生", "「赵四」", "老赵"])
async def test_a_name_is_found_as_chinese_writes_it(tmp_path: Path, name: str) -> None:
    played = await play(tmp_path, "paper", naming(name), DOU, limits=ONE)
    assert "zhao reaction" in played.order()


async def test_a_pronoun_that_could_mean_two_people_names_nobody(tmp_path: Path) -> None:
    three = DOU.model_copy(update={"characters": (*DOU.characters, SceneCharacter(id="qian", name="钱三"))})
    played = await play(tmp_path, "paper", naming("他"), three, limits=ONE)
    assert not [call for call in played.order() if call.endswith("reaction")]
    assert any(cure.kind.startswith("influence:") for cure in played.transcript.cures)
