"""A person's own settings."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from assessor.accounts.languages import in_own_language_unless_organizer
from assessor.accounts.models import Person
from assessor.accounts.preferences import PreferencesForm
from assessor.campaigns.http import PersonRequest


@require_http_methods(["GET", "HEAD", "POST"])
@in_own_language_unless_organizer
def habits(request: PersonRequest) -> HttpResponse:
    """Show what a person chose for themselves, and keep what they choose."""
    # A copy: what a wrong form says is not to be on the page, as the person's.
    form = PreferencesForm(
        request.POST if request.method == "POST" else None, instance=Person.objects.get(pk=request.user.pk)
    )
    if form.is_valid():
        form.save(commit=False).save(update_fields=("time_zone", "language", "keys", "keys_off", "mailed_when"))
        messages.success(request, gettext("Your settings are saved."))
        return redirect("habits")
    return render(request, "accounts/preferences.html", {"form": form})
