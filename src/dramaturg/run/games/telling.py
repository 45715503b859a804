"""Begins a story, and plays it to its end: people watch it, and take characters over."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dramaturg.errors import StudyError, UserError, did_you_mean
from dramaturg.files import dump_yaml
from dramaturg.ledger import Budget, Ledger
from dramaturg.model import Model
from dramaturg.model.opening import Models
from dramaturg.run.court import House
from dramaturg.run.games.founding import founded, without_draft
from dramaturg.run.games.game import SCENE, STUDY, GameFile, Story, StorySettings, facts_of
from dramaturg.run.games.shelf import games_folder
from dramaturg.run.games.staging import Staged, Watcher, play_on
from dramaturg.run.material import named_model
from dramaturg.run.spool import writing
from dramaturg.run.world.engine import play_unit
from dramaturg.run.world.material import HUMAN, WorldMaterial, read_world, world_snapshot
from dramaturg.run.world.units import world_units
from dramaturg.stage.audience import Audience
from dramaturg.stage.transcript import Role, Transcript
from dramaturg.stage.world.briefing import Purpose
from dramaturg.stage.world.reading import read_scene
from dramaturg.stage.world.scene import Scene
from dramaturg.stage.world.setting import character_role
from dramaturg.stage.world.shared import Prompter
from dramaturg.text import write_atomically


def new_story(settings: StorySettings, *, root: Path | None = None) -> Story:
    """Returns a new story; everything is checked before it is listed, and no model is opened.

    Args:
        settings: What it is played with; relative paths start from the working folder.
        root: Folder of all games; the user's own by default.

    Raises:
        UserError: A setting is wrong, or the folder cannot be written; nothing is left behind.
    """
    scene = read_scene(settings.scene)
    known = [character.id for character in scene.characters]
    for character in settings.by_person:
        if character not in known:
            raise UserError(f"nobody in the scene is {character!r}", allowed=did_you_mean(character, known))

    def write(draft: Path, created: str) -> GameFile:
        made = dict(world_snapshot(_write(draft, settings, scene)).entries)
        return GameFile(title=scene.title, language=scene.language, created=created, settings=settings, made_with=made)

    return Story(settings=settings, **facts_of(*founded(root or games_folder(), scene.id, write)))


def _write(draft: Path, settings: StorySettings, scene: Scene) -> WorldMaterial:
    """Returns the study of a story, once its files stand in the draft; the scene is copied as it is now."""
    study: dict[str, object] = {
        "study": "game",
        "suite": "world",
        "subjects": [{"model": _spec(settings.model), "name": settings.model}],
        "scenes": [SCENE],
        "seeds": [settings.seed],
        "protocol": settings.protocol,
        "rounds": settings.rounds,
        "cast": {character_role(character): HUMAN for character in settings.by_person},
    }
    if settings.narrator:
        study["narrator"] = _spec(settings.narrator)
    with writing(draft):
        write_atomically(draft / SCENE, dump_yaml(scene.model_dump(mode="json", exclude_none=True)))
        write_atomically(draft / STUDY, dump_yaml(study))
    try:
        return read_world(draft / STUDY)
    except StudyError as error:
        raise without_draft(error, draft) from None


def _spec(text: str) -> str:
    return named_model(text, text, beside=Path()).spec.text


async def play_story(
    story: Story,
    *,
    models: Models,
    audience: Audience,
    prompter: Prompter,
    budget: Budget | None = None,
    accept_changes: bool = False,
) -> Transcript:
    """Returns the transcript of a story that was played to its end.

    What was played before is replayed: the audience sees it, and neither a model nor a person is asked for it again. To
    leave a story, cancel this. An ended story is shown to the audience as it is, and no model is opened.

    Args:
        story: The story.
        models: Opens the models; the caller releases them.
        audience: Who watches.
        prompter: Is asked before every new act who plays, and may hold the play.
        budget: Limits the new calls; none by default.
        accept_changes: Whether the story may go on under other prompts or another version than it began with.

    Raises:
        UserError: The story is open elsewhere, or a model cannot be opened.
        RunChangedError: Prompts, files or version are not those that the story began with.
        UnitStopped: An endpoint failed; play again to go on.
        LimitReached: The budget is used up.
        LedgerError: The ledger cannot be written; what was committed is kept.
    """

    def stage() -> Staged:
        material = story.material()
        unit = next(world_units(material))

        async def tell(opened: Mapping[str, Model], ledger: Ledger, watcher: Watcher) -> Transcript:
            async def asked(role: Role, purpose: Purpose, note: str) -> str | None:
                watcher.keep()
                return await prompter(role, purpose, note)

            return await play_unit(
                unit, material, opened, ledger, budget or Budget(), house=House(watcher), prompter=asked
            )

        return Staged(world_snapshot(material).entries, material.models().keys(), material.parts(), tell)

    return await play_on(story, stage, models=models, audience=audience, accept_changes=accept_changes)
