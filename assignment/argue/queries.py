"""What jobs, files and pages read of reports that are judged sentence by sentence."""

from collections.abc import Collection, Iterable, Mapping

from django.db.models import Count, QuerySet

from assessor.campaigns.models import CONTROL, Answer, Condition
from assessor.campaigns.queries import own_answers
from assessor.work.judging_pool import judged_under
from assignment.argue.items import item_of_key
from assignment.argue.models import ArgueSheet
from assignment.argue.vocabulary import ANSWERS, ATTESTS, FIRST, NEEDS, NEGATIVE
from nuggets.models import Nugget, NuggetBank

_STEPS = {
    ATTESTS: "does {docid} attest sentence {number}?",
    NEEDS: "does sentence {number} need a citation?",
    FIRST: "is sentence {number} the first that says it?",
    NEGATIVE: "does sentence {number} claim that nothing is known?",
}


def sheets_on(banks: Collection[NuggetBank], condition: Condition) -> QuerySet[ArgueSheet]:
    """Return the sheets of banks under a condition, out of scope too; none where it is not saved yet."""
    found: QuerySet[ArgueSheet] = ArgueSheet.in_or_out.filter(condition=condition.pk, bank__in=banks)
    return found


def sheets_with(condition: Condition, things: Collection[tuple[int, str]]) -> dict[tuple[int, str], int]:
    """Return the keys of a condition's sheets on which items are judged, by answer's key and item."""
    answers = {answer for answer, _ in things}
    sheets = ArgueSheet.objects.filter(condition=condition, answer__in=answers).order_by("pk")
    keys = dict(sheets.values_list("answer", "pk"))
    return {(answer, item): keys[answer] for answer, item in things}


def reports_without_sheet(condition: Condition, banks: Collection[NuggetBank]) -> list[int]:
    """Return the keys of the systems' reports that have no sheet of these banks yet, by topic."""
    answers = own_answers([bank.topic_id for bank in banks]).exclude(run__task=CONTROL).order_by("topic", "pk")
    known = set(sheets_on(banks, condition).values_list("answer", flat=True))
    judged = judged_under(condition)
    rows = answers.values_list("pk", "topic", "run")
    return [pk for pk, topic, run in rows if pk not in known and judged.holds(topic, run)]


def judged_reports(condition: Condition) -> dict[int, int]:
    """Count the reports that are judged completely, by topic's key; none where the condition is not saved yet."""
    done = ArgueSheet.objects.filter(condition=condition.pk, to_do=0, answer__apart=False)
    rows = done.exclude(answer__run__task=CONTROL).order_by().values_list("answer__topic").annotate(Count("pk"))
    return dict(rows) if condition.pk else {}


def reports_of(answers: Iterable[int]) -> QuerySet[Answer]:
    """Return answers with what is asked of them."""
    return Answer.objects.filter(pk__in=answers).select_related("topic", "run")


def item_texts(items: Collection[str]) -> dict[str, str]:
    """Return what items ask, in words, by their keys."""
    found = {item: item_of_key(item) for item in items}
    uids = {one.nugget for one in found.values() if one.nugget}
    rows = Nugget.objects.filter(uid__in=uids).order_by("pk").values_list("uid", "text", "gold")
    questions: Mapping[str, tuple[str, dict[str, str]]] = {
        str(uid): (text, {one["id"]: one["text"] for one in gold or ()}) for uid, text, gold in rows
    }
    texts = {}
    for key, item in found.items():
        number = item.sentence + 1
        if item.step == ANSWERS:
            text, gold = questions.get(item.nugget, ("", {}))
            where = f", which cites {item.docid}," if item.docid else ""
            texts[key] = f"does sentence {number}{where} answer “{text}” with “{gold.get(item.gold, '')}”?"
        else:
            texts[key] = _STEPS[item.step].format(docid=item.docid, number=number)
    return texts
