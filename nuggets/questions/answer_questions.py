"""The kinds of job in which a model makes banks of questions from answers of runs that were compared (PrefNugget).

They take pairs of answers, or answers alone, a few at a time: all of a round are given the same list of questions so
far. It ends once the list is full.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from assessor.campaigns.models import Answer, Condition, Topic
from assessor.labels.queries import topics_at_work
from assessor.llm.job_kind import Ask, Expected, TopicState, UnitFailure
from assessor.llm.job_kind import Grades as NeededGrades
from assessor.llm.models import Job, Unit
from assessor.llm.prompts import PromptSet
from assessor.preference.label_kind import PREFERENCE
from assessor.preference.pref_judge import topic_words
from assessor.preference.queries import counted_preferences
from nuggets.auto_nuggets import Creation, Made
from nuggets.drafting import Cut, Step, in_batches
from nuggets.questions.answer_prompts import CONTRAST_PROMPT, GROUNDED_QUESTIONS_PROMPT, AnswersPrompt
from nuggets.questions.condition_kind import (
    CONTRAST,
    CONTRAST_EDITS,
    GROUNDED,
    GROUNDED_EDITS,
    QUESTIONS,
    RANDOM_PAIRS,
)
from nuggets.questions.pair_order import A_ROUND, OF_A_REPLY, Pair, QuestionList, at_random, contrasting, winners
from nuggets.questions.prompts import TOKENS_QUESTION

_TOPICS_AT_A_TIME = 20
_NO_ANSWERS: list[dict[str, Any]] = []


class Work(NamedTuple):
    """What a unit needs. requests: for each, the tags of its runs and the texts of their answers, in their order."""

    words: dict[str, str]
    requests: list[tuple[list[str], list[str]]]
    most: int


class AnswerQuestions(Creation):
    """A kind of job in which a model makes questions from answers; a unit is a topic."""

    prompt: AnswersPrompt
    counted = "Topics"
    when_empty = "No answers are compared yet. Let a model say which answers are better."
    condition_kind = QUESTIONS.name
    preferences = PREFERENCE.name
    gold = _NO_ANSWERS
    grades = NeededGrades.NONE

    def in_order(self, pairs: Sequence[Pair], topic: str) -> list[list[str]]:
        """Return the runs whose answers stand in each request of a topic, in the order in which they are sent."""
        raise NotImplementedError

    def topic_states(self, condition: Condition, topics: Sequence[Topic]) -> dict[int, TopicState]:
        """Return of each topic whether the condition has a list of it."""
        to_do = {pk for pk, _, _ in self.units(condition, topics)}
        compared = _compared(condition, topics)
        open_ones = (
            topics_at_work(condition.preferences, [topic.pk for topic in topics]) if condition.preferences else set()
        )
        states = {}
        for topic in topics:
            lacking = "" if self.in_order(compared[topic.pk].pairs, topic.qid) else "no decided preferences"
            lacking = "being compared" if topic.pk in open_ones else lacking
            states[topic.pk] = TopicState(lacking, 0 if topic.pk in to_do else 1, 1)
        return states

    def expected(self, condition: Condition, topics: Sequence[Topic], prompts: PromptSet) -> Expected:
        """Tell what the units take if no list is full before its last pair."""
        to_do = {pk for pk, _, _ in self.units(condition, topics)}
        calls = characters = 0
        for work in self._works(condition, [topic for topic in topics if topic.pk in to_do]):
            calls += len(work.requests)
            for _, texts in work.requests:
                request = self.prompt.request(prompts, **work.words, texts=texts, questions=[])
                characters += request.characters
        return Expected(calls, characters, calls * OF_A_REPLY * TOKENS_QUESTION)

    def prepare(self, job: Job, units: Sequence[Unit]) -> Mapping[int, Any]:
        """Read the answers of the units' topics. A topic without a decided pair fails."""
        condition = job.condition
        topics = [unit.topic for unit in units]
        open_ones = _being_compared(condition, topics)
        works = self._works(condition, topics)
        prepared: dict[int, Work | UnitFailure] = {}
        for unit, work in zip(units, works, strict=True):
            if unit.topic_id in open_ones:
                prepared[unit.pk] = UnitFailure(f"{condition.preferences} is still comparing answers to this topic.")
            elif not work.requests:
                prepared[unit.pk] = UnitFailure(f"{condition.preferences} has no decided pair on this topic.")
            else:
                prepared[unit.pk] = work
        return prepared

    def _works(self, condition: Condition, topics: Sequence[Topic]) -> Iterator[Work]:
        """Yield what is to be asked of each topic, in order; texts are read a few topics at a time."""
        for some in in_batches(topics, _TOPICS_AT_A_TIME):
            compared = _compared(condition, some)
            requests = {topic.pk: self.in_order(compared[topic.pk].pairs, topic.qid) for topic in some}
            asked_of = [(topic, runs) for topic, in_order in requests.items() for runs in in_order]
            keys = {compared[topic].answers[tag] for topic, runs in asked_of for tag in runs}
            texts = {one.pk: one.text for one in Answer.objects.filter(pk__in=keys).only("content").order_by()}
            for topic in some:
                answers = compared[topic.pk].answers
                asked = [(runs, [texts[answers[tag]] for tag in runs]) for runs in requests[topic.pk]]
                yield Work(topic_words(topic), asked, condition.protocol.max_nuggets)

    async def carry_out(self, work: Any, ask: Ask) -> Made:
        """Ask round by round, until the list is full. What is over is cut."""
        listed = QuestionList(work.most)
        steps: list[Step] = []
        cuts: list[Cut] = []
        for number, requests in enumerate(in_batches(work.requests, A_ROUND), start=1):
            given = list(listed.texts)
            for _, texts in requests:
                request = self.prompt.request(ask.prompts, **work.words, texts=texts, questions=given)
                reply: list[str] = await ask(request)
                listed.take(reply)
            if len(listed.texts) > work.most:
                cuts.append(Cut(number, len(listed.texts), work.most))
                listed.cut()
            steps.append(Step([], list(listed.texts), [runs for runs, _ in requests], list(listed.votes)))
            if listed.is_full:
                break
        if not listed.texts:
            raise UnitFailure("No reply named a question.")
        return Made(steps, [], cuts)


class PrefQuestions(AnswerQuestions):
    """Whole banks, from pairs of a better and a worse answer."""

    name = "PrefQuestions"
    title = "Create questions from preferences"
    summary = "lists of questions that better answers answer"
    method = CONTRAST
    prompt = CONTRAST_PROMPT
    prompts = (CONTRAST_PROMPT,)

    def in_order(self, pairs: Sequence[Pair], topic: str) -> list[list[str]]:
        return [[pair.winner, pair.loser] for pair in contrasting(pairs)]


class RandomPairQuestions(PrefQuestions):
    """The same from pairs that are turned and ordered at random: what comes out without any preference."""

    name = "RandomPairQuestions"
    title = "Create questions from random pairs"
    summary = "lists of questions, as if preferences were drawn by lot"
    method = RANDOM_PAIRS

    def in_order(self, pairs: Sequence[Pair], topic: str) -> list[list[str]]:
        return [[pair.winner, pair.loser] for pair in at_random(pairs, topic)]


class GroundedQuestions(AnswerQuestions):
    """Whole banks, from the answers that won a pair, one at a time, the best first."""

    name = "GroundedQuestions"
    title = "Create questions from good answers"
    summary = "lists of questions that preferred answers answer"
    method = GROUNDED
    prompt = GROUNDED_QUESTIONS_PROMPT
    prompts = (GROUNDED_QUESTIONS_PROMPT,)

    def in_order(self, pairs: Sequence[Pair], topic: str) -> list[list[str]]:
        return [[tag] for tag in winners(pairs)]


class PrefQuestionDrafts(PrefQuestions):
    """Drafts for people to edit: shuffled, and without the answers that they came from."""

    name = "PrefQuestionDrafts"
    title = "Draft questions from preferences"
    summary = "lists of questions that better answers answer, for people to edit"
    method = CONTRAST_EDITS
    grades = NeededGrades.PEOPLES


class GroundedQuestionDrafts(GroundedQuestions):
    """Drafts for people to edit, as above."""

    name = "GroundedQuestionDrafts"
    title = "Draft questions from good answers"
    summary = "lists of questions that preferred answers answer, for people to edit"
    method = GROUNDED_EDITS
    grades = NeededGrades.PEOPLES


class _Compared(NamedTuple):
    """The pairs of a topic with a preference that counts, and the keys of the answers by the tags of their runs."""

    pairs: list[Pair]
    answers: dict[str, int]


def _compared(condition: Condition, topics: Sequence[Topic]) -> dict[int, _Compared]:
    """Return what is compared, by topic's key."""
    found = {topic.pk: _Compared([], {}) for topic in topics}
    if condition.preferences:
        for topic, better, worse, is_tie in counted_preferences(condition.preferences, topics):
            found[topic].pairs.append(Pair(better[0], worse[0], is_tie))
            found[topic].answers.update((better, worse))
    return found


def _being_compared(condition: Condition, topics: Sequence[Topic]) -> set[int]:
    """Return the topics, by key, on which it is still to be said which answers are better."""
    preferences = condition.preferences
    return topics_at_work(preferences, [topic.pk for topic in topics]) if preferences else set()
