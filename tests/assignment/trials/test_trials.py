"""A nugget is tried against answers while its bank is edited, by nobody who labels or is to label there blind."""

import re
from html import unescape
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from assessor.accounts.models import Person
from assessor.campaigns.models import Answer, Campaign, Condition, Topic
from assessor.llm import runner
from assessor.llm.models import Job, ModelJudge
from assessor.plan.actions import plan_work
from assessor.work.actions import PlanError, give_tasks
from assessor.work.models import Exposure
from assignment.actions import create_manual_assign
from assignment.trials.actions import TrialError, set_trials, try_nugget
from assignment.trials.models import NuggetTrial, TrialLabel, TrialSetting
from assignment.trials.queries import pairs_apart
from nuggets.models import NuggetBank
from tests.assignment.conftest import answered as answered
from tests.assignment.scored import import_banks
from tests.conftest import client_of
from tests.judging import give
from tests.llm.conftest import _short_waits, endpoint  # noqa: F401  # fixtures
from tests.llm.grading import make_judge
from tests.nuggets.model import draft, make_condition, make_model

TEXTS = ["Cats purr when content", "Purring heals"]


@pytest.fixture
def editing(answered: Campaign) -> Condition:
    """People edit what a model drafted on t1."""
    condition = make_condition(make_model(answered))
    draft(condition, [answered.topics.get(qid="t1")], TEXTS)
    return condition


@pytest.fixture
def judge(answered: Campaign) -> ModelJudge:
    return make_judge(answered, "http://127.0.0.1:9/v1", structured=True)


@pytest.fixture
def on(editing: Condition, judge: ModelJudge, olga: Person) -> TrialSetting:
    of = {"campaign": editing.campaign, "nuggets": editing, "acting_user": olga}
    setting = set_trials(**of, judge=judge, most_calls=100)
    assert setting is not None
    return setting


@pytest.fixture
def bank(editing: Condition, topic: Topic, anna: Person) -> NuggetBank:
    return give(editing, topic, anna).nugget_bank


@pytest.fixture
def labelled(answered: Campaign, import_file) -> Condition:
    """People label other nuggets of t1 blind."""
    banks = import_banks(answered, import_file)
    return create_manual_assign(nuggets=banks, name="Blind", acting_user=None)


def section(client: Client, bank: NuggetBank) -> str:
    """Return what stands below the list, as text, or the status where there is nothing."""
    answer = client.get(reverse("nugget_trials", args=[bank.pk]))
    told = " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())).split())
    return told if answer.status_code == 200 else str(answer.status_code)


def uid(bank: NuggetBank, text: str) -> UUID:
    found: UUID = bank.nuggets.get(text=text).uid
    return found


def post(client: Client, bank: NuggetBank, of: UUID) -> int:
    return client.post(reverse("try_nugget", args=[bank.pk, of])).status_code


def is_offered(client: Client, bank: NuggetBank) -> bool:
    return reverse("nugget_trials", args=[bank.pk]) in client.get(f"/nuggets/{bank.pk}/").content.decode()


def test_nothing_is_tried_unless_an_organizer_lets_people(editing, judge, bank, as_anna: Client, olga: Person):
    assert not is_offered(as_anna, bank)
    assert section(as_anna, bank) == "404"
    assert post(as_anna, bank, uid(bank, TEXTS[0])) == 404
    page = reverse("trial_setting", args=[editing.campaign.slug, editing.pk])
    assert as_anna.get(page).status_code == 404
    as_olga = client_of(olga)
    assert as_olga.post(page, {"judge": judge.pk, "most_calls": 0}).status_code == 200
    assert not TrialSetting.objects.exists()
    assert as_olga.post(page, {"judge": judge.pk, "most_calls": 50}).status_code == 302
    assert is_offered(as_anna, bank)
    # Another person's bank is nobody's, an organizer's neither.
    assert section(as_olga, bank) == "404"
    assert as_olga.post(page, {"judge": "", "most_calls": 50}).status_code == 302
    assert not is_offered(as_anna, bank)
    assert section(as_anna, bank) == "404"
    assert not NuggetTrial.objects.exists()
    assert not Exposure.objects.filter(kind="assignment").exists()


@pytest.mark.django_db(transaction=True)
def test_a_nugget_is_tried_and_tells_runs_apart(editing, bank, as_anna: Client, olga: Person, endpoint):  # noqa: F811
    judge = make_judge(editing.campaign, endpoint().base_url, structured=True)
    set_trials(campaign=editing.campaign, nuggets=editing, judge=judge, most_calls=3, acting_user=olga)
    assert post(as_anna, bank, uid(bank, TEXTS[0])) == 200
    job = Job.objects.get(kind="AutoTrial")
    # Nobody is asked about the empty answer.
    assert (job.units_total, job.most_calls, job.created_by) == (2, 3, bank.task.person)
    assert "1 of 3 answers so far" in section(as_anna, bank)
    runner.run_job(job.pk)
    said = dict(TrialLabel.objects.values_list("answer__run__tag", "value"))
    assert said == {"team.one": "support", "team.two": "not_support", "team.empty": "not_support"}
    assert "1 of 3 runs state it; it tells 2 pairs of runs apart." in section(as_anna, bank)
    assert "text changed since" not in section(as_anna, bank)
    # The same text is not asked about again; another one is not, either, as one call is left and two are needed.
    assert post(as_anna, bank, uid(bank, TEXTS[0])) == 200
    answer = as_anna.post(reverse("try_nugget", args=[bank.pk, uid(bank, TEXTS[1])]))
    assert "This takes 2 calls, and the budget has 1 left" in answer.content.decode()
    assert (NuggetTrial.objects.count(), Job.objects.filter(kind="AutoTrial").count()) == (1, 1)
    bank.nuggets.filter(text=TEXTS[0]).update(text="Cats purr loudly")
    assert "text changed since Tried as: Cats purr when content" in section(as_anna, bank)
    # It is in no table of labels, and no organizer launches it.
    assert not editing.campaign.conditions.filter(kind="assignment").exists()
    page = client_of(olga).get(reverse("launch_job", args=[editing.campaign.slug])).content.decode()
    assert "AutoTrial" not in page


def test_a_trial_that_was_cancelled_is_begun_again(on, bank, as_anna: Client):
    for number in (1, 2):
        assert post(as_anna, bank, uid(bank, TEXTS[0])) == 200
        assert NuggetTrial.objects.count() == number
        Job.objects.update(state=Job.State.CANCELLED)


def test_who_tried_a_nugget_is_given_no_blind_labels_there(on, bank, labelled, topic, anna, ben, as_anna: Client):
    Job.objects.exclude(kind="AutoTrial").update(state="done")
    assert post(as_anna, bank, uid(bank, TEXTS[0])) == 200
    seen = Exposure.objects.filter(person=anna, topic=topic, kind="assignment").order_by("pk")
    # By the request itself, and by what she read then.
    of = bank.condition
    assert [one.where for one in seen] == [f"nugget tried under {of}", f"trials of nuggets under {of}"]
    with pytest.raises(TrialError, match="can't be tried by you"):
        try_nugget(bank=bank, uid=uid(bank, TEXTS[1]), acting_user=ben)
    by = {"campaign": labelled.campaign, "condition": labelled, "acting_user": None}
    with pytest.raises(PlanError, match="seen"):
        give_tasks(topics=[topic], person=anna, **by)
    # Others are, and she is on other topics.
    give_tasks(topics=[topic], person=ben, **by)
    give_tasks(topics=[labelled.campaign.topics.get(qid="t2")], person=anna, **by)


def test_who_reads_what_came_of_a_trial_has_seen_it(on, bank, topic, anna: Person, as_anna: Client):
    section(as_anna, bank)
    of_labels = Exposure.objects.filter(person=anna, topic=topic, kind="assignment")
    assert not of_labels.exists()  # there is nothing to see yet
    NuggetTrial.objects.create(condition=on.condition, nugget=bank.nuggets.all()[0], text="a", person=anna)
    section(as_anna, bank)
    section(as_anna, bank)
    assert of_labels.get().where == f"trials of nuggets under {bank.condition}"


@pytest.mark.parametrize("way", ["task", "finished task", "plan"])
def test_who_has_or_is_to_get_blind_labels_there_is_not_offered_it(
    way: str, on: TrialSetting, bank, labelled: Condition, topic, anna: Person, as_anna: Client
):
    assert is_offered(as_anna, bank)
    if way == "plan":
        plan_work(condition=unfinished(labelled), topics=[topic], person=anna, acting_user=None)
    else:
        task = give(labelled, topic, anna)
        if way == "finished task":
            type(task).objects.filter(pk=task.pk).update(state="finished")
    assert not is_offered(as_anna, bank)
    assert section(as_anna, bank) == "404"
    assert post(as_anna, bank, uid(bank, TEXTS[0])) == 404
    with pytest.raises(TrialError, match="can't be tried by you"):
        try_nugget(bank=bank, uid=uid(bank, TEXTS[0]), acting_user=anna)
    assert not NuggetTrial.objects.exists()
    assert not Exposure.objects.filter(person=anna, kind="assignment").exists()


def unfinished(labelled: Condition) -> Condition:
    """Return a condition of blind labels whose nuggets are not finished: what is planned there waits for them."""
    nuggets = make_condition(make_model(labelled.campaign, "another"), "AutoNuggets", name="Not made yet")
    return create_manual_assign(nuggets=nuggets, name="Blind later", acting_user=None)


def test_only_where_people_edit_drafts(on, judge: ModelJudge, condition: Condition, bank, as_anna, olga: Person):
    with pytest.raises(TrialError, match="a model may not shape"):
        set_trials(campaign=condition.campaign, nuggets=condition, judge=judge, most_calls=1, acting_user=olga)
    page = reverse("trial_setting", args=[condition.campaign.slug, condition.pk])
    assert client_of(olga).get(page).status_code == 404
    # A nugget that is not on the list any more is not tried, nor is one of another bank.
    assert post(as_anna, bank, uuid4()) == 200
    gone = uid(bank, TEXTS[1])
    bank.order.remove(str(gone))
    bank.save()
    assert post(as_anna, bank, gone) == 200
    assert not NuggetTrial.objects.exists()


def test_what_is_shown_takes_as_many_queries_for_many_trials(on, bank, as_anna: Client, anna: Person):
    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            section(as_anna, bank)
        return len(asked)

    nuggets = list(bank.nuggets.all())
    NuggetTrial.objects.create(condition=on.condition, nugget=nuggets[0], text="a", person=anna)
    section(as_anna, bank)
    few = queries()
    for nugget in nuggets * 3:
        trial = NuggetTrial.objects.create(condition=on.condition, nugget=nugget, text="a", person=anna)
        for answer in Answer.objects.filter(topic=bank.topic):
            TrialLabel.objects.create(trial=trial, answer=answer, value="support")
    assert queries() == few


def test_pairs_are_told_apart_by_different_labels():
    assert pairs_apart([3]) == 0
    assert pairs_apart([2, 1]) == 2
    assert pairs_apart([2, 2, 1]) == 4 + 2 + 2
