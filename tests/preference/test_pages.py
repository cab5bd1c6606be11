"""Organizers' pages of a condition under which answers are compared, and of jobs that make it."""

import re
from datetime import UTC, datetime
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition
from assessor.exports.freeze import freeze
from assessor.exports.models import Frozen
from assessor.labels.label_kind import label_kind
from assessor.preference.models import LabelEvent, PreferencePair
from assessor.work.models import Exposure
from tests.conftest import Importer, client_of
from tests.llm.grading import make_judge
from tests.preference.conftest import TOPICS
from tests.preference.model import compare

pytestmark = pytest.mark.django_db


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


@pytest.fixture
def by_model(runs: Campaign) -> Condition:
    return compare(runs, make_judge(runs)).condition


def text_of(client: Client, address: str) -> str:
    response = client.get(f"/campaigns/study/{address}")
    assert response.status_code == 200, address
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def test_every_page_of_a_campaign_with_preferences_can_be_read(by_model: Condition, as_olga: Client):
    campaign = by_model.campaign
    topic, run = campaign.topics.get(qid="bee"), campaign.runs.get(tag="run1")
    for address in (
        *("", "conditions/", f"conditions/{by_model.pk}/", "conditions/new/", "topics/", f"topics/{topic.pk}/"),
        *("runs/", f"runs/{run.pk}/", f"runs/{run.pk}/{topic.pk}/", "plan/", "progress/"),
        *("imports/", "exports/", "jobs/", f"jobs/{campaign.jobs.get().pk}/", "jobs/new/?kind=PrefJudge", "frozen/"),
        *("comparisons/", "studies/", "prompts/?prompt=preference", "guidelines/", "effort/", "history/"),
    ):
        assert as_olga.get(f"/campaigns/study/{address}").status_code == 200, address


def test_the_page_of_conditions_counts_pairs(by_model: Condition, as_olga: Client):
    assert "30 of 30 pairs" in text_of(as_olga, "conditions/") or "30 / 30 pairs" in text_of(as_olga, "conditions/")


def test_a_runs_page_tells_its_pairs_and_score(by_model: Condition, as_olga: Client):
    run = by_model.campaign.runs.get(tag="run1")
    assert "Preferences by j" in text_of(as_olga, f"runs/{run.pk}/")


def test_what_lacks_is_told(by_model: Condition):
    kind = label_kind("preference")
    assert list(kind.missing(by_model)) == []
    PreferencePair.objects.filter(topic__qid="bee", position__lt=2).update(state="open", value=None)
    assert list(kind.missing(by_model)) == ["2 pairs have no preference: bee."]
    LabelEvent.objects.all()._raw_delete("default")
    PreferencePair.objects.all().delete()
    assert list(kind.missing(by_model)) == ["Nothing is compared yet."]


def test_it_is_frozen_with_its_files(compared: Condition, olga: Person):
    freeze(condition=compared, acting_user=olga)
    names = set(Frozen.objects.get().files.values_list("name", flat=True))
    assert {"preferences.jsonl", "strengths.csv", "scores.csv", "scores.topics.csv"} <= names


def test_who_takes_the_file_has_seen_a_models_preferences(by_model: Condition, compared: Condition, as_olga: Client):
    assert not Exposure.objects.exists()
    assert b"".join(as_olga.get("/campaigns/study/exports/preferences/file/?of=Imported").streaming_content)
    seen = Exposure.objects.values_list("person__username", "kind", "topic__qid")
    assert set(seen) == {("olga", "preference", qid) for qid in TOPICS}


def test_the_cutoff_report_tells_pairs(by_model: Condition, capsys: pytest.CaptureFixture[str]):
    PreferencePair.objects.filter(topic__qid="bee", position=0).update(state="open", value=None)
    PreferencePair.objects.filter(topic__qid="bee", position=1).update(at=datetime(2999, 1, 1, tzinfo=UTC))
    out = StringIO()
    call_command("export_cutoff", "study", condition=by_model.name, at="2998-01-01", stdout=out)
    told = out.getvalue() or capsys.readouterr().out
    rows = [line.split(",") for line in told.splitlines()]
    assert rows[1] == ["Preferences by j", "preference", "bee", "", "6", "4", "1", "1", "partly in"]
    assert rows[2][4:] == ["6", "6", "0", "0", "in"]


def test_people_are_given_nothing_of_a_file_or_a_model(compared: Condition):
    topics = list(compared.campaign.topics.all())
    kind = label_kind("preference")
    assert kind.refusal(compared, topics) == "Nobody can be given Imported: its labels are not given by people here."


def test_an_identity_tells_the_prompt_and_the_protocol(by_model: Condition, import_file: Importer):
    assert re.search(r"kind=preference; method=PrefJudge; judge=j; prompts=preference:[0-9a-f]{12};", by_model.identity)
