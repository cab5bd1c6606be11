"""PrefJudge as whole jobs over real HTTP."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from django.core.management import call_command

from assessor.accounts.models import Person
from assessor.campaigns.actions import change_protocol
from assessor.campaigns.models import Campaign, Run
from assessor.llm import replies, runner
from assessor.llm.actions import JobError, plan_job, retry_failed
from assessor.llm.job_kind import job_kind_named
from assessor.llm.models import Job
from assessor.llm.prompt_sets import prompt_set
from assessor.preference.models import LabelEvent, PreferencePair
from assessor.preference.pref_judge import PREFERENCE_PROMPT
from tests.conftest import Importer
from tests.llm.conftest import _short_waits, endpoint  # noqa: F401  # fixtures
from tests.llm.grading import make_judge
from tests.preference.conftest import RUNS, TOPICS, answer_line, done, shown, smaller_run, text_of

pytestmark = pytest.mark.django_db(transaction=True)
RECORDED = Path(__file__).resolve().parents[2].parent / "shared/data/prefnugget-kiddie"


def found(job: Job) -> dict[tuple[str, str, str], str | None]:
    """Return the preferences of a condition, by topic id and the runs' tags."""
    pairs = PreferencePair.objects.filter(condition=job.condition).select_related("topic", "first__run", "second__run")
    return {(pair.topic.qid, pair.first.run.tag, pair.second.run.tag): pair.value for pair in pairs}


def test_one_order_asks_each_pair_once_in_the_published_order(one_order: Campaign, replay):
    server = replay(smaller_run)
    job = done(make_judge(one_order, server.base_url, concurrency=1))
    assert (job.state, job.units_total, job.units_done, job.calls) == ("done", 30, 30, 30)
    condition = job.condition
    assert (condition.kind, condition.method, condition.name) == ("preference", "PrefJudge", "Preferences by j")
    asked: dict[str, list[str]] = {}
    for topic, one, other in map(shown, server.asked):
        asked.setdefault(topic, []).append(one + other)
    assert asked == {topic: ["12", "13", "14", "23", "24", "34"] for topic in TOPICS}
    assert set(found(job).values()) == {"1"}
    assert "Query: about bee\nBackground: For a child. Why bee?" in next(one for one in server.asked if "of bee" in one)
    pair = PreferencePair.objects.get(topic__qid="bee", position=5)
    assert (pair.first.run.tag, pair.second.run.tag, pair.verdict, pair.reversed_verdict) == ("run3", "run4", "1", None)
    event = LabelEvent.objects.get(pair=pair)
    assert (event.verb, event.value, event.verdict, event.version, event.job_id) == ("label", "1", "1", 1, job.pk)


@pytest.mark.skipif(not RECORDED.exists(), reason="the recorded prompts are not here")
def test_the_order_is_that_of_the_recorded_prompts(one_order: Campaign, replay):
    run_of = {}
    for run in RUNS:
        for line in (RECORDED / f"{run}.jsonl").read_text().splitlines():
            record = json.loads(line)
            run_of[" ".join(one["text"] for one in record["responses"])] = (record["metadata"]["topic_id"], run[-1])
    recorded: dict[str, list[str]] = {}
    for line in (RECORDED / "prefnugget--best-decide.trace.jsonl").read_text().splitlines():
        text = json.loads(json.loads(line)["canonical"])["messages"][1]["content"]
        if "[[ ## passage_2 ## ]]" in text:
            parts = text.split("[[ ## passage_1 ## ]]\n")[1].split("\n\nRespond with")[0]
            (topic, one), (_, other) = (run_of[part] for part in parts.split("\n\n[[ ## passage_2 ## ]]\n"))
            recorded.setdefault(topic, []).append(one + other)
    server = replay(smaller_run)
    done(make_judge(one_order, server.base_url, concurrency=1))
    asked: dict[str, list[str]] = {}
    for topic, one, other in map(shown, server.asked):
        asked.setdefault(topic, []).append(one + other)
    assert sum(map(len, recorded.values())) == 30
    assert asked == recorded


def test_both_orders_are_asked_and_what_disagrees_is_a_tie(runs: Campaign, replay):
    def answer(message: str) -> str:
        topic, *_ = shown(message)
        return "1" if topic == "bee" else smaller_run(message)  # of bees whatever stands first

    server = replay(answer)
    job = done(make_judge(runs, server.base_url))
    assert (job.units_done, job.calls) == (30, 60)
    assert Counter((topic, value) for (topic, *_), value in found(job).items()) == {
        (topic, "0" if topic == "bee" else "1"): 6 for topic in TOPICS
    }
    told = PreferencePair.objects.values_list("topic__qid", "verdict", "reversed_verdict").distinct()
    assert set(told) == {(topic, "1", "1" if topic == "bee" else "2") for topic in TOPICS}


def test_ties_are_replies_only_where_the_protocol_allows_them(one_order: Campaign, replay, olga: Person):
    never = done(make_judge(one_order, replay(lambda _: "0").base_url))
    assert (never.units_done, set(found(never).values())) == (0, {None})
    change_protocol(campaign=one_order, settings={"preference_ties": True}, acting_user=olga)
    one_order.refresh_from_db()
    server = replay(lambda _: "0")
    ties = done(make_judge(one_order, server.base_url, "k"))
    assert (ties.units_done, set(found(ties).values())) == (30, {"0"})
    assert "If neither is better, say 0." in server.asked[0]
    assert "You have to decide." not in server.asked[0]
    assert ties.condition.identity != never.condition.identity


def test_an_unreadable_reply_is_asked_again_and_then_the_pair_is_missing(one_order: Campaign, replay):
    asked: Counter[str] = Counter()

    def answer(message: str) -> str:
        key = "".join(shown(message))
        asked[key] += 1
        return "Both are fine." if key == "bee12" else smaller_run(message)

    job = done(make_judge(one_order, replay(answer).base_url))
    assert (job.units_done, job.units_failed, asked["bee12"]) == (29, 1, 4)
    assert {pair for pair, value in found(job).items() if value is None} == {("bee", "run1", "run2")}
    retry_failed(job=job, acting_user=None)
    asked.clear()
    runner.run_job(job.pk)
    assert found(job)["bee", "run1", "run2"] is None


def test_empty_and_equal_answers_follow_a_rule_without_a_call(one_order: Campaign, import_file: Importer, replay):
    texts = {"run5": "", "run6": "", "run7": text_of("run1", "leaf")}
    for run, text in texts.items():
        assert import_file(one_order, "runs", [answer_line(run, "leaf", text)], name=run).state == "done"
    server = replay(smaller_run)
    job = done(make_judge(one_order, server.base_url))
    of_leaf = {(one, other): value for (topic, one, other), value in found(job).items() if topic == "leaf"}
    assert of_leaf["run1", "run5"] == "1"
    assert of_leaf["run5", "run7"] == "2"
    assert of_leaf["run5", "run6"] == of_leaf["run1", "run7"] == "0"
    assert all(re.search(r"Passage 1:\nRun .*\n\nPassage 2:\nRun ", text) for text in server.asked)
    by_rule = PreferencePair.objects.filter(by_rule=True)
    assert set(by_rule.values_list("verdict", "judge", "version")) == {(None, None, 0)}
    assert job.units_done == job.units_total == PreferencePair.objects.filter(by_rule=False).count()


def test_control_runs_and_texts_kept_apart_take_no_part(one_order: Campaign, replay):
    Run.objects.filter(tag="run4").update(task="control")
    job = done(make_judge(one_order, replay(smaller_run).base_url))
    assert {run for _, *runs in found(job) for run in runs} == {"run1", "run2", "run3"}
    assert job.calls == 15


def test_a_run_that_comes_later_is_compared_with_the_others(one_order: Campaign, import_file: Importer, replay):
    judge = make_judge(one_order, replay(smaller_run).base_url)
    first = done(judge)
    with pytest.raises(JobError, match="nothing to do"):
        done(judge)
    assert (
        import_file(one_order, "runs", [answer_line("run0", "bee", text_of("run0", "bee"))], name="0").state == "done"
    )
    second = done(judge)
    assert (second.condition, second.calls) == (first.condition, 4)
    pairs = PreferencePair.objects.filter(topic__qid="bee").order_by("position")
    assert [(pair.position, pair.first.run.tag) for pair in pairs][6:] == [(6 + at, "run0") for at in range(4)]


def test_the_rehearsal_endpoint_knows_the_prompt(runs: Campaign, endpoint):  # noqa: F811
    job = done(make_judge(runs, endpoint().base_url, structured=True))
    assert (job.state, job.units_done, job.calls) == ("done", 30, 60)
    assert set(found(job).values()) <= {"0", "1", "2"}


def test_the_command(runs: Campaign, endpoint, capsys):  # noqa: F811
    make_judge(runs, endpoint().base_url)
    call_command("run_pref_judge", "study", judge="j", here=True)
    assert "About 60 calls" in capsys.readouterr().out
    assert runs.conditions.get(kind="preference").preference_pairs.filter(state="given").count() == 30


def test_the_estimate_counts_what_will_be_sent(one_order: Campaign, replay):
    server = replay(smaller_run)
    judge = make_judge(one_order, server.base_url)
    topics = list(one_order.topics.all())
    plan = plan_job(kind=job_kind_named("PrefJudge"), judge=judge, name="", qrels_source=None, topics=topics)
    assert (plan.expected.calls, plan.condition.pk) == (30, None)
    done(judge)
    system = len(
        prompt_set("assay-1").messages(
            "preference", dict.fromkeys(("query", "background", "first", "second", "choices", "verdicts"), "")
        )[0]["content"]
    )
    assert plan.expected.characters == sum(map(len, server.asked)) + 30 * system


def test_without_two_answers_there_is_nothing_to_compare(empty_campaign: Campaign, import_file: Importer):
    import_file(empty_campaign, "topics", "t1\tcats\n")
    judge = make_judge(empty_campaign)
    with pytest.raises(JobError, match="None of the topics has two answers"):
        done(judge)


@pytest.mark.parametrize("reply", ["", "Passage 1", "1 or 2", "3", "0", '{"label": 0}', '{"label": 3}', "[1, 2]"])
def test_what_is_no_verdict_is_a_wrong_answer(reply: str):
    request = PREFERENCE_PROMPT.request(
        prompt_set("assay-1"), query="q", background="b", first="x", second="y", ties=False
    )
    with pytest.raises(replies.WrongAnswer):
        request.read(reply)


@pytest.mark.parametrize("reply", ["2", '{"label": 2}', '{"label": "2"}', "**2**", "2."])
def test_a_verdict_is_read_however_it_is_written(reply: str):
    request = PREFERENCE_PROMPT.request(
        prompt_set("assay-1"), query="q", background="b", first="x", second="y", ties=False
    )
    assert request.read(reply) == "2"
    assert request.schema["properties"] == {"label": {"type": "integer", "enum": [1, 2]}}
