"""Score tables of every kind of label, as Assay exports them, are read back as the scores that they hold."""

import math
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from assessor.campaigns.models import Condition
from assessor.formats.lines import SourceFile
from assessor.formats.report import Report
from assessor.scores.cache import condition_scores
from assessor.scores.leaderboards import FORMS, score_lines
from assessor.scores.score_source import scored_kinds
from metaeval.formats.score_tables import read_score_table
from metaeval.inputs import systems_matrix
from metaeval.stats.means import Policy
from metaeval.stats.score_matrix import CONTROL, ScoreMatrix
from tests.assignment.argue.conftest import FILE, ONE, TWO
from tests.assignment.argue.conftest import questions as reported  # noqa: F401
from tests.assignment.argue.conftest import reports as reports
from tests.assignment.grading.conftest import by_model as by_model
from tests.assignment.grading.conftest import questions as questions
from tests.conftest import Importer
from tests.preference.conftest import compared as compared
from tests.preference.conftest import runs as runs

# Per kind, the fixture of a condition with labels.
FIXTURES = {
    "assignment": "first",
    "grading": "by_model",
    "argue": "judged",
    "support": "first_support",
    "preference": "compared",
}
READ_BACK = [form for form in FORMS if form != "latex"]


@pytest.fixture
def judged(reported: Condition, import_file: Importer) -> Condition:  # noqa: F811
    done = import_file(reported.campaign, "argue_judgments", [ONE, TWO], **FILE)
    assert done.state == "done", done.report
    return reported.campaign.conditions.get(name="Judged")


@pytest.fixture
def of_kind(request: pytest.FixtureRequest) -> Callable[[str], Condition]:
    return lambda kind: request.getfixturevalue(FIXTURES[kind])


def test_every_kind_has_a_case():
    assert FIXTURES.keys() == scored_kinds().keys()


def read_back(condition: Condition, form: str, folder: Path) -> ScoreMatrix:
    path = folder / f"scores.{FORMS[form].ending}"
    path.write_text("".join(score_lines(condition, form, Policy.ZERO, allow_incomplete=True)))
    report = Report(path.name)
    lines = SourceFile(path).lines(report)
    read = read_score_table(lines, report, name="own", run="", policy=Policy.ZERO)
    assert report.errors == []
    return read


def defined(matrix: ScoreMatrix) -> dict[tuple[str, ...], float]:
    """The scores of systems' runs that are defined: those of topics, and the means."""
    names = [(run, *of) for run in matrix.runs for of in product(matrix.topics, matrix.measures)]
    names += list(product(matrix.runs, matrix.measures))
    figures = [*matrix.cells.ravel().tolist(), *matrix.means.ravel().tolist()]
    controls = {run for run, task in zip(matrix.runs, matrix.tasks, strict=True) if task == CONTROL}
    found = zip(names, figures, strict=True)
    return {name: value for name, value in found if not math.isnan(value) and name[0] not in controls}


@pytest.mark.django_db
@pytest.mark.parametrize("form", READ_BACK)
@pytest.mark.parametrize("kind", FIXTURES)
def test_what_is_exported_is_read_back(kind: str, form: str, of_kind: Callable[[str], Condition], tmp_path: Path):
    condition = of_kind(kind)
    read, expected = read_back(condition, form, tmp_path), defined(systems_matrix(condition, Policy.ZERO))
    if form == "csv":
        expected = {name: value for name, value in expected.items() if len(name) == 2}
    assert expected
    assert defined(read) == pytest.approx(expected, abs=1e-9)
    assert set(read.measures) <= set(condition_scores(condition).measures.keys)


@pytest.mark.django_db
def test_the_mark_of_a_run_is_no_score(first: Condition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    found = condition_scores(first)
    marked = [run._replace(mark="circular") for run in found.runs]
    monkeypatch.setattr("assessor.scores.leaderboards.condition_scores", lambda _: found._replace(runs=marked))
    for form in READ_BACK:
        assert set(read_back(first, form, tmp_path).measures) <= set(found.measures.keys), form
