"""Editions of a track by the nuggets that both have: this one's runs, and what a file has of a former one's."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from assessor.campaigns.models import CANARY, CONTROL_TAG, Condition, Import
from assessor.campaigns.queries import without_practice
from assessor.formats.lines import SourceFile
from assessor.formats.report import Report, Unreadable
from assessor.formats.tables import write_table
from assessor.scores.cache import condition_scores, kept_in_state, state_of
from assessor.scores.loading import RunName
from assessor.scores.tables import counted_cells
from assessor.studies.panels import is_soft
from assignment.formats import LABELS, SheetRecord, read_sheets
from assignment.label_kind import ASSIGNMENT
from assignment.measures import MISSING, NUGGET_SCORES, answer_scores
from assignment.queries import scored_editions
from assignment.score_arrays import IMPORTANCE, TopicLabels, left_out_nuggets, load_scores
from metaeval.stats.linking import Link, link
from metaeval.stats.means import DIGITS, INCOMPLETE, Codes, Figures, Policy, mean
from nuggets.inheritance import kept_nuggets
from nuggets.models import Drafting

# Each edition's people set importance anew, so only measures without it count the kept nuggets alike in both.
MEASURES = tuple(one for one in NUGGET_SCORES.all if one.key in ("astrict", "a"))
_AT = [NUGGET_SCORES.keys.index(one.key) for one in MEASURES]
COLUMNS = ("condition", "run", "measure", "topics", "all_nuggets", "kept_nuggets")
_CODES = {label: code for code, label in enumerate(reversed(LABELS))} | {"": MISSING}


class Edition(NamedTuple):
    """The scores of this edition's systems under a condition, on topics with a nugget that both editions have.

    every, kept: by all nuggets and by those that both have, (runs, topics, MEASURES), NaN where a score doesn't count.
    places: of each topic, by its id, the places of these in the former bank, from 0. incomplete: answers that lack a
    label and so count nowhere.
    """

    condition: Condition
    runs: list[RunName]
    topics: list[str]
    every: Figures
    kept: Figures
    places: dict[str, list[int]]
    incomplete: int

    @property
    def rows(self) -> list[tuple[RunName, list[tuple[float, float]]]]:
        """The runs, each with its means by all nuggets and by those kept, for each measure; best first."""
        means = np.stack([mean(self.every, axis=1), mean(self.kept, axis=1)], axis=-1)
        order = sorted(range(len(self.runs)), key=lambda at: (-np.nan_to_num(means[at, 0, 1]), self.runs[at].tag))
        return [(self.runs[at], [(float(every), float(kept)) for every, kept in means[at]]) for at in order]

    @property
    def means(self) -> list[tuple[float, float]]:
        """The means of the runs' means, for each measure."""
        both = (mean(mean(cells, axis=1), axis=0) for cells in (self.every, self.kept))
        return [(float(every), float(kept)) for every, kept in zip(*both, strict=True)]


class Former(NamedTuple):
    """Scores of a former edition's runs, from a file of assignments; the arrays are as Edition has them.

    incomplete: answers that lack a label; elsewhere: lines of topics that were not inherited; control: the tags of
    control runs, which count nowhere.
    """

    file: str
    sha256: str
    runs: list[str]
    topics: list[str]
    every: Figures
    kept: Figures
    incomplete: int
    elsewhere: int
    control: list[str]


class FormerError(Exception):
    """A file of a former edition can't be read; the report says why."""

    def __init__(self, report: Report) -> None:
        super().__init__("; ".join(problem.told(report.file_name) for problem in report.errors[:3]))
        self.report = report


def edition_conditions(inherited: Condition) -> list[Condition]:
    """Return the conditions under which nuggets of an inherited bank are assigned to answers of runs, by name."""
    found = inherited.campaign.conditions.filter(nuggets=inherited, kind=ASSIGNMENT.name, sample="", of_passages=False)
    found = found.select_related(*Condition.TOLD_WITH, "campaign", "protocol").order_by("name")
    return [one for one in found if not is_soft(one)]


def edition_scores(condition: Condition) -> Edition:
    """Return the scores of a condition by all nuggets and by those that are inherited, reworded or not."""
    return kept_in_state(f"edition.{condition.pk}", state_of(condition), lambda: _edition_scores(condition))


def _edition_scores(condition: Condition) -> Edition:
    assert condition.nuggets is not None, "an inherited bank is labelled there"
    place_of = kept_nuggets(condition.nuggets)
    every, left_out = condition_scores(condition), left_out_nuggets(condition)

    def formula(given: TopicLabels) -> Figures:
        return answer_scores(given.codes, given.importance, given.words)

    kept, _ = load_scores(condition, NUGGET_SCORES, formula, only=place_of.keys())
    runs = [run for run in kept.runs if run.is_independent]
    row_of = {run.pk: at for at, run in enumerate(every.runs)}
    column_of = {topic.pk: at for at, topic in enumerate(every.topics)}
    in_every, columns = [row_of[run.pk] for run in runs], [column_of[topic.pk] for topic in kept.topics]
    own = [at for at, run in enumerate(kept.runs) if run.is_independent]
    by_all = counted_cells(every, Policy.ZERO)[np.ix_(in_every, columns, _AT)]
    by_kept = counted_cells(kept, Policy.ZERO)[np.ix_(own, range(len(kept.topics)), _AT)]
    by_kept[np.isnan(by_all)] = np.nan  # an answer counts by both or by neither
    return Edition(
        condition,
        runs,
        [topic.qid for topic in kept.topics],
        by_all,
        by_kept,
        {
            edition.bank.topic.qid: [
                place_of[one["id"]] - 1
                for one in edition.nuggets
                if one["id"] in place_of and one["id"] not in left_out
            ]
            for edition in scored_editions(condition)
        },
        int((every.states[np.ix_(in_every, columns)] == INCOMPLETE).sum()),
    )


def read_former(path: Path, file_name: str, edition: Edition) -> Former:
    """Read a former edition's assignments (JSONL), of the nuggets that were inherited. Raises FormerError.

    A run that has no line on a topic did not answer it and has 0. What is no label is a missing one.
    """
    nuggets = edition.condition.nuggets
    assert nuggets is not None
    drafted = without_practice(Drafting.objects.filter(condition=nuggets)).select_related("topic")
    draftings = {one.former_qid or one.topic.qid: one for one in drafted}
    report, source = Report(file_name), SourceFile(path)
    labels: dict[str, dict[str, list[int]]] = defaultdict(dict)  # by topic's id here and run
    elsewhere, control = 0, set()
    try:
        for sheet in read_sheets(source.lines(report), report, invalid_labels=Import.InvalidLabels.MISSING):
            if sheet.run_id.startswith((CONTROL_TAG, CANARY)):
                control.add(sheet.run_id)
                continue
            drafting = draftings.get(sheet.qid)
            if drafting is None:
                elsewhere += 1
                continue
            of_topic = labels[drafting.topic.qid]
            if sheet.run_id in of_topic:
                report.error(sheet.line.number, "run_id", sheet.run_id, f"one line of this run on {sheet.qid}")
            of_topic[sheet.run_id] = _codes(sheet, drafting, report)
    except Unreadable:
        pass  # the report says why
    if not report.error_count and not labels:
        expected = f"assignments of the nuggets that {nuggets} inherited, on the topics that they had there"
        report.error(0, "qid", f"{elsewhere:,} lines of other topics", expected)
    if report.error_count:
        raise FormerError(report)
    runs = sorted({run for of_topic in labels.values() for run in of_topic})
    topics = [qid for qid in edition.topics if qid in labels]
    banks = {one.topic.qid: one for one in draftings.values()}
    every, kept = (np.zeros((len(runs), len(topics), len(_AT))) for _ in range(2))
    incomplete = 0
    for at, qid in enumerate(topics):
        importance = [IMPORTANCE[one] for one in banks[qid].labels]
        codes = np.array([labels[qid].get(run, [0] * len(importance)) for run in runs], dtype=np.int8)
        every[:, at] = _scores(codes, importance, range(len(importance)))
        kept[:, at] = _scores(codes, importance, edition.places[qid])
        incomplete += int((codes == MISSING).any(axis=1).sum())
    return Former(file_name, source.sha256, runs, topics, every, kept, incomplete, elsewhere, sorted(control))


def _codes(sheet: SheetRecord, drafting: Drafting, report: Report) -> list[int]:
    """Return the labels of an answer in the order of the former bank, MISSING where it has none."""
    places: dict[str, list[int]] = defaultdict(list)
    for at, text in enumerate(drafting.nuggets):
        places[text].append(at)
    codes = [MISSING] * len(drafting.nuggets)
    for at, (nugget, label) in enumerate(zip(sheet.nuggets, sheet.labels, strict=True)):
        text = " ".join(nugget.text.split())
        if not places[text]:
            report.error(sheet.line.number, f"nuggets[{at}].text", text, f"a nugget of the former bank of {sheet.qid}")
            continue
        codes[places[text].pop(0)] = _CODES[label]
    return codes


def _scores(codes: Codes, importance: Sequence[int], places: Sequence[int] | range) -> Figures:
    """Return the scores of answers to a topic by some nuggets; NaN where one of all lacks a label."""
    some = answer_scores(codes[:, list(places)], [importance[at] for at in places])[:, _AT]
    some[(codes == MISSING).any(axis=1)] = np.nan
    return some


def linked(edition: Edition, former: Former) -> list[Link | None]:
    """Link both editions by each measure, over the topics that both have."""
    at = [edition.topics.index(qid) for qid in former.topics]
    return [
        link(edition.every[:, at, one], edition.kept[:, at, one], former.kept[:, :, one], former.every[:, :, one])
        for one in range(len(MEASURES))
    ]


def score_lines(inherited: Condition) -> Iterator[str]:
    """Yield the means of runs by all nuggets and by those that both editions have, of all conditions, as CSV."""
    rows = (
        (edition.condition.name, run.tag, measure.key, len(edition.topics), *map(_number, pair))
        for edition in map(edition_scores, edition_conditions(inherited))
        for run, means in edition.rows
        for measure, pair in zip(MEASURES, means, strict=True)
    )
    return write_table(COLUMNS, rows)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else round(value, DIGITS)


def linked_json(edition: Edition, former: Former) -> dict[str, Any]:
    """Return what linking both editions comes to, as JSON has it."""
    return {
        "condition": edition.condition.name,
        "identity": edition.condition.identity,
        "file": former.file,
        "sha256": former.sha256,
        "runs": {"now": len(edition.runs), "then": len(former.runs)},
        "incomplete": {"now": edition.incomplete, "then": former.incomplete},
        "measures": {
            measure.key: None
            if found is None
            else {
                "topics": found.topics,
                "all_now": round(found.now, DIGITS),
                "kept_now": round(found.kept_now, DIGITS),
                "kept_then": round(found.kept_then, DIGITS),
                "all_then": round(found.then, DIGITS),
                "change": round(found.change, DIGITS),
                "low": None if found.low is None else round(found.low, DIGITS),
                "high": None if found.high is None else round(found.high, DIGITS),
                "chained": round(found.chained, DIGITS),
            }
            for measure, found in zip(MEASURES, linked(edition, former), strict=True)
        },
    }
