"""Conditions in which people judge support, and the citations that they are given."""

import pytest
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import ConditionError, change_protocol, create_campaign
from assessor.campaigns.models import Answer, Campaign, Condition, Run, Topic
from assessor.labels.models import ManualSetup
from assessor.work.actions import PlanError, withdraw_task
from assessor.work.blindness import record_exposure
from assessor.work.models import Task
from nuggets.actions import create_manual_nuggets
from support.actions import create_support, open_waiting, resolve
from support.models import LabelEvent, SupportSheet
from tests.conftest import client_of
from tests.judging import answers, counters, give, last_change, put, queue, send, sign_off, stands
from tests.support.judging_helpers import (
    RUNS,
    from_scratch,
    label_as_model,
    models_condition,
    post_edited,
    run_file,
    sheet_of,
)


def label_all(client: Client, task: Task, label: str = "full") -> None:
    for sheet in task.support_sheets.filter(to_do__gt=0):
        for key in sheet.asked:
            if key not in (*sheet.unresolved, *sheet.waiting):
                if task.condition.shown:
                    assert send(client, sheet, "show", key).status_code == 200
                assert send(client, sheet, "label", key, label=label).status_code == 200


# Conditions


def test_what_a_condition_is(answered: Campaign, olga: Person):
    scratch = create_support(campaign=answered, name="scratch", shown=None, acting_user=olga)
    assert (scratch.kind, scratch.method, scratch.is_blind()) == ("support", "support from scratch", True)
    assert scratch.identity == "kind=support; method=support from scratch; judge=people; protocol=trec-2024 v1"
    assert ManualSetup.objects.get(condition=scratch).seed > 0
    edited = post_edited(answered)
    assert (edited.method, edited.is_blind(), edited.name_for_assessors) == (
        "support post-edited",
        False,
        "Support",
    )
    assert edited.identity == (
        "kind=support; method=support post-edited; judge=people; shown=Mia's; protocol=trec-2024 v1"
    )
    assert Condition._meta.get_field("shown").null
    # Another model's labels make another condition; the same ones don't.
    shown = models_condition(answered, "Noa's")
    create_support(campaign=answered, name="other", shown=shown, acting_user=None)
    with pytest.raises(ConditionError, match="other is that condition already"):
        create_support(campaign=answered, name="third", shown=shown, acting_user=None)


def test_a_rehearsed_models_labels_are_told_where_they_show(edited: Condition):
    assert not edited.is_rehearsed
    edited.shown.judge.is_rehearsal = True
    assert edited.is_rehearsed


def test_what_can_be_shown(answered: Campaign, olga: Person):
    by_people = models_condition(answered, "NIST's", by="people")
    other = create_campaign(name="Other", slug="other", acting_user=olga)
    grades = answered.qrels_sources.get(name="NIST")
    nuggets = create_manual_nuggets(campaign=answered, name="N", qrels_source=grades, acting_user=None)
    for shown, told in (
        (by_people, "What is post-edited are a model's labels; those of NIST's are people's."),
        (from_scratch(answered), "What is post-edited are a model's labels; those of from scratch are people's."),
        (nuggets, "What is post-edited are labels of support; those of N are of nuggets."),
        (models_condition(other), "Mia's is not a condition of Study."),
    ):
        with pytest.raises(ConditionError) as raised:
            create_support(campaign=answered, name="edited", shown=shown, acting_user=None)
        assert str(raised.value) == told


def test_the_organizers_form(answered: Campaign, olga: Person):
    shown = models_condition(answered)
    models_condition(answered, "NIST's", by="people")
    client, address = client_of(olga), f"/campaigns/{answered.slug}/conditions/new/"
    page = client.get(address).content.decode()
    assert f'<option value="{shown.pk}">' in page.split('id="id_shown_labels"')[1].split("</select>")[0]
    assert "NIST&#x27;s" not in page.split('id="id_shown_labels"')[1].split("</select>")[0]
    refused = client.post(address, {"method": "support post-edited"})
    assert b"This field is required" in refused.content
    assert client.post(address, {"method": "support from scratch", "shown_labels": shown.pk}).status_code == 302
    assert client.post(address, {"method": "support post-edited", "shown_labels": shown.pk}).status_code == 302
    made = {one.name: one.shown for one in answered.conditions.filter(method__startswith="support ")}
    assert made == {"support from scratch": None, "support post-edited": shown}
    again = client.post(address, {"method": "support from scratch", "name": "again"})
    assert b"is that condition already" in again.content
    made_last = answered.conditions.get(name="support post-edited")
    page = client.get(f"/campaigns/{answered.slug}/conditions/{made_last.pk}/")
    assert b"kind=support; method=support post-edited" in page.content


# Sheets


def test_what_a_person_is_given(scratch: Condition, topic: Topic, anna: Person):
    task = give(scratch, topic, anna)
    sheets = {sheet.answer.run.tag: sheet for sheet in task.support_sheets.select_related("answer__run")}
    assert {tag: (sheet.asked, sheet.unresolved, sheet.to_do) for tag, sheet in sheets.items()} == {
        "team.one": (["0.0", "1.0"], [], 2),
        "team.two": (["0.0", "1.0"], ["1.0"], 1),
        "team.silent": ([], [], 0),
    }
    assert {sheet.judge.person for sheet in sheets.values()} == {anna}
    assert sorted(sheet.place for sheet in sheets.values()) == [0, 1, 2]
    assert counters(task) == ("open", 0, 3)


def test_more_citations_of_a_sentence_where_the_protocol_says_so(answered: Campaign, topic, anna, olga):
    change_protocol(campaign=answered, settings={"citations_per_sentence": 2}, acting_user=olga)
    task = give(from_scratch(answered), topic, anna)
    assert sheet_of(task, "team.one").asked == ["0.0", "1.0", "1.1"]
    assert sheet_of(task, "team.two").asked == ["0.0", "0.1", "1.0"]
    assert counters(task) == ("open", 0, 5)


def test_control_runs_and_texts_apart_are_not_given(answered: Campaign, topic: Topic, anna: Person, import_file):
    import_file(answered, "runs", run_file("control.all", RUNS["team.one"]), name="control")
    Run.objects.filter(tag="control.all").update(task="control")
    answer = Answer.objects.get(topic=topic, run__tag="team.two")
    answer.pk, answer.apart = None, True
    answer.save()
    task = give(from_scratch(answered), topic, anna)
    assert sorted(task.support_sheets.values_list("answer__run__tag", flat=True)) == sorted(RUNS)
    assert not task.support_sheets.filter(answer__apart=True).exists()


def test_the_order_is_shuffled_by_seed_topic_and_person(campaign: Campaign, import_file, topic, anna, ben):
    for number in range(8):
        run = run_file(f"run{number}", {"t1": [(f"Fact {number}.", ["d1"])], "t2": [(f"Fact {number}.", ["d5"])]})
        import_file(campaign, "runs", run, name=f"run{number}")

    def order(name: str, seed: int, topic: Topic, person: Person) -> list[str]:
        condition = from_scratch(campaign, name)
        ManualSetup.objects.filter(condition=condition).update(seed=seed)
        task = give(condition, topic, person)
        found = list(task.support_sheets.order_by("place").values_list("answer__run__tag", flat=True))
        assert found == list(task.support_sheets.order_by("pk").values_list("answer__run__tag", flat=True))
        Condition.objects.filter(pk=condition.pk).update(identity=name)
        return found

    first = order("a", 1, topic, anna)
    assert sorted(first) == [f"run{number}" for number in range(8)]
    assert order("b", 1, topic, anna) == first
    other_topic = Topic.objects.get(campaign=campaign, qid="t2")
    others = [order("c", 2, topic, anna), order("d", 1, topic, ben), order("e", 1, other_topic, anna)]
    assert first not in others
    assert first != sorted(first)


def test_where_nothing_can_be_given(answered: Campaign, scratch: Condition, topic: Topic, anna, ben, olga):
    with pytest.raises(PlanError, match="Nobody can be given Mia's: its labels are not given by people here"):
        give(models_condition(answered), topic, anna)
    Run.objects.update(task="control")
    with pytest.raises(PlanError, match="There is no answer to judge on t1 under from scratch"):
        give(scratch, topic, anna)
    assert not SupportSheet.objects.exists()
    Run.objects.update(task="")
    give(scratch, topic, anna)
    with pytest.raises(PlanError, match="somebody else's already"):
        give(scratch, topic, ben)
    with pytest.raises(PlanError, match="olga is not an assessor of Study"):
        give(scratch, topic, olga)


def test_who_has_seen_a_models_labels_judges_beside_them_only(edited: Condition, scratch: Condition, topic, anna, ben):
    record_exposure(anna, [topic], "nuggets", "test")
    record_exposure(ben, [topic], "support", "test")
    with pytest.raises(PlanError, match="ben has seen LLM output of this kind on t1, and from scratch is done blind"):
        give(scratch, topic, ben)
    give(scratch, topic, anna)
    give(edited, topic, ben)


def test_answers_that_come_later_are_added_when_given_again(scratch, campaign, topic, anna, import_file, as_anna):
    task = give(scratch, topic, anna)
    label_all(as_anna, task)
    assert sign_off(as_anna, task).status_code == 200
    assert counters(task) == ("finished", 3, 3)
    assert give(scratch, topic, anna).state == "finished"
    import_file(campaign, "runs", run_file("team.late", {"t1": [("Late.", ["d3"])]}), name="late")
    assert counters(give(scratch, topic, anna)) == ("open", 3, 4)
    assert sheet_of(task, "team.late").place == 3


def test_a_text_that_comes_later_is_asked_about_when_given_again(scratch, campaign, topic, anna, import_file, as_anna):
    task = give(scratch, topic, anna)
    label_all(as_anna, task)
    assert sign_off(as_anna, task).status_code == 200
    import_file(campaign, "segments", [{"docid": "d4", "segment": "Fur is hair."}])
    assert counters(give(scratch, topic, anna)) == ("open", 3, 4)
    sheet = sheet_of(task, "team.two")
    assert stands(sheet) == {"labels": {"0.0": "full"}, "to_do": 1}
    assert send(as_anna, sheet, "label", "1.0", label="none").status_code == 200


# Reassignment


def test_what_is_not_done_goes_to_the_next_person(scratch, topic, anna, ben, olga, as_anna: Client):
    task = give(scratch, topic, anna)
    one, two = sheet_of(task, "team.one"), sheet_of(task, "team.two")
    assert send(as_anna, two, "label", "0.0", label="partial").status_code == 200
    assert send(as_anna, one, "label", "0.0", label="full").status_code == 200
    assert send(as_anna, one, "flag", "1.0", note="odd").status_code == 200
    withdraw_task(task=task, acting_user=olga)
    other = give(scratch, topic, ben)
    one.refresh_from_db()
    two.refresh_from_db()
    assert (one.task, one.judge.person, two.task, two.judge.person) == (other, ben, task, anna)
    assert sheet_of(task, "team.silent").task == other
    assert stands(one) == {"to_do": 2}
    assert stands(two) == {"labels": {"0.0": "partial"}, "unresolved": ["1.0"], "to_do": 0}
    assert last_change(one) == {"0.0": {"label": ["full", None]}, "1.0": {"flag": ["odd", None]}}
    assert counters(other) == ("open", 1, 3)
    page = client_of(ben).get(f"/support/{other.pk}/")
    assert [(*row[:3], row[5]) for row in queue(page)] == [(one.pk, 1, 2, 2)]
    label_all(client_of(ben), other)
    assert sign_off(client_of(ben), other).status_code == 200
    assert counters(other) == ("finished", 3, 3)


def test_a_shown_label_is_shown_anew_to_the_next_person(edited: Condition, topic, anna, ben, olga, as_anna: Client):
    task = give(edited, topic, anna)
    sheet = sheet_of(task, "team.one")
    assert send(as_anna, sheet, "show", "0.0").json()["shown"] == "partial"
    assert stands(sheet)["shown"] == {"0.0": "partial"}
    withdraw_task(task=task, acting_user=olga)
    other = give(edited, topic, ben)
    assert stands(sheet) == {"waiting": ["1.0"], "to_do": 1}
    client = client_of(ben)
    assert send(client, sheet, "label", "0.0", task=other.pk, label="full").status_code == 400


# Post-editing


def test_what_the_model_has_not_judged_waits(edited: Condition, topic: Topic, anna: Person, olga, as_anna: Client):
    task = give(edited, topic, anna)
    assert stands(sheet_of(task, "team.one")) == {"waiting": ["1.0"], "to_do": 1}
    assert stands(sheet_of(task, "team.two")) == {"unresolved": ["1.0"], "to_do": 1}
    assert counters(task) == ("open", 0, 2)
    page = as_anna.get(f"/support/{task.pk}/").content.decode()
    assert "1 citation that waits for the model's label" in page
    look = client_of(olga).get(f"/support/{task.pk}/").content.decode()
    assert "1 can't be opened: Mia&#x27;s has no label" in look
    assert "1 can't be judged: their texts are not loaded" in look
    assert "0 of 2 citations of the topic are done." in look


def test_it_opens_once_the_label_is_there_and_the_topic_given_again(edited: Condition, topic, anna, as_anna: Client):
    task = give(edited, topic, anna)
    label_all(as_anna, task)
    assert sign_off(as_anna, task).status_code == 200
    assert counters(give(edited, topic, anna)) == ("finished", 2, 2)
    labels = SupportSheet.objects.get(condition=edited.shown, answer__run__tag="team.one")
    put([labels], labels=labels.labels | {"1.0": "not judged"})
    assert counters(give(edited, topic, anna)) == ("finished", 2, 2), "no label of the three"
    put([labels], labels=labels.labels | {"1.0": "none"})
    assert counters(give(edited, topic, anna)) == ("open", 2, 3)
    sheet = sheet_of(task, "team.one")
    assert stands(sheet) == {"labels": {"0.0": "full"}, "shown": {"0.0": "partial"}, "to_do": 1}
    assert LabelEvent.objects.filter(sheet=sheet).latest("version").verb == "label there"
    assert send(as_anna, sheet, "show", "1.0").json()["shown"] == "none"


def test_an_answer_that_the_model_did_not_judge_at_all_is_not_in_the_queue(answered, topic, anna, as_anna: Client):
    shown = models_condition(answered)
    label_as_model(shown, {"team.two": {"0.0": "full"}})
    task = give(create_support(campaign=answered, name="e", shown=shown, acting_user=None), topic, anna)
    assert stands(sheet_of(task, "team.one")) == {"waiting": ["0.0", "1.0"], "to_do": 0}
    page = as_anna.get(f"/support/{task.pk}/")
    assert answers(page) == [row[0] for row in queue(page)] == [sheet_of(task, "team.two").pk]


def test_a_text_that_comes_later_waits_for_its_label(edited: Condition, campaign, topic, anna, import_file):
    task = give(edited, topic, anna)
    import_file(campaign, "segments", [{"docid": "d4", "segment": "Fur is hair."}])
    assert resolve(edited) == 1
    assert resolve(edited) == 0
    two = sheet_of(task, "team.two")
    assert stands(two) == {"waiting": ["1.0"], "to_do": 1}
    labels = SupportSheet.objects.get(condition=edited.shown, answer=two.answer)
    put([labels], unresolved=[])
    put([labels], labels=labels.labels | {"1.0": "full"})
    assert open_waiting(edited) == 1
    assert open_waiting(edited) == 0
    assert stands(two) == {"to_do": 2}


def test_a_bare_text_that_came_with_labels_of_nuggets_is_given_to_nobody(
    answered: Campaign, import_file, topic: Topic, anna: Person
):
    """Nobody knows yet what it cites: it must not count as citing nothing."""
    nuggets = {"query": "", "qid": "t1", "nuggets": [{"text": "a", "importance": "vital", "assignment": "support"}]}
    line = {**nuggets, "run_id": "team.bare", "answer_text": "Cats purr.", "response_length": 2}
    assert import_file(answered, "assignments", [line], condition="A", by="people").state == "done"
    give(from_scratch(answered), topic, anna)
    assert not SupportSheet.objects.filter(answer__run__tag="team.bare").exists()
    assert SupportSheet.objects.exists()


def test_what_opens_belongs_to_who_is_given_the_topic(edited: Condition, topic: Topic, anna: Person, ben: Person):
    """Not to who had done all that could be opened before."""
    task = give(edited, topic, anna)
    label_all(client_of(anna), task)
    for sheet in SupportSheet.objects.filter(condition=edited.shown):
        given = {key: {"label": "none"} for key in sheet.asked if key not in (*sheet.labels, *sheet.unresolved)}
        sheet.revise("labelled", given, judge_id=sheet.judge_id)
    withdraw_task(task=task, acting_user=None)
    bens = give(edited, topic, ben)
    opened = SupportSheet.objects.filter(condition=edited, to_do__gt=0)
    assert {sheet.task_id for sheet in opened} == {bens.pk}
    label_all(client_of(ben), bens)
    assert sign_off(client_of(ben), bens).status_code == 200
