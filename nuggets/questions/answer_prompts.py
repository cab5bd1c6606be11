"""The prompts that make questions from answers of runs: from a better and a worse one, and from one alone."""

from collections.abc import Mapping, Sequence

from assessor.campaigns.models import Campaign, Topic
from assessor.formats.stems import stems
from assessor.formats.values import to_json
from assessor.llm import replies
from assessor.llm.preview import answer_of
from assessor.llm.prompts import Preview, PreviewError, PreviewSubject, Prompt, PromptRequest, PromptSet, list_schema
from assessor.llm.rehearsal.word_overlap import clauses, share
from assessor.preference.pref_judge import topic_words
from nuggets.questions.pair_order import OF_A_REPLY
from nuggets.questions.prompts import TOKENS_QUESTION


class AnswersPrompt(Prompt[list[str]]):
    """Asks for questions from answers, given the questions so far, some of which may be named again.

    answers: the placeholders of the answers' texts, in their order.
    """

    answers: tuple[str, ...]
    allowed = frozenset({"background", "most"})

    def request(
        self, prompts: PromptSet, *, query: str, background: str, texts: Sequence[str], questions: Sequence[str]
    ) -> PromptRequest[list[str]]:
        """Return the request. texts: of the answers; questions: those so far."""
        values = {"query": query, "background": background, "questions": to_json(list(questions)), "most": OF_A_REPLY}
        messages = prompts.messages(self.name, {**values, **dict(zip(self.answers, texts, strict=True))})
        schema = list_schema("questions", {"type": "string"}, 0, OF_A_REPLY)
        return PromptRequest(
            self.name,
            messages,
            schema,
            OF_A_REPLY * TOKENS_QUESTION,
            lambda text: replies.texts(text, "question", may_be_empty=True),
        )

    def preview(self, campaign: Campaign, topic: Topic, prompts: PromptSet, subject: PreviewSubject) -> Preview:
        """Return the first request of a topic, about the answer of the run that is named, and that of another run."""
        found = [answer_of(campaign, topic, subject)]
        if len(self.answers) > 1:
            others = topic.answers.filter(apart=False).exclude(run=found[0].run).select_related("run")
            other = others.order_by("run__tag").first()
            if other is None:
                raise PreviewError(f"{topic.qid} has no other answer to compare it with.")
            found.append(other)
        request = self.request(prompts, **topic_words(topic), texts=[one.text for one in found], questions=[])
        return Preview(
            request,
            f"{'The answers' if len(found) > 1 else 'The answer'} of {' and '.join(str(one.run) for one in found)}.",
        )

    def rehearse(self, values: Mapping[str, str]) -> list[str] | None:
        """Return questions about clauses of the answer that comes first and is missing in the other one."""
        known = stems(" ".join(values[name] for name in self.answers[1:]))
        new = [clause for clause in clauses(values[self.answers[0]], 12) if share(clause, known) < 1]
        return [f"What is known of this: {clause}?" for clause in new[:OF_A_REPLY]]


class ContrastPrompt(AnswersPrompt):
    """Asks which questions the better of two answers answers much better."""

    name = "contrast"
    answers = ("winner", "loser")
    needed = frozenset({"query", "winner", "loser", "questions"})
    longest = "winner"


class GroundedQuestionsPrompt(AnswersPrompt):
    """Asks which questions an answer answers that matter."""

    name = "grounded_questions"
    answers = ("answer",)
    needed = frozenset({"query", "answer", "questions"})
    longest = "answer"


CONTRAST_PROMPT, GROUNDED_QUESTIONS_PROMPT = ContrastPrompt(), GroundedQuestionsPrompt()
