"""One request to an OpenAI-compatible endpoint, and what became of it. Keys come from the environment alone."""

import hashlib
import json
import os
import time
from typing import Any, NamedTuple

import openai
from httpx2 import Limits
from openai._types import RequestOptions

from assessor.llm.models import ModelJudge, key_variable_validator
from assessor.llm.prompt_sets import Message
from assessor.llm.questions import Question

REHEARSAL = "rehearsal"  # how the endpoint with no model behind it marks what it answers
_LONGEST_ERROR = 1_000  # characters
_NO_KEY = "none"  # the library wants one; it is not sent
_NEVER_MIND = (400, 404, 405, 413, 415, 422)  # asking the same again won't help


class Setting(NamedTuple):
    """What of a judge's configuration requests need."""

    base_url: str
    key: str
    timeout: float
    parameters: dict[str, Any]  # model, temperature, max_tokens, ...: see request_body


class NoKey(Exception):
    """The environment holds no key for the judge; the text names the variable."""


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
        self, message: str, *, status: int, again: bool, fatal: bool, retry_after: float | None, milliseconds: int
    ) -> None:
        super().__init__(message)
        self.status = status
        self.again = again
        self.fatal = fatal
        self.retry_after = retry_after
        self.milliseconds = milliseconds


def setting_of(judge: ModelJudge) -> Setting:
    """Return what requests to a judge need. Raises NoKey."""
    key = ""
    if judge.key_variable:
        key_variable_validator(judge.key_variable)  # other variables of this process are nobody's to send anywhere
        key = os.environ.get(judge.key_variable, "").strip()
        if not key:
            raise NoKey(f"The environment of this process has no {judge.key_variable}: set it and start it again.")
    return Setting(judge.base_url, key, float(judge.timeout), dict(judge.judge.parameters))


def request_body(question: Question[Any], messages: list[Message], parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the whole request.

    parameters: model, max_tokens and limit_name (under which it is sent: max_tokens or max_completion_tokens),
    structured (whether the answer's JSON schema goes along), and temperature where it is not None.
    """
    body: dict[str, Any] = {"model": parameters["model"], "messages": messages}
    body[parameters["limit_name"]] = parameters["max_tokens"]
    if parameters.get("temperature") is not None:
        body["temperature"] = parameters["temperature"]
    if parameters.get("structured"):
        schema = {"name": question.name, "strict": True, "schema": question.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def request_hash(body: dict[str, Any]) -> str:
    """Return the sha256 of a whole request, by which the ledger knows it."""
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


class Gateway:
    """The way to one endpoint. Retries are its caller's."""

    def __init__(self, setting: Setting, connections: int) -> None:
        self._setting = setting
        self._options: RequestOptions = {} if setting.key else {"headers": {"Authorization": openai.Omit()}}
        self._client = openai.AsyncOpenAI(
            api_key=setting.key or _NO_KEY,
            base_url=setting.base_url,
            timeout=setting.timeout,
            max_retries=0,
            http_client=openai.DefaultAsyncHttpx2Client(
                # Its own limits are too low for a judge of a thousand at once, and would wait where nobody sees it.
                limits=Limits(max_connections=connections, max_keepalive_connections=connections),
                follow_redirects=False,  # a key goes where the organizer said, and nowhere else
            ),
        )

    async def close(self) -> None:
        await self._client.close()

    async def send(self, body: dict[str, Any]) -> Reply:
        """Send a request once. Raises Failed."""
        begun = time.monotonic()
        try:
            # As text: the library's own objects cost a third of a call's time, and the ledger keeps the text.
            raw = await self._client.post("/chat/completions", cast_to=str, body=body, options=self._options)
        except openai.APIError as error:
            raise self._failed(error, _since(begun)) from None  # the cause holds the request, key and all
        milliseconds = _since(begun)
        try:
            return read_reply(raw, milliseconds)
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
            message = f"The endpoint's response is no chat completion: {self._clean(raw)}"
            raise Failed(
                message, status=200, again=True, fatal=False, retry_after=None, milliseconds=milliseconds
            ) from None

    def _failed(self, error: openai.APIError, milliseconds: int) -> Failed:
        status, again, fatal, retry_after = 0, True, False, None
        if isinstance(error, openai.APIStatusError):
            status = error.status_code
            told = error.body.get("message") if isinstance(error.body, dict) else None
            message = f"The endpoint answered {status}: {self._clean(str(told or error.message))}"
            retry_after = _retry_after(error.response.headers)
            again = status not in (401, 403, *_NEVER_MIND) and error.code != "insufficient_quota"
            # A wrong path or model is everybody's 404; a request that is too long is its own unit's 400.
            fatal = status in (401, 403, 404) or error.code == "insufficient_quota"
        elif isinstance(error, openai.APITimeoutError):
            message = f"No answer within {self._setting.timeout:g} s from {self._setting.base_url}"
        else:
            cause = error.__cause__ or error
            message = f"{self._setting.base_url} can't be reached: {self._clean(str(cause) or type(cause).__name__)}"
            fatal = "connect" in type(cause).__name__.lower()  # nobody there, as opposed to a connection that broke
        return Failed(
            message, status=status, again=again, fatal=fatal, retry_after=retry_after, milliseconds=milliseconds
        )

    def _clean(self, text: str) -> str:
        """Return a text of the endpoint without the key, which some endpoints repeat, and not too long."""
        if self._setting.key:
            text = text.replace(self._setting.key, "[key]")
        return text.replace("\x00", "\ufffd")[:_LONGEST_ERROR]


def _since(begun: float) -> int:
    return int((time.monotonic() - begun) * 1000)


def read_reply(raw: str, milliseconds: int = 0) -> Reply:
    """Return what a raw response says. Raises one of many exceptions for one that is no chat completion."""
    response = json.loads(raw)
    choice = response["choices"][0]
    text, reason = choice["message"].get("content"), choice.get("finish_reason")
    usage = response.get("usage") or {}
    problem = ""
    if reason == "length":
        text, problem = None, "The reply was cut off at the limit of tokens: write less."
    elif not isinstance(text, str) or not text.strip():
        text, problem = None, "The reply was empty."
    tokens = [max(0, int(usage.get(name) or 0)) for name in ("prompt_tokens", "completion_tokens")]
    model = str(response.get("model") or "")
    if response.get("system_fingerprint") == REHEARSAL:
        model = f"{REHEARSAL} ({model})"
    return Reply(text, problem, model[:200], tokens[0], tokens[1], raw.replace("\x00", "\ufffd"), milliseconds)


def _retry_after(headers: Any) -> float | None:
    """Return the seconds that a response asks to wait, or None; a date is too rare to be worth reading."""
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) / scale
        except (KeyError, ValueError):
            continue
        if 0 <= seconds < 3_600:
            return seconds
    return None
