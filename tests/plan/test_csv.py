"""plan.csv in and out."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from assessor.accounts.models import Person
from assessor.campaigns.models import Condition, Event, Run
from assessor.plan.exports import plan_lines
from assessor.plan.loaders import PlanLoader
from assessor.plan.models import Planned
from assessor.work.actions import draw_next, put_in_queue
from assessor.work.models import Scope, Task, Waiting
from nuggets.actions import create_manual_nuggets
from nuggets.models import NuggetBank
from nuggets.questions.condition_kind import QUESTIONS
from tests.assignment.conftest import sheet_of
from tests.judging import all_judged, label_all, snapshot

HEADER = "topic,nuggets,assignment,support,relevance,assessor,runs,reason\n"
PLAN = HEADER + "t1,ManualNuggets,Manual/Manual,,,anna,priority<=1,\n" + "t2,ManualNuggets,Manual/Manual,,,ben,,\n"


@pytest.fixture
def load(campaign, import_file):
    def do(content: str, **options: bool):
        return import_file(campaign, "plan", content, name="plan.csv", **options)

    return do


def errors(import_record) -> list[tuple[int, str, str, str]]:
    return [tuple(problem.values())[:4] for problem in import_record.report["errors"]]


def state() -> list[object]:
    models = (Task, Waiting, Planned, Scope, Event)
    assigned = [snapshot(condition) for condition in Condition.objects.filter(kind="assignment")]
    return [*(list(model._base_manager.order_by("pk").values()) for model in models), assigned]


def test_a_plan_comes_in_becomes_tasks_and_goes_out_again(manual: Condition, ben: Person, anna: Person, load, campaign):
    Run.objects.filter(tag="team.two").update(priority=1)
    done = load(PLAN)
    assert done.state == "done", done.report
    assert done.report["counts"] == {
        "lines": 3,
        "pieces of work already so": 1,
        "pieces of work new": 3,
        "rules of runs new": 1,
    }
    tasks = Task.objects.filter(condition=manual)
    assert [(task.topic.qid, task.person, task.total) for task in tasks] == [("t1", anna, 1)]
    [row] = Planned.objects.all()
    assert (row.topic.qid, row.person, row.waits_for) == (
        "t2",
        ben,
        "The nuggets of t2 under ManualNuggets are not finished.",
    )
    assert Task.objects.get(condition=manual.nuggets, topic__qid="t2").person == ben
    before = state()
    written = "".join(plan_lines(campaign))
    assert written == PLAN.replace("ben,,", "ben,all,")
    again = load(written)
    assert again.report["counts"] == {"lines": 3, "pieces of work already so": 4}
    after = state()
    imported = after[4].pop()
    assert (imported["verb"], after) == ("imported", before)


def test_a_rule_in_a_file_says_what_leaves_the_scores(manual: Condition, task: Task, as_anna, load):
    label_all(as_anna, sheet_of(task, "team.one"))
    plan = "topic,assignment,assessor,runs\nt1,Manual/Manual,anna,none\n"
    before = state()
    checked = load(plan, check_only=True)
    assert (checked.state, state()) == ("checked", before)
    counts = checked.report["counts"]
    assert (counts["answers that leave the scores"], counts["labels on them"]) == (3, 6)
    assert load(plan).state == "done"
    assert all_judged(task) == []
    assert load(plan.replace("none", "all")).state == "done"
    assert sheet_of(task, "team.one").to_do == 0


def test_work_is_handed_over_with_a_reason(manual: Condition, task: Task, ben: Person, load):
    plan = "topic,assignment,assessor,reason\nt1,Manual/Manual,ben,{}\n"
    refused = load(plan.format(""))
    assert errors(refused) == [(2, "reason", "", "why it is to be ben's: anna has t1 under Manual/Manual")]
    assert load(plan.format("anna is ill")).state == "done"
    assert [(one.person, one.state) for one in Task.objects.filter(condition=manual).order_by("pk")] == [
        (task.person, "withdrawn"),
        (ben, "open"),
    ]
    Task.objects.filter(person=ben).update(state="finished")
    refused = load("topic,assignment,assessor,reason\nt1,Manual/Manual,anna,back\n")
    assert errors(refused) == [(2, "assessor", "anna", "nobody else: ben has finished t1 under Manual/Manual")]


def test_whoever_draws_it(manual: Condition, finished: NuggetBank, load, campaign):
    plan = "topic,assignment,assessor\nt1,Manual/Manual,*\n"
    assert load(plan).state == "done"
    assert Waiting.objects.get().topic.qid == "t1"
    assert "t1,,Manual/Manual,,,*,all,\n" in list(plan_lines(campaign))
    assert load(plan).report["counts"]["pieces of work already so"] == 1


def test_a_topic_that_is_drawn_while_a_plan_comes_in_keeps_none_of_it_from_coming_in(
    manual: Condition, ben: Person, anna: Person, olga: Person, load, monkeypatch
):
    topic = manual.campaign.topics.get(qid="t1")
    put_in_queue(topics=[topic], condition=manual, acting_user=olga)
    end = PlanLoader.end

    def drawn_meanwhile(self: PlanLoader) -> None:
        end(self)
        assert draw_next(condition=manual, person=anna)

    monkeypatch.setattr(PlanLoader, "end", drawn_meanwhile)
    done = load("topic,nuggets,assignment,assessor\nt1,,Manual/Manual,ben\nt2,ManualNuggets,,ben\n")
    assert done.state == "done", done.report
    assert Task.objects.get(condition=manual).person == anna
    assert Waiting.objects.get().topic == topic
    [row] = Planned.objects.all()
    assert "these topics are somebody else's already: t1 (anna)" in row.waits_for
    assert Task.objects.get(person=ben).topic.qid == "t2"


def test_every_mistake_is_named_and_nothing_changes(manual: Condition, task: Task, ben: Person, olga: Person, load):
    before = state()
    refused = load(
        HEADER
        + "t9,ManualNuggets,,,,anna,,\n"
        + "t2,Manual/Manual,,,,anna,,\n"
        + "t2,ManualNuggets,,,,olga,,\n"
        + "t2,,,,,anna,,\n"
        + "t2,ManualNuggets,,,,,,\n"
        + "t2,ManualNuggets,,,,ben,best,\n"
        + "t2,ManualNuggets,,,,ben,,\n"
        + "t2,ManualNuggets,,,,anna,,\n"
        + "t2,one column\n"
    )
    assert refused.state == "refused"
    assert [(line, field) for line, field, *_ in errors(refused)] == [
        (2, "topic"),
        (3, "nuggets"),
        (4, "assessor"),
        (5, ""),
        (6, "assessor"),
        (7, "runs"),
        (9, "nuggets"),
        (10, ""),
    ]
    assert errors(refused)[5][3] == 'a rule: "all", "none", "priority<=2", "1 per team"'
    assert state() == before
    assert load("topic,who\nt1,anna\n").state == "refused"
    assert state() == before


def test_a_cell_that_was_kept_from_being_a_formula_is_read_as_it_was_meant(
    manual: Condition, anna: Person, load, campaign
):
    manual.name = "=Manual"
    manual.save()
    assert load("topic,assignment,assessor\nt2,'=Manual,anna\n").state == "done"
    assert "t2,,'=Manual,,,anna,all,\n" in list(plan_lines(campaign))


def test_the_commands(manual: Condition, task: Task, ben: Person, tmp_path, capsys):
    path = tmp_path / "plan.csv"
    call_command("export_plan", "study", stdout=(out := StringIO()))
    printed = out.getvalue() or capsys.readouterr().out
    assert printed == HEADER + "t1,ManualNuggets,Manual/Manual,,,anna,all,\n"
    path.write_text(printed + "t2,ManualNuggets,,,,ben,,\n")
    call_command("import_plan", "study", str(path), "--check", stdout=StringIO())
    assert not Task.objects.filter(person=ben).exists()
    call_command("import_plan", "study", str(path), stdout=StringIO())
    assert Task.objects.get(person=ben).topic.qid == "t2"
    path.write_text(HEADER + "t9,ManualNuggets,,,,ben,,\n")
    with pytest.raises(CommandError):
        call_command("import_plan", "study", str(path), stdout=StringIO())


def test_a_kind_that_few_studies_have_is_a_column_where_it_is_planned(load, campaign, anna: Person):
    source = campaign.qrels_sources.get(name="NIST")
    create_manual_nuggets(campaign=campaign, name="Asked", qrels_source=source, kind=QUESTIONS, acting_user=None)
    assert load("topic,questions,assessor\nt1,Asked,anna\n").state == "done"
    header, *lines = plan_lines(campaign)
    assert header == "topic,nuggets,questions,assignment,support,relevance,assessor,runs,reason\n"
    assert "t1,,Asked,,,,anna,,\n" in lines
