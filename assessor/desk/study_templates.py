"""Studies that an organizer can choose from, and the conditions that each of them needs."""

import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from django.forms import ModelChoiceField

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.actions import ConditionError, create_condition
from assessor.campaigns.condition_kind import condition_kinds
from assessor.campaigns.forms import ConditionFields
from assessor.campaigns.models import Campaign, Condition, QrelsSource
from assessor.llm.actions import JobError, plan_job
from assessor.llm.job_kind import Grades, job_kind_named
from assessor.llm.models import ModelJudge
from assessor.plan.hours import HOUR, PUBLISHED

_FILE = Path(__file__).with_name("study_templates.toml")
_CHOSEN = "study chosen"  # in the history


class Part(NamedTuple):
    """A condition of a study. people: the method under which they work, or model: the kind of its job.

    on: the name of the part whose nuggets it labels, or whose labels people are shown.
    """

    name: str
    people: str = ""
    model: str = ""
    on: str = ""

    @property
    def method(self) -> str:
        return self.people or job_kind_named(self.model).method


class StudyTemplate(NamedTuple):
    """A study to choose."""

    key: str
    title: str
    text: str
    parts: Sequence[Part]

    @property
    def hours(self) -> float:
        """Hours of people for a topic, where any were published; labels are not among them."""
        return sum(PUBLISHED.get(part.method, 0) for part in self.parts) / HOUR


class Planned(NamedTuple):
    """A part as a campaign has it. lacks: what it can't be made without, in words; for one that is made, nothing."""

    part: Part
    condition: Condition | None
    lacks: str

    @property
    def waits(self) -> bool:
        """Whether another part has to come first, or its nuggets have to be finished."""
        on = self.part.on
        return bool(on and not self.condition and (self.lacks == f"{on} first" or (self.part.model and not self.lacks)))


class _Lacking(Exception):
    """A part can't be made yet; the text says for want of what."""


@cache
def study_templates() -> dict[str, StudyTemplate]:
    """Return all templates, by key."""
    found = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {
        key: StudyTemplate(key, one["title"], one["text"], [Part(**part) for part in one["conditions"]])
        for key, one in found.items()
    }


def chosen_template(campaign: Campaign) -> StudyTemplate | None:
    """Return the study that was chosen last."""
    event = campaign.events.filter(verb=_CHOSEN).order_by("-pk").first()
    return study_templates().get(event.details.get("study", "")) if event else None


def planned(campaign: Campaign, template: StudyTemplate) -> list[Planned]:
    """Return the parts of a study with their conditions, or what each lacks."""
    parts = _Parts(campaign)
    return [parts.look_at(part) for part in template.parts]


def choose_study(*, campaign: Campaign, template: StudyTemplate, acting_user: Person) -> list[Condition]:
    """Make the conditions of a study that can be made by now; return the new ones. Again it makes what it could not."""
    if chosen_template(campaign) != template:
        history.record(_CHOSEN, template.title, campaign=campaign, person=acting_user, study=template.key)
    parts, made = _Parts(campaign), []
    for part in template.parts:
        if parts.look_at(part).lacks or parts.made.get(part.name):
            continue
        try:
            made.append(parts.make(part, acting_user))
        except (ConditionError, JobError):  # a job whose nuggets are not finished: its launch makes the condition
            continue
    return made


class _Parts:
    """Finds the conditions of parts, one after the other, and makes them."""

    def __init__(self, campaign: Campaign) -> None:
        self.made: dict[str, Condition] = {}  # by the names of parts
        self._campaign = campaign
        rows = campaign.conditions.filter(sample="").select_related("judge", "nuggets", "shown").order_by("pk")
        self._conditions = list(rows)
        self._judge = campaign.model_judges.select_related("judge").order_by("pk").first()
        self._sources = list(campaign.qrels_sources.order_by("pk"))
        self._fields = self._read_fields()

    def _read_fields(self) -> dict[str, ConditionFields]:
        """Return the parts of the form of new conditions by method: they offer what is there now."""
        fields = [part for kind in condition_kinds() if (part := kind.condition_fields(self._campaign))]
        return {method: part for part in fields for method in part.METHODS}

    def look_at(self, part: Part) -> Planned:
        base = self.made.get(part.on)
        same = (one for one in self._conditions if one.method == part.method)
        condition = next((one for one in same if not part.on or base in (one.nuggets, one.shown)), None)
        if condition and (base or not part.on):
            self.made[part.name] = condition
            return Planned(part, condition, "")
        try:
            if part.on and base is None:
                raise _Lacking(f"{part.on} first")
            _ = self._filled_in(part) if part.people else self._asked(part)
        except _Lacking as lacking:
            return Planned(part, None, str(lacking))
        return Planned(part, None, "")

    def make(self, part: Part, acting_user: Person) -> Condition:
        """Make the condition of a part that lacks nothing. Raises ConditionError and JobError."""
        if part.people:
            fields = self._fields[part.people]
            filled_in = self._filled_in(part) | {"method": part.people, "name": part.name}
            condition = fields.create(filled_in, acting_user=acting_user)
        else:
            judge, source = self._asked(part)
            plan = plan_job(
                kind=job_kind_named(part.model),
                judge=judge,
                name=part.name,
                qrels_source=source,
                topics=list(self._campaign.topics.all()),
                nuggets=self.made.get(part.on),
            )
            condition = create_condition(plan.condition, acting_user=acting_user)
        self._conditions.append(condition)
        self._fields = self._read_fields()
        self.made[part.name] = condition
        return condition

    def _filled_in(self, part: Part) -> dict[str, Any]:
        """Return what the form of new conditions would have for a part."""
        fields = self._fields[part.people]
        filled_in: dict[str, Any] = dict.fromkeys(fields.fields)
        for name in fields.NEEDS.get(part.people, ()):
            field = fields.fields[name]
            if not isinstance(field, ModelChoiceField):
                continue
            base = self.made.get(part.on)
            wanted = field.queryset.filter(pk=base.pk) if base else field.queryset.order_by("pk")  # type: ignore[union-attr]
            filled_in[name] = wanted.first()
            if filled_in[name] is None and name not in fields.OPTIONAL:
                raise _Lacking("people's grades" if field.queryset.model is QrelsSource else part.on)  # type: ignore[union-attr]
        return filled_in

    def _asked(self, part: Part) -> tuple[ModelJudge, QrelsSource | None]:
        """Return the judge of a part, and the grades that it builds on."""
        grades = job_kind_named(part.model).grades
        peoples = [one for one in self._sources if one.by == QrelsSource.By.PEOPLE]
        lacking = list(self._lacking(grades, bool(peoples)))
        if lacking or self._judge is None:
            raise _Lacking(" and ".join(lacking))
        if grades == Grades.NONE:
            return self._judge, None
        models = [one for one in self._sources if one.by == QrelsSource.By.MODEL]
        return self._judge, (peoples if grades == Grades.PEOPLES else [*models, *peoples])[0]

    def _lacking(self, grades: Grades, has_peoples: bool) -> Iterator[str]:
        if self._judge is None:
            yield "a judge"
        if grades == Grades.PEOPLES and not has_peoples:
            yield "people's grades"
        elif grades == Grades.ANY and not self._sources:
            yield "grades"
