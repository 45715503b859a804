"""Judge data: one question about one turn, answered with yes or no, in the very prompts of mode `glance`.

The turns are those of excerpts, clean and with a fault, or those of an audit's specimens. Each fault is asked about
where it was planted (yes), where it was not, and where an edit looks alike (no). Where one was planted, another kind is
asked about as well: a model must not answer yes to whatever looks odd.

Sources: RPA-Check, section 3.4 (yes or no by indicator); the questions and excerpts were written for Dramaturg.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from random import Random
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from dramaturg.errors import ContentError, UserError
from dramaturg.files import find, load_yaml, read_jsonl
from dramaturg.judge.audit.clean import Edit
from dramaturg.judge.audit.excerpts import Excerpt, Presence, load_excerpts, transcript_of
from dramaturg.judge.audit.operators import BY_KIND
from dramaturg.judge.checklist import Checklist
from dramaturg.judge.checklist.checklist import FaultKind, Indicator, Text
from dramaturg.judge.checklist.glance import glance_at, glance_question, needs_earlier
from dramaturg.judge.checklist.turnwise import judged_of
from dramaturg.judge.judgement import Judgement
from dramaturg.prompts import hashes
from dramaturg.stage.transcript import Transcript
from dramaturg.text import Json
from dramaturg.train.example import Example, Gathered, example_id
from dramaturg.train.names import names_of

TEACHER = "planted"
"""Who gave the answers: whoever planted the faults, and no model."""

SHIPPED = "shipped"
"""Stands for the folder of the excerpts that ship."""

ANSWERS: Mapping[str, tuple[str, str]] = {"en": ("Yes", "No"), "it": ("Sì", "No"), "zh": ("是", "否")}
"""Yes and no by language."""

FAULTY_WEIGHT = 2.0
"""Of a yes about a fault in the loss: there are about half as many of them as of a no."""

PROMPTS = ("glance-facts", "glance-question", "glance-system", "glance-window", "judge-marks")
"""Names of those that make an example."""

FACTS_SHARE = 0.3
"""Of the plain questions about a turn, so many are asked behind what is true, which they do not need."""

OTHER_KINDS = 2
"""Questions about further kinds of faults that each clean turn is asked."""

Said = Literal["yes", "no"]


class _Asks(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    families: Annotated[frozenset[Text], Field(min_length=1)]
    facts: bool = False
    earlier: bool = False
    asks: Annotated[tuple[Text, ...], Field(min_length=1)]


class Questions(BaseModel):
    """What is asked about each kind of fault.

    Attributes:
        faults: Kind → its wordings, and the families of kinds that may stand in the same words.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    faults: Annotated[dict[FaultKind, _Asks], Field(min_length=1)]

    def strangers(self, kind: str) -> list[str]:
        """Returns the kinds that share no family with one."""
        own = self.faults[kind].families
        return sorted(name for name, one in self.faults.items() if own.isdisjoint(one.families))

    def without(self, kinds: frozenset[str]) -> Questions:
        """Returns the questions about all other kinds."""
        return self.model_copy(update={"faults": {name: one for name, one in self.faults.items() if name not in kinds}})


@dataclass(frozen=True, slots=True)
class _Label:
    """A question about one turn of a transcript, its answer, the fault that it is about, if any, and what it needs."""

    transcript: Transcript
    turn: str
    question: str
    said: Said
    kind: str
    facts: bool = False
    earlier: bool = False


def content_folder() -> Path:
    """Returns the folder of the shipped questions and excerpts."""
    return Path(str(resources.files("dramaturg"))) / "content" / "train" / "judge"


def shipped_excerpts() -> tuple[Excerpt, ...]:
    """Returns the excerpts that ship, by file.

    Raises:
        ContentError: One of them is wrong.
    """
    return excerpts_in([content_folder() / "excerpts"])


def excerpts_in(paths: Sequence[Path]) -> tuple[Excerpt, ...]:
    """Returns the excerpts of files and of the YAML files in folders; `shipped` means those that ship.

    Raises:
        ContentError: A file is wrong, a folder holds none, or two excerpts share an id.
    """
    shipped = content_folder() / "excerpts"
    named = [shipped if str(path) == SHIPPED and not path.exists() else path for path in paths]
    files = [file for path in named for file in (sorted(path.glob("*.yaml")) if path.is_dir() else [path])]
    if not files:
        raise ContentError("no excerpt is there", where=", ".join(map(str, paths)), allowed="YAML files of excerpts")
    found: dict[str, Excerpt] = {}
    for file in files:
        for excerpt in load_excerpts(file):
            if excerpt.id in found:
                raise ContentError(f"another excerpt has the id {excerpt.id!r}", where=str(file))
            found[excerpt.id] = excerpt
    return tuple(found.values())


def shipped_questions() -> Questions:
    """Returns what is asked about each kind of fault.

    Raises:
        ContentError: The file is wrong.
    """
    return load_yaml(content_folder() / "questions.yaml", Questions)


def first_lesson(excerpts: Sequence[Excerpt]) -> Gathered:
    """Returns what excerpts ask of presence alone, each about a turn that stands alone and without any facts.

    These are short, and right answers need nothing but the question and the words of the turn. A small model that
    begins with whole windows and all kinds of faults stays at chance for hundreds of steps; behind this lesson it does
    not.
    """
    return _gathered([label for excerpt in excerpts for label in _first_labels(excerpt)])


def judge_examples(
    excerpts: Sequence[Excerpt],
    audits: Sequence[Path],
    questions: Questions,
    *,
    seed: int,
    without: frozenset[str] = frozenset(),
    plain: bool = False,
) -> Gathered:
    """Returns the examples of excerpts and of audits' specimens.

    Args:
        excerpts: Clean, with their hooks.
        audits: Folders that ``audit judge --out`` wrote.
        questions: What is asked about each kind.
        seed: Of the choice of wordings and of further questions.
        without: Kinds of faults that are neither asked about nor in any turn, so that a card can tell how a judge does
            on kinds that it never saw.
        plain: Of excerpts, only what they ask of presence; no fault is planted in them.

    Raises:
        UserError: A folder holds no audit, or a kind to leave out is known to nobody.
        ContentError: An excerpt plants a kind that nothing is asked about, or a file is wrong.
    """
    if unknown := without - questions.faults.keys() - BY_KIND.keys():
        allowed = ", ".join(sorted(questions.faults.keys() | BY_KIND.keys()))
        raise UserError(f"no fault is of the kind {min(unknown)!r}", where="--without", allowed=allowed)
    asked = questions.without(without)
    labels = [
        label
        for excerpt in excerpts
        for label in (_plain_labels(excerpt) if plain else _labels_of_excerpt(_spared(excerpt, without), asked, seed))
    ]
    return _gathered([*labels, *(label for folder in audits for label in _labels_of_audit(folder, seed, without))])


def _spared(excerpt: Excerpt, kinds: frozenset[str]) -> Excerpt:
    """Returns an excerpt in which faults of some kinds are not planted."""
    return excerpt.model_copy(update={"hooks": {kind: of for kind, of in excerpt.hooks.items() if kind not in kinds}})


def _gathered(labels: Sequence[_Label]) -> Gathered:
    found = Gathered()
    prompts = {
        language: {f"default/{language}/{name}": of for name, of in hashes(PROMPTS, language).items()}
        for language in ANSWERS
    }
    for label in labels:
        language = label.transcript.scenario.language
        if language not in ANSWERS:
            found.left_out[f"language {language}: no words for yes and no"] += 1
            continue
        found.examples.append(_example(label, prompts[language]))
        found.labels[label.said] += 1
    kinds: list[Json] = [*sorted({label.kind for label in labels if label.kind})]
    found.terms = {"fault_kinds": kinds, "answers": dict(sorted(found.labels.items()))}
    return found


def _first_labels(excerpt: Excerpt) -> Iterator[_Label]:
    whole = transcript_of(excerpt)
    scenario = whole.scenario.model_copy(update={"reference": ""})
    turns = {turn.id: turn for turn in whole.turns}
    for said, one in _presences(excerpt):
        turn = turns[one.turn]
        roles = tuple(role for role in whole.roles if role.id == turn.role)
        alone = whole.model_copy(update={"scenario": scenario, "roles": roles, "turns": (turn,)})
        yield _Label(alone, one.turn, one.ask, said, "")


def _presences(excerpt: Excerpt) -> Iterator[tuple[Said, Presence]]:
    for one in excerpt.present:
        yield "yes", one
    for one in excerpt.absent:
        yield "no", one


def _labels_of_excerpt(excerpt: Excerpt, questions: Questions, seed: int) -> Iterator[_Label]:
    rng = Random(f"judge/{seed}/{excerpt.id}")
    clean = transcript_of(excerpt)

    def about(transcript: Transcript, turn: str, said: Said, kind: str) -> _Label:
        asks = questions.faults[kind]
        return _Label(transcript, turn, rng.choice(asks.asks), said, kind, asks.facts, asks.earlier)

    for kind, hooks in excerpt.hooks.items():
        if kind not in questions.faults:
            allowed = ", ".join(sorted(questions.faults))
            raise ContentError(f"nothing is asked about {kind!r}", where=f"excerpt {excerpt.id}", allowed=allowed)
        strangers = questions.strangers(kind)
        for hook in hooks:
            turn = hook.turn
            yield about(clean, turn, "no", kind)
            if hook.innocent is not None:
                yield about(_edited(clean, turn, hook.innocent), turn, "no", kind)
            for edit in (hook.mild, hook.severe):
                faulty = _edited(clean, turn, edit)
                yield about(faulty, turn, "yes", kind)
                if strangers:
                    yield about(faulty, turn, "no", rng.choice(strangers))
    for one in clean.turns:
        for kind in rng.sample(sorted(questions.faults), min(OTHER_KINDS, len(questions.faults))):
            yield about(clean, one.id, "no", kind)
    for said, one in _presences(excerpt):
        yield _Label(clean, one.turn, one.ask, said, "", facts=rng.random() < FACTS_SHARE)


def _plain_labels(excerpt: Excerpt) -> Iterator[_Label]:
    clean = transcript_of(excerpt)
    for said, one in _presences(excerpt):
        yield _Label(clean, one.turn, one.ask, said, "")


def _edited(transcript: Transcript, turn: str, edit: Edit) -> Transcript:
    turns = tuple(
        one.model_copy(update={"text": edit.of(one.text)}) if one.id == turn else one for one in transcript.turns
    )
    return transcript.model_copy(update={"turns": turns})


class _Mutation(BaseModel):
    kind: str
    turns: tuple[str, ...]


class _Planted(BaseModel):
    transcript: str
    base: str
    part: str
    indicators: tuple[str, ...]
    mutations: tuple[_Mutation, ...]


def _labels_of_audit(folder: Path, seed: int, without: frozenset[str]) -> Iterator[_Label]:
    """Yields what an audit's own plan says of its specimens: of each fault the turns with it, and one without.

    A question about the whole transcript that is not about the presence of a fault has no answer for a single turn.
    """
    files = {name: folder / f"{name}.jsonl" for name in ("specimens", "planted", "judgements")}
    for path in files.values():
        if not path.is_file():
            raise UserError(
                f"there is no {path.name}", where=str(folder), allowed="a folder of dramaturg audit judge --out"
            )
    transcripts = {one.id: one for _, one in read_jsonl(files["specimens"], Transcript)}
    checklist = _checklist_of(files["judgements"])
    asked = {one.id: one for one in checklist.indicators}
    for line, planted in read_jsonl(files["planted"], _Planted):
        if planted.transcript not in transcripts:
            raise ContentError(
                f"there is no specimen {planted.transcript!r} in {files['specimens'].name}",
                where=f"{files['planted']}:{line}",
                allowed="both files as one audit wrote them",
            )
        if not without.isdisjoint(one.kind for one in planted.mutations):
            continue
        transcript = transcripts[planted.transcript]
        rng = Random(f"judge/{seed}/{planted.transcript}")
        for indicator in (asked[name] for name in planted.indicators if name in asked):
            if without.isdisjoint(indicator.detects) and (indicator.turned or indicator.scope == "turn"):
                yield from _labels_of_specimen(planted, transcript, indicator, rng)


def _labels_of_specimen(
    planted: _Planted, transcript: Transcript, indicator: Indicator, rng: Random
) -> Iterator[_Label]:
    kind = next((one.kind for one in planted.mutations if one.kind in indicator.detects), "")
    faulty = {turn for one in planted.mutations if one.kind in indicator.detects for turn in one.turns}
    about = [turn.id for turn in judged_of(indicator, transcript)]
    turned = (indicator.sign == "positive") == indicator.turned
    bad: Said = "yes" if turned else "no"
    good: Said = "no" if turned else "yes"

    def ask(turn: str, said: Said) -> _Label:
        question, facts = indicator.question, indicator.uses_reference
        return _Label(transcript, turn, question, said, kind, facts, needs_earlier(indicator))

    innocent = [turn for turn in about if turn not in faulty]
    for turn in about:
        if turn in faulty:
            yield ask(turn, bad)
    if innocent:
        yield ask(rng.choice(innocent), good)


def _checklist_of(judgements: Path) -> Checklist:
    """Returns the checklist that lies beside judgements; where there is none, the shipped one of its name."""
    kept = judgements.with_name("checklist.yaml")
    for _, judgement in read_jsonl(judgements, Judgement):
        name = judgement.checklist.rpartition(" v")[0]
        path = kept if kept.is_file() else find("checklists", name, where=str(judgements))
        checklist = load_yaml(path, Checklist)
        if checklist.hash != judgement.checklist_digest:
            raise ContentError(
                f"judged by another state of the checklist {name}",
                where=str(judgements),
                allowed="audit again, with the checklist as it is now",
            )
        return checklist
    raise ContentError("holds no judgement", where=str(judgements))


def _example(label: _Label, prompts: Mapping[str, str]) -> Example:
    transcript = label.transcript
    language = transcript.scenario.language
    place = next(place for place, turn in enumerate(transcript.turns) if turn.id == label.turn)
    glance = glance_at(transcript, place, language, earlier=label.earlier)
    messages = (*glance.opened, glance_question(glance, label.question, language, facts=label.facts))
    answer = ANSWERS[language][label.said == "no"]
    return Example(
        id=example_id("judge", messages, answer),
        kind="judge",
        messages=messages,
        answer=answer,
        scene=transcript.scenario.id,
        characters=names_of(transcript.roles),
        language=language,
        source=transcript.id,
        teacher=TEACHER,
        prompt_hashes=prompts,
        weight=FAULTY_WEIGHT if label.said == "yes" and label.kind else 1.0,
        purpose=label.kind,
    )
