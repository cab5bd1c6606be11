"""The history of a campaign, filtered."""

from datetime import date, datetime, time, timedelta
from typing import Any

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils import timezone
from django.utils.text import capfirst

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Event
from assessor.desk.sentences import SYSTEM

_SYSTEM = "(system)"  # nobody's name: it has parentheses
# The first and the last day there is have no midnight in some zones.
_IN_CALENDARS = [MinValueValidator(date(1900, 1, 1)), MaxValueValidator(date(9000, 1, 1))]


class HistoryForm(forms.Form):
    """What is looked for in a history; nothing is asked for all of it."""

    person = forms.ChoiceField(required=False)
    verb = forms.ChoiceField(required=False, label="Kind")
    about = forms.CharField(required=False, max_length=256, label="Text, such as a topic id")
    since = forms.DateField(required=False, validators=_IN_CALENDARS, widget=forms.DateInput({"type": "date"}))
    until = forms.DateField(
        required=False, label="Up to", validators=_IN_CALENDARS, widget=forms.DateInput({"type": "date"})
    )

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.campaign = campaign
        self.fields["since"].label = f"From ({timezone.get_current_timezone_name()})"
        people = Person.objects.filter(pk__in=campaign.events.order_by().values("person")).order_by("username")
        named = [(name, name) for name in people.values_list("username", flat=True)]
        verbs = campaign.events.order_by("verb").values_list("verb", flat=True).distinct()
        self.fields["person"].choices = [("", "everybody"), (_SYSTEM, SYSTEM), *named]  # type: ignore[attr-defined]
        self.fields["verb"].choices = [("", "anything"), *((verb, capfirst(verb)) for verb in verbs)]  # type: ignore[attr-defined]

    def clean_about(self) -> str:
        about: str = self.cleaned_data["about"]
        if "\x00" in about:
            raise forms.ValidationError("No history has a NUL in it.")
        return about

    def events(self) -> QuerySet[Event]:
        """Return the events that are asked for, the newest first; of a form that is wrong none."""
        if not self.is_valid():
            return Event.objects.none()
        asked = self.cleaned_data
        events: QuerySet[Event] = self.campaign.events.select_related("person").order_by("-pk")
        if asked["person"]:
            is_of = {"person": None} if asked["person"] == _SYSTEM else {"person__username": asked["person"]}
            events = events.filter(**is_of)
        if asked["verb"]:
            events = events.filter(verb=asked["verb"])
        if about := asked["about"]:
            events = events.annotate(told=Cast("details", TextField()))
            events = events.filter(Q(subject__contains=about) | Q(told__contains=about))
        if asked["since"]:
            events = events.filter(at__gte=_start(asked["since"]))
        if asked["until"]:
            events = events.filter(at__lt=_start(asked["until"]) + timedelta(days=1))
        return events


def _start(day: Any) -> datetime:
    return timezone.make_aware(datetime.combine(day, time()))
