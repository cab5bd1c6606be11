"""Drawing: what can be drawn, how much of it, always the same by a seed, and what stays as it was."""

from hashlib import sha256
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from assessor.campaigns.actions import create_campaign
from assessor.campaigns.models import CONTROL, Answer, Condition, Event, Judge, Run
from assessor.campaigns.models.history import AppendOnlyError
from assessor.studies.actions import PER_TOPIC, StudyError, let_people_judge
from assessor.studies.models import SampledItem, Study
from assignment.queries import name_of
from nuggets.actions import create_manual_nuggets
from nuggets.models import BankEdition, Nugget, NuggetBank
from tests.judging import all_judged, change, given, move, put
from tests.studies.conftest import (
    MODEL,
    N_MODEL,
    PEOPLE,
    draw,
    everything,
    ids_of,
    items,
    names,
    nugget_labels,
    support_labels,
)

DIFFERENT = {
    ("t1", "team.one", "0 d1", "full", "partial"),
    ("t1", "team.one", "1 d2", "full", "none"),
    ("t1", "team.one", "2 d3", "none", "full"),
    ("t1", "team.two", "0 d2", "partial", "none"),
    ("t1", "team.two", "1 d3", "full", "partial"),
    ("t2", "team.one", "1 d5", "partial", "none"),
    ("t2", "team.two", "0 d5", "none", "partial"),
}


def item(nuggets: Condition, text: str) -> str:
    return name_of({"uid": Nugget.objects.get(pk=ids_of(nuggets)[text]).uid, "text": text})


def test_all_that_differs_is_drawn_with_both_labels(people: Condition, model: Condition, olga):
    study = draw(people, model, acting_user=olga, name="  Telltale \n study ")
    assert items(study) == DIFFERENT
    assert (study.name, study.kind, study.seed, study.per_topic, study.created_by) == (
        "Telltale study",
        "support",
        1,
        None,
        olga,
    )
    event = Event.objects.get(verb="study drawn")
    assert event.person == olga
    assert event.details == {
        "purpose": "disagreement",
        "first": "NIST's",
        "second": "Mia's",
        "seed": 1,
        "per_topic": None,
        "items": 7,
    }


def test_all_nuggets_that_differ_are_drawn_with_both_labels(nuggets, n_people, n_model):
    assert items(draw(n_people, n_model)) == {
        ("t1", "team.one", item(nuggets, "purring heals"), "support", "partial_support"),
        ("t1", "team.one", item(nuggets, "dogs bark"), "not_support", "support"),
        ("t1", "team.two", item(nuggets, "purring heals"), "not_support", "support"),
        ("t1", "team.two", item(nuggets, "cats purr"), "partial_support", "support"),
        ("t2", "team.one", item(nuggets, "glass is melted"), "support", "not_support"),
    }


def test_at_most_so_many_of_each_topic_those_of_the_lowest_hashes(people, model):
    study = draw(people, model, per_topic=2, seed=7)
    expected = []
    for qid in ("t1", "t2"):
        of_topic = [(tag, name) for topic, tag, name, _, _ in DIFFERENT if topic == qid]
        hashed = sorted(of_topic, key=lambda one: sha256(f"7 {qid} {one[0]} {one[1]}".encode()).hexdigest())
        expected += hashed[:2]
    assert names(study) == expected


def test_the_seed_alone_decides(people, model):
    same = [names(draw(people, model, per_topic=3, seed=5, name=name)) for name in ("a", "b")]
    assert same[0] == same[1]
    assert len({tuple(names(draw(people, model, per_topic=3, seed=seed, name=f"s{seed}"))) for seed in range(8)}) > 4
    made_up = [draw(people, model, seed=None, name=name) for name in ("c", "d")]
    assert made_up[0].seed != made_up[1].seed


def test_more_of_a_topic_are_more_of_the_same(people, model):
    few, more = (names(draw(people, model, per_topic=number, name=str(number))) for number in (1, 3))
    assert set(few) < set(more)
    assert len(names(draw(people, model, per_topic=PER_TOPIC, name="all"))) == 7


def test_the_seed_draws_the_same_after_citations_moved(people, model, answered, import_file):
    before = names(draw(people, model, per_topic=2, seed=3, name="before"))
    # What was cited first is cited third now; the sheets' keys go along.
    for tag in ("team.one", "team.two"):
        for answer in Answer.objects.filter(run__tag=tag):
            answer.references, answer.content = (
                ["d3", *answer.references],
                [
                    sentence | {"citations": [0, *(place + 1 for place in sentence["citations"])]}
                    for sentence in answer.content
                ],
            )
            answer.save()
            for sheet in (*all_judged(people, tag, answer.topic.qid), *all_judged(model, tag, answer.topic.qid)):
                for key in given(sheet):
                    move(sheet, key, key.replace(".0", ".1"))
    assert names(draw(people, model, per_topic=2, seed=3, name="after")) == before


def test_what_lacks_a_label_or_has_none_of_the_vocabulary_is_left_out(answered, model):
    labels = PEOPLE | {
        ("team.one", "t1"): {"0.0": "full", "1.0": "not judged", "2.0": "full"},
        ("team.two", "t1"): {"0.0": "none"},
    }
    first = support_labels(answered, "Some", "people", labels)
    assert {one[:3] for one in items(draw(first, model))} == {
        ("t1", "team.one", "0 d1"),
        ("t2", "team.one", "1 d5"),
        ("t2", "team.two", "0 d5"),
    }


def test_answers_that_are_no_runs_own_are_left_out(people, model, n_people, n_model):
    Answer.objects.filter(run__tag="team.one", topic__qid="t1").update(apart=True)
    Run.objects.filter(tag="team.two").update(task=CONTROL)
    assert {one[:3] for one in items(draw(people, model))} == {("t2", "team.one", "1 d5")}
    assert {one[:2] for one in items(draw(n_people, n_model, name="nuggets"))} == {("t2", "team.one")}


@pytest.mark.parametrize("side", [0, 1])
def test_labels_by_rule_are_nobodys_opinion(nuggets, n_people, n_model, side: int):
    condition = (n_people, n_model)[side]
    put(all_judged(condition, qid="t1"), by_rule=True)
    assert {one[0] for one in items(draw(n_people, n_model))} == {"t2"}


def test_of_several_banks_on_a_topic_the_newest_alone_counts(nuggets, n_people, n_model):
    topic, maker = nuggets.campaign.topics.get(qid="t2"), n_people.judge
    newer = NuggetBank.objects.create(topic=topic, condition=nuggets, maker=maker, state="finished", edition=1)
    BankEdition.objects.create(bank=newer, edition=1, version=1)
    assert {one[0] for one in items(draw(n_people, n_model))} == {"t1"}


def test_what_was_drawn_stays_when_labels_change(people, model):
    study = draw(people, model)
    for condition in (people, model):
        for sheet in all_judged(condition):
            change(sheet, {key: {"label": "full"} for key in given(sheet)})
    assert items(study) == DIFFERENT
    with pytest.raises(StudyError, match=r"NIST's and Mia's label nothing differently: there is nothing to draw\."):
        draw(people, model, name="again")
    drawn = study.drawn.first()
    drawn.first_label = "none"
    with pytest.raises(AppendOnlyError):
        drawn.save()


def refused(first: Condition, second: Condition, message: str, **options: Any) -> None:
    before = everything()
    with pytest.raises(StudyError, match=message):
        draw(first, second, **options)
    assert everything() == before


def test_a_model_is_no_first_and_people_no_second(people, model, others):
    refused(model, people, r"The labels of Mia's are not people's\.")
    refused(people, others, r"The labels of Others' are not a model's\.")
    refused(
        people, model, r"The labels of Mia's are not people's: there is nothing between people", purpose="adjudication"
    )
    refused(people, people, r"A study is of two conditions\.")


def test_who_made_an_imported_file_says_whose_labels_they_are(answered, model):
    refused(support_labels(answered, "M", "model", PEOPLE), model, "The labels of M are not people's")
    judge = Judge.objects.create(kind="model", name="m", parameters={"model": "m"})
    real = support_labels(answered, "R", "model", MODEL, judge=judge, method="support automatic")
    assert draw(support_labels(answered, "P", "people", PEOPLE), real).drawn.count() == 7


def test_other_kinds_other_nuggets_and_other_campaigns_are_refused(people, model, n_people, n_model, import_file, olga):
    refused(people, n_model, "NIST's has labels of support, Mia assigned of assignment: they can't be compared")
    source = people.campaign.qrels_sources.get(name="NIST")
    made = create_manual_nuggets(campaign=people.campaign, name="Made", qrels_source=source, acting_user=None)
    refused(made, made, "Made has labels of nuggets")
    lines = [
        {"query": "", "qid": "t1", "nuggets": [{"text": text} for text in ("purring heals", "cats purr", "dogs bark")]}
    ]
    assert import_file(people.campaign, "nuggets", lines, condition="Other nuggets", by="people").state == "done"
    others = people.campaign.conditions.get(name="Other nuggets")
    labels = {("team.one", "t1"): N_MODEL["team.one", "t1"]}
    other = nugget_labels(others, "Mia's other", "model", labels)
    refused(n_people, other, "NIST assigned and Mia's other are about different nuggets")
    elsewhere = create_campaign(name="Elsewhere", slug="elsewhere", acting_user=olga)
    Condition.objects.filter(pk=model.pk).update(campaign=elsewhere)
    model.refresh_from_db()
    refused(people, model, r"Both conditions must be of Study\.")


def test_a_sample_is_no_source(people, model):
    sample = let_people_judge(study=draw(people, model), name="Sample", acting_user=None)
    refused(sample, model, "A study's own labels are of a sample", name="of it")
    refused(people, sample, "A study's own labels are of a sample", name="of it")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "  "}, "This field cannot be blank"),
        ({"name": "n" * 101}, "at most 100 characters"),
        ({"per_topic": 0}, "At most 0 of a topic are none at all"),
        ({"per_topic": -1}, "greater than or equal to 0"),
        ({"per_topic": 10**30}, "less than or equal to"),
        ({"seed": -1}, "greater than or equal to 0"),
        ({"seed": 10**30}, "less than or equal to"),
        ({"purpose": "fun"}, "not a valid choice"),
    ],
)
def test_odd_values_are_refused(people, model, options: dict[str, Any], message: str):
    refused(people, model, message, **options)


def test_a_name_is_given_once_in_a_campaign(people, model):
    draw(people, model)
    refused(people, model, "already exists|once|is violated")


def test_nothing_in_common_is_nothing_to_draw(answered, model):
    first = support_labels(answered, "One", "people", {("team.one", "t1"): MODEL["team.one", "t1"]})
    refused(first, model, "label nothing differently")
    first = support_labels(answered, "None", "people", {})
    refused(first, model, "label nothing differently")


def test_the_number_of_queries_follows_the_topics_by_tens_alone(
    people, model, n_people, n_model, answered, import_file
):
    def queries(number: int) -> list[int]:
        found = []
        for first, second in ((people, model), (n_people, n_model)):
            with CaptureQueriesContext(connection) as counted:
                draw(first, second, name=f"{first} {number}")
            found.append(len(counted))
        return found

    few = queries(0)
    import_file(answered, "topics", "".join(f"x{number}\tmore\n" for number in range(8)))
    assert queries(1) == few
    assert Study.objects.count() == 4
    assert SampledItem.objects.count() == 2 * (7 + 5)
