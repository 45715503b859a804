"""The notes of the procedure: what is due, told to the one whose turn it is, right before it."""

from __future__ import annotations

from collections.abc import Sequence

from dramaturg.stage.cast import ModelSeat
from dramaturg.stage.court.deciding import form_stem, is_structured
from dramaturg.stage.court.engine import Position
from dramaturg.stage.court.names import name_list
from dramaturg.stage.court.procedure import Procedure, State
from dramaturg.stage.court.reading import least_heard
from dramaturg.stage.court.record import record_words
from dramaturg.stage.court.setting import Setting
from dramaturg.stage.court.speech import one_line
from dramaturg.stage.court.wording import fallback_stem
from dramaturg.stage.transcript import Role, StateChange, Turn

NOTE_NAMES = frozenset({"name", "kind", "title", "matter", "asker", "requested"})
"""What every note and every stated line may name, beside the roles that one person has."""

CHOICE_NAMES = frozenset({"names", "addressee"})
"""What there is besides where somebody is to be addressed."""

SPENDING_NAMES = frozenset({"count"})
"""What there is besides where addressing somebody takes from a budget."""

COUNT_NAMES = frozenset({"least", "most", "allowance"})
"""What there is besides where a number is requested or granted."""


def names_of_roles(procedure: Procedure) -> dict[str, str]:
    """Returns the kinds of role that one person has, by the names under which prompts know that person."""
    return {kind.replace("-", "_"): kind for kind, rule in procedure.roles.items() if not rule.many}


def names_in_notes(procedure: Procedure, state: State) -> frozenset[str]:
    """Returns what the note and the stated line of a state may name: what is not empty there."""
    names = NOTE_NAMES | names_of_roles(procedure).keys()
    if any(item.event == "addressed" for item in state.then):
        names |= CHOICE_NAMES
    if any(item.event == "addressed" and item.spends for item in state.then):
        names |= SPENDING_NAMES
    if state.requests or state.grants:
        names |= COUNT_NAMES
    return names


def note_text(
    setting: Setting, state: State, role: Role, values: dict[str, str], position: Position, *, remind: bool = False
) -> str:
    """Returns the note that a role gets before its turn, on one line.

    A model is asked for the next line of the trial: asked to speak, small models retell or continue the dialogue.

    Args:
        setting: The trial.
        state: The state of the turn.
        role: Whose turn it is.
        values: What the note may name.
        position: Where the trial stands.
        remind: Whether the role is told again who it is.

    Raises:
        ContentError: A prompt declares a variable that a note cannot have.
    """
    events, strict = setting.engine.events(position), setting.strict(role)
    may_object = "objected" in events
    parts = [setting.fill(setting.prompt("note-lead"), values)] if isinstance(setting.seat(role), ModelSeat) else []
    if remind:
        parts.append(setting.fill(setting.prompt("note-reminder"), values))
    if state.note:
        parts.append(setting.fill(setting.named(state.note), values))
    if may_object:
        parts.append(setting.fill(setting.prompt("note-objection"), values))
    if strict and "addressed" in events:
        parts.append(setting.fill(setting.prompt(f"tag-next-{'speaker' if may_object else 'witness'}"), values))
    if strict and (state.requests or state.grants):
        parts.append(setting.fill(setting.prompt("tag-questions"), values))
    if strict and "accepted" in events:
        parts.append(setting.fill(setting.prompt("tag-accept"), values))
    if is_structured(setting, state, role):
        parts.append(setting.fill(setting.prompt(form_stem(state)), values))
    return one_line(" ".join(parts))


def fallback_text(setting: Setting, state: State, values: dict[str, str]) -> str:
    """Returns the line that stands where nothing usable was said."""
    return setting.fill(setting.prompt(fallback_stem(state.purpose)), values)


def note_values(
    setting: Setting, state: State, role: Role, position: Position, turns: Sequence[Turn], states: Sequence[StateChange]
) -> dict[str, str]:
    """Returns what the notes of a turn may name.

    Args:
        setting: The trial.
        state: The state of the turn.
        role: Whose turn it is.
        position: Where the trial stands.
        turns: What was said.
        states: What has changed.
    """
    engine, words = setting.engine, record_words(setting.case.language)
    counted = (*state.requests, *state.grants)
    least, most = engine.range_of(counted[0]) if counted else (0, 0)
    spent = next((item.spends for item in state.then if item.event == "addressed"), "")
    asked = [change.value for change in states if change.name == "questions_requested"]
    among = engine.addressees(position)
    alone = names_of_roles(setting.procedure)
    return {name: one_line(setting.one(kind).name) for name, kind in alone.items()} | {
        "name": one_line(role.name),
        "kind": setting.title(role.kind),
        "title": one_line(setting.case.title),
        "matter": one_line(setting.case.at_issue),
        "asker": one_line(next((turn.speaker for turn in reversed(turns) if turn.kind != "procedure"), "")),
        "names": name_list(setting.role(role_id) for role_id in among),
        "addressee": one_line(setting.role(least_heard(among, turns)).name) if among else "",
        "count": words.count(position.left_of(spent)) if spent else "",
        "least": str(least),
        "most": str(most),
        "allowance": words.count(most),
        "requested": words.count(int(asked[-1])) if asked else words.questions["some"],
    }
