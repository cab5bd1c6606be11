"""Labels of people and of a model that differ, of citations and of nuggets, and studies of them."""

from collections.abc import Mapping
from typing import Any

import pytest

from assessor.accounts.models import Person
from assessor.campaigns.models import Answer, Campaign, Condition, Judge, Topic
from assessor.campaigns.passages import lacking_passages
from assessor.studies.actions import code_item, define_code, draw_study, register_study
from assessor.studies.models import Registration, SampledItem, Study
from assessor.work.actions import give_tasks
from assessor.work.models import Task
from assignment.actions.judged_answers import add_sheets as add_answer_sheets
from assignment.actions.judged_answers import sheet_row as answer_sheet_row
from nuggets.models import NuggetBank
from nuggets.queries import present_editions
from support.actions import add_sheets, sheet_row
from support.citations import judged_citations
from tests.conftest import make_person
from tests.judging import all_judged, put
from tests.judging import everything as all_that_writes_touch
from tests.support.judging_helpers import run_file

# Of each run its sentences, with what each cites. The text of d4 is not loaded.
RUNS: dict[str, dict[str, list[tuple[str, list[str]]]]] = {
    "team.one": {
        "t1": [("Cats purr to heal.", ["d1", "d2"]), ("They purr when content.", ["d2"]), ("Some bark.", ["d3"])],
        "t2": [("Glass is melted.", ["d5"]), ("It is sorted.", ["d5"])],
    },
    "team.two": {"t1": [("Cats have voices.", ["d2"]), ("Dogs bark.", ["d3"])], "t2": [("Glass is sorted.", ["d5"])]},
}
# What people, a model and other people say of them. People and the model differ on five citations of t1 and two of t2.
PEOPLE = {
    ("team.one", "t1"): {"0.0": "full", "1.0": "full", "2.0": "none"},
    ("team.one", "t2"): {"0.0": "full", "1.0": "partial"},
    ("team.two", "t1"): {"0.0": "partial", "1.0": "full"},
    ("team.two", "t2"): {"0.0": "none"},
}
MODEL = {
    ("team.one", "t1"): {"0.0": "partial", "1.0": "none", "2.0": "full"},
    ("team.one", "t2"): {"0.0": "full", "1.0": "none"},
    ("team.two", "t1"): {"0.0": "none", "1.0": "partial"},
    ("team.two", "t2"): {"0.0": "partial"},
}
OTHERS = {("team.one", "t1"): {"0.0": "none", "1.0": "full"}, ("team.two", "t1"): {"0.0": "partial", "1.0": "partial"}}

# Nuggets of both topics by their texts, and what is said of them in each answer.
NUGGETS = {"t1": ["purring heals", "cats purr", "dogs bark"], "t2": ["glass is melted", "glass is sorted"]}
N_PEOPLE = {
    ("team.one", "t1"): {"purring heals": "support", "cats purr": "support", "dogs bark": "not_support"},
    ("team.one", "t2"): {"glass is melted": "support", "glass is sorted": "partial_support"},
    ("team.two", "t1"): {"purring heals": "not_support", "cats purr": "partial_support", "dogs bark": "support"},
}
N_MODEL = {
    ("team.one", "t1"): {"purring heals": "partial_support", "cats purr": "support", "dogs bark": "support"},
    ("team.one", "t2"): {"glass is melted": "not_support", "glass is sorted": "partial_support"},
    ("team.two", "t1"): {"purring heals": "support", "cats purr": "support", "dogs bark": "support"},
}
Labels = Mapping[tuple[str, str], Mapping[str, str]]


@pytest.fixture
def answered(campaign: Campaign, import_file) -> Campaign:
    """The campaign with two runs."""
    for tag, answers in RUNS.items():
        assert import_file(campaign, "runs", run_file(tag, answers), name=tag).state == "done"
    return campaign


def answer_of(campaign: Campaign, tag: str, qid: str) -> Answer:
    return Answer.objects.get(run__campaign=campaign, run__tag=tag, topic__qid=qid, apart=False)


def imported(campaign: Campaign, name: str, by: str, **fields: Any) -> Condition:
    """Return a condition of imported labels, without any."""
    judge, _ = Judge.objects.get_or_create(kind="imported", name=name, parameters={"by": by})
    fields = {"kind": "support", "method": "imported", "judge": judge, "protocol": campaign.protocol} | fields
    return Condition.objects.create(campaign=campaign, name=name, **fields)


def support_labels(campaign: Campaign, name: str, by: str, labels: Labels, **fields: Any) -> Condition:
    """Return a condition under which citations have labels, by run's tag and topic's id."""
    condition = imported(campaign, name, by, **fields)
    rows = []
    for (tag, qid), said in labels.items():
        answer = answer_of(campaign, tag, qid)
        asked = judged_citations(answer.sentences(), 1)
        lacking = lacking_passages(campaign, [(answer.run_id, docid) for docid in asked.values()])
        rows.append(
            sheet_row(
                condition=condition.pk,
                answer=answer.pk,
                judge=condition.judge_id or 0,
                asked=asked,
                unresolved=[key for key, docid in asked.items() if (answer.run_id, docid) in lacking],
                labels=dict(said),
            )
        )
    add_sheets(rows)
    return condition


@pytest.fixture
def people(answered: Campaign) -> Condition:
    return support_labels(answered, "NIST's", "people", PEOPLE)


@pytest.fixture
def model(answered: Campaign) -> Condition:
    return support_labels(answered, "Mia's", "model", MODEL)


@pytest.fixture
def others(answered: Campaign) -> Condition:
    return support_labels(answered, "Others'", "people", OTHERS)


@pytest.fixture
def nuggets(answered: Campaign, import_file) -> Condition:
    """Finished nuggets of both topics."""
    lines = [
        {"query": "", "qid": qid, "nuggets": [{"text": text, "importance": "vital"} for text in texts]}
        for qid, texts in NUGGETS.items()
    ]
    assert import_file(answered, "nuggets", lines, condition="Nuggets", by="people").state == "done"
    return answered.conditions.get(name="Nuggets")


def ids_of(nuggets: Condition) -> dict[str, int]:
    """Return the ids of nuggets by their texts."""
    editions = present_editions(NuggetBank.objects.filter(condition=nuggets)).values()
    return {nugget["text"]: nugget["id"] for edition in editions for nugget in edition.nuggets}


def nugget_labels(nuggets: Condition, name: str, by: str, labels: Labels, by_rule: bool = False) -> Condition:
    """Return a condition under which nuggets have labels, by run's tag and topic's id."""
    campaign, ids = nuggets.campaign, ids_of(nuggets)
    condition = imported(campaign, name, by, kind="assignment", nuggets=nuggets)
    rows = []
    for (tag, qid), said in labels.items():
        bank = NuggetBank.objects.get(condition=nuggets, topic__qid=qid)
        rows.append(
            answer_sheet_row(
                condition=condition.pk,
                bank=bank.pk,
                answer=answer_of(campaign, tag, qid).pk,
                judge=condition.judge_id or 0,
                edition=bank.edition,
                nuggets=[ids[text] for text in NUGGETS[qid]],
                labels={ids[text]: label for text, label in said.items()},
            )
        )
    add_answer_sheets(rows)
    if by_rule:
        put(all_judged(condition), by_rule=True)
    return condition


@pytest.fixture
def n_people(nuggets: Condition) -> Condition:
    return nugget_labels(nuggets, "NIST assigned", "people", N_PEOPLE)


@pytest.fixture
def n_model(nuggets: Condition) -> Condition:
    return nugget_labels(nuggets, "Mia assigned", "model", N_MODEL)


def draw(first: Condition, second: Condition, **options: Any) -> Study:
    """Draw all that differs, unless told otherwise."""
    wanted = {"name": "Telltale study", "purpose": "disagreement", "per_topic": None, "seed": 1, "acting_user": None}
    return draw_study(campaign=first.campaign, first=first, second=second, **wanted | options)


def coded_study(campaign: Campaign, tag: str, qid: str, *further: str) -> Study:
    """Draw a study of first citations of runs' answers that people and a model label differently; code its items."""
    tags = (tag, *further)
    first, second = (
        support_labels(campaign, f"{by} on {tag}", by, {(one, qid): {"0.0": label} for one in tags})
        for by, label in (("people", "full"), ("model", "none"))
    )
    study = draw(first, second, name=f"Study of {tag}")
    define_code(campaign=campaign, code=f"code-{study.pk}", meaning="why", acting_user=None)
    for drawn in study.drawn.all():
        code_item(drawn=drawn, codes=[f"code-{study.pk}"], note="", seen=0, acting_user=None)
    return study


def items(study: Study) -> set[tuple[str, str, str, str, str]]:
    """Return what was drawn: topic, run, item, both labels."""
    return {
        (one.answer.topic.qid, one.answer.run.tag, one.item, one.first_label, one.second_label)
        for one in study.drawn.select_related("answer__topic", "answer__run")
    }


def names(study: Study) -> list[tuple[str, str]]:
    """Return what was drawn in the order of the draw: run and item."""
    return list(study.drawn.order_by("pk").values_list("answer__run__tag", "item"))


def give(condition: Condition, person: Person, *topics: Topic, reason: str = "") -> list[Task]:
    """Give a person topics, all of the campaign's where none is named."""
    chosen = list(topics) or list(condition.campaign.topics.order_by("qid"))
    whose = {"campaign": condition.campaign, "condition": condition, "person": person}
    return give_tasks(topics=chosen, reason=reason, acting_user=None, **whose)


def everything() -> list[Any]:
    """Return all that a refused action could have written."""
    studies = [list(model._base_manager.order_by("pk").values()) for model in (Study, SampledItem, Condition)]
    return [*studies, *all_that_writes_touch()]


@pytest.fixture
def carl(db: None) -> Person:
    """An assessor who knows nothing of the labels."""
    return make_person("carl", "assessor")


STUDY: dict[str, Any] = {
    "title": "Strict judges",
    "hypotheses": ["Second is stricter than First.", "τ of runs is at least 0.7."],
    "conditions": ["First", "Second"],
    "measures": ["V strict, τ of runs"],
    "sample": "All topics and runs.",
    "stopping_rule": "When all answers have labels.",
}


def register(campaign: Campaign, **fields: Any) -> Registration:
    """Register STUDY."""
    return register_study(campaign=campaign, fields=STUDY | fields, acting_user=None)
