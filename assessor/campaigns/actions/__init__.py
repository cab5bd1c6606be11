"""The writers of campaigns, protocols, conditions and judges, and of who belongs to a campaign."""

from assessor.campaigns.actions.campaigns import (
    ConditionError,
    change_protocol,
    create_campaign,
    create_condition,
    free_slug,
    grades_made_under,
    judge_of,
    name_for_assessors,
)
from assessor.campaigns.actions.people import (
    MembershipError,
    PersonReferenced,
    add_member,
    answer_invitation,
    change_role,
    delete_person,
    end_membership,
    invite,
    note_activity,
    set_active,
    why_kept,
    withdraw_invitation,
)

__all__ = [
    "ConditionError",
    "MembershipError",
    "PersonReferenced",
    "add_member",
    "answer_invitation",
    "change_protocol",
    "change_role",
    "create_campaign",
    "create_condition",
    "delete_person",
    "end_membership",
    "free_slug",
    "grades_made_under",
    "invite",
    "judge_of",
    "name_for_assessors",
    "note_activity",
    "set_active",
    "why_kept",
    "withdraw_invitation",
]
