"""The page of webhooks: what organizers see and do there."""

import re
from typing import Any

import pytest
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import create_campaign
from assessor.campaigns.models import Campaign, Event
from assessor.notices.models import Delivery, Webhook
from tests.conftest import client_of
from tests.notices.receiver import secret
from tests.notices.records import make_webhook

pytestmark = pytest.mark.django_db
PAGE = "/campaigns/study/settings/webhooks/"
GOOD = "https://hooks.example.org/assay"


@pytest.fixture
def as_olga(campaign: Campaign, olga: Person, settings: Any) -> Client:
    settings.WEBHOOK_HOSTS = ["hooks.example.org", "ports.example.org:444", "127.0.0.1:8080", "localhost", "::1"]
    return client_of(olga)


def add(client: Client, address: str = GOOD, events: tuple[str, ...] = ("job", "topic")) -> str:
    return client.post(PAGE, {"address": address, "events": events}).content.decode()


def shown_secret(page: str) -> str:
    [found] = re.findall(r'<code id="secret">(whsec_[^<]+)</code>', page)
    return str(found)


def test_it_is_added_and_its_secret_shown_once(as_olga: Client, olga: Person):
    page = add(as_olga)
    webhook = Webhook.objects.get()
    assert shown_secret(page) == secret(webhook)
    assert f"This is the secret of <bdi>{GOOD}</bdi>" in page
    assert (webhook.address, webhook.events, webhook.state) == (GOOD, ["job", "topic"], "active")
    again = as_olga.get(PAGE).content.decode()
    assert GOOD in again
    assert "whsec_" not in again
    assert "Sent when a job ends or an assessor finishes a topic" in again
    event = Event.objects.get(verb="webhook added")
    assert (event.subject, event.person, event.details) == ("hooks.example.org", olga, {"events": ["job", "topic"]})
    assert "added a webhook to hooks.example.org" in as_olga.get("/campaigns/study/history/").content.decode()


@pytest.mark.parametrize(
    "address",
    [
        *("", "hooks.example.org", "https://", "https:///x", "//hooks.example.org/x", "ftp://hooks.example.org/"),
        "http://hooks.example.org/x",  # could be read on its way
        "https://elsewhere.example.org/",
        *(
            "https://ports.example.org:445/",
            "https://ports.example.org/",
            "http://127.0.0.1/",
            "http://127.0.0.1:8081/",
            "http://169.254.169.254/",
        ),
        *("https://a@hooks.example.org/", "https://hooks.example.org@evil.example/", "https://hooks.example.org/#x"),
        *("https://evil.example\\@hooks.example.org/", "https://hooks.example.org/ x", "https://hooks.example.org\n/"),
        *("https://hooks.example.org.evil.example/", "https://[::1", "https://hooks.example.org:x/", "https://hööks/"),
        f"{GOOD}/{'x' * 500}",
    ],
)
def test_addresses_to_which_nothing_goes(as_olga: Client, address: str):
    page = add(as_olga, address)
    assert 'class="message error"' in page
    assert "whsec_" not in page
    assert not Webhook.objects.exists()


@pytest.mark.parametrize(
    "address",
    [GOOD, "https://ports.example.org:444/", "http://127.0.0.1:8080/x?y=z", "http://localhost:1/", "http://[::1]:9/"],
)
def test_addresses_that_are_named(as_olga: Client, address: str):
    add(as_olga, address)
    assert Webhook.objects.get().address == address


def test_of_nothing_and_of_unknown_events(as_olga: Client):
    assert "whsec_" not in add(as_olga, events=())
    assert "whsec_" not in add(as_olga, events=("job", "person"))
    assert not Webhook.objects.exists()


def test_ten_are_enough(as_olga: Client):
    for _ in range(10):
        assert "whsec_" in add(as_olga)
    page = add(as_olga)
    assert "at most 10 webhooks" in page
    as_olga.post(f"{PAGE}{Webhook.objects.latest('pk').pk}/remove/")
    assert "whsec_" in add(as_olga)
    assert Webhook.objects.filter(state="active").count() == 10


def test_where_they_are_off_the_page_says_how_to_turn_them_on(as_olga: Client, settings: Any):
    settings.WEBHOOK_HOSTS = []
    page = as_olga.get(PAGE).content.decode()
    assert "ASSAY_WEBHOOK_HOSTS" in page
    assert "Add the webhook" not in page
    assert "whsec_" not in add(as_olga)


def test_a_new_secret(as_olga: Client):
    before = shown_secret(add(as_olga))
    webhook = Webhook.objects.get()
    page = as_olga.post(f"{PAGE}{webhook.pk}/secret/").content.decode()
    assert shown_secret(page) == secret(webhook) != before
    assert Event.objects.filter(verb="webhook secret renewed").count() == 1


def test_a_test_is_sent_once_at_a_time(as_olga: Client):
    add(as_olga)
    webhook = Webhook.objects.get()
    for _ in range(3):
        as_olga.post(f"{PAGE}{webhook.pk}/test/")
    assert list(Delivery.objects.values_list("event", "state")) == [("webhook.test", "waiting")]
    assert "A test is on its way to hooks.example.org." in as_olga.get(PAGE).content.decode()


def test_what_became_of_deliveries(as_olga: Client, campaign: Campaign):
    make_webhook(campaign, "stopped")
    page = as_olga.get(PAGE).content.decode()
    for text in ("204", "500", "ConnectError: no route", "next attempt", "given up", "stopped", "Start again"):
        assert text in page, text


def test_an_address_is_shown_as_text(as_olga: Client, campaign: Campaign):
    webhook = make_webhook(campaign)
    Webhook.objects.filter(pk=webhook.pk).update(address="https://hooks.example.org/<script>x</script>")
    assert "<script>x" not in as_olga.get(PAGE).content.decode()


def test_another_campaigns_webhook_is_not_there(as_olga: Client, olga: Person, otto: Person):
    elsewhere = create_campaign(name="Other", slug="other", acting_user=otto)
    webhook = make_webhook(elsewhere)
    removed = make_webhook(Campaign.objects.get(slug="study"), "removed")
    for pk in (webhook.pk, removed.pk):
        for verb in ("test", "secret", "remove"):
            assert as_olga.post(f"{PAGE}{pk}/{verb}/").status_code == 404
    assert as_olga.get("/campaigns/other/settings/webhooks/").status_code == 404
    assert Delivery.objects.filter(event="webhook.test").count() == 0
