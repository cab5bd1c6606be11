"""All tables and figures for a paper in one zip."""

from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import chain
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.models import Campaign, Condition
from assessor.exportables import Chosen, Exportable, Purpose
from assessor.exports.manifests import as_text
from assessor.exports.models import Export
from assessor.exports.registry import EXPORTABLES
from assessor.exports.selection import choose
from assessor.exports.zip_exports import ZipExport, ask_for_zip
from assessor.exports.zips import MANIFEST, Part, bundle, file_name
from assessor.scores.cache import with_answers
from assessor.scores.score_source import scored_conditions, scoring_of
from assessor.work.exposure import take_file
from metaeval.charts.rendering import FORMS, Specification, Theme
from metaeval.condition_figures import condition_figures
from metaeval.joint import MATRICES, SCATTERS, joint_specification, measures_of, references
from metaeval.models import Figure
from metaeval.queries import newest_results
from metaeval.stats.means import Policy
from metaeval.studies import study_figures, study_results

KIND = "paper"
_UNKNOWN = 1 << 40  # bytes: a file's size is known only once it is written


class PaperBundle:
    """The bytes of the zip. records: the files in it. sign_of_life: is told how many are written."""

    def __init__(self, campaign: Campaign, sign_of_life: Callable[[int], None]) -> None:
        self._campaign, self._alive = campaign, sign_of_life
        self._used: set[str] = set()
        self._files: list[dict[str, Any]] = []
        self.records, self.manifest = 0, ""

    def __iter__(self) -> Iterator[bytes]:
        return bundle(self._parts())

    def _parts(self) -> Iterator[Part]:
        for kind, chosen in tables(self._campaign):
            lines = iter(kind.lines(chosen))
            if (first := next(lines, None)) is None:
                continue  # LaTeX of nothing
            name = file_name(kind.file_name(chosen.record, chosen), self._used)
            yield self._part(f"tables/{name}", (line.encode() for line in chain([first], lines)))
        for name, specification in figures(self._campaign):
            name = file_name(name, self._used)
            for form, (_, render) in FORMS.items():
                yield self._part(f"figures/{name}.{form}", iter([render(specification, Theme.LIGHT)]))
        self.manifest = as_text({"format": "assay-paper", "campaign": self._campaign.slug, "files": self._files})
        yield Part(MANIFEST, _UNKNOWN, [self.manifest.encode()])

    def _part(self, name: str, data: Iterator[bytes]) -> Part:
        return Part(name, _UNKNOWN, self._summed(name, data))

    def _summed(self, name: str, data: Iterator[bytes]) -> Iterator[bytes]:
        summed, size = sha256(), 0
        for piece in data:
            summed.update(piece)
            size += len(piece)
            yield piece
        self.records += 1
        self._files.append({"name": name, "bytes": size, "sha256": summed.hexdigest()})
        self._alive(self.records)


def tables(campaign: Campaign) -> Iterator[tuple[Exportable, Chosen]]:
    """Yield each table for a paper: every record in every form that is for one, but conditions without labels."""
    scored = scored_conditions(campaign)
    empty = {condition.pk for condition in scored} - with_answers(scored)
    for kind in EXPORTABLES:
        for record in kind.records(campaign):
            if isinstance(record, Condition) and record.pk in empty:
                continue
            for form in kind.forms_of(record):
                if kind.purpose_of(form) == Purpose.PAPER:
                    options = {"of": str(record or ""), "form": form, "allow_incomplete": kind.has_policy}
                    yield kind, choose(campaign, kind, options)


def figures(campaign: Campaign) -> Iterator[tuple[str, Specification]]:
    """Yield all figures by name: of conditions by their first measure, of studies, of each comparison's newest result.

    Then those of all comparisons with the same reference.
    """
    for condition in scored_conditions(campaign):
        for one in condition_figures(condition, Policy.ZERO, scoring_of(condition.kind).measures.keys[0]):
            yield f"{condition}.{one.name}", one.specification
    for result in study_results(list(campaign.studies.all())):
        for of_study in study_figures(result):
            yield f"{result.study}.{of_study.name}", of_study.specification
    found = _figures(campaign).select_related("calculation__comparison")
    for figure in found.order_by("calculation__comparison_id", "pk").iterator(10):
        yield f"{figure.calculation.comparison}.{figure.name}", figure.specification
    for some in references(campaign).values():
        joint = [(SCATTERS, measure.key) for measure in measures_of(some)] + [(MATRICES, "")]
        for name, measure in joint:
            if specification := joint_specification(some, name, measure):
                yield f"against {some[0].reference_name}.{'-'.join(filter(None, (name, measure)))}", specification


def _figures(campaign: Campaign) -> QuerySet[Figure]:
    return Figure.objects.filter(calculation__in=newest_results(comparison__campaign=campaign))


def _size(campaign: Campaign) -> int:
    """Return about how many files there will be; several comparisons with one reference have some more."""
    of_one = _figures(campaign).count() + scored_conditions(campaign).count() + 2 * campaign.studies.count()
    return sum(1 for _ in tables(campaign)) + len(FORMS) * of_one


@transaction.atomic
def ask_for_paper(*, campaign: Campaign, acting_user: Person | None) -> Export:
    """Note down that the zip is to be made in the background, if none waits or runs already."""
    export, is_new = ask_for_zip(campaign, KIND, "paper.zip", acting_user)
    if is_new:
        history.record("export asked for", export, campaign=campaign, person=acting_user)
    return export


def _take(export: Export, person: Person) -> None:
    """Record who takes it, and has seen by it what models gave."""
    for kind, chosen in tables(export.campaign):
        take_file(person, kind.shows(chosen))
    history.record("exported", export, campaign=export.campaign, person=person)


PAPER = ZipExport(KIND, _size, PaperBundle, _take, stopped="export stopped", page="exports")
