"""Pages of comparisons: made, followed, looked at, downloaded."""

import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from assessor.campaigns.models import Condition, Event
from metaeval.actions import calculate_again, create_comparison, run
from metaeval.models import Calculation, Comparison, ScoreTable
from tests.assignment.scored import auto_condition, label
from tests.conftest import client_of
from tests.judging import all_judged, asked, change, judged, put

BASE, EXPORTS = "/campaigns/study/comparisons/", "/campaigns/study/exports/"


@pytest.fixture
def client(olga) -> Client:
    return client_of(olga)


def post(client: Client, first: Condition, second: Condition, **given: object):
    sides = {name: f"Condition-{one.pk}" for name, one in (("first", first), ("second", second))}
    return client.post(BASE, sides | {"policy": "zero", "draws": 20, "seed": 3} | given)


@pytest.fixture
def compared(client: Client, first: Condition, second: Condition) -> Comparison:
    assert post(client, first, second).status_code == 302
    calculation = Calculation.objects.get()
    assert run(calculation).state == "done"
    return calculation.comparison


def page(client: Client, comparison: Comparison, more: str = "") -> str:
    response = client.get(f"{BASE}{comparison.pk}/{more}")
    assert response.status_code == 200, response.status_code
    return response.content.decode()


def test_a_comparison_is_made_and_followed(client: Client, first: Condition, second: Condition):
    response = post(client, first, second, topics=" t1\nt2", name="Mine")
    comparison = Comparison.objects.get()
    assert response["Location"] == f"{BASE}{comparison.pk}/"
    assert (comparison.name, comparison.topics, comparison.seed) == ("Mine", ["t1", "t2"], 3)
    text = page(client, comparison)
    assert "Waiting for the worker" in text
    assert 'hx-trigger="every 1s"' in text
    assert "vega/embed.js" not in text
    calculation = comparison.calculations.get()
    Calculation.objects.update(state="running", percent=35, stage="rankings of runs")
    response = client.get(f"{BASE}{comparison.pk}/", headers={"HX-Request": "true"})
    assert "rankings of runs" in response.content.decode()
    assert "HX-Refresh" not in response
    Calculation.objects.update(state="waiting")
    run(calculation)
    response = client.get(f"{BASE}{comparison.pk}/", headers={"HX-Request": "true"})
    assert response["HX-Refresh"] == "true"
    assert "Mine" in client.get(BASE).content.decode()


def test_what_cannot_be_compared_is_told(client: Client, first: Condition):
    text = post(client, first, first).content.decode()
    assert "A comparison is of two different things." in text
    assert not Comparison.objects.exists()
    other = label(auto_condition(first.nuggets, "Only"), {"t2": {"team.one": "ss"}})
    post(client, first, other, topics="t1")
    run(Calculation.objects.get())
    text = page(client, Comparison.objects.get())
    assert "Nothing to compare." in text
    assert "Only has none of the topics that are asked for." in text
    assert "data-figure" not in text


def test_the_page_shows_what_was_found(client: Client, compared: Comparison):
    text = page(client, compared)
    assert "<dt>Labels without a partner</dt><dd>0 and 0</dd>" in text
    assert '<span class="h h3"><b>30.8 %</b> <span>4</span></span>' in text
    assert "0.769" in text  # equal
    assert "vega/embed.js" in text
    assert f'data-figure="{BASE}{compared.pk}/figures/scatter-1-vstrict.json"' in text
    assert "scatter-2-v.json" not in text
    assert "scatter-2-v.json" in page(client, compared, "?measure=v")
    assert client.get(f"{BASE}{compared.pk}/?measure=x").status_code == 404
    assert "have changed since" not in text


def told(text: str) -> str:
    """Return the headline of a page, as a reader has it."""
    return " ".join(re.sub(r"<[^>]+>", "", text.split('<p class="in sum">')[1].split("</p>")[0]).split())


def test_the_headline_says_what_the_result_says(client: Client, compared: Comparison):
    text = page(client, compared)
    result = compared.calculations.get().result
    statistics, labels = result["scores"]["measures"]["vstrict"]["statistics"], result["labels"]
    run = statistics["tau_run"]["value"]
    low, high = (statistics["tau_run"]["interval"][name] for name in ("low", "high"))
    assert told(text).startswith("Only 2 topics, too few to rank runs by. Between judge of First ")
    for words in (
        f": τ {run:.2f} [{low:.2f}, {high:.2f}]. They give the same label to 77 % of 13 items, κ ",
        f"κ {labels['unweighted']['value']:.2f}; where they differ, judge of Second is ",
    ):
        assert words in told(text)
    figures = re.findall(r"<div><dt>(.*?)</dt><dd>(.*?)</dd><dd class=\"under any\">(.*?)</dd></div>", text)
    assert figures[0] == ("Rankings of runs", f"τ {run:.2f}", f"{low:.2f} to {high:.2f}")
    assert ("Equal labels", "77 %", "of 13") in figures
    assert f'aria-label="τ {run:.2f}, interval {low:.2f} to {high:.2f}' in text


def test_the_page_shows_how_far_the_best_runs_are_agreed_on(client: Client, compared: Comparison):
    text = page(client, compared)
    card = text.partition('aria-labelledby="top">')[2].split("</section>")[0]
    measure = compared.calculations.get().result["scores"]["measures"]["vstrict"]
    top, statistics = measure["top"], measure["statistics"]
    assert [point["k"] for point in top["first"]] == [3]
    words = " ".join(re.sub(r"<[^>]+>", "", card).split())
    best = ", ".join(top["best"]["first"])
    assert f"Best run by First: {best}; by Second: {', '.join(top['best']['second'])}" in words
    loss = statistics["best_run_loss"]
    assert loss["interval"]["draws"] == statistics["best_run_found"]["n"] == 20
    assert (
        f"in {100 * statistics['best_run_found']['value']:.0f} %, and loses {loss['interval']['mean']:.3f} on" in words
    )
    assert f"<b>{top['first'][0]['tau']:.3f}</b>" in card
    assert f'data-figure="{BASE}{compared.pk}/figures/top-1-vstrict.json"' in card
    assert text.count("top-1-vstrict.json?") == 0
    assert text.count('id="tip"') == 1
    assert "BCa interval" in text
    assert 'href="#top"' in text
    assert 'id="top"' not in page(client, compared, "?measure=length")
    assert "top-2-v.json" in page(client, compared, "?measure=v")


def test_results_from_before_there_were_best_runs_are_shown(client: Client, compared: Comparison):
    calculation = compared.calculations.get()
    for measure in calculation.result["scores"]["measures"].values():
        measure.pop("top", None)
        for found in measure["statistics"].values():
            found.get("interval", {}).pop("bca", None)
        for name in ("best_run_found", "best_run_loss"):
            measure["statistics"].pop(name, None)
    calculation.save()
    text = page(client, compared)
    assert 'id="top"' not in text
    assert 'href="#top"' not in text
    assert "top-1-vstrict" not in text
    assert "scatter-1-vstrict.json" in text


def test_the_page_has_a_row_of_contents_and_one_menu_of_files(client: Client, compared: Comparison):
    text = page(client, compared)
    contents = text.split('aria-label="On this page">')[1].split("</nav>")[0]
    places = re.findall(r'href="#([\w-]+)"', contents)
    assert places[0] == "summary"
    assert places[-1] == "method"
    assert all(f'id="{place}"' in text for place in places)
    menu = text.split('id="files-menu"')[1].split("</div>")[0]
    assert "statistics.csv" in menu
    assert text.count("statistics.csv") == 2  # its address and its name


def test_two_sides_are_looked_at_before_they_are_compared(
    client: Client, first: Condition, second: Condition, import_file
):
    def looked(one: object, other: object) -> str:
        text = client.get(BASE, {"first": one, "second": other}).content.decode()
        return " ".join(re.sub(r"<[^>]+>", " ", text.split('id="preview"')[1].split("<details")[0]).split())

    assert import_file(first.campaign, "qrels", "t1 0 d1 3\n", source="A", by="people").state == "done"
    keys = [
        f"Condition-{first.pk}",
        f"Condition-{second.pk}",
        f"QrelsSource-{first.campaign.qrels_sources.get(name='A').pk}",
    ]
    assert "3 runs and 2 topics in common Rankings and labels are compared." in looked(keys[0], keys[1])
    assert "Grades can only be compared with grades." in looked(keys[0], keys[2])
    assert "Choose two different sides." in looked(keys[0], keys[0])
    assert "in common" not in looked(keys[0], "x")
    sent = client.post(BASE, {"first": keys[0], "second": keys[1], "look": "1"})  # without scripts
    assert "3 runs and 2 topics in common" in sent.content.decode()
    assert not Comparison.objects.exists()
    rows = SimpleUploadedFile("published.csv", b"run_id,topic,vstrict\nteam.one,t1,0.5\nother,t1,0.2\n")
    client.post(f"{BASE}tables/", {"file": rows})
    table = f"ScoreTable-{ScoreTable.objects.get().pk}"
    assert "1 run and 1 topic in common Only rankings of runs are compared." in looked(keys[0], table)


def test_figures_of_measures_with_odd_names_are_shown(client: Client, campaign, olga):
    rows = b"run_id,topic,P@5,m\na,t1,0.1,1\nb,t1,0.2,0\na,t2,0.3,1\nb,t2,0.4,0\n"
    for name in ("one.csv", "two.csv"):
        assert client.post(f"{BASE}tables/", {"file": SimpleUploadedFile(name, rows)}).status_code == 302
    one, two = ScoreTable.objects.all()
    sides = {"first": f"ScoreTable-{one.pk}", "second": f"ScoreTable-{two.pk}"}
    client.post(BASE, sides | {"policy": "zero", "draws": 20})
    assert run(Calculation.objects.get()).state == "done"
    comparison = Comparison.objects.get()
    assert f"{BASE}{comparison.pk}/figures/scatter-1-P_5.json" in page(client, comparison)
    text = page(client, comparison, "?measure=m")
    assert "figures/scatter-2-m.json" in text
    assert "P_5" not in text


def test_score_tables_are_sorted(client: Client, compared: Comparison):
    def runs(text: str) -> list[str]:
        table = text.split('id="scores-1"')[1].split("</table>")[0]
        return re.findall(r'<th scope="row" class="any">(team\.\w+)<', table)

    assert runs(page(client, compared)) == ["team.one", "team.two", "team.empty"]
    assert runs(page(client, compared, "?sort=astrict")) == ["team.empty", "team.one", "team.two"]
    assert runs(page(client, compared)) == ["team.one", "team.two", "team.empty"]
    assert client.get(f"{BASE}{compared.pk}/?sort=x").status_code == 404


def test_the_cells_that_differ_are_a_click_away(client: Client, compared: Comparison):
    topic = compared.campaign.topics.get(qid="t1")
    assert f"{BASE}{compared.pk}/topics/{topic.pk}/" in page(client, compared)
    text = page(client, compared, f"topics/{topic.pk}/").split('id="differ"')[1]
    assert "cats purr when content" in text
    assert "partial_support" in text
    assert text.count('class="any wide"') == 2
    assert "glass is sorted" not in text
    assert client.get(f"{BASE}{compared.pk}/topics/{topic.pk + 1000}/").status_code == 404


def test_from_each_label_that_differs_its_way_is_a_click_away(client: Client, compared: Comparison, as_anna: Client):
    topic = compared.campaign.topics.get(qid="t1")
    rows = page(client, compared, f"topics/{topic.pk}/").split('id="differ"')[1].split("<tr>")[2:]
    assert len(rows) == 2
    for row in rows:
        text, first, second = re.findall(r'dir="auto">(.*?)<details|<td>(\w+) <a href="(.*?)"', row)
        for side, (_, given, address) in ((compared.first, first), (compared.second, second)):
            way = client.get(address).content.decode()
            assert (str(side) in way, text[0] in way) == (True, True)
            assert f'<dt>labels</dt><dd class="any"><bdi>{given}</bdi></dd>' in way
            assert as_anna.get(address).status_code == 404


def test_from_pairs_of_support_the_way_of_each_label_is_a_click_away(
    client: Client, first_support: Condition, second_support: Condition
):
    text = page_of_pairs(client, first_support, second_support)
    cells = re.findall(
        r'<td class="any"><a href="(/campaigns/study/labels/support/\d+/[\d.]+/)"[^>]*>([\w ]+)</a>', text
    )
    assert len(cells) > 2
    for address, state in cells:
        response = client.get(address)
        assert response.status_code == 200
        assert f"<bdi>{state}</bdi>" in response.content.decode()


def page_of_pairs(client: Client, first: Condition, second: Condition) -> str:
    asked = {"a": first.pk, "b": second.pk, "differ": 1}
    return client.get("/campaigns/study/pairs/", asked).content.decode()


def test_support_leads_to_its_pairs(client: Client, first_support: Condition, second_support: Condition):
    post(client, first_support, second_support)
    run(Calculation.objects.get())
    comparison = Comparison.objects.get()
    text = page(client, comparison)
    topic = comparison.campaign.topics.get(qid="t1")
    address = (
        f"/campaigns/study/pairs/?a={first_support.pk}&amp;b={second_support.pk}&amp;differ=1&amp;topic={topic.pk}"
    )
    assert address in text
    assert client.get(address.replace("&amp;", "&")).status_code == 200


def test_results_are_files(client: Client, compared: Comparison):
    def text(name: str) -> str:
        response = client.get(f"{BASE}{compared.pk}/files/{name}")
        assert response.status_code == 200
        return response.getvalue().decode()

    assert json.loads(text("comparison.json"))["labels"]["pairs"] == 13
    assert text("statistics.csv").startswith("measure,statistic,value")
    assert "booktabs" not in text("taus.tex")
    assert "\\toprule" in text("labels.tex")
    assert client.get(f"{BASE}{compared.pk}/files/other.csv").status_code == 404
    assert Event.objects.filter(verb="exported").count() == 4


def test_figures_are_files(client: Client, compared: Comparison):
    address = f"{BASE}{compared.pk}/figures/labels"
    light, dark = (json.loads(client.get(f"{address}.json?theme={theme}").content) for theme in ("light", "dark"))
    assert light["config"]["background"] != dark["config"]["background"]
    assert client.get(f"{address}.svg")["Content-Type"] == "image/svg+xml"
    assert client.get(f"{address}.pdf").content.startswith(b"%PDF")
    assert client.get(f"{address}.png").content.startswith(b"\x89PNG")
    rows = client.get(f"{address}.csv").getvalue().decode().splitlines()
    assert rows[0].startswith("layer,row,column,count")
    assert "1,not_support,not_support,5," in rows[1]
    for wrong in (f"{address}.gif", f"{address}.svg?theme=blue", f"{BASE}{compared.pk}/figures/none.svg"):
        assert client.get(wrong).status_code == 404


def test_an_old_result_says_so_and_is_computed_again(client: Client, compared: Comparison, second: Condition):
    put(all_judged(second)[:1], version=9)
    assert "Changed since this was computed, perhaps: Second." in page(client, compared)
    response = client.post(f"{BASE}{compared.pk}/again/")
    assert response.status_code == 302
    assert compared.calculations.count() == 2
    text = page(client, compared)
    assert "Waiting for the worker" in text
    assert "Labels without a partner" in text  # the last result stays until there is a new one
    run(calculate_again(compared, acting_user=None))
    assert "may have changed" not in page(client, compared)


def test_topics_and_figures_are_those_of_the_last_result(client: Client, compared: Comparison, first: Condition):
    def told() -> tuple[list[str], list[str]]:
        text = page(client, compared)
        tables = re.findall(r"<tbody>(.*?)</tbody>", text.split('id="charts"')[1].split('id="topics"')[0], re.DOTALL)
        return re.findall(r"(\d+) labelled differently on t1", text), tables

    before = told()
    sheet = judged(first, "team.one", "t1")
    change(sheet, {asked(sheet)[1]: {"label": "support"}})  # as on the other side
    assert told() == before
    run(calculate_again(compared, acting_user=None))
    after = told()
    assert (before[0], after[0]) == (["2"], ["1"])
    assert before[1] != after[1]


def test_a_score_table_is_uploaded(client: Client, first: Condition):
    good = SimpleUploadedFile("published.csv", b"run_id,vstrict\nteam.one,0.5\nteam.two,0.2\n")
    assert client.post(f"{BASE}tables/", {"file": good}).status_code == 302
    table = ScoreTable.objects.get()
    assert (table.name, table.created_by.username) == ("published.csv", "olga")
    bad = SimpleUploadedFile("bad.csv", b"run_id,vstrict\nteam.one,much\n")
    text = client.post(f"{BASE}tables/", {"file": bad}).content.decode()
    assert "bad.csv, line 2: vstrict: found much" in text
    assert ScoreTable.objects.count() == 1
    assert f'value="ScoreTable-{table.pk}"' in client.get(BASE).content.decode()


def test_a_score_table_without_a_file_is_refused(client: Client, first: Condition):
    text = client.post(f"{BASE}tables/", {"name": "Published"}).content.decode()
    assert '<a href="#table_file">Score table</a>: No file came with the form. Choose one and send it again.' in text
    assert not ScoreTable.objects.exists()


def test_only_files_that_there_are_can_be_exported(client: Client, compared: Comparison):
    """The two conditions are of one judge each, so there is no table of judges."""
    there_are = ["comparison.json", "statistics.csv", "runs.csv", "taus.tex", "top.csv", "top.tex", "scores.tex"]
    there_are += ["labels.csv", "labels.tex", "described.csv", "described.tex", "topics.csv", "summary.txt"]
    offered = re.findall(r"/exports/comparison/file/\?of=[^&]*&amp;form=([^\"]+)", client.get(EXPORTS).content.decode())
    assert offered == there_are
    choose, of = f"{EXPORTS}comparison/", {"of": compared.name}
    for form in (client.get(choose, of), client.get(choose)):
        assert re.findall(r'<option value="([^"]*\.[a-z]+)"', form.content.decode()) == there_are
    for name in there_are:
        assert client.get(f"{choose}file/", of | {"form": name}).getvalue()
    assert client.get(f"{choose}file/", of | {"form": "judges.csv"}).status_code == 404
    text = client.post(choose, of | {"form": "judges.csv"}).content.decode()
    assert "There is no judges.csv of this one. Choose one of the list." in text
    with pytest.raises(CommandError, match=r"There is no form judges\.csv of .+\. There are: comparison\.json, stat"):
        call_command("export_comparison", "study", "--comparison", compared.name, "--form", "judges.csv")


def test_names_of_others_are_text(client: Client, first: Condition, second: Condition):
    post(client, first, second, name="<script>alert(1)</script>")
    run(Calculation.objects.get())
    for address in (BASE, f"{BASE}{Comparison.objects.get().pk}/"):
        text = client.get(address).content.decode()
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert" in text


def test_grades_are_shown_as_binary_labels_too(client: Client, campaign, import_file, olga):
    for name, lines in (("A", "t1 0 d1 3\nt1 0 d2 0\nt1 0 d3 1\n"), ("B", "t1 0 d1 4\nt1 0 d2 0\nt1 0 d3 0\n")):
        assert import_file(campaign, "qrels", lines, source=name, by="people").state == "done"
    first, second = (campaign.qrels_sources.get(name=name) for name in "AB")
    made = create_comparison(campaign=campaign, first=first, second=second, seed=3, draws=20, acting_user=olga)
    assert run(made).state == "done"
    text = page(client, made.comparison)
    assert "As binary labels" in text
    shown = re.search(r'<th scope="row">grade 1</th>(.*?)</tr>', text, re.S).group(1)
    assert re.findall(r">([\d.]+)</td>", shown) == ["1", "1", "0", "1", "0.667", "0.400", "0.444"]
    assert '<th scope="row">grade 3</th>' in text
    assert '<th scope="row">grade 4</th>' not in text
    assert text.count("on two scales, 0 to 3 and 0 to 4") >= 8
