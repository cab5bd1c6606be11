"""What leaving a team's nuggets out changes: evidence, who contributed it, scores, page and files, by hand."""

import csv
import io
import json
from uuid import UUID

import numpy as np
import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.utils.html import escape

from assessor.campaigns.models import Campaign, Condition, Run
from assessor.scores.cache import condition_scores
from assessor.scores.score_source import scoring_of
from assignment.grading.score_tables import GradeScoring
from metaeval.reusability import reusability
from metaeval.stats.means import Policy
from metaeval.stats.statistic import Statistic
from nuggets.models import BankEdition, Drafting, Nugget
from tests.assignment.conftest import run_file
from tests.assignment.scored import auto_condition, label
from tests.conftest import Importer, client_of, make_person
from tests.imports.test_run_forms import ragtime

# Evidence of the nuggets of tests/assignment/scored.py, all vital here but one.
NUGGETS = {
    "t1": [
        ("purring heals", "vital", ["d1"]),
        ("cats purr when content", "vital", ["d1", "d2"]),
        ("kittens purr", "okay", ["d2"]),
    ],
    "t2": [("glass is melted", "vital", ["d3"]), ("glass is sorted", "okay", [])],
}
LABELS = {"t1": {"a.one": "ssn", "b.one": "nns", "b.two": "pps"}, "t2": {"a.one": "nn", "b.one": "sn", "b.two": "ns"}}


def runs(campaign: Campaign, import_file: Importer, cites: dict[str, list[str]], *, with_references=True) -> None:
    """Import the runs of LABELS, each answer citing the same docids. with_references: by their places there."""
    for tag, docids in cites.items():
        if with_references:
            answer = [{"text": "Purr.", "citations": list(range(len(docids)))}]
            lines = [
                line | {"references": docids, "answer": answer}
                for line in run_file(tag, {"t1": ["Purr."], "t2": ["Glass."]})
            ]
        else:
            lines = [ragtime(qid, tag, [{"text": "Purr.", "citations": docids}]) for qid in ("t1", "t2")]
        assert import_file(campaign, "runs", lines, name=tag).state == "done"
        Run.objects.filter(campaign=campaign, tag=tag).update(team=tag[0])


def bank(campaign: Campaign, import_file: Importer) -> Condition:
    """Import NUGGETS with their evidence."""
    lines = [
        {
            "query": campaign.topics.get(qid=qid).title,
            "qid": qid,
            "ancestors": [],
            "nuggets": [
                {
                    "text": text,
                    "importance": importance,
                    "id": str(UUID(int=1000 * topic + at)),
                    "origin": "written",
                    "parents": [],
                    "evidence": [{"docid": docid, "start": None, "end": None} for docid in docids],
                }
                for at, (text, importance, docids) in enumerate(nuggets, start=1)
            ],
        }
        for topic, (qid, nuggets) in enumerate(NUGGETS.items())
    ]
    done = import_file(campaign, "nuggets", lines, condition="Edits", by="people")
    assert done.state == "done", done.report
    return campaign.conditions.get(name="Edits")


CITES = {"a.one": ["d1", "d2"], "b.one": ["d2"], "b.two": ["d2", "d3"]}  # a alone cites d1, b alone d3, both d2


@pytest.fixture
def judged(campaign: Campaign, import_file) -> Condition:
    """Labels of three runs of two teams."""
    runs(campaign, import_file, CITES)
    return label(auto_condition(bank(campaign, import_file), "First"), LABELS)


def measures(found, key: str = "astrict") -> dict[str, list[float]]:
    """Return the scores of runs without each team's nuggets."""
    at = scoring_of("assignment").measures.keys.index(key)
    return {team: found.without[number, :, at].round(6).tolist() for number, team in enumerate(found.teams)}


def test_scores_leave_out_what_a_team_alone_cites(judged: Condition):
    found = scoring_of("assignment").without_teams(judged, Policy.ZERO)
    assert (found.basis, found.teams, found.left_out, found.topics) == ("what answers cite", ["a", "b"], [1, 1], [2, 2])
    assert (found.nuggets, found.unattested) == (5, 1)
    # Without a's first nugget: a.one 1/2 and 0; b.one 1/2 and 1/2; b.two 1/2 and 1/2.
    # Without b's on t2: a.one 2/3 and 0; b.one 1/3 and 0; b.two 1/3 and 1.
    assert measures(found) == {
        "a": pytest.approx([0.25, 0.5, 0.5]),
        "b": pytest.approx([1 / 3, 1 / 6, 2 / 3], abs=1e-6),
    }
    # On t2 no vital nugget is left without b's: the topic is in no mean of vital nuggets.
    assert measures(found, "vstrict")["b"] == [1, 0, 0]


def test_answers_that_cite_docids_themselves_count_alike(campaign: Campaign, import_file):
    runs(campaign, import_file, CITES, with_references=False)
    condition = label(auto_condition(bank(campaign, import_file), "First"), LABELS)
    found = scoring_of("assignment").without_teams(condition, Policy.ZERO)
    assert (found.teams, found.left_out, found.topics) == (["a", "b"], [1, 1], [2, 2])


def test_retrieval_runs_of_teams_go_before_citations(judged: Condition, import_file):
    campaign = judged.campaign
    ranked = {"a.bm25": ["d2", "d3"], "b.bm25": ["d1", "d3"], "other": ["d1"]}
    for tag, docids in ranked.items():
        text = "\n".join(
            f"{qid} Q0 {docid} {at} {9 - at} {tag}" for qid in ("t1", "t2") for at, docid in enumerate(docids, 1)
        )
        assert import_file(campaign, "retrieval", text).state == "done"
    found = scoring_of("assignment").without_teams(judged, Policy.ZERO)
    assert found.basis == "the first 20 passages of each retrieval run"
    # d2 is a's alone now; d1 is b's and another system's, d3 both teams'.
    assert found.left_out == [1, 0]
    [text] = [
        one["text"]
        for one in BankEdition.objects.get(bank__topic__qid="t1").nuggets
        if one["evidence"][0]["docid"] == "d2"
    ]
    assert text == "kittens purr"
    assert measures(found)["a"] == pytest.approx([0.5, 0.25, 0.25])


def test_questions_that_answers_brought_go_with_all_their_teams(judged: Condition):
    """A bank that was made from answers: by the lists after each round."""
    pair = auto_condition(judged.nuggets, "Pair")
    Condition.objects.filter(pk=judged.nuggets_id).update(preferences=pair)
    topic = judged.campaign.topics.get(qid="t1")
    texts = [text for text, *_ in NUGGETS["t1"]]
    steps = [
        {"docids": [], "nuggets": texts[:1], "runs": [["a.one", "b.one"]]},
        {"docids": [], "nuggets": texts, "runs": [["b.two"]]},
    ]
    Drafting.objects.create(condition=judged.nuggets, topic=topic, judge=pair.judge, steps=steps)
    for at, text in enumerate(texts[:2], start=1):
        Nugget.objects.filter(bank__topic=topic, text=text).update(draft=at)
    found = scoring_of("assignment").without_teams(Condition.objects.get(pk=judged.pk), Policy.ZERO)
    assert found.basis == "the answers that questions were made from"
    assert (found.left_out, found.unattested) == ([1, 2], 3)
    # Under grades the table of all runs tells the same, by the least agreement first.
    condition = Condition.objects.get(pk=judged.pk)
    rows = GradeScoring().beside(condition, condition_scores(condition))
    assert {row.team: row.left_out for row in rows} == {"a": 1, "b": 2}
    board = {"beside": rows}
    text = render_to_string("grading/_score_notes.html", {"condition": condition, "board": board, "found": None})
    assert '<th scope="row" class="any">b</th><td class="num">2</td>' in text


@pytest.fixture
def client(olga) -> Client:
    return client_of(olga)


def base(condition: Condition) -> str:
    return f"/campaigns/study/scores/{condition.pk}/reusability/"


def table(client: Client, address: str) -> dict[str, dict[str, str]]:
    response = client.get(address)
    assert response.status_code == 200
    rows = csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode()))  # type: ignore[attr-defined]
    return {row["team"]: row for row in rows}


def test_the_page_names_the_run_that_loses_most(client: Client, judged: Condition):
    # By all: a.one (2/3, 0), b.one (1/3, 1/2), b.two (1/3, 1/2): a.one falls behind the others without a's nugget.
    found = reusability(judged, Policy.ZERO, "astrict")
    by_all = found.scores.scores[:, found.scores.runs.index(found.scores.runs[0])]
    assert len(by_all) == 3
    text = client.get(f"{base(judged)}?measure=astrict").content.decode()
    assert escape(found.headline) in text
    rows = table(client, f"{base(judged)}table.csv?measure=astrict")
    without = measures(found.scores)
    [run] = [row.run for row in found.rows if row.team == "a"]
    assert (run, rows["a"]["nuggets_left_out"], rows["a"]["runs"]) == ("a.one", "1", "1")
    scores = found.scores.scores[:, scoring_of("assignment").measures.keys.index("astrict")]
    assert float(rows["a"]["change"]) == pytest.approx(without["a"][0] - scores[0])
    assert float(rows["a"]["change_of_others"]) == pytest.approx(np.mean(without["a"][1:]) - scores[1:].mean())
    worst = found.rows[0]
    places = f"{int(worst.found.places.value)} place{'s' * (worst.found.places.value > 1)}"
    nuggets = f"{worst.left_out} nugget{'s' * (worst.left_out > 1)}"
    teams = sum(row.left_out > 0 for row in found.rows)
    assert found.headline == (
        f"{worst.run} loses {places} without the {nuggets} that {worst.team} brought: "
        f"the largest loss of {teams} teams."
    )
    assert max(row.found.places.value for row in found.rows) == found.rows[0].found.places.value
    assert "1 of 5 nuggets name no source" in text
    assert escape(found.fairness) in text
    assert "For a paper" in text


def test_sentences_follow_from_the_numbers(judged: Condition):
    found = reusability(judged, Policy.ZERO, "astrict")
    gap = np.mean([row.found.own.value - row.found.others.value for row in found.rows])
    assert f"would score {-gap:.4f} less" in found.fairness
    tau = min(row.found.tau.value for row in found.rows)
    assert f"at least {tau:.3f}." in found.statement
    assert "(2 nuggets of 5), and scored all runs again. 1 nugget without such a source stayed." in found.statement


def test_the_headline_claims_no_loss_where_there_is_none(judged: Condition):
    found = reusability(judged, Policy.ZERO, "astrict")
    assert found
    kept = [row._replace(found=row.found._replace(places=Statistic(0, 1))) for row in found.rows]
    teams = sum(row.left_out > 0 for row in found.rows)
    assert found._replace(rows=kept).headline == (
        f"No run loses a place without the nuggets that its own team brought ({teams} teams left out in turn)."
    )
    shared = [row._replace(left_out=0) for row in found.rows]
    assert found._replace(rows=shared).headline == (
        "No team alone brought any of the nuggets: leaving one out changes no score."
    )


def test_where_no_nugget_has_evidence_nothing_changes(client: Client, first: Condition):
    text = client.get(base(first)).content.decode()
    assert "Nothing says where the nuggets come from, so no team can be left out." in text
    assert "data-figure" not in text
    assert "5 of 5 nuggets name no source" in text


def test_the_figure_and_the_tables_are_files(client: Client, judged: Condition):
    specification = json.loads(client.get(f"{base(judged)}figures/teams.json?measure=astrict").content)
    assert specification["$schema"].startswith("https://vega.github.io/schema/vega-lite/")
    assert client.get(f"{base(judged)}figures/teams.svg").content.startswith(b"<svg")
    latex = b"".join(client.get(f"{base(judged)}table.tex?measure=astrict").streaming_content).decode()  # type: ignore[attr-defined]
    assert latex.count("\\\\\n") == 3
    assert "what answers cite" in latex


def test_what_is_not_there_is_not_found(client: Client, judged: Condition, first_support: Condition):
    for address in ("?measure=length", "?policy=no", "table.pdf", "figures/no.svg", "figures/teams.doc"):
        assert client.get(f"{base(judged)}{address}").status_code == 404, address
    assert client.get(base(first_support)).status_code == 404
    assert client_of(make_person("stranger")).get(base(judged)).status_code == 404


def test_the_scores_of_nuggets_alone_lead_there(client: Client, judged: Condition, first_support: Condition):
    scores = "/campaigns/study/scores/?condition="
    assert base(judged) in client.get(f"{scores}{judged.pk}").content.decode()
    assert base(first_support) not in client.get(f"{scores}{first_support.pk}").content.decode()


def test_new_labels_are_taken_up(judged: Condition, client: Client):
    before = client.get(f"{base(judged)}?measure=astrict").content
    other = label(auto_condition(judged.nuggets, "Second"), {"t1": {"a.one": "nnn"}, "t2": {"a.one": "ss"}})
    assert client.get(f"{base(other)}?measure=astrict").content != before
    label(other, {"t1": {"b.one": "sss"}})
    assert len(reusability(other, Policy.ZERO, "astrict").scores.runs) == 2


def test_where_nothing_is_scored_no_team_can_be_left_out(client: Client, edits: Condition):
    condition = auto_condition(edits, "Nothing")
    assert "so no team can be left out" in client.get(base(condition)).content.decode()
    assert client.get(f"{base(condition)}figures/teams.svg").status_code == 200


def test_where_other_teams_cite_everything_too_nothing_changes(client: Client, campaign: Campaign, import_file):
    runs(campaign, import_file, {"a.one": ["d1", "d2", "d3"], "b.one": ["d1", "d2", "d3"], "b.two": ["d2"]})
    condition = label(auto_condition(bank(campaign, import_file), "First"), LABELS)
    text = client.get(base(condition)).content.decode()
    assert "No team alone brought any of the nuggets: leaving one out changes no score." in text
