"""The campaign: which played roles people rate, on which scales, and under which rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dramaturg.errors import ContentError, UserError
from dramaturg.judge.rating import Rubric, rated_roles, rubric_in
from dramaturg.judge.rating.table import RowKey
from dramaturg.run.rating import TRANSCRIPTS
from dramaturg.run.transcripts import read_transcripts
from dramaturg.stage.trajectory import trajectory
from dramaturg.stage.transcript import Transcript, TurnKind
from dramaturg.text import canonical_json, sha256


@dataclass(frozen=True, slots=True)
class Line:
    """One turn of a trajectory, as people see it.

    Attributes:
        speaker: The character's name.
        kind: Speech, action, narration or procedure.
        text: What was said or done.
        own: Whether the rated role did it; the others it observed.
        rated: Whether a model played it; what a person or a script did for the role is shown and not rated.
    """

    speaker: str
    kind: TurnKind
    text: str
    own: bool
    rated: bool


@dataclass(frozen=True, slots=True)
class PlayedRole:
    """A role of a transcript, as people see it: nothing tells which model plays.

    Attributes:
        id: Unique in the campaign.
        key: Ids of transcript and role.
        digest: Hash of the transcript: ratings belong to what was read.
        scene: Id of the scene.
        title: Of the scene, for people.
        language: ISO 639-1.
        reference: The scene as text, without what the profile says already.
        name: The character's.
        profile: Who it is.
        lines: What it observed and did, in order.
    """

    id: str
    key: RowKey
    digest: str
    scene: str
    title: str
    language: str
    reference: str
    name: str
    profile: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class RatingRules:
    """How a campaign is carried out.

    Attributes:
        people: By how many people each role is rated; 0 for as many as come.
        seed: Of the order in which each person sees the roles.
        raters_only: Whether only named raters may rate.
        most_by_browser: Times that one browser may save in a minute; 0 for any number.
        most_by_address: Times that one network address may save in a minute; 0 for any number.
    """

    people: int = 0
    seed: int = 0
    raters_only: bool = False
    most_by_browser: int = 150
    most_by_address: int = 1500


@dataclass(frozen=True, slots=True)
class RatingCampaign:
    """What people rate.

    Attributes:
        roles: Played roles by id.
        rubrics: Scales by language of the scene; the metrics are the same in all of them.
        rules: How.
    """

    roles: Mapping[str, PlayedRole]
    rubrics: Mapping[str, Rubric]
    rules: RatingRules

    @property
    def title(self) -> str:
        """Of the scales, for people; empty where they come in several languages."""
        titles = {rubric.title for rubric in self.rubrics.values()}
        return titles.pop() if len(titles) == 1 else ""


def rating_campaign(sources: Sequence[Path], rules: RatingRules, *, rubric: str = "character") -> RatingCampaign:
    """Returns the campaign over the roles that models play in some transcripts.

    A role in which no model did anything is left out: there is nothing to rate.

    Args:
        sources: Files of transcripts, or output folders of runs.
        rules: How.
        rubric: Name of a shipped rubric, or a path.

    Raises:
        ContentError: A source holds no transcripts, or two transcripts share an id; the message names the line.
        UserError: Nothing can be rated.
    """
    rubrics: dict[str, Rubric] = {}
    roles: dict[str, PlayedRole] = {}
    for transcript in _transcripts(sources):
        scales = rubrics.setdefault(transcript.scenario.language, rubric_in(rubric, transcript.scenario.language))
        for played in _roles(transcript, scales):
            roles[played.id] = played
    if not roles:
        raise UserError(
            "holds nothing to rate", where=", ".join(map(str, sources)), allowed="transcripts in which a model plays"
        )
    return RatingCampaign(roles, rubrics, rules)


def _transcripts(sources: Sequence[Path]) -> Iterator[Transcript]:
    first: dict[str, Path] = {}
    for source in sources:
        path = source / TRANSCRIPTS if source.is_dir() else source
        for number, transcript in read_transcripts(path):
            if transcript.id in first:
                raise ContentError(
                    f"transcript {transcript.id!r} stands twice",
                    where=f"{path}:{number}",
                    allowed=f"every id is used once; the first is in {first[transcript.id]}",
                )
            first[transcript.id] = path
            yield transcript


def _roles(transcript: Transcript, rubric: Rubric) -> Iterator[PlayedRole]:
    digest = transcript.digest
    for role in rated_roles(transcript, rubric.rates):
        lines = tuple(
            Line(turn.speaker, turn.kind, turn.text.strip(), own, transcript.is_judged(turn))
            for step in trajectory(transcript, role.id).steps
            for own, turns in ((False, step.observations), (True, step.acts))
            for turn in turns
        )
        if not any(line.own and line.rated and line.text for line in lines):
            continue
        yield PlayedRole(
            id=sha256(canonical_json([transcript.id, role.id]))[:32],
            key=(transcript.id, role.id),
            digest=digest,
            scene=transcript.scenario.id,
            title=transcript.scenario.title,
            language=transcript.scenario.language,
            reference=_without(transcript.scenario.reference, role.description),
            name=role.name,
            profile=role.description.strip(),
            lines=lines,
        )


def _without(reference: str, profile: str) -> str:
    """Returns the paragraphs of a scene's text, less the one that says the profile again."""
    profile = profile.strip()
    parts = [part for part in reference.strip().split("\n\n") if not profile or profile not in part]
    return "\n\n".join(parts)
