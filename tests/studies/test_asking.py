"""Another model as a judge of a sample: whole jobs over real HTTP."""

import re

import pytest
from django.test import Client

from assessor.campaigns.models import Condition
from assessor.llm import runner
from assessor.llm.models import Job, ModelJudge
from assessor.studies.models import Study
from tests.conftest import client_of
from tests.judging import all_judged, asked, given, stands
from tests.llm.conftest import _short_waits, endpoint  # noqa: F401  # fixtures
from tests.llm.grading import make_judge
from tests.studies.conftest import MODEL, N_MODEL, draw, ids_of, nugget_labels, support_labels
from tests.studies.test_allocation import finished_again

pytestmark = pytest.mark.django_db(transaction=True)
LAUNCH: dict[str, object] = {"launch": 1}


def ask(client: Client, study: Study, judge: ModelJudge, fields: dict[str, object] | None = None) -> str:
    """Ask as the page does, and return what it says."""
    data = {"judge": judge.pk, "replicate": 0, "name": ""} | (fields or {})
    response = client.post(f"/campaigns/study/studies/{study.pk}/ask/", data, follow=True)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def launched(client: Client, study: Study, judge: ModelJudge) -> Job:
    ask(client, study, judge, LAUNCH)
    return Job.objects.latest("pk")


def ended(job: Job) -> Job:
    runner.run_job(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE
    return job


def test_a_model_is_asked_about_drawn_citations_alone(people, model, olga, endpoint):  # noqa: F811
    server = endpoint()
    study, client = draw(people, model, per_topic=2), client_of(olga)
    judge = make_judge(people.campaign, server.base_url, name="Rea")
    text = ask(client, study, judge)
    assert not Job.objects.exists()
    assert "Creates the condition <bdi>Telltale study: Rea</bdi>" in text
    job = ended(launched(client, study, judge))
    assert (job.estimate["calls"], job.units_total, job.calls, len(server.begun())) == (4, 4, 4, 4)
    condition = job.condition
    assert (condition.method, condition.sample, condition.judge) == ("support automatic", study.name, judge.judge)
    drawn = {(one.answer_id, one.item) for one in study.drawn.all()}
    sheets = all_judged(condition)
    cited = {
        (sheet.answer_id, f"{key[0]} {list(sheet.answer.sentences())[int(key[0])].citations[int(key[2])].docid}"): label
        for sheet in sheets
        for key, label in given(sheet).items()
    }
    assert set(cited) == drawn
    assert {len(asked(sheet)) for sheet in sheets} <= {1, 2}
    # Again there is nothing to do, and nothing more is asked.
    assert f"There is nothing to do: all of it is done under {condition}." in ask(client, study, judge, LAUNCH)
    assert Job.objects.count() == 1
    assert len(all_judged(condition)) == len(sheets)
    assert len(server.begun()) == 4


def test_a_model_is_asked_about_drawn_nuggets_alone(n_people, n_model, nuggets, olga, endpoint):  # noqa: F811
    server = endpoint()
    study, client = draw(n_people, n_model), client_of(olga)
    judge = make_judge(nuggets.campaign, server.base_url, name="Rea")
    job = ended(launched(client, study, judge))
    assert (job.estimate["calls"], job.units_total, job.calls) == (3, 3, 3)
    ids = ids_of(nuggets)
    said = {
        (sheet.answer.run.tag, sheet.answer.topic.qid): (asked(sheet), sorted(map(int, given(sheet))))
        for sheet in all_judged(job.condition)
    }
    wanted = {
        ("team.one", "t1"): [ids["purring heals"], ids["dogs bark"]],
        ("team.two", "t1"): [ids["purring heals"], ids["cats purr"]],
        ("team.one", "t2"): [ids["glass is melted"]],
    }
    assert said == {place: (asked, asked) for place, asked in wanted.items()}
    assert "There is nothing to do" in ask(client, study, judge, LAUNCH)
    # A nugget that says something else now is not what was drawn: nothing more is asked.
    finished_again(nuggets, {"dogs bark": "dogs growl"})
    assert "There is nothing to do" in ask(client, study, judge, LAUNCH)
    assert len(server.begun()) == 3


def test_what_failed_is_asked_again_and_nothing_that_was_not_drawn(n_people, n_model, nuggets, olga, endpoint):  # noqa: F811
    broken = endpoint(failure_rate=1.0)
    study, client = draw(n_people, n_model, per_topic=1), client_of(olga)
    judge = make_judge(nuggets.campaign, broken.base_url, name="Rea")
    job = ended(launched(client, study, judge))
    assert (job.units_total, job.units_failed) == (2, 2)
    ModelJudge.objects.filter(pk=judge.pk).update(base_url=endpoint().base_url)
    again = ended(launched(client, study, judge))
    assert (again.condition, again.units_total, again.units_done, again.estimate["calls"]) == (job.condition, 2, 2, 2)
    sheets = all_judged(job.condition)
    assert [(len(asked(one)), len(given(one)), stands(one)["to_do"]) for one in sheets] == [(1, 1, 0)] * 2


@pytest.mark.parametrize("kind", ["support", "assignment"])
def test_the_judge_of_the_second_labels_is_refused(people, n_people, nuggets, answered, olga, kind: str):
    judge = make_judge(answered, name="Rea")
    fields = {"judge": judge.judge, "method": "support automatic"}
    if kind == "support":
        study = draw(people, support_labels(answered, "Rea's", "model", MODEL, **fields))
    else:
        second = nugget_labels(nuggets, "Rea's", "model", N_MODEL)
        Condition.objects.filter(pk=second.pk).update(judge=judge.judge, method="AutoAssign")
        second.refresh_from_db()
        study = draw(n_people, second)
    client = client_of(olga)
    assert "Rea gave the labels of Rea&#x27;s: choose another judge" in ask(client, study, judge, LAUNCH)
    assert not Job.objects.exists()
    assert "Creates the condition <bdi>Telltale study: Rea #2</bdi>" in ask(client, study, judge, {"replicate": 2})


def test_no_model_decides_between_people(people, others, answered, olga):
    study = draw(people, others, purpose="adjudication")
    text = ask(client_of(olga), study, make_judge(answered), LAUNCH)
    assert "Where two people differ, a third person decides." in text
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"judge": 10**30}, "Select a valid choice"),
        ({"judge": "x\x00"}, "Select a valid choice|Null characters"),
        ({"replicate": 10**30}, "less than or equal to 1000"),
        ({"name": "a\x00"}, "Null characters are not allowed"),
        ({"most_calls": 0}, "greater than or equal to 1"),
    ],
)
def test_odd_input_is_refused(people, model, answered, olga, fields, message: str):
    study, judge = draw(people, model), make_judge(answered)
    assert re.search(message, ask(client_of(olga), study, judge, LAUNCH | fields))
    assert not Job.objects.exists()
