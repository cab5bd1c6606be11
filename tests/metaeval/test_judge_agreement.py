"""All judges of the same items: the page, its sentence and its files, against comparisons of each two."""

import csv
import io
import json
import re
from itertools import combinations
from typing import Any

import krippendorff
import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.campaigns.models import Campaign, Condition, QrelsSource, Run
from metaeval.actions import create_comparison, import_table, run
from metaeval.judge_agreement import JudgeAgreement, JudgeRow, LabelAgreement, choose_judges, in_csv, sentence
from metaeval.models import CalibrationGate
from metaeval.stats.agreement import Level, Weights, rate_agreement
from metaeval.stats.judges import Two
from metaeval.stats.levels import Levels
from metaeval.stats.means import Policy
from metaeval.stats.statistic import Statistic, undefined
from tests.conftest import client_of
from tests.judging import all_judged, change
from tests.studies.conftest import N_MODEL, N_PEOPLE, NUGGETS, ids_of, nugget_labels
from tests.studies.conftest import answered as answered
from tests.studies.conftest import model as model
from tests.studies.conftest import n_model as n_model
from tests.studies.conftest import n_people as n_people
from tests.studies.conftest import nuggets as nuggets
from tests.studies.conftest import people as people

N_SECOND = {
    ("team.one", "t1"): {"purring heals": "support", "cats purr": "not_support", "dogs bark": "support"},
    ("team.one", "t2"): {"glass is melted": "not_support", "glass is sorted": "support"},
    ("team.two", "t1"): {"purring heals": "support", "cats purr": "support", "dogs bark": "partial_support"},
}
ALPHA = "\N{GREEK SMALL LETTER ALPHA}"
LABELS = ["not_support", "partial_support", "support"]
GIVEN = {"NIST assigned": N_PEOPLE, "Mia assigned": N_MODEL, "Leo assigned": N_SECOND}


@pytest.fixture
def client(olga) -> Client:
    return client_of(olga)


@pytest.fixture
def n_second(nuggets: Condition) -> Condition:
    return nugget_labels(nuggets, "Leo assigned", "model", N_SECOND)


@pytest.fixture
def three(n_people: Condition, n_model: Condition, n_second: Condition) -> list[Condition]:
    """People and two models, in the order of pages."""
    return [n_people, n_second, n_model]


def base(record: Condition | QrelsSource) -> str:
    place = "scores" if isinstance(record, Condition) else "relevance"
    return f"/campaigns/study/{place}/{record.pk}/judges/"


def text_of(client: Client, record: Condition | QrelsSource, **asked: Any) -> str:
    response = client.get(base(record), asked)
    assert response.status_code == 200
    return response.content.decode()


def file_of(client: Client, record: Condition | QrelsSource, name: str, **asked: Any) -> str:
    response = client.get(f"{base(record)}tables/{name}", asked)
    assert response.status_code == 200
    return b"".join(response.streaming_content).decode()  # type: ignore[attr-defined]


def rows(
    client: Client, record: Condition | QrelsSource, name: str = "pairs.csv", **asked: Any
) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(file_of(client, record, name, **asked))))


def words(text: str) -> str:
    return re.sub(r"<[^>]+>", "", text.split('<p class="in sum">')[1].split("</p>")[0])


def links(text: str) -> list[tuple[str, str]]:
    """Return where cells of matrices lead, with their words."""
    return re.findall(r'<a class="h \w+" href="([^"]+)" aria-label="([^"]+)"', text)


def test_each_two_agree_as_their_comparison_says(client: Client, three: list[Condition]):
    told = {(row["first"], row["second"]): row for row in rows(client, three[0], measure="v")}
    assert list(told) == [(one.name, other.name) for one, other in combinations(three, 2)]
    for one, other in combinations(three, 2):
        compared = create_comparison(campaign=one.campaign, first=one, second=other, draws=20, seed=1, acting_user=None)
        result = run(compared).result
        row, labels, statistics = (
            told[one.name, other.name],
            result["labels"],
            result["scores"]["measures"]["v"]["statistics"],
        )
        assert int(row["labels"]) == labels["pairs"] == 8
        for rate in ("match", "above", "below", "unweighted", "linear", "quadratic"):
            assert float(row[rate]) == pytest.approx(labels[rate]["value"])
        for level in ("run", "topic", "cell"):
            tau = statistics[f"tau_{level}"]
            assert (float(row[f"tau_{level}"]) if row[f"tau_{level}"] else None) == pytest.approx(tau["value"])
            assert int(row[f"n_{level}"]) == tau["n"]
    assert [row["first_by"] for row in told.values()] == ["people", "people", "model"]
    assert {(row["measure"], row["policy"]) for row in told.values()} == {("v", "zero")}


def test_alpha_is_over_all_judges_and_another_implementation_says_the_same(client: Client, three: list[Condition]):
    told = json.loads(file_of(client, three[0], "json"))
    things = [(answer, text) for answer in N_PEOPLE for text in NUGGETS[answer[1]]]
    table = [[LABELS.index(given[answer][text]) for answer, text in things] for given in GIVEN.values()]
    for level in Level:
        expected = krippendorff.alpha(reliability_data=table, level_of_measurement=str(level), value_domain=[0, 1, 2])
        assert told["alpha"][level] == {"value": pytest.approx(expected), "n": 8}
    assert [one["name"] for one in told["judges"]] == ["NIST assigned", "Leo assigned", "Mia assigned"]
    assert [one["given"] for one in told["judges"]] == [
        [sum(label == word for said in GIVEN[name].values() for label in said.values()) for word in LABELS]
        for name in ("NIST assigned", "Leo assigned", "Mia assigned")
    ]


def test_the_sentence_says_what_the_figures_say(client: Client, three: list[Condition]):
    for weights in Weights:
        told = rows(client, three[0], measure="a")
        kappas = [float(row[weights]) for row in told]
        with_people, among = np.mean(kappas[:2]), kappas[2]
        found = words(text_of(client, three[0], kappa=weights, measure="a"))
        low, high = f"{min(kappas):.2f}", f"{max(kappas):.2f}"
        assert found.startswith(
            f"Each two of 3 judges agree on labels with κ {low} to {high}; all together with {ALPHA}"
        )
        taus = [float(row["tau_run"]) for row in told if row["tau_run"]]
        assert f"They rank runs with τ {min(taus):.2f}" in found
        first, second = ("each other", "people") if among > with_people else ("people", "each other")
        more, less = max(among, with_people), min(among, with_people)
        assert f"Models agree more with {first} than with {second}: mean κ {more:.2f} against {less:.2f}." in found


def judged(kappas: dict[Two, float | None], *by: str) -> JudgeAgreement:
    """Return judges, people, models or unknown, who agree so far on labels of which there are two."""
    some = rate_agreement([[3, 1], [1, 3]])
    agreements = {
        two: some._replace(unweighted=undefined(8, "why") if kappa is None else Statistic(kappa, 8))
        for two, kappa in kappas.items()
    }
    judges = [JudgeRow(f"Condition-{at}", f"judge {at}", whose, np.array([4, 4]), 0) for at, whose in enumerate(by)]
    alphas = {Level.NOMINAL: Statistic(0.25, 8)}
    labels = LabelAgreement(["no", "yes"], judges, agreements, alphas)
    return JudgeAgreement(labels, 0, "nuggets", False, "", Policy.ZERO, {}, {})


EACH_TWO = "Each two of 3 judges agree on labels with"
NO_EVIDENCE = "Agreement among models is no evidence of correctness."


@pytest.mark.parametrize(
    ("kappas", "by", "expected"),
    [
        ({}, ["people"], "Nobody else labelled the same: agreement takes two judges."),
        ({(0, 1): 0.5}, ["people", "model"], "Both judges agree on labels with κ 0.50."),
        ({(0, 1): None}, ["people", "model"], "Both judges agree on labels with κ undefined."),
        (
            {(0, 1): 0.204, (0, 2): 0.396, (1, 2): 0.7},
            ["people", "model", "model"],
            f"{EACH_TWO} κ 0.20 to 0.70; all together with {ALPHA} 0.25. Models agree more with "
            f"each other than with people: mean κ 0.70 against 0.30. {NO_EVIDENCE}",
        ),
        (
            {(0, 1): 0.6, (0, 2): 0.6, (1, 2): 0.2},
            ["people", "model", "model"],
            f"{EACH_TWO} κ 0.20 to 0.60; all together with {ALPHA} 0.25. Models agree more with "
            "people than with each other: mean κ 0.60 against 0.20.",
        ),
        (
            {(0, 1): 0.5, (0, 2): 0.504, (1, 2): 0.5},
            ["people", "model", "model"],
            f"{EACH_TWO} κ 0.50; all together with {ALPHA} 0.25. Models agree with each other as "
            f"much as with people: mean κ 0.50. {NO_EVIDENCE}",
        ),
        (
            {(0, 1): 0.5},
            ["model", "model"],
            f"Both judges agree on labels with κ 0.50. No people labelled these nuggets. {NO_EVIDENCE}",
        ),
        (
            {(0, 1): 0.5, (0, 2): None, (1, 2): 0.2},
            ["people", "people", "unknown"],  # undefined in spite of labels in common
            f"{EACH_TWO} κ 0.20 to 0.50; all together with {ALPHA} 0.25.",
        ),
    ],
)
def test_the_sentence_in_all_cases(kappas: dict[Two, float | None], by: list[str], expected: str):
    found = judged(kappas, *by)
    assert "".join(part.text for part in sentence(found, Weights.UNWEIGHTED)) == expected


def test_the_sentence_names_how_many_pairs_have_anything_in_common():
    found = judged({(0, 1): 0.5, (0, 2): None, (1, 2): 0.2}, "people", "people", "unknown")
    agreements = found.labels.agreements
    agreements[0, 2] = agreements[0, 2]._replace(matrix=agreements[0, 2].matrix * 0)
    told = "".join(part.text for part in sentence(found, Weights.UNWEIGHTED))
    assert told.startswith(
        "2 of 3 pairs of judges labelled the same nuggets. They agree on labels with κ 0.20 to 0.50;"
    )


def test_the_sentence_where_nothing_is_in_common():
    found = judged({(0, 1): None}, "people", "model")
    nothing = {two: one._replace(matrix=one.matrix * 0) for two, one in found.labels.agreements.items()}
    found = found._replace(labels=found.labels._replace(agreements=nothing))
    told = "".join(part.text for part in sentence(found, Weights.UNWEIGHTED))
    assert told == "No two of 2 judges labelled the same nuggets."


def test_the_sentence_says_how_runs_are_ranked():
    nothing = undefined(0, "why")
    taus = {(0, 1): Levels(Statistic(0.8, 9), nothing, nothing, 0, np.empty(0))}
    told = "".join(
        part.text for part in sentence(judged({(0, 1): 0.5}, "people", "model")._replace(taus=taus), Weights.UNWEIGHTED)
    )
    assert told == "Both judges agree on labels with κ 0.50. They rank runs with τ 0.80."
    taus = {(0, 1): Levels(nothing, nothing, nothing, 0, np.empty(0))}
    told = "".join(
        part.text for part in sentence(judged({(0, 1): 0.5}, "people", "model")._replace(taus=taus), Weights.UNWEIGHTED)
    )
    assert told == "Both judges agree on labels with κ 0.50."


def test_people_stand_apart_and_each_cell_leads_to_the_comparison(client: Client, three: list[Condition]):
    by_people, leo, mia = three
    made = create_comparison(campaign=mia.campaign, first=mia, second=by_people, draws=20, seed=1, acting_user=None)
    text = text_of(client, by_people)
    matrix = text.split('id="labels"')[1].split("</table>")[0]
    groups = [
        (re.search(r'rowgroup"[^>]*>(\w+)', body)[1], re.findall(r"<bdi>([^<]+)</bdi>", body))  # type: ignore[index]
        for body in matrix.split("<tbody>")[1:]
    ]
    assert groups == [("People", ["NIST assigned"]), ("Models", ["Leo assigned", "Mia assigned"])]
    told = {told.split(": ")[0]: address for address, told in links(matrix)}
    address = f"/campaigns/study/comparisons/{made.comparison_id}/"
    assert told["NIST assigned and Mia assigned"] == told["Mia assigned and NIST assigned"] == address
    asked = f"first=Condition-{leo.pk}&amp;second=Condition-{mia.pk}"
    assert told["Leo assigned and Mia assigned"] == f"/campaigns/study/comparisons/?{asked}#new"
    form = client.get(told["Leo assigned and Mia assigned"].replace("&amp;", "&")).content.decode()
    chosen = re.findall(r'<option value="(Condition-\d+)" selected', form)
    assert chosen == [f"Condition-{leo.pk}", f"Condition-{mia.pk}"]
    figures = {row["first"] + " and " + row["second"]: row for row in rows(client, by_people)}
    for _, words_of in links(matrix):
        two, told_of = words_of.removesuffix("; compare").split(": ")
        row = figures.get(two) or figures[" and ".join(reversed(two.split(" and ")))]
        assert told_of == f"κ {float(row['unweighted']):.2f}, {100 * float(row['match']):.0f} % equal"


def test_all_are_held_against_one(client: Client, three: list[Condition]):
    by_people, leo, mia = three

    def against(record: Condition, **asked: str) -> list[str]:
        table = text_of(client, record, **asked).split('id="against"')[1].split("</table>")[0]
        return re.findall(r'<th scope="row" class="any"><bdi>([^<]+)</bdi>', table)

    told = {frozenset((row["first"], row["second"])): row for row in rows(client, mia)}
    kappas = {one.name: float(told[frozenset((one.name, mia.name))]["unweighted"]) for one in (by_people, leo)}
    assert against(mia, sort="kappa") == sorted(kappas, key=lambda name: -kappas[name])
    equal = {one.name: float(told[frozenset((one.name, by_people.name))]["match"]) for one in (mia, leo)}
    assert against(by_people, sort="match") == sorted(equal, key=lambda name: -equal[name])
    latex = file_of(client, mia, "reference.tex", measure="a")
    assert "Judges against Mia assigned" in latex
    assert f"{kappas[leo.name]:.3f}" in latex
    assert latex.count("assigned &") == 2
    assert client.get(f"{base(mia)}?sort=no").status_code == 404


def test_an_imported_figure_stands_beside_the_computed_ones(client: Client, three: list[Condition], tmp_path):
    table = tmp_path / "tau_gap.csv"
    table.write_text("run_id,tau_gap\nLeo_assigned,0.625\n")
    import_table(
        campaign=three[0].campaign, name="Table 2", path=table, file_name="tau_gap.csv", run="", acting_user=None
    )
    text = text_of(client, three[0]).split('id="against"')[1].split("</table>")[0]
    assert "imported: Table 2" in text
    assert "0.625" in text


def test_some_judges_can_be_chosen(client: Client, three: list[Condition]):
    by_people, leo, _ = three
    assert words(text_of(client, by_people, judges=["Mia assigned"])).startswith("Both judges agree")
    assert [row["second"] for row in rows(client, by_people, judges="Mia assigned")] == ["Mia assigned"]
    assert [(row["first"], row["second"]) for row in rows(client, leo, judges="Mia assigned,NIST assigned")] == [
        (one.name, other.name) for one, other in combinations(three, 2)
    ]
    address = re.search(r'href="([^"]+pairs.csv[^"]*)"', text_of(client, by_people, judges=["Mia assigned"]))
    assert address
    assert "judges=Mia+assigned" in address[1]
    for query in ("?judges=Nobody", "?measure=length", "?measure=no", "?policy=common", "?kappa=no", "tables/no.csv"):
        assert client.get(f"{base(by_people)}{query}").status_code == 404, query


def test_names_may_have_commas_and_quotation_marks(nuggets: Condition, n_people: Condition):
    odd = nugget_labels(nuggets, 'Odd, or "even"', "model", N_MODEL)
    other = nugget_labels(nuggets, "Other", "model", N_SECOND)
    assert choose_judges(n_people, in_csv([odd.name])) == [n_people, odd]
    assert choose_judges(n_people, in_csv([odd.name, "Other"])) == [n_people, odd, other]


def test_at_first_the_first_ten_are_shown_with_the_one_that_is_asked_for(
    nuggets: Condition, n_people: Condition, n_model: Condition
):
    made = [nugget_labels(nuggets, f"Model {at:02}", "model", N_MODEL) for at in range(10)]
    assert choose_judges(n_people) == [n_people, n_model, *made[:8]]
    assert choose_judges(made[9]) == [n_people, n_model, *made[:7], made[9]]


def test_who_has_nothing_to_label_is_no_judge(nuggets: Condition, n_people: Condition, n_model: Condition):
    nugget_labels(nuggets, "Empty", "model", {})
    assert choose_judges(n_people) == [n_people, n_model]


def test_control_runs_do_not_count(client: Client, three: list[Condition]):
    before = rows(client, three[0])
    Run.objects.filter(campaign=three[0].campaign, tag="team.two").update(task="control")
    for one in three:
        sheet = all_judged(one)[0]
        sheet.version += 1
        sheet.save()
    after = rows(client, three[0])
    assert {row["labels"] for row in before} == {"8"}
    assert {row["labels"] for row in after} == {"5"}
    assert {row["n_run"] for row in after} == {"1"}


def test_a_label_that_changes_changes_the_page(client: Client, three: list[Condition], nuggets: Condition):
    before = float(rows(client, three[0])[1]["match"])
    sheet = next(one for one in all_judged(three[2]) if one.answer.run.tag == "team.two")
    change(sheet, {ids_of(nuggets)["purring heals"]: {"label": "not_support"}})
    after = float(rows(client, three[0])[1]["match"])
    assert after == pytest.approx(before + 1 / 8)


def test_a_judge_is_called_by_its_present_name(client: Client, three: list[Condition], graded: list[QrelsSource]):
    for record, other in ((three[0], three[2]), (graded[0], graded[2])):
        assert other.name in [row["judge"] for row in rows(client, record, "labels.csv")]
        new = f"{other.name}, renamed"  # which leaves the judges in their order
        other.__class__.objects.filter(pk=other.pk).update(name=new)
        assert new in [row["judge"] for row in rows(client, record, "labels.csv")]


def test_labels_without_an_order_have_one_kappa_and_alpha(
    client: Client, three: list[Condition], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("assignment.label_kind.Assignment.is_graded", False)
    text = text_of(client, three[0])
    assert f"<dt>{ALPHA} nominal" in text
    assert f"<dt>{ALPHA} ordinal" not in text
    assert "κ quadratic" not in text
    assert client.get(f"{base(three[0])}?kappa=quadratic").status_code == 404


@pytest.fixture
def graded(campaign: Campaign, import_file) -> list[QrelsSource]:
    """People's grades and those of two models; one of another scale is no judge of the same."""
    lines = {
        ("Umpires", "people"): "t1 0 d1 3\nt1 0 d2 0\nt2 0 d5 1\nt2 0 d6 2\n",
        ("Mia", "model"): "t1 0 d1 2\nt1 0 d2 0\nt2 0 d5 1\n",
        ("Leo", "model"): "t1 0 d1 3\nt1 0 d2 1\nt2 0 d6 2\n",
    }
    for (name, by), text in lines.items():
        assert import_file(campaign, "qrels", text, source=name, by=by).state == "done"
    assert import_file(campaign, "qrels", "t1 0 d1 4\n", source="Wide", by="model").state == "done"
    return [campaign.qrels_sources.get(name=name) for name in ("Umpires", "Leo", "Mia")]


def test_of_grades(client: Client, graded: list[QrelsSource]):
    told = rows(client, graded[0], judges="Leo,Mia")
    assert [(row["first"], row["second"], row["labels"]) for row in told] == [
        ("Umpires", "Leo", "3"),
        ("Umpires", "Mia", "3"),
        ("Leo", "Mia", "2"),
    ]
    assert [float(row["match"]) for row in told] == pytest.approx([2 / 3, 2 / 3, 0])
    assert {(row["measure"], row["policy"], row["tau_run"]) for row in told} == {("", "", "")}
    assert client.get(f"{base(graded[0])}?judges=Wide").status_code == 404
    text = text_of(client, graded[0])
    assert "Wide" not in text
    assert "Agreement of rankings" not in text
    labels = rows(client, graded[0], "labels.csv")
    assert [(row["label"], row["count"]) for row in labels if row["judge"] == "Umpires"] == [
        ("0", "1"),
        ("1", "1"),
        ("2", "1"),
        ("3", "1"),
    ]
    latex = file_of(client, graded[0], "reference.tex")
    assert "tau" not in latex
    assert "Leo & " in latex


def test_a_new_grade_changes_the_page(client: Client, graded: list[QrelsSource], import_file):
    assert rows(client, graded[0], judges="Mia")[0]["labels"] == "3"
    assert import_file(graded[0].campaign, "qrels", "t2 0 d6 2\n", source="Mia", by="model").state == "done"
    assert rows(client, graded[0], judges="Mia")[0]["labels"] == "4"


@pytest.mark.parametrize("name", ["kappa", "shares"])
def test_figures(client: Client, three: list[Condition], name: str):
    for form, start in (("svg", b"<svg"), ("pdf", b"%PDF"), ("json", b"{")):
        assert client.get(f"{base(three[0])}figures/{name}.{form}").content.startswith(start)
    assert client.get(f"{base(three[0])}figures/no.svg").status_code == 404


def test_pages_lead_there_and_it_is_for_organizers(client: Client, anna, three: list[Condition], graded):
    listed = client.get("/campaigns/study/comparisons/").content.decode()
    assert f'href="{base(three[0])}"><bdi>Nugget assignment of Nuggets</bdi></a> <span class="quiet">3 judges' in listed
    grades = re.search(r'href="([^"]+)"><bdi>Grades of passages, 0 to 3</bdi></a> <span class="quiet">4 judges', listed)
    assert grades
    assert "Mia assigned" not in (text := client.get(grades[1]).content.decode())
    assert all(source.name in text for source in graded)
    # The judges' page has no policy by which a topic counts for no run.
    for policy, kept in (("zero", "zero"), ("answered", "answered"), ("common", "zero")):
        scores = client.get(f"/campaigns/study/scores/?condition={three[0].pk}&measure=a&policy={policy}")
        assert f'href="{base(three[0])}?policy={kept}&amp;measure=a"' in scores.content.decode()
    for record in (three[0], graded[0]):
        for address in (base(record), f"{base(record)}tables/pairs.csv", f"{base(record)}figures/kappa.svg"):
            assert client_of(anna).get(address).status_code == 404
    assert client.get("/campaigns/study/relevance/999/judges/").status_code == 404


def test_one_judge_alone(client: Client, n_people: Condition):
    assert words(text_of(client, n_people)) == "Nobody else labelled the same: agreement takes two judges."
    assert rows(client, n_people) == []


def test_the_queries_of_the_page_do_not_grow(client: Client, nuggets: Condition, three: list[Condition]):
    def queries() -> int:
        text_of(client, three[0])  # what is kept of the judges is there then
        with CaptureQueriesContext(connection) as found:
            text_of(client, three[0])
        return len(found)

    CalibrationGate.objects.create(campaign=nuggets.campaign, least_kappa="0.5")
    before = queries()
    for name in ("Ada assigned", "Kim assigned", "Zoe assigned"):
        nugget_labels(nuggets, name, "model", N_SECOND)
    assert queries() == before


def test_grades_of_a_condition_are_called_as_it_is_now(client: Client, n_model: Condition, graded: list[QrelsSource]):
    QrelsSource.objects.filter(pk=graded[1].pk).update(condition=n_model)
    assert [row["first"] for row in rows(client, graded[0])][-1] != "Renamed"
    Condition.objects.filter(pk=n_model.pk).update(name="Renamed")
    assert "Renamed" in {row[side] for row in rows(client, graded[0]) for side in ("first", "second")}


def test_the_command_writes_the_same_file(client: Client, three: list[Condition], capsys):
    options = {"condition": "NIST assigned", "form": "pairs.csv", "measure": "a", "judges": "Leo assigned"}
    out = io.StringIO()
    call_command("export", "judges", "study", stdout=out, **options)
    assert out.getvalue() == file_of(client, three[0], "pairs.csv", measure="a", judges="Leo assigned")
    with pytest.raises(CommandError, match="These label something else, or are unknown: Nobody"):
        call_command("export", "judges", "study", **options | {"judges": "Nobody"})
