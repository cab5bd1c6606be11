"""A person's own settings."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from assessor.accounts.models import Person
from assessor.accounts.preferences import PreferencesForm
from assessor.campaigns.http import PersonRequest


@require_http_methods(["GET", "HEAD", "POST"])
def habits(request: PersonRequest) -> HttpResponse:
    """Show what a person chose for themselves, and keep what they choose."""
    # A copy: what a wrong form says is not to be on the page, as the person's.
    form = PreferencesForm(
        request.POST if request.method == "POST" else None, instance=Person.objects.get(pk=request.user.pk)
    )
    if form.is_valid():
        form.save(commit=False).save(update_fields=("time_zone", "keys", "keys_off", "mailed_when"))
        messages.success(request, "Your settings are saved.")
        return redirect("habits")
    return render(request, "accounts/preferences.html", {"form": form})
