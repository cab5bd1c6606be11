"""The prompts that make nuggets: creation, which brings a list up to date, and importance, which labels its nuggets."""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.campaigns.queries import byte_order
from assessor.formats.stems import stems
from assessor.llm import replies
from assessor.llm.preview import passage_texts
from assessor.llm.prompts import (
    TOKENS_LABEL,
    Preview,
    PreviewError,
    PreviewSubject,
    Prompt,
    PromptRequest,
    PromptSet,
    PublishedTemplate,
    list_schema,
)
from assessor.llm.rehearsal.word_overlap import clauses
from nuggets.formats import IMPORTANCE
from nuggets.models import NuggetBank
from nuggets.queries import nuggets_in_order

# About how many tokens a nugget of a list takes, by which estimates are made before anything is known.
TOKENS_NUGGET = 16
NUGGET_LIST, LABEL_LIST = "list of nuggets", "list of labels"
# The list as Python writes it, which otherwise is JSON.
PYTHON_NUGGETS = {"python_nuggets": "nuggets"}
PUBLISHED_LABELS = {"query": "query", "nuggets": "python_nuggets", "num_nuggets": "count"}
_NUMBERED = re.compile(r"^\[\d+\] ", re.MULTILINE)
_FROM_A_PASSAGE = 2  # nuggets of a rehearsal at most, so that later passages have room


class CreationPrompt(Prompt[list[str]]):
    """Asks for a list of nuggets, brought up to date with a window of passages."""

    name = "creation"
    item = "nugget"  # what replies are read as lists of
    kind = "nuggets"  # of the conditions that previews name
    needed = frozenset({"query", "passages", "nuggets"})
    allowed = frozenset({"count", "most", "words"})
    # Passages with their line breaks, which otherwise take a line each.
    spellings = PYTHON_NUGGETS | {"raw_passages": "passages"}
    readers = (NUGGET_LIST,)
    longest = "passages"
    published: Mapping[str, PublishedTemplate] = {
        "nugget_creation": PublishedTemplate(
            NUGGET_LIST,
            {
                "query": "query",
                "context": "raw_passages",
                "nuggets": "python_nuggets",
                "nuggets_length": "count",
                "creator_max_nuggets": "most",
            },
        )
    }

    def request(
        self, prompts: PromptSet, *, query: str, passages: Sequence[str], nuggets: Sequence[str], most: int, words: int
    ) -> PromptRequest[list[str]]:
        """Return the request. most, words: of the list and of a nugget; a reply may still have more."""
        numbered = "\n".join(f"[{number}] {' '.join(text.split())}" for number, text in enumerate(passages, start=1))
        values = {
            "query": query,
            "passages": numbered,
            "raw_passages": "\n".join(f"[{number}] {text}" for number, text in enumerate(passages, start=1)),
            **_spelled(nuggets),
            "count": len(nuggets),
            "most": most,
            "words": words,
        }
        # Some endpoints refuse a schema with minLength.
        schema = {} if prompts.reader(self.name) else list_schema(f"{self.item}s", {"type": "string"}, 1, most)
        messages = prompts.messages(self.name, values)
        return PromptRequest(
            self.name, messages, schema, most * TOKENS_NUGGET, lambda text: replies.texts(text, self.item)
        )

    def preview(self, campaign: Campaign, topic: Topic, prompts: PromptSet, subject: PreviewSubject) -> Preview:
        """Return the first window."""
        protocol = campaign.protocol
        known = campaign.conditions.filter(kind=self.kind).select_related("protocol", "qrels_source")
        condition = known.filter(name=subject.condition).first() if subject.condition else Condition(protocol=protocol)
        if condition is None:
            raise PreviewError(f"There are no nuggets called {subject.condition}.")
        source = condition.qrels_source
        if subject.qrels:
            source = campaign.qrels_sources.filter(name=subject.qrels).first()
        if source is None:
            raise PreviewError("Name the qrels: passages of relevant grades are what nuggets are made from.")
        least = condition.relevance_threshold
        relevant = source.grades.filter(topic=topic, grade__gte=least).order_by(byte_order("docid"))
        docids = list(relevant.values_list("docid", flat=True)[: protocol.window_segments])
        if not docids:
            raise PreviewError(f"{source} has no passage of grade {least} or more for {topic.qid}.")
        request = self.request(
            prompts,
            query=topic.title,
            passages=passage_texts(campaign, docids),
            nuggets=[],
            most=protocol.max_drafts,
            words=protocol.advised_words,
        )
        return Preview(request, f"The first window, of {relevant.count()} relevant passages: {', '.join(docids)}.")

    def rehearse(self, values: Mapping[str, str]) -> list[str] | None:
        """Return the given list with new clauses of the passages, those that share most with the query first."""
        nuggets = nuggets_in_prompt(values)
        if nuggets is None:
            return None
        query, words = stems(values["query"]), int(values.get("words", 12))
        passages = [text.strip() for text in _NUMBERED.split(values["passages"]) if text.strip()]
        by_passage = [clauses(text, words) for text in passages]
        updated = list(nuggets)
        for some in by_passage:
            on_topic = [clause for clause in some if stems(clause) & query]
            _add_new(updated, sorted(on_topic, key=lambda clause: -len(stems(clause) & query)))
        if not updated:  # a list may not be empty: better something beside the point
            for some in by_passage:
                _add_new(updated, some)
        return sorted(updated, key=lambda nugget: -len(stems(nugget) & query))[: int(values.get("most", 30))]


class NuggetLabelsPrompt(Prompt[list[str]]):
    """Asks for a label of each nugget of a list, in order.

    schema_reader: the reader for replies that have a schema, for texts that name it.
    """

    spellings = PYTHON_NUGGETS
    schema_reader = ""
    allowed = frozenset({"count"})

    def labels_request(
        self, prompts: PromptSet, vocabulary: Sequence[str], nuggets: Sequence[str], values: Mapping[str, object]
    ) -> PromptRequest[list[str]]:
        """Return the request. values: what is filled in beside the nuggets."""
        count = len(nuggets)
        messages = prompts.messages(self.name, {**values, **_spelled(nuggets), "count": count})
        label = {"type": "string", "enum": list(vocabulary)}
        has_schema = prompts.reader(self.name) in ("", self.schema_reader)
        schema = list_schema("labels", label, count, count) if has_schema else {}
        return PromptRequest(
            self.name,
            messages,
            schema,
            count * TOKENS_LABEL,
            lambda text: replies.labels(text, vocabulary, count, "nugget"),
        )


class ImportancePrompt(NuggetLabelsPrompt):
    """Asks how important each nugget is."""

    name = "importance"
    needed = frozenset({"query", "nuggets"})
    readers = (LABEL_LIST,)
    vocabulary = IMPORTANCE
    published = {"nugget_scoring": PublishedTemplate(LABEL_LIST, PUBLISHED_LABELS)}

    def request(self, prompts: PromptSet, *, query: str, nuggets: Sequence[str]) -> PromptRequest[list[str]]:
        """Return the request."""
        return self.labels_request(prompts, IMPORTANCE, nuggets, {"query": query})

    def trial(self, prompts: PromptSet) -> PromptRequest[list[str]]:
        """Return a request for two nuggets."""
        nuggets = ("Chlorophyll breaks down in autumn", "Trees are plants")
        return self.request(prompts, query="why do leaves turn yellow in autumn", nuggets=nuggets)

    def preview(self, campaign: Campaign, topic: Topic, prompts: PromptSet, subject: PreviewSubject) -> Preview:
        """Return the first batch of a bank."""
        nuggets, made_from = first_batch(campaign, topic, subject, campaign.protocol.importance_batch)
        return Preview(self.request(prompts, query=topic.title, nuggets=nuggets), made_from)

    def rehearse(self, values: Mapping[str, str]) -> list[str] | None:
        """Return "vital" for nuggets that share half as much with the query as the best of them."""
        nuggets = nuggets_in_prompt(values)
        if nuggets is None:
            return None
        query = stems(values["query"])
        shared = [len(stems(nugget) & query) for nugget in nuggets]
        least = max([1, *shared]) / 2
        return ["vital" if count >= least else "okay" for count in shared]


CREATION_PROMPT, IMPORTANCE_PROMPT = CreationPrompt(), ImportancePrompt()


def first_batch(campaign: Campaign, topic: Topic, subject: PreviewSubject, batch: int) -> tuple[list[str], str]:
    """Return the first nuggets of a bank, and what they are. Of several people's banks it is the oldest.

    Raises PreviewError where there is none.
    """
    banks = NuggetBank.objects.filter(condition__campaign=campaign, topic=topic, condition__name=subject.condition)
    bank = banks.select_related("condition", "maker").order_by("pk").first()
    if bank is None:
        raise PreviewError(f"There is no bank of nuggets on {topic.qid} under {subject.condition or 'no condition'}.")
    nuggets = [nugget.text for nugget in nuggets_in_order(bank)]
    if not nuggets:
        raise PreviewError(f"The bank of {bank.maker} under {bank.condition} has no nuggets yet.")
    made_from = f"The first {len(nuggets[:batch])} of {len(nuggets)} nuggets of {bank.maker} under {bank.condition}."
    return nuggets[:batch], made_from


def nuggets_in_prompt(values: Mapping[str, str]) -> list[str] | None:
    """Return the list of nuggets that was filled in, in JSON or as Python writes it; None for anything else."""
    try:
        found: Any = json.loads(values["nuggets"])
    except (ValueError, RecursionError):
        try:
            found = ast.literal_eval(values["nuggets"])
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return None
    return found if isinstance(found, list) and all(isinstance(entry, str) for entry in found) else None


def _spelled(nuggets: Sequence[str]) -> dict[str, str]:
    """Return a list of nuggets as JSON and as Python writes it."""
    return {"nuggets": json.dumps(list(nuggets), ensure_ascii=False), "python_nuggets": repr(list(nuggets))}


def _add_new(nuggets: list[str], candidates: Sequence[str]) -> None:
    """Add the first texts that say nothing that a nugget says already."""
    added = 0
    for text in candidates:
        if added < _FROM_A_PASSAGE and not any(_are_alike(stems(text), stems(other)) for other in nuggets):
            nuggets.append(text)
            added += 1


def _are_alike(some: frozenset[str], others: frozenset[str]) -> bool:
    return len(some & others) > 0.6 * len(some | others)
