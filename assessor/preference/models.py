"""Preferences: which of two answers is better, and how it came to be said."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from assessor.campaigns.models import Answer, MaybeImported
from assessor.labels import models as labels
from assessor.labels.models import Label
from assessor.preference.verdicts import FIRST, SECOND, TIE, of_answers
from assessor.work.write_protocol import Stale

_CHOICES = [(FIRST, "the first is better"), (SECOND, "the second is better"), (TIE, "neither is better")]


class PreferencePair(MaybeImported, Label):
    """Two answers to a topic that are compared under a condition; first and second by the bytes of their runs' tags.

    A verdict is in terms of what was shown: FIRST is the answer that stood first. It is its own judged answer, of the
    one item that has its position as key.
    """

    # What may stand, as JudgedAnswer has it.
    SAID: ClassVar[dict[str, str]] = {"label": "labels", "cannot": "cannot", "adopted": "adopted", "flag": "flags"}
    FILE_KEY = "better_passage"
    ANSWERS: ClassVar[tuple[str, ...]] = ("first", "second")

    condition = models.ForeignKey(
        "campaigns.Condition", models.PROTECT, related_name="preference_pairs", db_index=False
    )
    topic = models.ForeignKey("campaigns.Topic", models.PROTECT, related_name="preference_pairs")
    first = models.ForeignKey("campaigns.Answer", models.PROTECT, related_name="+")
    second = models.ForeignKey("campaigns.Answer", models.PROTECT, related_name="+")
    position = models.PositiveIntegerField(help_text="In the order in which a topic's pairs are asked, from 0.")
    second_stood_first = models.BooleanField(
        default=False, help_text="Whether the second answer was shown first, where the verdict was given."
    )
    by_rule = models.BooleanField(
        default=False, help_text="An empty answer loses, and equal ones tie: nobody is asked."
    )
    verdict = models.CharField(  # noqa: DJ001  # as labels have it
        max_length=20, null=True, choices=_CHOICES, help_text="What was said, in terms of what was shown."
    )
    reversed_verdict = models.CharField(  # noqa: DJ001
        max_length=20, null=True, choices=_CHOICES, help_text="What was said when they were shown the other way round."
    )
    put_off = models.PositiveIntegerField(
        default=0, db_default=0, help_text="The last one put off has the highest number."
    )
    version = models.PositiveIntegerField(default=0, help_text="Counts its changes.")
    value = models.CharField(max_length=20, null=True, choices=_CHOICES)  # noqa: DJ001
    resolved_value = models.CharField(  # noqa: DJ001
        max_length=20, null=True, choices=_CHOICES, help_text=Label._meta.get_field("resolved_value").help_text
    )
    judge = models.ForeignKey("campaigns.Judge", models.PROTECT, null=True, related_name="preference_pairs")
    task = models.ForeignKey("work.Task", models.PROTECT, null=True, related_name="preference_pairs")

    class Meta(Label.Meta):
        ordering = ("condition", "topic", "position")  # type: ignore[assignment]  # further columns
        constraints = (  # type: ignore[assignment]  # further ones
            *Label.Meta.constraints,
            models.UniqueConstraint(fields=("condition", "first", "second"), name="preference_pair_once"),
            models.UniqueConstraint(fields=("condition", "topic", "position"), name="preference_position_once"),
            models.CheckConstraint(condition=~Q(first=F("second")), name="preference_of_two_answers"),
        )

    def __str__(self) -> str:
        return f"pair {self.position + 1} on {self.topic.qid}"

    @property
    def counted(self) -> str | None:
        """The preference that counts: another person's where the judge could give none."""
        return self.value if self.state == self.State.GIVEN else self.resolved_value

    @property
    def item(self) -> str:
        return str(self.position)

    @property
    def answers(self) -> list[Answer]:
        return [self.first, self.second]

    @classmethod
    def with_items(cls, pairs: models.QuerySet[Any]) -> models.QuerySet[Any]:
        """Return the same pairs: each is its own item."""
        return pairs

    def label_of(self, other: "PreferencePair", item: str) -> str | None:
        """Return another person's preference between the same answers, in terms of the pair."""
        return other.labels.get(other.item)

    def item_name(self, item: str) -> str:
        """Return what names the one item for ever."""
        return item

    def same_item(self, item: str) -> str:
        """Return the key of the one item: pairs have other places under other conditions."""
        return self.item

    def named_in_replies(self, item: str) -> dict[str, Any]:
        """Return by which columns replies about it are found, among those of its task's condition."""
        return {"answer": None, "item": item, "task__topic": self.topic_id}

    def named_in_units(self, item: str) -> dict[str, Any]:
        """Return by which columns units of jobs in which it was compared are found."""
        return {"topic": self.topic_id, "item": item}

    @property
    def as_shown(self) -> tuple[Answer, Answer]:
        """Both answers, in the order in which they are shown."""
        return (self.second, self.first) if self.second_stood_first else (self.first, self.second)

    @property
    def to_do(self) -> int:
        """How much of it is to be said still: 1 or nothing."""
        return int(self.state == self.State.OPEN)

    @property
    def labels(self) -> dict[str, str]:
        return self._standing("label")

    @property
    def cannot(self) -> dict[str, str]:
        return self._standing("cannot")

    @property
    def adopted(self) -> dict[str, str]:
        return self._standing("adopted")

    @property
    def flags(self) -> dict[str, str]:
        return self._standing("flag")

    def _standing(self, field: str) -> dict[str, str]:
        standing = self.standing()
        return {self.item: standing[field]} if field in standing else {}

    def version_meant(self, seen: int) -> int:
        """Return the version that a write is about: the one that its person saw."""
        return seen

    def revise(
        self,
        verb: str,
        said: Mapping[str, Mapping[str, Any]],
        *,
        judge_id: int | None,
        task_id: int | None = None,
        reason: str = "",
        seconds: int | None = None,
        guidelines_version: int | None = None,
        columns: Mapping[str, Any] | None = None,
    ) -> None:
        """Change what stands, and add the event that says so; see JudgedAnswer.revise(). Raises Stale.

        A label is in terms of the pair.
        """
        before, state_before, value_before = self.standing(), self.state, self.value
        wanted = before | {field: value for fields in said.values() for field, value in fields.items()}
        after = {field: value for field, value in wanted.items() if value}
        self.stand(after)
        saved = {name: getattr(self, name) for name in ("value", "resolved_value", "state", "reason", "flag")}
        if any(before.get(field) != after.get(field) for field in ("label", "cannot")):
            saved["verdict"] = self.value and of_answers(self.value, second_stood_first=self.second_stood_first)
            origin = {"judge_id": judge_id, "task_id": task_id, "seconds": seconds, "at": timezone.now()}
            origin["guidelines_version"] = guidelines_version
            # Whose it is to compare stays with it.
            saved |= origin if not self.to_do else dict.fromkeys(origin) | {"task_id": self.task_id}
        saved |= dict(columns or {})
        for name, value in saved.items():
            setattr(self, name, value)
        seen, self.version = self.version, self.version + 1
        if not type(self).everything.filter(pk=self.pk, version=seen).update(version=self.version, **saved):
            raise Stale
        further = [field for field in {**before, **after} if field not in LabelEvent.COLUMNS]
        changes = {field: [before.get(field), after.get(field)] for field in further}
        LabelEvent.objects.create(
            pair=self,
            version=self.version,
            verb=verb,
            judge_id=judge_id,
            task_id=task_id,
            reason=reason,
            seconds=seconds,
            guidelines_version=guidelines_version,
            state_before=state_before,
            value_before=value_before,
            state=self.state,
            value=self.value,
            verdict=self.verdict,
            changes={field: pair for field, pair in changes.items() if pair[0] != pair[1]} or None,
        )


class LabelEvent(labels.LabelEvent):
    """What was said of a pair."""

    ITEM = ("pair__position",)
    RELATED = ("pair",)

    pair = models.ForeignKey(PreferencePair, models.PROTECT, related_name="revisions", db_index=False)
    judge = models.ForeignKey("campaigns.Judge", models.PROTECT, null=True, related_name="+")
    task = models.ForeignKey("work.Task", models.PROTECT, null=True, related_name="preference_events")
    job = models.ForeignKey("llm.Job", models.PROTECT, null=True, related_name="+")
    value_before = models.CharField(max_length=20, null=True, choices=_CHOICES)  # noqa: DJ001  # as labels have it
    value = models.CharField(max_length=20, null=True, choices=_CHOICES)  # noqa: DJ001
    verdict = models.CharField(max_length=20, null=True, choices=_CHOICES)  # noqa: DJ001
    reversed_verdict = models.CharField(max_length=20, null=True, choices=_CHOICES)  # noqa: DJ001

    class Meta(labels.LabelEvent.Meta):
        ordering = ("pair", "version")  # type: ignore[assignment]  # one column less
        constraints = (models.UniqueConstraint(fields=("pair", "version"), name="preference_event_once"),)

    def __str__(self) -> str:
        return f"{self.verb}: {self.value or 'taken back'}"
