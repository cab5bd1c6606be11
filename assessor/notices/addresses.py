"""Where notices may go: an organizer's word, within what the installation allows."""

from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError

from assessor.runtime.environment import cannot_be_overheard, names_host

USUAL_PORTS = {"http": 80, "https": 443}


def host_of(address: str) -> str:
    """Return the host that an address names, or "" where it names none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def check_address(address: str) -> None:
    """Raise ValidationError for an address to which no notice may go."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port or USUAL_PORTS.get(parts.scheme, 0)
    except ValueError as error:
        raise ValidationError("This is not an address.") from error
    if not host or not address.isascii() or not address.isprintable() or set(address) & set(" \\"):
        raise ValidationError("Write an address such as https://host.example.org/path.")
    if "@" in parts.netloc or parts.fragment:
        raise ValidationError("The address must have no user name, password or # part.")
    check_destination(parts.scheme, host, port)


def check_destination(scheme: str, host: str, port: int) -> None:
    """Raise ValidationError where ASSAY_WEBHOOK_HOSTS does not name a host, or others could read along."""
    if not cannot_be_overheard(scheme, host):
        raise ValidationError("The address must begin with https://.")
    if not names_host(settings.WEBHOOK_HOSTS, host, port):
        raise ValidationError(f"{host} is not among the hosts that ASSAY_WEBHOOK_HOSTS allows.")
