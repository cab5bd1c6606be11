"""The request as views see it."""

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

from assessor.collection.models import Person


class PersonRequest(HttpRequest):
    """A request behind the sign-in: its user is a person."""

    user: Person
    htmx: HtmxDetails
