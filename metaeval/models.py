"""Comparisons of conditions and score tables, what was computed of them, and scores from two conditions."""

from decimal import Decimal

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q

from assessor.campaigns.models import AppendOnly, Condition, QrelsSource
from assessor.runtime.fields import JSONText
from metaeval.stats.calibration import LEAST_TOPICS
from metaeval.stats.ceiling import MARGIN
from metaeval.stats.hybrid import PRIOR_SD, Target
from metaeval.stats.means import Policy
from metaeval.stats.score_matrix import POLICIES

_COMPARABLES = ("condition", "source", "table")


class ScoreTable(AppendOnly):
    """A score table from elsewhere, as it came, to be compared."""

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="score_tables")
    name = models.CharField(max_length=120)
    file_name = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64, help_text="Of the file.")
    run = models.CharField(max_length=256, blank=True, help_text="The run, where the file names none.")
    content = models.TextField(help_text="Its lines, without blank ones.")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("accounts.Person", models.PROTECT, null=True, editable=False)

    class Meta(AppendOnly.Meta):
        ordering = ("name",)
        constraints = (models.UniqueConstraint(fields=("campaign", "name"), name="score_table_once"),)

    def __str__(self) -> str:
        return self.name


Comparable = Condition | QrelsSource | ScoreTable


def _is_one(name: str) -> Q:
    """Return that a reference or candidate is one thing: a condition, a source of grades or a table."""
    fields = [f"{name}_{what}" for what in _COMPARABLES]
    one = Q()
    for wanted in fields:
        one |= Q(**{f"{field}__isnull": field != wanted for field in fields})
    return one


class Comparison(models.Model):
    """A reference (first) and a candidate (second), what of them is compared, and how. It is never changed."""

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="comparisons")
    name = models.CharField(max_length=200)
    first_condition = models.ForeignKey(Condition, models.PROTECT, null=True, blank=True, related_name="+")
    first_source = models.ForeignKey(QrelsSource, models.PROTECT, null=True, blank=True, related_name="+")
    first_table = models.ForeignKey(ScoreTable, models.PROTECT, null=True, blank=True, related_name="+")
    second_condition = models.ForeignKey(Condition, models.PROTECT, null=True, blank=True, related_name="+")
    second_source = models.ForeignKey(QrelsSource, models.PROTECT, null=True, blank=True, related_name="+")
    second_table = models.ForeignKey(ScoreTable, models.PROTECT, null=True, blank=True, related_name="+")
    first_support = models.ForeignKey(
        Condition,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="Whose support makes the first side's F1.",
    )
    second_support = models.ForeignKey(
        Condition,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="Whose support makes the second side's F1.",
    )
    tasks = JSONText(default=list, blank=True, help_text="Runs of these tasks alone; none: of all.")
    runs = JSONText(default=list, blank=True, help_text="These runs alone, by tag; none: all.")
    topics = JSONText(default=list, blank=True, help_text="These topics alone, by id; none: all.")
    topics_of = models.ForeignKey(
        Condition,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="Only topics that are judged under it.",
    )
    circular = models.BooleanField(
        default=False,
        help_text="Runs that were made from what scores them, or by who does, are compared too; each is called so.",
    )
    margin = models.DecimalField(
        default=Decimal(str(MARGIN)),
        max_digits=4,
        decimal_places=3,
        help_text="By how much less a judge may agree with a person than a second person, in kappa.",
    )
    policy = models.CharField(max_length=10, choices=[(one.value, one.value) for one in POLICIES], default=Policy.ZERO)
    seed = models.PositiveBigIntegerField(help_text="Decides which topics are drawn.")
    draws = models.PositiveIntegerField(help_text="How often topics are drawn for intervals.")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("accounts.Person", models.PROTECT, null=True, editable=False)

    class Meta:
        ordering = ("-pk",)
        constraints = (
            models.UniqueConstraint(fields=("campaign", "name"), name="comparison_name_once"),
            models.CheckConstraint(condition=_is_one("first"), name="first_side_is_one_thing"),
            models.CheckConstraint(condition=_is_one("second"), name="second_side_is_one_thing"),
            models.CheckConstraint(condition=Q(margin__gt=0, margin__lt=1), name="margin_is_of_kappa"),
            *(
                models.CheckConstraint(
                    condition=~Q(**{f"first_{what}": F(f"second_{what}")}) | Q(**{f"first_{what}": None}),
                    name=f"two_sides_by_{what}",
                )
                for what in _COMPARABLES
            ),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def first(self) -> Comparable:
        """The reference."""
        return self._comparable("first")

    @property
    def second(self) -> Comparable:
        """The candidate."""
        return self._comparable("second")

    @property
    def sides(self) -> tuple[tuple[Comparable, Condition | None], ...]:
        """Reference and candidate, each with the condition whose scores of support it is read with, if any."""
        return (self.first, self.first_support), (self.second, self.second_support)

    def _comparable(self, name: str) -> Comparable:
        found: Comparable = next(one for what in _COMPARABLES if (one := getattr(self, f"{name}_{what}")))
        return found


class Hybrid(AppendOnly):
    """Scores from people's labels of some topics and a model's of all: of which conditions, and how estimated."""

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="hybrids")
    name = models.CharField(max_length=200)
    human = models.ForeignKey(Condition, models.PROTECT, related_name="+", help_text="People's labels of some topics.")
    model = models.ForeignKey(Condition, models.PROTECT, related_name="+", help_text="A model's labels of all topics.")
    draw = models.ForeignKey(
        "work.Draw", models.PROTECT, null=True, blank=True, related_name="+", help_text="None: not drawn at random."
    )
    target = models.CharField(
        max_length=10, choices=[(one.value, one.value) for one in Target], default=Target.CAMPAIGN
    )
    confidence = models.PositiveSmallIntegerField(
        default=95, validators=(MinValueValidator(50), MaxValueValidator(99)), help_text="Of intervals, in percent."
    )
    prior_sd = models.DecimalField(
        "prior's standard deviation",
        max_digits=5,
        decimal_places=4,
        default=Decimal(str(PRIOR_SD)),
        validators=(MinValueValidator(Decimal("0.0001")),),
        help_text="Of runs' biases, half-normal, for the order of runs.",
    )
    policy = models.CharField(max_length=10, choices=[(one.value, one.value) for one in POLICIES], default=Policy.ZERO)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("accounts.Person", models.PROTECT, null=True, editable=False, related_name="+")

    class Meta(AppendOnly.Meta):
        ordering = ("-pk",)
        constraints = (
            models.UniqueConstraint(fields=("campaign", "name"), name="hybrid_name_once"),
            models.CheckConstraint(condition=~Q(human=F("model")), name="hybrid_of_two_conditions"),
        )

    def __str__(self) -> str:
        return self.name


class BackgroundWork(models.Model):
    """What a worker has to compute, and how far it is; see metaeval.background."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting for the worker"
        RUNNING = "running", "running"
        DONE = "done", "done"
        EMPTY = "empty", "nothing to compare"
        FAILED = "failed", "failed"

    ACTIVE = (State.WAITING, State.RUNNING)

    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    stage = models.CharField(max_length=120, blank=True, help_text="What is being done.")
    percent = models.PositiveSmallIntegerField(default=0)
    why = models.TextField(blank=True, help_text="Why there is no result.")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("accounts.Person", models.PROTECT, null=True, editable=False)
    ended_at = models.DateTimeField(null=True)
    # Which process runs it and when that last gave a sign of life: how the next start knows that it died.
    owner = models.CharField(max_length=200, blank=True)
    alive_at = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)

    class Meta:
        abstract = True
        ordering = ("-pk",)

    @property
    def is_over(self) -> bool:
        """Say whether nothing more will come of it."""
        return self.state not in self.ACTIVE


class Calculation(BackgroundWork):
    """What a comparison came to at a time; the newest one that is done counts."""

    comparison = models.ForeignKey(Comparison, models.PROTECT, related_name="calculations")
    inputs = JSONText(default=dict, help_text="What names the state of both sides when they were read.")
    result = JSONText(default=None, null=True)
    files = JSONText(default=dict, help_text="The result as tables, by file name.")

    class Meta(BackgroundWork.Meta):
        constraints = (
            models.UniqueConstraint(
                fields=("comparison",), condition=Q(state__in=("waiting", "running")), name="one_calculation_at_a_time"
            ),
        )

    def __str__(self) -> str:
        return f"{self.comparison}, {self.get_state_display()}"


HumanSide = Condition | QrelsSource


class _Sides(models.Model):
    """Whose labels a calibration is of: people's, of a condition or a source of grades, and a judge's."""

    human = models.ForeignKey(
        Condition, models.PROTECT, null=True, related_name="+", help_text="Whose labels are people's."
    )
    human_source = models.ForeignKey(
        QrelsSource, models.PROTECT, null=True, related_name="+", help_text="Whose grades are people's."
    )
    judged = models.ForeignKey(Condition, models.PROTECT, related_name="+", help_text="Whose labels are the judge's.")

    class Meta:
        abstract = True
        constraints = (
            models.CheckConstraint(
                condition=Q(human=None, human_source__isnull=False) | Q(human__isnull=False, human_source=None),
                name="%(class)s_by_one_side",
            ),
        )

    @property
    def people(self) -> HumanSide:
        """The side of people."""
        side = self.human or self.human_source
        assert side is not None, "a constraint has it so"
        return side


class Calibration(_Sides, AppendOnly):
    """How a judge's labels relate to those that people gave of the same things.

    It is of the judge: it counts for each condition with the same identity and nuggets, and no other. Where things are
    judged in steps, labels, topics and kappa are the least of its steps: what holds of these, holds of each.
    """

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="calibrations")
    name = models.CharField(max_length=270)
    kind = models.CharField(max_length=12, help_text="Of label.")
    identity = JSONText(help_text="Of the judge: its name, its model's, and the sha256 of each prompt.")
    labels = models.PositiveIntegerField(help_text="Things that both labelled.")
    topics = models.PositiveIntegerField(help_text="With such labels.")
    kappa = JSONText(help_text="Quadratic: value, low and high of its 95 % interval, and why one is undefined.")
    result = JSONText(help_text="All figures: see metaeval.calibrations.")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("accounts.Person", models.PROTECT, null=True, editable=False)

    class Meta(AppendOnly.Meta):
        ordering = ("-pk",)
        constraints = (
            *_Sides.Meta.constraints,
            models.UniqueConstraint(fields=("campaign", "name"), name="calibration_name_once"),
        )

    def __str__(self) -> str:
        return self.name


class CalibrationRequest(_Sides, BackgroundWork):
    """A calibration that an organizer asked for; a record of the calibration is made once it is computed."""

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="calibration_requests")
    calibration = models.OneToOneField(Calibration, models.PROTECT, null=True, related_name="+")

    class Meta(BackgroundWork.Meta):
        constraints = (
            *_Sides.Meta.constraints,
            models.UniqueConstraint(
                fields=("human", "judged"),
                condition=Q(state__in=("waiting", "running")),
                name="one_calibration_at_a_time",
            ),
            models.UniqueConstraint(
                fields=("human_source", "judged"),
                condition=Q(state__in=("waiting", "running")),
                name="one_calibration_by_grades_at_a_time",
            ),
        )

    def __str__(self) -> str:
        return f"{self.judged} against {self.people}, {self.get_state_display()}"


class CalibrationGate(AppendOnly):
    """What calibrations must reach for a judge's scores to count as calibrated; a campaign's newest one counts.

    Without one, or where the newest sets no kappa, tables say nothing of calibration.
    """

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="calibration_gates")
    least_kappa = models.DecimalField(
        max_digits=3,
        decimal_places=2,
        null=True,
        blank=True,
        validators=(MinValueValidator(0), MaxValueValidator(1)),
        help_text="For the start of the interval of quadratic κ; empty: no gate.",
    )
    least_labels = models.PositiveIntegerField(default=100, validators=(MinValueValidator(1),))
    least_topics = models.PositiveIntegerField(
        default=LEAST_TOPICS, validators=(MinValueValidator(LEAST_TOPICS),), help_text="Fewer give no interval."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("accounts.Person", models.PROTECT, null=True, editable=False)

    class Meta(AppendOnly.Meta):
        ordering = ("-pk",)

    def __str__(self) -> str:
        if self.least_kappa is None:
            return "no gate"
        return f"κ from {self.least_kappa}, {self.least_labels} labels, {self.least_topics} topics"


class Figure(AppendOnly):
    """A figure of a result, as a Vega-Lite specification without colours."""

    calculation = models.ForeignKey(Calculation, models.PROTECT, related_name="figures")
    name = models.CharField(max_length=60, help_text="In addresses and file names.")
    title = models.CharField(max_length=300)
    specification = JSONText(default=dict)

    class Meta(AppendOnly.Meta):
        ordering = ("pk",)
        constraints = (models.UniqueConstraint(fields=("calculation", "name"), name="figure_once"),)

    def __str__(self) -> str:
        return self.title
