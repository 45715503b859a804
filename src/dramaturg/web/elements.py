"""The parts that pages are made of: plain HTML elements whose texts are texts, and four components of our own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import events, ui
from nicegui.element import Element
from nicegui.elements.mixins.text_element import TextElement

from dramaturg.text import Json

Clicked = Callable[[], Any]
"""Called at a click; may return an awaitable."""


def tag(name: str, /, text: str = "", classes: str = "", **attributes: Json) -> TextElement:
    """Returns an HTML element with a text in it; the text is shown as it is, whatever stands in it.

    Args:
        name: Of the HTML element.
        text: What it says.
        classes: For the style sheet.
        attributes: HTML attributes; ``_`` stands for ``-``, and one at the end is dropped. None leaves one out.
    """
    element = TextElement(tag=name, text=text)
    if classes:
        element.classes(classes)
    for key, value in attributes.items():
        if value is not None:
            element.props[key.removesuffix("_").replace("_", "-")] = value
    return element


def button(text: str, clicked: Clicked, classes: str = "", **attributes: Json) -> TextElement:
    """Returns a button that calls the server."""
    element = tag("button", text, f"button {classes}", type="button", **attributes)
    element.on("click", lambda _: clicked(), args=[])
    return element


def page_button(text: str, script: str, classes: str = "", **attributes: Json) -> TextElement:
    """Returns a button that stays in the browser.

    Args:
        text: What it says.
        script: What is done there with `event`; a text of ours, never anybody else's.
        classes: For the style sheet.
        attributes: See `tag`.
    """
    element = tag("button", text, f"button {classes}", type="button", **attributes)
    element.on("click", js_handler=f"(event) => {{ {script} }}")
    return element


def link(text: str, address: str, classes: str = "", **attributes: Json) -> TextElement:
    """Returns a link to one of our own pages."""
    return tag("a", text, classes, href=address, **attributes)


def picture(address: str, described: str = "") -> TextElement:
    """Returns an image; without a description it is decoration."""
    return tag("img", src=address, alt=described)


def when_gone(forget: Callable[[], None]) -> None:
    """Calls back once the page that is being shown is closed for good."""
    ui.context.client.on_delete(forget)  # pyright: ignore[reportUnknownMemberType]


class Field:
    """A field of a form with its label; `value` is what stands in it.

    Attributes:
        value: Text that was entered or chosen last.
    """

    _MOST_CHARACTERS = 2_000

    def __init__(
        self, label: str, value: str = "", *, hint: str = "", choices: Mapping[str, str] | None = None
    ) -> None:
        """Shows the field.

        Args:
            label: What it is for.
            value: What stands in it at first.
            hint: One line below it.
            choices: Label by value, where one of them is chosen.
        """
        self.value = value
        with tag("div", classes="field") as box:
            tag("label", label, for_=f"field-{box.id}")
            if choices is None:
                tag("input", id=f"field-{box.id}", value=value, type="text", autocomplete="off", spellcheck="false").on(
                    "input", self._take, js_handler="(event) => emit(event.target.value)", throttle=0.2
                )
            else:
                with tag("select", id=f"field-{box.id}").on(
                    "change", self._take, js_handler="(event) => emit(event.target.value)"
                ):
                    for choice, text in choices.items():
                        tag("option", text, value=choice, selected=True if choice == value else None)
            if hint:
                tag("span", hint, "hint")
        self._choices = choices

    def _take(self, event: events.GenericEventArguments) -> None:
        sent: object = event.args
        if isinstance(sent, str) and (self._choices is None or sent in self._choices):
            self.value = sent[: self._MOST_CHARACTERS]


class Speech(Element, component="components/speech.js"):
    """The words of a turn, as they are said and when they are final."""

    def __init__(self, text: str, *, live: bool, pace: int, voice: Mapping[str, Json] | None) -> None:
        """Shows the words.

        Args:
            text: The words.
            live: Whether they are not final yet.
            pace: Characters a second; 0 is at once.
            voice: Language, pitch and number of the voice that reads them, or None.
        """
        super().__init__()
        self.props["text"] = text
        self.props["live"] = live
        self.props["pace"] = pace
        self.props["voice"] = voice

    def say(self, text: str, *, live: bool) -> None:
        """Shows other words in their place."""
        with self.props.suspend_updates():
            self.props["text"] = text
            self.props["live"] = live
        self.update()


class Feed(Element, component="components/feed.js"):
    """The list of turns, which keeps its end in view."""

    def __init__(self, label: str) -> None:
        super().__init__()
        self.props["label"] = label


class Composer(Element, component="components/composer.js"):
    """Where the person writes."""

    def __init__(
        self,
        said: Callable[[int, str], None],
        *,
        words: Mapping[str, str],
        heard: int,
        most: int,
        language: str,
        dictation: bool,
        draft: str,
    ) -> None:
        """Shows the field and its buttons.

        Args:
            said: Takes the number of the turn and the words.
            words: Texts by name.
            heard: Characters that are heard of a turn.
            most: Characters that may be sent.
            language: Of dictation.
            dictation: Whether it is offered.
            draft: Name under which the browser keeps the draft.
        """
        super().__init__()
        self._said = said
        self._offered: dict[str, int] = {}
        for key, value in {
            "words": dict(words),
            "heard": heard,
            "most": most,
            "language": language,
            "dictation": dictation,
            "draft": draft,
            "open": False,
            "turn": 0,
            "mayObject": False,
            "mayRest": False,
        }.items():
            self.props[key] = value
        self.on("say", self._say)

    def offer(self, *, open_: bool, turn: int, may_object: bool, may_rest: bool) -> None:
        """Says whether it is the person's turn, which one, and what may be done in it."""
        now = {"open": open_, "turn": turn, "mayObject": may_object, "mayRest": may_rest}
        if now != self._offered:
            self._offered = now
            self.props.update(now)

    def taken(self) -> None:
        """Empties the field."""
        self.run_method("taken")

    def refused(self) -> None:
        """Keeps the text and says that somebody else was first."""
        self.run_method("refused")

    def _say(self, event: events.GenericEventArguments) -> None:
        sent: object = event.args
        match sent:
            case [int(turn), str(text)]:
                self._said(turn, text)
            case _:  # nothing that our own page sends
                pass
