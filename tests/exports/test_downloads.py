"""Whatever leaves by a page is one of the list, with a record and a manifest, also at the page's own address."""

import csv
import json
import re
from hashlib import sha256
from io import StringIO
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Condition, Event
from assessor.exports import actions
from assessor.exports.models import Export
from assessor.exports.registry import EXPORTABLES
from assessor.studies.actions import create_panel, register_study
from metaeval.actions import create_calibration, create_comparison, create_hybrid, run
from metaeval.stats.panels import Rule
from tests.assignment.inherited import inherit
from tests.assignment.scored import auto_condition, import_banks, label_canaries, vary
from tests.candidates.model import look_for_all
from tests.conftest import client_of
from tests.matching.model import match_all
from tests.nuggets.model import draft, make_condition, make_model
from tests.studies.conftest import N_PEOPLE, draw, nugget_labels
from tests.studies.conftest import answered as answered
from tests.studies.conftest import model as model
from tests.studies.conftest import n_model as n_model
from tests.studies.conftest import n_people as n_people
from tests.studies.conftest import nuggets as nuggets
from tests.studies.conftest import people as people
from tests.studies.control import make_control_set

ROOT = Path(__file__).parent.parent.parent
# What sends a file besides the view of exports, and why it is none.
BESIDE = {
    "assessor/campaigns/admin.py": "rows that an administrator selects, maybe of several campaigns",
    "assessor/desk/admin.py": "sent like the page of exports does",
    "assessor/desk/views/imports.py": "the report of a file that came in",
    "assessor/exports/frozen_views.py": "frozen conditions, with their signed manifests",
    "assessor/exports/views.py": "the view of exports",
    "metaeval/views/figures.py": "figures of pages, which show what the pages do",
}


@pytest.fixture(autouse=True)
def _folder_of_its_own(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    for folder in ("exports", "uploads"):
        (tmp_path / folder).mkdir()


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


@pytest.fixture
def full(people: Condition, model: Condition, n_people: Condition, n_model: Condition, import_file) -> Campaign:
    """A campaign of which there is something of everything that pages offer."""
    campaign: Campaign = people.campaign
    for first, second in ((people, model), (n_people, n_model)):
        compared = create_comparison(campaign=campaign, first=first, second=second, draws=20, seed=1, acting_user=None)
        assert run(compared).state == "done"
    draw(people, model, name="Who")
    create_hybrid(campaign=campaign, human=people, model=model, name="Both", acting_user=None)
    create_calibration(campaign=campaign, human=people, judged=model, acting_user=None)
    words = {name: ["some"] for name in ("hypotheses", "conditions", "measures")}
    fields = {"title": "Whether people agree", "sample": "all", "stopping_rule": "none", **words}
    other = nugget_labels(n_people.nuggets, "Other", "model", N_PEOPLE)
    create_panel(campaign=campaign, members=[n_model, other], rule=Rule.UNANIMOUS, name="Both", acting_user=None)
    vary(n_people.nuggets)
    register_study(campaign=campaign, fields=fields, acting_user=None)
    import_banks(campaign, import_file, {"t1": [("cats purr", "vital")]}, "Other bank")
    match_all(campaign, n_people.nuggets.name, "Other bank", "Matched")
    look_for_all(campaign, n_people.nuggets.name, people.name, "Candidates")
    inherit(campaign, campaign.topics.all())
    draft(make_condition(make_model(campaign)), list(campaign.topics.all()), ["a"])
    make_control_set(label_canaries(auto_condition(n_people.nuggets, "Misled")))
    return campaign


def sends_files(path: Path) -> bool:
    """Say whether a module makes a response that browsers keep as a file."""
    return bool(re.search(r"(?<!def )\b(download|attachment|FileResponse)\(|Content-Disposition", path.read_text()))


def test_no_other_module_sends_files():
    apps = ("assessor", "nuggets", "assignment", "support", "metaeval")
    paths = [path for app in apps for path in sorted((ROOT / app).rglob("*.py"))]
    found = {str(path.relative_to(ROOT)) for path in paths if sends_files(path)}
    assert found - {"assessor/campaigns/http.py"} == BESIDE.keys(), "declare an Exportable instead"


# By name: whose record, what else is asked, and what the file is called.
PAGES = {
    "scores": ("NIST's", "?policy=answered&allow_incomplete=on", "study.scores.NIST_s.answered.{ending}"),
    "comparison": ("NIST's and Mia's", "", "study.NIST_s_and_Mia_s.{ending}"),
    "registration": ("Whether people agree", "", "study.registration.Whether_people_agree.json"),
    "hybrid": ("Both", "", "study.hybrid.Both.{ending}"),
    "sensitivity": ("Varied", "", "study.sensitivity.Varied.vstrict.{ending}"),
    "panel": ("Both", "", "study.panel.Both.{ending}"),
    "candidates": ("Candidates", "", "study.candidates.Candidates.{ending}"),
    "matched_banks": ("Matched", "", "study.matched_banks.Matched.{ending}"),
    "calibration": ("Mia's against NIST's", "", "study.calibration.Mia_s_against_NIST_s.{ending}"),
    "study": ("Who", "", "study.study.Who.{ending}"),
    "control-set": ("Weekly", "", "study.control-set.Weekly.csv"),
    "studies": ("", "", "study.studies.csv"),
    "drafts": ("AutoNuggets+Edits", "", "study.drafts.{of}.csv"),
    "editions": ("Inherited", "", "study.editions.Inherited.{ending}"),
    "plan": ("", "", "plan.csv"),
    "missing": ("", "", "study.missing.{ending}"),
    "alarms": ("", "", "study.alarms.csv"),
    "history": ("", "?verb=imported", "study.history.csv"),
    "significance": (
        "NIST assigned",
        "?measure=a&policy=common&correction=holm",
        "study.significance.NIST_assigned.a.common.holm.{ending}",
    ),
    "items": ("NIST assigned", "", "study.items.NIST_assigned.{ending}"),
    "reusability": ("NIST assigned", "?policy=common", "study.reusability.NIST_assigned.vstrict.common.{ending}"),
    "judges": (
        "NIST assigned",
        "?measure=a&policy=answered&judges=Mia assigned",
        "study.judges.NIST_assigned.a.answered.{ending}",
    ),
    "canaries": ("Misled", "", "study.canaries.Misled.csv"),
    "grade_judges": ("NIST", "", "study.grade_judges.NIST.{ending}"),
    "influence": (
        "NIST assigned and Mia assigned",
        "?measure=a",
        "study.influence.NIST_assigned_and_Mia_assigned.t1.a.csv",
    ),
    "bias": (
        "NIST assigned and Mia assigned",
        "?measure=a&family=qwen",
        "study.bias.NIST_assigned_and_Mia_assigned.a.qwen.{ending}",
    ),
    "next_edition": (
        "NIST assigned",
        "?measure=a&policy=most&next_topics=50",
        "study.next_edition.NIST_assigned.a.most.csv",
    ),
}


def test_every_page_that_offers_files_is_tried():
    assert {kind.name for kind in EXPORTABLES if kind.page} == PAGES.keys()


@pytest.mark.parametrize("kind", [kind for kind in EXPORTABLES if kind.page], ids=lambda kind: kind.name)
def test_a_file_of_a_page_is_that_of_the_exports_with_record_and_manifest(full: Campaign, as_olga: Client, kind):
    name, query, file_name = PAGES[kind.name]
    record = None
    if kind.subject:
        field = "method" if kind.name == "drafts" else kind.subject.field
        record = kind.subject.records(full).get(**{field: name})
    for form, told in kind.forms_of(record).items():
        parts = ([record.pk] if record else []) + ([form] if "<s" in kind.page.route else [])
        topics = {}
        if "<int:topic_id>" in kind.page.route:
            topics = {"topics": "t1"}
            parts.append(full.topics.get(qid="t1").pk)
        before = Event.objects.filter(verb="exported").count()
        response = as_olga.get(reverse(kind.page.name, args=["study", *parts]) + query)
        content = response.getvalue()
        wanted = file_name.format(ending=told.ending, of=str(record).replace(" ", "_"))
        assert response["Content-Disposition"] == f'attachment; filename="{wanted}"'
        export = Export.objects.latest("pk")
        assert (export.kind, export.state, export.person.username) == (kind.name, "done", "olga")
        manifest = json.loads(as_olga.get(reverse("export_manifest", args=["study", export.pk])).content)
        assert (manifest["what"], manifest["form"]) == (kind.name, form)
        assert manifest["file"]["sha256"] == sha256(content).hexdigest()
        assert Event.objects.filter(verb="exported").count() == before + 1
        asked = urlencode({"of": str(record) if record else "", "form": form, **topics})
        again = as_olga.get(f"{reverse('export_file', args=['study', kind.name])}?{asked}&{query[1:]}")
        assert again.getvalue() == content


def test_filters_of_a_page_are_in_the_manifest_and_go_on_to_the_background(
    full: Campaign, as_olga: Client, settings, django_capture_on_commit_callbacks
):
    as_olga.get("/campaigns/study/history.csv?verb=imported&about=t1&person=olga").getvalue()
    filters = json.loads(Export.objects.latest("pk").manifest)["filters"]
    assert (filters["verb"], filters["about"], filters["person"]) == ("imported", "t1", "olga")
    assert "since" not in filters
    settings.EXPORT_AT_ONCE = 0
    response = as_olga.get("/campaigns/study/history.csv?verb=imported")
    assert response["Location"] == "/campaigns/study/exports/history/?verb=imported&large=1"
    assert '<input type="hidden" name="verb" value="imported"' in as_olga.get(response["Location"]).content.decode()
    as_olga.post("/campaigns/study/exports/history/", {"form": "csv", "verb": "imported"})
    export = actions.run(Export.objects.latest("pk"))
    assert export.records == full.events.filter(verb="imported").count() > 0


def test_what_is_too_large_for_a_page_keeps_what_was_asked(full: Campaign, as_olga: Client, settings):
    settings.EXPORT_AT_ONCE = 0
    people = full.conditions.get(name="NIST's")
    response = as_olga.get(reverse("export_scores", args=["study", people.pk, "csv"]) + "?policy=answered")
    assert response["Location"] == "/campaigns/study/exports/scores/?of=NIST%27s&form=csv&policy=answered&large=1"


def test_everything_has_a_command(full: Campaign, tmp_path: Path):
    file, manifest = tmp_path / "missing.csv", tmp_path / "manifest.json"
    call_command("export", "missing", "study", form="runs", output=str(file), manifest=str(manifest))
    assert file.read_text().startswith("run,lacking,topics\n")
    told = json.loads(manifest.read_text())
    assert (told["what"], told["file"]["name"]) == ("missing", "missing.runs.csv")
    assert told["file"]["sha256"] == sha256(file.read_bytes()).hexdigest()
    call_command("export", "plan", "study", stdout=(by_name := StringIO()))
    call_command("export_plan", "study", stdout=(of_old := StringIO()))
    assert by_name.getvalue() == of_old.getvalue() != ""


def of_nuggets(client: Client, kind: str, **asked: str) -> int:
    response = client.get(f"/campaigns/study/exports/{kind}/file/", {"of": "NIST assigned", **asked})
    return int(response.status_code)


def test_what_is_chosen_besides_is_told_and_must_be_there(full: Campaign, as_olga: Client, tmp_path: Path):
    as_olga.get("/campaigns/study/exports/significance/file/?of=NIST assigned&form=pairs.csv").getvalue()
    export = Export.objects.latest("pk")
    assert export.file_name == "significance.NIST assigned.vstrict.zero.tukey.pairs.csv"
    chosen = {"measure": "vstrict", "policy": "zero", "correction": "tukey"}
    assert json.loads(export.manifest)["filters"].items() >= chosen.items()
    assert export.options.items() >= chosen.items()
    for asked in ({"measure": "length"}, {"policy": "no"}, {"correction": "no"}):
        assert of_nuggets(as_olga, "significance", **asked) == 404
    assert of_nuggets(as_olga, "reusability", policy="most") == 404, "that of significance"
    with pytest.raises(CommandError, match=r"There is no measure no\. There are: vstrict, "):
        call_command("export", "significance", "study", condition="NIST assigned", measure="no")
    file = tmp_path / "runs.csv"
    options = {"form": "runs.csv", "measure": "a", "correction": "holm", "output": str(file)}
    call_command("export", "significance", "study", condition="NIST assigned", **options)
    told = [(row["measure"], row["policy"], row["correction"]) for row in csv.DictReader(file.open())]
    assert set(told) == {("a", "zero", "holm")}


def test_what_is_chosen_besides_can_be_chosen_on_the_page_of_exports(full: Campaign, as_olga: Client):
    page = as_olga.get("/campaigns/study/exports/significance/?of=NIST assigned&measure=a").content.decode()
    for name, first in (("measure", "vstrict"), ("policy", "zero"), ("correction", "tukey")):
        assert re.search(rf'<select name="{name}"[^>]*>\s*<option value="{first}"', page), name
    assert '<option value="a" selected' in page
    sent = {"of": "NIST assigned", "form": "runs.csv", "measure": "a", "policy": "common", "correction": "bh"}
    as_olga.post("/campaigns/study/exports/significance/", sent)
    export = actions.run(Export.objects.latest("pk"))
    assert (export.state, export.file_name) == ("done", "significance.NIST assigned.a.common.bh.runs.csv")
    wrong = as_olga.post("/campaigns/study/exports/significance/", sent | {"measure": "no"})
    assert "no is not one of the available choices" in wrong.content.decode()
