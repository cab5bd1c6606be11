"""How notices reach webhooks and people. Loaded by who sends them: a web process does without httpx2."""

import asyncio
import time
from collections.abc import Sequence
from typing import NamedTuple

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from httpx2 import URL, AsyncClient

from assessor.notices.addresses import USUAL_PORTS, check_destination
from assessor.notices.models import Delivery, Webhook
from assessor.notices.signatures import signed_headers
from assessor.runtime.certificates import trusted
from assessor.runtime.version import program_version

_PATIENCE = 10.0  # seconds, for all of a request
_SUBJECTS: dict[str, str] = {
    Webhook.Event.JOB: "A job has ended",
    Webhook.Event.IMPORT: "An import has ended",
    Webhook.Event.TOPIC: "A topic is finished",
}


class Outcome(NamedTuple):
    """What came of an attempt: the status of a webhook's answer, or why it failed; of a mail that was taken neither."""

    status: int | None = None
    error: str = ""

    @property
    def is_accepted(self) -> bool:
        return not self.error and (self.status is None or 200 <= self.status < 300)


async def send_all(deliveries: Sequence[Delivery]) -> list[Outcome]:
    """Send deliveries, all at once. Redirects are not followed, and of answers nothing but the status is read."""
    # Addresses are the administrator's to allow: no proxy of the environment leads elsewhere.
    async with AsyncClient(verify=trusted(), trust_env=False, timeout=None) as client:
        return await asyncio.gather(*(_send(client, delivery) for delivery in deliveries))


async def _send(client: AsyncClient, delivery: Delivery) -> Outcome:
    try:
        if delivery.webhook:
            return await _post(client, delivery.webhook, delivery)
        # In threads, each for EMAIL_TIMEOUT at most where the mail server says nothing.
        return await asyncio.to_thread(_mail, delivery)
    except TimeoutError:
        return Outcome(error=f"no answer within {_PATIENCE:.0f} seconds")
    except ValidationError as error:
        return Outcome(error=" ".join(error.messages)[:200])
    except Exception as error:  # whatever is wrong with one receiver keeps nothing from the others
        return Outcome(error=f"{type(error).__name__}: {error}".replace("\x00", "")[:200])


def _mail(delivery: Delivery) -> Outcome:
    assert delivery.person
    _, _, host = settings.DEFAULT_FROM_EMAIL.strip(">").rpartition("@")
    headers = {"Message-ID": f"<{delivery.uid.hex}@{host}>", "Auto-Submitted": "auto-generated"}
    subject = _SUBJECTS[delivery.event.partition(".")[0]]
    EmailMessage(subject, delivery.body, to=[delivery.person.email], headers=headers).send()
    return Outcome()


async def _post(client: AsyncClient, webhook: Webhook, delivery: Delivery) -> Outcome:
    headers = {
        "content-type": "application/json",
        "user-agent": program_version().replace(" ", "/"),
        **signed_headers(webhook, delivery.uid, delivery.body, int(time.time())),
    }
    url = URL(webhook.address)  # as the library reads it, which is where it goes
    check_destination(url.scheme, url.raw_host.decode(), url.port or USUAL_PORTS.get(url.scheme, 0))
    async with (
        asyncio.timeout(_PATIENCE),
        client.stream("POST", url, content=delivery.body.encode(), headers=headers) as response,
    ):
        return Outcome(status=response.status_code)
