"""What conditions can be about. An app that brings a kind names its one description in its AppConfig."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from django.apps import apps
from django.db.models import Count, Max
from django.urls import reverse
from django.utils.module_loading import import_string
from django.utils.translation import gettext, gettext_noop

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import Model, Q, QuerySet
    from django.forms import Form

    from assessor.accounts.models import Person
    from assessor.campaigns.forms import ConditionFields
    from assessor.campaigns.models import Answer, Campaign, Condition, Run, Sentence, Topic
    from assessor.exportables import Chosen
    from assessor.labels.api import ApiList
    from assessor.labels.cutoff import Cell
    from assessor.labels.practice import Against, Group, Items, OfAnswers
    from assessor.scores.score_source import Scoring
    from assessor.studies.sampling import Sampling
    from assessor.work.judging_pool import Moved
    from assessor.work.models import Task
    from nuggets.models import NuggetBank


# What tables must say of a run: it was made from what scores it, or by who does; or there is less between them; or its
# answers had no part in the questions, which were made from those of others.
CIRCULAR, RELATED, APART = "circular", "related", "did not shape the questions"
# Methods of conditions of any kind.
ADJUDICATED = "adjudicated"  # a third person decides between two
IMPORTED = "imported"
PANEL = "Panel"  # its labels follow from those of other conditions, by a rule


class Lacking(NamedTuple):
    """Topics, by key, that can't be given to people yet, and what says why, of one topic's qid or of several."""

    topics: set[int]
    why: Callable[[str], str]


class Section(NamedTuple):
    """A section of a page: its template, and the form there, what leads to it in the address, and what offers it."""

    template: str
    form: Form
    anchor: str
    offer: str


class ConditionKind:
    """What a condition is about: nuggets, or labels of some kind (assessor.labels.label_kind.LabelKind).

    Attributes are light. What needs other modules is a method that imports them when it is called, so that every layer
    can ask a kind and none has to know which kinds there are.
    """

    name: str  # as records, files and addresses have it; its task's page is the address of this name
    title: str  # what assessors read of a condition without a name for them
    instruction: str  # what is asked of them, in a sentence
    counted: str  # what a task counts as done: "answers"
    done: str  # what was done with that: "assigned"
    labels: Sequence[str] = ()  # in ascending order; none where people give no labels of given items
    keys: Mapping[str, str] = {}  # single characters that do something on its screen, and what
    blind_method: str  # of conditions under which people work and see nothing that a model gave
    peoples_methods: Sequence[str]  # under which people work here
    methods: Sequence[str]  # all of them, besides those of all kinds
    drafted_methods: Sequence[str] = ()  # under which a model makes nuggets here, or drafts them
    builds_on: Sequence[str] = ()  # the names of the kinds whose nuggets, those of another condition, are labelled here
    matches_banks = False  # those nuggets are matched with those of a second condition
    support = ""  # the kind, by name, whose labels say which sentences of answers are asked about here
    takes_invalid_labels = False  # what is no label in a file can count as the lowest one
    makes_nuggets = False
    makes_grades = False  # of passages, which nuggets are made from
    shown_called = "Labels that people see"  # what of another condition stands beside their work
    has_screen = True  # on which people can work
    text_name = gettext_noop("answer")  # what pages call what a person has before them, unless it is a passage
    is_in_every_study = True  # the Overview has its stage, and a plan its column, even where there is nothing of it
    results: tuple[str, str] | None = None  # what to do with what came of a condition, and the name of its page
    related = "condition"  # what url() reads of a task, for select_related

    @property
    def needs_nuggets(self) -> bool:
        """Whether the nuggets of another condition are labelled."""
        return bool(self.builds_on)

    @property
    def labels_nuggets(self) -> bool:
        """Whether texts get labels of those nuggets, which tables show beside their conditions."""
        return self.needs_nuggets and not (self.matches_banks or self.support)

    @property
    def nuggets_called(self) -> str:
        """What those nuggets are called: "questions"; "" where there are none."""
        return " or ".join(kind_named(name).counted for name in self.builds_on)

    def misfit(self, nuggets: Condition) -> str:
        """Say why nuggets of a condition can't be labelled, or ""."""
        if nuggets.kind in self.builds_on:
            return ""
        wanted = " or ".join(kind_named(name).title.lower() for name in self.builds_on)
        found = kind_of(nuggets).title.lower()
        return f"{self.title} needs {wanted}, but {nuggets} has {found}: choose another condition."

    def misfit_of_other(self, nuggets: Condition | None, other: Condition | None) -> str:
        """Say why nuggets of two conditions can't be matched, or ""."""
        if nuggets is None or other is None or nuggets.kind != other.kind:
            return f"{self.title}: choose two conditions with {self.nuggets_called}, both with the same."
        return f"{nuggets} can't be matched with itself: choose another condition." if nuggets == other else ""

    def misfit_of_support(self, support: Condition | None) -> str:
        """Say why labels of a condition can't say which sentences are supported, or ""."""
        if support is None or support.kind != self.support or support.is_panel:
            return f"{self.title}: choose a condition of the kind {self.support} that is no panel."
        return ""

    # Tasks of people

    def prepare(self, task: Task) -> None:
        """Make what the person will work on, in the transaction that gives them the task. Raises PlanError."""
        raise NotImplementedError

    def renew(self, task: Task) -> None:
        """Bring up to date, and maybe open, a task that its person is given again. Raises PlanError."""

    def url(self, task: Task) -> str:
        """Return where its person goes on."""
        return reverse(self.name, args=[task.pk])

    def is_shared(self, condition: Condition) -> bool:
        """Say whether several people may have a topic under a condition at once: they draw from one queue."""
        return False

    def closed(self, condition: Condition) -> str | None:
        """Say why nobody can be given anything under a condition, or None."""
        return None

    def lacking(self, condition: Condition, topics: Sequence[Topic]) -> Lacking:
        """Return which topics can't be given there yet, in as many queries for all of them as for one."""
        return Lacking(set(), str)

    def refusal(self, condition: Condition, topics: Sequence[Topic]) -> str | None:
        """Say why topics can't be given to people under a condition, or None."""
        if refused := self._never(condition):
            return refused
        lacking = self.lacking(condition, topics) if topics else Lacking(set(), str)
        qids = sorted(topic.qid for topic in topics if topic.pk in lacking.topics)
        return lacking.why(", ".join(qids)) if qids else None

    def refusals(self, condition: Condition, topics: Sequence[Topic]) -> dict[int, str]:
        """Say of each topic, by key, why it can't be given to people under a condition; others are left out.

        It takes as many queries for all of them as for one.
        """
        if refused := self._never(condition):
            return dict.fromkeys((topic.pk for topic in topics), refused)
        lacking = self.lacking(condition, topics)
        return {topic.pk: lacking.why(topic.qid) for topic in topics if topic.pk in lacking.topics}

    def _never(self, condition: Condition) -> str | None:
        if not self.has_screen:
            return f"Nobody can be given {condition.name}: it is not done by people on a screen."
        return self.closed(condition)

    def spoils(self, condition: Condition) -> Collection[str]:
        """Return the kinds, by name, of which nobody can work blind on a topic that they opened under a condition."""
        starts_from_a_model = condition.method in self.peoples_methods and not condition.is_blind()
        return (self.name,) if starts_from_a_model else ()

    def exposed_kinds(self, condition: Condition) -> Collection[str]:
        """Return the kinds, by name, of which nobody can work blind who saw what a model gave under a condition."""
        return (self.name,)

    def bank_section(self, person: Person, bank: NuggetBank) -> str:
        """Return the address of what stands below the list of a bank that a person edits, or ""."""
        return ""

    def shown_passages(self, condition: Condition, topics: Sequence[Topic]) -> Iterable[tuple[int, str]]:
        """Yield topic's key and docid of the passages that its screen shows on topics; a pair may come twice."""
        return ()

    def guidelines(self) -> str:
        """Return the guidelines that campaigns start with, in Markdown: guidelines.md of its app."""
        folder = files(type(self).__module__.rpartition(".")[0])
        return (folder / "guidelines.md").read_text(encoding="utf-8")

    # What organizers fill in and see

    def in_words(self, condition: Condition) -> str:
        """Say in a sentence without a full stop who makes the nuggets and who labels; the identity has the rest."""
        nuggets = condition.nuggets
        what = f"{kind_of(nuggets).counted.capitalize()} of {nuggets}" if nuggets else self.title
        shown = f" with the labels of {condition.shown} shown" if condition.shown else ""
        sample = f", a sample: {condition.sample}" if condition.sample else ""
        return f"{what} {self.done} by {condition.maker}{shown}{sample}"

    def start(self, condition: Condition) -> str:
        """Tell people who don't work blind what they start from."""
        return gettext("You start from what a model gave.")

    def pages(self, condition: Condition) -> Sequence[tuple[str, str]]:
        """Return further pages of a condition: the name of the address and what the tab says."""
        return ()

    def condition_fields(self, campaign: Campaign) -> ConditionFields | None:
        """Return its part of the form of new conditions; None where that makes no such condition."""
        return None

    def conditions(self, campaign: Campaign) -> QuerySet[Any]:
        """Return its conditions, with what the page of their campaign tells of them."""
        of_kind = campaign.conditions.filter(kind=self.name)
        return of_kind.select_related(*of_kind.model.TOLD_WITH)

    def runs_section(self, campaign: Campaign) -> Section | None:
        """Return a further section of the page of a campaign's runs."""
        return None

    def run_marks(self, condition: Condition) -> Mapping[str, str]:
        """Return CIRCULAR, RELATED or APART, by tag, of runs of which scores of a condition say another thing.

        It takes as many queries for all runs as for one.
        """
        return {}

    # Files

    def api_list(self) -> ApiList | None:
        """Return what the API lists of such a condition; None where that is nothing."""
        return None

    def cells(self, chosen: Chosen, at: datetime) -> Iterator[Cell]:
        """Yield what was planned and given at a moment, by topic and run."""
        raise NotImplementedError

    def missing(self, condition: Condition) -> Iterator[str]:
        """Say what a condition lacks to be finished, besides work of people and jobs that is not done."""
        raise NotImplementedError

    def state(self, condition: Condition) -> tuple[Any, ...]:
        """Name the state of all that its files are made from, in this database, besides what imports bring."""
        raise NotImplementedError

    # What others do

    def on_bank_finished(self, bank: NuggetBank) -> None:
        """Bring up to date what is labelled by a bank, in the transaction that finishes it, with its new edition."""

    def on_answers_changed(self, answers: Mapping[Answer, Sequence[Sentence]]) -> None:
        """Follow answers, as files changed them, each with its sentences before: one, where only its text was known.

        The texts are equal but for blanks. Where sentences were known before they are the same too, but for blanks, and
        cite what they did, and maybe more.
        """

    def judged_by_segments(self, run: Run, docids: Collection[str]) -> Collection[str]:
        """Return those of the segments that a run cites of which anything was said here."""
        return ()

    def supported_sentences(self, condition: Condition, topics: Sequence[Topic]) -> Mapping[int, list[tuple[int, int]]]:
        """Return the sentences of systems' own answers of which labels say that a citation fully supports them.

        It is (answer's key, the sentence's place from 0), in their order, by topic's key.
        """
        raise NotImplementedError

    def on_texts_replaced(self, run: Run, docids: Collection[str]) -> None:
        """Follow that a run's own texts took the place of segments that it cites. Raises JudgedBySegments."""

    def archived(self) -> Mapping[type[Model], str]:
        """Return its own models, each with the column to what a record belongs to; none before that one."""
        return {}

    # Topics for practice

    def practice_items(self, tasks: Sequence[Task], against: Against) -> Items:
        """Return what people said on tasks of practice beside the references, by condition's key."""
        raise NotImplementedError

    def practice_groups(self, task: Task, of_answers: OfAnswers) -> list[Group]:
        """Return items of a task of practice with their texts. No run is named."""
        raise NotImplementedError

    def has_work(self) -> Q:
        """Return what is true of a topic on which people or models have said anything here; files don't count."""
        raise NotImplementedError

    def has_labels(self, condition: Condition) -> bool:
        """Say whether anybody ever gave a label under a condition, a model and a file too; or a nugget."""
        return any(records.exists() for records in self.label_records(condition))

    def label_records(self, condition: Condition) -> Sequence[QuerySet[Any]]:
        """Return the labels or nuggets ever given under a condition, by the table that each is written in."""
        raise NotImplementedError

    # Answers of runs, where they are judged

    @property
    def sheets(self) -> Any:
        """The model of its judged answers, which kinds may share; None where no answers of runs are judged."""
        return None

    def judged_answers(self) -> QuerySet[Any]:
        """Return its own judged answers, where answers of runs are judged; none of control sets."""
        judged: QuerySet[Any] = self.sheets.objects.filter(condition__kind=self.name, condition__is_control=False)
        return judged

    @property
    def judges_answers(self) -> bool:
        """Whether answers of runs are judged."""
        return self.sheets is not None

    @property
    def can_drop_runs(self) -> bool:
        """Whether runs can be dropped from its conditions: answers of theirs are asked and count no longer."""
        return self.judges_answers

    @property
    def can_be_repeated(self) -> bool:
        """Whether what people labelled can be labelled again: as a second opinion, or by the same person."""
        return self.judges_answers

    @property
    def scored(self) -> Any:
        """The model of the records that scores come from: judged answers, unless a kind says otherwise."""
        return self.sheets

    def scored_records(self) -> QuerySet[Any]:
        """Return its own records that scores come from, where there are scores; none of control sets."""
        return self.in_scope(self.scored.objects.filter(condition__kind=self.name, condition__is_control=False))

    def in_scope(self, records: QuerySet[Any]) -> QuerySet[Any]:
        """Return those of records that scores come from that are not of dropped runs, where their manager has all."""
        return records

    def follow_scope(self, condition: Condition, topic: Topic) -> Moved:
        """Mark what is said of answers to a topic by which runs are judged now: see assessor.work.judging_pool."""
        raise NotImplementedError

    def scoring(self) -> Scoring | None:
        """Return how answers are scored by its labels; None where they are not."""
        return None

    def sampling(self) -> Sampling | None:
        """Return what studies draw from its labels; None where there are no studies of them."""
        return None


class UnassignedKind(ConditionKind):
    """A kind of work that no assessor is given: models do it, or organizers. What came of it is rows that only grow."""

    blind_method = ""
    peoples_methods = ()
    has_screen = False
    is_in_every_study = False

    def records(self, condition: Condition) -> QuerySet[Any]:
        """Return the rows of a condition."""
        raise NotImplementedError

    def state(self, condition: Condition) -> tuple[Any, ...]:
        return tuple(self.records(condition).aggregate(Count("pk"), Max("pk")).values())

    def label_records(self, condition: Condition) -> Sequence[QuerySet[Any]]:
        return (self.records(condition),)


class _HasKind(Protocol):
    @property
    def kind(self) -> str: ...


@cache
def _by_name() -> dict[str, ConditionKind]:
    named = (getattr(app, "condition_kind", None) for app in apps.get_app_configs())
    kinds: list[ConditionKind] = [import_string(name) for name in named if name]
    return {kind.name: kind for kind in kinds}


def condition_kinds() -> list[ConditionKind]:
    """Return all kinds, in the order of INSTALLED_APPS."""
    return list(_by_name().values())


def kinds_with_screen() -> list[ConditionKind]:
    """Return the kinds of work that people do here, which have guidelines."""
    return [kind for kind in condition_kinds() if kind.has_screen]


def kind_named(name: str) -> ConditionKind:
    """Return the kind of this name. Raises KeyError."""
    return _by_name()[name]


def kind_of(record: _HasKind) -> ConditionKind:
    """Return the kind of a condition, a task or a study."""
    return _by_name()[record.kind]


def kinds_in_order_of_work() -> list[ConditionKind]:
    """Return all kinds, as work on a topic goes: nuggets are made from grades, and given labels then."""
    return sorted(condition_kinds(), key=lambda kind: not kind.makes_grades)


def names_in_order_of_work() -> list[str]:
    """Return the names of all kinds, as work on a topic goes."""
    return [kind.name for kind in kinds_in_order_of_work()]


def kind_choices() -> list[tuple[str, str]]:
    """Return what Condition.kind can be."""
    return [(kind.name, kind.name) for kind in condition_kinds()]


def method_choices() -> list[tuple[str, str]]:
    """Return what Condition.method can be."""
    methods = [method for kind in condition_kinds() for method in kind.methods]
    return [(method, method) for method in (*methods, ADJUDICATED, IMPORTED, PANEL)]


def names_of_nuggets() -> list[str]:
    """Return the names of the kinds that make nuggets."""
    return [kind.name for kind in condition_kinds() if kind.makes_nuggets]


def labelling_kinds(nuggets: str) -> list[str]:
    """Return the names of the kinds in which texts get labels of nuggets of a kind."""
    return [kind.name for kind in condition_kinds() if kind.labels_nuggets and nuggets in kind.builds_on]


def names_of_grades() -> list[str]:
    """Return the names of the kinds that make grades of passages."""
    return [kind.name for kind in condition_kinds() if kind.makes_grades]


def names_of_answers() -> list[str]:
    """Return the names of the kinds in which answers of runs are judged."""
    return [kind.name for kind in condition_kinds() if kind.judges_answers]


def names_of_repeatable() -> list[str]:
    """Return the names of the kinds in which what people labelled can be labelled again."""
    return [kind.name for kind in condition_kinds() if kind.can_be_repeated]


def related_records() -> list[str]:
    """Return what to select with tasks whose urls will be asked for."""
    return [kind.related for kind in condition_kinds()]
