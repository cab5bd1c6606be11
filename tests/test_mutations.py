"""What the script of mutations breaks is there to be broken."""

import pytest

from tests.mutations import MUTATIONS, ROOT, Mutation


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.rule)
def test_each_rule_stands_once_where_it_is_said_to(mutation: Mutation):
    assert (ROOT / mutation.file).read_text().count(mutation.old) == 1
    tests = mutation.killed_by.split(" -k ")[0].split()
    assert tests
    assert all((ROOT / name).exists() for name in tests)
