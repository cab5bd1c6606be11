"""What the commands that launch and run jobs share."""

import sys
import threading
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from assessor.campaigns.condition_kind import names_of_nuggets
from assessor.campaigns.management.common import campaign_called
from assessor.campaigns.models import SCALES, Campaign, Condition, QrelsSource, RetrievalRun, Topic
from assessor.llm import actions, queries
from assessor.llm.actions import JobError
from assessor.llm.job_kind import Grades, job_kind_named
from assessor.llm.models import Job, ModelJudge
from assessor.llm.tasks import run_here

_BAR = 30  # characters
_LOOK = 0.5  # seconds between two looks at a job
_LINE = 10.0  # seconds between two lines where there is no terminal to draw a bar on


class LaunchCommand(BaseCommand):
    """Launches a job of one kind and shows its progress until it is over."""

    kind: ClassVar[str]

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="The campaign's short name.")
        parser.add_argument("--judge", required=True, help="The judge's name.")
        if job_kind_named(self.kind).grades != Grades.NONE:
            documents = parser.add_mutually_exclusive_group(required=True)
            documents.add_argument("--qrels", help="The source of the relevance grades.")
            if job_kind_named(self.kind).takes_rankings:
                documents.add_argument("--retrieval-run", help="Or the tag of a run whose first documents are read.")
            grades = range(1, max(SCALES) + 1)
            told = "The lowest grade that counts as relevant; by default as the protocol says."
            parser.add_argument("--min-relevant-grade", type=int, choices=grades, help=told)
        if nuggets := job_kind_named(self.kind).nuggets_called:
            parser.add_argument("--nuggets", required=True, help=f"The condition of the finished {nuggets}.")
        if job_kind_named(self.kind).matches_banks:
            parser.add_argument("--other-nuggets", required=True, help="The condition that they are matched with.")
        if job_kind_named(self.kind).support:
            told = "The condition whose labels say which sentences are supported."
            parser.add_argument("--support", required=True, help=told)
        if preferences := job_kind_named(self.kind).preferences:
            parser.add_argument("--preferences", required=True, help=f"The condition of the {preferences}s.")
        parser.add_argument("--name", default="", help="Name of the condition; by default what is done and by whom.")
        parser.add_argument("--topics", nargs="+", default=[], help="Topic ids; by default all.")
        parser.add_argument("--replicate", type=int, default=0, help="Sample the judge anew, under this number.")
        parser.add_argument("--most-calls", type=int, help="Budget of calls.")
        parser.add_argument("--most-cost", type=Decimal, help="Budget of money.")
        told = f"How requests are sent: {', '.join(f'{mode.value} ({mode.label})' for mode in Job.Mode)}."
        parser.add_argument("--mode", choices=Job.Mode.values, default=Job.Mode.LIVE, help=told)
        parser.add_argument("--estimate", action="store_true", help="Only say what it would take.")
        parser.add_argument("--here", action="store_true", help="Run it in this process, without a worker.")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_called(options["campaign"])
        kind = job_kind_named(self.kind)
        judge = _judge(campaign, options["judge"])
        try:
            plan = actions.plan_job(
                kind=kind,
                judge=judge,
                name=options["name"],
                qrels_source=_source(campaign, options["qrels"]) if options.get("qrels") else None,
                topics=_topics(campaign, options["topics"]),
                nuggets=_condition(campaign, options["nuggets"], names_of_nuggets(), "nuggets")
                if "nuggets" in options
                else None,
                other_nuggets=_condition(campaign, options["other_nuggets"], names_of_nuggets(), "nuggets")
                if "other_nuggets" in options
                else None,
                support=_condition(campaign, options["support"], [kind.support], "support")
                if "support" in options
                else None,
                preferences=_condition(campaign, options["preferences"], [kind.preferences], "preferences")
                if "preferences" in options
                else None,
                retrieval_run=_ranking(campaign, options["retrieval_run"]) if options.get("retrieval_run") else None,
                min_relevant_grade=options.get("min_relevant_grade"),
                replicate=options["replicate"],
                mode=Job.Mode(options["mode"]),
            )
            estimate = plan.estimate
            self.stdout.write(
                f"About {estimate['calls']:,} calls, {estimate['tokens_in']:,} tokens sent, "
                f"{estimate['tokens_out']:,} back, cost {estimate['cost']}."
            )
            if options["estimate"]:
                return
            job = actions.launch(
                plan,
                most_calls=options["most_calls"],
                most_cost=options["most_cost"],
                acting_user=None,
                to_workers=not options["here"],
            )
        except JobError as error:
            raise CommandError(str(error)) from error
        follow(self, job, here=options["here"])


def follow(command: BaseCommand, job: Job, *, here: bool) -> None:
    """Show a job's progress until it stops, run in this process or by workers. Raises CommandError if it isn't done."""
    is_over = threading.Event()
    watch = threading.Thread(target=_watch, args=(command, job.pk, is_over), daemon=True)
    watch.start()
    if here:
        try:
            run_here(job.pk)
        finally:
            is_over.set()  # whatever its state: nobody may be at work on it any more
    watch.join()
    job.refresh_from_db()
    for reason in queries.reasons(job):
        command.stdout.write(f"{reason.units:,} failed: {reason.error} (such as {reason.example})")
    for note in queries.notes(job):
        command.stdout.write(note)
    if job.mode == Job.Mode.FILES and job.state in Job.ACTIVE:
        command.stdout.write(f"Its requests wait: write_batch {job.pk} FILE writes them.")
    elif job.state != Job.State.DONE:
        raise CommandError(f"Job {job.pk} is {job.get_state_display()}. {job.message}".strip())


def job_numbered(number: int) -> Job:
    """Return a job by its number. Raises CommandError."""
    job = Job.objects.select_related("judge__judge", "condition", "campaign").filter(pk=number).first()
    if job is None:
        raise CommandError(f"There is no job {number}.")
    return job


def _watch(command: BaseCommand, job_id: int, is_over: threading.Event) -> None:
    """Draw the bar until the job is neither waiting nor running, or somebody says that it is over."""
    is_terminal = sys.stderr.isatty()
    shown_at = 0.0
    try:
        while True:
            job = Job.objects.get(pk=job_id)
            is_at_work = job.state in Job.ACTIVE and not is_over.is_set()
            if is_terminal or not is_at_work or time.monotonic() - shown_at >= _LINE:
                shown_at = time.monotonic()
                command.stderr.write(_line(job), ending="\r" if is_terminal and is_at_work else "\n")
            if not is_at_work:
                return
            is_over.wait(_LOOK)
    finally:
        connection.close()


def _line(job: Job) -> str:
    ended = job.units_done + job.units_failed
    full = _BAR * ended // job.units_total if job.units_total else 0
    pace = queries.pace(job)
    left = "" if pace.left is None else f", {pace.left} s left"
    failed = f", {job.units_failed:,} failed" if job.units_failed else ""
    counts = (
        f"{ended:,}/{job.units_total:,}{failed}, {job.calls:,} calls, {pace.a_minute / 60:.1f}/s, cost {job.cost:f}"
    )
    return f"job {job.pk} [{'#' * full}{'.' * (_BAR - full)}] {counts}{left}, {job.get_state_display()}"


def _judge(campaign: Campaign, name: str) -> ModelJudge:
    judge: ModelJudge | None = (
        campaign.model_judges.select_related("judge", "campaign").filter(judge__name=name).first()
    )
    if judge is None:
        raise CommandError(f"The campaign has no judge called {name}.")
    return judge


def _source(campaign: Campaign, name: str) -> QrelsSource:
    source: QrelsSource | None = campaign.qrels_sources.filter(name=name).first()
    if source is None:
        raise CommandError(f"The campaign has no grades called {name}.")
    return source


def _ranking(campaign: Campaign, tag: str) -> RetrievalRun:
    run: RetrievalRun | None = campaign.retrieval_runs.filter(tag=tag).first()
    if run is None:
        raise CommandError(f"The campaign has no retrieval run called {tag}.")
    return run


def _condition(campaign: Campaign, name: str, kinds: Sequence[str], what: str) -> Condition:
    condition: Condition | None = campaign.conditions.filter(kind__in=kinds, name=name).first()
    if condition is None:
        raise CommandError(f"The campaign has no {what} called {name}.")
    return condition


def _topics(campaign: Campaign, qids: list[str]) -> list[Topic]:
    chosen, unknown = queries.chosen_topics(campaign, qids)
    if unknown:
        raise CommandError(f"The campaign has no topic {', '.join(unknown)}.")
    return chosen
