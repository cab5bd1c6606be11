"""python -m tests.accounts.provider PORT: a provider of sign-ins (OpenID Connect) on this machine.

oidc-provider-mock, whose accounts may claim an `amr`; it does not look at PKCE, so that is done here. Whoever asks is
signed in as the `sub` that they name.
"""

import base64
import hashlib
import os
import sys
from urllib.parse import parse_qs, urlsplit

import flask
from oidc_provider_mock import app
from oidc_provider_mock._storage import User

_PEOPLE = {
    "kim": {},
    "mia": {"amr": ["pwd", "mfa"]},
    "otp": {"amr": ["otp"]},
    "mallory": {"email": "anna@example.org", "email_verified": True, "preferred_username": "anna"},
}
_challenges: dict[str, str] = {}  # by code


def serve(port: int) -> None:
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

    provider.run(port=port)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
