"""What work took, by an example reckoned by hand: medians, outliers, and time that counts whatever became of a task.

Minutes of the five finished topics of nuggets: 10, 20, 30, 40, 100. Quartiles 20 and 40, so an outlier is what took
over 40 + 1.5 x 20 = 70 minutes. Seconds of a nugget: 100, 120, 180, 200, 600.
"""

import csv
from html import unescape
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition
from assessor.exports.registry import BY_NAME
from assessor.exports.selection import choose
from assessor.plan.effort import Group, effort, group, person_rows, rows
from assessor.plan.effort_tables import condition_rows, duration, figure, people_rows, topics_listing
from assessor.plan.workload import workload
from assessor.work.models import Task
from assignment.actions import create_manual_assign
from tests.conftest import client_of
from tests.metaeval.charts.test_figures import layers, texts

ADDRESS = "/campaigns/study/effort/"
FINISHED = {"x0": (600, 6), "x1": (1200, 10), "x2": (1800, 10), "x3": (2400, 12), "x4": (6000, 10)}


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


@pytest.fixture
def worked(campaign: Campaign, condition: Condition, anna: Person, ben: Person, import_file) -> Campaign:
    """The example: besides the five, an open topic, one that Ben has paused after Anna, answers, and practice."""
    import_file(campaign, "topics", "".join(f"{qid}\tquery {qid}\n" for qid in (*FINISHED, "p")))
    campaign.topics.filter(qid="p").update(is_practice=True)
    manual = create_manual_assign(nuggets=condition, name="Manual/Manual", acting_user=None)

    def spend(qid: str, under: Condition, person: Person, state: str, seconds: int, done: int, **more: Any) -> None:
        topic = campaign.topics.get(qid=qid)
        given = {"campaign": campaign, "topic": topic, "condition": under, "kind": under.kind, "person": person}
        Task.objects.create(**given, state=state, seconds=seconds, done=done, **more)

    for qid, (seconds, nuggets) in FINISHED.items():
        spend(qid, condition, anna, "finished", seconds, nuggets)
    spend("t1", condition, anna, "open", 4300, 3)
    spend("t2", condition, anna, "withdrawn", 300, 1)
    spend("t2", condition, ben, "open", 120, 0, paused=True)
    spend("x0", manual, ben, "finished", 900, 30)
    spend("x1", manual, ben, "finished", 300, 0)
    spend("p", condition, ben, "finished", 90_000, 1)
    return campaign


def seconds(finished: int = 0, still_open: int = 0, paused: int = 0, withdrawn: int = 0) -> dict[str, int]:
    return {"finished": finished, "open": still_open, "paused": paused, "withdrawn": withdrawn}


def test_sums_medians_and_outliers_of_conditions_and_kinds(worked: Campaign):
    nuggets = Group(seconds(12_000, 4300, 120, 300), 5, 1800, 180, 5, 2)
    assert nuggets.total == 16_720
    # What took no answer has no time for one, and is in no median, as hours to come have it.
    answers = Group(seconds(1200), 2, 900, 30, 1, 0)
    assert [tuple(row) for row in rows(effort(worked))] == [
        ("nuggets", "nuggets", nuggets, None, True),
        ("ManualNuggets", "nuggets", nuggets, 4200, False),
        ("assignment", "assignment", answers, None, True),
        ("Manual/Manual", "assignment", answers, None, False),
    ]


def test_medians_are_those_that_hours_to_come_are_reckoned_from(worked: Campaign):
    told = {row.condition.name: row.told for row in workload(worked).paces}
    assert told == {"ManualNuggets": "0.5 h a topic: the median of 5 finished tasks"}
    topic = worked.topics.get(qid="x2")
    answers = worked.conditions.get(name="Manual/Manual")
    person = Person.objects.get(username="ben")
    Task.objects.create(campaign=worked, topic=topic, condition=answers, kind="assignment", person=person)
    told = {row.condition.name: row.told for row in workload(worked).paces}
    # Twelve minutes are too few to extrapolate from.
    assert told["Manual/Manual"] == "no estimate yet: less than 30 minutes of active time on finished tasks"
    Task.objects.filter(condition=answers, state=Task.State.FINISHED).update(seconds=3_600)
    told = {row.condition.name: row.told for row in workload(worked).paces}
    assert told["Manual/Manual"].startswith("1.0 h a topic, ")


def test_what_was_handed_over_is_in_no_median(worked: Campaign, anna: Person):
    """Its items are two people's, its time is one's: without it the shorter topic is left."""
    answers = worked.conditions.get(name="Manual/Manual")
    answers.tasks.filter(topic__qid="x1").update(done=5)
    topic = worked.topics.get(qid="x0")
    first = Task.objects.create(campaign=worked, topic=topic, condition=answers, kind="assignment", person=anna)
    Task.objects.filter(pk=first.pk).update(state="withdrawn")  # before anything was done
    found = group(effort(worked).of_condition(answers), "assignment", set())
    assert (found.finished, found.topic, found.item, found.of) == (2, 600, 45, 2)
    Task.objects.filter(pk=first.pk).update(seconds=100)
    found = group(effort(worked).of_condition(answers), "assignment", set())
    assert (found.finished, found.topic, found.item, found.of) == (2, 300, 60, 1)
    assert found.total == 900 + 300 + 100


def test_a_kind_has_the_medians_of_all_its_conditions_and_the_outliers_of_each(worked: Campaign, ben: Person):
    first = worked.conditions.get(name="ManualNuggets")
    of = {"qrels_source": first.qrels_source, "protocol": first.protocol, "replicate": 1}
    other = Condition.objects.create(campaign=worked, name="Another", kind="nuggets", method="ManualNuggets", **of)
    for qid, (spent, done) in FINISHED.items():
        given = {"campaign": worked, "topic": worked.topics.get(qid=qid), "condition": other, "person": ben}
        Task.objects.create(**given, kind="nuggets", state="finished", seconds=spent * 10, done=done)
    found = effort(worked)
    assert found.limits == {first.pk: 4200, other.pk: 42_000, worked.conditions.get(name="Manual/Manual").pk: None}
    kind, *of_it = [row for row in rows(found) if row.kind == "nuggets"]
    assert [row.name for row in of_it] == ["Another", "ManualNuggets"]
    assert (kind.group.topic, kind.group.outliers) == (6000, 3)


def test_each_person_has_sums_of_all_and_medians_under_each_condition(worked: Campaign):
    assert [tuple(row) for row in person_rows(effort(worked))] == [
        ("anna", "", "", Group(seconds(12_000, 4300, 0, 300), 5, None, None, 0, 2), 0),
        ("anna", "ManualNuggets", "nuggets", Group(seconds(12_000, 4300, 0, 300), 5, 1800, 180, 5, 2), 0),
        ("ben", "", "", Group(seconds(1200, 0, 120), 2, None, None, 0, 0), 90_000),
        ("ben", "ManualNuggets", "nuggets", Group(seconds(0, 0, 120), 0, None, None, 0, 0), 0),
        ("ben", "Manual/Manual", "assignment", Group(seconds(1200), 2, 900, 30, 1, 0), 0),
    ]


def test_words_for_times_and_for_why_there_is_no_outlier(worked: Campaign):
    of_kind, nuggets, _, answers = condition_rows(effort(worked))
    assert of_kind[:3] == ("all nuggets", "", "")
    assert nuggets[:3] == ("", "ManualNuggets", "nuggets")
    assert [(cell.text, *cell.notes) for cell in nuggets.cells] == [
        ("5",),
        ("4 h 38 min", "open 1 h 11 min", "paused 2 min", "withdrawn 5 min"),
        ("30 min 00 s",),
        ("3 min 00 s", "nuggets"),
        ("2", "over 1 h 10 min"),
    ]
    assert [(cell.text, *cell.notes) for cell in answers.cells] == [
        ("2",),
        ("20 min",),
        ("15 min 00 s", "of 1"),
        ("30.0 s", "answers"),
        ("—", "fewer than 5 finished"),
    ]
    _, of_anna, ben, *_ = people_rows(effort(worked))
    assert (of_anna.whole, of_anna.name, of_anna.of) == ("", "ManualNuggets", "anna")
    assert (ben.whole, ben.cells[1].notes) == ("ben", ["paused 2 min", "for practice, beside it 25 h 00 min"])
    assert [cell.text for cell in ben.cells] == ["2", "22 min", "—", "—", "0"]
    assert [duration(one) for one in (0.4, 59, 60)] == ["0.4 s", "59.0 s", "1 min 00 s"]
    assert [duration(one) for one in (59.96, 3599, 3600)] == ["1 min 00 s", "59 min 59 s", "1 h 00 min"]


def test_four_finished_topics_have_no_outlier(worked: Campaign):
    Task.objects.filter(topic__qid="x0").update(seconds=0)  # on which nobody was at work is none of them
    found = effort(worked)
    assert (set(found.limits.values()), found.over) == ({None}, set())


def test_what_took_as_long_as_the_limit_is_no_outlier(worked: Campaign):
    Task.objects.filter(topic__qid="t1").update(seconds=4200)
    assert len(effort(worked).over) == 1
    Task.objects.filter(topic__qid="t1").update(seconds=4201)
    assert len(effort(worked).over) == 2


def cells(worked: Campaign) -> dict[str, list[tuple[str, str, str]]]:
    """Return what stands in each line: text, notes, mark."""
    listing = topics_listing(effort(worked), worked.topics.order_by("qid"))
    lines = (*listing.lines, *listing.over, *listing.apart)
    return {line.name: [(cell.text, ", ".join(cell.notes), cell.mark) for cell in line.cells] for line in lines}


def test_a_topics_time_under_each_condition_and_in_all(worked: Campaign):
    found = cells(worked)
    assert found["x0"] == [("25 min", "", ""), ("10 min", "", ""), ("15 min", "", "")]
    assert found["x4"] == [("1 h 40 min", "", ""), ("1 h 40 min", "", "outlier"), ("—", "", "")]
    assert found["t1"] == [("1 h 11 min", "", ""), ("1 h 11 min", "open", "outlier"), ("—", "", "")]
    assert found["t2"] == [("7 min", "", ""), ("7 min", "paused 2 min, withdrawn 5 min", ""), ("—", "", "")]
    assert found["in all"] == [("4 h 58 min", "", ""), ("4 h 38 min", "", ""), ("20 min", "", "")]
    assert [text for text, *_ in found["median of a finished task"]] == ["", "30 min 00 s", "15 min 00 s"]


def test_practice_is_apart_and_never_an_outlier(worked: Campaign):
    listing = topics_listing(effort(worked), worked.topics.order_by("qid"))
    assert [line.name for line in listing.apart] == ["p"]
    assert cells(worked)["p"] == [("25 h 00 min", "", ""), ("25 h 00 min", "", ""), ("—", "", "")]


def order(page: str) -> list[str]:
    return sorted(("t1", "t2", *FINISHED), key=lambda qid: page.index(f'<span class="quiet">{qid}</span>'))


def test_the_topics_that_took_longest_come_first_unless_told_otherwise(worked: Campaign, as_olga: Client):
    assert order(as_olga.get(ADDRESS).content.decode()) == ["x4", "t1", "x3", "x2", "x0", "x1", "t2"]
    assert order(as_olga.get(f"{ADDRESS}?sort=topic").content.decode())[:2] == ["t1", "t2"]
    answers = worked.conditions.get(name="Manual/Manual").pk
    page = as_olga.get(f"{ADDRESS}?sort=c{answers}&page=1").content.decode()
    assert order(page)[:3] == ["x1", "x0", "t1"]  # where there is none comes last
    assert '<th scope="col" class="num" aria-sort="ascending">' in page
    assert f'href="?sort=-c{answers}#topics"' in page
    assert as_olga.get(f"{ADDRESS}?sort=nothing").status_code == 404


def test_the_page_says_how_time_is_counted_and_by_which_rule(worked: Campaign, as_olga: Client):
    page = unescape(as_olga.get(ADDRESS).content.decode())
    for told in (
        "<dt>Active time on topics that count</dt><dd>4 h 58 min</dd>",
        "<dt>Practice, not counted</dt><dd>25 h 00 min</dd>",
        "<dt>Outliers</dt><dd>2</dd>",
        "open, paused, or given to somebody else since",
        "(Tukey's rule). Outliers need 5 finished tasks.",
        '<td class="num">1 h 11 min <span class="chip warn">outlier</span><div class="quiet">open</div></td>',
        'href="/campaigns/study/exports/effort/file/?form=tasks.csv"',
        'data-figure="/campaigns/study/effort/figures/hours.json"',
    ):
        assert told in page, told


@pytest.mark.parametrize("other", ["progress/", "plan/hours/"])
def test_one_gets_there(other: str, campaign: Campaign, as_olga: Client):
    assert f'href="{ADDRESS}"' in as_olga.get(f"/campaigns/study/{other}").content.decode()


def test_a_hundred_topics_are_on_a_page_with_the_sums_of_all(worked: Campaign, as_olga: Client, import_file):
    import_file(worked, "topics", "".join(f"y{at:03}\tquery\n" for at in range(200)))
    page = as_olga.get(f"{ADDRESS}?page=3&sort=topic").content.decode()
    assert "Page 3 of 3: 201 to 207 of 207" in page
    assert page.count('<span class="quiet">y') == 7
    assert "4 h 58 min" in page
    assert "Practice topics, not counted above" in page
    assert 'href="?sort=-topic#topics"' in page  # on the first page again


def test_nothing_is_said_where_nobody_worked(campaign: Campaign, as_olga: Client):
    assert "Nobody has had work yet" in as_olga.get(ADDRESS).content.decode()
    assert "Nothing on which time was spent is finished yet." in texts(figure(effort(campaign)).figure)
    assert as_olga.get(f"{ADDRESS}figures/hours.svg").status_code == 200
    assert as_olga.get(f"{ADDRESS}figures/other.svg").status_code == 404


def test_names_of_others_are_text(worked: Campaign, as_olga: Client):
    evil = "<script>alert(1)</script>"
    Condition.objects.filter(name="ManualNuggets").update(name=evil)
    worked.topics.filter(qid="x4").update(title=evil)
    page = as_olga.get(ADDRESS).content.decode()
    assert evil not in page
    assert page.count("&lt;script&gt;alert(1)") > 3
    answer = as_olga.get(f"{ADDRESS}figures/hours.svg")
    assert answer.status_code == 200
    assert evil.encode() not in answer.content


def test_the_figure_shows_each_finished_task_with_the_median_and_the_limit(worked: Campaign):
    dots, middles, limits, named = layers(figure(effort(worked)).figure)
    assert [(round(row["x"], 3), row["names"], row["is"]) for row in dots["rows"]] == [
        (0.167, "x0, anna", "as usual"),
        (0.333, "x1, anna", "as usual"),
        (0.5, "x2, anna", "as usual"),
        (0.667, "x3, anna", "as usual"),
        (1.667, "x4, anna", "outlier"),
        (0.25, "x0, ben", "as usual"),
        (0.083, "x1, ben", "as usual"),
    ]
    medians = [(row["kind"], row["median"]) for row in middles["rows"]]
    assert medians == [("ManualNuggets", 0.5), ("Manual/Manual", 0.25)]
    assert [(row["kind"], row["limit"]) for row in limits["rows"]] == [("ManualNuggets", 1.1667)]
    assert [row["name"] for row in named["rows"]] == ["ManualNuggets (5)", "Manual/Manual (2)"]


def table(campaign: Campaign, form: str) -> list[list[str]]:
    kind = BY_NAME["effort"]
    return list(csv.reader(kind.lines(choose(campaign, kind, {"form": form}))))


def test_files_have_seconds(worked: Campaign):
    assert table(worked, "topics.csv") == [
        ["topic", "practice", "ManualNuggets", "Manual/Manual", "in all", "outliers"],
        ["p", "yes", "90000", "", "90000", "0"],
        ["t1", "no", "4300", "", "4300", "1"],
        ["t2", "no", "420", "", "420", "0"],
        ["x0", "no", "600", "900", "1500", "0"],
        ["x1", "no", "1200", "300", "1500", "0"],
        ["x2", "no", "1800", "", "1800", "0"],
        ["x3", "no", "2400", "", "2400", "0"],
        ["x4", "no", "6000", "", "6000", "1"],
    ]
    head, *lines = table(worked, "tasks.csv")
    assert head == ["topic", "practice", "condition", "kind", "person", "state", "items", "seconds", "outlier"]
    assert lines[:5] == [
        ["p", "yes", "ManualNuggets", "nuggets", "ben", "finished", "1", "90000", "no"],
        ["t1", "no", "ManualNuggets", "nuggets", "anna", "open", "3", "4300", "yes"],
        ["t2", "no", "ManualNuggets", "nuggets", "anna", "withdrawn", "1", "300", "no"],
        ["t2", "no", "ManualNuggets", "nuggets", "ben", "paused", "0", "120", "no"],
        ["x0", "no", "Manual/Manual", "assignment", "ben", "finished", "30", "900", "no"],
    ]
    head, *lines = table(worked, "medians.csv")
    assert ",".join(head) == (
        "kind,condition,person,finished,seconds finished,seconds open,seconds paused,seconds withdrawn,seconds,"
        "median of a task,median of an item,outlier above,outliers"
    )
    assert ",".join(lines[1]) == "nuggets,ManualNuggets,,5,12000,4300,120,300,16720,1800.0,180.0,4200.0,2"
    assert ",".join(lines[6]) == ",,ben,2,1200,0,120,0,1320,,,,0"
    assert len(lines) == 9


def test_a_command_writes_them(worked: Campaign):
    out = StringIO()
    call_command("export_effort", "study", form="medians.csv", stdout=out)
    assert list(csv.reader(out.getvalue().splitlines())) == table(worked, "medians.csv")
