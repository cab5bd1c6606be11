"""Guidelines have versions: who writes them, who must open them, and what each piece of work keeps of it."""

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command
from django.http import HttpResponse
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.condition_kind import kind_of, kinds_with_screen
from assessor.campaigns.models import Campaign, Event
from assessor.relevance.models import LabelEvent
from assessor.work.actions.guidelines import (
    GuidelinesError,
    change_guidelines,
    in_force,
    open_guidelines,
    shown_guidelines,
)
from assessor.work.guidelines import Line, as_html, differences, first_text
from assessor.work.models import Guidelines, GuidelinesOpened, Task
from assessor.work.write_protocol import Stale
from assignment.actions import create_manual_assign
from assignment.grading.label_kind import GRADING
from nuggets import actions
from nuggets.actions import create_manual_nuggets
from nuggets.models import BankEdit, NuggetBank
from nuggets.questions.condition_kind import QUESTIONS
from tests.assignment.argue.judging_helpers import judged_by_people, load_questions
from tests.assignment.conftest import RUNS, run_file
from tests.assignment.grading.conftest import BANKS
from tests.conftest import client_of
from tests.conftest import open_guidelines as open_present
from tests.judging import asked, give, history, judged, send
from tests.nuggets.conftest import do, fill
from tests.nuggets.conftest import send as send_nugget
from tests.preference import people
from tests.relevance.conftest import RANKINGS, give_relevance
from tests.relevance.conftest import send as send_grade
from tests.reports.model import edit_elsewhere
from tests.support.judging_helpers import from_scratch, load_runs

A, B = UUID(int=101), UUID(int=102)


def change(campaign: Campaign, kind: str, text: str, by: Person | None = None) -> Guidelines:
    seen = in_force(campaign, kind).version
    return change_guidelines(campaign=campaign, kind=kind, text=text, seen=seen, acting_user=by)


class Work(NamedTuple):
    """Anna's task of a kind, how she says something in it, and which versions of the guidelines are kept with it."""

    task: Task
    say: Callable[[Client, int], HttpResponse]  # the number-th time
    kept: Callable[[], list[int | None]]


def _nuggets(campaign: Campaign, bank: NuggetBank, anna: Person, import_file: Any) -> Work:
    assert bank.task is not None
    texts = ("one", "two", "three")
    return Work(
        bank.task,
        lambda client, number: send_nugget(client, bank, "add", uid=str(uuid4()), text=texts[number]),
        lambda: list(BankEdit.objects.order_by("version").values_list("guidelines_version", flat=True)),
    )


def _questions(campaign: Campaign, bank: NuggetBank, anna: Person, import_file: Any) -> Work:
    source = campaign.qrels_sources.get(name="NIST")
    condition = create_manual_nuggets(
        campaign=campaign, name="Q", qrels_source=source, kind=QUESTIONS, acting_user=None
    )
    return _nuggets(campaign, give(condition, bank.topic, anna).nugget_bank, anna, import_file)


def _assignment(campaign: Campaign, bank: NuggetBank, anna: Person, import_file: Any) -> Work:
    for tag, answers in RUNS.items():
        import_file(campaign, "runs", run_file(tag, answers), name=tag)
    fill(bank, (A, "purring heals", "vital"), (B, "cats purr", "okay"))
    do(bank, actions.finish_bank)
    manual = create_manual_assign(nuggets=bank.condition, name="M", acting_user=None)
    task = give(manual, bank.topic, anna)
    sheet, nugget = judged(task, "team.one"), bank.nuggets.get(uid=A).pk
    labels = ("support", "partial_support", "not_support")
    return Work(
        task,
        lambda client, number: send(client, sheet, "label", nugget, label=labels[number]),
        lambda: list(history(sheet).values_list("guidelines_version", flat=True)),
    )


def _support(campaign: Campaign, bank: NuggetBank, anna: Person, import_file: Any) -> Work:
    load_runs(campaign, import_file)
    task = give(from_scratch(campaign), bank.topic, anna)
    sheet = judged(task, "team.one")
    labels = ("full", "partial", "none")
    return Work(
        task,
        lambda client, number: send(client, sheet, "label", "0.0", label=labels[number]),
        lambda: list(history(sheet).values_list("guidelines_version", flat=True)),
    )


def _relevance(campaign: Campaign, bank: NuggetBank, anna: Person, import_file: Any) -> Work:
    for content in RANKINGS.values():
        import_file(campaign, "retrieval", content)
    NuggetBank.objects.filter(pk=bank.pk).delete()  # who writes nuggets on a topic does not grade it from scratch
    Task.objects.filter(condition=bank.condition).delete()
    task = give_relevance(campaign, anna)
    [item] = campaign.topics.get(qid="t1").relevance_judgments.filter(docid="d1")
    return Work(
        task,
        lambda client, number: send_grade(client, task, "judge", item=item.pk, grade=number),
        lambda: list(LabelEvent.objects.order_by("version").values_list("guidelines_version", flat=True)),
    )


def _grading(campaign: Campaign, bank: NuggetBank, anna: Person, import_file: Any) -> Work:
    import_file(campaign, "runs", run_file("team.one", RUNS["team.one"]), name="team.one")
    import_file(campaign, "questions", BANKS, condition="Questions", by="people")
    questions = campaign.conditions.get(name="Questions")
    task = give(create_manual_assign(nuggets=questions, name="G", acting_user=None, kind=GRADING), bank.topic, anna)
    sheet = judged(task, "team.one")
    return Work(
        task,
        lambda client, number: send(client, sheet, "label", asked(sheet)[0], label=number),
        lambda: list(history(sheet).values_list("guidelines_version", flat=True)),
    )


def _argue(campaign: Campaign, bank: NuggetBank, anna: Person, import_file: Any) -> Work:
    task = give(judged_by_people(load_questions(campaign, import_file)), bank.topic, anna)
    sheet = judged(task, "team.one")
    labels = ("yes", "no", "yes")
    return Work(
        task,
        lambda client, number: send(client, sheet, "label", "s0.dd1.attests", label=labels[number]),
        lambda: list(history(sheet).values_list("guidelines_version", flat=True)),
    )


def _preference(campaign: Campaign, bank: NuggetBank, anna: Person, import_file: Any) -> Work:
    people.load_runs(campaign, import_file)
    task = give(people.condition(campaign), bank.topic, anna)
    pair = people.pairs_of(task)[0]
    return Work(
        task,
        lambda client, number: people.send(client, pair, "label", label="121"[number]),
        lambda: list(pair.revisions.order_by("version").values_list("guidelines_version", flat=True)),
    )


def _reports(campaign: Campaign, bank: NuggetBank, anna: Person, import_file: Any) -> Work:
    report = edit_elsewhere(campaign, anna)
    address = f"/reports/{report.pk}/{report.sentences.get().uid}/reword/"

    def say(client: Client, number: int) -> Any:
        report.refresh_from_db(fields=["version"])
        return client.post(address, {"key": uuid4(), "version": report.version, "text": f"text {number}"})

    return Work(
        report.task,
        say,
        lambda: list(report.edits.order_by("version").values_list("guidelines_version", flat=True)),
    )


WORK = {
    "nuggets": _nuggets,
    "reports": _reports,
    "questions": _questions,
    "assignment": _assignment,
    "grading": _grading,
    "argue": _argue,
    "support": _support,
    "relevance": _relevance,
    "preference": _preference,
}


@pytest.fixture(params=[kind.name for kind in kinds_with_screen()])
def work(request: pytest.FixtureRequest, campaign: Campaign, bank: NuggetBank, anna: Person, import_file: Any) -> Work:
    return WORK[request.param](campaign, bank, anna, import_file)


@pytest.mark.unread
def test_the_guidelines_come_before_the_first_topic(work: Work, as_anna: Client, anna: Person):
    before = len(work.kept())
    page = kind_of(work.task).url(work.task)
    where = f"/work/{work.task.pk}/guidelines/"
    for method in (as_anna.get, as_anna.head):
        response = method(page)
        assert (response.status_code, response.headers.get("Location")) == (302, where)
    assert as_anna.get(page, headers={"Sec-Fetch-Mode": "cors"}).status_code == 403
    assert work.say(as_anna, 1).status_code == 403
    assert len(work.kept()) == before

    shown = as_anna.get(where)
    assert as_html(first_text(work.task.kind)) in shown.content.decode()
    assert as_anna.get(page).status_code == 302, "to look at guidelines is not to say that one has read them"
    assert not GuidelinesOpened.objects.exists()

    response = as_anna.post(where, {"version": "1"})
    assert (response.status_code, response["Location"]) == (302, page)
    opened = GuidelinesOpened.objects.get()
    assert (opened.person, opened.guidelines.version, opened.guidelines.kind) == (anna, 1, work.task.kind)
    assert opened.guidelines.text == first_text(work.task.kind)
    assert as_anna.get(page).status_code == 200
    assert work.say(as_anna, 1).status_code == 200
    assert work.kept()[before:] == [1]


def test_work_keeps_the_version_that_was_opened_last(work: Work, as_anna: Client, olga: Person):
    campaign, kind = work.task.campaign, work.task.kind
    before = len(work.kept())
    page, where = kind_of(work.task).url(work.task), f"/work/{work.task.pk}/guidelines/"
    assert work.say(as_anna, 0).status_code == 200
    assert "have changed since" not in as_anna.get(page).content.decode()
    change(campaign, kind, "Look twice.", by=olga)
    shown = as_anna.get(page).content.decode()
    assert "have changed since you opened them" in shown
    assert f'href="{where}"' in shown
    assert "Look twice." not in shown, "on the screen stands what the work is done by"
    assert work.say(as_anna, 1).status_code == 200, "a new version blocks nobody"
    assert as_anna.get(where).status_code == 200
    assert as_anna.post(where, {"version": "2"}).status_code == 302
    shown = as_anna.get(page).content.decode()
    assert "have changed since" not in shown
    assert "Look twice." in shown
    assert work.say(as_anna, 2).status_code == 200
    assert work.kept()[before:] == [1, 1, 2]


def test_another_kind_or_campaign_is_another_matter(campaign: Campaign, bank: NuggetBank, anna: Person):
    change(campaign, "support", "Other.")
    open_present(anna, campaign, "support")
    assert shown_guidelines(campaign.pk, "nuggets", 1).is_outdated is False
    assert shown_guidelines(campaign.pk, "support", 1)[1:] == (1, True)
    assert in_force(campaign, "support").text == "Other.\n"
    assert in_force(campaign, "nuggets").text == first_text("nuggets")


@pytest.mark.unread
def test_what_changed_while_it_was_read_is_shown_and_not_recorded(bank: NuggetBank, as_anna: Client):
    where = f"/work/{bank.task_id}/guidelines/"
    assert as_anna.get(where).status_code == 200
    change(bank.condition.campaign, "nuggets", "New.")
    response = as_anna.post(where, {"version": "1"}, follow=True)
    assert response.redirect_chain == [(where, 302)]
    assert "changed while you read them" in response.content.decode()
    assert not GuidelinesOpened.objects.exists()
    for wrong in ("", "-1", "two", "99999999999"):
        assert as_anna.post(where, {"version": wrong}).status_code == 400


def test_opening_twice_is_recorded_once(campaign: Campaign, anna: Person):
    for _ in range(2):
        open_guidelines(campaign=campaign, kind="nuggets", version=1, acting_user=anna)
    assert GuidelinesOpened.objects.count() == 1
    with pytest.raises(Stale):
        open_guidelines(campaign=campaign, kind="nuggets", version=2, acting_user=anna)


def test_what_models_organizers_and_files_do_has_no_version(finished_by_anna: NuggetBank, olga: Person):
    actions.reopen_bank(finished_by_anna, reason="one more", acting_user=olga)
    assert list(BankEdit.objects.order_by("version").values_list("verb", "guidelines_version"))[-1] == ("reopen", None)


@pytest.fixture
def finished_by_anna(bank: NuggetBank) -> NuggetBank:
    fill(bank, (A, "purring heals", "vital"))
    do(bank, actions.finish_bank)
    return bank


def test_a_finished_topic_can_be_looked_at_without(finished_by_anna: NuggetBank, as_anna: Client):
    """Who did work before there were versions reads it as before."""
    change(finished_by_anna.condition.campaign, "nuggets", "New.")
    page = as_anna.get(f"/nuggets/{finished_by_anna.pk}/")
    assert page.status_code == 200
    assert "have changed since" not in page.content.decode()


def test_a_late_save_is_refused_with_both_texts_shown(campaign: Campaign, olga: Person):
    client, where = client_of(olga), f"/campaigns/{campaign.slug}/guidelines/support/"
    assert client.post(where, {"version": "1", "text": "First of all:\r\nread."}).status_code == 302
    response = client.post(where, {"version": "1", "text": "Second thoughts <b>"})
    page = response.content.decode()
    assert response.status_code == 409
    assert "Second thoughts &lt;b&gt;</textarea>" in page.replace("\n</textarea>", "</textarea>")
    assert "First of all:\nread." in page
    assert 'name="version" value="2"' in page
    assert [(one.version, one.text) for one in Guidelines.objects.order_by("version")] == [
        (1, first_text("support")),
        (2, "First of all:\nread.\n"),
    ]
    assert client.post(where, {"version": "2", "text": "Second thoughts"}).status_code == 302
    assert in_force(campaign, "support").version == 3
    told = Event.objects.filter(verb="guidelines changed").order_by("pk").values_list("details", flat=True)
    assert list(told) == [{"kind": "support", "version": 2}, {"kind": "support", "version": 3}]


def test_every_version_can_be_looked_at_with_what_it_changed(campaign: Campaign, olga: Person, anna: Person):
    change(campaign, "support", "Keep.\nOld <i>line</i>.", by=olga)
    change(campaign, "support", "Keep.\nNew line.", by=olga)
    open_present(anna, campaign, "support")
    client, base = client_of(olga), f"/campaigns/{campaign.slug}/guidelines/support/"
    page = client.get(f"{base}3/").content.decode()
    [gone], [new] = (re.findall(f"<{tag}>.*?<bdi>(.*?)</bdi></{tag}>", page) for tag in ("del", "ins"))
    assert (gone, new) == ("Old &lt;i&gt;line&lt;/i&gt;.", "New line.")
    assert "<li>anna " in page
    assert "Nobody yet." in client.get(f"{base}2/").content.decode()
    assert as_html(first_text("support")) in client.get(f"{base}1/").content.decode()
    assert client.get(f"{base}4/").status_code == 404
    listed = client.get(base).content.decode()
    assert all(f"Version {version}</a>" in listed for version in (1, 2, 3))
    assert "Version 3" in client.get(f"/campaigns/{campaign.slug}/guidelines/").content.decode()


def test_a_preview_is_what_assessors_will_see(campaign: Campaign, olga: Person):
    client, where = client_of(olga), f"/campaigns/{campaign.slug}/guidelines/support/preview/"
    page = client.post(where, {"text": "# Hi\n<script>"}).content.decode()
    assert "<h2>Hi</h2>" in page
    assert "&lt;script&gt;" in page
    assert "<html" not in page
    assert "without a word" in client.post(where, {"text": " \n"}).content.decode()
    assert not Guidelines.objects.exists()


@pytest.mark.parametrize("text", ["", " \r\n ", "a\x00b", "x" * 100_001])
def test_what_can_be_no_guidelines(campaign: Campaign, olga: Person, text: str):
    with pytest.raises(GuidelinesError):
        change(campaign, "support", text)
    where = f"/campaigns/{campaign.slug}/guidelines/support/"
    assert client_of(olga).post(where, {"version": "1", "text": text}).status_code == 400
    assert not Guidelines.objects.exists()


def test_the_same_text_makes_no_version(campaign: Campaign):
    assert change(campaign, "support", first_text("support").replace("\n", "\r\n")).version == 1
    assert change(campaign, "support", "A\n\n").version == 2
    assert change(campaign, "support", "A").version == 2
    assert Event.objects.filter(verb="guidelines changed").count() == 1


def call(*args: str) -> str:
    out = io.StringIO()
    call_command(*args, stdout=out)
    return out.getvalue()


def test_a_file_in_and_out(campaign: Campaign, tmp_path: Path):
    file = tmp_path / "support.md"
    file.write_bytes("\ufeff# Ünser\r\n\r\nText.\r\n".encode())
    command = ("import_guidelines", campaign.slug, str(file), "--kind", "support")
    assert call(*command) == "Used from now on: guidelines for support, version 2.\n"
    assert "as before" in call(*command)
    assert call("export_guidelines", campaign.slug, "--kind", "support") == "# Ünser\n\nText.\n"
    first = call("export_guidelines", campaign.slug, "--kind", "support", "--version-number", "1")
    assert first == first_text("support")
    assert call("export_guidelines", campaign.slug, "--kind", "nuggets") == first_text("nuggets")
    with pytest.raises(CommandError, match=r"There is no version 7: the newest is 2\."):
        call("export_guidelines", campaign.slug, "--kind", "support", "--version-number", "7")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\nb\xff", r"g\.md, line 2: not UTF-8\. Nothing was changed\."),
        (b" ", r"g\.md: Guidelines without a word tell nobody anything\. Nothing was changed\."),
        (None, r"g\.md can't be read"),
    ],
)
def test_a_wrong_file_changes_nothing(campaign: Campaign, tmp_path: Path, content: bytes | None, message: str):
    file = tmp_path / "g.md"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(CommandError, match=message):
        call("import_guidelines", campaign.slug, str(file), "--kind", "support")
    assert not Guidelines.objects.exists()


def test_differences_are_lines_with_a_few_around_them():
    before = "".join(f"{number}\n" for number in range(10))
    assert differences(before, before) == []
    assert differences(before, before.replace("5\n", "five\n")) == [
        Line("left out", ""),
        Line("same", "3"),
        Line("same", "4"),
        Line("removed", "5"),
        Line("added", "five"),
        Line("same", "6"),
        Line("same", "7"),
        Line("left out", ""),
    ]
    assert differences("a\n", "a\nb\n") == [Line("same", "a"), Line("added", "b")]
