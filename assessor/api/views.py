"""A person's own tokens, and what can be done with them."""

from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from assessor.api.access import own_token, own_tokens
from assessor.api.actions import create_token, revoke_token
from assessor.api.forms import TokenForm
from assessor.campaigns.http import PersonRequest


@require_http_methods(["GET", "POST"])
def tokens(request: PersonRequest) -> HttpResponse:
    """A person's tokens; a new one's secret stands in the answer to the request that makes it, and nowhere else."""
    form = TokenForm(request.POST or None)
    made = None
    if request.method == "POST" and form.is_valid():
        said = {"name": form.cleaned_data["name"], "may": form.cleaned_data["may"], "expires_at": form.expires_at}
        try:
            made = create_token(person=request.user, acting_user=request.user, **said)
        except ValidationError as error:
            form.add_error("name", error.messages)
        else:
            form = TokenForm()
    context = {"form": form, "made": made, "tokens": own_tokens(request.user), "now": timezone.now()}
    return render(request, "api/tokens.html", context)


@require_POST
def revoke(request: PersonRequest, token_id: int) -> HttpResponse:
    """Revoke one of a person's own tokens."""
    revoke_token(token=own_token(request.user, token_id), acting_user=request.user)
    return redirect("tokens")


@require_safe
def description(request: PersonRequest) -> HttpResponse:
    """The API's addresses, from its own description."""
    from assessor.api.service import api

    schema: dict[str, Any] = api.get_openapi_schema()
    addresses = [
        (method.upper(), address, told)
        for address, methods in schema["paths"].items()
        for method, told in methods.items()
    ]
    return render(request, "api/description.html", {"addresses": addresses})
