"""The frame of organizers' pages."""

from collections.abc import Sequence
from typing import Any
from unicodedata import normalize

from django import template
from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Condition, Event
from assessor.desk.glossary import GLOSSARY, anchor
from assessor.desk.navigation import Navigation, navigation
from assessor.desk.sentences import predicate

register = template.Library()


@register.simple_tag(takes_context=True)
def way_around(context: template.Context) -> Navigation:
    """Return where an organizer can go from the page at hand."""
    request = context["request"]
    match = request.resolver_match
    return navigation(request.user, context.get("campaign"), match.url_name if match else "")


@register.simple_tag
def icon(name: str, tone: str = "") -> SafeString:
    """Return one of the pictures in icons.svg, which only goes with words. tone: "warn" or "bad" in lists."""
    shown = f"i {tone}-i" if tone else "i"
    mark = '<svg class="{}" aria-hidden="true"><use href="{}#{}"/></svg>'
    return format_html(mark, shown, static("assay/icons.svg"), name)


@register.filter
def thousands(number: int) -> str:
    """Return a number as people read it: "20,283"."""
    return f"{number:,}"


@register.filter
def shortened(text: str, most: int) -> str:
    """Return what truncatechars does, which looks at each letter of a text, also where nothing is to be cut."""
    whole = normalize("NFC", text)
    return whole if len(whole) <= most else Truncator(whole).chars(most)


@register.filter
def initials(name: object) -> str:
    """Return the first letters of a name, two at most, as a person's mark has them."""
    words = str(name).replace(".", " ").replace("_", " ").split()
    return "".join(word[0] for word in [*words[:1], *words[1:][-1:]]).upper() if words else "?"


@register.filter
def in_words(condition: Condition) -> str:
    """Return what a condition is, in a sentence: "Nuggets of Reference assigned by a model (gpt-4o)"."""
    return kind_of(condition).in_words(condition)


@register.filter
def further_pages(condition: Condition) -> Sequence[tuple[str, str]]:
    """Return what ConditionKind.pages() does."""
    return kind_of(condition).pages(condition)


@register.simple_tag
def who(name: object, kind: str = "person") -> SafeString:
    """Return the mark of who made something, everywhere the same: people are round, models square.

    kind: or "model", or "nobody" for the system.
    """
    shape = {"model": " m", "nobody": " x"}.get(kind, "")
    mark = '<span class="who{}" title="{}"><i aria-hidden="true">{}</i><span class="visually-hidden">{}</span></span>'
    return format_html(mark, shape, name, initials(name), name)


@register.filter
def told(event: Event) -> str:
    """Return what somebody did, to be read after their name."""
    return predicate(event.verb, event.subject)


@register.simple_tag(takes_context=True)
def condition_link(context: template.Context, condition: Any) -> SafeString:
    """Return the name of a condition, which leads to its page."""
    address = reverse("condition", args=[context["campaign"].slug, condition.pk])
    return format_html('<a href="{}"><bdi>{}</bdi></a>', address, condition.name)


@register.simple_tag
def term(word: str, shown: str = "") -> SafeString:
    """Return a word of the glossary with its definition, for where it first stands on a page."""
    address = f"{reverse('glossary')}#{anchor(word)}"
    return format_html('<a class="term" href="{}" title="{}">{}</a>', address, GLOSSARY[word], shown or word)
