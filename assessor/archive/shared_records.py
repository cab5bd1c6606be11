"""People, judges and prompts: those of an archive that an installation has already are not made again."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.hashers import make_password
from django.db.models import Model

from assessor.accounts.models import Person
from assessor.archive.errors import ArchiveError
from assessor.campaigns.models import Judge
from assessor.llm.models import StoredPrompt
from assessor.llm.prompts import sha256_of
from assessor.runtime.sql import insert, row_as_kept

Values = dict[str, Any]


def require_new_people(names: Sequence[str]) -> None:
    """Raise ArchiveError where there are people of these names."""
    known = set(Person.objects.filter(username__in=names).values_list("username", flat=True))
    if known:
        raise ArchiveError(
            f"There are people of these names already: {', '.join(sorted(known))}. If they are the same people, "
            "say so; if not, restore into another database."
        )


def find_or_make(model: type[Model], values: Values) -> int:
    """Return the key of the person, judge or prompt with these values, which is made where there is none.

    Raises ArchiveError for one that is there and is another.
    """
    if model is Person:
        return _person(values)
    return _judge(values) if model is Judge else _prompt(values)


def _person(values: Values) -> int:
    known = Person.objects.filter(username=values["username"]).first()
    if known:
        return known.pk
    # No archive has a password: an administrator makes a link.
    return Person.objects.create(password=make_password(None), **values).pk


def _judge(values: Values) -> int:
    kind, name = values["kind"], values["name"]
    if kind == Judge.Kind.PERSON:
        same = Judge.objects.filter(person=values["person_id"])
    elif kind == Judge.Kind.IMPORTED:
        same = Judge.objects.filter(kind=kind, name=name, parameters=values["parameters"])
    else:
        same = Judge.objects.none()  # a model is a judge of one campaign, and this one is new
    return _key(Judge, same, values)


def _prompt(values: Values) -> int:
    sha256 = values["sha256"]
    # By its hash it will be taken for what some job sends.
    if sha256_of(values["text"]) != sha256:
        raise ArchiveError(f"The prompt {sha256[:12]} has another text than its sha256 says.")
    return _key(StoredPrompt, StoredPrompt.objects.filter(sha256=sha256), values)


def _key(model: type[Model], same: Any, values: Values) -> int:
    """Return the key of a record; a new one keeps its times, which saving would set anew."""
    if (known := same.first()) is None:
        names = [column.name for column in model._meta.concrete_fields if not column.primary_key]
        row = row_as_kept(model, names, [values[model._meta.get_field(name).attname] for name in names])  # type: ignore[union-attr]  # no relation from elsewhere
        insert(model, names, [row])
        known = model._default_manager.order_by("-pk")[0]
    key: int = known.pk
    return key
