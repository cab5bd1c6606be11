"""The kinds of job in which a model makes banks of questions: from the query alone, or from passages in windows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assessor.campaigns.models import Condition, Topic
from assessor.llm.job_kind import Ask, Expected, TopicState
from assessor.llm.job_kind import Grades as NeededGrades
from assessor.llm.models import Job, Unit
from assessor.llm.prompts import PromptSet
from nuggets.auto_nuggets import Creation, Made, Work
from nuggets.drafting import Cut, Step
from nuggets.questions.condition_kind import AUTO, EDITS, QUERY, QUESTIONS
from nuggets.questions.prompts import QUERY_QUESTIONS_PROMPT, QUESTION_CREATION_PROMPT

_NO_ANSWERS: list[dict[str, Any]] = []


class AutoQuestions(Creation):
    """Whole banks, from the topic's relevant passages, as AutoNuggets reads them."""

    name = "AutoQuestions"
    title = "Create questions"
    summary = "lists of questions, from relevant passages"
    condition_kind = QUESTIONS.name
    method = AUTO
    creation = QUESTION_CREATION_PROMPT
    prompts = (QUESTION_CREATION_PROMPT,)
    gold = _NO_ANSWERS
    grades = NeededGrades.ANY


class QuestionDrafts(AutoQuestions):
    """Drafts for people to edit."""

    name = "QuestionDrafts"
    title = "Draft questions to edit"
    summary = "lists of questions, for people to edit"
    method = EDITS
    grades = NeededGrades.PEOPLES


class QueryQuestions(Creation):
    """Whole banks, from the query alone (RUBRIC): as many questions as the protocol keeps of a model."""

    name = "QueryQuestions"
    title = "Create questions from the query"
    summary = "lists of questions, from the query alone"
    counted = "Topics"
    when_empty = "There is no topic. Upload topics."
    condition_kind = QUESTIONS.name
    method = QUERY
    prompts = (QUERY_QUESTIONS_PROMPT,)
    gold = _NO_ANSWERS
    grades = NeededGrades.NONE

    def topic_states(self, condition: Condition, topics: Sequence[Topic]) -> dict[int, TopicState]:
        """Return of each topic whether the condition has a list of it."""
        to_do = {pk for pk, _, _ in self.units(condition, topics)}
        return {topic.pk: TopicState("", 0 if topic.pk in to_do else 1, 1) for topic in topics}

    def expected(self, condition: Condition, topics: Sequence[Topic], prompts: PromptSet) -> Expected:
        """Tell what the units will take."""
        requests = list(self._requests(condition, topics, prompts))
        characters = sum(request.characters for request in requests)
        return Expected(len(requests), characters, sum(request.tokens_out for request in requests))

    def _requests(self, condition: Condition, topics: Sequence[Topic], prompts: PromptSet) -> Iterator[Any]:
        to_do = {pk for pk, _, _ in self.units(condition, topics)}
        most = condition.protocol.max_nuggets
        for topic in topics:
            if topic.pk in to_do:
                yield QUERY_QUESTIONS_PROMPT.request(prompts, query=topic.title, most=most)

    def prepare(self, job: Job, units: Sequence[Unit]) -> Mapping[int, Work]:
        """Return of each unit its query, and how many questions are wanted; nothing is read for it."""
        most = job.condition.protocol.max_nuggets
        return {unit.pk: Work(unit.topic.title, [], window=0, most=most, words=0, batch=0) for unit in units}

    async def carry_out(self, work: Work, ask: Ask) -> Made:
        """Ask once. A list that is longer than it may be is cut."""
        reply = await ask(QUERY_QUESTIONS_PROMPT.request(ask.prompts, query=work.query, most=work.most))
        cuts = [Cut(1, len(reply), work.most)] if len(reply) > work.most else []
        return Made([Step([], reply[: work.most])], [], cuts)
