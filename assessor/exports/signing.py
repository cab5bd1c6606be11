"""Ed25519 signatures of manifests. The key comes from the environment and is kept nowhere."""

import base64
import binascii
import os
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

KEY = "ASSAY_SIGNING_KEY"


class OddKey(Exception):
    """A key can't be read; the text says which, and never what it is."""


def signed(manifest: bytes) -> tuple[str, str]:
    """Return public key and signature of a manifest, base64; both empty where the server has no key."""
    key = _private_key()
    if key is None:
        return "", ""
    public, signature = key.public_key().public_bytes_raw(), key.sign(manifest)
    return base64.b64encode(public).decode(), base64.b64encode(signature).decode()


def has_key() -> bool:
    """Say whether what is frozen now would be signed. Raises OddKey where the key is none."""
    return _private_key() is not None


def _private_key() -> Ed25519PrivateKey | None:
    text, file = os.environ.get(KEY, "").strip(), os.environ.get(f"{KEY}_FILE", "").strip()
    if text and file:
        raise OddKey(f"Set {KEY} or {KEY}_FILE, not both.")
    if file:
        try:
            text = Path(file).read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise OddKey(f"The file that {KEY}_FILE names can't be read as a key.") from error
    if not text:
        return None
    try:
        if text.startswith("-----"):
            key = load_pem_private_key(text.encode(), password=None)
        else:
            key = Ed25519PrivateKey.from_private_bytes(base64.b64decode(text, validate=True))
    except (ValueError, TypeError):
        # Without the cause: it might say what was read.
        raise OddKey(f"{KEY} is no Ed25519 key: 32 bytes in base64, or PEM without a password.") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise OddKey(f"{KEY} is a key of another kind: it must be Ed25519.")
    return key


def public_key(text: str) -> str:
    """Return a public key in base64 from that or from PEM. Raises OddKey."""
    try:
        if text.strip().startswith("-----"):
            key = load_pem_public_key(text.encode())
            if not isinstance(key, Ed25519PublicKey):
                raise OddKey("The public key is of another kind: it must be Ed25519.")
        else:
            key = Ed25519PublicKey.from_public_bytes(base64.b64decode(text.strip(), validate=True))
    except (ValueError, TypeError) as error:
        raise OddKey("The public key is none: 32 bytes in base64, or PEM.") from error
    return base64.b64encode(key.public_bytes_raw()).decode()


def is_signed(manifest: bytes, *, key: str, signature: str) -> bool:
    """Say whether a signature is this key's of this manifest."""
    try:
        public, given = (base64.b64decode(text, validate=True) for text in (key, signature))
        Ed25519PublicKey.from_public_bytes(public).verify(given, manifest)
    except (InvalidSignature, ValueError, TypeError, binascii.Error):
        return False
    # Base64 has several spellings of the same bytes; only one of them is what was written.
    return (base64.b64encode(public).decode(), base64.b64encode(given).decode()) == (key, signature)
