"""Fields that a form does not show can't be set by sending them."""

import pytest
from django.apps import apps
from django.forms import ModelForm
from django.urls import get_resolver

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign
from tests.conftest import client_of

ROLES = {"is_superuser": "on", "is_staff": "on", "groups": ["1", "2", "3"]}
NAMES = {"username": "root", "password": "x", "id": "1"}


def all_forms(of: type = ModelForm) -> set[type]:
    """Return the forms of records that this project has made, but for the admin's, whose fields its admins name."""
    assert get_resolver().url_patterns, "all forms are imported with the views"
    below = {form for each in of.__subclasses__() for form in {each, *all_forms(each)}}
    ours = {each.name.split(".")[0] for each in apps.get_app_configs() if "site-packages" not in each.path}
    return {form for form in below if form.__module__.split(".")[0] in ours and not form.__module__.endswith("admin")}


def test_forms_of_records_name_their_fields_and_none_is_delicate():
    forms = {form.__name__: set(form._meta.fields or ()) for form in all_forms() if form._meta.model}
    assert {"JudgeForm", "BudgetForm", "PreferencesForm", "CampaignForm", "ProtocolForm", "CodeForm"} <= forms.keys()
    delicate = {"id", "person", "created_by", "campaign", "judge", "state", "version", "owner", "groups", "is_staff"}
    assert {name: fields & delicate for name, fields in forms.items() if not fields or fields & delicate} == {}


def test_own_settings_give_nobody_a_role(anna: Person):
    client_of(anna).post("/me/", ROLES | NAMES | {"time_zone": "Asia/Tokyo"})
    again = Person.objects.get(pk=anna.pk)
    assert again.time_zone == "Asia/Tokyo", "the rest is taken"
    assert (again.username, again.is_superuser, again.is_staff, again.password) == ("anna", False, False, anna.password)
    assert not again.groups.exists()
    assert not again.memberships.exists()


@pytest.mark.parametrize("field", ["created_by", "created_by_id", "memberships"])
def test_a_new_campaign_is_of_whoever_makes_it(campaign: Campaign, olga: Person, anna: Person, field: str):
    sent = {"name": "Mine", "slug": "mine", field: anna.pk, "second_factor_required": "on", "id": 77}
    assert client_of(olga).post("/new-campaign/", sent).status_code == 302
    made = Campaign.objects.get(slug="mine")
    assert (made.created_by, made.second_factor_required, made.pk == 77) == (olga, False, False)
    assert [each.person for each in made.memberships.filter(role="organizer")] == [olga]
