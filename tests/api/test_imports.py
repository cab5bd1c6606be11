"""Files that scripts send: imports as by the page, by a token that is good for nothing else."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from assessor.accounts.models import Person
from assessor.api.actions import revoke_token
from assessor.api.models import Token
from assessor.api.service import api
from assessor.campaigns.models import Campaign, Condition, Event, Grade, Import
from assessor.imports.loaders import LOADERS
from nuggets.models import Drafting, NuggetBank
from tests.api.conftest import NUGGETS, assignment, judged_report
from tests.api.conftest import token as secret_of
from tests.conftest import client_of
from tests.imports.conftest import rows as rows
from tests.judging import all_judged, given, judged
from tests.support.lines import FULL, NONE, cites
from tests.support.lines import line as judgments

BASE = "/api/v1/campaigns/study/imports"
BY_MODEL = {"condition": "Pipeline", "by": "model"}
BANK = {"query_id": "t1", "nugget_bank": {"Why?": {"question": "Why?"}}}
GRADE = {"run_id": "r1", "query_id": "t1", "question": "Why?", "passage": "Cats purr.", "grade": 4}
BETTER = {"_type": "comparison", "run_id": "r1", "run_id2": "r2", "query_id": "t1", "better_passage": 1}
GRADES = {"source": "Pipeline", "by": "model"}
DRAFTS = {"condition": "Pipeline", "source": "NIST", "maker": "a model elsewhere"}
FORMER = {"condition": "Pipeline", "source": "NIST", "edition": "TREC 2024", "edition_date": "2024", "by": "people"}
OF_QUESTIONS = BY_MODEL | {"nuggets": "Questions"}

# Of each kind: a line, what is said of it, a line that is wrong, and how many labels and the like one line brings.
KINDS: dict[str, tuple[Any, dict[str, str], Any, dict[str, int]]] = {
    "qrels": ("t1 0 d1 1", GRADES, "t1 0 d2 x", {"grades added": 1}),
    "nuggets": (NUGGETS, BY_MODEL, {"qid": "t2"}, {"nuggets added": 2}),
    "drafts": (NUGGETS, DRAFTS, {"qid": "t9", "nuggets": []}, {"drafts added": 2}),
    "former_nuggets": (NUGGETS, FORMER, {"qid": "t9", "nuggets": []}, {"drafts added": 2}),
    "questions": (BANK, BY_MODEL, {"query_id": "t2"}, {"questions added": 1}),
    "assignments": (
        assignment("r1", "t1", ("support", "not_support")),
        BY_MODEL,
        assignment("r2", "t1", ("support", "perhaps")),
        {"labels added": 2},
    ),
    "question_grades": (GRADE, OF_QUESTIONS, GRADE | {"run_id": "r2", "grade": 6}, {"labels added": 1}),
    "preferences": (
        BETTER | {"passage_1": "Cats purr.", "passage_2": "Cats purr."},
        BY_MODEL,
        BETTER | {"better_passage": 3},
        {"pairs added": 1},
    ),
    "argue_judgments": (judged_report("r1"), OF_QUESTIONS, {"report": 1}, {"labels added": 1}),
    "support": (
        judgments("t1", "r1", cites("Cats purr.", d1=FULL)),
        BY_MODEL,
        judgments("t1", "r2", cites("Cats purr.", d1="7")),
        {"labels added": 1},
    ),
}


def text_of(*lines: Any) -> bytes:
    return "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines).encode()


@pytest.fixture(autouse=True)
def uploads(settings: Any, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    folder = settings.DATA_DIR / "uploads"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def secret(olga: Person) -> str:
    """A token that may send."""
    return secret_of(olga, may=Token.May.IMPORT)


def by(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


@pytest.fixture
def post(secret: str, work: Callable[[], None], django_capture_on_commit_callbacks: Any) -> Callable[..., Any]:
    """Send a file, and let the worker take it up."""

    def do(kind: str, body: bytes, secret: str = secret, **said: str) -> Any:
        query = {"kind": kind} | said
        with django_capture_on_commit_callbacks(execute=True):
            response = Client().post(
                BASE, body, content_type="application/octet-stream", query_params=query, headers=by(secret)
            )
        work()
        return response

    return do


@pytest.fixture
def state(secret: str) -> Callable[..., dict[str, Any]]:
    """Ask what became of a file that was sent."""

    def do(response: Any, secret: str = secret) -> dict[str, Any]:
        assert response.status_code == 202, response.content
        told: dict[str, Any] = Client().get(response["Location"], headers=by(secret)).json()
        return told

    return do


@pytest.fixture
def with_questions(campaign: Campaign, import_file: Any) -> Campaign:
    assert import_file(campaign, "questions", [BANK], condition="Questions", by="people").state == "done"
    return campaign


def test_the_kinds_are_all_whose_files_are_a_judges_work():
    [kind] = [
        one["schema"]
        for one in api.get_openapi_schema()["paths"]["/api/v1/campaigns/{slug}/imports"]["post"]["parameters"]
        if one["name"] == "kind"
    ]
    assert {*kind["enum"]} == KINDS.keys()
    assert LOADERS.keys() - KINDS.keys() == {"topics", "segments", "run_list", "runs", "retrieval", "plan", "passages"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_is_imported_and_the_same_again_changes_nothing(
    with_questions: Campaign, post: Any, state: Any, uploads: Path, rows: Any, kind: str
):
    line, said, _, brings = KINDS[kind]
    response = post(kind, text_of(line), file="../labels.jsonl", **said)
    sent = response.json()
    assert response.status_code == 202
    assert (sent["state"], sent["is_over"], sent["report"]["counts"]) == ("waiting", False, {})
    found = state(response)
    assert (found["state"], found["is_over"], found["percent"]) == ("done", True, 100), found["report"]
    assert (found["id"], found["kind"], found["report"]["file"]) == (sent["id"], kind, "labels.jsonl")
    assert brings.items() <= found["report"]["counts"].items()
    assert uploads.exists()
    assert [*uploads.iterdir()] == []
    before = rows()
    again = state(post(kind, gzip.compress(text_of(line)), **said))
    assert (again["state"], rows()) == ("done", before)
    assert not brings.keys() & again["report"]["counts"].keys()


@pytest.mark.parametrize("kind", KINDS)
def test_a_bad_line_is_the_error_of_the_page_and_nothing_is_stored(
    with_questions: Campaign,
    post: Any,
    state: Any,
    rows: Any,
    olga: Person,
    work: Any,
    django_capture_on_commit_callbacks: Any,
    kind: str,
):
    line, said, bad, _ = KINDS[kind]
    before = rows()
    body = text_of(line, bad)
    found = state(post(kind, body, file="labels", **said))
    assert (found["state"], found["report"]["error_count"] > 0, rows()) == ("refused", True, before)
    assert found["report"]["errors"][0]["line"] == 2
    with django_capture_on_commit_callbacks(execute=True):
        client_of(olga).post(
            "/campaigns/study/imports/", {"uploads": SimpleUploadedFile("labels", body), "kind": kind} | said
        )
    work()
    by_page = Import.objects.latest("pk")
    assert (by_page.state, by_page.report) == ("refused", found["report"])
    assert Import.objects.get(pk=found["id"]).options == by_page.options | {
        "sender": Token.objects.get(may="import").prefix
    }


def test_labels_are_a_judges_of_their_own_and_history_says_whose(campaign: Campaign, post: Any, state: Any, olga: Any):
    assert state(post("support", text_of(KINDS["support"][0]), **BY_MODEL))["state"] == "done"
    condition = Condition.objects.get(name="Pipeline")
    assert (condition.judge.kind, condition.judge.parameters) == ("imported", {"by": "model"})
    assert condition.created_by == olga
    assert [given(one) for one in all_judged(condition)] == [{"0.0": "full"}]
    assert Event.objects.get(verb="imported", subject="support from support").person == olga
    page = client_of(olga).get(f"/campaigns/study/imports/{Import.objects.latest('pk').pk}/").content.decode()
    assert f"sent with the token <code>{Token.objects.get().prefix}" in page


def test_a_file_can_be_checked_alone(campaign: Campaign, post: Any, state: Any, rows: Any):
    before = rows()
    assert state(post("qrels", b"t1 0 d1 1\n", check_only="true", **GRADES))["state"] == "checked"
    assert rows() == before


@pytest.mark.parametrize(
    ("kind", "said", "where"),
    [
        ("qrels", {"source": "x"}, "by"),
        ("qrels", {"by": "model"}, "source"),
        ("qrels", GRADES | {"condition": "x"}, "condition"),
        ("qrels", GRADES | {"invalid_labels": "not_support"}, "invalid_labels"),
        ("qrels", GRADES | {"invalid_labels": "x"}, "invalid_labels"),
        ("qrels", GRADES | {"source": "x" * 121}, "source"),
        ("support", {"condition": "x"}, "by"),
        ("support", {"condition": " ", "by": "model"}, "condition"),
        ("support", {"condition": "x", "by": "us"}, "by"),
        ("drafts", {"condition": "x", "source": "NIST"}, "maker"),
        ("topics", {}, "kind"),
        ("plan", {}, "kind"),
        ("", {}, "kind"),
        ("qrels", GRADES | {"sender": "x"}, ""),
    ],
)
def test_what_is_said_wrongly_is_named_and_no_body_is_read(
    campaign: Campaign, post: Any, uploads: Path, kind: str, said: dict[str, str], where: str
):
    count = Import.objects.count()
    response = post(kind, b"t1 0 d1 1\n", **said)
    assert response.status_code == 422, response.content
    assert [one["loc"][-1] for one in response.json()["detail"] if where] == [where] * bool(where)
    assert (Import.objects.count(), [*uploads.iterdir()]) == (count, [])


def test_a_body_without_a_length_or_over_the_limit_is_not_read(
    campaign: Campaign, secret: str, settings: Any, uploads: Path, post: Any
):
    count = Import.objects.count()
    query = {"kind": "qrels"} | GRADES
    assert Client().generic("POST", BASE, query_params=query, headers=by(secret)).status_code == 411
    settings.MAX_UPLOAD_BYTES = 1024**2
    too_large = post("qrels", b"t1 0 d1 1\n" * 105_000, **GRADES)
    assert (too_large.status_code, too_large.json()["detail"][:23]) == (413, "At most 1 MiB are taken")
    assert (Import.objects.count(), [*uploads.iterdir()]) == (count, [])
    assert post("qrels", b"t1 0 d1 1\n" * 1_000, **GRADES).status_code == 202


def test_a_token_does_what_it_may_alone(campaign: Campaign, secret: str, post: Any, olga: Person):
    mine = post("qrels", b"t1 0 d1 1\n", **GRADES)["Location"]
    reads = secret_of(olga)
    for address in ("/campaigns", "/campaigns/study", "/campaigns/study/topics", "/campaigns/nothing"):
        found = Client().get(f"/api/v1{address}", headers=by(secret))
        assert (found.status_code, found.json()) == (
            403,
            {"detail": "This token may send labels and drafts, and read nothing."},
        )
    for slug in ("study", "nothing"):
        count = Import.objects.count()
        refused = post("qrels", b"t1 0 d1 2\n", reads, **GRADES)
        assert (refused.status_code, refused.json()) == (403, {"detail": "This token may read."})
        assert Client().get(mine.replace("study", slug), headers=by(reads)).status_code == 403
        assert Import.objects.count() == count


def test_a_token_is_asked_for_and_a_cookie_is_none(campaign: Campaign, olga: Person, post: Any, secret: str):
    count = Import.objects.count()
    body = {"data": b"t1 0 d1 1\n", "content_type": "text/plain", "query_params": {"kind": "qrels"} | GRADES}
    assert client_of(olga).post(BASE, **body).status_code == 401
    assert Client().post(BASE, **body).status_code == 401
    # No form of another site can send the header, so that no token against forged requests is asked for.
    with_token = Client(enforce_csrf_checks=True).post(BASE, **body, headers=by(secret))
    assert with_token.status_code == 202
    revoke_token(token=Token.objects.get(), acting_user=olga)
    assert post("qrels", b"t1 0 d1 1\n", **GRADES).status_code == 401
    assert Import.objects.count() == count + 1


def test_only_organizers_send_and_into_their_own_campaigns(
    campaign: Campaign, post: Any, anna: Person, otto: Person, admin: Person, uploads: Path
):
    count = Import.objects.count()
    for person in (anna, otto, admin):
        assert post("qrels", b"t1 0 d1 1\n", secret_of(person, may=Token.May.IMPORT), **GRADES).status_code == 404
    assert (Import.objects.count(), [*uploads.iterdir()]) == (count, [])


def test_what_others_sent_is_not_there(campaign: Campaign, post: Any, olga: Person, secret: str):
    """Neither by another token of the same person, nor what came by the page."""
    mine = post("qrels", b"t1 0 d1 1\n", **GRADES)["Location"]
    other = secret_of(olga, may=Token.May.IMPORT)
    by_page = f"{BASE}/{Import.objects.earliest('pk').pk}"
    answers = [
        Client().get(address, headers=by(one))
        for address, one in ((mine, other), (by_page, secret), (f"{BASE}/{10**9}", secret))
    ]
    assert [one.status_code for one in answers] == [404] * 3
    assert len({one.content for one in answers}) == 1


PROBES = {
    "qrels": ("t1 0 d1 0", "t1 0 d1 3", GRADES, "source"),
    "support": (
        judgments("t1", "r1", cites("Cats purr.", d1=NONE)),
        judgments("t1", "r1", cites("Cats purr.", d1=FULL)),
        BY_MODEL,
        "condition",
    ),
    "assignments": (
        assignment("r1", "t1", ("support", "support")),
        assignment("r1", "t1", ("support", "not_support")),
        BY_MODEL,
        "condition",
    ),
    "nuggets": (NUGGETS | {"nuggets": []}, NUGGETS, BY_MODEL, "condition"),
    "drafts": (NUGGETS | {"nuggets": NUGGETS["nuggets"][:1]}, NUGGETS, DRAFTS, "condition"),
}


@pytest.mark.parametrize("kind", PROBES)
def test_no_error_tells_what_others_said(campaign: Campaign, post: Any, state: Any, olga: Person, kind: str):
    """What is there is compared with what is sent only where the same token brought both."""
    guess, truth, said, where = PROBES[kind]
    other = secret_of(olga, may=Token.May.IMPORT)
    assert state(post(kind, text_of(truth), other, **said), other)["state"] == "done"
    told = [state(post(kind, text_of(line), check_only="true", **said)) for line in (guess, truth)]
    assert [one["state"] for one in told] == ["refused", "refused"]
    assert told[0]["report"]["errors"] == told[1]["report"]["errors"]
    [error] = told[0]["report"]["errors"]
    assert (error["line"], error["field"], error["found"]) == (0, where, "Pipeline")
    assert "which came by the same token" in error["expected"]
    assert "already" in str(state(post(kind, text_of(guess), other, **said), other)["report"]["errors"])


def test_labels_add_no_nuggets_to_others(campaign: Campaign, post: Any, state: Any, import_file: Any):
    assert import_file(campaign, "nuggets", [NUGGETS], condition="Theirs", by="people").state == "done"
    of_theirs = BY_MODEL | {"nuggets": "Theirs"}
    new = text_of(assignment("r1", "t2", ("support", "support")))
    found = state(post("assignments", new, **of_theirs))
    assert [(one["field"], one["found"]) for one in found["report"]["errors"]] == [("qid", "t2")]
    assert NuggetBank.objects.count() == 1
    there = text_of(assignment("r1", "t1", ("support", "support")))
    assert state(post("assignments", there, **of_theirs))["state"] == "done"
    assert judged(Condition.objects.get(name="Pipeline")).bank == NuggetBank.objects.get()


def test_the_first_of_two_files_at_once_is_no_less_ones_own(campaign: Campaign, post: Any, state: Any):
    for number in (1, 2):
        assert state(post("qrels", f"t{number} 0 d1 1\n".encode(), **GRADES))["state"] == "done"
    assert Grade.objects.filter(source__name="Pipeline").count() == 2


def test_drafts_wait_for_people(campaign: Campaign, post: Any, state: Any):
    assert state(post("drafts", text_of(NUGGETS), **DRAFTS))["state"] == "done"
    assert (Condition.objects.get(name="Pipeline").method, Drafting.objects.count()) == ("AutoNuggets+Edits", 1)


def test_the_limit_of_requests_is_that_of_all(campaign: Campaign, post: Any, settings: Any, time_machine: Any):
    settings.API_REQUESTS_A_MINUTE = 1
    time_machine.move_to("2027-01-01T10:00:45Z", tick=False)  # else a minute may end in between
    assert [post("qrels", b"t1 0 d1 1\n", **GRADES).status_code for _ in range(2)] == [202, 429]
