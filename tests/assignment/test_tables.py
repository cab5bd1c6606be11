"""From answer sheets to score tables: what is in scope, what counts, what is missing; and no table is an old one."""

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import Value
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns.models import CONTROL, Answer, Campaign, Condition, Import, Judge, Run, Topic
from assessor.campaigns.queries import own_answers
from assessor.labels.manual_setups import label_again
from assessor.runtime.process_cache import cache
from assessor.scores.cache import condition_scores, counts_by_condition
from assessor.scores.loading import Join, Labels
from assessor.scores.tables import score_table
from assessor.work.models import Task
from assignment import score_tables
from assignment.actions import leave_out
from assignment.actions.judged_answers import add_sheets
from assignment.exports import assignment_lines
from assignment.models import AnswerSheet, Assignment
from assignment.score_arrays import Scores
from assignment.score_tables import NuggetScoring
from metaeval.stats.means import COMPLETE, INCOMPLETE, OUTSIDE, UNANSWERED, Policy
from nuggets import actions as nugget_actions
from nuggets.actions import reopen_bank
from nuggets.models import BankEdition, Nugget, NuggetBank
from tests.assignment.conftest import A, B, C, run_file, sheet_of
from tests.assignment.scored import (
    BANKS,
    ONE_T1,
    ONE_T2,
    TWO_T1,
    TWO_T2,
    ZERO,
    auto_condition,
    import_banks,
    label,
    row,
    say,
    sheet_on,
)
from tests.judging import give
from tests.nuggets.conftest import do

NAN = [math.nan] * 7
load_scores = NuggetScoring().load
STATES = {UNANSWERED: "unanswered", COMPLETE: "complete", INCOMPLETE: "incomplete"}


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    cache.clear()


@pytest.fixture
def edits(answered: Campaign, import_file) -> Condition:
    """Imported nuggets on both topics."""
    return import_banks(answered, import_file)


@pytest.fixture
def auto(edits: Condition) -> Condition:
    """A model's labels of everything."""
    return label(auto_condition(edits))


def cell(condition: Condition, qid: str, tag: str) -> tuple[str, list[float]]:
    """Return the state and the figures of a run's answer, loaded anew."""
    return in_scores(load_scores(condition), qid, tag)


def in_scores(found: Scores, qid: str, tag: str) -> tuple[str, list[float]]:
    run = [one.tag for one in found.runs].index(tag)
    topic = [one.qid for one in found.topics].index(qid)
    return STATES[found.states[run, topic]], found.scores[run, topic].tolist()


def near(expected: list[float]) -> object:
    return pytest.approx(expected, abs=1e-12, nan_ok=True)


INCOMPLETE_CELL = ("incomplete", near(NAN))


def test_every_answer_has_its_scores_and_its_length(auto: Condition):
    found = load_scores(auto)
    assert [run.tag for run in found.runs] == ["team.empty", "team.one", "team.two"]
    assert [(topic.qid, topic.nuggets) for topic in found.topics] == [("t1", 3), ("t2", 2)]
    for qid, tag, expected in [
        ("t1", "team.one", ONE_T1),
        ("t1", "team.two", TWO_T1),
        ("t1", "team.empty", ZERO),
        ("t2", "team.one", ONE_T2),
        ("t2", "team.two", TWO_T2),
    ]:
        assert in_scores(found, qid, tag) == ("complete", near(expected)), (qid, tag)
    assert in_scores(found, "t2", "team.empty") == ("unanswered", ZERO)


def test_only_topics_that_all_runs_answered_count_where_that_is_asked_for(auto: Condition):
    found = load_scores(auto)
    table = score_table(found, Policy.COMMON)
    assert (table.topics, table.answers) == (1, 3)
    assert [(row.name, row.topics, row.complete, row.figures) for row in (*table.systems, *table.over)] == [
        ("team.empty", 1, 1, near(ZERO)),
        ("team.one", 1, 1, near(ONE_T1)),
        ("team.two", 1, 1, near(TWO_T1)),
        ("minimum", 1, 3, near(ZERO)),
        ("median", 1, 3, near([*ONE_T1[:6], 2])),
        ("maximum", 1, 3, near([*TWO_T1[:6], 9])),
    ]
    # What is not judged by plan is not there either, and what a label is missing of is.
    found.states[0, 0], found.states[1, 0] = OUTSIDE, INCOMPLETE
    assert score_table(found, Policy.COMMON).topics == 0
    found.states[0] = COMPLETE
    table = score_table(found, Policy.COMMON)
    assert (table.topics, table.answers, table.incomplete) == (2, 6, 1)
    assert [(row.topics, row.complete, row.incomplete) for row in table.systems] == [(2, 2, 0), (2, 1, 1), (2, 2, 0)]


def test_a_control_run_takes_no_topic_away_from_the_others(auto: Condition):
    Run.objects.filter(tag="team.empty").update(task=CONTROL)
    table = score_table(load_scores(auto), Policy.COMMON)
    assert table.topics == 2
    assert [row.figures[2] for row in table.systems] == near([(0.4 + 2 / 3) / 2, (1 + 1 / 3) / 2])
    assert table.controls[0].figures == near(ZERO)


def test_the_table_under_both_policies(auto: Condition):
    found = load_scores(auto)
    table = score_table(found, Policy.ZERO)
    assert [(row.name, row.topics, row.complete, row.incomplete) for row in table.systems] == [
        ("team.empty", 2, 1, 0),
        ("team.one", 2, 2, 0),
        ("team.two", 2, 2, 0),
    ]
    figures = {row.name: row.figures for row in (*table.systems, *table.over)}
    assert figures["team.one"] == near([(a + b) / 2 for a, b in zip(ONE_T1, ONE_T2, strict=True)])
    assert figures["team.two"] == near([(a + b) / 2 for a, b in zip(TWO_T1, TWO_T2, strict=True)])
    assert figures["minimum"] == near(ZERO)
    assert figures["median"] == near([(a + b) / 2 for a, b in zip([*ONE_T1[:6], 2], [*TWO_T2[:6], 3], strict=True)])
    assert figures["maximum"] == near(
        [(a + b) / 2 for a, b in zip([*TWO_T1[:6], 9], [1, 1, 2 / 3, 5 / 6, 0.5, 0.75, 7], strict=True)]
    )
    answered = score_table(found, Policy.ANSWERED)
    figures = {row.name: row.figures for row in (*answered.systems, *answered.over)}
    assert figures["team.empty"] == near(ZERO)
    assert figures["minimum"] == near([(0 + b) / 2 for b in [0, 0, 1 / 3, 1 / 3, 0.5, 0.5, 3]])
    assert (answered.answers, answered.incomplete) == (5, 0)


def test_control_runs_have_rows_of_their_own_and_are_in_none_over_all(auto: Condition):
    Run.objects.filter(tag="team.two").update(task=CONTROL)
    table = score_table(load_scores(auto), Policy.ZERO)
    assert [row.name for row in table.systems] == ["team.empty", "team.one"]
    assert [row.name for row in table.controls] == ["team.two"]
    assert table.over[2].figures == near([(a + b) / 2 for a, b in zip(ONE_T1, ONE_T2, strict=True)])
    assert [row.complete for row in table.over] == [3, 3, 3]
    Run.objects.update(task=CONTROL)
    table = score_table(load_scores(auto), Policy.ZERO)
    assert (table.systems, len(table.controls)) == ([], 3)
    assert all(row.figures == near(NAN) for row in table.over)


def test_a_nugget_without_a_label_makes_its_answer_incomplete(edits: Condition):
    auto = label(auto_condition(edits), {"t1": {"team.one": "sp?", "team.two": "???"}})
    assert cell(auto, "t1", "team.one") == INCOMPLETE_CELL
    assert cell(auto, "t1", "team.two") == INCOMPLETE_CELL
    [one, _] = score_table(load_scores(auto), Policy.ZERO).systems
    assert (one.complete, one.incomplete, one.figures) == (0, 1, near(NAN))
    say(sheet_on(auto, "t1", "team.one"), 2, label="not_support")
    assert cell(auto, "t1", "team.one") == ("complete", near(ONE_T1))


def test_only_what_has_a_sheet_is_in_scope(edits: Condition):
    auto = label(auto_condition(edits), {"t2": {"team.two": "ns"}})
    found = load_scores(auto)
    assert ([run.tag for run in found.runs], [topic.qid for topic in found.topics]) == (["team.two"], ["t2"])


def test_a_run_in_scope_whose_answer_was_never_judged_is_incomplete_there(edits: Condition):
    auto = label(auto_condition(edits), {"t1": {"team.one": "spn", "team.empty": "nnn"}, "t2": {"team.two": "ns"}})
    assert cell(auto, "t2", "team.one") == INCOMPLETE_CELL
    assert cell(auto, "t1", "team.two") == INCOMPLETE_CELL
    assert cell(auto, "t2", "team.empty") == ("unanswered", ZERO)
    assert [row.incomplete for row in score_table(load_scores(auto), Policy.ZERO).systems] == [0, 1, 1]


def test_what_a_person_cannot_judge_is_missing_until_another_label_is_taken_or_it_is_left_out(
    auto: Condition, olga: Person
):
    sheet = sheet_on(auto, "t1", "team.one")
    say(sheet, 1, label=None, cannot="unclear")
    assert cell(auto, "t1", "team.one") == INCOMPLETE_CELL
    say(sheet, 1, adopted="support")
    assert cell(auto, "t1", "team.one") == ("complete", near([1, 1, 0.8, 0.8, 2 / 3, 2 / 3, 9]))
    say(sheet, 1, adopted=None)
    nugget = Nugget.objects.get(text="cats purr when content")
    leave_out(condition=auto, nugget=nugget, is_out=True, reason="two facts", acting_user=olga)
    # Only the first nugget is vital now, the third okay; for all runs.
    assert cell(auto, "t1", "team.one") == ("complete", near([1, 1, 2 / 3, 2 / 3, 0.5, 0.5, 9]))
    [topic, other] = load_scores(auto).topics
    assert (topic.nuggets, topic.left_out, other.left_out) == (2, [("cats purr when content", "two facts")], [])
    leave_out(condition=auto, nugget=nugget, is_out=False, reason="one after all", acting_user=olga)
    assert cell(auto, "t1", "team.one") == INCOMPLETE_CELL
    assert load_scores(auto).topics[0].left_out == []


def test_a_nugget_is_left_out_of_its_own_condition_alone(auto: Condition, edits: Condition, olga: Person):
    other = label(auto_condition(edits, "other"))
    nugget = Nugget.objects.get(text="purring heals")
    leave_out(condition=other, nugget=nugget, is_out=True, reason="x", acting_user=olga)
    assert cell(auto, "t1", "team.one") == ("complete", near(ONE_T1))
    assert cell(other, "t1", "team.one") != ("complete", near(ONE_T1))


def test_the_persons_own_label_goes_before_one_that_was_taken_from_another(auto: Condition):
    sheet = sheet_on(auto, "t1", "team.one")
    say(sheet, 1, label=None, cannot="unclear", adopted="support")
    assert cell(auto, "t1", "team.one") != ("complete", near(ONE_T1))
    say(sheet, 1, label="partial_support", cannot=None, adopted=None)
    assert cell(auto, "t1", "team.one") == ("complete", near(ONE_T1))
    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.filter(sheet=sheet, state="given").update(resolved_value="support")


def test_without_a_vital_nugget_v_is_0_and_the_topic_is_told(answered: Campaign, import_file, olga: Person):
    edits = import_banks(answered, import_file, {"t1": [("a", "okay"), ("b", "okay")], "t2": BANKS["t2"]})
    auto = label(auto_condition(edits), {"t1": {"team.one": "sp"}, "t2": {"team.one": "sp"}})
    assert cell(auto, "t1", "team.one") == ("complete", near([0, 0, 0.5, 0.75, 0.5, 0.75, 9]))
    assert [topic.lacks_vital for topic in load_scores(auto).topics] == [True, False]
    # The topic stays in the mean.
    assert score_table(load_scores(auto), Policy.ZERO).systems[0].figures[0] == 0.5
    for nugget in Nugget.objects.filter(bank__topic__qid="t1"):
        leave_out(condition=auto, nugget=nugget, is_out=True, reason="x", acting_user=olga)
    found = load_scores(auto)
    assert ([topic.qid for topic in found.topics], [topic.qid for topic in found.uncounted]) == (["t2"], ["t1"])
    assert found.left_out == 2
    [one] = score_table(found, Policy.ZERO).systems
    assert (one.topics, one.figures[0]) == (1, 1)


def test_without_an_importance_v_and_w_leave_the_topic_out_for_every_run(answered: Campaign, import_file):
    edits = import_banks(answered, import_file, {"t1": BANKS["t1"], "t2": [("a", "okay"), ("b", "")]})
    auto = label(auto_condition(edits))
    nan = math.nan
    assert cell(auto, "t2", "team.one") == ("complete", near([nan, nan, nan, nan, 0.5, 0.75, 3]))
    assert cell(auto, "t2", "team.empty") == ("unanswered", near([nan, nan, nan, nan, 0, 0, 0]))
    assert [topic.lacks_importance for topic in load_scores(auto).topics] == [False, True]
    assert [topic.lacks_vital for topic in load_scores(auto).topics] == [False, False]
    [_, one, _] = score_table(load_scores(auto), Policy.ZERO).systems
    assert one.figures == near([*ONE_T1[:4], (1 / 3 + 0.5) / 2, (0.5 + 0.75) / 2, 6])


def test_where_only_some_nuggets_were_asked_the_others_are_missing(
    manual: Condition, task: Task, topic: Topic, ben: Person, olga: Person, nugget_ids
):
    sheet = sheet_of(task, "team.one")
    said = {nugget_ids[A]: {"cannot": "?"}, nugget_ids[B]: {"label": "support"}, nugget_ids[C]: {"label": "support"}}
    sheet.revise("label", said, judge_id=sheet.judge_id)
    second = label_again(of=manual, name="second", purpose="second", only_unjudgeable=True, acting_user=olga)
    [part] = give(second, topic, ben).answer_sheets.all()
    part.revise("label", {nugget_ids[A]: {"label": "support"}}, judge_id=part.judge_id)
    assert (part.to_do, part.asked) == (0, [nugget_ids[A]])
    assert cell(second, "t1", "team.one") == INCOMPLETE_CELL
    for nugget in (B, C):
        left = Nugget.objects.get(pk=nugget_ids[nugget])
        leave_out(condition=second, nugget=left, is_out=True, reason="not asked", acting_user=olga)
    assert cell(second, "t1", "team.one") == ("complete", [1] * 6 + [9])


def test_of_an_imported_condition_only_what_is_visible_counts(auto: Condition, answered: Campaign):
    running = Import.objects.create(campaign=answered, kind="runs", state="running")
    AnswerSheet.objects.filter(answer__run__tag="team.one").update(import_record=running)
    found = load_scores(auto)
    assert [run.tag for run in found.runs] == ["team.empty", "team.two"]


def test_scores_are_of_the_bank_as_it_was_finished_not_as_it_is_edited(
    task: Task, manual: Condition, finished: NuggetBank, olga: Person, nugget_ids
):
    sheet = sheet_of(task, "team.one")
    letters = {nugget_ids[A]: "support", nugget_ids[B]: "partial_support", nugget_ids[C]: "not_support"}
    sheet.revise("label", {pk: {"label": said} for pk, said in letters.items()}, judge_id=sheet.judge_id)
    reopen_bank(finished, reason="a check", acting_user=olga)
    do(finished, nugget_actions.reword_nugget, uid=C, text="kittens purr too")
    do(finished, nugget_actions.delete_nugget, uid=B)
    assert cell(manual, "t1", "team.one") == ("complete", near(ONE_T1))
    do(finished, nugget_actions.finish_bank)
    assert cell(manual, "t1", "team.one") == INCOMPLETE_CELL  # the label on the old text is stale
    sheet.refresh_from_db()
    sheet.revise("label", {nugget_ids[C]: {"label": "not_support"}}, judge_id=sheet.judge_id)
    assert cell(manual, "t1", "team.one") == ("complete", near([1, 1, 2 / 3, 2 / 3, 0.5, 0.5, 9]))


def test_a_sheet_about_another_edition_than_the_banks_is_incomplete(auto: Condition):
    AnswerSheet.objects.filter(answer__run__tag="team.one", answer__topic__qid="t1").update(edition=2)
    assert cell(auto, "t1", "team.one") == INCOMPLETE_CELL
    assert cell(auto, "t1", "team.two") == ("complete", near(TWO_T1))


@pytest.fixture
def newer(auto: Condition) -> NuggetBank:
    """A second bank of t1 by somebody else, finished later: one vital nugget."""
    maker = Judge.objects.create(kind="imported", name="somebody else", parameters={"by": "people"})
    topic = auto.campaign.topics.get(qid="t1")
    bank = NuggetBank.objects.create(topic=topic, condition=auto.nuggets, maker=maker, state="finished", edition=1)
    nugget = Nugget.objects.create(
        bank=bank, uid="0b0e7b3c-8a3e-4c58-9d4a-2f6f0e9f8a11", text="n", importance="vital", made_by=maker
    )
    NuggetBank.objects.filter(pk=bank.pk).update(order=[str(nugget.uid)], finished_at=timezone.now())
    bank.refresh_from_db()
    only = {"uid": str(nugget.uid), "text": "n", "importance": "vital", "evidence": []}
    BankEdition.objects.create(bank=bank, edition=1, version=1, nuggets=[only])
    return bank


def test_a_bank_that_is_finished_again_counts_before_one_finished_meanwhile(auto: Condition, newer: NuggetBank):
    add_sheets([row(auto, newer, own("team.two"), "n")])
    older = NuggetBank.objects.get(topic__qid="t1", pk__lt=newer.pk)
    BankEdition.objects.create(bank=older, edition=2, version=2, nuggets=older.editions.get().nuggets)
    NuggetBank.objects.filter(pk=older.pk).update(edition=2)
    AnswerSheet.objects.filter(bank=older).update(edition=2)
    assert cell(auto, "t1", "team.one") == ("complete", near(ONE_T1))
    assert [topic.nuggets for topic in load_scores(auto).topics] == [3, 2]


def own(tag: str, qid: str = "t1") -> Answer:
    answer: Answer = Answer.objects.get(run__tag=tag, topic__qid=qid, apart=False)
    return answer


def test_of_two_banks_of_a_topic_the_one_finished_last_counts(auto: Condition, newer: NuggetBank):
    # Also while no sheet is about the newer one.
    assert [cell(auto, "t1", tag) for tag in ("team.one", "team.two", "team.empty")] == [INCOMPLETE_CELL] * 3
    assert cell(auto, "t2", "team.one") == ("complete", near(ONE_T2))
    assert list(assignment_lines(auto, topics=[newer.topic])) == []
    add_sheets([row(auto, newer, own("team.two"), "n")])
    assert cell(auto, "t1", "team.two") == ("complete", [0] * 6 + [2])
    assert [topic.nuggets for topic in load_scores(auto).topics] == [1, 2]
    assert len(list(assignment_lines(auto, topics=[newer.topic]))) == 1
    # The others have labels on the older bank alone.
    assert cell(auto, "t1", "team.one") == INCOMPLETE_CELL
    assert cell(auto, "t1", "team.empty") == INCOMPLETE_CELL


def apart(tag: str, words: int, qid: str = "t1") -> Answer:
    """A text that came with labels and is not what the run answered."""
    run = Run.objects.get(tag=tag)
    answer: Answer = Answer.objects.create(
        run=run,
        topic=run.campaign.topics.get(qid=qid),
        form="text",
        content=[{"text": "x", "citations": []}],
        words=words,
        apart=True,
        import_record=run.import_record,
    )
    return answer


def test_a_bank_that_an_import_is_bringing_does_not_count(auto: Condition, newer: NuggetBank):
    running = Import.objects.create(campaign=auto.campaign, kind="nuggets", state="running")
    NuggetBank.objects.filter(pk=newer.pk).update(import_record=running)
    assert cell(auto, "t1", "team.one") == ("complete", near(ONE_T1))


def test_a_text_that_came_with_its_labels_is_scored_with_its_own_length_under_an_imported_condition(edits: Condition):
    auto = label(auto_condition(edits), {"t2": {"team.one": "sp"}})
    add_sheets([row(auto, NuggetBank.objects.get(topic__qid="t1"), apart("team.one", 55), "spn")])
    assert cell(auto, "t1", "team.one") == INCOMPLETE_CELL
    auto.method = Condition.IMPORTED
    assert cell(auto, "t1", "team.one") == ("complete", near([*ONE_T1[:6], 55]))


def test_a_text_that_came_with_the_labels_of_another_condition_is_no_answer(auto: Condition):
    apart("team.empty", 55, "t2")
    assert cell(auto, "t2", "team.empty") == ("unanswered", ZERO)


def test_an_own_answer_goes_before_a_text_that_came_with_labels_earlier(auto: Condition, import_file):
    first = apart("team.empty", 55, "t2")
    bank = NuggetBank.objects.get(topic__qid="t2")
    add_sheets([row(auto, bank, first, "nn")])
    file = run_file("team.empty", {"t2": ["It is melted."]})
    assert import_file(auto.campaign, "runs", file, name="late").state == "done"
    assert cell(auto, "t2", "team.empty") == INCOMPLETE_CELL  # what the run answered is not judged
    add_sheets([row(auto, bank, own("team.empty", "t2"), "ss")])
    assert cell(auto, "t2", "team.empty") == ("complete", [1] * 6 + [3])
    exported = [json.loads(text) for text in assignment_lines(auto, runs=[first.run])]
    assert [one["answer_text"] for one in exported if one["qid"] == "t2"] == ["It is melted."]


def test_an_own_answer_goes_before_a_text_that_came_with_labels_later(auto: Condition):
    add_sheets([row(auto, NuggetBank.objects.get(topic__qid="t1"), apart("team.one", 55), "nnn")])
    assert cell(auto, "t1", "team.one") == ("complete", near(ONE_T1))


def test_of_two_texts_that_came_with_labels_neither_is_the_runs(edits: Condition):
    auto, bank = auto_condition(edits), NuggetBank.objects.get(topic__qid="t1")
    add_sheets([row(auto, bank, apart("team.one", words), "sss") for words in (5, 6, 7)])
    assert cell(auto, "t1", "team.one") == INCOMPLETE_CELL


def test_a_text_that_only_the_older_banks_labels_refer_to_is_no_missing_answer(auto: Condition, newer: NuggetBank):
    bank = NuggetBank.objects.get(topic__qid="t1", pk__lt=newer.pk)
    Assignment.objects.filter(sheet__answer=own("team.one")).delete()
    AnswerSheet.objects.filter(answer=own("team.one")).delete()
    Answer.objects.filter(pk=own("team.one").pk).delete()
    add_sheets([row(auto, bank, apart("team.one", 55), "spn"), row(auto, newer, own("team.two"), "s")])
    assert cell(auto, "t1", "team.one") == INCOMPLETE_CELL


def test_texts_are_joined_whatever_stands_in_them(answered: Campaign):
    told = answered.runs.order_by().values_list(Join("tag", Value("'%s\"\\, ")), flat=True)
    assert sorted(told.get().split("'%s\"\\, ")) == sorted(answered.runs.values_list("tag", flat=True))


def test_an_answer_that_an_import_is_bringing_is_not_there(auto: Condition):
    answer = Answer.objects.get(run__tag="team.one", topic__qid="t1")
    before = set(own_answers([answer.topic_id]))
    bringing = answer.import_record
    bringing.pk, bringing.state = None, Import.State.RUNNING
    bringing.save()
    Answer.objects.filter(pk=answer.pk).update(import_record=bringing)
    assert set(own_answers([answer.topic_id])) == before - {answer}
    assert answer in before


def test_a_label_outside_the_vocabulary_is_never_taken_for_one(auto: Condition):
    sheet = sheet_on(auto, "t1", "team.one")
    Assignment.objects.filter(sheet=sheet).update(value="failed")
    with pytest.raises(ValueError, match="is none of not_support, partial_support, support"):
        load_scores(auto)


def test_counts_take_a_query(auto: Condition, edits: Condition):
    other = label(auto_condition(edits, "other"), {"t1": {"team.one": "s?n"}})
    nothing = auto_condition(edits, "nothing yet")
    sheet = sheet_on(other, "t1", "team.one")
    say(sheet, 1, cannot="unclear")
    with CaptureQueriesContext(connection) as queries:
        counts = counts_by_condition([auto, other, nothing])
    assert len(queries) == 1
    assert {pk: found[:5] for pk, found in counts.items()} == {auto.pk: (5, 5, 0, 0, 0), other.pk: (1, 1, 0, 1, 1)}
    add_sheets([row(other, NuggetBank.objects.get(topic__qid="t2"), own("team.two", "t2"), "ss")])
    assert counts_by_condition([auto, other])[other.pk].answers == 2


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of conditions whose scores were computed, as often as they were."""
    done: list[str] = []
    usual = score_tables.load_scores

    def load(condition: Condition, *how: Any) -> tuple[Scores, Callable[[], Labels]]:
        done.append(condition.name)
        return usual(condition, *how)

    monkeypatch.setattr(score_tables, "load_scores", load)
    return done


def relabel(auto: Condition, **more: object) -> None:
    say(sheet_on(auto, "t1", "team.one"), 2, label="support")


def adopt(auto: Condition, **more: object) -> None:
    say(sheet_on(auto, "t1", "team.one"), 2, label=None, cannot="unclear")
    say(sheet_on(auto, "t1", "team.one"), 2, adopted="support")


def leave_one_out(auto: Condition, **more: object) -> None:
    for is_out in (True, False, True):
        nugget = Nugget.objects.get(text="kittens purr")
        leave_out(condition=auto, nugget=nugget, is_out=is_out, reason="x", acting_user=None)  # type: ignore[arg-type]


def another_answer(auto: Condition, import_file: Callable[..., Import], **more: object) -> None:
    file = run_file("team.empty", {"t2": ["Late."]})
    assert import_file(auto.campaign, "runs", file, name="late").state == "done"


def a_control_run(auto: Condition, import_file: Callable[..., Import], **more: object) -> None:
    file = "tag,team,task,type,priority,aliases\nteam.one,,control,,,\n"
    assert import_file(auto.campaign, "run_list", file).state == "done"


def sheets_become_visible(auto: Condition, **more: object) -> None:
    record = Import.objects.create(campaign=auto.campaign, kind="runs", state="running")
    bank = NuggetBank.objects.get(topic__qid="t1")
    add_sheets([row(auto, bank, apart("team.one", 3), "sss", import_record=record.pk)])
    condition_scores(auto)
    record.state, record.ended_at = "done", timezone.now()
    record.save()


CHANGES = (relabel, adopt, leave_one_out, another_answer, a_control_run, sheets_become_visible)


@pytest.mark.parametrize("change", CHANGES)
def test_each_change_is_seen_at_once_and_without_one_nothing_is_computed_again(
    auto: Condition, import_file, loads: list[str], change: Callable[..., None]
):
    before = condition_scores(auto)
    assert condition_scores(auto).scores.tobytes() == before.scores.tobytes()
    assert loads == ["Edits/Auto"]
    change(auto, import_file=import_file)
    counted = len(loads)
    now = condition_scores(auto)
    assert len(loads) == counted + 1
    fresh = load_scores(auto)
    assert (now.runs, now.topics) == (fresh.runs, fresh.topics)
    assert (now.scores.tobytes(), now.states.tobytes()) == (fresh.scores.tobytes(), fresh.states.tobytes())
    if change is not sheets_become_visible:
        assert (now.runs, now.topics, now.scores.tobytes()) != (before.runs, before.topics, before.scores.tobytes())


def test_a_new_edition_is_seen_at_once_where_only_an_importance_changed(
    task: Task, manual: Condition, finished: NuggetBank, olga: Person, nugget_ids
):
    sheet = sheet_of(task, "team.one")
    letters = {nugget_ids[A]: "support", nugget_ids[B]: "partial_support", nugget_ids[C]: "not_support"}
    sheet.revise("label", {pk: {"label": said} for pk, said in letters.items()}, judge_id=sheet.judge_id)
    assert in_scores(condition_scores(manual), "t1", "team.one")[1] == near(ONE_T1)
    reopen_bank(finished, reason="a check", acting_user=olga)
    do(finished, nugget_actions.set_importance, uid=B, importance="okay")
    assert in_scores(condition_scores(manual), "t1", "team.one")[1] == near(ONE_T1)
    do(finished, nugget_actions.finish_bank)
    assert in_scores(condition_scores(manual), "t1", "team.one")[1] == near([1, 1, 0.5, 0.625, 1 / 3, 0.5, 9])


def test_one_table_is_kept_for_a_condition_and_none_is_anothers(auto: Condition, edits: Condition, loads: list[str]):
    other = label(auto_condition(edits, "other"), {"t1": {"team.one": "nnn"}})
    assert in_scores(condition_scores(auto), "t1", "team.one")[1] == near(ONE_T1)
    assert in_scores(condition_scores(other), "t1", "team.one")[1] == [0] * 6 + [9]
    relabel(auto)
    assert in_scores(condition_scores(auto), "t1", "team.one")[1] != near(ONE_T1)
    assert in_scores(condition_scores(other), "t1", "team.one")[1] == [0] * 6 + [9]
    assert loads == ["Edits/Auto", "other", "Edits/Auto"]
    kept = {key for key in cache._cache if ":scores." in key}  # type: ignore[attr-defined]
    assert kept == {f":1:scores.{auto.pk}", f":1:scores.{other.pk}"}


def test_how_many_queries_loading_takes_does_not_depend_on_how_much_there_is(auto: Condition, edits: Condition):
    little = label(auto_condition(edits, "little"), {"t1": {"team.one": "spn"}})
    counts = []
    for condition in (little, auto):
        with CaptureQueriesContext(connection) as queries:
            load_scores(condition)
        counts.append(len(queries))
    assert counts == [8, 8]
