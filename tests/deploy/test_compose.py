"""What the files for containers say, held against the program: who gets which secret, what waits for what."""

import re

import pytest
from django.conf import settings

from assay.serve import SERVICES
from tests.deploy.compose import ROOT, let_into_the_image, read_env, services

OURS = {"migrate", "web", "imports", "jobs", "beat"}


@pytest.fixture
def env() -> dict[str, str]:
    """The example, filled in: each secret is a word of its own."""
    told = read_env((ROOT / ".env.example").read_text())
    return {name: value or f"the-{name}" for name, value in told.items()}


def test_the_example_names_all_that_is_asked_for(env: dict[str, str]):
    asked = set(re.findall(r"\$\{(\w+)", (ROOT / "compose.yaml").read_text()))
    assert asked == set(env)


@pytest.mark.parametrize(("profile", "broker"), [("redis", "redis"), ("amqp", "rabbitmq")])
def test_one_line_changes_the_broker(env: dict[str, str], profile: str, broker: str):
    started = services(env | {"COMPOSE_PROFILES": profile})
    assert set(started) == OURS | {"proxy", "postgres", broker}
    assert started["web"]["environment"]["CELERY_BROKER_URL"] == f"{profile}://assay:the-BROKER_PASSWORD@broker/"


def test_everybody_gets_the_secrets_that_they_need_and_no_others(env: dict[str, str]):
    needs = {name: {"ASSAY_SECRET_KEY", "DATABASE_PASSWORD", "BROKER_PASSWORD"} for name in OURS}
    needs["migrate"] = {"ASSAY_SECRET_KEY", "OWNER_PASSWORD", "BROKER_PASSWORD"}
    needs |= {"postgres": {"POSTGRES_PASSWORD", "OWNER_PASSWORD", "DATABASE_PASSWORD"}}
    needs |= {"redis": {"BROKER_PASSWORD"}, "proxy": set()}
    secrets = {name for name in env if name.endswith(("PASSWORD", "KEY"))}
    told = {name: {secret for secret in secrets if env[secret] in str(one)} for name, one in services(env).items()}
    assert told == needs


def test_all_wait_for_migrations_and_run_with_nothing_they_need_not(env: dict[str, str]):
    for name, one in services(env).items():
        if name not in OURS:
            continue
        assert (one["read_only"], one["cap_drop"], one["security_opt"]) == (True, ["ALL"], ["no-new-privileges:true"])
        if name != "migrate":
            assert one["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}
            # As whom tables are made, only migrations know.
            assert one["environment"]["DATABASE_URL"] == "postgres://assay:the-DATABASE_PASSWORD@postgres:5432/assay"
        assert "ports" not in one


def test_the_units_run_the_same_commands_as_the_containers(env: dict[str, str]):
    started = services(env)
    for name in OURS - {"migrate"}:
        unit = (ROOT / "deploy" / "systemd" / f"assay-{name}.service").read_text()
        command = " ".join(started[name]["command"]).replace("%", "%%")
        assert f"ExecStart=/srv/assay/.venv/bin/{command}\n" in unit
    unit = (ROOT / "deploy" / "systemd" / "assay-migrate.service").read_text()
    steps = re.findall(r"ExecStart=/srv/assay/.venv/bin/(.*)", unit)
    assert started["migrate"]["command"] == ["sh", "-ec", "; ".join(steps)]


def test_assay_serve_runs_the_same_processes(env: dict[str, str]):
    started = {name: one["command"] for name, one in services(env).items() if name in OURS - {"migrate"}}
    assert {name: [word.removeprefix(f"{ROOT}/") for word in words[1:]] for name, words in SERVICES.items()} == started


def test_the_image_gets_what_is_tracked_and_needed():
    allowed = let_into_the_image()
    assert all((ROOT / name).exists() for name in allowed)
    packages = {app.partition(".")[0] for app in settings.INSTALLED_APPS if (ROOT / app.partition(".")[0]).is_dir()}
    assert {
        "assay",
        "demo",
        "static",
        "templates",
        "manage.py",
        "requirements.txt",
        "requirements-s3.txt",
    } | packages <= set(allowed)
    assert not {"tests", "docs", "var", ".env", "assay.env", "tls", ".git"} & set(allowed)
