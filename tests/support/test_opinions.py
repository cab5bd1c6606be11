"""Second opinions and repetitions of support judgments: whose they are, what is asked, and what nobody gets to see."""

import pytest
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import ConditionError, change_protocol
from assessor.campaigns.models import Answer, Campaign, Condition, Event
from assessor.labels.manual_setups import label_again
from assessor.labels.models import ManualSetup
from assessor.work.actions import PlanError, withdraw_task
from assessor.work.blindness import record_exposure
from assessor.work.models import Exposure, Task
from metaeval.stats.means import COMPLETE, INCOMPLETE
from nuggets.actions import create_manual_nuggets
from support.actions import resolve
from support.models import SupportSheet
from support.score_arrays import load_scores
from tests.conftest import client_of, make_person
from tests.judging import WRITES, answers, counters, give, said, send, sign_off, stands, url
from tests.support.judging_helpers import from_scratch, load_runs, post_edited, run_file, sheet_of
from tests.support.lines import FILE
from tests.support.test_changed_answers import LABELS, run
from tests.support.test_preparation import label_all


@pytest.fixture
def as_ben(ben: Person) -> Client:
    return client_of(ben)


def opinion(of: Condition, purpose: str = "second", name: str = "", **options) -> Condition:
    return label_again(of=of, name=name or purpose, purpose=purpose, acting_user=None, **options)


def done(client: Client, task: Task, label: str = "full") -> Task:
    """Have a person judge all that is theirs, and sign it off."""
    label_all(client, task, label)
    assert sign_off(client, task).status_code == 200
    return task


def asked(task: Task) -> dict[str, list[str]]:
    """Return what is asked of each run's answer under a task's condition."""
    sheets = SupportSheet.objects.filter(condition=task.condition, answer__topic=task.topic)
    return {sheet.answer.run.tag: sheet.asked for sheet in sheets.select_related("answer__run")}


# Conditions


def test_each_is_a_condition_of_its_own_with_the_next_number(scratch: Condition, answered: Campaign, olga):
    second = label_again(of=scratch, name="second", purpose="second", share=40, only_unjudgeable=True, acting_user=olga)
    again = opinion(scratch, "repeat")
    assert (second.replicate, again.replicate) == (1, 2)
    assert second.identity == (
        "kind=support; method=support from scratch; judge=people; replicate=1; protocol=trec-2024 v1"
    )
    kept = ManualSetup.objects.get(condition=second)
    assert (kept.purpose, kept.of, kept.share, kept.only_unjudgeable) == ("second", scratch, 40, True)
    first = ManualSetup.objects.get(condition=scratch)
    assert (first.purpose, first.of, first.share, first.only_unjudgeable) == ("first", None, 100, False)
    assert Event.objects.get(verb="condition created", subject="second").person == olga
    edited = post_edited(answered)
    beside = opinion(edited, name="beside")
    assert (beside.method, beside.shown, beside.replicate) == ("support post-edited", edited.shown, 1)


def test_it_is_the_same_work_under_the_same_protocol(scratch: Condition, topic, anna, ben, olga):
    give(scratch, topic, anna)
    change_protocol(campaign=scratch.campaign, settings={"citations_per_sentence": 2}, acting_user=olga)
    second = opinion(scratch)
    assert second.protocol == scratch.protocol != scratch.campaign.protocol
    assert asked(give(second, topic, ben))["team.one"] == ["0.0", "1.0"]


def test_what_there_can_be_none_on(scratch: Condition, answered: Campaign):
    shown = post_edited(answered).shown
    grades = answered.qrels_sources.get(name="NIST")
    nuggets = create_manual_nuggets(campaign=answered, name="N", qrels_source=grades, acting_user=None)
    second = opinion(scratch)
    for of, options, told in (
        (shown, {}, "Mia's was not labelled by people here, so nobody can be asked to do it again."),
        (nuggets, {}, "N was not labelled by people here, so nobody can be asked to do it again."),
        (second, {}, "second labels from scratch again itself: have from scratch labelled once more."),
        (scratch, {"share": 0}, "The share of the answers is 1 to 100 percent."),
        (scratch, {"share": 101}, "The share of the answers is 1 to 100 percent."),
    ):
        with pytest.raises(ConditionError) as raised:
            opinion(of, name="x", **options)
        assert str(raised.value) == told


# Whose


def test_a_second_one_is_somebody_elses(task: Task, scratch, topic, anna, ben, as_anna: Client, as_ben: Client):
    done(as_anna, task)
    second = opinion(scratch)
    with pytest.raises(PlanError, match="anna labelled t1 before: a second opinion is somebody else's"):
        give(second, topic, anna)
    bens = give(second, topic, ben)
    assert counters(bens) == ("open", 0, 3)
    assert asked(bens) == {"team.one": ["0.0", "1.0"], "team.two": ["0.0", "1.0"], "team.silent": []}
    assert stands(sheet_of(bens, "team.two")) == {"unresolved": ["1.0"], "to_do": 1}
    done(as_ben, bens, "none")
    assert stands(sheet_of(task, "team.one"))["labels"] == {"0.0": "full", "1.0": "full"}
    assert stands(sheet_of(bens, "team.one"))["labels"] == {"0.0": "none", "1.0": "none"}
    assert give(second, topic, ben).state == "finished"  # given again, it is still theirs


def test_a_third_one_is_not_the_seconds_and_the_first_not_either(task, scratch, topic, ben, olga):
    give(opinion(scratch), topic, ben)
    with pytest.raises(PlanError, match="ben labelled t1 before"):
        give(opinion(scratch, name="third"), topic, ben)
    withdraw_task(task=task, acting_user=olga)
    with pytest.raises(PlanError, match="ben labels t1 beside from scratch: both would be the same person's"):
        give(scratch, topic, ben)


def test_who_was_taken_over_gives_no_second_opinion(task, scratch, topic, anna, ben, olga, as_anna: Client):
    sheet = sheet_of(task, "team.one")
    assert send(as_anna, sheet, "label", "0.0", label="full").status_code == 200
    withdraw_task(task=task, acting_user=olga)
    give(scratch, topic, ben)
    with pytest.raises(PlanError, match="anna labelled t1 before"):
        give(opinion(scratch), topic, anna)


def test_who_was_only_given_the_topic_may_give_one(task, scratch, campaign, topic, anna, ben, olga, import_file):
    """What the house notes on their sheets, such as a text that was loaded, is nothing that they said."""
    import_file(campaign, "segments", [{"docid": "d4", "segment": "Fur is hair."}])
    assert give(scratch, topic, anna).total == 4
    withdraw_task(task=task, acting_user=olga)
    give(scratch, topic, ben)
    assert give(opinion(scratch), topic, anna).total == 4


def test_who_got_only_what_nobody_is_asked_about_may_give_one(task, scratch, topic, ben, olga, as_anna: Client):
    label_all(as_anna, task)
    withdraw_task(task=task, acting_user=olga)
    assert [sheet.asked for sheet in give(scratch, topic, ben).support_sheets.all()] == [[]]
    assert give(opinion(scratch), topic, ben).total == 3


def test_a_repetition_is_the_same_persons_once_they_signed_off(task, scratch, topic, anna, ben, as_anna: Client):
    again = opinion(scratch, "repeat")
    with pytest.raises(PlanError, match="anna has not signed t1 off under from scratch yet"):
        give(again, topic, anna)
    done(as_anna, task)
    with pytest.raises(PlanError, match="ben did not label all of t1 under from scratch: only who did can repeat it"):
        give(again, topic, ben)
    repeated = give(again, topic, anna)
    assert counters(repeated) == ("open", 0, 3)
    assert stands(sheet_of(repeated, "team.one")) == {"to_do": 2}


def test_nobody_repeats_what_two_did_together(task, scratch, topic, anna, ben, olga, as_anna: Client, as_ben: Client):
    assert send(as_anna, sheet_of(task, "team.two"), "label", "0.0", label="full").status_code == 200
    withdraw_task(task=task, acting_user=olga)
    done(as_ben, give(scratch, topic, ben))
    for person in (anna, ben):
        with pytest.raises(PlanError, match="did not label all of t1"):
            give(opinion(scratch, "repeat", name=f"again {person}"), topic, person)


def test_nothing_can_be_done_again_before_it_was_given(scratch, topic, ben):
    with pytest.raises(PlanError, match="Nobody was given t1 under from scratch yet"):
        give(opinion(scratch), topic, ben)


def test_who_has_seen_a_models_labels_repeats_nothing_from_scratch(task, scratch, topic, anna, as_anna: Client):
    done(as_anna, task)
    record_exposure(anna, [topic], "support", "test")
    with pytest.raises(PlanError, match="has seen LLM output of this kind on t1"):
        give(opinion(scratch, "repeat"), topic, anna)


# What is asked


def test_a_share_is_drawn_by_the_seed_whoever_judges_and_does_not_grow(
    answered, topic, anna, ben, olga, import_file, as_anna: Client
):
    for number in range(8):
        import_file(answered, "runs", run_file(f"more.{number}", {"t1": [("More.", ["d1"])]}), name=f"m{number}")
    scratch = from_scratch(answered)
    done(as_anna, give(scratch, topic, anna))
    second = opinion(scratch, share=30)
    ManualSetup.objects.filter(condition=second).update(seed=7)
    bens = give(second, topic, ben)
    drawn = asked(bens)
    assert len(drawn) == 3  # 30 percent of the ten that cite something
    assert all(drawn.values())
    withdraw_task(task=bens, acting_user=olga)
    assert asked(give(second, topic, make_person("carl", "assessor"))) == drawn
    other = opinion(scratch, name="other", share=30)
    ManualSetup.objects.filter(condition=other).update(seed=6)
    assert asked(give(other, topic, make_person("dora", "assessor"))) != drawn
    for number in range(3):
        import_file(answered, "runs", run_file(f"late.{number}", {"t1": [("Late.", ["d1"])]}), name=f"late{number}")
    done(as_anna, give(scratch, topic, anna))
    give(second, topic, Person.objects.get(username="carl"))
    # 30 percent of thirteen. Two of those that came would be drawn now: one is, as those that were drawn stay.
    assert len(asked(bens)) == 4
    assert set(drawn) < set(asked(bens))


def test_of_a_few_answers_a_share_is_one(task, scratch, topic, anna, as_anna: Client):
    done(as_anna, task)
    assert len(asked(give(opinion(scratch, "repeat", share=1), topic, anna))) == 1


def test_runs_that_came_later_are_judged_again_too(
    task, scratch, answered, topic, anna, ben, import_file, as_anna: Client, as_ben: Client
):
    done(as_anna, task)
    again, second = opinion(scratch, "repeat"), opinion(scratch)
    repeated, bens = done(as_anna, give(again, topic, anna)), done(as_ben, give(second, topic, ben))
    import_file(answered, "runs", run_file("team.late", {"t1": [("Late.", ["d3"])]}), name="late")
    assert give(second, topic, ben).total == 3  # the first person has not got it yet
    assert counters(give(scratch, topic, anna)) == ("open", 3, 4)
    with pytest.raises(PlanError, match="anna has not signed t1 off"):
        give(again, topic, anna)
    assert counters(give(second, topic, ben)) == ("open", 3, 4)
    done(as_anna, task)
    assert counters(give(again, topic, anna)) == ("open", 3, 4)
    assert sheet_of(repeated, "team.late").asked == sheet_of(bens, "team.late").asked == ["0.0"]


def test_a_second_person_hands_over(task, scratch, topic, ben, olga, as_ben: Client):
    second = opinion(scratch)
    bens = give(second, topic, ben)
    one, two = sheet_of(bens, "team.one"), sheet_of(bens, "team.two")
    assert send(as_ben, one, "label", "0.0", label="full").status_code == 200
    assert send(as_ben, two, "label", "0.0", label="none").status_code == 200
    withdraw_task(task=bens, acting_user=olga)
    carl = make_person("carl", "assessor")
    carls = give(second, topic, carl)
    assert counters(carls) == ("open", 1, 3)
    assert (stands(one), stands(two)["labels"]) == ({"to_do": 2}, {"0.0": "none"})
    assert SupportSheet.objects.get(pk=one.pk).judge.person == carl
    assert stands(sheet_of(task, "team.one")) == {"to_do": 2}  # Anna's are where they were


def test_only_what_could_not_be_judged_also_what_came_later(task, scratch, topic, ben, as_anna: Client):
    one = sheet_of(task, "team.one")
    assert send(as_anna, one, "cannot", "1.0", reason="garbled").status_code == 200
    second = opinion(scratch, only_unjudgeable=True)
    bens = give(second, topic, ben)
    assert (asked(bens), bens.total) == ({"team.one": ["1.0"]}, 1)
    assert send(as_anna, one, "cannot", "0.0", reason="garbled").status_code == 200
    assert counters(give(second, topic, ben)) == ("open", 0, 2)
    sheet = sheet_of(bens, "team.one")
    assert (sheet.asked, sheet.to_do) == (["0.0", "1.0"], 2)
    assert sheet.revisions.get().verb == "asked more"


def test_what_can_not_be_opened_by_the_first_can_not_by_the_second(answered, topic, anna, ben, import_file, as_ben):
    """A citation without text and one without the model's label: each comes when the topic is given again."""
    edited = post_edited(answered)
    first = give(edited, topic, anna)
    second = opinion(edited)
    bens = give(second, topic, ben)
    assert stands(sheet_of(bens, "team.one")) == {"waiting": ["1.0"], "to_do": 1}
    assert stands(sheet_of(bens, "team.two")) == {"unresolved": ["1.0"], "to_do": 1}
    import_file(answered, "segments", [{"docid": "d4", "segment": "Fur is hair."}])
    resolve(edited.shown)
    for sheet in SupportSheet.objects.filter(condition=edited.shown):
        given = {key: {"label": "none"} for key in sheet.asked if key not in sheet.labels}
        sheet.revise("labelled", given, judge_id=sheet.judge_id)
    assert counters(give(second, topic, ben)) == ("open", 0, 4)
    assert stands(sheet_of(bens, "team.one")) == stands(sheet_of(bens, "team.two")) == {"to_do": 2}
    assert counters(first) == ("open", 0, 2)
    done(as_ben, bens)


def test_a_whole_second_opinion_is_scored_like_the_first(task, scratch, topic, ben, as_anna: Client, as_ben: Client):
    """Answers that cite nothing are 0 under both."""
    done(as_anna, task)
    bens = done(as_ben, give(opinion(scratch), topic, ben), "none")
    first, second = load_scores(scratch), load_scores(bens.condition)
    assert [run.tag for run in first.runs] == [run.tag for run in second.runs]
    assert (first.states == second.states).all()
    at = [run.tag for run in second.runs].index("team.silent")
    assert (second.states[at, 0], second.scores[at, 0, 0]) == (COMPLETE, 0)


def test_where_only_another_citation_than_the_first_is_asked_the_answer_has_no_score(
    answered, topic, anna, ben, olga, import_file, as_anna: Client, as_ben: Client
):
    change_protocol(campaign=answered, settings={"citations_per_sentence": 2}, acting_user=olga)
    assert import_file(answered, "runs", run_file("team.both", {"t1": [("Cats purr.", ["d1", "d2"])]})).state == "done"
    scratch = from_scratch(answered)
    sheet = sheet_of(give(scratch, topic, anna), "team.both")
    assert send(as_anna, sheet, "label", "0.0", label="none").status_code == 200
    assert send(as_anna, sheet, "cannot", "0.1", reason="garbled").status_code == 200
    bens = give(opinion(scratch, only_unjudgeable=True), topic, ben)
    assert asked(bens) == {"team.both": ["0.1"]}
    assert send(as_ben, sheet_of(bens, "team.both"), "label", "0.1", label="full").status_code == 200
    found = load_scores(bens.condition)
    assert found.states[[run.tag for run in found.runs].index("team.both"), 0] == INCOMPLETE


# Blindness


def test_a_repetition_is_done_without_a_look_at_the_first_time(task, scratch, topic, anna, as_anna: Client):
    done(as_anna, task)
    sheet = sheet_of(task, "team.one")
    addresses = [f"/support/{task.pk}/", url(sheet)]
    assert [as_anna.get(address).status_code for address in addresses] == [200, 200]
    again = give(opinion(scratch, "repeat"), topic, anna)
    for state in ("finished", "open"):  # it may be opened again while it is repeated
        Task.objects.filter(pk=task.pk).update(state=state)
        for address in addresses:
            response = as_anna.get(address)
            assert response.status_code == 403, address
            assert "signed the repetition off" in response.content.decode()
            assert said(response) == []
        for verb, fields in WRITES["support"].items():
            assert send(as_anna, sheet, verb, "0.0", **fields).status_code == 403, verb
        assert sign_off(as_anna, task).status_code == 403
    page = as_anna.get(f"/support/{again.pk}/")
    assert len(answers(page)) == 2
    assert all(one["labels"] == {} for one in said(page))
    Task.objects.filter(pk=task.pk).update(state="finished")
    done(as_anna, again)
    assert [as_anna.get(address).status_code for address in addresses] == [200, 200]


def test_nor_with_a_look_at_another_repetition(task, scratch, topic, anna, as_anna: Client):
    done(as_anna, task)
    one = done(as_anna, give(opinion(scratch, "repeat", name="R1"), topic, anna), "none")
    two = give(opinion(scratch, "repeat", name="R2"), topic, anna)

    def statuses(of: Task) -> list[int]:
        sheet = sheet_of(of, "team.one")
        label = send(as_anna, sheet, "label", "0.0", label="none")
        return [*(as_anna.get(page).status_code for page in (f"/support/{of.pk}/", url(sheet))), label.status_code]

    assert [statuses(of) for of in (task, one, two)] == [[403] * 3, [403] * 3, [200] * 3]
    # Of two that are open the one that was given last comes first, and is hidden then.
    Task.objects.filter(pk=one.pk).update(state="open")
    assert [statuses(of) for of in (task, one, two)] == [[403] * 3, [403] * 3, [200] * 3]
    done(as_anna, two)
    assert [statuses(of) for of in (task, one, two)] == [[403] * 3, [200] * 3, [403] * 3]
    done(as_anna, one)
    assert [statuses(of) for of in (task, one, two)] == [[200, 200, 409]] * 3  # signed off


def test_a_withdrawn_repetition_hides_nothing(task, scratch, topic, anna, olga, as_anna: Client):
    done(as_anna, task)
    again = give(opinion(scratch, "repeat"), topic, anna)
    assert as_anna.get(f"/support/{task.pk}/").status_code == 403
    withdraw_task(task=again, acting_user=olga)
    assert as_anna.get(f"/support/{task.pk}/").status_code == 200


def test_nobody_else_is_shut_out_and_from_no_other_topic(
    scratch, campaign, topic, anna, ben, olga, import_file, as_anna: Client, as_ben: Client
):
    glass = done(as_anna, give(scratch, campaign.topics.get(qid="t2"), anna))
    task = done(as_anna, give(scratch, topic, anna))
    give(opinion(scratch, "repeat"), topic, anna)
    for address in (f"/support/{glass.pk}/", url(sheet_of(glass, "team.one"))):
        assert as_anna.get(address).status_code == 200
    # An answer came since, and goes to Ben.
    import_file(campaign, "runs", run_file("team.late", {"t1": [("Late.", ["d3"])]}), name="late")
    withdraw_task(task=give(scratch, topic, anna), acting_user=olga)
    bens = give(scratch, topic, ben)
    for address in (f"/support/{bens.pk}/", url(sheet_of(task, "team.late"))):
        assert as_ben.get(address).status_code == 200


def test_what_the_first_said_changes_no_byte_for_the_second(task, scratch, topic, ben, as_anna: Client, as_ben: Client):
    bens = give(opinion(scratch), topic, ben)
    sheet = sheet_of(bens, "team.one")
    addresses = [f"/support/{bens.pk}/", url(sheet)]

    def seen() -> list[str]:
        return [as_ben.get(address).content.decode().split('name="csrfmiddlewaretoken"')[0] for address in addresses]

    before = seen()
    assert send(as_anna, sheet_of(task, "team.one"), "label", "0.0", label="partial").status_code == 200
    assert send(as_anna, sheet_of(task, "team.one"), "flag", "0.0", note="telltale").status_code == 200
    assert seen() == before
    for own in (f"/support/{task.pk}/", url(sheet_of(task, "team.one"))):
        assert as_ben.get(own).status_code == 404


def test_beside_a_models_labels_the_second_sees_those_and_no_others(answered, topic, anna, ben, as_anna, as_ben):
    edited = post_edited(answered, {"team.one": {"0.0": "partial", "1.0": "none"}, "team.two": {"0.0": "none"}})
    first = done(as_anna, give(edited, topic, anna), "full")
    bens = give(opinion(edited), topic, ben)
    sheet = sheet_of(bens, "team.one")
    assert send(as_ben, sheet, "label", "0.0", label="full").status_code == 400  # not shown yet
    response = send(as_ben, sheet, "show", "0.0")
    assert response.json()["shown"] == "partial"
    assert "full" not in str(said(as_ben.get(url(sheet))))
    assert Exposure.objects.filter(person=ben, topic=topic).count() == 1
    done(as_ben, bens, "none")
    for tag in ("team.one", "team.two"):
        assert sheet_of(bens, tag).shown == sheet_of(first, tag).shown


# Citations that move


def test_an_opinion_follows_what_the_first_sheet_asks(campaign, topic, anna, ben, import_file, as_anna, as_ben):
    """A run puts citations elsewhere and brings others: each sheet keeps what was said on it, and asks the same."""
    import_file(campaign, "support", [LABELS], **FILE)
    scratch = from_scratch(campaign)
    first = give(scratch, topic, anna)
    assert send(as_anna, sheet_of(first, "r1"), "cannot", "0.0", reason="why").status_code == 200
    whole, part = opinion(scratch), opinion(scratch, name="part", only_unjudgeable=True)
    bens, carls = give(whole, topic, ben), give(part, topic, make_person("carl", "assessor"))
    assert (asked(bens), asked(carls)) == ({"r1": ["0.0", "1.0"]}, {"r1": ["0.0"]})
    assert send(as_ben, sheet_of(bens, "r1"), "label", "1.0", label="full").status_code == 200
    import_file(campaign, "runs", [run(["d2", "d1"], ["d5", "d3"])])
    # d2 and d5 stand first now, d1 was judged; d3 was judged by the second alone.
    assert asked(first) == {"r1": ["0.0", "0.1", "1.0"]}
    assert asked(bens) == {"r1": ["0.0", "0.1", "1.0", "1.1"]}
    assert asked(carls) == {"r1": ["0.1"]}
    assert stands(sheet_of(bens, "r1")) == {"labels": {"1.1": "full"}, "to_do": 3}
    assert (counters(bens), counters(carls)) == (("open", 1, 4), ("open", 0, 1))


def test_an_answer_whose_citations_come_later_is_judged_again_as_the_first_is(campaign, topic, anna, ben, import_file):
    silent = {**LABELS, "sentences": [{**one, "citations": []} for one in LABELS["sentences"]]}
    import_file(campaign, "support", [silent], **FILE)
    load_runs(campaign, import_file)
    scratch = from_scratch(campaign)
    first, bens = give(scratch, topic, anna), give(opinion(scratch), topic, ben)
    assert asked(bens)["r1"] == []
    import_file(campaign, "runs", [run(["d1"], ["d3"])], name="r1")
    assert asked(first)["r1"] == asked(bens)["r1"] == ["0.0", "1.0"]
    assert bens.total + 2 == counters(bens)[2]


def test_a_text_that_gave_way_to_the_runs_answer_is_not_judged_again(task, scratch, topic, ben):
    Answer.objects.filter(run__tag="team.two").update(apart=True)
    assert set(asked(give(opinion(scratch), topic, ben))) == {"team.one", "team.silent"}


# The organizer's form


def test_the_form_makes_them(scratch, answered, olga):
    edited = post_edited(answered)
    client, address = client_of(olga), f"/campaigns/{answered.slug}/conditions/new/"
    choices = client.get(address).content.decode().split('id="id_of"')[1].split("</select>")[0]
    for condition, there in ((scratch, True), (edited, True), (edited.shown, False)):
        assert (f'<option value="{condition.pk}">' in choices) is there, condition
    asked_for = {"method": "second", "of": edited.pk, "share": 50, "only_unjudgeable": "on"}
    assert client.post(address, asked_for).status_code == 302
    assert client.post(address, {"method": "repeat", "of": scratch.pk, "share": 20, "name": "again"}).status_code == 302
    assert b"This field is required" in client.post(address, {"method": "second", "share": 20}).content
    made = {
        one.condition.name: (one.purpose, one.of, one.share, one.only_unjudgeable)
        for one in ManualSetup.objects.exclude(of=None)
    }
    assert made == {
        "support post-edited, second opinion": ("second", edited, 50, True),
        "again": ("repeat", scratch, 20, False),
    }
    choices = client.get(address).content.decode().split('id="id_of"')[1].split("</select>")[0]
    assert "again" not in choices
    plan = client.get(f"/campaigns/{answered.slug}/plan/").content.decode()
    assert "again</option>" in plan
