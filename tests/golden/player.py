"""Somebody at the keyboard: pages are got, and their forms filled in by what the labels and choices say."""

import re
from html import unescape
from html.parser import HTMLParser
from typing import Any, NamedTuple
from urllib.parse import urlencode
from uuid import uuid4

from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client

from tests.golden.world import Clock

FORM = "application/x-www-form-urlencoded"  # as screens send what is written on them


class Choice(NamedTuple):
    """A choice of a field, by the words on the page."""

    words: str


class Form:
    """A form of a page: where it goes, and what it would send as it is."""

    def __init__(self, attributes: dict[str, str]) -> None:
        self.id, self.action = attributes.get("id", ""), attributes.get("action", "")
        self.fields: dict[str, list[str]] = {}
        self.choices: dict[str, dict[str, str]] = {}  # of a field: its value, by its words
        self.words = ""

    def set(self, name: str, value: Any) -> None:
        if name not in self.fields and name not in self.choices:
            raise AssertionError(f"{name} is none of {sorted({*self.fields, *self.choices})}")
        values = value if isinstance(value, list) else [value]
        self.fields[name] = [self._value(name, one) for one in values]

    def _value(self, name: str, value: Any) -> Any:
        if not isinstance(value, Choice):
            return value
        try:
            return self.choices[name][value.words]
        except KeyError:
            raise AssertionError(f"{name}: {value.words!r} is none of {sorted(self.choices[name])}") from None


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._open: Form | None = None
        self._select: str | None = None
        self._option: tuple[str, bool] | None = None
        self._box: tuple[str, str] | None = None  # a radio button's or checkbox's, until its words are read
        self._text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._open = Form(found)
            self.forms.append(self._open)
        named = [form for form in self.forms if form.id and form.id == found.get("form")]
        form = named[0] if named else self._open
        if form is None or "disabled" in found:
            return
        name, value = found.get("name", ""), found.get("value", "")
        if tag == "option" and self._select:
            self._option, self._text = (value, "selected" in found), ""
        elif tag == "select":
            self._select = name
            form.choices.setdefault(name, {})
            form.fields.setdefault(name, [])
        elif tag == "textarea" and name:
            form.fields[name] = [""]
            self._select = None
            self._box, self._text = (name, "\n"), ""
        elif tag == "input" and name and found.get("type") in ("radio", "checkbox"):
            form.fields.setdefault(name, [])
            if "checked" in found:
                form.fields[name].append(value or "on")
            choices = form.choices.setdefault(name, {})
            if "aria-label" in found:
                choices[found["aria-label"]] = value or "on"
            else:
                self._box, self._text = (name, value or "on"), ""
        elif tag == "input" and name:
            form.fields.setdefault(name, []).append(value)
        elif tag == "button" and name:
            form.choices.setdefault(name, {})[value] = value

    def handle_endtag(self, tag: str) -> None:
        form = self._open
        words = " ".join(self._text.split())
        if form is None:
            return
        if tag == "form":
            self._open = None
        elif tag == "option" and self._option and self._select:
            value, is_selected = self._option
            form.choices[self._select][words] = value
            if is_selected or not form.fields[self._select]:
                form.fields[self._select] = [value]
            self._option = None
        elif tag == "select":
            self._select = None
        elif tag == "textarea" and self._box:
            form.fields[self._box[0]] = [self._text.removeprefix("\n")]
            self._box = None
        elif tag == "label" and self._box:
            form.choices[self._box[0]][words] = self._box[1]
            self._box = None

    def handle_data(self, data: str) -> None:
        self._text += data
        if self._open is not None:
            self._open.words += data


def forms_of(page: str) -> list[Form]:
    reader = _Forms()
    reader.feed(page)
    return reader.forms


def text_of(response: HttpResponse) -> str:
    return bytes(response.getvalue()).decode()


class Player:
    """A person in a browser. Every request takes the clock a step on."""

    def __init__(self, clock: Clock, name: str, password: str, link: str = "") -> None:
        """Sign in; by a one-time link, which is all that somebody new has, set the password first."""
        self._clock, self.client = clock, Client()
        if link:
            self.submit(self.get(link, 302)["Location"], password1=password, password2=password)
        self.submit("/login/", username=name, password=password)

    def get(self, address: str, status: int = 200) -> HttpResponse:
        self._clock.step()
        response = self.client.get(address)
        if response.status_code != status:
            raise AssertionError(f"GET {address}: {response.status_code}, not {status}\n{text_of(response)[:2000]}")
        return response

    def page(self, address: str) -> str:
        return text_of(self.get(address))

    def with_later_parts(self, page: str) -> str:
        """Return a page with the parts that its scripts ask for once it is there."""
        for part in re.findall(r'hx-get="([^"]*)" hx-trigger="load"', page):
            page += bytes(self.client.get(unescape(part), headers={"HX-Request": "true"}).getvalue()).decode()
        return page

    def submit(self, address: str, *, among: str = "", press: str = "", then: str = "", **fields: Any) -> str:
        """Fill in a page's form and send it; return the page that follows.

        among: its id, words in it, or the end of its address, where a page has several. press: the button of the page
        that asks whether this is meant. then: words that must be on the page that follows.
        """
        forms = forms_of(self.page(address))
        fitting = [
            form
            for form in forms
            if (among in form.words or form.action.endswith(among) or form.id == among) and "logout" not in form.action
        ]
        form = next((form for form in fitting if {*fields} <= {*form.fields, *form.choices}), None)
        if form is None:
            raise AssertionError(f"{address} has no form with {sorted(fields)}: {[sorted(f.fields) for f in forms]}")
        for name, value in fields.items():
            form.set(name, value)
        data = {name: values if len(values) != 1 else values[0] for name, values in form.fields.items() if values}
        for more in [{}, {press: "1"}][: 2 if press else 1]:
            self._clock.step()
            response = self.client.post(form.action or address, data | more, follow=True)
        page = text_of(response)
        if response.status_code != 200 or 'class="errorlist' in page or then not in page:
            found = re.findall(r'class="errorlist.*?</ul>|class="message[^>]*>.*?</', page, re.DOTALL)
            raise AssertionError(f"POST {form.action or address}: {response.status_code}, {found or page[-3000:]}")
        return page

    def write(self, address: str, version: object, **fields: object) -> Any:
        """Send what an assessor's screen sends; return the answer."""
        self._clock.step()
        data = {"key": str(uuid4()), "version": str(version)} | {name: str(value) for name, value in fields.items()}
        response = self.client.post(address, urlencode(data), FORM, headers={"X-Assay-Write": "1"})
        if response.status_code != 200:
            raise AssertionError(f"POST {address} {fields}: {response.status_code} {text_of(response)[:500]}")
        return response.json() if response["Content-Type"] == "application/json" else response


def upload(name: str, content: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)
