"""Lists of topics, passages, runs and grades, the pages of a topic and of a run, and Find, as organizers see them."""

import re
from html import unescape

import pytest
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import create_campaign
from assessor.campaigns.models import Campaign, Topic
from assessor.runtime.process_cache import cache
from assessor.work.models import Exposure, Task
from nuggets import actions
from nuggets.models import NuggetBank
from tests.assignment.conftest import A, B, answered, finished, label_twice, manual, nugget_ids, sheet_of, task  # noqa: F401  # fixtures
from tests.conftest import client_of
from tests.judging import label_all
from tests.nuggets.conftest import do


@pytest.fixture(autouse=True)
def _nothing_cached() -> None:
    cache.clear()


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


def read(client: Client, address: str) -> str:
    """Return a page of the campaign, its blanks folded."""
    response = client.get(f"/campaigns/study/{address}")
    assert response.status_code == 200, address
    return re.sub(r"\s+", " ", unescape(response.content.decode()))


def cells(page: str, named: str) -> list[str]:
    """Return what stands in the cells of the row with this head, without tags."""
    [row] = [row for row in re.findall(r"<tr[ >].*?</tr>", page) if f">{named}<" in f"{row.partition('</th>')[0]}<"]
    return [" ".join(re.sub(r"<[^>]+>", " ", cell).split()) for cell in re.findall(r"<td.*?</td>", row)]


def names(page: str) -> list[str]:
    """Return the heads of the rows of the one table of a list."""
    body = page.partition("<tbody>")[2].partition("</tbody>")[0]
    return [" ".join(re.sub(r"<[^>]+>", " ", head).split()) for head in re.findall(r"<th.*?</th>", body)]


def test_topics_are_listed_with_passages_answers_nuggets_and_labels(task: Task, as_olga: Client):  # noqa: F811
    page = read(as_olga, "topics/")
    assert "2 questions; 1 has nuggets, labels or work." in page
    # Three relevant passages; three answers, of which one was empty and is done by rule: a third of the labels.
    assert cells(page, "why do cats purr") == ["3 relevant", "3 answers", "A anna 3", "", "open"]
    assert 'class="people" max="100" value="33"' in page
    assert cells(page, "how is glass recycled") == ["1 relevant", "2 answers", "none yet", "none yet", "not planned"]
    assert names(read(as_olga, "topics/?sort=answers")) == ["how is glass recycled t2", "why do cats purr t1"]
    assert names(read(as_olga, "topics/?show=judged")) == ["why do cats purr t1"]
    assert names(read(as_olga, "topics/?q=GLASS")) == ["how is glass recycled t2"]
    assert "No topics here with “lions”" in read(as_olga, "topics/?q=lions")
    label_all(client_of(task.person), sheet_of(task, "team.one"))
    assert 'class="people" max="100" value="66"' in read(as_olga, "topics/")


def test_practice_topics_have_a_view_of_their_own(campaign: Campaign, as_olga: Client):
    Topic.objects.filter(qid="t2").update(is_practice=True)
    assert names(read(as_olga, "topics/?show=practice")) == ["how is glass recycled t2 · practice"]
    for address in ("topics/?show=nothing", "topics/?sort=nothing", "topics/?sort=nuggets", "runs/?show=judged"):
        assert as_olga.get(f"/campaigns/study/{address}").status_code == 404, address


def test_runs_are_listed_with_what_they_lack(answered: Campaign, import_file, as_olga: Client):  # noqa: F811
    listed = (
        "tag,team,task,type,priority,aliases,generator\n"
        "team.one,cats,RAG,manual,2,one,qwen meta\n"
        "team.two,dogs,AG,,1,,openai\n"
    )
    assert import_file(answered, "run_list", listed).state == "done"
    page = read(as_olga, "runs/")
    assert "3 runs of 2 teams; 1 did not answer all 2 topics." in page
    assert cells(page, "team.one") == ["cats", "RAG", "manual", "2", "Meta, Qwen", "2", "0", "6"]  # (8 + 3) / 2 words
    assert cells(page, "team.empty") == ["—", "—", "—", "—", "—", "1 1 empty", "1 lacking", "0"]
    assert names(read(as_olga, "runs/?show=lacking")) == ["team.empty"]
    assert names(read(as_olga, "runs/?show=no-text")) == ["team.empty"]
    assert names(read(as_olga, "runs/?sort=priority")) == ["team.two", "team.one", "team.empty"]  # unknown comes last
    assert names(read(as_olga, "runs/?sort=-priority")) == ["team.one", "team.two", "team.empty"]
    assert names(read(as_olga, "runs/?sort=generator")) == ["team.one", "team.two", "team.empty"]
    assert names(read(as_olga, "runs/?q=dogs")) == ["team.two"]
    run = answered.runs.get(tag="team.one")
    assert "written by Meta, Qwen" in read(as_olga, f"runs/{run.pk}/")
    assert 'href="/campaigns/study/missing/runs.csv"' in read(as_olga, "runs/?show=lacking")


def test_passages_are_listed_with_grades_and_citations(answered: Campaign, as_olga: Client):  # noqa: F811
    page = read(as_olga, "passages/")
    assert "4 passages with text; 1 that is relevant, cited or in the pool has none" in page
    # All five answers that are not empty cite it, each once in one sentence or twice.
    assert cells(page, "Purring") == ["t1 , t2", "4 cite it"]
    assert cells(page, "Dogs") == ["t1", "0 cite it"]
    page = read(as_olga, "passages/?show=no-text")
    assert names(page) == ["d4 no text"]
    assert cells(page, "d4") == ["t1", "0 cite it", "relevant"]
    assert len(names(read(as_olga, "passages/?show=cited"))) == 1
    assert names(read(as_olga, "passages/?q=D5"))[0].startswith("Glass")


def test_what_is_missing_leads_to_the_lists(campaign: Campaign, as_olga: Client):
    to = {
        "cited": "passages/?show=no-text",
        "runs": "runs/?show=lacking",
        "empty": "runs/?show=no-text",
        "ungraded": "relevance/#gaps",
    }
    for name, list_of in to.items():
        assert as_olga.get(f"/campaigns/study/missing/{name}/")["Location"] == f"/campaigns/study/{list_of}"


def test_grades_are_told_by_source_and_level(campaign: Campaign, import_file, as_olga: Client):
    import_file(campaign, "topics", "t3\twho grades this\n")
    import_file(campaign, "qrels", "t1 0 d1 2\n", source="Mia's", by="model")
    ranked = "t1 Q0 d1 1 3 bm25\nt1 Q0 d9 2 2 bm25\nt2 Q0 d8 1 2 bm25\nt3 Q0 d1 1 2 bm25\n"
    import_file(campaign, "retrieval", ranked)
    page = read(as_olga, "relevance/")
    assert cells(page, "NIST") == ["2", "6", "3 1 2 2 1 1 0 2"]  # grades 3 to 0, each with how often
    assert cells(page, "Mia's") == ["1", "1", "3 0 2 1 1 0 0 0"]
    assert cells(read(as_olga, "topics/"), "why do cats purr")[0] == "3 relevant", "people's grades go before a model's"
    assert ("who grades this" in page, "bm25" in page) == (True, True)


def test_passages_of_the_pool_without_a_grade_are_named(campaign: Campaign, import_file, as_olga: Client):
    import_file(campaign, "topics", "t3\twho grades this\n")
    import_file(campaign, "qrels", "t2 0 d8 -1\n", source="Mia's", by="model")  # pooled, not judged
    import_file(
        campaign, "retrieval", "t1 Q0 d1 1 2.5 bm25\nt1 Q0 d9 2 2.4 bm25\nt2 Q0 d8 1 2 bm25\nt3 Q0 d1 1 2 bm25\n"
    )
    page = read(as_olga, "relevance/").partition('id="pooled-ungraded"')[2]
    assert re.findall(r"<li>.*?<bdi>(\w+)</bdi></a> <span class=\"quiet\">(\w+)", page) == [("d9", "t1"), ("d8", "t2")]
    assert "2 passages of the pool have no grade" in as_olga.get("/campaigns/study/").content.decode()
    assert as_olga.get("/campaigns/study/missing/pooled-ungraded/")["Location"].endswith("/relevance/#gaps")


@pytest.fixture
def labelled(task: Task, import_file) -> Campaign:  # noqa: F811
    return label_twice(task, import_file)


def looks(page: str, row: str) -> list[tuple[str, str]]:
    """Return how the labels of a row of the grid are marked, and in words."""
    [found] = [one for one in re.findall(r"<tr>.*?</tr>", page.partition('id="grid"')[2]) if f">{row}" in one]
    return re.findall(r'<a class="(who[^"]*)"[^>]* title="([^"]*)"', found)


def test_a_topics_grid_has_every_judges_labels(labelled: Campaign, topic: Topic, as_olga: Client):
    address = f"topics/{topic.pk}/"
    page = read(as_olga, address)
    person = ("who ok", "Manual/Manual on team.one: support")
    models = [("who m not", f"Auto on team.{run}: not_support") for run in ("one", "two")]
    # Of three runs: the empty one by rule, then both judges on the first, and one that Anna has not labelled.
    empty = ("who not", "Manual/Manual on team.empty: not_support")
    nobody = ("who none", "Manual/Manual on team.two: no label")
    assert looks(page, "cats purr when content") == [empty, person, models[0], nobody, models[1]]
    differ = read(as_olga, f"{address}?show=differ")
    assert looks(differ, "cats purr when content") == [person, models[0]]
    assert "purring heals" not in differ.partition('id="grid"')[2].partition('id="passages"')[0]
    assert looks(read(as_olga, f"{address}?show=unlabelled"), "purring heals") == [nobody, models[1]]
    assert "No nugget here has such labels." in read(as_olga, f"{address}?show=outdated")
    assert as_olga.get(f"/campaigns/study/{address}?nuggets=0").status_code == 404
    for way in re.findall(r'<a class="who[^"]*" href="([^"]*)"', page):
        assert as_olga.get(way).status_code == 200


def test_a_reworded_nuggets_labels_are_outdated_in_the_grid(
    labelled: Campaign, bank: NuggetBank, as_olga: Client, olga
):
    actions.reopen_bank(bank, reason="a typo", acting_user=olga)
    do(bank, actions.reword_nugget, uid=A, text="purring mends bones")
    do(bank, actions.finish_bank)
    page = read(as_olga, f"topics/{bank.topic_id}/?show=outdated")
    assert ("who old", "Manual/Manual on team.one: support, outdated") in looks(page, "purring mends bones")
    assert "cats purr when content" not in page.partition('id="grid"')[2].partition('id="passages"')[0]


def test_a_topic_tells_nuggets_passages_and_work(labelled: Campaign, topic: Topic, as_olga: Client):
    page = read(as_olga, f"topics/{topic.pk}/")
    assert "3 nuggets, 2 vital" in page
    assert names(page.partition('id="passages"')[2]) == [
        "Purring Cats purr when content. Some purr when in pain. d1",
        "d4 no text",
        "Cats Cats have many voices. d2",
        "Dogs Dogs bark. d3",
    ]
    assert cells(page.partition('id="work"')[2], "Manual/Manual")[:2] == ["A anna anna", "2 of 3"]
    assert 'rel="next"' in page
    assert 'rel="prev"' not in page
    other = create_campaign(name="Other", slug="other", acting_user=Person.objects.get(username="olga"))
    assert as_olga.get(f"/campaigns/{other.slug}/topics/{topic.pk}/").status_code == 404


def test_a_runs_page_has_scores_by_condition_and_by_topic(labelled: Campaign, as_olga: Client):
    run = labelled.runs.get(tag="team.one")
    auto = labelled.conditions.get(name="Auto")
    page = read(as_olga, f"runs/{run.pk}/")
    # By vital nuggets; of the other two runs one lacks labels, and the empty one has 0.
    assert cells(page, "Manual/Manual") == ["V strict", "1.000", "0.500", "1 of 3", "1", "complete"]
    assert cells(page, "Auto") == ["Show the score", "1", "complete"]
    assert cells(page, "team.one") == ["1.0"]
    scores = read(as_olga, f"scores/?run={run.pk}&condition={labelled.conditions.get(name='Manual/Manual').pk}")
    assert cells(page, "Median of 3") == cells(scores, "Median of 3") == [".50"], "the same on both pages"
    page = read(as_olga, f"runs/{run.pk}/?condition={auto.pk}")
    assert cells(page, "Auto") == ["V strict", "0.500", "0.250", "1 of 2", "1", "complete"]
    assert cells(page, "Manual/Manual")[1] == "1.000", "its scores are known by now"
    assert as_olga.get(f"/campaigns/study/runs/{run.pk}/?condition=0").status_code == 404
    two = read(as_olga, f"runs/{labelled.runs.get(tag='team.two').pk}/")
    assert cells(two, "Manual/Manual")[-1] == "1 answer incomplete"


def test_an_answer_has_the_labels_of_all_judges(labelled: Campaign, topic: Topic, as_olga: Client):
    run = labelled.runs.get(tag="team.one")
    page = read(as_olga, f"runs/{run.pk}/{topic.pk}/")
    assert "Cats purr to heal." in page
    # What is marked as labelled differently has that in its head.
    assert cells(page, "cats purr when content ") == ["not_support", "support"]
    assert "a label opens its history; 1 differs, marked ≠" in page
    second = labelled.topics.get(qid="t2")
    assert "Nobody has judged this answer" in read(as_olga, f"runs/{run.pk}/{second.pk}/")
    empty = labelled.runs.get(tag="team.empty")
    assert as_olga.get(f"/campaigns/study/runs/{empty.pk}/{second.pk}/").status_code == 404


@pytest.mark.parametrize("page", ["topic", "answer"])
def test_who_opens_a_page_with_a_models_labels_has_seen_them(page, labelled: Campaign, topic: Topic, as_olga, olga):
    def seen() -> list[tuple[str, str]]:
        return list(Exposure.objects.filter(person=olga).order_by("kind").values_list("kind", "where"))

    for address in ("topics/", "passages/", "runs/", "relevance/", f"runs/{labelled.runs.get(tag='team.one').pk}/"):
        read(as_olga, address)
    assert seen() == []
    run = labelled.runs.get(tag="team.one")
    address = {"topic": f"topics/{topic.pk}/", "answer": f"runs/{run.pk}/{topic.pk}/"}[page]
    for _ in range(2):
        read(as_olga, address)
    assert seen() == [("assignment", "pages of the topic")], "the nuggets are a person's, and so are the grades"


def test_what_files_brought_is_told_in_the_words_of_pages(labelled: Campaign, as_olga: Client):
    page = read(as_olga, "imports/")
    assert "labelled answers added" in page
    assert "sheet" not in page.partition('id="imports"')[2]


def test_find_knows_topics_runs_people_conditions_and_pages(labelled: Campaign, as_olga: Client):
    page = read(as_olga, "find/?q=an")
    assert [label for label in ("Topics", "Runs", "People", "Conditions", "Pages") if f">{label}</h2>" in page] == [
        "People",
        "Conditions",
        "Pages",
    ]
    assert (">anna<" in page, ">Manual/Manual<" in page, ">Plan<" in page) == (True, True, True)
    run, first = labelled.runs.get(tag="team.one"), labelled.topics.get(qid="t1")
    assert as_olga.get("/campaigns/study/find/?q=TEAM.one")["Location"] == f"/campaigns/study/runs/{run.pk}/"
    assert as_olga.get("/campaigns/study/find/?q=t1")["Location"] == f"/campaigns/study/topics/{first.pk}/"
    assert "team.empty" in read(as_olga, "find/?q=team")
    assert as_olga.get("/campaigns/study/find/?q=D1")["Location"] == "/campaigns/study/passages/?q=d1"
    assert 'href="/campaigns/study/passages/?q=d2"' in read(as_olga, "find/?q=d")
    condition = labelled.conditions.get(name="Manual/Manual")
    assert f'href="/campaigns/study/conditions/{condition.pk}/"' in read(as_olga, "find/?q=Manual/Manual")
    assert "Nothing found." in read(as_olga, "find/?q=lion%00")
    assert "Type a topic" in read(as_olga, "find/")


def test_find_lists_twenty_of_a_kind(campaign: Campaign, import_file, as_olga: Client):
    import_file(campaign, "topics", "".join(f"x{number}\tabout lions {number}\n" for number in range(21)))
    page = read(as_olga, "find/?q=lions")
    assert page.count("about lions") == 20
    assert "The first 20." in page
