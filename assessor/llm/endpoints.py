"""Where requests may go: an organizer's word, within what the installation allows."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError

from assessor.llm.models import key_variable_validator
from assessor.runtime import environment

_TRANSLATED = IPv6Network("64:ff9b::/96")  # addresses of IPv4, any of them, by way of a translator
_USUAL_PORTS = {"http": 80, "https": 443}


def check_base_url(url: str) -> None:
    """Raise ValidationError for what is no plain http(s) address, or where no request may go by what it says itself.

    Where a name leads is looked at with each connection: see transport.PublicOrNamed.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or _USUAL_PORTS.get(parts.scheme, 0)
    except ValueError as error:
        raise ValidationError("This is no address of an endpoint.") from error
    if parts.scheme not in _USUAL_PORTS or not host or not url.isprintable() or " " in url:
        raise ValidationError("Write the address of a chat-completions API: https://host/v1")
    if parts.username or parts.password or "@" in parts.netloc:
        raise ValidationError("No names or passwords in the address: the key comes from the environment.")
    if parts.query or parts.fragment:
        raise ValidationError("The address ends before any ? or #.")
    if settings.LLM_HOSTS and not is_named(host, port):
        raise ValidationError(f"{host} is not among the hosts that ASSAY_LLM_HOSTS allows.")
    try:
        address = ip_address(host)
    except ValueError:
        return
    if not (is_named(host, port) or is_public(address)):
        raise ValidationError(inside(host))


class Key(NamedTuple):
    """A key by the name of its environment variable, and whether this process has it: it is never shown."""

    variable: str
    is_there: bool


def key_of(variable: str) -> Key:
    """Look whether a key is there; variables that are named otherwise than keys are not looked at."""
    try:
        key_variable_validator(variable)
    except ValidationError:
        return Key(variable, False)
    return Key(variable, bool(environment.text(variable, default="")))


def is_named(host: str, port: int) -> bool:
    """Say whether ASSAY_LLM_HOSTS names a host, for all of its ports or for this one."""
    return environment.names_host(settings.LLM_HOSTS, host, port)


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Say whether an address is out in the Internet: neither this machine's nor of a network behind it."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped:
            return is_public(address.ipv4_mapped)
        if address.sixtofour or address.teredo or address in _TRANSLATED:
            return False
    return address.is_global and not address.is_multicast


def inside(host: str) -> str:
    """Return why no request goes to a host."""
    return f"{host} is on this machine or in a network of its own: only ASSAY_LLM_HOSTS, by naming it, allows that."
