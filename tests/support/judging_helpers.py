"""Answers that cite, a model's labels of them, people who judge them, and what their browsers send."""

from collections.abc import Iterable
from typing import Any

from assessor.campaigns.models import Answer, Campaign, Condition, Judge
from assessor.campaigns.passages import lacking_passages
from assessor.work.models import Task
from support.actions import add_sheets, create_support, sheet_row
from support.citations import judged_citations, places
from support.models import LabelEvent, SupportSheet

# Of each run its sentences, with what each cites. The text of d4 is not loaded.
RUNS: dict[str, dict[str, list[tuple[str, list[str]]]]] = {
    "team.one": {
        "t1": [("Cats purr to heal.", ["d1"]), ("They purr when content.", ["d2", "d1"]), ("Nobody knows why.", [])],
        "t2": [("Glass is melted.", ["d5"])],
    },
    "team.two": {"t1": [("Cats have voices.", ["d2", "d3"]), ("Some have fur.", ["d4"])]},
    "team.silent": {"t1": [("I cite nothing.", [])]},
}
# What the model says of team.one's and team.two's first citations on t1; of team.one's second it says nothing.
MODELS = {"team.one": {"0.0": "partial"}, "team.two": {"0.0": "none"}}


def run_file(tag: str, answers: dict[str, list[tuple[str, list[str]]]]) -> list[dict[str, Any]]:
    """Return a run's lines."""
    lines = []
    for qid, sentences in answers.items():
        references = sorted({docid for _, docids in sentences for docid in docids})
        cited = [{"text": text, "citations": [references.index(one) for one in docids]} for text, docids in sentences]
        lines.append({"run_id": tag, "topic_id": qid, "topic": qid, "references": references, "answer": cited})
    return lines


def load_runs(campaign: Campaign, import_file: Any) -> None:
    for tag, answers in RUNS.items():
        assert import_file(campaign, "runs", run_file(tag, answers), name=tag).state == "done"


def models_condition(campaign: Campaign, name: str = "Mia's", by: str = "model") -> Condition:
    """Return a condition of imported labels, without any."""
    judge, _ = Judge.objects.get_or_create(kind="imported", name=name, parameters={"by": by})
    return Condition.objects.create(
        campaign=campaign, name=name, kind="support", method="imported", judge=judge, protocol=campaign.protocol
    )


def label_as_model(condition: Condition, labels: dict[str, dict[str, str]], qid: str = "t1") -> None:
    """Have a condition's judge say of the answers of runs what the labels say, by run's tag and citation's key."""
    rows = []
    for tag, of_answer in labels.items():
        answer = Answer.objects.get(run__campaign=condition.campaign, run__tag=tag, topic__qid=qid, apart=False)
        asked = judged_citations(answer.sentences(), condition.protocol.citations_per_sentence)
        lacking = lacking_passages(condition.campaign, [(answer.run_id, docid) for docid in asked.values()])
        rows.append(
            sheet_row(
                condition=condition.pk,
                answer=answer.pk,
                judge=condition.judge_id or 0,
                asked=asked,
                unresolved=[key for key, docid in asked.items() if (answer.run_id, docid) in lacking],
                labels=of_answer,
            )
        )
    add_sheets(rows)


def from_scratch(campaign: Campaign, name: str = "from scratch") -> Condition:
    return create_support(campaign=campaign, name=name, shown=None, acting_user=None)


def post_edited(campaign: Campaign, labels: dict[str, dict[str, str]] = MODELS) -> Condition:
    """Return a condition in which people see what a model says."""
    shown = models_condition(campaign)
    label_as_model(shown, labels)
    return create_support(campaign=campaign, name="support post-edited", shown=shown, acting_user=None)


def sheet_of(task: Task, tag: str) -> SupportSheet:
    """Return the sheet of a run's answer under a task's condition, whoever has it."""
    return SupportSheet.objects.get(condition=task.condition, answer__topic=task.topic, answer__run__tag=tag)


def cited(answer: Answer, keys: Iterable[str]) -> dict[str, str]:
    """Return the docids of an answer's citations, by key."""
    sentences = list(answer.sentences())
    return {key: sentences[places(key)[0]].citations[places(key)[1]].docid for key in keys}


def first_of(sheet: SupportSheet, key: str) -> list[Any]:
    """Return where the one of equal citations is that is asked: its sheet's key, and its own."""
    row = SupportSheet.objects.get(pk=sheet.pk).labels_by_item[key]
    return [row.equal_to.sheet_id, row.equal_to.item] if row.equal_to else []


def changes(event: LabelEvent) -> dict[str, Any]:
    """Return what an event changed, and where the equal one stands whose label it was."""
    found = event.changes_by_item
    first = event.equal_to
    return {key: change | ({"equal": [first.sheet_id, first.item]} if first else {}) for key, change in found.items()}
