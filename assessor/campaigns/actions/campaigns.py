"""The writers of campaigns, protocols, conditions and judges."""

from itertools import chain, count
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils.text import slugify

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.actions.people import add_member
from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import SCALES, Campaign, Condition, Judge, Protocol, QrelsSource, Role
from assessor.runtime.sql import Parameter, Prepared

_JUDGE = Prepared(Judge.objects.filter(person=Parameter("person")))


class ConditionError(Exception):
    """There can be no such condition; the text says why."""


@transaction.atomic
def create_campaign(*, name: str, slug: str, acting_user: Person | None) -> Campaign:
    """Make a campaign with the default protocol; who makes it organizes it. Raises ValidationError for odd names."""
    campaign = Campaign(name=name, slug=slug, created_by=acting_user)
    campaign.full_clean()
    campaign.save()
    Protocol.objects.create(campaign=campaign, version=1, created_by=acting_user)
    history.record("campaign created", campaign, campaign=campaign, person=acting_user)
    if acting_user:
        add_member(campaign=campaign, person=acting_user, role=Role.ORGANIZER, acting_user=acting_user)
    return campaign


def free_slug(name: str) -> str:
    """Return a short name that no campaign has, made from a campaign's name."""
    start = slugify(name)[:50] or "campaign"
    taken = set(Campaign.objects.filter(slug__startswith=start).values_list("slug", flat=True))
    numbered = (f"{start}-{number}" for number in count(2))
    return next(slug for slug in chain([start], numbered) if slug not in taken)


@transaction.atomic
def change_protocol(*, campaign: Campaign, settings: dict[str, Any], acting_user: Person) -> Protocol:
    """Put new settings in force, as the next version of the protocol; those not named stay as they are.

    Without a change, the present version stays.
    """
    present = campaign.protocol
    changed = {name: value for name, value in settings.items() if getattr(present, name) != value}
    if not changed:
        return present
    newest = campaign.protocols.aggregate(Max("version"))["version__max"]
    wanted = {name: getattr(present, name) for name in Protocol.SETTINGS} | settings
    protocol = Protocol.objects.create(campaign=campaign, version=newest + 1, created_by=acting_user, **wanted)
    before = {name: getattr(present, name) for name in changed}
    history.record("protocol changed", protocol, campaign=campaign, person=acting_user, before=before, after=changed)
    return protocol


_LONGEST = {"name": 120, "description": 700}  # in characters; the description is what Condition.identity keeps


@transaction.atomic
def name_for_assessors(*, condition: Condition, name: str, acting_user: Person | None) -> None:
    """Say what assessors read instead of a condition's name; "" for the kind of work."""
    condition.assessor_name = " ".join(name.split())
    condition.save(update_fields=["assessor_name"])
    history.record(
        "condition named for assessors",
        condition,
        campaign=condition.campaign,
        person=acting_user,
        name=condition.assessor_name,
    )


def create_condition(
    condition: Condition, *, acting_user: Person | None, protocol: Protocol | None = None
) -> Condition:
    """Save a new condition under the protocol in force, or under another one of its campaign's.

    A condition under which passages are graded gets its own source of grades, of the same name. Raises ConditionError
    for grades that a model gave where people's are asked for, and for a condition or a name that there is already.
    """
    try:
        with transaction.atomic():
            return _create_condition(condition, acting_user, protocol)
    except IntegrityError as error:
        raise ConditionError("Somebody made such a condition at the same moment: load the page again.") from error


def _create_condition(condition: Condition, acting_user: Person | None, protocol: Protocol | None) -> Condition:
    campaign, source = condition.campaign, condition.qrels_source
    kind = kind_of(condition)
    # Whose assessors see the passages of people's grades, and no other's.
    if kind.makes_nuggets and condition.is_by_people and (source is None or source.by != QrelsSource.By.PEOPLE):
        raise ConditionError(f"{condition.method} takes people's grades only; those of {source} are a model's.")
    if kind.needs_nuggets and condition.nuggets and (misfit := kind.misfit(condition.nuggets)):
        raise ConditionError(misfit)
    if kind.matches_banks and (misfit := kind.misfit_of_other(condition.nuggets, condition.other_nuggets)):
        raise ConditionError(misfit)
    if kind.support and (misfit := kind.misfit_of_support(condition.support)):
        raise ConditionError(misfit)
    condition.protocol = protocol or campaign.protocol
    condition.created_by = acting_user
    if kind.makes_nuggets and source and condition.relevance_threshold > source.max_grade:
        raise ConditionError(
            f"{source} is graded {SCALES[source.max_grade]}: no passage would be relevant from "
            f"{condition.relevance_threshold} on. Choose a lower grade."
        )
    for what, text in (("name", condition.name), ("description", condition.describe())):
        if len(text) > _LONGEST[what]:
            raise ConditionError(f"The condition's {what} is longer than {_LONGEST[what]} characters: {text}")
    others = Condition.everything.filter(campaign=campaign)  # those that an import is bringing have their names too
    if same := others.filter(identity=condition.describe()).first():
        raise ConditionError(f"{same} is that condition already: {same.identity}.")
    if others.filter(name=condition.name).exists():
        raise ConditionError(f"The campaign has another condition called {condition.name}: choose another name.")
    if kind.makes_grades and _has_grades_called(campaign, condition.name):
        raise ConditionError(f"The campaign has other grades called {condition.name}: choose another name.")
    condition.save()
    if kind.makes_grades:
        grades_made_under(condition)
    history.record("condition created", condition, campaign=campaign, person=acting_user, identity=condition.identity)
    return condition


def mark_panels(judge: Judge) -> None:
    """Have panels say that some of what their members gave was a rehearsal, where that is a judge's."""
    given = set(Condition.everything.filter(judge=judge).values_list("campaign", "name"))
    panels = Condition.everything.filter(method=Condition.PANEL, campaign__in={campaign for campaign, _ in given})
    marked = [one.pk for one in panels if any((one.campaign_id, name) in given for name in one.panel["members"])]
    Condition.everything.filter(pk__in=marked).update(has_rehearsals=True)


def _has_grades_called(campaign: Campaign, name: str) -> bool:
    return QrelsSource.everything.filter(campaign=campaign, name=name).exists()


def grades_made_under(condition: Condition) -> QrelsSource:
    """Return the source of the grades that are made under a condition; make it where there is none yet."""
    by = QrelsSource.By.MODEL if condition.judge_id else QrelsSource.By.PEOPLE
    defaults = {"campaign": condition.campaign, "name": condition.name, "by": by, "max_grade": condition.max_grade}
    source, _ = QrelsSource.everything.get_or_create(condition=condition, defaults=defaults)
    return source


def judge_of(person: Person) -> Judge:
    """Return the judge that a person is."""
    for judge in _JUDGE.fetch(person=person.pk):
        return judge
    judge, _ = Judge.objects.get_or_create(person=person, defaults={"kind": Judge.Kind.PERSON, "name": str(person)})
    return judge
