"""The organizer's forms."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django import forms
from django.contrib.auth.forms import UsernameField
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from assessor.accounts.models import Person
from assessor.campaigns.actions import name_for_assessors
from assessor.campaigns.condition_kind import condition_kinds, names_of_nuggets, names_of_repeatable
from assessor.campaigns.forms import RecordField
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


def _in_words(protocol: Protocol, name: str) -> str:
    value = getattr(protocol, name)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(getattr(protocol, f"get_{name}_display", lambda: value)())


class InvitationForm(forms.Form):
    """Somebody who is to have a role in a campaign."""

    name = UsernameField(
        label="User name", max_length=150, validators=[Person.username_validator], help_text="They sign in with it."
    )
    email = forms.EmailField(label="E-mail address", required=False, help_text="Can be left empty.")
    role = forms.TypedChoiceField(label="Role", choices=Role.choices, coerce=Role)


class Setting(NamedTuple):
    """A field of the protocol with its unit. usual: its value in the TREC 2024 RAG track, in words."""

    field: forms.BoundField
    unit: str
    usual: str
    differs: bool


class ProtocolForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Protocol
        fields = Protocol.SETTINGS

    # By group and field: its label, its unit, and a sentence of help where one is needed.
    GROUPS: Mapping[str, Mapping[str, tuple[str, str, str]]] = {
        "In general": {
            "name": ("Name", "", ""),
            "blind_after_seeing": (
                "Keep people who saw a model's output from blind work",
                "",
                "Organizers of the campaign are kept from it too.",
            ),
        },
        "Relevance": {
            "max_grade": ("Highest grade", "", "A condition under which people grade can have another scale."),
            "min_relevant_grade": ("Relevant from grade", "", "A condition of nuggets can say otherwise."),
            "pool_depth": ("Pool depth", "passages of each retrieval run", ""),
        },
        "Nuggets": {
            "max_nuggets": ("Most nuggets", "a topic", "A model's list is cut there; people can't finish with more."),
            "advised_words": ("Advised length", "words a nugget", ""),
            "draft_order": ("Order of drafts", "", ""),
            "show_citations": ("Show citations while assigning", "", ""),
        },
        "Model calls": {
            "window_segments": ("Passages in a window", "a call", ""),
            "max_drafts": ("Longest list of nuggets", "a reply", ""),
            "importance_batch": ("Nuggets, for importance", "a call", ""),
            "assign_batch": ("Nuggets, for assignment", "a call", ""),
            "grade_batch": ("Questions, for grading", "a call", ""),
            "grade_text": ("A model grades", "", ""),
        },
        "Support": {
            "citations_per_sentence": ("Citations judged", "a sentence", ""),
            "equal_pairs_once": (
                "Judge identical pairs of sentence and passage once",
                "",
                "One label then holds for all answers to a topic that have the pair.",
            ),
            "leave_out_unworthy": (
                "Leave sentences that are not worth verifying out of recall",
                "",
                "Files of support judgments mark them with verification_worthy 0.",
            ),
        },
        "Preferences": {
            "preference_orders": ("Orders of a pair that a model sees", "", ""),
            "preference_ties": (
                "Allow ties",
                "",
                "Else who finds two answers alike takes the simpler and clearer one.",
            ),
        },
        "Reports, sentence by sentence": {
            "argue_gate": ("Gold answers asked of a sentence", "", ""),
            "argue_match": ("A stated gold answer counts", "", ""),
            "argue_negatives": ("Judge claims of absence", "", ""),
            "argue_max_chars": ("Judged length", "characters a report", "0: as the topic says."),
        },
        "Limits": {
            "max_answer_words": ("Words", "an answer", ""),
            "max_sentence_citations": ("Citations", "a sentence", ""),
            "max_references": ("References", "an answer", ""),
        },
    }

    seen = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["seen"] = self.instance.version
        for fields in self.GROUPS.values():
            for name, (label, _, help_text) in fields.items():
                self.fields[name].label, self.fields[name].help_text = label, help_text

    def groups(self) -> Iterator[tuple[str, list[Setting]]]:
        """Yield the groups of settings, each beside what it was in the track."""
        usual = Protocol()
        for title, fields in self.GROUPS.items():
            yield (
                title,
                [
                    Setting(self[name], unit, _in_words(usual, name), getattr(usual, name) != self.initial.get(name))
                    for name, (_, unit, _) in fields.items()
                ],
            )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("seen") != self.initial["seen"]:
            raise forms.ValidationError("Somebody changed the protocol since this page was loaded: load it again.")
        if cleaned.get("min_relevant_grade", 0) > cleaned.get("max_grade", 4):
            self.add_error("min_relevant_grade", "No grade is that high.")
        return cleaned


class Card(NamedTuple):
    """A method to choose, as a card has it."""

    value: str
    title: str
    sentence: str
    is_chosen: bool


class ConditionForm(forms.Form):
    """A new condition under which people work: what each kind asks, and what to label again."""

    AGAIN: Mapping[str, Sequence[str]] = {SECOND: ("of", "share", "only_unjudgeable"), REPEAT: ("of", "share")}
    LABELLED_AGAIN: Mapping[str, tuple[str, str]] = {
        SECOND: ("Second opinion", "Somebody else labels the same answers, blind to the first labels."),
        REPEAT: ("Repetition", "The same person labels the same answers again, blind to the first time."),
    }

    method = forms.ChoiceField(label="What people do")
    name = forms.CharField(max_length=120, required=False, help_text="Leave empty to have it named for you.")
    assessor_name = forms.CharField(
        label="Name for assessors",
        max_length=60,
        required=False,
        help_text="Leave empty for the kind of work, such as Support. It should not say where nuggets or labels come "
        "from, nor that somebody judged before.",
    )
    of = RecordField(
        Condition.objects.none(),
        label="Condition to label again",
        required=False,
        help_text="Its own labels stay apart.",
    )
    share = forms.IntegerField(
        label="Percent of the answers",
        min_value=1,
        max_value=100,
        initial=100,
        required=False,
        help_text="Drawn at random on each topic.",
    )
    only_unjudgeable = forms.BooleanField(label="Only what the first person couldn't judge", required=False)

    def __init__(self, campaign: Campaign, *args: Any, nuggets: str = "", **kwargs: Any) -> None:
        """nuggets: the key of the condition whose nuggets are to be assigned, where that is known."""
        super().__init__(*args, **kwargs)
        # Around nuggets first.
        kinds = sorted(condition_kinds(), key=lambda kind: (not kind.makes_nuggets, not kind.needs_nuggets, kind.title))
        parts = [part for kind in kinds if (part := kind.condition_fields(campaign))]
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
        cards = {**{method: part.METHODS[method] for method, part in self._parts.items()}, **self.LABELLED_AGAIN}
        method.choices = [(name, title) for name, (title, _) in cards.items()]
        self.initial.update(self._labelling(campaign, nuggets) or {"method": next(iter(cards))})
        chosen = self["method"].value()
        for name in {name for needed in self._needs.values() for name in needed}:
            # As classes, by which desk.css shows a field or does not: so it works without script too.
            places = [place for place, card in enumerate(cards) if name in self._needs[card]]
            self.fields[name].asked_of = " ".join(["", "asked-of", *(f"of-{place}" for place in places)])  # type: ignore[attr-defined]
        self.cards = [Card(name, title, told, name == chosen) for name, (title, told) in cards.items()]
        firsts = campaign.conditions.filter(manual_setup__purpose=FIRST, kind__in=names_of_repeatable(), sample="")
        self.fields["of"].queryset = firsts  # type: ignore[attr-defined]

    def _labelling(self, campaign: Campaign, nuggets: str) -> dict[str, str]:
        """Return what is chosen at first where nuggets of a condition are to be labelled."""
        found = campaign.conditions.filter(pk=nuggets).first() if nuggets.isdecimal() else None
        blind = [kind.blind_method for kind in condition_kinds() if found and found.kind in kind.builds_on]
        method = next((method for method in blind if method in self._needs), "")
        return {"method": method, **dict.fromkeys(self._needs[method], nuggets)} if method else {}

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
        label="Relevance grades", required=False, help_text="For creation. Those of the condition if empty."
    )
    condition = forms.ChoiceField(
        label="Nuggets of",
        required=False,
        help_text="For assignment and importance. For creation, its lowest relevant grade counts.",
    )
    run = forms.CharField(max_length=256, required=False, help_text="For assignment and support.")
    docid = forms.CharField(
        label="Passage", max_length=256, required=False, help_text="For relevance: the passage's id."
    )
    sentence = forms.IntegerField(
        min_value=1,
        required=False,
        help_text="For support: its number, from 1. The first passage it cites is shown.",
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
