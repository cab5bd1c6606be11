"""Every model is in a campaign's archive or named as left out, and in no JSON column are keys of records."""

from django.apps import apps
from django.db import models

from assessor.archive.registry import BY_LABEL, KEPT, LEFT_OUT, OF_CAMPAIGN
from assessor.campaigns.models import Campaign
from assessor.runtime.fields import JSONText

# What JSON columns have.
WITHOUT_KEYS = {
    "campaigns.judge.parameters": "a model's settings; who made a file",
    "campaigns.condition.panel": "names of conditions of the campaign",
    "campaigns.condition.variant": "a prompt set's name, a number, an order",
    "campaigns.condition.prompts": "hashes by prompt",
    "llm.campaignpromptset.texts": "texts by prompt",
    "llm.campaignpromptset.provenance": "file names and hashes by prompt",
    "campaigns.import.options": "names",
    "campaigns.import.report": "counts, and problems by line",
    "campaigns.import.further_warnings": "problems by kind",
    "campaigns.topic.extras": "of the file",
    "campaigns.segment.extras": "of the file",
    "campaigns.rundocument.extras": "of the file",
    "campaigns.answer.references": "docids",
    "campaigns.answer.content": "of the file",
    "campaigns.answer.extras": "of the file",
    "llm.job.scope": "a count",
    "llm.job.topics_left": "topic ids",
    "llm.job.estimate": "counts",
    "nuggets.drafting.steps": "docids and texts",
    "nuggets.drafting.importance": "labels by place",
    "nuggets.drafting.cuts": "counts by window",
    "nuggets.nuggetbank.order": "uids of nuggets",
    "nuggets.nugget.parents": "uids of nuggets",
    "nuggets.bankedit.changes": "uids of nuggets; texts",
    "nuggets.bankedition.nuggets": "nuggets by uid",
    "nuggets.bankedition.consequences": "uids of nuggets",
    "nuggets.nuggetbank.read_passages": "docids",
    "nuggets.nuggetbank.extras": "of the file",
    "nuggets.nugget.evidence": "docids and places",
    "nuggets.nugget.extras": "of the file",
    "nuggets.nugget.gold": "texts, docids, and keys of the file",
    "reports.reading.found": "texts of documents and of a model",
    "reports.report.editions": "topic ids",
    "reports.editedreport.order": "uids of sentences",
    "reports.reportedit.changes": "uids of sentences; texts",
    "assignment.answersheet.extras": "of the file",
    "assignment.assignment.raw": "of the file",
    "assignment.assignment.marks": "places in the answer",
    "assignment.labelevent.changes": "by field: texts, labels, places in the answer",
    "argue.arguesheet.extras": "of the file",
    "argue.arguejudgment.raw": "of the file",
    "argue.labelevent.changes": "by field: texts and labels",
    "support.supportsheet.extras": "of the file",
    "support.supportjudgment.raw": "of the file",
    "support.labelevent.changes": "by field: texts and labels",
    "relevance.relevancejudgment.raw": "of the file",
    "relevance.labelevent.changes": "by field: texts and labels",
    "preference.preferencepair.raw": "of the file",
    "preference.labelevent.changes": "by field: texts and labels",
    "studies.coding.codes": "codes",
    "metaeval.calibration.identity": "names, and hashes by prompt",
    "metaeval.calibration.kappa": "figures",
    "metaeval.calibration.result": "figures, by labels and names",
    "studies.sensitivity.factors": "names of judges and prompt sets, numbers, orders",
    "studies.sensitivity.runs": "tags",
    "studies.sensitivity.topics": "topic ids",
    "studies.registration.document": "texts, names of conditions and measures",
    "work.draw.frame": "topic ids",
    "work.draw.topics": "topic ids",
    "work.draw.scored_models": "names of conditions",
    "metaeval.comparison.tasks": "names",
    "metaeval.comparison.runs": "tags",
    "metaeval.comparison.topics": "topic ids",
    "campaigns.event.details": "names, uids of nuggets, texts",
    "metaeval.calculation.result": "figures, by names",
    "metaeval.calculation.inputs": "what names states: see assessor.archive.comparison_states",
    "metaeval.calculation.files": "tables, by name",
    "metaeval.figure.specification": "figures, by names",
}


def test_every_model_is_archived_or_left_out_for_a_reason():
    known = {model._meta.label_lower for model in apps.get_models(include_auto_created=True)}
    archived = set(BY_LABEL)
    assert known - archived - set(LEFT_OUT) == set(), (
        "add it to assessor.archive.registry, to what it leaves out, or to the archived() of its kind of label"
    )
    assert archived & set(LEFT_OUT) == set()
    assert (archived | set(LEFT_OUT)) - known == set()
    assert all(LEFT_OUT.values())


def test_every_json_column_is_known_to_have_no_keys():
    columns = {f"{kept.label}.{column.name}" for kept in KEPT for column in kept.fields if isinstance(column, JSONText)}
    assert columns == set(WITHOUT_KEYS), "say here what it has: names that are true in every database"


def test_records_lead_to_their_campaign_by_records_that_are_archived():
    models_of_campaign = {kept.model for kept in OF_CAMPAIGN}
    for kept in OF_CAMPAIGN:
        if kept.model is not Campaign:
            assert kept.model._meta.get_field(kept.within).related_model in models_of_campaign, kept.label


def test_whatever_records_point_to_is_archived_too():
    archived = {kept.model for kept in KEPT}
    for kept in KEPT:
        for column in kept.fields:
            if column.is_relation:
                assert column.related_model in archived, f"{kept.label}.{column.name}"
        named = {column.name for column in kept.model._meta.concrete_fields}
        assert {*kept.without, *kept.instead, *kept.checked} <= named
        assert isinstance(kept.model._meta.pk, models.BigAutoField)
        for name in kept.without:
            column = kept.model._meta.get_field(name)
            assert kept.label == "accounts.person" or column.has_default() or column.null or column.blank, name
