"""Profiles by number and seed: every one plausible, no two alike, without any model.

Age, gender, occupation, place, time and name are drawn from one setting, so they agree by construction; what came into
the world after the year drawn is what the character cannot know. A larger cast begins with the smaller of its seed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from random import Random

from dramaturg.errors import UserError, did_you_mean
from dramaturg.model.lexical import tokens
from dramaturg.stage.cast.character import Origin
from dramaturg.stage.cast.eras import Event, Setting, settings, traits, unknown_in
from dramaturg.stage.cast.names import Gender, cultures
from dramaturg.stage.cast.profile import Profile
from dramaturg.stage.cast.sketch import Sketch
from dramaturg.stage.diversity import Diversity, Spread
from dramaturg.stage.slug import slug

DRAWS = 20
"""How often a name is drawn that somebody else bears; after that two have the same."""

MOST_COMPARED = 1_000
"""Sketches among which every pair is compared; of more, an evenly spaced part is taken."""

_NEXT_NOVELTIES = 4
_ELSEWHERE = ("the countries, the history and the machines of our Earth", "our calendar")


def generate(
    count: int, seed: int, *, origins: Sequence[Origin] = (), setting_ids: Sequence[str] = ()
) -> tuple[Sketch, ...]:
    """Returns a cast; equal arguments give equal casts.

    Args:
        count: How many characters.
        seed: Of the cast.
        origins: Which kinds; all by default.
        setting_ids: Which settings; all by default.

    Raises:
        UserError: A setting is unknown, or none is left.
    """
    names: set[str] = set()
    made: list[Sketch] = []
    for number, setting in zip(range(1, count + 1), _by_turns(_allowed(origins, setting_ids), seed), strict=False):
        sketch = draw_sketch(setting, number, Random(f"dramaturg/cast/{seed}/{setting.id}/{number}"), taken=names)
        names.add(sketch.profile.name)
        made.append(sketch)
    return tuple(made)


def draw_sketch(setting: Setting, number: int, rng: Random, *, taken: Collection[str] = ()) -> Sketch:
    """Returns one sketch of a setting; equal generators give equal ones.

    Args:
        setting: Where and when.
        number: Position in the cast, part of the id.
        rng: Draws.
        taken: Names that others bear.
    """
    known = traits()
    culture = cultures()[setting.culture]
    occupation = rng.choice(setting.occupations)
    genders: Sequence[Gender] = [
        gender for gender in culture.by_gender if not occupation.genders or gender in occupation.genders
    ]
    gender = rng.choice(genders)
    least, most = occupation.ages
    age = rng.randint(least * setting.lifespan, most * setting.lifespan)
    year = rng.randint(*setting.years) if setting.years is not None else None
    looks = known.machine_physical if setting.machine else known.physical
    names = (culture.draw(gender, rng) for _ in range(DRAWS))
    name = next((name for name in names if name not in taken), None) or culture.draw(gender, rng)
    return Sketch(
        id=f"{slug(name) or setting.id}-{number}",
        setting=setting.id,
        origin=setting.origin,
        culture=setting.culture,
        knows_until=year,
        machine=setting.machine,
        profile=Profile(
            name=name,
            age=age,
            gender=gender,
            race=rng.choice(setting.races),
            likes=tuple(rng.sample(known.likes, 2)),
            dislikes=tuple(rng.sample(known.dislikes, 2)),
            personality=_personality(rng),
            values=tuple(rng.sample(known.values, 2)),
            physical=(rng.choice(looks.build), rng.choice(looks.marks)),
            history=_history(known.machine_history if setting.machine else known.history, age, rng),
            era=setting.era.format(year=year),
            place=rng.choice(setting.places),
            occupation=occupation.is_,
            knows=occupation.knows,
            cannot_know=beyond(year),
        ),
    )


def beyond(year: int | None) -> tuple[str, ...]:
    """Returns what lies beyond a character that lives in a year; None is an invented world."""
    if year is None:
        return _ELSEWHERE
    return (
        *(novelty.what for novelty in unknown_in(year)[:_NEXT_NOVELTIES]),
        f"whatever happened after the year {year}",
    )


def cast_diversity(sketches: Sequence[Sketch]) -> Diversity:
    """Returns how different the profiles of a cast are; of more than `MOST_COMPARED`, an evenly spaced part counts."""
    step = -(-len(sketches) // MOST_COMPARED) or 1
    spread = Spread()
    for sketch in sketches[::step]:
        profile = sketch.profile.model_dump(mode="json", exclude={"cannot_know"})
        spread.add(tokens(" ".join(_texts(profile.values()))), [sketch.profile.name])
    return spread.figures()


def _allowed(origins: Sequence[Origin], setting_ids: Sequence[str]) -> list[Setting]:
    known = settings()
    for name in setting_ids:
        if name not in known:
            raise UserError(f"unknown setting {name!r}", where="--setting", allowed=did_you_mean(name, known))
    allowed = [
        setting
        for setting in known.values()
        if (not setting_ids or setting.id in setting_ids) and (not origins or setting.origin in origins)
    ]
    if not allowed:
        raise UserError("no setting has that origin", where="--setting", allowed="another --origin")
    return allowed


def _by_turns(allowed: Sequence[Setting], seed: int) -> Iterator[Setting]:
    """Yields every setting once, then every one again, each round in another order, without end."""
    turn = 0
    while True:
        yield from Random(f"dramaturg/cast/{seed}/settings/{turn}").sample(allowed, len(allowed))
        turn += 1


def _personality(rng: Random) -> tuple[str, ...]:
    known = traits()
    drawn: list[str] = []
    for trait in rng.sample(known.personality, len(known.personality)):
        if not any({trait, other} == set(pair) for other in drawn for pair in known.opposed):
            drawn.append(trait)
    return tuple(drawn[:3])


def _history(events: Sequence[Event], age: int, rng: Random) -> tuple[str, ...]:
    """Returns two events of a life in the order in which they happened; a short life has none but its beginning."""
    happened = sorted((max(1, int(event.from_ * age)), event.text) for event in rng.sample(events, 2))
    return tuple(text.format(age=at) for at, text in happened)


def _texts(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        if isinstance(value, list | tuple):
            yield from (str(part) for part in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        else:
            yield str(value)
