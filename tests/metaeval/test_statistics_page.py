"""The examples of the pages on notebooks give what they say."""

import doctest

import pytest
from django.conf import settings

PAGES = settings.BASE_DIR / "docs" / "researcher"


@pytest.mark.parametrize("page", ["notebook.md", "statistics.md"])
def test_the_examples_give_what_the_page_says(page: str):
    found = doctest.testfile(
        str(PAGES / page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    )
    assert found.attempted > 1
    assert found.failed == 0
