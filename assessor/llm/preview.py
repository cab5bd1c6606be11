"""Previews: what would be sent to a model for one topic, put together from what is loaded, without asking anybody."""

from collections.abc import Mapping, Sequence

from assessor.campaigns.models import Answer, Campaign, Topic
from assessor.campaigns.queries import AmbiguousRun, find_run, segment_texts
from assessor.llm.job_kind import job_prompts
from assessor.llm.prompts import Preview, PreviewError, PreviewSubject, PromptSet


def preview(campaign: Campaign, name: str, prompts: PromptSet, subject: PreviewSubject) -> Preview:
    """Return the request of the prompt of this name. Raises PreviewError, and PromptSetError where the set lacks it.

    Where a job would ask more than once on the topic, it is the first time: the first window, the first batch.
    """
    topic = campaign.topics.filter(qid=subject.topic).first()
    if topic is None:
        raise PreviewError(f"There is no topic {subject.topic}.")
    prompt = job_prompts()[name]
    prompts.require([prompt], "the preview")
    return prompt.preview(campaign, topic, prompts, subject)._replace(reader=prompts.reader(name))


def passage_texts(campaign: Campaign, docids: Sequence[str]) -> list[str]:
    """Return the campaign's texts of docids. Raises PreviewError where one is lacking."""
    return all_loaded(docids, segment_texts(campaign, docids))


def all_loaded(docids: Sequence[str], texts: Mapping[str, str]) -> list[str]:
    """Return the texts of docids. Raises PreviewError where one is lacking."""
    lacking = [docid for docid in docids if docid not in texts]
    if lacking:
        raise PreviewError(f"The text of passage {lacking[0] or '(name one)'} is not loaded.")
    return [texts[docid] for docid in docids]


def answer_of(campaign: Campaign, topic: Topic, subject: PreviewSubject) -> Answer:
    """Return the answer of the run that a preview names. Raises PreviewError."""
    try:
        run = find_run(campaign, subject.run)
    except AmbiguousRun as error:
        raise PreviewError(f"{subject.run} is not {error}.") from error
    if run is None:
        raise PreviewError(f"There is no run {subject.run}." if subject.run else "Name the run whose answer it is.")
    answer = run.answers.filter(topic=topic, apart=False).first()
    if answer is None:
        raise PreviewError(f"{run} has no answer to {topic.qid}.")
    return answer
