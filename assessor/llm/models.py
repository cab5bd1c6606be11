"""Judges' settings, jobs with their units, and the ledger of calls."""

from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import Any
from uuid import uuid4

from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from assessor.campaigns.models import AppendOnly
from assessor.runtime.fields import JSONText
from assessor.runtime.sql import Parameter, Prepared

LEAST_MONEY = Decimal("0.000001")
_A_MILLION = "USD for a million tokens."
_IN_BATCHES = f"{_A_MILLION} Half the price if empty."
_PRICE: dict[str, Any] = {"validators": [MinValueValidator(0)], "max_digits": 14, "decimal_places": 6}
PROMPT_SET_NAME = r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,59}\Z"
prompt_set_name_validator = RegexValidator(
    PROMPT_SET_NAME,
    "A prompt set's name has letters, digits, dots, hyphens and underscores, and begins with a letter or digit.",
)
key_variable_validator = RegexValidator(
    r"\A[A-Z][A-Z0-9_]*_API_KEY\Z", "Name a variable of the environment that ends in _API_KEY, such as OPENAI_API_KEY."
)


class ModelJudge(models.Model):
    """Where and how a model is asked that is a judge of a campaign.

    What decides its answers (model, temperature, limits, structured output) stands in the judge's `parameters` and
    never changes: another temperature is another judge. The settings here say how to reach it and how hard.
    """

    judge = models.OneToOneField("campaigns.Judge", models.PROTECT, related_name="model")
    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="model_judges")
    base_url = models.CharField(
        "address", max_length=500, help_text="Of its chat-completions API, such as https://host/v1."
    )
    key_variable = models.CharField(
        max_length=100,
        blank=True,
        validators=[key_variable_validator],
        help_text="The name of the environment variable with the key. No key needed: leave it empty.",
    )
    prompt_set = models.CharField(max_length=60, default="assay-1")
    concurrency = models.PositiveIntegerField(
        default=8,
        validators=[MinValueValidator(1), MaxValueValidator(1_000)],
        help_text="Calls at the same time, over all workers.",
    )
    requests_per_minute = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)], help_text="No limit if empty."
    )
    tokens_per_minute = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)], help_text="No limit if empty."
    )
    timeout = models.PositiveIntegerField(
        default=120, validators=[MinValueValidator(1), MaxValueValidator(3_600)], help_text="Seconds for one call."
    )
    price_in = models.DecimalField("price of input", default=Decimal(0), help_text=_A_MILLION, **_PRICE)
    price_out = models.DecimalField("price of output", default=Decimal(0), help_text=_A_MILLION, **_PRICE)
    price_in_batch = models.DecimalField(
        "price of input in batches", null=True, blank=True, help_text=_IN_BATCHES, **_PRICE
    )
    price_out_batch = models.DecimalField(
        "price of output in batches", null=True, blank=True, help_text=_IN_BATCHES, **_PRICE
    )
    batch_tokens = models.PositiveIntegerField(
        "tokens in batches",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Sent in batches that are under way at the same time. No limit if empty.",
    )
    keeps_batch_files = models.BooleanField(
        "leave batch files with the provider",
        default=False,
        help_text="Else they are deleted there once the answers are stored.",
    )
    accepts_other_models = models.BooleanField(
        "go on if the endpoint names another model",
        default=False,
        help_text="Else the job stops, and goes on with the model named last once it is resumed.",
    )
    # When the next request may go out (seconds since 1970), and the same by tokens: the rate over all workers.
    next_request_at = models.FloatField(default=0, editable=False)
    next_token_at = models.FloatField(default=0, editable=False)
    open_at = models.FloatField(default=0, editable=False, help_text="Until when the endpoint asked to be left alone.")
    clock = models.FloatField(default=0, editable=False, help_text="When the three above were last looked at.")

    class Meta:
        ordering = ("judge__name",)

    def __str__(self) -> str:
        return str(self.judge)

    @property
    def model_name(self) -> str:
        return str(self.judge.parameters["model"])

    def cost(self, tokens_in: int, tokens_out: int, *, in_batch: bool = False) -> Decimal:
        """Return what tokens cost, in the currency of the prices."""
        price_in, price_out = self.price_in, self.price_out
        if in_batch:
            price_in = price_in / 2 if self.price_in_batch is None else self.price_in_batch
            price_out = price_out / 2 if self.price_out_batch is None else self.price_out_batch
        return (tokens_in * price_in + tokens_out * price_out) / 1_000_000


class StoredPrompt(AppendOnly):
    """The text of a prompt that a job used: a job under way keeps it, whatever becomes of the prompt set."""

    sha256 = models.CharField(max_length=64, unique=True)
    text = models.TextField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta(AppendOnly.Meta):
        ordering = ("at",)

    def __str__(self) -> str:
        return self.sha256[:12]


class CampaignPromptSet(AppendOnly):
    """A prompt set that was made in a campaign of published templates, for its judges to use."""

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="prompt_sets")
    name = models.CharField(max_length=60, validators=[prompt_set_name_validator])
    texts = JSONText(default=dict, help_text="The texts, by prompt.")
    provenance = JSONText(
        default=dict,
        help_text="By prompt: the published file with its sha256, or the set it comes from.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("accounts.Person", models.PROTECT, null=True, editable=False)

    class Meta(AppendOnly.Meta):
        ordering = ("name",)
        constraints = (models.UniqueConstraint(fields=("campaign", "name"), name="prompt_set_name_once"),)

    def __str__(self) -> str:
        return self.name


@cache
def _locking_job() -> "Prepared[Job]":
    return Prepared(Job.objects.select_for_update(no_key=True).filter(pk=Parameter("job")))


class Job(models.Model):
    """An automatic condition's work, in units. The database says what is to be done; the queue is only a hint."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting for a worker"
        RUNNING = "running", "running"
        PAUSED = "paused", "paused"
        HALTED = "halted", "halted"
        DONE = "done", "done"
        CANCELLED = "cancelled", "cancelled"

    class Mode(models.TextChoices):
        LIVE = "live", "one by one"
        BATCH = "batch", "in batches"
        FILES = "files", "in files that you carry"

    ACTIVE = (State.WAITING, State.RUNNING)
    OVER = (State.DONE, State.CANCELLED)

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="jobs")
    kind = models.CharField(max_length=40)
    mode = models.CharField(max_length=5, choices=Mode, default=Mode.LIVE, help_text="How its requests are sent.")
    condition = models.ForeignKey("campaigns.Condition", models.PROTECT, related_name="jobs")
    judge = models.ForeignKey(ModelJudge, models.PROTECT, related_name="jobs")
    scope = JSONText(default=dict, help_text="What the units were made from.")
    topics_left = JSONText(default=list, help_text="Topics whose units are still to be made, by their ids.")
    estimate = JSONText(default=dict, help_text="Calls, tokens and cost as told before launch.")
    most_calls = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)], help_text="Budget of calls."
    )
    most_cost = models.DecimalField(
        null=True,
        blank=True,
        validators=[MinValueValidator(LEAST_MONEY)],
        help_text="Budget of money.",
        max_digits=14,
        decimal_places=6,
    )
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    message = models.CharField(max_length=1_000, blank=True, help_text="Why it was halted.")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("accounts.Person", models.PROTECT, null=True, related_name="+")
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    units_total = models.PositiveIntegerField(default=0)
    units_done = models.PositiveIntegerField(default=0)
    units_failed = models.PositiveIntegerField(default=0)
    calls = models.PositiveIntegerField(default=0, help_text="Requests sent whose outcome is known.")
    calls_begun = models.PositiveIntegerField(
        default=0, help_text="Requests that were let go, where calls are limited."
    )
    answered_from_ledger = models.PositiveIntegerField(default=0)
    tokens_in = models.PositiveBigIntegerField(default=0)
    tokens_out = models.PositiveBigIntegerField(default=0)
    cost = models.DecimalField(default=Decimal(0), max_digits=14, decimal_places=6)

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}: {self.condition}"

    @property
    def name(self) -> str:
        """What the history calls it: one job at a time works under a condition."""
        return f"{self.kind}: {self.condition}"

    @property
    def is_over(self) -> bool:
        return self.state in self.OVER

    @classmethod
    def locked(cls, job: int) -> "Job":
        """Lock a job, by its key, and return it as it is now. Call it in a transaction."""
        [found] = _locking_job().fetch(job=job)
        return found

    @classmethod
    def count(cls, job: int, **more: Any) -> None:
        """Add to the counters of a job, by its key."""
        if more := {name: F(name) + number for name, number in more.items() if number}:
            cls.objects.filter(pk=job).update(**more)

    def refuses(self, calls: int, cost: Decimal) -> str:
        """Return why no further call may be let go where so many were and it would all cost this; "" where it may."""
        if self.most_calls is not None and calls >= self.most_calls:
            return f"The budget of {self.most_calls:,} calls is used up."
        if self.most_cost is not None and cost > self.most_cost:
            return f"The budget of {self.most_cost.normalize():f} would be exceeded by the next call."
        return ""

    @property
    def took(self) -> int | None:
        """Seconds from its start to its end; None before that."""
        return round((self.ended_at - self.started_at).total_seconds()) if self.started_at and self.ended_at else None

    @property
    def percent(self) -> int:
        """Share of the units that are done or failed, 0 to 100; a job whose work follows from a rule has none."""
        if not self.units_total:
            return 0 if self.topics_left else 100
        return 100 * (self.units_done + self.units_failed) // self.units_total


class Unit(models.Model):
    """What a job does once: a topic, one of its segments, an answer, or a citation of an answer."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        CLAIMED = "claimed", "claimed by a worker"
        DEFERRED = "deferred", "waiting for a batch"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    job = models.ForeignKey(Job, models.PROTECT, related_name="units")
    topic = models.ForeignKey("campaigns.Topic", models.PROTECT, related_name="+", db_index=False)
    answer = models.ForeignKey("campaigns.Answer", models.PROTECT, null=True, related_name="+", db_index=False)
    item = models.CharField(max_length=300, blank=True, help_text="What of topic or answer, or empty for all of it.")
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    round = models.PositiveSmallIntegerField(default=0, help_text="How often a person had it tried again.")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How often a worker took it up.")
    error = models.TextField(blank=True)
    runner = models.ForeignKey("Runner", models.SET_NULL, null=True, related_name="units")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=("job", "topic", "item"), condition=Q(answer=None), name="unit_once"),
            models.UniqueConstraint(
                fields=("answer", "job", "item"), condition=Q(answer__isnull=False), name="unit_of_answer_once"
            ),
        )
        indexes = (models.Index(fields=("job", "state", "id")),)

    def __str__(self) -> str:
        return f"{self.topic.qid} {self.item}".strip()


class Runner(models.Model):
    """A process at work on a job, and the requests that it may have in flight of those that its judge allows."""

    job = models.ForeignKey(Job, models.PROTECT, related_name="runners")
    judge = models.ForeignKey(ModelJudge, models.PROTECT, related_name="runners")
    owner = models.CharField(max_length=200, help_text="Host, process id and start of the process.")
    seats = models.PositiveIntegerField(default=0, help_text="Requests that it may have in flight.")
    started_at = models.DateTimeField(auto_now_add=True)
    alive_at = models.DateTimeField()
    cost_let_go = models.DecimalField(
        default=Decimal(0), max_digits=14, decimal_places=6, help_text="About what its requests in flight will cost."
    )

    def __str__(self) -> str:
        return f"{self.owner} at {self.job_id}"


class Call(AppendOnly):
    """The ledger: one request that went out, and what came of it."""

    class Outcome(models.TextChoices):
        GOOD = "good", "good"
        WRONG = "wrong", "wrong answer"
        REPEATED = "repeated", "answered twice"
        UNREAD = "unread", "answered after its job had ended"
        REFUSED = "refused", "refused by the endpoint"
        LOST = "lost", "no answer"

    judge = models.ForeignKey(ModelJudge, models.PROTECT, related_name="calls")
    job = models.ForeignKey(Job, models.PROTECT, null=True, related_name="+")
    unit = models.ForeignKey(Unit, models.PROTECT, null=True, related_name="calls")
    batch = models.ForeignKey("Batch", models.PROTECT, null=True, related_name="+", db_index=False)
    at = models.DateTimeField()
    request = models.CharField(max_length=64, help_text="sha256 of the whole request.")
    replicate = models.PositiveSmallIntegerField(default=0)
    round = models.PositiveSmallIntegerField(default=0)
    question = models.CharField(max_length=20)
    model = models.CharField(max_length=200, help_text="As the endpoint named it.")
    outcome = models.CharField(max_length=8, choices=Outcome)
    response = models.TextField(blank=True, help_text="The raw response, or the error.")
    tokens_in = models.PositiveIntegerField(default=0)
    tokens_out = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(default=Decimal(0), max_digits=14, decimal_places=6)
    milliseconds = models.PositiveIntegerField(default=0)

    class Meta(AppendOnly.Meta):
        ordering = ("pk",)
        constraints = (
            # One answer for an equal request; a wrong one may be asked for again in the next round.
            models.UniqueConstraint(
                fields=("judge", "request", "replicate", "round"),
                condition=Q(outcome__in=("good", "wrong")),
                name="answer_once_for_a_request",
            ),
        )
        indexes = (models.Index(fields=("job", "at")), models.Index(fields=("job", "model")))

    def __str__(self) -> str:
        return f"{self.question} {self.request[:12]}: {self.outcome}"


class Batch(models.Model):
    """A file of a job's requests that a provider answers within a day, or that somebody carries.

    It waits from one look at it to the next; a process that looks runs it (see runtime/claims.py).
    """

    class State(models.TextChoices):
        WAITING = "waiting", "under way"
        RUNNING = "running", "being looked at"
        DONE = "done", "over"

    TOKEN_LIMIT = "token_limit_exceeded"  # noqa: S105  # a provider's word for too many tokens under way

    job = models.ForeignKey(Job, models.PROTECT, related_name="batches")
    uid = models.UUIDField(default=uuid4, unique=True, help_text="By which it is found at the provider.")
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    owner = models.CharField(max_length=200, blank=True)
    alive_at = models.DateTimeField(null=True)
    attempts = models.PositiveIntegerField(default=0, help_text="How often it was looked at.")
    is_carried = models.BooleanField(default=False, help_text="By hand, as a file.")
    status = models.CharField(max_length=20, blank=True, help_text="As the provider names its state; empty before.")
    remote_id = models.CharField(max_length=200, blank=True)
    input_file = models.CharField(max_length=200, blank=True)
    output_file = models.CharField(max_length=200, blank=True)
    error_file = models.CharField(max_length=200, blank=True)
    requests_total = models.PositiveIntegerField(default=0)
    requests_ended = models.PositiveIntegerField(default=0, help_text="Done or failed, as the provider counts.")
    requests_answered = models.PositiveIntegerField(default=0, help_text="Whose answers came.")
    tokens_in = models.PositiveBigIntegerField(default=0, help_text="About what is sent.")
    times_missed = models.PositiveSmallIntegerField(
        default=0, help_text="Looks at which the provider knew no such batch."
    )
    code = models.CharField(max_length=100, blank=True, help_text="The provider's word for why it failed.")
    message = models.CharField(max_length=1_000, blank=True)
    made_at = models.DateTimeField(auto_now_add=True)
    look_at = models.DateTimeField(default=timezone.now, help_text="When it is looked at next.")
    sent_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-pk",)
        indexes = (models.Index(fields=("state", "look_at")),)

    def __str__(self) -> str:
        return f"Batch {self.pk} of job {self.job_id}"

    @property
    def status_words(self) -> str:
        """What a provider's word for its state means."""
        if not self.status:
            return "as a file" if self.is_carried else "not sent yet"
        return {"in_progress": "under way", "finalizing": "nearly done"}.get(self.status, self.status)

    @property
    def is_over(self) -> bool:
        return self.state == self.State.DONE


class BatchRequest(models.Model):
    """A request that goes, or went, to a judge in a batch, until the ledger has its answer."""

    job = models.ForeignKey(Job, models.PROTECT, related_name="batch_requests")
    unit = models.ForeignKey(Unit, models.PROTECT, related_name="batch_requests")
    batch = models.ForeignKey(
        Batch, models.PROTECT, null=True, related_name="requests", help_text="Empty: of none yet."
    )
    request = models.CharField(max_length=64, help_text="sha256 of the whole request.")
    question = models.CharField(max_length=20)
    body = models.TextField(help_text="The whole request, as JSON.")
    tokens_in = models.PositiveIntegerField(default=0)
    tokens_out = models.PositiveIntegerField(default=0)
    tries = models.PositiveSmallIntegerField(default=0, help_text="Batches that brought no answer.")
    status = models.PositiveSmallIntegerField(null=True, help_text="HTTP status of what came; empty: nothing yet.")
    response = models.TextField(blank=True, help_text="The raw response, or the error.")

    class Meta:
        constraints = (models.UniqueConstraint(fields=("job", "request"), name="batched_once"),)
        indexes = (models.Index(fields=("batch", "request")),)

    def __str__(self) -> str:
        return self.request[:12]


class Trial(models.Model):
    """The small request with which a judge was tried last.

    While a trial is open it has one of the installation's places. One that nobody took up or whose worker was killed
    loses its place with time.
    """

    PLACES = (1, 2)
    TAKEN_UP_WITHIN = timedelta(minutes=1)
    ENDS_WITHIN = timedelta(minutes=2)  # far longer than a request that was taken up may take

    judge = models.OneToOneField(ModelJudge, models.PROTECT, related_name="trial")
    place = models.PositiveSmallIntegerField(null=True, unique=True, help_text="Empty once it is over.")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("accounts.Person", models.PROTECT, related_name="+")
    begun_at = models.DateTimeField(null=True, help_text="When a worker took it up.")
    call = models.ForeignKey(Call, models.PROTECT, null=True, related_name="+")
    answer = models.CharField(max_length=200, blank=True, help_text="What was read from the reply.")
    reply = models.TextField(blank=True, help_text="What came back, or how it begins.")
    problem = models.TextField(blank=True, help_text="Why the judge can't be used as it is.")

    def __str__(self) -> str:
        return f"{self.judge}, {self.created_at}"

    @classmethod
    def overdue(cls) -> "QuerySet[Trial]":
        """Return the trials that have a place and will not end any more."""
        now = timezone.now()
        late = Q(begun_at=None, created_at__lte=now - cls.TAKEN_UP_WITHIN) | Q(created_at__lte=now - cls.ENDS_WITHIN)
        return cls.objects.filter(late, place__isnull=False)

    @property
    def ends_at(self) -> datetime:
        return self.created_at + (self.ENDS_WITHIN if self.begun_at else self.TAKEN_UP_WITHIN)

    @property
    def is_open(self) -> bool:
        return self.place is not None and timezone.now() < self.ends_at
