"""Trying a judge: a worker sends one small request, and the judge's page shows what came back."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign
from assessor.llm import actions, tasks, trials
from assessor.llm.actions import JobError
from assessor.llm.models import Call, ModelJudge, Trial
from tests.conftest import client_of
from tests.llm.grading import make_judge

pytestmark = pytest.mark.django_db(transaction=True)
HINTS = [{"queue": "celery", "expires": 60.0}, {"queue": "jobs", "expires": 60.0}]
BUSY = "Two judges are being tried at the moment. Try this one when they are done, in two minutes at most."


@pytest.fixture
def client(olga: Person) -> Client:
    return client_of(olga)


@pytest.fixture(autouse=True)
def hints(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, object]]:
    """What workers were told, and how: there are none here."""
    sent: list[dict[str, object]] = []
    monkeypatch.setattr(tasks.carry_out_trial, "apply_async", lambda args, **options: sent.append(options))
    return sent


def page_of(judge: ModelJudge) -> str:
    return f"/campaigns/study/judges/{judge.pk}/"


def try_it(client: Client, judge: ModelJudge) -> str:
    """Press the button; return the page that it leads to."""
    response = client.post(f"{page_of(judge)}try/", follow=True)
    assert response.redirect_chain == [(page_of(judge), 302)]
    return response.content.decode()


def work() -> None:
    """Do what waits, as a worker does."""
    for trial in Trial.objects.order_by("pk"):
        tasks.carry_out_trial(trial.pk)


def polled(client: Client, judge: ModelJudge) -> str:
    """Return what htmx gets each second."""
    part = client.get(page_of(judge), headers={"hx-request": "true"}).content.decode()
    assert "<html" not in part
    return part


def grow_older(trial: Trial, seconds: int) -> None:
    Trial.objects.filter(pk=trial.pk).update(created_at=timezone.now() - timedelta(seconds=seconds))


def test_a_worker_sends_one_request_and_the_page_shows_what_came(campaign: Campaign, endpoint, client: Client, hints):
    server = endpoint()
    judge = make_judge(campaign, server.base_url, price_in=Decimal(1000), price_out=Decimal(2000))
    assert 'id="trial"' in client.get(page_of(judge)).content.decode()
    page = try_it(client, judge)
    assert "Waiting for a worker, for a minute at most." in page
    assert f'hx-get="{page_of(judge)}" hx-trigger="every 1s"' in page
    assert server.begun() == []  # by the web process
    assert hints == HINTS
    work()
    work()  # both workers are told: the second one has nothing to do
    part = polled(client, judge)
    assert "hx-get" not in part
    assert "It works. Its answer: " in part
    call = Call.objects.get()
    assert (call.job, call.unit, call.outcome, len(server.ended())) == (None, None, "good", 1)
    assert "rehearsal (m) · " in part
    assert f"{call.tokens_in} tokens sent, {call.tokens_out} back · " in part
    assert call.cost == judge.cost(call.tokens_in, call.tokens_out) > 0
    assert f"{call.cost.normalize():f} USD" in part
    assert "by <bdi>olga</bdi>, " in part
    judge.judge.refresh_from_db()
    assert judge.judge.is_rehearsal
    server.stop()
    try_it(client, judge)
    work()
    part = polled(client, judge)
    assert "can&#x27;t be reached" in part
    assert "It works" not in part
    assert list(Call.objects.order_by("pk").values_list("outcome", flat=True)) == ["good", "lost"]
    assert Trial.objects.get().call == Call.objects.latest("pk")


@contextmanager
def answering(content: str) -> Iterator[str]:
    """Serve an endpoint that always answers this."""
    body = json.dumps({"model": "m", "choices": [{"message": {"content": content}, "finish_reason": "stop"}]})

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("half a \ud800 pair, \x00 and <b>", "half a ? pair, \ufffd and &lt;b&gt;"),
        ('["vital\ud800", "okay"]', "vital?"),
        ("so " * 100_000, "so so so so …</pre>"),
    ],
    ids=["surrogate and NUL", "surrogate in a label", "long"],
)
def test_a_reply_of_odd_characters_is_shown(campaign: Campaign, client: Client, content: str, shown: str):
    with answering(content) as url:
        judge = make_judge(campaign, url)
        try_it(client, judge)
        work()
    page = client.get(page_of(judge))
    assert page.status_code == 200
    assert "It can't be used like this" in page.content.decode()
    assert shown in page.content.decode()
    assert len(page.content) < 60_000
    assert Call.objects.get().outcome == "wrong"


def test_a_judge_that_cannot_be_asked_says_why_and_sends_nothing(campaign: Campaign, client: Client):
    judge = make_judge(campaign, key_variable="NOBODYS_API_KEY")
    try_it(client, judge)
    work()
    part = polled(client, judge)
    assert "It can't be used like this" in part
    assert "NOBODYS_API_KEY" in part
    assert not Call.objects.exists()


def test_a_set_without_a_prompt_to_try_says_so(campaign: Campaign, client: Client, settings, tmp_path):
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "relevance.md").write_text("# system\n# user\n${query} ${passage}")
    settings.PROMPT_SETS = tmp_path
    judge = make_judge(campaign, prompt_set="part")
    try_it(client, judge)
    work()
    assert "The prompt set part has no prompt with which a judge can be tried." in polled(client, judge)
    assert not Call.objects.exists()


def test_two_are_tried_at_once_and_a_third_one_is_told_to_wait(campaign: Campaign, endpoint, client: Client, hints):
    server = endpoint()
    first, second, third = (make_judge(campaign, server.base_url, name=name) for name in "abc")
    for judge in (first, second, second):  # who presses twice sends one
        assert BUSY not in try_it(client, judge)
    assert hints == HINTS * 2
    page = try_it(client, third)
    assert BUSY in page
    assert "Waiting for" not in page
    assert sorted(Trial.objects.values_list("judge", "place")) == [(first.pk, 1), (second.pk, 2)]
    tasks.carry_out_trial(Trial.objects.get(judge=first).pk)
    assert "Waiting for a worker" in try_it(client, third)
    assert BUSY in try_it(client, first)
    assert "It works" in polled(client, first)  # what was there stays
    work()
    assert len(server.ended()) == Call.objects.count() == 3
    assert set(Trial.objects.values_list("place", flat=True)) == {None}


@pytest.mark.parametrize(
    ("is_begun", "seconds", "message"),
    [
        (False, 61, "Check that workers run, then send another test request."),
        (True, 121, "The worker was stopped before. Send another test request."),
    ],
    ids=["no worker", "killed worker"],
)
def test_a_lost_trial_gives_its_place_up(
    campaign: Campaign, endpoint, client: Client, is_begun: bool, seconds: int, message: str
):
    server = endpoint()
    lost, other, third = (make_judge(campaign, server.base_url, name=name) for name in "abc")
    try_it(client, lost)
    try_it(client, other)
    trial = Trial.objects.get(judge=lost)
    if is_begun:
        Trial.objects.filter(pk=trial.pk).update(begun_at=timezone.now())
        assert "Sent. Waiting for the reply, for 30 seconds at most." in polled(client, lost)
    grow_older(trial, seconds - 5)
    assert "hx-get" in polled(client, lost)
    assert BUSY in try_it(client, third)
    grow_older(trial, seconds)
    assert message in polled(client, lost)
    assert "hx-get" not in polled(client, lost)
    assert BUSY not in try_it(client, third)
    assert message in polled(client, lost)
    tasks.carry_out_trial(trial.pk)  # a message that comes late
    assert server.begun() == []
    work()
    assert BUSY not in try_it(client, lost)
    work()
    assert "It works" in polled(client, lost)


def test_of_many_at_once_two_get_a_place(campaign: Campaign, olga: Person):
    judges = [make_judge(campaign, name=name) for name in "abcdef"]
    outcomes: list[str] = []
    ready = threading.Barrier(len(judges))

    def start(judge: ModelJudge) -> None:
        ready.wait()
        try:
            actions.try_judge(judge=judge, acting_user=olga)
            outcomes.append("")
        except JobError as error:
            outcomes.append(str(error))
        finally:
            connection.close()

    run_at_once([lambda judge=judge: start(judge) for judge in judges])  # type: ignore[misc]
    assert sorted(outcomes) == ["", "", *[BUSY] * 4]
    assert sorted(Trial.objects.values_list("place", flat=True)) == [1, 2]


def test_of_two_workers_one_sends(campaign: Campaign, endpoint, olga: Person):
    server = endpoint(latency=0.3)
    actions.try_judge(judge=make_judge(campaign, server.base_url), acting_user=olga)
    trial = Trial.objects.get()

    def carry_out() -> None:
        try:
            trials.carry_out(trial.pk)
        finally:
            connection.close()

    run_at_once([carry_out] * 3)
    assert len(server.ended()) == Call.objects.count() == 1


def run_at_once(functions: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_what_came_of_it_is_gone_when_the_judge_is_reached_otherwise(campaign: Campaign, endpoint, olga: Person):
    judge = make_judge(campaign, endpoint().base_url)
    actions.try_judge(judge=judge, acting_user=olga)
    actions.change_judge(judge=judge, settings={"timeout": 5}, acting_user=olga)
    assert Trial.objects.exists()  # it has its place until it is over
    work()
    actions.change_judge(judge=judge, settings={"timeout": 5}, acting_user=olga)
    assert Trial.objects.exists()
    actions.change_judge(judge=judge, settings={"timeout": 6}, acting_user=olga)
    assert not Trial.objects.exists()
    assert Call.objects.count() == 1
