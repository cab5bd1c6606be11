"""The secret of a webhook, and what it signs, as www.standardwebhooks.com has it."""

import hashlib
import hmac
from base64 import b64encode
from uuid import UUID

from django.utils.crypto import salted_hmac

from assessor.notices.models import Webhook


def secret_of(webhook: Webhook) -> str:
    """Return the secret with which a receiver checks signatures."""
    return f"whsec_{b64encode(_key(webhook)).decode()}"


def signed_headers(webhook: Webhook, uid: UUID, body: str, at: int) -> dict[str, str]:
    """Return the headers that sign a body sent at a time, in seconds since 1970."""
    name = f"msg_{uid.hex}"
    signature = hmac.digest(_key(webhook), f"{name}.{at}.{body}".encode(), hashlib.sha256)
    return {
        "webhook-id": name,
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,{b64encode(signature).decode()}",
    }


def _key(webhook: Webhook) -> bytes:
    return salted_hmac("assessor.notices.signatures", webhook.salt, algorithm="sha256").digest()
