"""The application: addresses, and what answers them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from starlette.routing import Route

from dramaturg.report.rating.reliability import NamedTable
from dramaturg.web.rating.answering import Answering
from dramaturg.web.rating.campaign import RatingCampaign
from dramaturg.web.rating.guideline import guidelines_of
from dramaturg.web.rating.owner import OwnerPages
from dramaturg.web.rating.site import rating_site
from dramaturg.web.rating.store import RatingStore
from dramaturg.web.survey.app import survey_app
from dramaturg.web.survey.door import OwnerDoor
from dramaturg.web.survey.people import Guideline, PeoplePages
from dramaturg.web.survey.rendering import Visit
from dramaturg.web.survey.threads import StoreThreads

if TYPE_CHECKING:
    from starlette.types import ASGIApp

SAVES_ITSELF = "connect-src 'self'; "
"""The script saves what was filled in, here and nowhere else."""


def rating_app(
    campaign: RatingCampaign,
    store: RatingStore,
    *,
    owner: str = "",
    judges: Sequence[NamedTable] = (),
    only_here: bool = False,
) -> ASGIApp:
    """Returns the application of a campaign.

    Args:
        campaign: What is rated.
        store: Where sheets go; the campaign is taken in already.
        owner: Hash of the owner's password; without it nobody sees progress and agreement.
        judges: Ratings of the same roles by judges, against which the owner sees the people.
        only_here: Whether requests are answered only under the names of this machine itself.
    """

    def guidelines(visit: Visit) -> Sequence[Guideline]:
        return guidelines_of(campaign, visit.look.language)

    site = rating_site(campaign.title)
    threads = StoreThreads(store.database.threads)
    answering = Answering(campaign, site, store, threads)
    door = OwnerDoor(site, store, threads, owner)
    owners = OwnerPages(campaign, site, store, threads, door, judges)
    raters_only = campaign.rules.raters_only
    return survey_app(
        site,
        store,
        threads,
        people=PeoplePages(site, store, threads, raters_only=raters_only, first="/guideline", guidelines=guidelines),
        door=door,
        routes=[
            Route("/item", answering.show),
            Route("/item", answering.take, methods=["POST"]),
            Route("/progress", owners.progress),
            Route("/progress/people.csv", owners.as_csv),
            Route("/progress/people.jsonl", owners.as_jsonl),
        ],
        only_here=only_here,
        policy=SAVES_ITSELF,
    )
