"""Labels judged again, blind: as many that agree are drawn with those that differ; scores before and after."""

import csv
import io
import re
from hashlib import sha256
from html import unescape
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition, Event
from assessor.labels.label_kind import label_kind
from assessor.llm.actions import JobError
from assessor.llm.models import ModelJudge
from assessor.scores.cache import condition_scores
from assessor.scores.tables import score_table
from assessor.studies.actions import StudyError, give_sample, let_people_judge, plan_asking
from assessor.studies.models import Study
from assessor.work.actions import PlanError
from assessor.work.models import Task
from assignment.queries import name_of
from metaeval.actions import create_comparison
from metaeval.revisions import Judged, revisions_of
from metaeval.stats.means import Policy
from nuggets.models import Nugget
from tests.conftest import client_of
from tests.judging import all_judged, asked, change, label_rows
from tests.studies.conftest import (
    N_MODEL,
    N_PEOPLE,
    NUGGETS,
    PEOPLE,
    draw,
    everything,
    ids_of,
    items,
    nugget_labels,
    support_labels,
)

# What is judged again of the whole sample: of the labels that differ two change, and of those that agree one.
AGAIN = {
    ("team.one", "t1"): {"purring heals": "partial_support", "cats purr": "support", "dogs bark": "support"},
    ("team.two", "t1"): {"purring heals": "not_support", "cats purr": "support", "dogs bark": "support"},
    ("team.one", "t2"): {"glass is melted": "support", "glass is sorted": "support"},
}
FORM = {"per_topic": "", "seed": "1", "name": "Again"}


@pytest.fixture
def study(n_people: Condition, n_model: Condition) -> Study:
    return draw(n_people, n_model, purpose="rejudging")


@pytest.fixture
def client(olga: Person) -> Client:
    return client_of(olga)


def cells(study: Study) -> list[tuple[str, str, str]]:
    """Return what was drawn, in the order of the draw: run, topic, text of the nugget."""
    texts = {name_of({"uid": one.uid, "text": one.text}): one.text for one in Nugget.objects.all()}
    rows = study.drawn.order_by("pk").values_list("answer__run__tag", "answer__topic__qid", "item")
    return [(tag, qid, texts[item]) for tag, qid, item in rows]


def differs(tag: str, qid: str, text: str) -> bool:
    return N_PEOPLE[tag, qid][text] != N_MODEL[tag, qid][text]


def judged_again(study: Study, nuggets: Condition, name: str = "Judge", only: int | None = None) -> Condition:
    """Have what was drawn judged as in AGAIN, or the first so many."""
    said: dict[tuple[str, str], dict[str, str]] = {}
    for tag, qid, text in cells(study)[:only]:
        said.setdefault((tag, qid), {})[text] = AGAIN[tag, qid][text]
    condition = nugget_labels(nuggets, name, "people", said)
    Condition.objects.filter(pk=condition.pk).update(sample=study.name)
    return condition


def merged(study: Study, only: int | None = None) -> dict[tuple[str, str], dict[str, str]]:
    """Return people's labels with those of AGAIN in the place of what was drawn."""
    found = {key: dict(labels) for key, labels in N_PEOPLE.items()}
    for tag, qid, text in cells(study)[:only]:
        found[tag, qid][text] = AGAIN[tag, qid][text]
    return found


def means(condition: Condition) -> dict[str, dict[str, float]]:
    found = condition_scores(condition)
    keys = found.measures.keys
    return {
        row.name: dict(zip(keys, row.figures, strict=True))
        for row in score_table(found, Policy.ZERO).systems
        if row.run
    }


def page(client: Client, study: Study, asked: str = "") -> str:
    response = client.get(f"/campaigns/study/studies/{study.pk}/{asked}")
    assert response.status_code == 200
    return " ".join(unescape(response.content.decode()).split())


def exported(client: Client, study: Study) -> list[dict[str, str]]:
    response = client.get(f"/campaigns/study/studies/{study.pk}/export/scores.csv")
    assert response.status_code == 200
    return list(csv.DictReader(io.StringIO(response.getvalue().decode())))  # type: ignore[attr-defined]


# What is drawn


def test_as_many_that_agree_are_drawn_as_differ(study: Study, n_people: Condition):
    drawn = cells(study)
    counts = {
        qid: [sum(differs(*one) == which for one in drawn if one[1] == qid) for which in (1, 0)] for qid in NUGGETS
    }
    # Of t1 four differ, and two agree.
    assert counts == {"t1": [2, 2], "t2": [1, 1]}
    labels = {(tag, qid, item): both for qid, tag, item, *both in items(study)}
    for (tag, qid, text), (one, *_) in zip(drawn, study.drawn.order_by("pk").values_list("item"), strict=True):
        assert labels[tag, qid, one] == [N_PEOPLE[tag, qid][text], N_MODEL[tag, qid][text]]


@pytest.mark.parametrize("seed", range(4))
def test_the_seed_decides_which_and_mixes_them(n_people: Condition, n_model: Condition, seed: int):
    study = draw(n_people, n_model, purpose="rejudging", seed=seed, per_topic=1)
    ids = ids_of(n_people.nuggets)
    expected = []
    for qid in NUGGETS:
        hashed: dict[bool, list[Any]] = {True: [], False: []}
        for (tag, topic), labels in N_PEOPLE.items():
            for text in labels if topic == qid else ():
                _, code = name_of({"uid": Nugget.objects.get(pk=ids[text]).uid, "text": text}).split()
                digest = sha256(f"{seed} {qid} {tag} {code}".encode()).hexdigest()
                hashed[differs(tag, qid, text)].append((digest, (tag, qid, text)))
        expected += [cell for _, cell in sorted([min(hashed[True]), min(hashed[False])])]
    assert cells(study) == expected


def test_one_topic_alone_is_drawn_from(n_people: Condition, n_model: Condition, campaign: Campaign):
    study = draw(n_people, n_model, purpose="rejudging", topics=[campaign.topics.get(qid="t2")])
    assert sorted(cells(study)) == [("team.one", "t2", "glass is melted"), ("team.one", "t2", "glass is sorted")]
    assert Event.objects.get(verb="study drawn").details["topics"] == ["t2"]


def test_what_cannot_be_mixed_is_not_drawn(
    nuggets: Condition,
    n_people: Condition,
    people: Condition,
    model: Condition,
    monkeypatch: pytest.MonkeyPatch,
):
    never = nugget_labels(
        nuggets,
        "Never",
        "model",
        {("team.one", "t2"): {"glass is melted": "not_support", "glass is sorted": "support"}},
    )
    before = everything()
    with pytest.raises(StudyError, match="or nothing alike on a topic where they do"):
        draw(n_people, never, purpose="rejudging")
    monkeypatch.setattr(type(label_kind("support")), "can_be_rejudged", False)
    with pytest.raises(StudyError, match="Labels of support, as NIST's has them, can't be judged again"):
        draw(people, model, purpose="rejudging")
    with pytest.raises(StudyError, match="Never are not people's"):
        draw(never, n_people, purpose="rejudging")
    assert everything() == before


def test_other_peoples_labels_can_be_the_other_side(nuggets: Condition, n_people: Condition):
    others = nugget_labels(nuggets, "Others", "people", N_MODEL)
    assert len(cells(draw(n_people, others, purpose="rejudging"))) == 6


# Who judges again


def test_people_who_labelled_neither_side_judge_again_blind(
    study: Study, n_people: Condition, campaign: Campaign, carl: Person, nuggets: Condition, anna: Person
):
    tasks = give_sample(study=study, person=carl, condition=None, name="", acting_user=None)
    assert {task.condition.method for task in tasks} == {label_kind("assignment").blind_method}
    wanted = {(tag, qid): 0 for tag, qid, _ in cells(study)}
    for tag, qid, _ in cells(study):
        wanted[tag, qid] += 1
    sheets = {(one.answer.run.tag, one.answer.topic.qid): one for one in all_judged(tasks[0].condition)}
    assert {key: len(asked(sheet)) for key, sheet in sheets.items()} == wanted
    assert not any(sheet.labels for sheet in sheets.values())


def test_no_model_judges_peoples_labels_again(study: Study, olga: Person):
    with pytest.raises(JobError, match="judged again by people"):
        plan_asking(study=study, judge=ModelJudge(), name="", replicate=0)


def test_who_is_one_of_the_sides_does_not_judge_again(
    nuggets: Condition, campaign: Campaign, n_model: Condition, anna: Person, carl: Person
):
    from assignment.actions import create_manual_assign
    from tests.studies.test_allocation import give

    first = create_manual_assign(nuggets=nuggets, name="Anna's", acting_user=None)
    tasks = give(first, anna)
    texts = {str(key): text for text, key in ids_of(nuggets).items()}
    for sheet in all_judged(first):
        said = N_PEOPLE.get((sheet.answer.run.tag, sheet.answer.topic.qid), {})
        change(sheet, {key: {"label": said.get(texts[str(key)], "support")} for key in asked(sheet)})
    assert tasks
    study = draw(first, n_model, purpose="rejudging")
    with pytest.raises(PlanError, match="a judge of Telltale study is somebody else"):
        give_sample(study=study, person=anna, condition=None, name="", acting_user=None)
    assert give_sample(study=study, person=carl, condition=None, name="", acting_user=None)


# Scores before and after


def test_scores_after_are_those_of_a_condition_with_these_labels(study: Study, nuggets: Condition, n_people: Condition):
    before = means(n_people)
    judged_again(study, nuggets)
    [revision] = revisions_of(study)
    plain = nugget_labels(nuggets, "Plain", "people", merged(study))
    expected = condition_scores(plain)
    assert (revision.scores.runs, [one.qid for one in revision.scores.topics]) == (expected.runs, ["t1", "t2"])
    np.testing.assert_array_equal(revision.scores.scores, expected.scores)
    assert revision.scores.states.tolist() == expected.states.tolist()
    assert means(plain) != before
    # The first labels stand, and their scores.
    assert means(n_people) == before
    changed = [
        [
            AGAIN[tag, qid][text] != N_PEOPLE[tag, qid][text]
            for tag, qid, text in cells(study)
            if differs(tag, qid, text) == which
        ]
        for which in (True, False)
    ]
    assert (revision.differing, revision.alike) == tuple(Judged(3, 3, sum(one)) for one in changed)


def test_what_was_not_judged_again_counts_as_it_did(study: Study, nuggets: Condition):
    judged_again(study, nuggets, only=2)
    [revision] = revisions_of(study)
    expected = condition_scores(nugget_labels(nuggets, "Plain", "people", merged(study, 2)))
    np.testing.assert_array_equal(revision.scores.scores, expected.scores)
    assert (revision.differing.drawn, revision.alike.drawn) == (3, 3)
    assert revision.differing.again + revision.alike.again == 2


def test_a_new_label_changes_what_is_told(study: Study, n_people: Condition, carl: Person):
    [task, *_] = give_sample(study=study, person=carl, condition=None, name="", acting_user=None)
    assert [one.differing.again + one.alike.again for one in revisions_of(study)] == [0]
    sheet = all_judged(task)[0]
    change(sheet, {asked(sheet)[0]: {"label": "support"}})
    assert [one.differing.again + one.alike.again for one in revisions_of(study)] == [1]


def test_the_page_has_both_scores_and_says_which_is_which(
    study: Study, nuggets: Condition, n_people: Condition, client: Client
):
    assert "Nobody judges these labels again yet" in page(client, study)
    judged_again(study, nuggets)
    plain = means(nugget_labels(nuggets, "Plain", "people", merged(study)))
    before = means(n_people)
    [revision] = revisions_of(study)
    text = page(client, study, "?measure=a")
    assert "Revised after comparison <sub>Judge</sub>" in text
    told = (
        f"Judge gave another label to {revision.differing.changed} of 3 nuggets on which both sides differed, "
        f"and to {revision.alike.changed} of 3 on which they agreed."
    )
    assert f'<p class="in sum">{told}</p>' in text
    table = text.split('id="revised"')[1].split("</section>")[0]
    rows = re.findall(r"<bdi>(team\.\w+)</bdi></th>(.*?)</tr>", table)
    assert [name for name, _ in rows] == sorted(before, key=lambda name: -before[name]["a"])
    for name, row in rows:
        one, other = before[name]["a"], plain[name]["a"]
        figures = re.findall(r'<td class="num">(.*?)</td>', row)
        assert figures == [f"{one:.3f}", f"{other:.3f}", f"{other - one:+.3f}"]
    assert "No label is changed" in table
    assert client.get(f"/campaigns/study/studies/{study.pk}/?measure=no").status_code == 404


def test_the_sentence_says_what_is_still_to_be_judged(study: Study, nuggets: Condition, client: Client):
    judged_again(study, nuggets, only=2)
    let_people_judge(study=study, name="Another", acting_user=None)
    text = page(client, study)
    assert "on which they agreed; 4 are still to be judged." in text
    assert "Another has judged none of the 6 labels again yet." in text


def test_the_file_has_both_scores(study: Study, nuggets: Condition, n_people: Condition, client: Client):
    judged_again(study, nuggets)
    plain = nugget_labels(nuggets, "Plain", "people", merged(study))
    rows = exported(client, study)
    assert {(row["scores"], row["judge"]) for row in rows} == {("before", ""), ("revised after comparison", "Judge")}
    for which, condition in (("before", n_people), ("revised after comparison", plain)):
        found = condition_scores(condition)
        for at, run in enumerate(found.runs):
            of_run = {row["topic"]: row for row in rows if (row["scores"], row["run_id"]) == (which, run.tag)}
            assert set(of_run) == {"t1", "t2", "all"}
            for place, topic in enumerate(found.topics):
                cell = dict(zip(found.measures.keys, found.scores[at, place].tolist(), strict=True))
                told = float(of_run[topic.qid]["vstrict"] or "nan")
                assert told == pytest.approx(cell["vstrict"], nan_ok=True)
            assert float(of_run["all"]["a"]) == pytest.approx(means(condition)[run.tag]["a"])


def test_other_studies_have_no_such_scores(n_people: Condition, n_model: Condition, client: Client):
    other = draw(n_people, n_model)
    assert client.get(f"/campaigns/study/studies/{other.pk}/export/scores.csv").status_code == 404
    assert "Scores before and after" not in page(client, other)
    with pytest.raises(CommandError):
        call_command("export_study", "study", study=other.name, form="scores.csv")


# Pages


def test_labels_are_drawn_from_the_diagnosis_of_a_topic(
    n_people: Condition, n_model: Condition, campaign: Campaign, client: Client, carl: Person
):
    from metaeval.actions import run

    compared = create_comparison(campaign=campaign, first=n_model, second=n_people, seed=1, draws=10, acting_user=None)
    run(compared)
    topic = campaign.topics.get(qid="t1")
    text = client.get(f"/campaigns/study/comparisons/{compared.comparison_id}/topics/{topic.pk}/").content.decode()
    [link] = re.findall(r'href="([^"]*/rejudging/[^"]*)"', text)
    form = client.get(unescape(link)).content.decode()
    for one in (n_people, n_model, topic):
        assert f'<option value="{one.pk}" selected>' in form
    assert 'value="Re-judging of t1"' in form
    sides = {"first": n_people.pk, "second": n_model.pk, "topic": topic.pk}
    response = client.post("/campaigns/study/rejudging/", FORM | sides, follow=True)
    study = Study.objects.get()
    assert response.redirect_chain == [(f"/campaigns/study/studies/{study.pk}/", 302)]
    assert "Drawn: 4 nuggets." in response.content.decode()
    assert {qid for _, qid, _ in cells(study)} == {"t1"}
    client.post(f"/campaigns/study/studies/{study.pk}/give/", {"person": carl.pk})
    assert [task.topic for task in Task.objects.filter(person=carl)] == [topic]
    address = f'href="/campaigns/study/studies/{study.pk}/"'
    assert address in client.get("/campaigns/study/rejudging/").content.decode()
    assert address not in client.get("/campaigns/study/studies/").content.decode()
    assert f'href="/campaigns/study/studies/{study.pk}/ask/"' not in page(client, study)


# Of citations


# People and the model agree on one citation of t2 alone.
EQUAL = {("team.one", "1"): ("team.two", "t1", 0), ("team.two", "0"): ("team.one", "t1", 2)}
OTHER = {"full": "partial", "partial": "none", "none": "full"}


def test_citations_are_judged_again_too(people: Condition, model: Condition, client: Client, carl: Person):
    asked = FORM | {"first": people.pk, "second": model.pk}
    assert "Drawn: 2 citations." in client.post("/campaigns/study/rejudging/", asked, follow=True).content.decode()
    study = Study.objects.get()
    assert {(row[0], row[3] == row[4]) for row in items(study)} == {("t2", True), ("t2", False)}
    tasks = give_sample(study=study, person=carl, condition=None, name="", acting_user=None)
    assert list(Task.objects.values_list("topic__qid", "total")) == [("t2", 2)]
    assert {task.condition.method for task in tasks} == {label_kind("support").blind_method}


@pytest.mark.parametrize("seed", range(3))
def test_a_citation_counts_as_judged_again_on_all_equal_pairs(
    people: Condition, model: Condition, campaign: Campaign, client: Client, seed: int
):
    study = draw(people, model, purpose="rejudging", seed=seed)
    [drawn] = [one for one in study.drawn.select_related("answer__run") if one.first_label != one.second_label]
    tag, sentence = drawn.answer.run.tag, drawn.item.split()[0]
    partner, qid, place = EQUAL[tag, sentence]
    rows = label_rows(people)
    first = rows.get(sheet__answer=drawn.answer, sentence=sentence)
    equal = rows.get(sheet__answer__run__tag=partner, sheet__answer__topic__qid=qid, sentence=place)
    rows.filter(pk__in=[first.pk, equal.pk]).update(equal_to=first)
    before = means(people)
    label = OTHER[drawn.first_label]
    judge = support_labels(campaign, "Judge", "people", {(tag, "t2"): {f"{sentence}.0": label}})
    Condition.objects.filter(pk=judge.pk).update(sample=study.name)
    [revision] = revisions_of(study)
    assert (revision.differing, revision.alike) == (Judged(1, 1, 1), Judged(1, 0, 0))
    changed = {key: dict(labels) for key, labels in PEOPLE.items()}
    changed[tag, "t2"][f"{sentence}.0"] = label
    changed[partner, qid][f"{place}.0"] = label
    expected = support_labels(campaign, "Plain", "people", changed)
    np.testing.assert_array_equal(revision.scores.scores, condition_scores(expected).scores)
    assert means(people) == before != means(expected)
    text = page(client, study)
    assert "Judge gave another label to 1 of 1 citations on which both sides differed, and to 0 of 0" in text
    name, run = "weighted_precision", "team.one"
    assert f'<td class="num">{means(expected)[run][name]:.3f}</td>' in page(client, study, f"?measure={name}")
