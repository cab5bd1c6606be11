"""UMBRELA as a kind of job, function by function; whole jobs are run over HTTP in the tests of assessor.llm."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.actions import ConditionError, create_condition
from assessor.campaigns.exports import qrels_lines
from assessor.campaigns.models import Campaign, Condition, Grade, QrelsSource, Topic
from assessor.llm.job_kind import Grades, UnitFailure, job_kind_named
from assessor.llm.models import Job, Unit
from assessor.llm.prompts import PromptRequest, PromptSet
from assessor.llm.replies import WrongAnswer
from assessor.relevance.models import LabelEvent, RelevanceJudgment
from tests.conftest import client_of
from tests.llm.grading import make_judge

UMBRELA = job_kind_named("UMBRELA")


class CannedAsk:
    """Answers every question with the same reply, and keeps what was asked."""

    def __init__(self, prompts: PromptSet, reply: str) -> None:
        self.prompts = prompts
        self.reply = reply
        self.asked: list[str] = []

    async def __call__(self, question: PromptRequest[Any]) -> Any:
        self.asked.append(question.messages[-1]["content"])
        return question.read(self.reply)


def topics_of(campaign: Campaign) -> list[Topic]:
    return list(campaign.topics.order_by("qid"))


def units_of(condition: Condition) -> list[tuple[str, str]]:
    qids = dict(condition.campaign.topics.values_list("pk", "qid"))
    return [(qids[topic], item) for topic, _, item in UMBRELA.units(condition, topics_of(condition.campaign))]


def make_units(job: Job, places: Sequence[tuple[str, str]]) -> list[Unit]:
    topics = {topic.qid: topic for topic in job.campaign.topics.all()}
    return [Unit.objects.create(job=job, topic=topics[qid], item=docid) for qid, docid in places]


def test_it_is_known_by_its_name():
    assert (UMBRELA.condition_kind, UMBRELA.method, UMBRELA.grades) == ("relevance", "UMBRELA", Grades.NONE)


def test_an_empty_pool_is_refused_with_what_fills_it(empty_campaign: Campaign, import_file, olga: Person):
    import_file(empty_campaign, "topics", "t1\tcats\nt2\tdogs\n")
    judge = make_judge(empty_campaign)
    client = client_of(olga)
    wanted = {"kind": "UMBRELA", "judge": judge.pk, "replicate": "0"}
    lacking = "The pool has no passage of these topics. It is made of retrieval runs: load some that answer them"
    for more in ({}, {"launch": ""}):
        page = client.post(f"/campaigns/{empty_campaign.slug}/jobs/new/", wanted | more).content.decode()
        assert lacking in page
    assert not Condition.objects.filter(campaign=empty_campaign).exists()
    import_file(empty_campaign, "retrieval", "t1 Q0 d1 1 9 one\n")
    assert "Launch 0 calls" in client.post(f"/campaigns/{empty_campaign.slug}/jobs/new/", wanted).content.decode()
    page = client.post(f"/campaigns/{empty_campaign.slug}/jobs/new/", wanted | {"topics": "t2"}).content.decode()
    assert lacking in page


def test_its_units_are_the_pool_by_topic_and_bytes_of_docid(umbrela: Condition, import_file):
    assert units_of(umbrela) == [("t1", "d1"), ("t1", "d2"), ("t1", "d3"), ("t1", "d4"), ("t2", "d5")]
    import_file(umbrela.campaign, "retrieval", "t2 Q0 é 1 9 three\nt2 Q0 Z 2 8 three\n")
    import_file(umbrela.campaign, "retrieval", "t2 Q0 a 1 9 four\n")
    assert units_of(umbrela)[4:] == [("t2", "Z"), ("t2", "a"), ("t2", "d5"), ("t2", "é")]


def test_the_pool_is_as_deep_as_the_conditions_own_protocol_says(umbrela: Condition):
    deeper = umbrela.campaign.protocol
    deeper.pk, deeper.version, deeper.pool_depth = None, 2, 3
    deeper.save()
    assert ("t1", "d5") not in units_of(umbrela)
    unsaved = Condition(campaign=Campaign.objects.get(), kind="relevance", method="UMBRELA")
    assert ("t1", "d5") in units_of(unsaved)


def test_units_and_estimate_take_as_many_queries_for_any_pool(umbrela: Condition, prompts: PromptSet, import_file):
    def queries() -> int:
        topics = topics_of(umbrela.campaign)
        with CaptureQueriesContext(connection) as found:
            list(UMBRELA.units(umbrela, topics))
            UMBRELA.expected(umbrela, topics, prompts)
        return len(found)

    before = queries()
    import_file(umbrela.campaign, "topics", "".join(f"u{number}\twhat\n" for number in range(20)))
    rankings = "".join(f"u{number} Q0 x{rank} {rank} {9 - rank} big\n" for number in range(20) for rank in range(9))
    assert import_file(umbrela.campaign, "retrieval", rankings).state == "done"
    assert queries() == before == 3
    assert len(units_of(umbrela)) == 5 + 40


def test_the_estimate_counts_what_will_be_sent(umbrela: Condition, prompts: PromptSet):
    topics = topics_of(umbrela.campaign)
    expected = UMBRELA.expected(umbrela, topics, prompts)
    work = [("why do cats purr", docid) for docid in ("d1", "d2", "d3")] + [("how is glass recycled", "d5")]
    texts = dict(umbrela.campaign.segments.values_list("docid", "text"))
    sent = [prompts.messages("relevance", {"query": query, "passage": texts[docid]}) for query, docid in work]
    assert expected.calls == 4, "d4 has no text"
    assert expected.characters == sum(len(part["content"]) for parts in sent for part in parts)
    assert expected.tokens_out == 4 * 8
    unsaved = Condition(campaign=umbrela.campaign, kind="relevance", method="UMBRELA")
    assert UMBRELA.expected(unsaved, topics, prompts) == expected


def test_a_batch_is_read_at_once_and_a_segment_without_text_fails_by_name(job: Job):
    units = make_units(job, [("t1", "d1"), ("t1", "d4"), ("t2", "d5")])
    with CaptureQueriesContext(connection) as queries:
        work = UMBRELA.prepare(job, units)
    assert len(queries) == 2
    assert work[units[0].pk] == ("why do cats purr", "Cats purr when content. Some purr when in pain.")
    assert work[units[2].pk] == ("how is glass recycled", "Glass is sorted by colour and melted.")
    failure = work[units[1].pk]
    assert isinstance(failure, UnitFailure)
    assert str(failure) == "The text of d4 is not loaded."


def test_one_unit_is_one_question(job: Job, prompts: PromptSet):
    [unit] = make_units(job, [("t1", "d1")])
    ask = CannedAsk(prompts, "##final score: 2")
    assert asyncio.run(UMBRELA.carry_out(UMBRELA.prepare(job, [unit])[unit.pk], ask)) == 2
    [asked] = ask.asked
    assert "Query: why do cats purr\nPassage: Cats purr when content. Some purr when in pain.\n" in asked
    assert "Purring" not in asked, "the text alone, without title and headings"
    with pytest.raises(WrongAnswer):
        asyncio.run(UMBRELA.carry_out(UMBRELA.prepare(job, [unit])[unit.pk], CannedAsk(prompts, "seven")))


def test_results_become_judgments_and_grades_of_the_conditions_own_source(job: Job, umbrela: Condition):
    units = make_units(job, [("t1", "d1"), ("t1", "d2"), ("t2", "d5")])
    UMBRELA.store(job, list(zip(units, [3, 0, 1], strict=True)))
    source = QrelsSource.objects.get(condition=umbrela)
    assert (source.name, source.by, source.campaign) == ("UMBRELA", "model", umbrela.campaign)
    assert source.changed_at is not None
    assert "".join(qrels_lines(source)) == "t1 0 d1 3\nt1 0 d2 0\nt2 0 d5 1\n"
    judgments = RelevanceJudgment.objects.filter(condition=umbrela).order_by("pk")
    assert [(one.docid, one.value, one.state, one.version, one.said) for one in judgments] == [
        ("d1", "3", "given", 1, "3"),
        ("d2", "0", "given", 1, "0"),
        ("d5", "1", "given", 1, "1"),
    ]
    events = LabelEvent.objects.filter(judgment__condition=umbrela).order_by("pk")
    told = [(one.judgment, one.verb, one.state_before, one.value, one.state, one.version) for one in events]
    assert told == [(one, "label", "", one.value, "given", 1) for one in judgments]
    for rows in (judgments, events):
        assert {(one.judge, one.job, one.task, one.shown_value, one.seconds) for one in rows} == {
            (umbrela.judge, job, None, None, None)
        }
        assert all(one.at for one in rows)
    assert units_of(umbrela) == [("t1", "d3"), ("t1", "d4")]


def test_what_another_job_of_the_condition_graded_first_stands(job: Job, umbrela: Condition, model):
    [unit] = make_units(job, [("t1", "d1")])
    UMBRELA.store(job, [(unit, 3)])
    second = Job.objects.create(campaign=umbrela.campaign, kind="UMBRELA", condition=umbrela, judge=model)
    units = make_units(second, [("t1", "d1"), ("t1", "d2")])
    UMBRELA.store(second, list(zip(units, [0, 2], strict=True)))
    assert "".join(qrels_lines(umbrela.grades_made)) == "t1 0 d1 3\nt1 0 d2 2\n"
    both = [("d1", job.pk), ("d2", second.pk)]
    assert list(RelevanceJudgment.objects.order_by("pk").values_list("docid", "job")) == both
    assert list(LabelEvent.objects.order_by("pk").values_list("judgment__docid", "job")) == both


def test_a_batch_is_stored_with_as_many_queries_whatever_its_size(job: Job):
    def queries(places: list[tuple[str, str]]) -> int:
        units = make_units(job, places)
        with CaptureQueriesContext(connection) as found:
            UMBRELA.store(job, [(unit, 1) for unit in units])
        return len(found)

    queries([("t2", "warm")])
    assert queries([("t1", f"a{number}") for number in range(3)]) == queries([("t1", f"b{n}") for n in range(30)])


def test_a_condition_without_a_source_gets_it_with_the_first_grades(job: Job, umbrela: Condition):
    QrelsSource.everything.filter(condition=umbrela).delete()
    UMBRELA.store(job, [(make_units(job, [("t1", "d1")])[0], 2)])
    assert Grade.objects.get(source__condition=umbrela).grade == 2


def test_two_samples_of_a_judge_have_sources_of_their_own(umbrela: Condition, olga: Person):
    def again(name: str) -> Condition:
        return Condition(
            campaign=umbrela.campaign,
            name=name,
            kind="relevance",
            method="UMBRELA",
            judge=umbrela.judge,
            prompts=umbrela.prompts,
            replicate=1,
        )

    QrelsSource.everything.create(campaign=umbrela.campaign, name="taken", by="model")
    with pytest.raises(ConditionError, match="has other grades called taken: choose another name"):
        create_condition(again("taken"), acting_user=olga)
    second = create_condition(again("UMBRELA 2"), acting_user=olga)
    assert {second.grades_made.name, umbrela.grades_made.name} == {"UMBRELA 2", "UMBRELA"}


def test_nobody_imports_grades_into_a_source_that_is_made_here(umbrela: Condition, import_file):
    lines = "t1 0 d1 3\n"
    refused = import_file(umbrela.campaign, "qrels", lines, source="UMBRELA", by="model")
    assert refused.state == "refused"
    [error] = refused.report["errors"]
    assert (error["field"], error["found"]) == ("source", "UMBRELA")
    assert error["expected"] == "another name: these grades are made here, under the condition UMBRELA"
    assert import_file(umbrela.campaign, "qrels", lines, source="UMBRELA's", by="model").state == "done"
