"""A calibration whose worker is killed while it computes: it is taken up again, and made once."""

import json
import os
import signal
import subprocess
from pathlib import Path

import psutil
import pytest

from metaeval.models import BackgroundWork
from tests.llm.house import House, house, kill_all_of, wait_until

TOPICS, RUNS = 400, 5
ASK = """
from assessor.campaigns.models import Condition
from metaeval.actions import request_calibration
from metaeval.background import send_hint

human, judged = (Condition.objects.select_related("campaign", "judge").get(name=name) for name in ("People", "Model"))
send_hint(request_calibration(campaign=human.campaign, human=human, judged=judged, acting_user=None))
"""


def fill(study: House, folder: Path) -> None:
    """Load labels of people and of a model on the same nuggets, which differ here and there."""
    topics = folder / "topics.tsv"
    topics.write_text("".join(f"t{topic}\ttitle\n" for topic in range(TOPICS)))
    commands = [["create_campaign", "study"], ["import_topics", "study", str(topics)]]
    words = ("support", "partial_support", "not_support")
    for name, by, every in (("People", "people", 3), ("Model", "model", 2)):
        file = folder / f"{name}.jsonl"
        lines = []
        for at in range(TOPICS * RUNS):
            of_answer = {"qid": f"t{at // RUNS}", "run_id": f"r{at % RUNS}", "answer_text": "Cats purr."}
            said = words[(at // every) % 3]
            nuggets = [{"text": text, "importance": "vital", "assignment": said} for text in "ab"]
            lines.append(json.dumps({"query": "title", "response_length": 2, "nuggets": nuggets} | of_answer))
        file.write_text("\n".join(lines))
        options = [f"--condition={name}", f"--by={by}", "--nuggets=Nuggets"]
        commands.append(["import_assignments", "study", str(file), *options])
    study.manage_all(commands)


def asked(study: House) -> tuple[str, int]:
    """Return the state of what was asked for, and at which attempt."""
    [found] = study.rows("select state, attempts from metaeval_calibrationrequest")
    return found


def begins(study: House, attempt: int) -> None:
    """Wait until a worker computes, at this attempt."""
    wait_until(lambda: asked(study) == ("running", attempt), f"attempt {attempt}", 60)


def kill_child(worker: "subprocess.Popen[bytes]") -> None:
    """Kill the process in which a worker computes; the worker itself goes on."""
    [child, *_] = psutil.Process(worker.pid).children()
    os.kill(child.pid, signal.SIGKILL)


@pytest.mark.django_db
def test_a_calibration_survives_two_kills_and_is_made_once(tmp_path: Path):
    with house(tmp_path / "data", "embedded://") as study:
        fill(study, tmp_path)
        # In this order: a worker that is there already may be done before whoever asked is.
        study.run(ASK)
        worker = study.start_worker("celery")
        begins(study, 1)
        kill_child(worker)
        begins(study, 2)
        kill_all_of(worker)
        assert asked(study) == ("running", 2)
        assert study.rows("select * from metaeval_calibration") == []

        study.start_worker("celery")
        wait_until(lambda: asked(study)[0] in (BackgroundWork.State.DONE, BackgroundWork.State.FAILED), "its end", 60)
        assert asked(study) == ("done", 3)
        made = study.rows("select id, labels, topics from metaeval_calibration")
        assert made == [(made[0][0], 2 * TOPICS * RUNS, TOPICS)]
        assert study.rows("select calibration_id from metaeval_calibrationrequest") == [(made[0][0],)]
        assert len(study.rows("select * from campaigns_event where verb = 'calibration made'")) == 1
