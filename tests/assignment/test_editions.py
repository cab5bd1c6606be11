"""Banks of a former edition: brought by a file, edited by people, and by what both have the editions are compared."""

import csv
import io
import json
import re
from io import StringIO
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from assessor.accounts.models import Person
from assessor.campaigns.models import Answer, Campaign, Condition, Import
from assessor.work.actions import give_tasks
from assessor.work.blindness import has_seen
from assessor.work.models import Exposure
from assignment.actions.judged_answers import add_sheets
from assignment.editions import edition_scores
from nuggets import actions, queries
from nuggets.exports import condition_lines
from nuggets.models import NuggetBank
from nuggets.queries import names_a_date, nuggets_in_order
from tests.assignment.scored import auto_condition, row, sheet_on
from tests.conftest import client_of
from tests.imports.conftest import told, warned
from tests.judging import nuggets_of
from tests.nuggets.conftest import do, send

FILE = {"condition": "Old", "qrels": "NIST", "edition": "TREC 2024", "edition_date": "2024-08", "by": "people"}
A, B, C, D, E = "cats purr", "by 2019 all purred", "kittens purr", "glass is melted", "glass is sorted"
UID = "00000000-0000-0000-0000-00000000000{}"
LETTER = {"s": "support", "p": "partial_support", "n": "not_support"}


def bank_line(qid: str, nuggets: dict[str, str], **more: Any) -> dict[str, Any]:
    """Return a bank as exports with lineage have it."""
    lineage = {"origin": "written", "parents": [], "evidence": [{"docid": "gone", "start": 0, "end": 2}]}
    listed = [
        {"text": text, "importance": importance, "id": UID.format(at), **lineage}
        for at, (text, importance) in enumerate(nuggets.items())
    ]
    return {"query": "asked then", "qid": qid, "nuggets": listed, "ancestors": [], **more}


# Topic t2 was old-2 in the former edition.
LINES = [
    bank_line("t1", {A: "vital", B: "okay", C: "vital"}),
    bank_line("old-2", {D: "okay", E: "vital"}, topic="t2"),
]


@pytest.fixture
def inherited(answered: Campaign, import_file) -> Condition:
    done = import_file(answered, "former_nuggets", LINES, **FILE)
    assert (done.state, told(done), warned(done)) == (Import.State.DONE, [], {})
    return answered.conditions.get(name="Old")


@pytest.fixture
def banks(inherited: Condition, anna: Person, olga: Person) -> dict[str, NuggetBank]:
    topics = list(inherited.campaign.topics.order_by("qid"))
    give_tasks(campaign=inherited.campaign, topics=topics, condition=inherited, person=anna, acting_user=olga)
    return {bank.topic.qid: bank for bank in NuggetBank.objects.filter(condition=inherited)}


@pytest.fixture
def edited(banks: dict[str, NuggetBank]) -> dict[str, NuggetBank]:
    """On t1 A less important, B reworded and more so, C dropped, one added; on t2 both kept, D more important."""
    first, second = banks["t1"], banks["t2"]
    uid = {one.text: one.uid for bank in banks.values() for one in nuggets_in_order(bank)}
    do(first, actions.set_importance, uid=uid[A], importance="okay")
    do(first, actions.reword_nugget, uid=uid[B], text="by 2025 all purred")
    do(first, actions.set_importance, uid=uid[B], importance="vital")
    do(first, actions.delete_nugget, uid=uid[C])
    do(first, actions.add_nugget, uid=UID.format(9), text="added", evidence=None)
    do(first, actions.set_importance, uid=UID.format(9), importance="vital")
    for text in (D, E):
        do(second, actions.set_importance, uid=uid[text], importance="vital")
    for bank in (first, second):
        do(bank, actions.finish_bank)
    return {bank.topic.qid: bank for bank in NuggetBank.objects.filter(condition=first.condition)}


LABELS = {
    "t1": {"team.one": {A: "s", B: "p", "added": "n"}, "team.two": {A: "n", B: "s", "added": "s"}, "team.empty": {}},
    "t2": {"team.one": {D: "s", E: "n"}, "team.two": {D: "n", E: "p"}},
}


@pytest.fixture
def labelled(inherited: Condition, edited: dict[str, NuggetBank]) -> Condition:
    """A model's labels of this edition's runs."""
    condition = auto_condition(inherited, "Old/Auto")
    for qid, by_tag in LABELS.items():
        text_of = {one.pk: one.text for one in edited[qid].nuggets.all()}
        texts = [text_of[pk].replace("2025", "2019") for pk in nuggets_of(edited[qid])]
        for tag, labels in by_tag.items():
            answer = Answer.objects.get(run__tag=tag, topic__qid=qid, apart=False)
            add_sheets([row(condition, edited[qid], answer, "".join(labels.get(text, "n") for text in texts))])
    return condition


def assigned(qid: str, tag: str, labels: dict[str, str]) -> dict[str, Any]:
    """Return a line of the former edition's assignments."""
    nuggets = [
        {"text": text, "importance": "vital", "assignment": LETTER[letter]}
        for text, letter in labels.items()
        if letter in LETTER
    ] + [{"text": text, "importance": "vital"} for text, letter in labels.items() if letter == "?"]
    return {"query": "q", "qid": qid, "nuggets": nuggets, "run_id": tag, "answer_text": "a", "response_length": 1}


FORMER = [
    assigned("t1", "old.x", {A: "s", B: "s", C: "n"}),
    assigned("old-2", "old.x", {D: "s", E: "s"}),
    assigned("t1", "old.y", {C: "s", B: "n", A: "n"}),
    assigned("t9", "old.y", {"elsewhere": "s"}),
    assigned("t1", "control.nuggets", {A: "s", B: "s", C: "s"}),
]


def upload(olga: Person, labelled: Condition, lines: list[dict[str, Any]]) -> str:
    """Send the former edition's assignments to the page, and return it."""
    content = "".join(json.dumps(one) + "\n" for one in lines).encode()
    form = {"condition": labelled.pk, "upload": SimpleUploadedFile("old.jsonl", content)}
    assert labelled.nuggets is not None
    response = client_of(olga).post(f"/campaigns/study/editions/{labelled.nuggets.pk}/", form)
    assert response.status_code == 200
    return " ".join(re.sub("<[^>]*>", " ", response.content.decode()).split())


def test_a_file_makes_a_condition_that_says_where_its_nuggets_come_from(inherited: Condition):
    record = Import.objects.get(kind="former_nuggets")
    assert (inherited.kind, inherited.method) == ("nuggets", "Inherited+Edits")
    assert (str(inherited.judge), inherited.judge.parameters) == ("inherited from TREC 2024", {"by": "people"})
    assert f"file={record.file_name} sha256:{record.sha256[:12]}" in inherited.identity
    assert record.options == FILE
    [first, second] = inherited.draftings.order_by("topic__qid")
    assert (first.nuggets, first.labels, first.former_qid) == ([A, B, C], ["vital", "okay", "vital"], "")
    assert (second.nuggets, second.labels, second.former_qid) == ([D, E], ["okay", "vital"], "old-2")


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"edition_date": "August"}, (0, "edition date", "August", "a year, month or day, such as 2024, 2024-08")),
        ({"by": "nobody"}, (0, "by", "nobody", "people or model")),
        ({"edition": " "}, (0, "edition", " ", "a name of 1 to 120")),
        ({"qrels": "Other"}, (0, "qrels", "Other", "people's grades of the campaign: NIST")),
    ],
)
def test_options_that_say_too_little_are_refused(campaign: Campaign, import_file, change, error):
    refused = import_file(campaign, "former_nuggets", LINES, **FILE | change)
    assert refused.state == Import.State.REFUSED
    [found] = told(refused)
    assert (*found[:3], found[3][: len(error[3])]) == error
    assert not campaign.conditions.filter(name="Old").exists()


def test_a_topic_that_is_not_there_is_refused_by_the_field_that_names_it(campaign: Campaign, import_file):
    lines = [bank_line("old", {A: "vital"}, topic="t7"), bank_line("t8", {A: "vital"})]
    found = told(import_file(campaign, "former_nuggets", lines, **FILE))
    assert [one[:3] for one in found] == [(1, "topic", "t7"), (2, "qid", "t8")]
    twice = [bank_line("t1", {A: "vital"}), bank_line("old", {A: "vital"}, topic="t1")]
    [error] = told(import_file(campaign, "former_nuggets", twice, **FILE))
    assert error[:3] == (2, "topic", "t1")


def test_the_same_file_again_adds_nothing_and_another_is_refused(inherited: Condition, import_file):
    again = import_file(inherited.campaign, "former_nuggets", LINES, **FILE)
    assert (again.state, again.report["counts"]["drafts already there"]) == (Import.State.DONE, 5)
    other = import_file(inherited.campaign, "former_nuggets", LINES, **FILE | {"by": "model"})
    assert told(other) == [(0, "by", "model", "people, as Old is known already")]
    other = import_file(inherited.campaign, "former_nuggets", [LINES[1] | {"qid": "older-2"}], **FILE)
    assert [one[:3] for one in told(other)] == [(1, "qid", "older-2")]


def test_people_see_that_nuggets_are_inherited_and_which_may_be_out_of_date(
    banks: dict[str, NuggetBank], inherited: Condition, anna: Person
):
    nuggets = nuggets_in_order(banks["t1"])
    assert {(one.origin, one.importance, one.is_undecided) for one in nuggets} == {("inherited", "", True)}
    page = client_of(anna).get(f"/nuggets/{banks['t1'].pk}/").content.decode()
    assert '<p data-say="draft">inherited</p>' in page
    assert "0 of 3 inherited nuggets decided" in page
    assert "out of date?" in page
    assert "data-dated=" in page
    for hidden in ("TREC 2024", "Old", inherited.import_record.file_name, "by people"):
        assert hidden not in page
    assert inherited.task_for_assessors.endswith("You start from the nuggets of a former edition.")


def test_a_list_that_is_read_only_says_the_same(edited: dict[str, NuggetBank], anna: Person):
    page = client_of(anna).get(f"/nuggets/{edited['t1'].pk}/").content.decode()
    chips = re.findall(r'class="chip (?:origin|warn dated)">([^<]*)<', page)
    assert sorted(chips) == ["added", "inherited, kept", "inherited, reworded", "out of date?"]


@pytest.mark.parametrize(
    ("text", "is_dated"),
    [
        ("since 2019", True),
        ("in the 1990s", True),
        ("2019年", True),
        ("on 4 July", True),
        ("May 3 was the day", True),
        ("by 3.4.24", True),
        ("12345 cats", False),
        ("may 3 cats purr", False),
        ("300 cats", False),
    ],
)
def test_years_and_days_are_dates(text: str, is_dated: bool):
    assert names_a_date(text) == is_dated


@pytest.mark.parametrize("by", ["people", "model"])
def test_who_opens_an_inherited_bank_can_no_longer_write_blind(
    campaign: Campaign, condition: Condition, import_file, anna: Person, olga: Person, by: str
):
    import_file(campaign, "former_nuggets", LINES, **FILE | {"by": by})
    old = campaign.conditions.get(name="Old")
    assert old.shows_a_models_nuggets()
    assert not old.is_peoples
    assert not old.is_blind()
    topic = campaign.topics.get(qid="t1")
    [task] = give_tasks(campaign=campaign, topics=[topic], condition=old, person=anna, acting_user=olga)
    client_of(anna).get(f"/nuggets/{task.nugget_bank.pk}/")
    assert has_seen(anna, [topic], condition) == {topic.pk}
    # Only this person's: another one's page, and another topic, stay blind.
    assert client_of(anna).get(f"/campaigns/study/editions/{old.pk}/").status_code == 404
    assert has_seen(anna, [campaign.topics.get(qid="t2")], condition) == set()


def test_the_page_tells_what_changed(edited: dict[str, NuggetBank], inherited: Condition, olga: Person):
    page = client_of(olga).get(f"/campaigns/study/editions/{inherited.pk}/").content.decode()
    stats = dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", page))
    assert stats == {
        **{"Kept": "3", "Reworded": "1", "Merged": "0", "Split": "0", "Dropped": "1", "Added": "1"},
        **{"Undecided": "0", "Importance changed": "3"},
    }
    assert "Nuggets of TREC 2024, made in 2024-08 by people" in page
    assert "t2, formerly old-2" in page
    assert "by 2025 all purred" not in page
    assert not Exposure.objects.filter(person=olga).exists()
    page = client_of(olga).get(f"/campaigns/study/editions/{inherited.pk}/?topic=t1").content.decode()
    for text in (A, B, C, "by 2025 all purred", "added"):
        assert text in page
    assert Exposure.objects.filter(person=olga, topic__qid="t1", kind="nuggets").exists()
    assert "former_edition" not in client_of(olga).get(f"/campaigns/study/conditions/{inherited.pk}/").content.decode()


def test_the_file_lists_every_change(edited: dict[str, NuggetBank], inherited: Condition, olga: Person):
    response = client_of(olga).get(f"/campaigns/study/editions/{inherited.pk}/files/changes")
    rows = list(csv.reader(io.StringIO(b"".join(response.streaming_content).decode())))
    assert sorted(rows[1:]) == [
        ["t1", "t1", "", "", "", "added", "", "added", "vital"],
        ["t1", "t1", "1", A, "vital", "kept", "yes", A, "okay"],
        ["t1", "t1", "2", B, "okay", "reworded", "yes", "by 2025 all purred", "vital"],
        ["t1", "t1", "3", C, "vital", "dropped", "", "", ""],
        ["t2", "old-2", "1", D, "okay", "kept", "yes", D, "vital"],
        ["t2", "old-2", "2", E, "vital", "kept", "", E, "vital"],
    ]
    assert Exposure.objects.filter(person=olga, kind="nuggets").count() == 2


def test_merged_and_split_nuggets_are_not_kept(banks: dict[str, NuggetBank], inherited: Condition, olga: Person):
    uid = {one.text: one.uid for one in nuggets_in_order(banks["t1"])}
    do(banks["t1"], actions.merge_nuggets, uids=[uid[A], uid[C]], uid=UID.format(8), text="both purr")
    page = client_of(olga).get(f"/campaigns/study/editions/{inherited.pk}/").content.decode()
    stats = dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", page))
    assert {name: stats[name] for name in ("Kept", "Merged", "Undecided")} == {
        **{"Kept": "0", "Merged": "2", "Undecided": "3"}
    }


def test_scores_by_kept_nuggets_stand_beside_those_by_all(labelled: Condition, olga: Person):
    found = edition_scores(labelled)
    assert found.topics == ["t1", "t2"]
    told_of = {run.tag: [value for pair in means for value in pair] for run, means in found.rows}
    # A strict by all and by kept nuggets, then A by both.
    assert told_of == {
        "team.one": pytest.approx([5 / 12, 1 / 2, 1 / 2, 5 / 8]),
        "team.two": pytest.approx([1 / 3, 1 / 4, 11 / 24, 3 / 8]),
        "team.empty": [0, 0, 0, 0],
    }
    assert list(told_of) == ["team.one", "team.two", "team.empty"]
    assert [value for pair in found.means for value in pair] == pytest.approx([1 / 4, 1 / 4, 23 / 72, 1 / 3])
    response = client_of(olga).get(f"/campaigns/study/editions/{labelled.nuggets.pk}/files/scores")
    text = b"".join(response.streaming_content).decode()
    assert "Old/Auto,team.two,astrict,2,0.3333333333,0.25\n" in text
    page = client_of(olga).get(f"/campaigns/study/editions/{labelled.nuggets.pk}/").content.decode()
    assert "2 topics with a nugget that both editions have" in page


def test_an_answer_without_all_labels_counts_nowhere(labelled: Condition, edited: dict[str, NuggetBank]):
    sheet = sheet_on(labelled, "t1", "team.one")
    added = edited["t1"].nuggets.get(text="added")
    sheet.revise("test", {added.pk: {"label": ""}}, judge_id=sheet.judge_id)
    found = edition_scores(labelled)
    told_of = {run.tag: [value for pair in means for value in pair] for run, means in found.rows}
    assert (found.incomplete, told_of["team.one"]) == (1, [1 / 2, 1 / 2, 1 / 2, 1 / 2])


def test_a_former_editions_assignments_chain_the_means(labelled: Condition, olga: Person):
    page = upload(olga, labelled, FORMER)
    # Then, by all and by kept nuggets; now, by kept ones and all; the change, with its interval; chained.
    assert "All, strict 0.5000 0.5000 0.2500 0.2500 -0.2500 [-1.3089, 0.8089] 0.2500" in page
    assert "Means of 3 runs now ( Old/Auto ) and 2 then, over 2 topics." in page
    assert "1 of its lines are about other topics." in page
    assert "Control runs left out: control.nuggets." in page
    assert not Import.objects.filter(file_name="old.jsonl").exists()


def test_kept_nuggets_then_are_those_kept_now(labelled: Condition, olga: Person):
    """C, which was dropped, counts among all nuggets then, and not among those kept."""
    page = upload(olga, labelled, [FORMER[0], FORMER[2]])
    assert "All, strict 0.5000 0.5000 0.3333 0.3333 -0.1667 0.3333" in page
    page = upload(olga, labelled, [assigned("t1", "old.y", {C: "s", B: "n", A: "n"})])
    assert "All, strict 0.3333 0.0000 0.3333 0.3333 0.3333 0.6667" in page


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        ([assigned("t1", "old.x", {"other": "s"})], "line 1: nuggets[0].text: found other; expected a nugget of the"),
        ([FORMER[0], FORMER[0]], "line 2: run_id: found old.x; expected one line of this run on t1"),
        ([FORMER[3]], "found 1 lines of other topics; expected assignments of the nuggets that Old inherited"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(labelled: Condition, olga: Person, lines, error):
    page = upload(olga, labelled, lines)
    assert error in page
    assert "Means of" not in page


def test_a_former_answer_that_lacks_a_label_counts_nowhere(labelled: Condition, olga: Person):
    page = upload(olga, labelled, [*FORMER[:2], assigned("t1", "old.y", {A: "?", B: "s", C: "s"})])
    assert "1 of its answers lack a label and count nowhere." in page


def test_lineage_says_inherited_and_comes_in_again(edited, inherited: Condition, import_file):
    lines = list(condition_lines(inherited, with_lineage=True))
    assert {one["origin"] for one in json.loads(lines[1])["nuggets"]} == {"inherited"}
    done = import_file(inherited.campaign, "nuggets", "".join(lines), condition="Again", by="people")
    assert (done.state, told(done)) == (Import.State.DONE, [])


def test_the_command(campaign: Campaign, tmp_path):
    path, out = tmp_path / "old.jsonl", StringIO()
    path.write_text("".join(json.dumps(one) + "\n" for one in LINES))
    options = [f"--{name.replace('_', '-')}={value}" for name, value in FILE.items()]
    call_command("import_former_nuggets", "study", str(path), *options, stdout=out)
    assert "1 condition added, 2 topics with drafts, 5 drafts added" in out.getvalue()


def test_the_editor_marks_what_it_is_told_of(banks: dict[str, NuggetBank], anna: Person):
    listed = send(client_of(anna), banks["t1"], "reading", text="how").json()["nuggets"]
    assert {one["draft"] for one in listed} == {A, B, C}
    assert queries.DRAFT_WORDS.keys() == queries.INHERITED_WORDS.keys()
