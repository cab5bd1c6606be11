"""What is only ever added to."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from assessor.campaigns.actions import judge_of
from assessor.campaigns.history import record
from assessor.campaigns.models import Answer, AppendOnly, Condition, Event, Run, Topic
from assessor.campaigns.models.history import AppendOnlyError
from assessor.exports.models import Blob, Chunk, Frozen, FrozenFile, Pseudonym
from assessor.llm.models import Call, CampaignPromptSet, StoredPrompt
from assessor.preference.models import LabelEvent as PreferenceEvent
from assessor.preference.models import PreferencePair
from assessor.relevance.models import LabelEvent as RelevanceEvent
from assessor.relevance.models import RelevanceJudgment
from assessor.studies.models import (
    Coding,
    ControlCheck,
    ControlSet,
    Registration,
    SampledItem,
    Sensitivity,
    Study,
)
from assessor.training.models import Reference
from assessor.work.blindness import record_exposure
from assessor.work.models import (
    Draw,
    Exposure,
    Guidelines,
    GuidelinesOpened,
    Reply,
    ReplyRead,
    Scope,
    Task,
    TimeSpent,
)
from assignment.argue.models import ArgueSheet
from assignment.argue.models import LabelEvent as ArgueEvent
from assignment.models import AnswerSheet, LabelEvent, LeftOut
from assignment.trials.models import NuggetTrial, TrialLabel
from metaeval.models import Calculation, Calibration, CalibrationGate, Comparison, Figure, Hybrid, ScoreTable
from nuggets import actions
from nuggets.candidates.models import SentenceMatch
from nuggets.matching.models import BankMatching, NuggetMatch
from nuggets.models import BankEdit, BankEdition, Drafting, NuggetBank
from nuggets.reports.models import Reading, Report, ReportEdit
from support.models import LabelEvent as SupportEvent
from support.models import SupportSheet
from tests.assignment.trials.model import try_on
from tests.candidates.model import miss
from tests.llm.records import leave_traces
from tests.matching.model import match_with_itself
from tests.nuggets.model import draft, make_condition, make_job, make_model
from tests.reports.model import edit, write

# Each model, and a field that somebody might want to change.
FIELDS = {
    Event: "verb",
    BankEdit: "verb",
    BankEdition: "edition",
    TimeSpent: "seconds",
    Exposure: "where",
    RelevanceEvent: "value",
    Drafting: "steps",
    StoredPrompt: "text",
    CampaignPromptSet: "name",
    Call: "response",
    LabelEvent: "verb",
    ArgueEvent: "verb",
    PreferenceEvent: "verb",
    Reading: "found",
    Report: "text",
    BankMatching: "number",
    NuggetMatch: "second_id",
    SentenceMatch: "sentence",
    NuggetTrial: "text",
    TrialLabel: "value",
    ReportEdit: "verb",
    SupportEvent: "verb",
    LeftOut: "reason",
    SampledItem: "item",
    ControlCheck: "flips",
    Coding: "note",
    ScoreTable: "content",
    Draw: "seed",
    Registration: "title",
    Sensitivity: "name",
    Calibration: "labels",
    CalibrationGate: "least_labels",
    Hybrid: "name",
    Figure: "title",
    Guidelines: "text",
    GuidelinesOpened: "at",
    Scope: "rule",
    Reply: "text",
    ReplyRead: "at",
    Reference: "at",
    Blob: "size",
    Chunk: "data",
    Frozen: "manifest",
    FrozenFile: "name",
    Pseudonym: "number",
}


def _relevance_event(task: Task) -> RelevanceEvent:
    graded = RelevanceJudgment.objects.create(condition=task.condition, topic=task.topic, docid="d1")
    graded.revise("label", value="2", judge=judge_of(task.person), task=task, shown_value=None)
    return graded.events.get()


def _revision(bank: NuggetBank, task: Task) -> LabelEvent:
    run = Run.everything.create(campaign=task.campaign, tag="one", import_record=task.topic.import_record)
    answer = Answer.everything.create(run=run, topic=task.topic, words=0, import_record=task.topic.import_record)
    sheet = AnswerSheet.objects.create(
        condition=task.condition, bank=bank, answer=answer, judge=bank.maker, edition=1, to_do=1
    )
    sheet.revise("label", {bank.nuggets.get().pk: {"label": "support"}}, judge_id=bank.maker_id)
    return LabelEvent.objects.get()


def _support_revision(bank: NuggetBank, task: Task) -> SupportEvent:
    answer = Answer.everything.get(run__tag="one")
    sheet = SupportSheet.objects.create(condition=task.condition, answer=answer, judge=bank.maker, to_do=1)
    sheet.ask_also({"0.0": "d1"})
    sheet.revise("test", {}, judge_id=None)
    sheet.revise("label", {"0.0": {"label": "full"}}, judge_id=bank.maker_id)
    return SupportEvent.objects.latest("pk")


def _argue_revision(bank: NuggetBank, task: Task) -> ArgueEvent:
    answer = Answer.everything.get(run__tag="one")
    sheet = ArgueSheet.objects.create(
        condition=task.condition, bank=bank, answer=answer, judge=bank.maker, edition=1, to_do=1
    )
    sheet.revise("label", {"s0.dd1.attests": {"label": "yes"}}, judge_id=bank.maker_id)
    return ArgueEvent.objects.get()


def _preference_event(bank: NuggetBank, task: Task) -> PreferenceEvent:
    first, imported = Answer.everything.get(run__tag="one"), task.topic.import_record
    run = Run.everything.create(campaign=task.campaign, tag="two", import_record=imported)
    second = Answer.everything.create(run=run, topic=task.topic, words=0, import_record=imported)
    of_both = {"first": first, "second": second, "position": 0}
    pair = PreferencePair.objects.create(condition=task.condition, topic=task.topic, **of_both)
    return PreferenceEvent.objects.create(pair=pair, version=1, verb="label", judge=bank.maker, value="1")


def _drawn(task: Task) -> SampledItem:
    """What was drawn of a study; its conditions are of no matter here."""
    first, second = Condition.objects.order_by("pk")[:2]
    sides = {"kind": "support", "purpose": "disagreement", "first": first, "second": second}
    study = Study.objects.create(campaign=task.campaign, name="Study", seed=1, **sides)
    answer = Answer.everything.get(run__tag="one")
    return SampledItem.objects.create(study=study, answer=answer, item="0 d1", first_label="full", second_label="none")


def _sides(task: Task, human: str, judged: str) -> dict[str, Any]:
    """What is of two conditions; which they are is of no matter here."""
    first, second = Condition.objects.order_by("pk")[:2]
    return {"campaign": task.campaign, human: first, judged: second}


def _figure(table: ScoreTable) -> Figure:
    other = ScoreTable.objects.create(campaign=table.campaign, name="U", content="run,v")
    tables = {"first_table": table, "second_table": other}
    comparison = Comparison.objects.create(campaign=table.campaign, name="both", seed=1, draws=0, **tables)
    calculation = Calculation.objects.create(comparison=comparison)
    return Figure.objects.create(calculation=calculation, name="scores", title="Scores")


@pytest.fixture
def records(bank: NuggetBank, task: Task) -> dict[type[AppendOnly], AppendOnly]:
    """One record of each kind."""
    actions.add_nugget(bank, uid=uuid4(), text="a", evidence=None, acting_user=task.person, seen=0)
    record_exposure(task.person, [task.topic], "nuggets", "test")
    topics = [Topic.objects.get(qid="t2")]
    condition = make_condition(make_model(task.campaign))
    job = make_job(condition, topics)
    leave_traces(job)
    draft(condition, topics, ["a"])
    write(condition, topics[0], job, 1)
    revision, table = (
        _revision(bank, task),
        ScoreTable.objects.create(campaign=task.campaign, name="T", content="run,v"),
    )
    drawn = _drawn(task)
    reply = Reply.objects.create(task=task, item="1", question="odd?", text="no", person=task.person)
    match = match_with_itself(BankEdition.objects.create(bank=bank, edition=1, version=1))
    blob = Blob.objects.create(campaign=task.campaign, sha256="0" * 64, size=0)
    frozen = Frozen.objects.create(condition=task.condition, version=1, at=timezone.now(), manifest="{}")
    return {
        Event: record("told", bank, campaign=task.campaign, person=None),
        BankEdit: BankEdit.objects.get(),
        BankEdition: match.matching.first,
        BankMatching: match.matching,
        NuggetMatch: match,
        NuggetTrial: (trial := try_on(bank)).trial,
        TrialLabel: trial,
        SentenceMatch: miss(match.matching.first, Answer.objects.filter(topic=bank.topic)[0]),
        ReportEdit: edit(bank, task).head,
        TimeSpent: TimeSpent.objects.create(task=task, key=uuid4(), seconds=1),
        Exposure: Exposure.objects.get(),
        RelevanceEvent: _relevance_event(task),
        Drafting: Drafting.objects.get(),
        StoredPrompt: StoredPrompt.objects.all()[0],
        CampaignPromptSet: CampaignPromptSet.objects.create(campaign=task.campaign, name="published"),
        Call: Call.objects.get(),
        LabelEvent: revision,
        ArgueEvent: _argue_revision(bank, task),
        PreferenceEvent: _preference_event(bank, task),
        Reading: Reading.objects.get(),
        Report: Report.objects.get(),
        SupportEvent: _support_revision(bank, task),
        LeftOut: LeftOut.objects.create(
            condition=task.condition, nugget=bank.nuggets.get(), is_out=True, reason="unclear"
        ),
        SampledItem: drawn,
        ControlCheck: ControlCheck.objects.create(
            control=ControlSet.objects.create(study=drawn.study), condition=task.condition, cells=1, labels=1, flips=0
        ),
        Coding: Coding.objects.create(drawn=drawn, codes=[], note="unclear"),
        ScoreTable: table,
        Figure: _figure(table),
        Draw: Draw.objects.create(condition=task.condition, seed=1, frame=["t1"], topics=["t1"]),
        Registration: Registration.objects.create(campaign=task.campaign, title="Asked", document={}, sha256="0" * 64),
        Sensitivity: Sensitivity.objects.create(
            campaign=task.campaign,
            name="S",
            kind="assignment",
            nuggets=bank.condition,
            factors={},
            topics=[],
            runs=[],
            seed=1,
        ),
        Calibration: Calibration.objects.create(
            name="C", labels=0, topics=0, **_sides(task, human="human", judged="judged")
        ),
        CalibrationGate: CalibrationGate.objects.create(campaign=task.campaign),
        Hybrid: Hybrid.objects.create(name="both", **_sides(task, human="human", judged="model")),
        Guidelines: Guidelines.objects.get(),
        GuidelinesOpened: GuidelinesOpened.objects.get(),
        Scope: Scope.objects.create(condition=task.condition, topic=task.topic, rule="none"),
        Reply: reply,
        ReplyRead: ReplyRead.objects.create(reply=reply),
        Reference: Reference.objects.create(condition=task.condition),
        Blob: blob,
        Chunk: Chunk.objects.create(blob=blob, place=0, data=""),
        Frozen: frozen,
        FrozenFile: FrozenFile.objects.create(frozen=frozen, kind="nuggets", form="jsonl", name="n", blob=blob),
        Pseudonym: Pseudonym.objects.create(campaign=task.campaign, person=task.person, number=1, seed=1),
    }


def _resave(record: AppendOnly, field: str) -> None:
    setattr(record, field, 7)
    record.save()


def _save_fields(record: AppendOnly, field: str) -> None:
    setattr(record, field, 7)
    record.save(update_fields=[field])


def _bulk_update(record: AppendOnly, field: str) -> None:
    setattr(record, field, 7)
    type(record).objects.bulk_update([record], [field])


WAYS: dict[str, Callable[[Any, str], object]] = {
    "save": _resave,
    "save one field": _save_fields,
    "save what was read": lambda record, field: _resave(type(record).objects.get(pk=record.pk), field),
    "delete": lambda record, field: record.delete(),
    "update all": lambda record, field: type(record).objects.update(**{field: 7}),
    "update some": lambda record, field: type(record).objects.filter(pk=record.pk).update(**{field: 7}),
    "bulk update": _bulk_update,
    "update or create": lambda record, field: type(record).objects.update_or_create(pk=record.pk, defaults={field: 7}),
    "delete all": lambda record, field: type(record).objects.all().delete(),
    "delete some": lambda record, field: type(record).objects.filter(pk=record.pk).delete(),
    "by the base manager": lambda record, field: type(record)._base_manager.update(**{field: 7}),
}


@pytest.mark.parametrize("model", FIELDS)
def test_a_record_is_neither_changed_nor_removed(records: dict[type[AppendOnly], AppendOnly], model: type[AppendOnly]):
    before = list(model.objects.values())
    assert before
    for name, way in WAYS.items():
        with pytest.raises(AppendOnlyError, match=f"^{model.__name__} records are only ever added.$"):
            way(records[model], FIELDS[model])
        assert list(model.objects.values()) == before, name


def test_related_managers_refuse_as_well(records: dict[type[AppendOnly], AppendOnly], bank: NuggetBank, task: Task):
    for related in (bank.edits, task.times, task.person.exposures, task.topic.exposures, task.campaign.events):
        count = related.count()
        assert count
        with pytest.raises(AppendOnlyError):
            related.all().delete()
        with pytest.raises(AppendOnlyError):
            related.update(pk=0)
        assert related.count() == count


def test_every_kind_of_record_is_covered():
    assert set(_concrete(AppendOnly)) == set(FIELDS)


def _concrete(model: type[AppendOnly]) -> Iterator[type[AppendOnly]]:
    for below in model.__subclasses__():
        if not below._meta.abstract:
            yield below
        yield from _concrete(below)


def test_what_happened_is_told_in_full(task: Task):
    event = record("x" * 60, "s" * 400, campaign=task.campaign, person=task.person, a=1, b=["é"])
    event = Event.objects.get(pk=event.pk)
    assert (event.verb, event.subject, event.details) == ("x" * 60, "s" * 300, {"a": 1, "b": ["é"]})
    assert (event.campaign, event.person, Event.objects.first()) == (task.campaign, task.person, event)


def test_a_known_id_overwrites_nothing(records: dict[type[AppendOnly], AppendOnly]):
    event = records[Event]
    with pytest.raises(IntegrityError), transaction.atomic():
        Event(pk=event.pk, verb="forged", subject="x").save()
    with pytest.raises(AppendOnlyError):
        Event.objects.bulk_create(
            [Event(pk=event.pk, verb="forged")], update_conflicts=True, unique_fields=["id"], update_fields=["verb"]
        )
    assert Event.objects.get(pk=event.pk).verb == event.verb
