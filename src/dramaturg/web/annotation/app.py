"""The application: addresses, and what answers them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from starlette.routing import Route

from dramaturg.web.annotation.answering import Answering
from dramaturg.web.annotation.campaign import Campaign
from dramaturg.web.annotation.owner import OwnerPages
from dramaturg.web.annotation.site import annotation_site
from dramaturg.web.annotation.store import Store
from dramaturg.web.survey.app import survey_app
from dramaturg.web.survey.door import OwnerDoor
from dramaturg.web.survey.guideline import read_guideline
from dramaturg.web.survey.people import Guideline, PeoplePages
from dramaturg.web.survey.rendering import Visit
from dramaturg.web.survey.threads import StoreThreads

if TYPE_CHECKING:
    from starlette.types import ASGIApp


def annotation_app(campaign: Campaign, store: Store, *, owner: str = "", only_here: bool = False) -> ASGIApp:
    """Returns the application of a campaign.

    Args:
        campaign: What is asked.
        store: Where votes go; the campaign is taken in already.
        owner: Hash of the owner's password; without it nobody sees the progress.
        only_here: Whether requests are answered only under the names of this machine itself.
    """

    def guidelines(visit: Visit) -> Sequence[Guideline]:
        if campaign.guideline:
            return [Guideline("", read_guideline(campaign.guideline))]
        return [Guideline(visit.look.language, read_guideline(visit.say("guideline.text")))]

    site = annotation_site(campaign.title)
    threads = StoreThreads(store.database.threads)
    answering = Answering(campaign, site, store, threads)
    door = OwnerDoor(site, store, threads, owner)
    owners = OwnerPages(site, store, threads, door)
    return survey_app(
        site,
        store,
        threads,
        people=PeoplePages(site, store, threads, raters_only=campaign.rules.raters_only, guidelines=guidelines),
        door=door,
        routes=[
            Route("/item", answering.show),
            Route("/item", answering.take, methods=["POST"]),
            Route("/progress", owners.progress),
            Route("/progress/votes.jsonl", owners.votes),
        ],
        only_here=only_here,
    )
