"""The way from a new campaign to its first labels: what is done, and what comes next, read from the database."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef

from assessor.campaigns.condition_kind import IMPORTED
from assessor.campaigns.models import Campaign, Condition, Import, Membership, Role, Topic
from assessor.desk import queries
from assessor.desk.study_templates import chosen_template
from assessor.formats.report import quantity
from assessor.llm.models import Job, ModelJudge
from assessor.work.models import Task


class Step(NamedTuple):
    """A step of setting up. name: of its section on the page; text: what is done, or what is to be done."""

    name: str
    title: str
    text: str
    is_done: bool


class Setup(NamedTuple):
    """All steps of a campaign."""

    steps: Sequence[Step]

    @property
    def now(self) -> Step | None:
        """The step that comes next; None where all are done."""
        return next((step for step in self.steps if not step.is_done), None)


def setup_of(campaign: Campaign) -> Setup:
    """Return the steps of a campaign."""
    has = _has(campaign)
    study = chosen_template(campaign)
    people = [what for name, what in (("assessors", "people"), ("judges", "a model")) if has[name]]
    begun = [what for name, what in (("tasks", "Work is given"), ("jobs", "A job was launched")) if has[name]]
    return Setup(
        [
            Step("name", "Name the campaign", f"{campaign} · you organize it", True),
            Step(
                "files",
                "Load the files",
                "Some files need you." if has["held"] else _loaded(campaign) if has["topics"] else "Drop all of them.",
                has["topics"] and not has["held"],
            ),
            Step("protocol", "Choose the protocol", f"{campaign.protocol} is used.", True),
            Step(
                "study",
                "Choose the study",
                study.title if study else "Which conditions you want side by side.",
                bool(study) or has["conditions"],
            ),
            Step(
                "people",
                "Invite people, connect a model",
                f"{' and '.join(people).capitalize()} can work." if people else "Either is enough to begin.",
                bool(people),
            ),
            Step("work", "Give work or launch a job", " · ".join(begun) or "Labels come in from here.", bool(begun)),
        ]
    )


def _has(campaign: Campaign) -> dict[str, Any]:
    """Say what a campaign has, in one query."""
    rows: dict[str, Any] = {
        "topics": Topic.objects,
        "conditions": Condition.objects.exclude(method=IMPORTED),
        "assessors": Membership.objects.filter(role=Role.ASSESSOR, until=None),
        "judges": ModelJudge.objects,
        "tasks": Task.objects,
        "jobs": Job.objects,
        "held": Import.objects.filter(state=Import.State.HELD),
    }
    exist = {f"has_{name}": Exists(of.filter(campaign=OuterRef("pk"))) for name, of in rows.items()}
    found: dict[str, Any] = dict(Campaign.objects.filter(pk=campaign.pk).values(**exist).get())
    return {name: found[f"has_{name}"] for name in rows}


def _loaded(campaign: Campaign) -> str:
    loaded = queries.loaded(campaign)
    numbers = {"topics": loaded["topics"], "passages": loaded["segments"], "runs": loaded["runs"]}
    numbers["sources of grades"] = len(loaded["sources"])
    return ", ".join(quantity(number, what) for what, number in numbers.items() if number)
