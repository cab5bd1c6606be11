"""What the pages of a campaign's collection list: topics, passages, runs and grades."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, Sum

from assessor.campaigns.condition_kind import kind_named
from assessor.campaigns.models import CONTROL, Answer, Campaign, Grade, QrelsSource, Run, Segment, Topic
from assessor.campaigns.models.texts import told
from assessor.desk.completeness import KINDS, SLOW
from assessor.desk.queries import state_of_loaded
from assessor.plan.models import Planned
from assessor.runtime.process_cache import cache
from assessor.scores.score_source import scored_kinds
from assessor.work.models import Task, Waiting
from nuggets.models import NuggetBank


class TopicFacts(NamedTuple):
    """How many passages are graded for a topic, by people or else by models, how many are relevant, and its answers."""

    graded: int = 0
    relevant: int = 0
    answers: int = 0


class RunFacts(NamedTuple):
    """How many answers a run has, their words, and how many are empty."""

    answers: int = 0
    words: int = 0
    empty: int = 0


class Facts(NamedTuple):
    """What is counted once after each import, by the keys of topics and runs."""

    topics: Mapping[int, TopicFacts]
    runs: Mapping[int, RunFacts]


def facts_of(campaign: Campaign) -> Facts:
    """Return the counts of a campaign's topics and runs; counted anew when that changed."""
    key = f"collection.{state_of_loaded(campaign)}"
    found: Facts = cache.get_or_set(key, lambda: _count(campaign), timeout=None)
    return found


def _count(campaign: Campaign) -> Facts:
    least = campaign.protocol.min_relevant_grade
    grades = Grade.objects.filter(source__campaign=campaign).order_by().values_list("topic", "source__by")
    counts = {
        "graded": Count("docid", distinct=True),
        "relevant": Count("docid", filter=Q(grade__gte=least), distinct=True),
    }
    by_people: dict[int, tuple[int, int]] = {}
    by_models: dict[int, tuple[int, int]] = {}
    for topic, by, *numbers in grades.annotate(**counts):
        (by_people if by == QrelsSource.By.PEOPLE else by_models)[topic] = tuple(numbers)
    graded = by_models | by_people
    answers = Answer.objects.filter(run__campaign=campaign, apart=False).order_by()
    answered = dict(answers.exclude(run__task=CONTROL).values_list("topic").annotate(Count("pk")))
    topics = {topic: TopicFacts(*graded.get(topic, (0, 0)), answered.get(topic, 0)) for topic in {*graded, *answered}}
    of_runs = answers.values_list("run").annotate(Count("pk"), Sum("words"), empty=Count("pk", filter=Q(words=0)))
    return Facts(topics, {run: RunFacts(*counts) for run, *counts in of_runs})


# Topics


class Mark(NamedTuple):
    """Who made something. kind: "person" or "model"."""

    name: str
    kind: str


class NuggetList(NamedTuple):
    """A list of nuggets in brief."""

    makers: Sequence[Mark]
    size: int
    is_open: bool


class TopicRow(NamedTuple):
    """A topic in a list."""

    topic: Topic
    facts: TopicFacts


class TopicState(NamedTuple):
    """What a topic's line tells besides. people, model: percent of judged answers that are done; None: there are none.

    state, look: a word and how it is marked.
    """

    lists: Sequence[NuggetList]
    people: int | None
    model: int | None
    state: str
    look: str


def topic_rows(campaign: Campaign, topics: Iterable[Topic]) -> list[TopicRow]:
    """Return topics with what was counted of them."""
    facts = facts_of(campaign).topics
    return [TopicRow(topic, facts.get(topic.pk, TopicFacts())) for topic in topics]


def judged_topics(campaign: Campaign) -> set[int]:
    """Return the keys of topics for which there are nuggets, labels or work."""
    of_topic = [NuggetBank.objects.filter(topic=OuterRef("pk")), Task.objects.filter(topic=OuterRef("pk"))]
    sheets = [
        kind_named(name).scored_records().filter(**{scoring.topic: OuterRef("pk")})
        for name, scoring in scored_kinds().items()
    ]
    said = Q()
    for rows in (*of_topic, *sheets):
        said |= Q(Exists(rows.filter(condition__campaign=campaign)))
    return set(campaign.topics.filter(said).order_by().values_list("pk", flat=True))


def topic_states(campaign: Campaign, topics: Collection[int]) -> dict[int, TopicState]:
    """Return who made nuggets of topics, how far labels are, and their state, by key."""
    lists: dict[int, list[NuggetList]] = defaultdict(list)
    banks = NuggetBank.objects.filter(topic__in=topics).select_related("maker", "condition__judge")
    for bank in banks.order_by("condition__name", "pk"):
        lists[bank.topic_id].append(NuggetList(makers_of(bank), len(bank.order), bank.state == NuggetBank.State.OPEN))
    conditions = campaign.conditions.select_related("judge")
    by_models = {one.pk for one in conditions if one.is_a_models}
    done: Counter[tuple[int, bool]] = Counter()
    total: Counter[tuple[int, bool]] = Counter()
    for name, scoring in scored_kinds().items():
        # Without the conditions PostgreSQL looks through the sheets of all campaigns.
        of_campaign = {f"{scoring.topic}__in": topics, "condition__in": [one.pk for one in conditions]}
        sheets = kind_named(name).scored_records().filter(**of_campaign).order_by()
        counted = sheets.values_list(scoring.topic, "condition").annotate(
            Count("pk"), done=Count("pk", filter=scoring.done)
        )
        for topic, condition, every, finished in counted:
            total[topic, condition in by_models] += every
            done[topic, condition in by_models] += finished
    tasks: dict[int, set[tuple[str, bool]]] = defaultdict(set)
    work = Task.objects.filter(topic__in=topics).exclude(state=Task.State.WITHDRAWN).order_by()
    for topic, done_or_open, paused in work.values_list("topic", "state", "paused"):
        tasks[topic].add((done_or_open, paused))
    waiting = set(Planned.objects.filter(topic__in=topics).values_list("topic", flat=True))
    in_queue = set(Waiting.objects.filter(topic__in=topics).values_list("topic", flat=True))

    def percent(topic: int, by_model: bool) -> int | None:
        every = total[topic, by_model]
        return 100 * done[topic, by_model] // every if every else None

    def state(topic: int) -> tuple[str, str]:
        if (Task.State.OPEN, False) in tasks[topic]:
            return "open", "run"
        if (Task.State.OPEN, True) in tasks[topic]:
            return "paused", "off"
        if topic in in_queue:
            return "in the queue", "off"
        if topic in waiting:
            return "waits", "off"
        if tasks[topic]:
            return "finished", "ok"
        shares = {percent(topic, by_model) for by_model in (True, False)} - {None}
        if shares:
            return ("labelled", "ok") if shares == {100} else ("partly labelled", "part")
        return ("nuggets only", "off") if lists[topic] else ("not planned", "off")

    return {
        topic: TopicState(lists[topic], percent(topic, False), percent(topic, True), *state(topic)) for topic in topics
    }


def makers_of(bank: NuggetBank) -> list[Mark]:
    """Return who made a list of nuggets: of one that people edit, who drafted it, too."""
    judge = bank.condition.judge
    shape = "model" if judge and judge.is_a_model else "person"
    drafted = [Mark(judge.name, shape)] if judge and bank.condition.is_by_people else []
    return [*drafted, Mark(bank.maker.name, "model" if bank.maker.is_a_model else "person")]


# Runs


class RunRow(NamedTuple):
    """A run in a list. lacking: topics that it did not answer; None for control runs."""

    run: Run
    answers: int
    words: float | None
    empty: int
    lacking: int | None


def run_rows(campaign: Campaign) -> list[RunRow]:
    """Return all runs with what was counted of them."""
    facts, topics = facts_of(campaign).runs, campaign.topics.count()
    return [_run_row(run, facts.get(run.pk, RunFacts()), topics) for run in campaign.runs.order_by("tag")]


def run_row(campaign: Campaign, run: Run) -> RunRow:
    """Return one run with what was counted of it."""
    return _run_row(run, facts_of(campaign).runs.get(run.pk, RunFacts()), campaign.topics.count())


def _run_row(run: Run, counted: RunFacts, topics: int) -> RunRow:
    words = counted.words / counted.answers if counted.answers else None
    lacking = None if run.task == CONTROL else topics - counted.answers
    return RunRow(run, counted.answers, words, counted.empty, lacking)


# Passages


class PassageRow(NamedTuple):
    """A passage in a list. topics: (key, topic id) for which it is graded; why: what needs its text.

    Not with which grade: it could be a model's, and nobody notes who sees it here.
    """

    docid: str
    title: str
    text: str | None
    topics: Sequence[tuple[int, str]]
    cited: int
    why: Sequence[str]


_NEEDS = {"relevant": "relevant", "pooled": "in the pool", "cited": "cited"}


def without_text(campaign: Campaign) -> dict[str, list[str]]:
    """Return the passages that have no text, by docid, each with the names of the gaps that it is part of."""
    key = f"without-text.{state_of_loaded(campaign)}"
    found: dict[str, list[str]] = cache.get_or_set(key, lambda: _find_without_text(campaign), timeout=None)
    return found


def _find_without_text(campaign: Campaign) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for name in _NEEDS:
        for (docid,) in (KINDS | SLOW)[name].rows(campaign):
            found[docid].append(name)
    return dict(sorted(found.items()))


def passage_rows(
    campaign: Campaign, docids: Sequence[str], gaps: Mapping[str, Sequence[str]], cited: Mapping[str, int]
) -> list[PassageRow]:
    """Return passages in the order of their docids. gaps, cited: what without_text() and cited_counts() have."""
    segments = Segment.objects.filter(campaign=campaign, docid__in=docids)
    texts = {docid: (extras, text) for docid, extras, text in segments.values_list("docid", "extras", "text")}
    grades = Grade.objects.filter(source__campaign=campaign, docid__in=docids).order_by("topic__qid")
    topics: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for docid, topic, qid in grades.values_list("docid", "topic", "topic__qid").distinct():
        topics[docid].append((topic, qid))
    rows = []
    for docid in docids:
        extras, text = texts.get(docid, ({}, None))
        why = [_NEEDS[name] for name in gaps.get(docid, ())]
        rows.append(PassageRow(docid, told(extras, "title"), text, topics[docid], cited.get(docid, 0), why))
    return rows


# Relevance


class Level(NamedTuple):
    """How many passages have a grade. percent: of those of its source."""

    grade: int
    number: int
    percent: float


class SourceRow(NamedTuple):
    """A source of grades, with the grades that it gave."""

    source: QrelsSource
    topics: int
    graded: int
    levels: Sequence[Level]


def grade_sources(campaign: Campaign) -> list[SourceRow]:
    """Return the sources of grades with their grades by level; counted anew when that changed."""
    found = cache.get_or_set(f"grades.{state_of_loaded(campaign)}", lambda: _count_grades(campaign), timeout=None)
    return list(found or [])


def _count_grades(campaign: Campaign) -> list[SourceRow]:
    grades = Grade.objects.filter(source__campaign=campaign).order_by()
    numbers: dict[int, dict[int, int]] = defaultdict(dict)
    for source, grade, number in grades.values_list("source", "grade").annotate(Count("pk")):
        numbers[source][grade] = number
    topics = dict(grades.values_list("source").annotate(topics=Count("topic", distinct=True)))
    rows = []
    for source in campaign.qrels_sources.select_related("condition"):
        own, levels = numbers[source.pk], range(source.max_grade, -1, -1)
        total = sum(own.values())
        of_levels = [Level(level, own.get(level, 0), 100 * own.get(level, 0) / (total or 1)) for level in levels]
        rows.append(SourceRow(source, topics.get(source.pk, 0), total, of_levels))
    return rows
