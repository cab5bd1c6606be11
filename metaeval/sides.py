"""The two sides of a comparison as arrays: conditions, sources of grades, score tables."""

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from assessor.collection.formats.lines import Line
from assessor.collection.formats.report import Report
from assessor.collection.models import Campaign, Condition, Grade, QrelsSource, RunAlias
from assessor.collection.queries import without_practice
from assessor.labels.label_kind import label_kind
from assessor.scores.found import Labels, Scores
from assessor.scores.kept import last_imports, state_of
from assessor.scores.leaderboards import name_of
from assessor.scores.means import Policy, counted
from assessor.scores.scoring import scoring_of
from metaeval import models
from metaeval.formats.score_tables import read_score_table
from metaeval.formulas import f1
from metaeval.levels import run_means
from metaeval.measures import COVERAGE, F1, PRECISION
from metaeval.pairs import restricted
from metaeval.scored import CONTROL, Pair, Scored, match

GRADES = "grades"  # the basis of all sources of grades
_AT_A_TIME = 20_000
_UNASKED = "not among those asked for"


class Nothing(Exception):
    """There is nothing to compare; the text says why."""


class Names(NamedTuple):
    """What a campaign's runs and topics are called, by key; tasks: of runs, by tag."""

    runs: dict[int, str]
    tasks: dict[str, str]
    topics: dict[int, str]
    titles: dict[str, str]


class Side(NamedTuple):
    """What stands on a side. scored: none of grades; labels: none of a table; words: labels in ascending order.

    basis: labels are of the same things where it is equal. told: what names the side's state, for the result.
    """

    name: str
    record: models.Side
    scored: Scored | None
    labels: Labels | None
    words: Sequence[str]
    basis: str
    told: dict[str, Any]


class Restriction(NamedTuple):
    """What of both sides is compared; an empty list of tasks or runs, and no list of topics, is all."""

    tasks: Sequence[str]
    runs: Sequence[str]
    topics: Collection[str] | None


class Gap(NamedTuple):
    """What was left out of one side, by name, and why."""

    what: str  # "runs", "topics" or "measures"
    side: str
    reason: str
    names: list[str]


def names_of(campaign: Campaign) -> Names:
    """Return what a campaign's runs and topics are called."""
    runs = list(campaign.runs.values_list("pk", "tag", "task"))
    topics = list(campaign.topics.values_list("pk", "qid", "title"))
    return Names(
        {pk: tag for pk, tag, _ in runs},
        {tag: task for _, tag, task in runs},
        {pk: qid for pk, qid, _ in topics},
        {qid: title for _, qid, title in topics},
    )


def load_side(record: models.Side, policy: Policy, names: Names, support: Condition | None = None) -> Side:
    """Read a side; support: whose weighted precision makes F1 with its nugget coverage."""
    if isinstance(record, Condition):
        return _condition(record, policy, support)
    if isinstance(record, QrelsSource):
        return _source(record)
    return _table(record, policy, names)


def state(record: models.Side) -> Any:
    """Name the state of all that a side depends on: while it is the same, so is the side."""
    if isinstance(record, Condition):
        return repr(state_of(record))
    if isinstance(record, QrelsSource):
        grades = without_practice(Grade.objects.filter(source=record)).order_by("-pk").values_list("pk", flat=True)
        return repr((grades.count(), grades.first(), record.changed_at))
    # Under which names its runs are known comes with imports.
    return repr((record.sha256, last_imports(record.campaign)))


def _condition(condition: Condition, policy: Policy, support: Condition | None) -> Side:
    told = {"identity": condition.identity, "state": state(condition)}
    found, labels = scoring_of(condition.kind).load_with_labels(condition)
    scored = _scored(name_of(condition), found, policy)
    if support:
        scored = _with_f1(scored, _scored("", scoring_of(support.kind).load(support), policy))
        told |= {"support": support.identity, "support_state": state(support)}
    basis = f"{condition.kind} {condition.nuggets_id or ''}"
    return Side(scored.name, condition, scored, labels, label_kind(condition.kind).labels, basis, told)


def _scored(name: str, found: Scores, policy: Policy) -> Scored:
    cells = counted(found.scores, found.states, policy)
    return with_means(
        Scored(
            name=name,
            runs=[run.tag for run in found.runs],
            tasks=[run.task for run in found.runs],
            topics=[topic.qid for topic in found.topics],
            measures=list(found.measures.keys),
            cells=cells,
            means=np.empty(0),
        )
    )


def with_means(scored: Scored) -> Scored:
    """Return scores with the means of its cells over all of its topics."""
    once = np.ones((1, len(scored.topics)))
    means = [run_means(scored.cells[..., at], once)[0] for at in range(len(scored.measures))]
    return scored._replace(means=np.stack(means, axis=1))


def _with_f1(nuggets: Scored, support: Scored) -> Scored:
    """Add the F1 of an answer's weighted precision and its nugget coverage, where it has both."""
    both = match(support, nuggets).first
    there, here = (
        np.ix_([side.runs.index(run) for run in both.runs], [side.topics.index(topic) for topic in both.topics])
        for side in (support, nuggets)
    )
    precision = support.cells[..., support.measures.index(PRECISION)]
    covered = nuggets.cells[..., nuggets.measures.index(COVERAGE)]
    cells = np.full(covered.shape, np.nan)
    cells[here] = f1(precision[there], covered[here])
    measures = [*nuggets.measures, F1]
    return with_means(nuggets._replace(measures=measures, cells=np.dstack([nuggets.cells, cells])))


def _source(source: QrelsSource) -> Side:
    told = {"identity": f"grades of {source.name}, by {source.get_by_display()}", "state": state(source)}
    of_study = without_practice(Grade.objects.filter(source=source))
    grades = of_study.order_by().values_list("topic", "docid", "grade")
    rows = list(grades.iterator(_AT_A_TIME))
    topic, code = (np.array([row[at] for row in rows], dtype=np.int64) for at in (0, 2))
    docids = np.array([row[1] for row in rows], dtype=object)
    none = np.zeros(len(rows), dtype=np.int64)
    labels = Labels(topic, none, topic, docids, code.astype(np.int8), none.astype(bool))
    most = max([source.max_grade, *code.tolist()])  # archives from before there were scales have a 4 too
    words = [str(grade) for grade in range(most + 1)]
    condition = source.condition
    is_rehearsal = condition is not None and condition.is_rehearsed
    return Side(
        f"{source.name} (rehearsal)" if is_rehearsal else source.name, source, None, labels, words, GRADES, told
    )


def _table(table: models.ScoreTable, policy: Policy, names: Names) -> Side:
    told = {"identity": f"score table {table.file_name}", "state": state(table)}
    scored = read_table(table, policy)
    known = resolved(table.campaign, scored.runs)
    if twice := sorted(run for run, count in Counter(known).items() if count > 1):
        # Aliases may have come after the table.
        raise Nothing(f"{table.name} has several names of one run: {', '.join(twice)}.")
    tasks = [task or names.tasks.get(run, "") for run, task in zip(known, scored.tasks, strict=True)]
    return Side(table.name, table, scored._replace(runs=known, tasks=tasks), None, (), "", told)


def read_table(table: models.ScoreTable, policy: Policy) -> Scored:
    """Read a stored table, which was right when it was stored."""
    report = Report(table.file_name)
    lines = (Line(number, text) for number, text in enumerate(table.content.split("\n"), start=1) if text)
    return read_score_table(lines, report, name=table.name, run=table.run, policy=policy)


def resolved(campaign: Campaign, runs: Sequence[str]) -> list[str]:
    """Return the tags of runs that a file may call by an alias; what is no run here keeps its name."""
    tags = set(campaign.runs.values_list("tag", flat=True))
    aliases = dict(RunAlias.objects.filter(campaign=campaign).values_list("name", "run__tag"))
    return [run if run in tags else aliases.get(run, run) for run in runs]


def restrict(side: Side, restriction: Restriction, names: Names) -> tuple[Side, list[Gap]]:
    """Return what of a side is asked for, without control runs, and what that leaves out."""
    topics = {pk for pk, qid in names.topics.items() if restriction.topics is None or qid in restriction.topics}
    gaps: list[Gap] = []
    scored, labels, runs = side.scored, side.labels, None
    if scored:
        scored, gaps = _part(side.name, scored, restriction)
        kept = set(scored.runs)
        runs = [pk for pk, tag in names.runs.items() if tag in kept]
    elif labels is not None and restriction.topics is not None:
        given = {names.topics[pk] for pk in np.unique(labels.topic).tolist()}
        if others := sorted(given - set(restriction.topics)):
            gaps = [Gap("topics", side.name, _UNASKED, others)]
    if labels is not None:
        labels = restricted(labels, runs, sorted(topics))
    return side._replace(scored=scored, labels=labels), gaps


def _part(name: str, scored: Scored, restriction: Restriction) -> tuple[Scored, list[Gap]]:
    if restriction.topics is not None and not scored.topics:
        raise Nothing(f"{name} has no scores by topic: it can't be restricted to some topics.")
    why_not = {}
    for run, task in zip(scored.runs, scored.tasks, strict=True):
        if task == CONTROL:
            why_not[run] = "a control run, no system's"
        elif restriction.tasks and task not in restriction.tasks:
            why_not[run] = "of another task"
        elif restriction.runs and run not in restriction.runs:
            why_not[run] = _UNASKED
    gaps = [
        Gap("runs", name, reason, sorted(run for run, why in why_not.items() if why == reason))
        for reason in sorted(set(why_not.values()))
    ]
    rows = [at for at, run in enumerate(scored.runs) if run not in why_not]
    wanted = [qid for qid in scored.topics if restriction.topics is None or qid in restriction.topics]
    if scored.topics and not wanted:
        raise Nothing(f"{name} has none of the topics that are asked for.")
    if others := sorted(set(scored.topics) - set(wanted)):
        gaps.append(Gap("topics", name, _UNASKED, others))
    columns = [scored.topics.index(qid) for qid in wanted]
    part = scored._replace(
        runs=[scored.runs[at] for at in rows],
        tasks=[scored.tasks[at] for at in rows],
        topics=wanted,
        cells=scored.cells[np.ix_(rows, columns)],
        means=scored.means[rows],
    )
    return (with_means(part) if others else part), gaps


def matched(first: Scored, second: Scored) -> tuple[Pair, list[Gap]]:
    """Return both sides over what they have in common, and what each side alone has. Raises Nothing."""
    pair = match(first, second)
    for what, names in (("run", pair.first.runs), ("measure", pair.first.measures)):
        if not names:
            raise Nothing(f"{first.name} and {second.name} have no {what} in common.")
    if first.topics and second.topics and not pair.first.topics:
        raise Nothing(f"{first.name} and {second.name} have no topic in common.")
    gaps = [
        Gap(what, side.name, f"not judged under {other.name}" if what != "measures" else f"not in {other.name}", names)
        for what in ("runs", "topics", "measures")
        for side, other, names in zip((first, second), (second, first), getattr(pair.left_out, what), strict=True)
        if names and (what != "topics" or pair.first.topics)  # means alone are over whatever topics a side has
    ]
    return pair, gaps


def fingerprint(side: Side) -> str:
    """Return the sha256 of all scores and labels of a side."""
    found = hashlib.sha256()
    if side.scored:
        told = side.scored
        found.update(repr((told.runs, told.tasks, told.topics, told.measures)).encode())
        found.update(told.cells.tobytes() + told.means.tobytes())
    if side.labels is not None:
        labels = side.labels
        order = np.lexsort((labels.item, labels.owner))
        found.update(repr(labels.item[order].tolist()).encode() if labels.item.dtype == object else b"")
        for column in labels:
            found.update(column[order].tobytes() if column.dtype != object else b"")
    return found.hexdigest()
