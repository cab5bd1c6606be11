"""Banks of questions that come in from files and go out equal: what is taken, refused and warned of."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from hypothesis import HealthCheck, given, settings

from assessor.campaigns.models import Import
from nuggets import paper_tables
from nuggets.models import BankEdition, NuggetBank
from nuggets.questions.exports import condition_lines
from nuggets.questions.formats import question_id
from tests.imports.conftest import other_campaign, refuses, rows, told, warned  # noqa: F401
from tests.questions.banks import BANKS, answer, argue, bank, item, question, submission

FILE = {"condition": "Questions of Mia", "by": "model"}
WHY = question("Why do cats purr?", answer("Content", "d1", "d2"), answer("In pain", "d1"), importance="vital")
WHO = question("Who purrs?", answer("Cats"))
FORMS = {
    "v3": ("t1.json", bank(WHY, WHO)),
    "ragtime26": ("run.jsonl", submission(WHY, WHO)),
    "ragtime": (
        "nuggets_t1.json",
        {"Why?": ["AND", {"Content": ["d1"], "In pain": []}], "Who?": ["OR", {"OPEN_ENDED_ANSWER": ["d2"]}]},
    ),
    "argue": ("argue.jsonl", argue(item("Why?", "Content", importance="okay", used=True), item("Who?"))),
}


def exported(campaign, form="v3", name=FILE["condition"]):
    return [json.loads(line) for line in condition_lines(campaign.conditions.get(name=name), None, form)]


def test_questions_make_a_condition_with_finished_banks(campaign, import_file):
    why = WHY | {"aggregator_type": "AND", "sub_nuggets": [WHO]}
    done = import_file(campaign, "questions", [bank(why, creator=[{"is_human": True}])], **FILE)
    assert (done.state, told(done), warned(done)) == (Import.State.DONE, [], {})
    assert done.report["counts"] == {
        "conditions added": 1,
        "banks added": 1,
        "questions added": 2,
        "gold answers added": 3,
        "references added": 3,
        "lines": 1,
    }
    condition = campaign.conditions.get()
    assert (condition.kind, condition.method) == ("questions", "imported")
    [made] = NuggetBank.objects.filter(condition=condition)
    assert (made.state, made.edition, made.file_form, made.maker.name) == ("finished", 1, "v3", "Questions of Mia")
    first, second = (made.nuggets.get(uid=uid) for uid in made.order)
    assert (first.text, first.importance, first.aggregator, first.under) == ("Why do cats purr?", "vital", "AND", None)
    assert first.gold == [
        {"id": "g1", "text": "Content", "references": [{"docid": d, "extras": {}} for d in ("d1", "d2")], "extras": {}},
        {"id": "g2", "text": "In pain", "references": [{"docid": "d1", "extras": {}}], "extras": {}},
    ]
    assert (second.text, second.aggregator, second.under) == ("Who purrs?", "OR", first.uid)
    edition = BankEdition.objects.get(bank=made)
    assert [(one["gold"], one["aggregator"], one["under"]) for one in edition.nuggets] == [
        (first.gold, "AND", None),
        (second.gold, "OR", first.name),
    ]


# Makers' folders with as many questions, gold answers and references as those of RAGTIME's collaborators.
MAKERS = {
    "common": (320, 838, 991),
    "dogmatiq": (320, 419, 450),
    "llama": (320, 369, 424),
    "ginger": (211, 211, 4_220),
    "random": (320, 424, 453),
}


def spread(total, places):
    """Return how many of a total go to each place."""
    return [total // places + (at < total % places) for at in range(places)]


def folder_of(qids, questions, answers, references):
    of_answer = iter(spread(references, answers))
    of_question = iter(spread(answers, questions))
    for qid, number in zip(qids, spread(questions, len(qids)), strict=True):
        asked = []
        for at in range(number):
            gold = [
                answer(f"{qid} {at} {one}", *(f"{qid}.{at}.{one}.{d}" for d in range(next(of_answer))))
                for one in range(next(of_question))
            ]
            asked.append(question(f"What is {at} of {qid}?", *gold))
        yield bank(*asked, qid=qid)


def test_folders_of_five_makers_come_in_whole_and_go_out_equal(campaign, import_file, tmp_path):
    qids = [f"q{number:02}" for number in range(16)]
    import_file(campaign, "topics", "".join(f"{qid}\tabout {qid}\n" for qid in qids))
    for maker, (questions, answers, references) in MAKERS.items():
        folder = tmp_path / maker
        folder.mkdir()
        banks = list(folder_of(qids, questions, answers, references))
        for one in banks:
            # Indented, a file a topic, as they are.
            (folder / f"nuggets_{one['query_id']}.v3.json").write_text(json.dumps(one, indent=2))
        call_command("import_questions", campaign.slug, str(folder), "--condition", maker, "--by", "model")
        made = Import.objects.filter(kind="questions", options__contains=f'"{maker}"')
        names = ("questions added", "gold answers added", "references added")
        counts = [sum(one.report["counts"][name] for one in made) for name in names]
        assert (len(made), counts) == (16, [questions, answers, references])
        assert exported(campaign, name=maker) == banks


@pytest.mark.parametrize("form", FORMS)
def test_what_came_in_goes_out_equal_in_each_form(campaign, import_file, form):
    name, record = FORMS[form]
    done = import_file(campaign, "questions", [record], name=name, **FILE)
    assert told(done) == []
    assert exported(campaign, form) == [record]
    for other in FORMS.keys() - {form}:  # in any other form it is at least written
        assert len(exported(campaign, other)) == 1


def test_another_form_has_questions_answers_references_and_weights(campaign, import_file):
    import_file(campaign, "questions", [bank(WHY | {"note": "n"}, WHO, metadata={"a": 1})], **FILE)
    assert exported(campaign, "ragtime26") == [
        {
            "metadata": {"topic_id": "t1", "run_id": "Questions of Mia"},
            "nugget_bank": [
                {
                    "question": "Why do cats purr?",
                    "answers": [answer("Content", "d1", "d2"), answer("In pain", "d1")],
                    "aggregator_type": "OR",
                    "importance": "vital",
                },
                {"question": "Who purrs?", "answers": [answer("Cats")], "aggregator_type": "OR"},
            ],
            "format_version": "RAGTIME26",
        }
    ]
    assert exported(campaign, "ragtime") == [
        {
            "Why do cats purr?": ["OR", {"Content": ["d1", "d2"], "In pain": ["d1"]}],
            "Who purrs?": ["OR", {"Cats": []}],
        }
    ]
    [record] = exported(campaign, "argue")
    assert record["items"][0] == {
        "question_text": "Why do cats purr?",
        "query_id": "t1",
        "question_id": question_id("Why do cats purr?"),
        "gold_answers": ["Content", "In pain"],
        "info": {"importance": "vital"},
    }


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(BANKS)
def test_whatever_comes_in_goes_out_equal(campaign, import_file, drawn):
    form, record = drawn
    with transaction.atomic():
        done = import_file(campaign, "questions", [record], name="nuggets_t1.json", **FILE)
        assert told(done) == []
        assert exported(campaign, form) == [record]
        # The same again adds nothing.
        again = import_file(campaign, "questions", [record], name="nuggets_t1.json", **FILE)
        assert (told(again), again.report["counts"]["banks already there"]) == ([], 1)
        transaction.set_rollback(True)


GOOD = json.dumps(bank(WHY, qid="t2"))
EXPECTED_ID = question_id("Why do cats purr?")
OR_AND = "OR or AND"


@pytest.mark.parametrize(
    ("record", "field", "found", "expected"),
    [
        (bank(WHY, claim_bank={"c": {"claim": "c"}}), "claim_bank", "{'c': {'claim': 'c'}}",
         "questions alone; a bank of facts, or claims, is a file of its own"),
        (bank({"question": "c", "claim": "c"}) | {"nugget_bank": {"c": {"claim": "c"}}}, "nugget_bank.c",
         "{'claim': 'c'}", "questions alone; a bank of facts, or claims, is a file of its own"),
        (bank(WHY | {"aggregator_type": "SUM"}), "nugget_bank.Why do cats purr?.aggregator_type", "SUM", OR_AND),
        (bank(WHY | {"aggregator_type": None}), "nugget_bank.Why do cats purr?.aggregator_type", "None", OR_AND),
        (bank(WHO | {"aggregator_type": "AND"}), "nugget_bank.Who purrs?.aggregator_type", "AND with 1 answer",
         "OR, or two answers at least"),
        (bank(WHO | {"aggregator_type": "AND", "answers": None}), "nugget_bank.Who purrs?.aggregator_type",
         "AND with no answers", "OR, or two answers at least"),
        (bank(WHO | {"sub_nuggets": [WHY | {"sub_nuggets": [WHO]}]}),
         "nugget_bank.Who purrs?.sub_nuggets[0].sub_nuggets[0].question", "Who purrs?", "no question under itself"),
        (bank(WHO, WHY | {"sub_nuggets": [WHO]}), "nugget_bank.Why do cats purr?.sub_nuggets[0].question", "Who purrs?",
         "each question once in a bank"),
        (submission(WHO, WHO), "nugget_bank[1].question", "Who purrs?", "each question once in a bank"),
        (bank(WHO) | {"nugget_bank": {"Who?": WHO}}, "nugget_bank.Who?.question", "Who purrs?",
         "Who?, as its key says"),
        (bank(WHO | {"answers": {"Dogs": answer("Cats")}}), "nugget_bank.Who purrs?.answers.Dogs.answer", "Cats",
         "Dogs, as its key says"),
        (bank(WHO | {"answers": ["Cats"]}), "nugget_bank.Who purrs?.answers", "['Cats']",
         "an object of gold answers, or null"),
        (bank(WHO | {"importance": "must_have"}), "nugget_bank.Who purrs?.importance", "must_have",
         "vital, okay, or no such key"),
        (bank(WHO | {"importance": 3}), "nugget_bank.Who purrs?.importance", "3", "vital, okay, or no such key"),
        (bank(question("Q?", answer("A") | {"references": [{"id": "d"}]})), "nugget_bank.Q?.answers.A.references[0]",
         "None", "an id, as text"),
        (bank(question(" ")), "nugget_bank. .question", " ", "text that is not blank"),
        (bank(WHO, qid="t9"), "query_id", "t9", "a topic of the campaign; load the topics first"),
        (submission(WHO, run_id="x" * 26), "metadata.run_id", "x" * 26, "a run's tag of at most 25 characters"),
        (submission(WHO) | {"metadata": []}, "metadata", "[]", "an object with topic_id and run_id"),
        (submission(WHO), "metadata.run_id", "team.one", "no run, as above: a condition holds one run"),
        ({"Who?": ["OR", {"Cats": []}]}, "", "the file name file", "nuggets_TOPIC.json: this form names no topic"),
        ({"qid": "t1", "nuggets": []}, "", "keys qid, nuggets",
         "a bank of questions: NuggetBank v3, RAGTIME's or ARGUE's"),
        (argue({"text": "Who?"}), "items[0]", "{'text': 'Who?'}", "an object with question_text"),
    ],
)  # fmt: skip
def test_a_bad_bank_is_refused_and_leaves_nothing(campaign, refuses, record, field, found, expected):  # noqa: F811
    if field == "metadata.run_id" and found == "team.one":
        good = [GOOD]
    else:
        good = [json.dumps(submission(WHY, qid="t2", run_id="team.one"))] if "metadata" in record else [GOOD]
    refuses(campaign, "questions", good, json.dumps(record), (field, found, expected), **FILE)


def test_questions_under_others_go_down_three_levels(campaign, import_file):
    def under(*texts):
        first, *rest = texts
        return question(first, answer("A")) | ({"sub_nuggets": [under(*rest)]} if rest else {})

    deep = bank(under("a?", "b?", "c?", "d?"))
    where = "nugget_bank.a?.sub_nuggets[0].sub_nuggets[0].sub_nuggets[0]"
    refused = import_file(campaign, "questions", [deep], **FILE)
    assert told(refused) == [(1, where, "level 4", "questions under others down to level 3")]
    taken = bank(under("a?", "b?", "c?"))
    assert told(import_file(campaign, "questions", [taken], **FILE)) == []
    assert exported(campaign) == [taken]


def test_what_is_odd_is_kept_and_warned_of(campaign, import_file):
    odd = WHO | {"question_id": "q7", "question": "cluster_summary_1"}
    twice = submission(WHY) | {}
    twice["nugget_bank"][0]["answers"].append(answer("Content", "d9"))
    done = import_file(campaign, "questions", [bank(odd, WHY | {"answers": None})], **FILE)
    assert warned(done) == {
        "question_id differs": [
            (1, "question_id", "q7", f"{question_id('cluster_summary_1')}, the md5 of the question; it is kept")
        ],
        "question without a question mark": [(1, "question", "cluster_summary_1", "a question mark at its end")],
    }
    [written] = exported(campaign)
    assert written["nugget_bank"]["cluster_summary_1"]["question_id"] == "q7"
    assert written["nugget_bank"]["Why do cats purr?"]["answers"] is None
    done = import_file(campaign, "questions", [twice], condition="Twice", by="model")
    assert warned(done) == {"gold answer twice": [(1, "nugget_bank[0].answers", "Content", "each gold answer once")]}
    assert exported(campaign, "ragtime26", "Twice") == [twice]


def test_an_importance_that_is_none_can_be_taken_as_missing_and_is_kept(campaign, import_file):
    odd = bank(WHO | {"importance": "must_have"})
    done = import_file(campaign, "questions", [odd], invalid_labels="missing", **FILE)
    assert (told(done), done.report["counts"]["importance made absent"]) == ([], 1)
    assert NuggetBank.objects.get().nuggets.get().importance == ""
    assert exported(campaign) == [odd]


def test_a_file_of_facts_and_a_condition_of_questions_do_not_mix(campaign, import_file):
    import_file(campaign, "questions", [bank(WHO)], **FILE)
    facts = {"query": "why do cats purr", "qid": "t1", "nuggets": [{"text": "Cats purr"}]}
    refused = import_file(campaign, "nuggets", [facts], **FILE)
    assert told(refused) == [
        (0, "condition", "Questions of Mia, questions by imported", "a new name, or that of imported nuggets")
    ]


def test_a_models_questions_are_in_no_table_of_facts(campaign, import_file):
    import_file(campaign, "questions", [bank(WHO)], **FILE)
    assert list(paper_tables.side_by_side(campaign, None, "csv")) == ["topic,condition,by,place,nugget,importance\n"]


def test_by_command_with_a_bad_file_in_the_folder(campaign, tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(bank(WHO)))
    (tmp_path / "b.json").write_text(json.dumps(bank(WHO, qid="t9")))
    with pytest.raises(CommandError, match=r"b.json was not imported"):
        call_command("import_questions", campaign.slug, str(tmp_path), "--condition", "C", "--by", "people")
    assert exported(campaign, name="C") == [bank(WHO)]
