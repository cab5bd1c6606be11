"""Archives as exports: asked for, made in the background, taken."""

from django.db import transaction

from assessor.accounts.models import Person
from assessor.archive.registry import ASKED_FOR, STOPPED, TAKEN, WRITTEN
from assessor.archive.writer import CampaignArchive, expected_records
from assessor.campaigns import history
from assessor.campaigns.models import Campaign
from assessor.exports.models import Export
from assessor.exports.zip_exports import ZipExport, ask_for_zip
from assessor.work.exposure import take_all

KIND = "archive"


@transaction.atomic
def ask_for_archive(*, campaign: Campaign, acting_user: Person | None) -> Export:
    """Note down that an archive is to be made in the background; one that waits or runs already is that one."""
    export, is_new = ask_for_zip(campaign, KIND, "archive.zip", acting_user)
    if is_new:
        history.record(ASKED_FOR, campaign, campaign=campaign, person=acting_user)
    return export


def _take(export: Export, person: Person) -> None:
    """Record who takes an archive, and has seen by it what models gave."""
    history.record(WRITTEN, export.campaign, campaign=export.campaign, person=person)
    take_all(person, export.campaign, TAKEN)


ARCHIVE = ZipExport(KIND, expected_records, CampaignArchive, _take, stopped=STOPPED, page="archive")
