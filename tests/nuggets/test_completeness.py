"""What organizers read of a bank's completeness, and nobody else."""

import re
from html import unescape

import pytest
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.models import Protocol
from nuggets.completeness import completeness
from nuggets.drafting import Step
from nuggets.models import NuggetBank
from nuggets.queries import nuggets_in_order
from tests.conftest import client_of
from tests.nuggets.conftest import A, B, C, fill, url
from tests.nuggets.model import draft, make_condition, make_model

READ = [f"d{number}" for number in range(1, 11)]


@pytest.fixture
def attested(bank: NuggetBank) -> NuggetBank:
    """Anna's bank: a rests on one passage, b on two, of ten that were read, c on none."""
    fill(bank, (A, "a", "vital"), (B, "b", "okay"), (C, "c", "okay"))
    for uid, docids in ((A, ["d1"]), (B, ["d1", "d1", "d2"])):
        evidence = [{"docid": docid, "start": None, "end": None} for docid in docids]
        bank.nuggets.filter(uid=uid).update(evidence=evidence)
    bank.refresh_from_db()
    return bank


def told(bank: NuggetBank) -> str:
    found = completeness(bank, nuggets_in_order(bank), READ).by_passages
    return f"{found.total} of {found.seen} {found.why}".strip()


def test_passages_that_state_nuggets_tell_how_many_there_are(attested: NuggetBank):
    found = completeness(attested, nuggets_in_order(attested), READ)
    # Q1 = 1, Q2 = 1: one that is stated once tells of no more.
    assert (told(attested), found.passages, found.unattested) == ("2.0 of 2", 10, 1)
    attested.nuggets.filter(uid=C).update(evidence=[{"docid": "else", "start": None, "end": None}])
    # Q1 = 2: 3 + 10/11 * 2 * 1 / (2 * 2); a passage that is evidence was read.
    found = completeness(attested, nuggets_in_order(attested), READ)
    assert (found.by_passages.total, found.passages) == (pytest.approx(3 + 10 / 11 / 2), 11)


def test_nothing_is_told_of_a_list_that_is_full_or_without_evidence(attested: NuggetBank):
    Protocol.objects.update(max_nuggets=3)
    bank = NuggetBank.objects.get(pk=attested.pk)
    assert told(bank) == "None of 2 the list is as long as it may be"
    Protocol.objects.update(max_nuggets=30)
    attested.nuggets.update(evidence=[])
    bank = NuggetBank.objects.get(pk=attested.pk)
    assert told(bank) == "None of 0 no nugget has evidence"


def by_windows(bank: NuggetBank, steps: list[Step]) -> str:
    bank.drafting.steps = [step.as_json() for step in steps]
    found = completeness(bank, nuggets_in_order(bank), READ)
    assert found.by_windows is not None
    total = found.by_windows.total
    return f"{found.windows} {total and round(total, 6)} {found.by_windows.why}".strip()


def test_windows_tell_how_many_are_not_found_yet(bank: NuggetBank):
    condition = make_condition(make_model(bank.condition.campaign), "AutoNuggets")
    draft(condition, [bank.topic], ["a"])
    drafted = NuggetBank.objects.get(condition=condition)
    lists = [list("abcd"), list("abcdef"), list("abcdefg")]
    steps = [Step([f"d{number}"], texts) for number, texts in enumerate(lists)]
    # Half of what is left in each window: 7 of 8.
    assert by_windows(drafted, steps) == "[4, 2, 1] 8.0"
    assert by_windows(drafted, steps[:2]) == "[4, 2] None fewer than three windows"
    Protocol.objects.update(max_drafts=7)
    drafted.condition.refresh_from_db()
    assert by_windows(drafted, steps) == "[4, 2, 1] None the list is as long as it may be"


def page(person: Person, bank: NuggetBank) -> str:
    text = Client.get(client_of(person), url(bank, "editor")).content.decode()
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split())


def test_organizers_read_it_below_the_bank_and_its_maker_does_not(attested: NuggetBank, olga: Person, anna: Person):
    assert "By passages at least 2 Chao2 over" in page(olga, attested)
    assert "2 nuggets with evidence, 1 without left out" in page(olga, attested)
    # Its maker reads the finished bank on the same page.
    NuggetBank.objects.filter(pk=attested.pk).update(state="finished")
    assert "Completeness" in page(olga, attested)
    assert "Completeness" not in page(anna, attested)
