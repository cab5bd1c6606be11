"""No page asks more of a larger campaign: every address that answers a GET, by every role, and the whole admin.

The pages are found by walking the addresses, so that none can be forgotten: a new address without an example here
fails the test, and whatever it answers is measured from then on.
"""

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from itertools import zip_longest
from math import inf
from typing import Any, NamedTuple
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.apps import apps
from django.contrib import admin as django_admin
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns.actions import create_campaign, create_condition, judge_of
from assessor.campaigns.models import Answer, Campaign, Condition, Invitation, Judge, Role
from assessor.exports import actions as exporting
from assessor.exports.freeze import freeze
from assessor.exports.models import Export, Frozen
from assessor.exports.pseudonyms import pseudonyms
from assessor.exports.registry import BY_NAME, EXPORTABLES
from assessor.labels.manual_setups import label_again
from assessor.llm.models import CampaignPromptSet, Unit
from assessor.plan.models import Planned
from assessor.relevance.models import RelevanceJudgment
from assessor.runtime.process_cache import cache
from assessor.studies.actions import create_panel, draw_routing, let_people_judge
from assessor.studies.models import ControlSet, Sensitivity
from assessor.training.models import Reference
from assessor.work.actions import draw_next, give_tasks, put_in_queue
from assessor.work.actions.guidelines import change_guidelines, in_force
from assessor.work.blindness import record_exposure
from assessor.work.models import Draw, Reminder, Reply, ReplyRead, Scope, Task, TimeSpent, Waiting
from assignment.actions import create_manual_assign
from metaeval.actions import (
    create_calibration,
    create_comparison,
    create_hybrid,
    request_calibration,
    run,
    set_calibration_gate,
)
from metaeval.models import CalibrationGate, Comparison, Hybrid, ScoreTable
from metaeval.queries import side_key
from metaeval.stats.panels import Rule
from nuggets import actions
from nuggets.models import BankEdition, NuggetBank
from nuggets.reports.models import EditedReport
from support.actions import add_sheets, create_support, sheet_row
from tests.api.tokens import make_token
from tests.assignment.argue.conftest import attested, report
from tests.assignment.argue.judging_helpers import judged_by_people
from tests.assignment.inherited import inherit
from tests.assignment.scored import auto_condition, label_canaries, vary
from tests.assignment.trials.model import try_on
from tests.candidates.model import look_for_all
from tests.conftest import Importer, client_of, make_person, open_guidelines
from tests.judging import all_judged, asked, change, give, given, judgeable, leave_out
from tests.llm.records import leave_traces
from tests.matching.model import match_all
from tests.notices.records import make_webhook
from tests.nuggets.conftest import ON_A_NUGGET, do, fill
from tests.nuggets.model import draft, make_condition, make_model
from tests.preference import people
from tests.preference.model import compare
from tests.questions import banks
from tests.relevance.conftest import give_relevance, judge_item
from tests.reports.model import edit_elsewhere, write
from tests.studies.conftest import coded_study, register
from tests.studies.control import make_control_set
from tests.support.judging_helpers import label_as_model, models_condition
from tests.support.lines import FULL, cites
from tests.support.lines import line as support_line
from tests.support.test_own_texts import run_with_documents

SMALL, LARGE = 2, 4
# No page: it reads everything, and of each comparison that was computed whether it is that of the present labels.
READS_ALL = {"archive_file"}
UNSAFE = {
    "account_logout",
    "control_runs",
    "add_passages",
    "reports",
    "stop_import",
    "import_held",
    "withdraw_task",
    "time_spent",
}  # these answer POSTs only, as do:
UNSAFE |= {"take_out_of_queue", "draw_topic", "preview_guidelines", "mark_practice", "name_practice_reference"}
UNSAFE |= {"revoke_token", "require_second_factor", "sign_on", "link_account", "unlink_account"}
UNSAFE |= {"answer_question", "ask_control_set"}
UNSAFE |= {f"{verb}_webhook" for verb in ("test", "renew", "remove")}
UNSAFE |= {
    "set_role",
    "set_languages",
    "new_link",
    "reset_factor",
    "change_activity",
    "end_invitation",
    "answer_invitation",
}
UNSAFE |= {"stop_export", "freeze_condition", "make_release", "make_archive", "make_paper"}
UNSAFE |= {"advance_plan", "take_back_planned", "remind", "reminder_seen"}
UNSAFE |= {
    f"nugget_{verb}" for verb in ("add", "keep", "reword", "importance", "move", "delete", "undo", "redo", "finish")
}
UNSAFE |= {f"report_{verb}" for verb in ("add", "take", "leave", "reword", "move", "undo", "redo", "sign", "reopen")}
UNSAFE |= {f"{verb}_job" for verb in ("pause", "resume", "cancel", "retry")}
UNSAFE |= {"try_judge", "job_budget", "finish_job_live"}
UNSAFE |= {f"relevance_{verb}" for verb in ("judge", "undo", "draw", "show")}
UNSAFE |= {f"nugget_{verb}" for verb in ("attach", "detach", "merge", "split", "note", "reading", "read", "reopen")}
ON_A_QUESTION = ("gold_add", "gold_reword", "gold_remove", "gold_cite", "gold_uncite", "aggregate", "nest")
UNSAFE |= {f"nugget_{verb}" for verb in ON_A_QUESTION}
UNSAFE |= {"resolve_label", "leave_nugget_out", "resolve_support_label", "leave_citation_out"}
UNSAFE |= {"resolve_argue_label", "decide_argue_label", "adopt_preference", "decide_preference"}
UNSAFE |= {f"argue_{verb}" for verb in ("label", "answers", "cannot", "flag", "later", "sign_off")}
UNSAFE |= {"give_study", "define_code", "code_item"}
UNSAFE |= {f"support_{verb}" for verb in ("label", "cannot", "flag", "show", "later", "sign_off")}
UNSAFE |= {f"preference_{verb}" for verb in ("label", "cannot", "flag", "later", "sign_off")}
UNSAFE |= {"try_nugget"}
UNSAFE |= {"import_table", "compute_again", "calibration_gate"}
UNSAFE |= {f"assignment_{verb}" for verb in ("label", "cannot", "flag", "mark", "show", "later", "sign_off")}


class Asked(NamedTuple):
    """An address and who asked for it."""

    role: str
    address: str


def names() -> Iterator[str]:
    """Yield the name of every address outside the admin and the API."""
    todo = list(get_resolver().url_patterns)
    while todo:
        pattern = todo.pop()
        if isinstance(pattern, URLResolver):
            if pattern.app_name not in ("admin", "api"):  # the API's lists have a test of their own
                todo.extend(pattern.url_patterns)
        elif isinstance(pattern, URLPattern):
            yield str(pattern.name)


def examples(bank: NuggetBank) -> dict[str, list[object]]:
    """Return what to put into every address that takes something."""
    campaign = bank.condition.campaign
    edits = campaign.conditions.get(method="AutoNuggets+Edits")
    slug = campaign.slug
    assigning = campaign.conditions.filter(method="ManualAssign").earliest("pk").pk
    given = campaign.tasks.filter(kind="assignment").earliest("pk")
    sheet = all_judged(given)[0]
    judging = campaign.tasks.filter(kind="support").earliest("pk")
    argued = campaign.tasks.get(kind="argue")
    study = campaign.studies.latest("pk").pk
    frozen = Frozen.objects.latest("pk").condition_id  # since which nothing has changed
    grading = Task.objects.get(topic__qid="t1", condition__name="post-edited")
    graded = RelevanceJudgment.objects.filter(task__condition__name="post-edited").earliest("pk")
    return {
        "person": [slug, given.person_id],
        "condition": [slug, assigning],
        "account_reset_password_from_key": ["1", "x"],
        "account_confirm_email": ["x"],
        **{name: [1] for name in ("mfa_edit_webauthn", "mfa_remove_webauthn")},
        "guidelines": ["nuggets"],
        "task_guidelines": [given.pk],
        "edit_guidelines": [slug, "nuggets"],
        "guidelines_version": [slug, "nuggets", 1],
        "practice_feedback": [given.pk],  # with what there is to be seen: tests/training
        "practice_reference": [slug, assigning],
        "judge": [slug, campaign.model_judges.earliest("pk").pk],
        "job": [slug, campaign.jobs.earliest("pk").pk],
        "job_failures": [slug, campaign.jobs.earliest("pk").pk],
        **{name: [slug, campaign.imports.latest("pk").pk] for name in ("import_report", "report_file")},
        "relevance": [grading.pk],
        "relevance_passage": [graded.task_id, graded.pk],
        "preference": [(comparing := campaign.tasks.get(kind="preference", topic__qid="t1")).pk],
        "preference_answer": [comparing.pk, people.pairs_of(comparing)[0].pk],
        "plan_piece": [slug, given.condition_id, given.topic_id],
        "support": [judging.pk],
        "support_answer": [
            judging.pk,
            max(all_judged(judging), key=lambda sheet: (len(judgeable(sheet)), -sheet.pk)).pk,
        ],
        "argue": [argued.pk],
        "argue_report": [argued.pk, all_judged(argued)[0].pk],
        "argue_questions": [slug, argued.condition_id],
        **{name: [slug, Export.objects.earliest("pk").pk] for name in ("export", "made_file", "export_manifest")},
        **{name: [slug, "nuggets"] for name in ("choose_export", "export_file")},
        "frozen_conditions": [slug],
        "frozen_condition": [slug, frozen],
        "frozen_bundle": [slug, frozen, 1],
        "frozen_manifest": [slug, frozen, 1],
        "nugget_editor": [bank.pk],
        "nugget_trials": [bank.pk],
        "trial_setting": [slug, edits.pk],
        "report_editor": [EditedReport.objects.latest("pk").pk],
        "nugget_drafts": [NuggetBank.objects.filter(condition=edits).latest("pk").pk],
        "condition_drafts": [slug, edits.pk],
        "editions": [slug, (old := campaign.conditions.get(name="Inherited").pk)],
        "editions_file": [slug, old, "changes"],
        "export_drafts": [slug, edits.pk],
        "assignment": [given.pk],
        "missing": [slug, "runs"],
        "topic": [slug, campaign.topics.get(qid="t1").pk],
        "run": [slug, (first := campaign.runs.earliest("pk")).pk],
        "answer": [slug, first.pk, campaign.topics.get(qid="t1").pk],
        "export_missing": [slug, "cited"],
        "label_way": [slug, "assignment", sheet.pk, sheet.bank.nuggets.earliest("pk").pk],
        "assignment_answer": [given.pk, sheet.pk],
        "assignment_nugget": [given.pk, sheet.bank.nuggets.earliest("pk").pk],
        "assignment_questions": [slug, assigning],
        "support_questions": [slug, judging.condition_id],
        "preference_questions": [slug, comparing.condition_id],
        **{
            name: [slug, Comparison.objects.get(campaign=campaign, name=f"Grades {SMALL}").pk, *further]
            for name, further in (
                ("comparison", ()),
                ("comparison_topic", (campaign.topics.get(qid="t1").pk,)),
                ("topic_influence", (campaign.topics.get(qid="t1").pk,)),
                ("comparison_file", ("labels.csv",)),
                ("comparison_figure", ("labels", "svg")),
            )
        },
        "bias": [slug, (tables := Comparison.objects.get(campaign=campaign, name=f"Tables {SMALL}").pk)],
        "bias_table": [slug, tables, "csv"],
        "bias_figure": [slug, tables, "families", "svg"],
        **{
            name: [slug, Hybrid.objects.get(campaign=campaign, name=f"Hybrid {SMALL}").pk, *further]
            for name, further in (("hybrid", ()), ("hybrid_file", ("csv",)), ("hybrid_figure", ("more", "svg")))
        },
        "matched_banks": [slug, (matched := campaign.conditions.get(name="Matched").pk)],
        "matched_topic": [slug, matched, campaign.topics.get(qid="t1").pk],
        "matched_banks_file": [slug, matched, "csv"],
        "candidates": [slug, (lacking := campaign.conditions.get(name="Candidates").pk)],
        "topic_candidates": [slug, lacking, campaign.topics.get(qid="t1").pk],
        "candidates_file": [slug, lacking, "csv"],
        "panel": [slug, (panel := campaign.conditions.get(name=f"Panel {SMALL}").pk)],
        "panel_file": [slug, panel, "csv"],
        "sensitivity": [slug, (varied := Sensitivity.objects.get(campaign=campaign, name=f"Varied {SMALL}").pk)],
        "sensitivity_file": [slug, varied, "json"],
        "sensitivity_figure": [slug, varied, "ranks", "svg"],
        "control_set": [slug, (control := ControlSet.objects.earliest("pk").pk)],
        "export_control_set": [slug, control, "csv"],
        "comparisons_against": [slug, (nist := side_key(campaign.qrels_sources.get(name="NIST")))],
        "joint_figure": [slug, nist, "matrices", "svg"],
        **{
            name: [slug, campaign.calibrations.earliest("pk").pk, *further]
            for name, further in (
                ("calibration", ()),
                ("calibration_file", ("csv",)),
                ("calibration_figure", ("reliability", "svg")),
            )
        },
        "export_scores": [slug, assigning, "csv"],
        "topic_scores": [slug, assigning, campaign.topics.get(qid="t1").pk],
        "run_scores": [slug, assigning, campaign.runs.earliest("pk").pk],
        "score_figures": [slug, assigning],
        "score_figure": [slug, assigning, "length", "svg"],
        "reusability": [slug, assigning],
        "reusability_table": [slug, assigning, "csv"],
        "reusability_figure": [slug, assigning, "teams", "svg"],
        "canaries": [slug, (misled := campaign.conditions.get(name="Misled").pk)],
        "canary_table": [slug, misled, "csv"],
        "nugget_items": [slug, assigning],
        "nugget_table": [slug, assigning, "csv"],
        "nugget_figure": [slug, assigning, "items", "svg"],
        "significance": [slug, assigning],
        "significance_table": [slug, assigning, "pairs.csv"],
        "significance_figure": [slug, assigning, "means", "svg"],
        "label_judges": [slug, assigning],
        "label_judges_table": [slug, assigning, "pairs.csv"],
        "label_judges_figure": [slug, assigning, "shares", "svg"],
        **{
            name: [slug, campaign.qrels_sources.get(name="NIST").pk, *further]
            for name, further in (
                ("grade_judges", ()),
                ("grade_judges_table", ("pairs.csv",)),
                ("grade_judges_figure", ("kappa", "svg")),
            )
        },
        "next_edition": [slug, assigning],
        "next_edition_table": [slug, assigning],
        "next_edition_figure": [slug, assigning, "plan", "svg"],
        "registration": [slug, (registered := campaign.registrations.earliest("pk").pk)],
        "registration_file": [slug, registered, "json"],
        "study": [slug, study],
        "study_figure": [slug, study, "kappa", "svg"],
        "ask_study": [slug, study],
        "export_study": [slug, study, "items.csv"],
        "effort_figure": [slug, "hours", "svg"],
    } | {
        name: [slug]
        for name in (
            *(
                "campaign",
                "people",
                "protocol",
                "old_protocol",
                "security",
                "webhooks",
                "conditions",
                "new_condition",
                "setup",
                "imports",
                "plan",
                "plan_runs",
                "progress",
                "prompts",
                "import_prompts",
                "exports",
                "archive",
            ),
            *("questions", "history", "export_history"),
            *(
                "judges",
                "new_judge",
                "jobs",
                "launch_job",
                "scores",
                "support_pairs",
                "studies",
                "comparisons",
                "calibrations",
            ),
            *("adjudication", "rejudging", "registrations"),
            *("hybrids", "draws", "panels", "bank_matchings", "sensitivities", "control_sets"),
            *("export_studies", "campaign_guidelines", "practice", "plan_hours", "allocate_plan", "export_plan"),
            *("alarms", "export_alarms"),
            *("effort", "topics", "passages", "runs", "relevance_grades", "find", "plan_give"),
        )
    }


def files(campaign: Campaign) -> Iterator[str]:
    """Yield a file of everything that can be exported, in every form; what can't be had at once is no page."""
    full = {
        "nuggets": "ManualNuggets",
        "support": "Support",
        "judgments": "post-edited",
        "comparison": "Grades 2",
        "hybrid": "Hybrid 2",
        "panel": "Panel 2",
        "matched_banks": "Matched",
        "candidates": "Candidates",
        "editions": "Inherited",
        "assignments": "Assigned again",
        "sensitivity": "Varied 2",
        "influence": "Labels of nuggets",
        "calibration": "Support model 2 against Support people 2",
    }
    full |= {"support_judgments": "Support edited 2", "qrels": "NIST"}
    for kind in EXPORTABLES:
        found = kind.subject.records(campaign).order_by("pk") if kind.subject else [""]
        of = full.get(kind.name) or str(found[0])
        for form in kind.forms:
            yield f"{reverse('export_file', args=[campaign.slug, kind.name])}?{urlencode({'of': of, 'form': form})}"


def admin_addresses() -> Iterator[str]:
    yield reverse("admin:index")
    for model, model_admin in django_admin.site._registry.items():
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        yield reverse(f"{name}_changelist")
        assert model_admin.search_fields, f"{model.__name__} can't be searched in the admin"
        yield reverse(f"{name}_changelist") + "?q=t"
        yield reverse(f"{name}_change", args=[model._base_manager.order_by("pk")[0].pk])


@pytest.fixture
def grow(condition: Condition, campaign: Campaign, import_file, olga: Person, anna: Person, ben: Person):
    """A function that makes the campaign larger in every way, and returns Anna's fullest bank."""

    edits = make_condition(make_model(campaign))

    def do_it(size: int) -> NuggetBank:
        made = campaign.topics.count()
        new = range(made, made + size)
        for kind, lines, options in [
            ("topics", [f"t{number}x\twhat is {number}" for number in new], {}),
            ("qrels", [f"t1 0 s{number} 2" for number in new], {"source": "NIST", "by": "people"}),
            ("qrels", [f"t2 0 s{number} 2" for number in new], {"source": "Mia's", "by": "model"}),
            ("qrels", [f"t1 0 s{number} 1" for number in new], {"source": "Mia's", "by": "model"}),
        ]:
            assert import_file(campaign, kind, "".join(f"{line}\n" for line in lines), **options).state == "done"
        import_file(campaign, "segments", [{"docid": f"s{number}", "segment": "text"} for number in new])
        for number in new:
            Invitation.objects.create(
                campaign=campaign, person=make_person(f"p{number}"), role=Role.ASSESSOR, invited_by=olga
            )
        asked = [banks.bank(banks.question("Why?", banks.answer("a")), qid=f"t{number}x") for number in new]
        assert import_file(campaign, "questions", asked, condition="Questions", by="people").state == "done"
        on_first = [banks.bank(banks.question("Why?", banks.answer("a")))]
        assert import_file(campaign, "questions", on_first, condition="Questions", by="people").state == "done"
        qids = list(campaign.topics.values_list("qid", flat=True))
        for number in new:
            answers = [
                {
                    "run_id": f"r{number}",
                    "topic_id": qid,
                    "references": [f"s{number}"],
                    "answer": [{"text": "a", "citations": [0]}] if qid == "t1" else [],
                }
                for qid in qids
            ]
            import_file(campaign, "runs", answers)
            own = run_with_documents(f"own{number}", "t1", {f"s{number}": "a text of its own"})
            assert import_file(campaign, "runs", [own], document_texts="own").state == "done"
            grade = {"run_id": f"r{number}", "query_id": "t1", "question": "Why?", "passage": "a", "grade": 3}
            graded = {"condition": "Graded", "nuggets": "Questions", "by": "people"}
            assert import_file(campaign, "question_grades", [grade], **graded).state == "done"
            of_passage = grade | {"run_id": None, "doc_id": f"s{number}", "passage": f"text {number}"}
            graded["condition"] = "Graded passages"
            assert import_file(campaign, "question_grades", [of_passage], **graded).state == "done"
            judged = report(f"r{number}", [[attested(f"s{number}")]], sentences=[("a", [f"s{number}"])])
            graded["condition"] = "Reports judged"
            assert import_file(campaign, "argue_judgments", [judged], **graded).state == "done"
            found = "".join(f"{qid} Q0 s{number} 1 1.5 found{number}\n" for qid in qids)
            import_file(campaign, "retrieval", found)
            nuggets = {"query": "", "qid": "t1", "nuggets": [{"text": "a"}]}
            import_file(campaign, "nuggets", [nuggets], condition=f"N{number}", by="people")
            # All of t1: an export asks once for each topic that is in it.
            judged = [support_line("t1", f"r{number}", cites("a"), cites("b", s1=FULL))]
            for name in ("Support", f"S{number}"):
                import_file(campaign, "support", judged, condition=name, by="people")
        imported = ["Support", *(f"S{number}" for number in new)]
        for of_file in campaign.conditions.filter(name__in=imported):
            for sheet in all_judged(of_file):
                if sheet.version == 0:
                    change(sheet, {"1.0": {"label": "none"}})
        for sheet in all_judged(campaign.conditions.get(name="Reports judged")):
            if sheet.version == 0:
                change(sheet, {item: {"label": "no"} for item in given(sheet)})
        aliases = "".join(f"r{number},,,,,alias{number}\n" for number in new)
        import_file(campaign, "run_list", f"tag,team,task,type,priority,aliases\n{aliases}")
        for number in new:
            record_exposure(make_person(f"person{number}", "assessor"), campaign.topics.all(), "support", "test")
        topics = list(campaign.topics.order_by("qid"))
        job = draft(edits, topics, [f"draft {number}" for number in range(made)])
        first = campaign.jobs.earliest("pk")
        for number in new:
            make_model(campaign, name=f"model {number}")
            CampaignPromptSet.objects.create(campaign=campaign, name=f"published {number}")
            make_token(anna)
            make_token(olga)
            make_webhook(campaign)
            Unit.objects.create(job=first, topic=topics[0], item=f"item {number}")
        for one in {first, job}:
            leave_traces(one)
        match_banks(campaign, new, import_file)
        supported = campaign.conditions.filter(name="Supported").first() or models_condition(campaign, "Supported")
        label_as_model(supported, {f"r{number}": {"0.0": "full"} for number in new})
        look_for_all(campaign, "Beside", "Supported", "Candidates")
        if not campaign.conditions.filter(name="Tried"):
            try_on(NuggetBank.objects.get(condition__name="Beside", topic__qid="t1"))
        compare(campaign, campaign.model_judges.earliest("pk"), replicate=made)
        for number in new:
            write(edits, topics[0], first, number)
        assign_on_t1(campaign, anna, new)
        judge_reports_on_t1(campaign, anna)
        compare_on_t1(campaign, anna, new, import_file)
        judge_support(campaign, new)
        judge_support_on_t1(campaign, anna, new)
        if not campaign.conditions.filter(name="Misled"):
            line = {"query": "", "qid": "t2", "nuggets": [{"text": "a"}]}
            import_file(campaign, "nuggets", [line], condition="Of canaries", by="people")
            label_canaries(auto_condition(campaign.conditions.get(name="Of canaries"), "Misled"))
        draw_support(campaign, ben, size)
        study = coded_study(campaign, f"r{new[0]}", "t1", *(f"r{number}" for number in new[1:]))
        for number in new:
            register(campaign, title=f"study {number}")
            let_people_judge(study=study, name=f"Judge {number} of {study}", acting_user=None)
        # Some are edited, some given, some only drafted.
        for task in give_tasks(campaign=campaign, topics=topics[1::2], condition=edits, person=ben, acting_user=olga)[
            ::2
        ]:
            edited = NuggetBank.objects.get(task=task)
            do(edited, actions.delete_nugget, uid=edited.nuggets.latest("pk").uid)
            fill(edited, (uuid4(), "text", "vital"))
        tasks = give_tasks(campaign=campaign, topics=topics, condition=condition, person=anna, acting_user=olga)
        for task in tasks:
            TimeSpent.objects.create(task=task, key=uuid4(), seconds=1)
            bank = NuggetBank.objects.get(task=task)
            BankEdition.objects.create(bank=bank, edition=made, version=1)
        shown = campaign.qrels_sources.get(name="Mia's")
        give_relevance(campaign, anna, topics, from_queue=True, shown=shown)
        for item in RelevanceJudgment.objects.filter(state="open", topic__qid="t2")[: size // 2]:
            judge_item(item)
        compare_all(campaign, new)
        for _ in new:
            Reference.objects.create(condition=condition)
        for number in new:
            seen = in_force(campaign, "nuggets").version
            by = {"campaign": campaign, "kind": "nuggets", "acting_user": olga}
            change_guidelines(text=f"Version {number}.", seen=seen, **by)
            open_guidelines(reader := make_person(f"reader{number}", "assessor"), campaign, "nuggets")
            Authenticator.objects.create(user=reader, type=Authenticator.Type.WEBAUTHN, data={"name": "Passkey"})
            SocialAccount.objects.create(user=reader, provider="https://sso.example.org", uid=str(number))
        for _ in new:
            exporting.run(exporting.ask_for(campaign=campaign, kind=BY_NAME["topics"], options={}, acting_user=olga))
        pseudonyms(campaign)
        for number in new:
            freeze(condition=campaign.conditions.get(name=f"N{number}"), acting_user=olga)
        fullest = NuggetBank.objects.get(task__topic__qid="t1")
        fill(fullest, *((uuid4(), f"text {number}", "vital") for number in new))
        for task in tasks[-size:]:
            bank = NuggetBank.objects.get(task=task)
            if bank.state == NuggetBank.State.OPEN:
                fill(bank, (uuid4(), "text", "vital"))
                do(bank, actions.finish_bank)
        assert Task.objects.filter(state=Task.State.FINISHED).count() >= size
        # Elsewhere: all other topics are given to Anna for blind work.
        other = create_campaign(name=f"Reports {size}", slug=f"reports-{size}", acting_user=olga)
        import_file(other, "topics", "t1\twhy\n")
        edit_elsewhere(other, anna, size)
        return fullest

    return do_it


def assign_on_t1(campaign: Campaign, person: Person, new: range) -> None:
    """Have answers of the first condition labelled, flagged and left open, and conditions beside it."""
    for number in new:
        nuggets = campaign.conditions.get(name=f"N{number}")
        give(
            create_manual_assign(nuggets=nuggets, name=f"M{number}", acting_user=None),
            campaign.topics.get(qid="t1"),
            person,
        )
    first = campaign.conditions.filter(method="ManualAssign").earliest("pk")
    task = give(first, campaign.topics.get(qid="t1"), person)
    for to_do in person.tasks.filter(campaign=campaign, state="open", reminders=None):
        Reminder.objects.create(task=to_do, person=person)
    for sheet in all_judged(task):
        for nugget in asked(sheet):
            change(sheet, {nugget: {"label": None, "cannot": "unclear", "flag": "odd"}}, "cannot")
            leave_out(first, nugget, "unclear")
            name = sheet.item_name(str(nugget))
            answered = {"task": task, "answer": sheet.answer, "item": name, "question": "odd", "text": "Yes."}
            ReplyRead.objects.create(reply=Reply.objects.create(**answered, person=person))


def judge_reports_on_t1(campaign: Campaign, person: Person) -> None:
    """Have a person judge all reports on t1."""
    questions = campaign.conditions.get(name="Questions")
    there = campaign.conditions.filter(method="ManualArgue").first()
    task = give(there or judged_by_people(questions), campaign.topics.get(qid="t1"), person)
    for sheet in all_judged(task):
        change(sheet, {item: {"label": "yes"} for item in judgeable(sheet)})


def compare_on_t1(campaign: Campaign, person: Person, new: range, import_file: Any) -> None:
    """Have answers compared by a person, who can't judge any pair and flags each; the organizer answered."""
    for number in new:
        people.load_run(campaign, import_file, f"compared{number}", {"t1": f"Cats purr {number} times."})
    condition = campaign.conditions.filter(name="Compared by people").first()
    condition = condition or people.condition(campaign, "Compared by people")
    task = give(condition, campaign.topics.get(qid="t1"), person)
    for pair in people.pairs_of(task):
        if pair.version == 0:
            said = {pair.item: {"cannot": "unclear", "flag": "odd"}}
            pair.revise("can't judge", said, judge_id=judge_of(person).pk, task_id=task.pk)
            reply = Reply.objects.create(task=task, item=pair.item, question="odd", text="Yes.", person=person)
            ReplyRead.objects.create(reply=reply)


def judge_support(campaign: Campaign, new: range) -> None:
    """Have the support of all answers judged under further conditions."""
    judge = Judge.objects.create(kind="imported", name=f"judges of support {new.start}")
    for number in new:
        condition = Condition(
            campaign=campaign,
            name=f"Support of all {number}",
            kind="support",
            method="support automatic",
            judge=judge,
            replicate=number,
        )
        create_condition(condition, acting_user=None)
        keys = Answer.objects.filter(run__campaign=campaign).order_by("pk").values_list("pk", flat=True)
        add_sheets(sheet_row(condition=condition.pk, answer=key, judge=judge.pk, asked={}) for key in keys)


def judge_support_on_t1(campaign: Campaign, person: Person, new: range) -> None:
    """Have citations judged beside labels of the first of several models, and left open beside those of others."""
    topic = campaign.topics.get(qid="t1")
    for number in new:
        shown = models_condition(campaign, f"Support model {number}")
        said = {f"r{other}": {"0.0": "none"} for other in range(new[0], number + 1)}
        label_as_model(shown, said)
        people = models_condition(campaign, f"Support people {number}", by="people")
        label_as_model(people, said)
        create_calibration(campaign=campaign, human=people, judged=shown, acting_user=None)
        request_calibration(campaign=campaign, human=people, judged=shown, acting_user=None)
        gate = CalibrationGate(campaign=campaign, least_kappa=Decimal("0.50"))
        set_calibration_gate(gate, acting_user=None)
        give(
            create_support(campaign=campaign, name=f"Support edited {number}", shown=shown, acting_user=None),
            topic,
            person,
        )
    first = campaign.conditions.filter(method="support post-edited").earliest("pk")
    said = {"label": None, "shown": "none", "cannot": "unclear", "flag": "odd"}
    for sheet in all_judged(give(first, topic, person)):
        change(sheet, dict.fromkeys(judgeable(sheet), said), "can't judge")
    for number in new:  # and by others, blind to that
        second = label_again(of=first, name=f"Second {number}", purpose="second", acting_user=None)
        other = give(second, topic, Person.objects.get(username=f"person{number}"))
        for sheet in all_judged(other):
            change(sheet, {key: {"label": "none"} for key in judgeable(sheet)[:1]})


def draw_support(campaign: Campaign, person: Person, most: int) -> None:
    """Have topics wait under several conditions for whoever draws them, and a person draw some."""
    firsts = campaign.conditions.filter(method="support post-edited", manual_setup__purpose="first")
    for condition in firsts.order_by("pk"):
        own = Task.objects.filter(condition=condition).exclude(person=person)
        topics = campaign.topics.exclude(tasks__in=own).order_by("qid")
        put_in_queue(topics=list(topics), condition=condition, acting_user=None)
        draw_next(condition=condition, person=person)
    assert Waiting.objects.count() > most
    for condition in firsts:
        for topic in topics:
            Planned.objects.get_or_create(condition=condition, topic=topic, person=person, waits_for="its nuggets")
            Scope.objects.create(condition=condition, topic=topic, rule="1 per team")
        other = campaign.runs.latest("pk")
        Scope.objects.create(condition=condition, run=other, rule="none", reason="withdrawn")


def match_banks(campaign: Campaign, new: range, import_file: Importer) -> None:
    """Have two banks matched on more topics, and more pairs of conditions to be matched."""
    sides = ("Beside", "Beside it")
    for name in sides:
        lines = [{"query": "", "qid": f"t{number}x", "nuggets": [{"text": "a"}]} for number in new]
        lines += [] if campaign.conditions.filter(name=name) else [{**lines[0], "qid": "t1"}]
        assert import_file(campaign, "nuggets", lines, condition=name, by="people").state == "done"
    match_all(campaign, *sides, "Matched")
    inherit(campaign, campaign.topics.all())
    for number in new:
        match_all(campaign, sides[0], f"N{number}", f"Matched with {number}")


def compare_all(campaign: Campaign, new: range) -> None:
    """Have grades compared, score tables and conditions be there to be compared, and hybrid scores estimated."""
    sources = [campaign.qrels_sources.get(name=name) for name in ("NIST", "Mia's")]
    for number in new:
        ScoreTable.objects.create(campaign=campaign, name=f"Table {number}", content="run_id,v\nr,1\n")
        name = f"Grades {number}"
        run(create_comparison(campaign=campaign, first=sources[0], second=sources[1], name=name, acting_user=None))
        first, second = (
            ScoreTable.objects.create(campaign=campaign, name=f"{side} {number}", content="run_id,v\nr,1\nr0,0\n")
            for side in ("People's table", "Model's table")
        )
        name = f"Tables {number}"
        run(create_comparison(campaign=campaign, first=first, second=second, name=name, acting_user=None))
    if not Comparison.objects.filter(campaign=campaign, name="Labels of nuggets"):
        first = campaign.conditions.filter(method="ManualAssign").earliest("pk")
        second = auto_condition(first.nuggets, "Assigned again")
        create_comparison(campaign=campaign, first=first, second=second, name="Labels of nuggets", acting_user=None)
    by_people, name = campaign.conditions.get(name="Support"), "Support of a hybrid"
    by_model = campaign.conditions.filter(name=name).first() or models_condition(campaign, name)
    label_as_model(by_model, {f"r{number}": {"0.0": "none"} for number in new})
    for number in new:
        draw = Draw.objects.create(condition=by_people, seed=number, frame=["t1"], topics=["t1"])
        of = {"campaign": campaign, "human": by_people, "model": by_model, "draw": draw}
        create_hybrid(**of, name=f"Hybrid {number}", acting_user=None)
        members = [by_model, models_condition(campaign, f"Member {number}")]
        label_as_model(members[1], {f"r{number}": {"0.0": "full"}})
        of_panel = {"campaign": campaign, "members": members, "rule": Rule.UNANIMOUS, "quorum": 2}
        panel = create_panel(**of_panel, name=f"Panel {number}", acting_user=None)
        draw_routing(panel=panel, name=f"Left open {number}", acting_user=None)
        make_control_set(campaign.conditions.get(name="Assigned again"), f"Weekly {number}", passes=number)
        run(create_comparison(campaign=campaign, first=by_people, second=panel, acting_user=None))
        vary(campaign.conditions.filter(method="ManualAssign").earliest("pk").nuggets, f"Varied {number}")


def count(client: Client, address: str, before: int | None = None) -> int | None:
    """Return how many queries an address takes once the server is warm; None where it isn't the client's to read.

    What an address writes, such as an exposure, it may write but once: it is asked again, and so is what takes other
    than before. What is kept for a minute is counted twice where one ends in between: such a try does not count.
    """
    queries: list[str] = []
    tries = 0

    def note(execute: Callable[..., Any], sql: str, *args: Any) -> Any:
        queries.append(sql)
        return execute(sql, *args)

    while True:
        cache.clear()  # what is counted once after an import is counted here each time
        queries.clear()
        tries += 1
        began = _minute()
        with connection.execute_wrapper(note):  # which, unlike Django's own log, spells no query out
            response = client.get(address)
            if response.status_code != 200:
                return None
            if response.streaming:
                b"".join(response.streaming_content)
        is_warm = len(queries) == before or (before is None and not any(map(_writes_once, queries)))
        if began == _minute() and (is_warm or tries > 1):
            return len(queries)


def _writes_once(query: str) -> bool:
    of_each_export = ('INSERT INTO "exports_export"', 'UPDATE "exports_export"', 'INSERT INTO "campaigns_event"')
    return query.startswith(("INSERT", "UPDATE", "DELETE")) and not query.startswith(of_each_export)


def _minute() -> int:
    return timezone.now().minute


def counts(clients: dict[str, Client], bank: NuggetBank, before: Iterable[int | None] = ()) -> dict[Asked, int | None]:
    """Return what each address takes; before: what each took in the smaller campaign."""
    into = examples(bank)
    asked = [
        Asked(role, reverse(name, args=into.get(name)))
        for name in names()
        if name not in UNSAFE | READS_ALL
        for role in clients
    ]
    asked += [Asked("olga", address) for address in files(bank.condition.campaign)]
    asked += [Asked("admin", address) for address in admin_addresses()]
    return {item: count(clients[item.role], item.address, last) for item, last in zip_longest(asked, before)}


def test_no_page_asks_more_of_a_larger_campaign(
    grow, anna: Person, olga: Person, admin: Person, monkeypatch: pytest.MonkeyPatch
):
    # A download writes its progress by the clock: on a machine that stalls, one more write.
    monkeypatch.setattr("assessor.exports.progress._SIGN_OF_LIFE", inf)
    ContentType.objects.get_for_models(*apps.get_models())  # the admin asks for each once in a process
    clients = {"anna": client_of(anna), "olga": client_of(olga), "admin": client_of(admin)}
    # Nobody begins without a session each time: a page that leaves one is asked on the way.
    small = counts({"nobody": Client(), **clients}, grow(SMALL))
    large = counts({"nobody": Client(), **clients}, grow(LARGE), small.values())
    # What a path names, such as the latest import, may have another number by now; who asks for what is the same.
    assert len(small) == len(large)
    assert sum(queries is not None for queries in small.values()) > 100
    assert [
        (before.role, after.address, small[before], large[after])
        for before, after in zip(small, large, strict=True)
        if small[before] != large[after]
    ] == []


def test_addresses_that_only_take_posts_are_no_pages(bank: NuggetBank, anna: Person, olga: Person):
    fill(bank, (uuid4(), "text", "vital"))
    assert set(names()) > UNSAFE
    uid = bank.nuggets.earliest("pk").uid
    others = ("try_judge", "job_budget", "finish_job_live")
    of_jobs = {name: ["study", 1] for name in UNSAFE if name.endswith("_job") or name in others}
    places = of_jobs | {
        **{f"support_{verb}": [1, 1] for verb in ("label", "cannot", "flag", "show", "later")},
        **{f"preference_{verb}": [1, 1] for verb in ("label", "cannot", "flag", "later")},
        **{f"assignment_{verb}": [1, 1] for verb in ("label", "cannot", "flag", "mark", "show", "later")},
        **{f"argue_{verb}": [1, 1] for verb in ("label", "answers", "cannot", "flag", "later")},
        **{f"{verb}_webhook": ["study", 1] for verb in ("test", "renew", "remove")},
        **{
            name: ["study", 1]
            for name in (
                *("resolve_label", "leave_nugget_out", "resolve_support_label", "leave_citation_out"),
                *("resolve_argue_label", "decide_argue_label", "adopt_preference", "decide_preference"),
            )
        },
        "control_runs": ["study"],
        "add_passages": ["study"],
        "reports": ["study"],
        "import_table": ["study"],
        "answer_question": ["study"],
        "compute_again": ["study", 1],
        "calibration_gate": ["study"],
        "stop_import": ["study", 1],
        "import_held": ["study"],
        "stop_export": ["study", 1],
        "freeze_condition": ["study", 1],
        "make_release": ["study"],
        "make_paper": ["study"],
        "make_archive": ["study"],
        "withdraw_task": ["study", 1],
        "remind": ["study", 1],
        "reminder_seen": [1],
        "take_out_of_queue": ["study", 1],
        "take_back_planned": ["study", 1],
        "advance_plan": ["study"],
        "draw_topic": [1],
        "preview_guidelines": ["study", "nuggets"],
        "revoke_token": [1],
        "try_nugget": [bank.pk, uid],
        "mark_practice": ["study"],
        "name_practice_reference": ["study", 1],
        "time_spent": [1],
        **{
            name: ["study", 1]
            for name in ("set_role", "set_languages", "new_link", "reset_factor", "change_activity", "end_invitation")
        },
        "answer_invitation": [1],
        "account_logout": [],
        "sign_on": [],
        "link_account": [],
        "unlink_account": [1],
        "require_second_factor": ["study"],
        "give_study": ["study", 1],
        "define_code": ["study", 1],
        "code_item": ["study", 1, 1],
        "ask_control_set": ["study", 1],
    }
    for name in UNSAFE:
        on_a_sentence = name in [f"report_{verb}" for verb in ("take", "leave", "reword", "move")]
        on_a_nugget = on_a_sentence or name.removeprefix("nugget_") in (*ON_A_NUGGET, *ON_A_QUESTION)
        args = places.get(name, [bank.pk, uid] if on_a_nugget else [bank.pk])  # a task of the same number will do
        for person in (anna, olga):
            assert client_of(person).get(reverse(name, args=args)).status_code == 405, name
