"""Pages around the screens in an assessor's own language, or their browser's; organizers' pages in English."""

import re

import pytest
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign
from assessor.work.models import Task
from nuggets.models import NuggetBank
from nuggets.reports.models import EditedReport
from tests.conftest import client_of
from tests.reports.conftest import (  # noqa: F401  # fixtures
    answered,
    by_people,
    drafts,
    edits,
    questions,
    relevant,
    report,
)

GERMAN, SPANISH = {"HTTP_ACCEPT_LANGUAGE": "de-CH,fr;q=0.9"}, {"HTTP_ACCEPT_LANGUAGE": "fr,es;q=0.8,en;q=0.2"}


def page(client: Client, address: str, **headers: str) -> str:
    """Return a page without the tokens of its forms, which are masked anew in each."""
    return re.sub(r'value="\w{64}"', "", client.get(address, follow=True, **headers).content.decode())


@pytest.mark.parametrize(
    ("headers", "language", "said"),
    [
        (GERMAN, "de", ("Anmelden", "Benutzername", "Passwort vergessen oder nie eines gehabt?")),
        (SPANISH, "es", ("Iniciar sesión", "Nombre de usuario", "¿Olvidó la contraseña o nunca tuvo una?")),
        ({"HTTP_ACCEPT_LANGUAGE": "fr"}, "en", ("Sign in", "Username", "Forgot your password, or never had one?")),
    ],
)
@pytest.mark.django_db
def test_sign_in_speaks_the_browsers_language(headers: dict[str, str], language: str, said: tuple[str, ...]):
    found = page(Client(), "/login/", **headers)
    assert f'<html lang="{language}">' in found
    assert all(text in found for text in said)
    wrong = Client().post("/login/", {"username": "nobody", "password": "wrong"}, **headers).content.decode()
    told = {"de": "Name und Passwort passen nicht", "es": "El nombre y la contraseña no coinciden", "en": "Name and"}
    assert told[language] in wrong


def test_an_assessors_home_is_translated(bank: NuggetBank, as_anna: Client):
    german = page(as_anna, "/", **GERMAN)
    assert '<html lang="de">' in german
    for said in ("Ihre Themen", "Weiter:", "Listen Sie aus den Passagen die Fakten auf", "Nuggets 0"):
        assert said in german, said
    spanish = page(as_anna, "/", **SPANISH)
    for said in ("Sus temas", "Continuar:", "Haga una lista de los hechos", "nuggets 0"):
        assert said in spanish, said


def test_the_nugget_editor_is_translated(bank: NuggetBank, as_anna: Client, olga: Person):
    address = f"/nuggets/{bank.pk}/"
    german, spanish = page(as_anna, address, **GERMAN), page(as_anna, address, **SPANISH)
    for said in ("Relevante Passagen · ", "von höchstens 20", "Neu: Nugget", "Diese Nuggets abgeben?"):
        assert said in german, said
    for said in ("Pasajes relevantes · ", "de 20 como máximo", "Añadir nugget", "¿Entregar la lista (nuggets)?"):
        assert said in spanish, said
    for found in (german, spanish):
        assert "<span>vital " in found
        assert 'value="okay"' in found
    seen = page(client_of(olga), address, **GERMAN)
    assert '<html lang="en">' in seen
    assert "Relevant passages" in seen
    finish = {"key": "0" * 32, "version": bank.version}
    told = as_anna.post(f"{address}finish/", finish, **GERMAN).json()
    assert "Noch nichts auf der Liste (Nugget)." in told["findings"]


def test_the_editor_of_reports_is_translated(report: EditedReport, as_anna: Client):  # noqa: F811
    address = f"/reports/{report.pk}/"
    assert "Diesen Bericht unterschreiben?" in page(as_anna, address, **GERMAN)
    assert "¿Firmar este informe?" in page(as_anna, address, **SPANISH)


@pytest.mark.parametrize(
    ("address", "german", "spanish"),
    [
        ("/nothing/", "Hier gibt es nichts für Sie", "Aquí no hay nada para usted"),
        ("/answers/", "Antworten auf Ihre Fragen", "Respuestas a sus preguntas"),
        ("/guidelines/nuggets/", "Richtlinien: Nuggets", "Pautas: nuggets"),
        ("/me/", "Einzeltasten ausschalten", "Desactivar las teclas sueltas"),
    ],
)
def test_other_pages_of_assessors_are_translated(
    address: str, german: str, spanish: str, campaign: Campaign, as_anna: Client, olga: Person
):
    assert german in page(as_anna, address, **GERMAN)
    assert spanish in page(as_anna, address, **SPANISH)
    assert '<html lang="en">' in page(client_of(olga), address, **GERMAN)


def test_keys_are_told_in_ones_own_language(campaign: Campaign, as_anna: Client):
    german = page(as_anna, "/me/", **GERMAN)
    assert "Nuggets: nächste Passage; Zuordnung: Antwort davor" in german
    assert "Stützung: full" in german, "labels stay"


def test_who_signed_out_is_told_so(db: None):
    refused = Client().post("/assign/1/answers/1/label/", **GERMAN)
    assert refused.status_code == 401
    assert "Sie sind abgemeldet" in refused.content.decode()


def test_why_a_page_is_closed_is_told(bank: NuggetBank, as_anna: Client):
    Task.objects.filter(pk=bank.task_id).update(paused=True)
    refused = as_anna.get(f"/nuggets/{bank.pk}/", **GERMAN)
    assert refused.status_code == 403
    assert "Ihre Organisation hat dieses Thema pausiert." in refused.content.decode()


def test_ones_own_choice_comes_before_the_browsers(campaign: Campaign, anna: Person, as_anna: Client):
    chosen = page(as_anna, "/me/", **GERMAN)
    assert '<option value="" selected>wie im Browser eingestellt</option>' in chosen
    saved = as_anna.post("/me/", {"language": "es"}, follow=True, **GERMAN)
    anna.refresh_from_db()
    assert (saved.status_code, anna.language) == (200, "es")
    assert '<html lang="es">' in page(as_anna, "/", **GERMAN)
    assert '<html lang="es">' in page(as_anna, "/")
    as_anna.post("/me/", {"language": "fr"})
    anna.refresh_from_db()
    assert anna.language == "es"


def test_organizers_and_administrators_have_english(campaign: Campaign, olga: Person, admin: Person):
    olga.language = "de"
    olga.save()
    for address in ("/me/", "/answers/", f"/campaigns/{campaign.slug}/", f"/campaigns/{campaign.slug}/people/"):
        plain = client_of(olga)
        found = page(plain, address, **GERMAN)
        assert '<html lang="en">' in found, address
        assert found == page(plain, address), address
    assert '<html lang="en">' in page(client_of(admin), "/", **GERMAN)
    assert "Dieses Feld" not in client_of(olga).post("/new-campaign/", {}, **GERMAN).content.decode()


def test_pages_that_are_not_translated_are_english_for_assessors_too(campaign: Campaign, as_anna: Client):
    for address in ("/security/", "/glossary/"):
        assert '<html lang="en">' in page(as_anna, address, **GERMAN), address
