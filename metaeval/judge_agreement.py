"""All judges of the same items: how far each two agree on labels and on the ranking of runs, in words and as files."""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from assessor.campaigns.models import Campaign, Condition, QrelsSource
from assessor.exportables import ChoiceError
from assessor.formats import latex
from assessor.formats.latex import as_latex
from assessor.formats.tables import write_table
from assessor.formats.values import to_json
from assessor.labels.label_kind import label_kind
from assessor.scores.cache import condition_scores, states_of, with_answers
from assessor.scores.label_table import ItemLabels, label_table
from assessor.scores.leaderboards import names_by_condition
from assessor.scores.score_source import scored_conditions
from metaeval.headline import Part
from metaeval.inputs import Restriction, grade_states, load_input, names_of, restrict
from metaeval.kept_results import KeptFigure, keep_figures, kept_in_states
from metaeval.label_report import labelled_by
from metaeval.measures import measure_named
from metaeval.queries import side_key
from metaeval.serializers import RATES, agreement_json, number, statistic_json
from metaeval.stats.agreement import Agreement, Counts, Level, Weights, count_labels, krippendorff_alphas
from metaeval.stats.judges import (
    RunScores,
    Two,
    mean_between,
    pairwise_agreement,
    pairwise_tau,
    stack_scores,
)
from metaeval.stats.levels import Levels
from metaeval.stats.means import Policy, counted
from metaeval.stats.statistic import Statistic, undefined

if TYPE_CHECKING:
    from metaeval.charts.figures import NamedFigure

Judge = Condition | QrelsSource
Json = dict[str, Any]
State = tuple[Any, ...]

MOST = 10  # judges, where nobody chose which
TAUS = ("run", "topic", "cell")
SORTS = (*TAUS, "kappa", "match")
# Alpha at this level and kappa with these weights take a disagreement alike.
LEVELS = {Weights.UNWEIGHTED: Level.NOMINAL, Weights.LINEAR: Level.ORDINAL, Weights.QUADRATIC: Level.INTERVAL}
_PASSAGES = "passages"
_NO_SCORES = "grades make no scores of runs"
_ALL_RELATIVE = "all scores depend on the runs that are compared"


class JudgeRow(NamedTuple):
    """A judge of the items. key: as addresses have it; by: "people", "model", "panel" or "unknown".

    counts: of its labels; by_rule: how many of these a rule gave.
    """

    key: str
    name: str
    by: str
    counts: Counts
    by_rule: int

    @property
    def labels(self) -> int:
        """How many labels it gave."""
        return int(self.counts.sum())

    @property
    def shares(self) -> list[tuple[int, float | None]]:
        """How often it gave each label, and what percent of its labels that is."""
        return [(count, 100 * count / self.labels if self.labels else None) for count in self.counts.tolist()]


class LabelAgreement(NamedTuple):
    """How far judges agree on labels. words: the labels, in ascending order where they have one.

    alphas: over all judges; items that two at least labelled.
    """

    words: list[str]
    judges: list[JudgeRow]
    agreements: dict[Two, Agreement]
    alphas: dict[Level, Statistic]


class JudgeAgreement(NamedTuple):
    """How far judges of the same items agree. reference: the place of the one that others are held against.

    measure: by its key, "" of grades and preferences, of which there are no taus; items: what is labelled, in the
    plural; states: as kept_in_states() takes them.
    """

    labels: LabelAgreement
    reference: int
    items: str
    is_graded: bool
    measure: str
    policy: Policy
    taus: dict[Two, Levels]
    states: Mapping[int, State]

    @property
    def judges(self) -> list[JudgeRow]:
        """The judges, people first."""
        return self.labels.judges

    @property
    def weights(self) -> list[Weights]:
        """The kappas that mean something: labels without an order have one."""
        return list(LEVELS) if self.is_graded else [Weights.UNWEIGHTED]

    @property
    def matched(self) -> dict[Two, Agreement]:
        """The agreement of those who labelled some of the same items."""
        return {two: found for two, found in self.labels.agreements.items() if found.matrix.any()}

    def by(self, whose: str) -> list[int]:
        """Return the places of the judges that are people, models or unknown."""
        return [at for at, judge in enumerate(self.judges) if judge.by == whose]

    def kappas(self, weights: Weights) -> dict[Two, Statistic]:
        """Return kappa of each two judges."""
        return {two: getattr(found, weights) for two, found in self.labels.agreements.items()}

    def tau(self, two: Two, level: str) -> Statistic:
        """Return tau of two judges at one of TAUS."""
        found: Statistic = getattr(self.taus[two], level) if self.taus else undefined(0, self._no_taus)
        return found

    @property
    def of(self) -> str:
        """Whether it is of "grades" or of "labels", whose keys are not each other's."""
        return "grades" if self.items == _PASSAGES else "labels"

    @property
    def _no_taus(self) -> str:
        return _NO_SCORES if self.of == "grades" else _ALL_RELATIVE


class Candidate(NamedTuple):
    """A judge held against the reference: tau at each level, kappa and the share of equal labels."""

    judge: JudgeRow
    figures: dict[str, Statistic]  # by SORTS


class JudgeGroup(NamedTuple):
    """Judges of the same items. first: one of them, of people where there are some; size: how many there are."""

    title: str
    first: Judge
    size: int

    @property
    def are_grades(self) -> bool:
        """Whether they are sources of grades."""
        return isinstance(self.first, QrelsSource)


def fellow_judges(record: Judge) -> list[Judge]:
    """Return all whose labels are of the same items as a record's, itself too: people first, each by name.

    Those of conditions that have nothing to label are left out; sources of grades are on the same scale.
    """
    found: list[Judge]
    if isinstance(record, QrelsSource):
        sources = record.campaign.qrels_sources.filter(max_grade=record.max_grade)
        found = list(sources.select_related("condition__judge"))
    else:
        same = {name: getattr(record, name) for name in ("kind", "nuggets_id", "of_passages")}
        conditions = list(scored_conditions(record.campaign).filter(**same))
        known = with_answers(conditions)
        found = [one for one in conditions if one.pk in known or one == record]
    return sorted(found, key=_place)


def judge_groups(campaign: Campaign) -> list[JudgeGroup]:
    """Return the conditions and the sources of grades of a campaign that label the same, where there are several."""
    conditions = list(scored_conditions(campaign).order_by("kind", "name"))
    known = with_answers(conditions)
    groups: dict[str, list[Judge]] = {}
    for one in conditions:
        if one.pk in known:
            of = f" of {one.nuggets}" if one.nuggets else ""
            passages = " (passages)" if one.of_passages else ""
            groups.setdefault(f"{label_kind(one.kind).title}{of}{passages}", []).append(one)
    for source in campaign.qrels_sources.select_related("condition__judge").order_by("name"):
        groups.setdefault(f"Grades of passages, 0 to {source.max_grade}", []).append(source)
    return [JudgeGroup(title, min(group, key=_place), len(group)) for title, group in groups.items() if len(group) > 1]


def _place(judge: Judge) -> tuple[bool, str]:
    """Return by what judges are in order: people first, each by name."""
    return labelled_by(judge) != "people", judge.name


def choose_judges(record: Judge, names: str = "") -> list[Judge]:
    """Return the record and the chosen ones of those that label the same, in their order. Raises ChoiceError.

    names: with commas between them, in quotation marks where they have commas; "" for the first MOST.
    """
    return choose_among(fellow_judges(record), record, names)


def choose_among(there: list[Judge], record: Judge, names: str) -> list[Judge]:
    """Do the same where fellow_judges() were asked for. Raises ChoiceError."""
    if not names:
        first = there[:MOST]
        return first if record in first else [*first[:-1], record]
    try:
        wanted = set(next(csv.reader([names], skipinitialspace=True)))
    except csv.Error as error:
        raise ChoiceError(f"The judges' names can't be read: {error}.") from error
    if unknown := sorted(wanted - {one.name for one in there}):
        known = ", ".join(one.name for one in there)
        raise ChoiceError(f"These label something else, or are unknown: {', '.join(unknown)}. There are: {known}.")
    return [one for one in there if one.name in wanted or one == record]


def in_csv(names: Sequence[str]) -> str:
    """Return names as choose_judges() reads them."""
    text = StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue()


def judge_agreement(record: Judge, judges: Sequence[Judge], policy: Policy, measure: str = "") -> JudgeAgreement:
    """Return how far judges, the record among them, agree; kept until the labels of one change.

    policy, measure: of the scores by which runs are ranked; grades have none.
    """
    are_grades = isinstance(record, QrelsSource)
    states = grade_states(judges) if are_grades else states_of(judges)  # type: ignore[arg-type]  # all are of one kind
    of = "grades" if are_grades else "labels"
    names = _names(judges)  # which can change alone
    named = {one.pk: (names[one.pk], states[one.pk]) for one in judges}
    labels = kept_in_states(named, f"judges.{of}", lambda: _labels(record, judges))
    taus: dict[Two, Levels] = {}
    if measure:
        taus = kept_in_states(
            named,
            f"judges.{policy}.{measure}",
            lambda: pairwise_tau(stack_scores([_scores(one, states[one.pk], policy, measure) for one in judges])),
        )
    kind = None if isinstance(record, QrelsSource) else label_kind(record.kind)
    return JudgeAgreement(
        labels,
        list(judges).index(record),
        kind.items if kind else _PASSAGES,
        kind.is_graded if kind else True,
        measure,
        policy,
        taus,
        named,
    )


def _labels(record: Judge, judges: Sequence[Judge]) -> LabelAgreement:
    """Compare labels, as comparisons do: without those of control runs and of circular ones."""
    names, everything = names_of(record.campaign), Restriction((), (), None)
    loaded, given = [], []  # of the labels only what the table takes: there are a million of a track
    for one in judges:
        data, _ = restrict(load_input(one, Policy.ZERO, names), everything, names)
        assert data.labels is not None, "conditions and sources have labels"
        loaded.append((data.name, data.words, int(data.labels.by_rule.sum())))
        given.append(ItemLabels(data.labels.owner, data.labels.item, data.labels.code))
    words = max((of_judge for _, of_judge, _ in loaded), key=len)
    rows = [
        JudgeRow(side_key(one), name, labelled_by(one), count_labels(labels.code, len(words)), by_rule)
        for one, (name, _, by_rule), labels in zip(judges, loaded, given, strict=True)
    ]
    table = label_table(given)
    levels = list(Level) if isinstance(record, QrelsSource) or label_kind(record.kind).is_graded else [Level.NOMINAL]
    agreements = pairwise_agreement(table, len(words))
    are_judges = [row.by != "panel" for row in rows]  # a panel says again what its members said
    alphas = krippendorff_alphas(table[are_judges], len(words), levels)
    return LabelAgreement(list(words), rows, agreements, alphas)


def _names(judges: Sequence[Judge]) -> dict[int, str]:
    """Return what results call judges, by key: a source of grades that come from a condition is called by its name."""
    conditions = {one.pk: one if isinstance(one, Condition) else one.condition for one in judges}
    names = names_by_condition([condition for condition in conditions.values() if condition])
    return {one.pk: names[of.pk] if (of := conditions[one.pk]) else one.name for one in judges}


def _scores(judge: Judge, state: State, policy: Policy, measure: str) -> RunScores:
    assert isinstance(judge, Condition), "grades make no scores of runs"
    found = condition_scores(judge, state)
    is_kept = np.array([run.is_independent for run in found.runs], dtype=bool)
    at = found.measures.keys.index(measure)
    cells = counted(found.scores[is_kept][..., [at]], found.states[is_kept], policy)[..., 0]
    runs = [run.tag for run in found.runs if run.is_independent]
    return RunScores(runs, [topic.qid for topic in found.topics], cells)


def candidates(found: JudgeAgreement, weights: Weights, by: str = "") -> list[Candidate]:
    """Return the other judges, held against the reference: the highest of a figure first, by one of SORTS.

    By default by tau of runs, or kappa where there are no scores. Of equal ones, by the next of SORTS.
    """
    rows = []
    for at, judge in enumerate(found.judges):
        if at != found.reference:
            two = (min(at, found.reference), max(at, found.reference))
            taus = {level: found.tau(two, level) for level in TAUS}
            agreement = found.labels.agreements[two]
            rows.append(Candidate(judge, {**taus, "kappa": getattr(agreement, weights), "match": agreement.match}))

    def place(row: Candidate) -> list[float]:
        values = [row.figures[name].value for name in (by, *SORTS) if name]
        return [-2.0 if value is None else value for value in values]

    return sorted(rows, key=place, reverse=True)


def sentence(found: JudgeAgreement, weights: Weights) -> list[Part]:
    """Return what came of it, in parts of sentences: every word follows from the figures."""
    if len(found.judges) < 2:
        return [Part("Nobody else labelled the same: agreement takes two judges.")]
    kappas, pairs, judges = found.kappas(weights), len(found.labels.agreements), len(found.judges)
    panels = set(found.by("panel"))
    if panels and judges - len(panels) >= 2:  # what a panel says agrees with its members
        kappas = {two: value for two, value in kappas.items() if not panels & set(two)}
        pairs, judges = len(kappas), judges - len(panels)
    else:
        panels = set()
    matched = [two for two in found.matched if not panels & set(two)]
    if not matched:
        return [Part(f"No two of {judges} judges labelled the same {found.items}.")]
    who = "Both judges" if judges == 2 else f"Each two of {judges} judges"
    if len(matched) < pairs:
        who = f"{len(matched)} of {pairs} pairs of judges labelled the same {found.items}. They"
    parts = [Part(f"{who} agree on labels with "), *_span("κ", list(kappas.values()))]
    alpha = found.labels.alphas[LEVELS[weights]]
    if alpha.value is not None and judges > 2:
        parts += [Part("; all together with "), Part(f"\N{GREEK SMALL LETTER ALPHA} {alpha.value:.2f}", True)]
    parts.append(Part("."))
    taus = [levels.run for two, levels in found.taus.items() if not panels & set(two)]
    if any(tau.value is not None for tau in taus):
        parts += [Part(" They rank runs with "), *_span("τ", taus), Part(".")]
    return parts + _of_models(found, kappas)


def _span(sign: str, values: Sequence[Statistic]) -> list[Part]:
    """Return from where to where a figure goes, of what is defined."""
    defined = [f"{one.value:.2f}" for one in sorted(values, key=lambda one: one.value or 0) if one.value is not None]
    if not defined:
        return [Part(f"{sign} undefined")]
    if defined[0] == defined[-1]:
        return [Part(f"{sign} {defined[0]}", True)]
    return [Part(f"{sign} {defined[0]}", True), Part(" to "), Part(defined[-1], True)]


def _of_models(found: JudgeAgreement, kappas: Mapping[Two, Statistic]) -> list[Part]:
    """Say how far several models agree with each other, and with people where there are some."""
    models, people = found.by("model"), found.by("people")
    among, with_people = mean_between(kappas, models, models), mean_between(kappas, models, people)
    if among.value is None:
        return []
    no_evidence = "Agreement among models is no evidence of correctness."
    if with_people.value is None:
        return [Part(f" No people labelled these {found.items}. {no_evidence}")]
    one, other = f"{among.value:.2f}", f"{with_people.value:.2f}"
    if one == other:
        return [
            Part(" Models agree with each other as much as with people: mean "),
            *(Part(f"κ {one}", True), Part(f". {no_evidence}")),
        ]
    first, second = ("each other", "people") if float(one) > float(other) else ("people", "each other")
    more, less = max(one, other, key=float), min(one, other, key=float)
    parts = [Part(f" Models agree more with {first} than with {second}: mean "), Part(f"κ {more}", True)]
    return [*parts, Part(" against "), Part(less, True), Part(f". {no_evidence}" if first == "each other" else ".")]


def judge_figures(found: JudgeAgreement, weights: Weights) -> list[KeptFigure]:
    """Return the matrix of kappa and the shares of labels, kept as long as the labels."""
    name = f"judges.{found.of}.{weights}"
    return kept_in_states(found.states, name, lambda: keep_figures(_figures(found, weights)))


def _figures(found: JudgeAgreement, weights: Weights) -> "list[NamedFigure]":
    from metaeval.charts.figures import NamedFigure, distribution_figure, kappa_figure

    names = [judge.name for judge in found.judges]
    counts = np.stack([judge.counts for judge in found.judges])
    kappas = {two: kappa for two, kappa in found.kappas(weights).items() if two in found.matched}
    return [
        NamedFigure("kappa", "Agreement of each two judges", kappa_figure(names, kappas, weights=weights)),
        NamedFigure("shares", "Shares of labels", distribution_figure(names, found.labels.words, counts)),
    ]


def pair_lines(found: JudgeAgreement) -> Iterator[str]:
    """Yield a row for each two judges as CSV: rates, kappas, and tau at its three levels, each with its n."""
    columns = ("first", "first_by", "second", "second_by", "labels", *RATES, "measure", "policy")
    levels = [name for level in TAUS for name in (f"tau_{level}", f"n_{level}")]
    return write_table((*columns, *levels, "why"), (_pair_row(found, two) for two in found.labels.agreements))


def _pair_row(found: JudgeAgreement, two: Two) -> Sequence[object]:
    one, other = (found.judges[at] for at in two)
    agreement = found.labels.agreements[two]
    rates = [getattr(agreement, name) for name in RATES]
    taus = [found.tau(two, level) for level in TAUS]
    why = "; ".join(dict.fromkeys(value.why for value in (*rates, *taus) if value.why))
    figures = (cell for value in taus for cell in (number(value.value), value.n))
    policy = found.policy if found.measure else ""
    return (
        *(one.name, one.by, other.name, other.by, agreement.match.n),
        *(number(value.value) for value in rates),
        *(found.measure, policy, *figures, why),
    )


def label_lines(found: JudgeAgreement) -> Iterator[str]:
    """Yield how often each judge gave each label, as CSV."""
    rows = (
        (judge.name, judge.by, word, count, None if percent is None else number(percent / 100))
        for judge in found.judges
        for word, (count, percent) in zip(found.labels.words, judge.shares, strict=True)
    )
    return write_table(("judge", "by", "label", "count", "share"), rows)


def latex_lines(found: JudgeAgreement) -> Iterator[str]:
    """Yield all judges against the reference as a table for a paper (booktabs), the highest tau of runs first."""
    of_taus = "Kendall's $\\tau$ (b) of runs, within topics (mean) and of cells"
    by = f"{of_taus} by {measure_named(found.measure).latex}, and " if found.measure else ""
    heads = ("Runs", "Topics", "Cells", "$\\kappa$", "Equal")
    at = range(len(SORTS)) if found.measure else range(len(TAUS), len(SORTS))
    rows = (
        latex.row((as_latex(row.judge.name), *(_printed(row.figures[SORTS[place]]) for place in at)))
        for row in candidates(found, Weights.UNWEIGHTED)
    )
    reference = as_latex(found.judges[found.reference].name)
    return latex.table(
        f"Judges against {reference}: {by}Cohen's $\\kappa$ and share of equal labels",
        f"l{'r' * len(at)}",
        ("Judge", *(heads[place] for place in at)),
        rows,
    )


def _printed(value: Statistic) -> str:
    return "--" if value.value is None else f"{value.value:.3f}"


def as_json(found: JudgeAgreement) -> Json:
    """Return all of it as JSON has it."""
    return {
        "reference": found.judges[found.reference].name,
        "measure": found.measure or None,
        "policy": found.policy if found.measure else None,
        "labels": found.labels.words,
        "judges": [
            {"name": judge.name, "by": judge.by, "by_rule": judge.by_rule, "given": judge.counts.tolist()}
            for judge in found.judges
        ],
        "alpha": {level: statistic_json(value) for level, value in found.labels.alphas.items()},
        "pairs": [
            {
                "first": found.judges[two[0]].name,
                "second": found.judges[two[1]].name,
                **agreement_json(agreement),
                **({f"tau_{level}": statistic_json(found.tau(two, level)) for level in TAUS} if found.taus else {}),
            }
            for two, agreement in found.labels.agreements.items()
        ],
    }


TABLES: dict[str, Callable[[JudgeAgreement], Iterator[str]]] = {
    "pairs.csv": pair_lines,
    "labels.csv": label_lines,
    "reference.tex": latex_lines,
    "json": lambda found: iter([to_json(as_json(found)) + "\n"]),
}
