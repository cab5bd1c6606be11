"""Settings of a judge: which values are taken, what is sent of them, and what is absent where they are empty."""

import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign
from assessor.llm.gateway import request_body, request_hash
from assessor.llm.models import ModelJudge
from assessor.llm.prompts import PromptRequest
from tests.conftest import client_of
from tests.llm.test_pages import BASE, JUDGE

pytestmark = pytest.mark.django_db
BEFORE = {"model": "gpt", "temperature": 0.0, "max_tokens": 500, "limit_name": "max_completion_tokens"}
BEFORE["structured"] = True
# As UMBRELA's authors published them.
UMBRELA = {"temperature": "0", "top_p": "1", "frequency_penalty": "0.5", "presence_penalty": "0"}
EVERYTHING = UMBRELA | {"seed": "-7", "reasoning_effort": "low", "extra": '{"top_k": 20, "guided": {"a": [1.5]}}'}
MESSAGES = [{"role": "user", "content": "é"}]
QUESTION: PromptRequest[str] = PromptRequest("importance", MESSAGES, {"type": "object"}, 3, str)


@pytest.fixture
def client(olga: Person, campaign: Campaign) -> Client:
    return client_of(olga)


def body(parameters: dict[str, Any]) -> dict[str, Any]:
    return request_body(QUESTION, MESSAGES, parameters)


@pytest.mark.parametrize(
    ("parameters", "sha256"),
    [
        (BEFORE, "be8d115beacae31fcd6e046841552cdec03bdb8c585275c0c8c9b6680d2f6340"),
        (
            {"model": "gpt", "temperature": None, "max_tokens": 500, "limit_name": "max_tokens", "structured": False},
            "061378e888d405fb454a7669ec202bdc73648d406e50b0429b8b7e9fced3bb1c",
        ),
    ],
)
def test_requests_of_judges_without_these_settings_are_the_same_bytes(parameters: dict[str, Any], sha256: str):
    """The hashes were taken before there were such settings: answers of old judges are still in the ledger."""
    assert request_hash(body(parameters)) == sha256


def test_a_judge_with_none_of_them_is_stored_as_before(client: Client):
    client.post(
        f"{BASE}/judges/new/",
        JUDGE | dict.fromkeys((*UMBRELA, "seed", "reasoning_effort", "extra"), "") | {"temperature": "0"},
    )
    call_command(
        *("create_judge", "study", "by command"),
        **{"base_url": "https://api.example.org/v1", "model": "gpt", "max_tokens": 500, "structured": True},
        limit_name="max_completion_tokens",
        stdout=io.StringIO(),
    )
    with connection.cursor() as cursor:
        cursor.execute("SELECT parameters FROM campaigns_judge WHERE kind = 'model'")
        stored = {text for (text,) in cursor.fetchall()}
    assert stored == {
        '{"model": "gpt", "temperature": 0.0, "max_tokens": 500, "limit_name": "max_completion_tokens", '
        '"structured": true}'
    }


def test_all_of_them_are_part_of_the_judge_and_of_its_requests(client: Client):
    client.post(f"{BASE}/judges/new/", JUDGE | EVERYTHING)
    judge = ModelJudge.objects.get()
    more = {
        **{"top_p": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.5, "seed": -7, "reasoning_effort": "low"},
        "extra": {"top_k": 20, "guided": {"a": [1.5]}},
    }
    assert judge.judge.parameters == BEFORE | more
    sent = body(judge.judge.parameters)
    assert {name: sent[name] for name in sent if name not in ("messages", "response_format")} == {
        **{"model": "gpt", "max_completion_tokens": 500, "temperature": 0.0, "top_p": 1.0, "presence_penalty": 0.0},
        **{"frequency_penalty": 0.5, "seed": -7, "reasoning_effort": "low", "top_k": 20, "guided": {"a": [1.5]}},
    }
    page = client.get(f"{BASE}/judges/{judge.pk}/").content.decode()
    for name, value in (("top_p", "1.0"), ("presence penalty", "0.0"), ("frequency penalty", "0.5"), ("seed", "-7")):
        assert f"<dt>{name}</dt><dd>{value}</dd>" in page
    assert "<dt>further fields</dt>" in page
    assert "{&quot;top_k&quot;: 20, &quot;guided&quot;: {&quot;a&quot;: [1.5]}}" in page


def test_the_family_of_a_model_is_stored_and_never_sent(client: Client):
    client.post(f"{BASE}/judges/new/", JUDGE | {"family": "openai"})
    call_command(
        *("create_judge", "study", "by command", "--base-url", "https://api.example.org/v1", "--model", "gpt"),
        *("--max-tokens", "500", "--limit-name", "max_completion_tokens", "--structured", "--family", "openai"),
        stdout=io.StringIO(),
    )
    for judge in ModelJudge.objects.select_related("judge"):
        assert judge.judge.parameters == BEFORE | {"family": "openai"}
        assert judge.judge.family == "openai"
        assert request_hash(body(judge.judge.parameters)) == request_hash(body(BEFORE))
        assert "<dt>family</dt><dd>openai</dd>" in client.get(f"{BASE}/judges/{judge.pk}/").content.decode()


def test_the_command_takes_them_too(client: Client):
    client.post(f"{BASE}/judges/new/", JUDGE | EVERYTHING)
    call_command(
        *("create_judge", "study", "by command", "--base-url", "https://api.example.org/v1", "--model", "gpt"),
        *("--max-tokens", "500", "--limit-name", "max_completion_tokens", "--structured", "--top-p", "1"),
        *("--frequency-penalty", "0.5", "--presence-penalty", "0", "--seed", "-7", "--reasoning-effort", "low"),
        *("--extra", EVERYTHING["extra"]),
        stdout=io.StringIO(),
    )
    first, second = ModelJudge.objects.order_by("pk")
    assert first.judge.parameters == second.judge.parameters
    assert list(first.judge.parameters) == list(second.judge.parameters)


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("top_p", "1.1", "less than or equal to 1"),
        ("top_p", "-0.1", "greater than or equal to 0"),
        ("top_p", "nan", "Enter a number."),
        ("presence_penalty", "2.1", "less than or equal to 2"),
        ("frequency_penalty", "-2.1", "greater than or equal to -2"),
        ("frequency_penalty", "inf", "Enter a number."),
        ("seed", "1.5", "Enter a whole number."),
        ("family", "gpt", "gpt is not one of the available choices"),
        ("seed", str(2**63), "less than or equal to 9223372036854775807"),
        ("reasoning_effort", "Very high", "Write one word in small letters, such as low, medium or high."),
        ("extra", "[1]", "expected a JSON object."),
        ("extra", "top_k: 20", "expected one JSON object a line."),
        ("extra", '{"a": NaN}', "expected numbers that are finite."),
        ("extra", '{"a": 1e999}', "expected numbers that are finite."),
        ("extra", '{"a": 1, "a": 2}', "expected each key once."),
        ("extra", '{"a": "\\ud800"}', "expected"),
        ("extra", '{"a":' * 600 + "1" + "}" * 600, "expected JSON of at most 64 levels."),
        ("extra", '{"a": "' + "x" * 4_000 + '"}', "at most 4000 characters"),
        ("extra", '{"model": "other"}', "Leave out model: Assay sets it itself, from the fields above"),
        ("extra", '{"stream": true, "n": 2}', "Leave out n, stream: Assay sets them itself"),
        ("extra", '{"messages": []}', "Leave out messages"),
        ("extra", '{"response_format": null}', "Leave out response_format"),
        ("extra", '{"max_tokens": 5, "max_completion_tokens": 5}', "Leave out max_completion_tokens, max_tokens"),
        ("extra", '{"top_p": 0.5}', "Leave out top_p"),
        ("extra", '{"seed": 5}', "Leave out seed"),
        ("extra", '{"Model": "other", "N": 2}', "Leave out Model, N: Assay sets them itself"),
        ("extra", '{"stop": ["2"]}', "Leave out stop: Assay sets it itself"),
    ],
)
def test_odd_values_are_refused_with_the_reason_and_change_nothing(client: Client, field: str, value: str, reason: str):
    page = client.post(f"{BASE}/judges/new/", JUDGE | {field: value}).content.decode()
    assert reason in page
    option = "--" + field.replace("_", "-")
    command = ["create_judge", "study", "j", "--base-url", "https://api.example.org/v1", "--model", "gpt"]
    with pytest.raises(CommandError):
        call_command(*command, f"{option}={value}")
    assert not ModelJudge.objects.exists()


def test_the_command_names_the_field(campaign: Campaign):
    command = ["create_judge", "study", "j", "--base-url", "https://api.example.org/v1", "--model", "gpt"]
    with pytest.raises(CommandError, match=r"^Further fields: Leave out stream: Assay sets it itself"):
        call_command(*command, '--extra={"stream": true}')
    with pytest.raises(CommandError, match=r"^Temperature: Ensure this value is less than or equal to 2\.$"):
        call_command(*command, "--temperature=3")
