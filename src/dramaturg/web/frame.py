"""What every page has: its head, its style, the settings."""

from __future__ import annotations

import html
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from fastapi import Request
from nicegui import ui

from dramaturg.text import sha256
from dramaturg.web.elements import link, page_button, picture, tag
from dramaturg.web.preferences import COOKIE, Preferences, read_preferences
from dramaturg.web.words import LANGUAGES, Words, words

STATIC = Path(str(resources.files("dramaturg"))) / "web" / "static"


@dataclass(frozen=True, slots=True)
class Visit:
    """Who looks at a page: nothing but what the request says.

    Attributes:
        preferences: What the visitor prefers.
        words: The interface in the visitor's language.
    """

    preferences: Preferences
    words: Words


def visit_of(request: Request) -> Visit:
    """Returns how a request wants its page."""
    preferences = read_preferences(request.cookies.get(COOKIE, ""), request.headers.get("accept-language", ""))
    return Visit(preferences, words(preferences.language))


@contextmanager
def frame(visit: Visit, title: str = "") -> Generator[None]:
    """Shows a page's head; what is shown inside stands in its main part.

    Args:
        visit: Who looks.
        title: Of the page.
    """
    say, preferences = visit.words, visit.preferences
    ui.page_title(f"{title} · {say('general.name')}" if title else say("general.name"))
    ui.add_head_html(_head(visit))
    with tag("header", classes="head"):
        with link("", "/", "head-mark", aria_label=f"{say('general.name')}: {say('general.home')}"):
            picture("/static/mark.svg")
            tag("span", say("general.name"))
        tag("span", title, "head-title", dir="auto")
        page_button(say("general.settings"), "dramaturg.show('settings')", "quiet", aria_haspopup="dialog")
    _settings(say, preferences)
    with tag("main", id="main"):
        yield


def _head(visit: Visit) -> str:
    """Returns the head's HTML; every value in it is one of ours, and escaped all the same."""
    say, preferences = visit.words, visit.preferences
    data = {
        "language": preferences.language,
        "theme": preferences.theme,
        "preferences": preferences.cookie,
        "lost": say("general.connection_lost"),
        "reconnecting": say("general.reconnecting"),
    }
    attributes = " ".join(f'data-{name}="{html.escape(value)}"' for name, value in data.items())
    return (
        f'<link rel="stylesheet" href="/static/style.css?{_digest("style.css")}">'
        f'<script src="/static/page.js?{_digest("page.js")}" {attributes}></script>'
    )


def _digest(name: str) -> str:
    return sha256((STATIC / name).read_text(encoding="utf-8"))[:12]


def _settings(say: Words, preferences: Preferences) -> None:
    """Shows the settings; they are kept by the browser, and changing one shows the page anew."""
    with tag("dialog", id="settings", aria_labelledby="settings-title"):
        with tag("div", classes="form"):
            tag("h2", say("general.settings"), id="settings-title")
            _choice(0, say("settings.language"), LANGUAGES, preferences.language)
            themes = {theme: say(f"settings.theme_{theme}") for theme in ("auto", "light", "dark")}
            _choice(1, say("settings.theme"), themes, preferences.theme)
            speeds = {speed: say(f"settings.speed_{speed}") for speed in ("instant", "brisk", "calm")}
            _choice(2, say("settings.speed"), speeds, preferences.speed)
            _switch(3, say("settings.voices"), preferences.voices, "voices-field")
            _switch(4, say("settings.dictation"), preferences.dictation, "dictation-field")
            tag("p", say("settings.browser_speech"), "small soft")
        with tag("div", classes="dialog-row"):
            page_button(say("general.close"), "dramaturg.hide('settings')")


def _choice(place: int, label: str, choices: dict[str, str], chosen: str) -> None:
    with tag("div", classes="field"):
        tag("label", label, for_=f"setting-{place}")
        with tag("select", id=f"setting-{place}").on(
            "change", js_handler=f"(event) => dramaturg.prefer({place}, event.target.value)"
        ):
            for value, text in choices.items():
                tag("option", text, value=value, selected=True if value == chosen else None)


def _switch(place: int, label: str, on: bool, classes: str) -> None:
    with tag("label", classes=f"check {classes}"):
        tag("input", type="checkbox", checked=True if on else None).on(
            "change", js_handler=f"(event) => dramaturg.prefer({place}, event.target.checked)"
        )
        tag("span", label)
