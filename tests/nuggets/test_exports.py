"""Finished banks as JSONL."""

import json
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import call_command

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.work.actions import give_tasks
from nuggets import actions
from nuggets.actions import create_manual_nuggets
from nuggets.exports import bank_lines, condition_lines
from nuggets.models import NuggetBank
from tests.nuggets.conftest import A, B, C, do, fill

# In the order of their bytes; by language or by number they would come in another.
QIDS = ["B-1", "Z", "a", "a-1", "a1", "a10", "a2", "a_1", "b"]


@pytest.fixture
def banks(campaign: Campaign, import_file, anna: Person, olga: Person) -> list[NuggetBank]:
    """Open banks of Anna on nine topics, in the order in which the topics were loaded: backwards."""
    import_file(campaign, "topics", "".join(f"{qid}\tquery {qid}\n" for qid in reversed(QIDS)))
    import_file(campaign, "qrels", "a 0 d1 1\n", source="Second", by="people")
    source = campaign.qrels_sources.get(name="Second")
    condition = create_manual_nuggets(campaign=campaign, name="All", qrels_source=source, acting_user=olga)
    topics = list(Topic.objects.filter(qid__in=QIDS).order_by("pk"))
    assert [topic.qid for topic in topics] == QIDS[::-1]
    tasks = give_tasks(campaign=campaign, topics=topics, condition=condition, person=anna, acting_user=olga)
    return [NuggetBank.objects.get(task=task) for task in tasks]


def test_a_bank_is_one_line_in_the_fields_own_form(edited: NuggetBank, condition: Condition):
    do(edited, actions.set_importance, uid=B, importance="okay")
    do(edited, actions.reword_nugget, uid=B, text='“b” é 🐱 "</script>\\')
    do(edited, actions.move_nugget, uid=B, to=0)
    do(edited, actions.finish_bank)
    assert list(condition_lines(condition)) == [
        '{"query": "why do cats purr", "qid": "t1", "nuggets": ['
        '{"text": "“b” é 🐱 \\"</script>\\\\", "importance": "okay"}, {"text": "a", "importance": "vital"}]}\n'
    ]


def test_deleted_nuggets_are_not_exported(edited: NuggetBank, condition: Condition):
    do(edited, actions.delete_nugget, uid=A)
    do(edited, actions.finish_bank)
    [line] = condition_lines(condition)
    assert json.loads(line)["nuggets"] == [{"text": "b", "importance": "vital"}]


def test_importance_that_is_not_set_is_absent(bank: NuggetBank):
    fill(bank, (A, "a", ""), (B, "b", "okay"), (C, "c", "vital"))
    [line] = bank_lines([bank])
    nuggets = [{"text": "a"}, {"text": "b", "importance": "okay"}, {"text": "c", "importance": "vital"}]
    assert json.loads(line) == {"query": "why do cats purr", "qid": "t1", "nuggets": nuggets}


def test_only_finished_banks_of_the_condition_are_exported(
    banks: list[NuggetBank], edited: NuggetBank, condition: Condition
):
    [first, second, *_] = banks
    for bank in (first, second):
        fill(bank, (uuid4(), "n", "okay"))
    assert list(condition_lines(first.condition)) == []
    do(second, actions.finish_bank)
    assert [json.loads(line)["qid"] for line in condition_lines(first.condition)] == [second.topic.qid]
    assert list(condition_lines(condition)) == []
    do(edited, actions.finish_bank)
    assert [json.loads(line)["qid"] for line in condition_lines(condition)] == ["t1"]
    assert [json.loads(line)["qid"] for line in condition_lines(first.condition)] == [second.topic.qid]


def test_lines_come_in_byte_order_of_the_topic_and_twice_the_same(banks: list[NuggetBank]):
    for bank in banks:
        fill(bank, (uuid4(), bank.topic.qid, "okay"))
        do(bank, actions.finish_bank)
    condition = banks[0].condition
    lines = list(condition_lines(condition))
    assert [json.loads(line)["qid"] for line in lines] == QIDS
    assert [json.loads(line)["nuggets"][0]["text"] for line in lines] == QIDS
    assert list(condition_lines(condition)) == lines


def test_the_command_writes_the_same_lines(finished: NuggetBank, condition: Condition):
    out = StringIO()
    call_command("export_nuggets", "study", "--condition=ManualNuggets", stdout=out)
    assert out.getvalue() == "".join(condition_lines(condition))
    assert out.getvalue().count("\n") == 1
