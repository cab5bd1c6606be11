"""Drafts that a model made elsewhere: what a file of them makes, and that people edit them as those made here."""

import hashlib
import json
from io import StringIO
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition, Import, Judge
from assessor.imports import importer
from assessor.work.actions import PlanError, give_tasks
from assessor.work.blindness import has_seen
from assessor.work.models import Exposure
from nuggets import actions
from nuggets.exports import condition_lines, outcome_lines
from nuggets.loaders import DraftLoader
from nuggets.models import Drafting, NuggetBank
from nuggets.queries import nuggets_in_order
from tests.conftest import client_of
from tests.imports.conftest import other_campaign, rows, told, warned  # noqa: F401
from tests.nuggets.conftest import do, send

FILE = {"condition": "Edits", "qrels": "NIST", "maker": "GPT-4o by the nuggetizer"}
TEXTS = [f"fact {number}" for number in range(30)]


def line(qid: str = "t1", texts: list[str] = TEXTS, vital: int = 10) -> dict[str, object]:
    """Return a line of drafts, the first ones vital."""
    titles = {"t1": "why do cats purr", "t2": "how is glass recycled", "t3": "third"}
    nuggets = [{"text": text, "importance": "vital" if at < vital else "okay"} for at, text in enumerate(texts)]
    return {"query": titles[qid], "qid": qid, "nuggets": nuggets}


@pytest.fixture
def imported(campaign: Campaign, import_file) -> Condition:
    done = import_file(campaign, "drafts", [line(), line("t2", ["a", "b"], 1)], **FILE)
    assert (done.state, told(done), warned(done)) == (Import.State.DONE, [], {})
    assert done.report["counts"] == {"conditions added": 1, "topics with drafts": 2, "drafts added": 32, "lines": 2}
    return campaign.conditions.get(name="Edits")


@pytest.fixture
def given(imported: Condition, anna: Person, olga: Person) -> NuggetBank:
    topics = [imported.campaign.topics.get(qid="t1")]
    [task] = give_tasks(campaign=imported.campaign, topics=topics, condition=imported, person=anna, acting_user=olga)
    return NuggetBank.objects.get(task=task)


def test_a_file_makes_a_condition_whose_identity_names_file_and_maker(imported: Condition):
    record = Import.objects.get(kind="drafts")
    text = "".join(json.dumps(one) + "\n" for one in (line(), line("t2", ["a", "b"], 1)))
    assert record.sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert (imported.kind, imported.method) == ("nuggets", "AutoNuggets+Edits")
    assert (imported.judge.kind, imported.judge.name) == ("imported", "GPT-4o by the nuggetizer")
    assert imported.judge.parameters == {"by": "model"}
    assert imported.identity == (
        "kind=nuggets; creation=AutoNuggets+Edits; qrels=NIST; drafting=GPT-4o by the nuggetizer; "
        f"file={record.file_name} sha256:{record.sha256[:12]}; protocol={imported.protocol}"
    )
    [first, second] = imported.draftings.order_by("topic__qid")
    assert (first.nuggets, first.labels) == (TEXTS, ["vital"] * 10 + ["okay"] * 20)
    assert (second.nuggets, second.labels) == (["a", "b"], ["vital", "okay"])
    assert (first.job, first.judge, first.import_record) == (None, imported.judge, record)


def test_people_get_them_shuffled_and_without_importance(given: NuggetBank, imported: Condition):
    nuggets = nuggets_in_order(given)
    assert given.draft_seed is not None
    assert sorted(nugget.text for nugget in nuggets) == sorted(TEXTS)
    assert [nugget.text for nugget in nuggets] != TEXTS
    assert {(nugget.origin, nugget.importance, nugget.made_by) for nugget in nuggets} == {
        ("drafted", "", imported.judge)
    }
    assert given.drafting == imported.draftings.get(topic__qid="t1")


def test_the_editor_shows_neither_maker_nor_file_nor_importance(
    given: NuggetBank, condition: Condition, anna: Person, imported: Condition
):
    page = client_of(anna).get(f"/nuggets/{given.pk}/").content.decode()
    assert "fact 7" in page
    for hidden in ("GPT-4o", "Edits:", ".jsonl", imported.import_record.file_name, imported.import_record.sha256[:12]):
        assert hidden not in page
    told_to_her = send(client_of(anna), given, "reading", text="how").json()["nuggets"]
    assert len(told_to_her) == 30
    assert {row["importance"] for row in told_to_her} == {""}
    assert has_seen(anna, [given.topic], condition) == {given.topic_id}


def test_outcomes_and_lineage_are_those_of_drafts_made_here(given: NuggetBank, imported: Condition, olga: Person):
    by_text = {nugget.text: nugget.uid for nugget in nuggets_in_order(given)}
    do(given, actions.delete_nugget, uid=by_text["fact 29"])
    do(given, actions.reword_nugget, uid=by_text["fact 0"], text="reworded")
    for text, uid in by_text.items():
        if text != "fact 29":
            do(given, actions.set_importance, uid=uid, importance="okay")
    do(given, actions.finish_bank)
    header, row, other = list(outcome_lines(imported))
    told_of = dict(zip(header.strip().split(","), row.strip().split(","), strict=True))
    ends = [told_of[name] for name in ("drafts", "kept", "edited", "merged", "split", "deleted", "added", "nuggets")]
    assert ends == ["30", "28", "1", "0", "0", "1", "0", "29"]
    assert other.startswith("t2,,not given,2,")
    page = client_of(olga).get(f"/nuggets/{given.pk}/drafts/").content.decode()
    record = imported.import_record
    assert f'from the file <a href="/campaigns/study/imports/{record.pk}/">{record.file_name}</a>' in page
    assert "drafted by GPT-4o by the nuggetizer elsewhere" in page
    assert page.count("<td>vital</td>") == 10
    assert "Window" not in page
    text = client_of(olga).get(f"/campaigns/study/drafts/{imported.pk}/").content.decode()
    assert record.file_name in text


def test_who_takes_them_away_has_seen_a_models_nuggets(given: NuggetBank, imported: Condition, olga: Person):
    for text, uid in [(nugget.text, nugget.uid) for nugget in nuggets_in_order(given)]:
        do(given, actions.set_importance, uid=uid, importance="okay" if text else "vital")
    do(given, actions.finish_bank)
    response = client_of(olga).get("/campaigns/study/exports/nuggets/file/?of=Edits&form=jsonl")
    assert b"fact 3" in b"".join(response.streaming_content)
    assert Exposure.objects.filter(person=olga, topic=given.topic, kind="nuggets", where="export of Edits").exists()


def test_a_topic_without_drafts_in_the_file_is_not_given(campaign, import_file, anna, olga):
    import_file(campaign, "drafts", [line()], **FILE)
    topics, condition = [campaign.topics.get(qid="t2")], campaign.conditions.get(name="Edits")
    with pytest.raises(PlanError, match="Under Edits there are no drafts yet on t2"):
        give_tasks(campaign=campaign, topics=topics, condition=condition, person=anna, acting_user=olga)


def test_the_same_file_again_changes_nothing(imported: Condition, import_file, rows):  # noqa: F811
    before = rows()
    again = import_file(imported.campaign, "drafts", [line(), line("t2", ["a", "b"], 1)], **FILE)
    assert (again.state, told(again), rows()) == (Import.State.DONE, [], before)
    assert again.report["counts"] == {"drafts already there": 32, "lines": 2}


@pytest.mark.parametrize(
    ("lines", "options", "field", "expected"),
    [
        ([line(texts=["other"])], {}, "nuggets", "those that Edits has on t1 already"),
        ([line("t3")], {}, "qid", "a topic of the file that made Edits"),
        ([line()], {"maker": "Llama"}, "maker", "GPT-4o by the nuggetizer, as Edits is known already"),
        ([line()], {"qrels": "Second"}, "qrels", "NIST, as Edits is known already"),
        ([line()], {"condition": "ManualNuggets"}, "condition", "a new name, or that of imported drafts"),
        ([line()], {"qrels": "UMBRELA"}, "qrels", "people's grades of the campaign: NIST, Second"),
        ([line()], {"qrels": "nobody's"}, "qrels", "people's grades of the campaign: NIST, Second"),
        ([line()], {"maker": " "}, "maker", "a name of 1 to 120 visible characters"),
    ],
)
def test_what_a_condition_of_drafts_can_not_be(imported, import_file, condition, lines, options, field, expected):
    campaign = imported.campaign
    import_file(campaign, "topics", "t3\tthird\n")
    import_file(campaign, "qrels", "t1 0 d1 1\n", source="Second", by="people")
    import_file(campaign, "qrels", "t1 0 d1 1\n", source="UMBRELA", by="model")
    before = (Condition.everything.count(), Drafting.everything.count())
    refused = import_file(campaign, "drafts", lines, **FILE | options)
    assert refused.state == Import.State.REFUSED
    assert [(error[1], error[3]) for error in told(refused)] == [(field, expected)]
    assert (Condition.everything.count(), Drafting.everything.count()) == before


def test_the_same_file_under_another_name_is_refused_with_the_name_it_has(imported: Condition, import_file):
    lines = [line(), line("t2", ["a", "b"], 1)]
    refused = import_file(imported.campaign, "drafts", lines, **FILE | {"condition": "Again"})
    assert told(refused) == [(0, "condition", "Again", "drafts that are not there yet; Edits has these")]
    assert refused.report["errors"][0]["remedy"] == "Give people topics under Edits."
    # By another maker, or with another text, it is another condition.
    other = import_file(imported.campaign, "drafts", lines, **FILE | {"condition": "Again", "maker": "Llama"})
    assert other.state == Import.State.DONE


@pytest.mark.parametrize(
    ("texts", "field", "found", "expected"),
    [
        ([], "nuggets", "0 drafts", "1 to 30"),
        ([*TEXTS, "more"], "nuggets", "31 drafts", "1 to 30"),
        (["x" * 2001], "nuggets[0].text", "2,001 characters", "at most 2,000, as in the editor"),
        ([" "], "nuggets[0].text", " ", "text that is not blank"),
    ],
)
def test_what_drafts_can_not_be(campaign, import_file, texts, field, found, expected):
    refused = import_file(campaign, "drafts", [line(texts=texts)], **FILE)
    assert told(refused) == [(1, field, found, expected)]
    assert Drafting.everything.count() == 0


def test_blanks_are_folded_and_what_else_a_line_has_is_left_out_with_a_warning(campaign, import_file):
    odd = line(texts=["a\n b"]) | {"source": "x"}
    done = import_file(campaign, "drafts", [odd], **FILE)
    assert warned(done) == {"further keys left out": [(1, "nuggets", "more keys", "text and importance alone")]}
    assert Drafting.objects.get().nuggets == ["a b"]


def test_drafts_without_importance(campaign, import_file):
    nuggets = [{"text": "a"}, {"text": "b", "importance": "failed"}]
    record = {"query": "why do cats purr", "qid": "t1", "nuggets": nuggets}
    assert import_file(campaign, "drafts", [record], **FILE).state == Import.State.REFUSED
    done = import_file(campaign, "drafts", [record], invalid_labels="missing", **FILE)
    assert done.state == Import.State.DONE
    assert Drafting.objects.get().labels == ["", ""]
    assert Drafting.objects.get().importance == []


def test_a_killed_import_leaves_nothing(campaign, import_file, monkeypatch, rows):  # noqa: F811
    before = rows()
    assert "Drafting" in before
    monkeypatch.setattr(DraftLoader, "finish", lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        import_file(campaign, "drafts", [line()], **FILE)
    importer.sweep()
    assert rows() == before
    assert not Judge.objects.filter(name=FILE["maker"]).exists()


def test_what_an_import_is_bringing_is_nobodys_yet(campaign, import_file, monkeypatch):
    seen: list[int] = []
    monkeypatch.setattr(
        DraftLoader, "finish", lambda *args: seen.extend((Drafting.objects.count(), Drafting.everything.count()))
    )
    import_file(campaign, "drafts", [line()], **FILE)
    assert seen == [0, 1]
    assert Drafting.objects.count() == 1


def test_the_command(campaign, tmp_path):
    path, out = tmp_path / "drafts.jsonl", StringIO()
    path.write_text(json.dumps(line()) + "\n")
    options = ("--condition=Edits", "--qrels=NIST", "--maker=GPT-4o")
    call_command("import_drafts", "study", str(path), *options, stdout=out)
    assert "1 condition added, 1 topic with drafts, 30 drafts added" in out.getvalue()
    assert campaign.conditions.get(name="Edits").identity.split("; ")[4].startswith("file=drafts.jsonl sha256:")
    for lacking in options:
        with pytest.raises(CommandError, match="required"):
            call_command("import_drafts", "study", str(path), *(one for one in options if one != lacking))


def test_lineage_has_the_drafts_and_the_deleted_ones_and_comes_in_again(
    given: NuggetBank,
    imported: Condition,
    other_campaign: Campaign,  # noqa: F811
    import_file,
    olga: Person,
):
    uid_of = {nugget.text: nugget.uid for nugget in nuggets_in_order(given)}
    do(given, actions.delete_nugget, uid=uid_of["fact 29"])
    do(given, actions.reword_nugget, uid=uid_of["fact 0"], text="reworded")
    merged = UUID(int=99)
    do(given, actions.merge_nuggets, uids=[uid_of["fact 1"], uid_of["fact 2"]], uid=merged, text="both")
    for nugget in nuggets_in_order(given):
        do(given, actions.set_importance, uid=nugget.uid, importance="okay")
    do(given, actions.finish_bank)
    [plain] = condition_lines(imported)
    assert set(json.loads(plain)) == {"query", "qid", "nuggets"}
    assert {key for nugget in json.loads(plain)["nuggets"] for key in nugget} == {"text", "importance"}

    [out] = condition_lines(imported, with_lineage=True)
    record = json.loads(out)
    assert record["drafts"] == line()["nuggets"]
    by_id = {one["id"]: one for key in ("nuggets", "ancestors", "deleted") for one in record[key]}
    edited = by_id[str(uid_of["fact 0"])]
    assert (edited["text"], edited["draft"], record["drafts"][edited["draft"] - 1]["text"]) == ("reworded", 1, "fact 0")
    assert [(one["text"], one["draft"], one["origin"]) for one in record["deleted"]] == [("fact 29", 30, "drafted")]
    assert sorted(one["draft"] for one in record["ancestors"]) == [2, 3]
    assert "draft" not in by_id[str(merged)]

    import_file(other_campaign, "topics", "t1\twhy do cats purr\n")
    for at, by in enumerate(("people", "model")):
        name = f"back {at}"
        done = import_file(other_campaign, "nuggets", out, condition=name, by=by)
        assert (done.state, told(done), warned(done)) == (Import.State.DONE, [], {})
        back = other_campaign.conditions.get(name=name)
        assert list(condition_lines(back, with_lineage=True)) == [out]
        assert list(condition_lines(back)) == [plain]
        # A model's drafts are in it, whoever is said to have made the nuggets.
        assert back.shows_a_models_nuggets()
        again = import_file(other_campaign, "nuggets", out, condition=name, by=by)
        assert again.report["counts"]["banks already there"] == 1
    bank = NuggetBank.objects.get(condition=back)
    page = client_of(olga).get(f"/nuggets/{bank.pk}/drafts/").content.decode()
    ends = [page.count(f"<td>{end}</td>") for end in ("kept", "edited", "merged", "deleted", "left out")]
    assert ends == [26, 1, 2, 1, 0]
    record["deleted"][0]["draft"] = 31
    refused = import_file(other_campaign, "nuggets", [record], condition="odd", by="model")
    assert told(refused) == [(1, "draft", "31", "each place once, up to 30, the number of drafts")]
    del record["deleted"][0]["draft"]
    refused = import_file(other_campaign, "nuggets", [record], condition="odd", by="model")
    assert told(refused) == [(1, "deleted", "fact 29", "nuggets with their place in the drafts as draft")]
