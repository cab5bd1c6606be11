"""Answers that come from a support file and from others: a run, assignments, another support file, in every order."""

import csv
import io
import json

import pytest

from assessor.campaigns.exports import run_lines
from assessor.campaigns.models import Answer, Condition, Event, Import
from assessor.desk.flags import answers_to, asked, replied, state
from assessor.imports import importer
from assessor.labels.replies import replies_on, reply
from assignment.exports import assignment_lines
from assignment.models import AnswerSheet
from support.actions import add_sheets, sheet_row
from support.exports import support_lines
from support.judgments_table import judgment_lines
from support.loaders import SupportLoader
from support.models import LabelEvent, SupportSheet
from tests.assignment.lines import FILE as ASSIGNED
from tests.assignment.lines import line as assigned
from tests.assignment.lines import nugget
from tests.conftest import client_of
from tests.imports.conftest import told, warned
from tests.judging import give, nuggets_of, put
from tests.support.judging_helpers import cited, from_scratch
from tests.support.lines import FILE, FULL, HEALS, NAN, NONE, PARTIAL, citation, cites, line, sentence
from tests.support.test_export import same

LABELS = line("t1", "r1", cites(HEALS[0], d1=FULL, d2=PARTIAL), cites(HEALS[1], d3=NONE))


def run(*cited: list[str], texts=HEALS, qid="t1", **more) -> dict:
    """Return a line of a run: what each sentence cites."""
    docids = sorted({docid for one in cited for docid in one})
    sentences = [
        {"text": text, "citations": [docids.index(docid) for docid in of]}
        for text, of in zip(texts, cited, strict=True)
    ]
    return {"run_id": "r1", "topic_id": qid, "topic": "why", "references": docids, "answer": sentences} | more


def text_line(text: str = " ".join(HEALS)) -> dict:
    return assigned("t1", "r1", [nugget("a")], text)


def exported(campaign, name=FILE["condition"]) -> list[dict]:
    return [json.loads(text) for text in support_lines(campaign.conditions.get(name=name))]


def own() -> Answer:
    return Answer.objects.get(topic__qid="t1", apart=False)


# A support file after a run


def test_labels_go_to_the_runs_answer_and_find_their_citations_by_docid(campaign, import_file):
    import_file(campaign, "runs", [run(["d2", "d4", "d1"], ["d1", "d3", "d3"])])
    before = list(Answer.objects.values())
    done = import_file(campaign, "support", [LABELS], **FILE)
    assert (told(done), warned(done)) == ([], {})
    assert done.report["counts"] == {"conditions added": 1, "sheets added": 1, "labels added": 3, "lines": 1,
                                     "sentences added": 0, "citations added": 0}  # fmt: skip
    assert list(Answer.objects.values()) == before
    sheet = SupportSheet.objects.get()
    assert (sheet.answer, sheet.asked) == (own(), ["0.2", "0.0", "1.1"])
    assert sheet.labels == {"0.2": "full", "0.0": "partial", "1.1": "none"}
    numbers = {"0": {"citations": {"2": {"citationID": 0}, "0": {"citationID": 1}}}}
    assert sheet.extras == {"sentences": numbers | {"1": {"citations": {"1": {"citationID": 0}}}}}
    assert exported(campaign) == [LABELS]
    again = import_file(campaign, "support", [LABELS], **FILE)
    assert again.report["counts"] == {"sheets already there": 1, "lines": 1}


def test_texts_are_the_same_but_for_blanks_and_go_out_as_they_came(campaign, import_file):
    import_file(campaign, "runs", [run(["d1", "d2"], ["d3"], texts=("Cats  purr to\nheal. ", HEALS[1]))])
    done = import_file(campaign, "support", [LABELS], **FILE)
    assert (warned(done), Answer.objects.count()) == ({}, 1)
    assert SupportSheet.objects.get().extras == {"sentences": {"0": {"text": HEALS[0]}}}
    assert exported(campaign) == [LABELS]


DIFFERENT = [
    pytest.param(
        run(["d1", "d2"], ["d3"], texts=("Cats purr to heal.", "They also purr when hungry.")),
        ("answer text differs", "sentences", "word 9: content.", "hungry., as r1 has it already"),
        ("answer text differs", "answer", "word 9: hungry.", "content., as r1 has it already"),
        id="text",
    ),
    pytest.param(
        run(["d1", "d2", "d3"], ["d3"], texts=("Cats purr to heal. They", "also purr when content.")),
        ("answer sentences differ", "sentences[0].text", HEALS[0], "Cats purr to heal. They, as r1 has it already"),
        ("answer sentences differ", "answer[0].text", "Cats purr to heal. They", f"{HEALS[0]}, as r1 has it already"),
        id="sentences",
    ),
    pytest.param(
        run(["d1", "d2", "d3"], texts=(" ".join(HEALS),)),
        ("answer sentences differ", "sentences[0].text", HEALS[0], f"{' '.join(HEALS)}, as r1 has it already"),
        ("answer sentences differ", "answer[0].text", " ".join(HEALS), f"{HEALS[0]}, as r1 has it already"),
        id="one-sentence",
    ),
    pytest.param(
        run(["d1", "d2"], ["d3"], [], texts=(*HEALS, " ")),
        ("answer sentences differ", "sentences[2].text", "no sentence", " , as r1 has it already"),
        ("answer sentences differ", "answer[2].text", " ", "no sentence, as r1 has it already"),
        id="further-sentence",
    ),
    pytest.param(
        run(["d1", "d3"], ["d3", "d2"]),
        ("cited passages differ", "sentences[0].citations", "d2", "no d2, as r1 has it already"),
        ("cited passages differ", "answer[0].citations", "no d2", "d2, as r1 has it already"),
        id="citation",
    ),
]


@pytest.mark.parametrize(("record", "warning", "_"), DIFFERENT)
def test_labels_of_another_answer_than_the_runs_stay_apart_from_it(campaign, import_file, record, warning, _):
    import_file(campaign, "runs", [record])
    before = own()
    done = import_file(campaign, "support", [LABELS], **FILE)
    kind, *rest = warning
    assert (done.state, warned(done)) == (Import.State.DONE, {kind: [(1, *rest)]})
    sheet = SupportSheet.objects.get()
    assert (sheet.answer.apart, sheet.answer.form, sheet.answer.run.tag) == (True, "sentences", "r1")
    assert list(Answer.objects.filter(apart=False).values()) == [
        {name: value for name, value in vars(before).items() if name != "_state"}
    ]
    assert exported(campaign) == [LABELS]
    assert [json.loads(text) for text in run_lines(campaign.runs.get())] == [record]
    # Labels of another condition on the same answer are on that one, and in the same file nothing is new.
    import_file(campaign, "support", [LABELS], condition="Other", by="model")
    assert SupportSheet.objects.get(condition__name="Other").answer == sheet.answer
    again = import_file(campaign, "support", [LABELS], **FILE)
    assert (told(again), again.report["counts"]["sheets already there"]) == ([], 1)


def test_of_a_sentence_without_text_nothing_is_guessed(campaign, import_file):
    labels = line("t1", "r1", cites(HEALS[0], d1=FULL), sentence(NAN, citation("d2")))
    import_file(campaign, "runs", [run(["d1"], ["d2"], texts=(HEALS[0], ""))])
    done = import_file(campaign, "support", [labels], **FILE)
    assert warned(done).keys() == {"sentence without text"}
    assert same(exported(campaign), [labels])
    import_file(campaign, "runs", [run(["d1"], ["d2"], texts=(HEALS[0], "N/A"), qid="t2")])
    done = import_file(campaign, "support", [labels | {"topic_id": "t2"}], **FILE)
    assert warned(done).keys() == {"sentence without text", "answer text differs"}


# A run after a support file


def test_a_run_brings_what_else_is_cited_and_labels_go_with_their_citations(campaign, import_file):
    labels = line(
        "t1", "r1",
        sentence(HEALS[0], citation("d1", FULL, 0, why="w"), citation("d2", "failed", 7), citation("d4", "", 2)),
        cites(HEALS[1], d3=NONE),
    )  # fmt: skip
    import_file(campaign, "support", [labels], invalid_labels="missing", **FILE)
    answer = own()
    record = run(["d2", "d5", "d1", "d2", "d4"], ["d3", "d1"], texts=(HEALS[0], f" {HEALS[1]}"), note=1)
    done = import_file(campaign, "runs", [record])
    assert warned(done).keys() == {"cited text not loaded", "topic without an answer"}
    assert done.report["counts"]["answers joined"] == 1
    joined = own()
    assert (joined.pk, joined.form, joined.apart, joined.content) == (answer.pk, "rag24", False, record["answer"])
    assert [json.loads(text) for text in run_lines(campaign.runs.get())] == [record]
    sheet = SupportSheet.objects.get()
    assert sheet.asked == ["0.2", "0.0", "0.4", "1.0"]
    assert (sheet.labels, sheet.invalid) == ({"0.2": "full", "1.0": "none"}, {"0.0": "failed", "0.4": ""})
    assert (sheet.to_do, sheet.version) == (2, 1)
    [revision] = LabelEvent.objects.all()
    assert (revision.verb, revision.version, revision.judge) == ("citations moved", 1, None)
    assert revision.changes_by_item == {}, "nobody said anything: their places are other ones"
    assert exported(campaign) == [labels]
    again = import_file(campaign, "support", [labels], invalid_labels="missing", **FILE)
    assert (told(again), again.report["counts"]["sheets already there"]) == ([], 1)
    assert (Event.objects.get(verb="answers joined").subject, Answer.objects.count()) == ("r1", 1)


def test_where_no_citation_has_another_place_sheets_stay_as_they_are(campaign, import_file):
    import_file(campaign, "support", [LABELS], **FILE)
    before = SupportSheet.objects.values().get()
    done = import_file(campaign, "runs", [run(["d1", "d2", "d5"], ["d3"])])
    assert done.report["counts"]["answers joined"] == 1
    assert SupportSheet.objects.values().get() == before
    assert not LabelEvent.objects.exists()


def test_a_runs_own_blanks_change_nothing_that_goes_out(campaign, import_file):
    labels = line("t1", "r1", cites(HEALS[0], d1=FULL), sentence(NAN, citation("d2")), cites(HEALS[1], d3=NONE))
    import_file(campaign, "support", [labels], **FILE)
    import_file(campaign, "runs", [run(["d1"], ["d2"], ["d3"], texts=("Cats purr  to heal.", " ", HEALS[1]))])
    sheet = SupportSheet.objects.get()
    assert sheet.extras == {"sentences": {"0": {"text": HEALS[0]}, "1": {"text": None}}}
    assert (sheet.version, own().form) == (0, "rag24")
    assert same(exported(campaign), [labels])


@pytest.mark.parametrize(("record", "_", "warning"), DIFFERENT)
def test_an_answer_that_the_run_did_not_give_is_kept_apart_with_its_labels(campaign, import_file, record, _, warning):
    import_file(campaign, "support", [LABELS], **FILE)
    judged, sheet = own(), SupportSheet.objects.values().get()
    done = import_file(campaign, "runs", [record])
    kind, *rest = warning
    assert warned(done)[kind] == [(1, *rest)]
    assert done.report["counts"]["texts kept apart"] == 1
    assert (own().form, own().content) == ("rag24", record["answer"])
    judged.refresh_from_db()
    assert (judged.apart, judged.form) == (True, "sentences")
    assert SupportSheet.objects.values().get() == sheet
    assert exported(campaign) == [LABELS]
    again = import_file(campaign, "support", [LABELS], **FILE)
    assert (told(again), again.report["counts"]["sheets already there"]) == ([], 1)


def test_sentences_that_came_with_labels_are_no_line_of_a_run(campaign, import_file):
    import_file(campaign, "support", [LABELS], **FILE)
    assert list(run_lines(campaign.runs.get())) == []


# Assignments and support


def test_a_text_that_came_with_assignments_gets_its_sentences(campaign, import_file):
    import_file(campaign, "assignments", [text_line()], **ASSIGNED)
    text, before = own(), list(assignment_lines(campaign.conditions.get(name="Edits/Manual")))
    done = import_file(campaign, "support", [LABELS], **FILE)
    assert (told(done), warned(done)) == ([], {})
    assert (done.report["counts"]["answers joined"], "answers added" in done.report["counts"]) == (1, False)
    answer = own()
    assert (answer.pk, answer.form, answer.words) == (text.pk, "sentences", 9)
    assert [sentence.text for sentence in answer.sentences()] == list(HEALS)
    assert AnswerSheet.objects.get().answer == SupportSheet.objects.get().answer == answer
    event = Event.objects.get(verb="answers joined")
    assert (event.subject, event.details) == ("r1", {"topics": ["t1"]})
    assert list(assignment_lines(campaign.conditions.get(name="Edits/Manual"))) == before
    assert exported(campaign) == [LABELS]
    for kind, file, options in (("assignments", [text_line()], ASSIGNED), ("support", [LABELS], FILE)):
        again = import_file(campaign, kind, file, **options)
        assert again.report["counts"] == {"sheets already there": 1, "lines": 1}
    # And the run's own citations, when they come.
    run_file = import_file(campaign, "runs", [run(["d5", "d2", "d1"], ["d3"])])
    assert (run_file.report["counts"]["answers joined"], own().form) == (1, "rag24")
    assert list(assignment_lines(campaign.conditions.get(name="Edits/Manual"))) == before
    assert exported(campaign) == [LABELS]


def test_a_text_with_other_blanks_goes_out_as_it_came_and_its_marks_stay(campaign, import_file):
    text = "Cats  purr to heal.\nThey also purr when content."
    import_file(campaign, "assignments", [text_line(text)], **ASSIGNED)
    sheet = AnswerSheet.objects.get()
    nugget_id = str(nuggets_of(sheet.bank)[0])
    put([sheet], marks={nugget_id: [[0, text.index("heal"), text.index("also") + 4]]})
    import_file(campaign, "support", [LABELS], **FILE)
    sheet.refresh_from_db()
    assert sheet.marks == {nugget_id: [[0, 13, 18], [1, 0, 9]]}
    [out] = assignment_lines(campaign.conditions.get(name="Edits/Manual"))
    assert json.loads(out)["answer_text"] == text
    import_file(campaign, "runs", [run(["d1", "d2"], ["d3"], texts=("Cats purr   to heal.", f"  {HEALS[1]}"))])
    sheet.refresh_from_db()
    assert sheet.marks == {nugget_id: [[0, 15, 20], [1, 2, 11]]}
    [out] = assignment_lines(campaign.conditions.get(name="Edits/Manual"))
    assert json.loads(out)["answer_text"] == text


def test_assignments_find_the_sentences_that_came_with_labels(campaign, import_file):
    import_file(campaign, "support", [LABELS], **FILE)
    done = import_file(campaign, "assignments", [text_line()], **ASSIGNED)
    assert (warned(done), Answer.objects.count()) == ({}, 1)
    assert AnswerSheet.objects.get().answer == SupportSheet.objects.get().answer


@pytest.mark.parametrize("first", ["assignments", "support"])
def test_of_other_texts_the_first_is_the_runs_and_both_stay(campaign, import_file, first):
    files = {"assignments": ([text_line("Cats purr to sleep.")], ASSIGNED), "support": ([LABELS], FILE)}
    for kind in sorted(files, key=lambda kind: kind != first):
        done = import_file(campaign, kind, files[kind][0], **files[kind][1])
    field, found, there = (
        ("sentences", "heal. They also purr when content.", "sleep.")
        if first == "assignments"
        else ("answer_text", "sleep.", "heal. They also purr when content.")
    )
    assert warned(done) == {"answer text differs": [(1, field, f"word 4: {found}", f"{there}, as r1 has it already")]}
    sheets = {"assignments": AnswerSheet.objects.get(), "support": SupportSheet.objects.get()}
    assert {kind: sheet.answer.apart for kind, sheet in sheets.items()} == {
        kind: kind != first for kind in ("assignments", "support")
    }
    assert exported(campaign) == [LABELS]


def test_a_check_and_a_stopped_import_join_nothing(campaign, import_file, monkeypatch, olga):
    import_file(campaign, "assignments", [text_line()], **ASSIGNED)
    before = list(Answer.everything.values())
    assert import_file(campaign, "support", [LABELS], check_only=True, **FILE).state == Import.State.CHECKED
    assert list(Answer.everything.values()) == before
    plain, seen = SupportLoader.write, []

    def write(self, new, import_record):
        plain(self, new, import_record)
        seen.append(list(Answer.everything.values()) == before)
        importer.stop(import_record, person=olga)

    monkeypatch.setattr(SupportLoader, "write", write)
    assert import_file(campaign, "support", [LABELS], **FILE).state == Import.State.STOPPED
    assert (seen, list(Answer.everything.values()) == before) == ([True], True)
    assert not Event.objects.filter(verb="answers joined").exists()


# Two support files


def test_a_second_file_adds_what_its_sentences_cite_besides(campaign, import_file):
    import_file(campaign, "support", [LABELS], **FILE)
    before = SupportSheet.objects.values().get()
    other = line("t1", "r1", cites(HEALS[0], d5=NONE, d2=FULL), cites(f"{HEALS[1]} ", d3=NONE))
    done = import_file(campaign, "support", [other], condition="All", by="model")
    assert (warned(done), done.report["counts"]["citations joined"]) == ({}, 1)
    assert [sentence["citations"] for sentence in own().content] == [["d1", "d2", "d5"], ["d3"]]
    assert (Answer.objects.count(), own().form) == (1, "sentences")
    first, second = SupportSheet.objects.order_by("pk")
    assert SupportSheet.objects.values().get(pk=first.pk) == before
    assert second.labels == {"0.2": "none", "0.1": "full", "1.0": "none"}
    assert (exported(campaign), exported(campaign, "All")) == ([LABELS], [other])
    assert Event.objects.get(verb="citations joined").details == {"topics": ["t1"]}
    again = import_file(campaign, "support", [other], condition="All", by="model")
    assert again.report["counts"] == {"sheets already there": 1, "lines": 1}


# What was said here


def made_here(campaign, asked, **columns) -> SupportSheet:
    condition = Condition.objects.create(
        campaign=campaign,
        name="Automatic",
        kind="support",
        method="support from scratch",
        protocol=campaign.protocol,
    )
    judge = campaign.conditions.get(method="imported", kind__in=("support", "assignment")).judge_id
    of_keys = cited(own(), asked)
    add_sheets([sheet_row(condition=condition.pk, answer=own().pk, judge=judge, asked=of_keys, **columns)])
    return SupportSheet.objects.get(condition=condition)


def judgments(name: str) -> list[tuple[str, ...]]:
    """Return the table of a condition's judgments: sentence, citation, docid, label and reason of each."""
    rows = csv.DictReader(io.StringIO("".join(judgment_lines(Condition.objects.get(name=name)))))
    return [tuple(row[name] for name in ("sentence", "citation", "docid", "label", "reason")) for row in rows]


def test_whatever_was_said_of_a_citation_goes_with_it(campaign, import_file):
    import_file(campaign, "support", [LABELS], **FILE)
    sheet = made_here(campaign, ["0.0", "0.1", "1.0"], unresolved=["1.0"])
    said = {"0.0": {"label": "full", "shown": "none", "flag": "odd"}, "0.1": {"cannot": "why", "adopted": "partial"}}
    sheet.revise("label", said, judge_id=sheet.judge_id)
    before = exported(campaign, "Automatic")
    listed = judgments("Automatic")
    assert listed == [("0", "0", "d1", "full", ""), ("0", "1", "d2", "", "why")]
    import_file(campaign, "runs", [run(["d2", "d1"], ["d5", "d3"])])
    # Of citations that changed places, the table names what was judged, and where it is now.
    assert judgments("Automatic") == [("0", "1", "d1", "full", ""), ("0", "0", "d2", "", "why")]
    sheet = SupportSheet.objects.get(pk=sheet.pk)
    # What the protocol has judged now, d2 and d5, and what was judged; d3 was not and is not the first any more.
    assert (sheet.asked, sheet.unresolved) == (["0.0", "0.1", "1.0"], [])
    assert (sheet.labels, sheet.shown, sheet.flags) == ({"0.1": "full"}, {"0.1": "none"}, {"0.1": "odd"})
    assert (sheet.cannot, sheet.adopted) == ({"0.0": "why"}, {"0.0": "partial"})
    assert (sheet.to_do, sheet.version, sheet.extras) == (1, 2, {})
    told = [(one.verb, one.changes_by_item) for one in sheet.revisions.order_by("version", "pk")]
    assert told == [
        ("label", {"0.1": {"label": [None, "full"], "shown": [None, "none"], "flag": [None, "odd"]}}),
        ("label", {"0.0": {"cannot": [None, "why"], "adopted": [None, "partial"]}}),
        ("citations moved", {}),
    ]
    after = exported(campaign, "Automatic")
    told = [
        [{one["reference"]: one.get("support") for one in each["citations"]} for each in lines[0]["sentences"]]
        for lines in (before, after)
    ]
    assert told == [[{"d1": "2", "d2": "1"}, {"d3": None}], [{"d1": "2", "d2": "1"}, {"d5": None}]]
    cited = [one["citations"] for one in after[0]["sentences"]]
    assert [[one["citationID"] for one in each] for each in cited] == [[0, 1], [0]]  # made here: the citation's place


def test_a_flag_alone_goes_with_its_citation(campaign, import_file):
    """The sheet asks the same keys as before, and the flag is about a citation that is not asked any more."""
    import_file(campaign, "support", [LABELS], **FILE)
    sheet = made_here(campaign, ["0.0", "1.0"])
    sheet.revise("flag", {"0.0": {"flag": "odd"}}, judge_id=sheet.judge_id)
    import_file(campaign, "runs", [run(["d2", "d1"], ["d3"])])
    sheet = SupportSheet.objects.get(pk=sheet.pk)
    assert (sheet.asked, sheet.flags, sheet.version) == (["0.0", "1.0"], {"0.1": "odd"}, 2)
    assert [(one.verb, one.changes_by_item) for one in sheet.revisions.order_by("version")] == [
        ("flag", {"0.1": {"flag": [None, "odd"]}}),
        ("citations moved", {}),
    ]


def test_a_reply_goes_with_its_citation(campaign, topic, anna, olga, import_file):
    import_file(campaign, "support", [LABELS], **FILE)
    task = give(from_scratch(campaign), topic, anna)
    sheet = task.support_sheets.get()
    sheet.revise("label", {"0.0": {"label": "full", "flag": "odd"}}, judge_id=sheet.judge_id)
    reply(task=task, sheet=sheet.pk, item="0.0", question="odd", text="It is.", acting_user=olga)
    assert replies_on(task) == {str(sheet.pk): {"0.0": ["It is."]}}
    import_file(campaign, "runs", [run(["d2", "d1"], ["d3"])])
    assert replies_on(task) == {str(sheet.pk): {"0.1": ["It is."]}}
    way = client_of(olga).get(f"/campaigns/{campaign.slug}/labels/support/{sheet.pk}/0.1/").content.decode()
    assert "answered “odd”: It is." in way
    [question], replies = list(asked(campaign)), replied(campaign)
    assert (question.item, state(question, replies)) == ("0.1", "answered")
    [answer] = answers_to(anna, 9)
    assert answer.about.endswith("d1")
    # What is replied since is on the citation of that place.
    reply(task=task, sheet=sheet.pk, item="0.0", question="", text="This too.", acting_user=olga)
    assert replies_on(task) == {str(sheet.pk): {"0.1": ["It is."], "0.0": ["This too."]}}


def test_citations_that_come_later_are_asked_for(campaign, import_file):
    """A run cites something where the support file had a sentence without citations; a further support file does so."""
    silent = {**LABELS, "sentences": [{**one, "citations": []} for one in LABELS["sentences"]]}
    first = {**silent, "sentences": [LABELS["sentences"][0], silent["sentences"][1]]}
    import_file(campaign, "support", [silent], **FILE)
    sheet = made_here(campaign, [])
    import_file(campaign, "support", [first], condition="Further", by="people")
    sheet.refresh_from_db()
    assert (sheet.asked, sheet.to_do, sheet.unresolved) == (["0.0"], 1, [])
    sheet.revise("label", {"0.0": {"label": "none"}}, judge_id=sheet.judge_id)
    import_file(campaign, "runs", [run(["d1", "d2"], ["d5"])])
    sheet.refresh_from_db()
    assert (sheet.asked, sheet.to_do, sheet.labels) == (["0.0", "1.0"], 1, {"0.0": "none"})
    assert list(sheet.revisions.values_list("verb", flat=True)) == ["citations known", "label", "citations known"]


def test_a_text_of_one_sentence_may_be_split_by_a_run(campaign, import_file):
    """What came with nugget labels is one sentence without citations in a support file, and two in the run."""
    text = " ".join(one["text"] for one in LABELS["sentences"])
    nuggets = {"query": "", "qid": "t1", "nuggets": [{"text": "a", "importance": "vital", "assignment": "support"}]}
    answer = {**nuggets, "run_id": "r1", "answer_text": text, "response_length": len(text.split())}
    assert import_file(campaign, "assignments", [answer], condition="A", by="people").state == "done"
    whole = {**LABELS, "sentences": [{"sentenceID": 0, "text": text, "citations": []}]}
    assert import_file(campaign, "support", [whole], **FILE).state == "done"
    done = import_file(campaign, "runs", [run(["d1"], ["d5"])])
    assert done.state == "done"
    assert [answer.apart for answer in Answer.objects.order_by("apart")] == [False, True]


def test_what_is_to_be_judged_of_a_text_is_known_with_its_citations(campaign, import_file):
    """Nothing is scored as if it cited nothing because its citations came late."""
    import_file(campaign, "assignments", [text_line()], **ASSIGNED)
    sheet = made_here(campaign, [])
    import_file(campaign, "runs", [run(["d2", "d1"], ["d9", "d3"])])
    sheet = SupportSheet.objects.get(pk=sheet.pk)
    assert (sheet.asked, sheet.unresolved, sheet.to_do, sheet.version) == (["0.0", "1.0"], ["1.0"], 1, 1)
    assert sheet.revisions.get().verb == "citations known"


def test_an_answer_that_still_cites_nothing_asks_nothing(campaign, import_file):
    import_file(campaign, "assignments", [text_line()], **ASSIGNED)
    sheet = made_here(campaign, [])
    import_file(campaign, "runs", [run([], [])])
    sheet = SupportSheet.objects.get(pk=sheet.pk)
    assert (sheet.asked, sheet.to_do, sheet.version) == ([], 0, 0)
