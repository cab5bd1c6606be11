"""The form of a new webhook."""

from django import forms

from assessor.notices.addresses import check_address
from assessor.notices.models import MAX_ADDRESS, Webhook


class WebhookForm(forms.Form):
    address = forms.CharField(
        max_length=MAX_ADDRESS,
        validators=[check_address],
        widget=forms.TextInput({"size": 48, "inputmode": "url", "autocomplete": "off"}),
        help_text="Where the receiver listens, such as https://host.example.org/assay.",
    )
    events = forms.MultipleChoiceField(
        label="Send a notice when",
        choices=Webhook.Event,
        initial=Webhook.Event.values,
        widget=forms.CheckboxSelectMultiple,
    )
