"""The prompt that has a sentence of an answer looked for in a bank."""

from collections.abc import Mapping, Sequence

from assessor.campaigns.models import Campaign, Topic
from assessor.formats.stems import stems
from assessor.llm.preview import answer_of
from assessor.llm.prompts import Preview, PreviewError, PreviewSubject, PromptRequest, PromptSet
from assessor.llm.rehearsal.word_overlap import share
from nuggets.prompts import NuggetLabelsPrompt, first_batch, nuggets_in_prompt

STATED, ABSENT = "stated", "absent"
_STATED_FROM = 0.5  # of a nugget's stems: with more of them in a sentence, a rehearsal takes it for stated


class CandidatesPrompt(NuggetLabelsPrompt):
    """Asks of each nugget of a list whether a sentence states it."""

    name = "candidates"
    needed = frozenset({"query", "sentence", "nuggets"})
    vocabulary = (ABSENT, STATED)

    def request(
        self, prompts: PromptSet, *, query: str, sentence: str, nuggets: Sequence[str]
    ) -> PromptRequest[list[str]]:
        """Return the request."""
        return self.labels_request(prompts, self.vocabulary, nuggets, {"query": query, "sentence": sentence})

    def preview(self, campaign: Campaign, topic: Topic, prompts: PromptSet, subject: PreviewSubject) -> Preview:
        """Return the request for a sentence of an answer and a bank."""
        nuggets, made_from = first_batch(campaign, topic, subject, 50)
        sentences = list(answer_of(campaign, topic, subject).sentences())
        if not 1 <= subject.sentence <= len(sentences):
            raise PreviewError(
                f"The answer has {len(sentences)} sentences; there is none of number {subject.sentence}."
            )
        text = " ".join(sentences[subject.sentence - 1].text.split())
        request = self.request(prompts, query=topic.title, sentence=text, nuggets=nuggets)
        return Preview(request, f"{made_from} Sentence {subject.sentence} of {len(sentences)} of the answer.")

    def rehearse(self, values: Mapping[str, str]) -> list[str] | None:
        """Return "stated" for nuggets of whose words the sentence has more than half."""
        nuggets = nuggets_in_prompt(values)
        if nuggets is None:
            return None
        sentence = stems(values["sentence"])
        return [STATED if share(one, sentence) > _STATED_FROM else ABSENT for one in nuggets]


CANDIDATES_PROMPT = CandidatesPrompt()
