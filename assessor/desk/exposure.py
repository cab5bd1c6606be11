"""What an organizer has seen of models' work on a topic who opens a page of it: noted as for screens and files."""

from collections.abc import Iterable

from assessor.accounts.models import Person
from assessor.campaigns.condition_kind import kind_of, names_of_grades
from assessor.campaigns.models import Condition, QrelsSource, Topic
from assessor.work.exposure import see
from nuggets.models import Drafting


def note_page(
    person: Person, topic: Topic, conditions: Iterable[Condition], sources: Iterable[QrelsSource] = ()
) -> None:
    """Note that a person sees what stands under conditions on a topic, and grades; once for a kind, if a model's."""
    seen = list(conditions)
    lists = [one for one in {one.nuggets or one for one in seen} if kind_of(one).makes_nuggets]
    drafted = set(
        Drafting.objects.filter(condition__in=lists).order_by().values_list("condition", flat=True).distinct()
    )
    kinds = {one.kind for one in seen if one.is_a_models}
    kinds.update(one.kind for one in lists if one.shows_a_models_nuggets(has_drafts=one.pk in drafted))
    if any(source.by == QrelsSource.By.MODEL for source in sources):
        kinds.update(names_of_grades())
    see(person, topic, kinds, "pages of the topic")
