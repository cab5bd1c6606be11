"""Where an organizer can go: the pages of a campaign in the order of the work, with counts where they help."""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from django.db.models import Count, IntegerField, OuterRef, Subquery
from django.db.models.functions import Coalesce

from assessor.accounts.models import Person
from assessor.campaigns.access import organized_campaigns
from assessor.campaigns.models import Campaign, Condition, Membership
from assessor.desk import flags
from assessor.desk.queries import loaded
from assessor.llm.models import Job, ModelJudge
from assessor.runtime.sql import fetch_prepared

_ASKED = "questions"  # the page of what assessors ask
_ANY = -1  # in the place of a campaign's key


class Item(NamedTuple):
    """A page of the sidebar. name: of its address; under: names of the addresses below it."""

    label: str
    name: str
    icon: str
    under: Sequence[str] = ()


class Group(NamedTuple):
    """Pages under a heading; the first group has none."""

    label: str
    items: Sequence[Item]


GROUPS = (
    Group("", [Item("Overview", "campaign", "home"), Item("Set up", "setup", "topics")]),
    Group(
        "Collection",
        [
            Item("Topics", "topics", "topics", ["topic"]),
            Item("Passages", "passages", "file"),
            Item("Runs", "runs", "runs", ["run", "answer"]),
            Item("Relevance", "relevance_grades", "check", ["grade_judges"]),
            Item("Files", "imports", "up", ["import_report", "import_held"]),
        ],
    ),
    Group(
        "Work",
        [
            Item(
                "Conditions",
                "conditions",
                "grid",
                [
                    "condition",
                    "new_condition",
                    "condition_drafts",
                    "nugget_drafts",
                    "editions",
                    "candidates",
                    "topic_candidates",
                    "trial_setting",
                ],
            ),
            Item(
                "Plan", "plan", "plan", ["plan_give", "plan_hours", "allocate_plan", "plan_runs", "plan_piece", "draws"]
            ),
            Item("Progress", "progress", "pulse", ["effort"]),
            Item("People", "people", "people", ["person"]),
            Item("Practice", "practice", "check", ["practice_reference", "mark_practice"]),
            Item("Guidelines", "campaign_guidelines", "book", ["edit_guidelines", "guidelines_version"]),
        ],
    ),
    Group(
        "Automatic",
        [
            Item("Judges", "judges", "chip", ["judge", "new_judge", "try_judge", "prompts", "import_prompts"]),
            Item("Jobs", "jobs", "bolt", ["job", "launch_job", "job_failures"]),
        ],
    ),
    Group(
        "Quality",
        [
            Item("Questions", "questions", "ask", ["assignment_questions", "support_questions"]),
            Item("Alarms", "alarms", "alert"),
            Item("Control sets", "control_sets", "pulse", ["control_set"]),
            Item("Disagreement studies", "studies", "split", ["study", "ask_study", "give_study", "rejudging"]),
            Item("Adjudication", "adjudication", "gavel"),
        ],
    ),
    Group(
        "Results",
        [
            Item(
                "Scores",
                "scores",
                "bars",
                [
                    "topic_scores",
                    "run_scores",
                    "score_figures",
                    "significance",
                    "reusability",
                    "nugget_items",
                    "canaries",
                    "label_judges",
                    "next_edition",
                ],
            ),
            Item(
                "Comparisons",
                "comparisons",
                "scatter",
                [
                    "comparison",
                    "comparison_topic",
                    "bias",
                    "comparisons_against",
                    "support_pairs",
                    "registrations",
                    "registration",
                ],
            ),
            Item("Banks side by side", "bank_matchings", "split", ["matched_banks", "matched_topic"]),
            Item("Panels", "panels", "people", ["panel"]),
            Item("Sensitivity", "sensitivities", "grid", ["sensitivity"]),
            Item("Calibration", "calibrations", "check", ["calibration"]),
            Item("Hybrid scores", "hybrids", "blend", ["hybrid"]),
            Item("Exports", "exports", "down", ["export", "choose_export"]),
            Item("Freeze and archive", "frozen_conditions", "lock", ["frozen_condition", "archive"]),
        ],
    ),
    Group(
        "Record",
        [
            Item("History", "history", "clock", ["label_way"]),
            Item("Settings", "protocol", "gear", ["security", "webhooks", "renew_webhook"]),
        ],
    ),
)


class Link(NamedTuple):
    """An item as a page has it. number: how many it holds, as text; is_hot: somebody waits for the organizer."""

    item: Item
    number: str
    is_hot: bool
    is_current: bool


class Navigation(NamedTuple):
    """What the frame of an organizer's page shows. groups: none on pages that belong to no campaign."""

    campaigns: Sequence[Campaign]
    campaign: Campaign | None
    groups: Sequence[tuple[str, Sequence[Link]]]

    @property
    def current(self) -> Item | None:
        """The page of the sidebar to which the page at hand belongs."""
        return next((link.item for _, links in self.groups for link in links if link.is_current), None)


def navigation(person: Person, campaign: object, page: str) -> Navigation:
    """Return the way around for an organizer or administrator. page: the name of the address that was asked for."""
    campaigns = list(organized_campaigns(person).order_by("name"))
    own = next((one for one in campaigns if one == campaign), None)
    return Navigation(campaigns, own, _groups(own, page) if own else [])


def _groups(campaign: Campaign, page: str) -> list[tuple[str, list[Link]]]:
    counts = _counts(campaign)
    if questions := flags.last_open(campaign):
        counts[_ASKED] = f"{questions:,}"
    return [
        (
            group.label,
            [
                Link(one, counts.get(one.name, ""), one.name == _ASKED, page in (one.name, *one.under))
                for one in group.items
            ],
        )
        for group in GROUPS
    ]


def _counts(campaign: Campaign) -> dict[str, str]:
    """Count what a campaign has, by page, in one query; what it has none of is left out."""
    sql, values = _counting()
    [(people, conditions, judges, running)] = fetch_prepared(
        sql, [campaign.pk if value == _ANY else value for value in values]
    )
    has = loaded(campaign)
    found = {"people": people, "conditions": conditions, "judges": judges}
    found |= {"topics": has["topics"], "passages": has["segments"], "runs": has["runs"]}
    return {name: f"{number:,}" for name, number in found.items() if number} | (
        {"jobs": f"{running} running"} if running else {}
    )


@cache
def _counting() -> tuple[str, Sequence[Any]]:
    """Return the query of what pages count of a campaign, with its values: of _ANY one.

    Every page asks it, and to put it together takes Django ten times as long.
    """
    counts = Campaign.objects.filter(pk=_ANY).values_list(
        _number(Membership.objects.filter(until=None), "person"),
        _number(Condition.objects),
        _number(ModelJudge.objects),
        _number(Job.objects.filter(state__in=Job.ACTIVE)),
    )
    sql, values = counts.query.sql_with_params()
    return sql, values


def _number(rows: Any, of: str = "pk") -> Coalesce:
    counted = rows.filter(campaign=OuterRef("pk")).order_by().values("campaign").values(number=Count(of, distinct=True))
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)
