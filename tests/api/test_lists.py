"""What the API gives is what exports and score tables have; pages and lines give the same; odd requests fail."""

import json
import re
from itertools import compress
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from jsonschema import Draft202012Validator

from assessor.accounts.models import Person
from assessor.api import pagination
from assessor.api.service import api
from assessor.campaigns.exports import qrels_lines
from assessor.campaigns.models import Answer, Campaign, Event
from assessor.scores.cache import condition_scores
from assessor.scores.leaderboards import score_lines
from assessor.scores.tables import topics_counting
from assessor.work.models import Draw, Exposure
from assignment.exports import assignment_lines
from metaeval.actions import create_hybrid
from metaeval.models import Calculation
from metaeval.stats.means import Policy
from nuggets.exports import condition_lines
from support.exports import support_lines
from tests.api.conftest import Ask, judged_report
from tests.api.test_access import TABLE, keys
from tests.judging import all_judged
from tests.work.conftest import at_once

EXPORTS = {
    "nuggets": (condition_lines, ("N people", "N model")),
    "assignments": (assignment_lines, ("A people on people", "A model on people", "A people on model")),
    "support": (support_lines, ("S people", "S model")),
}


def every_list(study: Campaign) -> dict[str, str]:
    return {name: address.format(**keys(study)) for name, (address, _) in TABLE.items() if name.startswith("list_")}


def operations(schema: Any) -> list[Any]:
    return [operation for methods in schema["paths"].values() for operation in methods.values()]


def read_all(ask: Ask, address: str, limit: int, **asked: Any) -> list[Any]:
    """Read a list page by page."""
    items, cursor = [], {}
    while True:
        page = ask(address, limit=limit, **cursor, **asked).json()
        assert len(page["items"]) <= limit
        items += page["items"]
        if page["next"] is None:
            return items
        assert len(page["items"]) == limit
        cursor = {"cursor": page["next"]}


def lines_of(response: Any) -> list[Any]:
    assert response["Content-Type"] == "application/jsonl"
    return [json.loads(line) for line in response.text_sent.splitlines()]


def counting(found: list[Any], of: str) -> list[Any]:
    """Leave out what is told of the topic for practice."""
    return [line for line in found if line[of] != "t3"]


def test_pages_of_any_size_and_lines_are_the_same_and_as_described(study: Campaign, ask: Ask):
    schema = json.loads(json.dumps(api.get_openapi_schema(), default=str))
    for name, address in every_list(study).items():
        items = lines_of(ask(address, lines=True))
        assert items, name
        ones, all_at_once = read_all(ask, address, 1), read_all(ask, address, 500)
        if (
            name == "list_events"
        ):  # reading leaves no event, but the exposures of the first reading are no events either
            assert Event.objects.count() == len(items) + Event.objects.filter(campaign=None).count()
        assert ones == all_at_once == items, name
        [described] = [one for one in operations(schema) if one["operationId"] == name]
        of_item = described["responses"]["200"]["content"]["application/jsonl"]["schema"]
        validator = Draft202012Validator(of_item | {"components": schema["components"]})
        for item in items:
            validator.validate(item)


def test_reports_are_those_of_the_export(study: Campaign, ask: Ask):
    condition = study.conditions.get(name="J people")
    address = f"/campaigns/study/conditions/{condition.pk}/argue_judgments"
    assert ask(address).json()["items"] == [judged_report("r1"), judged_report("r2")]
    assert ask(address, run="r2").json()["items"] == [judged_report("r2")]
    assert ask(address, topic="t2").json()["items"] == []


@pytest.mark.parametrize("what", EXPORTS)
def test_labels_are_those_of_the_exports(study: Campaign, ask: Ask, what: str):
    lines, names = EXPORTS[what]
    of = "topic_id" if what == "support" else "qid"
    for name in names:
        condition = study.conditions.get(name=name)
        written = [json.loads(line) for line in lines(condition)]
        address = f"/campaigns/study/conditions/{condition.pk}/{what}"
        assert ask(address).json()["items"] == counting(written, of)
        assert {line[of] for line in written} >= {"t1"}


def test_labels_of_some_topics_and_runs(study: Campaign, ask: Ask):
    condition = study.conditions.get(name="A people on people")
    address = f"/campaigns/study/conditions/{condition.pk}/assignments"
    assert [one["run_id"] for one in ask(address).json()["items"]] == ["r1", "r2"]
    assert [one["run_id"] for one in ask(address, run="r2").json()["items"]] == ["r2"]
    assert ask(address, topic="t2").json()["items"] == []
    assert ask(address, topic="t3").json()["items"] == []
    for name, value in (("topic", "nothing"), ("run", "first")):
        response = ask(address, **{name: value})
        assert response.status_code == 422
        told = {"loc": ["query", name], "msg": f"There is no {name} {value} in this campaign."}
        assert response.json() == {"detail": [told]}


def test_nan_of_a_file_is_null(study: Campaign, ask: Ask, import_file):
    line = {"topic_id": "t2", "run_id": "r1", "sentences": [{"sentenceID": 0, "text": float("nan"), "citations": []}]}
    done = import_file(study, "support", [line], condition="NaN", by="people")
    assert done.state == "done", done.report
    address = f"/campaigns/study/conditions/{study.conditions.get(name='NaN').pk}/support"
    for found in (ask(address).json()["items"], lines_of(ask(address, lines=True))):
        assert [one["text"] for one in found[0]["sentences"]] == [None]


def test_grades_are_those_of_the_qrels(study: Campaign, ask: Ask):
    for source in study.qrels_sources.all():
        found = ask(f"/campaigns/study/qrels/{source.pk}/grades").json()["items"]
        told = sorted(f"{one['qid']} {one['iteration']} {one['docid']} {one['grade']}\n" for one in found)
        assert told == sorted(line for line in qrels_lines(source) if not line.startswith("t3 "))
        assert told


@pytest.mark.parametrize("policy", Policy)
def test_scores_are_those_of_the_score_tables(study: Campaign, ask: Ask, policy: str):
    for name in ("A people on people", "A model on people", "S people"):
        condition = study.conditions.get(name=name)
        address = f"/campaigns/study/conditions/{condition.pk}/scores"
        table = ask(address, policy=policy).json()
        assert (table["condition"], table["policy"]) == (name, policy)
        rows = [*table["runs"], *table["over"], *table["controls"]]
        lines = list(score_lines(condition, "csv", Policy(policy), allow_incomplete=True))
        columns = lines[0].strip().split(",")
        assert len(rows) == len(lines) - 1
        for row, line in zip(rows, lines[1:], strict=True):
            written = dict(zip(columns, line.strip().split(","), strict=True))
            assert row["run_id"] == written["run_id"]
            for key in ("topics", "complete", "incomplete", "not_judged_by_plan"):
                assert str(row[key]) == written[key]
            for measure in table["measures"]:
                told = row["scores"][measure]
                assert (None if written[measure] == "" else float(written[measure])) == told
                error = written[f"{measure}_standard_error"]
                assert (None if error == "" else float(error)) == row["standard_errors"][measure]
        cells = ask(f"{address}/topics", policy=policy).json()["items"]
        written_cells = list(score_lines(condition, "topics", Policy(policy), allow_incomplete=True))[1:]
        told_cells = [(one["run_id"], one["qid"], one["state"]) for one in cells]
        assert told_cells == [
            (cell[0], cell[5], cell[6])
            for cell in (line.strip().split(",") for line in written_cells)
            if cell[5] != "t3"
        ]
        has_cell_outside = "not judged by plan" in [one["state"] for one in cells]
        assert has_cell_outside == (name == "S people")
        found = condition_scores(condition)
        counting = {topic.qid for topic in compress(found.topics, topics_counting(found, Policy(policy)))}
        rows_written = (line.strip().split(",") for line in written_cells)
        states = [(cell[0], cell[6]) for cell in rows_written if cell[5] in counting]
        assert table["not_judged_by_plan"] == sum(state == "not judged by plan" for _, state in states)
        for row in (*table["runs"], *table["controls"]):
            told = row["complete"] + row["incomplete"] + row["not_judged_by_plan"]
            assert told + states.count((row["run_id"], "unanswered")) == row["topics"] == len(counting)


def test_a_comparison_is_told_with_its_result(study: Campaign, ask: Ask):
    found = ask(f"/campaigns/study/comparisons/{study.comparisons.get().pk}").json()
    done = Calculation.objects.get()
    assert found["result"]["labels"]["matrix"] == done.result["labels"]["matrix"]
    assert found["result"]["inputs"] == json.loads(json.dumps(done.inputs))
    assert (found["first"], found["second"], found["state"]) == ("A people on people", "A model on people", "done")
    Calculation.objects.update(state="failed")
    assert ask(f"/campaigns/study/comparisons/{study.comparisons.get().pk}").json()["result"] is None


def test_runs_are_told_with_their_details(study: Campaign, ask: Ask):
    [run] = [one for one in ask("/campaigns/study/runs").json()["items"] if one["tag"] == "r1"]
    details = {"tag": "r1", "team": "one", "task": "RAG", "type": "automatic", "priority": 1}
    assert run == details | {"aliases": ["first", "uno"], "generator": ["meta", "qwen"]}


def test_answers_are_those_of_the_runs_alone(study: Campaign, ask: Ask):
    Answer.objects.create(
        import_record=Answer.objects.earliest("pk").import_record,
        run=study.runs.get(tag="r1"),
        topic=study.topics.get(qid="t1"),
        apart=True,
        content=[{"text": "apart", "citations": []}],
        words=1,
    )
    found = ask("/campaigns/study/answers", topic="t1").json()["items"]
    sentences = [{"text": "Cats purr.", "citations": ["d1"]}]
    assert found == [{"qid": "t1", "run_id": tag, "words": 2, "sentences": sentences} for tag in ("r1", "r2")]


def test_progress_and_tasks(study: Campaign, anna: Person, ask: Ask):
    assert ask("/campaigns/study/progress").json()["items"] == [
        {
            **{"condition": "Manual", "kind": "nuggets", "person": "anna", "tasks": 2},
            **{"finished": 0, "done": 0, "total": 0, "seconds": 0},
        }
    ]
    tasks = ask("/campaigns/study/tasks").json()["items"]
    assert [(one["qid"], one["is_practice"], one["person"], one["state"]) for one in tasks] == [
        ("t1", False, "anna", "open"),
        ("t2", False, "anna", "open"),
        ("t3", True, "anna", "open"),
    ]


def test_segments_by_docid(study: Campaign, ask: Ask):
    found = ask("/campaigns/study/segments", docid=["d2", "nothing", "d1"]).json()["items"]
    assert [one["docid"] for one in found] == ["d1", "d2"]
    assert found[0]["text"] == "Cats purr when content. Some purr when in pain."
    assert found[0]["extras"] == {"title": "Purring"}


READ = {
    "N model": ("nuggets", ["nuggets"]),
    "N people": ("nuggets", []),
    "A model on people": ("assignments", ["assignment"]),
    "A people on model": ("assignments", ["nuggets"]),
    "A people on people": ("assignments", []),
    "S model": ("support", ["support"]),
    "S people": ("support", []),
}


@pytest.mark.parametrize("lines", [False, True])
@pytest.mark.parametrize("name", READ)
def test_who_reads_what_a_model_gave_has_seen_it(study: Campaign, olga: Person, ask: Ask, name: str, lines: bool):
    what, kinds = READ[name]
    address = f"/campaigns/study/conditions/{study.conditions.get(name=name).pk}/{what}"
    for _ in range(2):
        assert ask(address, lines=lines).status_code == 200
        seen = Exposure.objects.order_by("kind").values_list("person__username", "topic__qid", "kind", "where")
        assert [*seen] == [("olga", "t1", kind, f"API: {name}") for kind in kinds]


@pytest.mark.parametrize("lines", [False, True])
def test_who_reads_a_models_grades_has_seen_them(study: Campaign, ask: Ask, lines: bool):
    for source in study.qrels_sources.all():
        ask(f"/campaigns/study/qrels/{source.pk}/grades", lines=lines)
    assert [*Exposure.objects.values_list("topic__qid", "kind", "where")] == [("t1", "relevance", "API: Mia's")]


def test_only_what_is_sent_is_seen(study: Campaign, ask: Ask, import_file):
    import_file(study, "qrels", "t2 0 d1 1\n", source="Mia's", by="model")
    address = f"/campaigns/study/qrels/{study.qrels_sources.get(by='model').pk}/grades"
    assert ask(address, limit=1).json()["next"]
    assert [*Exposure.objects.values_list("topic__qid", flat=True)] == ["t1"]


@pytest.mark.parametrize("name", [*READ, "Mia's"])
def test_of_lines_all_is_seen_before_the_first_is_sent(study: Campaign, secrets: dict[str, str], name: str):
    what, kinds = READ.get(name, ("grades", ["relevance"]))
    records, path = (study.qrels_sources, "qrels") if what == "grades" else (study.conditions, "conditions")
    headers = {"Authorization": f"Bearer {secrets['organizer']}", "Accept": "application/jsonl"}
    Client().get(f"/api/v1/campaigns/study/{path}/{records.get(name=name).pk}/{what}", headers=headers)
    assert [*Exposure.objects.order_by("kind").values_list("topic__qid", "kind")] == [("t1", kind) for kind in kinds]


@pytest.mark.django_db(transaction=True)
def test_lines_come_to_their_end_while_others_save(
    study: Campaign, secrets: dict[str, str], anna: Person, import_file, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pagination, "_AT_A_TIME", 1)  # as with more lines than are read at a time
    import_file(study, "qrels", "t2 0 d1 1\nt2 0 d2 1\n", source="Mia's", by="model")
    headers = {"Authorization": f"Bearer {secrets['organizer']}", "Accept": "application/jsonl"}
    source = study.qrels_sources.get(name="Mia's")
    response = Client().get(f"/api/v1/campaigns/study/qrels/{source.pk}/grades", headers=headers)
    sent = []
    for line in response.streaming_content:
        sent.append(json.loads(line)["qid"])
        saved = at_once([lambda: Person.objects.filter(pk=anna.pk).update(first_name=f"Anna {len(sent)}")])
        assert saved == [1]
    assert sent == ["t1", "t2", "t2"]


ODD = ("\x00", "t1\x00", "\ud800", "%00", "9" * 5_000, "-1", "0", "1.5", "", "é", "a" * 10_000, str(2**63), str(2**64))
WITH_FILTERS = tuple(
    f"list_{name}" for name in ("answers", "topic_scores", "assignments", "grades", "segments", "conditions")
)


def test_odd_parameters_are_refused_and_harm_nothing(study: Campaign, ask: Ask, settings: Any):
    settings.API_REQUESTS_A_MINUTE = 100_000
    lists = every_list(study)
    for value in ODD:
        told = quote(value, errors="surrogatepass")
        for address in (lists[name] for name in WITH_FILTERS):
            for parameter in ("limit", "cursor", "topic", "run", "docid", "kind", "policy", "unknown"):
                status = ask(f"{address}?{parameter}={told}").status_code
                assert status == 422 or (status == 200 and parameter == "docid"), (address, parameter, value[:20])
        for address, _ in TABLE.values():
            if "{" in address:
                keyed = re.sub(r"{\w+}", told.replace("\\", ""), address)
                assert ask(keyed).status_code in (404, 422), keyed[:200]
        assert ask(f"/campaigns/{told}/topics").status_code in (404, 422)


CURSORS = (
    *("W10", "WzFd", "WyJ0MSJd", "e30", "bnVsbA", "WzFlOTk5XQ", "Wy0xXQ", "W3RydWVd", "WyJcdWQ4MDAiLCAiciJd"),
    *("WyJcdTAwMDAiLCJyIl0", "Wzk5OTk5OTk5OTk5OTk5OTk5OTk5OV0", "WyJ0MSIsICJyMSJd", "WyJ0MSIsIDFd", "WzEsIDFd"),
    *("[[[[", "A" * 1_999),
)


def test_a_made_up_cursor_is_refused_or_leads_to_a_page(study: Campaign, ask: Ask):
    refused = 0
    for cursor in CURSORS:
        for name, address in every_list(study).items():
            response = ask(address, cursor=cursor)
            assert response.status_code in (200, 422), (name, cursor)
            if response.status_code == 422:
                refused += 1
                assert response.json()["detail"][0]["loc"] == ["query", "cursor"]
    assert refused > len(CURSORS) * 10


def test_a_misspelt_filter_is_no_filter_left_out(study: Campaign, ask: Ask):
    response = ask("/campaigns/study/answers", topics="t1")
    assert response.status_code == 422
    assert response.json()["detail"][0]["msg"].endswith("There is no such parameter: topics.")


def test_no_list_asks_more_of_a_longer_page(study: Campaign, ask: Ask, import_file):
    def queries() -> dict[str, int]:
        counted = {}
        for name, address in every_list(study).items():
            ask(address)  # what is kept, is
            with CaptureQueriesContext(connection) as found:
                assert ask(address).status_code == 200
            counted[name] = len(found)
        return counted

    before = queries()
    for number in range(4):
        tag = f"more{number}"
        import_file(
            study,
            "runs",
            [{"run_id": tag, "topic_id": "t1", "references": ["d1"], "answer": [{"text": "a", "citations": [0]}]}],
            name=tag,
        )
        import_file(study, "run_list", f"tag,team,task,type,priority,aliases\n{tag},,,,,other{number}\n")
        import_file(study, "qrels", f"t1 0 more{number} 1\n", source=f"source {number}", by="people")
        import_file(study, "segments", [{"docid": f"more{number}", "segment": "text"}])
    for kind in ("assignment", "support"):
        assert any(map(all_judged, study.conditions.filter(kind=kind)))
    assert queries() == before


def test_what_is_not_there_is_told_as_json(ask: Ask, olga: Person):
    for address in ("/", "/nothing", "/campaigns/study/nothing", "/campaigns/study/", "/a%0Ab"):
        response = ask(address)
        assert (response.status_code, response.json()) == (404, {"detail": "Not Found"})


def test_the_description_is_for_everybody_and_names_no_campaign(study: Campaign, ask: Ask):
    response = ask("/openapi.json", "anonymous")
    assert response.status_code == 200
    schema = response.json()
    assert schema["components"]["securitySchemes"] == {"Bearer": {"type": "http", "scheme": "bearer"}}
    for operation in operations(schema):
        assert operation["security"] == [{"Bearer": []}]
        assert {"401", "403", "404", "422", "429"} <= set(operation["responses"])
    assert "study" not in response.content.decode()


def test_hybrid_scores_are_told_by_measure(study: Campaign, ask: Ask):
    hybrid = study.hybrids.get()
    sides = {"human": hybrid.human, "model": hybrid.model}
    of = {"condition": hybrid.human, "frame": ["t1", "t2"]}
    drawn = [Draw.objects.create(seed=seed, topics=[qid], **of) for seed, qid in ((3, "t1"), (4, "t2"))]
    again = create_hybrid(campaign=study, name="Drawn", draw=drawn[1], acting_user=None, **sides)
    told, other = ask("/campaigns/study/hybrids").json()["items"]
    assert (told["id"], told["human"], told["model"]) == (hybrid.pk, "A people on people", "A model on people")
    assert (told["target"], told["confidence"], told["prior_sd"]) == ("campaign", 95, 0.03)
    assert (told["draw"], other["draw"]) == (None, "1 of 2 topics, seed 4")
    assert [one["is_used"] for one in told["draws"]] == [False, False]
    assert [(one["seed"], one["topics"], one["frame"], one["is_used"]) for one in other["draws"]] == [
        (3, ["t1"], 2, False),
        (4, ["t2"], 2, True),
    ]
    assert [one["created_at"] for one in other["draws"]] == [one.created_at.isoformat() for one in drawn]
    assert [one["scored_models"] for one in other["draws"]] == [[], []]
    address = f"/campaigns/study/hybrids/{hybrid.pk}/scores"
    assert ask(address).json()["measure"] == "vstrict"
    found = ask(address, measure="a").json()
    assert (found["measure"], found["judged_topics"], found["topics"]) == ("a", 1, 1)
    assert {run["why"] for run in found["runs"]} == {"fewer than 3 judged topics"}
    assert {run["score"] for run in found["runs"]} == {None}
    assert found["tau_people"] is None  # what people judged is what was drawn
    # Of the second draw nothing is judged, but all that the model labelled: the model's order is the wrong one.
    assert ask(f"/campaigns/study/hybrids/{again.pk}/scores", measure="a").json()["tau_people"] == {
        "hybrid": {"tau": None, "low": None, "high": None, "why": "fewer than two values"},
        "model": {"tau": -1.0, "low": -1.0, "high": -1.0, "why": ""},
    }
    assert ask(address, measure="no").status_code == 404


def test_judges_of_the_same_items_are_told_as_in_the_file(study: Campaign, ask: Ask, olga: Person):
    first = study.conditions.get(name="A people on people")
    address = f"/campaigns/study/conditions/{first.pk}/judges"
    told = ask(address).json()
    assert (told["reference"], told["measure"], told["policy"]) == (first.name, "vstrict", "zero")
    assert [(one["name"], one["by"]) for one in told["judges"]] == [
        ("A people on people", "people"),
        ("A model on people", "model"),
    ]
    [pair] = told["pairs"]
    assert {"match", "unweighted", "linear", "quadratic", "tau_run", "tau_topic", "tau_cell"} < set(pair)
    assert Exposure.objects.filter(person=olga, kind="assignment").exists()
    assert ask(address, judge="A model on people", measure="a").json()["measure"] == "a"
    for wrong in ({"judge": "S model"}, {"measure": "no"}):
        assert ask(address, **wrong).status_code == 404
    source = study.qrels_sources.get(name="NIST")
    told = ask(f"/campaigns/study/qrels/{source.pk}/judges").json()
    assert (told["reference"], told["measure"], told["policy"]) == ("NIST", None, None)
    assert [one["name"] for one in told["judges"]] == ["NIST", "Mia's"]
    assert Exposure.objects.filter(person=olga, kind="relevance").exists()


def test_a_calibration_is_told_with_what_was_found(study: Campaign, ask: Ask, olga: Person):
    made = study.calibrations.get()
    [told] = ask("/campaigns/study/calibrations").json()["items"]
    assert (told["id"], told["human"], told["judged"]) == (made.pk, "A people on people", "A model on people")
    assert (told["name"], told["kind"]) == ("A model on people against A people on people", "assignment")
    assert (told["labels"], told["topics"], told["kappa"]) == (made.labels, made.topics, made.kappa)
    assert not Exposure.objects.filter(person=olga).exists()
    found = ask(f"/campaigns/study/calibrations/{made.pk}").json()
    assert found == told | {"result": made.result}
    assert Exposure.objects.filter(person=olga, kind="assignment").exists()
    assert ask(f"/campaigns/study/calibrations/{made.pk + 1}").status_code == 404
