"""What the admin's page of a person has besides Django's: making the link by which they come in."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.admin import UserAdmin
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path, reverse

from assessor.accounts.actions import make_link
from assessor.accounts.links import LINK_DAYS, site_of
from assessor.accounts.models import Person


class LinkMaker(UserAdmin):  # type: ignore[type-arg]
    change_form_template = "admin/person.html"

    def get_urls(self) -> list[URLPattern]:
        own = path("<int:person_id>/link/", self.admin_site.admin_view(self.link), name="make_link")
        return [own, *super().get_urls()]

    def link(self, request: HttpRequest, person_id: int) -> HttpResponse:
        """Make a one-time link, and show it to be copied: it can't be shown again."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        person = get_object_or_404(Person, pk=person_id)
        if not person.is_active:
            messages.error(request, f"{person} is inactive: make them active first. No link was made.")
            return redirect(reverse("admin:accounts_person_change", args=[person.pk]))
        assert isinstance(request.user, Person)
        made = make_link(person=person, acting_user=request.user, site=site_of(request))
        context: dict[str, Any] = {
            "title": f"A link for {person}",
            "person": person,
            "link": made,
            "days": LINK_DAYS,
        }
        return render(request, "admin/link.html", self.admin_site.each_context(request) | context)
