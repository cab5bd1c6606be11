"""Files and batches of the rehearsal endpoint, over real HTTP with the client that the product uses."""

import json
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import httpx2
import openai
import pytest
from openai import OpenAI

from assessor.llm.rehearsal.files import MOST_BYTES
from tests.llm.conftest import StartEndpoint
from tests.llm.endpoint import RunningEndpoint
from tests.llm.test_rehearsal import EXPECTED, NAMES, a_question

URL = "/v1/chat/completions"


@pytest.fixture(scope="module")
def plain() -> Iterator[RunningEndpoint]:
    """An endpoint without faults, for all tests that need no other."""
    running = RunningEndpoint()
    yield running
    running.stop()


@pytest.fixture
def client_of() -> Iterator[Callable[[RunningEndpoint], OpenAI]]:
    opened: list[httpx2.Client] = []

    def make(running: RunningEndpoint) -> OpenAI:
        opened.append(httpx2.Client(trust_env=False, timeout=30))
        return OpenAI(base_url=running.base_url, api_key="a key", max_retries=0, http_client=opened[-1])

    yield make
    for http in opened:
        http.close()


def line_of(id: str, body: Any, **more: Any) -> dict[str, Any]:
    return {"custom_id": id, "method": "POST", "url": URL, "body": body} | more


def body_of(name: str, model: str = "m") -> dict[str, Any]:
    return {"model": model, "messages": a_question(name).messages}


def some_lines(count: int, model: str = "m") -> list[dict[str, Any]]:
    """Return requests that differ, of an answer that is always right."""
    return [line_of(f"r{number}", body_of("support", model) | {"seed": number}) for number in range(count)]


def upload(client: OpenAI, lines: Sequence[Any]) -> str:
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    return client.files.create(file=("input.jsonl", text.encode()), purpose="batch").id


def create(client: OpenAI, lines: Sequence[Any], **more: Any) -> Any:
    return client.batches.create(
        **{"input_file_id": upload(client, lines), "endpoint": URL, "completion_window": "24h"} | more
    )


def wait(client: OpenAI, batch: Any, *until: str) -> Any:
    """Wait for one of these states, or for the last one."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        batch = client.batches.retrieve(batch.id)
        if batch.status in (until or ("completed", "failed", "expired", "cancelled")):
            return batch
        time.sleep(0.02)
    raise AssertionError(f"The batch is still {batch.status}.")


def read(client: OpenAI, file_id: str | None) -> list[dict[str, Any]]:
    return [json.loads(line) for line in client.files.content(file_id).text.splitlines()] if file_id else []


def ids(lines: Sequence[dict[str, Any]]) -> list[str]:
    return [line["custom_id"] for line in lines]


def counts(batch: Any) -> tuple[int, int, int]:
    return batch.request_counts.total, batch.request_counts.completed, batch.request_counts.failed


# --- Files


def test_a_file_comes_back_as_it_was_sent(plain: RunningEndpoint, client_of: Any) -> None:
    client, content = client_of(plain), '{"a": "ä\u2028"}\r\n\n\x00'.encode() * 30_000
    file = client.files.create(file=("some.jsonl", content), purpose="batch")
    assert (file.object, file.bytes, file.filename, file.purpose) == ("file", len(content), "some.jsonl", "batch")
    assert abs(file.created_at - time.time()) < 60
    assert client.files.retrieve(file.id) == file
    assert client.files.content(file.id).read() == content
    deleted = client.files.delete(file.id)
    assert (deleted.id, deleted.deleted) == (file.id, True)
    for ask in (client.files.retrieve, client.files.content, client.files.delete):
        with pytest.raises(openai.NotFoundError):
            ask(file.id)
    assert file.id not in plain.stored()


def test_files_are_listed_newest_first(endpoint: StartEndpoint, client_of: Any) -> None:
    client = client_of(endpoint())
    assert client.files.list().data == []
    made = [upload(client, ["{}"]) for _ in range(5)]
    assert [file.id for file in client.files.list()] == made[::-1]
    first = client.files.list(limit=2)
    assert ([file.id for file in first.data], first.has_more) == (made[:2:-1], True)
    assert [file.id for file in client.files.list(limit=2, after=made[2]).data] == made[1::-1]
    assert not client.files.list(limit=2, after=made[2]).has_more
    assert client.files.list(purpose="batch_output").data == []


@pytest.mark.parametrize(
    "form",
    [
        {"files": {"file": ("a", b"{}")}, "data": {"purpose": "vision"}},
        {"files": {"file": ("a", b"{}")}},
        {"files": {"file": ("a", b"")}, "data": {"purpose": "batch"}},
        {"files": {"other": ("a", b"{}")}, "data": {"purpose": "batch"}},
        {"data": {"purpose": "batch", "file": "{}"}},
        {"json": {"purpose": "batch"}},
        {"content": b"--x\r\n", "headers": {"content-type": "multipart/form-data; boundary=x"}},
        {"content": b"--x\r\n", "headers": {"content-type": "multipart/form-data"}},
        {"content": b""},
    ],
)
def test_odd_forms_are_refused(plain: RunningEndpoint, client_of: Any, form: dict[str, Any]) -> None:
    client = client_of(plain)
    with httpx2.Client(trust_env=False) as http:
        response = http.post(f"{plain.base_url}/files", **form)
    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"
    assert {file.id for file in client.files.list()} == plain.stored()


@pytest.mark.parametrize("chunked", [False, True])
def test_files_that_are_too_large_are_refused(plain: RunningEndpoint, chunked: bool) -> None:
    host, port = plain.base_url.removeprefix("http://").removesuffix("/v1").split(":")
    head = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {MOST_BYTES + 100_000}"
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(f"POST /v1/files HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\n".encode())
        part = bytes(1024 * 1024)
        sent = 0
        while chunked and sent < MOST_BYTES:
            connection.sendall(b"%x\r\n%b\r\n" % (len(part), part))
            sent += len(part)
        if chunked:
            connection.sendall(b"%x\r\n%b\r\n" % (100_000, bytes(100_000)))
        assert connection.recv(1000).startswith(b"HTTP/1.1 413 ")


# --- Batches


@pytest.mark.parametrize("structured", [False, True])
def test_a_batch_is_answered_as_its_requests_would_be(
    endpoint: StartEndpoint, client_of: Any, structured: bool
) -> None:
    running = endpoint()
    client, bodies = client_of(running), {}
    for name in NAMES:
        bodies[name] = body_of(name)
        if structured:
            schema = {"name": name, "strict": True, "schema": a_question(name).schema}
            bodies[name]["response_format"] = {"type": "json_schema", "json_schema": schema}
    batch = create(client, [line_of(name, body) for name, body in bodies.items()], metadata={"assay": "an id"})
    assert (batch.object, batch.status, batch.metadata) == ("batch", "validating", {"assay": "an id"})
    assert (batch.endpoint, batch.completion_window) == (URL, "24h")
    assert batch.expires_at - batch.created_at == 24 * 3600
    batch = wait(client, batch)
    assert (batch.status, batch.model, batch.errors, batch.error_file_id) == ("completed", "m", None, None)
    assert counts(batch) == (5, 5, 0)
    assert batch.created_at <= batch.in_progress_at <= batch.finalizing_at <= batch.completed_at
    lines = read(client, batch.output_file_id)
    assert ids(lines) == list(NAMES)
    assert len({line["id"] for line in lines}) == 5
    for line in lines:
        name = line["custom_id"]
        assert line["error"] is None
        assert line["response"]["status_code"] == 200
        assert line["response"]["request_id"]
        batched = line["response"]["body"]
        live = client.chat.completions.create(**bodies[name]).model_dump(exclude_unset=True)
        assert batched | {"created": 0} == live | {"created": 0}
        assert a_question(name).read(batched["choices"][0]["message"]["content"]) == EXPECTED[name]
    output = client.files.retrieve(batch.output_file_id)
    assert (output.purpose, output.filename) == ("batch_output", f"{batch.id}_output.jsonl")
    # The log: the same hash as live, and an event of its own.
    batched_lines, live_lines = running.batched(), running.ended()
    assert [line["request"] for line in batched_lines] == [line["request"] for line in live_lines]
    assert [line["prompt"] for line in batched_lines] == list(NAMES)
    assert {(line["batch"], line["status"], line["what"]) for line in batched_lines} == {(batch.id, 200, "ok")}
    assert [line["custom_id"] for line in batched_lines] == list(NAMES)
    assert sorted(line["id"] for line in batched_lines + live_lines) == list(range(1, 11))
    [made] = running.of("batch_created")
    assert (made["batch"], made["status"], made["metadata"]) == (batch.id, 200, {"assay": "an id"})
    assert made["input_file_id"] == batch.input_file_id


def test_five_thousand_lines_are_answered_once_each_while_others_ask(endpoint: StartEndpoint, client_of: Any) -> None:
    running = endpoint()
    client = client_of(running)
    batch = create(client, some_lines(5_000))
    while (seen := client.batches.retrieve(batch.id)).status != "completed":
        assert client.chat.completions.create(**body_of("support", "live")).model == "live"
        assert seen.status in ("validating", "in_progress", "finalizing")
    assert counts(seen) == (5_000, 5_000, 0)
    lines = read(client, seen.output_file_id)
    assert ids(lines) == [f"r{number}" for number in range(5_000)]
    assert {line["response"]["body"]["choices"][0]["message"]["content"] for line in lines} == {"full support"}
    assert set(Counter(line["request"] for line in running.batched()).values()) == {1}
    assert len(running.batched()) == 5_000
    assert len(running.ended()) > 1


def test_batches_are_listed_newest_first(endpoint: StartEndpoint, client_of: Any) -> None:
    client = client_of(endpoint())
    batches = [create(client, some_lines(1), metadata={"number": str(number)}) for number in range(25)]
    assert {batch.status for batch in batches} == {"validating"}
    made = [batch.id for batch in batches]
    assert [batch.id for batch in client.batches.list()] == made[::-1]  # the client turns the pages
    page = client.batches.list()
    assert (len(page.data), page.has_more) == (20, True)
    assert page.data[0].metadata == {"number": "24"}
    page = client.batches.list(limit=2, after=made[2])
    assert ([batch.id for batch in page.data], page.has_more) == ([made[1], made[0]], False)
    for odd in ({"limit": 0}, {"limit": 101}, {"after": "batch_x"}, {"extra_query": {"limit": "x"}}):
        with pytest.raises(openai.BadRequestError):
            client.batches.list(**odd)


def test_output_says_when_it_expires(plain: RunningEndpoint, client_of: Any) -> None:
    client = client_of(plain)
    batch = create(client, some_lines(1), output_expires_after={"anchor": "created_at", "seconds": 3_600})
    output = client.files.retrieve(wait(client, batch).output_file_id)
    assert output.expires_at == output.created_at + 3_600


def test_the_input_may_be_deleted_once_the_batch_is_made(endpoint: StartEndpoint, client_of: Any) -> None:
    client = client_of(endpoint(batch_seconds=0.5))
    batch = create(client, some_lines(10))
    client.files.delete(batch.input_file_id)
    assert counts(wait(client, batch)) == (10, 10, 0)
    assert [file.purpose for file in client.files.list()] == ["batch_output"]


@pytest.mark.parametrize(
    "odd",
    [
        {"endpoint": "/v1/embeddings"},
        {"completion_window": "1h"},
        {"input_file_id": "file-x"},
        {"input_file_id": 7},
        {"metadata": {str(number): "" for number in range(17)}},
        {"metadata": {"x" * 65: ""}},
        {"metadata": {"x": "y" * 513}},
        {"metadata": {"x": 7}},
        {"metadata": []},
        {"output_expires_after": {"anchor": "created_at", "seconds": 60}},
        {"output_expires_after": {"anchor": "now", "seconds": 3_600}},
    ],
)
def test_odd_batches_are_not_made(plain: RunningEndpoint, client_of: Any, odd: dict[str, Any]) -> None:
    client = client_of(plain)
    before = len(list(client.batches.list()))
    with pytest.raises((openai.BadRequestError, openai.NotFoundError)):
        create(client, some_lines(1), **odd)
    assert len(list(client.batches.list())) == before


def test_what_is_no_batch_is_not_found(plain: RunningEndpoint, client_of: Any) -> None:
    client = client_of(plain)
    for ask in (client.batches.retrieve, client.batches.cancel):
        with pytest.raises(openai.NotFoundError):
            ask("batch_x")


BODY = {"model": "m", "messages": [{"role": "user", "content": "x"}]}


@pytest.mark.parametrize(
    ("lines", "errors"),
    [
        (["no JSON", "[]", "7"], [("invalid_json_line", None, line) for line in (1, 2, 3)]),
        (["[" * 100_000], [("invalid_json_line", None, 1)]),
        (["", " "], [("empty_batch", None, None)]),
        ([line_of("a", BODY), "", line_of("a", BODY)], [("duplicate_custom_id", "custom_id", 3)]),
        ([line_of(id, BODY) for id in ("", "x" * 65, 7)], [("invalid_request", "custom_id", n) for n in (1, 2, 3)]),  # type: ignore[arg-type]
        ([line_of("a", BODY), line_of("b", BODY | {"model": "n"})], [("model_mismatch", "body.model", 2)]),
        ([line_of("a", BODY, url="/v1/embeddings")], [("url_mismatch", "url", 1)]),
        ([line_of("a", BODY, method="GET")], [("invalid_request", "method", 1)]),
        ([line_of(*each) for each in (("a", []), ("b", {}))], [("invalid_request", "body", n) for n in (1, 2)]),
        (["x"] * 150, [("invalid_json_line", None, line) for line in range(1, 101)]),
    ],
)
def test_wrong_input_fails_the_batch(
    plain: RunningEndpoint, client_of: Any, lines: list[Any], errors: list[tuple[str, str | None, int | None]]
) -> None:
    client = client_of(plain)
    batch = wait(client, create(client, lines))
    assert batch.status == "failed"
    assert batch.failed_at
    assert [(error.code, error.param, error.line) for error in batch.errors.data] == errors
    assert all(error.message for error in batch.errors.data)
    assert (batch.output_file_id, batch.error_file_id) == (None, None)


def test_a_batch_has_fifty_thousand_requests_at_most(plain: RunningEndpoint, client_of: Any) -> None:
    client = client_of(plain)
    short = {"model": "m"}
    batch = wait(client, create(client, [line_of(str(number), short) for number in range(50_001)]))
    assert [(error.code, error.line) for error in batch.errors.data] == [("too_many_tasks", 50_001)]


def test_requests_that_fail_are_in_the_error_file(plain: RunningEndpoint, client_of: Any) -> None:
    client = client_of(plain)
    odd = BODY | {"messages": []}
    batch = wait(client, create(client, [line_of("good", BODY), line_of("odd", odd)]))
    assert (batch.status, counts(batch)) == ("completed", (2, 1, 1))
    assert ids(read(client, batch.output_file_id)) == ["good"]
    [line] = read(client, batch.error_file_id)
    assert (line["custom_id"], line["error"], line["response"]["status_code"]) == ("odd", None, 400)
    assert line["response"]["body"]["error"]["type"] == "invalid_request_error"


# --- Cancelling


def test_a_cancelled_batch_keeps_what_is_finished(endpoint: StartEndpoint, client_of: Any) -> None:
    running = endpoint(batch_seconds=20)
    client = client_of(running)
    batch = create(client, some_lines(200))
    while client.batches.retrieve(batch.id).request_counts.completed < 3:
        time.sleep(0.02)
    assert client.batches.cancel(batch.id).status in ("cancelling", "cancelled")
    batch = wait(client, batch)
    assert batch.status == "cancelled"
    assert batch.cancelling_at <= batch.cancelled_at
    finished, rest = read(client, batch.output_file_id), read(client, batch.error_file_id)
    assert 3 <= len(finished) < 200
    assert counts(batch) == (200, len(finished), 0)
    assert ids(finished) + ids(rest) == [f"r{number}" for number in range(200)]
    assert {(line["response"], line["error"]["code"]) for line in rest} == {(None, "batch_cancelled")}
    assert len(running.batched()) == len(finished)
    with pytest.raises(openai.ConflictError):
        client.batches.cancel(batch.id)
    assert [(line["batch"], line["status"]) for line in running.of("batch_cancelled")] == [
        (batch.id, 200),
        (batch.id, 409),
    ]


# --- What goes wrong on purpose


def test_a_batch_takes_its_time(endpoint: StartEndpoint, client_of: Any) -> None:
    client = client_of(endpoint(batch_seconds=1))
    begun = time.time()
    batches = [create(client, some_lines(20, f"model {number}")) for number in range(3)]
    assert wait(client, batches[0], "in_progress").status == "in_progress"
    for batch in batches:
        assert counts(wait(client, batch)) == (20, 20, 0)
    assert 0.9 < time.time() - begun < 10  # side by side


def test_wrong_answers_come_in_batches_too(endpoint: StartEndpoint, client_of: Any) -> None:
    running = endpoint(garbage_rate=0.2, wrong_label_rate=0.2, failure_rate=0.1, rate_limit_rate=0.1, hang_rate=0.1)
    client = client_of(running)
    batch = wait(client, create(client, some_lines(400)))
    log = {line["custom_id"]: line for line in running.batched()}
    whats = Counter(line["what"] for line in log.values())
    assert {what: 20 < count < 140 for what, count in whats.items()} == dict.fromkeys(
        ("garbage", "wrong_label", "failure", "rate_limit", "hang", "ok"), True
    )
    for line in read(client, batch.output_file_id):
        is_right = line["response"]["body"]["choices"][0]["message"]["content"] == "full support"
        assert is_right == (log[line["custom_id"]]["what"] == "ok")
    ends = {"failure": 500, "rate_limit": 429, "hang": "request_timeout"}
    wrong = read(client, batch.error_file_id)
    for line in wrong:
        end = line["error"]["code"] if line["error"] else line["response"]["status_code"]
        assert end == ends[log[line["custom_id"]]["what"]]
    assert len(wrong) == sum(whats[what] for what in ends)
    assert counts(batch) == (400, 400 - len(wrong), len(wrong))
    # A line that is sent once more is drawn anew.
    again = wait(client, create(client, [line_of(line["custom_id"], some_lines(400)[0]["body"]) for line in wrong]))
    assert again.request_counts.completed > 0


def test_faults_of_connections_spare_batches(endpoint: StartEndpoint, client_of: Any) -> None:
    running = endpoint(broken_rate=0.3, endless_rate=0.3, gzip_bomb_rate=0.2, drip_rate=0.2)
    client = client_of(running)
    batch = wait(client, create(client, some_lines(20)))
    assert counts(batch) == (20, 20, 0)
    assert {line["what"] for line in running.batched()} == {"ok"}


def test_output_may_be_out_of_order(endpoint: StartEndpoint, client_of: Any) -> None:
    orders = []
    for seed in (0, 0, 1):
        client = client_of(endpoint(batch_unordered=True, seed=seed))
        orders.append(ids(read(client, wait(client, create(client, some_lines(300))).output_file_id)))
    assert sorted(orders[0]) == sorted(f"r{number}" for number in range(300))
    assert orders[0] != [f"r{number}" for number in range(300)]
    assert orders[0] == orders[1] != orders[2]


def test_lines_may_come_twice(endpoint: StartEndpoint, client_of: Any) -> None:
    running = endpoint(batch_doubled_rate=0.3)
    client = client_of(running)
    batch = wait(client, create(client, some_lines(300)))
    times = Counter(ids(read(client, batch.output_file_id)))
    assert len(times) == 300
    assert 60 < sum(count == 2 for count in times.values()) < 120
    assert max(times.values()) == 2
    assert counts(batch) == (300, 300, 0)
    assert len(running.batched()) == 300


def test_a_batch_may_expire_with_what_is_finished(endpoint: StartEndpoint, client_of: Any) -> None:
    running = endpoint(batch_expires_after=7)
    client = client_of(running)
    batch = wait(client, create(client, some_lines(20)))
    assert (batch.status, counts(batch)) == ("expired", (20, 7, 0))
    assert batch.expired_at
    assert ids(read(client, batch.output_file_id)) == [f"r{number}" for number in range(7)]
    rest = read(client, batch.error_file_id)
    assert ids(rest) == [f"r{number}" for number in range(7, 20)]
    assert {(line["response"], line["error"]["code"]) for line in rest} == {(None, "batch_expired")}
    assert len(running.batched()) == 7
    assert wait(client, create(client, some_lines(7))).status == "completed"


def test_all_answers_may_be_in_the_error_file(endpoint: StartEndpoint, client_of: Any) -> None:
    client = client_of(endpoint(batch_all_errors=True))
    batch = wait(client, create(client, some_lines(3)))
    assert (batch.status, batch.output_file_id, counts(batch)) == ("completed", None, (3, 0, 3))
    assert [line["response"]["status_code"] for line in read(client, batch.error_file_id)] == [200] * 3


def test_a_batch_may_fail_as_a_whole(endpoint: StartEndpoint, client_of: Any) -> None:
    client = client_of(endpoint(failure_rate=1))
    batch = wait(client, create(client, some_lines(3)))
    assert (batch.status, batch.output_file_id, counts(batch)) == ("completed", None, (3, 0, 3))
    assert [line["response"]["status_code"] for line in read(client, batch.error_file_id)] == [500] * 3


def test_a_missing_error_file_may_be_an_empty_text(endpoint: StartEndpoint, client_of: Any) -> None:
    client = client_of(endpoint(batch_empty_error_id=True))
    assert wait(client, create(client, some_lines(1))).error_file_id == ""
    batch = wait(client, create(client, [line_of("odd", BODY | {"messages": []})]))
    assert ids(read(client, batch.error_file_id)) == ["odd"]


def test_a_batch_may_vanish(endpoint: StartEndpoint, client_of: Any) -> None:
    running = endpoint(batch_vanishes=1)
    client = client_of(running)
    lost, next = create(client, some_lines(3)), create(client, some_lines(3))
    assert wait(client, next).status == "completed"
    for ask in (client.batches.retrieve, client.batches.cancel):
        with pytest.raises(openai.NotFoundError):
            ask(lost.id)
    assert [batch.id for batch in client.batches.list()] == [next.id]
    assert {line["batch"] for line in running.batched()} == {next.id}


def test_making_a_batch_may_be_refused_for_a_while(endpoint: StartEndpoint, client_of: Any) -> None:
    running = endpoint(batch_create_429=2, retry_after=3)
    client = client_of(running)
    for _ in range(2):
        with pytest.raises(openai.RateLimitError) as caught:
            create(client, some_lines(1))
        assert caught.value.response.headers["retry-after"] == "3"
    batch = create(client, some_lines(1))
    assert [(line["batch"], line["status"]) for line in running.of("batch_created")] == [
        (None, 429),
        (None, 429),
        (batch.id, 200),
    ]


def test_tokens_in_unfinished_batches_are_limited(endpoint: StartEndpoint, client_of: Any) -> None:
    probe = client_of(endpoint()).chat.completions.create(**body_of("support"))
    each = probe.usage.prompt_tokens
    client = client_of(endpoint(batch_token_limit=10 * each, batch_seconds=3))
    first = wait(client, create(client, some_lines(6)), "in_progress")
    second = wait(client, create(client, some_lines(5)))
    assert second.status == "failed"
    [error] = second.errors.data
    assert (error.code, error.line, error.param) == ("token_limit_exceeded", None, None)
    third = wait(client, create(client, some_lines(4)), "in_progress")  # the failed one takes no room
    client.batches.cancel(first.id)
    wait(client, first)
    fourth = wait(client, create(client, some_lines(6)), "in_progress", "failed")  # nor does a cancelled one
    assert [wait(client, batch).status for batch in (third, fourth)] == ["completed", "completed"]


def test_a_key_may_be_required(endpoint: StartEndpoint) -> None:
    running = endpoint(require_key=True)
    with httpx2.Client(trust_env=False) as http:
        for path in ("/files", "/batches"):
            assert http.get(running.base_url + path).status_code == 401
            assert http.get(running.base_url + path, headers={"authorization": "Bearer x"}).status_code == 200
