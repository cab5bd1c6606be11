"""The noise ceiling of comparisons of people with a judge: what is loaded, told in words, shown and written."""

import csv
import io
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from scipy import stats

from assessor.accounts.models import Person
from assessor.campaigns.actions import judge_of
from assessor.campaigns.models import Answer, Campaign, Condition
from assessor.labels.manual_setups import REPEAT, SECOND, label_again
from assessor.work.models import Task
from assignment.actions import create_manual_assign
from assignment.actions.judged_answers import add_sheets, sheet_row
from metaeval.actions import ComparisonError, create_comparison, run
from metaeval.ceiling_tables import csv_lines, latex_lines, page_context, sentences, text_lines
from metaeval.models import Calculation
from metaeval.stats.agreement import cohen_kappa
from metaeval.stats.ceiling import noise_ceiling
from nuggets.models import NuggetBank
from tests.assignment.conftest import run_file
from tests.assignment.scored import auto_condition, import_banks, say
from tests.conftest import client_of
from tests.judging import all_judged, nuggets_of

WORDS = ("not_support", "partial_support", "support")
QIDS = sorted(f"t{at}" for at in range(1, 13))
TAGS = [f"team.{letter}" for letter in "abcde"]
SHAPE = (len(QIDS), len(TAGS), 2)  # two nuggets a topic


@pytest.fixture
def nuggets(campaign: Campaign, import_file) -> Condition:
    """Two nuggets on each of twelve topics, which five runs answer."""
    more = "".join(f"{qid}\tTopic {qid}\n" for qid in QIDS if qid not in ("t1", "t2"))
    assert import_file(campaign, "topics", more).state == "done"
    for tag in TAGS:
        lines = run_file(tag, {qid: [f"{tag} says of {qid}."] for qid in QIDS})
        assert import_file(campaign, "runs", lines, name=tag).state == "done"
    return import_banks(campaign, import_file, {qid: [("one", "vital"), ("two", "vital")] for qid in QIDS})


def labels_of(seed: int, error: float) -> np.ndarray:
    """Return a judge's labels (topics, runs, nuggets): the truth, which is the same for all, with errors."""
    truth = np.random.default_rng(0).integers(0, 3, SHAPE)
    quality = np.arange(len(TAGS))[:, np.newaxis] / 2
    truth = np.clip(np.round(truth / 2 + quality - 0.5), 0, 2).astype(int)
    chance = np.random.default_rng(seed)
    return np.where(chance.random(SHAPE) < error, chance.integers(0, 3, SHAPE), truth)


def write(
    condition: Condition, labels: np.ndarray, people: tuple[Person, ...] = (), tags: list[str] = TAGS
) -> Condition:
    """Write labels under a condition; people: each labels every so many topics."""
    answers = {(one.topic.qid, one.run.tag): one.pk for one in Answer.objects.select_related("topic", "run")}
    for at, qid in enumerate(QIDS):
        bank = NuggetBank.objects.get(condition=condition.nuggets, topic__qid=qid)
        task = None
        if people:
            person = people[at % len(people)]
            task = Task.objects.create(
                campaign=condition.campaign, topic=bank.topic, condition=condition, kind=condition.kind, person=person
            )
        judge = judge_of(task.person).pk if task else condition.judge_id
        keys = nuggets_of(bank)
        rows = [
            sheet_row(
                condition=condition.pk,
                bank=bank.pk,
                answer=answers[qid, tag],
                judge=judge,
                edition=bank.edition,
                nuggets=keys,
                labels={key: WORDS[code] for key, code in zip(keys, labels[at, TAGS.index(tag)], strict=True)},
                task=task and task.pk,
            )
            for tag in tags
        ]
        add_sheets(rows)
    return condition


@pytest.fixture
def people(nuggets: Condition, anna: Person, ben: Person) -> Condition:
    first = create_manual_assign(nuggets=nuggets, name="Manual", acting_user=None)
    return write(first, labels_of(1, 0.1), (anna, ben))


@pytest.fixture
def judge(nuggets: Condition) -> Condition:
    return write(auto_condition(nuggets, "Auto"), labels_of(2, 0.1))


def second_opinion(people: Condition, **how: Any) -> Condition:
    return label_again(of=people, name="Again", acting_user=None, **({"purpose": SECOND} | how))


def computed(people: Condition, judge: Condition, **given: Any) -> dict[str, Any]:
    given = {"draws": 100, "seed": 3} | given
    calculation = run(
        create_comparison(campaign=people.campaign, first=people, second=judge, acting_user=None, **given)
    )
    assert calculation.state == Calculation.State.DONE, calculation.why
    return calculation.result


def said(result: dict[str, Any]) -> str:
    return " ".join("".join(part.text for part in parts) for parts in sentences(result, "people", "gpt-4o"))


def vital_strict(labels: np.ndarray) -> np.ndarray:
    return (labels == 2).mean(axis=2).T


def test_people_with_a_second_opinion_and_a_judge(people: Condition, judge: Condition, anna, ben, olga: Person):
    h1, h2, m = labels_of(1, 0.1), labels_of(3, 0.2), labels_of(2, 0.1)
    write(second_opinion(people), h2, (ben, anna))
    found = computed(people, judge)["ceiling"]
    assert (found["margin"], found["splits"]) == (0.05, 1000)
    expected = noise_ceiling(vital_strict(h1), vital_strict(m), seed=3)
    for name, one in expected._asdict().items():
        assert found["measures"]["vstrict"][name]["value"] == pytest.approx(one.value, abs=1e-9)
    [second] = found["seconds"]
    assert (second["name"], second["items"], second["topics"]) == ("Again", 120, 12)
    kappas = {"kappa_people": (h1, h2), "kappa_first_judge": (h1, m), "kappa_second_judge": (h2, m)}
    for name, (one, other) in kappas.items():
        assert second[name]["value"] == pytest.approx(cohen_kappa(one.ravel(), other.ravel(), 3).value)
    difference = second["kappa_first_judge"]["value"] - second["kappa_people"]["value"]
    assert second["difference"]["value"] == pytest.approx(difference)
    assert second["is_within"] is True
    # Two people are no three annotators.
    why = "fewer than 3 annotators with 30 items that others labelled too"
    assert found["annotators"]["winning_rate"] == {"value": None, "n": 2, "why": why}
    assert found["doubling"] is None
    # On the same topics, the second opinion is people's reliability.
    same = found["same_topics"]
    assert (same["second"], same["replicate"], same["topics"]) == ("Again", None, 12)
    of_runs = [vital_strict(labels).mean(axis=1) for labels in (h1, h2, m)]
    r, reliability = stats.pearsonr(of_runs[0], of_runs[2])[0], stats.pearsonr(of_runs[0], of_runs[1])[0]
    assert same["measures"]["vstrict"]["observed"]["value"] == pytest.approx(r)
    assert same["measures"]["vstrict"]["people"]["value"] == pytest.approx(reliability)
    assert "judge" not in same["measures"]["vstrict"]

    response = client_of(olga).get(f"/campaigns/study/comparisons/{Calculation.objects.get().comparison_id}/")
    text = response.content.decode()
    assert 'id="ceiling">Noise ceiling' in text
    assert "is within 0.05 of a second person" in text
    assert "was not computed: fewer than 3 annotators" in text


def test_three_people_are_annotators(people: Condition, judge: Condition, anna, ben, otto: Person):
    write(second_opinion(people), labels_of(3, 0.1), (otto,))
    found = computed(people, judge)["ceiling"]["annotators"]
    assert (found["as"], found["epsilon"], found["people"]) == ("experts", 0.2, 3)
    # Who has most labels is the first: Otto labelled all, Anna and Ben half each.
    assert [(one["place"], one["items"], one["topics"]) for one in found["annotators"]] == [
        (1, 120, 12),
        (2, 60, 6),
        (3, 60, 6),
    ]
    assert found["passes"] is (found["winning_rate"]["value"] >= 0.5)
    assert "otto" not in repr(found).lower()


def test_without_a_second_opinion_it_says_what_to_label_twice(people: Condition, judge: Condition, olga: Person):
    result = computed(people, judge)
    found = result["ceiling"]
    assert (found["seconds"], found["annotators"], found["same_topics"]) == ([], None, None)
    assert found["doubling"] == {"topics": 12, "share": 100, "answers": 60}
    text = client_of(olga).get(f"/campaigns/study/comparisons/{Calculation.objects.get().comparison_id}/")
    assert "About 60 answers are enough: 100 % of each topic" in text.content.decode()


def test_a_repetition_is_no_second_opinion(people: Condition, judge: Condition, anna, ben):
    write(second_opinion(people, purpose=REPEAT), labels_of(3, 0.2), (anna, ben))
    assert computed(people, judge)["ceiling"]["seconds"] == []


def test_adopted_labels_do_not_count(people: Condition, judge: Condition, anna, ben):
    write(second_opinion(people), labels_of(3, 0.2), (ben, anna))
    sheet = all_judged(people, "team.a", "t1")[0]
    say(sheet, 0, label=None, cannot="garbled", adopted="support")
    result = computed(people, judge)
    assert result["labels"]["pairs"] == 120
    assert result["ceiling"]["seconds"][0]["items"] == 118  # all of that answer


def test_a_part_labelled_again_is_enough_for_kappa(people: Condition, judge: Condition, anna, ben):
    write(second_opinion(people, share=40), labels_of(3, 0.2), (ben, anna), tags=TAGS[:2])
    found = computed(people, judge)["ceiling"]
    assert (found["seconds"][0]["items"], found["seconds"][0]["topics"]) == (48, 12)
    assert found["same_topics"] is None  # by which no run is scored


def test_a_replicate_is_the_judges_reliability(people: Condition, judge: Condition):
    again = Condition.objects.get(pk=judge.pk)
    again.pk, again.name, again.replicate = None, "Auto again", 1
    again.identity = f"{judge.identity}; again"
    again.save(force_insert=True)
    write(again, labels_of(4, 0.1))
    same = computed(people, judge)["ceiling"]["same_topics"]
    assert (same["second"], same["replicate"]) == (None, "Auto again")
    of_runs = [vital_strict(labels_of(seed, 0.1)).mean(axis=1) for seed in (2, 4)]
    assert same["measures"]["vstrict"]["judge"]["value"] == pytest.approx(stats.pearsonr(*of_runs)[0])


def test_the_margin_is_fixed_with_the_comparison(people: Condition, judge: Condition, anna, ben, olga: Person):
    write(second_opinion(people), labels_of(3, 0.2), (ben, anna))
    assert computed(people, judge, margin=0.2)["ceiling"]["margin"] == 0.2
    with pytest.raises(ComparisonError, match="margin of κ is above 0 and below 1"):
        computed(people, judge, margin=1.0)
    sides = {name: f"Condition-{one.pk}" for name, one in (("first", people), ("second", judge))}
    given = sides | {"policy": "zero", "draws": 20, "seed": 3, "name": "By form", "margin": "0.1"}
    assert client_of(olga).post("/campaigns/study/comparisons/", given).status_code == 302
    assert people.campaign.comparisons.get(name="By form").margin == Decimal("0.1")


def test_only_people_and_a_judge_have_a_ceiling(people: Condition, judge: Condition, nuggets: Condition, anna, ben):
    other = write(auto_condition(nuggets, "Other"), labels_of(5, 0.1))
    assert "ceiling" not in computed(judge, other)
    assert "ceiling" not in computed(judge, people)
    again = write(second_opinion(people), labels_of(3, 0.2), (ben, anna))
    assert "ceiling" not in computed(people, again)


def test_labels_that_people_gave_beside_a_models_are_not_tested(people: Condition, judge: Condition, anna, ben):
    shown = auto_condition(people.nuggets, "Shown")
    Condition.objects.filter(pk=people.pk).update(shown=shown)
    people.refresh_from_db()
    write(second_opinion(people), labels_of(3, 0.2), (ben, anna))
    found = computed(people, judge)["ceiling"]
    assert found["annotators"] is None
    [second] = found["seconds"]
    assert second["kappa_people"]["value"] is not None
    assert second["is_within"] is None
    assert second["difference"]["interval"]["why"] == "people saw a model's labels while they labelled"


# In words and as tables


def statistic(value: float | None, n: int = 45, why: str = "", **more: Any) -> dict[str, Any]:
    return {"value": value, "n": n} | ({"why": why} if why else {}) | more


def a_result(is_within: bool | None = True, low: float | None = -0.03, passes: bool | None = None) -> dict[str, Any]:
    r = {"observed": 0.9, "across": 0.774, "reference": 0.88, "candidate": 0.9, "ceiling": 0.889, "disattenuated": 0.87}
    difference = {"low": low, "high": 0.01, "mean": 0.0, "draws": 100, "why": "" if low else "fewer than 10 topics"}
    annotators = {
        "as": "experts",
        "epsilon": 0.2,
        "people": 3,
        "winning_rate": statistic(2 / 3, 3),
        "advantage": statistic(0.914, 3),
        "passes": passes,
        "annotators": [
            {
                "place": place,
                "items": 40,
                "topics": 12,
                "judge": 0.9,
                "annotator": 0.85,
                "p": 0.01,
                "adjusted": 0.02,
                "is_won": place < 3,
            }
            for place in (1, 2, 3)
        ],
    }
    return {
        "sides": [{"name": "Manual_1"}, {"name": "Auto"}],
        "ceiling": {
            "splits": 1000,
            "margin": 0.05,
            "measures": {"vstrict": {name: statistic(value) for name, value in r.items()}},
            "same_topics": None,
            "seconds": [
                {
                    "name": "Again",
                    "items": 1260,
                    "topics": 21,
                    "kappa_people": statistic(0.581, 1260),
                    "kappa_first_judge": statistic(0.572, 1260),
                    "kappa_second_judge": statistic(0.55, 1260),
                    "difference": statistic(-0.009, 1260, interval=difference),
                    "is_within": is_within,
                }
            ],
            "annotators": None if passes is None else annotators,
            "doubling": None,
        },
    }


def test_all_of_it_in_words():
    of_kappas, of_scores = sentences(a_result(), "people", "gpt-4o")
    assert "".join(part.text for part in of_kappas) == (
        "gpt-4o is within 0.05 of a second person: with people, it agrees at κ 0.57, another person at κ 0.58 on 1,260 "
        "items (difference -0.01 [-0.03, +0.01])."
    )
    assert "".join(part.text for part in of_scores) == (
        "Over different topics, scores of runs (Vital, strict) under people and gpt-4o correlate at r 0.77, where "
        "noise allows r 0.89 at most. Without noise, it would be r 0.87."
    )
    figures = [part.text for parts in (of_kappas, of_scores) for part in parts if part.is_figure]
    assert figures == ["κ 0.57", "κ 0.58", "r 0.77", "r 0.89", "r 0.87"]


def test_the_words_follow_the_test():
    assert said(a_result(False)).startswith("gpt-4o is not within 0.05 of a second person:")
    assert said(a_result(None)).startswith("These labels leave open whether gpt-4o is within 0.05 of a second person:")
    untested = said(a_result(None, None))
    assert untested.startswith("Whether gpt-4o is within 0.05 of a second person was not tested: fewer than 10 topics.")
    passed = (
        " gpt-4o passes the alternative annotator test for experts (ε 0.2): it may stand for 2 of 3 annotators; its "
    )
    assert f"{passed}average advantage probability is 0.91." in said(a_result(passes=True))
    assert " gpt-4o fails the alternative annotator test" in said(a_result(passes=False))


def test_what_is_undefined_in_words():
    result = a_result()
    of = result["ceiling"]["measures"]["vstrict"]
    of["disattenuated"] = statistic(None, why="above 1")
    assert "at most. Without noise, r is undefined: above 1." in said(result)
    of["ceiling"] = statistic(None, why="fewer than 10 topics")
    assert said(result).endswith("How far noise limits the correlation of scores is unknown: fewer than 10 topics.")
    result["ceiling"] |= {"measures": {}, "seconds": []}
    assert said(result) == ""


def test_results_from_before_have_none():
    assert page_context({"labels": None}, "people", "gpt-4o") == {}
    assert list(text_lines({"labels": None}, "people", "gpt-4o")) == []


def test_the_tables():
    rows = list(csv.reader(io.StringIO("".join(csv_lines(a_result(passes=True))))))
    assert rows[0] == ["part", "of", "statistic", "value", "n", "low", "high", "why"]
    assert ["halves", "vstrict", "disattenuated", "0.87", "45", "", "", ""] in rows
    assert ["second opinion", "Again", "difference", "-0.009", "1260", "-0.03", "0.01", ""] in rows
    assert ["annotators", "3", "adjusted", "0.02", "40", "", "", ""] in rows
    assert len(rows) == 1 + 6 + 4 + 2 + 12
    tex = "".join(latex_lines(a_result()))
    assert "& 0.900 & 0.774 & 0.880 & 0.900 & 0.889 & 0.870 \\\\" in tex
    assert "Again & 1260 & 0.581 & 0.572 & 0.550 & -0.009 [-0.030, 0.010] & yes \\\\" in tex
    assert "Manual\\_1" in tex
    head, *lines = text_lines(a_result(), "Manual_1", "Auto")
    assert head == "\nNoise ceiling:\n"
    assert [line[:30] for line in lines] == ["  Auto is within 0.05 of a sec", "  Over different topics, score"]
