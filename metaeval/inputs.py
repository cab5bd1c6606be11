"""The inputs of a comparison as arrays: conditions, sources of grades, score tables."""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from django.db.models import Count, Max

from assessor.campaigns.condition_kind import CIRCULAR
from assessor.campaigns.models import Campaign, Condition, Grade, QrelsSource, RunAlias
from assessor.campaigns.queries import without_practice
from assessor.formats.lines import Line
from assessor.formats.report import Report
from assessor.labels.label_kind import label_kind
from assessor.scores.cache import condition_scores, last_imports, scores_with_labels, state_of, states_of
from assessor.scores.leaderboards import name_of
from assessor.scores.loading import Labels, Scores, run_set, systems
from assessor.scores.score_source import scoring_of
from assessor.scores.tables import systems_in
from metaeval.formats.score_tables import read_score_table
from metaeval.label_pairs import restrict_labels
from metaeval.measures import F1
from metaeval.models import Comparable, ScoreTable
from metaeval.stats.formulas import f1
from metaeval.stats.levels import run_means
from metaeval.stats.means import Policy, counted
from metaeval.stats.measures import COVERAGE, PRECISION
from metaeval.stats.score_matrix import CONTROL, MatchedScores, ScoreMatrix, match

GRADES = "grades"  # the basis of all sources of grades
_AT_A_TIME = 20_000
_UNASKED = "not among those asked for"
_CIRCULAR = "circular: made from what scores it, or by who does"


class NothingToCompare(Exception):
    """There is nothing to compare; the text says why."""


class Names(NamedTuple):
    """What a campaign's runs and topics are called, by key; tasks: of runs, by tag."""

    runs: dict[int, str]
    tasks: dict[str, str]
    topics: dict[int, str]
    titles: dict[str, str]


class Input(NamedTuple):
    """A reference or a candidate. scores: None of grades; labels: None of a table; words: labels in ascending order.

    The labels of the pool's passages are no system's, so there are no scores of these either. circular: the runs that
    its scores say nothing of, as they were made from what gives these, by tag.

    basis: labels are of the same things where it is equal. state: what names it and its state, for the result.
    """

    name: str
    record: Comparable
    scores: ScoreMatrix | None
    labels: Labels | None
    words: Sequence[str]
    basis: str
    state: dict[str, Any]
    circular: Collection[str] = ()


class Restriction(NamedTuple):
    """What of both inputs is compared; an empty list of tasks or runs, and no list of topics, is all.

    has_circular: circular runs are compared too.
    """

    tasks: Sequence[str]
    runs: Sequence[str]
    topics: Collection[str] | None
    has_circular: bool = False


class Gap(NamedTuple):
    """What was left out of an input, by name, and why. side: which one's name, as results call it."""

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


def load_input(record: Comparable, policy: Policy, names: Names, support: Condition | None = None) -> Input:
    """Read an input; support: whose weighted precision makes F1 with its nugget coverage."""
    if isinstance(record, Condition):
        return _condition(record, policy, support)
    if isinstance(record, QrelsSource):
        return _source(record)
    return _table(record, policy, names)


def state(record: Comparable) -> Any:
    """Name the state of all that an input depends on: while it is the same, so is the input."""
    if isinstance(record, Condition):
        return repr(state_of(record))
    if isinstance(record, QrelsSource):
        return repr(grade_states([record])[record.pk])
    # Under which names its runs are known comes with imports.
    return repr((record.sha256, last_imports(record.campaign)))


def states(records: Iterable[Comparable]) -> dict[Comparable, Any]:
    """Return the states of inputs of one campaign, those of all conditions in as many queries as of one."""
    of_conditions = states_of([one for one in records if isinstance(one, Condition)])
    return {one: repr(of_conditions[one.pk]) if isinstance(one, Condition) else state(one) for one in records}


def grade_states(sources: Sequence[QrelsSource]) -> dict[int, tuple[Any, ...]]:
    """Name the state of all grades of sources, by key, in one query for all."""
    grades = without_practice(Grade.objects.filter(source__in=sources)).order_by().values_list("source")
    counts = {pk: told for pk, *told in grades.annotate(Count("pk"), Max("pk"))}
    return {one.pk: (*counts.get(one.pk, (0, None)), one.changed_at) for one in sources}


def _condition(condition: Condition, policy: Policy, support: Condition | None) -> Input:
    found_in = state_of(condition)
    described = {"identity": condition.identity, "state": repr(found_in)}
    found, labels = scores_with_labels(condition, found_in)
    basis, words = f"{condition.kind} {condition.nuggets_id or ''}", label_kind(condition.kind).labels
    has_none = found.scores.size and np.isnan(found.scores).all()  # such as of a part that is labelled again
    if has_none or (condition.of_passages and not systems(found.runs)):
        return Input(name_of(condition), condition, None, labels, words, basis, described)
    scores = score_matrix(name_of(condition), found, policy)
    if scores.relative:
        described |= {"run_set": scores.run_set}
    if support:
        scores = _with_f1(scores, score_matrix("", scoring_of(support.kind).load(support), policy))
        described |= {"support": support.identity, "support_state": state(support)}
    circular = {run.tag for run in found.runs if run.is_circular}
    return Input(scores.name, condition, scores, labels, words, basis, described, circular)


def score_matrix(name: str, found: Scores, policy: Policy) -> ScoreMatrix:
    """Return the scores of a condition, as far as they count under a policy, with the means of its runs."""
    cells = counted(found.scores, found.states, policy)
    return with_means(
        ScoreMatrix(
            name=name,
            runs=[run.tag for run in found.runs],
            tasks=[run.task for run in found.runs],
            topics=[topic.qid for topic in found.topics],
            measures=list(found.measures.keys),
            cells=cells,
            means=np.empty(0),
            relative=[measure.key for measure in found.measures.all if measure.is_relative],
            run_set=run_set(found.runs),
        )
    )


def systems_matrix(condition: Condition, policy: Policy) -> ScoreMatrix:
    """Return the scores of a condition as score_matrix() does, of systems' runs alone: no control runs."""
    return runs_matrix(condition, policy, systems_in(condition_scores(condition)))


def runs_matrix(condition: Condition, policy: Policy, is_kept: npt.NDArray[np.bool_]) -> ScoreMatrix:
    """Return the scores of a condition as score_matrix() does, of some of its runs. is_kept: of each, whether it is."""
    matrix = score_matrix(name_of(condition), condition_scores(condition), policy)
    at = np.flatnonzero(is_kept).tolist()
    return matrix._replace(
        runs=[matrix.runs[one] for one in at],
        tasks=[matrix.tasks[one] for one in at],
        cells=matrix.cells[at],
        means=matrix.means[at],
    )


def with_means(scores: ScoreMatrix) -> ScoreMatrix:
    """Return scores with the means of their cells over all topics."""
    once = np.ones((1, len(scores.topics)))
    means = [run_means(scores.cells[..., at], once)[0] for at in range(len(scores.measures))]
    return scores._replace(means=np.stack(means, axis=1))


def _with_f1(nuggets: ScoreMatrix, support: ScoreMatrix) -> ScoreMatrix:
    """Add the F1 of an answer's weighted precision and its nugget coverage, where it has both."""
    both = match(support, nuggets).reference
    there, here = (
        np.ix_([matrix.runs.index(run) for run in both.runs], [matrix.topics.index(topic) for topic in both.topics])
        for matrix in (support, nuggets)
    )
    precision = support.cells[..., support.measures.index(PRECISION)]
    covered = nuggets.cells[..., nuggets.measures.index(COVERAGE)]
    cells = np.full(covered.shape, np.nan)
    cells[here] = f1(precision[there], covered[here])
    measures = [*nuggets.measures, F1]
    return with_means(nuggets._replace(measures=measures, cells=np.dstack([nuggets.cells, cells])))


def _source(source: QrelsSource) -> Input:
    described = {"identity": f"grades of {source.name}, by {source.get_by_display()}", "state": state(source)}
    labels, words = load_grades(source)
    name = name_of(source.condition) if source.condition else source.name
    return Input(name, source, None, labels, words, GRADES, described)


def load_grades(source: QrelsSource) -> tuple[Labels, list[str]]:
    """Return the grades of a source as labels, whose items are docids, and what its scale has, in ascending order."""
    of_study = without_practice(Grade.objects.filter(source=source))
    grades = of_study.order_by().values_list("topic", "docid", "grade")
    rows = list(grades.iterator(_AT_A_TIME))
    topic, code = (np.array([row[at] for row in rows], dtype=np.int64) for at in (0, 2))
    docids = np.array([row[1] for row in rows], dtype=object)
    none = np.zeros(len(rows), dtype=np.int64)
    most = max([source.max_grade, *code.tolist()])  # archives from before there were scales have a 4 too
    words = [str(grade) for grade in range(most + 1)]
    return Labels(topic, none, topic, docids, code.astype(np.int8), none.astype(bool)), words


def _table(table: ScoreTable, policy: Policy, names: Names) -> Input:
    described = {"identity": f"score table {table.file_name}", "state": state(table)}
    scores = read_table(table, policy)
    known = resolve_aliases(table.campaign, scores.runs)
    if twice := sorted(run for run, count in Counter(known).items() if count > 1):
        # Aliases may have come after the table.
        raise NothingToCompare(f"{table.name} has several names of one run: {', '.join(twice)}.")
    tasks = [task or names.tasks.get(run, "") for run, task in zip(known, scores.tasks, strict=True)]
    return Input(table.name, table, scores._replace(runs=known, tasks=tasks), None, (), "", described)


def read_table(table: ScoreTable, policy: Policy) -> ScoreMatrix:
    """Read a stored table, which was right when it was stored."""
    report = Report(table.file_name)
    lines = (Line(number, text) for number, text in enumerate(table.content.split("\n"), start=1) if text)
    return read_score_table(lines, report, name=table.name, run=table.run, policy=policy)


def resolve_aliases(campaign: Campaign, runs: Sequence[str]) -> list[str]:
    """Return the tags of runs that a file may call by an alias; what is no run here keeps its name."""
    tags = set(campaign.runs.values_list("tag", flat=True))
    aliases = dict(RunAlias.objects.filter(campaign=campaign).values_list("name", "run__tag"))
    return [run if run in tags else aliases.get(run, run) for run in runs]


def restrict(data: Input, restriction: Restriction, names: Names) -> tuple[Input, list[Gap]]:
    """Return what of an input is asked for, without control runs, and what that leaves out."""
    topics = {pk for pk, qid in names.topics.items() if restriction.topics is None or qid in restriction.topics}
    gaps: list[Gap] = []
    scores, labels, runs = data.scores, data.labels, None
    if scores:
        scores, gaps = _restrict_scores(data.name, scores, data.circular, restriction)
        tags = set(scores.runs)
        runs = [pk for pk, tag in names.runs.items() if tag in tags]
    elif labels is not None and restriction.topics is not None:
        labelled = {names.topics[pk] for pk in np.unique(labels.topic).tolist()}
        if others := sorted(labelled - set(restriction.topics)):
            gaps = [Gap("topics", data.name, _UNASKED, others)]
    if labels is not None:
        labels = restrict_labels(labels, runs, sorted(topics))
    return data._replace(scores=scores, labels=labels), gaps


def _restrict_scores(
    name: str, scores: ScoreMatrix, circular: Collection[str], restriction: Restriction
) -> tuple[ScoreMatrix, list[Gap]]:
    if restriction.topics is not None and not scores.topics:
        raise NothingToCompare(f"{name} has no scores by topic: it can't be restricted to some topics.")
    why_not = {}
    for run, task in zip(scores.runs, scores.tasks, strict=True):
        if task == CONTROL:
            why_not[run] = "a control run, no system's"
        elif run in circular and not restriction.has_circular:
            why_not[run] = _CIRCULAR
        elif restriction.tasks and task not in restriction.tasks:
            why_not[run] = "of another task"
        elif restriction.runs and run not in restriction.runs:
            why_not[run] = _UNASKED
    gaps = [
        Gap("runs", name, reason, sorted(run for run, why in why_not.items() if why == reason))
        for reason in sorted(set(why_not.values()))
    ]
    rows = [at for at, run in enumerate(scores.runs) if run not in why_not]
    wanted = [qid for qid in scores.topics if restriction.topics is None or qid in restriction.topics]
    if scores.topics and not wanted:
        raise NothingToCompare(f"{name} has none of the topics that are asked for.")
    if others := sorted(set(scores.topics) - set(wanted)):
        gaps.append(Gap("topics", name, _UNASKED, others))
    columns = [scores.topics.index(qid) for qid in wanted]
    part = scores._replace(
        runs=[scores.runs[at] for at in rows],
        tasks=[scores.tasks[at] for at in rows],
        topics=wanted,
        cells=scores.cells[np.ix_(rows, columns)],
        means=scores.means[rows],
    )
    return (with_means(part) if others else part), gaps


def name_circular(inputs: Sequence[Input]) -> list[Input]:
    """Return inputs with the word behind the name of each run that is circular under any of them."""
    circular = {run for data in inputs for run in data.circular}

    def named(scores: ScoreMatrix) -> ScoreMatrix:
        return scores._replace(runs=[f"{run} ({CIRCULAR})" if run in circular else run for run in scores.runs])

    return [data._replace(scores=data.scores and named(data.scores)) for data in inputs]


def match_inputs(reference: ScoreMatrix, candidate: ScoreMatrix) -> tuple[MatchedScores, list[Gap]]:
    """Return the scores of both over what they have in common, and what each alone has. Raises NothingToCompare."""
    reference, candidate, gaps = without_relative(reference, candidate)
    scores, both = match(reference, candidate), (reference, candidate)
    names = f"{reference.name} and {candidate.name}"
    for what, common in (("run", scores.reference.runs), ("measure", scores.reference.measures)):
        if not common:
            raise NothingToCompare(f"{names} have no {what} in common.")
    if reference.topics and candidate.topics and not scores.reference.topics:
        raise NothingToCompare(f"{names} have no topic in common.")
    return scores, gaps + [
        Gap(what, one.name, f"not judged under {other.name}" if what != "measures" else f"not in {other.name}", alone)
        for what in ("runs", "topics", "measures")
        for one, other, alone in zip(both, reversed(both), getattr(scores.left_out, what), strict=True)
        if alone and (what != "topics" or scores.reference.topics)  # means alone are over whatever topics each has
    ]


def without_relative(reference: ScoreMatrix, candidate: ScoreMatrix) -> tuple[ScoreMatrix, ScoreMatrix, list[Gap]]:
    """Return both without the measures that depend on the runs that are scored, where these are not the same."""
    relative = {*reference.relative, *candidate.relative}
    if not relative or reference.run_set == candidate.run_set:
        return reference, candidate, []
    kept, gaps = [], []
    for one in (reference, candidate):
        places = [at for at, measure in enumerate(one.measures) if measure not in relative]
        part = one._replace(
            measures=[one.measures[at] for at in places], cells=one.cells[..., places], means=one.means[:, places]
        )
        kept.append(part)
        if alone := sorted(relative & set(one.measures)):
            gaps.append(Gap("measures", one.name, f"over what run set {one.run_set or 'unknown'} reached", alone))
    return kept[0], kept[1], gaps


def fingerprint(data: Input) -> str:
    """Return the sha256 of all scores and labels of an input."""
    found = hashlib.sha256()
    if scores := data.scores:
        found.update(repr((scores.runs, scores.tasks, scores.topics, scores.measures)).encode())
        found.update(scores.cells.tobytes() + scores.means.tobytes())
    if (labels := data.labels) is not None:
        order = np.lexsort((labels.item, labels.owner))
        found.update(repr(labels.item[order].tolist()).encode() if labels.item.dtype == object else b"")
        for column in labels:
            found.update(column[order].tobytes() if column.dtype != object else b"")
    return found.hexdigest()
