"""Judgments of two judges side by side: agreement by item, pages, and what a comparison of F1 comes to."""

from copy import deepcopy

import pytest
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.models import Condition
from metaeval.actions import create_comparison, run
from tests.assignment.argue.conftest import (
    FILE,
    JUDGED_ONE,
    TWO,
    attested,
    matches,
    relevance,
    report,
)
from tests.conftest import Importer, client_of


@pytest.fixture
def two(imported: Condition, import_file: Importer) -> tuple[Condition, Condition]:
    """The judgments of a file, and people's: the second sentence's first citation attests nothing, d2 does."""
    judged = deepcopy(JUDGED_ONE)
    judged[1] = [relevance("d1"), matches("d1"), attested("d1", False), relevance("d2"), matches("d2"), attested("d2")]
    options = FILE | {"condition": "People", "by": "people"}
    done = import_file(imported.campaign, "argue_judgments", [report("team.one", judged), TWO], **options)
    assert done.state == "done", done.report
    return imported, imported.campaign.conditions.get(name="People")


def test_judgments_pair_by_their_keys(two: tuple[Condition, Condition], olga: Person):
    asked = create_comparison(campaign=two[0].campaign, first=two[0], second=two[1], draws=20, seed=3, acting_user=None)
    found = run(asked)
    assert found.state == "done", found.why
    labels = found.result["labels"]
    # Of eleven items three differ: what d1 and d2 attest in the second sentence, and "In pain" there.
    assert (labels["labels"], labels["pairs"]) == (["no", "yes"], 11)
    assert labels["matrix"] == [[4, 1], [2, 4]]
    assert labels["unweighted"]["value"] == pytest.approx(28 / 61)
    assert found.result["scores"]["measures"]["argue_f1"]["first"] == [0.4, 0.0]
    page = client_of(olga).get(f"/campaigns/study/comparisons/{found.comparison_id}/topics/{_topic(two[0])}/")
    assert page.status_code == 200
    text = page.content.decode()
    assert "does d1 attest sentence 2?" in text
    assert "does sentence 2, which cites d1, answer “When do cats purr?” with “In pain”?" in text


def test_agreement_is_told_by_step(two: tuple[Condition, Condition], olga: Person):
    asked = create_comparison(campaign=two[0].campaign, first=two[0], second=two[1], draws=20, seed=3, acting_user=None)
    done = run(asked)
    steps = {step["name"]: step for step in done.result["steps"]}
    assert [*steps] == ["attests", "answers", "needs", "first"]
    assert {name: step["matrix"] for name, step in steps.items()} == {
        "attests": [[1, 1], [1, 1]],
        "answers": [[3, 0], [1, 1]],
        "needs": [[0, 0], [0, 1]],
        "first": [[0, 0], [0, 1]],
    }
    assert (steps["attests"]["unweighted"]["value"], steps["attests"]["match"]["value"]) == (0.0, 0.5)
    assert steps["answers"]["unweighted"]["value"] == pytest.approx(6 / 11)
    assert steps["needs"]["unweighted"]["value"] is None
    assert sum(step["pairs"] for step in steps.values()) == done.result["labels"]["pairs"]
    csv = done.files["steps.csv"].splitlines()
    assert csv[0] == "step,what,first,second,count,value,why"
    assert "attests,pairs,no,yes,1,25.0," in csv
    assert "attests,unweighted,,,4,0.0," in csv
    assert "support by documents & 4 & 1 & 1 & 1 & 1 & 50.0 & 0.000" in done.files["steps.tex"]
    assert "answers stated, 5 pairs: equal 0.8000, kappa, unweighted 0.5455" in done.files["summary.txt"]
    text = client_of(olga).get(f"/campaigns/study/comparisons/{done.comparison_id}/").content.decode()
    assert "By step: support by documents " in text
    assert '<th scope="row">answers stated</th><td class="num">5</td><td class="num">3</td>' in text


def _topic(condition: Condition) -> int:
    return int(condition.campaign.topics.get(qid="t1").pk)


def test_a_runs_page_has_the_judgments_of_all_judges(two: tuple[Condition, Condition], as_olga: Client):
    answer = two[0].campaign.runs.get(tag="team.one").answers.get()
    text = as_olga.get(f"/campaigns/study/runs/{answer.run_id}/{answer.topic_id}/").content.decode()
    assert text.index("does d1 attest sentence 1?") < text.index("does sentence 3 need a citation?")


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


def test_docids_may_have_any_signs(questions: Condition, import_file: Importer, as_olga: Client):
    docid = "a/b%20#c?d.attests"
    line = report("team.new", [[relevance(docid, False), attested(docid)]], sentences=[("Cats purr.", [docid])])
    done = import_file(questions.campaign, "argue_judgments", [line], **FILE)
    assert done.state == "done", done.report
    answer = questions.campaign.runs.get(tag="team.new").answers.get()
    text = as_olga.get(f"/campaigns/study/runs/{answer.run_id}/{answer.topic_id}/").content.decode()
    sheet = answer.argue_sheets.get()
    address = f"/campaigns/study/labels/argue/{sheet.pk}/s0.da/b%2520%23c%3Fd.attests.attests/"
    assert f'href="{address}"' in text
    assert f"does {docid} attest sentence 1?" in as_olga.get(address).content.decode()
