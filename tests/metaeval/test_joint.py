"""Comparisons with the same reference: one table, one figure of each kind, files of both."""

import csv
import io
import json
import re

import pytest
from django.test import Client

from assessor.campaigns.models import Condition
from metaeval.actions import create_comparison, run
from metaeval.joint import SORTS, joint_rows
from metaeval.models import ScoreTable
from metaeval.queries import Agreement, Taus
from tests.assignment.scored import auto_condition, label
from tests.conftest import client_of

BASE = "/campaigns/study/comparisons/"


@pytest.fixture
def client(olga) -> Client:
    return client_of(olga)


@pytest.fixture
def third(first: Condition) -> Condition:
    """Labels as the first does, so that it agrees more than the second."""
    return label(auto_condition(first.nuggets, "Third"))


@pytest.fixture
def against(client: Client, first: Condition, second: Condition, third: Condition, olga) -> str:
    """The address of two comparisons with the first condition."""
    for other in (second, third):
        found = create_comparison(campaign=first.campaign, first=first, second=other, draws=20, acting_user=olga)
        assert run(found).state == "done"
    return f"{BASE}against/Condition-{first.pk}/"


def figure(client: Client, address: str) -> dict:
    response = client.get(address)
    assert response.status_code == 200, address
    return json.loads(response.content)


def test_candidates_are_in_one_table_by_tau_of_runs(client: Client, against: str, first: Condition):
    listed = client.get(BASE).content.decode()
    assert f'href="{against}"' in listed
    text = client.get(against).content.decode()
    row = r'<th scope="row" class="any"><a href="[^"]*"><bdi>(.*?)</bdi></a></th>(.*?)</tr>'
    told = {name: re.findall(r"<td[^>]*>(?:<b>)?([^<]*)", cells) for name, cells in re.findall(row, text)}
    assert list(told) == ["Third", "Second"], "of equal taus of runs, the higher one within topics goes first"
    assert (told["Third"][0], told["Third"][-2:]) == ("1.00", ["1.00", "1.000"])
    assert float(told["Second"][-2]) < 1
    assert client.get(f"{against}?measure=nothing").status_code == 404
    assert client.get(f"{against}?sort=nothing").status_code == 404
    assert client.get(f"{BASE}against/Condition-0/").status_code == 404


def test_candidates_are_sorted_by_a_chosen_column():
    """Of three candidates each is the first by another figure."""
    figures = {"a": (0.9, 0.1, None, 0.5), "b": (0.1, 0.9, 0.2, 0.6), "c": (0.5, 0.5, 0.1, 0.9)}
    found = [
        Agreement(at, "", None, None, "R", name, (Taus("V_strict", run, None, None, topic, cell),), kappa, kappa)
        for at, (name, (run, topic, cell, kappa)) in enumerate(figures.items())
    ]

    def order(by: str) -> str:
        return "".join(row.agreement.candidate_name for row in joint_rows(found, by=by))

    assert [order(by) for by in SORTS] == ["acb", "bca", "bca", "cba", "cba"]


def test_a_column_is_sorted_by_its_head(client: Client, against: str):
    text = client.get(f"{against}?sort=kappa").content.decode()
    assert 'aria-sort="descending"><a href="?sort=kappa">κ of labels</a>' in text
    assert text.count("aria-sort") == 1
    assert re.findall(r"<bdi>(Second|Third)</bdi></a></th>", text) == ["Third", "Second"]


def test_a_statistic_from_elsewhere_stands_beside_those_of_here(client: Client, against: str, first: Condition):
    """By the names of candidates; what a table says of others is in no row."""
    upload = io.BytesIO(b"run_id,tau_gap,tau_h\nThird,0.125,\nSecond,0.875,0.5\nSomebody_else,0.9,0.9\n")
    upload.name = "gap.csv"
    assert client.post(f"{BASE}tables/", {"file": upload, "name": "From a paper"}).status_code == 302
    other = io.BytesIO(b"run_id,V_strict\nteam.one,0.5\n")
    other.name = "runs.csv"
    assert client.post(f"{BASE}tables/", {"file": other, "name": "Of runs"}).status_code == 302
    key = f"{ScoreTable.objects.get(name='From a paper').pk}.tau_gap"
    text = client.get(f"{against}?sort={key}").content.decode()
    assert f'aria-sort="descending"><a href="?sort={key}">tau_gap</a> <span class="sub">imported: From a paper' in text
    assert "imported: Of runs" not in text
    row = r'<th scope="row" class="any"><a href="[^"]*"><bdi>(.*?)</bdi></a></th>(.*?)</tr>'
    told = {name: re.findall(r"<td[^>]*>(?:<b>)?([^<]*)", cells)[-2:] for name, cells in re.findall(row, text)}
    assert told == {"Second": ["0.875", "0.500"], "Third": ["0.125", "—"]}
    assert list(told) == ["Second", "Third"]
    usual = re.findall(r"<bdi>(Second|Third)</bdi></a></th>", client.get(against).content.decode())
    assert usual == ["Third", "Second"]
    lines = b"".join(client.get("/campaigns/study/exports/agreement/file/?form=csv").streaming_content).decode()
    rows = list(csv.DictReader(io.StringIO(lines)))
    assert {(row["candidate"], row["tau_gap imported from From a paper"]) for row in rows} == {
        ("Second", "0.875"),
        ("Third", "0.125"),
    }


def test_figures_share_scales_and_axes_can_be_swapped(client: Client, against: str):
    scatters = figure(client, f"{against}figures/scatters.json")
    assert len(scatters["concat"]) == 2
    assert scatters["resolve"]["scale"] == dict.fromkeys(("x", "y", "color", "shape"), "shared")
    titles = [part["layer"][-1]["encoding"]["x"]["title"] for part in scatters["concat"]]
    assert [title.rpartition(", ")[2] for title in titles] == ["First", "First"]
    beside = [part["layer"][-1]["encoding"]["y"]["title"] for part in scatters["concat"]]
    assert [title.rpartition(", ")[2] for title in beside] == ["Second", "Third"], "in the order they were made"
    swapped = figure(client, f"{against}figures/scatters.json?swap=1")
    assert [part["layer"][-1]["encoding"]["y"]["title"] for part in swapped["concat"]] == titles
    matrices = figure(client, f"{against}figures/matrices.json")
    assert (len(matrices["concat"]), matrices["resolve"]["scale"]) == (2, {"fillOpacity": "shared"})
    for form, start in (("svg", b"<svg"), ("pdf", b"%PDF"), ("png", b"\x89PNG")):
        for name in ("scatters", "matrices"):
            assert client.get(f"{against}figures/{name}.{form}").content.startswith(start), (name, form)
    table = client.get(f"{against}figures/matrices.csv")
    rows = list(csv.DictReader(io.StringIO(b"".join(table.streaming_content).decode())))
    assert len({row["layer"] for row in rows}) >= 2
    assert client.get(f"{against}figures/other.svg").status_code == 404


def test_all_agreement_is_a_file(client: Client, against: str, first: Condition):
    address = "/campaigns/study/exports/agreement/file/?form="
    lines = b"".join(client.get(f"{address}csv").streaming_content).decode()
    rows = list(csv.DictReader(io.StringIO(lines)))
    assert {row["candidate"] for row in rows} == {"Second", "Third"}
    assert {row["reference"] for row in rows} == {first.name}
    assert len({(row["candidate"], row["measure"]) for row in rows}) == len(rows) == 14
    assert {row["kappa"] for row in rows if row["candidate"] == "Third"} == {"1.0"}
    table = b"".join(client.get(f"{address}tex").streaming_content).decode()
    assert table.count("\\begin{table}") == 1
    assert "Candidate & Measure & Runs & Topics & Cells & $\\kappa$ \\\\" in table
    assert "$V_{\\mathrm{strict}}$" in table
