"""In which language a page speaks: the person's own on the screens that assessors work on, English on all others."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from django.conf import settings
from django.http import HttpRequest
from django.template.response import SimpleTemplateResponse
from django.utils import translation

from assessor.campaigns.access import has_organizers_menu

View = TypeVar("View", bound=Callable[..., Any])


def in_own_language(view: View) -> View:
    """Let a view speak the language that its person chose, or else their browser's."""
    return _in_language(_own, view)


def in_own_language_unless_organizer(view: View) -> View:
    """Let a view do so for all but those around whose pages the organizers' menu stands, which is English."""
    return _in_language(_beside_menu, view)


def _in_language(language_of: Callable[[HttpRequest], str], view: View) -> View:
    @wraps(view)
    def translated(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        with translation.override(language_of(request)):
            response = view(request, *args, **kwargs)
            if isinstance(response, SimpleTemplateResponse):
                response.render()
            return response

    return cast(View, translated)


def _own(request: HttpRequest) -> str:
    chosen: str = getattr(getattr(request, "user", None), "language", "")
    return chosen or translation.get_language_from_request(request)


def _beside_menu(request: HttpRequest) -> str:
    person: Any = getattr(request, "user", None)
    is_english = person and person.is_authenticated and has_organizers_menu(person)
    return settings.LANGUAGE_CODE if is_english else _own(request)
