"""What a judge favours besides quality: the page, its sentence, the table, the figure and the files."""

import csv
import io
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.campaigns.actions import create_condition
from assessor.campaigns.models import Campaign, Condition, Judge
from assessor.runtime.process_cache import cache
from metaeval.actions import create_comparison, import_table, run
from metaeval.bias_words import sentence
from metaeval.biases import Bias
from metaeval.models import Comparison, ScoreTable
from metaeval.stats.bias import (
    PERMUTATIONS,
    Effect,
    Interaction,
    OfFamily,
    PermutationTest,
    fit_trait,
    matched_residuals,
    team_orders,
    trait_effect,
)
from metaeval.stats.bootstrap import Bounds
from metaeval.stats.generalizability import generalizability, variance_components
from tests.assignment.conftest import run_file
from tests.assignment.scored import import_banks, label
from tests.conftest import Importer, client_of

RUNS, TOPICS = 16, 12
TAGS = [f"run{at:02}" for at in range(RUNS)]
# Every other team of two is OpenAI's; of the last run nobody said who wrote it, and one is by two families.
OWN = np.array([at // 2 % 2 == 0 for at in range(RUNS - 1)])
LIST = "tag,team,task,type,priority,aliases,generator\n" + "".join(
    f"{tag},team{at // 2},RAG,,,,{generator}\n"
    for at, (tag, generator) in enumerate(
        zip(TAGS, ["meta openai", *(("openai", "qwen")[at // 2 % 2] for at in range(1, RUNS - 1)), ""], strict=True)
    )
)
SEED = 5


@pytest.fixture
def client(olga) -> Client:
    return client_of(olga)


def scores(favour: float, seed: int = 1) -> tuple[Any, Any, Any]:
    """Return people's and a judge's scores and lengths, (runs, topics): the judge compresses the scale, and favours."""
    rng = np.random.default_rng(seed)
    own = np.append(OWN, False)
    true = 0.35 + 0.15 * own + rng.normal(0, 0.1, RUNS)
    people = true[:, None] + rng.normal(0, 0.1, (RUNS, TOPICS))
    judged = (0.2 + 0.6 * true + favour * own)[:, None] + rng.normal(0, 0.05, (RUNS, TOPICS))
    words = rng.integers(50, 400, (RUNS, TOPICS)).astype(float)
    words[1, 3] = 0  # an empty answer has no length
    return people.clip(0, 1).round(4), judged.clip(0, 1).round(4), words


def kept_table(campaign: Campaign, folder: Path, name: str, found: Any, words: Any) -> ScoreTable:
    rows = [
        f"{TAGS[at]},t{topic:02},{found[at, topic]},{words[at, topic]}\n"
        for at in range(RUNS)
        for topic in range(TOPICS)
    ]
    path = folder / f"{name}.csv"
    path.write_text("run_id,topic,vstrict,length\n" + "".join(rows))
    return import_table(campaign=campaign, name=name, path=path, file_name=path.name, run="", acting_user=None)


def compare(first: object, second: object, campaign: Campaign) -> Comparison:
    calculation = create_comparison(
        campaign=campaign, first=first, second=second, policy="zero", draws=20, seed=SEED, acting_user=None
    )
    done = run(calculation)
    assert done.state == "done", done.why
    return calculation.comparison


def of_tables(campaign: Campaign, folder: Path, favour: float, seed: int = 1) -> Comparison:
    people, judged, words = scores(favour, seed)
    tables = [kept_table(campaign, folder, *one, words) for one in (("People", people), ("GPT", judged))]
    return compare(*tables, campaign)


@pytest.fixture
def listed(campaign: Campaign, import_file: Importer) -> Campaign:
    """The campaign with the list of runs."""
    assert import_file(campaign, "run_list", LIST).state == "done"
    return campaign


def address(comparison: Comparison, more: str = "") -> str:
    return f"/campaigns/study/comparisons/{comparison.pk}/bias/{more}"


def page(client: Client, comparison: Comparison, more: str = "") -> str:
    response = client.get(address(comparison, more))
    assert response.status_code == 200, response.status_code
    return unescape(response.content.decode())


def headline(text: str) -> str:
    return re.sub(r"</?b>", "", text.split('<p class="in sum">')[1].split("</p>")[0])


def table(client: Client, comparison: Comparison, more: str = "") -> dict[tuple[str, str], dict[str, str]]:
    """Return the rows of the CSV by bias, and reliability or family."""
    response = client.get(address(comparison, f"table.csv{more}"))
    assert response.status_code == 200
    rows = csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode()))  # type: ignore[attr-defined]
    return {(row["bias"], "exact" if row["reliability"] == "1.0" else row["family"]): row for row in rows}


def test_the_table_has_what_the_statistics_give(client: Client, listed: Campaign, tmp_path: Path):
    compared = of_tables(listed, tmp_path, 0.1)
    rows = table(client, compared)
    people, judged, words = (one[: RUNS - 1] for one in scores(0.1))
    means = people.mean(axis=1), judged.mean(axis=1)
    plain = (means[1] - means[0])[OWN].mean() - (means[1] - means[0])[~OWN].mean()
    assert float(rows["difference", "openai"]["difference"]) == pytest.approx(plain)
    orders = team_orders([f"team{at // 2}" for at in range(RUNS - 1)], PERMUTATIONS, SEED)
    reliability = generalizability(variance_components(scores(0.1)[0]), TOPICS).value
    assert 0.5 < reliability < 0.99
    for name, rho in (("exact", 1.0), ("openai", reliability)):
        expected = trait_effect(means[1], means[0], OWN, orders, (judged, people), reliability=rho)
        found = rows["family", name]
        assert float(found["reliability"]) == pytest.approx(rho)
        figures = (expected.slope, expected.residual, expected.effect, expected.bounds.low, expected.bounds.high)
        columns = ("slope", "difference", "effect", "low", "high", "p", "least_effect")
        assert [float(found[one]) for one in columns] == pytest.approx([*figures, expected.p, expected.least])
        assert (found["n"], found["family"], found["why"]) == ("15", "openai", "")
    left = matched_residuals(judged, people, words)
    matched = np.nanmean(left, axis=1)
    assert float(rows["matched", "openai"]["difference"]) == pytest.approx(matched[OWN].mean() - matched[~OWN].mean())
    assert int(rows["matched", "openai"]["n"]) == (~np.isnan(left)).sum()
    # Length is tested over all runs, whoever wrote them.
    people, judged, words = scores(0.1)
    lengths = np.log2(np.nanmean(np.where(words > 0, words, np.nan), axis=1))
    length = rows["length", "exact"]
    effect = fit_trait(judged.mean(axis=1), people.mean(axis=1), lengths).effect
    assert float(length["effect"]) == pytest.approx(float(effect))
    assert (length["n"], length["family"]) == ("16", "")


def test_a_judge_that_favours_its_family_is_called_so(client: Client, listed: Campaign, tmp_path: Path):
    compared = of_tables(listed, tmp_path, 0.1)
    text, rows = page(client, compared), table(client, compared)
    exact, known = rows["family", "exact"], rows["family", "openai"]
    assert float(exact["p"]) < 0.001
    assert 0.001 < float(known["p"]) < 0.05
    assert headline(text).startswith(
        "GPT gives runs by OpenAI more than expected from the scores of People, in Vital, strict: "
        f"{float(exact['effect']):+.3f} (p < 0.001) if the scores of People are exact, {float(known['effect']):+.3f} "
        f"(p {float(known['p']):.3f}) if their error is allowed for."
    )
    least = max(float(exact["least_effect"]), float(known["least_effect"]))
    assert f"With these 8 and 7 runs, only an effect of {least:.3f} or more would be found" in headline(text)
    assert "Nobody said of which family this judge is: choose the family that you test." in text
    assert "Left out, as nobody said who wrote them: 1 run." in text


def test_a_judge_that_compresses_the_scale_is_not_taken_for_one_that_favours(
    client: Client, listed: Campaign, tmp_path: Path
):
    compared = of_tables(listed, tmp_path, 0.0)
    rows = table(client, compared)
    plain = rows["difference", "openai"]
    assert float(plain["difference"]) < 0
    assert float(plain["p"]) < 0.05
    assert float(rows["family", "exact"]["p"]) > 0.05
    told = headline(page(client, compared))
    assert told.startswith("No preference of GPT for runs by OpenAI is shown in Vital, strict: ")
    assert told.endswith(
        f" The plain difference of {float(plain['difference']):+.3f} (p {float(plain['p']):.3f}) may come from how "
        f"good these runs are: the judge's scores rise by {float(rows['family', 'exact']['slope']):.2f} where those of "
        "People rise by 1."
    )


def test_another_family_can_be_tested(client: Client, listed: Campaign, tmp_path: Path):
    compared = of_tables(listed, tmp_path, 0.1)
    text = page(client, compared)
    assert re.findall(r'href="\?family=(\w+)"', text) == ["openai", "meta", "qwen"]
    assert "GPT gives runs by Qwen less than expected" in headline(page(client, compared, "?family=qwen"))
    assert headline(page(client, compared, "?family=meta")) == (
        "1 run by Meta and 14 runs by others are known: it takes 2 of each to test a preference."
    )
    # What needs no family is told all the same.
    assert set(table(client, compared, "?family=meta")) == {("length", "exact"), ("length", "")}
    for wrong in ("?family=mistral", "?family=gpt", "?measure=length", "?measure=none"):
        assert client.get(address(compared, wrong)).status_code == 404, wrong


def test_without_generators_nothing_is_guessed(client: Client, campaign: Campaign, tmp_path: Path):
    compared = of_tables(campaign, tmp_path, 0.1)
    assert headline(page(client, compared)).startswith(
        "Nobody said which models wrote the runs, so no preference can be"
    )
    assert client.get(address(compared, "figures/families.json")).status_code == 404


def test_generators_that_come_later_count_at_once(client: Client, campaign: Campaign, import_file, tmp_path: Path):
    compared = of_tables(campaign, tmp_path, 0.1)
    page(client, compared)
    assert import_file(campaign, "run_list", LIST).state == "done"
    assert "GPT gives runs by OpenAI more" in headline(page(client, compared))


def test_the_files_of_the_table_and_the_figure(client: Client, listed: Campaign, tmp_path: Path):
    compared = of_tables(listed, tmp_path, 0.1)
    tex = b"".join(client.get(address(compared, "table.tex")).streaming_content).decode()  # type: ignore[attr-defined]
    assert "Beyond quality, their error allowed for & 15 & $0." in tex
    rows = list(csv.DictReader(io.StringIO(_text(client, compared, "figures/families.csv"))))
    by = {group: sum(group in row.values() for row in rows) for group in ("OpenAI", "other families", "family unknown")}
    assert by == {"OpenAI": 8, "other families": 7, "family unknown": 1}
    out = tmp_path / "bias.csv"
    call_command("export", "bias", "study", comparison=str(compared), family="qwen", output=str(out))
    assert out.read_text() == _text(client, compared, "table.csv?family=qwen")


def _text(client: Client, comparison: Comparison, more: str) -> str:
    return b"".join(client.get(address(comparison, more))).decode()


# Conditions of labels


BANKS = {
    "t1": [("purring heals", "vital"), ("cats purr", "vital"), ("kittens purr", "okay")],
    "t2": [("glass is melted", "vital"), ("glass is sorted", "okay")],
}
PEOPLES = {"t1": ["ssn", "spn", "nsn", "npn", "ssp", "nnn"], "t2": ["ss", "sn", "nn", "np", "sp", "nn"]}
MODELS = {"t1": ["ssn", "ssn", "nsn", "npn", "ssn", "nnn"], "t2": ["sn", "sn", "nn", "nn", "sn", "sn"]}
SIX = TAGS[:6]


@pytest.fixture
def edits(campaign: Campaign, import_file: Importer) -> Condition:
    """Nuggets, and six runs that answered both topics."""
    for tag in SIX:
        lines = run_file(tag, {"t1": ["Cats purr."], "t2": ["Glass is melted and sorted."]})
        assert import_file(campaign, "runs", lines, name=tag).state == "done"
    lines = LIST.splitlines(keepends=True)[: 1 + len(SIX)]
    assert import_file(campaign, "run_list", "".join(lines)).state == "done"
    return import_banks(campaign, import_file, BANKS)


def labelled(edits: Condition, name: str, letters: dict[str, list[str]], kind: str, **parameters: object) -> Condition:
    judge = Judge.objects.create(kind=kind, name=name, parameters=parameters)
    method = "AutoAssign" if kind == "model" else "imported"
    condition = Condition(
        campaign=edits.campaign, name=name, kind="assignment", method=method, nuggets=edits, judge=judge
    )
    labels = {qid: dict(zip(SIX, of_topic, strict=True)) for qid, of_topic in letters.items()}
    return label(create_condition(condition, acting_user=None), labels)


@pytest.fixture
def people(edits: Condition) -> Condition:
    return labelled(edits, "Edits/Manual", PEOPLES, "imported", by="people")


@pytest.fixture
def model(edits: Condition) -> Condition:
    return labelled(edits, "Edits/Auto", MODELS, "model", model="gpt", family="openai")


def test_the_judges_own_family_comes_first(client: Client, people: Condition, model: Condition):
    model.campaign.runs.filter(tag="run02").update(generator="anthropic")
    text = page(client, compare(people, model, model.campaign))
    assert re.findall(r'href="\?family=(\w+)"', text)[0] == "openai"
    assert "OpenAI is this judge\u2019s own family." in text
    other = labelled(people.nuggets, "Other", MODELS, "model", model="claude", family="qwen")
    text = page(client, compare(people, other, model.campaign))
    assert re.findall(r'href="\?family=(\w+)"', text)[0] == "qwen"
    assert "Anthropic is not this judge\u2019s own family." in page(
        client, Comparison.objects.earliest("-pk"), "?family=anthropic"
    )


def slope_on_places(batch: int) -> float:
    """Return the slope of the mean differences of nuggets' labels on their places in a call, within topics."""
    values = {"s": 1.0, "p": 0.5, "n": 0.0}
    products = squares = 0.0
    for qid, nuggets in BANKS.items():
        both = list(zip(MODELS[qid], PEOPLES[qid], strict=True))
        differences = [np.mean([values[m[at]] - values[p[at]] for m, p in both]) for at in range(len(nuggets))]
        places = [at % batch for at in range(len(nuggets))]
        products += sum((at - np.mean(places)) * one for at, one in zip(places, differences, strict=True))
        squares += sum((at - np.mean(places)) ** 2 for at in places)
    return products / squares


def test_the_place_of_a_nugget_in_a_call(client: Client, people: Condition, model: Condition):
    compared = compare(people, model, model.campaign)
    place = table(client, compared)["place", ""]
    assert float(place["difference"]) == pytest.approx(slope_on_places(10))
    assert place["n"] == "5"
    assert "One place further down, of 10 in a call" in page(client, compared)


def test_places_are_those_in_a_call_and_not_in_the_bank(client: Client, people: Condition, model: Condition):
    protocols = type(model.protocol).objects.filter(pk=model.protocol_id)
    compared = compare(people, model, model.campaign)
    protocols.update(assign_batch=2)  # the third nugget of t1 is the first of another call
    assert float(table(client, compared)["place", ""]["difference"]) == pytest.approx(slope_on_places(2))
    assert slope_on_places(2) != pytest.approx(slope_on_places(10))
    cache.clear()
    protocols.update(assign_batch=1)
    assert ("place", "") not in table(client, compared)


def test_labels_from_a_file_have_no_places(client: Client, people: Condition, edits: Condition):
    imported = labelled(edits, "Imported", MODELS, "imported", by="model")
    assert ("place", "") not in table(client, compare(people, imported, edits.campaign))


def test_two_judges_are_compared_without_people(client: Client, edits: Condition, model: Condition):
    other = labelled(edits, "Other", PEOPLES, "model", model="qwen", family="qwen")
    compared = compare(other, model, edits.campaign)
    rows = table(client, compared)
    assert set(rows) == {("judges", "qwen"), ("judges", "openai"), ("judges", "qwen openai"), ("place", "")}
    judged = [rows["judges", families] for families in ("qwen", "openai", "qwen openai")]
    assert [row["n"] for row in judged] == ["2", "4", "6"]
    assert float(judged[0]["difference"]) + float(judged[1]["difference"]) == pytest.approx(
        float(judged[2]["difference"])
    )
    assert headline(page(client, compared)).startswith("Against each other, Edits/Auto and Other ")


def test_two_judges_are_tested_by_their_own_families_alone(client: Client, edits: Condition, model: Condition):
    other = labelled(edits, "Other", PEOPLES, "model", model="qwen", family="qwen")
    compared = compare(other, model, edits.campaign)
    assert re.findall(r'href="\?family=(\w+)"', page(client, compared)) == ["openai"]
    assert client.get(address(compared, "?family=qwen")).status_code == 404
    # Where nobody said of which family the judge is, it is the one that is asked for.
    unknown = labelled(edits, "Unknown", MODELS, "model", model="gpt")
    compared = compare(other, unknown, edits.campaign)
    assert set(table(client, compared, "?family=openai")) >= {("judges", "qwen"), ("judges", "openai")}


def test_there_is_no_page_where_people_are_the_judge(client: Client, people: Condition, model: Condition):
    compared = compare(model, people, model.campaign)
    assert client.get(address(compared)).status_code == 404
    assert "/bias/" not in client.get(f"/campaigns/study/comparisons/{compared.pk}/").content.decode()
    other_way = compare(people, model, model.campaign)
    assert address(other_way) in client.get(f"/campaigns/study/comparisons/{other_way.pk}/").content.decode()


def test_what_can_no_longer_be_compared_says_why(client: Client, listed: Campaign, import_file, tmp_path: Path):
    compared = of_tables(listed, tmp_path, 0.1)
    assert "What is tested" in page(client, compared)
    listed.runs.filter(tag="run15").delete()
    assert (
        import_file(listed, "run_list", "tag,team,task,type,priority,aliases\nrun14,team7,RAG,,,run15\n").state
        == "done"
    )
    assert "People has several names of one run: run14." in page(client, compared)
    response = client.get(address(compared, "table.csv"))
    assert response.status_code == 404


def test_the_queries_of_the_page_do_not_grow(client: Client, people: Condition, model: Condition, import_file):
    compared = compare(people, model, model.campaign)

    def queries() -> int:
        cache.clear()
        with CaptureQueriesContext(
            connection,
        ) as found:
            page(client, compared)
        return len(found)

    before = queries()
    rows = "".join(f"more{at},team,RAG,,,,openai\n" for at in range(9))
    assert import_file(model.campaign, "run_list", LIST.splitlines(keepends=True)[0] + rows).state == "done"
    other = labelled(people.nuggets, "Other", PEOPLES, "model", model="qwen", family="qwen")
    compare(people, other, model.campaign)
    assert queries() == before


# The sentence


def effect(value: float, p: float, reliability: float = 1.0) -> Effect:
    return Effect(45, reliability, 0.7, value, value, Bounds(None, None), p, 0.044)


def bias(*effects: Effect, **fields: Any) -> Bias:
    usual = {
        "judge": "GPT-4o",
        "reference": "people",
        "names": ("people", "GPT-4o"),
        "measure": "vstrict",
        "family": "openai",
        "is_own": True,
    }
    usual |= {"by_people": True, "own": 12, "others": 33, "unknown": [], "effects": effects}
    return Bias(**usual | {"difference": PermutationTest(-0.0386, 0.2, 0.05)} | fields)


def words(found: Bias) -> str:
    return "".join(part.text for part in sentence(found))


@pytest.mark.parametrize(
    ("effects", "begins"),
    [
        (((0.05, 0.01), (0.04, 0.03)), "GPT-4o gives runs by OpenAI more than expected from the scores of people"),
        (((-0.05, 0.01), (-0.04, 0.03)), "GPT-4o gives runs by OpenAI less than expected from the scores of people"),
        (
            ((0.05, 0.01), (0.02, 0.2)),
            "Whether GPT-4o favours runs by OpenAI in Vital, strict depends on how exact the scores of people are: ",
        ),
        (
            ((0.01, 0.4), (-0.05, 0.01)),
            "Whether GPT-4o favours runs by OpenAI in Vital, strict depends on how exact the scores of people are: ",
        ),
        (
            ((0.05, 0.01), (-0.05, 0.01)),
            "Whether GPT-4o favours runs by OpenAI in Vital, strict depends on how exact the scores of people are: ",
        ),
        (((0.006, 0.68), (-0.005, 0.77)), "No preference of GPT-4o for runs by OpenAI is shown in Vital, strict: "),
        (((0.006, 0.05), (0.005, 0.05)), "No preference of GPT-4o for runs by OpenAI is shown in Vital, strict: "),
    ],
)
def test_the_sentence_follows_both_effects(effects, begins):
    assert words(
        bias(*(effect(value, p, rho) for (value, p), rho in zip(effects, (1.0, 0.92), strict=True)))
    ).startswith(begins)


def test_the_sentence_gives_the_numbers():
    found = bias(effect(0.00625, 0.683), effect(-0.0046, 0.772, 0.92))
    assert words(found) == (
        "No preference of GPT-4o for runs by OpenAI is shown in Vital, strict: +0.006 (p 0.683) if the scores of "
        "people are exact, -0.005 (p 0.772) if their error is allowed for. With these 12 and 33 runs, only an effect "
        "of 0.044 or more would be found in four of five cases."
    )
    plain = PermutationTest(-0.0386, 0.031, 0.05)
    assert words(found._replace(difference=plain)).endswith(
        " The plain difference of -0.039 (p 0.031) may come from how good these runs are: the judge's scores rise by "
        "0.70 where those of people rise by 1."
    )
    few = effect(0.00625, 0.683)._replace(least=1.0)
    assert words(bias(few)).endswith(" These 12 and 33 runs are too few to find an effect of any size.")
    none = effect(np.nan, np.nan, 0.5)
    assert words(bias(few, none)) == words(bias(few))
    assert words(bias(none)) == ("Whether GPT-4o favours runs by OpenAI can't be told from these runs and scores.")
    assert "plain" not in words(bias(effect(0.05, 0.0004), difference=plain))
    assert "in Vital, strict: +0.050 (p < 0.001). With these" in words(bias(effect(0.05, 0.0004)))


@pytest.mark.parametrize(
    ("value", "p", "told"),
    [
        (
            0.05,
            0.01,
            "Against each other, GPT-4o and people give runs of their own family (OpenAI and Qwen) more: +0.050",
        ),
        (
            -0.05,
            0.01,
            "Against each other, GPT-4o and people give runs of their own family (OpenAI and Qwen) less: -0.050",
        ),
        (0.05, 0.3, "Against each other, GPT-4o and people show no preference for runs of their own family (OpenAI"),
    ],
)
def test_the_sentence_of_two_judges(value, p, told):
    families = [OfFamily("openai", 3, value / 2), OfFamily("qwen", 2, value / 2)]
    found = bias(by_people=False, interaction=Interaction(families, PermutationTest(value, p, 0.1)))
    assert words(found).startswith(told)
    none = Interaction([], PermutationTest(np.nan, np.nan, np.nan))
    assert words(bias(by_people=False, interaction=none)).startswith("These judges can't be tested against each other")
    alike = Interaction(families, PermutationTest(0.0, np.nan, np.nan))
    assert words(bias(by_people=False, interaction=alike)).startswith("These judges can't be tested against each other")
