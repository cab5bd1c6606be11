"""What pages and files tell of panels."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Count, QuerySet

from assessor.campaigns.models import CONTROL, Campaign, Condition, Run, Topic
from assessor.formats.families import FAMILIES
from assessor.formats.tables import write_table
from assessor.formats.values import to_json
from assessor.labels.label_kind import label_kind
from assessor.labels.models import Label
from assessor.scores.loading import Labels
from assessor.studies.models import SampledItem, Study
from assessor.studies.panels import RULE_WORDS, PanelTable, Settings, one_family, panel_table, settings_of
from assessor.studies.queries import studies_of
from assessor.studies.sampling import sampling_of
from assessor.work.models import Task
from metaeval.kept_results import kept_result
from metaeval.serializers import number
from metaeval.stats.agreement import NO_VALUE, count_labels, percent
from metaeval.stats.panels import Flags, Rule, Ties

TIES_WORDS = {Ties.STRICTER: "the stricter label", Ties.LENIENT: "the more lenient label", Ties.PEOPLE: "people decide"}
_LEAST_SECONDS = 1_800  # of active time, below which nothing is extrapolated, as on plans
_HOUR = 3_600
Json = dict[str, Any]


class Shares(NamedTuple):
    """How often a member, or the panel, gave each label, and what percent that is; missing: of how many none."""

    name: str
    given: list[tuple[int, float]]
    missing: int

    @property
    def has_labels(self) -> bool:
        """Whether there are any."""
        return any(count for count, _ in self.given)


class Confusion(NamedTuple):
    """What a member gives by the true label, as Dawid and Skene's model has it, in percent: (true, given)."""

    name: str
    rows: list[tuple[str, list[float]]]


class PanelReport(NamedTuple):
    """A panel in figures, over what is not labelled by a rule, of systems' answers or passages.

    items: with labels of a quorum; lacking: with fewer; open: left to people by the rule; by_people: of these, with
    people's label; tied: on which people tie; drawn: of all open ones, how many a study has drawn; prior: share of each
    true label, in percent.
    """

    settings: Settings
    labels: Sequence[str]
    topics: int
    items: int
    lacking: int
    open: int
    by_people: int
    tied: int
    drawn: int
    shares: list[Shares]
    confusions: list[Confusion]
    prior: list[float]
    steps: int
    problem: str

    @property
    def share_open(self) -> float:
        """What percent of the items is left to people."""
        return 100 * self.open / self.items if self.items else 0.0

    @property
    def undrawn(self) -> int:
        """How many open items no study has drawn yet."""
        return max(0, self.open - self.drawn)


class Mark(NamedTuple):
    """What whoever reads a panel's scores must know."""

    name: str
    told: str
    is_grave: bool = True


def panels_of(campaign: Campaign) -> QuerySet[Condition]:
    """Return a campaign's panels, by name, with what pages tell of them."""
    found = campaign.conditions.filter(method=Condition.PANEL)
    return found.select_related(*Condition.TOLD_WITH, "campaign", "protocol", "created_by").order_by("name")


def members_in_both(first: object, second: object) -> list[str]:
    """Return the names of the conditions whose labels both sides of a comparison rest on, one of them a panel."""
    if not isinstance(first, Condition) or not isinstance(second, Condition) or not (first.is_panel or second.is_panel):
        return []
    one, other = (set(side.panel["members"]) if side.is_panel else {side.name} for side in (first, second))
    return sorted(one & other)


def panel_report(panel: Condition) -> PanelReport:
    """Return a panel in figures, kept until its labels change."""
    return kept_result([panel], "panel", lambda: _report(panel))


def _report(panel: Condition) -> PanelReport:
    settings, table = settings_of(panel), panel_table(panel)
    known = label_kind(panel.kind).labels
    counts = _are_counted(panel, table.labels)
    given, codes = table.given[:, counts], table.labels.code[counts]
    has_quorum = (given != NO_VALUE).sum(axis=0) >= settings.quorum
    rows = [*zip(settings.members, given, strict=True), (panel.name, codes)]
    fitted = table.fitted
    return PanelReport(
        settings=settings,
        labels=known,
        topics=len(np.unique(table.labels.topic[counts])),
        items=int(has_quorum.sum()),
        lacking=int((~has_quorum).sum()),
        open=int(table.is_open[counts].sum()),
        by_people=int(table.by_people[counts].sum()),
        tied=int(table.is_tied[counts].sum()),
        drawn=SampledItem.objects.filter(study__panel=panel).count(),
        shares=[_shares(name, row, len(known)) for name, row in (rows[:-1] if settings.rule == Rule.MEAN else rows)],
        confusions=[
            Confusion(name, [(label, (100 * row).tolist()) for label, row in zip(known, matrix, strict=True)])
            for name, matrix in zip(settings.members, fitted.confusion, strict=True)
        ]
        if fitted
        else [],
        prior=(100 * fitted.prior).tolist() if fitted else [],
        steps=fitted.steps if fitted else 0,
        problem=table.problem,
    )


def _are_counted(panel: Condition, labels: Labels) -> Flags:
    """Return which things are of systems' answers, or passages, and not labelled by a rule."""
    controls = Run.objects.filter(campaign=panel.campaign_id, task=CONTROL).values_list("pk", flat=True)
    is_control = np.isin(labels.run, list(controls)) & (not panel.of_passages)
    found: Flags = ~labels.by_rule & ~is_control
    return found


def _shares(name: str, codes: Any, labels: int) -> Shares:
    counts = count_labels(codes[codes != NO_VALUE], labels)
    return Shares(
        name, list(zip(counts.tolist(), percent(counts).tolist(), strict=True)), int((codes == NO_VALUE).sum())
    )


def headline(panel: Condition, report: PanelReport) -> str:
    """Say in a sentence what comes of a panel."""
    kind, topics = label_kind(panel.kind), f"{report.topics} topic{'' if report.topics == 1 else 's'}"
    settings = report.settings
    quorum = "all" if settings.quorum == len(settings.members) else f"{settings.quorum} of"
    items = kind.item if report.items == 1 else kind.items
    start = f"On {topics}, {quorum} {len(settings.members)} members labelled {report.items:,} {items}"
    if settings.rule == Rule.MEAN:
        return f"{start}. The panel scores answers by the mean of their scores, and has no labels."
    if not settings.routes:
        return f"{start}, which the panel labels by the rule: {RULE_WORDS[settings.rule]}."
    share = f"{report.share_open:.1f} %"
    left = f"The panel leaves {report.open:,} of these ({share}) to people"
    return f"{start}. {left}, who have labelled {report.by_people:,}."


def marks_of(panel: Condition, report: PanelReport) -> list[Mark]:
    """Return what readers must know of a panel."""
    found = []
    if report.problem:
        found.append(Mark("no labels", report.problem))
    if family := one_family(panel.members):
        told = f"All members are models of {FAMILIES[family]}: what they get wrong alike, a panel does not correct."
        found.append(Mark("panel of one family", told))
    unknown = [one.name for one in panel.members if not (one.judge and one.judge.family)]
    if unknown:
        found.append(
            Mark("family not known", f"Nobody said of which family the model is: {', '.join(unknown)}.", False)
        )
    if report.settings.rule == Rule.DAWID_SKENE:
        told = (
            "Dawid and Skene's model assumes that members' errors are independent. Models often err on the same items; "
            "then the panel trusts them too much."
        )
        found.append(Mark("assumes independent errors", told))
    if report.lacking:
        found.append(Mark("incomplete", f"Fewer members than the quorum labelled {report.lacking:,} more."))
    if report.settings.routes:
        told = (
            "What people label here is what members disagree on, and no random sample: hybrid scores need their own "
            "draw of topics, and disagreement need not be where models err."
        )
        found.append(Mark("no random sample", told, False))
    return found


def routings(panel: Condition) -> list[Study]:
    """Return the studies of what a panel leaves to people, the newest last, each with its items and topics counted."""
    return list(studies_of(panel.campaign).filter(panel=panel).order_by("pk"))


def seconds_per_label(panel: Condition) -> float | None:
    """Return the median over people's tasks of such work of the active seconds for a label; None where too few are."""
    kind = label_kind(panel.kind)
    tasks = Task.objects.filter(
        campaign=panel.campaign_id,
        kind=panel.kind,
        condition__of_passages=panel.of_passages,
        topic__is_practice=False,
        seconds__gt=0,
    )
    seconds = dict(tasks.values_list("pk", "seconds"))
    labels = kind.sheets.label_model().everything.filter(sheet__task__in=seconds, state=Label.State.GIVEN)
    counts = dict(labels.order_by().values_list("sheet__task").annotate(Count("pk")))
    if sum(seconds[pk] for pk in counts) < _LEAST_SECONDS:
        return None
    return float(median(seconds[pk] / count for pk, count in counts.items()))


def expected_hours(panel: Condition, report: PanelReport) -> float | None:
    """Return the hours that people need for what a panel leaves open; None where nobody can say."""
    seconds = seconds_per_label(panel)
    return None if seconds is None else seconds * (report.open - report.by_people) / _HOUR


# Files


def table_lines(panel: Condition) -> Iterator[str]:
    """Yield a row (CSV) for each item that any member labelled: all labels, and how the panel's came to be."""
    table, settings = panel_table(panel), settings_of(panel)
    header = ("topic", "run", "item", *settings.members, "label", "by")
    return write_table(header, _rows(panel, settings, table))


def _rows(panel: Condition, settings: Settings, table: PanelTable) -> Iterator[Sequence[object]]:
    """Yield rows by topic's id, run's tag and item's name, in byte order."""
    by, known = sampling_of(panel.kind), label_kind(panel.kind).labels
    topics = dict(Topic.objects.filter(pk__in=np.unique(table.labels.topic).tolist()).values_list("pk", "qid"))
    runs = dict(Run.objects.filter(campaign=panel.campaign_id).values_list("pk", "tag"))
    places: dict[int, list[int]] = defaultdict(list)
    for at, topic in enumerate(table.labels.topic.tolist()):
        places[topic].append(at)
    for topic in sorted(topics, key=lambda pk: topics[pk].encode()):
        keys = {at: (int(table.labels.owner[at]), by.key_of(int(table.labels.item[at]))) for at in places[topic]}
        names = by.names(set(keys.values()))
        rows = [(runs[int(table.labels.run[at])], keys[at][0], names[key], at) for at, key in keys.items()]
        for tag, _, name, at in sorted(rows, key=lambda row: (row[0].encode(), row[2].encode(), row[1])):
            given = [known[code] if code != NO_VALUE else "" for code in table.given[:, at].tolist()]
            code = int(table.labels.code[at])
            yield topics[topic], tag, name, *given, known[code] if code != NO_VALUE else "", _by(table, settings, at)


def _by(table: PanelTable, settings: Settings, at: int) -> str:
    """Say how an item came to have the label that it has, or why it has none."""
    if table.by_people[at]:
        return "people"
    if table.is_open[at]:
        return "left to people"
    if table.labels.code[at] == NO_VALUE:
        few = (table.given[:, at] != NO_VALUE).sum() < settings.quorum
        return "too few members" if few else ""
    return "rule" if table.labels.by_rule[at] else "members"


def panel_json(panel: Condition) -> str:
    """Return what a panel is and comes to as JSON."""
    report = panel_report(panel)
    settings = report.settings
    told: Json = {
        "panel": panel.name,
        "identity": panel.identity,
        "kind": panel.kind,
        "members": [
            {"name": one.name, "identity": one.identity, "family": one.judge.family if one.judge else ""}
            for one in panel.members
        ],
        "rule": settings.rule,
        "ties": panel.panel["ties"],
        "quorum": settings.quorum,
        "topics": report.topics,
        "items": report.items,
        "too_few_members": report.lacking,
        "left_to_people": report.open,
        "by_people": report.by_people,
        "labels": list(report.labels),
        "given": {
            one.name: dict(zip(report.labels, (count for count, _ in one.given), strict=True))
            | {"missing": one.missing}
            for one in report.shares
        },
        "marks": {one.name: one.told for one in marks_of(panel, report)},
    }
    if report.confusions:
        told["dawid_skene"] = {
            "steps": report.steps,
            "prior": {label: number(share / 100) for label, share in zip(report.labels, report.prior, strict=True)},
            "confusion": {
                one.name: {
                    true: {label: number(share / 100) for label, share in zip(report.labels, row, strict=True)}
                    for true, row in one.rows
                }
                for one in report.confusions
            },
        }
    return to_json(told)


def file_lines(panel: Condition, form: str) -> Iterator[str]:
    """Return the lines of a file of a panel."""
    return iter([panel_json(panel) + "\n"]) if form == "json" else table_lines(panel)
