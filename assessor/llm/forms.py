"""The organizer's forms of judges and jobs."""

from collections.abc import MutableMapping, Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.urls import reverse

from assessor.campaigns.forms import GradesField, RecordField, threshold_field
from assessor.campaigns.models import Campaign, Condition, RetrievalRun
from assessor.formats.families import FAMILIES
from assessor.formats.lines import Line
from assessor.formats.report import Report
from assessor.formats.values import json_object
from assessor.llm.endpoints import Key, check_base_url, key_of
from assessor.llm.gateway import RESERVED
from assessor.llm.job_kind import Grades, JobKind, launched_kinds
from assessor.llm.models import LEAST_MONEY, Job, ModelJudge
from assessor.llm.prompt_sets import OWN, names, prompt_set
from assessor.llm.prompts import PromptSetError
from assessor.llm.queries import chosen_topics
from assessor.llm.templatetags.llm import money

LIMIT_NAMES = ("max_tokens", "max_completion_tokens")
_NOT_SENT = "Not sent if empty."


def _without_zeros(initial: MutableMapping[str, Any], *names: str) -> None:
    """Have amounts begin without the zeros that the database keeps at their end."""
    for name in names:
        if isinstance(amount := initial.get(name), Decimal):
            initial[name] = money(amount)


class JudgeForm(forms.ModelForm):  # type: ignore[type-arg]
    """How a judge is reached and how hard."""

    _advanced: Sequence[str] = (
        *("tokens_per_minute", "timeout", "price_in_batch", "price_out_batch", "batch_tokens", "keeps_batch_files"),
        "accepts_other_models",
    )

    class Meta:
        model = ModelJudge
        fields = (
            "base_url",
            "key_variable",
            "prompt_set",
            "concurrency",
            "requests_per_minute",
            "tokens_per_minute",
            "timeout",
            "price_in",
            "price_out",
            "price_in_batch",
            "price_out_batch",
            "batch_tokens",
            "keeps_batch_files",
            "accepts_other_models",
        )

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._campaign = campaign
        _without_zeros(self.initial, "price_in", "price_out", "price_in_batch", "price_out_batch")
        # Kept even where its folder is gone, so that the rest can be changed.
        self.fields["base_url"].widget.attrs["size"] = 50
        check_key = {"hx-get": reverse("new_judge", args=[campaign.slug]), "hx-target": "#key", "hx-swap": "outerHTML"}
        self.fields["key_variable"].widget.attrs |= check_key | {"hx-trigger": "input changed delay:300ms"}
        usual = self.initial.setdefault("prompt_set", OWN)
        known = list(dict.fromkeys([*names(campaign), usual]))
        self.fields["prompt_set"] = forms.ChoiceField(choices=[(name, name) for name in known])

    def clean_base_url(self) -> str:
        url = str(self.cleaned_data["base_url"]).strip()
        check_base_url(url)
        return url

    def clean_prompt_set(self) -> str:
        name = str(self.cleaned_data["prompt_set"])
        try:
            prompt_set(name, self._campaign)
        except PromptSetError as error:
            raise forms.ValidationError(str(error)) from error
        return name

    def settings(self) -> dict[str, Any]:
        """Return the fields of ModelJudge, cleaned."""
        return {name: self.cleaned_data[name] for name in self.Meta.fields}

    def usual(self) -> list[forms.BoundField]:
        """Return the fields that most judges need."""
        return [field for field in self if field.name not in self._advanced]

    def advanced(self) -> list[forms.BoundField]:
        """Return the fields that most judges leave as they are."""
        return [field for field in self if field.name in self._advanced]

    @property
    def opens_advanced(self) -> bool:
        """Whether one of those has an error."""
        return any(field.errors for field in self.advanced())

    @property
    def key(self) -> Key:
        """The key by its variable, as it is filled in."""
        return key_of(str(self["key_variable"].value() or ""))


class NewJudgeForm(JudgeForm):
    """A new judge: also what decides its answers and never changes."""

    name = forms.CharField(max_length=200, help_text="Shown in conditions, tables and files.")
    model = forms.CharField(max_length=200, help_text="The model's name at the endpoint.")
    temperature = forms.FloatField(
        required=False, min_value=0, max_value=2, initial=0, help_text="Not sent if empty: some models take none."
    )
    max_tokens = forms.IntegerField(
        min_value=1, max_value=1_000_000, initial=2_048, label="Longest reply", help_text="In tokens."
    )
    limit_name = forms.ChoiceField(
        choices=[(name, name) for name in LIMIT_NAMES],
        initial=LIMIT_NAMES[0],
        label="Name of that limit",
        help_text="max_completion_tokens for OpenAI's newer models.",
    )
    structured = forms.BooleanField(
        required=False, label="Structured output", help_text="Send a JSON schema that replies must follow."
    )
    top_p = forms.FloatField(required=False, min_value=0, max_value=1, label="top_p", help_text=_NOT_SENT)
    presence_penalty = forms.FloatField(required=False, min_value=-2, max_value=2, help_text=_NOT_SENT)
    frequency_penalty = forms.FloatField(required=False, min_value=-2, max_value=2, help_text=_NOT_SENT)
    seed = forms.IntegerField(required=False, min_value=-(2**63), max_value=2**63 - 1, help_text=_NOT_SENT)
    reasoning_effort = forms.RegexField(
        r"\A[a-z]{1,20}\Z",
        required=False,
        error_messages={"invalid": "Write one word in small letters, such as low, medium or high."},
        help_text="Such as low, medium or high. Not sent if empty.",
    )
    family = forms.ChoiceField(
        required=False,
        choices=[("", "not said"), *FAMILIES.items()],
        help_text="Of the model: whether a judge favours its own family is tested by it. It is not sent.",
    )
    extra = forms.CharField(
        required=False,
        max_length=4_000,
        widget=forms.Textarea(attrs={"rows": 3, "cols": 50}),
        label="Further fields",
        help_text='A JSON object sent with each call, such as {"top_k": 20}. It is shown and stored: no passwords.',
    )
    _always = ("model", "temperature", "max_tokens", "limit_name", "structured")
    _unusual = ("top_p", "presence_penalty", "frequency_penalty", "seed", "reasoning_effort", "extra")
    _if_filled_in = (*_unusual, "family")
    _advanced = (*JudgeForm._advanced, "limit_name", "structured", *_unusual)
    field_order = ("base_url", "key_variable", "model", "name", "family", "temperature", "max_tokens")

    def clean_extra(self) -> dict[str, Any]:
        text = str(self.cleaned_data["extra"])
        report = Report("further fields")
        fields = json_object(Line(1, text), report) if text else {}
        if fields is None:
            [problem] = report.errors
            raise forms.ValidationError(f"Found {problem.found}; expected {problem.expected}.")
        # Some endpoints look at no case.
        if reserved := sorted(name for name in fields if name.strip().lower() in RESERVED):
            raise forms.ValidationError(
                f"Leave out {', '.join(reserved)}: Assay sets {'it' if len(reserved) == 1 else 'them'} itself, from "
                "the fields above where there is one."
            )
        return fields

    def parameters(self) -> dict[str, Any]:
        """Return what decides the judge's answers; what came later and is left empty is absent, as in older judges."""
        more = {name: self.cleaned_data[name] for name in self._if_filled_in}
        filled_in = {name: value for name, value in more.items() if value not in (None, "", {})}
        return {name: self.cleaned_data[name] for name in self._always} | filled_in


class BudgetForm(forms.ModelForm):  # type: ignore[type-arg]
    """What a job may spend."""

    class Meta:
        model = Job
        fields = ("most_calls", "most_cost")
        labels = {"most_calls": "calls", "most_cost": "USD"}
        help_texts = {"most_calls": "", "most_cost": ""}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _without_zeros(self.initial, "most_cost")

    def in_order(self) -> list[forms.BoundField]:
        """Return the fields as they are read: money first."""
        return [self["most_cost"], self["most_calls"]]


class AskForm(forms.Form):
    """Which judge is asked, under which name, and what that may cost."""

    judge = RecordField(ModelJudge.objects.none())
    name = forms.CharField(
        max_length=120,
        required=False,
        label="Name of the condition",
        help_text="Leave empty to have it named for you.",
    )
    replicate = forms.IntegerField(
        min_value=0,
        max_value=1_000,
        initial=0,
        label="Repetition",
        help_text="0 uses stored answers; another number asks again, as a separate condition.",
    )
    most_calls = forms.IntegerField(min_value=1, required=False, label="calls")
    most_cost = forms.DecimalField(
        min_value=LEAST_MONEY,
        max_digits=14,
        decimal_places=6,
        required=False,
        label="USD",
    )

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.campaign = campaign
        judges = campaign.model_judges.select_related("judge")
        self.offer("judge", judges)

    def asked(self) -> list[forms.BoundField]:
        """Return the other fields that are seen."""
        return [field for field in self.visible_fields() if field not in self.budget()]

    def budget(self) -> list[forms.BoundField]:
        """Return the fields that say where the job stops."""
        return [self["most_cost"], self["most_calls"]]

    def offer(self, name: str, choices: QuerySet[Any]) -> None:
        """Have a field offer records, and choose the sole one."""
        field = self.fields[name]
        field.queryset = choices  # type: ignore[attr-defined]
        found = list(choices[:2])
        if len(found) == 1 and name not in self.initial:
            self.initial[name] = found[0].pk


class LaunchForm(AskForm):
    """A new job of a kind: it asks only what that kind needs.

    Topics come from the picker: `topic`, as often as one is checked, with `basis` for what its states were told; or
    their ids are pasted, which goes first. A form without a picker means all topics.
    """

    kind = forms.ChoiceField(widget=forms.HiddenInput)
    qrels_source = GradesField(label="Relevance grades")
    min_relevant_grade = threshold_field()
    retrieval_run = RecordField(
        RetrievalRun.objects.none(),
        required=False,
        help_text="Its first documents are read. Choose none to read those that the grades call relevant.",
    )
    nuggets = RecordField(Condition.objects.none(), required=False)
    other_nuggets = RecordField(Condition.objects.none(), label="Nuggets to match them with")
    support = RecordField(Condition.objects.none(), label="Support of sentences")
    preferences = RecordField(Condition.objects.none())
    mode = forms.ChoiceField(
        choices=Job.Mode,
        required=False,
        label="Requests are sent",
        help_text="Batches cost half, and take up to a day for each question that builds on the answer to another.",
    )
    topics = forms.CharField(
        required=False,
        label="Topic ids",
        widget=forms.Textarea(attrs={"rows": 3, "cols": 40}),
        help_text="Separated by blanks or line breaks. They replace the selection above.",
    )
    field_order = (
        "kind",
        "nuggets",
        "other_nuggets",
        "support",
        "preferences",
        "qrels_source",
        "min_relevant_grade",
        "retrieval_run",
        "judge",
    )

    def __init__(self, campaign: Campaign, kind: JobKind, *args: Any, **kwargs: Any) -> None:
        super().__init__(campaign, *args, **kwargs)
        self.initial["kind"] = kind.name
        self.fields["kind"].choices = [(name, name) for name in launched_kinds()]  # type: ignore[attr-defined]
        if kind.grades == Grades.NONE:
            del self.fields["qrels_source"], self.fields["min_relevant_grade"]
        else:
            sources = campaign.qrels_sources.all()
            self.offer("qrels_source", sources.filter(by="people") if kind.grades == Grades.PEOPLES else sources)
        if kind.takes_rankings:
            self.fields["retrieval_run"].queryset = campaign.retrieval_runs.all()  # type: ignore[attr-defined]
        else:
            del self.fields["retrieval_run"]
        if kind.builds_on:
            self.offer("nuggets", campaign.conditions.filter(kind__in=kind.builds_on))
            self.fields["nuggets"].label = kind.nuggets_called.capitalize()
        else:
            del self.fields["nuggets"]
        if kind.matches_banks:
            self.offer("other_nuggets", campaign.conditions.filter(kind__in=kind.builds_on))
        else:
            del self.fields["other_nuggets"]
        if kind.support:
            self.offer("support", campaign.conditions.filter(kind=kind.support).exclude(method=Condition.PANEL))
        else:
            del self.fields["support"]
        if kind.preferences:
            self.offer("preferences", campaign.conditions.filter(kind=kind.preferences))
        else:
            del self.fields["preferences"]

    def builds_on(self) -> list[forms.BoundField]:
        """Return the fields that say what the job works with."""
        names = (
            "nuggets",
            "other_nuggets",
            "support",
            "preferences",
            "qrels_source",
            "min_relevant_grade",
            "retrieval_run",
            "judge",
        )
        return [self[name] for name in names if name in self.fields]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        wanted = set(cleaned.get("topics", "").replace("\x00", "").split())
        cleaned["pasted"], unknown = chosen_topics(self.campaign, wanted) if wanted else ([], [])
        if unknown:
            self.add_error("topics", f"The campaign has no topic {', '.join(unknown[:10])}.")
        return cleaned
