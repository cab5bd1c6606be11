from collections.abc import Iterator
from typing import Any

import pytest

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign
from assessor.notices import actions
from assessor.notices.models import Webhook
from tests.notices.receiver import Receiver
from tests.notices.receiver import receiver as running
from tests.nuggets.conftest import edited  # noqa: F401
from tests.relevance.conftest import pooled  # noqa: F401


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    with running() as made:
        settings.WEBHOOK_HOSTS = [made.host]
        yield made


@pytest.fixture
def webhook(receiver: Receiver, campaign: Campaign, olga: Person, settings: Any) -> Webhook:
    """The campaign's webhook, told of everything. By its settings it is made for each test: so is the receiver."""
    return actions.add_webhook(
        campaign=campaign, address=receiver.address, events=Webhook.Event.values, acting_user=olga
    )
