"""The organizer's forms of judges and jobs."""

from typing import Any

from django import forms

from assessor.campaigns.condition_kind import names_of_nuggets
from assessor.campaigns.forms import GradesField, threshold_field
from assessor.campaigns.models import Campaign, Condition
from assessor.formats.lines import Line
from assessor.formats.report import Report
from assessor.formats.values import json_object
from assessor.llm.endpoints import check_base_url
from assessor.llm.gateway import RESERVED
from assessor.llm.job_kind import Grades, job_kinds
from assessor.llm.models import LEAST_MONEY, Job, ModelJudge
from assessor.llm.prompt_sets import names, prompt_set
from assessor.llm.prompts import PromptSetError
from assessor.llm.queries import chosen_topics

LIMIT_NAMES = ("max_tokens", "max_completion_tokens")
_NOT_SENT = "Empty: not sent."


class JudgeForm(forms.ModelForm):  # type: ignore[type-arg]
    """How a judge is reached and how hard."""

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
        )

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._campaign = campaign
        # Kept even where its folder is gone, so that the rest can be changed.
        self.fields["base_url"].widget.attrs["size"] = 50
        known = list(dict.fromkeys([*names(campaign), self.initial.get("prompt_set", "assay-1")]))
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


class NewJudgeForm(JudgeForm):
    """A new judge: also what decides its answers, and never changes afterwards."""

    name = forms.CharField(max_length=200, help_text="Stands in conditions, exports and tables.")
    model = forms.CharField(max_length=200, help_text="As the endpoint calls it.")
    temperature = forms.FloatField(
        required=False, min_value=0, max_value=2, initial=0, help_text="Empty: not sent, for models that take none."
    )
    max_tokens = forms.IntegerField(
        min_value=1, max_value=1_000_000, initial=2_048, label="Token limit", help_text="Of one reply."
    )
    limit_name = forms.ChoiceField(
        choices=[(name, name) for name in LIMIT_NAMES],
        label="Token limit is sent as",
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
        help_text="low, medium, high, or what else the endpoint takes. Empty: not sent.",
    )
    extra = forms.CharField(
        required=False,
        max_length=4_000,
        widget=forms.Textarea(attrs={"rows": 3, "cols": 50}),
        label="Further fields",
        help_text='A JSON object that is sent with each request: {"top_k": 20}. No passwords: it is shown and stored.',
    )
    _always = ("model", "temperature", "max_tokens", "limit_name", "structured")
    _if_filled_in = ("top_p", "presence_penalty", "frequency_penalty", "seed", "reasoning_effort", "extra")
    field_order = ("name", *_always, *_if_filled_in)

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
        labels = {"most_calls": "At most calls", "most_cost": "At most cost"}
        help_texts = {"most_calls": "Empty: no limit.", "most_cost": "In the currency of the prices; empty: no limit."}


class AskForm(forms.Form):
    """Which judge is asked, under which name, and what that may cost."""

    judge = forms.ModelChoiceField(ModelJudge.objects.none())
    name = forms.CharField(
        max_length=120,
        required=False,
        label="Name of the condition",
        help_text="Empty: what is done and by which judge. An existing condition goes on under its own name.",
    )
    replicate = forms.IntegerField(
        min_value=0,
        max_value=1_000,
        initial=0,
        help_text="0 reuses what this judge has answered before; another number samples it anew, as a condition of its "
        "own.",
    )
    most_calls = forms.IntegerField(min_value=1, required=False, label="At most calls", help_text="Empty: no limit.")
    most_cost = forms.DecimalField(
        min_value=LEAST_MONEY,
        max_digits=14,
        decimal_places=6,
        required=False,
        label="At most cost",
        help_text="In the currency of the judge's prices; empty: no limit.",
    )

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.campaign = campaign
        judges = campaign.model_judges.select_related("judge")
        self.fields["judge"].queryset = judges  # type: ignore[attr-defined]


class LaunchForm(AskForm):
    """A new job."""

    kind = forms.ChoiceField(label="What to do")
    qrels_source = GradesField(label="Qrels")
    min_relevant_grade = threshold_field()
    nuggets = forms.ModelChoiceField(Condition.objects.none(), required=False)
    topics = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "cols": 40}),
        help_text="Topic ids, with blanks or on lines of their own. Empty: all topics.",
    )
    field_order = ("kind", "judge", "qrels_source", "min_relevant_grade", "nuggets", "name", "topics")

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(campaign, *args, **kwargs)
        kinds = job_kinds().values()
        self.fields["kind"].choices = [(kind.name, kind.name) for kind in kinds]  # type: ignore[attr-defined]
        with_grades = [kind.name for kind in kinds if kind.grades != Grades.NONE]
        self.fields["qrels_source"].help_text = f"For {' and '.join(with_grades)}."
        on_nuggets = [kind.name for kind in kinds if kind.builds_on_nuggets]
        self.fields["nuggets"].help_text = f"For {' and '.join(on_nuggets)}: the condition of the finished nuggets."
        self.fields["qrels_source"].queryset = campaign.qrels_sources.all()  # type: ignore[attr-defined]
        nuggets = campaign.conditions.filter(kind__in=names_of_nuggets())
        self.fields["nuggets"].queryset = nuggets  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        wanted = set(cleaned.get("topics", "").replace("\x00", "").split())
        cleaned["chosen"], unknown = chosen_topics(self.campaign, wanted)
        if unknown:
            self.add_error("topics", f"The campaign has no topic {', '.join(unknown[:10])}.")
        return cleaned
