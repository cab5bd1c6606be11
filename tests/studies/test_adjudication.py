"""Where two people differ a third sees both labels, and nobody else does; it is recorded, and all labels stay."""

import json
import re
from html import unescape

import pytest
from django.http import HttpResponse

from assessor.accounts.models import Person
from assessor.campaigns.actions import change_protocol
from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.labels.manual_setups import label_again
from assessor.studies.actions import let_people_judge
from assessor.studies.models import Study
from assessor.work.actions import PlanError, draw_next, put_in_queue, withdraw_task
from assessor.work.models import Exposure, Task
from assignment.actions import create_manual_assign
from support.actions import create_support
from tests.conftest import client_of
from tests.judging import all_judged, asked, change, given, judgeable, judged, send, snapshot, url
from tests.studies.conftest import OTHERS, draw, give, ids_of, nugget_labels, support_labels

BOTH = "carl has both an adjudication and other labels of this kind to give on t1 then"
N_OTHERS = {("team.one", "t1"): {"purring heals": "partial_support", "cats purr": "support", "dogs bark": "support"}}


@pytest.fixture
def study(people: Condition, others: Condition) -> Study:
    return draw(people, others, purpose="adjudication")


@pytest.fixture
def n_study(nuggets: Condition, n_people: Condition) -> Study:
    others = nugget_labels(nuggets, "Others assigned", "people", N_OTHERS)
    return draw(n_people, others, purpose="adjudication", name="Telltale nuggets")


def judges(study: Study, name: str = "Telltale judge") -> Condition:
    return let_people_judge(study=study, name=name, acting_user=None)


def to_decide(response: HttpResponse) -> list[dict[str, list[str]]]:
    assert response.status_code == 200
    return [json.loads(unescape(text)) for text in re.findall(r'data-to-decide="(.*?)"', response.content.decode())]


def pairs(response: HttpResponse) -> list[dict[str, list[str]]]:
    """Return what is to be decided, the two labels of each item in the order of the alphabet."""
    return [{item: sorted(labels) for item, labels in answer.items()} for answer in to_decide(response)]


def test_the_third_sees_both_labels_of_citations_which_is_recorded_once(study, people, others, topic, carl, olga):
    condition = judges(study)
    assert (condition.method, condition.is_blind()) == ("adjudicated", False)
    before = snapshot(people), snapshot(others)
    [task] = give(condition, carl, topic)
    assert not Exposure.objects.exists()
    client = client_of(carl)
    client.get("/")
    assert not Exposure.objects.exists(), "nothing was on screen yet"
    one, two = (judged(task, tag) for tag in ("team.one", "team.two"))
    assert (asked(one), asked(two)) == (["0.0"], ["1.0"])
    found = pairs(client.get(f"/support/{task.pk}/"))
    assert sorted(found, key=str) == [{"0.0": ["full", "none"]}, {"1.0": ["full", "partial"]}]
    assert pairs(client.get(url(one))) == [{"0.0": ["full", "none"]}]
    assert pairs(client.get(url(two))) == [{"1.0": ["full", "partial"]}]
    exposure = Exposure.objects.get()
    assert (exposure.person, exposure.topic, exposure.kind) == (carl, topic, "support")
    assert exposure.where == "labels to decide between in Telltale study"
    # All three stay.
    assert send(client, one, "label", "0.0", label="partial").status_code == 200
    assert (snapshot(people), snapshot(others)) == before
    assert given(one) == {"0.0": "partial"}
    drawn = study.drawn.get(answer=one.answer)
    assert (drawn.first_label, drawn.second_label) == ("full", "none")
    text = client_of(olga).get(f"/campaigns/study/studies/{study.pk}/export/items.csv").getvalue().decode()
    assert "t1,team.one,sentence 1,Cats purr to heal.,d1,full,none,partial,," in text
    # Which study it is and who they were is not told.
    page = client.get(f"/support/{task.pk}/").content.decode() + client.get("/").content.decode()
    for secret in ("Telltale", "NIST", "Others", "team."):
        assert secret not in page


def test_a_stored_seed_decides_for_each_item_which_label_comes_first(n_study, nuggets, topic, carl):
    """Or the one that always comes first would be known as somebody's, such as the first person's."""
    [task] = give(judges(n_study), carl, topic)
    ids, client = ids_of(nuggets), client_of(carl)
    orders = []
    for seed in range(40):
        Study.objects.update(seed=seed)
        [found] = to_decide(client.get(f"/assign/{task.pk}/"))
        assert to_decide(client.get(f"/assign/{task.pk}/")) == [found]
        orders.append([found[str(ids[text])][0] == "support" for text in ("purring heals", "dogs bark")])
    assert {tuple(one) for one in orders} == {(True, True), (True, False), (False, True), (False, False)}
    assert 10 < sum(one for one, _ in orders) < 30
    assert orders[:4] == [[True, True], [True, False], [True, True], [False, False]], "in every database"


def test_the_third_sees_both_labels_of_nuggets(n_study, nuggets, topic, carl):
    [task] = give(judges(n_study), carl, topic)
    ids, client = ids_of(nuggets), client_of(carl)
    wanted = {
        str(ids["purring heals"]): ["partial_support", "support"],
        str(ids["dogs bark"]): ["not_support", "support"],
    }
    sheet = judged(task)
    # The answer alone is enough to be recorded.
    assert pairs(client.get(url(sheet))) == [wanted]
    assert Exposure.objects.get().where == "labels to decide between in Telltale nuggets"
    assert pairs(client.get(f"/assign/{task.pk}/")) == [wanted]
    assert Exposure.objects.count() == 1
    said = send(client, sheet, "label", ids["dogs bark"], label="support")
    stale = send(client, sheet, "label", ids["dogs bark"], label="support", version=0)
    for response in (said, stale):
        assert "partial_support" not in response.content.decode()


@pytest.mark.parametrize("kind", ["support", "assignment"])
def test_who_decided_labels_nothing_of_the_topic_blind_any_more(
    study, n_study, nuggets, answered, topic, carl, ben, kind
):
    if kind == "support":
        of, blind = study, create_support(campaign=answered, name="blind", shown=None, acting_user=None)
    else:
        of, blind = n_study, create_manual_assign(nuggets=nuggets, name="blind", acting_user=None)
    address = "support" if kind == "support" else "assign"
    [before] = give(blind, carl, topic)
    decided = judges(of)
    with pytest.raises(PlanError, match=BOTH):
        give(decided, carl, topic)
    assert not Task.objects.filter(condition=decided).exists()
    Task.objects.filter(pk=before.pk).update(state="finished")
    [task] = give(decided, carl, topic)
    client = client_of(carl)
    for own in (before, task):
        assert client.get(f"/{address}/{own.pk}/").status_code == 200
    with pytest.raises(PlanError, match=BOTH):
        give(blind, carl, topic)
    assert give(judges(of, "other"), ben, topic)


# What two people said beside a model's labels, and a third who decides


@pytest.fixture
def beside(answered: Campaign, model: Condition) -> Condition:
    return create_support(campaign=answered, name="Post-edited", shown=model, acting_user=None)


@pytest.fixture
def annas(beside: Condition, anna: Person, topic: Topic) -> Task:
    """What Anna said beside the model's labels."""
    return all_said(beside, anna, topic, "full")


@pytest.fixture
def b_study(annas: Task, beside: Condition, ben: Person, topic: Topic) -> Study:
    """A study of where Ben says something else."""
    second = label_again(of=beside, name="Second", purpose="second", acting_user=None)
    all_said(second, ben, topic, "none")
    return draw(beside, second, purpose="adjudication")


def all_said(condition: Condition, person: Person, topic: Topic, label: str) -> Task:
    """Have a person say the same of all citations on a topic."""
    [task] = give(condition, person, topic)
    for sheet in all_judged(task):
        change(sheet, {key: {"label": label, "shown": "full"} for key in judgeable(sheet)})
    Task.objects.filter(pk=task.pk).update(state="finished")
    return task


@pytest.fixture(params=[True, False], ids=["blind after seeing", "switched off"])
def _switch(request: pytest.FixtureRequest, campaign: Campaign, olga: Person) -> None:
    """Whoever may see what models gave: what other people said is another matter."""
    if not request.param:
        change_protocol(campaign=campaign, settings={"blind_after_seeing": False}, acting_user=olga)


@pytest.mark.usefixtures("_switch")
@pytest.mark.parametrize("is_withdrawn", [False, True])
def test_who_decided_gives_no_opinion_on_it_beside_a_models_labels(
    b_study, beside, topic, carl, ben, olga, is_withdrawn: bool
):
    [task] = give(judges(b_study), carl, topic)
    assert "full" in client_of(carl).get(f"/support/{task.pk}/").content.decode()
    if is_withdrawn:
        withdraw_task(task=task, acting_user=olga)
    third = label_again(of=beside, name="Third", purpose="second", acting_user=None)
    with pytest.raises(PlanError) as refused:
        give(third, carl, topic)
    assert str(refused.value) == (
        "carl has both an adjudication and other labels of this kind to give on t1 then. An adjudication shows what "
        "other people said: who decides labels nothing else there, and who still labels there decides nothing before "
        "that is done."
    )
    assert not third.tasks.exists()


@pytest.mark.usefixtures("_switch")
def test_who_decided_takes_over_nothing_that_they_decided_on(b_study, annas, beside, topic, carl, olga):
    give(judges(b_study), carl, topic)
    sheet = next(sheet for sheet in all_judged(annas) if given(sheet))
    change(sheet, {judgeable(sheet)[0]: {"label": None}}, "take back")
    Task.objects.filter(pk=annas.pk).update(state="withdrawn")
    with pytest.raises(PlanError, match=BOTH):
        give(beside, carl, topic)
    sheet.refresh_from_db()
    assert sheet.task == annas


@pytest.mark.usefixtures("_switch")
def test_who_still_has_an_opinion_to_give_decides_nothing(b_study, beside, topic, carl, olga):
    third = label_again(of=beside, name="Third", purpose="second", acting_user=None)
    [opinion] = give(third, carl, topic)
    decided = judges(b_study)
    with pytest.raises(PlanError, match=BOTH):
        give(decided, carl, topic)
    assert not decided.tasks.exists()
    assert client_of(carl).get(f"/support/{opinion.pk}/").status_code == 200


@pytest.mark.usefixtures("_switch")
def test_work_that_comes_back_after_a_decision_is_closed(b_study, answered, topic, carl, olga):
    """Such as by answers that came since, or given in the same moment."""
    [other] = give(create_support(campaign=answered, name="scratch", shown=None, acting_user=None), carl, topic)
    Task.objects.filter(pk=other.pk).update(state="finished")
    [task] = give(judges(b_study), carl, topic)
    client = client_of(carl)
    sheet = next(sheet for sheet in all_judged(other) if asked(sheet))
    Task.objects.filter(pk=other.pk).update(state="open")
    for response in (
        client.get(f"/support/{other.pk}/"),
        client.get(url(sheet)),
        send(client, sheet, "label", asked(sheet)[0], label="full"),
    ):
        assert response.status_code == 403
        assert "decide or decided between other people&#x27;s labels on this topic" in response.content.decode()
        assert "language model" not in response.content.decode()
    assert client.get(f"/support/{task.pk}/").status_code == 200
    assert given(sheet) == {}


def test_a_decision_on_one_topic_or_kind_is_none_on_another(study, n_study, answered, nuggets, carl):
    one, other = answered.topics.order_by("qid")
    give(judges(study), carl, one)
    blind = create_support(campaign=answered, name="blind", shown=None, acting_user=None)
    assign = create_manual_assign(nuggets=nuggets, name="assign", acting_user=None)
    assert [task.topic for task in (*give(blind, carl, other), *give(assign, carl, one))] == [other, one]
    with pytest.raises(PlanError, match=r"^carl has both an adjudication .* on t1 then"):
        give(blind, carl, one, other)
    put_in_queue(topics=[one], condition=blind, acting_user=None)
    with pytest.raises(PlanError, match="None of the topics that are free here can be yours"):
        draw_next(condition=blind, person=carl)


@pytest.mark.parametrize("kind", ["support", "assignment"])
def test_only_an_adjudicated_condition_shows_both(study, n_study, topic, carl, kind):
    of = study if kind == "support" else n_study
    condition = judges(of)
    [task] = give(condition, carl, topic)
    blind = "support from scratch" if kind == "support" else "ManualAssign"
    Condition.objects.filter(pk=condition.pk).update(method=blind)
    address = "support" if kind == "support" else "assign"
    client = client_of(carl)
    assert all(found == {} for found in to_decide(client.get(f"/{address}/{task.pk}/")))
    for sheet in all_judged(task):
        assert to_decide(client.get(url(sheet))) == [{}]
    assert not Exposure.objects.exists()


def test_nobody_else_opens_it(study, topic, carl, ben, otto):
    [task] = give(judges(study), carl, topic)
    sheet = all_judged(task)[0]
    for person in (ben, otto):
        client = client_of(person)
        for address in (f"/support/{task.pk}/", url(sheet)):
            assert client.get(address).status_code == 404
    assert not Exposure.objects.exists()


def test_who_is_one_of_the_two_decides_nothing(people, answered, topic, anna, ben, carl):
    here = create_support(campaign=answered, name="here", shown=None, acting_user=None)
    [task] = give(here, anna, topic)
    for sheet in all_judged(task):
        change(sheet, {key: {"label": "none"} for key in asked(sheet)[:1]})
    Task.objects.filter(pk=task.pk).update(state="finished")
    condition = judges(draw(people, here, purpose="adjudication", name="adjudicated"))
    with pytest.raises(PlanError, match="anna labels or labelled t1 under here"):
        give(condition, anna, topic)
    assert give(condition, ben, topic)


def test_each_study_is_an_exposure_of_its_own(study, people, answered, topic, carl):
    fourth = support_labels(answered, "Fourth's", "people", OTHERS)
    again = draw(people, fourth, purpose="adjudication", name="Second study", seed=2)
    for of in (study, again):
        [task] = give(judges(of, f"of {of}"), carl, topic)
        for _ in range(2):
            client_of(carl).get(f"/support/{task.pk}/")
    told = [f"labels to decide between in {name}" for name in ("Telltale study", "Second study")]
    assert list(Exposure.objects.order_by("pk").values_list("where", flat=True)) == told


def test_a_small_team_that_switched_blindness_off_still_has_it_recorded(study, topic, carl, olga):
    change_protocol(campaign=study.campaign, settings={"blind_after_seeing": False}, acting_user=olga)
    [task] = give(judges(study), carl, topic)
    client_of(carl).get(f"/support/{task.pk}/")
    assert Exposure.objects.count() == 1
    assert Task.objects.get().state == "open"
