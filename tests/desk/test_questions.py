"""Questions of assessors and the organizer's answers: all kinds on one page, read by whom they are for alone."""

import json
import re
from datetime import timedelta
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from assessor.accounts.models import Person
from assessor.campaigns.models import Campaign, Event, Topic
from assessor.desk.flags import asked, open_by_task, replied, state
from assessor.work.models import Reply, ReplyRead, Task
from assignment.actions import leave_out
from nuggets.models import Nugget
from tests.assignment.conftest import answered, finished, manual, nugget_ids, sheet_of, task  # noqa: F401  # fixtures
from tests.conftest import client_of
from tests.judging import Judged, all_judged, change, give, judgeable
from tests.relevance.conftest import give_relevance
from tests.support.judging_helpers import from_scratch

LIST, ANSWER = "/campaigns/study/asked/", "/campaigns/study/asked/answer/"


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


@pytest.fixture
def sheet(task: Task) -> Judged:  # noqa: F811
    return sheet_of(task, "team.one")


@pytest.fixture
def nugget(nugget_ids) -> str:  # noqa: F811
    return str(min(nugget_ids.values()))


@pytest.fixture
def flagged(sheet: Judged, nugget: str) -> Judged:
    """Anna flags a nugget in an answer."""
    change(sheet, {nugget: {"flag": "two facts in one?"}}, "flag")
    return sheet


def answer(client: Client, sheet: Judged, item: str, text: str = "Judge the first.", question: str | None = None):
    """Answer a question as the page sends it: with its words, those that stand unless others were read."""
    if question is None:
        there = [one.text for one in asked(sheet.condition.campaign) if (one.sheet, one.item) == (sheet.pk, item)]
        question = there[0] if there else ""
    told = {"task": sheet.task_id, "sheet": sheet.pk, "item": item, "text": text, "question": question}
    return client.post(ANSWER, told)


def states(campaign: Campaign) -> list[str]:
    replies = replied(campaign)
    return [state(one, replies) for one in asked(campaign)]


def test_the_answer_reaches_who_asked(
    flagged: Judged, nugget: str, campaign: Campaign, as_olga: Client, as_anna: Client, ben: Person
):
    assert b"answers to your questions" not in as_anna.get("/").content
    response = answer(as_olga, flagged, nugget, "  Judge the first.\nOnly that. ")
    assert (response.status_code, response["Location"]) == (302, LIST)
    made = Reply.objects.get()
    assert (made.question, made.text, made.person.username) == (
        "two facts in one?",
        "Judge the first.\nOnly that.",
        "olga",
    )
    assert "1 answer to your questions" in as_anna.get("/").content.decode()
    screen = as_anna.get(f"/assign/{flagged.task_id}/").content.decode()
    told = json.loads(unescape(screen.split('data-replies="')[1].split('"')[0]))
    assert told == {str(flagged.pk): {nugget: ["Judge the first.\nOnly that."]}}
    assert not ReplyRead.objects.exists()  # it may be about an answer that is not on screen
    page = as_anna.get("/answers/").content.decode()
    assert ("Judge the first.<br>Only that." in page, "two facts in one?" in page, "purring heals" in page) == (
        True,
    ) * 3
    assert f"/assign/{flagged.task_id}/?answer={flagged.pk}" in page
    assert ("team.one" in page, "olga" in page) == (False, False)  # neither the run nor who organizes
    assert ReplyRead.objects.get().reply == made
    assert b"answer to your questions" not in as_anna.get("/").content
    assert as_anna.get("/answers/").status_code == 200
    assert ReplyRead.objects.count() == 1
    for address in ("/", "/answers/"):
        assert b"Judge the first" not in client_of(ben).get(address).content
    event = Event.objects.get(verb="question answered")
    assert (event.person.username, event.details["answer"]) == ("olga", "team.one t1")
    assert event.details["item"] == Nugget.objects.get(pk=nugget).name


def test_the_organizers_list(flagged: Judged, nugget: str, campaign: Campaign, as_olga: Client):
    page = as_olga.get(LIST).content.decode()
    assert "<b>Settle</b>" not in page  # a flag lacks no label
    for words in ("purring heals", "two facts in one?", "run team.one", "Assessors work blind", "Open 1", "Answered 0"):
        assert words in page, words
    answer(as_olga, flagged, nugget)
    assert "No open questions" in as_olga.get(LIST).content.decode()
    page = as_olga.get(f"{LIST}?state=answered").content.decode()
    assert ("Judge the first." in page, "not read yet" in page, "Answered 1" in page) == (True, True, True)
    assert open_by_task(campaign) == {}


def test_a_question_worded_anew_is_open_again(flagged: Judged, nugget: str, campaign: Campaign, as_olga: Client):
    answer(as_olga, flagged, nugget)
    assert states(campaign) == ["answered"]
    change(flagged, {nugget: {"flag": "and now?"}}, "flag")
    assert states(campaign) == ["open"]
    answer(as_olga, flagged, nugget, "Now both.")
    assert states(campaign) == ["answered"]
    assert [one.text for one in Reply.objects.all()] == ["Judge the first.", "Now both."]


def test_a_question_that_was_worded_anew_meanwhile_is_not_answered(
    flagged: Judged, nugget: str, campaign: Campaign, as_olga: Client
):
    assert 'name="question" value="two facts in one?"' in as_olga.get(LIST).content.decode()
    change(flagged, {nugget: {"flag": "is it cut off?"}}, "flag")
    answer(as_olga, flagged, nugget, "Only the first.", question="two facts in one?")
    page = as_olga.get(LIST).content.decode()
    assert "Not sent: anna changed the question. Your answer was: Only the first." in page
    assert (Reply.objects.count(), states(campaign)) == (0, ["open"])
    answer(as_olga, flagged, nugget, "No.", question="is it cut off?")
    assert states(campaign) == ["answered"]


def test_what_cant_be_judged_is_settled_by_a_label(sheet: Judged, nugget: str, campaign: Campaign):
    change(sheet, {nugget: {"cannot": "garbled"}}, "cannot")
    assert [(one.text, one.kind) for one in asked(campaign)] == [("can't judge: garbled", "assignment")]
    assert states(campaign) == ["open"]
    change(sheet, {nugget: {"adopted": "support"}}, "decided", judge_id=None, task_id=None)
    assert states(campaign) == ["settled"]
    change(sheet, {nugget: {"flag": "odd"}}, "flag")
    assert states(campaign) == ["open"]


def test_what_cant_be_judged_is_settled_while_its_nugget_is_left_out(
    sheet: Judged, nugget: str, campaign: Campaign, as_olga: Client, olga: Person
):
    def leave(is_out: bool) -> None:
        told = {"condition": sheet.condition, "nugget": Nugget.objects.get(pk=nugget), "reason": "vague"}
        leave_out(**told, is_out=is_out, acting_user=olga)

    def offers() -> bool:
        pages = (as_olga.get(f"{LIST}?state={name}").content.decode() for name in ("open", "answered"))
        return any("Leave the nugget out for all runs" in page for page in pages)

    change(sheet, {nugget: {"cannot": "garbled"}}, "cannot")
    assert (states(campaign), offers()) == (["open"], False)
    assert "You can settle the label once anna has finished the topic." in as_olga.get(LIST).content.decode()
    Task.objects.update(state="finished")
    assert (states(campaign), offers()) == (["open"], True)
    leave(True)
    assert (states(campaign), offers()) == (["settled"], False)
    page = as_olga.get(f"{LIST}?state=settled").content.decode()
    assert ("settled: left out for all runs" in page, "Left out of the scores" in page) == (True, True)
    leave(False)
    answer(as_olga, sheet, nugget)
    assert (states(campaign), offers()) == (["answered"], True)
    leave(True)
    assert states(campaign) == ["settled"]
    change(sheet, {nugget: {"flag": "odd"}}, "flag")
    assert states(campaign) == ["open"]


def test_all_kinds_are_on_one_page(
    flagged: Judged, campaign: Campaign, topic: Topic, anna: Person, as_olga: Client, ben: Person, import_file
):
    as_ben = client_of(ben)
    judging = give(from_scratch(campaign), topic, anna)
    cited = next(one for one in all_judged(judging) if judgeable(one))
    change(cited, {judgeable(cited)[0]: {"flag": "is it cut off?"}}, "flag")
    import_file(campaign, "retrieval", "t1 Q0 d1 1 2.5 bm25\n")
    grading = give_relevance(campaign, ben)
    item = grading.condition.relevance_judgments.get()
    sent = {"item": item.pk, "reason": "in Latin", "key": "0b0e7b3c-8a3e-4c58-9d4a-2f6f0e9f8a11", "version": 0}
    assert as_ben.post(f"/relevance/{grading.pk}/judge/", sent).status_code == 200
    assert [one.kind for one in asked(campaign)] == ["assignment", "support", "relevance"]
    page = as_olga.get(LIST).content.decode()
    for words in ("two facts in one?", "is it cut off?", "in Latin", "d1"):
        assert words in page, words
    # What one reads to settle them is beside them, in their order.
    texts = dict(campaign.segments.values_list("docid", "text"))
    sentence, place = map(int, judgeable(cited)[0].split("."))
    docid = list(cited.answer.sentences())[sentence].citations[place].docid
    read = re.findall(r'<summary>([^<]+)<.*?</summary><p class="reading any" dir="auto">(.*?)</p>', page)
    told = [(heading, unescape(text)) for heading, text in read]
    assert told == [("Answer", flagged.answer.text), (f"Passage {docid}", texts[docid]), ("Passage d1", texts["d1"])]
    done = as_olga.post(
        ANSWER,
        {
            "task": grading.pk,
            "sheet": "",
            "item": item.docid,
            "text": "Grade it 0.",
            "question": "can't judge: in Latin",
        },
    )
    assert done.status_code == 302
    assert "Grade it 0." in as_ben.get("/answers/").content.decode()


def test_an_answer_needs_words_and_a_question(
    flagged: Judged, nugget: str, sheet: Judged, as_olga: Client, as_anna: Client
):
    for text in ("", "  ", "x" * 2_001, "a\x00b"):
        assert "of at most 2000 characters" in client_page(as_olga, flagged, nugget, text), text
    assert answer(as_olga, flagged, "99999").status_code == 404  # nobody asks that
    assert as_olga.post(ANSWER, {"task": "x", "sheet": "y", "item": nugget, "text": "a"}).status_code == 404
    assert answer(as_anna, flagged, nugget).status_code == 404
    assert not Reply.objects.exists()


def client_page(client: Client, sheet: Judged, item: str, text: str) -> str:
    answer(client, sheet, item, text)
    return client.get(LIST).content.decode()


def test_who_lost_the_topic_reads_no_answers_on_it(flagged: Judged, nugget: str, as_olga: Client, as_anna: Client):
    answer(as_olga, flagged, nugget)
    Task.objects.filter(pk=flagged.task_id).update(state="withdrawn")
    assert b"Judge the first" not in as_anna.get("/answers/").content
    assert b"answer to your" not in as_anna.get("/").content


def test_the_inbox_is_filtered_by_condition_and_has_the_oldest_first(
    flagged: Judged, nugget: str, campaign: Campaign, topic: Topic, anna: Person, as_olga: Client, time_machine
):
    """An older question of another condition comes first, though its kind is listed later."""
    judging = give(from_scratch(campaign), topic, anna)
    cited = next(one for one in all_judged(judging) if judgeable(one))
    now = timezone.now()
    time_machine.move_to(now - timedelta(days=9))
    change(cited, {judgeable(cited)[0]: {"flag": "is it cut off?"}}, "flag")
    time_machine.move_to(now)
    page = as_olga.get(LIST).content.decode()
    assert 0 < page.index("is it cut off?") < page.index("two facts in one?")
    assert f'<option value="{judging.condition_id}">from scratch</option>' in page
    page = as_olga.get(f"{LIST}?condition={judging.condition_id}").content.decode()
    assert ("is it cut off?" in page, "two facts in one?" in page, "Open 1" in page) == (True, False, True)
    assert f'action="{ANSWER}?condition={judging.condition_id}"' in page
    response = as_olga.post(f"{ANSWER}?state=open&condition=7", {"task": "x"})
    assert response.status_code == 404
    assert "No open questions" in as_olga.get(f"{LIST}?condition=<b>").content.decode()


@pytest.mark.parametrize("address", ["questions", "support-questions"])
def test_the_pages_of_a_condition_lead_to_the_inbox(
    address: str, flagged: Judged, campaign: Campaign, as_olga: Client, as_anna: Client
):
    of = {"questions": flagged.condition_id, "support-questions": from_scratch(campaign).pk}[address]
    old = f"/campaigns/study/{address}/{of}/"
    assert as_olga.get(old)["Location"] == f"{LIST}?condition={of}"
    assert as_anna.get(old).status_code == 404
    assert as_olga.get(f"/campaigns/study/{address}/999999/").status_code == 404
