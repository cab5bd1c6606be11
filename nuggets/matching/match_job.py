"""AutoMatch: a model matches each nugget of one bank with all of another one of the same topic."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from assessor.campaigns.models import Condition, Topic
from assessor.llm.job_kind import Ask, Expected, JobKind, TopicState, UnitFailure
from assessor.llm.models import Job, Unit
from assessor.llm.prompts import TOKENS_LABEL, PromptSet
from nuggets.matching.actions import Matched, store_matchings
from nuggets.matching.condition_kind import AUTO, MATCHING
from nuggets.matching.prompts import MATCHING_PROMPT, SAME
from nuggets.matching.queries import TopicBanks, banks_to_match, unmatched


class Work(NamedTuple):
    """What a unit needs: the keys of both editions, and of each the keys and texts of its nuggets, in order."""

    query: str
    editions: tuple[int, int]
    first: list[tuple[int, str]]
    second: list[tuple[int, str]]


class MatchJob(JobKind):
    """The kind of job. A unit is a topic, for which there is a request for each nugget of the first bank."""

    name = AUTO
    title = "Match two banks"
    summary = "which nuggets of two banks say the same?"
    counted = "Nuggets of the first bank"
    when_empty = "No topic has a finished bank under both conditions."
    condition_kind = MATCHING.name
    method = AUTO
    prompts = (MATCHING_PROMPT,)

    def called(self, condition: Condition) -> str:
        return f"{str(condition.nuggets)[:40]} beside {str(condition.other_nuggets)[:40]}, matched"

    def units(self, condition: Condition, topics: Sequence[Topic]) -> Iterable[tuple[int, None, str]]:
        """Yield the topics whose banks are not matched as they are now."""
        return ((topic.pk, None, "") for topic in unmatched(condition, topics))

    def topic_states(self, condition: Condition, topics: Sequence[Topic]) -> dict[int, TopicState]:
        """Count the nuggets of each topic's first bank, all done where the banks are matched as they are now."""
        banks, to_do = banks_to_match(condition, topics), {topic.pk for topic in unmatched(condition, topics)}
        states = {}
        for topic in topics:
            total = len(banks[topic.pk].first.nuggets) if topic.pk in banks else 0
            lacking = "" if topic.pk in banks else "a bank not finished"
            states[topic.pk] = TopicState(lacking, 0 if topic.pk in to_do else total, total)
        return states

    def expected(self, condition: Condition, topics: Sequence[Topic], prompts: PromptSet) -> Expected:
        """Tell what the units of these topics will take."""
        topics = unmatched(condition, topics)
        banks = banks_to_match(condition, topics)
        calls = characters = labels = 0
        for topic in topics:
            work = _work(topic, banks[topic.pk])
            texts = [text for _, text in work.second]
            around = MATCHING_PROMPT.request(prompts, query=work.query, nugget="", nuggets=texts).characters
            if not texts:
                continue
            calls += len(work.first)
            characters += sum(around + len(text) for _, text in work.first)
            labels += len(work.first) * len(texts)
        return Expected(calls, characters, labels * TOKENS_LABEL)

    def prepare(self, job: Job, units: Sequence[Unit]) -> Mapping[int, Work | UnitFailure]:
        """Read the banks of the units' topics. A topic of which a bank is open again fails."""
        banks = banks_to_match(job.condition, [unit.topic for unit in units])
        failure = UnitFailure("One of the banks is open again, or gone.")
        return {
            unit.pk: _work(unit.topic, banks[unit.topic_id]) if unit.topic_id in banks else failure for unit in units
        }

    async def carry_out(self, work: Work, ask: Ask) -> Matched:
        """Ask of each nugget of the first bank which of the second say the same."""
        pairs: list[tuple[int, int]] = []
        texts = [text for _, text in work.second]
        for key, nugget in work.first if texts else ():
            request = MATCHING_PROMPT.request(ask.prompts, query=work.query, nugget=nugget, nuggets=texts)
            labels = await ask(request)
            pairs += [(key, other) for (other, _), label in zip(work.second, labels, strict=True) if label == SAME]
        return *work.editions, pairs

    def store(self, job: Job, results: Sequence[tuple[Unit, Matched]]) -> None:
        """Write the matches."""
        store_matchings(job, {unit.topic_id: matched for unit, matched in results})


def _work(topic: Topic, banks: TopicBanks) -> Work:
    first, second = ([(one["id"], one["text"]) for one in edition.nuggets] for edition in banks)
    return Work(topic.title, (banks.first.pk, banks.second.pk), first, second)
