"""The only way to what belongs to a study, for a person."""

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from django.db.models import QuerySet
from django.http import Http404

from assessor.campaigns.models import Campaign, Condition
from assessor.studies.models import Registration, SampledItem, Study
from assessor.studies.queries import sampled_under, studies_of
from assessor.work.models import Task


def campaign_study(campaign: Campaign, study_id: int) -> Study:
    """Return a study of a campaign that was reached through organized_campaign. Raises Http404."""
    study = studies_of(campaign).filter(pk=study_id).first()
    if study is None:
        raise Http404("There is no such study in this campaign.")
    return study


def campaign_registration(campaign: Campaign, registration_id: int) -> Registration:
    """Return a registered study of a campaign that was reached through organized_campaign. Raises Http404."""
    found: Registration | None = (
        campaign.registrations.select_related("campaign", "made_by").filter(pk=registration_id).first()
    )
    if found is None:
        raise Http404("There is no such registration in this campaign.")
    return found


def study_item(study: Study, drawn_id: int) -> SampledItem:
    """Return an item of a study that was reached through campaign_study. Raises Http404."""
    drawn: SampledItem | None = study.drawn.filter(pk=drawn_id).first()
    if drawn is None:
        raise Http404("There is no such item in this study.")
    return drawn


def labels_to_decide(
    owns: Sequence[Any], names_of: Callable[[Any], Mapping[str, str]]
) -> dict[int, dict[str, list[str]]]:
    """Return what two people said of items of sheets, for the third one whose own these are, all of one task.

    names_of: the names of a sheet's items by key. By sheet's key and the item's, the two in an order of no meaning: the
    study's seed decides it for each item. Nothing where the task isn't one of adjudication: all others are blind.
    """
    if not owns or not owns[0].is_adjudicated:
        return {}
    sheets = type(owns[0].sheet).objects.filter(pk__in=[own.sheet.pk for own in owns])
    labels = _labels_by_name(owns[0].task, sheets)
    found: dict[int, dict[str, list[str]]] = {}
    for own in owns:
        of_sheet = labels[own.sheet.pk]
        found[own.sheet.pk] = {key: of_sheet[name] for key, name in names_of(own).items() if name in of_sheet}
    return found


def _labels_by_name(task: Task, sheets: QuerySet[Any]) -> dict[int, dict[str, list[str]]]:
    if task.condition.method != Condition.ADJUDICATED:
        return {}
    rows = list(sheets.values_list("pk", "answer", "answer__run__tag"))
    drawn = sampled_under(task.condition, [answer for _, answer, _ in rows])
    return {
        sheet: {
            one.item: _shuffled(one, f"{task.topic.qid} {tag} {number}")
            for number, one in enumerate(drawn.get(answer, ()))
        }
        for sheet, answer, tag in rows
    }


def _shuffled(drawn: SampledItem, name: str) -> list[str]:
    """Return the two labels of an item.

    name: of the item in any database, by its number among those drawn of its answer: an import makes uids of its own.
    """
    labels = [drawn.first_label, drawn.second_label]
    return labels[::-1] if sha256(f"{drawn.study.seed} labels {name}".encode()).digest()[0] % 2 else labels
