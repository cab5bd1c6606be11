"""Who belongs to a campaign: inviting, roles, and who may let whom in anew."""

import re

import pytest
from django.core import mail
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import add_member, create_campaign
from assessor.campaigns.models import Campaign, Event, Invitation, Membership, Role, Topic
from assessor.work.models import Task
from nuggets.models import NuggetBank
from tests.conftest import ADMINISTRATOR, ORGANIZER, client_of, make_person

PEOPLE = "/campaigns/study/people/"


@pytest.fixture
def as_olga(olga: Person, empty_campaign: Campaign) -> Client:
    return client_of(olga)


@pytest.fixture
def other(otto: Person, db: None) -> Campaign:
    """Otto's campaign, to which nobody else belongs."""
    campaign = create_campaign(name="Other", slug="other", acting_user=otto)
    campaign.memberships.exclude(person=otto).delete()
    return campaign


@pytest.fixture
def dora(empty_campaign: Campaign) -> Person:
    """An assessor of the study alone."""
    person = make_person("dora")
    add_member(campaign=empty_campaign, person=person, role=Role.ASSESSOR, acting_user=None)
    return person


def invite(client: Client, name: str, role: str = "assessor", **fields: str) -> str:
    response = client.post(PEOPLE, {"name": name, "role": role, **fields})
    assert response.status_code == 200 or response.url == PEOPLE, response
    return response.content.decode()


def link_for(client: Client, person: Person) -> str:
    """Make a link for a person of the study."""
    page = client.post(f"{PEOPLE}{person.pk}/link/").content.decode()
    [found] = re.findall(r"readonly>http://testserver(/[^<]+)<", page)
    return str(found)


def is_good(link: str) -> bool:
    """Whether a link leads to setting a password."""
    return Client().get(link).status_code == 302


def roles(person: Person) -> list[tuple[str, str]]:
    """The present roles of a person: campaign and role."""
    return list(
        person.memberships.filter(until=None).values_list("campaign__slug", "role").order_by("campaign", "role")
    )


def verbs() -> list[tuple[str, str, str | None]]:
    """The newest events first: what, of whom, by whom."""
    return list(Event.objects.order_by("-pk").values_list("verb", "subject", "person__username"))


# Inviting


def test_somebody_new_gets_an_account_and_a_link(as_olga: Client):
    page = invite(as_olga, "new", email="new@example.org")
    [link] = re.findall(r"readonly>http://testserver(/[^<]+)<", page)
    person = Person.objects.get(username="new")
    assert (person.email, person.has_usable_password(), roles(person)) == (
        "",
        False,
        [("study", "assessor")],
    )
    assert Client().get(link, follow=True).status_code == 200
    assert link not in as_olga.get(PEOPLE).content.decode(), "it is shown once"
    assert [event for event in verbs() if event[1] == "new"][-2:] == [
        ("assessor added", "new", "olga"),
        ("account made", "new", "olga"),
    ]


def test_somebody_with_an_account_is_asked_and_gets_no_link(as_olga: Client, other: Campaign, otto: Person):
    page = invite(as_olga, "otto")
    assert "http://testserver/" not in page
    assert "otto has an account here" in page
    assert roles(otto) == [("other", "organizer")]
    home = client_of(otto).get("/").content.decode()
    assert "olga invites you to <bdi>Study</bdi> as assessor." in home
    [invitation] = Invitation.objects.all()
    client_of(otto).post(f"/invitations/{invitation.pk}/", {"accepted": "yes"})
    assert set(roles(otto)) == {("study", "assessor"), ("other", "organizer")}
    assert not Invitation.objects.exists()
    assert verbs()[:2] == [("assessor added", "otto", "otto"), ("invited as assessor", "otto", "olga")]


def test_an_invitation_can_be_declined_or_withdrawn(as_olga: Client, other: Campaign, otto: Person):
    invite(as_olga, "otto", "organizer")
    [invitation] = Invitation.objects.all()
    client_of(otto).post(f"/invitations/{invitation.pk}/", {"accepted": "no"})
    assert (roles(otto), verbs()[0]) == ([("other", "organizer")], ("invitation declined", "otto", "otto"))
    invite(as_olga, "otto")
    [invitation] = Invitation.objects.all()
    as_olga.post(f"/campaigns/study/invitations/{invitation.pk}/end/")
    assert not Invitation.objects.exists()
    assert client_of(otto).post(f"/invitations/{invitation.pk}/", {"accepted": "yes"}).status_code == 404
    assert roles(otto) == [("other", "organizer")]


def test_nobody_else_answers_an_invitation(as_olga: Client, other: Campaign, otto: Person, anna: Person):
    invite(as_olga, "otto")
    [invitation] = Invitation.objects.all()
    assert client_of(anna).post(f"/invitations/{invitation.pk}/", {"accepted": "yes"}).status_code == 404
    assert client_of(otto).post(f"/campaigns/other/invitations/{invitation.pk}/end/").status_code == 404
    assert Invitation.objects.exists()


@pytest.mark.parametrize(
    ("name", "role", "told"),
    [
        ("dora", "organizer", "dora belongs to the campaign: change the role on their page."),
        ("otto", "assessor", "otto is invited already, as organizer."),
        ("a b", "assessor", "Enter a valid username."),
        ("", "assessor", "This field is required."),
        ("new", "administrator", "administrator is not one of the available choices."),
    ],
)
def test_who_can_not_be_invited(as_olga: Client, dora: Person, other: Campaign, name: str, role: str, told: str):
    invite(as_olga, "otto", "organizer")
    before = Event.objects.count(), Membership.objects.count(), Person.objects.count(), Invitation.objects.count()
    assert told in invite(as_olga, name, role)
    assert before == (
        Event.objects.count(),
        Membership.objects.count(),
        Person.objects.count(),
        Invitation.objects.count(),
    )


def test_an_organizer_learns_of_an_account_only_that_there_is_one(as_olga: Client, admin: Person, other: Campaign):
    """Whoever it is of; and each try is in the history."""
    gone = make_person("gone")
    Person.objects.filter(pk=gone.pk).update(is_active=False, email="gone@example.org")
    told = []
    for name in ("gone", "admin", "otto"):
        [said] = re.findall(r"(\w+ has an account here[^<]*)<", invite(as_olga, name, email="typed@example.org"))
        told.append(said.replace(name, "NAME"))
        row = re.search(rf"<li>(?:(?!</li>).)*<bdi>{name}</bdi>.*?</li>", as_olga.get(PEOPLE).content.decode(), re.S)
        assert "gone@example.org" not in row[0], name
    assert set(told) == {"NAME has an account here, and finds your invitation on the home page after signing in."}
    assert mail.outbox == []
    assert [event for event in verbs() if event[0] == "invited as assessor"] == [
        ("invited as assessor", name, "olga") for name in ("otto", "admin", "gone")
    ]


# Roles


def test_an_assessor_becomes_an_organizer_and_is_barred_ever_after(as_olga: Client, dora: Person):
    as_olga.post(f"{PEOPLE}{dora.pk}/role/", {"role": "organizer"})
    assert roles(dora) == [("study", "organizer")]
    assert client_of(dora).get("/campaigns/study/").status_code == 200
    as_olga.post(f"{PEOPLE}{dora.pk}/role/", {"role": "assessor"})
    assert roles(dora) == [("study", "assessor")]
    assert client_of(dora).get("/campaigns/study/").status_code == 404
    page = as_olga.get(f"{PEOPLE}{dora.pk}/").content.decode()
    assert "dora organizes Study, or did; an organizer isn&#x27;t an assessor in the same campaign." in page
    assert verbs()[:4] == [
        ("assessor added", "dora", "olga"),
        ("organizer removed", "dora", "olga"),
        ("organizer added", "dora", "olga"),
        ("assessor removed", "dora", "olga"),
    ]


def test_who_is_taken_off_opens_nothing_and_their_work_stays(bank: NuggetBank, olga: Person, anna: Person):
    address = f"/nuggets/{bank.pk}/"
    assert client_of(anna).get(address).status_code == 200
    page = client_of(olga).post(f"{PEOPLE}{anna.pk}/role/", {"role": ""}, follow=True).content.decode()
    assert "anna belongs to this campaign no longer; what they did is kept. 1 open topic can be given" in page
    assert client_of(anna).get(address).status_code == 404
    assert "why do cats purr" not in client_of(anna).get("/").content.decode()
    assert Task.objects.get(pk=bank.task_id).state == Task.State.OPEN


def test_the_only_organizer_stays(as_olga: Client, olga: Person, otto: Person, empty_campaign: Campaign):
    for role in ("assessor", ""):
        page = as_olga.post(f"{PEOPLE}{olga.pk}/role/", {"role": role}, follow=True).content.decode()
        assert "olga is the only organizer: add another one first." in page
    assert roles(olga) == [("study", "organizer")]
    add_member(campaign=empty_campaign, person=otto, role=Role.ORGANIZER, acting_user=None)
    as_olga.post(f"{PEOPLE}{olga.pk}/role/", {"role": ""})
    assert roles(olga) == []


def test_there_is_no_other_role(as_olga: Client, dora: Person):
    assert as_olga.post(f"{PEOPLE}{dora.pk}/role/", {"role": "administrator"}).status_code == 404
    assert roles(dora) == [("study", "assessor")]


# Letting in anew, and out


def refused(client: Client, person: Person, campaign: str = "study") -> set[int]:
    """Try all that lets a person in or out; return the statuses."""
    base = f"/campaigns/{campaign}/people/{person.pk}/"
    fields = {"active": "no"}
    return {client.post(f"{base}{way}/", fields).status_code for way in ("link", "second-factor", "active")}


def test_an_organizer_lets_an_assessor_of_theirs_in_and_out(as_olga: Client, dora: Person):
    as_dora = client_of(dora)
    page = as_olga.post(f"{PEOPLE}{dora.pk}/link/").content.decode()
    assert re.search(r"readonly>http://testserver/[^<]+<", page)
    as_olga.post(f"{PEOPLE}{dora.pk}/active/", {"active": "no"})
    assert as_dora.get("/").status_code == 302, "it ends their sessions"
    assert not Person.objects.get(pk=dora.pk).is_active
    as_olga.post(f"{PEOPLE}{dora.pk}/active/", {"active": "yes"})
    assert Person.objects.get(pk=dora.pk).is_active
    assert verbs()[:2] == [("person active again", "dora", "olga"), ("person made inactive", "dora", "olga")]


def test_nobody_is_taken_over_by_a_role_in_ones_campaign(
    as_olga: Client, olga: Person, otto: Person, other: Campaign, empty_campaign: Campaign, dora: Person
):
    admin = make_person("admin", ADMINISTRATOR)
    for person in (admin, otto):
        add_member(campaign=empty_campaign, person=person, role=Role.ASSESSOR, acting_user=None)
    assert refused(as_olga, admin) == {404}, "an administrator"
    assert refused(as_olga, otto) == {404}, "an organizer of another campaign"
    assert refused(as_olga, olga) == {404}, "oneself"
    second = make_person("second", ORGANIZER)
    add_member(campaign=empty_campaign, person=second, role=Role.ORGANIZER, acting_user=None)
    assert refused(as_olga, second) == {404}, "a co-organizer"
    as_olga.post(f"{PEOPLE}{second.pk}/role/", {"role": "assessor"})
    assert refused(as_olga, second) == {404}, "a former co-organizer, whose sign-in may open more than this campaign"
    membership = add_member(campaign=other, person=dora, role=Role.ASSESSOR, acting_user=None)
    assert refused(as_olga, dora) == {404}, "an assessor of another campaign"
    Membership.objects.filter(pk=membership.pk).update(until=membership.since)
    assert refused(as_olga, dora) == {404}, "a former one of another campaign"
    assert all(Person.objects.values_list("is_active", flat=True))


def test_a_link_that_an_organizer_kept_is_over_once_the_person_has_another_role(
    as_olga: Client, other: Campaign, admin: Person, dora: Person
):
    kept = link_for(as_olga, dora)
    assert is_good(kept)
    change = {"username": "dora", "is_active": "on", "is_superuser": "on"}
    assert client_of(admin).post(f"/admin/accounts/person/{dora.pk}/change/", change).status_code == 302
    assert not is_good(kept)
    client_of(admin).post(f"/admin/accounts/person/{dora.pk}/change/", change | {"is_superuser": ""})
    kept = link_for(as_olga, dora)
    add_member(campaign=other, person=dora, role=Role.ORGANIZER, acting_user=None)
    assert not is_good(kept)


def test_who_is_invited_elsewhere_is_the_organizers_no_longer(
    as_olga: Client, otto: Person, other: Campaign, dora: Person
):
    """Whoever could sign in as them could take that role for them."""
    kept = link_for(as_olga, dora)
    client_of(otto).post("/campaigns/other/people/", {"name": "dora", "role": "organizer"})
    assert not is_good(kept)
    assert refused(as_olga, dora) == {404}


def test_a_link_ends_with_the_role_of_whoever_could_make_it(
    as_olga: Client, olga: Person, otto: Person, empty_campaign: Campaign, dora: Person
):
    add_member(campaign=empty_campaign, person=otto, role=Role.ORGANIZER, acting_user=None)
    kept = link_for(as_olga, dora)
    client_of(otto).post(f"{PEOPLE}{olga.pk}/role/", {"role": ""})
    assert roles(olga) == []
    assert not is_good(kept)


def test_a_link_of_before_is_not_good_again_with_the_person(as_olga: Client, dora: Person):
    kept = link_for(as_olga, dora)
    for active in ("no", "yes"):
        as_olga.post(f"{PEOPLE}{dora.pk}/active/", {"active": active})
    assert Person.objects.get(pk=dora.pk).is_active
    assert not is_good(kept)


def test_whom_an_administrator_made_inactive_no_organizer_lets_in_again(as_olga: Client, admin: Person, dora: Person):
    change = {"username": "dora", "is_active": ""}
    assert client_of(admin).post(f"/admin/accounts/person/{dora.pk}/change/", change).status_code == 302
    assert as_olga.post(f"{PEOPLE}{dora.pk}/active/", {"active": "yes"}).status_code == 404
    assert "Make active" not in as_olga.get(f"{PEOPLE}{dora.pk}/").content.decode()
    assert not Person.objects.get(pk=dora.pk).is_active
    client_of(admin).post(f"/admin/accounts/person/{dora.pk}/change/", {"username": "doris", "is_active": ""})
    assert as_olga.post(f"{PEOPLE}{dora.pk}/active/", {"active": "yes"}).status_code == 404, "by another name, too"
    client_of(admin).post(f"/admin/accounts/person/{dora.pk}/change/", {"username": "doris", "is_active": "on"})
    for active in (False, True):  # what organizers did, they can take back
        as_olga.post(f"{PEOPLE}{dora.pk}/active/", {"active": "yes" if active else "no"})
        assert Person.objects.get(pk=dora.pk).is_active == active


def test_who_is_taken_off_has_no_role_left_and_no_invitation(
    as_olga: Client, otto: Person, olga: Person, empty_campaign: Campaign
):
    for role in Role:
        add_member(campaign=empty_campaign, person=otto, role=role, acting_user=None)
    Invitation.objects.create(campaign=empty_campaign, person=otto, role="organizer", invited_by=olga)
    as_olga.post(f"{PEOPLE}{otto.pk}/role/", {"role": ""})
    assert roles(otto) == []
    assert not Invitation.objects.exists()
    assert as_olga.post(f"{PEOPLE}{otto.pk}/role/", {"role": "organizer"}).status_code == 404


def test_a_campaign_of_ones_own_opens_nobody_elses(as_olga: Client, otto: Person, other: Campaign, dora: Person):
    as_otto = client_of(otto)
    assert refused(as_otto, dora) == {404}
    assert refused(as_otto, dora, "other") == {404}
    assert as_otto.get(f"/campaigns/other/people/{dora.pk}/").status_code == 404
    assert as_otto.post(f"/campaigns/other/people/{dora.pk}/role/", {"role": "organizer"}).status_code == 404


def test_another_organizers_own_campaign_is_no_hindrance(as_olga: Client, olga: Person, dora: Person):
    """Of two campaigns of the same organizer."""
    second = create_campaign(name="Second", slug="second", acting_user=olga)
    add_member(campaign=second, person=dora, role=Role.ASSESSOR, acting_user=None)
    assert as_olga.post(f"{PEOPLE}{dora.pk}/link/").status_code == 200


def test_the_table_tells_work_and_sign_in(bank: NuggetBank, olga: Person, django_assert_max_num_queries):
    client = client_of(olga)

    def told() -> list[str]:
        rows = [re.sub(r"<[^>]*>|\s+", " ", row) for row in client.get(PEOPLE).content.decode().split("<tr>")[2:]]
        return [" ".join(row.split()).partition("signed in")[0] for row in rows]

    assert told() == ["O olga olga organizer 0 0 — last ", "A anna anna assessor 1 0 — not "]
    Topic.objects.filter(pk=bank.topic_id).update(is_practice=True)
    assert told()[1] == "A anna anna assessor 0 0 0 of 1 not "
    Task.objects.update(state=Task.State.FINISHED)
    assert told()[1] == "A anna anna assessor 0 0 1 of 1 not "
    for number in range(5):
        add_member(
            campaign=bank.condition.campaign, person=make_person(f"p{number}"), role=Role.ASSESSOR, acting_user=None
        )
    with django_assert_max_num_queries(11):
        client.get(PEOPLE)
