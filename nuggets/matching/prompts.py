"""The prompt that has a nugget of one bank matched with all of another."""

from collections.abc import Mapping, Sequence

from assessor.campaigns.models import Campaign, Topic
from assessor.formats.stems import stems
from assessor.llm.prompts import Preview, PreviewSubject, PromptRequest, PromptSet
from assessor.llm.rehearsal.word_overlap import share
from nuggets.prompts import NuggetLabelsPrompt, first_batch, nuggets_in_prompt

SAME, DIFFERENT = "same", "different"
_ALIKE = 0.5  # of the stems of both nuggets: with more in common, a rehearsal takes them for the same


class MatchingPrompt(NuggetLabelsPrompt):
    """Asks of each nugget of a list whether it says the same as one of another list."""

    name = "matching"
    needed = frozenset({"query", "nugget", "nuggets"})
    vocabulary = (DIFFERENT, SAME)

    def request(
        self, prompts: PromptSet, *, query: str, nugget: str, nuggets: Sequence[str]
    ) -> PromptRequest[list[str]]:
        """Return the request."""
        return self.labels_request(prompts, self.vocabulary, nuggets, {"query": query, "nugget": nugget})

    def preview(self, campaign: Campaign, topic: Topic, prompts: PromptSet, subject: PreviewSubject) -> Preview:
        """Return the request for a bank's first nugget, and the bank itself as the other one."""
        nuggets, made_from = first_batch(campaign, topic, subject, 50)
        request = self.request(prompts, query=topic.title, nugget=nuggets[0], nuggets=nuggets)
        return Preview(request, f"{made_from} The first of them against all, in place of another bank.")

    def rehearse(self, values: Mapping[str, str]) -> list[str] | None:
        """Return "same" for nuggets that share more than half of their words, and of the other nugget's, with it."""
        nuggets = nuggets_in_prompt(values)
        if nuggets is None:
            return None
        nugget = values["nugget"]
        alike = [min(share(nugget, stems(one)), share(one, stems(nugget))) > _ALIKE for one in nuggets]
        return [SAME if is_alike else DIFFERENT for is_alike in alike]


MATCHING_PROMPT = MatchingPrompt()
