"""AutoCandidates: a model says of each supported sentence of answers which nuggets of the topic's bank it states."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assessor.campaigns.models import Answer, Condition, Topic
from assessor.llm.job_kind import Ask, Expected, JobKind, TopicState, UnitFailure
from assessor.llm.models import Job, Unit
from assessor.llm.prompts import TOKENS_LABEL, PreviewSubject, PromptSet
from nuggets.candidates.actions import Stated, store_matches
from nuggets.candidates.condition_kind import AUTO, CANDIDATES
from nuggets.candidates.prompts import CANDIDATES_PROMPT, STATED
from nuggets.candidates.queries import Place, finished_editions, open_sentences, stated_nuggets, supported, texts_of


class Work(NamedTuple):
    """What a unit needs: the key of the bank's edition, and the keys and texts of its nuggets, in order."""

    query: str
    sentence: str
    edition: int
    nuggets: list[tuple[int, str]]


class CandidatesJob(JobKind):
    """The kind of job. A unit is a supported sentence of an answer, by its place: the first with its text."""

    name = AUTO
    title = "Find what banks lack"
    summary = "which nuggets does a supported sentence state?"
    counted = "Supported sentences"
    when_empty = "No topic has a finished bank and supported sentences. Have support judged first."
    condition_kind = CANDIDATES.name
    method = AUTO
    prompts = (CANDIDATES_PROMPT,)
    about_answers = True

    def called(self, condition: Condition) -> str:
        return f"{str(condition.nuggets)[:40]}, candidates from {str(condition.support)[:40]}"

    def units(self, condition: Condition, topics: Sequence[Topic]) -> Iterator[tuple[int, int, str]]:
        """Yield (topic's key, answer's key, the sentence's place) of sentences that nobody was asked about."""
        for topic, groups in open_sentences(condition, topics).items():
            for places in groups.values():
                answer, sentence = places[0]
                yield topic, answer, str(sentence)

    def topic_states(self, condition: Condition, topics: Sequence[Topic]) -> dict[int, TopicState]:
        """Count the supported sentences of each topic, and those of which a model said what they state."""
        editions, sentences = finished_editions(condition, topics), supported(condition, topics)
        known = stated_nuggets(condition, editions.values())
        states = {}
        for topic in topics:
            places = sentences.get(topic.pk, ())
            lacking = "" if topic.pk in editions else f"{self.nuggets_called} not finished"
            lacking = lacking or ("" if places else "no supported sentences")
            done = sum(place in known for place in places) if not lacking else 0
            states[topic.pk] = TopicState(lacking, done, len(places))
        return states

    def preview_subject(self, unit: Unit) -> PreviewSubject:
        """Return the sentence."""
        return super().preview_subject(unit)._replace(sentence=int(unit.item) + 1)

    def expected(self, condition: Condition, topics: Sequence[Topic], prompts: PromptSet) -> Expected:
        """Tell what the units of these topics will take."""
        editions, titles = finished_editions(condition, topics), {topic.pk: topic.title for topic in topics}
        calls = characters = labels = 0
        for topic, groups in open_sentences(condition, topics).items():
            nuggets = [one["text"] for one in editions[topic].nuggets]
            if not nuggets:
                continue
            request = CANDIDATES_PROMPT.request(prompts, query=titles[topic], sentence="", nuggets=nuggets)
            calls += len(groups)
            characters += sum(request.characters + len(text) for text in groups)
            labels += len(groups) * len(nuggets)
        return Expected(calls, characters, labels * TOKENS_LABEL)

    def prepare(self, job: Job, units: Sequence[Unit]) -> Mapping[int, Work | UnitFailure]:
        """Read the sentences and the banks of their topics. A sentence whose bank is open again fails."""
        editions = finished_editions(job.condition, {unit.topic for unit in units})
        texts = texts_of(map(_place, units))
        prepared: dict[int, Work | UnitFailure] = {}
        for unit in units:
            edition = editions.get(unit.topic_id)
            if edition is None:
                prepared[unit.pk] = UnitFailure("The bank is open again, or gone.")
            else:
                nuggets = [(one["id"], one["text"]) for one in edition.nuggets]
                prepared[unit.pk] = Work(unit.topic.title, texts[_place(unit)], edition.pk, nuggets)
        return prepared

    async def carry_out(self, work: Work, ask: Ask) -> Stated:
        """Ask which nuggets the sentence states."""
        if not work.nuggets:
            return Stated(work.edition, [])
        texts = [text for _, text in work.nuggets]
        request = CANDIDATES_PROMPT.request(ask.prompts, query=work.query, sentence=work.sentence, nuggets=texts)
        labels = await ask(request)
        keys = [key for (key, _), label in zip(work.nuggets, labels, strict=True) if label == STATED]
        return Stated(work.edition, keys)

    def store(self, job: Job, results: Sequence[tuple[Unit, Stated]]) -> None:
        """Write what the sentences state."""
        store_matches(job, [(unit.topic, _place(unit), stated) for unit, stated in results])

    def unit_names(self, units: Sequence[Unit]) -> Mapping[int, str]:  # type: ignore[override]
        """Return for each sentence the run's tag and its number."""
        answers = Answer.objects.filter(pk__in={unit.answer_id for unit in units}).select_related("run")
        tags = {one.pk: one.run.tag for one in answers.only("run__tag")}
        return {
            unit.pk: f"{tags[unit.answer_id]}, sentence {int(unit.item) + 1}"
            for unit in units
            if unit.answer_id in tags
        }


def _place(unit: Unit) -> Place:
    assert unit.answer_id is not None, "each is about an answer"
    return unit.answer_id, int(unit.item)
