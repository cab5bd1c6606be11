"""What workers do for signing in: look for whose an address is, and mail."""

from celery import shared_task

from assessor.accounts.models import Person


@shared_task
def mail_links(email: str, site: str) -> None:
    """Mail a one-time link to the active person who confirmed this address."""
    from assessor.accounts.actions import make_link

    confirmed = Person.objects.filter(emailaddress__email=email.lower(), emailaddress__verified=True)
    for person in confirmed.filter(is_active=True):
        make_link(person=person, acting_user=None, site=site)
