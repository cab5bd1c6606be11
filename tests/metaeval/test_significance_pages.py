"""Significance under a condition: the page, its tables and figures."""

import csv
import io
import re
from html import unescape
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from assessor.campaigns.models import Condition, Run
from assessor.scores.cache import condition_scores
from metaeval.significance import METHOD_WORDS, compute_significance
from metaeval.stats.layout import Cells
from metaeval.stats.letters import in_letters
from metaeval.stats.multiple_comparisons import Method, PairTests, compare_pairs
from tests.assignment.scored import auto_condition, say, sheet_on
from tests.conftest import client_of


@pytest.fixture
def client(olga) -> Client:
    return client_of(olga)


def base(condition: Condition) -> str:
    return f"/campaigns/study/scores/{condition.pk}/significance/"


def text_of(client: Client, condition: Condition, query: str = "") -> str:
    response = client.get(f"{base(condition)}{query}")
    assert response.status_code == 200
    return response.content.decode()


def headline(text: str) -> str:
    return re.sub(r"<[^>]+>", "", text.split('<p class="in sum">')[1].split("</p>")[0]).replace("&#x27;", "'").strip()


def rows(client: Client, condition: Condition, name: str, query: str = "") -> list[dict[str, str]]:
    response = client.get(f"{base(condition)}tables/{name}{query}")
    assert response.status_code == 200
    content = b"".join(response.streaming_content).decode()  # type: ignore[attr-defined]
    return list(csv.DictReader(io.StringIO(content)))


def compared(condition: Condition, measure: str = "vstrict") -> tuple[list[str], PairTests]:
    """Return the tests of all pairs, computed from the scores themselves."""
    found = condition_scores(condition)
    return [run.tag for run in found.runs], compare_pairs(
        found.scores[..., found.measures.keys.index(measure)], draws=1000, seed=0
    )


@pytest.mark.parametrize("measure", ["vstrict", "astrict"])
def test_the_headline_says_how_many_pairs_differ(client: Client, first: Condition, measure: str):
    _, tests = compared(first, measure)
    assert tests.tukey
    found = {method: headline(text_of(client, first, f"?measure={measure}&correction={method}")) for method in Method}
    pairs = f"of {tests.pairs} pairs of runs"
    assert tests.pairs == 3
    randomised = compute_significance(first, Cells.ZERO, measure).tests.randomised
    assert randomised
    words = {
        Method.T: "by paired t-tests without a correction for the number of pairs",
        Method.BH: "by paired t-tests with Benjamini and Hochberg's correction",
        Method.HOLM: "by paired t-tests with Holm's correction",
        Method.TUKEY: f"by Tukey's HSD of {tests.tukey.least:.3f}",
        Method.RANDOMISED: f"by a randomised Tukey HSD of {randomised.least:.3f}",
    }
    for method, by in words.items():
        differing = int((tests.p[method] <= 0.05).sum())
        assert found[method] == f"{differing} {pairs} {'differs' if differing == 1 else 'differ'}, {by}."


def test_scores_are_permuted_only_where_that_is_asked_for(client: Client, first: Condition):
    def counts(query: str) -> dict[str, str]:
        tiles = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd><dd", text_of(client, first, query))
        return {unescape(name): value for name, value in tiles}

    without, with_all = counts(""), counts("?correction=randomised")
    tested = compute_significance(first, Cells.ZERO, "vstrict").tests
    assert with_all == {words: f"{tested.differing(method)}" for method, words in METHOD_WORDS.items()}
    assert without == with_all | {"Randomised Tukey HSD": '<a href="?correction=randomised">Test</a>'}
    # The files have all of it.
    assert all(row["p_randomised"] for row in rows(client, first, "pairs.csv"))


def test_runs_are_listed_with_their_letters_and_pairs_with_their_p_values(client: Client, first: Condition):
    runs, tests = compared(first)
    letters = dict(zip(runs, map(in_letters, tests.letters(Method.T)), strict=True))
    listed = rows(client, first, "runs.csv", "?correction=t")
    assert [row["run_id"] for row in listed] == [runs[at] for at in np.argsort(-tests.means, kind="stable")]
    assert {row["run_id"]: row["letters"] for row in listed} == letters
    assert {row["run_id"]: float(row["mean"]) for row in listed} == pytest.approx(
        dict(zip(runs, tests.means.tolist(), strict=True))
    )
    pairs = rows(client, first, "pairs.csv")
    assert [(row["first"], row["second"]) for row in pairs] == [
        (one, other) for at, one in enumerate(runs) for other in runs[at + 1 :]
    ]
    for name, expected in (("difference", tests.difference), ("p_holm", tests.p[Method.HOLM])):
        assert [float(row[name]) for row in pairs] == pytest.approx(expected.tolist(), abs=1e-9)
    assert {row["topics"] for row in pairs} == {"2"}
    latex = b"".join(client.get(f"{base(first)}tables/runs.tex").streaming_content).decode()  # type: ignore[attr-defined]
    assert "\\toprule" in latex
    assert all(run.replace("_", "\\_") in latex for run in runs)


def test_cells_without_labels_never_count_0(client: Client, first: Condition):
    say(sheet_on(first, "t1", "team.one"), 0, label=None)
    text = text_of(client, first)
    assert headline(text).startswith("An HSD needs a score of every run on every topic, and 1 of 6 are missing")
    assert "policy=common" in text
    assert "1 cell not judged or without all labels: never 0." in text
    assert {row["letters"] for row in rows(client, first, "runs.csv")} == {""}
    pairs = rows(client, first, "pairs.csv")
    assert {row["p_tukey"] for row in pairs} == {""}
    # Of the pairs of the incomplete run no t-test is left, on the one topic that both have.
    assert [row["p_t"] == "" for row in pairs] == ["team.one" in (row["first"], row["second"]) for row in pairs]
    assert "of 1 pair of runs" in headline(text_of(client, first, "?correction=holm"))


def test_what_was_not_submitted_counts_as_the_policy_says(client: Client, first: Condition):
    # team.empty answered one of two topics.
    zero, answered = text_of(client, first), text_of(client, first, "?policy=answered")
    assert "Not submitted counts 0. 1 answer was not submitted." in zero
    assert "Not submitted does not count. 1 answer was not submitted." in answered
    assert headline(answered).startswith("An HSD needs a score of every run on every topic, and 1 of 6 are missing")
    common = text_of(client, first, "?policy=common")
    assert "1 of 2 topics are compared." in common
    assert headline(common).startswith("An HSD needs two runs and two topics")
    for policy in Cells:
        assert {row["policy"] for row in rows(client, first, "runs.csv", f"?policy={policy}")} == {policy}


def test_runs_with_too_few_topics_can_be_left_out(client: Client, first: Condition, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("metaeval.stats.layout.lay_out.__defaults__", (0.8,))
    text = text_of(client, first, "?policy=most")
    assert "Left out: team.empty" in text
    assert [row["run_id"] for row in rows(client, first, "runs.csv", "?policy=most")] == ["team.one", "team.two"]


def test_control_runs_are_not_compared(client: Client, first: Condition):
    Run.objects.filter(campaign=first.campaign, tag="team.two").update(task="control")
    assert {row["run_id"] for row in rows(client, first, "runs.csv")} == {"team.one", "team.empty"}


@pytest.mark.parametrize(
    ("page", "figure"),
    [("significance", "power"), ("judges", "shares"), ("nuggets", "items"), ("reusability", "teams")],
)
@pytest.mark.usefixtures("first")
def test_figures_come_when_the_page_asks_for_them(client: Client, second: Condition, page: str, figure: str):
    address = f"/campaigns/study/scores/{second.pk}/{page}/"
    query = "?measure=a" if page in ("significance", "reusability") else ""
    whole = client.get(address + query).content.decode()
    part = client.get(address + query, headers={"HX-Request": "true"}).content.decode()
    if page == "reusability":  # nothing says where these nuggets come from
        assert "hx-get" not in whole
    else:
        assert f'hx-get="{address}{query}" hx-trigger="load"' in whole
        assert "data-figure" not in whole
        assert page == "nuggets" or "<summary>As a table</summary>" in part
    assert "<html" not in part
    assert f'data-figure="{address}figures/{figure}.json{query}"' in part


def test_figures_show_means_with_the_difference_and_the_power_of_all_measures(client: Client, first: Condition):
    runs, tests = compared(first)
    assert tests.tukey
    response = client.get(f"{base(first)}figures/means.csv")
    shown = list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))  # type: ignore[attr-defined]
    means = {row["run"]: (float(row["low"]), float(row["mean"]), float(row["high"])) for row in shown if row["run"]}
    half = tests.tukey.least / 2
    assert means == {
        run: pytest.approx((mean - half, mean, mean + half))
        for run, mean in zip(runs, tests.means.tolist(), strict=True)
    }
    response = client.get(f"{base(first)}figures/power.csv?correction=t")
    power = list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))  # type: ignore[attr-defined]
    at_usual = {row["measure"]: float(row["power"]) for row in power if row["measure"] and float(row["level"]) == 0.05}
    measures = [one for one in condition_scores(first).measures.all if one.key != "length"]
    assert at_usual == {
        one.in_words: pytest.approx(compared(first, one.key)[1].differing(Method.T) / 3) for one in measures
    }
    for name in ("means", "power"):
        for form, start in (("svg", b"<svg"), ("pdf", b"%PDF"), ("png", b"\x89PNG")):
            assert client.get(f"{base(first)}figures/{name}.{form}").content.startswith(start)


def test_the_page_is_reached_from_the_leaderboard_and_is_for_organizers(client: Client, anna, first: Condition):
    listed = client.get(f"/campaigns/study/scores/?condition={first.pk}").content.decode()
    assert f'href="{base(first)}?policy=zero&amp;measure=vstrict"' in listed
    assert client_of(anna).get(base(first)).status_code == 404
    for query in ("?measure=length", "?measure=no", "?policy=no", "?correction=no", "tables/no.csv", "figures/no.svg"):
        assert client.get(f"{base(first)}{query}").status_code == 404, query


def test_a_condition_without_labels_has_nothing_to_test(client: Client, edits: Condition):
    condition = auto_condition(edits, "Empty")
    assert "No scores yet" in text_of(client, condition)
    assert rows(client, condition, "runs.csv") == rows(client, condition, "pairs.csv") == []


def test_the_command_prints_counts_and_writes_tables_and_figures(first: Condition, tmp_path: Path):
    out, folder = StringIO(), tmp_path / "significance"
    call_command("compute_significance", "study", condition=str(first), draws=50, out=folder, stdout=out)
    _, tests = compared(first)
    text = out.getvalue()
    for method in (Method.T, Method.BH, Method.TUKEY, Method.HOLM):
        assert f"{tests.differing(method)} of 3 pairs of runs" in text
    assert "1 answer was not submitted." in text
    charts = {f"{name}.{form}" for name in ("means", "power") for form in ("svg", "pdf", "png")}
    assert {path.name for path in folder.iterdir()} == {"runs.csv", "runs.tex", "pairs.csv"} | charts
    pairs = list(csv.DictReader((folder / "pairs.csv").open()))
    assert [float(row["p_tukey"]) for row in pairs] == pytest.approx(tests.p[Method.TUKEY].tolist(), abs=1e-9)
    assert min(float(row["p_randomised"]) for row in pairs) >= 1 / 51


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"measure": "no"}, "There is no measure no"),
        ({"draws": 0}, "at least one draw"),
        ({"seed": -1}, "not negative"),
    ],
)
def test_the_command_says_what_is_wrong(first: Condition, wrong: dict[str, object], why: str):
    with pytest.raises(CommandError, match=why):
        call_command("compute_significance", "study", condition=str(first), **wrong)
