"""The organizer's forms of studies."""

from typing import Any

from django import forms

from assessor.accounts.models import Person
from assessor.campaigns.forms import RecordField
from assessor.campaigns.models import Campaign, Condition
from assessor.campaigns.queries import without_practice
from assessor.labels.label_kind import label_kind
from assessor.studies.actions import MAX_NOTE, PER_TOPIC
from assessor.studies.models import ErrorCode, Study
from assessor.studies.queries import judges_of
from assessor.studies.sampling import sampled_kinds
from assessor.work.allocation import LARGEST_SEED


class DrawForm(forms.Form):
    """A new study."""

    name = forms.CharField(max_length=100)
    first = RecordField(
        Condition.objects.none(), label="First labels", help_text="People's labels, given here or imported."
    )
    second = RecordField(
        Condition.objects.none(),
        label="Second labels",
        help_text="A model's labels.",
    )
    per_topic = forms.IntegerField(
        min_value=1,
        required=False,
        initial=PER_TOPIC,
        label="Items a topic",
        help_text="Leave empty for all that differ.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=LARGEST_SEED,
        required=False,
        help_text="Decides what is drawn. Leave empty for a new one, which is recorded.",
    )

    def __init__(self, campaign: Campaign, purpose: Study.Purpose, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kinds = [
            name for name in sampled_kinds() if purpose != Study.Purpose.REJUDGING or label_kind(name).can_be_rejudged
        ]
        labelled = campaign.conditions.filter(kind__in=kinds, sample="").select_related("judge")
        people = [condition.pk for condition in labelled if condition.is_peoples]
        models = [condition.pk for condition in labelled if condition.is_a_models and not condition.is_panel]
        second = {Study.Purpose.ADJUDICATION: people, Study.Purpose.DISAGREEMENT: models}.get(purpose, people + models)
        self.fields["first"].queryset = labelled.filter(pk__in=people)  # type: ignore[attr-defined]
        self.fields["second"].queryset = labelled.filter(pk__in=second)  # type: ignore[attr-defined]
        if purpose == Study.Purpose.ADJUDICATION:
            self.fields["second"].help_text = "The other person's labels."
        if purpose == Study.Purpose.REJUDGING:
            self.fields["first"].help_text = "People's labels, which are judged again."
            self.fields["second"].help_text = "A model's labels, or other people's."
            self.fields[
                "per_topic"
            ].help_text = (
                "Of those that differ; as many that agree come with them. Leave empty for as many as there can be."
            )
            self.fields["topic"] = RecordField(
                without_practice(campaign.topics.order_by("qid"), "pk"), required=False, empty_label="all topics"
            )

    def clean(self) -> dict[str, Any]:
        """Return what is asked, with the one topic, if any, as topics."""
        asked = super().clean() or {}
        topic = asked.pop("topic", None)
        return asked | ({"topics": [topic]} if topic else {})


class GiveForm(forms.Form):
    """A study's sample for a person."""

    person = RecordField(Person.objects.none(), label="Assessor")
    condition = RecordField(
        Condition.objects.none(),
        label="As",
        required=False,
        empty_label="a new judge",
        help_text="Several people can share one judge: give its topics on the plan.",
    )
    name = forms.CharField(
        max_length=120, required=False, label="Name of the new judge", help_text="Leave empty to have it named for you."
    )

    def __init__(self, study: Study, people: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["person"].queryset = people  # type: ignore[attr-defined]
        self.fields["condition"].queryset = judges_of(study).filter(judge=None)  # type: ignore[attr-defined]


class CodeForm(forms.ModelForm):  # type: ignore[type-arg]
    """An error code; one that is there gets another meaning."""

    class Meta:
        model = ErrorCode
        fields = ("code", "meaning")
        help_texts = {"code": "Letters, digits, hyphens and underscores.", "meaning": "When to use it."}


class CodingForm(forms.Form):
    """Why the labels of an item differ."""

    codes = forms.MultipleChoiceField(required=False)
    note = forms.CharField(required=False, max_length=MAX_NOTE)
    seen = forms.IntegerField(min_value=0)

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = campaign.error_codes.values_list("code", flat=True)
        self.fields["codes"].choices = [(code, code) for code in known]  # type: ignore[attr-defined]
