"""What workers do for signing in: look for whose an address is, and mail."""

from celery import shared_task

from assessor.accounts.models import Person


@shared_task
def mail_links(email: str, site: str) -> None:
    """Mail a one-time link to each active person with this address."""
    from assessor.accounts.actions import make_link

    for person in Person.objects.filter(email__iexact=email, is_active=True):
        make_link(person=person, acting_user=None, site=site)
