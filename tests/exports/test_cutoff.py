"""The cut-off report: what was in at a moment, and what came later."""

import csv
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from assessor.exportables import ChoiceError
from assessor.exports.cutoff import cells, cutoff_lines
from assessor.exports.registry import BY_NAME
from assessor.exports.selection import choose
from assessor.labels.cutoff import Cell
from nuggets import actions as nuggets
from tests.assignment.conftest import answered, finished, manual  # noqa: F401
from tests.conftest import client_of
from tests.judging import asked, change, give, judged
from tests.nuggets.conftest import restored
from tests.relevance.conftest import give_relevance, judge_item


def at(condition, moment, **more):
    options = {"of": condition.name, "at": moment.isoformat()} | more
    return choose(condition.campaign, BY_NAME["cutoff"], options)


def found(condition, moment, **more):
    return sorted(cells(at(condition, moment, **more)))


def say(condition, tag, **said):
    sheet = judged(condition, tag)
    nuggets = asked(sheet)
    change(sheet, {nuggets[int(number.removeprefix("n"))]: what for number, what in said.items()})


@pytest.fixture
def labelled(manual, topic, anna):  # noqa: F811
    """Anna has labelled one answer, can't judge a nugget of another; and what she changed after `then`."""
    give(manual, topic, anna)
    label = {"label": "support"}
    say(manual, "team.one", n0=label, n1=label, n2=label)
    say(manual, "team.two", n0=label, n1={"cannot": "unclear"})
    then = timezone.now()
    say(manual, "team.one", n1={"label": "not_support"})
    say(manual, "team.two", n0={"label": None}, n1={"cannot": None, "label": "support"}, n2=label)
    return manual, then


def test_what_was_in_then_and_what_came_later(labelled):
    condition, then = labelled
    assert found(condition, then) == [
        Cell("t1", "team.empty", 3, 3, 0),
        Cell("t1", "team.one", 3, 3, 0),
        Cell("t1", "team.two", 3, 2, 1),
    ]
    now = found(condition, timezone.now())
    assert now[1:] == [Cell("t1", "team.one", 3, 3, 0), Cell("t1", "team.two", 3, 2, 0)]
    before = found(condition, then - timedelta(days=1))
    later = [Cell("t1", "team.empty", 3, 0, 3), Cell("t1", "team.one", 3, 0, 3), Cell("t1", "team.two", 3, 0, 2)]
    assert before == later, "what stands by a rule stands since the topic was given"
    given = condition.tasks.get().created_at
    assert found(condition, given)[0] == Cell("t1", "team.empty", 3, 3, 0)
    assert [cell.state for cell in found(condition, given)] == ["in", "later", "later"]
    assert [cell.state for cell in now] == ["in", "in", "partly in"]
    assert found(condition, then, runs=["team.one"]) == [Cell("t1", "team.one", 3, 3, 0)]


def test_the_report_is_a_table(labelled, olga):
    condition, then = labelled
    rows = list(csv.reader(cutoff_lines(at(condition, then))))
    assert rows[0] == ["condition", "kind", "topic", "run", "planned", "judged", "came_later", "open", "state"]
    assert rows[2] == ["Manual/Manual", "assignment", "t1", "team.one", "3", "3", "0", "0", "in"]
    client, moment = client_of(olga), then.isoformat().replace("+00:00", "Z")
    response = client.get(f"/campaigns/study/exports/cutoff/file/?of=Manual/Manual&at={moment}")
    assert list(csv.reader(b"".join(response.streaming_content).decode().splitlines())) == rows


def test_banks_and_passages(finished, condition, campaign, olga, ben, import_file):  # noqa: F811
    then = timezone.now()
    assert found(condition, then) == [Cell("t1", "", 1, 1, 0)]
    nuggets.reopen_bank(restored(finished), reason="a mistake", acting_user=olga)
    assert found(condition, timezone.now()) == [Cell("t1", "", 1, 1, 0)], "it was in, and came again"
    assert found(condition, then - timedelta(days=1)) == [Cell("t1", "", 1, 0, 1)]
    import_file(campaign, "retrieval", "t1 Q0 d1 1 9 one\nt1 Q0 d2 2 8 one\n")
    grading = give_relevance(campaign, ben).condition
    first, second = grading.relevance_judgments.order_by("docid")
    judge_item(first)
    moment = timezone.now()
    judge_item(second)
    assert found(grading, moment) == [Cell("t1", "", 2, 1, 1)]


def test_a_day_is_meant_to_its_end_and_no_date_is_an_error(condition):
    chosen = choose(condition.campaign, BY_NAME["cutoff"], {"of": condition.name, "at": "2026-01-31"})
    assert chosen.at.isoformat() == "2026-01-31T23:59:59.999999+00:00"
    for odd in ("tomorrow", "0001-01-01T00:00+14:00", "9999-12-31T23:00-14:00"):
        with pytest.raises(ChoiceError, match=rf"{re.escape(odd)} is no moment"):
            choose(condition.campaign, BY_NAME["cutoff"], {"of": condition.name, "at": odd})
