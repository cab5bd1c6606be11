"""Judges and conditions."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext

from assessor.campaigns.condition_kind import ADJUDICATED, IMPORTED, PANEL, kind_choices, kind_of, method_choices
from assessor.campaigns.models.grades import SCALES, SCALES_HERE
from assessor.campaigns.models.imports import Import, MadeOrVisibleManager, MaybeImported
from assessor.formats.report import visible
from assessor.runtime.fields import JSONText
from assessor.runtime.sql import filter_once

_LONGEST_FILE = 100  # characters of a file's name in an identity


class Judge(models.Model):
    """Who or what gives labels: a person, a model configuration, or whoever made an imported file."""

    class Kind(models.TextChoices):
        PERSON = "person", "person"
        MODEL = "model", "model"
        IMPORTED = "imported", "maker of an imported file"

    kind = models.CharField(max_length=10, choices=Kind)
    name = models.CharField(max_length=200)
    person = models.OneToOneField("accounts.Person", models.PROTECT, null=True, blank=True, related_name="judge")
    parameters = JSONText(
        default=dict, help_text="A model's name and settings; of an imported file, whether people or a model made it."
    )

    is_rehearsal = models.BooleanField(
        default=False, help_text="Some of what it gave came from the rehearsal endpoint, with no model behind it."
    )

    class Meta:
        ordering = ("name",)
        constraints = (
            models.CheckConstraint(
                condition=Q(kind="person", person__isnull=False) | ~Q(kind="person") & Q(person__isnull=True),
                name="judge_is_a_person_or_not",
            ),
            # A person's name may be given to another one later; a model's not in its campaign (see create_judge). Of
            # imported files, one campaign's may be people's and another one's of that name a model's.
            models.UniqueConstraint(
                fields=("name", "parameters"), condition=Q(kind="imported"), name="imported_judge_once"
            ),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def is_a_model(self) -> bool:
        """Say whether it is a model, here or behind an imported file."""
        return self.kind == self.Kind.MODEL or self.parameters.get("by") == "model"

    @property
    def family(self) -> str:
        """The family of a model, as who made it a judge said; "" where nobody did."""
        return str(self.parameters.get("family", ""))


class ConditionManager(MadeOrVisibleManager["Condition"]):
    """All but those of control sets: whatever shows, scores or compares labels must not meet theirs."""

    @filter_once
    def get_queryset(self) -> models.QuerySet["Condition"]:
        return super().get_queryset().filter(is_control=False)


class Condition(MaybeImported):
    """How labels come to be: a way of making nuggets, or of assigning, of judging support, of grading.

    An evaluation condition (assignment) builds on a nugget condition, so that Edits/Manual and Edits/Auto share
    their banks. Two conditions are the same when their identities are.
    """

    ADJUDICATED, IMPORTED, PANEL = ADJUDICATED, IMPORTED, PANEL
    # What is read of it to tell who made what, to be selected with it.
    TOLD_WITH = (
        "judge",
        "nuggets__judge",
        "nuggets__preferences__judge",
        "other_nuggets__judge",
        "support__judge",
        "preferences__judge",
        "qrels_source__condition__judge",
        "shown__judge",
    )

    campaign = models.ForeignKey("campaigns.Campaign", models.PROTECT, related_name="conditions")
    name = models.CharField(max_length=120)
    assessor_name = models.CharField(
        "name for assessors",
        max_length=60,
        blank=True,
        help_text="What assessors read instead of the name; empty: the kind of work.",
    )
    kind = models.CharField(max_length=12, choices=kind_choices)
    method = models.CharField(max_length=24, choices=method_choices)
    qrels_source = models.ForeignKey(
        "campaigns.QrelsSource", models.PROTECT, null=True, blank=True, related_name="conditions"
    )
    retrieval_run = models.ForeignKey(
        "campaigns.RetrievalRun",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="conditions",
        help_text="Of reports: the run whose first documents are read, and not those that grades call relevant.",
    )
    min_relevant_grade = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=(MinValueValidator(1), MaxValueValidator(max(SCALES))),
        help_text="Of nuggets: the lowest grade that counts as relevant; empty: as the protocol says.",
    )
    max_grade = models.PositiveSmallIntegerField(
        "scale", choices=SCALES_HERE, default=min(SCALES), help_text="Of relevance: the scale of the grades."
    )
    judge = models.ForeignKey(Judge, models.PROTECT, null=True, blank=True, help_text="None means people.")
    nuggets = models.ForeignKey("self", models.PROTECT, null=True, blank=True, help_text="The nugget condition.")
    other_nuggets = models.ForeignKey(
        "self",
        models.PROTECT,
        null=True,
        blank=True,
        default=None,
        related_name="+",
        help_text="Of matched banks: the condition whose nuggets are matched with those.",
    )
    support = models.ForeignKey(
        "self",
        models.PROTECT,
        null=True,
        blank=True,
        default=None,
        related_name="+",
        help_text="Of candidates for banks: the condition whose labels say which sentences are supported.",
    )
    preferences = models.ForeignKey(
        "self",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="Of questions that a model makes from runs' answers: the condition that says which are better.",
    )
    shown = models.ForeignKey(
        "self",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="post_edited_by",
        help_text="The condition whose labels of a model stand beside the choices.",
    )
    prompts = JSONText(default=dict, blank=True, help_text="The sha256 of each prompt that a model gets, by its name.")
    replicate = models.PositiveSmallIntegerField(
        default=0, help_text="Which sample of a judge that is asked the same more than once; 0 is the first."
    )
    sample = models.CharField(
        max_length=100, blank=True, help_text="The study whose sample is labelled; empty: all there is to label."
    )
    of_passages = models.BooleanField(
        "of passages", default=False, help_text="Passages are graded, and not the answers of runs."
    )
    panel = JSONText(
        default=dict,
        blank=True,
        help_text="Of a panel: the names of its members in order, the rule by which labels follow from theirs, "
        "which label counts where several could, and how many members must have labelled.",
    )
    variant = JSONText(
        default=dict,
        blank=True,
        help_text="Of a sensitivity study, whose name the sample is: the prompt set, how many items are in a call, and "
        "in which order.",
    )
    has_rehearsals = models.BooleanField(
        default=False, help_text="Of a panel: some of what its members gave was a rehearsal."
    )
    is_control = models.BooleanField(
        default=False, editable=False, help_text="A control set is asked again under it, to see whether a judge drifts."
    )
    protocol = models.ForeignKey("campaigns.Protocol", models.PROTECT)
    identity = models.CharField(max_length=700, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("accounts.Person", models.PROTECT, null=True, editable=False)

    objects: ClassVar[MadeOrVisibleManager["Condition"]] = ConditionManager()
    with_controls: ClassVar[MadeOrVisibleManager["Condition"]] = MadeOrVisibleManager()

    class Meta:
        ordering = ("name",)
        constraints = (
            models.UniqueConstraint(fields=("campaign", "name"), name="condition_name_once"),
            models.UniqueConstraint(fields=("campaign", "identity"), name="condition_once"),
        )

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.identity = self.describe()
        super().save(*args, **kwargs)

    def describe(self) -> str:
        """Spell out what makes this condition the one it is."""
        creation = self.nuggets or self
        kind, makes_nuggets = kind_of(self), kind_of(creation).makes_nuggets
        parts = {
            "kind": self.kind,
            "nuggets": self.nuggets,
            "other nuggets": self.other_nuggets,
            "supported by": self.support,
            "creation": creation.method if makes_nuggets else None,
            "qrels": self.qrels_source or creation.qrels_source,
            "retrieval": self.retrieval_run,
            "relevant": f"from {self.relevance_threshold}" if self.has_own_threshold else None,
            "scale": SCALES[self.max_grade] if self.max_grade != min(SCALES) else None,
            "drafting": creation.judge if makes_nuggets else None,
            "preferences": self.preferences,
            "file": self._drafts_file(),
            "method": None if kind.makes_nuggets else self.method,
            "judge": None if kind.makes_nuggets or self.is_panel else self.judge or "people",
            "members": " + ".join(self.panel["members"]) if self.is_panel else None,
            "rule": self.panel["rule"] if self.is_panel else None,
            "ties": self.panel["ties"] if self.is_panel else None,
            "quorum": self.panel["quorum"] if self.is_panel else None,
            "shown": self.shown,
            "prompts": self.short_prompts or None,
            "replicate": self.replicate or None,
            "sample": self.sample or None,
            "batch": self.variant.get("batch"),
            "order": self.variant.get("order"),
            "of": "passages" if self.of_passages else None,
            "invalid labels": Import.InvalidLabels.NOT_SUPPORT if self.counts_invalid_labels else None,
            "protocol": self.protocol,
        }
        return "; ".join(f"{name}={value}" for name, value in parts.items() if value is not None)

    @property
    def short_prompts(self) -> str:
        """The prompts that a model gets, each with how its hash begins: "creation:4f0c…,importance:9a31…"."""
        return ",".join(f"{name}:{sha256[:12]}" for name, sha256 in sorted(self.prompts.items()))

    def _drafts_file(self) -> str | None:
        """Name the file that brought the drafts which people edit, if one did."""
        if not self.edits_drafts or self.import_record is None:
            return None
        return f"{visible(self.import_record.file_name)[:_LONGEST_FILE]} sha256:{self.import_record.sha256[:12]}"

    @property
    def relevance_threshold(self) -> int:
        """The lowest grade of its source with which a passage counts as relevant."""
        return self.min_relevant_grade or self.protocol.min_relevant_grade

    @property
    def has_own_threshold(self) -> bool:
        """Say whether that is another one than the protocol's."""
        return self.relevance_threshold != self.protocol.min_relevant_grade

    @property
    def threshold_in_name(self) -> str:
        """What the usual names of such conditions end with, so that two thresholds make two names."""
        return f", relevant from {self.relevance_threshold}" if self.has_own_threshold else ""

    def shows_a_models_nuggets(self, *, has_drafts: bool | None = None) -> bool:
        """Say whether its nuggets, or some of them, are a model's, or may be. has_drafts: if that is known already."""
        by = self.judge.parameters.get("by") if self.judge else None
        # Who sees people's nuggets of a former edition can't write their own any more, as with a model's.
        if by != "people" or self.edits_drafts:
            return self.method != kind_of(self).blind_method
        # People's nuggets that came with the drafts of a model, which they edited.
        return self.draftings.exists() if has_drafts is None else has_drafts

    @property
    def counts_invalid_labels(self) -> bool:
        """Say whether what was no label in the files of its assignments counts as not_support."""
        is_asked = kind_of(self).takes_invalid_labels
        options = self.import_record.options if is_asked and self.import_record else {}
        return options.get("invalid_labels") == Import.InvalidLabels.NOT_SUPPORT

    @property
    def maker(self) -> str:
        """Who labels, in words: people, a model by its name, or who made an imported file."""
        if self.method == self.ADJUDICATED:
            return "a third person where two differ"
        if self.is_panel:
            return f"a panel of {len(self.panel['members'])} models"
        if self.judge is None:
            return "people"
        if self.judge.kind == Judge.Kind.MODEL:
            return f"a model ({self.judge})"
        return {"people": "people, imported", "model": "a model, imported"}.get(
            self.judge.parameters.get("by", ""), "others, imported"
        )

    @property
    def is_a_models(self) -> bool:
        """Say whether its labels are a model's, given here or imported, or those of a panel of models."""
        return self.is_panel or (self.judge is not None and self.judge.is_a_model)

    @property
    def is_peoples(self) -> bool:
        """Say whether its labels are people's, given here or imported."""
        if self.is_panel or self.edits_drafts:
            return False
        return self.judge is None or self.judge.parameters.get("by") == "people"

    @property
    def is_panel(self) -> bool:
        """Say whether its labels follow from those of other conditions."""
        return self.method == self.PANEL

    @cached_property
    def members(self) -> "list[Condition]":
        """The conditions whose labels a panel's follow from, in order; those of many panels: see members_of()."""
        return Condition.members_of([self])[self.pk] if self.is_panel else []

    @staticmethod
    def members_of(conditions: "Iterable[Condition]") -> "dict[int, list[Condition]]":
        """Return the members of those conditions of a campaign that are panels, by key; in one query for all."""
        panels = [one for one in conditions if one.is_panel]
        if not panels:
            return {}
        names = {name for panel in panels for name in panel.panel["members"]}
        found = Condition.objects.filter(campaign=panels[0].campaign_id, name__in=names)
        by_name = {one.name: one for one in found.select_related(*Condition.TOLD_WITH, "campaign", "protocol")}
        return {panel.pk: [by_name[name] for name in panel.panel["members"]] for panel in panels}

    @property
    def label_sources(self) -> "list[Condition]":
        """The conditions under which its labels were given: its members, of a panel."""
        return self.members if self.is_panel else [self]

    @property
    def is_imported(self) -> bool:
        """Say whether all its labels came with files."""
        return all(one.method == self.IMPORTED for one in self.label_sources)

    @property
    def is_from_runs(self) -> bool:
        """Say whether its nuggets, or those labelled here, were made from answers of runs, which they then score."""
        return (self.nuggets or self).preferences_id is not None

    @property
    def is_drafted(self) -> bool:
        """Say whether a model makes its nuggets here, or drafts them."""
        return self.method in kind_of(self).drafted_methods

    @property
    def judges_answers(self) -> bool:
        """Say whether answers of runs are judged under it."""
        return kind_of(self).judges_answers and not self.of_passages

    @property
    def can_drop_runs(self) -> bool:
        """Say whether runs can be dropped from it."""
        return kind_of(self).can_drop_runs and not self.of_passages

    @property
    def text_name(self) -> str:
        """What pages call a text that is labelled under it."""
        return "passage" if self.of_passages else kind_of(self).text_name

    @property
    def is_by_people(self) -> bool:
        """Say whether people work under it here."""
        return self.method in (*kind_of(self).peoples_methods, ADJUDICATED)

    @property
    def is_rehearsed(self) -> bool:
        """Say whether what a model gave here, or some of it, was a rehearsal: shown wherever its output is."""
        of_grades = self.qrels_source.condition if self.qrels_source else None
        preferences = (self.nuggets or self).preferences
        builds_on = (self, self.nuggets, self.other_nuggets, self.support, preferences, of_grades, self.shown)
        makers = [condition.judge for condition in builds_on if condition]
        return self.has_rehearsals or any(judge.is_rehearsal for judge in makers if judge)

    @property
    def name_for_assessors(self) -> str:
        """What those who work under it read: the name might say whose work they see, or that somebody judged before."""
        return self.assessor_name or kind_of(self).title

    @property
    def task_for_assessors(self) -> str:
        """What is asked of those who work under it, and what they start from."""
        kind = kind_of(self)
        starts_from_a_model = self.method in kind.peoples_methods and not self.is_blind()
        instruction = gettext(kind.instruction)
        return f"{instruction} {kind.start(self)}" if starts_from_a_model else instruction

    @property
    def edits_drafts(self) -> bool:
        """Say whether people edit what a model drafts."""
        return self.is_drafted and self.is_by_people

    def is_blind(self) -> bool:
        """Say whether a person who works under it must not have seen a model's output of that kind."""
        return self.method == kind_of(self).blind_method
