"""One request, to endpoints that do what the rehearsal endpoint does not: over real HTTP, answered by hand."""

import asyncio
import gzip
import itertools
import json
import tracemalloc
import zlib
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from assessor.llm.endpoints import check_base_url
from assessor.llm.gateway import Failed, Gateway, Reply, Setting, Unusable, read_reply, setting_of
from assessor.llm.models import ModelJudge
from tests.llm.grading import make_judge

Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]
WHOLE = {
    "model": "m",
    "choices": [{"message": {"content": "##final score: 2"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 10, "completion_tokens": 5},
}


def raw(**changes: Any) -> str:
    return json.dumps(WHOLE | changes)


def choice(content: Any, reason: Any) -> list[dict[str, Any]]:
    return [{"message": {"content": content}, "finish_reason": reason}]


def send(answer: Answer, *, key: str = "", timeout: float = 5.0) -> tuple[Reply | Failed, str]:
    """Send one request to a server that answers like this; return what came, and the request's headers."""

    async def do() -> tuple[Reply | Failed, str]:
        headers, is_over = [], asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            headers.append((await reader.readuntil(b"\r\n\r\n")).decode().lower())
            with suppress(ConnectionError):
                await answer(writer)
            is_over.set()
            writer.close()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            way = Gateway(Setting(f"http://127.0.0.1:{port}/v1", key, timeout, {}), 1)
            try:
                return await way.send({"model": "m"}), headers[0]
            except Failed as failed:
                return failed, headers[0] if headers else ""
            finally:
                # Before all connections are closed: the one of this request ends with it.
                await asyncio.wait_for(is_over.wait(), 5)
                await way.close()

    return asyncio.run(do())


def with_body(body: str | bytes, status: str = "200 OK", more: str = "", kind: str = "application/json") -> Answer:
    data = body.encode() if isinstance(body, str) else body

    async def answer(writer: asyncio.StreamWriter) -> None:
        head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(data)}\r\n{more}\r\n"
        writer.write(head.encode() + data)
        await writer.drain()

    return answer


def test_the_request_carries_the_judges_key_and_nothing_of_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-secret")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Corp-Token: corp-secret\nAuthorization: Bearer admin-secret")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    came, headers = send(with_body(raw()), key="sk-own")
    assert isinstance(came, Reply)
    assert "authorization: bearer sk-own\r\n" in headers
    assert "secret" not in headers
    assert "somebody" not in headers
    _, headers = send(with_body(raw()))
    assert "authorization" not in headers


def test_a_redirect_is_not_followed():
    came, _ = send(with_body("", "307 Temporary Redirect", "location: http://127.0.0.1:9/v1/chat/completions\r\n"))
    assert isinstance(came, Failed)
    assert came.status == 307


def test_an_endpoint_that_drips_does_not_outlast_the_timeout():
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n")
        for _ in range(100):
            writer.write(b"1\r\n \r\n")
            await writer.drain()
            await asyncio.sleep(0.1)

    came, _ = send(drip, timeout=0.6)
    assert isinstance(came, Failed)
    assert (came.again, came.fatal) == (True, False)
    assert str(came).startswith("No answer within 0.6 s from http://127.0.0.1:")
    assert came.milliseconds < 2_000


LIMIT = "is longer than 2 MiB. ASSAY_MAX_REPLY_MB sets how much of one is read."


class Endless:
    """Sends a head and then a part for ever; counts what was taken, and notes down that the connection was closed."""

    def __init__(self, part: bytes, *, begin: bytes = b"", status: str = "200 OK", encoding: str = "identity") -> None:
        self._head = f"HTTP/1.1 {status}\r\ncontent-encoding: {encoding}\r\nconnection: close\r\n\r\n".encode() + begin
        self._part = part
        self.sent, self.is_closed = 0, False

    async def __call__(self, writer: asyncio.StreamWriter) -> None:
        writer.transport.set_write_buffer_limits(high=0)
        writer.write(self._head)
        try:
            while True:
                writer.write(self._part)
                await writer.drain()
                self.sent += len(self._part)
        except ConnectionError:
            self.is_closed = True


def packed_words(wbits: int) -> tuple[bytes, bytes]:
    """Return how a packed body begins, and 1 kB that unpacks to 1 MB and can be repeated for ever."""
    packer = zlib.compressobj(wbits=wbits)
    begin = packer.compress(b"{") + packer.flush(zlib.Z_FULL_FLUSH)
    return begin, packer.compress(b" " * 1_000_000) + packer.flush(zlib.Z_FULL_FLUSH)


def test_reading_stops_at_the_limit_and_the_connection_is_closed():
    endless = Endless(b" " * 65_536)
    came, headers = send(endless)
    assert "accept-encoding: gzip\r\n" in headers
    assert isinstance(came, Failed)
    assert str(came) == f"The endpoint's reply {LIMIT}"
    assert (came.again, came.fatal, came.status) == (True, False, 200)
    assert endless.is_closed
    assert endless.sent < 16 * 2**20  # the limit, and what the sockets of both sides hold


def test_what_is_read_is_counted_after_it_is_unpacked():
    begin, words = packed_words(31)
    endless = Endless(words, begin=begin, encoding="gzip")
    send(with_body(raw()))  # what is loaded once
    tracemalloc.start()
    came, _ = send(endless)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(came, Failed)
    assert str(came) == f"The endpoint's reply {LIMIT}"
    assert endless.is_closed
    assert peak < 8 * 2**20


@pytest.mark.parametrize("status", ["200 OK", "503 Service Unavailable"])
def test_what_comes_after_the_end_of_gzip_is_not_read(status: str):
    endless = Endless(b"x" * 65_536, begin=gzip.compress(raw().encode()), encoding="gzip", status=status)
    send(with_body(raw()))  # what is loaded once
    tracemalloc.start()
    came, _ = send(endless, timeout=3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(came, Failed)
    if status == "200 OK":
        assert str(came) == "The endpoint's reply is not gzip to its end, though it says so."
    assert came.status == int(status[:3])
    assert endless.is_closed
    assert peak < 8 * 2**20


def test_a_gzip_reply_in_small_parts_leaves_its_connection_open():
    packed, requests, clients = gzip.compress(raw().encode()), 0, set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal requests
        clients.add(writer.get_extra_info("peername"))
        with suppress(asyncio.IncompleteReadError):
            while head := (await reader.readuntil(b"\r\n\r\n")).decode().lower():
                await reader.readexactly(int(head.split("content-length: ")[1].split("\r\n")[0]))
                requests += 1
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n")
                for byte in packed:
                    writer.write(b"1\r\n%c\r\n" % byte)
                writer.write(b"0\r\n\r\n")
                await writer.drain()
        writer.close()  # the server waits for it from Python 3.12 on

    async def do() -> None:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            way = Gateway(Setting(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", "", 5.0, {}), 1)
            for _ in range(2):
                assert (await way.send({"model": "m"})).text == "##final score: 2"
            await way.close()

    asyncio.run(do())
    assert (requests, len(clients)) == (2, 1)


@pytest.mark.parametrize("answer", [Endless(b" " * 65_536), with_body(" " * 2_000_000)], ids=["endless", "no JSON"])
def test_a_failure_holds_nothing_of_what_came(answer: Answer):
    """Many wait to be sent again, each with its failure."""
    came, _ = send(answer)
    del came
    tracemalloc.start()
    failures = [send(answer)[0] for _ in range(3)]
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert all(isinstance(failed, Failed) for failed in failures)
    assert held < 2_000_000


def test_a_reply_up_to_the_limit_is_read(settings):
    settings.MAX_REPLY_BYTES = 2**20
    text = "a" * (2**20 - len(raw(choices=choice("", "stop"))))
    longest = raw(choices=choice(text, "stop"))
    for body, more in ((longest.encode(), ""), (gzip.compress(longest.encode()), "content-encoding: gzip\r\n")):
        came, _ = send(with_body(body, more=more))
        assert isinstance(came, Reply)
        assert came.text == text
    came, _ = send(with_body(longest + " "))
    assert isinstance(came, Failed)
    assert str(came) == "The endpoint's reply is longer than 1 MiB. ASSAY_MAX_REPLY_MB sets how much of one is read."


@pytest.mark.parametrize("encoding", ["br", "deflate", "zstd", "gzip, gzip", "x" * 1_000])
def test_a_reply_that_is_packed_in_another_way_is_not_unpacked(encoding: str):
    came, _ = send(with_body(raw(), more=f"content-encoding: {encoding}\r\n"))
    assert isinstance(came, Failed)
    assert str(came) == (
        f"The endpoint's reply is packed as {encoding[:40]!r}, which was not asked for: "
        "let it be sent as it is, or as gzip."
    )


def test_gzip_that_is_none_is_a_failed_request():
    whole = gzip.compress(raw().encode())
    for body in (raw(), whole + b" ", whole + whole):
        came, _ = send(with_body(body, more="content-encoding: gzip\r\n"))
        assert isinstance(came, Failed)
        assert str(came) == "The endpoint's reply is not gzip to its end, though it says so."
        assert (came.again, came.fatal) == (True, False)


def test_an_error_counts_however_long_its_body_is():
    for endless in (
        Endless(b"no. " * 16_384, status="401 Unauthorized"),
        Endless(b"no. " * 16_384, status="503 Service Unavailable"),
        Endless(b"no. " * 16_384, status="401 Unauthorized", encoding="br"),
    ):
        came, _ = send(endless)
        assert isinstance(came, Failed)
        assert str(came).startswith(f"The endpoint answered {came.status}: ")
        assert len(str(came)) < 1_100
        assert (came.fatal, came.again) == ((True, False) if came.status == 401 else (False, True))
        assert endless.is_closed
    assert came.status == 401


@pytest.mark.parametrize("line", ["x-{}: y\r\n", "x-{}{}: y"], ids=["many", "long"])
def test_a_flood_of_headers_is_not_read_to_its_end(line: str):
    sent = 0

    async def answer(writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.transport.set_write_buffer_limits(high=0)
        writer.write(b"HTTP/1.1 200 OK\r\n")
        for number in itertools.count():
            writer.write(line.format(number, "x" * 1_000).encode())
            await writer.drain()
            sent += len(line)

    came, _ = send(answer, timeout=60.0)
    assert isinstance(came, Failed)
    assert "RemoteProtocolError" in str(came)  # not the deadline
    assert sent < 16 * 2**20


def test_a_reply_is_utf_8_whatever_charset_it_names():
    for charset in ("zlib", "punycode", "utf-16", "latin-1"):
        body = json.dumps(WHOLE | {"choices": choice("Käse", "stop")}, ensure_ascii=False)
        came, _ = send(with_body(body, kind=f"application/json; charset={charset}"))
        assert isinstance(came, Reply)
        assert came.text == "Käse"


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "null",
        "{}",
        '{"choices": []}',
        '{"choices": [{"message": null}]}',
        "<html>",
        "[" * 100_000,
    ],
    ids=["empty", "list", "null", "object", "no choice", "no message", "html", "deep"],
)
def test_what_is_no_completion_is_said_so(body: str):
    came, _ = send(with_body(body))
    assert isinstance(came, Failed)
    assert str(came).startswith("The endpoint's response is no chat completion: ")
    assert len(str(came)) < 1_100
    assert came.again


@pytest.mark.parametrize("begin", ["data: ", "event: message\ndata: ", ": wait\n\ndata: "])
def test_an_endpoint_that_streams_unasked_is_said_to_and_not_asked_again(begin: str):
    came, _ = send(with_body(f"{begin}{raw()}\n\ndata: [DONE]\n\n", kind="text/event-stream"))
    assert isinstance(came, Failed)
    assert str(came) == "The endpoint streams its replies, which it was not asked to: switch that off there."
    assert (came.fatal, came.again) == (True, False)


@pytest.mark.parametrize(
    ("said", "told", "is_fatal"),
    [
        ("No connected db.", "No connected db. (so says a LiteLLM proxy without a database to a wrong key)", True),
        ("/chat/completions: Invalid model name passed in model=m.", "", True),
        ("litellm.ContextWindowExceededError: 9 tokens are too many", "", False),
    ],
)
def test_litellms_400_for_a_wrong_key_or_model_is_every_requests(said: str, told: str, is_fatal: bool):
    body = json.dumps({"error": {"message": said, "type": "invalid_request_error", "param": None, "code": "400"}})
    failed, _ = send(with_body(body, "400 Bad Request"))
    assert isinstance(failed, Failed)
    assert str(failed) == f"The endpoint answered 400: {told or said}"
    assert (failed.fatal, failed.again) == (is_fatal, False)


@pytest.mark.parametrize(
    "body", ["Internal Server Error", '{"detail": "sk-own has no credits"}', '{"error": "no credits"}']
)
def test_an_error_in_another_form_than_openais_is_shown_as_it_is(body: str):
    failed, _ = send(with_body(body, "500 Internal Server Error"), key="sk-own")
    assert str(failed) == f"The endpoint answered 500: {body.replace('sk-own', '[key]')}"
    empty, _ = send(with_body("", "500 Internal Server Error"))
    assert str(empty) == "The endpoint answered 500: Error code: 500"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ("retry-after: 3\r\n", 3.0),
        ("llm_provider-retry-after: 3\r\n", 3.0),
        ("llm_provider-retry-after: 3\r\nllm_provider-retry-after-ms: 2500\r\n", 2.5),
        ("llm_provider-retry-after: 9\r\nretry-after: 2\r\n", 2.0),
        ("", None),
    ],
)
def test_the_wait_that_litellm_hands_on_is_heeded_as_its_own(headers: str, seconds: float | None):
    failed, _ = send(with_body("{}", "429 Too Many Requests", headers))
    assert isinstance(failed, Failed)
    assert (failed.retry_after, failed.again) == (seconds, True)


def test_the_key_is_taken_out_of_whatever_comes_back():
    echo = raw(choices=choice("your key is sk-own", "stop"))
    came, _ = send(with_body(echo), key="sk-own")
    assert isinstance(came, Reply)
    assert "sk-own" not in came.raw
    assert came.text == "your key is [key]"
    told = json.dumps({"error": {"message": "Incorrect API key provided: sk-own.", "code": "invalid_api_key"}})
    failed, _ = send(with_body(told, "401 Unauthorized"), key="sk-own")
    assert isinstance(failed, Failed)
    assert str(failed) == "The endpoint answered 401: Incorrect API key provided: [key]."
    assert (failed.fatal, failed.again) == (True, False)


@pytest.mark.parametrize(
    ("reason", "is_whole"),
    [
        ("stop", True),
        (None, True),
        ("", True),
        ("length", False),
        ("content_filter", False),
        ("model_length", False),
        ("tool_calls", False),
        ("error", False),
        (7, False),
    ],
)
def test_only_a_reply_that_ended_by_itself_is_taken_for_a_whole(reason: Any, is_whole: bool):
    reply = read_reply(raw(choices=choice("1. a nugget\n2. cut of", reason)))
    assert (reply.text is not None) == is_whole
    assert ("not whole" in reply.problem) != is_whole


@pytest.mark.parametrize("content", [None, "", "  ", ["a"], 7])
def test_an_empty_reply_is_a_wrong_answer(content: Any):
    reply = read_reply(raw(choices=choice(content, "stop")))
    assert (reply.text, reply.problem) == (None, "The reply was empty.")


@pytest.mark.parametrize(
    "usage",
    [
        None,
        [1],
        "x",
        {},
        {"prompt_tokens": "12.5"},
        {"prompt_tokens": -1},
        {"prompt_tokens": 2**31},
        {"prompt_tokens": True},
    ],
)
def test_an_answer_is_not_lost_for_odd_figures(usage: Any):
    reply = read_reply(raw(usage=usage))
    assert (reply.text, reply.tokens_in, reply.tokens_out) == ("##final score: 2", 0, 0)
    assert read_reply('{"choices": [{"message": {"content": "a"}}], "usage": {"prompt_tokens": 1e999}}').tokens_in == 0


def test_what_no_database_keeps_is_replaced():
    reply = read_reply(raw(model="m\x00\ud800", choices=choice("a", "stop")))
    assert reply.model == "m\ufffd?"
    reply.raw.encode()
    assert "\x00" not in reply.raw
    cut = read_reply(raw(choices=choice("a", "x\x00\ud800")))
    assert cut.problem == "The reply is not whole (x\ufffd?): write less, and finish."


@pytest.mark.django_db
@pytest.mark.parametrize("key", ["sk-abc\nsecond", "sk-äbc", "sk-abc\x7f"])
def test_a_key_that_can_be_none_is_refused_and_not_shown(campaign, monkeypatch: pytest.MonkeyPatch, key: str):
    monkeypatch.setenv("TEST_API_KEY", key)
    with pytest.raises(Unusable) as error:
        setting_of(make_judge(campaign, key_variable="TEST_API_KEY"))
    assert "sk-" not in str(error.value)


@pytest.mark.django_db
def test_where_requests_may_go_is_asked_again_when_they_do(campaign, settings):
    judge = make_judge(campaign, "http://elsewhere.example/v1")
    settings.LLM_HOSTS = ["api.example.org"]
    with pytest.raises(Unusable, match=r"elsewhere\.example is not among the hosts that ASSAY_LLM_HOSTS allows"):
        setting_of(judge)
    settings.LLM_HOSTS = ["elsewhere.example"]
    assert setting_of(judge).base_url == "http://elsewhere.example/v1"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "url",
    [
        "ftp://host/v1",
        "file:///etc/passwd",
        "http://",
        "//host/v1",
        "http://user:pw@host/v1",
        "http://host/v1?key=1",
        "http://host/v1#x",
        "http://host:port/v1",
        "http://host /v1",
        "javascript:alert(1)",
    ],
)
def test_odd_addresses_are_refused(campaign, url: str):
    judge = make_judge(campaign)
    ModelJudge.objects.update(base_url=url)
    judge.refresh_from_db()
    with pytest.raises(Unusable):
        setting_of(judge)


PRIVATE = [
    *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1"),
    *("[::1]", "[fe80::1]", "[fd00::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::]"),
]


@pytest.mark.django_db
@pytest.mark.parametrize("host", PRIVATE)
def test_private_addresses_are_refused_unless_named(campaign, settings, host: str):
    judge = make_judge(campaign)
    ModelJudge.objects.update(base_url=f"http://{host}:8000/v1")
    judge.refresh_from_db()
    settings.LLM_HOSTS = []
    with pytest.raises(Unusable, match="only ASSAY_LLM_HOSTS, by naming it, allows that"):
        setting_of(judge)
    named = host.strip("[]")
    settings.LLM_HOSTS = [f"{named}:8001"]
    with pytest.raises(Unusable, match="is not among the hosts"):
        setting_of(judge)
    for settings.LLM_HOSTS in ([named], [f"{named}:8000"]):
        assert setting_of(judge).base_url == f"http://{host}:8000/v1"


def test_public_addresses_need_not_be_named(settings):
    settings.LLM_HOSTS = []
    for host in ("8.8.8.8", "[2606:4700:4700::1111]", "api.example.org"):
        check_base_url(f"https://{host}/v1")


@pytest.mark.parametrize("host", ["localhost", "2130706433", "0x7f.1", "127.1", "127.0.0.1"])
def test_where_a_name_leads_is_looked_at_when_it_is_connected_to(settings, host: str):
    """The endpoint is there and would answer: nothing but the address keeps the request from it."""
    settings.LLM_HOSTS = []
    came = ask_by_name(host)
    assert isinstance(came, Failed)
    assert f"{host} is on this machine or in a network of its own" in str(came)
    assert came.fatal
    settings.LLM_HOSTS = [host]
    assert isinstance(ask_by_name(host), Reply)


def ask_by_name(host: str) -> Reply | Failed:
    """Send a request to an endpoint of this machine by another name of it."""

    async def do() -> Reply | Failed:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            await with_body(raw())(writer)
            writer.close()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            way = Gateway(Setting(f"http://{host}:{port}/v1", "", 5.0, {}), 1)
            try:
                return await way.send({"model": "m"})
            except Failed as failed:
                return failed
            finally:
                await way.close()

    return asyncio.run(do())
