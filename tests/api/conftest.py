"""A campaign with something of everything in it, tokens of people in all roles, and a way to ask with them."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.api.actions import create_token, revoke_token
from assessor.api.models import Token
from assessor.campaigns.models import Campaign, Topic
from assessor.imports import importer
from assessor.imports.loaders.base import SENDER
from assessor.runtime.process_cache import cache
from assessor.work.actions import give_tasks
from assessor.work.models import Scope
from metaeval.actions import create_calibration, create_comparison, create_hybrid, run
from nuggets.actions import create_manual_nuggets
from tests.conftest import client_of, make_person
from tests.support.lines import FULL, NONE, cites
from tests.support.lines import line as support_line

NUGGETS = {"qid": "t1", "query": "why do cats purr", "nuggets": [{"text": "a", "importance": "vital"}, {"text": "b"}]}
# By who gives them: of each run what is said of the two nuggets on t1.
LABELS = {
    "people": {"r1": ("support", "not_support"), "r2": ("partial_support", "support")},
    "model": {"r1": ("support", "support"), "r2": ("not_support", "support")},
}
Ask = Callable[..., Any]


def answers(tag: str) -> list[dict[str, Any]]:
    """Return a run's answers, one to each topic, practice too."""
    sentences = [{"text": "Cats purr.", "citations": [0]}]
    return [{"run_id": tag, "topic_id": qid, "references": ["d1"], "answer": sentences} for qid in ("t1", "t2", "t3")]


def judged_report(tag: str) -> dict[str, Any]:
    """Return a run's report on t1, whose sentence is attested."""
    kind = "SENTENCE_ATTESTED"
    response = {"judgment_type_id": kind, "is_attested": True}
    judgment = {"judgment_type_id": kind, "response": response, "provenance": {"doc_id": "d1"}}
    return {
        "report": {
            "metadata": {"topic_id": "t1", "run_id": tag},
            "responses": [{"text": "Cats purr.", "citations": {"d1": 1}}],
        },
        "judgments": [{"text": "Cats purr.", "judgments": [judgment]}],
    }


def assignment(tag: str, qid: str, labels: tuple[str, ...]) -> dict[str, Any]:
    nuggets = [nugget | {"assignment": label} for nugget, label in zip(NUGGETS["nuggets"], labels, strict=True)]
    further = {"run_id": tag, "answer_text": "Cats purr.", "response_length": 2}
    return {"query": "why do cats purr", "qid": qid, "nuggets": nuggets, **further}


@pytest.fixture
def study(campaign: Campaign, import_file, anna: Person, olga: Person) -> Campaign:
    """Two runs on two topics and on one for practice; of each kind a condition of people's and of a model's labels."""
    import_file(campaign, "topics", "t3\twhy do dogs bark\n")
    Topic.objects.filter(qid="t3").update(is_practice=True)
    import_file(campaign, "qrels", "t1 0 d1 1\nt3 0 d1 2\n", source="Mia's", by="model")
    for tag in ("r1", "r2"):
        assert import_file(campaign, "runs", answers(tag), name=tag).state == "done"
    import_file(
        campaign,
        "run_list",
        "tag,team,task,type,priority,aliases,generator\nr1,one,RAG,automatic,1,first uno,meta qwen\n",
    )
    for by in LABELS:
        lines = [NUGGETS | {"qid": qid} for qid in ("t1", "t3")]
        brought = import_file(campaign, "nuggets", lines, condition=f"N {by}", by=by)
        assert brought.state == "done", brought.report
    asked = {"query_id": "t1", "nugget_bank": {"Why?": {"question": "Why?"}}}
    assert import_file(campaign, "questions", [asked], condition="Q people", by="people").state == "done"
    grade = {"run_id": "r1", "query_id": "t1", "question": "Why?", "passage": "Cats purr.", "grade": 4}
    graded = {"condition": "G people", "nuggets": "Q people", "by": "people"}
    done = import_file(campaign, "question_grades", [grade], **graded)
    assert done.state == "done", done.report
    better = {"_type": "comparison", "run_id": "r1", "run_id2": "r2", "query_id": "t1", "better_passage": 1}
    texts = {"passage_1": "Cats purr.", "passage_2": "Cats purr."}
    done = import_file(campaign, "preferences", [better | texts], condition="P people", by="people")
    assert done.state == "done", done.report
    graded["condition"] = "J people"
    done = import_file(campaign, "argue_judgments", [judged_report("r1"), judged_report("r2")], **graded)
    assert done.state == "done", done.report
    for by, labels in LABELS.items():
        for nuggets in ("people", "model"):
            if by == "people" or nuggets == "people":
                given = [assignment(tag, qid, of_run) for qid in ("t1", "t3") for tag, of_run in labels.items()]
                name = f"A {by} on {nuggets}"
                done = import_file(campaign, "assignments", given, condition=name, nuggets=f"N {nuggets}", by=by)
                assert done.state == "done", done.report
        label = FULL if by == "people" else NONE
        judged = [support_line(qid, tag, cites("Cats purr.", d1=label)) for qid in ("t1", "t3") for tag in ("r1", "r2")]
        if by == "people":  # by plan they judge r1 alone on t2, the first of its team's
            judged.append(support_line("t2", "r1", cites("Cats purr.", d1=label)))
        assert import_file(campaign, "support", judged, condition=f"S {by}", by=by).state == "done"
    by_people = campaign.conditions.get(name="S people")
    Scope.objects.create(condition=by_people, topic=campaign.topics.get(qid="t2"), rule="priority<=1", person=olga)
    first, second = (campaign.conditions.get(name=f"A {by} on people") for by in ("people", "model"))
    run(create_comparison(campaign=campaign, first=first, second=second, seed=1, draws=10, acting_user=olga))
    create_hybrid(campaign=campaign, human=first, model=second, acting_user=olga)
    create_calibration(campaign=campaign, human=first, judged=second, acting_user=olga)
    manual = create_manual_nuggets(
        campaign=campaign, name="Manual", qrels_source=campaign.qrels_sources.get(name="NIST"), acting_user=olga
    )
    topics = list(campaign.topics.all())
    give_tasks(campaign=campaign, topics=topics, condition=manual, person=anna, acting_user=olga)
    return campaign


def token(person: Person, **fields: Any) -> str:
    wanted = {"name": "notebook", "expires_at": None, "acting_user": person} | fields
    return create_token(person=person, **wanted).secret


def sending(campaign: Campaign, person: Person) -> tuple[str, int]:
    """Return a token that may send, and the key of an import that came by it."""
    made = create_token(person=person, name="pipeline", may=Token.May.IMPORT, expires_at=None, acting_user=person)
    sent = {"campaign": campaign, "kind": "support", "file_name": "labels", "person": person, "check_only": False}
    return made.secret, importer.new_import(options={SENDER: made.token.prefix}, **sent).pk


@pytest.fixture
def secrets(anna: Person, olga: Person, otto: Person, admin: Person) -> dict[str, str]:
    """A token of somebody in each role, and some that are good no more."""
    gone = make_person("gone", "organizer")
    bad = create_token(person=olga, name="revoked", expires_at=None, acting_user=olga)
    revoke_token(token=bad.token, acting_user=olga)
    return {
        "assessor": token(anna),
        "organizer": token(olga),
        "another": token(otto),
        "administrator": token(admin),
        "nobody's role": token(make_person("noone")),
        "revoked": bad.secret,
        "expired": token(olga, expires_at=timezone.now()),
        "inactive": token(gone),
        "forged": f"assay_{'x' * 43}",
        "anonymous": "",
    }


@pytest.fixture
def ask(secrets: dict[str, str], olga: Person) -> Ask:
    """Ask the API as somebody, by default the organizer; what is streamed is read."""
    cache.clear()  # of how often the tokens of another test asked

    def do(address: str, role: str = "organizer", *, lines: bool = False, **asked: Any) -> Any:
        headers = {"Authorization": f"Bearer {secrets[role]}"} if secrets[role] else {}
        if lines:
            headers["Accept"] = "application/jsonl"
        response = Client(raise_request_exception=False).get(f"/api/v1{address}", asked, headers=headers)
        if response.streaming:
            response.text_sent = b"".join(response.streaming_content).decode()
        return response

    return do


@pytest.fixture
def signed_in(olga: Person) -> Client:
    return client_of(olga)
