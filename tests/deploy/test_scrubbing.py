"""What has the shape of a secret, or is one, is written down nowhere; what has not, stays."""

import time

import pytest

from assessor.runtime import secrets_filter
from assessor.runtime.secrets_filter import scrub

HIDDEN = [
    "Authorization: Bearer abc.def-123456",
    "{'HTTP_AUTHORIZATION': 'Basic YW5uYTpnZWhlaW0x'}",
    "Cookie: sessionid=0123456789abcdef; csrftoken=fedcba9876543210",
    "set-cookie: sessionid=0123456789abcdef; Secure",
    "sessionid=0123456789abcdef",
    "csrfmiddlewaretoken=fedcba9876543210&next=/",
    "{'password': 'fedcba9876543210', 'username': 'anna'}",
    '{"new_password": "fedcba 9876543210"}',
    "OPENAI_API_KEY=fedcba9876543210",
    "api-key: fedcba9876543210",
    "token assay_AbCdEfGh-0123456789_fedcba9876543210AbCdEfGhI is gone",
    "key sk-proj-fedcba9876543210 was refused",
    "postgres://assay:fedcba9876543210@db:5432/assay",
    "redis://:fedcba9876543210@redis/0",
    "https://fedcba9876543210@sentry.example.org/5",
    "GET /campaigns/rag24/history/?person=fedcba9876543210&x=1 HTTP/1.1",
    "SECRET_KEY = 'fedcba 9876543210'",
]


@pytest.mark.parametrize("text", HIDDEN)
def test_secrets_are_hidden(text: str):
    scrubbed = scrub(text)
    assert "[hidden]" in scrubbed
    for secret in ("fedcba", "0123456789abcdef", "abc.def", "YW5uYTp", "AbCdEfGh", "person="):
        assert secret not in scrubbed


@pytest.mark.parametrize(
    "text",
    [
        "GET /campaigns/rag24/ 200 12 ms",
        "Import 5 failed: line 3: docid is missing",
        "https://models.example.org/v1 can't be reached: ConnectError",
        'password authentication failed for user "assay"',
        "12 tokens in, 30 tokens out; tokens_in=5",
        "Why do cats purr? Because they can. 1 = 1",
        "anna@example.org",
    ],
)
def test_the_rest_stays(text: str):
    assert scrub(text) == text


def test_values_of_the_environment_are_hidden_wherever_they_stand(monkeypatch):
    monkeypatch.setenv("ASSAY_SECRET_KEY", "plain words that nobody would take for a key")
    monkeypatch.setenv("MY_MODEL_API_KEY", "another one")
    monkeypatch.setenv("DATABASE_URL", "postgres://assay:p%40ss-w0rd@db/assay")
    monkeypatch.setenv("SHORT_KEY", "a")
    secrets_filter._secrets.cache_clear()
    try:
        told = scrub("a: plain words that nobody would take for a key, another one, p@ss-w0rd, p%40ss-w0rd")
    finally:
        secrets_filter._secrets.cache_clear()
    assert told == "a: [hidden], [hidden], [hidden], [hidden]"


def test_a_key_of_the_data_folder_is_hidden(settings):
    settings.SECRET_KEY = "made at the first start"
    assert scrub("key made at the first start.") == "key [hidden]."


@pytest.mark.parametrize("piece", ["a.", "://", "password", "cookie ", "?a", "aa://b", "Bearer ", "sk-", '"'])
def test_no_text_takes_long(piece: str):
    """A hostile text of 200,000 characters; a pattern that goes back and forth would take minutes."""
    begun = time.process_time()
    scrub(piece * (200_000 // len(piece)))
    assert time.process_time() - begun < 5
