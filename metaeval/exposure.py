"""What somebody is exposed to by files of scores, comparisons, calibrations and studies: labels, on which topics."""

from collections.abc import Iterable

from django.db.models import QuerySet

from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Condition, Grade, QrelsSource, Topic
from assessor.campaigns.queries import without_practice
from assessor.scores.score_source import scoring_of
from assessor.studies.models import Sensitivity, Study
from assessor.studies.queries import judges_of, topics_of
from assessor.studies.sensitivity import conditions_of
from assessor.work.exposure import Seen
from metaeval.calibrations import source_of
from metaeval.models import Calibration, Comparison, Hybrid
from metaeval.queries import topics_asked


def seen_in_scores(condition: Condition) -> Seen:
    """Yield a condition that statistics are of, with the topics that have labels under it."""
    return seen_of_judges([condition])


def seen_in_comparison(comparison: Comparison) -> Seen:
    """Yield what a comparison is of, with the topics; of a table from elsewhere nobody knows who labelled for it."""
    topics = without_practice(comparison.campaign.topics.all(), "pk")
    asked = topics_asked(comparison)
    if asked is not None:
        topics = topics.filter(qid__in=asked)
    for record in (comparison.first, comparison.second, comparison.first_support, comparison.second_support):
        if isinstance(record, (Condition, QrelsSource)):
            yield record, _said(topics, record)


def seen_of_judges(judges: Iterable[Condition | QrelsSource]) -> Seen:
    """Yield conditions and sources of grades, with the topics that have labels there."""
    for judge in judges:
        yield judge, _said(without_practice(Topic.objects.filter(campaign=judge.campaign_id), "pk"), judge)


def seen_in_calibration(calibration: Calibration) -> Seen:
    """Yield both sides of a calibration, with the topics that have labels there."""
    return seen_of_judges([source_of(side) or side for side in (calibration.people, calibration.judged)])


def seen_in_hybrid(hybrid: Hybrid) -> Seen:
    """Yield what hybrid scores are of, with the topics."""
    return seen_of_judges((hybrid.human, hybrid.model))


def _said(topics: QuerySet[Topic], record: Condition | QrelsSource) -> QuerySet[Topic]:
    """Return those of the topics on which there are labels, or grades."""
    if isinstance(record, Condition):
        return _labelled(topics, record)
    return topics.filter(pk__in=Grade.objects.filter(source=record).order_by().values("topic"))


def _labelled(topics: QuerySet[Topic], condition: Condition) -> QuerySet[Topic]:
    rows = kind_of(condition).scored._default_manager.filter(condition__in=condition.label_sources).order_by()
    return topics.filter(pk__in=rows.values(scoring_of(condition.kind).topic))


def seen_in_study(study: Study) -> Seen:
    """Yield a condition of a study with its topics: labels of all its judges are of one kind, and of the same nuggets.

    It is one whose labels are a model's, if there is such a one.
    """
    conditions = [study.first, study.second, *judges_of(study)]
    yield next((one for one in conditions if one.is_a_models), study.first), topics_of(study)


def seen_in_sensitivity(study: Sensitivity) -> Seen:
    """Yield the conditions of a sensitivity study's variants, with the topics that have labels there."""
    return seen_of_judges(conditions_of(study).values())
