"""Fetches single files from a Hugging Face hub: resumable, cached, and never more than the file that was asked for.

``HF_ENDPOINT``, ``HF_TOKEN``, ``HF_HOME``, ``HF_HUB_CACHE`` and ``HF_HUB_OFFLINE`` mean what they mean to the library.
"""

from __future__ import annotations

import errno
import io
import logging
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from dramaturg.errors import MissingExtraError, ModelFileError, SpecError
from dramaturg.text import redact

if TYPE_CHECKING:
    from tqdm.std import tqdm as Bar

OnProgress: TypeAlias = Callable[[int, int, str], None]
"""Receives bytes done, bytes in all, and what is being fetched."""


def no_progress(done_bytes: int, total_bytes: int, what: str) -> None:
    """Watches nothing."""


def split_hub_name(name: str) -> tuple[str, str]:
    """Returns repository and file of ``OWNER/REPO/FILE``; the file may lie in a folder.

    Raises:
        SpecError: It has another form.
    """
    parts = name.split("/")
    if len(parts) < 3 or not all(parts) or ".." in parts:
        raise SpecError(f"{name!r} names no file of a hub", allowed="hf:OWNER/REPO/FILE.gguf")
    return "/".join(parts[:2]), "/".join(parts[2:])


def download(repository: str, file: str, *, folder: Path | None = None, on_progress: OnProgress = no_progress) -> Path:
    """Returns the path of a hub's file, fetched where it is not here yet; a broken download goes on where it stopped.

    Args:
        repository: ``OWNER/REPO``.
        file: Path inside the repository.
        folder: Where to put it; huggingface_hub's own cache by default.
        on_progress: Watches.

    Raises:
        MissingExtraError: huggingface_hub is not installed.
        ModelFileError: The repository or file is not there or is gated, the hub cannot be reached, the disk is full.
    """
    try:
        import huggingface_hub
        from huggingface_hub import errors
    except ImportError:
        raise MissingExtraError("models of a hub", "local") from None
    where = f"hf:{repository}/{file}"
    try:
        with _quiet():
            path = huggingface_hub.hf_hub_download(  # pyright: ignore[reportUnknownMemberType]
                repository,
                file,
                local_dir=folder,
                cache_dir=os.environ.get("HF_HUB_CACHE"),
                endpoint=os.environ.get("HF_ENDPOINT") or None,
                tqdm_class=_bar(on_progress, file),
            )
    except errors.GatedRepoError:
        raise ModelFileError(
            "the repository is gated", where=where, allowed="accept its terms on the hub and set HF_TOKEN"
        ) from None
    except errors.RepositoryNotFoundError:
        raise ModelFileError(
            "there is no such repository, or it is private", where=where, allowed="a private one needs HF_TOKEN"
        ) from None
    except errors.LocalEntryNotFoundError as error:
        raise ModelFileError(
            f"the hub cannot be reached and the file is not in its cache: {_line(error.__cause__ or error)}",
            where=where,
        ) from None
    except errors.EntryNotFoundError:
        raise ModelFileError("the repository has no such file", where=where) from None
    except errors.HFValidationError as error:
        raise ModelFileError(_line(error), where=where, allowed="hf:OWNER/REPO/FILE.gguf") from None
    except Exception as error:
        # The library's HTTP client is its own affair and changed twice: its errors share no class with ours.
        full = isinstance(error, OSError) and error.errno == errno.ENOSPC
        raise ModelFileError(
            "the disk is full" if full else f"the download failed: {_line(error)}", where=where
        ) from None
    return Path(path)


def _line(error: BaseException) -> str:
    """Returns the first line of an error, without secrets."""
    return redact(next(iter(str(error).splitlines()), "") or type(error).__name__)[:200]


def _bar(on_progress: OnProgress, what: str) -> type[Bar[Any]]:
    """Returns a progress bar that draws nothing and reports every step."""
    from tqdm.std import tqdm

    class Reporting(tqdm):  # pyright: ignore[reportMissingTypeArgument, reportUnknownVariableType]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(  # pyright: ignore[reportUnknownMemberType]
                *arguments, **{**options, "file": io.StringIO(), "disable": False}
            )

        def update(self, n: float | None = 1) -> bool | None:
            shown = super().update(n)
            on_progress(int(self.n), int(self.total or 0), what)
            return shown

    return Reporting  # pyright: ignore[reportUnknownVariableType]


@contextmanager
def _quiet() -> Generator[None]:
    """Keeps the library's own lines off the terminal: what they say comes as an error or as progress."""
    logger = logging.getLogger("huggingface_hub")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
