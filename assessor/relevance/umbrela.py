"""UMBRELA: a model grades the pooled segments of a topic, one call each."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db.models.functions import Length

from assessor.collection.models import Condition, Topic
from assessor.collection.queries import segment_texts
from assessor.llm import questions
from assessor.llm.actions import JobError
from assessor.llm.kinds import Ask, Expected, Grades, Kind, UnitFailure
from assessor.llm.models import Job, Unit
from assessor.llm.prompt_sets import PromptSet
from assessor.relevance.actions import store_grades
from assessor.relevance.queries import pool, ungraded

_TOKENS_OUT = 8  # of a reply: one line that names the grade


class Work(NamedTuple):
    """What the model is shown: the topic's title, and the segment's text alone, without its title and headings."""

    query: str
    passage: str


class Umbrela(Kind):
    """The kind of job; assessor.llm.kinds.Kind says what each function is for."""

    name = "UMBRELA"
    condition_kind = "relevance"
    method = "UMBRELA"
    grades = Grades.NONE

    def units(self, condition: Condition, topics: Sequence[Topic]) -> Iterable[tuple[int, str]]:
        """Yield (topic's key, docid) of all pooled segments that the condition has not graded yet, in one query."""
        return ungraded(condition, topics).iterator(chunk_size=2_000)

    def expected(self, condition: Condition, topics: Sequence[Topic], prompts: PromptSet) -> Expected:
        """Tell what the units will take; those without a text take no call. Raises JobError for an empty pool."""
        around = sum(len(part["content"]) for part in prompts.messages("relevance", {"query": "", "passage": ""}))
        query_of = {topic.pk: len(topic.title) for topic in topics}
        length_of: dict[str, int] = dict(condition.campaign.segments.values_list("docid", Length("text")).iterator())
        todo = list(self.units(condition, topics))
        if not todo and not pool(condition, topics).exists():
            raise JobError(
                "The pool has no passage of these topics. It is made of retrieval runs: load some that answer them, on "
                "the page of imports or with import_retrieval_run."
            )
        units = [(topic, docid) for topic, docid in todo if docid in length_of]
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
        return await ask(questions.relevance(ask.prompts, query=work.query, passage=work.passage))

    def store(self, job: Job, results: Sequence[tuple[Unit, int]]) -> None:
        """Write the judgments, and the grades into the condition's own source."""
        store_grades(job, {(unit.topic_id, unit.item): grade for unit, grade in results})
