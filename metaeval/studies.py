"""What came of a study: whose side others take where people and a model, or two people, differ."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from assessor.campaigns.models import Condition
from assessor.formats.tables import write_table
from assessor.formats.values import to_json
from assessor.labels.label_kind import LabelKind, label_kind
from assessor.studies.models import Coding, ErrorCode, SampledItem, Study
from assessor.studies.queries import codings_of, items_of, judges_of, judges_of_all
from assessor.studies.sampling import Sampling, Told, sampling_of
from metaeval.stats.agreement import Agreement, confusion_matrix, percent, rate_agreement
from metaeval.stats.statistic import Statistic

if TYPE_CHECKING:
    from metaeval.charts.figures import NamedFigure

_ITEMS_AT_ONCE = 2_000


class JudgeResult(NamedTuple):
    """What a judge of the sample said, beside those of the first and of the second condition."""

    condition: Condition
    labelled: int
    with_first: Agreement
    with_second: Agreement

    @property
    def sides(self) -> tuple[Agreement, Agreement]:
        """Both, for a table's columns."""
        return self.with_first, self.with_second


class Share(NamedTuple):
    """How often a judge gave a label, and what percent that is of all that they gave; None where they gave none."""

    given: int
    percent: float | None


class Distribution(NamedTuple):
    """What a judge gave on the sample, by label in ascending order; missing: items without a label."""

    name: str
    shares: list[Share]
    missing: int


class Result(NamedTuple):
    """All of a study that is counted.

    distributions: of both conditions, then of the judges. kappas: unweighted, of each two of these that labelled the
    same, by their places. codes: how many items have each code; uncoded: how many have none.
    """

    study: Study
    kind: LabelKind
    items: int
    judges: list[JudgeResult]
    distributions: list[Distribution]
    kappas: dict[tuple[int, int], Statistic]
    codes: list[tuple[ErrorCode, int]]
    uncoded: int


class Item(NamedTuple):
    """A drawn item with what it is about, what the judges of the sample said ("" where nothing), and its coding."""

    drawn: SampledItem
    told: Told
    labels: list[str]
    coding: Coding | None


def study_results(studies: Sequence[Study]) -> list[Result]:
    """Count what stands now of the samples of studies of a campaign."""
    drawn: dict[int, list[SampledItem]] = {study.pk: [] for study in studies}
    for one in SampledItem.objects.filter(study__in=drawn).order_by("pk"):
        drawn[one.study_id].append(one)
    judges = judges_of_all(studies)
    said: dict[int, Mapping[int, str]] = {}
    for kind in {study.kind for study in studies}:
        of_kind = [study.pk for study in studies if study.kind == kind]
        said |= _said(sampling_of(kind), {one.pk: drawn[study] for study in of_kind for one in judges[study]})
    codings = codings_of(SampledItem.objects.filter(study__in=drawn))
    codes = list(ErrorCode.objects.filter(campaign__in={study.campaign_id for study in studies}))
    return [_result(study, drawn[study.pk], judges[study.pk], said, codings, codes) for study in studies]


def _said(by: Sampling, drawn: Mapping[int, Sequence[SampledItem]]) -> dict[int, dict[int, str]]:
    """Return what judges, by their condition's key, say of their items, some thousand at a time."""
    found: dict[int, dict[int, str]] = {condition: {} for condition in drawn}
    for at in range(0, max(map(len, drawn.values()), default=0), _ITEMS_AT_ONCE):
        some = {condition: items[at : at + _ITEMS_AT_ONCE] for condition, items in drawn.items()}
        for condition, labels in by.labels_of(some).items():
            found[condition] |= labels
    return found


def _result(
    study: Study,
    drawn: Sequence[SampledItem],
    judges: Sequence[Condition],
    said: Mapping[int, Mapping[int, str]],
    codings: Mapping[int, Coding],
    codes: Sequence[ErrorCode],
) -> Result:
    kind = label_kind(study.kind)
    first, second = ([getattr(one, name) for one in drawn] for name in ("first_label", "second_label"))
    by_judge = [[said[condition.pk].get(one.pk, "") for one in drawn] for condition in judges]
    everybody = (first, second, *by_judge)
    named = [study.first.name, study.second.name, *(condition.name for condition in judges)]
    given = [codings[one.pk].codes for one in drawn if one.pk in codings]
    counts = Counter(code for of_item in given for code in of_item)
    return Result(
        study=study,
        kind=kind,
        items=len(drawn),
        judges=[
            JudgeResult(
                condition, len(said[condition.pk]), _agreement(kind, first, labels), _agreement(kind, second, labels)
            )
            for condition, labels in zip(judges, by_judge, strict=True)
        ],
        distributions=[_distribution(kind, name, labels) for name, labels in zip(named, everybody, strict=True)],
        kappas={
            (one, other): found.unweighted
            for one, other in combinations(range(len(everybody)), 2)
            if (found := _agreement(kind, everybody[one], everybody[other])).matrix.any()
        },
        codes=[(code, counts[code.code]) for code in codes],
        uncoded=len(drawn) - sum(map(bool, given)),
    )


def study_result(study: Study) -> Result:
    """Count what stands now of a study's sample."""
    return study_results([study])[0]


def _agreement(kind: LabelKind, given: Sequence[str], labels: Sequence[str]) -> Agreement:
    """Compare the labels of two, where both gave one."""
    place = {label: at for at, label in enumerate(kind.labels)}
    pairs = [(place[one], place[other]) for one, other in zip(given, labels, strict=True) if one and other]
    rows, columns = [row for row, _ in pairs], [column for _, column in pairs]
    return rate_agreement(confusion_matrix(rows, columns, len(kind.labels)))


def _distribution(kind: LabelKind, name: str, labels: Sequence[str]) -> Distribution:
    counts = Counter(labels)
    given = [counts[label] for label in kind.labels]
    shares = percent(given) if sum(given) else [None] * len(given)
    return Distribution(name, [Share(*pair) for pair in zip(given, shares, strict=True)], counts[""])


def study_figures(result: Result) -> "list[NamedFigure]":
    """Return the figures of a study: how far each two of all judges agree, and what each of them gave."""
    from metaeval.charts.figures import NamedFigure, distribution_figure, kappa_figure

    names = [one.name for one in result.distributions]
    given = [[share.given for share in one.shares] for one in result.distributions]
    return [
        NamedFigure("kappa", "Agreement of each two judges", kappa_figure(names, result.kappas, weights="unweighted")),
        NamedFigure("labels", "Shares of labels", distribution_figure(names, result.kind.labels, given)),
    ]


def study_items(study: Study, drawn: Sequence[SampledItem], judges: Sequence[Condition]) -> list[Item]:
    """Return drawn items, each read with its answer, with all that was said of them, by these judges in their order."""
    by = sampling_of(study.kind)
    told, codings = by.told(drawn), codings_of(drawn)
    said = by.labels_of({condition.pk: drawn for condition in judges})
    return [
        Item(one, told[one.pk], [of_judge.get(one.pk, "") for of_judge in said.values()], codings.get(one.pk))
        for one in drawn
    ]


_RESULT = (
    *("study", "purpose", "first", "second", "judge", "drawn", "labelled"),
    *("match_first", "kappa_first", "kappa_first_linear", "match_second", "kappa_second", "kappa_second_linear"),
)


def result_lines(results: Sequence[Result]) -> Iterator[str]:
    """Yield a table (CSV) of how far each judge of each study agrees with both conditions; undefined is empty."""
    return write_table(_RESULT, (row for result in results for row in _result_rows(result)))


def _result_rows(result: Result) -> Iterator[list[object]]:
    study = result.study
    for judge in result.judges:
        figures = [value.value for found in judge.sides for value in (found.match, found.unweighted, found.linear)]
        who = [study.name, study.purpose, study.first.name, study.second.name, judge.condition.name]
        yield [*who, result.items, judge.labelled, *figures]


def distribution_lines(result: Result) -> Iterator[str]:
    """Yield a table (CSV) of how often each judge of a study gave each label."""
    rows = (
        [result.study.name, one.name, label, share.given, share.percent]
        for one in result.distributions
        for label, share in zip((*result.kind.labels, ""), (*one.shares, Share(one.missing, None)), strict=True)
    )
    return write_table(("study", "judge", "label", "count", "percent"), rows)


def study_json(result: Result) -> str:
    """Return all of a study that is counted as JSON; what is undefined is null, beside the reason."""
    study = result.study
    told: dict[str, Any] = {
        "study": study.name,
        "purpose": study.purpose,
        "kind": study.kind,
        "first": study.first.identity,
        "second": study.second.identity,
        "seed": study.seed,
        "per_topic": study.per_topic,
        "drawn": result.items,
        "labels": list(result.kind.labels),
        "judges": [
            {
                "name": judge.condition.name,
                "condition": judge.condition.identity,
                "labelled": judge.labelled,
                "with_first": _agreement_json(judge.with_first),
                "with_second": _agreement_json(judge.with_second),
            }
            for judge in result.judges
        ],
        "distributions": {
            one.name: dict(zip(result.kind.labels, (share.given for share in one.shares), strict=True))
            | {"missing": one.missing}
            for one in result.distributions
        },
        "error_codes": {code.code: count for code, count in result.codes},
        "uncoded": result.uncoded,
    }
    return to_json(told)


def _agreement_json(found: Agreement) -> dict[str, Any]:
    def told(value: Statistic) -> dict[str, Any]:
        return {"value": value.value, "n": value.n} | ({"why": value.why} if value.why else {})

    return {
        "matrix": found.matrix.tolist(),
        "match": told(found.match),
        "kappa": told(found.unweighted),
        "kappa_linear": told(found.linear),
    }


_AT_A_TIME = 200


def item_lines(study: Study) -> Iterator[str]:
    """Yield a table (CSV) of a study's items with the labels of every judge, and why they differ."""
    judges = list(judges_of(study))
    by = [study.first.name, study.second.name, *(condition.name for condition in judges)]
    return write_table(("topic", "run", "place", "text", "docid", *by, "codes", "note"), _item_rows(study, judges))


def _item_rows(study: Study, judges: Sequence[Condition]) -> Iterator[list[object]]:
    keys = list(items_of(study).values_list("pk", flat=True))
    for at in range(0, len(keys), _AT_A_TIME):
        some = list(items_of(study).filter(pk__in=keys[at : at + _AT_A_TIME]))
        for one, told, labels, coding in study_items(study, some, judges):
            why = [" ".join(coding.codes), coding.note] if coding else ["", ""]
            what = [one.answer.topic.qid, one.answer.run.tag, told.place, told.text, told.docid]
            yield [*what, one.first_label, one.second_label, *labels, *why]
