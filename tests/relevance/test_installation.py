"""Each database has a name, made once; what a page writes that was opened on another one is refused."""

from uuid import uuid4

import pytest
from django.core.management import call_command
from django.test import Client

from assessor.relevance.models import LabelEvent, RelevanceJudgment
from assessor.work.models import Installation, Task

pytestmark = pytest.mark.django_db


def judge(client: Client, task: Task, installation: str | None):
    item = RelevanceJudgment.objects.get(topic=task.topic, docid="d1")
    fields = {"item": item.pk, "grade": 2, "key": str(uuid4()), "version": item.version}
    told = {} if installation is None else {"X-Assay-Installation": installation}
    return client.post(f"/relevance/{task.pk}/judge/", fields, headers={"X-Assay-Write": "1"} | told)


def test_a_page_names_the_database_that_it_is_of(task: Task, as_anna: Client):
    key = Installation.present()
    call_command("migrate", verbosity=0)
    assert [one.key for one in Installation.objects.all()] == [key]
    assert f'data-installation="{key}"' in as_anna.get(f"/relevance/{task.pk}/").content.decode()


@pytest.mark.parametrize("other", ["00000000-0000-4000-8000-000000000000", "", "undefined"])
def test_what_another_databases_page_writes_is_refused(task: Task, as_anna: Client, other: str):
    refused = judge(as_anna, task, other)
    assert (refused.status_code, refused["X-Assay-Write"], refused["Content-Type"]) == (410, "1", "text/plain")
    assert "database was replaced since this page was opened, so this was not saved" in refused.content.decode()
    assert not LabelEvent.objects.exists()


@pytest.mark.parametrize("is_told", [True, False])
def test_its_own_pages_write(task: Task, as_anna: Client, is_told: bool):
    assert judge(as_anna, task, str(Installation.present()) if is_told else None).status_code == 200
    assert LabelEvent.objects.count() == 1


def test_a_restored_database_takes_another_name_and_refuses_older_pages(
    task: Task, as_anna: Client, capsys: pytest.CaptureFixture[str]
):
    before = str(Installation.present())
    call_command("rename_installation")
    now = str(Installation.present())
    assert capsys.readouterr().out == f"This database is {now} now.\n"
    assert now != before
    assert judge(as_anna, task, before).status_code == 410
    assert judge(as_anna, task, now).status_code == 200
