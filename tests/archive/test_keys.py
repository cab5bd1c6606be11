"""No JSON of a campaign holds a key of the database: archives have it as it is, and it is true in every database."""

import pytest

from assessor.archive.registry import KEPT
from assessor.campaigns.models import Campaign
from tests.keys import far_keys, json_columns, keys_in  # noqa: F401  # fixture

# Before any other fixture makes a record.
pytestmark = pytest.mark.usefixtures("far_keys")


def test_no_json_of_a_campaign_holds_a_key(computed: Campaign):
    found = json_columns(kept.model for kept in KEPT)
    with_keys = {one.partition(":")[0] for one in keys_in(found)}
    replaced = {f"{kept.label}.{name}" for kept in KEPT for name in kept.keys} & found.keys()
    assert with_keys == replaced | {"metaeval.calculation.inputs"}, "\n".join(keys_in(found))
