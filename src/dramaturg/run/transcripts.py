"""Read the transcripts of a file, each of which is there once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dramaturg.errors import ContentError
from dramaturg.files import OnTorn, read_jsonl
from dramaturg.stage.transcript import Transcript


def read_transcripts(
    path: Path, *, empty: bool = False, on_torn: OnTorn | None = None
) -> Iterator[tuple[int, Transcript]]:
    """Yields line number and transcript, one at a time; only ids stay in memory.

    Args:
        path: A file of transcripts.
        empty: Whether it may hold none.
        on_torn: Is told of a torn last line of a file that Dramaturg itself wrote; see `read_jsonl`.

    Raises:
        ContentError: A line is no transcript, two of them share an id, or there is none; the message names the line.
    """
    seen: dict[str, int] = {}
    for number, transcript in read_jsonl(path, Transcript, on_torn=on_torn):
        first = seen.setdefault(transcript.id, number)
        if first != number:
            raise ContentError(
                f"transcript {transcript.id!r} stands twice",
                where=f"{path}:{number}",
                allowed=f"every id is used once; the first is in line {first}",
            )
        yield number, transcript
    if not seen and not empty:
        raise ContentError("holds no transcript", where=str(path))
