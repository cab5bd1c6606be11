"""The grid of a topic: nuggets by answers, with the label of every judge."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.core.paginator import Page
from django.http import Http404, QueryDict
from django.urls import reverse

from assessor.campaigns.models import Campaign, Condition, Run, Topic
from assessor.desk.listing import Choice, chosen, paged
from assessor.labels.label_kind import LabelKind, label_kind, label_kinds
from assessor.labels.models import Label
from nuggets.models import Nugget, NuggetBank
from nuggets.queries import nuggets_in_order

_RUNS = 30  # side by side
_LOOKS = 3  # of labels: the lowest one, the highest one, and what is between

SHOWN = (
    Choice("all", "All"),
    Choice("differ", "Differ"),
    Choice("unlabelled", "Unlabelled"),
    Choice("outdated", "Outdated"),
)


class Mark(NamedTuple):
    """A judge's label in a cell. look: "ok", "part", "not", "none" or "old"; told: its word, with whose it is.

    sign: what stands there, where the look alone does not tell labels apart.
    """

    look: str
    word: str
    told: str
    is_models: bool
    address: str
    sign: str = ""


class GridRow(NamedTuple):
    """A nugget and its labels, a list for each run."""

    nugget: Nugget
    cells: Sequence[Sequence[Mark]]


class Grid(NamedTuple):
    """A grid. lists: conditions whose nuggets have labels; judges: those that labelled nuggets of this one.

    pair: whether two of them are shown, and not all.
    """

    kind: LabelKind
    lists: Sequence[Condition]
    nuggets: Condition
    judges: Sequence[Condition]
    shown: Sequence[Condition]
    pair: bool
    show: str
    runs: Page[Run]
    rows: Sequence[GridRow]

    @property
    def choices(self) -> Sequence[Choice]:
        return SHOWN


def grid_of(campaign: Campaign, topic: Topic, asked: QueryDict) -> Grid | None:
    """Return the grid that the address asks for; None where no nugget of the topic has labels of answers."""
    used: list[tuple[int, int]] = []
    for kind in (one for one in label_kinds() if one.labels_nuggets):
        judged = kind.judged_answers().filter(answer__topic=topic, condition__of_passages=False).order_by()
        used += judged.values_list("condition", "bank").distinct()
    return _grid(campaign, used, asked) if used else None


def _grid(campaign: Campaign, used: list[tuple[int, int]], asked: QueryDict) -> Grid:
    conditions = campaign.conditions.filter(pk__in={condition for condition, _ in used})
    every = list(conditions.select_related(*Condition.TOLD_WITH))
    every.sort(key=lambda one: (bool(one.sample), one.name))  # those of samples last
    lists = sorted({one.nuggets for one in every if one.nuggets}, key=lambda one: one.name)
    nuggets = _named(asked.get("nuggets"), lists)
    judges = [one for one in every if one.nuggets_id == nuggets.pk]
    kind = label_kind(judges[0].kind)
    pair = asked.get("of") != "all"
    shown = _pair(judges) if pair else judges
    show = chosen(asked, SHOWN)
    # Of several lists on the topic scores go by the one that was finished last.
    banks = NuggetBank.objects.filter(pk__in={bank for _, bank in used}, condition=nuggets)
    bank = banks.prefetch_related("nuggets").order_by("finished_at", "pk").last()
    assert bank is not None, "a list was finished before anybody labels its nuggets"
    cells, runs = _cells(campaign, kind, bank, shown)
    rows = nuggets_in_order(bank)
    if show != "all":
        holds = {place for place, marks in cells.items() if _holds(show, marks)}
        rows = [row for row in rows if any(nugget == row.pk for nugget, _ in holds)]
        runs = [run for run in runs if any(one == run.pk for _, one in holds)]
        cells = {place: cells[place] for place in holds}
    page = paged(asked, runs, _RUNS, "runs")
    grid_rows = [GridRow(row, [cells.get((row.pk, run.pk), ()) for run in page]) for row in rows]
    return Grid(kind, lists, nuggets, judges, shown, pair, show, page, grid_rows)


def _named(key: str | None, conditions: Sequence[Condition]) -> Condition:
    for condition in conditions:
        if key in (None, str(condition.pk)):
            return condition
    raise Http404("No labels are given there by nuggets of such a condition.")


def _pair(judges: Sequence[Condition]) -> list[Condition]:
    """Return the first condition of people and the first of a model, or else the first two."""
    first = next((one for one in judges if not one.is_a_models), None)
    second = next((one for one in judges if one.is_a_models), None)
    both = [one for one in (first, second) if one]
    return both if len(both) == 2 else list(judges[:2])


def _cells(
    campaign: Campaign, kind: LabelKind, bank: NuggetBank, conditions: Sequence[Condition]
) -> tuple[dict[tuple[int, int], list[Mark]], list[Run]]:
    """Return the labels of a list's nuggets, by nugget's key and run's, and the runs."""
    sheets = kind.sheets.objects.filter(bank=bank, condition__in=conditions)
    # Of two answers of a run, what it answered itself comes last, and counts.
    judged = list(sheets.order_by("-answer__apart", "pk").values_list("condition", "answer__run", "pk"))
    of_run = {(condition, run): sheet for condition, run, sheet in judged}
    model = kind.sheets.label_model()
    rows = model.everything.filter(sheet__in=sheets.order_by().values("pk"))
    labels = {
        (sheet, item): (state, value or resolved)
        for sheet, item, state, value, resolved in rows.values_list(
            "sheet", *model.ITEM, "state", "value", "resolved_value"
        )
    }
    runs = list(Run.objects.filter(pk__in={run for _, run, _ in judged}).order_by("tag"))
    address = reverse("label_way", args=[campaign.slug, kind.name, 0, "item"]).removesuffix("0/item/")
    cells: dict[tuple[int, int], list[Mark]] = {}
    for nugget in bank.nuggets.all():
        for run in runs:
            marks = []
            for condition in conditions:
                sheet = of_run.get((condition.pk, run.pk))
                # Under a condition of a sample, what has no row is not asked.
                usual = (Label.State.REMOVED if condition.sample else Label.State.OPEN, None)
                state, value = labels.get((sheet, nugget.pk), usual)
                if sheet is not None and state != Label.State.REMOVED:
                    look, word = look_of(kind.labels, state, value)
                    told = f"{condition} on {run.tag}: {word}"
                    sign = (value or "") if len(kind.labels) > _LOOKS and look != "old" else ""
                    way = f"{address}{sheet}/{nugget.pk}/"
                    marks.append(Mark(look, word, told, condition.is_a_models, way, sign))
            cells[nugget.pk, run.pk] = marks
    return cells, runs


def look_of(labels: Sequence[str], state: str, value: str | None) -> tuple[str, str]:
    """Return how a label is marked, and in words. labels: of its kind, in ascending order."""
    if state == Label.State.OUTDATED:
        return "old", f"{value}, outdated"
    if value is None:
        return "none", {Label.State.UNJUDGEABLE: "can't be judged", Label.State.NO_TEXT: "no text"}.get(
            Label.State(state), "no label"
        )
    if value == labels[-1]:
        return "ok", value
    return ("not" if value == labels[0] else "part"), value


def _holds(show: str, marks: Iterable[Mark]) -> bool:
    if show == "differ":
        return len({mark.word for mark in marks if mark.look not in ("none", "old")}) > 1
    looks = [mark.look for mark in marks]
    return ("none" if show == "unlabelled" else "old") in looks
