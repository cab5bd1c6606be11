"""What labels that were judged again, blind, would change: scores before and after, side by side."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assessor.campaigns.models import Condition
from assessor.formats.tables import write_table
from assessor.labels.label_kind import label_kind
from assessor.scores.cache import condition_scores
from assessor.scores.leaderboards import shown
from assessor.scores.loading import RunName, Scores
from assessor.scores.score_source import scoring_of
from assessor.scores.tables import cell_figures, score_table
from assessor.studies.models import SampledItem, Study
from assessor.studies.queries import judges_of, topics_of
from assessor.studies.sampling import Key, sampling_of
from metaeval.kept_results import kept_result
from metaeval.stats.means import Policy
from metaeval.stats.measures import Measure

BEFORE, REVISED = "before", "revised after comparison"
_ALL = "all"  # in the place of a topic
_Named = tuple[int, str]  # an answer, and the stored name of one of its items


class Judged(NamedTuple):
    """How many labels were drawn, how many of them were judged again, and how many of these are others now."""

    drawn: int
    again: int
    changed: int


class Revision(NamedTuple):
    """What a judge makes of the first labels: of those on which both conditions differed, and were alike.

    scores: by the judge's labels in the place of the first ones.
    """

    judge: Condition
    differing: Judged
    alike: Judged
    scores: Scores


class RevisedRun(NamedTuple):
    """A run with its mean score before, and by each judge, with the change; NaN where undefined."""

    name: str
    before: float
    after: list[tuple[float, float]]


def revisions_of(study: Study) -> list[Revision]:
    """Return what each judge of a study of labels judged again makes of them, kept until any of these labels change.

    No label is changed: the first ones stand as they were given, and so do their scores.
    """
    judges = list(judges_of(study))

    def compute() -> list[Revision]:
        drawn = list(study.drawn.order_by("pk"))
        said = sampling_of(study.kind).labels_of({judge.pk: drawn for judge in judges})
        keys = _keys(study)
        return [_revision(study, drawn, keys, judge, said[judge.pk]) for judge in judges]

    return kept_result([study.first, *judges], f"revisions.{study.pk}", compute)


def _revision(
    study: Study, drawn: Sequence[SampledItem], keys: Mapping[_Named, Key], judge: Condition, labels: Mapping[int, str]
) -> Revision:
    given = {(one.answer_id, one.item): labels[one.pk] for one in drawn if one.pk in labels}
    revised = {keys[named]: label for named, label in given.items() if named in keys}
    scores = scoring_of(study.kind).load_revised(study.first, revised)
    assert scores is not None, "its labels can't be judged again"
    differing, alike = (
        [one for one in drawn if (one.first_label != one.second_label) == differ] for differ in (True, False)
    )
    return Revision(judge, _judged(differing, labels), _judged(alike, labels), scores)


def _keys(study: Study) -> dict[_Named, Key]:
    """Return what labels call the items now that stand under the first condition, by answer and stored name."""
    by = sampling_of(study.kind)
    standing = by.labels_on(study.first, list(topics_of(study)))
    return {(key[0], name): key for key, name in by.names(standing.keys()).items()}


def _judged(drawn: Sequence[SampledItem], labels: Mapping[int, str]) -> Judged:
    again = [one for one in drawn if one.pk in labels]
    return Judged(len(drawn), len(again), sum(labels[one.pk] != one.first_label for one in again))


def revised_runs(study: Study, revisions: Sequence[Revision], measure: Measure) -> list[RevisedRun]:
    """Return the systems' runs by their mean before, the highest first; what was not submitted counts 0."""
    before, *after = (_means(found, measure) for found in _tables(study, revisions))
    rows = [
        RevisedRun(run.tag, mean, [(means[run], means[run] - mean) for means in after]) for run, mean in before.items()
    ]
    return sorted(rows, key=lambda row: (row.before != row.before, -row.before, row.name.encode()))


def _tables(study: Study, revisions: Sequence[Revision]) -> list[Scores]:
    return [condition_scores(study.first), *(one.scores for one in revisions)]


def _means(found: Scores, measure: Measure) -> dict[RunName, float]:
    at = found.measures.keys.index(measure.key)
    return {row.run: row.figures[at] for row in score_table(found, Policy.ZERO).systems if row.run}


def sentence(study: Study, one: Revision) -> str:
    """Say what came of a judge's labels."""
    items = label_kind(study.kind).items
    if not one.differing.again and not one.alike.again:
        return f"{one.judge} has judged none of the {one.differing.drawn + one.alike.drawn} labels again yet."
    differing, alike = one.differing, one.alike
    left = differing.drawn + alike.drawn - differing.again - alike.again
    told = (
        f"{one.judge} gave another label to {differing.changed} of {differing.again} {items} on which both sides "
        f"differed, and to {alike.changed} of {alike.again} on which they agreed"
    )
    return f"{told}; {left} are still to be judged." if left else f"{told}."


def score_lines(study: Study) -> Iterator[str]:
    """Yield a table (CSV) of scores before and after, of each run by topic and over all of them.

    What was not submitted counts 0. The first column says which scores they are, and the second by whose labels.
    """
    revisions = revisions_of(study)
    judges = ["", *(one.judge.name for one in revisions)]
    keys = scoring_of(study.kind).measures.keys
    rows = (
        row
        for judge, found in zip(judges, _tables(study, revisions), strict=True)
        for row in _score_rows(REVISED if judge else BEFORE, judge, found)
    )
    return write_table(("scores", "judge", "run_id", "topic", *keys), rows)


def _score_rows(which: str, judge: str, found: Scores) -> Iterator[Sequence[object]]:
    places, figures = {run: at for at, run in enumerate(found.runs)}, cell_figures(found, Policy.ZERO)
    for row in score_table(found, Policy.ZERO).systems:
        assert row.run, "systems are runs"
        for topic, of_topic in zip(found.topics, figures[places[row.run]].tolist(), strict=True):
            yield which, judge, row.name, topic.qid, *map(shown, of_topic)
        yield which, judge, row.name, _ALL, *map(shown, row.figures)
