"""Whom a sample can be given, what they are asked, and that nothing tells them what it is or what others said."""

import re
from collections.abc import Iterator
from functools import partial

import pytest
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponse
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import ConditionError
from assessor.campaigns.models import Answer, Campaign, Condition, Topic
from assessor.exports.releases import release_parts
from assessor.labels.label_kind import label_kind
from assessor.labels.manual_setups import label_again
from assessor.labels.shown_labels import with_a_models_labels
from assessor.scores.score_source import scored_conditions
from assessor.studies.actions import let_people_judge
from assessor.studies.models import SampledItem, Study
from assessor.work.actions import PlanError, give_tasks, withdraw_task
from assessor.work.blindness import record_exposure
from assessor.work.models import Exposure, Task
from assignment.actions import create_manual_assign
from support.actions import create_support
from tests.conftest import client_of, make_person
from tests.judging import (
    WRITES,
    Judged,
    all_judged,
    asked,
    change,
    given,
    judgeable,
    judged,
    put,
    send,
    sign_off,
    stands,
    url,
)
from tests.studies.conftest import OTHERS, draw, everything, give, ids_of, items, support_labels
from tests.support.judging_helpers import run_file
from tests.work.conftest import at_once

# Whatever names a study, its conditions and judges, and runs.
SECRETS = ("telltale", "NIST", "Mia", "team.", "disagree", "studies", "sample", "rejudging", "re-judging")


@pytest.fixture
def study(people: Condition, model: Condition) -> Study:
    return draw(people, model)


@pytest.fixture
def n_study(n_people: Condition, n_model: Condition) -> Study:
    return draw(n_people, n_model, name="Telltale nuggets")


def judges(study: Study, name: str = "Telltale judge") -> Condition:
    return let_people_judge(study=study, name=name, acting_user=None)


def asked_by_answer(condition: Condition) -> dict[tuple[str, str], list[str]]:
    """Return what is asked under a condition, by run and topic: citations, or nuggets' ids."""
    return {(sheet.answer.run.tag, sheet.answer.topic.qid): asked(sheet) for sheet in all_judged(condition)}


# What is asked


def test_only_drawn_citations_are_asked(study, carl):
    condition = judges(study)
    tasks = give(condition, carl)
    assert asked_by_answer(condition) == {
        ("team.one", "t1"): ["0.0", "1.0", "2.0"],
        ("team.one", "t2"): ["1.0"],
        ("team.two", "t1"): ["0.0", "1.0"],
        ("team.two", "t2"): ["0.0"],
    }
    assert [(task.done, task.total) for task in Task.objects.filter(pk__in=[task.pk for task in tasks])] == [
        (0, 5),
        (0, 2),
    ]
    assert (condition.method, condition.kind, condition.replicate) == ("support from scratch", "support", 0)
    assert condition.identity.endswith("sample=Telltale study; protocol=trec-2024 v1")


def test_only_drawn_nuggets_are_asked(n_study, nuggets, carl):
    condition = judges(n_study)
    tasks = give(condition, carl)
    ids = ids_of(nuggets)
    assert asked_by_answer(condition) == {
        ("team.one", "t1"): [ids["purring heals"], ids["dogs bark"]],
        ("team.two", "t1"): [ids["purring heals"], ids["cats purr"]],
        ("team.one", "t2"): [ids["glass is melted"]],
    }
    assert [(task.done, task.total) for task in Task.objects.filter(pk__in=[task.pk for task in tasks])] == [
        (0, 2),
        (0, 1),
    ]
    assert condition.method == "ManualAssign"


def test_topics_without_anything_drawn_are_not_given(others, model, carl):
    study = draw(others, model)
    assert {one[0] for one in items(study)} == {"t1"}
    condition = judges(study)
    with pytest.raises(PlanError, match="There is no answer to judge on t2"):
        give(condition, carl)
    assert not Task.objects.exists()
    assert not all_judged(condition)


def test_a_samples_release_has_its_labels_and_no_scores(study, people):
    sample = judges(study)
    released = [(kind.name, str(chosen.record)) for kind, chosen in release_parts(study.campaign, sample)]
    assert ("support", str(sample)) in released
    assert "scores" not in [name for name, _ in released]
    whole = {str(chosen.record) for kind, chosen in release_parts(study.campaign, people) if kind.name == "scores"}
    assert whole == {str(people)}


def test_of_a_small_sample_the_other_citations_of_an_answer_are_not_asked(people, model, carl):
    study = draw(people, model, per_topic=1)
    condition = judges(study)
    give(condition, carl)
    assert sum(map(len, asked_by_answer(condition).values())) == 2
    assert len(asked_by_answer(condition)) == 2


def test_each_judge_is_a_condition_of_its_own(study, carl, ben):
    first, second = judges(study, "A"), judges(study, "B")
    assert (first.replicate, second.replicate) == (0, 1)
    assert first.identity != second.identity
    assert first.manual_setup.seed != second.manual_setup.seed
    give(first, carl)
    give(second, ben)
    with pytest.raises(ConditionError, match="another condition called A"):
        judges(study, "A")


def test_a_sample_of_the_same_name_elsewhere_is_no_concern(study, n_study, carl):
    other = Condition.objects.get(pk=judges(n_study).pk)
    assert other.identity != judges(study, "x").identity


# To whom


def test_who_labelled_before_is_refused(study, people, model, answered, topic, anna, ben, carl):
    """Under the first, the second or a sibling; whoever is to, too."""
    first = create_support(campaign=answered, name="People here", shown=None, acting_user=None)
    [task] = give(first, anna, topic)
    change(judged(task, "team.one"), {"0.0": {"label": "none"}})
    mine = draw(first, model, name="Telltale here")
    blind, sibling = judges(mine, "A"), judges(mine, "B")
    before = everything()
    with pytest.raises(PlanError, match="anna labels or labelled t1 under People here: a judge of Telltale here is"):
        give(blind, anna, topic)
    assert everything() == before
    # Ben takes over what Anna did not do: then both are no strangers to it.
    withdraw_task(task=task, acting_user=carl)
    [bens] = give(first, ben, topic)
    assert not any(stands(one)["to_do"] for one in all_judged(task))
    for person in (anna, ben):
        with pytest.raises(PlanError, match="labels or labelled t1 under People here"):
            give(blind, person, topic)
    give(blind, carl, topic)
    with pytest.raises(PlanError, match="carl labels or labelled t1 under A"):
        give(sibling, carl, topic)
    assert bens.pk


def test_who_labelled_nuggets_before_is_refused(n_study, nuggets, n_model, topic, anna, ben, carl):
    first = create_manual_assign(nuggets=nuggets, name="People here", acting_user=None)
    give(first, anna, topic)
    for sheet in all_judged(first):
        change(sheet, {pk: {"label": "not_support"} for pk in asked(sheet)})
    mine = draw(first, n_model, name="here")
    blind, sibling = judges(mine, "A"), judges(mine, "B")
    with pytest.raises(PlanError, match="anna labels or labelled t1 under People here"):
        give(blind, anna, topic)
    give(blind, carl, topic)
    with pytest.raises(PlanError, match="carl labels or labelled t1 under A"):
        give(sibling, carl, topic)
    give(sibling, ben, topic)


def test_a_topic_that_comes_back_is_asked_about_anew(study, model, topic, answered, ben, carl):
    """Given, withdrawn, labelled under the first meanwhile: not given back."""
    first = create_support(campaign=answered, name="People here", shown=None, acting_user=None)
    [bens] = give(first, ben, topic)
    change(judged(bens, "team.one"), {"0.0": {"label": "none"}})
    mine = draw(first, model, name="here")
    blind = judges(mine)
    [task] = give(blind, carl, topic)
    withdraw_task(task=task, acting_user=ben)
    [doras] = give(blind, make_person("dora", "assessor"), topic)
    withdraw_task(task=doras, acting_user=ben)
    withdraw_task(task=bens, acting_user=ben)
    give(first, carl, topic)
    with pytest.raises(PlanError, match="carl labels or labelled t1 under People here"):
        give(blind, carl, topic)
    task.refresh_from_db()
    assert task.state == "withdrawn"


def given_first(kind: str, campaign: Campaign, nuggets: Condition, person: Person, topic: Topic) -> Task:
    """Return a task of first labels, begun: one thing is said of every answer."""
    if kind == "support":
        first = create_support(campaign=campaign, name="People here", shown=None, acting_user=None)
    else:
        first = create_manual_assign(nuggets=nuggets, name="People here", acting_user=None)
    [task] = give(first, person, topic)
    for sheet in all_judged(task):
        change(sheet, {judgeable(sheet)[0]: {"label": "none" if kind == "support" else "not_support"}})
    return task


OPINIONS = {"support": label_again, "assignment": label_again}


@pytest.mark.parametrize("kind", ["support", "assignment"])
def test_who_gives_another_opinion_is_no_judge_and_the_other_way_round(
    answered, nuggets, model, n_model, topic, anna, ben, carl, kind: str
):
    """On the first: a second opinion counts as it does, and one on the second as that."""
    annas = given_first(kind, answered, nuggets, anna, topic)
    first = annas.condition
    second = OPINIONS[kind](of=first, name="Second", purpose="second", acting_user=None)
    give(second, ben, topic)
    study = draw(first, model if kind == "support" else n_model, name="here")
    blind = judges(study, "A")
    before = everything()
    with pytest.raises(PlanError, match="ben labels or labelled t1 under Second: a judge of here is somebody else"):
        give(blind, ben, topic)
    assert everything() == before
    give(blind, carl, topic)
    third = OPINIONS[kind](of=first, name="Third", purpose="second", acting_user=None)
    with pytest.raises(PlanError, match="carl labels or labelled t1 under A: a judge of here is somebody else"):
        give(third, carl, topic)
    assert not third.tasks.exists()


def test_an_opinion_that_a_study_is_about_stands_for_the_first_too(answered, nuggets, model, topic, anna, ben, carl):
    first = given_first("support", answered, nuggets, anna, topic).condition
    second = label_again(of=first, name="Second", purpose="second", acting_user=None)
    [task] = give(second, ben, topic)
    for sheet in all_judged(task):
        change(sheet, {judgeable(sheet)[0]: {"label": "none"}})
    blind = judges(draw(second, model, name="here"), "A")
    with pytest.raises(PlanError, match="anna labels or labelled t1 under People here"):
        give(blind, anna, topic)
    give(blind, carl, topic)
    third = label_again(of=first, name="Third", purpose="second", acting_user=None)
    with pytest.raises(PlanError, match="carl labels or labelled t1 under A"):
        give(third, carl, topic)


@pytest.mark.parametrize("kind", ["support", "assignment"])
def test_a_judge_takes_nothing_over_of_what_the_study_is_about(
    answered, nuggets, model, n_model, topic, anna, ben, carl, kind: str
):
    annas = given_first(kind, answered, nuggets, anna, topic)
    blind = judges(draw(annas.condition, model if kind == "support" else n_model, name="here"), "A")
    give(blind, carl, topic)
    withdraw_task(task=annas, acting_user=ben)
    with pytest.raises(PlanError, match="carl labels or labelled t1 under A: a judge of here is somebody else"):
        give(annas.condition, carl, topic, reason="anna left")
    assert not Task.objects.filter(condition=annas.condition, person=carl).exists()
    # Who is no judge has it, and a judge has other topics.
    assert give(annas.condition, ben, topic, reason="anna left")
    assert give(annas.condition, carl, answered.topics.get(qid="t2"))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["support", "assignment"])
def test_of_both_sides_of_a_study_given_at_once_a_person_gets_one(
    answered, nuggets, model, n_model, topic, anna, carl, kind: str
):
    annas = given_first(kind, answered, nuggets, anna, topic)
    blind = judges(draw(annas.condition, model if kind == "support" else n_model, name="here"), "A")
    third = OPINIONS[kind](of=annas.condition, name="Third", purpose="second", acting_user=None)
    given = at_once([partial(give, condition, carl, topic) for condition in (blind, third)])
    assert sorted(type(one).__name__ for one in given) == ["PlanError", "list"], given
    assert Task.objects.filter(person=carl).count() == 1


@pytest.mark.parametrize(
    ("kind", "purposes"),
    [
        ("support", ("disagreement", "disagreement")),
        ("assignment", ("disagreement", "rejudging")),
        ("assignment", ("rejudging", "disagreement")),
    ],
)
def test_a_judge_of_one_study_judges_no_other_of_the_same_two_sides(
    people, model, n_people, n_model, topic, carl, ben, kind: str, purposes: tuple[str, str]
):
    sides = (people, model) if kind == "support" else (n_people, n_model)
    first, second = (draw(*sides, name=f"{at}", purpose=purpose) for at, purpose in zip("XY", purposes, strict=True))
    give(judges(first, "A"), carl, topic)
    blind = judges(second, "B")
    before = everything()
    with pytest.raises(
        PlanError, match=r"carl labels or labelled t1 under A, for the study X of the same two sides: a judge of Y is "
    ):
        give(blind, carl, topic)
    assert everything() == before
    give(blind, ben, topic)
    # The other way round, and of other topics whoever is no judge of them.
    with pytest.raises(PlanError, match="ben labels or labelled t1 under B, for the study Y"):
        give(judges(first, "C"), ben, topic)
    give(blind, carl, first.campaign.topics.get(qid="t2"))


def test_a_judge_of_a_study_is_no_judge_of_one_drawn_from_an_opinion_on_its_sides(
    answered, nuggets, n_model, topic, anna, carl
):
    first = given_first("assignment", answered, nuggets, anna, topic).condition
    second = label_again(of=first, name="Second", purpose="second", acting_user=None)
    [task] = give(second, make_person("dora", "assessor"), topic)
    for sheet in all_judged(task):
        change(sheet, {judgeable(sheet)[0]: {"label": "not_support"}})
    give(judges(draw(first, n_model, name="X"), "A"), carl, topic)
    with pytest.raises(PlanError, match="carl labels or labelled t1 under A, for the study X of the same two sides"):
        give(judges(draw(second, n_model, name="Y"), "B"), carl, topic)


def test_a_judge_of_a_study_judges_one_of_other_sides(people, model, answered, topic, carl):
    other = support_labels(answered, "Noa's", "model", {key: dict(said) for key, said in OTHERS.items()})
    give(judges(draw(people, model, name="X"), "A"), carl, topic)
    give(judges(draw(people, other, name="Y"), "B"), carl, topic)


@pytest.mark.django_db(transaction=True)
def test_of_two_studies_of_the_same_sides_given_at_once_a_person_gets_one(people, model, topic, carl):
    blind = [judges(draw(people, model, name=name), f"Judge of {name}") for name in "XY"]
    given = at_once([partial(give, condition, carl, topic) for condition in blind])
    assert sorted(type(one).__name__ for one in given) == ["PlanError", "list"], given
    assert Task.objects.filter(person=carl).count() == 1


@pytest.mark.parametrize("kind", ["support", "assignment"])
def test_who_has_seen_a_models_labels_is_refused_and_shut_out(study, n_study, topic, carl, ben, kind: str):
    condition = judges(study if kind == "support" else n_study)
    record_exposure(carl, [topic], kind, "test")
    with pytest.raises(PlanError, match="carl has seen LLM output of this kind on t1"):
        give(condition, carl)
    assert not Task.objects.exists()
    [task] = give(condition, ben, topic)
    address = "support" if kind == "support" else "assign"
    assert client_of(ben).get(f"/{address}/{task.pk}/").status_code == 200
    record_exposure(ben, [topic], kind, "test")
    assert client_of(ben).get(f"/{address}/{task.pk}/").status_code == 403


def test_whoever_takes_a_sample_over_is_asked_the_same(study, topic, carl, ben, olga):
    condition = judges(study)
    [task] = give(condition, carl, topic)
    before = asked_by_answer(condition)
    withdraw_task(task=task, acting_user=olga)
    [again] = give(condition, ben, topic)
    assert asked_by_answer(condition) == before
    assert {sheet.task for sheet in all_judged(condition)} == {again}


# What they see


def told(response: HttpResponse) -> str:
    return f"{response.status_code} {response.content.decode()} {sorted(response.items())} {response.cookies}"


def of_kind(kind: str, *, but: Condition) -> list[Judged]:
    """Return the answers that are judged under all other conditions of a kind."""
    return [one for other in Condition.objects.filter(kind=kind).exclude(pk=but.pk) for one in all_judged(other)]


def own_and_others(task: Task) -> list[Judged]:
    others = Condition.objects.filter(kind=task.condition.kind)
    return all_judged(task) + [one for other in others for one in all_judged(other) if one.task != task]


def support_readings(client: Client, task: Task) -> Iterator[HttpResponse]:
    base = f"/support/{task.pk}/"
    for one in own_and_others(task):
        yield client.get(url(one, task=task.pk))
        yield client.get(f"{base}?answer={one.pk}")
        for verb, fields in WRITES["support"].items():
            yield client.get(url(one, verb, task.pk))
            for version in (0, 77, "x"):
                key = next(iter(asked(one)), "0.0")
                yield send(client, one, verb, key, task=task.pk, version=version, **fields)
    yield sign_off(client, task, version=99)


def assignment_readings(client: Client, task: Task) -> Iterator[HttpResponse]:
    base = f"/assign/{task.pk}/"
    for one in own_and_others(task):
        yield client.get(url(one, task=task.pk))
        yield client.get(f"{base}?answer={one.pk}")
        nugget = asked(one)[0]
        yield client.get(f"{base}nuggets/{nugget}/")
        for verb, fields in WRITES["assignment"].items():
            yield client.get(url(one, verb, task.pk))
            for version in (0, 77, "x"):
                yield send(client, one, verb, nugget, task=task.pk, version=version, **fields)
    yield sign_off(client, task, version=99)


def refused_elsewhere(client: Client, study: Study, task: Task) -> Iterator[HttpResponse]:
    base = f"/campaigns/{study.campaign.slug}/studies"
    yield client.get("/")
    yield client.get(f"/guidelines/{study.kind}/")
    for address in (
        "/",
        ".csv",
        f"/{study.pk}/",
        f"/{study.pk}/ask/",
        *(f"/{study.pk}/export/{form}" for form in FORMS),
    ):
        response = client.get(base + address)
        assert response.status_code == 404
        yield response
    for address in ("give", "ask", "codes", f"items/{study.drawn.first().pk}"):
        response = client.post(f"{base}/{study.pk}/{address}/")
        assert response.status_code == 404
        yield response


FORMS = ("items.csv", "agreement.csv", "labels.csv", "scores.csv", "json")
BLIND = [("support", "disagreement"), ("assignment", "disagreement"), ("assignment", "rejudging")]


@pytest.mark.parametrize(("kind", "purpose"), BLIND)
def test_nothing_tells_what_it_is_or_what_others_said(study, n_people, n_model, topic, carl, kind: str, purpose: str):
    of = study if kind == "support" else draw(n_people, n_model, name="Telltale nuggets", purpose=purpose)
    condition = judges(of)
    # Another judge has said something already, and so have all that it was drawn from.
    sibling = judges(of, "Telltale sibling")
    give(sibling, make_person("dora", "assessor"), topic)
    secret = {"0.0": "telltale", "1.0": "telltale"} if kind == "support" else {}
    for sheet in of_kind(kind, but=condition):
        put([sheet], labels=dict.fromkeys({**given(sheet), **secret}, "telltale"))
    QuerySet(SampledItem).filter(study=of).update(first_label="telltale first", second_label="telltale second")
    [task] = give(condition, carl, topic)
    client = client_of(carl)
    page = client.get(f"/{'support' if kind == 'support' else 'assign'}/{task.pk}/")
    assert page.status_code == 200
    readings = support_readings if kind == "support" else assignment_readings
    responses = [page, *readings(client, task), *refused_elsewhere(client, of, task)]
    assert {200, 400, 404, 405, 409} <= {response.status_code for response in responses}
    for response in responses:
        text = told(response)
        # Addresses that the person asked for are theirs to know.
        text = re.sub(r"/campaigns/study/studies[^ \"'<]*", "", text)
        for secret_word in SECRETS:
            assert secret_word.lower() not in text.lower(), (response.status_code, secret_word)
    data = [
        value for response in responses for value in re.findall(r'data-to-decide="(.*?)"', response.content.decode())
    ]
    assert set(data) == {"{}"}
    assert not Exposure.objects.filter(kind=kind).exists()


@pytest.mark.parametrize(("kind", "purpose"), BLIND)
def test_the_first_and_the_second_change_no_byte(study, n_people, n_model, topic, carl, kind: str, purpose: str):
    of = study if kind == "support" else draw(n_people, n_model, name="Telltale nuggets", purpose=purpose)
    [task] = give(judges(of), carl, topic)
    client = client_of(carl)
    sheet = all_judged(task)[0]

    def served() -> list[str]:
        found = [client.get(url(sheet))]
        page = client.get(f"/{'support' if kind == 'support' else 'assign'}/{task.pk}/").content.decode()
        return [response.content.decode() for response in found] + re.findall(r'data-\w[\w-]*="(.*?)"', page)

    before = served()
    QuerySet(SampledItem).filter(study=of).update(first_label="none", second_label="full")
    put(of_kind(kind, but=task.condition), labels={})
    assert served() == before


# Labels of samples stay apart


def test_samples_are_in_no_score_table_and_are_not_shown_in_post_editing(study, n_study, answered: Campaign, model):
    scored = set(scored_conditions(answered))
    made = {judges(study), judges(n_study, "N")}
    asked_model = support_labels(answered, "S", "model", {}, sample=study.name)
    assert set(scored_conditions(answered)) == scored
    assert not made & scored
    assert set(with_a_models_labels(label_kind("support"), answered)) == {model}
    with pytest.raises(ConditionError, match="those of S are of a sample"):
        create_support(campaign=answered, name="edited", shown=asked_model, acting_user=None)


def test_a_samples_page_of_scores_is_404(study, olga):
    condition = judges(study)
    assert client_of(olga).get(f"/campaigns/study/scores/{condition.pk}.csv").status_code == 404


# What comes, moves and leaves after the draw


def test_citations_that_moved_are_asked_where_they_are_now(study, people, answered, carl, import_file):
    condition = judges(study)
    give(condition, carl)
    sheet = judged(condition, "team.one", "t1")
    change(sheet, {"0.0": {"label": "none"}})
    late = judges(study, "late")
    from support.actions import follow_citations

    answer = sheet.answer
    before = list(answer.sentences())
    answer.content = [
        sentence | {"citations": [answer.references.index("d3"), *sentence["citations"]]} if place < 2 else sentence
        for place, sentence in enumerate(answer.content)
    ]
    answer.save()
    follow_citations({answer: before})
    assert asked(sheet) == ["0.1", "1.1", "2.0"]
    assert stands(sheet) == {"labels": {"0.1": "none"}, "to_do": 2}
    give(late, make_person("dora", "assessor"))
    assert asked_by_answer(late)["team.one", "t1"] == ["0.1", "1.1", "2.0"]
    # The sheet of a condition of all follows the protocol: the first of each sentence.
    assert study.drawn.filter(answer=answer).count() == 3


def test_answers_and_runs_that_come_later_are_not_asked(study, answered, carl, ben, import_file):
    condition = judges(study)
    more = run_file("team.late", {"t1": [("Cats purr.", ["d1"])]})
    assert import_file(answered, "runs", more, name="late").state == "done"
    give(condition, carl)
    assert "team.late" not in {tag for tag, _ in asked_by_answer(condition)}


def test_an_answer_that_gave_way_is_not_asked(study, n_study, carl, ben):
    Answer.objects.filter(run__tag="team.two", topic__qid="t1").update(apart=True)
    for of in (study, n_study):
        condition = judges(of, f"of {of}")
        give(condition, carl)
        assert ("team.two", "t1") not in asked_by_answer(condition)
        assert ("team.one", "t1") in asked_by_answer(condition)


@transaction.atomic
def finished_again(nuggets: Condition, texts: dict[str, str | None]) -> None:
    """Finish t1's bank with nuggets reworded or, without a text, left out."""
    from django.db.models import F

    from assignment.actions import follow_edition
    from nuggets.models import BankEdition, NuggetBank

    bank = NuggetBank.objects.get(condition=nuggets, topic__qid="t1")
    last = bank.editions.latest("edition")
    kept = [nugget | {"text": texts.get(nugget["text"], nugget["text"])} for nugget in last.nuggets]
    kept = [nugget for nugget in kept if nugget["text"]]
    NuggetBank.objects.filter(pk=bank.pk).update(edition=F("edition") + 1, order=[nugget["uid"] for nugget in kept])
    bank.refresh_from_db()
    BankEdition.objects.create(bank=bank, edition=bank.edition, version=bank.edition, nuggets=kept)
    follow_edition(bank)


@pytest.mark.parametrize("to", [None, "dogs growl"])
def test_a_nugget_that_left_or_says_something_else_now_is_not_asked(n_study, nuggets, carl, ben, topic, to):
    ids = ids_of(nuggets)
    condition = judges(n_study)
    [task] = give(condition, carl, topic)
    sheet = judged(task, "team.one")
    said = {ids["purring heals"]: {"label": "support"}, ids["dogs bark"]: {"label": "support"}}
    change(sheet, said)
    finished_again(nuggets, {"dogs bark": to})
    assert asked(sheet) == [ids["purring heals"]]
    assert stands(sheet) == {"labels": {str(ids["purring heals"]): "support"}, "to_do": 0}
    late = judges(n_study, "late")
    give(late, ben, topic)
    assert asked_by_answer(late) == {
        ("team.one", "t1"): [ids["purring heals"]],
        ("team.two", "t1"): [ids["purring heals"], ids["cats purr"]],
    }
    # What was drawn stays, and is told as it was.
    from assessor.studies.queries import items_of
    from assessor.studies.sampling import sampling_of

    texts = {told.text for told in sampling_of("assignment").told(list(items_of(n_study))).values()}
    assert texts == {"purring heals", "dogs bark", "cats purr", "glass is melted"}


def test_the_plan_gives_samples_too_and_asks_the_same(study, topic, anna, carl, olga, model, answered):
    condition = judges(study)
    client = client_of(olga)
    data = {"topics": [topic.pk], "condition": condition.pk, "person": carl.pk, "reason": ""}
    client.post("/campaigns/study/plan/give/", data)
    assert Task.objects.get().condition == condition
    other = judges(study, "other")
    text = client.post("/campaigns/study/plan/give/", data | {"condition": other.pk}, follow=True).content.decode()
    assert "carl labels or labelled t1 under Telltale judge" in text
    assert Task.objects.count() == 1


def test_tasks_are_given_all_or_none(study, topic, carl, answered):
    condition = judges(study)
    sibling = judges(study, "sibling")
    give(sibling, carl, topic)
    before = everything()
    with pytest.raises(PlanError, match="carl labels or labelled t1 under sibling"):
        give_tasks(
            campaign=answered,
            topics=list(answered.topics.order_by("-qid")),
            condition=condition,
            person=carl,
            acting_user=None,
        )
    assert everything() == before


def test_a_person_labels_the_sample_on_the_screen(study, topic, carl: Person):
    [task] = give(judges(study), carl, topic)
    client = client_of(carl)
    for sheet in all_judged(task):
        for key in asked(sheet):
            assert send(client, sheet, "label", key, label="full").status_code == 200
    assert sign_off(client, task).status_code == 200
    task.refresh_from_db()
    assert (task.state, task.done, task.total) == ("finished", 5, 5)
