"""Providers of models: what a new judge's form is filled in with, which the organizer then changes."""

from typing import Any, NamedTuple

from django.conf import settings


class Provider(NamedTuple):
    """Where models are asked. name: in addresses; example: of a base URL that depends on whose endpoint it is."""

    name: str
    label: str
    note: str
    example: str = ""
    initial: dict[str, Any] = {}


_OWN_HOST = "An administrator allows its host in ASSAY_LLM_HOSTS."
_PROVIDERS = (
    Provider(
        "openai",
        "OpenAI",
        "Raise the limits to those of your account. Reasoning models: clear the temperature.",
        initial={
            "base_url": "https://api.openai.com/v1",
            "key_variable": "OPENAI_API_KEY",
            "limit_name": "max_completion_tokens",
            "structured": True,
            "requests_per_minute": 500,
            "tokens_per_minute": 30_000,
        },
    ),
    Provider(
        "azure",
        "Azure",
        "The model is the name of your deployment. Set the limits to its quota.",
        example="https://RESOURCE.openai.azure.com/openai/v1",
        initial={
            "key_variable": "AZURE_OPENAI_API_KEY",
            "limit_name": "max_completion_tokens",
            "structured": True,
            "requests_per_minute": 60,
        },
    ),
    Provider(
        "openrouter",
        "OpenRouter",
        "The model is named with its maker, such as meta-llama/llama-3.3-70b-instruct.",
        initial={
            "base_url": "https://openrouter.ai/api/v1",
            "key_variable": "OPENROUTER_API_KEY",
            "requests_per_minute": 60,
        },
    ),
    Provider(
        "together",
        "Together",
        "The model is named with its maker, such as meta-llama/Llama-3.3-70B-Instruct-Turbo.",
        initial={
            "base_url": "https://api.together.xyz/v1",
            "key_variable": "TOGETHER_API_KEY",
            "requests_per_minute": 60,
        },
    ),
    Provider("vllm", "vLLM on this network", _OWN_HOST, "http://HOST:8000/v1", {"structured": True, "concurrency": 32}),
    Provider(
        "ollama",
        "Ollama on this network",
        f"{_OWN_HOST} Give the model a context of at least 6,000 tokens.",
        "http://HOST:11434/v1",
        {"concurrency": 1, "timeout": 600},
    ),
    Provider("other", "Other", "Any endpoint with OpenAI's chat-completions API.", "https://host/v1"),
)
_REHEARSAL = Provider("rehearsal", "Rehearsal", "No model behind it: it answers at once, by counting words.")


def providers() -> list[Provider]:
    """Return all providers; in the demo also the rehearsal endpoint, first."""
    found = rehearsal()
    return [found, *_PROVIDERS] if found else list(_PROVIDERS)


def rehearsal() -> Provider | None:
    """Return the demo's endpoint that has no model behind it, filled in completely; None elsewhere."""
    if not (settings.DEMO and settings.REHEARSAL_URL):
        return None
    filled_in = {"name": "rehearsal", "model": "rehearsal", "base_url": settings.REHEARSAL_URL, "structured": True}
    return _REHEARSAL._replace(initial=filled_in | {"concurrency": 4, "price_in": "0.15", "price_out": "0.6"})
