"""A person's own settings: zone and keys."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.template import Context, Template
from django.test import Client

from assessor.accounts.models import Person
from assessor.accounts.preferences import KEYS, SCREENS, zone
from assessor.campaigns.models import Campaign, Event
from assignment.grading.label_kind import GRADING
from assignment.label_kind import ASSIGNMENT
from support.views.judging import CHOICES as SUPPORT_CHOICES
from tests.conftest import client_of

TEMPLATES = Path(settings.BASE_DIR) / "templates"
SCREEN_OF = {
    "desk/home.html": "home",
    "nuggets/editor.html": "nuggets",
    "nuggets/questions/_keys.html": "questions",
    "assignment/labelling.html": "assignment",
    "argue/judging.html": "argue",
    "reports/editor.html": "reports",
    "support/judging.html": "support",
    "preference/comparing.html": "preference",
    "relevance/grading.html": "relevance",
    "relevance/_rest.html": "relevance",
    "desk/_shell.html": "organizers",
}


def field(key: str) -> str:
    return f"key_ctrl_{ord(key[-1])}" if key.startswith("ctrl+") else f"key_{ord(key)}"


def change(person: Person, **wanted: str) -> tuple[Client, str]:
    """Send a person's settings, keys named by what screens have, and return what they see then."""
    data = {field(key): wanted.get(key, key[-1]) for key in KEYS} | {
        name: value for name, value in wanted.items() if name in ("time_zone", "keys_off")
    }
    client = client_of(person)
    return client, client.post("/me/", data, follow=True).content.decode()


def test_every_key_of_a_screen_can_be_changed():
    """What the settings list is what the templates have."""
    found = {screen: set() for screen in SCREENS}
    for path in TEMPLATES.rglob("*.html"):
        screen = SCREEN_OF.get(str(path.relative_to(TEMPLATES)))
        for key in re.findall(r'{% key "(?:shift\+)?((?:ctrl\+(?=\d))?[^"])" %}', path.read_text()):
            # workbench.html has keys of four screens, and what every screen has is listed once.
            for name in [screen] if screen else ["assignment", "argue", "support", "preference"]:
                found["all" if key in SCREENS["all"] else name].add(key)
    found["grading"] = set(found["assignment"])  # on the same screen
    for kind in (ASSIGNMENT, GRADING):
        found[kind.name] |= {choice.key for choice in kind.choices}
    found["support"] |= {key for _, key, *_ in SUPPORT_CHOICES}
    found["argue"] |= set("yncr123456789")
    found["relevance"] |= set("01234")
    found["preference"] |= set("120")
    assert found == {screen: set(does) for screen, does in SCREENS.items()}


def on_screen(person: object) -> str:
    """Return what pages have of some keys for a person, without tags of HTML."""
    text = "{% load keys %}" + "|".join(
        f'{{% key "{name}" %}}|{{% kbd "{name}" %}}' for name in ("n", "shift+n", "ctrl+1", "enter")
    )
    sentence = '|First{% with_keys "n" "j" %}: {% key_name "n" %}.'
    return re.sub("</?kbd>", "", Template(text + sentence).render(Context({"user": person})))


def test_keys_follow_the_person(anna: Person):
    theirs = """aria-keyshortcuts="n" data-key="n"|n|aria-keyshortcuts="Shift+n" data-key="shift+n"|⇧ N"""
    same = """data-key="ctrl+1"|Ctrl 1|data-key="enter"|⏎"""
    assert on_screen(AnonymousUser()) == on_screen(anna) == f"{theirs}|{same}|First, with n and j: n."
    _, page = change(anna, n="Z", z="")
    assert "Your settings are saved." in page
    anna.refresh_from_db()
    assert (anna.keys, anna.keys_off) == ({"n": "z"}, False)
    own = """aria-keyshortcuts="z" data-key="z"|z|aria-keyshortcuts="Shift+z" data-key="shift+z"|⇧ Z"""
    assert on_screen(anna) == f"{own}|{same}|First, with z and j: z."
    change(anna, n="Z", z="", keys_off="on")
    anna.refresh_from_db()
    assert (anna.keys, anna.keys_off) == ({"n": "z"}, True)
    assert on_screen(anna) == f"||||{same}|First: ."


def test_keys_can_change_places(anna: Person):
    change(anna, j="k", k="j")
    anna.refresh_from_db()
    assert anna.keys == {"j": "k", "k": "j"}
    change(anna, j="", k="")
    anna.refresh_from_db()
    assert anna.keys == {}


@pytest.mark.parametrize(
    ("own", "why"),
    [
        ("r", "r is a key already, of nuggets: reword; argue: said before. Change that one too, or take another."),
        ("ж", "ж can&#x27;t be a key"),
        ("'", "&#x27; can&#x27;t be a key"),
    ],
)
def test_what_can_not_be_a_key_is_refused_beside_its_field(own: str, why: str, anna: Person):
    _, page = change(anna, n=own)
    assert re.search(rf'id="id_key_{ord("n")}_error">{re.escape(why)}', page)
    assert f'aria-describedby="id_key_{ord("n")}_error"' in page
    assert "<title>Error: Your settings" in page
    anna.refresh_from_db()
    assert anna.keys == {}


def test_ctrl_and_a_digit_can_be_another_digit(anna: Person):
    change(anna, **{"ctrl+1": "2", "ctrl+2": "1"})
    anna.refresh_from_db()
    assert anna.keys == {"ctrl+1": "ctrl+2", "ctrl+2": "ctrl+1"}
    _, page = change(anna, **{"ctrl+1": "3", "ctrl+2": ""})
    anna.refresh_from_db()
    assert anna.keys == {"ctrl+1": "ctrl+3"}
    assert 'name="key_ctrl_49" value="3"' in page
    for own, why in (("v", "Ctrl with v can&#x27;t be a key: take a digit."), ("2", "ctrl+2 is a key already")):
        assert why in change(anna, **{"ctrl+1": own})[1]
        anna.refresh_from_db()
        assert anna.keys == {"ctrl+1": "ctrl+3"}


def test_times_are_in_the_persons_zone_and_say_so(olga: Person, campaign: Campaign):
    event = Event.objects.filter(campaign=campaign).first()
    QuerySet(Event).filter(pk=event.pk).update(at=datetime(2026, 1, 31, 23, 30, 5, tzinfo=UTC))
    history = f"/campaigns/{campaign.slug}/history/?since=2026-02-01&until=2026-02-01"
    client, _ = change(olga, time_zone="UTC")
    assert "2026-01-31 23:30:05 UTC" not in client.get(history).content.decode()
    client, _ = change(olga, time_zone="Asia/Kolkata")
    page = client.get(history).content.decode()
    assert "2026-02-01 05:00:05 IST" in page
    assert "From (Asia/Kolkata)" in page
    # The days are the person's, the times of the file are not.
    file = b"".join(client.get(history.replace("/?", ".csv?")).streaming_content).decode()
    assert "2026-01-31T23:30:05+00:00" in file
    assert "2026-02-01 05:00:05 IST" not in client_of(olga).get(history.replace("-01", "-02")).content.decode()


def test_a_zone_that_nobody_knows_is_utc(anna: Person):
    anna.time_zone = "Nowhere/There"
    anna.save()
    assert client_of(anna).get("/").status_code == 200
    assert str(zone("Nowhere/There")) == str(zone("")) == "UTC"
    _, page = change(anna, time_zone="Nowhere/There")
    assert "Select a valid choice" in page


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_days_outside_of_calendars_are_refused(day: str, olga: Person, campaign: Campaign):
    client, _ = change(olga, time_zone="Asia/Kolkata")
    response = client.get(f"/campaigns/{campaign.slug}/history/?since={day}&until={day}")
    assert response.status_code == 200
    assert "Ensure this value is" in response.content.decode()


def test_no_template_writes_a_time_without_its_zone():
    wrong = [
        f"{path.name}: {found}"
        for path in TEMPLATES.rglob("*.html")
        for found in re.findall(
            r'\|(?:date|time)(?!:"(?:SHORT_DATETIME|DATETIME|DATE|MONTH_DAY)_FORMAT")[:|} ][^}]*', path.read_text()
        )
    ]
    assert wrong == []
