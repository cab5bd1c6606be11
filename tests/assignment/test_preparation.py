"""What people are given to label, and to whom it may be given."""

import pytest

from assessor.accounts.models import Person
from assessor.campaigns.actions import ConditionError, change_protocol
from assessor.campaigns.models import CONTROL, Answer, Campaign, Condition, Event, Run, Topic
from assessor.labels.manual_setups import label_again
from assessor.labels.models import ManualSetup
from assessor.work.actions import PlanError, withdraw_task
from assessor.work.models import Task
from assignment.actions import create_manual_assign, usual_name
from assignment.models import AnswerSheet, Assignment, LabelEvent
from nuggets.models import NuggetBank
from tests.assignment.conftest import A, B, C, run_file, sheet_of
from tests.conftest import make_person
from tests.judging import give, last_change, nuggets_of


def label_all(task: Task, label: str = "support") -> None:
    """Label whatever is left on a task's sheets, as its person does."""
    for sheet in AnswerSheet.objects.filter(task=task, to_do__gt=0):
        nuggets = sheet.asked or nuggets_of(sheet.bank)
        sheet.revise("label", {nugget: {"label": label} for nugget in nuggets}, judge_id=sheet.judge_id)


def sign_off(task: Task) -> None:
    Task.objects.filter(pk=task.pk).update(state=Task.State.FINISHED)


def test_the_maker_gets_every_answer_and_an_empty_one_is_done_by_rule(task: Task, anna: Person, nugget_ids):
    assert (task.done, task.total, task.state) == (1, 3, "open")
    full = sheet_of(task, "team.one")
    assert (full.to_do, full.labels, full.edition, full.asked, full.by_rule) == (3, {}, 1, None, False)
    assert full.judge.person == anna
    empty = sheet_of(task, "team.empty")
    assert (empty.to_do, empty.by_rule) == (0, True)
    assert empty.labels == {str(pk): "not_support" for pk in nugget_ids.values()}


def test_another_person_needs_a_reason_which_is_kept(manual: Condition, topic: Topic, ben: Person):
    with pytest.raises(PlanError, match=r"anna made the nuggets of t1 and assigns them; .* ben instead, say why"):
        give(manual, topic, ben)
    assert not AnswerSheet.objects.exists()
    task = give(manual, topic, ben, reason="  Anna is\nill ")
    assert task.reason == "Anna is ill"
    assert Event.objects.get(verb="task given", subject__contains="ben").details["reason"] == "Anna is ill"


def test_a_reason_has_its_limits(manual: Condition, topic: Topic, ben: Person):
    for reason in ("x" * 501, "a\x00b"):
        with pytest.raises(PlanError, match="at most 500 characters"):
            give(manual, topic, ben, reason=reason)


def test_nobody_is_given_nuggets_that_are_not_finished(
    condition: Condition, bank: NuggetBank, topic: Topic, anna, olga
):
    manual = create_manual_assign(nuggets=condition, name="Manual/Manual", acting_user=olga)
    with pytest.raises(PlanError, match="The nuggets of t1 under ManualNuggets are not finished"):
        give(manual, topic, anna)


def test_nobody_is_given_what_a_model_or_a_file_assigns(finished: NuggetBank, manual: Condition, topic, anna, olga):
    imported = Condition.objects.create(
        campaign=manual.campaign,
        name="theirs",
        kind="assignment",
        method="imported",
        nuggets=finished.condition,
        protocol=manual.protocol,
    )
    with pytest.raises(PlanError, match="its labels are not given by people here"):
        give(imported, topic, anna)


def test_who_has_seen_a_models_labels_there_cannot_assign_blind(manual: Condition, topic: Topic, anna: Person):
    from assessor.work.blindness import record_exposure

    record_exposure(anna, [topic], "assignment", "test")
    with pytest.raises(PlanError, match="has seen LLM output of this kind on t1"):
        give(manual, topic, anna)


def test_control_runs_and_texts_that_only_labels_refer_to_are_not_given(finished, manual, topic, anna):
    Run.objects.filter(tag="team.two").update(task=CONTROL)
    run = Run.objects.get(tag="team.one")
    Answer.objects.create(
        run=run, topic=topic, form="text", content=[], words=0, apart=True, import_record=run.import_record
    )
    task = give(manual, topic, anna)
    assert {sheet.answer.run.tag for sheet in task.answer_sheets.all()} == {"team.one", "team.empty"}
    assert not task.answer_sheets.filter(answer__apart=True).exists()


def test_answers_of_an_import_that_is_not_over_are_not_given(finished, manual, topic, anna):
    import_record = Run.objects.get(tag="team.two").import_record
    import_record.state = "running"
    import_record.save()
    assert give(manual, topic, anna).total == 2


def test_the_order_is_another_for_each_person_and_topic_and_stays(
    answered: Campaign, finished, topic, import_file, olga
):
    for number in range(12):
        tag = f"more.{number:02}"
        assert import_file(answered, "runs", run_file(tag, {"t1": [f"Answer {number}."]}), name=tag).state == "done"
    manual = create_manual_assign(nuggets=finished.condition, name="m", acting_user=olga)
    ManualSetup.objects.filter(condition=manual).update(seed=7)
    tags = {}
    for name in ("carl", "dora"):
        person = make_person(name, "assessor")
        task = give(manual, topic, person, reason="so")
        sheets = task.answer_sheets.order_by("place")
        assert [sheet.place for sheet in sheets] == list(range(15))
        assert [sheet.pk for sheet in sheets] == sorted(sheet.pk for sheet in sheets)  # no key tells a run
        tags[name] = [sheet.answer.run.tag for sheet in sheets]
        Assignment.objects.all().delete()
        AnswerSheet.objects.all().delete()
        Task.objects.filter(pk=task.pk).update(state="withdrawn")
    assert sorted(tags["carl"]) == sorted(tags["dora"])
    assert tags["carl"] != tags["dora"]
    assert tags["carl"] != sorted(tags["carl"])


def test_answers_that_came_later_are_added_and_open_the_topic_again(task, manual, topic, anna, answered, import_file):
    label_all(task)
    sign_off(task)
    assert import_file(answered, "runs", run_file("late", {"t1": ["Late."]}), name="late").state == "done"
    again = give(manual, topic, anna)
    assert (again.pk, again.done, again.total, again.state) == (task.pk, 3, 4, "open")
    assert sheet_of(again, "late").place == 3


def test_given_again_with_nothing_new_a_signed_off_topic_stays_so(task: Task, manual, topic, anna):
    label_all(task)
    sign_off(task)
    give(manual, topic, anna)
    assert Task.objects.get(pk=task.pk).state == "finished"
    assert AnswerSheet.objects.count() == 3


def test_who_takes_over_starts_anew_what_is_not_done(task, manual, topic, anna, ben, olga, nugget_ids):
    done, begun = sheet_of(task, "team.one"), sheet_of(task, "team.two")
    done.revise("label", {pk: {"label": "support"} for pk in nugget_ids.values()}, judge_id=done.judge_id)
    said = {nugget_ids[A]: {"label": "support", "flag": "odd"}, nugget_ids[B]: {"cannot": "unclear"}}
    begun.revise("label", said, judge_id=begun.judge_id)
    withdraw_task(task=task, acting_user=olga)
    taken = give(manual, topic, ben, reason="Anna left")
    begun.refresh_from_db()
    assert (begun.task, begun.judge.person, begun.to_do) == (taken, ben, 3)
    assert (begun.labels, begun.cannot, begun.flags) == ({}, {}, {})
    revision = LabelEvent.objects.filter(sheet=begun).latest("version")
    assert revision.verb == "handed over"
    assert last_change(begun)[str(nugget_ids[A])] == {"label": ["support", None], "flag": ["odd", None]}
    done.refresh_from_db()
    assert (done.task, done.judge.person, done.to_do) == (task, anna, 0)
    assert (taken.done, taken.total) == (2, 3)  # Anna's, and the empty one


def test_who_takes_over_gets_an_order_of_their_own(task, manual, topic, ben, olga):
    AnswerSheet.objects.filter(pk=sheet_of(task, "team.two").pk).update(put_off=4, place=9)
    withdraw_task(task=task, acting_user=olga)
    sheets = give(manual, topic, ben, reason="Anna left").answer_sheets.all()
    assert sorted(sheet.place for sheet in sheets) == [0, 1, 2]
    assert {sheet.put_off for sheet in sheets} == {0}


def test_two_nugget_conditions_make_two_assignment_conditions(finished: NuggetBank, manual: Condition, olga: Person):
    other = Condition.objects.create(
        campaign=manual.campaign,
        name="other nuggets",
        kind="nuggets",
        method="ManualNuggets",
        qrels_source=finished.condition.qrels_source,
        protocol=manual.protocol,
        replicate=1,
    )
    assert create_manual_assign(nuggets=other, name="other", acting_user=olga).identity != manual.identity
    with pytest.raises(ConditionError, match="is that condition already"):
        create_manual_assign(nuggets=finished.condition, name="same", acting_user=olga)


def test_names_have_their_limits(finished: NuggetBank, olga: Person):
    nuggets = finished.condition
    with pytest.raises(ConditionError, match="name is longer than 120"):
        create_manual_assign(nuggets=nuggets, name="x" * 121, acting_user=olga)
    nuggets.method, nuggets.name = Condition.IMPORTED, "n" * 120
    assert usual_name(nuggets, "Auto") == "n" * 115 + "/Auto"
    nuggets.name = "n" * 700
    with pytest.raises(ConditionError, match="description is longer than 700"):
        create_manual_assign(nuggets=nuggets, name="x", acting_user=olga)


class TestOpinions:
    def test_a_second_one_is_somebody_elses_and_apart(self, task, manual, topic, anna, ben, olga, nugget_ids):
        label_all(task)
        second = label_again(of=manual, name="second", purpose="second", acting_user=olga)
        assert (second.replicate, second.method, second.nuggets) == (1, "ManualAssign", manual.nuggets)
        with pytest.raises(PlanError, match="anna labelled t1 before: a second opinion is somebody else's"):
            give(second, topic, anna)
        others = give(second, topic, ben)
        assert (others.done, others.total) == (0, 2)  # an empty answer is nobody's question
        assert sheet_of(others, "team.one").labels == {}
        assert AnswerSheet.objects.filter(condition=manual).count() == 3

    def test_nothing_can_be_repeated_before_it_was_given(self, manual, topic, ben, olga):
        second = label_again(of=manual, name="second", purpose="second", acting_user=olga)
        with pytest.raises(PlanError, match="Nobody was given t1 under Manual/Manual yet"):
            give(second, topic, ben)

    def test_a_third_opinion_is_not_the_seconds(self, task, manual, topic, ben, olga):
        for name in ("second", "third"):
            label_again(of=manual, name=name, purpose="second", acting_user=olga)
        second, third = Condition.objects.filter(name__in=("second", "third")).order_by("pk")
        assert (second.replicate, third.replicate) == (1, 2)
        give(second, topic, ben)
        with pytest.raises(PlanError, match="ben labelled t1 before"):
            give(third, topic, ben)

    def test_a_repetition_is_the_same_persons_once_they_signed_off(self, task, manual, topic, anna, ben, olga):
        again = label_again(of=manual, name="again", purpose="repeat", acting_user=olga)
        with pytest.raises(PlanError, match="anna has not signed t1 off under Manual/Manual yet"):
            give(again, topic, anna)
        label_all(task)
        sign_off(task)
        with pytest.raises(PlanError, match="ben did not label all of t1"):
            give(again, topic, ben)
        repeated = give(again, topic, anna)
        assert (repeated.done, repeated.total) == (0, 2)
        assert sheet_of(repeated, "team.one").labels == {}

    def test_a_share_is_drawn_by_the_seed_and_is_at_least_one(self, task, manual, topic, anna, olga):
        label_all(task)
        sign_off(task)
        drawn = set()
        for seed in range(8):
            again = label_again(of=manual, name=f"again {seed}", purpose="repeat", share=10, acting_user=olga)
            ManualSetup.objects.filter(condition=again).update(seed=seed)
            [sheet] = give(again, topic, anna).answer_sheets.all()
            drawn.add(sheet.answer.run.tag)
        assert drawn == {"team.one", "team.two"}

    def test_only_what_could_not_be_judged_also_what_came_later(self, task, manual, topic, ben, olga, nugget_ids):
        sheet = sheet_of(task, "team.one")
        sheet.revise("cannot", {nugget_ids[C]: {"cannot": "unclear"}}, judge_id=sheet.judge_id)
        second = label_again(of=manual, name="2", purpose="second", only_unjudgeable=True, acting_user=olga)
        [asked] = give(second, topic, ben).answer_sheets.all()
        assert (asked.answer, asked.asked, asked.to_do) == (sheet.answer, [nugget_ids[C]], 1)
        sheet.revise("cannot", {nugget_ids[A]: {"cannot": "unclear"}}, judge_id=sheet.judge_id)
        give(second, topic, ben)
        asked.refresh_from_db()
        assert (asked.asked, asked.to_do) == ([nugget_ids[C], nugget_ids[A]], 2)

    def test_the_share_is_the_same_whoever_labels_and_does_not_grow(
        self, finished, manual, topic, anna, ben, olga, answered, import_file
    ):
        for number in range(8):
            tag = f"more.{number}"
            assert import_file(answered, "runs", run_file(tag, {"t1": [f"Answer {number}."]}), name=tag).state == "done"
        label_all(give(manual, topic, anna))
        second = label_again(of=manual, name="2", purpose="second", share=30, acting_user=olga)
        task = give(second, topic, ben)
        drawn = {sheet.answer_id for sheet in task.answer_sheets.all()}
        assert len(drawn) == 3  # 30 percent of ten
        withdraw_task(task=task, acting_user=olga)
        others = give(second, topic, make_person("carl", "assessor"))
        assert {sheet.answer_id for sheet in others.answer_sheets.all()} == drawn
        assert AnswerSheet.objects.filter(condition=second).count() == 3

    def test_who_gave_the_second_opinion_is_not_given_the_first_work(self, task, manual, topic, ben, olga):
        second = label_again(of=manual, name="second", purpose="second", acting_user=olga)
        give(second, topic, ben)
        withdraw_task(task=task, acting_user=olga)
        with pytest.raises(PlanError, match="ben labels t1 beside Manual/Manual"):
            give(manual, topic, ben, reason="Anna left")

    def test_who_was_taken_over_gives_no_second_opinion(self, task, manual, topic, anna, ben, olga, nugget_ids):
        sheet = sheet_of(task, "team.one")
        said = {nugget_ids[A]: {"label": "support"}}
        sheet.revise("label", said, judge_id=sheet.judge_id, task_id=task.pk)
        withdraw_task(task=task, acting_user=olga)
        label_all(give(manual, topic, ben, reason="Anna left"))
        second = label_again(of=manual, name="second", purpose="second", acting_user=olga)
        with pytest.raises(PlanError, match="anna labelled t1 before"):
            give(second, topic, anna)

    def test_who_was_only_given_the_topic_may_give_a_second_opinion(self, task, manual, topic, anna, ben, olga):
        withdraw_task(task=task, acting_user=olga)
        first = give(manual, topic, ben, reason="Anna left")
        assert first.answer_sheets.count() == 3  # the empty one went along
        label_all(first)
        second = label_again(of=manual, name="second", purpose="second", acting_user=olga)
        assert give(second, topic, anna).total == 2

    def test_runs_that_came_later_are_repeated_too(self, task, manual, topic, anna, olga, answered, import_file):
        label_all(task)
        sign_off(task)
        again = label_again(of=manual, name="again", purpose="repeat", acting_user=olga)
        assert give(again, topic, anna).total == 2
        assert import_file(answered, "runs", run_file("late", {"t1": ["Late."]}), name="late").state == "done"
        first = give(manual, topic, anna)  # who repeats a topic is still the one whose first labels these are
        assert (first.state, first.total) == ("open", 4)
        label_all(first)
        sign_off(first)
        assert give(again, topic, anna).total == 3

    def test_it_is_the_same_work_under_the_same_protocol(self, task, manual, topic, ben, olga):
        change_protocol(campaign=manual.campaign, settings={"show_citations": True}, acting_user=olga)
        second = label_again(of=manual, name="second", purpose="second", acting_user=olga)
        assert second.protocol == manual.protocol != manual.campaign.protocol

    def test_there_is_none_on_an_opinion(self, manual, olga):
        second = label_again(of=manual, name="second", purpose="second", acting_user=olga)
        with pytest.raises(ConditionError, match="second labels Manual/Manual again itself"):
            label_again(of=second, name="third", purpose="second", acting_user=olga)

    @pytest.mark.parametrize("share", [0, 101])
    def test_a_share_is_some_percent(self, manual, olga, share: int):
        with pytest.raises(ConditionError, match="1 to 100 percent"):
            label_again(of=manual, name="x", purpose="repeat", share=share, acting_user=olga)

    def test_there_is_none_on_what_people_did_not_assign_here(self, finished, olga):
        with pytest.raises(ConditionError, match="was not labelled by people here"):
            label_again(of=finished.condition, name="x", purpose="second", acting_user=olga)
