"""Nuggets that come in from files: what is taken, refused and warned of, with lineage and without."""

import io
import json
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command

from assessor.campaigns.actions import ConditionError
from assessor.campaigns.models import Campaign, Condition, Import, Judge
from assessor.imports import importer
from nuggets import actions
from nuggets.actions import create_manual_nuggets
from nuggets.exports import condition_lines
from nuggets.formats import IMPORTANCE, ORIGINS
from nuggets.loaders import NuggetLoader
from nuggets.models import BankEdition, Nugget, NuggetBank
from nuggets.queries import finished_counts
from tests.conftest import client_of
from tests.imports.conftest import other_campaign, refuses, rows, told, warned  # noqa: F401
from tests.nuggets.conftest import A, B, C, do, fill

FILE = {"condition": "AutoNuggets of Mia", "by": "model"}
LACKING = "a topic of the campaign; load the topics first"


def line(qid="t1", nuggets=None, query=None, **more):
    titles = {"t1": "why do cats purr", "t2": "how is glass recycled"}
    default = [{"text": "Cats purr", "importance": "vital"}, {"text": "Dogs bark", "importance": "okay"}]
    return {
        "query": titles.get(str(qid), "") if query is None else query,
        "qid": qid,
        "nuggets": default if nuggets is None else nuggets,
    } | more


def with_lineage(nugget, uid=A, origin="drafted", parents=(), evidence=()):
    """Return a nugget with its lineage; nugget is a text or an object."""
    keys = {"text": nugget, "importance": "vital"} if isinstance(nugget, str) else nugget
    lineage = {"id": str(uid), "origin": origin, "parents": [str(p) for p in parents], "evidence": list(evidence)}
    return keys | lineage


def exported(campaign: Campaign, name: str = FILE["condition"], **options) -> list[str]:
    return list(condition_lines(campaign.conditions.get(name=name), **options))


@pytest.fixture
def topics(other_campaign, import_file):  # noqa: F811
    """Another campaign with the same topics."""
    import_file(other_campaign, "topics", "t1\twhy do cats purr\nt2\thow is glass recycled\n")
    return other_campaign


def test_the_words_of_files_are_those_of_the_records():
    assert tuple(Nugget.Origin.values) == ORIGINS
    assert ("", *IMPORTANCE) == tuple(Nugget.Importance.values)


def test_nuggets_make_a_condition_with_finished_banks(campaign, import_file, olga):
    done = import_file(campaign, "nuggets", [line(), line("t2", [{"text": "Melted"}])], **FILE)
    assert (done.state, told(done), warned(done)) == (Import.State.DONE, [], {})
    assert done.report["counts"] == {"conditions added": 1, "banks added": 2, "nuggets added": 3, "lines": 2}
    condition = campaign.conditions.get()
    assert (condition.name, condition.kind, condition.method) == ("AutoNuggets of Mia", "nuggets", "imported")
    judge = condition.judge
    assert (judge.kind, judge.name, judge.parameters) == ("imported", "AutoNuggets of Mia", {"by": "model"})
    bank = NuggetBank.objects.get(topic__qid="t1")
    assert (bank.condition, bank.maker, bank.task, bank.state) == (condition, judge, None, "finished")
    assert (bank.edition, bank.version, bank.finished_at is None) == (1, 0, False)
    first, second = (bank.nuggets.get(uid=uid) for uid in bank.order)
    assert (first.text, first.importance, first.origin, first.made_by) == ("Cats purr", "vital", "imported", judge)
    edition = BankEdition.objects.get(bank=bank)
    assert (edition.edition, edition.version, edition.consequences) == (1, 0, {})
    assert edition.nuggets == [
        {"uid": first.name, "text": "Cats purr", "importance": "vital", "evidence": []},
        {"uid": second.name, "text": "Dogs bark", "importance": "okay", "evidence": []},
    ]
    [counted] = finished_counts(campaign)
    assert (counted.finished, counted.banks) == (2, 2)


RECORDS = [
    line("t2", [{"text": "é 😀\n<b>"}, {"text": "é 😀\n<b>", "importance": "okay", "source": "post-edit"}], "Another?"),
    line(464, [], "glass"),
    line(nuggets=[{"text": "a", "trace": [1.5, None], "reasoning": {"b": 1}}], mapped=True, zeta=1),
]


def test_nuggets_come_back_as_they_were_from_a_new_campaign(campaign, topics, import_file):
    for target in (campaign, topics):
        import_file(target, "topics", "464\tglass\n")
    import_file(campaign, "nuggets", RECORDS, **FILE)
    lines = exported(campaign)
    assert [json.loads(text) for text in lines] == sorted(RECORDS, key=lambda record: str(record["qid"]))
    assert told(import_file(topics, "nuggets", "".join(lines), **FILE)) == []
    assert exported(topics) == lines
    again = import_file(campaign, "nuggets", "".join(lines), **FILE)
    assert (again.state, again.report["counts"]["banks already there"]) == (Import.State.DONE, 3)
    assert NuggetBank.objects.filter(condition__campaign=campaign).count() == 3


BAD = [
    pytest.param(line("t9"), "qid", "t9", LACKING, id="topic"),
    pytest.param(line("t1"), "qid", "t1", "each once; it stands on line 1 already", id="topic-twice"),
    pytest.param(line(True, query=""), "qid", "True", "an id, as text", id="topic-true"),
    pytest.param(line("t2", {"a": 1}), "nuggets", "{'a': 1}", "a list of nuggets", id="nuggets"),
    pytest.param(line("t2", ["Cats"]), "nuggets[0]", "Cats", "an object with text", id="nugget"),
    pytest.param(line("t2", [{"text": " "}]), "nuggets[0].text", " ", "text that is not blank", id="blank"),
    pytest.param(line("t2", [{"text": 5}]), "nuggets[0].text", "5", "text", id="text"),
    *(
        pytest.param(
            line("t2", [{"text": "a"}, {"text": "b", "importance": found}]),
            "nuggets[1].importance",
            str(found),
            "vital, okay, or no such key",
            id=f"importance-{found}",
        )
        for found in ("failed", "", "Vital", None, 1, ["vital"])
    ),
    pytest.param(line("t2", query=5), "query", "5", "text", id="query"),
    pytest.param({"query": "a", "nuggets": []}, "qid", "keys query, nuggets", "the key qid", id="no-qid"),
    pytest.param(
        line("t2", [{"text": "a", "origin": "web"}]),
        "nuggets[0].origin",
        "web",
        "this key only in a line that has ancestors too",
        id="lineage-alone",
    ),
]


def lineage(*nuggets, ancestors=()):
    return line("t2", list(nuggets), ancestors=list(ancestors))


def evidence(**changes):
    return [{"docid": "d1", "start": 0, "end": 3} | changes]


PLACE = "start before end, in characters from 0, or both null"
BAD += [
    pytest.param(
        lineage({"text": "a", "id": str(A), "origin": "split", "parents": []}),
        "nuggets[0].evidence",
        "keys id, origin, parents",
        "a nugget's lineage: id, origin, parents, evidence",
        id="lineage-in-part",
    ),
    pytest.param(line("t2", [], ancestors="a"), "ancestors", "a", "a list of nuggets", id="ancestors"),
    *(
        pytest.param(
            lineage(with_lineage("a", uid)), "nuggets[0].id", uid, "a UUID, in small letters with hyphens", id=uid
        )
        for uid in ("7", str(UUID(int=0xABC)).upper(), "{" + str(A) + "}")
    ),
    pytest.param(
        lineage(with_lineage("a", origin="found")),
        "nuggets[0].origin",
        "found",
        "one of written, drafted, inherited, merged, split, imported",
        id="origin",
    ),
    pytest.param(
        lineage(with_lineage("a") | {"parents": "b"}), "nuggets[0].parents", "b", "a list of ids of nuggets", id="list"
    ),
    pytest.param(
        lineage(with_lineage("a", parents=[B])),
        "parents",
        f"{B}, of {A}",
        "the id of a nugget in the line",
        id="parent-not-there",
    ),
    pytest.param(lineage(with_lineage("a"), with_lineage("b")), "id", str(A), "each id once in a line", id="id-twice"),
    pytest.param(
        lineage(with_lineage("a", A, parents=[A])),
        "parents",
        f"{A}, an ancestor of itself",
        "no nugget made from itself",
        id="own-parent",
    ),
    pytest.param(
        lineage(with_lineage("a"), ancestors=[with_lineage("b", B)]),
        "ancestors",
        str(B),
        "nuggets that listed ones were made from",
        id="nobodys-ancestor",
    ),
    pytest.param(
        lineage(with_lineage("a") | {"evidence": {}}),
        "nuggets[0].evidence",
        "{}",
        "a list of {docid, start, end}",
        id="evidence",
    ),
    pytest.param(
        lineage(with_lineage("a", evidence=[{"docid": "d1"}])),
        "nuggets[0].evidence[0]",
        "{'docid': 'd1'}",
        "an object with docid, start and end",
        id="evidence-in-part",
    ),
    pytest.param(
        lineage(with_lineage("a", evidence=evidence(docid=1))),
        "nuggets[0].evidence[0].docid",
        "1",
        "an id, as text",
        id="evidence-docid",
    ),
    *(
        pytest.param(
            lineage(with_lineage("a", evidence=evidence(start=start, end=end))),
            "nuggets[0].evidence[0]",
            f"{start} to {end}",
            PLACE,
            id=f"evidence-{start}-{end}",
        )
        for start, end in ((3, 3), (-1, 3), (None, 3), (0, None), (True, 3), (0.0, 3), ("0", "3"))
    ),
]


@pytest.mark.parametrize(("bad", "field", "found", "expected"), BAD)
def test_bad_lines(campaign, refuses, bad, field, found, expected):  # noqa: F811
    refuses(campaign, "nuggets", [json.dumps(line())], json.dumps(bad), (field, found, expected), **FILE)


def test_a_circle_of_two_is_refused(campaign, import_file):
    bad = lineage(with_lineage("a", A, parents=[B]), ancestors=[with_lineage("b", B, parents=[A])])
    [(number, field, found, expected)] = told(import_file(campaign, "nuggets", [bad], **FILE))
    assert (number, field, expected) == (1, "parents", "no nugget made from itself")
    assert found in (f"{A}, an ancestor of itself", f"{B}, an ancestor of itself")


def test_invalid_importance_becomes_absent_where_asked_and_is_counted(campaign, import_file):
    found = ["vital", "failed", "", "failed", None, "very important\u2028"]
    nuggets = [{"text": f"n{at}", "importance": importance} for at, importance in enumerate(found)]
    done = import_file(campaign, "nuggets", [line(nuggets=nuggets)], invalid_labels="missing", **FILE)
    assert (done.state, told(done)) == (Import.State.DONE, [])
    assert done.report["counts"]["importance made absent"] == 5
    [absent] = [kind for kind in done.report["warnings"] if kind["kind"] == "importance made absent"]
    told_of = [(one["line"], one["field"], one["found"]) for one in absent["listed"]]
    assert told_of == [
        (1, f"nuggets[{at}].importance", shown)
        for at, shown in enumerate(["failed", "", "failed", "None", "very important\\u2028"], start=1)
    ]
    [out] = exported(campaign)
    assert [nugget.get("importance") for nugget in json.loads(out)["nuggets"]] == ["vital"] + [None] * 5
    assert '"importance": null' not in out


def test_warnings(campaign, import_file):
    done = import_file(campaign, "nuggets", [line(query="Why purr?"), line("t2", [])], **FILE)
    assert warned(done) == {
        "query differs": [(1, "query", "Why purr?", "why do cats purr, the topic's title")],
        "no nuggets": [(2, "nuggets", "an empty list", "at least one nugget")],
    }
    assert NuggetBank.objects.get(topic__qid="t1").extras == {"query": "Why purr?"}


NAMES = [
    pytest.param({"condition": " "}, (0, "condition", " ", "a name of 1 to 120 visible characters"), id="blank"),
    pytest.param(
        {"condition": "x" * 121},
        (0, "condition", "x" * 120 + "…", "a name of 1 to 120 visible characters"),
        id="long",
    ),
    pytest.param({"by": "us"}, (0, "by", "us", "people or model"), id="by"),
    pytest.param(
        {"condition": "ManualNuggets"},
        (0, "condition", "ManualNuggets, nuggets by ManualNuggets", "a new name, or that of imported nuggets"),
        id="not-imported",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("options", "error"), NAMES)
def test_names_that_a_condition_cannot_have(condition, import_file, rows, options, error):  # noqa: F811
    before = rows()
    refused = import_file(condition.campaign, "nuggets", [line()], **FILE | options)
    assert (told(refused), rows()) == ([error], before)


def test_further_files_add_topics_to_the_condition(campaign, import_file):
    import_file(campaign, "nuggets", [line()], **FILE)
    second = import_file(campaign, "nuggets", [line(), line("t2")], **FILE)
    assert (second.state, second.report["counts"]["banks already there"]) == (Import.State.DONE, 1)
    assert (campaign.conditions.count(), Judge.objects.filter(kind="imported").count()) == (1, 1)
    assert BankEdition.objects.count() == NuggetBank.objects.count() == 2


@pytest.mark.parametrize(
    "other",
    [line(nuggets=[{"text": "Cats purr"}]), line(note=1), line(nuggets=[]), line(query="Other")],
    ids=["nuggets", "key", "none", "query"],
)
def test_another_bank_than_the_loaded_one_is_refused(campaign, import_file, rows, other):  # noqa: F811
    import_file(campaign, "nuggets", [line()], **FILE)
    before = rows()
    refused = import_file(campaign, "nuggets", [line("t2"), other], **FILE)
    assert told(refused) == [(2, "nuggets", "another bank", "the bank of t1 as AutoNuggets of Mia has it already")]
    assert rows() == before


def test_a_topic_is_known_by_its_id_where_a_line_has_no_query(campaign, topics, import_file):
    keys = {"importance": "vital", "source": "post-edit", "mapped_sub_narrative": ["Why do cats purr?", {"at": 2}]}
    record = {"qid": "t1", "nuggets": [{"text": "Cats purr"} | keys], "note": 1}
    done = import_file(campaign, "nuggets", [record], **FILE)
    assert (done.state, told(done), warned(done)) == (Import.State.DONE, [], {})
    [out] = exported(campaign)
    assert json.loads(out) == {"query": "why do cats purr"} | record
    assert list(json.loads(out)["nuggets"][0].items()) == list(record["nuggets"][0].items())
    assert import_file(campaign, "nuggets", [record], **FILE).report["counts"]["banks already there"] == 1
    import_file(topics, "nuggets", out, **FILE)
    assert exported(topics) == [out]


def test_a_refusal_says_on_page_and_command_what_to_do(campaign, import_file, olga, tmp_path):
    import_file(campaign, "nuggets", [line()], **FILE)
    remedy = "Import the file under another name: --condition NAME, or “Condition” on the page."
    refused = import_file(campaign, "nuggets", [line("t2")], **FILE | {"by": "people"})
    [error] = refused.report["errors"]
    assert (error["line"], error["field"], error["remedy"]) == (0, "by", remedy)
    page = client_of(olga).get(f"/campaigns/study/imports/{refused.pk}/").content.decode()
    assert f"<strong>What to do:</strong> <bdi>{remedy}</bdi>" in page
    path, out = tmp_path / "nuggets.jsonl", io.StringIO()
    path.write_text(json.dumps(line("t2")))
    with pytest.raises(CommandError):
        call_command("import_nuggets", "study", str(path), **FILE | {"by": "people"}, stdout=out)
    expected = "model, as AutoNuggets of Mia is known already"
    assert f"  nuggets.jsonl: by: found people; expected {expected}. {remedy}\n" in out.getvalue()


def test_the_maker_of_a_condition_is_of_one_kind(campaign, topics, import_file):
    import_file(campaign, "nuggets", [line()], **FILE)
    refused = import_file(campaign, "nuggets", [line("t2")], **FILE | {"by": "people"})
    assert told(refused) == [(0, "by", "people", "model, as AutoNuggets of Mia is known already")]
    # Another campaign's condition of that name is its own, and says nothing of this one's.
    assert import_file(topics, "nuggets", [line()], **FILE | {"by": "people"}).state == Import.State.DONE
    makers = [one.conditions.get().judge.parameters["by"] for one in (campaign, topics)]
    assert makers == ["model", "people"]


MANY = [line(f"m{n}", query=f"title {n}") for n in range(120)]


@pytest.fixture
def many(campaign, import_file):
    import_file(campaign, "topics", "".join(f"m{n}\ttitle {n}\n" for n in range(120)))
    return campaign


def after_batch(monkeypatch, count, act):
    """Do something when this many batches are written."""
    plain, written = NuggetLoader.write, []

    def write(self, records, import_record):
        plain(self, records, import_record)
        written.append(len(records))
        if len(written) == count:
            act(import_record)

    monkeypatch.setattr(NuggetLoader, "write", write)
    return written


def test_nothing_is_visible_before_the_end(many, import_file, monkeypatch):
    seen = []

    def look(import_record):
        hidden = (NuggetBank.everything.count(), Nugget.objects.count(), Condition.everything.count())
        visible = (NuggetBank.objects.count(), many.conditions.count(), len(finished_counts(many)))
        seen.append((hidden, visible, BankEdition.objects.count()))

    written = after_batch(monkeypatch, 2, look)
    import_file(many, "nuggets", MANY, **FILE)
    assert (seen, written) == ([((100, 200, 1), (0, 0, 0), 0)], [50, 50, 20])
    assert (NuggetBank.objects.count(), many.conditions.count(), BankEdition.objects.count()) == (120, 1, 120)


def test_banks_of_an_unfinished_import_are_not_counted(many, import_file, monkeypatch):
    import_file(many, "nuggets", MANY[:10], **FILE)
    counted = []
    after_batch(monkeypatch, 1, lambda record: counted.append(finished_counts(many)[0].banks))
    import_file(many, "nuggets", MANY, **FILE)
    assert counted == [10]
    assert finished_counts(many)[0].banks == 120


def test_a_stopped_import_leaves_nothing(many, import_file, monkeypatch, rows, olga):  # noqa: F811
    before = rows()
    written = after_batch(monkeypatch, 2, lambda record: importer.stop(record, person=olga))
    stopped = import_file(many, "nuggets", MANY, **FILE)
    assert (stopped.state, stopped.has_leftovers, written) == (Import.State.STOPPED, False, [50, 50])
    assert rows() == before
    monkeypatch.undo()
    # The name is free again, also for nuggets that others made.
    assert import_file(many, "nuggets", MANY, **FILE | {"by": "people"}).state == Import.State.DONE


def test_sweep_removes_what_a_killed_import_left(many, import_file, rows):  # noqa: F811
    before = rows()
    kept = import_file(many, "nuggets", MANY[:5], condition="Kept", by="people")
    with_kept = rows()
    killed = import_file(many, "nuggets", MANY, **FILE)
    BankEdition.objects.filter(bank__import_record=killed)._raw_delete("default")  # they are made with the last step
    Import.objects.filter(pk=killed.pk).update(
        state=Import.State.RUNNING, has_leftovers=True, owner="elsewhere 7 1.0", alive_at=None
    )
    assert rows() != with_kept
    importer.sweep()
    killed.refresh_from_db()
    assert (killed.state, killed.has_leftovers) == (Import.State.INTERRUPTED, False)
    assert rows() == with_kept != before
    assert [condition.name for condition in Condition.everything.all()] == ["Kept"]
    assert Judge.objects.get(kind="imported").name == "Kept"
    assert kept.state == Import.State.DONE


@pytest.fixture
def with_history(bank: NuggetBank) -> NuggetBank:
    """Anna's finished bank on t1: a nugget merged from two, one of them split from a third, one written."""
    fill(bank, (A, "a", "vital"), (B, "b", "okay"), (C, "c", "vital"))
    grandparent, parent = bank.nuggets.get(uid=A), bank.nuggets.get(uid=B)
    judge = bank.maker
    merged = Nugget.objects.create(
        bank=bank,
        uid=uuid4(),
        text="a and b",
        importance="okay",
        origin=Nugget.Origin.MERGED,
        parents=[parent.name],
        evidence=[{"docid": "d1", "start": 0, "end": 4}, {"docid": "d2", "start": None, "end": None}],
        note="mine alone",
        made_by=judge,
    )
    Nugget.objects.filter(pk=parent.pk).update(parents=[grandparent.name], origin=Nugget.Origin.SPLIT)
    for uid in (A, B):
        do(bank, actions.delete_nugget, uid=uid)
    bank.order = [merged.name, *bank.order]
    bank.reading = "mine too"
    bank.save()
    do(bank, actions.finish_bank)
    return bank


def test_lineage_goes_out_and_comes_in_again(with_history, condition, topics, import_file):
    [out] = condition_lines(condition, with_lineage=True)
    record = json.loads(out)
    merged_uid = str(with_history.nuggets.get(text="a and b").uid)
    assert record == line(
        nuggets=[
            with_lineage(
                {"text": "a and b", "importance": "okay"},
                merged_uid,
                "merged",
                [B],
                [{"docid": "d1", "start": 0, "end": 4}, {"docid": "d2", "start": None, "end": None}],
            ),
            with_lineage("c", C, "written"),
        ],
        ancestors=[
            with_lineage("a", A, "written"),
            with_lineage({"text": "b", "importance": "okay"}, B, "split", [A]),
        ],
    )
    assert "mine" not in out
    assert told(import_file(topics, "nuggets", out, **FILE)) == []
    assert exported(topics, with_lineage=True) == [out]
    assert exported(topics) == list(condition_lines(condition))
    restored = NuggetBank.objects.get(condition__campaign=topics)
    assert [nugget.text for nugget in restored.nuggets.order_by("pk")] == ["a and b", "c", "a", "b"]
    [edition] = restored.editions.all()
    assert [nugget["text"] for nugget in edition.nuggets] == ["a and b", "c"]
    again = import_file(topics, "nuggets", out, **FILE)
    assert again.report["counts"]["banks already there"] == 1


@pytest.mark.parametrize("change", ["origin", "ancestors", "evidence"])
def test_another_lineage_is_another_bank(with_history, condition, topics, import_file, change):
    [out] = condition_lines(condition, with_lineage=True)
    import_file(topics, "nuggets", out, **FILE)
    record = json.loads(out)
    if change == "ancestors":
        record["ancestors"][0]["text"] = "other"
    else:
        record["nuggets"][0][change] = "written" if change == "origin" else []
    refused = import_file(topics, "nuggets", [record], **FILE)
    assert told(refused) == [(1, "nuggets", "another bank", "the bank of t1 as AutoNuggets of Mia has it already")]
    # A plain line says nothing of lineage.
    assert import_file(topics, "nuggets", exported(topics)[0], **FILE).state == Import.State.DONE


def test_a_line_of_nobodys_nuggets_keeps_its_form(campaign, import_file):
    records = [lineage(with_lineage("a", A, "imported")), line()]
    import_file(campaign, "nuggets", records, **FILE)
    plain, with_ids = (json.loads(text) for text in exported(campaign, with_lineage=True))
    assert (with_ids, plain["ancestors"]) == (records[0], [])
    assert [nugget["origin"] for nugget in plain["nuggets"]] == ["imported", "imported"]


def test_the_commands(campaign, tmp_path, capsys):
    path = tmp_path / "nuggets.jsonl"
    path.write_text(json.dumps(line(nuggets=[{"text": "a", "importance": "failed"}])) + "\n")
    arguments = ("import_nuggets", "study", str(path), "--condition=Mia", "--by=people")
    with pytest.raises(CommandError, match=r"nuggets.jsonl was not imported \(refused\)"):
        call_command(*arguments)
    call_command(*arguments, "--invalid-labels=missing")
    assert "1 warning, importance made absent: line " in capsys.readouterr().out
    call_command("export_nuggets", "study", "--condition=Mia", "--form=lineage")
    assert json.loads(capsys.readouterr().out)["ancestors"] == []
    for lacking in ("--condition=Mia", "--by=people"):
        with pytest.raises(CommandError, match="required"):
            call_command("import_nuggets", "study", str(path), lacking)


def test_evidence_is_kept_under_its_clean_docid(campaign, import_file):
    done = import_file(campaign, "nuggets", [lineage(with_lineage("a", evidence=evidence(docid=" d1 ")))], **FILE)
    assert [kind["kind"] for kind in done.report["warnings"]] == ["blanks around an id"]
    [out] = exported(campaign, with_lineage=True)
    assert json.loads(out)["nuggets"][0]["evidence"] == evidence()
    assert import_file(campaign, "nuggets", out, **FILE).report["counts"]["banks already there"] == 1


def test_a_condition_that_an_import_is_bringing_has_its_name(campaign, import_file, olga):
    import_file(campaign, "nuggets", [line()], **FILE)
    Import.objects.filter(kind="nuggets").update(state=Import.State.RUNNING)
    assert not campaign.conditions.exists()
    with pytest.raises(ConditionError, match=r"has another condition called AutoNuggets of Mia: choose another name\."):
        create_manual_nuggets(
            campaign=campaign,
            name=FILE["condition"],
            qrels_source=campaign.qrels_sources.get(),
            acting_user=olga,
        )
