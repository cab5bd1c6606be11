"""What is said on topics for practice reaches nothing that counts: a test for each reader of labels.

t1 is for practice and t2 is not. Of both there is the same, so each test would find t1 if its reader did not leave it
out (collection.queries.without_practice).
"""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import grades_made_under
from assessor.campaigns.exports import qrels_lines, run_lines
from assessor.campaigns.models import Campaign, Condition, QrelsSource
from assessor.relevance.exports import judgment_lines
from assessor.relevance.models import RelevanceJudgment
from assessor.runtime.process_cache import cache
from assessor.scores.cache import condition_scores, counts_by_condition
from assessor.scores.score_source import scoring_of
from assessor.studies.actions import draw_study
from assessor.studies.models import Study
from assignment.control_runs import make_control_runs
from assignment.exports import assignment_lines
from metaeval.actions import create_comparison, run
from metaeval.inputs import load_input, names_of, state
from metaeval.stats.means import Policy
from nuggets.exports import condition_lines, outcome_lines
from nuggets.queries import finished_counts
from support.exports import support_lines
from support.judgments_table import judgment_lines as support_judgment_lines
from tests.assignment.lines import line as assignment_line
from tests.assignment.lines import nuggets
from tests.conftest import client_of
from tests.judging import give, send
from tests.nuggets.model import draft, make_condition, make_model
from tests.relevance.conftest import give_relevance, judge_item
from tests.support.judging_helpers import from_scratch, sheet_of
from tests.support.lines import FULL, NONE, cites
from tests.support.lines import line as support_line

TEXTS = {"t1": "Cats purr.", "t2": "Glass is melted."}
PEOPLE, MODEL = ("support", "support", "not_support"), ("not_support", "support", "not_support")


@pytest.fixture
def practised(campaign: Campaign, import_file: Any) -> Campaign:
    """Labels of people and of a model on both topics, of which t1 is for practice."""
    campaign.topics.filter(qid="t1").update(is_practice=True)
    for qid, text in TEXTS.items():
        answer = [{"text": text, "citations": [0]}]
        run_line = {"run_id": f"r-{qid}", "topic_id": qid, "references": ["d1"], "answer": answer}
        for tag in ("r1", "r2"):
            import_file(campaign, "runs", [run_line | {"run_id": f"{tag}-{qid}"}])
    for name, by, labels, support in (("People", "people", PEOPLE, FULL), ("Mia", "model", MODEL, NONE)):
        lines = [
            assignment_line(qid, f"{tag}-{qid}", nuggets(*labels), text)
            for qid, text in TEXTS.items()
            for tag in ("r1", "r2")
        ]
        assigned = {"condition": f"{name}/assigned", "by": by, "nuggets": "N"}
        if name == "People":
            listed = [{"text": one["text"], "importance": one["importance"]} for one in nuggets(*PEOPLE)]
            banks = [{"query": "", "qid": qid, "nuggets": listed} for qid in TEXTS]
            assert import_file(campaign, "nuggets", banks, condition="N", by="people").state == "done"
        found = import_file(campaign, "assignments", lines, **assigned)
        assert found.state == "done", found.report
        judged = [
            support_line(qid, f"{tag}-{qid}", cites(text, d1=support))
            for qid, text in TEXTS.items()
            for tag in ("r1", "r2")
        ]
        found = import_file(campaign, "support", judged, condition=f"{name}/support", by=by)
        assert found.state == "done", found.report
        grades = "".join(f"{qid} 0 d1 {2 if name == 'People' else 0}\n" for qid in TEXTS)
        import_file(campaign, "qrels", grades, source=name, by=by)
    return campaign


def condition(campaign: Campaign, name: str) -> Condition:
    return campaign.conditions.get(name=name)


def topics_in(lines: Iterable[str], key: str) -> list[str]:
    return sorted({json.loads(one)[key] for one in lines})


def csv_topics(lines: Iterable[str]) -> list[str]:
    return sorted({one.split(",")[0] for one in list(lines)[1:]})


@pytest.mark.parametrize("kind", ["assigned", "support"])
def test_scores(practised: Campaign, kind: str):
    found = condition_scores(condition(practised, f"People/{kind}"))
    assert [topic.qid for topic in found.topics] == ["t2"]
    assert [run_name.tag for run_name in found.runs] == ["r1-t2", "r2-t2"]


@pytest.mark.parametrize("kind", ["assigned", "support"])
def test_labels_of_comparisons(practised: Campaign, kind: str):
    one = condition(practised, f"People/{kind}")
    _, labels = scoring_of(one.kind).load_with_labels(one)
    assert set(labels.topic.tolist()) == {practised.topics.get(qid="t2").pk}
    given = load_input(one, Policy.ZERO, names_of(practised))
    assert given.scores is not None
    assert given.scores.topics == ["t2"]


def test_grades_of_comparisons(practised: Campaign):
    source = practised.qrels_sources.get(name="People")
    given = load_input(source, Policy.ZERO, names_of(practised))
    assert given.labels is not None
    assert given.labels.topic.tolist() == [practised.topics.get(qid="t2").pk]
    assert state(source).startswith("(1, ")


@pytest.mark.parametrize("kind", ["assigned", "support"])
def test_counts_of_answers(practised: Campaign, kind: str):
    one = condition(practised, f"People/{kind}")
    counts = counts_by_condition([one])
    assert (counts[one.pk].answers, counts[one.pk].done) == (2, 2)
    found = condition_scores(one)
    assert (len(found.topics), len(found.runs)) == (1, 2)


@pytest.mark.parametrize("kind", ["assigned", "support"])
def test_scores_follow_what_is_marked(practised: Campaign, kind: str):
    one = condition(practised, f"People/{kind}")
    cache.clear()
    assert len(condition_scores(one).topics) == 1
    practised.topics.update(is_practice=False)
    assert len(condition_scores(one).topics) == 2


def test_counts_of_banks(practised: Campaign):
    found = finished_counts(practised).get(name="N")
    assert (found.finished, found.banks) == (1, 1)


@pytest.mark.parametrize("kind", ["assigned", "support"])
def test_draws_of_studies(practised: Campaign, kind: str, olga: Person):
    study = draw_study(
        campaign=practised,
        name="S",
        purpose=Study.Purpose.DISAGREEMENT,
        first=condition(practised, f"People/{kind}"),
        second=condition(practised, f"Mia/{kind}"),
        per_topic=None,
        acting_user=olga,
    )
    assert {one.answer.topic.qid for one in study.drawn.all()} == {"t2"}


def test_file_of_nuggets(practised: Campaign):
    assert topics_in(condition_lines(condition(practised, "N")), "qid") == ["t2"]
    assert topics_in(condition_lines(condition(practised, "N"), with_lineage=True), "qid") == ["t2"]


def test_file_of_assignments(practised: Campaign):
    assert topics_in(assignment_lines(condition(practised, "People/assigned")), "qid") == ["t2"]


def test_file_of_support(practised: Campaign):
    assert topics_in(support_lines(condition(practised, "People/support")), "topic_id") == ["t2"]


def test_table_of_support_judgments(practised: Campaign, anna: Person):
    scratch = from_scratch(practised)
    for qid in TEXTS:
        task = give(scratch, practised.topics.get(qid=qid), anna)
        assert send(client_of(anna), sheet_of(task, f"r1-{qid}"), "label", "0.0", label="full").status_code == 200
    assert csv_topics(support_judgment_lines(scratch)) == ["t2"]


def test_table_of_drafts(practised: Campaign):
    edits = make_condition(make_model(practised))
    draft(edits, list(practised.topics.all()), ["a draft"])
    assert csv_topics(outcome_lines(edits)) == ["t2"]


def test_control_runs_say_nothing_of_practice_in_files(practised: Campaign, olga: Person):
    make_control_runs(nuggets=condition(practised, "N"), acting_user=olga)
    for tag in ("control.nuggets.N", "control.empty"):
        assert topics_in(run_lines(practised.runs.get(tag=tag)), "topic_id") == ["t2"]
    assert topics_in(run_lines(practised.runs.get(tag="r1-t1")), "topic_id") == ["t1"], (
        "what systems answered is no label"
    )


def test_grades_made_here(practised: Campaign, anna: Person, import_file: Any):
    import_file(practised, "retrieval", "t1 Q0 d1 1 9 one\nt2 Q0 d1 1 9 one\n")
    task = give_relevance(practised, anna, list(practised.topics.order_by("qid")))
    for item in RelevanceJudgment.objects.filter(condition=task.condition):
        judge_item(item)
    made = grades_made_under(task.condition)
    assert [one.split()[0] for one in qrels_lines(made)] == ["t2"]
    assert csv_topics(judgment_lines(task.condition)) == ["t2"]
    source = QrelsSource.objects.get(name="People")
    assert sorted(one.split()[0] for one in qrels_lines(source)) == ["t1", "t2"], "a file goes out as it came"


def test_page_of_what_differs_on_a_topic(practised: Campaign, olga: Person):
    sides = {"first": condition(practised, "People/support"), "second": condition(practised, "Mia/support")}
    found = run(create_comparison(campaign=practised, **sides, acting_user=olga)).comparison
    client: Client = client_of(olga)
    status = {
        qid: client.get(
            f"/campaigns/{practised.slug}/comparisons/{found.pk}/topics/{practised.topics.get(qid=qid).pk}/"
        ).status_code
        for qid in TEXTS
    }
    assert status == {"t1": 404, "t2": 200}
