"""What an exportable thing is."""

from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any, NamedTuple

from django.db.models import QuerySet

from assessor.collection.models import Campaign, Condition
from assessor.exports.chosen import Chosen
from assessor.work.exposing import Seen


class Form(NamedTuple):
    """A form of a file. ending: of its name; heads: how many lines stand before the first record."""

    label: str
    ending: str
    heads: int = 0


class Subject(NamedTuple):
    """What a file is of, besides the campaign: one of these records, named in this field."""

    option: str  # in commands and addresses
    what: str
    records: Callable[[Campaign], QuerySet[Any]]
    field: str = "name"


def nothing_shown(chosen: Chosen) -> Seen:
    """Return that nothing of a model's is in a file."""
    return iter(())


class Exportable(NamedTuple):
    """Something that can be exported.

    lines: what is in the file, and size: about how many records that are. filters: what can be chosen of it, of
    "topics" and "runs". of_labels: practice topics are left out. shows: the conditions and sources whose output whoever
    takes the file has then seen, where it is or may be a model's, each with the topics. frozen: the record that belongs
    to a condition, where it is frozen with the forms in freezes. made: the forms of which a record has a file, where
    these are not all.
    """

    name: str
    title: str
    forms: Mapping[str, Form]
    lines: Callable[[Chosen], Iterator[str]]
    size: Callable[[Chosen], int]
    subject: Subject | None = None
    stem: str | None = None  # of the file's name; else its own name
    filters: tuple[str, ...] = ()
    of_labels: Callable[[Any], bool] = lambda record: False
    shows: Callable[[Chosen], Seen] = nothing_shown
    frozen: Callable[[Condition], Any] = lambda condition: None
    freezes: tuple[str, ...] = ()
    releases: tuple[str, ...] = ()  # the forms in which it is in a release
    has_policy: bool = False
    has_moment: bool = False
    remark: Callable[[Any], str] = lambda record: ""  # of a record, for a page
    made: Callable[[Any], Container[str]] | None = None
    usual_form: Callable[[Campaign], str] | None = None  # else the first

    def forms_of(self, record: Any) -> Mapping[str, Form]:
        """Return the forms of which a record has a file."""
        if self.made is None:
            return self.forms
        made = self.made(record)
        return {name: form for name, form in self.forms.items() if name in made}

    def file_name(self, record: Any, form: str) -> str:
        """Return what the file is called."""
        stem = self.name if self.stem is None else self.stem
        return ".".join(part for part in (stem, str(record or ""), self.forms[form].ending) if part)
