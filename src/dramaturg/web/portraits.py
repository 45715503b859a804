"""Portraits, drawn as SVG from a few shapes: the same name always gets the same face."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from dramaturg.text import sha256

AVATARS = ("ash", "birch", "cedar", "elm", "oak", "yew")
"""Portraits from which a player chooses one."""

Dress = Literal["judge", "counsel", "plain"]

_DRESSES: dict[str, Dress] = {
    "judge": "judge",
    "prosecutor": "counsel",
    "defence": "counsel",
    "claimant": "counsel",
    "respondent": "counsel",
}
_ADDRESS = re.compile(r"(judge|counsel|plain)-([0-9a-f]{6})\Z")

_GROUNDS = ("#d9cfc0", "#c9d3d6", "#d6cdd9", "#cfd8c6", "#e0cbc1", "#c8cfe0")
_SKINS = ("#f0cfb4", "#dba982", "#b97d55", "#8a5636", "#f5dcc8", "#c9956b")
_HAIRS = ("#2e2723", "#5b3a24", "#8d6a3f", "#9a9590", "#3a2f3f", "#b5633a")
_CLOTHES = ("#7a8a99", "#a3785f", "#6f8468", "#8c7396", "#b08d4f", "#5f7f8c")

_SHOULDERS = "M8 64c0-13 11-19 24-19s24 6 24 19z"
_STYLES = (
    "M20.5 28c-1-10 4-15 11.5-15s12.5 5 11.5 15c-1.5-4-3-6.5-5-8-4.5 1.5-9 1.5-13 .5-2.5 1.5-4 4-5 7.500z",
    "M19 43c-3.5-16-.5-30 13-30s16.5 14 13 30l-4.5-2c2.5-8 1.5-15-2-19-4.5 3-9.5 3-13 2-3 4-4 10-2 17z",
    "M20.5 27c-.5-8 4-12 11.5-12s12 4 11.5 12c-2-4-4-6-6-7-4 1.5-8 1.5-11.5.5-2.5 1.5-4.5 3.5-5.5 6.500z"
    "M27 11a5 5 0 1 1 10 0a5 5 0 1 1-10 0z",
    "M19.5 29a5 5 0 0 1 1-8a6 6 0 0 1 6-7.500a7 7 0 0 1 11 0a6 6 0 0 1 6 7.500a5 5 0 0 1 1 8"
    "c-2-3-3-5-5.5-7-4.5 1-9.5 1-14 0-2.5 2-3.5 4-5.5 7z",
    "M20.5 27c.5-3 2-5 3.5-6.500M43.5 27c-.5-3-2-5-3.5-6.5",
    "M17.5 46c-3-20 2-34 14.5-34s17.5 14 14.5 34c-4 3-8 4-10 4 4-3 6.5-9 6.5-17 0-7-4-11-11-11s-11 4-11 11"
    "c0 8 2.5 14 6.5 17-2 0-6-1-10-4z",
    "M20.5 29c-1.5-11 3-16.5 12-16.5s12.5 5 11 16.5c-1-4-2.5-6.5-4.5-8.5-5 .5-10-.5-13-3-2 3-4.5 6.5-5.5 11.5z",
    "M19.5 36c-3-14-.5-23.5 12.5-23.5s15.5 9.5 12.5 23.5l-3.5-.5c1-6 .5-11-2-14.5-5 1-9.5 1-14 0-2.5 3.5-3 8.5-2 14.5z",
)
_OF_NAMES = (0, 3, 6, 7, 4, 6)
"""Styles that a name alone may choose."""

_WIG = (
    "M18 40a4.2 4.2 0 0 1 0-8a4.2 4.2 0 0 1 .5-8a5 5 0 0 1 5-7.500a7 7 0 0 1 8.5-3.500a7 7 0 0 1 8.5 3.5"
    "a5 5 0 0 1 5 7.500a4.2 4.2 0 0 1 .5 8a4.2 4.2 0 0 1 0 8l-3.5-.5c1.5-6 .5-12-2-16-5.5 1.5-11.5 1.5-17 0"
    "-2.5 4-3.5 10-2 16z"
)


@dataclass(frozen=True, slots=True)
class Portrait:
    """A portrait; `address` is where the server shows it.

    Attributes:
        dress: What the person wears.
        seed: Six hexadecimal digits that choose the face.
    """

    dress: Dress
    seed: str

    @property
    def address(self) -> str:
        """Path on the server."""
        return f"/portraits/{self.dress}-{self.seed}.svg"

    def svg(self) -> str:
        """Returns the drawing; no text of anybody is in it."""
        face, hair_style, skin, cloth, ground, hair = (int(digit, 16) for digit in self.seed)
        shape = _STYLES[hair_style % len(_STYLES)]
        cloth_colour = _CLOTHES[cloth % len(_CLOTHES)]
        hair_colour = cloth_colour if shape is _STYLES[5] else _HAIRS[hair % len(_HAIRS)]
        bald = shape is _STYLES[4]
        hair_paint = f'fill="none" stroke="{hair_colour}" stroke-width="2.5"' if bald else f'fill="{hair_colour}"'
        parts = [
            f'<circle cx="32" cy="32" r="32" fill="{_GROUNDS[ground % len(_GROUNDS)]}"/>',
            '<clipPath id="c"><circle cx="32" cy="32" r="32"/></clipPath><g clip-path="url(#c)">',
            f'<path d="{_SHOULDERS}" fill="{cloth_colour if self.dress == "plain" else "#24242b"}"/>',
            *self._collar(),
            f'<path d="M27.5 36h9v9a4.5 4.5 0 0 1-9 0z" fill="{_SKINS[skin % len(_SKINS)]}" opacity=".85"/>',
            f'<ellipse cx="32" cy="28.5" rx="10.8" ry="12.3" fill="{_SKINS[skin % len(_SKINS)]}"/>',
            f'<path d="{_WIG}" fill="#f4f1e8" stroke="#d8d2c2" stroke-width=".6"/>'
            if self.dress == "judge"
            else f'<path d="{shape}" {hair_paint}/>',
            '<g fill="#3a2f2a"><circle cx="27.8" cy="29" r="1.1"/><circle cx="36.2" cy="29" r="1.1"/></g>',
            '<path d="M29 35c1.8 1.3 4.2 1.3 6 0" fill="none" stroke="#3a2f2a" stroke-width="1.1" '
            'stroke-linecap="round" opacity=".75"/>',
            self._extra(face),
            "</g>",
        ]
        return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">{"".join(parts)}</svg>'

    def _collar(self) -> tuple[str, ...]:
        match self.dress:
            case "judge":
                return (
                    '<path d="M14 50c4-4 10-5 18-5s14 1 18 5l-3 14H17z" fill="#8b2f35"/>',
                    '<path d="M28.5 46h3v12h-4zM32.5 46h3l1 12h-4z" fill="#fff"/>',
                )
            case "counsel":
                return ('<path d="M28.5 46h3v11h-4zM32.5 46h3l1 11h-4z" fill="#fff"/>',)
            case "plain":
                return ('<path d="M26 45.500l6 6 6-6" fill="none" stroke="#fff" stroke-width="1.6" opacity=".7"/>',)

    @staticmethod
    def _extra(face: int) -> str:
        if face % 4 == 1:
            return (
                '<g fill="none" stroke="#3a2f2a" stroke-width="1"><circle cx="27.8" cy="29" r="3.3"/>'
                '<circle cx="36.2" cy="29" r="3.3"/><path d="M31.1 29h1.8"/></g>'
            )
        return ""


def portrait_of(name: str, kind: str) -> Portrait:
    """Returns the portrait of a character.

    Args:
        name: Of the character; it only chooses the face.
        kind: Kind of role, which chooses the dress.
    """
    digits = sha256(f"portrait {name}")
    style = _OF_NAMES[int(digits[1], 16) % len(_OF_NAMES)]
    return Portrait(_DRESSES.get(kind, "plain"), f"{digits[0]}{style}{digits[2:6]}")


def avatar(name: str, kind: str = "") -> Portrait:
    """Returns one of the player's portraits; the first where there is none of this name."""
    number = AVATARS.index(name) if name in AVATARS else 0
    seeds = ("100050", "014341", "132522", "023114", "054203", "145035")
    return Portrait(_DRESSES.get(kind, "plain"), seeds[number])


def portrait_at(file: str) -> Portrait | None:
    """Returns the portrait of an address's last part, or None."""
    found = _ADDRESS.match(file.removesuffix(".svg"))
    if found is None:
        return None
    dress: Dress = "judge" if found[1] == "judge" else "counsel" if found[1] == "counsel" else "plain"
    return Portrait(dress, found[2])
