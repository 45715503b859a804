"""The material: everything that a study refers to, read and checked before the first call."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dramaturg.errors import ContentError, UserError, did_you_mean
from dramaturg.files import find, load_yaml, read_text, shipped
from dramaturg.judge.checklist import Checklist, Long, Mode, Wording
from dramaturg.model import Identity, ModelSpec, parse_spec
from dramaturg.model.script import BUILT_IN
from dramaturg.prompts import load_prompt, parse_prompt
from dramaturg.run.identity import identity_of
from dramaturg.run.reading import StudyReading
from dramaturg.run.study import Judging, Study, Subject, load_study
from dramaturg.stage.court import DEFAULT_LIMITS, AnyCase, Procedure, load_procedure, read_case
from dramaturg.stage.court.procedure import VERDICT
from dramaturg.stage.court.record import case_digest
from dramaturg.stage.court.setting import court_engine
from dramaturg.stage.court.wording import prompts_of
from dramaturg.text import Json, canonical_json, sha256


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model of the study, not opened.

    Attributes:
        label: What tables call it.
        written: The spec string as the study has it.
        spec: Where it is and how it is asked; its path starts from the root.
        identity: Which model it is.
    """

    label: str
    written: str
    spec: ModelSpec
    identity: Identity

    @property
    def key(self) -> str:
        """Canonical JSON of what can change an answer: the identity and the sampling of the spec."""
        options = self.spec.options
        sampling: dict[str, Json] = {
            "temperature": options.temperature,
            "max_tokens": options.max_tokens,
            "top_p": options.top_p,
        }
        given = {name: value for name, value in sampling.items() if value is not None}
        return canonical_json({"model": self.identity.key, "sampling": given})


@dataclass(frozen=True, slots=True)
class Variant:
    """A variant of the prompts.

    Attributes:
        name: As the study writes it.
        folder: Where the files are that replace shipped ones; None for ``default``.
        digest: Hash of those files; empty for ``default``.
    """

    name: str
    folder: Path | None = None
    digest: str = ""


@dataclass(frozen=True, slots=True)
class StagedCase:
    """A case with the file that it stands in; its digest stands for it in a hash."""

    case: AnyCase = field(hash=False)
    path: Path
    digest: str


@dataclass(frozen=True, slots=True)
class Staging:
    """A case, the procedure under which it is held, and who plays what in it beside the subject.

    Attributes:
        case: The case.
        procedure: The procedure, proved.
        path: The procedure's file.
        fixed: Kind of role → who plays it; None for a person.
    """

    case: StagedCase
    procedure: Procedure
    path: Path
    fixed: Mapping[str, NamedModel | None]

    @property
    def has_person(self) -> bool:
        """Whether a person plays in it."""
        return None in self.fixed.values()

    @property
    def players(self) -> tuple[NamedModel, ...]:
        """The models and scripts that play beside the subject."""
        return tuple(player for player in self.fixed.values() if player is not None)

    @property
    def unlike_its_own(self) -> str:
        """Id of the procedure where it is not the one that the case was made for; empty otherwise."""
        return "" if self.procedure.id == self.case.case.made_for else self.procedure.id


@dataclass(frozen=True, slots=True)
class JudgeBench:
    """A judge with its checklist.

    Attributes:
        model: Who judges.
        checklist: By what.
        written: The checklist as the study names it.
        path: The checklist's file.
        mode: How it is asked.
        votes: How often.
        long: What becomes of a transcript beyond the judge's context.
        ask: What is put to the judge.
    """

    model: NamedModel
    checklist: Checklist
    written: str
    path: Path
    mode: Mode
    votes: int
    long: Long = "refuse"
    ask: Wording = "presence"

    @property
    def key(self) -> str:
        """Canonical JSON of what can change a judgement; what a bench leaves as it is by default is not part of it."""
        chosen: dict[str, Json] = {}
        if self.long != "refuse":
            chosen["long"] = self.long
        if self.ask != "presence":
            chosen["ask"] = self.ask
        asked: dict[str, Json] = {"mode": self.mode, "votes": self.votes, **chosen}
        return canonical_json({"checklist": self.checklist.hash, "judge": self.model.key, **asked})

    @property
    def label(self) -> str:
        """What tables call it."""
        votes = f", {self.votes} votes" if self.votes > 1 else ""
        cut = ", middle cut" if self.long == "cut" else ""
        text = ", asked by its text" if self.ask == "text" else ""
        return f"{self.model.label} ({self.written}, {self.mode}{votes}{cut}{text})"


@dataclass(frozen=True, slots=True)
class Material:
    """A study with everything that it refers to.

    Attributes:
        study: The study file's content.
        path: The study file.
        subjects: What is measured.
        variants: Variants of the prompts.
        stagings: What is staged: every case under its procedures.
        judges: Who judges.
    """

    study: Study
    path: Path
    subjects: tuple[NamedModel, ...]
    variants: tuple[Variant, ...]
    stagings: tuple[Staging, ...]
    judges: tuple[JudgeBench, ...]

    @property
    def cases(self) -> tuple[StagedCase, ...]:
        """The cases, each once."""
        return tuple({staging.case.case.id: staging.case for staging in self.stagings}.values())

    @property
    def has_person(self) -> bool:
        """Whether a person plays in any performance."""
        return any(staging.has_person for staging in self.stagings)

    def models(self) -> dict[str, NamedModel]:
        """Returns every model of the study by its spec string."""
        players = [player for staging in self.stagings for player in staging.players]
        everyone = [*self.subjects, *players, *(bench.model for bench in self.judges)]
        return {model.spec.text: model for model in everyone}


def read_material(path: Path) -> Material:
    """Returns a study with everything that it refers to; no model is loaded or called.

    Args:
        path: The study file; relative paths in it start from its folder.

    Raises:
        StudyError: The file is wrong, or refers to what is not there; every problem is named with its line.
        ContentError: The file cannot be read.
    """
    study = load_study(path)
    reading = _Reading(path)
    subjects = reading.each("subjects", study.subjects, reading.subject, key=lambda subject: subject.key)
    reading.distinct("subjects", [subject.label for subject in subjects], "label")
    cases = reading.each("cases", study.cases, reading.case, key=lambda staged: staged.case.id)
    held = reading.each("procedures", study.procedures, reading.procedure, key=lambda found: found[0].digest)
    judges = reading.each("judges", study.judges, reading.bench, key=lambda bench: bench.key)
    reading.distinct("seeds", study.seeds, "seed")
    stagings = tuple(reading.stagings(study, cases, held))
    of_the_stage = {name for staging in stagings for name in prompts_of(staging.procedure)}
    variant = functools.partial(read_variant, beside=reading.folder, of_the_stage=of_the_stage)
    variants = reading.each("prompts", study.prompts, variant, key=lambda variant: variant.digest)
    reading.report()
    return Material(study, path, subjects, variants, stagings, judges)


def named_model(text: str, label: str, *, beside: Path) -> NamedModel:
    """Returns the model of a spec string; it is not opened.

    Args:
        text: The spec string.
        label: What tables call it.
        beside: The folder from which the relative path of a file starts.

    Raises:
        SpecError: The spec is wrong.
        UserError: Its file is not there.
    """
    spec = parse_spec(text)
    if spec.provider in {"gguf", "script"} and (beside / spec.name).is_file():
        options = text.partition("?")[2]
        path = (beside / spec.name).resolve()
        spec = parse_spec(f"{spec.provider}:{path}" + (f"?{options}" if options else ""))
    return NamedModel(label, text, spec, identity_of(spec))


def named_judge(text: str, label: str, *, beside: Path) -> NamedModel:
    """Returns the model of a judge's spec string, for which the judges that are built in are allowed too.

    See `named_model` for the arguments and what is raised.
    """
    spec = parse_spec(text)
    if spec.provider == "script" and spec.name not in BUILT_IN and not (beside / spec.name).is_file():
        find("scripts", spec.name, where=text, also=BUILT_IN)
    return named_model(text, label, beside=beside)


def mode_of(spec: ModelSpec, chosen: Mode | None) -> Mode:
    """Returns how a judge is asked: as was chosen, or as it was made for, or one question per call.

    Raises:
        UserError: It was made for another mode than the chosen one.
    """
    from dramaturg.model.local_files import composed_of

    made = composed_of(spec)
    if made is not None and chosen not in {None, made.mode}:
        raise UserError(f"{spec.text!r} cannot be asked in mode {chosen}", where="mode", allowed=made.mode)
    return chosen or (made.mode if made is not None else "single")


def read_variant(name: str, *, beside: Path, of_the_stage: Collection[str]) -> Variant:
    """Returns a variant of the prompts, its files checked.

    Args:
        name: ``default``, or the path of a folder whose files replace shipped prompts of the same name.
        beside: Folder that the path starts from.
        of_the_stage: Names of the prompts that may be replaced.

    Raises:
        ContentError: There is no such folder, or a file of it replaces nothing or has other variables.
    """
    if name == "default":
        return Variant(name)
    folder = beside / name
    if not folder.is_dir():
        raise ContentError(f"there is no folder of prompts {name!r}", allowed="default, or the path of a folder")
    hashes: dict[str, Json] = {}
    for file in sorted(folder.glob("*.txt")):
        if file.stem not in of_the_stage:
            raise ContentError(
                f"{file.stem!r} is no prompt of a performance",
                where=str(file),
                allowed=did_you_mean(file.stem, of_the_stage),
            )
        prompt = parse_prompt(read_text(file), name=file.stem, language="en", where=str(file))
        wanted = load_prompt(file.stem).variables
        if prompt.variables != wanted:
            raise ContentError(
                f"has the variables {sorted(prompt.variables)}",
                where=str(file),
                allowed=f"exactly {sorted(wanted)}",
            )
        hashes[file.stem] = prompt.hash
    if not hashes:
        raise ContentError(f"the folder {name!r} holds no prompt", allowed="NAME.txt of a shipped prompt")
    return Variant(name, folder, sha256(canonical_json(hashes)))


class _Reading(StudyReading):
    """Reads what one study file of the court refers to."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._procedures: dict[Path, Procedure] = {}

    def subject(self, subject: Subject) -> NamedModel:
        return self._model(subject.model, subject.label)

    def case(self, name: str) -> StagedCase:
        path = find("cases", name, beside=self.folder)
        case = read_case(path)
        return StagedCase(case, path, case_digest(case))

    def procedure(self, name: str, *, beside: Path | None = None) -> tuple[Procedure, Path]:
        """Returns a procedure that the proof accepts and whose prompts are all there, with its file; read once."""
        path = find("procedures", name, beside=beside or self.folder)
        if path not in self._procedures:
            self._procedures[path] = load_procedure(str(path.resolve()))
        return self._procedures[path], path

    def stagings(
        self, study: Study, cases: Sequence[StagedCase], held: Sequence[tuple[Procedure, Path]]
    ) -> Iterator[Staging]:
        """Yields every case under every procedure of the study, or under its own."""
        kinds: set[str] = set()
        for index, staged in enumerate(cases):
            try:
                under = held or [self.procedure(staged.case.made_for, beside=staged.path.parent)]
                for procedure, path in under:
                    court_engine(staged.case, procedure, DEFAULT_LIMITS)
                    self._check_options(study, procedure)
                    kinds |= procedure.roles.keys()
                    yield Staging(staged, procedure, path, self._fixed(study, staged, procedure))
            except UserError as error:
                self.note(str(error), "cases", index)
        for kind in study.cast.keys() - kinds if kinds else ():
            self.note(f"no procedure of this study has the role {kind!r} ({did_you_mean(kind, kinds)})", "cast", kind)

    def _check_options(self, study: Study, procedure: Procedure) -> None:
        try:
            study.staging.check(procedure, guarded=study.protocol == "guarded")
        except UserError as error:
            self.note(str(error), "staging")

    def _fixed(self, study: Study, staged: StagedCase, procedure: Procedure) -> dict[str, NamedModel | None]:
        """Returns who plays what beside the subject; whoever decides is never a person."""
        players = {procedure.player: "script", **study.cast}
        fixed: dict[str, NamedModel | None] = {}
        for kind, player in players.items():
            if kind in procedure.roles:
                fixed[kind] = self._player(player, kind, staged)
        for state in procedure.states:
            if state.purpose == VERDICT and state.speaker in fixed and fixed[state.speaker] is None:
                self.note(f"{state.speaker!r} decides, and is played by a model or a script", "cast", state.speaker)
        return fixed

    def bench(self, judging: Judging) -> JudgeBench:
        path = find("checklists", judging.checklist, beside=self.folder)
        model = named_judge(judging.model, judging.model, beside=self.folder)
        checklist = load_yaml(path, Checklist)
        mode = mode_of(model.spec, judging.mode)
        return JudgeBench(model, checklist, judging.checklist, path, mode, judging.votes, judging.long, judging.ask)

    def _player(self, player: str, kind: str, staged: StagedCase) -> NamedModel | None:
        if player == "human":
            return None
        name = f"{kind}-{staged.case.id}"
        if player == "script" and name not in shipped("scripts"):
            self.note(
                f"the case {staged.case.id!r} has no script for the {kind}; give cast: {kind}: script:FILE",
                "cast",
                kind,
            )
            return None
        try:
            return self._model(f"script:{name}" if player == "script" else player, player)
        except UserError as error:
            self.note(str(error), "cast", kind)
            return None

    def _model(self, text: str, label: str) -> NamedModel:
        return named_model(text, label, beside=self.folder)
