"""Freezing finished conditions: a version's files are kept as they are, with a signed manifest."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Count, QuerySet, Sum
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns import history
from assessor.campaigns.condition_kind import kind_of
from assessor.campaigns.models import Condition, Topic
from assessor.campaigns.queries import byte_order
from assessor.exportables import Chosen, Exportable
from assessor.exports import frozen_files
from assessor.exports.exposure import shown_in
from assessor.exports.manifests import as_text, condition_payload, file_payload, heading, protocol_payload
from assessor.exports.models import Blob, Frozen, FrozenFile
from assessor.exports.readiness import missing
from assessor.exports.registry import EXPORTABLES
from assessor.exports.selection import choose
from assessor.exports.signatures import has_key, signed
from assessor.exports.zips import MANIFEST, SIGNATURE, Part, bundle, signature_file
from assessor.scores.cache import last_imports

FORMAT = "assay-frozen"


class FreezeError(Exception):
    """A condition can't be frozen; the text says why."""


def _alive(records: int) -> None:
    """Take no notice of how far it is."""


def state(condition: Condition) -> str:
    """Name the state of all that a condition's files are made from, in this database."""
    practice = condition.campaign.topics.filter(is_practice=True).aggregate(Count("pk"), Sum("pk"))
    return repr((kind_of(condition).state(condition), last_imports(condition.campaign), tuple(practice.values())))


def parts_of(condition: Condition, *, allow_incomplete: bool = False) -> Iterator[tuple[Exportable, Chosen]]:
    """Yield what of a condition is frozen: each file's kind, and what it is of.

    allow_incomplete: what lacks labels has scores too; those of an imported condition, whose file may lack some for
    good, always do, and say so.
    """
    for kind in EXPORTABLES:
        record = kind.frozen(condition)
        if record is None:
            continue
        for form in kind.freezes:
            options: dict[str, Any] = {"of": str(record), "form": form}
            if kind.has_policy:
                options["allow_incomplete"] = allow_incomplete or condition.method == Condition.IMPORTED
            yield kind, choose(condition.campaign, kind, options)


def freeze(
    *,
    condition: Condition,
    acting_user: Person | None,
    sign_of_life: Callable[[int], None] = _alive,
    frozen: Callable[[Frozen], None] = lambda version: None,
) -> Frozen:
    """Freeze a finished condition as its next version. Raises FreezeError, with all that is missing.

    frozen: called with the version in the transaction that adds it; what it raises undoes that.
    """
    has_key()  # an odd key is found before the work
    if lacking := missing(condition):
        raise FreezeError(f"{condition} is not finished. {' '.join(lacking)}")
    before = state(condition)
    with ExitStack() as spools:
        made = [
            _Made(
                kind,
                chosen.form,
                _file_name(kind, chosen.form),
                spools.enter_context(
                    frozen_files.spooled(kind.lines(chosen), kind.forms[chosen.form].heads, sign_of_life)
                ),
            )
            for kind, chosen in parts_of(condition)
        ]
        # Of a version that is refused no bytes are kept.
        _check(condition, made, before)
        kept = {one.name: frozen_files.keep(condition.campaign, one.spool, sign_of_life) for one in made}
    with transaction.atomic():
        locked = Condition.objects.select_for_update(of=("self",)).get(pk=condition.pk)
        _check(locked, made, before)
        version = _add(locked, made, kept, before, acting_user)
        frozen(version)
        return version


class _Made(NamedTuple):
    """A file of a version that is to be."""

    kind: Exportable
    form: str
    name: str
    spool: frozen_files.Spooled

    def told(self) -> dict[str, Any]:
        return file_payload(self.name, **self.spool.tally.facts())


def _check(condition: Condition, made: list[_Made], before: str) -> None:
    """Raise FreezeError where a condition was changed while its files were made, or they are those of its version."""
    if state(condition) != before or missing(condition):
        raise FreezeError(f"{condition} was changed while it was frozen: try again when nobody works on it.")
    newest = condition.frozen.first()
    sums = {one.name: one.spool.tally.facts()["sha256"] for one in made}
    if newest and dict(newest.files.values_list("name", "blob__sha256")) == sums:
        raise FreezeError(f"Nothing has changed since {newest}: its files are the same.")


def _file_name(kind: Exportable, form: str) -> str:
    return f"{kind.name}.{kind.forms[form].ending}"


def _add(condition: Condition, made: list[_Made], kept: dict[str, Blob], state: str, person: Person | None) -> Frozen:
    newest = condition.frozen.first()
    version, now = (newest.version if newest else 0) + 1, timezone.now()
    files = sorted((one.told() for one in made), key=lambda file: str(file["name"]))
    manifest = as_text(
        {
            **heading(FORMAT, condition.campaign, at=now.isoformat(), by=person),
            "condition": condition_payload(condition),
            "version": version,
            "protocol": protocol_payload(condition.protocol),
            "practice_topics": "left out",
            "topics": _topics(condition),
            "signed": has_key(),
            "files": files,
        }
    )
    public_key, signature = signed(manifest.encode())
    frozen = Frozen.objects.create(
        condition=condition,
        version=version,
        at=now,
        person=person,
        manifest=manifest,
        public_key=public_key,
        signature=signature,
        state=state,
    )
    FrozenFile.objects.bulk_create(
        FrozenFile(frozen=frozen, kind=one.kind.name, form=one.form, name=one.name, blob=kept[one.name]) for one in made
    )
    told = {"version": version, "signed": bool(signature), "files": {file["name"]: file["sha256"] for file in files}}
    history.record("condition frozen", condition, campaign=condition.campaign, person=person, **told)
    return frozen


def _topics(condition: Condition) -> list[str]:
    """Return the ids of the topics that a condition's files are of."""
    keys = {key for _, _, topics in shown_in(parts_of(condition)) for key in topics}
    return list(condition.campaign.topics.filter(pk__in=keys).order_by(byte_order("qid")).values_list("qid", flat=True))


def topics_of(frozen: Frozen) -> QuerySet[Topic]:
    """Return the topics that a version's files are of: what became practice since, or was reopened, is in them.

    By id, as archives know them; where a manifest names none, being older than they are named, all of the campaign.
    """
    topics: QuerySet[Topic] = frozen.condition.campaign.topics.all()
    qids = json.loads(frozen.manifest).get("topics")
    return topics if qids is None else topics.filter(qid__in=qids)


def frozen_bundle(frozen: Frozen) -> Iterator[bytes]:
    """Yield a frozen version as a zip: the same bytes whenever and wherever it is asked for."""
    manifest = frozen.manifest.encode()
    texts = {MANIFEST: manifest, SIGNATURE: signature_file(manifest, frozen.public_key, frozen.signature)}
    files = frozen.files.select_related("blob").order_by("name")
    parts = [Part(name, len(data), [data]) for name, data in texts.items()]
    return bundle([*parts, *(Part(file.name, file.blob.size, frozen_files.pieces(file.blob)) for file in files)])
