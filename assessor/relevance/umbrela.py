"""UMBRELA: a model grades the pooled segments of a topic, one call each."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db.models import Count
from django.db.models.functions import Length

from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.campaigns.queries import segment_texts
from assessor.formats.stems import stems
from assessor.llm import replies
from assessor.llm.actions import JobError
from assessor.llm.job_kind import Ask, Expected, JobKind, TopicState, UnitFailure
from assessor.llm.models import Job, Unit
from assessor.llm.preview import passage_texts
from assessor.llm.prompts import (
    TOKENS_LABEL,
    Preview,
    PreviewSubject,
    Prompt,
    PromptRequest,
    PromptSet,
    PublishedTemplate,
    object_schema,
)
from assessor.llm.rehearsal.word_overlap import share
from assessor.relevance.actions import store_grades
from assessor.relevance.queries import graded_by, pool, ungraded

GRADES = (0, 1, 2, 3)
_TOKENS_OUT = 8  # of a reply: one line that names the grade
_SCORE, _LAST_LINE_SCORE = "score", "score on the last line"
_GRADED = PublishedTemplate(_SCORE, {"query": "query", "passage": "passage"})
_EXPLAINED = _GRADED._replace(reader=_LAST_LINE_SCORE)  # "only the category on the last line", after an explanation


class RelevancePrompt(Prompt[int]):
    """Asks how relevant a passage is to a query."""

    name = "relevance"
    needed = frozenset({"query", "passage"})
    readers = (_SCORE, _LAST_LINE_SCORE)
    vocabulary = GRADES
    longest = "passage"
    published = {
        "qrel": _GRADED,
        "qrel_zeroshot_basic": _EXPLAINED,
        "qrel_zeroshot_bing": _GRADED,
        "qrel_fewshot_basic": _EXPLAINED,
        "qrel_fewshot_bing": _GRADED,
    }
    published_text = _GRADED

    def request(self, prompts: PromptSet, *, query: str, passage: str) -> PromptRequest[int]:
        """Return the request."""
        reader = prompts.reader(self.name)
        schema = {} if reader else object_schema("final_score", {"type": "integer", "enum": list(GRADES)})
        read = replies.last_line_grade if reader == _LAST_LINE_SCORE else replies.grade
        messages = prompts.messages(self.name, {"query": query, "passage": passage})
        return PromptRequest(self.name, messages, schema, TOKENS_LABEL, lambda text: read(text, GRADES))

    def preview(self, campaign: Campaign, topic: Topic, prompts: PromptSet, subject: PreviewSubject) -> Preview:
        """Return the request for one passage."""
        [passage] = passage_texts(campaign, [subject.docid])
        return Preview(self.request(prompts, query=topic.title, passage=passage), f"The passage {subject.docid}.")

    def rehearse(self, values: Mapping[str, str]) -> int:
        """Return a grade by how many words of the query the passage has."""
        shared = share(values["query"], stems(values["passage"]))
        return sum(shared >= least for least in (0.01, 0.5, 0.85))


RELEVANCE_PROMPT = RelevancePrompt()


class Work(NamedTuple):
    """What the model is shown: the topic's title, and the segment's text alone, without its title and headings."""

    query: str
    passage: str


class Umbrela(JobKind):
    """The kind of job; assessor.llm.job_kind says what each function is for."""

    name = "UMBRELA"
    title = "Grade passages"
    summary = "0 to 3 for each pooled passage"
    counted = "Passages graded"
    when_empty = "The pool is empty. Upload retrieval runs: their first passages make the pool."
    condition_kind = "relevance"
    method = "UMBRELA"
    prompts = (RELEVANCE_PROMPT,)

    def units(self, condition: Condition, topics: Sequence[Topic]) -> Iterable[tuple[int, None, str]]:
        """Yield (topic's key, None, docid) of all pooled segments that the condition has not graded yet."""
        return ((topic, None, docid) for topic, docid in ungraded(condition, topics).iterator(chunk_size=2_000))

    def topic_states(self, condition: Condition, topics: Sequence[Topic]) -> dict[int, TopicState]:
        """Count the pooled passages of each topic, and those that have a grade under the condition."""
        pooled = dict(pool(condition, topics).order_by().values_list("topic").annotate(Count("docid", distinct=True)))
        graded = graded_by(condition)
        return {
            topic.pk: TopicState("" if topic.pk in pooled else "no passages in the pool", *counts)
            for topic in topics
            for counts in [(graded.get(topic.pk, 0), pooled.get(topic.pk, 0))]
        }

    def expected(self, condition: Condition, topics: Sequence[Topic], prompts: PromptSet) -> Expected:
        """Tell what the units will take; those without a text take no call. Raises JobError for an empty pool."""
        around = RELEVANCE_PROMPT.request(prompts, query="", passage="").characters
        query_of = {topic.pk: len(topic.title) for topic in topics}
        length_of: dict[str, int] = dict(condition.campaign.segments.values_list("docid", Length("text")).iterator())
        todo = list(self.units(condition, topics))
        if not todo and not pool(condition, topics).exists():
            raise JobError(
                "The pool has no passage of these topics. It is made of retrieval runs: load some that answer them, on "
                "the page of imports or with import_retrieval_run."
            )
        units = [(topic, docid) for topic, _, docid in todo if docid in length_of]
        characters = sum(around + query_of[topic] + length_of[docid] for topic, docid in units)
        return Expected(len(units), characters, _TOKENS_OUT * len(units))

    def prepare(self, job: Job, units: Sequence[Unit]) -> Mapping[int, Work | UnitFailure]:
        """Read the queries and texts of a batch."""
        titles = dict(Topic.objects.filter(pk__in={unit.topic_id for unit in units}).values_list("pk", "title"))
        texts = segment_texts(job.campaign, {unit.item for unit in units})
        return {
            unit.pk: Work(titles[unit.topic_id], texts[unit.item])
            if unit.item in texts
            else UnitFailure(f"The text of {unit.item} is not loaded.")
            for unit in units
        }

    async def carry_out(self, work: Work, ask: Ask) -> int:
        """Ask for the grade."""
        return await ask(RELEVANCE_PROMPT.request(ask.prompts, query=work.query, passage=work.passage))

    def store(self, job: Job, results: Sequence[tuple[Unit, int]]) -> None:
        """Write the judgments, and the grades into the condition's own source."""
        store_grades(job, {(unit.topic_id, unit.item): grade for unit, grade in results})
