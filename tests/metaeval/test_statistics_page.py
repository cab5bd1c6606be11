"""The examples of the page on statistics give what it says."""

import doctest

from django.conf import settings

PAGE = settings.BASE_DIR / "docs" / "researcher" / "statistics.md"


def test_the_examples_give_what_the_page_says():
    found = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.attempted > 1
    assert found.failed == 0
