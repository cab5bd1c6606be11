"""The people of a campaign: inviting them, their roles, and how they come in."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from assessor.accounts.actions import Link, LinkRefused, make_link, remove_second_factor
from assessor.accounts.languages import in_own_language_unless_organizer
from assessor.accounts.links import LINK_DAYS, site_of
from assessor.accounts.models import Person
from assessor.campaigns.access import answers_for, member, organized_campaign
from assessor.campaigns.actions import (
    MembershipError,
    answer_invitation,
    change_role,
    invite,
    set_active,
    set_languages,
    withdraw_invitation,
)
from assessor.campaigns.http import PersonRequest
from assessor.campaigns.models import Invitation, Membership, Role
from assessor.campaigns.models.campaign import LONGEST_LANGUAGES
from assessor.desk.forms import InvitationForm
from assessor.desk.people import people_of, seen_by, what_they_see
from assessor.work.languages import needed_languages
from assessor.work.models import Task


@require_http_methods(["GET", "POST"])
def people(request: PersonRequest, slug: str) -> HttpResponse:
    """Everybody of a campaign. Who is new gets a link, which is shown once."""
    campaign = organized_campaign(request.user, slug)
    form = InvitationForm(request.POST or None)
    told: dict[str, Any] = {}
    if request.method == "POST" and form.is_valid():
        try:
            name, role = form.cleaned_data["name"], form.cleaned_data["role"]
            person, invitation = invite(campaign=campaign, acting_user=request.user, name=name, role=role)
        except MembershipError as error:
            form.add_error("name", str(error))
        else:
            if invitation is None:
                # The address is for this mail alone: kept, it would have later links mailed to whoever invited them.
                to = form.cleaned_data["email"]
                link = make_link(
                    person=person, acting_user=request.user, site=site_of(request), campaign=campaign, to=to
                )
                told = {"link": link, "link_for": person, "days": LINK_DAYS}
            else:
                messages.success(
                    request,
                    f"{person} has an account here, and finds your invitation on the home page after signing in.",
                )
            form = InvitationForm()
    invitations = campaign.invitations.select_related("person", "invited_by").order_by("person__username")
    context = {
        "campaign": campaign,
        "form": form,
        **told,
        "people": people_of(campaign),
        "invitations": invitations,
    }
    return render(request, "desk/people.html", context)


@require_safe
def person(request: PersonRequest, slug: str, person_id: int) -> HttpResponse:
    """One person of a campaign: role, work, what they may see and why."""
    campaign = organized_campaign(request.user, slug)
    return _person_page(request, member(campaign, person_id))


@require_POST
def set_role(request: PersonRequest, slug: str, person_id: int) -> HttpResponse:
    """Give somebody of a campaign another role, or none any more."""
    campaign = organized_campaign(request.user, slug)
    membership = member(campaign, person_id)
    wished = request.POST.get("role", "")
    if wished not in {"", *Role.values}:
        raise Http404("There is no such role.")
    try:
        change_role(membership=membership, role=Role(wished) if wished else None, acting_user=request.user)
    except MembershipError as error:
        messages.error(request, str(error))
        return redirect("person", slug, person_id)
    name = membership.person
    if wished:
        messages.success(request, f"{name} is an {wished} of this campaign now.")
        return redirect("person", slug, person_id)
    left = Task.objects.filter(campaign=campaign, person=membership.person, state=Task.State.OPEN).count()
    rest = f" {left} open topic{'s' * (left != 1)} can be given to somebody else on the plan." if left else ""
    messages.success(request, f"{name} belongs to this campaign no longer; what they did is kept.{rest}")
    return redirect("people", slug)


@require_POST
def languages(request: PersonRequest, slug: str, person_id: int) -> HttpResponse:
    """Say which languages somebody of a campaign reads."""
    membership = member(organized_campaign(request.user, slug), person_id)
    try:
        set_languages(membership=membership, languages=request.POST.get("languages", ""), acting_user=request.user)
    except MembershipError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Saved what {membership.person} reads.")
    return redirect("person", slug, person_id)


@require_POST
def new_link(request: PersonRequest, slug: str, person_id: int) -> HttpResponse:
    """Make a link by which somebody sets a new password; it is shown once."""
    campaign = organized_campaign(request.user, slug)
    membership = member(campaign, person_id)

    def may(person: Person) -> bool:
        return person.is_active and answers_for(request.user, person)

    try:
        link = make_link(
            person=membership.person, acting_user=request.user, site=site_of(request), campaign=campaign, may=may
        )
    except LinkRefused as error:
        raise Http404(str(error)) from error
    return _person_page(request, membership, link)


@require_POST
@transaction.atomic
def reset_factor(request: PersonRequest, slug: str, person_id: int) -> HttpResponse:
    """Ask for somebody's password alone until they set a second factor up anew."""
    membership = _answered_for(request, slug, person_id)
    remove_second_factor(person=membership.person, acting_user=request.user, campaign=membership.campaign)
    messages.success(request, f"{membership.person} signs in by password alone now, and is signed out everywhere.")
    return redirect("person", slug, person_id)


@require_POST
@transaction.atomic
def change_activity(request: PersonRequest, slug: str, person_id: int) -> HttpResponse:
    """Let somebody sign in, or no longer."""
    membership = _answered_for(request, slug, person_id)
    active = request.POST.get("active") == "yes"
    if active and membership.person.deactivated_by_administrator:
        raise Http404("An administrator made this person inactive.")
    set_active(person=membership.person, active=active, acting_user=request.user, campaign=membership.campaign)
    return redirect("person", slug, person_id)


@require_POST
def end_invitation(request: PersonRequest, slug: str, invitation_id: int) -> HttpResponse:
    """Offer somebody a role no longer."""
    campaign = organized_campaign(request.user, slug)
    withdraw_invitation(invitation=get_object_or_404(campaign.invitations, pk=invitation_id), acting_user=request.user)
    return redirect("people", slug)


@require_POST
@in_own_language_unless_organizer
def answer(request: PersonRequest, invitation_id: int) -> HttpResponse:
    """Take a role that is offered, or not."""
    invitation = get_object_or_404(Invitation.objects.select_related("campaign"), pk=invitation_id, person=request.user)
    accepted = request.POST.get("accepted") == "yes"
    answer_invitation(invitation=invitation, accepted=accepted)
    if accepted:
        told = {
            Role.ASSESSOR: gettext("You are an assessor of {campaign} now."),
            Role.ORGANIZER: gettext("You are an organizer of {campaign} now."),
        }
        messages.success(request, told[Role(invitation.role)].format(campaign=invitation.campaign))
    return redirect("home")


def _answered_for(request: PersonRequest, slug: str, person_id: int) -> Membership:
    """Return the membership of somebody whom the organizer answers for. Raises Http404 for everybody else.

    To be called in a transaction: nobody's role changes until its end.
    """
    membership = member(organized_campaign(request.user, slug), person_id)
    Person.objects.select_for_update().get(pk=person_id)
    if not answers_for(request.user, membership.person):
        raise Http404("This person's sign-in is an administrator's to change.")
    return membership


def _person_page(request: PersonRequest, membership: Membership, link: Link | None = None) -> HttpResponse:
    campaign, person = membership.campaign, membership.person
    context = {
        "campaign": campaign,
        "membership": people_of(campaign).get(pk=membership.pk),
        "person": person,
        "link": link,
        "days": LINK_DAYS,
        "sees": what_they_see(person, campaign),
        "seen": seen_by(person, campaign),
        "needed": needed_languages(campaign),
        "most": LONGEST_LANGUAGES,
        "is_answered_for": answers_for(request.user, person),
        "past": campaign.memberships.filter(person=person).exclude(until=None).order_by("since"),
        "tasks": Task.objects.filter(campaign=campaign, person=person)
        .exclude(state=Task.State.WITHDRAWN)
        .select_related("topic", "condition")
        .order_by("topic__qid", "condition__name"),
    }
    return render(request, "desk/person.html", context)
