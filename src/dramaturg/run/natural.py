"""Natural text that a trained judge knows: excerpts of a case or a scene that its adapter was trained on."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dramaturg.files import shipped
from dramaturg.judge.audit.excerpts import Excerpt, transcript_of
from dramaturg.stage.court.case import read_case
from dramaturg.stage.world.reading import read_scenes
from dramaturg.train.names import names_of


def unknown_excerpts(excerpts: Sequence[Excerpt], trained_on: Collection[str]) -> tuple[Excerpt, ...]:
    """Returns the excerpts that are not trained on, nor of a shipped case or scene that is.

    An excerpt does not name the case that it is from; whoever takes part in it tells.

    Args:
        excerpts: All of them.
        trained_on: Ids of scenes, cases and transcripts.

    Raises:
        ContentError: A shipped case or scene is wrong.
    """
    known = set(trained_on)
    people = _people(known)
    return tuple(
        one for one in excerpts if one.id not in known and people.isdisjoint(names_of(transcript_of(one).roles))
    )


def _people(ids: Collection[str]) -> set[str]:
    """Returns the names of everybody in the shipped cases and scenes with these ids."""
    cases = [read_case(path) for name, path in shipped("cases").items() if name in ids]
    scenes = [scene for name in shipped("scenes") if name in ids for scene in read_scenes(name)]
    return {one.name for case in cases for one in case.everybody} | {
        one.name for scene in scenes for one in scene.characters
    }
