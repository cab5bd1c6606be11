"""python -m tests.accounts.provider PORT: a provider of sign-ins (OpenID Connect) on this machine.

oidc-provider-mock, whose accounts may claim an `amr`; it does not look at PKCE, so that is done here. Whoever asks is
signed in as the `sub` that they name.
"""

import base64
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

import httpx2

from tests.llm.house import wait_until
from tests.mutations import ROOT
from tests.ports import free_port

_PEOPLE = {
    "kim": {},
    "mia": {"amr": ["pwd", "mfa"]},
    "otp": {"amr": ["otp"]},
    "mallory": {"email": "anna@example.org", "email_verified": True, "preferred_username": "anna"},
}
_challenges: dict[str, str] = {}  # by code


def serve(port: int) -> None:
    import flask
    from oidc_provider_mock import app
    from oidc_provider_mock._storage import User

    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
    provider = app(user_claims=[User(sub=sub, claims=claims) for sub, claims in _PEOPLE.items()])

    @provider.after_request
    def note_challenge(response: flask.Response) -> flask.Response:
        sent = parse_qs(urlsplit(response.headers.get("Location", "")).query)
        if "code" in sent and flask.request.args.get("code_challenge_method") == "S256":
            _challenges[sent["code"][0]] = flask.request.args["code_challenge"]
        return response

    @provider.before_request
    def ask_for_verifier() -> None:
        if flask.request.path == "/oauth2/token":
            digest = hashlib.sha256(flask.request.form["code_verifier"].encode()).digest()
            wanted = _challenges.pop(flask.request.form["code"])
            assert base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == wanted

    provider.run(port=port, use_reloader=False)  # which would look at all files again each second


@contextmanager
def running_provider() -> Iterator[str]:
    """Run a provider in a process of its own; yield its address."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "tests.accounts.provider", str(port)]

    def answers() -> bool:
        try:
            return httpx2.get(f"{address}/.well-known/openid-configuration").status_code == 200
        except httpx2.TransportError:
            return False

    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_until(answers, "the provider answers", 60)
        yield address
        process.terminate()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
