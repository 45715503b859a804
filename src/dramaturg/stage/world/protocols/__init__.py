"""The three protocols: how a round goes.

In: a world. Out: nothing but what happens in it; each module tells the source of its order of calls.
"""

from dramaturg.stage.world.protocols.fast import play_fast_round
from dramaturg.stage.world.protocols.paper import play_paper_round
from dramaturg.stage.world.protocols.released import play_released_round

__all__ = ["play_fast_round", "play_paper_round", "play_released_round"]
