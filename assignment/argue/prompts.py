"""What models are asked of the sentences of reports: each time a question with YES or NO for a reply."""

from collections.abc import Mapping

from assessor.campaigns.models import Campaign, Sentence, Topic
from assessor.campaigns.passages import cited_passages
from assessor.formats.stems import stems
from assessor.llm import replies
from assessor.llm.preview import all_loaded, answer_of
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
from assignment.argue.documents import document_text
from assignment.argue.vocabulary import NO, YES
from nuggets.models import NuggetBank
from nuggets.queries import nuggets_in_order

IN_PROMPT = ("NO", "YES")
_LABEL_OF = dict(zip(IN_PROMPT, (NO, YES), strict=True))
_MUCH, _SOME = 0.75, 0.5  # shares of words, for rehearsals
_SAYS_LITTLE = 3  # stems: a rehearsal takes what has fewer for a heading
_ABSENCE = ("no source", "not known", "unknown", "no record", "not reported")


class YesNoPrompt(Prompt[str]):
    """Asks a question about a sentence of a report."""

    vocabulary = IN_PROMPT
    readers = ("label",)

    def request(self, prompts: PromptSet, **values: str) -> PromptRequest[str]:
        """Return the request, whose reply becomes a label. values: what is filled in."""
        schema = object_schema("label", {"type": "string", "enum": list(IN_PROMPT)})
        return PromptRequest(
            self.name,
            prompts.messages(self.name, values),
            {} if prompts.reader(self.name) else schema,
            TOKENS_LABEL,
            lambda text: _LABEL_OF[replies.label(text, IN_PROMPT)],
        )

    def preview(self, campaign: Campaign, topic: Topic, prompts: PromptSet, subject: PreviewSubject) -> Preview:
        """Return the request for a sentence of a run's report."""
        sentences = list(answer_of(campaign, topic, subject).sentences())
        if not 1 <= subject.sentence <= len(sentences):
            raise PreviewError(
                f"The report has {len(sentences)} sentences; there is none of number {subject.sentence}."
            )
        values, made_from = self._of_preview(campaign, topic, subject, sentences)
        return Preview(self.request(prompts, **values), f"Sentence {subject.sentence} of {len(sentences)}{made_from}.")

    def _of_preview(
        self, campaign: Campaign, topic: Topic, subject: PreviewSubject, sentences: list[Sentence]
    ) -> tuple[dict[str, str], str]:
        """Return what is filled in, and what besides the sentence it is made from."""
        return {"sentence": sentences[subject.sentence - 1].text}, ""


class AttestPrompt(YesNoPrompt):
    """Asks whether a cited document supports a sentence."""

    name = "attest"
    needed = frozenset({"sentence", "document"})
    longest = "document"

    def _of_preview(
        self, campaign: Campaign, topic: Topic, subject: PreviewSubject, sentences: list[Sentence]
    ) -> tuple[dict[str, str], str]:
        sentence = sentences[subject.sentence - 1]
        if not sentence.citations:
            raise PreviewError(f"Sentence {subject.sentence} cites nothing: no model is asked what attests it.")
        docid = sentence.citations[0].docid
        run = answer_of(campaign, topic, subject).run_id
        passages = cited_passages(campaign, [(run, docid)])
        [document] = all_loaded([docid], {docid: document_text(passage) for (_, docid), passage in passages.items()})
        return {"sentence": sentence.text, "document": document}, f" and the document that it cites first, {docid}"

    def rehearse(self, values: Mapping[str, str]) -> str:
        """Return a reply by how many words of the sentence the document has."""
        return _reply(share(values["sentence"], stems(values["document"])) >= _MUCH)


class AnswersQuestionPrompt(YesNoPrompt):
    """Asks whether a sentence states a gold answer to a question."""

    name = "answers_question"
    needed = frozenset({"sentence", "question", "gold"})
    longest = "sentence"

    def _of_preview(
        self, campaign: Campaign, topic: Topic, subject: PreviewSubject, sentences: list[Sentence]
    ) -> tuple[dict[str, str], str]:
        banks = NuggetBank.objects.filter(condition__campaign=campaign, topic=topic, condition__name=subject.condition)
        bank = banks.order_by("pk").first()
        asked = [
            (nugget.text, gold["text"])
            for nugget in (nuggets_in_order(bank) if bank else ())
            for gold in nugget.gold or ()
        ]
        if not asked:
            under = subject.condition or "no condition"
            raise PreviewError(f"There is no question with a gold answer on {topic.qid} under {under}.")
        [(question, gold), *_] = asked
        values = {"sentence": sentences[subject.sentence - 1].text, "question": question, "gold": gold}
        return values, f", and the first question of {subject.condition} with its first gold answer"

    def rehearse(self, values: Mapping[str, str]) -> str:
        """Return a reply by how many words of the answer, and any of the question, the sentence has."""
        sentence = stems(values["sentence"])
        is_on_it = bool(stems(values["question"]) & sentence)
        return _reply(is_on_it and share(values["gold"], sentence) >= _SOME)


class NeedsCitationPrompt(YesNoPrompt):
    """Asks whether a sentence without citations needs one."""

    name = "needs_citation"
    needed = frozenset({"sentence"})
    longest = "sentence"

    def rehearse(self, values: Mapping[str, str]) -> str:
        """Return a reply by how much the sentence says."""
        return _reply(len(stems(values["sentence"])) >= _SAYS_LITTLE)


class FirstInstancePrompt(YesNoPrompt):
    """Asks whether what a sentence says is new in its report."""

    name = "first_instance"
    needed = frozenset({"sentence", "previous"})
    longest = "previous"

    def _of_preview(
        self, campaign: Campaign, topic: Topic, subject: PreviewSubject, sentences: list[Sentence]
    ) -> tuple[dict[str, str], str]:
        before = previous(sentences, subject.sentence - 1)
        return {"sentence": sentences[subject.sentence - 1].text, "previous": before}, " and those before it"

    def rehearse(self, values: Mapping[str, str]) -> str:
        """Return a reply by how many words of the sentence those before have."""
        return _reply(share(values["sentence"], stems(values["previous"])) < _MUCH)


class NegativePrompt(YesNoPrompt):
    """Asks whether a sentence claims that something is not known."""

    name = "negative"
    needed = frozenset({"sentence"})
    longest = "sentence"

    def rehearse(self, values: Mapping[str, str]) -> str:
        """Return a reply by the words that such claims often have."""
        return _reply(any(words in values["sentence"].lower() for words in _ABSENCE))


def _reply(is_so: bool) -> str:
    return IN_PROMPT[is_so]


def previous(sentences: list[Sentence], at: int) -> str:
    """Return what stands before a sentence, joined with blanks."""
    return " ".join(sentence.text for sentence in sentences[:at])


ATTEST, ANSWERS_QUESTION, NEEDS_CITATION = AttestPrompt(), AnswersQuestionPrompt(), NeedsCitationPrompt()
FIRST_INSTANCE, NEGATIVE_CLAIM = FirstInstancePrompt(), NegativePrompt()
