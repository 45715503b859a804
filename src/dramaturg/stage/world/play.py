"""A story from its opening to its end, as a transcript.

A pure function of scene, cast, protocol, limits and the replies: played again on the same ledger it gives the same
bytes. Source: CharacterBox, section 3.2 and Algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from dramaturg.ledger.calls import Calls
from dramaturg.model.embeddings import Embedder, WordsOnly
from dramaturg.model.structured import MOST_ASKS
from dramaturg.stage.audience import Audience
from dramaturg.stage.cast import Cast, ModelSeat
from dramaturg.stage.transcript import EndReason, Outcome, Player, Role, Transcript
from dramaturg.stage.world.agents import OverflowedError
from dramaturg.stage.world.chain import OnCall, begin
from dramaturg.stage.world.chronicle import Chronicle
from dramaturg.stage.world.deeds import NOTHING_NEW
from dramaturg.stage.world.limits import DEFAULT_LIMITS, WorldLimits
from dramaturg.stage.world.memory import DEFAULT_RULES, MemoryRules
from dramaturg.stage.world.naming import Names
from dramaturg.stage.world.protocols import play_fast_round, play_paper_round, play_released_round
from dramaturg.stage.world.scene import Scene
from dramaturg.stage.world.setting import CHARACTER, DIRECTOR, Setting, WorldProtocol
from dramaturg.stage.world.world import World
from dramaturg.text import canonical_json, sha256

SUITE = "world"
CONCLUDED = "concluded"
"""Outcome of a story that the narrator has called over."""

_IDLE = frozenset({*NOTHING_NEW, "loop", "empty"})


async def play_scene(
    scene: Scene,
    *,
    cast: Cast,
    calls: Calls,
    seed: int,
    protocol: WorldProtocol = "paper",
    limits: WorldLimits = DEFAULT_LIMITS,
    embedder: Embedder | None = None,
    memory: MemoryRules = DEFAULT_RULES,
    prompts: Path | None = None,
    transcript_id: str = "",
    audience: Audience | None = None,
    on_call: OnCall | None = None,
) -> Transcript:
    """Returns the transcript of a story.

    It ends `completed` where the narrator calls it over, with the outcome `concluded`; `undecided` after the last
    round; `empty_turns` where nobody did anything new for several rounds; `context_overflow` where a prompt fits no
    model's context, even without what was said before.

    Args:
        scene: Where it begins.
        cast: Who plays: `character` or one `character:ID`, `narrator`, and `director` where somebody directs.
        calls: The unit's calls; every answer goes through them.
        seed: Which repeat; the calls derive their own seeds from the unit.
        protocol: How a round goes.
        limits: What the play may use.
        embedder: What compares memories with a situation; their words by default.
        memory: How characters remember.
        prompts: Folder of prompts that replace shipped ones of the same name.
        transcript_id: Id of the transcript; derived from all that makes the play by default.
        audience: Watches while the play goes on.
        on_call: Is told of every call.

    Raises:
        UnitStopped: An endpoint failed; the play goes on from there when it is played again.
        LimitReached: A budget of the run is used up.
        UserError: Somebody has no player, or the narrator is a person.
    """
    setting = Setting(
        scene=scene,
        protocol=protocol,
        limits=limits,
        cast=cast,
        calls=calls,
        embedder=embedder or WordsOnly(),
        memory=memory,
        prompts=prompts,
        names=Names(scene.characters),
        director=_director(scene, cast, protocol),
        audience=audience,
        on_call=on_call,
    )
    begin()
    world = World(setting)
    ending = await _play(world)
    return _transcript(world, ending, seed, transcript_id)


def _director(scene: Scene, cast: Cast, protocol: WorldProtocol) -> ModelSeat | None:
    """Returns who directs: who is cast for it; in the published order else the first character that a model plays."""
    seat = cast.seats.get(DIRECTOR)
    if isinstance(seat, ModelSeat):
        return seat
    if protocol != "released":
        return None
    for character in scene.characters:
        played = cast.seats.get(f"{CHARACTER}:{character.id}") or cast.seats.get(CHARACTER)
        if isinstance(played, ModelSeat):
            return ModelSeat(played.model)
    return None


async def _play(world: World) -> EndReason:
    limits, chronicle = world.setting.limits, world.chronicle
    stalled = settled = 0
    try:
        for _ in range(limits.rounds):
            chronicle.begin_round()
            await _play_round(world)
            settled = settled + 1 if world.concluded else 0
            if limits.settled_rounds and settled >= limits.settled_rounds:
                return "completed"
            stalled = stalled + 1 if _is_stalled(chronicle) else 0
            if stalled >= limits.stalled_rounds:
                return "empty_turns"
    except OverflowedError as overflow:
        chronicle.cure("overflow", overflow.role)
        return "context_overflow"
    return "undecided"


async def _play_round(world: World) -> None:
    match world.setting.protocol:
        case "paper":
            await play_paper_round(world)
        case "released":
            await play_released_round(world)
        case "fast":
            await play_fast_round(world)
        case _:
            assert_never(world.setting.protocol)


def _is_stalled(chronicle: Chronicle) -> bool:
    """Returns whether nobody did anything new in the round: every deed was none, or one that was done before."""
    phase = f"round-{chronicle.round}"
    deeds = [turn for turn in chronicle.turns if turn.phase == phase and turn.kind == "action"]
    return all(not turn.text or _IDLE.intersection(turn.flags) for turn in deeds)


def _transcript(world: World, ending: EndReason, seed: int, transcript_id: str) -> Transcript:
    setting, chronicle = world.setting, world.chronicle
    roles = setting.roles
    cast = {role.id: _player(world, role) for role in roles}
    staged = setting.scenario()
    versions = setting.versions()
    identity = {
        "cast": {role: player.model_dump(mode="json") for role, player in cast.items()},
        "protocol": setting.protocol,
        "scenario": staged.digest,
        "seed": seed,
        "versions": versions,
    }
    concluded = Outcome(label=CONCLUDED) if ending == "completed" else None
    return Transcript(
        id=transcript_id or f"{SUITE}-{setting.scene.id}-{sha256(canonical_json(identity))[:16]}",
        suite=SUITE,
        protocol=setting.protocol,
        scenario=staged,
        roles=roles,
        cast=cast,
        seed=seed,
        turns=tuple(chronicle.turns),
        states=tuple(chronicle.states),
        outcome=concluded,
        end_reason=ending,
        cures=tuple(chronicle.cures),
        versions=versions,
    )


def _player(world: World, role: Role) -> Player:
    """Returns who played a role: a person where a person did all of it, whoever could have played it otherwise."""
    deeds = [turn for turn in world.chronicle.turns if turn.role == role.id and turn.kind != "procedure"]
    if deeds and all(turn.human for turn in deeds):
        return Player(kind="human")
    return world.setting.player(role)


@dataclass(frozen=True, slots=True)
class RoundCalls:
    """The calls of one round in which everything can be read.

    Attributes:
        written: Answers in free text; each may be drawn anew as often as the limits say.
        filled: Answers in a form; each may take up to `MOST_ASKS` calls.
        chain: How many of all stand one after the other, at most.
    """

    written: int
    filled: int
    chain: int

    @property
    def calls(self) -> int:
        """All of them."""
        return self.written + self.filled


def round_calls(
    protocol: WorldProtocol, characters: int, turns: int, hits: int, *, directed: bool = False
) -> RoundCalls:
    """Returns the calls of a round that models play.

    Args:
        protocol: How it goes.
        characters: Who is there (n).
        turns: Acts in the round (A); in `paper` and `fast` as many as there are characters.
        hits: Acts that affect somebody else (k).
        directed: Whether somebody directs; in `released` somebody always does.
    """
    n, a, k = characters, turns, hits
    match protocol:
        case "paper":
            plan = int(directed)
            return RoundCalls(2 * n + 2 * a + 2 * k + plan, a + (a - k) + 2 * k + 1, 3 + 4 * a + 3 * k + plan)
        case "released":
            return RoundCalls(2 * n + 1 + 3 * a + 2 * k, (a - k) + 2 * k + 1, 4 + 4 * a + 3 * k)
        case "fast":
            plan = int(directed)
            return RoundCalls(k + plan, n + 2 * a + k + 1, 3 + 2 * a + k + plan)
        case _:
            assert_never(protocol)


def expected_calls(
    scene: Scene, protocol: WorldProtocol, limits: WorldLimits = DEFAULT_LIMITS, *, directed: bool = False
) -> tuple[int, int]:
    """Returns the fewest and the most calls of a play: over after one round, or all rounds with everything drawn anew.

    A play in which somebody does nothing, or is played by a person, may take fewer than the fewest. A call that did not
    fit and is made again in a new chat comes on top.
    """
    n = len(scene.characters)
    least_turns = -(-n // 2) if protocol == "released" else n
    hits = least_turns if protocol == "released" and n > 1 else 0
    fewest = min(
        round_calls(protocol, n, n, 0, directed=directed).calls,
        round_calls(protocol, n, least_turns, hits, directed=directed).calls,
    )
    most = round_calls(protocol, n, n, n if n > 1 else 0, directed=directed)
    return fewest, limits.rounds * (
        most.written * (1 + limits.redraws) + most.filled * MOST_ASKS * (1 + limits.redraws)
    )
