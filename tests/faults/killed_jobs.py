"""Workers that are killed ten times while they do a job, for each kind that builds on questions, answers or labels.

    python -m pytest tests/faults/killed_jobs.py

It takes minutes, most of them to start workers, so it is no part of the tests that are collected.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.llm.endpoint import RunningEndpoint
from tests.llm.house import House, house, kill_all_of, wait_until
from tests.questions.banks import answer, bank, question
from tests.support.lines import FULL, cites, line

KILLS, FLIGHT, RUNS, TOPICS, DOCUMENTS = 10, 8, 6, 20, 3
PAIRS = 15 * TOPICS  # of six answers to each topic
ANSWERS = RUNS * TOPICS
LAUNCH = """
from assessor.llm.actions import launch, plan_job
from assessor.llm.job_kind import job_kind_named

judge = ModelJudge.objects.select_related("judge", "campaign").get()
kind, campaign = job_kind_named("{kind}"), judge.campaign
plan = plan_job(
    kind=kind, judge=judge, name="{kind}", topics=list(campaign.topics.all()),
    qrels_source=campaign.qrels_sources.get(), nuggets=campaign.conditions.get(name="Asked"),
    preferences=campaign.conditions.filter(name="PrefJudge").first(),
    other_nuggets=campaign.conditions.filter(name="PrefQuestions").first(),
    support=campaign.conditions.get(name="Supported"),
)
launch(plan, most_calls=None, most_cost=None, acting_user=None)
"""


class Kept(NamedTuple):
    """What a job must have kept: so many rows of a table, all different in these columns."""

    table: str
    columns: str
    rows: int
    where: str = "1 = 1"


# By kind of job, in an order in which each finds what it builds on: how many units, how many requests at least, and
# what is kept.
JOBS = {
    "PrefJudge": (
        PAIRS,
        2 * PAIRS,
        [
            Kept(
                "preference_preferencepair",
                "first_id, second_id",
                PAIRS,
                "state = 'given' and verdict <> '' and reversed_verdict <> ''",
            ),
            Kept("preference_labelevent", "pair_id, version", PAIRS),
        ],
    ),
    "PrefQuestions": (TOPICS, PAIRS // 2, [Kept("nuggets_drafting", "topic_id", TOPICS)]),
    "AutoMatch": (TOPICS, 2 * TOPICS, [Kept("matching_bankmatching", "topic_id", TOPICS, "number = 1")]),
    "Report": (
        TOPICS * 2 * DOCUMENTS,
        TOPICS * 2 * DOCUMENTS,
        [Kept("reports_reading", "topic_id, question, docid", TOPICS * 2 * DOCUMENTS)],
    ),
    "AutoArgue": (
        ANSWERS,
        3 * ANSWERS,
        [
            Kept("argue_arguesheet", "answer_id", ANSWERS, "to_do = 0"),
            Kept("argue_arguejudgment", "sheet_id, key", 3 * ANSWERS, "state = 'given'"),
            Kept("argue_labelevent", "sheet_id, version, judgment_id", 3 * ANSWERS, "judgment_id is not null"),
        ],
    ),
    "AutoCandidates": (ANSWERS, ANSWERS, [Kept("candidates_sentencematch", "answer_id, nugget_id", ANSWERS)]),
}


@pytest.fixture
def server() -> Iterator[RunningEndpoint]:
    running = RunningEndpoint(latency=0.25)
    yield running
    running.stop()


@pytest.fixture
def study(db: None, tmp_path: Path) -> Iterator[House]:
    with house(tmp_path / "data", "embedded://") as found:
        yield found


def fill(study: House, folder: Path, url: str) -> None:
    """Load topics, documents that are relevant to them, questions about these, and answers that cite one of them."""
    topics = [f"t{number}" for number in range(TOPICS)]
    documents = [(qid, f"{qid}-d{number}") for qid in topics for number in range(DOCUMENTS)]
    files: dict[str, list[str]] = {
        "topics": [f"{qid}\twhy do cats purr {qid}" for qid in topics],
        "segments": [
            json.dumps({"docid": docid, "segment": f"Cats purr in {docid} because they heal. Dogs bark."})
            for _, docid in documents
        ],
        "qrels": [f"{qid} 0 {docid} 2" for qid, docid in documents],
        "questions": [json.dumps(_bank(qid)) for qid in topics],
    }
    options = {"qrels": ["--source=Q", "--by=people"], "questions": ["--condition=Asked", "--by=people"]}
    commands = [["create_campaign", "study"]]
    for kind, lines in files.items():
        (folder / kind).write_text("".join(f"{line}\n" for line in lines))
        commands.append([f"import_{kind}", "study", str(folder / kind), *options.get(kind, [])])
    for run in range(RUNS):
        (folder / f"r{run}").write_text("".join(_answer(run, qid) for qid in topics))
        commands.append(["import_run", "study", str(folder / f"r{run}")])
    labels = (
        line(qid, f"r{run}", cites(_text(run, qid), **{f"{qid}-d0": FULL})) for run in range(RUNS) for qid in topics
    )
    (folder / "support").write_text("".join(f"{json.dumps(one)}\n" for one in labels))
    commands.append(["import_support", "study", str(folder / "support"), "--condition=Supported", "--by=people"])
    commands.append(["create_judge", "study", "j", "--model=m", f"--base-url={url}", f"--concurrency={FLIGHT}"])
    study.manage_all(commands)


def _bank(qid: str) -> dict[str, object]:
    why, where = f"Why do cats purr in {qid}?", f"Who barks in {qid}?"
    cited = f"{qid}-d0"
    return bank(question(why, answer("They heal", cited)), question(where, answer("Dogs", cited)), qid=qid)


def _text(run: int, qid: str) -> str:
    return f"Answer {run} to {qid}: cats purr{', and softly' * run}."


def _answer(run: int, qid: str) -> str:
    metadata = {"run_id": f"r{run}", "team_id": "t", "topic_id": qid}
    responses = [{"text": _text(run, qid), "citations": [f"{qid}-d0"]}]
    return json.dumps({"metadata": metadata, "responses": responses, "references": [f"{qid}-d0"]}) + "\n"


def work_while_killed(
    study: House, server: RunningEndpoint, name: str, launch: str, requests: int, ends: tuple[str] = ("done",)
) -> None:
    """Launch jobs and let them end, while their worker is killed evenly over their requests."""
    before = len(server.ended())
    worker = study.start_worker()
    study.run(launch)
    for kill in range(1, KILLS + 1):
        share = before + kill * requests // (KILLS + 2)
        wait_until(lambda share=share: len(server.ended()) >= share, f"work before kill {kill} of {name}", 60)
        kill_all_of(worker)
        worker = study.start_worker()
    wait_until(lambda: set(study.rows("select state from llm_job")) == {ends}, f"the end of {name}", 120)
    kill_all_of(worker)


def are_asked_as_often(server: RunningEndpoint, begun: int, name: str) -> None:
    """Assert that no more was asked twice since then than was in flight at kills."""
    sent = Counter(call["request"] for call in server.begun()[begun:])
    assert sum(sent.values()) - len(sent) <= 2 * KILLS * FLIGHT, name


def test_nothing_is_lost_or_doubled_over_ten_kills_of_each_job(study: House, server: RunningEndpoint, tmp_path: Path):
    fill(study, tmp_path, server.base_url)
    for kind, (units, requests, kept) in JOBS.items():
        begun = len(server.begun())
        work_while_killed(study, server, kind, LAUNCH.format(kind=kind), requests)
        counts = f"select units_done, units_failed from llm_job where kind = '{kind}'"
        assert study.rows(counts) == [(units, 0)], kind
        for table, columns, rows, where in kept:
            found = study.rows(f"select {columns} from {table} where {where}")  # our own names
            assert (len(found), len(set(found))) == (rows, rows), table
        are_asked_as_often(server, begun, kind)
    good = study.rows("select request from llm_call where outcome = 'good'")
    assert len(good) == len(set(good)), "no answer was paid and kept twice"


MANY, BUDGET = 60, 1_000
GET = """
from assessor.studies.control_sets import ask, draw_control_set
from assessor.studies.sensitivity_actions import draw_sensitivity, launch_variants, plan_variants
from assignment.trials.actions import set_trials, try_nugget
from tests.conftest import ASSESSOR, make_person
from tests.judging import give

judge = ModelJudge.objects.select_related("judge", "campaign").get()
campaign = judge.campaign
bank, former = (campaign.conditions.get(name=name) for name in ("Bank", "Former"))
"""
FIRST = """
from assessor.llm.actions import launch, plan_job
from assessor.llm.job_kind import job_kind_named
topics = list(campaign.topics.all())
plan = plan_job(
    kind=job_kind_named("AutoAssign"), judge=judge, name="First", topics=topics, qrels_source=None, nuggets=bank
)
launch(plan, most_calls=None, most_cost=None, acting_user=None)
"""
AGAIN = f"""
first = campaign.conditions.get(name="First")
ask(control=draw_control_set(condition=first, name="Weekly", cells={2 * MANY}, acting_user=None), acting_user=None)
"""
VARIANTS = f"""
factors = dict(judge=["j"], prompt_set=["assay-1"], batch=[10], order=["bank", "reversed"], replicate=[0])
study = draw_sensitivity(nuggets=bank, name="Varied", factors=factors, topics=2, runs={MANY}, acting_user=None)
launch_variants(plan_variants(study), acting_user=None)
"""
TRIAL = f"""
anna = make_person("anna", ASSESSOR)
edited = give(former, campaign.topics.get(qid="t0"), anna).nugget_bank
set_trials(campaign=campaign, nuggets=former, judge=judge, most_calls={BUDGET}, acting_user=anna)
try_nugget(bank=edited, uid=edited.nuggets.earliest("pk").uid, acting_user=anna)
"""
# How many units, how many requests, and what is kept. The first variant asks what AutoAssign asked, and is answered
# from the ledger; a control set asks anew, under a replicate of its own.
OF_BANKS = {
    "AutoAssign": (FIRST, 2 * MANY, 2 * MANY, Kept("assignment_assignment", "sheet_id, nugget_id", 4 * MANY)),
    "control set": (AGAIN, 2 * MANY, 2 * MANY, Kept("assignment_assignment", "sheet_id, nugget_id", 8 * MANY)),
    "variants": (VARIANTS, 4 * MANY, 2 * MANY, Kept("assignment_assignment", "sheet_id, nugget_id", 16 * MANY)),
    "AutoTrial": (TRIAL, MANY, MANY, Kept("trials_triallabel", "answer_id", MANY)),
}


def fill_with_banks(study: House, folder: Path, url: str) -> None:
    """Load two topics with nuggets, of this edition and of a former one, and many answers to them."""
    topics = ["t0", "t1"]
    nuggets = [{"text": text, "importance": "vital"} for text in ("Cats purr", "Dogs bark")]
    banks = [json.dumps({"qid": qid, "query": "", "nuggets": nuggets}) for qid in topics]
    of_former = ["--condition=Former", "--qrels=Q", "--edition=2024", "--edition-date=2024", "--by=people"]
    files: list[tuple[str, list[str], list[str]]] = [
        ("topics", [f"{qid}\twhy do cats purr {qid}" for qid in topics], []),
        ("segments", [json.dumps({"docid": f"{qid}-d0", "segment": "Cats purr."}) for qid in topics], []),
        ("qrels", [f"{qid} 0 {qid}-d0 2" for qid in topics], ["--source=Q", "--by=people"]),
        ("nuggets", banks, ["--condition=Bank", "--by=people"]),
        ("former_nuggets", banks, of_former),
    ]
    commands = [["create_campaign", "study"]]
    for kind, lines, options in files:
        (folder / kind).write_text("".join(f"{line}\n" for line in lines))
        commands.append([f"import_{kind}", "study", str(folder / kind), *options])
    for run in range(MANY):
        (folder / f"r{run}").write_text("".join(_answer(run, qid) for qid in topics))
        commands.append(["import_run", "study", str(folder / f"r{run}")])
    commands.append(["create_judge", "study", "j", "--model=m", f"--base-url={url}", f"--concurrency={FLIGHT}"])
    study.manage_all(commands)


def test_nothing_is_lost_or_doubled_over_ten_kills_of_what_asks_about_nuggets(
    study: House, server: RunningEndpoint, tmp_path: Path
):
    fill_with_banks(study, tmp_path, server.base_url)
    for name, (code, units, requests, kept) in OF_BANKS.items():
        begun = len(server.begun())
        [(last,)] = study.rows("select coalesce(max(id), 0) from llm_job")
        work_while_killed(study, server, name, GET + code, requests)
        done = study.rows(f"select units_done, units_failed from llm_job where id > {last}")  # a number
        assert (sum(one for one, _ in done), sum(failed for _, failed in done)) == (units, 0), name
        found = study.rows(f"select {kept.columns} from {kept.table}")  # our own names
        assert (len(found), len(set(found))) == (kept.rows, kept.rows), name
        are_asked_as_often(server, begun, name)
    good = study.rows("select request, replicate from llm_call where outcome = 'good'")
    assert len(good) == len(set(good)), "no answer was paid and kept twice"


# Of calls, of each job; of how many jobs.
BUDGETS = {
    "AutoAssign": (FIRST.replace("most_calls=None", "most_calls=60"), 60, 1),
    "variants": (VARIANTS.replace("(study), ", "(study), most_calls=40, "), 40, 2),
    "AutoTrial": (TRIAL.replace(f"most_calls={BUDGET}", "most_calls=60"), 60, 1),
}


@pytest.mark.parametrize("name", BUDGETS)
def test_budgets_hold_over_ten_kills(study: House, server: RunningEndpoint, tmp_path: Path, name: str):
    """What was in flight at a kill is paid and not kept: it counts, so a budget ends before all is done."""
    launch, budget, jobs = BUDGETS[name]
    fill_with_banks(study, tmp_path, server.base_url)
    work_while_killed(study, server, name, GET + launch, budget * jobs, ("halted",))
    assert study.rows("select most_calls, calls_begun from llm_job") == [(budget, budget)] * jobs
    assert len(server.begun()) <= budget * jobs
