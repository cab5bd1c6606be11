"""What would be sent to a model for one topic, put together from what is loaded, without asking anybody."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from assessor.collection.condition_kinds import names_of_nuggets
from assessor.collection.models import Answer, Campaign, Condition, Protocol, Topic
from assessor.collection.passages import cited_texts
from assessor.collection.queries import AmbiguousRun, byte_order, find_run, segment_texts
from assessor.llm import questions
from assessor.llm.prompt_sets import PromptSet
from assessor.llm.questions import Question
from nuggets.models import NuggetBank
from nuggets.queries import nuggets_in_order


class RenderingError(Exception):
    """The question can't be put together; the text says what is lacking."""


class Choice(NamedTuple):
    """What a question is about, by the names that the campaign knows it by; each question needs some of it.

    condition: whose bank of the topic, and for creation whose threshold and, without qrels, grades; run: whose answer;
    sentence: of that answer, from 1.
    """

    topic: str
    qrels: str = ""
    condition: str = ""
    run: str = ""
    docid: str = ""
    sentence: int = 1


class Rendered(NamedTuple):
    """A question as it would be sent, and in a sentence what it was made from. reader: that the prompt names, or ""."""

    question: Question[Any]
    made_from: str
    reader: str = ""


def rendered(campaign: Campaign, name: str, prompts: PromptSet, choice: Choice) -> Rendered:
    """Return the question of this name. Raises RenderingError.

    Where a job would ask more than once on the topic, it is the first time: the first window, the first batch.
    """
    topic = campaign.topics.filter(qid=choice.topic).first()
    if topic is None:
        raise RenderingError(f"There is no topic {choice.topic}.")
    found = _WAYS[name](campaign, campaign.protocol, prompts, topic, choice)
    return found._replace(reader=prompts.reader(name))


def _creation(campaign: Campaign, protocol: Protocol, prompts: PromptSet, topic: Topic, choice: Choice) -> Rendered:
    known = campaign.conditions.filter(kind__in=names_of_nuggets()).select_related("protocol", "qrels_source")
    condition = known.filter(name=choice.condition).first() if choice.condition else Condition(protocol=protocol)
    if condition is None:
        raise RenderingError(f"There are no nuggets called {choice.condition}.")
    source = condition.qrels_source
    if choice.qrels:
        source = campaign.qrels_sources.filter(name=choice.qrels).first()
    if source is None:
        raise RenderingError("Name the qrels: passages of relevant grades are what nuggets are made from.")
    least = condition.relevance_threshold
    relevant = source.grades.filter(topic=topic, grade__gte=least).order_by(byte_order("docid"))
    docids = list(relevant.values_list("docid", flat=True)[: protocol.window_segments])
    if not docids:
        raise RenderingError(f"{source} has no passage of grade {least} or more for {topic.qid}.")
    question = questions.creation(
        prompts,
        query=topic.title,
        passages=_texts(campaign, docids),
        nuggets=[],
        most=protocol.max_drafts,
        words=protocol.advised_words,
    )
    return Rendered(question, f"The first window, of {relevant.count()} relevant passages: {', '.join(docids)}.")


def _importance(campaign: Campaign, protocol: Protocol, prompts: PromptSet, topic: Topic, choice: Choice) -> Rendered:
    nuggets, made_from = _nuggets(campaign, topic, choice, protocol.importance_batch)
    return Rendered(questions.importance(prompts, query=topic.title, nuggets=nuggets), made_from)


def _assignment(campaign: Campaign, protocol: Protocol, prompts: PromptSet, topic: Topic, choice: Choice) -> Rendered:
    nuggets, made_from = _nuggets(campaign, topic, choice, protocol.assign_batch)
    answer = _answer(campaign, topic, choice).text
    if not answer.strip():
        raise RenderingError("The answer is empty: no model is asked about it.")
    return Rendered(questions.assignment(prompts, query=topic.title, answer=answer, nuggets=nuggets), made_from)


def _relevance(campaign: Campaign, protocol: Protocol, prompts: PromptSet, topic: Topic, choice: Choice) -> Rendered:
    [passage] = _texts(campaign, [choice.docid])
    return Rendered(questions.relevance(prompts, query=topic.title, passage=passage), f"The passage {choice.docid}.")


def _support(campaign: Campaign, protocol: Protocol, prompts: PromptSet, topic: Topic, choice: Choice) -> Rendered:
    answer = _answer(campaign, topic, choice)
    sentences = list(answer.sentences())
    if not 1 <= choice.sentence <= len(sentences):
        raise RenderingError(f"The answer has {len(sentences)} sentences; there is none of number {choice.sentence}.")
    sentence = sentences[choice.sentence - 1]
    if not sentence.citations:
        raise RenderingError(f"Sentence {choice.sentence} cites nothing: no model is asked about it.")
    docid = sentence.citations[0].docid
    texts = cited_texts(campaign, [(answer.run_id, docid)])
    [passage] = _all_loaded([docid], {docid: text for (_, docid), text in texts.items()})
    question = questions.support(prompts, sentence=sentence.text, passage=passage)
    return Rendered(
        question, f"Sentence {choice.sentence} of {len(sentences)} and the passage it cites first, {docid}."
    )


_WAYS: dict[str, Callable[[Campaign, Protocol, PromptSet, Topic, Choice], Rendered]] = {
    "creation": _creation,
    "importance": _importance,
    "assignment": _assignment,
    "relevance": _relevance,
    "support": _support,
}


def _texts(campaign: Campaign, docids: Sequence[str]) -> list[str]:
    return _all_loaded(docids, segment_texts(campaign, docids))


def _all_loaded(docids: Sequence[str], texts: Mapping[str, str]) -> list[str]:
    """Return the texts of docids. Raises RenderingError where one is lacking."""
    lacking = [docid for docid in docids if docid not in texts]
    if lacking:
        raise RenderingError(f"The text of passage {lacking[0] or '(name one)'} is not loaded.")
    return [texts[docid] for docid in docids]


def _nuggets(campaign: Campaign, topic: Topic, choice: Choice, batch: int) -> tuple[list[str], str]:
    """Return the first batch of a bank's nuggets, and what it is. Of several people's banks it is the oldest."""
    banks = NuggetBank.objects.filter(condition__campaign=campaign, topic=topic, condition__name=choice.condition)
    bank = banks.select_related("condition", "maker").order_by("pk").first()
    if bank is None:
        raise RenderingError(f"There is no bank of nuggets on {topic.qid} under {choice.condition or 'no condition'}.")
    nuggets = [nugget.text for nugget in nuggets_in_order(bank)]
    if not nuggets:
        raise RenderingError(f"The bank of {bank.maker} under {bank.condition} has no nuggets yet.")
    made_from = f"The first {len(nuggets[:batch])} of {len(nuggets)} nuggets of {bank.maker} under {bank.condition}."
    return nuggets[:batch], made_from


def _answer(campaign: Campaign, topic: Topic, choice: Choice) -> Answer:
    try:
        run = find_run(campaign, choice.run)
    except AmbiguousRun as error:
        raise RenderingError(f"{choice.run} is not {error}.") from error
    if run is None:
        raise RenderingError(f"There is no run {choice.run}." if choice.run else "Name the run whose answer it is.")
    answer = run.answers.filter(topic=topic, apart=False).first()
    if answer is None:
        raise RenderingError(f"{run} has no answer to {topic.qid}.")
    return answer
