"""What workers do for signing in: look for whose an address is, and mail."""

from assessor.accounts.models import Person
from assessor.celery import app


@app.task
def mail_links(email: str, site: str) -> None:
    """Mail a one-time link to the active person who confirmed this address."""
    from assessor.accounts.actions import make_link

    confirmed = Person.objects.filter(emailaddress__email=email.lower(), emailaddress__verified=True)
    for person in confirmed.filter(is_active=True):
        make_link(person=person, acting_user=None, site=site)


@app.task
def mail_notice(username: str, to: str, what: str) -> None:
    """Mail a person what was changed in how they sign in, so that they notice if it was somebody else."""
    from assessor.accounts.actions import mail

    mail("Your sign-in to Assay was changed", "notice_mail", to, username=username, what=what)
