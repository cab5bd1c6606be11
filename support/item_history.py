"""What a citation that has a label is about, and what its label counts in scores."""

from django.db.models import QuerySet

from assessor.studies.models import SampledItem
from support.citations import NOT_JUDGED, Cited, cited_in, name_of, places
from support.measures import contributions
from support.models import SupportSheet


def item_text(sheet: SupportSheet, item: str) -> str:
    cited = _cited(sheet, item)
    return f"{cited.sentence} — {cited.docid}"


def sampled_as(sheet: SupportSheet, item: str) -> QuerySet[SampledItem]:
    """Return what studies drew of the answer that is this citation."""
    named = name_of(item, _cited(sheet, item).docid)
    drawn: QuerySet[SampledItem] = SampledItem.objects.filter(answer=sheet.answer_id, item=named)
    return drawn


def _cited(sheet: SupportSheet, item: str) -> Cited:
    return cited_in(list(sheet.answer.sentences()), [item])[item]


def contribution(sheet: SupportSheet, item: str, code: int) -> dict[str, tuple[float, float]]:
    """Return value and weight by measure: by itself where it is its sentence's first, and beside the others."""
    of_sentence = [key for key in sheet.asked if places(key)[0] == places(item)[0]]
    judged = sum((sheet.labels.get(key) or sheet.adopted.get(key)) != NOT_JUDGED for key in of_sentence)
    is_first = item == min(of_sentence, key=places, default="")
    return contributions(code, is_first, judged)
