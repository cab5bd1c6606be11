"""What an exportable thing is, and what somebody chose of it."""

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Any, NamedTuple

from django.db.models import QuerySet

from assessor.campaigns.models import Campaign, Condition, Run, Topic
from assessor.work.exposure import Seen
from metaeval.stats.means import Policy


class ChoiceError(Exception):
    """There is no such thing to export; the text says why."""


@dataclass(frozen=True)
class Chosen:
    """A kind's one record (a condition, a source of grades, a run, ...), its form, and of what alone it is.

    topics, runs: None for all. Of what is said on topics, those for practice are not among all. asked: what else was
    chosen, by its name in Exportable.asked.
    """

    campaign: Campaign
    record: Any
    form: str
    topics: list[Topic] | None = None
    runs: list[Run] | None = None
    policy: Policy = Policy.ZERO
    allow_incomplete: bool = False
    at: datetime | None = None
    asked: Mapping[str, str] = field(default_factory=dict)


def of_chosen(chosen: Chosen, rows: QuerySet[Any], topic: str = "topic", run: str = "") -> QuerySet[Any]:
    """Return those of the rows that are of the chosen topics and runs."""
    if chosen.topics is not None:
        rows = rows.filter(**{f"{topic}__in": [one.pk for one in chosen.topics]})
    if run and chosen.runs is not None:
        rows = rows.filter(**{f"{run}__in": [one.pk for one in chosen.runs]})
    return rows


def judged_answers(chosen: Chosen, model: Any) -> QuerySet[Any]:
    """Return the judged answers, of this model, of the chosen condition, topics and runs."""
    return of_chosen(chosen, model.objects.filter(condition=chosen.record), "answer__topic", "answer__run")


def topics_of(rows: QuerySet[Any], path: str) -> QuerySet[Topic]:
    """Return the topics of rows."""
    topics: QuerySet[Topic] = Topic.objects.filter(pk__in=rows.order_by().values(path))
    return topics


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


JSONL = {"jsonl": Form("JSONL", "jsonl")}
CSV = {"csv": Form("CSV", "csv", heads=1)}
LATEX = {"tex": Form("LaTeX", "tex")}


def of_conditions(what: str, records: Callable[[Campaign], QuerySet[Condition]]) -> Subject:
    """Return that a file is of one of these conditions."""
    return Subject("condition", what, records)


def only_of(kind: str) -> Callable[[Condition], Condition | None]:
    """Return what leaves conditions of a kind whose labels were given, and no others: those of panels follow."""
    return lambda condition: condition if condition.kind == kind and not condition.is_panel else None


def always(record: Any) -> bool:
    return True


def nothing_shown(chosen: Chosen) -> Seen:
    """Return that nothing of a model's is in a file."""
    return iter(())


class Order(IntEnum):
    """What a file is of: in this order pages and releases list them, and those of the same by app."""

    LABELS = 1
    GRADES = 2
    SCORES = 3
    WHO_GRADED = 4
    WHO_JUDGED = 5
    REPORTS = 6
    COMPARISONS = 7
    COLLECTION = 8
    WORK = 9
    HISTORY = 10


class Purpose(StrEnum):
    """What a file is for: the page of exports has a table for each."""

    PARTICIPANTS = "participants"
    TRACK = "track"
    PAPER = "paper"
    MACHINES = "machines"


_USUAL = {
    Order.SCORES: Purpose.PARTICIPANTS,
    Order.REPORTS: Purpose.PAPER,
    Order.COMPARISONS: Purpose.PAPER,
    Order.WORK: Purpose.MACHINES,
    Order.HISTORY: Purpose.MACHINES,
}


class Page(NamedTuple):
    """Another page, besides that of the exports, which offers a file at an address of its own.

    name: of the address; route: what stands in it behind the campaign's. A number in it is the record's key, or that of
    the one topic if it is called topic_id; a text is the form. file_name: what the file is called there, if not as
    everywhere, with {of}, {topics}, {form}, {ending}, {policy} and what is in Exportable.choices.
    """

    name: str
    route: str
    file_name: str = ""
    names_campaign: bool = True  # whether the file's name begins with the campaign's


class Exportable(NamedTuple):
    """Something that can be exported: an app lists its own as EXPORTABLES in its exportables.py, and that is all.

    lines: what is in the file, and size: about how many records that are, 0 where finding out takes as long as writing
    them. filters: what can be chosen of it, of "topics" and "runs". of_labels: practice topics are left out. shows: the
    conditions and sources whose output whoever takes the file has then seen, where it is or may be a model's, each with
    the topics. is_there: whether a campaign has anything of it, where it has no subject. frozen: the record that
    belongs to a condition, where it is frozen with the forms in freezes. made: the forms of which a record has a file,
    where these are not all. choices: what else is chosen of a record, by its name in addresses: all there is, each
    with what pages call it, the usual one first; the file's name tells it. asks: what else can be asked, by its
    name in addresses. page: that which offers the file besides. purposes: of forms that are for another purpose
    than is usual in the order. label: what pages call it, if not by the title, which manifests have.
    """

    name: str
    title: str
    forms: Mapping[str, Form]
    lines: Callable[[Chosen], Iterator[str]]
    size: Callable[[Chosen], int]
    order: Order
    subject: Subject | None = None
    stem: str | None = None  # of the file's name; else its own name
    filters: tuple[str, ...] = ()
    of_labels: Callable[[Any], bool] = lambda record: False
    shows: Callable[[Chosen], Seen] = nothing_shown
    is_there: Callable[[Campaign], bool] = always
    frozen: Callable[[Condition], Any] = lambda condition: None
    freezes: tuple[str, ...] = ()
    releases: tuple[str, ...] = ()  # the forms in which it is in a release
    has_policy: bool = False
    has_moment: bool = False
    remark: Callable[[Any], str] = lambda record: ""  # of a record, for a page
    made: Callable[[Any], Container[str]] | None = None
    choices: Mapping[str, Callable[[Any], Mapping[Any, str]]] = {}
    asks: tuple[str, ...] = ()
    page: Page | None = None
    usual_form: Callable[[Campaign], str] | None = None  # else the first
    purposes: Mapping[str, Purpose] = {}
    label: str = ""
    in_admin: str = ""  # what the admin's action on a condition exports, where it has one: "support judgments"

    @property
    def name_on_page(self) -> str:
        """What pages call it."""
        return self.label or self.title

    @property
    def asked(self) -> tuple[str, ...]:
        """The names of what else can be chosen and asked."""
        return (*self.choices, *self.asks)

    def records(self, campaign: Campaign) -> list[Any]:
        """Return what of a campaign there are files of; None is the campaign itself."""
        if self.subject:
            return list(self.subject.records(campaign))
        return [None] if self.is_there(campaign) else []

    def purpose_of(self, form: str) -> Purpose:
        """Return what a form is for."""
        return self.purposes.get(form) or _USUAL.get(self.order, Purpose.TRACK)

    def forms_of(self, record: Any) -> Mapping[str, Form]:
        """Return the forms of which a record has a file."""
        if self.made is None:
            return self.forms
        made = self.made(record)
        return {name: form for name, form in self.forms.items() if name in made}

    def name_of(self, chosen: Chosen, page: Page | None = None) -> str:
        """Return what a file is called that a page offers, or that of the exports."""
        if page is None or not page.file_name:
            return self.file_name(chosen.record, chosen)
        told: dict[str, Any] = {
            "of": chosen.record,
            "topics": ".".join(topic.qid for topic in chosen.topics or ()),
            "form": chosen.form,
            "ending": self.forms[chosen.form].ending,
            "policy": chosen.policy,
            **chosen.asked,
        }
        return page.file_name.format(**told)

    def file_name(self, of: Any, chosen: Chosen) -> str:
        """Return what the file is called everywhere else. of: what it calls the record."""
        stem = self.name if self.stem is None else self.stem
        choices = (chosen.asked.get(name, "") for name in self.choices)
        return ".".join(part for part in (stem, str(of or ""), *choices, self.forms[chosen.form].ending) if part)
