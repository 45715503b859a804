"""Handwritten transcripts and a small checklist for the tests of judging."""

from collections.abc import Mapping, Sequence

from dramaturg.judge.checklist.checklist import Checklist
from dramaturg.stage.transcript import Outcome, Player, Restart, Role, Scenario, Transcript, Turn

REFERENCE = """Case: The Duke's Yard Controversy (civil claim for harassment and property damage).
Rosalind Ashcombe claims 18,600 pounds from Harold Grayson. In April 2023 she had a pavilion, an arch and a screen built
of bamboo near the hedge bank. On the morning of 24 September 2023 all three lay broken, after a night of strong wind.
Evidence:
E1 Photographs: some poles are broken, others are sawn through.
E2 Twelve letters in which Grayson demands that the screen be moved.
E3 Camera recording: a person with a head torch at the bank at 21:40 the evening before; the face cannot be seen.
E4 Weather record: gusts of 74 km/h between 02:00 and 04:00.
True: six poles were sawn. True: Grayson owns a pruning saw. Contested: who sawed the poles."""

ROLES = (
    Role(id="judge", kind="judge", name="Margaret Ellwood", description="Leads the hearing; dry and unhurried."),
    Role(id="prosecutor", kind="prosecutor", name="Oliver Crane", description="Speaks for the plaintiff."),
    Role(id="defence", kind="defence", name="Nadia Holt", description="Speaks for the defendant."),
    Role(
        id="witness:ida-quill",
        kind="witness",
        name="Ida Quill",
        description="Gardener. Saw the sawn poles in the morning.\nWas not there in the night.",
    ),
)

CAST = {
    "judge": Player(kind="model", model="script:court", subject=True),
    "prosecutor": Player(kind="model", model="script:court", subject=True),
    "witness:ida-quill": Player(kind="model", model="script:court", subject=True),
    "defence": Player(kind="human"),
}

SPEAKERS = {role.id: role.name for role in ROLES}

TRIAL: tuple[tuple[str, str, str], ...] = (
    ("procedure", "introduction", "The hearing is opened."),
    (
        "judge",
        "introduction",
        "The court hears the claim of Rosalind Ashcombe against Harold Grayson for 18,600 pounds, for harassment and "
        "for the destruction of bamboo structures. Mr Crane, you may state your claim.",
    ),
    (
        "prosecutor",
        "introduction",
        "Your Honour, exhibit E2 holds twelve letters in which the defendant demands that the screen be moved. "
        "Exhibit E1 shows six poles sawn through. Wind breaks bamboo; it does not saw it. I ask for three questions.",
    ),
    ("judge", "introduction", "You are granted three questions, Mr Crane. Ms Holt, you are granted three as well."),
    (
        "defence",
        "introduction",
        "Nobody saw my client at the bank. The night brought gusts of 74 km/h, as exhibit E4 records.",
    ),
    (
        "prosecutor",
        "interrogation",
        "Ms Quill, what did you see when you came to the yard on the morning of 24 September?",
    ),
    (
        "witness:ida-quill",
        "interrogation",
        "I saw the pavilion on its side and the arch flat in the mud. Six of the poles had clean cuts. "
        "I have sawn enough bamboo to know a saw cut when I see one.",
    ),
    ("defence", "interrogation", "Ms Quill, did you see who made those cuts?"),
    ("witness:ida-quill", "interrogation", "No. I came at eight in the morning. I cannot say who was there at night."),
    (
        "prosecutor",
        "interrogation",
        "Then let me ask about the letters. Did Mr Grayson ever speak to you about the screen?",
    ),
    (
        "witness:ida-quill",
        "interrogation",
        "Once, in August. He said over the hedge that the screen stood on his land and that he would not ask again.",
    ),
    (
        "prosecutor",
        "verdict",
        "Twelve letters, a threat in August and six clean cuts. The wind explains the broken poles, but not the sawn "
        "ones, as Ms Quill told us. I ask the court to allow the claim.",
    ),
    ("defence", "verdict", "A saw in a shed and a figure without a face prove nothing. Dismiss the claim."),
    (
        "judge",
        "verdict",
        "The cuts are proved, and the letters are proved. Who made the cuts is not: the recording shows no face and "
        "the witness came in the morning. The claim is dismissed.",
    ),
)


def trial(
    turns: Sequence[tuple[str, str, str]] = TRIAL,
    *,
    cast: Mapping[str, Player] = CAST,
    roles: Sequence[Role] = ROLES,
    **changes: object,
) -> Transcript:
    """Returns a transcript of the turns given as (role, phase, text)."""
    values: dict[str, object] = {
        "id": "trial-1",
        "suite": "court",
        "protocol": "paper",
        "scenario": Scenario(id="dukes-yard", title="The Duke's Yard Controversy", reference=REFERENCE),
        "roles": tuple(roles),
        "cast": dict(cast),
        "seed": 1,
        "turns": tuple(
            Turn(
                id=f"T{number}",
                role=role,
                speaker=SPEAKERS.get(role, ""),
                kind="procedure" if role == "procedure" else "speech",
                text=text,
                human=(player := cast.get(role)) is not None and player.kind == "human",
                phase=phase,
            )
            for number, (role, phase, text) in enumerate(turns, start=1)
        ),
        "outcome": Outcome(label="win", justification="Who made the cuts is not proved."),
        "end_reason": "completed",
    }
    return Transcript.model_validate(values | changes)


def restart(cause: str, attempt: int = 0) -> Restart:
    return Restart(cause=cause, turn="T4", attempt=attempt)


def checklist(*indicators: Mapping[str, object]) -> Checklist:
    """Returns a checklist of two dimensions; without arguments one of five indicators."""
    listed = indicators or (
        {"id": "R-1", "text": "Does the judge lead?", "dimension": "R", "subdimension": "RA"},
        {"id": "R-2", "text": "Do the witnesses answer?", "dimension": "R", "subdimension": "RA"},
        {"id": "R-3", "text": "Are facts kept?", "dimension": "R", "subdimension": "RB"},
        {
            "id": "L-1",
            "text": "Is it formal?",
            "dimension": "L",
            "not_applicable_when": "No word is spoken.",
        },
        {"id": "L-2", "text": "Does it end?", "dimension": "L", "evidence": "none", "proof": "end_reached"},
    )
    used = {str(indicator["dimension"]) for indicator in listed}
    parts = {str(indicator["subdimension"]) for indicator in listed if "subdimension" in indicator}
    return Checklist.model_validate(
        {
            "id": "small",
            "version": 1,
            "title": "Small",
            "domain": "court",
            "dimensions": [
                {
                    "id": name,
                    "name": name,
                    "definition": f"What {name} is.",
                    "subdimensions": [
                        {"id": part, "name": part, "definition": f"What {part} is."}
                        for part in sorted(parts)
                        if part.startswith(name)
                    ],
                }
                for name in sorted(used)
            ],
            "indicators": list(listed),
        }
    )
