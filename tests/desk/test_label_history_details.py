"""The end of a label's way: what others said of the same, in time order, and what the label counts in which score."""

import pytest

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition, Topic
from assessor.desk.label_history import label_history_of
from assessor.desk.score_contributions import Row, scores_of
from assessor.labels.manual_setups import label_again
from assessor.studies.actions import code_item, define_code, let_people_judge
from assessor.studies.models import Study
from assessor.work.actions import give_tasks
from nuggets.models import Nugget, NuggetBank
from tests.assignment.conftest import A, B, C, answered, finished, manual, nugget_ids, sheet_of, task  # noqa: F401
from tests.assignment.scored import LABELS, auto_condition, import_banks, label
from tests.conftest import client_of, make_person
from tests.judging import Judged, again, all_judged, asked, change, give, judged, leave_out, send
from tests.studies.conftest import draw, ids_of, nugget_labels
from tests.studies.test_adjudication import N_OTHERS
from tests.support.scores_helpers import import_answers, judge, support_condition

N_PEOPLE = {("team.one", "t1"): {"purring heals": "support", "cats purr": "support", "dogs bark": "not_support"}}


def told(sheet: Judged, item: object) -> list[str]:
    return [f"{step.who}: {step.what}" for step in label_history_of(again(sheet), str(item)).steps]


def places(steps: list[str], starts: list[str]) -> list[int]:
    return [next(at for at, step in enumerate(steps) if step.startswith(start)) for start in starts]


def test_a_second_opinion_stands_in_the_way_where_it_was_given(
    task,  # noqa: F811
    manual: Condition,  # noqa: F811
    nugget_ids,  # noqa: F811
    topic: Topic,
    anna: Person,
    ben: Person,
    olga: Person,
):
    first, nugget = sheet_of(task, "team.one"), nugget_ids[A]
    assert send(client_of(anna), first, "label", nugget, label="support").status_code == 200
    opinion = label_again(of=manual, name="Again", purpose="second", acting_user=olga)
    second = sheet_of(give(opinion, topic, ben), "team.one")
    assert send(client_of(ben), second, "label", nugget, label="not_support").status_code == 200
    assert send(client_of(ben), second, "label", nugget_ids[B], label="support").status_code == 200
    assert send(client_of(anna), first, "label", nugget, label="partial_support").status_code == 200
    theirs = "ben: a second person's, Again: label; label — → not_support; guidelines v1"
    steps = told(first, nugget)
    wanted = ["anna: label; label — → support", theirs, "anna: label; label support → partial_support"]
    assert places(steps, wanted) == sorted(places(steps, wanted)), steps
    assert sum("Again" in step for step in steps) == 1, "of this nugget alone"
    assert any("anna: the first labels, Manual/Manual: label" in step for step in told(second, nugget))
    address = f"/campaigns/study/labels/assignment/{second.pk}/{nugget}/"
    page = client_of(olga).get(f"/campaigns/study/labels/assignment/{first.pk}/{nugget}/").content.decode()
    assert address in page
    for person in (anna, ben, make_person("otto", "organizer")):
        assert client_of(person).get(address).status_code == 404


@pytest.fixture
def decided(campaign: Campaign, import_file, anna: Person) -> tuple[Study, Judged, Judged, dict[str, int]]:
    """Two people's labels, a study of what differs, and what Anna decided of it."""
    from tests.studies.conftest import NUGGETS, RUNS  # its fixtures have the names of others here
    from tests.support.judging_helpers import run_file

    for tag, answers in RUNS.items():
        assert import_file(campaign, "runs", run_file(tag, answers), name=tag).state == "done"
    lines = [
        {"query": "", "qid": qid, "nuggets": [{"text": text, "importance": "vital"} for text in texts]}
        for qid, texts in NUGGETS.items()
    ]
    assert import_file(campaign, "nuggets", lines, condition="Nuggets", by="people").state == "done"
    nuggets = campaign.conditions.get(name="Nuggets")
    one, other = (nugget_labels(nuggets, name, "people", said) for name, said in (("One", N_PEOPLE), ("Two", N_OTHERS)))
    study = draw(one, other, purpose="adjudication", name="Undecided")
    condition = let_people_judge(study=study, name="Third", acting_user=None)
    topics = [campaign.topics.get(qid="t1")]
    [given] = give_tasks(campaign=campaign, topics=topics, condition=condition, person=anna, acting_user=None)
    ids = ids_of(nuggets)
    third = judged(given)
    assert send(client_of(anna), third, "label", ids["dogs bark"], label="support").status_code == 200
    return study, judged(one), third, ids


def test_an_adjudication_stands_in_the_way_of_both_labels_and_they_in_its(decided, olga: Person):
    study, first, third, ids = decided
    define_code(campaign=study.campaign, code="unclear", meaning="why", acting_user=olga)
    drawn = study.drawn.get(item__startswith=f"{Nugget.objects.get(pk=ids['dogs bark']).uid} ")
    code_item(drawn=drawn, codes=["unclear"], note="two <b>readings", seen=0, acting_user=olga)
    both = "system: drawn for Undecided: One says not_support, Two says support"
    wanted = [both, "anna: adjudication of Undecided, Third: label; label — → support", "olga: coded: unclear: two <b>"]
    other = judged(study.second)
    for sheet in (first, other):
        steps = told(sheet, ids["dogs bark"])
        assert places(steps, wanted) == sorted(places(steps, wanted)), steps
    assert both in told(third, ids["dogs bark"])
    assert not [step for step in told(first, ids["cats purr"]) if "Undecided" in step], "on it they agree"
    assert scores_of(third, str(ids["dogs bark"]))[0].state == "labels of a study's sample are in no scores"
    page = client_of(olga).get(f"/campaigns/study/labels/assignment/{first.pk}/{ids['dogs bark']}/").content.decode()
    assert ("two &lt;b&gt;readings" in page, "two <b>" in page) == (True, False)


# What labels count


@pytest.fixture
def scored(answered: Campaign, import_file) -> Condition:  # noqa: F811
    return label(auto_condition(import_banks(answered, import_file), "Scored"), LABELS)


def rows(sheet, item: object) -> dict[str, Row]:
    return {row.measure: row for row in scores_of(sheet, str(item))[0].rows}


def test_values_and_weights_of_an_answers_labels_make_its_scores(scored: Condition):
    assert len(all_judged(scored)) > 3
    compared = 0
    for sheet in all_judged(scored):
        parts = [rows(sheet, nugget) for nugget in asked(sheet)]
        for measure in ("vstrict", "v", "wstrict", "w", "astrict", "a"):
            of_measure = [part[measure] for part in parts]
            if of_measure[0].answer == "—" or not all(one.value for one in of_measure):
                continue
            weights = [float(one.weight) for one in of_measure]
            total = sum(float(one.value) * weight for one, weight in zip(of_measure, weights, strict=True))
            assert f"{total / (sum(weights) or 1):.4f}" == of_measure[0].answer, (sheet, measure)
            compared += 1
        assert {part["length"].value for part in parts} == {""}, "a label has no part in an answer's length"
    assert compared > 12


def test_importance_and_what_is_left_out_tell_what_a_label_weighs(
    task,  # noqa: F811
    nugget_ids,  # noqa: F811
    finished: NuggetBank,  # noqa: F811
    olga: Person,
):
    sheet = sheet_of(task, "team.one")
    change(sheet, {pk: {"label": "partial_support"} for pk in nugget_ids.values()})
    sheet = again(sheet)
    of_vital, of_okay = rows(sheet, nugget_ids[A]), rows(sheet, nugget_ids[C])
    measures = ("vstrict", "v", "wstrict", "w", "astrict", "a")
    assert [of_vital[name][1:3] for name in measures] == [("0", "1"), ("0.5", "1")] * 3
    weights = ("0", "0", "0.5", "0.5", "1", "1")
    assert [of_okay[name][1:3] for name in measures] == list(zip(("0", "0.5") * 3, weights, strict=True))
    assert (of_vital["v"].answer, of_vital["v"].run) == ("0.5000", "0.5000")
    leave_out(sheet.condition, nugget_ids[A], "no", olga)
    assert rows(sheet, nugget_ids[A])["v"][1:3] == ("", "")
    assert rows(sheet, nugget_ids[B])["v"][1:3] == ("0.5", "1")
    [score] = scores_of(sheet, str(nugget_ids[B]))
    for page in (score.topic_page, score.run_page):
        assert client_of(olga).get(page).status_code == 200, page


def test_another_persons_label_counts_where_one_could_not_judge(task, nugget_ids):  # noqa: F811
    sheet, nugget = sheet_of(task, "team.one"), nugget_ids[A]
    change(sheet, {nugget: {"cannot": "garbled"}}, "cannot")
    assert rows(again(sheet), nugget)["v"][1:3] == ("", "")
    change(sheet, {nugget: {"adopted": "support"}}, "adopted")
    assert rows(again(sheet), nugget)["v"][1:3] == ("1", "1")


def test_of_citations_the_first_counts_alone_and_all_by_their_mean(campaign: Campaign, import_file):
    said = {"team.one": {"t1": ["pf", "n", ""]}}
    import_answers(campaign, import_file, said)
    condition = judge(support_condition(campaign, "Judged"), said)
    sheet = judged(condition)
    assert asked(sheet) == ["0.0", "0.1", "1.0"]
    first, second = rows(sheet, "0.0"), rows(sheet, "0.1")
    assert [first[name][1:3] for name in ("weighted_precision", "hard_precision")] == [("0.5", "1"), ("0", "1")]
    assert [second[name][1:3] for name in ("weighted_precision", "hard_precision")] == [("1", "0"), ("1", "0")]
    assert (first["weighted_recall_all"][1:3], second["hard_recall_all"][1:3]) == (("0.5", "0.5"), ("1", "0.5"))
    # Of three sentences two cite: precision is over these.
    assert (first["weighted_precision"].answer, first["weighted_recall"].answer) == ("0.2500", "0.1667")
    assert (first["weighted_precision_all"].answer, first["hard_recall_all"].answer) == ("0.3750", "0.1667")
