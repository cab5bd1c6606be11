"""Screens in German and Spanish: what they say is translated; labels, and what is kept of them, are not."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from tests.conftest import client_of
from tests.labels.screens import Screen

SAID = {
    "de": {
        "assignment": ("Weiter zu Nugget {number} von {total}.", 'data-key-label="Nugget: partial_support"'),
        "grading": ("Weiter zu Frage {number} von {total}.", "Frage: 5, vollständig und richtig beantwortet"),
        "support": ("Wie weit stützt die Passage den Satz?", "full: alles im Satz ist gestützt"),
        "argue": ("Welche dieser Antworten nennt der Satz?", "Stützt das Dokument den Satz? Ja, alles, was er sagt"),
        "relevance": ("Wie relevant ist die Passage für die Anfrage?", "Grad 0: hat nichts mit der Anfrage zu tun"),
        "preference": ("Welche beantwortet die Anfrage besser?", "Antwort 1 ist besser"),
    },
    "es": {
        "assignment": ("Siguiente: nugget {number} de {total}.", 'data-key-label="nugget: partial_support"'),
        "grading": ("Siguiente: pregunta {number} de {total}.", "pregunta: 5, respondida de forma completa y correcta"),
        "support": ("¿Hasta qué punto respalda el pasaje la frase?", "full: toda la frase está respaldada"),
        "argue": ("¿Cuáles de estas respuestas expresa la frase?", "¿Respalda el documento la frase? Sí, todo lo que"),
        "relevance": ("¿Cuán relevante es el pasaje para la consulta?", "Grado 0: nada que ver con la consulta"),
        "preference": ("¿Cuál responde mejor a la consulta?", "La respuesta 1 es mejor"),
    },
}
SAVED = {"de": "Nicht gespeichert: {why} {kept}.", "es": "Sin guardar: {why} {kept}."}
CLOSED = {
    "de": "Dieses Thema ist abgeschlossen: Seine Labels können gelesen, aber nicht mehr geändert werden.",
    "es": "Este tema está finalizado: sus etiquetas se pueden leer, pero ya no cambiar.",
}
LANGUAGES = pytest.mark.parametrize("language", SAID)


def in_language(person: Person, language: str) -> Client:
    client = client_of(person)
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = f"{language}-AT,{language};q=0.9,en;q=0.5"
    return client


@LANGUAGES
def test_a_screen_is_translated_and_its_labels_are_not(language: str, screen: Screen, anna: Person):
    client = in_language(anna, language)
    with CaptureQueriesContext(
        connection,
    ) as translated:
        page = client.get(screen.page).content.decode()
    with CaptureQueriesContext(connection) as english:
        client_of(anna).get(screen.page)
    assert len(translated) <= len(english) + 1, "the session is another one"
    assert f'<html lang="{language}">' in page
    for said in (*SAID[language][screen.kind], SAVED[language]):
        assert said in page, said
    for label in screen.labels:
        assert f'data-label="{label}"' in page

    assert screen.label(client, screen.one, screen.labels[0]).status_code == 200
    assert screen.stands(screen.one)["label"] == screen.labels[0]
    [(verb, _, after, _)] = [one for one in screen.history(screen.one) if one[0] != "show"]
    assert (verb, after["label"]) == (screen.verbs["label"], screen.labels[0])


@LANGUAGES
def test_a_refusal_is_translated(language: str, assignment_screen: Screen, anna: Person):
    client = in_language(anna, language)
    assignment_screen.finish(client)
    refused = assignment_screen.label(client, assignment_screen.one, "support")
    assert (refused.status_code, refused.json()["closed"]) == (409, CLOSED[language])
    assert f'data-closed="{CLOSED[language]}"' in client.get(assignment_screen.page).content.decode()


def test_whoever_organizes_looks_on_in_english(screen: Screen, olga: Person):
    pages = set()
    for client in (in_language(olga, "de"), client_of(olga)):
        page = re.sub(r'value="\w{64}"', "", client.get(screen.page).content.decode())
        pages.add(page)
    [page] = pages
    assert '<html lang="en">' in page


def test_exports_are_the_same_in_every_language(assignment_screen: Screen, anna: Person, olga: Person):
    assignment_screen.finish(in_language(anna, "de"))
    address = f"/campaigns/{assignment_screen.task.campaign.slug}/history.csv"
    english, german = (
        b"".join(client.get(address, {"verb": "assignment signed off"}).streaming_content).decode()
        for client in (client_of(olga), in_language(olga, "de"))
    )
    assert "assignment signed off" in english
    assert english.splitlines() == german.splitlines()
