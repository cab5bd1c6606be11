"""What codes are: six digits of an app (TOTP, RFC 6238), and recovery codes. No database in here."""

import base64
import secrets
from hashlib import sha256
from hmac import compare_digest
from typing import TYPE_CHECKING

import pyotp
from django.conf import settings

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

STEP = 30  # seconds that a code of an app stands for
RECOVERY_CODES = 8
_RECOVERY_BYTES = 15  # 120 random bits: a plain hash of so much can't be turned back


def new_secret() -> str:
    """Return a new secret of 160 random bits, in base32 as apps take it."""
    return pyotp.random_base32()


def step_of(secret: str, code: str, now: float) -> int | None:
    """Return for which step of time (of STEP seconds since 1970) a code stands, or None for a wrong one.

    A clock may be a step before or behind; now is in seconds.
    """
    totp, present = pyotp.TOTP(secret, interval=STEP), int(now) // STEP
    for step in (present, present - 1, present + 1):
        if compare_digest(totp.generate_otp(step).encode(), code.encode()):
            return step
    return None


def address(secret: str, name: str) -> str:
    """Return the otpauth address by which an app takes the secret, under a name."""
    return pyotp.TOTP(secret, interval=STEP).provisioning_uri(name=name, issuer_name="Assay")


def picture(address: str) -> str:
    """Return an address as a QR code: an SVG without any style, black on white also where the page is dark."""
    import segno

    return segno.make(address, micro=False).svg_inline(omitsize=True, light="#fff", svgclass=None, lineclass=None)


def recovery_code() -> str:
    """Return a new recovery code: six groups of four, such as "abcd-efgh-…"."""
    text = base64.b32encode(secrets.token_bytes(_RECOVERY_BYTES)).decode().lower()
    return "-".join(text[at : at + 4] for at in range(0, len(text), 4))


def digest(recovery: str) -> str:
    """Return what is kept of a recovery code, however it was typed."""
    return sha256("".join(filter(str.isalnum, recovery.lower())).encode()).hexdigest()


def seal(secret: str) -> str:
    """Return a secret as it is kept: encrypted, so that who reads the database or a copy of it has no codes."""
    return _box().encrypt(secret.encode()).decode()


def unseal(sealed: str) -> str | None:
    """Return a secret that was sealed, or None where another ASSAY_SECRET_KEY sealed it."""
    from cryptography.fernet import InvalidToken

    try:
        return _box().decrypt(sealed.encode()).decode()
    except InvalidToken:
        return None


def _box() -> "Fernet":
    # Most processes never see a second factor: cryptography is 7 MiB.
    from cryptography.fernet import Fernet
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    derived = HKDF(SHA256(), 32, salt=None, info=b"assay: second factor").derive(settings.SECRET_KEY.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
