"""The protocol `paper`: CharacterBox as its text has it.

Source: CharacterBox, Algorithm 1, whose lines stand beside the code, and section 3.2, by which beliefs are renewed at
the start of each round and the environment after it (line 14 stands inside the loop, the text says "after each round").
Everybody acts, also who has reacted. With n characters, of whose acts a share p affects somebody, a round takes
n(6 + 3p) + 1 calls.
"""

from __future__ import annotations

from dramaturg.stage.world.deeds import Deed
from dramaturg.stage.world.narrator import NOBODY
from dramaturg.stage.world.performer import Performer
from dramaturg.stage.world.world import World


async def play_paper_round(world: World) -> None:
    """Plays one round."""
    await world.believe(apart=True)
    plans = await world.plans(world.performers)
    for performer in world.performers:  # line 3
        plan = plans.get(performer.role.id, "")
        action = await performer.act(plan)  # lines 4 and 5
        speech = await performer.speak(plan)
        await _follow(world, performer, action, speech)  # lines 6 to 13
    await world.update_environment()  # line 14


async def _follow(world: World, performer: Performer, action: Deed, speech: Deed) -> None:
    """Lets the narrator say what follows from what a character did and said."""
    narrator, actor = world.narrator, performer.character
    if not (action.text or speech.text):
        world.perform(performer, action, speech, NOBODY)
        return
    deeds = (("action", action), ("speech", speech))
    influenced = await narrator.influence(actor, deeds)  # lines 6 and 7
    world.perform(performer, action, speech, influenced)
    if not influenced.target:  # line 11
        await world.update(actor)  # line 12
        return
    target = world.performer(influenced.target)  # line 8
    await world.react(target, performer.role)  # line 9
    outcome = await narrator.result(actor, target.character)  # line 10
    world.come_about(outcome, actor, target.character, updated=False)
    await world.update(actor)
    await world.update(target.character)
