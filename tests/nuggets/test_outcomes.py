"""What organizers see of drafts: a whole session of post-editing, tables, and banks that a model made alone."""

import csv
import json
import re
from collections.abc import Callable
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.actions import add_member
from assessor.campaigns.models import Campaign, Condition, Event, Role, Topic
from assessor.llm.models import ModelJudge
from assessor.work.actions import give_tasks, withdraw_task
from assessor.work.models import Exposure, Task
from nuggets import actions
from nuggets.actions.drafts import store_drafting
from nuggets.draft_reports import draft_rows, draftings, edit_counts, listed_rows, tally, topic_rows
from nuggets.drafting import Step
from nuggets.exports import condition_lines, outcome_lines
from nuggets.models import BankEdition, NuggetBank
from nuggets.queries import nuggets_in_order
from tests.conftest import client_of
from tests.nuggets.conftest import do, fill, listed, send, shown, url
from tests.nuggets.model import draft, make_condition, make_job, make_model, run, says

TEXTS = ["cats purr", "cats  purr?", "dogs bark", "why do cats purr?", "x " * 13 + "end", "f", "g", "h"]
DRAFTS = [" ".join(text.split()) for text in TEXTS]
STEPS = [Step(["d1"], ["cats purr", "old"]), Step(["d2", "d4"], DRAFTS[:5]), Step(["d5"], DRAFTS)]


@pytest.fixture
def model(campaign: Campaign) -> ModelJudge:
    return make_model(campaign)


@pytest.fixture
def edits(model: ModelJudge) -> Condition:
    return make_condition(model)


@pytest.fixture
def drafted(edits: Condition, topic: Topic, anna: Person, olga: Person) -> NuggetBank:
    """Anna's bank with eight drafts that came in three windows."""
    store_drafting(make_job(edits, [topic]), topic.pk, STEPS, [])
    [task] = give_tasks(campaign=edits.campaign, topics=[topic], condition=edits, person=anna, acting_user=olga)
    return NuggetBank.objects.get(task=task)


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


Uid = Callable[[int], UUID]


@pytest.fixture
def uid(drafted: NuggetBank) -> Uid:
    """The uid of a draft, by its place in the model's list."""
    return lambda place: drafted.nuggets.get(draft=place).uid


@pytest.fixture
def session(drafted: NuggetBank, uid: Uid, as_anna: Client) -> NuggetBank:
    """A whole session through the browser's door: one draft kept, one reworded, two merged, one split, one deleted...

    3 and 6 are kept (6 after a detour), 2 is reworded, 1 and 4 are merged, 5 is split and a half of it deleted, 7 is
    deleted, 8 is merged with what was added, and that is deleted; one more is added.
    """
    new = {name: UUID(int=number) for number, name in enumerate(("m", "s1", "s2", "a", "ma", "b"), start=30)}

    def write(verb: str, **fields: str) -> None:
        on = fields.pop("on", None)
        response = send(as_anna, drafted, verb, **({"on": UUID(on)} if on else {}), **fields)
        assert response.status_code == 200, response.content

    assert as_anna.get(url(drafted, "editor")).status_code == 200
    write("delete", on=str(uid(6)))
    write("undo")
    write("reword", on=str(uid(6)), text="changed")
    write("reword", on=str(uid(6)), text="f")
    write("reword", on=str(uid(2)), text="cats sometimes purr")
    write("merge", uids=f"{uid(1)} {uid(4)}", uid=str(new["m"]), text="why cats purr")
    write("split", on=str(uid(5)), uid1=str(new["s1"]), text1="one", uid2=str(new["s2"]), text2="two")
    write("delete", on=str(new["s2"]))
    write("delete", on=str(uid(7)))
    write("add", uid=str(new["a"]), text="added")
    write("merge", uids=f"{uid(8)} {new['a']}", uid=str(new["ma"]), text="gone soon")
    write("delete", on=str(new["ma"]))
    write("add", uid=str(new["b"]), text="added too", docid="d1")
    response = send(as_anna, drafted, "finish")
    assert response.status_code == 422
    for nugget_uid, _, _ in shown(as_anna.get(url(drafted, "editor"))).rows:
        write("importance", on=nugget_uid, importance="okay" if nugget_uid == str(new["b"]) else "vital")
    write("finish")
    Task.objects.filter(pk=drafted.task_id).update(seconds=100)
    return NuggetBank.objects.select_related("task", "drafting").get(pk=drafted.pk)


def test_a_whole_session_ends_as_it_was_worked(session: NuggetBank, condition: Condition):
    assert session.state == "finished"
    expected = {"dogs bark", "f", "cats sometimes purr", "why cats purr", "one"}
    assert dict(listed(session)) == dict.fromkeys(expected, "vital") | {"added too": "okay"}
    ended = {row.place: (row.end, row.became) for row in draft_rows(session)}
    assert ended == {
        1: ("merged", ["why cats purr"]),
        2: ("edited", ["cats sometimes purr"]),
        3: ("kept", []),
        4: ("merged", ["why cats purr"]),
        5: ("split", ["one"]),
        6: ("kept", []),
        7: ("deleted", []),
        8: ("deleted", []),
    }
    sources = {row.nugget.text: row.drafts for row in listed_rows(session)}
    assert sources == {
        "dogs bark": [3],
        "f": [6],
        "cats sometimes purr": [2],
        "why cats purr": [1, 4],
        "one": [5],
        "added too": [],
    }
    counts = tally(session, edit_counts([session])[session.pk])
    assert counts.ends == {"undecided": 0, "kept": 2, "edited": 1, "merged": 2, "split": 1, "deleted": 2}
    assert (counts.drafts, counts.added, counts.listed, counts.seconds, counts.seconds_per_draft) == (
        8,
        1,
        6,
        100,
        12.5,
    )
    assert counts.edits == {
        "reword": 3,
        "vital": 5,
        "okay": 1,
        "move": 0,
        "add": 2,
        "delete": 4,
        "merge": 2,
        "split": 1,
        "attach": 0,
        "detach": 0,
        "undo": 1,
        "redo": 0,
    }


def test_an_organizer_sees_drafts_and_result_side_by_side(session: NuggetBank, as_olga: Client):
    response = as_olga.get(f"/nuggets/{session.pk}/drafts/")
    page = response.content.decode()
    assert response.status_code == 200
    rows = re.findall(r'<tr id="draft-(\d)">(.*?)</tr>', page, re.DOTALL)
    cells = {int(place): re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL) for place, row in rows}
    plain = {place: [" ".join(re.sub("<[^>]+>", " ", cell).split()) for cell in row] for place, row in cells.items()}
    assert plain == {
        1: ["1", "cats purr", "1", "merged", "why cats purr"],
        2: ["2", "cats purr? a question same as 1", "2", "edited", "cats sometimes purr"],
        3: ["3", "dogs bark", "2", "kept", ""],
        4: ["4", "why do cats purr? a question", "2", "merged", "why cats purr"],
        5: ["5", f"{DRAFTS[4]} 14 words", "2", "split", "one"],
        6: ["6", "f", "3", "kept", ""],
        7: ["7", "g", "3", "deleted", ""],
        8: ["8", "h", "3", "deleted", ""],
    }
    for said in (
        "drafted by Telltale judge in",
        f'<a href="/campaigns/study/jobs/{session.drafting.job_id}/">job {session.drafting.job_id}</a>',
        f"in the order of seed {session.draft_seed}",
        "<dt>kept</dt><dd>2</dd>",
        "<dt>seconds a draft</dt><dd>12.5</dd>",
        "reword 3, vital 5, okay 1",
        '<li id="window-2" class="any">d2, d4 <span class="quiet">(5 nuggets afterwards)</span></li>',
        '<a href="#draft-1">draft 1</a>, <a href="#draft-4">draft 4</a>',
        "<td>added</td>",
    ):
        assert said in page, said
    assert f'href="/nuggets/{session.pk}/drafts/"' in as_olga.get(url(session, "editor")).content.decode()
    piece = f"/campaigns/study/plan/work/{session.condition_id}/{session.topic_id}/"
    assert f'href="/nuggets/{session.pk}/drafts/"' in as_olga.get(piece).content.decode()
    assert (
        f'href="/campaigns/study/drafts/{session.condition_id}/"'
        in as_olga.get(f"/campaigns/study/conditions/{session.condition_id}/").content.decode()
    )


def test_drafts_before_and_nuggets_after_are_a_table(session: NuggetBank, as_olga: Client):
    address = "/campaigns/study/exports/edits/file/"

    def text(form: str) -> str:
        asked = {"of": session.condition.name, "form": form, "topics": "t1"}
        return b"".join(as_olga.get(address, asked).streaming_content).decode()

    rows = [json.loads(line) for line in text("jsonl").splitlines()]
    assert [(row["place"], row["end"], row["became"]) for row in rows] == [
        (1, "merged", ["why cats purr"]),
        (2, "edited", ["cats sometimes purr"]),
        (3, "kept", ["dogs bark"]),
        (4, "merged", ["why cats purr"]),
        (5, "split", ["one"]),
        (6, "kept", ["f"]),
        (7, "deleted", []),
        (8, "deleted", []),
        (None, "added", ["added too"]),
    ]
    assert [row["draft"] for row in rows] == [*DRAFTS, ""]
    assert rows[-1]["became_importance"] == ["okay"]
    [head, first, *_] = csv.reader(text("csv").splitlines())
    assert head == ["topic", "place", "draft", "importance", "end", "became", "became_importance"]
    assert first == ["t1", "1", "cats purr", "", "merged", "why cats purr", "vital"]
    table = text("tex")
    assert "{}cats purr & merged & \\textbf{why cats purr} \\\\" in table
    assert "{} & added & added too \\\\" in table
    page = as_olga.get(f"/campaigns/study/drafts/{session.condition_id}/").content.decode()
    assert "exports/edits/file/?of=Telltale%20condition&amp;form=jsonl" in page


def test_the_assessor_does_not_see_it(session: NuggetBank, as_anna: Client, ben: Person):
    for client in (as_anna, client_of(ben)):
        for address in (
            f"/nuggets/{session.pk}/drafts/",
            f"/campaigns/study/drafts/{session.condition_id}/",
            f"/campaigns/study/drafts/{session.condition_id}.csv",
        ):
            assert client.get(address).status_code == 404
    assert "/drafts/" not in as_anna.get(url(session, "editor")).content.decode()


def test_nor_does_who_organizes_and_has_the_task(session: NuggetBank, anna: Person, as_anna: Client, olga: Person):
    """Own work is seen as an assessor sees it, also where the rule that keeps the two apart is switched off."""
    add_member(campaign=session.condition.campaign, person=anna, role=Role.ORGANIZER, acting_user=olga)
    assert as_anna.get(f"/nuggets/{session.pk}/drafts/").status_code == 404


def test_a_bank_without_drafts_has_no_such_page(bank: NuggetBank, condition: Condition, as_olga: Client):
    assert as_olga.get(f"/nuggets/{bank.pk}/drafts/").status_code == 404
    assert as_olga.get(f"/campaigns/study/drafts/{condition.pk}/").status_code == 404
    assert as_olga.get(f"/campaigns/study/drafts/{condition.pk}.csv").status_code == 404
    assert "/drafts/" not in as_olga.get(url(bank, "editor")).content.decode()
    assert "/drafts/" not in as_olga.get("/campaigns/study/plan/").content.decode()
    assert "/drafts/" not in as_olga.get(f"/campaigns/study/conditions/{condition.pk}/").content.decode()


def test_drafts_that_were_just_given_are_all_undecided(drafted: NuggetBank, as_olga: Client, as_anna: Client):
    page = as_olga.get(f"/nuggets/{drafted.pk}/drafts/").content.decode()
    assert "<dt>undecided</dt><dd>8</dd>" in page
    assert "<dt>kept</dt><dd>0</dd>" in page
    assert page.count("<td>undecided</td>") == 8
    assert "0 of 8 drafts decided" in as_olga.get(url(drafted, "editor")).content.decode()
    counts = tally(drafted, edit_counts([drafted])[drafted.pk])
    assert counts.ends == {"undecided": 8, "kept": 0, "edited": 0, "merged": 0, "split": 0, "deleted": 0}
    assert (counts.added, counts.seconds_per_draft, sum(counts.edits.values())) == (0, 0, 0)


# A table for a condition


@pytest.fixture
def odd(session: NuggetBank, import_file, ben: Person, olga: Person) -> Condition:
    """The condition with a topic of a dangerous name that nobody has, and one that was taken from Ben."""
    condition = session.condition
    import_file(condition.campaign, "topics", "=1+1\t=1+1 <b>\n")
    topics = {topic.qid: topic for topic in condition.campaign.topics.all()}
    draft(condition, [topics["=1+1"], topics["t2"]], ["a", "b"])
    [task] = give_tasks(
        campaign=condition.campaign, topics=[topics["t2"]], condition=condition, person=ben, acting_user=olga
    )
    withdraw_task(task=task, acting_user=olga)
    return condition


def test_a_condition_as_a_table(odd: Condition, as_olga: Client):
    response = as_olga.get(f"/campaigns/study/drafts/{odd.pk}.csv")
    assert response["Content-Disposition"] == 'attachment; filename="study.drafts.Telltale_condition.csv"'
    text = b"".join(response.streaming_content).decode()
    assert text == "".join(outcome_lines(odd))
    columns, *rows = csv.reader(text.splitlines())
    assert columns[:14] == [
        *(
            "topic",
            "person",
            "state",
            "drafts",
            "cut",
            "kept",
            "edited",
            "merged",
            "split",
            "deleted",
            "added",
            "nuggets",
        ),
        *("seconds", "seconds_per_draft"),
    ]
    assert columns[14:17] == ["edits: reword", "edits: vital", "edits: okay"]
    assert rows[0] == ["'=1+1", "", "not given", "2", "0", *[""] * 21]
    told = [["t1", "anna", "finished", 8, 0, 2, 1, 2, 1, 2, 1, 6, 100, 12.5, 3, 5, 1]]
    told += [["t2", "ben", "withdrawn", 2, 0, 2, 0, 0, 0, 0, 0, 2, 0, 0.0, 0, 0, 0]]
    assert [row[:17] for row in rows[1:]] == [[str(cell) for cell in row] for row in told]
    assert {len(row) for row in rows} == {len(columns)}
    assert len(rows) == 3
    assert Event.objects.filter(verb="exported", subject="drafts.Telltale condition.csv").count() == 1


def test_a_condition_as_a_page(odd: Condition, as_olga: Client):
    page = as_olga.get(f"/campaigns/study/drafts/{odd.pk}/").content.decode()
    rows = re.findall(r"<tr>(.*?)</tr>", page.split("<tbody>")[1], re.DOTALL)
    plain = [" ".join(re.sub("<[^>]+>", " ", row).split()) for row in rows]
    assert plain == [
        "=1+1 &lt;b&gt; =1+1 1 2 nobody yet 0 0",
        "why do cats purr t1 3 8 anna, finished 0 2 1 2 1 2 1 6 5 1 min 12.5",
        "how is glass recycled t2 1 2 ben, withdrawn 2 0 0 0 0 0 0 2 0 — 0.0",
    ]


def test_a_condition_without_drafts_says_so(edits: Condition, as_olga: Client):
    assert "no nuggets under this condition yet" in as_olga.get(f"/campaigns/study/drafts/{edits.pk}/").content.decode()
    assert len(list(outcome_lines(edits))) == 1


def test_a_topic_of_two_people_has_a_row_for_each(odd: Condition, anna: Person, olga: Person):
    topic = Topic.objects.get(qid="t2")
    give_tasks(campaign=odd.campaign, topics=[topic], condition=odd, person=anna, acting_user=olga)
    rows = [row for row in topic_rows(list(draftings(odd))) if row.topic == topic]
    assert [row.bank.task.person.username for row in rows if row.bank] == ["ben", "anna"]


def test_the_editor_asks_as_much_of_many_drafts_as_of_few(
    edits: Condition, campaign: Campaign, anna: Person, olga: Person, as_anna: Client
):
    counts = []
    for qid, number in (("t1", 3), ("t2", 30)):
        topic = campaign.topics.get(qid=qid)
        draft(edits, [topic], [str(place) for place in range(number)])
        [task] = give_tasks(campaign=campaign, topics=[topic], condition=edits, person=anna, acting_user=olga)
        bank = NuggetBank.objects.get(task=task)
        as_anna.get(url(bank, "editor"))
        with CaptureQueriesContext(connection) as queries:
            assert len(shown(as_anna.get(url(bank, "editor"))).rows) == number
        counts.append(len(queries))
    assert counts[0] == counts[1]


# Banks that a model made alone


@pytest.fixture
def auto(model: ModelJudge, import_file) -> NuggetBank:
    import_file(model.campaign, "segments", [{"docid": "d4", "segment": "Purring heals."}])
    condition = make_condition(model, "AutoNuggets", name="AutoNuggets")
    nuggets = [f"nugget {place}" for place in range(1, 23)]
    topics = Topic.objects.filter(qid="t1")
    _, failed = run(make_job(condition, topics), says(nuggets, ["okay", "vital"] * 11))
    assert failed == {}
    return NuggetBank.objects.select_related("drafting", "condition").get()


def test_an_organizer_can_read_a_models_bank_and_where_it_came_from(auto: NuggetBank, as_olga: Client, as_anna: Client):
    page = as_olga.get(url(auto, "editor")).content.decode()
    assert [text for _, text, _ in shown(as_olga.get(url(auto, "editor"))).rows][:2] == ["nugget 2", "nugget 4"]
    assert "of 20 at most" in page
    assert '<span class="chip origin"></span>' in page, "an empty chip is not on screen"
    assert not re.search(r'class="chip origin">[^<]', page)
    assert "Reopen these nuggets" not in page
    page = as_olga.get(f"/nuggets/{auto.pk}/drafts/").content.decode()
    assert "drafted by Telltale judge" in page
    assert "d1, d2, d4" in page
    assert "<dt>kept</dt>" not in page
    assert page.count("<td>left out</td>") == 2
    rows = draft_rows(auto)
    assert [(row.place, row.importance, row.end, row.became) for row in rows[:2]] == [
        (1, "okay", "kept", []),
        (2, "vital", "kept", []),
    ]
    assert [row.place for row in rows if row.end == "left out"] == [19, 21]
    for address in (url(auto, "editor"), f"/nuggets/{auto.pk}/drafts/"):
        assert as_anna.get(address).status_code == 404
    assert not Exposure.objects.exists()


def test_the_table_of_such_a_condition_has_no_people(auto: NuggetBank, as_olga: Client):
    page = as_olga.get(f"/campaigns/study/drafts/{auto.condition_id}/").content.decode()
    row = re.findall(r"<tr>(.*?)</tr>", page.split("<tbody>")[1], re.DOTALL)[0]
    assert " ".join(re.sub("<[^>]+>", " ", row).split()) == "why do cats purr t1 1 22 20 11"
    assert "nobody yet" not in page
    assert ".csv" not in page
    assert as_olga.get(f"/campaigns/study/drafts/{auto.condition_id}.csv").status_code == 404


def test_it_cannot_be_reopened(auto: NuggetBank, olga: Person):
    with pytest.raises(actions.ReopenError, match="Nobody works on these nuggets here"):
        actions.reopen_bank(auto, reason="x", acting_user=olga)


# Files


def test_lineage_of_drafts_goes_out_and_comes_back(session: NuggetBank, campaign: Campaign, import_file):
    [line] = condition_lines(session.condition, with_lineage=True)
    record = json.loads(line)
    origins = {one["text"]: one["origin"] for one in record["nuggets"]}
    assert origins == {
        "dogs bark": "drafted",
        "f": "drafted",
        "cats sometimes purr": "drafted",
        "why cats purr": "merged",
        "one": "split",
        "added too": "written",
    }
    ancestors = {one["text"]: one["origin"] for one in record["ancestors"]}
    assert ancestors == {"cats purr": "drafted", "why do cats purr?": "drafted", DRAFTS[4]: "drafted"}
    assert [one["text"] for one in record["drafts"]] == DRAFTS
    assert all("importance" not in one for one in record["drafts"])
    for telltale in ("Telltale", "telltale", "seed"):
        assert telltale not in line
    done = import_file(campaign, "nuggets", line, condition="Back", by="people")
    assert done.state == "done", done.report
    [again] = condition_lines(campaign.conditions.get(name="Back"), with_lineage=True)
    assert json.loads(again) == record
    bank = NuggetBank.objects.get(condition__name="Back")
    assert (bank.drafting.nuggets, bank.drafting.job, bank.draft_seed) == (DRAFTS, None, None)
    assert {nugget.draft for nugget in bank.nuggets.all()} == {None, *range(1, len(DRAFTS) + 1)}


def test_ancestors_that_nobody_gave_an_importance_have_none(session: NuggetBank):
    [line] = condition_lines(session.condition, with_lineage=True)
    assert all("importance" not in one for one in json.loads(line)["ancestors"])


def test_post_edited_nuggets_are_exported_like_any_other(session: NuggetBank):
    [line] = condition_lines(session.condition)
    record = json.loads(line)
    assert set(record) == {"query", "qid", "nuggets"}
    assert [(one["text"], one["importance"]) for one in record["nuggets"]] == listed(session)
    edition = BankEdition.objects.get(bank=session)
    assert [one["uid"] for one in edition.nuggets] == [nugget.name for nugget in nuggets_in_order(session)]


@pytest.mark.parametrize("name", ["session", "auto"])
def test_an_administrator_who_takes_them_away_has_seen_a_models_nuggets(name: str, request, admin: Person):
    bank = request.getfixturevalue(name)
    assert bank.condition.shows_a_models_nuggets()
    data = {"action": "export_nuggets", "_selected_action": [bank.pk]}
    response = client_of(admin).post("/admin/nuggets/nuggetbank/", data)
    assert json.loads(b"".join(response.streaming_content))["qid"] == "t1"
    seen = Exposure.objects.filter(person=admin).values_list("topic__qid", "kind")
    assert list(seen) == [("t1", "nuggets")]


def test_a_bank_written_by_hand_beside_it_counts_for_itself(bank: NuggetBank, session: NuggetBank):
    fill(bank, (uuid4(), "a", "vital"))
    do(bank, actions.finish_bank)
    assert len(list(condition_lines(bank.condition))) == 1
    counts = edit_counts([bank, session])
    assert (counts[bank.pk]["add"], counts[session.pk]["add"]) == (1, 2)
