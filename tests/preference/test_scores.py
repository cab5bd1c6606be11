"""Borda, net wins and strengths as pages, files and comparisons have them."""

import csv
import io
import json
import math
import re

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.api.actions import create_token
from assessor.campaigns.models import Campaign, Condition
from assessor.plan.actions import settle
from assessor.preference.models import PreferencePair
from assessor.scores.cache import condition_scores, counts_by_condition, scopes, states_of, with_open_answers
from assessor.scores.leaderboards import Incomplete, score_lines
from assessor.work.models import Scope
from metaeval.actions import create_comparison
from metaeval.actions import run as compute
from metaeval.stats.means import INCOMPLETE, OUTSIDE, UNANSWERED, Policy
from tests.conftest import Importer, client_of
from tests.preference.conftest import RUNS, TOPICS, comparison, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


def table(condition: Condition, form: str = "csv", **options: bool) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(score_lines(condition, form, Policy.ZERO, **options)))))


def test_borda_and_net_wins_are_scores(compared: Condition):
    rows = {row["run_id"]: row for row in table(compared)}
    assert [rows[run]["borda_score"] for run in RUNS] == ["3.0", "1.0", "-1.0", "-3.0"]
    assert [float(rows[run]["win_frac"]) for run in RUNS] == pytest.approx([1, 1 / 3, -1 / 3, -1])
    assert (rows["run1"]["topics"], rows["run1"]["complete"], rows["run1"]["ties"]) == ("5", "5", "0")
    assert rows["run1"]["preference_runs"] == "4"
    by_topic = {(row["run_id"], row["topic"]): row for row in table(compared, "topics")}
    assert by_topic["run2", "bee"]["borda_score"] == "1.0"


def test_all_ties_have_no_net_wins(runs: Campaign, import_file: Importer):
    lines = [comparison("run1", "run2", "bee", 0), comparison("run2", "run3", "bee", 1)]
    import_file(runs, "preferences", lines, condition="Few", by="model")
    rows = {row["run_id"]: row for row in table(runs.conditions.get(name="Few"))}
    assert (rows["run1"]["win_frac"], rows["run1"]["borda_score"], rows["run1"]["ties"]) == ("", "0.0", "1")
    assert (rows["run2"]["win_frac"], rows["run3"]["win_frac"]) == ("1.0", "-1.0")


def test_what_a_run_did_not_submit_counts_nowhere(compared: Condition):
    PreferencePair.objects.filter(topic__qid="bee", first__run__tag="run1").delete()
    answer = compared.campaign.runs.get(tag="run1").answers.get(topic__qid="bee")
    answer.delete()
    rows = {row["run_id"]: row for row in table(compared)}
    assert (rows["run1"]["topics"], rows["run1"]["complete"], rows["run1"]["win_frac"]) == ("5", "4", "1.0")
    at = [run.tag for run in condition_scores(compared).runs].index("run1")
    states = dict(zip(sorted(TOPICS), condition_scores(compared).states[at].tolist(), strict=True))
    assert states["bee"] == UNANSWERED


def test_a_missing_pair_makes_both_answers_incomplete(compared: Condition):
    pair = PreferencePair.objects.get(topic__qid="bee", first__run__tag="run1", second__run__tag="run2")
    PreferencePair.objects.filter(pk=pair.pk).update(state="open", value=None, version=5)
    found = condition_scores(compared)
    place = sorted(TOPICS).index("bee")
    assert [state == INCOMPLETE for state in found.states[:, place].tolist()] == [True, True, False, False]
    assert [math.isnan(value) for value in found.scores[:, place, 0].tolist()] == [True, True, False, False]
    with pytest.raises(Incomplete, match=r"2 of 20 answers .* some pair has no preference"):
        table(compared)
    rows = {row["run_id"]: row for row in table(compared, allow_incomplete=True)}
    assert (rows["run1"]["incomplete"], rows["run1"]["borda_score"]) == ("1", "3.0")
    assert with_open_answers([compared]) == {compared.pk}


def test_dropped_runs_count_nowhere(compared: Condition):
    run = compared.campaign.runs.get(tag="run1")
    Scope.objects.create(condition=compared, run=run, rule="none", reason="withdrawn")
    rows = {row["run_id"]: row for row in table(compared)}
    assert [rows[run]["borda_score"] for run in RUNS[1:]] == ["2.0", "0.0", "-2.0"]
    assert "run1" not in rows
    assert OUTSIDE not in condition_scores(compared).states


def test_an_import_follows_where_a_run_is_dropped(compared: Condition, import_file: Importer):
    run = compared.campaign.runs.get(tag="run1")
    Scope.objects.create(condition=compared, run=run, rule="none", reason="withdrawn")
    done = import_file(compared.campaign, "topics", "later\twhat came later\n")
    assert done.state == "done"
    settle(compared.campaign, acting_user=None)
    assert PreferencePair.objects.filter(condition=compared).count() == 30, "nothing that was said is lost"


def test_practice_is_in_no_score(compared: Condition):
    compared.campaign.topics.filter(qid="bee").update(is_practice=True)
    assert {row["topics"] for row in table(compared) if row["run_id"] in RUNS} == {"4"}


def test_counts_are_of_pairs(compared: Condition):
    counts = counts_by_condition([compared])
    told = counts[compared.pk]
    assert (told.answers, told.done, told.to_do, told.cannot) == (30, 30, 0, 0)
    assert scopes(counts)[compared.pk] == (5, 4)


def test_kept_scores_follow_what_is_said(compared: Condition):
    before = states_of([compared])
    assert condition_scores(compared) is not None
    PreferencePair.objects.filter(topic__qid="bee", position=0).update(value="2", version=9)
    assert states_of([compared]) != before
    assert {row["run_id"]: row["borda_score"] for row in table(compared)}["run2"] == "1.4"


def test_the_page_of_scores_has_strengths_and_position_bias(compared: Condition, as_olga: Client):
    PreferencePair.objects.filter(position=0).update(verdict="1", reversed_verdict="1")
    PreferencePair.objects.filter(position__in=(1, 2)).update(verdict="1", reversed_verdict="2")
    page = as_olga.get(f"/campaigns/study/scores/?condition={compared.pk}").content.decode()
    text = re.sub(r"<[^>]+>|\s+", " ", page)
    text = " ".join(text.split())
    assert "30 of 30 pairs labelled" in text
    assert "35 of 45 verdicts (77.8 %) are for the answer that was shown first" in text
    assert "Of 15 pairs shown in both orders, 5 (33.3 %) got verdicts that disagree" in text
    assert "-1 to 1, 95 % interval" in text
    strengths = text[text.index("Bradley\N{EN DASH}Terry strengths") :]
    assert strengths.index("run1") < strengths.index("run2") < strengths.index("run4")
    bars = re.findall(r'<rect x="([\d.]+)%" y="4" width="([\d.]+)%"', page)
    assert [(float(start), float(width)) for start, width in bars] == [(50, 50), (50, 16.67), (33.33, 16.67), (0, 50)]


def test_pages_of_a_topic_and_a_run(compared: Condition, as_olga: Client):
    topic, run = compared.campaign.topics.get(qid="bee"), compared.campaign.runs.get(tag="run4")
    one = as_olga.get(f"/campaigns/study/scores/{compared.pk}/topics/{topic.pk}/")
    other = as_olga.get(f"/campaigns/study/scores/{compared.pk}/runs/{run.pk}/")
    assert (one.status_code, other.status_code) == (200, 200)
    assert "-3.0" in one.content.decode()
    assert "-1.000" in other.content.decode()


def test_strengths_are_a_file(compared: Condition, capsys: pytest.CaptureFixture[str]):
    call_command("export_strengths", "study", condition=compared.name)
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["run_id"] for row in rows] == list(RUNS)
    values = [float(row["strength"]) for row in rows]
    assert sum(values) == pytest.approx(0)
    assert values == pytest.approx([-value for value in reversed(values)])
    assert {row["pseudo_count"] for row in rows} == {"0.1"}
    assert all(float(row["low"]) <= float(row["strength"]) <= float(row["high"]) for row in rows)


def test_runs_that_were_never_compared_have_no_strengths(
    runs: Campaign, import_file: Importer, as_olga: Client, capsys
):
    lines = [comparison("run1", "run2", "bee", 1), comparison("run3", "run4", "bee", 1)]
    import_file(runs, "preferences", lines, condition="Apart", by="model")
    condition = runs.conditions.get(name="Apart")
    page = as_olga.get(f"/campaigns/study/scores/?condition={condition.pk}").content.decode()
    assert "The runs fall into 2 groups that were not compared with each other." in page
    call_command("export_strengths", "study", condition="Apart")
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_preferences_are_compared_with_others_over_one_run_set_alone(
    compared: Condition, import_file: Importer, as_olga: Client
):
    campaign = compared.campaign
    lines = [
        comparison(one, other, qid, 2)
        for qid in TOPICS
        for one, other in [("run1", "run2"), ("run2", "run3"), ("run3", "run4")]
    ]
    import_file(campaign, "preferences", lines, condition="Others", by="people")
    other = campaign.conditions.get(name="Others")
    sides = {"first": f"Condition-{other.pk}", "second": f"Condition-{compared.pk}"}
    assert as_olga.get("/campaigns/study/comparisons/", sides).status_code == 200
    calculation = create_comparison(campaign=campaign, first=other, second=compared, seed=1, draws=20, acting_user=None)
    done = compute(calculation)
    assert (done.state, done.why) == ("done", "")
    measures = done.result["scores"]["measures"]
    assert set(measures) == {"win_frac", "borda_score"}
    assert measures["win_frac"]["statistics"]["tau_run"]["value"] == pytest.approx(-5 / math.sqrt(30))
    assert (done.result["labels"]["pairs"], done.result["labels"]["match"]["value"]) == (15, 0)
    address = f"/campaigns/study/comparisons/{done.comparison_id}/"
    assert as_olga.get(address).status_code == 200
    page = as_olga.get(f"{address}topics/{campaign.topics.get(qid='bee').pk}/").content.decode()
    assert "compared with run2" in page


def test_no_page_asks_more_of_more_pairs(compared: Condition, import_file: Importer, as_olga: Client):
    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            assert as_olga.get(f"/campaigns/study/scores/?condition={compared.pk}").status_code == 200
        return len(found)

    def import_more(*runs: str) -> None:
        lines = [comparison("run1", run, qid, 1) for qid in TOPICS for run in runs]
        told = {"condition": compared.name, "by": "model"}
        assert import_file(compared.campaign, "preferences", lines, **told).state == "done"

    import_more("run5")
    before = queries()
    import_more("run6", "run7", "run8")
    assert queries() == before


def test_the_api_lists_preferences(compared: Condition, olga: Person):
    token = create_token(person=olga, name="t", expires_at=None, acting_user=olga).secret
    bearer = {"authorization": f"Bearer {token}"}
    listed = Client().get(f"/api/v1/campaigns/study/conditions/{compared.pk}/preferences", headers=bearer)
    assert listed.status_code == 200, listed.content
    items = listed.json()["items"]
    assert (items[0]["_type"], items[0]["run_id"], items[0]["run_id2"], items[0]["query_id"]) == (
        "comparison",
        "run1",
        "run2",
        "bee",
    )
    assert json.dumps(items[6]["better_than"]) == '["run2", "run3", "run4"]'
    assert text_of("run1", "bee") == items[0]["passage_1"]


def test_judges_of_the_same_pairs_agree_on_preferences_alone(
    as_olga: Client, olga: Person, compared: Condition, import_file: Importer
):
    """Scores that depend on the runs that are compared rank no runs there."""
    lines = [comparison("run1", "run2", qid, 1) for qid in TOPICS[:-1]] + [comparison("run1", "run2", TOPICS[-1], 2)]
    assert import_file(compared.campaign, "preferences", lines, condition="Other", by="people").state == "done"
    address = f"/campaigns/{compared.campaign.slug}/scores/{compared.pk}/judges/"
    page = as_olga.get(address)
    assert page.status_code == 200
    assert "τ of runs" not in page.content.decode()
    [row] = csv.DictReader(io.StringIO(b"".join(as_olga.get(f"{address}tables/pairs.csv")).decode()))
    assert (row["labels"], float(row["match"]), row["measure"], row["tau_run"]) == ("5", 0.8, "", "")
    assert "all scores depend on the runs that are compared" in row["why"]
    bearer = {
        "Authorization": f"Bearer {create_token(person=olga, name='t', expires_at=None, acting_user=olga).secret}"
    }
    found = Client().get(f"/api/v1/campaigns/study/conditions/{compared.pk}/judges", headers=bearer)
    assert (found.status_code, found.json()["measure"]) == (200, None)
