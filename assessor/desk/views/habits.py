"""A person's own settings."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from assessor.collection.http import PersonRequest
from assessor.collection.models import Person
from assessor.desk.habits import HabitsForm


@require_http_methods(["GET", "HEAD", "POST"])
def habits(request: PersonRequest) -> HttpResponse:
    """Show what a person chose for themselves, and keep what they choose."""
    # A copy: what a wrong form says is not to be on the page, as the person's.
    form = HabitsForm(
        request.POST if request.method == "POST" else None, instance=Person.objects.get(pk=request.user.pk)
    )
    if form.is_valid():
        form.save()
        messages.success(request, "Your settings are saved.")
        return redirect("habits")
    return render(request, "desk/habits.html", {"form": form})
