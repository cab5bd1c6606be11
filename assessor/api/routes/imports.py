"""Labels and drafts that others' programs made, as files: an import like any other, by a token for nothing else."""

from typing import Any, Literal

from django.db import transaction
from django.http import Http404, HttpResponseBase
from ninja import Field, Query, Router
from ninja.errors import ValidationError

from assessor.api.authentication import Bearer, TokenRequest, asker
from assessor.api.bodies import body_of
from assessor.api.models import Token
from assessor.api.operations import one, send
from assessor.api.pagination import Id, Parameters, Text, as_json
from assessor.api.schemas import ImportTold, SentKinds
from assessor.campaigns.access import campaign_import, organized_campaign
from assessor.campaigns.models import Import
from assessor.imports import importer
from assessor.imports.forms import FileForm
from assessor.imports.importer import hand_over
from assessor.imports.loaders import LOADERS
from assessor.imports.loaders.base import SENDER

router = Router(auth=Bearer(Token.May.IMPORT))


class Sent(Parameters):
    """A file that is sent. Which of the further fields it needs is its kind's, as on the page of imports."""

    kind: SentKinds = Field(description="What it holds.")
    file: Text | None = Field(None, description="What pages and its report call it.")
    check_only: bool = Field(False, description="It is checked, and not imported.")
    condition: Text | None = Field(None, description="A new one, or one that came by this token, to which it is added.")
    nuggets: Text | None = Field(None, description="The condition of the nuggets that its labels are of.")
    source: Text | None = Field(None, description="Of grades, or for drafts whose relevant passages are shown.")
    by: Literal["people", "model"] | None = Field(None, description="Who made what it holds.")
    maker: Text | None = Field(None, description="The model that made drafts.")
    edition: Text | None = Field(None, description="Which former nuggets come from.")
    edition_date: Text | None = Field(None, description="A year, month or day.")
    invalid_labels: Literal["missing", "not_support"] | None = Field(None, description="By default they are errors.")


@send(router, "/campaigns/{slug}/imports", "send_import", ImportTold, "imports")
def send_import(request: TokenRequest, slug: Text, sent: Query[Sent]) -> HttpResponseBase:
    """Send a file of labels, grades, nuggets or drafts, plain or gzipped; it is imported whole or not at all."""
    person = asker(request)
    campaign = organized_campaign(person, slug)
    options = _options(sent) | {SENDER: request.auth.prefix}
    with body_of(request) as path:
        upload = importer.keep(path)
    with transaction.atomic():
        made = importer.take_in(
            upload,
            campaign=campaign,
            kind=sent.kind,
            file_name=sent.file or sent.kind,
            options=options,
            person=person,
            check_only=sent.check_only,
        )
        hand_over([made])
    response = as_json(_told(made))
    response.status_code = 202
    response["Location"] = f"{request.path}/{made.pk}"
    return response


def _options(sent: Sent) -> dict[str, str]:
    """Return what its loader is told of a file. Raises ValidationError."""
    said = sent.model_dump(exclude={"file", "check_only"}, exclude_none=True)
    errors = dict.fromkeys(said.keys() - {"kind", *LOADERS[sent.kind].asks}, "Files of this kind have none.")
    form = FileForm(said)
    errors |= {name: " ".join(map(str, messages)) for name, messages in form.errors.items()}
    if errors:
        raise ValidationError([{"loc": ["query", name], "msg": message} for name, message in sorted(errors.items())])
    options: dict[str, str] = form.cleaned_data["options"]
    return options


@one(router, "/campaigns/{slug}/imports/{import_id}", "get_import", ImportTold, "imports")
def get_import(request: TokenRequest, slug: Text, import_id: Id) -> HttpResponseBase:
    """What became of a file that was sent with this token."""
    import_record = campaign_import(organized_campaign(asker(request), slug), import_id)
    if import_record.options.get(SENDER) != request.auth.prefix:
        raise Http404("There is no such import in this campaign.")
    return as_json(_told(import_record))


def _told(import_record: Import) -> dict[str, Any]:
    ended_at = import_record.ended_at
    plain = ("kind", "check_only", "state", "is_over", "percent", "sha256", "report")
    return {
        "id": import_record.pk,
        **{name: getattr(import_record, name) for name in plain},
        "created_at": import_record.created_at.isoformat(),
        "ended_at": ended_at and ended_at.isoformat(),
    }
