"""What somebody does to come in, over HTTP; with real codes and a passkey in software."""

import html
import json
import os
import re
from typing import Any

import pyotp
from allauth.account.models import EmailAddress
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from django.test import Client
from fido2.cose import ES256
from fido2.utils import sha256, websafe_decode, websafe_encode
from fido2.webauthn import (
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorData,
    CollectedClientData,
)

from assessor.accounts.models import Person
from tests.conftest import PASSWORD

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


def code(secret: str = SECRET) -> str:
    """Return what an app shows now."""
    return pyotp.TOTP(secret).now()


def has_app(person: Person) -> list[str]:
    """Set up a person's app with SECRET, some time ago; return their recovery codes."""
    TOTP.activate(person, SECRET)
    codes: list[str] = RecoveryCodes.activate(person).generate_codes()
    return codes


def plant(**site: str) -> tuple[Client, Client]:
    """Return the browser of somebody who has a session, and that of whom they planted it on."""
    planted, victim = Client(**site), Client(**site)
    planted.get("/login/passkey/", headers={"accept": "application/json"})  # which leaves a session
    victim.cookies["sessionid"] = planted.cookies["sessionid"].value
    return planted, victim


def has_address(person: Person, email: str) -> None:
    """Give a person a mail address that they confirmed some time ago."""
    EmailAddress.objects.create(user=person, email=email, verified=True).set_as_primary()


def give_password(client: Client, next_page: str = "", password: str = PASSWORD, name: str = "anna") -> Any:
    return client.post("/login/", {"username": name, "password": password, "next": next_page})


def give_code(client: Client, code: str) -> str:
    """Give a code at the second step; return where it leads, or what is said of it."""
    response = client.post("/login/code/", {"code": code})
    return response["Location"] if response.status_code == 302 else response.context["form"].errors["code"][0]


def confirm(client: Client, password: str = PASSWORD) -> Any:
    return client.post("/confirm/", {"password": password, "next": "/security/"})


def is_signed_in(client: Client) -> bool:
    return client.get("/").status_code == 200


def words(response: Any) -> str:
    """Return what a page says, without its tags."""
    main = re.sub(r"(?s).*<main[^>]*>|</main>.*", "", response.content.decode())
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", main)).split())


class Passkey:
    """A passkey in software, as a browser at an origin speaks to one. verifies: it asks for a finger, face or PIN."""

    def __init__(self, origin: str = "http://localhost", *, verifies: bool = True) -> None:
        self.origin, self.flags = origin, 0x05 if verifies else 0x01
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.id = os.urandom(16)
        self.user = ""

    def _client_data(self, kind: str, challenge: str) -> CollectedClientData:
        return CollectedClientData.create(f"webauthn.{kind}", websafe_decode(challenge), self.origin)

    def _credential(self, **response: str) -> str:
        ours = {"id": websafe_encode(self.id), "rawId": websafe_encode(self.id), "type": "public-key"}
        return json.dumps(ours | {"clientExtensionResults": {"credProps": {"rk": True}}, "response": response})

    def create(self, options: dict[str, Any]) -> str:
        """Return what the browser sends when the passkey is added."""
        asked = options["publicKey"]
        self.user = asked["user"]["id"]
        public = ES256.from_cryptography_key(self.key.public_key())
        attested = AttestedCredentialData.create(b"\0" * 16, self.id, public)
        told = AuthenticatorData.create(sha256(asked["rp"]["id"].encode()), self.flags | 0x40, 0, attested)
        data = self._client_data("create", asked["challenge"])
        attestation = AttestationObject.create("none", told, {})
        return self._credential(clientDataJSON=data.b64, attestationObject=websafe_encode(bytes(attestation)))

    def get(self, options: dict[str, Any]) -> str:
        """Return what the browser sends when the passkey is used."""
        asked = options["publicKey"]
        told = AuthenticatorData.create(sha256(asked["rpId"].encode()), self.flags, 0)
        data = self._client_data("get", asked["challenge"])
        signature = self.key.sign(bytes(told) + data.hash, ec.ECDSA(SHA256()))
        return self._credential(
            clientDataJSON=data.b64,
            authenticatorData=websafe_encode(bytes(told)),
            signature=websafe_encode(signature),
            userHandle=self.user,
        )


def options_on(response: Any) -> dict[str, Any]:
    """Return what a page asks a passkey for."""
    [found] = re.findall(r'<script type="application/json">(.*?)</script>', response.content.decode())
    asked: dict[str, Any] = json.loads(found)
    return asked


def add_passkey(client: Client, passkey: Passkey, name: str = "Laptop") -> Any:
    page = client.get("/security/passkeys/add/")
    return client.post("/security/passkeys/add/", {"name": name, "credential": passkey.create(options_on(page))})
