"""PrefJudge: a model says which of two answers to a topic is better, in one order or in both."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from assessor.campaigns.models import Answer, Campaign, Condition, Protocol, Topic
from assessor.formats.stems import stems
from assessor.llm import replies
from assessor.llm.actions import JobError
from assessor.llm.job_kind import Ask, Expected, JobKind, TopicState, UnitFailure
from assessor.llm.models import Job, Unit
from assessor.llm.preview import answer_of
from assessor.llm.prompts import (
    TOKENS_LABEL,
    Preview,
    PreviewError,
    PreviewSubject,
    Prompt,
    PromptRequest,
    PromptSet,
    object_schema,
)
from assessor.llm.rehearsal.word_overlap import share
from assessor.preference.actions import Verdicts, add_pairs, store_verdicts
from assessor.preference.models import PreferencePair
from assessor.preference.queries import background, compared_answers, counted_pairs, new_pairs, open_pairs, pair_names
from assessor.preference.verdicts import FIRST, SECOND, TIE, by_rule, verdicts
from assessor.work.judging_pool import NOT_JUDGED, judged_under

_NO_BACKGROUND = "none given"
_CHOICES = {
    False: "You have to decide. If both seem alike, take the one that is simpler and clearer.",
    True: f"If neither is better, say {TIE}.",
}


class PreferencePrompt(Prompt[str]):
    """Asks which of two answers is better, by number, with or without the choice that neither is."""

    name = "preference"
    needed = frozenset({"query", "first", "second", "choices", "verdicts"})
    allowed = frozenset({"background"})
    vocabulary = verdicts(ties=True)
    longest = "second"

    def request(
        self, prompts: PromptSet, *, query: str, background: str, first: str, second: str, ties: bool
    ) -> PromptRequest[str]:
        """Return the request. first, second: the texts, as they are shown."""
        possible = verdicts(ties=ties)
        values = {
            "query": query,
            "background": background,
            "first": first,
            "second": second,
            "choices": _CHOICES[ties],
            "verdicts": ", ".join(possible),
        }
        schema = object_schema("label", {"type": "integer", "enum": [int(verdict) for verdict in possible]})
        messages = prompts.messages(self.name, values)
        return PromptRequest(self.name, messages, schema, TOKENS_LABEL, lambda text: replies.label(text, possible))

    def preview(self, campaign: Campaign, topic: Topic, prompts: PromptSet, subject: PreviewSubject) -> Preview:
        """Return the request for two answers: those of the runs that are named, else of the topic's first pair."""
        if subject.run and subject.docid:
            found = [answer_of(campaign, topic, subject._replace(run=tag)) for tag in (subject.run, subject.docid)]
        else:
            compared = compared_answers(Condition(campaign=campaign), [topic]).get(topic.pk, [])
            found = list(Answer.objects.filter(pk__in=compared[:2]).select_related("run").order_by("run__tag"))
        if len(found) < 2:
            raise PreviewError(f"{topic.qid} has fewer than two answers to compare.")
        one, other = found
        if by_rule(one.text, other.text) is not None:
            raise PreviewError("One answer is empty, or both are equal: no model is asked about them.")
        protocol = campaign.protocol
        request = self.request(
            prompts, **topic_words(topic), first=one.text, second=other.text, ties=protocol.preference_ties
        )
        return Preview(request, f"The answers of {one.run.tag} and {other.run.tag}.")

    def rehearse(self, values: Mapping[str, str]) -> str:
        """Return the one with more of the query's words, else the shorter one."""
        first, second = values["first"], values["second"]
        of_first, of_second = (share(values["query"], stems(text)) for text in (first, second))
        if of_first != of_second:
            return FIRST if of_first > of_second else SECOND
        return SECOND if len(second) < len(first) else FIRST


PREFERENCE_PROMPT = PreferencePrompt()


class Work(NamedTuple):
    """What a unit needs. pair: by key; shown: both texts in each order in which they are shown."""

    pair: int
    words: dict[str, str]
    shown: list[tuple[str, str]]
    ties: bool


class PrefJudge(JobKind):
    """The kind of job; assessor.llm.job_kind says what each function is for. A unit is a pair, by its position."""

    name = "PrefJudge"
    title = "Compare answers"
    summary = "which of two answers is better?"
    counted = "Pairs compared"
    when_empty = "No topic has two answers. Upload runs."
    condition_kind = "preference"
    method = "PrefJudge"
    prompts = (PREFERENCE_PROMPT,)

    def called(self, condition: Condition) -> str:
        return "Preferences"

    def begin(self, condition: Condition, topics: Sequence[Topic]) -> int:
        """Write the pairs: they are what the condition compares. What follows from a rule is said at once."""
        return add_pairs(condition, topics)

    def units(self, condition: Condition, topics: Sequence[Topic]) -> Iterable[tuple[int, None, str]]:
        """Yield (topic's key, None, position) of the pairs of which nothing is said."""
        pairs = open_pairs(condition, topics).values_list("topic", "position")
        return ((topic, None, str(position)) for topic, position in pairs.iterator(chunk_size=2_000))

    def topic_states(self, condition: Condition, topics: Sequence[Topic]) -> dict[int, TopicState]:
        """Count the pairs of each topic, and those that are done."""
        counted, compared = counted_pairs(condition), compared_answers(condition, topics)
        states = {}
        for topic in topics:
            total, done = counted.get(topic.pk, (0, 0))
            lacking = "" if len(compared.get(topic.pk, ())) > 1 else "fewer than two answers"
            states[topic.pk] = TopicState(lacking, done, total)
        return states

    def expected(self, condition: Condition, topics: Sequence[Topic], prompts: PromptSet) -> Expected:
        """Tell what the units will take; what follows from a rule takes no call. Raises JobError without any pair."""
        protocol = condition.protocol
        around = {
            topic.pk: PREFERENCE_PROMPT.request(
                prompts, **topic_words(topic), first="", second="", ties=protocol.preference_ties
            ).characters
            for topic in topics
        }
        new = list(new_pairs(condition, topics))
        sizes = [around[pair.topic] + pair.characters for pair in new if pair.value is None]
        if condition.pk:
            waiting = open_pairs(condition, topics).select_related("first", "second")
            sizes += [
                around[one.topic_id] + len(one.first.text) + len(one.second.text) for one in waiting.iterator(500)
            ]
        if not new and not sizes and not counted_pairs(condition):
            raise JobError("None of the topics has two answers to compare: load runs, on the page of imports.")
        orders = _orders(protocol)
        return Expected(orders * len(sizes), orders * sum(sizes), orders * len(sizes) * TOKENS_LABEL)

    def preview_subject(self, unit: Unit) -> PreviewSubject:
        """A preview names the two runs: as the run and as the text beside it."""
        names = pair_names({(unit.topic_id, int(unit.item))}, unit.job.condition)
        first, second = names.get((unit.topic_id, int(unit.item)), ("", ""))
        return PreviewSubject(topic=unit.topic.qid, run=first, docid=second)

    def prepare(self, job: Job, units: Sequence[Unit]) -> Mapping[int, Work | UnitFailure]:
        """Read the answers of a batch."""
        protocol, judged = job.condition.protocol, judged_under(job.condition)
        topics = {unit.topic_id: unit.topic for unit in units}
        own = PreferencePair.objects.filter(condition=job.condition, topic__in=topics)
        own = own.filter(position__in={int(unit.item) for unit in units}).select_related("first", "second")
        pairs = {(pair.topic_id, str(pair.position)): pair for pair in own}
        prepared: dict[int, Work | UnitFailure] = {}
        for unit in units:
            pair = pairs.get((unit.topic_id, unit.item))
            runs = (pair.first.run_id, pair.second.run_id) if pair else ()
            if pair is None or not all(judged.holds(unit.topic_id, run) for run in runs):
                prepared[unit.pk] = UnitFailure(NOT_JUDGED)
                continue
            texts = pair.first.text, pair.second.text
            shown = texts[::-1] if pair.second_stood_first else texts
            orders = [shown, shown[::-1]][: _orders(protocol)]
            prepared[unit.pk] = Work(pair.pk, topic_words(unit.topic), orders, protocol.preference_ties)
        return prepared

    async def carry_out(self, work: Work, ask: Ask) -> Verdicts:
        """Ask in each order."""
        said = []
        for first, second in work.shown:
            request = PREFERENCE_PROMPT.request(ask.prompts, **work.words, first=first, second=second, ties=work.ties)
            said.append(await ask(request))
        return Verdicts(work.pair, said[0], said[1] if len(said) > 1 else None)

    def store(self, job: Job, results: Sequence[tuple[Unit, Verdicts]]) -> None:
        """Write the verdicts."""
        store_verdicts(job, [said for _, said in results])

    def unit_names(self, units: Collection[Unit]) -> Mapping[int, str]:
        """Return the tags of the two runs."""
        if not units:
            return {}
        places = {unit.pk: (unit.topic_id, int(unit.item)) for unit in units}
        condition = next(iter(units)).job.condition
        names = pair_names(set(places.values()), condition)
        return {pk: " and ".join(names[place]) for pk, place in places.items() if place in names}


def _orders(protocol: Protocol) -> int:
    """Return in how many orders each pair is shown."""
    return 2 if protocol.preference_orders == Protocol.PreferenceOrders.BOTH else 1


def topic_words(topic: Topic) -> dict[str, str]:
    """Return what of a topic prompts are filled in with: its title, and what else its file says of what is asked."""
    return {"query": topic.title, "background": background(topic) or _NO_BACKGROUND}
