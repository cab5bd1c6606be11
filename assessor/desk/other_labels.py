"""What others said of the item of a label, as steps on its way: second labels, repetitions, studies, adjudications."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import Q, QuerySet
from django.urls import reverse

from assessor.campaigns.models import Condition
from assessor.labels.label_history import Step, name, read, told, who_said
from assessor.labels.label_kind import label_kind
from assessor.labels.manual_setups import same_work
from assessor.labels.models import ManualSetup
from assessor.studies.models import Coding, SampledItem, Study


def of_others(sheet: Any, item: str, sampled_as: QuerySet[SampledItem]) -> Iterator[Step]:
    """Yield what was said of the same item under conditions of the same work and of studies on it.

    sampled_as: what of the answer was ever drawn that is this item.
    """
    mine: Condition = sheet.condition
    on_it = Study.objects.filter(campaign=mine.campaign_id, kind=mine.kind)
    if mine.sample:
        sides = [side for study in on_it.filter(name=mine.sample) for side in (study.first, study.second)]
        work = list(same_work(*sides))
    else:
        work = list(same_work(mine))
    studies = list(on_it.filter(Q(first__in=work) | Q(second__in=work)))
    sampled = Condition.objects.filter(
        campaign=mine.campaign_id, kind=mine.kind, sample__in=[study.name for study in studies]
    )
    roles = dict(ManualSetup.objects.filter(condition__in=work).values_list("condition", "purpose"))
    found = {one.pk: one for one in (*work, *sampled) if one.pk != mine.pk}
    yield from _drawn(sampled_as, studies)
    yield from _said(sheet, item, found, roles)


def _said(sheet: Any, item: str, conditions: dict[int, Condition], roles: dict[int, str]) -> Iterator[Step]:
    same = {"bank": sheet.bank_id} if hasattr(sheet, "bank_id") else {}  # else the item is another one
    same |= {f"{name}_id": getattr(sheet, f"{name}_id") for name in sheet.ANSWERS}
    judged = label_kind(sheet.condition.kind).with_history(sheet.condition.campaign)
    assert judged is not None, "this one is of them"
    of = sheet.revisions.field.name
    elsewhere = judged.filter(condition__in=conditions, **same).order_by().values("pk")
    revisions = sheet.revisions.model.objects.filter(**{f"{of}__in": elsewhere})
    for one in revisions.select_related(of, "judge", "task__person", *revisions.model.RELATED).order_by("pk"):
        changes, other = one.changes_by_item, getattr(one, of)
        key = other.same_item(item)
        if key not in changes:
            continue
        condition = conditions[other.condition_id]
        what = f"{_role(condition, roles)}, {condition}: {one.verb}{told(changes[key])}{read(one)}"
        address = reverse("label_way", args=[sheet.condition.campaign.slug, condition.kind, other.pk, key])
        yield Step(one.at, who_said(one), what, address)


def _role(condition: Condition, roles: dict[int, str]) -> str:
    """Return in which capacity a condition speaks."""
    if condition.method == Condition.ADJUDICATED:
        return f"adjudication of {condition.sample}"
    if condition.sample:
        return f"sample of {condition.sample}"
    return str(ManualSetup.Purpose(roles[condition.pk]).label) if condition.pk in roles else "other labels"


def _drawn(sampled_as: QuerySet[SampledItem], studies: Sequence[Study]) -> Iterator[Step]:
    drawn = list(
        sampled_as.filter(study__in=studies).select_related("study__first", "study__second", "study__created_by")
    )
    for one in drawn:
        of = one.study
        labels = f"{of.first} says {one.first_label}, {of.second} says {one.second_label}"
        address = f"{reverse('study', args=[studies[0].campaign.slug, of.pk])}#item-{one.pk}"
        yield Step(of.created_at, name(of.created_by), f"drawn for {of}: {labels}", address)
    for coding in Coding.objects.filter(drawn__in=drawn).select_related("person"):
        note = f": {coding.note}" if coding.note else ""
        yield Step(coding.at, name(coding.person), f"coded: {coding}{note}")
