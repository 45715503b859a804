"""Character cards: the JSON that authors of characters exchange, alone or inside a PNG image, versions 1 to 3.

Sources: Character Card Specification V2 (malfoyslastname) and V3 (kwaroran). A card is kept as it was read, so that
what this project has no place for, and what no specification names, is there when it is written again.
"""

from __future__ import annotations

import base64
import binascii
import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, cast

from dramaturg.errors import ContentError
from dramaturg.stage.cast.cards.png import SIGNATURE, blank_image, read_texts, with_texts
from dramaturg.text import Json, storable

Version: TypeAlias = Literal[1, 2, 3]

CHUNK: Mapping[Version, str] = {1: "chara", 2: "chara", 3: "ccv3"}
"""Keyword of the text of an image that holds a card."""

SPEC: Mapping[Version, tuple[str, str]] = {2: ("chara_card_v2", "2.0"), 3: ("chara_card_v3", "3.0")}
MOST_BYTES = 64 * 1024 * 1024
"""Size of a file that is read."""

_TEXTS = ("name", "description", "personality", "scenario", "first_mes", "mes_example")
_MORE_TEXTS = ("creator_notes", "system_prompt", "post_history_instructions", "creator", "character_version")


@dataclass(frozen=True, slots=True)
class Card:
    """A card.

    Attributes:
        version: Of the specification.
        raw: The whole object, as it was read.
        image: The PNG file that held it; empty for a card that stood alone.
    """

    version: Version
    raw: Mapping[str, Json]
    image: bytes = b""

    @property
    def data(self) -> Mapping[str, Json]:
        """The fields of the character; version 1 has them at the top."""
        return self.raw if self.version == 1 else cast("Mapping[str, Json]", self.raw["data"])

    def text(self, name: str) -> str:
        """Returns a field that holds text; empty where it holds none."""
        value = self.data.get(name)
        return value if isinstance(value, str) else ""

    def with_data(self, fields: Mapping[str, Json]) -> Card:
        """Returns the card with other values of some fields; all others stay."""
        raw = copy.deepcopy(dict(self.raw))
        if self.version == 1:
            raw |= fields
        else:
            raw["data"] = {**self.data, **fields}
        return Card(self.version, raw, self.image)

    def as_version(self, version: Literal[2, 3]) -> Card:
        """Returns the card in the form of a version; fields that the form demands and the card lacks are empty."""
        if version == self.version:
            return self
        spec, number = SPEC[version]
        lists: dict[str, Json] = {"alternate_greetings": [], "tags": [], "extensions": {}}
        if version == 3:
            lists["group_only_greetings"] = []
        demanded: dict[str, Json] = {**dict.fromkeys((*_TEXTS, *_MORE_TEXTS), ""), **lists}
        top = {} if self.version == 1 else {key: value for key, value in self.raw.items() if key != "data"}
        return Card(
            version, {**top, "spec": spec, "spec_version": number, "data": {**demanded, **self.data}}, self.image
        )

    def as_json(self) -> str:
        """Returns the card as JSON text, with escapes where a text could not be written as UTF-8."""
        text = json.dumps(self.raw, ensure_ascii=False, indent=2)
        return text if storable(text) is text else json.dumps(self.raw, indent=2)

    def as_png(self, image: bytes = b"", *, where: str = "") -> bytes:
        """Returns a PNG image that holds the card; other texts and the picture stay as they are.

        A card of version 3 is put in as version 2 too, for programs that know no other.

        Args:
            image: Takes the place of the picture; without one it is the card's own, or a blank one.
            where: The image's place, for errors.

        Raises:
            ContentError: The image is no sound PNG.
        """
        texts = {CHUNK[self.version]: self._encoded()}
        if self.version == 3:
            texts[CHUNK[2]] = self.as_version(2)._encoded()
        drop = frozenset(CHUNK.values())
        return with_texts(image or self.image or blank_image(), texts, drop, where=where)

    def _encoded(self) -> bytes:
        return base64.b64encode(self.as_json().encode("utf-8"))


def new_card(fields: Mapping[str, Json], version: Literal[2, 3]) -> Card:
    """Returns a card of these fields; all others that the version demands are empty."""
    return Card(1, dict(fields)).as_version(version)


def read_card(path: Path) -> Card:
    """Returns the card of a JSON or PNG file; an image with several gives the newest.

    Raises:
        ContentError: There is no such file or no card in it; the message says what is wrong, in one line.
    """
    where = str(path)
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            most = f"at most {MOST_BYTES // 1024 // 1024} MiB"
            raise ContentError(f"is too large for a card: {size / 1024 / 1024:.0f} MiB", where=where, allowed=most)
        content = path.read_bytes()
    except OSError as error:
        raise ContentError(f"cannot be read: {error.strerror or error}", where=where) from None
    return card_of(content, where=where)


def card_of(content: bytes, *, where: str) -> Card:
    """Returns the card of a file's bytes; see `read_card`."""
    if content.startswith(SIGNATURE):
        texts = read_texts(content, where=where)
        for version in (3, 2):
            if CHUNK[version] in texts:
                return parse_card(_decoded(texts[CHUNK[version]], CHUNK[version], where), where=where, image=content)
        raise ContentError("the image holds no character card", where=where, allowed="a text chunk chara or ccv3")
    if content.startswith(b"PK\x03\x04"):
        raise ContentError("is a CHARX archive, which is not read", where=where, allowed="a JSON or PNG card")
    return parse_card(_utf8(content, "the file", where), where=where)


def parse_card(text: str, *, where: str, image: bytes = b"") -> Card:
    """Returns the card of a JSON text.

    Raises:
        ContentError: It is none.
    """
    try:
        raw = cast("Json", json.loads(text))
    except RecursionError:
        raise ContentError("the card is nested too deeply", where=where) from None
    except ValueError as problem:
        line = f":{problem.lineno}" if isinstance(problem, json.JSONDecodeError) and not image else ""
        told = getattr(problem, "msg", "") or str(problem)
        raise ContentError(f"the card is no JSON: {told}", where=f"{where}{line}") from None
    if not isinstance(raw, Mapping):
        raise ContentError("the card is no JSON object", where=where, allowed="a Character Card, V1 to V3")
    version = _version(raw, where)
    card = Card(version, raw, image)
    for field in _TEXTS:
        value = card.data.get(field)
        if value is not None and not isinstance(value, str):
            raise ContentError(f"the card's {field!r} is no text", where=where)
    if not card.text("name").strip():
        raise ContentError("the card has no name", where=where)
    return card


def _version(raw: Mapping[str, Json], where: str) -> Version:
    spec = raw.get("spec")
    for version, (name, _) in SPEC.items():
        if spec == name:
            if not isinstance(raw.get("data"), Mapping):
                raise ContentError("the card has no object 'data'", where=where)
            return version
    if spec is None and "name" in raw:
        return 1
    known = ", ".join(name for name, _ in SPEC.values())
    what = f"unknown card specification {spec!r}" if spec is not None else "is no character card"
    raise ContentError(what, where=where, allowed=f"spec: {known}; or a card of version 1, with name and description")


def _decoded(text: bytes, keyword: str, where: str) -> str:
    try:
        content = base64.b64decode(b"".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        raise ContentError(f"the text {keyword!r} in the image is no base64", where=where) from None
    return _utf8(content, f"the text {keyword!r} in the image", where)


def _utf8(content: bytes, what: str, where: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        told = f"{what} is not UTF-8: byte 0x{content[error.start]:02x} at {error.start}"
        raise ContentError(told, where=where) from None
