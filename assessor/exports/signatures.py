"""Ed25519 signatures of manifests. The key comes from the environment and is kept nowhere.

cryptography is loaded by what signs and checks: 7 MiB that pages do without.
"""

import base64
import binascii
from pathlib import Path
from typing import TYPE_CHECKING

from assessor.runtime import environment

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

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


def _private_key() -> "Ed25519PrivateKey | None":
    text, file = environment.text(KEY, default=""), environment.text(f"{KEY}_FILE", default="")
    if text and file:
        raise OddKey(f"Set {KEY} or {KEY}_FILE, not both.")
    if file:
        try:
            text = Path(file).read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise OddKey(f"The file that {KEY}_FILE names can't be read as a key.") from error
    if not text:
        return None
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

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
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

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
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        public, given = (base64.b64decode(text, validate=True) for text in (key, signature))
        Ed25519PublicKey.from_public_bytes(public).verify(given, manifest)
    except (InvalidSignature, ValueError, TypeError, binascii.Error):
        return False
    # Base64 has several spellings of the same bytes; only one of them is what was written.
    return (base64.b64encode(public).decode(), base64.b64encode(given).decode()) == (key, signature)
