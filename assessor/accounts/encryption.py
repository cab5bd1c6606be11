"""Secrets of second factors as they are kept: encrypted, so that who reads the database or a copy has no codes."""

import base64
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


def encrypt(secret: str) -> str:
    """Return a secret as it is kept."""
    return _box().encrypt(secret.encode()).decode()


def decrypt(encrypted: str) -> str | None:
    """Return a secret that was encrypted, or None where another ASSAY_SECRET_KEY encrypted it."""
    from cryptography.fernet import InvalidToken

    try:
        return _box().decrypt(encrypted.encode()).decode()
    except InvalidToken:
        return None


def _box() -> "Fernet":
    # Most processes never see a second factor: cryptography is 7 MiB.
    from cryptography.fernet import Fernet
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    derived = HKDF(SHA256(), 32, salt=None, info=b"assay: second factor").derive(settings.SECRET_KEY.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
