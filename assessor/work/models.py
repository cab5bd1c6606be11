"""Tasks of people, and what an assessor's work leaves besides its labels."""

from uuid import UUID, uuid4

from django.db import models

from assessor.campaigns.condition_kind import kind_choices
from assessor.campaigns.models import AppendOnly, Condition
from assessor.runtime.fields import JSONText

MAX_REASON = 500  # characters of a reason or a note


class Installation(models.Model):
    """This database, by a name that no other has: what a browser keeps for one is never sent to another."""

    key = models.UUIDField(default=uuid4, editable=False)

    def __str__(self) -> str:
        return str(self.key)

    @classmethod
    def present(cls) -> UUID:
        """Return its name, which the first migrate makes."""
        key: UUID = cls.objects.get_or_create(pk=1)[0].key
        return key

    @classmethod
    def rename(cls) -> UUID:
        """Give it another name and return that: what browsers keep was done on a state that is not here."""
        return cls.objects.update_or_create(pk=1, defaults={"key": uuid4()})[0].key


class Task(models.Model):
    """What a person has to do on a topic under a condition."""

    class State(models.TextChoices):
        OPEN = "open", "open"
        FINISHED = "finished", "finished"
        WITHDRAWN = "withdrawn", "withdrawn"

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="tasks")
    topic = models.ForeignKey("campaigns.Topic", models.PROTECT, related_name="tasks")
    condition = models.ForeignKey(Condition, models.PROTECT, related_name="tasks")
    kind = models.CharField(max_length=12, choices=kind_choices)
    person = models.ForeignKey("accounts.Person", models.PROTECT, related_name="tasks")
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    done = models.PositiveIntegerField(default=0, help_text="Items done.")
    total = models.PositiveIntegerField(default=0, help_text="Items to do; 0 where there is no fixed number.")
    seconds = models.PositiveIntegerField(default=0, help_text="Active time.")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("accounts.Person", models.PROTECT, null=True, related_name="+")
    reason = models.CharField(
        max_length=MAX_REASON,
        blank=True,
        help_text="Why it was given to this person, where it would be somebody else's.",
    )
    worked_at = models.DateTimeField(null=True, help_text="When the person last saved something.")
    paused = models.BooleanField(default=False, help_text="Whether its person can't open it for now.")
    leased_until = models.DateTimeField(
        null=True, help_text="Of a drawn topic: until when nobody else can draw it. None: it is the person's for good."
    )
    # Told by work.access, and by nothing else: why its person can't do it blind, and which version of the guidelines
    # for it they opened last.
    not_blind: str | None
    guidelines_version: int | None = None

    class Meta:
        ordering = ("topic__qid", "pk")
        constraints = (
            models.UniqueConstraint(fields=("topic", "condition", "kind", "person"), name="task_once_for_a_person"),
        )
        indexes = (models.Index(fields=("person", "state")),)

    def __str__(self) -> str:
        return f"{self.kind} of {self.topic.qid} by {self.person}"


class Waiting(models.Model):
    """A topic that waits under a condition for whoever draws it: who has it then, and had it, is told by the tasks."""

    condition = models.ForeignKey(Condition, models.PROTECT, related_name="waiting")
    topic = models.ForeignKey("campaigns.Topic", models.PROTECT, related_name="waiting")
    reason = models.CharField(
        max_length=MAX_REASON, blank=True, help_text="Why whoever draws it gets it, where it would be somebody else's."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("accounts.Person", models.PROTECT, null=True, related_name="+")

    class Meta:
        ordering = ("pk",)
        constraints = (models.UniqueConstraint(fields=("condition", "topic"), name="topic_waits_once"),)

    def __str__(self) -> str:
        return f"{self.topic.qid} under {self.condition}"


class Scope(AppendOnly):
    """The rule by which runs are judged on a topic under a condition, or that a run is dropped from it or back.

    The newest record on each topic and run counts; see work.scope.
    """

    condition = models.ForeignKey(Condition, models.PROTECT, related_name="scopes")
    topic = models.ForeignKey("campaigns.Topic", models.PROTECT, null=True, related_name="+")
    run = models.ForeignKey("campaigns.Run", models.PROTECT, null=True, related_name="+")
    rule = models.CharField(max_length=20, help_text="Of a topic: which runs. Of a run: none where it is dropped, all.")
    reason = models.CharField(max_length=MAX_REASON, blank=True)
    person = models.ForeignKey("accounts.Person", models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta(AppendOnly.Meta):
        ordering = ("pk",)
        constraints = (
            models.CheckConstraint(
                condition=models.Q(topic=None, run__isnull=False) | models.Q(topic__isnull=False, run=None),
                name="scope_of_a_topic_or_a_run",
            ),
        )

    def __str__(self) -> str:
        return f"{self.topic.qid if self.topic else self.run} under {self.condition}: {self.rule}"


class Draw(AppendOnly):
    """Topics of a frame drawn at random, which people judge under a condition: what estimates for all of it rest on.

    Under a condition, the same seed draws from the same frame: first these topics, then further ones. Every draw is
    kept. scored_models: when the seed was first used there.
    """

    condition = models.ForeignKey(Condition, models.PROTECT, related_name="draws")
    seed = models.PositiveBigIntegerField()
    frame = JSONText(help_text="The ids of all topics that could be drawn.")
    topics = JSONText(help_text="The ids of those that were, in the order drawn.")
    scored_models = JSONText(
        default=list, blank=True, help_text="The conditions whose scores by a model were there already, by name."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("accounts.Person", models.PROTECT, null=True, related_name="+")

    class Meta(AppendOnly.Meta):
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{len(self.topics)} of {len(self.frame)} topics, seed {self.seed}"

    @property
    def probability(self) -> float:
        """How likely each topic of the frame was to be drawn."""
        return len(self.topics) / len(self.frame)


class Write(models.Model):
    """A write of an assessor, by the key that their browser made: the same key is never carried out twice."""

    key = models.UUIDField(unique=True)
    campaign = models.ForeignKey(
        "campaigns.Campaign",
        models.PROTECT,
        null=True,
        related_name="+",
        db_index=False,
        help_text="In which it was made; none where that was not noted yet, and the person worked in several.",
    )
    person = models.ForeignKey("accounts.Person", models.PROTECT, related_name="+")
    request = models.CharField(max_length=64, help_text="sha256 of what was asked.")
    result = JSONText(null=True, help_text="What came of it besides its being done, if anything.")
    at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return str(self.key)


class TimeSpent(AppendOnly):
    """Active seconds on a task, as the browser measured them: visible tab, input within 60 s."""

    task = models.ForeignKey(Task, models.PROTECT, related_name="times")
    key = models.UUIDField(unique=True)
    seconds = models.PositiveIntegerField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta(AppendOnly.Meta):
        # The last days are added up for the page of progress.
        indexes = (models.Index(fields=("at", "task", "seconds"), name="time_of_the_last_days"),)

    def __str__(self) -> str:
        return f"{self.seconds} s on {self.task_id}"


class Exposure(AppendOnly):
    """A person saw what a model gave on a topic for a kind of work, or what others said between whom they decide."""

    person = models.ForeignKey("accounts.Person", models.PROTECT, related_name="exposures")
    topic = models.ForeignKey("campaigns.Topic", models.PROTECT, related_name="exposures")
    kind = models.CharField(max_length=12, choices=kind_choices)
    where = models.CharField(max_length=200)
    at = models.DateTimeField(auto_now_add=True)

    class Meta(AppendOnly.Meta):
        indexes = (models.Index(fields=("person", "topic", "kind")),)

    def __str__(self) -> str:
        return f"{self.person} saw {self.kind} on {self.topic}"


class Guidelines(AppendOnly):
    """A version of a campaign's guidelines for a kind of work; the newest is in force.

    Version 1 is the text that campaigns start with (guidelines.md of its app), kept here once somebody opened or
    changed it.
    """

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="guidelines")
    kind = models.CharField(max_length=12, choices=kind_choices)
    version = models.PositiveIntegerField()
    text = models.TextField(help_text="Markdown.")
    person = models.ForeignKey(
        "accounts.Person", models.PROTECT, null=True, related_name="+", help_text="Who wrote it; none: nobody here."
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta(AppendOnly.Meta):
        ordering = ("campaign", "kind", "version")
        constraints = (models.UniqueConstraint(fields=("campaign", "kind", "version"), name="guidelines_version_once"),)
        verbose_name_plural = "guidelines"

    def __str__(self) -> str:
        return f"guidelines for {self.kind}, version {self.version}"


class GuidelinesOpened(AppendOnly):
    """A person has opened guidelines, and said so."""

    person = models.ForeignKey("accounts.Person", models.PROTECT, related_name="guidelines_opened")
    guidelines = models.ForeignKey(Guidelines, models.PROTECT, related_name="opened")
    at = models.DateTimeField(auto_now_add=True)

    class Meta(AppendOnly.Meta):
        ordering = ("pk",)
        verbose_name_plural = "guidelines opened"

    def __str__(self) -> str:
        return f"{self.person} opened {self.guidelines}"


class Reply(AppendOnly):
    """What an organizer answered to a flag of an assessor, or to their reason why something can't be judged.

    Its person sees nothing of it but this text. A question that was worded anew since is open again.
    """

    task = models.ForeignKey(Task, models.PROTECT, related_name="replies")
    answer = models.ForeignKey(
        "campaigns.Answer",
        models.PROTECT,
        null=True,
        related_name="+",
        help_text="The judged answer's; none where the item alone names it.",
    )
    item = models.CharField(max_length=300, help_text="What of the answer was asked about, by its name; or a docid.")
    question = models.TextField(help_text="As it stood when it was answered.")
    text = models.TextField()
    person = models.ForeignKey("accounts.Person", models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta(AppendOnly.Meta):
        verbose_name_plural = "replies"
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"reply {self.pk} on {self.item}"


class ReplyRead(AppendOnly):
    """An assessor has opened a reply."""

    reply = models.OneToOneField(Reply, models.PROTECT, related_name="read")
    at = models.DateTimeField(auto_now_add=True)

    class Meta(AppendOnly.Meta):
        verbose_name_plural = "replies read"

    def __str__(self) -> str:
        return f"reply {self.reply_id} was read"


class Reminder(models.Model):
    """An organizer reminds a task's person of it: their home shows it until they have seen it."""

    task = models.ForeignKey(Task, models.PROTECT, related_name="reminders")
    person = models.ForeignKey("accounts.Person", models.PROTECT, related_name="+", help_text="Who reminds them.")
    at = models.DateTimeField(auto_now_add=True)
    seen_at = models.DateTimeField(null=True, help_text="When they said that they have seen it.")

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=("task",), condition=models.Q(seen_at=None), name="one_unseen_reminder"),
        )

    def __str__(self) -> str:
        return f"reminder {self.pk} of {self.task}"
