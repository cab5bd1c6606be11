"""The organizer's forms of judges and jobs."""

from typing import Any

from django import forms

from assessor.collection.models import Campaign, Condition, QrelsSource
from assessor.llm import kinds
from assessor.llm.endpoints import check_base_url
from assessor.llm.models import LEAST_MONEY, Job, ModelJudge
from assessor.llm.prompt_sets import PromptSetError, names, prompt_set
from assessor.llm.queries import chosen_topics

LIMIT_NAMES = ("max_tokens", "max_completion_tokens")


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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Kept even where its folder is gone, so that the rest can be changed.
        self.fields["base_url"].widget.attrs["size"] = 50
        known = list(dict.fromkeys([*names(), self.initial.get("prompt_set", "assay-1")]))
        self.fields["prompt_set"] = forms.ChoiceField(choices=[(name, name) for name in known])

    def clean_base_url(self) -> str:
        url = str(self.cleaned_data["base_url"]).strip()
        check_base_url(url)
        return url

    def clean_prompt_set(self) -> str:
        name = str(self.cleaned_data["prompt_set"])
        try:
            prompt_set(name)
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
    field_order = ("name", "model", "temperature", "max_tokens", "limit_name", "structured")

    def parameters(self) -> dict[str, Any]:
        """Return what decides the judge's answers."""
        return {name: self.cleaned_data[name] for name in self.field_order if name != "name"}


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
    qrels_source = forms.ModelChoiceField(
        QrelsSource.objects.none(), label="Qrels", required=False, help_text="For AutoNuggets and Drafts."
    )
    nuggets = forms.ModelChoiceField(
        Condition.objects.none(), required=False, help_text="For AutoAssign: the condition of the finished nuggets."
    )
    topics = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "cols": 40}),
        help_text="Topic ids, with blanks or on lines of their own. Empty: all topics.",
    )
    field_order = ("kind", "judge", "qrels_source", "nuggets", "name", "topics")

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(campaign, *args, **kwargs)
        self.fields["kind"].choices = [(name, name) for name in kinds.names()]  # type: ignore[attr-defined]
        self.fields["qrels_source"].queryset = campaign.qrels_sources.all()  # type: ignore[attr-defined]
        nuggets = campaign.conditions.filter(kind=Condition.Kind.NUGGETS)
        self.fields["nuggets"].queryset = nuggets  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        wanted = set(cleaned.get("topics", "").replace("\x00", "").split())
        cleaned["chosen"], unknown = chosen_topics(self.campaign, wanted)
        if unknown:
            self.add_error("topics", f"The campaign has no topic {', '.join(unknown[:10])}.")
        return cleaned
