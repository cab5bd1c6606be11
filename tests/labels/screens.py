"""The screens on which people label, one for each kind of label: what their browsers send, and how labels are read.

A new kind needs a class here and a fixture in conftest.py; then test_label_behaviour.py holds it to the same rules.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple
from uuid import UUID

from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import connection
from django.http import HttpResponse
from django.test import Client

from assessor.preference.models import PreferencePair
from assessor.preference.verdicts import of_answers
from assessor.relevance.models import RelevanceJudgment
from assessor.work.models import Task
from nuggets import actions as nugget_actions
from tests import judging
from tests.judging import WRITES, give
from tests.nuggets.conftest import do, fill
from tests.preference import people
from tests.relevance import conftest as relevance

D = UUID(int=104)
NO_KEY = "A write needs a key (UUID) and the version that it was made on."
NO_REASON = "Say why it can't be judged."
TOO_LONG = "A reason or a note has at most 500 characters and no NUL."
Write = tuple[str, dict[str, str]]  # its address, and what goes with it


class Item(NamedTuple):
    """What gets a label. of: what has the version; key: the item there."""

    of: Any
    key: Any


class Screen:
    """A person's task of one kind of label."""

    kind: ClassVar[str]
    address: ClassVar[str]
    labels: ClassVar[tuple[str, ...]]
    no_labels: ClassVar[Mapping[str, str]]  # with what is said of each
    missing_label: ClassVar[str]  # what is said of none
    missing_reason: ClassVar[str] = NO_REASON
    long_reason: ClassVar[str] = TOO_LONG
    label_field: ClassVar[str] = "label"
    writes: ClassVar[dict[str, Write]]  # each can be done once something is labelled
    verbs: ClassVar[dict[str, str]] = {"label": "label", "cannot": "can't judge", "take back": "take back"}
    # How many items the task counts as done: at first, and after each label on the first answer; and all.
    done: ClassVar[tuple[int, ...]]
    total: ClassVar[int]
    queries: ClassVar[tuple[int, int]]  # how many statements an answer takes, and a label
    shows: ClassVar[bool] = False  # whether there is a way to ask for a model's label
    signs_off: ClassVar[bool] = True
    resolves: ClassVar[bool] = True  # whether another person's label counts where there can be none
    # How a write is refused once all is done and its person is not blind any more.
    refused_when_done: ClassVar[int] = 409
    refused_show_when_done: ClassVar[int] = 400  # there is none from scratch

    def __init__(self, task: Task) -> None:
        self.task = task

    @classmethod
    def impossible(cls) -> Iterator[tuple[str, dict[str, str], str]]:
        """Yield writes that nobody can do: address, fields, and what is said of them."""
        label, usual = cls.writes["label"]
        cannot, _ = cls.writes["cannot"]
        yield from ((label, {cls.label_field: value}, message) for value, message in cls.no_labels.items())
        yield label, {}, cls.missing_label
        for seconds in ("soon", "-1"):
            yield label, usual | {"seconds": seconds}, "seconds must be a whole number, from 0."
        yield label, usual | {"key": "x"}, NO_KEY
        yield label, usual | {"version": "x"}, NO_KEY
        yield cannot, {"reason": ""}, cls.missing_reason
        yield cannot, {"reason": " \n "}, cls.missing_reason
        for text in ("x" * 501, "a\x00b"):
            yield cannot, {"reason": text}, cls.long_reason
            if "flag" in cls.writes:
                yield "flag", {"note": text}, TOO_LONG
        if "later" in cls.writes:
            yield from (("later", {"to": to}, "to must be a whole number, from 0.") for to in ("-1", "x"))
            yield "later", {"to": "1"}, "There is no such place in the queue."

    @property
    def page(self) -> str:
        return f"/{self.address}/{self.task.pk}/"

    @property
    def answers(self) -> list[list[Item]]:
        """What is to be labelled: lists of items that have one version."""
        raise NotImplementedError

    @property
    def items(self) -> list[Item]:
        return [item for answer in self.answers for item in answer]

    @property
    def one(self) -> Item:
        return self.answers[0][0]

    @property
    def elsewhere(self) -> Item:
        """An item with another version."""
        return self.answers[1][0]

    def on_another_topic(self) -> "Screen":
        """Give its person t2, too."""
        task = self.task
        return type(self)(give(task.condition, task.campaign.topics.get(qid="t2"), task.person))

    # Requests

    def url(self, item: Item) -> str:
        return f"{self.page}answers/{item.of.pk}/"

    def url_of(self, item: Item, verb: str) -> str:
        """Return the address of a write."""
        return f"{self.url(item)}{verb}/"

    def send(self, client: Client, item: Item, verb: str, **fields: object) -> HttpResponse:
        """Send a write: with a new key, and the present version, where none is given."""
        return judging.send(client, item.of, verb, item.key, task=self.task.pk, **fields)

    def write(self, client: Client, item: Item, name: str, **fields: object) -> HttpResponse:
        """Send a write with what usually goes with it."""
        verb, usual = self.writes[name]
        return self.send(client, item, verb, **{**usual, **fields})

    def label(self, client: Client, item: Item, label: str, **fields: object) -> HttpResponse:
        return self.write(client, item, "label", **{self.label_field: label}, **fields)

    def sign_off(self, client: Client, **fields: object) -> HttpResponse:
        return judging.sign_off(client, self.task, **fields)

    def finish(self, client: Client) -> None:
        """Label all there is."""
        for item in self.items:
            assert self.label(client, item, self.labels[0]).status_code == 200
        if self.signs_off:
            assert self.sign_off(client).status_code == 200

    def readings(self, client: Client) -> dict[str, Callable[[], HttpResponse]]:
        """Return all that its person can open, by name."""
        return {"page": lambda: client.get(self.page), "answer": lambda: client.get(self.url(self.one))}

    def writings(self, client: Client) -> dict[str, Callable[[], HttpResponse]]:
        """Return all that can be sent from there, by name."""
        sent: dict[str, Callable[[], HttpResponse]] = {
            name: lambda name=name: self.write(client, self.one, name) for name in self.writes
        }
        if self.shows:
            sent["show"] = lambda: self.send(client, self.one, "show")
        if self.signs_off:
            sent["sign off"] = lambda: self.sign_off(client)
        return sent

    # What came of it

    def version(self, item: Item) -> int:
        return type(item.of)._base_manager.get(pk=item.of.pk).version

    def stands(self, item: Item) -> dict[str, Any]:
        """Return what stands of an item."""
        return judging.again(item.of).standing(str(item.key), item.of.SAID)

    def events(self, item: Item) -> list[Any]:
        """Return the events of what has an item's version, the first one first."""
        return list(judging.history(item.of))

    def history(self, item: Item) -> list[tuple[str, dict[str, Any], dict[str, Any], int | None]]:
        """Return the changes of an item: verb, what stood before and after, and seconds."""
        changes = [(event, event.changes_by_item.get(str(item.key), {})) for event in self.events(item)]
        return [
            (event.verb, *({field: pair[n] for field, pair in of.items() if pair[n]} for n in (0, 1)), event.seconds)
            for event, of in changes
        ]

    def saved(self, version: int, to_do: int) -> dict[str, Any]:
        """Return what answers a write that was saved."""
        return {"version": version, "to_do": to_do}

    def refused(self, version: int, to_do: int, labels: Mapping[Any, str], closed: str = "") -> dict[str, Any]:
        """Return what answers a write that was refused, where these labels are all that stands."""
        said = {"labels": {str(key): label for key, label in labels.items()}, "cannot": {}, "flags": {}}
        return {"version": version, "to_do": to_do, "put_off": 0, "said": said | self.also_said(), "closed": closed}

    def also_said(self) -> dict[str, Any]:
        """Return what else is told of the first answer when a write on it is refused."""
        return {"shown": {}}


def _writes(kind: str) -> dict[str, Write]:
    """Return the writes on answers of a kind, but for the showing of a model's label: from scratch there is none."""
    own = {verb: (verb, fields) for verb, fields in WRITES[kind].items() if verb != "show"}
    return own | {"take back": ("label", {"label": ""})}


class AnswersScreen(Screen):
    """Answers with several items, which have their answer's version in common."""

    missing_label = "There is no label."

    @property
    def answers(self) -> list[list[Item]]:
        found = [one for tag in ("team.one", "team.two") for one in judging.all_judged(self.task, tag)]
        return [[Item(one, key) for key in judging.judgeable(one)] for one in found]


class AssignmentScreen(AnswersScreen):
    """Three nuggets in each of two answers; a third one is empty, and so done by rule."""

    kind = "assignment"
    address = "assign"
    labels = ("support", "partial_support", "not_support")
    no_labels = dict.fromkeys(
        ("full", "Support", "invalid"), "A label is one of support, partial_support, not_support."
    )
    writes = _writes("assignment")
    done, total = (1, 1, 1, 2), 3
    queries = (3, 8)
    shows = True

    def readings(self, client: Client) -> dict[str, Callable[[], HttpResponse]]:
        nugget = f"{self.page}nuggets/{self.one.key}/"
        return super().readings(client) | {"nugget": lambda: client.get(nugget)}

    def on_another_topic(self) -> Screen:
        task = self.task
        give(task.condition.nuggets, task.campaign.topics.get(qid="t2"), task.person)
        bank = task.condition.nuggets.nugget_banks.get(topic__qid="t2")
        fill(bank, (D, "glass is melted", "vital"))
        do(bank, nugget_actions.finish_bank)
        return super().on_another_topic()

    def refused(self, *args: Any, **fields: Any) -> dict[str, Any]:
        return super().refused(*args, **fields) | {"edition": 1}

    def also_said(self) -> dict[str, Any]:
        return {"asked": None, "stale": {}, "marks": {}}


class GradingScreen(AssignmentScreen):
    """Three questions in each of two answers; a third one is empty, and so done by rule."""

    kind = "grading"
    labels = ("5", "4", "0", "1", "2", "3")
    no_labels = dict.fromkeys(("6", "high", "05", "support"), "A label is one of 0, 1, 2, 3, 4, 5.")
    writes = _writes("grading")

    def on_another_topic(self) -> Screen:
        return AnswersScreen.on_another_topic(self)


class SupportScreen(AnswersScreen):
    """Two citations in an answer and one in another, whose second one can't be judged."""

    kind = address = "support"
    labels = ("full", "partial", "none")
    no_labels = dict.fromkeys(("supported", "Full", "not judged"), "A label is one of full, partial, none.")
    writes = _writes("support")
    done, total = (0, 1, 2), 3
    queries = (4, 8)
    shows = True

    def also_said(self) -> dict[str, Any]:
        return {"open": [item.key for item in self.answers[0]], "equal": [], "shown": {}}


class ArgueScreen(AnswersScreen):
    """Reports: two judgments of one and one of another; a third one is empty, and so done."""

    kind = address = "argue"
    labels = ("yes", "no")
    no_labels = dict.fromkeys(("maybe", "Yes", "full"), "A label is one of no, yes.")
    writes = _writes("argue")
    done, total = (1, 1, 2), 3
    queries = (4, 8)

    def refused(self, *args: Any, **fields: Any) -> dict[str, Any]:
        return super().refused(*args, **fields) | {"edition": 1}

    def also_said(self) -> dict[str, Any]:
        return {"open": [item.key for item in self.answers[0]], "stale": {}}


class RelevanceScreen(Screen):
    """Four passages, each with a version of its own."""

    kind = address = "relevance"
    labels = ("3", "2", "1", "0")
    no_labels: ClassVar = {
        "4": "A grade is one of 0, 1, 2, 3.",
        "-1": "grade must be a whole number, from 0.",
        "": "grade must be a whole number, from 0.",
    }
    missing_reason = long_reason = missing_label = "Say in at most 500 characters why it can't be judged."
    label_field = "grade"
    writes: ClassVar = {
        "label": ("judge", {"grade": "3", "seconds": "4"}),
        "cannot": ("judge", {"reason": "garbled"}),
        "take back": ("undo", {}),
    }
    verbs: ClassVar = {"label": "label", "cannot": "label", "take back": "undo"}
    done, total = (0, 1), 4
    queries = (5, 15)
    shows = True
    signs_off = resolves = False
    refused_when_done = refused_show_when_done = 403

    @property
    def answers(self) -> list[list[Item]]:
        passages = RelevanceJudgment.objects.filter(condition=self.task.condition, topic=self.task.topic)
        return [[Item(passage, passage.pk)] for passage in passages.order_by("docid")]

    def url_of(self, item: Item, verb: str) -> str:
        return f"{self.page}{verb}/"

    def send(self, client: Client, item: Item, verb: str, **fields: object) -> HttpResponse:
        return relevance.send(client, self.task, verb, **{"item": item.key, **fields})

    def writings(self, client: Client) -> dict[str, Callable[[], HttpResponse]]:
        return super().writings(client) | {"draw": lambda: relevance.send(client, self.task, "draw")}

    def stands(self, item: Item) -> dict[str, Any]:
        return RelevanceJudgment.objects.get(pk=item.key).standing()

    def events(self, item: Item) -> list[Any]:
        return list(item.of.events.order_by("version"))

    def history(self, item: Item) -> list[tuple[str, dict[str, Any], dict[str, Any], int | None]]:
        changes, reason = [], ""
        for event in self.events(item):
            before = _standing(event.state_before, event.value_before, reason)
            changes.append((event.verb, before, _standing(event.state, event.value, event.reason), event.seconds))
            reason = event.reason
        return changes

    def saved(self, version: int, to_do: int) -> dict[str, Any]:
        return super().saved(version, to_do) | {"others": 0, "total": self.total}


class PreferenceScreen(Screen):
    """Two pairs of answers, each with a version of its own; a third one is a tie by rule. Ties can be said."""

    kind = "preference"
    address = "compare"
    labels = ("1", "0", "2")
    no_labels = dict.fromkeys(("3", "left", "01"), "A label is one of 1, 2, 0.")
    missing_label = "There is no label."
    writes: ClassVar = {
        "label": ("label", {"label": "1", "seconds": "4"}),
        "cannot": ("cannot", {"reason": "garbled", "seconds": "3"}),
        "flag": ("flag", {"note": "odd"}),
        "later": ("later", {}),
        "take back": ("label", {"label": ""}),
    }
    done, total = (0, 1), 2
    queries = (8, 11)
    resolves = False  # of two items in an answer; tests/preference has it

    @property
    def answers(self) -> list[list[Item]]:
        return [[Item(pair, pair.item)] for pair in people.pairs_of(self.task)]

    def send(self, client: Client, item: Item, verb: str, **fields: object) -> HttpResponse:
        return people.send(client, item.of, verb, task=self.task.pk, **fields)

    def sign_off(self, client: Client, **fields: object) -> HttpResponse:
        return people.sign_off(client, self.task, **fields)

    def stands(self, item: Item) -> dict[str, Any]:
        return _as_shown(item.of, PreferencePair.objects.get(pk=item.of.pk).standing())

    def events(self, item: Item) -> list[Any]:
        return list(item.of.revisions.order_by("version"))

    def history(self, item: Item) -> list[tuple[str, dict[str, Any], dict[str, Any], int | None]]:
        return [
            (verb, _as_shown(item.of, before), _as_shown(item.of, after), seconds)
            for verb, before, after, seconds in super().history(item)
        ]

    def also_said(self) -> dict[str, Any]:
        return {"open": [self.one.key]}


def _as_shown(pair: PreferencePair, stands: Mapping[str, Any]) -> dict[str, Any]:
    """Return what stands with the label in terms of what is shown."""
    label = stands.get("label")
    of_shown = {"label": of_answers(label, second_stood_first=pair.second_stood_first)} if label else {}
    return {**stands, **of_shown}


def _standing(state: str, value: str | None, reason: str) -> dict[str, Any]:
    return {"given": {"label": value}, "unjudgeable": {"cannot": reason}}.get(state, {})


_SCREENS = (AssignmentScreen, GradingScreen, SupportScreen, ArgueScreen, RelevanceScreen, PreferenceScreen)
SCREENS: dict[str, type[Screen]] = {one.kind: one for one in _SCREENS}


def everything() -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows there are, without sessions, to show that a request changed none.

    The database is asked directly: to put a query together for each of so many tables takes far longer.
    """
    tables = sorted(model._meta.db_table for model in apps.get_models() if model is not Session)
    found = {}
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f'SELECT * FROM "{table}" ORDER BY 1')
            found[table] = cursor.fetchall()
    return found
