"""Runs and their answers."""

from collections.abc import Iterator
from hashlib import sha256
from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.db import models

from assessor.campaigns.models.imports import Imported
from assessor.formats.families import FAMILIES
from assessor.runtime.fields import JSONText

# The task of runs that are no system's, and in no statistic over systems: made to see whether a judge works, or to hold
# the passages that are graded.
CONTROL = "control"
CONTROL_TAG = f"{CONTROL}."  # how the tags of control runs begin, but for canaries
CANARY = "canary."  # how the tags of those begin that try to mislead a judge: they are in no score table either
CITING_CANARY = f"{CANARY}wrong-citations."  # of those that alone cite anything, so that support in them is judged


def validate_families(text: str) -> None:
    """Refuse what are no families, each once and in their order, as lists of runs bring them."""
    families = text.split()
    if text != " ".join(family for family in FAMILIES if family in families):
        raise ValidationError(f"Name families as they are in {', '.join(FAMILIES)}, separated by blanks.")


class Run(Imported):
    """What one system submitted."""

    class Type(models.TextChoices):
        UNKNOWN = "", "unknown"
        AUTOMATIC = "automatic", "automatic"
        MANUAL = "manual", "manual"

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="runs")
    tag = models.CharField(max_length=256)
    team = models.CharField(max_length=120, blank=True)
    task = models.CharField(max_length=40, blank=True)
    type = models.CharField(max_length=10, choices=Type, blank=True)
    priority = models.PositiveIntegerField(null=True, blank=True)
    generator = models.CharField(
        max_length=60,
        blank=True,
        default="",  # of runs in older archives
        validators=[validate_families],
        help_text="The families of the models that wrote its answers, separated by blanks.",
    )

    class Meta:
        ordering = ("tag",)
        constraints = (models.UniqueConstraint(fields=("campaign", "tag"), name="run_once"),)

    def __str__(self) -> str:
        return self.tag

    @property
    def families(self) -> list[str]:
        """The families of the models that wrote its answers; none where that is unknown."""
        return self.generator.split()

    @property
    def generator_in_words(self) -> str:
        """What pages call these families: "OpenAI, Meta"."""
        return ", ".join(FAMILIES[family] for family in self.families)


class RunDocument(Imported):
    """A run's own text of a docid that it cites: its citations are judged by it, and nothing else reads it."""

    run = models.ForeignKey(Run, models.PROTECT, related_name="documents")
    docid = models.CharField(max_length=256)
    text = models.TextField()
    extras = JSONText(default=dict, help_text="Further keys of the file (title, url, headings, ...), as they came.")

    class Meta:
        ordering = ("docid",)
        constraints = (models.UniqueConstraint(fields=("run", "docid"), name="run_document_once"),)

    def __str__(self) -> str:
        return self.docid


class RunAlias(models.Model):
    """Another name of a run, as some files spell it."""

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="run_aliases")
    run = models.ForeignKey(Run, models.CASCADE, related_name="aliases")
    name = models.CharField(max_length=256)

    class Meta:
        verbose_name_plural = "run aliases"
        ordering = ("pk",)
        constraints = (models.UniqueConstraint(fields=("campaign", "name"), name="alias_once"),)

    def __str__(self) -> str:
        return self.name


class Citation(NamedTuple):
    """A sentence's pointer to a segment."""

    position: int  # in the sentence, from 0
    docid: str


class Sentence(NamedTuple):
    """A sentence of an answer, with what it cites."""

    position: int  # in the answer, from 0
    text: str
    citations: tuple[Citation, ...]


class Answer(Imported):
    """A run's answer to a topic.

    Sentences and citations are kept in the answer, as they came: they never change, are always read with their
    answer, and are identified in every file of the field by (topic, run, sentence, docid). A row for each would
    make a track's 450,000 sentences and 1,000,000 citations the slowest part of every import.
    """

    class Form(models.TextChoices):
        RAG24 = "rag24", "RAG24"
        RAG25 = "rag25", "RAG25"
        RAG26 = "rag26", "RAG26"
        RAGTIME = "ragtime", "RAGTIME"
        TEXT = "text", "text alone, as it came with its labels"
        SENTENCES = "sentences", "sentences and citations, as they came with their labels"
        PASSAGE = "passage", "a passage, to be graded"

    # Those of which no run file is loaded: what they cite may not be all.
    WITH_LABELS = (Form.TEXT, Form.SENTENCES)

    run = models.ForeignKey(Run, models.PROTECT, related_name="answers", db_index=False)
    topic = models.ForeignKey("campaigns.Topic", models.PROTECT, related_name="answers", db_index=False)
    form = models.CharField(max_length=10, choices=Form, default=Form.RAG24)
    references = JSONText(default=list)
    content = JSONText(default=list, help_text="The sentences, each with text and citations, as they came.")
    extras = JSONText(default=dict, help_text="Further keys of the file, as they came.")
    words = models.PositiveIntegerField(help_text="Words of the answer, split at white space.")
    apart = models.BooleanField(
        default=False,
        help_text="A text that came with labels and is not what the run answered: nothing but its labels refers to it.",
    )

    class Meta:
        ordering = ("topic__qid",)
        constraints = (
            models.UniqueConstraint(fields=("run", "topic"), condition=models.Q(apart=False), name="own_answer_once"),
        )
        # Instead of those of run and topic alone: the page of exports looks for the few that came with labels, and
        # whoever scores all of a track's answers reads none of their texts.
        indexes = (
            models.Index(fields=("run", "form"), name="answers_by_form"),
            models.Index(fields=("topic", "run", "words", "apart"), name="answers_to_score"),
        )

    def __str__(self) -> str:
        return f"answer {self.pk}"

    @property
    def name(self) -> str:
        """What JSON calls it within its campaign. A passage has its docid in it, and what is apart its hash."""
        parts = [self.run.tag, self.topic.qid]
        if self.is_passage:
            parts.append(self.docid)
        if self.apart:
            parts.append(sha256(self.text.encode()).hexdigest())
        return " ".join(parts)

    @property
    def is_passage(self) -> bool:
        """Whether it is a passage of the collection. It is kept apart: nothing but its grades refers to it."""
        return self.form == self.Form.PASSAGE

    @property
    def docid(self) -> str:
        """Return a passage's docid; "" for an answer."""
        return str(self.references[0]) if self.is_passage else ""

    @property
    def text(self) -> str:
        """The whole answer, its sentences joined with blanks."""
        return " ".join(sentence["text"] for sentence in self.content)

    def sentences(self) -> Iterator[Sentence]:
        """Yield the sentences in order, each citation resolved to the docid that it points to."""
        for at, sentence in enumerate(self.content):
            # A citation is a position in the references or a docid, and the docids may have scores.
            cited = sentence["citations"]
            docids = [self.references[citation] if isinstance(citation, int) else citation for citation in cited]
            citations = tuple(Citation(position, docid) for position, docid in enumerate(docids))
            yield Sentence(at, sentence["text"], citations)
