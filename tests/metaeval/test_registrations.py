"""Registered studies: made before the first label or refused, never altered, and told on comparisons."""

import json
from hashlib import sha256
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from assessor.campaigns.actions import create_campaign
from assessor.campaigns.models import Campaign, Condition, Event
from assessor.campaigns.models.history import AppendOnlyError
from assessor.preference.actions import create_preference
from assessor.studies.models import Registration
from assessor.studies.registration import RegistrationError, canonical_text, read_document
from metaeval.actions import create_comparison, run
from metaeval.models import Comparison
from tests.assignment.scored import auto_condition, label
from tests.conftest import client_of, make_person
from tests.metaeval.conftest import OTHER_LABELS
from tests.studies.conftest import STUDY, register

BASE = "/campaigns/study/registrations/"


@pytest.fixture
def client(olga) -> Client:
    return client_of(olga)


def compare(first: Condition, second: Condition) -> Comparison:
    calculation = create_comparison(
        campaign=first.campaign, first=first, second=second, seed=1, draws=10, acting_user=None
    )
    assert run(calculation).state == "done"
    return calculation.comparison


def labelled(edits: Condition) -> tuple[Condition, Condition]:
    """Make and label the conditions that STUDY names."""
    return label(auto_condition(edits, "First")), label(auto_condition(edits, "Second"), OTHER_LABELS)


def text_of(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    content = b"".join(response.streaming_content) if response.streaming else response.content  # type: ignore[attr-defined]
    return content.decode()


def form(**fields: str) -> dict[str, str]:
    return {name: "\r\n".join(of) if isinstance(of, list) else of for name, of in STUDY.items()} | fields


def test_the_form_registers_a_study(client: Client, campaign: Campaign, olga):
    response = client.post(BASE, form(hypotheses="  Second is stricter than First. \r\n\r\nτ of runs is at least 0.7."))
    made = Registration.objects.get()
    assert response["Location"] == f"{BASE}{made.pk}/"
    assert (made.title, made.made_by) == ("Strict judges", olga)
    assert made.document == {"format": "assay-registration-1", "campaign": "study"} | STUDY
    event = Event.objects.get(verb="study registered")
    assert (event.person, event.subject) == (olga, "Strict judges")
    assert event.details == {"sha256": made.sha256, "conditions": ["First", "Second"]}
    assert made.sha256[:12] in text_of(client, BASE)
    text = text_of(client, f"{BASE}{made.pk}/")
    assert made.sha256 in text
    assert text.count("not made yet") == 2


def test_the_file_has_the_hash(client: Client, campaign: Campaign):
    made = register(campaign)
    content = text_of(client, f"{BASE}{made.pk}/registration.json").encode()
    assert sha256(content).hexdigest() == made.sha256
    keys = ["campaign", "conditions", "format", "hypotheses", "measures", "sample", "stopping_rule", "title"]
    assert list(json.loads(content)) == keys
    assert json.loads(content) == made.document
    # Known once and for all: what is registered in any database has this hash.
    assert made.sha256 == "2a2ba5b55a1ecaaa6375c8913b8f61f07fb17f9dbbdea6d6c3584391b7594f68"


def test_the_command_gives_the_same_hash_as_the_form(client: Client, campaign: Campaign, tmp_path: Path, capsys):
    other = create_campaign(slug="other", name="Other", acting_user=None)
    path = tmp_path / "study.json"
    path.write_text(json.dumps(STUDY, indent=2).replace("\\u03c4", "τ"), encoding="utf-8")
    call_command("register_study", "study", str(path))
    made = Registration.objects.get()
    assert capsys.readouterr().out == f"Strict judges: registered; sha256 {made.sha256}\n"
    assert (made.made_by, made.campaign) == (None, campaign)
    assert register(other).sha256 != made.sha256  # of another campaign
    client.post("/campaigns/study/registrations/", form())
    assert campaign.registrations.count() == 1  # the title is taken
    for wrong, message in (
        ({"odd": 1}, "odd is no part"),
        ({"title": ""}, "title is empty"),
        ({"conditions": "First"}, "conditions must be a list"),
        ({"measures": []}, "measures must be a list"),
        ({"hypotheses": ["a", "a "]}, "hypotheses has the same text twice"),
        ({"sample": 7}, "sample must be a text"),
        ({"sample": "x" * 100_001}, "at most 100,000 characters"),
        ({"title": "x" * 201}, "more than 200"),
    ):
        path.write_text(json.dumps(STUDY | {"title": "Another"} | wrong), encoding="utf-8")
        with pytest.raises(CommandError, match=message):
            call_command("register_study", "study", str(path))
    path.write_text("[1]")
    with pytest.raises(CommandError, match="a JSON object"):
        call_command("register_study", "study", str(path))
    with pytest.raises(CommandError, match="can't be read"):
        call_command("register_study", "study", str(tmp_path / "none.json"))


def test_how_a_text_was_typed_changes_no_hash():
    typed = STUDY | {"title": " Strict judges\n", "sample": "All topics and runs.  \r\n"}
    assert canonical_text(read_document(typed, "study")) == canonical_text(read_document(STUDY, "study"))
    one, other = (read_document(STUDY | {"title": title}, "study") for title in ("Caf\u00e9", "Cafe\u0301"))
    assert one == other
    with pytest.raises(RegistrationError, match="no text"):
        read_document(STUDY | {"title": "\ud800"}, "study")


def test_after_the_first_label_it_is_refused(client: Client, edits: Condition):
    second = auto_condition(edits, "Second")
    first = auto_condition(edits, "First")
    label(second, {"t1": {"team.one": "s??"}})
    text = client.post(BASE, form()).content.decode()
    assert "Second has labels already" in text
    label(first, {"t1": {"team.one": "spn"}})
    with pytest.raises(RegistrationError, match=r"First, Second have labels already. A study is registered before"):
        register(edits.campaign)
    assert not Registration.objects.exists()
    assert not Event.objects.filter(verb="study registered").exists()
    register(edits.campaign, conditions=["Third"])


def test_answers_that_wait_for_labels_do_not_stand_in_the_way(edits: Condition):
    label(auto_condition(edits, "First"), {"t1": {"team.one": "???"}})
    auto_condition(edits, "Second")
    assert register(edits.campaign).pk


def test_labels_of_another_kind_stand_in_the_way_too(first_support: Condition, olga):
    campaign = first_support.campaign
    with pytest.raises(RegistrationError, match="First support has labels already"):
        register(campaign, conditions=["First support"])
    create_preference(campaign=campaign, name="Preferences", acting_user=olga)
    assert register(campaign, conditions=["Preferences"]).pk


def test_nuggets_stand_in_the_way_too(edits: Condition):
    with pytest.raises(RegistrationError, match="Edits has labels already"):
        register(edits.campaign, conditions=["Edits"])


def test_nothing_alters_it(client: Client, edits: Condition):
    made = register(edits.campaign)
    content = text_of(client, f"{BASE}{made.pk}/registration.json")
    made.title = "Lenient judges"
    with pytest.raises(AppendOnlyError):
        made.save()
    for write in (
        lambda: made.delete(),
        lambda: Registration.objects.update(title="x"),
        lambda: Registration.objects.all().delete(),
        lambda: edits.campaign.registrations.filter(pk=made.pk).update(sha256="0" * 64),
    ):
        with pytest.raises(AppendOnlyError):
            write()
    labelled(edits)
    for method in (client.post, client.put, client.delete):
        assert method(f"{BASE}{made.pk}/").status_code == 405
    assert text_of(client, f"{BASE}{made.pk}/registration.json") == content


def test_a_text_that_was_changed_in_the_database_covers_nothing(client: Client, edits: Condition):
    made = register(edits.campaign)
    comparison = compare(*labelled(edits))
    address = f"/campaigns/study/comparisons/{comparison.pk}/"
    assert f"registered <code>{made.sha256[:8]}" in text_of(client, address)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE studies_registration SET document = replace(document, 'stricter', 'laxer')")
    assert "The text was changed." in text_of(client, f"{BASE}{made.pk}/")
    assert "registered <code>" not in text_of(client, address)


def test_comparisons_say_whether_they_are_registered(client: Client, edits: Condition, tmp_path: Path):
    made = register(edits.campaign)
    first, second = labelled(edits)
    third = label(auto_condition(edits, "Third"), OTHER_LABELS)
    registered, exploratory = compare(first, second), compare(first, third)
    start = "/campaigns/study/comparisons/"
    chip, other = f"registered <code>{made.sha256[:8]}</code>", '<span class="chip off">exploratory</span>'
    text = text_of(client, f"{start}{registered.pk}/")
    assert chip in text
    assert other not in text
    assert f'href="{BASE}{made.pk}/"' in text
    text = text_of(client, f"{start}{exploratory.pk}/")
    assert other in text
    assert chip not in text
    for address in (start, f"{start}against/Condition-{first.pk}/"):
        text = text_of(client, address)
        assert (text.count(chip), text.count(other)) == (1, 1), address
    status = f"registered: Strict judges, sha256 {made.sha256}"
    content = json.loads(text_of(client, f"{start}{registered.pk}/files/comparison.json"))
    assert content["registration"] == status
    content = json.loads(text_of(client, f"{start}{exploratory.pk}/files/comparison.json"))
    assert content["registration"] == "exploratory"
    assert text_of(client, f"{start}{registered.pk}/files/summary.txt").endswith(f"\n{status.capitalize()}\n")
    assert text_of(client, f"{start}{exploratory.pk}/files/taus.tex").startswith("% exploratory\n")
    agreement = text_of(client, "/campaigns/study/exports/agreement/file/?form=csv")
    assert agreement.count(status) == agreement.count("exploratory") > 0
    latex = text_of(client, "/campaigns/study/exports/agreement/file/?form=tex")
    assert "Second$^{\\dagger}$" in latex
    assert "Third$^{\\dagger}$" not in latex


def test_imported_labels_are_never_registered(client: Client, edits: Condition):
    """Nobody can say when they were given."""
    register(edits.campaign)
    first, second = labelled(edits)
    comparison = compare(first, second)
    Condition.objects.filter(pk=second.pk).update(method=Condition.IMPORTED)
    text = text_of(client, f"/campaigns/study/comparisons/{comparison.pk}/")
    assert "exploratory" in text


def test_without_a_registered_study_nothing_is_said(client: Client, edits: Condition):
    comparison = compare(*labelled(edits))
    address = f"/campaigns/study/comparisons/{comparison.pk}/"
    for part in ("", "files/comparison.json", "files/summary.txt", "files/taus.tex"):
        assert "exploratory" not in text_of(client, address + part)
    csv = text_of(client, "/campaigns/study/exports/agreement/file/?form=csv")
    assert csv.splitlines()[0].endswith(",comparison")


def test_only_organizers_find_it(client: Client, campaign: Campaign):
    made = register(campaign)
    other = client_of(make_person("stranger"))
    for address in (BASE, f"{BASE}{made.pk}/", f"{BASE}{made.pk}/registration.json"):
        assert other.get(address).status_code == 404
    assert other.post(BASE, form(title="Mine")).status_code == 404
    assert client.get(f"{BASE}0/").status_code == 404
    assert Registration.objects.count() == 1
