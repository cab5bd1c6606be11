"""Studies of what two conditions label differently."""

from typing import ClassVar

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from assessor.campaigns.condition_kind import kind_choices
from assessor.campaigns.models import AppendOnly, Condition
from assessor.llm.models import LEAST_MONEY
from assessor.runtime.fields import JSONText
from assessor.runtime.sql import filter_once
from assessor.studies.registration import canonical_text, hash_of


class StudyManager(models.Manager["Study"]):
    """All but the samples of control sets, which have pages and files of their own."""

    @filter_once
    def get_queryset(self) -> models.QuerySet["Study"]:
        return super().get_queryset().exclude(purpose=Study.Purpose.CONTROL)


class Study(models.Model):
    """Items that two conditions label differently, drawn to be labelled by others.

    Whoever labels them does so under a condition of their own: one whose `sample` is the study's name. Where labels are
    to be judged again, as many items that both label alike are drawn with them.
    """

    class Purpose(models.TextChoices):
        DISAGREEMENT = "disagreement", "who is right? Others label the differing items, blind"
        ADJUDICATION = "adjudication", "two people differ: a third one sees both and decides"
        ROUTING = "routing", "a panel of models leaves labels open: people label these, blind"
        REJUDGING = "rejudging", "should labels change? Others judge them again, blind, with as many that agree"
        CONTROL = "control", "does a judge drift? It is asked the same again"

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="studies")
    name = models.CharField(max_length=100)
    kind = models.CharField(max_length=12, choices=kind_choices)
    purpose = models.CharField(max_length=12, choices=Purpose)
    first = models.ForeignKey(Condition, models.PROTECT, related_name="+", help_text="People's labels.")
    second = models.ForeignKey(
        Condition, models.PROTECT, related_name="+", help_text="A model's labels; other people's in an adjudication."
    )
    panel = models.ForeignKey(
        Condition,
        models.PROTECT,
        null=True,
        blank=True,
        default=None,
        related_name="+",
        help_text="The panel that leaves the items to people; first and second are two of its members.",
    )
    per_topic = models.PositiveIntegerField(null=True, blank=True, help_text="Items a topic; empty: all.")
    seed = models.PositiveBigIntegerField(help_text="Decides what is drawn.")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("accounts.Person", models.PROTECT, null=True, editable=False)

    objects: ClassVar[models.Manager["Study"]] = StudyManager()
    with_controls: ClassVar[models.Manager["Study"]] = models.Manager()

    class Meta:
        ordering = ("name",)
        verbose_name_plural = "studies"
        constraints = (
            models.UniqueConstraint(fields=("campaign", "name"), name="study_name_once"),
            models.CheckConstraint(
                condition=~Q(first=models.F("second")) | Q(purpose="control"), name="study_of_two_conditions"
            ),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def is_adjudication(self) -> bool:
        """Say whether a third person decides, and sees what the two said."""
        return self.purpose == self.Purpose.ADJUDICATION

    @property
    def is_routing(self) -> bool:
        """Say whether a panel left its items to people."""
        return self.purpose == self.Purpose.ROUTING

    @property
    def is_rejudging(self) -> bool:
        """Say whether the first labels are judged again."""
        return self.purpose == self.Purpose.REJUDGING


class SampledItem(AppendOnly):
    """One item of a study, with the two labels as they were when it was drawn."""

    study = models.ForeignKey(Study, models.PROTECT, related_name="drawn", db_index=False)
    answer = models.ForeignKey("campaigns.Answer", models.PROTECT, related_name="+")
    item = models.TextField(help_text="What of the answer was labelled, as its kind names it for ever.")
    first_label = models.CharField(max_length=20)
    second_label = models.CharField(max_length=20)

    class Meta(AppendOnly.Meta):
        ordering = ("pk",)
        verbose_name_plural = "drawn items"
        constraints = (models.UniqueConstraint(fields=("study", "answer", "item"), name="drawn_once"),)

    def __str__(self) -> str:
        return f"{self.item} of answer {self.answer_id}"


class Sensitivity(AppendOnly):
    """A study of how far labels depend on how a judge is asked: a sample of answers, labelled once in each variant.

    A variant is a condition whose `sample` is the study's name. The sample has the answers of some runs to some topics.
    """

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="sensitivities")
    name = models.CharField(max_length=60)
    kind = models.CharField(max_length=12, choices=kind_choices)
    nuggets = models.ForeignKey(Condition, models.PROTECT, related_name="+", help_text="Whose nuggets are labelled.")
    factors = JSONText(help_text="The levels of each factor that is varied, by name; the first of each is the base's.")
    topics = JSONText(help_text="The ids of the topics that were drawn.")
    runs = JSONText(help_text="The tags of the runs that were drawn.")
    seed = models.PositiveBigIntegerField(help_text="Decides what is drawn, and the shuffled order.")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("accounts.Person", models.PROTECT, null=True, editable=False)

    class Meta(AppendOnly.Meta):
        ordering = ("name",)
        verbose_name_plural = "sensitivity studies"
        constraints = (models.UniqueConstraint(fields=("campaign", "name"), name="sensitivity_name_once"),)

    def __str__(self) -> str:
        return self.name


class ControlSet(models.Model):
    """Items that a judge is asked about again and again: its labels would differ from the first ones if it drifted.

    Each time is a pass: a condition of its own with a replicate of its own, so that nothing is taken from the ledger.
    """

    study = models.OneToOneField(Study, models.PROTECT, related_name="control")
    every_days = models.PositiveSmallIntegerField(
        "asked every … days",
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(365)],
        help_text="From the first time on, and whenever the endpoint names another model. Empty: only by hand.",
    )
    most_calls = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)], help_text="Budget of calls, each time."
    )
    most_cost = models.DecimalField(
        null=True,
        blank=True,
        validators=[MinValueValidator(LEAST_MONEY)],
        help_text="Budget of money, each time.",
        max_digits=14,
        decimal_places=6,
    )
    halts_jobs = models.BooleanField(
        "stop the judge's jobs at an alarm", default=True, help_text="They can be resumed."
    )

    class Meta:
        ordering = ("study__name",)

    def __str__(self) -> str:
        return str(self.study)


class ControlCheck(AppendOnly):
    """What a pass found, when its job was done."""

    control = models.ForeignKey(ControlSet, models.PROTECT, related_name="checks")
    condition = models.OneToOneField(Condition, models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    model = models.CharField(max_length=500, blank=True, help_text="As the endpoint named it.")
    cells = models.PositiveIntegerField(help_text="What was asked as one and has all labels.")
    labels = models.PositiveIntegerField()
    flips = models.PositiveIntegerField(help_text="Labels other than the first ones.")
    expected = models.FloatField(null=True, help_text="Flips of earlier passes, on average.")
    kappa = models.FloatField(null=True, help_text="With the first labels.")
    p = models.FloatField(null=True, help_text="Of as many flips, or more, without drift.")
    is_alarm = models.BooleanField(default=False)

    class Meta(AppendOnly.Meta):
        ordering = ("pk",)

    def __str__(self) -> str:
        return str(self.condition)


class Registration(AppendOnly):
    """What a study is about, as it was written down before the first label of its conditions.

    These need not exist yet, so they are named. A later record changes nothing of an earlier one.
    """

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="registrations")
    title = models.CharField(max_length=200)
    document = JSONText(help_text="All that was registered, which the hash is of: see assessor.studies.registration.")
    sha256 = models.CharField(max_length=64, help_text="Of the document in its canonical form.")
    made_at = models.DateTimeField(auto_now_add=True)
    made_by = models.ForeignKey("accounts.Person", models.PROTECT, null=True, editable=False)

    class Meta(AppendOnly.Meta):
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=("campaign", "title"), name="registration_title_once"),
            models.UniqueConstraint(fields=("campaign", "sha256"), name="registration_once"),
        )

    def __str__(self) -> str:
        return self.title

    @property
    def text(self) -> str:
        """The document as it was hashed, and as it is downloaded."""
        return canonical_text(self.document)

    @property
    def is_intact(self) -> bool:
        """Whether the hash is that of the document."""
        return hash_of(self.document) == self.sha256


class ErrorCode(models.Model):
    """A campaign's word for why labels differ."""

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="error_codes")
    code = models.SlugField(max_length=40)
    meaning = models.CharField(max_length=300)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("accounts.Person", models.PROTECT, null=True, editable=False)

    class Meta:
        ordering = ("code",)
        constraints = (models.UniqueConstraint(fields=("campaign", "code"), name="error_code_once"),)

    def __str__(self) -> str:
        return self.code


class Coding(AppendOnly):
    """What an organizer finds to be the reason why labels of an item differ; the newest of an item counts."""

    drawn = models.ForeignKey(SampledItem, models.PROTECT, related_name="codings")
    codes = JSONText(default=list, help_text="Of the campaign's error codes, in their order; none: not coded any more.")
    note = models.CharField(max_length=500, blank=True)
    person = models.ForeignKey("accounts.Person", models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta(AppendOnly.Meta):
        ordering = ("pk",)

    def __str__(self) -> str:
        return ", ".join(self.codes) or "not coded"
