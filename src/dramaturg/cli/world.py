"""``dramaturg world``: scenes, and the stories that models play in them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dramaturg.cli import world_craft, world_play
from dramaturg.cli.console import AsJson, Finished, say, say_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dramaturg.stage.world.linting import Checked
    from dramaturg.stage.world.scene import Scene
    from dramaturg.text import Json

app = typer.Typer(
    help="Stage stories: scenes in which characters act on each other.", no_args_is_help=True, rich_markup_mode=None
)
scenes = typer.Typer(help="List, check and import scenes.", no_args_is_help=True, rich_markup_mode=None)
app.command("play")(world_play.play)
app.command("run")(world_play.run)
app.command("cost")(world_play.cost)
app.command("craft")(world_craft.craft)
app.add_typer(scenes, name="scenes")

FILES = "Scenes: shipped names, YAML or JSONL files, CharacterBox's JSON files, or folders with such files."


@scenes.command("list")
def list_scenes(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE|NAME|FOLDER]…", help=f"{FILES} The shipped ones by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List scenes: id, language, people, source, title."""
    from dramaturg.stage.world.reading import read_scenes, shipped_scenes

    found = shipped_scenes() if names is None else [scene for name in names for scene in read_scenes(name)]
    if as_json:
        say_json({"scenes": [_summary(scene) for scene in found]})
        return
    for scene in found:
        people = ", ".join(character.name for character in scene.characters)
        say(f"{scene.id}  {scene.language}  {scene.source}  {scene.title}  ({people})")


@scenes.command()
def check(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE|NAME|FOLDER]…", help=f"{FILES} The shipped ones by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check scenes without a model. Dirt ends with exit code 0; files that hold no scene end with 1."""
    from dramaturg.files import shipped
    from dramaturg.stage.world.linting import check_files

    paths = list(shipped("scenes").values()) if names is None else [path for name in names for path in _files(name)]
    checked = check_files(paths)
    if as_json:
        say_json(_checked(checked))
    else:
        _tell(checked)
    if any(finding.issue == "unreadable" for one in checked for finding in one.findings):
        raise Finished(1)


@scenes.command("import")
def import_scenes(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="CharacterBox's JSON files, or folders of them.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where the scenes go, one a line.")],
    as_json: AsJson = False,
) -> None:
    """Turn CharacterBox's files into scenes. The text of the works is left out; its length and hash stay."""
    from dramaturg.errors import UserError
    from dramaturg.stage.world.importing import is_characterbox
    from dramaturg.stage.world.linting import check_file
    from dramaturg.stage.world.reading import scene_files
    from dramaturg.text import write_atomically

    if out.is_dir():
        raise UserError("is a folder", where=f"--out {out}", allowed=f"a file, such as {out / 'scenes.jsonl'}")
    paths = [
        path for file in files for path in (filter(is_characterbox, scene_files(file)) if file.is_dir() else (file,))
    ]
    if not paths:
        raise UserError("holds no file of CharacterBox", where=str(files[0]), allowed="JSON with the key 'scenes'")
    if any(out.exists() and path.exists() and out.samefile(path) for path in paths):
        raise UserError("would overwrite what is read", where=f"--out {out}", allowed="another file")
    checked = [check_file(path) for path in paths]
    broken = [
        f"{finding.file}: {finding.where}: {finding.detail}"
        for one in checked
        for finding in one.findings
        if finding.issue == "unreadable"
    ]
    if broken:
        raise UserError("\n".join(broken))
    found = [scene for one in checked for scene in one.scenes]
    ids = [scene.id for scene in found]
    if twice := next((name for at, name in enumerate(ids) if name in ids[:at]), ""):
        raise UserError(f"two scenes have the id {twice!r}", allowed="files whose names differ")
    write_atomically(out, "".join(f"{scene.model_dump_json(exclude_defaults=True)}\n" for scene in found))
    if as_json:
        say_json({"out": str(out), **_checked(checked)})
        return
    _tell(checked)
    say(f"{out}: scenes: {len(found)}")


def _files(name: str) -> Sequence[Path]:
    """Returns the files that a name means: a shipped scene's, a file itself, or those of a folder."""
    from dramaturg.errors import UserError
    from dramaturg.files import find
    from dramaturg.stage.world.reading import scene_files

    if Path(name).is_dir():
        if not (files := scene_files(Path(name))):
            raise UserError("holds no scenes", where=name, allowed="YAML, JSONL or CharacterBox JSON files")
        return files
    file, parted, _ = name.rpartition("#")
    if parted and Path(file).is_file():
        raise UserError("is one scene of a file", where=name, allowed=f"the file, {file}: it is checked as a whole")
    return (find("scenes", name, where="FILE"),)


def _tell(checked: Sequence[Checked]) -> None:
    for one in checked:
        say(f"{one.file}: scenes: {len(one.scenes)}, findings: {len(one.findings)}")
        for finding in one.findings:
            say(f"  {finding}")


def _checked(checked: Sequence[Checked]) -> dict[str, Json]:
    return {
        "files": [{"file": one.file, "scenes": len(one.scenes)} for one in checked],
        "scenes": sum(len(one.scenes) for one in checked),
        "findings": [finding.as_json() for one in checked for finding in one.findings],
    }


def _summary(scene: Scene) -> dict[str, Json]:
    return {
        "id": scene.id,
        "title": scene.title,
        "language": scene.language,
        "characters": [character.name for character in scene.characters],
        "source": scene.source,
        "work": scene.work,
        "tags": list(scene.tags),
    }
