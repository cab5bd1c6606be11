"""Who has to set up a second factor first."""

from django.contrib.auth.backends import ModelBackend
from django.db.models import BooleanField
from django.db.models.expressions import RawSQL

from assessor.accounts.models import Person

# Recovery codes are none by themselves.
SECOND_FACTORS = ("totp", "webauthn")
# Part of the query that loads the signed-in person for every request, so that it costs none of its own. Written out:
# to put it together takes Django longer than the database takes to answer.
_OWES = f"""NOT EXISTS (SELECT 1 FROM mfa_authenticator own
    WHERE own.user_id = accounts_person.id AND own.type IN {SECOND_FACTORS})
AND EXISTS (SELECT 1 FROM campaigns_campaign campaign WHERE campaign.second_factor_required AND (
    accounts_person.is_superuser OR EXISTS (SELECT 1 FROM campaigns_membership member
        WHERE member.campaign_id = campaign.id AND member.person_id = accounts_person.id AND member.until IS NULL)))"""  # noqa: S608  # all of it is ours


class PasswordBackend(ModelBackend):
    """Django's own, whose people also know whether they owe a second factor (owes_second_factor)."""

    def get_user(self, user_id: int) -> Person | None:
        owes = RawSQL(_OWES, (), output_field=BooleanField())  # noqa: S611  # ours
        person = Person.objects.annotate(owes_second_factor=owes).filter(pk=user_id).first()
        return person if person and self.user_can_authenticate(person) else None


def owes_second_factor(person: Person) -> bool:
    """Say whether a campaign that a person can open requires a second factor of them, and they have none.

    Who organizes or assesses there can open it, and so can administrators.
    """
    loaded = PasswordBackend().get_user(person.pk)
    return loaded is not None and bool(getattr(loaded, "owes_second_factor", False))
