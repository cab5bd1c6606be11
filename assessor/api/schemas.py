"""What the API answers with, as its description has it."""

from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from ninja import Field, Schema

from assessor.campaigns.condition_kind import condition_kinds
from assessor.campaigns.models import Import
from assessor.imports.loaders import LOADERS
from assessor.scores.leaderboards import STATES

Policies = Literal["zero", "answered", "common"]
if TYPE_CHECKING:
    Kinds = str
    SentKinds = str
    States = str
else:
    Kinds = Literal[tuple(kind.name for kind in condition_kinds())]
    SentKinds = Literal[tuple(kind for kind, loader in LOADERS.items() if loader.is_a_judges)]
    States = Literal[tuple(Import.State.values)]


# Errors are written out: the library would build a class for each of them at each address, in every process.
PROBLEM, _WRONG_PARAMETER, WRONG_PARAMETERS = (
    {"$ref": f"#/components/schemas/{name}"} for name in ("Problem", "WrongParameter", "WrongParameters")
)
ERRORS = {
    "Problem": {
        "description": "Why there is no answer.",
        "type": "object",
        "properties": {"detail": {"type": "string"}},
        "required": ["detail"],
    },
    "WrongParameter": {
        "description": "A parameter that is wrong: where it stands, and what about it.",
        "type": "object",
        "properties": {
            "loc": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
            "msg": {"type": "string"},
        },
        "required": ["loc", "msg"],
    },
    "WrongParameters": {
        "type": "object",
        "properties": {"detail": {"type": "array", "items": _WRONG_PARAMETER}},
        "required": ["detail"],
    },
}


class CampaignItem(Schema):
    slug: str
    name: str
    created_at: datetime


class CampaignTold(CampaignItem):
    """protocol: the settings in force."""

    protocol: dict[str, Any]


class TopicItem(Schema):
    """is_practice: for training; what is said on it is in no labels, grades, nuggets or scores here."""

    qid: str
    title: str
    is_practice: bool
    extras: dict[str, Any]


class SegmentItem(Schema):
    docid: str
    text: str
    extras: dict[str, Any]


class RunItem(Schema):
    """generator: the families of the models that wrote its answers."""

    tag: str
    team: str
    task: str
    type: str
    priority: int | None
    aliases: list[str]
    generator: list[str]


class SentenceItem(Schema):
    """citations: the docids that it cites, in their order."""

    text: str
    citations: list[str]


class AnswerItem(Schema):
    """What a run itself answered to a topic."""

    qid: str
    run_id: str
    words: int
    sentences: list[SentenceItem]


class SourceItem(Schema):
    """Where grades come from. max_grade: of their scale, from 0; condition: under which they are made here, if so."""

    id: int
    name: str
    by: Literal["people", "model"]
    max_grade: int
    condition: str | None


class GradeItem(Schema):
    """grade: -1 and -2 say that it was not judged; iteration: column 2 of the file."""

    qid: str
    docid: str
    grade: int
    iteration: str


class ConditionItem(Schema):
    """How labels come to be. judge: null means people. is_rehearsal: some of it came from no model at all.

    name_for_assessors: what its assessors read instead of the name.
    """

    id: int
    name: str
    name_for_assessors: str
    kind: Kinds
    method: str
    identity: str
    judge: str | None
    is_a_models: bool
    is_rehearsal: bool
    nuggets: str | None
    preferences: str | None
    qrels_source: str | None
    shown: str | None
    prompts: dict[str, str]
    replicate: int
    sample: str
    protocol: str
    created_at: datetime


class RunScores(Schema):
    """scores: by measure; null is undefined. incomplete: answers that lack a label; none of these counts.

    standard_errors: of a run's scores over topics, by measure; null where fewer than two topics count.

    not_judged_by_plan: topics on which the run is not judged; none counts. What is left of the topics is unanswered.
    """

    run_id: str
    team: str
    task: str
    mark: str = Field(
        description="circular or related, of a run that was made here from what scores it; did not shape the "
        "questions, of one whose answers had no part in them."
    )
    topics: int
    complete: int
    incomplete: int
    not_judged_by_plan: int
    scores: dict[str, float | None]
    standard_errors: dict[str, float | None]


class ScoreTable(Schema):
    """Scores of runs under a condition. over: least, median, largest; unusual: what makes scores other than usual."""

    condition: str
    policy: Policies
    measures: list[str]
    topics: int
    incomplete: int
    not_judged_by_plan: int
    unusual: dict[str, int | str]
    runs: list[RunScores]
    over: list[RunScores]
    controls: list[RunScores]


class TopicScores(Schema):
    """The scores of a run's answer to a topic."""

    run_id: str
    qid: str
    mark: str
    state: str = Field(json_schema_extra={"enum": [*STATES.values()]})
    scores: dict[str, float | None]


class ComparisonItem(Schema):
    """state: of what was last computed of it."""

    id: int
    name: str
    first: str
    second: str
    policy: Literal["zero", "answered"]
    seed: int
    draws: int
    state: str | None
    created_at: datetime


class ComparisonTold(ComparisonItem):
    """result: the newest that is done, as in comparison.json; null where there is none yet."""

    result: dict[str, Any] | None


class TopicDraw(Schema):
    """Topics drawn at random for people to judge. frame: of how many; is_used: whether the scores are of this draw.

    scored_models: conditions whose scores by a model were there when the seed was first used.
    """

    seed: int
    topics: list[str]
    frame: int
    scored_models: list[str]
    created_at: datetime
    is_used: bool


class AllJudges(Schema):
    """How far judges of the same items agree, as in the JSON of exports. reference: the one that was named.

    measure, policy: of the scores by which runs are ranked; null of grades. labels: in the order of counts.
    """

    reference: str
    measure: str | None
    policy: Literal["zero", "answered"] | None
    labels: list[str]
    judges: list[dict[str, Any]]
    alpha: dict[str, Any]
    pairs: list[dict[str, Any]]


class HybridItem(Schema):
    """Scores from people's labels of some topics and a model's of all. draw: what topics people judge, if drawn.

    draws: all that were made for the people, in their order: another seed was drawn again.
    """

    id: int
    name: str
    human: str
    model: str
    draw: str | None
    draws: list[TopicDraw]
    target: Literal["campaign", "population"]
    confidence: int
    prior_sd: float
    policy: Literal["zero", "answered"]
    created_at: datetime


class HybridRun(Schema):
    """A run. order_score: by which it has its place; why: why it has no interval."""

    run_id: str
    task: str
    place: int
    score: float | None
    low: float | None
    high: float | None
    half_width: float | None
    order_score: float | None
    people: float | None
    model: float | None
    judged_topics: int
    topics: int
    why: str


class OrderTau(Schema):
    """Kendall's tau-b of an order with people's, and its interval; null where undefined, with the reason."""

    tau: float | None
    low: float | None
    high: float | None
    why: str


class PeoplesOrder(Schema):
    """How the orders by hybrid scores and by the model's agree with people's."""

    hybrid: OrderTau
    model: OrderTau


class HybridScores(Schema):
    """Hybrid scores by a measure. weight: of the model; order_weight: of runs' own biases.

    tau_people: with people's order, once they judged all topics besides those drawn; else null.
    """

    human: str
    model: str
    measure: str
    target: Literal["campaign", "population"]
    confidence: int
    prior_sd: float
    weight: float | None
    order_weight: float | None
    judged_topics: int
    topics: int
    pairs: int
    decided_pairs: int
    decided_pairs_holm: int
    tau_people: PeoplesOrder | None
    runs: list[HybridRun]


class CalibrationItem(Schema):
    """What a judge's labels are worth by people's. kappa: quadratic; low and high of its 95 % interval, or why none."""

    id: int
    name: str
    human: str
    judged: str
    kind: Kinds
    identity: dict[str, Any]
    labels: int
    topics: int
    kappa: dict[str, Any]
    created_at: datetime


class CalibrationTold(CalibrationItem):
    """result: all that was found, as in calibration.json."""

    result: dict[str, Any]


class LineProblem(Schema):
    """Something in a line; line 0: in the file as a whole. remedy: what takes the file as it is."""

    line: int
    field: str
    found: str
    expected: str
    remedy: str


class Warnings(Schema):
    """Warnings of a kind: how many, and the first of them."""

    kind: str
    count: int
    listed: list[LineProblem]


class Report(Schema):
    """What was found in a file. counts: of what it holds and brings."""

    file: str
    counts: dict[str, int]
    error_count: int
    errors: list[LineProblem]
    warning_count: int
    warnings: list[Warnings]


class ImportTold(Schema):
    """A file that was sent. is_over: nothing more becomes of it; it is all imported if its state is done."""

    id: int
    kind: SentKinds
    check_only: bool
    state: States
    is_over: bool
    percent: int
    sha256: str
    report: Report
    created_at: datetime
    ended_at: datetime | None


class TaskItem(Schema):
    """What a person has to do. seconds: active time; total: 0 where there is no fixed number."""

    id: int
    qid: str
    is_practice: bool
    condition: str
    kind: Kinds
    person: str
    state: Literal["open", "finished"]
    done: int
    total: int
    seconds: int
    worked_at: datetime | None


class ProgressItem(Schema):
    """Of a person under a condition: their tasks, and what is done of them. total: 0 where it is not known yet."""

    condition: str
    kind: Kinds
    person: str
    tasks: int
    finished: int
    done: int
    total: int
    seconds: int


class EventItem(Schema):
    """Something that happened: who did what, and when."""

    id: int
    at: datetime
    person: str | None
    verb: str
    subject: str
    details: dict[str, Any]
