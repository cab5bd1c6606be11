"""Which records belong to a campaign, and what is special about them. A test holds this against all models."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.db.models import Model, Q, QuerySet

from assessor.accounts.models import Person
from assessor.archive import json_checks
from assessor.campaigns import models as collection
from assessor.campaigns.condition_kind import condition_kinds
from assessor.campaigns.models import Campaign, Condition, Import, Judge
from assessor.exports import models as exports
from assessor.labels import models as labels
from assessor.llm import models as llm
from assessor.llm.models import Job, StoredPrompt, Unit
from assessor.plan import models as plan
from assessor.studies import models as studies
from assessor.training import models as training
from assessor.work import models as work
from metaeval import models as metaeval
from metaeval.models import Calculation
from nuggets import models as nuggets
from nuggets.candidates import models as candidates
from nuggets.matching import models as matching
from nuggets.reports import models as reports

# Archives are in the history, and not in archives: one of a campaign that did not change has the same bytes.
ASKED_FOR, STOPPED, WRITTEN, RESTORED = EVENTS = (
    "archive asked for",
    "archive stopped",
    "archive written",
    "archive restored",
)
# So are those who took one, among those who saw what models gave. Wherever it is restored, they organize the campaign
# or did, and assess nothing there all the same.
TAKEN = "archive"


@dataclass(frozen=True)
class Kept:
    """A model whose records belong to a campaign.

    within: the column that leads to what a record belongs to, at last the campaign. without: columns that are of this
    installation or moment, and get their default. instead: values that are written as others. only: which records.
    checked: columns whose validators must hold, or something could be reached that nobody should. means: what
    JSON and names of kinds must say, by column. updates: what makes of an older archive's JSON what it is now, by
    column, as the migrations do.
    """

    model: type[Model]
    within: str = "campaign"
    without: tuple[str, ...] = ()
    instead: Mapping[str, Mapping[Any, Any]] = field(default_factory=dict)
    only: Q = field(default_factory=Q)
    checked: tuple[str, ...] = ()
    means: Mapping[str, json_checks.Check] = field(default_factory=dict)
    updates: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What archives call it: "campaigns.topic"."""
        return self.model._meta.label_lower

    @cached_property
    def fields(self) -> list[Any]:
        """The columns that are written, in their order."""
        return [one for one in self.model._meta.concrete_fields if not one.primary_key and one.name not in self.without]


def _by_step(result: dict[str, Any]) -> dict[str, Any]:
    """Return what a calibration found; from before each step had figures of its own, those of all pairs are one."""
    if "steps" in result:
        return result
    of_all = {name: result[name] for name in ("labels", "threshold", "left_out")}
    step = {name: value for name, value in result.items() if name not in of_all}
    return {**of_all, "steps": [{"name": "", "title": "", **step}], "uncompared": []}


# By which a model's records are found: first those that leave out nothing that default ones do.
_MANAGERS = ("in_or_out", "with_unjudged", "with_controls", "_default_manager")

# Where nobody may have two records of a kind: those that are there already are used.
SHARED: tuple[Kept, ...] = (
    Kept(
        Person,
        "",
        # Zone, keys and mails are a person's habits here, and no part of what they said in a campaign.
        without=(
            *("password", "last_login", "is_superuser", "is_staff", "time_zone", "keys", "keys_off", "link_until"),
            *("language", "mailed_when", "deactivated_by_administrator", "administrator_until"),
        ),
        checked=("username",),
    ),
    Kept(Judge, "", means=json_checks.JUDGE),
    Kept(StoredPrompt, ""),
)

OF_CAMPAIGN: tuple[Kept, ...] = (
    Kept(Campaign, "", checked=("slug",)),
    Kept(collection.Membership),
    Kept(collection.Protocol),
    Kept(
        Import,
        without=("upload", "owner", "alive_at", "has_leftovers"),
        only=~Q(state__in=Import.OPEN),
    ),
    Kept(collection.Topic),
    Kept(collection.Segment),
    Kept(collection.Run, checked=("generator",)),
    Kept(collection.RunAlias, "run"),
    Kept(collection.RunDocument, "run"),
    Kept(collection.Answer, "run"),
    Kept(collection.RetrievalRun),
    Kept(collection.RankedSegment, "run"),
    Kept(collection.QrelsSource),
    Kept(collection.Grade, "source", checked=("grade",)),
    Kept(Condition, checked=("min_relevant_grade",), means=json_checks.CONDITION),
    Kept(work.Draw, "condition"),
    Kept(work.Task),
    Kept(work.Waiting, "condition"),
    Kept(work.Scope, "condition"),
    Kept(plan.Planned, "condition"),
    Kept(work.TimeSpent, "task"),
    Kept(work.Exposure, "topic", only=~Q(where=TAKEN)),
    Kept(work.Guidelines),
    Kept(work.GuidelinesOpened, "guidelines"),
    # The result is for a browser that asks again, which it does of its own installation alone.
    Kept(work.Write, without=("result",)),
    Kept(llm.CampaignPromptSet, checked=("name",), means=json_checks.PROMPT_SET),
    Kept(llm.ModelJudge, without=("next_request_at", "next_token_at", "open_at", "clock"), checked=("key_variable",)),
    # A restored job asks no model before an organizer resumes it.
    Kept(Job, instead={"state": dict.fromkeys(Job.ACTIVE, Job.State.PAUSED.value)}, means=json_checks.JOB),
    Kept(
        Unit,
        "job",
        without=("runner",),
        instead={"state": dict.fromkeys((Unit.State.CLAIMED, Unit.State.DEFERRED), Unit.State.WAITING.value)},
    ),
    Kept(llm.Call, "judge", without=("batch",)),
    Kept(nuggets.Drafting, "condition", means=json_checks.DRAFTING),
    Kept(nuggets.NuggetBank, "condition", means=json_checks.NUGGET_BANK),
    Kept(nuggets.Nugget, "bank", means=json_checks.NUGGET),
    Kept(nuggets.BankEdit, "bank", means=json_checks.BANK_EDIT),
    Kept(nuggets.BankEdition, "bank", means=json_checks.BANK_EDITION),
    Kept(matching.BankMatching, "condition"),
    Kept(matching.NuggetMatch, "matching"),
    Kept(candidates.SentenceMatch, "condition"),
    Kept(reports.Reading, "condition", means=json_checks.READING),
    Kept(reports.Report, "condition", means=json_checks.REPORT),
    Kept(reports.EditedReport, "condition", means=json_checks.EDITED_REPORT),
    Kept(reports.EditedSentence, "report"),
    Kept(reports.ReportEdit, "report", means=json_checks.REPORT_EDIT),
    Kept(labels.ManualSetup, "condition"),
    *(
        Kept(model, within, means=json_checks.of_labels(model))
        for kind in condition_kinds()
        for model, within in kind.archived().items()
    ),
    Kept(work.Reply, "task"),
    Kept(work.ReplyRead, "reply"),
    Kept(studies.Study, means=json_checks.STUDY),
    Kept(studies.SampledItem, "study"),
    Kept(studies.Sensitivity, means=json_checks.SENSITIVITY),
    # Restored, it is asked only by hand.
    Kept(studies.ControlSet, "study", without=("every_days",)),
    Kept(studies.ControlCheck, "control"),
    Kept(studies.Registration, means=json_checks.REGISTRATION),
    Kept(studies.ErrorCode),
    Kept(studies.Coding, "drawn"),
    Kept(training.Reference, "condition"),
    Kept(metaeval.ScoreTable),
    Kept(metaeval.Comparison),
    Kept(metaeval.Calibration, updates={"result": _by_step}),
    Kept(metaeval.CalibrationGate),
    Kept(metaeval.Hybrid),
    Kept(
        Calculation,
        "comparison",
        without=("owner", "alive_at"),
        only=~Q(state__in=Calculation.ACTIVE),
    ),
    Kept(metaeval.Figure, "calculation"),
    Kept(exports.Blob),
    Kept(exports.Chunk, "blob"),
    Kept(exports.Frozen, "condition", without=("state",)),
    Kept(exports.FrozenFile, "frozen"),
    Kept(exports.Pseudonym),
    Kept(collection.Event, only=~Q(verb__in=EVENTS)),
)

KEPT = SHARED + OF_CAMPAIGN
BY_LABEL = {kept.label: kept for kept in KEPT}
BY_MODEL = {kept.model: kept for kept in KEPT}

# What is not in archives, by model, and why.
LEFT_OUT: dict[str, str] = {
    "work.installation": "the name of this database",
    "metaeval.calibrationrequest": "work of this installation; the calibration is kept",
    "exports.export": "files of this installation; the history says who took which",
    "mfa.authenticator": "what people of this installation sign in with",
    "socialaccount.socialaccount": "what people of this installation sign in with",
    "api.token": "what scripts of this installation's people sign in with",
    "notices.webhook": "where this installation sends notices, signed with its own secret key",
    "notices.delivery": "a notice of this installation, sent or to be sent",
    "work.reminder": "a note on the home of somebody here; the history has that it was made",
    "llm.batch": "what a provider has of this installation's; the ledger has the answers",
    "llm.batchrequest": "what a provider is to answer to this installation",
    "llm.runner": "a process of this installation at work",
    "llm.trial": "whether a judge answers this installation; the ledger has its call",
    "campaigns.invitation": "what somebody has not taken is no role yet",
    "accounts.person_groups": "not in use: roles are in campaigns",
    "accounts.person_user_permissions": "not in use: roles are in campaigns",
    "auth.group": "not in use: roles are in campaigns",
    "auth.permission": "of this installation",
    "contenttypes.contenttype": "of this installation",
    "auth.group_permissions": "of this installation",
    "admin.logentry": "of this installation's administrators; the history has what belongs to the campaign",
    "sessions.session": "sign-ins",
    "account.emailaddress": "what people of this installation sign in with",
    "account.emailconfirmation": "of allauth; always empty",
    "socialaccount.socialapp": "of allauth; always empty",
    "socialaccount.socialtoken": "of allauth; always empty",
}


def rows(kept: Kept, campaign: Campaign) -> QuerySet[Any]:
    """Return the records of a campaign; what an unfinished import brought is nobody's."""
    # Sheets that are judged no longer, too: what was said on them is kept.
    manager = next(name for name in _MANAGERS if hasattr(kept.model, name))
    found: QuerySet[Any] = getattr(kept.model, manager).filter(kept.only)
    if kept.model is Campaign:
        return found.filter(pk=campaign.pk)
    parent = kept.model._meta.get_field(kept.within).related_model
    if parent is Campaign:
        return found.filter(**{kept.within: campaign})
    assert isinstance(parent, type), "a foreign key has its model once all are loaded"
    return found.filter(**{f"{kept.within}__in": rows(BY_MODEL[parent], campaign).order_by()})
