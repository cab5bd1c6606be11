"""What a campaign lacks, named: each kind of gap is found in one place, counted for its page and listed in full."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from assessor.campaigns.models import CONTROL, Answer, Campaign, Grade, Import, Run, RunDocument, Segment, Topic
from assessor.campaigns.queries import byte_order, lacking_docids, pooled
from assessor.desk.queries import state_of_loaded
from assessor.runtime.process_cache import cache
from assessor.scores.cache import last_imports
from assessor.scores.loading import as_stored, parsed

_NAMED = 5
_AT_A_TIME = 1_000
Rows = Iterable[tuple[str, ...]]


class Gap(NamedTuple):
    """Something that is missing: its page's name in addresses, how often, and the first few names."""

    name: str
    what: str
    size: int
    names: list[str]

    @property
    def text(self) -> str:
        """How much is missing, in a sentence."""
        return f"{self.size:,} {self.what}"


class Kind(NamedTuple):
    """A kind of gap: what a table of all of them has, and the rows of it; named: what the first few are called."""

    name: str  # of its page in addresses
    one: str
    what: str  # of several
    columns: tuple[str, ...]
    rows: Callable[[Campaign], Rows]
    named: Callable[[tuple[str, ...]], str] = lambda row: row[0]


def _docids(found: "QuerySet[Any]", campaign: Campaign) -> Rows:
    has_text = Segment.objects.filter(campaign=campaign, docid=OuterRef("docid"))
    lacking = found.filter(~Exists(has_text)).order_by("docid").values_list("docid").distinct()
    return lacking.iterator(_AT_A_TIME)


def _relevant(campaign: Campaign) -> Rows:
    """Yield what lacks a text and is relevant by the protocol, or to a condition with a lower threshold."""
    thresholds = campaign.conditions.order_by().values_list("min_relevant_grade", flat=True).distinct()
    least = min([campaign.protocol.min_relevant_grade, *(grade for grade in thresholds if grade)])
    return _docids(Grade.objects.filter(topic__campaign=campaign, grade__gte=least), campaign)


def _pooled(campaign: Campaign) -> Rows:
    return _docids(pooled(campaign), campaign)


def _cited(campaign: Campaign) -> Rows:
    """Yield the segments that answers cite and whose text is not loaded, looked for anew after each import."""
    key = f"cited.{_imports(campaign)}"
    found = cache.get_or_set(key, lambda: sorted(lacking_docids(campaign, set(cited_counts(campaign)))), timeout=None)
    return ((docid,) for docid in found or [])


def cited_counts(campaign: Campaign) -> Counter[str]:
    """Count the systems' answers that cite a segment, but for runs' own texts, by docid; anew after each import.

    A track's million citations take some seconds.
    """
    key = f"citing.{_imports(campaign)}"
    found: Counter[str] = cache.get_or_set(key, lambda: _count_cited(campaign), timeout=None)
    return found


def _imports(campaign: Campaign) -> str:
    count, last = last_imports(campaign)
    return f"{campaign.pk}.{count}.{last.timestamp() if last else 0}"


def _count_cited(campaign: Campaign) -> Counter[str]:
    answers = Answer.objects.filter(run__campaign=campaign, apart=False).exclude(run__task=CONTROL).order_by("pk")
    cited: Counter[str] = Counter()
    documents = RunDocument.objects.filter(run__campaign=campaign).order_by().values_list("run", "docid")
    own = set(documents.iterator(_AT_A_TIME))
    rows = answers.values_list("run", *as_stored("references", "content")).iterator(_AT_A_TIME)
    for run, (references, sentences) in ((run, parsed(texts)) for run, *texts in rows):
        docids = {
            references[citation] if isinstance(citation, int) else citation
            for sentence in sentences
            for citation in sentence["citations"]
        }
        cited.update(docid for docid in docids if (run, docid) not in own)
    return cited


def _topics(campaign: Campaign) -> "QuerySet[Topic]":
    topics: QuerySet[Topic] = Topic.objects.filter(campaign=campaign).order_by("qid")
    return topics


def _ungraded(campaign: Campaign) -> Rows:
    return _topics(campaign).filter(~Exists(Grade.objects.filter(topic=OuterRef("pk")))).values_list("qid", "title")


def _nothing_relevant(campaign: Campaign) -> Rows:
    graded = Grade.objects.filter(topic=OuterRef("pk"))
    relevant = graded.filter(grade__gte=campaign.protocol.min_relevant_grade)
    return _topics(campaign).filter(Exists(graded), ~Exists(relevant)).values_list("qid", "title")


def _pooled_ungraded(campaign: Campaign) -> Rows:
    """Yield the passages of the pool that nobody graded, of topics that somebody graded; anew when that changed.

    A track's pool takes a second or two.
    """
    key = f"pooled-ungraded.{state_of_loaded(campaign)}"
    return cache.get_or_set(key, lambda: list(_find_pooled_ungraded(campaign)), timeout=None) or []


def _find_pooled_ungraded(campaign: Campaign) -> Rows:
    # Its sources named, so that each passage is looked up by the key of grades.
    grades = Grade.objects.filter(source__in=list(campaign.qrels_sources.all()), topic=OuterRef("topic"))
    found = pooled(campaign).filter(Exists(grades), ~Exists(grades.filter(docid=OuterRef("docid"))))
    rows = found.order_by("topic__qid", "docid").values_list("topic__qid", "docid").distinct()
    return rows.iterator(_AT_A_TIME)


def _lacking_topics(campaign: Campaign) -> Rows:
    """Yield runs that answer not all topics: how many are lacking, and which."""
    own = Q(answers__import_record__state=Import.State.DONE, answers__apart=False)
    runs = Run.objects.filter(campaign=campaign).exclude(task=CONTROL).order_by("tag")
    every = dict(campaign.topics.order_by(byte_order("qid")).values_list("pk", "qid"))
    short = runs.annotate(answered=Count("answers", filter=own)).filter(answered__lt=len(every))
    found = Answer.objects.filter(run__in=short.values("pk"), apart=False).order_by()
    answered: dict[int, set[int]] = {}
    for run_id, topic in found.values_list("run", "topic").iterator(_AT_A_TIME):
        answered.setdefault(run_id, set()).add(topic)
    for run in short:
        lacking = [qid for topic, qid in every.items() if topic not in answered.get(run.pk, ())]
        yield run.tag, str(len(lacking)), " ".join(lacking)


def _empty(campaign: Campaign) -> Rows:
    empty = Answer.objects.filter(run__campaign=campaign, apart=False, words=0).exclude(run__task=CONTROL)
    return empty.order_by("run__tag", "topic__qid").values_list("run__tag", "topic__qid")


_FOUND_AT_ONCE = (
    Kind("relevant", "relevant passage has no text", "relevant passages have no text", ("docid",), _relevant),
    Kind("pooled", "passage of the pool has no text", "passages of the pool have no text", ("docid",), _pooled),
    Kind("ungraded", "topic has no grades", "topics have no grades", ("topic", "title"), _ungraded),
    Kind(
        "nothing-relevant",
        "graded topic has no relevant passage",
        "graded topics have no relevant passage",
        ("topic", "title"),
        _nothing_relevant,
    ),
    Kind(
        "pooled-ungraded",
        "passage of the pool has no grade",
        "passages of the pool have no grade",
        ("topic", "docid"),
        _pooled_ungraded,
        lambda row: f"{row[1]} for {row[0]}",
    ),
    Kind(
        "runs",
        "run did not answer every topic",
        "runs did not answer every topic",
        ("run", "lacking", "topics"),
        _lacking_topics,
        lambda row: f"{row[0]} ({row[1]})",
    ),
    Kind(
        "empty", "answer is empty", "answers are empty", ("run", "topic"), _empty, lambda row: f"{row[0]} on {row[1]}"
    ),
)
KINDS = {kind.name: kind for kind in _FOUND_AT_ONCE}
# Which take a moment to be found, so that the page of a campaign does not wait for them.
SLOW = {"cited": Kind("cited", "cited passage has no text", "cited passages have no text", ("docid",), _cited)}


def gaps(campaign: Campaign) -> list[Gap]:
    """Return what a campaign lacks, named; what it does not lack is left out. Looked for anew when that changed."""
    key = f"gaps.{state_of_loaded(campaign)}"
    return list(cache.get_or_set(key, lambda: _find_gaps(campaign), timeout=None) or [])


def _find_gaps(campaign: Campaign) -> list[Gap]:
    return [found for kind in KINDS.values() if (found := gap(campaign, kind)).size]


def gap(campaign: Campaign, kind: Kind) -> Gap:
    """Return how much of a kind is missing, and the first few."""
    size, first = 0, []
    for row in kind.rows(campaign):  # once through: counting alone takes as long
        size += 1
        if size <= _NAMED:
            first.append(kind.named(row))
    return Gap(kind.name, kind.one if size == 1 else kind.what, size, first)
