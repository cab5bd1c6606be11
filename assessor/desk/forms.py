"""The organizer's forms."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.contrib.auth.forms import UsernameField
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from assessor.accounts.models import Person
from assessor.campaigns.actions import name_for_assessors
from assessor.campaigns.condition_kind import condition_kinds, names_of_answers, names_of_nuggets
from assessor.campaigns.http import NO_FILE
from assessor.campaigns.models import Campaign, Condition, Protocol, Role
from assessor.desk.import_forms import FilesField
from assessor.labels.manual_setups import FIRST, REPEAT, SECOND, label_again
from assessor.llm import prompt_sets
from assessor.llm.job_kind import job_prompts
from assessor.llm.models import prompt_set_name_validator
from assessor.llm.prompt_sets import MOST_BYTES
from assessor.llm.prompt_templates import TemplateError, read_templates
from assessor.llm.prompts import PreviewSubject


class CampaignForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Campaign
        fields = ("name",)
        help_texts = {"name": "Its short name in addresses and commands is made from this."}


class InvitationForm(forms.Form):
    """Somebody who is to have a role in a campaign."""

    name = UsernameField(
        label="User name", max_length=150, validators=[Person.username_validator], help_text="They sign in with it."
    )
    email = forms.EmailField(label="E-mail address", required=False, help_text="Can be left empty.")
    role = forms.TypedChoiceField(label="Role", choices=Role.choices, coerce=Role)


class ProtocolForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Protocol
        fields = Protocol.SETTINGS

    seen = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["seen"] = self.instance.version

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("seen") != self.initial["seen"]:
            raise forms.ValidationError("Somebody changed the protocol since this page was loaded: load it again.")
        if cleaned.get("min_relevant_grade", 0) > cleaned.get("max_grade", 4):
            self.add_error("min_relevant_grade", "No grade is that high.")
        return cleaned


class ConditionForm(forms.Form):
    """A new condition under which people work: what each kind asks, and what to label again."""

    AGAIN: Mapping[str, Sequence[str]] = {SECOND: ("of", "share", "only_unjudgeable"), REPEAT: ("of", "share")}

    method = forms.ChoiceField(
        label="What is made",
        help_text="AutoNuggets+Edits, by which people edit a model's drafts, is made by a Drafts job, or by an "
        "import of drafts that a model made elsewhere.",
    )
    name = forms.CharField(max_length=120, required=False, help_text="Left empty, what is made gives it its name.")
    assessor_name = forms.CharField(
        label="Name for assessors",
        max_length=60,
        required=False,
        help_text="All that assessors read of it. Left empty, it is the kind of work, such as Support. It should not "
        "tell where nuggets or labels come from, nor that somebody judged before.",
    )
    of = forms.ModelChoiceField(
        Condition.objects.none(),
        label="Opinion on",
        required=False,
        help_text="The condition whose answers are labelled again; its own labels stay apart.",
    )
    share = forms.IntegerField(
        label="Percent of the answers",
        min_value=1,
        max_value=100,
        initial=100,
        required=False,
        help_text="Of each topic, drawn by a seed that is kept.",
    )
    only_unjudgeable = forms.BooleanField(label="Only what the first person couldn't judge", required=False)

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Around nuggets first.
        kinds = sorted(condition_kinds(), key=lambda kind: (not kind.makes_nuggets, not kind.needs_nuggets, kind.name))
        found = [(kind, part) for kind in kinds if (part := kind.condition_fields(campaign))]
        parts = [part for _, part in found]
        self._parts = {method: part for part in parts for method in part.METHODS}
        self._needs = {**{method: part.NEEDS.get(method, ()) for method, part in self._parts.items()}, **self.AGAIN}
        self._optional = {"only_unjudgeable", *(name for part in parts for name in part.OPTIONAL)}
        for part in parts:
            self.fields.update(part.fields)
        shown = [name for part in parts for name in part.SHOWN]
        given = [name for part in parts for name in part.GIVEN]
        again = list(self.AGAIN[SECOND])
        last = {*again, *shown, *given}
        self.order_fields([*(name for name in self.fields if name not in last), *again, *shown, *given])
        method = self.fields["method"]
        assert isinstance(method, forms.ChoiceField)
        labelled = " or ".join(part.HEADING for kind, part in found if kind.judges_answers)
        method.choices = [
            *((method, f"{part.HEADING}: {part.METHODS[method]}") for method, part in self._parts.items()),
            (SECOND, f"A second opinion on {labelled}: somebody else, blind to the first"),
            (REPEAT, f"A repetition of {labelled}: the same person again, blind to the first time"),
        ]
        firsts = campaign.conditions.filter(manual_setup__purpose=FIRST, kind__in=names_of_answers(), sample="")
        self.fields["of"].queryset = firsts  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        method = cleaned.get("method")
        for name in {name for needed in self._needs.values() for name in needed}:
            if method and name not in self._needs[method]:
                cleaned[name] = None
            elif method and not cleaned.get(name) and name not in (*self.errors, *self._optional):
                self.add_error(name, "This field is required.")
        cleaned["name"] = cleaned.get("name") or self._usual_name(cleaned)
        return cleaned

    def _usual_name(self, cleaned: Mapping[str, Any]) -> str:
        method, of = cleaned.get("method", ""), cleaned.get("of")
        if method in self._parts:
            return self._parts[method].usual_name(method, cleaned)
        return f"{of}, {'repeated' if method == REPEAT else 'second opinion'}"[:120]

    def create(self, acting_user: Person) -> Condition:
        """Make the condition, with its name for assessors. Raises ConditionError."""
        filled_in = self.cleaned_data
        method = filled_in["method"]
        with transaction.atomic():
            if method in self._parts:
                condition = self._parts[method].create(filled_in, acting_user=acting_user)
            else:
                condition = label_again(
                    purpose=method,
                    only_unjudgeable=bool(filled_in["only_unjudgeable"]),
                    acting_user=acting_user,
                    **{name: filled_in[name] for name in ("of", "share", "name")},
                )
            if name := filled_in["assessor_name"]:
                name_for_assessors(condition=condition, name=name, acting_user=acting_user)
        return condition


class TemplatesForm(forms.Form):
    """Published prompt templates, and what the prompt set that is made of them is called."""

    uploads = FilesField(
        label="Template files",
        help_text="As published: YAML of nuggetizer or RAGDoll, text of UMBRELA. One for each prompt, at most.",
        error_messages={"required": NO_FILE},
    )
    name = forms.CharField(
        max_length=60,
        required=False,
        label="Name of the prompt set",
        help_text="Empty: named by its content.",
        validators=[prompt_set_name_validator],
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        files: list[UploadedFile[Any]] = cleaned.get("uploads", [])[: len(job_prompts()) + 1]  # one is too many
        cleaned["files"] = [(file.name or "", file.read(MOST_BYTES + 1)) for file in files]
        try:
            cleaned["templates"] = read_templates(cleaned["files"])
        except TemplateError as error:
            self.add_error("uploads", error.messages)
        return cleaned


class PromptForm(forms.Form):
    """Which prompt is to be shown, and on what."""

    prompt_set = forms.ChoiceField()
    prompt = forms.ChoiceField()
    topic = forms.CharField(label="Topic id", max_length=256)
    qrels = forms.ChoiceField(
        label="Qrels", required=False, help_text="For prompts of relevant passages; by default those of the condition."
    )
    condition = forms.ChoiceField(
        label="Condition of the nuggets",
        required=False,
        help_text="For prompts of nuggets. For those of relevant passages its lowest relevant grade is taken.",
    )
    run = forms.CharField(max_length=256, required=False, help_text="Whose answer, for prompts of an answer.")
    docid = forms.CharField(
        label="Passage", max_length=256, required=False, help_text="Its docid, for prompts of one passage."
    )
    sentence = forms.IntegerField(
        min_value=1,
        required=False,
        help_text="Of the answer, from 1, for prompts of one sentence: with the passage it cites first.",
    )

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        nugget_conditions = campaign.conditions.filter(kind__in=names_of_nuggets())
        for name, known in (
            ("prompt_set", prompt_sets.names(campaign)),
            ("prompt", job_prompts()),
            ("qrels", ["", *campaign.qrels_sources.values_list("name", flat=True)]),
            ("condition", ["", *nugget_conditions.values_list("name", flat=True)]),
        ):
            self.fields[name].choices = [(one, one or "—") for one in known]  # type: ignore[attr-defined]

    def subject(self) -> PreviewSubject:
        """Return what the prompt is about."""
        cleaned = self.cleaned_data
        return PreviewSubject(
            topic=cleaned["topic"],
            qrels=cleaned["qrels"],
            condition=cleaned["condition"],
            run=cleaned["run"],
            docid=cleaned["docid"],
            sentence=cleaned["sentence"] or 1,
        )
