"""Text in a page, character for character."""

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


@register.filter
def exact(text: str) -> SafeString:
    """Escape a text so that the browser has every character of it, and spans count the same there as here.

    A carriage return written plainly would become a line feed, or vanish before one.
    """
    return mark_safe(escape(text).replace("\r", "&#13;"))  # noqa: S308 - escaped on this very line
