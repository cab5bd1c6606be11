"""The nugget editor over HTTP. A write answers with the list as it then is, as JSON, or says why it was refused."""

import json
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_POST, require_safe

from assessor.accounts.languages import in_own_language
from assessor.accounts.models import Person
from assessor.campaigns.condition_kind import condition_kinds
from assessor.campaigns.http import PersonRequest
from assessor.formats.values import to_json
from assessor.work.access import require_running
from assessor.work.actions import note_opened
from assessor.work.actions.guidelines import shown_guidelines
from assessor.work.queries import minutes, place
from assessor.work.write_protocol import BadWrite, Result, number
from nuggets import actions, queries
from nuggets.access import is_owner, organized_bank, own_bank, readable_bank
from nuggets.candidates.report import of_bank
from nuggets.completeness import completeness
from nuggets.condition_kind import is_inherited, nugget_kind
from nuggets.models import Nugget, NuggetBank
from nuggets.views.writes import Editor, writes_on

# A finished bank needs them too: what could not be saved before is still shown there.
EDITOR_SCRIPTS = (
    "assay/words.js",
    "assay/outbox.js",
    "assay/nuggets.js",
    "assay/passages.js",
    "assay/editor.js",
)


@require_safe
@ensure_csrf_cookie  # the page's own scripts write, whichever page the person came from
def editor(request: PersonRequest, bank_id: int) -> HttpResponse:
    """The whole page; read-only for organizers, and once the bank is finished."""
    bank = readable_bank(request.user, bank_id)
    owner = is_owner(request.user, bank)
    show = in_own_language(_show) if owner else _show
    return show(request, bank, owner)


def _show(request: PersonRequest, bank: NuggetBank, owner: bool) -> HttpResponse:
    if owner and bank.task:
        require_running(bank.task)
        note_opened(bank.task)
        actions.see_nuggets(bank, acting_user=request.user)
    passages, without_text = queries.passages(bank)
    read_only = not owner or bank.state == NuggetBank.State.FINISHED
    numbers = {passage.segment.docid: number for number, passage in enumerate(passages, start=1)}
    listed = queries.nuggets_in_order(bank)
    drafts = queries.drafts(bank)
    kind, inherited = nugget_kind(bank.condition), is_inherited(bank.condition)
    context = {
        "bank": bank,
        "kind": kind,
        "drafts_called": gettext_noop("inherited nuggets") if inherited else gettext_noop("drafts"),
        "draft_words": queries.INHERITED_WORDS if inherited else queries.DRAFT_WORDS,
        "dated": queries.DATED if inherited else "",
        "has_gold": kind.gold is not None,
        "about": _about(bank),
        "known": None if read_only else _known(bank, listed, drafts),
        "protocol": bank.condition.protocol,
        "most": queries.most_nuggets(bank.condition),
        "rows": queries.rows(listed, numbers, drafts, are_inherited=inherited) if read_only else [],
        "drafts": len(drafts),
        "drafts_decided": len(drafts) - sum(nugget.is_undecided for nugget in listed),
        "read_only": read_only,
        "most_characters": actions.MAX_CHARACTERS,
        "is_owner": owner,
        "scripts": EDITOR_SCRIPTS if read_only else (*EDITOR_SCRIPTS, "assay/clock.js"),
        "guidelines": shown_guidelines(bank.condition.campaign_id, kind.name, bank.guidelines_version),
        "worked_under": queries.worked_under(bank) if read_only else [],
        "task": bank.task if owner else None,
        "place": place(bank.task) if owner and bank.task else None,
        "passages": passages,
        "without_text": without_text,
        "section": _section(request.user, bank) if owner and not read_only else "",
        "reopening": queries.reopening(bank),
        "lineage": None if owner else queries.lineage(bank, listed),
        "candidates": None if owner else of_bank(bank),
        "completeness": None if owner else completeness(bank, listed, numbers),
        "time": minutes(bank.task.seconds) if bank.task else "",
    }
    return render(request, "nuggets/editor.html", context)


def _section(person: Person, bank: NuggetBank) -> str:
    """Return the address of what another kind shows below the list, or ""."""
    return next((url for kind in condition_kinds() if (url := kind.bank_section(person, bank))), "")


def _about(bank: NuggetBank) -> dict[str, object]:
    """Return what the list on screen has as data besides its rows."""
    return {
        "version": bank.version,
        "undo": int(bank.head_id is not None),
        "redo": int(queries.next_redo(bank) is not None),
        "state": bank.state,
        "reading": bank.reading,
        "read": to_json(bank.read_passages),
    }


def _told(bank: NuggetBank, listed: list[Nugget], drafts: list[str]) -> dict[str, object]:
    """Return the list as nuggets.js takes it, with what keeps it from being handed in (HTML), else what Finish asks."""
    found = queries.findings(bank, listed)
    undecided = [finding for finding in found if finding.is_undecided]
    others = [finding for finding in found if not finding.is_undecided]
    context = {"findings": others, "undecided": undecided}
    return {
        "about": _about(bank),
        "nuggets": queries.told(listed, drafts),
        "findings": render_to_string("nuggets/_findings.html", context) if found else "",
        "facts": "" if found else queries.facts(bank.condition, listed),
    }


def _known(bank: NuggetBank, listed: list[Nugget], drafts: list[str]) -> str:
    return json.dumps(_told(bank, listed, drafts), cls=DjangoJSONEncoder, ensure_ascii=False)


def _tell(bank: NuggetBank) -> dict[str, object]:
    return _told(bank, queries.nuggets_in_order(bank), queries.drafts(bank))


def _handed_in(bank: NuggetBank) -> str:
    told = gettext("Finished: the {things} are handed in and can be read, no longer changed.")
    return told.format(things=gettext(nugget_kind(bank.condition).counted))


write = writes_on(Editor(own_bank, actions.see_nuggets, _tell, _handed_in))


@write
def add(request: PersonRequest, bank: NuggetBank, by: dict[str, Any]) -> Result:
    evidence = evidence_of(request) if request.POST.get("docid") else None
    uid = uuid_of(request.POST.get("uid", ""))
    text, importance = request.POST.get("text", ""), request.POST.get("importance", "")
    return actions.add_nugget(bank, uid=uid, text=text, evidence=evidence, importance=importance, **by)


@write
def reword(request: PersonRequest, bank: NuggetBank, by: dict[str, Any], uid: UUID) -> Result:
    return actions.reword_nugget(bank, uid=uid, text=request.POST.get("text", ""), **by)


@write
def keep(request: PersonRequest, bank: NuggetBank, by: dict[str, Any], uid: UUID) -> Result:
    return actions.keep_draft(bank, uid=uid, **by)


@write
def importance(request: PersonRequest, bank: NuggetBank, by: dict[str, Any], uid: UUID) -> Result:
    return actions.set_importance(bank, uid=uid, importance=request.POST.get("importance", ""), **by)


@write
def move(request: PersonRequest, bank: NuggetBank, by: dict[str, Any], uid: UUID) -> Result:
    return actions.move_nugget(bank, uid=uid, to=number(request, "to"), **by)


@write
def delete(request: PersonRequest, bank: NuggetBank, by: dict[str, Any], uid: UUID) -> Result:
    return actions.delete_nugget(bank, uid=uid, **by)


@write
def attach(request: PersonRequest, bank: NuggetBank, by: dict[str, Any], uid: UUID) -> Result:
    return actions.attach_evidence(bank, uid=uid, evidence=evidence_of(request), **by)


@write
def detach(request: PersonRequest, bank: NuggetBank, by: dict[str, Any], uid: UUID) -> Result:
    return actions.detach_evidence(bank, uid=uid, evidence=evidence_of(request), **by)


@write
def merge(request: PersonRequest, bank: NuggetBank, by: dict[str, Any]) -> Result:
    uids = [uuid_of(uid) for uid in request.POST.get("uids", "").split()]
    uid = uuid_of(request.POST.get("uid", ""))
    return actions.merge_nuggets(bank, uids=uids, uid=uid, text=request.POST.get("text", ""), **by)


@write
def split(request: PersonRequest, bank: NuggetBank, by: dict[str, Any], uid: UUID) -> Result:
    parts = [(uuid_of(request.POST.get(f"uid{n}", "")), request.POST.get(f"text{n}", "")) for n in (1, 2)]
    return actions.split_nugget(bank, uid=uid, into=parts, **by)


@write
def note(request: PersonRequest, bank: NuggetBank, by: dict[str, Any], uid: UUID) -> Result:
    return actions.set_note(bank, uid=uid, text=request.POST.get("text", ""), **by)


@write
def reading(request: PersonRequest, bank: NuggetBank, by: dict[str, Any]) -> Result:
    return actions.set_reading(bank, text=request.POST.get("text", ""), **by)


@write
def read(request: PersonRequest, bank: NuggetBank, by: dict[str, Any]) -> Result:
    is_read = request.POST.get("read", "")
    if is_read not in ("0", "1"):
        raise BadWrite("read must be 0 or 1.")
    return actions.mark_passage(bank, docid=request.POST.get("docid", ""), is_read=is_read == "1", **by)


@write
def undo(request: PersonRequest, bank: NuggetBank, by: dict[str, Any]) -> Result:
    return actions.undo(bank, **by)


@write
def redo(request: PersonRequest, bank: NuggetBank, by: dict[str, Any]) -> Result:
    return actions.redo(bank, **by)


@write
def finish(request: PersonRequest, bank: NuggetBank, by: dict[str, Any]) -> Result:
    return actions.finish_bank(bank, **by)


@require_POST
def reopen(request: PersonRequest, bank_id: int) -> HttpResponse:
    """An organizer gives a finished bank back to its maker."""
    bank = organized_bank(request.user, bank_id)
    try:
        actions.reopen_bank(bank, reason=request.POST.get("reason", ""), acting_user=request.user)
    except actions.ReopenError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Reopened: {bank.maker} finds the topic among their open work.")
    return redirect("nugget_editor", bank_id)


def uuid_of(text: str) -> UUID:
    """Read what names an item. Raises BadWrite."""
    try:
        return UUID(text)
    except ValueError as error:
        raise BadWrite("uid must be a UUID.") from error


def evidence_of(request: PersonRequest) -> dict[str, Any]:
    """Read a place in a passage: docid, with start and end, or neither for the whole passage."""
    whole = not request.POST.get("start") and not request.POST.get("end")
    start, end = (None, None) if whole else (number(request, "start"), number(request, "end"))
    return {"docid": request.POST.get("docid", ""), "start": start, "end": end}
