"""The way of one label, from first click to score: all that is recorded about it, in order."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from django.db.models import Q
from django.urls import reverse

from assessor.campaigns.models import Event, Imported, MaybeImported
from assessor.desk.other_labels import of_others
from assessor.desk.score_contributions import Score, scores_of
from assessor.labels.label_history import Step, name, read, told, who_said
from assessor.labels.label_kind import LabelKind, label_kind
from assessor.llm.models import Unit
from assessor.work.models import Exposure, Reply, Task


class LabelHistory(NamedTuple):
    """All of it: what is labelled, its steps, what stands now, and what that counts, for each answer."""

    item: str
    steps: list[Step]
    standing: list[tuple[str, str]]
    scores: list[Score]


_STANDING = ("labels", "cannot", "adopted", "stale", "invalid", "flags", "shown")


def label_history_of(sheet: Any, item: str) -> LabelHistory:
    """Return the way of the label of an item of a sheet, by its key."""
    kind = label_kind(sheet.condition.kind)
    what, of_item = kind.item_history(sheet, item)
    tasks = Task.objects.filter(Q(pk=sheet.task_id) | Q(pk__in=sheet.revisions.order_by().values("task")))
    tasks = tasks.select_related("person", "created_by")
    steps = [
        *_origins(sheet),
        *of_item,
        *_given(sheet, tasks),
        *_revisions(kind, sheet, item),
        *_calls(sheet, item),
        *_exposures(sheet, tasks),
        *_replies(sheet, item),
        *of_others(sheet, item, kind.sampled_as(sheet, item)),
    ]
    steps.sort(key=lambda step: (step.at is not None, step.at))
    stands = ((column, getattr(sheet, column, {}).get(item, "")) for column in _STANDING)
    return LabelHistory(what, steps, [(column, str(said)) for column, said in stands if said], scores_of(sheet, item))


def _origins(sheet: Any) -> Iterator[Step]:
    condition, topic = sheet.condition, sheet.answers[0].topic
    yield _came(topic, f"topic {topic.qid}")
    for answer in sheet.answers:
        yield _came(answer, f"the passage of {answer.docid}" if answer.docid else f"the answer of {answer.run.tag}")
    yield Step(condition.created_at, name(condition.created_by), f"condition {condition}: {condition.identity}")
    if sheet.import_record_id:
        yield _came(sheet, f"labels of {condition}")


def _came(record: Imported | MaybeImported, what: str) -> Step:
    came = record.import_record
    if came is None:
        return Step(None, "", f"{what} was made here")
    address = reverse("import_report", args=[came.campaign.slug, came.pk])
    return Step(came.ended_at, name(came.person), f"{what} came with {came.file_name}", address)


def _given(sheet: Any, tasks: Iterable[Task]) -> Iterator[Step]:
    subjects = set()
    for task in tasks:
        subjects.add(str(task))
        reason = f": {task.reason}" if task.reason else ""
        yield Step(task.created_at, name(task.created_by), f"{task} was made{reason}")
    events = Event.objects.filter(campaign=sheet.condition.campaign_id, subject__in=subjects).select_related("person")
    for event in events:
        # What is about an item is told with it.
        if event.details.get("condition", sheet.condition.name) == sheet.condition.name and "item" not in event.details:
            reason = event.details.get("reason", "")
            yield Step(event.at, name(event.person), f"{event.verb}{reason and f': {reason}'}")


def _revisions(kind: LabelKind, sheet: Any, item: str) -> Iterator[Step]:
    slug = sheet.condition.campaign.slug
    events = sheet.revisions.select_related("judge", "task__person", "job__condition", *sheet.revisions.model.RELATED)
    for one in events.order_by("version", "pk"):
        changes = one.changes_by_item
        if changes and item not in changes:
            continue
        took = f"; {one.seconds} active seconds" if one.seconds else ""
        why = f"; {one.reason}" if one.reason else ""
        said = f"{one.verb}{told(changes.get(item))}{kind.event_note(one)}{took}{why}{read(one)}"
        what = f"{said}; protocol {sheet.condition.protocol}"
        yield Step(one.at, who_said(one), what, reverse("job", args=[slug, one.job_id]) if one.job_id else "")


def _calls(sheet: Any, item: str) -> Iterator[Step]:
    """Yield what a model was asked for the unit that the label comes from."""
    jobs = sheet.revisions.exclude(job=None).order_by().values("job")
    units = Unit.objects.filter(job__in=jobs, **sheet.named_in_units(item))
    for unit in units.prefetch_related("calls").select_related("job__condition"):
        prompts = unit.job.condition.prompts
        for call in unit.calls.all():
            prompt = f"prompt {prompts.get(call.question, '')[:12]}"
            asked = f"{call.question}, {call.get_outcome_display()}; {prompt}, request {call.request[:12]}"
            what = f"call of {unit.job}: {asked}"
            yield Step(call.at, call.model, what, reverse("job", args=[sheet.condition.campaign.slug, unit.job_id]))


def _exposures(sheet: Any, tasks: Iterable[Task]) -> Iterator[Step]:
    people = [task.person_id for task in tasks]
    kind, topic = sheet.condition.kind, sheet.answers[0].topic_id
    seen = Exposure.objects.filter(person__in=people, topic=topic, kind=kind).select_related("person")
    for one in seen:
        yield Step(one.at, str(one.person), f"saw {kind} that a model or others gave on the topic: {one.where}")


def _replies(sheet: Any, item: str) -> Iterator[Step]:
    asked = Reply.objects.filter(task__condition=sheet.condition_id, **sheet.named_in_replies(item))
    for one in asked.select_related("person"):
        yield Step(one.at, str(one.person), f"answered “{one.question}”: {one.text}")
