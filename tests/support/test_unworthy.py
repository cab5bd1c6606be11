"""Sentences that a file marks as not worth verifying are left out of recall, if the protocol says so."""

from typing import Any

import pytest
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import change_protocol
from assessor.campaigns.models import Campaign, Condition
from assessor.runtime.process_cache import cache
from assessor.scores.leaderboards import score_lines
from metaeval.stats.means import Policy
from tests.conftest import Importer, client_of
from tests.scores.pages import get, scores_of
from tests.support.lines import FILE, FULL, NOT_JUDGED, cites, line

MARK = "verification_worthy"
LEFT_OUT = "unworthy_sentences_left_out"
RUN = {
    "run_id": "r1",
    "topic_id": "t1",
    "references": ["d1", "d2"],
    "answer": [
        {"text": "Cats purr.", "citations": [0]},
        {"text": "Hello!", "citations": [1]},
        {"text": "Hm.", "citations": []},
        {"text": "They sleep.", "citations": []},
    ],
}


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    cache.clear()


def marked(mark: Any = "0", greeting: dict[str, str] | None = None) -> dict[str, Any]:
    """Return a line: a supported sentence, a greeting, then a marked sentence and another one that cite nothing."""
    return line(
        "t1",
        "r1",
        cites("Cats purr.", d1=FULL) | {MARK: "1"},
        cites("Hello!", **(greeting if greeting is not None else {"d2": NOT_JUDGED})) | {MARK: mark},
        cites("Hm.") | {MARK: mark},
        cites("They sleep.") | {MARK: "1"},
    )


def load(campaign: Campaign, import_file: Importer, record: dict[str, Any]) -> Condition:
    assert import_file(campaign, "support", [record], **FILE).state == "done"
    return Condition.objects.select_related("campaign", "protocol").get(campaign=campaign, name=FILE["condition"])


def figures(condition: Condition) -> tuple[str, str, str]:
    """Return the weighted precision and recall of the run, and how many sentences were left out, from the CSV."""
    head, row, *_ = (one.split(",") for one in score_lines(condition, "csv", Policy.ZERO, allow_incomplete=True))
    of_run = dict(zip(head, row, strict=True))
    return of_run["weighted_precision"], of_run["weighted_recall"], of_run[LEFT_OUT]


@pytest.mark.parametrize("mark", ["0", 0, False])
def test_a_marked_sentence_that_cites_nothing_is_left_out_of_recall(
    campaign: Campaign, import_file: Importer, mark: Any
):
    # Of four sentences the greeting leaves by its label and the third by its mark.
    assert figures(load(campaign, import_file, marked(mark))) == ("1.0", "0.5", "1")


@pytest.mark.parametrize("mark", ["1", 1, True, None, "no", [0], {"0": 0}, ""])
def test_any_other_mark_leaves_it_in(campaign: Campaign, import_file: Importer, mark: Any):
    assert figures(load(campaign, import_file, marked(mark))) == ("1.0", "0.3333333333", "0")


def test_the_protocol_decides_and_page_and_files_say_so(
    campaign: Campaign, olga: Person, import_file: Importer, client: Client
):
    change_protocol(campaign=campaign, settings={"leave_out_unworthy": False}, acting_user=olga)
    condition = load(campaign, import_file, marked())
    assert figures(condition) == ("1.0", "0.3333333333", "0")
    text, _ = get(client_of(olga), scores_of(condition))
    assert "1 sentence without a judged citation is marked in the file as not worth verifying." in text
    assert "The protocol counts it in recall, as sentences that cite nothing." in text
    # Scores are those of the protocol that the condition has; another version changes nothing of them.
    change_protocol(campaign=campaign, settings={"leave_out_unworthy": True}, acting_user=olga)
    assert figures(condition) == ("1.0", "0.3333333333", "0")


def test_page_and_files_say_how_many_were_left_out(campaign: Campaign, olga: Person, import_file: Importer):
    condition = load(campaign, import_file, marked())
    assert "The protocol leaves it out of recall." in get(client_of(olga), scores_of(condition))[0]
    assert "unworthy sentences left out: 1" in "".join(score_lines(condition, "latex", Policy.ZERO))


@pytest.mark.parametrize("run_first", [True, False])
def test_a_marked_sentence_is_left_out_too_where_the_run_cites_and_the_file_judges_nothing(
    campaign: Campaign, import_file: Importer, run_first: bool
):
    """Without the mark nobody would have said anything of the citation, and the answer would be incomplete."""
    if run_first:
        assert import_file(campaign, "runs", [RUN]).state == "done"
    condition = load(campaign, import_file, marked(greeting={}))
    if not run_first:
        assert import_file(campaign, "runs", [RUN]).state == "done"
    assert figures(condition) == ("1.0", "0.5", "2")


def test_a_marked_sentence_with_a_label_counts_by_its_label(campaign: Campaign, import_file: Importer):
    assert figures(load(campaign, import_file, marked(greeting={"d2": FULL}))) == ("1.0", "0.6666666667", "1")
