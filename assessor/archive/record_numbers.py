"""Numbers in the place of keys: a record is the number of its line in its model's file."""

from array import array
from bisect import bisect_left
from typing import Any

from django.db.models import Model

from assessor.accounts.models import Person
from assessor.archive import registry
from assessor.campaigns.models import Campaign, Condition, Judge
from assessor.llm.models import StoredPrompt


class Elsewhere(ValueError):
    """A key leads to no record of the campaign."""


class Numbers:
    """The numbers of a campaign's records."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self._keys: dict[type[Model], array[int]] = {}
        self.shared: dict[type[Model], list[Any]] = {Person: [], Judge: [], StoredPrompt: []}
        self.shared[Judge] = _judges(campaign)
        self.shared[Person] = _people(campaign, self.shared[Judge])
        used = registry.rows(registry.BY_MODEL[Condition], campaign).order_by().values_list("prompts", flat=True)
        hashes = {sha256 for prompts in used for sha256 in prompts.values()}
        self.shared[StoredPrompt] = list(StoredPrompt.objects.filter(sha256__in=hashes).order_by("sha256"))
        self._of_shared = {
            model: {record.pk: at for at, record in enumerate(records, 1)} for model, records in self.shared.items()
        }

    def of(self, model: type[Model], key: int) -> int:
        """Return the number of a record by its key. Raises Elsewhere."""
        if model in self._of_shared:
            if key in self._of_shared[model]:
                return self._of_shared[model][key]
        else:
            keys = self._keys_of(model)
            at = bisect_left(keys, key)
            if at < len(keys) and keys[at] == key:
                return at + 1
        raise Elsewhere(f"{model._meta.label_lower} {key} is no record of the campaign")

    def _keys_of(self, model: type[Model]) -> "array[int]":
        if model not in self._keys:
            rows = registry.rows(registry.BY_MODEL[model], self._campaign).order_by("pk")
            self._keys[model] = array("q", rows.values_list("pk", flat=True).iterator(chunk_size=10_000))
        return self._keys[model]


def _named(campaign: Campaign, target: type[Model]) -> set[int]:
    """Return the keys of people, or of judges, whom some record of a campaign names."""
    found: set[int] = set()
    for kept in registry.OF_CAMPAIGN:
        for column in kept.fields:
            if column.related_model is target:
                rows = registry.rows(kept, campaign).order_by()
                found.update(rows.values_list(column.attname, flat=True).distinct())
    return found - {None}


def _judges(campaign: Campaign) -> list[Judge]:
    """Return the judges of a campaign in an order that is the same in every database."""

    def name(judge: Judge) -> tuple[str, ...]:
        return judge.kind, judge.name, str(judge.parameters), judge.person.username if judge.person else ""

    return sorted(Judge.objects.select_related("person").filter(pk__in=_named(campaign, Judge)), key=name)


def _people(campaign: Campaign, judges: list[Judge]) -> list[Person]:
    """Return the people who left a trace in a campaign, by name."""
    named = _named(campaign, Person) | {judge.person_id for judge in judges if judge.person_id}
    return sorted(Person.objects.filter(pk__in=named), key=lambda person: person.username)
