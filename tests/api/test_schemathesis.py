"""The API against its own description: whatever is asked, it answers as it says that it does.

The same examples each time.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign
from tests.api.conftest import sending
from tests.api.test_access import SENT, TABLE, keys
from tests.examples import examples

EXAMPLES = examples(4, 50)  # of each address, asked rightly and wrongly
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
KINDS = {
    "list_nuggets": "nuggets",
    "list_questions": "questions",
    "list_question_grades": "grading",
    "list_argue_judgments": "argue",
    "list_support": "support",
    "list_preferences": "preference",
    "list_topic_scores": "support",
}
# What an address asks for in any case.
NEEDED = {"send_import": {"kind": "support", "condition": "Pipeline", "by": "model"}}


@pytest.fixture
def application() -> Iterator[Any]:
    """The whole application, in the transaction of the test: as Django's own client, it leaves the connection open."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield get_wsgi_application()
    for signal in signals:
        signal.connect(close_old_connections)


def test_the_api_answers_as_it_is_described(
    study: Campaign, olga: Person, secrets: dict[str, str], settings: Any, application: Any, tmp_path: Path
):
    settings.API_REQUESTS_A_MINUTE, settings.DATA_DIR = 10**9, tmp_path
    (tmp_path / "uploads").mkdir()
    known = keys(study)
    sends, own_import = sending(study, olga)
    schema = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", application)
    found: dict[str, set[int]] = {}
    for result in schema.get_all_operations():
        operation = result.ok()
        name = operation.definition.raw["operationId"]
        condition = known[KINDS.get(name, "assignment")]
        secret = sends if name in SENT else secrets["organizer"]
        there = {"slug": "study", "condition_id": condition, "source_id": known["source"]}
        there["import_id"] = own_import
        there |= {f"{what}_id": known[what] for what in ("comparison", "hybrid", "calibration")}
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            found.setdefault(name, set()).update(answered(operation, mode, there, NEEDED.get(name, {}), secret))
    assert set(found) == {*TABLE, *SENT}
    assert {name for name, statuses in found.items() if not {200, 202} & statuses} == set(), found
    assert set.union(*found.values()) <= {200, 202, 401, 404, 411, 422}
    assert {404, 422} <= set.union(*found.values())


def answered(
    operation: Any, mode: GenerationMode, there: dict[str, Any], needed: dict[str, str], secret: str
) -> set[int]:
    """Ask an address in many ways, every other time with keys of what is there; return what the statuses were."""
    statuses = set()

    @hypothesis_settings(
        max_examples=EXAMPLES, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(case=operation.as_strategy(generation_mode=mode), is_elsewhere=st.booleans(), has_query=st.booleans())
    def ask(case: Any, is_elsewhere: bool, has_query: bool) -> None:
        if not is_elsewhere:
            case.path_parameters = {name: there[name] for name in case.path_parameters or {}}
        if not has_query and mode == GenerationMode.POSITIVE:
            case.query = {**needed}
        response = case.call(headers={"Authorization": f"Bearer {secret}"})
        case.validate_response(response, checks=CHECKS)
        statuses.add(response.status_code)

    ask()
    return statuses
