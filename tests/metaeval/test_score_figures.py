"""Figures of one condition's scores: a measure against length, and of support precision against recall."""

import csv
import io
import json

import pytest
from django.test import Client

from assessor.campaigns.models import Condition, Run
from tests.assignment.scored import auto_condition, label
from tests.conftest import client_of
from tests.judging import asked, change, judged

ASKED = [("vstrict", "zero"), ("a", "zero"), ("a", "answered")]


@pytest.fixture
def client(olga) -> Client:
    return client_of(olga)


def base(condition: Condition) -> str:
    return f"/campaigns/study/scores/{condition.pk}/figures/"


def points(client: Client, address: str) -> dict[str, tuple[float, float]]:
    """Return length and score of the runs that a figure shows, by tag."""
    response = client.get(address)
    assert response.status_code == 200, address
    rows = csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode()))  # type: ignore[attr-defined]
    return {row["run"]: (float(row["x"]), float(row["y"])) for row in rows if row["run"] and row["front"]}


def scores(client: Client, condition: Condition, measure: str) -> dict[str, tuple[float, float]]:
    """Return the same as the file of scores has it."""
    address = f"/campaigns/study/exports/scores/file/?of={condition}&form=csv&allow_incomplete=1"
    text = b"".join(client.get(address).streaming_content).decode()  # type: ignore[attr-defined]
    return {row["run_id"]: (float(row["length"]), float(row[measure])) for row in csv.DictReader(io.StringIO(text))}


@pytest.mark.parametrize("measure", ["vstrict", "a"])
def test_runs_stand_where_the_file_of_scores_has_them(client: Client, first: Condition, measure: str):
    shown = points(client, f"{base(first)}length.csv?measure={measure}")
    told = scores(client, first, measure)
    assert shown
    assert shown == {run: pytest.approx(told[run], abs=5e-5) for run in shown}
    systems = Run.objects.filter(campaign=first.campaign).exclude(task="control").values_list("tag", flat=True)
    assert set(shown) == set(systems) & set(told)


def test_figures_are_of_the_measure_policy_and_labels_that_are_asked_for(client: Client, first: Condition):
    not_on_t2 = judged(first, "team.empty", "t1")
    change(not_on_t2, {nugget: {"label": "support"} for nugget in asked(not_on_t2)})
    addresses = [f"{base(first)}length.csv?measure={measure}&policy={policy}" for measure, policy in ASKED]
    shown = [points(client, address) for address in addresses]
    assert len({str(one) for one in shown}) == len(addresses)
    assert [points(client, address) for address in addresses] == shown
    sheet = judged(first, "team.one", "t1")
    change(sheet, {nugget: {"label": "not_support"} for nugget in asked(sheet)})
    now = [points(client, address) for address in addresses]
    assert all(one["team.one"] != before["team.one"] for one, before in zip(now, shown, strict=True))


def test_control_runs_are_left_out(client: Client, first: Condition):
    before = points(client, f"{base(first)}length.csv")
    tag = sorted(before)[0]
    Run.objects.filter(campaign=first.campaign, tag=tag).update(task="control")
    other = label(auto_condition(first.nuggets, "Other"))  # whose scores nobody has computed yet
    assert set(points(client, f"{base(other)}length.csv")) == set(before) - {tag}


def test_the_page_shows_one_measure_and_offers_the_others(client: Client, first: Condition):
    listed = client.get(f"/campaigns/study/scores/?condition={first.pk}&measure=a").content.decode()
    assert f'href="{base(first)}?policy=zero&amp;measure=a"' in listed
    text = client.get(f"{base(first)}?measure=a").content.decode()
    assert f'data-figure="{base(first)}length.json?measure=a"' in text
    assert text.count('aria-current="true"') >= 1
    assert "measure=vstrict" in text
    assert "measure=length" not in text


def test_what_is_not_there_is_not_found(client: Client, first: Condition):
    for address in ("?measure=length", "?measure=no", "?policy=no", "support.svg", "length.doc"):
        assert client.get(f"{base(first)}{address}").status_code == 404, address
    assert client.get("/campaigns/study/scores/0/figures/").status_code == 404


def test_figures_come_as_files(client: Client, first: Condition):
    for form, start in (("svg", b"<svg"), ("pdf", b"%PDF"), ("png", b"\x89PNG")):
        response = client.get(f"{base(first)}length.{form}")
        assert response.content.startswith(start), form
        assert f'filename="study.{first}.vstrict.length.{form}"' in response["Content-Disposition"]
    specification = json.loads(client.get(f"{base(first)}length.json").content)
    assert specification["$schema"].startswith("https://vega.github.io/schema/vega-lite/")
