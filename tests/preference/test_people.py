"""People who compare answers, beyond what holds for all labels (tests/labels): pairs, orders, scores, files."""

import csv
import json
import re
from collections import Counter
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition
from assessor.labels.manual_setups import REPEAT, SECOND, label_again
from assessor.llm.models import Job
from assessor.preference.exports import preference_lines
from assessor.preference.label_kind import PREFERENCE
from assessor.preference.models import LabelEvent, PreferencePair
from assessor.preference.verdicts import by_rule, of_answers
from assessor.training.actions import mark_practice, name_reference
from assessor.work.actions import PlanError
from assessor.work.blindness import record_exposure
from assessor.work.models import Task
from assessor.work.task_changes import reassign
from metaeval.actions import create_comparison, run
from nuggets.models import NuggetBank
from tests.conftest import Importer, client_of
from tests.judging import give, queue, said
from tests.llm.conftest import _short_waits, endpoint  # noqa: F401  # fixtures
from tests.llm.grading import make_judge
from tests.preference import people
from tests.preference.conftest import RUNS, TOPICS, comparison, done, text_of
from tests.preference.model import compare

pytestmark = pytest.mark.django_db


@pytest.fixture
def task(runs: Campaign, anna: Person) -> Task:
    """Anna's six pairs of four answers about bees."""
    return give(people.condition(runs), runs.topics.get(qid="bee"), anna)


def tags(pair: PreferencePair) -> tuple[str, str]:
    return pair.first.run.tag, pair.second.run.tag


def prefer_smaller(client: Client, task: Task) -> None:
    """Say of each pair that the run with the smaller number is better, and sign off."""
    for pair in people.pairs_of(task):
        response = people.send(client, pair, "label", label=people.shown(pair, "1"), seconds=5)
        assert response.status_code == 200, response.content
    assert people.sign_off(client, task).status_code == 200


# Which pairs, and in which order


def test_people_get_the_pairs_of_a_model(task: Task):
    judged_by_model = compare(task.campaign, make_judge(task.campaign)).condition
    of_model = PreferencePair.objects.filter(condition=judged_by_model, topic=task.topic)
    assert {tags(pair) for pair in people.pairs_of(task)} == {tags(pair) for pair in of_model}
    assert (task.done, task.total, task.state) == (0, 6, "open")


def test_pairs_are_shuffled_and_their_order_is_drawn_for_each_person(runs: Campaign, anna: Person, ben: Person):
    condition = people.condition(runs)
    of_anna = [pair for qid in TOPICS[:3] for pair in people.pairs_of(give(condition, runs.topics.get(qid=qid), anna))]
    stood_first = [pair.second_stood_first for pair in of_anna]
    assert 3 < sum(stood_first) < 15
    in_order = sorted(of_anna[:6], key=tags)
    assert [tags(pair) for pair in of_anna[:6]] != [tags(pair) for pair in in_order]
    assert [pair.position for pair in of_anna[:6]] == list(range(6))
    again = people.with_seed(label_again(of=condition, name="Again", purpose=SECOND, acting_user=None))
    of_ben = people.pairs_of(give(again, runs.topics.get(qid="leaf"), ben))
    assert {tags(pair) for pair in of_ben} == {tags(pair) for pair in of_anna[:6]}
    drawn = {tags(pair): pair.second_stood_first for pair in of_anna[:6]}
    assert [drawn[tags(pair)] for pair in of_ben] != [pair.second_stood_first for pair in of_ben]


def test_the_screen_names_no_run_and_shows_the_order_that_is_stored(task: Task, as_anna: Client):
    page = as_anna.get(f"/compare/{task.pk}/").content.decode()
    for tag in RUNS:
        assert tag not in page
    assert "Why bee?" in page, "what the topic's file asks"
    for pair in people.pairs_of(task):
        body = as_anna.get(f"/compare/{task.pk}/answers/{pair.pk}/").content.decode()
        texts = [text_of(tag, "bee") for tag in tags(pair)]
        places = [body.index(text) for text in texts]
        assert (places[0] > places[1]) == pair.second_stood_first


@pytest.mark.parametrize("said_first", [True, False])
def test_a_verdict_is_stored_as_shown_and_as_of_the_pair(task: Task, as_anna: Client, anna: Person, said_first: bool):
    for pair in people.pairs_of(task):
        label = "1" if said_first else "2"
        assert people.send(as_anna, pair, "label", label=label).status_code == 200
        pair.refresh_from_db()
        value = of_answers(label, second_stood_first=pair.second_stood_first)
        assert (pair.verdict, pair.value, pair.state, pair.reversed_verdict) == (label, value, "given", None)
        assert (pair.judge.person, pair.task, pair.guidelines_version) == (anna, task, 1)
        event = LabelEvent.objects.get(pair=pair)
        assert (event.verdict, event.value, event.verb) == (label, value, "label")
    assert {pair.second_stood_first for pair in people.pairs_of(task)} == {True, False}


def test_a_tie_is_refused_where_the_protocol_allows_none(task: Task, as_anna: Client):
    pair = people.pairs_of(task)[0]
    refused = people.send(as_anna, pair, "label", label="0")
    assert (refused.status_code, refused.content.decode()) == (400, "A label is one of 1, 2.")
    assert 'data-label="0"' not in as_anna.get(f"/compare/{task.pk}/").content.decode()
    assert not LabelEvent.objects.exists()


def test_a_tie_can_be_said_where_it_is_allowed(runs: Campaign, anna: Person, as_anna: Client):
    people.allow_ties(runs)
    task = give(people.condition(runs), runs.topics.get(qid="bee"), anna)
    assert 'data-label="0"' in as_anna.get(f"/compare/{task.pk}/").content.decode()
    pair = people.pairs_of(task)[0]
    assert people.send(as_anna, pair, "label", label="0").status_code == 200
    pair.refresh_from_db()
    assert (pair.value, pair.verdict) == ("0", "0")


def test_what_follows_from_a_rule_is_never_asked(runs: Campaign, anna: Person, as_anna: Client, import_file: Importer):
    people.load_run(runs, import_file, "run5", {"bee": text_of("run1", "bee")})
    people.load_run(runs, import_file, "run6", {"bee": ""})
    condition = people.condition(runs)
    task = give(condition, runs.topics.get(qid="bee"), anna)
    by = PreferencePair.objects.filter(condition=condition, by_rule=True)
    assert {(*tags(pair), pair.value) for pair in by if "run6" not in tags(pair)} == {("run1", "run5", "0")}
    assert {pair.value for pair in by if "run6" in tags(pair)} == {"1"}
    assert set(by.values_list("task", "judge")) == {(None, None)}
    asked = people.pairs_of(task)
    assert all(by_rule(pair.first.text, pair.second.text) is None for pair in asked)
    assert len(asked) == task.total == PreferencePair.objects.filter(condition=condition).count() - by.count()
    assert {row[0] for row in queue(as_anna.get(f"/compare/{task.pk}/"))} == {pair.pk for pair in asked}
    refused = people.send(as_anna, by[0], "label", task=task.pk, label="1")
    assert (refused.status_code, by[0].version) == (404, 0)


def test_a_topic_without_two_answers_is_given_to_nobody(runs: Campaign, anna: Person, import_file: Importer):
    assert import_file(runs, "topics", "late\tA late topic\n", name="late").state == "done"
    people.load_run(runs, import_file, "run9", {"late": "Alone."})
    with pytest.raises(PlanError, match="There are no two answers to compare on late under People"):
        give(people.condition(runs), runs.topics.get(qid="late"), anna)


def test_pairs_come_one_after_another(runs: Campaign, anna: Person, as_anna: Client, import_file: Importer):
    for number in range(5, 20):
        people.load_run(runs, import_file, f"run{number}", {"bee": f"Bees make honey, says {number}."})
    task = give(people.condition(runs), runs.topics.get(qid="bee"), anna)
    page = as_anna.get(f"/compare/{task.pk}/")
    assert (len(queue(page)), len(said(page))) == (task.total, 3)


def test_undo_after_a_settled_label_takes_the_other_persons_away(task: Task, as_anna: Client):
    pair = people.pairs_of(task)[0]
    people.send(as_anna, pair, "cannot", reason="garbled")
    PreferencePair.objects.filter(pk=pair.pk).update(resolved_value="2")
    people.send(as_anna, pair, "cannot", reason="quite garbled")
    pair.refresh_from_db()
    assert (pair.reason, pair.resolved_value) == ("quite garbled", "2")
    assert people.send(as_anna, pair, "label", label="1").status_code == 200
    pair.refresh_from_db()
    assert (pair.resolved_value, pair.reason, pair.verdict) == (None, "", "1")
    assert pair.revisions.latest("version").changes == {"cannot": ["quite garbled", None], "adopted": ["2", None]}


# Whose pairs


def test_what_is_handed_over_keeps_what_is_done(task: Task, as_anna: Client, ben: Person):
    done_one, flagged, *rest = people.pairs_of(task)
    people.send(as_anna, done_one, "label", label="1")
    people.send(as_anna, flagged, "flag", note="odd")
    new = reassign(task=task, person=ben, reason="ill", acting_user=None)
    assert [pair.pk for pair in people.pairs_of(new)] == [flagged.pk, *(pair.pk for pair in rest)]
    done_one.refresh_from_db()
    flagged.refresh_from_db()
    assert (done_one.task, done_one.verdict, flagged.flag, flagged.state) == (task, "1", "", "open")
    assert flagged.revisions.latest("version").verb == "handed over"
    assert (Task.objects.get(pk=new.pk).done, Task.objects.get(pk=new.pk).total) == (1, 6)
    for pair in people.pairs_of(new):
        assert people.send(client_of(ben), pair, "label", label="1").status_code == 200
    assert people.sign_off(client_of(ben), new).status_code == 200


def test_new_runs_bring_new_pairs_and_open_the_topic(task: Task, as_anna: Client, import_file: Importer):
    prefer_smaller(as_anna, task)
    people.load_run(task.campaign, import_file, "run5", {"bee": "Bees dance."})
    before = set(PreferencePair.objects.values_list("pk", "version"))
    again = give(task.condition, task.topic, task.person)
    assert (again.state, again.done, again.total) == ("open", 6, 10)
    assert before < set(PreferencePair.objects.values_list("pk", "version"))
    new = [pair for pair in people.pairs_of(task) if pair.version == 0]
    assert {tags(pair) for pair in new} == {(tag, "run5") for tag in RUNS}


def test_a_run_that_was_dropped_is_asked_of_nobody_and_nothing_is_lost(task: Task, as_anna: Client, olga: Person):
    pairs = people.pairs_of(task)
    people.send(as_anna, pairs[0], "label", label="1")
    drop(olga, task.condition, "run1")
    gone = [pair for pair in pairs if "run1" in tags(pair)]
    page = as_anna.get(f"/compare/{task.pk}/")
    assert {row[0] for row in queue(page)} == {pair.pk for pair in pairs} - {pair.pk for pair in gone}
    assert as_anna.get(f"/compare/{task.pk}/answers/{gone[-1].pk}/").status_code == 404
    # What was on its way is taken.
    assert people.send(as_anna, gone[-1], "label", label="2").status_code == 200
    assert PreferencePair.objects.get(pk=gone[-1].pk).verdict == "2"
    for pair in pairs:
        if pair not in gone and not PreferencePair.objects.get(pk=pair.pk).verdict:
            people.send(as_anna, pair, "label", label="1")
    left = [pair for pair in people.pairs_of(task) if pair not in gone]
    version = sum(pair.version for pair in left)
    task.refresh_from_db()
    assert (task.done, task.total) == (3, 3)
    assert list(PREFERENCE.missing(task.condition)) == []
    assert people.sign_off(as_anna, task, version=version).status_code == 200
    assert scored_runs(task.condition) == set(RUNS) - {"run1"}
    drop(olga, task.condition, "run1", out="0")
    task.refresh_from_db()
    said_of = PreferencePair.objects.filter(task=task, state="given").count()
    assert (task.state, task.done, task.total) == ("open", said_of, 6)
    assert said_of < 6


def drop(organizer: Person, condition: Condition, run: str, out: str = "1") -> str:
    """Drop a run on the page for it, or bring it back; return what is told before."""
    client = client_of(organizer)
    asked = {"condition": condition.pk, "run": run, "reason": "withdrawn", "out": out}
    told = client.post("/campaigns/study/plan/runs/", asked)
    assert told.status_code == 200, told.content
    assert client.post("/campaigns/study/plan/runs/", asked | {"confirmed": "1"}).status_code == 302
    return " ".join(told.content.decode().split())


def test_what_a_dropped_run_touches_is_told_in_pairs(task: Task, as_anna: Client, olga: Person):
    prefer_smaller(as_anna, task)
    assert "3 pairs with 3 labels leave the scores. 1 task changes." in _text(drop(olga, task.condition, "run1"))
    assert "3 pairs with 3 labels come back to them." in _text(drop(olga, task.condition, "run1", out="0"))
    task.refresh_from_db()
    assert (task.state, task.done, task.total) == ("finished", 6, 6)


def _text(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_a_run_that_came_while_it_was_dropped_is_asked_about_once_it_is_back(
    task: Task, as_anna: Client, olga: Person, import_file: Importer
):
    drop(olga, task.condition, "run1")
    people.load_run(task.campaign, import_file, "run5", {"bee": "Bees dance."})
    drop(olga, task.condition, "run5")
    assert not [pair for pair in people.pairs_of(task) if "run5" in tags(pair)]
    drop(olga, task.condition, "run5", out="0")
    assert len([pair for pair in people.pairs_of(task) if "run5" in tags(pair)]) == 3
    task.refresh_from_db()
    assert (task.done, task.total) == (0, 6)


def test_a_run_can_be_dropped_from_a_models_preferences(task: Task, olga: Person):
    condition = compare(task.campaign, make_judge(task.campaign)).condition
    assert scored_runs(condition) == set(RUNS)
    pairs = 3 * len(TOPICS)
    assert f"{pairs} pairs with {pairs} labels leave the scores." in drop(olga, condition, "run1")
    assert scored_runs(condition) == set(RUNS) - {"run1"}


def test_a_share_is_drawn_of_the_pairs_whose_runs_are_not_dropped(task: Task, ben: Person, olga: Person):
    second = people.with_seed(label_again(of=task.condition, name="Second", purpose=SECOND, share=50, acting_user=None))
    again = give(second, task.topic, ben)
    drawn = Counter(tag for pair in people.pairs_of(again) for tag in tags(pair))
    [(most, number)] = drawn.most_common(1)
    assert number > 1, "so that less than half of the others' pairs is left"
    drop(olga, second, most)
    left = [pair for pair in people.pairs_of(again) if most not in tags(pair)]
    again.refresh_from_db()
    assert (len(left), again.total) == (2, 2)


def test_a_topic_is_handed_over_all_of_which_is_compared_and_signed_off(task: Task, as_anna: Client, ben: Person):
    for pair in people.pairs_of(task):
        assert people.send(as_anna, pair, "label", label="1").status_code == 200
    new = reassign(task=task, person=ben, reason="ill", acting_user=None)
    new.refresh_from_db()
    assert (new.state, new.done, new.total) == ("open", 6, 6)
    assert client_of(ben).get(f"/compare/{new.pk}/").status_code == 200
    assert people.sign_off(client_of(ben), new).status_code == 200
    assert Task.objects.get(pk=new.pk).state == "finished"
    assert len(people.pairs_of(task)) == 6, "who compared them stays"


def test_a_second_opinion_is_somebody_elses_and_a_repetition_ones_own(
    task: Task, as_anna: Client, anna: Person, ben: Person
):
    second = label_again(of=task.condition, name="Second", purpose=SECOND, share=50, acting_user=None)
    with pytest.raises(PlanError, match="a second opinion is somebody else's"):
        give(second, task.topic, anna)
    assert len(people.pairs_of(give(second, task.topic, ben))) == 3
    repeated = label_again(of=task.condition, name="Repeat", purpose=REPEAT, acting_user=None)
    with pytest.raises(PlanError, match="has not signed bee off"):
        give(repeated, task.topic, anna)
    prefer_smaller(as_anna, task)
    again = give(repeated, task.topic, anna)
    assert len(people.pairs_of(again)) == 6
    assert as_anna.get(f"/compare/{task.pk}/").status_code == 403, "without a look at what was said before"
    assert as_anna.get(f"/compare/{again.pk}/").status_code == 200


def test_who_saw_a_models_preferences_is_given_none(compared: Condition, anna: Person):
    record_exposure(anna, compared.campaign.topics.filter(qid="bee"), "preference", "export")
    with pytest.raises(PlanError, match="anna has seen LLM output of this kind on bee"):
        give(people.condition(compared.campaign), compared.campaign.topics.get(qid="bee"), anna)


def test_practice_is_held_against_a_reference_as_it_was_shown(
    compared: Condition, anna: Person, olga: Person, as_anna: Client
):
    campaign = compared.campaign
    compared.judge.parameters["by"] = "people"
    compared.judge.save()
    topic = campaign.topics.get(qid="bee")
    mark_practice(campaign=campaign, topics=[topic], acting_user=olga)
    condition = people.condition(campaign)
    name_reference(condition=condition, reference=compared, acting_user=olga)
    topic.refresh_from_db()
    task = give(condition, topic, anna)
    for pair, value in zip(people.pairs_of(task), "111112", strict=True):
        people.send(as_anna, pair, "label", label=people.shown(pair, value))
    assert people.sign_off(as_anna, task).status_code == 200
    page = as_anna.get(f"/practice/{task.pk}/").content.decode()
    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert "items you judged 6 of them in the reference 6 the same label 5 83.3%" in text
    for pair, value in zip(people.pairs_of(task), "111112", strict=True):
        row = f"Pair {pair.position + 1} The pair Answer 1: {pair.as_shown[0].text} Answer 2: {pair.as_shown[1].text}"
        same = "yes" if value == "1" else "no"
        assert f"{row} {people.shown(pair, value)} {people.shown(pair, '1')} {same}" in text
    assert not [tag for tag in RUNS if tag in page]
    with pytest.raises(PlanError, match="practice is done once"):
        give(label_again(of=condition, name="Once more", purpose=REPEAT, acting_user=None), topic, anna)


# What organizers see


def test_flags_reach_the_organizer_and_the_answer_its_person(task: Task, as_anna: Client, olga: Person):
    pair = people.pairs_of(task)[0]
    people.send(as_anna, pair, "cannot", reason="all Greek")
    people.send(as_anna, pair, "flag", note="is that English?")
    as_olga = client_of(olga)
    page = as_olga.get("/campaigns/study/asked/").content.decode()
    assert "all Greek" in page
    assert "is that English?" in page
    assert text_of(tags(pair)[0], "bee") in page
    question = "can't judge: all Greek; is that English?"
    sent = {"task": task.pk, "sheet": pair.pk, "item": pair.item, "question": question, "text": "It is Greek."}
    assert as_olga.post("/campaigns/study/asked/answer/", sent).status_code == 302
    assert "It is Greek." in as_olga.get("/campaigns/study/asked/?state=answered").content.decode()
    page = as_anna.get(f"/compare/{task.pk}/").content.decode()
    assert f"{{&quot;{pair.pk}&quot;: {{&quot;{pair.item}&quot;: [&quot;It is Greek.&quot;]}}}}" in page
    assert "It is Greek." in as_anna.get("/answers/").content.decode()


def settle(organizer: Person, pair: PreferencePair, how: str, **said: object) -> str:
    """Settle a pair as the page's forms do; return the page after it."""
    sent = {"sheet": pair.pk, "item": pair.item, **said}
    address = f"/campaigns/study/preference-questions/{pair.condition_id}/{how}/"
    return client_of(organizer).post(address, sent, follow=True).content.decode()


def could_not_judge(client: Client, task: Task) -> PreferencePair:
    """Sign a topic off of which one pair, shown the other way round, could not be judged."""
    own = people.pairs_of(task)
    one = next(pair for pair in own if pair.second_stood_first)
    for pair in own:
        said = ("cannot", {"reason": "Greek"}) if pair == one else ("label", {"label": people.shown(pair, "1")})
        people.send(client, pair, said[0], **said[1])
    assert people.sign_off(client, task).status_code == 200
    return one


def test_an_organizer_decides_what_could_not_be_judged(task: Task, as_anna: Client, olga: Person, ben: Person):
    pair = could_not_judge(as_anna, task)
    questions = client_of(olga).get(f"/campaigns/study/preference-questions/{task.condition_id}/", follow=True)
    page = questions.content.decode()
    [form] = re.findall(r"<form[^>]*/decide/.*?</form>", page, re.DOTALL)
    buttons = re.findall(r'value="(\d)" aria-label="(Answer \d is better|Neither is better):', form)
    assert buttons == [("2", "Answer 1 is better"), ("1", "Answer 2 is better")], "in terms of the pair"
    with pytest.raises(CommandError, match="2 of 4 answers under People are incomplete"):
        exported(task.condition)
    assert "Say why" in settle(olga, pair, "decide", label="2")
    assert "Say which answer is better." in settle(olga, pair, "decide", label="0", reason="alike")
    assert client_of(ben).post(f"/campaigns/study/preference-questions/{task.condition_id}/decide/").status_code == 404
    assert "Settled: your preference counts." in settle(olga, pair, "decide", label="2", reason="It has more.")
    pair.refresh_from_db()
    assert (pair.value, pair.resolved_value, pair.state, pair.reason) == (None, "2", "unjudgeable", "Greek")
    event = pair.revisions.latest("version")
    assert (event.verb, event.changes, event.reason) == (
        "decided",
        {"adopted": [None, "2"]},
        "2, says olga: It has more.",
    )
    assert "label decided" in set(task.campaign.events.values_list("verb", flat=True))
    assert len(exported(task.condition)) > 4
    [line] = [
        one
        for one in map(json.loads, preference_lines(task.condition))
        if one["_type"] == "comparison" and (one["run_id"], one["run_id2"]) == tags(pair)
    ]
    assert line["better_passage"] == 2
    assert "not missing any more" in settle(olga, pair, "decide", label="1", reason="No, less.")


def test_an_organizer_adopts_what_a_second_person_prefers(task: Task, as_anna: Client, olga: Person, ben: Person):
    pair = could_not_judge(as_anna, task)
    again = give(label_again(of=task.condition, name="Second", purpose=SECOND, acting_user=None), task.topic, ben)
    for one in people.pairs_of(again):
        assert people.send(client_of(ben), one, "label", label=people.shown(one, "2")).status_code == 200
    other = next(one for one in people.pairs_of(again) if tags(one) == tags(pair))
    page = client_of(olga).get("/campaigns/study/asked/").content.decode()
    assert "Take “Answer 1 is better” by" in page, "as it was shown to Anna"
    stranger = next(one for one in people.pairs_of(again) if one != other)
    for no_other in (stranger, people.pairs_of(task)[0]):
        assert "That is no other person" in settle(olga, pair, "adopt", other=no_other.pk)
    assert "Settled: the other person" in settle(olga, pair, "adopt", other=other.pk)
    pair.refresh_from_db()
    assert (pair.resolved_value, pair.counted, pair.judge.person) == ("2", "2", task.person)
    event = pair.revisions.latest("version")
    assert (event.verb, event.judge.person, event.changes) == ("adopted", ben, {"adopted": [None, "2"]})
    assert len(exported(task.condition)) > 4


def test_nothing_is_settled_that_its_person_may_still_change(task: Task, as_anna: Client, olga: Person):
    pair = people.pairs_of(task)[0]
    people.send(as_anna, pair, "cannot", reason="Greek")
    assert "has not finished the topic" in settle(olga, pair, "decide", label="1", reason="It has more.")
    pair.refresh_from_db()
    assert pair.resolved_value is None


def test_an_organizer_reads_what_was_said_with_its_history(task: Task, as_anna: Client, olga: Person):
    pair = people.pairs_of(task)[0]
    people.send(as_anna, pair, "label", label="2", seconds=7)
    page = client_of(olga).get(f"/compare/{task.pk}/").content.decode()
    assert "answer 2" in page
    assert all(tag in page for tag in RUNS)
    way = f"/campaigns/study/labels/preference/{pair.pk}/{pair.item}/"
    assert way in page
    history = client_of(olga).get(way).content.decode()
    assert "shown as answers 1 and 2: 2; 7 active seconds" in history
    assert f"1: {tags(pair)[0]}, or 2: {tags(pair)[1]}; 0: neither" in history
    assert client_of(olga).get(f"/campaigns/study/labels/preference/{pair.pk}/99/").status_code == 404


def test_position_bias_is_told_by_person(task: Task, as_anna: Client, olga: Person):
    for pair, label in zip(people.pairs_of(task), "111112", strict=True):
        people.send(as_anna, pair, "label", label=label)
    page = client_of(olga).get(f"/campaigns/study/scores/?condition={task.condition_id}").content.decode()
    assert "5 of 6 verdicts (83.3 %) are for the answer that was shown first" in " ".join(page.split())
    assert "By person: <bdi>anna</bdi>: 5 of 6 (83.3 %)." in " ".join(page.split())


# The whole way


def test_scores_and_files_equal_those_of_the_same_preferences_from_a_file(
    runs: Campaign, anna: Person, as_anna: Client, import_file: Importer
):
    condition = people.condition(runs)
    for qid in TOPICS:
        prefer_smaller(as_anna, give(condition, runs.topics.get(qid=qid), anna))
    pairs = [(one, other) for one in RUNS for other in RUNS if one < other]
    lines = [comparison(one, other, qid, 1) for qid in TOPICS for one, other in pairs]
    done = import_file(runs, "preferences", lines, condition="From a file", by="people")
    assert done.state == "done", done.report
    of_file = runs.conditions.get(name="From a file")
    scores = [exported(one) for one in (condition, of_file)]
    assert len(scores[0]) > 4
    assert without_names(scores[0]) == without_names(scores[1])
    records = [
        {json.dumps(record, sort_keys=True) for record in map(json.loads, preference_lines(one))}
        for one in (condition, of_file)
    ]
    assert records[0] == records[1]
    compared = run(create_comparison(campaign=runs, first=of_file, second=condition, acting_user=None, draws=20))
    assert compared.comparison


@pytest.mark.parametrize("is_unjudgeable", [False, True])
def test_a_part_that_is_compared_again_makes_no_scores_and_its_labels_agree(
    task: Task, as_anna: Client, ben: Person, olga: Person, is_unjudgeable: bool
):
    for at, pair in enumerate(people.pairs_of(task)):
        said = {"label": people.shown(pair, "1")} if at > 2 or not is_unjudgeable else {"reason": "garbled"}
        people.send(as_anna, pair, "cannot" if "reason" in said else "label", **said)
    assert people.sign_off(as_anna, task).status_code == 200
    which = {"only_unjudgeable": True} if is_unjudgeable else {"share": 50}
    second = people.with_seed(label_again(of=task.condition, name="Second", purpose=SECOND, acting_user=None, **which))
    again = give(second, task.topic, ben)
    assert len(people.pairs_of(again)) == 3
    prefer_smaller(client_of(ben), again)
    with pytest.raises(CommandError, match="answers under Second are incomplete"):
        exported(second)
    records = [json.loads(line) for line in preference_lines(second)]
    assert [record["_type"] for record in records] == ["comparison"] * 3
    out = StringIO()
    call_command("export_strengths", "study", condition="Second", stdout=out)
    assert len(out.getvalue().splitlines()) == 1
    as_olga = client_of(olga)
    assert "Bradley" not in as_olga.get(f"/campaigns/study/scores/?condition={second.pk}").content.decode()
    assert "Only a part of the pairs is compared again, so answers have no scores." in PREFERENCE.missing(second)
    if not is_unjudgeable:
        made = create_comparison(campaign=task.campaign, first=task.condition, second=second, acting_user=None, draws=9)
        assert run(made).result["labels"]["match"]["value"] == 1.0


def scored_runs(condition: Condition) -> set[str]:
    return {row["run_id"] for row in exported(condition)} & set(RUNS)


def exported(condition: Condition) -> list[dict[str, str]]:
    out = StringIO()
    call_command("export_scores", "study", condition=condition.name, stdout=out)
    return list(csv.DictReader(StringIO(out.getvalue())))


def without_names(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    return [{name: value for name, value in row.items() if name != "condition"} for row in rows]


def test_people_and_a_model_are_compared_pair_by_pair(task: Task, as_anna: Client, olga: Person):
    prefer_smaller(as_anna, task)
    of_model = compare(task.campaign, make_judge(task.campaign)).condition
    PreferencePair.objects.filter(condition=of_model, topic=task.topic).update(value="1")
    PreferencePair.objects.filter(condition=of_model, topic=task.topic, first__run__tag="run1").update(value="2")
    made = run(
        create_comparison(campaign=task.campaign, first=task.condition, second=of_model, acting_user=None, draws=20)
    )
    as_olga = client_of(olga)
    page = as_olga.get(f"/campaigns/study/comparisons/{made.comparison.pk}/").content.decode()
    labels = made.result["labels"]
    assert (labels["labels"], labels["matrix"]) == (["1", "0", "2"], [[3, 0, 3], [0, 0, 0], [0, 0, 0]])
    assert (labels["match"]["value"], labels["unweighted"]["value"]) == (0.5, 0.0)
    taus = {measure: told["statistics"] for measure, told in made.result["scores"]["measures"].items()}
    assert {told["tau_run"]["value"] for told in taus.values()} == {0.0}  # 3, 1, -1, -3 and -3, 3, 1, -1
    assert "They give the same label to <b>50 %</b> of 6 items" in page
    assert not re.search("stricter|lenient", page)
    topic = as_olga.get(f"/campaigns/study/comparisons/{made.comparison.pk}/topics/{task.topic_id}/").content.decode()
    for pair in people.pairs_of(task):
        address = f"/campaigns/study/labels/preference/{pair.pk}/{pair.second_id}/"
        assert (address in topic) == ("run1" in tags(pair))
        assert as_olga.get(address).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_a_bank_is_made_of_what_people_prefer(runs: Campaign, anna: Person, as_anna: Client, replay):
    condition = people.condition(runs)
    for qid in TOPICS:
        prefer_smaller(as_anna, give(condition, runs.topics.get(qid=qid), anna))
    server = replay(lambda message: json.dumps([f"What is {len(message)}?"]))
    job: Job = done(make_judge(runs, server.base_url, concurrency=1), "PrefQuestions", preferences=condition)
    assert (job.state, job.units_done, job.condition.preferences) == ("done", 5, condition)
    assert f"preferences={condition}" in job.condition.identity
    assert NuggetBank.objects.filter(condition=job.condition).count() == 5
    assert "The better answer:\nRun 1 tells of" in server.asked[0]
