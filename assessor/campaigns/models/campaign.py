"""A campaign, its protocol, and the people who belong to it."""

from functools import cache

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_noop

from assessor.runtime.sql import Parameter, Prepared


class Campaign(models.Model):
    """One study, such as a track's edition."""

    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=60, unique=True, help_text="The campaign's name in addresses and commands.")
    second_factor_required = models.BooleanField(
        default=False, help_text="Whether who works on it must have set up a second factor."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("accounts.Person", models.PROTECT, null=True, editable=False)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    @property
    def protocol(self) -> "Protocol":
        """The protocol in force: the newest version."""
        newest = next(_newest_protocol().fetch(campaign=self.pk), None)
        assert newest is not None, "create_campaign makes the first version"
        newest.campaign = self
        return newest


@cache
def _newest_protocol() -> "Prepared[Protocol]":
    protocols = Protocol.objects.filter(campaign=Parameter("campaign"))
    return Prepared(protocols.order_by("-version")[:1])


class Role(models.TextChoices):
    """What somebody does in a campaign."""

    ASSESSOR = "assessor", gettext_noop("assessor")
    ORGANIZER = "organizer", gettext_noop("organizer")


LONGEST_LANGUAGES = 200


class Membership(models.Model):
    """Somebody's role in a campaign, now or once: who ever could see its LLM output is not blind in it."""

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="memberships")
    person = models.ForeignKey("accounts.Person", models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role)
    since = models.DateTimeField(auto_now_add=True)
    until = models.DateTimeField(null=True, blank=True)
    languages = models.CharField(
        max_length=LONGEST_LANGUAGES,
        blank=True,
        help_text="Those that the person reads, as passages name theirs; empty: not known.",
    )

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("campaign", "person", "role"), condition=Q(until__isnull=True), name="role_once_at_a_time"
            ),
        )

    def __str__(self) -> str:
        return f"{self.person}, {self.role} of {self.campaign}"


class Invitation(models.Model):
    """A role in a campaign that is offered to somebody who has an account; they take it, or not."""

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="invitations")
    person = models.ForeignKey("accounts.Person", models.PROTECT, related_name="invitations")
    role = models.CharField(max_length=10, choices=Role)
    invited_at = models.DateTimeField(auto_now_add=True)
    invited_by = models.ForeignKey("accounts.Person", models.PROTECT, related_name="+")

    class Meta:
        constraints = (models.UniqueConstraint(fields=("campaign", "person"), name="invited_once"),)

    def __str__(self) -> str:
        return f"{self.person}, invited as {self.role} of {self.campaign}"


def _count(
    default: int, help_text: str, *, least: int = 1, most: int = 10_000
) -> "models.PositiveIntegerField[int, int]":
    validators = (MinValueValidator(least), MaxValueValidator(most))
    return models.PositiveIntegerField(default=default, validators=validators, help_text=help_text)


class Protocol(models.Model):
    """One version of a campaign's settings, shown with every result. A change makes a new version.

    The defaults are the protocol of the TREC 2024 RAG track.
    """

    # What an organizer sets, by field.
    SETTINGS = (
        "name",
        "max_grade",
        "min_relevant_grade",
        "max_nuggets",
        "advised_words",
        "pool_depth",
        "window_segments",
        "max_drafts",
        "importance_batch",
        "assign_batch",
        "grade_batch",
        "grade_text",
        "draft_order",
        "citations_per_sentence",
        "equal_pairs_once",
        "leave_out_unworthy",
        "preference_orders",
        "preference_ties",
        "argue_gate",
        "argue_match",
        "argue_negatives",
        "argue_max_chars",
        "max_answer_words",
        "max_sentence_citations",
        "max_references",
        "show_citations",
        "blind_after_seeing",
    )

    class DraftOrder(models.TextChoices):
        SHUFFLED = "shuffled", "shuffled (seeded)"
        AS_GENERATED = "as_generated", "as generated"

    class GradeText(models.TextChoices):
        RESPONSE = "response", "the answer"
        DOCUMENTS = "document_paragraphs", "what it cites, by paragraph"
        BOTH = "response_and_document_paragraphs", "both: their product"

    class PreferenceOrders(models.TextChoices):
        BOTH = "both", "both: a tie where replies differ"
        ONE = "one", "one"

    class Gate(models.TextChoices):
        REFERENCES = "references", "those that refer to what it cites"
        OPEN = "open", "all"
        WHERE_KNOWN = "where_known", "these, and those without references"

    class Match(models.TextChoices):
        CITATION = "citation", "where the citation supports it"
        ALL = "all", "where all its citations support it"
        ANY = "no", "always"

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="protocols")
    version = models.PositiveIntegerField(editable=False)
    name = models.CharField(max_length=60, default="trec-2024")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("accounts.Person", models.PROTECT, null=True, editable=False)

    max_grade = _count(
        3, "Highest grade of people who grade here, unless their condition says otherwise.", least=3, most=4
    )
    min_relevant_grade = _count(
        1, "Lowest grade that counts as relevant, unless a condition of nuggets says otherwise.", most=4
    )
    max_nuggets = _count(20, "Nuggets kept by the LLM, and the most a person may finish with.")
    advised_words = _count(12, "Advised number of words in a nugget.")
    pool_depth = _count(20, "Segments of each retrieval run that go into the pool.")
    window_segments = _count(10, "Segments in a window of AutoNuggets.")
    max_drafts = _count(30, "Longest list of nuggets the LLM may return.")
    importance_batch = _count(10, "Nuggets in a call that sets importance.")
    assign_batch = _count(10, "Nuggets in a call of AutoAssign.")
    grade_batch = _count(1, "Questions in a call of AutoGrade.", most=10)
    grade_text = models.CharField(
        max_length=40, choices=GradeText, default=GradeText.RESPONSE, help_text="What AutoGrade grades of an answer."
    )
    draft_order = models.CharField(max_length=20, choices=DraftOrder, default=DraftOrder.SHUFFLED)
    citations_per_sentence = _count(1, "Citations judged for each sentence.")
    equal_pairs_once = models.BooleanField(
        default=False,
        verbose_name="Judge identical sentence-passage pairs once",
        help_text="Where answers to a topic have the same sentence with the same cited passage, whether a judge is "
        "asked about one of them alone, and what is said of it holds for all.",
    )
    leave_out_unworthy = models.BooleanField(
        default=True,
        verbose_name="Leave sentences that are not worth verifying out of recall",
        help_text="Whether a sentence that a file of support judgments marks so (verification_worthy 0) is left out of "
        "recall where it cites nothing, as it is where it cites.",
    )
    preference_orders = models.CharField(
        max_length=10,
        choices=PreferenceOrders,
        default=PreferenceOrders.BOTH,
        help_text="In how many orders a model is shown two answers.",
    )
    preference_ties = models.BooleanField(
        default=False,
        verbose_name="Allow ties",
        help_text="Whether a judge may say of two answers that neither is better.",
    )
    argue_gate = models.CharField(
        max_length=20,
        choices=Gate,
        default=Gate.REFERENCES,
        help_text="Which gold answers a sentence is asked about, by what it cites.",
    )
    argue_match = models.CharField(
        max_length=20, choices=Match, default=Match.CITATION, help_text="Where a gold answer that is stated counts."
    )
    argue_negatives = models.BooleanField(
        default=False,
        verbose_name="Judge claims of absence",
        help_text="Whether a sentence that cites nothing is asked whether it says that nothing is known.",
    )
    argue_max_chars = _count(
        0, "Characters of a report that are judged, up to a sentence's end; 0: as the topic says.", least=0
    )
    max_answer_words = _count(400, "Words of an answer before an import warns.")
    max_sentence_citations = _count(20, "Citations of a sentence before an import warns.")
    max_references = _count(20, "References of an answer before an import warns.")
    show_citations = models.BooleanField(
        default=False,
        verbose_name="Show citations while assigning",
        help_text="Whether who assigns nuggets sees what each sentence cites.",
    )
    blind_after_seeing = models.BooleanField(
        default=True,
        verbose_name="Keep people who saw LLM output from blind work",
        help_text="Whoever saw what a model gave on a topic for a kind of work, and whoever organizes the campaign, "
        "is kept from doing that work blind there.",
    )

    class Meta:
        ordering = ("campaign", "-version")
        constraints = (models.UniqueConstraint(fields=("campaign", "version"), name="protocol_version_once"),)

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"
