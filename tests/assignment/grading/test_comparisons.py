"""Two conditions of grades compared: agreement over six labels, and n-cover within one set of runs alone."""

import io
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from assessor.campaigns.models import Condition
from assessor.scores.cache import condition_scores
from assessor.scores.leaderboards import score_lines
from metaeval.actions import create_comparison, run
from metaeval.stats.means import Policy
from tests.assignment.grading.test_files import lines
from tests.conftest import Importer

ONE = {"team.one": (5, 0, 3), "team.two": (0, 4, 0)}
OTHER = {"team.one": (4, 0, 2), "team.two": (0, 4, 1)}


@pytest.fixture
def two(questions: Condition, import_file: Importer) -> tuple[Condition, Condition]:
    """A person's grades of two runs, and a model's."""
    for name, by, grades in (("People", "people", ONE), ("Model", "model", OTHER)):
        records = [record for tag, given in grades.items() for record in lines(*given, run_id=tag)]
        options = {"condition": name, "by": by, "nuggets": "Questions"}
        assert import_file(questions.campaign, "question_grades", records, **options).state == "done"
    return questions.campaign.conditions.get(name="People"), questions.campaign.conditions.get(name="Model")


def compared(first: Condition, second: Condition) -> dict[str, Any]:
    comparison = create_comparison(
        campaign=first.campaign, first=first, second=second, draws=20, seed=3, acting_user=None
    )
    found = run(comparison)
    assert found.state == "done", found.why
    return found.result


def test_agreement_is_over_six_ordered_labels(two: tuple[Condition, Condition]):
    found = compared(*two)
    labels = found["labels"]
    assert labels["labels"] == ["0", "1", "2", "3", "4", "5"]
    matrix = [[0] * 6 for _ in range(6)]
    for one, other in ((5, 4), (0, 0), (3, 2), (0, 0), (4, 4), (0, 1)):
        matrix[one][other] += 1
    assert labels["matrix"] == matrix
    assert labels["linear"]["value"] == pytest.approx(29 / 38, abs=1e-9)
    assert labels["quadratic"]["value"] == pytest.approx(40 / 43, abs=1e-9)
    assert 0 < labels["alpha_ordinal"]["value"] < 1
    measures = found["scores"]["measures"]
    assert measures["NUGGET_COVERAGE"]["first"] == [0.3333333333] * 2
    assert measures["N_COVER_4"]["second"] == [0.5, 0.5]
    assert not found["left_out"]


def test_n_cover_is_not_compared_across_run_sets(two: tuple[Condition, Condition], import_file: Importer):
    people, _ = two
    options = {"condition": "Few", "by": "model", "nuggets": "Questions"}
    assert import_file(people.campaign, "question_grades", lines(5, 0, 3), **options).state == "done"
    few = people.campaign.conditions.get(name="Few")
    sets = [condition_scores(one).run_set for one in (people, few)]
    assert len(set(sets)) == 2
    found = compared(people, few)
    n_cover = [f"N_COVER_{least}" for least in range(1, 6)]
    gaps = [(gap["what"], gap["side"], gap["reason"], gap["names"]) for gap in found["left_out"]]
    for condition, of_set in zip((people, few), sets, strict=True):
        assert ("measures", condition.name, f"over what run set {of_set} reached", n_cover) in gaps
    assert set(n_cover) & found["scores"]["measures"].keys() == set()
    assert "NUGGET_COVERAGE" in found["scores"]["measures"]


def test_page_and_files_name_the_run_set(two: tuple[Condition, Condition], as_olga: Client):
    people, _ = two
    of_set = condition_scores(people).run_set
    page = as_olga.get(f"/campaigns/study/scores/?condition={people.pk}").content.decode()
    assert f"n-cover is over what 2 runs reached (run set {of_set})" in page
    header, first, *_ = "".join(score_lines(people, "csv", Policy.ZERO)).splitlines()
    row = dict(zip(header.split(","), first.split(","), strict=True))
    assert (row["n_cover_runs"], row["n_cover_run_set"]) == ("2", of_set)
    assert (row["NUGGET_COVERAGE"], row["MAX_GRADE"], row["COVERED_COUNT"]) == ("0.3333333333", "5.0", "1.0")
    assert f"n cover run set: {of_set}" in "".join(score_lines(people, "latex", Policy.ZERO))
    out = io.StringIO()
    call_command("export_question_grades", "study", condition="People", stdout=out)
    assert len(out.getvalue().splitlines()) == 6
