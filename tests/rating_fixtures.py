"""A played scene and scripted raters for the tests of rating."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from dramaturg.judge.rating import RatingJudgement, RatingMode, rate_transcript, rubric_in
from dramaturg.model import Reply, Request
from dramaturg.model.script import ScriptModel
from dramaturg.stage.transcript import Player, Role, Scenario, Transcript, Turn
from judging_fixtures import calls_in

NAMES = tuple(metric.name for metric in rubric_in("character", "en").metrics)
IDS = tuple(metric.id for metric in rubric_in("character", "en").metrics)

ROLES = (
    Role(
        id="mara", kind="character", name="Mara Voss", description="A lock keeper, blunt and careful. Fears deep water."
    ),
    Role(id="ilja", kind="character", name="Ilja Brandt", description="A bargeman in a hurry, merry, a poor liar."),
    Role(id="narrator", kind="narrator", name="Narrator"),
)
CAST = {
    "mara": Player(kind="model", model="script:a", subject=True),
    "ilja": Player(kind="model", model="script:a", subject=True),
    "narrator": Player(kind="model", model="script:n"),
}
TURNS = (
    ("ilja", "action", "Ilja throws the rope over the bollard and points at the rising water."),
    ("ilja", "speech", "Open the gate, Mara, or we drift into the weir!"),
    ("narrator", "narration", "The rope creaks; the barge turns broadside."),
    ("mara", "action", "Mara sets both hands on the crank and does not turn it."),
    ("mara", "speech", "The gate stays shut until the gauge falls. That is the rule, and it is a good one."),
    ("ilja", "speech", "Then hold this rope with me."),
    ("mara", "action", "Mara lets go of the crank and takes the rope, her eyes off the water."),
)


def played(
    turns: Sequence[tuple[str, str, str]] = TURNS,
    *,
    cast: Mapping[str, Player] = CAST,
    human: Sequence[str] = (),
    language: str = "en",
    **changes: object,
) -> Transcript:
    """Returns a transcript of the turns given as (role, kind, text)."""
    speakers = {role.id: role.name for role in ROLES}
    values: dict[str, object] = {
        "id": "scene-1",
        "suite": "world",
        "protocol": "paper",
        "scenario": Scenario(id="the-lock", title="The Lock", language=language, reference="A lock at dusk, in flood."),
        "roles": ROLES,
        "cast": dict(cast),
        "seed": 1,
        "turns": tuple(
            Turn(
                id=f"T{number}",
                role=role,
                speaker=speakers[role],
                kind=kind,  # pyright: ignore[reportArgumentType]
                text=text,
                human=role in human,
            )
            for number, (role, kind, text) in enumerate(turns, start=1)
        ),
        "end_reason": "completed",
    }
    return Transcript.model_validate(values | changes)


def scripted(answers: Callable[[Request], Reply | str], name: str = "rater") -> tuple[ScriptModel, list[Request]]:
    """Returns a judge that answers as the function says, and the requests that it gets."""
    requests: list[Request] = []

    def reply(request: Request) -> tuple[Reply, float]:
        requests.append(request)
        said = answers(request)
        return (said if isinstance(said, Reply) else Reply("ok", text=said)), 0.0

    return ScriptModel(Path(f"{name}.yaml"), "0" * 64, reply), requests


def listed(ratings: Mapping[str, object]) -> str:
    """Returns a joint answer as JSON."""
    return json.dumps({"answers": [{"id": name, "reason": "T4.", "rating": value} for name, value in ratings.items()]})


def in_form(request: Request, rating: Callable[[str], object]) -> str:
    """Returns an answer in the form that a request asks for; the function says what each metric's name gets."""
    if request.labels["purpose"] == "critique":
        return "It is played with care, see T4."
    if (metric := request.labels.get("metric")) is not None:
        return json.dumps({"critique": "See T4.", "rating": rating(NAMES[IDS.index(metric)])})
    asked = request.messages[-1].text
    return listed({name: rating(name) for name in NAMES if re.search(rf"^{name}[:：]", asked, re.MULTILINE)})


async def rated(
    folder: Path,
    answers: Callable[[Request], Reply | str],
    *,
    mode: RatingMode = "joint",
    votes: int = 1,
    transcript: Transcript | None = None,
    roles: Sequence[str] | None = ("mara",),
    language: str = "en",
) -> tuple[dict[str, RatingJudgement], list[Request]]:
    """Returns the ratings by metric (of the last role), and every request that was sent."""
    model, requests = scripted(answers)
    with calls_in(folder) as calls:
        found = await rate_transcript(
            transcript or played(),
            rubric_in("character", language),
            judge=model,
            calls=calls,
            mode=mode,
            votes=votes,
            roles=roles,
        )
    return {one.metric: one for one in found}, requests
