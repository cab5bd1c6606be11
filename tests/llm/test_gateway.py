"""One request, to endpoints that do what the rehearsal endpoint does not: over real HTTP, answered by hand."""

import asyncio
import json
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
        headers = []

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            headers.append((await reader.readuntil(b"\r\n\r\n")).decode().lower())
            with suppress(ConnectionError):
                await answer(writer)
            writer.close()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            way = Gateway(Setting(f"http://127.0.0.1:{port}/v1", key, timeout, {}), 1)
            try:
                return await way.send({"model": "m"}), headers[0]
            except Failed as failed:
                return failed, headers[0] if headers else ""
            finally:
                await way.close()

    return asyncio.run(do())


def with_body(body: str | bytes, status: str = "200 OK", more: str = "") -> Answer:
    data = body.encode() if isinstance(body, str) else body

    async def answer(writer: asyncio.StreamWriter) -> None:
        head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n{more}\r\n"
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
        "x" * 5_000_000,
    ],
    ids=["empty", "list", "null", "object", "no choice", "no message", "html", "deep", "long"],
)
def test_what_is_no_completion_is_said_so(body: str):
    came, _ = send(with_body(body))
    assert isinstance(came, Failed)
    assert str(came).startswith("The endpoint's response is no chat completion: ")
    assert len(str(came)) < 1_100
    assert came.again


def test_a_charset_that_is_none_fails_the_request_alone():
    async def answer(writer: asyncio.StreamWriter) -> None:
        data = raw().encode()
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json; charset=zlib\r\ncontent-length: {len(data)}\r\n\r\n"
        writer.write(head.encode() + data)
        await writer.drain()

    came, _ = send(answer)
    assert isinstance(came, Reply | Failed)


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
