"""What the tests of imports and exports share: good files, and ways to show that a bad one left nothing behind."""

from collections.abc import Callable
from typing import Any

import pytest

from assessor.accounts.models import Person
from assessor.campaigns.actions import create_campaign
from assessor.campaigns.models import Campaign, Import, RunAlias
from assessor.imports.importer import _BROUGHT

Lines = list[str]


@pytest.fixture
def other_campaign(olga: Person) -> Campaign:
    """Another empty campaign, to import into what was exported."""
    return create_campaign(name="Other", slug="other", acting_user=olga)


@pytest.fixture
def rows(db: None) -> Callable[[], dict[str, int]]:
    """Count all rows that imports can bring, visible or not."""

    def count() -> dict[str, int]:
        models = [leftovers(Import.objects.none()).model for leftovers in _BROUGHT]
        counts = {model.__name__: model._base_manager.count() for model in models}
        return counts | {"RunAlias": RunAlias.objects.count()}

    return count


def told(import_record: Import) -> list[tuple[int, str, str, str]]:
    """Return the errors of an import's report: line, field, found, expected."""
    return [(e["line"], e["field"], e["found"], e["expected"]) for e in import_record.report["errors"]]


def warned(import_record: Import) -> dict[str, list[tuple[int, str, str, str]]]:
    """Return the warnings of an import's report by kind."""
    return {
        warning["kind"]: [(w["line"], w["field"], w["found"], w["expected"]) for w in warning["listed"]]
        for warning in import_record.report["warnings"]
    }


@pytest.fixture
def refuses(import_file: Any, rows: Any) -> Callable[..., None]:
    """Show that one bad line, behind good ones, gets a file refused with exactly this error and leaves nothing.

    The same file without that line is imported, so that nothing else can have been the reason.
    """

    def show(campaign: Campaign, kind: str, good: Lines, bad: str, error: tuple[str, str, str], **options: Any) -> None:
        before = rows()
        start = "".join(line + "\n" for line in good)
        refused = import_file(campaign, kind, start + bad + "\n", **options)
        assert told(refused) == [(len(good) + 1, *error)]
        assert refused.report["error_count"] == 1
        assert refused.state == Import.State.REFUSED
        assert rows() == before
        assert not refused.has_leftovers
        assert import_file(campaign, kind, start, **options).state == Import.State.DONE
        assert rows() != before

    return show
