"""Zips of other apps, made in the background. An app names its own in its AppConfig, as zip_exports = ("a.b.C",)."""

from collections.abc import Callable
from typing import NamedTuple

from django.apps import apps
from django.utils.module_loading import import_string

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign
from assessor.exports.models import Export
from assessor.exports.zips import Zip


class ZipExport(NamedTuple):
    """A zip of a campaign.

    size: about how many records are in it. make: what writes it, and tells now and then how many records are written.
    take: records that a person takes it away. stopped: what the history says when it is stopped.
    """

    kind: str
    size: Callable[[Campaign], int]
    make: Callable[[Campaign, Callable[[int], None]], Zip]
    take: Callable[[Export, Person], None]
    stopped: str
    page: str  # on which its progress is shown, by the name of the address


def zip_exports() -> dict[str, ZipExport]:
    """Return them all, by kind."""
    paths = [path for app in apps.get_app_configs() for path in getattr(app, "zip_exports", ())]
    return {one.kind: one for one in map(import_string, paths)}


def ask_for_zip(campaign: Campaign, kind: str, file_name: str, acting_user: Person | None) -> tuple[Export, bool]:
    """Return the zip that waits or runs, or one that is to be made in the background, and whether it is new."""
    if under_way := campaign.exports.filter(kind=kind, state__in=Export.ACTIVE).first():
        return under_way, False
    return campaign.exports.create(kind=kind, file_name=file_name, person=acting_user, at_once=False), True
