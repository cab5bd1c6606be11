"""Nuggets as items: the page of a condition, its tables and figures."""

import csv
import io
import json
import re
from html import unescape
from uuid import uuid4

import pytest
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.condition_kind import CIRCULAR, ConditionKind
from assessor.campaigns.models import Campaign, Condition, Run
from assessor.work.models import Task, TimeSpent
from metaeval.item_analysis import item_analysis
from metaeval.stats.items import Flag
from tests.assignment.conftest import run_file
from tests.assignment.grading.conftest import grade_as_model
from tests.assignment.grading.conftest import questions as questions
from tests.assignment.scored import LABELS, auto_condition, import_banks, label
from tests.conftest import client_of
from tests.judging import judged as judged_answer
from tests.judging import leave_out

RUNS = [f"run.{number}" for number in range(8)]
# By run: better ones find more; the last nugget nobody finds, the one before it the worse runs alone.
GOOD = ["sssnn", "spsnn", "sspnn", "spnnn", "snnsn", "pnnsn", "nnpsn", "nnnsn"]


@pytest.fixture
def client(olga) -> Client:
    return client_of(olga)


@pytest.fixture
def eight(campaign: Campaign, import_file) -> Condition:
    """Eight runs on one topic, labelled as in GOOD."""
    for tag in RUNS:
        assert import_file(campaign, "runs", run_file(tag, {"t1": ["An answer."]}), name=tag).state == "done"
    bank = {"t1": [(f"nugget {number}", "vital" if number < 3 else "okay") for number in range(5)]}
    nuggets = import_banks(campaign, import_file, bank)
    return label(auto_condition(nuggets, "Eight"), {"t1": dict(zip(RUNS, GOOD, strict=True))})


def base(condition: Condition) -> str:
    return f"/campaigns/study/scores/{condition.pk}/nuggets/"


def page(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return response.content.decode()


def sentence(text: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", text.split('<p class="in sum">')[1].split("</p>")[0]))


def table(client: Client, condition: Condition) -> list[dict[str, str]]:
    response = client.get(f"{base(condition)}table.csv")
    return list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))  # type: ignore[attr-defined]


def test_the_table_has_what_labels_come_to(client: Client, first: Condition):
    rows = table(client, first)
    assert [(row["topic"], row["nugget"], row["importance"]) for row in rows[:2]] == [
        ("t1", "purring heals", "vital"),
        ("t1", "cats purr when content", "vital"),
    ]
    # t1: s p n, s s s, n n n; t2: s p, n s, where each nugget is against the other.
    assert [float(row["p"]) for row in rows] == pytest.approx([2 / 3, 1 / 2, 1 / 3, 1 / 2, 3 / 4])
    assert [float(row["item_rest_r"]) for row in rows[3:]] == [-1, -1]
    assert [row["flags"] for row in rows] == ["", "", "", "negative correlation", "negative correlation"]
    assert [row["answers"] for row in rows] == ["3", "3", "3", "2", "2"]


def test_the_sentence_says_what_the_numbers_say(client: Client, eight: Condition):
    found = item_analysis(eight)
    assert (found.flagged[Flag.NEVER_FOUND], found.flagged[Flag.NEGATIVE], found.runs) == (1, 1, 8)
    correlations = sorted(one.r for one in found.nuggets if one.r is not None)
    middle = (correlations[1] + correlations[2]) / 2
    short = next(one for one in found.curve if (one.best.mean or 0) >= 0.9)
    assert short.nuggets < 5
    told = sentence(page(client, base(eight)))
    assert told.startswith("1 of 5 nuggets is found in no answer and 1 ranks answers against the rest of its bank; ")
    assert f"the median item-rest correlation is {middle:.2f}, and the {short.nuggets} best of each topic" in told
    fewer = f"runs almost as all do (τ {short.best.mean:.2f}), with {100 * (5 - short.nuggets) / 5:.0f} %"
    assert told.endswith(f"{fewer} fewer nuggets to label.")


def test_shorter_banks_say_what_they_save_and_what_to_drop(client: Client, eight: Condition, anna: Person):
    assert "Hours saved" not in page(client, base(eight))
    topic = eight.campaign.topics.get(qid="t1")
    task = Task.objects.create(campaign=eight.campaign, topic=topic, condition=eight, kind=eight.kind, person=anna)
    TimeSpent.objects.create(task=task, key=uuid4(), seconds=2 * 3600)
    text = page(client, base(eight))
    # One topic of five nuggets took two hours; each nugget dropped saves a fifth.
    rows = re.findall(r'<tr><th scope="row">(\d)</th>(.*?)</tr>', text)
    assert [number for number, _ in rows] == ["1", "2", "3", "4"]
    for (number, row), point in zip(rows, item_analysis(eight).curve, strict=False):
        dropped = 5 - int(number)
        figures = [f"{point.best.mean:.2f}", f"{point.random.mean:.2f}", f"{dropped * 2 / 5:.1f}"]
        assert re.findall(r'<td class="num">(.*?)</td>', row) == figures
        words = f"{dropped} nugget{'s' * (dropped > 1)}"
        assert row.endswith(f'<td><a href="{base(eight)}?keep={number}#items">{words}</a></td>')
    short = next(one for one in item_analysis(eight).curve if (one.best.mean or 0) >= 0.9)
    saved = f"fewer nuggets to label, which saves {(5 - short.nuggets) * 2 / 5:.1f} of 2.0 hours."
    assert sentence(text).endswith(saved)


def test_nuggets_to_drop_are_those_of_least_correlation(client: Client, eight: Condition):
    def shown(asked: str) -> list[str]:
        return re.findall(r'<th scope="row" class="any wide" dir="auto">(.*?)</th>', page(client, base(eight) + asked))

    rows = table(client, eight)
    defined = sorted((row for row in rows if row["item_rest_r"]), key=lambda row: -float(row["item_rest_r"]))
    in_order = [*defined, *(row for row in rows if not row["item_rest_r"])]
    assert [row["place"] for row in in_order] == ["1", "2", "3", "4", "5"]
    for keep in range(1, 6):
        assert set(shown(f"?keep={keep}")) == {row["nugget"] for row in in_order[keep:]}
    assert shown("?keep=2&flag=never_found") == ["nugget 4"]
    assert "if each topic keeps the 2 nuggets of highest r" in page(client, f"{base(eight)}?keep=2")
    for wrong in ("0", "-1", "x", "²"):
        assert client.get(f"{base(eight)}?keep={wrong}").status_code == 404


def test_circular_runs_say_nothing_of_nuggets(eight: Condition, monkeypatch: pytest.MonkeyPatch):
    tag = eight.campaign.runs.order_by("tag").first().tag
    monkeypatch.setattr(ConditionKind, "run_marks", lambda self, condition: {tag: CIRCULAR})
    found = item_analysis(eight)
    assert found.runs == 7
    assert {one.answers for one in found.nuggets} == {7}


def test_nuggets_are_sorted_and_picked_by_flag(client: Client, eight: Condition):
    def shown(asked: str) -> list[str]:
        return re.findall(r'<th scope="row" class="any wide" dir="auto">(.*?)</th>', page(client, base(eight) + asked))

    assert shown("")[0] == "nugget 3"  # the least correlation
    assert shown("")[-1] == "nugget 4"  # undefined
    assert shown("?sort=-p")[0] == "nugget 0"
    assert shown("?flag=never_found") == ["nugget 4"]
    assert shown("?flag=found_by_all") == []
    assert "all answers have the same value" in page(client, base(eight))
    for address in ("?flag=odd", "?sort=odd"):
        assert client.get(base(eight) + address).status_code == 404


def test_the_page_is_linked_and_leads_to_topics(client: Client, first: Condition):
    listed = page(client, f"/campaigns/study/scores/?condition={first.pk}")
    assert f'href="{base(first)}"' in listed
    topic = first.campaign.topics.get(qid="t1")
    assert f'href="/campaigns/study/scores/{first.pk}/topics/{topic.pk}/"' in page(client, base(first))


def test_control_runs_and_left_out_nuggets_do_not_count(client: Client, first: Condition):
    before = table(client, first)
    Run.objects.filter(campaign=first.campaign, tag="team.empty").update(task="control")
    other = label(auto_condition(first.nuggets, "Other"), LABELS)
    assert [row["answers"] for row in table(client, other)] == ["2"] * 5
    gone = first.nuggets.nugget_banks.get(topic__qid="t1").nuggets.get(text="purring heals")
    leave_out(first, gone.pk, "unclear")
    assert [row["nugget"] for row in table(client, first)] == [row["nugget"] for row in before[1:]]


def test_answers_without_all_labels_do_not_count(client: Client, edits: Condition):
    labels = {"t1": {"team.one": "spn", "team.two": "ss?", "team.empty": "nnn"}}
    rows = table(client, label(auto_condition(edits, "Part"), labels))
    assert [float(row["p"]) for row in rows] == [0.5, 0.25, 0]
    assert [row["answers"] for row in rows] == ["2"] * 3


def test_a_change_of_labels_changes_the_page(client: Client, first: Condition):
    before = item_analysis(first)
    sheet = judged_answer(first, "team.one", "t2")
    sheet.revise("test", {next(iter(sheet.labels)): {"label": "not_support"}}, judge_id=sheet.judge_id)
    assert item_analysis(first) != before


def test_grades_count_evenly_from_0_to_1(client: Client, questions: Condition, import_file):
    condition = grade_as_model(questions, import_file, {"team.one": ("5", "0", "3"), "team.two": ("1", "2", "0")})
    assert [float(row["p"]) for row in table(client, condition)] == pytest.approx([0.6, 0.2, 0.3])
    assert '<h2 id="items">Questions</h2>' in page(client, base(condition))


def test_few_runs_make_no_curve(client: Client, first: Condition):
    text = page(client, base(first))
    assert "almost as all do" not in sentence(text)
    figure = json.dumps(json.loads(client.get(f"{base(first)}figures/shorter.json").content))
    assert "it takes 6 runs, and there are 3" in figure


def test_files(client: Client, eight: Condition, first_support: Condition):
    tex = b"".join(client.get(f"{base(eight)}table.tex").streaming_content).decode()  # type: ignore[attr-defined]
    assert "{}t1 & nugget 0 & vital & $0.69$ & $" in tex
    assert "{}t1 & nugget 4 & okay & $0.00$ & -- " in tex
    for name in ("items", "shorter"):
        assert client.get(f"{base(eight)}figures/{name}.svg").content.startswith(b"<svg")
    for address in ("table.doc", "figures/none.svg", "figures/items.doc"):
        assert client.get(base(eight) + address).status_code == 404
    assert client.get(base(first_support)).status_code == 404
