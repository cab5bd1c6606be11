"""How notices reach webhooks. Loaded by who sends them: a web process does without httpx2."""

import asyncio
import time
from collections.abc import Sequence
from typing import NamedTuple

from django.core.exceptions import ValidationError
from httpx2 import URL, AsyncClient, create_ssl_context

from assessor.notices.addresses import USUAL_PORTS, check_destination
from assessor.notices.models import Delivery
from assessor.notices.signatures import signed_headers
from assessor.runtime.version import program_version

_PATIENCE = 10.0  # seconds, for all of a request


class Outcome(NamedTuple):
    """What came of an attempt: the status of an answer, or why there was none."""

    status: int | None = None
    error: str = ""

    @property
    def is_accepted(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


async def post_all(deliveries: Sequence[Delivery]) -> list[Outcome]:
    """Post deliveries, all at once. Redirects are not followed, and of answers nothing but the status is read."""
    # Addresses are the administrator's to allow: no proxy of the environment leads elsewhere.
    async with AsyncClient(verify=create_ssl_context(trust_env=False), trust_env=False, timeout=None) as client:
        return await asyncio.gather(*(_post(client, delivery) for delivery in deliveries))


async def _post(client: AsyncClient, delivery: Delivery) -> Outcome:
    webhook = delivery.webhook
    headers = {
        "content-type": "application/json",
        "user-agent": program_version().replace(" ", "/"),
        **signed_headers(webhook, delivery.uid, delivery.body, int(time.time())),
    }
    try:
        url = URL(webhook.address)  # as the library reads it, which is where it goes
        check_destination(url.scheme, url.raw_host.decode(), url.port or USUAL_PORTS.get(url.scheme, 0))
        async with (
            asyncio.timeout(_PATIENCE),
            client.stream("POST", url, content=delivery.body.encode(), headers=headers) as response,
        ):
            return Outcome(status=response.status_code)
    except TimeoutError:
        return Outcome(error=f"no answer within {_PATIENCE:.0f} seconds")
    except ValidationError as error:
        return Outcome(error=" ".join(error.messages)[:200])
    except Exception as error:  # whatever is wrong with one receiver keeps nothing from the others
        return Outcome(error=f"{type(error).__name__}: {error}".replace("\x00", "")[:200])
