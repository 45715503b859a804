"""What a reply says aloud: reasoning of every form split off, objects read, the spoken line found."""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from dramaturg.judge.matching.lexicon import phrases
from dramaturg.judge.matching.words import LONGEST_KEPT, phrase
from dramaturg.model.reasoning import split_reasoning
from dramaturg.model.relaxed import Rivals
from dramaturg.model.tolerant import read_values
from dramaturg.text import Json

MOST_OBJECTS = 32
_THOUGHT = (
    r"analysis|inner[_ ]?thoughts?|inner[_ ]?monologue|internal[_ ]?monologue|cot|chain[_ ]of[_ ]thought|"
    r"scratch[_ ]?pad|thought[_ ]process|plan|hidden|internal|think|thinking|thought|thoughts|reasoning|reflection|"
    r"réflexion|思考|ragionamento"
)
_BLOCKS = (
    re.compile(
        rf"<({_THOUGHT})(?:\s[^<>]{{0,80}})?>(?P<inside>.*?)(?:</\1\s*>|(?P<open>\Z))", re.IGNORECASE | re.DOTALL
    ),
    re.compile(rf"\[({_THOUGHT})\](?P<inside>.*?)(?:\[/\1\]|(?P<open>\Z))", re.IGNORECASE | re.DOTALL),
    re.compile(
        r"<\|(?:begin_of_thought|thinking|think|start_thinking|reasoning)\|>(?P<inside>.*?)"
        r"(?:<\|(?:end_of_thought|/thinking|/think|end_thinking|/reasoning|end_of_thinking)\|>|(?P<open>\Z))",
        re.IGNORECASE | re.DOTALL,
    ),
    re.compile(rf"```(?:{_THOUGHT})\s*\n(?P<inside>.*?)(?:```|(?P<open>\Z))", re.IGNORECASE | re.DOTALL),
    re.compile(r"<!--(?P<inside>.*?)(?:-->|(?P<open>\Z))", re.DOTALL),
    re.compile(rf"[(\[{{*]{{1,2}}(?:{_THOUGHT})\s*:(?P<inside>[^()\[\]{{}}*]{{0,2000}})[)\]}}*]{{1,2}}", re.IGNORECASE),
)
_MAY_THINK = re.compile(rf"<!--|<\||```|[<\[({{*]\s*(?:{_THOUGHT})", re.IGNORECASE)
_SOLUTION = re.compile(
    r"<\|?/?(?:begin_of_solution|end_of_solution|answer|final|response|output|reply|im_end|eot_id|end|assistant|"
    r"endoftext)\|?>",
    re.IGNORECASE,
)
_THINKING_HEAD = re.compile(
    r"\A\W{0,6}(?:thinking|thoughts?|thought process|reasoning|analysis|chain of thought|let me think|let's think|"
    r"raisonnement|réflexion|ragionamento|思考)\W{0,4}[:：\n]",
    re.IGNORECASE,
)
_ANSWER_HEAD = re.compile(
    r"^\W{0,6}(?:final (?:answer|reply|response|output)|answer|reply|response|output|final|"
    r"in[- ]character(?: (?:reply|response|answer))?|"
    r"réponse(?: finale)?|risposta(?: finale)?|最终答案|回答|答案|antwort|respuesta)\W{0,4}[:：][*_\s]{0,4}",
    re.IGNORECASE | re.MULTILINE,
)
_TAGS = re.compile(
    r"</?(?:b|i|em|strong|u|s|p|br|span|div|code|mark|sup|sub|q|blockquote|small)(?:\s[^<>]{0,120})?/?>", re.IGNORECASE
)
_ENTITY = re.compile(r"&(?:#\d{1,6}|#x[0-9a-f]{1,6}|[a-z]{2,8}\d{0,2});", re.IGNORECASE)
_FENCE = re.compile(r"```[\w+-]{0,20}")
_PAIR = re.compile(
    r"[\"'“‘«]?(?P<key>[^\W\d][\w ]{0,30}?)[\"'”’»]?\s{0,4}[:：=]\s{0,4}"
    r"(?:\"(?P<double>(?:[^\"\\]|\\.)*)(?P<closed>\")?|'(?P<single>(?:[^'\\]|\\.)*)'|“(?P<curly>[^”]*)”|(?P<bare>[^\W\d]\w{0,40}))"
)


@dataclass(frozen=True, slots=True)
class Speech:
    """A reply, parted.

    Attributes:
        text: What can be heard or read, without reasoning and HTML.
        reasoning: What was thought.
        unclosed: Whether the reasoning never ended.
        objects: JSON objects of the text, in order.
        around: The text outside these objects, fences aside.
        broken: Whether the text holds an object that could not be read as a whole.
        repaired: Whether it could not be read as it was.
    """

    text: str
    reasoning: str
    unclosed: bool
    objects: tuple[Mapping[str, Json], ...]
    around: str
    broken: bool
    repaired: bool


def heard(text: str) -> Speech:
    """Returns a reply's parts; of short replies the latest are kept.

    Args:
        text: What the model wrote.
    """
    return _short_heard(text) if len(text) <= LONGEST_KEPT else _parted(text)


@functools.lru_cache(maxsize=512)
def _short_heard(text: str) -> Speech:
    return _parted(text)


def _parted(text: str) -> Speech:
    visible, reasoning, unclosed = _without_reasoning(text)
    if "<" in visible or "&" in visible:
        visible = _ENTITY.sub(lambda found: html.unescape(found[0]), _TAGS.sub("", _SOLUTION.sub(" ", visible)))
    if "{" not in visible and "[" not in visible:
        return Speech(visible.strip(), reasoning, unclosed, (), visible, broken=False, repaired=False)
    read = read_values(visible)
    objects: list[Mapping[str, Json]] = []
    around: list[str] = []
    end = 0
    for standing in read.values[:MOST_OBJECTS]:
        found = list(_objects(standing.value))
        if found:
            objects += found
            around.append(read.text[end : standing.start])
            end = standing.end
    around.append(read.text[end:])
    rest = _FENCE.sub(" ", "\n".join(around))
    broken = not objects and bool(_OBJECT_BEGUN.search(visible))
    if broken:
        pairs = _broken_pairs(visible)
        if pairs:
            return Speech(visible.strip(), reasoning, unclosed, (pairs,), "", broken=True, repaired=True)
    whole = read.whole or not rest.strip()
    return Speech(visible.strip(), reasoning, unclosed, tuple(objects), rest, broken=broken, repaired=not whole)


_OBJECT_BEGUN = re.compile(r"[{]\s{0,40}[\"'“‘]?[^\W\d][\w ]{0,30}[\"'”’]?\s{0,4}[:：=]")


def _objects(value: Json) -> Iterator[Mapping[str, Json]]:
    if isinstance(value, dict):
        yield cast("Mapping[str, Json]", value)
    elif isinstance(value, list):
        for part in value:
            if isinstance(part, dict):
                yield cast("Mapping[str, Json]", part)


def _broken_pairs(text: str) -> dict[str, Json]:
    """Returns keys and texts of an object that is cut or broken; a key with two values keeps both."""
    begun = _OBJECT_BEGUN.search(text)
    made: dict[str, Json] = {}
    for pair in _PAIR.finditer(text, begun.start() if begun else 0):
        value = next(part for part in (pair["double"], pair["single"], pair["curly"], pair["bare"]) if part is not None)
        key = pair["key"]
        known = made.get(key)
        if known is None:
            made[key] = value
        elif known != value:
            made[key] = Rivals([*known, value]) if isinstance(known, Rivals) else Rivals([known, value])
        if len(made) >= MOST_OBJECTS:
            break
    return made


@functools.cache
def _keys(list_name: str) -> frozenset[str]:
    return frozenset(" ".join(words) for words in phrases(list_name))


def is_key(name: str, list_name: str) -> bool:
    """Returns whether a key of an object is one of a list of the lexicons, whatever its case, marks and blanks."""
    return _plain(name) in _keys(list_name)


@functools.lru_cache(maxsize=4096)
def _plain(name: str) -> str:
    return " ".join(phrase(re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", name[:60])))


def values(fields: Mapping[str, Json], lists: Sequence[str], depth: int = 0) -> list[Json]:
    """Returns what stands under the keys of the first list that has any, looking into nested objects where none has."""
    for list_name in lists:
        found = [value for key, value in fields.items() if is_key(key, list_name)]
        if found:
            return found
    if depth < 4:
        for value in fields.values():
            if isinstance(value, Mapping):
                inner = values(cast("Mapping[str, Json]", value), lists, depth + 1)
                if inner:
                    return inner
    return []


def spoken(speech: Speech) -> str:
    """Returns what is said aloud: the texts of the objects but for thinking, and the text around them."""
    if not speech.objects:
        return speech.text
    parts = [text for fields in speech.objects for text in _texts(fields)]
    return "\n".join([*parts, speech.around]).strip()


def thought_in_objects(speech: Speech) -> str:
    """Returns what the objects hold under keys of thinking."""
    return "\n".join(
        value
        for fields in speech.objects
        for key, value in fields.items()
        if isinstance(value, str) and is_key(key, "thinking_keys")
    )


def _texts(value: Json, depth: int = 0) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping() if depth < 8:
            for key, part in value.items():
                if not is_key(key, "thinking_keys"):
                    yield from _texts(part, depth + 1)
        case list() | tuple() if depth < 8:
            for part in value:
                yield from _texts(part, depth + 1)
        case _:
            return


def _without_reasoning(text: str) -> tuple[str, str, bool]:
    if "&lt;" in text:
        text = re.sub(rf"&lt;(/?(?:{_THOUGHT}))&gt;", r"<\1>", text, flags=re.IGNORECASE)
    visible, reasoning, unclosed = split_reasoning(text)
    thoughts = [reasoning] if reasoning else []
    if _MAY_THINK.search(visible):
        for block in _BLOCKS:

            def taken(found: re.Match[str]) -> str:
                nonlocal unclosed
                thoughts.append(found["inside"])
                unclosed = unclosed or found.groupdict().get("open") is not None
                return " "

            visible = block.sub(taken, visible)
    if _THINKING_HEAD.match(visible) and (heads := list(_ANSWER_HEAD.finditer(visible)))[0:]:
        last = heads[-1]
        thoughts.append(visible[: last.start()])
        visible = visible[last.end() :]
    return visible.strip(), "\n".join(thoughts), unclosed
