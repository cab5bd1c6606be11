"""People judge reports: what is asked and follows, answers at once, and what becomes of it. See tests/labels too."""

import json
import math
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.actions import change_protocol
from assessor.campaigns.models import Campaign, Condition, Event, Topic
from assessor.labels.manual_setups import label_again
from assessor.scores.cache import condition_scores
from assessor.training.actions import mark_practice, name_reference
from assessor.work.actions import PlanError, withdraw_task
from assessor.work.blindness import record_exposure
from assessor.work.models import Exposure, Task
from assessor.work.task_changes import reassign
from assignment.argue.exports import judgment_lines, score_lines
from assignment.argue.models import ArgueSheet
from metaeval.stats.means import INCOMPLETE, Policy
from tests.assignment.argue.conftest import FILE, ONE, attested, relevance, report, run_line
from tests.assignment.argue.judging_helpers import judged_by_people
from tests.assignment.argue.test_changes import finish_again
from tests.conftest import Importer, client_of
from tests.judging import (
    all_judged,
    answers,
    counters,
    everything,
    give,
    history,
    judged,
    last_change,
    queue,
    said,
    send,
    sign_off,
    stands,
    url,
)


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


@pytest.fixture
def by_people(questions: Condition) -> Condition:
    return judged_by_people(questions)


@pytest.fixture
def task(by_people: Condition, topic: Topic, anna: Person) -> Task:
    """Anna's: three reports, one of which is empty; the text of d9 is not loaded."""
    return give(by_people, topic, anna)


@pytest.fixture
def negatives(questions: Condition, topic: Topic, anna: Person, olga: Person) -> Task:
    """Anna's, where it is asked whether a sentence claims that nothing is known."""
    change_protocol(campaign=questions.campaign, settings={"argue_negatives": True}, acting_user=olga)
    return give(judged_by_people(questions, "With negatives"), topic, anna)


def one(task: Task, tag: str = "team.one") -> Any:
    return judged(task, tag)


def keys(task: Task) -> dict[str, str]:
    """Return the keys of team.one's items on t1, by short names."""
    bank = one(task).bank
    uids = {text[:4]: str(uid) for uid, text in bank.nuggets.values_list("uid", "text")}
    heal, when = uids["What"], uids["When"]
    return {
        "a": "s0.dd1.attests",
        "bones": f"s0.dd1.n{heal}.g1",
        "pain": f"s0.dd1.n{when}.g2",
        "b": "s1.dd1.attests",
        "b bones": f"s1.dd1.n{heal}.g1",
        "b pain": f"s1.dd1.n{when}.g2",
        "c": "s1.dd2.attests",
        "c content": f"s1.dd2.n{when}.g1",
        "needs": "s2.needs",
        "first": "s2.first",
        "negative": "s2.negative",
        "stated": f"s2.n{heal}.g1",
        "not stated": f"s2.n{when}.g1",
    }


def answer(client: Client, sheet: Any, labels: dict[str, str], **fields: Any) -> HttpResponse:
    return send(client, sheet, "answers", labels=json.dumps(labels), **fields)


def judge(client: Client, sheet: Any, label: str, *items: str) -> None:
    for item in items:
        assert send(client, sheet, "label", item, label=label).status_code == 200


def finish(client: Client, task: Task, label: str = "yes") -> None:
    """Say the same of all that is asked, also of what follows from that, and sign the topic off."""
    for sheet in all_judged(task):
        while left := ArgueSheet.everything.get(pk=sheet.pk).open:
            judge(client, sheet, label, *left)
    assert sign_off(client, task).status_code == 200


# What is asked


def test_a_person_is_asked_what_the_gate_lets_through(task: Task, as_anna: Client):
    k = keys(task)
    asked = [k[name] for name in ("a", "bones", "pain", "b", "b bones", "b pain", "c", "c content", "needs")]
    assert one(task).asked == asked
    assert stands(one(task)) == {"to_do": 9}
    page = as_anna.get(f"/argue/{task.pk}/")
    by_answer = dict(zip(answers(page), said(page), strict=True))
    assert by_answer[one(task).pk]["open"] == [*asked, k["first"]], "what may follow comes along"
    text = page.content.decode()
    for shown in (
        "What does purring heal?",
        "Bones",
        "When content",
        "In pain",
        "Some purr at night.",
        "Cats purr when",
    ):
        assert shown in text
    # The screen and its guidelines ask what models are asked: of any sentence before, whatever that cites.
    for asks in (text, as_anna.get("/guidelines/argue/").content.decode()):
        assert "Did a sentence before say this?" in asks
        assert "with a citation" not in asks
    assert "team.one" not in text
    assert "Dogs bark." not in text, "nothing can be judged of it: the text of d9 is not loaded"
    assert "Not asked, in all your reports: 1 empty report; support by 1 cited document whose text is not" in text


def test_what_lacks_its_text_waits_for_it(task: Task, campaign: Campaign, import_file: Importer, as_anna: Client):
    two = one(task, "team.two")
    assert stands(two) == {"unresolved": ["s0.dd9.attests"], "to_do": 0}
    assert [row[0] for row in queue(as_anna.get(f"/argue/{task.pk}/"))] == [one(task).pk]
    response = send(as_anna, two, "label", "s0.dd9.attests", label="yes")
    assert (response.status_code, response.content) == (
        410,
        b"This can't be judged: the text of the document is not loaded.",
    )
    finish(as_anna, task)
    assert counters(task) == ("finished", 3, 3)
    found = condition_scores(task.condition)
    assert found.states[[run.tag for run in found.runs].index("team.two"), 0] == INCOMPLETE, "missing is not zero"
    assert import_file(campaign, "segments", [{"docid": "d9", "segment": "Dogs bark."}], name="d9").state == "done"
    task = give(task.condition, task.topic, task.person)
    assert counters(task) == ("open", 2, 3)
    assert stands(two) == {"to_do": 1}
    judge(as_anna, two, "no", "s0.dd9.attests")
    assert counters(task) == ("open", 3, 3)


def test_the_reports_at_hand_are_those_that_come_next(
    questions: Condition, campaign: Campaign, topic: Topic, import_file: Importer, anna: Person, as_anna: Client
):
    for number in range(5):
        line = run_line(f"more.{number}", [("Purring heals bones.", ["d1"])])
        assert import_file(campaign, "runs", [line], name=f"more.{number}").state == "done"
    page = f"/argue/{give(judged_by_people(questions), topic, anna).pk}/"
    order = [row[0] for row in queue(as_anna.get(page))]
    assert answers(as_anna.get(page)) == order[:4]
    assert answers(as_anna.get(f"{page}?answer={order[4]}")) == [order[4], order[5], order[0], order[1]]


def test_what_is_beyond_the_limit_is_shown_and_not_asked(questions: Condition, topic: Topic, anna, as_anna, olga):
    change_protocol(campaign=questions.campaign, settings={"argue_max_chars": 40}, acting_user=olga)
    task = give(judged_by_people(questions), topic, anna)
    assert (one(task).cut, one(task).asked[-1].split(".")[0]) == (2, "s0")
    text = as_anna.get(url(one(task))).content.decode()
    assert text.count("beyond the limit, not judged") == 2
    assert "2 sentences beyond the limit" in as_anna.get(f"/argue/{task.pk}/").content.decode()


# What follows


def test_what_follows_from_a_label_comes_and_goes_with_it(task: Task, as_anna: Client):
    k, sheet = keys(task), one(task)
    early = send(as_anna, sheet, "label", k["first"], label="yes")
    assert (early.status_code, early.content) == (400, b"There is no such judgment to be given here.")
    assert send(as_anna, sheet, "label", k["needs"], label="yes").json() == {"version": 1, "to_do": 9}
    assert one(task).asked[-1] == k["first"]
    assert send(as_anna, sheet, "label", k["first"], label="no", seconds=7).json() == {"version": 2, "to_do": 8}
    send(as_anna, sheet, "flag", k["first"], note="odd")
    assert send(as_anna, sheet, "label", k["needs"], label="no", seconds=5).json() == {"version": 4, "to_do": 8}
    assert (one(task).asked[-1], stands(sheet)) == (k["needs"], {"labels": {k["needs"]: "no"}, "to_do": 8})
    assert last_change(sheet) == {
        k["needs"]: {"label": ["yes", "no"]},
        k["first"]: {"label": ["no", None], "flag": ["odd", None]},
    }
    gone = send(as_anna, sheet, "label", k["first"], label="no")
    assert (gone.status_code, gone.content) == (410, b"This is not asked any more.")
    # Taken back, both stand as before; and time is told once.
    others = json.dumps({k["first"]: {"label": "no", "flag": "odd"}})
    assert send(as_anna, sheet, "label", k["needs"], label="yes", others=others, seconds=3).status_code == 200
    flags = {k["first"]: "odd"}
    assert stands(sheet) == {"labels": {k["needs"]: "yes", k["first"]: "no"}, "flags": flags, "to_do": 8}
    newest = history(sheet).filter(version=5).order_by("pk")
    assert [(event.judgment.step, event.seconds) for event in newest] == [("needs", 3), ("first", None)]
    assert send(as_anna, sheet, "cannot", k["needs"], reason="unclear").json()["to_do"] == 8
    assert one(task).asked[-1] == k["needs"]


def test_what_could_not_be_judged_comes_back_with_what_it_follows_from(task: Task, as_anna: Client):
    k, sheet = keys(task), one(task)
    judge(as_anna, sheet, "yes", k["needs"])
    send(as_anna, sheet, "cannot", k["first"], reason="garbled")
    send(as_anna, sheet, "flag", k["first"], note="odd")
    before = stands(sheet)
    assert before == {
        "labels": {k["needs"]: "yes"},
        "cannot": {k["first"]: "garbled"},
        "flags": {k["first"]: "odd"},
        "to_do": 8,
    }
    judge(as_anna, sheet, "no", k["needs"])
    assert (one(task).unjudgeable, one(task).flagged) == (0, 0)
    others = json.dumps({k["first"]: {"cannot": "garbled", "flag": "odd"}})
    assert send(as_anna, sheet, "label", k["needs"], label="yes", others=others).json() == {"version": 5, "to_do": 8}
    assert stands(sheet) == before
    assert (one(task).unjudgeable, one(task).flagged) == (1, 1)
    assert last_change(sheet) == {
        k["needs"]: {"label": ["no", "yes"]},
        k["first"]: {"cannot": [None, "garbled"], "flag": [None, "odd"]},
    }


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ("x", "others must be JSON."),
        ("[]", "others must say what stood of each item."),
        ('{"s2.first": "no"}', "others must say what stood of each item."),
        ('{"s2.first": {"label": 1}}', "others must say what stood of each item."),
        ('{"s2.first": {"label": "maybe"}}', "A label is one of no, yes."),
        ('{"s2.first": {"label": "no", "cannot": "x"}}', "What has a label has no reason why it can't be judged."),
    ],
)
def test_what_cannot_have_stood_does_not_come_back(task: Task, as_anna: Client, others: str, message: str):
    judge(as_anna, one(task), "yes", keys(task)["needs"])
    before = everything("argue")
    response = send(as_anna, one(task), "label", keys(task)["needs"], label="yes", others=others)
    assert (response.status_code, response.content.decode()) == (400, message)
    assert everything("argue") == before


def test_a_claim_of_absence_is_asked_about_all_answers(negatives: Task, as_anna: Client):
    k, sheet = keys(negatives), one(negatives)
    assert one(negatives).asked[-2:] == [k["needs"], k["negative"]]
    judge(as_anna, sheet, "yes", k["negative"])
    assert [key for key in one(negatives).asked if key.startswith("s2.n") and "-" in key][:2] == [
        k["stated"],
        k["not stated"],
    ]
    answer(as_anna, sheet, {k["stated"]: "yes", k["not stated"]: "no"})
    judge(as_anna, sheet, "no", k["negative"])
    assert stands(sheet)["labels"] == {k["negative"]: "no"}
    judge(as_anna, sheet, "yes", k["needs"])
    assert one(negatives).asked[-1] == k["first"]
    judge(as_anna, sheet, "yes", k["negative"])
    assert k["first"] not in one(negatives).asked


# Answers at once


def test_the_answers_of_a_citation_are_given_at_once(task: Task, as_anna: Client):
    k, sheet = keys(task), one(task)
    both = {k["bones"]: "yes", k["pain"]: "no"}
    assert answer(as_anna, sheet, both, seconds=9).json() == {"version": 1, "to_do": 7}
    assert stands(sheet) == {"labels": both, "to_do": 7}
    events = history(sheet).order_by("pk")
    assert [(event.version, event.verb, event.seconds, event.value) for event in events] == [
        (1, "answers", 9, "yes"),
        (1, "answers", None, "no"),
    ]
    assert answer(as_anna, sheet, dict.fromkeys(both, "")).json() == {"version": 2, "to_do": 9}
    assert (stands(sheet), history(sheet).last().verb) == ({"to_do": 9}, "take back")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("x", "labels must be JSON."),
        ("[]", "labels must have a label for each item."),
        ('{"a": 1}', "labels must have a label for each item."),
        ("{}", "There are no labels."),
        ('{"s9.needs": "yes"}', "There is no such judgment to be given here."),
        ('{"s0.dd1.attests": "full"}', "A label is one of no, yes."),
    ],
)
def test_impossible_answers_change_nothing(task: Task, as_anna: Client, labels: str, message: str):
    before = everything("argue")
    response = send(as_anna, one(task), "answers", labels=labels)
    assert (response.status_code, response.content.decode()) == (400, message)
    assert everything("argue") == before


def test_one_impossible_answer_refuses_all(task: Task, as_anna: Client):
    before = everything("argue")
    labels = {keys(task)["bones"]: "yes", keys(task)["first"]: "yes"}
    assert answer(as_anna, one(task), labels).status_code == 400
    assert everything("argue") == before
    assert answer(as_anna, one(task), {keys(task)["bones"]: "yes"}, version=1).status_code == 409
    assert everything("argue") == before


# Who may


def test_who_saw_a_models_judgments_is_not_given_it(by_people: Condition, topic: Topic, anna: Person):
    record_exposure(anna, [topic], "argue", "somewhere")
    with pytest.raises(PlanError, match="anna"):
        give(by_people, topic, anna)


def test_what_a_model_made_is_recorded_when_its_questions_are_shown(task: Task, as_anna: Client, anna: Person):
    as_anna.get(f"/argue/{task.pk}/")
    assert not Exposure.objects.exists(), "people made the questions"
    bank = one(task).bank
    Condition.objects.filter(pk=bank.condition_id).update(judge=task.condition.judge, method="QueryNuggets")
    as_anna.get(f"/argue/{task.pk}/")
    assert [(seen.person, seen.kind) for seen in Exposure.objects.all()] == [(anna, "questions")]


def test_nobody_is_given_what_is_not_finished_or_not_for_people(
    by_people: Condition, imported: Condition, campaign: Campaign, anna: Person
):
    t2 = campaign.topics.get(qid="t2")
    with pytest.raises(PlanError, match="The questions of t2 under Questions are not finished"):
        give(by_people, t2, anna)
    with pytest.raises(PlanError, match="Nobody can be given Judged: its labels are not given by people here"):
        give(imported, campaign.topics.get(qid="t1"), anna)


def test_what_is_begun_starts_anew_with_the_next_person(task: Task, as_anna: Client, ben: Person, olga: Person):
    k = keys(task)
    judge(as_anna, one(task), "yes", k["needs"], k["first"], k["a"])
    withdraw_task(task=task, acting_user=olga)
    bens = give(task.condition, task.topic, ben)
    assert (one(bens).asked[-1], stands(one(bens))) == (k["needs"], {"to_do": 9})
    assert counters(bens) == ("open", 2, 3)


def test_what_others_have_not_judged_keeps_a_topic_open(task: Task, as_anna: Client):
    ArgueSheet.objects.filter(pk=one(task).pk).update(task=None)
    response = sign_off(as_anna, task)
    expected = "Reports of this topic that are not among yours lack judgments: tell your organizer."
    assert (response.status_code, response.content.decode()) == (400, expected)


def test_what_is_all_judged_is_nobody_elses_to_do(questions: Condition, topic: Topic, as_anna, anna, ben):
    questions.campaign.runs.exclude(tag="team.one").update(task="control")
    task = give(judged_by_people(questions), topic, anna)
    while left := one(task).open:
        judge(as_anna, one(task), "yes", *left)
    with pytest.raises(PlanError, match="There is no report left to judge on t1 under ARGUE by people"):
        reassign(task=task, person=ben, reason="ill", acting_user=None)
    assert sign_off(as_anna, task).status_code == 200


def test_a_second_person_judges_the_same_and_settles_what_the_first_could_not(
    task: Task, as_anna: Client, ben: Person, olga: Person, as_olga: Client
):
    k, sheet = keys(task), one(task)
    assert send(as_anna, sheet, "cannot", k["b"], reason="garbled").status_code == 200
    assert send(as_anna, sheet, "cannot", k["needs"], reason="unclear").status_code == 200
    finish(as_anna, task)
    second = label_again(of=task.condition, name="second", purpose="second", only_unjudgeable=True, acting_user=olga)
    bens = give(second, task.topic, ben)
    assert [(one.answer.run.tag, one.asked) for one in all_judged(bens)] == [("team.one", [k["b"], k["needs"]])]
    judge(client_of(ben), one(bens), "yes", k["needs"])
    assert one(bens).asked == [k["b"], k["needs"]], "nothing follows from it"
    judge(client_of(ben), one(bens), "yes", k["b"])
    judge(client_of(ben), one(bens), "no", k["needs"])
    assert (one(bens).asked, stands(one(bens))["to_do"]) == ([k["b"], k["needs"]], 0)
    assert sign_off(client_of(ben), bens).status_code == 200
    inbox = as_olga.get("/campaigns/study/asked/").content.decode()
    assert "does d1 attest sentence 2?" in inbox
    assert "Cats purr when content." in inbox, "the document"
    assert "Take yes by ben" in inbox
    assert inbox.count("Counted as yes, it leaves the report incomplete") == 1, "where a citation may be needed"
    base = f"/campaigns/study/argue-questions/{task.condition_id}/"
    assert as_olga.get(base).url == f"/campaigns/study/asked/?condition={task.condition_id}"
    told = {"sheet": sheet.pk, "item": k["b"], "other": one(bens).pk}
    assert as_olga.post(f"{base}adopt/", told).status_code == 302
    told = {"sheet": sheet.pk, "item": k["needs"], "label": "maybe", "reason": "no claim"}
    as_olga.post(f"{base}decide/", told)
    assert ArgueSheet.objects.get(pk=sheet.pk).adopted == {k["b"]: "yes"}
    as_olga.post(f"{base}decide/", told | {"label": "no"})
    assert ArgueSheet.objects.get(pk=sheet.pk).adopted == {k["b"]: "yes", k["needs"]: "no"}
    scores = condition_scores(task.condition)
    at = [run.tag for run in scores.runs].index("team.one")
    assert scores.scores[at, 0].tolist()[:3] == [1.0, 1.0, 1.0]
    partial = condition_scores(second)
    assert partial.states.tolist() == [[INCOMPLETE]], "of a part of a report there is no score"


def test_needing_a_citation_by_decision_leaves_the_report_incomplete(task: Task, as_anna: Client, as_olga: Client):
    k, sheet = keys(task), one(task)
    send(as_anna, sheet, "cannot", k["needs"], reason="unclear")
    finish(as_anna, task)
    told = {"sheet": sheet.pk, "item": k["needs"], "label": "yes", "reason": "a claim"}
    inbox = as_olga.get("/campaigns/study/asked/").content.decode()
    why = "nobody is asked whether a sentence before said this."
    assert f"Counted as yes, it leaves the report incomplete: {why}" in inbox
    as_olga.post(f"/campaigns/study/argue-questions/{task.condition_id}/decide/", told)
    found = condition_scores(task.condition)
    at = [run.tag for run in found.runs].index("team.one")
    assert found.states[at, 0] == INCOMPLETE, "nobody said whether it was said before"


@pytest.mark.parametrize("is_adopted", [False, True])
def test_a_claim_of_absence_by_decision_leaves_the_report_incomplete(
    negatives: Task, ben: Person, as_anna: Client, olga: Person, as_olga: Client, is_adopted: bool
):
    k, sheet, condition = keys(negatives), one(negatives), negatives.condition
    send(as_anna, sheet, "cannot", k["negative"], reason="unclear")
    finish(as_anna, negatives, "no")
    told = {"sheet": sheet.pk, "item": k["negative"], "label": "yes", "reason": "a claim"}
    inbox = as_olga.get("/campaigns/study/asked/").content.decode()
    why = "nobody is asked which answers the sentence states."
    assert f"Counted as yes, it leaves the report incomplete: {why}" in inbox
    if is_adopted:
        second = label_again(of=condition, name="second", purpose="second", only_unjudgeable=True, acting_user=olga)
        bens = give(second, negatives.topic, ben)
        judge(client_of(ben), one(bens), "yes", k["negative"])
        told |= {"other": one(bens).pk}
    as_olga.post(f"/campaigns/study/argue-questions/{condition.pk}/{'adopt' if is_adopted else 'decide'}/", told)
    assert ArgueSheet.objects.get(pk=sheet.pk).adopted == {k["negative"]: "yes"}
    found = condition_scores(condition)
    at = [run.tag for run in found.runs].index("team.one")
    assert found.states[at, 0] == INCOMPLETE, "nobody was asked which answers it states"
    lacking = dict(zip(found.measures.keys, map(math.isnan, found.scores[at, 0].tolist()), strict=True))
    assert [name for name in lacking if not lacking[name]] == ["citation_support", "citation_relevance"]


# What changes meanwhile


def test_questions_that_are_changed_open_the_topic_again(task: Task, as_anna: Client):
    finish(as_anna, task)
    sheet, k = one(task), keys(task)

    def reword(nuggets: list[dict[str, Any]]) -> list[dict[str, Any]]:
        nuggets[0]["gold"][0] = nuggets[0]["gold"][0] | {"text": "The bones"}
        return nuggets

    finish_again(sheet.bank, reword)
    assert counters(task) == ("open", 2, 3)
    assert stands(sheet)["stale"] == {k["bones"]: "yes", k["b bones"]: "yes"}
    [told] = said(as_anna.get(url(sheet)))
    assert told["stale"] == {k["bones"]: "yes", k["b bones"]: "yes"}
    judge(as_anna, sheet, "no", k["bones"])
    assert stands(sheet)["stale"] == {k["b bones"]: "yes"}


def test_what_an_organizer_settled_on_an_older_text_is_asked_again(task: Task, as_anna: Client, as_olga: Client):
    k, sheet = keys(task), one(task)
    for name in ("bones", "pain"):
        send(as_anna, sheet, "cannot", k[name], reason="unclear")
    send(as_anna, sheet, "flag", k["bones"], note="odd")
    finish(as_anna, task)
    told = {"sheet": sheet.pk, "label": "yes", "reason": "it says so"}
    for name in ("bones", "pain"):
        as_olga.post(f"/campaigns/study/argue-questions/{task.condition_id}/decide/", told | {"item": k[name]})
    assert ArgueSheet.objects.get(pk=sheet.pk).adopted == {k["bones"]: "yes", k["pain"]: "yes"}

    def reword(nuggets: list[dict[str, Any]]) -> list[dict[str, Any]]:
        nuggets[0]["text"] = "What does purring cure?"
        return nuggets

    finish_again(sheet.bank, reword)
    after = ArgueSheet.objects.get(pk=sheet.pk)
    assert (after.open, after.adopted, after.cannot) == (
        [k["bones"], k["b bones"]],
        {k["pain"]: "yes"},
        {k["pain"]: "unclear"},
    )
    assert (after.flags, after.unjudgeable, after.to_do, counters(task)) == ({k["bones"]: "odd"}, 1, 2, ("open", 2, 3))
    found = condition_scores(task.condition)
    assert found.states[[run.tag for run in found.runs].index("team.one"), 0] == INCOMPLETE

    def reword_again(nuggets: list[dict[str, Any]]) -> list[dict[str, Any]]:
        nuggets[0]["text"] = "What does purring mend?"
        return nuggets

    finish_again(sheet.bank, reword_again)
    assert ArgueSheet.objects.get(pk=sheet.pk).stale == {k["b bones"]: "yes"}, "what was said last stays beside it"


def test_while_questions_are_changed_nothing_can_be_said(task: Task, as_anna: Client):
    bank = one(task).bank
    bank.state = "open"
    bank.save(update_fields=["state"])
    response = send(as_anna, one(task), "label", keys(task)["a"], label="yes")
    closed = "The questions of this topic are being changed. What you said is kept; once they are finished, you go on."
    assert (response.status_code, response.json()["closed"]) == (409, closed)


def cites(*docids: str) -> dict[str, Any]:
    judged = [judgment for docid in docids for judgment in (relevance(docid, docid == "d1"), attested(docid))]
    return report("team.new", [judged], sentences=[("Purring heals the bones.", list(docids))])


def test_what_a_report_cites_besides_is_asked_too(
    questions: Condition, topic: Topic, import_file: Importer, anna: Person, as_anna: Client
):
    assert import_file(questions.campaign, "argue_judgments", [cites("d1")], **FILE).state == "done"
    task = give(judged_by_people(questions), topic, anna)
    finish(as_anna, task)
    other = FILE | {"condition": "Other"}
    done = import_file(questions.campaign, "argue_judgments", [cites("d1", "d8", "d3")], **other)
    assert done.state == "done", done.report
    new = one(task, "team.new")
    assert (new.unresolved, new.open, counters(task)) == (["s0.dd8.attests"], ["s0.dd3.attests"], ("open", 3, 4))


OWN = {
    "metadata": {"team_id": "T", "run_id": "team.new", "topic_id": "t1"},
    "responses": [{"text": "Purring heals the bones.", "citations": {"d1": 1.0}}],
    "documents": {"d1": {"id": "d1", "text": "Another text.", "title": "Own"}},
}


@pytest.mark.parametrize("is_judged", [False, True])
def test_a_runs_own_texts_come_too_late_once_support_was_judged(
    questions: Condition, topic: Topic, import_file: Importer, anna: Person, as_anna: Client, is_judged: bool
):
    assert import_file(questions.campaign, "argue_judgments", [cites("d1")], **FILE).state == "done"
    task = give(judged_by_people(questions), topic, anna)
    if is_judged:
        judge(as_anna, one(task, "team.new"), "yes", "s0.dd1.attests")
    done = import_file(questions.campaign, "runs", [OWN], document_texts="own")
    assert done.state == ("refused" if is_judged else "done"), done.report
    assert ("Another text." in as_anna.get(url(one(task, "team.new"))).content.decode()) is not is_judged


# The whole way


def test_the_scores_are_those_of_the_same_judgments_from_a_file(
    task: Task, import_file: Importer, campaign: Campaign, as_anna: Client, olga: Person
):
    k, sheet = keys(task), one(task)
    judge(as_anna, sheet, "yes", k["a"], k["b"], k["needs"], k["first"])
    judge(as_anna, sheet, "no", k["c"])
    answer(as_anna, sheet, {k["bones"]: "yes", k["pain"]: "no"})
    answer(as_anna, sheet, {k["b bones"]: "no", k["b pain"]: "yes"})
    answer(as_anna, sheet, {k["c content"]: "no"})
    assert counters(task) == ("open", 3, 3)
    assert sign_off(as_anna, task).status_code == 200
    assert counters(task)[0] == "finished"
    assert Event.objects.get(verb="argue signed off").person == task.person
    assert import_file(campaign, "argue_judgments", [ONE], **FILE).state == "done"
    file = campaign.conditions.get(name="Judged")

    def of_one(condition: Condition) -> list[str]:
        lines = score_lines(
            condition, Policy.ANSWERED, runs=campaign.runs.filter(tag="team.one"), allow_incomplete=True
        )
        return list(lines)

    assert of_one(task.condition) == of_one(file)
    [line] = [line for line in judgment_lines(task.condition) if '"team.one"' in line]
    [same] = judgment_lines(file)
    by_people, by_file = (
        [[(one["judgment_type_id"], one["response"]) for one in segment["judgments"]] for segment in found["judgments"]]
        for found in (json.loads(line), json.loads(same))
    )
    assert [sorted(map(str, one)) for one in by_people] == [sorted(map(str, one)) for one in by_file]
    history_page = client_of(olga).get(f"/campaigns/study/labels/argue/{sheet.pk}/{k['first']}/")
    assert history_page.status_code == 200
    look = client_of(olga).get(f"/argue/{task.pk}/").content.decode()
    for shown in ("team.one", "does d1 attest sentence 1?", "its text is not loaded", "empty: nothing is asked"):
        assert shown in look


def test_a_condition_is_made_on_its_page(questions: Condition, as_olga: Client):
    form = as_olga.get("/campaigns/study/conditions/new/").content.decode()
    assert "Reports judged by people" in form
    fields = {"method": "ManualArgue", "argue_questions": questions.pk, "name": ""}
    assert as_olga.post("/campaigns/study/conditions/new/", fields).status_code == 302
    made = questions.campaign.conditions.get(kind="argue")
    assert (made.name, made.method, made.nuggets) == ("Questions/ARGUE by people", "ManualArgue", questions)
    assert made.manual_setup.purpose == "first"


def test_practice_stands_beside_the_reference(
    questions: Condition, import_file: Importer, topic: Topic, anna: Person, as_anna: Client, olga: Person
):
    gold = FILE | {"condition": "Gold", "by": "people"}
    assert import_file(questions.campaign, "argue_judgments", [ONE], **gold).state == "done"
    mark_practice(campaign=questions.campaign, topics=[topic], acting_user=olga)
    by_people = judged_by_people(questions)
    name_reference(condition=by_people, reference=questions.campaign.conditions.get(name="Gold"), acting_user=olga)
    task = give(by_people, Topic.objects.get(pk=topic.pk), anna)
    assert as_anna.get(f"/practice/{task.pk}/").status_code in (403, 404)
    finish(as_anna, task)
    text = as_anna.get(f"/practice/{task.pk}/").content.decode()
    for shown in ("does d2 attest sentence 2?", "does sentence 3 need a citation?", "Purring heals the bones of cats."):
        assert shown in text
    assert "team.one" not in text


def test_more_reports_take_no_more_queries(
    questions: Condition, campaign: Campaign, topic: Topic, import_file: Importer, anna: Person, as_anna, as_olga
):
    few = give(judged_by_people(questions, "few"), topic, anna)

    def asked() -> list[int]:
        counted = []
        for client in (as_anna, as_olga):
            client.get(f"/argue/{few.pk}/")
            with CaptureQueriesContext(connection) as found:
                assert client.get(f"/argue/{few.pk}/").status_code == 200
            counted.append(len(found))
        return counted

    before = asked()
    for number in range(6):
        line = run_line(f"more.{number}", [("Purring heals bones.", ["d1", "d2"]), ("Cats purr.", [])])
        assert import_file(campaign, "runs", [line], name=f"more.{number}").state == "done"
    give(few.condition, topic, anna)
    assert len(all_judged(few)) == 9
    assert asked() == before
