"""Two small scenes, a steady script for them, and plays of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from dramaturg.ledger import Budget, Ledger
from dramaturg.model.model import Identity, ModelFacts, OnText
from dramaturg.model.reply import Reply
from dramaturg.model.request import Message, Request
from dramaturg.model.script import scripted_reply
from dramaturg.model.spec import Options
from dramaturg.stage.cast import Cast, ModelSeat, Seat
from dramaturg.stage.transcript import Transcript
from dramaturg.stage.world.chain import Made
from dramaturg.stage.world.limits import DEFAULT_LIMITS, WorldLimits
from dramaturg.stage.world.play import play_scene
from dramaturg.stage.world.scene import Environment, Opening, Scene, SceneCharacter
from dramaturg.stage.world.setting import WorldProtocol

FERRY = Scene(
    id="ferry",
    title="The last ferry",
    event="The last ferry leaves in five minutes and has one place left.",
    environment=Environment(time="dusk", place="a jetty", description="Fog, a lamp, a rope."),
    characters=(
        SceneCharacter(
            id="ada",
            name="Ada Brandt",
            aliases=("Doctor Brandt",),
            profile="A doctor whose child lies sick across the water.",
            position="at the gangway",
            state="breathless",
            opening=Opening(action="Ada puts her bag on the gangway.", speech="That place is mine."),
        ),
        SceneCharacter(id="bo", name="Bo Lindgren", profile="A smuggler.", position="behind the lamp", state="wary"),
        SceneCharacter(id="cy", name="Cy", profile="", position="at the rope"),
    ),
)
ALONE = Scene(
    id="alone",
    title="The lamp",
    event="The lamp must not go out.",
    environment=Environment(place="a lighthouse"),
    characters=(SceneCharacter(id="eva", name="Eva"),),
)

Answers = Mapping[str, str | Callable[[Request], str | Reply]]
"""Purpose → what is answered, or what makes it; a role's kind and a slash may stand before the purpose."""

STEADY: Answers = {
    "self-belief": "I want to cross.",
    "environment-belief": "They want the same.",
    "beliefs": '{"self_belief": "I want to cross.", "environment_belief": "They want the same."}',
    "action": lambda request: deed(request),
    "speech": "We leave at 10:30.",
    "act": lambda request: f'{{"action": "{deed(request)}", "speech": "We leave at 10:30."}}',
    "reaction": lambda request: deed(request),
    "influence": lambda request: influence(request, "none"),
    "result": lambda request: (
        '{"result": "They stumble.", "updates": [{"who": "ada", "position": "on deck", "state": "proud"},'
        ' {"who": "bo", "position": "in the water", "state": "wet"}]}'
        if request.schema is not None
        else "They stumble."
    ),
    "update": '{"position": "near the rope", "state": "shaken"}',
    "environment": '{"time": "", "place": "", "description": "", "undecided": "all of it"}',
    "synopsis": "Ada Brandt: boards\nBo Lindgren: blocks her\nCy: cuts the rope",
}


def deed(request: Request) -> str:
    """Returns what nobody has done before: it has the player's name in it, and the length of its chat."""
    me = request.messages[0].text.removeprefix("You are ").partition(",")[0]
    return f"Somebody helps {me} to rope number {len(request.messages)}, which {me} ties."


def influence(request: Request, target: str, of: str = "the turn") -> str:
    """Returns an influence in the form that is asked for, where the prompt has a text in it; else of nobody."""
    asked = request.messages[-1].text
    who = target if of in asked else "none"
    if request.schema is not None:
        return f'{{"target": "{who}", "influence": "It shoves this one.", "position": "here", "state": "calm"}}'
    return f"[somebody];;[{who}];;[It shoves this one; the bag falls.]"


def hits(target: str, of: str) -> Answers:
    """Returns the steady answers, with a narrator that names a target where a name has the turn."""
    return {**STEADY, "influence": lambda request: influence(request, target, f"{of} has the turn")}


@dataclass(slots=True)
class Asked:
    """A model that answers by purpose, and remembers in what order it was asked and answered."""

    answers: Answers
    requests: list[Request]
    name: str = "asked"
    slow: frozenset[str] = frozenset()

    @property
    def identity(self) -> Identity:
        return Identity("script", self.name)

    @property
    def facts(self) -> ModelFacts:
        return ModelFacts(runtime="script")

    @property
    def options(self) -> Options:
        return Options()

    async def send(self, request: Request, on_text: OnText | None = None) -> Reply:
        self.requests.append(request)
        role, purpose = request.labels["role"], request.labels["purpose"]
        await asyncio.sleep(0.05 if purpose in self.slow else 0)
        answer = self.answers.get(f"{role}/{purpose}", self.answers.get(purpose, ""))
        said = answer if isinstance(answer, str) else answer(request)
        return said if isinstance(said, Reply) else scripted_reply(request, said)

    async def embed(self, texts: object) -> None:
        return None

    async def close(self) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Played:
    """A play, with what was asked for it."""

    transcript: Transcript
    made: list[Made]
    requests: list[Request]

    def order(self, round: int = 1) -> list[str]:
        """Returns the calls of a round, as role and purpose, in the order in which they were answered."""
        return [f"{one.role.removeprefix('character:')} {one.purpose}" for one in self.made if one.round == round]

    def chats(self) -> dict[str, list[tuple[Message, ...]]]:
        """Returns the prompts of every agent in order, by its system prompt; asks again left out."""
        found: dict[str, list[tuple[Message, ...]]] = {}
        for request in self.requests:
            if request.labels["attempt"] == "0" and "reask" not in request.labels["step"]:
                found.setdefault(request.messages[0].text, []).append(tuple(request.messages))
        return found


async def play(
    folder: Path,
    protocol: WorldProtocol,
    answers: Answers = STEADY,
    scene: Scene = FERRY,
    *,
    limits: WorldLimits = DEFAULT_LIMITS,
    seats: Mapping[str, Seat] | None = None,
    budget: Budget | None = None,
    slow: frozenset[str] = frozenset(),
) -> Played:
    """Returns a play whose models answer by purpose; played again in the same folder it is replayed."""
    model = Asked(answers, [], slow=slow)
    made: list[Made] = []
    default: dict[str, Seat] = {"character": ModelSeat(model, subject=True), "narrator": ModelSeat(model)}
    with Ledger.open(folder / "ledger.db") as ledger:
        transcript = await play_scene(
            scene,
            cast=Cast({**default, **(seats or {})}),
            calls=ledger.calls(unit=f"{scene.id}/{protocol}", seed=1, budget=budget),
            seed=1,
            protocol=protocol,
            limits=limits,
            on_call=made.append,
        )
    return Played(transcript, made, model.requests)
