"""Catalogs have what the code says, all of it translated, and are compiled."""

import re

import pytest
from babel.messages.catalog import Catalog, Message

from assessor.labels.label_kind import label_kinds
from tests.messages import LANGUAGES, compiled, in_code, kept, po_path

# What a sentence may leave to be understood, where articles would have to agree with it.
NOUNS = {f"%({name})s" for name in ("item", "items", "thing", "things", "text", "texts")}
# Of a message without a number they may differ: here they are what scripts replace, and where they replace it.
ENDING_IN_NUMBER = ("0",)


@pytest.fixture(params=LANGUAGES)
def catalog(request: pytest.FixtureRequest) -> Catalog:
    return kept(request.param)


def messages(catalog: Catalog) -> list[Message]:
    return [one for one in catalog if one.id]


def forms(text: str | tuple[str, ...] | list[str]) -> list[str]:
    return [text] if isinstance(text, str) else list(text)


def gaps(text: str) -> set[str]:
    return set(re.findall(r"%\(\w+\)s|\{\w+\}", text))


def test_a_catalog_has_what_the_code_says(catalog: Catalog):
    assert {(one.id, one.context) for one in messages(catalog)} == {
        (one.id, one.context) for one in messages(in_code())
    }, "make messages"


def test_every_message_is_translated(catalog: Catalog):
    assert len(messages(catalog)) > 800
    lacking = [one.id for one in messages(catalog) if one.fuzzy or not all(forms(one.string))]
    assert lacking == []


def test_a_translation_has_the_gaps_of_its_message(catalog: Catalog):
    for one in messages(catalog):
        for said, told in zip(forms(one.id), forms(one.string), strict=True):
            assert gaps(told) <= gaps(said), told
            assert gaps(said) - gaps(told) <= NOUNS, told


def test_a_translation_breaks_no_page(catalog: Catalog):
    """It stands in attributes, has the tags of its message, and the blanks and number at its ends."""
    for one in messages(catalog):
        for said, told in zip(forms(one.id), forms(one.string), strict=True):
            assert re.findall(r"<[^>]*>", told) == re.findall(r"<[^>]*>", said), told
            assert '"' not in told or "<" in said, told
            assert [told[0] == " ", told[-1] == " "] == [said[0] == " ", said[-1] == " "], told
            if said.endswith(" 0"):  # scripts put the number of a row there
                assert told.endswith(" 0"), told


def test_labels_are_no_messages(catalog: Catalog):
    """But for the words that kinds and answers to questions are called by, too."""
    labels = {label for kind in label_kinds() for label in kind.labels} | {"vital", "okay"}
    assert labels & {one.id for one in messages(catalog)} <= {"support", "yes", "no"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_catalog_is_compiled(language: str):
    assert po_path(language).with_suffix(".mo").read_bytes() == compiled(kept(language)), "make messages"
