"""AutoNuggets and Drafts: what exactly a model is asked, what is kept of it, and what cannot be done."""

import asyncio
import csv
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.actions import ConditionError, change_protocol, create_campaign
from assessor.campaigns.models import Campaign, Condition, QrelsSource, Topic
from assessor.llm.actions import launch, plan_job
from assessor.llm.job_kind import Expected, Grades, job_kind_named, job_kinds
from assessor.llm.models import Job, ModelJudge
from assessor.llm.prompts import PromptRequest
from assessor.llm.replies import WrongAnswer
from nuggets.auto_nuggets import AutoNuggets, Drafts
from nuggets.drafting import Step
from nuggets.exports import condition_lines
from nuggets.models import BankEdit, BankEdition, Drafting, Nugget, NuggetBank
from nuggets.queries import nuggets_in_order
from tests.conftest import client_of
from tests.nuggets.model import KIND_OF, PROMPTS, Model, make_condition, make_job, make_model, run, says

AUTO_NUGGETS, DRAFTS = AutoNuggets(), Drafts()
AUTO = "AutoNuggets"
EDITS = "AutoNuggets+Edits"
SEGMENTS = 23  # of t3: three windows of ten


@pytest.fixture
def model(campaign: Campaign, import_file) -> ModelJudge:
    """A model, in a campaign with a topic t3 that has 23 relevant segments and three that are not."""
    docids = [f"s{number}" for number in range(1, SEGMENTS + 1)]
    assert import_file(campaign, "topics", "t3\twhat is <three> & ${query}\n").state == "done"
    segments = [{"docid": docid, "title": f"Title {docid}", "segment": f"Text of {docid}."} for docid in docids]
    assert import_file(campaign, "segments", [*segments, {"docid": "no", "segment": "No."}]).state == "done"
    lines = [f"t3 0 {docid} {1 + number % 3}\n" for number, docid in enumerate(docids)]
    lines += ["t3 0 no 0\n", "t1 0 s1 0\n"]
    assert import_file(campaign, "qrels", "".join(lines), source="UMBRELA", by="model").state == "done"
    assert import_file(campaign, "qrels", "".join(lines), source="Panel", by="people").state == "done"
    return make_model(campaign)


@pytest.fixture
def auto(model: ModelJudge) -> Condition:
    return make_condition(model, AUTO, source="UMBRELA", name="AutoNuggets")


@pytest.fixture
def edits(model: ModelJudge) -> Condition:
    return make_condition(model, EDITS, source="Panel", name="Edits")


@pytest.fixture
def t3(model: ModelJudge) -> Topic:
    return Topic.objects.get(qid="t3")


def growing(
    *lists: list[str], labels: Callable[[int], str] = lambda place: "okay"
) -> Callable[[PromptRequest[Any]], str]:
    """Return a model that gives one list after the other, and then each nugget of the last one a label by its place."""
    left = list(lists)
    place = 0

    def reply(question: PromptRequest[Any]) -> str:
        nonlocal place
        if question.name == "creation":
            return json.dumps(left.pop(0))
        count = question.schema["properties"]["labels"]["minItems"]
        place += count
        return json.dumps([labels(at) for at in range(place - count + 1, place + 1)])

    return reply


def sent(question: PromptRequest[Any]) -> str:
    return question.messages[-1]["content"]


THIRTY = [f"nugget {place}" for place in range(1, 31)]


def test_both_kinds_are_known():
    assert {"AutoNuggets", "Drafts"} <= set(job_kinds())
    assert [type(job_kind_named(name)) for name in ("AutoNuggets", "Drafts")] == [AutoNuggets, Drafts]
    assert (AUTO_NUGGETS.condition_kind, AUTO_NUGGETS.method, AUTO_NUGGETS.grades) == ("nuggets", AUTO, Grades.ANY)
    assert (DRAFTS.condition_kind, DRAFTS.method, DRAFTS.grades) == ("nuggets", EDITS, Grades.PEOPLES)


def test_drafts_take_peoples_grades_only(model: ModelJudge):
    with pytest.raises(ConditionError, match="takes people's grades only"):
        make_condition(model, EDITS, source="UMBRELA")


def test_a_list_goes_window_by_window_and_importance_batch_by_batch(auto: Condition, t3: Topic):
    """23 segments and 30 nuggets: three calls and three more, in the protocol's numbers."""
    lists = [["a"], ["a", "b"], THIRTY]
    asked, failed = run(make_job(auto, [t3]), growing(*lists))
    assert failed == {}
    assert [question.name for question in asked.asked] == ["creation"] * 3 + ["importance"] * 3
    in_order = sorted(f"s{number}" for number in range(1, SEGMENTS + 1))
    assert in_order[:4] == ["s1", "s10", "s11", "s12"]
    windows = [in_order[:10], in_order[10:20], in_order[20:]]
    for question, window, before in zip(asked.asked, windows, [[], ["a"], ["a", "b"]], strict=False):
        text = sent(question)
        numbered = "\n".join(f"[{number}] Text of {docid}." for number, docid in enumerate(window, start=1))
        assert f"Passages:\n{numbered}\n\n" in text
        assert "what is <three> & ${query}" in text
        assert f"Present list of {len(before)} nuggets: {json.dumps(before)}" in text
        assert "at most 30 nuggets" in text
        assert "1 to 12 words" in text
        assert question.schema["properties"]["nuggets"]["maxItems"] == 30
    for number, question in enumerate(asked.asked[3:]):
        batch = THIRTY[10 * number : 10 * number + 10]
        assert f"List of 10 nuggets: {json.dumps(batch)}" in sent(question)
        assert "what is <three> & ${query}" in sent(question)
        assert "Text of" not in sent(question)


def test_what_came_of_it_is_a_finished_bank_with_all_of_its_story(auto: Condition, t3: Topic):
    """All thirty are labelled before ten are left out: vital ones first, else in the model's order."""
    lists = [["a"], ["a", "nugget 4"], THIRTY]
    job = make_job(auto, [t3])
    run(job, growing(*lists, labels=lambda place: "vital" if place % 10 == 4 else "okay"))
    drafting = Drafting.objects.get()
    assert (drafting.condition, drafting.topic, drafting.job, drafting.judge) == (auto, t3, job, auto.judge)
    in_order = sorted(f"s{number}" for number in range(1, SEGMENTS + 1))
    windows = [in_order[:10], in_order[10:20], in_order[20:]]
    told = [{"docids": window, "nuggets": nuggets} for window, nuggets in zip(windows, lists, strict=True)]
    assert (drafting.steps, drafting.nuggets) == (told, THIRTY)
    assert [len(batch) for batch in drafting.importance] == [10, 10, 10]
    bank = NuggetBank.objects.get()
    assert (bank.topic, bank.condition, bank.maker, bank.task) == (t3, auto, auto.judge, None)
    assert (bank.state, bank.edition, bank.drafting, bank.draft_seed) == ("finished", 1, drafting, None)
    assert bank.finished_at is not None
    places = [4, 14, 24, *(place for place in range(1, 21) if place % 10 != 4)][:20]
    listed = nuggets_in_order(bank)
    assert [nugget.draft for nugget in listed] == places
    assert [nugget.text for nugget in listed] == [f"nugget {place}" for place in places]
    assert [nugget.importance for nugget in listed] == ["vital"] * 3 + ["okay"] * 17
    assert {(nugget.origin, nugget.made_by, nugget.note) for nugget in listed} == {("drafted", auto.judge, "")}
    assert Nugget.objects.count() == 20
    edition = BankEdition.objects.get()
    assert (edition.bank, edition.edition, edition.version) == (bank, 1, bank.version)
    assert [(one["uid"], one["text"], one["importance"]) for one in edition.nuggets] == [
        (nugget.name, nugget.text, nugget.importance) for nugget in listed
    ]
    assert not BankEdit.objects.exists()


def test_such_a_bank_is_exported_like_any_other(auto: Condition, t3: Topic):
    run(make_job(auto, [t3]), growing(["a"], ["a"], ["b", "a"], labels=lambda place: ["okay", "vital"][place - 1]))
    [line] = condition_lines(auto)
    assert json.loads(line)["nuggets"] == [{"text": "a", "importance": "vital"}, {"text": "b", "importance": "okay"}]
    [line] = condition_lines(auto, with_lineage=True)
    assert [(one["text"], one["origin"], one["parents"]) for one in json.loads(line)["nuggets"]] == [
        ("a", "drafted", []),
        ("b", "drafted", []),
    ]


def test_drafts_are_neither_asked_for_importance_nor_made_into_a_bank(edits: Condition, t3: Topic):
    asked, _ = run(make_job(edits, [t3]), growing(["a"], ["b"], THIRTY))
    assert [question.name for question in asked.asked] == ["creation"] * 3
    drafting = Drafting.objects.get()
    assert (drafting.nuggets, drafting.importance) == (THIRTY, [])
    assert not NuggetBank.objects.exists()
    assert not Nugget.objects.exists()


@pytest.mark.parametrize(
    ("method", "nuggets", "calls"), [(AUTO, 1, 4), (AUTO, 10, 4), (AUTO, 11, 5), (AUTO, 30, 6), (EDITS, 30, 3)]
)
def test_calls_follow_from_segments_and_nuggets(model: ModelJudge, t3: Topic, method: str, nuggets: int, calls: int):
    condition = make_condition(model, method, source="Panel")
    asked, _ = run(make_job(condition, [t3]), says(THIRTY[:nuggets], ["vital"] * nuggets))
    assert len(asked.asked) == calls


def test_the_numbers_are_the_protocols(campaign: Campaign, model: ModelJudge, t3: Topic, olga: Person):
    settings = {"window_segments": 8, "max_drafts": 5, "advised_words": 7, "importance_batch": 2, "max_nuggets": 3}
    change_protocol(campaign=campaign, settings=settings | {"min_relevant_grade": 2}, acting_user=olga)
    condition = make_condition(model, AUTO, source="Panel")
    asked, _ = run(make_job(condition, [t3]), says(list("abcde"), ["okay"] * 4 + ["vital"]))
    names = [question.name for question in asked.asked]
    relevant = [number for number in range(SEGMENTS) if 1 + number % 3 >= 2]
    assert len(relevant) == 15
    assert names == ["creation"] * 2 + ["importance"] * 3
    assert sent(asked.asked[0]).count("Text of") == 8
    assert "at most 5 nuggets" in sent(asked.asked[0])
    assert "1 to 7 words" in sent(asked.asked[0])
    assert [nugget.text for nugget in nuggets_in_order(NuggetBank.objects.get())] == ["e", "a", "b"]


def test_with_another_threshold_the_usual_name_is_another(model: ModelJudge, t3: Topic):
    """Of nuggets and drafts, and of what builds on them; where it is the protocol's the name says nothing of it."""
    source = model.campaign.qrels_sources.get(name="Panel")
    names = []
    for least in (None, 1, 2, 3):
        plan = plan_job(
            kind=AUTO_NUGGETS, judge=model, name="", qrels_source=source, topics=[t3], min_relevant_grade=least
        )
        if not plan.condition.pk:
            run(
                launch(plan, most_calls=None, most_cost=None, acting_user=None, to_workers=False),
                says(["a"], ["vital"]),
            )
            Job.objects.update(state=Job.State.DONE)
        names.append(plan.condition.name)
    assert names == ["AutoNuggets by Telltale judge on Panel"] * 2 + [
        "AutoNuggets by Telltale judge on Panel, relevant from 2",
        "AutoNuggets by Telltale judge on Panel, relevant from 3",
    ]
    on_it = plan_job(
        kind=job_kind_named("AutoAssign"),
        judge=model,
        name="",
        qrels_source=None,
        topics=[t3],
        nuggets=model.campaign.conditions.get(name=names[-1]),
    )
    assert on_it.condition.name == "Auto/Auto by Telltale judge on Panel, relevant from 3"


def test_on_other_grades_the_usual_name_is_another(model: ModelJudge, t3: Topic):
    """Of one judge, and so is that of what builds on them."""
    campaign, names = model.campaign, []
    for source in campaign.qrels_sources.filter(name__in=("UMBRELA", "Panel")).order_by("name"):
        plan = plan_job(kind=AUTO_NUGGETS, judge=model, name="", qrels_source=source, topics=[t3])
        job = launch(plan, most_calls=None, most_cost=None, acting_user=None, to_workers=False)
        run(job, says(["a"], ["vital"]))
        on_it = plan_job(
            kind=job_kind_named("AutoAssign"),
            judge=model,
            name="",
            qrels_source=None,
            topics=[t3],
            nuggets=job.condition,
            replicate=2,
        )
        names += [job.condition.name, on_it.condition.name]
    assert names == [
        "AutoNuggets by Telltale judge on Panel",
        "Auto/Auto by Telltale judge on Panel #2",
        "AutoNuggets by Telltale judge on UMBRELA",
        "Auto/Auto by Telltale judge on UMBRELA #2",
    ]
    Job.objects.update(state=Job.State.DONE)
    again = plan_job(kind=AUTO_NUGGETS, judge=model, name="", qrels_source=source, topics=[t3])
    assert again.condition.name == "AutoNuggets by Telltale judge on UMBRELA"
    QrelsSource.objects.filter(pk=source.pk).update(name="U" * 120)
    source.refresh_from_db()
    longest = plan_job(kind=AUTO_NUGGETS, judge=model, name="", qrels_source=source, topics=[t3], replicate=12)
    assert len(longest.condition.name) == 29 + 60 + 4
    assert longest.condition.name.startswith("AutoNuggets by Telltale judge on UUU")
    assert longest.condition.name.endswith("UUU #12")


def test_a_list_that_is_too_long_is_cut_in_the_replys_order_and_noted(auto: Condition, t3: Topic, olga: Person):
    longer = [*(f"more {place}" for place in range(4)), *THIRTY]
    job = make_job(auto, [t3])
    asked, _ = run(job, growing(THIRTY, longer, [*THIRTY, "one more"]))
    drafting = Drafting.objects.get()
    assert [len(step["nuggets"]) for step in drafting.steps] == [30, 30, 30]
    assert drafting.steps[1]["nuggets"] == longer[:30]
    assert drafting.nuggets == THIRTY
    assert drafting.cuts == [
        {"window": 2, "nuggets": 34, "limit": 30},
        {"window": 3, "nuggets": 31, "limit": 30},
    ]
    # What was cut is neither shown to the model again nor labelled.
    assert f"Present list of 30 nuggets: {json.dumps(longer[:30])}" in sent(asked.asked[2])
    assert "one more" not in "".join(sent(question) for question in asked.asked[3:])
    page = client_of(olga).get(f"/campaigns/study/jobs/{job.pk}/").content.decode()
    assert "Topic t3, window 2: 34 nuggets came; the first 30 were kept." in page
    assert "Topic t3, window 3: 31 nuggets came; the first 30 were kept." in page
    page = client_of(olga).get(f"/nuggets/{NuggetBank.objects.get().pk}/drafts/").content.decode()
    assert page.count("(30 nuggets afterwards)") == 1
    assert "(30 nuggets afterwards, the first of 34 in the reply)" in page


def test_how_many_were_cut_is_in_the_table_of_drafts(edits: Condition, t3: Topic, olga: Person):
    run(make_job(edits, [t3]), growing(THIRTY, [*THIRTY, "b"], [*THIRTY, "c", "d"]))
    response = client_of(olga).get(f"/campaigns/study/drafts/{edits.pk}.csv")
    columns, row = csv.reader(b"".join(response.streaming_content).decode().splitlines())  # type: ignore[attr-defined]
    assert dict(zip(columns, row, strict=True)) | {"drafts": "30", "cut": "3"} == dict(zip(columns, row, strict=True))


def test_a_job_without_such_lists_says_nothing_of_them(auto: Condition, t3: Topic, olga: Person):
    job = make_job(auto, [t3])
    run(job, growing(["a"], ["a"], THIRTY))
    assert Drafting.objects.get().cuts == []
    assert "too long" not in client_of(olga).get(f"/campaigns/study/jobs/{job.pk}/").content.decode()


@pytest.mark.parametrize("nugget", ['"a\\u0000b"', '"half \\ud83d"'])
def test_what_no_database_keeps_is_a_wrong_answer(edits: Condition, t3: Topic, nugget: str):
    """Else the whole batch that it is stored with would fail, again and again."""
    with pytest.raises(WrongAnswer, match="a character in it that is no text"):
        run(make_job(edits, [t3]), lambda question: f"[{nugget}]")
    run(make_job(edits, [t3]), lambda question: '["whole \\ud83d\\udc31"]')
    assert Drafting.objects.get().nuggets == ["whole \U0001f431"]


def test_equal_nuggets_stay_as_the_model_gave_them(auto: Condition, t3: Topic):
    run(make_job(auto, [t3]), says(["a", "a", "b"], ["okay", "vital", "okay"]))
    listed = nuggets_in_order(NuggetBank.objects.get())
    assert [(nugget.text, nugget.draft) for nugget in listed] == [("a", 2), ("a", 1), ("b", 3)]


def test_a_topic_that_lacks_segments_or_texts_fails_without_a_call(campaign: Campaign, model: ModelJudge):
    """t1: the text of d4 is not loaded; t2 has one relevant segment; t3 has none by this source."""
    condition = make_condition(model, AUTO, source="NIST")
    topics = list(campaign.topics.order_by("qid"))
    asked, failed = run(make_job(condition, topics), says(["a"], ["okay"]))
    assert failed == {
        "t1": "Relevant segments without a loaded text: 1, the first of them d4.",
        "t3": "There are no relevant segments: NIST grades none 1 or more.",
    }
    assert [question.name for question in asked.asked] == ["creation", "importance"]
    assert [drafting.topic.qid for drafting in Drafting.objects.all()] == ["t2"]


def test_another_campaigns_texts_and_other_sources_grades_are_not_read(
    campaign: Campaign, model: ModelJudge, import_file, olga: Person
):
    other = create_campaign(name="Other", slug="other", acting_user=olga)
    import_file(other, "segments", [{"docid": "d4", "segment": "Elsewhere."}])
    condition = make_condition(model, EDITS, source="NIST")
    _, failed = run(make_job(condition, [campaign.topics.get(qid="t1")]), says(["a"]))
    assert list(failed) == ["t1"]


def test_what_is_done_is_no_unit_again(auto: Condition, edits: Condition, campaign: Campaign, t3: Topic):
    topics = list(campaign.topics.order_by("qid"))
    everything = [(topic.pk, None, "") for topic in topics]
    assert list(AUTO_NUGGETS.units(auto, topics)) == everything
    run(make_job(auto, [t3]), says(["a"], ["okay"]))
    assert list(AUTO_NUGGETS.units(auto, topics)) == everything[:2]
    assert list(DRAFTS.units(edits, topics)) == everything
    unsaved = Condition(campaign=campaign, qrels_source=auto.qrels_source, protocol=auto.protocol)
    assert list(AUTO_NUGGETS.units(unsaved, topics)) == everything


def test_of_two_jobs_on_a_topic_the_first_stands(auto: Condition, t3: Topic):
    jobs = [make_job(auto, [t3]) for _ in range(2)]
    run(jobs[0], says(["a"], ["okay"]))
    run(jobs[1], says(["b"], ["okay"]))
    assert Drafting.objects.get().job == jobs[0]
    assert [nugget.text for nugget in Nugget.objects.all()] == ["a"]


def test_the_same_replies_give_the_same(auto: Condition, t3: Topic):
    """After a kill a unit is done anew, and its questions must be those that the ledger knows."""
    job = make_job(auto, [t3])
    [unit] = job.units.all()
    questions = []
    for _ in range(2):
        work = AUTO_NUGGETS.prepare(job, [unit])[unit.pk]
        model = Model(says(THIRTY, ["okay"] * 30))
        asyncio.run(AUTO_NUGGETS.carry_out(work, model))
        questions.append([question.messages for question in model.asked])
    assert questions[0] == questions[1]


# What it will take


def test_what_is_expected_of_a_model_that_makes_its_lists_as_long_as_it_may(
    auto: Condition, edits: Condition, t3: Topic
):
    """Calls are exact then; characters come near those that are sent."""
    nuggets = [f"{place:02} {'x' * 53}" for place in range(1, 31)]
    for condition, labels in ((auto, ["okay"] * 30), (edits, [])):
        kind = KIND_OF[condition.method]
        expected = kind.expected(condition, [t3], PROMPTS)
        asked, _ = run(make_job(condition, [t3]), says(nuggets, labels))
        characters = sum(len(message["content"]) for question in asked.asked for message in question.messages)
        assert expected.calls == len(asked.asked)
        assert 0.95 < expected.characters / characters < 1.05
        assert expected.tokens_out == 3 * 30 * 16 + (30 * 4 if labels else 0)


def test_nothing_is_expected_of_what_is_done_or_cannot_be(campaign: Campaign, model: ModelJudge, t3: Topic):
    condition = make_condition(model, AUTO, source="NIST")
    topics = list(campaign.topics.order_by("qid"))
    alone = AUTO_NUGGETS.expected(condition, [campaign.topics.get(qid="t2")], PROMPTS)
    assert alone.calls == 4
    assert AUTO_NUGGETS.expected(condition, topics, PROMPTS) == alone
    run(make_job(condition, topics), says(["a"], ["okay"]))
    assert AUTO_NUGGETS.expected(condition, topics, PROMPTS) == Expected(0, 0, 0)


def test_reading_asks_no_more_of_many_topics(campaign: Campaign, auto: Condition, import_file):
    def queries() -> tuple[int, int]:
        topics = list(campaign.topics.all())
        job = Job.objects.select_related("condition__protocol").get(pk=make_job(auto, topics).pk)
        units = list(job.units.all())
        assert len(units) == len(topics)
        with CaptureQueriesContext(connection) as expecting:
            AUTO_NUGGETS.expected(job.condition, topics, PROMPTS)
        with CaptureQueriesContext(connection) as preparing:
            AUTO_NUGGETS.prepare(job, units)
        return len(expecting), len(preparing)

    few = queries()
    names = [f"u{number}" for number in range(30)]
    import_file(campaign, "topics", "".join(f"{name}\tmore\n" for name in names))
    import_file(campaign, "segments", [{"docid": name, "segment": "text"} for name in names])
    import_file(campaign, "qrels", "".join(f"{name} 0 {name} 2\n" for name in names), source="UMBRELA", by="model")
    assert queries() == few
    assert max(few) <= 4


def test_steps_come_back_as_they_were_kept(auto: Condition, t3: Topic):
    run(make_job(auto, [t3]), growing(["a"], ["a", "é “b”"], ["é “b”", "a"]))
    steps = [Step(**step) for step in Drafting.objects.get().steps]
    assert steps[1].nuggets == ["a", "é “b”"]
