"""The nugget editor over HTTP. A write answers with the list as it then is, or says why it was refused."""

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from assessor.collection.http import PersonRequest
from assessor.work.guidelines import guidelines_html
from assessor.work.queries import minutes
from assessor.work.writes import BadWrite, Closed, Result, Sent, Stale, once, sent
from nuggets import actions, queries
from nuggets.access import is_owner, own_bank, readable_bank
from nuggets.models import NuggetBank

# A finished bank needs them too: what could not be saved before is still shown there.
EDITOR_SCRIPTS = ("assay/outbox.js", "assay/nuggets.js", "assay/editor.js")

CarryOut = Callable[[NuggetBank, Sent], Result]


@require_safe
def editor(request: PersonRequest, bank_id: int) -> HttpResponse:
    """The whole page; read-only for organizers, and once the bank is finished."""
    bank = readable_bank(request.user, bank_id)
    owner = is_owner(request.user, bank)
    passages, without_text = queries.passages(bank)
    read_only = not owner or bank.state == NuggetBank.State.FINISHED
    context = {
        **_list_context(bank, read_only=read_only),
        "is_owner": owner,
        "scripts": EDITOR_SCRIPTS if read_only else (*EDITOR_SCRIPTS, "assay/clock.js"),
        "guidelines": guidelines_html("nuggets"),
        "passages": passages,
        "without_text": without_text,
        "blank_row": queries.BLANK_ROW,
        "time": minutes(bank.task.seconds) if bank.task else "",
    }
    return render(request, "nuggets/editor.html", context)


def _list_context(bank: NuggetBank, *, read_only: bool) -> dict[str, object]:
    return {
        "bank": bank,
        "protocol": bank.condition.protocol,
        "rows": queries.rows(bank),
        "read_only": read_only,
        "most_characters": actions.MAX_CHARACTERS,
        "can_undo": bank.head_id is not None,
        "can_redo": queries.next_redo(bank) is not None,
    }


def _list(request: PersonRequest, bank: NuggetBank, *, status: int = 200) -> HttpResponse:
    bank.refresh_from_db()
    context = _list_context(bank, read_only=bank.state == NuggetBank.State.FINISHED)
    return render(request, "nuggets/editor.html#list", context, status=status)


def _write(request: PersonRequest, bank_id: int, carry_out: CarryOut) -> HttpResponse:
    """Carry out a write on the person's own bank.

    200: done, now or the first time this key was sent. 409: the bank has changed or is finished; the list as it is
    now comes with it. 400: the request itself is wrong. 404: not theirs.
    """
    bank = own_bank(request.user, bank_id)
    try:
        write = sent(request)
        result = once(request.user, write, lambda: carry_out(bank, write))
    except BadWrite as error:
        return HttpResponse(str(error), status=400, content_type="text/plain")
    except (Stale, Closed):
        return _list(request, bank, status=409)
    if "findings" in result:
        return render(request, "nuggets/editor.html#findings", result, status=422)
    response = _list(request, bank)
    # The version that this very write made: the list may have gone on since, unseen by who sends a write again.
    response["X-Assay-Version"] = str(result["version"])
    return response


@require_POST
def add(request: PersonRequest, bank_id: int) -> HttpResponse:
    def carry_out(bank: NuggetBank, write: Sent) -> Result:
        fields = {"text": request.POST.get("text", ""), "docid": request.POST.get("docid", "")[:256]}
        uid = _uuid(request.POST.get("uid", ""))
        return actions.add_nugget(bank, uid=uid, **fields, acting_user=request.user, seen=write.seen)

    return _write(request, bank_id, carry_out)


@require_POST
def reword(request: PersonRequest, bank_id: int, uid: UUID) -> HttpResponse:
    def carry_out(bank: NuggetBank, write: Sent) -> Result:
        text = request.POST.get("text", "")
        return actions.reword_nugget(bank, uid=uid, text=text, acting_user=request.user, seen=write.seen)

    return _write(request, bank_id, carry_out)


@require_POST
def importance(request: PersonRequest, bank_id: int, uid: UUID) -> HttpResponse:
    def carry_out(bank: NuggetBank, write: Sent) -> Result:
        value = request.POST.get("importance", "")
        return actions.set_importance(bank, uid=uid, importance=value, acting_user=request.user, seen=write.seen)

    return _write(request, bank_id, carry_out)


@require_POST
def move(request: PersonRequest, bank_id: int, uid: UUID) -> HttpResponse:
    def carry_out(bank: NuggetBank, write: Sent) -> Result:
        to = request.POST.get("to", "")
        if not (to.isascii() and to.isdigit() and len(to) < 6):
            raise BadWrite("to must be a place on the list, from 0.")
        return actions.move_nugget(bank, uid=uid, to=int(to), acting_user=request.user, seen=write.seen)

    return _write(request, bank_id, carry_out)


@require_POST
def delete(request: PersonRequest, bank_id: int, uid: UUID) -> HttpResponse:
    def carry_out(bank: NuggetBank, write: Sent) -> Result:
        return actions.delete_nugget(bank, uid=uid, acting_user=request.user, seen=write.seen)

    return _write(request, bank_id, carry_out)


@require_POST
def undo(request: PersonRequest, bank_id: int) -> HttpResponse:
    def carry_out(bank: NuggetBank, write: Sent) -> Result:
        return actions.undo(bank, acting_user=request.user, seen=write.seen)

    return _write(request, bank_id, carry_out)


@require_POST
def redo(request: PersonRequest, bank_id: int) -> HttpResponse:
    def carry_out(bank: NuggetBank, write: Sent) -> Result:
        return actions.redo(bank, acting_user=request.user, seen=write.seen)

    return _write(request, bank_id, carry_out)


@require_POST
def finish(request: PersonRequest, bank_id: int) -> HttpResponse:
    """Finish the bank: 422 says what is lacking; when done, the answer names the page to go to."""

    def carry_out(bank: NuggetBank, write: Sent) -> Result:
        return actions.finish_bank(bank, acting_user=request.user, seen=write.seen)

    response = _write(request, bank_id, carry_out)
    if response.status_code == 200:
        messages.success(request, "Finished: the nuggets are handed in and can be read, no longer changed.")
        response["HX-Redirect"] = reverse("home")
    return response


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise BadWrite("uid must be a UUID.") from error
