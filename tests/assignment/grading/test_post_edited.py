"""Questions graded beside a model's grades: what is shown, to whom and when, and what waits."""

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from django.http import HttpResponse
from django.test import Client

from assessor.accounts.models import Person
from assessor.archive.actions import restore
from assessor.campaigns.actions import ConditionError, create_campaign
from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.desk.stalled_work import stuck
from assessor.labels.manual_setups import SECOND, label_again
from assessor.scores.cache import condition_scores
from assessor.training.models import Reference
from assessor.work.actions import withdraw_task
from assessor.work.blindness import has_seen
from assessor.work.models import Exposure, Task
from assignment.actions import create_manual_assign, follow_edition
from assignment.grading.exports import grade_lines
from assignment.grading.label_kind import GRADING, POST_EDITED
from assignment.models import AnswerSheet, Assignment
from assignment.practice import practice_items
from assignment.shown_labels import openable, waiting
from metaeval.stats.means import COMPLETE, INCOMPLETE
from nuggets.models import BankEdition, Nugget, NuggetBank
from tests.archive.campaigns import forget_everything, written
from tests.archive.test_hostile import lacking, refused, unzipped
from tests.assignment.conftest import finished, label_twice, manual, sheet_of, task  # noqa: F401
from tests.assignment.grading.conftest import BANKS, GRADES, answered, grade_as_model  # noqa: F401
from tests.assignment.test_blindness import Watched, comparable
from tests.conftest import Importer, client_of
from tests.judging import (
    WRITES,
    again,
    answers,
    change,
    counters,
    everything,
    give,
    history,
    last_change,
    nuggets_of,
    queue,
    said,
    send,
    sign_off,
    stands,
    told,
    url,
)

NOT_SHOWN = "The model's label goes with this question and has not been shown."
WAITS = "This answer can't be opened yet: the model has not labelled all of it."


@pytest.fixture
def sheet(beside: Task) -> AnswerSheet:
    """The answer that the model has graded."""
    return sheet_of(beside, "team.one")


@pytest.fixture
def items(sheet: AnswerSheet) -> list[int]:
    return nuggets_of(sheet.bank)


def label_beside(client: Client, one: AnswerSheet, grade: str = "4") -> None:
    for item in nuggets_of(one.bank):
        assert send(client, one, "show", item).status_code == 200
        assert send(client, one, "label", item, label=grade).status_code == 200


# Conditions


def test_what_a_condition_is(post_edited_grades: Condition, by_model: Condition, questions: Condition):
    assert (post_edited_grades.kind, post_edited_grades.method) == ("grading", "grading post-edited")
    assert (post_edited_grades.nuggets, post_edited_grades.shown) == (questions, by_model)
    assert (post_edited_grades.is_blind(), post_edited_grades.is_by_people) == (False, True)
    assert post_edited_grades.task_for_assessors.endswith("You start from what a model gave.")
    assert "; method=grading post-edited; judge=people; shown=Mia's grades; " in post_edited_grades.identity
    assert GRADING.in_words(post_edited_grades) == (
        "Questions of Questions graded by people with the labels of Mia's grades shown"
    )
    assert GRADING.scoring().labels_by(post_edited_grades) == "people, shown those of Mia's grades"


def test_what_can_be_shown(
    answered: Campaign,  # noqa: F811
    questions: Condition,
    by_people: Condition,
    by_model: Condition,
    manual: Condition,  # noqa: F811
    import_file: Importer,
    olga: Person,
):
    other = create_campaign(name="Other", slug="other", acting_user=olga)
    elsewhere = Condition(campaign=other, name="Theirs", kind="grading", judge=by_model.judge)
    of_sample = Condition(campaign=answered, name="Some", kind="grading", judge=by_model.judge, sample="a study")
    for shown, told_of in (
        (by_people, "What is post-edited are a model's labels; those of Questions/Manual are people's."),
        (manual, "What is post-edited are labels of grading; those of Manual/Manual are of assignment."),
        (elsewhere, "Theirs is not a condition of Study."),
        (of_sample, "What is post-edited are all of a judge's labels; those of Some are of a sample."),
    ):
        with pytest.raises(ConditionError) as raised:
            create_manual_assign(nuggets=questions, name="edited", acting_user=None, kind=GRADING, shown=shown)
        assert str(raised.value) == told_of
    assert import_file(answered, "questions", BANKS, condition="Others", by="people").state == "done"
    others = answered.conditions.get(name="Others")
    with pytest.raises(ConditionError, match="Mia's grades labels Questions, not Others: choose labels of the same"):
        create_manual_assign(nuggets=others, name="edited", acting_user=None, kind=GRADING, shown=by_model)


def test_facts_are_never_post_edited(task: Task, import_file: Importer):  # noqa: F811
    auto = label_twice(task, import_file).conditions.get(name="Auto")
    with pytest.raises(ConditionError, match="Labels of assignment are not post-edited"):
        create_manual_assign(nuggets=task.condition.nuggets, name="x", acting_user=None, shown=auto)


def test_the_organizers_form(by_model: Condition, by_people: Condition, as_olga: Client):
    campaign = by_model.campaign
    address = f"/campaigns/{campaign.slug}/conditions/new/"
    page = as_olga.get(address).content.decode()
    options = page.split('id="id_shown_grades"')[1].split("</select>")[0]
    assert f'<option value="{by_model.pk}">' in options
    assert f'<option value="{by_people.pk}">' not in options
    assert page.count('value="grading post-edited"') == 1
    assert 'value="assignment post-edited"' not in page
    place = page[: page.index('value="grading post-edited"')].count('name="method"') - 1
    assert f'asked-of of-{place}"' in page[: page.index('id="id_shown_grades"')].rpartition("<")[0][-600:]
    assert b"This field is required" in as_olga.post(address, {"method": POST_EDITED}).content
    assert as_olga.post(address, {"method": POST_EDITED, "shown_grades": by_model.pk}).status_code == 302
    made = campaign.conditions.get(method=POST_EDITED)
    assert (made.name, made.shown, made.nuggets) == ("Questions/Post-edited", by_model, by_model.nuggets)
    page = as_olga.get(f"/campaigns/{campaign.slug}/conditions/{made.pk}/").content.decode()
    assert "Labels that people see" in page
    # What is chosen there is of no matter for another method.
    twice = {"method": "ManualGrade", "name": "blind", "questions": by_model.nuggets_id, "shown_grades": by_model.pk}
    assert b"is that condition already" in as_olga.post(address, twice).content


# The screen


def test_only_what_the_model_has_graded_completely_can_be_opened(beside: Task, as_anna: Client):
    one, two = sheet_of(beside, "team.one"), sheet_of(beside, "team.two")
    assert counters(beside) == ("open", 1, 2)
    response = as_anna.get(f"/assign/{beside.pk}/")
    page = response.content.decode()
    assert [row[0] for row in queue(response)] == answers(response) == [one.pk]
    assert "1 answer waits for the model&#x27;s labels and can&#x27;t be opened yet." in page.replace("'", "&#x27;")
    assert page.count("The model says: <strong data-shown>…</strong>") == 3
    assert as_anna.get(url(two)).status_code == 404
    assert answers(as_anna.get(f"/assign/{beside.pk}/?answer={two.pk}")) == [one.pk]
    before = everything("grading")
    for verb, fields in WRITES["grading"].items():
        item = None if verb == "later" else nuggets_of(two.bank)[0]
        denied = send(as_anna, two, verb, item, **fields)
        assert (denied.status_code, denied.content.decode()) == (410, WAITS), verb
    assert everything("grading") == before


def test_a_question_is_graded_once_the_models_grade_was_shown(sheet: AnswerSheet, items, as_anna: Client):
    for verb in ("label", "cannot"):
        denied = send(as_anna, sheet, verb, items[0], **WRITES["grading"][verb])
        assert (denied.status_code, denied.content.decode()) == (400, NOT_SHOWN)
    for verb in ("flag", "mark"):
        assert send(as_anna, sheet, verb, items[0], **WRITES["grading"][verb]).status_code == 200
    shown = send(as_anna, sheet, "show", items[0])
    assert shown.json() == {"version": 3, "to_do": 3, "shown": "5"}
    assert last_change(sheet) == {str(items[0]): {"shown": [None, "5"]}}
    assert send(as_anna, sheet, "label", items[0], label="4", seconds=7).json() == {"version": 4, "to_do": 2}
    row = Assignment.objects.get(sheet=sheet, nugget=items[0])
    assert (row.value, row.shown_value, row.seconds) == ("4", "5", 7)
    assert [event.verb for event in history(sheet)] == ["flag", "mark", "show", "label"]
    assert said(as_anna.get(url(sheet)))[0]["shown"] == {str(items[0]): "5"}
    # Sent again it is what it was; a question of another bank has none.
    assert send(as_anna, sheet, "show", items[0]).json()["shown"] == "5"
    other = Nugget.objects.filter(bank__topic__qid="t2", bank__condition=sheet.condition.nuggets).get()
    assert send(as_anna, sheet, "show", other.pk).status_code == 400


def test_it_is_scored_and_looked_at(beside: Task, sheet: AnswerSheet, items, as_anna: Client, as_olga: Client):
    label_beside(as_anna, sheet, "3")
    found = condition_scores(beside.condition)
    states = dict(zip([run.tag for run in found.runs], found.states[:, 0].tolist(), strict=True))
    assert (states["team.one"], states["team.two"]) == (COMPLETE, INCOMPLETE)
    assert [json.loads(one)["grade"] for one in grade_lines(beside.condition)] == [0, 0, 0, 3, 3, 3]
    page = " ".join(unescape(as_olga.get(f"/assign/{beside.pk}/").content.decode()).split())
    assert "beside the labels of Mia's grades" in page
    assert "1 answer can't be opened: Mia's grades has not labelled all of it" in page
    for shown, differs in (("5", "yes"), ("0", "yes"), ("3", "no"), ("—", "—")):
        assert f"<td>{shown}</td><td>{differs}</td>" in page


def test_what_waits_is_stalled_work(beside: Task, campaign: Campaign):
    waits = [one for one in stuck(campaign, [], {}) if "model's label" in one.fact]
    fact = "3 questions of t1 wait for the model's label."
    assert [(one.fact, one.more) for one in waits] == [(fact, "Edited, anna")]
    assert [button.address for button in waits[0].buttons] == [f"/assign/{beside.pk}/"]


def test_signing_off_leaves_out_what_waits_and_what_comes_later_opens_the_topic_again(
    questions: Condition,
    import_file: Importer,
    topic: Topic,
    anna: Person,
    as_anna: Client,
    django_capture_on_commit_callbacks,
):
    model = grade_as_model(questions, import_file, {"team.one": ("5", "0", "3")})
    edited = create_manual_assign(nuggets=questions, name="E", acting_user=None, kind=GRADING, shown=model)
    beside = give(edited, topic, anna)
    one = sheet_of(beside, "team.one")
    label_beside(as_anna, one)
    assert counters(beside) == ("open", 2, 2)
    assert sign_off(as_anna, beside, version=again(one).version).status_code == 200
    assert counters(beside) == ("finished", 2, 2)
    with django_capture_on_commit_callbacks(execute=True):
        grade_as_model(questions, import_file, {"team.two": ("1", "1", "1")})
    assert counters(beside) == ("open", 2, 3)
    response = as_anna.get(f"/assign/{beside.pk}/")
    assert len(queue(response)) == 2
    assert "for the model's labels" not in unescape(response.content.decode())
    label_beside(as_anna, sheet_of(beside, "team.two"), "2")
    assert sign_off(as_anna, beside).status_code == 200
    assert counters(beside) == ("finished", 3, 3)


def test_a_shown_grade_is_shown_anew_to_the_next_person(
    beside: Task, sheet: AnswerSheet, items, ben: Person, olga: Person, topic: Topic, as_anna: Client
):
    assert send(as_anna, sheet, "show", items[0]).status_code == 200
    assert stands(sheet)["shown"] == {str(items[0]): "5"}
    withdraw_task(task=beside, acting_user=olga)
    bens = give(beside.condition, topic, ben, "Anna left")
    theirs = again(sheet)
    assert theirs.task == bens
    assert "shown" not in stands(theirs)
    denied = send(client_of(ben), theirs, "label", items[0], label="1")
    assert (denied.status_code, denied.content.decode()) == (400, NOT_SHOWN)


def test_a_second_person_sees_the_same_grades(beside: Task, sheet: AnswerSheet, items, ben, olga, topic, as_anna):
    label_beside(as_anna, sheet, "4")
    second = label_again(of=beside.condition, name="Second", purpose=SECOND, acting_user=olga)
    bens = give(second, topic, ben)
    assert (second.method, second.shown, counters(bens)) == (POST_EDITED, beside.condition.shown, ("open", 0, 1))
    own = sheet_of(bens, "team.one")
    assert send(client_of(ben), own, "show", items[0]).json()["shown"] == "5"
    assert again(own).labels == {}


def test_a_reworded_question_waits_for_the_model_and_is_shown_anew(
    beside: Task, sheet: AnswerSheet, items, as_anna: Client
):
    label_beside(as_anna, sheet)
    reword(sheet.bank, items[0], "What does a cat's purring heal?")
    one, of_model = again(sheet), AnswerSheet.objects.get(condition=beside.condition.shown, answer=sheet.answer)
    assert (one.edition, of_model.edition, of_model.to_do) == (2, 2, 1)
    assert set(one.shown) == {str(item) for item in items[1:]}
    assert counters(beside) == ("open", 1, 1)
    assert as_anna.get(url(one)).status_code == 404
    change(of_model, {items[0]: {"label": "1", "stale": None}}, "labelled")
    assert as_anna.get(url(one)).status_code == 200
    assert send(as_anna, one, "label", items[0], label="4").status_code == 400
    assert send(as_anna, one, "show", items[0]).json()["shown"] == "1"
    assert send(as_anna, one, "label", items[0], label="4").status_code == 200


def test_grades_of_an_older_edition_are_not_shown(beside: Task, sheet: AnswerSheet, items, as_anna: Client):
    AnswerSheet.objects.filter(condition=beside.condition.shown).update(edition=7)
    assert as_anna.get(url(sheet)).status_code == 404
    assert send(as_anna, sheet, "show", items[0]).status_code == 410


def test_practice_leaves_out_what_waits(beside: Task, sheet: AnswerSheet, as_anna: Client):
    label_beside(as_anna, sheet, "2")
    [found] = practice_items([beside], {beside.condition_id: Reference(reference=beside.condition.shown)}).values()
    assert [(item.label, item.reference) for item in found] == [("2", grade) for grade in GRADES["team.one"]]


def test_an_archive_keeps_what_was_shown_and_what_can_be_opened(
    beside: Task, sheet: AnswerSheet, as_anna: Client, tmp_path: Path
):
    label_beside(as_anna, sheet, "3")
    before = written(beside.campaign)
    path = tmp_path / "archive.zip"
    path.write_bytes(before)
    forget_everything()
    campaign = restore(path)
    assert written(campaign) == before
    edited = campaign.conditions.get(method=POST_EDITED)
    assert edited.shown == campaign.conditions.get(name="Mia's grades")
    shown = Assignment.objects.filter(sheet__condition=edited, sheet__by_rule=False).order_by("pk")
    assert list(shown.values_list("shown_value", "value")) == [(grade, "3") for grade in GRADES["team.one"]]
    of_condition = AnswerSheet.objects.filter(condition=edited)
    found = openable(of_condition, edited).values_list("answer__run__tag", flat=True)
    assert sorted(found) == ["team.empty", "team.one"]
    assert [one.answer.run.tag for one in waiting(of_condition, edited)] == ["team.two"]


def test_an_archive_in_which_a_label_of_another_kind_was_shown(
    beside: Task, sheet: AnswerSheet, as_anna: Client, tmp_path: Path
):
    label_beside(as_anna, sheet)
    files = unzipped(beside.campaign)
    for odd, expected in (("support", "0, 1, 2, 3, 4, 5."), ("banana", ".")):
        message = refused(lacking(files, "assignment.assignment", "shown_value", lambda value, odd=odd: odd), tmp_path)
        assert f", shown_value: found {odd}; expected one of " in message
        assert message.endswith(expected)


# Who has seen grades of a model


def test_who_saw_a_models_grade_does_nothing_blind_on_that_topic_any_more(
    beside: Task, sheet: AnswerSheet, items, by_people: Condition, topic: Topic, anna: Person, as_anna: Client
):
    blind = give(by_people, topic, anna)
    for page in (beside, blind):
        assert as_anna.get(f"/assign/{page.pk}/").status_code == 200, "nothing was on screen yet"
    assert not Exposure.objects.exists()
    for item in items[:2]:
        assert send(as_anna, sheet, "show", item).status_code == 200
    exposure = Exposure.objects.get()
    assert (exposure.person, exposure.topic, exposure.kind, exposure.where) == (
        anna,
        topic,
        "grading",
        "labels of Mia's grades",
    )
    assert as_anna.get(f"/assign/{beside.pk}/").status_code == 200
    assert as_anna.get(f"/assign/{blind.pk}/").status_code == 403
    assert send(as_anna, sheet_of(blind, "team.one"), "label", items[0], label="1").status_code == 403
    assert has_seen(anna, [topic], by_people) == {topic.pk}
    assert has_seen(anna, [topic], beside.condition) == set()


# Leaks


def test_which_grades_the_model_gave_changes_no_byte_before_they_are_shown(
    beside: Task, sheet: AnswerSheet, items, as_anna: Client
):
    def served() -> list[str]:
        responses = list(readings(as_anna, beside, sheet, items[0], shows=False))
        assert {response.status_code for response in responses} == {200, 400, 404, 405, 409, 410}
        return [comparable(response) for response in responses]

    def regrade(tag: str, grade: str) -> None:
        of_model = Assignment.objects.filter(sheet__condition=beside.condition.shown, sheet__answer__run__tag=tag)
        assert of_model.filter(nugget__in=items[:2]).update(value=grade) == 2

    before = served()
    regrade("team.one", "2")
    regrade("team.two", "3")
    assert served() == before
    # What was shown stands where it was shown, as it was then, and nothing of other questions comes with it.
    assert send(as_anna, sheet, "show", items[0]).json()["shown"] == "2"
    after = served()
    assert after != before
    regrade("team.one", "4")
    regrade("team.two", "1")
    assert served() == after


def test_a_blind_screen_has_no_grade_of_a_model_and_no_way_to_ask_for_one(
    by_people: Condition, by_model: Condition, topic: Topic, anna: Person, ben: Person, olga: Person, as_anna: Client
):
    edited = create_manual_assign(
        nuggets=by_people.nuggets, name="telltale", acting_user=olga, kind=GRADING, shown=by_model
    )
    bens = give(edited, topic, ben)
    label_beside(client_of(ben), sheet_of(bens, "team.one"))
    Condition.objects.filter(pk=by_model.pk).update(name="telltale model")
    Assignment.objects.filter(sheet__condition__in=(by_model, edited), value__isnull=False).update(value="telltale")
    Assignment.objects.filter(shown_value__isnull=False).update(shown_value="telltale")
    blind = give(by_people, topic, anna)
    own = sheet_of(blind, "team.one")
    items = nuggets_of(own.bank)
    denied = send(as_anna, own, "show", items[0])
    assert (denied.status_code, denied.content) == (400, b"No model's label is shown here.")
    responses = [denied, *readings(as_anna, blind, own, items[0])]
    for verb, fields in WRITES["grading"].items():
        if verb != "show":
            responses.append(send(as_anna, own, verb, items[0], **fields))
    for response in responses:
        for secret in ("telltale", "data-shown", "The model says", '"shown"', "&quot;shown&quot;"):
            assert secret not in told(response), (response.status_code, secret)
    assert not Exposure.objects.filter(person=anna).exists()


def readings(
    client: Client,
    task: Task,  # noqa: F811
    sheet: AnswerSheet,
    item: int,
    *,
    shows: bool = True,
) -> Iterator[HttpResponse]:
    """Yield the answers to all that changes nothing: what is served, and what is refused.

    shows: asking for grades of other people's answers, too.
    """
    base = f"/assign/{task.pk}/"
    for address in (base, f"{base}?answer={sheet.pk}", url(sheet), f"{base}nuggets/{item}/"):
        yield client.get(address)
    for other in AnswerSheet.everything.exclude(pk=sheet.pk):
        yield client.get(url(other, task=task.pk))
        yield client.get(f"{base}?answer={other.pk}")
        if other.by_rule:
            continue
        for verb, fields in WRITES["grading"].items():
            yield send(client, other, verb, item, task=task.pk, version=0 if other.task_id != task.pk else 77, **fields)
            if other.task_id == task.pk and task.condition.shown:  # it waits
                yield send(client, other, verb, item, **fields)
    for verb, fields in WRITES["grading"].items():
        if verb == "show" and not shows:
            continue
        yield client.get(url(sheet, verb))
        yield send(client, sheet, verb, item, version=77, **fields)
        yield send(client, sheet, verb, 999, version="x", **fields)
    yield sign_off(client, task, version=99)
    yield client.get("/")
    yield client.get("/guidelines/grading/")


def test_the_models_sheets_are_read_for_a_label_by_the_one_that_is_shown_alone(sheet: AnswerSheet, items, anna: Person):
    client = Watched()
    client.force_login(anna)
    assert send(client, sheet, "show", items[0]).status_code == 200
    labels = re.compile(r"SELECT label\.value FROM assignment_assignment")
    assert len([sql for sql in client.asked if labels.search(sql)]) == 1
    client.asked = []
    for address in (f"/assign/{sheet.task_id}/", url(sheet), f"/assign/{sheet.task_id}/nuggets/{items[0]}/"):
        assert client.get(address).status_code == 200
    for verb, fields in WRITES["grading"].items():
        if verb != "show":
            assert send(client, sheet, verb, items[0], **fields).status_code == 200
    assert [sql for sql in client.asked if labels.search(sql)] == []


def reword(bank: NuggetBank, nugget: int, text: str) -> None:
    """Finish a bank, which came from a file, with another text of a question."""
    [edition] = bank.editions.filter(edition=bank.edition)
    uid = str(Nugget.objects.get(pk=nugget).uid)
    nuggets = [one | ({"text": text} if one["uid"] == uid else {}) for one in edition.nuggets]
    Nugget.objects.filter(pk=nugget).update(text=text)
    bank.edition += 1
    bank.save(update_fields=["edition"])
    BankEdition.objects.create(bank=bank, edition=bank.edition, version=99, nuggets=nuggets)
    follow_edition(bank)
