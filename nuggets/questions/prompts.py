"""The prompts that make questions: from the query alone, and from passages, which bring a list up to date."""

from collections.abc import Mapping

from assessor.campaigns.models import Campaign, Topic
from assessor.formats.stems import stems
from assessor.llm import replies
from assessor.llm.prompts import Preview, PreviewSubject, Prompt, PromptRequest, PromptSet, list_schema
from nuggets.prompts import CreationPrompt

# About how many tokens a question of a list takes, by which estimates are made before anything is known.
TOKENS_QUESTION = 24
# What a rehearsal asks of a query's words.
_REHEARSED = (
    "What is {}?",
    "Why does {} matter?",
    "How does {} come about?",
    "Who is concerned with {}?",
    "What follows from {}?",
    "Since when is {} known?",
)


class QueryQuestionsPrompt(Prompt[list[str]]):
    """Asks for a number of questions, from the query alone (RUBRIC)."""

    name = "query_questions"
    needed = frozenset({"query", "most"})
    longest = "query"

    def request(self, prompts: PromptSet, *, query: str, most: int) -> PromptRequest[list[str]]:
        """Return the request. most: how many questions are wanted; a reply may still have more, or fewer."""
        messages = prompts.messages(self.name, {"query": query, "most": most})
        schema = list_schema("questions", {"type": "string"}, 1, most)
        return PromptRequest(
            self.name, messages, schema, most * TOKENS_QUESTION, lambda text: replies.texts(text, "question")
        )

    def preview(self, campaign: Campaign, topic: Topic, prompts: PromptSet, subject: PreviewSubject) -> Preview:
        """Return the request of the topic."""
        most = campaign.protocol.max_nuggets
        return Preview(self.request(prompts, query=topic.title, most=most), f"The query of {topic.qid}.")

    def rehearse(self, values: Mapping[str, str]) -> list[str] | None:
        """Return questions about the query's words."""
        words = [word for word in dict.fromkeys(values["query"].lower().split()) if stems(word)]
        asked = [question.format(word.strip("?!.,;:")) for question in _REHEARSED for word in words]
        return asked[: int(values["most"])] or None


class QuestionCreationPrompt(CreationPrompt):
    """Asks for a list of questions, brought up to date with a window of passages."""

    name = "question_creation"
    item = "question"
    kind = "questions"
    published = {}

    def rehearse(self, values: Mapping[str, str]) -> list[str] | None:
        """Return the given list with questions about new clauses of the passages."""
        asked = super().rehearse({**values, "words": "12"})
        return asked and [text if text.endswith("?") else f"What is known of this: {text}?" for text in asked]


QUERY_QUESTIONS_PROMPT, QUESTION_CREATION_PROMPT = QueryQuestionsPrompt(), QuestionCreationPrompt()
