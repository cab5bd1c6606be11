"""Whatever an assessor opens or sends: from scratch nothing of a model's labels comes back, and beside a model's labels
that of the citation on screen alone; of other people's labels, of runs and teams nothing ever does."""

import re
from collections.abc import Iterator

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.actions import add_member, change_protocol, end_membership
from assessor.campaigns.models import Answer, Campaign, Condition, Judge, Role, Run, RunAlias
from assessor.work.blindness import record_exposure
from assessor.work.models import Exposure, Task
from support.models import LabelEvent, SupportJudgment, SupportSheet
from tests.conftest import client_of
from tests.judging import WRITES, give, put, queue, send, sign_off, told, url
from tests.support.judging_helpers import label_as_model, models_condition, sheet_of

# In all that is planted on the same answers: what a model, a second person, and who had the topic before said of them;
# runs' tags, teams and aliases.
SECRETS = ("secret", "team.", "telltale", "Mia")


def _fill(sheet: SupportSheet, of: str) -> None:
    """Have a sheet say something of every citation that no other says."""
    for row in SupportJudgment.everything.filter(sheet=sheet, sentence__lt=2, citation=0):
        told = f"secret {row.sentence}"
        SupportJudgment.everything.filter(pk=row.pk).update(
            state="unjudgeable" if row.sentence else "given",
            value=None if row.sentence else told,
            resolved_value=told if row.sentence else None,
            reason=f"{told} {of}",
            flag=f"{told} {of}",
            raw={"support": f"{told} {of}"},
            shown_value=told,
        )
        LabelEvent.objects.create(
            sheet=sheet,
            judgment=row,
            version=99,
            verb="secret",
            value_before="secret",
            changes={"cannot": [None, f"secret {of}"]},
        )
    SupportSheet.everything.filter(pk=sheet.pk).update(extras={"secret": of}, to_do=0)


def plant(task: Task) -> None:
    """Plant all that a task's person must not see."""
    campaign, topic, condition = task.campaign, task.topic, task.condition
    Run.objects.update(team="team.telltale")
    for run in Run.objects.all():
        RunAlias.objects.create(campaign=run.campaign, run=run, name=f"telltale-{run.tag}")
    Answer.objects.update(extras={"secret": "answer"})
    judge = Judge.objects.create(kind=Judge.Kind.MODEL, name="secret model", parameters={"model": "telltale"})
    auto = Condition.objects.create(
        campaign=campaign,
        name="secret condition",
        kind="support",
        method="support automatic",
        judge=judge,
        protocol=condition.protocol,
    )
    ben = Person.objects.get(username="ben")
    second = from_scratch_of_another(campaign, condition)
    bens = Task.objects.create(campaign=campaign, topic=topic, condition=second, kind="support", person=ben)
    bens_judge = Judge.objects.create(kind=Judge.Kind.PERSON, name="secret ben", person=ben)
    for own in list(SupportSheet.objects.filter(task=task)):
        _fill(_copy(own, condition=auto, judge=judge, task=None, answer=own.answer), "model")
        _fill(_copy(own, condition=second, judge=bens_judge, task=bens, answer=own.answer), "ben")
    # Under the same condition, of who had the topic before.
    before = Task.objects.create(
        campaign=campaign, topic=topic, condition=condition, kind="support", person=ben, state="withdrawn"
    )
    record = Answer.objects.earliest("pk").import_record
    run = Run.objects.create(campaign=campaign, tag="team.secret", import_record=record)
    content = [{"text": "secret answer", "citations": [0]}, {"text": "secret too", "citations": [0]}]
    answer = Answer.objects.create(
        run=run, topic=topic, content=content, references=["d1"], words=4, import_record=record
    )
    own = SupportSheet.objects.filter(task=task).earliest("pk")
    _fill(_copy(own, condition=condition, judge=bens_judge, task=before, answer=answer), "before")
    # What was adopted where this person could not judge.
    rows = SupportJudgment.objects.filter(sheet__task=task)
    if not rows.filter(state="unjudgeable").exists():
        own_last = rows.filter(state="open").exclude(sheet__answer__run__tag="team.one").latest("pk")
        put([own_last.sheet], cannot={own_last.item: "garbled"})
    rows.filter(state="unjudgeable").update(resolved_value="secret adopted")
    # And another task of the same person: only under that its own answers open.
    other = Task.objects.create(campaign=campaign, topic=topic, condition=second, kind="support", person=task.person)
    apart = Answer.objects.create(
        run=run, topic=topic, content=content, references=["d1"], words=4, apart=True, import_record=record
    )
    _fill(_copy(own, condition=second, judge=own.judge, task=other, answer=apart), "task")


def from_scratch_of_another(campaign: Campaign, condition: Condition) -> Condition:
    """Return a condition like from scratch, of a second person."""
    return Condition.objects.create(
        campaign=campaign,
        name="Second",
        kind="support",
        method="support from scratch",
        replicate=1,
        protocol=condition.protocol,
    )


def _copy(sheet: SupportSheet, **changed: object) -> SupportSheet:
    copy = SupportSheet.objects.create(to_do=0, place=sheet.place, **changed)
    copy.ask_also({key: row.docid for key, row in sheet.labels_by_item.items()})
    copy.revise("copied", {}, judge_id=None)
    return SupportSheet.everything.get(pk=copy.pk)


def comparable(response: HttpResponse) -> str:
    """Return what a response tells, without what differs between any two: the time, tokens, the policy's nonce."""
    text = told(response)
    for name, value in [("Expires", response.get("Expires", "")), ("policy", response["Content-Security-Policy"])]:
        text = text.replace(value, name)
    for cookie in response.cookies.values():
        text = text.replace(str(cookie), cookie.key)
    return re.sub(r'(name="csrfmiddlewaretoken" value=|csrftoken=)[^ ;>]+', r"\1", text)


def readings(client: Client, task: Task, sheet: SupportSheet) -> Iterator[HttpResponse]:
    """Yield the answers to all requests that change nothing: those that are served and those that are refused."""
    base = f"/support/{task.pk}/"
    for address in (base, f"{base}?answer={sheet.pk}", url(sheet)):
        yield client.get(address)
    others = [*SupportSheet.everything.exclude(task=task), SupportSheet(pk=10**6), SupportSheet(pk=2**70)]
    for other in others:
        yield client.get(url(other, task=task.pk))
        yield client.get(f"{base}?answer={other.pk}")
        for verb, fields in WRITES["support"].items():
            yield send(client, other, verb, "0.0", task=task.pk, version=0, **fields)
    for other in Task.objects.exclude(pk=task.pk).exclude(person=task.person, kind="support"):
        yield client.get(f"/support/{other.pk}/")
        yield client.get(url(sheet, task=other.pk))
        yield send(client, sheet, "label", "0.0", task=other.pk, version=0, label="full")
        yield send(client, sheet, "show", "0.0", task=other.pk, version=0)
        yield sign_off(client, other, version=0, screen="support")
    for verb, fields in WRITES["support"].items():
        yield client.get(url(sheet, verb))  # 405
        yield send(client, sheet, verb, "0.0", version=77, **fields)  # 409
        yield send(client, sheet, verb, "0.0", version="x", **fields)  # 400
        yield send(client, sheet, verb, "9.9", **fields | {"to": "999"})  # 400
    yield sign_off(client, task, version=99)
    yield sign_off(client, task)
    yield client.get("/")
    yield client.get("/guidelines/support/")
    for address in ("plan/", "exports/", f"exports/support/{task.condition_id}.csv", "conditions/new/", ""):
        yield client.get(f"/campaigns/{task.campaign.slug}/{address}")


def assert_nothing_told(responses: list[HttpResponse]) -> None:
    for response in responses:
        for secret in SECRETS:
            assert secret not in told(response), (response.status_code, secret)


# From scratch


def test_nothing_that_is_not_theirs_reaches_an_assessor(task, sheet, ben, as_anna: Client):
    plant(task)
    assert SupportSheet.everything.count() == 11
    responses = list(readings(as_anna, task, sheet))
    assert {response.status_code for response in responses} == {200, 400, 404, 405, 409}
    assert_nothing_told(responses)
    own = SupportSheet.objects.filter(task=task).filter(total__gt=0).values_list("pk", flat=True)
    assert sorted(row[0] for row in queue(responses[0])) == sorted(own)
    # What is served, they may see.
    assert len([response for response in responses if b"Cats purr to heal." in response.content]) > 5


@pytest.mark.parametrize("verb", [verb for verb in WRITES["support"] if verb != "show"])
def test_nor_with_what_they_save(task, sheet, ben, as_anna: Client, verb: str):
    plant(task)
    response = send(as_anna, sheet, verb, "0.0", **WRITES["support"][verb])
    assert response.status_code == 200
    assert_nothing_told([response, *readings(as_anna, task, sheet)])


def test_nor_once_signed_off(task, sheet, ben, as_anna: Client):
    plant(task)
    for one, key in ((sheet, "0.0"), (sheet, "1.0"), (sheet_of(task, "team.two"), "0.0")):
        assert send(as_anna, one, "label", key, label="full").status_code == 200
    response = sign_off(as_anna, task)
    assert response.status_code == 200
    assert_nothing_told([response, *readings(as_anna, task, sheet)])


def test_what_others_say_changes_no_byte(task, sheet, ben, as_anna: Client):
    def served() -> list[str]:
        responses = [
            as_anna.get(f"/support/{task.pk}/"),
            as_anna.get(url(sheet)),
            send(as_anna, sheet, "label", "0.0", version=77, label="full"),
            send(as_anna, sheet, "label", "0.0", label="maybe"),
            send(as_anna, sheet, "show", "0.0"),
            as_anna.get("/support/999/"),
        ]
        assert [response.status_code for response in responses] == [200, 200, 409, 400, 400, 404]
        return [comparable(response) for response in responses]

    send(as_anna, sheet, "label", "0.0", label="full")
    send(as_anna, sheet, "cannot", "1.0", reason="garbled")
    before = served()
    plant(task)
    assert served() == before


class Watched(Client):
    """A client that notes down what its requests ask the database."""

    def __init__(self, person: Person) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.force_login(person)

    def request(self, **request: object) -> HttpResponse:
        with CaptureQueriesContext(connection) as queries:
            response = super().request(**request)
        self.asked += [query["sql"] for query in queries]
        return response


def test_no_query_of_the_screen_reads_runs_or_other_sheets(task, sheet, anna, ben):
    plant(task)
    client = Watched(anna)
    for address in (f"/support/{task.pk}/", url(sheet)):
        assert client.get(address).status_code == 200
    for verb, fields in WRITES["support"].items():
        assert send(client, sheet, verb, "0.0", **fields).status_code == (400 if verb == "show" else 200)
    # Of a run nothing is read but its own texts of passages; of an answer its text, by the sheet that is theirs.
    assert [sql for sql in client.asked if re.search(r"\bcollection_run\b", sql)] == []
    of_sheets = [sql for sql in client.asked if "support_supportsheet" in sql and sql.startswith(("SELECT", "\n"))]
    assert of_sheets
    for sql in of_sheets:
        assert f'"task_id" = {task.pk}' in sql or f"work_task.id = {task.pk}" in sql, sql
    of_answers = [sql for sql in client.asked if "campaigns_answer" in sql]
    assert of_answers
    for sql in of_answers:
        assert "answer_id," not in sql.split("FROM")[0], "not even the key of an answer"
        assert sql in of_sheets


# Beside a model's labels


def test_nothing_but_the_label_on_screen_reaches_who_post_edits(beside, edited, ben, as_anna: Client):
    task = beside.task
    plant(task)
    responses = list(readings(as_anna, task, beside))
    assert {response.status_code for response in responses} == {200, 400, 404, 405, 409}
    assert_nothing_told(responses)
    shown = send(as_anna, beside, "show", "0.0")
    assert shown.json() == {"version": 1, "to_do": 1, "shown": "partial"}
    assert_nothing_told([shown, *readings(as_anna, task, beside)])


def test_which_labels_the_model_gave_changes_no_byte_before_they_are_shown(beside, edited, as_anna: Client):
    task, two = beside.task, sheet_of(beside.task, "team.two")

    def served() -> list[str]:
        # Refused writes too; shows that would succeed are no part of it.
        return [comparable(response) for response in readings(as_anna, task, beside)]

    def relabel(tag: str, label: str) -> None:
        of_model = SupportJudgment.objects.filter(sheet__condition=edited.shown, sheet__answer__run__tag=tag)
        assert of_model.filter(sentence=0, citation=0).update(value=label) == 1

    before = served()
    relabel("team.one", "none")
    relabel("team.two", "full")
    assert served() == before
    # What was shown stands where it was shown, as it was then; nothing of the other answer comes with it.
    assert send(as_anna, beside, "show", "0.0").json()["shown"] == "none"
    after = served()
    assert after != before
    relabel("team.one", "partial")
    relabel("team.two", "none")
    assert served() == after
    assert '"shown":{}' in as_anna.get(url(two)).content.decode().replace("&quot;", '"').replace(" ", "")


def test_the_models_sheets_are_read_to_show_a_label_and_for_nothing_else(beside, edited, anna):
    client = Watched(anna)
    others = [verb for verb in WRITES["support"] if verb != "show"]
    send(client, beside, "show", "0.0")
    of_model = re.compile(rf'support_.*condition_id"? = {edited.shown_id}\b', re.DOTALL)
    assert len([sql for sql in client.asked if of_model.search(sql)]) == 1
    client.asked = []
    for address in (f"/support/{beside.task_id}/", url(beside)):
        assert client.get(address).status_code == 200
    for verb in others:
        assert send(client, beside, verb, "0.0", **WRITES["support"][verb]).status_code == 200
    assert [sql for sql in client.asked if of_model.search(sql)] == []


def test_from_scratch_there_is_no_way_to_ask_for_a_label(task, sheet, answered, as_anna: Client):
    shown = models_condition(answered)
    label_as_model(shown, {"team.one": {"0.0": "none"}})
    response = send(as_anna, sheet, "show", "0.0")
    assert (response.status_code, response.content) == (400, b"No model's label is shown here.")
    assert not Exposure.objects.exists()
    assert "data-shown" not in as_anna.get(f"/support/{task.pk}/").content.decode()


# Who has seen labels of a model


def test_who_post_edits_a_topic_can_not_do_it_from_scratch_any_more(scratch, edited, topic, anna, as_anna: Client):
    blind = give(scratch, topic, anna)
    beside = sheet_of(give(edited, topic, anna), "team.one")
    assert as_anna.get(f"/support/{blind.pk}/").status_code == 200
    assert as_anna.get(f"/support/{beside.task_id}/").status_code == 200
    assert as_anna.get(f"/support/{blind.pk}/").status_code == 200, "nothing was on screen yet"
    assert send(as_anna, beside, "show", "0.0").status_code == 200
    assert as_anna.get(f"/support/{blind.pk}/").status_code == 403
    assert as_anna.get(f"/support/{beside.task_id}/").status_code == 200


def test_each_models_labels_are_an_exposure_of_their_own_whatever_was_seen_before(beside, edited, anna, topic, as_anna):
    record_exposure(anna, [topic], "support", "labels of another model")
    for _ in range(2):
        for tag in ("team.one", "team.two"):
            assert send(as_anna, sheet_of(beside.task, tag), "show", "0.0").status_code == 200
    told = ["labels of another model", f"labels of {edited.shown}"]
    assert list(Exposure.objects.filter(person=anna).order_by("pk").values_list("where", flat=True)) == told


def test_who_organized_before_looks_on_no_longer(beside, olga: Person):
    campaign, client = beside.task.campaign, client_of(olga)
    assert client.get(f"/support/{beside.task_id}/").status_code == 200
    end_membership(membership=campaign.memberships.get(role="organizer", person=olga), acting_user=None)
    assert client.get(f"/support/{beside.task_id}/").status_code == 404


def test_who_organizes_and_judges_in_a_small_team_works_and_does_not_look_on(task, anna, olga, as_anna: Client):
    change_protocol(campaign=task.campaign, settings={"blind_after_seeing": False}, acting_user=olga)
    add_member(campaign=task.campaign, person=anna, role=Role.ORGANIZER, acting_user=olga)
    text = as_anna.get(f"/support/{task.pk}/").content.decode()
    assert "Read-only view" not in text
    assert "team." not in text
