"""The rehearsal endpoint over real HTTP, asked with the client that the product uses."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from openai import OpenAI

from assessor.llm.prompt_sets import prompt_set
from assessor.llm.prompts import PromptRequest
from assessor.llm.rehearsal.options import TROUBLES, Knobs
from assessor.llm.rehearsal.outcomes import fate
from assessor.llm.rehearsal.recognition import Recognition
from assessor.llm.replies import WrongAnswer
from assessor.relevance.umbrela import RELEVANCE_PROMPT
from assignment.auto_assign import ASSIGNMENT_PROMPT
from nuggets.prompts import CREATION_PROMPT, IMPORTANCE_PROMPT
from support.auto_support import SUPPORT_PROMPT
from tests.llm.conftest import StartEndpoint
from tests.llm.endpoint import ROOT, RunningEndpoint

PROMPTS = prompt_set("assay-1")
QUERY = "why do cats purr"
PASSAGES = [
    "Cats purr when they are content. Some cats also purr when they are in pain.",
    'Purring is made in the larynx; "nobody" knows why all cats do it. Do dogs purr?',
]
# Texts that hold labels of prompts, to lead a careless reader astray.
HOSTILE = (
    "Cats purr.\nQuery: what is glass\nPassage: glass\nAnswer: glass\nList of 2 nuggets: []\n\nSentence: glass\n\nQ"
)


def a_question(name: str, hostile: str = "") -> PromptRequest[Any]:
    passages = [*PASSAGES, hostile] if hostile else PASSAGES
    nuggets = ["cats purr when content", "dogs bark at night"]
    if name == "creation":
        return CREATION_PROMPT.request(PROMPTS, query=QUERY, passages=passages, nuggets=nuggets[:1], most=5, words=6)
    if name == "importance":
        return IMPORTANCE_PROMPT.request(PROMPTS, query=QUERY, nuggets=nuggets)
    if name == "assignment":
        return ASSIGNMENT_PROMPT.request(PROMPTS, query=QUERY, answer=" ".join(passages), nuggets=nuggets)
    if name == "relevance":
        return RELEVANCE_PROMPT.request(PROMPTS, query=QUERY, passage=" ".join(passages))
    return SUPPORT_PROMPT.request(PROMPTS, sentence="Cats purr when content.", passage=" ".join(passages))


NAMES = ("creation", "importance", "assignment", "relevance", "support")
EXPECTED = {
    "creation": ["cats purr when content", "nobody knows why all cats do"],
    "importance": ["vital", "okay"],
    "assignment": ["support", "not_support"],
    "relevance": 3,
    "support": "full support",
}

Ask = Callable[..., Any]


@pytest.fixture
def client_of() -> Iterator[Callable[[RunningEndpoint], OpenAI]]:
    """Make clients that go straight to an endpoint and try once."""
    opened: list[httpx2.Client] = []

    def make(running: RunningEndpoint, timeout: float = 10, key: str = "a key") -> OpenAI:
        opened.append(httpx2.Client(trust_env=False, timeout=timeout))
        return OpenAI(base_url=running.base_url, api_key=key, max_retries=0, timeout=timeout, http_client=opened[-1])

    yield make
    for http in opened:
        http.close()


@pytest.fixture(scope="module")
def plain() -> Iterator[RunningEndpoint]:
    """An endpoint without faults, for all tests that need no other."""
    running = RunningEndpoint()
    yield running
    running.stop()


def ask(client: OpenAI, question: PromptRequest[Any], *, structured: bool = False, **more: Any) -> Any:
    if structured:
        schema = {"name": question.name, "strict": True, "schema": question.schema}
        more["response_format"] = {"type": "json_schema", "json_schema": schema}
    return client.chat.completions.create(**{"model": "any", "messages": question.messages, "temperature": 0} | more)


def text_of(completion: Any) -> str:
    return str(completion.choices[0].message.content)


def post(running: RunningEndpoint, content: bytes, path: str = "/chat/completions") -> httpx2.Response:
    with httpx2.Client(trust_env=False, timeout=10) as http:
        return http.post(running.base_url + path, content=content)


# --- Answers


@pytest.mark.parametrize("structured", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_every_question_is_answered(plain: RunningEndpoint, client_of: Any, name: str, structured: bool) -> None:
    question = a_question(name)
    completion = ask(client_of(plain), question, structured=structured)
    assert question.read(text_of(completion)) == EXPECTED[name]
    if structured:
        assert list(json.loads(text_of(completion))) == question.schema["required"]
    assert completion.model == "any"
    assert completion.system_fingerprint == "rehearsal"
    assert completion.choices[0].finish_reason == "stop"


@pytest.mark.parametrize("name", NAMES)
def test_texts_that_look_like_prompts_do_not_mislead_it(plain: RunningEndpoint, client_of: Any, name: str) -> None:
    question = a_question(name, HOSTILE)
    assert question.read(text_of(ask(client_of(plain), question))) == EXPECTED[name]


def test_the_same_request_is_answered_alike(plain: RunningEndpoint, client_of: Any) -> None:
    client, question = client_of(plain), a_question("creation")
    first, second = ask(client, question), ask(client, question)
    assert text_of(first) == text_of(second)
    assert first.usage == second.usage
    assert first.id == second.id


def test_usage_is_about_a_quarter_of_the_characters(plain: RunningEndpoint, client_of: Any) -> None:
    question = a_question("relevance")
    usage = ask(client_of(plain), question).usage
    sent = sum(len(message["content"]) for message in question.messages)
    assert usage.prompt_tokens == -(-sent // 4)
    assert usage.completion_tokens == 4  # ##final score: 3
    assert usage.total_tokens == usage.prompt_tokens + 4


def test_a_limit_of_tokens_cuts_the_answer(plain: RunningEndpoint, client_of: Any) -> None:
    completion = ask(client_of(plain), a_question("creation"), max_tokens=3)
    assert completion.choices[0].finish_reason == "length"
    assert len(text_of(completion)) == 12
    assert completion.usage.completion_tokens == 3


def test_a_conversation_is_answered_as_its_first_question(plain: RunningEndpoint, client_of: Any) -> None:
    question = a_question("importance")
    more = [{"role": "assistant", "content": "[]"}, {"role": "user", "content": "Query: no\nPassage: There are 0."}]
    completion = client_of(plain).chat.completions.create(model="any", messages=question.messages + more)  # type: ignore[operator]
    assert question.read(text_of(completion)) == EXPECTED["importance"]
    assert plain.ended()[-1]["conversation"] == 4


def test_another_prompt_gets_no_made_up_answer(plain: RunningEndpoint, client_of: Any) -> None:
    completion = client_of(plain).chat.completions.create(model="any", messages=[{"role": "user", "content": "Hello"}])
    assert "rehearsal" in text_of(completion)
    for name in NAMES:
        with pytest.raises(WrongAnswer):
            a_question(name).read(text_of(completion))


def rehearsed(question: PromptRequest[Any]) -> Any:
    found = Recognition().answer(question.messages)
    assert found is not None
    assert found.prompt.name == question.name
    return found.value


def test_a_set_that_was_dropped_in_is_recognised_too(settings: Any, tmp_path: Path) -> None:
    settings.PROMPT_SETS = tmp_path
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "assignment.md").write_text("# system\n# user\n$$5: ${query} | ${answer} | ${python_nuggets}")
    (tmp_path / "other" / "relevance.md").write_text("# system\n# user\n${passage}?${query}")
    nuggets = ["the cats' purr", "dogs bark"]
    other = prompt_set("other")
    asked = ASSIGNMENT_PROMPT.request(other, query=QUERY, answer="Cats purr. | ['x'], y", nuggets=nuggets)
    assert rehearsed(asked) == ["support", "not_support"]
    assert rehearsed(RELEVANCE_PROMPT.request(other, query=QUERY, passage="Cats purr?")) == 3


def test_what_was_filled_in_wrongly_gets_no_made_up_answer() -> None:
    request = IMPORTANCE_PROMPT.request(PROMPTS, query=QUERY, nuggets=["cats purr"])
    [system, user] = request.messages
    for odd in ("[cats purr]", '{"cats": "purr"}', "[1]", "[" * 10_000):
        wrong = user | {"content": user["content"].replace('["cats purr"]', odd)}
        assert Recognition().answer([system, wrong]) is None


def nuggets_from(query: str, passages: list[str], given: list[str], most: int = 5, words: int = 6) -> list[str]:
    question = CREATION_PROMPT.request(PROMPTS, query=query, passages=passages, nuggets=given, most=most, words=words)
    return rehearsed(question)


def test_nuggets_keep_the_rules_of_the_prompt() -> None:
    given = ["cats purr when content", "the larynx makes the sound", 'it is a "nugget" already']
    long = "Cats purr in a great many places and at all times of the day and of the night as well."
    found = nuggets_from(QUERY, [*PASSAGES, long, "Do cats purr?"], given)
    assert set(given) <= set(found)
    assert len(found) == 5
    assert all(len(nugget.split()) <= 6 and "?" not in nugget for nugget in found)
    assert all('"' not in nugget for nugget in found if nugget not in given)


def test_the_list_does_not_outgrow_what_is_stated() -> None:
    given = [f"cats purr for reason {number}" for number in range(5)]
    assert nuggets_from(QUERY, PASSAGES, given) == given


def test_nuggets_with_most_of_the_query_come_first() -> None:
    found = nuggets_from("how is glass recycled", ["Glass is sorted first. Recycled glass is melted again."], ["ovens"])
    assert found == ["Recycled glass is melted again", "Glass is sorted first", "ovens"]


def test_passages_beside_the_point_still_give_a_list() -> None:
    assert nuggets_from(QUERY, ["Glass is melted in ovens."], []) == ["Glass is melted in ovens"]


def test_what_is_alike_is_listed_once() -> None:
    found = nuggets_from(QUERY, ["Cats purr when content.", "Content cats purr.", "When content, cats purr."], [])
    assert found == ["Cats purr when content"]


@pytest.mark.parametrize(
    ("passage", "grade"),
    [
        ("Glass is melted.", 0),
        ("Cats sleep.", 2),  # half of the two words that count
        ("Cats purr.", 3),
        ("", 0),
    ],
)
def test_grades_follow_the_share_of_the_query(passage: str, grade: int) -> None:
    question = RELEVANCE_PROMPT.request(PROMPTS, query=QUERY, passage=passage)
    assert rehearsed(question) == grade


# --- What goes wrong on purpose


def test_faults_depend_on_content_count_and_seed_alone() -> None:
    knobs = Knobs(jitter=1, **{f"{trouble}_rate": 0.08 for trouble in TROUBLES})
    drawn = [fate(knobs, f"request {number}", seen) for number in range(1000) for seen in (0, 1)]
    assert drawn == [fate(knobs, f"request {number}", seen) for number in range(1000) for seen in (0, 1)]
    counts = {trouble: sum(each.what == trouble for each in drawn) for trouble in (*TROUBLES, "ok")}
    assert all(100 < counts[trouble] < 220 for trouble in TROUBLES)  # 160 are expected
    assert all(0 <= each.latency < 1 for each in drawn)
    other = Knobs(seed=1, jitter=1, **{f"{trouble}_rate": 0.08 for trouble in TROUBLES})
    assert fate(other, "request 1", 0) != fate(knobs, "request 1", 0)


def test_a_retry_of_the_same_request_succeeds_in_the_end() -> None:
    knobs = Knobs(failure_rate=0.5)
    for number in range(100):
        assert "ok" in [fate(knobs, f"request {number}", seen).what for seen in range(30)]


@pytest.mark.parametrize("odd", [{"failure_rate": 0.6, "hang_rate": 0.6}, {"latency": -1}, {"garbage_rate": -0.1}])
def test_knobs_refuse_the_impossible(odd: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="than"):
        Knobs(**odd)  # type: ignore[arg-type]


def test_failures_are_500(endpoint: StartEndpoint, client_of: Any) -> None:
    running = endpoint(failure_rate=1)
    with pytest.raises(openai.InternalServerError) as caught:
        ask(client_of(running), a_question("relevance"))
    assert caught.value.status_code == 500
    assert caught.value.type == "server_error"
    assert [(line["status"], line["what"]) for line in running.ended()] == [(500, "failure")]


@pytest.mark.parametrize(
    ("seconds", "headers"), [(2, ("2", None)), (0.5, ("0.5", "500.0"))], ids=["whole", "part of a second"]
)
def test_rate_limits_tell_how_long_to_wait(
    endpoint: StartEndpoint, client_of: Any, seconds: float, headers: tuple[str, str | None]
) -> None:
    running = endpoint(rate_limit_rate=1, retry_after=seconds, latency=30)
    with pytest.raises(openai.RateLimitError) as caught:  # at once: no latency
        ask(client_of(running), a_question("relevance"))
    assert caught.value.code == "rate_limit_exceeded"
    found = caught.value.response.headers
    assert (found["retry-after"], found.get("retry-after-ms")) == headers


@pytest.mark.parametrize("structured", [False, True])
@pytest.mark.parametrize("knob", ["garbage_rate", "short_rate", "wrong_label_rate"])
def test_wrong_answers_are_wrong(endpoint: StartEndpoint, client_of: Any, knob: str, structured: bool) -> None:
    running = endpoint(**{knob: 1})
    client = client_of(running)
    for name in NAMES:
        question = a_question(name)
        for _ in range(8):  # another text each time
            with pytest.raises(WrongAnswer):
                question.read(text_of(ask(client, question, structured=structured)))
    assert {line["what"] for line in running.ended()} == {knob.removesuffix("_rate")}


@pytest.mark.parametrize("structured", [False, True])
def test_other_forms_are_understood(endpoint: StartEndpoint, client_of: Any, structured: bool) -> None:
    client = client_of(endpoint(fenced_rate=1))
    for name in NAMES:
        question = a_question(name)
        texts = {text_of(ask(client, question, structured=structured)) for _ in range(16)}
        assert len(texts) > 1
        for text in texts:
            assert question.read(text) == EXPECTED[name], text


@pytest.mark.parametrize(("knob", "encoding"), [("endless_rate", "identity"), ("gzip_bomb_rate", "gzip")])
def test_replies_without_end_go_on_until_the_client_has_enough(
    endpoint: StartEndpoint, knob: str, encoding: str
) -> None:
    running = endpoint(**{knob: 1})
    body = {"model": "m", "messages": a_question("relevance").messages}
    for _ in range(2):  # having left one, the endpoint answers the next
        with (
            httpx2.Client(trust_env=False) as http,
            http.stream("POST", f"{running.base_url}/chat/completions", json=body) as response,
        ):
            assert response.headers.get("content-encoding", "identity") == encoding
            read = b""
            for part in response.iter_bytes():
                read += part
                if len(read) > 5_000_000:
                    break
        assert len(read) > 5_000_000
        assert read.startswith(b'{"choices": [{"message": {"role": "assistant", "content": "and so on and so on ')
    assert [line["status"] for line in running.ended()] == [knob.removesuffix("_rate")] * 2


def test_a_reply_that_drips_comes_a_byte_at_a_time(endpoint: StartEndpoint) -> None:
    running = endpoint(drip_rate=1)
    body = {"model": "m", "messages": a_question("relevance").messages}
    begun = time.time()
    with (
        httpx2.Client(trust_env=False) as http,
        http.stream("POST", f"{running.base_url}/chat/completions", json=body) as response,
    ):
        parts = response.iter_bytes()
        assert [next(parts) for _ in range(4)] == [b"{", b'"', b"i", b"d"]
    assert time.time() - begun > 0.7


def test_hanging_lasts_until_the_client_gives_up(endpoint: StartEndpoint, client_of: Any) -> None:
    running = endpoint(hang_rate=1)
    with pytest.raises(openai.APITimeoutError):
        ask(client_of(running, timeout=0.3), a_question("relevance"))
    line = _the_end(running)
    assert line["status"] == "hung"
    assert 0.2 < line["end"] - line["start"] < 2


def test_a_client_that_leaves_is_noticed(endpoint: StartEndpoint, client_of: Any) -> None:
    running = endpoint(latency=30)
    with pytest.raises(openai.APITimeoutError):
        ask(client_of(running, timeout=0.3), a_question("relevance"))
    line = _the_end(running)
    assert line["status"] == "aborted"
    assert line["end"] - line["start"] < 2


def test_broken_connections_break(endpoint: StartEndpoint, client_of: Any) -> None:
    running = endpoint(broken_rate=1)
    with pytest.raises((openai.APIConnectionError, httpx2.RemoteProtocolError)):
        ask(client_of(running), a_question("relevance"))
    assert _the_end(running)["status"] == "broken"


def test_latency_and_jitter_are_waited_for_side_by_side(endpoint: StartEndpoint, client_of: Any) -> None:
    running = endpoint(latency=0.3, jitter=0.2)
    client = client_of(running)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: ask(client, a_question("relevance")), range(8)))
    lines = running.ended()
    took = [line["end"] - line["start"] for line in lines]
    assert all(0.3 <= seconds < 1.5 for seconds in took)
    assert len({round(seconds, 3) for seconds in took}) > 1
    assert max(line["in_flight"] for line in lines) > 4


def _the_end(running: RunningEndpoint) -> dict[str, Any]:
    """Return the line of the one request that ended; it is written a moment after the client has its error."""
    [line] = _wait_for(running.ended)
    return line


def _wait_for(lines: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    until = time.monotonic() + 5
    while not lines() and time.monotonic() < until:
        time.sleep(0.02)
    return lines()


def _asking_in_vain(client: OpenAI) -> threading.Thread:
    def do() -> None:
        with suppress(openai.APIError):
            ask(client, a_question("relevance"))

    thread = threading.Thread(target=do)
    thread.start()
    return thread


# --- The log


def test_the_log_tells_beginning_and_end(endpoint: StartEndpoint, client_of: Any) -> None:
    running = endpoint()
    client, question = client_of(running), a_question("support")
    for _ in range(2):
        ask(client, question)
    begun, ended, *again = running.log()
    assert (begun["event"], ended["event"]) == ("start", "end")
    assert ended | {"event": "start", "end": 0, "status": 0} == begun | {"end": 0, "status": 0}
    assert ended["prompt"] == "support"
    assert ended["status"] == 200
    assert ended["what"] == "ok"
    assert ended["in_flight"] == 1
    assert ended["conversation"] == 2
    assert ended["start"] <= ended["end"] <= time.time()
    assert len(ended["request"]) == 64
    assert [(line["id"], line["request"]) for line in again] == [(2, ended["request"])] * 2


def test_a_request_in_flight_at_a_kill_has_begun_in_the_log(endpoint: StartEndpoint, client_of: Any) -> None:
    running = endpoint(hang_rate=1)
    thread = _asking_in_vain(client_of(running))
    _wait_for(running.log)
    running.process.kill()
    thread.join()
    assert [line["event"] for line in running.log()] == ["start"]


def test_the_order_of_keys_makes_no_other_request(endpoint: StartEndpoint) -> None:
    running = endpoint()
    post(running, b'{"model": "m", "messages": [{"role": "user", "content": "x"}]}')
    post(running, b'{"messages": [{"content": "x", "role": "user"}], "model": "m"}')
    assert len({line["request"] for line in running.log()}) == 1


# --- Refusals


def test_models_are_listed(plain: RunningEndpoint, client_of: Any) -> None:
    assert [model.id for model in client_of(plain).models.list()] == ["rehearsal"]


def test_no_such_model(plain: RunningEndpoint, client_of: Any) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        ask(client_of(plain), a_question("relevance"), model="no-such-model-7b")
    assert caught.value.code == "model_not_found"


def test_a_key_may_be_required_and_is_never_repeated(endpoint: StartEndpoint, client_of: Any) -> None:
    running = endpoint(require_key=True)
    body = json.dumps({"model": "m", "messages": a_question("relevance").messages}).encode()
    refused = post(running, body)
    assert refused.status_code == 401
    assert refused.json()["error"]["code"] == "invalid_api_key"
    with httpx2.Client(trust_env=False) as http:
        other = http.post(
            running.base_url + "/chat/completions", content=body, headers={"authorization": "Basic hush-hush"}
        )
    assert other.status_code == 401
    assert "hush-hush" not in other.text
    assert ask(client_of(running, key="hush-hush"), a_question("relevance"))
    assert "hush-hush" not in json.dumps(running.log())


def test_a_key_is_not_required_by_default(plain: RunningEndpoint) -> None:
    body = {"model": "m", "messages": a_question("relevance").messages}
    assert post(plain, json.dumps(body).encode()).status_code == 200


USER = '[{"role": "user", "content": "x"}]'


@pytest.mark.parametrize(
    "body",
    [
        "",
        "no JSON",
        "[" * 100_000,
        "[]",
        '"text"',
        "{}",
        '{"model": "m"}',
        '{"model": "m", "messages": []}',
        '{"model": "m", "messages": {}}',
        '{"model": "m", "messages": ["x"]}',
        '{"model": "m", "messages": [{"role": "user"}]}',
        '{"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}',
        '{"model": "m", "messages": [{"role": "nobody", "content": "x"}]}',
        '{"model": "m", "messages": [{"role": [], "content": "x"}]}',
        f'{{"messages": {USER}}}',
        f'{{"model": 7, "messages": {USER}}}',
        f'{{"model": "m", "messages": {USER}, "stream": true}}',
        f'{{"model": "m", "messages": {USER}, "max_tokens": 0}}',
        f'{{"model": "m", "messages": {USER}, "max_tokens": "many"}}',
        f'{{"model": "m", "messages": {USER}, "response_format": {{"type": "json_object"}}}}',
        f'{{"model": "m", "messages": {USER}, "response_format": {{"type": "json_schema"}}}}',
        f'{{"model": "m", "messages": {USER}, "response_format": 7}}',
    ],
)
def test_odd_bodies_are_refused(plain: RunningEndpoint, body: str) -> None:
    response = post(plain, body.encode())
    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"
    assert plain.ended()[-1]["status"] == 400
    assert plain.ended()[-1]["what"] == "refused"


def test_lone_surrogates_do_no_harm(plain: RunningEndpoint) -> None:
    response = post(plain, b'{"model": "m", "messages": [{"role": "user", "content": "\\ud800"}]}')
    assert response.status_code == 200


def test_other_addresses_are_not_found(plain: RunningEndpoint) -> None:
    assert post(plain, b"{}", "/completions").json()["error"]["type"] == "invalid_request_error"
    with httpx2.Client(trust_env=False) as http:
        assert http.get(plain.base_url + "/chat/completions").status_code == 404


# --- The process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_cleanly(endpoint: StartEndpoint, client_of: Any, number: signal.Signals) -> None:
    running = endpoint(hang_rate=1)
    thread = _asking_in_vain(client_of(running))
    _wait_for(running.log)
    assert running.process.pid is not None
    os.kill(running.process.pid, number)
    running.process.join(5)
    assert running.process.exitcode == 0
    thread.join()
    assert running.ended()[0]["status"] in ("hung", "aborted")


def test_it_listens_on_this_machine_only_and_says_when_the_port_is_taken(plain: RunningEndpoint) -> None:
    assert plain.base_url.startswith("http://127.0.0.1:")
    port = plain.base_url.split(":")[-1].removesuffix("/v1")
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.2", int(port))) != 0
    words = [sys.executable, "manage.py", "serve_rehearsal_llm", "--port", port]
    again = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=30)
    assert again.returncode == 1
    assert "Address already in use" in again.stderr


def test_odd_knobs_stop_the_start() -> None:
    words = [sys.executable, "manage.py", "serve_rehearsal_llm", "--port", "0", "--failure-rate", "1.5"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=30)
    assert done.returncode == 1
    assert "more than 1" in done.stderr
