"""One request to an OpenAI-compatible endpoint, and what became of it. Keys come from the environment alone."""

import asyncio
import hashlib
import json
import time
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from django.core.exceptions import ValidationError

from assessor.llm.endpoints import check_base_url
from assessor.llm.models import ModelJudge, key_variable_validator
from assessor.llm.prompts import Message, PromptRequest
from assessor.runtime import environment

if TYPE_CHECKING:
    import openai

# Fields of a request that a judge's settings may fill in, and all that Assay sets or counts on: a reply that ends where
# `stop` says looks whole.
SAMPLING = ("temperature", "top_p", "presence_penalty", "frequency_penalty", "seed", "reasoning_effort")
RESERVED = frozenset(
    ("model", "messages", "max_tokens", "max_completion_tokens", "response_format", "stream", "stream_options", "n")
) | frozenset(("stop", *SAMPLING))
_Result = TypeVar("_Result")
REHEARSAL = "rehearsal"  # how the endpoint with no model behind it marks what it answers
_LONGEST_ERROR = 1_000  # characters
# How an endpoint says that a model had said all it wanted to. What is cut off could be taken for a shorter whole.
_WHOLE = ("stop", "eos", "eos_token", "stop_sequence", "end_turn", "", None)
_NO_KEY = "none"  # the library wants one; it is not sent
HTTP_OK = 200
_NO_ENTRY = (401, 403)
_NEVER_MIND = (400, 404, 405, 413, 415, 422)  # asking the same again won't help
# LiteLLM's proxy says 400, as of a single request, to what every request of a judge will meet; and what is to be told.
_OF_ALL = {
    "No connected db": " (so says a LiteLLM proxy without a database to a wrong key)",
    "Invalid model name": "",
}
# What read_reply() raises for a response that is none.
NO_COMPLETION = (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError)


class Setting(NamedTuple):
    """What of a judge's configuration requests need."""

    base_url: str
    key: str
    timeout: float
    parameters: dict[str, Any]  # model, temperature, max_tokens, ...: see request_body


class Unusable(Exception):
    """A judge can't be asked as it is configured here; the text says why, and shows no key."""


class Reply(NamedTuple):
    """What came back: the text, or (text None) why there is none."""

    text: str | None
    problem: str
    model: str
    tokens_in: int
    tokens_out: int
    raw: str
    milliseconds: int


class Failed(Exception):
    """No usable response.

    again: trying again may help. fatal: every other request will fail like this one (wrong key, no such model,
    nobody there), after tries if `again`. retry_after: seconds that the endpoint asks for, or None.
    """

    def __init__(
        self,
        message: str,
        milliseconds: int,
        *,
        status: int = 0,
        again: bool = True,
        fatal: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.again = again
        self.fatal = fatal
        self.retry_after = retry_after
        self.milliseconds = milliseconds


def setting_of(judge: ModelJudge) -> Setting:
    """Return what requests to a judge need. Raises Unusable."""
    try:
        check_base_url(judge.base_url)
        if judge.key_variable:
            key_variable_validator(judge.key_variable)  # other variables of this process are nobody's to send anywhere
    except ValidationError as error:
        raise Unusable(" ".join(error.messages)) from error
    key = environment.text(judge.key_variable, default="") if judge.key_variable else ""
    if judge.key_variable and not key:
        raise Unusable(f"The environment of this process has no {judge.key_variable}: set it and start it again.")
    if not (key.isascii() and key.isprintable()):
        raise Unusable(f"{judge.key_variable} holds something that can't be a key: a line break, or odd characters.")
    return Setting(judge.base_url, key, float(judge.timeout), dict(judge.judge.parameters))


def storable(text: str) -> str:
    """Return a text without what no database or request takes: NUL and half surrogates."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


def request_body(request: PromptRequest[Any], messages: list[Message], parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the whole request.

    parameters: model, max_tokens and limit_name (under which it is sent: max_tokens or max_completion_tokens),
    structured (whether the answer's JSON schema goes along, where there is one), those of SAMPLING that are there and
    not None, and extra, which holds further fields, none of RESERVED.
    """
    body: dict[str, Any] = parameters.get("extra", {}) | {"model": parameters["model"], "messages": messages}
    body[parameters["limit_name"]] = parameters["max_tokens"]
    body |= {name: parameters[name] for name in SAMPLING if parameters.get(name) is not None}
    if parameters.get("structured") and request.schema:
        schema = {"name": request.name, "strict": True, "schema": request.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def request_hash(body: dict[str, Any]) -> str:
    """Return the sha256 of a whole request, by which the ledger knows it."""
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


class Gateway:
    """The way to one endpoint. Retries are its caller's.

    The library is loaded by who makes one: it is a quarter of what a web process would load at its start.
    """

    def __init__(self, setting: Setting, connections: int) -> None:
        import openai
        from openai._models import FinalRequestOptions

        from assessor.llm.transport import Transport

        self._setting = setting
        self._transport = Transport(connections)
        self._headers: dict[str, Any] = {} if setting.key else {"Authorization": openai.Omit()}
        self._client = openai.AsyncOpenAI(
            api_key=setting.key or _NO_KEY,
            base_url=setting.base_url,
            timeout=setting.timeout,
            max_retries=0,
            http_client=openai.DefaultAsyncHttpx2Client(
                transport=self._transport,
                headers={"Accept-Encoding": "gzip"},
                follow_redirects=False,  # a key goes where the organizer said, and nowhere else:
                trust_env=False,  # to no proxy either
            ),
        )
        # The library takes these from the environment: they are nothing to the endpoint that an organizer named.
        self._client.organization = self._client.project = None
        self._client._custom_headers = {}
        # All requests differ in their bodies alone. To put each together, and to send it through the layers of its
        # client, took the library 0.6 of 1.5 ms.
        options = FinalRequestOptions(method="post", url="/chat/completions", json_data={}, headers=self._headers)
        self._like = self._client._build_request(options)
        del self._like.headers["Content-Length"]

    async def close(self) -> None:
        await self._client.close()

    async def send(self, body: dict[str, Any]) -> Reply:
        """Send a request once. Raises Failed, and nothing else."""
        try:
            return await self._reply(body)
        except Failed as failed:
            # Who waits to send it again must not hold all that came meanwhile, as causes and tracebacks do.
            failed.__context__ = None
            raise failed.with_traceback(None) from None

    async def _reply(self, body: dict[str, Any]) -> Reply:
        begun = time.monotonic()
        raw = await self._in_time(self._sent(body), self._setting.timeout)
        milliseconds = _since(begun)
        if raw.startswith(("data:", "event:", ":")):
            message = "The endpoint streams its replies, which it was not asked to: switch that off there."
            raise Failed(message, milliseconds, status=HTTP_OK, again=False, fatal=True)
        try:
            return read_reply(self.without_key(raw), milliseconds)
        except NO_COMPLETION:
            message = f"The endpoint's response is no chat completion: {self._clean(raw[:_LONGEST_ERROR])}"
            raise Failed(message, milliseconds, status=200) from None

    async def _sent(self, body: dict[str, Any]) -> str:
        """Return the text of the response, without the library's objects of it. Raises what the library raises."""
        import openai
        from httpx2 import Request, TimeoutException, TransportError

        content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        request = Request("POST", self._like.url, headers=self._like.headers, content=content)
        try:
            response = await self._transport.handle_async_request(request)
        except TimeoutException:
            raise openai.APITimeoutError(request) from None
        except TransportError as error:
            raise openai.APIConnectionError(request=request) from error
        if response.is_success:
            return response.text
        response.request = request
        raise self._client._make_status_error_from_response(response)

    async def _in_time(self, asked: Awaitable[_Result], seconds: float) -> _Result:
        """Return what the library is asked for. Raises Failed, and nothing else."""
        import openai

        from assessor.llm.transport import Unreadable

        begun = time.monotonic()
        try:
            # The library's own limit is for each read: an endpoint that drips would never end.
            async with asyncio.timeout(seconds):
                return await asked
        except Failed:
            raise
        except openai.APIError as error:
            raise self._failed(error, _since(begun)) from None  # the cause holds the request, key and all
        except TimeoutError:
            raise self._no_answer(_since(begun), seconds) from None
        except Unreadable as error:
            raise Failed(self._clean(str(error)), _since(begun), status=200) from None
        except Exception as error:
            # Not its text: it may hold the key.
            raise Failed(f"The request broke off: {type(error).__name__}", _since(begun)) from None

    def _no_answer(self, milliseconds: int, seconds: float) -> Failed:
        return Failed(f"No answer within {seconds:g} s from {self._setting.base_url}", milliseconds)

    def _failed(self, error: "openai.APIError", milliseconds: int) -> Failed:
        import openai

        from assessor.llm.transport import retry_after

        if isinstance(error, openai.APITimeoutError):
            return self._no_answer(milliseconds, self._setting.timeout)
        status, again, fatal, wait = 0, True, False, None
        if isinstance(error, openai.APIStatusError):
            status = error.status_code
            told = error.body.get("message") if isinstance(error.body, dict) else None
            # Of a body in another form than OpenAI's the library says nothing: as it is, it may be the only reason.
            said = self._clean(str(told or error.response.text.strip() or error.message))
            of_all = [why for words, why in _OF_ALL.items() if status == 400 and words in said]
            message = f"The endpoint answered {status}: {said}{''.join(of_all)}"
            wait = retry_after(error.response.headers)
            again = status not in (*_NO_ENTRY, *_NEVER_MIND) and error.code != "insufficient_quota"
            # A wrong path or model is everybody's 404; a request that is too long is its own unit's 400.
            fatal = status in (*_NO_ENTRY, 404) or error.code == "insufficient_quota" or bool(of_all)
        else:
            cause = error.__cause__ or error
            # Of other causes the name alone: their text may hold the key.
            fatal = "connect" in type(cause).__name__.lower()  # nobody there, as opposed to a connection that broke
            reason = self._clean(str(cause)) if fatal else ""
            message = f"{self._setting.base_url} can't be reached: {reason or type(cause).__name__}"
        return Failed(message, milliseconds, status=status, again=again, fatal=fatal, retry_after=wait)

    def _clean(self, text: str) -> str:
        """Return a text of the endpoint without the key, which some endpoints repeat, and not too long."""
        return storable(self.without_key(text))[:_LONGEST_ERROR]

    def without_key(self, text: str) -> str:
        """Return a text of the endpoint without the key."""
        return text.replace(self._setting.key, "[key]") if self._setting.key else text


def _since(begun: float) -> int:
    return int((time.monotonic() - begun) * 1000)


def read_reply(raw: str, milliseconds: int = 0) -> Reply:
    """Return what a raw response says. Raises one of many exceptions for one that is no chat completion."""
    response = json.loads(raw)
    choice = response["choices"][0]
    text, reason = choice["message"].get("content"), choice.get("finish_reason")
    problem = ""
    if reason not in _WHOLE:
        text, problem = None, f"The reply is not whole ({storable(str(reason))[:40]}): write less, and finish."
    elif not isinstance(text, str) or not text.strip():
        text, problem = None, "The reply was empty."
    usage = response.get("usage")
    tokens = [_tokens(usage, name) for name in ("prompt_tokens", "completion_tokens")]
    model = storable(str(response.get("model") or ""))
    if response.get("system_fingerprint") == REHEARSAL:
        model = f"{REHEARSAL} ({model})"
    return Reply(text, problem, model[:200], tokens[0], tokens[1], storable(raw), milliseconds)


def read_batched(status: int, response: str) -> Reply | Failed:
    """Return what a batch brought for a request. status: 200 with the raw response, or another with the error."""
    if status == HTTP_OK:
        try:
            return read_reply(response)
        except NO_COMPLETION:
            return Failed(
                f"The endpoint's response is no chat completion: {response[:_LONGEST_ERROR]}", 0, status=status
            )
    again = bool(status) and status not in (*_NO_ENTRY, *_NEVER_MIND)
    return Failed(response, 0, status=status, again=again, fatal=status in (*_NO_ENTRY, 404))


def _tokens(usage: Any, name: str) -> int:
    """Return a figure of usage; 0 where an endpoint tells none, or one that can't be: an answer is not lost for it."""
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 2**31 else 0
