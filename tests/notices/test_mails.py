"""Mails to organizers who asked for them: what, to whom, and again where the mail server refuses."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.accounts.preferences import MAILED_WHEN
from assessor.campaigns.models import Campaign, Membership
from assessor.campaigns.signals import ended
from assessor.imports import importer
from assessor.llm import claims
from assessor.llm.models import Job
from assessor.notices.models import Delivery, Webhook
from assessor.notices.sending import send_due
from assessor.work.models import Task
from nuggets.actions import finish_bank
from nuggets.models import NuggetBank
from tests.conftest import client_of
from tests.desk.test_preferences import field
from tests.llm.grading import make_job, make_judge
from tests.mail_server import MailServer, mail_server
from tests.notices.receiver import Receiver
from tests.nuggets.conftest import do

pytestmark = pytest.mark.django_db


@pytest.fixture
def server(settings: Any) -> Iterator[MailServer]:
    with mail_server() as made:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_TIMEOUT = "127.0.0.1", made.port, 10
        settings.MAILS, settings.DEFAULT_FROM_EMAIL = True, "Assay <assay@example.org>"
        yield made


@pytest.fixture
def job(campaign: Campaign, olga: Person, settings: Any) -> Job:
    """A job that Olga launched, all of whose units are over; she asked for mails."""
    ask(olga)
    job = make_job(make_judge(campaign, "http://127.0.0.1:9/v1"))
    Job.objects.update(state="running", units_total=3, units_done=2, units_failed=1, calls=4, created_by=olga)
    return job


def ask(person: Person, *events: str) -> None:
    Person.objects.filter(pk=person.pk).update(
        mailed_when=list(events or MAILED_WHEN), email=f"{person.username}@example.org"
    )


def test_a_job_that_she_launched(server: MailServer, job: Job):
    claims.end_if_all_is_done(job.pk)
    assert server.mails == []  # nothing waits for a mail server
    assert send_due() is False
    [mail] = server.mails
    delivery = Delivery.objects.get()
    assert (mail["to"], mail["from"], mail["subject"]) == (
        "olga@example.org",
        "Assay <assay@example.org>",
        "A job has ended",
    )
    assert mail["message-id"] == f"<{delivery.uid.hex}@example.org>"
    assert mail["auto-submitted"] == "auto-generated"
    assert mail.get_content_type() == "text/plain"
    told = f"Job {job.pk} (Grading) in Study is done: 2 of 3 units done, 1 failed, 4 calls."
    asked = "Assay mails you this because you asked for it in your settings."
    assert mail.get_content().split("\r\n") == ["Hello olga,", "", told, "", asked, "", ""]
    assert (delivery.state, delivery.event, delivery.attempts) == ("done", "job.done", 1)


def test_an_import_that_she_made(server: MailServer, campaign: Campaign, olga: Person, tmp_path: Any):
    ask(olga)
    path = tmp_path / "file"
    path.write_text("")
    record = importer.new_import(
        campaign=campaign, kind="topics", file_name="<new>.tsv", options={}, person=olga, check_only=False
    )
    importer.run(record, path)
    send_due()
    [mail] = server.mails
    assert mail["subject"] == "An import has ended"
    assert "Your import of <new>.tsv into Study is refused: 1 errors, 0 warnings." in mail.get_content()


def test_a_topic_that_she_gave(server: MailServer, edited: NuggetBank, olga: Person):
    ask(olga)
    do(edited, finish_bank)
    send_due()
    [mail] = server.mails
    assert mail["subject"] == "A topic is finished"
    assert "A topic that you gave in Study is finished: nuggets of t1." in mail.get_content()
    assert "anna" not in mail.get_content()


@pytest.mark.parametrize("reason", ["not asked", "another event", "no address", "no organizer now", "inactive", "off"])
def test_who_is_not_mailed(server: MailServer, job: Job, olga: Person, settings: Any, reason: str):
    people = Person.objects.filter(pk=olga.pk)
    match reason:
        case "not asked":
            people.update(mailed_when=[])
        case "another event":
            people.update(mailed_when=["import", "topic"])
        case "no address":
            people.update(email="")
        case "no organizer now":
            Membership.objects.filter(person=olga).update(until=timezone.now())
        case "inactive":
            people.update(is_active=False)
        case "off":
            settings.MAILS = False
    claims.end_if_all_is_done(job.pk)
    send_due()
    assert server.mails == []


def test_of_what_the_command_line_did_nobody_is_told(server: MailServer, job: Job):
    Job.objects.update(created_by=None)
    claims.end_if_all_is_done(job.pk)
    assert not Delivery.objects.exists()


def test_what_the_mail_server_refuses_is_sent_again(server: MailServer, job: Job):
    server.answer = "451 later"
    claims.end_if_all_is_done(job.pk)
    send_due()
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.status) == ("waiting", None)
    assert delivery.error.startswith("SMTPDataError")
    assert delivery.due_at > timezone.now()
    server.answer = "250 OK"
    Delivery.objects.update(due_at=timezone.now())
    send_due()
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts, delivery.error) == ("done", 2, "")
    assert len(server.mails) == 1


def test_beside_a_webhook(server: MailServer, webhook: Webhook, receiver: Receiver, job: Job):
    claims.end_if_all_is_done(job.pk)
    send_due()
    assert (len(server.mails), len(receiver.requests)) == (1, 1)
    assert set(Delivery.objects.values_list("state", flat=True)) == {"done"}


def test_without_mails_a_webhook_is_told_alone(server: MailServer, webhook: Webhook, job: Job, settings: Any):
    settings.MAILS = False
    claims.end_if_all_is_done(job.pk)
    assert list(Delivery.objects.values_list("webhook", "person")) == [(webhook.pk, None)]


def test_it_asks_as_few_queries_for_many(server: MailServer, edited: NuggetBank, olga: Person):
    ask(olga)
    campaign, tasks = edited.condition.campaign_id, [edited.task_id, edited.task_id]

    def queries(pks: list[Any]) -> int:
        with CaptureQueriesContext(connection) as asked, transaction.atomic():
            ended.send(Task, campaign_id=campaign, pks=pks)
        return len([one for one in asked if "SAVEPOINT" not in one["sql"]])

    assert queries(tasks[:1]) == queries(tasks) == 3


def test_settings_of_ones_own(server: MailServer, campaign: Campaign, olga: Person, anna: Person):
    client = client_of(olga)
    page = client.get("/me/").content.decode()
    assert "a job that you launched ends" in page
    assert "No mail address of yours is known" in page
    keys = dict(client.get("/me/").context["form"].keys)
    data = {field(key): keys[key].value() or "" for key in keys}
    client.post("/me/", data | {"mailed_when": ["job", "topic"]})
    olga.refresh_from_db()
    assert olga.mailed_when == ["job", "topic"]
    client.post("/me/", data | {"mailed_when": ["person"]})
    olga.refresh_from_db()
    assert olga.mailed_when == ["job", "topic"]
    client.post("/me/", data)
    olga.refresh_from_db()
    assert olga.mailed_when == []
    assert "Mail me when" not in client_of(anna).get("/me/").content.decode()
    client_of(anna).post("/me/", data | {"mailed_when": ["topic"]})
    anna.refresh_from_db()
    assert anna.mailed_when == []


def test_without_a_mail_server_nothing_is_offered(campaign: Campaign, olga: Person):
    assert "Mail me when" not in client_of(olga).get("/me/").content.decode()


def test_both_name_the_same_events():
    assert list(MAILED_WHEN) == Webhook.Event.values
