"""The prompt that has a passage read for a question."""

from collections.abc import Mapping
from typing import NamedTuple

from assessor.campaigns.models import Campaign, Topic
from assessor.formats.stems import stems
from assessor.llm import replies
from assessor.llm.preview import passage_texts
from assessor.llm.prompts import Preview, PreviewSubject, Prompt, PromptRequest, PromptSet
from assessor.llm.rehearsal.word_overlap import share
from nuggets.condition_kind import nugget_kind
from nuggets.prompts import first_batch
from nuggets.reports.assembly import as_question, chunks, fold, is_verbatim

SUREST = 10
TOKENS_OUT = 120
_FIELDS = ("extracted", "condensed", "confidence")
_LONGEST = 2_000  # characters of a condensed sentence
_LITTLE = 0.25  # of a question's stems, with which a rehearsal finds that a passage says nothing
_SCHEMA = {
    "type": "object",
    "properties": {
        "extracted": {"type": "string"},
        "condensed": {"type": "string"},
        "confidence": {"type": "integer", "enum": list(range(SUREST + 1))},
    },
    "required": list(_FIELDS),
    "additionalProperties": False,
}


class Said(NamedTuple):
    """What a chunk says to a question: word for word, in a sentence of its own, and how sure that is."""

    extracted: str
    condensed: str
    confidence: int


class ReportPrompt(Prompt[Said | None]):
    """Asks what a passage says to a question."""

    name = "report"
    needed = frozenset({"question", "passage"})
    longest = "passage"

    def request(self, prompts: PromptSet, *, question: str, passage: str) -> PromptRequest[Said | None]:
        """Return the request, whose reply is None where the passage says nothing."""
        messages = prompts.messages(self.name, {"question": question, "passage": passage})
        return PromptRequest(self.name, messages, _SCHEMA, TOKENS_OUT, lambda text: read_said(text, passage))

    def preview(self, campaign: Campaign, topic: Topic, prompts: PromptSet, subject: PreviewSubject) -> Preview:
        """Return the request for a bank's first question and the first chunk of a passage."""
        [nugget], made_from = first_batch(campaign, topic, subject, 1)
        bank = campaign.conditions.get(name=subject.condition)
        question = as_question(nugget, is_fact=nugget_kind(bank).gold is None)
        [text] = passage_texts(campaign, [subject.docid])
        request = self.request(prompts, question=question, passage=next(iter(chunks(text)), ""))
        return Preview(request, f"{made_from} The beginning of {subject.docid}.")

    def rehearse(self, values: Mapping[str, str]) -> dict[str, object]:
        """Return the sentence of the passage that shares most with the question, as it is and shortened."""
        question = stems(values["question"])
        sentences = [part.strip() for part in values["passage"].replace("? ", "?\n").replace(". ", ".\n").splitlines()]
        best = max(filter(None, sentences), key=lambda one: len(stems(one) & question), default="")
        shared = share(values["question"], stems(best))
        if shared < _LITTLE:
            return {"extracted": "", "condensed": "", "confidence": 0}
        condensed = " ".join(best.split()[:40])
        return {"extracted": best, "condensed": condensed, "confidence": round(shared * SUREST)}


REPORT_PROMPT = ReportPrompt()


def read_said(text: str, passage: str) -> Said | None:
    """Return what a reply says of a passage; None where that says nothing. Raises replies.WrongAnswer."""
    found = replies.fields(text, _FIELDS)
    extracted, condensed, confidence = (found[name] for name in _FIELDS)
    if not isinstance(extracted, str) or not isinstance(condensed, str):
        raise replies.WrongAnswer('"extracted" and "condensed" must be texts.')
    if type(confidence) is not int or not 0 <= confidence <= SUREST:
        raise replies.WrongAnswer(f'"confidence" must be a whole number from 0 to {SUREST}.')
    extracted, condensed = fold(extracted), fold(condensed)
    if bool(extracted) != bool(condensed):
        raise replies.WrongAnswer('"extracted" and "condensed" must both have a text, or both be empty.')
    if not extracted:
        return None
    if not is_verbatim(extracted, passage):
        raise replies.WrongAnswer('"extracted" does not stand in the passage so; copy it word for word.')
    if len(condensed) > _LONGEST or not condensed.isprintable() or not extracted.isprintable():
        raise replies.WrongAnswer(f'"condensed" must be one plain sentence of at most {_LONGEST:,} characters.')
    return Said(extracted, condensed, confidence)
