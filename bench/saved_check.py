"""Whether all that a crowd (bench/crowd.py) was told is saved stands in the database, once and as it was said."""

from collections import Counter
from typing import Any


def check(told: dict[str, Any]) -> dict[str, int]:
    """Compare what was called saved with what stands in the database; return what differs, by what it is."""
    from django.db.models import Sum

    from assessor.work.models import Task, TimeSpent, Write

    wrong: Counter[str] = Counter()
    written = Counter(map(str, Write.objects.values_list("key", flat=True)))
    wrong["saves lost"] = sum(written[key] == 0 for key in told["saves"])
    wrong["saves that nobody was told of"] = sum((written - Counter(told["saves"])).values())
    _check_labels(told, wrong)

    _check_grades(told, wrong)
    _check_nuggets(told, wrong)
    ended = set(
        Task.objects.filter(state=Task.State.FINISHED, condition__kind__in=("assignment", "support")).values_list(
            "pk", flat=True
        )
    )
    wrong["topics not signed off, or unasked"] = len(ended ^ set(told["signed_off"]))

    times = Counter(map(str, TimeSpent.objects.values_list("key", flat=True)))
    wrong["reports of time lost"] = sum(times[key] == 0 for key, _ in told["times"])
    in_tasks, in_reports = (
        rows.aggregate(all=Sum("seconds", default=0))["all"] for rows in (Task.objects, TimeSpent.objects)
    )
    wrong["seconds that tasks and reports differ by"] = abs(in_tasks - in_reports)
    wrong["topics whose count of done is wrong"] = _wrong_counts()
    _check_job(told["job"], wrong)
    return dict(wrong)


def _check_grades(told: dict[str, Any], wrong: Counter[str]) -> None:
    """Look for each grade: there must be one judgment of each passage that was graded."""
    from assessor.relevance.models import LabelEvent, RelevanceJudgment

    given = {item: grade for _, item, grade in told["grades"]}
    of_people = LabelEvent.objects.filter(job=None)
    wrong["grades lost or doubled"] = abs(of_people.count() - len(given))
    stands = dict(RelevanceJudgment.objects.filter(pk__in=given).values_list("pk", "value"))
    wrong["grades wrong"] = sum(stands.get(item) != str(grade) for item, grade in given.items())


def _check_nuggets(told: dict[str, Any], wrong: Counter[str]) -> None:
    """Compare the banks with what was written into them: nuggets, and how many edits that took."""
    from nuggets.models import BankEdit, Nugget, NuggetBank

    banks = {int(key): bank for key, bank in told["banks"].items()}
    edits = Counter(BankEdit.objects.filter(bank__in=banks).values_list("bank", flat=True))
    wrong["edits of nuggets lost or doubled"] = sum(abs(edits[key] - bank["edits"]) for key, bank in banks.items())
    for key, bank in banks.items():
        there = {
            str(uid): {"text": text, "importance": importance, "evidence": len(evidence)}
            for uid, text, importance, evidence in Nugget.objects.filter(bank=key).values_list(
                "uid", "text", "importance", "evidence"
            )
        }
        wrong["nuggets lost"] += len(bank["nuggets"].keys() - there.keys())
        wrong["nuggets that nobody wrote"] += len(there.keys() - bank["nuggets"].keys())
        wrong["nuggets wrong"] += sum(there.get(uid, nugget) != nugget for uid, nugget in bank["nuggets"].items())
    finished = set(NuggetBank.objects.filter(state="finished", task__isnull=False).values_list("pk", flat=True))
    wrong["banks not handed in, or unasked"] = len(finished ^ set(told["handed_in"]))


def _check_labels(told: dict[str, Any], wrong: Counter[str]) -> None:
    """Look for each label that was given: whether it stands, and whether there is a revision for each time."""
    from assignment.models import AnswerSheet
    from support.models import SupportSheet

    sheets: Any
    for kind, sheets in (("assign", AnswerSheet), ("support", SupportSheet)):
        events = sheets.revisions.rel.related_model
        given: dict[tuple[int, str], str] = {}
        times: Counter[tuple[int, str]] = Counter()
        for of_kind, sheet, item, label in told["labels"]:
            if of_kind == kind:
                given[sheet, item] = label
                times[sheet, item] += 1
        of_people = sheets.with_items(sheets.everything.filter(task__isnull=False))
        stands = {(sheet.pk, item): label for sheet in of_people for item, label in sheet.labels.items()}
        revised: Counter[tuple[int, str]] = Counter()
        copied: set[tuple[int, str]] = set()  # with that of an equal citation
        of_tasks = events.objects.filter(sheet__task__isnull=False)
        for sheet, verb, changes in events.changes_of(of_tasks, "sheet", "verb"):
            for item, change in changes.items():
                if "label" in change:
                    revised[sheet, item] += 1
                    if verb != "label" or (sheet, item) not in given:
                        copied.add((sheet, item))
        wrong["labels lost"] += len(given.keys() - stands.keys())
        wrong["labels wrong"] += sum(stands.get(place, label) != label for place, label in given.items())
        wrong["labels that nobody gave"] += len(stands.keys() - given.keys() - copied)
        wrong["labels doubled or without a revision"] += sum(revised[place] != times[place] for place in times)


def _wrong_counts() -> int:
    """Count the tasks that tell another number of answers or citations that are done than their sheets."""
    from assessor.work.models import Task
    from support.models import SupportJudgment

    wrong = 0
    for task in Task.objects.filter(condition__kind__in=("assignment", "support")):
        if task.kind == "assignment":
            done = task.answer_sheets.filter(by_rule=False, to_do=0).count()
        else:
            done = SupportJudgment.objects.filter(sheet__task=task, state="given").count()
        wrong += done != task.done
    return wrong


def _check_job(pk: int, wrong: Counter[str]) -> None:
    """Compare the units of a job that are done with the labels that it gave, and with their revisions."""
    from assessor.llm.models import Job, Unit
    from support.models import LabelEvent, SupportJudgment

    job = Job.objects.get(pk=pk)
    units = Unit.objects.filter(job=job)
    done = set(units.filter(state=Unit.State.DONE).values_list("answer", "item"))
    wrong["units that failed"] = units.filter(state=Unit.State.FAILED).count()
    wrong["units that the job counts otherwise"] = abs(len(done) - job.units_done)
    rows = SupportJudgment.objects.filter(sheet__condition=job.condition_id, state="given").select_related("sheet")
    labelled = {(row.sheet.answer_id, row.item) for row in rows}
    times: Counter[tuple[int, str]] = Counter()
    events = LabelEvent.objects.filter(sheet__condition=job.condition_id)
    for answer, changes in LabelEvent.changes_of(events, "sheet__answer"):
        times.update((answer, key) for key, change in changes.items() if "label" in change)
    wrong["labels of the job lost"] = len(done - labelled)
    wrong["labels of the job given twice"] = sum(count > 1 for count in times.values())
    wrong["labels of the job without a unit that is done"] = len(labelled - done)
