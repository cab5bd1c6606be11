"""The canary that cites what it should not: models judge it and people don't, and no score has it."""

import pytest
from django.core.management import call_command

from assessor.accounts.models import Person
from assessor.campaigns.models import Answer, Campaign
from assessor.llm.models import Job
from assessor.scores.cache import condition_scores
from tests.conftest import client_of
from tests.judging import all_judged, give
from tests.llm.conftest import _short_waits, endpoint  # noqa: F401  # fixtures
from tests.llm.grading import make_judge
from tests.support.judging_helpers import from_scratch
from tests.support.test_auto import CLEAN, cited, judged, labels  # noqa: F401  # fixture

pytestmark = pytest.mark.django_db(transaction=True)
CANARY = "canary.wrong-citations.Theirs"


def make_canaries(campaign: Campaign, import_file, on_t2: str) -> None:
    lines = [
        {"query": "", "qid": qid, "nuggets": [{"text": text}]} for qid, text in (("t1", "cats purr"), ("t2", on_t2))
    ]
    assert import_file(campaign, "nuggets", lines, condition="Theirs", by="people").state == "done"
    call_command("make_control_runs", campaign.slug, nuggets="Theirs", canaries=True)


def judged_with(campaign: Campaign, import_file, endpoint, on_t2: str) -> Job:  # noqa: F811
    make_canaries(campaign, import_file, on_t2)
    return judged(make_judge(campaign, endpoint().base_url))


def page_of(job: Job, olga: Person) -> str:
    return client_of(olga).get(f"/campaigns/study/scores/{job.condition_id}/canaries/").content.decode()


def test_it_says_all_nuggets_and_cites_a_loaded_passage_that_no_answer_to_its_topic_does(cited: Campaign, import_file):  # noqa: F811
    make_canaries(cited, import_file, "glass is melted")
    found = Answer.objects.filter(run__tag=CANARY).select_related("topic")
    assert {
        one.topic.qid: [(sentence.text, [it.docid for it in sentence.citations]) for sentence in one.sentences()]
        for one in found
    } == {"t1": [("cats purr", ["d5"])], "t2": [("glass is melted", ["d1"])]}


def test_a_model_judges_it_alone_of_control_runs_and_no_score_or_file_of_scores_has_it(
    cited: Campaign,  # noqa: F811
    import_file,
    endpoint,  # noqa: F811
    olga: Person,
):
    job = judged_with(cited, import_file, endpoint, "glass is melted")
    assert labels(job.condition) == CLEAN | {(CANARY, "t1"): {"0.0": "none"}, (CANARY, "t2"): {"0.0": "none"}}
    found = condition_scores(job.condition)
    assert [run.tag for run in found.runs] == ["team.bare", "team.empty", "team.one", "team.two"]
    assert [(topic.qid, topic.citations) for topic in found.topics] == [("t1", 5), ("t2", 1)]
    page = page_of(job, olga)
    assert "The canary scores as it should." in page
    assert ">0.0000<" in page
    client = client_of(olga)
    for address in (f"?condition={job.condition_id}", f"{job.condition_id}/topics/{cited.topics.get(qid='t1').pk}/"):
        assert "canary." not in client.get(f"/campaigns/study/scores/{address}").content.decode()
    assert f"{job.condition_id}/canaries/" in client.get("/campaigns/study/scores/?kind=support").content.decode()


def test_of_a_judge_that_does_not_heed_what_is_cited_the_page_and_the_file_say_so(
    cited: Campaign,  # noqa: F811
    import_file,
    endpoint,  # noqa: F811
    olga: Person,
):
    job = judged_with(cited, import_file, endpoint, "cats purr")  # which d1 says: to a reader of words, support
    told = (
        "The canary scores as it should not. All nuggets, citing a passage of another topic: 0.50, "
        "should be at most 0.05."
    )
    assert told in page_of(job, olga)
    table = client_of(olga).get(f"/campaigns/study/scores/{job.condition_id}/canaries/table.csv")
    lines = b"".join(table.streaming_content).decode().splitlines()
    assert lines[0] == "canary,says,least,most,topics,former_topics,weighted_precision,outside"
    assert lines[1].endswith(",0.0,0.05,2,0,0.5,1")


def test_people_are_never_given_it(cited: Campaign, import_file, anna: Person):  # noqa: F811
    make_canaries(cited, import_file, "glass is melted")
    task = give(from_scratch(cited), cited.topics.get(qid="t1"), anna)
    tags = {sheet.answer.run.tag for sheet in all_judged(task)}
    assert "team.two" in tags
    assert CANARY not in tags
