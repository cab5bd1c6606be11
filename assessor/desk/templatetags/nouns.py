"""What kinds, conditions and choices are called, in the language of the page."""

from django import template
from django.utils.translation import gettext, gettext_noop

register = template.Library()
# What is put together where it stands: plurals, and what keys of screens do.
PUT_TOGETHER = (
    gettext_noop("answers"),
    gettext_noop("reports"),
    gettext_noop("pairs"),
    gettext_noop("nuggets"),
    gettext_noop("questions"),
    gettext_noop("citations"),
    gettext_noop("passages"),
    gettext_noop("next nugget"),
    gettext_noop("nugget before"),
    gettext_noop("next question"),
    gettext_noop("question before"),
    gettext_noop("grade 0"),
    gettext_noop("grade 1"),
    gettext_noop("grade 2"),
    gettext_noop("grade 3"),
    gettext_noop("grade 4"),
)


@register.filter
def translated(text: object) -> str:
    """Return a word or sentence of the program's own in the language of the page."""
    return gettext(str(text))
