"""The organizer's forms."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from assessor.collection.condition_kinds import names_of_answers, names_of_nuggets
from assessor.collection.forms import GradesField, threshold_field
from assessor.collection.http import NO_FILE
from assessor.collection.loaders import LOADERS
from assessor.collection.loaders.documents import OWN
from assessor.collection.models import SCALES, Campaign, Condition, Import, Protocol, QrelsSource
from assessor.labels.manual_setups import FIRST, REPEAT, SECOND
from assessor.llm import prompt_sets
from assessor.llm.job_kind import job_prompts
from assessor.llm.models import prompt_set_name_validator
from assessor.llm.prompt_sets import MOST_BYTES
from assessor.llm.prompt_templates import TemplateError, read_templates
from assessor.llm.prompts import PreviewSubject
from assignment.actions import usual_name
from support.queries import with_a_models_labels


class CampaignForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Campaign
        fields = ("name", "slug")
        labels = {"slug": "Short name"}
        help_texts = {"slug": "In addresses and commands: letters, digits, hyphens and underscores."}


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


class _FilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class _FilesField(forms.FileField):
    """Some files at once: as many imports, in the order of their names."""

    widget = _FilesInput

    def clean(self, data: Any, initial: Any = None) -> "list[UploadedFile[Any]]":
        files = data or [None]
        return sorted((super(_FilesField, self).clean(file, initial) for file in files), key=lambda file: file.name)


class UploadForm(forms.Form):
    """Files and what they hold."""

    KEPT_BY_CONDITION = {
        "nuggets": "nuggets",
        "drafts": "drafts",
        "assignments": "assignments",
        "support": "support judgments",
    }

    kind = forms.ChoiceField(label="What it holds")
    uploads = _FilesField(
        label="Files",
        help_text="Plain or .gz. Several, such as all runs, are imported one by one.",
        error_messages={"required": NO_FILE},
    )
    source = forms.CharField(
        label="Source of the grades",
        max_length=120,
        required=False,
        help_text="For qrels, and for segments that carry judgments: NIST, UMBRELA with its model, or another. For "
        "drafts: people's grades that are loaded; who edits the drafts sees the passages that they found relevant.",
    )
    condition = forms.CharField(
        label="Condition",
        max_length=120,
        required=False,
        help_text="For nuggets, drafts, assignments and support judgments: the name of the condition that they make, "
        "or that they are added to. Drafts make a new one.",
    )
    nuggets = forms.CharField(
        label="Condition of their nuggets",
        max_length=120,
        required=False,
        help_text="For assignments: where it is new or imported, topics that lack nuggets get them from the file, as "
        "made by the same. Left empty, it is called as the assignments, followed by “nuggets”.",
    )
    by = forms.ChoiceField(
        label="Grades, nuggets or labels by",
        choices=[("", "—"), *QrelsSource.By.choices],
        required=False,
    )
    maker = forms.CharField(
        label="Model that made the drafts",
        max_length=120,
        required=False,
        help_text="For drafts: which model, and how it was asked, in your own words. It is part of what makes the "
        "condition this one; people who edit the drafts don't see it.",
    )
    invalid_labels = forms.ChoiceField(
        label="Grades, importances and labels that are none",
        choices=[("", "are errors"), *Import.InvalidLabels.choices],
        required=False,
        help_text="Without a grade a line of qrels is left out. An importance is missing in either case.",
    )
    document_texts = forms.BooleanField(
        label="Keep the texts of documents as the run's own",
        required=False,
        help_text="For runs with documents: the run's citations are judged by these texts, and nothing else reads "
        "them. By default they become segments, and a text other than the one loaded is an error.",
    )
    check_only = forms.BooleanField(label="Only check the file, import nothing", required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["kind"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(kind, loader.label) for kind, loader in LOADERS.items()]

    def clean_uploads(self) -> "list[UploadedFile[Any]]":
        files: list[UploadedFile[Any]] = self.cleaned_data["uploads"]
        if sum(file.size or 0 for file in files) > settings.MAX_UPLOAD_BYTES:
            most = settings.MAX_UPLOAD_BYTES // 1024**2
            raise forms.ValidationError(f"This page takes at most {most} MiB; import larger files by command.")
        return files

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        source, by = cleaned.get("source", "").strip(), cleaned.get("by")
        if cleaned.get("kind") == "qrels" and not source:
            self.add_error("source", "Name the source: grades are kept by source.")
        if source and not by and cleaned.get("kind") != "drafts":
            self.add_error("by", "Say whether people or a model gave these grades.")
        cleaned["options"] = {"source": source, "by": by} if source else {}
        if cleaned.get("kind") == "runs" and cleaned.get("document_texts"):
            cleaned["options"] = {"document_texts": OWN}
        if cleaned.get("kind") in self.KEPT_BY_CONDITION:
            cleaned["options"] = self._label_options(cleaned)
        invalid = cleaned.get("invalid_labels", "")
        if cleaned.get("kind") != "assignments" and invalid == Import.InvalidLabels.NOT_SUPPORT:
            told = f"Only labels of assignments can count as {invalid}: choose another value."
            self.add_error("invalid_labels", told)
        if cleaned["options"] and invalid:
            cleaned["options"]["invalid_labels"] = invalid
        return cleaned

    def _label_options(self, cleaned: dict[str, Any]) -> dict[str, str]:
        """Return the options of what is kept by condition."""
        kind, condition, by = cleaned["kind"], cleaned.get("condition", "").strip(), cleaned.get("by", "")
        what = self.KEPT_BY_CONDITION[kind]
        if not condition:
            self.add_error("condition", f"Name the condition: {what} are kept by condition.")
        if kind == "drafts":
            options = {"condition": condition, **self._draft_options(cleaned)}
        else:
            if not by:
                self.add_error("by", f"Say whether people or a model made these {what}.")
            options = {"condition": condition, "by": by}
        if kind == "assignments" and (nuggets := cleaned.get("nuggets", "").strip()):
            options["nuggets"] = nuggets
        return options

    def _draft_options(self, cleaned: dict[str, Any]) -> dict[str, str]:
        qrels, maker = (cleaned.get(field, "").strip() for field in ("source", "maker"))
        if not qrels:
            self.add_error("source", "Name people's grades: the editor shows the passages that they found relevant.")
        if not maker:
            self.add_error("maker", "Say which model made these drafts.")
        return {"qrels": qrels, "maker": maker}


class ConditionForm(forms.Form):
    """A new condition under which people work."""

    DRAWN = "drawn"
    # By what is made, which is a method or, of what people label, an opinion beside the first one.
    NEEDS: Mapping[str, Sequence[str]] = {
        "ManualNuggets": ("qrels_source", "min_relevant_grade"),
        "ManualAssign": ("nuggets",),
        SECOND: ("of", "share", "only_unjudgeable"),
        REPEAT: ("of", "share"),
        "manual relevance": ("max_grade", "given"),
        "relevance post-edited": ("shown", "max_grade", "given"),
        "support from scratch": (),
        "support post-edited": ("shown_labels",),
    }
    OPTIONAL = ("only_unjudgeable", "min_relevant_grade", "max_grade")

    method = forms.ChoiceField(
        label="What is made",
        choices=[
            ("ManualNuggets", "ManualNuggets: people write nuggets"),
            ("ManualAssign", "ManualAssign: people assign finished nuggets to answers"),
            ("manual relevance", "Relevance: people grade the pool from scratch"),
            ("relevance post-edited", "Relevance: people post-edit a model's grades of the pool"),
            ("support from scratch", "Support: people judge citations from scratch"),
            ("support post-edited", "Support: people judge citations beside a model's labels"),
            (SECOND, "A second opinion on ManualAssign or Support: somebody else, blind to the first"),
            (REPEAT, "A repetition of ManualAssign or Support: the same person again, blind to the first time"),
        ],
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
    qrels_source = GradesField(
        label="Qrels", help_text="People's grades: the assessor sees the passages that they found relevant."
    )
    min_relevant_grade = threshold_field()
    nuggets = forms.ModelChoiceField(
        Condition.objects.none(),
        label="Nuggets",
        required=False,
        help_text="Who made the nuggets of a topic assigns them.",
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
    shown = GradesField(
        label="Grades to post-edit",
        help_text="A model's grades: each passage opens once it has one, which then stands beside the choices.",
    )
    max_grade = forms.TypedChoiceField(
        label="Scale",
        choices=SCALES,
        coerce=int,
        empty_value=None,
        required=False,
        help_text="What each grade means is on the screen. People post-edit a model's grades on the model's scale.",
    )
    shown_labels = forms.ModelChoiceField(
        Condition.objects.none(),
        label="Labels to post-edit",
        required=False,
        help_text="A model's labels of support: each citation opens once it has one, which then stands beside the "
        "choices.",
    )
    given = forms.ChoiceField(
        label="How passages are given",
        choices=[
            ("given", "a topic's passages to one person"),
            (DRAWN, "from a queue: several people have a topic, and each draws the next passage"),
        ],
        required=False,
    )

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.campaign = campaign
        self.initial.setdefault("max_grade", campaign.protocol.max_grade)
        sources = campaign.qrels_sources.all()
        known = campaign.conditions.all()
        self.fields["nuggets"].queryset = known.filter(kind__in=names_of_nuggets())  # type: ignore[attr-defined]
        self.fields["of"].queryset = known.filter(manual_setup__purpose=FIRST, kind__in=names_of_answers(), sample="")  # type: ignore[attr-defined]
        self.fields["qrels_source"].queryset = sources.filter(by=QrelsSource.By.PEOPLE)  # type: ignore[attr-defined]
        self.fields["shown"].queryset = sources.filter(by=QrelsSource.By.MODEL)  # type: ignore[attr-defined]
        self.fields["shown_labels"].queryset = with_a_models_labels(campaign)  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        method = cleaned.get("method")
        for name in {name for needed in self.NEEDS.values() for name in needed}:
            if method and name not in self.NEEDS[method]:
                cleaned[name] = None
            elif method and not cleaned.get(name) and name not in (*self.errors, *self.OPTIONAL):
                self.add_error(name, "This field is required.")
        cleaned["name"] = cleaned.get("name") or self._usual_name(cleaned)
        return cleaned

    def _usual_name(self, cleaned: dict[str, Any]) -> str:
        method, nuggets, of = cleaned.get("method"), cleaned.get("nuggets"), cleaned.get("of")
        if nuggets:
            return usual_name(nuggets, "Manual")
        if of:
            return f"{of}, {'repeated' if method == REPEAT else 'second opinion'}"[:120]
        grades = Condition(protocol=self.campaign.protocol, min_relevant_grade=cleaned.get("min_relevant_grade"))
        return f"{method}{grades.threshold_in_name}"


class ControlForm(forms.Form):
    """Whose nuggets control runs are to say."""

    nuggets = forms.ModelChoiceField(Condition.objects.none())
    anew = forms.BooleanField(
        required=False, help_text="Where nuggets were changed since, make another run of all of them."
    )

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        nuggets = campaign.conditions.filter(kind__in=names_of_nuggets())
        self.fields["nuggets"].queryset = nuggets  # type: ignore[attr-defined]


class TemplatesForm(forms.Form):
    """Published prompt templates, and what the prompt set that is made of them is called."""

    uploads = _FilesField(
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
