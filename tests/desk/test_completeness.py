"""What a campaign lacks: cited segments too, each gap in full, and the protocol beside that of the track."""

import csv
import re

import pytest
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import change_protocol
from assessor.campaigns.models import Campaign
from assessor.desk.completeness import KINDS, SLOW, gap, gaps
from assessor.runtime.process_cache import cache
from tests.conftest import client_of


@pytest.fixture(autouse=True)
def _nothing_cached() -> None:
    cache.clear()


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


@pytest.fixture
def cited(campaign: Campaign, import_file) -> Campaign:
    """Answers that cite d1 and d3, whose texts are loaded, and d4, x1, x2, which have none; d9 is in no sentence."""
    first = {"run_id": "r1", "topic_id": "t1", "references": ["d1", "x2", "d9", "d4"]}
    import_file(
        campaign, "runs", [first | {"answer": [{"text": "A.", "citations": [0, 1]}, {"text": "B.", "citations": [3]}]}]
    )
    by_docid = {"metadata": {"team_id": "t", "run_id": "r2", "topic_id": "t2"}, "references": ["x1", "d3"]}
    responses = [{"text": "C.", "citations": {"x1": 0.5}}, {"text": "D.", "citations": {"d3": 1}}]
    done = import_file(campaign, "runs", [by_docid | {"responses": responses}], name="r2")
    assert done.state == "done", done.report
    return campaign


def test_cited_segments_without_text_are_named(cited: Campaign, import_file):
    assert gap(cited, SLOW["cited"]) == ("cited", "cited passages have no text", 3, ["d4", "x1", "x2"])
    import_file(cited, "segments", [{"docid": "x1", "segment": "text"}])
    assert gap(cited, SLOW["cited"]) == ("cited", "cited passages have no text", 2, ["d4", "x2"])


def test_they_come_to_the_campaigns_page_by_themselves(cited: Campaign, as_olga: Client):
    page = as_olga.get("/campaigns/study/").content.decode()
    assert 'hx-get="/campaigns/study/missing/cited/"' in page
    line = as_olga.get("/campaigns/study/missing/cited/", headers={"HX-Request": "true"}).content.decode()
    assert ("3 cited passages have no text" in line, "d4, x1, x2" in line, "<html" in line) == (True, True, False)


def test_every_gap_is_there_in_full(cited: Campaign, as_olga: Client):
    wanted = {
        "relevant": [["d4"]],
        "cited": [["d4"], ["x1"], ["x2"]],
        "runs": [["r1", "1", "t2"], ["r2", "1", "t1"]],
        "ungraded": [],
        "empty": [],
    }
    for name, rows in wanted.items():
        response = as_olga.get(f"/campaigns/study/missing/{name}.csv")
        lines = list(csv.reader(b"".join(response.streaming_content).decode().splitlines()))
        assert lines == [list((KINDS | SLOW)[name].columns), *rows], name
        page = as_olga.get(f"/campaigns/study/missing/{name}/", follow=True).content.decode()
        assert all(row[0] in page for row in rows)
    assert as_olga.get("/campaigns/study/missing/nothing/").status_code == 404
    assert [one.name for one in gaps(cited)] == ["relevant", "runs"]


def test_what_differs_from_the_track_is_marked(campaign: Campaign, as_olga: Client):
    assert "differs" not in as_olga.get("/campaigns/study/settings/").content.decode()
    change_protocol(campaign=campaign, settings={"max_nuggets": 25, "show_citations": True}, acting_user=None)
    page = as_olga.get("/campaigns/study/settings/").content.decode()
    assert re.findall(r"differs from trec-2024: (\w+)", page) == ["20", "no"]


def test_an_empty_campaign_says_what_to_do_next(empty_campaign: Campaign, as_olga: Client):
    steps = as_olga.get("/campaigns/study/").context["overview"].steps
    assert [step.title for step in steps] == ["Upload topics", "Upload passages", "Upload runs", "Create a condition"]
