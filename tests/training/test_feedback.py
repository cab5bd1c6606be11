"""Practice: marking topics, naming references, and feedback that nobody can reach before they have signed off."""

import io
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition, Event, Topic
from assessor.relevance.models import RelevanceJudgment
from assessor.training.actions import TrainingError, mark_practice, name_reference
from assessor.training.models import Reference
from assessor.training.queries import compare, possible_references, practised, references
from assessor.work.actions import PlanError, give_tasks
from assessor.work.blindness import FEEDBACK
from assessor.work.models import Exposure, Task
from assignment.actions import create_manual_assign
from metaeval.stats.statistic import Statistic
from nuggets import actions as nugget_actions
from nuggets.actions import create_manual_nuggets
from nuggets.models import NuggetBank
from tests.assignment.conftest import RUNS, run_file
from tests.assignment.lines import line as assignment_line
from tests.assignment.lines import nugget
from tests.conftest import client_of, make_person
from tests.judging import all_judged, asked, everything, give, given, judgeable, judged, put, send, sign_off, url
from tests.nuggets.conftest import do, fill
from tests.relevance.conftest import RANKINGS, give_relevance
from tests.relevance.conftest import send as send_grade
from tests.support.judging_helpers import from_scratch, load_runs
from tests.support.lines import FULL, NONE, PARTIAL, cites
from tests.support.lines import line as support_line

SECRET = "the reference alone says this"
TEXTS = {tag: " ".join(answers["t1"]) for tag, answers in RUNS.items() if answers["t1"]}
BANK = [{"text": "purring heals", "importance": "vital"}, {"text": "kittens purr", "importance": "okay"}]
# What the reference says of both nuggets, by run; and people's practice below differs from it in one of four labels.
SAID = {"team.one": ("support", "partial_support"), "team.two": ("not_support", "not_support")}
PRACTICE = {"team.one": ("support", "not_support"), "team.two": ("not_support", "not_support")}


@pytest.fixture
def t1(campaign: Campaign, olga: Person) -> Topic:
    topic = campaign.topics.get(qid="t1")
    mark_practice(campaign=campaign, topics=[topic], acting_user=olga)
    return Topic.objects.get(pk=topic.pk)


class Practice(NamedTuple):
    """Anna's task, the reference, how she does it and how she ends it, and what only the reference says."""

    task: Task
    reference: Any
    work: Callable[[Client], None]
    end: Callable[[Client], HttpResponse]
    secret: str


def _assignment(campaign: Campaign, topic: Topic, anna: Person, import_file: Any) -> Practice:
    for tag, answers in RUNS.items():
        import_file(campaign, "runs", run_file(tag, answers), name=tag)
    import_file(campaign, "nuggets", [{"query": "", "qid": "t1", "nuggets": BANK}], condition="N", by="people")
    lines = [
        assignment_line(
            "t1",
            tag,
            [nugget(one["text"], one["importance"], label) for one, label in zip(BANK, labels, strict=True)],
            TEXTS[tag],
        )
        for tag, labels in SAID.items()
    ]
    found = import_file(campaign, "assignments", lines, condition="Gold", by="people", nuggets="N")
    assert found.state == "done", found.report
    manual = create_manual_assign(nuggets=campaign.conditions.get(name="N"), name="M", acting_user=None)
    task = give(manual, topic, anna)

    def work(client: Client) -> None:
        for tag, labels in PRACTICE.items():
            sheet = judged(task, tag)
            for item, label in zip(asked(sheet), labels, strict=True):
                assert send(client, sheet, "label", item, label=label).status_code == 200

    return Practice(
        task,
        campaign.conditions.get(name="Gold"),
        work,
        lambda client: sign_off(client, task),
        '<td class="tight">partial_support</td>',
    )


def _support(campaign: Campaign, topic: Topic, anna: Person, import_file: Any) -> Practice:
    load_runs(campaign, import_file)
    lines = [
        support_line(
            "t1",
            "team.one",
            cites("Cats purr to heal.", d1=PARTIAL),
            cites("They purr when content.", d2=NONE),
            cites("Nobody knows why."),
        ),
        support_line("t1", "team.two", cites("Cats have voices.", d2=FULL), cites("Some have fur.", d4=NONE)),
    ]
    found = import_file(campaign, "support", lines, condition="Gold", by="people")
    assert found.state == "done", found.report
    task = give(from_scratch(campaign), topic, anna)

    def work(client: Client) -> None:
        for sheet in all_judged(task):
            for key in judgeable(sheet):
                assert send(client, sheet, "label", key, label="full").status_code == 200

    return Practice(
        task,
        campaign.conditions.get(name="Gold"),
        work,
        lambda client: sign_off(client, task),
        '<td class="tight">partial</td>',
    )


def _nuggets(campaign: Campaign, topic: Topic, anna: Person, import_file: Any) -> Practice:
    gold = [{"text": SECRET, "importance": "vital"}, {"text": "cats purr", "importance": "okay"}]
    import_file(campaign, "nuggets", [{"query": "", "qid": "t1", "nuggets": gold}], condition="Gold", by="people")

    source = campaign.qrels_sources.get(name="NIST")
    manual = create_manual_nuggets(campaign=campaign, name="Manual", qrels_source=source, acting_user=None)
    task = give(manual, topic, anna)
    bank = NuggetBank.objects.get(task=task)

    def end(client: Client) -> HttpResponse:
        do(bank, nugget_actions.finish_bank)
        return HttpResponse()

    return Practice(
        task,
        campaign.conditions.get(name="Gold"),
        lambda client: fill(bank, (UUID(int=101), "purring heals", "vital")),
        end,
        SECRET,
    )


KINDS = {"assignment": _assignment, "support": _support, "nuggets": _nuggets}


@pytest.fixture(params=KINDS)
def practice(request: pytest.FixtureRequest, campaign: Campaign, t1: Topic, anna: Person, import_file: Any) -> Practice:
    made = KINDS[request.param](campaign, t1, anna, import_file)
    name_reference(condition=made.task.condition, reference=made.reference, acting_user=None)
    return made


def pages(client: Client, task: Task) -> Iterator[HttpResponse]:
    """Yield all that an assessor can ask for in their work."""
    yield client.get("/", follow=True)
    base = {"nuggets": f"/nuggets/{NuggetBank.objects.filter(task=task).values_list('pk', flat=True).first()}/"}
    base |= {"assignment": f"/assign/{task.pk}/", "support": f"/support/{task.pk}/"}
    yield client.get(base[task.kind])
    yield client.get(f"/work/{task.pk}/guidelines/")
    yield client.get(f"/practice/{task.pk}/")
    for sheet in all_judged(task) if task.kind != "nuggets" else ():
        yield client.get(url(sheet))


def bodies(client: Client, task: Task) -> list[str]:
    """Return all that an assessor is sent, without what is random."""
    told = []
    for response in pages(client, task):
        headers = {name: value for name, value in response.headers.items() if name != "Expires"}
        told.append(re.sub(r"[0-9]{32,}", "", response.content.decode() + repr(headers)))
    return told


def test_the_reference_is_out_of_reach_before_the_sign_off(practice: Practice, as_anna: Client, ben: Person):
    address, kind = f"/practice/{practice.task.pk}/", practice.task.kind

    def told() -> None:
        assert as_anna.get(address).status_code == 404
        before = bodies(as_anna, practice.task)
        assert all("Gold" not in body and SECRET not in body for body in before)
        if kind in ("assignment", "support"):  # whatever the reference says, the same is sent
            labels = {sheet: given(sheet) for sheet in all_judged(practice.reference)}
            put(labels, labels={})
            assert bodies(as_anna, practice.task) == before
            for sheet, of_sheet in labels.items():
                put([sheet], labels=of_sheet)

    told()
    practice.work(as_anna)
    told()
    assert not Exposure.objects.filter(where=FEEDBACK).exists()
    assert practice.end(as_anna).status_code == 200
    page = as_anna.get(address).content.decode()
    assert practice.secret in page
    assert "Gold" not in page, "whose labels it is does not matter"
    assert all(tag not in page for tag in ("team.one", "team.two"))
    assert client_of(ben).get(address).status_code == 404


def test_what_was_signed_off_is_not_done_again(practice: Practice, as_anna: Client, anna: Person, olga: Person):
    practice.work(as_anna)
    practice.end(as_anna)
    task = Task.objects.get(pk=practice.task.pk)
    for _ in range(2):
        assert as_anna.get(f"/practice/{task.pk}/").status_code == 200
    assert Exposure.objects.filter(person=anna, topic=task.topic, kind=task.kind, where=FEEDBACK).count() == 1
    by = {"campaign": task.campaign, "topics": [task.topic], "acting_user": None}
    with pytest.raises(PlanError, match="practice is done once"):
        give_tasks(condition=task.condition, person=anna, **by)
    # However it came to be open again, and whatever the protocol says of models' output.
    protocol = task.campaign.protocol
    protocol.blind_after_seeing = False
    protocol.save()
    Task.objects.filter(pk=task.pk).update(state="open")
    if task.kind == "nuggets":
        with pytest.raises(nugget_actions.ReopenError, match="practice is done once"):
            nugget_actions.reopen_bank(task.nugget_bank, reason="again", acting_user=olga)
    before = everything()
    responses = {response.status_code for response in list(pages(as_anna, task))[1:2]}
    assert responses == {403}
    assert everything() == before


def test_feedback_waits_for_other_work_of_the_kind(
    practice: Practice, as_anna: Client, campaign: Campaign, anna: Person
):
    practice.work(as_anna)
    practice.end(as_anna)
    task = practice.task
    other = Condition.objects.get(pk=task.condition_id)
    other.pk, other.name, other.replicate = None, "again", 5
    other.save()
    Task.objects.create(campaign=campaign, topic=task.topic, condition=other, kind=task.kind, person=anna)
    assert as_anna.get(f"/practice/{task.pk}/").status_code == 403
    assert not Exposure.objects.filter(where=FEEDBACK).exists()


def test_without_a_reference_there_is_nothing_to_see(practice: Practice, as_anna: Client):
    name_reference(condition=practice.task.condition, reference=None, acting_user=None)
    practice.work(as_anna)
    practice.end(as_anna)
    page = as_anna.get(f"/practice/{practice.task.pk}/").content.decode()
    assert "no reference" in page
    assert practice.secret not in page
    assert not Exposure.objects.filter(where=FEEDBACK).exists()


def test_agreement_is_counted(campaign: Campaign, t1: Topic, anna: Person, as_anna: Client, olga: Person, import_file):
    made = _assignment(campaign, t1, anna, import_file)
    name_reference(condition=made.task.condition, reference=made.reference, acting_user=olga)
    made.work(as_anna)
    made.end(as_anna)
    [found] = compare(list(practised(campaign)), references([made.task.condition_id]))
    assert (found.own, found.pairs, found.equal, found.percent) == (4, 4, 3, "75.0")
    assert found.agreement is not None
    # Both say support once; not_support twice and once more by Anna: 1 - (1/4) / (1 - (1·1 + 3·2 + 0·1)/16).
    assert found.agreement.unweighted == Statistic(pytest.approx(1 - (1 / 4) / (9 / 16)), 4)
    page = client_of(olga).get(f"/campaigns/{campaign.slug}/practice/").content.decode()
    assert '<td class="num">4</td><td class="num">4</td><td class="num">3</td><td class="num">75.0</td>' in page
    assert '<td class="num">0.56</td>' in page


def test_grades_are_held_against_a_source(campaign: Campaign, t1: Topic, anna: Person, as_anna: Client, import_file):
    for content in RANKINGS.values():
        import_file(campaign, "retrieval", content)
    import_file(campaign, "segments", [{"docid": "d4", "segment": "Purring is a sound."}])
    task = give_relevance(campaign, anna, [t1])
    name_reference(condition=task.condition, reference=campaign.qrels_sources.get(name="NIST"), acting_user=None)
    for item in RelevanceJudgment.objects.filter(condition=task.condition):
        assert as_anna.get(f"/practice/{task.pk}/").status_code == 404
        assert send_grade(as_anna, task, "judge", item=item.pk, grade=2).status_code == 200
    page = as_anna.get(f"/practice/{task.pk}/")
    assert page.status_code == 200
    [found] = compare(list(practised(campaign)), references([task.condition_id]))
    # NIST: d1 3, d2 1, d3 0, d4 2.
    assert {(item.key, item.label, item.reference) for item in found.items} >= {("d1", "2", "3"), ("d4", "2", "2")}
    assert found.equal == 1
    assert send_grade(as_anna, task, "undo", item=item.pk).status_code == 403


def test_who_can_be_a_reference(campaign: Campaign, t1: Topic, anna: Person, import_file: Any):
    made = _assignment(campaign, t1, anna, import_file)
    for name, by in (("Mia", "model"), ("Other", "people")):
        import_file(campaign, "nuggets", [{"query": "", "qid": "t2", "nuggets": BANK}], condition=f"N-{name}", by=by)
    lines = [
        assignment_line("t1", "team.one", [nugget(one["text"], one["importance"]) for one in BANK], TEXTS["team.one"])
    ]
    assert import_file(campaign, "assignments", lines, condition="Mia", by="model", nuggets="N").state == "done"
    assert possible_references(made.task.condition) == [made.reference]
    for wrong in ("Mia", "N", "M"):
        with pytest.raises(TrainingError, match="can't be held against"):
            name_reference(
                condition=made.task.condition, reference=campaign.conditions.get(name=wrong), acting_user=None
            )
    assert [one.name for one in possible_references(campaign.conditions.get(name="N"))] == ["N-Other"]
    assert not Reference.objects.exists()


def test_a_reference_named_twice_is_one_and_the_newest_counts(practice: Practice):
    condition = practice.task.condition
    name_reference(condition=condition, reference=practice.reference, acting_user=None)
    assert Reference.objects.count() == 1
    name_reference(condition=condition, reference=None, acting_user=None)
    assert references([condition.pk]) == {}
    told = Event.objects.filter(verb="practice reference named").order_by("pk").values_list("details", flat=True)
    assert list(told) == [{"reference": "Gold"}, {"reference": None}]


def test_a_topic_that_counts_stays_so_once_somebody_said_something(campaign: Campaign, bank: NuggetBank, olga: Person):
    by = {"campaign": campaign, "acting_user": olga}
    topics = list(campaign.topics.all())
    fill(bank, (UUID(int=101), "purring heals", "vital"))
    with pytest.raises(TrainingError, match="worked on t1 already, for scores"):
        mark_practice(topics=topics, **by)
    assert not campaign.topics.filter(is_practice=True).exists(), "all or none"
    page = client_of(olga).post(
        f"/campaigns/{campaign.slug}/practice/topics/", {"topics": "t1 t2", "practice": "1"}, follow=True
    )
    assert "worked on t1 already" in page.content.decode()
    assert not campaign.topics.filter(is_practice=True).exists()


def test_practice_stays_practice_once_somebody_said_something(practice: Practice, campaign: Campaign, as_anna: Client):
    by = {"campaign": campaign, "topics": [practice.task.topic], "acting_user": None}
    mark_practice(is_practice=False, **by)
    mark_practice(**by)
    practice.work(as_anna)
    with pytest.raises(TrainingError, match="worked on t1 for practice"):
        mark_practice(is_practice=False, **by)
    assert campaign.topics.get(qid="t1").is_practice
    told = Event.objects.filter(verb__startswith="topic ").order_by("pk").values_list("verb", flat=True)
    assert [verb for verb in told if verb != "topic put in queue"] == [
        "topic marked for practice",
        "topic counts again",
        "topic marked for practice",
    ]


def test_topics_that_there_are_not_are_named(campaign: Campaign, olga: Person):
    sent = {"topics": "t1 t9 t\x00", "practice": "1"}
    address = f"/campaigns/{campaign.slug}/practice/topics/"
    page = client_of(olga).post(address, sent, follow=True).content.decode()
    assert "There is no topic t\x00, t9 in this campaign. Nothing was changed." in page
    assert not campaign.topics.filter(is_practice=True).exists()


def test_by_command(campaign: Campaign, anna: Person, import_file: Any):
    def call(*args: str) -> str:
        out = io.StringIO()
        call_command(*args, stdout=out)
        return out.getvalue()

    assert call("mark_practice", campaign.slug, "t1") == "Changed: t1.\n"
    assert "all were so before" in call("mark_practice", campaign.slug, "t1")
    assert call("mark_practice", campaign.slug, "t1", "--not") == "Changed: t1.\n"
    call("mark_practice", campaign.slug, "t1")
    made = _assignment(campaign, campaign.topics.get(qid="t1"), anna, import_file)
    told = call("name_reference", campaign.slug, "--condition", "M", "--reference", "Gold")
    assert told == "Practice under M is held against Gold.\n"
    assert references([made.task.condition_id])[made.task.condition_id].reference == made.reference
    with pytest.raises(CommandError, match="can't be held against N"):
        call("name_reference", campaign.slug, "--condition", "M", "--reference", "N")
    with pytest.raises(CommandError, match="There is no topic t9"):
        call("mark_practice", campaign.slug, "t9")
    made.work(client_of(anna))
    with pytest.raises(CommandError, match="Nothing was changed"):
        call("mark_practice", campaign.slug, "t1", "--not")


def test_the_page_asks_no_more_where_more_people_practised(practice: Practice, campaign: Campaign, olga: Person):
    client = client_of(olga)

    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert client.get(f"/campaigns/{campaign.slug}/practice/").status_code == 200
        return len(asked)

    Task.objects.filter(pk=practice.task.pk).update(state="finished")
    queries()
    few = queries()
    for number in range(3):
        task = Task.objects.get(pk=practice.task.pk)
        task.pk, task.person = None, make_person(f"person{number}", "assessor")
        task.save()
    assert queries() == few


def test_the_screen_and_home_say_that_it_is_practice(practice: Practice, as_anna: Client):
    home, work, *_ = (response.content.decode() for response in pages(as_anna, practice.task))
    assert "for practice" in home
    assert "counts in no score" in work
