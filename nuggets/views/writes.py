"""Writes on a list that a person edits, over HTTP: answered with the list as it then is, as JSON, or why not."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from assessor.accounts.languages import in_own_language
from assessor.accounts.models import Person
from assessor.campaigns.http import PersonRequest
from assessor.work.write_protocol import BadWrite, Closed, Result, Sent, Stale, once, ours, refused, sent
from nuggets.actions import NotReady

Place = ParamSpec("Place")
CarryOut = Callable[Concatenate[PersonRequest, Any, dict[str, Any], Place], Result]


class Editor(NamedTuple):
    """What is edited: who may (own), what they see by it (see), what they are told (tell), what they read once it is
    handed in (done)."""

    own: Callable[[Person, int], Any]
    see: Callable[..., None]
    tell: Callable[[Any], dict[str, Any]]
    done: Callable[[Any], str]


def writes_on(editor: Editor) -> Callable[[CarryOut[Place]], Callable[..., HttpResponse]]:
    """Return what makes a view of a write on a person's own list; `by` is who acts and the version that they saw.

    200: done, now or the first time this key was sent. 409: the list has changed or is handed in; as it is now it
    comes with that. 400: the request itself is wrong. 422: it can't be handed in yet; it says why. 404: not theirs.
    """

    def make(carry_out: CarryOut[Place]) -> Callable[..., HttpResponse]:
        @require_POST
        @in_own_language
        @wraps(carry_out)
        def view(request: PersonRequest, pk: int, *args: Place.args, **kwargs: Place.kwargs) -> HttpResponse:
            return ours(answer(request, pk, *args, **kwargs))

        def answer(request: PersonRequest, pk: int, *args: Place.args, **kwargs: Place.kwargs) -> HttpResponse:
            edited = editor.own(request.user, pk)
            editor.see(edited, acting_user=request.user)  # the list is in every answer

            def do(asked: Sent) -> Result:
                by = {"acting_user": request.user, "seen": asked.seen}
                return carry_out(request, edited, by, *args, **kwargs)

            try:
                asked = sent(request)
                result = once(edited.task, asked, lambda: do(asked))
            except BadWrite as error:
                return refused(400, error)
            except NotReady:
                return _list(editor, edited, status=422)
            except (Stale, Closed):
                return _list(editor, edited, status=409)
            response = _list(editor, edited)
            # The version that this very write made: the list may have gone on since, unseen by who sends a write again.
            response["X-Assay-Version"] = str(result["version"])
            if result.get("finished"):
                messages.success(request, editor.done(edited))
                response["HX-Redirect"] = reverse("home")
            return response

        return view

    return make


def _list(editor: Editor, edited: Any, *, status: int = 200) -> HttpResponse:
    edited.refresh_from_db(fields=edited.LIVE)
    response = JsonResponse(editor.tell(edited), status=status)
    response["X-Assay-Version"] = str(edited.version)
    return response
