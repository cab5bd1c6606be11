"""What apps and pages read of studies."""

from collections.abc import Collection, Iterable, Sequence

from django.db.models import Count, Q, QuerySet

from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.campaigns.queries import byte_order, told_sides
from assessor.studies.models import Coding, Registration, SampledItem, Sensitivity, Study


def sample_of(condition: Condition) -> QuerySet[SampledItem]:
    """Return what is to be labelled under a study's condition."""
    return SampledItem.objects.filter(study__campaign=condition.campaign_id, study__name=condition.sample)


def is_sampled(condition: Condition) -> Q:
    """Return which answers are labelled under a condition: those of its study's sample, or all where it has none."""
    if not condition.sample:
        return Q()
    if not condition.variant:
        return Q(pk__in=sample_of(condition).values("answer"))
    study = Sensitivity.objects.get(campaign=condition.campaign_id, name=condition.sample)
    return Q(topic__qid__in=study.topics, run__tag__in=study.runs, run__campaign=study.campaign_id)


def sampled_under(condition: Condition, answers: Iterable[int]) -> dict[int, list[SampledItem]]:
    """Return what of answers is to be labelled under a study's condition, by answer's key."""
    found: dict[int, list[SampledItem]] = {}
    drawn = sample_of(condition).select_related("study").filter(answer__in=list(answers))
    for one in drawn.order_by("pk"):
        found.setdefault(one.answer_id, []).append(one)
    return found


def studies_of(campaign: Campaign) -> QuerySet[Study]:
    """Return a campaign's studies with how much was drawn for each (items) and on how many topics."""
    counts = {"items": Count("drawn"), "topics": Count("drawn__answer__topic", distinct=True)}
    studies = campaign.studies.select_related("campaign").prefetch_related(*told_sides("first", "second"))
    return studies.annotate(**counts)


def judges_of(study: Study) -> QuerySet[Condition]:
    """Return the conditions under which a study's sample is labelled, in the order in which they were made."""
    conditions = study.campaign.conditions.filter(kind=study.kind, sample=study.name)
    return conditions.select_related(*Condition.TOLD_WITH).order_by("pk")


def judges_of_all(studies: Collection[Study]) -> dict[int, list[Condition]]:
    """Return the conditions under which samples of studies of one campaign are labelled, by the study's key."""
    if not studies:  # to put together a query that asks nothing takes 5 ms
        return {}
    named = {study.name: study.pk for study in studies}
    found: dict[int, list[Condition]] = {study.pk: [] for study in studies}
    campaigns = {study.campaign_id for study in studies}
    conditions = Condition.objects.filter(campaign__in=campaigns, sample__in=named)
    for condition in conditions.select_related(*Condition.TOLD_WITH).order_by("pk"):
        found[named[condition.sample]].append(condition)
    return found


def topics_of(study: Study) -> QuerySet[Topic]:
    """Return the topics on which something was drawn, by their ids."""
    return Topic.objects.filter(pk__in=study.drawn.order_by().values("answer__topic")).order_by("qid")


def items_of(study: Study) -> QuerySet[SampledItem]:
    """Return what was drawn with its answer, by topic, run and in the order of the draw."""
    drawn = study.drawn.select_related("answer__topic", "answer__run")
    return drawn.order_by(byte_order("answer__topic__qid"), byte_order("answer__run__tag"), "pk")


def codings_of(drawn: QuerySet[SampledItem] | Sequence[SampledItem]) -> dict[int, Coding]:
    """Return the coding that counts of each item that has one, by the item's key."""
    codings = Coding.objects.filter(drawn__in=drawn).order_by("pk")
    return {coding.drawn_id: coding for coding in codings}


class Registrations:
    """The registered studies of a campaign, and what they say of comparisons of its conditions."""

    def __init__(self, campaign: Campaign) -> None:
        self._all = [one for one in campaign.registrations.all() if one.is_intact]
        # Nobody can say when imported labels were given.
        own = campaign.conditions.exclude(method=Condition.IMPORTED).values_list("pk", "name")
        self._names: dict[int | None, str] = dict(own) if self._all else {}

    def __bool__(self) -> bool:
        return bool(self._all)

    def covering(self, *conditions: int | None) -> Registration | None:
        """Return the first study that names all of these conditions, by key; None is no condition, so none does."""
        names = {self._names.get(one) for one in conditions}
        return next((one for one in self._all if names <= set(one.document["conditions"])), None)

    def status(self, *conditions: int | None) -> str:
        """Say for files whether a comparison of conditions is registered; "" where the campaign has no such study."""
        if not self:
            return ""
        found = self.covering(*conditions)
        return f"registered: {found.title}, sha256 {found.sha256}" if found else "exploratory"
