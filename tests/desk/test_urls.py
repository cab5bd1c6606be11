"""One table of every address by every role: who gets what. An address missing from it fails the tests."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from assessor.accounts.models import Person
from assessor.campaigns.actions import add_member, create_campaign
from assessor.campaigns.models import Campaign, Condition, Import, Invitation, Role
from assessor.desk.views import errors
from assessor.exports.actions import ask_for
from assessor.exports.actions import run as export
from assessor.exports.freeze import freeze
from assessor.exports.registry import BY_NAME
from assessor.plan.actions import plan_work
from assessor.studies.actions import create_panel
from assessor.work.actions import give_tasks, put_in_queue
from assessor.work.models import Reminder
from assignment.actions import create_manual_assign
from metaeval.actions import create_calibration, create_comparison, create_hybrid, run
from metaeval.queries import side_key
from metaeval.stats.panels import Rule
from nuggets.models import NuggetBank
from tests.api.tokens import make_token
from tests.assignment.argue.judging_helpers import HEAL, judged_by_people
from tests.assignment.inherited import inherit
from tests.assignment.scored import auto_condition, label_canaries, vary
from tests.candidates.model import look_for_all
from tests.conftest import client_of, make_person
from tests.judging import give, judged
from tests.matching.model import match_all
from tests.notices.records import make_webhook
from tests.nuggets.model import draft, make_condition, make_model
from tests.preference import people
from tests.questions.banks import bank as questions_on
from tests.relevance.conftest import give_relevance
from tests.reports.model import edit_elsewhere
from tests.studies.conftest import coded_study, register
from tests.studies.control import make_control_set
from tests.support.judging_helpers import from_scratch, label_as_model, models_condition, post_edited
from tests.support.lines import cites
from tests.support.lines import line as support_line

# Columns: nobody signed in; the assessor whose work it is; another assessor of the campaign; its organizer; the
# organizer and an assessor of another campaign; an administrator; somebody without a role. "in" is a redirect to the
# sign-in page.
ROLES = ("nobody", "anna", "ben", "olga", "otto", "else", "admin", "noone")
EVERYBODY = ("in", 200, 200, 200, 200, 200, 200, 200)
ORGANIZER = ("in", 404, 404, 200, 404, 404, 404, 404)
OWNER_READS = ("in", 200, 404, 200, 404, 404, 404, 404)
# A write without key and version is 400 for whom it would be theirs to make; refused before that for all others.
OWNER_WRITES = (401, 400, 404, 404, 404, 404, 404, 404)

TABLE: dict[str, tuple[str, tuple[Any, ...]]] = {
    # Who only organizes one campaign is sent to its Overview.
    "home": ("GET", ("in", 200, 200, 302, 302, 200, 200, 200)),
    "glossary": ("GET", EVERYBODY),
    "account_login": ("GET", (200,) * 8),
    # Nobody gave a password just now; who is signed in already is led home.
    "mfa_authenticate": ("GET", ("in", *(302,) * 7)),
    "mfa_login_webauthn": ("GET", (200,) * 8),
    "account_logout": ("POST", (401, 302, 302, 302, 302, 302, 302, 302)),
    "account_reauthenticate": ("GET", EVERYBODY),
    # Who has neither app nor passkey is led to their password.
    **dict.fromkeys(("mfa_reauthenticate", "mfa_reauthenticate_webauthn"), ("GET", ("in", *(302,) * 7))),
    "account_change_password": ("GET", EVERYBODY),
    **dict.fromkeys(("account_reset_password",), ("GET", (404,) * 8)),  # no mail server is set
    "account_reset_password_done": ("GET", (200,) * 8),
    "account_reset_password_from_key": ("GET", (410,) * 8),  # of nobody
    # The password is asked for first; a link to confirm an address that is nobody's.
    "account_email": ("GET", ("in", *(302,) * 7)),
    "account_confirm_email": ("GET", ("in", *(410,) * 7)),
    "mfa_index": ("GET", EVERYBODY),
    # Each asks for the password first, or is of an app, a code or a passkey that is not there.
    **dict.fromkeys(
        ("mfa_activate_totp", "mfa_add_webauthn", "mfa_generate_recovery_codes"), ("GET", ("in", *(302,) * 7))
    ),
    **dict.fromkeys(("mfa_edit_webauthn", "mfa_remove_webauthn"), ("GET", ("in", *(302,) * 7))),
    **dict.fromkeys(("mfa_deactivate_totp", "mfa_view_recovery_codes"), ("GET", ("in", *(404,) * 7))),
    "sign_on": ("POST", (404,) * 8),  # no provider is set
    "sign_on_callback": ("GET", (404,) * 8),
    **dict.fromkeys(
        ("link_account", "unlink_account"), ("POST", (401, *(302,) * 7))
    ),  # the password is asked for first
    "require_second_factor": ("POST", (401, 404, 404, 302, 404, 404, 404, 404)),
    "habits": ("GET", EVERYBODY),
    "metrics": ("GET", (404,) * 8),  # it is read with a token
    "guidelines": ("GET", EVERYBODY),
    "task_guidelines": ("GET", ("in", 200, 404, 404, 404, 404, 404, 404)),
    "campaign_guidelines": ("GET", ORGANIZER),
    "edit_guidelines": ("GET", ORGANIZER),
    "preview_guidelines": ("POST", (401, 404, 404, 200, 404, 404, 404, 404)),
    "guidelines_version": ("GET", ORGANIZER),
    "api": ("GET", EVERYBODY),
    "tokens": ("GET", EVERYBODY),
    "revoke_token": ("POST", (401, 302, 404, 404, 404, 404, 404, 404)),
    "practice": ("GET", ORGANIZER),
    "practice_feedback": (
        "GET",
        ("in", 404, 404, 404, 404, 404, 404, 404),
    ),  # not signed off
    "mark_practice": ("POST", (401, 404, 404, 302, 404, 404, 404, 404)),
    "practice_reference": ("GET", ORGANIZER),
    "name_practice_reference": ("POST", (401, 404, 404, 302, 404, 404, 404, 404)),
    "new_campaign": ("GET", ("in", 404, 404, 200, 200, 404, 200, 404)),
    "campaign": ("GET", ORGANIZER),
    **dict.fromkeys(("protocol", "security", "webhooks", "conditions", "condition"), ("GET", ORGANIZER)),
    "renew_webhook": ("POST", (401, 404, 404, 200, 404, 404, 404, 404)),
    **dict.fromkeys(("test_webhook", "remove_webhook"), ("POST", (401, 404, 404, 302, 404, 404, 404, 404))),
    "old_protocol": ("GET", ("in", *(302,) * 7)),
    "new_condition": ("GET", ORGANIZER),
    **dict.fromkeys(("control_runs", "add_passages", "reports"), ("POST", (401, 404, 404, 302, 404, 404, 404, 404))),
    "setup": ("GET", ORGANIZER),
    "imports": ("GET", ORGANIZER),
    "import_held": ("POST", (401, 404, 404, 302, 404, 404, 404, 404)),
    **dict.fromkeys(("import_report", "report_file"), ("GET", ORGANIZER)),
    "stop_import": ("POST", (401, 404, 404, 302, 404, 404, 404, 404)),
    "plan": ("GET", ORGANIZER),
    "advance_plan": ("POST", (401, 404, 404, 302, 404, 404, 404, 404)),
    "plan_give": ("GET", ORGANIZER),
    "plan_piece": ("GET", ORGANIZER),
    "draws": ("GET", ORGANIZER),
    "plan_hours": ("GET", ORGANIZER),
    **dict.fromkeys(("effort", "effort_figure"), ("GET", ORGANIZER)),
    "allocate_plan": ("GET", ORGANIZER),
    "export_plan": ("GET", ORGANIZER),
    "plan_runs": ("GET", ORGANIZER),
    "take_back_planned": ("POST", (401, 404, 404, 302, 404, 404, 404, 404)),
    "withdraw_task": ("POST", (401, 404, 404, 302, 404, 404, 404, 404)),
    "take_out_of_queue": ("POST", (401, 404, 404, 302, 404, 404, 404, 404)),
    "remind": ("POST", (401, 404, 404, 302, 404, 404, 404, 404)),
    "reminder_seen": ("POST", (401, 302, 404, 404, 404, 404, 404, 404)),
    "draw_topic": ("POST", (401, 302, 302, 404, 404, 404, 404, 404)),
    "progress": ("GET", ORGANIZER),
    **dict.fromkeys(("alarms", "export_alarms"), ("GET", ORGANIZER)),
    **dict.fromkeys(("people", "person"), ("GET", ORGANIZER)),
    "set_languages": ("POST", (401, 404, 404, 302, 404, 404, 404, 404)),
    "set_role": ("POST", (401, 404, 404, 302, 404, 404, 404, 404)),
    "new_link": ("POST", (401, 404, 404, 200, 404, 404, 404, 404)),
    **dict.fromkeys(
        ("reset_factor", "change_activity", "end_invitation"), ("POST", (401, 404, 404, 302, 404, 404, 404, 404))
    ),
    "answer_invitation": ("POST", (401, 404, 404, 404, 404, 404, 404, 302)),  # offered to who has no role
    "questions": ("GET", ORGANIZER),
    "history": ("GET", ORGANIZER),
    "missing": ("GET", ("in", 404, 404, 302, 404, 404, 404, 404)),
    **dict.fromkeys(("topics", "topic", "passages", "runs", "run", "answer", "relevance_grades"), ("GET", ORGANIZER)),
    "find": ("GET", ORGANIZER),
    "export_missing": ("GET", ORGANIZER),
    "label_way": ("GET", ORGANIZER),
    "export_history": ("GET", ORGANIZER),
    "answer_question": ("POST", (401, 404, 404, 404, 404, 404, 404, 404)),
    "my_answers": ("GET", EVERYBODY),
    "prompts": ("GET", ORGANIZER),
    "import_prompts": ("GET", ORGANIZER),
    "exports": ("GET", ORGANIZER),
    "archive": ("GET", ORGANIZER),
    "make_archive": ("POST", (401, 404, 404, 302, 404, 404, 404, 404)),
    **dict.fromkeys(("choose_export", "export_file", "export", "made_file", "export_manifest"), ("GET", ORGANIZER)),
    **dict.fromkeys(("frozen_conditions", "frozen_condition", "frozen_bundle", "frozen_manifest"), ("GET", ORGANIZER)),
    "make_release": ("POST", (401, 404, 404, 302, 404, 404, 404, 404)),
    "make_paper": ("POST", (401, 404, 404, 302, 404, 404, 404, 404)),
    **dict.fromkeys(("comparisons_against", "joint_figure", "score_figures", "score_figure"), ("GET", ORGANIZER)),
    "registrations": ("GET", ORGANIZER),
    **dict.fromkeys(("registration", "registration_file"), ("GET", ORGANIZER)),
    **dict.fromkeys(("reusability", "reusability_table", "reusability_figure"), ("GET", ORGANIZER)),
    **dict.fromkeys(("nugget_items", "nugget_table", "nugget_figure"), ("GET", ORGANIZER)),
    **dict.fromkeys(("canaries", "canary_table"), ("GET", ORGANIZER)),
    **dict.fromkeys(("significance", "significance_table", "significance_figure"), ("GET", ORGANIZER)),
    **dict.fromkeys(("label_judges", "label_judges_table", "label_judges_figure"), ("GET", ORGANIZER)),
    **dict.fromkeys(("grade_judges", "grade_judges_table", "grade_judges_figure"), ("GET", ORGANIZER)),
    **dict.fromkeys(("next_edition", "next_edition_table", "next_edition_figure"), ("GET", ORGANIZER)),
    "topic_influence": ("GET", ("in", *(404,) * 7)),  # grades are compared, of no nuggets
    **dict.fromkeys(("bias", "bias_table", "bias_figure"), ("GET", ("in", *(404,) * 7))),  # nor have they scores
    "freeze_condition": ("POST", (401, 404, 404, 302, 404, 404, 404, 404)),
    "stop_export": ("POST", (401, 404, 404, 302, 404, 404, 404, 404)),
    "judges": ("GET", ORGANIZER),
    "new_judge": ("GET", ORGANIZER),
    "judge": ("GET", ORGANIZER),
    "try_judge": ("POST", (401, 404, 404, 302, 404, 404, 404, 404)),
    "jobs": ("GET", ORGANIZER),
    "launch_job": ("GET", ORGANIZER),
    "job": ("GET", ORGANIZER),
    "job_failures": ("GET", ("in", 404, 404, 302, 404, 404, 404, 404)),
    **{
        f"{verb}_job": ("POST", (401, 404, 404, 302, 404, 404, 404, 404))
        for verb in ("pause", "resume", "cancel", "retry")
    },
    "job_budget": ("POST", (401, 404, 404, 302, 404, 404, 404, 404)),
    "finish_job_live": ("POST", (401, 404, 404, 302, 404, 404, 404, 404)),
    "time_spent": ("POST", (401, 400, 404, 404, 404, 404, 404, 404)),
    "relevance": ("GET", OWNER_READS),
    "relevance_passage": ("GET", ("in", 200, 404, 404, 404, 404, 404, 404)),
    "relevance_judge": ("POST", OWNER_WRITES),
    "relevance_undo": ("POST", OWNER_WRITES),
    "relevance_draw": ("POST", (401, 200, 404, 404, 404, 404, 404, 404)),
    "relevance_show": ("POST", OWNER_WRITES),
    "nugget_editor": ("GET", OWNER_READS),
    # The owner labels nuggets of the topic blind, too.
    "nugget_trials": ("GET", ("in", *(404,) * 7)),
    "try_nugget": ("POST", (401, *(404,) * 7)),
    "trial_setting": ("GET", ORGANIZER),
    "nugget_add": ("POST", OWNER_WRITES),
    "nugget_keep": ("POST", OWNER_WRITES),
    "nugget_reword": ("POST", OWNER_WRITES),
    "nugget_importance": ("POST", OWNER_WRITES),
    "nugget_move": ("POST", OWNER_WRITES),
    "nugget_delete": ("POST", OWNER_WRITES),
    "nugget_attach": ("POST", OWNER_WRITES),
    "nugget_detach": ("POST", OWNER_WRITES),
    "nugget_split": ("POST", OWNER_WRITES),
    "nugget_note": ("POST", OWNER_WRITES),
    "nugget_gold_add": ("POST", OWNER_WRITES),
    "nugget_gold_reword": ("POST", OWNER_WRITES),
    "nugget_gold_remove": ("POST", OWNER_WRITES),
    "nugget_gold_cite": ("POST", OWNER_WRITES),
    "nugget_gold_uncite": ("POST", OWNER_WRITES),
    "nugget_aggregate": ("POST", OWNER_WRITES),
    "nugget_nest": ("POST", OWNER_WRITES),
    "nugget_merge": ("POST", OWNER_WRITES),
    "nugget_reading": ("POST", OWNER_WRITES),
    "nugget_read": ("POST", OWNER_WRITES),
    "nugget_undo": ("POST", OWNER_WRITES),
    "nugget_redo": ("POST", OWNER_WRITES),
    "nugget_finish": ("POST", OWNER_WRITES),
    "nugget_drafts": ("GET", ORGANIZER),
    "condition_drafts": ("GET", ORGANIZER),
    "editions": ("GET", ORGANIZER),
    "editions_file": ("GET", ORGANIZER),
    "export_drafts": ("GET", ORGANIZER),
    "nugget_reopen": ("POST", (401, 404, 404, 302, 404, 404, 404, 404)),
    "report_editor": ("GET", OWNER_READS),
    **{
        f"report_{verb}": ("POST", OWNER_WRITES)
        for verb in ("add", "take", "leave", "reword", "move", "undo", "redo", "sign")
    },
    "report_reopen": ("POST", (401, 404, 404, 302, 404, 404, 404, 404)),
    "assignment": ("GET", OWNER_READS),
    "assignment_answer": ("GET", ("in", 200, 404, 404, 404, 404, 404, 404)),
    "assignment_nugget": ("GET", ("in", 200, 404, 404, 404, 404, 404, 404)),
    **{
        f"assignment_{verb}": ("POST", OWNER_WRITES)
        for verb in ("label", "cannot", "flag", "mark", "show", "later", "sign_off")
    },
    "support": ("GET", OWNER_READS),
    "support_answer": ("GET", ("in", 200, 404, 404, 404, 404, 404, 404)),
    **{f"support_{verb}": ("POST", OWNER_WRITES) for verb in ("label", "cannot", "flag", "show", "later", "sign_off")},
    "argue": ("GET", OWNER_READS),
    "argue_report": ("GET", ("in", 200, 404, 404, 404, 404, 404, 404)),
    **{f"argue_{verb}": ("POST", OWNER_WRITES) for verb in ("label", "answers", "cannot", "flag", "later", "sign_off")},
    **dict.fromkeys(
        ("resolve_argue_label", "decide_argue_label", "adopt_preference", "decide_preference"),
        ("POST", (401, 404, 404, 404, 404, 404, 404, 404)),
    ),
    "preference": ("GET", OWNER_READS),
    "preference_answer": ("GET", ("in", 200, 404, 404, 404, 404, 404, 404)),
    **{f"preference_{verb}": ("POST", OWNER_WRITES) for verb in ("label", "cannot", "flag", "later", "sign_off")},
    # They lead to the inbox.
    **dict.fromkeys(
        ("assignment_questions", "support_questions", "argue_questions", "preference_questions"),
        ("GET", ("in", 404, 404, 302, 404, 404, 404, 404)),
    ),
    "resolve_label": ("POST", (401, 404, 404, 404, 404, 404, 404, 404)),
    "leave_nugget_out": ("POST", (401, 404, 404, 404, 404, 404, 404, 404)),
    "resolve_support_label": ("POST", (401, 404, 404, 404, 404, 404, 404, 404)),
    "leave_citation_out": ("POST", (401, 404, 404, 404, 404, 404, 404, 404)),
    "scores": ("GET", ORGANIZER),
    "export_scores": ("GET", ("in", 404, 404, 409, 404, 404, 404, 404)),  # not final: labels are missing
    "topic_scores": ("GET", ORGANIZER),
    "run_scores": ("GET", ORGANIZER),
    "support_pairs": ("GET", ORGANIZER),
    **dict.fromkeys(
        (
            "studies",
            "adjudication",
            "rejudging",
            "export_studies",
            "study",
            "ask_study",
            "study_figure",
            "export_study",
        ),
        ("GET", ORGANIZER),
    ),
    **dict.fromkeys(("give_study", "define_code", "code_item"), ("POST", (401, 404, 404, 302, 404, 404, 404, 404))),
    **dict.fromkeys(
        ("comparisons", "comparison", "comparison_topic", "comparison_file", "comparison_figure"), ("GET", ORGANIZER)
    ),
    **dict.fromkeys(("calibrations", "calibration", "calibration_file", "calibration_figure"), ("GET", ORGANIZER)),
    "calibration_gate": ("POST", (401, 404, 404, 200, 404, 404, 404, 404)),
    **dict.fromkeys(("hybrids", "hybrid", "hybrid_figure", "hybrid_file"), ("GET", ORGANIZER)),
    **dict.fromkeys(("panels", "panel", "panel_file"), ("GET", ORGANIZER)),
    **dict.fromkeys(("bank_matchings", "matched_banks", "matched_topic", "matched_banks_file"), ("GET", ORGANIZER)),
    **dict.fromkeys(("candidates", "topic_candidates", "candidates_file"), ("GET", ORGANIZER)),
    **dict.fromkeys(("sensitivities", "sensitivity", "sensitivity_file", "sensitivity_figure"), ("GET", ORGANIZER)),
    **dict.fromkeys(("control_sets", "control_set", "export_control_set"), ("GET", ORGANIZER)),
    "ask_control_set": ("POST", (401, 404, 404, 302, 404, 404, 404, 404)),
    "import_table": ("POST", (401, 404, 404, 200, 404, 404, 404, 404)),
    "compute_again": ("POST", (401, 404, 404, 302, 404, 404, 404, 404)),
}
# Pages that an organizer's own POST reaches too: refused to everybody else just the same.
POSTED = ("new_campaign", "protocol", "new_condition", "setup", "imports", "plan_give", "new_judge", "judge")
POSTED += ("launch_job", "trial_setting")
POSTED += (
    "import_prompts",
    "webhooks",
    "studies",
    "adjudication",
    "rejudging",
    "ask_study",
    "comparisons",
    "calibrations",
    "choose_export",
)
POSTED += ("hybrids", "panels", "panel", "bank_matchings", "matched_topic")
POSTED += ("sensitivities", "sensitivity", "control_sets", "control_set")


def named_patterns() -> list[URLPattern]:
    """Return every address of the project, but the admin's and the API's (they have tests of their own)."""
    patterns, todo = [], list(get_resolver().url_patterns)
    while todo:
        pattern = todo.pop()
        if isinstance(pattern, URLPattern):
            patterns.append(pattern)
        elif isinstance(pattern, URLResolver) and pattern.app_name not in ("admin", "api"):
            todo.extend(pattern.url_patterns)
    return patterns


def test_the_table_names_every_address():
    assert sorted(TABLE) == sorted(pattern.name for pattern in named_patterns())


@pytest.fixture
def noone(db: None) -> Person:
    return make_person("noone")


@pytest.fixture
def addresses(bank: NuggetBank, campaign: Campaign, condition: Condition, import_file, noone: Person) -> dict[str, str]:
    answer = [{"text": "Cats purr.", "citations": [0]}]
    import_file(campaign, "runs", [{"run_id": "r", "topic_id": "t1", "references": ["d1"], "answer": answer}])
    import_file(campaign, "retrieval", "t1 Q0 d1 1 2.5 bm25\n")
    import_file(campaign, "qrels", "t1 0 d1 1\n", source="Mia's", by="model")
    import_file(
        campaign, "nuggets", [{"query": "", "qid": "t1", "nuggets": [{"text": "a"}]}], condition="N", by="people"
    )
    import_file(campaign, "support", [support_line("t1", "r", cites("Cats purr."))], condition="S", by="people")
    manual = create_manual_assign(nuggets=campaign.conditions.get(name="N"), name="N/Manual", acting_user=None)
    assigning = give(manual, bank.topic, bank.task.person)
    sheet = judged(assigning)
    judging = give(post_edited(campaign, {"r": {"0.0": "none"}}), bank.topic, bank.task.person)
    cited = judged(judging)
    import_file(campaign, "questions", [questions_on(HEAL)], condition="Questions", by="people")
    reports = give(judged_by_people(campaign.conditions.get(name="Questions")), bank.topic, bank.task.person)
    report = judged(reports)
    [waiting] = put_in_queue(topics=[bank.topic], condition=from_scratch(campaign), acting_user=None)
    grading = give_relevance(campaign, bank.task.person, shown=campaign.qrels_sources.get(name="Mia's"))
    passage = grading.condition.relevance_judgments.earliest("pk")
    people.load_run(campaign, import_file, "other", {"t1": "Cats purr when content."})
    comparing = give(people.condition(campaign), bank.topic, bank.task.person)
    [pair] = people.pairs_of(comparing)
    sources = [campaign.qrels_sources.get(name=name) for name in ("NIST", "Mia's")]
    compared = run(
        create_comparison(campaign=campaign, first=sources[0], second=sources[1], acting_user=None)
    ).comparison
    said = models_condition(campaign, "people's", by="people")
    label_as_model(said, {"r": {"0.0": "full"}})
    calibrated = create_calibration(
        campaign=campaign, human=said, judged=campaign.conditions.get(name="Mia's", kind="support"), acting_user=None
    )
    people_say, model_says = (campaign.conditions.get(name=name) for name in ("S", "Mia's"))
    hybrid = create_hybrid(campaign=campaign, human=people_say, model=model_says, acting_user=None)
    members = [model_says, models_condition(campaign, "another's")]
    panel = create_panel(campaign=campaign, members=members, rule=Rule.UNANIMOUS, acting_user=None)
    other_bank = {"query": "", "qid": "t1", "nuggets": [{"text": "b"}]}
    import_file(campaign, "nuggets", [other_bank], condition="Other N", by="people")
    banks = f"/campaigns/{campaign.slug}/banks/{match_all(campaign, 'N', 'Other N', 'Matched').pk}"
    lacking = f"/campaigns/{campaign.slug}/candidates/{look_for_all(campaign, 'N', said.name, 'Candidates').pk}"
    varied = vary(campaign.conditions.get(name="N"))
    control = make_control_set(auto_condition(campaign.conditions.get(name="N"), "Watched"))
    frozen = freeze(condition=campaign.conditions.get(name="N"), acting_user=None)
    made = export(ask_for(campaign=campaign, kind=BY_NAME["topics"], options={}, acting_user=None))
    base, task = f"/campaigns/{campaign.slug}", bank.task
    own = create_manual_assign(nuggets=condition, name="Manual/Manual", acting_user=None)
    [planned] = plan_work(condition=own, topics=[bank.topic], person=task.person, acting_user=None).waiting
    assert task is not None
    edits = make_condition(make_model(campaign))
    job = draft(edits, [bank.topic], ["a"])
    [edited] = give_tasks(campaign=campaign, topics=[bank.topic], condition=edits, person=task.person, acting_user=None)
    study = coded_study(campaign, "r", "t1")
    studies = f"{base}/studies/{study.pk}"
    registered = register(campaign).pk
    invitation = Invitation.objects.create(
        campaign=campaign, person=noone, role=Role.ASSESSOR, invited_by=make_person("inviter")
    )
    reminder = Reminder.objects.create(task=task, person=task.person)
    uid = "0b0e7b3c-8a3e-4c58-9d4a-2f6f0e9f8a11"
    assert bank.task is not None
    misled = label_canaries(auto_condition(campaign.conditions.get(name="N"))).pk
    edited_report = edit_elsewhere(campaign, bank.task.person)
    old = inherit(campaign, [bank.topic]).pk
    webhook = make_webhook(campaign).pk
    return {
        "home": "/",
        "account_login": "/login/",
        "mfa_authenticate": "/login/code/",
        "mfa_login_webauthn": "/login/passkey/",
        "account_logout": "/logout/",
        "account_reauthenticate": "/confirm/",
        "mfa_reauthenticate": "/confirm/code/",
        "mfa_reauthenticate_webauthn": "/confirm/passkey/",
        "account_change_password": "/password/",
        "account_reset_password": "/password/forgotten/",
        "account_reset_password_done": "/password/mailed/",
        "account_reset_password_from_key": "/password/link/1/x/",
        "account_email": "/mail-address/",
        "account_confirm_email": "/mail-address/x/",
        "mfa_index": "/security/",
        "mfa_activate_totp": "/security/app/",
        "mfa_deactivate_totp": "/security/app/off/",
        "mfa_view_recovery_codes": "/security/recovery-codes/",
        "mfa_generate_recovery_codes": "/security/recovery-codes/new/",
        "mfa_add_webauthn": "/security/passkeys/add/",
        "mfa_edit_webauthn": "/security/passkeys/1/rename/",
        "mfa_remove_webauthn": "/security/passkeys/1/remove/",
        "sign_on": "/sso/",
        "sign_on_callback": "/sso/callback/",
        "link_account": "/sso/link/",
        "unlink_account": "/sso/1/unlink/",
        "require_second_factor": f"{base}/second-factor/",
        "habits": "/me/",
        "metrics": "/metrics",
        "guidelines": "/guidelines/nuggets/",
        "task_guidelines": f"/work/{task.pk}/guidelines/",
        "campaign_guidelines": f"{base}/guidelines/",
        "edit_guidelines": f"{base}/guidelines/nuggets/",
        "preview_guidelines": f"{base}/guidelines/nuggets/preview/",
        "guidelines_version": f"{base}/guidelines/nuggets/1/",
        "api": "/api/",
        "tokens": "/tokens/",
        "revoke_token": f"/tokens/{make_token(bank.task.person).pk}/revoke/",
        "practice": f"{base}/practice/",
        "practice_feedback": f"/practice/{task.pk}/",
        "mark_practice": f"{base}/practice/topics/",
        "practice_reference": f"{base}/practice/{manual.pk}/",
        "name_practice_reference": f"{base}/practice/{manual.pk}/name/",
        "new_campaign": "/new-campaign/",
        "campaign": f"{base}/",
        "protocol": f"{base}/settings/",
        "security": f"{base}/settings/security/",
        "webhooks": f"{base}/settings/webhooks/",
        "test_webhook": f"{base}/settings/webhooks/{webhook}/test/",
        "renew_webhook": f"{base}/settings/webhooks/{webhook}/secret/",
        "remove_webhook": f"{base}/settings/webhooks/{webhook}/remove/",
        "old_protocol": f"{base}/protocol/",
        "glossary": "/glossary/",
        "conditions": f"{base}/conditions/",
        "condition": f"{base}/conditions/{manual.pk}/",
        "new_condition": f"{base}/conditions/new/",
        "control_runs": f"{base}/control-runs/",
        "add_passages": f"{base}/passages-to-grade/",
        "reports": f"{base}/reports/",
        "setup": f"{base}/setup/",
        "imports": f"{base}/imports/",
        "import_held": f"{base}/imports/held/",
        "import_report": f"{base}/imports/{Import.objects.last().pk}/",
        "report_file": f"{base}/imports/{Import.objects.last().pk}/report.json",
        "stop_import": f"{base}/imports/{Import.objects.last().pk}/stop/",
        "plan": f"{base}/plan/",
        "advance_plan": f"{base}/plan/advance/",
        "plan_give": f"{base}/plan/give/",
        "plan_piece": f"{base}/plan/work/{condition.pk}/{bank.topic_id}/",
        "plan_runs": f"{base}/plan/runs/",
        "plan_hours": f"{base}/plan/hours/",
        "draws": f"{base}/plan/draws/",
        "effort": f"{base}/effort/",
        "effort_figure": f"{base}/effort/figures/hours.svg",
        "allocate_plan": f"{base}/plan/allocate/",
        "export_plan": f"{base}/plan/plan.csv",
        "take_back_planned": f"{base}/plan/planned/{planned.pk}/take-back/",
        "remind": f"{base}/tasks/{task.pk}/remind/",
        "reminder_seen": f"/reminders/{reminder.pk}/seen/",
        "withdraw_task": f"{base}/plan/{task.pk}/withdraw/",
        "take_out_of_queue": f"{base}/plan/waiting/{waiting.pk}/take-out/",
        "draw_topic": f"/queues/{waiting.condition_id}/draw/",
        "progress": f"{base}/progress/",
        "alarms": f"{base}/alarms/",
        "export_alarms": f"{base}/alarms/alarms.csv",
        "people": f"{base}/people/",
        "person": f"{base}/people/{task.person_id}/",
        "set_languages": f"{base}/people/{task.person_id}/languages/",
        "set_role": f"{base}/people/{task.person_id}/role/",
        "new_link": f"{base}/people/{task.person_id}/link/",
        "reset_factor": f"{base}/people/{task.person_id}/second-factor/",
        "change_activity": f"{base}/people/{task.person_id}/active/",
        "end_invitation": f"{base}/invitations/{invitation.pk}/end/",
        "answer_invitation": f"/invitations/{invitation.pk}/",
        "questions": f"{base}/asked/",
        "history": f"{base}/history/",
        "missing": f"{base}/missing/cited/",
        **{name: f"{base}/{name}/" for name in ("topics", "passages", "runs", "find")},
        "relevance_grades": f"{base}/relevance/",
        "topic": f"{base}/topics/{bank.topic_id}/",
        "run": f"{base}/runs/{campaign.runs.get(tag='r').pk}/",
        "answer": f"{base}/runs/{campaign.runs.get(tag='r').pk}/{bank.topic_id}/",
        "export_missing": f"{base}/missing/runs.csv",
        "label_way": f"{base}/labels/assignment/{sheet.pk}/{sheet.bank.nuggets.get().pk}/",
        "export_history": f"{base}/history.csv",
        "answer_question": f"{base}/asked/answer/",
        "my_answers": "/answers/",
        "prompts": f"{base}/prompts/",
        "import_prompts": f"{base}/prompts/import/",
        "exports": f"{base}/exports/",
        "archive": f"{base}/archive/",
        "make_archive": f"{base}/archive/make/",
        "choose_export": f"{base}/exports/nuggets/",
        "export_file": f"{base}/exports/nuggets/file/?of={condition}",
        "export": f"{base}/exports/made/{made.pk}/",
        "made_file": f"{base}/exports/made/{made.pk}/file",
        "export_manifest": f"{base}/exports/made/{made.pk}/manifest.json",
        "stop_export": f"{base}/exports/made/{made.pk}/stop/",
        "make_release": f"{base}/release/",
        "make_paper": f"{base}/paper/",
        "comparisons_against": f"{base}/comparisons/against/{side_key(compared.first)}/",
        "joint_figure": f"{base}/comparisons/against/{side_key(compared.first)}/figures/matrices.json",
        "frozen_conditions": f"{base}/frozen/",
        "frozen_condition": f"{base}/frozen/{frozen.condition_id}/",
        "freeze_condition": f"{base}/frozen/{frozen.condition_id}/freeze/",
        "frozen_bundle": f"{base}/frozen/{frozen.condition_id}/1.zip",
        "frozen_manifest": f"{base}/frozen/{frozen.condition_id}/1.json",
        "judges": f"{base}/judges/",
        "new_judge": f"{base}/judges/new/",
        "judge": f"{base}/judges/{job.judge_id}/",
        "try_judge": f"{base}/judges/{job.judge_id}/try/",
        "jobs": f"{base}/jobs/",
        "launch_job": f"{base}/jobs/new/",
        "job": f"{base}/jobs/{job.pk}/",
        "job_failures": f"{base}/jobs/{job.pk}/failures/",
        "job_budget": f"{base}/jobs/{job.pk}/budget/",
        "finish_job_live": f"{base}/jobs/{job.pk}/finish-live/",
        **{f"{verb}_job": f"{base}/jobs/{job.pk}/{verb}/" for verb in ("pause", "resume", "cancel", "retry")},
        "time_spent": f"/work/{task.pk}/time/",
        "relevance": f"/relevance/{grading.pk}/",
        "relevance_passage": f"/relevance/{grading.pk}/answers/{passage.pk}/",
        **{f"relevance_{verb}": f"/relevance/{grading.pk}/{verb}/" for verb in ("judge", "undo", "draw", "show")},
        "nugget_editor": f"/nuggets/{bank.pk}/",
        "nugget_trials": f"/nuggets/{bank.pk}/trials/",
        "try_nugget": f"/nuggets/{bank.pk}/trials/{uid}/",
        "trial_setting": f"{base}/conditions/{edits.pk}/trials/",
        "nugget_add": f"/nuggets/{bank.pk}/add/",
        "nugget_keep": f"/nuggets/{bank.pk}/{uid}/keep/",
        "nugget_reword": f"/nuggets/{bank.pk}/{uid}/reword/",
        "nugget_importance": f"/nuggets/{bank.pk}/{uid}/importance/",
        "nugget_move": f"/nuggets/{bank.pk}/{uid}/move/",
        "nugget_delete": f"/nuggets/{bank.pk}/{uid}/delete/",
        **{f"nugget_{verb}": f"/nuggets/{bank.pk}/{uid}/{verb}/" for verb in ("attach", "detach", "split", "note")},
        **{
            f"nugget_{verb}": f"/nuggets/{bank.pk}/{uid}/{verb}/"
            for verb in ("gold_add", "gold_reword", "gold_remove", "gold_cite", "gold_uncite", "aggregate", "nest")
        },
        **{f"nugget_{verb}": f"/nuggets/{bank.pk}/{verb}/" for verb in ("merge", "reading", "read", "reopen")},
        "nugget_drafts": f"/nuggets/{edited.nugget_bank.pk}/drafts/",
        "condition_drafts": f"{base}/drafts/{edits.pk}/",
        "editions": f"{base}/editions/{old}/",
        "editions_file": f"{base}/editions/{old}/files/changes",
        "export_drafts": f"{base}/drafts/{edits.pk}.csv",
        "report_editor": f"/reports/{edited_report.pk}/",
        **{
            f"report_{verb}": f"/reports/{edited_report.pk}/{verb}/"
            for verb in ("add", "undo", "redo", "sign", "reopen")
        },
        **{
            f"report_{verb}": f"/reports/{edited_report.pk}/{uid}/{verb}/"
            for verb in ("take", "leave", "reword", "move")
        },
        "assignment": f"/assign/{assigning.pk}/",
        "assignment_answer": f"/assign/{assigning.pk}/answers/{sheet.pk}/",
        "assignment_nugget": f"/assign/{assigning.pk}/nuggets/{sheet.bank.nuggets.get().pk}/",
        "assignment_sign_off": f"/assign/{assigning.pk}/sign-off/",
        **{
            f"assignment_{verb}": f"/assign/{assigning.pk}/answers/{sheet.pk}/{verb}/"
            for verb in ("label", "cannot", "flag", "mark", "show", "later")
        },
        "support": f"/support/{judging.pk}/",
        "support_answer": f"/support/{judging.pk}/answers/{cited.pk}/",
        "support_sign_off": f"/support/{judging.pk}/sign-off/",
        **{
            f"support_{verb}": f"/support/{judging.pk}/answers/{cited.pk}/{verb}/"
            for verb in ("label", "cannot", "flag", "show", "later")
        },
        "argue": f"/argue/{reports.pk}/",
        "argue_report": f"/argue/{reports.pk}/answers/{report.pk}/",
        "argue_sign_off": f"/argue/{reports.pk}/sign-off/",
        **{
            f"argue_{verb}": f"/argue/{reports.pk}/answers/{report.pk}/{verb}/"
            for verb in ("label", "answers", "cannot", "flag", "later")
        },
        "argue_questions": f"{base}/argue-questions/{reports.condition_id}/",
        "resolve_argue_label": f"{base}/argue-questions/{reports.condition_id}/adopt/",
        "decide_argue_label": f"{base}/argue-questions/{reports.condition_id}/decide/",
        "preference": f"/compare/{comparing.pk}/",
        "preference_answer": f"/compare/{comparing.pk}/answers/{pair.pk}/",
        "preference_sign_off": f"/compare/{comparing.pk}/sign-off/",
        **{
            f"preference_{verb}": f"/compare/{comparing.pk}/answers/{pair.pk}/{verb}/"
            for verb in ("label", "cannot", "flag", "later")
        },
        "assignment_questions": f"{base}/questions/{assigning.condition_id}/",
        "resolve_label": f"{base}/questions/{assigning.condition_id}/adopt/",
        "leave_nugget_out": f"{base}/questions/{assigning.condition_id}/leave-out/",
        "support_questions": f"{base}/support-questions/{judging.condition_id}/",
        "resolve_support_label": f"{base}/support-questions/{judging.condition_id}/adopt/",
        "leave_citation_out": f"{base}/support-questions/{judging.condition_id}/leave-out/",
        "preference_questions": f"{base}/preference-questions/{comparing.condition_id}/",
        "adopt_preference": f"{base}/preference-questions/{comparing.condition_id}/adopt/",
        "decide_preference": f"{base}/preference-questions/{comparing.condition_id}/decide/",
        "scores": f"{base}/scores/",
        "export_scores": f"{base}/scores/{assigning.condition_id}.csv",
        "topic_scores": f"{base}/scores/{assigning.condition_id}/topics/{bank.topic_id}/",
        "run_scores": f"{base}/scores/{assigning.condition_id}/runs/{campaign.runs.get(tag='r').pk}/",
        "score_figures": f"{base}/scores/{assigning.condition_id}/figures/",
        "score_figure": f"{base}/scores/{assigning.condition_id}/figures/length.json",
        "reusability": f"{base}/scores/{assigning.condition_id}/reusability/",
        "reusability_table": f"{base}/scores/{assigning.condition_id}/reusability/table.csv",
        "reusability_figure": f"{base}/scores/{assigning.condition_id}/reusability/figures/teams.json",
        "canaries": f"{base}/scores/{misled}/canaries/",
        "canary_table": f"{base}/scores/{misled}/canaries/table.csv",
        "nugget_items": f"{base}/scores/{assigning.condition_id}/nuggets/",
        "nugget_table": f"{base}/scores/{assigning.condition_id}/nuggets/table.csv",
        "nugget_figure": f"{base}/scores/{assigning.condition_id}/nuggets/figures/items.json",
        "significance": f"{base}/scores/{assigning.condition_id}/significance/",
        "significance_table": f"{base}/scores/{assigning.condition_id}/significance/tables/runs.csv",
        "significance_figure": f"{base}/scores/{assigning.condition_id}/significance/figures/means.json",
        "label_judges": f"{base}/scores/{assigning.condition_id}/judges/",
        "label_judges_table": f"{base}/scores/{assigning.condition_id}/judges/tables/pairs.csv",
        "label_judges_figure": f"{base}/scores/{assigning.condition_id}/judges/figures/shares.json",
        "grade_judges": f"{base}/relevance/{compared.first.pk}/judges/",
        "grade_judges_table": f"{base}/relevance/{compared.first.pk}/judges/tables/labels.csv",
        "grade_judges_figure": f"{base}/relevance/{compared.first.pk}/judges/figures/kappa.json",
        "next_edition": f"{base}/scores/{assigning.condition_id}/next-edition/",
        "next_edition_table": f"{base}/scores/{assigning.condition_id}/next-edition/plan.csv",
        "next_edition_figure": f"{base}/scores/{assigning.condition_id}/next-edition/figures/plan.json",
        "registrations": f"{base}/registrations/",
        "registration": f"{base}/registrations/{registered}/",
        "registration_file": f"{base}/registrations/{registered}/registration.json",
        "support_pairs": f"{base}/pairs/?topic={bank.topic_id}",
        "studies": f"{base}/studies/",
        "adjudication": f"{base}/adjudication/",
        "rejudging": f"{base}/rejudging/",
        "export_studies": f"{base}/studies.csv",
        "study": f"{studies}/",
        "ask_study": f"{studies}/ask/",
        "give_study": f"{studies}/give/",
        "define_code": f"{studies}/codes/",
        "code_item": f"{studies}/items/{study.drawn.get().pk}/",
        "export_study": f"{studies}/export/items.csv",
        "study_figure": f"{studies}/figures/kappa.svg",
        "bank_matchings": f"{base}/banks/",
        "matched_banks": f"{banks}/",
        "matched_topic": f"{banks}/topics/{bank.topic.pk}/",
        "matched_banks_file": f"{banks}/files/csv",
        "candidates": f"{lacking}/",
        "topic_candidates": f"{lacking}/topics/{bank.topic.pk}/",
        "candidates_file": f"{lacking}/files/csv",
        "control_sets": f"{base}/control-sets/",
        "control_set": f"{base}/control-sets/{control.pk}/",
        "ask_control_set": f"{base}/control-sets/{control.pk}/ask/",
        "export_control_set": f"{base}/control-sets/{control.pk}/export/csv",
        "panels": f"{base}/panels/",
        "sensitivities": f"{base}/sensitivity/",
        "sensitivity": f"{base}/sensitivity/{varied.pk}/",
        "sensitivity_file": f"{base}/sensitivity/{varied.pk}/files/json",
        "sensitivity_figure": f"{base}/sensitivity/{varied.pk}/figures/ranks.json",
        "panel": f"{base}/panels/{panel.pk}/",
        "panel_file": f"{base}/panels/{panel.pk}/files/csv",
        "hybrids": f"{base}/hybrids/",
        "hybrid": f"{base}/hybrids/{hybrid.pk}/",
        "hybrid_figure": f"{base}/hybrids/{hybrid.pk}/figures/intervals.json",
        "hybrid_file": f"{base}/hybrids/{hybrid.pk}/files/csv",
        "comparisons": f"{base}/comparisons/",
        "import_table": f"{base}/comparisons/tables/",
        "comparison": f"{base}/comparisons/{compared.pk}/",
        "compute_again": f"{base}/comparisons/{compared.pk}/again/",
        "comparison_topic": f"{base}/comparisons/{compared.pk}/topics/{bank.topic_id}/",
        "topic_influence": f"{base}/comparisons/{compared.pk}/topics/{bank.topic_id}/influence.csv",
        "bias": f"{base}/comparisons/{compared.pk}/bias/",
        "bias_table": f"{base}/comparisons/{compared.pk}/bias/table.csv",
        "bias_figure": f"{base}/comparisons/{compared.pk}/bias/figures/families.json",
        "comparison_file": f"{base}/comparisons/{compared.pk}/files/labels.csv",
        "comparison_figure": f"{base}/comparisons/{compared.pk}/figures/labels.json",
        "calibrations": f"{base}/calibrations/",
        "calibration_gate": f"{base}/calibrations/gate/",
        "calibration": f"{base}/calibrations/{calibrated.pk}/",
        "calibration_file": f"{base}/calibrations/{calibrated.pk}/files/csv",
        "calibration_figure": f"{base}/calibrations/{calibrated.pk}/figures/reliability.json",
        "nugget_undo": f"/nuggets/{bank.pk}/undo/",
        "nugget_redo": f"/nuggets/{bank.pk}/redo/",
        "nugget_finish": f"/nuggets/{bank.pk}/finish/",
    }


@pytest.fixture
def clients(anna: Person, ben: Person, olga: Person, otto: Person, admin: Person, noone: Person) -> dict[str, Client]:
    people = {"anna": anna, "ben": ben, "olga": olga, "otto": otto, "admin": admin}
    people |= {
        "else": make_person("else"),
        "noone": Person.objects.filter(username="noone").first() or make_person("noone"),
    }
    other = create_campaign(name="Elsewhere", slug="elsewhere", acting_user=otto)
    other.memberships.filter(role=Role.ASSESSOR).delete()  # all assessors of tests belong to it at first
    add_member(campaign=other, person=people["else"], role=Role.ASSESSOR, acting_user=otto)
    return {"nobody": Client()} | {name: client_of(person) for name, person in people.items()}


def outcome(client: Client, method: str, address: str) -> Any:
    response = client.generic(method, address)
    if response.streaming:
        b"".join(response.streaming_content)
    return "in" if response.status_code == 302 and response["Location"].startswith("/login/") else response.status_code


def found_at(address: str, method: str, clients: dict[str, Client]) -> dict[str, Any]:
    """Return what each role gets at an address, and undo what that did."""
    # Reads first, and the organizer's writes last of all, so that none changes what the next one meets.
    with transaction.atomic():
        found = {role: outcome(clients[role], method, address) for role in ROLES if role != "olga"}
        found["olga"] = outcome(clients["olga"], method, address)
        transaction.set_rollback(True)
    return found


def test_every_address_by_every_role(addresses: dict[str, str], clients: dict[str, Client]):
    wrong = {}
    for name in sorted(TABLE, key=lambda name: name == "account_logout"):  # last: it takes the clients' cookies away
        method, expected = TABLE[name]
        wanted = dict(zip(ROLES, expected, strict=True))
        if name == "account_logout":
            wanted = {role: ("in" if code == 302 else code) for role, code in wanted.items()}
        found = found_at(addresses[name], method, clients)
        if found != wanted:
            wrong[name] = (found, wanted)
    assert wrong == {}, wrong


def test_an_organizers_forms_take_nothing_from_others(addresses: dict[str, str], clients: dict[str, Client]):
    for name in POSTED:
        allowed = {"olga", "otto", "admin"} if name == "new_campaign" else {"olga"}
        wanted = {role: 200 if role in allowed else 401 if role == "nobody" else 404 for role in ROLES}
        assert found_at(addresses[name], "POST", clients) == wanted, name


@pytest.fixture
def _statuses_alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Refuse without a page and a line in the log, which take a third of the time: the table above gets both."""
    monkeypatch.setattr(
        errors, "render", lambda request, template, context=None, status=200: HttpResponse(status=status)
    )
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.usefixtures("_statuses_alone")
def test_neither_another_method_nor_a_script_lets_others_in(addresses: dict[str, str], clients: dict[str, Client]):
    """What isn't theirs stays closed, however they ask: as a form, or as the page's own scripts do."""
    as_script = {"HX-Request": "true"}
    opened = []
    for name, (method, expected) in TABLE.items():
        ways: list[tuple[str, dict[str, str]]] = [("GET", as_script), ("POST", as_script)]
        if method == "GET":  # that forms which are posted are closed is in the table
            ways.append(("POST", {}))
        with transaction.atomic():
            for role, code in zip(ROLES, expected, strict=True):
                if code not in ("in", 401, 404) or name == "mfa_authenticate":  # which is nobody's in particular
                    continue
                for asked, headers in ways:
                    found = clients[role].generic(asked, addresses[name], headers=headers).status_code
                    if found not in (401, 403, 404, 405):
                        opened.append((name, role, asked, headers, found))
            transaction.set_rollback(True)
    assert opened == []


def test_objects_of_another_campaign_are_404_under_ones_own(addresses: dict[str, str], otto: Person, bank: NuggetBank):
    create_campaign(name="Other", slug="other", acting_user=otto)
    client = client_of(otto)
    for name in (
        "import_report",
        "report_file",
        "export_file",
        "export",
        "made_file",
        "export_manifest",
        "frozen_condition",
        "frozen_bundle",
        "frozen_manifest",
        "condition_drafts",
        "export_drafts",
        "editions",
        "editions_file",
        "assignment_questions",
        "support_questions",
        "argue_questions",
        "preference_questions",
        "label_way",
        "export_scores",
        "topic_scores",
        "run_scores",
        "score_figures",
        "score_figure",
        "reusability",
        "reusability_table",
        "reusability_figure",
        "canaries",
        "canary_table",
        "nugget_items",
        "nugget_table",
        "nugget_figure",
        "significance",
        "significance_table",
        "significance_figure",
        "label_judges",
        "label_judges_table",
        "label_judges_figure",
        "grade_judges",
        "grade_judges_table",
        "grade_judges_figure",
        "next_edition",
        "next_edition_table",
        "next_edition_figure",
        "registration",
        "registration_file",
        "support_pairs",
        "plan_piece",
        "matched_banks",
        "matched_topic",
        "matched_banks_file",
        "candidates",
        "topic_candidates",
        "candidates_file",
        "panel",
        "panel_file",
        "sensitivity",
        "sensitivity_file",
        "sensitivity_figure",
        "control_set",
        "export_control_set",
        "hybrid",
        "hybrid_figure",
        "hybrid_file",
        "comparison",
        "comparison_topic",
        "topic_influence",
        "bias",
        "bias_table",
        "bias_figure",
        "comparison_file",
        "comparison_figure",
        "calibration",
        "calibration_file",
        "calibration_figure",
        "comparisons_against",
        "joint_figure",
        "judge",
        "job",
        "job_failures",
        "study",
        "ask_study",
        "export_study",
        "study_figure",
    ):
        own = addresses[name].replace("/campaigns/study/", "/campaigns/other/")
        assert outcome(client, "GET", own) == 404, name
    for name in (
        "stop_import",
        "stop_export",
        "freeze_condition",
        "withdraw_task",
        "remind",
        "take_out_of_queue",
        "take_back_planned",
        "try_judge",
        "pause_job",
        "retry_job",
        "job_budget",
        "finish_job_live",
        "give_study",
        "define_code",
        "code_item",
        "compute_again",
    ):
        own = addresses[name].replace("/campaigns/study/", "/campaigns/other/")
        assert outcome(client, "POST", own) == 404, name


def test_the_admin_is_open_to_administrators_alone(clients: dict[str, Client]):
    for role in ROLES:
        for address in ("/admin/", "/admin/accounts/person/", "/admin/nuggets/nugget/"):
            response = clients[role].get(address, follow=True)
            if role == "nobody":
                assert response.redirect_chain[-1][0].startswith("/login/?next=/admin/")
            else:
                assert response.status_code == (200 if role == "admin" else 404), role
