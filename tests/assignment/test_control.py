"""Control runs: what they say, who labels them, and that no person ever does."""

from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import create_campaign
from assessor.campaigns.models import Answer, Campaign, Condition, Import, Run
from assessor.campaigns.queries import answers_to
from assessor.desk.completeness import gaps
from assessor.imports import importer
from assignment.control_runs import ControlError, make_control_runs
from assignment.models import AnswerSheet
from nuggets import actions as nugget_actions
from nuggets.models import NuggetBank
from tests.assignment.conftest import A
from tests.assignment.test_auto import assigned, labels, launched, plan
from tests.conftest import client_of
from tests.judging import give
from tests.llm.conftest import _short_waits, endpoint  # noqa: F401  # fixtures
from tests.llm.grading import make_judge
from tests.nuggets.conftest import do, fill

pytestmark = pytest.mark.django_db
TAG = "control.nuggets.ManualNuggets"
TEXTS = ["purring heals", "cats purr when content", "kittens purr"]


def answers(tag: str) -> dict[str, list[str]]:
    found = Answer.objects.filter(run__tag=tag).select_related("topic")
    return {answer.topic.qid: [sentence.text for sentence in answer.sentences()] for answer in found}


def made(condition: Condition, **options: bool) -> dict[str, int]:
    return make_control_runs(nuggets=condition, acting_user=None, **options)


@pytest.fixture
def imported(finished: NuggetBank, import_file) -> Condition:
    """Nuggets of a name that is no tag, on t2, beside Anna's on t1."""
    line = {"query": "", "qid": "t2", "nuggets": [{"text": 'melted at "1,500"\nor so'}, {"text": "glass is sorted"}]}
    done = import_file(finished.condition.campaign, "nuggets", [line], condition="A/B by gpt 4", by="model")
    assert done.state == "done"
    return Condition.objects.get(name="A/B by gpt 4")


def test_one_says_all_nuggets_and_one_says_nothing(finished: NuggetBank, olga: Person):
    added = make_control_runs(nuggets=finished.condition, acting_user=olga)
    assert added == {TAG: 1, "control.empty": 1}
    assert (answers(TAG), answers("control.empty")) == ({"t1": TEXTS}, {"t1": []})
    runs = Run.objects.filter(task="control").order_by("tag")
    assert [(run.tag, run.team, run.type, run.priority) for run in runs] == [
        ("control.empty", "", "automatic", None),
        (TAG, "ManualNuggets", "automatic", None),
    ]
    answer = Answer.objects.get(run__tag=TAG)
    assert (answer.words, answer.form, answer.references, answer.extras["response_length"]) == (8, "rag24", [], 8)
    by_olga = Import.objects.filter(person=olga).order_by("pk")
    # Each run is a control run before it has an answer.
    assert [(one.kind, one.state) for one in by_olga] == [("run_list", "done"), ("runs", "done")] * 2


def test_made_again_only_what_is_new_is_added(finished: NuggetBank, anna: Person, olga: Person):
    made(finished.condition)
    imports = Import.objects.count()
    assert made(finished.condition) == {TAG: 0, "control.empty": 0}
    assert Import.objects.count() == imports
    task = give(finished.condition, finished.condition.campaign.topics.get(qid="t2"), anna)
    second = NuggetBank.objects.get(task=task)
    fill(second, (UUID(int=500), "glass is melted", "vital"))
    do(second, nugget_actions.finish_bank)
    assert made(finished.condition) == {TAG: 1, "control.empty": 1}
    assert answers(TAG) == {"t1": TEXTS, "t2": ["glass is melted"]}
    assert answers("control.empty") == {"t1": [], "t2": []}


def test_nuggets_that_were_changed_since_are_said_by_another_run(finished: NuggetBank, olga: Person):
    made(finished.condition)
    nugget_actions.reopen_bank(finished, reason="again", acting_user=olga)
    with pytest.raises(ControlError, match=r"No topic has finished nuggets under ManualNuggets\."):
        made(finished.condition)
    do(finished, nugget_actions.move_nugget, uid=A, to=2)
    do(finished, nugget_actions.finish_bank)
    assert made(finished.condition) == {TAG: 0, "control.empty": 0}  # in whatever order
    nugget_actions.reopen_bank(finished, reason="again", acting_user=olga)
    do(finished, nugget_actions.reword_nugget, uid=A, text="it heals")
    do(finished, nugget_actions.finish_bank)
    with pytest.raises(ControlError, match=rf"The nuggets of t1 were changed since {TAG} was made .* anew"):
        made(finished.condition)
    assert answers(TAG) == {"t1": TEXTS}
    assert made(finished.condition, anew=True) == {f"{TAG}.2": 1, "control.empty": 0}
    assert sorted(answers(f"{TAG}.2")["t1"]) == sorted(["it heals", *TEXTS[1:]])
    assert made(finished.condition) == made(finished.condition, anew=True) == {f"{TAG}.2": 0, "control.empty": 0}
    assert answers(TAG) == {"t1": TEXTS}


def test_each_nugget_condition_has_its_own(imported: Condition, finished: NuggetBank):
    made(finished.condition)
    tag = "control.nuggets.A/B-by-gpt-4"
    assert made(imported) == {tag: 1, "control.empty": 1}
    assert answers(tag) == {"t2": ['melted at "1,500"\nor so', "glass is sorted"]}
    assert answers(TAG) == {"t1": TEXTS}
    # One whose name comes to the same tag.
    Condition.objects.filter(pk=finished.condition_id).update(name="A/B-by gpt-4")
    assert made(Condition.objects.get(name="A/B-by gpt-4")) == {f"{tag}.2": 1, "control.empty": 0}
    assert answers(f"{tag}.2") == {"t1": TEXTS}


def test_a_model_labels_the_newest_alone(finished: NuggetBank, olga: Person):
    made(finished.condition)
    made(finished.condition)
    old = Run.objects.get(tag=TAG)
    Run.objects.create(
        campaign=old.campaign, tag="newer", team=old.team, task=old.task, import_record=old.import_record
    )
    job = launched(plan(make_judge(old.campaign), finished.condition))
    asked = set(AnswerSheet.objects.filter(condition=job.condition).values_list("answer__run__tag", flat=True))
    assert TAG not in asked
    assert "control.empty" in asked


def test_people_are_never_given_them(finished: NuggetBank, manual: Condition, anna: Person):
    made(finished.condition)
    task = give(manual, finished.topic, anna)
    tags = set(AnswerSheet.objects.filter(task=task).values_list("answer__run__tag", flat=True))
    assert tags == {"team.one", "team.two", "team.empty"}
    assert set(answers_to([finished.topic]).values_list("run__tag", flat=True)) == tags


def test_a_model_labels_those_of_its_own_nuggets(imported: Condition, finished: NuggetBank, import_file):
    made(finished.condition)
    import_file(
        imported.campaign,
        "nuggets",
        [{"query": "", "qid": "t1", "nuggets": [{"text": "other"}]}],
        condition="A/B by gpt 4",
        by="model",
    )
    made(imported)
    job = launched(plan(make_judge(imported.campaign), imported))
    asked = set(AnswerSheet.objects.filter(condition=job.condition).values_list("answer__run__tag", flat=True))
    assert asked == {"team.one", "team.two", "team.empty", "control.empty", "control.nuggets.A/B-by-gpt-4"}


@pytest.mark.django_db(transaction=True)
def test_a_judge_that_works_gives_the_one_all_and_the_other_nothing(finished: NuggetBank, endpoint):  # noqa: F811
    made(finished.condition)
    server = endpoint()
    job = assigned(make_judge(finished.condition.campaign, server.base_url), finished.condition)
    found = labels(job.condition)
    assert found[TAG, "t1"] == ["support"] * 3
    assert found["control.empty", "t1"] == ["not_support"] * 3
    assert len(server.begun()) == job.calls == 3


def test_what_stands_in_the_way_is_said_and_nothing_is_made(finished: NuggetBank, import_file):
    condition = finished.condition
    before = Run.objects.count()
    running = importer.new_import(
        campaign=condition.campaign, kind="runs", file_name="f", options={}, person=None, check_only=False
    )
    Import.objects.filter(pk=running.pk).update(state="running", owner="elsewhere 1 1", alive_at="2999-01-01T00:00Z")
    with pytest.raises(ControlError, match=r"Another import of Study is running\. Try again when it is over\."):
        made(condition)
    Import.objects.filter(pk=running.pk).delete()
    Condition.objects.filter(pk=condition.pk).update(name="Manual\u200bNuggets")
    condition.refresh_from_db()
    with pytest.raises(ControlError, match=r"runs.csv was not imported \(refused\)\. tag: found .* invisible"):
        made(condition)
    assert Run.objects.count() == before
    import_file(
        condition.campaign, "runs", [{"run_id": "control.empty", "topic_id": "t1", "references": [], "answer": []}]
    )
    with pytest.raises(ControlError, match=r"There is a run control\.empty already that is no control run"):
        made(condition)
    assert Run.objects.count() == before + 1


def test_they_are_no_gaps(finished: NuggetBank):
    before = gaps(finished.condition.campaign)
    made(finished.condition)
    assert gaps(finished.condition.campaign) == before
    assert "control" not in repr(before)


def test_the_command_says_what_it_made(finished: NuggetBank, capsys: pytest.CaptureFixture[str]):
    call_command("make_control_runs", "study", nuggets="ManualNuggets")
    assert capsys.readouterr().out == f"{TAG}: 1 answers added\ncontrol.empty: 1 answers added\n"
    with pytest.raises(CommandError, match=r"There is no nugget condition X\. There are: ManualNuggets\."):
        call_command("make_control_runs", "study", nuggets="X")


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


def test_an_organizer_makes_them_beside_the_conditions(as_olga: Client, finished: NuggetBank, otto: Person):
    address = "/campaigns/study/control-runs/"
    page = as_olga.get("/campaigns/study/conditions/").content.decode()
    assert f'action="{address}"' in page
    page = as_olga.post(address, {"nuggets": finished.condition.pk}, follow=True).content.decode()
    assert f"Answers added: {TAG} 1, control.empty 1." in page
    page = as_olga.post(address, {"nuggets": ""}, follow=True).content.decode()
    assert "Choose the condition whose nuggets the control runs are to say." in page
    create_campaign(name="Other", slug="other", acting_user=otto)
    before = Import.objects.count()
    elsewhere = {"nuggets": finished.condition.pk, "anew": "on"}
    page = client_of(otto).post("/campaigns/other/control-runs/", elsewhere, follow=True).content.decode()
    assert "Choose the condition" in page
    assert Import.objects.count() == before
    finished.refresh_from_db()
    NuggetBank.objects.filter(pk=finished.pk).update(state=NuggetBank.State.OPEN)
    page = as_olga.post(address, {"nuggets": finished.condition.pk}, follow=True).content.decode()
    assert "No topic has finished nuggets under ManualNuggets." in page
    assert Campaign.objects.get(slug="other").runs.count() == 0
