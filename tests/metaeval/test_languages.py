"""Agreement by the language of the passages that labels are about."""

import csv
import io

import pytest

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition
from metaeval.actions import create_comparison, run
from metaeval.models import Calculation, Comparable
from tests.conftest import Importer, client_of
from tests.support.judging_helpers import label_as_model, models_condition, run_file

pytestmark = pytest.mark.django_db
LANGUAGES = {"z1": "zho", "z2": "zho", "r1": "rus", "e1": ""}


@pytest.fixture
def abroad(campaign: Campaign, import_file: Importer) -> Campaign:
    """Two answers to t1 that cite Chinese, Russian and what names no language; one of the Chinese is translated."""
    segments = [
        {"docid": docid, "segment": f"text of {docid}"} | ({"lang": code} if code else {})
        for docid, code in LANGUAGES.items()
    ]
    segments[1]["translation"] = "so it says"
    assert import_file(campaign, "segments", segments).state == "done"
    for tag in ("one", "two"):
        cited = {"t1": [("They purr.", ["z1", "r1"]), ("So they say.", ["z2"]), ("Indeed.", ["e1"])]}
        assert import_file(campaign, "runs", run_file(tag, cited), name=tag).state == "done"
    return campaign


def compared(first: Comparable, second: Comparable, olga: Person) -> Calculation:
    done = run(create_comparison(campaign=first.campaign, first=first, second=second, draws=20, acting_user=olga))
    assert done.state == "done", done.why
    return done


def support(campaign: Campaign, name: str, labels: dict[str, str]) -> Condition:
    condition = models_condition(campaign, name)
    label_as_model(condition, dict.fromkeys(("one", "two"), labels))
    return condition


def test_labels_agree_by_language(abroad: Campaign, olga: Person):
    campaign = abroad
    campaign.protocols.update(citations_per_sentence=2)
    # Keys: the sentence's place and the citation's; z1 and r1 are cited in the first one.
    same = {"0.0": "full", "0.1": "none", "1.0": "none", "2.0": "full"}
    first = support(campaign, "First", same)
    second = support(campaign, "Second", same | {"0.1": "full", "1.0": "partial"})
    done = compared(first, second, olga)
    told = {one["name"]: one for one in done.result["languages"]}
    assert {name: (one["pairs"], one["match"]["value"]) for name, one in told.items()} == {
        "rus": (2, 0.0),
        "zho": (4, 0.5),
    }
    rows = list(csv.DictReader(io.StringIO(done.files["languages.csv"])))
    assert {(row["language"], row["value"]) for row in rows if row["what"] == "match"} == {
        ("rus", "0.0"),
        ("zho", "0.5"),
    }
    assert "rus, 2 pairs: equal" in done.files["summary.txt"]
    assert "Agreement by language of First" in done.files["languages.tex"]
    page = client_of(olga).get(f"/campaigns/study/comparisons/{done.comparison_id}/").content.decode()
    section = page.partition("By language of the passage")[2].partition("</table>")[0]
    assert section.count('<th scope="row">') == 2


def test_grades_agree_by_language(abroad: Campaign, import_file: Importer, olga: Person):
    for name, grades in (("A", "2210"), ("B", "2100")):
        lines = "".join(f"t1 0 {docid} {grade}\n" for docid, grade in zip(LANGUAGES, grades, strict=True))
        assert import_file(abroad, "qrels", lines, source=name, by="people").state == "done"
    sources = abroad.qrels_sources
    done = compared(sources.get(name="A"), sources.get(name="B"), olga)
    told = {one["name"]: (one["pairs"], one["match"]["value"]) for one in done.result["languages"]}
    assert told == {"rus": (1, 0.0), "zho": (2, 0.5)}


def test_a_campaign_of_one_language_tells_none(campaign: Campaign, import_file: Importer, olga: Person):
    for name in ("A", "B"):
        assert import_file(campaign, "qrels", "t1 0 d1 2\n", source=name, by="people").state == "done"
    sources = campaign.qrels_sources
    assert "languages" not in compared(sources.get(name="A"), sources.get(name="B"), olga).result
