"""The protocol `fast`: the same information in fewer calls, and no call waits for one that it does not need.

One call for both beliefs, one for action and speech, one for influence and the actor's update where nobody else is
affected, one for result and both updates. What comes of an act is told while the next character acts already, who
hears of it a turn later. With n characters, A acts of which k affect somebody, a round takes n + 2A + 2k + 1 calls, of
which at most 3 + 2A + k stand one after the other.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from dramaturg.stage.world.chain import together
from dramaturg.stage.world.deeds import Deed
from dramaturg.stage.world.narrator import NOBODY, Outcome
from dramaturg.stage.world.performer import Performer
from dramaturg.stage.world.world import World


async def play_fast_round(world: World) -> None:
    """Plays one round."""
    await world.believe(apart=False)
    plans = await world.plans(world.performers)
    pending: tuple[Performer, Performer] | None = None
    for performer in world.performers:
        deeds, outcome = await _beside(world, performer.act_and_speak(plans.get(performer.role.id, "")), pending)
        pending = await _follow(world, performer, deeds, pending, outcome)
    if pending is not None:
        actor, target = pending
        _come_about(world, pending, await world.narrator.result_with_updates(actor.character, target.character))
    await world.update_environment()


async def _beside(
    world: World, act: Coroutine[Any, Any, tuple[Deed, Deed]], pending: tuple[Performer, Performer] | None
) -> tuple[tuple[Deed, Deed], Outcome | None]:
    """Returns what a character does and says, and what came of the act before, both asked for at once."""
    if pending is None:
        return await act, None
    found: dict[str, Outcome] = {}
    done: list[tuple[Deed, Deed]] = []

    async def acts() -> None:
        done.append(await act)

    async def comes_about() -> None:
        actor, target = pending
        found["outcome"] = await world.narrator.result_with_updates(actor.character, target.character)

    await together(acts(), comes_about())
    return done[0], found["outcome"]


async def _follow(
    world: World,
    performer: Performer,
    deeds: tuple[Deed, Deed],
    before: tuple[Performer, Performer] | None,
    outcome: Outcome | None,
) -> tuple[Performer, Performer] | None:
    """Lets the narrator say whom a deed affects, and this one react; returns both, of whom the result is still open."""
    action, speech = deeds
    influenced = NOBODY
    if action.text or speech.text:
        named = (("action", action), ("speech", speech))
        influenced = await world.narrator.influence_or_update(performer.character, named)
    world.perform(performer, action, speech, influenced)
    if before is not None and outcome is not None:
        _come_about(world, before, outcome)
    if not influenced.target:
        world.left(performer, influenced)
        return None
    target = world.performer(influenced.target)
    await world.react(target, performer.role)
    return performer, target


def _come_about(world: World, pair: tuple[Performer, Performer], outcome: Outcome) -> None:
    actor, target = pair
    world.come_about(outcome, actor.character, target.character, updated=True)
