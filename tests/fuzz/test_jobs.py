"""Whole jobs on an endpoint that answers oddly, over HTTP: what is no answer is a failure, and never a label."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from assessor.campaigns.models import Campaign
from assessor.llm import runner
from assessor.llm.actions import launch, plan_job
from assessor.llm.job_kind import job_kind_named
from assessor.llm.models import Call, Job, Unit
from assignment.formats import LABELS
from tests.examples import examples
from tests.fuzz.database import outside_vocabulary
from tests.fuzz.profile import COUNTS, fuzz
from tests.fuzz.test_replies import _WHOLE, shapes, texts
from tests.judging import all_judged, given, model_of
from tests.llm.conftest import _short_waits  # noqa: F401  # fixture
from tests.llm.grading import make_judge

pytestmark = pytest.mark.django_db(transaction=True)
SAID = ("support", "partial_support", "not_support", "support")
ANSWERS = examples(8, 300)


@contextmanager
def endpoint(answers: list[str]) -> Iterator[str]:
    """Serve these answers one after the other, from the first again after the last; yield the address."""
    left: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            if not left:
                left.extend(reversed(answers))
            message = {"role": "assistant", "content": left.pop()}
            body = json.dumps(_WHOLE | {"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def odd_answers(most: int) -> list[str]:
    """Return what a model might write, changed."""
    made: list[str] = []

    def keep(text: str) -> str:
        made.append(text)
        return "served"

    assert fuzz("replies", "through whole jobs", texts(shapes(SAID)), keep, most) == []
    return made


def test_no_odd_answer_becomes_a_label(campaign: Campaign, import_file: Any):
    nuggets = [{"text": f"nugget {number}"} for number in range(len(SAID))]
    import_file(campaign, "nuggets", [{"query": "", "qid": "t1", "nuggets": nuggets}], condition="N", by="people")
    for number in range(ANSWERS):
        told = {"run_id": f"r{number}", "topic_id": "t1", "references": ["d1"]}
        answer = [{"text": f"Cats purr, says {number}.", "citations": [0]}]
        assert import_file(campaign, "runs", [told | {"answer": answer}], name="r").state == "done"
    with endpoint(odd_answers(ANSWERS * 4)) as address:
        judge = make_judge(campaign, address)
        planned = plan_job(
            kind=job_kind_named("AutoAssign"),
            judge=judge,
            name="odd",
            qrels_source=None,
            topics=list(campaign.topics.all()),
            nuggets=campaign.conditions.get(name="N"),
        )
        job = launch(planned, most_calls=None, most_cost=None, acting_user=None, to_workers=False)
        runner.run_job(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE
    assert job.units_total == ANSWERS
    done, failed = (job.units.filter(state=state).count() for state in (Unit.State.DONE, Unit.State.FAILED))
    assert done + failed == ANSWERS
    labelled = [labels for labels in map(given, all_judged(job.condition)) if labels]
    assert len(labelled) == done
    for labels in labelled:
        assert len(labels) == len(SAID)
        assert set(labels.values()) <= set(LABELS)
    assert outside_vocabulary([model_of(job.condition), Job, Unit, Call]) == []
    came_to = COUNTS["replies", "through whole jobs"]
    came_to.clear()
    came_to.update({"asked of jobs": job.calls, "units done": done, "units failed": failed})
    if ANSWERS > 100:
        assert min(done, failed) > 0
