"""Whatever an assessor opens or sends, nothing of a model's labels, of other people's and of runs comes back."""

from collections.abc import Iterator
from itertools import cycle

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.models import Answer, Condition, Judge, Run, RunAlias, Topic
from assessor.labels.manual_setups import label_again
from assessor.labels.models import ManualSetup
from assessor.work.models import Exposure, Task
from assignment.actions import create_manual_assign
from assignment.models import AnswerSheet, Assignment, LabelEvent
from nuggets import actions as nugget_actions
from nuggets.models import Nugget, NuggetBank
from tests.assignment.conftest import A, B, sheet_of
from tests.conftest import client_of
from tests.judging import WRITES, give, label_all, nuggets_of, put, queue, send, sign_off, told, url
from tests.nuggets.conftest import do

State = Assignment.State

# In all that is planted on the same answers: what a model, a second person, and who had the topic before said of them;
# runs' tags, teams and aliases.
SECRETS = ("secret", "team.", "telltale")


@pytest.fixture
def sheet(task: Task) -> AnswerSheet:
    return sheet_of(task, "team.one")


def _fill(sheet: AnswerSheet, of: str) -> None:
    """Have a sheet say something of every nugget that no other says."""
    nuggets = nuggets_of(sheet.bank)
    states = cycle((State.GIVEN, State.UNJUDGEABLE, State.OUTDATED))
    for nugget, state in zip(nuggets, states, strict=False):
        told = f"secret {of} {nugget}"
        Assignment.everything.filter(sheet=sheet, nugget=nugget).delete()
        Assignment.objects.create(
            sheet=sheet,
            nugget_id=nugget,
            state=state,
            value=None if state == State.UNJUDGEABLE else told,
            resolved_value=told if state == State.UNJUDGEABLE else None,
            reason=told,
            flag=told,
            raw={"assignment": told},
        )
    AnswerSheet.everything.filter(pk=sheet.pk).update(extras={"secret": of}, to_do=0)
    LabelEvent.objects.create(
        sheet=sheet,
        nugget_id=nuggets[0],
        version=99,
        verb=f"secret {of}",
        value_before="secret",
        changes={"cannot": [None, f"secret {of}"]},
        edition=1,
    )


@pytest.fixture
def plant(task: Task, sheet: AnswerSheet, manual: Condition, topic: Topic, ben: Person, olga: Person):
    """A function that plants all that an assessor must not see."""
    unjudgeable = str(nuggets_of(sheet.bank)[-1])
    put([sheet], cannot={unjudgeable: "garbled"})

    def do_it() -> None:
        Run.objects.update(team="team.telltale")
        for run in Run.objects.all():
            RunAlias.objects.create(campaign=run.campaign, run=run, name=f"telltale-{run.tag}")
        Answer.objects.update(extras={"secret": "answer"})
        judge = Judge.objects.create(kind=Judge.Kind.MODEL, name="secret model", parameters={"model": "telltale"})
        auto = Condition.objects.create(
            campaign=manual.campaign,
            name="secret condition",
            kind="assignment",
            method="AutoAssign",
            nuggets=manual.nuggets,
            judge=judge,
            protocol=manual.protocol,
        )
        for own in AnswerSheet.objects.filter(task=task):
            answer = own.answer
            _fill(_copy(own, condition=auto, judge=judge, task=None, answer=answer), "model")
        second = label_again(of=manual, name="Second", purpose=ManualSetup.Purpose.SECOND, acting_user=olga)
        bens = give(second, topic, ben)
        for other in AnswerSheet.objects.filter(task=bens):
            _fill(other, "ben")
        # Under the same condition, of who had the topic before.
        before = Task.objects.create(
            campaign=task.campaign, topic=topic, condition=manual, kind="assignment", person=ben, state="withdrawn"
        )
        record = Answer.objects.first().import_record
        run = Run.objects.create(campaign=task.campaign, tag="team.secret", import_record=record)
        content = [{"text": "secret answer", "citations": []}]
        answer = Answer.objects.create(run=run, topic=topic, content=content, words=2, import_record=record)
        _fill(_copy(sheet, condition=manual, judge=ben.judge, task=before, answer=answer), "before")
        # What was adopted where this person could not judge.
        put([sheet], adopted={unjudgeable: "secret adopted"})
        # And another task of the same person: only under that its own answers open.
        other = Task.objects.create(
            campaign=task.campaign, topic=topic, condition=second, kind="assignment", person=task.person
        )
        secret = Answer.objects.create(run=run, topic=topic, content=content, words=2, apart=True, import_record=record)
        _fill(_copy(sheet, condition=second, judge=sheet.judge, task=other, answer=secret), "task")

    return do_it


def _copy(sheet: AnswerSheet, **changed: object) -> AnswerSheet:
    kept = {name: getattr(sheet, name) for name in ("bank", "edition", "place")}
    return AnswerSheet.objects.create(to_do=0, **kept | changed)


def comparable(response: HttpResponse) -> str:
    """Return what a response tells, without what differs between any two: the time, tokens."""
    text = told(response)
    for name, value in [("Expires", response.get("Expires", "")), ("policy", response["Content-Security-Policy"])]:
        text = text.replace(value, name)
    return text if "csrf" not in text else ""


def readings(client: Client, task: Task, sheet: AnswerSheet, nugget: int) -> Iterator[HttpResponse]:
    """Yield the answers to all requests that change nothing: those that are served and those that are refused."""
    base = f"/assign/{task.pk}/"
    for address in (base, f"{base}?answer={sheet.pk}", url(sheet), f"{base}nuggets/{nugget}/"):
        yield client.get(address)
    others = [*AnswerSheet.everything.exclude(task=task), AnswerSheet(pk=10**6), AnswerSheet(pk=2**70)]
    for other in others:
        yield client.get(url(other, task=task.pk))
        yield client.get(f"{base}?answer={other.pk}")
        for verb, fields in WRITES["assignment"].items():
            yield send(client, other, verb, nugget, task=task.pk, version=0, **fields)
    for other in Task.objects.exclude(pk=task.pk).exclude(person=task.person, kind="assignment"):
        yield client.get(f"/assign/{other.pk}/")
        yield client.get(url(sheet, task=other.pk))
        yield client.get(f"/assign/{other.pk}/nuggets/{nugget}/")
        yield send(client, sheet, "label", nugget, task=other.pk, version=0, label="support")
        yield sign_off(client, other, version=0, screen="assignment")
    yield client.get(f"{base}nuggets/999/")
    for verb, fields in WRITES["assignment"].items():
        yield client.get(url(sheet, verb))  # 405
        yield send(client, sheet, verb, nugget, version=77, **fields)  # 409
        yield send(client, sheet, verb, 999, version="x", **fields)  # 400
    yield sign_off(client, task, version=99)
    yield sign_off(client, task)
    yield client.get("/")
    yield client.get("/guidelines/assignment/")


def assert_nothing_told(responses: list[HttpResponse]) -> None:
    for response in responses:
        for secret in SECRETS:
            assert secret not in told(response), (response.status_code, secret)


def test_nothing_that_is_not_theirs_reaches_an_assessor(task, sheet, nugget_ids, plant, as_anna: Client):
    plant()
    assert AnswerSheet.everything.count() == 10
    responses = list(readings(as_anna, task, sheet, nugget_ids[A]))
    assert {response.status_code for response in responses} == {200, 400, 404, 405, 409}
    assert_nothing_told(responses)
    own = AnswerSheet.objects.filter(task=task, by_rule=False).values_list("pk", flat=True)
    assert sorted(row[0] for row in queue(responses[0])) == sorted(own)
    # What is served, they may see.
    served = [response for response in responses if response.status_code == 200]
    assert len([response for response in served if b"Cats purr to heal." in response.content]) > 5


@pytest.mark.parametrize("verb", [verb for verb in WRITES["assignment"] if verb != "show"])
def test_nor_with_what_they_save(task, sheet, nugget_ids, plant, as_anna: Client, verb: str):
    plant()
    response = send(as_anna, sheet, verb, nugget_ids[A], **WRITES["assignment"][verb])
    assert response.status_code == 200
    assert_nothing_told([response, *readings(as_anna, task, sheet, nugget_ids[A])])


def test_nor_once_signed_off_or_while_nuggets_are_changed(
    task, sheet, finished: NuggetBank, nugget_ids, plant, olga: Person, as_anna: Client
):
    plant()
    # What is stale of who had the topic before is this person's to label again: the answer, and nothing said of it.
    Answer.objects.filter(run__tag="team.secret").update(content=[{"text": "Cats.", "citations": []}])
    nugget_actions.reopen_bank(finished, reason="unclear", acting_user=olga)
    assert_nothing_told(list(readings(as_anna, task, sheet, nugget_ids[A])))
    do(finished, nugget_actions.reword_nugget, uid=B, text="another")
    do(finished, nugget_actions.finish_bank)
    for own in AnswerSheet.objects.filter(task=task, by_rule=False):
        label_all(as_anna, own)
    response = sign_off(as_anna, task)
    assert response.status_code == 200
    assert_nothing_told([response, *readings(as_anna, task, sheet, nugget_ids[A])])


def test_what_others_say_changes_no_byte(task, sheet, nugget_ids, plant, as_anna: Client):
    def served() -> list[str]:
        responses = [
            as_anna.get(f"/assign/{task.pk}/"),
            as_anna.get(url(sheet)),
            as_anna.get(f"/assign/{task.pk}/nuggets/{nugget_ids[A]}/"),
            send(as_anna, sheet, "label", nugget_ids[A], version=77, label="support"),
            send(as_anna, sheet, "label", nugget_ids[A], label="maybe"),
            as_anna.get("/assign/999/"),
        ]
        assert [response.status_code for response in responses] == [200, 200, 200, 409, 400, 404]
        return [comparable(response) for response in responses]

    send(as_anna, sheet, "label", nugget_ids[A], label="support")
    before = served()
    plant()
    assert served() == before


class Watched(Client):
    """A client that notes down what its requests ask the database."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def request(self, **request: object) -> HttpResponse:
        with CaptureQueriesContext(connection) as queries:
            response = super().request(**request)
        self.asked += [query["sql"] for query in queries]
        return response


def test_no_query_of_the_screen_reads_runs_or_keys_of_answers(task, sheet, nugget_ids, anna, plant):
    plant()
    client = Watched()
    client.force_login(anna)
    for response in readings(client, task, sheet, nugget_ids[A]):
        assert response.status_code
    for verb, fields in WRITES["assignment"].items():
        assert send(client, sheet, verb, nugget_ids[A], **fields).status_code == (400 if verb == "show" else 200)
    # Of a run nothing is read; of an answer its text, by the sheet that is theirs.
    assert [sql for sql in client.asked if '"campaigns_run' in sql or "campaigns_run." in sql] == []
    of_answers = [sql for sql in client.asked if "campaigns_answer" in sql]
    assert of_answers
    for sql in of_answers:
        assert sql.split("FROM assignment_answersheet")[0].count("answer.") == 2, "content and references"
        assert "work_task.person_id = " in sql


@pytest.mark.parametrize("shown", [False, True])
def test_what_is_cited_shows_only_where_the_campaign_says_so(
    answered, task, sheet, nugget_ids, olga, as_anna: Client, shown: bool
):
    Answer.objects.update(references=["secret-docid"])
    if shown:
        protocol = task.condition.protocol
        protocol.show_citations = True
        protocol.save()
    for response in (as_anna.get(f"/assign/{task.pk}/"), as_anna.get(url(sheet))):
        assert ("secret-docid" in told(response)) == shown
    send(as_anna, sheet, "label", nugget_ids[A], label="support")
    for response in (
        as_anna.get(f"/assign/{task.pk}/nuggets/{nugget_ids[A]}/"),
        send(as_anna, sheet, "label", nugget_ids[A], version=77, label="support"),
    ):
        assert "secret-docid" not in told(response)


# Who sees nuggets of a model


@pytest.mark.parametrize("address", ["", "nuggets/{}/"])
def test_that_a_models_nuggets_are_seen_is_recorded_once(
    campaign, import_file, topic, anna: Person, ben: Person, answered, as_anna: Client, address: str
):
    line = {"qid": "t1", "query": "why", "nuggets": [{"text": "purring heals", "importance": "vital"}]}
    for name, by in (("Mia's", "model"), ("NIST's", "people")):
        assert import_file(campaign, "nuggets", [line], condition=name, by=by).state == "done"
    for name in ("NIST's", "Mia's"):
        nuggets = campaign.conditions.get(name=name)
        task = give(create_manual_assign(nuggets=nuggets, name=f"{name}/Manual", acting_user=None), topic, anna)
        nugget = Nugget.objects.get(bank__condition=nuggets).pk
        as_anna.get("/")
        for _ in range(2):
            assert as_anna.get(f"/assign/{task.pk}/{address.format(nugget)}").status_code == 200
    exposure = Exposure.objects.get()
    assert (exposure.person, exposure.topic, exposure.kind) == (anna, topic, "nuggets")
    assert exposure.where == "nuggets of Mia's"
    assert client_of(ben).get(f"/assign/{task.pk}/").status_code == 404
    assert Exposure.objects.count() == 1


def test_who_wrote_nuggets_and_assigns_them_has_seen_no_models(task, as_anna: Client):
    as_anna.get(f"/assign/{task.pk}/")
    assert not Exposure.objects.exists()


# Organizers


def test_an_organizer_looks_at_what_was_said(task, sheet, nugget_ids, olga: Person, as_anna: Client):
    send(as_anna, sheet, "label", nugget_ids[A], label="partial_support", seconds=7)
    send(as_anna, sheet, "mark", nugget_ids[A], marks="[[0, 0, 9]]")
    send(as_anna, sheet, "cannot", nugget_ids[B], reason="<b>garbled", seconds=5)
    send(as_anna, sheet, "flag", nugget_ids[B], note="<i>look")
    response = client_of(olga).get(f"/assign/{task.pk}/")
    text = " ".join(response.content.decode().split())
    assert "Read-only view of what anna said under Manual/Manual, open" in text
    assert "team.one <span" in text
    assert "1 to do, 12 active seconds, last changed on" in text
    assert "empty: not_support by rule" in text
    for shown in (
        "partial_support",
        "“Cats purr”",
        "can't judge: <bdi>&lt;b&gt;garbled",
        "<bdi>&lt;i&gt;look",
        "<td>7</td>",
    ):
        assert shown in text
    assert not Exposure.objects.exists()


def test_a_repetition_is_done_without_a_look_at_the_first_time(
    task: Task, sheet: AnswerSheet, manual: Condition, topic: Topic, anna: Person, olga: Person, as_anna: Client
):
    for own in task.answer_sheets.filter(by_rule=False):
        label_all(as_anna, own)
    Task.objects.filter(pk=task.pk).update(state="finished")
    nugget = sheet.bank.nuggets.earliest("pk").pk
    addresses = [f"/assign/{task.pk}/", url(sheet), f"/assign/{task.pk}/nuggets/{nugget}/"]
    assert [as_anna.get(address).status_code for address in addresses] == [200, 200, 200]
    again = give(
        label_again(of=manual, name="again", purpose="repeat", acting_user=olga),
        topic,
        anna,
    )
    for state in ("finished", "open"):  # it may be opened again while it is repeated
        Task.objects.filter(pk=task.pk).update(state=state)
        for address in addresses:
            response = as_anna.get(address)
            assert response.status_code == 403, address
            assert "&quot;support&quot;" not in response.content.decode()
        assert send(as_anna, sheet, "label", nugget=nugget, label="support").status_code == 403
    Task.objects.filter(pk=again.pk).update(state="finished")
    assert [as_anna.get(address).status_code for address in addresses] == [200, 200, 200]
    # Nor at another repetition.
    Task.objects.filter(pk=task.pk).update(state="finished")
    more = give(label_again(of=manual, name="more", purpose="repeat", acting_user=olga), topic, anna)
    addresses += [f"/assign/{again.pk}/", url(again.answer_sheets.filter(by_rule=False).earliest("pk"))]
    assert [as_anna.get(address).status_code for address in addresses] == [403] * 5
    assert as_anna.get(f"/assign/{more.pk}/").status_code == 200
    Task.objects.filter(pk=more.pk).update(state="finished")
    assert [as_anna.get(address).status_code for address in addresses] == [200] * 5
