"""What a person chooses for themselves: the zone of the times that they see, and the keys that they press."""

import string
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from django import forms
from django.conf import settings
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from assessor.accounts.models import Person
from assessor.campaigns.condition_kind import condition_kinds
from assessor.campaigns.models import Role

# Single characters that do something, and what, by screen. A person's own stands for one of these on all screens alike,
# with Shift too. Of combinations only Ctrl with a digit can be changed; the others, Enter and Esc are as they are.
SCREENS: dict[str, dict[str, str]] = {
    gettext_noop("all"): {"g": gettext_noop("guidelines"), "?": gettext_noop("keys")},
    gettext_noop("home"): {"c": gettext_noop("continue")},
    gettext_noop("organizers"): {"/": gettext_noop("find")},
    **{kind.name: dict(kind.keys) for kind in condition_kinds()},
}
KEYS = sorted({key for does in SCREENS.values() for key in does}, key=lambda key: (not key.isalpha(), key))
# Letters of other scripts are read by where they stand, as a to z; blanks press buttons, and ' searches in Firefox.
_POSSIBLE = frozenset(string.ascii_lowercase + string.digits + string.punctuation) - {"'"}
_CTRL = "ctrl+"  # with digits alone: letters with Ctrl are the browser's
# What organizers can be mailed about, by the kind of event.
MAILED_WHEN = {
    "job": "a job that you launched ends",
    "import": "an import that you made ends",
    "topic": "a topic that you gave to somebody is finished",
}


def does(key: str) -> str:
    """Say what a key does, screen by screen."""
    of_screens = ((screen, does[key]) for screen, does in SCREENS.items() if key in does)
    return "; ".join(f"{gettext(screen)}: {gettext(what)}" for screen, what in of_screens)


def zone(name: str) -> ZoneInfo:
    """Return the zone of this name; UTC for none, and for one that this machine does not know."""
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


def _zones() -> list[tuple[str, str]]:
    names = sorted(name for name in available_timezones() if "/" in name and not name.startswith("Etc/"))
    return [("", gettext("not chosen: UTC")), ("UTC", "UTC"), *((name, name.replace("_", " ")) for name in names)]


def _languages() -> list[tuple[str, str]]:
    return [("", gettext("as the browser asks")), *settings.LANGUAGES]


def own_key(person: Any, key: str) -> str | None:
    """Return the key that a person (None: nobody) has in the place of a screen's, or None if they have it off."""
    if not isinstance(person, Person):
        return key
    if key.startswith("shift+"):
        character = own_key(person, key.removeprefix("shift+"))
        return character and f"shift+{character}"
    if person.keys_off and len(key) == 1:
        return None
    own: str = person.keys.get(key, key)
    return own


class PreferencesForm(forms.ModelForm):  # type: ignore[type-arg]
    """A person's zone and keys. An emptied key is the screens' own again."""

    time_zone = forms.ChoiceField(
        label=gettext_lazy("Time zone"),
        required=False,
        choices=_zones,
        help_text=gettext_lazy("Of the times on pages. Files are in UTC whatever is chosen here."),
    )
    language = forms.ChoiceField(
        label=gettext_lazy("Language"),
        required=False,
        choices=_languages,
        help_text=gettext_lazy(
            "Of the pages that assessors work on. Labels and guidelines stay as they are; organizers have English."
        ),
    )

    mailed_when = forms.MultipleChoiceField(
        label="Mail me when",
        required=False,
        choices=tuple(MAILED_WHEN.items()),
        widget=forms.CheckboxSelectMultiple,
    )

    class Meta:
        model = Person
        fields = ("time_zone", "language", "keys_off", "mailed_when")
        labels = {"keys_off": gettext_lazy("Switch single-character keys off")}
        help_texts = {
            "keys_off": gettext_lazy("For those who speak to their computer, or use a screen reader's own single keys.")
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not (settings.MAILS and Role.ORGANIZER in self.instance.role_names):
            del self.fields["mailed_when"]
        for key in KEYS:
            widget = forms.TextInput(
                {"size": 1, "autocapitalize": "none", "autocomplete": "off", "spellcheck": "false"}
            )
            own = self.instance.keys.get(key, key).removeprefix(_CTRL)
            self.fields[_field(key)] = forms.CharField(
                label=does(key), required=False, max_length=1, initial=own, widget=widget
            )

    @property
    def keys(self) -> list[tuple[str, Any]]:
        """The screens' keys, each with the field of the person's own."""
        return [(key, self[_field(key)]) for key in KEYS]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        present: dict[str, str] = {}
        for key in KEYS:
            own = cleaned.get(_field(key), "").lower()
            is_ctrl = key.startswith(_CTRL)
            present[key] = (_CTRL + own if is_ctrl else own) if own else key
            if own and is_ctrl and own not in string.digits:
                self.add_error(_field(key), gettext("Ctrl with {key} can't be a key: take a digit.").format(key=own))
            elif own and own not in _POSSIBLE:
                told = gettext("{key} can't be a key: take a letter from a to z, a digit, or another sign.")
                self.add_error(_field(key), told.format(key=own))
        for key, own in present.items():
            others = [other for other, its in present.items() if other != key and its == own]
            if others and own != key:  # said where it was changed
                told = gettext("{key} is a key already, of {does}. Change that one too, or take another.")
                self.add_error(_field(key), told.format(key=own, does=does(others[0])))
        self.instance.keys = {key: own for key, own in present.items() if own != key}
        return cleaned


def _field(key: str) -> str:
    return f"key_{'ctrl_' if key.startswith(_CTRL) else ''}{ord(key[-1])}"
