"""Texts inside PNG images: found, checked and replaced; the image itself is never decoded.

Source: W3C, Portable Network Graphics (Third Edition), sections 5 and 11.3.3.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dramaturg.errors import ContentError

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MOST_TEXT = 16 * 1024 * 1024
"""Bytes that one text may have, unpacked."""

_TEXT_CHUNKS = frozenset({b"tEXt", b"zTXt", b"iTXt"})
_HEAD_BYTES = 8
_CRC_BYTES = 4


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk of a PNG file.

    Attributes:
        kind: Its type, four letters.
        data: What it holds.
    """

    kind: bytes
    data: bytes

    def encoded(self) -> bytes:
        """Returns the chunk as it stands in a file."""
        crc = zlib.crc32(self.kind + self.data)
        return struct.pack(">I", len(self.data)) + self.kind + self.data + struct.pack(">I", crc)


def read_chunks(image: bytes, *, where: str) -> list[Chunk]:
    """Returns the chunks of an image up to its end; what stands behind the end is left out.

    Args:
        image: The file.
        where: Its place, for errors.

    Raises:
        ContentError: It is no PNG, is torn, or a chunk has a wrong checksum.
    """
    if not image.startswith(SIGNATURE):
        raise ContentError("is no PNG image", where=where)
    chunks: list[Chunk] = []
    at = len(SIGNATURE)
    while not chunks or chunks[-1].kind != b"IEND":
        if len(image) - at < _HEAD_BYTES + _CRC_BYTES:
            raise ContentError("the image is torn: it ends before its last chunk", where=where)
        length, kind = struct.unpack_from(">I4s", image, at)
        body = at + _HEAD_BYTES
        if length > len(image) - body - _CRC_BYTES:
            raise ContentError(f"the image is torn: it ends inside the chunk {_name(kind)}", where=where)
        data = image[body : body + length]
        (crc,) = struct.unpack_from(">I", image, body + length)
        if crc != zlib.crc32(kind + data):
            raise ContentError(f"the chunk {_name(kind)} is damaged: its checksum is wrong", where=where)
        chunks.append(Chunk(kind, data))
        at = body + length + _CRC_BYTES
    return chunks


def read_texts(image: bytes, *, where: str) -> dict[str, bytes]:
    """Returns the texts of an image by keyword; of two with one keyword, the first.

    Args:
        image: The file.
        where: Its place, for errors.

    Raises:
        ContentError: See `read_chunks`; or a text cannot be unpacked, or is too large.
    """
    found: dict[str, bytes] = {}
    for keyword, text in _texts(read_chunks(image, where=where), where):
        found.setdefault(keyword, text)
    return found


def with_texts(image: bytes, texts: Mapping[str, bytes], drop: frozenset[str], *, where: str) -> bytes:
    """Returns an image with texts in it; every other chunk stays as it is.

    Args:
        image: The file.
        texts: Text by keyword, in ASCII; texts of the same keyword are replaced.
        drop: More keywords whose texts are left out.
        where: The image's place, for errors.

    Raises:
        ContentError: See `read_chunks`.
    """
    gone = drop | texts.keys()
    kept = [
        chunk
        for chunk in read_chunks(image, where=where)
        if chunk.kind not in _TEXT_CHUNKS or _keyword(chunk) not in gone
    ]
    new = [Chunk(b"tEXt", keyword.encode("latin-1") + b"\0" + text) for keyword, text in texts.items()]
    return SIGNATURE + b"".join(chunk.encoded() for chunk in (*kept[:-1], *new, kept[-1]))


def blank_image(width: int = 256, height: int = 384) -> bytes:
    """Returns a plain grey image, for characters without a picture."""
    row = b"\0" + b"\x80" * width
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = (Chunk(b"IHDR", header), Chunk(b"IDAT", zlib.compress(row * height, 9)), Chunk(b"IEND", b""))
    return SIGNATURE + b"".join(chunk.encoded() for chunk in chunks)


def _texts(chunks: list[Chunk], where: str) -> Iterator[tuple[str, bytes]]:
    for chunk in chunks:
        keyword = _keyword(chunk)
        _, parted, rest = chunk.data.partition(b"\0")
        if chunk.kind not in _TEXT_CHUNKS or not parted:
            continue
        match chunk.kind:
            case b"zTXt":
                yield keyword, _unpacked(rest[1:], keyword, where)
            case b"iTXt":
                packed = rest[:1] == b"\1"
                text = rest[2:].partition(b"\0")[2].partition(b"\0")[2]
                yield keyword, _unpacked(text, keyword, where) if packed else text
            case _:
                yield keyword, rest


def _unpacked(packed: bytes, keyword: str, where: str) -> bytes:
    unpack = zlib.decompressobj()
    try:
        text = unpack.decompress(packed, MOST_TEXT)
    except zlib.error:
        raise ContentError(f"the text {keyword!r} in the image cannot be unpacked", where=where) from None
    if unpack.unconsumed_tail:
        most = f"at most {MOST_TEXT // 1024 // 1024} MiB"
        raise ContentError(f"the text {keyword!r} in the image is too large", where=where, allowed=most)
    return text


def _keyword(chunk: Chunk) -> str:
    """Returns the keyword of a text in lower case: programs do not agree about its case."""
    return chunk.data.partition(b"\0")[0].decode("latin-1").lower()


def _name(kind: bytes) -> str:
    return repr(kind.decode("latin-1"))
