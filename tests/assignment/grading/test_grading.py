"""Questions graded by people: grades are labels like others, in tables that they share with assignment."""

import csv
import io
import re

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from assessor.accounts.models import Person
from assessor.archive.registry import BY_LABEL, KEPT
from assessor.campaigns.actions import ConditionError
from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.desk.collection import topic_states
from assessor.desk.flags import asked
from assessor.desk.grid import grid_of
from assessor.desk.run import judged_answer, scores_by_condition
from assessor.desk.score_contributions import scores_of
from assessor.labels.label_kind import label_kinds
from assessor.scores.cache import condition_scores
from assessor.scores.leaderboards import score_lines
from assessor.training.queries import worked_on
from assessor.work.models import Task
from assignment.actions import create_manual_assign
from assignment.grading.label_kind import GRADING
from assignment.models import AnswerSheet, Assignment, LabelEvent
from metaeval.stats.means import Policy
from tests.assignment.conftest import finished, manual, nugget_ids, sheet_of, task  # noqa: F401
from tests.assignment.grading.conftest import BANKS
from tests.conftest import Importer
from tests.judging import again, counters, give, given, history, label_all, leave_out, nuggets_of, send, sign_off
from tests.questions.banks import bank, question

SIX = bank(*(question(f"Question {number}?") for number in range(6)))


def grade(client: Client, sheet: AnswerSheet, *grades: str) -> None:
    for item, given_grade in zip(nuggets_of(sheet.bank), grades, strict=True):
        assert send(client, sheet, "label", item, label=given_grade).status_code == 200


def test_six_zeros_are_six_grades(
    answered: Campaign,
    import_file: Importer,
    topic: Topic,
    anna: Person,
    as_anna: Client,
):
    import_file(answered, "questions", [SIX], condition="Six", by="people")
    six = answered.conditions.get(name="Six")
    of_six = give(create_manual_assign(nuggets=six, name="Grades", acting_user=None, kind=GRADING), topic, anna)
    for tag in ("team.one", "team.two"):
        label_all(as_anna, sheet_of(of_six, tag), "0")
    one = again(sheet_of(of_six, "team.one"))
    assert (list(given(one).values()), one.to_do, one.version) == (["0"] * 6, 0, 6)
    assert [event.value for event in history(one)] == ["0"] * 6
    assert counters(of_six) == ("open", 3, 3)
    assert sign_off(as_anna, of_six).status_code == 200
    found = condition_scores(of_six.condition)
    assert found.states.tolist() == [[1], [1], [1]]
    assert found.scores[..., :5].tolist() == [[[0, 0, 0, 0, 0]]] * 3


def test_an_empty_answer_is_graded_0_by_rule(grades: Task, as_anna: Client):
    empty = AnswerSheet.objects.get(task=grades, answer__run__tag="team.empty")
    assert (empty.by_rule, empty.to_do, list(given(empty).values())) == (True, 0, ["0", "0", "0"])
    assert "1 empty answer is 0 by rule and not asked." in as_anna.get(f"/assign/{grades.pk}/").content.decode()


def test_the_screen_has_six_choices_and_says_in_the_list_of_keys_what_they_mean(grades: Task, as_anna: Client):
    page = as_anna.get(f"/assign/{grades.pk}/").content.decode()
    assert page.count('data-act="label"') == 3 * 6
    for choice in GRADING.choices:
        assert page.count(f'data-label="{choice.label}"') == 3
        assert page.count(f'data-key-label="This question: {choice.meaning}"') == 3
    assert "Why can't this question be judged in this answer?" in page
    assert 'data-kind="grading"' in page
    assert "What does purring heal?" in page
    assert "Bones" not in page, "gold answers are for nobody who grades by the text alone"


def test_grades_are_kept_by_condition_and_scored(grades: Task, as_anna: Client, by_people: Condition):
    grade(as_anna, sheet_of(grades, "team.one"), "5", "4", "0")
    grade(as_anna, sheet_of(grades, "team.two"), "0", "3", "0")
    found = condition_scores(by_people)
    measures = dict(zip(found.measures.keys, found.scores[:, 0].T.tolist(), strict=True))
    assert [run.tag for run in found.runs] == ["team.empty", "team.one", "team.two"]
    assert measures["NUGGET_COVERAGE"] == [0, 2 / 3, 0]
    assert measures["N_COVER_4"] == [0, 1, 0]
    assert measures["N_COVER_3"] == [0, 1, 0.5]
    assert measures["MAX_GRADE"] == [0, 5, 3]
    assert measures["AVG_GRADE"] == [0, 3, 1]
    assert measures["COVERED_COUNT"] == [0, 2, 0]
    assert measures["NUGGET_COVERAGE_WEIGHTED"] == [0, 4 / 5, 0]


def test_weighted_cover_leaves_out_a_topic_whose_questions_have_no_importance(
    by_people: Condition, anna: Person, as_anna: Client, as_olga: Client
):
    # Two vital questions and an okay one on t1; one without importance on t2.
    for qid, grades in (("t1", ("5", "0", "4")), ("t2", ("5",))):
        topic = by_people.campaign.topics.get(qid=qid)
        grade(as_anna, sheet_of(give(by_people, topic, anna), "team.one"), *grades)
    sheet = AnswerSheet.objects.get(answer__topic__qid="t1", answer__run__tag="team.one")
    page = as_olga.get(f"/campaigns/study/scores/?condition={by_people.pk}").content.decode()
    assert "On 1 of the topics some question has no importance: weighted cover leaves these topics out." in page
    pages = {
        topic.qid: as_olga.get(f"/campaigns/study/scores/{by_people.pk}/topics/{topic.pk}/").content.decode()
        for topic in by_people.campaign.topics.all()
    }
    told = "Some have no importance, so weighted cover is undefined."
    assert {qid: told in page for qid, page in pages.items()} == {"t1": False, "t2": True}
    lines = "".join(score_lines(by_people, "topics", Policy.ZERO, allow_incomplete=True))
    weighted = {
        row["topic"]: row["NUGGET_COVERAGE_WEIGHTED"]
        for row in csv.DictReader(io.StringIO(lines))
        if row["run_id"] == "team.one"
    }
    assert weighted == {"t1": "0.6", "t2": ""}
    found = condition_scores(by_people)
    assert found.unusual["topics_without_importance"] == 1
    parts = {}
    for item in nuggets_of(sheet.bank):
        [score] = scores_of(sheet, str(item))
        [row] = [one for one in score.rows if one.measure == "NUGGET_COVERAGE_WEIGHTED"]
        parts[(row.value, row.weight)] = (row.answer, row.run)
    # (1 + 0.5) / 2.5, and the run's mean is over t1 alone.
    assert parts == dict.fromkeys([("1", "1"), ("0", "1"), ("1", "0.5")], ("0.6000", "0.6000"))


def test_a_question_left_out_is_in_no_measure(grades: Task, as_anna: Client, by_people: Condition):
    sheet = sheet_of(grades, "team.one")
    grade(as_anna, sheet, "5", "4", "0")
    leave_out(by_people, nuggets_of(sheet.bank)[2], "unclear")
    found = condition_scores(by_people)
    assert found.scores[1, 0, :5].tolist() == [1, 1, 4.5, 5, 2]
    assert found.unusual["questions_left_out"] == 1


# What a condition builds on


def test_questions_are_not_assigned_and_facts_not_graded(questions: Condition, finished, olga: Person):  # noqa: F811
    with pytest.raises(
        ConditionError, match="Nugget assignment needs nuggets, but Questions has question nuggets: choose"
    ):
        create_manual_assign(nuggets=questions, name="x", acting_user=olga)
    with pytest.raises(
        ConditionError, match=r"Question grading needs question nuggets, but .* has nuggets: choose another"
    ):
        create_manual_assign(nuggets=finished.condition, name="x", acting_user=olga, kind=GRADING)


def test_the_form_of_new_conditions_offers_each_its_own(questions: Condition, finished, as_olga: Client):  # noqa: F811
    page = as_olga.get(f"/campaigns/study/conditions/new/?of={questions.pk}")
    fields = page.context["form"].fields
    assert list(fields["questions"].queryset) == [questions]
    assert list(fields["nuggets"].queryset) == [finished.condition]
    initial = page.context["form"].initial
    assert (initial["method"], initial["questions"]) == ("ManualGrade", str(questions.pk))
    as_olga.post("/campaigns/study/conditions/new/", {"method": "ManualGrade", "questions": questions.pk})
    made = Condition.objects.get(nuggets=questions)
    assert (made.kind, made.method, made.name) == ("grading", "ManualGrade", "Questions/Manual")


def test_a_file_of_assignments_is_of_no_questions(questions: Condition, import_file: Importer):
    line = {"query": "x", "qid": "t1", "nuggets": [], "run_id": "r", "answer_text": "", "response_length": 0}
    options = {"condition": "A", "by": "people", "nuggets": "Questions"}
    done = import_file(questions.campaign, "assignments", [line], **options)
    assert done.state == "refused"
    assert done.report["errors"][0]["found"] == "Questions, questions"


def test_control_runs_state_facts(questions: Condition):
    with pytest.raises(CommandError, match="Questions"):
        call_command("make_control_runs", "study", nuggets="Questions")


# Both kinds in the same tables


@pytest.fixture
def both(task: Task, grades: Task, as_anna: Client) -> tuple[Task, Task]:  # noqa: F811
    """Anna's tasks of both kinds on t1: in each an answer has labels, with a flag and what can't be judged."""
    for one in (task, grades):
        sheet = sheet_of(one, "team.one")
        first, second, third = nuggets_of(sheet.bank)
        send(as_anna, sheet, "label", first, label=(one.condition.kind == "grading" and "5") or "support")
        send(as_anna, sheet, "cannot", second, reason="garbled")
        send(as_anna, sheet, "flag", third, note="odd")
    return task, grades


def test_what_people_ask_is_asked_once(both: tuple[Task, Task], campaign: Campaign):
    found = [(one.kind, one.task) for one in asked(campaign)]
    assert sorted(found) == sorted((one.kind, one.pk) for one in both for _ in range(2))


def test_answers_are_counted_once(both: tuple[Task, Task], campaign: Campaign, topic: Topic):
    assert topic_states(campaign, [topic.pk])[topic.pk].people == 100 * 2 // 6  # the empty answer of each


def test_each_kind_has_its_own_table_of_an_answer(both: tuple[Task, Task], campaign: Campaign):
    answer = sheet_of(both[0], "team.one").answer
    tables = judged_answer(campaign, answer).tables
    assert [(table.kind.name, len(table.conditions), len(table.rows)) for table in tables] == [
        ("assignment", 1, 3),
        ("grading", 1, 3),
    ]
    rows = scores_by_condition(campaign, answer.run, None).rows
    assert sorted(row.condition.kind for row in rows) == ["assignment", "grading"]


def test_the_grid_is_of_the_kind_that_labels_the_list(both: tuple[Task, Task], campaign: Campaign, as_olga: Client):
    topic = both[0].topic
    for one in both:
        found = grid_of(campaign, topic, {"nuggets": str(one.condition.nuggets_id), "of": "all"})  # type: ignore[arg-type]
        assert found is not None
        assert (found.kind.name, found.judges) == (one.kind, [one.condition])
        address = f"/campaigns/study/topics/{topic.pk}/?nuggets={one.condition.nuggets_id}"
        assert as_olga.get(address).status_code == 200


def test_the_grid_tells_grades_apart(both: tuple[Task, Task], campaign: Campaign, as_anna: Client, as_olga: Client):
    _, grades = both
    sheet = sheet_of(grades, "team.one")
    grade(as_anna, sheet, "2", "3", "5")
    other = campaign.conditions.create(
        name="Other", identity="other", kind="grading", nuggets=grades.condition.nuggets, protocol=campaign.protocol
    )
    copy = AnswerSheet.objects.create(
        condition=other, answer=sheet.answer, bank=sheet.bank, judge=sheet.judge, edition=sheet.edition, to_do=0
    )
    for item, value in zip(nuggets_of(sheet.bank), ("2", "4", "5"), strict=True):
        Assignment.objects.create(sheet=copy, nugget_id=item, value=value, state="given")
    address = f"/campaigns/study/topics/{grades.topic_id}/?nuggets={grades.condition.nuggets_id}"
    page = as_olga.get(address).content.decode()
    for sign in ("2", "3", "4", "5"):
        assert f'data-sign="{sign}"' in page
    assert "5 fully · ? no label" in page
    [row] = grid_of(campaign, grades.topic, {"nuggets": str(grades.condition.nuggets_id), "show": "differ"}).rows  # type: ignore[arg-type, union-attr]
    assert sorted(mark.word for marks in row.cells for mark in marks) == ["3", "4"]


def test_labels_side_by_side_are_offered_where_there_are_some(
    task: Task,  # noqa: F811
    as_olga: Client,
    request: pytest.FixtureRequest,
):
    def offered() -> list[bool]:
        page = as_olga.get("/campaigns/study/exports/").content.decode()
        return [f"{one} of each answer under" in page for one in ("Labels", "Grades of the questions")]

    assert offered() == [True, False]
    request.getfixturevalue("grades")
    assert offered() == [True, True]


def test_a_job_on_questions_grades_them(both: tuple[Task, Task], as_olga: Client):
    for one, title in zip(both, ("Assign nuggets", "Grade questions"), strict=True):
        page = as_olga.get(f"/campaigns/study/jobs/new/?nuggets={one.condition.nuggets_id}").content.decode()
        assert re.findall(r'aria-current="true"><b>([^<]*)', page) == [title]
    assert as_olga.get("/campaigns/study/jobs/new/?nuggets=%C2%B2").status_code == 200


def test_a_label_has_its_history_under_its_kind_alone(both: tuple[Task, Task], as_olga: Client):
    for one, other in (both, both[::-1]):
        sheet = sheet_of(one, "team.one")
        item = nuggets_of(sheet.bank)[0]
        assert as_olga.get(f"/campaigns/study/labels/{one.kind}/{sheet.pk}/{item}/").status_code == 200
        assert as_olga.get(f"/campaigns/study/labels/{other.kind}/{sheet.pk}/{item}/").status_code == 404


def test_what_is_left_out_is_listed_once(both: tuple[Task, Task], campaign: Campaign, as_olga: Client):
    for one in both:
        sheet = sheet_of(one, "team.one")
        leave_out(one.condition, nuggets_of(sheet.bank)[1], "unclear", Person.objects.get(username="olga"))
    for kind in label_kinds():
        expected = [one.condition for one in both if one.kind == kind.name]
        assert [record.condition for record in kind.left_out_records(campaign)] == expected
        assert {condition for condition, _ in kind.left_out(campaign)} == {one.pk for one in expected}
    page = as_olga.get("/campaigns/study/asked/?state=settled").content.decode()
    assert page.count("Bring back into the scores") == 2
    assert [page.count(f'<h2 id="left-out-{one.kind}">') for one in both] == [1, 1]


def test_work_on_a_topic_is_of_the_kind_that_it_was_done_in(grades: Task, as_anna: Client, campaign: Campaign):
    topics = list(campaign.topics.order_by("qid"))
    assert worked_on(topics) == set()
    send(as_anna, sheet_of(grades, "team.one"), "flag", nuggets_of(sheet_of(grades, "team.one").bank)[0], note="odd")
    assert worked_on(topics) == {topics[0].pk}
    assert [kind.name for kind in label_kinds() if campaign.topics.filter(kind.has_work()).exists()] == ["grading"]


def test_the_tables_are_in_an_archive_once():
    assert len(KEPT) == len(BY_LABEL)
    assert {"assignment.answersheet", "assignment.assignment", "assignment.labelevent"} <= BY_LABEL.keys()


def test_the_words_that_carry_a_grade_stay_the_same_where_sentences_become_known(
    campaign: Campaign, import_file: Importer, anna: Person, as_anna: Client
):
    lines = [
        {"run_id": "r", "topic_id": "t1", "topic": "t1", "references": [], "response_length": 4, "answer": answer}
        for answer in ([{"text": "Cats purr. Dogs bark.", "citations": []}],)
    ]
    assert import_file(campaign, "runs", lines, name="r").state == "done"
    import_file(campaign, "questions", BANKS, condition="Questions", by="people")
    condition = campaign.conditions.get(name="Questions")
    of_grades = give(
        create_manual_assign(nuggets=condition, name="G", acting_user=None, kind=GRADING),
        campaign.topics.get(qid="t1"),
        anna,
    )
    sheet = sheet_of(of_grades, "r")
    item = nuggets_of(sheet.bank)[0]
    assert send(as_anna, sheet, "mark", item, marks=[[0, 11, 15]]).status_code == 200
    for kind in label_kinds():
        answer = sheet.answer
        before = list(answer.sentences())
        answer.content = [{"text": "Cats purr.", "citations": []}, {"text": "Dogs bark.", "citations": []}]
        if kind.name in ("assignment", "grading"):
            kind.on_answers_changed({answer: before})
    assert again(sheet).marks == {str(item): [[1, 0, 4]]}
    assert [event.verb for event in LabelEvent.objects.filter(sheet=sheet).order_by("version")] == [
        "mark",
        "sentences known",
    ]


def test_the_table_of_runs_has_other_thresholds_only_where_one_is_chosen(
    grades: Task, as_anna: Client, as_olga: Client, by_people: Condition
):
    grade(as_anna, sheet_of(grades, "team.one"), "5", "4", "0")
    grade(as_anna, sheet_of(grades, "team.two"), "0", "3", "0")
    address = f"/campaigns/study/scores/?condition={by_people.pk}"
    usual, chosen = (as_olga.get(f"{address}{more}").content.decode() for more in ("", "&measure=N_COVER_2"))
    of_usual, of_chosen = (set(re.findall(r"[?&;]sort=-?([A-Z_0-9]+)", page)) for page in (usual, chosen))
    assert of_usual >= {"NUGGET_COVERAGE", "N_COVER_4", "MAX_GRADE"}
    assert not {"N_COVER_2", "NUGGET_COVERAGE_1"} & of_usual
    assert of_chosen == of_usual | {"N_COVER_2"}
    assert 'value="N_COVER_1"' in usual or "measure=N_COVER_1" in usual
