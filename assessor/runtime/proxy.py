"""What the proxy in front says of a client. Used only with ASSAY_BEHIND_PROXY: anybody can send these headers."""

from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """Return the address that the proxy was asked from: the last of X-Forwarded-For, the only one that it wrote."""
    told = request.headers.get("X-Forwarded-For", "").rpartition(",")[2].strip()
    return told or str(request.META.get("REMOTE_ADDR", ""))
