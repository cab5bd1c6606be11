"""People, a small campaign and ways to import, for all tests."""

import gzip
import hashlib
import json
import shutil
import string
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.management import create_contenttypes
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.db.models.signals import post_migrate, post_save
from django.middleware import csrf
from django.test import Client
from django.utils import timezone
from kombu import Queue
from pytest_django.plugin import DjangoDbBlocker

from assessor.accounts.models import Person
from assessor.campaigns.actions import create_campaign
from assessor.campaigns.models import Campaign, Condition, Import, Membership, Role, Topic
from assessor.celery import app
from assessor.imports import importer, tasks
from assessor.runtime import logs
from assessor.runtime.garbage import freeze_what_is_loaded
from assessor.work.actions import give_tasks, guidelines
from assessor.work.models import Installation, Task
from nuggets.actions import create_manual_nuggets
from nuggets.models import NuggetBank
from tests import examples  # noqa: F401  # sets how many
from tests.kept_fixtures import pytest_fixture_setup, pytest_runtest_protocol  # noqa: F401
from tests.llm.house import TEMPLATE

TOPICS = "t1\twhy do cats purr\nt2\thow is glass recycled\n"
QRELS = "t1 0 d1 3\nt1 0 d2 1\nt1 0 d3 0\nt1 0 d4 2\nt2 0 d1 0\nt2 0 d5 2\n"
SEGMENTS = [
    {"docid": "d1", "title": "Purring", "segment": "Cats purr when content. Some purr when in pain."},
    {"docid": "d2", "title": "Cats", "headings": "Cats / Voices", "segment": "Cats have many voices."},
    {"docid": "d3", "title": "Dogs", "segment": "Dogs bark."},
    {"docid": "d5", "title": "Glass", "segment": "Glass is sorted by colour and melted."},
]
PASSWORD = "a good long password"
_EVERYWHERE = "Assessor"  # the last name of who assesses in every campaign
# What make_person() makes.
ASSESSOR, ORGANIZER, ADMINISTRATOR = "assessor", "organizer", "administrator"
# Marked `database`: what may differ between databases. What a model answers, what a page says and how many queries it
# asks do not, and tests of jobs commit only because jobs have threads.
DATABASE = (
    # Archives and files, whose bytes are the same on both.
    "tests/archive/test_keys.py",
    "tests/archive/test_registry.py",
    "tests/archive/test_roundtrip.py",
    "tests/exports/test_beside_writers.py",
    "tests/exports/test_blobs.py",
    "tests/exports/test_cutoff.py",
    "tests/exports/test_exports.py",
    "tests/nuggets/test_exports.py",
    "tests/assignment/test_export.py",
    "tests/support/test_export.py",
    # Scores, and the SQL that counts labels.
    "tests/assignment/test_leaderboards.py",
    "tests/assignment/test_rows.py",
    "tests/assignment/test_scores.py",
    "tests/assignment/test_tables.py",
    "tests/support/test_pairs.py",
    "tests/support/test_tables.py",
    # Constant queries where they are written for the database, and the prepared query behind every label.
    "tests/api/test_lists.py::test_no_list_asks_more_of_a_longer_page",
    "tests/api/test_replica.py",
    "tests/assignment/test_auto.py::test_it_asks_as_few_queries",
    "tests/assignment/test_labelling.py",
    "tests/nuggets/test_queries.py",
    "tests/plan/test_changes.py",
    "tests/reports/test_editing.py",
    "tests/relevance/test_umbrela.py::test_units_and_estimate_take_as_many_queries",
    "tests/relevance/test_umbrela.py::test_a_batch_is_stored_with_as_many_queries",
    "tests/studies/test_results.py::test_pages_ask_no_more",
    "tests/support/test_auto.py::test_it_asks_as_few_queries",
    "tests/support/test_equal_pairs.py::test_sent_twice_it_counts_once",
    "tests/support/test_judging.py",
    # Locks, claims and races.
    "tests/accounts/test_races.py",
    "tests/accounts/test_throttling.py",
    "tests/api/test_lists.py::test_lines_come_to_their_end_while_others_save",
    "tests/desk/test_organizer.py::test_the_demo_is_loaded_once",
    "tests/labels/test_kept_states.py",
    "tests/labels/test_label_races.py",
    "tests/labels/test_registration_races.py",
    "tests/nuggets/test_races.py",
    "tests/imports/test_importing.py",
    "tests/llm/test_batches_killed.py",
    "tests/llm/test_claims.py",
    "tests/llm/test_jobs.py::test_failed_units_are_not_retried_beside_another_job",
    "tests/llm/test_jobs.py::test_runners_beside_each_other",
    "tests/llm/test_jobs.py::test_two_jobs_of_one_condition",
    "tests/llm/test_jobs.py::test_while_the_database_takes_nothing",
    "tests/llm/test_killed.py",
    "tests/llm/test_limits.py",
    "tests/llm/test_preparation.py",
    "tests/llm/test_trials.py",
    "tests/assignment/test_auto.py::test_labels_of_texts_that_were_changed_while",
    "tests/metaeval/test_calibration_killed.py",
    "tests/metaeval/test_comparisons.py::test_a_calculation_whose_database_went_away",
    "tests/metaeval/test_comparisons.py::test_a_worker_computes_what_waits_once",
    "tests/notices/test_killed.py",
    "tests/notices/test_sending.py",
    "tests/relevance/test_queue.py",
    "tests/studies/test_allocation.py::test_of_both_sides",
    "tests/studies/test_allocation.py::test_of_two_studies",
    "tests/support/test_auto.py::test_two_runners_of_a_limited_judge",
    "tests/work/test_prepared.py",
    "tests/work/test_queue.py",
    "tests/work/test_tasks.py",
    "tests/work/test_time.py",
    "tests/work/test_writes.py",
    # Constraints, migrations, connections and the planner.
    "tests/deploy/test_health.py",
    "tests/test_clock.py",
    "tests/test_migrated.py",
    "tests/test_planner.py",
    "tests/test_side_by_side.py",
)
CHECKOUT = hashlib.sha256(str(settings.BASE_DIR).encode()).hexdigest()[:8]


def pytest_collection(session: pytest.Session) -> None:
    """Each process imports a share of the modules first: how pytest rewrote their asserts is kept for the others."""
    config = session.config
    if not hasattr(config, "workerinput") or config.args != config.getini("testpaths") or config.option.markexpr:
        return
    number, processes = int(config.workerinput["workerid"][2:]), config.workerinput["workercount"]
    paths = (path.relative_to(settings.BASE_DIR) for path in Path(__file__).parent.rglob("test_*.py"))
    ours = sorted(path for path in paths if "browser" not in path.parts)
    for path in ours[number::processes]:
        with suppress(Exception):  # collection will say it
            import_module(".".join(path.with_suffix("").parts))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Looking through all that was imported again and again took one second of twenty."""
    freeze_what_is_loaded()


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(settings.DATA_DIR, ignore_errors=True)


# What takes longest begins first, so that no process is left alone with it at the end.
LONGEST = (
    "tests/test_golden.py",
    "tests/llm/test_killed.py",
    "tests/imports/test_import_killed.py",
    "tests/assignment/test_auto.py::test_labels_of_texts_that_were_changed_while",
    "tests/metaeval/test_calibration_killed.py",
    "tests/metaeval/test_comparisons.py::test_a_calculation_whose_database_went_away",
    "tests/metaeval/test_comparisons.py::test_a_worker_computes_what_waits_once",
    "tests/test_beat.py",
    "tests/test_broker.py",
    "tests/desk/test_query_counts.py",
    "tests/test_published.py",
)


def _may_hold_database_tests(path: Path) -> bool:
    name = path.relative_to(settings.BASE_DIR).as_posix()
    return name.startswith(DATABASE) or any(each.startswith(f"{name}::") for each in DATABASE)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """To find the `database` tests, three files of four need not be imported: that took each process 6 s."""
    is_left_out = config.option.markexpr == "database" and collection_path.suffix == ".py"
    return True if is_left_out and not _may_hold_database_tests(collection_path) else None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """On PostgreSQL only what has to do with a database runs: the rest is the same as on SQLite, and ran there."""
    for item in items:
        if item.nodeid.startswith(DATABASE):
            item.add_marker("database")
    if settings.DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
        ours = {"db", "transactional_db"}
        kept = [one for one in items if one.get_closest_marker("django_db") or ours & set(one.fixturenames)]  # type: ignore[attr-defined]
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept
    yield  # tests are chosen by their marks
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


# The installation has digits for a name: a test of what a page must not say meets no word there by chance.
Installation._meta.get_field("key").default = UUID(int=0)


# Tables that no test changes: after each test of transactions, filling them anew took a tenth of its time.
KEPT = {ContentType._meta.db_table, Permission._meta.db_table}
_empty_all = connection.ops.sql_flush


def _emptying(self: Any, style: Any, tables: list[str], **how: Any) -> list[str]:
    tables = [table for table in tables if table not in KEPT]
    if connection.vendor == "sqlite":
        return _empty_all(style, tables, **how)
    # TRUNCATE would make the files of all tables anew, however few rows they have.
    return [" ".join(f"DELETE FROM {self.quote_name(table)};" for table in tables)]


type(connection.ops).sql_flush = _emptying  # type: ignore[method-assign]


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """On PostgreSQL each checkout has databases of its own, so that two can run tests on one server."""
    test = connection.settings_dict["TEST"]
    if connection.vendor == "postgresql":
        test["NAME"] = f"{test['NAME'] or 'test_' + connection.settings_dict['NAME']}_{CHECKOUT}"


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """On PostgreSQL there is a template of the database (see house.py)."""
    # These fill what is never emptied (see KEPT), and would ask whether it is full after each test of transactions.
    post_migrate.disconnect(create_contenttypes)
    post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")
    if connection.vendor == "sqlite":
        yield
        return
    with django_db_blocker.unblock():
        connection.creation.clone_test_db(TEMPLATE, verbosity=0)
    yield
    with django_db_blocker.unblock():
        connection.creation.destroy_test_db(suffix=TEMPLATE, verbosity=0)


@pytest.fixture(autouse=True)
def _plain_static_files(settings: Any) -> None:
    """Templates name static files without the manifest that only a deployment makes."""
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }
    # The real hashes are slow on purpose.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def _tokens_without_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forms' random tokens are digits: among letters, a test of what a page must not say meets its word by chance."""
    monkeypatch.setattr(csrf, "CSRF_ALLOWED_CHARS", string.digits)


@pytest.fixture(autouse=True)
def _requests_of_one_id(monkeypatch: pytest.MonkeyPatch) -> None:
    """All requests have one id: answers that must not differ in anything else are compared byte by byte."""
    monkeypatch.setattr(logs, "new_id", lambda: "0" * 32)


@pytest.fixture
def empty_queues() -> None:
    """No hints of other tests wait, of which a queue keeps few."""
    with app.connection_for_write() as waiting:
        for name in ("celery", "jobs"):
            Queue(name)(waiting.channel()).purge()


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Let a worker run the imports that it was handed to their end."""
    handed: list[int] = []
    monkeypatch.setattr(tasks.run_import, "delay", handed.append)

    def do() -> None:
        while handed:
            tasks.run_import.run(handed.pop())

    return do


def make_person(name: str, *roles: str) -> Person:
    """Make a person. Assessors belong to every campaign, present and to come; an organizer organizes none yet."""
    person = Person.objects.create_user(name, password=PASSWORD, is_superuser=ADMINISTRATOR in roles)
    if ASSESSOR in roles:
        make_assessor(person)
    return person


def make_assessor(person: Person) -> None:
    """Make a person an assessor of every campaign, present and to come."""
    Person.objects.filter(pk=person.pk).update(last_name=_EVERYWHERE)
    for campaign in Campaign.objects.all():
        Membership.objects.create(campaign=campaign, person=person, role=Role.ASSESSOR)


def end_roles(person: Person) -> None:
    """End all roles of a person."""
    person.memberships.update(until=timezone.now())
    Person.objects.filter(pk=person.pk).update(is_superuser=False)


def _joined_by_assessors(instance: Campaign, created: bool, **_: Any) -> None:
    if created:
        people = Person.objects.filter(last_name=_EVERYWHERE)
        Membership.objects.bulk_create(
            Membership(campaign=instance, person=person, role=Role.ASSESSOR) for person in people
        )


post_save.connect(_joined_by_assessors, sender=Campaign)


@pytest.fixture
def anna(db: None) -> Person:
    """The assessor whose work it is."""
    return make_person("anna", ASSESSOR)


@pytest.fixture
def ben(db: None) -> Person:
    """Another assessor: a stranger to Anna's work."""
    return make_person("ben", ASSESSOR)


@pytest.fixture
def olga(db: None) -> Person:
    """The organizer of the campaign."""
    return make_person("olga", ORGANIZER)


@pytest.fixture
def otto(db: None) -> Person:
    """An organizer of nothing here."""
    return make_person("otto", ORGANIZER)


@pytest.fixture
def admin(db: None) -> Person:
    return make_person("admin", ADMINISTRATOR)


def open_guidelines(person: Person, campaign: Campaign, kind: str) -> None:
    """Have a person open the guidelines in force for a kind of work, as the button on their page does."""
    version = guidelines.in_force(campaign, kind).version
    guidelines.open_guidelines(campaign=campaign, kind=kind, version=version, acting_user=person)


def _opened_with_task(sender: Any, instance: Task, created: bool, **_: Any) -> None:
    if created:
        open_guidelines(instance.person, instance.campaign, instance.kind)


@pytest.fixture(autouse=True)
def _guidelines_are_open(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whoever is given a topic has opened the guidelines for it, unless a test is about that (mark `unread`)."""
    if request.node.get_closest_marker("unread"):
        yield
        return
    post_save.connect(_opened_with_task, sender=Task)
    yield
    post_save.disconnect(_opened_with_task, sender=Task)


def client_of(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


@pytest.fixture
def empty_campaign(olga: Person) -> Campaign:
    """A campaign without anything in it."""
    return create_campaign(name="Study", slug="study", acting_user=olga)


Importer = Callable[..., Import]


@pytest.fixture
def import_file(tmp_path: Path) -> Importer:
    """Import content (text, bytes or JSON objects) into a campaign, and return the import with its report."""

    def do(
        campaign: Campaign,
        kind: str,
        content: str | bytes | list[Any],
        *,
        name: str = "file",
        check_only: bool = False,
        gz: bool = False,
        **options: str,
    ) -> Import:
        if isinstance(content, list):
            content = "".join(json.dumps(record) + "\n" for record in content)
        data = content.encode() if isinstance(content, str) else content
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if gz else data)
        import_record = importer.new_import(
            campaign=campaign, kind=kind, file_name=name, options=options, person=None, check_only=check_only
        )
        return importer.run(import_record, path)

    return do


@pytest.fixture
def campaign(empty_campaign: Campaign, import_file: Importer) -> Campaign:
    """Two topics, four segments with text, people's grades (one for d4, whose text is not loaded)."""
    for kind, content, options in [
        ("topics", TOPICS, {}),
        ("segments", SEGMENTS, {}),
        ("qrels", QRELS, {"source": "NIST", "by": "people"}),
    ]:
        assert import_file(empty_campaign, kind, content, **options).state == Import.State.DONE
    return empty_campaign


@pytest.fixture
def condition(campaign: Campaign, olga: Person) -> Condition:
    """ManualNuggets on people's grades."""
    source = campaign.qrels_sources.get(name="NIST")
    return create_manual_nuggets(campaign=campaign, name="ManualNuggets", qrels_source=source, acting_user=olga)


@pytest.fixture
def topic(campaign: Campaign) -> Topic:
    return Topic.objects.get(campaign=campaign, qid="t1")


@pytest.fixture
def bank(condition: Condition, topic: Topic, anna: Person, olga: Person) -> NuggetBank:
    """Anna's empty bank on t1."""
    [task] = give_tasks(campaign=condition.campaign, topics=[topic], condition=condition, person=anna, acting_user=olga)
    return NuggetBank.objects.get(task=task)


@pytest.fixture
def as_anna(anna: Person) -> Client:
    return client_of(anna)
