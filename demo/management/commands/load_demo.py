"""Loads demo/ through the real importers, and makes people to try it with."""

import json
from argparse import ArgumentParser
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import update_last_login
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from assessor.accounts.models import Person
from assessor.campaigns.actions import add_member, create_campaign
from assessor.campaigns.condition_kind import kinds_with_screen
from assessor.campaigns.models import Campaign, Condition, Import, Judge, Role
from assessor.imports.management.import_command import import_file, print_report
from assessor.llm.actions import JobError, change_judge, create_judge, launch, plan_job
from assessor.llm.job_kind import job_kind_named
from assessor.llm.models import Job
from assessor.llm.runner import run_job
from assessor.studies.actions import define_code, draw_study, let_people_judge
from assessor.studies.models import Study
from assessor.work.actions import give_tasks
from assessor.work.actions.guidelines import in_force, open_guidelines
from assessor.work.models import Task
from assignment.control_runs import make_control_runs
from metaeval.actions import create_calibration, create_comparison
from metaeval.calibrations import NotCalibrated
from nuggets.actions import create_manual_nuggets
from support.access import own_judging, own_sheet
from support.actions import create_support, give_label, sign_off
from support.citations import places
from support.formats import LABEL_OF
from support.models import SupportSheet

PASSWORD = "demo-password"  # noqa: S105  (public on purpose: shown on the demo's sign-in page)
PEOPLE = ("anna", "ben", "olga", "admin")
REFERENCE = "Reference"  # the finished nuggets that the demo comes with
PLAN = {"anna": ("demo-1", "demo-2", "demo-3"), "ben": ("demo-4", "demo-5")}
SUPPORT_FROM_SCRATCH, SUPPORT_POST_EDITED = ("anna", "demo-1"), ("ben", "demo-4")
STUDIED = ("demo-5", "demo-6")  # the topics on which the demo comes with people's labels of support
SEED = 2026
# Requests that the judge has in flight: where somebody may watch its job, and while the demo is loaded.
WATCHED, UNWATCHED = 4, 32
PRICES = {"price_in": Decimal("0.15"), "price_out": Decimal("0.6")}
CODES = {
    "hedge-dropped": "The sentence is surer than the passage.",
    "generalized": "The sentence says it of more than the passage does.",
    "same-words": "The words are the passage's, the statement is not.",
}


class Command(BaseCommand):
    help = "Load the demo campaign and its people. Only where ASSAY_DEMO is on; does nothing where it is loaded."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--model-url", help="Base URL of the rehearsal endpoint, which the demo's judge asks.")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO:
            raise CommandError("The demo has public passwords: it loads only where ASSAY_DEMO is on.")
        if Person.objects.exclude(username__in=PEOPLE).exists():
            raise CommandError("There are other people in this database: it is no place for public passwords.")
        campaign = Campaign.objects.filter(slug="demo").first()
        if campaign and campaign.tasks.exists():
            self.stdout.write("The demo campaign is there already.")
            self._make_judge(campaign, options["model_url"])
            return
        # A start that was killed half-way is taken up again: importing a file twice changes nothing.
        people = {name: self._person(name) for name in PEOPLE}
        campaign = campaign or create_campaign(name="Demo campaign", slug="demo", acting_user=people["olga"])
        for name in PLAN:
            add_member(campaign=campaign, person=people[name], role=Role.ASSESSOR, acting_user=people["olga"])
        folder = settings.BASE_DIR / "demo"
        self._import(campaign, people["olga"], "topics", folder / "topics.tsv")
        self._import(campaign, people["olga"], "segments", folder / "segments.jsonl")
        qrels = {"source": "People", "by": "people"}
        self._import(campaign, people["olga"], "qrels", folder / "qrels.people.txt", qrels)
        for run in sorted((folder / "runs").glob("*.jsonl")):
            self._import(campaign, people["olga"], "runs", run)
        self._import(campaign, people["olga"], "run_list", folder / "runs.csv")
        for run in sorted((folder / "retrieval").glob("*.txt")):
            self._import(campaign, people["olga"], "retrieval", run)
        nuggets = {"condition": REFERENCE, "by": "people"}
        self._import(campaign, people["olga"], "nuggets", folder / "nuggets.people.jsonl", nuggets)
        labels = {"condition": f"{REFERENCE}/Manual", "nuggets": REFERENCE, "by": "people"}
        self._import(campaign, people["olga"], "assignments", folder / "assignments.people.jsonl", labels)
        labels = {"condition": f"{REFERENCE}/Support", "by": "people"}
        self._import(campaign, people["olga"], "support", folder / "support.people.jsonl", labels)
        self._make_judge(campaign, options["model_url"])
        make_control_runs(nuggets=campaign.conditions.get(name=REFERENCE), acting_user=people["olga"])
        study = self._make_study(campaign)
        if job := self._launch(campaign, "AutoAssign"):
            run_job(job.pk)
        self._compare(campaign)
        for judge in campaign.model_judges.all():
            change_judge(judge=judge, settings={"concurrency": WATCHED}, acting_user=campaign.created_by)
        self._launch(campaign, "Support")
        condition = campaign.conditions.filter(name="ManualNuggets").first() or create_manual_nuggets(
            campaign=campaign,
            name="ManualNuggets",
            qrels_source=campaign.qrels_sources.get(name="People"),
            acting_user=people["olga"],
        )
        questions = {"condition": f"{REFERENCE} questions", "by": "people"}
        self._import(campaign, people["olga"], "questions", folder / "questions.people.jsonl", questions)
        for person in (people[name] for name in PLAN):
            for kind in kinds_with_screen():
                version = in_force(campaign, kind.name).version
                open_guidelines(campaign=campaign, kind=kind.name, version=version, acting_user=person)
        with transaction.atomic():  # once anybody has anything to do, all is loaded
            for name, qids in PLAN.items():
                self._give(condition, people[name], *qids)
            if study:
                self._give_support(campaign, people, study)

    def _give(self, condition: Condition, person: Person, *qids: str) -> list[Task]:
        campaign = condition.campaign
        topics = list(campaign.topics.filter(qid__in=qids))
        return give_tasks(
            campaign=campaign, topics=topics, condition=condition, person=person, acting_user=campaign.created_by
        )

    def _make_judge(self, campaign: Campaign, url: str | None) -> None:
        """Make the demo's judge, or tell it where the rehearsal endpoint is this time."""
        if url is None:
            return
        judge = campaign.model_judges.first()
        if judge is None:
            parameters = {"model": "rehearsal", "temperature": 0.0, "max_tokens": 2048, "limit_name": "max_tokens"}
            create_judge(
                campaign=campaign,
                name="rehearsal",
                parameters=parameters | {"structured": True},
                settings={"base_url": url, "concurrency": UNWATCHED} | PRICES,
                acting_user=campaign.created_by,
            )
        elif judge.base_url != url:
            change_judge(judge=judge, settings={"base_url": url}, acting_user=campaign.created_by)

    def _launch(self, campaign: Campaign, kind: str, *qids: str) -> Job | None:
        """Have the judge label all answers or citations, or those of some topics; workers find the job.

        None where there is no judge, or nothing left to do.
        """
        judge = campaign.model_judges.first()
        if judge is None:
            return None
        topics = campaign.topics.filter(qid__in=qids) if qids else campaign.topics.all()
        plan = plan_job(
            kind=job_kind_named(kind),
            judge=judge,
            name="",
            qrels_source=None,
            topics=list(topics),
            nuggets=campaign.conditions.get(name=REFERENCE),
        )
        try:
            return launch(plan, most_calls=None, most_cost=None, acting_user=campaign.created_by, to_workers=False)
        except JobError:  # a start that was killed half-way had launched it
            return None

    def _make_study(self, campaign: Campaign) -> Study | None:
        """Draw what people and the judge label differently, on the topics that have people's labels of support.

        The judge labels these first, here and now. None where there is no judge.
        """
        study: Study | None = campaign.studies.first()
        if study:
            return study
        if job := self._launch(campaign, "Support", SUPPORT_POST_EDITED[1], *STUDIED):
            run_job(job.pk)
        people = campaign.conditions.get(name=f"{REFERENCE}/Support")
        model = campaign.conditions.filter(kind=people.kind, judge__kind=Judge.Kind.MODEL).first()
        if model is None:
            return None
        study = draw_study(
            campaign=campaign,
            name="People and the rehearsal",
            purpose=Study.Purpose.DISAGREEMENT,
            first=people,
            second=model,
            seed=SEED,
            acting_user=campaign.created_by,
        )
        for code, meaning in CODES.items():
            define_code(campaign=campaign, code=code, meaning=meaning, acting_user=campaign.created_by)
        return study

    def _compare(self, campaign: Campaign) -> None:
        """Have the worker compare, once it starts, what people and the judge say; calibrate it by people."""
        people = campaign.conditions.get(name=f"{REFERENCE}/Manual")
        models = campaign.conditions.filter(kind=people.kind, nuggets=people.nuggets, judge__kind=Judge.Kind.MODEL)
        model = models.first()
        if model and not campaign.comparisons.exists():
            create_comparison(campaign=campaign, first=people, second=model, seed=SEED, acting_user=campaign.created_by)
            with suppress(NotCalibrated):  # its job failed
                create_calibration(campaign=campaign, human=people, judged=model, acting_user=campaign.created_by)

    def _give_support(self, campaign: Campaign, people: dict[str, Person], study: Study) -> None:
        """Give both human conditions, and the study's sample to Ben, who has done it: his labels are in a file."""
        by: dict[str, Any] = {"acting_user": campaign.created_by}
        name, qid = SUPPORT_FROM_SCRATCH
        scratch = create_support(campaign=campaign, name="Support from scratch", shown=None, **by)
        self._give(scratch, people[name], qid)
        name, qid = SUPPORT_POST_EDITED
        edited = create_support(campaign=campaign, name="Support post-edited", shown=study.second, **by)
        self._give(edited, people[name], qid)
        judge = let_people_judge(study=study, name=f"{study}: ben", **by)
        tasks = self._give(judge, people["ben"], *STUDIED)
        said = {}
        with (settings.BASE_DIR / "demo" / "support.independent.jsonl").open(encoding="utf-8") as lines:
            for line in map(json.loads, lines):
                for sentence in line["sentences"]:
                    for citation in sentence["citations"]:
                        said[line["topic_id"], line["run_id"], sentence["sentenceID"]] = citation["support"]
        for task in tasks:
            self._judge(own_judging(people["ben"], task.pk), said)
        update_last_login(Person, people["ben"])  # as whoever has signed a topic off

    def _judge(self, task: Task, said: dict[tuple[str, str, int], str]) -> None:
        """Say of a task's citations what a file has, and sign the task off."""
        sheets = SupportSheet.objects.filter(task=task)
        for pk, tag in sheets.values_list("pk", "answer__run__tag"):
            for citation in own_sheet(task.person, task.pk, pk).open:
                own = own_sheet(task.person, task.pk, pk)
                label = LABEL_OF[said[task.topic.qid, tag, places(citation)[0]]]
                give_label(own, citation=citation, label=label, seconds=None, seen=own.sheet.version)
        seen = sum(sheets.values_list("version", flat=True))
        sign_off(task, acting_user=task.person, seen=seen)

    def _person(self, name: str) -> Person:
        known = Person.objects.filter(username=name).first()
        return known or Person.objects.create_user(name, password=PASSWORD, is_superuser=name == "admin")

    def _import(
        self, campaign: Campaign, person: Person, kind: str, path: Path, options: dict[str, str] | None = None
    ) -> None:
        import_record = import_file(campaign, kind, path, options=options, person=person)
        if import_record.state != Import.State.DONE:
            print_report(self, import_record)
            raise CommandError(f"{path} was not imported.")
        self.stdout.write(f"{path.name}: {import_record.report['counts']}")
