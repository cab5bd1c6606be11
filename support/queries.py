"""What jobs, scores and pages read of support sheets."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from assessor.campaigns.models import CITING_CANARY, CONTROL, Answer, Campaign, Condition, Topic
from assessor.campaigns.passages import cited_texts
from assessor.campaigns.queries import answers_to, own_answers
from assessor.labels.flags import Place, Question, Reading, reading
from assessor.labels.history import said_under
from assessor.labels.models import Label
from assessor.labels.queries import COUNTED
from assessor.labels.shown_labels import differs
from assessor.studies.queries import is_sampled, sampled_under
from assessor.work.judging_pool import judged_under
from assessor.work.models import Task
from support.citations import FULL, LABELS, cited_in, judged_citations, key_of, name_of, places
from support.label_kind import POST_EDITED, SUPPORT
from support.models import LabelEvent, SupportJudgment, SupportSheet

_AT_A_TIME = 2_000


def answers_without_sheet(condition: Condition, topics: Sequence[Topic]) -> Iterator[list[Answer]]:
    """Yield the answers that a model judges and that have no sheet under a condition yet, some thousand at a time.

    Under a study's condition these are such of its sample alone.
    """
    known = set(SupportSheet.in_or_out.filter(condition=condition.pk, answer__topic__in=topics).values_list("answer"))
    judged = judged_under(condition)
    answers = answers_in_scope(condition, topics) if condition.sample else answers_for_model(topics)
    rows = answers.order_by("topic", "pk").values_list("pk", "topic", "run")
    new = iter([pk for pk, topic, run in rows if (pk,) not in known and judged.holds(topic, run)])
    while some := list(islice(new, _AT_A_TIME)):
        told = Answer.objects.filter(pk__in=some).order_by("topic", "pk")
        told = told.only("topic", "run", "form", "references", "content")
        yield [answer for answer in told if citations_are_known(answer)]


def answers_for_model(topics: Sequence[Topic]) -> QuerySet[Answer]:
    """Return the answers to topics that models judge: the systems' own, and those of canaries that cite something."""
    citing = Q(run__tag__startswith=CITING_CANARY)
    return own_answers([topic.pk for topic in topics]).filter(~Q(run__task=CONTROL) | citing)


def answers_in_scope(condition: Condition, topics: Sequence[Topic]) -> QuerySet[Answer]:
    """Return the systems' own answers to topics, under a study's condition those of its sample."""
    return answers_to(topics).filter(is_sampled(condition))


def to_judge(condition: Condition, answers: Sequence[Answer]) -> dict[int, dict[str, str]]:
    """Return which citations of answers are judged under a condition, by answer's key: docids by the citation's key.

    These are the first ones of each sentence, as many as the protocol says; of a study's sample those that were drawn.
    """
    if condition.sample:
        drawn = sampled_under(condition, [answer.pk for answer in answers])
        names = {answer: [one.item for one in found] for answer, found in drawn.items()}
        return {answer.pk: named_citations(answer, names.get(answer.pk, ())) for answer in answers}
    most = condition.protocol.citations_per_sentence
    return {answer.pk: judged_citations(answer.sentences(), most) for answer in answers}


def named_citations(answer: Answer, names: Collection[str]) -> dict[str, str]:
    """Return those citations of an answer that have one of these names: docids by the citation's key."""
    found = judged_citations(answer.sentences(), None)
    return {key: docid for key, docid in found.items() if name_of(key, docid) in names}


def citations_are_known(answer: Answer) -> bool:
    """Say whether it is known what an answer cites; not of a bare text that came with labels of nuggets."""
    return answer.form != Answer.Form.TEXT or any(sentence["citations"] for sentence in answer.content)


def unfinished_sheets(condition: Condition, topics: Sequence[Topic]) -> QuerySet[SupportSheet]:
    """Return the sheets with citations of which nothing is said, be it that their text is not loaded.

    None is of a text that has given way to what the run itself answered.
    """
    lacking = Q(to_do__gt=0) | Q(without_text__gt=0)
    return SupportSheet.objects.filter(lacking, condition=condition.pk, answer__topic__in=topics, answer__apart=False)


def labelled_answers(condition: Condition) -> dict[int, int]:
    """Count the answers all of whose judged citations have a label, by topic's key; none where it is not saved yet."""
    done = SupportSheet.objects.filter(condition=condition.pk, to_do=0, without_text=0, answer__apart=False)
    rows = done.order_by().values_list("answer__topic").annotate(Count("pk"))
    return dict(rows) if condition.pk else {}


def supporting(campaign: Campaign) -> QuerySet[Condition]:
    """Return the conditions under which support is judged, by people, a model or a file; no panels."""
    given = campaign.conditions.filter(kind=SUPPORT.name).exclude(method=Condition.PANEL)
    return given.select_related("judge", "shown__judge", "manual_setup")


def given_labels(condition: Condition, topic: Topic | None = None) -> dict[int, dict[str, str]]:
    """Return the labels of a condition by answer's key and citation's; what is not one of the three is none."""
    rows = SupportJudgment.in_or_out.filter(sheet__condition=condition, state=Label.State.GIVEN, value__in=LABELS)
    if topic:
        rows = rows.filter(sheet__answer__topic=topic)
    found: dict[int, dict[str, str]] = defaultdict(dict)
    for answer, sentence, citation, label in rows.values_list("sheet__answer", "sentence", "citation", "value"):
        found[answer][key_of(sentence, citation)] = str(label)
    return found


def supported_sentences(condition: Condition, topics: Sequence[Topic]) -> dict[int, list[tuple[int, int]]]:
    """Return the sentences of which a citation has the label of full support, what counts in scores being its label.

    As kinds have them: (answer's key, the sentence's place), by topic's key; none of control runs and canaries.
    """
    rows = SupportJudgment.objects.annotate(counted=COUNTED).filter(
        counted=FULL, sheet__condition=condition, sheet__answer__topic__in=topics, sheet__answer__apart=False
    )
    rows = rows.exclude(sheet__answer__run__task=CONTROL)
    columns = ("sheet__answer__topic", "sheet__answer", "sentence")
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for topic, answer, sentence in rows.order_by(*columns).values_list(*columns).distinct():
        found[topic].append((answer, sentence))
    return found


def sheets_on(task: Task) -> QuerySet[SupportSheet]:
    """Return all sheets of a task's topic under its condition, whoever has them."""
    return SupportSheet.objects.filter(condition=task.condition_id, answer__topic=task.topic_id)


def with_judges(topic: int) -> QuerySet[SupportSheet]:
    """Return the sheets on a topic, by its key, of which somebody is asked something, under whatever condition."""
    return SupportSheet.in_or_out.filter(answer__topic=topic).filter(total__gt=0)


class Progress(NamedTuple):
    """How far sheets are, in citations. Those that are unresolved or wait are in neither done nor total.

    silent: answers that cite nothing.
    """

    done: int
    total: int
    unresolved: int
    waiting: int
    silent: int


def progress(sheets: QuerySet[SupportSheet]) -> Progress:
    """Count the citations of sheets."""
    counts = ("total", "to_do", "without_text", "waiting_for_label")
    silent = Count("pk", filter=Q(total=0, without_text=0, waiting_for_label=0))
    found = sheets.order_by().aggregate(silent=silent, **{name: Coalesce(Sum(name), 0) for name in counts})
    total, to_do, without_text, waiting = (found[name] for name in counts)
    return Progress(total - to_do, total, without_text, waiting, found["silent"])


class Said(NamedTuple):
    """What stands of a citation, with the active seconds that were spent on it; what there isn't is empty."""

    item: str  # the citation's key
    sentence: int  # from 1
    docid: str
    text: str
    label: str
    shown: str
    cannot: str
    flag: str
    state: str  # why nobody is asked about it
    seconds: int | None
    under: int | None  # the version of the guidelines

    @property
    def differs(self) -> str:
        return differs(self.label, self.shown)


class Judged(NamedTuple):
    """An answer as an organizer sees it."""

    sheet: SupportSheet
    said: list[Said]
    uncited: int  # sentences without citations
    seconds: int
    last: datetime | None


def all_sheets(task: Task) -> QuerySet[SupportSheet]:
    """Return all sheets of a task, in the order in which they were shuffled."""
    sheets = SupportSheet.in_or_out.filter(task=task).select_related("answer__run")
    return SupportSheet.with_items(sheets.order_by("place", "pk"))


UNRESOLVED = "its text is not loaded"
WAITING = "waiting for the model's label"
WITH_EQUAL = "judged with an equal one"


def judged(sheets: Iterable[SupportSheet]) -> list[Judged]:
    """Return sheets with all that was said on them, for organizers: runs are named."""
    found = list(sheets)
    seconds: dict[tuple[int, str], int] = defaultdict(int)
    last: dict[int, datetime] = {}
    events = LabelEvent.objects.filter(sheet__in=found)
    told = ("sheet", "seconds", "at", "equal_to")
    for sheet, spent, at, equal_to, changes in LabelEvent.changes_of(events.order_by("at"), *told):
        last[sheet] = at
        if spent is not None and equal_to is None:  # what is judged with an equal one takes no time
            for citation in changes:
                seconds[sheet, citation] += spent
    under = said_under(events)
    return [_judged(sheet, seconds, last.get(sheet.pk), under) for sheet in found]


def _judged(
    sheet: SupportSheet,
    seconds: Mapping[tuple[int, str], int],
    last: datetime | None,
    under: Mapping[tuple[int, str], int],
) -> Judged:
    sentences, settled = list(sheet.answer.sentences()), sheet.settled_elsewhere
    columns = (sheet.labels, sheet.shown, sheet.cannot, sheet.flags)
    unresolved, waiting = sheet.unresolved, sheet.waiting
    rows = []
    for key in sheet.asked:
        sentence = places(key)[0]
        at = sentences[sentence]
        label, shown, cannot, flag = (column.get(key, "") for column in columns)
        state = UNRESOLVED if key in unresolved else WAITING if key in waiting else ""
        state = WITH_EQUAL if key in settled else state
        spent, read = seconds.get((sheet.pk, key)), under.get((sheet.pk, key))
        docid = sheet.labels_by_item[key].docid
        rows.append(Said(key, sentence + 1, docid, at.text, label, shown, cannot, flag, state, spent, read))
    uncited = sum(not sentence.citations for sentence in sentences)
    return Judged(sheet, rows, uncited, sum(row.seconds or 0 for row in rows), last)


class About(NamedTuple):
    """What a question is about: a sentence, by its number from 1, and what it cites."""

    sentence: int
    text: str
    docid: str


def with_citations(found: Sequence[Question]) -> list[tuple[Question, About]]:
    """Return what is open on sheets, each with what it is about."""
    return [(question, _about(question.sheet.answer, question.item)) for question in found]


def _about(answer: Answer, key: str) -> About:
    cited = cited_in(list(answer.sentences()), [key])[key]
    return About(places(key)[0] + 1, cited.sentence, cited.docid)


def read_passages(campaign: Campaign, asked: Sequence[Place]) -> dict[Place, Reading]:
    """Return the passages that citations of judged answers are about; what has no text is absent."""
    found = SupportSheet.objects.filter(pk__in={sheet for sheet, _ in asked}).select_related("answer").in_bulk()
    about = {place: found[place[0]].answer for place in asked if place[0] in found}
    cited = {place: (answer.run_id, _about(answer, place[1]).docid) for place, answer in about.items()}
    texts = cited_texts(campaign, cited.values())
    return {place: reading(f"Passage {one[1]}", texts[one]) for place, one in cited.items() if one in texts}


def waiting_for_a_model(campaign: Campaign) -> dict[int, int]:
    """Count the citations that can't be judged because a model gave them no label, by task's key."""
    post_edited = campaign.conditions.filter(method=POST_EDITED)
    sheets = SupportSheet.objects.filter(condition__in=post_edited, waiting_for_label__gt=0).exclude(task=None)
    return dict(sheets.order_by().values_list("task").annotate(Sum("waiting_for_label")))
