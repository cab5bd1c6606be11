"""Workers of an installation whose files are on an S3-compatible server, killed at work."""

from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.llm.house import House, house, kill_all_of, wait_until
from tests.object_store import BUCKET, ObjectStore

SET_UP = """
from assessor.accounts.models import Person
from assessor.api.actions import create_token
from assessor.campaigns.actions import create_campaign
olga = Person.objects.create_superuser("olga", password="a good long password")
create_campaign(name="Study", slug="study", acting_user=olga)
print(create_token(person=olga, name="sends", may="import", expires_at=None, acting_user=None).secret)
"""
TOPICS = """
from assessor.campaigns.models import Campaign
from assessor.imports.made_files import import_lines
lines = (f"t{n}\\ttitle {n}\\n" for n in range(20))
import_lines(Campaign.objects.get(), "topics", "topics", lines, None)
"""
ASK = """
from assessor.campaigns.models import Campaign
from assessor.exports import actions
from assessor.exports.registry import BY_NAME
actions.ask_for(campaign=Campaign.objects.get(), kind=BY_NAME["topics"], options={}, acting_user=None)
"""
GRADES = "".join(f"t{n % 20} 0 d{n} {n % 4}\n" for n in range(15_000))


@pytest.fixture
def made(db: None, store: ObjectStore, tmp_path: Path) -> Iterator[House]:
    with house(tmp_path / "installation", "embedded://") as made:
        made.env |= store.env()
        yield made


def last(made: House, table: str, columns: str) -> tuple[object, ...]:
    return made.rows(f"select {columns} from {table} order by id desc limit 1")[0]


def test_an_import_whose_worker_is_killed_is_done_by_the_next(made: House, store: ObjectStore):
    token = made.run(SET_UP + TOPICS).strip()
    address = f"{made.start_web()}/api/v1/campaigns/study/imports?kind=qrels&source=NIST&by=people"
    with urlopen(Request(address, GRADES.encode(), {"Authorization": f"Bearer {token}"})) as response:
        assert response.status == 202
    [name] = store.names()
    assert name == f"assay/uploads/{last(made, 'campaigns_import', 'upload')[0]}"

    def writes() -> bool:
        is_writing = last(made, "campaigns_import", "state, stage") == ("running", "writing")
        return is_writing and last(made, "campaigns_import", "(select count(*) from campaigns_grade)") > (0,)

    worker = made.start_worker("celery")
    wait_until(writes, "grades are being written", 60)
    kill_all_of(worker)
    assert last(made, "campaigns_import", "state, attempts") == ("running", 1)
    assert store.names() == [name]
    made.start_worker("celery")
    wait_until(lambda: last(made, "campaigns_import", "state") == ("done",), "the next one has imported it", 120)
    assert last(made, "campaigns_import", "attempts, (select count(*) from campaigns_grade)") == (2, 15_000)
    wait_until(lambda: store.names() == [], "the file is gone", 30)
    assert not any((Path(made.env["ASSAY_DATA_DIR"]) / "uploads").iterdir())


def test_an_export_whose_worker_is_killed_while_it_is_stored_is_made_by_the_next(
    made: House, store: ObjectStore, tmp_path: Path
):
    made.run(SET_UP + TOPICS + ASK)
    store.hold(lambda method, path: method == "PUT" and "/exports/" in path)
    worker = made.start_worker("celery")
    assert store.arrived.wait(60)
    kill_all_of(worker)
    store.go_on()
    assert last(made, "exports_export", "state, attempts") == ("running", 1)
    assert store.names() == []
    made.start_worker("celery")
    wait_until(lambda: last(made, "exports_export", "state") == ("done",), "the next one has made it", 120)
    [name] = store.names()
    assert name.endswith(".2.export")
    made.manage("export_topics", "study", "--output", str(tmp_path / "topics"))
    there = store.client.get_object(Bucket=BUCKET, Key=name)["Body"].read()
    assert there == (tmp_path / "topics").read_bytes()
    assert there.count(b"\n") == 20
