"""Exports, releases and freezing while other people save: on SQLite, whoever reads can't write once they did."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns import exports as collection
from assessor.exports import actions, progress
from assessor.exports.models import Export, Frozen
from assessor.exports.registry import BY_NAME
from assignment import exports
from tests.assignment.lines import line
from tests.stored_files import files_of_exports

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _own_folder_and_signs_of_life_all_the_time(settings, tmp_path, monkeypatch):
    settings.DATA_DIR = tmp_path
    (tmp_path / "exports").mkdir()
    monkeypatch.setattr(progress, "_SIGN_OF_LIFE", 0)


@pytest.fixture
def labelled(campaign, import_file):
    """A condition with the labels of three answers on one topic."""
    lines = [line(run_id=run, text=f"Of {run}.") for run in ("r1", "r2", "r3")]
    assert import_file(campaign, "assignments", lines, condition="Mia", by="model").state == "done"
    return campaign.conditions.get(name="Mia")


def in_a_thread(do: Callable[[], Any]) -> None:
    def run() -> None:
        try:
            do()
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


def save() -> None:
    Person.objects.update(first_name=str(timezone.now()))


@pytest.fixture
def meanwhile(monkeypatch) -> Callable[[Callable[[], Any]], None]:
    """Have something done by another one while assignments or grades are read, a row at a time."""

    def wrap(do: Callable[[], Any]) -> None:
        monkeypatch.setattr("assignment.exports._AT_A_TIME", 1)
        monkeypatch.setattr("assessor.campaigns.exports._AT_A_TIME", 1)

        def between(lines: Callable[..., Iterator[str]]) -> Callable[..., Iterator[str]]:
            def read(*args: Any, **more: Any) -> Iterator[str]:
                for one in lines(*args, **more):
                    in_a_thread(do)
                    yield one

            return read

        def before(write: Callable[..., str]) -> Callable[..., str]:
            def written(*args: Any) -> str:
                in_a_thread(do)
                return write(*args)

            return written

        monkeypatch.setattr(exports, "write_sheet", before(exports.write_sheet))
        monkeypatch.setattr(collection, "qrels_lines", between(collection.qrels_lines))

    return wrap


def test_a_file_is_made_while_others_save(campaign, meanwhile):
    meanwhile(save)
    export = actions.ask_for(campaign=campaign, kind=BY_NAME["qrels"], options={"of": "NIST"}, acting_user=None)
    done = actions.run(export)
    assert (done.state, done.why, done.records) == ("done", "", 6)


def test_a_release_is_made_while_others_save(labelled, meanwhile):
    meanwhile(save)
    done = actions.run(actions.ask_for_release(campaign=labelled.campaign, condition=None, acting_user=None))
    assert (done.state, done.why) == ("done", "")


def test_a_condition_is_frozen_while_others_save(labelled, meanwhile):
    meanwhile(save)
    done = actions.run(actions.ask_to_freeze(condition=labelled, acting_user=None))
    assert (done.state, done.why, Frozen.objects.count()) == ("done", "", 1)


@pytest.mark.parametrize("kind", ["qrels", "release", "freeze"])
def test_what_is_stopped_stops(labelled, meanwhile, kind):
    if kind == "qrels":
        options = {"of": "NIST"}
        export = actions.ask_for(campaign=labelled.campaign, kind=BY_NAME[kind], options=options, acting_user=None)
    elif kind == "release":
        export = actions.ask_for_release(campaign=labelled.campaign, condition=None, acting_user=None)
    else:
        export = actions.ask_to_freeze(condition=labelled, acting_user=None)
    meanwhile(lambda: actions.stop(export=export, acting_user=None))
    assert actions.run(export).state == "stopped"
    assert not Frozen.objects.exists()
    assert files_of_exports() == []


def test_a_download_gives_signs_of_life_and_breaks_off_while_others_save(campaign, olga, meanwhile):
    meanwhile(save)
    given = {"campaign": campaign, "kind": BY_NAME["qrels"], "options": {"of": "NIST"}, "acting_user": olga}
    export, sent = actions.send(**given)
    Export.objects.update(alive_at=None)
    assert len([next(sent), next(sent)]) == 2
    in_a_thread(export.refresh_from_db)  # here it is as it was when the reading began
    assert export.alive_at is not None
    assert export.records == 2
    sent.close()
    export.refresh_from_db()
    assert (export.state, export.why) == ("stopped", "The download broke off.")
    export, sent = actions.send(**given)
    assert len(list(sent)) == 6
    export.refresh_from_db()
    assert (export.state, export.records) == ("done", 6)


def test_a_download_whose_record_was_given_up_is_whole_all_the_same(campaign, olga, monkeypatch):
    monkeypatch.setattr(progress, "_SIGN_OF_LIFE", 60)
    kind = BY_NAME["qrels"]
    export, sent = actions.send(campaign=campaign, kind=kind, options={"of": "NIST"}, acting_user=olga)
    actions.stop(export=export, acting_user=None)
    assert len(list(sent)) == 6
    export.refresh_from_db()
    assert (export.state, export.manifest) == ("stopped", "")


def test_what_a_killed_process_froze_is_done(labelled, monkeypatch):
    export = actions.ask_to_freeze(condition=labelled, acting_user=None)
    freeze = actions.freeze

    def killed(**given: Any) -> None:
        freeze(**given)
        raise SystemExit

    monkeypatch.setattr(actions, "freeze", killed)
    with pytest.raises(SystemExit):
        actions.run(export)
    assert actions.sweep() == []
    export.refresh_from_db()
    assert (export.state, export.manifest) == ("done", Frozen.objects.get().manifest)


def test_what_is_stopped_at_the_last_moment_is_not_frozen(labelled, monkeypatch):
    monkeypatch.setattr(progress, "_SIGN_OF_LIFE", 60)
    export = actions.ask_to_freeze(condition=labelled, acting_user=None)
    freeze = actions.freeze

    def slow(**given: Any) -> Frozen:
        actions.stop(export=export, acting_user=None)
        return freeze(**given)

    monkeypatch.setattr(actions, "freeze", slow)
    assert actions.run(export).state == "stopped"
    assert not Frozen.objects.exists()
