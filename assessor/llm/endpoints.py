"""Where requests may go: an organizer's word, within what the installation allows."""

from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError


def check_base_url(url: str) -> None:
    """Raise ValidationError for what is no plain http(s) address, or not among the hosts of ASSAY_LLM_HOSTS."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ValidationError("This is no address of an endpoint.") from error
    if parts.scheme not in ("http", "https") or not host or not url.isprintable() or " " in url:
        raise ValidationError("Write the address of a chat-completions API: https://host/v1")
    if parts.username or parts.password or "@" in parts.netloc:
        raise ValidationError("No names or passwords in the address: the key comes from the environment.")
    if parts.query or parts.fragment:
        raise ValidationError("The address ends before any ? or #.")
    if settings.LLM_HOSTS and host not in settings.LLM_HOSTS:
        raise ValidationError(f"{host} is not among the hosts that ASSAY_LLM_HOSTS allows.")
