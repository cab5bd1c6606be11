"""Where the protocol says so, of equal pairs of sentence and passage in a topic one is judged; its label is all's."""

import csv
from uuid import uuid4

import pytest
from django.db import transaction
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import change_protocol
from assessor.campaigns.models import Answer, Campaign, Condition, Topic
from assessor.work.actions import withdraw_task
from assessor.work.models import Exposure, Task
from assessor.work.write_protocol import Stale
from support.access import own_sheet
from support.actions import create_support, give_label, note_equal
from support.judgments_table import judgment_lines
from support.models import LabelEvent, SupportJudgment, SupportSheet
from support.queries import judged, progress, sheets_on
from tests.conftest import client_of
from tests.judging import counters, everything, give, put, queue, said, send, sign_off, stands, url
from tests.llm.conftest import _short_waits, endpoint  # noqa: F401  # fixtures
from tests.llm.grading import make_judge
from tests.support.judging_helpers import (
    changes,
    first_of,
    from_scratch,
    label_as_model,
    models_condition,
    post_edited,
    run_file,
    sheet_of,
)
from tests.support.test_auto import judged as judged_by_model
from tests.support.test_auto import labels, launched, plan
from tests.work.conftest import at_once

SAME = "Cats purr to heal."
# On t1 the same sentence stands by d1 in all three, in the third one twice; by d2 and on t2 it is another pair.
RUNS: dict[str, dict[str, list[tuple[str, list[str]]]]] = {
    "team.one": {"t1": [(SAME, ["d1", "d2"]), ("Only here.", ["d2"])], "t2": [(SAME, ["d1"])]},
    "team.two": {"t1": [("Cats  purr\n to heal. ", ["d1"]), (SAME, ["d2"])]},
    "team.three": {"t1": [(SAME, ["d1"]), ("Nothing is cited.", []), (SAME, ["d1"])]},
}
EQUAL = {"team.one": ["0.0"], "team.two": ["0.0"], "team.three": ["0.0", "2.0"]}
OTHERS = {"team.one": ["1.0"], "team.two": ["1.0"], "team.three": []}
SETTLED = b"This citation is judged with an equal one, in another place."


@pytest.fixture
def answered(campaign: Campaign, import_file, olga: Person) -> Campaign:
    """The campaign with the runs; equal pairs are judged once."""
    for tag, answers in RUNS.items():
        assert import_file(campaign, "runs", run_file(tag, answers), name=tag).state == "done"
    change_protocol(campaign=campaign, settings={"equal_pairs_once": True}, acting_user=olga)
    return campaign


def in_turn(task: Task) -> list[tuple[SupportSheet, str]]:
    """Return the equal citations of a task, that which is asked first."""
    found = [(sheet, key) for tag, keys in EQUAL.items() for key in keys for sheet in [sheet_of(task, tag)]]
    return sorted(found, key=lambda at: (at[0].place, at[1]))


def all_labels(task: Task) -> dict[str, dict[str, str]]:
    return {sheet.answer.run.tag: sheet.labels for sheet in sheets_on(task).select_related("answer__run")}


def each(label: str) -> dict[str, dict[str, str]]:
    """Return the labels by runs' tags once the equal ones alone have one."""
    return {tag: dict.fromkeys(keys, label) for tag, keys in EQUAL.items()}


def versions(task: Task) -> dict[int, int]:
    return dict(sheets_on(task).values_list("pk", "version"))


def test_it_is_off_unless_it_is_switched_on(answered: Campaign, topic: Topic, anna: Person, olga: Person, as_anna):
    change_protocol(campaign=answered, settings={"equal_pairs_once": False}, acting_user=olga)
    task = give(from_scratch(answered), topic, anna)
    assert not SupportJudgment.objects.filter(sheet__in=sheets_on(task), equal_to__isnull=False).exists()
    first, key = in_turn(task)[0]
    assert send(as_anna, first, "label", key, label="full").json() == {"version": 1, "to_do": first.to_do - 1}
    assert (counters(task), LabelEvent.objects.count()) == (("open", 1, 6), 1)


def test_alarms_watch_the_one_that_is_asked(task: Task, as_anna: Client, olga: Person):
    first, key = in_turn(task)[0]
    assert send(as_anna, first, "label", key, label="full").status_code == 200
    assert sum(len(labels) for labels in all_labels(task).values()) == 4
    assert "1 label of 1 answer<" in client_of(olga).get("/campaigns/study/alarms/").content.decode()


def test_one_is_asked_and_the_others_say_so(task: Task, as_anna: Client):
    (first, asked), *others = in_turn(task)
    own = {sheet.pk: [key for one, key in others if one == sheet] for sheet, _ in in_turn(task)}
    for sheet in sheets_on(task).select_related("answer__run"):
        [told] = said(as_anna.get(url(sheet)))
        opened = OTHERS[sheet.answer.run.tag] + ([asked] if sheet == first else [])
        assert (told["open"], told["equal"]) == (sorted(opened), own[sheet.pk])
        text = as_anna.get(url(sheet)).content.decode()
        assert text.count("judged with an equal one") == len(own[sheet.pk])
        assert text.count('class="passage"') == len(opened)
    page = as_anna.get(f"/support/{task.pk}/")
    assert "3 citations judged with an equal one" in page.content.decode()
    # What lacks a label is counted everywhere alike; the last column says for how much of it an equal one is asked.
    assert {row[0]: (row[2], row[5], row[6]) for row in queue(page)} == {
        sheet.pk: (sheet.to_do, len(sheet.asked), len(own[sheet.pk])) for sheet in sheets_on(task)
    }
    assert counters(task) == ("open", 0, 6)


def test_its_label_is_the_label_of_all_each_on_its_own_sheet(task: Task, anna: Person, as_anna: Client):
    (first, asked), *others = in_turn(task)
    answer = send(as_anna, first, "label", asked, label="partial", seconds=12).json()
    assert all_labels(task) == each("partial")
    assert counters(task) == ("open", 4, 6)
    by_sheet: dict[SupportSheet, list[str]] = {}
    for sheet, key in others:
        by_sheet.setdefault(sheet, []).append(key)
    told = {
        sheet.pk: (sorted(keys), 0, 1, SupportSheet.objects.get(pk=sheet.pk).to_do) for sheet, keys in by_sheet.items()
    }
    assert {
        one["sheet"]: (sorted(one["citations"]), one["seen"], one["version"], one["to_do"]) for one in answer["equal"]
    } == told
    assert (answer["version"], answer["to_do"]) == (1, SupportSheet.objects.get(pk=first.pk).to_do)
    for revision in LabelEvent.objects.select_related("judge"):
        is_first = revision.sheet_id == first.pk
        assert revision.verb == ("label" if is_first else "judged with equal")
        assert revision.seconds == (12 if revision.equal_to is None else None), "they are told once"
        assert (revision.version, revision.judge.person, revision.task) == (1, anna, task)
        for key, change in changes(revision).items():
            given = {"label": [None, "partial"]}
            assert change == (given if is_first and key == asked else given | {"equal": [first.pk, asked]})
    assert LabelEvent.objects.values("sheet").distinct().count() == 3
    rows = list(csv.DictReader(judgment_lines(task.condition)))
    assert sorted((row["run"], row["sentence"], row["label"]) for row in rows) == [
        (tag, key[0], "partial") for tag, keys in sorted(EQUAL.items()) for key in keys
    ]
    assert sorted((row["with_equal"], row["seconds"]) for row in rows) == [("no", "12"), *[("yes", "")] * 3]
    found = [row for one in judged(sheets_on(task)) for row in one.said]
    assert sorted((row.seconds or 0, row.state) for row in found) == [
        *[(0, "")] * 2,
        *[(0, "judged with an equal one")] * 3,
        (12, ""),
    ]


def test_two_in_one_answer_are_one_revision_and_the_seconds_are_told_once(task: Task, as_anna: Client):
    three = sheet_of(task, "team.three")
    sheets_on(task).update(place=9)
    SupportJudgment.objects.update(equal_to=None)
    SupportSheet.objects.filter(pk=three.pk).update(place=0)
    note_equal(task.condition, task.topic_id)
    assert said(as_anna.get(url(three)))[0]["open"] == ["0.0"]
    answer = send(as_anna, three, "label", "0.0", label="full", seconds=7).json()
    assert all_labels(task) == each("full")
    assert (answer["version"], answer["to_do"]) == (1, 0)
    assert answer["equal"][0] == {"sheet": three.pk, "citations": ["2.0"], "seen": 0, "version": 1, "to_do": 0}
    given = {"label": [None, "full"]}
    events = LabelEvent.objects.filter(sheet=three)
    assert {event.version for event in events} == {1}
    told = {key: change for event in events for key, change in changes(event).items()}
    assert told == {"0.0": given, "2.0": given | {"equal": [three.pk, "0.0"]}}
    [found] = [one for one in judged(sheets_on(task)) if one.sheet == three]
    assert ([row.seconds for row in found.said], found.seconds) == ([7, None], 7)
    rows = [row for row in csv.DictReader(judgment_lines(task.condition)) if row["run"] == "team.three"]
    told = [(row["sentence"], row["with_equal"], row["seconds"]) for row in rows]
    assert told == [("0", "no", "7"), ("2", "yes", "")]


def test_the_one_that_is_asked_stays_it(task: Task, as_anna: Client):
    (first, asked), *_ = in_turn(task)
    SupportSheet.objects.filter(pk=first.pk).update(place=99)
    note_equal(task.condition, task.topic_id)
    assert first_of(sheet_of(task, "team.two"), "0.0") == [first.pk, asked]
    send(as_anna, first, "label", asked, label="full")
    SupportJudgment.objects.update(equal_to=None)
    for sheet in sheets_on(task).exclude(pk=first.pk):
        put([sheet], labels={})
    note_equal(task.condition, task.topic_id)
    assert first_of(sheet_of(task, "team.two"), "0.0") == [first.pk, asked], "of which something is said"
    assert all_labels(task) == each("full")


def test_changing_it_taking_it_back_and_that_it_cannot_be_judged_hold_for_all(task: Task, as_anna: Client):
    first, asked = in_turn(task)[0]
    send(as_anna, first, "label", asked, label="full")
    send(as_anna, first, "flag", asked, note="odd")
    send(as_anna, first, "cannot", asked, reason="garbled")
    assert all_labels(task) == {tag: {} for tag in EQUAL}
    assert {sheet.answer.run.tag: sheet.cannot for sheet in sheets_on(task)} == each("garbled")
    assert {sheet.pk: sheet.flags for sheet in sheets_on(task) if sheet.flags} == {first.pk: {asked: "odd"}}
    assert counters(task) == ("open", 4, 6)
    put([in_turn(task)[-1][0]], adopted={in_turn(task)[-1][1]: "full"})
    send(as_anna, first, "label", asked, label="none")
    assert all_labels(task) == each("none")
    assert all((sheet.cannot, sheet.adopted) == ({}, {}) for sheet in sheets_on(task))
    send(as_anna, first, "label", asked, label="")
    assert all_labels(task) == {tag: {} for tag in EQUAL}
    assert counters(task) == ("open", 0, 6)


@pytest.mark.parametrize(("verb", "fields"), [("label", {"label": "full"}), ("cannot", {"reason": "x"}), ("flag", {})])
def test_the_others_are_not_asked(task: Task, as_anna: Client, verb: str, fields: dict[str, str]):
    before = everything()
    for sheet, key in in_turn(task)[1:]:
        response = send(as_anna, sheet, verb, key, **fields)
        assert (response.status_code, response.content) == (410, SETTLED)
    assert everything() == before


def test_sent_twice_it_counts_once_and_on_an_old_version_nowhere(task: Task, as_anna: Client):
    first, asked = in_turn(task)[0]
    key = uuid4()
    told = [send(as_anna, first, "label", asked, key=key, version=0, label="full").content for _ in range(2)]
    assert told[0] == told[1]
    assert set(versions(task).values()) == {1}
    before = everything()
    assert send(as_anna, first, "label", asked, version=0, label="none").status_code == 409
    assert everything() == before


def test_a_write_on_another_sheet_goes_on_the_version_that_it_got(task: Task, as_anna: Client):
    (first, asked), *_ = in_turn(task)
    other = next(sheet_of(task, tag) for tag in ("team.one", "team.two") if sheet_of(task, tag) != first)
    key = OTHERS[other.answer.run.tag][0]
    send(as_anna, first, "label", asked, label="full")
    assert send(as_anna, other, "label", key, version=0, label="none").status_code == 409
    assert send(as_anna, other, "label", key, version=1, label="none").status_code == 200


def test_it_is_signed_off_once_each_that_is_asked_is_judged(task: Task, as_anna: Client):
    first, asked = in_turn(task)[0]
    for tag, keys in OTHERS.items():
        for key in keys:
            send(as_anna, sheet_of(task, tag), "label", key, label="none")
    assert b"something to say of 3" in sign_off(as_anna, task).content
    send(as_anna, first, "label", asked, label="full")
    assert sign_off(as_anna, task).status_code == 200
    assert counters(task) == ("finished", 6, 6)


def test_beside_a_models_labels_that_of_the_pair_on_screen_is_shown(answered: Campaign, topic, anna, as_anna: Client):
    model = {
        tag: dict.fromkeys(keys + OTHERS[tag], label)
        for (tag, keys), label in zip(EQUAL.items(), ("full", "partial", "none"), strict=True)
    }
    task = give(post_edited(answered, model), topic, anna)
    (first, asked), *others = in_turn(task)
    before = everything()
    for sheet, key in others:
        assert send(as_anna, sheet, "show", key).status_code == 410
    assert everything() == before
    assert send(as_anna, first, "label", asked, label="full").status_code == 400
    shown = model[first.answer.run.tag][asked]
    assert send(as_anna, first, "show", asked).json()["shown"] == shown
    assert send(as_anna, first, "label", asked, label="partial").status_code == 200
    assert all_labels(task) == each("partial")
    assert {sheet.pk: sheet.shown for sheet in sheets_on(task) if sheet.shown} == {first.pk: {asked: shown}}
    assert Exposure.objects.count() == 1
    rows = csv.DictReader(judgment_lines(task.condition))
    assert sorted((row["with_equal"], row["shown"]) for row in rows) == [("no", shown), *[("yes", "")] * 3]


def test_what_waits_for_the_models_label_is_equal_to_nothing_until_it_is_there(answered, topic, anna, as_anna: Client):
    shown = models_condition(answered)
    label_as_model(shown, {"team.one": {"0.0": "full"}, "team.two": {}, "team.three": {"0.0": "none"}})
    condition = create_support(campaign=answered, name="post-edited", shown=shown, acting_user=None)
    task = give(condition, topic, anna)
    opened = sorted(
        [(sheet_of(task, "team.one"), "0.0"), (sheet_of(task, "team.three"), "0.0")], key=lambda at: at[0].place
    )
    first = [opened[0][0].pk, "0.0"]
    assert [first_of(sheet_of(task, tag), "0.0") for tag in ("team.one", "team.two", "team.three")] == [
        first,
        [],
        first,
    ]
    send(as_anna, opened[0][0], "show", "0.0")
    send(as_anna, opened[0][0], "label", "0.0", label="partial")
    assert all_labels(task) == {"team.one": {"0.0": "partial"}, "team.two": {}, "team.three": {"0.0": "partial"}}
    put(SupportSheet.objects.filter(condition=shown, answer__run__tag="team.two"), labels={"0.0": "full"})
    give(condition, topic, anna)
    assert all_labels(task)["team.two"] == {"0.0": "partial"}


def test_a_run_that_comes_later_has_the_label_once_the_topic_is_given_again(task, topic, anna, as_anna, import_file):
    first, asked = in_turn(task)[0]
    for sheet, key in [(first, asked), *((sheet_of(task, tag), "1.0") for tag in ("team.one", "team.two"))]:
        send(as_anna, sheet, "label", key, label="full")
    assert sign_off(as_anna, task).status_code == 200
    assert import_file(task.campaign, "runs", run_file("team.late", {"t1": [(SAME, ["d1"])]})).state == "done"
    before = versions(task)
    give(task.condition, topic, anna)
    late = sheet_of(task, "team.late")
    assert stands(late) == {"labels": {"0.0": "full"}, "to_do": 0}
    revision = LabelEvent.objects.get(sheet=late)
    assert (revision.verb, revision.judge.person, revision.task) == ("judged with equal", anna, task)
    assert changes(revision) == {"0.0": {"label": [None, "full"], "equal": [first.pk, asked]}}
    assert counters(task) == ("finished", 7, 7)
    assert versions(task) == before | {late.pk: 1}, "of the others nothing was said"
    assert first_of(late, "0.0") == [first.pk, asked]


def test_who_takes_over_judges_anew_and_gets_nothing_of_the_others(task, topic, anna, ben, olga, as_anna: Client):
    first, asked = in_turn(task)[0]
    send(as_anna, first, "label", asked, label="none")
    send(as_anna, sheet_of(task, "team.two"), "label", "1.0", label="full")
    # Only team.one still lacks a label of hers.
    withdraw_task(task=task, acting_user=olga)
    bens = give(task.condition, topic, ben)
    one = sheet_of(bens, "team.one")
    assert (one.task, first_of(one, "0.0"), stands(one)) == (bens, [], {"to_do": 2})
    assert {sheet.task_id for sheet in sheets_on(bens) if sheet != one} == {task.pk}
    assert said(client_of(ben).get(url(one)))[0]["open"] == ["0.0", "1.0"]
    assert send(client_of(ben), one, "label", "0.0", label="full").json() == {"version": one.version + 1, "to_do": 1}
    kept = each("none") | {"team.two": {"0.0": "none", "1.0": "full"}}
    assert all_labels(bens) == kept | {"team.one": {"0.0": "full"}}
    # And back: hers is judged already.
    withdraw_task(task=bens, acting_user=olga)
    give(task.condition, topic, anna)
    assert all_labels(task) == kept
    assert counters(task) == ("open", 5, 6)


def test_citations_that_move_stay_with_their_equals_and_new_ones_have_the_label(
    campaign: Campaign, topic, anna, olga, import_file, as_anna
):
    """The answer of team.filed comes with support judgments first; its run then has d2 before d1, and cites more."""
    change_protocol(campaign=campaign, settings={"equal_pairs_once": True}, acting_user=olga)
    line = {
        "topic_id": "t1",
        "run_id": "team.filed",
        "sentences": [
            {"sentenceID": 0, "text": SAME, "citations": [{"citationID": 0, "reference": "d1", "support": "2"}]},
            {"sentenceID": 1, "text": "Cats sleep.", "citations": []},
        ],
    }
    assert import_file(campaign, "support", [line], condition="F", by="people").state == "done"
    other = {"t1": [("Cats sleep.", ["d2"]), (SAME, ["d1"])]}
    assert import_file(campaign, "runs", run_file("team.other", other)).state == "done"
    task = give(from_scratch(campaign), topic, anna)
    filed, others = sheet_of(task, "team.filed"), sheet_of(task, "team.other")
    asked, key = (filed, "0.0") if filed.place < others.place else (others, "1.0")
    send(as_anna, asked, "label", key, label="partial")
    send(as_anna, others, "label", "0.0", label="none")
    assert all_labels(task) == {"team.filed": {"0.0": "partial"}, "team.other": {"0.0": "none", "1.0": "partial"}}
    run = run_file("team.filed", {"t1": [(SAME, ["d2", "d1"]), ("Cats sleep.", ["d2"])]})
    assert import_file(campaign, "runs", run).state == "done"
    # d1 was judged and stays, now the second; d2 is first and new, and equal to nothing; the last one is known.
    filed.refresh_from_db()
    assert (filed.asked, filed.labels) == (["0.0", "0.1", "1.0"], {"0.1": "partial", "1.0": "none"})
    assert counters(task) == ("open", 4, 5)
    last = LabelEvent.objects.filter(sheet=filed).latest("version")
    assert (last.verb, changes(last)) == (
        "judged with equal",
        {"1.0": {"label": [None, "none"], "equal": [others.pk, "0.0"]}},
    )
    send(as_anna, others, "label", "0.0", label="full")
    if asked == filed:
        send(as_anna, filed, "label", "0.1", label="full")
    else:
        send(as_anna, others, "label", "1.0", label="full")
    both = ("team.filed", {"0.1", "1.0"}), ("team.other", {"0.0", "1.0"})
    assert all_labels(task) == {tag: dict.fromkeys(keys, "full") for tag, keys in both}


@pytest.mark.django_db(transaction=True)
def test_labels_for_the_same_sheets_at_the_same_moment_wait_for_each_other(answered, topic, anna):
    """Each of two sheets asks about a pair that the other one has too, in whichever order they come."""
    task = give(from_scratch(answered), topic, anna)
    one, two = (sheet_of(task, tag) for tag in ("team.one", "team.two"))
    for first, key, other in ((one, "0.0", two), (two, "1.0", one)):
        rows = [sheet.labels_by_item[key].pk for sheet in (first, other)]
        SupportJudgment.objects.filter(pk__in=rows).update(equal_to=rows[0])

    def labelling(sheet: SupportSheet, key: str, version: int, label: str):
        return lambda: send(client_of(anna), sheet, "label", key, version=version, label=label).status_code

    for version, label in enumerate(["full", "none"] * 4):
        told = at_once([labelling(one, "0.0", version, label), labelling(two, "1.0", version, label)])
        assert sorted(map(str, told)) == ["200", "409"]
        assert versions(task)[one.pk] == versions(task)[two.pk] == version + 1


def test_a_write_that_came_before_others_were_noted_as_equal_is_refused(task: Task, anna: Person):
    first, asked = in_turn(task)[0]
    own = own_sheet(anna, task.pk, first.pk)
    SupportJudgment.objects.filter(pk=first.labels_by_item[asked].pk).update(equal_to=None)
    before = everything()
    with pytest.raises(Stale), transaction.atomic():
        give_label(own, citation=asked, label="full", seconds=None, seen=0)
    assert everything() == before


def test_a_write_that_came_before_its_own_was_noted_as_equal_is_refused(task: Task, anna: Person):
    """Or the equal ones would be asked of nobody and never get a label."""
    first, asked = in_turn(task)[0]
    SupportJudgment.objects.update(equal_to=None)
    own = own_sheet(anna, task.pk, first.pk)
    note_equal(task.condition, task.topic_id)
    before = everything()
    with pytest.raises(Stale), transaction.atomic():
        give_label(own, citation=asked, label="full", seconds=None, seen=0)
    assert everything() == before


def test_a_label_goes_to_an_equal_one_that_could_not_be_judged_and_was_settled(task: Task, as_anna: Client):
    (first, asked), *_, (last, key) = in_turn(task)
    send(as_anna, first, "label", asked, label="full")
    put([last], labels={}, cannot={key: "garbled"}, adopted={key: "none"})
    assert send(as_anna, first, "label", asked, label="partial").status_code == 200
    last.refresh_from_db()
    assert (last.labels[key], last.cannot, last.adopted) == ("partial", {}, {})


def test_an_imported_condition_is_as_its_file(answered: Campaign, import_file):
    lines = [
        {
            "topic_id": "t1",
            "run_id": tag,
            "sentences": [
                {"sentenceID": at, "text": text, "citations": [{"citationID": 0, "reference": d, "support": support}]}
                for at, (text, d) in enumerate(sentences)
            ],
        }
        for tag, support, sentences in (
            ("a.one", "2", [(SAME, "d1")]),
            ("a.two", "0", [(SAME, "d1")]),
        )
    ]
    assert import_file(answered, "support", lines, condition="F", by="people").state == "done"
    condition = Condition.objects.get(name="F")
    assert import_file(answered, "runs", run_file("a.one", {"t1": [(SAME, ["d2", "d1"])]})).state == "done"
    assert [sheet.labels for sheet in SupportSheet.objects.filter(condition=condition).order_by("pk")] == [
        {"0.1": "full"},
        {"0.0": "none"},
    ]
    assert not SupportJudgment.objects.exclude(equal_to=None).exists()


# The automatic judge


@pytest.mark.django_db(transaction=True)
def test_a_model_is_asked_once_and_the_label_is_stored_for_all(answered: Campaign, import_file, endpoint):  # noqa: F811
    judge = make_judge(answered, endpoint().base_url)
    expected = plan(judge).expected
    job = judged_by_model(judge)
    # Of seven citations the four equal ones of t1 are one unit; what is asked on t2 has been answered before.
    assert (job.units_total, job.calls, job.answered_from_ledger, expected.calls) == (4, 3, 1, 4)
    assert {key: sorted(of) for key, of in labels(job.condition).items()} == {
        ("team.one", "t1"): ["0.0", "1.0"],
        ("team.one", "t2"): ["0.0"],
        ("team.two", "t1"): ["0.0", "1.0"],
        ("team.three", "t1"): ["0.0", "2.0"],
    }
    sheets = SupportSheet.objects.filter(condition=job.condition, answer__topic__qid="t1")
    with_runs = sheets.select_related("answer__run")
    [given] = {sheet.labels[key] for sheet in with_runs for key in EQUAL[sheet.answer.run.tag]}
    assert progress(SupportSheet.objects.filter(condition=job.condition))[:2] == (7, 7)
    echoed = LabelEvent.objects.filter(sheet__condition=job.condition, verb="judged with equal")
    assert {(one.job_id, one.judge) for one in echoed} == {(job.pk, job.condition.judge)}
    first = sheets.order_by("pk").first()
    assert [change for one in echoed for change in changes(one).values()] == [
        {"label": [None, given], "equal": [first.pk, "0.0"]}
    ] * 3
    # A run that comes later: its equal pair has the label at the next launch, and only the other one is asked.
    more = {"t1": [(SAME, ["d1"]), ("New words.", ["d3"])]}
    assert import_file(answered, "runs", run_file("team.late", more)).state == "done"
    again = plan(judge)
    assert again.expected.calls == 1
    assert launched(again).units_total == 1
    assert labels(job.condition)["team.late", "t1"] == {"0.0": given}


def test_what_gave_way_to_the_runs_own_answer_is_not_the_one_that_is_asked(answered: Campaign, topic: Topic):
    job = launched(plan(make_judge(answered)))
    sheets = list(SupportSheet.objects.filter(condition=job.condition, answer__topic=topic).order_by("pk"))
    assert first_of(sheets[1], "0.0") == [sheets[0].pk, "0.0"]
    Answer.objects.filter(pk=sheets[0].answer_id).update(apart=True)
    SupportJudgment.objects.filter(sheet__condition=job.condition).update(equal_to=None)
    note_equal(job.condition, topic.pk)
    sheets[1].refresh_from_db()
    assert first_of(sheets[1], "0.0") == [sheets[1].pk, "0.0"]
