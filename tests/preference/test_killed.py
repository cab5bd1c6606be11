"""Workers that are killed, again and again, while they compare answers and make questions from that."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.llm.endpoint import RunningEndpoint
from tests.llm.house import House, house, kill_all_of, wait_until

KILLS, FLIGHT, RUNS, TOPICS = 10, 8, 6, 20
PAIRS = 15  # of six answers
LAUNCH = """
from assessor.llm.actions import launch, plan_job
from assessor.llm.job_kind import job_kind_named

judge = ModelJudge.objects.select_related("judge", "campaign").get()
preferences = judge.campaign.conditions.filter(kind="preference").first()
plan = plan_job(
    kind=job_kind_named("{kind}"), judge=judge, name="{kind}", qrels_source=None,
    topics=list(judge.campaign.topics.all()), preferences=preferences,
)
launch(plan, most_calls=None, most_cost=None, acting_user=None)
"""


def fill(study: House, folder: Path, url: str) -> None:
    topics = [f"t{number}" for number in range(TOPICS)]
    (folder / "topics").write_text("".join(f"{qid}\twhy do cats purr {qid}\n" for qid in topics))
    commands = [["create_campaign", "study"], ["import_topics", "study", str(folder / "topics")]]
    for run in range(RUNS):
        lines = [
            {
                "metadata": {"run_id": f"r{run}", "team_id": "t", "topic_id": qid},
                "responses": [{"text": f"Answer {run} to {qid}: cats purr{', and softly' * run}.", "citations": []}],
                "references": [],
            }
            for qid in topics
        ]
        (folder / f"r{run}").write_text("".join(json.dumps(line) + "\n" for line in lines))
        commands.append(["import_run", "study", str(folder / f"r{run}")])
    commands.append(["create_judge", "study", "j", "--model=m", f"--base-url={url}", f"--concurrency={FLIGHT}"])
    study.manage_all(commands)


def work_while_killed(study: House, server: RunningEndpoint, kind: str, requests: int) -> None:
    """Launch a job and let it end, while its worker is killed evenly over its requests."""
    before = len(server.ended())
    worker = study.start_worker()
    study.run(LAUNCH.format(kind=kind))
    for kill in range(1, KILLS + 1):
        share = before + kill * requests // (KILLS + 2)
        wait_until(lambda share=share: len(server.ended()) >= share, f"work before kill {kill} of {kind}", 60)
        kill_all_of(worker)
        worker = study.start_worker()
    done = f"select state from llm_job where kind = '{kind}'"  # our own name
    wait_until(lambda: study.rows(done) == [("done",)], f"the end of {kind}", 120)
    kill_all_of(worker)


@pytest.mark.django_db
def test_nothing_is_lost_or_doubled_over_ten_kills(tmp_path: Path):
    server = RunningEndpoint(latency=0.25)
    pairs = PAIRS * TOPICS
    try:
        with house(tmp_path / "data", "embedded://") as study:
            fill(study, tmp_path, server.base_url)
            work_while_killed(study, server, "PrefJudge", 2 * pairs)
            given = study.rows(
                "select first_id, second_id, verdict, reversed_verdict, state from preference_preferencepair"
            )
            assert len(given) == pairs == len({row[:2] for row in given})
            assert {row[4] for row in given} == {"given"}
            assert all(row[2] and row[3] for row in given)
            events = study.rows("select pair_id, version from preference_labelevent")
            assert len(events) == pairs == len(set(events))
            asked = len(server.begun())
            work_while_killed(study, server, "PrefQuestions", pairs // 2)
            banks = study.rows("select topic_id, count(*) from nuggets_nuggetbank group by topic_id")
            assert Counter(number for _, number in banks) == {1: TOPICS}
            drafted = study.rows("select topic_id from nuggets_drafting")
            assert len(drafted) == TOPICS == len(set(drafted))
            assert study.rows("select kind, units_done, units_failed from llm_job order by kind") == [
                ("PrefJudge", pairs, 0),
                ("PrefQuestions", TOPICS, 0),
            ]
            good = study.rows("select request from llm_call where outcome = 'good'")
            assert len(good) == len(set(good)), "no answer was paid and kept twice"
            sent = Counter(call["request"] for call in server.begun()[:asked])
            assert sum(sent.values()) - len(sent) <= 2 * KILLS * FLIGHT
    finally:
        server.stop()
