"""Panels: conditions whose labels follow from those of others."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Mapping
from html import unescape

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from assessor.accounts.models import Person
from assessor.campaigns.actions import ConditionError, mark_panels
from assessor.campaigns.condition_kind import CIRCULAR
from assessor.campaigns.models import Answer, Campaign, Condition, Event, Judge, Run
from assessor.exports.freeze import freeze
from assessor.exports.readiness import missing
from assessor.labels.label_kind import label_kind
from assessor.labels.manual_setups import create_first
from assessor.labels.shown_labels import require_labels_to_show
from assessor.plan.actions import drop_run
from assessor.scores.cache import condition_scores, state_of
from assessor.scores.leaderboards import name_of
from assessor.scores.loading import Scores
from assessor.scores.score_source import scoring_of
from assessor.studies.actions import StudyError, create_panel, draw_study, register_study
from assessor.studies.models import Study
from assessor.studies.panels import panel_table
from assessor.studies.registration import RegistrationError
from metaeval.actions import ComparisonError, create_comparison, create_hybrid, request_calibration, run
from metaeval.calibrations import NotCalibrated, judge_identity, uncalibrated
from metaeval.hybrids import hybrid_result
from metaeval.models import Calibration, CalibrationGate
from metaeval.stats.agreement import cohen_kappa
from metaeval.stats.means import COMPLETE, INCOMPLETE, OUTSIDE, UNANSWERED
from metaeval.stats.panels import Rule, Ties, dawid_skene
from nuggets.models import Nugget
from tests.assignment.grading.conftest import grade_as_model
from tests.assignment.grading.conftest import questions as questions
from tests.assignment.scored import BANKS, LETTER, auto_condition, import_banks, label, say, sheet_on
from tests.conftest import Importer, client_of
from tests.judging import all_judged, asked, leave_out, put, send
from tests.metaeval.conftest import OTHER_ANSWERS
from tests.support.scores_helpers import judge, support_condition

TEXTS = [text for bank in BANKS.values() for text, _ in bank]
# With LABELS and OTHER_LABELS, what most say, and the stricter of what as many say.
THIRD_LABELS = {
    "t1": {"team.one": "nps", "team.two": "nsp", "team.empty": "nnn"},
    "t2": {"team.one": "pn", "team.two": "np"},
}
MOST = {
    "t1": {"team.one": "spn", "team.two": "nss", "team.empty": "nnn"},
    "t2": {"team.one": "sp", "team.two": "nn"},
}


@pytest.fixture
def third(edits: Condition) -> Condition:
    return label(auto_condition(edits, "Third"), THIRD_LABELS)


@pytest.fixture
def members(first: Condition, second: Condition, third: Condition) -> list[Condition]:
    return [first, second, third]


def panel_of(members: list[Condition], rule: Rule = Rule.MAJORITY, **fields: object) -> Condition:
    return create_panel(campaign=members[0].campaign, members=members, rule=rule, acting_user=None, **fields)  # type: ignore[arg-type]


def cells(found: Scores) -> dict[tuple[str, str], tuple[int, list[float]]]:
    """Return state and scores by run and topic."""
    return {
        (run.tag, topic.qid): (int(found.states[row, column]), found.scores[row, column].tolist())
        for row, run in enumerate(found.runs)
        for column, topic in enumerate(found.topics)
    }


def scores_of(condition: Condition) -> dict[tuple[str, str], tuple[int, list[float]]]:
    return cells(condition_scores(Condition.objects.get(pk=condition.pk)))


def same(one: Mapping[object, tuple[int, list[float]]], other: Mapping[object, tuple[int, list[float]]]) -> bool:
    return one.keys() == other.keys() and all(
        one[key][0] == other[key][0] and np.allclose(one[key][1], other[key][1], equal_nan=True) for key in one
    )


def test_a_command_makes_one_and_says_how_its_members_agree(members: list[Condition], capsys):
    call_command("make_panel", "study", *(one.name for one in members), rule="median", ties="people", quorum=2)
    panel = Condition.objects.get(method=Condition.PANEL)
    assert panel.panel == {
        "members": sorted(one.name for one in members),
        "rule": "median",
        "ties": "people",
        "quorum": 2,
    }
    assert capsys.readouterr().out.startswith(f"{panel}: ")
    with pytest.raises(CommandError, match="A panel has 2 to 9 different members"):
        call_command("make_panel", "study", members[0].name)
    assert Condition.objects.filter(method=Condition.PANEL).count() == 1


def test_a_panel_scores_as_a_condition_with_its_labels(edits: Condition, members: list[Condition]):
    panel, by_hand = panel_of(members), label(auto_condition(edits, "By hand"), MOST)
    assert same(scores_of(panel), scores_of(by_hand))
    labels, wanted = (scoring_of(one.kind).load_with_labels(one)[1] for one in (panel, by_hand))
    order, other = (np.lexsort((one.item, one.owner)) for one in (labels, wanted))
    assert [column[order].tolist() for column in labels] == [column[other].tolist() for column in wanted]


def test_a_panel_follows_its_members(members: list[Condition]):
    panel = panel_of(members)
    before, state = scores_of(panel), state_of(panel)
    sheet = sheet_on(members[0], "t1", "team.one")
    for place in range(3):
        say(sheet, place, label="support")
    assert state_of(panel) != state
    after = scores_of(panel)
    # What were s p n, s s n and n p s are s s s, s s n and n p s now.
    assert members[0].nuggets is not None
    by_hand = label(auto_condition(members[0].nuggets, "By hand"), {"t1": {"team.one": "sss"}})
    assert after["team.one", "t1"] == scores_of(by_hand)["team.one", "t1"]
    assert after["team.two", "t1"] == before["team.two", "t1"]


def test_ties_go_to_the_stricter_or_the_more_lenient_label(members: list[Condition]):
    two = members[:2]  # sss and nss of team.two on t1, ns and nn on t2
    stricter, lenient = (panel_of(two, ties=ties, name=ties) for ties in (Ties.STRICTER, Ties.LENIENT))
    by_nuggets = [scoring_of(one.kind).load_with_labels(one)[1] for one in (stricter, lenient)]
    assert sorted(by_nuggets[0].code.tolist()) < sorted(by_nuggets[1].code.tolist())
    assert scores_of(stricter)["team.two", "t2"][1] == [0] * 6 + [7]
    assert scores_of(lenient)["team.two", "t2"] == scores_of(members[0])["team.two", "t2"]


def test_what_fewer_than_a_quorum_labelled_is_incomplete(edits: Condition, first: Condition, second: Condition):
    third = label(auto_condition(edits, "Third"), {"t1": {"team.one": "np?"}})
    whole, of_two = panel_of([third, first, second]), panel_of([third, first, second], quorum=2, name="two")
    found = scores_of(whole)
    assert {key: state for key, (state, _) in found.items() if state == COMPLETE} == {}
    assert found["team.one", "t1"][0] == INCOMPLETE
    assert np.isnan(found["team.one", "t1"][1][:6]).all()
    found = scores_of(of_two)
    assert found["team.one", "t1"][0] == found["team.two", "t2"][0] == COMPLETE
    # Of "np?", "spn" and "ssn": the first is a tie of two for support, and the last one that of two members.
    by_hand = label(auto_condition(edits, "By hand"), {"t1": {"team.one": "spn"}})
    assert found["team.one", "t1"] == scores_of(by_hand)["team.one", "t1"]


def test_a_mean_is_of_the_members_scores(members: list[Condition]):
    panel = panel_of(members, Rule.MEAN)
    found, of_each = scores_of(panel), [scores_of(one) for one in members]
    for key, (state, scores) in found.items():
        assert scores == pytest.approx(np.mean([one[key][1] for one in of_each], axis=0), nan_ok=True)
        assert {state} == {one[key][0] for one in of_each}
    assert not len(scoring_of(panel.kind).load_with_labels(panel)[1].code)


def test_support_has_panels_too(cited: Campaign, first_support: Condition, second_support: Condition):
    third = judge(support_condition(cited, "Third support"), OTHER_ANSWERS)
    panel = panel_of([first_support, second_support, third], quorum=2)
    found, other, first = scores_of(panel), scores_of(second_support), scores_of(first_support)
    labels = scoring_of(panel.kind).load_with_labels(panel)[1]
    wanted = scoring_of(panel.kind).load_with_labels(second_support)[1]  # two of three say it
    order, in_order = (np.lexsort((one.item, one.owner)) for one in (labels, wanted))
    assert [column[order].tolist() for column in labels] == [column[in_order].tolist() for column in wanted]
    for key in other:
        assert (found[key] == other[key]) or np.isnan(other[key][1]).all()
    alone = set(first) - set(other)
    assert alone
    assert all(
        found[key][0] != COMPLETE for key in alone if first[key][1] and first[key][0] == COMPLETE and sum(first[key][1])
    )
    mean = panel_of([first_support, second_support], Rule.MEAN)
    for key, (state, scores) in scores_of(mean).items():
        if key in other and state == COMPLETE:
            assert scores == pytest.approx(np.mean([first[key][1], other[key][1]], axis=0), nan_ok=True)


def test_what_is_no_panel_is_refused(
    edits: Condition, members: list[Condition], answered: Campaign, import_file: Importer
):
    first, second, third = members
    panel = panel_of(members)
    elsewhere = auto_condition(import_banks(answered, import_file, name="Other nuggets"), "Elsewhere")
    people = Condition.objects.create(
        campaign=first.campaign,
        name="People",
        kind="assignment",
        method="ManualAssign",
        nuggets=edits,
        protocol=first.protocol,
    )
    for some, why in (
        ([first], "2 to 9 different members"),
        ([first, first], "2 to 9 different members"),
        ([first, panel], "is a panel itself"),
        ([first, people], "not a model's"),
        ([first, elsewhere], "do not label the same items"),
    ):
        with pytest.raises(ConditionError, match=why):
            panel_of(some)
    with pytest.raises(ConditionError, match="A quorum of these is 2 to 3"):
        panel_of(members, quorum=1)
    with pytest.raises(ConditionError, match="3 members at least"):
        panel_of(members[:2], Rule.DAWID_SKENE)
    with pytest.raises(ConditionError, match="10 topics at least, and there are 2"):
        panel_of(members, Rule.DAWID_SKENE)
    with pytest.raises(ConditionError, match="is that condition already"):
        panel_of(members, name="Again")
    assert panel_of([third, second, first], name="Other order").identity != panel.identity


# Pages and files

SCORE_PAGES = ("figures", "significance", "judges", "next-edition")
PAGES_OF_LABELS = ("nuggets", "reusability")


@pytest.fixture
def client(olga: Person) -> Client:
    return client_of(olga)


def page(client: Client, panel: Condition) -> str:
    response = client.get(f"{_base(panel)}/panels/{panel.pk}/")
    assert response.status_code == 200
    return " ".join(unescape(response.content.decode()).split())


def _base(panel: Condition) -> str:
    return f"/campaigns/{panel.campaign.slug}"


def read(response) -> str:
    return b"".join(response.streaming_content).decode()


def rows(client: Client, panel: Condition) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(read(client.get(f"{_base(panel)}/panels/{panel.pk}/files/csv")))))


def test_an_organizer_makes_a_panel(client: Client, members: list[Condition]):
    base = f"{_base(members[0])}/panels/"
    assert "Nothing to make a panel of" not in client.get(base).content.decode()
    form = {"members": [one.pk for one in members], "rule": "majority", "ties": "lenient", "quorum": "2"}
    response = client.post(base, form)
    panel = Condition.objects.get(method="Panel")
    assert response.url == f"{base}{panel.pk}/"  # type: ignore[attr-defined]
    assert panel.identity.endswith(
        "; method=Panel; members=First + Second + Third; rule=majority; ties=lenient; quorum=2; protocol=trec-2024 v1"
    )
    assert (panel.is_a_models, panel.is_peoples, panel.judge) == (True, False, None)
    listed = client.get(base).content.decode()
    assert panel.name in listed
    assert "First, Second, Third" in listed
    assert "is that condition already" in unescape(client.post(base, form).content.decode())
    # SQLite takes no such number.
    refused = client.post(base, form | {"members": [10**29, members[0].pk]})
    assert f"“{10**29}” is not a valid value." in unescape(refused.content.decode())
    assert Event.objects.filter(verb="condition created", campaign=panel.campaign).last()
    assert client.get(f"{base}{members[0].pk}/").status_code == 404


def test_a_page_tells_what_a_panel_makes_of_labels(client: Client, members: list[Condition]):
    panel = panel_of(members)
    text = page(client, panel)
    assert "On 2 topics, all 3 members labelled 13 nuggets, which the panel labels by the rule: majority." in text
    assert ">family not known</span> Nobody said of which family the model is: First, Second, Third." in text
    assert "For people" not in text
    number = r'<td class="num">(\d+) .*?'
    given = re.findall(rf"<bdi>([^<]*)</bdi></th>{number * 3}", text)
    assert given == [
        ("First", "5", "2", "6"),
        ("Second", "7", "1", "5"),
        ("Third", "7", "4", "2"),
        (panel.name, "7", "2", "4"),
    ]
    found = [[row[name] for name in ("First", "Second", "Third", "label", "by")] for row in rows(client, panel)]
    assert len(found) == 13
    assert ["support", "not_support", "partial_support", "not_support", "members"] in found
    summary = json.loads(read(client.get(f"{_base(panel)}/panels/{panel.pk}/files/json")))
    assert summary["given"][panel.name] == {"not_support": 7, "partial_support": 2, "support": 4, "missing": 0}
    assert (summary["items"], summary["left_to_people"], summary["rule"]) == (13, 0, "majority")


def test_panels_of_one_family_say_so(client: Client, members: list[Condition]):
    panel = panel_of(members)
    assert "one family" not in page(client, panel)
    for one in members:
        assert one.judge is not None
        one.judge.parameters = {"family": "openai"}
        one.judge.save()
    assert ">panel of one family</span> All members are models of OpenAI" in page(client, panel)
    assert "(panel of one family)" in name_of(Condition.objects.get(pk=panel.pk))
    scores = client.get(f"{_base(panel)}/scores/?condition={panel.pk}").content.decode()
    assert '<span class="chip warn">panel of one family</span>' in scores
    judge = members[0].judge
    assert judge is not None
    judge.parameters = {"family": "meta"}
    judge.save()
    assert "one family" not in page(client, panel)


def test_a_rehearsal_of_a_member_is_one_of_the_panel(edits: Condition, members: list[Condition], client: Client):
    panel = panel_of(members)
    assert not panel.is_rehearsed
    assert members[1].judge is not None
    mark_panels(members[1].judge)
    assert Condition.objects.get(pk=panel.pk).is_rehearsed
    rehearsed = label(auto_condition(edits, "Rehearsed", is_rehearsal=True))
    assert panel_of([members[0], rehearsed], name="With a rehearsal").is_rehearsed
    assert "rehearsal" in page(client, Condition.objects.get(pk=panel.pk))


def test_a_panel_is_compared_as_a_model_is(members: list[Condition], client: Client):
    panel = panel_of(members)
    made = run(create_comparison(campaign=panel.campaign, first=members[0], second=panel, acting_user=None))
    assert made.state == "done"
    labels = made.result["labels"]
    by_hand = cohen_kappa(*_codes(members[0], panel), 3)
    assert labels["unweighted"]["value"] == pytest.approx(by_hand.value)
    response = client.get(f"{_base(panel)}/comparisons/{made.comparison_id}/")
    assert "Both sides rest on the labels of First." in response.content.decode()
    topic = panel.campaign.topics.get(qid="t1")
    assert client.get(f"{_base(panel)}/comparisons/{made.comparison_id}/topics/{topic.pk}/").status_code == 200


def _codes(*conditions: Condition) -> list[list[int]]:
    said = [scoring_of(one.kind).load_with_labels(one)[1] for one in conditions]
    return [one.code[np.lexsort((one.item, one.owner))].tolist() for one in said]


def test_judges_say_how_far_they_agree_without_a_panel_of_them(members: list[Condition], client: Client):
    address = f"{_base(members[0])}/scores/{members[0].pk}/judges/"
    before = unescape(client.get(address).content.decode())
    panel = panel_of(members)
    after = unescape(client.get(address).content.decode())
    assert "Panels" in after.split('id="labels"')[1]
    for text in (before, after):
        assert "Each two of 3 judges agree on labels" in text
    alpha = re.search("\N{GREEK SMALL LETTER ALPHA} nominal</dt><dd>([^<]*)", before)
    assert alpha
    assert f"\N{GREEK SMALL LETTER ALPHA} nominal</dt><dd>{alpha[1]}" in after
    assert panel.name in after


def test_every_page_of_scores_has_panels(members: list[Condition], client: Client):
    for rule in (Rule.MAJORITY, Rule.MEAN, Rule.UNANIMOUS):
        panel = panel_of(members, rule)
        base = f"{_base(panel)}/scores/"
        run_id, topic_id = panel.campaign.runs.get(tag="team.one").pk, panel.campaign.topics.get(qid="t1").pk
        for address in (
            f"{base}?condition={panel.pk}",
            *(f"{base}{panel.pk}/{name}/" for name in SCORE_PAGES),
            f"{base}{panel.pk}/topics/{topic_id}/",
            f"{base}{panel.pk}/runs/{run_id}/",
            f"{_base(panel)}/conditions/{panel.pk}/",
            f"{_base(panel)}/conditions/",
            f"{_base(panel)}/",
            f"{_base(panel)}/plan/",
            f"{_base(panel)}/progress/",
            f"{_base(panel)}/exports/",
            f"{_base(panel)}/frozen/",
            reverse("frozen_condition", args=[panel.campaign.slug, panel.pk]),
        ):
            response = client.get(address)
            assert response.status_code == 200, (rule, address)
        for name in PAGES_OF_LABELS:
            expected = 404 if rule == Rule.MEAN else 200
            assert client.get(f"{base}{panel.pk}/{name}/").status_code == expected, (rule, name)
        assert read(client.get(f"{base}{panel.pk}.csv?allow_incomplete=on")).count("team.one") == 1


# What a panel leaves to people


def routed(client: Client, panel: Condition, **fields: str) -> Study:
    response = client.post(f"{_base(panel)}/panels/{panel.pk}/", {"name": "Undecided", "seed": "3", **fields})
    study = Study.objects.get(name=fields.get("name", "Undecided"))
    assert response.url == f"{_base(panel)}/studies/{study.pk}/"  # type: ignore[attr-defined]
    return study


def label_sample(study: Study, client: Client, person: Person, letters: Mapping[str, str], **fields: str) -> Condition:
    """Have the organizer give somebody the sample, who labels it on the screen: by a nugget's text, for all answers."""
    response = client.post(
        f"/campaigns/study/studies/{study.pk}/give/", {"person": person.pk, "condition": "", **fields}
    )
    assert response.status_code == 302
    judge = Condition.objects.filter(sample=study.name).latest("pk")
    assessor = client_of(person)
    for one in all_judged(judge):
        for nugget in asked(one):
            if letter := letters.get(Nugget.objects.get(pk=nugget).text):
                assert send(assessor, one, "label", nugget, label=LETTER[letter], seconds="4").status_code == 200
    return judge


def test_people_label_what_members_differ_on(client: Client, members: list[Condition], anna: Person, ben: Person):
    panel = panel_of(members, Rule.UNANIMOUS)
    text = page(client, panel)
    # All alike are five: of the empty answer, one of team.two on each topic.
    assert "The panel leaves 8 of these (61.5 %) to people, who have labelled 0." in text
    assert ">no random sample</span>" in text
    assert "8 open nuggets are in no sample yet." in text
    study = routed(client, panel)
    assert (study.purpose, study.panel, study.first, study.second) == ("routing", panel, members[0], members[1])
    assert study.drawn.count() == 8
    assert "All open nuggets are in a sample." in page(client, panel)
    assert scores_of(panel)["team.one", "t1"][0] == INCOMPLETE

    judge = label_sample(study, client, anna, dict.fromkeys(TEXTS, "s"))
    found = rows(client, panel)
    assert Counter(row["by"] for row in found) == {"members": 5, "people": 8}
    assert {row["label"] for row in found if row["by"] == "people"} == {"support"}
    assert "who have labelled 8." in page(client, panel)
    assert panel.nuggets is not None
    by_hand = label(auto_condition(panel.nuggets, "By hand"), {"t1": {"team.one": "sss", "team.two": "sss"}})
    after = scores_of(panel)
    assert after["team.one", "t1"] == scores_of(by_hand)["team.one", "t1"]
    assert {state for state, _ in after.values()} == {COMPLETE, UNANSWERED}

    # Somebody else says something else of one nugget: of two who differ, neither decides.
    label_sample(study, client, ben, {"kittens purr": "n"}, name="Second judge")
    found = rows(client, panel)
    assert Counter(row["by"] for row in found) == {"members": 5, "people": 6, "left to people": 2}
    assert "of 8; people tie on 2</dd>" in page(client, panel)
    assert judge.is_blind()


def test_a_screen_of_what_is_open_shows_no_models_label(client: Client, members: list[Condition], anna: Person):
    study = routed(client, panel_of(members, Rule.UNANIMOUS))
    judge = label_sample(study, client, anna, {})
    for task in judge.tasks.all():
        response = client_of(anna).get(f"/assign/{task.pk}/", follow=True)
        assert response.status_code == 200
        text = response.content.decode()
        hidden = ("First", "Second", "Third", "Panel", study.name)
        assert [word for word in hidden if word in text] == []


def test_what_is_drawn_is_not_drawn_again(client: Client, members: list[Condition], anna: Person):
    panel = panel_of(members, Rule.UNANIMOUS)
    one = routed(client, panel, per_topic="2")
    assert one.drawn.count() == 4
    label_sample(one, client, anna, dict.fromkeys(TEXTS, "s"))
    other = routed(client, panel, name="More")
    assert other.drawn.count() == 4
    both = [set(study.drawn.values_list("answer", "item")) for study in (one, other)]
    assert not both[0] & both[1]
    label_sample(other, client, anna, dict.fromkeys(TEXTS, "s"), name="Again anna")  # no item is the same
    assert Counter(row["by"] for row in rows(client, panel)) == {"members": 5, "people": 8}
    refused = client.post(f"{_base(panel)}/panels/{panel.pk}/", {"name": "Nothing"})
    assert "leaves nothing open that is not drawn already" in unescape(refused.content.decode())


def test_no_other_model_and_no_other_study_is_asked(client: Client, members: list[Condition], edits: Condition):
    panel = panel_of(members, Rule.UNANIMOUS)
    study = routed(client, panel)
    assert "Ask another model" not in client.get(f"{_base(panel)}/studies/{study.pk}/").content.decode()
    people = create_first(
        Condition(campaign=panel.campaign, name="P", kind="assignment", method="ManualAssign", nuggets=edits),
        acting_user=None,
    )
    with pytest.raises(StudyError, match="follow from others'"):
        draw_study(
            campaign=panel.campaign, name="X", purpose="disagreement", first=people, second=panel, acting_user=None
        )


def test_hours_are_told_once_such_work_was_measured(client: Client, members: list[Condition], anna: Person):
    panel = panel_of(members, Rule.UNANIMOUS)
    study = routed(client, panel)
    judge = label_sample(study, client, anna, {"kittens purr": "n"})
    assert "no such work was measured yet" in page(client, panel)
    judge.tasks.update(seconds=1_800)
    # Two labels were given, all on t1: 900 s each, and six are open.
    assert re.search(r"Hours to come</dt><dd>1\.5</dd>", page(client, panel))


def test_dawid_and_skene_show_how_members_err(members: list[Condition], client: Client, monkeypatch):
    monkeypatch.setattr("metaeval.stats.panels.LEAST_TOPICS", 2)
    panel = panel_of(members, Rule.DAWID_SKENE)
    text = page(client, panel)
    assert ">assumes independent errors</span>" in text
    assert "How each member errs" in text
    summary = json.loads(read(client.get(f"{_base(panel)}/panels/{panel.pk}/files/json")))["dawid_skene"]
    for matrix in summary["confusion"].values():
        assert [sum(row.values()) for row in matrix.values()] == pytest.approx([1, 1, 1])
    assert {state for state, _ in scores_of(panel).values()} == {COMPLETE, UNANSWERED}
    monkeypatch.setattr("metaeval.stats.panels.LEAST_TOPICS", 10)
    say(sheet_on(members[0], "t1", "team.one"), 0, label="not_support")
    why = "Dawid and Skene's model takes labels of 10 topics at least, and there are 2."
    assert f">no labels</span> {why}" in page(client, panel)
    assert INCOMPLETE in {state for state, _ in scores_of(panel).values()}


# What is true of members


def test_a_panel_is_calibrated_where_all_its_members_are(members: list[Condition], edits: Condition, client: Client):
    panel, campaign = panel_of(members), members[0].campaign
    CalibrationGate.objects.create(campaign=campaign, least_kappa="0.1", least_labels=1)
    assert uncalibrated(campaign, [panel, *members[:1]]) == {panel.pk, members[0].pk}
    assert uncalibrated(campaign, [panel]) == {panel.pk}
    assert name_of(panel).endswith("(uncalibrated)")
    passed = {"n": 100, "value": 0.9, "low": 0.8, "high": 1.0}
    for one in members:
        assert uncalibrated(campaign, [panel]) == {panel.pk}
        Calibration.objects.create(
            campaign=campaign,
            name=f"of {one}",
            human=label(auto_condition(edits, f"People for {one}")),
            judged=one,
            kind=one.kind,
            identity=judge_identity(one),
            labels=100,
            topics=10,
            kappa=passed,
            result={},
        )
    assert uncalibrated(campaign, [panel]) == set()
    people = _peoples(label(auto_condition(edits, "People")))
    with pytest.raises(NotCalibrated, match="is a panel: its members are calibrated"):
        request_calibration(campaign=campaign, human=people, judged=panel, acting_user=None)


def _peoples(condition: Condition) -> Condition:
    """Have the labels of a condition be people's."""
    Judge.objects.filter(pk=condition.judge_id).update(kind="imported", parameters={"by": "people"})
    return Condition.objects.get(pk=condition.pk)


def test_runs_are_circular_for_a_panel_where_they_are_for_a_member(members: list[Condition], monkeypatch):
    panel = panel_of(members)
    assert not any(run.is_circular for run in condition_scores(panel).runs)
    third = members[2].pk

    def marks(kind: object, condition: Condition) -> dict[str, str]:
        return {"team.two": CIRCULAR} if condition.pk == third else {}

    monkeypatch.setattr("nuggets.reports.condition_kind.Reports.run_marks", marks)
    found = scoring_of(panel.kind).load(panel)
    assert [run.tag for run in found.runs if run.is_circular] == ["team.two"]


def test_a_study_of_a_panel_is_registered_before_its_members_labels(members: list[Condition]):
    panel = panel_of(members)
    words = {name: ["some"] for name in ("hypotheses", "measures")}
    fields = {"title": "T", "sample": "all", "stopping_rule": "none", "conditions": [panel.name], **words}
    with pytest.raises(RegistrationError, match="has labels already"):
        register_study(campaign=panel.campaign, fields=fields, acting_user=None)


def test_a_panel_is_the_model_of_hybrid_scores_and_no_people(members: list[Condition], edits: Condition):
    panel, campaign = panel_of(members), members[0].campaign
    people = _peoples(label(auto_condition(edits, "People")))
    made = create_hybrid(campaign=campaign, human=people, model=panel, acting_user=None)
    alone = create_hybrid(campaign=campaign, human=people, model=members[0], acting_user=None)
    assert hybrid_result(made).model.tolist() != hybrid_result(alone).model.tolist()
    with pytest.raises(ComparisonError, match="no condition of people"):
        create_hybrid(campaign=campaign, human=panel, model=members[0], acting_user=None)
    beside = Condition(campaign=campaign, name="B", kind=panel.kind, nuggets=edits, shown=members[1])
    with pytest.raises(ComparisonError, match="anchored to the model"):
        create_hybrid(campaign=campaign, human=beside, model=panel, acting_user=None)


def test_a_frozen_panel_has_scores_and_members_labels(members: list[Condition]):
    panel = panel_of(members)
    frozen = freeze(condition=panel, acting_user=None)
    names = {name.split(".")[0] for name in frozen.files.values_list("name", flat=True)}
    assert names >= {"scores", "panel"}
    assert "assignments" not in names
    open_ones = panel_of(members, Rule.UNANIMOUS)
    assert any("incomplete" in text for text in missing(open_ones))
    assert missing(panel) == []


def test_labels_of_a_panel_are_shown_to_nobody_beside_their_choices(members: list[Condition], edits: Condition):
    panel = panel_of(members)
    kind = label_kind("support")
    with pytest.raises(ConditionError, match="follow from several"):
        require_labels_to_show(_AnyKind(kind, panel.kind), panel.campaign, panel)  # type: ignore[arg-type]


class _AnyKind:
    """A kind with post-editing, by another name."""

    def __init__(self, kind: object, name: str) -> None:
        self.name, self.post_edited_method = name, getattr(kind, "post_edited_method")  # noqa: B009


def test_support_of_a_panel_is_compared_topic_by_topic(
    first_support: Condition, second_support: Condition, client: Client
):
    panel = panel_of([first_support, second_support], quorum=2)
    made = run(create_comparison(campaign=panel.campaign, first=first_support, second=panel, acting_user=None))
    assert made.state == "done"
    topic = panel.campaign.topics.get(qid="t1")
    base = f"{_base(panel)}/comparisons/{made.comparison_id}"
    assert client.get(f"{base}/topics/{topic.pk}/").status_code in (200, 302)
    assert client.get(f"{_base(panel)}/pairs/").status_code == 200
    assert Counter(row["by"] for row in rows(client, panel))["members"] > 0


def test_grades_of_files_have_panels_too(questions: Condition, import_file: Importer):
    """Scores that depend on the runs that are scored are those of the panel's own labels."""
    given = [
        {"team.one": ("5", "0", "3"), "team.two": ("1", "2", "0")},
        {"team.one": ("4", "0", "1"), "team.two": ("5", "2", "4")},
        {"team.one": ("0", "2", "3"), "team.two": ("5", "0", "0")},
    ]
    members = [grade_as_model(questions, import_file, grades, f"Model {at}") for at, grades in enumerate(given)]
    panel = panel_of(members, Rule.MEDIAN)
    middle = {"team.one": ("4", "0", "3"), "team.two": ("5", "2", "0")}
    assert same(scores_of(panel), scores_of(grade_as_model(questions, import_file, middle, "By hand")))


def test_an_answer_counts_by_the_member_whose_sheet_is_of_the_present_list(members: list[Condition]):
    panel = panel_of(members, quorum=2)
    put(all_judged(members[0], "team.one", "t1"), edition=0)
    found = scores_of(panel)
    assert found["team.one", "t1"][0] == COMPLETE
    # Of s s n and n p s, the stricter ones.
    assert members[0].nuggets is not None
    by_hand = label(auto_condition(members[0].nuggets, "By hand"), {"t1": {"team.one": "npn"}})
    assert found["team.one", "t1"] == scores_of(by_hand)["team.one", "t1"]


def test_a_text_that_came_with_labels_is_one_text_for_all_members(
    cited: Campaign, first_support: Condition, second_support: Condition
):
    Answer.objects.filter(run__tag="team.one", topic__qid="t1").update(apart=True)
    panel = panel_of([first_support, second_support], ties=Ties.LENIENT)
    assert scores_of(first_support)["team.one", "t1"][0] == COMPLETE
    assert not np.isnan(scores_of(panel)["team.one", "t1"][1]).all()


def test_errors_are_fitted_to_systems_answers_that_no_rule_labels(members: list[Condition], monkeypatch):
    monkeypatch.setattr("metaeval.stats.panels.LEAST_TOPICS", 2)
    Run.objects.filter(tag="team.two").update(task="control")
    for one in members:
        put(all_judged(one, "team.empty"), by_rule=True)
    table = panel_table(panel_of(members, Rule.DAWID_SKENE))
    tags = dict(Run.objects.values_list("pk", "tag"))
    is_one = np.array([tags[run] == "team.one" for run in table.labels.run.tolist()])
    alone = dawid_skene(table.given[:, is_one], table.labels.topic[is_one], 3)
    assert table.fitted is not None
    assert table.fitted.confusion == pytest.approx(alone.confusion)
    assert (table.labels.code != -1).all()  # and all have labels


def test_what_is_left_out_or_dropped_under_a_member_is_so_for_the_panel(members: list[Condition]):
    whole, of_two = panel_of(members), panel_of(members, quorum=2, name="two")
    nugget = Nugget.objects.get(text="kittens purr")
    leave_out(members[1], nugget.pk, "unclear")
    assert [topic.nuggets for topic in condition_scores(whole).topics] == [2, 2]
    run = whole.campaign.runs.get(tag="team.two")
    drop_run(condition=members[2], run=run, is_out=True, reason="withdrawn", acting_user=None)
    assert scores_of(whole)["team.two", "t1"][0] == OUTSIDE
    assert scores_of(of_two)["team.two", "t1"][0] == COMPLETE


def test_a_panel_is_complete_once_it_leaves_nothing_to_people(members: list[Condition], client: Client, anna: Person):
    panel = panel_of(members, Rule.UNANIMOUS)
    by_votes = panel_of(members)
    address = f"{_base(panel)}/conditions/"
    assert "leaves labels to people" in client.get(f"{address}{panel.pk}/").content.decode()
    assert "leaves labels to people" not in client.get(f"{address}{by_votes.pk}/").content.decode()
    study = routed(client, panel)
    label_sample(study, client, anna, dict.fromkeys(TEXTS, "s"))
    assert client.get(f"{_base(panel)}/scores/?condition={panel.pk}").status_code == 200  # where they are computed
    Event.objects.create(campaign=panel.campaign, verb="something")  # so that the Overview is worked out anew
    assert "leaves labels to people" not in client.get(f"{address}{panel.pk}/").content.decode()
