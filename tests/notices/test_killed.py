"""A worker that is killed while it sends: what it sent is sent again under the same id."""

from pathlib import Path

import pytest

from tests.llm.house import broker, house, kill_all_of, wait_until
from tests.notices.receiver import receiver as running

ADD = """
from assessor.campaigns.models import Campaign
from assessor.notices.actions import add_webhook, send_test
campaign = Campaign.objects.get()
webhook = add_webhook(campaign=campaign, address="{address}", events=["job"], acting_user=None)
send_test(webhook=webhook, acting_user=None)
"""


@pytest.mark.django_db
def test_a_killed_worker(tmp_path: Path):
    with running() as receiver, broker("embedded", tmp_path) as url, house(tmp_path / "data", url) as study:
        study.env["ASSAY_WEBHOOK_HOSTS"] = receiver.host
        study.manage("create_campaign", "study")
        study.run(ADD.format(address=receiver.address))
        receiver.may_answer.clear()
        worker = study.start_worker("celery")
        wait_until(receiver.came.is_set, "it is being sent", 60)
        assert study.rows("select state from notices_delivery") == [("running",)]
        kill_all_of(worker)
        receiver.may_answer.set()
        study.start_worker("celery")
        wait_until(lambda: study.rows("select state from notices_delivery") == [("done",)], "it is delivered", 60)
        assert study.rows("select attempts, status from notices_delivery") == [(2, 204)]
        assert len(receiver.ids) == 2
        assert len(set(receiver.ids)) == 1
