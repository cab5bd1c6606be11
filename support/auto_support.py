"""The automatic judge: a model says of each judged citation how far the cited passage supports the sentence."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import NamedTuple

from django.db.models import Count, QuerySet

from assessor.campaigns.models import Answer, Campaign, Condition, Topic
from assessor.campaigns.passages import cited_lengths, cited_texts, own_versions
from assessor.formats.stems import stems
from assessor.llm import replies
from assessor.llm.actions import JobError
from assessor.llm.job_kind import Ask, Expected, JobKind, TopicState, UnitFailure
from assessor.llm.models import Job, Unit
from assessor.llm.preview import all_loaded, answer_of
from assessor.llm.prompts import (
    TOKENS_LABEL,
    Preview,
    PreviewError,
    PreviewSubject,
    Prompt,
    PromptRequest,
    PromptSet,
    PublishedTemplate,
    object_schema,
)
from assessor.llm.rehearsal.word_overlap import label_by_share
from assessor.runtime.commits import after_commit
from assessor.work.judging_pool import NOT_JUDGED
from support.actions import MOVED, add_lacking_sheets, note_equal, open_labelled, resolve, store_labels
from support.citations import LABELS, Cited, cited_in, pair, places
from support.models import SupportSheet
from support.queries import answers_for_model, answers_without_sheet, labelled_answers, to_judge, unfinished_sheets

_AT_A_TIME = 2_000
_WITH_CITATIONS = ("answer__topic", "answer__run", "answer__references", "answer__content", "import_record")
IN_PROMPT = ("full support", "partial support", "no support")  # what models are to write for LABELS
_LABEL_OF = dict(zip(IN_PROMPT, LABELS, strict=True))
_LABEL = "label"  # how replies are read


class SupportPrompt(Prompt[str]):
    """Asks how far a passage supports a sentence."""

    name = "support"
    needed = frozenset({"sentence", "passage"})
    readers = (_LABEL,)
    vocabulary = IN_PROMPT
    longest = "passage"
    published_text = PublishedTemplate(_LABEL, {"statement": "sentence", "citation": "passage"})

    def request(self, prompts: PromptSet, *, sentence: str, passage: str) -> PromptRequest[str]:
        """Return the request, whose reply is one of IN_PROMPT."""
        schema = object_schema("label", {"type": "string", "enum": list(IN_PROMPT)})
        messages = prompts.messages(self.name, {"sentence": sentence, "passage": passage})
        return PromptRequest(
            self.name,
            messages,
            {} if prompts.reader(self.name) else schema,
            TOKENS_LABEL,
            lambda text: replies.label(text, IN_PROMPT),
        )

    def preview(self, campaign: Campaign, topic: Topic, prompts: PromptSet, subject: PreviewSubject) -> Preview:
        """Return the request for a sentence and the passage that it cites first."""
        answer = answer_of(campaign, topic, subject)
        sentences = list(answer.sentences())
        if not 1 <= subject.sentence <= len(sentences):
            raise PreviewError(
                f"The answer has {len(sentences)} sentences; there is none of number {subject.sentence}."
            )
        sentence = sentences[subject.sentence - 1]
        if not sentence.citations:
            raise PreviewError(f"Sentence {subject.sentence} cites nothing: no model is asked about it.")
        docid = sentence.citations[0].docid
        texts = cited_texts(campaign, [(answer.run_id, docid)])
        [passage] = all_loaded([docid], {docid: text for (_, docid), text in texts.items()})
        made_from = f"Sentence {subject.sentence} of {len(sentences)} and the passage it cites first, {docid}."
        return Preview(self.request(prompts, sentence=sentence.text, passage=passage), made_from)

    def rehearse(self, values: Mapping[str, str]) -> str:
        """Return a label by how many words of the sentence the passage has."""
        return label_by_share(values["sentence"], stems(values["passage"]), IN_PROMPT)


SUPPORT_PROMPT = SupportPrompt()


class Work(NamedTuple):
    """What the model is shown: the sentence, and the segment's text alone, without its title and headings."""

    sentence: str
    docid: str
    passage: str


class Citation(NamedTuple):
    """A citation of an answer, whose topic and run are given by their keys."""

    topic: int
    run: int
    cited: Cited


class Given(NamedTuple):
    """A label, and the docid that it is about: citations of an answer move when a run file brings it further ones."""

    docid: str
    label: str


class Support(JobKind):
    """The kind of job; assessor.llm.job_kind says what each function is for.

    A unit is a citation of an answer, by its key: "2.0".
    """

    name = "Support"
    title = "Judge support"
    summary = "does the cited passage support the sentence?"
    counted = "Answers labelled"
    when_empty = "No run answers a topic. Upload runs."
    condition_kind = "support"
    method = "support automatic"
    prompts = (SUPPORT_PROMPT,)
    about_answers = True
    topics_at_once = 1

    def begin(self, condition: Condition, topics: Sequence[Topic]) -> int:
        """Write the sheets: they are the condition's scope. Nobody is asked about an answer that cites nothing."""
        added = add_lacking_sheets(condition, topics)
        if not added:
            for topic in topics:
                resolve(condition, topic)
                note_equal(condition, topic.pk)
        return added

    def units(self, condition: Condition, topics: Sequence[Topic]) -> Iterator[tuple[int, int, str]]:
        """Yield (topic's key, answer's key, its own) of all citations without a label.

        Those whose segment is not loaded are among them: their units fail, where an organizer sees it. Of equal ones,
        where they are judged once, it is the one that is asked.
        """
        unfinished = unfinished_sheets(condition, topics).select_related("answer")
        sheets = SupportSheet.with_items(unfinished.only("answer__topic", "import_record"))
        for sheet in sheets.order_by("answer__topic_id", "answer_id").iterator(chunk_size=_AT_A_TIME):
            for key in _unlabelled(sheet):
                yield sheet.answer.topic_id, sheet.answer_id, key

    def topic_states(self, condition: Condition, topics: Sequence[Topic]) -> dict[int, TopicState]:
        """Count the answers to each topic, and those all of whose judged citations have a label."""
        answers = dict(answers_for_model(topics).order_by().values_list("topic").annotate(Count("pk")))
        done = labelled_answers(condition)
        return {
            topic.pk: TopicState("" if topic.pk in answers else "no answers", *counts)
            for topic in topics
            for counts in [(done.get(topic.pk, 0), answers.get(topic.pk, 0))]
        }

    def preview_subject(self, unit: Unit) -> PreviewSubject:
        """Return the sentence of a citation."""
        return super().preview_subject(unit)._replace(sentence=places(unit.item)[0] + 1)

    def expected(self, condition: Condition, topics: Sequence[Topic], prompts: PromptSet) -> Expected:
        """Tell what the units will take; those without a text take no call. Raises JobError where nobody answered."""
        if not answers_for_model(topics).exists():
            raise JobError("No run answers any of the topics.")
        around = SUPPORT_PROMPT.request(prompts, sentence="", passage="").characters
        calls = characters = 0
        known = _judged_pairs(condition, topics) if condition.protocol.equal_pairs_once else None
        for found in _unlabelled_citations(condition, topics):
            asked = found if known is None else list(_first_of_equal(found, known))
            length_of = cited_lengths(condition.campaign, {(one.run, one.cited.docid) for one in asked})
            loaded = [one for one in asked if (one.run, one.cited.docid) in length_of]
            calls += len(loaded)
            characters += sum(around + len(one.cited.sentence) + length_of[one.run, one.cited.docid] for one in loaded)
        return Expected(calls, characters, TOKENS_LABEL * calls)

    def prepare(self, job: Job, units: Sequence[Unit]) -> Mapping[int, Work | UnitFailure]:
        """Read the sentences and passages of a batch."""
        cited: dict[tuple[int, str], Citation] = {}
        keys = _keys_by_answer(units)
        sheets = SupportSheet.in_or_out.filter(condition=job.condition_id, answer__in=keys.keys())
        told = list(SupportSheet.with_items(sheets))
        outside = {sheet.answer_id for sheet in told if sheet.out_of_scope}
        asked = {(sheet.answer_id, key) for sheet in told if not sheet.out_of_scope for key in sheet.asked}
        answers = Answer.objects.filter(pk__in=keys.keys())
        for answer in answers.only("topic", "run", "references", "content"):
            cited |= {(answer.pk, key): one for key, one in _citations(answer, keys[answer.pk]).items()}
        texts = cited_texts(job.campaign, {(one.run, one.cited.docid) for one in cited.values()})
        prepared: dict[int, Work | UnitFailure] = {}
        for unit in units:
            place = _place(unit)
            if unit.answer_id in outside:
                prepared[unit.pk] = UnitFailure(NOT_JUDGED)
            else:
                prepared[unit.pk] = _work(cited[place], texts) if place in asked else UnitFailure(MOVED)
        return prepared

    async def carry_out(self, work: Work, ask: Ask) -> Given:
        """Ask for the label."""
        label = await ask(SUPPORT_PROMPT.request(ask.prompts, sentence=work.sentence, passage=work.passage))
        return Given(work.docid, _LABEL_OF[label])

    def store(self, job: Job, results: Sequence[tuple[Unit, Given]]) -> None:
        """Write the labels, those of one answer together."""
        said: dict[int, dict[tuple[int, str], str]] = {}
        for unit, given in results:
            answer, key = _place(unit)
            said.setdefault(answer, {})[places(key)[0], given.docid] = given.label
        store_labels(job, said)
        topics = {unit.topic_id for unit, _ in results}
        after_commit(open_labelled, job.condition, topics)

    def unit_names(self, units: Collection[Unit]) -> Mapping[int, str]:
        """Return for each citation the run's tag, the number of the sentence and the docid."""
        named = {}
        keys = _keys_by_answer(units)
        answers = Answer.objects.filter(pk__in=keys.keys()).select_related("run")
        for answer in answers.only("run__tag", "references", "content"):
            for key, one in cited_in(list(answer.sentences()), keys[answer.pk]).items():
                named[answer.pk, key] = f"{answer.run.tag}, sentence {places(key)[0] + 1}, {one.docid}"
        return {unit.pk: named[_place(unit)] for unit in units if _place(unit) in named}


def _citations(answer: Answer, keys: Iterable[str]) -> dict[str, Citation]:
    """Return citations of an answer, by their keys."""
    found = cited_in(list(answer.sentences()), keys)
    return {key: Citation(answer.topic_id, answer.run_id, one) for key, one in found.items()}


def _work(citation: Citation, texts: Mapping[tuple[int, str], str]) -> Work | UnitFailure:
    sentence, docid = citation.cited
    text = texts.get((citation.run, docid))
    return UnitFailure(f"The text of {docid} is not loaded.") if text is None else Work(sentence, docid, text)


def _unlabelled(sheet: SupportSheet) -> list[str]:
    """Return the citations of a sheet of which nothing is said, and no equal one is asked about."""
    settled = sheet.settled_elsewhere
    return [key for key in sheet.asked if not sheet.is_said(key) and key not in settled]


def _unlabelled_citations(condition: Condition, topics: Sequence[Topic]) -> Iterator[list[Citation]]:
    """Yield the citations that lack a label, those of some thousand answers at a time."""
    for answers in answers_without_sheet(condition, topics):
        asked = to_judge(condition, answers)
        yield [one for answer in answers for one in _citations(answer, asked[answer.pk]).values()]
    unfinished = unfinished_sheets(condition, topics).order_by().select_related("answer").only(*_WITH_CITATIONS)
    for some in _chunks(unfinished):
        yield [one for sheet in some for one in _citations(sheet.answer, _unlabelled(sheet)).values()]


def _chunks(sheets: "QuerySet[SupportSheet]") -> Iterator[list[SupportSheet]]:
    rows = SupportSheet.with_items(sheets).iterator(chunk_size=_AT_A_TIME)
    while some := list(islice(rows, _AT_A_TIME)):
        yield some


def _judged_pairs(condition: Condition, topics: Sequence[Topic]) -> set[int]:
    """Return the hashes of the pairs of which something is said: they could be as many as citations."""
    sheets = SupportSheet.objects.filter(condition=condition.pk, answer__topic__in=topics).select_related("answer")
    known: set[int] = set()
    for some in _chunks(sheets.only(*_WITH_CITATIONS)):
        of_some = (_citations(sheet.answer, (*sheet.labels, *sheet.cannot)).values() for sheet in some)
        known |= {of_pair for _, of_pair in _hashed(list(chain.from_iterable(of_some)))}
    return known


def _first_of_equal(found: Sequence[Citation], known: set[int]) -> Iterator[Citation]:
    """Yield those that are equal to none before and none that is known, and have them known."""
    for one, of_pair in _hashed(found):
        if of_pair not in known:
            known.add(of_pair)
            yield one


def _hashed(found: Sequence[Citation]) -> Iterator[tuple[Citation, int]]:
    """Yield citations, each with the hash of its pair of sentence and passage in its topic."""
    versions = own_versions((one.run, one.cited.docid) for one in found)
    for one in found:
        yield one, hash((one.topic, pair(*one.cited, versions.get((one.run, one.cited.docid), ""))))


def _place(unit: Unit) -> tuple[int, str]:
    """Return the keys of a unit's answer and citation."""
    assert unit.answer_id is not None, "each is about an answer"
    return unit.answer_id, unit.item


def _keys_by_answer(units: Collection[Unit]) -> dict[int, list[str]]:
    keys: dict[int, list[str]] = {}
    for answer, key in map(_place, units):
        keys.setdefault(answer, []).append(key)
    return keys
