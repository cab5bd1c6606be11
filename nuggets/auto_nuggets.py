"""The two kinds of job in which a model makes nuggets: whole banks, and drafts for people to edit.

The model reads the topic's relevant segments in windows, in the order in which the project writes qrels: by docid, in
byte order. After each window it returns its whole list of nuggets, brought up to date. For a bank it is then asked how
important each nugget of its last list is; drafts have no importance, which is for the person to decide.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import Count, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Length

from assessor.campaigns.models import Condition, Grade, Segment, Topic
from assessor.campaigns.queries import byte_order
from assessor.labels.queries import topics_at_work
from assessor.llm.job_kind import Ask, Expected, Grades, JobKind, TopicState, UnitFailure
from assessor.llm.models import Job, Unit
from assessor.llm.prompts import PromptSet
from nuggets.actions.drafts import store_drafting
from nuggets.drafting import Cut, Step, in_batches
from nuggets.models import Drafting
from nuggets.prompts import CREATION_PROMPT, IMPORTANCE_PROMPT, TOKENS_NUGGET

# What to expect of a nugget and of a label where nothing is known yet.
_NUGGET_CHARACTERS = 60
_LABEL_TOKENS = 4


class Work(NamedTuple):
    """What a unit needs. segments: docid and text of the relevant ones, in order; the rest are the protocol's."""

    query: str
    segments: list[tuple[str, str]]
    window: int
    most: int
    words: int
    batch: int


class Made(NamedTuple):
    """What came of a unit. importance: the labels of the last list, batch by batch; none where it wasn't asked."""

    steps: list[Step]
    importance: list[list[str]]
    cuts: list[Cut]


class Creation(JobKind):
    """A kind of job in which a model makes nuggets; a unit is a topic."""

    condition_kind = "nuggets"
    gold: list[dict[str, Any]] | None = None  # answers that each nugget has at first, where these are questions
    creation = CREATION_PROMPT  # brings the list up to date with a window
    counted = "Passages read"
    when_empty = "No topic has relevant passages with their texts. Upload grades and passages."

    @property
    def _sets_importance(self) -> bool:
        return IMPORTANCE_PROMPT in self.prompts

    def units(self, condition: Condition, topics: Sequence[Topic]) -> Iterator[tuple[int, None, str]]:
        """Yield the topics on which the condition has no list yet."""
        done = set(condition.draftings.values_list("topic_id", flat=True)) if condition.pk else set()
        return ((topic.pk, None, "") for topic in topics if topic.pk not in done)

    def topic_states(self, condition: Condition, topics: Sequence[Topic]) -> dict[int, TopicState]:
        """Count the relevant passages of each topic, all read where the condition has a list of it."""
        wanted = {topic.pk: topic for topic in topics}
        to_do = {pk for pk, _, _ in self.units(condition, topics)}
        counts = {pk: (found, loaded) for pk, found, loaded, _ in _counts(condition, wanted)}
        graded = _topics_being_graded(condition, wanted)
        states = {}
        for pk in wanted:
            found, loaded = counts.get(pk, (0, 0))
            lacking = "" if found else "no relevant passages"
            if found > loaded:
                lacking = "passages without text"
            if pk in graded:
                lacking = "being graded"
            states[pk] = TopicState(lacking, 0 if pk in to_do else found, found)
        return states

    def expected(self, condition: Condition, topics: Sequence[Topic], prompts: PromptSet) -> Expected:
        """Tell what the units of these topics will take, if the model makes its lists as long as it may.

        Topics whose units will fail without a call, for want of relevant segments or their texts, take nothing.
        """
        protocol = condition.protocol
        todo = {pk for pk, _, _ in self.units(condition, topics)}
        titles = {topic.pk: topic.title for topic in topics if topic.pk in todo}
        list_characters = protocol.max_drafts * _NUGGET_CHARACTERS
        batches = -(-protocol.max_drafts // protocol.importance_batch) if self._sets_importance else 0
        calls = characters = tokens_out = 0
        for topic_id, segments, texts in _sizes(condition, titles):
            query = titles[topic_id]
            windows = -(-segments // protocol.window_segments)
            calls += windows + batches
            creation = self.creation.request(
                prompts, query=query, passages=[], nuggets=[], most=protocol.max_drafts, words=protocol.advised_words
            )
            # The first list is empty.
            characters += windows * creation.characters + texts + (windows - 1) * list_characters
            tokens_out += windows * protocol.max_drafts * TOKENS_NUGGET
            if batches:
                characters += (
                    batches * IMPORTANCE_PROMPT.request(prompts, query=query, nuggets=[]).characters + list_characters
                )
                tokens_out += protocol.max_drafts * _LABEL_TOKENS
        return Expected(calls, characters, tokens_out)

    def prepare(self, job: Job, units: Sequence[Unit]) -> Mapping[int, Any]:
        """Read the relevant segments of the units' topics. A topic that lacks some or all of them fails."""
        condition, protocol = job.condition, job.condition.protocol
        topics = Topic.objects.in_bulk([unit.topic_id for unit in units])
        graded = _relevant(condition, topics).order_by("topic", byte_order("docid"))
        docids: dict[int, list[str]] = {pk: [] for pk in topics}
        for topic_id, docid in graded.values_list("topic_id", "docid"):
            docids[topic_id].append(docid)
        texts = dict(_segments(condition, graded.order_by().values("docid")).values_list("docid", "text"))
        unfinished = _topics_being_graded(condition, topics)
        prepared: dict[int, Work | UnitFailure] = {}
        for unit in units:
            wanted = docids[unit.topic_id]
            lacking = [docid for docid in wanted if docid not in texts]
            if unit.topic_id in unfinished:
                prepared[unit.pk] = UnitFailure(f"{condition.qrels_source} is still grading this topic.")
            elif not wanted:
                least = condition.relevance_threshold
                reason = f"There are no relevant segments: {condition.qrels_source} grades none {least} or more."
                prepared[unit.pk] = UnitFailure(reason)
            elif lacking:
                reason = f"Relevant segments without a loaded text: {len(lacking)}, the first of them {lacking[0]}."
                prepared[unit.pk] = UnitFailure(reason)
            else:
                prepared[unit.pk] = Work(
                    query=topics[unit.topic_id].title,
                    segments=[(docid, texts[docid]) for docid in wanted],
                    window=protocol.window_segments,
                    most=protocol.max_drafts,
                    words=protocol.advised_words,
                    batch=protocol.importance_batch,
                )
        return prepared

    async def carry_out(self, work: Work, ask: Ask) -> Made:
        """Have the list brought up to date window by window, and then each nugget's importance set.

        A list that is longer than it may be is cut, as the nuggetizer of the track does.
        """
        steps: list[Step] = []
        cuts: list[Cut] = []
        nuggets: list[str] = []
        for number, window in enumerate(in_batches(work.segments, work.window), start=1):
            request = self.creation.request(
                ask.prompts,
                query=work.query,
                passages=[text for _, text in window],
                nuggets=nuggets,
                most=work.most,
                words=work.words,
            )
            reply = await ask(request)
            nuggets = reply[: work.most]
            if len(reply) > work.most:
                cuts.append(Cut(number, len(reply), work.most))
            steps.append(Step([docid for docid, _ in window], nuggets))
        importance = []
        if self._sets_importance:
            for batch in in_batches(nuggets, work.batch):
                labels = await ask(IMPORTANCE_PROMPT.request(ask.prompts, query=work.query, nuggets=batch))
                importance.append(labels)
        return Made(steps, importance, cuts)

    def store(self, job: Job, results: Sequence[tuple[Unit, Made]]) -> None:
        """Write the lists, and the banks that are made of them.

        A topic that another job of the condition has done meanwhile keeps what that one gave.
        """
        topics = [unit.topic_id for unit, _ in results]
        done = set(
            Drafting.objects.filter(condition=job.condition, topic__in=topics).values_list("topic_id", flat=True)
        )
        for unit, made in results:
            if unit.topic_id not in done:
                store_drafting(job, unit.topic_id, made.steps, made.importance, made.cuts, self.gold)

    def notes(self, job: Job) -> list[str]:
        """Name the lists that were cut, by topic id."""
        drafted = Drafting.objects.filter(job=job).exclude(cuts=[]).order_by(byte_order("topic__qid"))
        return [
            f"Topic {qid}, window {cut['window']}: {cut['nuggets']} nuggets came; the first {cut['limit']} were kept."
            for qid, cuts in drafted.values_list("topic__qid", "cuts")
            for cut in cuts
        ]


class AutoNuggets(Creation):
    """Whole banks."""

    name = "AutoNuggets"
    title = "Create nuggets"
    summary = "lists with importance, from relevant passages"
    method = "AutoNuggets"
    prompts = (CREATION_PROMPT, IMPORTANCE_PROMPT)
    grades = Grades.ANY


class Drafts(Creation):
    """Drafts for people to edit."""

    name = "Drafts"
    title = "Draft nuggets to edit"
    summary = "lists without importance, for people to edit"
    method = "AutoNuggets+Edits"
    prompts = (CREATION_PROMPT,)
    grades = Grades.PEOPLES


def _topics_being_graded(condition: Condition, topics: Collection[int]) -> set[int]:
    """Return the topics whose grades are made here and are not all there yet, by a job or by people."""
    made_under = condition.qrels_source.condition if condition.qrels_source else None
    return topics_at_work(made_under, topics) if made_under else set()


def _relevant(condition: Condition, topics: Mapping[int, object]) -> QuerySet[Grade]:
    """Return what the condition's own source grades as relevant to topics."""
    least = condition.relevance_threshold
    return Grade.objects.filter(source=condition.qrels_source, topic__in=list(topics), grade__gte=least)


def _segments(condition: Condition, docid: Any) -> QuerySet[Segment]:
    return Segment.objects.filter(campaign=condition.campaign_id, docid__in=docid)


def _sizes(condition: Condition, topics: Mapping[int, object]) -> Iterator[tuple[int, int, int]]:
    """Yield for topics all of whose relevant segments are loaded how many these are, and their characters."""
    for topic_id, segments, loaded, texts in _counts(condition, topics):
        if segments == loaded:
            yield topic_id, segments, texts


def _counts(condition: Condition, topics: Mapping[int, object]) -> "QuerySet[Any, tuple[int, int, int, int]]":
    """Return for topics with relevant segments how many these are and how many are loaded, with their characters."""
    length = Segment.objects.filter(campaign=condition.campaign_id, docid=OuterRef("docid")).values(
        length=Length("text")
    )
    sized = _relevant(condition, topics).order_by().annotate(length=Subquery(length[:1]))
    by_topic = sized.values("topic").annotate(segments=Count("pk"), loaded=Count("length"), texts=Sum("length"))
    return by_topic.values_list("topic", "segments", "loaded", "texts")
