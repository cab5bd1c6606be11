"""Metrics, for Prometheus."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_safe


@login_not_required
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """How much work there is and whether it moves, for who has the token of ASSAY_METRICS_TOKEN."""
    token = settings.METRICS_TOKEN
    if not token or not constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {token}"):
        raise Http404
    from prometheus_client.exposition import CONTENT_TYPE_LATEST

    from assessor.desk.metrics import as_text

    return HttpResponse(as_text(), content_type=CONTENT_TYPE_LATEST)
