"""Played scenes of two models, and a served rating campaign over them."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation_fixtures import running
from dramaturg.judge.rating import RatingJudgement
from dramaturg.stage.transcript import Player, Scenario, Transcript
from dramaturg.web.listening import address_of, listen
from dramaturg.web.rating.app import rating_app
from dramaturg.web.rating.campaign import RatingCampaign, RatingRules, rating_campaign
from dramaturg.web.rating.store import RatingStore
from rating_fixtures import CAST, IDS, TURNS, played

SECRET_MODEL = "script:the-model-that-nobody-may-see"
PASSWORD = "an owner's password"
SHEET = dict.fromkeys(IDS, 4)


def scene(number: int, *, language: str = "en", **changes: Any) -> Transcript:
    """Returns a scene of its own in which one model plays Mara and another person Ilja."""
    cast = {
        **CAST,
        "mara": Player(kind="model", model=SECRET_MODEL, subject=True),
        "ilja": Player(kind="human"),
    }
    turns = (*TURNS, ("mara", "speech", f"This is evening number {number}."))
    scenario = Scenario(
        id=f"lock-{number}", title=f"The Lock <{number}>", language=language, reference="A lock at dusk, in flood."
    )
    return played(turns, cast=cast, id=f"{SECRET_MODEL}/{number}", scenario=scenario, **changes)


def written(path: Path, *transcripts: Transcript) -> Path:
    path.write_text("".join(f"{one.model_dump_json()}\n" for one in transcripts), encoding="utf-8")
    return path


def scenes(folder: Path, count: int, **changes: Any) -> Path:
    return written(folder / "transcripts.jsonl", *(scene(number, **changes) for number in range(count)))


def judged(path: Path, transcripts: Sequence[Transcript], values: Mapping[str, Sequence[int]]) -> Path:
    """Writes a judge's ratings of Mara: by transcript, one for each metric."""
    lines = [
        RatingJudgement(
            transcript=one.id,
            transcript_digest=one.digest,
            scene=one.scenario.id,
            language=one.scenario.language,
            protocol=one.protocol,
            role="mara",
            name="Mara Voss",
            subject=SECRET_MODEL,
            metric=metric,
            value=float(value),
            judge="script:judge",
            mode="joint",
            rubric="character v1",
            rubric_digest="r",
        ).model_dump_json()
        for one in transcripts
        for metric, value in zip(IDS, values[one.id], strict=True)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@dataclass
class ServedRating:
    """A campaign on an address of this machine, in a thread."""

    address: str
    store: RatingStore
    campaign: RatingCampaign


@contextmanager
def served_rating(folder: Path, campaign: RatingCampaign, *, owner: str = "", **more: Any) -> Generator[ServedRating]:
    with closing(RatingStore.in_folder(folder, create=True)) as store, listen("127.0.0.1", 0) as sock:
        store.begin(campaign)
        with running(rating_app(campaign, store, owner=owner, only_here=True, **more), sock):
            yield ServedRating(address_of(sock), store, campaign)


def campaign_over(source: Path, **rules: Any) -> RatingCampaign:
    return rating_campaign([source], RatingRules(**rules))


def filled(values: Mapping[str, object], **more: str) -> dict[str, str]:
    """Returns the fields of a sheet."""
    return {f"rating.{metric}": str(value) for metric, value in values.items()} | more
