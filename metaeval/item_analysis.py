"""Nuggets as items: what each tells of the answers that are judged under a condition, and how short a bank may be."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from django.db.models import QuerySet

from assessor.campaigns.models import Campaign, Condition
from assessor.formats import latex
from assessor.formats.latex import as_latex
from assessor.formats.report import quantity
from assessor.formats.tables import write_table
from assessor.labels.label_kind import LabelKind, label_kind
from assessor.scores.leaderboards import name_of
from assessor.scores.loading import Labels
from assessor.scores.page_tables import Column
from assessor.scores.score_source import scored_conditions, scored_kinds, scoring_of
from assessor.studies.panels import is_soft, soft_panels
from metaeval.headline import ALMOST_THE_SAME, Part
from metaeval.kept_results import KeptFigure, keep_figures, kept_result
from metaeval.stats.items import (
    LEAST_RUNS,
    Flag,
    Item,
    ShortBank,
    cronbach_alpha,
    item_statistics,
    places_by_correlation,
    shorter_banks,
)
from metaeval.stats.means import Figures
from metaeval.stats.statistic import Statistic

if TYPE_CHECKING:
    from nuggets.models import BankEdition

SEED = 2026  # of the splits of runs
_FILE_COLUMNS = (
    *("topic", "uid", "nugget", "importance", "p", "item_rest_r", "place", "information", "answers", "flags"),
    "undefined",
)
# Keys are attributes of NuggetItem.
_COLUMNS = (
    Column("qid", "Topic", is_number=False),
    Column("importance", "Importance", is_number=False),
    Column("p", "p"),
    Column("r", "r", "item-rest"),
    Column("information", "Information"),
    Column("answers", "Answers"),
    Column("flags", "Look at", is_number=False),
)


class NuggetItem(NamedTuple):
    """A nugget of a bank with its statistics; uid: its name in files. topic: by key, and qid.

    p: difficulty; r: item-rest correlation, None where it is undefined, and why; place: by it in the topic's bank, the
    highest first. Flat, as there are thousands to keep.
    """

    topic: int
    qid: str
    uid: str
    text: str
    importance: str
    answers: int
    p: float | None
    r: float | None
    information: float | None
    why: str
    flags: list[Flag]
    place: int


class TopicBank(NamedTuple):
    """The bank of a topic; alpha: its consistency."""

    pk: int
    qid: str
    title: str
    nuggets: int
    alpha: Statistic


class ItemAnalysis(NamedTuple):
    """The nuggets of a condition, by topic and in bank order. runs: whose answers count; curve: of shorter banks."""

    nuggets: list[NuggetItem]
    topics: list[TopicBank]
    runs: int
    curve: list[ShortBank]

    def dropped(self, keep: int) -> list[NuggetItem]:
        """Return the nuggets that banks of at most so many a topic go without."""
        return [one for one in self.nuggets if one.place > keep]

    @property
    def flagged(self) -> Counter[Flag]:
        """How many nuggets have each flag."""
        return Counter(chain.from_iterable(one.flags for one in self.nuggets))


def has_items(condition: Condition) -> bool:
    """Say whether a condition's labels are of nuggets in the answers of runs."""
    return scoring_of(condition.kind).scores_nuggets and not condition.of_passages and not is_soft(condition)


def with_items(campaign: Campaign) -> QuerySet[Condition]:
    """Return the conditions of a campaign that have items; a panel without labels has none."""
    kinds = [name for name, scoring in scored_kinds().items() if scoring.scores_nuggets]
    found = scored_conditions(campaign).filter(kind__in=kinds, of_passages=False)
    return found.exclude(pk__in=soft_panels(campaign))


def item_analysis(condition: Condition) -> ItemAnalysis:
    """Return the statistics of a condition's nuggets over systems' judged answers, kept until its scores change.

    Circular runs are left out: made from what scores them, they find what others don't.
    """
    return kept_result([condition], "items", lambda: _analyse(condition))


def item_figures(condition: Condition) -> list[KeptFigure]:
    """Return the nuggets' correlation by difficulty, and the curve of shorter banks, of a condition's items."""
    from metaeval.charts.figures import NamedFigure, message
    from metaeval.charts.items import item_figure, short_bank_figure

    def draw() -> list[KeptFigure]:
        found = item_analysis(condition)
        columns = [
            [f"{one.qid}: {one.text}", one.importance, one.p, one.r] for one in found.nuggets if one.p is not None
        ]
        items = item_figure(*zip(*columns, strict=True)) if columns else message("No answer has all labels yet.")
        few = f"A bank is shortened by half of the runs: it takes {LEAST_RUNS} runs, and there are {found.runs}."
        curve = short_bank_figure(found.curve) if found.curve else message(few)
        figures = [
            NamedFigure("items", "Difficulty and item-rest correlation", items),
            NamedFigure("shorter", "How short a bank may be", curve),
        ]
        return keep_figures(figures)

    return kept_result([condition], "item-figures", draw)


def label_values(
    labels: Labels, rows: Mapping[int, int], columns: Mapping[int, int], values: npt.NDArray[np.float64]
) -> Figures:
    """Return what labels of a topic count: (runs, nuggets), NaN where there is none.

    rows, columns: the places of runs and nuggets by key, others are left out; values: of each label, by its code.
    """
    found = np.full((len(rows), len(columns)), np.nan)
    at_run, at_nugget, codes = labels.placed(rows, columns)
    found[at_run, at_nugget] = values[codes]
    return found


def counted_nuggets(condition: Condition, edition: "BankEdition", out: set[tuple[int, str]]) -> list[dict[str, Any]]:
    """Return the nuggets of an edition that are not left out of a condition's scores. out: as LabelKind.left_out()."""
    return [one for one in edition.nuggets if (condition.pk, str(one["id"])) not in out]


def even_values(kind: LabelKind) -> Figures:
    """Return what labels of a kind count as items, in their order: from 0 to 1, at even distances."""
    return np.linspace(0, 1, len(kind.labels))


def _analyse(condition: Condition) -> ItemAnalysis:
    kind = label_kind(condition.kind)
    scores, labels = scoring_of(condition.kind).load_with_labels(condition)
    runs = [run for run in scores.runs if run.is_independent]
    rows = {run.pk: at for at, run in enumerate(runs)}
    out, values = kind.left_out(condition.campaign), even_values(kind)
    of_topic = labels.by_topic()
    nuggets, topics, banks = [], [], []
    for edition in kind.scored_editions(condition):
        topic = edition.bank.topic
        counted = counted_nuggets(condition, edition, out)
        if not counted or topic.pk not in of_topic:
            continue
        columns = {one["id"]: at for at, one in enumerate(counted)}
        bank = label_values(of_topic[topic.pk], rows, columns, values)
        banks.append(bank)
        topics.append(TopicBank(topic.pk, topic.qid, topic.title, len(counted), cronbach_alpha(bank)))
        items = item_statistics(bank)
        nuggets += [
            NuggetItem(topic.pk, topic.qid, one["uid"], one["text"], one["importance"], *_flat(item, place))
            for one, item, place in zip(counted, items, places_by_correlation(items), strict=True)
        ]
    curve = shorter_banks(banks, seed=SEED) if banks and len(runs) >= LEAST_RUNS else []
    return ItemAnalysis(nuggets, topics, len(runs), curve)


def _flat(item: Item, place: int) -> tuple[Any, ...]:
    figures = (item.difficulty.value, item.correlation.value, item.information.value)
    return item.difficulty.n, *figures, item.correlation.why, item.flags, place


def sentence(found: ItemAnalysis, item: str, hours: float) -> list[Part]:
    """Return what came of the analysis in one sentence, in parts. item: what banks are made of, such as "nugget".

    hours: that people needed for the labels of all, 0 where nothing was measured.
    """
    correlations = [one.r for one in found.nuggets if one.r is not None]
    flagged = found.flagged
    never, negative = flagged[Flag.NEVER_FOUND], flagged[Flag.NEGATIVE]
    if not correlations:
        return [Part(f"No {item} has an item-rest correlation yet.")]
    verb = "ranks answers against the rest of its" if negative == 1 else "rank answers against the rest of their"
    parts = [
        Part(str(never), True),
        Part(f" of {quantity(len(found.nuggets), f'{item}s')} {'is' if never == 1 else 'are'} found in no answer and "),
        Part(str(negative), True),
        Part(f" {verb} bank; the median item-rest correlation is "),
        Part(f"{median(correlations):.2f}", True),
    ]
    if short := shortest(found.curve):
        tau = f"τ {short.best.mean:.2f}"
        kept = (
            f"the best {item} of each topic ranks"
            if short.nuggets == 1
            else f"the {short.nuggets} best of each topic rank"
        )
        fewer = f"{1 - short.share:.0%}".replace("%", " %")
        parts += [Part(f", and {kept} runs almost as all do ("), Part(tau, True), Part("), with "), Part(fewer, True)]
        parts.append(Part(f" fewer {item}s to label"))
        if hours:
            saved = f"{hours * (1 - short.share):.1f}"
            parts += [Part(", which saves "), Part(saved, True), Part(f" of {hours:.1f} hours")]
    return [*parts, Part(".")]


def shortest(curve: Sequence[ShortBank]) -> ShortBank | None:
    """Return the shortest bank that ranks runs almost the same way as the whole one; None where only that does."""
    return next((one for one in curve[:-1] if one.best.mean is not None and one.best.mean >= ALMOST_THE_SAME), None)


def columns(item: str) -> list[Column]:
    """Return the columns of the table of nuggets."""
    return [Column("text", item.capitalize(), is_number=False), *_COLUMNS]


def sorted_nuggets(nuggets: Sequence[NuggetItem], key: str) -> list[NuggetItem]:
    """Return nuggets by a column's key, with a minus in descending order; undefined ones come last."""
    value = attrgetter(key.removeprefix("-"))
    defined = sorted((one for one in nuggets if value(one) is not None), key=value, reverse=key.startswith("-"))
    return defined + [one for one in nuggets if value(one) is None]


def table_lines(condition: Condition, form: str) -> Iterator[str]:
    """Yield the table of a condition's nuggets as "csv" or "tex"."""
    found = item_analysis(condition)
    if form == "csv":
        return write_table(_FILE_COLUMNS, map(_file_row, found.nuggets))
    rows = (
        latex.row(
            (
                as_latex(one.qid),
                as_latex(one.text),
                one.importance or "--",
                *("--" if value is None else f"${value:.2f}$" for value in (one.p, one.r)),
            )
        )
        for one in found.nuggets
    )
    head = ("Topic", label_kind(condition.kind).item.capitalize(), "Importance", "$p$", "$r$")
    caption = (
        f"Items of {as_latex(name_of(condition))}: mean value $p$ and item-rest correlation $r$ over judged answers"
    )
    return latex.table(caption, "lp{0.6\\linewidth}lrr", head, rows)


def _file_row(one: NuggetItem) -> Sequence[object]:
    named = (one.qid, one.uid, one.text, one.importance)
    return *named, one.p, one.r, one.place, one.information, one.answers, "; ".join(one.flags), one.why
