"""Labels of a model beside a person's choices: which can be shown, how one is read, and that it was seen."""

from collections.abc import Sequence
from typing import Any, Protocol

from django.db.models import QuerySet

from assessor.campaigns.actions import ConditionError
from assessor.campaigns.models import Campaign, Condition
from assessor.labels.label_kind import LabelKind
from assessor.runtime.sql import Parameter, Prepared
from assessor.work.blindness import record_exposure
from assessor.work.models import Exposure, Task
from assessor.work.write_protocol import BadWrite

NOT_SHOWN_HERE = "No model's label is shown here."

# Whether a task's person is known to have seen what its condition shows on the topic: a column of a query in which they
# are work_task and campaigns_condition. Another exposure, such as to another model's labels, is none to these.
HAS_SEEN = """EXISTS (
    SELECT 1 FROM campaigns_condition shown JOIN work_exposure seen ON seen."where" = 'labels of ' || shown.name
    WHERE shown.id = campaigns_condition.shown_id AND seen.person_id = work_task.person_id
        AND seen.topic_id = work_task.topic_id AND seen.kind = work_task.kind)"""


# Asked with each label that a model gives.
_SHOWING = Prepared(Condition.with_controls.filter(shown=Parameter("shown")))


def is_shown(condition: Condition) -> bool:
    """Say whether a condition's labels stand beside the choices of a person."""
    return any(_SHOWING.fetch(shown=condition.pk))


class Beside(Protocol):
    """A person's judged answer. shown_condition: by key, whose labels stand beside the choices; none: from scratch."""

    @property
    def sheet(self) -> Any: ...
    @property
    def task(self) -> Task: ...
    @property
    def shown_condition(self) -> int | None: ...
    @property
    def has_seen(self) -> bool: ...


def with_a_models_labels(kind: LabelKind, campaign: Campaign) -> QuerySet[Condition]:
    """Return the conditions whose labels can stand beside the choices of a person."""
    conditions = campaign.conditions.filter(kind=kind.name, sample="").select_related("judge")
    return conditions.filter(pk__in=[one.pk for one in conditions if one.is_a_models and not one.is_panel])


def require_labels_to_show(kind: LabelKind, campaign: Campaign, shown: Condition) -> None:
    """Raise ConditionError where the labels of a condition can't stand beside the choices of a person."""
    if shown.campaign_id != campaign.pk:
        raise ConditionError(f"{shown} is not a condition of {campaign}.")
    if not kind.post_edited_method:
        raise ConditionError(f"Labels of {kind.name} are not post-edited.")
    if shown.kind != kind.name:
        raise ConditionError(f"What is post-edited are labels of {kind.name}; those of {shown} are of {shown.kind}.")
    if shown.sample:
        raise ConditionError(f"What is post-edited are all of a judge's labels; those of {shown} are of a sample.")
    if shown.is_panel:
        raise ConditionError(f"What is post-edited are a model's labels; those of {shown} follow from several.")
    if not shown.is_a_models:
        raise ConditionError(f"What is post-edited are a model's labels; those of {shown} are people's.")


def label_in_sql(sheets: str, labels: str, same: Sequence[str], item: Sequence[str]) -> str:
    """Return the query for the label that stands beside the choices of an item.

    sheets, labels: tables; same: what both judged answers have in common; item: the columns that name it. It takes the
    key of the person's judged answer, that of the condition that is shown, and the values of item.
    """
    is_same = " AND ".join(f"own.{name} = shown.{name}" for name in same)
    is_item = " AND ".join(f"label.{name} = %s" for name in item)
    return f"""
    SELECT label.value FROM {labels} label
    JOIN {sheets} shown ON shown.id = label.sheet_id
    JOIN {sheets} own ON {is_same}
    LEFT JOIN campaigns_import loaded ON loaded.id = shown.import_record_id
    WHERE own.id = %s AND shown.condition_id = %s AND {is_item} AND label.state = 'given'
        AND (loaded.id IS NULL OR loaded.state = 'done')
"""  # noqa: S608  # names of our own tables


def require_shown(own: Beside, item: str, name: str) -> None:
    """Raise BadWrite where a person judges an item before they saw the model's label. name: of such items."""
    if own.shown_condition is not None and item not in own.sheet.shown:
        raise BadWrite(f"The model's label goes with this {name} and has not been shown.")


def record_seen(own: Beside) -> None:
    """Record that a person has seen a model's labels on a topic; once, since each is kept with its judged answer."""
    if own.has_seen:
        return
    task = own.task
    where = f"labels of {task.condition.shown}"
    seen = Exposure.objects.filter(person=task.person, topic=task.topic_id, kind=task.kind, where=where)
    if not seen.exists():
        record_exposure(task.person, [task.topic], task.kind, where)


def differs(label: str, shown: str) -> str:
    """Say whether a label differs from the one that was shown: "yes", "no", or "" where one of them is missing."""
    return ("yes" if label != shown else "no") if label and shown else ""
