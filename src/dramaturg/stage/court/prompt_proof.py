"""The proof that every prompt of a procedure is there and can be filled where it is used, before anybody plays."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dramaturg.errors import ContentError
from dramaturg.stage.court.analyst import READING_NAMES, ROUTE_LINES_NAMES, ROUTE_NAMES
from dramaturg.stage.court.candidates import STRENGTH_NAMES
from dramaturg.stage.court.notes import (
    CHOICE_NAMES,
    COUNT_NAMES,
    NOTE_NAMES,
    SPENDING_NAMES,
    names_in_notes,
    names_of_roles,
)
from dramaturg.stage.court.procedure import UNDECIDED, VERDICT, Procedure, State
from dramaturg.stage.court.record import PRIVATE_NAMES
from dramaturg.stage.court.staging import PROSECUTOR, WITNESS
from dramaturg.stage.court.testimony import CHECK_NAMES
from dramaturg.stage.court.verdict import SUMMARY_NAMES, VERDICT_NAMES
from dramaturg.stage.court.view import LEFT_OUT_NAMES, RULES_NAMES
from dramaturg.stage.court.wording import fallback_stem, procedure_prompt, prompt_name, prompts_known, prompts_played

NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Use:
    """Where a prompt is used.

    Attributes:
        name: Full name of the prompt.
        may: Variables that it may name there.
        must: Variables that it must name there.
        place: What it is used for, where that is one state of the procedure.
    """

    name: str
    may: frozenset[str]
    must: frozenset[str] = NOTHING
    place: str = ""


def prompt_problems(procedure: Procedure) -> tuple[str, ...]:
    """Returns what is wrong with the prompts of a procedure whose graph is sound, one line each.

    A prompt is wrong where it is missing, names what there is not in its place, or leaves out what it is there for. A
    text of the procedure that nothing uses is wrong too: its name is misspelt.
    """
    found = [
        f"role {kind!r} cannot be: {{{{{name}}}}} in a note is something else"
        for name, kind in names_of_roles(procedure).items()
        if name in NOTE_NAMES | CHOICE_NAMES | SPENDING_NAMES | COUNT_NAMES
    ]
    uses: list[_Use] = []
    for stem, may, must, place in _stems(procedure):
        try:
            uses.append(_Use(prompt_name(procedure, stem), may, must, place))
        except ContentError as error:
            found.append(str(error))
    uses += [
        _Use(state.note, names_in_notes(procedure, state), place=f"state {state.id!r}")
        for state in procedure.states
        if state.note and state.purpose != VERDICT
    ]
    known = prompts_known(procedure)
    for use in uses:
        if use.name in known:
            found += _wrong(procedure, use)
        else:
            found.append(f"{use.place} has the note {use.name!r}, which there is not{_like(use.name, known)}")
    return tuple(dict.fromkeys(found)) or tuple(_idle(procedure))


def _idle(procedure: Procedure) -> Iterator[str]:
    """Yields the texts that nothing uses."""
    played = prompts_played(procedure)
    own = {f"{procedure.family}-{name.partition('-')[2]}" for name in played}
    for code, texts in procedure.texts.items():
        for name in sorted(texts.keys() - {*played}):
            yield f"texts.{code}.{name} is used by nothing{_like(name, {*played, *own})}"


def _like(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _wrong(procedure: Procedure, use: _Use) -> Iterator[str]:
    place = f" of {use.place}" if use.place else ""
    own = any(use.name in texts for texts in procedure.texts.values())
    anew = "" if own else f"; write {procedure.family}-{use.name.partition('-')[2]} under texts"
    allowed = (", ".join(sorted(use.may)) or "no variable") + anew
    for language in dict.fromkeys(("en", *procedure.texts)):
        try:
            prompt = procedure_prompt(procedure, use.name, language)
        except ContentError as error:
            yield f"prompt {use.name!r}{place} in {language}: {error.what} (allowed: {allowed})"
            continue
        if not prompt.text.strip():
            yield f"prompt {use.name!r} in {language} is blank"
        for name in sorted(prompt.variables - use.may):
            yield f"prompt {use.name!r}{place} names {name!r}, which there is not (allowed: {allowed})"
        missing = use.must - prompt.variables
        if missing <= {"outcomes", "tags"} and all(word in prompt.text for word in procedure.outcomes.values()):
            continue  # the words themselves stand there
        for name in sorted(missing):
            yield f"prompt {use.name!r} must name {{{{{name}}}}}"


def _stems(procedure: Procedure) -> Iterator[tuple[str, frozenset[str], frozenset[str], str]]:
    """Yields stem, variables that it may name, variables that it must name, and the state."""
    for kind in procedure.roles:
        yield kind, PRIVATE_NAMES, NOTHING, ""
    for state in procedure.states:
        if state.purpose != VERDICT:
            for stem in _spoken_with(procedure, state):
                yield stem, names_in_notes(procedure, state), NOTHING, f"state {state.id!r}"
    yield "rules", RULES_NAMES, NOTHING, ""
    yield "verdict", VERDICT_NAMES, frozenset({"summary"}), ""
    for stem, must in {"verdict-form": "outcomes", "verdict-lines": "outcomes", "tag-verdict": "tags"}.items():
        yield stem, VERDICT_NAMES, frozenset({must}), ""
    for label in (*procedure.outcomes, UNDECIDED):
        yield f"fallback-verdict-{label}", NOTHING, NOTHING, ""
    for stem, names in _filled_whole(procedure).items():
        yield stem, names, names, ""


def _spoken_with(procedure: Procedure, state: State) -> Iterator[str]:
    """Yields the stems of the prompts that stand in a turn's note, or instead of the turn."""
    events = {transition.event for transition in state.then}
    yield "note-lead"
    yield "note-reminder"
    yield fallback_stem(state.purpose)
    if "objected" in events:
        yield "note-objection"
    if "addressed" in events and state.speaker != procedure.player:
        yield "tag-next-speaker" if "objected" in events else "tag-next-witness"
    if state.speaker != procedure.player and (state.requests or state.grants):
        yield "tag-questions"
    if state.speaker != procedure.player and "accepted" in events:
        yield "tag-accept"
    if "ruled" in events:
        yield "ruling-form"
    elif state.grants:
        yield "grant-form"


def _filled_whole(procedure: Procedure) -> dict[str, frozenset[str]]:
    """Returns the stems of the prompts that name all that they are given, and that."""
    whole = {
        "history": NOTHING,
        "left-out": LEFT_OUT_NAMES,
        "summary": SUMMARY_NAMES,
        "summary-above": NOTHING,
        "route": ROUTE_NAMES,
        "route-lines": ROUTE_LINES_NAMES,
        "ruling-form-lines": NOTHING,
        "grant-form-lines": NOTHING,
    }
    for what in ("count", "read-ruling", "read-acceptance"):
        whole |= {what: READING_NAMES, f"{what}-lines": NOTHING}
    if PROSECUTOR in procedure.roles:
        whole |= {"strength": STRENGTH_NAMES, "strength-rating": STRENGTH_NAMES, "strength-rating-lines": NOTHING}
    if WITNESS in procedure.roles:
        whole |= {"witness-check": CHECK_NAMES, "witness-check-lines": NOTHING}
    return whole
