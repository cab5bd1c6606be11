"""Reading compose.yaml without a container engine: which command runs with which environment."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
_NAMED = re.compile(r"\$(?:\$|\{(?P<name>\w+)(?P<rule>:[-?](?P<word>[^}]*))?\})")


def read_env(text: str) -> dict[str, str]:
    """Return the variables of a file of the form of .env."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def _filled(value: Any, env: Mapping[str, str]) -> Any:
    """Return a part of the file with ${NAME}, ${NAME:-else} and ${NAME:?} filled in; $$ is a dollar."""
    if isinstance(value, dict):
        return {name: _filled(part, env) for name, part in value.items()}
    if isinstance(value, list):
        return [_filled(part, env) for part in value]
    if not isinstance(value, str):
        return value

    def one(found: "re.Match[str]") -> str:
        if found["name"] is None:
            return "$"
        if told := env.get(found["name"]):
            return told
        if (found["rule"] or "").startswith(":-"):
            return found["word"]
        raise KeyError(found["name"])

    return _NAMED.sub(one, value)


def services(env: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return the services of compose.yaml that these variables start, filled in. Raises KeyError where one lacks."""
    told = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    profiles = env.get("COMPOSE_PROFILES", "").split(",")
    started = {
        name: one for name, one in told.items() if not one.get("profiles") or set(one["profiles"]) & set(profiles)
    }
    return {name: _filled(one, env) for name, one in started.items()}


def let_into_the_image() -> list[str]:
    """Return what .dockerignore lets in: it forbids everything, and then allows by name."""
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    assert "*" in lines
    return [line[1:] for line in lines if line.startswith("!")]
