"""A served court in a process of its own, and a browser that looks at it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import yaml
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from dramaturg.files import shipped

FoundT = TypeVar("FoundT")

CHROMIUM, DRIVER = Path("/usr/bin/chromium"), Path("/usr/bin/chromedriver")
STEADY = "script:court-steady"
PATIENCE_S = 60.0
_SERVE = "import typer; from dramaturg.cli.serve import serve; typer.run(serve)"


def until(found: Callable[[], FoundT | None], what: str = "") -> FoundT:
    """Returns what was waited for; an element that is just being replaced is looked for again."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        with suppress(StaleElementReferenceException):
            value = found()
            if value:
                return value
        time.sleep(0.05)
    raise AssertionError(f"waited in vain for {what or found}")


def script_with(
    folder: Path,
    name: str,
    rules: list[dict[str, object]],
    *,
    slow: str = "",
    turns: str = ">=1",
    base: str = "court-steady",
) -> str:
    """Returns the spec of a shipped script with rules before its own.

    Args:
        folder: Where it is written.
        name: Of the file.
        rules: What goes before.
        slow: Role whose speeches take two seconds; ``*`` for every role.
        turns: In which turns.
        base: Name of the shipped script.
    """
    steady = yaml.safe_load(shipped("scripts")[base].read_text(encoding="utf-8"))
    slowed = [
        {**rule, "delay_s": 2.0, "turn": turns}
        for rule in steady["rules"]
        if slow and "analyst" not in rule.get("role", "") and (slow == "*" or slow in rule.get("role", ""))
    ]
    steady["rules"] = [*rules, *slowed, *steady["rules"]]
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(steady, allow_unicode=True), encoding="utf-8")
    return f"script:{path}"


@dataclass
class Served:
    """A server process."""

    games: Path
    models: list[str]
    port: int = 0
    process: subprocess.Popen[str] | None = None
    more: list[str] = field(default_factory=list[str])

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        models = [part for spec in self.models for part in ("--model", spec)]
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-u", "-c", _SERVE, "--no-open", "--games", str(self.games)),
                *("--port", str(self.port), *models, *self.more),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={**os.environ, "NO_COLOR": "1"},
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.match(r"http://127\.0\.0\.1:(\d+)/", line)
        if found is None:
            raise AssertionError(f"no address in {line!r}; {self.process.communicate(timeout=10)[1]}")
        self.port = int(found[1])

    def kill(self) -> None:
        """Ends the process as a power cut would."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate(timeout=20)
        self.process = None

    def stop(self) -> str:
        """Ends the process as Ctrl-C does; returns what it complained of."""
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        _, complaints = self.process.communicate(timeout=30)
        self.process = None
        return complaints


@contextmanager
def served(games: Path, *models: str) -> Generator[Served]:
    """Serves games; the process is gone afterwards."""
    server = Served(games, [*models])
    server.start()
    try:
        yield server
    finally:
        if server.process is not None:
            server.kill()


@contextmanager
def browser(*, width: int = 1280, height: int = 860, dark: bool = False, language: str = "en") -> Generator[Page]:
    """Opens a browser."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument(f"--accept-lang={language}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    try:
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        theme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": theme})
        at_once = {"name": "dramaturg", "value": ".auto.instant.0.0", "url": "http://127.0.0.1/"}
        driver.execute_cdp_cmd("Network.setCookie", at_once)
        yield Page(driver)
    finally:
        driver.quit()


@dataclass
class Page:
    """What a person sees and does."""

    driver: webdriver.Chrome

    def all(self, css: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def one(self, css: str, text: str = "") -> WebElement:
        """Returns the first element of a selector that holds a text, once it is there and can be seen."""

        def found() -> WebElement | None:
            return next((e for e in self.all(css) if e.is_displayed() and text in e.text), None)

        return until(found, f"{css} {text}")

    def texts(self, css: str) -> list[str]:
        return until(lambda: [element.text for element in self.all(css)] or None, css)

    def open(self, address: str) -> None:
        self.driver.get(address)
        self.one("#main")

    def begin(self, server: Served, case: str = "museum-intrusion") -> str:
        """Begins a game through the pages; returns its address."""
        self.open(f"{server.address}/new?case={case}")
        self.one(".preview .button.primary").click()
        self.one(".form > .button.primary").click()
        self.your_turn()
        return self.driver.current_url

    def your_turn(self) -> WebElement:
        """Returns the field, once it is the person's turn."""
        self.one(".composer.open")
        return self.one(".composer textarea")

    def say(self, text: str) -> None:
        self.your_turn().send_keys(text, Keys.ENTER)

    def paste(self, text: str) -> None:
        """Puts a long text into the field at once, as a paste does."""
        self.driver.execute_script(
            "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input', {bubbles: true}))",
            self.your_turn(),
            text,
        )

    def said(self) -> list[str]:
        """Returns the words of the final turns."""
        return [element.get_attribute("textContent") or "" for element in self.all(".turn .speech:not(.live)")]

    def heard(self, text: str) -> str:
        """Returns the turn that holds a text, once it is there."""
        return until(lambda: next((said for said in self.said() if text in said), None), text)

    def shows_all_in_width(self) -> bool:
        return bool(self.driver.execute_script("return document.documentElement.scrollWidth <= window.innerWidth"))

    def complaints(self) -> list[str]:
        """Returns errors of the browser's console."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
