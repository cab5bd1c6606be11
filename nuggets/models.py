"""Nugget banks, their nuggets, and every edit ever made to them."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django.db import models

from assessor.campaigns.models import AppendOnly, AppendOnlyQuerySet, MadeOrVisibleManager, MaybeImported
from assessor.runtime.fields import JSONText
from nuggets.editing import FIELDS, ItemList, NuggetList


class Drafting(MaybeImported, AppendOnly):
    """How a model came to its list of nuggets for a topic under a condition, whose prompts and protocol it used.

    The list after the last step is the model's; AutoNuggets keeps the best of it, and people edit all of it. Of a model
    that was asked elsewhere, and of a former edition, a file brings the list, which is the only step then, of no
    segments.
    """

    condition = models.ForeignKey("campaigns.Condition", models.PROTECT, related_name="draftings")
    topic = models.ForeignKey("campaigns.Topic", models.PROTECT, related_name="draftings")
    judge = models.ForeignKey("campaigns.Judge", models.PROTECT, related_name="+", help_text="The model's.")
    job = models.ForeignKey("llm.Job", models.PROTECT, null=True, related_name="+", help_text="None: from a file.")
    steps = JSONText(default=list, help_text="For each window of segments its docids and the whole list after it.")
    importance = JSONText(
        default=list, help_text="The labels of the last list, a list for each batch; none of drafts made here."
    )
    cuts = JSONText(
        default=list,
        help_text='[{"window", "nuggets", "limit"}]: the windows, from 1, whose reply had more nuggets than the limit, '
        "and lost those behind it.",
    )
    made_at = models.DateTimeField(auto_now_add=True)

    objects: ClassVar = MadeOrVisibleManager.from_queryset(AppendOnlyQuerySet)()  # type: ignore[assignment]  # as both
    everything: ClassVar = AppendOnlyQuerySet.as_manager()

    class Meta:
        base_manager_name = "everything"
        ordering = ("topic__qid", "pk")
        constraints = (models.UniqueConstraint(fields=("condition", "topic"), name="drafting_once"),)

    def __str__(self) -> str:
        return f"drafting on {self.topic.qid}, {self.condition}"

    @property
    def nuggets(self) -> list[str]:
        """The model's list, in its order."""
        return list(self.steps[-1]["nuggets"])

    @property
    def votes(self) -> list[int]:
        """How often a reply named each question of its list, where it was made from answers; else nothing."""
        return list(self.steps[-1].get("votes", ()))

    @property
    def former_qid(self) -> str:
        """The id that the topic had in the former edition from which the list comes, where it was another one."""
        return str(self.steps[-1].get("former_qid", ""))

    @property
    def labels(self) -> list[str]:
        """How important the model finds each nugget of its list; "" where it does not say."""
        return [label for batch in self.importance for label in batch] or [""] * len(self.nuggets)


class Edited(models.Model):
    """A list that one person edits. Each edit is among its `edits`, and undo takes back the last one that stands.

    Besides its items it has a state, a version that counts every edit, an edition that counts how often it was handed
    in, the order of the uids on the list, and a head: the edit that undo undoes.
    """

    class State(models.TextChoices):
        OPEN = "open", "open"
        FINISHED = "finished", "finished"

    LIST: ClassVar[type[ItemList]]
    FIELDS: ClassVar[Sequence[str]]  # of an item that edits change
    CALLED: ClassVar[str]  # in the history
    LIVE: ClassVar[Sequence[str]] = ("version", "head", "state", "order")  # the columns that its person's writes change

    # Told by access: which version of the guidelines the person who works on it opened last.
    guidelines_version: int | None = None

    class Meta:
        abstract = True

    @property
    def items(self) -> Any:
        """The manager of its items, those off the list included."""
        raise NotImplementedError

    def count_done(self) -> int:
        """Return how many items its person is done with."""
        raise NotImplementedError

    def count_to_do(self) -> int:
        """Return how many items its person is given; 0 where there is no fixed number."""
        return 0


class NuggetBank(MaybeImported, Edited):
    """All nuggets of a topic under one creation method, by one maker."""

    LIST, FIELDS, CALLED = NuggetList, FIELDS, "bank"
    LIVE = (*Edited.LIVE, "reading", "read_passages")

    topic = models.ForeignKey("campaigns.Topic", models.PROTECT, related_name="nugget_banks")
    condition = models.ForeignKey("campaigns.Condition", models.PROTECT, related_name="nugget_banks")
    maker = models.ForeignKey("campaigns.Judge", models.PROTECT, related_name="nugget_banks")
    task = models.OneToOneField("work.Task", models.PROTECT, null=True, related_name="nugget_bank")
    state = models.CharField(max_length=10, choices=Edited.State, default=Edited.State.OPEN)
    version = models.PositiveIntegerField(default=0, help_text="Counts every edit.")
    edition = models.PositiveIntegerField(default=0, help_text="Counts how often the bank was finished.")
    order = JSONText(default=list, help_text="The uids of the nuggets on the list, in order; others are deleted.")
    head = models.ForeignKey("BankEdit", models.PROTECT, null=True, related_name="+", help_text="What undo undoes.")
    finished_at = models.DateTimeField(null=True)
    reading = models.TextField(blank=True, help_text="How the maker reads the topic, for nobody but the maker.")
    read_passages = JSONText(default=list, help_text="The docids of passages that the maker has marked as read.")
    extras = JSONText(default=dict, help_text="Further keys of an imported file, as they came.")
    file_form = models.CharField(
        max_length=10, blank=True, help_text="Of questions: the form of the file that brought them, and further keys."
    )
    drafting = models.ForeignKey(
        Drafting, models.PROTECT, null=True, related_name="banks", help_text="Where a model drafted its nuggets."
    )
    draft_seed = models.PositiveBigIntegerField(
        null=True, help_text="The order in which a person got the drafts follows from it; none: as generated."
    )

    class Meta:
        ordering = ("topic__qid", "pk")
        constraints = (models.UniqueConstraint(fields=("topic", "condition", "maker"), name="bank_once_for_a_maker"),)

    def __str__(self) -> str:
        return f"nuggets of {self.topic.qid}, {self.condition}"

    @property
    def items(self) -> Any:
        return self.nuggets

    def count_done(self) -> int:
        undecided: int = self.undecided_drafts().count()
        return len(self.order) - undecided

    def undecided_drafts(self) -> Any:
        """Return the drafts on the list that nobody has kept, reworded or given an importance yet."""
        return self.nuggets.filter(uid__in=self.order, is_undecided=True) if self.drafting_id else self.nuggets.none()


class Nugget(models.Model):
    """What a good answer needs: a fact that it states, or in a bank of questions a question that it answers."""

    class Importance(models.TextChoices):
        UNSET = "", "not set"
        VITAL = "vital", "vital"
        OKAY = "okay", "okay"

    class Aggregator(models.TextChoices):
        UNSET = "", "not set"
        OR = "OR", "any gold answer"
        AND = "AND", "all gold answers"

    class Origin(models.TextChoices):
        WRITTEN = "written", "written by a person"
        DRAFTED = "drafted", "drafted by a model"
        INHERITED = "inherited", "inherited from a former edition"
        MERGED = "merged", "merged from others"
        SPLIT = "split", "split from another"
        IMPORTED = "imported", "imported"

    bank = models.ForeignKey(NuggetBank, models.PROTECT, related_name="nuggets")
    uid = models.UUIDField(help_text="Made in the browser, so that an edit can name a nugget not saved yet.")
    text = models.TextField()
    importance = models.CharField(max_length=10, choices=Importance, blank=True)
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.WRITTEN)
    parents = JSONText(default=list, help_text="Uids of the nuggets that it was made from.")
    evidence = JSONText(default=list, help_text='[{"docid", "start", "end"}]: characters of the segment, or null.')
    gold = JSONText(
        null=True,
        help_text='Of a question: [{"id", "text", "references": [{"docid", ...}] or null, "extras"}]; null of a fact.',
    )
    last_gold = models.PositiveIntegerField(
        default=0, help_text="The number in the last id that a gold answer here was given: no id is given twice."
    )
    aggregator = models.CharField(
        max_length=3, choices=Aggregator, blank=True, help_text="How many gold answers a question asks for."
    )
    under = models.UUIDField(null=True, help_text="The uid of the question that this one is a part of.")
    note = models.TextField(blank=True, help_text="For nobody but the maker of the bank.")
    extras = JSONText(default=dict, help_text="Further keys of an imported file, as they came.")
    draft = models.PositiveSmallIntegerField(
        null=True, help_text="Place in the model's list, from 1, which goes by importance: never for who edits it."
    )
    is_undecided = models.BooleanField(default=False, help_text="A draft that its person has not decided about yet.")
    made_by = models.ForeignKey("campaigns.Judge", models.PROTECT, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("pk",)
        constraints = (models.UniqueConstraint(fields=("bank", "uid"), name="nugget_uid_once"),)

    def __str__(self) -> str:
        return self.text

    @property
    def name(self) -> str:
        """What JSON calls it, within its bank."""
        return str(self.uid)


class BankEdit(AppendOnly):
    """One edit of a bank: what stood before and after.

    Edits that can be undone form a tree by `parent`; the bank's head is the one that undo would undo next. An undo
    or redo is an edit too and names the edit it is about, so the whole story can be read off these records.
    """

    OUTSIDE_UNDO = ("drafts", "undo", "redo", "finish", "reopen", "note", "reading", "read")

    bank = models.ForeignKey(NuggetBank, models.PROTECT, related_name="edits")
    version = models.PositiveIntegerField(help_text="The bank's version after it.")
    verb = models.CharField(max_length=20)
    judge = models.ForeignKey("campaigns.Judge", models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    changes = JSONText(default=dict)
    parent = models.ForeignKey("self", models.PROTECT, null=True, related_name="children")
    about = models.ForeignKey("self", models.PROTECT, null=True, related_name="+")
    guidelines_version = models.PositiveIntegerField(
        null=True, help_text="Of the guidelines that the person had opened last; none where no assessor did this."
    )

    class Meta(AppendOnly.Meta):
        ordering = ("bank", "version")
        constraints = (models.UniqueConstraint(fields=("bank", "version"), name="bank_version_once"),)

    def __str__(self) -> str:
        return f"{self.verb} in {self.bank}, version {self.version}"


class BankEdition(AppendOnly):
    """A bank as it stood when it was finished, and what that changed for labels given on the edition before."""

    bank = models.ForeignKey(NuggetBank, models.PROTECT, related_name="editions")
    edition = models.PositiveIntegerField()
    version = models.PositiveIntegerField(help_text="The bank's version when it was finished.")
    at = models.DateTimeField(auto_now_add=True)
    nuggets = JSONText(
        default=list,
        help_text="In order, each with uid, text, importance and evidence; questions with gold, aggregator and under.",
    )
    consequences = JSONText(default=dict, help_text="Uids of nuggets by what a label on them is now.")

    class Meta(AppendOnly.Meta):
        ordering = ("bank", "edition")
        constraints = (models.UniqueConstraint(fields=("bank", "edition"), name="bank_edition_once"),)

    def __str__(self) -> str:
        return f"edition {self.edition} of {self.bank}"
