"""The protocol `released`: the order of the published code, its faults mended and its useless calls left out.

A director plans each round and is played by the first character's model. Who reacts loses its own turn in that round,
and the next round begins in the order in which this one was left. The narrator names a target in the published form.
Left out: a call for the importance of each memory, which nothing read, and the summary, which was only written down.
Source: reference section 1.4 of the published code. With A turns of which k hit somebody, a round takes
2n + 2 + 4A + 3k calls, of the published 2n + 3 + 6A + 9k.
"""

from __future__ import annotations

from dramaturg.stage.world.deeds import Deed
from dramaturg.stage.world.narrator import NOBODY
from dramaturg.stage.world.performer import Performer
from dramaturg.stage.world.world import World


async def play_released_round(world: World) -> None:
    """Plays one round."""
    await world.believe(apart=True)
    plans = await world.plans(world.performers)
    queue = [*world.performers]
    finished: list[Performer] = []
    while queue:
        performer = queue.pop(0)
        plan = plans.get(performer.role.id, "")
        action = await performer.act(plan)
        speech = await performer.speak(plan)
        finished.append(performer)
        target = await _follow(world, performer, action, speech)
        if target is not None and target in queue:
            queue.remove(target)  # it has reacted, and loses its turn
            finished.append(target)
    await world.update_environment()
    world.performers[:] = finished


async def _follow(world: World, performer: Performer, action: Deed, speech: Deed) -> Performer | None:
    """Lets the narrator say what follows from what a character did, not from what it said; returns who reacted."""
    narrator, actor = world.narrator, performer.character
    if not action.text:
        world.perform(performer, action, speech, NOBODY)
        return None
    influenced = await narrator.influence_as_published(actor, (("action", action),))
    world.perform(performer, action, speech, influenced)
    if not influenced.target:
        await world.update(actor)
        return None
    target = world.performer(influenced.target)
    await world.react(target, performer.role)
    outcome = await narrator.result(actor, target.character)
    world.come_about(outcome, actor, target.character, updated=False)
    await world.update(target.character)
    await world.update(actor)
    return target
