"""Conditions under which people grade, and what they are given."""

import random
import re

import pytest
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import ConditionError, change_protocol
from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Campaign, Condition, Event, Topic
from assessor.labels.models import ManualSetup
from assessor.relevance.actions import create_relevance
from assessor.relevance.models import RelevanceJudgment
from assessor.work.actions import PlanError, give_tasks, withdraw_task
from assessor.work.blindness import record_exposure
from assessor.work.models import Task
from nuggets.actions import create_manual_nuggets
from tests.conftest import client_of
from tests.relevance.conftest import at_hand, give_relevance, judge_item, send


def order(task: Task) -> list[str]:
    return [
        item.docid
        for item in RelevanceJudgment.objects.filter(condition=task.condition, topic=task.topic).order_by("position")
    ]


def test_a_condition_comes_with_its_grades_and_how_it_is_given(pooled: Campaign, olga: Person):
    condition = create_relevance(campaign=pooled, name="By hand", shown=None, from_queue=True, acting_user=olga)
    assert condition.identity == "kind=relevance; method=manual relevance; judge=people; protocol=trec-2024 v1"
    assert condition.is_blind()
    source = condition.grades_made
    assert (source.name, source.by, source.campaign, source.import_record) == ("By hand", "people", pooled, None)
    setup = ManualSetup.objects.get(condition=condition)
    assert (setup.purpose, setup.from_queue, 0 <= setup.seed < 2**31) == ("first", True, True)
    with pytest.raises(ConditionError, match="By hand is that condition already"):
        create_relevance(campaign=pooled, name="Again", shown=None, from_queue=False, acting_user=olga)


def test_only_a_models_grades_are_post_edited_and_the_condition_names_them(pooled: Campaign, import_file):
    people = pooled.qrels_sources.get(name="NIST")
    with pytest.raises(ConditionError, match="What is post-edited are a model's grades; those of NIST are people's"):
        create_relevance(campaign=pooled, name="Edited", shown=people, from_queue=False, acting_user=None)
    import_file(pooled, "qrels", "t1 0 d1 3\n", source="Mia's", by="model")
    model = pooled.qrels_sources.get(name="Mia's")
    condition = create_relevance(campaign=pooled, name="Edited", shown=model, from_queue=False, acting_user=None)
    assert (condition.method, condition.qrels_source, condition.is_blind()) == ("relevance post-edited", model, False)
    assert "qrels=Mia's; method=relevance post-edited; judge=people" in condition.identity


def test_a_topic_is_given_as_its_pool_in_a_seeded_order(task: Task):
    assert (task.kind, task.total, task.done, kind_of(task).url(task)) == ("relevance", 4, 0, f"/relevance/{task.pk}/")
    pool = ["d1", "d2", "d3", "d4"]
    random.Random(f"{task.condition.manual_setup.seed} t1").shuffle(pool)
    assert order(task) == pool
    assert [item.position for item in RelevanceJudgment.objects.all()] == [0, 1, 2, 3]


def test_a_seed_decides_and_topics_differ(pooled: Campaign, anna: Person, import_file):
    lines = "".join(f"{qid} Q0 x{number} {number} 1 more\n" for qid in ("t1", "t2") for number in range(2))
    import_file(pooled, "retrieval", lines)
    orders = set()
    for seed in range(12):
        RelevanceJudgment.objects.all().delete()
        Task.objects.all().delete()
        ManualSetup.objects.update(seed=seed)
        orders.add(tuple(order(give_relevance(pooled, anna))))
    assert len(orders) > 6


def test_a_topic_of_one_person_is_nobody_elses(task: Task, ben: Person):
    with pytest.raises(PlanError, match=r"Under given these topics are somebody else's already: t1 \(anna\)"):
        give_relevance(task.campaign, ben)


def test_a_withdrawn_topic_goes_on_with_somebody_else(task: Task, ben: Person, olga: Person):
    judge_item(RelevanceJudgment.objects.get(docid="d2"))
    withdraw_task(task=task, acting_user=olga)
    bens = give_relevance(task.campaign, ben)
    assert (bens.total, RelevanceJudgment.objects.count()) == (3, 4)


def test_a_queues_topic_is_given_to_many_and_nobodys_share_is_known(queue: Task, ben: Person):
    assert queue.total == 0
    bens = give_relevance(queue.campaign, ben, from_queue=True)
    assert (bens.topic, bens.condition, bens.total) == (queue.topic, queue.condition, 0)
    assert RelevanceJudgment.objects.count() == 4


def test_what_came_into_the_pool_since_is_given_with_the_topic_to_the_next_one(queue: Task, ben: Person, import_file):
    before = order(queue)
    import_file(queue.campaign, "retrieval", "t1 Q0 new 1 9 later\n")
    give_relevance(queue.campaign, ben, from_queue=True)
    assert order(queue) == [*before, "new"]


def test_nothing_to_grade_is_not_given(pooled: Campaign, queue: Task, anna: Person, ben: Person, import_file):
    import_file(pooled, "topics", "t9\tnine\n")
    message = "There is nothing to grade on t9 under from a queue: no passage is in the pool."
    with pytest.raises(PlanError, match=message):
        give_relevance(pooled, anna, [pooled.topics.get(qid="t1"), pooled.topics.get(qid="t9")], from_queue=True)
    for item in RelevanceJudgment.objects.all():
        judge_item(item)
    with pytest.raises(
        PlanError, match="There is nothing to grade on t1 under from a queue: every pooled passage is graded"
    ):
        give_relevance(pooled, ben, from_queue=True)


def test_a_models_condition_is_nobodys_task(umbrela: Condition, topic: Topic, anna: Person):
    with pytest.raises(PlanError, match="Nobody can be given UMBRELA: it is not done by people"):
        give_tasks(campaign=topic.campaign, topics=[topic], condition=umbrela, person=anna, acting_user=None)
    assert not Task.objects.exists()


def test_who_has_seen_a_models_grades_of_a_topic_is_not_given_it_blind(pooled: Campaign, anna: Person, topic: Topic):
    record_exposure(anna, [topic], "relevance", "test")
    with pytest.raises(PlanError, match="anna has seen LLM output of this kind on t1, and given is done blind"):
        give_relevance(pooled, anna)


def test_an_organizer_makes_the_conditions_on_a_page_and_plans_them(pooled, olga, anna, ben, import_file):
    import_file(pooled, "qrels", "t1 0 d1 3\n", source="Mia's", by="model")
    client, address = client_of(olga), "/campaigns/study/conditions/new/"
    model = pooled.qrels_sources.get(name="Mia's")
    page = client.post(address, {"method": "relevance post-edited", "given": "given"}).content.decode()
    assert 'href="#id_shown">Grades to post-edit</a>: This field is required.' in page
    people = pooled.qrels_sources.get(name="NIST")
    page = client.post(address, {"method": "relevance post-edited", "given": "given", "shown": people.pk})
    assert b"Select a valid choice" in page.content
    client.post(address, {"method": "relevance post-edited", "given": "given", "shown": model.pk})
    # A source chosen before the method was changed counts for nothing.
    client.post(address, {"method": "manual relevance", "name": "Queue", "given": "drawn", "shown": model.pk})
    edited, queue = pooled.conditions.get(name="relevance post-edited"), pooled.conditions.get(name="Queue")
    assert (edited.qrels_source, edited.manual_setup.from_queue) == (model, False)
    assert (queue.qrels_source, queue.manual_setup.from_queue) == (None, True)
    page = client.get(f"/campaigns/study/conditions/{edited.pk}/").content.decode()
    assert "qrels=Mia&#x27;s; method=relevance post-edited" in page
    sources = client.get("/campaigns/study/relevance/").content.decode()
    [row] = re.findall(r"<tr>(?:(?!</tr>).)*<bdi>Queue</bdi>.*?</tr>", sources, re.DOTALL)
    assert "by people, 0 to 3, made here" in row
    assert re.findall(r'<td class="num">(.*?)</td>', row) == ["0", "0"], "topics and grades"

    for person in (anna, ben):
        form = {"topics": [pooled.topics.get(qid="t1").pk], "condition": queue.pk, "person": person.pk}
        assert (
            f"{person} has 1 topic under Queue"
            in client.post("/campaigns/study/plan/give/", form, follow=True).content.decode()
        )
    assert b"passages 0" in client_of(ben).get("/").content


def grade_all(client: Client, task: Task) -> None:
    """Grade whatever is at hand until nothing is."""
    while found := at_hand(client.get(f"/relevance/{task.pk}/")):
        assert send(client, task, "judge", item=found[0], grade=1).status_code == 200


@pytest.mark.parametrize("from_queue", [False, True])
def test_what_came_into_the_pool_since_is_given_with_the_topic_again(
    pooled: Campaign, anna: Person, ben: Person, as_anna: Client, olga: Person, import_file, from_queue: bool
):
    import_file(pooled, "segments", [{"docid": docid, "segment": "text"} for docid in ("d4", "d9")])
    task = give_relevance(pooled, anna, from_queue=from_queue)
    grade_all(as_anna, task)
    assert give_relevance(pooled, anna, from_queue=from_queue).state == "finished", "nothing new: it stays as it is"
    import_file(pooled, "retrieval", "t1 Q0 d9 1 9 three\n")
    topics = [pooled.topics.get(qid="t1")]
    given = give_tasks(campaign=pooled, topics=topics, condition=task.condition, person=anna, acting_user=olga)
    assert [(one.state, one.done, one.total) for one in given] == [("open", 4, 0 if from_queue else 5)]
    assert Event.objects.filter(verb="task given", person=olga).count() == 1
    grade_all(as_anna, task)
    assert (Task.objects.get().state, RelevanceJudgment.objects.exclude(state="open").count()) == ("finished", 5)


def test_a_queue_that_grows_opens_for_all_who_have_it(queue: Task, as_anna: Client, ben: Person, import_file):
    import_file(queue.campaign, "segments", [{"docid": "d4", "segment": "text"}])
    grade_all(as_anna, queue)
    import_file(queue.campaign, "retrieval", "t1 Q0 d9 1 9 three\n")
    give_relevance(queue.campaign, ben, from_queue=True)
    assert set(Task.objects.values_list("state", flat=True)) == {"open"}


def test_a_withdrawn_queue_in_which_nothing_is_left_is_not_given_back(
    queue: Task, ben: Person, olga: Person, import_file
):
    import_file(queue.campaign, "segments", [{"docid": "d4", "segment": "text"}])
    bens = give_relevance(queue.campaign, ben, from_queue=True)
    withdraw_task(task=queue, acting_user=olga)
    grade_all(client_of(ben), bens)
    with pytest.raises(
        PlanError, match="There is nothing to grade on t1 under from a queue: every pooled passage is graded"
    ):
        give_relevance(queue.campaign, queue.person, from_queue=True)
    assert Task.objects.get(pk=queue.pk).state == "withdrawn"


def test_a_topic_given_back_counts_what_others_did_meanwhile(
    task: Task, anna: Person, as_anna: Client, ben: Person, olga: Person
):
    first, second, _ = at_hand(as_anna.get(f"/relevance/{task.pk}/"))
    send(as_anna, task, "judge", item=first, grade=1)
    withdraw_task(task=task, acting_user=olga)
    bens = give_relevance(task.campaign, ben)
    send(client_of(ben), bens, "judge", item=second, grade=1)
    withdraw_task(task=bens, acting_user=olga)
    again = give_relevance(task.campaign, anna)
    assert (again.state, again.done, again.total) == ("open", 1, 3)


def nuggets_of(campaign: Campaign, olga: Person) -> Condition:
    source = campaign.qrels_sources.get(name="NIST")
    return create_manual_nuggets(campaign=campaign, name="Nuggets", qrels_source=source, acting_user=olga)


def test_who_sees_grades_in_the_nugget_editor_does_not_grade_from_scratch(pooled: Campaign, anna: Person, olga: Person):
    t1 = [pooled.topics.get(qid="t1")]
    nuggets = nuggets_of(pooled, olga)
    [task] = give_tasks(campaign=pooled, topics=t1, condition=nuggets, person=anna, acting_user=olga)
    withdraw_task(task=task, acting_user=olga)
    with pytest.raises(PlanError, match="anna has both nuggets and grading from scratch on t1 then"):
        give_relevance(pooled, anna)
    change_protocol(campaign=pooled, settings={"blind_after_seeing": False}, acting_user=olga)
    give_relevance(Campaign.objects.get(), anna)


def test_who_grades_from_scratch_writes_nuggets_only_after_that(task: Task, olga: Person, as_anna: Client, import_file):
    import_file(task.campaign, "segments", [{"docid": "d4", "segment": "text"}])
    nuggets = nuggets_of(task.campaign, olga)

    def give() -> None:
        give_tasks(campaign=task.campaign, topics=[task.topic], condition=nuggets, person=task.person, acting_user=olga)

    with pytest.raises(PlanError, match="anna has both nuggets and grading from scratch on t1 then"):
        give()
    grade_all(as_anna, task)
    give()
