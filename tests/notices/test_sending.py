"""What a receiver gets, and what is done where it refuses, is slow, leads elsewhere or is gone."""

import json
import threading
import time
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from standardwebhooks import Webhook as Verifier
from standardwebhooks import WebhookVerificationError

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Event
from assessor.notices import actions, transport
from assessor.notices.models import Delivery, Webhook
from assessor.notices.payloads import add_deliveries
from assessor.notices.sending import send_due, sweep
from assessor.runtime.claims import claim
from tests.notices.receiver import Receiver, secret
from tests.notices.receiver import receiver as running

pytestmark = pytest.mark.django_db


def note(webhook: Webhook, number: int = 1) -> list[Delivery]:
    """Note deliveries; return them, the oldest first."""
    add_deliveries([webhook], [("job.done", {"number": one}) for one in range(number)])
    return list(webhook.deliveries.order_by("pk"))


def make_due() -> None:
    Delivery.objects.filter(state="waiting").update(due_at=timezone.now())


def outcome(delivery: Delivery) -> tuple[str, int | None, str]:
    delivery.refresh_from_db()
    return delivery.state, delivery.status, delivery.error


def test_it_is_signed_as_a_library_of_others_checks_it(webhook: Webhook, receiver: Receiver):
    [delivery] = note(webhook)
    assert send_due() is False
    [(headers, body)] = receiver.requests
    assert body.decode() == delivery.body
    assert json.loads(body) == receiver.events(secret(webhook))[0]
    assert headers["content-type"] == "application/json"
    assert headers["webhook-id"] == f"msg_{delivery.uid.hex}"
    assert abs(int(headers["webhook-timestamp"]) - time.time()) < 60
    assert outcome(delivery) == ("done", 204, "")
    assert delivery.ended_at is not None
    send_due()
    assert len(receiver.requests) == 1
    for changed in (headers | {"webhook-id": "msg_0"}, headers | {"webhook-timestamp": str(int(time.time()) + 9)}):
        with pytest.raises(WebhookVerificationError):
            Verifier(secret(webhook)).verify(body, changed)


def test_another_secret_signs_from_when_it_is_made(webhook: Webhook, receiver: Receiver, olga: Person):
    before = secret(webhook)
    note(webhook)
    actions.renew_secret(webhook=webhook, acting_user=olga)
    send_due()
    assert receiver.events(secret(webhook))
    with pytest.raises(WebhookVerificationError):
        receiver.events(before)


def test_the_secret_depends_on_the_servers_key_and_is_kept_nowhere(webhook: Webhook, settings: Any):
    before = secret(webhook)
    assert before.startswith("whsec_")
    assert before not in json.dumps(list(Webhook.objects.values()), default=str)
    assert before not in json.dumps(list(Event.objects.values()), default=str)
    settings.SECRET_KEY = "another one"
    assert secret(webhook) != before


def test_what_is_refused_is_sent_again_later_and_later_under_the_same_id(webhook: Webhook, receiver: Receiver):
    [delivery] = note(webhook)
    receiver.status = 503
    pauses = []
    for _ in range(8):
        assert send_due() is False
        assert outcome(delivery) == ("waiting", 503, "")
        pauses.append(round((delivery.due_at - timezone.now()).total_seconds()))
        make_due()
    assert [round(pause, -1) for pause in pauses] == [20, 60, 240, 960, 3840, 14400, 14400, 14400]
    receiver.status = 200
    send_due()
    assert outcome(delivery) == ("done", 200, "")
    assert (delivery.attempts, len(receiver.ids), len(set(receiver.ids))) == (9, 9, 1)
    assert len({body for _, body in receiver.requests}) == 1


def test_what_is_not_due_is_not_sent(webhook: Webhook, receiver: Receiver):
    note(webhook)
    Delivery.objects.update(due_at=timezone.now() + timedelta(seconds=60))
    assert send_due() is False
    assert receiver.requests == []


def test_after_a_day_it_is_given_up_and_the_webhook_stopped(webhook: Webhook, receiver: Receiver):
    old, new = note(webhook, 2)
    receiver.status = 500
    Delivery.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(hours=23))
    send_due()
    make_due()
    assert outcome(old)[0] == "waiting"
    Delivery.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(hours=25))
    Delivery.objects.filter(pk=new.pk).update(due_at=timezone.now() + timedelta(hours=1))
    send_due()
    assert (outcome(old), outcome(new)) == (("failed", 500, ""), ("failed", 500, ""))
    webhook.refresh_from_db()
    assert webhook.state == "stopped"
    assert Event.objects.filter(verb="webhook stopped", person=None, subject="127.0.0.1").count() == 1


def test_one_that_accepts_others_goes_on(webhook: Webhook, receiver: Receiver):
    refused, accepted = note(webhook, 2)
    Delivery.objects.filter(pk=refused.pk).update(due_at=timezone.now() + timedelta(hours=1))
    send_due()
    assert outcome(accepted)[0] == "done"
    Delivery.objects.filter(pk=refused.pk).update(created_at=timezone.now() - timedelta(hours=25))
    make_due()
    receiver.status = 500
    send_due()
    assert outcome(refused)[0] == "failed"
    webhook.refresh_from_db()
    assert webhook.state == "active"


def test_who_says_that_it_is_gone_is_told_nothing_more(webhook: Webhook, receiver: Receiver, olga: Person):
    delivery, accepted = note(webhook, 2)
    Delivery.objects.filter(pk=delivery.pk).update(due_at=timezone.now() + timedelta(hours=1))
    send_due()
    assert outcome(accepted)[0] == "done"
    receiver.status = 410
    make_due()
    send_due()
    assert outcome(delivery) == ("failed", 410, "")
    note(webhook)
    send_due()
    assert len(receiver.requests) == 2
    receiver.status = 200
    actions.send_test(webhook=webhook, acting_user=olga)
    while send_due():
        pass
    came = sorted(one["type"] for one in receiver.events(secret(webhook)))
    assert came == ["job.done", "job.done", "job.done", "webhook.test"]
    assert Event.objects.filter(verb="webhook started again", person=olga).count() == 1


def test_a_redirect_is_not_followed(webhook: Webhook, receiver: Receiver):
    receiver.status, receiver.headers = 302, {"location": f"http://{receiver.host}/elsewhere"}
    [delivery] = note(webhook)
    send_due()
    assert outcome(delivery) == ("waiting", 302, "")
    assert len(receiver.requests) == 1


def test_an_answer_is_not_read(webhook: Webhook, receiver: Receiver):
    receiver.status, receiver.is_endless = 200, True
    [delivery] = note(webhook)
    send_due()
    assert outcome(delivery) == ("done", 200, "")
    receiver.is_endless = False


def test_nobody_waits_longer_for_a_slow_one(
    webhook: Webhook, receiver: Receiver, campaign: Campaign, olga: Person, settings: Any, monkeypatch: Any
):
    monkeypatch.setattr(transport, "_PATIENCE", 0.5)
    receiver.may_answer.clear()
    with running() as other:
        settings.WEBHOOK_HOSTS = [receiver.host, other.host]
        quick = actions.add_webhook(campaign=campaign, address=other.address, events=["job"], acting_user=olga)
        slow, told = note(webhook, 30), note(quick)
        began = time.monotonic()
        assert send_due() is True  # what is left for the slow one
        assert time.monotonic() - began < 10
        assert outcome(told[0]) == ("done", 204, "")
        assert len(receiver.requests) == 4
        assert outcome(slow[0]) == ("waiting", None, "no answer within 0 seconds")


def test_where_nobody_listens(webhook: Webhook, receiver: Receiver):
    receiver.server.shutdown()
    receiver.server.server_close()
    [delivery] = note(webhook)
    send_due()
    state, status, error = outcome(delivery)
    assert (state, status) == ("waiting", None)
    assert error.startswith("ConnectError")


def test_a_host_that_is_not_named_any_more_is_not_asked(webhook: Webhook, receiver: Receiver, settings: Any):
    settings.WEBHOOK_HOSTS = ["hooks.example.org"]
    [delivery] = note(webhook)
    send_due()
    assert outcome(delivery)[2] == "127.0.0.1 is not among the hosts that ASSAY_WEBHOOK_HOSTS allows."
    assert receiver.requests == []


def test_what_another_process_sends_is_not_sent_here(webhook: Webhook, receiver: Receiver):
    [delivery] = note(webhook)
    assert claim(delivery)
    send_due()
    assert receiver.requests == []
    assert sweep() is True  # it was this process, which is at it no more
    send_due()
    assert len(receiver.requests) == 1


def test_what_a_dead_process_sent_is_sent_again(webhook: Webhook, receiver: Receiver):
    [delivery] = note(webhook)
    Delivery.objects.update(state="running", owner="nowhere 1 x:1", alive_at=timezone.now())
    assert sweep() is False
    Delivery.objects.update(alive_at=timezone.now() - timedelta(minutes=6))
    assert sweep() is True
    send_due()
    assert outcome(delivery)[0] == "done"


def test_the_newest_hundred_that_are_over_are_kept(webhook: Webhook, receiver: Receiver):
    note(webhook, 110)
    waiting = note(webhook)[-1]
    Delivery.objects.filter(pk=waiting.pk).update(due_at=timezone.now() + timedelta(hours=1))
    while send_due():
        pass
    assert len(set(receiver.ids)) == 110
    over = webhook.deliveries.filter(state="done").order_by("pk")
    assert over.count() == 100
    assert json.loads(over[0].body)["data"] == {"number": 10}
    assert outcome(waiting)[0] == "waiting"


def test_a_removed_one_leaves_neither_address_nor_deliveries(webhook: Webhook, receiver: Receiver, olga: Person):
    note(webhook)
    actions.remove_webhook(webhook=webhook, acting_user=olga)
    Delivery.objects.create(webhook=webhook, event="job.done", body="{}")  # noted by what ended at this moment
    assert send_due() is False
    assert sweep() is False
    assert receiver.requests == []
    assert not Delivery.objects.exists()
    assert list(Webhook.objects.values_list("state", "address", "salt")) == [("removed", "", "")]


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_send_each_delivery_once(webhook: Webhook, receiver: Receiver):
    note(webhook, 24)
    start = threading.Barrier(2)

    def work() -> None:
        for _ in range(6):
            start.wait(30)
            send_due()
        connection.close()

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(receiver.ids) == len(set(receiver.ids)) == 24
    assert set(webhook.deliveries.values_list("state", "attempts")) == {("done", 1)}
