"""Loads demo/ through the real importers, and makes people to try it with."""

from argparse import ArgumentParser
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group
from django.core.management.base import BaseCommand, CommandError

from assessor.collection.actions import create_campaign, create_manual_nuggets
from assessor.collection.management.importing import import_file, print_report
from assessor.collection.models import Campaign, Import, Person
from assessor.collection.roles import ADMINISTRATOR, ASSESSOR, ORGANIZER
from assessor.llm.actions import change_judge, create_judge, launch, plan_job
from assessor.llm.kinds import kind_named
from assessor.work.actions import give_tasks
from assignment.control import make_control_runs

PASSWORD = "demo-password"  # noqa: S105  (public on purpose: shown on the demo's sign-in page)
PEOPLE = {"anna": ASSESSOR, "ben": ASSESSOR, "olga": ORGANIZER, "admin": ADMINISTRATOR}
REFERENCE = "Reference"  # the finished nuggets that the demo comes with
PLAN = {"anna": ("demo-1", "demo-2", "demo-3"), "ben": ("demo-4", "demo-5")}


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
        people = {name: self._person(name, role) for name, role in PEOPLE.items()}
        campaign = campaign or create_campaign(name="Demo campaign", slug="demo", acting_user=people["olga"])
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
        self._make_judge(campaign, options["model_url"])
        make_control_runs(nuggets=campaign.conditions.get(name=REFERENCE), acting_user=people["olga"])
        self._launch_jobs(campaign)
        condition = campaign.conditions.filter(name="ManualNuggets").first() or create_manual_nuggets(
            campaign=campaign,
            name="ManualNuggets",
            qrels_source=campaign.qrels_sources.get(name="People"),
            acting_user=people["olga"],
        )
        for name, qids in PLAN.items():
            topics = list(campaign.topics.filter(qid__in=qids))
            give_tasks(
                campaign=campaign, topics=topics, condition=condition, person=people[name], acting_user=people["olga"]
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
                settings={"base_url": url, "concurrency": 4, "price_in": Decimal("0.15"), "price_out": Decimal("0.6")},
                acting_user=campaign.created_by,
            )
        elif judge.base_url != url:
            change_judge(judge=judge, settings={"base_url": url}, acting_user=campaign.created_by)

    def _launch_jobs(self, campaign: Campaign) -> None:
        """Have the judge, where there is one, label all answers and citations; the workers find the jobs."""
        judge = campaign.model_judges.first()
        if judge is None:
            return
        for kind in map(kind_named, ("AutoAssign", "Support")):
            if campaign.jobs.filter(kind=kind.name).exists():
                continue
            plan = plan_job(
                kind=kind,
                judge=judge,
                name="",
                qrels_source=None,
                topics=list(campaign.topics.all()),
                nuggets=campaign.conditions.get(name=REFERENCE),
            )
            launch(plan, most_calls=None, most_cost=None, acting_user=campaign.created_by, to_workers=False)

    def _person(self, name: str, role: str) -> Person:
        person = Person.objects.filter(username=name).first() or Person.objects.create_user(name, password=PASSWORD)
        person.groups.add(Group.objects.get(name=role))
        return person

    def _import(
        self, campaign: Campaign, person: Person, kind: str, path: Path, options: dict[str, str] | None = None
    ) -> None:
        import_record = import_file(campaign, kind, path, options=options, person=person)
        if import_record.state != Import.State.DONE:
            print_report(self, import_record)
            raise CommandError(f"{path} was not imported.")
        self.stdout.write(f"{path.name}: {import_record.report['counts']}")
