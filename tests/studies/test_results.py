"""What came of studies: figures by hand, error codes, files, and the organizer's pages with whatever they are sent."""

import csv
import json
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.accounts.models import Person
from assessor.campaigns.actions import create_campaign
from assessor.campaigns.models import Campaign, Condition, Event
from assessor.exports.paper import figures
from assessor.studies.actions import StudyError, code_item, define_code, let_people_judge
from assessor.studies.models import Coding, ErrorCode, Study
from assessor.studies.queries import items_of
from assessor.work.models import Task
from assessor.work.write_protocol import Stale
from metaeval.studies import study_result, study_results
from tests.conftest import client_of
from tests.studies.conftest import N_PEOPLE, draw, everything, items, nugget_labels, support_labels

# What a judge of the sample of PEOPLE and MODEL says: nothing of one item, and something of one that was not drawn.
JUDGE = {
    ("team.one", "t1"): {"0.0": "full", "1.0": "none", "2.0": "full"},
    ("team.one", "t2"): {"0.0": "none", "1.0": "partial"},
    ("team.two", "t1"): {"0.0": "none", "1.0": "full"},
}


@pytest.fixture
def study(people: Condition, model: Condition) -> Study:
    return draw(people, model)


@pytest.fixture
def judge(study: Study, answered: Campaign) -> Condition:
    return support_labels(answered, "Rea's", "model", JUDGE, sample=study.name)


@pytest.fixture
def client(olga: Person) -> Client:
    return client_of(olga)


def page(client: Client, address: str = "") -> str:
    response = client.get(f"/campaigns/study/studies{address}")
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def file(client: Client, address: str) -> str:
    response: HttpResponse = client.get(f"/campaigns/study/studies{address}")
    assert response.status_code == 200
    return response.getvalue().decode()


# Figures


def test_agreement_and_distributions_are_those_worked_out_by_hand(study, judge):
    result = study_result(study)
    [one] = result.judges
    assert (result.items, one.labelled, one.condition) == (7, 6, judge)
    # Rows: none, partial, full of the first and of the second; columns: of the judge.
    assert one.with_first.matrix.tolist() == [[0, 0, 1], [1, 1, 0], [1, 0, 2]]
    assert one.with_second.matrix.tolist() == [[2, 1, 0], [0, 0, 2], [0, 0, 1]]
    for found, match, kappa, linear in (
        (one.with_first, 3 / 6, 5 / 23, 1 / 16),
        (one.with_second, 3 / 6, 7 / 25, 1 / 2),
    ):
        assert [found.match.value, found.unweighted.value, found.linear.value] == pytest.approx([match, kappa, linear])
        assert {found.match.n, found.unweighted.n} == {6}
    told = [(one.name, [share.given for share in one.shares], one.missing) for one in result.distributions]
    assert told == [("NIST's", [2, 2, 3], 0), ("Mia's", [3, 3, 1], 0), ("Rea's", [2, 1, 3], 1)]
    assert [share.percent for share in result.distributions[2].shares] == pytest.approx([100 / 3, 100 / 6, 50])
    # Of the first, the second and the judge, each two.
    assert {pair: (kappa.value, kappa.n) for pair, kappa in result.kappas.items()} == {
        (0, 1): (pytest.approx(-15 / 34), 7),
        (0, 2): (pytest.approx(5 / 23), 6),
        (1, 2): (pytest.approx(7 / 25), 6),
    }


def test_what_came_of_it_is_drawn_and_downloaded(study, judge, client, ben):
    base = f"/campaigns/study/studies/{study.pk}/figures/"
    assert f'data-figure="{base}kappa.json"' in page(client, f"/{study.pk}/")
    rows = list(csv.DictReader(file(client, f"/{study.pk}/figures/kappa.csv").splitlines()))
    told = {(row["row"], row["column"]): (row["count"], row["percent"]) for row in rows if row["layer"] == "1"}
    assert told["(1) NIST's", "(3)"] == told["(3) Rea's", "(1)"] == ("0.217", "n = 6")
    assert told["(2) Mia's", "(3)"] == ("0.280", "n = 6")
    assert len(told) == 6
    light, dark = (client.get(f"{base}labels.json?theme={theme}").json() for theme in ("light", "dark"))
    assert light["config"]["background"] != dark["config"]["background"]
    for form, start in (("svg", b"<svg"), ("pdf", b"%PDF"), ("png", b"\x89PNG")):
        assert client.get(f"{base}labels.{form}").content.startswith(start)
    for wrong in ("labels.gif", "other.svg", "labels.svg?theme=blue"):
        assert client.get(base + wrong).status_code == 404
    # The zip for a paper has them, too.
    assert {f"{study}.kappa", f"{study}.labels"} <= {name for name, _ in figures(study.campaign)}
    assert client_of(ben).get(f"{base}kappa.json").status_code == 404


def test_nuggets_are_counted_the_same_way(nuggets, n_people, n_model):
    study = draw(n_people, n_model)
    said = {("team.one", "t1"): {"purring heals": "support", "dogs bark": "support", "cats purr": "not_support"}}
    judge = nugget_labels(nuggets, "Judge", "people", said)
    Condition.objects.filter(pk=judge.pk).update(sample=study.name)
    [one] = study_result(study).judges
    # First: support, not_support; second: partial_support, support; the judge: support, support.
    assert one.labelled == 2
    assert one.with_first.matrix.tolist() == [[0, 0, 1], [0, 0, 0], [0, 0, 1]]
    assert one.with_second.matrix.tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 1]]
    assert (one.with_first.match.value, one.with_first.unweighted.value) == (0.5, 0)


def test_what_is_undefined_says_why(answered, model, client):
    first = support_labels(answered, "F", "people", {("team.one", "t1"): {"0.0": "full", "1.0": "full"}})
    study = draw(first, model)
    silent = support_labels(answered, "Silent", "people", {}, sample=study.name)
    support_labels(answered, "One", "model", {("team.one", "t1"): {"0.0": "full", "1.0": "full"}}, sample=study.name)
    nobody, alike = study_result(study).judges
    assert (nobody.condition, nobody.labelled, nobody.with_first.match) == (silent, 0, (None, 0, "no pairs"))
    assert alike.with_first.match.value == 1
    assert alike.with_first.unweighted == (None, 2, "only one label was used")
    assert alike.with_second.unweighted.value == 0
    text = page(client, f"/{study.pk}/")
    assert '— <span class="quiet why">no pairs</span>' in text
    assert '— <span class="quiet why">only one label was used</span>' in text
    rows = list(csv.DictReader(file(client, ".csv").splitlines()))
    assert [(row["judge"], row["match_first"], row["kappa_first"], row["kappa_second"]) for row in rows] == [
        ("Silent", "", "", ""),
        ("One", "1.0", "", "0.0"),
    ]
    told = json.loads(file(client, f"/{study.pk}/export/json"))
    assert told["judges"][1]["with_first"]["kappa"] == {"value": None, "n": 2, "why": "only one label was used"}
    assert told["distributions"]["Silent"] == {"none": 0, "partial": 0, "full": 0, "missing": 2}
    [row] = list(csv.DictReader(file(client, f"/{study.pk}/export/labels.csv").splitlines()))[-5:-4]
    assert (row["judge"], row["label"], row["count"], row["percent"]) == ("Silent", "", "2", "")


def test_studies_are_counted_each_by_its_own_judges(study, judge, people, model, answered, n_people, n_model):
    other = draw(people, model, name="Other", per_topic=1)
    support_labels(answered, "Of the other", "model", JUDGE, sample="Other")
    third = draw(n_people, n_model, name="Nuggets")
    found = {
        result.study.pk: [(one.condition.name, one.labelled) for one in result.judges]
        for result in study_results([study, other, third])
    }
    assert found[study.pk] == [("Rea's", 6)]
    assert [name for name, _ in found[other.pk]] == ["Of the other"]
    assert found[third.pk] == []


def test_labels_of_large_samples_are_read_in_parts(study, judge, monkeypatch: pytest.MonkeyPatch):
    import metaeval.studies

    whole = study_result(study).judges[0].with_first.matrix.tolist()
    monkeypatch.setattr(metaeval.studies, "_ITEMS_AT_ONCE", 2)
    monkeypatch.setattr(metaeval.studies, "_AT_A_TIME", 3)
    assert study_result(study).judges[0].with_first.matrix.tolist() == whole
    assert len(list(metaeval.studies.item_lines(study))) == 8


# Error codes


def code(campaign: Campaign, name: str, meaning: str = "why") -> ErrorCode:
    return define_code(campaign=campaign, code=name, meaning=meaning, acting_user=None)


def test_a_code_is_defined_and_changed(answered, olga):
    define_code(campaign=answered, code="over-strict", meaning="  asks \n too much", acting_user=olga)
    define_code(campaign=answered, code="over-strict", meaning="more than is said", acting_user=olga)
    [record] = answered.error_codes.all()
    assert (record.code, record.meaning, record.created_by) == ("over-strict", "more than is said", olga)
    events = list(Event.objects.filter(verb="error code defined").order_by("pk").values_list("details", flat=True))
    assert events[1] == {"before": "asks too much", "meaning": "more than is said"}


@pytest.mark.parametrize(("name", "meaning"), [("a b", "x"), ("", "x"), ("a" * 41, "x"), ("a", ""), ("a", "x" * 301)])
def test_an_odd_code_is_refused(answered, name: str, meaning: str):
    with pytest.raises(StudyError):
        code(answered, name, meaning)
    assert not ErrorCode.objects.exists()


def test_items_are_coded_coded_anew_and_counted(study, olga, client):
    for name in ("b-code", "a-code"):
        code(study.campaign, name)
    one, two = study.drawn.order_by("pk")[:2]
    first = code_item(drawn=one, codes=["b-code", "a-code"], note="  look \n here", seen=0, acting_user=olga)
    assert (first.codes, first.note, first.person) == (["a-code", "b-code"], "look here", olga)
    code_item(drawn=two, codes=["a-code"], note="", seen=0, acting_user=olga)
    with pytest.raises(Stale):
        code_item(drawn=one, codes=[], note="", seen=0, acting_user=olga)
    result = study_result(study)
    assert ([(c.code, count) for c, count in result.codes], result.uncoded) == ([("a-code", 2), ("b-code", 1)], 5)
    second = code_item(drawn=one, codes=["b-code"], note="", seen=first.pk, acting_user=olga)
    code_item(drawn=two, codes=[], note="not yet", seen=two.codings.get().pk, acting_user=olga)
    result = study_result(study)
    assert ([(c.code, count) for c, count in result.codes], result.uncoded) == ([("a-code", 0), ("b-code", 1)], 6)
    assert list(one.codings.order_by("pk")) == [first, second]
    told = json.loads(file(client, f"/{study.pk}/export/json"))
    assert (told["error_codes"], told["uncoded"]) == ({"a-code": 0, "b-code": 1}, 6)
    rows = list(csv.DictReader(file(client, f"/{study.pk}/export/items.csv").splitlines()))
    assert sorted((row["codes"], row["note"]) for row in rows if row["codes"] or row["note"]) == [
        ("", "not yet"),
        ("b-code", ""),
    ]


@pytest.mark.parametrize(("codes", "note"), [(["unknown"], ""), ([], "x" * 501), ([], "a\x00")])
def test_an_odd_coding_is_refused(study, codes: list[str], note: str):
    with pytest.raises(StudyError):
        code_item(drawn=study.drawn.earliest("pk"), codes=codes, note=note, seen=0, acting_user=None)
    assert not Coding.objects.exists()


# Files


def test_the_items_are_told_with_all_labels_in_an_order_of_bytes(study, judge, client):
    lines = file(client, f"/{study.pk}/export/items.csv").splitlines()
    assert lines[0] == "topic,run,place,text,docid,NIST's,Mia's,Rea's,codes,note"
    assert sorted(lines[1:4]) == [
        "t1,team.one,sentence 1,Cats purr to heal.,d1,full,partial,full,,",
        "t1,team.one,sentence 2,They purr when content.,d2,full,none,none,,",
        "t1,team.one,sentence 3,Some bark.,d3,none,full,full,,",
    ]
    assert lines[-1] == "t2,team.two,sentence 1,Glass is sorted.,d5,none,partial,,,"
    assert [(one.answer.topic.qid, one.answer.run.tag) for one in items_of(study)] == sorted(
        (one.answer.topic.qid, one.answer.run.tag) for one in items_of(study)
    )


def test_agreement_labels_and_json_say_what_the_page_says(study, judge, client):
    [row] = csv.DictReader(file(client, f"/{study.pk}/export/agreement.csv").splitlines())
    assert row == {
        **{"study": "Telltale study", "purpose": "disagreement", "first": "NIST's", "second": "Mia's"},
        **{"judge": "Rea's", "drawn": "7", "labelled": "6", "match_first": "0.5", "match_second": "0.5"},
        **{"kappa_first": str(1 - 18 / 23), "kappa_first_linear": "0.0625"},
        **{"kappa_second": "0.28", "kappa_second_linear": "0.5"},
    }
    rows = list(csv.reader(file(client, f"/{study.pk}/export/labels.csv").splitlines()))
    assert [row[1:4] for row in rows[9:]] == [
        *[["Rea's", "none", "2"], ["Rea's", "partial", "1"], ["Rea's", "full", "3"], ["Rea's", "", "1"]]
    ]
    told = json.loads(file(client, f"/{study.pk}/export/json"))
    assert told["judges"][0]["with_second"]["matrix"] == [[2, 1, 0], [0, 0, 2], [0, 0, 1]]
    assert (told["seed"], told["per_topic"], told["drawn"], told["labels"]) == (1, None, 7, ["none", "partial", "full"])
    assert told["judges"][0]["condition"] == judge.identity
    text = page(client, f"/{study.pk}/")
    for shown in ("6/7", ">0.217<", ">0.280<", ">0.500<", '3 <span class="quiet">50.0 %</span>'):
        assert shown in text
    assert Event.objects.filter(verb="exported").count() == 3
    assert client.get(f"/campaigns/study/studies/{study.pk}/export/xml").status_code == 404


def test_cells_are_no_formulas_and_names_no_headers(people, model, answered, client, import_file):
    Condition.objects.filter(pk=people.pk).update(name='=cmd|"a"<b>')
    people.refresh_from_db()
    study = draw(people, model, name='=1+1 "\r\n/<i>é')
    code(answered, "c")
    code_item(drawn=study.drawn.earliest("pk"), codes=["c"], note="=SUM(A1)", seen=0, acting_user=None)
    support_labels(answered, "+judge", "model", JUDGE, sample=study.name)
    for form in ("items.csv", "agreement.csv", "labels.csv"):
        for row in csv.reader(file(client, f"/{study.pk}/export/{form}").splitlines()):
            assert not [cell for cell in row if cell.startswith(("=", "+", "-", "@"))], form
    response = client.get(f"/campaigns/study/studies/{study.pk}/export/json")
    assert response["Content-Disposition"] == 'attachment; filename="study.study._1+1_____i__.json"'
    assert json.loads(response.getvalue())["first"].count("=cmd") == 0  # an imported condition says who made it
    text = page(client, f"/{study.pk}/") + page(client, "/")
    assert "<i>é" not in text
    assert "<b>" not in text


# Pages


def draw_form(people: Condition, model: Condition, **fields: Any) -> dict[str, Any]:
    form = {
        "name": "New",
        "first": people.pk,
        "second": model.pk,
        "per_topic": 15,
        "seed": 3,
    }
    return form | fields


def test_a_study_is_drawn_given_and_coded_on_pages(people, model, others, client, carl, olga):
    text = page(client, "/")
    assert "New study" in text
    assert '<option value="' + str(model.pk) not in text.split('name="second"')[0], "a model is no first"
    response = client.post("/campaigns/study/studies/", draw_form(people, model, per_topic="", seed=""), follow=True)
    study = Study.objects.get()
    assert response.redirect_chain == [(f"/campaigns/study/studies/{study.pk}/", 302)]
    assert "Drawn: 7 citations." in response.content.decode()
    assert (study.per_topic, study.created_by, study.drawn.count()) == (None, olga, 7)
    base = f"/campaigns/study/studies/{study.pk}/"
    text = client.post(f"{base}give/", {"person": carl.pk, "name": ""}, follow=True).content.decode()
    assert "carl has 2 topics under New: carl." in text
    assert Task.objects.filter(person=carl, condition__sample="New").count() == 2
    client.post(f"{base}codes/", {"code": "strict", "meaning": "too strict"})
    drawn = study.drawn.earliest("pk")
    form = {"codes": ["strict"], "note": "well", "seen": 0, "page": "1"}
    response = client.post(f"{base}items/{drawn.pk}/", form)
    assert response["Location"] == f"{base}?page=1#item-{drawn.pk}"
    assert drawn.codings.get().codes == ["strict"]
    response = client.post(f"{base}items/{drawn.pk}/", form | {"note": "late"}, follow=True)
    assert "Somebody coded this item since the page was loaded" in response.content.decode()
    assert drawn.codings.count() == 1


def test_an_adjudication_is_drawn_and_listed_on_a_page_of_its_own(people, model, others, client):
    text = client.get("/campaigns/study/adjudication/").content.decode()
    assert "<h1>Adjudication</h1>" in text
    address = "/campaigns/study/adjudication/"
    refused = client.post(address, draw_form(people, model))
    assert "Select a valid choice" in refused.content.decode()
    assert client.post(address, draw_form(people, others, name="Who decides")).status_code == 302
    study = Study.objects.get()
    assert study.is_adjudication
    link = f'href="/campaigns/study/studies/{study.pk}/"'
    assert link in client.get(address).content.decode()
    assert link not in page(client, "/")
    assert 'href="/campaigns/study/adjudication/">All adjudications</a>' in page(client, f"/{study.pk}/")
    client.post("/campaigns/study/studies/", draw_form(people, model, name="Who is right"))
    other = Study.objects.get(name="Who is right")
    assert not other.is_adjudication
    link = f'href="/campaigns/study/studies/{other.pk}/"'
    assert (link in page(client, "/"), link in client.get(address).content.decode()) == (True, False)


def test_the_same_judge_takes_further_topics_or_nothing_is_written(study, client, carl, ben):
    condition = let_people_judge(study=study, name="Judge", acting_user=None)
    base = f"/campaigns/study/studies/{study.pk}/give/"
    client.post(base, {"person": carl.pk, "condition": condition.pk})
    assert set(Task.objects.values_list("person", "condition")) == {(carl.pk, condition.pk)}
    before = everything()
    text = client.post(base, {"person": ben.pk, "condition": condition.pk}, follow=True).content.decode()
    assert "somebody else&#x27;s already" in text
    text = client.post(base, {"person": carl.pk, "name": "Another"}, follow=True).content.decode()
    assert "carl labels or labelled t1 under Judge" in text
    text = client.post(base, {"person": ben.pk, "name": "Judge"}, follow=True).content.decode()
    assert "another condition called Judge" in text or "is that condition already" in text
    assert everything() == before


BAD = ["", "x", "-1", str(10**30), "1\x00", "\x00"]


@pytest.mark.parametrize("value", BAD)
def test_bad_input_is_no_error_of_the_server(study, people, model, client, value: str):
    before = everything()
    base = f"/campaigns/study/studies/{study.pk}/"
    for field in ("name", "first", "second", "per_topic", "seed"):
        if value == "" and field in ("per_topic", "seed"):
            continue
        wanted = {"name": value} if field == "name" and value in ("x", "-1", str(10**30)) else {field: value}
        if field == "name" and value in ("x", "-1", str(10**30)):
            continue
        assert client.post("/campaigns/study/studies/", draw_form(people, model, **wanted)).status_code == 200
    for field in ("person", "condition"):
        assert client.post(f"{base}give/", {field: value}).status_code == 302
    for fields in (
        {"code": value, "meaning": "\x00"},
        {"code": "\x00", "meaning": value},
        {"code": "a", "meaning": "\x00"},
    ):
        assert client.post(f"{base}codes/", fields).status_code == 302
    drawn = study.drawn.earliest("pk")
    for fields in (
        {"seen": value, "codes": "nope"},
        {"seen": 0, "codes": value or "y"},
        {"seen": 0, "note": "\x00" + value},
    ):
        assert client.post(f"{base}items/{drawn.pk}/", fields | {"page": value}).status_code == 302
    assert client.post(f"{base}items/{drawn.pk}/", {"seen": 10**30}).status_code == 302
    assert client.get(base, {"page": value}).status_code == 200
    assert everything() == before
    assert not ErrorCode.objects.exists()
    assert not Coding.objects.exists()


def test_what_is_wrong_is_said(study, client):
    base = f"/campaigns/study/studies/{study.pk}/"
    text = client.post(f"{base}give/", {}, follow=True).content.decode()
    assert "Assessor: This field is required." in text
    text = client.post(f"{base}codes/", {"code": "a b", "meaning": ""}, follow=True).content.decode()
    assert "Meaning: This field is required." in text
    assert "Enter a valid “slug”" in text


def test_other_campaigns_studies_items_and_conditions_are_404_or_no_choice(study, people, model, otto, ben, anna):
    create_campaign(name="Other", slug="other", acting_user=otto)
    drawn, client = study.drawn.earliest("pk"), client_of(otto)
    for address in ("", "ask/", "figures/kappa.json", "export/items.csv", "export/json"):
        assert client.get(f"/campaigns/other/studies/{study.pk}/{address}").status_code == 404
        assert client.get(f"/campaigns/study/studies/{study.pk}/{address}").status_code == 404
    for address in ("give/", "ask/", "codes/", f"items/{drawn.pk}/"):
        for slug in ("other", "study"):
            assert client.post(f"/campaigns/{slug}/studies/{study.pk}/{address}").status_code == 404
    response = client.post("/campaigns/other/studies/", draw_form(people, model))
    assert response.status_code == 200
    assert Study.objects.count() == 1
    for person in (ben, anna):
        for address in ("/", ".csv", f"/{study.pk}/"):
            assert client_of(person).get(f"/campaigns/study/studies{address}").status_code == 404


def test_items_of_another_study_are_404_under_this_one(study, people, model, client):
    other = draw(people, model, name="Other", seed=2)
    drawn = other.drawn.earliest("pk")
    for pk in (drawn.pk, 10**30):
        address = f"/campaigns/study/studies/{study.pk}/items/{pk}/"
        assert client.post(address, {"seen": 0}).status_code == 404
    assert client.get(f"/campaigns/study/studies/{10**30}/").status_code == 404
    assert not Coding.objects.exists()


def test_a_code_of_another_campaign_is_none_here(study, otto, client):
    elsewhere = create_campaign(name="Other", slug="other", acting_user=otto)
    code(elsewhere, "theirs")
    drawn = study.drawn.earliest("pk")
    text = client.post(
        f"/campaigns/study/studies/{study.pk}/items/{drawn.pk}/", {"seen": 0, "codes": ["theirs"]}, follow=True
    ).content.decode()
    assert "Select a valid choice. theirs is not one of the available choices." in text
    with pytest.raises(StudyError, match="no error code theirs"):
        code_item(drawn=drawn, codes=["theirs"], note="", seen=0, acting_user=None)


def test_pages_ask_no_more_of_more_studies_judges_items_and_topics(
    people, model, others, n_people, n_model, nuggets, answered, client
):
    small = draw(others, model, per_topic=1, name="Small")
    n_others = nugget_labels(nuggets, "Others assigned", "people", {("team.one", "t1"): N_PEOPLE["team.one", "t1"]})
    small_nuggets = draw(n_others, n_model, per_topic=1, name="Few")
    again = draw(n_others, n_model, purpose="rejudging", per_topic=1, name="Again")
    assert [{one[0] for one in items(study)} for study in (small, small_nuggets, again)] == [{"t1"}, {"t1"}, {"t1"}]
    for study in (small, small_nuggets, again):
        let_people_judge(study=study, name=f"{study} judge", acting_user=None)

    def counts(*studies: Study) -> list[int]:
        found = []
        scores = [f"/{study.pk}/export/scores.csv" for study in studies if study.is_rejudging]
        for address in ["/", ".csv", *scores, *(f"/{study.pk}/{rest}" for study in studies for rest in RESTS)]:
            file(client, address)
            with CaptureQueriesContext(connection) as counted:
                file(client, address)
            found.append(len(counted))
        return found

    few = counts(small, small_nuggets, again)
    large, large_nuggets = draw(people, model, name="Large"), draw(n_people, n_model, name="Many")
    code(answered, "c")
    more_again = draw(n_people, n_model, purpose="rejudging", name="More again")
    for study in (large, large_nuggets, more_again):
        for number in range(3):
            let_people_judge(study=study, name=f"{study} judge {number}", acting_user=None)
        for drawn in study.drawn.all():
            code_item(drawn=drawn, codes=["c"], note="n", seen=0, acting_user=None)
    for number in range(3):
        support_labels(answered, f"Rea {number}", "model", JUDGE, sample="Large", replicate=number)
    assert counts(large, large_nuggets, more_again) == few


RESTS = (
    "",
    "ask/",
    "figures/kappa.json",
    "export/items.csv",
    "export/agreement.csv",
    "export/labels.csv",
    "export/json",
)
