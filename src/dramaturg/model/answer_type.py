"""A pydantic type as the shape of an answer: its JSON schema for the server, and the check of what came back."""

from __future__ import annotations

import copy
import functools
import math
import re
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, TypeVar, Union, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError

from dramaturg.model.corrections import holds_several_answers, taken_back_inside
from dramaturg.model.relaxed import Rivals
from dramaturg.model.request import AnswerSchema
from dramaturg.model.tolerant import plain_key
from dramaturg.model.vocabulary import match_word, plain_text, read_yes_no_field
from dramaturg.text import Json

AnswerT = TypeVar("AnswerT", bound=BaseModel)

_LEFT_OUT = frozenset({"title", "default", "discriminator", "$defs"})
_LONGEST_PROBLEM = 300
_LONGEST_NAME = 40
_BETWEEN = re.compile(r"[,;，；、\n]|\band\b")
_VERDICTS = frozenset({"answer", "verdict", "decision", "conclusion", "result", "judgement", "judgment"})
"""Words in the names of keys that give an answer, whatever the key for it is."""
_NOTHING = frozenset({"", "none", "no", "nothing", "null", "n/a", "[]", "-", "无"})


@functools.lru_cache(maxsize=256)
def answer_schema(answer: type[BaseModel], name: str) -> AnswerSchema:
    """Returns the schema of a type as servers want it.

    References are inlined, objects take no other keys, every property is required (a server must not leave one to a
    default), and properties keep their order, so that reasoning which is declared first is written first.

    Args:
        answer: The type; it may not contain itself.
        name: Name of the schema, for the server.

    Raises:
        TypeError: The type contains itself.
    """
    source = answer.model_json_schema()
    return AnswerSchema(name, cast("dict[str, Json]", _inlined(source, source.get("$defs", {}), ())))


def list_schema(item: type[BaseModel], name: str, *, id_field: str, ids: Sequence[str]) -> AnswerSchema:
    """Returns the schema of one item per id: an object whose key ``answers`` holds the list."""
    one = copy.deepcopy(cast("dict[str, Any]", answer_schema(item, name).schema))
    one["properties"][id_field] = {"type": "string", "enum": list(ids)}
    many = {"type": "array", "items": one, "minItems": len(ids), "maxItems": len(ids)}
    whole = {"type": "object", "properties": {"answers": many}, "required": ["answers"], "additionalProperties": False}
    return AnswerSchema(name, cast("dict[str, Json]", whole))


def _inlined(node: Any, definitions: dict[str, Any], inside: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_inlined(part, definitions, inside) for part in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    schema = cast("dict[str, Any]", node)
    if "$ref" in schema:
        target = str(schema["$ref"]).rpartition("/")[2]
        if target in inside:
            raise TypeError(f"{target} contains itself; it has no finite schema")
        return _inlined(definitions[target], definitions, (*inside, target))
    made: dict[str, Any] = {}
    for key, part in schema.items():
        if key == "properties":
            made[key] = {name: _inlined(inner, definitions, inside) for name, inner in part.items()}
        elif key not in _LEFT_OUT:
            made[key] = _inlined(part, definitions, inside)
    if "properties" in made:
        made.pop("description", None)
        made["required"] = list(made["properties"])
        made["additionalProperties"] = False
    return made


@dataclass(frozen=True, slots=True)
class Checked(Generic[AnswerT]):
    """What became of a value that was read.

    Attributes:
        value: The value as the type, or None.
        problem: What is wrong, in one line; empty where nothing is.
        fitted: Whether it had to be fitted.
        contradictory: Whether it gives different answers at once.
    """

    value: AnswerT | None
    problem: str = ""
    fitted: bool = False
    contradictory: bool = False


class _ContradictionError(Exception):
    """A value gives different answers at once; its text says where."""


def validated(value: Json, answer: type[AnswerT]) -> Checked[AnswerT]:
    """Returns the value as the type, or what is wrong with it.

    Fitted are spellings alone: keys that differ in case, blanks or hyphens; members of a closed set by
    `dramaturg.model.vocabulary`; a list written as text with commas. Keys that the type does not know are dropped.
    Numbers that are not finite are refused, and so is a truth value where a number is due.

    No side is taken where a value contradicts itself: one key with different values, two spellings of a key with
    different answers, another key (``final_answer``, ``verdict``, an object with the same key) with another answer,
    or a field that takes its answer back ("no, wait, yes").

    Args:
        value: What was read.
        answer: What it must be.
    """
    if not isinstance(value, dict):
        return Checked(None, f"a {type(value).__name__} stands where an object is expected")
    try:
        fitted = _fitted(value, answer)
    except _ContradictionError as contradiction:
        return Checked(None, str(contradiction), contradictory=True)
    try:
        made = answer.model_validate(fitted)
    except ValidationError as error:
        pruned = _without_extras(fitted, error)
        if pruned is None:
            return Checked(None, _problem(error))
        try:
            made = answer.model_validate(pruned)
        except ValidationError as second:
            return Checked(None, _problem(second))
        fitted = pruned
    if not _is_finite(made.model_dump()):
        return Checked(None, "a number is not finite")
    return Checked(made, fitted=fitted != value)


def yes_no_field(answer: type[BaseModel]) -> str | None:
    """Returns the key of a type that holds a yes or a no, or None; of several the first."""
    for name, field in answer.model_fields.items():
        if {"yes", "no"} <= set(_members(field.annotation)):
            return field.alias or name
    return None


def field_labels(answer: type[BaseModel]) -> tuple[str, ...]:
    """Returns the keys of a type in their order: the labels of the form in lines."""
    return tuple(field.alias or name for name, field in answer.model_fields.items())


def _fitted(value: Any, annotation: Any) -> Any:
    if isinstance(value, Rivals):
        told = ", ".join(map(repr, cast("list[Any]", value)))
        raise _ContradictionError(f"one key has different values: {told}"[:_LONGEST_PROBLEM])
    origin = get_origin(annotation)
    arguments = get_args(annotation)
    if origin is Annotated:
        return _fitted(value, arguments[0])
    if origin in {Union, types.UnionType}:
        real = [part for part in arguments if part is not type(None)]
        return _fitted(value, real[0]) if len(real) == 1 and value is not None else value
    if origin is Literal:
        return _fitted_member(value, arguments)
    if origin is tuple and arguments[-1] is not Ellipsis:
        parts = cast("list[Any]", value) if isinstance(value, list) else []
        if len(parts) != len(arguments):
            return cast("Any", value)
        return [_fitted(part, kind) for part, kind in zip(parts, arguments, strict=True)]
    if origin in {list, tuple, set, frozenset, Sequence}:
        return _fitted_list(value, arguments[0])
    if isinstance(annotation, type) and issubclass(annotation, BaseModel) and isinstance(value, dict):
        return _fitted_object(cast("dict[str, Any]", value), annotation)
    if annotation in {int, float} and isinstance(value, bool):
        return str(value)
    return value


def _fitted_object(value: dict[str, Any], answer: type[BaseModel]) -> dict[str, Any]:
    annotations = {field.alias or name: field.annotation for name, field in answer.model_fields.items()}
    by_plain = {plain_key(name): name for name in annotations}
    made: dict[str, Any] = {}
    for key, part in sorted(value.items(), key=lambda item: item[0] not in annotations):
        name = key if key in annotations else by_plain.get(plain_key(key), key)
        fitted = _fitted(part, annotations[name]) if name in annotations else part
        if name in made:
            _check_rival(name, key, fitted, annotations[name], made[name])
        else:
            made[name] = fitted
    for name in annotations.keys() & made.keys():
        for key, part in value.items():
            if plain_key(key) not in by_plain and (options := _members(annotations[name])):
                for said in _said_by(key, part, plain_key(name), yes_no={"yes", "no"} <= set(options)):
                    _check_rival(name, key, _fitted(said, annotations[name]), annotations[name], made[name])
    return made


def _said_by(key: str, part: Any, name: str, *, yes_no: bool) -> Iterator[Any]:
    """Yields the answers that a key which the type does not know gives beside the key that it knows."""
    words = set(plain_key(key).split("_"))
    if isinstance(part, str | bool) and (name in words or (yes_no and not words.isdisjoint(_VERDICTS))):
        yield part
    for inner in cast("list[Any]", part) if isinstance(part, list) else [part]:
        if isinstance(inner, dict):
            yield from (said for own, said in cast("dict[str, Any]", inner).items() if plain_key(own) == name)


def _check_rival(name: str, key: str, said: Any, annotation: Any, taken: Any) -> None:
    """Refuses a second answer that differs.

    Raises:
        _ContradictionError: Both are answers, and not the same.
    """
    options = _members(annotation)
    closed = said in options and taken in options if options else annotation in {int, float, bool}
    if closed and said is not None and taken is not None and said != taken:
        raise _ContradictionError(f"{name} is {taken!r}, and {key} says {said!r}")


def _members(annotation: Any) -> tuple[Any, ...]:
    """Returns the members of a closed set; none where a type is no such set."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _members(arguments[0])
    if origin in {Union, types.UnionType}:
        real = [part for part in arguments if part is not type(None)]
        return _members(real[0]) if len(real) == 1 else ()
    return arguments if origin is Literal else ()


def _fitted_member(value: Any, options: tuple[Any, ...]) -> Any:
    if isinstance(value, list):
        return _only_member(cast("list[Any]", value), options)
    if {"yes", "no"} <= set(options):
        text = {True: "yes", False: "no"}.get(value) if isinstance(value, bool) else value
        if not isinstance(text, str):
            return value
        answer = read_yes_no_field(text)
        if holds_several_answers(text) if answer is None else taken_back_inside(text, answer):
            raise _ContradictionError(f"more than one answer stands in {text[:_LONGEST_NAME]!r}")
        return answer if answer in options else value
    if isinstance(value, str) and value not in options:
        return match_word(value, [option for option in options if isinstance(option, str)]) or value
    return value


def _only_member(values: list[Any], options: tuple[Any, ...]) -> Any:
    """Returns the one member that a list holds, or the list where it holds something else."""
    fitted = [_fitted_member(one, options) for one in values]
    found = [option for option in options if option in fitted]
    if len(found) > 1:
        raise _ContradictionError(f"more than one answer: {', '.join(map(str, found))}")
    return found[0] if found and all(one == found[0] for one in fitted) else values


def _fitted_list(value: Any, part: Any) -> Any:
    if isinstance(value, str):
        if plain_text(value) in _NOTHING:
            return []
        pieces = [piece.strip(" \t\"'[]()-*•") for piece in _BETWEEN.split(value)]
        if max(map(len, pieces)) > _LONGEST_NAME:
            return value
        value = [piece for piece in pieces if piece]
    return [_fitted(piece, part) for piece in cast("list[Any]", value)] if isinstance(value, list) else value


def _without_extras(value: dict[str, Any], error: ValidationError) -> dict[str, Any] | None:
    """Returns the value without the keys that the type forbids, or None where there are none."""
    places = [problem["loc"] for problem in error.errors() if problem["type"] == "extra_forbidden"]
    if not places:
        return None
    pruned = copy.deepcopy(value)
    for *path, key in places:
        holder: Any = pruned
        try:
            for step in path:
                holder = holder[step]
            del holder[key]
        except (KeyError, IndexError, TypeError):
            return None
    return pruned


def _problem(error: ValidationError) -> str:
    """Returns what is wrong, in one line that can be quoted to a model."""
    told = [f"{'.'.join(map(str, one['loc'])) or 'answer'}: {one['msg']}" for one in error.errors()[:3]]
    return re.sub(r"\s+", " ", "; ".join(told))[:_LONGEST_PROBLEM]


def _is_finite(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(_is_finite, cast("dict[object, object]", value).values()))
    if isinstance(value, list | tuple):
        return all(map(_is_finite, cast("list[object]", value)))
    return True
