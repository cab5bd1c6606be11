"""Tables for people: a spreadsheet must take no cell for a formula."""

import csv
from decimal import Decimal

import pytest

from assessor.campaigns.models import Campaign
from assessor.formats.tables import write_table


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_a_cell_that_begins_like_a_formula_gets_an_apostrophe(start: str):
    line = list(write_table(["a", "b"], [[f"{start}1+1", f"x{start}"]]))[1]
    assert next(csv.reader([line])) == [f"'{start}1+1", f"x{start}"]


def test_so_does_a_record_whose_name_does_and_no_number():
    rows = [[Campaign(name="=1+1"), -1, -1.5, Decimal("-2")]]
    assert list(write_table(["a", "b", "c", "d"], rows))[1] == "'=1+1,-1,-1.5,-2\n"


def test_cells_are_quoted_where_they_must_be_and_nothing_is_an_empty_cell():
    rows = [['a "b", c', None, 0], ["two\nlines", "é", True]]
    assert "".join(write_table(["one", "two", "three"], rows)) == (
        'one,two,three\n"a ""b"", c",,0\n"two\nlines",é,True\n'
    )
