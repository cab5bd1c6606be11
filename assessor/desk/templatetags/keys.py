"""The keys of a screen, as they are for the person who sees it, who is `user` in the context."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from assessor.accounts.preferences import own_key

register = template.Library()
_NAMES = {"enter": "⏎", "arrowup": "↑", "arrowdown": "↓", "alt": "Alt", "ctrl": "Ctrl", "shift": "⇧"}


@register.simple_tag(takes_context=True)
def key(context: template.Context, name: object) -> SafeString | str:
    """Return the attributes of the control that a key works; none where single-character keys are off."""
    own = own_key(context.get("user"), str(name))
    if own is None:
        return ""
    if len(own.removeprefix("shift+")) > 1:
        return format_html('data-key="{}"', own)
    return format_html('aria-keyshortcuts="{}" data-key="{}"', own.replace("shift", "Shift"), own)


@register.simple_tag(takes_context=True)
def kbd(context: template.Context, name: object) -> SafeString | str:
    """Return a key as it is shown on its control."""
    own = own_key(context.get("user"), str(name))
    return "" if own is None else format_html("<kbd>{}</kbd>", _shown(own))


@register.simple_tag(takes_context=True)
def with_keys(context: template.Context, *names: str) -> str:
    """Return by which keys something is done, for the end of a sentence."""
    own = [own_key(context.get("user"), name) for name in names]
    shown = [_shown(one) for one in own if one is not None]
    return gettext(", with {keys}").format(keys=gettext(" and ").join(shown)) if shown else ""


@register.simple_tag(takes_context=True)
def key_name(context: template.Context, name: object) -> str:
    """Return a key as a sentence names it."""
    own = own_key(context.get("user"), str(name))
    return "" if own is None else _shown(own)


def _shown(key: str) -> str:
    if len(key) == 1:  # + too
        return key
    return " ".join(_NAMES.get(part, part.upper()) for part in key.split("+"))
