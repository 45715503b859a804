"""CharacterBox's own files, read into our form.

A file is one object with `title` and `scenes`; each scene has a cast and opening actions. The opening actions of one
character become one, in their order; placeholders for silence ("None", 无) become silence. The row itself is kept in
the scene's `origin`, so that the linter sees what was there, but for the novel's text (`chunk.text`), which is under
the copyright of others: its length and hash stand in its place.

Upstream's folders have each other's names: `extracted_scenes` holds invented scenes, `generated_data` extracted ones.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, cast

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, ValidationError

from dramaturg.errors import ContentError
from dramaturg.files import read_text
from dramaturg.stage.slug import slug
from dramaturg.stage.world.scene import Environment, Opening, Scene, SceneCharacter, SceneSource
from dramaturg.text import sha256, storable

FORM = "characterbox"
"""Value of ``origin.form``."""

HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
"""A Chinese sign."""

SILENCE = frozenset(
    {"none", "n/a", "na", "null", "nil", "no dialogue", "silence", "silent", "无", "无对话", "无台词", "沉默"}
)
"""What stands for saying nothing, without the signs around it."""

_FOLDERS: dict[str, SceneSource] = {"extracted_scenes": "generated", "generated_data": "extracted"}
_SETS: dict[str, SceneSource] = {"new": "generated", "extracted": "extracted"}
_HAN_SHARE = 0.2
"""From this share of Chinese signs on, the titles of a file are Chinese."""

_MOST_UNKNOWN = 100
"""Most characters of a value under a key that the published form does not have; a longer one may be a work's text."""

_SIGNS_AROUND = " \t\r\n.…,;:!?*_`'\"“”‘’()[]{}-—。，；：！？（）【】「」"
_QUOTED = re.compile(r"“([^“”]*)”|「([^「」]*)」|\"([^\"]*)\"")

Told = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
"""Text; null is empty."""


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("is blank")
    return value


Needed = Annotated[str, AfterValidator(_not_blank)]
"""Text that is not blank, with the blanks around it."""


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")

    @property
    def unknown_keys(self) -> tuple[str, ...]:
        """Keys that the published form does not have."""
        return tuple(sorted(self.model_extra or {}))


class CharacterRow(_Row):
    """A character, as upstream writes it."""

    id: int | str | None = None
    name: Needed
    gender: Told | None = None
    description: Told = ""
    position: Told = ""
    states: Told = ""


class ActionRow(_Row):
    """An opening action, as upstream writes it."""

    action_id: int | str | None = None
    character: Told = ""
    character_id: int | str | None = None
    action: Told = ""
    dialogue: Told = ""

    @property
    def is_silence(self) -> bool:
        """Whether the dialogue is a word for silence and no speech."""
        return self.dialogue.strip(_SIGNS_AROUND).casefold() in SILENCE


class ChunkRow(_Row):
    """The piece of the work that a scene comes from, without its text."""

    id: int | str | None = None
    chars: int | None = None
    sha256: str = ""


class SceneRow(_Row):
    """A scene, as upstream writes it."""

    id: int
    event: Needed
    time: Told = ""
    location: Needed
    description: Told = ""
    plot: Told = ""
    characters: Annotated[tuple[CharacterRow, ...], Field(min_length=1)]
    actions: tuple[ActionRow, ...] = ()
    chunk_ref: ChunkRow | None = None

    def actor_of(self, action: ActionRow) -> int | None:
        """Returns the position of the character that acts, by name, else by id; None where it is not in the cast."""
        name = action.character.strip()
        for at, character in enumerate(self.characters):
            if character.name.strip() == name:
                return at
        if name:
            return None
        ids = [character.id for character in self.characters]
        return ids.index(action.character_id) if action.character_id in ids else None


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    title: str = ""
    language: str = ""
    set: str = ""
    scenes: Annotated[tuple[dict[str, JsonValue], ...], Field(min_length=1)]


def read_characterbox(path: Path) -> tuple[Scene, ...]:
    """Returns the scenes of a file of CharacterBox, in their order.

    Raises:
        ContentError: It is no such file, or a scene has no event, place or cast; the message has a line for each
            problem.
    """
    try:
        data: object = json.loads(read_text(path), parse_constant=_no_number)
        head = _File.model_validate(data)
    except ValidationError as problems:
        raise ContentError("\n".join(_problems(problems, f"{path}"))) from None
    except (ValueError, RecursionError) as error:
        raise ContentError(f"is no JSON of CharacterBox: {error}", where=str(path)) from None
    language = head.language or _language(head.scenes)
    source = _SETS.get(head.set) or _FOLDERS.get(path.parent.name) or _by_name(path)
    wrong: list[str] = []
    found: dict[str, Scene] = {}
    for at, raw in enumerate(head.scenes):
        place = f"{path}: scenes.{at}"
        try:
            row = SceneRow.model_validate(_without_text(raw))
            name = _scene_id(path, head.title, source, row.id)
            name = name if name not in found else f"{name}-at-{at}"
            found[name] = _scene(row, name, work=head.title.strip(), language=language, source=source)
        except ValidationError as problems:
            wrong += _problems(problems, place)
    if wrong:
        raise ContentError("\n".join(wrong))
    return tuple(found.values())


def is_characterbox(path: Path) -> bool:
    """Returns whether a file holds an object with scenes."""
    try:
        data: object = json.loads(read_text(path))
    except (ContentError, ValueError, RecursionError):
        return False
    return isinstance(data, dict) and isinstance(cast("dict[str, object]", data).get("scenes"), list)


def row_of(scene: Scene) -> SceneRow | None:
    """Returns the row that a scene was imported from; None where it comes from elsewhere."""
    origin = scene.origin
    if origin is None or origin.get("form") != FORM:
        return None
    return SceneRow.model_validate(origin["row"])


def _scene(row: SceneRow, name: str, *, work: str, language: str, source: SceneSource) -> Scene:
    names = _distinct([character.name.strip() for character in row.characters], " ({})")
    ids = _distinct([slug(known) or f"c{at + 1}" for at, known in enumerate(names)], "-{}")
    openings = _openings(row)
    return Scene(
        id=name,
        title=row.event.strip(),
        language=language,
        event=row.event,
        environment=Environment(time=row.time.strip(), place=row.location, description=row.description.strip()),
        characters=tuple(
            SceneCharacter(
                id=ids[at],
                name=names[at],
                gender=(character.gender or "").strip(),
                profile=character.description.strip(),
                position=character.position.strip(),
                state=character.states.strip(),
                opening=openings.get(at),
            )
            for at, character in enumerate(row.characters)
        ),
        plot=row.plot.strip(),
        source=source,
        work=work,
        origin={"form": FORM, "row": row.model_dump(mode="json", exclude_unset=True)},
    )


def _openings(row: SceneRow) -> dict[int, Opening]:
    """Returns what each character does at first, by its position in the cast."""
    done: dict[int, tuple[list[str], list[str]]] = {}
    for action in row.actions:
        at = row.actor_of(action)
        if at is None:
            continue
        acts, speeches = done.setdefault(at, ([], []))
        if act := action.action.strip():
            acts.append(act)
        if not action.is_silence and (speech := _unquoted(action.dialogue)):
            speeches.append(speech)
    return {
        at: Opening(action="\n".join(acts), speech="\n".join(speeches))
        for at, (acts, speeches) in done.items()
        if acts or speeches
    }


def _unquoted(speech: str) -> str:
    """Returns a speech without the quotation marks around the whole of it."""
    found = _QUOTED.fullmatch(speech.strip())
    return next(filter(None, found.groups()), "").strip() if found is not None else speech.strip()


def _distinct(names: Sequence[str], form: str) -> list[str]:
    """Returns names of which none stands twice, whatever its case; a repeated one gets a number."""
    seen: set[str] = set()
    found: list[str] = []
    for name in names:
        number, new = 1, name
        while new.casefold() in seen:
            number += 1
            new = name + form.format(number)
        seen.add(new.casefold())
        found.append(new)
    return found


def _scene_id(path: Path, title: str, source: SceneSource, number: int) -> str:
    stem = slug(path.stem) or slug(title) or f"work-{sha256(title or path.stem)[:8]}"
    which = next(name for name, known in _SETS.items() if known == source)
    return f"{stem}-{number}" if stem.endswith(f"-{which}") else f"{stem}-{which}-{number}"


def _by_name(path: Path) -> SceneSource:
    return _SETS.get(path.stem.rpartition(".")[2], "extracted")


def _language(rows: Iterable[Mapping[str, JsonValue]]) -> str:
    """Returns the language of the events: Chinese where enough of their signs are."""
    counts: Counter[bool] = Counter()
    for row in rows:
        event = row.get("event")
        counts.update(HAN.match(sign) is not None for sign in event if sign.isalpha()) if isinstance(event, str) else ()
    return "zh" if counts.total() and counts[True] / counts.total() >= _HAN_SHARE else "en"


def _without_text(raw: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Returns a scene's row with length and hash in the place of its chunk's text."""
    row = dict(raw)
    chunk = row.pop("chunk", None)
    if isinstance(chunk, dict) and "chunk_ref" not in row:
        text = str(chunk.get("text") or "")
        row["chunk_ref"] = {"id": chunk.get("id"), "chars": len(text), "sha256": sha256(text)}
    kept = {key: value if key in SceneRow.model_fields else _without_long_text(value) for key, value in row.items()}
    return {key: _storable(value) for key, value in kept.items()}


def _without_long_text(value: JsonValue) -> JsonValue:
    """Returns a value under a key that nobody knows, with length and hash in the place of what may be a work's text."""
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(written) <= _MOST_UNKNOWN else {"chars": len(written), "sha256": sha256(written)}


def _storable(value: JsonValue) -> JsonValue:
    """Returns a value without signs that no file can hold."""
    match value:
        case str():
            return storable(value)
        case list():
            return [_storable(entry) for entry in value]
        case dict():
            return {storable(key): _storable(entry) for key, entry in value.items()}
        case _:
            return value


def _problems(problems: ValidationError, where: str) -> Iterable[str]:
    for problem in problems.errors(include_url=False):
        key = ".".join(map(str, problem["loc"]))
        match problem["type"]:
            case "too_short":
                what = "is empty"
            case "model_type" | "dict_type":
                what = "is no object"
            case "tuple_type":
                what = "is no list"
            case _:
                what = problem["msg"].removeprefix("Value error, ")
        yield f"{where}{f'.{key}' if key else ''}: {what}"


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no JSON number")
