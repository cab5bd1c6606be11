"""Scores of reports: in AUTO-ARGUE's form, on pages and in files, and what a bank that is finished again changes."""

import io
import zipfile

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import change_protocol
from assessor.campaigns.models import Campaign, Condition
from assessor.exports.freeze import freeze, frozen_bundle
from assessor.exports.readiness import missing
from assessor.scores.cache import condition_scores
from assessor.work.models import Exposure
from assignment.argue.exports import judgment_lines
from assignment.argue.models import ArgueSheet
from tests.assignment.argue.conftest import (
    EMPTY,
    FILE,
    JUDGED_ONE,
    KITTENS,
    ONE,
    TWO,
    attested,
    matches,
    relevance,
    report,
)
from tests.conftest import Importer, client_of
from tests.questions.banks import answer, bank, question


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


def tsv(condition: Condition, tmp_path, **options: object) -> str:
    out = tmp_path / "scores.tsv"
    call_command("export_argue_scores", "study", condition=condition.name, output=str(out), **options)
    return out.read_text()


def table(text: str) -> dict[tuple[str, str, str], str]:
    rows = [line.split("\t") for line in text.splitlines()]
    assert rows[0] == ["run_id", "request_id", "metric", "value"]
    return {(run, topic, metric): value for run, topic, metric, value in rows[1:]}


def test_scores_are_written_in_the_published_order_and_spelling(imported: Condition, tmp_path):
    lines = tsv(imported, tmp_path, runs=["team.one"]).splitlines()
    assert lines == [
        "run_id\trequest_id\tmetric\tvalue",
        *(
            f"team.one\tall\t{metric}\t{value}"
            for metric, value in [
                ("sentences", "3.0"),
                ("sentences_with_citations_or_requiring_citations", "3.0"),
                ("correctly_cited_sentences", "1.0"),
                ("nuggets", "2.0"),
                ("nuggets_weighted", "3.0"),
                ("correct_nuggets", "1.0"),
                ("correct_nuggets_weighted", "2.0"),
                ("citations", "3.0"),
                ("relevant_citations", "3.0"),
                ("supporting_citations", "2.0"),
                ("character_count_median", "93.0"),
                ("character_count_max", "93.0"),
                ("citation_relevance_micro", "1.0"),
                ("citation_relevance_macro", "1.0"),
                ("citation_support_micro", "0.6666666666666666"),
                ("citation_support_macro", "0.6666666666666666"),
                ("sentence_support_micro", "0.3333333333333333"),
                ("sentence_support_macro", "0.3333333333333333"),
                ("nugget_coverage_micro", "0.5"),
                ("nugget_coverage_macro", "0.5"),
                ("nugget_coverage_weighted_micro", "0.6666666666666666"),
                ("nugget_coverage_weighted_macro", "0.6666666666666666"),
                ("f1_micro", "0.4"),
                ("f1_macro", "0.4"),
                ("f1_weighted_micro", "0.4444444444444444"),
                ("f1_weighted_macro", "0.4444444444444444"),
            ]
        ),
        *(
            f"team.one\tt1\t{metric}\t{value}"
            for metric, value in [
                ("sentences", "3.0"),
                ("character_count", "93.0"),
                ("sentences_with_citations_or_requiring_citations", "3.0"),
                ("correctly_cited_sentences", "1.0"),
                ("nuggets", "2.0"),
                ("nuggets_weighted", "3.0"),
                ("correct_nuggets", "1.0"),
                ("correct_nuggets_weighted", "2.0"),
                ("citations", "3.0"),
                ("relevant_citations", "3.0"),
                ("supporting_citations", "2.0"),
                ("citation_relevance", "1.0"),
                ("citation_support", "0.6666666666666666"),
                ("sentence_support", "0.3333333333333333"),
                ("nugget_coverage", "0.5"),
                ("nugget_coverage_weighted", "0.6666666666666666"),
                ("f1", "0.4"),
                ("f1_weighted", "0.4444444444444444"),
            ]
        ),
    ]


GLASS = question("How is glass recycled?", answer("Melted", "d1"))
ON_GLASS = [[relevance("d1"), matches("d1"), attested("d1")]]


@pytest.fixture
def two_topics(questions: Condition, import_file: Importer) -> Condition:
    """Team one's report on t1, and team two's on both topics; GLASS is answered by nobody."""
    done = import_file(questions.campaign, "questions", [bank(GLASS, qid="t2")], condition="Questions", by="people")
    assert done.state == "done", done.report
    of_two = report("team.two", ON_GLASS, qid="t2", sentences=[("Glass is sorted.", ["d1"])])
    done = import_file(questions.campaign, "argue_judgments", [ONE, TWO, of_two], **FILE)
    assert done.state == "done", done.report
    return questions.campaign.conditions.get(name="Judged")


def test_the_policy_says_how_a_missing_topic_counts(two_topics: Condition, tmp_path):
    zero, answered = (table(tsv(two_topics, tmp_path, policy=policy)) for policy in ("zero", "answered"))
    metrics = ("nuggets", "nugget_coverage_micro", "nugget_coverage_macro", "f1_macro", "character_count_median")
    of_zero, of_answered = ([found["team.one", "all", metric] for metric in metrics] for found in (zero, answered))
    assert of_zero == ["3.0", "0.3333333333333333", "0.25", "0.2", "93.0"]
    assert of_answered == ["2.0", "0.5", "0.5", "0.4", "93.0"]
    assert (zero["team.one", "t2", "nuggets"], zero["team.one", "t2", "sentences"]) == ("1.0", "0.0")
    assert ("team.one", "t2", "nuggets") not in answered
    # Of team two, F1 is 0 on both topics: one sentence of two is supported, and no question answered.
    assert (answered["team.two", "all", "sentence_support_micro"], answered["team.two", "all", "f1_macro"]) == (
        "0.5",
        "0.0",
    )


def test_what_is_missing_is_not_zero(questions: Condition, import_file: Importer, tmp_path):
    lacking = [*JUDGED_ONE[:2], []]
    assert (
        import_file(questions.campaign, "argue_judgments", [report("team.one", lacking), TWO], **FILE).state == "done"
    )
    condition = questions.campaign.conditions.get(name="Judged")
    with pytest.raises(CommandError, match="1 of 2 answers under Judged are incomplete: some sentence has no judgment"):
        tsv(condition, tmp_path)
    found = table(tsv(condition, tmp_path, allow_incomplete=True))
    assert not [key for key in found if key[:2] == ("team.one", "all")]
    of_one = {metric for run, topic, metric in found if (run, topic) == ("team.one", "t1")}
    assert {"nugget_coverage", "citation_support", "citation_relevance"} <= of_one
    assert not of_one & {"f1", "sentence_support", "sentences_with_citations_or_requiring_citations"}


def test_questions_without_importance_weigh_nothing_beside_others(questions, import_file, olga, as_olga):
    change_protocol(campaign=questions.campaign, settings={"argue_gate": "open"}, acting_user=olga)
    judged = [[relevance("d1"), matches("d1", heal=["Bones"], kittens=["Yes"]), attested("d1")], *JUDGED_ONE[1:]]
    assert import_file(questions.campaign, "argue_judgments", [report("team.one", judged)], **FILE).state == "done"
    condition = questions.campaign.conditions.get(name="Judged")
    found = condition_scores(condition)
    assert found.unusual == {"topics_without_questions": 0, "questions_without_weight": 1, "sentences_cut": 0}
    of_run = dict(zip(found.measures.keys, found.scores[0, 0].tolist(), strict=True))
    # An open gate asks of every cited sentence about all answers: those of the second sentence by d2 are answered no.
    assert (of_run["nugget_coverage"], of_run["nugget_coverage_weighted"]) == (2 / 3, 2 / 3)
    page = as_olga.get(f"/campaigns/study/scores/?condition={condition.pk}").content.decode()
    assert "1 question without importance weighs nothing in weighted scores" in page


def test_a_topic_without_references_is_not_scored(reports: Campaign, import_file: Importer, as_olga: Client):
    done = import_file(reports, "questions", [bank(KITTENS)], condition="Questions", by="people")
    assert done.state == "done", done.report
    assert import_file(reports, "argue_judgments", [EMPTY], **FILE).state == "done"
    condition = reports.conditions.get(name="Judged")
    found = condition_scores(condition)
    assert ([one.qid for one in found.uncounted], found.topics) == (["t1"], [])
    page = as_olga.get(f"/campaigns/study/scores/?condition={condition.pk}").content.decode()
    assert "No question counts on <bdi>t1</bdi>" in page


def test_pages_and_files_rank_runs_by_f1(imported: Condition, as_olga: Client):
    page = as_olga.get(f"/campaigns/study/scores/?condition={imported.pk}").content.decode()
    assert page.index("team.one") < page.index("team.two")
    assert "Sentence support" in page
    sent = as_olga.get(f"/campaigns/study/scores/{imported.pk}.csv")
    out = b"".join(sent.streaming_content).decode().splitlines()
    head = out[0].split(",")
    assert head[head.index("argue_f1") :][:3] == ["argue_f1", "sentence_support", "nugget_coverage"]
    row = dict(zip(head, next(line for line in out if line.startswith("team.one,")).split(","), strict=True))
    assert (row["argue_f1"], row["sentences_cut"]) == ("0.4", "0")


def test_a_frozen_condition_has_its_judgments_and_scores(imported: Condition, olga: Person, tmp_path):
    assert missing(imported) == []
    frozen = freeze(condition=imported, acting_user=olga)
    with zipfile.ZipFile(io.BytesIO(b"".join(frozen_bundle(frozen)))) as bundle:
        assert bundle.read("argue_judgments.jsonl").decode() == "".join(judgment_lines(imported))
        assert bundle.read("argue_scores.tsv").decode() == tsv(imported, tmp_path)


def test_who_takes_a_models_judgments_has_seen_them(imported: Condition, as_olga: Client, olga: Person):
    sent = as_olga.get(f"/campaigns/study/exports/argue_judgments/file/?of={imported.name}")
    assert len(b"".join(sent.streaming_content).splitlines()) == 3
    [seen] = Exposure.objects.filter(person=olga)
    assert (seen.topic.qid, seen.kind, seen.where) == ("t1", "argue", "export of Judged")


def test_the_history_of_a_judgment_names_what_it_asks(imported: Condition, as_olga: Client):
    sheet = ArgueSheet.objects.get(condition=imported, answer__run__tag="team.one")
    for item in sheet.asked:
        assert as_olga.get(f"/campaigns/study/labels/argue/{sheet.pk}/{item}/").status_code == 200
    page = as_olga.get(f"/campaigns/study/labels/argue/{sheet.pk}/s0.dd1.attests/").content.decode()
    assert "does d1 attest sentence 1?" in page
    assert as_olga.get(f"/campaigns/study/labels/argue/{sheet.pk}/s9.needs/").status_code == 404
