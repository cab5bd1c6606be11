"""The writers of who belongs to a campaign, and of what becomes of people."""

from django.db import IntegrityError, transaction
from django.utils import timezone

from assessor.accounts.deactivation import end_access, end_link
from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.models import Campaign, Invitation, Membership, Role
from assessor.campaigns.models.campaign import LONGEST_LANGUAGES
from assessor.campaigns.queries import traces_of
from assessor.formats.segments import is_language


class PersonReferenced(Exception):
    """A person can't be deleted; the text says why, and what to do instead."""


class MembershipError(Exception):
    """Nobody can have this role like that; the text says why."""


@transaction.atomic
def add_member(*, campaign: Campaign, person: Person, role: Role, acting_user: Person | None) -> Membership:
    """Give a person a role in a campaign.

    A one-time link of before is good no longer: whoever could make it may not be who answers for the person now.
    """
    Person.objects.select_for_update().get(pk=person.pk)  # so does whoever changes how they sign in
    membership, is_new = Membership.objects.get_or_create(campaign=campaign, person=person, role=role, until=None)
    Invitation.objects.filter(campaign=campaign, person=person).delete()
    if is_new:
        end_link(person)
        history.record(f"{role} added", person, campaign=campaign, person=acting_user)
    return membership


@transaction.atomic
def end_membership(*, membership: Membership, acting_user: Person | None) -> None:
    """End a person's role in a campaign; that they had it stays on record, and so does their work.

    Links that an organizer may have kept end, too.
    """
    person, campaign = membership.person, membership.campaign
    if membership.role == Role.ORGANIZER:
        Person.objects.filter(memberships__campaign=campaign).update(link_until=None)
    end_link(person)
    Invitation.objects.filter(campaign=campaign, person=person).delete()
    ended = Membership.objects.filter(pk=membership.pk, until=None).update(until=timezone.now())
    if ended:
        verb = f"{membership.role} removed"
        history.record(verb, person, campaign=campaign, person=acting_user)


@transaction.atomic
def invite(*, campaign: Campaign, name: str, role: Role, acting_user: Person) -> tuple[Person, Invitation | None]:
    """Give a role to somebody new, who gets an account; offer it to somebody who has one. Raises MembershipError.

    Who has an account takes the role or not: nobody is drawn into a study by its organizer. Nor does an organizer learn
    of an account more than that there is one. name: the user name.
    """
    person = Person.objects.select_for_update().filter(username=name).first()  # so does whoever gives them a role
    if person is None:
        try:
            with transaction.atomic():
                person = Person.objects.create_user(name)  # no password: they set it by a link
        except IntegrityError as error:
            raise MembershipError(f"Somebody made an account of the name {name} just now: try again.") from error
        history.record("account made", person, campaign=campaign, person=acting_user)
        add_member(campaign=campaign, person=person, role=role, acting_user=acting_user)
        return person, None
    if Membership.objects.filter(campaign=campaign, person=person, until=None).exists():
        raise MembershipError(f"{person} belongs to the campaign: change the role on their page.")
    invitation, is_new = Invitation.objects.get_or_create(
        campaign=campaign, person=person, defaults={"role": role, "invited_by": acting_user}
    )
    if not is_new:
        raise MembershipError(f"{person} is invited already, as {invitation.role}.")
    end_link(person)  # whoever holds it could take the role
    history.record(f"invited as {role}", person, campaign=campaign, person=acting_user)
    return person, invitation


@transaction.atomic
def answer_invitation(*, invitation: Invitation, accepted: bool) -> None:
    """Take the role that is offered, or not."""
    if not Invitation.objects.filter(pk=invitation.pk).delete()[0]:
        return  # answered in another tab
    campaign, person = invitation.campaign, invitation.person
    if accepted:
        add_member(campaign=campaign, person=person, role=Role(invitation.role), acting_user=person)
    else:
        history.record("invitation declined", person, campaign=campaign, person=person)


@transaction.atomic
def withdraw_invitation(*, invitation: Invitation, acting_user: Person) -> None:
    """Offer the role no longer."""
    if Invitation.objects.filter(pk=invitation.pk).delete()[0]:
        history.record("invitation withdrawn", invitation.person, campaign=invitation.campaign, person=acting_user)


@transaction.atomic
def change_role(*, membership: Membership, role: Role | None, acting_user: Person) -> None:
    """Give a person another role in the campaign, or none any more. Raises MembershipError for its last organizer."""
    Campaign.objects.select_for_update(no_key=True).get(pk=membership.campaign_id)  # two could each leave the other
    present = Membership.objects.filter(campaign=membership.campaign, until=None)
    own = list(present.filter(person=membership.person))
    if not own:
        raise MembershipError(f"{membership.person} was taken off this campaign just now.")
    others = present.filter(role=Role.ORGANIZER).exclude(person=membership.person)
    if Role.ORGANIZER in {one.role for one in own} and not others.exists():
        raise MembershipError(f"{membership.person} is the only organizer: add another one first.")
    for one in own:  # two, where the protocol lets organizers assess
        end_membership(membership=one, acting_user=acting_user)
    if role:
        given = add_member(campaign=membership.campaign, person=membership.person, role=role, acting_user=acting_user)
        Membership.objects.filter(pk=given.pk).update(languages=own[0].languages)


@transaction.atomic
def set_languages(*, membership: Membership, languages: str, acting_user: Person) -> None:
    """Say which languages a person reads: codes with blanks between; none where it is not known.

    Work that they have stays theirs. Raises MembershipError.
    """
    codes = sorted(set(languages.split()), key=str.casefold)
    for code in codes:
        if not is_language(code):
            raise MembershipError(f"{code} is not a language code. Write codes such as en or zho, separated by spaces.")
    told = " ".join(codes)
    if len(told) > LONGEST_LANGUAGES:
        raise MembershipError("These are too many languages.")
    of_person = Membership.objects.filter(campaign=membership.campaign, person=membership.person, until=None)
    if of_person.exclude(languages=told).update(languages=told):
        history.record(
            "languages set", membership.person, campaign=membership.campaign, person=acting_user, languages=told
        )


def why_kept(person: Person, acting_user: Person) -> str | None:
    """Say why a person can't be deleted, or None: who has left a trace stays, so that every record has its maker."""
    if person == acting_user:
        return "You can't delete yourself: another administrator can."
    left = [f"{count:,} {what}" for what, count in traces_of(person).items()]
    if not left:
        return None
    return (
        f"{person} stays on record as the maker of what they left: {', '.join(left)}. "
        "So that they can sign in no longer, make them inactive. Their open tasks can be withdrawn on the plan of the "
        "campaign and given to somebody else there; what they did is kept."
    )


@transaction.atomic
def delete_person(*, person: Person, acting_user: Person) -> None:
    """Delete a person who has left no trace. Raises PersonReferenced."""
    locked = Person.objects.select_for_update().get(pk=person.pk)
    if reason := why_kept(locked, acting_user):
        raise PersonReferenced(reason)
    history.record("person deleted", locked, campaign=None, person=acting_user)
    locked.delete()


@transaction.atomic
def set_active(*, person: Person, active: bool, acting_user: Person, campaign: Campaign) -> None:
    """Let a person of a campaign sign in, or no longer."""
    if Person.objects.filter(pk=person.pk).exclude(is_active=active).update(is_active=active):
        person.is_active = active
        note_activity(person=person, acting_user=acting_user, campaign=campaign)


@transaction.atomic
def note_activity(*, person: Person, acting_user: Person, campaign: Campaign | None = None) -> None:
    """Note that a person was made inactive, which ends what they could come in by, or that they are active again.

    campaign: that whose organizer did it; None for an administrator, whose word no organizer takes back.
    """
    person.deactivated_by_administrator = not person.is_active and campaign is None
    person.save(update_fields=["deactivated_by_administrator"])
    if not person.is_active:
        end_access(person)
    verb = "person active again" if person.is_active else "person made inactive"
    history.record(verb, person, campaign=campaign, person=acting_user)
