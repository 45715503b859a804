"""Text files that people write: read as UTF-8, parsed as YAML or JSON Lines, validated, every error with its line."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from importlib import resources
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar, cast, get_args

import yaml
from pydantic import BaseModel, ValidationError

from dramaturg.errors import ContentError, UserError, did_you_mean

ModelT = TypeVar("ModelT", bound=BaseModel)
Shelf = Literal[
    "benchmarks", "cases", "checklists", "lexicons", "procedures", "records", "rubrics", "scenes", "scripts", "starters"
]
"""Kinds of content that ship with the package."""

_UNSAFE = re.compile("[\x85\u2028\u2029\ufeff]")
"""Signs that YAML takes for line ends or drops; a text that holds any is written with escapes."""

_LOADER = cast("type[yaml.SafeLoader]", getattr(yaml, "CSafeLoader", yaml.SafeLoader))
"""The safe loader over libyaml where there is one: ten times as fast, and it refuses deep nesting by itself."""


def shipped(shelf: Shelf) -> dict[str, Path]:
    """Returns the shipped files of one kind by name (the file's stem)."""
    folder = Path(str(resources.files("dramaturg"))) / "content" / shelf
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def find(shelf: Shelf, name: str, *, where: str = "", beside: Path | None = None, also: Iterable[str] = ()) -> Path:
    """Returns the file that a name or a path means: a shipped one by name, else one on disk.

    Args:
        shelf: Kind of content.
        name: Name of a shipped file, or a path.
        where: Place of the name, for the error.
        beside: Folder that relative paths start from; the working folder by default.
        also: Names without a file that would have been right as well.

    Raises:
        ContentError: There is no such file; the message lists the names.
    """
    files = shipped(shelf)
    if name in files:
        return files[name]
    path = (beside or Path()) / name
    try:
        is_file = path.is_file()
    except OSError:
        is_file = False
    if is_file:
        return path
    kind = shelf.removesuffix("s")
    raise ContentError(
        f"unknown {kind} {name!r}", where=where, allowed=f"a path, or {did_you_mean(name, {*files, *also})}"
    )


def read_text(path: Path) -> str:
    """Returns the file's text; a byte order mark is dropped.

    Raises:
        ContentError: The file cannot be read or is not UTF-8; the message names the line.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ContentError(f"cannot be read: {error.strerror or error}", where=str(path)) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ContentError(
            f"byte 0x{data[error.start]:02x} is not UTF-8", where=f"{path}:{line}", allowed="save the file as UTF-8"
        ) from None


def load_yaml(path: Path, model: type[ModelT], *, error: type[UserError] = ContentError) -> ModelT:
    """Returns the validated content of a YAML file.

    Args:
        path: The file.
        model: What it must hold.
        error: Class of the error to raise.

    Raises:
        UserError: Of the class given: no YAML, or something else in it. Every problem is named with its line.
    """
    return parse_yaml(read_text(path), model, where=str(path), error=error)


def parse_yaml(text: str, model: type[ModelT], *, where: str, error: type[UserError] = ContentError) -> ModelT:
    """Returns the validated content of YAML text; see `load_yaml`."""
    try:
        node = yaml.compose(text, Loader=_LOADER)
        data: object = yaml.load(text, Loader=_LOADER)
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        line = f":{mark.line + 1}" if mark is not None else ""
        what = getattr(problem, "problem", None) or str(problem).splitlines()[0]
        raise error(f"is no valid YAML: {what}", where=f"{where}{line}") from None
    except (RecursionError, ValueError) as problem:
        raise error(f"is no valid YAML: {str(problem) or 'nested too deeply'}", where=where) from None
    if not isinstance(data, dict):
        what = "is empty" if data is None else f"holds {_kind_of(data)} where keys are expected"
        required = [field.alias or name for name, field in model.model_fields.items() if field.is_required()]
        line = _line_of(node, ())
        place = f"{where}:{line}" if line else where
        raise error(what, where=place, allowed=f"keys: {', '.join(required)}" if required else "")
    twice = _repeated_key(node)
    if twice is not None:
        raise error(f"key {twice[0]!r} stands twice", where=f"{where}:{twice[1]}")
    try:
        return model.model_validate(data)
    except ValidationError as problems:
        raise _user_error(problems, model, node, where, error) from None


def dump_yaml(data: object, *, width: int = 80) -> str:
    """Returns plain data as YAML that reads back as the same, keys in their order.

    Args:
        data: Mappings, lists, texts, numbers, truth values and None.
        width: Characters after which a long text goes on in a new line.
    """
    plain = _UNSAFE.search(json.dumps(data, ensure_ascii=False)) is None
    text: str = yaml.safe_dump(data, allow_unicode=plain, sort_keys=False, width=width)  # pyright: ignore[reportUnknownMemberType]
    return text


def place_of(path: Path, *location: str | int) -> str:
    """Returns the file and the line at which the deepest part of a location stands, for an error's `where`.

    Args:
        path: A YAML file that was loaded before.
        location: Keys and indices, outermost first.
    """
    node = yaml.compose(read_text(path), Loader=_LOADER)
    line = _line_of(node, location)
    return f"{path}:{line}" if line else str(path)


OnTorn: TypeAlias = Callable[[str], None]
"""Receives the place of a line that was left out because it is torn, as ``FILE:LINE``."""


def read_jsonl(path: Path, model: type[ModelT], *, on_torn: OnTorn | None = None) -> Iterator[tuple[int, ModelT]]:
    """Yields line number and record of a JSON Lines file, one at a time.

    Args:
        path: The file.
        model: What each line must hold.
        on_torn: For files that Dramaturg itself wrote: is told of a torn last line, which is then left out. Without
            it, such a line is an error like any other.

    Raises:
        ContentError: A line is no JSON or no such record, or the file is not UTF-8; the message names the line.
    """
    for number, line in read_lines(path):
        try:
            yield number, model.model_validate_json(line)
        except ValidationError as problems:
            if is_torn(line) and not _is_json(line):
                if on_torn is None:
                    raise ContentError(
                        "the last line is torn: it ends in the middle of a record",
                        where=f"{path}:{number}",
                        allowed="write the file anew, or remove that line",
                    ) from None
                on_torn(f"{path}:{number}")
                return
            raise _user_error(problems, model, None, f"{path}:{number}", ContentError) from None


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yields number and bytes of each line of a JSON Lines file that is not blank, without a byte order mark.

    Raises:
        ContentError: The file cannot be opened.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise ContentError(f"cannot be read: {error.strerror or error}", where=str(path)) from None
    with file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield number, line.removeprefix(b"\xef\xbb\xbf")


def ends_torn(path: Path) -> bool:
    """Returns whether the last line of a JSON Lines file is torn: it has no end and is no JSON.

    Raises:
        ContentError: The file cannot be opened.
    """
    return any(is_torn(line) and not _is_json(line) for _, line in deque(read_lines(path), maxlen=1))


def is_torn(line: bytes) -> bool:
    """Returns whether a line has no end: a killed writer may have left it so."""
    return not line.endswith(b"\n")


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _kind_of(value: object) -> str:
    match value:
        case list():
            return "a list"
        case str():
            return "text"
        case _:
            return "one value"


def _repeated_key(node: yaml.Node | None) -> tuple[str, int] | None:
    """Returns the first key that stands twice in one mapping, with its line."""
    stack = [node] if node is not None else []
    visited: set[int] = set()
    while stack:
        current = stack.pop()
        if id(current) in visited:
            continue
        visited.add(id(current))
        if isinstance(current, yaml.MappingNode):
            seen: set[str] = set()
            for key, value in cast("list[tuple[yaml.Node, yaml.Node]]", current.value):
                name = str(key.value)
                if name in seen:
                    return name, key.start_mark.line + 1
                seen.add(name)
                stack.append(value)
        elif isinstance(current, yaml.SequenceNode):
            stack.extend(cast("list[yaml.Node]", current.value))
    return None


def _user_error(
    problems: ValidationError, model: type[BaseModel], node: yaml.Node | None, where: str, error: type[UserError]
) -> UserError:
    lines: list[str] = []
    found = problems.errors(include_url=False)
    inside = {problem["loc"][:depth] for problem in found for depth in range(len(problem["loc"]))}
    for problem in found:
        location = problem["loc"]
        if problem["type"] == "too_short" and location in inside:  # its items are there, and named as wrong already
            continue
        line = _line_of(node, location)
        place = f"{where}:{line}" if line else where
        key = ".".join(str(part) for part in location)
        if key and problem["input"] is None and problem["type"].endswith("_type"):
            what = f"key {key!r} is empty"
        else:
            what = _what(problem["type"], problem["msg"], key, _fields_at(model, location))
        lines.append(f"{place}: {what}")
    first, *rest = lines
    more = "".join(f"\n{line}" for line in rest)
    return error(f"{first}{more}")


def _what(kind: str, message: str, key: str, fields: list[str]) -> str:
    if kind == "extra_forbidden":
        name = key.rpartition(".")[2]
        return f"unknown key {key!r} ({did_you_mean(name, fields)})" if fields else f"unknown key {key!r}"
    if kind == "missing":
        return f"key {key!r} is missing"
    text = message.removeprefix("Value error, ")
    return f"{key}: {text}" if key else text


def _fields_at(model: type[BaseModel], location: tuple[str | int, ...]) -> list[str]:
    """Returns the keys allowed beside the last part of the location, where they can be told."""
    current: object = model
    for part in location[:-1]:
        if isinstance(part, int):
            continue
        if not (isinstance(current, type) and issubclass(current, BaseModel)):
            return []
        field = current.model_fields.get(part)
        if field is None:
            return []
        current = _model_inside(field.annotation)
    if isinstance(current, type) and issubclass(current, BaseModel):
        return [field.alias or name for name, field in current.model_fields.items()]
    return []


def _model_inside(annotation: object) -> object:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in get_args(annotation):
        found = _model_inside(argument)
        if found is not None:
            return found
    return None


def _line_of(node: yaml.Node | None, location: tuple[str | int, ...]) -> int | None:
    """Returns the line of the deepest part of the location that stands in the file."""
    if node is None:
        return None
    line = node.start_mark.line + 1
    for part in location:
        below: yaml.Node | None = None
        if isinstance(node, yaml.MappingNode):
            for key, value in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
                if str(key.value) == str(part):
                    below, line = value, key.start_mark.line + 1
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            below = cast("yaml.Node", node.value[part])
            line = below.start_mark.line + 1
        if below is None:
            continue
        node = below
    return line
