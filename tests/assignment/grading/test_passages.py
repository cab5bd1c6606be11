"""Questions graded in passages of the pool: by files, people and models; the largest grade of each makes qrels."""

import json
from hashlib import sha256
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from assessor.accounts.models import Person
from assessor.api.actions import create_token
from assessor.archive.actions import restore
from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.campaigns.queries import PASSAGES_RUN
from assessor.llm import runner
from assessor.llm.actions import launch, plan_job
from assessor.llm.job_kind import job_kind_named
from assessor.scores.cache import condition_scores
from assignment.grading.exports import grade_lines, qrels_of_grades
from assignment.grading.label_kind import GRADING
from metaeval.actions import create_comparison, run
from metaeval.pages import differences
from tests.archive.campaigns import forget_everything, written
from tests.conftest import Importer, client_of
from tests.judging import all_judged, give, given, label_all
from tests.llm.conftest import _short_waits, endpoint  # noqa: F401  # fixtures
from tests.llm.grading import make_judge
from tests.studies.conftest import draw

pytestmark = pytest.mark.django_db(transaction=True)
QUESTIONS = ("What does purring heal?", "When do cats purr?", "Do kittens purr?")
TEXTS = {"d1": "Purring heals bones.", "d2": "Kittens purr.", "d3": "Dogs bark."}
FILE = {"condition": "Graded", "by": "model", "nuggets": "Questions"}
TWICE = "a document has one passage, or paragraph_idx tells them apart"


def lines(docid: str, *grades: int, text: str = "", **more: Any) -> list[dict[str, Any]]:
    return [
        {"query_id": "t1", "question": question, "passage": text or TEXTS[docid], "doc_id": docid, "grade": grade}
        | more
        for question, grade in zip(QUESTIONS, grades, strict=True)
    ]


@pytest.fixture
def pool(questions: Condition, import_file: Importer) -> Campaign:
    """Two systems found three passages for t1, one of them without a text, and one for t2."""
    campaign = questions.campaign
    for tag, found in (("first", "t1 Q0 d1 1 9 first\nt1 Q0 d2 2 8 first\n"), ("other", "t1 Q0 d2 1 9 other\n")):
        done = import_file(campaign, "retrieval", f"{found}t1 Q0 d9 3 1 {tag}\nt2 Q0 d3 1 1 {tag}\n")
        assert done.state == "done", done.report
    return campaign


def text_of(campaign: Campaign, docid: str) -> str:
    return str(campaign.segments.get(docid=docid).text)


@pytest.fixture
def by_people(pool: Campaign, as_olga: Client) -> Condition:
    """People grade passages."""
    assert as_olga.post("/campaigns/study/passages-to-grade/").status_code == 302
    sent = {"method": "ManualGrade of passages", "questions": pool.conditions.get(name="Questions").pk}
    assert as_olga.post("/campaigns/study/conditions/new/", sent).status_code == 302
    return pool.conditions.get(kind="grading")


def test_a_file_of_grades_of_passages_goes_out_equal_and_makes_qrels(questions: Condition, import_file: Importer):
    records = [
        *lines("d1", 5, 0, 1, text="Purring heals.", paragraph_idx=0),
        *lines("d1", 0, 4, 0, text="Cats purr when content.", paragraph_idx=1),
        *lines("d2", 0, 0, 3),
        *lines("d3", 0, 0, 0),
    ]
    done = import_file(questions.campaign, "question_grades", records, **FILE)
    assert done.state == "done", done.report
    counts = {"lines": 12, "conditions added": 1, "runs added": 1, "passages added": 4}
    assert done.report["counts"] == counts | {"sheets added": 4, "labels added": 12}
    condition = questions.campaign.conditions.get(name="Graded")
    assert condition.of_passages
    assert "of=passages" in condition.identity
    out = [json.loads(line) for line in grade_lines(condition)]
    known = dict.fromkeys(("run_id", "paragraph_idx", "reasoning", "confidence", "addressed_quote"))
    assert [{key: one[key] for key in one if key != "nugget_id"} for one in out] == [known | one for one in records]
    assert list(qrels_of_grades(condition)) == ["t1 0 d1 5\n", "t1 0 d2 3\n", "t1 0 d3 0\n"]
    again = import_file(questions.campaign, "question_grades", records, **FILE)
    assert (again.state, again.report["counts"]) == ("done", {"lines": 12, "sheets already there": 4})


def test_the_api_lists_grades_of_passages_page_by_page(questions: Condition, import_file: Importer, olga: Person):
    records = [*lines("d1", 5, 0, 1), *lines("d2", 0, 0, 3), *lines("d3", 0, 4, 0, run_id="finder")]
    done = import_file(questions.campaign, "question_grades", records, **FILE)
    assert done.state == "done", done.report
    condition = questions.campaign.conditions.get(name="Graded")
    secret = create_token(person=olga, name="passages", expires_at=None, acting_user=None).secret
    client = Client(headers={"Authorization": f"Bearer {secret}"})
    address = f"/api/v1/campaigns/study/conditions/{condition.pk}/question_grades"
    items, cursor = [], ""
    while cursor is not None:
        page = client.get(address, {"limit": 2} | ({"cursor": cursor} if cursor else {})).json()
        items, cursor = items + page["items"], page["next"]
    assert items == [json.loads(line) for line in grade_lines(condition)]
    assert len(items) == 9


def test_what_passages_answer_is_the_best_of_each_question(questions: Condition, import_file: Importer):
    records = [
        *lines("d1", 5, 0, 1, run_id="finder"),
        *lines("d2", 0, 4, 0, run_id="finder"),
        *lines("d3", 0, 0, 2, run_id="other"),
    ]
    done = import_file(questions.campaign, "question_grades", records, **FILE)
    assert done.state == "done", done.report
    found = condition_scores(questions.campaign.conditions.get(name="Graded"))
    scores = dict(zip(found.measures.keys, found.scores[:, 0].T.tolist(), strict=True))
    assert [run.tag for run in found.runs] == ["finder", "other"]
    assert (scores["NUGGET_COVERAGE"], scores["AVG_GRADE"], scores["MAX_GRADE"]) == (
        [2 / 3, 0],
        [10 / 3, 2 / 3],
        [5, 2],
    )


def test_the_largest_grade_needs_all_grades(questions: Condition, import_file: Importer):
    records = [*lines("d1", 5, 0, 1), *lines("d2", 0, 0, 3)]
    import_file(questions.campaign, "question_grades", records, **FILE)
    condition = questions.campaign.conditions.get(name="Graded")
    missing = next(
        row for one in all_judged(condition) if one.answer.docid == "d2" for row in one.labels_by_item.values()
    )
    type(missing).everything.filter(pk=missing.pk).update(value=None, state="open")
    assert list(qrels_of_grades(condition)) == ["t1 0 d1 5\n"]


@pytest.mark.parametrize(
    ("records", "field", "expected"),
    [
        (
            [*lines("d1", 5, 0, 1), {**lines("d1", 5, 0, 1)[0], "doc_id": None, "run_id": "team.one"}],
            "doc_id",
            "a document: what Graded has is of passages",
        ),
        ([lines("d1", 5, 0, 1)[0], lines("d1", 5, 0, 1, text="Else.")[1]], "passage", f"the text of line 1: {TWICE}"),
        (
            [*lines("d1", 5, 0, 1), *lines("d2", 0, 0, 0), *lines("d1", 5, 0, 1)],
            "doc_id",
            "each once; it stands on line 1 already",
        ),
        ([{**lines("d1", 5, 0, 1)[0], "doc_id": None}], "run_id", "the key run_id"),
        ([{**lines("d1", 5, 0, 1)[0], "doc_id": ["d1"]}], "doc_id", "an id, as text"),
    ],
)
def test_what_does_not_fit_is_refused(
    questions: Condition, import_file: Importer, records: list[dict[str, Any]], field: str, expected: str
):
    done = import_file(questions.campaign, "question_grades", records, **FILE)
    assert done.state == "refused"
    assert (field, expected) in [(error["field"], error["expected"]) for error in done.report["errors"]]
    assert not questions.campaign.conditions.filter(name="Graded").exists()


@pytest.mark.parametrize("purpose", ["disagreement", "rejudging"])
def test_a_study_draws_from_all_passages_of_a_question(
    questions: Condition, import_file: Importer, olga: Person, purpose: str
):
    """All are of one run, so the seed draws them by docid and text."""
    sides = []
    for by, grades in (("people", (0, 3, 0)), ("model", (5, 3, 5))):
        records = [line for docid in TEXTS for line in lines(docid, *grades)]
        done = import_file(questions.campaign, "question_grades", records, **FILE | {"condition": by, "by": by})
        assert done.state == "done", done.report
        sides.append(questions.campaign.conditions.get(name=by))
    study = draw(*sides, purpose=purpose, seed=4, per_topic=2)
    codes = {text: sha256(text.encode()).hexdigest()[:16] for text in QUESTIONS}
    hashed = {}
    for docid, text in TEXTS.items():
        name = f"4 t1 {PASSAGES_RUN} t1 {docid} {sha256(text.encode()).hexdigest()}"
        for question, code in codes.items():
            hashed[sha256(f"{name} {code}".encode()).digest()] = (docid, code, question == QUESTIONS[1])
    in_order = [hashed[digest] for digest in sorted(hashed)]
    expected = [one for one in in_order if not one[2]][:2]
    if purpose == "rejudging":
        alike = [one for one in in_order if one[2]][:2]
        expected = [one for one in in_order if one in expected + alike]
    found = study.drawn.select_related("answer").order_by("pk")
    assert [(one.answer.docid, one.item.split()[1]) for one in found] == [one[:2] for one in expected]
    if purpose == "rejudging":
        text = client_of(olga).get(f"/campaigns/{study.campaign.slug}/studies/{study.pk}/").content.decode()
        assert "scores no runs, so there are no scores before and after" in text
        assert "Revised after comparison" not in text
        assert "scores.csv" not in text


def test_the_pool_is_taken_in_once(pool: Campaign, as_olga: Client):
    page = as_olga.get("/campaigns/study/runs/").content.decode()
    assert "0 of the pool's 4 passages were taken in." in page
    told = as_olga.post("/campaigns/study/passages-to-grade/", follow=True).content.decode()
    assert "Passages added: 3. Questions can be graded in them now." in told
    assert "3 of the pool's 4 passages were taken in." in told
    told = as_olga.post("/campaigns/study/passages-to-grade/", follow=True).content.decode()
    assert "The pool has no further passage with a text." in told
    with pytest.raises(CommandError, match="no further passage"):
        call_command("add_passages", "study")
    found = pool.runs.get(tag=PASSAGES_RUN).answers.order_by("topic__qid", "pk")
    assert [(one.topic.qid, one.docid, one.text) for one in found] == [
        ("t1", "d1", text_of(pool, "d1")),
        ("t1", "d2", text_of(pool, "d2")),
        ("t2", "d3", text_of(pool, "d3")),
    ]


def test_people_grade_passages_and_no_answers(by_people: Condition, topic: Topic, anna: Person, as_anna: Client):
    assert (by_people.name, by_people.of_passages) == ("Questions/Manual, passages", True)
    task = give(by_people, topic, anna)
    sheets = all_judged(by_people)
    assert sorted(one.answer.docid for one in sheets) == ["d1", "d2"]
    page = as_anna.get(f"/assign/{task.pk}/").content.decode()
    assert text_of(by_people.campaign, "d1") in page
    assert "d1" not in page.replace(text_of(by_people.campaign, "d1"), ""), "the docid is for nobody who grades blind"
    for one in sheets:
        label_all(as_anna, one, "4" if one.answer.docid == "d1" else "0")
    assert list(qrels_of_grades(by_people)) == ["t1 0 d1 4\n", "t1 0 d2 0\n"]


def test_a_model_grades_passages_and_no_answers(by_people: Condition, endpoint):  # noqa: F811
    judge = make_judge(by_people.campaign, endpoint().base_url)
    topics = list(by_people.campaign.topics.order_by("qid"))
    plan = plan_job(
        kind=job_kind_named("GradePassages"),
        judge=judge,
        topics=topics,
        nuggets=by_people.nuggets,
        name="",
        qrels_source=None,
    )
    job = launch(plan, most_calls=None, most_cost=None, acting_user=None, to_workers=False)
    runner.run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.units_total, job.units_done, job.calls) == ("done", 3, 3, 2 * 3 + 1)
    assert job.condition.name == "Questions/Auto, passages by j"
    assert sorted(job_kind_named(job.kind).unit_names(list(job.units.all())).values()) == ["d1", "d2", "d3"]
    found = {one.answer.docid: list(given(one).values()) for one in all_judged(job.condition)}
    assert sorted(found) == ["d1", "d2", "d3"]
    assert all(set(grades) <= set(GRADING.labels) for grades in found.values())


def test_grades_of_passages_are_compared_without_scores(questions: Condition, import_file: Importer, as_olga: Client):
    for name, by, grades in (("People", "people", (5, 0, 1)), ("Model", "model", (4, 0, 3))):
        records = [*lines("d1", *grades), *lines("d2", 0, 0, 0)]
        options = {"condition": name, "by": by, "nuggets": "Questions"}
        assert import_file(questions.campaign, "question_grades", records, **options).state == "done"
    first, second = (questions.campaign.conditions.get(name=name) for name in ("People", "Model"))
    comparison = create_comparison(
        campaign=first.campaign, first=first, second=second, draws=20, seed=3, acting_user=None
    )
    found = run(comparison)
    assert found.state == "done", found.why
    assert "scores" not in found.result, "they are no system's"
    matrix = [[0] * 6 for _ in range(6)]
    for one, other in ((5, 4), (0, 0), (1, 3), (0, 0), (0, 0), (0, 0)):
        matrix[one][other] += 1
    assert found.result["labels"]["matrix"] == matrix
    page = as_olga.get(f"/campaigns/study/comparisons/{comparison.comparison_id}/")
    assert page.status_code == 200
    topic = questions.campaign.topics.get(qid="t1")
    told = [(one.run, one.first, one.second) for one in differences(comparison.comparison, topic)]
    assert told == [("d1", "5", "4"), ("d1", "1", "3")]


def test_systems_answers_are_as_they_were(by_people: Condition, pool: Campaign, as_olga: Client):
    runs = as_olga.get("/campaigns/study/runs/").content.decode()
    assert PASSAGES_RUN not in runs, "it is no system's run"
    assert PASSAGES_RUN in as_olga.get("/campaigns/study/runs/?show=control").content.decode()


def test_the_pools_passages_are_no_systems_scores(questions: Condition, import_file: Importer, as_olga: Client):
    import_file(questions.campaign, "question_grades", lines("d1", 5, 0, 1), **FILE)
    page = as_olga.get("/campaigns/study/scores/").content.decode()
    assert "No system&#x27;s run is scored here." in page or "No system's run is scored here." in page
    assert "team.one" not in page, "no system is left out of what scores none"


def test_qrels_come_back_as_a_source_on_their_scale(questions: Condition, import_file: Importer, tmp_path):
    import_file(questions.campaign, "question_grades", [*lines("d1", 5, 0, 1), *lines("d2", 0, 0, 3)], **FILE)
    out = tmp_path / "rubric.qrels"
    call_command("export_rubric_qrels", "study", condition="Graded", output=str(out))
    assert out.read_text() == "t1 0 d1 5\nt1 0 d2 3\n"
    done = import_file(questions.campaign, "qrels", out.read_text(), source="RUBRIC by Graded", by="model")
    assert (done.state, done.report["counts"]["graded on the scale 0 to 5"]) == ("done", 2)
    assert questions.campaign.qrels_sources.get(name="RUBRIC by Graded").max_grade == 5


def test_a_restored_campaign_has_the_same_passages_and_grades(questions: Condition, import_file: Importer, tmp_path):
    records = [*lines("d1", 5, 0, 1), *lines("d2", 0, 0, 3), *lines("d3", 1, 0, 0, text=TEXTS["d2"])]
    assert import_file(questions.campaign, "question_grades", records, **FILE).state == "done"
    path, before = tmp_path / "study.zip", list(grade_lines(questions.campaign.conditions.get(name="Graded")))
    path.write_bytes(written(questions.campaign))
    forget_everything()
    campaign = restore(path)
    assert list(grade_lines(campaign.conditions.get(name="Graded"))) == before
    assert written(campaign) == path.read_bytes()


def test_what_a_run_answers_comes_after_the_passages_that_it_found(questions: Condition, import_file: Importer):
    records = [*lines("d1", 5, 0, 1, run_id="finder"), *lines("d2", 0, 4, 0, run_id="finder")]
    assert import_file(questions.campaign, "question_grades", records, **FILE).state == "done"
    said = [{"text": TEXTS["d1"], "citations": []}]
    done = import_file(
        questions.campaign, "runs", [{"run_id": "finder", "topic_id": "t1", "references": [], "answer": said}]
    )
    assert (done.state, [one["kind"] for one in done.report["warnings"]]) == ("done", ["topic without an answer"])
    found = questions.campaign.runs.get(tag="finder").answers.order_by("pk")
    assert [(one.docid, one.apart) for one in found] == [("d1", True), ("d2", True), ("", False)]
    assert len(list(grade_lines(questions.campaign.conditions.get(name="Graded")))) == 6
