"""What a model found for reports, a report, and one that a person edits, without a model."""

from uuid import UUID

from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns.actions import judge_of
from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.llm.models import Job
from assessor.work.models import Task
from nuggets.models import BankEdition, NuggetBank
from nuggets.questions.formats import question_id
from nuggets.reports.models import EditedReport, EditedSentence, Reading, Report, ReportEdit


def write(condition: Condition, topic: Topic, job: Job, number: int) -> None:
    """Keep that a document was read for a question, and a report, under whatever condition."""
    found = [{"part": 0, "extracted": "Cats purr.", "condensed": "Cats do purr.", "confidence": 7}]
    Reading.objects.create(condition=condition, topic=topic, question=f"{number:032}", docid="d1", found=found, job=job)
    Report.objects.create(condition=condition, tag=f"crucible.{number}", text="extractive", per_question=1)


def edit(bank: NuggetBank, task: Task, sentences: int = 1) -> EditedReport:
    """Keep that a person has taken in sentences that were found for a question of a bank, on whatever task."""
    edition = BankEdition.objects.create(bank=bank, edition=99, version=99, nuggets=[])
    report = EditedReport.objects.create(
        condition=task.condition, topic=task.topic, task=task, bank_edition=edition, version=sentences
    )
    took = {"extracted": "Cats purr.", "draft": "Cats do purr.", "text": "Cats do purr.", "decision": "in"}
    at = {"question": question_id("Do cats purr?"), "docid": "d1", "part": 0, "confidence": 7}
    for number in range(sentences):
        uid = UUID(int=number + 1)
        EditedSentence.objects.create(report=report, uid=uid, **took, **at)
        changes = {"order": [list(report.order), [*report.order, str(uid)]]}
        report.order = [*report.order, str(uid)]
        report.head = ReportEdit.objects.create(
            report=report, version=number + 1, verb="take", judge=judge_of(task.person), changes=changes
        )
    report.save()
    return report


def edit_elsewhere(campaign: Campaign, person: Person, sentences: int = 1) -> EditedReport:
    """Do that under a condition and on a topic of its own, so that it spoils no other work of the person."""
    first = campaign.topics.earliest("pk")
    record, qid = first.import_record, f"edited {sentences}"
    topic = Topic.objects.create(campaign=campaign, qid=qid, title="do cats purr", import_record=record)
    of_campaign = {"campaign": campaign, "protocol": campaign.protocol}
    asked = Condition.objects.create(name=qid, kind="questions", method="ManualQuestions", sample=qid, **of_campaign)
    drafts = {"kind": "reports", "nuggets": asked, "qrels_source": campaign.qrels_sources.first(), **of_campaign}
    read = Condition.objects.create(name=f"{qid}, read", method="Report", **drafts)
    edits = Condition.objects.create(name=f"{qid} by people", method="Report+Edits", shown=read, **drafts)
    bank = NuggetBank.objects.create(
        topic=topic, condition=asked, maker=judge_of(person), state="finished", edition=99, finished_at=timezone.now()
    )
    task = Task.objects.create(campaign=campaign, topic=topic, condition=edits, kind=edits.kind, person=person)
    return edit(bank, task, sentences)
