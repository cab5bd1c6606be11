"""Who has to set up a second factor first."""

from django.contrib.auth.backends import ModelBackend

from assessor.accounts.models import Person

# Recovery codes are none by themselves.
SECOND_FACTORS = ("totp", "webauthn")
# What loads the signed-in person for every request, and whether they owe a second factor. Written out: to put it
# together takes Django longer than the database takes to answer.
_PERSON = f"""SELECT *, NOT EXISTS (SELECT 1 FROM mfa_authenticator own
    WHERE own.user_id = accounts_person.id AND own.type IN {SECOND_FACTORS})
AND EXISTS (SELECT 1 FROM campaigns_campaign campaign WHERE campaign.second_factor_required AND (
    accounts_person.is_superuser OR EXISTS (SELECT 1 FROM campaigns_membership member
        WHERE member.campaign_id = campaign.id AND member.person_id = accounts_person.id AND member.until IS NULL)))
AS owes_second_factor FROM accounts_person WHERE id = %s"""  # noqa: S608  # all of it is ours


class PasswordBackend(ModelBackend):
    """Django's own, whose people also know whether they owe a second factor (owes_second_factor)."""

    def get_user(self, user_id: int) -> Person | None:
        person = next(iter(Person.objects.raw(_PERSON, [user_id])), None)
        return person if person and self.user_can_authenticate(person) else None


def owes_second_factor(person: Person) -> bool:
    """Say whether a campaign that a person can open requires a second factor of them, and they have none.

    Who organizes or assesses there can open it, and so can administrators.
    """
    loaded = PasswordBackend().get_user(person.pk)
    return loaded is not None and bool(getattr(loaded, "owes_second_factor", False))
