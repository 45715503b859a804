"""Examples as the system asks, answers as models give them, and small test splits."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from dramaturg.ledger import Budget, Ledger
from dramaturg.model import Message
from dramaturg.model.opening import Models
from dramaturg.prompts import load_prompt
from dramaturg.text import sha256
from dramaturg.train.comparing import Marks
from dramaturg.train.comparing_scores import mark
from dramaturg.train.example import Example, ExampleRow, Kind, example_id

TELLER = '''
"""Says what stands in ANSWERS beside it: under the words of the last message, or always; a list in turn by purpose."""
import json
from pathlib import Path
from dramaturg.model import Reply, TokenLogprob

ANSWERS = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))

def reply(request):
    said = next((text for words, text in ANSWERS.items() if words in request.messages[-1].text), ANSWERS.get("", ""))
    if isinstance(said, dict):
        status = said.get("status", "ok")
        if status == "failed":
            return Reply("failed", failure="connect", detail="cannot reach the server")
        logprobs = tuple(
            TokenLogprob(token, logprob, tuple((one, value) for one, value in top))
            for token, logprob, top in said.get("logprobs", [])
        )
        return Reply(status, text=said.get("text", ""), logprobs=logprobs)
    return said
'''

Said = str | dict[str, object]


def teller(path: Path, answers: Mapping[str, Said]) -> str:
    """Returns the spec of a model that gives these answers, by words of the last message; under no words, always."""
    path.write_text(TELLER + f"# {path.stem}\n", encoding="utf-8")
    path.with_suffix(".json").write_text(json.dumps(answers), encoding="utf-8")
    return f"script:{path}"


def likely(yes: float) -> Said:
    """Returns an answer of one word with its log-probabilities."""
    from math import log

    top = [["yes", log(yes)], ["no", log(1 - yes)]]
    word = "yes" if yes > 0.5 else "no"
    return {"text": word, "logprobs": [[word, log(max(yes, 1 - yes)), top]]}


async def marked(folder: Path, example: Example, answer: Said) -> Marks:
    """Returns what is made of one answer to an example."""
    spec = teller(folder / "teller.py", {"": answer})
    with Ledger.open(folder / f"{sha256(json.dumps(answer))[:8]}.db") as ledger:  # nothing is replayed
        async with Models() as models:
            calls = ledger.calls(unit="one", seed=0, budget=Budget())
            return await mark(example, await models.open(spec), calls)


def example(
    kind: Kind,
    purpose: str,
    asked: str,
    answer: str,
    *,
    scene: str = "quay",
    source: str = "",
    language: str = "en",
    before: Sequence[tuple[str, str]] = (),
    people: Sequence[str] = ("Ada Finch", "Bo Reed"),
) -> Example:
    """Returns an example whose chat ends with a question."""
    chat = [("system", "You take part in a story."), *before, ("user", asked)]
    messages = tuple(Message(role, text) for role, text in chat)  # type: ignore[arg-type]
    return Example(
        id=example_id(kind, messages, answer),
        kind=kind,
        messages=messages,
        answer=answer,
        scene=scene,
        characters=tuple(people),
        language=language,
        source=source or f"{scene}-1/character:ada-finch/T4",
        teacher="script:teacher",
        purpose=purpose,
    )


def act(purpose: str = "action", *, before: Sequence[tuple[str, str]] = (), language: str = "en") -> Example:
    """Returns an example of an act of Ada Finch."""
    values = {"name": "Ada Finch"} | ({"silence": "(silent)"} if purpose == "speech" else {})
    values |= {"actor": "Bo Reed"} if purpose == "reaction" else {}
    asked = load_prompt(f"world-{purpose}", language).fill(**values)
    news = "This has just happened:\n- Bo Reed (action): Bo Reed slams the heavy iron gate and pockets its only key.\n"
    return example("guided", purpose, f"{news}\n{asked}", "Ada Finch waits.", before=before, language=language)


def narrated(purpose: str, prompt: str, answer: str, **values: str) -> Example:
    """Returns an example of a narrator's answer."""
    asked = load_prompt(f"world-{prompt}", "en").fill(**values)
    return example("narrator", purpose, asked, answer, source="quay-1/round/1/narrator/1")


def influence() -> Example:
    """Returns an example of whom an act of Ada Finch affects."""
    deed = "- Ada Finch (action): Ada Finch takes the last lamp and hides it under her long coat."
    teacher = '{"target":"bo-reed","influence":"He stands in the dark."}'
    return narrated("influence", "influence", teacher, name="Ada Finch", deed=deed, ids="bo-reed, cy-hale")


def rated(scene: str, number: int, ratings: Mapping[str, int]) -> Example:
    """Returns an example of a joint rating."""
    listed = [{"id": name, "reason": "By rule.", "rating": value} for name, value in ratings.items()]
    before = [
        ("user", f"The performance {scene} {number}."),
        ("assistant", "Ready."),
        ("user", "Write a critique."),
        ("assistant", "The teacher's critique."),
    ]
    return example(
        "reward",
        "rating",
        f"Rate {scene} {number} now.",
        json.dumps({"answers": listed}),
        scene=scene,
        source=f"{scene}-{number}/character:ada-finch/rate/character:ada-finch/ratings",
        before=before,
    )


def judged(scene: str, number: int, *, yes: bool) -> Example:
    """Returns an example of a question of presence."""
    answer = "yes" if yes else "no"
    return example("judge", "indicator", f"About {scene} {number}, {answer} is so?", answer, scene=scene)


def write_split(folder: Path, examples: Sequence[Example]) -> Path:
    """Returns the folder of a data set that has a test split alone."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"{ExampleRow.of(one).model_dump_json()}\n" for one in examples)
    (folder / "test.jsonl").write_text(lines, encoding="utf-8")
    return folder
