"""The kinds of job. An app names its own in its AppConfig, as job_kinds = ("app.module.Class",)."""

from collections.abc import Awaitable, Collection, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple, Protocol

from django.apps import apps
from django.utils.module_loading import import_string

from assessor.campaigns.condition_kind import kind_named
from assessor.campaigns.models import Answer, Condition, Topic
from assessor.llm.models import Job, Unit
from assessor.llm.prompts import PreviewSubject, Prompt, PromptRequest, PromptSet, Value


class UnitFailure(Exception):
    """A unit can't be done, and asking again won't help; the text says why."""


class Ask(Protocol):
    """Sends a request to the job's judge and returns the reply as PromptRequest.read gives it."""

    prompts: PromptSet

    def __call__(self, request: PromptRequest[Value]) -> Awaitable[Value]: ...


class Expected(NamedTuple):
    """What some work will take: calls, characters sent (about 4 a token), tokens that come back."""

    calls: int
    characters: int
    tokens_out: int


class TopicState(NamedTuple):
    """What a job finds on a topic. lacking: what keeps it from starting there, or ""; done: of all items, labelled."""

    lacking: str = ""
    done: int = 0
    total: int = 0

    @property
    def is_done(self) -> bool:
        return not self.lacking and 0 < self.total <= self.done


class Grades(Enum):
    """Which relevance grades the condition of a kind of job builds on."""

    NONE = "none"
    ANY = "any"
    PEOPLES = "people's"


class JobKind(Protocol):
    """A kind of job: its prompts, what there is to do, how one unit is done, and where its result goes.

    The condition of expected() may not be saved yet; then nothing has been done under it.
    """

    name: str  # in commands and records
    title: str  # on pages: what a model does, "Assign nuggets"
    summary: str  # what that is, in a few words
    counted: str  # what topic_states counts: "Answers labelled"
    when_empty: str = ""  # what fills it where no topic is ready
    condition_kind: str
    method: str  # of Condition
    prompts: tuple[Prompt[Any], ...]
    grades: Grades = Grades.NONE
    takes_rankings: bool = False  # it can read the first documents of a retrieval run, and not those graded relevant
    preferences: str = ""  # the name of the kind of condition whose preferences it takes; "" where it takes none
    about_answers: bool = False  # whether each unit has an answer
    of_passages: bool = False  # which are passages then, and not what runs answered
    is_launched: bool = True  # by organizers; else by what others do
    topics_at_once: int = 7  # whose units are made in one transaction, which is to be short

    @property
    def builds_on(self) -> Sequence[str]:
        """The names of the kinds of condition whose nuggets it takes."""
        return kind_named(self.condition_kind).builds_on

    @property
    def nuggets_called(self) -> str:
        """What those nuggets are called."""
        return kind_named(self.condition_kind).nuggets_called

    @property
    def matches_banks(self) -> bool:
        """Whether it takes the nuggets of a second condition too."""
        return kind_named(self.condition_kind).matches_banks

    @property
    def support(self) -> str:
        """The name of the kind of condition whose labels say which sentences are asked about; "" where none do."""
        return kind_named(self.condition_kind).support

    def called(self, condition: Condition) -> str:
        """Return what is made under a condition that has no name yet, as its name will tell it."""
        return self.name

    def begin(self, condition: Condition, topics: Sequence[Topic]) -> int:
        """Write down some of what is to be done on these topics, before units(), in a transaction that is to be short.

        For kinds whose scores must know what they lack, be it that its unit fails or is never reached. Return how much
        was new, 0 once it is all there: for what follows from a rule alone there are no units.
        """
        return 0

    def units(self, condition: Condition, topics: Sequence[Topic]) -> Iterable[tuple[int, int | None, str]]:
        """Yield (topic's key, answer's key, item) of all that is not done yet under the condition.

        answer: None for kinds that are not about answers; item: "" for all of the topic, or of the answer.
        """

    def expected(self, condition: Condition, topics: Sequence[Topic], prompts: PromptSet) -> Expected:
        """Tell what the units of these topics will take. Raises JobError where there can be none."""

    def topic_states(self, condition: Condition, topics: Sequence[Topic]) -> Mapping[int, TopicState]:
        """Return what a job under a condition finds on topics, by their keys, in a constant number of queries.

        The condition may not be saved yet; then nothing has been done under it.
        """
        return {}

    def preview_subject(self, unit: Unit) -> PreviewSubject:
        """Return what the request of a unit of a job can be shown by."""
        condition = unit.job.condition
        return PreviewSubject(
            topic=unit.topic.qid,
            qrels=str(condition.qrels_source or ""),
            condition=str(condition.nuggets or condition),
            run=unit.answer.run.tag if unit.answer else "",
            docid=unit.item,
        )

    def prepare(self, job: Job, units: Sequence[Unit]) -> Mapping[int, Any]:
        """Read from the database what units need, a batch at a time; return it by the unit's key, as plain values.

        A UnitFailure as a value fails that unit with its text, without a call.
        """

    async def carry_out(self, work: Any, ask: Ask) -> Any:
        """Do one unit: no database here, only requests. May raise UnitFailure.

        Deterministic, so that after a kill it sends the same again and is answered from the ledger.
        """

    def store(self, job: Job, results: Sequence[tuple[Unit, Any]]) -> None:
        """Write what came of units, inside the transaction that marks them done.

        May raise UnitFailure, which undoes that transaction: each unit is then stored alone, or fails with that text.
        """

    def unit_names(self, units: Collection[Unit]) -> Mapping[int, str]:
        """Return what of their topics organizers call units, by key, for those that they don't know by their items.

        Answers are called by their runs' tags, and passages by their docids.
        """
        if not self.about_answers:
            return {}
        answers = Answer.objects.filter(pk__in=[unit.answer_id for unit in units]).select_related("run")
        names = {one.pk: one.docid or one.run.tag for one in answers.only("form", "references", "run__tag")}
        return {unit.pk: names[unit.answer_id] for unit in units if unit.answer_id}

    def notes(self, job: Job) -> Sequence[str]:
        """Return what organizers should know of what a job has brought so far, a sentence each."""
        return ()


def job_kinds() -> dict[str, JobKind]:
    """Return all kinds of job, by name."""
    paths = [path for app in apps.get_app_configs() for path in getattr(app, "job_kinds", ())]
    return {kind.name: kind for kind in (import_string(path)() for path in paths)}


def launched_kinds() -> dict[str, JobKind]:
    """Return the kinds of job that organizers launch, by name."""
    return {name: kind for name, kind in job_kinds().items() if kind.is_launched}


def job_kind_named(name: str) -> JobKind:
    """Return the kind of this name. Raises KeyError where no app has it."""
    return job_kinds()[name]


def job_prompts() -> dict[str, Prompt[Any]]:
    """Return the prompts of all kinds of job, by name."""
    return {prompt.name: prompt for kind in job_kinds().values() for prompt in kind.prompts}
